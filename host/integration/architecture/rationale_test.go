package architecture_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

const (
	// longestAnswer is the most lines of an answer, tables and blank lines between paragraphs included.
	longestAnswer = 15
	// widestLine is the most columns of a line of docs/RATIONALE.md.
	widestLine = 140
	// dependencies is the one answer of any length: a row for each dependency.
	dependencies = "Which dependencies are there, and why?"
)

// answers returns the answers of docs/RATIONALE.md by their questions.
func answers(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/RATIONALE.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split("\n"+string(page), "\n## ")
	found := map[string]string{}
	for _, part := range parts[1:] {
		question, answer, _ := strings.Cut(part, "\n")
		if _, twice := found[question]; twice {
			t.Errorf("docs/RATIONALE.md answers %q twice, want one answer", question)
		}
		found[question] = strings.TrimSpace(answer)
	}
	if len(found) < 100 {
		t.Fatalf("docs/RATIONALE.md has %d answers, want at least 100", len(found))
	}
	return found
}

func TestAnswersOfTheRationaleAreShort(t *testing.T) {
	for question, answer := range answers(t) {
		if question == dependencies {
			continue
		}
		if n := strings.Count(answer, "\n") + 1; n > longestAnswer {
			t.Errorf("docs/RATIONALE.md: the answer to %q has %d lines, want at most %d", question, n, longestAnswer)
		}
		for line := range strings.Lines(answer) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > widestLine {
				t.Errorf("docs/RATIONALE.md: a line of the answer to %q has %d columns, want at most %d: %s", question, n, widestLine, line)
			}
		}
	}
}

func TestLinksToAnswersOfTheRationaleExist(t *testing.T) {
	anchors := map[string]bool{}
	for question := range answers(t) {
		anchors[anchor(question)] = true
	}
	elsewhere, within, links := regexp.MustCompile(`RATIONALE\.md#([^\s)"'>]+)`), regexp.MustCompile(`\]\(#([^\s)]+)\)`), 0
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".md"):
			return nil
		}
		page, err := os.ReadFile(path)
		found := elsewhere.FindAllSubmatch(page, -1)
		if d.Name() == "RATIONALE.md" {
			found = append(found, within.FindAllSubmatch(page, -1)...)
		}
		for _, link := range found {
			links++
			if !anchors[string(link[1])] {
				t.Errorf("%s links to RATIONALE.md#%s, want the anchor of an answer", path, link[1])
			}
		}
		return err
	})
	if err != nil || links < 3 {
		t.Fatalf("%d links to answers were found, want at least 3: %v", links, err)
	}
}

// anchor returns the anchor of a heading, as GitHub makes it.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return r
		}
		return -1
	}, strings.ToLower(heading))
}

func TestEachDependencyHasAReason(t *testing.T) {
	table := answers(t)[dependencies]
	module, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	direct := regexp.MustCompile(`(?m)^(?:require )?\s*([\w.\-]+\.[a-z]+/\S+) v\S+$`).FindAllSubmatch(module, -1)
	if len(direct) < 10 {
		t.Fatalf("go.mod has %d direct dependencies, want at least 10", len(direct))
	}
	for _, d := range direct {
		path := string(d[1])
		if short := "`" + path[strings.LastIndex(path, "/")+1:] + "`"; !strings.Contains(table, "`"+path+"`") && !strings.Contains(table, short) {
			t.Errorf("docs/RATIONALE.md has no row for %s, which go.mod requires: want one that says why", path)
		}
	}
}
