package channel

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/alcove-memory/alcove/cmd/release/product"
)

// made is a release of programs that are bytes, with the artefacts of all channels.
func made(t *testing.T) *Material {
	t.Helper()
	dir := t.TempDir()
	r := product.Release{Version: "v1.2.0-rc.1", Time: time.Unix(1_700_000_000, 0).UTC(), Contact: "packages@alcove.invalid", Dir: filepath.Join(dir, "release")}
	m := &Material{Release: r, Platforms: product.Platforms(), Source: "../../..", Manual: filepath.Join(dir, "manual"), texts: map[product.Platform]map[string][]byte{}}
	for _, p := range m.Platforms {
		put(t, r.Program(p), "the program for "+p.String())
		m.texts[p] = map[string][]byte{"example.org/tea@v1.0.0/LICENSE": []byte("as you like")}
	}
	for _, name := range []string{"man/man1/alcove.1", "completions/alcove.bash", "completions/_alcove", "completions/alcove.fish", "completions/alcove.ps1"} {
		put(t, filepath.Join(m.Manual, name), "text of "+name)
	}
	for _, c := range All() {
		if err := c.Make(t.Context(), m); err != nil {
			t.Fatalf("make %s: %v", c.Name, err)
		}
	}
	return m
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (m *Material) read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(m.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestTheSameProgramsGiveTheSameBytes(t *testing.T) {
	first, second := made(t), made(t)
	count := 0
	err := filepath.WalkDir(first.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(first.Dir, path)
		if got, want := second.read(t, name), first.read(t, name); !bytes.Equal(got, want) {
			t.Errorf("%s differs when it is made again: %d and %d bytes", name, len(got), len(want))
		}
		count++
		return err
	})
	if want := 6 + 6 + 2 + 2 + 1 + 1 + 3; err != nil || count != want {
		t.Errorf("there are %d files, %v, want %d", count, err, want)
	}
}

// entry is a file in an archive.
type entry struct {
	mode fs.FileMode
	text string
}

func untar(t *testing.T, data []byte) map[string]entry {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]entry{}
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if h.ModTime.Unix() != 1_700_000_000 || h.Uid != 0 || h.Gid != 0 {
			t.Errorf("%s has time %v and owner %d:%d, want the time of the commit and root", h.Name, h.ModTime, h.Uid, h.Gid)
		}
		found[h.Name] = entry{h.FileInfo().Mode(), string(text)}
	}
}

func unzip(t *testing.T, data []byte) map[string]entry {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]entry{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		found[f.Name] = entry{f.Mode(), string(text)}
	}
	return found
}

func TestAnArchiveHasProgramManualCompletionsAndLicences(t *testing.T) {
	m := made(t)
	for _, p := range product.Platforms() {
		open, name := untar, "alcove-"+p.String()+".tar.gz"
		if p.OS == "windows" {
			open, name = unzip, "alcove-"+p.String()+".zip"
		}
		found := open(t, m.read(t, name))
		folder := "alcove-1.2.0-rc.1-" + p.String() + "/"
		if got := found[folder+p.Executable()]; got.mode != 0o755 || got.text != "the program for "+p.String() {
			t.Errorf("%s: the program is %v %q", name, got.mode, got.text)
		}
		for _, file := range []string{"README.md", "LICENSE", "NOTICE", "licences/example.org/tea@v1.0.0/LICENSE", "man/man1/alcove.1",
			"completions/alcove.bash", "completions/_alcove", "completions/alcove.fish", "completions/alcove.ps1"} {
			if got := found[folder+file]; got.mode != 0o644 || got.text == "" {
				t.Errorf("%s: %s is %v with %d bytes, want a file that all may read", name, file, got.mode, len(got.text))
			}
		}
	}
}

// parts are those of a deb.
func parts(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	rest, ok := bytes.CutPrefix(data, []byte("!<arch>\n"))
	if !ok {
		t.Fatalf("it begins with %q", data[:8])
	}
	found := map[string][]byte{}
	for len(rest) > 0 {
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if err != nil || string(rest[58:60]) != "`\n" {
			t.Fatalf("a part has the header %q: %v", rest[:60], err)
		}
		found[strings.TrimSpace(string(rest[:16]))] = rest[60 : 60+size]
		rest = rest[60+size+size%2:]
	}
	return found
}

