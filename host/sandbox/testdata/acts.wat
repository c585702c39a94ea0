;; A guest that does what the first byte of the request says, for the tests of the sandbox.
(module
  (import "alcove" "read" (func $read (param i32 i32 i32) (result i32)))
  (import "alcove" "write" (func $write (param i32 i32 i32) (result i32)))
  (import "alcove" "call" (func $call (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $print (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 3)
  (table $t 4 funcref)
  (elem (i32.const 0) $one $two)
  (global $count (mut i32) (i32.const 0))
  (global $wide (mut v128) (v128.const i64x2 0 0))
  (type $number (func (result i32)))
  ;; 0: scratch, 16: texts, 1024: the request, 66560: the response
  (data (i32.const 16) "echo.it")
  (data (i32.const 32) "{\22code\22:\22not_found\22,\22message\22:\22there is none\22,\22retryable\22:false}")
  (data (i32.const 128) "hello from a guest\n")
  (data (i32.const 200) "[true]")
  (data $dropped "x")
  (func $one (result i32) (i32.const 1))
  (func $two (result i32) (i32.const 2))
  (func $initialize (export "_initialize")
    (global.set $count (i32.const 48)) ;; the digit 0
    (i32.store8 (i32.const 300) (i32.const 7)))
  ;; say answers with some bytes
  (func $say (param $at i32) (param $len i32) (result i32)
    (call $write (i32.const 0) (local.get $at) (local.get $len)))
  (func $recurse (param i32) (result i32)
    (i32.add (call $recurse (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))
  (func (export "alcove_handle") (param $kind i32) (param $len i32) (result i32)
    (local $n i32) (local $act i32)
    (local.set $n (call $read (i32.const 0) (i32.const 1024) (i32.const 65536)))
    (local.set $act (i32.load8_u (i32.const 1024)))
    ;; e: echo what the host's echo.it says
    (if (i32.eq (local.get $act) (i32.const 0x65)) (then
      (local.set $n (call $call (i32.const 16) (i32.const 7) (i32.const 1024) (local.get $n)))
      (if (i32.lt_s (local.get $n) (i32.const 0)) (then
        (drop (call $say (i32.const 66560) (call $read (i32.const 1) (i32.const 66560) (i32.const 65536))))
        (return (i32.const 1))))
      (drop (call $say (i32.const 66560) (call $read (i32.const 1) (i32.const 66560) (local.get $n))))
      (return (i32.const 0))))
    ;; c: count, in a global, in memory, in a vector and in a table
    (if (i32.eq (local.get $act) (i32.const 0x63)) (then
      (global.set $count (i32.add (global.get $count) (i32.const 1)))
      (global.set $wide (i64x2.add (global.get $wide) (v128.const i64x2 1 2)))
      (i32.store8 (i32.const 300) (i32.add (i32.load8_u (i32.const 300)) (i32.const 1)))
      (i32.store8 (i32.const 400) (global.get $count))
      (i32.store8 (i32.const 401) (i32.add (i32.const 41) (i32.load8_u (i32.const 300))))
      (i32.store8 (i32.const 402) (i32.add (i32.const 48) (i32.wrap_i64 (i64x2.extract_lane 1 (global.get $wide)))))
      (i32.store8 (i32.const 403) (i32.add (i32.const 48) (call_indirect (type $number) (i32.const 0))))
      (table.set $t (i32.const 0) (ref.func $two))
      (return (call $say (i32.const 400) (i32.const 4)))))
    ;; l: loop, r: recurse, t: trap, x: exit, g: grow, m: grow beyond all limits
    (if (i32.eq (local.get $act) (i32.const 0x6c)) (then (loop $again (br $again))))
    (if (i32.eq (local.get $act) (i32.const 0x72)) (then (return (call $recurse (i32.const 0)))))
    (if (i32.eq (local.get $act) (i32.const 0x74)) (then unreachable))
    (if (i32.eq (local.get $act) (i32.const 0x78)) (then (call $exit (i32.const 3))))
    (if (i32.eq (local.get $act) (i32.const 0x67)) (then (drop (memory.grow (i32.const 1))) (return (call $say (i32.const 200) (i32.const 6)))))
    (if (i32.eq (local.get $act) (i32.const 0x6d)) (then
      (loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
      unreachable))
    ;; d: drop a segment
    (if (i32.eq (local.get $act) (i32.const 0x64)) (then (data.drop $dropped) (return (call $say (i32.const 200) (i32.const 6)))))
    ;; o: write without end, h: call the host without end
    (if (i32.eq (local.get $act) (i32.const 0x6f)) (then (loop $again (drop (call $say (i32.const 1024) (i32.const 65536))) (br $again))))
    (if (i32.eq (local.get $act) (i32.const 0x68)) (then (loop $again (drop (call $call (i32.const 16) (i32.const 7) (i32.const 0) (i32.const 0))) (br $again))))
    ;; p: print without end, w: wait for an hour, n: randomness without end
    (if (i32.eq (local.get $act) (i32.const 0x70)) (then
      (i32.store (i32.const 0) (i32.const 128)) (i32.store (i32.const 4) (i32.const 19))
      (loop $again (drop (call $print (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))) (br $again))))
    (if (i32.eq (local.get $act) (i32.const 0x77)) (then
      (i32.store (i32.const 516) (i32.const 1))
      (i64.store (i32.const 524) (i64.const 3600000000000))
      (drop (call $poll (i32.const 500) (i32.const 600) (i32.const 1) (i32.const 0)))
      (return (call $say (i32.const 200) (i32.const 6)))))
    (if (i32.eq (local.get $act) (i32.const 0x6e)) (then (loop $again (drop (call $random (i32.const 1024) (i32.const 131072))) (br $again))))
    ;; k: say the time
    (if (i32.eq (local.get $act) (i32.const 0x6b)) (then
      (drop (call $clock (i32.const 0) (i64.const 0) (i32.const 700)))
      (drop (call $write (i32.const 1) (i32.const 128) (i32.const 18)))
      (return (call $say (i32.const 700) (i32.const 8)))))
    ;; f: fail, s: answer 7, j: answer with what is no JSON
    (if (i32.eq (local.get $act) (i32.const 0x66)) (then (drop (call $say (i32.const 32) (i32.const 64))) (return (i32.const 1))))
    (if (i32.eq (local.get $act) (i32.const 0x73)) (then (return (i32.const 7))))
    (if (i32.eq (local.get $act) (i32.const 0x6a)) (then (return (call $say (i32.const 128) (i32.const 5)))))
    (i32.const 0)))
