"""Examples of the client. ALCOVE_DATA is the data directory, or another address, of a server that runs; ALCOVE_KEY is an API key, if
the server needs one."""

import asyncio
import os

import alcove

ADDRESS = os.environ["ALCOVE_DATA"]
KEY = os.environ.get("ALCOVE_KEY")

with alcove.Client(ADDRESS, key=KEY, agent="examples", namespace="examples") as memory:
    memory.store("editor", "vim", tags=["tools"])
    print(memory.recall("editor")["value"])
    print([hit["key"] for hit in memory.search("vim")])

    # Any tool, with options. Nothing is written by a dry run.
    memory.call("forget", {"key": "editor"}, dry_run=True)
    print(memory.recall("editor")["value"])

    # A batch: an answer for each operation.
    for answer in memory.batch([alcove.operation("recall", {"key": "editor"}), alcove.operation("no_such_tool")]):
        print(answer.error.code if answer.error else answer.result["value"])

    # A chain, whose second step uses a part of the first result.
    found = memory.chain(alcove.operation("search", {"query": "vim"}),
                         alcove.operation("recall", {"key": alcove.result("/results/0/key")}))
    print(found["value"])

    # A call that is made twice and writes once.
    paid = alcove.operation("log", {"event": "paid", "data": 5})
    first = memory.run(paid, request_id="payment-1").value()
    print(first["sequence"] == memory.run(paid, request_id="payment-1").value()["sequence"])

    # Errors are exceptions with a code.
    try:
        memory.recall("no such key")
    except alcove.NotFound as error:
        print(error.code)


async def at_once() -> None:
    async with alcove.AsyncClient(ADDRESS, key=KEY, agent="examples", namespace="examples") as memory:
        await asyncio.gather(*(memory.store(f"note/{i}", i) for i in range(10)))
        notes = await asyncio.gather(*(memory.recall(f"note/{i}") for i in range(10)))
        print(sum(note["value"] for note in notes))


asyncio.run(at_once())
