;; A guest that never ends, in the way that the first byte of the request says.
(module
  (import "alcove" "read" (func $read (param i32 i32 i32) (result i32)))
  (import "alcove" "write" (func $write (param i32 i32 i32) (result i32)))
  (import "alcove" "call" (func $call (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $print (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (memory (export "memory") 2)
  (table $t 60000 funcref)
  (elem (i32.const 0) $deep $left)
  (type $step (func (param i32) (result i32)))
  (global $depth (mut i32) (i32.const 0))
  (func $deep (param i32) (result i32)
    (i32.add (call $deep (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))
  (func $left (param i32) (result i32)
    (i32.add (call $right (local.get 0)) (i32.const 1)))
  (func $right (param i32) (result i32)
    (i32.add (call $left (local.get 0)) (i32.const 1)))
  (func $indirect (param i32) (result i32)
    (i32.add (call_indirect (type $step) (local.get 0) (i32.const 1)) (i32.const 1)))
  ;; wide has a frame of some kilobytes
  (func $wide (param v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128)
    (call $wide (local.get 15) (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5) (local.get 6)
      (local.get 7) (local.get 8) (local.get 9) (local.get 10) (local.get 11) (local.get 12) (local.get 13) (local.get 14))
    (call $wide (local.get 15) (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5) (local.get 6)
      (local.get 7) (local.get 8) (local.get 9) (local.get 10) (local.get 11) (local.get 12) (local.get 13) (local.get 14)))
  ;; tree calls itself twice, thirty deep
  (func $tree
    (if (i32.gt_u (global.get $depth) (i32.const 30)) (then return))
    (global.set $depth (i32.add (global.get $depth) (i32.const 1)))
    (call $tree) (call $tree)
    (global.set $depth (i32.sub (global.get $depth) (i32.const 1))))
  ;; back loads what misses all caches on the way back from calls of itself
  (func $back (param i32) (result i32)
    (local $i i32)
    (if (local.get 0) (then (local.set $i (call $back (i32.sub (local.get 0) (i32.const 1))))))
    (local.set $i (i32.and (i32.add (i32.mul (local.get $i) (i32.const 1664525)) (i32.const 1013904223)) (i32.const 0x0bfffffc)))
    (local.set $i (i32.add (local.get $i) (i32.load (local.get $i))))
    (local.set $i (i32.and (i32.add (i32.mul (local.get $i) (i32.const 1664525)) (i32.const 1013904223)) (i32.const 0x0bfffffc)))
    (local.set $i (i32.add (local.get $i) (i32.load (local.get $i))))
    (local.set $i (i32.and (i32.add (i32.mul (local.get $i) (i32.const 1664525)) (i32.const 1013904223)) (i32.const 0x0bfffffc)))
    (local.set $i (i32.add (local.get $i) (i32.load (local.get $i))))
    (local.get $i))
  (func $big (drop (memory.grow (i32.const 3800))))
  (func $is (param i32) (result i32) (i32.eq (i32.load8_u (i32.const 1024)) (local.get 0)))
  (func (export "alcove_handle") (param $kind i32) (param $len i32) (result i32)
    (local $i i32) (local $n i64) (local $v v128)
    (drop (call $read (i32.const 0) (i32.const 1024) (i32.const 64)))
    (if (call $is (i32.const 0x61)) (then (loop $again (br $again)))) ;; a
    (if (call $is (i32.const 0x62)) (then (loop $again (br_table $again $again (i32.const 1))))) ;; b
    (if (call $is (i32.const 0x63)) (then (loop $again ;; c: divisions
      (local.set $n (i64.add (i64.div_u (i64.const -1) (i64.or (local.get $n) (i64.const 1))) (i64.const 3))) (br $again))))
    (if (call $is (i32.const 0x64)) (then (return (call $deep (i32.const 0))))) ;; d
    (if (call $is (i32.const 0x65)) (then (loop $again (call $tree) (br $again)))) ;; e
    (if (call $is (i32.const 0x66)) (then (call $big) (loop $again (memory.fill (i32.const 0) (i32.const 7) (i32.const 200000000)) (br $again)))) ;; f
    (if (call $is (i32.const 0x67)) (then (call $big) (loop $again (memory.copy (i32.const 65536) (i32.const 0) (i32.const 200000000)) (br $again)))) ;; g
    (if (call $is (i32.const 0x68)) (then (loop $again (drop (call $call (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))) (br $again)))) ;; h
    (if (call $is (i32.const 0x69)) (then (return (call $indirect (i32.const 0))))) ;; i
    (if (call $is (i32.const 0x6a)) (then (call $big) ;; j: loads that miss all caches
      (loop $again
        (local.set $i (i32.and (i32.add (i32.mul (local.get $i) (i32.const 1664525)) (i32.const 1013904223)) (i32.const 0x0bfffffc)))
        (local.set $i (i32.add (local.get $i) (i32.load (local.get $i))))
        (local.set $i (i32.and (i32.add (i32.mul (local.get $i) (i32.const 1664525)) (i32.const 1013904223)) (i32.const 0x0bfffffc)))
        (local.set $i (i32.add (local.get $i) (i32.load (local.get $i))))
        (br $again))))
    (if (call $is (i32.const 0x6b)) (then (loop $again (drop (memory.grow (i32.const 0))) (br $again)))) ;; k
    (if (call $is (i32.const 0x6c)) (then (return (call $left (i32.const 0))))) ;; l
    (if (call $is (i32.const 0x6d)) (then (loop $again (table.fill $t (i32.const 0) (ref.null func) (i32.const 60000)) (br $again)))) ;; m
    (if (call $is (i32.const 0x6e)) (then (call $big) (loop $again (drop (call $random (i32.const 0) (i32.const 200000000))) (br $again)))) ;; n
    (if (call $is (i32.const 0x70)) (then ;; p: prints
      (i32.store (i32.const 0) (i32.const 2048)) (i32.store (i32.const 4) (i32.const 65536))
      (loop $again (drop (call $print (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))) (br $again))))
    (if (call $is (i32.const 0x73)) (then (loop $again ;; s: vectors
      (local.set $v (f64x2.sqrt (f64x2.add (local.get $v) (f64x2.div (local.get $v) (v128.const f64x2 3 5))))) (br $again))))
    (if (call $is (i32.const 0x74)) (then (loop $again (drop (call $clock (i32.const 1) (i64.const 0) (i32.const 8))) (br $again)))) ;; t
    (if (call $is (i32.const 0x75)) (then (call $big) (loop $again (drop (call $back (i32.const 9000))) (br $again)))) ;; u: returns
    (if (call $is (i32.const 0x77)) (then (call $wide (local.get $v) (local.get $v) (local.get $v) (local.get $v) (local.get $v) (local.get $v) ;; w
      (local.get $v) (local.get $v) (local.get $v) (local.get $v) (local.get $v) (local.get $v) (local.get $v) (local.get $v) (local.get $v) (local.get $v))))
    (i32.const 0)))
