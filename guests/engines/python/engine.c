// The engine of families in Python: MicroPython, as a guest. It reads the family's source from the host when an instance starts, so that
// requests begin with the family loaded, and hands each of them to the function serve of the SDK, lib/alcove.py.
//
// It imports read, write and call, and nothing else: the time and the seed of a request are the request's.
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <wasi/api.h>

#include "engine.h"
#include "py/builtin.h"
#include "py/compile.h"
#include "py/cstack.h"
#include "py/gc.h"
#include "py/lexer.h"
#include "py/mphal.h"
#include "py/objexcept.h"
#include "py/objmodule.h"
#include "py/persistentcode.h"
#include "py/reader.h"
#include "py/runtime.h"
#ifndef NO_QSTR
#include "lib.h" // the bytecode of lib/*.py, written by build.sh
#endif

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
  STACK = 480 << 10, // bytes of the stack of C: build.sh gives more
  PAGE = 64 << 10,
  HEAP = 1 << 20,         // bytes of Python's memory at first
  PYTHON_STACK = 320 << 10, // bytes of the stack of Python
  GARBAGE = (1 << 20) / 16, // blocks of new memory after which garbage is looked for
};

// Memory. Garbage is collected where no function of C holds a value: in the outermost loop of Python, whose values are all on its stack.
unsigned alcove_depth;         // of such loops
unsigned alcove_due = GARBAGE; // blocks
static uint64_t heap[HEAP / 8], python_stack[PYTHON_STACK / 8];
static size_t grown = HEAP;
static void *region; // what alcove_room found for alcove_heap

mp_vm_return_kind_t mp_execute_bytecode_nested(mp_code_state_t *state, volatile mp_obj_t exception);
mp_vm_return_kind_t mp_execute_bytecode(mp_code_state_t *state, volatile mp_obj_t exception) {
  alcove_depth++;
  mp_vm_return_kind_t kind = mp_execute_bytecode_nested(state, exception);
  alcove_depth--;
  return kind;
}

void gc_collect(void) {} // not here: see above

void alcove_collect(void) {
  gc_collect_start();
  gc_collect_end();
  gc_info_t info;
  gc_info(&info);
  alcove_due = info.used / 16 > GARBAGE ? info.used / 16 : GARBAGE;
}

// alcove_room grows the memory: to twice as much where the limit allows that, else by what is needed. It gives the bytes.
size_t alcove_room(size_t needed) {
  for (size_t size = grown > needed ? grown : needed;; size = size / 2 > needed ? size / 2 : needed) {
    size_t pages = (size + PAGE - 1) / PAGE;
    size_t before = __builtin_wasm_memory_grow(0, pages);
    if (before != (size_t)-1) {
      region = (void *)(before * PAGE);
      grown += pages * PAGE;
      return pages * PAGE;
    }
    if (size == needed) return 0;
  }
}
void *alcove_heap(unsigned long size) { return (void)size, region; }
size_t gc_get_max_new_split(void) { return 0; }

// What the C library would ask WASI for: nothing reaches it.
_Noreturn void abort(void) { __builtin_trap(); }
__wasi_errno_t __wasi_fd_close(__wasi_fd_t fd) { return (void)fd, __WASI_ERRNO_NOTSUP; }
__wasi_errno_t __wasi_fd_seek(__wasi_fd_t fd, __wasi_filedelta_t to, __wasi_whence_t whence, __wasi_filesize_t *at) {
  return (void)fd, (void)to, (void)whence, (void)at, __WASI_ERRNO_NOTSUP;
}
__wasi_errno_t __wasi_fd_write(__wasi_fd_t fd, const __wasi_ciovec_t *from, size_t count, __wasi_size_t *written) {
  return (void)fd, (void)from, (void)count, (void)written, __WASI_ERRNO_NOTSUP;
}
void nlr_jump_fail(void *value) { (void)value, __builtin_trap(); }
void __assert_fail(const char *a, const char *b, int c, const char *d) { (void)a, (void)b, (void)c, (void)d, __builtin_trap(); }

// Lines that are printed are lines of the log.
static char line[1024];
static size_t line_length;

static void end_line(void) {
  if (line_length) host_write(LOG, line, line_length);
  line_length = 0;
}
void mp_hal_stdout_tx_strn_cooked(const char *text, size_t length) {
  for (; length; text++, length--) {
    if (*text == '\n' || line_length == sizeof line) end_line();
    if (*text != '\n') line[line_length++] = *text;
  }
}

