// The calls that the document strata.md prints: line, tool, arguments and the effect that it states, by the names that it prints.
import { existsSync, readFileSync } from "node:fs";

export const system = "Strata";
export const agent = "strata";

export async function prepare(w) {
  await w.call("memory_store", { key: "home", value: { city: "Oslo" }, tags: ["user"] });
  await w.call("memory_log", { event: "moved", data: { to: "Oslo" } });
}

const is = (want) => (a, w) => w.assert.deepEqual(Object.fromEntries(Object.keys(want).map((k) => [k, a[k]])), want);
const stored = (value) => ({ tool: "strata_store", arguments: (w) => ({ key: `k${w.next()}`, value }), effect: `stores ${JSON.stringify(value)}; {key, version, timestamp}`, expect: async (a, w, args) => { w.assert.ok(a.key === args.key && a.version > 0 && a.timestamp); w.assert.deepEqual((await w.call("memory_recall", { key: args.key })).value, value); } });

const tools = {
  strata_store: { arguments: { key: "home", value: { city: "Oslo" }, tags: ["user"] }, effect: "{key, version, timestamp}", expect: (a, w) => w.assert.ok(a.key === "home" && a.version > 0 && a.timestamp) },
  strata_recall: { arguments: { key: "home" }, effect: "{key, value, version, timestamp}", expect: is({ key: "home", value: { city: "Oslo" } }) },
  strata_search: { arguments: { query: "Oslo", k: 10 }, effect: "[{key, value, score}], best first; a snippet where the value is left out, or with verbose", expect: (a, w) => { const r = a.results.find((x) => x.key === "home"); for (const part of ["key", "value", "score"]) w.assert.ok(part in r, part); } },
  strata_forget: { arguments: async (w) => { const key = `gone${w.next()}`; await w.call("memory_store", { key, value: "quokka" }); return { key }; }, effect: "{deleted: true}; the search index, too", expect: async (a, w, args) => { w.assert.equal(a.deleted, true); const { results } = await w.call("memory_search", { query: "quokka" }); w.assert.ok(!results.some((r) => r.key === args.key)); } },
  strata_log: { arguments: { event: "user_action", data: { clicked: "save" } }, effect: "{sequence, timestamp}", expect: (a, w) => w.assert.ok(a.sequence > 0 && a.timestamp) },
  strata_branch: { arguments: (w) => ({ action: "create", name: `b${w.next()}` }), effect: "branch information", expect: (a, w, args) => w.assert.equal(a.name, args.name) },
  strata_history: { arguments: { key: "home" }, effect: "[{value, version, timestamp}]", expect: (a, w) => { for (const part of ["value", "version", "timestamp"]) w.assert.ok(part in a.versions[0], part); } },
  strata_status: { arguments: {}, effect: "version, branch, namespace, auto_embed, branches, keys, events", expect: (a, w) => { for (const part of ["version", "branch", "namespace", "auto_embed", "branches", "keys", "events"]) w.assert.ok(part in a, part); } },
};
const at = (line, tool, more = {}) => ({ line, tool, ...tools[tool], ...more });
const branch = (line, action, args, effect, expect) => ({ line, tool: "strata_branch", arguments: async (w) => ({ action, ...(await args(w)) }), effect, expect });
const forked = async (w) => { const name = `f${w.next()}`; await w.call("memory_branch", { action: "fork", name }); return name; };
const hint = (line, tool, want) => ({ line, listing: tool, arguments: want, tool, effect: "the annotations of the tool", expect: (a, w) => { for (const [k, v] of Object.entries(want)) w.assert.equal(a[k], v, k); } });
const family = { needs: "memory_kv" };

// The line of the document that counts a tool among those of its category.
const lines = { txn: 174, configure: 175, retention: 176, durability: 177, bundle: 178, embed: 179, generate: 180, tokenize: 180, detokenize: 180, models: 181, space: 183, vector: 184, json: 185, state: 186 };
const lineOf = (name) => {
  const [category, ...action] = name.replace("strata_", "").split("_");
  if (/^(flush|compact)$/.test(action[0])) return 182;
  if (/many|batch/.test(name) && category !== "embed") return 187;
  if (action.join("_") === "time_range") return 188;
  if (action[0] === "history") return 189;
  return lines[category] ?? 5;
};

