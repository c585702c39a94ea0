// The module alcove, which families in JavaScript import, and what the engine calls in it: begin with the family's text, define with its exports,
// serve, and failed. It is part of the engine.

const { log, call, at, random, text, bytes } = globalThis.host;
delete globalThis.host;
const { parse, stringify } = JSON;

/** An error that reaches the caller with its code. Any other error is internal, and tells where it was thrown. */
export class AlcoveError extends Error {
  constructor(code, message, { retryable = ["conflict", "unavailable", "timeout"].includes(code), details } = {}) {
    super(message);
    this.code = code;
    this.retryable = retryable;
    this.details = details;
  }
  get name() {
    return "AlcoveError";
  }
}

/** Fails with a code, as in fail("not_found", "there is no such note"). */
export function fail(code, message, more) {
  throw new AlcoveError(code, message, more);
}

/** The decisions of a store hook about all of its entries; one that changes some returns the list of changes. */
export const refuse = (reason) => ({ refuse: reason });
export const propose = (reason, entries) => ({ entries, propose: reason });

/** The family that a file exports: export default family({...}). */
export const family = (definition) => definition;

// Schemas of parameters and results.
const optionals = new WeakSet();
const of = (type) => (description, more) => ({ type, ...(description ? { description } : {}), ...more });
export const t = {
  string: of("string"),
  integer: of("integer"),
  number: of("number"),
  boolean: of("boolean"),
  any: (description) => (description ? { description } : {}),
  list: (items, description, more) => of("array")(description, { items, ...more }),
  map: (values, description, more) => of("object")(description, { additionalProperties: values, ...more }),
  object: (properties, description, more) => {
    const required = Object.keys(properties).filter((name) => !optionals.has(properties[name]));
    return of("object")(description, { properties, ...(required.length ? { required } : {}), ...more });
  },
  optional: (schema) => {
    const copy = { ...schema };
    optionals.add(copy);
    return copy;
  },
};

// A tool's definition has its schemas as input and output, and hints by short names.
const hints = { readOnly: "readOnlyHint", destructive: "destructiveHint", idempotent: "idempotentHint", openWorld: "openWorldHint", title: "title" };

function toolOf([name, definition]) {
  const { input = {}, output, call, annotations = {}, ...tool } = definition;
  for (const [short, long] of Object.entries(hints)) {
    if (short in tool) annotations[long] = tool[short];
    delete tool[short];
  }
  tool.input_schema ??= t.object(input);
  if (output) tool.output_schema ??= t.object(output);
  if (Object.keys(annotations).length) tool.annotations = annotations;
  return { name, ...tool };
}

const without = ({ call, ...rest }) => rest;
const entries = (object) => Object.entries(object ?? {});

function manifest() {
  const { tools, hooks, jobs, published, ...rest } = defined;
  const m = { abi: 1, version: "0.1.0", ...rest };
  if (tools) m.tools = entries(tools).map(toolOf);
  const asked = Object.fromEntries(entries(hooks).map(([name, hook]) => [name, typeof hook === "function" ? {} : without(hook)]));
  if (jobs) asked.jobs = entries(jobs).map(([name, job]) => ({ name, ...(typeof job === "function" ? {} : without(job)) }));
  if (Object.keys(asked).length) m.hooks = asked;
  return m;
}

// What was defined, by its name. The definition is read once, when the family is loaded.
let defined;
const tools = new Map(), hooks = new Map(), jobs = new Map();
let origins; // of the source's lines in the author's files: parsed when an error needs them

const mark = "//# alcove:lines=";

export function begin(source) {
  const found = source.lastIndexOf("\n" + mark);
  if (found >= 0) origins = source.slice(found + 1 + mark.length).trim();
  at(0);
}

export function define({ default: definition }) {
  if (definition === null || typeof definition !== "object") {
    throw new TypeError("the file exports no family: end it with export default family({...})");
  }
  defined = definition;
  for (const [all, given] of [[tools, definition.tools], [hooks, definition.hooks], [jobs, definition.jobs]]) {
    for (const [name, part] of entries(given)) {
      const handler = typeof part === "function" ? part : part?.call;
      if (typeof handler !== "function") throw new TypeError(`${name} has no function call`);
      all.set(name, handler);
    }
  }
}

