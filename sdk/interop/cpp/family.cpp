// The conformance guest in C++.
#include "alcove.hpp"

struct echo_t { alcove_text text; int64_t count; double ratio; bool flag; ALCOVE_LIST(alcove_text) list; const alcove_value *any; ALCOVE_MAP(int64_t) names; };
struct fail_t { alcove_text code, message; };
struct panic_t { alcove_text text; };
struct named_t { alcove_text key; };
struct remembered_t { ALCOVE_LIST(alcove_text) found; double importance; int64_t total; alcove_text missing; };
struct raw_t { alcove_text op; const alcove_value *request; };
struct answered_t { const alcove_value *answer; };
struct known_t { alcove_text caller, namespace_, branch, now, word; };
struct tidy_t { int64_t n; };
struct tidied_t { int64_t done; };
ALCOVE_OBJECT(echo_t, ALCOVE_MUST(echo_t, text, text), ALCOVE_MUST(echo_t, count, int), ALCOVE_MUST(echo_t, ratio, float), ALCOVE_MUST(echo_t, flag, bool),
              ALCOVE_MUST(echo_t, list, texts), ALCOVE_MAY(echo_t, any, value), ALCOVE_MAY(echo_t, names, map_of_int));
ALCOVE_OBJECT(fail_t, ALCOVE_MUST(fail_t, code, text), ALCOVE_MUST(fail_t, message, text));
ALCOVE_OBJECT(panic_t, ALCOVE_MUST(panic_t, text, text));
ALCOVE_OBJECT(named_t, ALCOVE_MUST(named_t, key, text));
ALCOVE_OBJECT(remembered_t, ALCOVE_MUST(remembered_t, found, texts), ALCOVE_MUST(remembered_t, importance, float), ALCOVE_MUST(remembered_t, total, int),
              ALCOVE_MUST(remembered_t, missing, text));
ALCOVE_OBJECT(raw_t, ALCOVE_MUST(raw_t, op, text), ALCOVE_MUST(raw_t, request, value));
ALCOVE_OBJECT(answered_t, ALCOVE_MUST(answered_t, answer, value));
ALCOVE_OBJECT(known_t, ALCOVE_MUST(known_t, caller, text), ALCOVE_MUST_AS(known_t, namespace_, "namespace", text), ALCOVE_MUST(known_t, branch, text), ALCOVE_MUST(known_t, now, text),
              ALCOVE_MUST(known_t, word, text));
ALCOVE_OBJECT(tidy_t, ALCOVE_MUST(tidy_t, n, int));
ALCOVE_OBJECT(tidied_t, ALCOVE_MUST(tidied_t, done, int));

static alcove_status echo(alcove_call &, const echo_t &in, echo_t &out) {
  out = in;
  return ALCOVE_OK;
}

static alcove_status fail(alcove_call &c, const fail_t &in, echo_t &) {
  static alcove_text where = {"where", 5};
  auto here = alcove::some<const alcove_value *>();
  *here = alcove_string(ALCOVE_TEXT("here"));
  alcove_fail(&c, in.code.at, "%t", in.message);
  c.error.details.at = here, c.error.details.n = 1, c.error.details.names = &where;
  return ALCOVE_FAILED;
}

static alcove_status give_up(alcove_call &, const panic_t &in, echo_t &) { alcove_panic(in.text.at); }

static alcove_status remember(alcove_call &c, const named_t &in, remembered_t &out) {
  alcove_text tag = ALCOVE_TEXT("drink"), type = ALCOVE_TEXT("fact"), n = ALCOVE_TEXT("n"), keys[] = {in.key, ALCOVE_TEXT("nothing")};
  const alcove_value *one = alcove_number(1);
  alcove_memory_item item{.key = in.key, .value = alcove_string(ALCOVE_TEXT("tea")), .tags = {&tag, 1}, .type = &type, .importance = alcove_float(0.5), .metadata = {&one, 1, &n}};
  alcove_memory_put_request put{.items = {&item, 1}};
  alcove_memory_put_response stored{};
  if (alcove_op_memory_put(&c, &put, &stored)) return ALCOVE_FAILED;
  alcove_memory_get_request get{.keys = {keys, 2}};
  alcove_memory_get_response got{};
  if (alcove_op_memory_get(&c, &get, &got)) return ALCOVE_FAILED;
  out.found.at = alcove::some<alcove_text>(got.memories.n), out.found.n = got.memories.n;
  for (size_t i = 0; i < got.memories.n; i++) {
    const alcove_memory *m = got.memories.at[i];
    out.found.at[i] = m ? m->key : ALCOVE_TEXT("-");
    if (m && m->importance) out.importance = *m->importance;
  }
  alcove_memory_search_request search{.query = ALCOVE_TEXT("tea"), .k = 3};
  alcove_memory_search_response hits{};
  if (alcove_op_memory_search(&c, &search, &hits)) return ALCOVE_FAILED;
  out.total = hits.hits.n;
  alcove_branch_list_response branches{};
  if (alcove_op_branch_list(&c, &branches)) out.missing = c.error.code;
  return ALCOVE_OK;
}

