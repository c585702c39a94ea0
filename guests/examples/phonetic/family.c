// Finds people by how their names sound: a store hook tags memories about people with the Soundex codes of the names in them, and a
// tool finds the memories that have the codes of a name.
#include "alcove.h"

enum { MOST_NAMES = 8, MOST_TAGS = 64, CODE = 4 }; // names of a memory that are tagged, tags that a memory may have, and bytes of a code
#define BEGIN "sounds:"
enum { TAG = sizeof BEGIN - 1 + CODE };

typedef struct { alcove_text name; int64_t limit; } find_in;
typedef struct { alcove_text *at; size_t n; } texts;
typedef struct { texts codes, keys; } find_out;
ALCOVE_OBJECT(find_in, ALCOVE_MUST(find_in, name, text), ALCOVE_MAY(find_in, limit, int));
ALCOVE_OBJECT(find_out, ALCOVE_MUST(find_out, codes, texts), ALCOVE_MUST(find_out, keys, texts));

// Returns the lower-case letter of a byte; 0: it is none.
static char letter(char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c >= 'a' && c <= 'z' ? c : 0; }

// Returns the Soundex digit of a letter; 0: it is a vowel, and -: it does not separate equal digits.
static char digit(char c) { return "01230120022455012623010202"[c - 'a'] != '0' ? "01230120022455012623010202"[c - 'a'] : c == 'h' || c == 'w' ? '-' : 0; }

// Writes the tag of a name, whose first byte is a letter.
static alcove_text tag_of(const char *name, size_t len) {
  char *tag = alcove_alloc(TAG + 1), *code = tag + TAG - CODE, last = digit(letter(*name));
  for (size_t i = 0; i < TAG; i++) tag[i] = i < TAG - CODE ? BEGIN[i] : '0';
  size_t n = 1;
  *code = letter(*name) - 32;
  for (size_t i = 1; i < len && n < CODE; i++) {
    char d = digit(letter(name[i]));
    if (d == '-') continue;
    if (d && d != last) code[n++] = d;
    last = d;
  }
  return (alcove_text){tag, TAG};
}

static void add(texts *list, alcove_text tag) {
  for (size_t i = 0; i < list->n; i++)
    if (alcove_same(list->at[i], tag)) return;
  if (list->n < MOST_TAGS) list->at[list->n++] = tag;
}

// Adds the tags of names to a list that has room: all words of a text that begin with a capital letter, or with any letter.
static void add_names(texts *tags, alcove_text text, bool capitals) {
  size_t end;
  for (size_t at = 0, found = 0; at < text.len && found < MOST_NAMES; at = end + 1) {
    for (end = at; end < text.len && letter(text.at[end]);) end++;
    if (end - at < 2 || (capitals && text.at[at] > 'Z')) continue;
    add(tags, tag_of(text.at + at, end - at));
    found++;
  }
}

static bool is_code(alcove_text tag) {
  for (size_t i = 0; i < sizeof BEGIN - 1; i++)
    if (i >= tag.len || tag.at[i] != BEGIN[i]) return false;
  return true;
}

static alcove_status find(alcove_call *c, const void *arguments, void *result) {
  const find_in *in = arguments;
  find_out *out = result;
  alcove_memory_list_response got = {0};
  out->codes.at = alcove_alloc(MOST_NAMES * sizeof *out->codes.at);
  add_names(&out->codes, in->name, false);
  if (!out->codes.n) return alcove_fail(c, ALCOVE_INVALID_ARGUMENT, "give a name, in Latin letters");
  alcove_memory_filter filter = {.tags = {out->codes.at, out->codes.n}};
  if (alcove_op_memory_list(c, &(alcove_memory_list_request){.filter = &filter, .limit = in->limit ? in->limit : 20}, &got)) return ALCOVE_FAILED;
  out->keys.at = alcove_alloc((got.memories.n + 1) * sizeof *out->keys.at);
  for (size_t i = 0; i < got.memories.n; i++) out->keys.at[out->keys.n++] = got.memories.at[i].key;
  return ALCOVE_OK;
}

// Returns a change of an entry's tags; NULL: it is about nobody.
static alcove_change *tagged(const alcove_entry *e, alcove_text type) {
  const alcove_value *name = alcove_get(e->value, "name");
  if (!alcove_same(e->type, type)) return NULL;
  alcove_change *change = alcove_alloc(sizeof *change);
  texts tags = {alcove_alloc((e->tags.n + MOST_NAMES) * sizeof *tags.at), 0};
  for (size_t i = 0; i < e->tags.n; i++)
    if (!is_code(e->tags.at[i])) add(&tags, e->tags.at[i]); // those of an earlier name go
  add_names(&tags, alcove_text_of(name ? name : e->value), true);
  change->tags.at = tags.at, change->tags.n = tags.n;
  return change;
}

static alcove_status store(alcove_call *c, const alcove_entry *entries, size_t n, alcove_decision *decision) {
  alcove_text type = alcove_text_of(alcove_get(c->config, "type"));
  decision->entries.at = alcove_alloc((n + 1) * sizeof *decision->entries.at);
  for (decision->entries.n = 0; decision->entries.n < n; decision->entries.n++)
    decision->entries.at[decision->entries.n] = tagged(&entries[decision->entries.n], type);
  return ALCOVE_OK;
}

static const alcove_handler tools[] = {{"memory_find_name", find, &alcove_is_find_in, &alcove_is_find_out}, {0}};
const alcove_family alcove_served = {.tools = tools, .store = store};
