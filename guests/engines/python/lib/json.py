"""JSON."""
import _alcove


def loads(s):
    return _alcove.loads(s)


def load(f):
    return _alcove.loads(f.read())


def dumps(obj, indent=None, separators=None, ensure_ascii=True, sort_keys=False, default=None):
    comma, colon = separators or (", " if indent is None else ",", ": ")
    return _alcove.dumps(obj, indent, comma, colon, ensure_ascii, sort_keys, default)


def dump(obj, f, **options):
    f.write(dumps(obj, **options))


class JSONDecodeError(ValueError):
    pass
