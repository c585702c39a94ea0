"""A client of Alcove servers: it calls tools, one at a time, in batches and in chains, and receives events.

It needs Python 3.9 and the standard library only: copy this file, or add its folder to PYTHONPATH.

    import alcove

    with alcove.Client("/home/ann/.local/share/alcove", agent="report") as memory:
        memory.store("editor", "vim", tags=["tools"])
        print(memory.recall("editor")["value"])

AsyncClient is the same for asyncio. Errors are of type AlcoveError, which has a code, or of one of its subclasses.
"""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import hashlib
import http.client
import json
import os
import random
import secrets
import socket
import ssl
import struct
import threading
import time
import urllib.parse
from typing import Any, AsyncIterator, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, Union

__all__ = [
    "AlcoveError", "Answer", "AsyncClient", "Client", "Conflict", "Denied", "Event", "Exhausted", "Internal",
    "InvalidArgument", "Missed", "NotFound", "Operation", "TimedOut", "Unavailable", "operation", "result",
]

Operation = Dict[str, Any]
"""An operation as the server takes it: see operation()."""

_GREETING = 10.0  # seconds to connect and to be welcomed
_GRACE = 5.0  # seconds beyond a timeout in which the server may say so
_FIRST_PAUSE = 0.01  # seconds between two attempts to reach the server, growing
_LONGEST_PAUSE = 1.0
_HELLO_LIMIT = 64 << 10  # bytes


