package registry

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
)

var digest, other = strings.Repeat("ab", 32), strings.Repeat("cd", 32)

func example() Lock {
	return Lock{Format: format, Families: map[string]Grant{"auto-tag": {
		Digest: digest, Version: "1.0.0", Capabilities: []Capability{{Name: abi.CanMemoryRead, Scope: []string{"*"}}, {Name: abi.CanJob, During: Calls}},
		Hooks: map[abi.Hook]On{abi.HookStore: {OnFailure: abi.OnFailureDefer}}, Limits: map[string]int64{"wall_ms": 100},
		Asked: &Asked{Manifest: digest, Capabilities: []Capability{{Name: abi.CanJob}}, Hooks: []abi.Hook{abi.HookStore}},
	}, "redactor": {
		Digest: digest, Guard: &Guard{Digest: other, Version: "0.9.0", Capabilities: []Capability{{Name: abi.CanJob}}, Limits: map[string]int64{"wall_ms": 100}},
	}}, Endpoints: map[string]Endpoint{"local": {Kind: "ollama", URL: "http://127.0.0.1:11434", Model: "m"}}}
}

func TestALockIsReadAsItWasWritten(t *testing.T) {
	dir := t.TempDir()
	if l, err := Read(dir); err != nil || len(l.Families) != 0 {
		t.Fatalf("an empty directory has the lock %+v, %v", l, err)
	}
	if err := Write(dir, example()); err != nil {
		t.Fatal(err)
	}
	got, err := Read(dir)
	if err != nil || !reflect.DeepEqual(got, example()) {
		t.Errorf("it was read as %+v, %v", got, err)
	}
	info, err := os.Stat(filepath.Join(dir, File))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
}

func TestALockThatCannotBeMeantIsRefused(t *testing.T) {
	cases := map[string]func(*Lock){
		"another format":        func(l *Lock) { l.Format = 2 },
		"a family's name":       func(l *Lock) { l.Families["A B"] = Grant{Digest: digest} },
		"a digest":              func(l *Lock) { l.Families["a"] = Grant{Digest: "12"} },
		"an unknown capability": func(l *Lock) { l.Families["a"] = Grant{Digest: digest, Capabilities: []Capability{{Name: "all"}}} },
		"a forgotten scope": func(l *Lock) {
			l.Families["a"] = Grant{Digest: digest, Capabilities: []Capability{{Name: abi.CanMemoryRead}}}
		},
		"a scope of none": func(l *Lock) {
			l.Families["a"] = Grant{Digest: digest, Capabilities: []Capability{{Name: abi.CanJob, Scope: []string{"*"}}}}
		},
		"an unknown part of the work": func(l *Lock) {
			l.Families["a"] = Grant{Digest: digest, Capabilities: []Capability{{Name: abi.CanJob, During: "nights"}}}
		},
		"an unknown hook": func(l *Lock) { l.Families["a"] = Grant{Digest: digest, Hooks: map[abi.Hook]On{"x": {}}} },
		"an unknown failure": func(l *Lock) {
			l.Families["a"] = Grant{Digest: digest, Hooks: map[abi.Hook]On{abi.HookStore: {OnFailure: "x"}}}
		},
		"an unknown limit": func(l *Lock) { l.Families["a"] = Grant{Digest: digest, Limits: map[string]int64{"luck": 1}} },
		"a guard's digest": func(l *Lock) { l.Families["a"] = Grant{Digest: digest, Guard: &Guard{Digest: "12"}} },
		"a guard's capability": func(l *Lock) {
			l.Families["a"] = Grant{Digest: digest, Guard: &Guard{Digest: digest, Capabilities: []Capability{{Name: "all"}}}}
		},
		"a guard's limit": func(l *Lock) {
			l.Families["a"] = Grant{Digest: digest, Guard: &Guard{Digest: digest, Limits: map[string]int64{"wall_ms": 0}}}
		},
		"a manifest's digest":                func(l *Lock) { l.Families["a"] = Grant{Digest: digest, Asked: &Asked{Manifest: "x"}} },
		"an unknown hook that was asked for": func(l *Lock) { l.Families["a"] = Grant{Digest: digest, Asked: &Asked{Hooks: []abi.Hook{"x"}}} },
		"an unknown capability that was asked for": func(l *Lock) {
			l.Families["a"] = Grant{Digest: digest, Asked: &Asked{Capabilities: []Capability{{Name: "all"}}}}
		},
		"an endpoint's kind":     func(l *Lock) { l.Endpoints["e"] = Endpoint{Kind: "x", URL: "http://h"} },
		"an endpoint's password": func(l *Lock) { l.Endpoints["e"] = Endpoint{Kind: "http", URL: "http://a:b@h"} },
		"an endpoint's scheme":   func(l *Lock) { l.Endpoints["e"] = Endpoint{Kind: "http", URL: "file:///etc"} },
		"a missing model":        func(l *Lock) { l.Endpoints["e"] = Endpoint{Kind: "openai", URL: "http://h"} },
		"two keys":               func(l *Lock) { l.Endpoints["e"] = Endpoint{Kind: "http", URL: "http://h", KeyEnv: "A", KeyFile: "b"} },
	}
	for name, spoil := range cases {
		l := example()
		spoil(&l)
		if err := l.Check(); err == nil {
			t.Errorf("%s is allowed", name)
		}
	}
	for _, text := range []string{`{"format":1,"famlies":{}}`, `{"format":1} x`, `{`, strings.Repeat(" ", FileLimit+1)} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%.40q is allowed", text)
		}
	}
}

