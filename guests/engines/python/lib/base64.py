"""Bytes as text."""
import binascii


def b64encode(s, altchars=None):
    out = binascii.b2a_base64(s)[:-1]
    return out.replace(b"+", altchars[:1]).replace(b"/", altchars[1:]) if altchars else out


def b64decode(s, altchars=None):
    if isinstance(s, str):
        s = s.encode()
    if altchars:
        s = s.replace(altchars[:1], b"+").replace(altchars[1:], b"/")
    return binascii.a2b_base64(s)


def urlsafe_b64encode(s):
    return b64encode(s, b"-_")


def urlsafe_b64decode(s):
    return b64decode(s, b"-_")
