"""The formulas of packing and waking, written anew from their description. Reads a JSON line for each example, writes one with the result."""
import json
import sys
from fractions import Fraction


def exact(x):
    return Fraction(x)  # a float is exactly this fraction


def pack(profile, tokens, facts, compact, offload):
    budget = {"planning": Fraction(11, 10), "incident": Fraction(4, 5)}.get(profile, Fraction(1)) * tokens
    budget = budget.numerator // budget.denominator
    total = sum(size for _, size, _ in facts)
    if float(total) < compact * float(budget):
        strategy = "full"
    elif float(total) < offload * float(budget):
        strategy = "compact"
    else:
        strategy = "offload"
    shown, late, left = [], [], budget
    for place, (importance, size, summary) in enumerate(facts):
        short = strategy != "full" and exact(importance) < Fraction(1, 2) and summary and float(summary) < 0.6 * float(size)
        cost = summary if short else size
        if place == 0:
            shown.append([0, cost, bool(short), cost > budget])
            left -= cost
            continue
        if strategy == "offload" and importance < 0.4:
            late.append([place, cost, bool(short), False])
            continue
        if cost > left:
            continue
        shown.append([place, cost, bool(short), False])
        left -= cost
    for fact in late:
        if fact[1] <= left:
            shown.append(fact)
            left -= fact[1]
    return [budget, strategy, shown, budget - left]


def wake(days, facts):
    structural, potential = [], []
    for kind, importance, version, key in facts:
        if kind in ("decision", "steering_rule") or importance >= 0.75:
            structural.append((-importance, -version, key))
        elif importance >= 0.5:
            potential.append((-importance, -version, key))
    structural, potential = sorted(structural), sorted(potential)
    if days <= 0:
        pass
    elif days == 1:
        potential = potential[:5]
    elif days <= 3:
        potential = []
    else:
        structural, potential = structural[:3], []
    return [key for _, _, key in structural + potential]


for line in sys.stdin:
    case = json.loads(line)
    print(json.dumps({"pack": pack, "wake": wake}[case["of"]](*case["with"])))
