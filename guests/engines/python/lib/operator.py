"""Operators as functions."""


def itemgetter(*items):
    if len(items) == 1:
        return lambda o: o[items[0]]
    return lambda o: tuple([o[i] for i in items])


def attrgetter(*names):
    if len(names) == 1:
        return lambda o: getattr(o, names[0])
    return lambda o: tuple([getattr(o, n) for n in names])


def methodcaller(name, *args, **named):
    return lambda o: getattr(o, name)(*args, **named)


add, sub, mul = lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b
truediv, floordiv, mod = lambda a, b: a / b, lambda a, b: a // b, lambda a, b: a % b
eq, ne, lt, le, gt, ge = lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a > b, lambda a, b: a >= b
neg, not_, truth, contains, getitem = lambda a: -a, lambda a: not a, bool, lambda a, b: b in a, lambda a, b: a[b]
and_, or_, xor, concat = lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b, add
