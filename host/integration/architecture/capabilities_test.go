package architecture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheTableOfCapabilitiesNamesWhatExists checks that docs/capabilities.md has each row once, and that all tests and files in it exist.
func TestTheTableOfCapabilitiesNamesWhatExists(t *testing.T) {
	page, err := os.ReadFile("../../../docs/capabilities.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, rows []string
	for _, group := range []struct {
		letter string
		rows   int
	}{{"S", 13}, {"E", 25}, {"A", 10}, {"O", 9}, {"K", 11}, {"D", 5}} {
		for i := range group.rows {
			want = append(want, fmt.Sprint(group.letter, i+1))
		}
	}
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-Z]\d+) \| (.+?) \| (.+) \|$`).FindAllStringSubmatch(string(page), -1) {
		rows = append(rows, row[1])
		if words := len(strings.Fields(row[2])); words > 8 {
			t.Errorf("%s is described in %d words", row[1], words)
		}
		references := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[3], -1)
		if len(references) == 0 {
			t.Errorf("nothing shows %s", row[1])
		}
		for _, r := range references {
			if why := lacks(t, r[1]); why != "" {
				t.Errorf("%s is shown by %s, which %s", row[1], r[1], why)
			}
		}
	}
	if !slices.Equal(rows, want) {
		t.Errorf("the rows are %s", rows)
	}
}

// lacks says what a reference lacks: package.TestName or a file; "" for nothing.
func lacks(t *testing.T, reference string) string {
	t.Helper()
	pkg, name, test := strings.Cut(reference, ".")
	if !test || !regexp.MustCompile(`^(Test|Benchmark|Fuzz)`).MatchString(name) {
		if _, err := os.Stat(filepath.Join("../../..", filepath.FromSlash(reference))); err != nil {
			return "is no file"
		}
		return ""
	}
	files, err := filepath.Glob(filepath.Join("../../..", filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return ""
		}
	}
	return "is no test"
}
