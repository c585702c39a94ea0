"""The module alcove, for editors and for type checkers: the engine has it, and alcove family pack checks no types."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NoReturn, NotRequired, Optional, TypedDict, TypeVar, Union, overload

_F = TypeVar("_F", bound=Callable[..., Any])
Schema = dict[str, Any]
_Given = Union[Schema, type]

class AlcoveError(Exception):
    """An error that reaches the caller with its code. Any other error is internal, and tells where it was raised."""

    code: Code
    message: str
    retryable: bool
    details: Optional[dict[str, Any]]
    def __init__(self, code: Code, message: str, retryable: Optional[bool] = None, details: Optional[dict[str, Any]] = None) -> None: ...

def fail(code: Code, message: str, retryable: Optional[bool] = None, details: Optional[dict[str, Any]] = None) -> NoReturn:
    """Fails with a code, as in fail("not_found", "there is no such note")."""

def refuse(reason: str) -> StoreResult:
    """The decision of a store hook that nothing is stored."""

def propose(reason: str, entries: Optional[list[Optional[Change]]] = None) -> StoreResult:
    """The decision of a store hook that everything goes to a branch of proposals."""

class t:
    """Schemas. Further keywords are those of JSON Schema, as in t.string("a title", maxLength=100). A type stands for a schema without more."""

    @staticmethod
    def string(description: str = "", **more: Any) -> Schema: ...
    @staticmethod
    def integer(description: str = "", **more: Any) -> Schema: ...
    @staticmethod
    def number(description: str = "", **more: Any) -> Schema: ...
    @staticmethod
    def boolean(description: str = "", **more: Any) -> Schema: ...
    @staticmethod
    def any(description: str = "") -> Schema: ...
    @staticmethod
    def list(items: _Given, description: str = "", **more: Any) -> Schema: ...
    @staticmethod
    def map(values: _Given, description: str = "", **more: Any) -> Schema: ...
    @staticmethod
    def object(properties: dict[str, _Given], description: str = "", **more: Any) -> Schema: ...
    @staticmethod
    def optional(schema: _Given) -> Schema:
        """A parameter that need not be given."""

def family(
    *,
    name: str,
    version: str = "0.1.0",
    description: str = ...,
    docs: str = ...,
    keywords: list[str] = ...,
    examples: list[str] = ...,
    license: str = ...,
    homepage: str = ...,
    deprecated: bool = ...,
    capabilities: list[dict[str, Any]] = ...,
    config: list[dict[str, Any]] = ...,
    config_rules: list[dict[str, Any]] = ...,
    collections: list[dict[str, Any]] = ...,
    limits: dict[str, int] = ...,
    resources: list[dict[str, Any]] = ...,
    prompts: list[dict[str, Any]] = ...,
) -> None:
    """Defines the family. Without a description, that is what the file begins with."""

@overload
def tool(function: _F) -> _F: ...
@overload
def tool(
    *,
    name: str = ...,
    description: str = ...,
    docs: str = ...,
    title: str = ...,
    read_only: bool = ...,
    destructive: bool = ...,
    idempotent: bool = ...,
    open_world: bool = ...,
    input: dict[str, _Given] = ...,
    output: dict[str, _Given] = ...,
    input_schema: Schema = ...,
    output_schema: Schema = ...,
    aliases: list[dict[str, Any]] = ...,
    parameters: dict[str, str] = ...,
    mixed: bool = ...,
    content: bool = ...,
    unlisted: bool = ...,
    task: Literal["optional", "required", "after_input"] = ...,
) -> Callable[[_F], _F]:
    """Makes a tool of a function. Behind the call, its parameters are those of the tool. Without description and input, they are what the
    function's documentation and annotations say: its first paragraph, and lines such as `name: what it is`."""

def hook(name: Hook, **members: Any) -> Callable[[_F], _F]:
    """Makes a hook of a function of the call and what it is asked about: entries, a merge, a session, a Ranking, or texts and their purpose."""

@overload
def job(function: _F) -> _F: ...
@overload
def job(*, name: str = ..., description: str = ..., every: str = ..., each: Literal["branch", "namespace"] = ..., parallel: int = ...) -> Callable[[_F], _F]:
    """Makes a job of a function of the call and the payload; every is as in 30m, 6h or 1d."""

def published(function: _F) -> _F:
    """Serves the tools that the family published while it ran: a function of the call, the tool's name and its arguments."""

def now_ns() -> int:
    """The time of the request, in nanoseconds since 1970. At load it is 0."""

class Ranking:
    count: int
    columns: dict[str, Sequence[float]]
    query: str
    now: str

# generated: begin
# By abi/gen from abi.json. Do not edit.

Code = Literal["invalid_argument", "not_found", "denied", "conflict", "exhausted", "unavailable", "timeout", "internal", "input_required"]

Hook = Literal["store", "stored", "merged", "session_end", "rank", "embed", "job"]

Capability = Literal["memory.read", "memory.write", "memory.propose", "memory.count", "record", "records.read", "log.read", "log.append", "feed.read", "feed.emit", "feed.kind", "branch.read", "branch.write", "link.read", "link.write", "config.write", "config.read", "config.shared", "job", "embed", "embed.rebuild", "namespace.delete", "scope.read", "scope.write", "session.read", "identity.delegate", "llm", "http", "file.read", "file.write", "tools.call", "tools.publish", "tools.usage", "ask.user", "ask.model", "ask.roots"]

Feature = Literal["score", "lexical", "semantic", "importance", "age", "accesses", "idle", "outcome", "length", "type"]

Counters = TypedDict("Counters", {
    # how often it was recalled
    "accesses": int,
    # when it was last recalled, RFC 3339; absent: never
    "last_access": NotRequired[str],
    # feedback about it
    "health": float,
})

MemoryFields = TypedDict("MemoryFields", {
    # any JSON value
    "value": NotRequired[Any],
    # tags
    "tags": NotRequired[list[str]],
    # a type
    "type": NotRequired[str],
    # importance
    "importance": NotRequired[float],
    # named values; a patch adds members, and null removes one
    "metadata": NotRequired[dict[str, Any]],
    # the state of its life
    "state": NotRequired[Literal["active", "archived", "merged", "pruned"]],
    # keys of memories that it replaces
    "supersedes": NotRequired[list[str]],
    # keys of memories that it refers to
    "links": NotRequired[list[str]],
    # when it expires: RFC 3339, or in a request also a date or `in 2h`; the empty string stands for never
    "expires_at": NotRequired[str],
})

Memory = TypedDict("Memory", {
    # its namespace
    "namespace": str,
    # its key
    "key": str,
    # any JSON value
    "value": NotRequired[Any],
    # tags
    "tags": NotRequired[list[str]],
    # a type
    "type": NotRequired[str],
    # importance
    "importance": NotRequired[float],
    # named values; a patch adds members, and null removes one
    "metadata": NotRequired[dict[str, Any]],
    # the state of its life
    "state": NotRequired[Literal["active", "archived", "merged", "pruned"]],
    # keys of memories that it replaces
    "supersedes": NotRequired[list[str]],
    # keys of memories that it refers to
    "links": NotRequired[list[str]],
    # when it expires: RFC 3339, or in a request also a date or `in 2h`; the empty string stands for never
    "expires_at": NotRequired[str],
    # the agent that wrote this version
    "agent": NotRequired[str],
    # the version of the commit that wrote it
    "version": int,
    # when it was written, RFC 3339
    "timestamp": NotRequired[str],
    # in histories: this version deleted the key
    "deleted": NotRequired[bool],
    # where they were asked for
    "counters": NotRequired[Counters],
    # where that was asked for: when its first version since its last deletion was written, RFC 3339; absent: it is staged
    "created": NotRequired[str],
})

MemoryID = TypedDict("MemoryID", {
    # its namespace
    "namespace": str,
    # its key
    "key": str,
})

File = TypedDict("File", {
    # its path below the root
    "path": str,
    # its content
    "content": str,
    # the content's SHA-256, hexadecimal
    "digest": str,
})

FileEntry = TypedDict("FileEntry", {
    # its path below the root
    "path": str,
    # its length
    "bytes": int,
    # when it was last written: RFC 3339, UTC
    "modified": str,
})

FileItem = TypedDict("FileItem", {
    # its path below the root
    "path": str,
    # its content
    "content": str,
    # the digest that the file must have; the empty string: there must be none
    "if_digest": NotRequired[str],
})

QuotaUse = TypedDict("QuotaUse", {
    # the namespace
    "namespace": str,
    # the agent; empty: nobody stored anything yet
    "agent": str,
    # the day of memories and links, in UTC
    "day": str,
    # versions of memories on that day
    "memories": int,
    # its limit
    "most_memories": int,
    # links added on that day
    "links": int,
    # its limit
    "most_links": int,
    # bytes of its present memories
    "bytes": int,
    # its limit
    "most_bytes": int,
})

MemoryItem = TypedDict("MemoryItem", {
    # its key
    "key": NotRequired[str],
    # the namespace
    "namespace": NotRequired[str],
    # any JSON value
    "value": NotRequired[Any],
    # tags
    "tags": NotRequired[list[str]],
    # a type
    "type": NotRequired[str],
    # importance
    "importance": NotRequired[float],
    # named values; a patch adds members, and null removes one
    "metadata": NotRequired[dict[str, Any]],
    # the state of its life
    "state": NotRequired[Literal["active", "archived", "merged", "pruned"]],
    # keys of memories that it replaces
    "supersedes": NotRequired[list[str]],
    # keys of memories that it refers to
    "links": NotRequired[list[str]],
    # when it expires: RFC 3339, or in a request also a date or `in 2h`; the empty string stands for never
    "expires_at": NotRequired[str],
    # the version that has to be the newest; 0: the key must be free
    "if_version": NotRequired[int],
})

