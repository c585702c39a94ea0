// The acceptance of the family facts, run by host/integration/clients.
export const family = "facts";
export const intent = "record a decision and what we learned as typed facts";

export async function run({ assert, call, refused, operation, post, namespace }) {
  // A decision without an importance gets that of its type, and core search finds it.
  const first = await call("memory_store_fact", { content: "The event store uses PostgreSQL.", factType: "decision" });
  assert.equal(first.importance, 0.8);
  assert.equal(first.created, true);
  const [id, key] = [first.factId, first.factId.split("#")[1]];
  assert.equal(id, `${namespace}#${key}`);
  const { results } = await call("memory_search", { query: "which event store?" });
  assert.equal(results[0].key, key);
  const recalled = await call("memory_recall", { key });
  assert.equal(recalled.version, first.version);
  assert.equal(recalled.type, "decision");

  // A change of the weight counts for the next fact, and leaves the first as it is.
  await call("memory_update_config", { key: "importance_weight_decision", value: 0.6 });
  const second = await call("memory_store_fact", { content: "The cache uses PostgreSQL, too.", factType: "decision" });
  await call("memory_update_config", { key: "importance_weight_decision", value: null });
  assert.equal(second.importance, 0.6);
  assert.equal((await call("memory_recall", { key })).importance, 0.8);

  // Katra's methods, by their bare names, through one tool and over plain HTTP.
  const through = [operation, async (method, params) => post({ method, params })];
  for (const [i, send] of through.entries()) {
    const result = async (method, params) => {
      const envelope = await send(method, params);
      if (envelope === null) return null;
      assert.equal(envelope.error ?? null, null, JSON.stringify(envelope));
      return envelope.result;
    };
    const remembered = await result("remember", { content: `The bus leaves at nine, ${i}.`, context: "significant", tags: "bus" });
    if (remembered === null) continue; // over stdio there is no plain HTTP
    assert.equal(remembered.importance, 0.75);
    const learned = await result("learn", { knowledge: `A store has one writer, ${i}.` });
    const decided = await result("decide", { decision: `We take the bus, ${i}.`, reasoning: "It is cheap." });
    const recent = await result("recent", { limit: 3 });
    assert.equal(recent.count, 3);
    assert.deepEqual(recent.memories.map((m) => m.memory_id).sort(), [remembered.memory_id, learned.memory_id, decided.memory_id].sort());
    assert.deepEqual(JSON.parse(recent.memories.find((m) => m.memory_id === decided.memory_id).content), { decision: `We take the bus, ${i}.`, reasoning: "It is cheap." });
    const digest = await result("digest", { limit: 1 });
    assert.equal(digest.total, 2 + 3 * (i + 1));
    assert.equal(digest.by_type.learning, i + 1);
    assert.deepEqual(digest.tags[0], { name: "bus", count: i + 1 });
  }

  // 9 KiB of content names the limit.
  const long = await refused("memory_store_fact", { content: "x".repeat(9 << 10) });
  assert.equal(long.code, "exhausted");
  assert.match(long.message, /max_fact_bytes, 8192/);

  // Given fields change, the rest stays; facts are listed by fields, page by page.
  const changed = await call("memory_update_metadata", { memory_id: id, personal: true, collection: "architecture" });
  assert.equal(changed.id, id);
  assert.ok(changed.version > first.version);
  const facts = await call("memory_query_facts", { fact_type: "decision", min_importance: 0.7, order: "importance", limit: 1 });
  assert.equal(facts.facts.length, 1);
  assert.equal(facts.truncated, true);
  const rest = await call("memory_query_facts", { factType: ["decision"], minImportance: 0.7, order: "importance", cursor: facts.next_cursor });
  assert.ok(rest.facts.every((f) => f.factType === "decision" && f.factId !== facts.facts[0].factId));

  // A past moment shows what was; a dry run stores nothing.
  const past = await call("memory_digest", { as_of: `v${first.version}` });
  assert.equal(past.total, 1);
  const rehearsed = await operation("memory_store_fact", { content: "Only rehearsed." }, { dry_run: true });
  assert.equal(rehearsed.metadata.dry_run, true);
  assert.equal((await call("memory_search", { query: "rehearsed" })).results.length, 0);
  assert.equal((await refused("memory_update", { id: "nothing", pinned: true })).code, "not_found");
}
