// Cards that come back at growing intervals.
//
//alcove:family reminders 1.0.0
//alcove:license Apache-2.0
//alcove:needs record cards to keep the cards
//alcove:collection cards
import { Call, Code, Family, Json, RecordGetRequest, RecordItem, RecordListRequest, RecordPutRequest } from "../../../../sdk/assemblyscript/assembly/index";

interface NewCard {
  card: string; // alcove:"max=100"
  text: string;
}
interface Added { card: string; due: i64 }
interface Graded {
  card: string;
  grade: i64; // alcove:"min=0,max=5"
}
interface Reviewed { card: string; days: i64; due: i64 }
interface Due { card: string; text: string }
interface AllDue { cards: Due[] }

/** The day of the request, since 1970. */
function today(call: Call): i64 {
  const now = call.context.now, month = <i64>parseInt(now.substr(5, 2)), year = <i64>parseInt(now.substr(0, 4)) - (month <= 2 ? 1 : 0), ofEra = year % 400;
  return year / 400 * 146097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + (153 * ((month + 9) % 12) + 2) / 5 + <i64>parseInt(now.substr(8, 2)) - 1 - 719468;
}

function keep(call: Call, card: string, text: string, days: i64, times: i64, ease: i64, due: i64): bool {
  const item = new RecordItem(), put = new RecordPutRequest();
  item.key = card;
  item.value = Json.object().set("text", Json.text(text)).set("days", Json.int(days)).set("times", Json.int(times)).set("ease", Json.int(ease)).set("due", Json.int(due));
  put.collection = "cards";
  put.items = [item];
  return call.recordPut(put) != null;
}

// Add a card, due today.
//alcove:takes NewCard
//alcove:gives Added
function add(call: Call, input: Json): Json | null {
  const card = input.get("card").string(), due = today(call);
  if (card == "") return call.fail(Code.InvalidArgument, "name the card");
  if (!keep(call, card, input.get("text").string(), 0, 0, 250, due)) return null;
  return Json.object().set("card", Json.text(card)).set("due", Json.int(due));
}

// Grade a card from 0 (forgotten) to 5 (known at once), and set when it is due, in days since 1970.
//alcove:takes Graded
//alcove:gives Reviewed
function review(call: Call, input: Json): Json | null {
  const card = input.get("card").string(), grade = input.get("grade").i64(), get = new RecordGetRequest();
  get.collection = "cards";
  get.keys = [card];
  const found = call.recordGet(get);
  if (found == null) return null;
  const record = found.records[0];
  if (record == null) return call.fail(Code.NotFound, "there is no card " + card);
  const v = record.value, times = grade < 3 ? 0 : v.get("times").i64() + 1;
  const days: i64 = times < 2 ? 1 : times == 2 ? 6 : (v.get("days").i64() * v.get("ease").i64() + 50) / 100;
  const ease = max<i64>(130, v.get("ease").i64() + 10 - (5 - grade) * (8 + (5 - grade) * 2)), due = today(call) + days;
  if (!keep(call, card, v.get("text").string(), days, times, ease, due)) return null;
  return Json.object().set("card", Json.text(card)).set("days", Json.int(days)).set("due", Json.int(due));
}

// List the cards that are due, by their names.
//alcove:tool read-only
//alcove:gives AllDue
function due(call: Call, input: Json): Json | null {
  const list = new RecordListRequest(), cards = Json.list();
  list.collection = "cards";
  list.limit = 1000;
  const found = call.recordList(list);
  if (found == null) return null;
  for (let i = 0; i < found.records.length; i++) {
    const r = found.records[i];
    if (r.value.get("due").i64() <= today(call)) cards.items.push(Json.object().set("card", Json.text(r.key)).set("text", r.value.get("text")));
  }
  return Json.object().set("cards", cards);
}

const family = new Family().tool("reminders_add", add).tool("reminders_review", review).tool("reminders_due", due);

export function alcove_handle(kind: u32, length: u32): i32 { return family.serve(kind, length); }
