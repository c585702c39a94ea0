// The acceptance of the family legacy, run by host/integration/clients.
export const family = "legacy"; // deprecated: it is listed once it was loaded

const ids = (facts) => facts.map((f) => f.factId).sort();

export async function run({ assert, call, refused, operation, client, namespace }) {
  const deprecated = (answer, ...tools) => {
    assert.equal(answer._deprecated, true);
    for (const tool of tools) assert.match(answer._migrateTo, new RegExp(`\\b${tool}\\b`));
  };
  const found = await call("memory_load_family", { intent: "what replaces a deprecated tool" });
  assert.ok(found.family === "legacy" || (found.suggestions ?? []).some((s) => s.family === "legacy"), "an intent that names what it is finds it");

  // An observation is a fact.
  const observed = await call("memory_observe", { observation: "The ledger failed at nine.", emotionalContext: "frustrated" });
  deprecated(observed, "memory_store_fact");
  const fact = await call("memory_recall", { id: observed.factId });
  assert.equal(fact.type, "observation");
  assert.equal(fact.metadata.emotionalContext, "frustrated");

  // The seed's first example, before and after: the same facts.
  await call("memory_store_fact", { content: "Authentication decisions: the ledger takes tokens.", factType: "decision" });
  const before = await call("memory_recall", { query: "authentication decisions", strategy: "hybrid", limit: 10 });
  assert.ok(!("_deprecated" in before), "a recall by query is no older tool");
  const after = await call("memory_text_search", { query: "authentication decisions", filters: { factType: "decision" }, limit: 10 });
  assert.deepEqual(ids(after.facts), ids(before.facts.filter((f) => f.factType === "decision")));
  const [decision] = after.facts;
  assert.deepEqual(await call("memory_bump_access", { factIds: [decision.factId] }), { updated: 1 });
  const recorded = await call("memory_record_recall", { factIds: [decision.factId], query: "authentication decisions" });
  assert.equal(recorded.trackedFacts, 1);

  // Feedback for the older recall, and for the newer one, moves the decision once each.
  for (const recallId of [before.recallId, before.recallId, recorded.recallId]) {
    deprecated(await call("memory_record_feedback", { recallId, usedFactIds: [decision.factId], unusedFactIds: [] }), "memory_record_recall_usage", "memory_record_signal");
  }
  const moved = await call("memory_recall", { id: decision.factId });
  assert.ok(Math.abs(moved.importance - Math.min(1, decision.importance + 0.1)) < 1e-9, `${decision.importance} became ${moved.importance}`);

  // A rehearsal summarizes nothing; a summary replaces its sources in searches, once the proposal is merged, where lifecycle may only propose.
  const rehearsed = await operation("memory_summarize", { topic: "ledger" }, { dry_run: true });
  assert.equal(rehearsed.metadata.dry_run, true);
  assert.equal((await call("memory_text_search", { query: "ledger" })).facts.length, 2);
  const answer = await client.callTool({ name: "memory_summarize", arguments: { namespace, topic: "ledger" } });
  assert.ok(!answer.isError, answer.content[0].text);
  const summary = answer.structuredContent;
  const proposal = JSON.stringify(answer).match(/proposals\/[A-Za-z0-9/_-]+/)?.[0];
  if (proposal) await call("memory_branch", { action: "merge", source: proposal });
  deprecated(summary, "memory_search_facts", "memory_store_fact", "memory_mark_facts_merged");
  assert.equal(summary.consolidatedCount, 2);
  assert.deepEqual(ids((await call("memory_text_search", { query: "ledger" })).facts), [summary.factId]);
  assert.equal((await refused("memory_summarize", { topic: "submarines" })).code, "not_found");

  // Pruning previews.
  const pruned = await call("memory_prune", {});
  deprecated(pruned, "memory_list_stale_facts", "memory_mark_facts_pruned");
  assert.deepEqual([pruned.pruned, pruned.dryRun], [0, true]);
  assert.equal((await refused("memory_prune", { as_of: "1h ago" })).code, "invalid_argument");

  // A context has what its successors find, within the budget; it marks notifications as read.
  await call("memory_store_fact", { content: "API rate limiting uses a token bucket.", factType: "decision" });
  const me = (await call("memory_whoami", {})).agentId;
  await call("memory_notify", { target_agent_id: me, title: "read me", payload: {} });
  const context = await call("memory_get_context", { topic: "API rate limiting", profile: "planning", tokenBudget: 4000 });
  deprecated(context, "memory_search_facts", "memory_search_entities", "memory_search_themes", "memory_get_handoffs", "memory_get_notifications", "memory_mark_notifications_read");
  assert.deepEqual(ids(context.facts), ids((await call("memory_search_facts", { topic: "API rate limiting", limit: 20 })).facts));
  assert.ok(context.usedTokens > 0 && context.usedTokens <= 4400 && context.notifications.length > 0);
  assert.equal((await call("memory_get_notifications", { agentId: me })).notifications.length, 0);

  // The other tools, each by its successors.
  const registered = await call("memory_register_agent", { agentId: me, name: "Scenario", capabilities: ["testing"], telos: "to test" });
  deprecated(registered, "memory_create_scope", "memory_register_agent_core", "memory_embed_capabilities");
  assert.equal((await call("memory_get_agent_context", { agentId: me })).identity.telos, "to test");
  const saved = await call("memory_checkpoint", { name: "noon", summary: "half done" });
  deprecated(saved, "memory_save_checkpoint", "memory_query_facts");
  assert.equal((await call("memory_wake", { checkpointId: saved.checkpointId })).checkpointId, saved.checkpointId);
  const ended = await call("memory_end_session", { summary: "All tests pass." });
  deprecated(ended, "memory_store_fact", "memory_record_handoff");
  assert.equal((await call("memory_recall", { id: ended.factId })).type, "session_summary");
  assert.ok((await call("memory_get_handoffs", { agentId: me })).handoffs.some((h) => h.handoffId === ended.handoffId));
  const exported = await call("memory_vault_sync", { direction: "export", target: "inline" });
  deprecated(exported, "memory_export_facts_to_vault", "memory_import_vault_to_facts");
  const files = exported.export.files;
  const synced = await call("memory_vault_sync", { files });
  assert.deepEqual([synced.import.updated, synced.import.imported, synced.export.count], [0, 0, exported.export.count]);

  // The report names who called.
  const report = await call("memory_migration_report", {});
  assert.equal(report.removal_date, "2027-05-22");
  const tools = report.agents.map((u) => u.tool);
  for (const tool of ["memory_observe", "memory_record_feedback"]) assert.ok(tools.includes(tool), `${tools} lacks ${tool}`);
  assert.ok(report.agents.every((u) => u.calls > 0 && u.last && u.migrate_to && typeof u.agent === "string"));
}
