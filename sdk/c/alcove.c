// The SDK for C: see alcove.h.
#include "alcove.h"

#ifdef __wasm__
#define IMPORT(name) __attribute__((import_module("alcove"), import_name(#name)))
#define EXPORT(name) __attribute__((export_name(#name)))
IMPORT(read) int32_t host_read(int32_t channel, void *to, size_t cap);
IMPORT(write) int32_t host_write(int32_t channel, const void *from, size_t len);
IMPORT(call) int32_t host_call(const char *op, size_t op_len, const void *request, size_t len);
extern char __heap_base;
static char *free_from;

void *alcove_alloc(size_t size) {
  if (!free_from) free_from = &__heap_base;
  char *at = (char *)(((uintptr_t)free_from + 7) & ~(uintptr_t)7);
  size_t have = __builtin_wasm_memory_size(0) << 16;
  if (size > ((size_t)1 << 31)) alcove_panic("too much memory was asked for");
  if ((size_t)at + size > have && __builtin_wasm_memory_grow(0, (((size_t)at + size - have) >> 16) + 1) == (size_t)-1) alcove_panic("out of memory");
  free_from = at + size;
  return __builtin_memset(at, 0, size);
}
void alcove_release(void) {}
#else
#include <stdio.h>
#include <stdlib.h>
typedef union block { union block *next; max_align_t align; } block;
static block *blocks;

void *alcove_alloc(size_t size) {
  block *b = calloc(1, sizeof *b + size);
  if (!b) abort();
  b->next = blocks;
  blocks = b;
  return b + 1;
}
void alcove_release(void) {
  for (block *b = blocks, *next; b; b = next) next = b->next, free(b);
  blocks = NULL;
}
#endif

static void copy(void *to, const void *from, size_t n) { if (n) __builtin_memcpy(to, from, n); }
static size_t length(const char *s) { size_t n = 0; while (s[n]) n++; return n; }

alcove_text alcove_of(const char *s) { return (alcove_text){s, length(s)}; }
bool alcove_same(alcove_text a, alcove_text b) {
  if (a.len != b.len) return false;
  for (size_t i = 0; i < a.len; i++) if (a.at[i] != b.at[i]) return false;
  return true;
}
bool alcove_equal(alcove_text a, const char *b) { return alcove_same(a, alcove_of(b)); }

// A text that grows.
typedef struct { char *at; size_t len, cap; } buffer;

static void append(buffer *b, const char *from, size_t n) {
  if (b->len + n + 1 > b->cap) {
    b->cap = 2 * (b->len + n) + 64;
    char *at = alcove_alloc(b->cap);
    copy(at, b->at, b->len);
    b->at = at;
  }
  copy(b->at + b->len, from, n);
  b->at[b->len += n] = 0;
}
static void put(buffer *b, const char *s) { append(b, s, length(s)); }
static alcove_text text_of(buffer *b) { append(b, "", 0); return (alcove_text){b->at, b->len}; }

// Numbers are exact: what is written is the shortest text that is read as the same number, and what is read is the nearest number.
typedef struct { uint32_t n, w[136]; } big;

static void multiply(big *b, uint32_t by, uint32_t carry) {
  uint64_t c = carry;
  for (uint32_t i = 0; i < b->n; i++) b->w[i] = c += (uint64_t)b->w[i] * by, c >>= 32;
  if (c && b->n < 136) b->w[b->n++] = c;
}
static void times_power(big *b, uint32_t base, int n) { while (n-- > 0) multiply(b, base, 0); }
static int bits(const big *b) { return b->n ? 32 * b->n - __builtin_clz(b->w[b->n - 1]) : 0; }
static void shift(big *b, int n) {
  for (; n >= 16; n -= 16) multiply(b, 1 << 16, 0);
  multiply(b, 1u << n, 0);
}
static void halve(big *b) {
  for (uint32_t i = 0; i < b->n; i++) b->w[i] = b->w[i] >> 1 | (i + 1 < b->n ? b->w[i + 1] << 31 : 0);
  if (b->n && !b->w[b->n - 1]) b->n--;
}
static bool subtract(big *a, const big *b) { // if a is not less than b
  if (a->n < b->n) return false;
  for (uint32_t i = a->n; a->n == b->n && i-- > 0 && a->w[i] <= b->w[i];) if (a->w[i] < b->w[i]) return false;
  int64_t c = 0;
  for (uint32_t i = 0; i < a->n; i++) a->w[i] = c += (int64_t)a->w[i] - (i < b->n ? b->w[i] : 0), c >>= 32;
  while (a->n && !a->w[a->n - 1]) a->n--;
  return true;
}

// q * 2^e, and a little more if rest, as the nearest number.
static double nearest(uint64_t q, int e, bool rest) {
  int top = 63 - __builtin_clzll(q), exponent = top + e, precision = exponent < -1022 ? 53 + exponent + 1022 : 53;
  if (exponent > 1023) return __builtin_inf();
  if (precision < 0) return 0;
  int drop = top + 1 - precision;
  uint64_t mantissa = q, tail = 0;
  if (drop > 0) {
    mantissa = drop > 63 ? 0 : q >> drop;
    tail = q - (drop > 63 ? 0 : mantissa << drop);
    uint64_t half = (uint64_t)1 << (drop - 1);
    mantissa += tail > half || (tail == half && (rest || (mantissa & 1)));
  } else {
    mantissa <<= -drop;
  }
  union { uint64_t bits; double v; } out;
  out.bits = exponent < -1022 ? mantissa : ((uint64_t)(exponent + 1023) << 52) + (mantissa - ((uint64_t)1 << 52));
  return out.v;
}

static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// digits * 10^e
static double decimal(const char *digits, int n, int e) {
  while (n && *digits == '0') digits++, n--;
  if (n > 700) e += n - 700, n = 700;
  if (!n || n + e < -330) return 0;
  if (n + e > 310) return __builtin_inf();
  uint64_t few = 0;
  if (n <= 15 && e >= -22 && e <= 22) {
    for (int i = 0; i < n; i++) few = 10 * few + (digits[i] - '0');
    return e < 0 ? few / tens[-e] : few * tens[e];
  }
  big a = {0}, b = {0};
  a.n = b.n = b.w[0] = 1;
  for (int i = 0; i < n; i++) multiply(&a, 10, digits[i] - '0');
  times_power(e < 0 ? &b : &a, 10, e < 0 ? -e : e);
  int s = 62 - (bits(&a) - bits(&b));
  shift(s > 0 ? &a : &b, s > 0 ? s : -s);
  shift(&b, 63);
  for (int i = 0; i < 64; i++, halve(&b)) few = few << 1 | subtract(&a, &b);
  return nearest(few, -s, a.n > 0);
}

static double to_number(alcove_text t) {
  char digits[800] = "";
  int n = 0, e = 0, sign = 0, power = 0;
  size_t i = 0;
  bool minus = t.len && t.at[0] == '-', point = false;
  for (i = minus; i < t.len && t.at[i] != 'e' && t.at[i] != 'E'; i++) {
    if (t.at[i] == '.') point = true;
    else if (n < 800) digits[n++] = t.at[i], e -= point;
    else e += !point;
  }
  if (i < t.len) {
    sign = t.at[++i] == '-' ? -1 : 1;
    for (i += t.at[i] == '-' || t.at[i] == '+'; i < t.len; i++) if (power < 100000) power = 10 * power + t.at[i] - '0';
    e += sign * power;
  }
  double v = decimal(digits, n, e);
  return minus ? -v : v;
}

