"""Nothing is checked here."""


class ABC:
    pass


def abstractmethod(function):
    return function
