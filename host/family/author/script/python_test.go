package script_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/family/author/script"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/must"
)

const annotated = `"""Computes.

With files beside it.
"""
import alcove
from lib.double import double
import lib.deeper.triple as three, json

alcove.family(name="annotated", version="1.2.3")


@alcove.tool(read_only=True, output={"result": float})
def annotated_compute(
    c: alcove.Call, n: float, names: list[str] = None, unit: str = "g", exact: bool | None = None
) -> dict:
    """Compute
    something.

    n: a number
    """
    print("computing", json.dumps({"n": n}))
    return {"result": double(n) + three.triple(n)}
`

func computePython(t testing.TB) []byte {
	return module(t, project(t, "family.py", annotated,
		"lib/double.py", "# Doubles.\ndef double(n):\n    if n < 0:\n        raise ValueError(\"below zero\")\n    return 2 * n\n",
		"lib/deeper/__init__.py", "", "lib/deeper/triple.py", "from ..double import double\nfrom . import words\ndef triple(n):\n    return double(n) + n\n", "lib/deeper/words.py", "x = 1\n"))
}

func TestFilesInPythonBecomeOneModule(t *testing.T) {
	r, lines := ask(t, computePython(t), "annotated_compute", `{"n":7}`)
	if string(r.Output) != `{"result":35}` {
		t.Errorf("got %s, %v, want the result 35", r.Output, r.Error)
	}
	if len(lines) != 1 || lines[0] != `computing {"n": 7}` {
		t.Errorf("it printed %q, want one line of print", lines)
	}
}

// The parameters are those of the annotations, and their descriptions are in the documentation.
func TestASourceInPythonGivesItsManifest(t *testing.T) {
	data, err := script.Manifest(t.Context(), sandbox.Config{Interpret: true}, computePython(t))
	must.Do(t, err)
	m, err := sandbox.ParseManifest(data)
	must.Do(t, err)
	tool := m.Tools[0]
	if m.Name != "annotated" || m.Description != "Computes" || m.Docs != "With files beside it." || tool.Description != "Compute something." || tool.Annotations.ReadOnly == nil {
		t.Errorf("got %s, want the family annotated with the texts of its documentation", data)
	}
	const want = `{"type":"object","properties":{"n":{"type":"number","description":"a number"},"names":{"type":"array","items":{"type":"string"}},"unit":{"type":"string","default":"g"},"exact":{"type":"boolean"}},"required":["n"]}`
	if got := strings.Join(strings.Fields(string(tool.InputSchema)), ""); strings.ReplaceAll(got, "anumber", "a number") != want {
		t.Errorf("the parameters are %s, want %s", got, want)
	}
}

func TestAnErrorInPythonNamesTheAuthorsFileAndLine(t *testing.T) {
	r, lines := ask(t, computePython(t), "annotated_compute", `{"n":-1}`)
	if want := "panic: ValueError: below zero (lib/double.py:4)"; r.Error == nil || r.Error.Message != want {
		t.Errorf("got %v, want %q", r.Error, want)
	}
	if all := strings.Join(lines, "\n"); !strings.Contains(all, "family.py:22") {
		t.Errorf("the log has %s, want the stack with family.py:22", all)
	}
	if r, _ := ask(t, computePython(t), "annotated_compute", `{"n":1,"other":2}`); r.Error == nil || r.Error.Code != "invalid_argument" {
		t.Errorf("an unknown parameter: %v, want invalid_argument", r.Error)
	}
}

func TestASourceInPythonThatIsNoneIsRefused(t *testing.T) {
	if _, err := script.Bundle(project(t, "family.py", "x = 1\ny = \"\x00\"\n")); err == nil || !strings.Contains(err.Error(), "family.py:2: it has a zero byte") {
		t.Errorf("a zero byte: %v, want an error with the line", err)
	}
	dir := filepath.Dir(project(t, "family.py", ""))
	var imports strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&imports, "import m%d\n", i)
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("m%d.py", i)), nil, 0o600))
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "family.py"), []byte(imports.String()), 0o600))
	if _, err := script.Bundle(filepath.Join(dir, "family.py")); err == nil || !strings.Contains(err.Error(), "more than 1000 files") {
		t.Errorf("1,001 files: %v, want an error that names the limit", err)
	}
}

