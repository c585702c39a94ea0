"""The formulas of package score, written from their specification. Reads JSON lines {"of": NAME, ...}, writes a number for each.

Emotion, relevance, feedback and ratings beyond their range count as the nearest end of it, and counts and ages below zero as zero; sums are
cut to their range at the end.
"""
import json
import math
import sys


def unit(x):
    return 0.0 if x < 0 else 1.0 if x > 1 else x


def importance(weight, emotion, entities, characters):
    length = 0.9 if characters < 20 else 0.95 if characters > 2000 else 1.0
    return unit((weight + 0.2 * unit(emotion) + min(0.1, 0.05 * math.log(1 + max(0, entities)))) * length)


def effective(base, accesses, outcome):
    return unit(base + min(0.05 * max(0, accesses), 0.3) + 0.25 * (outcome - 0.5))


def outcome(health):
    return unit((health + 1) / 2)


def feedback(alpha, v, health):
    # o' = (1 - alpha) * o + alpha * v, where o = (health + 1) / 2; what it adds to the health
    o = (health + 1) / 2
    after = (1 - alpha) * o + alpha * unit(v)
    return (2 * after - 1) - health


def rating(x):
    return unit((x - 1) / 9)


def sentiment(x):
    return unit((x + 1) / 2)


def ten(v):
    return max(1, math.floor(10 * unit(v) + 0.5))


def from_ten(v):
    return unit(v / 10)


def relevance(rate, days, emotion):
    if days <= 0:
        return 1
    if rate == 0:
        return 0.01
    exponent = days / (1 + 0.5 * unit(emotion))
    return max(0.01, math.exp(exponent * math.log(rate)))


def forget(superseded, contradicted, accesses, days, importance, relevance, weights):
    terms = [
        weights[0] if superseded else 0,
        weights[1] if accesses < 2 and days > 30 else 0,
        weights[2] if importance < 0.3 else 0,
        weights[3] if contradicted else 0,
        weights[4] * (1 - unit(relevance)),
    ]
    return math.fsum(terms)


def kept(health, idle, decay, grace, exempt):
    lost = 0 if exempt or idle <= grace else decay * (idle - grace)
    return unit(1 + health - lost)


def recalled(health, idle, decay, grace, exempt, gain):
    return min(1, kept(health, idle, decay, grace, exempt) + gain)


def main():
    names = {"importance": importance, "effective": effective, "outcome": outcome, "feedback": feedback, "rating": rating,
             "sentiment": sentiment, "ten": ten, "from_ten": from_ten, "relevance": relevance, "forget": forget,
             "kept": kept, "recalled": recalled}
    for line in sys.stdin:
        case = json.loads(line)
        print(repr(float(names[case["of"]](*case["with"]))))


main()
