"""What the family facts reads of texts, and the importance of facts, written from their specification.

The specification names the first word of each list; the others are synonyms. A cue is a word, or two that follow each other. A negation of the
three words before a cue, in its sentence, takes its meaning away, unless it emphasises (no doubt, not only). A doubt or a hedge is one of the six words
before a cue, in its sentence and behind any "but". Reads JSON lines {"of": NAME, "with": [...]}, answers one line each.
"""
import functools
import json
import math
import re
import sys

CONTEXTS = [
    (1, "critical crucial vital essential urgent life-changing paramount indispensable"),
    (0.75, "significant important major meaningful valuable serious considerable key high"),
    (0.5, "interesting notable noteworthy curious relevant useful medium moderate"),
    (0.25, "routine normal ordinary everyday usual common regular standard minor low"),
    (0, "trivial unimportant insignificant negligible irrelevant meaningless fleeting nothing"),
]
EMOTIONS = [
    ("frustrated", 0.7, "frustrated frustrating frustration annoyed annoying annoyance stuck irritated irritating exasperated fed-up infuriating"),
    ("confident", 0.55, "confident confidence certain sure definitely certainly convinced undoubtedly"),
    ("proud", 0.5, "proud pride proudly accomplished achievement accomplishment delighted thrilled"),
    ("surprised", 0.45, "surprised surprising surprise surprisingly unexpected unexpectedly astonished astonishing astonishingly shocked"),
]
CRITICAL = ("critical crucial must never always security vulnerability breach outage production blocker breaking incident data-loss architecture "
            "invariant mandatory required")
NOTABLE = ("decided decision chose chosen discovered realized realised learned found important significant prefer prefers should fixed changed plan "
           "planned because noticed notable")
NEGATION = re.compile(r"not|no|never|hardly|barely|without|cannot|nothing|neither|nor|.*n['’]t")
EMPHASIS = {"doubt", "only", "just", "merely"}
DOUBT = {"unsure", "uncertain", "unclear", "doubtful", "wonder", "wondering"}
BELIEF = {"sure", "certain", "convinced", "clear", "think", "believe", "know"}
HEDGE = {"maybe", "perhaps", "possibly", "potentially", "probably", "might", "could", "somewhat", "slightly"}
# A sign inside of a word belongs to it; a point does not before a capital letter, where the blank after a sentence is missing.
WORD = re.compile(r"[^\W_]+(?:(?:['’_/]|\.(?![A-ZÄÖÜ])|(?<=\d),(?=\d))[^\W_]+)*")


@functools.lru_cache(4)
def sentences(text, most):
    """The words of each sentence of the first bytes of a text."""
    text = text.encode()[:most].decode(errors="ignore")
    found, end = [[]], 0
    for m in WORD.finditer(text):
        if re.search(r"[.!?:\n]", text[end:m.start()]):
            found.append([])
        found[-1].append(re.sub("['’]s$", "", m.group().lower()))
        end = m.end()
    return found


@functools.lru_cache(None)
def cues(phrases):
    """Cues of one word, and of two."""
    found = [tuple(p.split("-")) for p in phrases.split()]
    return {c[0] for c in found if len(c) == 1}, {c for c in found if len(c) == 2}


def standing(sentence, i):
    """What a sentence makes of its word i: whether it negates it, doubts it, hedges it."""
    negates = [bool(NEGATION.fullmatch(w)) for w in sentence]
    negated = any(negates[j] and sentence[j + 1] not in EMPHASIS for j in range(max(0, i - 3), i))
    first = max(0, i - 6)
    for j in range(first, i):
        if sentence[j] == "but":
            first = j + 1
    doubted = False
    for j in range(first, i):
        denied = any(negates[max(0, j - 2):j])
        doubted |= sentence[j] in DOUBT or sentence[j] in ("doubt", "doubts") and not denied or sentence[j] in BELIEF and denied
    return negated, doubted, any(w in HEDGE for w in sentence[first:i])


def occurrences(text, most, phrases):
    """Each cue of a text, as what its sentence makes of it. The second word of a cue may begin a sentence."""
    said = sentences(text, most)
    flat = [w for s in said for w in s]
    singles, pairs = cues(phrases)
    seen, at = [], 0
    for sentence in said:
        for i, w in enumerate(sentence):
            if w in singles or tuple(flat[at + i:at + i + 2]) in pairs:
                seen.append(standing(sentence, i))
        at += len(sentence)
    return seen


def says(text, most, phrases):
    return [negated for negated, _, _ in occurrences(text, most, phrases)].count(False)


def states(text, phrases):
    return any(not negated and not doubted for negated, doubted, _ in occurrences(text, 8192, phrases))


def context(text):
    found = [(worth, occurrences(text, 2048, phrases)) for worth, phrases in CONTEXTS]
    if any(worth >= 0.5 and negated and not doubted for worth, seen in found for negated, doubted, _ in seen):
        return 0
    for worth, seen in found:
        stated = [hedged for negated, doubted, hedged in seen if not negated and not doubted]
        if stated:
            return (worth + 0.5) / 2 if all(stated) else worth
    return 0.5


def emotion(name, weight, content):
    if name or weight is not None:
        return [name, 0.5 if weight is None else weight]
    counts = [says(content, 8192, phrases) for _, _, phrases in EMOTIONS]
    if not any(counts):
        return ["", 0]
    return list(EMOTIONS[counts.index(max(counts))][:2])


def tier(content):
    if states(content, CRITICAL):
        return ["critical", "structural", 0.9]
    if states(content, NOTABLE):
        return ["notable", "potential", 0.78]
    return ["background", "contextual", 0.7]


def importance(given, weight, feeling, entities, content):
    if given is not None:
        return given
    length = 0.9 if len(content) < 20 else 0.95 if len(content) > 2000 else 1
    return min(1.0, max(0.0, (weight + 0.2 * feeling + min(0.1, 0.05 * math.log(1 + entities))) * length))


def main():
    rules = {f.__name__: f for f in (context, emotion, tier, importance)}
    for line in sys.stdin:
        case = json.loads(line)
        print(json.dumps(rules[case["of"]](*case["with"])))


main()
