package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// steering does, on a terminal, what no memory should: it writes the clipboard, clears the screen, changes the colour, turns the
// text around, and hides.
const steering = "x\x1b]52;c;bGV0\x07\x1b[2J\u009b31m\u202e\u2066\u200e\u061c\u200b\ufeff\u2028\u0085\U000e0041\x7f\r\ty"

// steeringName is the same as a name of a file, which may be no UTF-8 at all.
const steeringName = steering + "\n\xff"

// steers finds what must not be printed.
func steers(out string) string {
	for i, r := range out {
		hidden := r == '\u200b' || r == '\ufeff' || r == '\u2028' || r == '\u2029' || r >= 0xe0000 && r < 0xe1000
		if r == utf8.RuneError && !strings.HasPrefix(out[i:], "\ufffd") || unicode.IsControl(r) && r != '\n' && r != '\t' || hidden || unicode.Is(unicode.Bidi_Control, r) {
			return fmt.Sprintf("%q", out[max(0, i-40):min(len(out), i+10)])
		}
	}
	return ""
}

// printing is a run of a command that prints what strangers wrote.
type printing struct {
	args  []string
	in    string
	env   []string
	shows bool // something that would steer is printed, as escapes
	data  bool // standard output is for programs, byte for byte
	once  bool // --json is left out
}

func print(args ...string) printing { return printing{args: args} }
func shows(args ...string) printing { return printing{args: args, shows: true} }

// scene is where the commands run.
type scene struct {
	dir, data       string
	module, grabber string // two hostile families; the second fails at everything
	notes, hostile  string // folders of notes; one in the second cannot be used
	address         string // of a server that answers with errors
}

// alone runs a command with a home of its own and without other programs, so that it changes nothing of the user's.
func (s scene) alone(args ...string) printing {
	home := filepath.Join(s.dir, "home"+steering)
	return printing{args: args, env: []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "PATH="}, once: true}
}