static void put_unsigned(buffer *b, uint64_t v) {
  char digits[20];
  int n = 20;
  do digits[--n] = '0' + v % 10; while (v /= 10);
  append(b, digits + n, 20 - n);
}
static void put_signed(buffer *b, int64_t v) {
  if (v < 0) put(b, "-");
  put_unsigned(b, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

// All digits of a number that is neither 0 nor negative; it is 0.DIGITS * 10^result.
static int expand(double v, char *digits, int *n) {
  union { double v; uint64_t bits; } u = {v};
  int e = (int)(u.bits >> 52) - 1075;
  uint64_t mantissa = u.bits & (((uint64_t)1 << 52) - 1);
  if (e > -1075) mantissa |= (uint64_t)1 << 52; else e = -1074;
  big b = {2, {(uint32_t)mantissa, (uint32_t)(mantissa >> 32)}};
  if (!b.w[1]) b.n = 1;
  if (e > 0) shift(&b, e); else times_power(&b, 5, -e);
  char backwards[1200];
  int count = 0;
  while (b.n) {
    uint64_t rest = 0;
    for (uint32_t i = b.n; i-- > 0;) rest = rest << 32 | b.w[i], b.w[i] = rest / 10, rest %= 10;
    if (!b.w[b.n - 1]) b.n--;
    backwards[count++] = '0' + rest;
  }
  *n = count < 18 ? count : 18;
  for (int i = 0; i < *n; i++) digits[i] = backwards[count - 1 - i];
  for (int i = *n; i < count; i++) if (backwards[count - 1 - i] != '0' && digits[17] == '5') digits[17] = '6'; // above a half
  return count + (e < 0 ? e : 0);
}

static void put_number(buffer *b, double v, bool single) {
  if (v != v || v - v != 0) { put(b, "null"); return; }
  if (v < 0) put(b, "-"), v = -v;
  if (v < 9007199254740992.0 && v == (double)(uint64_t)v) { put_unsigned(b, v); return; }
  char all[18], digits[18];
  int have, point = expand(v, all, &have), n = 0, at = point;
  for (int p = 1; p <= 17; p++) {
    n = p < have ? p : have, at = point;
    copy(digits, all, n);
    if (n < have && all[n] >= '5') {
      int i = n - 1;
      while (i >= 0 && digits[i] == '9') i--;
      if (i < 0) digits[0] = '1', n = 1, at++; else digits[i]++, n = i + 1;
    }
    double is = decimal(digits, n, at - n);
    if (single ? (float)is == (float)v : is == v) break;
  }
  if (at < -5 || at > 21) {
    append(b, digits, 1);
    if (n > 1) put(b, "."), append(b, digits + 1, n - 1);
    put(b, "e");
    put_signed(b, at - 1);
    return;
  }
  if (at <= 0) put(b, "0.");
  for (int i = at; i < 0; i++) put(b, "0");
  for (int i = 0; i < n || i < at; i++) {
    if (i && i == at) put(b, ".");
    append(b, i < n ? &digits[i] : "0", 1);
  }
}

alcove_text alcove_vformat(const char *f, va_list arguments) {
  buffer b = {0};
  for (; *f; f++) {
    if (*f != '%' || !f[1]) { append(&b, f, 1); continue; }
    switch (*++f) {
    case 's': put(&b, va_arg(arguments, const char *)); break;
    case 't': { alcove_text t = va_arg(arguments, alcove_text); append(&b, t.at, t.len); break; }
    case 'd': put_signed(&b, va_arg(arguments, int)); break;
    case 'l': put_signed(&b, va_arg(arguments, int64_t)); break;
    case 'g': put_number(&b, va_arg(arguments, double), false); break;
    default: append(&b, f, 1);
    }
  }
  return text_of(&b);
}
alcove_text alcove_format(const char *f, ...) {
  va_list arguments;
  va_start(arguments, f);
  alcove_text t = alcove_vformat(f, arguments);
  va_end(arguments);
  return t;
}

// Parsing

enum { DEEPEST = 200 };
typedef struct { const char *at, *end; int depth; } parser;

static void blanks(parser *p) { while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')) p->at++; }
static bool pass(parser *p, char c) { blanks(p); bool is = p->at < p->end && *p->at == c; p->at += is; return is; }
static bool digit(parser *p) { return p->at < p->end && *p->at >= '0' && *p->at <= '9'; }
static bool digits(parser *p) { const char *from = p->at; while (digit(p)) p->at++; return p->at > from; }

static int32_t unit(parser *p) {
  int32_t v = 0;
  if (p->end - p->at < 4) return -1;
  for (int i = 0; i < 4; i++) {
    char c = *p->at++, low = c | 32;
    if (c >= '0' && c <= '9') v = v << 4 | (c - '0');
    else if (low >= 'a' && low <= 'f') v = v << 4 | (low - 'a' + 10);
    else return -1;
  }
  return v;
}

static void put_rune(buffer *b, uint32_t r) {
  char c[4];
  if (r < 0x80) c[0] = r, append(b, c, 1);
  else if (r < 0x800) c[0] = 0xc0 | r >> 6, c[1] = 0x80 | (r & 63), append(b, c, 2);
  else if (r < 0x10000) c[0] = 0xe0 | r >> 12, c[1] = 0x80 | (r >> 6 & 63), c[2] = 0x80 | (r & 63), append(b, c, 3);
  else c[0] = 0xf0 | r >> 18, c[1] = 0x80 | (r >> 12 & 63), c[2] = 0x80 | (r >> 6 & 63), c[3] = 0x80 | (r & 63), append(b, c, 4);
}

// Half a surrogate pair is the replacement character.
static bool escape(parser *p, buffer *b) {
  static const char from[] = "ntrbf\"\\/", to[] = "\n\t\r\b\f\"\\/";
  if (p->at == p->end) return false;
  char c = *p->at++;
  for (int i = 0; from[i]; i++) if (c == from[i]) { append(b, &to[i], 1); return true; }
  int32_t high = c == 'u' ? unit(p) : -1;
  if (high < 0) return false;
  if (high >= 0xd800 && high < 0xdc00 && p->end - p->at > 5 && p->at[0] == '\\' && p->at[1] == 'u') {
    const char *back = p->at;
    p->at += 2;
    int32_t low = unit(p);
    if (low >= 0xdc00 && low < 0xe000) { put_rune(b, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)); return true; }
    p->at = back;
  }
  put_rune(b, high >= 0xd800 && high < 0xe000 ? 0xfffd : high);
  return true;
}

static bool quoted(parser *p, alcove_text *into) {
  buffer b = {0};
  if (!pass(p, '"')) return false;
  while (p->at < p->end) {
    const char *from = p->at;
    while (p->at < p->end && *p->at != '"' && *p->at != '\\' && (unsigned char)*p->at >= ' ') p->at++;
    append(&b, from, p->at - from);
    if (p->at == p->end) return false;
    char c = *p->at++;
    if (c == '"') { *into = text_of(&b); return true; }
    if (c != '\\' || !escape(p, &b)) return false;
  }
  return false;
}

static bool number(parser *p, alcove_text *into) {
  const char *from = p->at;
  p->at += *p->at == '-';
  if (p->at < p->end && *p->at == '0') p->at++;
  else if (!digits(p)) return false;
  if (p->at < p->end && *p->at == '.' && (p->at++, !digits(p))) return false;
  if (p->at < p->end && (*p->at | 32) == 'e') {
    p->at++;
    p->at += p->at < p->end && (*p->at == '+' || *p->at == '-');
    if (!digits(p)) return false;
  }
  buffer b = {0};
  append(&b, from, p->at - from);
  *into = text_of(&b);
  return true;
}

static alcove_value *value(parser *p);

static bool elements(parser *p, alcove_value *v) {
  char end = v->kind == ALCOVE_ARRAY ? ']' : '}';
  const alcove_value **next = &v->items;
  p->at++;
  if (pass(p, end)) return true;
  do {
    alcove_text name = {"", 0};
    if (v->kind == ALCOVE_OBJECT_VALUE && (!quoted(p, &name) || !pass(p, ':'))) return false;
    alcove_value *item = value(p);
    if (!item) return false;
    item->name = name;
    *next = item;
    next = &item->next;
    if (pass(p, end)) return true;
  } while (pass(p, ','));
  return false;
}

static alcove_value *value(parser *p) {
  static const struct { const char *word; alcove_kind kind; bool flag; } words[] = {{"null", ALCOVE_NULL, false}, {"true", ALCOVE_BOOL, true}, {"false", ALCOVE_BOOL, false}};
  blanks(p);
  if (p->at == p->end || p->depth > DEEPEST) return NULL;
  alcove_value *v = alcove_alloc(sizeof *v);
  v->text.at = "";
  if (*p->at == '{' || *p->at == '[') {
    v->kind = *p->at == '{' ? ALCOVE_OBJECT_VALUE : ALCOVE_ARRAY;
    p->depth++;
    bool ok = elements(p, v);
    p->depth--;
    return ok ? v : NULL;
  }
  if (*p->at == '"') { v->kind = ALCOVE_STRING; return quoted(p, &v->text) ? v : NULL; }
  if (*p->at == '-' || digit(p)) { v->kind = ALCOVE_NUMBER; return number(p, &v->text) ? v : NULL; }
  for (int i = 0; i < 3; i++) {
    size_t n = length(words[i].word);
    if ((size_t)(p->end - p->at) >= n && alcove_equal((alcove_text){p->at, n}, words[i].word)) {
      v->kind = words[i].kind, v->flag = words[i].flag, p->at += n;
      return v;
    }
  }
  return NULL;
}

const alcove_value *alcove_parse(alcove_text json) {
  parser p = {json.at, json.at + json.len, 0};
  alcove_value *v = value(&p);
  blanks(&p);
  return p.at == p.end ? v : NULL;
}
const alcove_value *alcove_get(const alcove_value *v, const char *name) {
  for (v = v && v->kind == ALCOVE_OBJECT_VALUE ? v->items : NULL; v; v = v->next) if (alcove_equal(v->name, name)) return v;
  return NULL;
}
const alcove_value *alcove_string(alcove_text text) {
  alcove_value *v = alcove_alloc(sizeof *v);
  v->kind = ALCOVE_STRING, v->text = text;
  return v;
}
const alcove_value *alcove_number(double number) {
  alcove_value *v = alcove_alloc(sizeof *v);
  v->kind = ALCOVE_NUMBER, v->text = alcove_format("%g", number);
  return v;
}
alcove_text alcove_text_of(const alcove_value *v) { return v && v->kind == ALCOVE_STRING ? v->text : (alcove_text){"", 0}; }
double alcove_number_of(const alcove_value *v) { return v && v->kind == ALCOVE_NUMBER ? to_number(v->text) : 0; }

// Writing

static void quote(buffer *b, alcove_text t) {
  static const char hex[] = "0123456789abcdef";
  put(b, "\"");
  for (size_t i = 0, from = 0; i <= t.len; i++) {
    unsigned char c = i < t.len ? t.at[i] : 0;
    if (i < t.len && c >= ' ' && c != '"' && c != '\\') continue;
    append(b, t.at + from, i - from);
    from = i + 1;
    if (i == t.len) break;
    char u[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, two[] = {'\\', c == '\n' ? 'n' : c == '\t' ? 't' : c};
    if (c >= ' ' || c == '\n' || c == '\t') append(b, two, 2); else append(b, u, 6);
  }
  put(b, "\"");
}

static void put_value(buffer *b, const alcove_value *v) {
  switch (v ? v->kind : ALCOVE_NULL) {
  case ALCOVE_NULL: put(b, "null"); break;
  case ALCOVE_BOOL: put(b, v->flag ? "true" : "false"); break;
  case ALCOVE_NUMBER: append(b, v->text.at, v->text.len); break;
  case ALCOVE_STRING: quote(b, v->text); break;
  default:
    put(b, v->kind == ALCOVE_ARRAY ? "[" : "{");
    for (const alcove_value *i = v->items; i; i = i->next) {
      if (i != v->items) put(b, ",");
      if (v->kind == ALCOVE_OBJECT_VALUE) quote(b, i->name), put(b, ":");
      put_value(b, i);
    }
    put(b, v->kind == ALCOVE_ARRAY ? "]" : "}");
  }
}

typedef ALCOVE_MAP(char) list; // of any type; a list lacks names

static bool absent(const alcove_type *t, const char *at) {
  switch (t->is) {
  case ALCOVE_IS_TEXT: return !((const alcove_text *)at)->len;
  case ALCOVE_IS_LIST: case ALCOVE_IS_MAP: return !((const list *)at)->n;
  case ALCOVE_IS_OBJECT: return false;
  }
  for (size_t i = 0; i < t->size; i++) if (at[i]) return false;
  return true;
}

static void put_type(buffer *b, const alcove_type *t, const char *at) {
  const list *l = (const list *)at;
  bool first = true;
  switch (t->is) {
  case ALCOVE_IS_TEXT: quote(b, *(const alcove_text *)at); break;
  case ALCOVE_IS_BOOL: put(b, *(const bool *)at ? "true" : "false"); break;
  case ALCOVE_IS_INT: put_signed(b, *(const int64_t *)at); break;
  case ALCOVE_IS_UINT: put_unsigned(b, *(const uint64_t *)at); break;
  case ALCOVE_IS_FLOAT: put_number(b, *(const double *)at, false); break;
  case ALCOVE_IS_FLOAT32: put_number(b, *(const float *)at, true); break;
  case ALCOVE_IS_VALUE: put_value(b, *(const alcove_value *const *)at); break;
  case ALCOVE_IS_POINTER:
    if (*(const char *const *)at) put_type(b, t->of, *(const char *const *)at); else put(b, "null");
    break;
  case ALCOVE_IS_LIST: case ALCOVE_IS_MAP:
    put(b, t->is == ALCOVE_IS_LIST ? "[" : "{");
    for (size_t i = 0; i < l->n; i++) {
      if (i) put(b, ",");
      if (t->is == ALCOVE_IS_MAP) quote(b, l->names[i]), put(b, ":");
      put_type(b, t->of, l->at + i * t->of->size);
    }
    put(b, t->is == ALCOVE_IS_LIST ? "]" : "}");
    break;
  case ALCOVE_IS_OBJECT:
    put(b, "{");
    for (const alcove_field *f = t->fields; f < t->fields + t->count; f++) {
      if (f->optional && absent(f->type, at + f->offset)) continue;
      if (!first) put(b, ",");
      first = false;
      quote(b, alcove_of(f->name)), put(b, ":");
      put_type(b, f->type, at + f->offset);
    }
    put(b, "}");
  }
}

alcove_text alcove_encode(const alcove_type *type, const void *from) {
  buffer b = {0};
  put_type(&b, type, from);
  return text_of(&b);
}

// Reading

static alcove_text wanted(const char *what) { return alcove_format("want %s", what); }

static alcove_text read_whole(const alcove_type *t, const alcove_value *v, void *into) {
  double number = alcove_number_of(v);
  bool minus = v->text.len && v->text.at[0] == '-', plain = v->kind == ALCOVE_NUMBER && v->text.len - minus < 20 + (t->is == ALCOVE_IS_UINT);
  uint64_t n = 0;
  for (size_t i = minus; plain && i < v->text.len; i++) {
    unsigned d = v->text.at[i] - '0';
    plain = d < 10 && n <= UINT64_MAX / 10 && 10 * n <= UINT64_MAX - d;
    if (plain) n = 10 * n + d;
  }
  plain = plain && (t->is == ALCOVE_IS_UINT ? !minus || !n : n <= INT64_MAX + (uint64_t)minus);
  if (plain) { *(uint64_t *)into = minus ? -n : n; return alcove_of(""); }
  bool large = number >= 9007199254740992.0 || number <= -9007199254740992.0;
  if (v->kind != ALCOVE_NUMBER || large || (double)(int64_t)number != number || (t->is == ALCOVE_IS_UINT && number < 0)) return wanted("a whole number");
  *(int64_t *)into = number;
  return alcove_of("");
}

static alcove_text read_list(const alcove_type *t, const alcove_value *v, list *into) {
  size_t i = 0;
  if (v->kind != (t->is == ALCOVE_IS_LIST ? ALCOVE_ARRAY : ALCOVE_OBJECT_VALUE)) return wanted(t->is == ALCOVE_IS_LIST ? "a list" : "an object");
  size_t count = 0;
  for (const alcove_value *item = v->items; item; item = item->next) count++;
  into->n = count;
  into->at = alcove_alloc(count * t->of->size);
  if (t->is == ALCOVE_IS_MAP) into->names = alcove_alloc(count * sizeof *into->names);
  for (const alcove_value *item = v->items; item; item = item->next, i++) {
    if (t->is == ALCOVE_IS_MAP) into->names[i] = item->name;
    alcove_text failed = alcove_decode(t->of, item, into->at + i * t->of->size);
    if (failed.len) return alcove_format("%d: %t", (int)i, failed);
  }
  return alcove_of("");
}

static alcove_text read_object(const alcove_type *t, const alcove_value *v, char *into) {
  if (v->kind != ALCOVE_OBJECT_VALUE) return wanted("an object");
  for (const alcove_value *member = v->items; member; member = member->next)
    for (const alcove_field *f = t->fields; f < t->fields + t->count; f++) {
      if (!alcove_equal(member->name, f->name)) continue;
      alcove_text failed = alcove_decode(f->type, member, into + f->offset);
      if (failed.len) return alcove_format("%s: %t", f->name, failed);
    }
  return alcove_of("");
}

alcove_text alcove_decode(const alcove_type *t, const alcove_value *v, void *into) {
  if (t->is == ALCOVE_IS_VALUE) { *(const alcove_value **)into = v; return alcove_of(""); }
  if (!v || v->kind == ALCOVE_NULL) return alcove_of(""); // as it is: empty
  switch (t->is) {
  case ALCOVE_IS_TEXT:
    if (v->kind != ALCOVE_STRING) return wanted("text");
    *(alcove_text *)into = v->text;
    break;
  case ALCOVE_IS_BOOL:
    if (v->kind != ALCOVE_BOOL) return wanted("true or false");
    *(bool *)into = v->flag;
    break;
  case ALCOVE_IS_INT: case ALCOVE_IS_UINT: return read_whole(t, v, into);
  case ALCOVE_IS_FLOAT: case ALCOVE_IS_FLOAT32:
    if (v->kind != ALCOVE_NUMBER) return wanted("a number");
    if (t->is == ALCOVE_IS_FLOAT) *(double *)into = to_number(v->text); else *(float *)into = (float)to_number(v->text);
    break;
  case ALCOVE_IS_POINTER: return alcove_decode(t->of, v, *(void **)into = alcove_alloc(t->of->size));
  case ALCOVE_IS_LIST: case ALCOVE_IS_MAP: return read_list(t, v, into);
  case ALCOVE_IS_OBJECT: return read_object(t, v, into);
  }
  return alcove_of("");
}

#define SCALAR(name, kind, type) const alcove_type alcove_is_##name = {kind, sizeof(type), 0, NULL, NULL}
#define LIST(name, of) const alcove_type alcove_is_##name = {ALCOVE_IS_LIST, sizeof(ALCOVE_LIST(char)), 0, &alcove_is_##of, NULL}
#define MAP(name, of) const alcove_type alcove_is_##name = {ALCOVE_IS_MAP, sizeof(list), 0, &alcove_is_##of, NULL}
#define POINTER(name, of) const alcove_type alcove_is_##name = {ALCOVE_IS_POINTER, sizeof(void *), 0, &alcove_is_##of, NULL}
#define MUST(object, name, field, is) {name, offsetof(alcove_##object, field), false, &alcove_is_##is}
#define MAY(object, name, field, is) {name, offsetof(alcove_##object, field), true, &alcove_is_##is}
SCALAR(text, ALCOVE_IS_TEXT, alcove_text);
SCALAR(bool, ALCOVE_IS_BOOL, bool);
SCALAR(int, ALCOVE_IS_INT, int64_t);
SCALAR(uint, ALCOVE_IS_UINT, uint64_t);
SCALAR(float, ALCOVE_IS_FLOAT, double);
SCALAR(float32, ALCOVE_IS_FLOAT32, float);
SCALAR(value, ALCOVE_IS_VALUE, alcove_value *);
const alcove_type alcove_is_nothing = {ALCOVE_IS_OBJECT, 0, 0, NULL, NULL};
LIST(texts, text);
LIST(ints, int);
LIST(values, value);
MAP(map_of_int, int);
MAP(map_of_value, value);

// generated: begin
// By abi/gen from abi.json. Do not edit.
bool alcove_retryable(const char *code) { alcove_text t = alcove_of(code); return alcove_equal(t, "conflict") || alcove_equal(t, "unavailable") || alcove_equal(t, "timeout"); }
static POINTER(pointer_to_text, text);
static POINTER(pointer_to_float, float);
static POINTER(pointer_to_counters, counters);
static POINTER(pointer_to_uint, uint);
static POINTER(pointer_to_bool, bool);
static POINTER(pointer_to_int, int);
static LIST(list_of_field_test, field_test);
static MAP(map_of_float32, float32);
static LIST(list_of_texts, texts);
static POINTER(pointer_to_memory, memory);
static LIST(list_of_recalled_fact, recalled_fact);
static LIST(list_of_pointer_to_memory, pointer_to_memory);
static POINTER(pointer_to_memory_filter, memory_filter);
static LIST(list_of_memory, memory);
static LIST(list_of_float32, float32);
static LIST(list_of_memory_hit, memory_hit);
static LIST(list_of_ints, ints);
static LIST(list_of_memory_item, memory_item);
static LIST(list_of_memory_id, memory_id);
static LIST(list_of_memory_patch, memory_patch);
static POINTER(pointer_to_record, record);
static LIST(list_of_pointer_to_record, pointer_to_record);
static LIST(list_of_record_item, record_item);
static LIST(list_of_record_filter, record_filter);
static LIST(list_of_record, record);
static LIST(list_of_record_hit, record_hit);
static LIST(list_of_record_test, record_test);
static LIST(list_of_record_neighbor, record_neighbor);
static LIST(list_of_record_collection, record_collection);
static LIST(list_of_uint, uint);
static LIST(list_of_event, event);
static LIST(list_of_notice, notice);
static POINTER(pointer_to_missed, missed);
static LIST(list_of_branch, branch);
static LIST(list_of_difference, difference);
static LIST(list_of_setting_state, setting_state);
static LIST(list_of_setting_change, setting_change);
static LIST(list_of_setting_changed, setting_changed);
static LIST(list_of_setting_version, setting_version);
static LIST(list_of_setting_rule, setting_rule);
static LIST(list_of_power, power);
static LIST(list_of_quota_use, quota_use);
static LIST(list_of_session, session);
static LIST(list_of_scope, scope);
static POINTER(pointer_to_progress, progress);
static LIST(list_of_list_of_float32, list_of_float32);
static LIST(list_of_namespace, namespace);
static LIST(list_of_embedding, embedding);
static POINTER(pointer_to_moment, moment);
static POINTER(pointer_to_durability, durability);
static MAP(map_of_text, text);
static LIST(list_of_file_entry, file_entry);
static POINTER(pointer_to_file, file);
static LIST(list_of_pointer_to_file, pointer_to_file);
static LIST(list_of_file_item, file_item);
static LIST(list_of_foreign_tool, foreign_tool);
static LIST(list_of_tool_usage, tool_usage);
static LIST(list_of_merge_key, merge_key);
static POINTER(pointer_to_input, input);
static LIST(list_of_entry, entry);
static POINTER(pointer_to_merge_notice, merge_notice);
static POINTER(pointer_to_session, session);
static POINTER(pointer_to_change, change);
static LIST(list_of_pointer_to_change, pointer_to_change);
static LIST(list_of_content, content);
static LIST(list_of_listed_resource, listed_resource);
static LIST(list_of_prompt_message, prompt_message);
static MAP(map_of_input_request, input_request);
static const alcove_field counters_fields[] = {MUST(counters, "accesses", accesses, int), MAY(counters, "last_access", last_access, text), MUST(counters, "health", health, float), };
const alcove_type alcove_is_counters = {ALCOVE_IS_OBJECT, sizeof(alcove_counters), 3, NULL, counters_fields};
static const alcove_field memory_fields_fields[] = {MAY(memory_fields, "value", value, value), MAY(memory_fields, "tags", tags, texts), MAY(memory_fields, "type", type, pointer_to_text), MAY(memory_fields, "importance", importance, pointer_to_float), MAY(memory_fields, "metadata", metadata, map_of_value), MAY(memory_fields, "state", state, text), MAY(memory_fields, "supersedes", supersedes, texts), MAY(memory_fields, "links", links, texts), MAY(memory_fields, "expires_at", expires_at, pointer_to_text), };
const alcove_type alcove_is_memory_fields = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_fields), 9, NULL, memory_fields_fields};
static const alcove_field memory_fields[] = {MUST(memory, "namespace", namespace, text), MUST(memory, "key", key, text), MAY(memory, "value", value, value), MAY(memory, "tags", tags, texts), MAY(memory, "type", type, pointer_to_text), MAY(memory, "importance", importance, pointer_to_float), MAY(memory, "metadata", metadata, map_of_value), MAY(memory, "state", state, text), MAY(memory, "supersedes", supersedes, texts), MAY(memory, "links", links, texts), MAY(memory, "expires_at", expires_at, pointer_to_text), MAY(memory, "agent", agent, text), MUST(memory, "version", version, uint), MAY(memory, "timestamp", timestamp, text), MAY(memory, "deleted", deleted, bool), MAY(memory, "counters", counters, pointer_to_counters), MAY(memory, "created", created, text), };
const alcove_type alcove_is_memory = {ALCOVE_IS_OBJECT, sizeof(alcove_memory), 17, NULL, memory_fields};
static const alcove_field memory_id_fields[] = {MUST(memory_id, "namespace", namespace, text), MUST(memory_id, "key", key, text), };
const alcove_type alcove_is_memory_id = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_id), 2, NULL, memory_id_fields};
static const alcove_field file_fields[] = {MUST(file, "path", path, text), MUST(file, "content", content, text), MUST(file, "digest", digest, text), };
const alcove_type alcove_is_file = {ALCOVE_IS_OBJECT, sizeof(alcove_file), 3, NULL, file_fields};
static const alcove_field file_entry_fields[] = {MUST(file_entry, "path", path, text), MUST(file_entry, "bytes", bytes, int), MUST(file_entry, "modified", modified, text), };
const alcove_type alcove_is_file_entry = {ALCOVE_IS_OBJECT, sizeof(alcove_file_entry), 3, NULL, file_entry_fields};
static const alcove_field file_item_fields[] = {MUST(file_item, "path", path, text), MUST(file_item, "content", content, text), MAY(file_item, "if_digest", if_digest, pointer_to_text), };
const alcove_type alcove_is_file_item = {ALCOVE_IS_OBJECT, sizeof(alcove_file_item), 3, NULL, file_item_fields};
static const alcove_field quota_use_fields[] = {MUST(quota_use, "namespace", namespace, text), MUST(quota_use, "agent", agent, text), MUST(quota_use, "day", day, text), MUST(quota_use, "memories", memories, int), MUST(quota_use, "most_memories", most_memories, int), MUST(quota_use, "links", links, int), MUST(quota_use, "most_links", most_links, int), MUST(quota_use, "bytes", bytes, int), MUST(quota_use, "most_bytes", most_bytes, int), };
const alcove_type alcove_is_quota_use = {ALCOVE_IS_OBJECT, sizeof(alcove_quota_use), 9, NULL, quota_use_fields};
static const alcove_field memory_item_fields[] = {MAY(memory_item, "key", key, text), MAY(memory_item, "namespace", namespace, text), MAY(memory_item, "value", value, value), MAY(memory_item, "tags", tags, texts), MAY(memory_item, "type", type, pointer_to_text), MAY(memory_item, "importance", importance, pointer_to_float), MAY(memory_item, "metadata", metadata, map_of_value), MAY(memory_item, "state", state, text), MAY(memory_item, "supersedes", supersedes, texts), MAY(memory_item, "links", links, texts), MAY(memory_item, "expires_at", expires_at, pointer_to_text), MAY(memory_item, "if_version", if_version, pointer_to_uint), };
const alcove_type alcove_is_memory_item = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_item), 12, NULL, memory_item_fields};
static const alcove_field memory_patch_fields[] = {MUST(memory_patch, "key", key, text), MAY(memory_patch, "namespace", namespace, text), MAY(memory_patch, "value", value, value), MAY(memory_patch, "tags", tags, texts), MAY(memory_patch, "type", type, pointer_to_text), MAY(memory_patch, "importance", importance, pointer_to_float), MAY(memory_patch, "metadata", metadata, map_of_value), MAY(memory_patch, "state", state, text), MAY(memory_patch, "supersedes", supersedes, texts), MAY(memory_patch, "links", links, texts), MAY(memory_patch, "expires_at", expires_at, pointer_to_text), MAY(memory_patch, "add_tags", add_tags, texts), MAY(memory_patch, "remove_tags", remove_tags, texts), MAY(memory_patch, "clear", clear, texts), MAY(memory_patch, "if_version", if_version, pointer_to_uint), };
const alcove_type alcove_is_memory_patch = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_patch), 15, NULL, memory_patch_fields};
static const alcove_field field_test_fields[] = {MUST(field_test, "field", field, text), MAY(field_test, "equals", equals, value), MAY(field_test, "exists", exists, pointer_to_bool), };
const alcove_type alcove_is_field_test = {ALCOVE_IS_OBJECT, sizeof(alcove_field_test), 3, NULL, field_test_fields};
static const alcove_field memory_filter_fields[] = {MAY(memory_filter, "types", types, texts), MAY(memory_filter, "states", states, texts), MAY(memory_filter, "writers", writers, texts), MAY(memory_filter, "tags", tags, texts), MAY(memory_filter, "any_tags", any_tags, texts), MAY(memory_filter, "no_tags", no_tags, texts), MAY(memory_filter, "min_importance", min_importance, pointer_to_float), MAY(memory_filter, "max_importance", max_importance, pointer_to_float), MAY(memory_filter, "min_accesses", min_accesses, pointer_to_int), MAY(memory_filter, "max_accesses", max_accesses, pointer_to_int), MAY(memory_filter, "min_health", min_health, pointer_to_float), MAY(memory_filter, "max_health", max_health, pointer_to_float), MAY(memory_filter, "accessed_since", accessed_since, text), MAY(memory_filter, "accessed_until", accessed_until, text), MAY(memory_filter, "created_since", created_since, text), MAY(memory_filter, "created_until", created_until, text), MAY(memory_filter, "updated_since", updated_since, text), MAY(memory_filter, "updated_until", updated_until, text), MAY(memory_filter, "expired", expired, text), MAY(memory_filter, "fields", fields, list_of_field_test), };
const alcove_type alcove_is_memory_filter = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_filter), 20, NULL, memory_filter_fields};
static const alcove_field memory_hit_fields[] = {MUST(memory_hit, "memory", memory, memory), MUST(memory_hit, "score", score, float), MUST(memory_hit, "snippet", snippet, text), MAY(memory_hit, "superseded_by", superseded_by, text), MAY(memory_hit, "features", features, map_of_float32), };
const alcove_type alcove_is_memory_hit = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_hit), 5, NULL, memory_hit_fields};
static const alcove_field record_fields[] = {MUST(record, "namespace", namespace, text), MUST(record, "key", key, text), MUST(record, "value", value, value), MUST(record, "version", version, uint), MAY(record, "timestamp", timestamp, text), MAY(record, "expires_at", expires_at, text), MAY(record, "deleted", deleted, bool), };
const alcove_type alcove_is_record = {ALCOVE_IS_OBJECT, sizeof(alcove_record), 7, NULL, record_fields};
static const alcove_field record_collection_fields[] = {MUST(record_collection, "family", family, text), MUST(record_collection, "name", name, text), MUST(record_collection, "per", per, text), MAY(record_collection, "searchable", searchable, texts), MAY(record_collection, "indexes", indexes, list_of_texts), MAY(record_collection, "expires", expires, text), MAY(record_collection, "unversioned", unversioned, bool), MAY(record_collection, "open", open, bool), MAY(record_collection, "private", private, bool), };
const alcove_type alcove_is_record_collection = {ALCOVE_IS_OBJECT, sizeof(alcove_record_collection), 9, NULL, record_collection_fields};
static const alcove_field record_filter_fields[] = {MUST(record_filter, "field", field, text), MUST(record_filter, "op", op, text), MUST(record_filter, "value", value, value), };
const alcove_type alcove_is_record_filter = {ALCOVE_IS_OBJECT, sizeof(alcove_record_filter), 3, NULL, record_filter_fields};
static const alcove_field record_item_fields[] = {MUST(record_item, "key", key, text), MUST(record_item, "value", value, value), MAY(record_item, "if_version", if_version, pointer_to_uint), MAY(record_item, "expires_at", expires_at, pointer_to_text), };
const alcove_type alcove_is_record_item = {ALCOVE_IS_OBJECT, sizeof(alcove_record_item), 4, NULL, record_item_fields};
static const alcove_field record_hit_fields[] = {MUST(record_hit, "record", record, record), MUST(record_hit, "score", score, float), MUST(record_hit, "snippet", snippet, text), };
const alcove_type alcove_is_record_hit = {ALCOVE_IS_OBJECT, sizeof(alcove_record_hit), 3, NULL, record_hit_fields};
static const alcove_field record_test_fields[] = {MUST(record_test, "field", field, text), MUST(record_test, "op", op, text), MUST(record_test, "value", value, value), };
const alcove_type alcove_is_record_test = {ALCOVE_IS_OBJECT, sizeof(alcove_record_test), 3, NULL, record_test_fields};
static const alcove_field record_neighbor_fields[] = {MUST(record_neighbor, "record", record, record), MUST(record_neighbor, "score", score, float), };
const alcove_type alcove_is_record_neighbor = {ALCOVE_IS_OBJECT, sizeof(alcove_record_neighbor), 2, NULL, record_neighbor_fields};
static const alcove_field event_fields[] = {MUST(event, "namespace", namespace, text), MUST(event, "sequence", sequence, uint), MUST(event, "event", event, text), MUST(event, "data", data, value), MAY(event, "agent", agent, text), MUST(event, "timestamp", timestamp, text), };
const alcove_type alcove_is_event = {ALCOVE_IS_OBJECT, sizeof(alcove_event), 6, NULL, event_fields};
static const alcove_field notice_fields[] = {MUST(notice, "kind", kind, text), MUST(notice, "namespace", namespace, text), MUST(notice, "key", key, text), MUST(notice, "watermark", watermark, uint), MUST(notice, "timestamp", timestamp, text), MAY(notice, "payload", payload, value), MAY(notice, "agent", agent, text), MAY(notice, "family", family, text), };
const alcove_type alcove_is_notice = {ALCOVE_IS_OBJECT, sizeof(alcove_notice), 8, NULL, notice_fields};
static const alcove_field branch_fields[] = {MUST(branch, "name", name, text), MAY(branch, "parent", parent, text), MUST(branch, "forked_at", forked_at, uint), MUST(branch, "created", created, text), MUST(branch, "depth", depth, int), };
const alcove_type alcove_is_branch = {ALCOVE_IS_OBJECT, sizeof(alcove_branch), 5, NULL, branch_fields};
static const alcove_field difference_fields[] = {MUST(difference, "namespace", namespace, text), MAY(difference, "collection", collection, text), MUST(difference, "key", key, text), MAY(difference, "base", base, pointer_to_memory), MAY(difference, "source", source, pointer_to_memory), MAY(difference, "target", target, pointer_to_memory), MAY(difference, "clash", clash, text), };
const alcove_type alcove_is_difference = {ALCOVE_IS_OBJECT, sizeof(alcove_difference), 7, NULL, difference_fields};
static const alcove_field power_fields[] = {MUST(power, "name", name, text), MAY(power, "scope", scope, texts), };
const alcove_type alcove_is_power = {ALCOVE_IS_OBJECT, sizeof(alcove_power), 2, NULL, power_fields};
static const alcove_field progress_fields[] = {MUST(progress, "done", done, float), MAY(progress, "total", total, float), MAY(progress, "message", message, text), };
const alcove_type alcove_is_progress = {ALCOVE_IS_OBJECT, sizeof(alcove_progress), 3, NULL, progress_fields};
static const alcove_field setting_state_fields[] = {MUST(setting_state, "key", key, text), MUST(setting_state, "value", value, value), MUST(setting_state, "scope", scope, text), MAY(setting_state, "name", name, text), MAY(setting_state, "version", version, uint), MAY(setting_state, "priority", priority, int), MAY(setting_state, "updated_at", updated_at, text), MAY(setting_state, "updated_by", updated_by, text), MAY(setting_state, "unused", unused, texts), MUST(setting_state, "default", default_, value), MUST(setting_state, "schema", schema, value), MAY(setting_state, "category", category, text), MAY(setting_state, "description", description, text), MUST(setting_state, "families", families, texts), };
const alcove_type alcove_is_setting_state = {ALCOVE_IS_OBJECT, sizeof(alcove_setting_state), 14, NULL, setting_state_fields};
static const alcove_field setting_change_fields[] = {MUST(setting_change, "key", key, text), MUST(setting_change, "value", value, value), MAY(setting_change, "priority", priority, pointer_to_int), MAY(setting_change, "if_version", if_version, pointer_to_uint), };
const alcove_type alcove_is_setting_change = {ALCOVE_IS_OBJECT, sizeof(alcove_setting_change), 4, NULL, setting_change_fields};
static const alcove_field setting_changed_fields[] = {MUST(setting_changed, "key", key, text), MUST(setting_changed, "version", version, uint), MAY(setting_changed, "before", before, value), MAY(setting_changed, "after", after, value), MAY(setting_changed, "change", change, text), };
const alcove_type alcove_is_setting_changed = {ALCOVE_IS_OBJECT, sizeof(alcove_setting_changed), 5, NULL, setting_changed_fields};
static const alcove_field setting_version_fields[] = {MUST(setting_version, "version", version, uint), MAY(setting_version, "before", before, value), MAY(setting_version, "after", after, value), MAY(setting_version, "priority", priority, int), MUST(setting_version, "timestamp", timestamp, text), MAY(setting_version, "agent", agent, text), MAY(setting_version, "family", family, text), MAY(setting_version, "reason", reason, text), MAY(setting_version, "rolled_back_to", rolled_back_to, pointer_to_uint), MAY(setting_version, "change", change, text), };
const alcove_type alcove_is_setting_version = {ALCOVE_IS_OBJECT, sizeof(alcove_setting_version), 10, NULL, setting_version_fields};
static const alcove_field setting_rule_fields[] = {MUST(setting_rule, "rule", rule, text), MUST(setting_rule, "keys", keys, texts), MAY(setting_rule, "equals", equals, float), MAY(setting_rule, "within", within, float), MUST(setting_rule, "families", families, texts), };
const alcove_type alcove_is_setting_rule = {ALCOVE_IS_OBJECT, sizeof(alcove_setting_rule), 5, NULL, setting_rule_fields};
static const alcove_field namespace_fields[] = {MUST(namespace, "namespace", namespace, text), MAY(namespace, "memories", memories, pointer_to_int), MAY(namespace, "events", events, pointer_to_int), };
const alcove_type alcove_is_namespace = {ALCOVE_IS_OBJECT, sizeof(alcove_namespace), 3, NULL, namespace_fields};
static const alcove_field moment_fields[] = {MUST(moment, "version", version, uint), MUST(moment, "timestamp", timestamp, text), };
const alcove_type alcove_is_moment = {ALCOVE_IS_OBJECT, sizeof(alcove_moment), 2, NULL, moment_fields};
static const alcove_field durability_fields[] = {MUST(durability, "commits", commits, uint), MUST(durability, "syncs", syncs, uint), MUST(durability, "failed", failed, uint), MUST(durability, "last_sync_ns", last_sync_ns, int), MUST(durability, "slowest_sync_ns", slowest_sync_ns, int), MUST(durability, "database_bytes", database_bytes, int), };
const alcove_type alcove_is_durability = {ALCOVE_IS_OBJECT, sizeof(alcove_durability), 6, NULL, durability_fields};
static const alcove_field embedding_fields[] = {MUST(embedding, "name", name, text), MUST(embedding, "vectors", vectors, int), MUST(embedding, "waiting", waiting, int), MUST(embedding, "refused", refused, int), };
const alcove_type alcove_is_embedding = {ALCOVE_IS_OBJECT, sizeof(alcove_embedding), 4, NULL, embedding_fields};
static const alcove_field missed_fields[] = {MUST(missed, "after", after, uint), MUST(missed, "oldest", oldest, uint), MUST(missed, "message", message, text), };
const alcove_type alcove_is_missed = {ALCOVE_IS_OBJECT, sizeof(alcove_missed), 3, NULL, missed_fields};
static const alcove_field foreign_tool_fields[] = {MUST(foreign_tool, "name", name, text), MUST(foreign_tool, "family", family, text), MUST(foreign_tool, "description", description, text), MUST(foreign_tool, "input_schema", input_schema, value), };
const alcove_type alcove_is_foreign_tool = {ALCOVE_IS_OBJECT, sizeof(alcove_foreign_tool), 4, NULL, foreign_tool_fields};
static const alcove_field recall_fields[] = {MUST(recall, "recall_id", recall_id, text), MUST(recall, "branch", branch, text), MUST(recall, "query", query, text), MUST(recall, "facts", facts, list_of_recalled_fact), MUST(recall, "agent", agent, text), MUST(recall, "timestamp", timestamp, text), MUST(recall, "expires_at", expires_at, text), };
const alcove_type alcove_is_recall = {ALCOVE_IS_OBJECT, sizeof(alcove_recall), 7, NULL, recall_fields};
static const alcove_field recalled_fact_fields[] = {MUST(recalled_fact, "namespace", namespace, text), MUST(recalled_fact, "key", key, text), };
const alcove_type alcove_is_recalled_fact = {ALCOVE_IS_OBJECT, sizeof(alcove_recalled_fact), 2, NULL, recalled_fact_fields};
static const alcove_field tool_usage_fields[] = {MUST(tool_usage, "agent", agent, text), MUST(tool_usage, "tool", tool, text), MAY(tool_usage, "as", as, text), MUST(tool_usage, "calls", calls, int), MAY(tool_usage, "errors", errors, int), MUST(tool_usage, "last", last, text), };
const alcove_type alcove_is_tool_usage = {ALCOVE_IS_OBJECT, sizeof(alcove_tool_usage), 6, NULL, tool_usage_fields};
static const alcove_field scope_fields[] = {MUST(scope, "namespace", namespace, text), MAY(scope, "name", name, text), MAY(scope, "description", description, text), MUST(scope, "creator", creator, text), MUST(scope, "members", members, texts), MUST(scope, "read", read, text), MUST(scope, "write", write, text), MAY(scope, "retention_days", retention_days, int), MAY(scope, "archived", archived, bool), MUST(scope, "created_at", created_at, text), };
const alcove_type alcove_is_scope = {ALCOVE_IS_OBJECT, sizeof(alcove_scope), 10, NULL, scope_fields};
static const alcove_field session_fields[] = {MUST(session, "session", session, text), MAY(session, "agent", agent, text), MAY(session, "client", client, text), MUST(session, "began_at", began_at, text), MUST(session, "calls", calls, int), MAY(session, "ended_at", ended_at, text), MUST(session, "namespace", namespace, text), MUST(session, "branch", branch, text), MAY(session, "last_at", last_at, text), };
const alcove_type alcove_is_session = {ALCOVE_IS_OBJECT, sizeof(alcove_session), 9, NULL, session_fields};
static const alcove_field memory_get_request_fields[] = {MUST(memory_get_request, "keys", keys, texts), MAY(memory_get_request, "namespace", namespace, text), MAY(memory_get_request, "as_of", as_of, text), MAY(memory_get_request, "counters", counters, bool), MAY(memory_get_request, "created", created, bool), MAY(memory_get_request, "expired", expired, bool), };
const alcove_type alcove_is_memory_get_request = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_get_request), 6, NULL, memory_get_request_fields};
static const alcove_field memory_get_response_fields[] = {MUST(memory_get_response, "memories", memories, list_of_pointer_to_memory), };
const alcove_type alcove_is_memory_get_response = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_get_response), 1, NULL, memory_get_response_fields};
static const alcove_field memory_states_request_fields[] = {MUST(memory_states_request, "keys", keys, texts), MAY(memory_states_request, "namespace", namespace, text), MAY(memory_states_request, "values", values, bool), };
const alcove_type alcove_is_memory_states_request = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_states_request), 3, NULL, memory_states_request_fields};
static const alcove_field memory_states_response_fields[] = {MUST(memory_states_response, "states", states, texts), MAY(memory_states_response, "values", values, values), };
const alcove_type alcove_is_memory_states_response = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_states_response), 2, NULL, memory_states_response_fields};
static const alcove_field memory_list_request_fields[] = {MAY(memory_list_request, "namespace", namespace, text), MAY(memory_list_request, "prefix", prefix, text), MAY(memory_list_request, "after", after, text), MAY(memory_list_request, "limit", limit, int), MAY(memory_list_request, "as_of", as_of, text), MAY(memory_list_request, "counters", counters, bool), MAY(memory_list_request, "created", created, bool), MAY(memory_list_request, "filter", filter, pointer_to_memory_filter), MAY(memory_list_request, "order", order, text), MAY(memory_list_request, "count", count, text), };
const alcove_type alcove_is_memory_list_request = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_list_request), 10, NULL, memory_list_request_fields};
static const alcove_field memory_list_response_fields[] = {MUST(memory_list_response, "memories", memories, list_of_memory), MAY(memory_list_response, "next", next, text), MAY(memory_list_response, "total", total, pointer_to_int), };
const alcove_type alcove_is_memory_list_response = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_list_response), 3, NULL, memory_list_response_fields};
static const alcove_field memory_namespaces_response_fields[] = {MUST(memory_namespaces_response, "namespaces", namespaces, texts), };
const alcove_type alcove_is_memory_namespaces_response = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_namespaces_response), 1, NULL, memory_namespaces_response_fields};
static const alcove_field memory_history_request_fields[] = {MUST(memory_history_request, "key", key, text), MAY(memory_history_request, "namespace", namespace, text), MAY(memory_history_request, "before", before, uint), MAY(memory_history_request, "limit", limit, int), };
const alcove_type alcove_is_memory_history_request = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_history_request), 4, NULL, memory_history_request_fields};
static const alcove_field memory_history_response_fields[] = {MUST(memory_history_response, "versions", versions, list_of_memory), MAY(memory_history_response, "next", next, uint), };
const alcove_type alcove_is_memory_history_response = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_history_response), 2, NULL, memory_history_response_fields};
static const alcove_field recall_get_request_fields[] = {MUST(recall_get_request, "recall_id", recall_id, text), };
const alcove_type alcove_is_recall_get_request = {ALCOVE_IS_OBJECT, sizeof(alcove_recall_get_request), 1, NULL, recall_get_request_fields};
static const alcove_field recall_get_response_fields[] = {MUST(recall_get_response, "recall", recall, recall), };
const alcove_type alcove_is_recall_get_response = {ALCOVE_IS_OBJECT, sizeof(alcove_recall_get_response), 1, NULL, recall_get_response_fields};
static const alcove_field memory_search_request_fields[] = {MUST(memory_search_request, "query", query, text), MAY(memory_search_request, "namespaces", namespaces, texts), MAY(memory_search_request, "k", k, int), MAY(memory_search_request, "offset", offset, int), MAY(memory_search_request, "order", order, text), MAY(memory_search_request, "min_importance", min_importance, pointer_to_float), MAY(memory_search_request, "writers", writers, texts), MAY(memory_search_request, "tags", tags, texts), MAY(memory_search_request, "types", types, texts), MAY(memory_search_request, "states", states, texts), MAY(memory_search_request, "since", since, text), MAY(memory_search_request, "until", until, text), MAY(memory_search_request, "as_of", as_of, text), MAY(memory_search_request, "mode", mode, text), MAY(memory_search_request, "vector", vector, list_of_float32), MAY(memory_search_request, "features", features, bool), };
const alcove_type alcove_is_memory_search_request = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_search_request), 16, NULL, memory_search_request_fields};
static const alcove_field memory_search_response_fields[] = {MUST(memory_search_response, "hits", hits, list_of_memory_hit), MUST(memory_search_response, "total", total, int), };
const alcove_type alcove_is_memory_search_response = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_search_response), 2, NULL, memory_search_response_fields};
static const alcove_field memory_pairs_request_fields[] = {MAY(memory_pairs_request, "namespace", namespace, text), MAY(memory_pairs_request, "filter", filter, pointer_to_memory_filter), MAY(memory_pairs_request, "after", after, text), MAY(memory_pairs_request, "limit", limit, int), MAY(memory_pairs_request, "similarity", similarity, float), MAY(memory_pairs_request, "missing", missing, int), MAY(memory_pairs_request, "most", most, int), };
const alcove_type alcove_is_memory_pairs_request = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_pairs_request), 7, NULL, memory_pairs_request_fields};
static const alcove_field memory_pairs_response_fields[] = {MUST(memory_pairs_response, "keys", keys, texts), MUST(memory_pairs_response, "pairs", pairs, list_of_ints), MUST(memory_pairs_response, "similarities", similarities, list_of_float32), MUST(memory_pairs_response, "compared", compared, int), MAY(memory_pairs_response, "next", next, text), };
const alcove_type alcove_is_memory_pairs_response = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_pairs_response), 5, NULL, memory_pairs_response_fields};
static const alcove_field memory_put_request_fields[] = {MUST(memory_put_request, "items", items, list_of_memory_item), };
const alcove_type alcove_is_memory_put_request = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_put_request), 1, NULL, memory_put_request_fields};
static const alcove_field memory_put_response_fields[] = {MUST(memory_put_response, "stored", stored, list_of_memory_id), };
const alcove_type alcove_is_memory_put_response = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_put_response), 1, NULL, memory_put_response_fields};
static const alcove_field memory_patch_request_fields[] = {MUST(memory_patch_request, "patches", patches, list_of_memory_patch), MAY(memory_patch_request, "expired", expired, bool), };
const alcove_type alcove_is_memory_patch_request = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_patch_request), 2, NULL, memory_patch_request_fields};
static const alcove_field memory_patch_response_fields[] = {MUST(memory_patch_response, "patched", patched, int), MUST(memory_patch_response, "missing", missing, texts), };
const alcove_type alcove_is_memory_patch_response = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_patch_response), 2, NULL, memory_patch_response_fields};
static const alcove_field memory_delete_request_fields[] = {MUST(memory_delete_request, "keys", keys, texts), MAY(memory_delete_request, "namespace", namespace, text), MAY(memory_delete_request, "expired", expired, bool), };
const alcove_type alcove_is_memory_delete_request = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_delete_request), 3, NULL, memory_delete_request_fields};
static const alcove_field memory_delete_response_fields[] = {MUST(memory_delete_response, "deleted", deleted, int), };
const alcove_type alcove_is_memory_delete_response = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_delete_response), 1, NULL, memory_delete_response_fields};
static const alcove_field memory_touch_request_fields[] = {MUST(memory_touch_request, "keys", keys, texts), MAY(memory_touch_request, "namespace", namespace, text), MAY(memory_touch_request, "accesses", accesses, pointer_to_int), MAY(memory_touch_request, "health", health, float), };
const alcove_type alcove_is_memory_touch_request = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_touch_request), 4, NULL, memory_touch_request_fields};
static const alcove_field memory_touch_response_fields[] = {MUST(memory_touch_response, "touched", touched, int), };
const alcove_type alcove_is_memory_touch_response = {ALCOVE_IS_OBJECT, sizeof(alcove_memory_touch_response), 1, NULL, memory_touch_response_fields};
static const alcove_field record_get_request_fields[] = {MUST(record_get_request, "collection", collection, text), MUST(record_get_request, "keys", keys, texts), MAY(record_get_request, "namespace", namespace, text), MAY(record_get_request, "family", family, text), MAY(record_get_request, "expired", expired, bool), };
const alcove_type alcove_is_record_get_request = {ALCOVE_IS_OBJECT, sizeof(alcove_record_get_request), 5, NULL, record_get_request_fields};
static const alcove_field record_get_response_fields[] = {MUST(record_get_response, "records", records, list_of_pointer_to_record), };
const alcove_type alcove_is_record_get_response = {ALCOVE_IS_OBJECT, sizeof(alcove_record_get_response), 1, NULL, record_get_response_fields};
static const alcove_field record_put_request_fields[] = {MUST(record_put_request, "collection", collection, text), MAY(record_put_request, "namespace", namespace, text), MUST(record_put_request, "items", items, list_of_record_item), MAY(record_put_request, "now", now, bool), };
const alcove_type alcove_is_record_put_request = {ALCOVE_IS_OBJECT, sizeof(alcove_record_put_request), 4, NULL, record_put_request_fields};
static const alcove_field record_put_response_fields[] = {MUST(record_put_response, "stored", stored, int), };
const alcove_type alcove_is_record_put_response = {ALCOVE_IS_OBJECT, sizeof(alcove_record_put_response), 1, NULL, record_put_response_fields};
static const alcove_field record_delete_request_fields[] = {MUST(record_delete_request, "collection", collection, text), MUST(record_delete_request, "keys", keys, texts), MAY(record_delete_request, "namespace", namespace, text), };
const alcove_type alcove_is_record_delete_request = {ALCOVE_IS_OBJECT, sizeof(alcove_record_delete_request), 3, NULL, record_delete_request_fields};
static const alcove_field record_delete_response_fields[] = {MUST(record_delete_response, "deleted", deleted, int), };
const alcove_type alcove_is_record_delete_response = {ALCOVE_IS_OBJECT, sizeof(alcove_record_delete_response), 1, NULL, record_delete_response_fields};
static const alcove_field record_list_request_fields[] = {MUST(record_list_request, "collection", collection, text), MAY(record_list_request, "namespace", namespace, text), MAY(record_list_request, "prefix", prefix, text), MAY(record_list_request, "after", after, text), MAY(record_list_request, "limit", limit, int), MAY(record_list_request, "filters", filters, list_of_record_filter), MAY(record_list_request, "order", order, text), MAY(record_list_request, "descending", descending, bool), MAY(record_list_request, "count", count, bool), MAY(record_list_request, "family", family, text), MAY(record_list_request, "expired", expired, bool), };
const alcove_type alcove_is_record_list_request = {ALCOVE_IS_OBJECT, sizeof(alcove_record_list_request), 11, NULL, record_list_request_fields};
static const alcove_field record_list_response_fields[] = {MUST(record_list_response, "records", records, list_of_record), MAY(record_list_response, "next", next, text), MAY(record_list_response, "total", total, pointer_to_int), };
const alcove_type alcove_is_record_list_response = {ALCOVE_IS_OBJECT, sizeof(alcove_record_list_response), 3, NULL, record_list_response_fields};
static const alcove_field record_scan_request_fields[] = {MUST(record_scan_request, "collection", collection, text), MAY(record_scan_request, "namespace", namespace, text), MUST(record_scan_request, "prefixes", prefixes, texts), MAY(record_scan_request, "after", after, text), MAY(record_scan_request, "limit", limit, int), MAY(record_scan_request, "values", values, bool), };
const alcove_type alcove_is_record_scan_request = {ALCOVE_IS_OBJECT, sizeof(alcove_record_scan_request), 6, NULL, record_scan_request_fields};
static const alcove_field record_scan_response_fields[] = {MUST(record_scan_response, "keys", keys, texts), MAY(record_scan_response, "values", values, values), MAY(record_scan_response, "next", next, text), };
const alcove_type alcove_is_record_scan_response = {ALCOVE_IS_OBJECT, sizeof(alcove_record_scan_response), 3, NULL, record_scan_response_fields};
static const alcove_field record_history_request_fields[] = {MUST(record_history_request, "collection", collection, text), MUST(record_history_request, "key", key, text), MAY(record_history_request, "namespace", namespace, text), MAY(record_history_request, "before", before, uint), MAY(record_history_request, "limit", limit, int), MAY(record_history_request, "family", family, text), };
const alcove_type alcove_is_record_history_request = {ALCOVE_IS_OBJECT, sizeof(alcove_record_history_request), 6, NULL, record_history_request_fields};
static const alcove_field record_history_response_fields[] = {MUST(record_history_response, "versions", versions, list_of_record), MAY(record_history_response, "next", next, uint), };
const alcove_type alcove_is_record_history_response = {ALCOVE_IS_OBJECT, sizeof(alcove_record_history_response), 2, NULL, record_history_response_fields};
static const alcove_field record_search_request_fields[] = {MUST(record_search_request, "collection", collection, text), MUST(record_search_request, "query", query, text), MAY(record_search_request, "namespaces", namespaces, texts), MAY(record_search_request, "k", k, int), MAY(record_search_request, "offset", offset, int), MAY(record_search_request, "family", family, text), MAY(record_search_request, "mode", mode, text), MAY(record_search_request, "vector", vector, list_of_float32), };
const alcove_type alcove_is_record_search_request = {ALCOVE_IS_OBJECT, sizeof(alcove_record_search_request), 8, NULL, record_search_request_fields};
static const alcove_field record_search_response_fields[] = {MUST(record_search_response, "hits", hits, list_of_record_hit), MUST(record_search_response, "total", total, int), };
const alcove_type alcove_is_record_search_response = {ALCOVE_IS_OBJECT, sizeof(alcove_record_search_response), 2, NULL, record_search_response_fields};
static const alcove_field record_nearest_request_fields[] = {MUST(record_nearest_request, "collection", collection, text), MAY(record_nearest_request, "namespace", namespace, text), MAY(record_nearest_request, "prefix", prefix, text), MUST(record_nearest_request, "vector", vector, list_of_float32), MAY(record_nearest_request, "field", field, text), MAY(record_nearest_request, "metric", metric, text), MAY(record_nearest_request, "filters", filters, list_of_record_test), MAY(record_nearest_request, "k", k, int), MAY(record_nearest_request, "omit_vector", omit_vector, bool), MAY(record_nearest_request, "family", family, text), };
const alcove_type alcove_is_record_nearest_request = {ALCOVE_IS_OBJECT, sizeof(alcove_record_nearest_request), 10, NULL, record_nearest_request_fields};
static const alcove_field record_nearest_response_fields[] = {MUST(record_nearest_response, "hits", hits, list_of_record_neighbor), MUST(record_nearest_response, "total", total, int), };
const alcove_type alcove_is_record_nearest_response = {ALCOVE_IS_OBJECT, sizeof(alcove_record_nearest_response), 2, NULL, record_nearest_response_fields};
static const alcove_field record_collections_request_fields[] = {MAY(record_collections_request, "family", family, text), };
const alcove_type alcove_is_record_collections_request = {ALCOVE_IS_OBJECT, sizeof(alcove_record_collections_request), 1, NULL, record_collections_request_fields};
static const alcove_field record_collections_response_fields[] = {MUST(record_collections_response, "collections", collections, list_of_record_collection), };
const alcove_type alcove_is_record_collections_response = {ALCOVE_IS_OBJECT, sizeof(alcove_record_collections_response), 1, NULL, record_collections_response_fields};
static const alcove_field record_append_request_fields[] = {MUST(record_append_request, "collection", collection, text), MAY(record_append_request, "namespace", namespace, text), MUST(record_append_request, "values", values, values), };
const alcove_type alcove_is_record_append_request = {ALCOVE_IS_OBJECT, sizeof(alcove_record_append_request), 3, NULL, record_append_request_fields};
static const alcove_field record_append_response_fields[] = {MUST(record_append_response, "sequences", sequences, list_of_uint), };
const alcove_type alcove_is_record_append_response = {ALCOVE_IS_OBJECT, sizeof(alcove_record_append_response), 1, NULL, record_append_response_fields};
static const alcove_field log_append_request_fields[] = {MUST(log_append_request, "event", event, text), MAY(log_append_request, "data", data, value), MAY(log_append_request, "namespace", namespace, text), MAY(log_append_request, "sequence", sequence, bool), };
const alcove_type alcove_is_log_append_request = {ALCOVE_IS_OBJECT, sizeof(alcove_log_append_request), 4, NULL, log_append_request_fields};
static const alcove_field log_append_response_fields[] = {MAY(log_append_response, "sequence", sequence, uint), };
const alcove_type alcove_is_log_append_response = {ALCOVE_IS_OBJECT, sizeof(alcove_log_append_response), 1, NULL, log_append_response_fields};
static const alcove_field log_read_request_fields[] = {MAY(log_read_request, "namespace", namespace, text), MAY(log_read_request, "from", from, uint), MAY(log_read_request, "limit", limit, int), };
const alcove_type alcove_is_log_read_request = {ALCOVE_IS_OBJECT, sizeof(alcove_log_read_request), 3, NULL, log_read_request_fields};
static const alcove_field log_read_response_fields[] = {MUST(log_read_response, "events", events, list_of_event), };
const alcove_type alcove_is_log_read_response = {ALCOVE_IS_OBJECT, sizeof(alcove_log_read_response), 1, NULL, log_read_response_fields};
static const alcove_field log_verify_request_fields[] = {MAY(log_verify_request, "namespace", namespace, text), MAY(log_verify_request, "from", from, uint), MAY(log_verify_request, "limit", limit, int), };
const alcove_type alcove_is_log_verify_request = {ALCOVE_IS_OBJECT, sizeof(alcove_log_verify_request), 3, NULL, log_verify_request_fields};
static const alcove_field log_verify_response_fields[] = {MUST(log_verify_response, "verified", verified, bool), MUST(log_verify_response, "checked", checked, int), MAY(log_verify_response, "next", next, uint), MAY(log_verify_response, "broken_at", broken_at, uint), MAY(log_verify_response, "fault", fault, text), MAY(log_verify_response, "hash", hash, text), };
const alcove_type alcove_is_log_verify_response = {ALCOVE_IS_OBJECT, sizeof(alcove_log_verify_response), 6, NULL, log_verify_response_fields};
static const alcove_field feed_read_request_fields[] = {MAY(feed_read_request, "after", after, uint), MAY(feed_read_request, "namespaces", namespaces, texts), MAY(feed_read_request, "kinds", kinds, texts), MAY(feed_read_request, "agents", agents, texts), MAY(feed_read_request, "limit", limit, int), };
const alcove_type alcove_is_feed_read_request = {ALCOVE_IS_OBJECT, sizeof(alcove_feed_read_request), 5, NULL, feed_read_request_fields};
static const alcove_field feed_read_response_fields[] = {MUST(feed_read_response, "notices", notices, list_of_notice), MUST(feed_read_response, "watermark", watermark, uint), MUST(feed_read_response, "more", more, bool), MAY(feed_read_response, "missed", missed, pointer_to_missed), };
const alcove_type alcove_is_feed_read_response = {ALCOVE_IS_OBJECT, sizeof(alcove_feed_read_response), 4, NULL, feed_read_response_fields};
static const alcove_field feed_emit_request_fields[] = {MUST(feed_emit_request, "kind", kind, text), MAY(feed_emit_request, "payload", payload, value), MAY(feed_emit_request, "namespace", namespace, text), MAY(feed_emit_request, "recipients", recipients, texts), MAY(feed_emit_request, "per", per, text), };
const alcove_type alcove_is_feed_emit_request = {ALCOVE_IS_OBJECT, sizeof(alcove_feed_emit_request), 5, NULL, feed_emit_request_fields};
static const alcove_field branch_list_response_fields[] = {MUST(branch_list_response, "branches", branches, list_of_branch), };
const alcove_type alcove_is_branch_list_response = {ALCOVE_IS_OBJECT, sizeof(alcove_branch_list_response), 1, NULL, branch_list_response_fields};
static const alcove_field branch_diff_request_fields[] = {MUST(branch_diff_request, "source", source, text), MAY(branch_diff_request, "target", target, text), MAY(branch_diff_request, "namespaces", namespaces, texts), MAY(branch_diff_request, "limit", limit, int), MAY(branch_diff_request, "source_only", source_only, bool), MAY(branch_diff_request, "longest", longest, int), };
const alcove_type alcove_is_branch_diff_request = {ALCOVE_IS_OBJECT, sizeof(alcove_branch_diff_request), 6, NULL, branch_diff_request_fields};
static const alcove_field branch_diff_response_fields[] = {MUST(branch_diff_response, "added", added, int), MUST(branch_diff_response, "changed", changed, int), MUST(branch_diff_response, "removed", removed, int), MUST(branch_diff_response, "clashes", clashes, int), MUST(branch_diff_response, "differences", differences, list_of_difference), MUST(branch_diff_response, "truncated", truncated, bool), MAY(branch_diff_response, "seen", seen, uint), };
const alcove_type alcove_is_branch_diff_response = {ALCOVE_IS_OBJECT, sizeof(alcove_branch_diff_response), 7, NULL, branch_diff_response_fields};
static const alcove_field branch_fork_request_fields[] = {MUST(branch_fork_request, "name", name, text), MAY(branch_fork_request, "from", from, text), MAY(branch_fork_request, "as_of", as_of, text), MAY(branch_fork_request, "required", required, bool), MAY(branch_fork_request, "read_only", read_only, bool), };
const alcove_type alcove_is_branch_fork_request = {ALCOVE_IS_OBJECT, sizeof(alcove_branch_fork_request), 5, NULL, branch_fork_request_fields};
static const alcove_field branch_fork_response_fields[] = {MUST(branch_fork_response, "name", name, text), MUST(branch_fork_response, "from", from, text), };
const alcove_type alcove_is_branch_fork_response = {ALCOVE_IS_OBJECT, sizeof(alcove_branch_fork_response), 2, NULL, branch_fork_response_fields};
static const alcove_field branch_merge_request_fields[] = {MUST(branch_merge_request, "source", source, text), MAY(branch_merge_request, "target", target, text), MAY(branch_merge_request, "strategy", strategy, text), MAY(branch_merge_request, "namespaces", namespaces, texts), MAY(branch_merge_request, "seen", seen, uint), MAY(branch_merge_request, "preview", preview, bool), MAY(branch_merge_request, "required", required, bool), };
const alcove_type alcove_is_branch_merge_request = {ALCOVE_IS_OBJECT, sizeof(alcove_branch_merge_request), 7, NULL, branch_merge_request_fields};
static const alcove_field branch_merge_response_fields[] = {MUST(branch_merge_response, "merged", merged, bool), MUST(branch_merge_response, "applied", applied, list_of_difference), MUST(branch_merge_response, "clashes", clashes, list_of_difference), MUST(branch_merge_response, "unresolved", unresolved, int), MAY(branch_merge_response, "seen", seen, uint), };
const alcove_type alcove_is_branch_merge_response = {ALCOVE_IS_OBJECT, sizeof(alcove_branch_merge_response), 5, NULL, branch_merge_response_fields};
static const alcove_field branch_delete_request_fields[] = {MUST(branch_delete_request, "name", name, text), MAY(branch_delete_request, "force", force, bool), };
const alcove_type alcove_is_branch_delete_request = {ALCOVE_IS_OBJECT, sizeof(alcove_branch_delete_request), 2, NULL, branch_delete_request_fields};
static const alcove_field link_list_request_fields[] = {MUST(link_list_request, "key", key, text), MAY(link_list_request, "namespace", namespace, text), MAY(link_list_request, "after", after, text), MAY(link_list_request, "limit", limit, int), };
const alcove_type alcove_is_link_list_request = {ALCOVE_IS_OBJECT, sizeof(alcove_link_list_request), 4, NULL, link_list_request_fields};
static const alcove_field link_list_response_fields[] = {MUST(link_list_response, "links", links, texts), MUST(link_list_response, "linked_from", linked_from, texts), MAY(link_list_response, "next", next, text), };
const alcove_type alcove_is_link_list_response = {ALCOVE_IS_OBJECT, sizeof(alcove_link_list_response), 3, NULL, link_list_response_fields};
static const alcove_field link_add_request_fields[] = {MUST(link_add_request, "key", key, text), MUST(link_add_request, "to", to, texts), MAY(link_add_request, "namespace", namespace, text), };
const alcove_type alcove_is_link_add_request = {ALCOVE_IS_OBJECT, sizeof(alcove_link_add_request), 3, NULL, link_add_request_fields};
static const alcove_field link_add_response_fields[] = {MUST(link_add_response, "added", added, int), };
const alcove_type alcove_is_link_add_response = {ALCOVE_IS_OBJECT, sizeof(alcove_link_add_response), 1, NULL, link_add_response_fields};
static const alcove_field link_remove_request_fields[] = {MUST(link_remove_request, "key", key, text), MUST(link_remove_request, "to", to, texts), MAY(link_remove_request, "namespace", namespace, text), };
const alcove_type alcove_is_link_remove_request = {ALCOVE_IS_OBJECT, sizeof(alcove_link_remove_request), 3, NULL, link_remove_request_fields};
static const alcove_field link_remove_response_fields[] = {MUST(link_remove_response, "removed", removed, int), };
const alcove_type alcove_is_link_remove_response = {ALCOVE_IS_OBJECT, sizeof(alcove_link_remove_response), 1, NULL, link_remove_response_fields};
static const alcove_field config_get_request_fields[] = {MAY(config_get_request, "keys", keys, texts), MAY(config_get_request, "namespace", namespace, text), MAY(config_get_request, "details", details, bool), };
const alcove_type alcove_is_config_get_request = {ALCOVE_IS_OBJECT, sizeof(alcove_config_get_request), 3, NULL, config_get_request_fields};
static const alcove_field config_get_response_fields[] = {MUST(config_get_response, "config", config, map_of_value), MAY(config_get_response, "settings", settings, list_of_setting_state), };
const alcove_type alcove_is_config_get_response = {ALCOVE_IS_OBJECT, sizeof(alcove_config_get_response), 2, NULL, config_get_response_fields};
static const alcove_field config_list_request_fields[] = {MAY(config_list_request, "category", category, text), MAY(config_list_request, "prefix", prefix, text), MAY(config_list_request, "namespace", namespace, text), MAY(config_list_request, "scope", scope, text), MAY(config_list_request, "name", name, text), MAY(config_list_request, "after", after, text), MAY(config_list_request, "limit", limit, int), };
const alcove_type alcove_is_config_list_request = {ALCOVE_IS_OBJECT, sizeof(alcove_config_list_request), 7, NULL, config_list_request_fields};
static const alcove_field config_list_response_fields[] = {MUST(config_list_response, "settings", settings, list_of_setting_state), MAY(config_list_response, "next", next, text), };
const alcove_type alcove_is_config_list_response = {ALCOVE_IS_OBJECT, sizeof(alcove_config_list_response), 2, NULL, config_list_response_fields};
static const alcove_field config_put_request_fields[] = {MUST(config_put_request, "changes", changes, list_of_setting_change), MAY(config_put_request, "scope", scope, text), MAY(config_put_request, "name", name, text), MAY(config_put_request, "reason", reason, text), };
const alcove_type alcove_is_config_put_request = {ALCOVE_IS_OBJECT, sizeof(alcove_config_put_request), 4, NULL, config_put_request_fields};
static const alcove_field config_put_response_fields[] = {MUST(config_put_response, "changed", changed, list_of_setting_changed), };
const alcove_type alcove_is_config_put_response = {ALCOVE_IS_OBJECT, sizeof(alcove_config_put_response), 1, NULL, config_put_response_fields};
static const alcove_field config_history_request_fields[] = {MUST(config_history_request, "key", key, text), MAY(config_history_request, "scope", scope, text), MAY(config_history_request, "name", name, text), MAY(config_history_request, "before", before, uint), MAY(config_history_request, "limit", limit, int), };
const alcove_type alcove_is_config_history_request = {ALCOVE_IS_OBJECT, sizeof(alcove_config_history_request), 5, NULL, config_history_request_fields};
static const alcove_field config_history_response_fields[] = {MUST(config_history_response, "versions", versions, list_of_setting_version), MAY(config_history_response, "next", next, uint), };
const alcove_type alcove_is_config_history_response = {ALCOVE_IS_OBJECT, sizeof(alcove_config_history_response), 2, NULL, config_history_response_fields};
static const alcove_field config_rollback_request_fields[] = {MUST(config_rollback_request, "key", key, text), MUST(config_rollback_request, "version", version, uint), MAY(config_rollback_request, "scope", scope, text), MAY(config_rollback_request, "name", name, text), MAY(config_rollback_request, "if_version", if_version, pointer_to_uint), MAY(config_rollback_request, "reason", reason, text), };
const alcove_type alcove_is_config_rollback_request = {ALCOVE_IS_OBJECT, sizeof(alcove_config_rollback_request), 6, NULL, config_rollback_request_fields};
static const alcove_field config_rollback_response_fields[] = {MUST(config_rollback_response, "changed", changed, setting_changed), };
const alcove_type alcove_is_config_rollback_response = {ALCOVE_IS_OBJECT, sizeof(alcove_config_rollback_response), 1, NULL, config_rollback_response_fields};
static const alcove_field config_undo_request_fields[] = {MUST(config_undo_request, "change", change, text), MAY(config_undo_request, "scope", scope, text), MAY(config_undo_request, "name", name, text), MAY(config_undo_request, "reason", reason, text), };
const alcove_type alcove_is_config_undo_request = {ALCOVE_IS_OBJECT, sizeof(alcove_config_undo_request), 4, NULL, config_undo_request_fields};
static const alcove_field config_undo_response_fields[] = {MUST(config_undo_response, "changed", changed, list_of_setting_changed), };
const alcove_type alcove_is_config_undo_response = {ALCOVE_IS_OBJECT, sizeof(alcove_config_undo_response), 1, NULL, config_undo_response_fields};
static const alcove_field config_rules_response_fields[] = {MUST(config_rules_response, "rules", rules, list_of_setting_rule), };
const alcove_type alcove_is_config_rules_response = {ALCOVE_IS_OBJECT, sizeof(alcove_config_rules_response), 1, NULL, config_rules_response_fields};
static const alcove_field config_set_request_fields[] = {MUST(config_set_request, "values", values, map_of_value), };
const alcove_type alcove_is_config_set_request = {ALCOVE_IS_OBJECT, sizeof(alcove_config_set_request), 1, NULL, config_set_request_fields};
static const alcove_field config_set_response_fields[] = {MUST(config_set_response, "config", config, map_of_value), };
const alcove_type alcove_is_config_set_response = {ALCOVE_IS_OBJECT, sizeof(alcove_config_set_response), 1, NULL, config_set_response_fields};
static const alcove_field caller_get_response_fields[] = {MUST(caller_get_response, "caller", caller, text), MUST(caller_get_response, "principal", principal, text), MUST(caller_get_response, "namespace", namespace, text), MUST(caller_get_response, "branch", branch, text), MUST(caller_get_response, "capabilities", capabilities, list_of_power), MUST(caller_get_response, "hooks", hooks, texts), MUST(caller_get_response, "read_only", read_only, bool), MUST(caller_get_response, "proposes", proposes, bool), MAY(caller_get_response, "client", client, text), MAY(caller_get_response, "session", session, text), MAY(caller_get_response, "space", space, text), MAY(caller_get_response, "key", key, text), };
const alcove_type alcove_is_caller_get_response = {ALCOVE_IS_OBJECT, sizeof(alcove_caller_get_response), 12, NULL, caller_get_response_fields};
static const alcove_field quota_list_request_fields[] = {MAY(quota_list_request, "agent", agent, text), };
const alcove_type alcove_is_quota_list_request = {ALCOVE_IS_OBJECT, sizeof(alcove_quota_list_request), 1, NULL, quota_list_request_fields};
static const alcove_field quota_list_response_fields[] = {MUST(quota_list_response, "quotas", quotas, list_of_quota_use), };
const alcove_type alcove_is_quota_list_response = {ALCOVE_IS_OBJECT, sizeof(alcove_quota_list_response), 1, NULL, quota_list_response_fields};
static const alcove_field caller_can_request_fields[] = {MUST(caller_can_request, "action", action, text), MAY(caller_can_request, "namespace", namespace, text), MAY(caller_can_request, "agent", agent, text), MAY(caller_can_request, "key", key, text), };
const alcove_type alcove_is_caller_can_request = {ALCOVE_IS_OBJECT, sizeof(alcove_caller_can_request), 4, NULL, caller_can_request_fields};
static const alcove_field caller_can_response_fields[] = {MUST(caller_can_response, "allowed", allowed, bool), MAY(caller_can_response, "reason", reason, text), };
const alcove_type alcove_is_caller_can_response = {ALCOVE_IS_OBJECT, sizeof(alcove_caller_can_response), 2, NULL, caller_can_response_fields};
static const alcove_field session_list_request_fields[] = {MAY(session_list_request, "agent", agent, text), MAY(session_list_request, "namespace", namespace, text), MAY(session_list_request, "recent_s", recent_s, int), MAY(session_list_request, "limit", limit, int), };
const alcove_type alcove_is_session_list_request = {ALCOVE_IS_OBJECT, sizeof(alcove_session_list_request), 4, NULL, session_list_request_fields};
static const alcove_field session_list_response_fields[] = {MUST(session_list_response, "sessions", sessions, list_of_session), MAY(session_list_response, "more", more, bool), };
const alcove_type alcove_is_session_list_response = {ALCOVE_IS_OBJECT, sizeof(alcove_session_list_response), 2, NULL, session_list_response_fields};
static const alcove_field scope_get_request_fields[] = {MAY(scope_get_request, "namespace", namespace, text), };
const alcove_type alcove_is_scope_get_request = {ALCOVE_IS_OBJECT, sizeof(alcove_scope_get_request), 1, NULL, scope_get_request_fields};
static const alcove_field scope_get_response_fields[] = {MUST(scope_get_response, "scope", scope, scope), };
const alcove_type alcove_is_scope_get_response = {ALCOVE_IS_OBJECT, sizeof(alcove_scope_get_response), 1, NULL, scope_get_response_fields};
static const alcove_field scope_list_request_fields[] = {MAY(scope_list_request, "prefix", prefix, text), MAY(scope_list_request, "after", after, text), MAY(scope_list_request, "limit", limit, int), MAY(scope_list_request, "archived", archived, bool), };
const alcove_type alcove_is_scope_list_request = {ALCOVE_IS_OBJECT, sizeof(alcove_scope_list_request), 4, NULL, scope_list_request_fields};
static const alcove_field scope_list_response_fields[] = {MUST(scope_list_response, "scopes", scopes, list_of_scope), MAY(scope_list_response, "next", next, text), };
const alcove_type alcove_is_scope_list_response = {ALCOVE_IS_OBJECT, sizeof(alcove_scope_list_response), 2, NULL, scope_list_response_fields};
static const alcove_field scope_put_request_fields[] = {MUST(scope_put_request, "namespace", namespace, text), MAY(scope_put_request, "create", create, bool), MAY(scope_put_request, "name", name, pointer_to_text), MAY(scope_put_request, "description", description, pointer_to_text), MAY(scope_put_request, "members", members, texts), MAY(scope_put_request, "read", read, text), MAY(scope_put_request, "write", write, text), MAY(scope_put_request, "retention_days", retention_days, pointer_to_int), MAY(scope_put_request, "archived", archived, pointer_to_bool), };
const alcove_type alcove_is_scope_put_request = {ALCOVE_IS_OBJECT, sizeof(alcove_scope_put_request), 9, NULL, scope_put_request_fields};
static const alcove_field scope_put_response_fields[] = {MUST(scope_put_response, "scope", scope, scope), MUST(scope_put_response, "created", created, bool), };
const alcove_type alcove_is_scope_put_response = {ALCOVE_IS_OBJECT, sizeof(alcove_scope_put_response), 2, NULL, scope_put_response_fields};
static const alcove_field scope_members_request_fields[] = {MAY(scope_members_request, "namespace", namespace, text), MAY(scope_members_request, "add", add, texts), MAY(scope_members_request, "remove", remove, texts), };
const alcove_type alcove_is_scope_members_request = {ALCOVE_IS_OBJECT, sizeof(alcove_scope_members_request), 3, NULL, scope_members_request_fields};
static const alcove_field scope_members_response_fields[] = {MUST(scope_members_response, "members", members, texts), };
const alcove_type alcove_is_scope_members_response = {ALCOVE_IS_OBJECT, sizeof(alcove_scope_members_response), 1, NULL, scope_members_response_fields};
static const alcove_field scope_delete_request_fields[] = {MUST(scope_delete_request, "namespace", namespace, text), MAY(scope_delete_request, "force", force, bool), };
const alcove_type alcove_is_scope_delete_request = {ALCOVE_IS_OBJECT, sizeof(alcove_scope_delete_request), 2, NULL, scope_delete_request_fields};
static const alcove_field identity_delegate_request_fields[] = {MUST(identity_delegate_request, "name", name, text), MUST(identity_delegate_request, "namespaces", namespaces, texts), MAY(identity_delegate_request, "rights", rights, texts), MUST(identity_delegate_request, "expires_s", expires_s, int), };
const alcove_type alcove_is_identity_delegate_request = {ALCOVE_IS_OBJECT, sizeof(alcove_identity_delegate_request), 4, NULL, identity_delegate_request_fields};
static const alcove_field identity_delegate_response_fields[] = {MUST(identity_delegate_response, "key", key, text), MUST(identity_delegate_response, "id", id, text), MUST(identity_delegate_response, "agent", agent, text), MUST(identity_delegate_response, "expires_at", expires_at, text), };
const alcove_type alcove_is_identity_delegate_response = {ALCOVE_IS_OBJECT, sizeof(alcove_identity_delegate_response), 4, NULL, identity_delegate_response_fields};
static const alcove_field identity_revoke_request_fields[] = {MUST(identity_revoke_request, "id", id, text), };
const alcove_type alcove_is_identity_revoke_request = {ALCOVE_IS_OBJECT, sizeof(alcove_identity_revoke_request), 1, NULL, identity_revoke_request_fields};
static const alcove_field caller_progress_request_fields[] = {MUST(caller_progress_request, "done", done, float), MAY(caller_progress_request, "total", total, float), MAY(caller_progress_request, "message", message, text), };
const alcove_type alcove_is_caller_progress_request = {ALCOVE_IS_OBJECT, sizeof(alcove_caller_progress_request), 3, NULL, caller_progress_request_fields};
static const alcove_field job_enqueue_request_fields[] = {MUST(job_enqueue_request, "job", job, text), MAY(job_enqueue_request, "payload", payload, value), MAY(job_enqueue_request, "after_s", after_s, float), MAY(job_enqueue_request, "feed_after", feed_after, uint), };
const alcove_type alcove_is_job_enqueue_request = {ALCOVE_IS_OBJECT, sizeof(alcove_job_enqueue_request), 4, NULL, job_enqueue_request_fields};
static const alcove_field job_enqueue_response_fields[] = {MUST(job_enqueue_response, "id", id, text), };
const alcove_type alcove_is_job_enqueue_response = {ALCOVE_IS_OBJECT, sizeof(alcove_job_enqueue_response), 1, NULL, job_enqueue_response_fields};
static const alcove_field job_status_request_fields[] = {MUST(job_status_request, "id", id, text), };
const alcove_type alcove_is_job_status_request = {ALCOVE_IS_OBJECT, sizeof(alcove_job_status_request), 1, NULL, job_status_request_fields};
static const alcove_field job_status_response_fields[] = {MUST(job_status_response, "id", id, text), MUST(job_status_response, "job", job, text), MUST(job_status_response, "state", state, text), MUST(job_status_response, "attempts", attempts, int), MAY(job_status_response, "progress", progress, pointer_to_progress), MAY(job_status_response, "error", error, text), MAY(job_status_response, "result", result, value), MAY(job_status_response, "proposal", proposal, text), };
const alcove_type alcove_is_job_status_response = {ALCOVE_IS_OBJECT, sizeof(alcove_job_status_response), 8, NULL, job_status_response_fields};
static const alcove_field job_cancel_request_fields[] = {MUST(job_cancel_request, "id", id, text), };
const alcove_type alcove_is_job_cancel_request = {ALCOVE_IS_OBJECT, sizeof(alcove_job_cancel_request), 1, NULL, job_cancel_request_fields};
static const alcove_field job_cancel_response_fields[] = {MUST(job_cancel_response, "cancelled", cancelled, bool), };
const alcove_type alcove_is_job_cancel_response = {ALCOVE_IS_OBJECT, sizeof(alcove_job_cancel_response), 1, NULL, job_cancel_response_fields};
static const alcove_field text_analyze_request_fields[] = {MUST(text_analyze_request, "texts", texts, texts), };
const alcove_type alcove_is_text_analyze_request = {ALCOVE_IS_OBJECT, sizeof(alcove_text_analyze_request), 1, NULL, text_analyze_request_fields};
static const alcove_field text_analyze_response_fields[] = {MUST(text_analyze_response, "terms", terms, list_of_texts), };
const alcove_type alcove_is_text_analyze_response = {ALCOVE_IS_OBJECT, sizeof(alcove_text_analyze_response), 1, NULL, text_analyze_response_fields};
static const alcove_field text_count_request_fields[] = {MUST(text_count_request, "terms", terms, texts), MAY(text_count_request, "namespaces", namespaces, texts), MAY(text_count_request, "collection", collection, text), MAY(text_count_request, "family", family, text), };
const alcove_type alcove_is_text_count_request = {ALCOVE_IS_OBJECT, sizeof(alcove_text_count_request), 4, NULL, text_count_request_fields};
static const alcove_field text_count_response_fields[] = {MUST(text_count_response, "documents", documents, int), MUST(text_count_response, "counts", counts, ints), };
const alcove_type alcove_is_text_count_response = {ALCOVE_IS_OBJECT, sizeof(alcove_text_count_response), 2, NULL, text_count_response_fields};
static const alcove_field text_tokens_request_fields[] = {MUST(text_tokens_request, "texts", texts, texts), MAY(text_tokens_request, "tokens", tokens, bool), MAY(text_tokens_request, "ids", ids, bool), };
const alcove_type alcove_is_text_tokens_request = {ALCOVE_IS_OBJECT, sizeof(alcove_text_tokens_request), 3, NULL, text_tokens_request_fields};
static const alcove_field text_tokens_response_fields[] = {MUST(text_tokens_response, "encoding", encoding, text), MUST(text_tokens_response, "counts", counts, ints), MAY(text_tokens_response, "tokens", tokens, list_of_texts), MAY(text_tokens_response, "ids", ids, list_of_ints), };
const alcove_type alcove_is_text_tokens_response = {ALCOVE_IS_OBJECT, sizeof(alcove_text_tokens_response), 4, NULL, text_tokens_response_fields};
static const alcove_field text_detokenize_request_fields[] = {MUST(text_detokenize_request, "ids", ids, list_of_ints), };
const alcove_type alcove_is_text_detokenize_request = {ALCOVE_IS_OBJECT, sizeof(alcove_text_detokenize_request), 1, NULL, text_detokenize_request_fields};
static const alcove_field text_detokenize_response_fields[] = {MUST(text_detokenize_response, "encoding", encoding, text), MUST(text_detokenize_response, "texts", texts, texts), };
const alcove_type alcove_is_text_detokenize_response = {ALCOVE_IS_OBJECT, sizeof(alcove_text_detokenize_response), 2, NULL, text_detokenize_response_fields};
static const alcove_field embed_texts_request_fields[] = {MUST(embed_texts_request, "texts", texts, texts), MAY(embed_texts_request, "purpose", purpose, text), MAY(embed_texts_request, "packed", packed, bool), };
const alcove_type alcove_is_embed_texts_request = {ALCOVE_IS_OBJECT, sizeof(alcove_embed_texts_request), 3, NULL, embed_texts_request_fields};
static const alcove_field embed_texts_response_fields[] = {MUST(embed_texts_response, "model", model, text), MUST(embed_texts_response, "dimensions", dimensions, int), MUST(embed_texts_response, "vectors", vectors, list_of_list_of_float32), MAY(embed_texts_response, "packed", packed, text), };
const alcove_type alcove_is_embed_texts_response = {ALCOVE_IS_OBJECT, sizeof(alcove_embed_texts_response), 4, NULL, embed_texts_response_fields};
static const alcove_field embed_rebuild_response_fields[] = {MUST(embed_rebuild_response, "embedder", embedder, text), MUST(embed_rebuild_response, "queued", queued, int), };
const alcove_type alcove_is_embed_rebuild_response = {ALCOVE_IS_OBJECT, sizeof(alcove_embed_rebuild_response), 2, NULL, embed_rebuild_response_fields};
static const alcove_field namespace_list_request_fields[] = {MAY(namespace_list_request, "prefix", prefix, text), MAY(namespace_list_request, "after", after, text), MAY(namespace_list_request, "limit", limit, int), MAY(namespace_list_request, "counts", counts, bool), };
const alcove_type alcove_is_namespace_list_request = {ALCOVE_IS_OBJECT, sizeof(alcove_namespace_list_request), 4, NULL, namespace_list_request_fields};
static const alcove_field namespace_list_response_fields[] = {MUST(namespace_list_response, "namespaces", namespaces, list_of_namespace), MAY(namespace_list_response, "next", next, text), };
const alcove_type alcove_is_namespace_list_response = {ALCOVE_IS_OBJECT, sizeof(alcove_namespace_list_response), 2, NULL, namespace_list_response_fields};
static const alcove_field namespace_delete_request_fields[] = {MUST(namespace_delete_request, "namespace", namespace, text), MAY(namespace_delete_request, "limit", limit, int), };
const alcove_type alcove_is_namespace_delete_request = {ALCOVE_IS_OBJECT, sizeof(alcove_namespace_delete_request), 2, NULL, namespace_delete_request_fields};
static const alcove_field namespace_delete_response_fields[] = {MUST(namespace_delete_response, "deleted", deleted, int), MUST(namespace_delete_response, "more", more, bool), };
const alcove_type alcove_is_namespace_delete_response = {ALCOVE_IS_OBJECT, sizeof(alcove_namespace_delete_response), 2, NULL, namespace_delete_response_fields};
static const alcove_field status_get_request_fields[] = {MAY(status_get_request, "namespace", namespace, text), MAY(status_get_request, "details", details, bool), };
const alcove_type alcove_is_status_get_request = {ALCOVE_IS_OBJECT, sizeof(alcove_status_get_request), 2, NULL, status_get_request_fields};
static const alcove_field status_get_response_fields[] = {MUST(status_get_response, "branch", branch, text), MUST(status_get_response, "namespace", namespace, text), MUST(status_get_response, "branches", branches, int), MUST(status_get_response, "memories", memories, int), MAY(status_get_response, "events", events, pointer_to_int), MUST(status_get_response, "version", version, uint), MUST(status_get_response, "searchable", searchable, bool), MUST(status_get_response, "embedders", embedders, list_of_embedding), MAY(status_get_response, "oldest", oldest, pointer_to_moment), MAY(status_get_response, "latest", latest, pointer_to_moment), MAY(status_get_response, "durability", durability, pointer_to_durability), };
const alcove_type alcove_is_status_get_response = {ALCOVE_IS_OBJECT, sizeof(alcove_status_get_response), 11, NULL, status_get_response_fields};
static const alcove_field version_at_request_fields[] = {MUST(version_at_request, "as_of", as_of, text), MAY(version_at_request, "branch", branch, text), };
const alcove_type alcove_is_version_at_request = {ALCOVE_IS_OBJECT, sizeof(alcove_version_at_request), 2, NULL, version_at_request_fields};
static const alcove_field version_at_response_fields[] = {MUST(version_at_response, "version", version, uint), MUST(version_at_response, "timestamp", timestamp, text), };
const alcove_type alcove_is_version_at_response = {ALCOVE_IS_OBJECT, sizeof(alcove_version_at_response), 2, NULL, version_at_response_fields};
static const alcove_field llm_complete_request_fields[] = {MUST(llm_complete_request, "prompt", prompt, text), MAY(llm_complete_request, "system", system, text), MAY(llm_complete_request, "endpoint", endpoint, text), MAY(llm_complete_request, "max_tokens", max_tokens, int), MAY(llm_complete_request, "temperature", temperature, float), MAY(llm_complete_request, "json", json, bool), };
const alcove_type alcove_is_llm_complete_request = {ALCOVE_IS_OBJECT, sizeof(alcove_llm_complete_request), 6, NULL, llm_complete_request_fields};
static const alcove_field llm_complete_response_fields[] = {MUST(llm_complete_response, "text", text, text), MUST(llm_complete_response, "model", model, text), MUST(llm_complete_response, "tokens_in", tokens_in, int), MUST(llm_complete_response, "tokens_out", tokens_out, int), };
const alcove_type alcove_is_llm_complete_response = {ALCOVE_IS_OBJECT, sizeof(alcove_llm_complete_response), 4, NULL, llm_complete_response_fields};
static const alcove_field http_fetch_request_fields[] = {MAY(http_fetch_request, "endpoint", endpoint, text), MAY(http_fetch_request, "method", method, text), MAY(http_fetch_request, "path", path, text), MAY(http_fetch_request, "query", query, map_of_text), MAY(http_fetch_request, "headers", headers, map_of_text), MAY(http_fetch_request, "body", body, text), MAY(http_fetch_request, "base64", base64, bool), MAY(http_fetch_request, "repeatable", repeatable, bool), MAY(http_fetch_request, "timeout_ms", timeout_ms, int), };
const alcove_type alcove_is_http_fetch_request = {ALCOVE_IS_OBJECT, sizeof(alcove_http_fetch_request), 9, NULL, http_fetch_request_fields};
static const alcove_field http_fetch_response_fields[] = {MUST(http_fetch_response, "status", status, int), MUST(http_fetch_response, "headers", headers, map_of_text), MUST(http_fetch_response, "body", body, text), };
const alcove_type alcove_is_http_fetch_response = {ALCOVE_IS_OBJECT, sizeof(alcove_http_fetch_response), 3, NULL, http_fetch_response_fields};
static const alcove_field file_list_request_fields[] = {MAY(file_list_request, "root", root, text), MAY(file_list_request, "folder", folder, text), MAY(file_list_request, "after", after, text), MAY(file_list_request, "limit", limit, int), };
const alcove_type alcove_is_file_list_request = {ALCOVE_IS_OBJECT, sizeof(alcove_file_list_request), 4, NULL, file_list_request_fields};
static const alcove_field file_list_response_fields[] = {MUST(file_list_response, "files", files, list_of_file_entry), MAY(file_list_response, "next", next, text), MAY(file_list_response, "refused", refused, int), };
const alcove_type alcove_is_file_list_response = {ALCOVE_IS_OBJECT, sizeof(alcove_file_list_response), 3, NULL, file_list_response_fields};
static const alcove_field file_read_request_fields[] = {MAY(file_read_request, "root", root, text), MUST(file_read_request, "paths", paths, texts), MAY(file_read_request, "base64", base64, bool), };
const alcove_type alcove_is_file_read_request = {ALCOVE_IS_OBJECT, sizeof(alcove_file_read_request), 3, NULL, file_read_request_fields};
static const alcove_field file_read_response_fields[] = {MUST(file_read_response, "files", files, list_of_pointer_to_file), };
const alcove_type alcove_is_file_read_response = {ALCOVE_IS_OBJECT, sizeof(alcove_file_read_response), 1, NULL, file_read_response_fields};
static const alcove_field file_write_request_fields[] = {MAY(file_write_request, "root", root, text), MUST(file_write_request, "files", files, list_of_file_item), MAY(file_write_request, "base64", base64, bool), };
const alcove_type alcove_is_file_write_request = {ALCOVE_IS_OBJECT, sizeof(alcove_file_write_request), 3, NULL, file_write_request_fields};
static const alcove_field file_write_response_fields[] = {MUST(file_write_response, "written", written, int), };
const alcove_type alcove_is_file_write_response = {ALCOVE_IS_OBJECT, sizeof(alcove_file_write_response), 1, NULL, file_write_response_fields};
static const alcove_field tools_list_response_fields[] = {MUST(tools_list_response, "tools", tools, list_of_foreign_tool), };
const alcove_type alcove_is_tools_list_response = {ALCOVE_IS_OBJECT, sizeof(alcove_tools_list_response), 1, NULL, tools_list_response_fields};
static const alcove_field tools_call_request_fields[] = {MUST(tools_call_request, "tool", tool, text), MAY(tools_call_request, "arguments", arguments, value), };
const alcove_type alcove_is_tools_call_request = {ALCOVE_IS_OBJECT, sizeof(alcove_tools_call_request), 2, NULL, tools_call_request_fields};
static const alcove_field tools_call_response_fields[] = {MUST(tools_call_response, "result", result, value), };
const alcove_type alcove_is_tools_call_response = {ALCOVE_IS_OBJECT, sizeof(alcove_tools_call_response), 1, NULL, tools_call_response_fields};
static const alcove_field tools_publish_request_fields[] = {MUST(tools_publish_request, "tool", tool, value), };
const alcove_type alcove_is_tools_publish_request = {ALCOVE_IS_OBJECT, sizeof(alcove_tools_publish_request), 1, NULL, tools_publish_request_fields};
static const alcove_field tools_withdraw_request_fields[] = {MUST(tools_withdraw_request, "name", name, text), };
const alcove_type alcove_is_tools_withdraw_request = {ALCOVE_IS_OBJECT, sizeof(alcove_tools_withdraw_request), 1, NULL, tools_withdraw_request_fields};
static const alcove_field tools_offered_request_fields[] = {MAY(tools_offered_request, "families", families, texts), MAY(tools_offered_request, "prefix", prefix, text), MAY(tools_offered_request, "after", after, text), MAY(tools_offered_request, "limit", limit, int), };
const alcove_type alcove_is_tools_offered_request = {ALCOVE_IS_OBJECT, sizeof(alcove_tools_offered_request), 4, NULL, tools_offered_request_fields};
static const alcove_field tools_offered_response_fields[] = {MUST(tools_offered_response, "tools", tools, list_of_foreign_tool), MAY(tools_offered_response, "next", next, text), };
const alcove_type alcove_is_tools_offered_response = {ALCOVE_IS_OBJECT, sizeof(alcove_tools_offered_response), 2, NULL, tools_offered_response_fields};
static const alcove_field tools_usage_request_fields[] = {MAY(tools_usage_request, "days", days, int), MAY(tools_usage_request, "tools", tools, texts), };
const alcove_type alcove_is_tools_usage_request = {ALCOVE_IS_OBJECT, sizeof(alcove_tools_usage_request), 2, NULL, tools_usage_request_fields};
static const alcove_field tools_usage_response_fields[] = {MUST(tools_usage_response, "usage", usage, list_of_tool_usage), };
const alcove_type alcove_is_tools_usage_response = {ALCOVE_IS_OBJECT, sizeof(alcove_tools_usage_response), 1, NULL, tools_usage_response_fields};
static const alcove_field content_fields[] = {MUST(content, "type", type, text), MAY(content, "text", text, text), MAY(content, "data", data, text), MAY(content, "mime_type", mime_type, text), MAY(content, "uri", uri, text), MAY(content, "name", name, text), };
const alcove_type alcove_is_content = {ALCOVE_IS_OBJECT, sizeof(alcove_content), 6, NULL, content_fields};
static const alcove_field listed_resource_fields[] = {MUST(listed_resource, "uri", uri, text), MUST(listed_resource, "name", name, text), MAY(listed_resource, "title", title, text), MAY(listed_resource, "description", description, text), MAY(listed_resource, "mime_type", mime_type, text), };
const alcove_type alcove_is_listed_resource = {ALCOVE_IS_OBJECT, sizeof(alcove_listed_resource), 5, NULL, listed_resource_fields};
static const alcove_field prompt_message_fields[] = {MUST(prompt_message, "role", role, text), MUST(prompt_message, "content", content, content), };
const alcove_type alcove_is_prompt_message = {ALCOVE_IS_OBJECT, sizeof(alcove_prompt_message), 2, NULL, prompt_message_fields};
static const alcove_field input_fields[] = {MUST(input, "can", can, texts), MAY(input, "answers", answers, map_of_value), MAY(input, "state", state, text), };
const alcove_type alcove_is_input = {ALCOVE_IS_OBJECT, sizeof(alcove_input), 3, NULL, input_fields};
static const alcove_field input_request_fields[] = {MUST(input_request, "ask", ask, text), MAY(input_request, "params", params, value), };
const alcove_type alcove_is_input_request = {ALCOVE_IS_OBJECT, sizeof(alcove_input_request), 2, NULL, input_request_fields};
static const alcove_field context_fields[] = {MUST(context, "family", family, text), MUST(context, "caller", caller, text), MUST(context, "namespace", namespace, text), MUST(context, "branch", branch, text), MUST(context, "now", now, text), MUST(context, "request_id", request_id, text), MAY(context, "dry_run", dry_run, bool), MAY(context, "operator", operator, bool), MAY(context, "proposal", proposal, text), };
const alcove_type alcove_is_context = {ALCOVE_IS_OBJECT, sizeof(alcove_context), 9, NULL, context_fields};
static const alcove_field entry_fields[] = {MUST(entry, "namespace", namespace, text), MUST(entry, "collection", collection, text), MUST(entry, "key", key, text), MAY(entry, "change", change, text), MAY(entry, "version", version, uint), MAY(entry, "deleted", deleted, bool), MAY(entry, "agent", agent, text), MAY(entry, "family", family, text), MAY(entry, "state", state, text), MAY(entry, "value", value, value), MAY(entry, "tags", tags, texts), MAY(entry, "type", type, text), MAY(entry, "importance", importance, pointer_to_float), MAY(entry, "metadata", metadata, map_of_value), MAY(entry, "links", links, texts), MAY(entry, "supersedes", supersedes, texts), };
const alcove_type alcove_is_entry = {ALCOVE_IS_OBJECT, sizeof(alcove_entry), 16, NULL, entry_fields};
static const alcove_field merge_notice_fields[] = {MUST(merge_notice, "source", source, text), MUST(merge_notice, "target", target, text), MUST(merge_notice, "version", version, uint), MAY(merge_notice, "agent", agent, text), MUST(merge_notice, "count", count, int), MUST(merge_notice, "keys", keys, list_of_merge_key), };
const alcove_type alcove_is_merge_notice = {ALCOVE_IS_OBJECT, sizeof(alcove_merge_notice), 6, NULL, merge_notice_fields};
static const alcove_field merge_key_fields[] = {MUST(merge_key, "namespace", namespace, text), MUST(merge_key, "key", key, text), MAY(merge_key, "deleted", deleted, bool), };
const alcove_type alcove_is_merge_key = {ALCOVE_IS_OBJECT, sizeof(alcove_merge_key), 3, NULL, merge_key_fields};
static const alcove_field change_fields[] = {MAY(change, "value", value, value), MAY(change, "tags", tags, texts), MAY(change, "type", type, pointer_to_text), MAY(change, "importance", importance, pointer_to_float), MAY(change, "metadata", metadata, map_of_value), };
const alcove_type alcove_is_change = {ALCOVE_IS_OBJECT, sizeof(alcove_change), 5, NULL, change_fields};
static const alcove_field tool_request_fields[] = {MUST(tool_request, "tool", tool, text), MUST(tool_request, "arguments", arguments, value), MUST(tool_request, "config", config, value), MAY(tool_request, "input", input, pointer_to_input), MUST(tool_request, "context", context, context), };
const alcove_type alcove_is_tool_request = {ALCOVE_IS_OBJECT, sizeof(alcove_tool_request), 5, NULL, tool_request_fields};
static const alcove_field hook_request_fields[] = {MUST(hook_request, "hook", hook, text), MAY(hook_request, "entries", entries, list_of_entry), MAY(hook_request, "merge", merge, pointer_to_merge_notice), MAY(hook_request, "session", session, pointer_to_session), MAY(hook_request, "job", job, text), MAY(hook_request, "payload", payload, value), MUST(hook_request, "config", config, value), MUST(hook_request, "context", context, context), };
const alcove_type alcove_is_hook_request = {ALCOVE_IS_OBJECT, sizeof(alcove_hook_request), 8, NULL, hook_request_fields};
static const alcove_field store_result_fields[] = {MAY(store_result, "entries", entries, list_of_pointer_to_change), MAY(store_result, "refuse", refuse, pointer_to_text), MAY(store_result, "propose", propose, pointer_to_text), };
const alcove_type alcove_is_store_result = {ALCOVE_IS_OBJECT, sizeof(alcove_store_result), 3, NULL, store_result_fields};
static const alcove_field score_params_fields[] = {MUST(score_params, "config", config, value), MUST(score_params, "now", now, text), MUST(score_params, "query", query, text), MUST(score_params, "context", context, context), };
const alcove_type alcove_is_score_params = {ALCOVE_IS_OBJECT, sizeof(alcove_score_params), 4, NULL, score_params_fields};
static const alcove_field embed_request_fields[] = {MUST(embed_request, "texts", texts, texts), MUST(embed_request, "purpose", purpose, text), MUST(embed_request, "config", config, value), MUST(embed_request, "context", context, context), };
const alcove_type alcove_is_embed_request = {ALCOVE_IS_OBJECT, sizeof(alcove_embed_request), 4, NULL, embed_request_fields};
static const alcove_field content_result_fields[] = {MUST(content_result, "content", content, list_of_content), };
const alcove_type alcove_is_content_result = {ALCOVE_IS_OBJECT, sizeof(alcove_content_result), 1, NULL, content_result_fields};
static const alcove_field resource_result_fields[] = {MUST(resource_result, "contents", contents, list_of_content), };
const alcove_type alcove_is_resource_result = {ALCOVE_IS_OBJECT, sizeof(alcove_resource_result), 1, NULL, resource_result_fields};
static const alcove_field resource_list_fields[] = {MUST(resource_list, "resources", resources, list_of_listed_resource), MAY(resource_list, "next", next, text), };
const alcove_type alcove_is_resource_list = {ALCOVE_IS_OBJECT, sizeof(alcove_resource_list), 2, NULL, resource_list_fields};
static const alcove_field prompt_result_fields[] = {MAY(prompt_result, "description", description, text), MUST(prompt_result, "messages", messages, list_of_prompt_message), };
const alcove_type alcove_is_prompt_result = {ALCOVE_IS_OBJECT, sizeof(alcove_prompt_result), 2, NULL, prompt_result_fields};
static const alcove_field completion_fields[] = {MUST(completion, "values", values, texts), MAY(completion, "total", total, int), MAY(completion, "more", more, bool), };
const alcove_type alcove_is_completion = {ALCOVE_IS_OBJECT, sizeof(alcove_completion), 3, NULL, completion_fields};
static const alcove_field input_questions_fields[] = {MUST(input_questions, "requests", requests, map_of_input_request), MAY(input_questions, "state", state, text), };
const alcove_type alcove_is_input_questions = {ALCOVE_IS_OBJECT, sizeof(alcove_input_questions), 2, NULL, input_questions_fields};
static const alcove_field error_fields[] = {MUST(error, "code", code, text), MUST(error, "message", message, text), MUST(error, "retryable", retryable, bool), MAY(error, "details", details, map_of_value), };
const alcove_type alcove_is_error = {ALCOVE_IS_OBJECT, sizeof(alcove_error), 4, NULL, error_fields};
alcove_status alcove_op_memory_get(alcove_call *c, const alcove_memory_get_request *request, alcove_memory_get_response *response) { return alcove_exchange(c, "memory.get", &alcove_is_memory_get_request, request, &alcove_is_memory_get_response, response); }
alcove_status alcove_op_memory_states(alcove_call *c, const alcove_memory_states_request *request, alcove_memory_states_response *response) { return alcove_exchange(c, "memory.states", &alcove_is_memory_states_request, request, &alcove_is_memory_states_response, response); }
alcove_status alcove_op_memory_list(alcove_call *c, const alcove_memory_list_request *request, alcove_memory_list_response *response) { return alcove_exchange(c, "memory.list", &alcove_is_memory_list_request, request, &alcove_is_memory_list_response, response); }
alcove_status alcove_op_memory_namespaces(alcove_call *c, alcove_memory_namespaces_response *response) { return alcove_exchange(c, "memory.namespaces", &alcove_is_nothing, NULL, &alcove_is_memory_namespaces_response, response); }
alcove_status alcove_op_memory_history(alcove_call *c, const alcove_memory_history_request *request, alcove_memory_history_response *response) { return alcove_exchange(c, "memory.history", &alcove_is_memory_history_request, request, &alcove_is_memory_history_response, response); }
alcove_status alcove_op_recall_get(alcove_call *c, const alcove_recall_get_request *request, alcove_recall_get_response *response) { return alcove_exchange(c, "recall.get", &alcove_is_recall_get_request, request, &alcove_is_recall_get_response, response); }
alcove_status alcove_op_memory_search(alcove_call *c, const alcove_memory_search_request *request, alcove_memory_search_response *response) { return alcove_exchange(c, "memory.search", &alcove_is_memory_search_request, request, &alcove_is_memory_search_response, response); }
alcove_status alcove_op_memory_pairs(alcove_call *c, const alcove_memory_pairs_request *request, alcove_memory_pairs_response *response) { return alcove_exchange(c, "memory.pairs", &alcove_is_memory_pairs_request, request, &alcove_is_memory_pairs_response, response); }
alcove_status alcove_op_memory_put(alcove_call *c, const alcove_memory_put_request *request, alcove_memory_put_response *response) { return alcove_exchange(c, "memory.put", &alcove_is_memory_put_request, request, &alcove_is_memory_put_response, response); }
alcove_status alcove_op_memory_patch(alcove_call *c, const alcove_memory_patch_request *request, alcove_memory_patch_response *response) { return alcove_exchange(c, "memory.patch", &alcove_is_memory_patch_request, request, &alcove_is_memory_patch_response, response); }
alcove_status alcove_op_memory_delete(alcove_call *c, const alcove_memory_delete_request *request, alcove_memory_delete_response *response) { return alcove_exchange(c, "memory.delete", &alcove_is_memory_delete_request, request, &alcove_is_memory_delete_response, response); }
alcove_status alcove_op_memory_touch(alcove_call *c, const alcove_memory_touch_request *request, alcove_memory_touch_response *response) { return alcove_exchange(c, "memory.touch", &alcove_is_memory_touch_request, request, &alcove_is_memory_touch_response, response); }
alcove_status alcove_op_record_get(alcove_call *c, const alcove_record_get_request *request, alcove_record_get_response *response) { return alcove_exchange(c, "record.get", &alcove_is_record_get_request, request, &alcove_is_record_get_response, response); }
alcove_status alcove_op_record_put(alcove_call *c, const alcove_record_put_request *request, alcove_record_put_response *response) { return alcove_exchange(c, "record.put", &alcove_is_record_put_request, request, &alcove_is_record_put_response, response); }
alcove_status alcove_op_record_delete(alcove_call *c, const alcove_record_delete_request *request, alcove_record_delete_response *response) { return alcove_exchange(c, "record.delete", &alcove_is_record_delete_request, request, &alcove_is_record_delete_response, response); }
alcove_status alcove_op_record_list(alcove_call *c, const alcove_record_list_request *request, alcove_record_list_response *response) { return alcove_exchange(c, "record.list", &alcove_is_record_list_request, request, &alcove_is_record_list_response, response); }
alcove_status alcove_op_record_scan(alcove_call *c, const alcove_record_scan_request *request, alcove_record_scan_response *response) { return alcove_exchange(c, "record.scan", &alcove_is_record_scan_request, request, &alcove_is_record_scan_response, response); }
alcove_status alcove_op_record_history(alcove_call *c, const alcove_record_history_request *request, alcove_record_history_response *response) { return alcove_exchange(c, "record.history", &alcove_is_record_history_request, request, &alcove_is_record_history_response, response); }
alcove_status alcove_op_record_search(alcove_call *c, const alcove_record_search_request *request, alcove_record_search_response *response) { return alcove_exchange(c, "record.search", &alcove_is_record_search_request, request, &alcove_is_record_search_response, response); }
alcove_status alcove_op_record_nearest(alcove_call *c, const alcove_record_nearest_request *request, alcove_record_nearest_response *response) { return alcove_exchange(c, "record.nearest", &alcove_is_record_nearest_request, request, &alcove_is_record_nearest_response, response); }
alcove_status alcove_op_record_collections(alcove_call *c, const alcove_record_collections_request *request, alcove_record_collections_response *response) { return alcove_exchange(c, "record.collections", &alcove_is_record_collections_request, request, &alcove_is_record_collections_response, response); }
alcove_status alcove_op_record_append(alcove_call *c, const alcove_record_append_request *request, alcove_record_append_response *response) { return alcove_exchange(c, "record.append", &alcove_is_record_append_request, request, &alcove_is_record_append_response, response); }
alcove_status alcove_op_log_append(alcove_call *c, const alcove_log_append_request *request, alcove_log_append_response *response) { return alcove_exchange(c, "log.append", &alcove_is_log_append_request, request, &alcove_is_log_append_response, response); }
alcove_status alcove_op_log_read(alcove_call *c, const alcove_log_read_request *request, alcove_log_read_response *response) { return alcove_exchange(c, "log.read", &alcove_is_log_read_request, request, &alcove_is_log_read_response, response); }
alcove_status alcove_op_log_verify(alcove_call *c, const alcove_log_verify_request *request, alcove_log_verify_response *response) { return alcove_exchange(c, "log.verify", &alcove_is_log_verify_request, request, &alcove_is_log_verify_response, response); }
alcove_status alcove_op_feed_read(alcove_call *c, const alcove_feed_read_request *request, alcove_feed_read_response *response) { return alcove_exchange(c, "feed.read", &alcove_is_feed_read_request, request, &alcove_is_feed_read_response, response); }
alcove_status alcove_op_feed_emit(alcove_call *c, const alcove_feed_emit_request *request) { return alcove_exchange(c, "feed.emit", &alcove_is_feed_emit_request, request, &alcove_is_nothing, NULL); }
alcove_status alcove_op_branch_list(alcove_call *c, alcove_branch_list_response *response) { return alcove_exchange(c, "branch.list", &alcove_is_nothing, NULL, &alcove_is_branch_list_response, response); }
alcove_status alcove_op_branch_diff(alcove_call *c, const alcove_branch_diff_request *request, alcove_branch_diff_response *response) { return alcove_exchange(c, "branch.diff", &alcove_is_branch_diff_request, request, &alcove_is_branch_diff_response, response); }
alcove_status alcove_op_branch_fork(alcove_call *c, const alcove_branch_fork_request *request, alcove_branch_fork_response *response) { return alcove_exchange(c, "branch.fork", &alcove_is_branch_fork_request, request, &alcove_is_branch_fork_response, response); }
alcove_status alcove_op_branch_merge(alcove_call *c, const alcove_branch_merge_request *request, alcove_branch_merge_response *response) { return alcove_exchange(c, "branch.merge", &alcove_is_branch_merge_request, request, &alcove_is_branch_merge_response, response); }
alcove_status alcove_op_branch_delete(alcove_call *c, const alcove_branch_delete_request *request) { return alcove_exchange(c, "branch.delete", &alcove_is_branch_delete_request, request, &alcove_is_nothing, NULL); }
alcove_status alcove_op_link_list(alcove_call *c, const alcove_link_list_request *request, alcove_link_list_response *response) { return alcove_exchange(c, "link.list", &alcove_is_link_list_request, request, &alcove_is_link_list_response, response); }
alcove_status alcove_op_link_add(alcove_call *c, const alcove_link_add_request *request, alcove_link_add_response *response) { return alcove_exchange(c, "link.add", &alcove_is_link_add_request, request, &alcove_is_link_add_response, response); }
alcove_status alcove_op_link_remove(alcove_call *c, const alcove_link_remove_request *request, alcove_link_remove_response *response) { return alcove_exchange(c, "link.remove", &alcove_is_link_remove_request, request, &alcove_is_link_remove_response, response); }
alcove_status alcove_op_config_get(alcove_call *c, const alcove_config_get_request *request, alcove_config_get_response *response) { return alcove_exchange(c, "config.get", &alcove_is_config_get_request, request, &alcove_is_config_get_response, response); }
alcove_status alcove_op_config_list(alcove_call *c, const alcove_config_list_request *request, alcove_config_list_response *response) { return alcove_exchange(c, "config.list", &alcove_is_config_list_request, request, &alcove_is_config_list_response, response); }
alcove_status alcove_op_config_put(alcove_call *c, const alcove_config_put_request *request, alcove_config_put_response *response) { return alcove_exchange(c, "config.put", &alcove_is_config_put_request, request, &alcove_is_config_put_response, response); }
alcove_status alcove_op_config_history(alcove_call *c, const alcove_config_history_request *request, alcove_config_history_response *response) { return alcove_exchange(c, "config.history", &alcove_is_config_history_request, request, &alcove_is_config_history_response, response); }
alcove_status alcove_op_config_rollback(alcove_call *c, const alcove_config_rollback_request *request, alcove_config_rollback_response *response) { return alcove_exchange(c, "config.rollback", &alcove_is_config_rollback_request, request, &alcove_is_config_rollback_response, response); }
alcove_status alcove_op_config_undo(alcove_call *c, const alcove_config_undo_request *request, alcove_config_undo_response *response) { return alcove_exchange(c, "config.undo", &alcove_is_config_undo_request, request, &alcove_is_config_undo_response, response); }
alcove_status alcove_op_config_rules(alcove_call *c, alcove_config_rules_response *response) { return alcove_exchange(c, "config.rules", &alcove_is_nothing, NULL, &alcove_is_config_rules_response, response); }
alcove_status alcove_op_config_set(alcove_call *c, const alcove_config_set_request *request, alcove_config_set_response *response) { return alcove_exchange(c, "config.set", &alcove_is_config_set_request, request, &alcove_is_config_set_response, response); }
alcove_status alcove_op_caller_get(alcove_call *c, alcove_caller_get_response *response) { return alcove_exchange(c, "caller.get", &alcove_is_nothing, NULL, &alcove_is_caller_get_response, response); }
alcove_status alcove_op_quota_list(alcove_call *c, const alcove_quota_list_request *request, alcove_quota_list_response *response) { return alcove_exchange(c, "quota.list", &alcove_is_quota_list_request, request, &alcove_is_quota_list_response, response); }
alcove_status alcove_op_caller_can(alcove_call *c, const alcove_caller_can_request *request, alcove_caller_can_response *response) { return alcove_exchange(c, "caller.can", &alcove_is_caller_can_request, request, &alcove_is_caller_can_response, response); }
alcove_status alcove_op_session_list(alcove_call *c, const alcove_session_list_request *request, alcove_session_list_response *response) { return alcove_exchange(c, "session.list", &alcove_is_session_list_request, request, &alcove_is_session_list_response, response); }
alcove_status alcove_op_scope_get(alcove_call *c, const alcove_scope_get_request *request, alcove_scope_get_response *response) { return alcove_exchange(c, "scope.get", &alcove_is_scope_get_request, request, &alcove_is_scope_get_response, response); }
alcove_status alcove_op_scope_list(alcove_call *c, const alcove_scope_list_request *request, alcove_scope_list_response *response) { return alcove_exchange(c, "scope.list", &alcove_is_scope_list_request, request, &alcove_is_scope_list_response, response); }
alcove_status alcove_op_scope_put(alcove_call *c, const alcove_scope_put_request *request, alcove_scope_put_response *response) { return alcove_exchange(c, "scope.put", &alcove_is_scope_put_request, request, &alcove_is_scope_put_response, response); }
alcove_status alcove_op_scope_members(alcove_call *c, const alcove_scope_members_request *request, alcove_scope_members_response *response) { return alcove_exchange(c, "scope.members", &alcove_is_scope_members_request, request, &alcove_is_scope_members_response, response); }
alcove_status alcove_op_scope_delete(alcove_call *c, const alcove_scope_delete_request *request) { return alcove_exchange(c, "scope.delete", &alcove_is_scope_delete_request, request, &alcove_is_nothing, NULL); }
alcove_status alcove_op_identity_delegate(alcove_call *c, const alcove_identity_delegate_request *request, alcove_identity_delegate_response *response) { return alcove_exchange(c, "identity.delegate", &alcove_is_identity_delegate_request, request, &alcove_is_identity_delegate_response, response); }
alcove_status alcove_op_identity_revoke(alcove_call *c, const alcove_identity_revoke_request *request) { return alcove_exchange(c, "identity.revoke", &alcove_is_identity_revoke_request, request, &alcove_is_nothing, NULL); }
alcove_status alcove_op_caller_progress(alcove_call *c, const alcove_caller_progress_request *request) { return alcove_exchange(c, "caller.progress", &alcove_is_caller_progress_request, request, &alcove_is_nothing, NULL); }
alcove_status alcove_op_job_enqueue(alcove_call *c, const alcove_job_enqueue_request *request, alcove_job_enqueue_response *response) { return alcove_exchange(c, "job.enqueue", &alcove_is_job_enqueue_request, request, &alcove_is_job_enqueue_response, response); }
alcove_status alcove_op_job_status(alcove_call *c, const alcove_job_status_request *request, alcove_job_status_response *response) { return alcove_exchange(c, "job.status", &alcove_is_job_status_request, request, &alcove_is_job_status_response, response); }
alcove_status alcove_op_job_cancel(alcove_call *c, const alcove_job_cancel_request *request, alcove_job_cancel_response *response) { return alcove_exchange(c, "job.cancel", &alcove_is_job_cancel_request, request, &alcove_is_job_cancel_response, response); }
alcove_status alcove_op_text_analyze(alcove_call *c, const alcove_text_analyze_request *request, alcove_text_analyze_response *response) { return alcove_exchange(c, "text.analyze", &alcove_is_text_analyze_request, request, &alcove_is_text_analyze_response, response); }
alcove_status alcove_op_text_count(alcove_call *c, const alcove_text_count_request *request, alcove_text_count_response *response) { return alcove_exchange(c, "text.count", &alcove_is_text_count_request, request, &alcove_is_text_count_response, response); }
alcove_status alcove_op_text_tokens(alcove_call *c, const alcove_text_tokens_request *request, alcove_text_tokens_response *response) { return alcove_exchange(c, "text.tokens", &alcove_is_text_tokens_request, request, &alcove_is_text_tokens_response, response); }
alcove_status alcove_op_text_detokenize(alcove_call *c, const alcove_text_detokenize_request *request, alcove_text_detokenize_response *response) { return alcove_exchange(c, "text.detokenize", &alcove_is_text_detokenize_request, request, &alcove_is_text_detokenize_response, response); }
alcove_status alcove_op_embed_texts(alcove_call *c, const alcove_embed_texts_request *request, alcove_embed_texts_response *response) { return alcove_exchange(c, "embed.texts", &alcove_is_embed_texts_request, request, &alcove_is_embed_texts_response, response); }
alcove_status alcove_op_embed_rebuild(alcove_call *c, alcove_embed_rebuild_response *response) { return alcove_exchange(c, "embed.rebuild", &alcove_is_nothing, NULL, &alcove_is_embed_rebuild_response, response); }
alcove_status alcove_op_namespace_list(alcove_call *c, const alcove_namespace_list_request *request, alcove_namespace_list_response *response) { return alcove_exchange(c, "namespace.list", &alcove_is_namespace_list_request, request, &alcove_is_namespace_list_response, response); }
alcove_status alcove_op_namespace_delete(alcove_call *c, const alcove_namespace_delete_request *request, alcove_namespace_delete_response *response) { return alcove_exchange(c, "namespace.delete", &alcove_is_namespace_delete_request, request, &alcove_is_namespace_delete_response, response); }
alcove_status alcove_op_status_get(alcove_call *c, const alcove_status_get_request *request, alcove_status_get_response *response) { return alcove_exchange(c, "status.get", &alcove_is_status_get_request, request, &alcove_is_status_get_response, response); }
alcove_status alcove_op_version_at(alcove_call *c, const alcove_version_at_request *request, alcove_version_at_response *response) { return alcove_exchange(c, "version.at", &alcove_is_version_at_request, request, &alcove_is_version_at_response, response); }
alcove_status alcove_op_llm_complete(alcove_call *c, const alcove_llm_complete_request *request, alcove_llm_complete_response *response) { return alcove_exchange(c, "llm.complete", &alcove_is_llm_complete_request, request, &alcove_is_llm_complete_response, response); }
alcove_status alcove_op_http_fetch(alcove_call *c, const alcove_http_fetch_request *request, alcove_http_fetch_response *response) { return alcove_exchange(c, "http.fetch", &alcove_is_http_fetch_request, request, &alcove_is_http_fetch_response, response); }
alcove_status alcove_op_file_list(alcove_call *c, const alcove_file_list_request *request, alcove_file_list_response *response) { return alcove_exchange(c, "file.list", &alcove_is_file_list_request, request, &alcove_is_file_list_response, response); }
alcove_status alcove_op_file_read(alcove_call *c, const alcove_file_read_request *request, alcove_file_read_response *response) { return alcove_exchange(c, "file.read", &alcove_is_file_read_request, request, &alcove_is_file_read_response, response); }
alcove_status alcove_op_file_write(alcove_call *c, const alcove_file_write_request *request, alcove_file_write_response *response) { return alcove_exchange(c, "file.write", &alcove_is_file_write_request, request, &alcove_is_file_write_response, response); }
alcove_status alcove_op_tools_list(alcove_call *c, alcove_tools_list_response *response) { return alcove_exchange(c, "tools.list", &alcove_is_nothing, NULL, &alcove_is_tools_list_response, response); }
alcove_status alcove_op_tools_call(alcove_call *c, const alcove_tools_call_request *request, alcove_tools_call_response *response) { return alcove_exchange(c, "tools.call", &alcove_is_tools_call_request, request, &alcove_is_tools_call_response, response); }
alcove_status alcove_op_tools_publish(alcove_call *c, const alcove_tools_publish_request *request) { return alcove_exchange(c, "tools.publish", &alcove_is_tools_publish_request, request, &alcove_is_nothing, NULL); }
alcove_status alcove_op_tools_withdraw(alcove_call *c, const alcove_tools_withdraw_request *request) { return alcove_exchange(c, "tools.withdraw", &alcove_is_tools_withdraw_request, request, &alcove_is_nothing, NULL); }
alcove_status alcove_op_tools_offered(alcove_call *c, const alcove_tools_offered_request *request, alcove_tools_offered_response *response) { return alcove_exchange(c, "tools.offered", &alcove_is_tools_offered_request, request, &alcove_is_tools_offered_response, response); }
alcove_status alcove_op_tools_usage(alcove_call *c, const alcove_tools_usage_request *request, alcove_tools_usage_response *response) { return alcove_exchange(c, "tools.usage", &alcove_is_tools_usage_request, request, &alcove_is_tools_usage_response, response); }
// generated: end

