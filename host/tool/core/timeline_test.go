package core

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// changesOf tells what memory_history says changed, a line each, in all pages.
func (u *user) changesOf(arguments string) string {
	u.t.Helper()
	var said []string
	for after := ""; ; {
		answer, _ := u.must("memory_history", fmt.Sprintf(`{"changes":true,"after":%q,%s}`, after, arguments))
		var page changedAnswer
		if err := json.Unmarshal([]byte(answer), &page); err != nil {
			u.t.Fatal(err)
		}
		for _, c := range page.Changes {
			said = append(said, fmt.Sprintf("%s %s %s→%s by %s", c.Change, c.Key, valueOf(c.Before), valueOf(c.After), c.Agent))
		}
		if after = page.Next; after == "" {
			return strings.Join(said, "; ")
		}
	}
}

func valueOf(s *side) string {
	if s == nil {
		return "-"
	}
	return string(s.Value)
}

func TestWhatChangedIsListedWithBothValuesAndTheAuthor(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"key":"tea","value":"green"}`)
	u.must("memory_store", `{"key":"cup","value":"blue"}`)
	u.must("memory_store", `{"key":"pot","value":"iron","namespace":"kitchen"}`)
	history, _ := u.must("memory_history", `{}`)
	var extent struct {
		Latest uint64 `json:"latest_version"`
	}
	if err := json.Unmarshal([]byte(history), &extent); err != nil {
		t.Fatal(err)
	}
	u.caller.Agent = "other"
	u.must("memory_store", `{"key":"tea","value":"black"}`)
	u.must("memory_forget", `{"key":"cup"}`)
	u.must("memory_store", `{"key":"pan","value":"steel","namespace":"kitchen"}`)
	since := fmt.Sprintf(`"since":"v%d"`, extent.Latest)
	const all = `added pan -→"steel" by other; forgotten cup "blue"→- by other; changed tea "green"→"black" by other`
	const first = `added pot -→"iron" by tester; added cup -→"blue" by tester; added tea -→"green" by tester`
	for arguments, want := range map[string]string{
		since:                            all,
		since + `,"limit":1`:             all,
		since + `,"namespace":"kitchen"`: `added pan -→"steel" by other`,
		fmt.Sprintf(`"until":"v%d","namespace":"*"`, extent.Latest): first,
	} {
		if got := u.changesOf(arguments); got != want {
			t.Errorf("%s: %s\nwant %s", arguments, got, want)
		}
	}
}

func TestChangesTooLongForAnAnswerAreListedOnTheNextPages(t *testing.T) {
	u := newUser(t)
	for i := range 5 {
		u.must("memory_store", fmt.Sprintf(`{"key":"k%d","value":%q}`, i, strings.Repeat("long ", 8000)))
	}
	answer, note := u.must("memory_history", `{"changes":true}`)
	if !strings.Contains(answer, `"value_omitted":true`) || !strings.Contains(note, "memory_recall with as_of") {
		t.Errorf("the answer has %d characters and the note %q", len(answer), note)
	}
	if got := strings.Count(u.changesOf(`"limit":2`), "added k"); got != 5 {
		t.Errorf("all pages have %d changes, want 5", got)
	}
}

func TestATimelineHasTheChangesOfEachSpan(t *testing.T) {
	u := newUser(t)
	for i := range 4 {
		u.must("memory_store", fmt.Sprintf(`{"key":"k%d","value":%d}`, i, i))
	}
	answer, _ := u.must("memory_history", `{"buckets":3}`)
	var line timelineAnswer
	if err := json.Unmarshal([]byte(answer), &line); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, b := range line.Buckets {
		sum += b.Changes
	}
	if sum != 4 || line.Changes != 4 || len(line.Buckets) != 3 || line.Previous == nil || line.Next != nil {
		t.Errorf("the timeline is %s", answer)
	}
}

func TestHistoryRefusesParametersThatDoNotGoTogether(t *testing.T) {
	u := newUser(t)
	for arguments, want := range map[string]string{
		`{"key":"k","changes":true}`:     "leave the key out",
		`{"since":"v1"}`:                 "only with changes or buckets",
		`{"changes":true,"buckets":2}`:   "not both",
		`{"buckets":501}`:                "500",
		`{"changes":true,"after":"end"}`: "continues no list",
	} {
		if _, _, err := u.call("memory_history", arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is answered with %v, want %q", arguments, err, want)
		}
	}
}
