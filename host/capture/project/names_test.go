package project

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestALinkGoesBeforeTheRepository(t *testing.T) {
	root := filepath.Join(t.TempDir(), "clone")
	write(t, filepath.Join(root, ".git", "config"), strings.Replace(config, "%", "git@example.org:acme/app.git", 1))
	var n Names
	if got, want := n.Of(filepath.Join(root, "sub")), (Place{Namespace: "project/acme/app", Why: ByRemote, Folder: root, Repository: true}); got != want {
		t.Errorf("without a link: got %+v, want %+v", got, want)
	}
	for folder, name := range map[string]string{root: "project/one", filepath.Join(root, "docs"): "project/two"} {
		if err := n.Link(folder, name); err != nil {
			t.Fatal(err)
		}
	}
	for folder, want := range map[string]string{
		root: "project/one", filepath.Join(root, "cmd", "gone"): "project/one", filepath.Join(root, "docs", "x"): "project/two",
		filepath.Join(root, "docs") + "2": "project/one", filepath.Dir(root): "project/of/transcript",
	} {
		if got := n.Namespace(folder, "project/of/transcript"); got != want {
			t.Errorf("%s: got %q, want %q", folder, got, want)
		}
	}
	if got, want := n.Unlink(root), "project/one"; got != want {
		t.Errorf("unlinked: got %q, want %q", got, want)
	}
	if got, want := n.Namespace(root, ""), "project/acme/app"; got != want {
		t.Errorf("after the link: got %q, want %q", got, want)
	}
	if got, want := n.Namespace(root, "project/of/transcript"), "project/of/transcript"; got != want {
		t.Errorf("a transcript with a remote: got %q, want %q", got, want)
	}
}