// Operations by name: c.memory.put(request) is c.call("memory.put", request).
function operation(op, request = {}) {
  const [failed, answer] = call(op, stringify(request));
  if (!failed) return answer;
  const { code, message, ...more } = answer;
  throw new AlcoveError(code, message, more);
}
const spaces = new Map();
const operations = new Proxy(Object.create(null), {
  get(_, space) {
    if (typeof space !== "string" || space === "then" || space === "toJSON") return undefined;
    if (!spaces.has(space)) {
      spaces.set(space, new Proxy(Object.create(null), { get: (_, verb) => (typeof verb === "string" ? (request) => operation(space + "." + verb, request) : undefined) }));
    }
    return spaces.get(space);
  },
});

// The forms of requests: of each object, the members with their types, and whether they may be absent. A type in brackets is a list of it.
// generated: begin
// By abi/gen from abi.json. Do not edit.
const forms = {
  input: [["can", ["string"]], ["answers", "object", true], ["state", "string", true]],
  context: [["family", "string"], ["caller", "string"], ["namespace", "string"], ["branch", "string"], ["now", "string"], ["request_id", "string"], ["dry_run", "boolean", true], ["operator", "boolean", true], ["proposal", "string", true]],
  entry: [["namespace", "string"], ["collection", "string"], ["key", "string"], ["change", "string", true], ["version", "number", true], ["deleted", "boolean", true], ["agent", "string", true], ["family", "string", true], ["state", "string", true], ["value", "any", true], ["tags", ["string"], true], ["type", "string", true], ["importance", "number", true], ["metadata", "object", true], ["links", ["string"], true], ["supersedes", ["string"], true]],
  merge_notice: [["source", "string"], ["target", "string"], ["version", "number"], ["agent", "string", true], ["count", "number"], ["keys", ["merge_key"]]],
  merge_key: [["namespace", "string"], ["key", "string"], ["deleted", "boolean", true]],
  session: [["session", "string"], ["agent", "string", true], ["client", "string", true], ["began_at", "string"], ["calls", "number"], ["ended_at", "string", true], ["namespace", "string"], ["branch", "string"], ["last_at", "string", true]],
  tool_request: [["tool", "string"], ["arguments", "any"], ["config", "any"], ["input", "input", true], ["context", "context"]],
  hook_request: [["hook", "string"], ["entries", ["entry"], true], ["merge", "merge_notice", true], ["session", "session", true], ["job", "string", true], ["payload", "any", true], ["config", "any"], ["context", "context"]],
  score_params: [["config", "any"], ["now", "string"], ["query", "string"], ["context", "context"]],
  embed_request: [["texts", ["string"]], ["purpose", "string"], ["config", "any"], ["context", "context"]],
};
// generated: end

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// The request that is served, and the form that it is to have.
let asked, form;

// faultOf says what is wrong with a value that is to be of a type; empty: nothing.
function faultOf(value, type) {
  if (Array.isArray(type)) return Array.isArray(value) ? faultIn(value, type[0]) : " is no list";
  if (forms[type]) return isObject(value) ? faultOfMembers(value, forms[type]) : " is no object";
  return type === "any" || (type === "object" ? isObject(value) : typeof value === type) ? "" : ` is no ${type}`;
}

function faultIn(list, type) {
  for (let i = 0; i < list.length; i++) {
    const fault = faultOf(list[i], type);
    if (fault) return `[${i}]${fault}`;
  }
  return "";
}

function faultOfMembers(object, members) {
  for (const [name, type, optional] of members) {
    if (object[name] === undefined && optional) continue;
    if (object[name] === undefined) return ` has no ${name}`;
    const fault = faultOf(object[name], type);
    if (fault) return `.${name}${fault}`;
  }
  return "";
}

// faultOfRequest is what is wrong with the request that is served. Handlers rely on its form. Most requests are looked through when a handler has
// failed, and not before.
function faultOfRequest() {
  const fault = form ? faultOf(asked, form) || (isObject(asked.config) ? "" : ".config is no object") : "";
  return fault[0] === "." ? fault.slice(1) : fault && "the request" + fault;
}

