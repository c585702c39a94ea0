// JSON: strict when it is read, and as it is written by the module json.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "dtoa.h"
#include "engine.h"
#include "py/objint.h"
#include "py/objtuple.h"
#include "py/objtype.h"
#include "py/parsenum.h"
#include "py/runtime.h"

// need makes room: a text that grows by bytes doubles its memory.
static void need(vstr_t *text, size_t n) {
  if (text->alloc - text->len <= n) vstr_hint_size(text, text->alloc + n);
}

// Reading.
typedef struct {
  const char *begin, *at, *end;
  vstr_t text; // of a string that has escapes
} reader;

static NORETURN void bad(reader *r, const char *what) {
  mp_raise_msg_varg(&mp_type_ValueError, MP_ERROR_TEXT("%s at position %u of the JSON"), what, (unsigned)(r->at - r->begin));
}

static void skip(reader *r) {
  while (r->at < r->end && strchr(" \t\n\r", *r->at) && *r->at) r->at++;
}

static bool word(reader *r, const char *text) {
  size_t n = strlen(text);
  if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n)) return false;
  r->at += n;
  return true;
}

static unsigned hex(reader *r) {
  unsigned value = 0;
  for (int i = 0; i < 4; i++, r->at++) {
    char c = r->at < r->end ? *r->at : 0;
    unsigned digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 16;
    if (digit > 15) bad(r, "an escape without four digits");
    value = value << 4 | digit;
  }
  return value;
}

static void escape(reader *r) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  char c = r->at < r->end ? *r->at++ : 0;
  const char *known = c ? strchr(names, c) : NULL;
  if (known) {
    vstr_add_byte(&r->text, values[known - names]);
    return;
  }
  if (c != 'u') bad(r, "an unknown escape");
  unsigned code = hex(r);
  if (code >= 0xd800 && code < 0xdc00 && word(r, "\\u")) {
    unsigned low = hex(r);
    if (low >= 0xdc00 && low < 0xe000) code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    else code = 0xfffd;
  }
  if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
  vstr_add_char(&r->text, code);
}

static mp_obj_t string(reader *r) {
  const char *from = ++r->at;
  while (r->at < r->end && *r->at != '"' && *r->at != '\\' && (unsigned char)*r->at >= ' ') r->at++;
  if (r->at < r->end && *r->at == '"') return mp_obj_new_str(from, r->at++ - from);
  vstr_reset(&r->text);
  vstr_add_strn(&r->text, from, r->at - from);
  for (;;) {
    if (r->at == r->end || (unsigned char)*r->at < ' ') bad(r, "a string without an end");
    char c = *r->at++;
    need(&r->text, 4);
    if (c == '"') break;
    if (c == '\\') escape(r);
    else vstr_add_byte(&r->text, c);
  }
  return mp_obj_new_str(r->text.buf, r->text.len);
}

static void digits(reader *r) {
  if (r->at == r->end || *r->at < '0' || *r->at > '9') bad(r, "a number without a digit");
  while (r->at < r->end && *r->at >= '0' && *r->at <= '9') r->at++;
}

static mp_obj_t number(reader *r) {
  const char *from = r->at;
  bool whole = true;
  if (*r->at == '-') r->at++;
  if (r->at < r->end && *r->at == '0') r->at++;
  else digits(r);
  if (r->at < r->end && *r->at == '.') whole = false, r->at++, digits(r);
  if (r->at < r->end && (*r->at | 32) == 'e') {
    whole = false, r->at++;
    if (r->at < r->end && (*r->at == '+' || *r->at == '-')) r->at++;
    digits(r);
  }
  if (whole) return mp_parse_num_integer(from, r->at - from, 10, NULL);
  JSATODTempMem memory;
  return mp_obj_new_float(js_atod(from, NULL, 10, 0, &memory));
}

static mp_obj_t value(reader *r);

static mp_obj_t list(reader *r) {
  mp_obj_t all = mp_obj_new_list(0, NULL);
  r->at++;
  skip(r);
  if (word(r, "]")) return all;
  for (;;) {
    mp_obj_list_append(all, value(r));
    if (word(r, "]")) return all;
    if (!word(r, ",")) bad(r, "a list without an end");
  }
}