class AlcoveError(Exception):
    """The error of an operation, or of the connection to the server."""

    code = "E_INTERNAL"

    def __init__(self, message: str, *, retryable: bool = False, details: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(message)
        self.message = message
        self.retryable = retryable  # whether the same request may succeed later
        self.details = dict(details or {})


class InvalidArgument(AlcoveError):
    code = "E_INVALID_ARGUMENT"


class NotFound(AlcoveError):
    code = "E_NOT_FOUND"


class Denied(AlcoveError):
    code = "E_DENIED"


class Conflict(AlcoveError):
    code = "E_CONFLICT"


class Exhausted(AlcoveError):
    code = "E_EXHAUSTED"


class Unavailable(AlcoveError):
    code = "E_UNAVAILABLE"


class TimedOut(AlcoveError):
    code = "E_TIMEOUT"


class Internal(AlcoveError):
    code = "E_INTERNAL"


_CLASSES: Dict[str, Type[AlcoveError]] = {
    c.code: c for c in (InvalidArgument, NotFound, Denied, Conflict, Exhausted, Unavailable, TimedOut, Internal)
}


def _error_of(said: Mapping[str, Any]) -> AlcoveError:
    """Returns an error as a server describes it. Refusals of connections have their codes in lower case."""
    code = str(said.get("code", "")).upper()
    if not code.startswith("E_"):
        code = "E_" + code
    details = said.get("details")
    error = _CLASSES.get(code, Internal)(str(said.get("message", "")), retryable=bool(said.get("retryable")),
                                         details=details if isinstance(details, dict) else None)
    error.code = code
    return error


class _Lost(Exception):
    """A request is unanswered. Whether it was done is not known, unless refused says that it was not begun."""

    def __init__(self, why: object, *, refused: bool) -> None:
        super().__init__(str(why))
        self.refused = refused

    def final(self) -> AlcoveError:
        message = f"the alcove server cannot be reached: {self}"
        if not self.refused:
            message += "; whether the operation was done is not known: send it again with the same request id"
        return Unavailable(message, retryable=True)


def operation(method: Optional[str] = None, params: Optional[Mapping[str, Any]] = None, *,
              batch: Optional[Sequence[Operation]] = None, then: Optional[Sequence[Operation]] = None,
              namespace: Optional[str] = None, branch: Optional[str] = None, dry_run: bool = False,
              timeout: Optional[float] = None) -> Operation:
    """Returns a call of a tool, or a batch in its place, and what runs afterwards. The timeout is in seconds."""
    made: Operation = {}
    if method is not None:
        made["method"] = method
    if params is not None:
        made["params"] = dict(params)
    if batch is not None:
        made["batch"] = list(batch)
    if then:
        made["then"] = list(then)
    options: Dict[str, Any] = {}
    if namespace:
        options["namespace"] = namespace
    if branch:
        options["branch"] = branch
    if dry_run:
        options["dry_run"] = True
    if timeout is not None:
        options["timeout_ms"] = _milliseconds(timeout)
    if options:
        made["options"] = options
    return made


def result(path: str = "", step: Optional[int] = None) -> Dict[str, Any]:
    """Stands for a part of an earlier result in the params of a chain's later steps: a JSON Pointer, * being each element."""
    reference: Dict[str, Any] = {"$result": path}
    if step is not None:
        reference["step"] = step
    return reference


def _milliseconds(seconds: float) -> int:
    return max(1, min(int(seconds * 1000), 600_000))  # what servers accept


@dataclasses.dataclass(frozen=True)
class Answer:
    """The answer to an operation. The result may be a part of what was asked if there is an error."""

    method: Optional[str]
    result: Any
    error: Optional[AlcoveError]
    steps: List["Answer"]
    metadata: Dict[str, Any]

    def value(self) -> Any:
        """Returns the result, or raises the error."""
        if self.error is not None:
            raise self.error
        return self.result

    @staticmethod
    def _of(said: Mapping[str, Any]) -> "Answer":
        error = said.get("error")
        return Answer(said.get("method"), said.get("result"), _error_of(error) if isinstance(error, dict) else None,
                      [Answer._of(s) for s in said.get("steps", [])], said.get("metadata") or {})


class _Address:
    """Where a server is: a data directory, a socket, or a URL."""

    def __init__(self, address: Union[str, "os.PathLike[str]"]) -> None:
        text = os.fspath(address)
        url = urllib.parse.urlsplit(text)
        self.url = url if url.scheme in ("http", "https") else None
        self.path = url.path if url.scheme == "unix" else text
        if "://" in text and self.url is None and url.scheme != "unix":
            raise ValueError(f"{text} is no address of an alcove server: give a data directory, a socket or a URL of http or https")

    def record(self) -> Dict[str, Any]:
        """Returns what the server of a data directory wrote about itself."""
        try:
            with open(os.path.join(self.path, "owner.json"), encoding="utf-8") as f:
                record = json.load(f)
        except (OSError, ValueError):
            return {}
        return record if isinstance(record, dict) else {}

    def socket_path(self) -> str:
        if not os.path.isdir(self.path):
            return self.path
        return str(self.record().get("socket") or os.path.join(self.path, "alcove.sock"))


@dataclasses.dataclass(frozen=True)
class _Options:
    key: Optional[str]
    agent: Optional[str]
    namespace: Optional[str]
    branch: Optional[str]
    timeout: Optional[float]
    wait: float
    max_answer: int
    ssl_context: Optional[ssl.SSLContext]

    def headers(self) -> Dict[str, str]:
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = "Bearer " + self.key
        if self.agent:
            headers["Alcove-Agent"] = self.agent
        return headers

    def hello(self) -> bytes:
        hello: Dict[str, Any] = {"alcove": 1, "protocol": "operations"}
        if self.agent:
            hello["agent"] = self.agent
        if self.key:
            hello["key"] = self.key
        return json.dumps(hello).encode() + b"\n"

    def too_long(self) -> AlcoveError:
        return Exhausted(f"the answer is longer than {self.max_answer} bytes, which is the client's limit: "
                         "ask for less at once, or raise max_answer")


def _check_welcome(line: bytes) -> None:
    """Raises an error unless a server welcomes the client to its operations."""
    if not line.endswith(b"\n"):
        raise _Lost("the server ended the connection before it was welcome", refused=True)
    try:
        welcome = json.loads(line)
        error = welcome.get("error")
    except (ValueError, AttributeError):
        raise Internal("the answer to the hello is no JSON object: is this an alcove server?") from None
    if error:
        if error.get("retryable"):
            raise _Lost(error.get("message"), refused=True)
        raise _error_of(error)
    if welcome.get("alcove") != 1 or welcome.get("protocol") != "operations":
        raise InvalidArgument(f"the alcove server (version {welcome.get('version')}) serves no operations on its socket: "
                              "use its HTTP address, or a later version")


def _last_words(line: bytes) -> _Lost:
    """Returns why a server ends a connection whose open requests it has not begun."""
    try:
        return _Lost(json.loads(line)["error"]["message"], refused=True)
    except (ValueError, LookupError, TypeError):
        return _Lost("the server ended the connection", refused=True)


_ID_PREFIX = b'{"id":'


def _id_of(line: bytes) -> Optional[int]:
    """Returns the id that an answer begins with."""
    if not line.startswith(_ID_PREFIX):
        return None
    digits = line[len(_ID_PREFIX):len(_ID_PREFIX) + 24].split(b",", 1)[0]
    return int(digits) if digits.isdigit() else None


def _refusal(status: int, reason: str, body: bytes) -> Exception:
    """Returns the error of an HTTP request that the server did not take."""
    try:
        said = json.loads(body)["error"]
        error = _error_of(said)
    except (ValueError, LookupError, TypeError, AttributeError):
        error = Internal(f"the server answered {status} {reason}: is it an alcove server?")
    if status == 503:
        return _Lost(error.message, refused=True)
    return error


class _SocketConnection:
    """A connection on which one operation at a time is sent, a line each."""

    def __init__(self, path: str, options: _Options) -> None:
        self._options = options
        self._next = 0
        if not hasattr(socket, "AF_UNIX"):
            raise InvalidArgument("this Python has no Unix sockets: use the server's HTTP address")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(_GREETING)
            self._socket.connect(path)
            self._reader = self._socket.makefile("rb", buffering=64 << 10)
            self._socket.sendall(options.hello())
            _check_welcome(self._reader.readline(_HELLO_LIMIT))
        except OSError as e:
            self._socket.close()
            raise _Lost(f"{path}: {e}", refused=True) from e
        except BaseException:
            self._socket.close()
            raise

    def exchange(self, body: bytes, timeout: Optional[float]) -> bytes:
        self._next += 1
        try:
            self._socket.settimeout(timeout)
            self._socket.sendall(_ID_PREFIX + str(self._next).encode() + b"," + body[1:] + b"\n")
            line = self._reader.readline(self._options.max_answer + 1)
        except socket.timeout:
            raise TimedOut(f"there was no answer within {timeout} s: whether the operation was done is not known", retryable=True) from None
        except OSError as e:
            raise _Lost(e, refused=False) from e
        if len(line) > self._options.max_answer and not line.endswith(b"\n"):
            raise self._options.too_long()
        if not line.endswith(b"\n"):
            raise _Lost("the server ended the connection", refused=False)
        if _id_of(line) != self._next:
            raise _last_words(line)
        return line

    def close(self) -> None:
        self._socket.close()
        self._reader.close()


class _WebConnection:
    """A connection over HTTP."""

    def __init__(self, url: urllib.parse.SplitResult, options: _Options) -> None:
        self._options = options
        self._path = url.path.rstrip("/") + "/operation"
        host = url.hostname or "127.0.0.1"
        if url.scheme == "https":
            self._connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, url.port, timeout=_GREETING, context=options.ssl_context or ssl.create_default_context())
        else:
            self._connection = http.client.HTTPConnection(host, url.port, timeout=_GREETING)
        try:
            self._connection.connect()
        except ssl.SSLCertVerificationError as e:
            raise Unavailable(f"the server's certificate is not trusted: {e}") from e
        except OSError as e:
            raise _Lost(f"{host}: {e}", refused=True) from e

    def exchange(self, body: bytes, timeout: Optional[float]) -> bytes:
        try:
            self._connection.timeout = timeout  # of a connection that replaces one that the server closed
            if self._connection.sock is not None:
                self._connection.sock.settimeout(timeout)
            self._connection.request("POST", self._path, body, self._options.headers())
            answer = self._connection.getresponse()
            if (answer.length or 0) > self._options.max_answer:
                raise self._options.too_long()
            # Python 3.9 makes room for all that it is told to read.
            text = answer.read() if answer.length is not None else answer.read(self._options.max_answer + 1)
        except socket.timeout:
            raise TimedOut(f"there was no answer within {timeout} s: whether the operation was done is not known", retryable=True) from None
        except (OSError, http.client.HTTPException) as e:
            raise _Lost(str(e) or type(e).__name__, refused=False) from e
        if len(text) > self._options.max_answer:
            raise self._options.too_long()
        if answer.status != 200:
            raise _refusal(answer.status, answer.reason, text)
        return text

    def close(self) -> None:
        self._connection.close()