// The 74 granular tools, each with a call and what its answer has at least: guests/families/developer has them. $NAME stands for a value of this run.
function granular() {
  const url = new URL("../../../../guests/families/developer/testdata/strata.json", import.meta.url);
  if (!existsSync(url)) return [];
  const table = JSON.parse(readFileSync(url, "utf8"));
  const filled = (value, known) => {
    if (typeof value === "string") return value[0] === "$" && known[value.slice(1)] ? known[value.slice(1)] : value.replaceAll("$run", known.run).replaceAll("$id", known.id);
    if (Array.isArray(value)) return value.map((v) => filled(v, known));
    return value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([name, v]) => [name, filled(v, known)])) : value;
  };
  const within = (w, got, want, where) => {
    if (want === "$object") return w.assert.equal(typeof got, "object", where);
    if (typeof want === "string" && want.startsWith("$includes:")) return w.assert.ok(got.some((x) => [x, x.name].includes(filled(want.slice(10), w.known))), `${where}: ${JSON.stringify(got)}`);
    if (Array.isArray(want)) w.assert.equal(got.length, want.length, `${where}: ${JSON.stringify(got)}`);
    if (want && typeof want === "object") return Object.entries(want).forEach(([name, v]) => within(w, got?.[name], v, `${where}.${name}`));
    w.assert.deepEqual(got, filled(want, w.known), where);
  };
  return table.map((row) => ({
    line: lineOf(row.name), tool: row.name, printed: row.arguments, ...family, namespace: "granular",
    arguments: (w) => {
      w.known ??= { run: `${w.namespace}`, id: w.namespace.replaceAll("/", "-") };
      return { ...filled(row.arguments, w.known), ...("space" in row.arguments && { namespace: undefined }) };
    },
    effect: row.refused ? `refused: ${row.points_to} is the operator's` : `${row.note ? `${row.note}; ` : ""}answers ${JSON.stringify(row.says)}`.slice(0, 200),
    ...(row.refused && row.refused !== "unavailable" ? { refused: row.refused } : {}),
    expect: (a, w) => {
      if (row.refused) return; // it needs what this operator configured
      within(w, a, row.says, row.name);
      for (const [name, member] of Object.entries(row.keep ?? {})) w.known[name] = a[member];
    },
  }));
}

