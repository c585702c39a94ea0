// The calls that the document engram.md prints: line, tool, arguments and the effect that it states. Where the document prints a name alone,
// the arguments are the fewest that the tool takes.
export const system = "Engram";
export const agent = "indy";

export async function prepare(w) {
  for (const [name, fact] of Object.entries({
    auth: { content: "Authentication decisions: the ledger takes tokens.", factType: "decision" },
    rate: { content: "API rate limiting uses a token bucket.", factType: "decision" },
    redis: { content: "Rate limiting keeps its counters in Redis.", factType: "observation" },
  })) {
    w[name] = (await w.call("memory_store_fact", fact)).factId;
  }
  await w.call("memory_link_entity", { entityId: "ent:redis", name: "rate limiting service redis", type: "tool" });
}

const has = (list, id, w) => w.assert.ok(list.some((f) => f.factId === id), `${id} is not in ${JSON.stringify(list).slice(0, 300)}`);
const listOf = (name) => (a, w) => w.assert.ok(Array.isArray(a[name]), JSON.stringify(a).slice(0, 300));
const deprecated = (...tools) => (a, w) => {
  w.assert.equal(a._deprecated, true);
  for (const tool of tools) w.assert.ok(a._migrateTo.includes(tool), `${a._migrateTo} does not name ${tool}`);
};
const made = async (w, content) => (await w.call("memory_store_fact", { content, factType: "observation" })).factId;
const gone = (key) => (a, w, args) => w.assert.deepEqual([a.success, String(a.entityId).endsWith(args[key])], [true, true]);

