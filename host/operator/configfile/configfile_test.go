package configfile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/configfile"
	"github.com/alcove-memory/alcove/host/testing/server"
)

func read(t *testing.T, text string) *configfile.File {
	t.Helper()
	f, err := configfile.Read([]byte(text), configfile.Resolver{})
	if err != nil {
		t.Fatalf("read %s: %v", text, err)
	}
	return f
}

// planned is what a file would change, in words.
func planned(t *testing.T, s operator.Server, f *configfile.File) ([]configfile.Change, string) {
	t.Helper()
	changes, err := f.Plan(t.Context(), s)
	if err != nil {
		t.Fatalf("plan: %v", err)
	}
	var lines []string
	for _, c := range changes {
		lines = append(lines, c.String())
	}
	return changes, strings.Join(lines, "\n")
}

// apply makes the changes of a file, and returns them in words, and the secrets of new keys.
func apply(t *testing.T, s operator.Server, text string) (said string, secrets []string) {
	t.Helper()
	changes, said := planned(t, s, read(t, text))
	for _, c := range changes {
		made, err := c.Make(t.Context(), s)
		if err != nil {
			t.Fatalf("make %s: got %v, want no error", c, err)
		}
		if made.Secret != "" {
			secrets = append(secrets, made.Secret)
		}
	}
	if _, again := planned(t, s, read(t, text)); again != "" {
		t.Errorf("a second plan says %s, want nothing", again)
	}
	return said, secrets
}

func TestEachSectionIsCreatedChangedAndPruned(t *testing.T) {
	t.Parallel()
	s := server.Carrying(t, host.Options{})
	dir := t.TempDir()
	for _, c := range []struct{ name, first, second, third, created, changed, removed string }{
		{"endpoints", "servers: {web: {url: http://127.0.0.1:1, kind: http}}", "servers: {web: {url: http://127.0.0.1:2, kind: http}}", "prune: true",
			`create endpoint web: kind: "http"; url: "http://127.0.0.1:1"`, `change endpoint web: url: "http://127.0.0.1:2", was "http://127.0.0.1:1"`, "remove endpoint web"},
		{"roots", "directories: {notes: {dir: " + dir + "}}", "directories: {notes: {dir: " + dir + ", read_only: true}}", "prune: true",
			"create root notes: dir:", "change root notes: read_only: true", "remove root notes"},
		{"quotas", "namespaces: {team/board: {memories: 200}}", "namespaces: {team/board: {memories: 100, bytes: 5}}", "{prune: true, namespaces: {}}",
			"create quota team/board: memories: 200", "change quota team/board: bytes: 5; memories: 100, was 200", "remove quota team/board"},
		{"retention", "{keep: 90d, versions: 3, branches: {short: 2d}}", "{keep: forever, namespaces: {diary: {keep: 400d, versions: 2}}}", "prune: true",
			`change retention: branch short: "2d"; keep: "90d", was "forever"; versions: "3", was "0"`, `change retention: keep: "forever", was "90d"; namespace diary: "400d versions 2"`, `change retention: branch short: none, was "2d"; namespace diary: none`},
		{"settings", "scopes: {system: {forget_threshold: 0.2}}", "scopes: {system: {forget_threshold: 0.3}}", "{prune: true, scopes: {system: {}}}",
			"change settings system: forget_threshold: 0.2, was unset", "forget_threshold: 0.3, was 0.2", "forget_threshold: unset, was 0.3"},
		{"embedders", "models: {mine: {kind: given, dimensions: 3}}", "models: {mine: {kind: given, dimensions: 4}}", "prune: true",
			`create embedder mine: dimensions: 3; kind: "given"`, "change embedder mine: dimensions: 4, was 3", "remove embedder mine"},
		{"keys", "{limits: {calls_per_second: 50}, agents: {reviewer: {namespaces: [notes, team/*], rights: [read]}}}", "agents: {reviewer: {namespaces: [notes], rights: [read], expires: 2099-12-31}}", "prune: true",
			`create key reviewer: namespaces: "notes,team/*"; rights: "read"`, `change key reviewer: expires: "2099-12-31T23:59:59Z"; namespaces: "notes", was "notes,team/*"; a new key takes the place`, "remove key reviewer: "},
	} {
		for i, body := range []string{c.first, c.second, c.third} {
			said, secrets := apply(t, s.Acts, "version: 1\n"+c.name+":\n  "+body+"\n")
			if want := []string{c.created, c.changed, c.removed}[i]; !strings.Contains(said, want) {
				t.Errorf("%s: step %d said\n%s\nwant %s", c.name, i+1, said, want)
			}
			if want := c.name == "keys" && i < 2; (len(secrets) == 1) != want {
				t.Errorf("%s: step %d gave %d secrets, want one of each new key alone", c.name, i+1, len(secrets))
			}
		}
	}
}

