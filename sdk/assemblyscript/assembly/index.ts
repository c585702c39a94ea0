// Makes an AssemblyScript program a tool family of Alcove: a guest that serves tool calls, hooks and jobs. README.md has an example and the
// build line. abi/OPERATIONS.md of Alcove describes the fields of operations.
//
// AssemblyScript has no exceptions: an operation and a handler that fail return null, and the call has the error.

import { Json } from "./json";
import { Operations, Context, Entry, Change, StoreResult, MergeNotice, Session, ErrorBody, Code, retryable,
  KIND_TOOL, KIND_HOOK, KIND_SCORE, KIND_EMBED, READ_REQUEST, READ_RESPONSE, WRITE_RESULT, WRITE_LOG } from "./operations";
export * from "./json";
export * from "./operations";

@external("alcove", "read")
declare function hostRead(channel: i32, to: usize, capacity: usize): i32;
@external("alcove", "write")
declare function hostWrite(channel: i32, from: usize, length: usize): i32;
@external("alcove", "call")
declare function hostCall(op: usize, opLength: usize, request: usize, length: usize): i32;

function put(channel: i32, data: ArrayBuffer): void { hostWrite(channel, changetype<usize>(data), data.byteLength); }
function say(channel: i32, text: string): void { put(channel, String.UTF8.encode(text)); }
function receive(channel: i32, length: i32): ArrayBuffer {
  const data = new ArrayBuffer(length);
  let done = 0;
  while (done < length) {
    const n = hostRead(channel, changetype<usize>(data) + done, length - done);
    if (n <= 0) break;
    done += n;
  }
  return data;
}

/** A request. */
export class Call extends Operations {
  context: Context = new Context();
  config: Json = Json.none();
  error: ErrorBody | null = null; // of what failed last

  /** Sets the error, and returns null, which a handler returns. */
  fail(code: string, message: string): Json | null {
    const e = new ErrorBody();
    e.code = code;
    e.message = message;
    e.retryable = retryable(code);
    this.error = e;
    return null;
  }
  /** Writes one line to the log. */
  log(line: string): void { say(WRITE_LOG, line); }
  /** Runs an operation by its name; the other methods are typed. */
  exchange(op: string, request: Json): Json | null {
    const name = String.UTF8.encode(op), body = String.UTF8.encode(request.toString());
    const length = hostCall(changetype<usize>(name), name.byteLength, changetype<usize>(body), body.byteLength);
    const answer = Json.parse(String.UTF8.decode(receive(READ_RESPONSE, length < 0 ? -length : length)));
    if (answer == null) return this.fail(Code.Internal, "read the answer of " + op);
    if (length >= 0) return answer;
    this.error = ErrorBody.of(answer);
    return null;
  }
}

/** What a store hook decides; null in its place is a failure of the hook. */
export class Decision {
  changes: (Change | null)[] = []; // of each entry; empty: nothing changes
  refusal: string | null = null;
  proposal: string | null = null;
  static keep(): Decision { return new Decision(); }
  static change(changes: (Change | null)[]): Decision { const d = new Decision(); d.changes = changes; return d; }
  static refuse(reason: string): Decision { const d = new Decision(); d.refusal = reason; return d; }
  static propose(reason: string, changes: (Change | null)[] = []): Decision { const d = Decision.change(changes); d.proposal = reason; return d; }
}

/** The candidates of a search. A column has a value for each candidate; NaN: missing. */
export class Ranking {
  query: string = "";
  now: string = "";
  columns: StaticArray<f32>[] = [];
  constructor(public count: i32) {}
}

export type Handler = (call: Call, input: Json) => Json | null;

/** What a program serves. */
export class Family {
  tools: Map<string, Handler> = new Map();
  jobs: Map<string, Handler> = new Map();
  published: ((call: Call, tool: string, input: Json) => Json | null) | null = null;
  store: ((call: Call, entries: Entry[]) => Decision | null) | null = null;
  stored: ((call: Call, entries: Entry[]) => bool) | null = null;
  merged: ((call: Call, merge: MergeNotice) => bool) | null = null;
  sessionEnd: ((call: Call, session: Session) => bool) | null = null;
  rank: ((call: Call, r: Ranking) => StaticArray<f32> | null) | null = null;
  embed: ((call: Call, texts: string[], purpose: string) => StaticArray<f32>[] | null) | null = null;

  tool(name: string, handle: Handler): Family { this.tools.set(name, handle); return this; }
  job(name: string, handle: Handler): Family { this.jobs.set(name, handle); return this; }

  /** Serves the request that waits. Programs export a function alcove_handle that returns what this returns. */
  serve(kind: u32, length: u32): i32 {
    const call = new Call(), request = receive(READ_REQUEST, length);
    const result = this.answer(call, kind, request);
    if (result != null) {
      put(WRITE_RESULT, result);
      return 0;
    }
    if (call.error == null) call.fail(Code.Internal, "the handler failed without an error");
    say(WRITE_RESULT, call.error!.json().toString());
    return 1;
  }