// printings has at least one run of each command. They are run in order.
func printings(s scene) []printing {
	value := `{"` + strings.Trim(quotedJSON(steering), `"`) + `":` + quotedJSON(steering) + `}`
	out := filepath.Join(s.dir, steeringName+".wasm")
	backup, export := filepath.Join(s.dir, "backup"+steeringName), filepath.Join(s.dir, "export"+steeringName)
	other := []string{"--data", filepath.Join(s.dir, "other"+steeringName)}
	with := func(args []string, more ...string) []string { return append(slices.Clone(args), more...) }
	return []printing{
		{args: []string{"store", steering, "planning " + steering, "--tags", "t" + steering, "--type", steering, "--agent", "a", "--metadata", value}, shows: true},
		{args: []string{"store", "lines", "one\n" + steering + "\ntwo"}},
		{args: []string{"store", "object", value, "--agent", steering}},
		shows("recall", steering), shows("recall", "object"), shows("recall", "none"+steering), shows("search", "planning"), print("search", steering), shows("list", "--k", "50"), print("list", "--tags", steering), print("list", "--after", steering), shows("list", "--order", steering), shows("list", "--state", steering), shows("history", steering), print("history"),
		{args: []string{"log", "e" + steering, value}, shows: true, once: true}, shows("log", "--list"), print("log", "--list", "--type", steering), print("log", "--order", steering),
		print("status"), shows("status", "--namespace", steering), print("namespaces"), shows("namespaces", steering), shows("call", "memory_recall", `{"key":"object"}`), shows("call", steering),
		print("branch"), print("branch", "list"), shows("branch", "fork", steering), shows("branch", "create", steering), shows("branch", "switch", steering), shows("branch", "delete", steering),
		{args: []string{"branch", "fork", "b"}, once: true}, {args: []string{"store", steering, "other", "--branch", "b"}},
		shows("branch", "diff", "b"), shows("branch", "restore", steering), shows("branch", "merge", "b", "--preview"), shows("branch", "merge", steering), shows("history", "h"+steering),
		{args: []string{"store", "turn", "said", "--namespace", "project/a", "--metadata", `{"folder":` + quotedJSON(steering) + `}`}}, print("project", "link", s.dir, "a"), shows("project", "list"),
		shows("project", "link", s.dir, steering), print("project", "link", s.hostile, "a"), shows("project", "unlink", steering), shows("project", "rename", steering, "b"), shows("project", "merge", "a", steering), shows("project", "undo", steering), print("project", "rename", "a", "b", "--dry-run"), shows("project", steering),
		{args: []string{"space", "create", "s1"}, once: true}, shows("space", "create", steering), print("space", "list"), shows("space", "rename", "s1", steering), {args: []string{"space", "delete", "s1"}, once: true},
		print("space", "list", "--deleted"), {args: []string{"space", "restore", "s1"}, once: true}, shows("space", "restore", steering), shows("space", "delete", steering), shows("space", steering), shows("space", "move", steering, "--remove"), shows("space", "move", "--to-file", steering), shows("status", "--space", steering),
		print("cluster", "status"), print("cluster", "drain"), shows("cluster", steering), shows("follow", steering), {args: with(other, "follow", "promote"), shows: true, once: true},
		print("tools"), print("version"), {args: []string{"console", "--no-open"}, once: true}, shows("console", steering), shows("connect"), shows("connect", steering), shows("doctor"),
		shows("hook", "session-start", "--within", "5m"), shows("hook", "session-start", "--within", "5m", "--client", "claude-code"), print("hook", steering),
		s.alone("setup", "cursor", "--yes"), s.alone("setup", "cursor", "--undo", "--yes"), shows("setup", steering), shows("doctor"),

		shows("family", "inspect", s.module), shows("family", "inspect", "--bare", s.module), shows("family", "install", s.module), shows("family", "install", "none"+steeringName),
		shows("family", "grant", "hostile", "--all", "--hook", "store"), print("family", "list"), shows("family", "info", "hostile"), shows("family", "config", "hostile"), shows("family", "config", "hostile", "words="+steering),
		shows("config", "get", "words", "--family", "hostile"), shows("config", "list", "--family", "hostile"), shows("config", "set", "words="+steering, "--in", "family:hostile", "--reason", steering), shows("config", "get", steering),
		shows("config", "history", "words", "--in", "family:hostile"), shows("config", "rollback", "words", "0", "--in", "family:hostile", "--reason", steering), print("config", "undo", "words@2", "--in", "family:hostile", "--reason", steering), shows("config", "undo", steering), shows("config", "list", "--in", steering), print("config"), shows("config", "plan", s.hostile), shows("config", "plan", "none"+steeringName), shows("config", "apply", "none"+steeringName), print("config", "export"),
		{args: []string{"store", "hooked", "a note is made of what the hook says"}, shows: true},
		{args: []string{"call", "hostile_do", "{}"}, shows: true, once: true}, shows("family", "jobs"), shows("family", "jobs", "run", "hostile", steering), shows("family", "jobs", "cancel", steering), shows("family", "jobs", "retry", steering),
		shows("family", "revoke", "hostile", "job", steering), shows("family", "call", s.module, "{}"), shows("family", "call", "--bare", s.module, "{}"),
		shows("family", "call", s.grabber, "{}"), shows("family", "pack", s.module, "--manifest", steeringName, "-o", out), shows("family", "meter", s.module, "-o", out), shows("family", "test", s.module), shows("family", "test", s.module, "--tool", steering), shows("family", "remove", steering),
		shows("family", "publish", s.module, "127.0.0.1:1/notes", "--key", "none"+steeringName), shows("family", "index", "none"+steeringName), shows("family", "search", "tea", "--index", "none"+steeringName),
		print("family", "provenance"), shows("family", "provenance", "make", s.module, "--source", steering, "--key", s.module), shows("family", "provenance", "verify", s.module, "--statement", steering),
		shows("family", "push", s.module, "127.0.0.1:1/notes:1"+steering), shows("family", "pull", "oci://127.0.0.1:1/notes"+steering), shows("family", "install", "oci://127.0.0.1:1/notes@sha256:"+steering),
		print("family", "update", steering, s.module), shows("family", "rollback", steering),
		shows("family", "logs", steering), print("family", "logs", "hostile"), print("family", "stats"), shows("family", "stats", steering), shows("family", "trace", steering),
		print("family", "verify"), {args: []string{"family", "keygen", filepath.Join(s.dir, "key"+steeringName)}, shows: true, once: true}, shows("family", "sign", s.module, "--key", "none"+steeringName), shows("family", "verify", s.module, "--key", steering), shows("family", "bundle", "none"+steeringName), print("family", "bundle", s.module, "-o", out), shows("family", "attach", "oci://127.0.0.1:1/notes"+steering, s.module), shows("family", "attachments", "oci://127.0.0.1:1/notes"+steering), print("family", "sbom", s.module), shows("family", "sbom", "none"+steeringName),
		{args: with([]string{"lock", "apply", filepath.Join(s.data, "alcove.lock")}, other...)}, {args: with([]string{"lock", "apply", "none" + steeringName}, other...), shows: true},
		{args: with([]string{"lock"}, other...)}, {args: with([]string{"unlock"}, other...)},
		shows("family", "trust", "k"+steering, "AQ"+steering), print("family", "trust"), shows("family", "trust", "--release", "none"+steeringName), shows("family", "diff", s.module, s.grabber), shows("family", "diff", steering, s.module), shows("family", "trust", steering, "--remove"),
		{args: []string{"family", "warm", "--cache", filepath.Join(s.dir, "cache"+steeringName)}, once: true}, shows("family", "gen", "none"+steeringName), shows("family", "gen", s.hostile),
		shows("family", "new", steering, "--lang", "go"), shows("family", "new", "tea", "--lang", steering), print("family", "new", "tea", "--lang", "go", "--from", "none"+steeringName),
		print("family", "check", s.module), shows("family", "check", "none"+steeringName), shows("family", "check", s.hostile),
		shows("family", "dev", "none"+steeringName), shows("family", "dev", s.hostile),

		print("audit", "tail"), print("audit", "denials"), shows("audit", "denials", "--since", steering), print("audit", "denials", "--family", "hostile"), print("audit", "verify"), {args: []string{"audit", "export"}, data: true}, shows("audit", "verify", "--head", steering), shows("audit", "verify", "--anchor", "none"+steeringName), shows("audit", "tail", "--since", steering),
		print("family", "why-denied", "hostile"), shows("family", "why-denied", steering), print("family", "undo", steering), print("family", "undo", "--family", "hostile", "--since", "1h"), shows("family", "undo", "--family", steering, "--since", steering),

		shows("endpoint", "add", "e"+steering, s.address), {args: []string{"endpoint", "add", "web", s.address, "--kind", "openai", "--model", steering}}, print("endpoint", "list"),
		shows("site", "add", "http://h/"+steering, "--slug", "s"+steering), print("site", "list"), shows("site", "remove", steering),
		shows("root", "add", "r"+steering, s.notes), shows("root", "add", "r", "none"+steeringName), print("root", "list"), shows("root", "remove", steering),
		shows("quota", "set", steering, "--memories", "9"), print("quota", "list"), shows("quota", "remove", steering), print("quota", "remove", "none"),
		shows("remote", "add", steering, s.address), print("remote", "add", "hub", s.address), shows("remote", "add", "b", steering), print("remote", "list"), shows("remote", "status"), shows("pull"), shows("push", "hub"), shows("sync"), shows("sync", steering), shows("pull", "--branch", steering), shows("pull", "--strategy", steering), shows("pull", "--history", steering), shows("remote", "set", steering, "--history", "all"), shows("remote", "set", "hub", "--history", steering), print("remote", "set", "hub", "--history", "all"), shows("remote", "remove", steering), print("remote", "remove", "hub"), shows("remote", steering),
		{args: with(other, "clone", s.address), shows: true}, shows("clone", steering),
		print("approval", "list"), print("approval", "approve", steering), print("approval", "reject", steering),
		shows("migrate-calls", "none"+steeringName), print("migrate-calls", s.hostile),
		shows("endpoint", "remove", steering), shows("embedder", "set", "v", "--kind", "openai", "--url", s.address, "--model", steering), print("embedder"), print("embedder", "set", "v", "--kind", "openai", "--url", s.address, "--model", steering, "--dimensions", "3"),
		shows("key", "create", "--agent", steering, "--namespaces", "*"), shows("key", "create", "--agent", "a", "--namespaces", steering), shows("key", "create", "--agent", "a", "--namespaces", "*", "--rights", steering),
		shows("key", "create", "--agent", "a", "--namespaces", "*", "--expires", steering), print("key", "create", "--agent", "a", "--namespaces", "*"), print("key", "list"), print("key", "limits"), shows("operator", "create", steering, "--role", "viewer"), shows("operator", "create", "ann", "--role", steering), print("operator", "create", "ann", "--role", "viewer"), print("operator", "list"), shows("operator", "revoke", steering), shows("key", "revoke", steering), shows("key", "delete", steering),
		print("hub", "init", "--name", steering, "--admin", "a"), shows("hub", "invite", steering), print("hub", "invite", "ann", "--device", "d"), print("hub", "list"), shows("hub", "group", steering, "a"), shows("hub", "group", "g", steering), print("hub", "group"),
		shows("hub", "withdraw", steering), shows("hub", "remove", steering), shows("hub", "join", steering, steering), print("hub", "join", s.address, steering), shows("hub", steering),
		s.alone("service", "install", "--", "--listen", steering), s.alone("service", "status"), s.alone("service", "remove"),
		shows("embedder", "show"), shows("embedder", "check", steering), shows("embedder", "check", "v", "--kind", "openai", "--url", s.address, "--model", steering), shows("doctor"), shows("embedder", "regenerate", steering), shows("embedder", "use", steering), shows("embedder", "gate", steering, "x"+steering), shows("embedder", "remove", steering), print("embedder", "list"),
		print("posture"), shows("posture", "set", steering),
		shows("embedder", "install", steering), shows("embedder", "install", "m", "--from", "none"+steeringName), print("embedder", "install", "m", "--from", s.address+"/"+steering), shows("embedder", "install", "m", "--from", s.hostile),

		{args: []string{"import", s.notes, "--dry-run"}, shows: true}, print("import", s.notes), shows("import", s.hostile), shows("import", s.hostile, "--skip-invalid"), shows("import", "none"+steeringName),
		{args: []string{"export"}, data: true}, {args: []string{"export", export, "--memories"}}, shows("export", export, "--branch", steering),
		print("backup", backup), shows("backup", filepath.Join(s.data, "backup")), {args: with(other, "restore", backup), shows: true, once: true}, shows("restore", s.hostile),
		{args: []string{"import", export}}, print("verify"), print("compact"), print("flush"), print("durability"),
		shows("retention", "set", steering), shows("retention", "set", "90d", "--namespace", steering), print("retention"), print("retention", "show"), print("retention", "preview"), print("retention", "preview", "90d"), shows("retention", "preview", steering), print("retention", "run"),
		{args: with(other, "stop"), once: true}, shows("approval", steering), shows("audit", steering), shows("endpoint", steering), shows("family", steering), shows("key", steering),
		shows("quota", steering), shows("operator", steering), shows("root", steering), shows("service", steering), shows("site", steering),
		{args: with(other, "repair"), once: true}, shows("repair"), print("purge", steering), {args: []string{"purge", steering, "--yes"}, once: true}, print("purge", "none"+steering, "--yes"), shows("purge", "--version", steering, "--yes"),
		print("replay"), shows("replay", "none"+steeringName), shows("replay", "--since", steering), print("replay", "--since", "1h"),
		print("forget", "none"+steering), {args: []string{"forget", "object", "lines"}},

		{args: []string{"mcp"}, in: rpc(1, "memory_status", "{}"), data: true}, {args: []string{"mcp", "--namespace", steering}, in: rpc(1, "memory_status", "{}"), data: true},
		shows("serve"), {args: []string{"serve", "--families-dir", s.module}, shows: true}, shows("serve", "--listen", steering),
		{args: []string{"demo", "--data", s.hostile}, shows: true, once: true},
		print("bench"), {args: []string{"bench", "recall", "--verbose", "--docs", filepath.Join(s.hostile, "docs.jsonl"), "--queries", filepath.Join(s.hostile, "queries.jsonl")}, shows: true, once: true},
		{args: []string{"bench", "scale", "--n", "20"}, once: true}, shows("bench", "recall", "--docs", "none"+steeringName),
		{args: []string{"manual", filepath.Join(s.dir, "manual"+steeringName)}, shows: true}, shows("manual", s.module),
		{args: []string{"help", "recall"}, env: []string{"ALCOVE_BRANCH=" + steering}, shows: true, once: true}, shows(steering), shows("recall", "--"+steering), shows("version", steering), print("version", "--check"), shows("version", "--check", "none"+steeringName, "--key", "AQ"+steering),
	}
}

