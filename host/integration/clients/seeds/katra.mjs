// The calls that the document katra.md prints: line, method, parameters and the effect that it states, through the one tool that it prints.
export const system = "Katra";
export const agent = "casey";

export async function prepare(w) {
  for (let i = 0; i < 6; i++) await w.call("memory_remember", { content: `Casey likes walk ${i}.`, context: "significant" });
}

// A method, through katra_operation; result is what the document puts in its member.
const op = (line, method, params, effect, expect, more = {}) => ({ line, tool: "katra_operation", method, arguments: async (w) => ({ method, params: typeof params === "function" ? await params(w) : params, options: { namespace: w.namespace }, ...more.envelope }), bare: true, effect, needs: more.needs ?? `memory_${method}`, expect: async (a, w, args) => { if (a.error) throw new Error(JSON.stringify(a.error)); await expect(a.result, w, args, a); } });
const ok = () => {};
const remembered = async (w) => (await w.call("memory_remember", { content: `Keep this, ${w.next()}.` })).memory_id;

export const examples = [
  op(33, "status", {}, "state in, state out: method, result, metadata", (r, w, args, a) => w.assert.ok(a.method === "status" && a.metadata.timestamp && "duration_ms" in a.metadata)),
  op(53, "recall", { topic: "Casey", limit: 10, semantic: true }, "memories, by the printed shared state, which comes back whole", (r, w, args, a) => (w.assert.equal(r.count, 6), w.assert.deepEqual([a.version, a.params.topic, a.options.namespace, a.error], ["1.0", "Casey", w.namespace, null])), { envelope: { version: "1.0", result: null, error: null, metadata: { request_id: "uuid", timestamp: "iso8601", duration_ms: null } } }),
  op(93, "remember", (w) => ({ content: `Store a memory, ${w.next()}.`, context: "routine", tags: ["a"] }), "stores a memory", (r, w) => w.assert.ok(r.memory_id)),
  op(94, "recall", { topic: "Casey", limit: 3, mode: "lexical" }, "searches memories", (r, w) => w.assert.equal(r.memories.length, 3)),
  op(95, "recent", { limit: 2 }, "recent memories", (r, w) => w.assert.equal(r.memories.length, 2)),
  op(96, "learn", (w) => ({ knowledge: `Tea is hot, ${w.next()}.` }), "keeps knowledge", (r, w) => w.assert.ok(r.memory_id)),
  op(97, "decide", (w) => ({ decision: `We walk, ${w.next()}.`, reasoning: "It is near." }), "records a decision", (r, w) => w.assert.ok(r.memory_id)),
  op(98, "digest", { limit: 2, offset: 0 }, "an inventory", (r, w) => w.assert.ok(r.total >= 6 && r.memories.length === 2)),
  op(104, "register", { name: "Casey", role: "owner" }, "registers an identity", (r, w) => w.assert.ok(r.agentId), { needs: "memory_register_agent_core" }),
  op(105, "whoami", {}, "the current identity", (r, w) => w.assert.equal(r.agentId, "casey")),
  op(106, "status", {}, "the state of the system", (r, w) => w.assert.ok("keys" in r)),
  op(112, "say", { message: "Hello" }, "broadcasts a message", (r, w) => w.assert.ok(r.message_id)),
  op(113, "hear", { last_heard: 0 }, "receives messages", (r, w) => w.assert.ok(Array.isArray(r.messages) && "last_heard" in r)),
  op(114, "who_is_here", {}, "lists who is active", (r, w) => w.assert.ok(Array.isArray(r.agents))),
  op(120, "wm_add", { content: "a thought", attention_score: 0.6 }, "adds to working memory", (r, w) => w.assert.ok(r.item_id && r.capacity === 7)),
  op(121, "wm_status", {}, "the state of working memory", (r, w) => w.assert.ok(r.items.some((i) => i.content === "a thought"))),
  op(122, "wm_decay", { decay_rate: 0.1 }, "attention decays", (r, w) => w.assert.ok(r.average_attention < 0.6)),
  op(123, "wm_consolidate", {}, "forces consolidation", (r, w) => w.assert.ok("consolidated" in r)),
  op(124, "detect_boundary", { content: "Something else entirely!" }, "detects a boundary", (r, w) => w.assert.ok(r.type)),
  op(125, "process_boundary", { boundary_type: "session_end" }, "processes a boundary", (r, w) => w.assert.ok(Array.isArray(r.actions))),
  op(126, "cognitive_status", {}, "counts of boundaries, load", (r, w) => w.assert.ok("boundaries" in r)),
  op(132, "configure_semantic", { enabled: true, threshold: 0.2, method: "embedding" }, "sets the semantic configuration", async (r, w) => { w.assert.deepEqual([r.enabled, r.threshold], [true, 0.2]); await w.call("memory_configure_semantic", { threshold: 0 }); }),
  op(133, "get_semantic_config", {}, "the semantic configuration", (r, w) => w.assert.ok("enabled" in r && "method" in r), { needs: "memory_configure_semantic" }),
  op(134, "get_config", {}, "all configuration", (r, w) => w.assert.ok(Object.keys(r.config).length >= 20)),
  op(135, "regenerate_vectors", {}, "rebuilds vectors", (r, w) => w.assert.ok("queued" in r)),
  op(136, "update_metadata", async (w) => ({ memory_id: await remembered(w), personal: true, collection: "People/Casey" }), "changes metadata of a memory", async (r, w, args) => { const m = await w.call("memory_recall", { key: args.params.memory_id }); w.assert.deepEqual([m.metadata.personal, m.metadata.collection], [true, "People/Casey"]); }, { needs: "memory_update" }),
  { line: 190, tool: "katra_operation", arguments: async (w) => { await w.call("memory_remember", { content: "Only in a.", namespace: `${w.namespace}/coder-a` }); return { method: "recall", params: { topic: "only" }, options: { namespace: `${w.namespace}/coder-b` } }; }, bare: true, effect: "namespaces isolate memory", expect: (a, w) => w.assert.equal(a.error.code, "E_NOT_FOUND") },
  op(206, "recall", { topic: "Casey", limit: 5, semantic: true }, "memories and their count, 5", (r, w) => w.assert.deepEqual([r.memories.length, r.count], [5, 5])),
  { line: 233, http: "/operation", tool: "POST /operation", body: (w) => ({ method: "say", params: { message: "Hello from CLI" }, options: { namespace: w.namespace } }), effect: "the message is said, over HTTP", needs: "memory_say", expect: (a, w) => w.assert.ok(a.result?.message_id, JSON.stringify(a)) },
  { line: 257, http: "/operation", tool: "POST /operation", body: { method: "recall", params: { topic: "Casey", limit: 5 } }, bodyNamespace: true, effect: "the Python client's call: the result", expect: (a, w) => w.assert.equal(a.result.count, 5) },
  { line: 258, http: "/operation", tool: "POST /operation", body: { method: "remember", params: { content: "New insight", context: "significant" } }, bodyNamespace: true, effect: "the Python client's call: a memory", expect: (a, w) => w.assert.ok(a.result.memory_id) },
  { line: 265, stream: true, tool: "WebSocket /stream", body: { method: "say", params: { message: "Hello meeting room" } }, effect: "another client hears it: {type: message, from, content}", needs: "memory_say", expect: (a, w) => w.assert.deepEqual([a.type, a.content], ["message", "Hello meeting room"]) },
  { line: 344, tool: "katra_operation", arguments: (w) => ({ method: "recall", params: { topic: "nonexistent" }, options: { namespace: w.namespace } }), bare: true, effect: "E_NOT_FOUND with topic and searched backends", expect: (a, w) => { w.assert.equal(a.error.code, "E_NOT_FOUND"); w.assert.equal(a.error.details.topic, "nonexistent"); w.assert.ok(a.error.details.searched_backends.length > 0); } },
  ...[["method exists", { method: "levitate" }, "E_NOT_FOUND"], ["required parameters are there", { method: "remember", params: {} }, "E_INVALID_ARGUMENT"], ["types of parameters", { method: "recent", params: { limit: "many" } }, "E_INVALID_ARGUMENT"], ["options are valid", { method: "recent", options: { dry_rnu: true } }, "E_INVALID_ARGUMENT"]].map(([what, call, code], i) => ({ line: 363 + i, tool: "katra_operation", arguments: call, bare: true, effect: `validates that ${what}: a structured error`, expect: (a, w) => w.assert.equal(a.error.code, code, JSON.stringify(a)) })),
  op(373, "recent", {}, "timeout_ms is an option", ok, { envelope: {}, needs: "memory_recent" }),
  { line: 384, tool: "katra_operation", arguments: (w) => ({ batch: ["A", "B", "C"].map((topic) => ({ method: "recall", params: { topic } })), options: { namespace: w.namespace } }), bare: true, effect: "an array of results, in order", expect: (a, w) => w.assert.equal(a.result.length, 3) },
  { line: 398, tool: "katra_operation", arguments: (w) => ({ method: "recall", params: { topic: "Casey" }, then: { method: "update_metadata", params: { collection: "People/Casey" } }, options: { namespace: w.namespace } }), bare: true, effect: "the second operation receives the first's result: all memories that were recalled get the collection", expect: (a, w) => w.assert.ok(!a.error && a.result.length === a.steps[0].result.count && a.result.every((r) => r.id), JSON.stringify(a)) },
  { line: 398, tool: "katra_operation", arguments: (w) => ({ method: "recall", params: { topic: "Casey" }, then: { method: "update_metadata", params: { memory_id: { $result: "/memories/0/memory_id" }, collection: "People/Casey" } }, options: { namespace: w.namespace } }), bare: true, effect: "the second operation receives a part of the first's result", expect: (a, w) => w.assert.ok(!a.error && a.result.id, JSON.stringify(a)) },
  { line: 398, tool: "katra_operation", arguments: (w) => ({ method: "remember", params: { content: `Chained, ${w.next()}.` }, then: { method: "update_metadata", params: { collection: "People/Casey" } }, options: { namespace: w.namespace } }), bare: true, effect: "what the second operation lacks is taken from the first's result", expect: (a, w) => w.assert.ok(!a.error && a.result.id, JSON.stringify(a)) },
];