MemoryPatch = TypedDict("MemoryPatch", {
    # its key
    "key": str,
    # the namespace
    "namespace": NotRequired[str],
    # any JSON value
    "value": NotRequired[Any],
    # tags
    "tags": NotRequired[list[str]],
    # a type
    "type": NotRequired[str],
    # importance
    "importance": NotRequired[float],
    # named values; a patch adds members, and null removes one
    "metadata": NotRequired[dict[str, Any]],
    # the state of its life
    "state": NotRequired[Literal["active", "archived", "merged", "pruned"]],
    # keys of memories that it replaces
    "supersedes": NotRequired[list[str]],
    # keys of memories that it refers to
    "links": NotRequired[list[str]],
    # when it expires: RFC 3339, or in a request also a date or `in 2h`; the empty string stands for never
    "expires_at": NotRequired[str],
    # tags to add
    "add_tags": NotRequired[list[str]],
    # tags to remove
    "remove_tags": NotRequired[list[str]],
    # fields to remove
    "clear": NotRequired[list[Literal["tags", "type", "importance", "metadata", "supersedes", "links", "expires_at"]]],
    # the version that has to be the newest
    "if_version": NotRequired[int],
})

FieldTest = TypedDict("FieldTest", {
    # `metadata.NAME`, `value.NAME` of a value that is an object, or one of type, importance, tags, agent, expires_at, links and supersedes, which can only be there or not
    "field": str,
    # the field's value, at most 4,096 bytes, as is that of a field that can equal one; 1 and 1.0 are equal
    "equals": NotRequired[Any],
    # whether the field exists; not together with equals
    "exists": NotRequired[bool],
})

MemoryFilter = TypedDict("MemoryFilter", {
    # of one of these types
    "types": NotRequired[list[str]],
    # in one of these states
    "states": NotRequired[list[Literal["active", "archived", "merged", "pruned"]]],
    # the newest version is by one of these agents, as `agent` of a memory names them; `family:NAME` where a family wrote without an agent
    "writers": NotRequired[list[str]],
    # with all of these tags
    "tags": NotRequired[list[str]],
    # with one of these tags
    "any_tags": NotRequired[list[str]],
    # with none of these tags
    "no_tags": NotRequired[list[str]],
    # at least as important; memories without importance are not
    "min_importance": NotRequired[float],
    # at most as important; memories without importance are not
    "max_importance": NotRequired[float],
    # recalled at least as often
    "min_accesses": NotRequired[int],
    # recalled at most as often
    "max_accesses": NotRequired[int],
    # of at least this health
    "min_health": NotRequired[float],
    # of at most this health
    "max_health": NotRequired[float],
    # last recalled at this moment or later
    "accessed_since": NotRequired[str],
    # last recalled before this moment; memories that never were are not
    "accessed_until": NotRequired[str],
    # created at this moment or later
    "created_since": NotRequired[str],
    # created before this moment
    "created_until": NotRequired[str],
    # the newest version was written at this moment or later
    "updated_since": NotRequired[str],
    # the newest version was written before this moment
    "updated_until": NotRequired[str],
    # with memories that have expired, or these alone; they stay until they are deleted or written again
    "expired": NotRequired[Literal["include", "only"]],
    # conditions on fields
    "fields": NotRequired[list[FieldTest]],
})

MemoryHit = TypedDict("MemoryHit", {
    # the memory
    "memory": Memory,
    # its score, higher is better
    "score": float,
    # the part of its text that matches
    "snippet": str,
    # the key of the active memory of its namespace that replaces it; absent: none does
    "superseded_by": NotRequired[str],
    # the columns of the rank hook, where they were asked for; those that are missing are absent
    "features": NotRequired[dict[str, float]],
})

Record = TypedDict("Record", {
    # its namespace
    "namespace": str,
    # its key; of an appended record its sequence number, in 20 digits
    "key": str,
    # any JSON value
    "value": Any,
    # the version of the commit that wrote it
    "version": int,
    # when it was written, RFC 3339
    "timestamp": NotRequired[str],
    # when it expires, RFC 3339; absent: never
    "expires_at": NotRequired[str],
    # in a history: it was deleted at this version
    "deleted": NotRequired[bool],
})

RecordCollection = TypedDict("RecordCollection", {
    # its family
    "family": str,
    # its name
    "name": str,
    # `space`: its records are the same on every branch
    "per": Literal["branch", "space"],
    # the fields that record.search searches; absent: none
    "searchable": NotRequired[list[str]],
    # the fields that record.list filters and orders by, index by index, with their types, as in `due:time`
    "indexes": NotRequired[list[list[str]]],
    # how long a record is kept; absent: without end
    "expires": NotRequired[str],
    # only the newest version of a record can be read
    "unversioned": NotRequired[bool],
    # it holds nothing that is private to an agent: any caller who may read a namespace may read its records there
    "open": NotRequired[bool],
    # no other family may read its records
    "private": NotRequired[bool],
})

RecordFilter = TypedDict("RecordFilter", {
    # the field, by its path, as in `owner` or `task.due`
    "field": str,
    # `eq`, `in`, `gt`, `gte`, `lt`, `lte`, or for strings `prefix`
    "op": str,
    # a value of the field's type; for `in` an array of them, at most 100; with `eq`, null finds the records without the field
    "value": Any,
})

RecordItem = TypedDict("RecordItem", {
    # its key
    "key": str,
    # any JSON value
    "value": Any,
    # the version that has to be the newest; 0: the key must be free
    "if_version": NotRequired[int],
    # when it expires: RFC 3339, a date or `in 2h`; the empty string stands for never
    "expires_at": NotRequired[str],
})

RecordHit = TypedDict("RecordHit", {
    # the record
    "record": Record,
    # its score, higher is better
    "score": float,
    # the part of its text that matches
    "snippet": str,
})

RecordTest = TypedDict("RecordTest", {
    # the field, by its path, as in `color` or `metadata.color`
    "field": str,
    # `gt` to `lte` compare numbers, and strings; `contains` finds a part of a string, or an element of a list; a missing field satisfies only `ne`
    "op": Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "contains"],
    # what it is compared with; for `in` a list, at most 1000
    "value": Any,
})

RecordNeighbor = TypedDict("RecordNeighbor", {
    # the record
    "record": Record,
    # higher is nearer: the cosine, the product, or 1/(1+distance) for the euclidean distance
    "score": float,
})

Event = TypedDict("Event", {
    # its namespace
    "namespace": str,
    # its number, from 1, without gaps
    "sequence": int,
    # its name
    "event": str,
    # the data of the event; null after a purge
    "data": Any,
    # the agent that logged it
    "agent": NotRequired[str],
    # when it was committed, RFC 3339
    "timestamp": str,
})

Notice = TypedDict("Notice", {
    # what happened: `memory_stored`, `memory_forgotten`, `event_logged`, or what a family announced, as `FAMILY.KIND` or `KIND`
    "kind": str,
    # where
    "namespace": str,
    # the memory, where it is about one
    "key": str,
    # its place in the feed
    "watermark": int,
    # when it was committed, RFC 3339
    "timestamp": str,
    # what a family announced with it
    "payload": NotRequired[Any],
    # the agent that caused it, if known
    "agent": NotRequired[str],
    # the family that announced it
    "family": NotRequired[str],
})

Branch = TypedDict("Branch", {
    # its name
    "name": str,
    # the branch that it was forked from
    "parent": NotRequired[str],
    # the version of the parent at which it was forked
    "forked_at": int,
    # when it was made, RFC 3339
    "created": str,
    # how many ancestors it has
    "depth": int,
})

Difference = TypedDict("Difference", {
    # its namespace
    "namespace": str,
    # the family's own collection that the record is in; absent for a memory
    "collection": NotRequired[str],
    # its key
    "key": str,
    # the memory in the common ancestor
    "base": NotRequired[Memory],
    # the memory on the source branch
    "source": NotRequired[Memory],
    # the memory on the target branch
    "target": NotRequired[Memory],
    # why a merge cannot decide by itself; absent where it can
    "clash": NotRequired[str],
})

Power = TypedDict("Power", {
    # the capability
    "name": str,
    # what it is limited to; `*` stands for everything
    "scope": NotRequired[list[str]],
})

Progress = TypedDict("Progress", {
    # how much is done
    "done": float,
    # of how much; absent where that is unknown
    "total": NotRequired[float],
    # the current activity
    "message": NotRequired[str],
})

SettingState = TypedDict("SettingState", {
    # its key
    "key": str,
    # its value
    "value": Any,
    # the scope that the value is set in; `default`: in none
    "scope": Literal["default", "system", "namespace", "agent", "family"],
    # the namespace, agent or family of that scope
    "name": NotRequired[str],
    # of the key in that scope, of a default where it holds everywhere; 0: it was never set there
    "version": NotRequired[int],
    # what it was set with
    "priority": NotRequired[int],
    # when it was set, RFC 3339
    "updated_at": NotRequired[str],
    # the agent that set it
    "updated_by": NotRequired[str],
    # nearer values that are not used, and why
    "unused": NotRequired[list[str]],
    # the default of the manifest
    "default": Any,
    # the JSON Schema of its values
    "schema": Any,
    # the category that its manifest names
    "category": NotRequired[str],
    # what it does
    "description": NotRequired[str],
    # the families that declare it
    "families": list[str],
})

SettingChange = TypedDict("SettingChange", {
    # its key
    "key": str,
    # its new value; null unsets it in the scope
    "value": Any,
    # of values in several scopes the highest priority decides, and then the nearest scope; not in scope `system`, whose values come last
    "priority": NotRequired[int],
    # the version that the key has to have in the scope; 0: it was never set there
    "if_version": NotRequired[int],
})

SettingChanged = TypedDict("SettingChanged", {
    # its key
    "key": str,
    # its version in the scope now; the one before where nothing changed
    "version": int,
    # the value before; absent: none
    "before": NotRequired[Any],
    # the value now; absent: none
    "after": NotRequired[Any],
    # the change that made the version, for `config.undo`: the same for all keys that it set; absent: nothing changed
    "change": NotRequired[str],
})

SettingVersion = TypedDict("SettingVersion", {
    # the version of the key in the scope that it made
    "version": int,
    # the value before; absent: none
    "before": NotRequired[Any],
    # the new value; absent: the setting was removed
    "after": NotRequired[Any],
    # what it was set with
    "priority": NotRequired[int],
    # when, RFC 3339
    "timestamp": str,
    # the agent that changed it
    "agent": NotRequired[str],
    # through which family
    "family": NotRequired[str],
    # why
    "reason": NotRequired[str],
    # the version whose value it set again
    "rolled_back_to": NotRequired[int],
    # the change that made the version, for `config.undo`: the same for all keys that it set
    "change": NotRequired[str],
})

