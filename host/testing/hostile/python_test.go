package hostile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/must"
)

// A family in Python that does what its callers ask for. The tool state tells what an earlier caller left behind.
const hostilePython = `import alcove, json, re, sys
n = 0
held = None
class Loop:
    def __getattr__(self, name):
        while True: pass
    def __str__(self):
        while True: pass
    def __hash__(self):
        while True: pass
    def __eq__(self, other):
        while True: pass
    def __lt__(self, other):
        while True: pass
class Raising:
    def __getattr__(self, name): raise RuntimeError("attribute")
    def __str__(self): raise RuntimeError("text")
class Thrown(Exception):
    def __str__(self):
        while True: pass
    code = property(lambda self: 1 / 0)
def names(): return sorted(globals()), sorted(sys.modules), len(dir(__builtins__)) if "__builtins__" in globals() else 0
def state():
    global n
    n += 1
    return {"n": n - 1, "clean": json.dumps({"a": 1}) == '{"a": 1}' and sorted([2, 1]) == [1, 2] and len("ab") == 2 and re.sub("a", "b", "a") == "b" and alcove.t.string() == {"type": "string"}, "evil": getattr(alcove, "evil", "none"), "held": held is None}
def loop():
    while True: pass
def generated():
    def g():
        while True: yield 1
    return sum(g())
def comprehended(): return [x for x in iter(int, 1)]
def attribute(): return Loop().x
def text(): return str(Loop())
def hashed(): return {Loop(): 1}
def sorting(): return sorted([Loop(), Loop()])
def thrown(): raise Thrown()
def backtracking(): return bool(re.match("(a+)+$", "a" * 60 + "b"))
def power(n=10 ** 9): return 3 ** n
def digits(n=2000000): return len(str(3 ** n))
def recursion():
    def deeper(x): return deeper(x + 1) + 1
    return deeper(0)
def constructed():
    class C:
        def __init__(self): C()
    return C()
def mapped():
    def f(x): return list(map(f, [x]))
    return f(1)
def compared():
    a = []
    a.append(a)
    b = []
    b.append(b)
    return a == b
def nested():
    a = []
    for _ in range(100000): a = [a]
    return a
def printed():
    a = []
    for _ in range(100000): a = [a]
    return repr(a)
def parsed(): return json.loads("[" * 1000000)
def groups(): return re.compile("(" * 100000 + ")" * 100000)
def evaluated(): return eval("(" * 100000 + ")" * 100000)
def statements(): return exec("\n".join(" " * i + "if 1:" for i in range(3000)))
def lists():
    all = []
    while True: all.append([0] * 1000)
def buffers():
    all = []
    while True: all.append(bytearray(1 << 20))
def texts():
    s = "x"
    while True: s += s
def numbers():
    n = 3
    while True: n *= n
def dicts():
    d = {}
    while True: d[len(d)] = "x" * 100
def garbage():
    total = 0
    for i in range(12000): total += len([i] * 400)
    return {"total": total}
def circular():
    a = {}
    a["a"] = a
    return a
def result(): return "x" * (1 << 23)
def lines():
    for _ in range(10000): print("x" * 100)
    return {}
def unlike(): return Raising()
def infinite(): return float("inf")
def exits(): sys.exit(3)
def opened(): return open("/etc/passwd").read()
def imported():
    for name in ("os", "socket", "select", "machine", "micropython", "_thread", "ssl", "network", "uctypes", "asyncio", "vfs"):
        try:
            __import__(name)
            return name
        except ImportError: pass
    return "none"
def reached(): return [call(1) for call in ()] or alcove.serve(1, {"tool": "state"}) and {}
def classes():
    global held, n
    n += 1
    held = [n] * 100000
    alcove.evil = "left"
    alcove.t.string = lambda *a: "evil"
    json.dumps = lambda *a, **k: "evil"
    re.sub = lambda *a: "evil"
    alcove.Call.__init__ = None
    alcove.serve = lambda *a: (False, "evil")
    sys.modules.clear()
    globals()["sorted"] = lambda *a: []
    return {}
def builtins():
    import builtins
    for name in dir(builtins):
        try: setattr(builtins, name, None)
        except Exception: pass
    global n
    n = 100
    return {}
def closed():
    def g():
        try:
            while True: yield
        finally:
            while True: pass
    it = g()
    next(it)
    it.close()
alcove.family(name="hostile", description="Hostile")
for one in (state, loop, generated, comprehended, attribute, text, hashed, sorting, thrown, backtracking, power, digits, recursion, constructed, mapped, compared, nested, printed, parsed, groups, evaluated,
        statements, lists, buffers, texts, numbers, dicts, garbage, circular, result, lines, unlike, infinite, exits, opened, imported, reached, classes, builtins, closed):
    alcove.tool(lambda c, one=one, **more: one(), name=one.__name__, description="Acts", input={})
`