// Requests

static alcove_status failed(alcove_call *c, const char *code, alcove_text message) {
  c->error = (alcove_error){.code = alcove_of(code), .message = message, .retryable = alcove_retryable(code)};
  return ALCOVE_FAILED;
}
alcove_status alcove_fail(alcove_call *c, const char *code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  alcove_text message = alcove_vformat(format, arguments);
  va_end(arguments);
  return failed(c, code, message);
}
static alcove_text *reason(const char *format, va_list arguments) { return alcove_keep(alcove_vformat(format, arguments)); }
void alcove_refuse(alcove_decision *d, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  d->refuse = reason(format, arguments);
  va_end(arguments);
}
void alcove_propose(alcove_decision *d, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  d->propose = reason(format, arguments);
  va_end(arguments);
}
double *alcove_float(double v) { double *at = alcove_alloc(sizeof v); *at = v; return at; }
alcove_text *alcove_keep(alcove_text t) { alcove_text *at = alcove_alloc(sizeof t); *at = t; return at; }
void alcove_log(alcove_call *c, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  c->host->log(c->host->self, alcove_vformat(format, arguments));
  va_end(arguments);
}

alcove_status alcove_exchange(alcove_call *c, const char *op, const alcove_type *in, const void *request, const alcove_type *out, void *response) {
  alcove_text answer = {"", 0};
  bool ok = c->host->call(c->host->self, alcove_of(op), alcove_encode(in, request), &answer);
  const alcove_value *v = alcove_parse(answer);
  if (!ok) {
    c->error = (alcove_error){0};
    if (!v || alcove_decode(&alcove_is_error, v, &c->error).len || !c->error.code.len) return alcove_fail(c, ALCOVE_INTERNAL, "read the host's error");
    return ALCOVE_FAILED;
  }
  alcove_text wrong = v ? alcove_decode(out, v, response) : wanted("JSON");
  return wrong.len ? alcove_fail(c, ALCOVE_INTERNAL, "read the answer of %s: %t", op, wrong) : ALCOVE_OK;
}

