package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/alcove-memory/alcove/host"
)

// TestTheGuideToALockedServerWorks runs the commands of docs/locked-down.md, in order, in an empty home, with nothing else than the guide
// has, and while another program has the usual port. Each line of output in the guide must be in the command's output, and a command
// fails if and only if the guide shows its error.
func TestTheGuideToALockedServerWorks(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/locked-down.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "guide.txtar"), []byte(scriptOf(t, string(guide))), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := net.Listen("tcp", host.DefaultHTTP); err == nil { // else it is taken already
		t.Cleanup(func() { l.Close() }) // after the script, which runs in parallel
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfor": func(ts *testscript.TestScript, neg bool, args []string) { waitFor(t, ts, neg, args) },
			"shows":   showsLine,
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("ALCOVE_DATA", filepath.Join(e.WorkDir, "data"))
			e.Defer(func() { stopOwners(t, e.WorkDir) })
			return shareCache(e)
		},
	})
}

// showsLine is a command of the guide's script: the last command printed a line, in which … stands for anything.
func showsLine(ts *testscript.TestScript, neg bool, args []string) {
	pattern := strings.NewReplacer("… ", ".*", "…", ".*").Replace(regexp.QuoteMeta(args[0]))
	printed := ts.ReadFile("stdout") + ts.ReadFile("stderr")
	if neg || !regexp.MustCompile(`(?m)^`+pattern).MatchString(printed) {
		ts.Fatalf("it does not print %q, but\n%s", args[0], printed)
	}
}

// scriptOf turns the guide's blocks into a script, and its manifests into files.
func scriptOf(t *testing.T, guide string) string {
	t.Helper()
	var script strings.Builder
	blocks := regexp.MustCompile("(?s)```(?:console|sh)\n(.*?)```").FindAllStringSubmatch(guide, -1)
	manifests := regexp.MustCompile("(?s)`([a-z]+\\.json)`:\n\n```json\n(.*?)```").FindAllStringSubmatch(guide, -1)
	if len(blocks) < 8 || len(manifests) != 2 {
		t.Fatalf("the guide has %d blocks of commands, and %d manifests", len(blocks), len(manifests))
	}
	servers, files := 0, ""
	for i, b := range blocks {
		if strings.HasPrefix(b[0], "```sh\n") {
			fmt.Fprintf(&script, "exec sh block%d.sh\n", i)
			files += fmt.Sprintf("-- block%d.sh --\n%s", i, b[1])
		}
		for _, run := range strings.Split("\n"+b[1], "\n$ ")[1:] {
			command, output, _ := strings.Cut(strings.TrimRight(run, "\n"), "\n")
			switch {
			case command == "alcove stop":
				fmt.Fprintf(&script, "exec alcove stop\nwait server%d\n", servers)
			case strings.HasSuffix(command, " &"):
				servers++
				fmt.Fprintf(&script, "exec %s &server%d&\nwaitfor data/owner.json\n", strings.TrimSuffix(command, " &"), servers)
			default:
				script.WriteString(quotedRun(command, output))
			}
		}
	}
	for _, m := range manifests {
		fmt.Fprintf(&script, "-- %s --\n%s", m[1], m[2])
	}
	return script.String() + files
}

func quotedRun(command, output string) string {
	var out strings.Builder
	if regexp.MustCompile(`(?m)^alcove: `).MatchString(output) {
		out.WriteString("! ")
	}
	fmt.Fprintf(&out, "exec %s\n", regexp.MustCompile(`"([a-z0-9]+(?: [a-z0-9]+)+)"`).ReplaceAllString(command, "'$1'"))
	for line := range strings.Lines(output) {
		fmt.Fprintf(&out, "shows '%s'\n", strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "'", "''"))
	}
	return out.String()
}