/** What a handler is given beside its input. The time is that of the request from then on. */
class Call {
  constructor({ context, config, input }, now = context.now) {
    at(Date.parse(now));
    this.context = context;
    this.config = config;
    this.input = input;
  }
  call(op, request) {
    return operation(op, request);
  }
  log(...values) {
    line(values);
  }
  /** A prefix and 26 characters that sort by the time of the request. A request that is repeated makes the same ids. */
  newID(prefix = "") {
    let id = "", now = Date.now();
    for (let i = 0; i < 10; i++, now = Math.floor(now / 32)) id = crockford[now % 32] + id;
    for (let i = 0; i < 16; i++) id += crockford[Math.floor(random() * 32)];
    return prefix + id;
  }
  /** All memories of a listing, page by page. */
  *memories(request = {}) {
    for (let after; ; ) {
      const page = operation("memory.list", after === undefined ? request : { ...request, after });
      yield* page.memories;
      if (!(after = page.next)) return;
    }
  }
}
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
Object.setPrototypeOf(Call.prototype, operations);

const unknown = (what, name) => fail("not_found", `this family has no ${what} ${stringify(name)}`);

function onTool(request) {
  if (request.tool === "alcove:manifest") return manifest();
  const { tool, arguments: input = {} } = request;
  if (!isObject(input)) fail("invalid_argument", "arguments is no object");
  const handler = tools.get(tool);
  if (handler) return handler(input, new Call(request));
  return defined.published ? defined.published(tool, input, new Call(request)) : unknown("tool", tool);
}

// An empty list may be null, as programs in Go write it, or absent.
function listOf(request, name) {
  const list = request[name] ?? [];
  return Array.isArray(list) ? list : fail("invalid_argument", `${name} is no list`);
}

// The member of a request that a hook is asked about.
const subjects = new Map([["store", "entries"], ["stored", "entries"], ["merged", "merge"], ["session_end", "session"]]);

function onHook(request) {
  const { hook, job, payload } = request;
  if (hook === "job") return (jobs.get(job) ?? unknown("job", job))(payload ?? {}, new Call(request));
  const subject = subjects.get(hook), handler = subject && hooks.get(hook);
  if (!handler) unknown("hook", hook);
  const about = subject === "entries" ? listOf(request, subject) : (request[subject] ?? fail("invalid_argument", `the request has no ${subject}`));
  return then(handler(about, new Call(request)), (r) => (hook === "store" ? decision(r) : undefined));
}

function decision(r) {
  if (Array.isArray(r)) r = { entries: r };
  if (r?.entries) r.entries = r.entries.map((change) => change ?? null);
  return r?.refuse !== undefined || r?.propose !== undefined || r?.entries?.some((change) => change !== null) ? r : undefined;
}

function onScore(packed) {
  const handler = hooks.get("rank") ?? unknown("hook", "rank"), features = defined.hooks.rank.features ?? [];
  const [count, width, length] = packed.byteLength < 12 ? [0, 0, 0] : new Uint32Array(packed, 0, 3), start = 12 + length + ((4 - (length % 4)) % 4);
  if (start + 4 * count * width !== packed.byteLength) fail("invalid_argument", "the request to score has another length");
  if (width !== features.length) fail("invalid_argument", `the request to score has ${width} columns, and the manifest ${features.length} features`);
  const params = (asked = parsed(text(packed, 12, length))), columns = {};
  features.forEach((feature, i) => (columns[feature] = new Float32Array(packed, start + 4 * count * i, count)));
  return then(handler({ count, columns, query: params.query, now: params.now }, new Call(params, params.now)), (scores) => Float32Array.from(counted(scores, count, "rank", "scores")).buffer);
}

// counted is what a hook gave, if it is as many as it was asked for.
function counted(list, n, hook, what) {
  if (list?.length !== n) throw new TypeError(`the hook ${hook} gave ${list?.length ?? "no"} ${what}, and was asked for ${n}`);
  return list;
}

function parsed(json) {
  try {
    return parse(json);
  } catch {
    fail("invalid_argument", "the request is not valid JSON");
  }
}

