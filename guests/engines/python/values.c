// What MicroPython leaves to its ports, or out.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "dtoa.h"
#include "engine.h"
#define TRUE true
#define FALSE false
#include "libunicode.h"
#include "py/objtype.h"
#include "py/unicode.h"
#include "py/runtime.h"

// float_text writes the shortest text that is the number again, as Python does.
size_t float_text(double value, char *to) {
  if (isnan(value)) return strcpy(to, "nan"), 3;
  if (isinf(value)) return strcpy(to, value < 0 ? "-inf" : "inf"), strlen(to);
  JSDTOATempMem memory;
  char text[64];
  int n = js_dtoa(text, value, 10, 0, JS_DTOA_FORMAT_FREE | JS_DTOA_EXP_ENABLED | JS_DTOA_MINUS_ZERO, &memory);
  // Digits and exponent: the form of Python differs in when it has an exponent.
  char all[32];
  int count = 0, point = 0, exponent = 0, at = text[0] == '-';
  for (bool fraction = false; at < n && text[at] != 'e'; at++) {
    if (text[at] == '.') fraction = true;
    else {
      if (count || text[at] != '0') all[count++] = text[at];
      if (fraction) point--;
    }
    if (count == 31) break;
  }
  if (at < n && text[at] == 'e') {
    bool negative = text[at + 1] == '-';
    for (at += 1 + (text[at + 1] == '-' || text[at + 1] == '+'); at < n; at++) exponent = exponent * 10 + text[at] - '0';
    if (negative) exponent = -exponent;
  }
  exponent += point;
  while (count > 1 && all[count - 1] == '0') count--, exponent++;
  if (!count) all[count++] = '0', exponent = 0;
  char *out = to;
  if (text[0] == '-') *out++ = '-';
  int first = exponent + count; // digits before the point
  if (first > 16 || first < -3) {
    *out++ = all[0];
    if (count > 1) *out++ = '.', memcpy(out, all + 1, count - 1), out += count - 1;
    int e = first - 1;
    *out++ = 'e', *out++ = e < 0 ? '-' : '+';
    if (e < 0) e = -e;
    if (e >= 100) *out++ = '0' + e / 100;
    *out++ = '0' + e / 10 % 10, *out++ = '0' + e % 10;
  } else {
    for (int i = first < 1 ? first - 1 : 0; i < first || i < count; i++) {
      if (i == first) { if (i <= 0) ; *out++ = '.'; }
      *out++ = i >= 0 && i < count ? all[i] : '0';
    }
    if (first >= count) *out++ = '.', *out++ = '0';
  }
  *out = 0;
  return out - to;
}

// mp_format_float of objfloat.c, which prints floats.
int alcove_format_float(double value, char *to, size_t room, char format, int precision, char sign) {
  (void)room, (void)format, (void)precision, (void)sign;
  return float_text(value, to);
}

// alcove_plain gives the dict, list, text or number that an instance of a subclass is.
mp_obj_t alcove_plain(mp_obj_t v) {
  if (!mp_obj_is_instance_type(mp_obj_get_type(v))) return v;
  mp_obj_t base = mp_obj_cast_to_native_base(v, MP_OBJ_FROM_PTR(&mp_type_dict));
  if (base == MP_OBJ_NULL) base = mp_obj_cast_to_native_base(v, MP_OBJ_FROM_PTR(&mp_type_list));
  if (base == MP_OBJ_NULL) base = mp_obj_cast_to_native_base(v, MP_OBJ_FROM_PTR(&mp_type_str));
  if (base == MP_OBJ_NULL) base = mp_obj_cast_to_native_base(v, MP_OBJ_FROM_PTR(&mp_type_int));
  return base == MP_OBJ_NULL ? v : base;
}

