package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A file that is renamed without a sync can be empty after a power failure. Package durable does both; the store and
// backups work on whole databases, and their tests fail the power too. Copies of blobs in a database are synced before they are renamed. The sandbox renames entries of the compile cache, which are
// authenticated: one that a power failure emptied is compiled again. What tests download is downloaded again.
func TestOnlyPackagesThatSyncRenameFiles(t *testing.T) {
	allowed := []string{"host/durable", "host/store/bolt", "host/store/bolt/salvage", "host/store/postgres", "host/store/backup", "host/sandbox", "host/testing/nodejs"}
	files := 0
	err := filepath.WalkDir("../../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../../../")
		if slices.Contains(allowed, dir) {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Rename" {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "os" {
					t.Errorf("%v renames a file: use durable.WriteFile or durable.Write", set.Position(s.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files were read: %v", files, err)
	}
}
