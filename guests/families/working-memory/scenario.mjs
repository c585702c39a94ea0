// The acceptance of the family working-memory, run by host/integration/clients.
export const family = "working-memory";
export const intent = "keep a thought in focus, and notice when the topic changes";

export async function run({ assert, call, refused, operation, post }) {
  // The eighth thought evicts the weakest, which is searchable at once.
  for (let i = 1; i <= 7; i++) await call("memory_wm_add", { content: `Quartz thought number ${i}.`, attention_score: i / 10 });
  const eighth = await call("memory_wm_add", { content: "Quartz thought number 8.", attention_score: 0.9 });
  assert.equal(eighth.count, 7);
  assert.equal(eighth.evicted.length, 1);
  const { results } = await call("memory_search", { query: "quartz" });
  assert.deepEqual(results.map((r) => r.key), [eighth.evicted[0].split("#")[1]]);
  const evicted = await call("memory_recall", { key: results[0].key });
  assert.equal(evicted.value, "Quartz thought number 1.");
  assert.equal(evicted.importance, 0.1);

  const status = await operation("wm_status");
  assert.equal(status.result.items[0].content, "Quartz thought number 8.");
  const posted = await post({ method: "cognitive_status" });
  if (posted) assert.equal(posted.result.load, 0); // an agent of another name has a buffer of its own
  const weaker = await call("memory_wm_decay", { decay_rate: 0.5 });
  assert.ok(Math.abs(weaker.average_attention - status.result.average_attention / 2) < 1e-9);
  const consolidated = await call("memory_wm_consolidate");
  assert.deepEqual([consolidated.consolidated, consolidated.kept, consolidated.memory_ids.length], [3, 4, 3]);

  // Postgres talk, then holiday talk.
  assert.equal((await call("memory_detect_boundary", { content: "The postgres index on orders grew again." })).type, "none");
  const shift = await call("memory_detect_boundary", { content: "Where do we spend the summer holiday, Lisbon?" });
  assert.equal(shift.type, "topic_shift");
  assert.ok(Math.abs(shift.confidence - (1 - shift.topic_similarity)) < 1e-9);
  const linked = await call("memory_process_boundary", { boundary_type: "topic_shift" });
  assert.equal(linked.links.length, 3);

  // The end of a session with five items makes five memories.
  await call("memory_wm_add", { content: "A fifth thought." });
  const before = await call("memory_wm_status");
  const end = await call("memory_process_boundary", { boundary_type: "session_end" });
  assert.deepEqual([before.count, end.memory_ids.length], [5, 5]);
  assert.equal((await call("memory_wm_status")).count, 0);
  assert.equal((await refused("memory_process_boundary", { boundary_type: "sunset" })).code, "invalid_argument");
}
