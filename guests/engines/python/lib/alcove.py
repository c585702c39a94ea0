# The module alcove, which families in Python import, and what the engine calls in it: load, and serve with each request. It is part of the engine.
import _alcove

_dumps = _alcove.dumps


class AlcoveError(Exception):
    """An error that reaches the caller with its code. Any other error is internal, and tells where it was raised."""

    def __init__(self, code, message, retryable=None, details=None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = code in ("conflict", "unavailable", "timeout") if retryable is None else retryable
        self.details = details

    def __str__(self):
        return self.message


def fail(code, message, retryable=None, details=None):
    """Fails with a code, as in fail("not_found", "there is no such note")."""
    raise AlcoveError(code, message, retryable, details)


def refuse(reason):
    """The decision of a store hook that nothing is stored."""
    return {"refuse": reason}


def propose(reason, entries=None):
    """The decision of a store hook that everything goes to a branch of proposals."""
    return {"propose": reason} if entries is None else {"entries": entries, "propose": reason}


# Schemas of parameters and results.
class _Schema(dict):
    pass


class _Optional(_Schema):
    pass


def schema_of(given):
    """The schema that is given: a schema, or a type that stands for one."""
    if isinstance(given, dict):
        return given
    name = _types.get(given)
    if name is None:
        raise TypeError("%r is no schema: use alcove.t, or a type" % (given,))
    return {"type": name} if name else {}


_types = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object", object: "", None: ""}


def _of(kind):
    def schema(description="", **more):
        s = _Schema()
        s["type"] = kind
        if description:
            s["description"] = description
        s.update(more)
        return s

    return schema


class t:
    """Schemas. Further keywords are those of JSON Schema, as in t.string("a title", maxLength=100)."""

    string = staticmethod(_of("string"))
    integer = staticmethod(_of("integer"))
    number = staticmethod(_of("number"))
    boolean = staticmethod(_of("boolean"))

    @staticmethod
    def any(description=""):
        return _Schema({"description": description} if description else {})

    @staticmethod
    def list(items, description="", **more):
        return _of("array")(description, items=schema_of(items), **more)

    @staticmethod
    def map(values, description="", **more):
        return _of("object")(description, additionalProperties=schema_of(values), **more)

    @staticmethod
    def object(properties, description="", **more):
        all, required = {}, []
        for name, given in properties.items():
            all[name] = schema_of(given)
            if not isinstance(given, _Optional):
                required.append(name)
        s = _of("object")(description, properties=all)
        if required:
            s["required"] = required
        s.update(more)
        return s

    @staticmethod
    def optional(schema):
        return _Optional(schema_of(schema))


# What was defined, by its name. The source is run once, when an instance starts.
_family = {}
_tools = {}
_hooks = {}
_jobs = {}
_published = None

_hints = {"read_only": "readOnlyHint", "destructive": "destructiveHint", "idempotent": "idempotentHint", "open_world": "openWorldHint", "title": "title"}


def family(**members):
    """Defines the family: name, version, description, capabilities, config, collections and the other members of a manifest."""
    _family.update(members)


def tool(function=None, name=None, **members):
    """Makes a tool of a function. Its parameters are those of the call, behind the call itself."""
    if function is None:
        return lambda f: tool(f, name, **members)
    _tools[name or function.__name__] = (function, members)
    return function


def hook(name, **members):
    """Makes a hook of a function of the call and what it is asked about."""

    def define(function):
        _hooks[name] = (function, members)
        return function

    return define


def job(function=None, name=None, **members):
    """Makes a job of a function of the call and the payload."""
    if function is None:
        return lambda f: job(f, name, **members)
    _jobs[name or function.__name__] = (function, members)
    return function


def published(function):
    """Serves the tools that the family published while it ran: a function of the call, the tool's name and its arguments."""
    global _published
    _published = function
    return function


def _tool_of(name, function, members):
    tool = {"name": name, "description": ""}
    annotations = dict(members.get("annotations", {}))
    given = {}
    for key, value in members.items():
        if key in _hints:
            annotations[_hints[key]] = value
        elif key not in ("annotations", "input", "output"):
            given[key] = value
    found = {}
    if "description" not in given or ("input" not in members and "input_schema" not in given):
        import _describe

        found = _describe.function(function.__name__)
    tool.update({k: v for k, v in found.items() if k in ("description", "docs")})
    tool.update(given)
    if "input_schema" not in tool:
        tool["input_schema"] = t.object(members["input"]) if "input" in members else found["input"]
    if "output" in members and "output_schema" not in tool:
        tool["output_schema"] = t.object(members["output"])
    if annotations:
        tool["annotations"] = annotations
    return tool


def _manifest():
    m = {"abi": 1, "name": "", "version": "0.1.0", "description": ""}
    if "description" not in _family:
        import _describe

        m.update(_describe.module())
    m.update(_family)
    if _tools:
        m["tools"] = [_tool_of(name, f, members) for name, (f, members) in _tools.items()]
    asked = {name: members for name, (f, members) in _hooks.items()}
    if _jobs:
        asked["jobs"] = []
        for name, (f, members) in _jobs.items():
            one = {"name": name}
            one.update(members)
            asked["jobs"].append(one)
    if asked:
        m["hooks"] = asked
    return m


# Operations by name: c.memory.put(items=[...]) is c.call("memory.put", items=[...]).
def operation(op, request=None, **members):
    """Runs an operation by its name. A name that is a word of Python has an underscore behind it: from_ is from."""
    if request is None:
        request = {k.rstrip("_"): v for k, v in members.items()}
    failed, answer = _alcove.call(op, request)
    if not failed:
        return answer
    raise AlcoveError(answer["code"], answer["message"], answer.get("retryable"), answer.get("details"))


class _Space:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, verb):
        op = self._name + "." + verb.rstrip("_")

        def run(request=None, **members):
            return operation(op, request, **members)

        setattr(self, verb, run)
        return run


