package project

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const config = "[core]\n\tbare = false\n" +
	"[remote \"other\"]\n\turl = https://example.org/else/where\n[remote \"origin\"]\n\turl = %\n\tfetch = x\n"

func TestARepositoryIsNamedByItsRemote(t *testing.T) {
	for remote, want := range map[string]string{
		"https://example.org/acme/app.git":             "project/acme/app",
		"https://user:secret@example.org/Acme/App.git": "project/acme/app",
		"git@example.org:acme/app.git":                 "project/acme/app",
		"ssh://git@example.org:2222/acme/app/":         "project/acme/app",
		"https://example.org/group/sub/app":            "project/sub/app",
		"example:app":                                  "project/app",
		"https://example.org/acme/b c":                 "project/acme/b-c-" + hash("acme/b c"),
		"/srv/git/app.git":                             "",
		`C:\git\app`:                                   "",
		"https://example.org":                          "",
		"":                                             "",
	} {
		if got := OfRemote(remote); got != want {
			t.Errorf("OfRemote(%q): got %q, want %q", remote, got, want)
		}
	}
}

func TestFoldersOfARepositoryShareANamespace(t *testing.T) {
	root := filepath.Join(t.TempDir(), "clone")
	write(t, filepath.Join(root, ".git", "config"), strings.Replace(config, "%", "git@example.org:acme/app.git", 1))
	write(t, filepath.Join(root, ".git", "worktrees", "fix", "commondir"), "../..\n")
	tree := filepath.Join(t.TempDir(), "fix")
	write(t, filepath.Join(tree, ".git"), "gitdir: "+filepath.Join(root, ".git", "worktrees", "fix")+"\n")
	for _, folder := range []string{root, filepath.Join(root, "cmd", "gone"), tree, filepath.Join(tree, "docs")} {
		if got, want := Namespace(folder), "project/acme/app"; got != want {
			t.Errorf("Namespace(%s): got %q, want %q", folder, got, want)
		}
	}
}

func TestWithoutARemoteTheRootOfTheRepositoryNamesIt(t *testing.T) {
	root := filepath.Join(t.TempDir(), "App")
	write(t, filepath.Join(root, ".git", "config"), "[core]\n")
	want := "project/app-" + hash(filepath.ToSlash(root))
	for _, folder := range []string{root, filepath.Join(root, "sub")} {
		if got := Namespace(folder); got != want {
			t.Errorf("Namespace(%s): got %q, want %q", folder, got, want)
		}
	}
}

func TestAFolderThatIsGoneIsNamedByItsPath(t *testing.T) {
	for folder, want := range map[string]string{
		"/nowhere/notes":               "project/notes-" + hash("/nowhere/notes"),
		"/nowhere/notes/":              "project/notes-" + hash("/nowhere/notes"),
		`C:\work\My Notes`:             "project/my-notes-" + hash("C:/work/My Notes"),
		`\\machine\share\app`:          "project/app-" + hash("//machine/share/app"),
		"/":                            "project/unnamed-" + hash(""),
		"relative":                     "project/relative-" + hash("relative"),
		"":                             "",
		"/x/" + strings.Repeat("語", 9): "project/unnamed-" + hash("/x/"+strings.Repeat("語", 9)),
	} {
		if got := Namespace(folder); got != want {
			t.Errorf("Namespace(%q): got %q, want %q", folder, got, want)
		}
	}
}

func FuzzNamesAreNamespaces(f *testing.F) {
	for _, text := range []string{"/a/b", "https://example.org/a/b", "a:b", `C:\x`, strings.Repeat("long/", 200), "ä\x00\xff"} {
		f.Add(text)
	}
	form := regexp.MustCompile(`^project/[A-Za-z0-9._/-]+$`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, got := range []string{ofPath(text), OfRemote(text)} {
			if got != "" && (!form.MatchString(got) || len(got) > longest) {
				t.Errorf("%q: got %q, want a namespace", text, got)
			}
		}
	})
}
