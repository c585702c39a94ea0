;; Answers with the family's configuration, as the host has it, or passes the host's error on.
(module
  (import "alcove" "read"  (func $read  (param i32 i32 i32) (result i32)))
  (import "alcove" "write" (func $write (param i32 i32 i32) (result i32)))
  (import "alcove" "call"  (func $call  (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "config.get{}asking")
  (func (export "alcove_handle") (param $kind i32) (param $len i32) (result i32)
    (local $answered i32) (local $n i32)
    (drop (call $write (i32.const 1) (i32.const 12) (i32.const 6))) ;; one line for the log
    (local.set $answered ;; config.get, with {} as its request
      (call $call (i32.const 0) (i32.const 10) (i32.const 10) (i32.const 2)))
    (block $end
      (loop $more ;; the response, or the error body, becomes the result in pieces of 1 KiB
        (local.set $n (call $read (i32.const 1) (i32.const 1024) (i32.const 1024)))
        (br_if $end (i32.le_s (local.get $n) (i32.const 0)))
        (drop (call $write (i32.const 0) (i32.const 1024) (local.get $n)))
        (br $more)))
    (i32.lt_s (local.get $answered) (i32.const 0)))) ;; 0: a result, 1: an error
