package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
)

// record stores a record of a family on a branch.
func (u *user) record(branch, collection, key, value string) {
	u.t.Helper()
	stage, err := u.space.As(u.caller).Stage(u.t.Context(), branch)
	if err == nil {
		err = stage.PutRecord(u.t.Context(), memory.Collection{Name: collection, Quota: memory.Quota{Records: 10}}, memory.Default, key, json.RawMessage(value), nil)
	}
	if err == nil {
		_, err = stage.Commit(u.t.Context(), memory.Commit{})
	}
	if err != nil {
		u.t.Fatal(err)
	}
}

func TestADifferenceThatIsARecordNamesItsCollection(t *testing.T) {
	u := newUser(t)
	u.must("memory_branch", `{"action":"fork","name":"side"}`)
	u.record("side", "kv/values", "k", `"open"`)
	u.record("side", "postbox/letters", "l", `"private"`)
	for _, c := range []struct{ arguments, summary string }{
		{`{"action":"diff","compare":"side"}`, `has 1 key that`},
		{`{"action":"merge","source":"side","preview":true}`, `would change 1 key`},
		{`{"action":"merge","source":"side"}`, `1 key changed`},
	} {
		answer, _ := u.must("memory_branch", c.arguments)
		if !strings.Contains(answer, `"collection":"kv/values","key":"k"`) || !strings.Contains(answer, c.summary) || strings.Contains(answer, "private") || strings.Contains(answer, "postbox") {
			t.Errorf("%s: got %s; want k of kv/values alone, and %q", c.arguments, answer, c.summary)
		}
	}
}

func TestAKeyWithTheRightToReadAloneIsShownNoRecords(t *testing.T) {
	u := newUser(t)
	u.must("memory_branch", `{"action":"fork","name":"side"}`)
	u.record("side", "kv/values", "k", `"open"`)
	u.record("side", "postbox/letters", "l", `"private"`)
	u.must("memory_store", `{"key":"m","value":1,"branch":"side"}`)
	u.caller = memory.Caller{Key: "1", Rights: memory.FullRights().ReadOnly().LimitedTo(nil)}
	for arguments, count := range map[string]string{
		`{"action":"diff","compare":"side"}`:                    `"added":1,"changed":0,"removed":0,`,
		`{"action":"diff","compare":"default","target":"side"}`: `"added":0,"changed":0,"removed":1,`,
		`{"action":"merge","source":"side","preview":true}`:     `"applied":1,`,
	} {
		answer, _ := u.must("memory_branch", arguments)
		if !strings.Contains(answer, count) || strings.Contains(answer, "collection") || strings.Contains(answer, "open") || strings.Contains(answer, "private") {
			t.Errorf("%s: got %s; want the memory alone, and %s", arguments, answer, count)
		}
	}
}

func TestAMergeWithNothingToMergeSaysSo(t *testing.T) {
	u := newUser(t)
	u.must("memory_branch", `{"action":"fork","name":"side"}`)
	for _, arguments := range []string{`{"action":"merge","source":"side"}`, `{"action":"merge","source":"side","preview":true}`} {
		answer, _ := u.must("memory_branch", arguments)
		if !strings.Contains(answer, `"merged":false,"unchanged":true`) || !strings.Contains(answer, "Nothing to merge") || strings.Contains(answer, `"version"`) {
			t.Errorf("%s: got %s; want that nothing was merged, and no version", arguments, answer)
		}
	}
}