SettingRule = TypedDict("SettingRule", {
    # `sum`: they add up to `equals`; `less_than`: each is less than the next; `one_of`: the first is in the list that the second is
    "rule": Literal["sum", "less_than", "one_of"],
    # their keys
    "keys": list[str],
    # of `sum`
    "equals": NotRequired[float],
    # of `sum`: how far off they may be
    "within": NotRequired[float],
    # the families that declare it
    "families": list[str],
})

Namespace = TypedDict("Namespace", {
    # its name
    "namespace": str,
    # how many memories are active in it, where they were asked for
    "memories": NotRequired[int],
    # how many events its log has, where they were asked for and may be read
    "events": NotRequired[int],
})

Moment = TypedDict("Moment", {
    # its version; as `as_of` it is written `v123`
    "version": int,
    # when it was made, RFC 3339
    "timestamp": str,
})

Durability = TypedDict("Durability", {
    # durable commits
    "commits": int,
    # writes to the disk, which concurrent commits share
    "syncs": int,
    # failed writes, whose commits were not acknowledged
    "failed": int,
    # nanoseconds of the last write
    "last_sync_ns": int,
    # nanoseconds of the slowest write
    "slowest_sync_ns": int,
    # bytes of the database
    "database_bytes": int,
})

Embedding = TypedDict("Embedding", {
    # its name
    "name": str,
    # vectors there are; 0 for callers that may not read every namespace, as all counts
    "vectors": int,
    # documents that wait for one
    "waiting": int,
    # documents that it refused
    "refused": int,
})

Missed = TypedDict("Missed", {
    # the watermark that was asked for
    "after": int,
    # the watermark behind which the feed is complete: notices between the two are gone
    "oldest": int,
    # the same in words
    "message": str,
})

ForeignTool = TypedDict("ForeignTool", {
    # its name
    "name": str,
    # its family
    "family": str,
    # what it does
    "description": str,
    # the JSON Schema of its arguments
    "input_schema": Any,
})

Recall = TypedDict("Recall", {
    # its id
    "recall_id": str,
    # the branch that was searched
    "branch": str,
    # what was looked for
    "query": str,
    # what was found, best first; at most 50
    "facts": list[RecalledFact],
    # who recalled; empty: an agent without a name
    "agent": str,
    # RFC 3339, UTC
    "timestamp": str,
    # RFC 3339, UTC
    "expires_at": str,
})

RecalledFact = TypedDict("RecalledFact", {
    # its namespace
    "namespace": str,
    # its key
    "key": str,
})

ToolUsage = TypedDict("ToolUsage", {
    # the agent; empty: it has no name; (others): those beyond a day's 1,000 rows
    "agent": str,
    # the tool's own name
    "tool": str,
    # the alias by which it was called; absent: its own name
    "as": NotRequired[str],
    # calls
    "calls": int,
    # calls that failed
    "errors": NotRequired[int],
    # RFC 3339, UTC: the last call
    "last": str,
})

Scope = TypedDict("Scope", {
    # the namespace
    "namespace": str,
    # its name for people
    "name": NotRequired[str],
    # what it is for
    "description": NotRequired[str],
    # the agent that created it, who is always a member
    "creator": str,
    # the other members, sorted
    "members": list[str],
    # who may read: `all`, `members` or `creator`
    "read": str,
    # who may write, of those who may read: `all`, `members` or `creator`
    "write": str,
    # how many days families keep its memories; absent: unlimited
    "retention_days": NotRequired[int],
    # nobody with a key may write
    "archived": NotRequired[bool],
    # RFC 3339, UTC
    "created_at": str,
})

Session = TypedDict("Session", {
    # its id; empty for an agent that called without one, or whose session ended
    "session": str,
    # the agent; absent: it has no name
    "agent": NotRequired[str],
    # the agent's program, by its own name
    "client": NotRequired[str],
    # RFC 3339, UTC
    "began_at": str,
    # calls of tools
    "calls": int,
    # RFC 3339, UTC; absent: it is open
    "ended_at": NotRequired[str],
    # its default namespace
    "namespace": str,
    # its default branch
    "branch": str,
    # its last call, RFC 3339, UTC
    "last_at": NotRequired[str],
})

MemoryGetResponse = TypedDict("MemoryGetResponse", {
    # in the order of the keys; null for a missing one
    "memories": list[Optional[Memory]],
})

MemoryStatesResponse = TypedDict("MemoryStatesResponse", {
    # in the order of the keys; empty for a missing memory
    "states": list[str],
    # in the order of the keys; null for a missing memory
    "values": NotRequired[list[Any]],
})

MemoryListResponse = TypedDict("MemoryListResponse", {
    # the page
    "memories": list[Memory],
    # `after` of the next page; absent at the end
    "next": NotRequired[str],
    # how many the filter admits, where that was counted
    "total": NotRequired[int],
})

MemoryNamespacesResponse = TypedDict("MemoryNamespacesResponse", {
    # their names
    "namespaces": list[str],
})

MemoryHistoryResponse = TypedDict("MemoryHistoryResponse", {
    # the page
    "versions": list[Memory],
    # the newest version of the next page, its `before`; absent at the end
    "next": NotRequired[int],
})

RecallGetResponse = TypedDict("RecallGetResponse", {
    # the recall
    "recall": Recall,
})

MemorySearchResponse = TypedDict("MemorySearchResponse", {
    # the best first
    "hits": list[MemoryHit],
    # how many memories match
    "total": int,
})

MemoryPairsResponse = TypedDict("MemoryPairsResponse", {
    # the memories that are in pairs
    "keys": list[str],
    # the pairs, the most similar first: two places in keys, from 0
    "pairs": list[list[int]],
    # of each pair, 0 to 1
    "similarities": list[float],
    # how many memories were compared
    "compared": int,
    # `after` of the memories that were not compared; absent when all were
    "next": NotRequired[str],
})

MemoryPutResponse = TypedDict("MemoryPutResponse", {
    # where each is
    "stored": list[MemoryID],
})

MemoryPatchResponse = TypedDict("MemoryPatchResponse", {
    # how many memories were changed
    "patched": int,
    # keys without a memory
    "missing": list[str],
})

MemoryDeleteResponse = TypedDict("MemoryDeleteResponse", {
    # how many there were to delete
    "deleted": int,
})

MemoryTouchResponse = TypedDict("MemoryTouchResponse", {
    # number of memories
    "touched": int,
})

RecordGetResponse = TypedDict("RecordGetResponse", {
    # in the order of the keys; null for a missing one
    "records": list[Optional[Record]],
})

RecordPutResponse = TypedDict("RecordPutResponse", {
    # how many
    "stored": int,
})

RecordDeleteResponse = TypedDict("RecordDeleteResponse", {
    # how many there were to delete
    "deleted": int,
})

RecordListResponse = TypedDict("RecordListResponse", {
    # the page
    "records": list[Record],
    # `after` of the next page; absent at the end
    "next": NotRequired[str],
    # number of matches on all pages, if `count` requests it
    "total": NotRequired[int],
})

RecordScanResponse = TypedDict("RecordScanResponse", {
    # the keys, each once
    "keys": list[str],
    # in the order of the keys
    "values": NotRequired[list[Any]],
    # `after` of the next page; absent at the end
    "next": NotRequired[str],
})

RecordHistoryResponse = TypedDict("RecordHistoryResponse", {
    # the page
    "versions": list[Record],
    # the newest version of the next page, its `before`; absent at the end
    "next": NotRequired[int],
})

RecordSearchResponse = TypedDict("RecordSearchResponse", {
    # the best first
    "hits": list[RecordHit],
    # how many records match
    "total": int,
})

RecordNearestResponse = TypedDict("RecordNearestResponse", {
    # the nearest first; equally near ones in the order of their keys
    "hits": list[RecordNeighbor],
    # how many records were compared
    "total": int,
})

RecordCollectionsResponse = TypedDict("RecordCollectionsResponse", {
    # the collections
    "collections": list[RecordCollection],
})

RecordAppendResponse = TypedDict("RecordAppendResponse", {
    # the sequence number of each
    "sequences": list[int],
})

LogAppendResponse = TypedDict("LogAppendResponse", {
    # its number, where it was asked for
    "sequence": NotRequired[int],
})

LogReadResponse = TypedDict("LogReadResponse", {
    # the page
    "events": list[Event],
})

LogVerifyResponse = TypedDict("LogVerifyResponse", {
    # all that were checked are sound
    "verified": bool,
    # how many are sound
    "checked": int,
    # `from` of the next page; absent at the end
    "next": NotRequired[int],
    # the first sequence number that is not sound
    "broken_at": NotRequired[int],
    # the fault
    "fault": NotRequired[str],
    # the hash of the last event that is sound, hexadecimal: it vouches for all before it
    "hash": NotRequired[str],
})

FeedReadResponse = TypedDict("FeedReadResponse", {
    # the oldest first
    "notices": list[Notice],
    # `after` of the next page
    "watermark": int,
    # there are more now
    "more": bool,
    # notices after the watermark that was asked for are gone; absent: none are
    "missed": NotRequired[Missed],
})

BranchListResponse = TypedDict("BranchListResponse", {
    # those that may be read
    "branches": list[Branch],
})

BranchDiffResponse = TypedDict("BranchDiffResponse", {
    # keys only on the source
    "added": int,
    # keys that differ
    "changed": int,
    # keys that the source deleted
    "removed": int,
    # keys that both changed
    "clashes": int,
    # those of memories, and of the family's own records
    "differences": list[Difference],
    # more than `limit` exist
    "truncated": bool,
    # of a proposal to which further calls may add: passed to a merge as `seen`, it merges what is listed and nothing later
    "seen": NotRequired[int],
})

BranchForkResponse = TypedDict("BranchForkResponse", {
    # its name
    "name": str,
    # the branch that is forked
    "from": str,
})

