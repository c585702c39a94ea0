"""Functions of functions."""


def reduce(function, iterable, *start):
    it = iter(iterable)
    value = start[0] if start else next(it)
    for item in it:
        value = function(value, item)
    return value


def partial(function, *args, **named):
    def call(*more, **others):
        all = dict(named)
        all.update(others)
        return function(*args, *more, **all)

    return call


def wraps(wrapped, *rest):
    return lambda function: function


def lru_cache(maxsize=128, typed=False):
    if callable(maxsize):
        return lru_cache()(maxsize)

    def decorate(function):
        known = {}

        def call(*args, **named):
            key = (args, tuple(sorted(named.items()))) if named else args
            if key not in known:
                if maxsize is not None and len(known) >= maxsize:
                    known.clear()
                known[key] = function(*args, **named)
            return known[key]

        return call

    return decorate


def cache(function):
    return lru_cache(None)(function)


def cmp_to_key(compare):
    class Key:
        def __init__(self, value):
            self.value = value

        def __lt__(self, other):
            return compare(self.value, other.value) < 0

        def __gt__(self, other):
            return compare(self.value, other.value) > 0

        def __eq__(self, other):
            return compare(self.value, other.value) == 0

    return Key


def cached_property(function):
    name = "_" + function.__name__ + "_cached"

    def get(self):
        if not hasattr(self, name):
            setattr(self, name, function(self))
        return getattr(self, name)

    return property(get)