// Whatever a family in Python does is stopped by the limits of all guests, or is an error, and the next caller finds nothing of it.
func TestPythonIsStoppedByTheLimitsOfAllGuests(t *testing.T) {
	m := hostileFamily(t, "family.py", hostilePython)
	for tool, want := range map[string]struct{ classes, says string }{
		"loop":         {"fuel", "fuel"},
		"generated":    {"fuel", "fuel"},
		"comprehended": {"fuel error", ""},
		"attribute":    {"fuel", "fuel"},
		"text":         {"fuel", "fuel"},
		"hashed":       {"fuel", "fuel"},
		"sorting":      {"fuel", "fuel"},
		"thrown":       {"fuel", "fuel"},
		"closed":       {"fuel", "fuel"},
		"backtracking": {"fuel", "fuel"},
		"power":        {"fuel error", ""},
		"digits":       {"fuel error ok", ""},
		"recursion":    {"error stack", ""},
		"constructed":  {"error stack", ""},
		"mapped":       {"error stack", ""},
		"compared":     {"error stack fuel", ""},
		"nested":       {"error stack", ""},
		"printed":      {"error stack fuel", ""},
		"parsed":       {"error stack", ""},
		"groups":       {"error stack fuel", ""},
		"evaluated":    {"error stack fuel", ""},
		"statements":   {"error stack", ""},
		"lists":        {"error fuel", ""},
		"buffers":      {"error", "no memory left"},
		"texts":        {"error", "no memory left"},
		"numbers":      {"error fuel", ""},
		"dicts":        {"error fuel", ""},
		"garbage":      {"ok", ""},
		"circular":     {"error stack", ""},
		"result":       {"output error fuel", ""},
		"lines":        {"ok", ""},
		"unlike":       {"error", "JSON has no Raising"},
		"infinite":     {"error", "JSON has no nan and no inf"},
		"exits":        {"error", "SystemExit"},
		"opened":       {"error", "there are no files here"},
		"imported":     {"ok", ""},
		"reached":      {"ok", ""},
		"classes":      {"ok", ""},
		"builtins":     {"ok error", ""},
	} {
		r := asked(t, m, tool)
		if !strings.Contains(" "+want.classes+" ", " "+string(r.Class)+" ") || r.Error != nil && !strings.Contains(r.Error.Message, want.says) {
			t.Errorf("%s: class %s, %v, want %s with %q", tool, r.Class, r.Error, want.classes, want.says)
		}
		if tool == "imported" && string(r.Output) != `"none"` {
			t.Errorf("it imports %s, want no module that reaches outside", r.Output)
		}
		if r.Memory > 256<<16 {
			t.Errorf("%s: it has %d bytes of memory, want at most %d", tool, r.Memory, 256<<16)
		}
		if after := asked(t, m, "state"); string(after.Output) != untouched {
			t.Errorf("after %s: the next caller gets %s, %v, want %s", tool, after.Output, after.Error, untouched)
		}
	}
}

func TestCallsOfPythonLeaveNothing(t *testing.T) {
	callsLeaveNothing(t, hostileFamily(t, "family.py", hostilePython), []string{"classes", "builtins", "exits"})
}

// What a source does while it is loaded is stopped, too.
func TestPythonThatFailsToLoadIsAnError(t *testing.T) {
	for text, want := range map[string]string{
		"x = bytearray(1 << 29)":       "no memory left",
		"def f(): return f() + 1\nf()": "RuntimeError",
		"import os":                    "no module named 'os'",
		"x = 1\n1 +":                   "family.py:2",
		"x = 1":                        "the file defines no family",
		"raise SystemExit":             "SystemExit",
	} {
		path := filepath.Join(t.TempDir(), "family.py")
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := manifestOf(t, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
