package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// TestFailuresSayWhatWasGotAndWanted fails for each message of a failed test that has no word, such as "%v": it
// cannot be understood without the source.
func TestFailuresSayWhatWasGotAndWanted(t *testing.T) {
	const root = "../../.."
	read := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "node_modules", "target"}, d.Name())):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` }) {
			return nil
		}
		read++
		for _, pos := range wordless(file) {
			t.Errorf("%s: a failure that says nothing: say what was called, what was got and what was wanted", files.Position(pos))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 400 {
		t.Errorf("read %d files with tests, want all of the module, 400 or more", read)
	}
}

func TestFailuresWithoutAWordAreFound(t *testing.T) {
	for statement, want := range map[string]bool{
		`t.Errorf("%v", got)`:                          true,
		`t.Fatalf("%s: %+v, %v", name, got, err)`:      true,
		`t.Errorf("%v" + "\n%s", err, out)`:            true,
		`t.Errorf("%-10.3[1]f (%%)", got)`:             true,
		`w.t.Errorf("%q", got)`:                        true,
		`b.Fatal(got)`:                                 true,
		`t.Error(got, err)`:                            true,
		`t.Error(fmt.Sprint(got, err))`:                true,
		`t.Fatal(strings.Join(list, ", "))`:            true,
		`t.Run("", func(t *testing.T) { t.Error(1) })`: true,

		`t.Errorf("Search(%q) = %v, want %v", q, got, want)`: false,
		`t.Fatalf("decode %s: %v", name, err)`:               false,
		`t.Errorf("%s of %v", name, err)`:                    false,
		`t.Errorf("%d ist zu groß; 大きすぎる", n)`:               false,
		`t.Errorf(format, got)`:                              false,
		`t.Fatal(err)`:                                       false,
		`t.Error(answer.Err)`:                                false,
		`t.Error("the file is gone")`:                        false,
		`t.Error("found ", got)`:                             false,
		`t.Fatal(fmt.Errorf("load: %w", err))`:               false,
		`fmt.Errorf("%w", err)`:                              false,
		`http.Error(w, text, 500)`:                           false,
		`err.Error()`:                                        false,
	} {
		source := "package p\nimport (\n\"fmt\"\n\"net/http\"\n)\nfunc f() {\n" + statement + "\n}"
		file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(wordless(file)) > 0; got != want {
			t.Errorf("%s is found: %t, want %t", statement, got, want)
		}
	}
}

// wordless gives the places of calls of Errorf, Fatalf, Error and Fatal whose message has no word.
func wordless(file *ast.File) (found []token.Pos) {
	packages := map[string]bool{}
	for _, i := range file.Imports {
		name, _ := strconv.Unquote(i.Path.Value)
		packages[path.Base(name)] = true
		if i.Name != nil {
			packages[i.Name.Name] = true
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, ok := method.X.(*ast.Ident); ok && packages[of.Name] {
			return true
		}
		switch method.Sel.Name {
		case "Errorf", "Fatalf":
			if text, known := textOf(call.Args[0]); known && !hasWord(text) {
				found = append(found, call.Pos())
			}
		case "Error", "Fatal":
			alone := len(call.Args) == 1 && namedError(call.Args[0])
			if !alone && !slices.ContainsFunc(call.Args, saysWord) {
				found = append(found, call.Pos())
			}
		}
		return true
	})
	return found
}

// textOf gives the text of literals that are joined by +, and whether the expression has one.
func textOf(e ast.Expr) (text string, known bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, one := textOf(e.X)
		right, other := textOf(e.Y)
		return left + right, one || other
	}
	return "", false
}

// saysWord tells of an argument whether it is a text with a word, or a call of package fmt that makes one.
func saysWord(e ast.Expr) bool {
	if call, ok := e.(*ast.CallExpr); ok {
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		of, ok := f.X.(*ast.Ident)
		return ok && of.Name == "fmt" && slices.ContainsFunc(call.Args, saysWord)
	}
	text, known := textOf(e)
	return known && hasWord(text)
}

// namedError tells whether an expression has the name of an error, which says what was attempted.
func namedError(e ast.Expr) bool {
	name := ""
	switch e := e.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	}
	return strings.Contains(strings.ToLower(name), "err")
}

var verbs = regexp.MustCompile(`%[-+# 0]*(\[\d+\])?(\d+|\*)?(\.(\d+|\*))?(\[\d+\])?[a-zA-Z%]`)

// hasWord tells whether a format has a letter outside of its verbs.
func hasWord(format string) bool {
	return strings.ContainsFunc(verbs.ReplaceAllString(format, ""), unicode.IsLetter)
}
