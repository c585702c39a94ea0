// The acceptance of the family vault, run by host/integration/clients.
export const family = "vault";
export const intent = "export my facts as Markdown notes and import the edited files";

export async function run({ assert, call, refused, operation, namespace }) {
  const store = (key, value, tags) => call("memory_store", { key, value, tags, type: "decision" });
  await store("store", "The event store uses PostgreSQL.", ["db"]);
  await store("cache", "The cache uses Redis.", ["db"]);

  // Inline: a client without file access passes the files itself. An unchanged round trip writes nothing.
  const { files, count } = await call("memory_export_facts_to_vault", {});
  assert.equal(count, 2);
  const at = (word) => files.find((f) => f.path.includes(word));
  assert.match(at("postgresql").path, /\/decisions\/\d{4}-\d\d-\d\d-decision-the-event-store-uses-postgresql\.md$/);
  assert.ok(at("postgresql").path.startsWith(`${namespace}/`));
  const versions = async () => Promise.all(["store", "cache"].map(async (key) => (await call("memory_recall", { key })).version));
  const before = await versions();
  const same = await call("memory_import_vault_to_facts", { files: files.map(({ path, content }) => ({ path, content })) });
  assert.equal(same.unchanged, 2);
  assert.equal(same.imported + same.updated, 0);
  assert.deepEqual(await versions(), before);

  // The body is edited in the file, a tag in memory: both are kept.
  const edited = { path: at("postgresql").path, content: at("postgresql").content.replace("PostgreSQL", "PostgreSQL 18") };
  await store("store", "The event store uses PostgreSQL.", ["db", "mine"]);
  const rehearsed = await operation("memory_import_vault_to_facts", { files: [edited] }, { dry_run: true });
  assert.equal(rehearsed.result.updated, 1);
  assert.equal((await call("memory_import_vault_to_facts", { files: [edited] })).updated, 1);
  const merged = await call("memory_recall", { key: "store" });
  assert.equal(merged.value, "The event store uses PostgreSQL 18.");
  assert.deepEqual([...merged.tags].sort(), ["db", "mine"]);

  // What both sides changed is a conflict with both texts, until somebody says what counts.
  const theirs = { path: at("redis").path, content: at("redis").content.replace("Redis", "Valkey") };
  await store("cache", "The cache uses memcached.", ["db"]);
  const { conflicts } = await call("memory_import_vault_to_facts", { files: [theirs] });
  assert.deepEqual(conflicts.map((c) => [c.field, c.file, c.memory]), [["content", "The cache uses Valkey.", "The cache uses memcached."]]);
  assert.equal((await call("memory_recall", { key: "cache" })).value, "The cache uses memcached.");
  assert.equal((await call("memory_import_vault_to_facts", { files: [theirs], on_conflict: "file" })).updated, 1);
  assert.equal((await call("memory_recall", { key: "cache" })).value, "The cache uses Valkey.");

  // A file without an id is a new fact, and a search answers with paths.
  const added = await call("memory_import_vault_to_facts", { files: [{ path: "plans/trip.md", content: "---\ntags: [travel]\n---\nWe sail to the sea in July.\n" }] });
  assert.equal(added.imported, 1);
  const { results } = await call("memory_query_vault", { query: "sail to the sea" });
  assert.match(results[0].path, /\/plans\/.*-plan-we-sail-to-the-sea-in-july\.md$/);
  assert.equal((await call("memory_query_vault", { query: "sail", as_of: `v${before[0]}` })).results.length, 0);

  // No path leads out of the vault, and without a root there is no mirror.
  assert.equal((await refused("memory_import_vault_to_facts", { files: [{ path: "../x.md", content: "x" }] })).code, "invalid_argument");
  assert.ok(["unavailable", "denied"].includes((await refused("memory_export_facts_to_vault", { target: "mirror" })).code));
}
