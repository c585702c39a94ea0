package front_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/guests/lib/front"
)

func TestFrontMatterIsReadAsEditorsWriteIt(t *testing.T) {
	text := "\ufeff---\r\nid: \"default#m-1\"\r\n# a comment\r\ntitle: It's: plain # and a comment\r\nquoted: 'it''s'\r\ntags: [a, \"b, c\", 'd']\r\nnone: []\r\nempty:\r\nentities:\r\n  - \"[[Ann Lee]]\"\r\n  - [[Bob]]\r\n  - plain\r\none: [[Eve]]\r\n" +
		"nested: {a: 1}\r\nfolded: >\r\n  text\r\ndeep:\r\n  a: 1\r\nbad: [a, [b]]\r\n---\r\nBody\r\n---\r\n"
	n := front.Parse(text)
	want := []front.Field{
		{Name: "id", Values: []string{"default#m-1"}}, {Name: "title", Values: []string{"It's: plain"}}, {Name: "quoted", Values: []string{"it's"}},
		{Name: "tags", Values: []string{"a", "b, c", "d"}, List: true}, {Name: "none", List: true}, {Name: "empty"},
		{Name: "entities", Values: []string{"[[Ann Lee]]", "[[Bob]]", "plain"}, List: true}, {Name: "one", Values: []string{"[[Eve]]"}},
		{Name: "nested", Bad: true}, {Name: "folded", Bad: true}, {Name: "deep", Bad: true}, {Name: "bad", List: true, Bad: true},
	}
	if !reflect.DeepEqual(n.Fields, want) {
		t.Errorf("read %+v", n.Fields)
	}
	if n.Body != "Body\n---\n" || n.Text("title") != "It's: plain" || n.Text("tags") != "" || len(n.List("tags")) != 3 || n.Text("nothing") != "" {
		t.Errorf("the body is %q", n.Body)
	}
}

func TestAFileWithoutFrontMatterIsABody(t *testing.T) {
	for _, text := range []string{"", "---", "text", "--- \nid: 1\n", "----\n---\n", "\n---\n---\n"} {
		if n := front.Parse(text); len(n.Fields) > 0 || n.Body != text {
			t.Errorf("Parse(%q) = %+v, want no fields and all of it as the body", text, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"---\na: b\n---\nc", "---\na:\n- b\n- 'c'\n---\n", "---\r\na: [\"b\", c, [[d]]]\r\n---\r\n", "---\na: {\n - x\nb: \"\\u00e9\"\n...\n", "---\n- x\n: y\n---\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := front.Parse(text)
		if bare := strings.TrimPrefix(text, "\ufeff"); !strings.HasPrefix(bare, "---") && n.Body != bare && n.Body != strings.ReplaceAll(bare, "\r\n", "\n") {
			t.Fatalf("a body of %q is %q", text, n.Body)
		}
		again := front.Parse(front.Write(n))
		for i, name := 0, ""; i < len(n.Fields); i++ {
			was := n.Fields[i]
			if was.Bad || !was.List && len(was.Values) != 1 {
				continue
			}
			name = was.Name
			if now := again.Find(name); now == nil || n.Find(name).Name == name && &n.Fields[i] == n.Find(name) && !same(now.Values, was.Values) {
				t.Fatalf("%s of %q is %+v, was %+v", name, text, now, was)
			}
		}
		if again.Body != n.Body {
			t.Fatalf("the body of %q is %q, was %q", text, again.Body, n.Body)
		}
	})
}

// same compares lists of texts, in which what is no UTF-8 is replaced when it is written.
func same(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != strings.ToValidUTF8(b[i], "\ufffd") && a[i] != string([]rune(b[i])) {
			return false
		}
	}
	return true
}

func FuzzWrite(f *testing.F) {
	f.Add("tags", "a", "b", "body")
	f.Add("id", "---", "\"\\\n", "---\n")
	f.Fuzz(func(t *testing.T, name, a, b, body string) {
		if !front.IsName(name) {
			return
		}
		n := front.Note{Fields: []front.Field{{Name: name, Values: []string{a, b}, List: true}, {Name: name + "1", Values: []string{a}}}, Body: body}
		got := front.Parse(front.Write(n))
		if len(got.Fields) != 2 || !same(got.Fields[0].Values, n.Fields[0].Values) || !same(got.Fields[1].Values, n.Fields[1].Values) || got.Body != body {
			t.Fatalf("%q is read as %+v", front.Write(n), got)
		}
	})
}