static mp_obj_t no_files(size_t n, const mp_obj_t *a, mp_map_t *named) {
  (void)n, (void)a, (void)named;
  mp_raise_msg(&mp_type_OSError, MP_ERROR_TEXT("there are no files here"));
}
MP_DEFINE_CONST_FUN_OBJ_KW(mp_builtin_open_obj, 0, no_files);

// Modules: files of the family, and libraries.
static char *source; // names and texts, each with a zero behind it: the first is the family's file
static size_t source_length;

// file_of gives the text of a file that the family imports; NULL: there is none.
static const char *file_of(const char *name, size_t *length) {
  for (char *at = source; at && at < source + source_length;) {
    char *text = at + strlen(at) + 1;
    size_t n = strlen(text);
    if (at != source && !strcmp(at, name)) return *length = n, text;
    at = text + n + 1;
  }
  return NULL;
}

static const byte *library_of(const char *name, size_t *length) {
#ifndef NO_QSTR
  for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
    if (!strcmp(libraries[i].name, name)) return *length = libraries[i].length, libraries[i].code;
#endif
  return NULL;
}

mp_import_stat_t mp_import_stat(const char *path) {
  size_t length, n = strlen(path);
  if (file_of(path, &length) || library_of(path, &length)) return MP_IMPORT_STAT_FILE;
  for (char *at = source; at && at < source + source_length; at += strlen(at) + 1, at += strlen(at) + 1)
    if (!strncmp(at, path, n) && at[n] == '/') return MP_IMPORT_STAT_DIR;
  return MP_IMPORT_STAT_NO_EXIST;
}

mp_lexer_t *mp_lexer_new_from_file(qstr name) {
  size_t length;
  const char *text = file_of(qstr_str(name), &length);
  if (!text) mp_raise_msg_varg(&mp_type_ImportError, MP_ERROR_TEXT("there is no module %s"), qstr_str(name));
  return mp_lexer_new_from_str_len(name, text, length, 0);
}

void mp_reader_new_file(mp_reader_t *reader, qstr name) {
  size_t length;
  const byte *code = library_of(qstr_str(name), &length);
  if (!code) mp_raise_msg_varg(&mp_type_ImportError, MP_ERROR_TEXT("there is no module %s"), qstr_str(name));
  mp_reader_new_mem(reader, code, length, MP_READER_IS_ROM);
}

// The module _alcove: what the SDK and the libraries need of the engine and of the host.
static uint64_t seed; // of the request's random numbers

// read_all reads a channel.
static void read_all(uint32_t channel, vstr_t *all) {
  vstr_init(all, 4 << 10);
  for (;;) {
    vstr_hint_size(all, 1);
    size_t room = all->alloc - all->len - 1;
    int32_t got = host_read(channel, all->buf + all->len, room);
    if (got <= 0) return;
    all->len += got;
    if ((size_t)got == room) vstr_hint_size(all, all->alloc);
  }
}