_spaces = {}


class Call:
    """What a function is given beside its input. The time is that of the request from then on."""

    def __init__(self, request, now=None):
        self.context = request["context"]
        self.config = request["config"]
        self.input = request.get("input")
        _at(now or self.context["now"])

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        space = _spaces.get(name)
        if space is None:
            space = _spaces[name] = _Space(name)
        return space

    def call(self, op, request=None, **members):
        return operation(op, request, **members)

    def log(self, *values):
        print(*values)

    def new_id(self, prefix=""):
        """A prefix and 26 characters that sort by the time of the request. A request that is repeated makes the same ids."""
        text, ms = "", _now // 1000000
        for _ in range(10):
            text = _crockford[ms % 32] + text
            ms //= 32
        for _ in range(16):
            text += _crockford[_alcove.bits() % 32]
        return prefix + text

    def memories(self, **request):
        """All memories of a listing, page by page."""
        while True:
            page = operation("memory.list", request)
            yield from page["memories"]
            if not page.get("next"):
                return
            request["after"] = page["next"]


_crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_now = 0  # nanoseconds since 1970


def now_ns():
    """The time of the request, in nanoseconds since 1970. At load it is 0."""
    return _now


def _at(text):
    global _now
    _now = _alcove.instant(text)


# The forms of requests: of each object, the members with their types, and whether they may be absent. A type in brackets is a list of it,
# and a text the name of an object.
# generated: begin
# By abi/gen from abi.json. Do not edit.
_forms = {
    "input": (
        ("can", [str], False),
        ("answers", dict, True),
        ("state", str, True),
    ),
    "context": (
        ("family", str, False),
        ("caller", str, False),
        ("namespace", str, False),
        ("branch", str, False),
        ("now", str, False),
        ("request_id", str, False),
        ("dry_run", bool, True),
        ("operator", bool, True),
        ("proposal", str, True),
    ),
    "entry": (
        ("namespace", str, False),
        ("collection", str, False),
        ("key", str, False),
        ("change", str, True),
        ("version", float, True),
        ("deleted", bool, True),
        ("agent", str, True),
        ("family", str, True),
        ("state", str, True),
        ("value", object, True),
        ("tags", [str], True),
        ("type", str, True),
        ("importance", float, True),
        ("metadata", dict, True),
        ("links", [str], True),
        ("supersedes", [str], True),
    ),
    "merge_notice": (
        ("source", str, False),
        ("target", str, False),
        ("version", float, False),
        ("agent", str, True),
        ("count", float, False),
        ("keys", ["merge_key"], False),
    ),
    "merge_key": (
        ("namespace", str, False),
        ("key", str, False),
        ("deleted", bool, True),
    ),
    "session": (
        ("session", str, False),
        ("agent", str, True),
        ("client", str, True),
        ("began_at", str, False),
        ("calls", float, False),
        ("ended_at", str, True),
        ("namespace", str, False),
        ("branch", str, False),
        ("last_at", str, True),
    ),
    "tool_request": (
        ("tool", str, False),
        ("arguments", object, False),
        ("config", object, False),
        ("input", "input", True),
        ("context", "context", False),
    ),
    "hook_request": (
        ("hook", str, False),
        ("entries", ["entry"], True),
        ("merge", "merge_notice", True),
        ("session", "session", True),
        ("job", str, True),
        ("payload", object, True),
        ("config", object, False),
        ("context", "context", False),
    ),
    "score_params": (
        ("config", object, False),
        ("now", str, False),
        ("query", str, False),
        ("context", "context", False),
    ),
    "embed_request": (
        ("texts", [str], False),
        ("purpose", str, False),
        ("config", object, False),
        ("context", "context", False),
    ),
}
# generated: end