func quotedJSON(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// TestNoCommandPrintsWhatSteersATerminal stores, names and answers what would steer the terminal of its reader, and runs every
// command. A command without a run fails the test.
func TestNoCommandPrintsWhatSteersATerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("its commands run one after the other: the tests without -short run them")
	}
	t.Parallel()
	s := newScene(t)
	runs := printings(s)
	everyCommandRuns(t, runs)
	log := s.serve(t)
	inJSON := stress.Seeds(t, len(runs)/3, len(runs)) // which run with --json, too: others each day
	for i, run := range runs {
		if len(run.args) > 1 && run.args[0] == "family" && run.args[1] == "jobs" {
			waitForJob(t, s)
		}
		run.check(t, s)
		if !run.once && !run.data && slices.Contains(inJSON, i) {
			asJSON := run
			asJSON.args, asJSON.shows = append(slices.Clone(run.args), "--json"), false
			asJSON.check(t, s)
		}
	}
	if found := steers(log()); found != "" {
		t.Errorf("the server logs %s", found)
	}
}

func (p printing) check(t *testing.T, s scene) {
	t.Helper()
	out, errs := s.run(t, p)
	if p.data {
		if !json.Valid([]byte(strings.SplitN(out, "\n", 2)[0])) {
			t.Errorf("%q prints %.300q, which is no data", p.args, out)
		}
		out = ""
	}
	for what, printed := range map[string]string{"prints": out, "says": errs} {
		if found := steers(printed); found != "" {
			t.Errorf("%q %s %s, want nothing that steers a terminal", p.args, what, found)
		}
	}
	if p.shows && !strings.Contains(out+errs, `\x1b`) && !strings.Contains(out+errs, `\u001b`) {
		t.Errorf("%q shows nothing that would steer:\n%s%s", p.args, out, errs)
	}
	if slices.Contains(p.args, "--json") && strings.HasPrefix(out, "{") && !isJSON(out) {
		t.Errorf("%q prints what is not JSON: %.300q", p.args, out)
	}
}

