// The engine of families in JavaScript: QuickJS, as a guest. It reads the family's source from the host when an instance starts, so that
// requests begin with the family loaded, and hands each of them to the function that the SDK, alcove.js, made of it.
//
// It imports read, write and call, and nothing else: the time and the seed of a request are the request's.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <wasi/api.h>

#include "quickjs.h"
#include "sdk.h" // alcove.js as text, written by build.sh

#define IMPORT(name) __attribute__((import_module("alcove"), import_name(#name)))
#define EXPORT(name) __attribute__((export_name(#name)))

IMPORT(read) int32_t host_read(uint32_t channel, void *to, uint32_t room);
IMPORT(write) int32_t host_write(uint32_t channel, const void *from, uint32_t length);
IMPORT(call) int32_t host_call(const char *op, uint32_t op_length, const char *request, uint32_t length);

enum { REQUEST, RESPONSE, SOURCE }; // what is read
enum { RESULT, LOG };               // what is written
enum { OK, FAILED };                // what alcove_handle answers
enum { SCORE = 3 };                 // the kind of request that is not JSON

enum {
  STACK = 320 << 10, // bytes of the stack that JavaScript may use: build.sh gives more
  GARBAGE = 4 << 20, // bytes at which cycles are looked for at first
  MOST_SOURCE = 4 << 20 // bytes: what the host admits
};

static JSContext *ctx;
static JSValue serve; // of alcove.js: (kind, request) gives text, or bytes, or the text of an error in a list
static int64_t now;   // microseconds since 1970
static uint64_t seed; // of the request's random numbers
static char *failure; // the error body that tells why the family could not be loaded; NULL: it was

// Where the engine asks for the time, it gets that of the request.
int gettimeofday(struct timeval *restrict t, void *restrict zone) {
  (void)zone;
  t->tv_sec = now / 1000000;
  t->tv_usec = now % 1000000;
  return 0;
}

// What the C library would ask WASI for: it is reached only by what prints for debugging.
_Noreturn void abort(void) { __builtin_trap(); }
__wasi_errno_t __wasi_fd_close(__wasi_fd_t fd) { return (void)fd, __WASI_ERRNO_NOTSUP; }
__wasi_errno_t __wasi_fd_seek(__wasi_fd_t fd, __wasi_filedelta_t to, __wasi_whence_t whence, __wasi_filesize_t *at) {
  return (void)fd, (void)to, (void)whence, (void)at, __WASI_ERRNO_NOTSUP;
}
__wasi_errno_t __wasi_fd_write(__wasi_fd_t fd, const __wasi_ciovec_t *from, size_t count, __wasi_size_t *written) {
  return (void)fd, (void)from, (void)count, (void)written, __WASI_ERRNO_NOTSUP;
}

// read_all reads a channel into memory with a zero behind it.
static char *read_all(uint32_t channel, size_t *length) {
  size_t room = 16 << 10, n = 0;
  char *all = malloc(room + 1);
  for (int32_t got; all;) {
    got = host_read(channel, all + n, room - n);
    if (got <= 0) break;
    n += got;
    if (n == room) {
      room *= 2;
      char *larger = realloc(all, room + 1);
      if (!larger) free(all);
      all = larger;
    }
  }
  if (all) all[n] = 0;
  *length = n;
  return all;
}

static JSValue js_log(JSContext *c, JSValueConst this, int count, JSValueConst *values) {
  (void)this, (void)count;
  size_t length;
  const char *line = JS_ToCStringLen(c, &length, values[0]);
  if (!line) return JS_EXCEPTION;
  host_write(LOG, line, length);
  JS_FreeCString(c, line);
  return JS_UNDEFINED;
}

