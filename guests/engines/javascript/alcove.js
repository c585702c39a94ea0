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

/** What a handler is given beside its input. */
class Call {
  constructor({ context = {}, config = {}, input }) {
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

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const unknown = (what, name) => fail("not_found", `this family has no ${what} ${stringify(name)}`);

function onTool({ tool, arguments: input = {}, ...rest }) {
  if (tool === "alcove:manifest") return manifest();
  if (!isObject(input)) fail("invalid_argument", "the arguments are no object");
  const handler = tools.get(tool);
  if (handler) return handler(input, new Call(rest));
  return defined.published ? defined.published(tool, input, new Call(rest)) : unknown("tool", tool);
}

function onHook({ hook, job, payload, entries, merge, session, ...rest }) {
  if (hook === "job") return (jobs.get(job) ?? unknown("job", job))(payload ?? {}, new Call(rest));
  const handler = hooks.get(hook) ?? unknown("hook", hook);
  const result = handler(entries ?? merge ?? session, new Call(rest));
  return then(result, (r) => (hook === "store" ? decision(r) : undefined));
}

function decision(r) {
  if (Array.isArray(r)) r = { entries: r };
  if (r?.entries) r.entries = r.entries.map((change) => change ?? null);
  return r?.refuse !== undefined || r?.propose !== undefined || r?.entries?.some((change) => change !== null) ? r : undefined;
}

function onScore(packed) {
  const [count, width, length] = new Uint32Array(packed, 0, 3);
  const params = parse(text(packed, 12, length)), columns = {};
  const start = 12 + length + ((4 - (length % 4)) % 4), features = defined.hooks?.rank?.features ?? [];
  for (let i = 0; i < width; i++) columns[features[i] ?? i] = new Float32Array(packed, start + 4 * count * i, count);
  at(Date.parse(params.now));
  const handler = hooks.get("rank") ?? unknown("hook", "rank");
  return then(handler({ count, columns, query: params.query, now: params.now }, new Call(params)), (scores) => Float32Array.from(scores).buffer);
}

function onEmbed({ texts, purpose, ...rest }) {
  const handler = hooks.get("embed") ?? unknown("hook", "embed");
  return then(handler(texts, new Call(rest), purpose), (vectors) => {
    const width = vectors[0]?.length ?? 0, out = new ArrayBuffer(8 + 4 * width * vectors.length);
    new Uint32Array(out, 0, 2).set([vectors.length, width]);
    vectors.forEach((vector, i) => new Float32Array(out, 8 + 4 * width * i, width).set(vector));
    return out;
  });
}

// then goes on with a result, now or when it is there.
const then = (result, next) => (result instanceof Promise ? result.then(next) : next(result));

const kinds = { 1: onTool, 2: onHook, 3: onScore, 4: onEmbed };

/** Serves a request: JSON as text, bytes as they are, and the text of an error in a list. */
export function serve(kind, request) {
  try {
    const handler = kinds[kind] ?? fail("invalid_argument", `this family serves no requests of kind ${kind}`);
    if (kind !== 3 && !isObject(request)) fail("invalid_argument", "the request is no object");
    if (kind !== 3) at(Date.parse(request.context?.now));
    const result = then(handler(request), (r) => (r === undefined ? (kind === 1 ? "{}" : "") : r instanceof ArrayBuffer ? r : (stringify(r) ?? "null")));
    return result instanceof Promise ? result.catch(failed) : result;
  } catch (e) {
    return failed(e);
  }
}

export function failed(e) {
  if (e instanceof AlcoveError) return [stringify({ code: e.code, message: e.message, retryable: e.retryable, details: e.details })];
  const what = e instanceof Error ? (e.name === "Error" ? e.message : `${e.name}: ${e.message}`) : String(e);
  const [first, stack] = trace(e?.stack);
  line([what + "\n" + stack]);
  return [stringify({ code: "internal", message: `panic: ${what}${first ? ` (${first})` : ""}`, retryable: false })];
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