_Connection = Union[_SocketConnection, _WebConnection]


class _Pool:
    """The connections of a client: each serves one operation at a time."""

    def __init__(self, address: _Address, options: _Options) -> None:
        self._address = address
        self._options = options
        self._lock = threading.Lock()
        self._idle: List[_Connection] = []
        self._closed = False

    def exchange(self, body: bytes, timeout: Optional[float]) -> bytes:
        connection = self._take()
        try:
            answer = connection.exchange(body, timeout)
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return answer
        connection.close()
        return answer

    def _take(self) -> _Connection:
        with self._lock:
            if self._closed:
                raise Unavailable("the client is closed")
            if self._idle:
                return self._idle.pop()
        if self._address.url is not None:
            return _WebConnection(self._address.url, self._options)
        return _SocketConnection(self._address.socket_path(), self._options)

    def drop(self) -> None:
        """Closes what is idle: after one connection was lost, the others probably are, too."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
        self.drop()


class _Base:
    """What both clients have in common: operations, and what their answers mean."""

    def __init__(self, address: Union[str, "os.PathLike[str]"], *, key: Optional[str] = None, agent: Optional[str] = None,
                 namespace: Optional[str] = None, branch: Optional[str] = None, timeout: Optional[float] = None,
                 wait: float = 10.0, max_answer: int = 64 << 20, ssl_context: Optional[ssl.SSLContext] = None) -> None:
        """address is a data directory, the path of its socket, or a URL such as http://127.0.0.1:9742.

        key is an API key, or, over HTTP, the token of the data directory. agent is the author of what is written; a key names
        its own. namespace and branch are those of operations that name none. timeout bounds each operation, wait how long to
        try to reach a server that is away, both in seconds. max_answer bounds an answer, in bytes.
        """
        self._address = _Address(address)
        self._options = _Options(key, agent, namespace, branch, timeout, wait, max_answer, ssl_context)
        self._pool = _Pool(self._address, self._options)

    def _encode(self, asked: Operation, request_id: Optional[str], timeout: Optional[float]) -> Tuple[bytes, Optional[float]]:
        """Returns an operation as it is sent, and how long to wait for the answer."""
        made = dict(asked)
        options = dict(made.get("options") or {})
        if self._options.namespace:
            options.setdefault("namespace", self._options.namespace)
        if self._options.branch:
            options.setdefault("branch", self._options.branch)
        timeout = self._options.timeout if timeout is None else timeout
        if timeout is not None:
            options.setdefault("timeout_ms", _milliseconds(timeout))
        if options:
            made["options"] = options
        made["metadata"] = {"request_id": request_id or secrets.token_hex(16)}
        try:
            body = json.dumps(made, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        except UnicodeEncodeError:
            raise InvalidArgument("the operation has text that is not valid Unicode") from None
        return body, None if timeout is None else timeout + _GRACE

    def _decode(self, raw: bytes) -> Answer:
        try:
            said = json.loads(raw)
        except ValueError:
            raise Internal("the server's answer is not JSON") from None
        return Answer._of(said)

    @staticmethod
    def _items(answer: Answer) -> List[Answer]:
        if not isinstance(answer.result, list):
            answer.value()
            raise Internal("the answer to a batch is no list")
        return [Answer._of(item) for item in answer.result]

    @staticmethod
    def _stored(key: Optional[str], value: Any, fields: Mapping[str, Any]) -> Dict[str, Any]:
        params: Dict[str, Any] = {"value": value, **fields}
        if key is not None:
            params["key"] = key
        return params

    @staticmethod
    def _recalled(key: str, found: Any) -> Dict[str, Any]:
        if not found.get("found"):
            raise NotFound(f"there is no memory with the key {key}")
        return dict(found)

    def _pause(self, attempt: int) -> float:
        pause = min(_FIRST_PAUSE * 2.0 ** attempt, _LONGEST_PAUSE)
        return pause * (0.5 + random.random())  # so that not all clients come back at once


class Client(_Base):
    """A client for programs with threads: each operation in progress has a connection. It survives the replacement of the server's
    process: an operation that is unanswered when its connection ends is sent again with its request id, so that it writes once."""

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._pool.close()

    def run(self, asked: Operation, *, request_id: Optional[str] = None, timeout: Optional[float] = None) -> Answer:
        """Runs an operation, and returns its answer, which may have an error. Repeated with the same request_id, it writes once."""
        body, within = self._encode(asked, request_id, timeout)
        until = time.monotonic() + self._options.wait
        attempt = 0
        while True:
            try:
                return self._decode(self._pool.exchange(body, within))
            except _Lost as lost:
                self._pool.drop()
                pause = self._pause(attempt)
                if time.monotonic() + pause > until:
                    raise lost.final() from lost
            time.sleep(pause)
            attempt += 1

    def call(self, method: str, params: Optional[Mapping[str, Any]] = None, *, namespace: Optional[str] = None,
             branch: Optional[str] = None, dry_run: bool = False, timeout: Optional[float] = None,
             request_id: Optional[str] = None) -> Any:
        """Calls a tool, and returns its result."""
        asked = operation(method, params, namespace=namespace, branch=branch, dry_run=dry_run)
        return self.run(asked, request_id=request_id, timeout=timeout).value()

    def batch(self, operations: Iterable[Operation], *, request_id: Optional[str] = None, timeout: Optional[float] = None) -> List[Answer]:
        """Runs up to 100 operations in parallel. A failed one does not affect the others: its answer has the error."""
        return self._items(self.run(operation(batch=list(operations)), request_id=request_id, timeout=timeout))

    def chain(self, first: Operation, *then: Operation, request_id: Optional[str] = None, timeout: Optional[float] = None) -> Any:
        """Runs operations one after the other, whose params may refer to earlier results, and returns the last result."""
        return self.run({**first, "then": [*first.get("then", []), *then]}, request_id=request_id, timeout=timeout).value()

    def store(self, key: Optional[str], value: Any, **fields: Any) -> Dict[str, Any]:
        """Stores a memory, with tags, type, importance, metadata, expires, links, if_version, namespace and branch if given."""
        return dict(self.call("memory_store", self._stored(key, value, fields)))

    def recall(self, key: str, **fields: Any) -> Dict[str, Any]:
        """Returns a memory, or raises NotFound."""
        return self._recalled(key, self.call("memory_recall", {"key": key, **fields}))

    def search(self, query: str, **fields: Any) -> List[Dict[str, Any]]:
        """Returns the memories that fit a query best; k says how many."""
        return list(self.call("memory_search", {"query": query, **fields})["results"])

    def forget(self, key: str, **fields: Any) -> bool:
        """Deletes a memory, and returns whether there was one."""
        return bool(self.call("memory_forget", {"key": key, **fields})["deleted"])


class _AsyncLines:
    """A connection on which many operations may be unanswered."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, options: _Options) -> None:
        self._reader, self._writer, self._options = reader, writer, options
        self._next = 0
        self._waiting: Dict[int, "asyncio.Future[bytes]"] = {}
        self.ended: Optional[_Lost] = None
        self._reading: Optional["asyncio.Task[None]"] = None
        self._writing = asyncio.Lock()  # before Python 3.12, one task at a time may drain

    @staticmethod
    async def open(path: str, options: _Options) -> "_AsyncLines":
        if not hasattr(asyncio, "open_unix_connection"):
            raise InvalidArgument("this Python has no Unix sockets: use the server's HTTP address")
        writer: Optional[asyncio.StreamWriter] = None
        try:
            reader, writer = await asyncio.wait_for(asyncio.open_unix_connection(path, limit=_HELLO_LIMIT), _GREETING)
            writer.write(options.hello())
            _check_welcome(await asyncio.wait_for(reader.readline(), _GREETING))
        except (OSError, ValueError, asyncio.TimeoutError) as e:
            if writer is not None:
                writer.close()
            raise _Lost(f"{path}: {e}", refused=True) from e
        except BaseException:
            if writer is not None:
                writer.close()
            raise
        made = _AsyncLines(reader, writer, options)
        made._reading = asyncio.ensure_future(made._read())
        return made

    async def exchange(self, body: bytes, timeout: Optional[float]) -> bytes:
        if self.ended is not None:
            raise _Lost(self.ended, refused=True)
        self._next += 1
        number = self._next
        answered: "asyncio.Future[bytes]" = asyncio.get_running_loop().create_future()
        self._waiting[number] = answered
        try:
            try:
                async with self._writing:
                    self._writer.write(_ID_PREFIX + str(number).encode() + b"," + body[1:] + b"\n")
                    await self._writer.drain()
            except OSError as e:
                self._end(_Lost(e, refused=False))  # which answers this request, too
            return await asyncio.wait_for(answered, timeout)
        except asyncio.TimeoutError:
            raise TimedOut(f"there was no answer within {timeout} s: whether the operation was done is not known", retryable=True) from None
        finally:
            self._waiting.pop(number, None)

    async def _read(self) -> None:
        why = _Lost("the server ended the connection", refused=False)
        try:
            async for number, line in self._lines():
                if number is None:
                    why = _last_words(line)
                    break
                answered = self._waiting.pop(number, None)
                if answered is None or answered.done():
                    continue  # nobody waits any more
                if line:
                    answered.set_result(line)
                else:
                    answered.set_exception(self._options.too_long())
        except OSError as e:
            why = _Lost(e, refused=False)
        finally:
            self._end(why)

    async def _lines(self) -> AsyncIterator[Tuple[Optional[int], bytes]]:
        """Yields answers with their ids. An answer beyond the limit is empty."""
        buffer = bytearray()
        skipped: Optional[int] = None
        while True:
            part = await self._reader.read(64 << 10)
            if not part:
                return
            while part:
                head, end, part = part.partition(b"\n")
                if skipped is None:
                    buffer += head
                    if len(buffer) > self._options.max_answer:
                        skipped = _id_of(bytes(buffer[:64])) or 0
                        buffer.clear()
                if not end:
                    break
                if skipped is not None:
                    yield skipped, b""
                else:
                    line = bytes(buffer)
                    yield _id_of(line[:64]), line
                buffer.clear()
                skipped = None

    def _end(self, why: _Lost) -> None:
        self.ended = self.ended or why
        self._writer.close()
        waiting, self._waiting = self._waiting, {}
        for answered in waiting.values():
            if not answered.done():
                answered.set_exception(why)

    async def close(self) -> None:
        self._end(_Lost("the client is closed", refused=False))
        if self._reading is not None:
            self._reading.cancel()
            try:
                await self._reading
            except asyncio.CancelledError:
                pass