static alcove_status handle(alcove_call *c, const alcove_handler *h, const alcove_value *arguments, alcove_text *result) {
  void *in = alcove_alloc(h->in->size + 1), *out = alcove_alloc(h->out->size + 1);
  alcove_text wrong = alcove_decode(h->in, arguments, in);
  if (wrong.len) return failed(c, ALCOVE_INVALID_ARGUMENT, wrong);
  if (h->handle(c, in, out)) return ALCOVE_FAILED;
  *result = alcove_encode(h->out, out);
  return ALCOVE_OK;
}

static const alcove_handler *find(const alcove_handler *h, alcove_text name) {
  while (h && h->name && !alcove_equal(name, h->name)) h++;
  return h && h->name ? h : NULL;
}

static alcove_status serve_tool(const alcove_family *f, alcove_call *c, const alcove_value *r, alcove_text *result) {
  alcove_text name = alcove_text_of(alcove_get(r, "tool"));
  const alcove_value *arguments = alcove_get(r, "arguments"), *answer = NULL;
  const alcove_handler *h = find(f->tools, name);
  if (h) return handle(c, h, arguments, result);
  if (!f->published) return alcove_fail(c, ALCOVE_NOT_FOUND, "this family has no tool \"%t\"", name);
  if (f->published(c, name, arguments, &answer)) return ALCOVE_FAILED;
  *result = alcove_encode(&alcove_is_value, &answer);
  return ALCOVE_OK;
}