# The request that is served, and the form that it is to have.
_asked = _form = None


def _fault(value, kind):
    """What is wrong with a value that is to be of a type; empty: nothing."""
    if isinstance(kind, str):
        return _fault_of_members(value, _forms[kind]) if isinstance(value, dict) else " is no object"
    if isinstance(kind, list):
        return _fault_in(value, kind[0]) if isinstance(value, list) else " is no list"
    if isinstance(value, kind) or kind is float and isinstance(value, int):
        return ""
    return " is no " + _types[kind]


def _fault_in(values, kind):
    for i, value in enumerate(values):
        fault = _fault(value, kind)
        if fault:
            return "[%d]%s" % (i, fault)
    return ""


def _fault_of_members(value, members):
    for name, kind, optional in members:
        if name in value:
            fault = _fault(value[name], kind)
            if fault:
                return "." + name + fault
        elif not optional:
            return " has no " + name
    return ""


def _fault_of_request():
    """What is wrong with the request that is served. Functions rely on its form. Most requests are looked through when a function has failed,
    and not before."""
    if _form is None:
        return ""
    fault = _fault(_asked, _form) or ("" if isinstance(_asked["config"], dict) else ".config is no object")
    return fault[1:] if fault.startswith(".") else fault and "the request" + fault


def _list_of(request, name):
    """A list of a request. An empty one may be null, as programs in Go write it, or absent."""
    values = request.get(name)
    if values is not None and not isinstance(values, list):
        fail("invalid_argument", name + " is no list")
    return values or []


def _unknown(what, name):
    fail("not_found", "this family has no %s %s" % (what, _dumps(name, None, ",", ":", False, False, None)))


def _on_tool(request):
    if request.get("tool") == "alcove:manifest":
        return _manifest()
    name, given = request.get("tool"), request.get("arguments", {})
    if not isinstance(given, dict):
        fail("invalid_argument", "arguments is no object")
    if name not in _tools:
        return _published(Call(request), name, given) if _published else _unknown("tool", name)
    return _called(_tools[name][0], Call(request), given)


def _called(function, c, given):
    try:
        return function(c, **given)
    except TypeError as e:
        if len(_alcove.trace(e)) > 1:  # it was raised in the function
            raise
        fail("invalid_argument", str(e))


# The member of a request that a hook is asked about.
_subjects = {"store": "entries", "stored": "entries", "merged": "merge", "session_end": "session"}


def _on_hook(request):
    name = request.get("hook")
    if name == "job":
        if request.get("job") not in _jobs:
            _unknown("job", request.get("job"))
        payload = request.get("payload")
        return _jobs[request["job"]][0](Call(request), {} if payload is None else payload)
    if name not in _hooks or name not in _subjects:
        _unknown("hook", name)
    subject = _subjects[name]
    about = _list_of(request, subject) if subject == "entries" else request.get(subject)
    if about is None:
        fail("invalid_argument", "the request has no " + subject)
    decision = _hooks[name][0](Call(request), about)
    return _decision(decision) if name == "store" else None


def _decision(given):
    if isinstance(given, (list, tuple)):
        given = {"entries": given}
    if given and ("refuse" in given or "propose" in given or any(e is not None for e in given.get("entries", ()))):
        return given
    return None


class Ranking:
    """What a rank hook is asked: count candidates, a list of numbers for each of its features in columns, the query and the time."""


