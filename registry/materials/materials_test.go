package materials

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func text(s string) []byte { return append(binary.AppendUvarint(nil, uint64(len(s))), s...) }

func custom(name string, content []byte) []byte {
	body := append(text(name), content...)
	return append([]byte{0}, append(binary.AppendUvarint(nil, uint64(len(body))), body...)...)
}

func module(sections ...[]byte) []byte {
	return append([]byte("\x00asm\x01\x00\x00\x00"), slices.Concat(sections...)...)
}

func TestProducersAndSectionsAreRead(t *testing.T) {
	fields := slices.Concat([]byte{2}, text("language"), []byte{1}, text("C11"), text(""), text("processed-by"), []byte{1}, text("clang"), text("14.0.6"))
	m, err := Of(module(custom("producers", fields), custom("alcove.manifest", []byte("{}"))))
	want := []Producer{{"language", "C11", ""}, {"processed-by", "clang", "14.0.6"}}
	if err != nil || !slices.Equal(m.Producers, want) || len(m.Sections) != 2 || m.Sections[1].Name != "alcove.manifest" || m.Sections[1].Bytes != 2 || m.Go != nil {
		t.Errorf("Of = %+v, %v, want the producers %v and two sections", m, err, want)
	}
}

func TestWhatIsTooMuchOrCutOffIsAnError(t *testing.T) {
	many := append([]byte{1}, text("language")...)
	many = binary.AppendUvarint(many, mostFields+1)
	for range mostFields + 1 {
		many = append(many, append(text("a"), text("1")...)...)
	}
	for name, m := range map[string][]byte{
		"no module":     []byte("MZ"),
		"a cut section": module([]byte{0, 9, 1}),
		"many entries":  module(custom("producers", many)),
		"a long name":   module(custom(strings.Repeat("a", longestText+1), nil)),
		"many sections": module(bytes.Repeat(custom("a", nil), mostSections+1)),
		"many segments": module(append([]byte{11}, append([]byte{4}, binary.AppendUvarint(nil, mostSegments+1)...)...)),
	} {
		if _, err := Of(m); err == nil {
			t.Errorf("%s: it is read, want an error", name)
		}
	}
}

func TestWhatGoSaysOfABuildIsReadFromItsData(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a program")
	}
	dir := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module example.org/said\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), "go", "build", "-o", "out.wasm", "-ldflags=-s -w", ".")
	c.Dir, c.Env = dir, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=-trimpath")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("compile a program: %v\n%s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "out.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Of(data)
	if err != nil || m.Go == nil || m.Go.Path != "example.org/said" || !strings.HasPrefix(m.Go.GoVersion, "go1.") {
		t.Errorf("Of = %+v with the producers %q, %v, want the module example.org/said and a version of Go", m.Go, m.Producers, err)
	}
}

func FuzzOf(f *testing.F) {
	f.Add(module(custom("producers", []byte{1, 1, 'a', 1, 1, 'b', 0})))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := Of(data); err == nil && len(m.Sections) > mostSections {
			t.Errorf("%d sections are read", len(m.Sections))
		}
	})
}
