// node family_test.mjs raw.wasm
import assert from "node:assert/strict";
import { Fake } from "../../../sdk/assemblyscript/testing.mjs";

const config = { tag: "card" }, card = (key, review) => ({ namespace: "default", key, value: key, tags: ["card"], version: 7, metadata: review ? { review } : {} });
let patched;
const cards = (list) => new Fake(process.argv[2], {
  "memory.list": ({ filter, after }) => (assert.deepEqual(filter, { tags: ["card"] }), after ? { memories: list.slice(2) } : { memories: list.slice(0, 2), next: list.length > 2 ? "more" : "" }),
  "memory.get": ({ keys }) => ({ memories: [list.find((m) => m.key == keys[0]) ?? null] }),
  "memory.patch": (r) => ((patched = r.patches[0]), { patched: [] }),
}, config);

// What is due, on all pages, the longest overdue after what was never reviewed.
const deck = cards([card("b", { due: "2026-05-30" }), card("later", { due: "2026-06-02" }), card("new"), card("a", { due: "2026-06-01" })]);
const found = deck.tool("memory_review_due", {});
assert.deepEqual(found.cards.map((c) => [c.key, c.due]), [["new", "2026-06-01"], ["b", "2026-05-30"], ["a", "2026-06-01"]]);
assert.equal(found.total, 3);
assert.equal(deck.tool("memory_review_due", { limit: 1 }).cards.length, 1);

// The intervals of SM-2: 1 day, 6 days, then by the ease; from the beginning after what was forgotten.
let review;
const graded = (grade) => (review = cards([card("c", review)]).tool("memory_review_grade", { key: "c", grade }));
assert.deepEqual(graded(5), { due: "2026-06-02", days: 1, times: 1, ease: 260 });
assert.deepEqual(patched, { key: "c", metadata: { review }, if_version: 7 });
assert.deepEqual(graded(4), { due: "2026-06-07", days: 6, times: 2, ease: 260 });
assert.deepEqual(graded(3), { due: "2026-06-17", days: 16, times: 3, ease: 246 });
assert.deepEqual(graded(0), { due: "2026-06-02", days: 1, times: 0, ease: 166 });
for (let i = 0; i < 5; i++) graded(0);
assert.equal(review.ease, 130);
review = { due: "2026-06-01", days: 3000, times: 9, ease: 250 };
assert.deepEqual(graded(4), { due: "2036-05-29", days: 3650, times: 10, ease: 250 });

assert.throws(() => deck.tool("memory_review_grade", { key: "nothing", grade: 3 }), { code: "not_found" });
const other = cards([{ ...card("note"), tags: [] }]);
assert.throws(() => other.tool("memory_review_grade", { key: "note", grade: 3 }), { code: "invalid_argument" });
