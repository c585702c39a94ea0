# Methods of texts that MicroPython does not have.


def capitalize(s):
    return s[:1].upper() + s[1:].lower()


def title(s):
    out, inside = "", False
    for c in s:
        out += c.lower() if inside else c.upper()
        inside = c.isalpha()
    return out


def swapcase(s):
    return "".join([c.lower() if c != c.lower() else c.upper() for c in s])


def casefold(s):
    return s.lower().replace("ß", "ss")


def ljust(s, width, fill=" "):
    return s + fill * (width - len(s))


def rjust(s, width, fill=" "):
    return fill * (width - len(s)) + s


def zfill(s, width):
    sign = s[:1] if s[:1] in ("+", "-") else ""
    return sign + rjust(s[len(sign) :], width - len(sign), "0")


def isalnum(s):
    return bool(s) and all(c.isalpha() or c.isdigit() for c in s)


def isidentifier(s):
    return bool(s) and not s[0].isdigit() and all(c == "_" or c.isalpha() or c.isdigit() for c in s)


def removeprefix(s, prefix):
    return s[len(prefix) :] if s.startswith(prefix) else s


def removesuffix(s, suffix):
    return s[: -len(suffix)] if suffix and s.endswith(suffix) else s


def translate(s, table):
    def one(c):
        to = table.get(ord(c), c)
        return "" if to is None else chr(to) if isinstance(to, int) else to

    return "".join([one(c) for c in s])
