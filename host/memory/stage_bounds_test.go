package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func isExhausted(err error) bool {
	var known *Error
	return errors.As(err, &known) && known.Code == Exhausted
}

func TestAStageChangesOnlySoMuch(t *testing.T) {
	s, done := openSpace(t, t.TempDir(), nil)
	defer done()
	s.limits.Staged, s.limits.StagedBytes = 10, 10_000
	long := json.RawMessage(`"` + strings.Repeat("x", 4000) + `"`)
	cases := map[string]func(st *Stage, i int) error{
		"memories": func(st *Stage, i int) error {
			_, err := st.Put(t.Context(), "", []Item{{Key: fmt.Sprint(i), Value: json.RawMessage("1")}})
			return err
		},
		"long memories": func(st *Stage, i int) error {
			_, err := st.Put(t.Context(), "", []Item{{Key: fmt.Sprint(i), Value: long}})
			return err
		},
		"records": func(st *Stage, i int) error {
			_, err := st.AppendRecord(t.Context(), Collection{Name: "f/c"}, "", json.RawMessage("1"))
			return err
		},
		"events":      func(st *Stage, i int) error { return st.Log("", "tick", json.RawMessage("1")) },
		"long events": func(st *Stage, i int) error { return st.Log("", "tick", long) },
	}
	for what, do := range cases {
		st, refused := stage(t, s, ""), 0
		for i := range 40 {
			if err := do(st, i); isExhausted(err) {
				refused++
			} else if err != nil {
				t.Fatalf("%s: %v, want success, or what exhausts the stage", what, err)
			}
		}
		if refused < 29 || st.Changes() > 11 {
			t.Errorf("%s: %d of 40 were refused, and %d are staged", what, refused, st.Changes())
		}
		if _, err := st.Commit(t.Context(), Commit{}); !isExhausted(err) {
			t.Errorf("%s: the commit ended with %v", what, err)
		}
	}
}

func TestOfWhatIsStagedAgainOnlyTheLastCounts(t *testing.T) {
	s, done := openSpace(t, t.TempDir(), nil)
	defer done()
	s.limits.StagedBytes = 10_000
	st := stage(t, s, "")
	for i := range 20 {
		stagePut(t, st, "k", strings.Repeat(fmt.Sprint(i%10), 4000))
	}
	stageCommit(t, st, Commit{})
}

func TestAStageReadsOnlySoMuch(t *testing.T) {
	s, done := openSpace(t, t.TempDir(), nil)
	defer done()
	s.limits.StageReads = 10
	st := stage(t, s, "")
	var err error
	for i := 0; i < 20 && err == nil; i++ {
		_, err = st.Get(t.Context(), "", []string{fmt.Sprint(i)})
	}
	if !isExhausted(err) {
		t.Errorf("it ended with %v", err)
	}
	if _, _, err := st.List(t.Context(), "", "", "", 5); !isExhausted(err) {
		t.Errorf("the list ended with %v", err)
	}
}

func TestOnlyMemoriesThatAreThereAreCounted(t *testing.T) {
	s, done := openSpace(t, t.TempDir(), nil)
	defer done()
	st := stage(t, s, "")
	stagePut(t, st, "a", "tea")
	stageCommit(t, st, Commit{})
	st = stage(t, s, "")
	stagePut(t, st, "b", "more tea")
	n, err := st.Touch(t.Context(), "", []string{"a", "b", "c"}, 1, 0)
	if err != nil || n != 2 {
		t.Errorf("%d were counted, %v", n, err)
	}
	stageCommit(t, st, Commit{})
	counted, err := stage(t, s, "").Counters(t.Context(), "", []string{"a", "b", "c"})
	if err != nil || counted[0].Accesses != 1 || counted[1].Accesses != 1 || counted[2].Accesses != 0 {
		t.Errorf("counted %+v, %v", counted, err)
	}
}
