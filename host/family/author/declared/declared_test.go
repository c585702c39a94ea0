package declared_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/host/family/author/declared"
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
