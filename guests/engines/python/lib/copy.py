"""Copies."""


def copy(x):
    if isinstance(x, (list, dict, set, bytearray)):
        return x.copy() if not isinstance(x, bytearray) else bytearray(x)
    if not hasattr(x, "__dict__") or isinstance(x, type):
        return x
    y = object.__new__(type(x))
    for name, value in x.__dict__.items():
        setattr(y, name, value)
    return y


def deepcopy(x, memo=None):
    memo = {} if memo is None else memo
    if id(x) in memo:
        return memo[id(x)]
    if isinstance(x, list):
        y = memo[id(x)] = []
        y.extend([deepcopy(v, memo) for v in x])
    elif isinstance(x, dict):
        y = memo[id(x)] = {}
        for k, v in x.items():
            y[deepcopy(k, memo)] = deepcopy(v, memo)
    elif isinstance(x, tuple):
        y = tuple([deepcopy(v, memo) for v in x])
    elif isinstance(x, set):
        y = {deepcopy(v, memo) for v in x}
    else:
        y = copy(x)
        if y is not x:
            memo[id(x)] = y
            for name, value in x.__dict__.items():
                setattr(y, name, deepcopy(value, memo))
    return y
