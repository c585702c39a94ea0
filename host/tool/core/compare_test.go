package core

import (
	"encoding/json"
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
