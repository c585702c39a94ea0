"""What becomes of 1,000 random memories in 400 days, for TestEveryStateIsThatOfTheOracle.

    python3 oracle.py > states.json

Written from the specification of the family, not from its code. The memories are drawn on both sides from the same generator, splitmix64.
Times are days; a memory is created at a quarter of every fifth day, and recalled at half of one.
"""
import json
import sys

MEMORIES, DAYS, STEP, SEED = 1000, 400, 25, 14
TYPES = ["decision", "error", "insight", "correction", "steering_rule", "learning", "session_summary", "plan", "observation", "note", "recipe"]
RATE = {"decision": 0.998, "error": 0.995, "correction": 0.995, "insight": 0.997, "steering_rule": 0.999, "learning": 0.996,
        "session_summary": 0.99, "plan": 0.995, "observation": 0.99}
WEIGHT = {"decision": 0.8, "error": 0.7, "insight": 0.75, "correction": 0.7, "steering_rule": 0.85, "learning": 0.65,
          "session_summary": 0.6, "plan": 0.6, "observation": 0.5, "note": 0.4}
LIFE = {"short": 0.25, "mid": 7.0}
EXTEND = {"short": 1 / 24, "mid": 1.0}


class Draw:
    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return (z ^ (z >> 31)) % n


def make():
    draw, memories = Draw(SEED), []
    for n in range(MEMORIES):
        m = {"n": n, "type": TYPES[draw.below(len(TYPES))], "day": 5 * draw.below(DAYS // 5)}
        m["importance"] = draw.below(11) / 20 if draw.below(3) > 0 else None
        m["pinned"] = draw.below(10) == 0
        m["turn"] = draw.below(20) == 0
        m["contradicted"] = draw.below(3) == 0
        m["emotion"] = draw.below(5) / 4 if draw.below(4) == 0 else 0.0
        m["tier"] = ["short", "mid"][draw.below(2)] if draw.below(12) == 0 else None
        m["supersedes"] = draw.below(n) if n > 0 and draw.below(2) == 0 else None
        m["reads"] = sorted(5 * draw.below(DAYS // 5) for _ in range(draw.below(4) * draw.below(3)))
        memories.append(m)
    for m in memories:
        of = m["supersedes"]
        if of is not None and memories[of]["tier"] is not None:
            m["supersedes"] = None  # what expires is not superseded, so that the order of both jobs does not matter
        m["created"] = m["day"] + 0.25
        m["reads"] = [day + 0.5 for day in m["reads"] if day > m["day"]]
        m["state"], m["seen"] = "active", []
        m["expires"] = m["created"] + LIFE[m["tier"]] if m["tier"] else None
    return memories


def read(memories, since, now):
    """What has expired is not found, and not counted; the expiry changes only when the expired are collected."""
    for m in memories:
        m["seen"] += [r for r in m["reads"] if since < r <= now and (m["expires"] is None or r < m["expires"])]


def collect(memories, now):
    for m in memories:
        if m["created"] > now or m["state"] != "active" or m["expires"] is None:
            continue
        reads = m["seen"]
        if m["tier"] == "mid" and len(reads) >= 5:
            m["tier"], m["expires"] = "long", None
            continue
        if m["pinned"]:
            m["expires"] = None
            continue
        later = max([m["expires"]] + [r + EXTEND[m["tier"]] for r in reads])
        if later > now:
            m["expires"] = later
        else:
            m["state"], m["expires"] = "archived", None


def forget(memories, now):
    there = [m for m in memories if m["created"] <= now]
    visible = [m for m in there if m["state"] == "active" and (m["expires"] is None or m["expires"] > now)]
    superseded = {m["supersedes"] for m in visible if m["supersedes"] is not None}
    for m in visible:
        age = now - m["created"]
        reads = m["seen"]
        idle = now - max([m["created"]] + reads)
        relevance = max(0.01, RATE.get(m["type"], 0.99) ** (idle / (1 + 0.5 * m["emotion"])))
        importance = m["importance"] if m["importance"] is not None else WEIGHT.get(m["type"], 0.5)
        score = 0.2 * (1 - relevance)
        score += 0.3 if m["n"] in superseded else 0
        score += 0.2 if len(reads) < 2 and age > 30 else 0
        score += 0.2 if importance < 0.3 else 0
        score += 0.1 if m["contradicted"] else 0
        if m["pinned"] or m["turn"] or m["type"] == "steering_rule" or (age < 30 and m["n"] not in superseded):
            continue
        if score > 0.7:
            m["state"] = "archived"


def main():
    memories, steps = make(), []
    for day in range(STEP, DAYS + 1, STEP):
        read(memories, day - STEP, day)
        collect(memories, day)
        forget(memories, day)
        steps.append({"day": day, "there": sum(m["created"] <= day for m in memories),
                      "archived": [m["n"] for m in memories if m["created"] <= day and m["state"] == "archived"]})
    json.dump({"memories": MEMORIES, "days": DAYS, "seed": SEED, "steps": steps}, sys.stdout, separators=(",", ":"))
    print()


main()
