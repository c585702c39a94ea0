package architecture

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestAFileOfAFamilyHasOneTool(t *testing.T) {
	files, err := filepath.Glob("../../../guests/families/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d files of families, %v", len(files), err)
	}
	tools := 0
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n := bytes.Count(source, []byte("\n//alcove:title "))
		if tools += n; n > 1 {
			t.Errorf("%s has %d tools, want each in a file of its own", name, n)
		}
	}
	if tools < 100 {
		t.Errorf("got %d tools in the files of families, want those of nineteen families", tools)
	}
}
