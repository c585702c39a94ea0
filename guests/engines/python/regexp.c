// Regular expressions: those of the engine of JavaScript, into which lib/re.py translates Python's.
#include <string.h>

#include "engine.h"
#include "libregexp.h"
#include "py/runtime.h"

int lre_check_timeout(void *opaque) { return (void)opaque, 0; }
int lre_check_stack_overflow(void *opaque, size_t more) {
  (void)opaque;
  return mp_cstack_usage() + more > MP_STATE_THREAD(stack_limit);
}
// No garbage is collected while it runs: see alcove_collect.
void *lre_realloc(void *opaque, void *at, size_t size) {
  (void)opaque;
  if (size) return m_realloc_maybe(at, size, true);
  m_free(at);
  return NULL;
}

// compile gives the program, how many groups it has, and their names in their order, with an empty one for each that has none.
static mp_obj_t compile(mp_obj_t pattern, mp_obj_t flags) {
  size_t length;
  const char *text = mp_obj_str_get_data(pattern, &length);
  char error[64];
  int size;
  uint8_t *code = lre_compile(&size, error, sizeof error, text, length, mp_obj_get_int(flags), NULL);
  if (!code) mp_raise_msg_varg(&mp_type_ValueError, MP_ERROR_TEXT("%s"), error);
  int count = lre_get_capture_count(code);
  mp_obj_t names = mp_obj_new_list(0, NULL);
  const char *name = lre_get_groupnames(code);
  for (int i = 1; name && i < count; i++, name += strlen(name) + 1) mp_obj_list_append(names, mp_obj_new_str(name, strlen(name)));
  mp_obj_t all[] = {mp_obj_new_bytes(code, size), MP_OBJ_NEW_SMALL_INT(count), names};
  return mp_obj_new_tuple(3, all);
}
MP_DEFINE_CONST_FUN_OBJ_2(regexp_compile_obj, compile);

// subject gives what exec searches: a text of ASCII as it is, another as UTF-16, and whether it has characters of two units.
static mp_obj_t subject(mp_obj_t in) {
  size_t length;
  const byte *text = (const byte *)mp_obj_str_get_data(in, &length), *end = text + length;
  size_t i = 0;
  while (i < length && text[i] < 0x80) i++;
  if (i == length) return mp_const_none;
  vstr_t out;
  vstr_init(&out, 2 * length);
  bool pairs = false;
  for (; text < end; text = utf8_next_char(text)) {
    unsigned code = utf8_get_char(text);
    uint16_t units[] = {code, 0};
    if (code >= 0x10000) units[0] = 0xd800 + ((code - 0x10000) >> 10), units[1] = 0xdc00 + ((code - 0x10000) & 0x3ff), pairs = true;
    vstr_add_strn(&out, (const char *)units, code >= 0x10000 ? 4 : 2);
  }
  mp_obj_t all[] = {mp_obj_new_bytes((const byte *)out.buf, out.len), mp_obj_new_bool(pairs)};
  return mp_obj_new_tuple(2, all);
}
MP_DEFINE_CONST_FUN_OBJ_1(regexp_subject_obj, subject);

// moved gives the units before so many characters, or the characters before so many units.
static size_t moved(const uint16_t *units, size_t length, size_t n, bool characters) {
  size_t unit = 0, character = 0;
  while (unit < length && (characters ? character : unit) < n) unit += units[unit] >= 0xd800 && units[unit] < 0xdc00 ? 2 : 1, character++;
  return characters ? unit : character;
}

// exec is given a program, a text, its subject, and where to begin; it gives the groups' beginnings and ends, or None.
static mp_obj_t exec(size_t n, const mp_obj_t *a) {
  (void)n;
  size_t length, start = mp_obj_get_int(a[3]);
  const uint8_t *code = (const uint8_t *)mp_obj_str_get_data(a[0], &length);
  const char *text = mp_obj_str_get_data(a[1], &length);
  bool pairs = false;
  if (a[2] != mp_const_none) {
    mp_obj_t *both;
    mp_obj_get_array_fixed_n(a[2], 2, &both);
    text = mp_obj_str_get_data(both[0], &length);
    length /= 2, pairs = both[1] == mp_const_true;
  }
  if (pairs) start = moved((const uint16_t *)text, length, start, true);
  int count = lre_get_capture_count(code);
  uint8_t **captured = m_new0(uint8_t *, 2 * count);
  int found = lre_exec(captured, code, (const uint8_t *)text, start, length, a[2] != mp_const_none, NULL);
  if (found < 0) mp_raise_msg(&mp_type_MemoryError, MP_ERROR_TEXT("the regular expression needs too much memory"));
  if (!found) return mp_const_none;
  mp_obj_t all = mp_obj_new_tuple(2 * count, NULL);
  mp_obj_t *items;
  size_t items_count;
  mp_obj_tuple_get(all, &items_count, &items);
  for (int i = 0; i < 2 * count; i++) {
    if (!captured[i]) {
      items[i] = MP_OBJ_NEW_SMALL_INT(-1);
      continue;
    }
    size_t at = (captured[i] - (const uint8_t *)text) >> (a[2] != mp_const_none);
    items[i] = MP_OBJ_NEW_SMALL_INT(pairs ? moved((const uint16_t *)text, length, at, false) : at);
  }
  return all;
}
MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(regexp_exec_obj, 4, 4, exec);
