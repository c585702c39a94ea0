package family

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// atomicTime is a clock that tests move.
type atomicTime struct{ now atomic.Value }

func (a *atomicTime) set(t time.Time) { a.now.Store(t) }
func (a *atomicTime) get() time.Time  { return a.now.Load().(time.Time) }

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// putModule writes a module to where a data directory has the installed ones, and returns its path.
func putModule(t testing.TB, dir string, module []byte) string {
	t.Helper()
	path := filepath.Join(dir, modules.Folder, modules.Digest(module)+modules.Extension)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, module)
	return path
}

func (w *world) says(tool string) string {
	result, err := w.call(given{Tool: tool})
	if err != nil {
		return err.Error()
	}
	return string(result.Output)
}

func TestAFamilyInAWatchedFolderComesChangesAndGoes(t *testing.T) {
	folder := t.TempDir()
	w := open(t, func(o *Options) { o.Watch = folder })
	file := filepath.Join(folder, "notes.wasm")
	changed := w.Changed()
	writeFile(t, file, pack(t, aFamily("notes"), script{says: `1`}))
	await.That(t, "it comes", func() bool { return w.says("notes_do") == "1" })
	select {
	case <-changed:
	default:
		t.Error("nobody was told")
	}
	writeFile(t, file, pack(t, aFamily("notes"), script{says: `2`}))
	await.That(t, "it changes", func() bool { return w.says("notes_do") == "2" })
	writeFile(t, file, []byte("\x00asm broken"))
	time.Sleep(50 * time.Millisecond) // several looks at the folder
	if got := w.says("notes_do"); got != "2" {
		t.Errorf("a broken file in its place: %s", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	await.That(t, "it goes", func() bool { return strings.Contains(w.says("notes_do"), "there is no tool") })
}

func TestABrokenFileIsAFamilyThatSaysWhy(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "broken.wasm"), []byte("hello"))
	writeFile(t, filepath.Join(folder, "notes.wasm"), pack(t, aFamily("notes"), script{says: `1`}))
	w := open(t, func(o *Options) { o.Watch = folder })
	all := w.All()
	if len(all) != 2 || all[0].Manifest.Name != "broken" || !strings.Contains(all[0].Fault, "refuse the module") || all[1].Fault != "" {
		t.Errorf("families %+v, want broken refused, and notes without a fault", all)
	}
	if got := w.says("notes_do"); got != "1" {
		t.Errorf("the other one says %s", got)
	}
}

// blockingEmbedder holds the calls of guests until it is released.
type blockingEmbedder struct {
	embedder
	asked, release chan struct {
	}
}

func (b blockingEmbedder) Embed(ctx context.Context, texts []string, purpose string) (string, [][]float32, error) {
	close(b.asked)
	select {
	case <-b.release:
	case <-ctx.Done():
	}
	return embedder{}.Embed(ctx, texts, purpose)
}

func TestRunningCallsFinishOnTheOldVersionAndNewOnesTakeTheNew(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "notes.wasm")
	slow := aFamily("notes")
	slow.Limits.CPUMS, slow.Limits.WallMS = 600, await.Limit.Milliseconds()
	writeFile(t, file, pack(t, slow, script{steps: []step{{"embed.texts", `{"texts":["tea"]}`}}, spins: true}))
	embedder := blockingEmbedder{asked: make(chan struct{}), release: make(chan struct{})}
	w := open(t, func(o *Options) { o.Watch, o.Embedder = folder, embedder })
	if _, err := w.Grant(grants.Request{Family: "notes", All: true}); err != nil {
		t.Fatal(err)
	}
	if err := w.Load(t.Context(), "notes"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan string)
	go func() { ended <- w.says("notes_do") }()
	old := w.catalogue.Known("notes")
	await.Value(t, "the call of the embedder", embedder.asked)
	if n := old.Calls(); n != 1 {
		t.Errorf("%d calls run, want 1", n)
	}
	writeFile(t, file, pack(t, aFamily("notes"), script{says: `2`}))
	await.That(t, "the new version answers", func() bool { return w.says("notes_do") == "2" })
	close(embedder.release)
	if got := <-ended; !strings.Contains(got, "ran for longer than 600 ms") {
		t.Errorf("the call on the old version ended with %s", got)
	}
	await.That(t, "the old version is unloaded", func() bool { return !old.IsLoaded() })
}

func TestWhatNobodyCallsIsUnloadedAndLoadedAgain(t *testing.T) {
	w := open(t, func(o *Options) { o.Idle = 20 * time.Millisecond }).with(aFamily("notes"), script{says: `1`})
	await.That(t, "it is unloaded", func() bool { return !w.catalogue.Known("notes").IsLoaded() })
	if got := w.says("notes_do"); got != "1" {
		t.Errorf("it says %s", got)
	}
}