static mp_obj_t host_log(mp_obj_t text) {
  size_t length;
  const char *at = mp_obj_str_get_data(text, &length);
  end_line();
  host_write(LOG, at, length);
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(log_obj, host_log);

// call runs an operation, and gives whether it failed, and its answer.
static mp_obj_t host_operation(mp_obj_t op, mp_obj_t request) {
  vstr_t text;
  vstr_init(&text, 64);
  json_write(&text, request);
  size_t length;
  const char *name = mp_obj_str_get_data(op, &length);
  int32_t answered = host_call(name, length, text.buf, text.len);
  vstr_clear(&text);
  read_all(RESPONSE, &text);
  mp_obj_t both[] = {mp_obj_new_bool(answered < 0), text.len ? json_read(text.buf, text.len) : mp_const_none};
  vstr_clear(&text);
  return mp_obj_new_tuple(2, both);
}
static MP_DEFINE_CONST_FUN_OBJ_2(call_obj, host_operation);

// bits gives the next 32 bits of the request: the same request has the same ones.
static mp_obj_t bits(void) {
  uint64_t z = seed += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return mp_obj_new_int_from_uint((uint32_t)((z ^ (z >> 31)) >> 32));
}
static MP_DEFINE_CONST_FUN_OBJ_0(bits_obj, bits);

// instant gives the nanoseconds since 1970 of an instant as in 2006-01-02T15:04:05.999999999Z; 0: it is none.
static int64_t instant_of(const char *text, size_t length) {
  static const char form[] = "0000-00-00T00:00:00";
  int64_t parts[6] = {0}, part = 0;
  if (length <= sizeof form - 1) return 0;
  for (size_t i = 0; i < sizeof form - 1; i++) {
    if (form[i] != '0' ? form[i] != text[i] : text[i] < '0' || text[i] > '9') return 0;
    if (form[i] == '0') parts[part] = parts[part] * 10 + text[i] - '0';
    else part++;
  }
  int64_t year = parts[0] - (parts[1] < 3), month = (parts[1] + 9) % 12;
  int64_t days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + parts[2] - 1 - 719468;
  int64_t ns = (((days * 24 + parts[3]) * 60 + parts[4]) * 60 + parts[5]) * 1000000000;
  const char *at = text + sizeof form - 1, *end = text + length;
  if (*at == '.')
    for (int64_t unit = 100000000; ++at < end && *at >= '0' && *at <= '9'; unit /= 10) ns += (*at - '0') * unit;
  if (end - at == 6 && (*at == '+' || *at == '-')) {
    int64_t offset = ((at[1] - '0') * 10 + at[2] - '0') * 60 + (at[4] - '0') * 10 + at[5] - '0';
    ns -= (*at == '-' ? -offset : offset) * 60000000000;
  }
  return ns;
}
static mp_obj_t instant(mp_obj_t text) {
  size_t length;
  const char *at = mp_obj_str_get_data(text, &length);
  return mp_obj_new_int_from_ll(instant_of(at, length));
}
static MP_DEFINE_CONST_FUN_OBJ_1(instant_obj, instant);

// trace gives where an exception was raised: file, line and function, the innermost first.
static mp_obj_t trace(mp_obj_t e) {
  mp_obj_t all = mp_obj_new_list(0, NULL);
  size_t n, *values;
  if (!mp_obj_is_exception_instance(e)) return all;
  mp_obj_exception_get_traceback(e, &n, &values);
  for (size_t i = 0; i + 2 < n; i += 3) {
    mp_obj_t frame[] = {MP_OBJ_NEW_QSTR(values[i]), MP_OBJ_NEW_SMALL_INT(values[i + 1]), MP_OBJ_NEW_QSTR(values[i + 2] ? values[i + 2] : MP_QSTRnull)};
    if (!values[i + 2]) frame[2] = MP_OBJ_NEW_QSTR(MP_QSTR_);
    mp_obj_list_append(all, mp_obj_new_tuple(3, frame));
  }
  return all;
}
static MP_DEFINE_CONST_FUN_OBJ_1(trace_obj, trace);

// files gives the names and texts of the family's files.
static mp_obj_t files(void) {
  mp_obj_t all = mp_obj_new_list(0, NULL);
  for (char *at = source; at && at < source + source_length;) {
    size_t name = strlen(at), text = strlen(at + name + 1);
    mp_obj_t both[] = {mp_obj_new_str(at, name), mp_obj_new_str(at + name + 1, text)};
    mp_obj_list_append(all, mp_obj_new_tuple(2, both));
    at += name + text + 2;
  }
  return all;
}
static MP_DEFINE_CONST_FUN_OBJ_0(files_obj, files);

static const mp_rom_map_elem_t names[] = {
  {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR__alcove)},
  {MP_ROM_QSTR(MP_QSTR_log), MP_ROM_PTR(&log_obj)},
  {MP_ROM_QSTR(MP_QSTR_call), MP_ROM_PTR(&call_obj)},
  {MP_ROM_QSTR(MP_QSTR_bits), MP_ROM_PTR(&bits_obj)},
  {MP_ROM_QSTR(MP_QSTR_instant), MP_ROM_PTR(&instant_obj)},
  {MP_ROM_QSTR(MP_QSTR_trace), MP_ROM_PTR(&trace_obj)},
  {MP_ROM_QSTR(MP_QSTR_files), MP_ROM_PTR(&files_obj)},
  {MP_ROM_QSTR(MP_QSTR_loads), MP_ROM_PTR(&json_loads_obj)},
  {MP_ROM_QSTR(MP_QSTR_dumps), MP_ROM_PTR(&json_dumps_obj)},
  {MP_ROM_QSTR(MP_QSTR_compile), MP_ROM_PTR(&regexp_compile_obj)},
  {MP_ROM_QSTR(MP_QSTR_subject), MP_ROM_PTR(&regexp_subject_obj)},
  {MP_ROM_QSTR(MP_QSTR_exec), MP_ROM_PTR(&regexp_exec_obj)},
};
static MP_DEFINE_CONST_DICT(names_dict, names);
const mp_obj_module_t alcove_module = {.base = {&mp_type_module}, .globals = (mp_obj_dict_t *)&names_dict};
MP_REGISTER_MODULE(MP_QSTR__alcove, alcove_module);

MP_REGISTER_ROOT_POINTER(char *alcove_source);
MP_REGISTER_ROOT_POINTER(mp_obj_t alcove_serve);   // of lib/alcove.py: (kind, request) gives whether it failed, and what
MP_REGISTER_ROOT_POINTER(mp_obj_t alcove_failure); // what it gave where the family could not be loaded

