package architecture_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheFuzzTestsOnTheMapExist makes sure that docs/FAULTS.md promises nothing.
func TestTheFuzzTestsOnTheMapExist(t *testing.T) {
	page, err := os.ReadFile("../../../docs/FAULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	err = filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "node_modules":
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		for _, found := range regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`).FindAllStringSubmatch(string(source), -1) {
			there[found[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\bFuzz[A-Z][A-Za-z]+`).FindAllString(string(page), -1)
	for _, name := range named {
		if !there[name] {
			t.Errorf("docs/FAULTS.md names %s, which there is not", name)
		}
	}
	if len(named) < 30 {
		t.Errorf("only %d are named", len(named))
	}
}
