"""Tests alcove.py against a server. TestThePythonClient in host starts it, and does what it asks for: a line on standard output
such as "kill" is answered with a line on standard input."""

import asyncio
import os
import sys
import unittest

import alcove

DIR, URL, TOKEN, KEY = (os.environ["ALCOVE_TEST_" + name] for name in ("DIR", "URL", "TOKEN", "KEY"))


def ask(what):
    print(what, flush=True)
    if sys.stdin.readline().strip() != "done":
        raise AssertionError(f"{what} was not done")


class Blocking:
    """An AsyncClient whose methods wait for their results."""

    def __init__(self, *args, **options):
        self.loop = asyncio.new_event_loop()
        self.client = alcove.AsyncClient(*args, **options)

    def __getattr__(self, name):
        method = getattr(self.client, name)
        return lambda *args, **options: self.loop.run_until_complete(method(*args, **options))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.loop.run_until_complete(self.client.close())
        self.loop.close()


def each(**options):
    """Makes a test run with a client of each kind over each transport, with a namespace of its own."""

    def repeat(test):
        def run(self):
            for kind, make in (("sync", alcove.Client), ("async", Blocking)):
                for address in (DIR, URL):
                    name = f"{kind}-{'http' if address == URL else 'socket'}"
                    o = {"namespace": name, "agent": "snake", "key": TOKEN if address == URL else None, **options}
                    with self.subTest(name), make(address, **o) as c:
                        test(self, c)

        return run

    return repeat


class TestClients(unittest.TestCase):
    maxDiff = None

    @each()
    def test_memories_are_stored_recalled_found_and_forgotten(self, c):
        receipt = c.store("tea", {"kind": "<grün>"}, tags=["drink"])
        self.assertEqual(receipt["key"], "tea")
        found = c.recall("tea")
        self.assertEqual((found["value"], found["agent"], found["tags"]), ({"kind": "<grün>"}, "snake", ["drink"]))
        self.assertEqual([hit["key"] for hit in c.search("grün", k=3)], ["tea"])
        self.assertTrue(c.forget("tea"))
        with self.assertRaises(alcove.NotFound) as raised:
            c.recall("tea")
        self.assertEqual(raised.exception.code, "E_NOT_FOUND")

    @each()
    def test_errors_have_codes(self, c):
        with self.assertRaises(alcove.NotFound):
            c.call("no_such_tool")
        with self.assertRaises(alcove.InvalidArgument):
            c.call("store", {"key": "x", "value": 1}, namespace="not a name")
        with self.assertRaises(alcove.Conflict):
            c.store("x", 1, if_version=9)
        with self.assertRaises(alcove.InvalidArgument):
            c.store("x", "\ud800")
        self.assertTrue(c.call("store", {"key": "x", "value": 1}, dry_run=True))
        with self.assertRaises(alcove.NotFound):
            c.recall("x")

    @each()
    def test_batches_and_chains(self, c):
        answers = c.batch(alcove.operation("store", {"key": f"k{i}", "value": f"word{i}"}) for i in range(10))
        self.assertEqual([a.error for a in answers], [None] * 10)
        answers = c.batch([alcove.operation("recall", {"key": "k3"}), alcove.operation("nothing")])
        self.assertEqual(answers[0].value()["value"], "word3")
        self.assertIsInstance(answers[1].error, alcove.NotFound)
        with self.assertRaises(alcove.NotFound):
            answers[1].value()
        with self.assertRaises(alcove.InvalidArgument):
            c.batch([alcove.operation("status")] * 101)
        found = c.chain(alcove.operation("search", {"query": "word7"}), alcove.operation("recall", {"key": alcove.result("/results/0/key")}))
        self.assertEqual(found["value"], "word7")
        answer = c.run(alcove.operation("status", then=[alcove.operation("recall", {"key": "k1"})]), request_id="mine")
        self.assertEqual((answer.metadata["request_id"], len(answer.steps), answer.value()["value"]), ("mine", 1, "word1"))

    @each(max_answer=100_000)
    def test_answers_beyond_the_limit_are_errors(self, c):
        c.store("big", "x" * 200_000)
        with self.assertRaises(alcove.Exhausted):
            c.recall("big")
        c.call("status")

    def test_operations_of_one_client_run_at_once(self):
        async def run(address, **options):
            async with alcove.AsyncClient(address, namespace="at-once", **options) as c:
                await asyncio.gather(*(c.store(f"{address}/{i}", i) for i in range(50)))
                found = await asyncio.gather(*(c.recall(f"{address}/{i}") for i in range(50)))
                self.assertEqual([f["value"] for f in found], list(range(50)))

        asyncio.run(run(DIR))
        asyncio.run(run(URL, key=TOKEN))

    @each(wait=60)
    def test_a_killed_server_is_replaced_unnoticed(self, c):
        c.store("before", 1)
        paid = alcove.operation("log", {"event": "paid", "data": 5})
        name = c.run(alcove.operation("status")).metadata["request_id"]
        first = c.run(paid, request_id=name).value()
        ask("kill")
        c.store("after", 2)
        self.assertEqual((c.recall("before")["value"], c.recall("after")["value"]), (1, 2))
        self.assertEqual(c.run(paid, request_id=name).value()["sequence"], first["sequence"])

    def test_stores_that_a_kill_interrupts_are_found_once(self):
        async def run(address, namespace, **options):
            async with alcove.AsyncClient(address, namespace=namespace, wait=60, **options) as c:
                stores = [asyncio.ensure_future(c.store(f"k{i}", i)) for i in range(60)]
                await asyncio.wait(stores, return_when=asyncio.FIRST_COMPLETED)
                await asyncio.get_running_loop().run_in_executor(None, ask, "kill")
                await asyncio.gather(*stores)
                for i in range(60):
                    versions = (await c.call("history", {"key": f"k{i}"}))["versions"]
                    self.assertEqual([v["value"] for v in versions], [i])

        asyncio.run(run(DIR, "killed-socket"))
        asyncio.run(run(URL, "killed-http", key=TOKEN))

    def test_a_server_that_is_away_is_an_error(self):
        for address in (os.path.join(DIR, "nothing"), "http://127.0.0.1:1"):
            for make in (alcove.Client, Blocking):
                with make(address, wait=0.05) as c, self.assertRaises(alcove.Unavailable) as raised:
                    c.call("status")
                self.assertTrue(raised.exception.retryable)
        with self.assertRaises(ValueError):
            alcove.Client("ftp://127.0.0.1")

    @each(key=KEY + "x")
    def test_a_forged_key_is_refused(self, c):
        with self.assertRaises(alcove.Denied):
            c.call("status")

    @each(key=KEY, namespace="team/a")
    def test_a_key_names_its_agent_and_namespaces(self, c):
        c.store("k", 1)
        self.assertEqual(c.recall("k")["agent"], "ann")
        with self.assertRaises(alcove.Denied):
            c.recall("k", namespace="home")

    def test_revoked_keys_are_refused(self):
        with alcove.Client(URL) as c, self.assertRaises(alcove.Denied):
            c.call("status")
        open_ones = [alcove.Client(DIR, key=KEY, namespace="team/a"), alcove.Client(URL, key=KEY, namespace="team/a"),
                     Blocking(DIR, key=KEY, namespace="team/a")]
        open_ones[0].store("k", 1)
        for c in open_ones:
            c.recall("k")
        ask("revoke")
        for c in open_ones:
            with c, self.assertRaises(alcove.Denied) as raised:
                c.recall("k")
            self.assertIn("revoked", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
