package memory

import (
	"encoding/json"
	"testing"

	"github.com/alcove-memory/alcove/host/memory/portable"
)

func TestAPreviewOfAnImportCountsAndWritesNothing(t *testing.T) {
	s := testSpace(t)
	ctx := t.Context()
	value := json.RawMessage(`"a"`)
	if _, err := s.Store(ctx, Location{}, []Item{{Key: "kept", Value: value}}, Write{}); err != nil {
		t.Fatal(err)
	}
	list := []portable.Memory{{Key: "kept", Value: value}, {Key: "new", Value: value}, {Key: "other", Namespace: "n", Value: value}}
	want := Imported{Stored: 2, Unchanged: 1}
	if got, err := s.Import(ctx, "", list, Write{DryRun: true}); err != nil || got != want {
		t.Errorf("the preview is %+v (%v), not %+v", got, err, want)
	}
	if m, err := s.Recall(ctx, Location{}, "new", AsOf{}); m != nil || err != nil {
		t.Errorf("the preview stored %v (%v)", m, err)
	}
	if got, err := s.Import(ctx, "", list, Write{}); err != nil || got != want {
		t.Errorf("the import did %+v (%v), not %+v", got, err, want)
	}
	if got, err := s.Import(ctx, "", list, Write{DryRun: true}); err != nil || got != (Imported{Unchanged: 3}) {
		t.Errorf("a second preview is %+v (%v)", got, err)
	}
}
