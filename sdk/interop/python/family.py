"""The conformance guest in Python. Its manifest is that of all languages."""
import alcove
from alcove import fail, propose, refuse

alcove.family(name="interop", description="Conformance of the SDKs")


@alcove.tool
def memory_interop_echo(c, text="", count=0, ratio=0, flag=False, list=None, **more):
    return dict({"text": text, "count": count, "ratio": ratio, "flag": flag, "list": list or []}, **more)


@alcove.tool
def memory_interop_fail(c, code, message):
    fail(code, message, details={"where": "here"})


@alcove.tool
def memory_interop_panic(c, text):
    raise Exception(text)


@alcove.tool
def memory_interop_memory(c, key):
    c.memory.put(items=[{"key": key, "value": "tea", "tags": ["drink"], "type": "fact", "importance": 0.5, "metadata": {"n": 1}}])
    memories = c.memory.get(keys=[key, "nothing"])["memories"]
    hits = c.memory.search(query="tea", k=3)["hits"]
    missing = ""
    try:
        c.branch.list()
    except alcove.AlcoveError as e:
        missing = e.code
    return {"found": [m["key"] if m else "-" for m in memories], "importance": memories[0]["importance"], "total": len(hits), "missing": missing}


@alcove.tool
def memory_interop_raw(c, op, request=None):
    return {"answer": c.call(op, request)}


@alcove.tool
def memory_interop_context(c):
    c.log("the word is", c.config["word"])
    return {"caller": c.context["caller"], "namespace": c.context["namespace"], "branch": c.context["branch"], "now": c.context["now"], "word": c.config["word"]}


@alcove.hook("store")
def store(c, entries):
    changes = []
    for e in entries:
        value = e.get("value")
        if e.get("change") == "delete":
            return refuse("it stays")
        if value == "no":
            return refuse("no means no")
        if value == "maybe":
            return propose("perhaps", [None])
        if value == "broken":
            fail("unavailable", "it is broken")
        changes.append({"value": "[hidden]", "tags": e.get("tags", []) + ["redacted"]} if value == "secret" else None)
    return changes


@alcove.hook("stored")
def stored(c, entries):
    for e in entries:
        c.log("stored", e["key"])


@alcove.hook("rank", features=["lexical", "semantic"])
def rank(c, ranking):
    lexical, semantic = ranking.columns["lexical"], ranking.columns["semantic"]
    return [2 * lexical[i] + (semantic[i] if semantic[i] == semantic[i] else 0) for i in range(ranking.count)]


@alcove.hook("embed", model="interop", dimensions=3)
def embed(c, texts, purpose):
    return [[len(text.encode()), 0.5, -1] for text in texts]


@alcove.job
def tidy(c, payload):
    return {"done": payload.get("n", 0)}
