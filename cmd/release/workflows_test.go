package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const repositoryRoot = "../.."

// pinned is an action by the digest of its commit, with the version that Dependabot reads, or one of this repository.
var pinned = regexp.MustCompile(`^(\./\S+|[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$`)

func TestActionsAreNamedByDigestAndVersion(t *testing.T) {
	var files []string
	for _, pattern := range []string{"workflows/*.yml", "actions/*/action.yml"} {
		found, err := filepath.Glob(filepath.Join(repositoryRoot, ".github", pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: got %q, %v, want files", pattern, found, err)
		}
		files = append(files, found...)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			_, action, uses := strings.Cut(line, "uses: ")
			if uses && !pinned.MatchString(action) {
				t.Errorf("%s: got %q, want OWNER/NAME@DIGEST # vX.Y.Z", path, action)
			}
		}
	}
}

func TestAChannelWithoutItsSecretIsLeftOutAndSaysSo(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	for _, channel := range []string{"image", "npm", "homebrew", "scoop", "registry"} {
		publish := exec.Command(bash, filepath.Join(repositoryRoot, ".ci", "publish"), channel)
		publish.Env = []string{"PATH=" + os.Getenv("PATH"), "VERSION=v1.2.3"}
		out, err := publish.CombinedOutput()
		if want := "::notice::" + channel + ": left out, because its secret is not set\n"; err != nil || string(out) != want {
			t.Errorf("%s: got %q, %v, want %q", channel, out, err, want)
		}
	}
	publish := exec.Command(bash, filepath.Join(repositoryRoot, ".ci", "publish"), "none")
	publish.Env = []string{"PATH=" + os.Getenv("PATH"), "VERSION=v1.2.3"}
	if out, err := publish.CombinedOutput(); err == nil || !strings.Contains(string(out), "there is no channel none") {
		t.Errorf("got %q, %v, want that there is no such channel", out, err)
	}
}
