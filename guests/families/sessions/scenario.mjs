// The acceptance of the family sessions, run by host/integration/clients.
export const family = "sessions";
export const intent = "save a checkpoint of my work session and resume from it";

export async function run({ assert, call, refused, operation, post, namespace, another }) {
  await call("memory_store", { key: "rule", value: "Never deploy on Friday.", type: "steering_rule", importance: 0.9 });
  await call("memory_store", { key: "port", value: "The port is 9742.", type: "observation", importance: 0.6 });

  // A client is killed between a checkpoint and its close; this one goes on with the same facts, whatever changed since.
  const killed = await another();
  const { sessionId, memories, rules, unclean } = await killed.call("memory_session_start", { contextSummary: "the release" });
  assert.deepEqual([memories.length, rules.length, unclean], [1, 1, false]);
  const saved = await killed.call("memory_save_checkpoint", { summary: "Half of it is done." });
  assert.deepEqual([saved.factCount, saved.sessionId], [2, sessionId]);
  await killed.kill();
  await call("memory_store", { key: "port", value: "The port is 1." });
  await call("memory_forget", { key: "rule" });
  const awake = await call("memory_wake");
  assert.equal(awake.checkpointId, saved.checkpointId);
  assert.equal(awake.unclean, true);
  assert.equal(awake.summary, "Half of it is done.");
  assert.deepEqual(awake.context.map((f) => f.content), ["Never deploy on Friday.", "The port is 9742."]);
  assert.match(awake.whoIWas, /, working on: the release$/);
  const next = await call("memory_session_start", { parentSession: awake.sessionId });
  assert.deepEqual([next.unclean, next.checkpointId], [true, saved.checkpointId]);

  // A handoff waits until it is acknowledged.
  const me = awake.whoIWas.split(",")[0];
  const { handoffId } = await call("memory_record_handoff", { toAgent: me, contextSummary: "the review", factIds: ["port"], openItems: ["sign it"] });
  const begun = await call("memory_session_start");
  assert.deepEqual(begun.handoffs.map((h) => [h.handoffId, h.factIds, h.openItems]), [[handoffId, [`${namespace}#port`], ["sign it"]]]);
  assert.equal((await call("memory_get_handoffs", { agentId: me, acknowledge: true })).handoffs.length, 1);
  assert.equal((await call("memory_get_handoffs", { agentId: me })).handoffs.length, 0);

  // A budget of 500 holds, and the best fact is there.
  for (let i = 0; i < 12; i++) await call("memory_store", { key: `q${i}`, value: `quartz ${i} ${"is a mineral of silicon and oxygen ".repeat(10)}`, importance: i / 12 });
  const packed = await call("memory_pack_context", { topic: "quartz", tokenBudget: 500 });
  assert.ok(packed.usedTokens <= 500 && packed.facts.length > 0 && packed.dropped > 0, JSON.stringify(packed));
  assert.ok(!packed.facts.some((f) => f.budget_overflow));

  // A conversation is replayed from one of its turns.
  const { conversationId } = await call("memory_create_conversation", { sessionId: begun.sessionId, participants: [me] });
  await call("memory_add_to_conversation", { conversationId, turn: { role: "user", content: "Which obsidian knife?" } });
  await call("memory_add_to_conversation", { conversationId, factId: "port" });
  const { results } = await call("memory_search", { query: "obsidian knife" });
  const { conversations } = await call("memory_replay", { memory_id: results[0].key });
  assert.deepEqual([conversations.length, conversations[0].turns[0].content, conversations[0].factIds], [1, "Which obsidian knife?", [`${namespace}#port`]]);
  assert.deepEqual(await call("memory_delete_conversation", { id: conversationId }), { success: true, entityId: conversationId, id: conversationId });
  assert.equal((await refused("memory_delete_conversation", { id: conversationId })).code, "not_found");

  // The end of a session is a summary; its checkpoints are clean.
  const closed = await call("memory_close_session", { sessionId, summary: "Released." });
  const { value } = await call("memory_recall", { key: closed.summaryFactId });
  assert.match(value, /Released\.$/);
  assert.equal((await call("memory_wake")).unclean, false);
  assert.equal((await call("memory_delete_session", { id: sessionId, hard: true })).success, true);
  assert.equal((await refused("memory_close_session", { sessionId })).code, "not_found");

  const rehearsed = await operation("save_checkpoint", {}, { dry_run: true });
  assert.equal(rehearsed.metadata.dry_run, true);
  assert.equal((await call("memory_wake")).checkpointId, saved.checkpointId);
  const posted = await post({ method: "pack_context", params: { topic: "quartz", profile: "incident" } });
  if (posted) assert.equal(posted.result.budget, 3200);
}
