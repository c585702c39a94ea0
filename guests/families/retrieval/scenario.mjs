// The acceptance of the family retrieval, run by host/integration/clients: the operator turned the rank hook of ranking on, and configured an embedder
// whose vectors are given.
export const family = "retrieval";
export const intent = "search by vector and record which results helped";

export async function run({ assert, call, refused, operation, namespace }) {
  // A query that nothing can embed names the setting; with its embedding the search works, and one of another dimension is refused.
  await call("memory_store", { key: "near", value: "a blue kettle", vector: [1, 0, 0] });
  await call("memory_store", { key: "far", value: "a train to Bergen", vector: [0, 1, 0] });
  const none = await refused("memory_vector_search", { query: "something to boil water in" });
  assert.equal(none.code, "unavailable");
  assert.match(none.message, /embedd.*give embedding/s);
  const byVector = await call("memory_vector_search", { query: "something to boil water in", embedding: [0.9, 0.1, 0], limit: 1 });
  assert.equal(byVector.searchType, "vector");
  assert.deepEqual(byVector.facts.map((f) => f.factId), [`${namespace}#near`]);
  assert.equal((await refused("memory_vector_search", { query: "x", embedding: [1, 0] })).code, "invalid_argument");
  const byWords = await call("memory_text_search", { query: "kettle", scope_ids: namespace });
  assert.deepEqual([byWords.searchType, byWords.facts.length], ["text", 1]);

  // Used twice of three times, a fact outranks one that is the same but was not used.
  await call("memory_store", { items: [{ key: "plum/7", value: "plum jam is in the cellar" }, { key: "plum/8", value: "plum jam is in the cellar" }] });
  const order = async () => (await call("memory_search", { query: "plum jam" })).results.map((r) => r.key);
  const first = await order();
  const [used, unused] = [first[1], first[0]]; // the one that came last
  for (let i = 0; i < 3; i++) {
    const { recallId, trackedFacts } = await call("memory_record_recall", { factIds: [used, unused], query: `plum jam ${i}` });
    assert.equal(trackedFacts, 2);
    const said = i < 2 ? { usedFactIds: [used], unusedFactIds: [unused] } : { usedFactIds: [], unusedFactIds: [used, unused] };
    assert.equal((await call("memory_record_recall_usage", { recallId, ...said })).updated, 2);
    assert.equal((await call("memory_record_recall_usage", { recallId, ...said })).updated, 0);
  }
  assert.deepEqual(await order(), [used, unused]);
  const quality = await call("memory_recall_quality", { days: 1 });
  assert.equal(quality.recalls, 3);
  assert.equal(quality.used_rate, Math.round((2 / 6) * 1e4) / 1e4);

  // A recall of the core, by a query, takes feedback as well, once.
  const { facts, recallId } = await call("memory_recall", { query: "plum jam" });
  assert.ok(facts.length >= 2 && /^rec:/.test(recallId), JSON.stringify({ facts, recallId }));
  assert.equal((await call("memory_record_recall_usage", { recallId, usedFactIds: [`${namespace}#${used}`] })).updated, 1);
  assert.equal((await call("memory_record_recall_usage", { recallId, usedFactIds: [`${namespace}#${used}`] })).updated, 0);

  // Nothing of it wrote a version.
  assert.equal((await call("memory_history", { key: used })).versions.length, 1);

  // Signals move the outcome; use is counted; feedback can be deleted.
  const signal = await call("memory_record_signal", { signalType: "rating", value: 10, factId: `${namespace}#far` });
  assert.equal(signal.outcome, 0.625);
  assert.equal((await refused("memory_record_signal", { signalType: "rating", value: 11 })).code, "invalid_argument");
  assert.deepEqual(await call("memory_delete_signal", { signalId: signal.signalId }), { success: true, entityId: `${namespace}#${signal.signalId}`, id: `${namespace}#${signal.signalId}` });
  assert.equal((await call("memory_bump_access", { factIds: ["near", "far", "none"] })).updated, 2);
  assert.equal((await refused("memory_record_recall_usage", { recallId: "rec:nothing", usedFactIds: ["near"] })).code, "not_found");

  // The feedback of ranking is the same feedback.
  await call("memory_rank_feedback", { query: "train to Bergen", useful: ["far"] });
  const { results } = await call("memory_explain_ranking", { query: "train to Bergen" });
  assert.equal(results.find((r) => r.key === "far").parts.outcome, Math.round((0.75 * 0.625 + 0.25) * 1e4) / 1e4);

  const rehearsed = await operation("memory_record_recall", { factIds: ["near"], query: "rehearsed" }, { dry_run: true });
  assert.equal(rehearsed.metadata.dry_run, true);
}