// Each tool, with arguments and the effect that the document states for it.
const tools = {
  memory_store_fact: { arguments: { content: "We ship on Fridays.", factType: "observation" }, effect: "stores an atomic fact; factId", expect: async (a, w) => w.assert.equal((await w.call("memory_recall", { key: a.factId })).value, "We ship on Fridays.") },
  memory_recall: { arguments: { query: "authentication decisions", limit: 10, searchStrategy: "hybrid" }, effect: "facts merged and ranked, recallId", expect: (a, w) => { has(a.facts, w.auth, w); w.assert.match(a.recallId, /^rec/); } },
  memory_search: { arguments: { query: "token bucket" }, effect: "finds facts", expect: (a, w) => w.assert.ok(a.results.some((r) => w.rate.endsWith(`#${r.key}`))) },
  memory_link_entity: { arguments: { entityId: "ent:ledger", name: "Ledger", type: "project" }, effect: "registers an entity", expect: (a, w) => w.assert.ok(a.entityId.endsWith("ent:ledger")) },
  memory_get_context: { arguments: { topic: "API rate limiting", profile: "planning", tokenBudget: 4000 }, effect: "facts, entities, themes, handoffs, notifications, summary within the budget", expect: (a, w) => { has(a.facts, w.rate, w); for (const part of ["entities", "themes", "handoffs", "notifications"]) listOf(part)(a, w); w.assert.ok(a.entities.length > 0 && a.summary.includes("planning")); deprecated("memory_search_facts", "memory_get_handoffs")(a, w); } },
  memory_observe: { arguments: { observation: "The build failed." }, effect: "stores an observation", expect: (a, w) => { w.assert.ok(a.factId); deprecated("memory_store_fact")(a, w); } },
  memory_register_agent: { arguments: { agentId: "indy", name: "Indy", capabilities: ["go"], telos: "to help" }, effect: "registers agent and private scope", expect: (a, w) => { w.assert.deepEqual([a.agentId, a.scopeId], ["indy", "private-indy"]); deprecated("memory_create_scope", "memory_register_agent_core", "memory_embed_capabilities")(a, w); } },
  memory_query_raw: { arguments: { table: "memories", limit: 5 }, effect: "rows of a table", expect: (a, w) => w.assert.ok(a.rows.length > 0) },
  memory_record_signal: { arguments: (w) => ({ signalType: "usefulness", value: 1, factId: w.rate }), effect: "records feedback for a fact", expect: (a, w) => w.assert.ok(a.signalId && a.outcome > 0.5) },
  memory_record_feedback: { arguments: async (w) => ({ recallId: (await w.call("memory_recall", { query: "token bucket" })).recallId, usedFactIds: [w.rate] }), effect: "tracks usage of recalled facts", expect: (a, w) => { w.assert.equal(a.updated, 1); deprecated("memory_record_recall_usage", "memory_record_signal")(a, w); } },
  memory_summarize: { arguments: async (w) => { await made(w, `Zebra crossings are white, ${w.next()}.`); await made(w, `Zebra crossings are striped, ${w.next()}.`); return { topic: "zebra crossings" }; }, effect: "facts become one summary fact", expect: (a, w) => { w.assert.ok(a.factId && a.consolidatedCount >= 2); deprecated("memory_mark_facts_merged")(a, w); } },
  memory_prune: { arguments: {}, effect: "finds stale facts; a dry run by default", expect: (a, w) => { w.assert.equal(a.dryRun, true); deprecated("memory_list_stale_facts", "memory_mark_facts_pruned")(a, w); } },
  memory_vault_sync: { arguments: { direction: "export", target: "inline" }, effect: "facts go to the vault", expect: (a, w) => { w.assert.ok(a.export.count > 0); deprecated("memory_export_facts_to_vault")(a, w); } },
  memory_query_vault: { arguments: { query: "token bucket" }, effect: "finds vault files", expect: (a, w) => w.assert.ok(a.results.some((r) => r.path.endsWith(".md"))) },
  memory_export_graph: { arguments: {}, effect: "nodes and edges", expect: (a, w) => { listOf("nodes")(a, w); listOf("edges")(a, w); } },
  memory_checkpoint: { arguments: { name: "noon", summary: "half done" }, effect: "saves a checkpoint", expect: (a, w) => { w.assert.ok(a.checkpointId); deprecated("memory_query_facts")(a, w); } },
  memory_wake: { arguments: async (w) => ({ checkpointId: (await w.call("memory_save_checkpoint", { name: "noon" })).checkpointId }), effect: "resumes from a checkpoint", expect: (a, w, args) => w.assert.equal(a.checkpointId, args.checkpointId) },
  memory_end_session: { arguments: { summary: "All tests pass." }, effect: "stores a summary fact and a handoff", expect: (a, w) => { w.assert.ok(a.factId && a.handoffId); deprecated("memory_store_fact", "memory_record_handoff")(a, w); } },
  memory_vector_search: { arguments: { query: "authentication decisions", limit: 10 }, effect: "facts by meaning, searchType vector; the embedding is made", expect: (a, w) => { w.assert.equal(a.searchType, "vector"); has(a.facts, w.auth, w); } },
  memory_text_search: { arguments: { query: "authentication decisions", filters: { factType: "decision" }, limit: 10 }, effect: "facts by words and filters, searchType text", expect: (a, w) => { w.assert.equal(a.searchType, "text"); has(a.facts, w.auth, w); w.assert.ok(a.facts.every((f) => f.factType === "decision")); } },
  memory_bump_access: { arguments: (w) => ({ factIds: [w.auth, w.rate] }), effect: "counts accesses; updated", expect: (a, w) => w.assert.equal(a.updated, 2) },
  memory_record_recall: { arguments: (w) => ({ factIds: [w.auth, w.rate], query: "authentication decisions" }), effect: "recallId, trackedFacts", expect: (a, w) => { w.assert.match(a.recallId, /^rec/); w.assert.equal(a.trackedFacts, 2); } },
  memory_search_facts: { arguments: { topic: "API rate limiting", limit: 20 }, effect: "facts on a topic", expect: (a, w) => has(a.facts, w.rate, w) },
  memory_search_entities: { arguments: { query: "rate limiting service redis", limit: 5 }, effect: "entities", expect: (a, w) => w.assert.ok(a.entities.some((e) => e.entityId.endsWith("ent:redis"))) },
  memory_search_themes: { arguments: async (w) => { await w.call("memory_create_theme", { name: `Limits ${w.next()}`, description: "What limits rates." }); return { query: "limits" }; }, effect: "themes", expect: (a, w) => w.assert.ok(a.themes.length > 0) },
  memory_get_handoffs: { arguments: async (w) => { await w.call("memory_record_handoff", { toAgent: "indy", contextSummary: `go on, ${w.next()}` }); return { agentId: "indy", limit: 5 }; }, effect: "handoffs that wait for the agent", expect: (a, w) => w.assert.ok(a.handoffs.length > 0) },
  memory_get_notifications: { arguments: async (w) => { await w.call("memory_notify", { target_agent_id: "indy", title: `read me, ${w.next()}`, payload: {} }); return { agentId: "indy" }; }, effect: "unread notifications", expect: (a, w) => w.assert.ok(a.notifications.length > 0) },
  memory_mark_notifications_read: { arguments: async (w) => ({ notificationIds: [(await w.call("memory_notify", { target_agent_id: "indy", title: "read me", payload: {} })).notificationId] }), effect: "marks them as read", expect: (a, w) => w.assert.equal(a.updated, 1) },
  memory_get_agent_context: { arguments: async (w) => { await w.call("memory_register_agent_core", { agentId: "indy", name: "Indy", capabilities: ["go"], telos: "to help" }); return { agentId: "indy" }; }, effect: "identity, permitted scopes, system health", expect: (a, w) => { w.assert.deepEqual([a.identity.agentId, a.identity.name, a.identity.telos, a.identity.capabilities], ["indy", "Indy", "to help", ["go"]]); listOf("scopes")(a, w); w.assert.ok("syncStatus" in a.systemHealth && "embeddingQueueDepth" in a.systemHealth); } },
  memory_delete_entity: { arguments: async (w) => ({ entityId: (await w.call("memory_link_entity", { entityId: `ent:gone${w.next()}`, name: "Gone", type: "tool" })).entityId }), effect: "{success, entityId}; the entity is archived", expect: gone("entityId") },
  memory_delete_scope: { arguments: async (w) => ({ scopeId: (await w.call("memory_create_scope", { name: `gone-${w.next()}` })).scopeId }), effect: "{success, entityId}; the scope is archived", expect: gone("scopeId") },
  memory_delete_conversation: { arguments: async (w) => { const { sessionId } = await w.call("memory_session_start", {}); return { id: (await w.call("memory_create_conversation", { sessionId })).conversationId }; }, effect: "{success, entityId}; the conversation is archived", expect: gone("id") },
  memory_delete_session: { arguments: async (w) => ({ id: (await w.call("memory_session_start", {})).sessionId }), effect: "{success, entityId}; the session is archived", expect: gone("id") },
  memory_delete_theme: { arguments: async (w) => ({ themeId: (await w.call("memory_create_theme", { name: `Gone ${w.next()}`, description: "x" })).themeId }), effect: "{success, entityId}; the theme is archived", expect: gone("themeId") },
  memory_mark_facts_merged: { arguments: async (w) => ({ sourceFactIds: [await made(w, `One source, ${w.next()}.`)], targetFactId: w.rate }), effect: "sources are merged into the target", expect: (a, w) => w.assert.equal(a.merged, 1) },
  memory_mark_facts_pruned: { arguments: async (w) => ({ factIds: [await made(w, `Prune me, ${w.next()}.`)] }), effect: "facts are pruned", expect: (a, w) => w.assert.equal(a.pruned, 1) },
  memory_list_stale_facts: { arguments: {}, effect: "stale facts", expect: listOf("facts") },
  memory_query_facts: { arguments: { factType: "decision" }, effect: "facts by fields", expect: (a, w) => has(a.facts, w.auth, w) },
  memory_create_scope: { arguments: (w) => ({ name: `team-${w.next()}`, members: ["indy"] }), effect: "creates a scope", expect: (a, w) => w.assert.ok(a.scopeId) },
  memory_register_agent_core: { arguments: { agentId: "indy", name: "Indy", capabilities: ["go"] }, effect: "registers an agent", expect: (a, w) => w.assert.equal(a.agentId, "indy") },
  memory_embed_capabilities: { arguments: async (w) => { await w.call("memory_register_agent_core", { agentId: "indy", name: "Indy", capabilities: ["go"] }); return { agentId: "indy" }; }, effect: "capabilities can be matched", expect: (a, w) => w.assert.match(a.method, /vector|lexical/) },
  memory_record_handoff: { arguments: { toAgent: "indy", contextSummary: "go on" }, effect: "records a handoff", expect: (a, w) => w.assert.ok(a.handoffId) },
  memory_record_recall_usage: { arguments: async (w) => ({ recallId: (await w.call("memory_record_recall", { factIds: [w.auth], query: "auth" })).recallId, usedFactIds: [w.auth] }), effect: "tracks which facts were used", expect: (a, w) => w.assert.equal(a.updated, 1) },
  memory_get_config: { arguments: { key: "forget_threshold" }, effect: "value, category, description, version", expect: (a, w) => w.assert.deepEqual([a.key, a.category], ["forget_threshold", "thresholds"]) },
  memory_update_config: { arguments: { key: "forget_threshold", value: 0.8, reason: "keep more" }, effect: "changes a setting, with a version", expect: async (a, w) => { w.assert.ok(a.versions.forget_threshold >= 1); await w.call("memory_update_config", { key: "forget_threshold", value: null }); } },
  memory_list_configs: { arguments: { category: "thresholds" }, effect: "settings of a category", expect: (a, w) => w.assert.ok(a.configs.some((c) => c.key === "prune_age_days")) },
  memory_poll_events: { arguments: { agentId: "indy", lastWatermark: 0, limit: 50 }, effect: "events, latestWatermark, hasMore", expect: (a, w) => { w.assert.ok(a.events.length > 0 && a.latestWatermark >= a.events.at(-1).watermark && typeof a.hasMore === "boolean"); for (const part of ["eventType", "payload", "agentId", "scopeId", "timestamp", "watermark"]) w.assert.ok(part in a.events[0], part); } },
  memory_get_enrichment_status: { arguments: {}, effect: "progress of enrichment", expect: (a, w) => { for (const part of ["pending", "failed", "done"]) w.assert.ok(part in a, part); } },
  memory_export_facts_to_vault: { arguments: {}, effect: "facts as files", expect: (a, w) => w.assert.ok(a.count > 0) },
  memory_import_vault_to_facts: { arguments: async (w) => ({ files: (await w.call("memory_export_facts_to_vault", {})).files }), effect: "edited files become facts; unchanged ones write nothing", expect: (a, w) => w.assert.deepEqual([a.updated, a.imported, a.conflicts.length], [0, 0, 0]) },
};

