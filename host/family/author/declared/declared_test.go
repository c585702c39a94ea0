package declared_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/family/author/declared"
	"github.com/alcove-memory/alcove/host/testing/must"
)

var update = flag.Bool("update", false, "write the manifests of the examples")

const reminders = "../../../../guests/examples/reminders"

// One family has one manifest, whatever language it is written in.
func TestOneFamilyHasOneManifestInEachLanguage(t *testing.T) {
	want, err := os.ReadFile(filepath.Join(reminders, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"c/family.c", "cpp/family.cpp", "zig/family.zig", "rust/family.rs", "assemblyscript/family.ts"} {
		source, err := os.ReadFile(filepath.Join(reminders, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := declared.Manifest(name, source)
		if *update && err == nil {
			err = os.WriteFile(filepath.Join(reminders, "manifest.json"), got, 0o644)
			want = got
		}
		if err != nil || string(got) != string(want) {
			t.Errorf("%s declares\n%s\nwant\n%s(%v)", name, got, want, err)
		}
	}
}

// The one in Go, which alcove family gen writes and make generated compares with its source, has limits beside: a guest in Go needs more memory
// and fuel than others.
func TestTheOneInGoHasTheSameManifestAndLimits(t *testing.T) {
	const limits = `  "limits": {"memory_pages": 512, "wall_ms": 60000, "cpu_ms": 30000, "fuel": 1000000000000},` + "\n"
	want, err := os.ReadFile(filepath.Join(reminders, "manifest.json"))
	must.Do(t, err)
	got, err := os.ReadFile(filepath.Join(reminders, "go", "manifest.json"))
	must.Do(t, err)
	if !strings.Contains(string(got), limits) || strings.Replace(string(got), limits, "", 1) != string(want) {
		t.Errorf("the manifest in Go is\n%s\nwant, with %s\n%s", got, limits, want)
	}
}

// The manifests of the templates are those that their sources declare.
func TestTheTemplatesHaveTheManifestsOfTheirSources(t *testing.T) {
	for _, name := range []string{"c/example/family.c", "cpp/example/family.cpp", "zig/example/family.zig", "rust/example/family.rs", "assemblyscript/example/family.ts"} {
		source, err := os.ReadFile(filepath.Join("../../../../sdk", name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := declared.Manifest(name, source)
		path := filepath.Join("../../../../sdk", filepath.Dir(name), "manifest.json")
		if *update && err == nil {
			err = os.WriteFile(path, got, 0o644)
		}
		want, missing := os.ReadFile(path)
		if err != nil || missing != nil || string(got) != string(want) {
			t.Errorf("%s declares\n%s\nwant\n%s(%v, %v): go test -update ./host/family/author/declared writes it", name, got, want, err, missing)
		}
	}
}
