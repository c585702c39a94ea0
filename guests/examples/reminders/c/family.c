// Cards that come back at growing intervals.
//
//alcove:family reminders 1.0.0
//alcove:license Apache-2.0
//alcove:needs record cards to keep the cards
//alcove:collection cards
#include "alcove.h"

typedef struct {
  alcove_text card; // alcove:"max=100"
  alcove_text text;
} new_card;
typedef struct {
  alcove_text card;
  int64_t grade; // alcove:"min=0,max=5"
} graded;
typedef struct { alcove_text card; int64_t due; } added;
typedef struct { alcove_text card; int64_t days, due; } reviewed;
typedef struct { alcove_text text; int64_t days, times, ease, due; } card;
typedef struct { alcove_text card, text; } due_card;
typedef struct { ALCOVE_LIST(due_card) cards; } all_due;
ALCOVE_OBJECT(new_card, ALCOVE_MUST(new_card, card, text), ALCOVE_MUST(new_card, text, text));
ALCOVE_OBJECT(graded, ALCOVE_MUST(graded, card, text), ALCOVE_MUST(graded, grade, int));
ALCOVE_OBJECT(added, ALCOVE_MUST(added, card, text), ALCOVE_MUST(added, due, int));
ALCOVE_OBJECT(reviewed, ALCOVE_MUST(reviewed, card, text), ALCOVE_MUST(reviewed, days, int), ALCOVE_MUST(reviewed, due, int));
ALCOVE_OBJECT(card, ALCOVE_MUST(card, text, text), ALCOVE_MUST(card, days, int), ALCOVE_MUST(card, times, int), ALCOVE_MUST(card, ease, int), ALCOVE_MUST(card, due, int));
ALCOVE_OBJECT(due_card, ALCOVE_MUST(due_card, card, text), ALCOVE_MUST(due_card, text, text));
ALCOVE_LIST_OF(due_cards, due_card);
ALCOVE_OBJECT(all_due, ALCOVE_MUST(all_due, cards, due_cards));

static int64_t digits(const char *at, int n) {
  int64_t v = 0;
  while (n--) v = v * 10 + *at++ - '0';
  return v;
}

// The day of the request, since 1970.
static int64_t today(alcove_call *c) {
  const char *now = c->context.now.at;
  int64_t month = digits(now + 5, 2), year = digits(now, 4) - (month <= 2), of_era = year % 400;
  return year / 400 * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * ((month + 9) % 12) + 2) / 5 + digits(now + 8, 2) - 1 - 719468;
}

static alcove_status keep(alcove_call *c, alcove_text key, const card *v) {
  alcove_record_item item = {.key = key, .value = alcove_parse(alcove_encode(&alcove_is_card, v))};
  return alcove_op_record_put(c, &(alcove_record_put_request){.collection = ALCOVE_TEXT("cards"), .items = {&item, 1}}, &(alcove_record_put_response){0});
}

// Add a card, due today.
static alcove_status add(alcove_call *c, const void *arguments, void *result) {
  const new_card *in = arguments;
  if (!in->card.len) return alcove_fail(c, ALCOVE_INVALID_ARGUMENT, "name the card");
  *(added *)result = (added){in->card, today(c)};
  return keep(c, in->card, &(card){in->text, 0, 0, 250, today(c)});
}

// Grade a card from 0 (forgotten) to 5 (known at once), and set when it is due, in days since 1970.
static alcove_status review(alcove_call *c, const void *arguments, void *result) {
  const graded *in = arguments;
  alcove_text key = in->card;
  alcove_record_get_response found = {0};
  if (alcove_op_record_get(c, &(alcove_record_get_request){.collection = ALCOVE_TEXT("cards"), .keys = {&key, 1}}, &found)) return ALCOVE_FAILED;
  if (!found.records.at[0]) return alcove_fail(c, ALCOVE_NOT_FOUND, "there is no card %t", key);
  card v = {0};
  alcove_decode(&alcove_is_card, found.records.at[0]->value, &v);
  v.times = in->grade < 3 ? 0 : v.times + 1;
  v.days = v.times < 2 ? 1 : v.times == 2 ? 6 : (v.days * v.ease + 50) / 100;
  v.ease += 10 - (5 - in->grade) * (8 + (5 - in->grade) * 2);
  if (v.ease < 130) v.ease = 130;
  v.due = today(c) + v.days;
  *(reviewed *)result = (reviewed){key, v.days, v.due};
  return keep(c, key, &v);
}

// List the cards that are due, by their names.
//alcove:tool read-only
static alcove_status due(alcove_call *c, const void *arguments, void *result) {
  (void)arguments;
  all_due *out = result;
  alcove_record_list_response found = {0};
  if (alcove_op_record_list(c, &(alcove_record_list_request){.collection = ALCOVE_TEXT("cards"), .limit = 1000}, &found)) return ALCOVE_FAILED;
  out->cards.at = alcove_alloc(found.records.n * sizeof *out->cards.at);
  for (size_t i = 0; i < found.records.n; i++) {
    card v = {0};
    alcove_decode(&alcove_is_card, found.records.at[i].value, &v);
    if (v.due <= today(c)) out->cards.at[out->cards.n++] = (due_card){found.records.at[i].key, v.text};
  }
  return ALCOVE_OK;
}

static const alcove_handler tools[] = {
  {"reminders_add", add, &alcove_is_new_card, &alcove_is_added},
  {"reminders_review", review, &alcove_is_graded, &alcove_is_reviewed},
  {"reminders_due", due, &alcove_is_nothing, &alcove_is_all_due},
  {0},
};
const alcove_family alcove_served = {.tools = tools};
