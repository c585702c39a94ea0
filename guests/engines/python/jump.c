// Jumps of C: MicroPython raises an error by a jump to whoever catches it.
//
// The compiler turns each call of a function that catches into a call of invoke, which tells afterwards whether it was left by a jump. From
// the jump to there every function returns at once: guests/build/unwind makes them look at unwinding after each of their calls.
#include <stddef.h>
#include <stdint.h>

int unwinding; // 1: a jump is on its way
uintptr_t __THREW__; // the buffer that is jumped to
int __threwValue;

__asm__(".globaltype __stack_pointer, i32");

static inline char *stack_of(void) {
  char *at;
  __asm__ volatile("global.get __stack_pointer\n\tlocal.set %0" : "=r"(at));
  return at;
}
static inline void set_stack(char *at) { __asm__ volatile("local.get %0\n\tglobal.set __stack_pointer" : : "r"(at)); }

// What the compiler calls when a function that catches begins and ends: its memory is a stack, which a jump shortens.
static uint64_t tables[32 << 10]; // more than the stack of C lets be in use
static char *top = (char *)tables;

void *malloc(size_t size) {
  char *at = top;
  if (size > sizeof tables - (size_t)(top - (char *)tables)) __builtin_trap();
  top += (size + 7) & ~(size_t)7;
  return at;
}
void free(void *at) {
  if (at) top = at;
}
void *realloc(void *at, size_t size) { (void)at, (void)size, __builtin_trap(); } // where nothing else was given to use: nobody calls it

// Where setjmp was called in a function that is still running.
typedef struct {
  uint32_t id, label;
} place;

static uint32_t last_id;
static uint32_t result;
uint32_t getTempRet0(void) { return result; }
void setTempRet0(uint32_t value) { result = value; }

// A function that catches has a few such places, and comes to one again only when it is done with its buffer.
place *saveSetjmp(uint32_t *buffer, uint32_t label, place *all, uint32_t size) {
  *buffer = ++last_id;
  for (uint32_t i = 0; i < size; i++) {
    if (all[i].id && all[i].label != label) continue;
    uint32_t more = !all[i].id && i + 1 < size;
    all[i].id = last_id, all[i].label = label;
    if (more) all[i + 1].id = 0;
    result = size;
    return all;
  }
  __builtin_trap(); // the compiler gives room for four
}
uint32_t testSetjmp(uint32_t id, place *all, uint32_t size) {
  for (uint32_t i = 0; i < size && all[i].id; i++)
    if (all[i].id == id) return all[i].label;
  return 0;
}

__attribute__((export_name("jump"))) void emscripten_longjmp(uintptr_t buffer, int value) {
  __THREW__ = buffer, __threwValue = value, unwinding = 1;
}

#define P(...) __VA_ARGS__
#define A int32_t a
#define B A, int32_t b
#define C B, int32_t c
#define D C, int32_t d
#define E D, int32_t e
#define F E, int32_t g
#define INVOKES(n, types, parameters, arguments) \
  INVOKE_V(v##n, types, P(parameters), arguments) INVOKE_I(i##n, types, P(parameters), arguments)
#define INVOKE_V(suffix, types, parameters, arguments) INVOKE_(suffix, void, types, P(parameters), arguments, , , )
#define INVOKE_I(suffix, types, parameters, arguments) INVOKE_(suffix, int32_t, types, P(parameters), arguments, int32_t r;, r =, return r)
#define INVOKE_(suffix, result, types, parameters, arguments, declare, set, give) \
  __attribute__((export_name("invoke_" #suffix))) result invoke_##suffix(result(*f) types parameters) { \
    char *stack = stack_of(), *memory = top; \
    declare set f arguments; \
    if (unwinding) unwinding = 0, set_stack(stack), top = memory; \
    give; \
  }
INVOKE_V(v, (void), , ())
INVOKE_I(i, (void), , ())
INVOKES(i, (int32_t), P(, A), (a))
INVOKES(ii, (int32_t, int32_t), P(, B), (a, b))
INVOKES(iii, (int32_t, int32_t, int32_t), P(, C), (a, b, c))
INVOKES(iiii, (int32_t, int32_t, int32_t, int32_t), P(, D), (a, b, c, d))
INVOKES(iiiii, (int32_t, int32_t, int32_t, int32_t, int32_t), P(, E), (a, b, c, d, e))
INVOKES(iiiiii, (int32_t, int32_t, int32_t, int32_t, int32_t, int32_t), P(, F), (a, b, c, d, e, g))