BranchMergeResponse = TypedDict("BranchMergeResponse", {
    # it is going to be merged
    "merged": bool,
    # the changed memories, at most 1000
    "applied": list[Difference],
    # what both changed, at most 1000
    "clashes": list[Difference],
    # how many clashes the strategy leaves; with any, nothing is merged
    "unresolved": int,
    # as that of `branch.diff`
    "seen": NotRequired[int],
})

LinkListResponse = TypedDict("LinkListResponse", {
    # memories that it refers to
    "links": list[str],
    # memories that refer to it, in the order of namespaces and keys
    "linked_from": list[str],
    # `after` of the next page; absent at the end
    "next": NotRequired[str],
})

LinkAddResponse = TypedDict("LinkAddResponse", {
    # how many are new
    "added": int,
})

LinkRemoveResponse = TypedDict("LinkRemoveResponse", {
    # how many there were
    "removed": int,
})

ConfigGetResponse = TypedDict("ConfigGetResponse", {
    # a value for every key
    "config": dict[str, Any],
    # the same with where each value comes from, where that was asked for
    "settings": NotRequired[list[SettingState]],
})

ConfigListResponse = TypedDict("ConfigListResponse", {
    # the page
    "settings": list[SettingState],
    # `after` of the next page; absent at the end
    "next": NotRequired[str],
})

ConfigPutResponse = TypedDict("ConfigPutResponse", {
    # in the order of the changes
    "changed": list[SettingChanged],
})

ConfigHistoryResponse = TypedDict("ConfigHistoryResponse", {
    # the page
    "versions": list[SettingVersion],
    # the newest version of the next page, its `before`; absent at the end
    "next": NotRequired[int],
})

ConfigRollbackResponse = TypedDict("ConfigRollbackResponse", {
    # what it did
    "changed": SettingChanged,
})

ConfigUndoResponse = TypedDict("ConfigUndoResponse", {
    # the settings that were changed, in the order of the keys
    "changed": list[SettingChanged],
})

ConfigRulesResponse = TypedDict("ConfigRulesResponse", {
    # those with a key of its own, or one that it may read
    "rules": list[SettingRule],
})

ConfigSetResponse = TypedDict("ConfigSetResponse", {
    # all of it
    "config": dict[str, Any],
})

CallerGetResponse = TypedDict("CallerGetResponse", {
    # the agent that calls; empty for calls by the host itself
    "caller": str,
    # `caller`, or the agent that it works for as a delegate: the first of a chain
    "principal": str,
    # the call's namespace
    "namespace": str,
    # the call's branch
    "branch": str,
    # what the call may do
    "capabilities": list[Power],
    # the family's hooks that are on, sorted: `embed`, `job`, `merged`, `rank`, `session_end`, `store`, `stored`
    "hooks": list[str],
    # the call can change nothing
    "read_only": bool,
    # the stage is committed to a branch of proposals
    "proposes": bool,
    # the caller's program, by its own name
    "client": NotRequired[str],
    # the id of the client's session; absent: there is none, as in a job
    "session": NotRequired[str],
    # the id of all that is stored here: one that was restored from a backup has that of the backup, one that was imported has its own; absent: the store has none
    "space": NotRequired[str],
    # the id of the caller's API key, for `caller.can`; absent: it has none
    "key": NotRequired[str],
})

QuotaListResponse = TypedDict("QuotaListResponse", {
    # by namespace and agent
    "quotas": list[QuotaUse],
})

CallerCanResponse = TypedDict("CallerCanResponse", {
    # it may
    "allowed": bool,
    # why it may not
    "reason": NotRequired[str],
})

SessionListResponse = TypedDict("SessionListResponse", {
    # the newest first
    "sessions": list[Session],
    # there are more than the limit
    "more": NotRequired[bool],
})

ScopeGetResponse = TypedDict("ScopeGetResponse", {
    # the record
    "scope": Scope,
})

ScopeListResponse = TypedDict("ScopeListResponse", {
    # the page
    "scopes": list[Scope],
    # `after` of the next page; absent at the end
    "next": NotRequired[str],
})

ScopePutResponse = TypedDict("ScopePutResponse", {
    # the record as it will be
    "scope": Scope,
    # there was none
    "created": bool,
})

ScopeMembersResponse = TypedDict("ScopeMembersResponse", {
    # the members afterwards, sorted, with the creator
    "members": list[str],
})

IdentityDelegateResponse = TypedDict("IdentityDelegateResponse", {
    # the key, which is shown here alone
    "key": str,
    # its id, for identity.revoke
    "id": str,
    # the agent's full name
    "agent": str,
    # RFC 3339, UTC
    "expires_at": str,
})

JobEnqueueResponse = TypedDict("JobEnqueueResponse", {
    # its id
    "id": str,
})

JobStatusResponse = TypedDict("JobStatusResponse", {
    # its id
    "id": str,
    # its name
    "job": str,
    # its state
    "state": Literal["queued", "running", "done", "failed", "cancelled"],
    # how often it was begun
    "attempts": int,
    # how far it has come
    "progress": NotRequired[Progress],
    # why the last attempt failed
    "error": NotRequired[str],
    # what it answered
    "result": NotRequired[Any],
    # the branch that has what it proposes
    "proposal": NotRequired[str],
})

JobCancelResponse = TypedDict("JobCancelResponse", {
    # there was something to cancel
    "cancelled": bool,
})

TextAnalyzeResponse = TypedDict("TextAnalyzeResponse", {
    # the terms of each
    "terms": list[list[str]],
})

TextCountResponse = TypedDict("TextCountResponse", {
    # number of documents
    "documents": int,
    # for each term, how many hold it
    "counts": list[int],
})

TextTokensResponse = TypedDict("TextTokensResponse", {
    # the vocabulary: `cl100k_base`
    "encoding": str,
    # how many tokens each text has; exact for models of that vocabulary, an estimate for others
    "counts": list[int],
    # the tokens of each text, where they were asked for; a part of a character is shown as U+FFFD
    "tokens": NotRequired[list[list[str]]],
    # the ids of the tokens of each text, where they were asked for
    "ids": NotRequired[list[list[int]]],
})

TextDetokenizeResponse = TypedDict("TextDetokenizeResponse", {
    # the vocabulary: `cl100k_base`
    "encoding": str,
    # the texts; a part of a character is shown as U+FFFD
    "texts": list[str],
})

EmbedTextsResponse = TypedDict("EmbedTextsResponse", {
    # the model that made them
    "model": str,
    # values in each
    "dimensions": int,
    # a vector for each text; none where they are packed
    "vectors": list[list[float]],
    # the vectors one after the other, their values as float32, little-endian, in base64; of a text without a vector zeros
    "packed": NotRequired[str],
})

EmbedRebuildResponse = TypedDict("EmbedRebuildResponse", {
    # the embedder that makes them
    "embedder": str,
    # documents that it has vectors of; 0 for callers that may not read every namespace
    "queued": int,
})

NamespaceListResponse = TypedDict("NamespaceListResponse", {
    # the page
    "namespaces": list[Namespace],
    # `after` of the next page; absent at the end
    "next": NotRequired[str],
})

NamespaceDeleteResponse = TypedDict("NamespaceDeleteResponse", {
    # how many are deleted
    "deleted": int,
    # there are more: ask again, in this call or the next
    "more": bool,
})

StatusGetResponse = TypedDict("StatusGetResponse", {
    # the call's branch
    "branch": str,
    # the namespace
    "namespace": str,
    # number of branches
    "branches": int,
    # active memories in the namespace
    "memories": int,
    # events in its log, where that may be read
    "events": NotRequired[int],
    # the newest version
    "version": int,
    # searches find everything; false while the index is rebuilt after a start
    "searchable": bool,
    # the embedders; of no meaning search, an empty list
    "embedders": list[Embedding],
    # the beginning of the branch's readable past; absent: it is empty
    "oldest": NotRequired[Moment],
    # the newest commit
    "latest": NotRequired[Moment],
    # what was made durable since the server started, where that is counted
    "durability": NotRequired[Durability],
})

VersionAtResponse = TypedDict("VersionAtResponse", {
    # the version; as `as_of` it is written `v123`
    "version": int,
    # the moment, RFC 3339
    "timestamp": str,
})

LLMCompleteResponse = TypedDict("LLMCompleteResponse", {
    # the answer
    "text": str,
    # the model
    "model": str,
    # tokens of the question
    "tokens_in": int,
    # tokens of the answer
    "tokens_out": int,
})

HTTPFetchResponse = TypedDict("HTTPFetchResponse", {
    # the status
    "status": int,
    # headers
    "headers": dict[str, str],
    # the body, in base64 if the request says so; otherwise what is no UTF-8 is replaced
    "body": str,
})

FileListResponse = TypedDict("FileListResponse", {
    # the page
    "files": list[FileEntry],
    # `after` of the next page; absent after the last one
    "next": NotRequired[str],
    # how many below the folder are left out, without names that begin with a dot
    "refused": NotRequired[int],
})

FileReadResponse = TypedDict("FileReadResponse", {
    # in the order of the paths; null for a missing one
    "files": list[Optional[File]],
})

FileWriteResponse = TypedDict("FileWriteResponse", {
    # how many were written: not those that have the content already
    "written": int,
})

ToolsListResponse = TypedDict("ToolsListResponse", {
    # by name
    "tools": list[ForeignTool],
})

ToolsCallResponse = TypedDict("ToolsCallResponse", {
    # its result
    "result": Any,
})

ToolsOfferedResponse = TypedDict("ToolsOfferedResponse", {
    # the page
    "tools": list[ForeignTool],
    # `after` of the next page; absent at the end
    "next": NotRequired[str],
})

ToolsUsageResponse = TypedDict("ToolsUsageResponse", {
    # by agent and tool
    "usage": list[ToolUsage],
})

Content = TypedDict("Content", {
    # `resource` has the content of a resource in it, `link` names one
    "type": Literal["text", "image", "audio", "resource", "link"],
    # of `text` and `resource`: the text
    "text": NotRequired[str],
    # of `image`, `audio` and `resource`: bytes, as base64
    "data": NotRequired[str],
    # what it is, as in image/png
    "mime_type": NotRequired[str],
    # of `resource` and `link`: its URI
    "uri": NotRequired[str],
    # of `link`: its name
    "name": NotRequired[str],
})

