package jsonpath

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// bookstore is the example of RFC 9535, section 1.5.
const bookstore = `{"store": {"book": [
	{"category": "reference", "author": "Nigel Rees", "title": "Sayings of the Century", "price": 8.95},
	{"category": "fiction", "author": "Evelyn Waugh", "title": "Sword of Honour", "price": 12.99},
	{"category": "fiction", "author": "Herman Melville", "title": "Moby Dick", "isbn": "0-553-21311-3", "price": 8.99},
	{"category": "fiction", "author": "J. R. R. Tolkien", "title": "The Lord of the Rings", "isbn": "0-395-19395-8", "price": 22.99}
], "bicycle": {"color": "red", "price": 399}}}`

// Documents of sections 2.3 to 2.5.
const (
	names      = `{"o": {"j j": {"k.k": 3}}, "'": {"@": 2}}`
	wildcards  = `{"o": {"j": 1, "k": 2}, "a": [5, 3]}`
	letters    = `["a", "b", "c", "d", "e", "f", "g"]`
	filters    = `{"a": [3, 5, 1, 2, 4, 6, {"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}], "o": {"p": 1, "q": 2, "r": 3, "s": 5, "t": {"u": 6}}, "e": "f"}`
	descending = `{"o": {"j": 1, "k": 2}, "a": [5, 3, [{"j": 4}, {"k": 6}]]}`
	nulls      = `{"a": null, "b": [null], "c": [{}], "null": 1}`
)

