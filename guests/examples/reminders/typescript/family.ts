// Cards that come back at growing intervals.
import { fail, family, t, type Call } from "alcove";

interface Card { text: string; days: number; times: number; ease: number; due: number }

const today = () => Math.floor(Date.now() / 86400000);
const keep = (c: Call, card: string, value: Card) => c.record.put({ collection: "cards", items: [{ key: card, value }] });

export default family({
  name: "reminders", version: "1.0.0", description: "Cards that come back at growing intervals.", license: "Apache-2.0", collections: [{ name: "cards" }],
  capabilities: [{ name: "record", scope: ["cards"], reason: "to keep the cards" }],
  tools: {
    reminders_add: {
      description: "Add a card, due today.",
      input: { card: t.string("", { maxLength: 100 }), text: t.string() },
      output: { card: t.string(), due: t.integer() },
      call({ card, text }, c) {
        if (!card) fail("invalid_argument", "name the card");
        keep(c, card, { text, days: 0, times: 0, ease: 250, due: today() });
        return { card, due: today() };
      },
    },
    reminders_review: {
      description: "Grade a card from 0 (forgotten) to 5 (known at once), and set when it is due, in days since 1970.",
      input: { card: t.string(), grade: t.integer("", { minimum: 0, maximum: 5 }) },
      output: { card: t.string(), days: t.integer(), due: t.integer() },
      call({ card, grade }, c) {
        const [record] = c.record.get({ collection: "cards", keys: [card] }).records;
        if (!record) fail("not_found", `there is no card ${card}`);
        let { text, days, times, ease }: Card = record.value;
        times = grade < 3 ? 0 : times + 1;
        days = times < 2 ? 1 : times === 2 ? 6 : Math.floor((days * ease + 50) / 100);
        ease = Math.max(130, ease + 10 - (5 - grade) * (8 + (5 - grade) * 2));
        const due = today() + days;
        keep(c, card, { text, days, times, ease, due });
        return { card, days, due };
      },
    },
    reminders_due: {
      description: "List the cards that are due, by their names.",
      readOnly: true,
      output: { cards: t.list(t.object({ card: t.string(), text: t.string() })) },
      call(input, c) {
        const { records } = c.record.list({ collection: "cards", limit: 1000 });
        return { cards: records.filter((r) => r.value.due <= today()).map((r) => ({ card: r.key, text: r.value.text })) };
      },
    },
  },
});
