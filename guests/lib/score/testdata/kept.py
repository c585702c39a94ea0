"""What becomes of the health of memories about websites, day by day, by another implementation than guests/lib/score.

Prints cases for kept_test.go: python3 kept.py > kept.json
"""
import json
import random
from fractions import Fraction as F


def simulate(case):
    """The score as a state that is stepped from event to event, in exact fractions: no counter, no closed form."""
    score, idle_from = F(1), F(0)
    gain, decay, grace = F(case["gain"]), F(case["decay"]), F(case["grace"])
    seen = []
    for event in case["events"]:
        at = F(event["day"])
        lost = F(0)
        if not case["exempt"]:
            # Each day without a recall takes away, from the end of the grace on.
            begin = idle_from + grace
            if at > begin:
                lost = (at - begin) * decay
        now = score - lost
        now = F(0) if now < 0 else F(1) if now > 1 else now
        seen.append(float(now))
        if event["recall"]:
            score = now + gain
            if score > 1:
                score = F(1)
            idle_from = at
    return seen


def main():
    r = random.Random(20260601)
    cases = []
    for _ in range(300):
        day, events = 0.0, []
        for _ in range(r.randint(1, 12)):
            day += r.choice([0, r.random(), r.randint(0, 30), r.uniform(0, 120)])
            events.append({"day": day, "recall": r.random() < 0.6})
        case = {"gain": r.choice([0.05, 0.1, 0, r.random()]), "decay": r.choice([0.01, 0, r.random() / 10]), "grace": r.choice([7, 0, r.uniform(0, 30)]),
                "exempt": r.random() < 0.1, "events": events}
        case["want"] = simulate(case)
        cases.append(case)
    print(json.dumps(cases, separators=(",", ":")))


main()
