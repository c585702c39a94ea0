// The conformance guest in AssemblyScript.
import { Call, Change, Decision, Entry, ErrorBody, Family, Json, MemoryGetRequest, MemoryItem, MemoryPutRequest, MemorySearchRequest, Ranking, retryable } from "../../assemblyscript/assembly/index";

function echo(call: Call, input: Json): Json | null {
  const texts = Json.list(input.get("list").items), names = input.get("names"), out = Json.object();
  out.set("text", Json.text(input.get("text").string())).set("count", Json.int(input.get("count").i64())).set("ratio", Json.float(input.get("ratio").f64()));
  out.set("flag", Json.bool(input.get("flag").bool())).set("list", texts);
  if (!input.get("any").isNull()) out.set("any", input.get("any"));
  if (names.items.length > 0) out.set("names", names);
  return out;
}

function fail(call: Call, input: Json): Json | null {
  call.fail(input.get("code").string(), input.get("message").string());
  call.error!.details.set("where", Json.text("here"));
  return null;
}

function giveUp(call: Call, input: Json): Json | null {
  throw new Error(input.get("text").string());
}

function remember(call: Call, input: Json): Json | null {
  const item = new MemoryItem(), put = new MemoryPutRequest(), get = new MemoryGetRequest(), search = new MemorySearchRequest();
  item.key = input.get("key").string();
  item.value = Json.text("tea");
  item.tags = ["drink"];
  item.type = "fact";
  item.importance = Json.float(0.5);
  item.metadata.set("n", Json.int(1));
  put.items = [item];
  if (call.memoryPut(put) == null) return null;
  get.keys = [item.key, "nothing"];
  const got = call.memoryGet(get);
  if (got == null) return null;
  const found = Json.list();
  let importance = Json.float(0);
  for (let i = 0; i < got.memories.length; i++) {
    const m = got.memories[i];
    found.items.push(Json.text(m == null ? "-" : m.key));
    if (m != null && m.importance != null) importance = m.importance!;
  }
  search.query = "tea";
  search.k = 3;
  const hits = call.memorySearch(search);
  if (hits == null) return null;
  const missing = call.branchList() == null ? call.error!.code : "";
  return Json.object().set("found", found).set("importance", importance).set("total", Json.int(hits.hits.length)).set("missing", Json.text(missing));
}

function raw(call: Call, input: Json): Json | null {
  const answer = call.exchange(input.get("op").string(), input.get("request"));
  return answer == null ? null : Json.object().set("answer", answer);
}

function context(call: Call, input: Json): Json | null {
  const word = call.config.get("word"), c = call.context;
  call.log("the word is " + word.string());
  return Json.object().set("caller", Json.text(c.caller)).set("namespace", Json.text(c.namespace)).set("branch", Json.text(c.branch)).set("now", Json.text(c.now)).set("word", word);
}

function decide(call: Call, entries: Entry[]): Decision | null {
  const changes: (Change | null)[] = [];
  for (let i = 0; i < entries.length; i++) {
    const e = entries[i], value = e.value.string();
    let change: Change | null = null;
    if (e.change == "delete") return Decision.refuse("it stays");
    if (value == "no") return Decision.refuse("no means no");
    if (value == "maybe") return Decision.propose("perhaps", [null]);
    if (value == "broken") {
      call.fail("unavailable", "it is broken");
      return null;
    }
    if (value == "secret") {
      change = new Change();
      change.value = Json.text("[hidden]");
      change.tags = e.tags.concat(["redacted"]);
    }
    changes.push(change);
  }
  return Decision.change(changes);
}

function stored(call: Call, entries: Entry[]): bool {
  for (let i = 0; i < entries.length; i++) call.log("stored " + entries[i].key);
  return true;
}

function rank(call: Call, r: Ranking): StaticArray<f32> | null {
  const scores = new StaticArray<f32>(r.count);
  for (let i = 0; i < r.count; i++) scores[i] = 2 * r.columns[0][i] + (isNaN(r.columns[1][i]) ? 0 : r.columns[1][i]);
  return scores;
}

function embed(call: Call, texts: string[], purpose: string): StaticArray<f32>[] | null {
  return texts.map<StaticArray<f32>>((text) => [<f32>String.UTF8.byteLength(text), 0.5, -1]);
}

const family = new Family()
  .tool("memory_interop_echo", echo)
  .tool("memory_interop_fail", fail)
  .tool("memory_interop_panic", giveUp)
  .tool("memory_interop_memory", remember)
  .tool("memory_interop_raw", raw)
  .tool("memory_interop_context", context)
  .job("tidy", (call: Call, input: Json): Json | null => Json.object().set("done", Json.int(input.get("n").i64())));
family.store = decide;
family.stored = stored;
family.rank = rank;
family.embed = embed;

export function alcove_handle(kind: u32, length: u32): i32 { return family.serve(kind, length); }
