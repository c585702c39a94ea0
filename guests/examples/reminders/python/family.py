"""Cards that come back at growing intervals."""
from datetime import date

import alcove

alcove.family(name="reminders", version="1.0.0", description="Cards that come back at growing intervals.", license="Apache-2.0", collections=[{"name": "cards"}],
              capabilities=[{"name": "record", "scope": ["cards"], "reason": "to keep the cards"}])


def today():
    return (date.today() - date(1970, 1, 1)).days


def keep(c, card, value):
    c.record.put(collection="cards", items=[{"key": card, "value": value}])


@alcove.tool(input={"card": alcove.t.string("", maxLength=100), "text": str}, output={"card": str, "due": int})
def reminders_add(c: alcove.Call, card: str, text: str):
    """Add a card, due today."""
    if not card:
        alcove.fail("invalid_argument", "name the card")
    keep(c, card, {"text": text, "days": 0, "times": 0, "ease": 250, "due": today()})
    return {"card": card, "due": today()}


@alcove.tool(input={"card": str, "grade": alcove.t.integer("", minimum=0, maximum=5)}, output={"card": str, "days": int, "due": int})
def reminders_review(c: alcove.Call, card: str, grade: int):
    """Grade a card from 0 (forgotten) to 5 (known at once), and set when it is due, in days since 1970."""
    record = c.record.get(collection="cards", keys=[card])["records"][0]
    if record is None:
        alcove.fail("not_found", f"there is no card {card}")
    v = record["value"]
    if grade < 3:
        v["times"], v["days"] = 0, 1
    else:
        v["times"] += 1
        v["days"] = 1 if v["times"] == 1 else 6 if v["times"] == 2 else (v["days"] * v["ease"] + 50) // 100
    v["ease"] = max(130, v["ease"] + 10 - (5 - grade) * (8 + (5 - grade) * 2))
    v["due"] = today() + v["days"]
    keep(c, card, v)
    return {"card": card, "days": v["days"], "due": v["due"]}


@alcove.tool(read_only=True, output={"cards": alcove.t.list(alcove.t.object({"card": str, "text": str}))})
def reminders_due(c: alcove.Call):
    """List the cards that are due, by their names."""
    records = c.record.list(collection="cards", limit=1000)["records"]
    return {"cards": [{"card": r["key"], "text": r["value"]["text"]} for r in records if r["value"]["due"] <= today()]}