static alcove_status serve_hook(const alcove_family *f, alcove_call *c, const alcove_value *r, alcove_text *result) {
  alcove_hook_request q = {0};
  alcove_text wrong = alcove_decode(&alcove_is_hook_request, r, &q);
  if (wrong.len) return failed(c, ALCOVE_INVALID_ARGUMENT, wrong);
  if (alcove_equal(q.hook, "job")) {
    const alcove_handler *h = find(f->jobs, q.job);
    return h ? handle(c, h, q.payload, result) : alcove_fail(c, ALCOVE_NOT_FOUND, "this family has no job \"%t\"", q.job);
  }
  if (alcove_equal(q.hook, "stored") && f->stored) return f->stored(c, q.entries.at, q.entries.n);
  if (alcove_equal(q.hook, "merged") && f->merged && q.merge) return f->merged(c, q.merge);
  if (alcove_equal(q.hook, "session_end") && f->session_end && q.session) return f->session_end(c, q.session);
  if (!alcove_equal(q.hook, "store") || !f->store) return alcove_fail(c, ALCOVE_NOT_FOUND, "this family has no hook \"%t\"", q.hook);
  alcove_change **changes = alcove_alloc((q.entries.n + 1) * sizeof *changes);
  alcove_decision decision = {.entries = {changes, q.entries.n}};
  if (f->store(c, q.entries.at, q.entries.n, &decision)) return ALCOVE_FAILED;
  if (decision.refuse) decision.entries.n = 0;
  *result = alcove_encode(&alcove_is_store_result, &decision);
  return ALCOVE_OK;
}

