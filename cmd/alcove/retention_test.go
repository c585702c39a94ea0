package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/operator"
)

func TestRetentionOfBranchesAndNamespacesIsSetAndTakenAway(t *testing.T) {
	var r operator.Retention
	for _, step := range []struct {
		to      retentionOf
		keep    int64
		counted bool
		want    operator.Retention
	}{
		{retentionOf{versions: 5}, 90, true, operator.Retention{Keep: 90, Versions: 5}},
		{retentionOf{}, 80, false, operator.Retention{Keep: 80, Versions: 5}},
		{retentionOf{branch: "b"}, 0, false, operator.Retention{Keep: 80, Versions: 5, Branches: map[string]int64{"b": 0}}},
		{retentionOf{branch: "b", away: true}, 0, false, operator.Retention{Keep: 80, Versions: 5, Branches: map[string]int64{}}},
		{retentionOf{namespace: "n", versions: 2}, 0, true, operator.Retention{Keep: 80, Versions: 5, Branches: map[string]int64{},
			Namespaces: map[string]operator.NamespaceRetention{"n": {Forever: true, Versions: 2}}}},
		{retentionOf{namespace: "n", away: true}, 0, false, operator.Retention{Keep: 80, Versions: 5, Branches: map[string]int64{},
			Namespaces: map[string]operator.NamespaceRetention{}}},
	} {
		if step.to.change(&r, step.keep, step.counted); !reflect.DeepEqual(r, step.want) {
			t.Errorf("after %+v: %+v, not %+v", step.to, r, step.want)
		}
	}
}

func TestARetentionSaysWhatItTrimmedWhatItKeptAndWhatFailed(t *testing.T) {
	var out, notes bytes.Buffer
	a := newApp(nil, &out, &notes, func(string) string { return "" })
	err := a.printRetained(operator.Retained{
		Trimmed: map[string]time.Time{"old": time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}, Kept: []string{"young"},
		Failed: []operator.RetentionFailure{{Branch: "torn", Error: "a page\x1b[2J is torn"}, {Namespace: "diary", Error: "the same"}, {Error: "its own"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	said := out.String() + notes.String()
	for _, want := range []string{"old", "can be read from", "young", "has no versions older than its rule keeps", "torn", "FAILED", "histories of diary", "the server's own", "trimmed 1 branch"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "\x1b[2J") {
		t.Errorf("it prints control characters: %q", said)
	}
}
