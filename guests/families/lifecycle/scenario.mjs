// The acceptance of the family lifecycle that needs no moved clock, run by host/integration/clients.
export const family = "lifecycle";
export const intent = "archive stale memories and restore them";

export async function run({ assert, call, refused, operation, post, namespace }) {
  await call("memory_store", { key: "harbour", value: "The harbour opens at six." });
  await call("memory_store", { key: "harbour2", value: "The harbour opens at seven." });
  const search = async () => (await call("memory_search", { query: "harbour" })).results.map((r) => r.key).sort();

  const archived = await call("memory_archive_fact", { factId: "harbour", reason: "outdated" });
  if (!archived.version) {
    // A family of the program may only propose what it asks to propose: the operator grants writing by calls.
    assert.equal(archived.factId, `${namespace}#harbour`);
    assert.deepEqual(await search(), ["harbour", "harbour2"]);
  }
  const stale = await call("memory_find_stale", { olderThanDays: 0, maxImportance: 1 });
  assert.deepEqual(stale.facts, []); // nothing is stale that is young
  const preview = await call("memory_forget_matching", { pattern: "harbour opens" });
  assert.equal(preview.archived, 0);
  assert.ok(preview.matched >= 1);
  assert.equal((await refused("memory_forget_matching", {})).code, "invalid_argument");
  assert.equal((await refused("memory_promote", { id: "harbour2", to_namespace: "elsewhere" })).code, "invalid_argument");
  assert.equal((await refused("memory_archive_fact", { factId: "none" })).code, "not_found");
  assert.equal((await operation("gc", {}, { dry_run: true })).result.archived, 0);
  const posted = await post({ method: "archive_stats" });
  if (posted) assert.equal(typeof posted.result.total, "number");
}