static uint32_t number_at(alcove_text t, size_t at) {
  const unsigned char *b = (const unsigned char *)t.at + at;
  return b[0] | b[1] << 8 | b[2] << 16 | (uint32_t)b[3] << 24;
}

static alcove_status serve_score(const alcove_family *f, alcove_call *c, const alcove_value *r, alcove_text request, alcove_text *result) {
  if (!f->rank) return alcove_fail(c, ALCOVE_NOT_FOUND, "this family has no hook \"rank\"");
  alcove_ranking q = {.query = alcove_text_of(alcove_get(r, "query")), .now = alcove_text_of(alcove_get(r, "now")), .count = number_at(request, 0), .features = number_at(request, 4)};
  uint64_t from = ((uint64_t)12 + number_at(request, 8) + 3) / 4 * 4, n = (uint64_t)q.count * q.features;
  if (from > request.len || n != (request.len - from) / 4) return alcove_fail(c, ALCOVE_INVALID_ARGUMENT, "the request to score has another length");
  float *columns = alcove_alloc(4 * (n + 1));
  copy(columns, request.at + from, 4 * n);
  q.columns = columns;
  q.scores = alcove_alloc(4 * (q.count + 1));
  if (f->rank(c, &q)) return ALCOVE_FAILED;
  *result = (alcove_text){(const char *)q.scores, 4 * q.count};
  return ALCOVE_OK;
}