static alcove_status raw(alcove_call &c, const raw_t &in, answered_t &out) {
  return alcove_exchange(&c, in.op.at, &alcove_is_value, &in.request, &alcove_is_value, &out.answer);
}

struct nothing {};
static alcove_status context(alcove_call &c, const nothing &, known_t &out) {
  alcove_text word = alcove_text_of(alcove_get(c.config, "word"));
  alcove_log(&c, "the word is %t", word);
  out = {c.context.caller, c.context.namespace_, c.context.branch, c.context.now, word};
  return ALCOVE_OK;
}

static alcove_status tidy(alcove_call &, const tidy_t &in, tidied_t &out) {
  out.done = in.n;
  return ALCOVE_OK;
}

static alcove_status store(alcove_call *c, const alcove_entry *entries, size_t n, alcove_decision *d) {
  for (size_t i = 0; i < n; i++) {
    const alcove_entry &e = entries[i];
    alcove_text value = alcove_text_of(e.value);
    if (alcove_equal(e.change, "delete")) return alcove_refuse(d, "it stays"), ALCOVE_OK;
    if (alcove_equal(value, "no")) return alcove_refuse(d, "no means no"), ALCOVE_OK;
    if (alcove_equal(value, "maybe")) return alcove_propose(d, "perhaps"), ALCOVE_OK;
    if (alcove_equal(value, "broken")) return alcove_fail(c, ALCOVE_UNAVAILABLE, "it is broken");
    if (!alcove_equal(value, "secret")) continue;
    alcove_change *change = d->entries.at[i] = alcove::some<alcove_change>();
    change->value = alcove_string(ALCOVE_TEXT("[hidden]"));
    change->tags.n = e.tags.n + 1;
    change->tags.at = alcove::some<alcove_text>(change->tags.n);
    for (size_t j = 0; j < e.tags.n; j++) change->tags.at[j] = e.tags.at[j];
    change->tags.at[e.tags.n] = ALCOVE_TEXT("redacted");
  }
  return ALCOVE_OK;
}

static alcove_status stored(alcove_call *c, const alcove_entry *entries, size_t n) {
  for (size_t i = 0; i < n; i++) alcove_log(c, "stored %t", entries[i].key);
  return ALCOVE_OK;
}

static alcove_status rank(alcove_call *, alcove_ranking *r) {
  for (size_t i = 0; i < r->count; i++) {
    float second = r->columns[r->count + i];
    r->scores[i] = 2 * r->columns[i] + (second == second ? second : 0);
  }
  return ALCOVE_OK;
}

static alcove_status embed(alcove_call *, alcove_texts *t) {
  for (size_t i = 0; i < t->count; i++) t->vectors[3 * i] = t->texts[i].len, t->vectors[3 * i + 1] = 0.5f, t->vectors[3 * i + 2] = -1;
  return ALCOVE_OK;
}

static const alcove_handler tools[] = {
  alcove::handler<echo>("memory_interop_echo", alcove_is_echo_t, alcove_is_echo_t),
  alcove::handler<fail>("memory_interop_fail", alcove_is_fail_t, alcove_is_echo_t),
  alcove::handler<give_up>("memory_interop_panic", alcove_is_panic_t, alcove_is_echo_t),
  alcove::handler<remember>("memory_interop_memory", alcove_is_named_t, alcove_is_remembered_t),
  alcove::handler<raw>("memory_interop_raw", alcove_is_raw_t, alcove_is_answered_t),
  alcove::handler<context>("memory_interop_context", alcove_is_nothing, alcove_is_known_t),
  {},
};
static const alcove_handler jobs[] = {alcove::handler<tidy>("tidy", alcove_is_tidy_t, alcove_is_tidied_t), {}};

const alcove_family alcove_served = {.tools = tools, .jobs = jobs, .store = store, .stored = stored, .rank = rank, .embed = embed, .dimensions = 3};