func TestTheExamplesOfTheRFC(t *testing.T) {
	for _, x := range []struct {
		document, path string
		found          []string
	}{
		{bookstore, `$.store.book[*].author`, []string{`"Nigel Rees"`, `"Evelyn Waugh"`, `"Herman Melville"`, `"J. R. R. Tolkien"`}},
		{bookstore, `$..author`, []string{`"Nigel Rees"`, `"Evelyn Waugh"`, `"Herman Melville"`, `"J. R. R. Tolkien"`}},
		{bookstore, `$.store..price`, []string{`8.95`, `12.99`, `8.99`, `22.99`, `399`}},
		{bookstore, `$..book[2].author`, []string{`"Herman Melville"`}},
		{bookstore, `$..book[2].publisher`, nil},
		{bookstore, `$..book[-1].title`, []string{`"The Lord of the Rings"`}},
		{bookstore, `$..book[0,1].price`, []string{`8.95`, `12.99`}},
		{bookstore, `$..book[:2].price`, []string{`8.95`, `12.99`}},
		{bookstore, `$..book[?@.isbn].price`, []string{`8.99`, `22.99`}},
		{bookstore, `$..book[?@.price<10].title`, []string{`"Sayings of the Century"`, `"Moby Dick"`}},
		{names, `$.o['j j']`, []string{`{"k.k":3}`}},
		{names, `$.o['j j']['k.k']`, []string{`3`}},
		{names, `$.o["j j"]["k.k"]`, []string{`3`}},
		{names, `$["'"]["@"]`, []string{`2`}},
		{wildcards, `$[*]`, []string{`{"j":1,"k":2}`, `[5,3]`}},
		{wildcards, `$.o[*]`, []string{`1`, `2`}},
		{wildcards, `$.o[*, *]`, []string{`1`, `2`, `1`, `2`}},
		{wildcards, `$.a[*]`, []string{`5`, `3`}},
		{letters, `$[1]`, []string{`"b"`}},
		{letters, `$[-2]`, []string{`"f"`}},
		{letters, `$[1:3]`, []string{`"b"`, `"c"`}},
		{letters, `$[5:]`, []string{`"f"`, `"g"`}},
		{letters, `$[1:5:2]`, []string{`"b"`, `"d"`}},
		{letters, `$[5:1:-2]`, []string{`"f"`, `"d"`}},
		{letters, `$[::-1]`, []string{`"g"`, `"f"`, `"e"`, `"d"`, `"c"`, `"b"`, `"a"`}},
		{letters, `$[0, 3]`, []string{`"a"`, `"d"`}},
		{letters, `$[0:2, 5]`, []string{`"a"`, `"b"`, `"f"`}},
		{letters, `$[0, 0]`, []string{`"a"`, `"a"`}},
		{filters, `$.a[?@.b == 'kilo']`, []string{`{"b":"kilo"}`}},
		{filters, `$.a[?(@.b == 'kilo')]`, []string{`{"b":"kilo"}`}},
		{filters, `$.a[?@>3.5]`, []string{`5`, `4`, `6`}},
		{filters, `$.a[?@.b]`, []string{`{"b":"j"}`, `{"b":"k"}`, `{"b":{}}`, `{"b":"kilo"}`}},
		{filters, `$[?@.*]`, []string{`[3,5,1,2,4,6,{"b":"j"},{"b":"k"},{"b":{}},{"b":"kilo"}]`, `{"p":1,"q":2,"r":3,"s":5,"t":{"u":6}}`}},
		{filters, `$[?@[?@.b]]`, []string{`[3,5,1,2,4,6,{"b":"j"},{"b":"k"},{"b":{}},{"b":"kilo"}]`}},
		{filters, `$.o[?@<3, ?@<3]`, []string{`1`, `2`, `1`, `2`}},
		{filters, `$.a[?@<2 || @.b == "k"]`, []string{`1`, `{"b":"k"}`}},
		{filters, `$.a[?match(@.b, "[jk]")]`, []string{`{"b":"j"}`, `{"b":"k"}`}},
		{filters, `$.a[?search(@.b, "[jk]")]`, []string{`{"b":"j"}`, `{"b":"k"}`, `{"b":"kilo"}`}},
		{filters, `$.o[?@>1 && @<4]`, []string{`2`, `3`}},
		{filters, `$.o[?@.u || @.x]`, []string{`{"u":6}`}},
		{filters, `$.a[?@.b == $.x]`, []string{`3`, `5`, `1`, `2`, `4`, `6`}},
		{filters, `$.a[?@ == @]`, []string{`3`, `5`, `1`, `2`, `4`, `6`, `{"b":"j"}`, `{"b":"k"}`, `{"b":{}}`, `{"b":"kilo"}`}},
		{descending, `$..j`, []string{`1`, `4`}},
		{descending, `$..[0]`, []string{`5`, `{"j":4}`}},
		{descending, `$..o`, []string{`{"j":1,"k":2}`}},
		{descending, `$.o..[*, *]`, []string{`1`, `2`, `1`, `2`}},
		{descending, `$.a..[0, 1]`, []string{`5`, `3`, `{"j":4}`, `{"k":6}`}},
		{nulls, `$.a`, []string{`null`}},
		{nulls, `$.a[0]`, nil},
		{nulls, `$.a.d`, nil},
		{nulls, `$.b[0]`, []string{`null`}},
		{nulls, `$.b[?@==null]`, []string{`null`}},
		{nulls, `$.c[?@.d==null]`, nil},
		{nulls, `$.null`, []string{`1`}},
		{bookstore, `$[?length(@.book) == 4 && count(@.*) == 2 && value(@..color) == 'red'].bicycle.price`, []string{`399`}},
	} {
		found, err := find(x.path, x.document)
		if err != nil || !slices.Equal(found, x.found) {
			t.Errorf("%s found %s (%v), not %s", x.path, found, err, x.found)
		}
	}
}

func find(path, document string) (list []string, err error) {
	q, err := Parse(path)
	if err != nil {
		return nil, err
	}
	root, err := Read([]byte(document))
	if err != nil {
		return nil, err
	}
	found, err := q.Select(root)
	for _, n := range found {
		list = append(list, string(n.Append(nil)))
	}
	return list, err
}

func TestMalformedPathsAreRefused(t *testing.T) {
	for _, path := range []string{
		``, `a`, ` $`, `$ `, `$.`, `$..`, `$. a`, `$.1`, `$[`, `$[]`, `$[01]`, `$[-0]`, `$[9007199254740992]`, `$["a]`, `$['\x']`, `$["\ud800"]`, `$[1:2:3:4]`,
		`$[?]`, `$[?1]`, `$[?true]`, `$[?@.a==]`, `$[?@.*==1]`, `$[?length(@.a)]`, `$[?length(@.*)==1]`, `$[?count(1)==1]`, `$[?match(@.a)]`, `$[?match(@.a,'b')==true]`,
		`$[?foo(@)]`, `$[?@.a==01]`, `$[?!@.a==1]`, `$[?(@.a]`, `$[?@.a=1]`, "$['\n']", "$.\xff",
	} {
		if _, err := Parse(path); !errors.As(err, new(*SyntaxError)) {
			t.Errorf("Parse(%q): %v, want a SyntaxError", path, err)
		}
	}
}