def _on_score(packed):
    import struct
    from array import array

    if "rank" not in _hooks:
        _unknown("hook", "rank")
    function, members = _hooks["rank"]
    features = members.get("features", [])
    count, width, length = struct.unpack("<III", packed) if len(packed) >= 12 else (0, 0, 0)
    start = 12 + length + (4 - length % 4) % 4
    if start + 4 * count * width != len(packed):
        fail("invalid_argument", "the request to score has another length")
    if width != len(features):
        fail("invalid_argument", "the request to score has %d columns, and the manifest %d features" % (width, len(features)))
    global _asked
    params = _asked = _params(packed[12 : 12 + length])
    ranking = Ranking()
    ranking.count, ranking.query, ranking.now = count, params["query"], params["now"]
    ranking.columns = {}
    for i, feature in enumerate(features):
        at = start + 4 * count * i
        ranking.columns[feature] = array("f", packed[at : at + 4 * count])
    scores = function(Call(params, ranking.now), ranking)
    return bytes(array("f", _counted(scores, count, "rank", "scores")))


def _counted(values, n, hook, what):
    """What a hook gave, if it is as many as it was asked for."""
    got = "no"
    if values is not None:
        try:
            got = len(values)
        except TypeError:  # it is a generator
            values = list(values)
            got = len(values)
    if got != n:
        raise TypeError("the hook %s gave %s %s, and was asked for %d" % (hook, got, what, n))
    return values


def _params(text):
    try:
        return _alcove.loads(text)
    except ValueError:
        fail("invalid_argument", "the request is not valid JSON")


def _on_embed(request):
    import struct
    from array import array

    if "embed" not in _hooks:
        _unknown("hook", "embed")
    texts = request["texts"] = _list_of(request, "texts")
    fault = _fault_of_request()
    if fault:
        fail("invalid_argument", fault)  # which the host cannot read the answer to
    given = _hooks["embed"][0](Call(request), texts, request["purpose"])
    vectors = _counted(given, len(texts), "embed", "vectors")
    width = len(vectors[0]) if vectors else 0
    out = bytearray(struct.pack("<II", len(vectors), width))
    for vector in vectors:
        out += bytes(array("f", _counted(vector, width, "embed", "numbers of a vector")))
    return bytes(out)


_form_of = {1: "tool_request", 2: "hook_request", 3: "score_params", 4: "embed_request"}


def serve(kind, request):
    """Serves a request: it gives whether that failed, and bytes, text or None."""
    global _asked, _form
    try:
        if kind != 3 and not isinstance(request, dict):
            fail("invalid_argument", "the request is no object")
        _asked, _form = request, _form_of.get(kind)
        if kind == 1:
            answer = _on_tool(request)
            if answer is None:
                answer = {}
        elif kind == 2:
            answer = _on_hook(request)
        elif kind == 3:
            return False, _on_score(request)
        elif kind == 4:
            return False, _on_embed(request)
        else:
            fail("invalid_argument", "this family serves no requests of kind %d" % kind)
        return False, None if answer is None else _dumps(answer, None, ",", ":", False, False, None)
    except BaseException as e:
        return _failed(e)


def _failed(e):
    own = isinstance(e, AlcoveError)
    fault = "" if own and e.code != "internal" or isinstance(e, MemoryError) else _fault_of_request()
    if own and not fault:
        body = {"code": e.code, "message": e.message, "retryable": e.retryable}
        if e.details is not None:
            body["details"] = e.details
    elif isinstance(e, MemoryError):
        body = {"code": "exhausted", "message": "there is no memory left; memory_pages limits it", "retryable": False}
    else:
        what, text = type(e).__name__, str(e)
        if text:
            what = text if type(e) is Exception else what + ": " + text
        names = [name for name, _ in _alcove.files()]
        frames = [f for f in _alcove.trace(e) if f[0] in names]
        place = " (%s:%d)" % frames[0][:2] if frames else ""
        _alcove.log(what + "".join("\n  %s:%d %s" % f for f in frames[:10]))
        body = {"code": "internal", "message": "panic: " + what + place, "retryable": False}
        if fault:
            body = {"code": "invalid_argument", "message": fault, "retryable": False}
    return True, _dumps(body, None, ",", ":", False, False, None)


def load():
    """Runs the family's file. It gives None, or what serve gives of an error."""
    name, text = _alcove.files()[0]
    try:
        exec(compile(text, name, "exec"), {"__name__": "family", "__file__": name})
        if not _family and not _tools and not _hooks and not _jobs:
            raise TypeError("the file defines no family: it has alcove.family(...) and functions below @alcove.tool")
    except BaseException as e:
        return _failed(e)
    return None