static mp_obj_t object(reader *r) {
  mp_obj_t all = mp_obj_new_dict(0);
  r->at++;
  skip(r);
  if (word(r, "}")) return all;
  for (;;) {
    skip(r);
    if (r->at == r->end || *r->at != '"') bad(r, "a name is missing");
    mp_obj_t name = string(r);
    skip(r);
    if (!word(r, ":")) bad(r, "a colon is missing");
    mp_obj_dict_store(all, name, value(r));
    if (word(r, "}")) return all;
    if (!word(r, ",")) bad(r, "an object without an end");
  }
}

static mp_obj_t value(reader *r) {
  mp_cstack_check();
  skip(r);
  mp_obj_t v;
  if (r->at == r->end) bad(r, "a value is missing");
  else if (*r->at == '{') v = object(r);
  else if (*r->at == '[') v = list(r);
  else if (*r->at == '"') v = string(r);
  else if (word(r, "null")) v = mp_const_none;
  else if (word(r, "true")) v = mp_const_true;
  else if (word(r, "false")) v = mp_const_false;
  else v = number(r);
  skip(r);
  return v;
}

mp_obj_t json_read(const char *text, size_t length) {
  reader r = {text, text, text + length};
  vstr_init(&r.text, 16);
  mp_obj_t v = value(&r);
  if (r.at != r.end) bad(&r, "text behind the value");
  return v;
}

// Writing.
typedef struct {
  vstr_t *to;
  const char *comma, *colon;
  size_t comma_length, colon_length;
  int indent; // spaces for each level; -1: one line
  bool ascii, sorted;
  mp_obj_t other; // gives what stands for a value that JSON does not have; None: an error
} writer;

static void write_escape(vstr_t *to, unsigned code) {
  static const char names[] = "btn?fr";
  if (code == '"' || code == '\\') vstr_add_byte(to, '\\'), vstr_add_byte(to, code);
  else if (code >= '\b' && code <= '\r' && code != '\v') vstr_add_byte(to, '\\'), vstr_add_byte(to, names[code - '\b']);
  else vstr_printf(to, "\\u%04x", code);
}

static void write_string(writer *w, const byte *at, size_t length) {
  const byte *end = at + length;
  need(w->to, length + 2);
  vstr_add_byte(w->to, '"');
  while (at < end) {
    const byte *from = at;
    while (at < end && *at >= ' ' && *at != '"' && *at != '\\' && (*at < 0x80 || !w->ascii)) at++;
    vstr_add_strn(w->to, (const char *)from, at - from);
    if (at == end) break;
    need(w->to, end - at + 12);
    unsigned code = utf8_get_char(at);
    at = utf8_next_char(at);
    if (code >= 0x10000) write_escape(w->to, 0xd800 + ((code - 0x10000) >> 10)), code = 0xdc00 + ((code - 0x10000) & 0x3ff);
    write_escape(w->to, code);
  }
  vstr_add_byte(w->to, '"');
}

static void write_line(writer *w, int level) {
  if (w->indent < 0) return;
  vstr_add_byte(w->to, '\n');
  for (int i = w->indent * level; i > 0; i--) vstr_add_byte(w->to, ' ');
}

static void write_value(writer *w, mp_obj_t v, int level);

static void write_list(writer *w, size_t n, mp_obj_t *all, int level) {
  vstr_add_byte(w->to, '[');
  for (size_t i = 0; i < n; i++) {
    if (i) vstr_add_strn(w->to, w->comma, w->comma_length);
    write_line(w, level + 1);
    write_value(w, all[i], level + 1);
  }
  if (n) write_line(w, level);
  vstr_add_byte(w->to, ']');
}

static void write_name(writer *w, mp_obj_t name) {
  if (!mp_obj_is_str(name)) {
    if (!mp_obj_is_int(name) && !mp_obj_is_float(name) && !mp_obj_is_bool(name) && name != mp_const_none) {
      mp_raise_msg_varg(&mp_type_TypeError, MP_ERROR_TEXT("keys must be str, int, float, bool or None, not %s"), mp_obj_get_type_str(name));
    }
    vstr_add_byte(w->to, '"');
    write_value(w, name, 0);
    vstr_add_byte(w->to, '"');
    return;
  }
  size_t length;
  const char *text = mp_obj_str_get_data(name, &length);
  write_string(w, (const byte *)text, length);
}

