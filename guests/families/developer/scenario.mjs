// The acceptance of the family developer, run by host/integration/clients.
import { readFileSync } from "node:fs";

export const family = "developer";
export const intent = "key-value store with transactions and compare-and-swap";

export async function run({ assert, call, refused, namespace, operation }) {
  // Each of Strata's 74 names has its effect, or points to the operator. says is what the answer has at least.
  const table = JSON.parse(readFileSync(new URL("testdata/strata.json", import.meta.url), "utf8"));
  assert.equal(new Set(table.map((row) => row.name).filter((name) => name.startsWith("strata_"))).size, 74);
  const known = { run: namespace, id: namespace.replaceAll("/", "-") };
  const filled = (value) => {
    if (typeof value === "string") return known[value.slice(1)] && value[0] === "$" ? known[value.slice(1)] : value.replaceAll("$run", known.run).replaceAll("$id", known.id);
    if (Array.isArray(value)) return value.map(filled);
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, v]) => [name, filled(v)]));
    return value;
  };
  const within = (got, want, where) => {
    if (want === "$object") return assert.equal(typeof got, "object", where);
    if (typeof want === "string" && want.startsWith("$includes:")) {
      const wanted = filled(want.slice("$includes:".length));
      return assert.ok(got.some((x) => x === wanted || x.name === wanted), `${where}: ${JSON.stringify(got)}`);
    }
    if (Array.isArray(want)) assert.equal(got.length, want.length, `${where}: ${JSON.stringify(got)}`);
    if (want && typeof want === "object") return Object.entries(want).forEach(([name, v]) => within(got?.[name], v, `${where}.${name}`));
    assert.deepEqual(got, filled(want), where);
  };
  for (const row of table) {
    const args = { ...filled(row.arguments), ...("space" in row.arguments && { namespace: undefined }) };
    if (row.refused) {
      const error = await refused(row.name, args);
      assert.equal(error.code, row.refused, `${row.name}: ${JSON.stringify(error)}`);
      assert.ok(error.message.includes(row.points_to), `${row.name}: ${error.message}`);
      continue;
    }
    const answer = await call(row.name, args);
    within(answer, row.says, row.name);
    for (const [name, member] of Object.entries(row.keep ?? {})) known[name] = answer[member];
  }

  // Of two that swap a cell from counter 1 at once, one wins.
  await call("memory_cell", { action: "init", cell: "turn", value: 0 });
  const swaps = await Promise.all(["ann", "bob"].map((value) => call("memory_cell", { action: "cas", cell: "turn", value, expected_counter: 1 })));
  assert.deepEqual(swaps.map((s) => s.swapped).sort(), [false, true]);
  assert.equal((await call("memory_cell", { action: "get", cell: "turn" })).value, swaps[0].swapped ? "ann" : "bob");

  // A conflicting write outside of the transaction: commit names the key and changes nothing.
  const { id, branch } = await call("memory_transaction", { action: "begin" });
  await call("memory_kv", { action: "put", items: [{ key: "x", value: "in" }, { key: "y", value: "in" }], branch });
  await call("memory_kv", { action: "put", key: "x", value: "out" });
  const stopped = await call("memory_transaction", { action: "commit", id });
  assert.deepEqual([stopped.state, stopped.conflicts], ["active", [{ namespace, key: "x", collection: "kv" }]]);
  assert.equal((await call("memory_kv", { action: "get", key: "x" })).value, "out");
  assert.equal((await call("memory_kv", { action: "get", key: "y" })).found, false);
  assert.equal((await call("memory_transaction", { action: "rollback", id })).state, "rolled_back");

  // A mixed tool reads the past, and writes only the present.
  assert.equal((await call("memory_kv", { action: "get", key: "x", as_of: "1h ago" })).found, false);
  assert.equal((await refused("memory_kv", { action: "put", key: "x", value: 1, as_of: "1h ago" })).code, "denied");
  const many = await operation("kv", { action: "get", key: "x" });
  assert.equal(many.result.value, "out");
  assert.equal((await refused("memory_kv", { action: "increment", key: "x" })).code, "invalid_argument");
}
