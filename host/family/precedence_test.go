package family

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/testing/await"
)

func TestAFamilyCannotTakeTheToolsOfOneThatTheProgramCarries(t *testing.T) {
	folder := t.TempDir()
	carried := pack(t, aFamily("notes"), script{says: `1`})
	for i, name := range []string{"notes_do", "notes.do", "Notes_Do", "notesdo", "n0tes-d0"} {
		thief := aFamily("a-thief")
		thief.Tools[0].Name = name
		writeFile(t, filepath.Join(folder, "thief.wasm"), pack(t, thief, script{says: `2`}))
		w := open(t, func(o *Options) {
			o.Watch, o.Built = folder, []modules.Module{carrying(t, carried)}
		})
		if got := w.says("notes_do"); got != "1" {
			t.Errorf("%d: it says %s", i, got)
		}
		if all := w.All(); len(all) != 2 || !strings.Contains(all[0].Fault, "notes_do of family notes") {
			t.Errorf("%d: the families are %+v", i, all)
		}
	}
}

func TestAModuleThatWasChangedOrIsGoneIsListedWithTheReason(t *testing.T) {
	dir := t.TempDir()
	var module string
	t.Run("install", func(t *testing.T) {
		w := openIn(t, dir, nil)
		d, err := w.Install(pack(t, aFamily("notes"), script{says: `1`}))
		if err != nil {
			t.Fatal(err)
		}
		module = filepath.Join(dir, modules.Folder, d.Digest+modules.Extension)
	})
	if err := os.WriteFile(module, pack(t, aFamily("other"), script{says: `2`}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("changed", func(t *testing.T) {
		w := openIn(t, dir, nil)
		if all := w.All(); len(all) != 1 || all[0].Manifest.Name != "notes" || !strings.Contains(all[0].Fault, "was changed") {
			t.Errorf("families %+v, want notes, whose module was changed", all)
		}
	})
	if err := os.Remove(module); err != nil {
		t.Fatal(err)
	}
	w := openIn(t, dir, nil)
	if all := w.All(); len(all) != 1 || !strings.Contains(all[0].Fault, "not there") {
		t.Errorf("families %+v, want one whose module is not there", all)
	}
}

func TestWhatAFamilyPublishedGoesWithTheRightToPublish(t *testing.T) {
	w := open(t, nil).with(aFamily("maker"), script{steps: []step{{"tools.publish",
		`{"tool":{"name":"maker_made","description":"Made.","input_schema":{"type":"object"}}}`}}})
	w.do("maker")
	if d := w.All()[0]; len(d.Published) != 1 {
		t.Fatalf("published %+v", d.Published)
	}
	if _, err := w.Grant(grants.Request{Family: "maker", Revoke: []string{string(abi.CanToolsPublish)}}); err != nil {
		t.Fatal(err)
	}
	if d := w.All()[0]; len(d.Published) != 0 || !strings.Contains(w.says("maker_made"), "there is no tool") {
		t.Errorf("without the right it offers %+v", d.Published)
	}
}

func TestToolsThatArePublishedAtOnceAreAllThere(t *testing.T) {
	w := open(t, nil)
	const n = 8
	for i := range n {
		name := "maker" + string(rune('a'+i))
		w.with(aFamily(name), script{steps: []step{{"tools.publish",
			`{"tool":{"name":"` + name + `_made","description":"Made.","input_schema":{"type":"object"}}}`}}})
	}
	ended := make(chan error, n)
	for i := range n {
		go func() {
			_, err := w.Call(t.Context(), given{Tool: "maker" + string(rune('a'+i)) + "_do", Arguments: json.RawMessage(`{}`), Caller: owner("")})
			ended <- err
		}()
	}
	for range n {
		if err := await.Value(t, "a call ends", ended); err != nil {
			t.Error(err)
		}
	}
	for _, d := range w.All() {
		if len(d.Published) != 1 {
			t.Errorf("%s published %+v", d.Manifest.Name, d.Published)
		}
	}
}
