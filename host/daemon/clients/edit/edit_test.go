package edit_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/alcove-memory/alcove/host/daemon/clients/edit"
)

func formatOf(name string) edit.Format {
	if strings.HasSuffix(name, ".toml") {
		return edit.TOML
	}
	return edit.JSON
}

// TestOneEntryChangesAndAllElseStays reads testdata: the files before and after, and after the removal of the entry. The comment of an
// archive is a line with the path, a line with the value.
func TestOneEntryChangesAndAllElseStays(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("got no test data (%v), want some", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			path, value, _ := strings.Cut(strings.TrimSpace(string(archive.Comment)), "\n")
			before, set, removed := string(archive.Files[0].Data), string(archive.Files[1].Data), string(archive.Files[2].Data)
			f, keys := formatOf(archive.Files[0].Name), strings.Fields(path)
			checkEntry(t, f, keys, value, before, set, removed)
			crlf := strings.NewReplacer("\n", "\r\n")
			checkEntry(t, f, keys, value, crlf.Replace(before), crlf.Replace(set), crlf.Replace(removed))
			mark := "\ufeff"
			checkEntry(t, f, keys, value, mark+before, mark+set, mark+removed)
		})
	}
}

func checkEntry(t *testing.T, f edit.Format, path []string, value, before, wantSet, wantRemoved string) {
	t.Helper()
	set, made, err := f.Set([]byte(before), path, json.RawMessage(value))
	if err != nil || string(set) != wantSet {
		t.Errorf("Set: got %q, %v, want %q", set, err, wantSet)
		return
	}
	if i := len(path) - 1; path[i] == edit.Append {
		path = append(slices.Clone(path[:i]), "0")
	}
	again, _, err := f.Set(set, path, json.RawMessage(value))
	if err != nil || string(again) != wantSet {
		t.Errorf("Set twice: got %q, %v, want no change", again, err)
	}
	removed, err := f.Remove(set, path, made)
	if err != nil || string(removed) != wantRemoved {
		t.Errorf("Remove: got %q, %v, want %q", removed, err, wantRemoved)
	}
}

func TestABrokenTextIsRefusedWithItsLine(t *testing.T) {
	for _, test := range []struct {
		name string
		f    edit.Format
		text string
		line int
	}{
		{"a missing comma", edit.JSON, "{\n  \"a\": 1\n  \"b\": 2\n}", 3},
		{"an open object", edit.JSON, "{\n\"a\": {\n", 3},
		{"a bare word", edit.JSON, "hello", 1},
		{"a missing value", edit.TOML, "a = 1\nb =\n", 2},
		{"a table twice", edit.TOML, "[a]\n[a]\n", 2},
		{"too deep", edit.JSON, "\n" + strings.Repeat("[", 2000) + strings.Repeat("]", 2000), 2},
		{"deep beside a string and a comment", edit.JSON, "[\"]]]\", /* ]]] */ // ]]]\n" + strings.Repeat("[", 1_000_000), 2},
		{"an open object without a last line ending", edit.JSON, "{\n\"a\": {", 2},
	} {
		_, _, err := test.f.Set([]byte(test.text), []string{"x", "y"}, json.RawMessage(`{}`))
		var syntax *edit.SyntaxError
		if !errors.As(err, &syntax) || syntax.Line != test.line {
			t.Errorf("%s: got %v, want an error in line %d", test.name, err, test.line)
		}
	}
}

func TestATextThatIsTooLongIsRefused(t *testing.T) {
	for _, f := range []edit.Format{edit.JSON, edit.TOML} {
		long := []byte(strings.Repeat(" ", edit.Most+1))
		if _, _, err := f.Set(long, []string{"x"}, json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), strconv.Itoa(edit.Most)) {
			t.Errorf("got %v, want an error that names the limit of %d bytes", err, edit.Most)
		}
	}
}

