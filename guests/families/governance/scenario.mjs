// The acceptance of the family governance, run by host/integration/clients. The operator has its store hook on refuse.
export const family = "governance";
export const intent = "let another agent approve changes before they are stored, with rules and quotas of a namespace";

export async function run({ assert, call, refused, operation, namespace }) {
  // A memory becomes the rule of the namespace.
  await call("memory_store", { key: "rule", value: "A human looks at each change." });
  const { version } = await call("memory_namespace_set_standard", { namespace, id: "rule", governance: { write: "approve", delete: "approve", approver: "human" } });
  assert.ok(version > 0);
  const { standards } = await call("memory_namespace_get_standard", { namespace: `${namespace}/below`, inherit: true });
  assert.equal(standards[0].namespace, namespace);
  assert.equal(standards[0].content, "A human looks at each change.");
  assert.deepEqual((await call("memory_namespace_get_standard", { namespace: `${namespace}/below` })).standards, []);

  // A write waits: recall finds nothing. The same by an operation, by the family facts, and for deletes.
  await call("memory_store", { key: "tea", value: "Ann drinks tea." });
  assert.equal((await call("memory_search", { query: "Ann drinks tea" })).results.length, 0);
  await operation("store", { key: "milk", value: "Bob drinks milk." });
  await call("memory_store_fact", { content: "The velvet event store uses PostgreSQL.", factType: "decision" });
  await call("memory_forget", { key: "rule" });
  assert.equal((await call("memory_recall", { key: "rule" })).value, "A human looks at each change.");
  assert.equal((await call("memory_search", { query: "velvet" })).results.length, 0);
  const { pending } = await call("memory_pending_list", {});
  assert.deepEqual(pending.map((p) => p.op).sort(), ["delete", "write", "write", "write"]);
  assert.ok(pending.every((p) => p.branch.startsWith("proposals/governance/") && p.approver === "human"));

  // Nobody approves their own, no agent is a human, and no merge or fork goes around it.
  for (const p of pending) {
    assert.equal((await refused("memory_pending_approve", { id: p.id })).code, "denied");
    assert.equal((await refused("memory_branch", { action: "merge", source: p.branch })).code, "denied");
    assert.equal((await refused("memory_branch", { action: "fork", source: p.branch, name: `${p.branch}-copy` })).code, "denied");
  }

  // The author withdraws, and the rule is removed.
  for (const p of pending) assert.equal((await call("memory_pending_reject", { id: p.id, reason: "withdrawn" })).rejected, true);
  assert.equal((await call("memory_pending_list", {})).pending.length, 0);
  assert.equal((await call("memory_pending_list", { status: "rejected" })).pending.length, 4);
  assert.equal((await call("memory_namespace_clear_standard", { namespace })).success, true);
  await call("memory_store", { key: "tea", value: "Ann drinks tea." });
  assert.equal((await call("memory_recall", { key: "tea" })).value, "Ann drinks tea.");
  assert.ok(Array.isArray((await call("memory_quota_status", {})).quotas));
  assert.equal((await refused("memory_verify", { id: "nothing" })).code, "not_found");
}