function onEmbed(request) {
  const handler = hooks.get("embed") ?? unknown("hook", "embed");
  const texts = (request.texts = listOf(request, "texts")), fault = faultOfRequest();
  if (fault) fail("invalid_argument", fault); // which the host cannot read the answer to
  return then(handler(texts, new Call(request), request.purpose), (vectors) => {
    const width = counted(vectors, texts.length, "embed", "vectors")[0]?.length ?? 0, out = new ArrayBuffer(8 + 4 * width * vectors.length);
    new Uint32Array(out, 0, 2).set([vectors.length, width]);
    vectors.forEach((vector, i) => new Float32Array(out, 8 + 4 * width * i, width).set(counted(vector, width, "embed", "numbers of a vector")));
    return out;
  });
}

// then goes on with a result, now or when it is there.
const then = (result, next) => (result instanceof Promise ? result.then(next) : next(result));

const kinds = { 1: [onTool, "tool_request"], 2: [onHook, "hook_request"], 3: [onScore, "score_params"], 4: [onEmbed, "embed_request"] };

/** Serves a request: JSON as text, bytes as they are, and the text of an error in a list. */
export function serve(kind, request) {
  try {
    const [handler, itsForm] = kinds[kind] ?? fail("invalid_argument", `this family serves no requests of kind ${kind}`);
    if (kind !== 3 && !isObject(request)) fail("invalid_argument", "the request is no object");
    asked = request;
    form = itsForm;
    const result = then(handler(request), (r) => (r === undefined ? (kind === 1 ? "{}" : "") : r instanceof ArrayBuffer ? r : (stringify(r) ?? "null")));
    return result instanceof Promise ? result.catch(failed) : result;
  } catch (e) {
    return failed(e);
  }
}

const told = ({ code, message, retryable = false, details }) => [stringify({ code, message, retryable, details })];

export function failed(e) {
  const own = e instanceof AlcoveError, fault = own && e.code !== "internal" ? "" : faultOfRequest();
  if (own && !fault) return told(e);
  const what = e instanceof Error ? (e.name === "Error" ? e.message : `${e.name}: ${e.message}`) : String(e);
  const [first, stack] = trace(e?.stack);
  line([what + "\n" + stack]);
  return told(fault ? { code: "invalid_argument", message: fault } : { code: "internal", message: `panic: ${what}${first ? ` (${first})` : ""}` });
}

// trace gives where an error was thrown, and its stack, both in the author's files.
function trace(stack) {
  let first = "";
  const frames = [];
  for (const frame of String(stack ?? "").split("\n")) {
    if (frames.length === 10) break;
    const [, before, file, row] = /^(.*?)([^ (]+):(\d+):\d+\)?$/.exec(frame) ?? [];
    if (!file || file === "alcove") continue;
    const [name, line] = located(file, +row);
    first ||= `${name}:${line}`;
    frames.push(`${before}${name}:${line}${frame.endsWith(")") ? ")" : ""}`);
  }
  return [first, frames.join("\n")];
}

// located finds a line in the author's files: runs are a line of the source, a file, a line of the file, and how many follow each other.
function located(file, row) {
  if (typeof origins === "string") origins = parse(origins);
  for (const run of origins?.runs.split(";") ?? []) {
    const [line, index, from, count] = run.split(",").map(Number);
    if (row >= line && row < line + count) return [origins.files[index], from + row - line];
  }
  return [file, row];
}

// What authors expect of a global object, as far as it exists without a network, files and timers.
function shown(value) {
  if (typeof value === "string") return value;
  if (value instanceof Error) return `${value.name}: ${value.message}\n${trace(value.stack)[1]}`;
  if (typeof value !== "object" || value === null) return String(value);
  try {
    return stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

function line(values) {
  for (const one of values.map(shown).join(" ").trimEnd().split("\n")) log(one);
}
const console = {};
for (const level of ["log", "info", "debug", "warn", "error", "trace"]) console[level] = (...values) => line(values);

class TextEncoder {
  get encoding() {
    return "utf-8";
  }
  encode(value = "") {
    return new Uint8Array(bytes(String(value)));
  }
}

class TextDecoder {
  get encoding() {
    return "utf-8";
  }
  decode(value = new ArrayBuffer(0)) {
    return ArrayBuffer.isView(value) ? text(value.buffer, value.byteOffset, value.byteLength) : text(value);
  }
}

for (const [name, value] of Object.entries({ console, TextEncoder, TextDecoder, queueMicrotask: (f) => void Promise.resolve().then(f) })) {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}
Object.defineProperty(Math, "random", { value: random, writable: true, configurable: true });