func TestAnEntryOfAnotherFormIsRefused(t *testing.T) {
	for _, test := range []struct {
		f    edit.Format
		text string
	}{
		{edit.JSON, `{"s": 1}`},
		{edit.JSON, `{"s": []}`},
		{edit.JSON, `[]`},
		{edit.JSON, `{"s": {}, "s": {}}`},
		{edit.JSON, `{"s": {"alcove": 1, "alcove": 2}}`},
		{edit.TOML, "s = { x = { command = \"x\" } }\n"},
		{edit.TOML, "s.alcove.command = \"x\"\n"},
		{edit.TOML, "[s]\nalcove = { command = \"x\" }\n"},
		{edit.TOML, "[[s.alcove]]\n[[s.alcove]]\n"},
		{edit.TOML, "s = 1\n"},
	} {
		changed, _, err := test.f.Set([]byte(test.text), []string{"s", "alcove"}, json.RawMessage(`{"command":"y"}`))
		if !errors.Is(err, edit.ErrForm) {
			t.Errorf("%q: got %q, %v, want ErrForm", test.text, changed, err)
		}
	}
}

func TestAValueIsReadFromEitherFormat(t *testing.T) {
	for _, test := range []struct {
		f    edit.Format
		text string
		want string
	}{
		{edit.JSON, "// mine\n{\"s\": {\"alcove\": {\"args\": [\"mcp\",],},},} // end", `{"args":["mcp"]}`},
		{edit.TOML, "[s.alcove] # mine\nargs = ['mcp']\n", `{"args":["mcp"]}`},
		{edit.JSON, "", ""},
		{edit.TOML, "[s]\n", ""},
	} {
		got, err := test.f.Value([]byte(test.text), []string{"s", "alcove"})
		if err != nil || string(got) != test.want {
			t.Errorf("%q: got %s, %v, want %s", test.text, got, err, test.want)
		}
	}
}

// fuzzEntry sets and removes an entry: the result parses, all else stays (which Set and Remove check themselves), and the bytes come
// back unless the entry, or an empty object around it, was there.
func fuzzEntry(f *testing.F, format edit.Format, seeds ...string) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range txtar.Parse(data).Files {
			if formatOf(part.Name) == format {
				seeds = append(seeds, string(part.Data))
			}
		}
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	path, value := []string{"mcpServers", "alcove"}, json.RawMessage(`{"command":"/bin/alcove","args":["mcp"],"env":{"K":"\"v\" \u007f"}}`)
	f.Fuzz(func(t *testing.T, text []byte) {
		before, err := format.Value(text, path)
		set, made, errSet := format.Set(text, path, value)
		if err != nil || errSet != nil {
			return // it is refused
		}
		after, err := format.Value(set, path)
		if err != nil || after == nil {
			t.Fatalf("%q: got %s, %v, want the entry in %q", text, after, err, set)
		}
		again, _, err := format.Set(set, path, value)
		if err != nil || string(again) != string(set) {
			t.Fatalf("%q: got %q, %v, want no change", set, again, err)
		}
		removed, err := format.Remove(set, path, made)
		if err != nil {
			if errors.Is(err, edit.ErrForm) {
				return
			}
			t.Fatalf("%q: got %v, want the entry removed", set, err)
		}
		around, err := format.Value(text, path[:1])
		root, errRoot := format.Value(text, nil)
		if err != nil || errRoot != nil {
			t.Fatalf("%q: got %v and %v, want it read again", text, err, errRoot)
		}
		if before == nil && string(around) != "{}" && string(root) != "{}" && string(removed) != string(text) {
			t.Fatalf("%q: got %q, want the bytes that were", text, removed)
		}
	})
}

func FuzzJSON(f *testing.F) {
	fuzzEntry(f, edit.JSON, "", "{}", "{ }\n", `{"a":1}`,
		`{"a":1,}`, "{\n\t\"a\": [1, 2],\n}\n", "{\"mcpServers\": { // c\n}}", `{"mcpServers":{"b":{}/*x*/,/*y*/}}`)
}

func FuzzTOML(f *testing.F) {
	fuzzEntry(f, edit.TOML, "", "a = 1", "a = 1  \n\n", "[mcpServers.alcove]\n",
		"[mcpServers.b]\nx=1\n[mcpServers.alcove.env]\nA='x'\n# c\n[z]", "x = \"\"\"\n[mcpServers.alcove]\n\"\"\"")
}
