package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostUpward is by package the greatest share of the arrows between its files that may run upward. Lower it, never raise it.
func mostUpward() map[string]float64 {
	return map[string]float64{
		"host/memory": 0.03, "host/family": 0.09, "host/family/catalogue": 0.1, "host/tool": 0.18, "host/tool/core": 0.17,
		"host/search": 0.14, "host/sandbox": 0.19, "host/front/mcp": 0.18,
	}
}

// TestFilesOfAPackageStandInLayers draws an arrow from each file to those whose declarations it uses, puts the files in an order in which
// few arrows run upward, and counts those that do: a package in which many do cannot be read from the top down. -v prints them.
func TestFilesOfAPackageStandInLayers(t *testing.T) {
	for dir, most := range mostUpward() {
		t.Run(dir, func(t *testing.T) {
			arrows := fileArrows(t, filepath.Join("../../..", dir))
			up, all := upward(arrows), 0
			for _, to := range arrows {
				all += len(to)
			}
			if all == 0 {
				t.Fatalf("%s has no arrows between files, want some", dir)
			}
			t.Logf("%d of %d arrows run upward: %s", len(up), all, strings.Join(up, ", "))
			if float64(len(up)) > most*float64(all) {
				t.Errorf("%d of %d arrows between files of %s run upward, want at most %.0f%%: move what they use below, or into a package of its own", len(up), all, dir, 100*most)
			}
		})
	}
}

// fileArrows returns by file of a package those whose declarations it uses. Imports are not read, so what is known by the type of an imported
// expression alone is missed.
func fileArrows(t *testing.T, dir string) map[string]map[string]bool {
	t.Helper()
	set := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: noImports{}, Error: func(error) {}, FakeImportC: true}
	pkg, _ := config.Check(dir, set, files, &info)
	arrows := map[string]map[string]bool{}
	for _, file := range files {
		arrows[nameOf(set, file.Pos())] = map[string]bool{}
	}
	for ident, used := range info.Uses {
		if used.Pkg() != pkg || !used.Pos().IsValid() {
			continue
		}
		if from, to := nameOf(set, ident.Pos()), nameOf(set, used.Pos()); from != to {
			arrows[from][to] = true
		}
	}
	return arrows
}

func nameOf(set *token.FileSet, p token.Pos) string { return filepath.Base(set.Position(p).Filename) }

// noImports gives each import an empty package.
type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, path[strings.LastIndexByte(path, '/')+1:])
	p.MarkComplete()
	return p, nil
}

// upward returns the arrows that run upward in an order of the files with few of them: each file is moved to where it causes fewest, until
// no move helps.
func upward(arrows map[string]map[string]bool) (up []string) {
	order := slices.Sorted(maps.Keys(arrows))
	for improved := true; improved; {
		improved = false
		for _, file := range slices.Clone(order) {
			at := slices.Index(order, file)
			if to := bestPlace(arrows, order, at); to != at {
				order = slices.Insert(slices.Delete(order, at, at+1), to, file)
				improved = true
			}
		}
	}
	for i, from := range order {
		for _, to := range order[:i] {
			if arrows[from][to] {
				up = append(up, strings.TrimSuffix(from, ".go")+"→"+strings.TrimSuffix(to, ".go"))
			}
		}
	}
	return up
}

// bestPlace returns the index at which the file at an index of the order causes the fewest arrows upward; its own, if none is better.
func bestPlace(arrows map[string]map[string]bool, order []string, at int) int {
	file, best, least := order[at], at, 0
	for _, step := range []int{-1, 1} {
		change := 0
		for i := at + step; i >= 0 && i < len(order); i += step {
			if arrows[file][order[i]] { // it was below for step 1, and is above once passed
				change += step
			}
			if arrows[order[i]][file] {
				change -= step
			}
			if change < least {
				best, least = i, change
			}
		}
	}
	return best
}