// alcove_stepped gives every other element of a text, of bytes or of a tuple: MicroPython has steps for lists alone.
mp_obj_t alcove_stepped(mp_obj_t self, mp_obj_t index) {
  const mp_obj_type_t *type = mp_obj_get_type(self);
  mp_obj_t all = mp_obj_subscr(mp_call_function_1(MP_OBJ_FROM_PTR(&mp_type_list), self), index, MP_OBJ_SENTINEL);
  if (type == &mp_type_str) return mp_call_function_1(mp_load_attr(MP_OBJ_NEW_QSTR(MP_QSTR_), MP_QSTR_join), all);
  return mp_call_function_1(MP_OBJ_FROM_PTR(type), all);
}

// alcove_case gives a text in lower or upper case, in every script.
mp_obj_t alcove_case(mp_obj_t self, bool upper) {
  size_t length;
  const byte *at = (const byte *)mp_obj_str_get_data(self, &length), *end = at + length;
  vstr_t out;
  vstr_init(&out, length + 1);
  for (; at < end; at = utf8_next_char(at)) {
    uint32_t codes[LRE_CC_RES_LEN_MAX];
    int n = lre_case_conv(codes, utf8_get_char(at), !upper);
    for (int i = 0; i < n; i++) vstr_add_char(&out, codes[i]);
  }
  return mp_obj_is_str(self) ? mp_obj_new_str_from_utf8_vstr(&out) : mp_obj_new_bytes_from_vstr(&out);
}

// alcove_letters says whether a text has letters alone, of any script.
mp_obj_t alcove_letters(mp_obj_t self) {
  size_t length;
  const byte *at = (const byte *)mp_obj_str_get_data(self, &length), *end = at + length;
  if (!length) return mp_const_false;
  for (; at < end; at = utf8_next_char(at)) {
    unichar c = utf8_get_char(at);
    if (c < 0x80 ? !unichar_isalpha(c) : !lre_is_id_start(c)) return mp_const_false;
  }
  return mp_const_true;
}

// Methods of texts that are functions of lib/_str.py.
static mp_obj_t method(qstr name, size_t n, const mp_obj_t *a) {
  mp_obj_t module = mp_import_name(MP_QSTR__str, mp_const_none, MP_OBJ_NEW_SMALL_INT(0));
  return mp_call_function_n_kw(mp_load_attr(module, name), n, 0, a);
}
#define METHOD(name) \
  static mp_obj_t name##_of(size_t n, const mp_obj_t *a) { return method(MP_QSTR_##name, n, a); } \
  MP_DEFINE_CONST_FUN_OBJ_VAR(alcove_##name##_obj, 1, name##_of);
METHOD(capitalize)
METHOD(title)
METHOD(swapcase)
METHOD(casefold)
METHOD(ljust)
METHOD(rjust)
METHOD(zfill)
METHOD(isalnum)
METHOD(isidentifier)
METHOD(removeprefix)
METHOD(removesuffix)
METHOD(translate)

// alcove_sort sorts as Python does: equal elements keep their order, and each has its key computed once.
typedef struct {
  mp_obj_t key, item;
} sorted;

static bool before(mp_obj_t a, mp_obj_t b) { return mp_obj_is_true(mp_binary_op(MP_BINARY_OP_LESS, a, b)); }

static void merge(sorted *all, sorted *other, size_t n, bool reverse) {
  if (n < 2) return;
  size_t half = n / 2, i = 0, j = half;
  merge(all, other, half, reverse);
  merge(all + half, other, n - half, reverse);
  memcpy(other, all, half * sizeof *all);
  for (size_t to = 0; i < half && j <= n; to++) {
    bool second = j < n && (reverse ? before(other[i].key, all[j].key) : before(all[j].key, other[i].key));
    all[to] = second ? all[j++] : other[i++];
  }
}

void alcove_sort(mp_obj_t *items, size_t n, mp_obj_t key, bool reverse) {
  sorted *all = m_new(sorted, n), *other = m_new(sorted, n / 2 + 1);
  for (size_t i = 0; i < n; i++) all[i] = (sorted){key == MP_OBJ_NULL ? items[i] : mp_call_function_1(key, items[i]), items[i]};
  merge(all, other, n, reverse);
  for (size_t i = 0; i < n; i++) items[i] = all[i].item;
  m_del(sorted, all, n);
  m_del(sorted, other, n / 2 + 1);
}