  private answer(call: Call, kind: u32, data: ArrayBuffer): ArrayBuffer | null {
    let text: string, columns = 0;
    if (kind == KIND_SCORE) {
      const length = data.byteLength < 12 ? -1 : load<i32>(changetype<usize>(data), 8);
      if (length < 0 || length > data.byteLength - 12) return failed(call, Code.InvalidArgument, "the request to score is too short");
      text = String.UTF8.decodeUnsafe(changetype<usize>(data) + 12, length);
      columns = (12 + length + 3) / 4 * 4;
    } else {
      text = String.UTF8.decode(data);
    }
    const r = Json.parse(text);
    if (r == null) return failed(call, Code.InvalidArgument, "the request is no JSON");
    call.context = Context.of(r.get("context"));
    call.config = r.get("config");
    switch (kind) {
      case KIND_TOOL: return this.answerTool(call, r);
      case KIND_HOOK: return this.answerHook(call, r);
      case KIND_SCORE: return this.answerScore(call, r, data, columns);
      case KIND_EMBED: return this.answerEmbed(call, r);
    }
    return failed(call, Code.InvalidArgument, "this family serves no requests of kind " + kind.toString());
  }

  private answerTool(call: Call, r: Json): ArrayBuffer | null {
    const name = r.get("tool").string(), published = this.published;
    if (this.tools.has(name)) return encoded(this.tools.get(name)(call, r.get("arguments")));
    if (published != null) return encoded(published(call, name, r.get("arguments")));
    return failed(call, Code.NotFound, "this family has no tool " + Json.text(name).toString());
  }

  private answerHook(call: Call, r: Json): ArrayBuffer | null {
    const hook = r.get("hook").string(), job = r.get("job").string();
    const store = this.store, stored = this.stored, merged = this.merged, ended = this.sessionEnd, none = new ArrayBuffer(0);
    if (hook == "job") {
      if (this.jobs.has(job)) return encoded(this.jobs.get(job)(call, r.get("payload")));
      return failed(call, Code.NotFound, "this family has no job " + Json.text(job).toString());
    }
    const entries = r.get("entries").items.map<Entry>((e) => Entry.of(e));
    if (hook == "stored" && stored != null) return stored(call, entries) ? none : null;
    if (hook == "merged" && merged != null) return merged(call, MergeNotice.of(r.get("merge"))) ? none : null;
    if (hook == "session_end" && ended != null) return ended(call, Session.of(r.get("session"))) ? none : null;
    if (hook != "store" || store == null) return failed(call, Code.NotFound, "this family has no hook " + Json.text(hook).toString());
    const d = store(call, entries);
    if (d == null) return null;
    const result = new StoreResult();
    if (d.refusal == null) result.entries = d.changes;
    result.refuse = d.refusal;
    result.propose = d.proposal;
    return encoded(result.json());
  }

  private answerScore(call: Call, r: Json, data: ArrayBuffer, from: i32): ArrayBuffer | null {
    const at = changetype<usize>(data), n = load<u32>(at), features = load<u32>(at, 4), rank = this.rank;
    if (rank == null) return failed(call, Code.NotFound, 'this family has no hook "rank"');
    if (4 * <u64>n * <u64>features != <u64>(data.byteLength - from)) return failed(call, Code.InvalidArgument, "the request to score has another length");
    const ranking = new Ranking(n);
    ranking.query = r.get("query").string();
    ranking.now = r.get("now").string();
    for (let f: u32 = 0; f < features; f++) {
      const column = new StaticArray<f32>(n);
      memory.copy(changetype<usize>(column), at + from + 4 * n * f, 4 * n);
      ranking.columns.push(column);
    }
    const scores = rank(call, ranking);
    if (scores == null) return null;
    const out = new ArrayBuffer(4 * scores.length);
    memory.copy(changetype<usize>(out), changetype<usize>(scores), out.byteLength);
    return out;
  }

  private answerEmbed(call: Call, r: Json): ArrayBuffer | null {
    const embed = this.embed;
    if (embed == null) return failed(call, Code.NotFound, 'this family has no hook "embed"');
    const vectors = embed(call, r.get("texts").items.map<string>((t) => t.string()), r.get("purpose").string());
    if (vectors == null) return null;
    const n = vectors.length, d = n > 0 ? vectors[0].length : 0, out = new ArrayBuffer(8 + 4 * n * d), at = changetype<usize>(out);
    store<u32>(at, n);
    store<u32>(at, d, 4);
    for (let i = 0; i < n; i++) memory.copy(at + 8 + 4 * i * d, changetype<usize>(vectors[i]), 4 * d);
    return out;
  }
}

function encoded(result: Json | null): ArrayBuffer | null {
  return result == null ? null : String.UTF8.encode(result.toString());
}
function failed(call: Call, code: string, message: string): ArrayBuffer | null {
  call.fail(code, message);
  return null;
}

/** What throw and failed assertions call: see --use in README.md. The host takes the error body of a guest that traps. */
export function panicked(message: string | null, file: string | null, line: u32, column: u32): void {
  const path = file == null ? "" : file;
  const text = "panic: " + (message == null ? "" : message) + " (" + path.substring(path.lastIndexOf("/") + 1) + ":" + line.toString() + ")";
  say(WRITE_LOG, text);
  const e = new ErrorBody();
  e.code = Code.Internal;
  e.message = text;
  say(WRITE_RESULT, e.json().toString());
  unreachable();
}