static alcove_status serve_embed(const alcove_family *f, alcove_call *c, const alcove_value *r, alcove_text *result) {
  if (!f->embed) return alcove_fail(c, ALCOVE_NOT_FOUND, "this family has no hook \"embed\"");
  alcove_embed_request q = {0};
  alcove_text wrong = alcove_decode(&alcove_is_embed_request, r, &q);
  if (wrong.len) return failed(c, ALCOVE_INVALID_ARGUMENT, wrong);
  uint32_t n = q.texts.n, d = n ? f->dimensions : 0;
  uint32_t *out = alcove_alloc(4 * (2 + (size_t)n * d));
  out[0] = n, out[1] = d;
  alcove_texts t = {q.purpose, q.texts.at, n, d, (float *)(out + 2)};
  if (f->embed(c, &t)) return ALCOVE_FAILED;
  *result = (alcove_text){(const char *)out, 4 * (2 + (size_t)n * d)};
  return ALCOVE_OK;
}

static alcove_status serve(const alcove_family *f, alcove_call *c, uint32_t kind, alcove_text request, alcove_text *result) {
  alcove_text json = request;
  if (kind == ALCOVE_KIND_SCORE) {
    if (request.len < 12 || number_at(request, 8) > request.len - 12) return alcove_fail(c, ALCOVE_INVALID_ARGUMENT, "the request to score is too short");
    json = (alcove_text){request.at + 12, number_at(request, 8)};
  }
  const alcove_value *r = alcove_parse(json);
  if (!r) return alcove_fail(c, ALCOVE_INVALID_ARGUMENT, "the request is no JSON");
  alcove_text wrong = alcove_decode(&alcove_is_context, alcove_get(r, "context"), &c->context);
  if (wrong.len) return failed(c, ALCOVE_INVALID_ARGUMENT, wrong);
  c->config = alcove_get(r, "config");
  switch (kind) {
  case ALCOVE_KIND_TOOL: return serve_tool(f, c, r, result);
  case ALCOVE_KIND_HOOK: return serve_hook(f, c, r, result);
  case ALCOVE_KIND_SCORE: return serve_score(f, c, r, request, result);
  case ALCOVE_KIND_EMBED: return serve_embed(f, c, r, result);
  }
  return alcove_fail(c, ALCOVE_INVALID_ARGUMENT, "this family serves no requests of kind %d", (int)kind);
}

