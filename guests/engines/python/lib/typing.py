"""Names for annotations, which are not looked at."""


class _Any:
    def __getitem__(self, item):
        return self

    def __call__(self, *args, **named):
        return self

    def __or__(self, other):
        return self

    def __ror__(self, other):
        return self


Any = Union = Optional = List = Dict = Tuple = Set = FrozenSet = Type = Callable = Iterable = Iterator = Generator = Sequence = Mapping = _Any()
MutableMapping = MutableSequence = Literal = Final = ClassVar = Annotated = NoReturn = Never = Self = TypeAlias = Hashable = Collection = _Any()
NotRequired = Required = Awaitable = Concatenate = Unpack = _Any()
Generic = Protocol = object
TypedDict = dict
TYPE_CHECKING = False


def TypeVar(name, *bounds, **more):
    return Any


ParamSpec = TypeVarTuple = TypeVar


def NewType(name, kind):
    return lambda value: value


def cast(kind, value):
    return value


def overload(function):
    return function


final = override = no_type_check = runtime_checkable = overload


def NamedTuple(name, fields):
    from collections import namedtuple

    return namedtuple(name, [f[0] for f in fields])