ListedResource = TypedDict("ListedResource", {
    # its URI, which fits the template
    "uri": str,
    # its name
    "name": str,
    # its name for people
    "title": NotRequired[str],
    # what it is
    "description": NotRequired[str],
    # what it contains
    "mime_type": NotRequired[str],
})

PromptMessage = TypedDict("PromptMessage", {
    # who says it
    "role": Literal["user", "assistant"],
    # what is said
    "content": Content,
})

Input = TypedDict("Input", {
    # what can be asked, of `user`, `model` and `roots`: the client can, and the family may
    "can": list[str],
    # the answers, as MCP has them, each under the name of its request; absent: nothing was asked yet
    "answers": NotRequired[dict[str, Any]],
    # what the tool gave when it asked
    "state": NotRequired[str],
})

InputRequest = TypedDict("InputRequest", {
    # whom
    "ask": Literal["user", "model", "roots"],
    # as MCP has them: of elicitation/create for `user`, of sampling/createMessage for `model`
    "params": NotRequired[Any],
})

Context = TypedDict("Context", {
    # the family that the request is for: one module may serve several
    "family": str,
    # the agent that calls; empty for calls by the host itself
    "caller": str,
    # the call's own namespace
    "namespace": str,
    # the branch that is read and written
    "branch": str,
    # RFC 3339, UTC; the same during the whole request
    "now": str,
    # the same when a request is repeated; empty where the host calls of its own accord
    "request_id": str,
    # changes are discarded, and nothing with an effect outside is sent
    "dry_run": NotRequired[bool],
    # an operator calls, at the command line, and no agent
    "operator": NotRequired[bool],
    # in a store hook on refuse: the branch that the change gets if the hook proposes it
    "proposal": NotRequired[str],
})

Entry = TypedDict("Entry", {
    # its namespace
    "namespace": str,
    # its collection: `memory`, in `stored` one of the family's own, or in `store` another family's, as `FAMILY/NAME`
    "collection": str,
    # its key
    "key": str,
    # in `store` only: it is about to be deleted, or moved to another state and nothing else; absent: it is being stored
    "change": NotRequired[Literal["delete", "state"]],
    # in `stored` only: the version of the commit
    "version": NotRequired[int],
    # in `stored` only: the commit deleted it
    "deleted": NotRequired[bool],
    # in `stored` only: the agent that wrote it; absent: unknown
    "agent": NotRequired[str],
    # in `stored` only: the family through which it was written; absent: none
    "family": NotRequired[str],
    # its state, in `store` the one that it will have; absent: active
    "state": NotRequired[Literal["archived", "merged", "pruned"]],
    # any JSON value
    "value": NotRequired[Any],
    # tags
    "tags": NotRequired[list[str]],
    # a type
    "type": NotRequired[str],
    # importance
    "importance": NotRequired[float],
    # named values
    "metadata": NotRequired[dict[str, Any]],
    # in `store` only: what it refers to, which a change cannot replace
    "links": NotRequired[list[str]],
    # in `store` only: keys of memories that it replaces, which a change cannot replace
    "supersedes": NotRequired[list[str]],
})

MergeNotice = TypedDict("MergeNotice", {
    # the branch that was merged
    "source": str,
    # the branch into which it was merged
    "target": str,
    # the version of the commit
    "version": int,
    # the agent that merged; absent: unknown
    "agent": NotRequired[str],
    # how many memories it changed, of those that the family may read
    "count": int,
    # the first 100 of them
    "keys": list[MergeKey],
})

MergeKey = TypedDict("MergeKey", {
    # its namespace
    "namespace": str,
    # its key
    "key": str,
    # the merge deleted it
    "deleted": NotRequired[bool],
})

Change = TypedDict("Change", {
    # any JSON value
    "value": NotRequired[Any],
    # replaces the present tags
    "tags": NotRequired[list[str]],
    # a type
    "type": NotRequired[str],
    # importance
    "importance": NotRequired[float],
    # added to the metadata; replaces members of the same name
    "metadata": NotRequired[dict[str, Any]],
})

ToolRequest = TypedDict("ToolRequest", {
    # the tool's name, as the manifest has it
    "tool": str,
    # an object that is valid by the tool's input schema
    "arguments": Any,
    # an object with a value for every key of the manifest's `config`
    "config": Any,
    # what the caller's client can be asked, and what it answered; absent: nothing can be asked
    "input": NotRequired[Input],
    # the context
    "context": Context,
})

HookRequest = TypedDict("HookRequest", {
    # the hook
    "hook": Literal["store", "stored", "merged", "session_end", "job"],
    # of `store` and `stored`: the memories or records; of one question of `store` all are in one namespace and collection
    "entries": NotRequired[list[Entry]],
    # of `merged`: the merge
    "merge": NotRequired[MergeNotice],
    # of `session_end`: the session
    "session": NotRequired[Session],
    # of `job`: its name
    "job": NotRequired[str],
    # of `job`: what it was queued with
    "payload": NotRequired[Any],
    # an object with a value for every key of the manifest's `config`
    "config": Any,
    # the context
    "context": Context,
})

StoreResult = TypedDict("StoreResult", {
    # the change of each entry of the request, or null; absent: nothing changes
    "entries": NotRequired[list[Optional[Change]]],
    # why none of the entries may be stored; all else is then ignored
    "refuse": NotRequired[str],
    # why the write is to go to a branch of proposals, with the changes of `entries`
    "propose": NotRequired[str],
})

ScoreParams = TypedDict("ScoreParams", {
    # an object with a value for every key of the manifest's `config`
    "config": Any,
    # the instant of the search, RFC 3339; of a search with `as_of` earlier than the context's
    "now": str,
    # the question
    "query": str,
    # the context
    "context": Context,
})

EmbedRequest = TypedDict("EmbedRequest", {
    # the texts
    "texts": list[str],
    # what the vectors are for
    "purpose": Literal["document", "query"],
    # an object with a value for every key of the manifest's `config`
    "config": Any,
    # the context
    "context": Context,
})

ContentResult = TypedDict("ContentResult", {
    # what people and models are shown
    "content": list[Content],
})

ResourceResult = TypedDict("ResourceResult", {
    # what it contains: text and data
    "contents": list[Content],
})

ResourceList = TypedDict("ResourceList", {
    # a page, in a stable order; at most 100
    "resources": list[ListedResource],
    # `after` of the next page; absent at the end
    "next": NotRequired[str],
})

PromptResult = TypedDict("PromptResult", {
    # what it is for
    "description": NotRequired[str],
    # the messages
    "messages": list[PromptMessage],
})

Completion = TypedDict("Completion", {
    # the values, the best first; at most 100 are shown
    "values": list[str],
    # how many there are; absent: unknown
    "total": NotRequired[int],
    # there are more
    "more": NotRequired[bool],
})

InputQuestions = TypedDict("InputQuestions", {
    # what to ask, each under a name of the tool's own; at most 8
    "requests": dict[str, InputRequest],
    # what the tool is to find again when it is called with the answers; at most 16 KiB. No client can read or change it
    "state": NotRequired[str],
})

Error = TypedDict("Error", {
    # one of the codes below
    "code": Code,
    # what went wrong and what to do about it
    "message": str,
    # the same request may succeed later. False for an unmet `if_version`, after which the caller reads again and sends another request. If an error body of a guest omits it, the code decides
    "retryable": bool,
    # facts for programs, such as the limit that was reached
    "details": NotRequired[dict[str, Any]],
})

