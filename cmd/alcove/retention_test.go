package main

import (
	"reflect"
	"testing"

	"github.com/alcove-memory/alcove/host"
)

func TestRetentionOfBranchesAndNamespacesIsSetAndTakenAway(t *testing.T) {
	var r host.Retention
	for _, step := range []struct {
		to      retentionOf
		keep    int64
		counted bool
		want    host.Retention
	}{
		{retentionOf{versions: 5}, 90, true, host.Retention{Keep: 90, Versions: 5}},
		{retentionOf{}, 80, false, host.Retention{Keep: 80, Versions: 5}},
		{retentionOf{branch: "b"}, 0, false, host.Retention{Keep: 80, Versions: 5, Branches: map[string]int64{"b": 0}}},
		{retentionOf{branch: "b", away: true}, 0, false, host.Retention{Keep: 80, Versions: 5, Branches: map[string]int64{}}},
		{retentionOf{namespace: "n", versions: 2}, 0, true, host.Retention{Keep: 80, Versions: 5, Branches: map[string]int64{},
			Namespaces: map[string]host.NamespaceRetention{"n": {Forever: true, Versions: 2}}}},
		{retentionOf{namespace: "n", away: true}, 0, false, host.Retention{Keep: 80, Versions: 5, Branches: map[string]int64{},
			Namespaces: map[string]host.NamespaceRetention{}}},
	} {
		if step.to.change(&r, step.keep, step.counted); !reflect.DeepEqual(r, step.want) {
			t.Errorf("after %+v: %+v, not %+v", step.to, r, step.want)
		}
	}
}