// isJSON reports whether a text is a JSON value, or one on each line.
func isJSON(text string) bool {
	values := json.NewDecoder(strings.NewReader(text))
	for {
		var value json.RawMessage
		if err := values.Decode(&value); err != nil {
			return err == io.EOF
		}
	}
}

func (s scene) run(t *testing.T, p printing) (out, errs string) {
	t.Helper()
	cmd := program(t, s.data, p.args...)
	cmd.Dir, cmd.Stdin = s.dir, strings.NewReader(p.in)
	cmd.Env = append(append(cmd.Env, "XDG_CACHE_HOME="+filepath.Join(s.dir, "cache")), p.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatalf("run %q: %v", p.args, err)
	}
	return stdout.String(), stderr.String()
}

// everyCommandRuns compares the runs with the commands that there are.
func everyCommandRuns(t *testing.T, runs []printing) {
	t.Helper()
	root := newApp(nil, io.Discard, io.Discard, func(string) string { return "" }).command()
	ran := map[string]bool{}
	for _, run := range runs {
		if found, _, err := root.Find(run.args); err == nil {
			ran[found.CommandPath()] = true
		}
	}
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		if c.Runnable() && !ran[c.CommandPath()] {
			t.Errorf("%s is not run: give it a hostile case in printings", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(root)
}

// waitForJob waits until the hostile job has failed once.
func waitForJob(t *testing.T, s scene) {
	t.Helper()
	await.That(t, "a job fails", func() bool {
		out, _ := s.run(t, print("family", "jobs", "--json"))
		return strings.Contains(out, `"error"`)
	})
}

func newScene(t *testing.T) scene {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := scene{dir: dir, data: filepath.Join(dir, "d\x1b]\u202e\u009b"), module: filepath.Join(dir, steering+".wasm"), grabber: filepath.Join(dir, "grabber.wasm"),
		notes: filepath.Join(dir, "notes"+steeringName), hostile: filepath.Join(dir, "hostile"+steeringName)}
	t.Cleanup(func() { stopOwner(t, s.data) })
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":%s}}`, quotedJSON(steering))
	}))
	t.Cleanup(endpoint.Close)
	s.address = endpoint.URL
	for name, content := range map[string]string{
		filepath.Join(s.notes, steeringName+".md"):   "---\ntitle: " + quotedJSON(steering) + "\n---\n" + steering,
		filepath.Join(s.hostile, steeringName+".md"): "---\n" + steering + ": [\n---\n",
		filepath.Join(s.hostile, "fine.md"):          "fine",
		filepath.Join(s.hostile, "alcove.dev.json"):  `{` + quotedJSON(steering) + `: 1}`,
		filepath.Join(s.hostile, "docs.jsonl"):       `{"id":` + quotedJSON(steering) + `,"text":"let it be","meta":{}}`,
		filepath.Join(s.hostile, "queries.jsonl"):    `{"id":` + quotedJSON("q"+steering) + `,"text":"let","relevant":{` + quotedJSON(steering) + `:1},"meta":{"category":` + quotedJSON(steering) + `}}`,
		s.module:  string(hostileModule(t, false)),
		s.grabber: string(hostileModule(t, true)),
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Skip("the file system takes no hostile names:", err)
		}
	}
	return s
}

