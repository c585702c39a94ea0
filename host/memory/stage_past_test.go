package memory

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/testclock"
)

func TestAStageOfThePastReadsWhatThereWasAndChangesNothing(t *testing.T) {
	now := testclock.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	s, end := openSpace(t, t.TempDir(), now.Now)
	defer end()
	put := func(key, text string) Stored {
		t.Helper()
		stored, err := s.Store(t.Context(), Location{}, []Item{{Key: key, Value: json.RawMessage(`"` + text + `"`), ExpiresAt: now.Now().Add(time.Hour)}}, Write{})
		if err != nil {
			t.Fatal(err)
		}
		return stored[0]
	}
	then := put("k", "apple then")
	now.Add(2 * time.Hour) // it is gone by now
	put("k", "apple now")
	put("l", "apple later")
	for _, at := range []AsOf{{Version: then.Version}, {Time: then.Timestamp.Add(time.Minute)}} {
		st, err := s.As(Caller{Agent: "guest", Rights: FullRights()}).StageAt(t.Context(), "", at)
		if err != nil {
			t.Fatal(err)
		}
		if got := stageText(t, st, "k"); got != "apple then" {
			t.Errorf("as of %+v k is %q", at, got)
		}
		if got := stageKeys(t, st, 10); len(got) != 1 {
			t.Errorf("as of %+v there are %q", at, got)
		}
		found, err := st.Search(t.Context(), Search{Text: "apple"})
		if err != nil || len(found.Hits) != 1 || string(found.Hits[0].Value) != `"apple then"` {
			t.Errorf("as of %+v found %+v, %v", at, found.Hits, err)
		}
		if n, counts, err := st.CountTerms(t.Context(), Collection{Name: "memory"}, nil, []string{"appl"}); err != nil || n != 1 || counts[0] != 1 {
			t.Errorf("as of %+v counted %d, %v, %v", at, n, counts, err)
		}
		if c, err := st.Counters(t.Context(), "", []string{"k"}); err != nil || c[0] != (Counters{}) {
			t.Errorf("as of %+v counted %+v, %v", at, c, err)
		}
		if _, err := st.Put(t.Context(), "", []Item{{Key: "k", Value: json.RawMessage("1")}}); err == nil {
			t.Errorf("as of %+v something is staged", at)
		}
		if done, err := st.Commit(t.Context(), Commit{}); err != nil || done.Version != 0 {
			t.Errorf("as of %+v a commit of nothing is %+v, %v", at, done, err)
		}
	}
	if m, err := s.Recall(t.Context(), Location{}, "k", AsOf{}); err != nil || string(m.Value) != `"apple now"` {
		t.Errorf("k is %v, %v", m, err)
	}
	if _, err := s.As(Caller{Rights: FullRights()}).StageAt(t.Context(), "", AsOf{Version: 1 << 40}); err == nil {
		t.Error("a version that there is not is read")
	}
}
