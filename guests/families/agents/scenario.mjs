// The acceptance of the family agents, run by host/integration/clients.
export const family = "agents";
export const intent = "who can do what here, and share a scope with another agent";

export async function run({ assert, call, refused, operation, post }) {
  const me = await call("memory_whoami");
  const first = await call("memory_register_agent_core", { name: "Scenario", role: "tester", capabilities: ["postgres", "query tuning"], telos: "to test" });
  assert.equal(first.agentId, me.agentId);
  const again = await call("memory_register", { name: "Scenario", role: "lead" });
  assert.equal(again.created, false);
  const known = await call("memory_whoami");
  assert.deepEqual([known.name, known.role, known.registered], ["Scenario", "lead", true]);

  const matched = await operation("list_agents", { query: "somebody for postgres" });
  assert.deepEqual(matched.result.agents[0].capabilities, ["postgres", "query tuning"]);
  const posted = await post({ method: "list_agents" });
  if (posted) assert.ok(posted.result.agents.some((a) => a.name === "Scenario"));
  assert.match((await call("memory_embed_capabilities", { agentId: me.agentId })).method, /^(vector|lexical)$/);

  const name = `Room ${me.agentId} ${me.sessionId ?? Math.random()}`.replace(/[^A-Za-z0-9 ]/g, "").slice(0, 60);
  const { scopeId } = await call("memory_create_scope", { name, members: "bob", retentionDays: 30 });
  assert.equal((await refused("memory_create_scope", { name })).code, "conflict");
  const { members } = await call("memory_scope_members", { scopeId, add: "eve", remove: ["bob"] });
  assert.ok(members.includes("eve") && !members.includes("bob"));
  const context = await call("memory_get_agent_context", { agentId: me.agentId });
  assert.equal(context.identity.telos, "to test");
  assert.equal(context.scopes.find((s) => s.scopeId === scopeId).retentionDays, 30);
  assert.match((await call("memory_get_agent_context", { agentId: me.agentId, format: "prompt" })).prompt, /You are Scenario/);

  await call("memory_store", { key: "k", value: "held", namespace: scopeId });
  assert.equal((await refused("memory_delete_scope", { scopeId })).code, "conflict");
  assert.deepEqual(await call("memory_delete_scope", { scopeId, force: true }), { success: true, entityId: scopeId, id: scopeId });
  assert.equal((await refused("memory_delete_scope", { scopeId: "no-such-scope" })).code, "not_found");
}