static void write_object(writer *w, mp_obj_t dict, int level) {
  mp_map_t *map = mp_obj_dict_get_map(dict);
  mp_obj_t names = mp_obj_new_list(0, NULL);
  if (w->sorted) {
    for (size_t i = 0; i < map->alloc; i++)
      if (mp_map_slot_is_filled(map, i)) mp_obj_list_append(names, map->table[i].key);
    mp_obj_list_sort(1, &names, (mp_map_t *)&mp_const_empty_map);
  }
  size_t length, n = 0;
  mp_obj_t *sorted;
  mp_obj_list_get(names, &length, &sorted);
  vstr_add_byte(w->to, '{');
  for (size_t i = 0; i < (w->sorted ? length : map->alloc); i++) {
    if (!w->sorted && !mp_map_slot_is_filled(map, i)) continue;
    mp_obj_t name = w->sorted ? sorted[i] : map->table[i].key;
    mp_obj_t v = w->sorted ? mp_obj_dict_get(dict, name) : map->table[i].value;
    if (n++) vstr_add_strn(w->to, w->comma, w->comma_length);
    write_line(w, level + 1);
    write_name(w, name);
    vstr_add_strn(w->to, w->colon, w->colon_length);
    write_value(w, v, level + 1);
  }
  if (n) write_line(w, level);
  vstr_add_byte(w->to, '}');
}

static void write_float(writer *w, double value) {
  if (isnan(value) || isinf(value)) mp_raise_ValueError(MP_ERROR_TEXT("JSON has no nan and no inf"));
  char text[48];
  vstr_add_strn(w->to, text, float_text(value, text));
}

static void write_value(writer *w, mp_obj_t v, int level) {
  mp_cstack_check();
  v = alcove_plain(v);
  need(w->to, 48);
  size_t length;
  mp_obj_t *all;
  if (v == mp_const_none) vstr_add_str(w->to, "null");
  else if (v == mp_const_true) vstr_add_str(w->to, "true");
  else if (v == mp_const_false) vstr_add_str(w->to, "false");
  else if (mp_obj_is_str(v)) {
    const char *text = mp_obj_str_get_data(v, &length);
    write_string(w, (const byte *)text, length);
  } else if (mp_obj_is_float(v)) write_float(w, mp_obj_get_float(v));
  else if (mp_obj_is_int(v)) {
    mp_print_t print = {w->to, (mp_print_strn_t)vstr_add_strn};
    mp_obj_print_helper(&print, v, PRINT_REPR);
  } else if (mp_obj_is_dict_or_ordereddict(v)) write_object(w, v, level);
  else if (mp_obj_is_type(v, &mp_type_list) || mp_obj_is_subclass_fast(MP_OBJ_FROM_PTR(mp_obj_get_type(v)), MP_OBJ_FROM_PTR(&mp_type_tuple))) {
    mp_obj_get_array(v, &length, &all);
    write_list(w, length, all, level);
  } else if (w->other != mp_const_none) write_value(w, mp_call_function_1(w->other, v), level + 1);
  else mp_raise_msg_varg(&mp_type_TypeError, MP_ERROR_TEXT("JSON has no %s"), mp_obj_get_type_str(v));
}

void json_write(vstr_t *to, mp_obj_t v) {
  writer w = {to, ",", ":", 1, 1, -1, false, false, mp_const_none};
  write_value(&w, v, 0);
}

// The functions of lib/json.py.
static mp_obj_t loads(mp_obj_t text) {
  mp_buffer_info_t b;
  mp_get_buffer_raise(text, &b, MP_BUFFER_READ);
  return json_read(b.buf, b.len);
}
MP_DEFINE_CONST_FUN_OBJ_1(json_loads_obj, loads);

// dumps is given a value, an indent or None, separators, ensure_ascii, sort_keys and default.
static mp_obj_t dumps(size_t n, const mp_obj_t *a) {
  (void)n;
  vstr_t out;
  vstr_init(&out, 64);
  writer w = {.to = &out, .indent = a[1] == mp_const_none ? -1 : mp_obj_get_int(a[1]), .ascii = mp_obj_is_true(a[4]), .sorted = mp_obj_is_true(a[5]), .other = a[6]};
  w.comma = mp_obj_str_get_data(a[2], &w.comma_length);
  w.colon = mp_obj_str_get_data(a[3], &w.colon_length);
  write_value(&w, a[0], 0);
  return mp_obj_new_str_from_utf8_vstr(&out);
}
MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(json_dumps_obj, 7, 7, dumps);
