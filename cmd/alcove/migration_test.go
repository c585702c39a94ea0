package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/guests"
)

// TestTheCommandsOfTheMigrationPagesWork runs the shell commands of the pages for those who come from other systems, a page in an empty home.
func TestTheCommandsOfTheMigrationPagesWork(t *testing.T) {
	t.Parallel()
	if !guests.Embedded() {
		t.Skip("this program has no families: make test runs it with them")
	}
	for _, name := range []string{"MIGRATION.md", "DEPRECATED.md"} {
		t.Run(name, func(t *testing.T) {
			page, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
			if err != nil {
				t.Fatal(err)
			}
			env, dir := readmeHome(t), t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "prompts.md"), []byte("Call `memory_observe`.\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			blocks := strings.Split(string(page), "\n```sh\n")[1:]
			if len(blocks) < 2 {
				t.Fatalf("%s has %d blocks of commands", name, len(blocks))
			}
			for _, block := range blocks {
				commands, _, _ := strings.Cut(block, "\n```")
				runInShell(t, env, "set -e; cd "+dir+"\n"+commands)
			}
		})
	}
}