class _Memory:
    def get(self, *, keys: list[str], namespace: str = ..., as_of: str = ..., counters: bool = ..., created: bool = ..., expired: bool = ...) -> MemoryGetResponse:
        """Memories by their keys. It needs memory.read.

        keys: keys
        namespace: the namespace; default: the call's own
        as_of: an earlier moment: `v123`, an instant, a date, `1h ago`; default: the version at which the call began
        counters: adds how each memory was used
        created: adds when each memory was created
        expired: finds memories that have expired, too
        """
    def states(self, *, keys: list[str], namespace: str = ..., values: bool = ...) -> MemoryStatesResponse:
        """The states of memories by their keys, and their values. It needs memory.read.

        keys: keys
        namespace: the namespace; default: the call's own
        values: adds the values
        """
    def list(self, *, namespace: str = ..., prefix: str = ..., after: str = ..., limit: int = ..., as_of: str = ..., counters: bool = ..., created: bool = ..., filter: MemoryFilter = ..., order: Literal["key", "newest", "oldest", "updated", "importance", "accesses", "accessed"] = ..., count: Literal["also", "only"] = ...) -> MemoryListResponse:
        """Memories of a namespace, page by page: in the order of their keys, or by their fields and in another order. It needs memory.read.

        namespace: the namespace; default: the call's own
        prefix: only keys that begin with it
        after: the key after which the page begins, or `next` of the page before; with a filter, order or count only the latter, of the same listing, which continues at the version of its first page
        limit: entries in one page; default: 100
        as_of: an earlier moment: `v123`, an instant, a date, `1h ago`; not with counters in the filter or order; default: the version at which the call began
        counters: adds how each memory was used
        created: adds when each memory was created
        filter: only memories that meet all of its conditions
        order: newest and oldest go by the creation; all but oldest have the greatest value first, memories without one last, and equal ones in the order of their keys; default: key
        count: counts all that the filter admits, beside the page or without one
        """
    def namespaces(self) -> MemoryNamespacesResponse:
        """The namespaces that have memories, of those that may be read. It needs memory.read."""
    def history(self, *, key: str, namespace: str = ..., before: int = ..., limit: int = ...) -> MemoryHistoryResponse:
        """The versions of one memory, the newest first. It needs memory.read.

        key: the memory
        namespace: the namespace; default: the call's own
        before: only this version and older ones: `next` of the page before
        limit: entries in one page; default: 100
        """
    def search(self, *, query: str, namespaces: list[str] = ..., k: int = ..., offset: int = ..., order: Literal["key", "newest", "oldest", "updated", "importance", "accesses", "accessed"] = ..., min_importance: float = ..., writers: list[str] = ..., tags: list[str] = ..., types: list[str] = ..., states: list[Literal["active", "archived", "merged", "pruned"]] = ..., since: str = ..., until: str = ..., as_of: str = ..., mode: Literal["hybrid", "lexical", "semantic"] = ..., vector: list[float] = ..., features: bool = ...) -> MemorySearchResponse:
        """Lexical, semantic or hybrid search; staged changes are not found. It needs memory.read.

        query: the question; empty: all memories that meet the other conditions
        namespaces: the namespaces; `*` alone stands for all that the call may read; default: the call's own
        k: how many hits; default: 10
        offset: how many of the best hits are left out
        order: orders all that matches, as in memory.list; not with mode semantic, vector or features; default: the best first; without a query newest
        min_importance: only memories at least as important
        writers: only memories whose newest version is by one of them, as in memory.list
        tags: only memories with all of them
        types: only memories of one of them
        states: only memories in one of them; default: active
        since: only versions written at this moment or later
        until: only versions written before this moment
        as_of: an earlier moment: `v123`, an instant, a date, `1h ago`; default: the version at which the call began
        mode: how to search; default: hybrid where there is an embedder, lexical otherwise
        vector: the question's vector; default: made by the embedder
        features: adds the columns of the rank hook to each hit
        """
    def pairs(self, *, namespace: str = ..., filter: MemoryFilter = ..., after: str = ..., limit: int = ..., similarity: float = ..., missing: int = ..., most: int = ...) -> MemoryPairsResponse:
        """Pairs of memories of a namespace that share many words of their texts, by the words' stems: the rarer a word is there, the more it weighs. Keys, tags and words such as `the` do not count, and staged changes are not seen. A word that very many memories have finds no pairs by itself. It needs memory.read.

        namespace: the namespace; default: the call's own
        filter: only memories that meet all of its conditions; not by counters
        after: only memories whose keys come after it: `next` of the answer before
        limit: memories that are compared with each other, the first in the order of their keys; default: 20000
        similarity: the least similarity: what the words weigh that both have, as a part of what all words of both weigh; default: 0.4
        missing: words of one memory that the other may lack; of the two numbers, the smaller counts. Of other pairs, only those are found of which no third memory is nearly as similar to one of both: four fifths as much; default: 0
        most: pairs at most, the most similar ones; default: 10000
        """
    def put(self, *, items: list[MemoryItem]) -> MemoryPutResponse:
        """Stage memories. It needs memory.write.

        items: the memories
        """
    def patch(self, *, patches: list[MemoryPatch], expired: bool = ...) -> MemoryPatchResponse:
        """Stage changes of some fields of memories. It needs memory.write.

        patches: the changes
        expired: finds memories that have expired, too
        """
    def delete(self, *, keys: list[str], namespace: str = ..., expired: bool = ...) -> MemoryDeleteResponse:
        """Stage deletions of memories. It needs memory.write.

        keys: keys
        namespace: the namespace; default: the call's own
        expired: finds memories that have expired, too
        """
    def touch(self, *, keys: list[str], namespace: str = ..., accesses: int = ..., health: float = ...) -> MemoryTouchResponse:
        """Add to the counters of memories. It needs memory.count.

        keys: keys
        namespace: the namespace; default: the call's own
        accesses: added to the accesses; default: 1, and 0 where health is given
        health: added to the health
        """

class _Recall:
    def get(self, *, recall_id: str) -> RecallGetResponse:
        """What a recall by query found, for feedback about it: the caller's own recalls, or with the right `act_as` all, of the last 90 days, if caller and family may read every namespace in it. It needs memory.read.

        recall_id: the `recallId` of `memory_recall`
        """

class _Record:
    def get(self, *, collection: str, keys: list[str], namespace: str = ..., family: str = ..., expired: bool = ...) -> RecordGetResponse:
        """Records of one of its own collections by their keys. It needs record.

        collection: the collection, as the manifest declares it
        keys: keys
        namespace: the namespace; default: the call's own
        family: another family, which `records.read` has to allow; default: the caller's own
        expired: expired records too, as far as they were not dropped yet
        """
    def put(self, *, collection: str, namespace: str = ..., items: list[RecordItem], now: bool = ...) -> RecordPutResponse:
        """Stage records, or commit them at once. It needs record.

        collection: the collection
        namespace: the namespace; default: the call's own
        items: the records
        now: commits them at once and by themselves, so that they stay if the call fails, as a note of its failure does; of a collection that is kept per space. A call that goes on to write what it read there conflicts with itself. At most 16 times in a call
        """
    def delete(self, *, collection: str, keys: list[str], namespace: str = ...) -> RecordDeleteResponse:
        """Stage deletions of records. It needs record.

        collection: the collection
        keys: keys
        namespace: the namespace; default: the call's own
        """
    def list(self, *, collection: str, namespace: str = ..., prefix: str = ..., after: str = ..., limit: int = ..., filters: list[RecordFilter] = ..., order: str = ..., descending: bool = ..., count: bool = ..., family: str = ..., expired: bool = ...) -> RecordListResponse:
        """Records, page by page, in the order of their keys; with `filters` or `order`, those that declared indexes select, in their order. It needs record.

        collection: the collection
        namespace: the namespace; default: the call's own
        prefix: only keys that begin with it
        after: the key after which the page begins, or `next` of the page before; with `filters` or `order` only the latter
        limit: entries in one page; with `filters` there may be fewer before the last page; default: 100
        filters: all of these hold; each field belongs to a declared index
        order: an indexed field to sort by; records without it come first; default: the filtered fields, or the keys
        descending: the last first; needs `filters` or `order`
        count: count all that match; needs `filters` or `order`
        family: another family, which `records.read` has to allow; default: the caller's own
        expired: expired records too, as far as they were not dropped yet
        """
    def scan(self, *, collection: str, namespace: str = ..., prefixes: list[str], after: str = ..., limit: int = ..., values: bool = ...) -> RecordScanResponse:
        """The keys of records that begin with one of several prefixes, and their values, page by page, in the order of the keys. It needs record.

        collection: one of the family's own collections
        namespace: the namespace; default: the call's own
        prefixes: the prefixes, in any order
        after: `next` of the page before
        limit: records in one page; default: 1000
        values: adds the values
        """
    def history(self, *, collection: str, key: str, namespace: str = ..., before: int = ..., limit: int = ..., family: str = ...) -> RecordHistoryResponse:
        """The versions of one record, the newest first. It needs record.

        collection: the collection
        key: the record
        namespace: the namespace; default: the call's own
        before: only this version and older ones: `next` of the page before
        limit: entries in one page; default: 100
        family: another family, which `records.read` has to allow; default: the caller's own
        """
    def search(self, *, collection: str, query: str, namespaces: list[str] = ..., k: int = ..., offset: int = ..., family: str = ..., mode: Literal["hybrid", "lexical", "semantic"] = ..., vector: list[float] = ...) -> RecordSearchResponse:
        """Search in a searchable collection; staged changes are not found. It needs record.

        collection: the collection
        query: the question
        namespaces: the namespaces; `*` alone stands for all that the caller may use; default: the call's own
        k: how many hits; default: 10
        offset: how many of the best hits are left out
        family: another family, which `records.read` has to allow; default: the caller's own
        mode: how to search; semantic and a vector need an embedder, and hybrid is lexical without one; default: lexical, and hybrid with a vector
        vector: the question's vector; default: made by the embedder
        """
    def nearest(self, *, collection: str, namespace: str = ..., prefix: str = ..., vector: list[float], field: str = ..., metric: Literal["cosine", "euclidean", "dot_product"] = ..., filters: list[RecordTest] = ..., k: int = ..., omit_vector: bool = ..., family: str = ...) -> RecordNearestResponse:
        """The records of a collection whose vectors are nearest to one, by an exact scan, staged ones included. It needs record.

        collection: the collection
        namespace: the namespace; default: the call's own
        prefix: only keys that begin with it
        vector: the question; records with a vector of another length are left out
        field: the field of a record, by its path, that is its vector: a list of numbers; default: vector
        metric: how near is computed; default: cosine
        filters: all of these hold
        k: how many hits; default: 10
        omit_vector: leaves the field of the vector out of the records in the answer, if it is one of the record's own
        family: another family, which `records.read` has to allow; default: the caller's own
        """
    def collections(self, *, family: str = ...) -> RecordCollectionsResponse:
        """The collections whose records the call may read, its own and those of other families, by family and name. It needs record.

        family: only those of a family, which `records.read` has to allow if it is another; default: all
        """
    def append(self, *, collection: str, namespace: str = ..., values: list[Any]) -> RecordAppendResponse:
        """Stage records with the next sequence numbers as their keys. It needs record.

        collection: the collection
        namespace: the namespace; default: the call's own
        values: the records
        """

class _Log:
    def append(self, *, event: str, data: Any = ..., namespace: str = ..., sequence: bool = ...) -> LogAppendResponse:
        """Stage an event of the log, which gets its sequence number at the commit. It needs log.append.

        event: its name
        data: the data of the event; default: null
        namespace: the namespace; default: the call's own
        sequence: answers its sequence number; a call that others overtake in the namespace's log is then a conflict, and is repeated as any other
        """
    def read(self, *, namespace: str = ..., from_: int = ..., limit: int = ...) -> LogReadResponse:
        """Events of the log, the oldest first. It needs log.read.

        namespace: the namespace; default: the call's own
        from_: the first sequence number; default: 1
        limit: entries in one page; default: 100
        """
    def verify(self, *, namespace: str = ..., from_: int = ..., limit: int = ...) -> LogVerifyResponse:
        """Check the chain of a log page by page: that no event is missing, changed or out of order. It needs log.read.

        namespace: the namespace; default: the call's own
        from_: the first sequence number; the event before it is trusted; default: 1
        limit: events to check; default: 1000
        """

