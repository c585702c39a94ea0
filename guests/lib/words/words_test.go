package words

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func lowers(list []Word) []string {
	var all []string
	for _, w := range list {
		all = append(all, w.Lower)
	}
	return all
}

func TestATextIsSplitIntoWords(t *testing.T) {
	for text, want := range map[string][]string{
		"Ann's v1.26 costs 10,000; don't panic.":  {"ann", "v1.26", "costs", "10,000", "don't", "panic"},
		"snake_case a/b me@x.org C++ C# end.Next": {"snake_case", "a/b", "me@x.org", "c++", "c#", "end", "next"},
		"well-known ÉTÉ naïve 日本":                 {"well", "known", "été", "naïve", "日本"},
		"ANN'S ÉTÉ’S":                             {"ann", "été"},
		"":                                        nil,
		"... --- !!!":                             nil,
	} {
		if got := lowers(Split(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	list := Split("The API of v2 fails, Bob. He left")
	if !list[0].Start || !list[1].Acronym || !list[3].Mixed || !list[5].Apart || !list[5].Capital || !list[6].Start || list[5].Start {
		t.Errorf("Split = %+v, want starts of sentences, acronyms and capitals marked", list)
	}
}

func FuzzSplit(f *testing.F) {
	for _, text := range []string{"", "We chose Go 1.26", "a.b.c d_e f@g.h C++ x# 1,000", "\xff\xfe", "'s ’s", "x,"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, w := range Split(text) {
			if w.From < at || w.To <= w.From || w.To > len(text) || w.Lower == "" {
				t.Fatalf("%q: the word %+v behind byte %d", text, w, at)
			}
			at = w.To
		}
		Fold(text)
	})
}

func TestFormsOfATagFoldToOne(t *testing.T) {
	for _, forms := range [][]string{
		{"database", "Databases", "databases"}, {"tag", "tags"}, {"code-review", "Code Reviews", "code_review", "code/review"},
		{"deploy", "deploying", "deployed", "deploys"}, {"query", "queries"}, {"branch", "branches"}, {"index", "indexes"},
	} {
		for _, form := range forms {
			if Fold(form) != Fold(forms[0]) {
				t.Errorf("%s folds to %s, %s to %s", form, Fold(form), forms[0], Fold(forms[0]))
			}
		}
	}
	for _, different := range [][2]string{{"kubernetes", "kubectl"}, {"go", "god"}, {"analysis", "analyst"}, {"news", "new"}, {"redis", "red"}, {"string", "str"}} {
		if Fold(different[0]) == Fold(different[1]) {
			t.Errorf("%q fold to the same", different)
		}
	}
}

func TestSlipsOfAKeyAreNear(t *testing.T) {
	for _, pair := range [][2]string{{"kubernet", "kuberent"}, {"postgresql", "postgrsql"}, {"database", "datebase"}} {
		if !Near(pair[0], pair[1]) || !Near(pair[1], pair[0]) {
			t.Errorf("%q are not near", pair)
		}
	}
	for _, pair := range [][2]string{{"cat", "car"}, {"python2", "python3"}, {"server", "server"}, {"frontend", "backend"}, {"hosting", "posting"}} {
		if Near(pair[0], pair[1]) {
			t.Errorf("%q are near", pair)
		}
	}
}

func TestTheTextOfAValueIsItsStrings(t *testing.T) {
	for value, want := range map[string]string{
		`"plain"`:                          "plain",
		`"quoted \"x\" \u00e9"`:            `quoted "x" é`,
		`{"name":"Ann","age":3,"l":["x"]}`: "Ann\nx\n",
		`17`:                               "",
		`null`:                             "",
		`{"a" : {"b" : "c \" d"}}`:         "c \" d\n",
	} {
		if got := Text(json.RawMessage(value), Long); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
	if long := Text(json.RawMessage(`"`+strings.Repeat("é", Short)+`"`), Short); len(long) > Short || !utf8.ValidString(long) {
		t.Errorf("a long text has %d bytes", len(long))
	}
}

func FuzzText(f *testing.F) {
	for _, value := range []string{`"a"`, `{"a":"b"}`, `"\`, `{"a"`, `["\ud800"]`, `"`} {
		f.Add([]byte(value))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if len(Text(value, Short)) > Short {
			t.Fatal("the text is too long")
		}
	})
}
