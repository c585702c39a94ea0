// The conformance guest in C.
#include "alcove.h"

typedef struct { alcove_text text; int64_t count; double ratio; bool flag; ALCOVE_LIST(alcove_text) list; const alcove_value *any; ALCOVE_MAP(int64_t) names; } echo_t;
typedef struct { alcove_text code, message; } fail_t;
typedef struct { alcove_text text; } panic_t;
typedef struct { alcove_text key; } key_t;
typedef struct { ALCOVE_LIST(alcove_text) found; double importance; int64_t total; alcove_text missing; } remembered_t;
typedef struct { alcove_text op; const alcove_value *request; } raw_t;
typedef struct { const alcove_value *answer; } answered_t;
typedef struct { alcove_text caller, namespace, branch, now, word; } known_t;
typedef struct { int64_t n; } tidy_t;
typedef struct { int64_t done; } tidied_t;
ALCOVE_OBJECT(echo_t, ALCOVE_MUST(echo_t, text, text), ALCOVE_MUST(echo_t, count, int), ALCOVE_MUST(echo_t, ratio, float), ALCOVE_MUST(echo_t, flag, bool),
              ALCOVE_MUST(echo_t, list, texts), ALCOVE_MAY(echo_t, any, value), ALCOVE_MAY(echo_t, names, map_of_int));
ALCOVE_OBJECT(fail_t, ALCOVE_MUST(fail_t, code, text), ALCOVE_MUST(fail_t, message, text));
ALCOVE_OBJECT(panic_t, ALCOVE_MUST(panic_t, text, text));
ALCOVE_OBJECT(key_t, ALCOVE_MUST(key_t, key, text));
ALCOVE_OBJECT(remembered_t, ALCOVE_MUST(remembered_t, found, texts), ALCOVE_MUST(remembered_t, importance, float), ALCOVE_MUST(remembered_t, total, int),
              ALCOVE_MUST(remembered_t, missing, text));
ALCOVE_OBJECT(raw_t, ALCOVE_MUST(raw_t, op, text), ALCOVE_MUST(raw_t, request, value));
ALCOVE_OBJECT(answered_t, ALCOVE_MUST(answered_t, answer, value));
ALCOVE_OBJECT(known_t, ALCOVE_MUST(known_t, caller, text), ALCOVE_MUST(known_t, namespace, text), ALCOVE_MUST(known_t, branch, text), ALCOVE_MUST(known_t, now, text),
              ALCOVE_MUST(known_t, word, text));
ALCOVE_OBJECT(tidy_t, ALCOVE_MUST(tidy_t, n, int));
ALCOVE_OBJECT(tidied_t, ALCOVE_MUST(tidied_t, done, int));

static alcove_status echo(alcove_call *c, const void *in, void *out) {
  (void)c;
  *(echo_t *)out = *(const echo_t *)in;
  return ALCOVE_OK;
}

static alcove_status fail(alcove_call *c, const void *arguments, void *out) {
  (void)out;
  const fail_t *in = arguments;
  static alcove_text where = {"where", 5};
  const alcove_value **here = alcove_alloc(sizeof *here);
  *here = alcove_string(ALCOVE_TEXT("here"));
  alcove_fail(c, in->code.at, "%t", in->message);
  c->error.details.at = here, c->error.details.n = 1, c->error.details.names = &where;
  return ALCOVE_FAILED;
}

static alcove_status give_up(alcove_call *c, const void *in, void *out) {
  (void)c, (void)out;
  alcove_panic(((const panic_t *)in)->text.at);
}

static alcove_status remember(alcove_call *c, const void *arguments, void *result) {
  const key_t *in = arguments;
  remembered_t *out = result;
  alcove_text tag = ALCOVE_TEXT("drink"), type = ALCOVE_TEXT("fact"), n = ALCOVE_TEXT("n"), keys[] = {in->key, ALCOVE_TEXT("nothing")};
  const alcove_value *one = alcove_number(1);
  alcove_memory_item item = {.key = in->key, .value = alcove_string(ALCOVE_TEXT("tea")), .tags = {&tag, 1}, .type = &type, .importance = alcove_float(0.5), .metadata = {&one, 1, &n}};
  alcove_memory_get_response got = {0};
  alcove_memory_search_response hits = {0};
  alcove_branch_list_response branches = {0};
  if (alcove_op_memory_put(c, &(alcove_memory_put_request){.items = {&item, 1}}, &(alcove_memory_put_response){0})) return ALCOVE_FAILED;
  if (alcove_op_memory_get(c, &(alcove_memory_get_request){.keys = {keys, 2}}, &got)) return ALCOVE_FAILED;
  out->found.at = alcove_alloc(got.memories.n * sizeof *out->found.at), out->found.n = got.memories.n;
  for (size_t i = 0; i < got.memories.n; i++) {
    const alcove_memory *m = got.memories.at[i];
    out->found.at[i] = m ? m->key : ALCOVE_TEXT("-");
    if (m && m->importance) out->importance = *m->importance;
  }
  if (alcove_op_memory_search(c, &(alcove_memory_search_request){.query = ALCOVE_TEXT("tea"), .k = 3}, &hits)) return ALCOVE_FAILED;
  out->total = hits.hits.n;
  if (alcove_op_branch_list(c, &branches)) out->missing = c->error.code;
  return ALCOVE_OK;
}

