"""The formulas of working memory, written from their specification. Reads JSON lines {"of": NAME, "with": [...]}, answers one line each."""
import functools
import json
import math
import re
import sys
from fractions import Fraction

REFLECTION = "i think/i realize/i realise/i wonder/i notice/i believe/it seems/i feel like/i understand/i learned"
PLAN = "will/going to/should/plan to/intend to/tomorrow/next/later"
FEELING = "i feel/i'm happy/i'm sad/i'm angry/i'm excited/i'm frustrated/i'm worried/i'm glad/i'm disappointed"
IDEA = "what if/maybe we could/i have an idea/i thought of/we could/it might be"
OPINION = "i prefer/i like/i don't like/in my opinion/i'd rather/better than/worse than"
OBSERVATION = "i see/i observe/i found/i discovered/it appears/looks like"
HEDGES = "maybe/perhaps/might/could be/possibly/probably/i guess/i'm not sure"
KINDS = [("reflection", REFLECTION), ("plan", PLAN), ("feeling", FEELING), ("idea", IDEA), ("opinion", OPINION), ("observation", OBSERVATION)]
PLEASANT = ("happy/great/excellent/wonderful/love/loved/joy/excited/amazing/awesome/fantastic/good/nice/thank/thanks/appreciate/glad")
UNPLEASANT = "sad/angry/hate/terrible/awful/bad/horrible/frustrated/annoyed/disappointed/upset/worried/afraid/fear"
COMMANDING = "must/need to/have to/should/will/going to/definitely/certainly"
UNSURE = "maybe/perhaps/i don't know/not sure/might/could be/possibly"


def words(text):
    return [re.sub("'s$", "", w) for w in re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower())]


@functools.lru_cache(4)
def spoken(text):
    return "/" + "/".join(words(text)) + "/"


def says(text, phrases):
    return any("/" + phrase.replace(" ", "/") + "/" in spoken(text) for phrase in phrases.split("/"))


@functools.lru_cache(4)
def thought(text):
    if text.rstrip().endswith("?"):
        return "question"
    for kind, phrases in KINDS:
        if says(text, phrases):
            return kind
    return "unknown" if len(text.encode()) <= 10 or says(text, HEDGES) else "fact"


@functools.lru_cache(4)
def mood(text):
    valence = 0.6 * (says(text, PLEASANT) - says(text, UNPLEASANT))
    marks = text.count("!")
    arousal = 1.0 if marks > 3 else 0.3 * marks
    letters = [c for c in text if c.isalpha()]
    if len(letters) > 10 and 10 * sum(c.isupper() for c in letters) > 7 * len(letters):
        arousal += 0.4
    dominance = 0.2 if says(text, UNSURE) else 0.8 if says(text, COMMANDING) else 0.5
    return [valence, min(1.0, arousal), dominance]


def distance(one, other):
    return math.dist(mood(one), mood(other))


def similarity(before, after):
    topic = [w for w in words(before) if len(w) >= 4]
    if not topic or not any(len(w) >= 4 for w in words(after)):
        return 1.0
    share = Fraction(sum(w in after.lower() for w in topic), len(topic))
    return min(1.0, float(share) + (0.2 if thought(before) == thought(after) else 0))


def boundary(gap, similar, delta, longest, least, most):
    if gap >= longest:
        return ["temporal_gap", 0.9]
    if similar < least:
        return ["topic_shift", 1 - similar]
    if delta >= most:
        return ["emotional_peak", min(1, delta / 2)]
    return ["none", 0]


def strengthen(attention, score):
    return min(1, attention + score)


def decay(attentions, rate):
    after = [a * (1 - rate) for a in attentions]
    return [after, math.fsum(after) / len(after) if after else 0]


def leave(items, remain):
    """Which thoughts stay, the strongest first, and which leave; of equal ones the last accessed is stronger, then the first in the buffer."""
    ranked = sorted(range(len(items)), key=lambda i: (-items[i][0], -items[i][1], i))
    if len(items) <= remain:
        return [list(range(len(items))), []]
    return [ranked[:remain], ranked[remain:]]


def keep(ratio, capacity):
    return max(1, math.floor(Fraction(repr(ratio)) * capacity))


def due(count, capacity, share, idle, interval):
    return count >= share * capacity or idle >= interval


def patterns(kinds, capacity):
    found = [[k, kinds.count(k), len(kinds)] for k in sorted(set(kinds)) if Fraction(kinds.count(k), len(kinds)) > Fraction(1, 3)]
    return [found if len(kinds) >= 6 else [], len(kinds) / capacity]


def main():
    formulas = [thought, mood, distance, similarity, boundary, strengthen, decay, leave, keep, due, patterns]
    names = {f.__name__: f for f in formulas}
    for line in sys.stdin:
        case = json.loads(line)
        print(json.dumps(names[case["of"]](*case["with"])))


main()