class _Feed:
    def read(self, *, after: int = ..., namespaces: list[str] = ..., kinds: list[str] = ..., agents: list[str] = ..., limit: int = ...) -> FeedReadResponse:
        """Changes since a watermark. It needs feed.read.

        after: the watermark after which to begin; default: the beginning of what is kept
        namespaces: the namespaces; `*` alone stands for all that the call may read; default: the call's own
        kinds: only notices of these kinds; a kind that ends in `.*` stands for all of that family; default: all
        agents: only what these agents did; default: all
        limit: entries in one page; default: 100
        """
    def emit(self, *, kind: str, payload: Any = ..., namespace: str = ..., recipients: list[str] = ..., per: Literal["branch", "space"] = ...) -> dict[str, Any]:
        """Stage an event of the feed. It needs feed.emit.

        kind: its name; others see `FAMILY.KIND`, or with the capability `feed.kind` for it the name alone
        payload: the data of the notice
        namespace: the namespace; default: the call's own
        recipients: the agents that see it, beside the caller; default: all agents that may read the namespace
        per: `space`: in the feeds of all branches, which keep it for a day; default: branch
        """

class _Branch:
    def list(self) -> BranchListResponse:
        """The branches. It needs branch.read."""
    def diff(self, *, source: str, target: str = ..., namespaces: list[str] = ..., limit: int = ..., source_only: bool = ..., longest: int = ...) -> BranchDiffResponse:
        """What differs between two branches. It needs branch.read.

        source: a branch
        target: the branch that it is compared with; default: the call's own
        namespaces: the namespaces; `*` alone stands for all that the call may read; default: all that the call may read
        limit: entries in one page; default: 100
        source_only: only keys that the source changed since the branches parted: those that a merge brings
        longest: the most bytes of a value, also of one in metadata; of a longer one the beginning, size and digest are listed, as a text; default: no limit
        """
    def fork(self, *, name: str, from_: str = ..., as_of: str = ..., required: bool = ..., read_only: bool = ...) -> BranchForkResponse:
        """Make a branch, after the commit. It needs branch.write.

        name: its name
        from_: the branch to fork; default: the call's own
        as_of: an earlier moment: `v123`, an instant, a date, `1h ago`; default: the version at which the call began
        required: the call fails if this does, in which case what the call staged is kept; without it, the failure is a note
        read_only: nobody can write to the branch; without it, all can who may
        """
    def merge(self, *, source: str, target: str = ..., strategy: Literal["strict", "source", "target", "newest", "fields"] = ..., namespaces: list[str] = ..., seen: int = ..., preview: bool = ..., required: bool = ...) -> BranchMergeResponse:
        """Merge a branch after the commit, or preview that. It needs branch.write.

        source: the branch to merge
        target: the branch to merge into; default: the call's own
        strategy: what decides where both changed a key; default: strict
        namespaces: the namespaces; `*` alone stands for all that the call may read; default: all that the call may read
        seen: `seen` of the difference that was looked at: without it a proposal of several calls is not merged, and with it none to which one added since
        preview: only tells what would happen
        required: the call fails if this does, in which case what the call staged is kept; without it, the failure is a note
        """
    def delete(self, *, name: str, force: bool = ...) -> dict[str, Any]:
        """Delete a branch, after the commit. It needs branch.write.

        name: its name
        force: also with changes that its parent lacks; without it, they fail the deletion, which is a note
        """

class _Link:
    def list(self, *, key: str, namespace: str = ..., after: str = ..., limit: int = ...) -> LinkListResponse:
        """Links from and to a memory; a memory of another namespace is `namespace#key`, and is omitted if it may not be read. It needs link.read.

        key: the memory
        namespace: the namespace; default: the call's own
        after: only referring memories behind this one: `next` of the page before
        limit: referring memories in one page; default: all, of at most 20000
        """
    def add(self, *, key: str, to: list[str], namespace: str = ...) -> LinkAddResponse:
        """Stage links. It needs link.write.

        key: the memory
        to: memories that it is to refer to: keys, or `namespace#key`
        namespace: the namespace; default: the call's own
        """
    def remove(self, *, key: str, to: list[str], namespace: str = ...) -> LinkRemoveResponse:
        """Stage the removal of links. It needs link.write.

        key: the memory
        to: memories that it is to refer to no more
        namespace: the namespace; default: the call's own
        """

class _Config:
    def get(self, *, keys: list[str] = ..., namespace: str = ..., details: bool = ...) -> ConfigGetResponse:
        """Its own configuration, or settings by their keys with where their values come from.

        keys: keys; those of other families need `config.read`; default: those of the manifest's config
        namespace: the namespace that they are to apply to; default: the call's own
        details: adds `settings`
        """
    def list(self, *, category: str = ..., prefix: str = ..., namespace: str = ..., scope: Literal["system", "namespace", "agent"] = ..., name: str = ..., after: str = ..., limit: int = ...) -> ConfigListResponse:
        """Settings that families share, in the order of their keys, page by page. It needs config.read.

        category: only those of this category
        prefix: only keys that begin with it
        namespace: the namespace that they are to apply to; default: the call's own
        scope: only values set in this scope
        name: the namespace or agent of the scope; default: the call's namespace, or its caller
        after: the key after which the page begins, or `next` of the page before
        limit: entries in one page; default: 100
        """
    def put(self, *, changes: list[SettingChange], scope: Literal["system", "namespace", "agent"] = ..., name: str = ..., reason: str = ...) -> ConfigPutResponse:
        """Stage changes of settings that families share: all, or with any fault none. It needs config.shared.

        changes: the changes
        scope: where they apply; `system` and `agent` need a caller that may write every namespace; default: system
        name: the namespace or agent of the scope; default: the call's namespace, or its caller
        reason: why, for the history; at most 1,000 bytes
        """
    def history(self, *, key: str, scope: Literal["system", "namespace", "agent", "family"] = ..., name: str = ..., before: int = ..., limit: int = ...) -> ConfigHistoryResponse:
        """The changes of a shared setting in a scope, the newest first. It needs config.read.

        key: its key
        scope: the scope; `family`: the calling family's own value; default: system
        name: the namespace or agent of the scope; default: the call's namespace, or its caller
        before: only this version and older ones: `next` of the page before
        limit: entries in one page; default: 100
        """
    def rollback(self, *, key: str, version: int, scope: Literal["system", "namespace", "agent"] = ..., name: str = ..., if_version: int = ..., reason: str = ...) -> ConfigRollbackResponse:
        """Stage the value that a shared setting had at a version, as a new version. It needs config.shared.

        key: its key
        version: the version; 0: before it was ever set
        scope: the scope; default: system
        name: the namespace or agent of the scope; default: the call's namespace, or its caller
        if_version: the version that the key has to have in the scope now
        reason: why, for the history; at most 1,000 bytes
        """
    def undo(self, *, change: str, scope: Literal["system", "namespace", "agent"] = ..., name: str = ..., reason: str = ...) -> ConfigUndoResponse:
        """Stage the values that all keys of a change had before it, as new versions: all, or where one was changed since none. It needs config.shared.

        change: the change: `change` of a setting that it set, or KEY@VERSION of any of them
        scope: the scope; default: system
        name: the namespace or agent of the scope; default: the call's namespace, or its caller
        reason: why, for the history; at most 1,000 bytes
        """
    def rules(self) -> ConfigRulesResponse:
        """The rules about settings that the family may read."""
    def set(self, *, values: dict[str, Any]) -> ConfigSetResponse:
        """Stage a change of its own configuration. It needs config.write.

        values: new values by key; null goes back to the default
        """

class _Caller:
    def get(self) -> CallerGetResponse:
        """The caller, and the powers of the call."""
    def can(self, *, action: str, namespace: str = ..., agent: str = ..., key: str = ...) -> CallerCanResponse:
        """Whether the caller may do something, apart from what the family may.

        action: a right: `read`, `write`, `branch`, `config`, `scope.admin`, `site.admin`, `act_as` or `family:NAME`
        namespace: the namespace to read or write; default: the call's own
        agent: another agent, to read or write a namespace that the caller may read: what the rights record says of that agent, whose key may allow less. Needs `scope.read`; default: the caller
        key: the id of the API key that the agent had, from `caller.get`: it may do nothing unless that key holds still; default: any, or none
        """
    def progress(self, *, done: float, total: float = ..., message: str = ...) -> dict[str, Any]:
        """Tells how far the call, or the job, has come; acts at once.

        done: how much is done
        total: of how much; 0: unknown
        message: the current activity; at most 1,000 bytes
        """

class _Quota:
    def list(self, *, agent: str = ...) -> QuotaListResponse:
        """The namespaces with a quota that the caller may read, and what agents stored there; most callers see only themselves. It needs scope.read.

        agent: only this agent; default: all
        """

class _Session:
    def list(self, *, agent: str = ..., namespace: str = ..., recent_s: int = ..., limit: int = ...) -> SessionListResponse:
        """The open sessions: to the owner all, to the holder of a key those of its agent, and of agents that are members of the same scopes; or those in a namespace. It needs session.read.

        agent: only this agent's
        namespace: only sessions in this namespace, which the caller may read: of all agents
        recent_s: also agents that called so many seconds ago or less, without a session that is open; default: 0
        limit: sessions in the answer; default: 100
        """

class _Scope:
    def get(self, *, namespace: str = ...) -> ScopeGetResponse:
        """The rights record of a namespace. One that the caller may not read has none. It needs scope.read.

        namespace: the namespace; default: the call's own
        """
    def list(self, *, prefix: str = ..., after: str = ..., limit: int = ..., archived: bool = ...) -> ScopeListResponse:
        """The rights records of namespaces that the caller may read, in their order, page by page, without staged changes. It needs scope.read.

        prefix: only namespaces that begin with it
        after: the namespace after which the page begins, or `next` of the page before
        limit: entries in one page; default: 100
        archived: archived ones, too
        """
    def put(self, *, namespace: str, create: bool = ..., name: str = ..., description: str = ..., members: list[str] = ..., read: Literal["all", "members", "creator"] = ..., write: Literal["all", "members", "creator"] = ..., retention_days: int = ..., archived: bool = ...) -> ScopePutResponse:
        """Stage the creation of a namespace's rights record, by an agent that may write the namespace, or a change by its creator or a caller with the right scope.admin. Nobody grants a right to write that they lack. Namespaces private-AGENT are for that agent. It needs scope.write.

        namespace: the namespace
        create: a record that is there is a conflict
        name: its name for people; at most 200 bytes
        description: what it is for; at most 2,000 bytes
        members: the agents that are members beside the creator; absent: as they are
        read: who may read; at first `members`
        write: who may write, of those who may read; at first `members`
        retention_days: how many days families keep its memories; 0: unlimited
        archived: nobody with a key may write
        """
    def members(self, *, namespace: str = ..., add: list[str] = ..., remove: list[str] = ...) -> ScopeMembersResponse:
        """Stage the addition and removal of members of a scope, as scope.put does. It needs scope.write.

        namespace: the namespace; default: the call's own
        add: agents
        remove: agents
        """
    def delete(self, *, namespace: str, force: bool = ...) -> dict[str, Any]:
        """Stage the deletion of a rights record. What the namespace holds stays closed to all but the owner, until the creator makes the scope again. It needs scope.write.

        namespace: the namespace
        force: although the namespace holds memories on the call's branch
        """