static alcove_status raw(alcove_call *c, const void *arguments, void *out) {
  const raw_t *in = arguments;
  return alcove_exchange(c, in->op.at, &alcove_is_value, &in->request, &alcove_is_value, &((answered_t *)out)->answer);
}

static alcove_status context(alcove_call *c, const void *in, void *out) {
  (void)in;
  alcove_text word = alcove_text_of(alcove_get(c->config, "word"));
  alcove_log(c, "the word is %t", word);
  *(known_t *)out = (known_t){c->context.caller, c->context.namespace, c->context.branch, c->context.now, word};
  return ALCOVE_OK;
}

static alcove_status tidy(alcove_call *c, const void *in, void *out) {
  (void)c;
  ((tidied_t *)out)->done = ((const tidy_t *)in)->n;
  return ALCOVE_OK;
}

static alcove_status store(alcove_call *c, const alcove_entry *entries, size_t n, alcove_decision *d) {
  for (size_t i = 0; i < n; i++) {
    const alcove_entry *e = &entries[i];
    alcove_text value = alcove_text_of(e->value);
    if (alcove_equal(e->change, "delete")) return alcove_refuse(d, "it stays"), ALCOVE_OK;
    if (alcove_equal(value, "no")) return alcove_refuse(d, "no means no"), ALCOVE_OK;
    if (alcove_equal(value, "maybe")) return alcove_propose(d, "perhaps"), ALCOVE_OK;
    if (alcove_equal(value, "broken")) return alcove_fail(c, ALCOVE_UNAVAILABLE, "it is broken");
    if (!alcove_equal(value, "secret")) continue;
    alcove_change *change = d->entries.at[i] = alcove_alloc(sizeof *change);
    change->value = alcove_string(ALCOVE_TEXT("[hidden]"));
    change->tags.n = e->tags.n + 1;
    change->tags.at = alcove_alloc(change->tags.n * sizeof *change->tags.at);
    for (size_t j = 0; j < e->tags.n; j++) change->tags.at[j] = e->tags.at[j];
    change->tags.at[e->tags.n] = ALCOVE_TEXT("redacted");
  }
  return ALCOVE_OK;
}

static alcove_status stored(alcove_call *c, const alcove_entry *entries, size_t n) {
  for (size_t i = 0; i < n; i++) alcove_log(c, "stored %t", entries[i].key);
  return ALCOVE_OK;
}

static alcove_status rank(alcove_call *c, alcove_ranking *r) {
  (void)c;
  for (size_t i = 0; i < r->count; i++) {
    float second = r->columns[r->count + i];
    r->scores[i] = 2 * r->columns[i] + (second == second ? second : 0);
  }
  return ALCOVE_OK;
}

static alcove_status embed(alcove_call *c, alcove_texts *t) {
  (void)c;
  for (size_t i = 0; i < t->count; i++) t->vectors[3 * i] = t->texts[i].len, t->vectors[3 * i + 1] = 0.5f, t->vectors[3 * i + 2] = -1;
  return ALCOVE_OK;
}

static const alcove_handler tools[] = {
  {"memory_interop_echo", echo, &alcove_is_echo_t, &alcove_is_echo_t},
  {"memory_interop_fail", fail, &alcove_is_fail_t, &alcove_is_echo_t},
  {"memory_interop_panic", give_up, &alcove_is_panic_t, &alcove_is_echo_t},
  {"memory_interop_memory", remember, &alcove_is_key_t, &alcove_is_remembered_t},
  {"memory_interop_raw", raw, &alcove_is_raw_t, &alcove_is_answered_t},
  {"memory_interop_context", context, &alcove_is_nothing, &alcove_is_known_t},
  {0},
};
static const alcove_handler jobs[] = {{"tidy", tidy, &alcove_is_tidy_t, &alcove_is_tidied_t}, {0}};

const alcove_family alcove_served = {.tools = tools, .jobs = jobs, .store = store, .stored = stored, .rank = rank, .embed = embed, .dimensions = 3};