// js_call runs an operation: (name, request as text) gives [failed, answer]. The answer is parsed.
static JSValue js_call(JSContext *c, JSValueConst this, int count, JSValueConst *values) {
  (void)this, (void)count;
  size_t op_length, length;
  const char *op = JS_ToCStringLen(c, &op_length, values[0]);
  if (!op) return JS_EXCEPTION;
  const char *request = JS_ToCStringLen(c, &length, values[1]);
  if (!request) return JS_FreeCString(c, op), JS_EXCEPTION;
  int32_t answered = host_call(op, op_length, request, length);
  JS_FreeCString(c, op);
  JS_FreeCString(c, request);
  char *text = read_all(RESPONSE, &length);
  if (!text) return JS_ThrowOutOfMemory(c);
  JSValue answer = length ? JS_ParseJSON(c, text, length, "response") : JS_UNDEFINED;
  free(text);
  if (JS_IsException(answer)) return answer;
  JSValue pair = JS_NewArray(c);
  JS_SetPropertyUint32(c, pair, 0, JS_NewBool(c, answered < 0));
  JS_SetPropertyUint32(c, pair, 1, answer);
  return pair;
}

// js_at sets the time, in milliseconds.
static JSValue js_at(JSContext *c, JSValueConst this, int count, JSValueConst *values) {
  (void)this, (void)count;
  double ms;
  if (JS_ToFloat64(c, &ms, values[0])) return JS_EXCEPTION;
  now = isfinite(ms) ? (int64_t)(ms * 1000) : 0;
  return JS_UNDEFINED;
}

// js_random gives the next number of the request: the same request has the same ones.
static JSValue js_random(JSContext *c, JSValueConst this, int count, JSValueConst *values) {
  (void)this, (void)count, (void)values;
  uint64_t z = seed += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return JS_NewFloat64(c, (double)((z ^ (z >> 31)) >> 11) / (double)(1ull << 53));
}

// js_text is what bytes of an ArrayBuffer are in UTF-8: (buffer, from, length).
static JSValue js_text(JSContext *c, JSValueConst this, int count, JSValueConst *values) {
  (void)this;
  size_t size;
  uint8_t *bytes = JS_GetArrayBuffer(c, &size, values[0]);
  if (!bytes) return JS_EXCEPTION;
  uint32_t from = 0, length = size;
  if (count > 2 && (JS_ToUint32(c, &from, values[1]) || JS_ToUint32(c, &length, values[2]))) return JS_EXCEPTION;
  if (from > size || length > size - from) return JS_ThrowRangeError(c, "it ends behind the buffer");
  return JS_NewStringLen(c, (char *)bytes + from, length);
}

// js_bytes is the opposite.
static JSValue js_bytes(JSContext *c, JSValueConst this, int count, JSValueConst *values) {
  (void)this, (void)count;
  size_t length;
  const char *text = JS_ToCStringLen(c, &length, values[0]);
  if (!text) return JS_EXCEPTION;
  JSValue buffer = JS_NewArrayBufferCopy(c, (const uint8_t *)text, length);
  JS_FreeCString(c, text);
  return buffer;
}

// text_of is what an exception says, with its stack.
static char *text_of(JSValue e) {
  const char *what = JS_ToCString(ctx, e);
  JSValue at = JS_IsObject(e) ? JS_GetPropertyStr(ctx, e, "stack") : JS_UNDEFINED;
  const char *stack = JS_IsString(at) ? JS_ToCString(ctx, at) : NULL;
  size_t room = (what ? strlen(what) : 0) + (stack ? strlen(stack) : 0) + 32;
  char *text = malloc(room);
  if (text) snprintf(text, room, "%s\n%s", what ? what : "it failed, without saying why", stack ? stack : "");
  JS_FreeCString(ctx, what);
  JS_FreeCString(ctx, stack);
  JS_FreeValue(ctx, at);
  JS_FreeValue(ctx, e);
  return text;
}

