"""Contexts of with."""


class _Context:
    def __init__(self, generator):
        self.generator = generator

    def __enter__(self):
        return next(self.generator)

    def __exit__(self, kind, error, trace):
        if error is None:
            try:
                next(self.generator)
            except StopIteration:
                return False
            raise RuntimeError("the generator did not stop")
        try:
            self.generator.throw(error)
        except StopIteration:
            return True
        except BaseException as e:
            if e is error:
                return False
            raise
        return True


def contextmanager(function):
    return lambda *args, **named: _Context(function(*args, **named))


class suppress:
    def __init__(self, *kinds):
        self.kinds = kinds

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return kind is not None and issubclass(kind, self.kinds)


class closing:
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, *about):
        self.thing.close()


class nullcontext:
    def __init__(self, result=None):
        self.result = result

    def __enter__(self):
        return self.result

    def __exit__(self, *about):
        return False