func TestALockOfAnEarlierReleaseIsWrittenAgainAsItWas(t *testing.T) {
	before := `{
  "format": 1,
  "families": {
    "notes": {
      "digest": "` + digest + `",
      "version": "1.0.0",
      "capabilities": [
        {
          "name": "memory.read",
          "scope": [
            "work"
          ]
        }
      ],
      "hooks": {
        "rank": {},
        "store": {
          "on_failure": "refuse"
        }
      }
    }
  }
}
`
	l, err := Parse([]byte(before))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := Write(dir, l); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, File)); err != nil || string(after) != before {
		t.Errorf("it is written as %s, %v", after, err)
	}
}

func TestWhatIsApprovedIsTheOperatorsLastWord(t *testing.T) {
	on := func(o abi.OnFailure) map[abi.Hook]On { return map[abi.Hook]On{abi.HookStore: {OnFailure: o}} }
	old := &Guard{Digest: other}
	for name, c := range map[string]struct {
		grant Grant
		want  string
	}{
		"nothing":                        {Grant{Digest: digest}, ""},
		"skip":                           {Grant{Digest: digest, Hooks: on(abi.OnFailureSkip)}, ""},
		"what the manifest says":         {Grant{Digest: digest, Hooks: on("")}, digest},
		"refuse":                         {Grant{Digest: digest, Hooks: on(abi.OnFailureRefuse)}, digest},
		"a guard":                        {Grant{Digest: digest, Guard: old}, other},
		"a guard, and skip since":        {Grant{Digest: digest, Guard: old, Hooks: on(abi.OnFailureSkip)}, ""},
		"a guard, and refuse since":      {Grant{Digest: digest, Guard: old, Hooks: on(abi.OnFailureRefuse)}, digest},
		"a guard, and another hook only": {Grant{Digest: digest, Guard: old, Hooks: map[abi.Hook]On{abi.HookRank: {}}}, other},
	} {
		if got, ok := c.grant.Approved(); got.Digest != c.want || ok != (c.want != "") {
			t.Errorf("%s: Approved() = %q, %t, want %q", name, got.Digest, ok, c.want)
		}
	}
}

func TestABrokenLockIsAnErrorAndNotAnEmptyOne(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, File), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("read: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"format":1,"families":{"a":{"digest":"` + digest + `"}}}`))
	f.Add([]byte(`{"format":1,"families":{"a":{"digest":"` + digest + `","asked":{"hooks":["rank"]},"guard":{"digest":"` + other + `"}}}}`))
	f.Add([]byte(`{"format":1,"endpoints":{"e":{"kind":"http","url":"https://h/p"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse(data)
		if err == nil && l.Check() != nil {
			t.Error("what was parsed does not pass its check")
		}
	})
}

func TestLockingNarrowsAndUnlockingDoesNot(t *testing.T) {
	open, locked := Lock{}, Lock{Locked: true}
	if !Narrows(open, locked) || Narrows(locked, open) || !locked.Decides() {
		t.Errorf("locking narrows: %v, unlocking narrows: %v, a lock decides: %v; want true, false, true", Narrows(open, locked), Narrows(locked, open), locked.Decides())
	}
}