class AsyncClient(_Base):
    """A client for asyncio: operations share one connection to a socket. Over HTTP each in progress has a connection, and a thread of
    the loop's executor. It survives the replacement of the server's process as Client does."""

    _lines: Optional[_AsyncLines] = None
    _opening: Optional[asyncio.Lock] = None  # made when a loop runs
    _closed = False

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        self._closed = True
        self._pool.close()
        if self._lines is not None:
            await self._lines.close()

    async def _exchange(self, body: bytes, timeout: Optional[float]) -> bytes:
        if self._address.url is not None:
            return await asyncio.get_running_loop().run_in_executor(None, self._pool.exchange, body, timeout)
        return await (await self._connected()).exchange(body, timeout)

    async def _connected(self) -> _AsyncLines:
        if self._opening is None:
            self._opening = asyncio.Lock()
        async with self._opening:
            if self._closed:
                raise Unavailable("the client is closed")
            if self._lines is None or self._lines.ended is not None:
                self._lines = await _AsyncLines.open(self._address.socket_path(), self._options)
            return self._lines

    async def run(self, asked: Operation, *, request_id: Optional[str] = None, timeout: Optional[float] = None) -> Answer:
        """Runs an operation, and returns its answer, which may have an error. Repeated with the same request_id, it writes once."""
        body, within = self._encode(asked, request_id, timeout)
        until = time.monotonic() + self._options.wait
        attempt = 0
        while True:
            try:
                return self._decode(await self._exchange(body, within))
            except _Lost as lost:
                self._pool.drop()
                pause = self._pause(attempt)
                if time.monotonic() + pause > until:
                    raise lost.final() from lost
            await asyncio.sleep(pause)
            attempt += 1

    async def call(self, method: str, params: Optional[Mapping[str, Any]] = None, *, namespace: Optional[str] = None,
                   branch: Optional[str] = None, dry_run: bool = False, timeout: Optional[float] = None,
                   request_id: Optional[str] = None) -> Any:
        """Calls a tool, and returns its result."""
        asked = operation(method, params, namespace=namespace, branch=branch, dry_run=dry_run)
        return (await self.run(asked, request_id=request_id, timeout=timeout)).value()

    async def batch(self, operations: Iterable[Operation], *, request_id: Optional[str] = None, timeout: Optional[float] = None) -> List[Answer]:
        """Runs up to 100 operations in parallel. A failed one does not affect the others: its answer has the error."""
        return self._items(await self.run(operation(batch=list(operations)), request_id=request_id, timeout=timeout))

    async def chain(self, first: Operation, *then: Operation, request_id: Optional[str] = None, timeout: Optional[float] = None) -> Any:
        """Runs operations one after the other, whose params may refer to earlier results, and returns the last result."""
        asked = {**first, "then": [*first.get("then", []), *then]}
        return (await self.run(asked, request_id=request_id, timeout=timeout)).value()

    async def store(self, key: Optional[str], value: Any, **fields: Any) -> Dict[str, Any]:
        """Stores a memory, with tags, type, importance, metadata, expires, links, if_version, namespace and branch if given."""
        return dict(await self.call("memory_store", self._stored(key, value, fields)))

    async def recall(self, key: str, **fields: Any) -> Dict[str, Any]:
        """Returns a memory, or raises NotFound."""
        return self._recalled(key, await self.call("memory_recall", {"key": key, **fields}))

    async def search(self, query: str, **fields: Any) -> List[Dict[str, Any]]:
        """Returns the memories that fit a query best; k says how many."""
        return list((await self.call("memory_search", {"query": query, **fields}))["results"])

    async def forget(self, key: str, **fields: Any) -> bool:
        """Deletes a memory, and returns whether there was one."""
        return bool((await self.call("memory_forget", {"key": key, **fields}))["deleted"])