alcove_status alcove_serve(const alcove_family *f, const alcove_host *host, uint32_t kind, alcove_text request, alcove_text *result) {
  alcove_call c = {.host = host};
  *result = (alcove_text){"", 0};
  alcove_status status = serve(f, &c, kind, request, result);
  if (status) *result = alcove_encode(&alcove_is_error, &c.error);
  return status;
}

static alcove_text panicked(const char *text, const char *file, int line) {
  const char *name = file;
  for (; *file; file++) if (*file == '/') name = file + 1;
  return alcove_format("panic: %s (%s:%d)", text, name, line);
}

#ifdef __wasm__
static alcove_text receive(int32_t channel, size_t len) {
  char *at = alcove_alloc(len + 1);
  size_t done = 0;
  for (int32_t n; done < len && (n = host_read(channel, at + done, len - done)) > 0;) done += n;
  return (alcove_text){at, done};
}
static bool imported_call(void *self, alcove_text op, alcove_text request, alcove_text *answer) {
  (void)self;
  int32_t len = host_call(op.at, op.len, request.at, request.len);
  *answer = receive(ALCOVE_READ_RESPONSE, len < 0 ? -len : len);
  return len >= 0;
}
static void imported_log(void *self, alcove_text line) { (void)self, host_write(ALCOVE_WRITE_LOG, line.at, line.len); }

// WebAssembly cannot unwind: the host takes the error body of a guest that traps.
_Noreturn void alcove_panic_at(const char *text, const char *file, int line) {
  static bool panicking;
  if (panicking) __builtin_trap(); // out of memory
  panicking = true;
  alcove_error e = {.code = alcove_of(ALCOVE_INTERNAL), .message = panicked(text, file, line)};
  imported_log(NULL, e.message);
  alcove_text body = alcove_encode(&alcove_is_error, &e);
  host_write(ALCOVE_WRITE_RESULT, body.at, body.len);
  __builtin_trap();
}

EXPORT(alcove_handle) int32_t alcove_handle(uint32_t kind, size_t len) {
  static const alcove_host host = {imported_call, imported_log, NULL};
  alcove_text result;
  alcove_status status = alcove_serve(&alcove_served, &host, kind, receive(ALCOVE_READ_REQUEST, len), &result);
  host_write(ALCOVE_WRITE_RESULT, result.at, result.len);
  return status;
}
#else
_Noreturn void alcove_panic_at(const char *text, const char *file, int line) {
  fprintf(stderr, "%s\n", panicked(text, file, line).at);
  abort();
}
#endif