func TestPatternsAreThoseOfTheRFC(t *testing.T) {
	for _, x := range []struct {
		pattern, text string
		all, part     bool
	}{
		{`a.c`, "abc", true, true}, {`a.c`, "xabcx", false, true}, {`a.c`, "a\nc", false, false}, {`a|bc`, "bc", true, true}, {`(ab)+`, "ababab", true, true},
		{`(ab)+`, "aba", false, true}, {`a{2,3}`, "aaaa", false, true}, {`a{2,3}`, "aaa", true, true}, {`a{2}`, "a", false, false}, {`a{0,}b?`, "", true, true},
		{`[^a-c]`, "d", true, true}, {`[^a-c]`, "b", false, false}, {`[-a]`, "-", true, true}, {`[a-]`, "-", true, true}, {`\p{Lu}\P{Lu}`, "Éa", true, true},
		{`[\p{Nd}x]+`, "1x٣", true, true}, {`\.`, "a", false, false}, {`(`, "(", false, false}, {`[b-a]`, "a", false, false}, {`a**`, "a", false, false}, {`\d`, "1", false, false},
		{`a{1001}`, "a", false, false}, {`\p{Greek}`, "α", false, false}, {`(?:a)`, "a", false, false}, {`a+?`, "a", false, false}, {`[[:alpha:]]`, "a", false, false},
		{`(a|b|)c`, "c", true, true}, {`((a|b)*c|d)*`, "abcd", true, true}, {`日.語`, "日本語", true, true}, {``, "x", false, true},
	} {
		run := &run{left: mostSteps}
		if all, part := run.matches(x.pattern, x.text, true), run.matches(x.pattern, x.text, false); all != x.all || part != x.part {
			t.Errorf("%q in %q: %v and %v, not %v and %v", x.pattern, x.text, all, part, x.all, x.part)
		}
	}
}

func TestAPathSetsAndDeletes(t *testing.T) {
	for _, x := range []struct{ document, path, value, after string }{
		{`{"a":1}`, `$.b.c`, `true`, `{"a":1,"b":{"c":true}}`},
		{`{"a":[1,2]}`, `$.a[1]`, `{"x":[]}`, `{"a":[1,{"x":[]}]}`},
		{`{"a":[1,2]}`, `$.a[2].n`, `3`, `{"a":[1,2,{"n":3}]}`},
		{`{"a":[1,2]}`, `$.a[-1]`, `3`, `{"a":[1,3]}`},
		{`{"a":1.50,"b":2}`, `$['b']`, `null`, `{"a":1.50,"b":null}`},
		{`7`, `$`, `8`, `8`},
		{`{"a":1}`, `$.a.b`, `1`, `the value at $["a"] is no object, so it has no member "b"`},
		{`{"a":1}`, `$.c[0]`, `1`, `there is no list at $["c"] that could have an element 0`},
		{`{"a":[]}`, `$.a[3]`, `1`, `the list at $["a"] has 0 elements, and 3 is neither one of them nor the next`},
		{`{"a":1}`, `$.*`, `1`, errNotSingular.Error()},
		{`{"a":1,"b":[1,2,3]}`, `$.b[0]`, ``, `{"a":1,"b":[2,3]}`},
		{`{"a":1,"b":2}`, `$.a`, ``, `{"b":2}`},
		{`{"a":1}`, `$.b.c`, ``, `nothing`},
		{`{"a":1}`, `$..a`, ``, errNotSingular.Error()},
		{`{"a":1}`, `$`, ``, `$ is the whole document`},
	} {
		if after := edited(t, x.document, x.path, x.value); after != x.after {
			t.Errorf("%s in %s: %s", x.path, x.document, after)
		}
	}
}