class _Identity:
    def delegate(self, *, name: str, namespaces: list[str], rights: list[str] = ..., expires_s: int) -> IdentityDelegateResponse:
        """Make a key for an agent that works for the caller, with a part of the caller's rights, when the call is committed. It ends with the caller's own key. It needs identity.delegate.

        name: the agent's name after the caller's and a slash
        namespaces: the namespaces it may use, or patterns such as `team/*`
        rights: its rights, of those of caller.can; default: `read` and `write`
        expires_s: seconds until it expires; it never outlives the caller's key
        """
    def revoke(self, *, id: str) -> dict[str, Any]:
        """End a key that the family made for the same caller, when the call is committed. It needs identity.delegate.

        id: its id
        """

class _Job:
    def enqueue(self, *, job: str, payload: Any = ..., after_s: float = ..., feed_after: int = ...) -> JobEnqueueResponse:
        """Queue a job of its own. It needs job.

        job: its name, as the manifest declares it
        payload: what it is to work on; at most 64 KiB
        after_s: seconds until it may begin
        feed_after: a watermark: the job begins before `after_s` is over, once the feed of the call's branch has a notice behind it that the caller may read. Needs `feed.read`
        """
    def status(self, *, id: str) -> JobStatusResponse:
        """The state of a job. It needs job.

        id: its id
        """
    def cancel(self, *, id: str) -> JobCancelResponse:
        """Cancel a job. It needs job.

        id: its id
        """

class _Text:
    def analyze(self, *, texts: list[str]) -> TextAnalyzeResponse:
        """The terms of texts, as search sees them.

        texts: the texts
        """
    def count(self, *, terms: list[str], namespaces: list[str] = ..., collection: str = ..., family: str = ...) -> TextCountResponse:
        """How many memories, or records, hold each of some terms.

        terms: the terms
        namespaces: the namespaces; `*` alone stands for all that the call may read; default: the call's own
        collection: a searchable collection; default: memory
        family: another family, which `records.read` has to allow; default: the caller's own
        """
    def tokens(self, *, texts: list[str], tokens: bool = ..., ids: bool = ...) -> TextTokensResponse:
        """How many tokens texts have for a language model.

        texts: the texts; together at most 1 MiB
        tokens: adds the tokens themselves
        ids: adds the tokens' ids
        """
    def detokenize(self, *, ids: list[list[int]]) -> TextDetokenizeResponse:
        """The texts that tokens stand for.

        ids: the ids of the tokens of each text, as text.tokens gives them; the texts have at most 1 MiB together. Special tokens are none
        """

class _Embed:
    def texts(self, *, texts: list[str], purpose: Literal["document", "query"] = ..., packed: bool = ...) -> EmbedTextsResponse:
        """Vectors of texts. It needs embed.

        texts: the texts
        purpose: what the vectors are for; default: document
        packed: answers `packed` in place of vectors, which takes fewer bytes and less time to read
        """
    def rebuild(self) -> EmbedRebuildResponse:
        """Have all vectors made again, after the commit and at most once in ten minutes; the old ones serve until then. It needs embed.rebuild."""

class _Namespace:
    def list(self, *, prefix: str = ..., after: str = ..., limit: int = ..., counts: bool = ...) -> NamespaceListResponse:
        """The namespaces that have memories, of those that may be read, in order, page by page. It needs memory.read.

        prefix: only names that begin with it
        after: the name after which the page begins, or `next` of the page before
        limit: entries in one page; default: 100
        counts: adds how much each has
        """
    def delete(self, *, namespace: str, limit: int = ...) -> NamespaceDeleteResponse:
        """Stage the deletion of a bounded number of a namespace's memories; history, log and records stay. Refused if retention would drop the deleted memories at once. It needs namespace.delete.

        namespace: the namespace
        limit: memories to delete; default: 1000
        """

class _Status:
    def get(self, *, namespace: str = ..., details: bool = ...) -> StatusGetResponse:
        """How the memory is, as far as the call may read it. It needs memory.read.

        namespace: the namespace; default: the call's own
        details: adds the branch's readable past, and to callers who may read every namespace the counters of durability
        """

class _Version:
    def at(self, *, as_of: str, branch: str = ...) -> VersionAtResponse:
        """The newest version of a branch at a moment.

        as_of: the moment: `v123`, an instant, a date, `1h ago`
        branch: a branch; another one needs `branch.read`; default: the call's own
        """

class _LLM:
    def complete(self, *, prompt: str, system: str = ..., endpoint: str = ..., max_tokens: int = ..., temperature: float = ..., json: bool = ...) -> LLMCompleteResponse:
        """A completion by a configured language model. It needs llm.

        prompt: the question
        system: instructions that come before it
        endpoint: the operator's name for the model's server; default: the only one that the family may reach
        max_tokens: the longest answer; default: the model's own
        temperature: randomness of the answer
        json: the answer is to be a JSON object
        """

class _HTTP:
    def fetch(self, *, endpoint: str = ..., method: str = ..., path: str = ..., query: dict[str, str] = ..., headers: dict[str, str] = ..., body: str = ..., base64: bool = ..., repeatable: bool = ..., timeout_ms: int = ...) -> HTTPFetchResponse:
        """A request to an endpoint that the operator named. It needs http.

        endpoint: the operator's name for it; default: the only one that the family may reach
        method: the method; default: GET
        path: below the endpoint's URL
        query: parameters of the query
        headers: headers
        body: the body
        base64: both bodies are in base64, for bytes that are no text
        repeatable: the receiver knows a repetition, as by `Webhook-Id`: the request is no effect, and what sent it may be tried again
        timeout_ms: how long it may take, in milliseconds, the answer included; default: 60000
        """

class _File:
    def list(self, *, root: str = ..., folder: str = ..., after: str = ..., limit: int = ...) -> FileListResponse:
        """The files below a root, in the order of their paths, page by page; symbolic links, devices and files with several names are left out, and so is all whose name begins with a dot. It needs file.read.

        root: the operator's name for it; default: the only one that the family may use
        folder: only files below this folder
        after: the path after which the page begins
        limit: files in one page; default: 1000
        """
    def read(self, *, root: str = ..., paths: list[str], base64: bool = ...) -> FileReadResponse:
        """Files below a root. It needs file.read.

        root: the operator's name for it; default: the only one that the family may use
        paths: paths below the root
        base64: contents are in base64, as those that are no UTF-8 have to be
        """
    def write(self, *, root: str = ..., files: list[FileItem], base64: bool = ...) -> FileWriteResponse:
        """Write files below a root, each of them whole or not at all; at once, whatever becomes of the request, and not in a dry run. A request that wrote a file is not repeated when it is overtaken. It needs file.write.

        root: the operator's name for it; default: the only one that the family may use
        files: the files; all are checked before the first is written
        base64: contents are in base64
        """

class _Tools:
    def list(self) -> ToolsListResponse:
        """Tools of other families, and of the core, that may be called. It needs tools.call."""
    def call(self, *, tool: str, arguments: Any = ...) -> ToolsCallResponse:
        """Call another permitted tool inside of the same stage; its errors are passed on. It needs tools.call.

        tool: its name
        arguments: its arguments; default: {}
        """
    def publish(self, *, tool: Any) -> dict[str, Any]:
        """Publish a tool of its own. It needs tools.publish.

        tool: the tool, as a manifest has it
        """
    def withdraw(self, *, name: str) -> dict[str, Any]:
        """Withdraw a published tool. It needs tools.publish.

        name: its name
        """
    def offered(self, *, families: list[str] = ..., prefix: str = ..., after: str = ..., limit: int = ...) -> ToolsOfferedResponse:
        """The tools that the caller may use, in order, page by page: those of the core, then those of the families, the calling one's included.

        families: only those of these families; `core` stands for the core's; default: all
        prefix: only those whose names begin with it
        after: the name after which the page begins: `next` of the page before
        limit: entries in one page; default: 100
        """
    def usage(self, *, days: int = ..., tools: list[str] = ...) -> ToolsUsageResponse:
        """How often agents called tools; a caller without the right to every namespace sees only its own calls. It needs tools.usage.

        days: until now, today included; default: 30
        tools: tools, by their names or aliases; default: all
        """

class Operations:
    """The operations of the host. They return when they are done, and raise an AlcoveError."""

    memory: _Memory
    recall: _Recall
    record: _Record
    log: _Log
    feed: _Feed
    branch: _Branch
    link: _Link
    config: _Config
    caller: _Caller
    quota: _Quota
    session: _Session
    scope: _Scope
    identity: _Identity
    job: _Job
    text: _Text
    embed: _Embed
    namespace: _Namespace
    status: _Status
    version: _Version
    llm: _LLM
    http: _HTTP
    file: _File
    tools: _Tools
# generated: end

class Call(Operations):
    """What a function is given beside its input."""

    config: dict[str, Any]
    context: Context
    input: Optional[Input]
    """What the client of the caller can be asked, and its answers. A tool asks with fail("input_required", "why", details={"requests": …, "state": …})."""

    def call(self, op: str, request: Any = None, **members: Any) -> Any:
        """Runs an operation by its name."""
    def log(self, *values: Any) -> None:
        """Writes a line of the log, as print does."""
    def new_id(self, prefix: str = "") -> str:
        """A prefix and 26 characters that sort by the time of the request. A request that is repeated makes the same ids."""
    def memories(self, **request: Any) -> Iterator[Memory]:
        """All memories of a listing, page by page."""
