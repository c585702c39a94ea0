package product

import (
	"path/filepath"
	"testing"
)

func TestAReleaseNamesItsFilesAndVersions(t *testing.T) {
	r := Release{Version: "v1.2.3-rc.1+build", Dir: "dir"}
	for _, c := range []struct{ what, got, want string }{
		{"program", filepath.ToSlash(r.Program(Platform{"linux", "arm64"})), "dir/alcove-linux-arm64"},
		{"program of Windows", filepath.ToSlash(r.Program(Platform{"windows", "amd64"})), "dir/alcove-windows-amd64.exe"},
		{"version", r.Semantic(), "1.2.3-rc.1+build"},
		{"address", r.URL("a b.zip"), Homepage + "/releases/download/v1.2.3-rc.1+build/a%20b.zip"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.what, c.got, c.want)
		}
	}
}
