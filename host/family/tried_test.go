package family

import (
	"crypto/sha256"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// files are the digests of what the world's directory holds, but of compiled modules.
func (w *world) files() map[string][32]byte {
	w.t.Helper()
	found := map[string][32]byte{}
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		found[path] = sha256.Sum256(data)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// keepingSteps are operations that keep something when their request is committed.
func keepingSteps() []step {
	return []step{
		writeHot, {"memory.touch", `{"keys":["hot"],"accesses":1}`}, {"memory.delete", `{"keys":["hot"]}`}, {"record.put", `{"collection":"own","items":[{"key":"r","value":1}]}`},
		{"log.append", `{"event":"probed","data":1}`}, {"feed.emit", `{"kind":"probed"}`}, {"job.enqueue", `{"job":"tidy"}`},
		{"config.set", `{"values":{"voice":"quiet"}}`}, {"branch.fork", `{"name":"fork"}`}, {"scope.put", `{"namespace":"new"}`},
	}
}

// reachingSteps are operations that reach outside, or give a power to somebody.
func reachingSteps() []step {
	return []step{
		{"identity.delegate", `{"name":"x","rights":["read"]}`},
		look, notify, remove, complete, {"embed", `{"texts":["hello"]}`}, {"file.write", `{"root":"r","path":"a","text":"x"}`},
	}
}

// A trial on the data, of a tool, a hook or a job, changes no byte of them and asks no endpoint.
func TestATrialOnTheDataKeepsNothingAndReachesNothingOutside(t *testing.T) {
	h := serveWebhooks(t)
	w := reaching(t, t.TempDir(), h)
	w.store("hot", `"cold"`)
	m := aFamily("tidy")
	m.Hooks = abi.Hooks{Stored: &abi.StoreHook{}, Jobs: []abi.Job{{Name: "tidy", Description: "Tidies."}}}
	m.Collections = []abi.Collection{{Name: "own"}}
	m.Config = []abi.Setting{{Key: "voice", Default: []byte(`"loud"`)}}
	module := pack(t, m, script{steps: append(keepingSteps(), reachingSteps()...)})
	before := w.files()
	for what, r := range map[string]TrialRequest{
		"a tool": {Tool: "tidy_do", Arguments: []byte(`{}`)},
		"a hook": {Hook: abi.HookStored, Arguments: []byte(`{"entries":[{"key":"hot","value":"text"}]}`)},
		"a job":  {Hook: abi.HookJob, Job: "tidy", Arguments: []byte(`{}`)},
	} {
		r.Module = module
		a, err := w.Rehearse(t.Context(), r)
		if err != nil || a.Result == nil {
			t.Fatalf("Rehearse %s = %+v, %v, want a result", what, a, err)
		}
		got := responses(t, a.Result.Output)
		for i, s := range keepingSteps() {
			if got[i].Error != nil {
				t.Errorf("%s: %s is not even staged: %v", what, s.op, got[i].Error)
			}
		}
		for i, s := range reachingSteps() {
			if r := got[len(keepingSteps())+i]; r.Error == nil {
				t.Errorf("%s: %s reached outside: %s", what, s.op, r.OK)
			}
		}
	}
	if got := h.got(); len(got) > 0 {
		t.Errorf("what left: %q", got)
	}
	if after := w.files(); !maps.Equal(before, after) {
		t.Errorf("files differ: %q before, %q after", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
	if list := w.All(); len(list) != 0 || w.value("", "hot") != `"cold"` {
		t.Errorf("the families are %+v, and the memory is %s", list, w.value("", "hot"))
	}
}

func TestALockedServerMakesNoTrials(t *testing.T) {
	w := open(t, func(o *Options) { o.Locked = true })
	_, err := w.Rehearse(t.Context(), TrialRequest{Module: pack(t, aFamily("tidy"), script{}), Tool: "tidy_do", Arguments: []byte(`{}`)})
	if code(err) != memory.Denied || !strings.Contains(err.Error(), "--locked") || !strings.Contains(err.Error(), "without --on-data") {
		t.Errorf("it says %v", err)
	}
}