// serve starts the server of the scene, and gives what it logged.
func (s scene) serve(t *testing.T) (log func() string) {
	t.Helper()
	path := filepath.Join(s.dir, "log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	cmd := program(t, s.data, "serve", "--listen", "off")
	cmd.Stderr = file
	if err := errors.Join(cmd.Start(), file.Close()); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Signal(os.Interrupt); <-ended })
	return func() string {
		data, err := os.ReadFile(path)
		if err != nil || len(data) == 0 {
			t.Errorf("the server logged nothing (%v)", err)
		}
		return string(data)
	}
}

// hostileModule is a family whose manifest, log, answers and errors all would steer a terminal. It fails at everything but its
// tool; failing, at that, too.
func hostileModule(t *testing.T, failing bool) []byte {
	t.Helper()
	m := &asm.Module{}
	write := m.Import("alcove", "write", asm.I32s(3), asm.I32s(1))
	call := m.Import("alcove", "call", asm.I32s(4), asm.I32s(1))
	m.Memory(4)
	at := int32(1024)
	put := func(text string) asm.Code {
		m.Put(at, []byte(text))
		code := asm.Seq(asm.I32(at), asm.I32(int32(len(text))))
		at += int32(len(text)) + 8
		return code
	}
	tool := asm.Seq(asm.Drop(asm.Call(call, put("job.enqueue"), put(`{"job":"tidy"}`))), asm.Drop(asm.Call(write, asm.I32(0), put(quotedJSON(steering)))), asm.I32(0), asm.Op(wasm.OpReturn))
	kind := int32(abi.KindTool)
	if failing {
		kind = -1
	}
	body := asm.Seq(
		asm.Drop(asm.Call(write, asm.I32(1), put("logs "+steering))),
		asm.Block(asm.BrIf(0, asm.Two(wasm.OpI32Ne, asm.Get(0), asm.I32(kind))), tool),
		asm.Drop(asm.Call(write, asm.I32(0), put(`{"code":"internal","message":`+quotedJSON(steering)+`}`))),
		asm.I32(1))
	handle := m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Body: body})
	m.Export("alcove_handle", wasm.KindFunc, handle)
	manifest, err := json.Marshal(&abi.Manifest{ABI: abi.Version, Name: "hostile", Version: "1.0.0", Description: steering,
		Tools:        []abi.Tool{{Name: "hostile_do", Description: steering, InputSchema: json.RawMessage(`{"type":"object"}`)}},
		Capabilities: []abi.Request{{Name: "job", Reason: steering}}, Config: []abi.Setting{{Key: "words", Schema: json.RawMessage(`{"type":"string"}`), Default: json.RawMessage(quotedJSON(steering)), Description: steering}},
		Hooks: abi.Hooks{Store: &abi.StoreHook{}, Jobs: []abi.Job{{Name: "tidy"}}}})
	if err != nil {
		t.Fatal(err)
	}
	packed, err := sandbox.Pack(m.Bytes(), manifest)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// TestOnlyOnePlaceHasTheFileDescriptors makes sure that commands have nothing to print with but what cleans it.
func TestOnlyOnePlaceHasTheFileDescriptors(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "stdin_linux.go" { // which only compares them with standard input
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range parsed.Imports {
			if i.Path.Value == `"log"` {
				t.Errorf("%s imports log: print with printf or notef of app", file)
			}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				pkg, ok := n.X.(*ast.Ident)
				name := n.Sel.Name
				if ok && file != "main.go" && (pkg.Name == "os" && (name == "Stdout" || name == "Stderr" || name == "NewFile")) ||
					ok && (pkg.Name == "fmt" && strings.HasPrefix(name, "Print") || pkg.Name == "syscall" && name == "Write") {
					t.Errorf("%s uses %s.%s: print with printf or notef of app", file, pkg.Name, name)
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
					t.Errorf("%s uses %s: print with printf or notef of app", file, f.Name)
				}
			}
			return true
		})
	}
}