// TestFamiliesThatMisbehaveLeaveOthersAlone lets families crash, hang, lie and exceed their budgets while sixteen clients work:
// nothing of theirs is lost, and none waits long.
func TestFamiliesThatMisbehaveLeaveOthersAlone(t *testing.T) {
	lies := aFamily("lies")
	lies.Tools[0].OutputSchema = json.RawMessage(`{"type":"object","required":["n"]}`)
	spins := aFamily("spins")
	spins.Limits.CPUMS = 40
	talks := aFamily("talks")
	talks.Limits.HostCalls = 3
	put := step{"memory.put", `{"items":[{"key":"bad","value":"leak"}]}`}
	w := open(t, nil).with(lies, script{steps: []step{put}, says: `[]`}).with(spins, script{steps: []step{put}, spins: true}).
		with(aFamily("traps"), script{steps: []step{put}, traps: true}).with(aFamily("floods"), script{steps: []step{put}, floods: true}).
		with(talks, script{steps: []step{put, put, put, put, put}}).with(onStore("tagger", ""), script{traps: true}).with(onRank("ranking"), script{traps: true})
	stop := make(chan struct{})
	var bad, good sync.WaitGroup
	for _, name := range []string{"lies", "spins", "traps", "floods", "talks"} {
		bad.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := w.call(given{Tool: name + "_do"}); err == nil {
					t.Errorf("%s did no harm", name)
				}
			}
		})
	}
	const clients, each = 16, 15
	for c := range clients {
		good.Go(func() {
			for i := range each {
				key := fmt.Sprintf("c%02d-%02d", c, i)
				if _, err := w.space.As(owner("")).Store(t.Context(), memory.Location{}, []memory.Item{{Key: key, Value: json.RawMessage(`"tea of ` + key + `"`)}}, memory.Write{}); err != nil {
					t.Errorf("store %s: %v", key, err)
				}
				if _, err := w.space.As(owner("")).Search(t.Context(), memory.Search{Text: "tea of " + key}); err != nil {
					t.Errorf("search %s: %v", key, err)
				}
			}
		})
	}
	good.Wait()
	close(stop)
	bad.Wait()
	for c := range clients {
		for i := range each {
			key := fmt.Sprintf("c%02d-%02d", c, i)
			if w.value("", key) != `"tea of `+key+`"` {
				t.Errorf("%s is lost", key)
			}
		}
	}
	if w.value("", "bad") != "" {
		t.Error("something of a family that failed was kept")
	}
}

func TestAFamilyCallsToolsOfOthersInsideOfItsOwnStage(t *testing.T) {
	helper := aFamily("helper")
	w := open(t, nil).with(helper, script{steps: []step{{"memory.put", `{"items":[{"key":"b","value":2}]}`}}}).
		with(aFamily("crashes"), script{steps: []step{{"memory.put", `{"items":[{"key":"c","value":3}]}`}}, traps: true}).
		with(aFamily("leader"), script{steps: []step{
			{"memory.put", `{"items":[{"key":"a","value":1}]}`}, {"tools.call", `{"tool":"helper_do","arguments":{}}`}, {"tools.call", `{"tool":"crashes_do"}`},
			{"memory.get", `{"keys":["b","c"]}`}, {"tools.list", `{}`}, {"tools.call", `{"tool":"leader_do"}`}}})
	got, result := w.do("leader")
	if got[1].Error != nil || got[2].Error == nil || !strings.Contains(string(got[3].OK), `"value":2`) || strings.Contains(string(got[3].OK), `"value":3`) {
		t.Errorf("answers %+v, want the helper's memory, and none of the one that crashed", got)
	}
	if !strings.Contains(string(got[4].OK), "helper_do") || strings.Contains(string(got[4].OK), "leader_do") || got[5].Error == nil || got[5].Error.Code != abi.CodeDenied {
		t.Errorf("the tools are %s; calling itself: %+v", got[4].OK, got[5])
	}
	if w.value("", "a") != "1" || w.value("", "b") != "2" || w.value("", "c") != "" || result.Version == 0 {
		t.Errorf("committed %+v", result)
	}
}

func TestAFamilyPublishesToolsAndWithdrawsThem(t *testing.T) {
	tool := `{"name":"site_greet","description":"Greets.","input_schema":{"type":"object","required":["who"],"properties":{"who":{"type":"string"}}}}`
	dir := t.TempDir()
	t.Run("publishing", func(t *testing.T) {
		w := openIn(t, dir, nil).with(aFamily("sites"), script{steps: []step{{"tools.publish", `{"tool":` + tool + `}`},
			{"tools.publish", `{"tool":{"name":"memory_store","description":"x","input_schema":{"type":"object"}}}`}, {"tools.publish", `{"tool":{"name":"bad name"}}`}}})
		got, _ := w.do("sites")
		if got[0].Error != nil || got[1].Error == nil || got[2].Error == nil {
			t.Fatalf("tools.publish = %+v, want the first published, the others refused", got)
		}
		if found, err := w.Find(owner(""), "site_greet"); err != nil || !strings.Contains(string(found.InputSchema), `"required":["who"]`) {
			t.Errorf("it is found as %+v, %v", found, err)
		}
		if _, err := w.call(given{Tool: "site_greet", Arguments: json.RawMessage(`{"who":"you"}`)}); err != nil {
			t.Errorf("with it: %v", err)
		}
	})
	w := openIn(t, dir, nil)
	if all := w.All(); len(all) != 1 || len(all[0].Published) != 1 {
		t.Errorf("after a restart: %+v", all)
	}
	w.with(aFamily("sites"), script{steps: []step{{"tools.withdraw", `{"name":"site_greet"}`}, {"tools.withdraw", `{"name":"site_greet"}`}}})
	if got, _ := w.do("sites"); got[0].Error != nil || got[1].Error == nil {
		t.Errorf("tools.withdraw = %+v, want the first withdrawn, the second refused", got)
	}
	if got := w.says("site_greet"); !strings.Contains(got, "there is no tool") {
		t.Errorf("withdrawn it says %s", got)
	}
}
