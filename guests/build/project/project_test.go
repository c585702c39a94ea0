package project_test

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/guests/build/project"
)

// mostBytes is how many bytes templates add to a program at most.
const mostBytes = 240 << 10

func collected(t *testing.T) project.Templates {
	t.Helper()
	all, err := project.Collect(os.DirFS("../../.."))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTemplatesAreSmallAndTheSameEachTime(t *testing.T) {
	all := collected(t)
	packed, err := project.Write(all)
	if err != nil {
		t.Fatal(err)
	}
	again, err := project.Write(collected(t))
	if err != nil || !bytes.Equal(packed, again) {
		t.Errorf("packed twice, they differ (%v)", err)
	}
	if t.Logf("%d files in %d bytes", len(all), len(packed)); len(packed) > mostBytes {
		t.Errorf("they have %d bytes, of %d", len(packed), mostBytes)
	}
	read, err := project.Open(packed)
	if err != nil || !maps.Equal(read, all) {
		t.Errorf("read again, they are others (%v)", err)
	}
	for _, damaged := range [][]byte{nil, packed[:100], packed[:len(packed)-1], []byte("tea")} {
		if read, err := project.Open(damaged); err == nil && len(read) > 0 {
			t.Errorf("%d bytes are read as %d files", len(damaged), len(read))
		}
	}
}

// Authors begin with less than 40 lines, which have no name but theirs.
func TestAProjectIsItsAuthors(t *testing.T) {
	all := collected(t)
	for _, language := range project.Languages() {
		files, err := all.New("green-tea", language)
		if err != nil {
			t.Fatal(err)
		}
		has := []string{"README.md", ".gitignore", "alcove.dev.json"}
		if slices.Contains(project.Compiled(), language) {
			has = append(has, "build.sh", "test.sh", "manifest.json")
		}
		for _, name := range has {
			if files[name] == "" {
				t.Errorf("%s: there is no %s", language, name)
			}
		}
		for name, text := range files {
			if strings.HasPrefix(name, "alcove/") {
				continue
			}
			if strings.Contains(text, "memory_greet") || strings.Contains(text, "example") && !strings.Contains(text, "example.com/green-tea") || strings.Contains(text, "../") {
				t.Errorf("%s: %s has names of the template:\n%s", language, name, text)
			}
			lines, _, _ := strings.Cut(text, "#[cfg(test)]")
			if n := strings.Count(lines, "\n"); strings.HasPrefix(name, "family.") && n >= 40 {
				t.Errorf("%s: %s has %d lines", language, name, n)
			}
		}
	}
	if _, err := all.New("tea", "cobol"); err == nil || !strings.Contains(err.Error(), "use go, rust, c, cpp, zig, assemblyscript") {
		t.Errorf("another language: %v", err)
	}
}

// A project in Go generates its manifest and its codec, offline. The manifest that an author brings is nobody's output.
func TestAGoProjectHasItsGenerator(t *testing.T) {
	files, err := collected(t).New("green-tea", "go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"alcove_gen.go", "alcove/sdk/go/familygen/main.go", "alcove/sdk/go/gen/gen.go", "alcove/sdk/go/gen/output/output.go", "alcove/abi/abi.go", "alcove/abi/manifest.schema.json"} {
		if files[name] == "" {
			t.Errorf("there is no %s", name)
		}
	}
	const generated = `"generated": ["alcove_gen.go", "manifest.json"]`
	if !strings.Contains(files["alcove.dev.json"], generated) || !strings.Contains(files["README.md"], "generates `alcove_gen.go` and `manifest.json`") {
		t.Errorf("alcove.dev.json and README.md do not both name the generated files:\n%s%s", files["alcove.dev.json"], files["README.md"])
	}
	if err := project.Stub(files, "go", "green-tea", []byte("{}"), []string{"green_tea_brew"}); err != nil {
		t.Fatal(err)
	}
	if files["alcove_gen.go"] != "" || strings.Contains(files["alcove.dev.json"], "generated") || strings.Contains(files["README.md"], "generates") || files["manifest.json"] != "{}" {
		t.Errorf("from a manifest: %q, %s%s", files["alcove_gen.go"], files["alcove.dev.json"], files["README.md"])
	}
}

// A project generates its manifest when it is built, unless its author brings one.
func TestAProjectGeneratesItsManifestUnlessItIsGiven(t *testing.T) {
	for _, language := range []string{"rust", "c", "cpp", "zig", "assemblyscript"} {
		files, err := collected(t).New("green-tea", language)
		if err != nil {
			t.Fatal(err)
		}
		const generates = `"${ALCOVE:-alcove}" family gen family.`
		if !strings.Contains(files["build.sh"], generates) || !strings.Contains(files["alcove.dev.json"], `"generated": ["manifest.json"]`) || !strings.Contains(files["README.md"], "generates `manifest.json`") {
			t.Errorf("%s: not all of build.sh, alcove.dev.json and README.md generate the manifest:\n%s%s%s", language, files["build.sh"], files["alcove.dev.json"], files["README.md"])
		}
		if err := project.Stub(files, language, "green-tea", []byte("{}"), []string{"green_tea_brew"}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(files["build.sh"], "family gen") || !strings.Contains(files["build.sh"], "raw.wasm") || files["manifest.json"] != "{}" {
			t.Errorf("%s: from a manifest, build.sh is\n%s", language, files["build.sh"])
		}
	}
}
