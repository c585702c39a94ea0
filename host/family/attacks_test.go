package family

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// swapEntries gives each entry of a cache the bytes of another entry of its kind, in place, and returns how many it changed by kind.
func swapEntries(t *testing.T, dir string) map[string]int {
	t.Helper()
	swapped := map[string]int{}
	for _, kind := range []string{"admitted", "bodies", "code"} {
		names, err := filepath.Glob(filepath.Join(dir, kind, "*"))
		if err != nil {
			t.Fatal(err)
		}
		var contents [][]byte
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			contents = append(contents, data)
		}
		for i, name := range names {
			other := contents[(i+1)%len(contents)]
			if string(other) != string(contents[i]) {
				swapped[kind]++
			}
			if err := os.WriteFile(name, other, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return swapped
}

// TestCacheEntriesThatAreSwappedUnderALockedServerAreNotRun swaps the results of checks, and the rewritten module with its native code,
// of two signed modules: neither the server that runs nor the next one runs the other's code.
func TestCacheEntriesThatAreSwappedUnderALockedServerAreNotRun(t *testing.T) {
	a := approve(t)
	cache := filepath.Join(t.TempDir(), "cache")
	other := aFamily("other")
	a.approveInstead(signedBy(t, pack(t, aFamily("notes"), script{says: `1`}), 1), func(*registry.Grant) {})
	module := signedBy(t, pack(t, other, script{says: `2`}), 1)
	writeFile(t, filepath.Join(a.dir, modules.Folder, modules.Digest(module)+modules.Extension), module)
	a.lock(func(l *registry.Lock) {
		l.Families["other"] = registry.Grant{Digest: modules.Digest(module), Version: other.Version, Signers: []string{"author"}}
	})
	locked := func(t *testing.T) *world {
		box, err := sandbox.New(sandbox.Config{Cache: sandbox.Cache{Dir: cache}})
		if err != nil {
			t.Fatal(err)
		}
		return openIn(t, a.dir, func(o *Options) { o.Locked, o.Sandbox = true, box })
	}
	says := func(t *testing.T, w *world) {
		t.Helper()
		for tool, want := range map[string]string{"notes_do": "1", "other_do": "2"} {
			if got := w.says(tool); got != want {
				t.Errorf("%s says %s, and not %s", tool, got, want)
			}
		}
	}
	t.Run("while it runs", func(t *testing.T) {
		w := locked(t)
		says(t, w)
		if swapped := swapEntries(t, cache); swapped["admitted"] < 2 || swapped["code"] < 2 {
			t.Fatalf("swapped are %v: nothing is shown", swapped)
		}
		says(t, w)
	})
	t.Run("at the next start", func(t *testing.T) { says(t, locked(t)) })
}

// TestARollbackWhileAnotherVersionServesTheHookKeepsTheHook rolls a redactor back and forth, with a restart after each step: what is
// stored is always what the approved version makes of it.
func TestARollbackWhileAnotherVersionServesTheHookKeepsTheHook(t *testing.T) {
	dir := t.TempDir()
	var one, two string
	step := func(name string, do func(w *world)) {
		t.Run(name, func(t *testing.T) { do(openIn(t, dir, nil)) })
	}
	rolledBack := func(w *world) catalogue.Described {
		w.t.Helper()
		d, err := w.Rollback("redactor")
		if err != nil {
			w.t.Fatal(err)
		}
		return d
	}
	step("1.0.0 serves the hook beside 2.0.0", func(w *world) {
		one = w.install(redactor("1.0.0"), redacts("one")).Digest
		w.grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore)})
		two = w.install(redactor("2.0.0"), redacts("two")).Digest
		w.storesAs("one")
	})
	step("back to the version that is approved", func(w *world) {
		if d := rolledBack(w); d.Digest != one || d.Guard != nil || d.Grant.Hooks[abi.HookStore].OnFailure != abi.OnFailureRefuse {
			w.t.Errorf("the family is %+v, want 1.0.0 with a store hook that refuses, and no guard", d)
		}
		w.storesAs("one")
	})
	step("forth again", func(w *world) {
		w.storesAs("one")
		if d := rolledBack(w); d.Digest != two || d.Guard == nil || d.Guard.Digest != one || len(d.Grant.Hooks) != 0 {
			w.t.Errorf("the family is %+v, want 2.0.0 without hooks, guarded by 1.0.0", d)
		}
		w.storesAs("one")
	})
	step("back from an approved version to one that never was: the approved one serves the hook on", func(w *world) {
		w.storesAs("one")
		three := w.install(redactor("3.0.0"), redacts("three")).Digest
		w.grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore)})
		w.storesAs("three")
		if d := rolledBack(w); d.Digest != two || d.Guard == nil || d.Guard.Digest != three || len(d.Grant.Hooks) != 0 {
			w.t.Errorf("the family is %+v, want 2.0.0 without hooks, guarded by 3.0.0", d)
		}
		w.storesAs("three")
	})
	step("it was restarted", func(w *world) { w.storesAs("three") })
}

