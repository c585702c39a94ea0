// WebAssembly has no such jumps: the compiler lowers them to calls that jump.c answers, and guests/build/unwind lets functions return early.
#ifndef SETJMP_H
#define SETJMP_H
typedef unsigned jmp_buf[1];
int setjmp(jmp_buf) __attribute__((returns_twice));
_Noreturn void longjmp(jmp_buf, int);
#endif