func TestADebHasWhatItsSumsSay(t *testing.T) {
	m := made(t)
	all := parts(t, m.read(t, "alcove-linux-arm64.deb"))
	if got := string(all["debian-binary"]); got != "2.0\n" {
		t.Errorf("the format is %q, want 2.0", got)
	}
	control, data := untar(t, all["control.tar.gz"]), untar(t, all["data.tar.gz"])
	for line := range strings.Lines(control["./md5sums"].text) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if got := fmt.Sprintf("%x", md5.Sum([]byte(data["./"+name].text))); got != sum {
			t.Errorf("%s has the sum %s, want %s", name, got, sum)
		}
	}
	for _, want := range []string{"Version: 1.2.0~rc.1\n", "Architecture: arm64\n", "Maintainer: Alcove <packages@alcove.invalid>\n"} {
		if got := control["./control"].text; !strings.Contains(got, want) {
			t.Errorf("the description is %s, want %q in it", got, want)
		}
	}
	if got := control["./conffiles"].text; got != "/etc/alcove/environment\n" {
		t.Errorf("the configuration is %q", got)
	}
	for name, mode := range map[string]fs.FileMode{"./usr/bin/alcove": 0o755, "./usr/lib/systemd/system/alcove.service": 0o644, "./usr/lib/systemd/user/alcove.service": 0o644,
		"./usr/share/man/man1/alcove.1.gz": 0o644, "./usr/share/doc/alcove/copyright": 0o644, "./etc/alcove/": fs.ModeDir | 0o755} {
		if got, ok := data[name]; !ok || got.mode != mode {
			t.Errorf("%s is %v, want %v", name, got.mode, mode)
		}
	}
}

// The system's own tools check the packages, where they are installed.
func TestToolsOfSystemsReadThePackages(t *testing.T) {
	m := made(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"dpkg-deb", "--field", "alcove-linux-amd64.deb", "Package"}, "alcove"},
		{[]string{"dpkg-deb", "--contents", "alcove-linux-amd64.deb"}, "./usr/bin/alcove"},
		{[]string{"rpm", "-K", "--nosignature", "alcove-linux-amd64.rpm"}, "digests OK"},
		{[]string{"rpm", "-qp", "--qf", "%{VERSION} %{ARCH}", "alcove-linux-arm64.rpm"}, "1.2.0~rc.1 aarch64"},
		{[]string{"ruby", "-c", "alcove.rb"}, "Syntax OK"},
	} {
		if _, err := exec.LookPath(c.args[0]); err != nil {
			t.Logf("%s is not installed: %q is not run", c.args[0], c.args)
			continue
		}
		cmd := exec.CommandContext(t.Context(), c.args[0], c.args[1:]...)
		cmd.Dir = m.Dir
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), c.says) {
			t.Errorf("%q: %v, %s, want %q", c.args, err, out, c.says)
		}
	}
}

func TestDescriptionsForPackageManagersHaveTheDigestsOfTheArchives(t *testing.T) {
	m := made(t)
	var scoop, installer any
	if err := json.Unmarshal(m.read(t, "alcove.json"), &scoop); err != nil {
		t.Error(err)
	}
	winget := string(m.read(t, "winget/AlcoveMemory.Alcove.installer.yaml"))
	if err := yaml.Unmarshal([]byte(winget), &installer); err != nil {
		t.Error(err)
	}
	formula := string(m.read(t, "alcove.rb"))
	for name, texts := range map[string][]string{
		"alcove-windows-amd64.zip": {string(m.read(t, "alcove.json")), winget}, "alcove-windows-arm64.zip": {string(m.read(t, "alcove.json")), winget},
		"alcove-darwin-arm64.tar.gz": {formula}, "alcove-darwin-amd64.tar.gz": {formula}, "alcove-linux-arm64.tar.gz": {formula}, "alcove-linux-amd64.tar.gz": {formula},
	} {
		sum, err := m.digest(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if !strings.Contains(strings.ToLower(text), sum) || !strings.Contains(text, "/releases/download/v1.2.0-rc.1/"+name) {
				t.Errorf("it lacks %s or its digest %s:\n%s", name, sum, text)
			}
		}
	}
}

func TestWhatCannotBePackedIsNamed(t *testing.T) {
	whole := made(t)
	for want, change := range map[string]func(*Material){
		"write it with alcove manual":            func(m *Material) { m.Manual = t.TempDir() },
		"read what is packed beside the program": func(m *Material) { m.Source = t.TempDir() },
		"read the program":                       func(m *Material) { m.Dir = t.TempDir() },
		"read the artefact alcove-darwin-arm64.tar.gz": func(m *Material) {
			if err := os.Remove(filepath.Join(m.Dir, "alcove-darwin-arm64.tar.gz")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		m := *whole
		change(&m)
		make := archives
		if strings.Contains(want, "artefact") {
			make = homebrew
		}
		if err := make(context.Background(), &m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := Find(product.Release{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "build the programs first") {
		t.Errorf("without programs: %v", err)
	}
}