// settled runs what is queued, and gives the value of a promise that it settles.
static JSValue settled(JSValue v) {
  for (JSContext *c; !JS_IsException(v);) {
    int ran = JS_ExecutePendingJob(JS_GetRuntime(ctx), &c);
    if (ran < 0) JS_FreeValue(ctx, JS_GetException(ctx));
    if (ran == 0) break;
  }
  if ((int)JS_PromiseState(ctx, v) < 0) return v;
  JSValue result = JS_PromiseResult(ctx, v);
  switch (JS_PromiseState(ctx, v)) {
  case JS_PROMISE_FULFILLED:
    break;
  case JS_PROMISE_REJECTED:
    result = JS_Throw(ctx, result);
    break;
  default:
    result = JS_ThrowTypeError(ctx, "it waits for a promise that nothing settles: there is nothing to wait for here");
  }
  JS_FreeValue(ctx, v);
  return result;
}

// The module alcove has the exports of alcove.js, and the family's source is the module that imports it.
static JSModuleDef *load(JSContext *c, const char *name, void *sdk) {
  if (!strcmp(name, "alcove")) return sdk;
  JS_ThrowReferenceError(c, "there is no module %s here: import it from a file, or install it with npm, before the family is packed", name);
  return NULL;
}

static char *normalize(JSContext *c, const char *base, const char *name, void *sdk) {
  (void)base, (void)sdk;
  return js_strdup(c, name);
}