func TestWhatAFileDoesNotMentionStays(t *testing.T) {
	t.Parallel()
	s := server.Start(t, host.Options{})
	apply(t, s.Acts, "version: 1\nquotas: {namespaces: {a: {links: 1}, b: {links: 2}}}\nkeys: {agents: {one: {namespaces: ['*'], rights: [read]}}}\n")
	for _, text := range []string{"version: 1\n", "version: 1\nquotas: {namespaces: {a: {links: 1}}}\nkeys:\nendpoints:\n"} {
		if _, said := planned(t, s.Acts, read(t, text)); said != "" {
			t.Errorf("%q would change %s, want nothing", text, said)
		}
	}
}

func TestChangesAreInASafeOrder(t *testing.T) {
	t.Parallel()
	s := server.Start(t, host.Options{})
	apply(t, s.Acts, "version: 1\nquotas: {namespaces: {old: {links: 1}}}\nendpoints: {servers: {old: {kind: http, url: http://127.0.0.1:1}}}\nkeys: {agents: {old: {namespaces: ['*'], rights: [read]}}}\n")
	changes, said := planned(t, s.Acts, read(t, `version: 1
keys: {prune: true, limits: {concurrent: 5}, agents: {new: {namespaces: [a], rights: [read]}}}
quotas: {prune: true, namespaces: {new: {links: 1}}}
endpoints: {prune: true, servers: {new: {kind: http, url: "http://127.0.0.1:1"}}}
`))
	var order []string
	for _, c := range changes {
		order = append(order, c.Does+" "+c.Section+" "+c.Name)
	}
	want := []string{"create endpoint new", "create quota new", "change keys limits", "create key new", "remove key old", "remove quota old", "remove endpoint old"}
	if !slices.Equal(order, want) {
		t.Errorf("the order is %q, want %q:\n%s", order, want, said)
	}
}

// failing fails the act with a number.
type failing struct {
	operator.Server
	at, acts int
}

func (f *failing) Call(ctx context.Context, act string, request, answer any) error {
	if f.acts++; f.acts == f.at {
		return errors.New("the connection ended")
	}
	return f.Server.Call(ctx, act, request, answer)
}

func TestAnApplicationThatWasInterruptedGoesOn(t *testing.T) {
	t.Parallel()
	s := server.Start(t, host.Options{})
	apply(t, s.Acts, "version: 1\nkeys: {agents: {a: {namespaces: [x], rights: [read]}}}\n")
	text := "version: 1\nquotas: {namespaces: {a: {links: 1}}}\nkeys: {agents: {a: {namespaces: [y], rights: [read]}}}\n"
	for at := 1; at <= 3; at++ { // the quota, the new key, the end of the former one
		changes, said := planned(t, s.Acts, read(t, text))
		if len(changes) != 4-at {
			t.Fatalf("after %d interruptions there are %d changes, want %d: %s", at-1, len(changes), 4-at, said)
		}
		broken := &failing{Server: s.Acts, at: 2}
		for i, c := range changes {
			_, err := c.Make(t.Context(), broken)
			if (err != nil) != (i == 1) {
				t.Errorf("change %d gave %v, want an error of the second alone", i, err)
			}
			if err != nil {
				break
			}
		}
	}
	list, err := operator.Query(t.Context(), s.Acts, operator.ListKeys)
	if err != nil {
		t.Fatal(err)
	}
	var live []string
	for _, k := range list.Keys {
		if k.Revoked.IsZero() {
			live = append(live, strings.Join(k.Namespaces, ","))
		}
	}
	if !slices.Equal(live, []string{"y"}) {
		t.Errorf("the keys that hold are for %q, want one for y", live)
	}
}

func TestAnExportChangesNothingAndHasNoSecrets(t *testing.T) {
	t.Parallel()
	s := server.Carrying(t, host.Options{})
	_, secrets := apply(t, s.Acts, `version: 1
endpoints: {servers: {llm: {url: "http://127.0.0.1:1", model: "$${odd}", key_env: LLM_KEY}}}
roots: {directories: {notes: {dir: `+t.TempDir()+`}}}
settings: {scopes: {system: {forget_threshold: 0.2}}}
retention: {keep: 36h, versions: 3, branches: {b: forever}, namespaces: {n: {versions: 4}, f: {keep: forever}}}
quotas: {namespaces: {a: {links: 1}}}
embedders: {default: none, models: {mine: {kind: given, dimensions: 3}}}
keys: {limits: {burst: 7}, agents: {a: {namespaces: ["*"], rights: [write, read], expires: 30d, limits: {concurrent: 2}}}}
`)
	f, err := configfile.Of(t.Context(), s.Acts)
	if err != nil {
		t.Fatal(err)
	}
	text, err := f.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), secrets[0]) {
		t.Errorf("the export has a key:\n%s", text)
	}
	pruned := regexp.MustCompile(`(?m)^(quotas|keys|endpoints|embedders|settings|families|trust):$`).ReplaceAllString(string(text), "$1:\n  prune: true")
	if _, said := planned(t, s.Acts, read(t, pruned)); said != "" {
		t.Errorf("the export would change %s, want nothing:\n%s", said, text)
	}
}

func TestAHostileFileIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	long := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(long, make([]byte, 1<<16+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text, says string
		line       int
	}{
		{"", "the file is empty", 1},
		{"version: 2\n", "version 2 is not known", 1},
		{"version: 1\nquotes: {}\n", `unknown member "quotes": it can be embedders, endpoints, families, issuer, keys`, 2},
		{"version: 1\nquotas:\n  namespaces:\n    a: {memories: 1, memorys: 2}\n", `unknown member "memorys"`, 4},
		{"version: 1\nquotas: {}\nquotas: {}\n", `"quotas" is there twice`, 3},
		{"version: 1\nquotas:\n  namespaces:\n    a: {}\n    a: {}\n", `"a" is there twice`, 5},
		{"version: 1\nquotas: &q\n  namespaces: {}\n", "anchors and aliases", 0},
		{"version: 1\nsettings: {scopes: {system: {x: &a [1]}}}\n", "anchors and aliases", 2},
		{"version: 1\nkeys:\n  agents:\n    <<: *x\n", "unknown anchor", 0},
		{"version: 1\nsettings: {scopes: {system: {x: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "}}}\n", "more than 16 maps and lists", 2},
		{"version: 1\n---\nversion: 1\n", "a second document", 2},
		{"version: 1\nkeys: [\n", "did not find", 0},
		{"version: 1\nquotas: {namespaces: {a: {links: many}}}\n", "is not a whole number", 2},
		{"version: 1\nkeys: {prune: yes}\n", "neither true nor false", 2},
		{"version: 1\nkeys: {agents: {a: {namespaces: all}}}\n", "it is not a list", 2},
		{"version: 1\nkeys: {agents: {a: {namespaces: ['${NOT_SET}']}}}\n", "the variable NOT_SET is not set", 2},
		{"version: 1\nkeys: {agents: {a: {namespaces: ['${A B}']}}}\n", "is not a reference", 2},
		{"version: 1\nkeys: {agents: {a: {expires: {file: /none}}}}\n", "{file: …}", 2},
		{"version: 1\nkeys: {agents: {a: {expires: {file: /dev/zero}}}}\n", "{file: …}", 2},
		{"version: 1\nkeys: {agents: {a: {expires: {file: " + long + "}}}}\n", "more than 65536 bytes", 2},
		{"version: 1\n" + strings.Repeat("#\n", 1<<19), "more than 1048576 bytes", 1<<19 - 4},
		{"version: 1\nsettings: {scopes: {system: {x: !!binary aGk=}}}\n", "the tag", 2},
		{"version: 1\nsettings: {scopes: {system: {x: .inf}}}\n", "not a number of JSON", 2},
		{"version: 1\n\"a\x01\": 1\n", "control characters", 0},
	} {
		_, err := configfile.Read([]byte(c.text), configfile.Resolver{Dir: "/"})
		var at *configfile.LineError
		if !errors.As(err, &at) || !strings.Contains(err.Error(), c.says) || c.line > 0 && at.Line != c.line {
			t.Errorf("%.90q: got %v, want line %d and %q", c.text, err, c.line, c.says)
		}
	}
}

func TestReferencesStandForVariablesAndFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "model"), []byte("small\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOST": "127.0.0.1", "N": "7", "NESTED": "${HOST}"}
	f, err := configfile.Read([]byte(`version: 1
endpoints: {servers: {a: {url: "http://${HOST}:1", model: {file: model}, key_env: "$${HOST} ${NESTED}"}}}
quotas: {namespaces: {a: {links: "${N}"}}}
settings: {scopes: {system: {x: ["${HOST}", 1.50]}}}
`), configfile.Resolver{Dir: dir, Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	if err != nil {
		t.Fatal(err)
	}
	e := f.Endpoints.Servers["a"]
	got := fmt.Sprint(e.URL, " ", e.Model, " ", e.KeyEnv, " ", f.Quotas.Namespaces["a"].Links, " ", string(f.Settings.Scopes["system"]["x"]))
	if want := `http://127.0.0.1:1 small ${HOST} ${HOST} 7 ["127.0.0.1",1.50]`; got != want {
		t.Errorf("the file says %s, want %s", got, want)
	}
}

func FuzzApplied(f *testing.F) {
	f.Add([]byte(`{"path":"/alcove.yaml","digest":"ab","at":"2026-01-02T03:04:05Z"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, configfile.AppliedFile), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if a, err := configfile.LastApplied(dir); err != nil && a != (configfile.Applied{}) {
			t.Errorf("%q: got %+v beside %v, want nothing", data, a, err)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("version: 1\nquotas: {namespaces: {a: {links: 1}}}\nkeys: {agents: {a: {namespaces: [a], rights: [read]}}}\n"))
	f.Add([]byte("version: 1\nsettings: {scopes: {system: {x: &a [*a, {file: x}, $${y}]}}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := configfile.Read(data, configfile.Resolver{Dir: "/none"})
		var at *configfile.LineError
		if err != nil && (!errors.As(err, &at) || at.Line < 1) {
			t.Errorf("%q: got %v, want an error with a line", data, err)
		}
		if err != nil {
			return
		}
		if _, err := json.Marshal(file); err != nil {
			t.Errorf("%q: what was read cannot be marshalled: %v", data, err)
		}
	})
}
