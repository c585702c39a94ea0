package family

import (
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/registry"
)

func TestASnapshotHasTheModulesOfItsLockFileWhileFamiliesAreInstalled(t *testing.T) {
	w := open(t, nil)
	one, two := pack(t, redactor("1.0.0"), redacts("one")), pack(t, redactor("2.0.0"), redacts("two"))
	w.install(redactor("1.0.0"), redacts("one"))
	w.grant(grants.Request{Family: "redactor", Hooks: map[abi.Hook]registry.On{abi.HookStore: {}}})
	var installing sync.WaitGroup
	defer installing.Wait()
	done := make(chan struct{})
	installing.Go(func() {
		defer close(done)
		for i := range 30 {
			module := [][]byte{two, one}[i%2]
			if _, err := w.Install(module); err != nil {
				t.Error(err)
			}
			if _, err := w.Grant(grants.Request{Family: "redactor", Hooks: map[abi.Hook]registry.On{abi.HookStore: {}}}); err != nil {
				t.Error(err)
			}
		}
	})
	for looked := 0; ; looked++ {
		w.wantWhole()
		select {
		case <-done:
			t.Logf("%d snapshots", looked)
			return
		default:
		}
	}
}

// wantWhole makes sure that a snapshot has what its lock file names.
func (w *world) wantWhole() {
	w.t.Helper()
	s, err := w.Snapshot()
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close()
	if len(s.Modules) != len(modules.NamedBy(s.Lock)) || len(s.Modules) == 0 {
		w.t.Errorf("%d modules of %d", len(s.Modules), len(modules.NamedBy(s.Lock)))
	}
	for _, m := range s.Modules {
		if m.File == nil {
			w.t.Errorf("the snapshot lacks %s: %s", m.Name, m.Gone)
			continue
		}
		data, err := io.ReadAll(io.NewSectionReader(m.File, 0, m.Bytes))
		if digest, ok := modules.ModuleName(m.Name); err != nil || !ok || digest != m.Digest || modules.Digest(data) != digest {
			w.t.Errorf("%s is another module (%v)", m.Name, err)
		}
	}
}

func TestASnapshotSaysWhichModulesAreNotThere(t *testing.T) {
	folder := t.TempDir()
	w := open(t, func(o *Options) { o.Watch = folder })
	writeFile(t, filepath.Join(folder, "notes.wasm"), pack(t, aFamily("notes"), script{says: `1`}))
	writeFile(t, filepath.Join(folder, "redactor.wasm"), pack(t, redactor("1.0.0"), redacts("one")))
	await.That(t, "they come", func() bool { return len(w.All()) == 2 })
	w.Show()
	w.grant(grants.Request{Family: "notes", All: true})
	d := w.grant(grants.Request{Family: "redactor", Hooks: map[abi.Hook]registry.On{abi.HookStore: {}}})
	changed := w.install(aFamily("other"), script{says: `1`})
	if err := os.WriteFile(w.modules.Path(changed.Digest), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := w.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	said := map[string]string{}
	for _, m := range s.Modules {
		said[modules.NamedBy(s.Lock)[m.Digest]] = m.Gone
		if m.Digest == d.Digest && m.Name != "families/approved/"+d.Digest+".wasm" {
			t.Errorf("the approved module is %s", m.Name)
		}
	}
	if len(said) != 3 || said["redactor"] != "" || said["notes"] != "its module is not in the data directory" || said["other"] != "its module in the data directory was changed" {
		t.Errorf("modules gone: %q, want redactor there, notes not there, other changed", said)
	}
}
