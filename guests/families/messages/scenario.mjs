// The acceptance of the family messages, run by host/integration/clients.
export const family = "messages";
export const intent = "say something to the other agents here, and hear what they said";

export async function run({ assert, call, refused, operation, post }) {
  const namespace = `room-${Math.random().toString(36).slice(2)}`;
  const mine = await call("memory_say", { message: "Hello meeting room", namespace });
  assert.ok(mine.sequence > 0 && mine.message_id.startsWith("msg:"));
  const own = await call("memory_hear", { namespace });
  assert.deepEqual([own.messages, own.last_heard, own.more_available, own.messages_lost], [[], mine.sequence, false, false]);

  // Another agent answers over plain HTTP, and says something to itself that this one must not hear.
  const answered = await post({ method: "say", params: { message: "Hello yourself" }, options: { namespace } });
  if (answered) {
    assert.equal(answered.error ?? null, null);
    const heard = await call("memory_hear", { last_heard: mine.sequence, namespace });
    if (heard.messages.length > 0) {
      assert.deepEqual(heard.messages.map((m) => m.content), ["Hello yourself"]);
      assert.deepEqual(await call("memory_hear", { last_heard: mine.sequence, namespace }), heard);
      assert.equal((await call("memory_hear", { last_heard: heard.last_heard, namespace })).messages.length, 0);
    }
    await post({ method: "say", params: { message: "psst", recipients: ["nobody-else"] }, options: { namespace } });
    const after = await call("memory_hear", { last_heard: heard.last_heard, namespace });
    assert.ok(!after.messages.some((m) => m.content === "psst"));
  }
  const elsewhere = await call("memory_hear", { namespace: `${namespace}-next` });
  assert.equal(elsewhere.messages.length, 0);
  const here = await operation("who_is_here", {}, { namespace });
  assert.ok(here.result.agents.some((a) => a.last_seen));

  const me = (await call("memory_whoami")).agentId;
  assert.equal((await refused("memory_notify", { target_agent_id: `nobody-${namespace}`, title: "t", payload: 1 })).code, "not_found");
  const { notificationId } = await call("memory_notify", { target_agent_id: me, title: "Review", payload: { n: 1 }, namespace });
  const waiting = await call("memory_inbox", { namespace, limit: 500 });
  assert.ok(waiting.notifications.some((n) => n.notificationId === notificationId && n.payload.n === 1));
  assert.equal((await refused("memory_mark_notifications_read", { notificationIds: "ntf:none", namespace })).code, "not_found");
}