// TestARollbackOfALockedServerIsRefused has a server whose lock file names a newer version than the one before: a downgrade is an
// operator's act without the lock.
func TestARollbackOfALockedServerIsRefused(t *testing.T) {
	a := approve(t)
	t.Run("an update", func(t *testing.T) {
		w := openIn(t, a.dir, nil)
		m, s := notesOf("1.2.0", `2`)
		if _, err := w.InstallFrom(Installation{Module: signedBy(t, pack(t, m, s), 1)}); err != nil {
			t.Fatal(err)
		}
		w.grant(grants.Request{Family: "notes", All: true})
	})
	w := openIn(t, a.dir, func(o *Options) { o.Locked = true })
	if _, err := w.Rollback("notes"); err == nil || !strings.Contains(err.Error(), "the server is locked") {
		t.Errorf("Rollback: %v, want the error that the server is locked", err)
	}
	if got := w.says("notes_do"); got != "2" {
		t.Errorf("it says %s", got)
	}
}

// TestAWatchedFolderGivesALockedServerNothing puts files of every kind into the folder before and after the start: a newer and an older
// version of an approved family by its own signer, a family that resembles it, and the very module that is approved under another name.
func TestAWatchedFolderGivesALockedServerNothing(t *testing.T) {
	a := approve(t)
	folder := t.TempDir()
	newer, saysNewer := notesOf("9.0.0", `9`)
	older, saysOlder := notesOf("0.1.0", `0`)
	files := map[string][]byte{
		"notes.wasm":   signedBy(t, pack(t, newer, saysNewer), 1),
		"older.wasm":   signedBy(t, pack(t, older, saysOlder), 1),
		"note-s.wasm":  signedBy(t, pack(t, withTools("note-s", "third_do"), script{says: `8`}), 1),
		"another.wasm": signedBy(t, pack(t, aFamily("another"), script{says: `7`}), 1),
	}
	put := func() {
		for name, module := range files {
			writeFile(t, filepath.Join(folder, name), module)
		}
	}
	put()
	w := openIn(t, a.dir, func(o *Options) { o.Locked, o.Watch = true, folder })
	for _, when := range []string{"at the start", "afterwards"} {
		if all := w.All(); len(all) != 1 || all[0].Digest != a.digest() || all[0].Fault != "" {
			t.Errorf("%s it knows %+v", when, all)
		}
		if got := w.says("notes_do"); got != "1" {
			t.Errorf("%s it says %s", when, got)
		}
		put()
		w.catalogue.Scan()
	}
}

// changing is what differs between two spaces though nobody changed what the family may see: versions, moments and names.
var changing = regexp.MustCompile(`"(version|forked_at)":\d+|"age":[0-9.e-]+|proposals/curious/[0-9a-z-]+|\d{4}-\d\d-\d\dT[0-9:.]+Z|[0-9a-f]{64}|"id":"[^"]*"|rec:[0-9A-Z]{26}`)

