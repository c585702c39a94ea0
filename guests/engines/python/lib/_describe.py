# What the source says of a function and of the family: the parameters with their types, and the text below. It is read for a manifest alone.
import _alcove
from alcove import _Optional, schema_of, t


def _sources():
    return [text for _, text in _alcove.files()]


def _closed(text, at):
    """The end of what is in brackets from at on."""
    depth, quote = 0, ""
    for i in range(at, len(text)):
        c = text[i]
        if quote:
            quote = "" if c == quote and text[i - 1] != "\\" else quote
        elif c in "\"'":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth == 0:
                return i
    raise SyntaxError("a bracket has no end")


def _split(text, separator):
    """The parts of a text between separators that are in no brackets and quotes."""
    parts, depth, quote, begin = [], 0, "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote and text[i - 1] != "\\" else quote
        elif c in "\"'":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    parts.append(text[begin:])
    return [p.strip() for p in parts]


_plain = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "dict": "object", "list": "array"}


def _schema(annotation):
    """The schema of an annotation, and whether None is a value."""
    parts = [p for p in _split(annotation, "|") if p]
    optional = "None" in parts
    parts = [p for p in parts if p != "None"]
    one = parts[0] if len(parts) == 1 else "Any"
    if one.startswith("Optional["):
        return _schema(one[9:-1])[0], True
    for name in ("list", "List", "Sequence"):
        if one.startswith(name + "["):
            return t.list(_schema(one[len(name) + 1 : -1])[0]), optional
    for name in ("dict", "Dict", "Mapping"):
        if one.startswith(name + "["):
            return t.map(_schema(_split(one[len(name) + 1 : -1], ",")[-1])[0]), optional
    if one.startswith("Literal["):
        values = [eval(v) for v in _split(one[8:-1], ",")]
        return schema_of({"type": "string", "enum": values} if isinstance(values[0], str) else {"enum": values}), optional
    return schema_of({"type": _plain[one]} if one in _plain else {}), optional


def _text(source, at):
    """The documentation that begins behind at, without the indent."""
    while True:
        while source[at : at + 1] in (" ", "\t", "\n", "\\"):
            at += 1
        if source[at : at + 1] != "#":
            break
        at = source.find("\n", at)
        if at < 0:
            return ""
    if source[at : at + 1] in ("r", "R"):
        at += 1
    quote = source[at : at + 3]
    if quote not in ('"""', "'''"):
        quote = quote[:1]
        if quote not in ('"', "'"):
            return ""
    end = source.find(quote, at + len(quote))
    lines = source[at + len(quote) : end].strip().split("\n") if end > 0 else []
    return "\n".join([line.strip() for line in lines])


def _word(text):
    return text.isidentifier()


def _described(text):
    """The first paragraph in one line, the rest, and what lines such as `name: what` say of parameters."""
    first, _, rest = text.partition("\n\n")
    about, docs = {}, []
    for line in rest.split("\n"):
        name, colon, what = line.partition(": ")
        if colon and _word(name):
            about[name] = what.strip()
        elif line not in ("Args:", "Parameters:"):
            docs.append(line)
    return " ".join(first.split("\n")), "\n".join(docs).strip(), about


def _begins(source, name):
    """Where the parameters of a function begin; -1: it is not there."""
    at = -1
    while True:
        at = source.find("def " + name, at + 1)
        if at < 0:
            return -1
        rest = at + 4 + len(name)
        while source[rest : rest + 1] in (" ", "\t") and rest < len(source):
            rest += 1
        if source[rest : rest + 1] == "(" and not source[source.rfind("\n", 0, at) + 1 : at].strip():
            return rest


def function(name):
    """The description, docs and input of a tool."""
    for source in _sources():
        open = _begins(source, name)
        if open < 0:
            continue
        close = _closed(source, open)
        description, docs, about = _described(_text(source, source.index(":", close) + 1))
        properties = {}
        for parameter in _split(source[open + 1 : close].replace("\n", " "), ",")[1:]:
            if not parameter or parameter.startswith("*") or parameter == "/":
                continue
            declared, _, default = [p.strip() for p in (parameter + "=").partition("=")]
            default = default.rstrip("=").strip()
            parameter_name, _, annotation = [p.strip() for p in declared.partition(":")]
            schema, optional = _schema(annotation)
            schema = dict(schema)
            if parameter_name in about:
                schema["description"] = about[parameter_name]
            if default and default != "None":
                try:
                    schema["default"] = eval(default, {})
                except Exception:
                    pass
            properties[parameter_name] = _Optional(schema) if default or optional else schema
        result = {"description": description, "input": t.object(properties)}
        if docs:
            result["docs"] = docs
        return result
    return {"input": t.object({})}


def module():
    """The description and docs of the family."""
    description, docs, _ = _described(_text(_sources()[0], 0))
    if description.endswith("."):
        description = description[:-1]
    return {k: v for k, v in (("description", description), ("docs", docs)) if v}