// evaluate evaluates a module, and gives its exports.
static JSValue evaluate(const char *text, size_t length, const char *name) {
  JSValue module = JS_Eval(ctx, text, length, name, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
  if (JS_IsException(module)) return module;
  JSModuleDef *def = JS_VALUE_GET_PTR(module);
  if (!serve) JS_SetModuleLoaderFunc(JS_GetRuntime(ctx), normalize, load, def);
  JSValue done = settled(JS_EvalFunction(ctx, module));
  if (JS_IsException(done)) return done;
  JS_FreeValue(ctx, done);
  return JS_GetModuleNamespace(ctx, def);
}

static void give(JSValue object, const char *name, JSCFunction *f, int count) {
  JS_SetPropertyStr(ctx, object, name, JS_NewCFunction(ctx, f, name, count));
}

static JSValue export_of(JSValue module, const char *name) { return JS_GetPropertyStr(ctx, module, name); }

// prepare evaluates alcove.js with the functions of the host, and then the family. Where it fails, fail_text is alcove.js's or undefined.
static bool prepare(JSValue *fail_text) {
  JSValue global = JS_GetGlobalObject(ctx), host = JS_NewObject(ctx);
  give(host, "log", js_log, 1);
  give(host, "call", js_call, 2);
  give(host, "at", js_at, 1);
  give(host, "random", js_random, 0);
  give(host, "text", js_text, 1);
  give(host, "bytes", js_bytes, 1);
  JS_SetPropertyStr(ctx, global, "host", host); // alcove.js deletes it
  JS_FreeValue(ctx, global);
  JSValue sdk = evaluate((const char *)sdk_js, sizeof sdk_js - 1, "alcove");
  if (JS_IsException(sdk)) return false;
  JSValue begin = export_of(sdk, "begin"), define = export_of(sdk, "define");
  serve = export_of(sdk, "serve");
  *fail_text = export_of(sdk, "failed");
  // The source is the name of its file, a zero byte, and its text.
  size_t length;
  char *source = read_all(SOURCE, &length);
  if (!source) return JS_ThrowOutOfMemory(ctx), false;
  size_t name = strlen(source) + 1;
  if (name > length) return JS_ThrowTypeError(ctx, "the module has no source: pack the family with alcove family pack"), false;
  JSValue text = JS_NewStringLen(ctx, source + name, length - name);
  if (JS_IsException(JS_Call(ctx, begin, JS_UNDEFINED, 1, &text))) return false;
  JS_FreeValue(ctx, text);
  JSValue family = evaluate(source + name, length - name, source);
  free(source);
  return !JS_IsException(family) && !JS_IsException(JS_Call(ctx, define, JS_UNDEFINED, 1, &family));
}

// body_of is the error body of an exception; NULL: alcove.js failed, too.
static char *body_of(JSValue fail_text, JSValue e) {
  JSValue list = JS_Call(ctx, fail_text, JS_UNDEFINED, 1, &e);
  JSValue text = JS_IsException(list) ? list : JS_GetPropertyUint32(ctx, list, 0);
  const char *body = JS_IsException(text) ? NULL : JS_ToCString(ctx, text);
  return body ? strdup(body) : NULL;
}

extern void __wasm_call_ctors(void);

EXPORT(_initialize) void initialize(void) {
  __wasm_call_ctors();
  JSRuntime *runtime = JS_NewRuntime();
  ctx = runtime ? JS_NewContext(runtime) : NULL;
  if (!ctx) __builtin_trap();
  JS_SetMaxStackSize(runtime, STACK);
  JS_SetGCThreshold(runtime, GARBAGE);
  JSValue fail_text = JS_UNDEFINED;
  if (prepare(&fail_text)) return;
  failure = body_of(fail_text, JS_GetException(ctx));
  if (!failure) failure = "{\"code\":\"internal\",\"message\":\"the family could not be loaded\",\"retryable\":false}";
}

// fail writes an error body whose text needs no memory beyond it.
static int32_t fail(const char *code, const char *text) {
  size_t length = strcspn(text, "\n");
  char body[1024], *to = body + snprintf(body, 128, "{\"code\":\"%s\",\"message\":\"", code);
  for (; length && to < body + sizeof body - 64; text++, length--) {
    unsigned char b = *text;
    if (b == '"' || b == '\\') *to++ = '\\';
    *to++ = b < ' ' ? ' ' : b;
  }
  while (length && (*text & 0xc0) == 0x80) *to++ = *text++, length--; // the rest of a character
  to += snprintf(to, 32, "\",\"retryable\":false}");
  host_write(RESULT, body, to - body);
  return FAILED;
}

// answer writes what serve gave: text, or the bytes of an ArrayBuffer; the text of an error is in an array.
static int32_t answer(JSValue v) {
  size_t length;
  uint8_t *bytes = NULL;
  int32_t status = OK;
  if (JS_IsArray(ctx, v)) {
    JSValue text = JS_GetPropertyUint32(ctx, v, 0);
    JS_FreeValue(ctx, v);
    v = text, status = FAILED;
  } else if (JS_IsObject(v)) {
    bytes = JS_GetArrayBuffer(ctx, &length, v);
    if (bytes) return host_write(RESULT, bytes, length), OK;
  }
  const char *text = JS_ToCStringLen(ctx, &length, v);
  if (!text) return -1;
  host_write(RESULT, text, length);
  JS_FreeCString(ctx, text);
  JS_FreeValue(ctx, v);
  return status;
}

EXPORT(alcove_handle) int32_t handle(int32_t kind, int32_t waiting) {
  (void)waiting;
  if (failure) return host_write(RESULT, failure, strlen(failure)), FAILED;
  JS_UpdateStackTop(JS_GetRuntime(ctx));
  size_t length;
  char *request = read_all(REQUEST, &length);
  if (!request) return fail("exhausted", "there is no memory for the request; memory_pages limits it");
  seed = 0xcbf29ce484222325;
  for (size_t i = 0; i < length; i++) seed = (seed ^ (uint8_t)request[i]) * 0x100000001b3;
  JSValue value = kind == SCORE ? JS_NewArrayBufferCopy(ctx, (uint8_t *)request, length) : JS_ParseJSON(ctx, request, length, "request");
  free(request);
  if (JS_IsException(value)) return fail("invalid_argument", "the request is not valid JSON");
  JSValue args[] = {JS_NewInt32(ctx, kind), value};
  JSValue result = settled(JS_Call(ctx, serve, JS_UNDEFINED, 2, args));
  int32_t status = JS_IsException(result) ? -1 : answer(result);
  if (status >= 0) return status;
  JSValue e = JS_GetException(ctx);
  if (JS_IsNull(e)) return fail("exhausted", "there is no memory left; memory_pages limits it"); // not even for an error
  char *text = text_of(e);
  return fail("internal", text ? text : "it failed, and there is no memory to say why");
}