// fail writes an error body whose text needs no memory beyond it.
static int32_t fail(const char *code, const char *text) {
  char body[512], *to = body;
  for (const char *parts[] = {"{\"code\":\"", code, "\",\"message\":\"", text, "\",\"retryable\":false}"}, **part = parts; part < parts + 5; part++)
    for (const char *c = *part; *c && to < body + sizeof body; c++) *to++ = *c;
  host_write(RESULT, body, to - body);
  return FAILED;
}

static bool reading; // the request
static const char no_memory[] = "there is no memory left; memory_pages limits it";

// answer writes what serve gave: nothing, bytes, or a value.
static int32_t answer(mp_obj_t given) {
  mp_obj_t *both;
  mp_obj_get_array_fixed_n(given, 2, &both);
  size_t length;
  if (mp_obj_is_type(both[1], &mp_type_bytes) || mp_obj_is_type(both[1], &mp_type_bytearray)) {
    mp_buffer_info_t b;
    mp_get_buffer_raise(both[1], &b, MP_BUFFER_READ);
    host_write(RESULT, b.buf, b.len);
  } else if (mp_obj_is_str(both[1])) {
    const char *text = mp_obj_str_get_data(both[1], &length);
    host_write(RESULT, text, length);
  }
  return both[0] == mp_const_true ? FAILED : OK;
}

// told is what is said of an error that the SDK did not turn into an answer.
static int32_t told(mp_obj_t e) {
  if (mp_obj_is_subclass_fast(MP_OBJ_FROM_PTR(mp_obj_get_type(e)), MP_OBJ_FROM_PTR(&mp_type_MemoryError))) return fail("exhausted", no_memory);
  if (reading) return fail("invalid_argument", "the request is not valid JSON");
  return fail("internal", "it failed, and could not say why");
}

static mp_obj_t loaded(void) {
  mp_obj_t module = mp_import_name(MP_QSTR_alcove, mp_const_none, MP_OBJ_NEW_SMALL_INT(0));
  MP_STATE_VM(alcove_serve) = mp_load_attr(module, MP_QSTR_serve);
  vstr_t all;
  read_all(SOURCE, &all);
  source = all.buf, source_length = all.len;
  if (!all.len) mp_raise_ValueError(MP_ERROR_TEXT("the module has no source: pack the family with alcove family pack"));
  source[source_length] = 0;
  MP_STATE_VM(alcove_source) = source;
  return mp_call_function_0(mp_load_attr(module, MP_QSTR_load));
}

extern void __wasm_call_ctors(void);

EXPORT(_initialize) void initialize(void) {
  __wasm_call_ctors();
  mp_cstack_init_with_sp_here(STACK);
  gc_init(heap, heap + HEAP / 8);
  mp_pystack_init(python_stack, python_stack + PYTHON_STACK / 8);
  mp_init();
  nlr_buf_t nlr;
  if (nlr_push(&nlr) == 0) {
    MP_STATE_VM(alcove_failure) = loaded();
    nlr_pop();
  } else {
    MP_STATE_VM(alcove_serve) = MP_OBJ_NULL;
  }
  alcove_depth = 0;
  end_line();
}

static mp_obj_t served(int32_t kind) {
  vstr_t request;
  read_all(REQUEST, &request);
  seed = 0xcbf29ce484222325;
  for (size_t i = 0; i < request.len; i++) seed = (seed ^ (uint8_t)request.buf[i]) * 0x100000001b3;
  reading = true;
  mp_obj_t value = kind == SCORE ? mp_obj_new_bytes((byte *)request.buf, request.len) : json_read(request.buf, request.len);
  reading = false;
  vstr_clear(&request);
  mp_obj_t args[] = {MP_OBJ_NEW_SMALL_INT(kind), value};
  return mp_call_function_n_kw(MP_STATE_VM(alcove_serve), 2, 0, args);
}

EXPORT(alcove_handle) int32_t handle(int32_t kind, int32_t waiting) {
  (void)waiting;
  if (!MP_STATE_VM(alcove_serve)) return fail("exhausted", no_memory);
  int32_t status;
  nlr_buf_t nlr;
  if (nlr_push(&nlr) == 0) {
    status = answer(MP_STATE_VM(alcove_failure) != mp_const_none ? MP_STATE_VM(alcove_failure) : served(kind));
    nlr_pop();
  } else {
    status = told(MP_OBJ_FROM_PTR(nlr.ret_val));
  }
  end_line();
  return status;
}