// Whoever reviews a source sees all files.
func TestAListingHasEachFile(t *testing.T) {
	if got, want := string(script.Listed([]byte("a\x00lib.py\x00b\x00c.py"))), "a\n# file \"lib.py\"\nb\n# file \"c.py\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What programs in Python expect, beyond what MicroPython has.
func TestPythonHasWhatAuthorsExpect(t *testing.T) {
	const text = `import alcove, json, re, random, time, itertools, functools, collections, math, hashlib, base64, statistics, textwrap, copy, string, bisect, operator
from datetime import datetime, date, timedelta, timezone
from typing import Optional, Any
alcove.family(name="x", description="x")
def check(got, want):
    if got != want: raise Exception("got %r, want %r" % (got, want))
@alcove.tool(description="d", input={})
def x_check(c):
    d = {"k%d" % (i * 7 % 31): i for i in range(30)}
    check(list(d)[:3], ["k0", "k7", "k14"])
    for i in range(0, 30, 2): del d["k%d" % (i * 7 % 31)]
    d["new"] = 1
    check((len(d), list(d)[0], d.popitem(), "k0" in d, d["k7"]), (16, "k7", ("new", 1), False, 1))
    check(list(dict(d)), list(d.copy()))
    check(json.dumps({"b": 1, "ü": [1.5, None, True, 2.0, 1e-7, 0.1 + 0.2]}), '{"b": 1, "\\u00fc": [1.5, null, true, 2.0, 1e-07, 0.30000000000000004]}')
    check(json.loads('{"a": "\\ud83d\\ude00", "n": 12345678901234567890, "f": 1.5e3}'), {"a": "😀", "n": 12345678901234567890, "f": 1500.0})
    check(json.dumps({"b": [1], "a": {}}, indent=1, sort_keys=True), '{\n "a": {},\n "b": [\n  1\n ]\n}')
    check(sorted([(1, "b"), (0, "x"), (1, "a")], key=lambda p: p[0]), [(0, "x"), (1, "b"), (1, "a")])
    check(sorted([(1, "b"), (0, "x"), (1, "a")], key=lambda p: p[0], reverse=True), [(1, "b"), (1, "a"), (0, "x")])
    check(("Straße".upper(), "ÉA".lower(), "été".isalpha(), "ab"[::-1], (1, 2, 3)[::-1], "a b".title(), "7".zfill(3), "x".ljust(3), repr("é")), ("STRASSE", "éa", True, "ba", (3, 2, 1), "A B", "007", "x  ", "'é'"))
    check(re.findall(r"(\w+)-(\d{2,3})", "tea-12 für-345 x-6"), [("tea", "12"), ("für", "345")])
    check(re.sub(r"(?P<a>t)e", r"<\g<a>>", "tetea"), "<t><t>a")
    check((re.search("b", "😀ab").span(), re.search(r"é\b", "café!").start(), re.fullmatch("a+", "aab"), re.split(r"[,;]\s*", "a, b;c")), ((2, 3), 3, None, ["a", "b", "c"]))
    check(re.compile("(?x) a # comment\n b").search("xab").group(), "ab")
    check([m.group(0) for m in re.finditer(r"(?i)t\w", "Tea to")], ["Te", "to"])
    now = datetime.now(timezone.utc)
    check((now.isoformat(), time.time(), str(date(2026, 1, 31) + timedelta(days=30))), ("2026-01-02T03:04:05+00:00", 1767323045.0, "2026-03-02"))
    check((datetime.fromisoformat("2026-02-28T23:30:00+02:00") - now).total_seconds(), 4991155.0)
    check(datetime.strptime("2026-05-06 07:08", "%Y-%m-%d %H:%M").strftime("%A %d %B %H:%M"), "Wednesday 06 May 07:08")
    check((date(2024, 2, 29).isocalendar(), date(1, 1, 1).toordinal(), date.fromordinal(738000).isoformat()), ((2024, 9, 4), 1, "2021-07-29"))
    check((collections.Counter("hello").most_common(1), collections.defaultdict(list)["a"], list(itertools.combinations("abc", 2))[-1]), ([("l", 2)], [], ("b", "c")))
    check((functools.reduce(lambda a, b: a + b, [1, 2, 3]), 2 ** 100, 7 // -2, math.isclose(0.1 + 0.2, 0.3), hashlib.sha256(b"").digest()[0]), (6, 1267650600228229401496703205376, -4, True, 227))
    check((base64.b64encode(b"tea"), statistics.median([1, 3, 2]), textwrap.shorten("a b c", 3, "…"), f"{1234567:,} {3.14159:.2f} {'x':>3}"), (b"dGVh", 2, "a…", "1,234,567 3.14   x"))
    class A:
        def __init__(self): self.closed = False
        def __enter__(self): return self
        def __exit__(self, *about): self.closed = True
    class B(A, object): pass
    with B() as b: pass
    order = []
    try:
        try: raise KeyError("x")
        except KeyError as e: order.append(str(e))
        else: order.append("else")
        finally: order.append("finally")
    except Exception: order.append("never")
    check((b.closed, order), (True, ["x", "finally"]))
    check((random.random(), random.randint(1, 6)) == (random.random(), random.randint(1, 6)), False)
    return {"ok": True}
`
	if r, lines := ask(t, module(t, project(t, "family.py", text)), "x_check", "{}"); r.Error != nil {
		t.Errorf("got %v, want an answer; it printed %q", r.Error, lines)
	}
}