func TestAWorktreeBelongsToTheProjectToWhichItsRepositoryIsLinked(t *testing.T) {
	root, tree := filepath.Join(t.TempDir(), "clone"), filepath.Join(t.TempDir(), "fix")
	write(t, filepath.Join(root, ".git", "config"), "[core]\n")
	write(t, filepath.Join(root, ".git", "worktrees", "fix", "commondir"), "../..\n")
	write(t, filepath.Join(tree, ".git"), "gitdir: "+filepath.Join(root, ".git", "worktrees", "fix")+"\n")
	var n Names
	if err := n.Link(root, "project/app"); err != nil {
		t.Fatal(err)
	}
	if got, want := n.Of(tree).Namespace, "project/app"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAFormerNameLeadsToThePresentOne(t *testing.T) {
	var n Names
	if err := n.Link("/home/ann/b", "project/b"); err != nil {
		t.Fatal(err)
	}
	for _, m := range []Move{{ID: "1", From: "project/a", To: "project/b"}, {ID: "2", From: "project/b", To: "project/c"}} {
		if err := n.Rename(m); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"project/a", "project/b", "project/c"} {
		if got, want := n.Namespace("/x", name), "project/c"; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got, want := n.Of("/home/ann/b/sub").Namespace, "project/c"; got != want {
		t.Errorf("the linked folder: got %q, want %q", got, want)
	}
	if err := n.check(); err != nil {
		t.Error(err)
	}
	n.Undo("2")
	if got, want := fmt.Sprint(n.Renamed, n.Links, len(n.Moves)), "map[project/a:project/b] map[/home/ann/b:project/b] 1"; got != want {
		t.Errorf("after the undo: got %s, want %s", got, want)
	}
}

func TestANameToWhichAProjectIsRenamedBackIsANameAgain(t *testing.T) {
	var n Names
	for _, m := range []Move{{ID: "1", From: "project/a", To: "project/b"}, {ID: "2", From: "project/b", To: "project/a"}} {
		if err := n.Rename(m); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"project/a", "project/b"} {
		if got, want := n.Namespace("/x", name), "project/a"; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	n.Undo("2")
	if got, want := fmt.Sprint(n.Renamed), "map[project/a:project/b]"; got != want {
		t.Errorf("after the undo: got %s, want %s", got, want)
	}
}

func TestWhatNoOwnerWroteIsRefused(t *testing.T) {
	links := map[string]string{}
	for i := range mostLinks + 1 {
		links[fmt.Sprintf("/f/%d", i)] = "project/x"
	}
	many, err := json.Marshal(Names{Links: links})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"another namespace":  `{"links": {"/a": "default"}}`,
		"a pattern":          `{"links": {"/a": "project/*"}}`,
		"an exception":       `{"renamed": {"project/a": "!project/b"}}`,
		"a relative folder":  `{"links": {"a": "project/a"}}`,
		"a folder elsewhere": `{"links": {"//host/share": "project/a"}}`,
		"a hidden character": `{"links": {"/a\u202eb": "project/a"}}`,
		"a control":          `{"links": {"/a\u0007": "project/a"}}`,
		"a long folder":      `{"links": {"/` + strings.Repeat("a", mostFolder) + `": "project/a"}}`,
		"a long name":        `{"links": {"/a": "project/` + strings.Repeat("a", longest) + `"}}`,
		"a chain":            `{"renamed": {"project/a": "project/b", "project/b": "project/c"}}`,
		"a circle":           `{"renamed": {"project/a": "project/b", "project/b": "project/a"}}`,
		"an unknown member":  `{"link": {}}`,
		"no object":          `[]`,
		"two objects":        `{} {}`,
		"an id of a move":    `{"moves": [{"id": "a b", "from": "project/a", "to": "project/b"}]}`,
		"many links":         string(many),
	} {
		path := filepath.Join(t.TempDir(), FileName)
		write(t, path, text)
		if n, err := Read(path); err == nil {
			t.Errorf("%s: got %+v, want an error", name, n)
		}
	}
	path := filepath.Join(t.TempDir(), FileName)
	write(t, path, "{}"+strings.Repeat(" ", mostBytes))
	if _, err := Read(path); err == nil {
		t.Error("a long file: got no error, want one")
	}
}

func TestLimitsOfLinks(t *testing.T) {
	var n Names
	for i := range mostLinks {
		if err := n.Link(fmt.Sprintf("/f/%d", i), "project/x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Link("/f/0", "project/y"); err != nil {
		t.Errorf("a folder that is linked: got %v, want no error", err)
	}
	if err := n.Link("/f/more", "project/x"); err == nil || !strings.Contains(err.Error(), "2000") {
		t.Errorf("one more: got %v, want an error that names the limit", err)
	}
}

func TestChangesWaitForEachOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", FileName)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			err := Update(context.Background(), path, func(n *Names) error { return n.Link(fmt.Sprintf("/f/%d", i), "project/x") })
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	n, err := Read(path)
	if got, want := len(n.Links), 8; err != nil || got != want {
		t.Errorf("got %d links and %v, want %d", got, err, want)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("got %v and %v, want a file of its user alone", info.Mode(), err)
	}
}

func TestACalledNameIsANamespaceOfProjects(t *testing.T) {
	for name, want := range map[string]string{"acme/app": "project/acme/app", "project/acme/app": "project/acme/app", "A-1_b.c": "project/A-1_b.c"} {
		if got, err := Called(name); got != want || err != nil {
			t.Errorf("Called(%q): got %q and %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"", "project/", "/", "a b", "a*", "!a", "ä", "/a", "a/", strings.Repeat("a", longest)} {
		if got, err := Called(name); err == nil {
			t.Errorf("Called(%q): got %q, want an error", name, got)
		}
	}
}

func FuzzNames(f *testing.F) {
	whole, err := json.Marshal(Names{Links: map[string]string{"/a": "project/a"}, Renamed: map[string]string{"project/b": "project/a"},
		Moves: []Move{{ID: "m1", From: "project/b", To: "project/a", At: time.Unix(0, 0).UTC()}}})
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{string(whole), "{}", "", `{"links":{"/a\u0000":"project/a"}}`, `{"renamed":{"project/a":"project/a"}}`} {
		f.Add([]byte(text), "/a/b")
	}
	f.Fuzz(func(t *testing.T, data []byte, folder string) {
		n, err := parse(data)
		if err != nil {
			return
		}
		if place := n.Of(folder); place.Namespace != "" && checkName(place.Namespace) != nil {
			t.Errorf("%q: got %q, want a namespace of projects", folder, place.Namespace)
		}
		again, err := json.Marshal(n)
		if err == nil {
			_, err = parse(again)
		}
		if err != nil {
			t.Errorf("what was read does not read again: %v", err)
		}
	})
}