// TestSearchStatisticsAndProposalsTellAFamilyNothingOfOtherNamespaces has a family that searches and proposes in work. home has nothing
// in the one space; in the other it has many memories with the words that are searched, and proposals of another family. Scores,
// counts of words, proposals and branches are the same.
func TestSearchStatisticsAndProposalsTellAFamilyNothingOfOtherNamespaces(t *testing.T) {
	answers := func(t *testing.T, secrets int) []string {
		w := open(t, nil)
		keep := func(namespace, key, value string) {
			t.Helper()
			raw, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.space.As(owner("a")).Store(t.Context(), memory.Location{Namespace: namespace}, []memory.Item{{Key: key, Value: raw}}, memory.Write{}); err != nil {
				t.Fatal(err)
			}
		}
		for i, text := range []string{"tea at work", "tea and coffee", "a kettle for the office"} {
			keep("work", fmt.Sprint("w", i), text)
		}
		for i := range secrets {
			keep("home", fmt.Sprint("h", i), "a kettle kettle kettle of coffee")
		}
		if secrets > 0 {
			foreign := aFamily("foreign")
			foreign.Capabilities = without(abi.CanMemoryWrite)
			w.with(foreign, script{steps: []step{{"memory.put", `{"items":[{"key":"h0","value":"tea proposed","namespace":"home"}]}`}}})
			result, err := w.call(given{Tool: "foreign_do", Location: memory.Location{Namespace: "home"}})
			if err != nil || result.Proposal == "" {
				t.Fatalf("no proposal at home: %+v, %v", result, err)
			}
		}
		w.waitIdle()
		m := aFamily("curious")
		m.Capabilities = nil
		for _, c := range []abi.Capability{abi.CanMemoryRead, abi.CanMemoryPropose} {
			m.Capabilities = append(m.Capabilities, abi.Request{Name: c, Scope: []string{"work"}, Reason: "to be tested"})
		}
		m.Capabilities = append(m.Capabilities, abi.Request{Name: abi.CanBranchRead, Scope: []string{"proposals/curious/*"}, Reason: "to be tested"})
		w.with(m, script{steps: []step{
			{"memory.search", `{"query":"tea kettle coffee","features":true}`}, {"memory.search", `{"query":"coffee","k":50}`}, {"memory.search", `{"query":"tea","namespaces":["*"]}`},
			{"text.count", `{"terms":["tea","kettl","coffe"]}`}, {"text.count", `{"terms":["kettl"],"namespaces":["*"]}`}, {"memory.namespaces", `{}`},
			{"memory.put", `{"items":[{"key":"w0","value":"tea for two"}]}`}, {"memory.search", `{"query":"tea kettle coffee","features":true}`}, {"branch.list", `{}`},
			{"memory.put", `{"items":[{"key":"h0","value":"taken","namespace":"home"}]}`},
		}})
		for range 2 { // the second call sees the proposal of the first
			if _, err := w.call(given{Tool: "curious_do", Location: memory.Location{Namespace: "work"}}); err != nil {
				t.Fatal(err)
			}
		}
		w.waitIdle()
		result, err := w.call(given{Tool: "curious_do", Location: memory.Location{Namespace: "work"}})
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, r := range responses(t, result.Output) {
			if r.Error != nil {
				said = append(said, fmt.Sprint(r.Error.Code, " ", r.Error.Message))
				continue
			}
			said = append(said, changing.ReplaceAllString(string(r.OK), ""))
		}
		return said
	}
	without, with := answers(t, 0), answers(t, 40)
	if !strings.Contains(without[0], "lexical") || !strings.Contains(without[0], `"w2"`) || !strings.Contains(without[3], "[2,1,1]") {
		t.Fatalf("nothing is shown by %q", without)
	}
	if last := with[len(with)-1]; !strings.Contains(last, "denied") {
		t.Errorf("a proposal for home was answered with %s", last)
	}
	for i := range without {
		if without[i] != with[i] {
			t.Errorf("operation %d depends on home:\n%s\n%s", i, without[i], with[i])
		}
	}
}