const at = (line, name, more = {}) => ({ line, tool: name, ...tools[name], ...more });
const setting = (line, key, value) => ({ line, tool: "memory_get_config", arguments: { key }, effect: `${value}, seeded and not hard-coded`, expect: (a, w) => w.assert.deepEqual([a.value, a.source], [value, "default"]) });
const listed = (from, names, only) => names.split(" ").map((name, i) => at(from + i, `memory_${name}`, only));

export const examples = [
  at(33, "memory_recall", { arguments: { query: "authentication decisions", strategy: "hybrid" } }),
  at(127, "memory_recall", { arguments: { query: "authentication decisions", strategy: "hybrid" } }),
  at(130, "memory_vector_search"), at(131, "memory_text_search"), at(133, "memory_bump_access"), at(134, "memory_record_recall"),
  { line: 150, tool: "memory_list_configs", arguments: { category: "decay_rates" }, effect: "configuration by category", expect: (a, w) => w.assert.ok(a.configs.some((c) => c.key === "decay_rate_decision")) },
  { line: 161, tool: "memory_set_scope_policy", arguments: (w) => ({ scopeId: w.namespace, policyKey: "forget_threshold", policyValue: 0.9, priority: 200 }), effect: "a scope's policy overrides the system's setting", expect: async (a, w) => { const s = await w.call("memory_get_config", { key: "forget_threshold" }); w.assert.deepEqual([s.value, s.source], [0.9, "scope"]); await w.call("memory_set_scope_policy", { scopeId: w.namespace, policyKey: "forget_threshold", policyValue: null }); } },
  setting(211, "importance_weight_decision", 0.8), setting(222, "decay_rate_decision", 0.998), setting(233, "forget_threshold", 0.7),
  ...listed(283, "delete_entity delete_scope delete_conversation delete_session delete_theme"),
  { line: 275, tool: "memory_delete_entity", arguments: { entityId: "ent:nobody" }, effect: "error: not found", refused: "not_found" },
  ...["vector_search", "text_search", "bump_access", "record_recall"].map((n) => at(297, `memory_${n}`)),
  ...["search_facts", "search_entities", "search_themes", "get_handoffs", "get_notifications", "mark_notifications_read"].map((n) => at(298, `memory_${n}`)),
  ...["search_facts", "store_fact", "mark_facts_merged"].map((n) => at(299, `memory_${n}`)),
  ...["list_stale_facts", "mark_facts_pruned"].map((n) => at(300, `memory_${n}`)),
  ...["create_scope", "register_agent_core", "embed_capabilities"].map((n) => at(301, `memory_${n}`)),
  at(302, "memory_store_fact"),
  ...["export_facts_to_vault", "import_vault_to_facts"].map((n) => at(303, `memory_${n}`)),
  at(304, "memory_query_facts"),
  ...["store_fact", "record_handoff"].map((n) => at(305, `memory_${n}`)),
  ...["record_recall_usage", "record_signal"].map((n) => at(306, `memory_${n}`)),
  at(317, "memory_vector_search", { arguments: { query: "authentication decisions" }, effect: "without a limit at most 10 facts", expect: (a, w) => w.assert.ok(a.searchType === "vector" && a.facts.length <= 10) }),
  at(342, "memory_text_search", { arguments: { query: "rate limiting", filters: { factType: "decision", minImportance: 0.5, tags: [], dateRange: { start: 0 } } }, effect: "each filter applies", expect: (a, w) => { has(a.facts, w.rate, w); w.assert.ok(a.facts.every((f) => f.factType === "decision" && f.importance >= 0.5)); } }),
  at(342, "memory_text_search", { arguments: { query: "rate limiting", filters: { dateRange: { end: 1 } } }, effect: "nothing before the epoch", expect: (a, w) => w.assert.deepEqual(a.facts, []) }),
  at(372, "memory_bump_access"), at(385, "memory_record_recall"),
  ...["vector-only", "text-only", "hybrid"].map((searchStrategy) => at(408, "memory_recall", { arguments: { query: "authentication decisions", limit: 10, searchStrategy }, effect: `facts by ${searchStrategy} search, recallId`, expect: (a, w) => { has(a.facts, w.auth, w); w.assert.match(a.recallId, /^rec/); } })),
  at(602, "memory_poll_events"),
  { line: 609, tool: "memory_poll_events", arguments: { agentId: "indy", lastWatermark: 0, limit: 1 }, effect: "hasMore when the limit is reached", expect: (a, w) => w.assert.deepEqual([a.events.length < 5, a.hasMore], [true, true]) },
  { line: 621, tool: "memory_poll_events", printed: { agentId: "indy", lastWatermark: 56 }, arguments: async (w) => ({ agentId: "indy", lastWatermark: (await w.last()) }), effect: "an empty poll keeps the watermark", expect: (a, w, args) => w.assert.deepEqual([a.events, a.latestWatermark, a.hasMore], [[], args.lastWatermark, false]) },
  at(634, "memory_poll_events", { arguments: { agentId: "indy", lastWatermark: 0 } }),
  { line: 570, tool: "memory_store_fact", arguments: (w) => ({ content: `An event tells of this, ${w.next()}.`, factType: "observation" }), effect: "emits fact_created with agent and scope", expect: async (a, w) => { const { events } = await w.call("memory_poll_events", { agentId: "indy", eventTypes: ["fact_created"], limit: 500 }); w.assert.ok(events.some((e) => JSON.stringify(e.payload).includes(a.factId.split("#")[1]) && e.scopeId === w.namespace)); } },
  at(659, "memory_get_agent_context"), at(696, "memory_get_agent_context"),
  at(705, "memory_store_fact"), at(706, "memory_vector_search"), at(707, "memory_text_search"), at(708, "memory_bump_access"),
  ...["decision", "observation", "plan", "error", "insight", "correction"].map((factType) => ({ line: 719, tool: "memory_store_fact", arguments: (w) => ({ content: `Typed as ${factType}, ${w.next()}.`, factType, emotionalContext: "confident" }), effect: `a fact of type ${factType}, with its emotional context`, expect: async (a, w) => { const m = await w.call("memory_recall", { key: a.factId }); w.assert.deepEqual([m.type, m.metadata.emotionalContext], [factType, "confident"]); } })),
  at(721, "memory_record_signal"),
  ...listed(1068, "store_fact recall search link_entity get_context observe register_agent query_raw record_signal record_feedback summarize prune vault_sync query_vault export_graph checkpoint wake end_session"),
  ...listed(1090, "vector_search text_search bump_access record_recall"),
  ...listed(1096, "search_facts search_entities search_themes get_handoffs get_notifications mark_notifications_read get_agent_context"),
  ...listed(1105, "delete_entity delete_scope delete_conversation delete_session delete_theme mark_facts_merged mark_facts_pruned"),
  ...listed(1114, "create_scope register_agent_core embed_capabilities record_handoff"),
  ...listed(1120, "get_config update_config list_configs"),
  ...listed(1125, "poll_events get_enrichment_status"),
  ...listed(1128, "export_facts_to_vault import_vault_to_facts"),
  ...Object.entries({ decision: 0.8, error: 0.7, insight: 0.75, correction: 0.7, steering_rule: 0.85, learning: 0.65, session_summary: 0.6, plan: 0.6, observation: 0.5 }).map(([type, v], i) => setting(1141 + i, `importance_weight_${type}`, v)),
  ...Object.entries({ decision: 0.998, error: 0.995, correction: 0.995, insight: 0.997, steering_rule: 0.999, learning: 0.996, session_summary: 0.99, plan: 0.995, observation: 0.99 }).map(([type, v], i) => setting(1155 + i, `decay_rate_${type}`, v)),
  ...Object.entries({ forget_threshold: 0.7, consolidation_min_facts: 3, prune_age_days: 90, prune_max_importance: 0.3, prune_max_access_count: 3 }).map(([key, v], i) => setting(1169 + i, key, v)),
  ...Object.entries({ semantic: 0.45, lexical: 0.15, importance: 0.2, freshness: 0.1, outcome: 0.1 }).map(([key, v], i) => setting(1179 + i, `ranking_weight_${key}`, v)),
  at(1194, "memory_recall", { arguments: { query: "authentication decisions", strategy: "hybrid", limit: 10 } }),
  at(1207, "memory_vector_search"), at(1212, "memory_text_search"), at(1223, "memory_bump_access"), at(1226, "memory_record_recall"),
  at(1236, "memory_get_context"), at(1249, "memory_get_agent_context"),
  { line: 1252, tool: "memory_search_facts", arguments: async (w) => ({ topic: "API rate limiting", scopeIds: [w.namespace, ...(await w.call("memory_get_agent_context", { agentId: "indy" })).scopes.map((s) => s.scopeId)], limit: 20 }), effect: "facts on a topic in the permitted scopes", needs: "memory_get_agent_context", expect: (a, w) => has(a.facts, w.rate, w) },
  at(1259, "memory_search_entities"), at(1265, "memory_get_handoffs"),
].sort((a, b) => a.line - b.line);