export const examples = [
  at(25, "strata_store"),
  ...["text", 5, { a: [1] }, ["x", null]].map((v) => ({ line: 33, ...stored(v) })),
  { line: 34, tool: "strata_search", arguments: { query: "Oslo", tags: ["user"] }, effect: "tags filter", expect: (a, w) => w.assert.ok(a.results.length > 0 && a.results.every((r) => r.tags.includes("user"))) },
  { line: 35, tool: "strata_store", arguments: (w) => ({ key: "plan", value: "ship", namespace: `other/${w.next()}` }), effect: "a namespace groups", expect: async (a, w, args) => w.assert.equal((await w.call("memory_recall", { key: "plan", namespace: args.namespace })).value, "ship") },
  at(42, "strata_recall"),
  { line: 51, tool: "strata_recall", arguments: { key: "home", as_of: "1h ago" }, effect: "the past has no such key: null", expect: is({ found: false }) },
  { line: 51, tool: "strata_recall", arguments: async (w) => { const key = `t${w.next()}`; const { timestamp } = await w.call("memory_store", { key, value: "before" }); await w.call("memory_store", { key, value: "after" }); return { key, as_of: timestamp }; }, effect: "as_of in ISO 8601 reads the past", expect: is({ value: "before" }) },
  { line: 54, tool: "strata_recall", arguments: { key: "nothing" }, effect: "null if not found", expect: is({ found: false }) },
  at(58, "strata_search"),
  { line: 66, tool: "strata_search", arguments: { query: "Oslo", k: 500 }, effect: "k has a maximum of 50: more is refused", refused: "invalid_argument" },
  { line: 68, tool: "strata_search", arguments: async (w) => { await w.call("memory_store", { key: "far", value: "marmot", namespace: `x/${w.next()}` }); return { query: "marmot" }; }, bare: true, effect: "searches all namespaces by default", expect: (a, w) => w.assert.ok(a.results.some((r) => r.key === "far")) },
  at(75, "strata_forget"),
  { line: 86, tool: "strata_forget", arguments: { key: "never-there" }, effect: "{deleted: false}", expect: is({ deleted: false }) },
  at(88, "strata_log"),
  { line: 95, tool: "strata_log", arguments: { event: "observation", data: "it rains" }, effect: "ordered: the sequence grows", expect: async (a, w) => w.assert.equal((await w.call("memory_log", { event: "observation", data: 1 })).sequence, a.sequence + 1) },
  at(105, "strata_branch"),
  branch(112, "create", (w) => ({ name: `c${w.next()}` }), "creates a branch", async (a, w, args) => { const { branches } = await w.call("memory_branch", { action: "list" }); w.assert.ok(branches.some((b) => b.name === args.name)); }),
  branch(112, "fork", (w) => ({ name: `g${w.next()}` }), "the fork has what was there", async (a, w, args) => w.assert.deepEqual((await w.call("memory_recall", { key: "home", branch: args.name })).value, { city: "Oslo" })),
  branch(112, "list", () => ({}), "lists branches", (a, w) => w.assert.ok(a.branches.length > 0)),
  branch(112, "delete", async (w) => ({ name: await forked(w) }), "deletes a branch", async (a, w, args) => { const { branches } = await w.call("memory_branch", { action: "list" }); w.assert.ok(!branches.some((b) => b.name === args.name)); }),
  branch(118, "switch", async (w) => ({ name: await forked(w) }), "later calls are on the branch", async (a, w, args) => { w.assert.equal((await w.call("memory_status")).branch, args.name); await w.call("memory_branch", { action: "switch", name: "default" }); }),
  branch(121, "merge", async (w) => { const source = await forked(w); await w.call("memory_store", { key: `m-${source}`, value: "merged", branch: source }); return { source }; }, "a merge result; the change is there", async (a, w, args) => { w.assert.equal(a.merged, true); w.assert.equal((await w.call("memory_recall", { key: `m-${args.source}` })).value, "merged"); }),
  branch(124, "diff", async (w) => { const compare = await forked(w); await w.call("memory_store", { key: "only-there", value: 1, branch: compare }); return { compare }; }, "a summary of differences", (a, w) => w.assert.ok(JSON.stringify(a).includes("only-there"))),
  at(131, "strata_history"),
  { line: 141, tool: "strata_history", arguments: {}, effect: "{oldest, latest, branch}", expect: (a, w) => { for (const part of ["oldest", "latest", "branch"]) w.assert.ok(part in a, part); } },
  at(148, "strata_status"),
  ...[["strata_kv_put", (w) => ({ key: "a", value: "1" })], ["strata_kv_get", async (w) => { await w.call("strata_kv_put", { key: "a", value: "1" }); return { key: "a" }; }]].map(([tool, args], i) => ({ line: 211 + i, tool, arguments: args, effect: i ? "gets data" : "stores data", ...family, expect: async (a, w) => w.assert.ok(JSON.stringify(a).includes(i ? '"1"' : '"version"')) })),
  at(211, "strata_store"), at(212, "strata_recall"), at(213, "strata_search"),
  { line: 214, tool: "strata_kv_delete", arguments: async (w) => { await w.call("strata_kv_put", { key: "b", value: "1" }); return { key: "b" }; }, effect: "deletes", ...family, expect: async (a, w) => { const r = await w.call("strata_kv_get", { key: "b" }); w.assert.ok(!JSON.stringify(r).includes('"1"')); } },
  at(214, "strata_forget"),
  { line: 215, tool: "strata_event_append", arguments: { event_type: "seen", payload: { x: 1 } }, effect: "appends an event", ...family, expect: (a, w) => w.assert.ok(JSON.stringify(a).includes("sequence")) },
  at(215, "strata_log"),
  { line: 216, tool: "strata_branch_create", arguments: (w) => ({ branch_id: `old${w.next()}` }), effect: "creates a branch", expect: async (a, w, args) => { const { branches } = await w.call("memory_branch", { action: "list" }); w.assert.ok(branches.some((b) => b.name === args.branch_id)); } },
  branch(216, "create", (w) => ({ name: `n${w.next()}` }), "creates a branch", (a, w, args) => w.assert.equal(a.name, args.name)),
  { line: 217, tool: "strata_kv_history", arguments: async (w) => { await w.call("strata_kv_put", { key: "h", value: "1" }); await w.call("strata_kv_put", { key: "h", value: "2" }); return { key: "h" }; }, effect: "the versions of a key", ...family, expect: (a, w) => w.assert.ok(JSON.stringify(a).includes('"1"') && JSON.stringify(a).includes('"2"')) },
  at(217, "strata_history"),
  { line: 218, tool: "strata_db_ping", arguments: {}, effect: "answers", ...family, expect: () => {} },
  { line: 218, tool: "strata_db_info", arguments: {}, effect: "information about the store", ...family, expect: (a, w) => w.assert.ok(Object.keys(a).length > 0) },
  at(218, "strata_status"),
  hint(224, "memory_store", { readOnlyHint: false, destructiveHint: false, idempotentHint: true }),
  hint(225, "memory_recall", { readOnlyHint: true }), hint(226, "memory_search", { readOnlyHint: true }),
  hint(227, "memory_forget", { readOnlyHint: false, destructiveHint: true, idempotentHint: true }),
  hint(228, "memory_log", { readOnlyHint: false, destructiveHint: false, idempotentHint: false }),
  hint(229, "memory_branch", { readOnlyHint: false, destructiveHint: true }) /* a forced deletion loses what was not merged */,
  hint(230, "memory_history", { readOnlyHint: true }), hint(231, "memory_status", { readOnlyHint: true }),
  { line: 247, tool: "strata_store", arguments: (w) => ({ items: [{ key: `i${w.next()}`, value: 1 }, { key: `i${w.next()}`, value: 2 }] }), effect: "open question: several at once", expect: (a, w) => w.assert.ok(JSON.stringify(a).includes("version")) },
  { line: 251, tool: "strata_search", arguments: async (w) => { await w.call("memory_log", { event: "observation", data: "a wombat slept" }); return { query: "wombat", events: true }; }, effect: "open question: events are searchable", expect: (a, w) => w.assert.ok(JSON.stringify(a).includes("wombat")) },
  ...granular(),
  ...["yesterday", "1 hour ago", "1h ago", "2026-01-01T00:00:00Z", "1767225600000000", "1767225600"].map((as_of) => ({ line: 253, tool: "strata_recall", arguments: { key: "home", as_of }, effect: `open question: as_of takes ${as_of}`, expect: is({ found: false }) })),
];
