//go:build guests && unix

package families_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/registry"
)

// memory_bundle writes and reads files below the directory that the operator named bundles, and granted; elsewhere it does neither.
func TestABundleIsAFileOnlyBelowTheDirectoryThatTheOperatorNamed(t *testing.T) {
	t.Parallel()
	k := server.Carrying(t, host.Options{})
	c, err := k.Connect(owner.Hello{Agent: "ann"})
	must.Do(t, err)
	server.Answered[any](t, c, "memory_store", map[string]any{"key": "tea", "value": map[string]any{"text": "Green tea."}, "tags": []string{"drink"}})
	bundle := func(action, file string) string {
		return server.AnswerText(c, "memory_bundle", map[string]any{"action": action, "file": file})
	}
	refused := func(when, action, file, why string) {
		t.Helper()
		if text := bundle(action, file); !strings.HasPrefix(text, "error: ") || !strings.Contains(text, why) {
			t.Errorf("%s: %s of %q: %s, not %s", when, action, file, text, why)
		}
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	outside, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	at := func(p string) string { return filepath.Join(dir, p) }
	grant := operator.GrantRequest{Family: "developer", Capabilities: []registry.Capability{
		{Name: abi.CanFileRead, Scope: []string{"bundles"}}, {Name: abi.CanFileWrite, Scope: []string{"bundles"}}}}
	for _, action := range []string{"export", "import"} {
		refused("nothing is named or granted", action, "x.bundle", "file.")
	}
	_, err = operator.Call(t.Context(), k.Acts, operator.GrantFamily, grant)
	must.Do(t, err)
	must.Do(t, operator.Command(t.Context(), k.Acts, operator.SetRoot, operator.RootRequest{Name: "other", Root: &registry.Root{Dir: dir}}))
	for _, action := range []string{"export", "import"} {
		refused("another directory is named", action, "x.bundle", "no directory is named")
	}
	must.Do(t, operator.Command(t.Context(), k.Acts, operator.SetRoot, operator.RootRequest{Name: "bundles", Root: &registry.Root{Dir: dir}}))

	type answer struct {
		File, Content, Digest string
		Valid, Imported       bool
		Counts                struct{ Memories, Records int }
	}
	of := func(action, file string) answer {
		return server.Answered[answer](t, c, "memory_bundle", map[string]any{"action": action, "file": file})
	}
	inline := of("export", "")
	written := of("export", "week/x.bundle")
	data, err := os.ReadFile(at("week/x.bundle"))
	must.Do(t, err)
	if string(data) != inline.Content || written.Content != "" || written.File != "week/x.bundle" || written.Digest != inline.Digest || written.Counts.Memories != 1 {
		t.Errorf("written is %+v with %q, not %q", written, data, inline.Content)
	}
	if read := of("validate", "week/x.bundle"); !read.Valid || read.Digest != inline.Digest || read.Counts != inline.Counts {
		t.Errorf("read back: %+v", read)
	}
	before := server.AnswerText(c, "memory_bundle", map[string]any{"action": "export"})
	server.Answered[any](t, c, "memory_forget", map[string]any{"key": "tea"})
	if !of("import", "week/x.bundle").Imported || server.AnswerText(c, "memory_bundle", map[string]any{"action": "export"}) != before {
		t.Errorf("the import does not restore what was exported")
	}
	refused("a file that is not there", "import", "none.bundle", "there is no file")

	must.Do(t, os.WriteFile(filepath.Join(outside, "x.bundle"), data, 0o600))
	must.Do(t, os.Symlink(filepath.Join(outside, "x.bundle"), at("link.bundle")))
	must.Do(t, os.Symlink(outside, at("away")))
	for file, why := range map[string]string{"../x.bundle": "the name ..", "week/../../x.bundle": "the name ..", filepath.Join(outside, "x.bundle"): "is absolute",
		"link.bundle": "is a symbolic link", "away/x.bundle": "is a symbolic link", "away/new.bundle": "is a symbolic link"} {
		for _, action := range []string{"export", "validate", "import"} {
			refused("it leads elsewhere", action, file, why)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 1 {
		t.Errorf("outside are %v (%v)", left, err)
	}
	must.Do(t, operator.Command(t.Context(), k.Acts, operator.SetRoot, operator.RootRequest{Name: "bundles"}))
	refused("its name is taken back", "import", "week/x.bundle", "no directory is named")
}