// pages follows next, and returns the keys of two lists and how many pages they had.
func (u *user) pages(arguments string) (differences, clashes []string, n int) {
	u.t.Helper()
	for after := ""; ; {
		answer, _ := u.must("memory_branch", fmt.Sprintf(arguments, after))
		var page struct {
			Differences, Clashes []struct{ Namespace, Key string }
			Added, Applied       int
			Next, Note           string
		}
		if err := json.Unmarshal([]byte(answer), &page); err != nil {
			u.t.Fatal(err)
		}
		for _, d := range page.Differences {
			differences = append(differences, d.Namespace+"#"+d.Key)
		}
		for _, d := range page.Clashes {
			clashes = append(clashes, d.Namespace+"#"+d.Key)
		}
		if n++; n > 100 {
			u.t.Fatal("the pages do not end")
		}
		if (page.Next != "") != strings.Contains(page.Note, fmt.Sprintf("after=%q", page.Next)) {
			u.t.Errorf("next %q, and the note says %q", page.Next, page.Note)
		}
		if after = page.Next; after == "" {
			return differences, clashes, n
		}
	}
}

func TestDifferencesAreListedPageByPage(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"items":[`+items(70, `"old"`)+`]}`)
	u.must("memory_branch", `{"action":"fork","name":"side"}`)
	u.must("memory_store", `{"branch":"side","items":[`+items(70, `"of the side"`)+`]}`)
	u.must("memory_store", `{"branch":"side","namespace":"a","items":[`+items(60, `"`+strings.Repeat("v", 900)+`"`)+`]}`)
	u.must("memory_store", `{"items":[`+items(55, `"of default"`)+`]}`)
	for _, c := range []struct {
		arguments            string
		differences, clashes int
	}{
		{`{"action":"diff","compare":"side","after":%q}`, 130, 0},
		{`{"action":"merge","source":"side","preview":true,"after":%q}`, 75, 55},
		{`{"action":"merge","source":"side","preview":true,"strategy":"source","after":%q}`, 130, 55},
		{`{"action":"merge","source":"side","preview":true,"strategy":"source","namespace":"a","after":%q}`, 60, 0},
	} {
		differences, clashes, n := u.pages(c.arguments)
		if len(differences) != c.differences || len(clashes) != c.clashes || n < 2 {
			t.Errorf("%s: got %d differences and %d clashes on %d pages, want %d and %d", c.arguments, len(differences), len(clashes), n, c.differences, c.clashes)
		}
		for _, list := range [][]string{differences, clashes} {
			if len(slices.Compact(slices.Sorted(slices.Values(list)))) != len(list) {
				t.Errorf("%s: a key is listed twice: %q", c.arguments, list)
			}
		}
	}
	answer, _ := u.must("memory_branch", `{"action":"merge","source":"side","strategy":"source"}`)
	if !strings.Contains(answer, "memory_history with changes=true") || strings.Contains(answer, `"next"`) {
		t.Errorf("got %.300s; want how to list what was merged", answer[len(answer)-300:])
	}
}

// items are memories k00, k01 and so on, as memory_store takes them.
func items(n int, value string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"key":"k%02d","value":%s}`, i, value)
	}
	return strings.Join(list, ",")
}

func TestAPageOfDifferencesThatCannotBeIsRefused(t *testing.T) {
	u := newUser(t)
	u.must("memory_branch", `{"action":"fork","name":"side"}`)
	u.must("memory_store", `{"key":"m","value":1,"branch":"side"}`)
	for arguments, why := range map[string]string{
		`{"action":"diff","compare":"side","after":"of another list"}`:                    "begin again without it",
		`{"action":"diff","compare":"side","after":"W10"}`:                                "begin again without it",
		`{"action":"merge","source":"side","preview":true,"after":"of another"}`:          "begin again without it",
		`{"action":"merge","source":"side","after":"W10"}`:                                "only with diff, and with merge and preview",
		`{"action":"list","after":"W10"}`:                                                 "only with diff, and with merge and preview",
		`{"action":"diff","compare":"side","after":"` + strings.Repeat("W", 1<<20) + `"}`: "begin again without it",
	} {
		if got := u.refused("memory_branch", arguments); !strings.Contains(got, why) {
			t.Errorf("%.80s: got %s, want %s", arguments, got, why)
		}
	}
}
