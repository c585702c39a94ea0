"""Regular expressions, as in Python, without possessive and atomic parts and without conditions."""
import _alcove

IGNORECASE = I = 2
MULTILINE = M = 8
DOTALL = S = 16
VERBOSE = X = 64
ASCII = A = 256
UNICODE = U = 32

_WORD = r"\p{L}\p{N}_"
_BOUNDARY = "(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))".replace("{0}", _WORD)
_INSIDE = "(?:(?<=[{0}])(?=[{0}])|(?<![{0}])(?![{0}]))".replace("{0}", _WORD)
_SYNTAX = "^$\\.*+?()[]{}|/"


class error(ValueError):
    """A regular expression that is wrong."""


PatternError = error


class _Translation:
    """Translates a pattern into the form of JavaScript's with the flag u."""

    def __init__(self, pattern, flags):
        self.p, self.i, self.flags, self.groups = pattern, 0, flags, 0

    def all(self):
        p = self.p
        while p[self.i : self.i + 2] == "(?" and p[self.i + 2 : self.i + 3] in ("a", "i", "L", "m", "s", "u", "x"):
            end = self.i + 2
            while end < len(p) and p[end].isalpha():
                end += 1
            if p[end : end + 1] != ")":
                break
            for c in p[self.i + 2 : end]:
                self.flags |= {"a": A, "i": I, "m": M, "s": S, "x": X}.get(c, 0)
            self.i = end + 1
        out = []
        while self.i < len(p):
            out.append(self.one(p[self.i]))
        return "".join(out)

    def one(self, c):
        p = self.p
        self.i += 1
        if c == "\\":
            return self.escape(False)
        if c == "[":
            return self.set()
        if c == "(":
            return self.group()
        if c == "$" and not self.flags & M:
            return r"(?=\n?(?![\s\S]))"
        if c == "{":
            end = p.find("}", self.i)
            numbers = p[self.i : end].split(",") if end > 0 else ["?"]
            if len(numbers) > 2 or not all(n.isdigit() or n == "" for n in numbers) or numbers == [""] or numbers == ["", ""]:
                return "\\{"
            self.i = end + 1
            return "{" + (numbers[0] or "0") + ("," + numbers[1] if len(numbers) > 1 else "") + "}"
        if c == "}" or c == "]":
            return "\\" + c
        if self.flags & X:
            if c.isspace():
                return ""
            if c == "#":
                end = p.find("\n", self.i)
                self.i = len(p) if end < 0 else end
                return ""
        return c

    def group(self):
        p = self.p
        if p[self.i : self.i + 2] == "?#":
            end = p.find(")", self.i)
            if end < 0:
                raise error("a comment without an end")
            self.i = end + 1
            return ""
        if p[self.i : self.i + 3] == "?P<":
            self.i += 3
            self.groups += 1
            return "(?<"
        if p[self.i : self.i + 3] == "?P=":
            end = p.find(")", self.i)
            name, self.i = p[self.i + 3 : end], end + 1
            return "\\k<" + name + ">"
        if p[self.i : self.i + 2] == "?(":
            raise error("conditions in groups are not supported")
        if p[self.i : self.i + 1] != "?":
            self.groups += 1
        return "("

    def escape(self, inside):
        p = self.p
        if self.i == len(p):
            raise error("bad escape (end of pattern)")
        c = p[self.i]
        self.i += 1
        wide = not self.flags & A
        if c == "w" and wide:
            return _WORD if inside else "[" + _WORD + "]"
        if c == "W" and wide and not inside:
            return "[^" + _WORD + "]"
        if c == "d" and wide:
            return r"\p{Nd}"
        if c == "D" and wide:
            return r"\P{Nd}"
        if c == "b" and not inside:
            return _BOUNDARY if wide else r"\b"
        if c == "B" and not inside:
            return _INSIDE if wide else r"\B"
        if c == "A":
            return r"(?<![\s\S])"
        if c == "Z":
            return r"(?![\s\S])"
        if c == "a":
            return r"\x07"
        if c == "U":
            code = p[self.i : self.i + 8]
            self.i += 8
            return "\\u{" + code + "}"
        if c == "0" or inside and c.isdigit():
            digits = c
            while self.i < len(p) and len(digits) < 3 and p[self.i] in "01234567":
                digits += p[self.i]
                self.i += 1
            return "\\x%02x" % int(digits, 8)
        if c.isdigit():
            while self.i < len(p) and p[self.i].isdigit() and int(c + p[self.i]) <= self.groups:
                c += p[self.i]
                self.i += 1
            return "(?:\\" + c + ")"
        if c.isalpha():
            if c not in "bdDsSwWnrtfvxu":
                raise error("bad escape \\%s at position %d" % (c, self.i - 2))
            return "\\" + c
        return "\\" + c if c in _SYNTAX or inside and c == "-" else c

    def set(self):
        p = self.p
        out = "["
        if p[self.i : self.i + 1] == "^":
            out += "^"
            self.i += 1
        first = self.i
        while True:
            if self.i >= len(p):
                raise error("unterminated character set at position %d" % (first - 1))
            c = p[self.i]
            self.i += 1
            if c == "]" and self.i - 1 > first:
                return out + "]"
            if c == "\\":
                out += self.escape(True)
            elif c in "[]":
                out += "\\" + c
            elif c == "-" and (self.i - 1 == first or p[self.i : self.i + 1] == "]" or p[self.i - 3 : self.i - 1] in ("\\w", "\\d", "\\s", "\\W", "\\D", "\\S")):
                out += "\\-"
            else:
                out += c


