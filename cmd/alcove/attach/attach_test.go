package attach

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/host/owner"
)

func TestPlainCommandLinesAreServedEarly(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args  []string
		env   map[string]string
		hello owner.Hello
	}{
		{nil, nil, owner.Hello{Profile: "agent"}},
		{[]string{"--agent"}, map[string]string{"ALCOVE_AGENT": "ann", "ALCOVE_KEY": "k"}, owner.Hello{Profile: "agent", Agent: "ann", Key: "k"}},
		{[]string{"--agent", "bob", "--read-only"}, map[string]string{"ALCOVE_AGENT": "ann"}, owner.Hello{Profile: "agent", Agent: "bob", ReadOnly: true}},
		{[]string{"--agent=eve", "--families", " a,,b ", "--developer"}, nil, owner.Hello{Profile: "agent", Agent: "eve", Families: []string{"a", "b", "developer"}}},
		{[]string{"--namespace", "n", "--branch=b", "--profile", "full"}, map[string]string{"ALCOVE_PROFILE": "deferred"}, owner.Hello{Profile: "full", Namespace: "n", Branch: "b"}},
	} {
		o, ok := plain(append([]string{"--data", dir}, c.args...), func(name string) string { return c.env[name] })
		if !ok || o.Dir != dir || o.Start == nil || !reflect.DeepEqual(o.Hello, c.hello) {
			t.Errorf("%q: %t %q %+v", c.args, ok, o.Dir, o.Hello)
		}
	}
}

func TestOtherCommandLinesAreLeftToMain(t *testing.T) {
	dir := t.TempDir()
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--data", dir, "--help"}, {"--data", dir, "-h"}, {"--data", dir, "--unknown"}, {"--data", dir, "name"}, {"--data", dir, "--agent", "a", "b"},
		{"--data", dir, "--read-only=perhaps"}, {"--data", dir, "--auto-embed"}, {"--data", dir, "--cache", "off"}, {"--data", dir, "--json"},
		{"--data", ""}, {"--data"}, {"--data", open},
	} {
		if runtime.GOOS == "windows" && slices.Contains(args, open) {
			continue // access lists are not checked
		}
		if o, ok := plain(args, func(string) string { return "" }); ok {
			t.Errorf("%q is served early: %+v", args, o.Hello)
		}
	}
	if _, ok := plain([]string{"--data", dir}, func(name string) string { return map[string]string{"ALCOVE_CACHE": "off"}[name] }); ok {
		t.Error("a cache of the environment is ignored")
	}
	if _, ok := plain([]string{"--data", dir}, func(name string) string { return map[string]string{"ALCOVE_URL": "https://memory.example"}[name] }); ok {
		t.Error("a server of the environment is ignored")
	}
}
