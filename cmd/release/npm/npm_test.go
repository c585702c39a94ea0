package npm_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/cmd/release/npm"
	"github.com/alcove-memory/alcove/cmd/release/product"
)

const sources = "../../.."

func licences(p product.Platform) (map[string][]byte, error) {
	return map[string][]byte{"example.org/linked@v1.0.0/LICENSE": []byte("of " + p.String())}, nil
}

// release has a small program for each of the platforms.
func release(t *testing.T, version string, platforms ...product.Platform) product.Release {
	t.Helper()
	r := product.Release{Version: version, Dir: t.TempDir()}
	for _, p := range platforms {
		if err := os.WriteFile(r.Program(p), []byte("program of "+p.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// content is the files of a package, by their names, and their modes.
func content(t *testing.T, path string) (files map[string]string, modes map[string]int64) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files, modes = map[string]string{}, map[string]int64{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, modes
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name], modes[h.Name] = string(text), h.Mode
	}
}

func manifest(t *testing.T, files map[string]string) (m npm.Manifest) {
	t.Helper()
	if err := json.Unmarshal([]byte(files["package/package.json"]), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEachPlatformHasAPackageThatTheMainOneDependsOn(t *testing.T) {
	r := release(t, "v1.2.3", product.Platforms()...)
	paths, err := npm.Write(r, sources, licences)
	if err != nil {
		t.Fatal(err)
	}
	depends := map[string]string{}
	for _, path := range paths[:len(paths)-1] {
		files, modes := content(t, path)
		m := manifest(t, files)
		depends[m.Name] = m.Version
		if want := "@alcove-memory/" + m.OS[0] + "-" + m.CPU[0]; m.Name != want {
			t.Errorf("%s is for %s and %s, want %s", m.Name, m.OS, m.CPU, want)
		}
		program := "package/" + m.Files[0]
		if !strings.HasPrefix(files[program], "program of ") || modes[program] != 0o755 || len(m.Bin) > 0 {
			t.Errorf("%s has %q with mode %o and commands %v, want an executable program and no command", m.Name, files[program], modes[program], m.Bin)
		}
		if want := []string{"package/LICENSE", "package/NOTICE", "package/README.md", program, "package/licences/example.org/linked@v1.0.0/LICENSE", "package/package.json"}; !slices.Equal(slices.Sorted(maps.Keys(files)), want) {
			t.Errorf("%s has the files %q, want %q", m.Name, slices.Sorted(maps.Keys(files)), want)
		}
	}
	want := map[string]string{}
	for _, name := range []string{"linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64", "win32-arm64"} {
		want["@alcove-memory/"+name] = "1.2.3"
	}
	files, modes := content(t, paths[len(paths)-1])
	m := manifest(t, files)
	if m.Name != "alcove-memory" || !reflect.DeepEqual(depends, want) || !reflect.DeepEqual(m.Dependencies, want) {
		t.Errorf("%s depends on %v of the packages %v, want %v", m.Name, m.Dependencies, depends, want)
	}
	for command, path := range m.Bin {
		if !strings.HasPrefix(files["package/"+path], "#!/usr/bin/env node\n") || modes["package/"+path] != 0o755 {
			t.Errorf("the command %s is %q with mode %o, want a script of Node", command, path, modes["package/"+path])
		}
	}
	if strings.Contains(files["package/package.json"], `"scripts"`) {
		t.Errorf("something runs at install: %s", files["package/package.json"])
	}
}

func TestAPackageIsPublishedWithItsProvenance(t *testing.T) {
	for version, tag := range map[string]string{"v1.2.3": "", "v1.2.3-rc.1": "next"} {
		paths, err := npm.Write(release(t, version, product.Platforms()[0]), sources, licences)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			files, _ := content(t, path)
			m := manifest(t, files)
			if want := (npm.Publish{Access: "public", Provenance: true, Tag: tag}); m.Publish != want {
				t.Errorf("%s %s is published with %+v, want %+v", m.Name, m.Version, m.Publish, want)
			}
			if want := (npm.Repository{Type: "git", URL: "git+https://github.com/alcove-memory/alcove.git"}); m.Repository != want {
				t.Errorf("%s is from %+v, want %+v", m.Name, m.Repository, want)
			}
			if name := filepath.Base(path); !strings.HasSuffix(name, "-"+strings.TrimPrefix(version, "v")+".tgz") || strings.ContainsAny(name, "@") {
				t.Errorf("the file is %s, want the name that npm pack gives", name)
			}
		}
	}
}

func TestTheSameProgramsGiveTheSamePackages(t *testing.T) {
	r := release(t, "v1.2.3", product.Platforms()[:2]...)
	made := func() (all map[string]string) {
		paths, err := npm.Write(r, sources, licences)
		if err != nil {
			t.Fatal(err)
		}
		all = map[string]string{}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all[path] = string(data)
		}
		return all
	}
	if first, again := made(), made(); len(first) != 3 || !maps.Equal(first, again) {
		t.Errorf("got other bytes the second time, or %d packages, want 3", len(first))
	}
}

func TestWhatIsNoReleaseIsRefused(t *testing.T) {
	p := product.Platforms()[0]
	for _, test := range []struct {
		name, sources, want string
		release             product.Release
	}{
		{"no programs", sources, "make the release first", release(t, "v1.2.3")},
		{"no version", sources, "npm takes no version", release(t, "", p)},
		{"half a version", sources, "npm takes no version", release(t, "v1.2", p)},
		{"build metadata", sources, "npm takes no version", release(t, "v1.2.3+x", p)},
		{"a long version", sources, "npm takes no version", release(t, "v1.2.3-"+strings.Repeat("x", 100), p)},
		{"no licence", t.TempDir(), "LICENSE", release(t, "v1.2.3", p)},
	} {
		if _, err := npm.Write(test.release, test.sources, licences); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
}
