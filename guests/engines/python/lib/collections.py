"""Containers."""
from ucollections import OrderedDict, deque, namedtuple


class defaultdict(dict):
    def __init__(self, default_factory=None, *args, **named):
        super().__init__(*args, **named)
        self.default_factory = default_factory

    def __getitem__(self, key):
        try:
            return super().__getitem__(key)
        except KeyError:
            if self.default_factory is None:
                raise
            value = self.default_factory()
            self[key] = value
            return value

    def copy(self):
        return defaultdict(self.default_factory, self)


class Counter(dict):
    def __init__(self, iterable=(), **named):
        super().__init__()
        self.update(iterable, **named)

    def __getitem__(self, key):
        return self.get(key, 0)

    def update(self, iterable=(), **named):
        for source in (iterable, named):
            if isinstance(source, dict):
                for key, n in source.items():
                    self[key] = self.get(key, 0) + n
            else:
                for key in source:
                    self[key] = self.get(key, 0) + 1

    def subtract(self, iterable=()):
        for key, n in Counter(iterable).items():
            self[key] = self.get(key, 0) - n

    def most_common(self, n=None):
        all = sorted(self.items(), key=lambda item: -item[1])
        return all if n is None else all[:n]

    def elements(self):
        for key, n in self.items():
            for _ in range(n):
                yield key

    def total(self):
        return sum(self.values())

    def __add__(self, other):
        all = Counter(self)
        all.update(other)
        return all


class ChainMap:
    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __getitem__(self, key):
        for m in self.maps:
            if key in m:
                return m[key]
        raise KeyError(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __contains__(self, key):
        return any(key in m for m in self.maps)

    def __setitem__(self, key, value):
        self.maps[0][key] = value
