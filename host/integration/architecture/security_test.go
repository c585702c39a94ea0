package architecture_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestEachPromiseOfTheSecurityPageNamesATestThatExists(t *testing.T) {
	page, err := os.ReadFile("../../../docs/SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	declared, name := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	err = filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range name.FindAllSubmatch(source, -1) {
			declared[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, promises, _ := strings.Cut(string(page), "\n## Promises\n")
	promises, _, _ = strings.Cut(promises, "\n## ")
	rows, test := 0, regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	for line := range strings.Lines(promises) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| to |") {
			continue
		}
		rows++
		named := test.FindAllStringSubmatch(line, -1)
		if len(named) == 0 {
			t.Errorf("no test holds: %s", line)
		}
		for _, n := range named {
			if !declared[n[1]] {
				t.Errorf("%s does not exist: %s", n[1], line)
			}
		}
	}
	if rows < 15 {
		t.Errorf("%d promises were found", rows)
	}
}
