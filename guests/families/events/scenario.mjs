// The acceptance of the family events without an endpoint, run by host/integration/clients. TestEventsReachAReceiverThatWasDown has one.
export const family = "events";
export const intent = "subscribe a webhook endpoint to changes and replay events";

export async function run({ assert, call, refused, operation, post, namespace }) {
  // A poll by watermark sees each change once; an empty one keeps the watermark.
  const poll = (lastWatermark) => call("memory_poll_events", { agentId: "", lastWatermark });
  const { latestWatermark: from } = await call("memory_poll_events", { lastWatermark: 0, limit: 500, eventTypes: ["event_logged"] });
  await call("memory_store", { key: "a", value: "one" });
  await call("memory_forget", { key: "a" });
  const polled = await poll(from);
  const mine = polled.events.filter((e) => e.scopeId === namespace && e.eventType.startsWith("memory_")); // hooks of other families may log
  assert.deepEqual(mine.map((e) => [e.eventType, e.payload.factId]), [["memory_stored", `${namespace}#a`], ["memory_forgotten", `${namespace}#a`]]);
  const empty = await poll(polled.latestWatermark);
  assert.deepEqual([empty.events, empty.latestWatermark, empty.hasMore], [[], polled.latestWatermark, false]);

  // An endpoint is named, never addressed.
  assert.equal((await refused("memory_subscribe", { endpoint: "https://example.com/hook" })).code, "invalid_argument");
  assert.equal((await refused("memory_subscribe", { endpoint: "nowhere" })).code, "not_found");
  assert.deepEqual((await call("memory_list_subscriptions")).subscriptions, []);
  assert.equal((await refused("memory_unsubscribe", { id: "sub:none" })).code, "not_found");
  assert.equal((await refused("memory_subscription_replay", { subscription_id: "sub:none", since: "1h ago" })).code, "not_found");
  assert.deepEqual((await operation("subscription_failures")).result.failures, []);
  const status = await call("memory_get_enrichment_status");
  assert.equal(typeof status.success_rate, "number");
  const posted = await post({ method: "list_subscriptions" });
  if (posted) assert.deepEqual(posted.result.subscriptions, []);
}
