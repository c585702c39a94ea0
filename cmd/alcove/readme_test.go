package main

import (
	"cmp"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheSessionInTheReadmeIsReal runs the commands of the README's session one after the other in an empty home, and
// compares their output, with times masked.
func TestTheSessionInTheReadmeIsReal(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, session, _ := strings.Cut(string(readme), "```console\n")
	session, _, found := strings.Cut(session, "```")
	if !found {
		t.Fatal("README.md has no block of the language console")
	}
	env := readmeHome(t)
	var got strings.Builder
	real := versions{}
	for _, run := range strings.Split(session, "$ ")[1:] {
		command, says, _ := strings.Cut(run, "\n")
		out := runInShell(t, env, real.in(command))
		real.learn(says, out)
		got.WriteString("$ " + command + "\n" + real.back(out))
	}
	if moments.ReplaceAllString(got.String(), "TIME") != moments.ReplaceAllString(session, "TIME") {
		t.Errorf("the session is now:\n%s", &got)
	}
}

var moments = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}`)

// versions are those of a run by those of the README: families write, too, and when they do so is not always the same.
type versions map[string]string

var versionNames = regexp.MustCompile(`\bv\d+\b`)

// learn pairs the versions that an output should have with those that it has.
func (v versions) learn(should, has string) {
	is := versionNames.FindAllString(has, -1)
	for i, name := range versionNames.FindAllString(should, -1) {
		if i < len(is) {
			v[name] = is[i]
		}
	}
}

// in has the versions of the run for those of the README.
func (v versions) in(command string) string {
	return versionNames.ReplaceAllStringFunc(command, func(name string) string { return cmp.Or(v[name], name) })
}

// back has the versions of the README for those of the run.
func (v versions) back(out string) string {
	return versionNames.ReplaceAllStringFunc(out, func(is string) string {
		for name, has := range v {
			if has == is {
				return name
			}
		}
		return is
	})
}

// TestTheCommandsInTheReadmeWork runs the examples of first use.
func TestTheCommandsInTheReadmeWork(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^(alcove .*?)(?:   .*)?$`).FindAllStringSubmatch(string(readme), -1)
	if len(commands) < 3 {
		t.Fatalf("README.md has only %d commands at the beginning of a line", len(commands))
	}
	env := readmeHome(t)
	runInShell(t, env, "alcove store k v")
	for _, c := range commands {
		runInShell(t, env, c[1])
	}
}

// readmeHome is the environment of a new user, whose alcove is the program under test.
func readmeHome(t testing.TB) []string {
	t.Helper()
	home := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(home, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(home, "bin", "alcove")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	data := filepath.Join(home, "data", "alcove")
	t.Cleanup(func() { stopOwner(t, data) })
	return append(os.Environ(), asMain+"=1", "HOME="+home, "XDG_DATA_HOME="+filepath.Join(home, "data"), "ALCOVE_DATA=", "ALCOVE_LISTEN=off", "ALCOVE_POSTURE=",
		"PATH="+filepath.Join(home, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func runInShell(t testing.TB, env []string, command string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Env = env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run %s: %v\n%s", strings.TrimSpace(command), err, &stderr)
	}
	return string(out)
}

// TestThePictureInTheReadmeIsReal runs the demo, and looks for every word of the picture in its output, in order, with numbers masked: where
// lines are broken depends on the numbers' lengths.
func TestThePictureInTheReadmeIsReal(t *testing.T) {
	t.Parallel()
	svg, err := os.ReadFile("../../docs/demo.svg")
	if err != nil {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(string(svg), `<g class="m"`)
	picture := maskedWords(html.UnescapeString(markup.ReplaceAllString(lines, " ")))
	if len(picture) < 300 {
		t.Fatalf("docs/demo.svg has %d words, want 300 or more", len(picture))
	}
	left := maskedWords(runInShell(t, readmeHome(t), "alcove demo"))
	for i, word := range picture {
		at := slices.Index(left, word)
		if at < 0 {
			t.Fatalf("the demo no longer prints %q (make picture records it again)", picture[max(0, i-8):i+1])
		}
		left = left[at+1:]
	}
}

var (
	numbers = regexp.MustCompile(`\d[\d.:]*`)
	markup  = regexp.MustCompile(`<[^>]*>|^[^>]*>`)
)

func maskedWords(text string) []string { return strings.Fields(numbers.ReplaceAllString(text, "N")) }