func edited(t *testing.T, document, path, value string) string {
	t.Helper()
	q, err := Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	root, err := Read([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	if value == "" {
		deleted, err := q.Delete(root)
		switch {
		case err != nil:
			return err.Error()
		case !deleted:
			return "nothing"
		}
		return string(root.Append(nil))
	}
	v, err := Read([]byte(value))
	if err != nil {
		t.Fatal(err)
	}
	if root, err = q.Set(root, v); err != nil {
		return err.Error()
	}
	return string(root.Append(nil))
}

func TestAQueryThatVisitsTooMuchEnds(t *testing.T) {
	deep := strings.Repeat(`[`, 900) + strings.Repeat(`]`, 900)
	wide := "[" + strings.Repeat(`{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"},`, 3000) + "1]"
	for _, x := range [][2]string{
		{`$` + strings.Repeat(`..*`, 20), deep},
		{`$[?$[?$[?$[?@.a]]]]`, wide},
		{`$[?count($..*) > count($..*)]`, wide},
		{`$[?search(@.a, '(a{0,30}){0,30}b')]`, wide},
		{`$` + strings.Repeat(`[*,*]`, 40), `[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]`},
	} {
		if _, err := find(x[0], x[1]); !errors.Is(err, ErrTooMuch) {
			t.Errorf("find(%.40q): %v, want ErrTooMuch", x[0], err)
		}
	}
	if _, err := Parse(`$[?` + strings.Repeat(`(`, 5000)); err == nil {
		t.Error("a filter of 5,000 parentheses is accepted")
	}
	if _, err := Read([]byte(strings.Repeat(`[`, 100_000))); err == nil {
		t.Error("a document 100,000 deep is read")
	}
}

// The compliance suite of the JSONPath community is run where its file cts.json is at hand.
func TestTheComplianceSuite(t *testing.T) {
	path := os.Getenv("ALCOVE_JSONPATH_SUITE")
	if path == "" {
		t.Skip("ALCOVE_JSONPATH_SUITE names no cts.json of github.com/jsonpath-standard/jsonpath-compliance-test-suite")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Tests []struct {
			Name, Selector string
			Document       json.RawMessage
			Result         []json.RawMessage
			Results        [][]json.RawMessage
			Invalid        bool `json:"invalid_selector"`
		}
	}
	if err := json.Unmarshal(data, &suite); err != nil {
		t.Fatal(err)
	}
	for _, x := range suite.Tests {
		if x.Invalid {
			if _, err := Parse(x.Selector); err == nil {
				t.Errorf("%s: %s is accepted", x.Name, x.Selector)
			}
			continue
		}
		found, err := find(x.Selector, string(x.Document))
		if err != nil {
			t.Errorf("%s: find(%q): %v", x.Name, x.Selector, err)
			continue
		}
		if x.Results == nil {
			x.Results = [][]json.RawMessage{x.Result}
		}
		if !slices.ContainsFunc(x.Results, func(want []json.RawMessage) bool { return same(t, found, want) }) {
			t.Errorf("%s: %s found %s in %s", x.Name, x.Selector, found, x.Document)
		}
	}
	t.Logf("%d tests", len(suite.Tests))
}

// same compares as JSON, in which the order of members does not count.
func same(t *testing.T, found []string, want []json.RawMessage) bool {
	t.Helper()
	return slices.EqualFunc(found, want, func(a string, b json.RawMessage) bool { return canonical(t, []byte(a)) == canonical(t, b) })
}

func canonical(t *testing.T, data []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// FuzzQuery checks that every path and document has an answer or an error, and that what is found is JSON.
func FuzzQuery(f *testing.F) {
	for _, path := range []string{`$..book[?@.price<10 && search(@.title, "(a|b)*c{2,3}")]`, `$[::-1]..*`, `$[?length(@)==count(@..*)]`, `$['\u0041'].b[0]`} {
		f.Add(path, bookstore)
	}
	f.Fuzz(func(t *testing.T, path, document string) {
		q, err := Parse(path)
		if err != nil {
			return
		}
		if !json.Valid([]byte(document)) {
			document = bookstore
		}
		root, err := Read([]byte(document))
		if err != nil {
			return
		}
		found, err := q.Select(root)
		if err != nil && !errors.Is(err, ErrTooMuch) {
			t.Fatal(err)
		}
		for _, n := range found[:min(len(found), 100)] {
			if text := n.Append(nil); !json.Valid(text) {
				t.Fatalf("%s is not JSON", text)
			}
		}
		if q.Singular() && len(found) > 1 {
			t.Fatalf("a singular path found %d values", len(found))
		}
		if after, err := q.Set(root, &Node{Kind: True}); err == nil && !json.Valid(after.Append(nil)) {
			t.Fatalf("set made %s", after.Append(nil))
		}
	})
}
