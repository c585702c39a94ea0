// Reviews memories with a tag at growing intervals, as SM-2 does: what was known well comes back later, what was forgotten tomorrow.
// The schedule of a card is the member review of its metadata: {"due": "2026-06-07", "days": 6, "times": 2, "ease": 250}.
import { Call, Code, Family, Json, Memory, MemoryFilter, MemoryGetRequest, MemoryListRequest, MemoryPatch, MemoryPatchRequest } from "../../../sdk/assemblyscript/assembly/index";

const PAGES = 10, PAGE = 1000; // of cards that one call looks at
const LEAST_EASE: i64 = 130, MOST_DAYS: i64 = 3650; // in hundredths, and of an interval

/** The days from 1970-01-01 to a date, as in 2026-06-01. */
function daysOf(date: string): i64 {
  const month = <i64>parseInt(date.substr(5, 2)), year = <i64>parseInt(date.substr(0, 4)) - (month <= 2 ? 1 : 0);
  const ofEra = year % 400, ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + <i64>parseInt(date.substr(8, 2)) - 1;
  return year / 400 * 146097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719468;
}

/** The date so many days after 1970-01-01. */
function dateOf(days: i64): string {
  const day = days + 719468, era = day / 146097, inEra = day % 146097;
  const ofEra = (inEra - inEra / 1460 + inEra / 36524 - inEra / 146096) / 365, ofYear = inEra - (365 * ofEra + ofEra / 4 - ofEra / 100);
  const m = (5 * ofYear + 2) / 153, month = m < 10 ? m + 3 : m - 9, year = era * 400 + ofEra + (month <= 2 ? 1 : 0);
  return year.toString().padStart(4, "0") + "-" + month.toString().padStart(2, "0") + "-" + (ofYear - (153 * m + 2) / 5 + 1).toString().padStart(2, "0");
}

function reviewOf(m: Memory): Json { return m.metadata.has("review") ? m.metadata.get("review") : Json.object(); }

/** When a card is due; today, if it was never reviewed. */
function dueOf(m: Memory, today: string): string {
  const due = reviewOf(m).get("due").string();
  return due == "" ? today : due;
}

function due(call: Call, input: Json): Json | null {
  const today = call.context.now.substr(0, 10), limit = input.get("limit").isNull() ? 20 : <i32>input.get("limit").i64();
  const list = new MemoryListRequest(), filter = new MemoryFilter(), cards: Memory[] = [];
  filter.tags = [call.config.get("tag").string()];
  list.filter = filter;
  list.limit = PAGE;
  for (let page = 0; page < PAGES; page++) {
    const got = call.memoryList(list);
    if (got == null) return null;
    for (let i = 0; i < got.memories.length; i++) if (dueOf(got.memories[i], today) <= today) cards.push(got.memories[i]);
    list.after = got.next;
    if (got.next == "") break;
  }
  const out = Json.list();
  cards.sort((a, b) => { // the longest overdue first
    const x = reviewOf(a).get("due").string(), y = reviewOf(b).get("due").string();
    return x < y ? -1 : x > y ? 1 : a.key < b.key ? -1 : 1;
  });
  for (let i = 0; i < cards.length && i < limit; i++) {
    out.items.push(Json.object().set("key", Json.text(cards[i].key)).set("value", cards[i].value).set("due", Json.text(dueOf(cards[i], today))));
  }
  return Json.object().set("cards", out).set("total", Json.int(cards.length)).set("more", Json.bool(list.after != ""));
}

/** The schedule after a grade from 0, which is forgotten, to 5, which is known at once. */
function scheduled(before: Json, grade: i64, today: string): Json {
  let ease = before.get("ease").i64(), times = before.get("times").i64(), days = before.get("days").i64();
  if (ease == 0) ease = 250;
  if (grade < 3) {
    times = 0;
    days = 1;
  } else {
    days = times == 0 ? 1 : times == 1 ? 6 : (days * ease + 50) / 100;
    times++;
  }
  ease += 10 - (5 - grade) * (8 + (5 - grade) * 2);
  if (ease < LEAST_EASE) ease = LEAST_EASE;
  if (days > MOST_DAYS) days = MOST_DAYS;
  return Json.object().set("due", Json.text(dateOf(daysOf(today) + days))).set("days", Json.int(days)).set("times", Json.int(times)).set("ease", Json.int(ease));
}

function grade(call: Call, input: Json): Json | null {
  const get = new MemoryGetRequest(), patch = new MemoryPatch(), request = new MemoryPatchRequest();
  get.keys = [input.get("key").string()];
  const got = call.memoryGet(get);
  if (got == null) return null;
  const card = got.memories[0], tag = call.config.get("tag").string();
  if (card == null) return call.fail(Code.NotFound, "there is no memory " + get.keys[0]);
  if (!card.tags.includes(tag)) return call.fail(Code.InvalidArgument, get.keys[0] + " is no card: give it the tag " + tag);
  const review = scheduled(reviewOf(card), input.get("grade").i64(), call.context.now.substr(0, 10));
  patch.key = card.key;
  patch.metadata.set("review", review);
  patch.if_version = Json.uint(card.version); // two grades at once are not one
  request.patches = [patch];
  return call.memoryPatch(request) == null ? null : review;
}

const family = new Family().tool("memory_review_due", due).tool("memory_review_grade", grade);

export function alcove_handle(kind: u32, length: u32): i32 { return family.serve(kind, length); }
