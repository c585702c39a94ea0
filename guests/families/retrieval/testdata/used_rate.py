"""The use of recalled facts around a change of the configuration, written from its specification, in exact fractions.

The share of used facts is used / (used + unused) over the recalls of the 24 hours before the change, and of those after it. A change is bad
where each side has at least 20 recalls, and the share fell, relative to what it was, by more than the alert. Reads JSON lines, answers one each.
"""
import json
import sys
from fractions import Fraction

DAY = 24 * 60 * 60 * 10**6


def rate(recalls):
    used = sum(u for _, u, _ in recalls)
    rated = used + sum(n for _, _, n in recalls)
    return Fraction(used, rated) if rated else Fraction(0)


def judge(recalls, change, alert):
    earlier = [r for r in recalls if 0 < change - r[0] <= DAY]
    later = [r for r in recalls if 0 <= r[0] - change < DAY]
    before, after = rate(earlier), rate(later)
    fall = 1 - after / before if before and later else Fraction(0)
    worse = min(len(earlier), len(later)) >= 20 and fall > Fraction(repr(alert))
    return {"before": float(before), "after": float(after), "recalls_before": len(earlier), "recalls_after": len(later), "fall": float(fall), "worse": worse}


def main():
    for line in sys.stdin:
        print(json.dumps(judge(**json.loads(line))))


main()
