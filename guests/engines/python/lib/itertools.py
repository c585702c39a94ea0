"""Iterators of iterators."""


def count(start=0, step=1):
    while True:
        yield start
        start += step


def cycle(iterable):
    all = list(iterable)
    while all:
        yield from all


def repeat(value, times=None):
    if times is None:
        while True:
            yield value
    for _ in range(times):
        yield value


def chain(*iterables):
    for iterable in iterables:
        yield from iterable


def _from_iterable(iterables):
    for iterable in iterables:
        yield from iterable


class _Chain:
    def __call__(self, *iterables):
        return _from_iterable(iterables)

    def from_iterable(self, iterables):
        return _from_iterable(iterables)


chain = _Chain()


def islice(iterable, start, *bounds):
    stop, start = (bounds[0], start or 0) if bounds else (start, 0)
    at, step = start, bounds[1] or 1 if len(bounds) > 1 else 1
    if stop is not None and at >= stop:
        return
    for i, value in enumerate(iterable):
        if i == at:
            yield value
            at += step
        if stop is not None and (i + 1 >= stop or at >= stop):
            return


def accumulate(iterable, function=None, initial=None):
    it = iter(iterable)
    if initial is None:
        try:
            initial = next(it)
        except StopIteration:
            return
    yield initial
    for value in it:
        initial = function(initial, value) if function else initial + value
        yield initial


def takewhile(test, iterable):
    for value in iterable:
        if not test(value):
            return
        yield value


def dropwhile(test, iterable):
    it = iter(iterable)
    for value in it:
        if not test(value):
            yield value
            break
    yield from it


def filterfalse(test, iterable):
    for value in iterable:
        if not (test(value) if test else value):
            yield value


def compress(data, selectors):
    for value, selected in zip(data, selectors):
        if selected:
            yield value


def starmap(function, iterable):
    for args in iterable:
        yield function(*args)


def pairwise(iterable):
    it = iter(iterable)
    try:
        before = next(it)
    except StopIteration:
        return
    for value in it:
        yield before, value
        before = value


def batched(iterable, n):
    batch = []
    for value in iterable:
        batch.append(value)
        if len(batch) == n:
            yield tuple(batch)
            batch = []
    if batch:
        yield tuple(batch)


def groupby(iterable, key=None):
    group, last, first = [], None, True
    for value in iterable:
        k = key(value) if key else value
        if not first and k != last:
            yield last, iter(group)
            group = []
        group.append(value)
        last, first = k, False
    if not first:
        yield last, iter(group)


def zip_longest(*iterables, fillvalue=None):
    its, done = [iter(i) for i in iterables], [False] * len(iterables)
    while True:
        values = []
        for i, it in enumerate(its):
            value = fillvalue
            if not done[i]:
                try:
                    value = next(it)
                except StopIteration:
                    done[i] = True
            values.append(value)
        if all(done):
            return
        yield tuple(values)


def product(*iterables, repeat=1):
    pools = [list(i) for i in iterables] * repeat
    chosen = [[]]
    for pool in pools:
        chosen = [c + [value] for c in chosen for value in pool]
    for c in chosen:
        yield tuple(c)


def permutations(iterable, r=None):
    pool = list(iterable)

    def go(n, left):
        if n == 0:
            yield ()
            return
        for i in range(len(left)):
            for rest in go(n - 1, left[:i] + left[i + 1 :]):
                yield (left[i],) + rest

    yield from go(len(pool) if r is None else r, pool)


def combinations(iterable, r):
    pool = list(iterable)

    def go(n, at):
        if n == 0:
            yield ()
            return
        for i in range(at, len(pool) - n + 1):
            for rest in go(n - 1, i + 1):
                yield (pool[i],) + rest

    yield from go(r, 0)


def tee(iterable, n=2):
    all = list(iterable)
    return tuple(iter(all) for _ in range(n))
