package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/must"
)

func TestTheKeyOfAClusterIsReadFromAPrivateFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	for _, c := range []struct {
		what, text string
		mode       os.FileMode
		want       string
	}{
		{"a key", strings.Repeat("k", 64) + "\n", 0o600, ""},
		{"one that others can read", strings.Repeat("k", 64), 0o644, "chmod 600"},
		{"one that is too long", strings.Repeat("k", longestClusterKey+1), 0o600, "more than 4096 bytes"},
	} {
		must.Do(t, os.WriteFile(path, []byte(c.text), 0o600))
		must.Do(t, os.Chmod(path, c.mode))
		o, err := clusterFlags{keyFile: path}.options()
		if c.want == "" && (err != nil || string(o.Key) != strings.TrimSpace(c.text)) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.what, err, c.want)
		}
	}
	if o, err := (clusterFlags{}).options(); o != nil || err != nil {
		t.Errorf("without a file: got %v (%v), want nothing", o, err)
	}
	if _, err := (clusterFlags{keyFile: path + ".none"}).options(); err == nil {
		t.Error("a file that is not there: got no error, want one")
	}
}