class Match:
    def __init__(self, pattern, string, spans, pos):
        self.re, self.string, self._spans, self.pos = pattern, string, spans, pos
        self.lastindex = None
        for i in range(1, len(spans) // 2):
            if spans[2 * i] >= 0:
                self.lastindex = i

    def _number(self, group):
        if isinstance(group, str):
            if group not in self.re.groupindex:
                raise IndexError("no such group")
            return self.re.groupindex[group]
        if not 0 <= group < len(self._spans) // 2:
            raise IndexError("no such group")
        return group

    def _one(self, group, default=None):
        i = 2 * self._number(group)
        return default if self._spans[i] < 0 else self.string[self._spans[i] : self._spans[i + 1]]

    def group(self, *groups):
        if len(groups) < 2:
            return self._one(groups[0] if groups else 0)
        return tuple(self._one(g) for g in groups)

    __getitem__ = _one

    def groups(self, default=None):
        return tuple(self._one(i, default) for i in range(1, len(self._spans) // 2))

    def groupdict(self, default=None):
        return {name: self._one(i, default) for name, i in self.re.groupindex.items()}

    def span(self, group=0):
        i = 2 * self._number(group)
        return self._spans[i], self._spans[i + 1]

    def start(self, group=0):
        return self.span(group)[0]

    def end(self, group=0):
        return self.span(group)[1]

    def expand(self, template):
        return _template(template)(self)

    def __repr__(self):
        return "<re.Match object; span=%r, match=%r>" % (self.span(), self.group())


def _template(text):
    """What a replacement makes of a match."""
    if not isinstance(text, str):
        return text
    if "\\" not in text:
        return lambda m: text
    parts, i = [], 0
    while i < len(text):
        at = text.find("\\", i)
        if at < 0 or at + 1 == len(text):
            parts.append(text[i:])
            break
        parts.append(text[i:at])
        c, i = text[at + 1], at + 2
        if c == "g" and text[i : i + 1] == "<":
            end = text.index(">", i)
            name, i = text[i + 1 : end], end + 1
            parts.append((int(name) if name.isdigit() else name,))
        elif c.isdigit():
            if text[i : i + 1].isdigit():
                c, i = c + text[i], i + 1
            parts.append((int(c),))
        else:
            parts.append({"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}.get(c, "\\" + c))
    return lambda m: "".join([(m._one(p[0]) or "") if isinstance(p, tuple) else p for p in parts])


class Pattern:
    def __init__(self, pattern, flags=0):
        self.pattern = pattern
        t = _Translation(pattern, flags)
        self._text = t.all()
        self.flags = t.flags
        self._programs = {}
        _, count, names = self._program("")
        self.groups = count - 1
        self.groupindex = {name: i + 1 for i, name in enumerate(names) if name}

    def _program(self, kind):
        """The program of a search, or of one that begins or is all that is looked at."""
        if kind not in self._programs:
            text = self._text
            if kind == "all":
                text = "(?:" + text + r")(?![\s\S])"
            js = 16 | (2 if self.flags & I else 0) | (4 if self.flags & M else 0) | (8 if self.flags & S else 0) | (32 if kind else 0)
            try:
                self._programs[kind] = _alcove.compile(text, js)
            except ValueError as e:
                raise error("%s in %r" % (e, self.pattern))
        return self._programs[kind]

    def _found(self, kind, string, subject, pos):
        spans = _alcove.exec(self._program(kind)[0], string, subject, pos)
        return None if spans is None else Match(self, string, spans, pos)

    def _at(self, kind, string, pos, endpos):
        if endpos is not None:
            string = string[:endpos]
        if pos > len(string):
            return None
        return self._found(kind, string, _alcove.subject(string), pos)

    def search(self, string, pos=0, endpos=None):
        return self._at("", string, pos, endpos)

    def match(self, string, pos=0, endpos=None):
        return self._at("start", string, pos, endpos)

    def fullmatch(self, string, pos=0, endpos=None):
        return self._at("all", string, pos, endpos)

    def finditer(self, string, pos=0, endpos=None):
        if endpos is not None:
            string = string[:endpos]
        subject, length = _alcove.subject(string), len(string)
        while pos <= length:
            m = self._found("", string, subject, pos)
            if m is None:
                return
            yield m
            pos = m._spans[1] + (1 if m._spans[1] == m._spans[0] else 0)

    def findall(self, string, pos=0, endpos=None):
        all = []
        for m in self.finditer(string, pos, endpos):
            all.append(m.group() if not self.groups else m._one(1, "") if self.groups == 1 else m.groups(""))
        return all

    def subn(self, repl, string, count=0):
        made, parts, at, n = _template(repl), [], 0, 0
        for m in self.finditer(string):
            parts.append(string[at : m._spans[0]])
            parts.append(made(m))
            at, n = m._spans[1], n + 1
            if n == count:
                break
        parts.append(string[at:])
        return "".join(parts), n

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]

    def split(self, string, maxsplit=0):
        parts, at = [], 0
        for m in self.finditer(string):
            parts.append(string[at : m._spans[0]])
            parts.extend(m.groups())
            at = m._spans[1]
            maxsplit -= 1
            if maxsplit == 0:
                break
        parts.append(string[at:])
        return parts

    def __repr__(self):
        return "re.compile(%r)" % self.pattern


_known = {}


def compile(pattern, flags=0):
    if isinstance(pattern, Pattern):
        return pattern
    key = (pattern, flags)
    if key not in _known:
        if len(_known) >= 256:
            _known.clear()
        _known[key] = Pattern(pattern, flags)
    return _known[key]


def search(pattern, string, flags=0):
    return compile(pattern, flags).search(string)


def match(pattern, string, flags=0):
    return compile(pattern, flags).match(string)


def fullmatch(pattern, string, flags=0):
    return compile(pattern, flags).fullmatch(string)


def findall(pattern, string, flags=0):
    return compile(pattern, flags).findall(string)


def finditer(pattern, string, flags=0):
    return compile(pattern, flags).finditer(string)


def sub(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).sub(repl, string, count)


def subn(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).subn(repl, string, count)


def split(pattern, string, maxsplit=0, flags=0):
    return compile(pattern, flags).split(string, maxsplit)


def escape(text):
    return "".join([c if c.isalpha() or c.isdigit() or c == "_" or ord(c) > 127 else "\\" + c for c in text])


def purge():
    _known.clear()
