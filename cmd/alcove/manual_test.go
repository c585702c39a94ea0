package main

import (
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alcove-memory/alcove/cmd/alcove/manual"
)

func TestTheManualHasEveryCommandAndFlagThatTheProgramAccepts(t *testing.T) {
	files, err := manualFiles()
	if err != nil {
		t.Fatal(err)
	}
	root := newApp(nil, io.Discard, io.Discard, func(string) string { return "" }).command()
	want := []string{"completions/_alcove", "completions/alcove.bash", "completions/alcove.fish", "completions/alcove.ps1"}
	for _, c := range manual.Commands(root) {
		name := "man/man1/" + strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		want = append(want, name)
		checkPage(t, c, string(files[name]))
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		t.Errorf("the manual has the files\n%q, want\n%q", got, want)
	}
}

// checkPage compares a page with a command: its flags and the commands below it, and none that it does not have.
func checkPage(t *testing.T, c *cobra.Command, page string) {
	t.Helper()
	plain := strings.ReplaceAll(page, `\-`, "-")
	has := func(what string) {
		if !strings.Contains(plain, what) {
			t.Errorf("the page of %s lacks %q:\n%s", c.CommandPath(), what, page)
		}
	}
	has(c.Short)
	flags := 0
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Deprecated == "" {
			has("--" + f.Name + `\fR`)
			flags++
		}
	})
	below := 0
	for _, b := range c.Commands() {
		if b.IsAvailableCommand() {
			has(`\fB` + strings.ReplaceAll(b.CommandPath(), " ", "-") + `\fR(1)`)
			below++
		}
	}
	if got := strings.Count(page, ".TP\n"); got != flags+below {
		t.Errorf("the page of %s has %d flags and commands, want %d", c.CommandPath(), got, flags+below)
	}
}

func TestTheManualIsTheSameForEveryUser(t *testing.T) {
	t.Setenv("HOME", "/home/somebody")
	t.Setenv("ALCOVE_CACHE", "/somewhere")
	first, err := manualFiles()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", "/home/another")
	t.Setenv("ALCOVE_CACHE", "off")
	second, err := manualFiles()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range first {
		if text := string(data); text != string(second[name]) || strings.Contains(text, "somebody") {
			t.Errorf("%s depends on who writes it:\n%s", name, text)
		}
	}
}
