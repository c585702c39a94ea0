package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/tracestest"
)

// replacingEngine is an engine whose replacements can fail.
type replacingEngine struct {
	*bolt.Engine
	replace func(list []store.Replacement) error // nil: nothing fails
}

func (e *replacingEngine) Replace(ctx context.Context, list []store.Replacement) error {
	if e.replace != nil {
		if err := e.replace(list); err != nil {
			return err
		}
	}
	return e.Engine.Replace(ctx, list)
}

// purgedSpace is a space of which is known how often its file was rewritten.
type purgedSpace struct {
	*Space
	engine   *replacingEngine
	dir      string
	rewrites int
}

func purgeable(t *testing.T) *purgedSpace {
	t.Helper()
	p := &purgedSpace{dir: t.TempDir()}
	engine, err := bolt.Open(t.Context(), p.dir, bolt.Options{Steps: func(s bolt.Step) error {
		if s == bolt.CompactSwapped {
			p.rewrites++
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	p.engine = &replacingEngine{Engine: engine}
	p.Space, err = Open(t.Context(), Options{Engine: p.engine, Index: search.New(search.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		v, err := p.Verify(context.Background())
		if len(v.Findings) != 0 {
			t.Errorf("at the end: %+v", v.Findings)
		}
		if err := errors.Join(err, p.Close(context.Background()), engine.Close()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// keep writes records, JSON by their names, as a family does.
func (p *purgedSpace) keep(t *testing.T, branch string, c Collection, records map[string]string) {
	t.Helper()
	stage, err := p.Stage(t.Context(), branch, "family:notes")
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range records {
		if err := stage.PutRecord(t.Context(), c, Default, name, json.RawMessage(value), nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := stage.Commit(t.Context(), Commit{}); err != nil {
		t.Fatal(err)
	}
}

// left are the names of the records of a collection that were not erased.
func (p *purgedSpace) left(t *testing.T, branch string, c Collection) (names []string) {
	t.Helper()
	stage, err := p.Stage(t.Context(), branch, "")
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := stage.ListRecords(t.Context(), c, Default, "", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		names = append(names, r.Key)
	}
	return names
}

func (p *purgedSpace) remember(t *testing.T, key, value string) {
	t.Helper()
	if _, err := p.Store(t.Context(), Location{}, []Item{{Key: key, Value: json.RawMessage(value)}}, Write{}); err != nil {
		t.Fatal(err)
	}
}

// has names the files of the directory with some bytes.
func (p *purgedSpace) has(t *testing.T, what string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(what)) {
			found = append(found, path)
		}
		if errors.Is(err, fs.ErrNotExist) { // a file in the making, which has its name by now
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatalf("look for %q in all files: %v", what, err)
	}
	return found
}

func keysOfCopies(c purge.Copies) (keys []string) {
	for _, found := range c.List {
		keys = append(keys, found.Collection+" "+found.Key)
	}
	slices.Sort(keys)
	return keys
}

var (
	keptRecords   = Collection{Name: "notes/kept"}
	sharedRecords = Collection{Name: "notes/shared", PerSpace: true}
)

func TestAPurgeErasesEncodedCopiesAndNamesWhatMayBeOne(t *testing.T) {
	p := purgeable(t)
	const text, key = "naïve \"secret\" <of> Zoë & co", "zoe's card"
	p.remember(t, key, `{"text":`+tracestest.JSON(text)+`,"pin":"x9!k2","phone":4155550133,"lucky":7,"colour":"blue"}`)
	copies := map[string]string{"pin": `["x9!k2"]`, "phone": `{"call":"4155550133"}`, "colour": `{"of":"zoe's card","c":"blue"}`}
	for name, encode := range tracestest.Encodings() {
		copies["text, "+name] = `{"copy":` + tracestest.JSON(encode(text)) + `}`
	}
	p.keep(t, "", keptRecords, copies)
	p.keep(t, "", sharedRecords, copies)
	p.keep(t, "", Collection{Name: "_jobs", PerSpace: true}, map[string]string{"job": `{"family":"notes","payload":` + tracestest.JSON(tracestest.JSON(text)) + `}`})
	p.keep(t, "", keptRecords, map[string]string{"blue": `{"c":"blue"}`, "seven": `[7,7,7]`, "mentions": `{"seen":["zoe's card"]}`, "other": `{"text":"harmless enough"}`, text: `1`})
	if _, err := p.Fork(t.Context(), "", "aside", AsOf{}, Write{}); err != nil {
		t.Fatal(err)
	}
	p.keep(t, "aside", keptRecords, map[string]string{"on a fork": `{"copy":` + tracestest.JSON(tracestest.JSON(text)) + `}`})
	p.remember(t, "twin", tracestest.JSON(text))
	for agent, event := range map[string]string{"family:notes": "kept", "anna": "said"} {
		if _, err := p.Append(t.Context(), Location{}, event, json.RawMessage(`{"quote":`+tracestest.JSON(text)+`}`), Write{Agent: agent}); err != nil {
			t.Fatal(err)
		}
	}
	done, err := p.Purge(t.Context(), purge.Request{Key: key})
	if err != nil || len(done.Erased) != 1 {
		t.Fatalf("Purge = %+v (%v), want one version erased", done, err)
	}
	if left := p.left(t, "", keptRecords); !slices.Equal(left, []string{"blue", "mentions", text, "other", "seven"}) {
		t.Errorf("left on the branch: %q", left)
	}
	if left := p.left(t, "aside", keptRecords); slices.Contains(left, "on a fork") {
		t.Errorf("left on the fork: %q", left)
	}
	if left := p.left(t, "", sharedRecords); len(left) != 0 {
		t.Errorf("left for all branches: %q", left)
	}
	if want := 2*len(copies) + 3; done.Copies.Records != want { // and the job, that on the fork, and the family's event
		t.Errorf("%d copies were erased, not %d: %q", done.Copies.Records, want, keysOfCopies(done.Copies))
	}
	possible := keysOfCopies(done.Possible)
	for _, want := range []string{"memory twin", "notes/kept blue", "notes/kept mentions", "notes/kept " + text} {
		if !slices.Contains(possible, want) {
			t.Errorf("%s is not named: %q", want, possible)
		}
	}
	if len(possible) != 5 || !strings.HasPrefix(possible[0], "_log ") {
		t.Errorf("named: %q", possible)
	}
	if done.Copies.List[0].Family != "notes" || done.Possible.List[0].Why == "" {
		t.Errorf("copy %+v, possible copy %+v, want the family notes, and a reason", done.Copies.List[0], done.Possible.List[0])
	}
	if n, err := p.VerifyLog(t.Context(), Location{}); err != nil || n != 2 {
		t.Errorf("%d events verify (%v)", n, err)
	}
	for _, secret := range []string{"4155550133", "x9!k2"} {
		if found := p.has(t, secret); len(found) != 0 {
			t.Errorf("%q is in %v", secret, found)
		}
	}
	if p.rewrites != 1 {
		t.Errorf("the file was rewritten %d times", p.rewrites)
	}
}

func TestWhatIsNamedCanBeErased(t *testing.T) {
	p := purgeable(t)
	p.remember(t, "k", `"blue"`)
	p.keep(t, "", keptRecords, map[string]string{"blue": `{"c":"blue"}`, "other": `{"c":"the green one"}`})
	p.keep(t, "", sharedRecords, map[string]string{"all": `"for every branch"`})
	p.keep(t, "", Collection{Name: "other/kept"}, map[string]string{"theirs": `"of another family"`})
	p.keep(t, "", Collection{Name: "_jobs", PerSpace: true}, map[string]string{"job": `{"family":"notes","payload":"a job of notes"}`, "job2": `{"family":"other"}`})
	done, err := p.Purge(t.Context(), purge.Request{Key: "k"})
	if err != nil || done.Possible.Records != 1 {
		t.Fatalf("Purge = %+v (%v), want one record that may have it", done, err)
	}
	c := done.Possible.List[0]
	if done, err := p.Purge(t.Context(), purge.Request{Collection: c.Collection, Key: c.Key, Namespace: c.Namespace}); err != nil || len(done.Erased) != 1 {
		t.Errorf("the record: %+v (%v)", done, err)
	}
	if left := p.left(t, "", keptRecords); !slices.Equal(left, []string{"other"}) {
		t.Errorf("left: %q", left)
	}
	if done, err := p.Purge(t.Context(), purge.Request{Family: "notes"}); err != nil || len(done.Erased) != 3 {
		t.Errorf("the family: %+v (%v)", done, err)
	}
	for _, text := range []string{"the green one", "for every branch", "a job of notes"} {
		if found := p.has(t, text); len(found) != 0 {
			t.Errorf("%q is in %v", text, found)
		}
	}
	if len(p.has(t, "of another family")) == 0 || len(p.left(t, "", Collection{Name: "_jobs", PerSpace: true})) != 1 {
		t.Error("another family's records are gone")
	}
	for _, wrong := range []purge.Request{{Collection: "memory", Key: "k"}, {Collection: "_log", Key: "1"}, {Collection: "notes/kept"}, {Family: "notes", Key: "k"},
		{Family: "notes", Version: 3}, {Collection: "notes/kept", Key: "a\x00b"}, {Collection: strings.Repeat("c", 5000), Key: "k"}} {
		var refused *Error
		if _, err := p.Purge(t.Context(), wrong); !errors.As(err, &refused) || refused.Code != InvalidArgument {
			t.Errorf("Purge(%.60v): %v, want an invalid argument", wrong, err)
		}
	}
	for _, gone := range []purge.Request{{Family: "notes"}, {Collection: "notes/kept", Key: "none"}} {
		var refused *Error
		if _, err := p.Purge(t.Context(), gone); !errors.As(err, &refused) || refused.Code != NotFound {
			t.Errorf("%v again: %v", gone, err)
		}
	}
}

func TestAPurgeThatFailedCanBeRepeated(t *testing.T) {
	p := purgeable(t)
	p.remember(t, "k", `"the text that has to go"`)
	p.keep(t, "", keptRecords, map[string]string{"a": `"he wrote: the text that has to go"`})
	broken := errors.New("the disk is broken")
	for fails := range 2 {
		calls := 0
		p.engine.replace = func(list []store.Replacement) error {
			if len(list) > 0 {
				calls++
			}
			if calls == fails+1 {
				return broken
			}
			return nil
		}
		if _, err := p.Purge(t.Context(), purge.Request{Key: "k"}); !errors.Is(err, broken) {
			t.Fatalf("failure %d: %v", fails, err)
		}
	}
	p.engine.replace = nil
	if done, err := p.Purge(t.Context(), purge.Request{Key: "k"}); err != nil || len(done.Erased) != 1 {
		t.Fatalf("Purge again = %+v (%v), want one version erased", done, err)
	}
	if found := p.has(t, "that has to go"); len(found) != 0 {
		t.Errorf("it is still in %v", found)
	}
}

func TestAPurgeNamesSoManyAndCountsTheRest(t *testing.T) {
	p := purgeable(t)
	p.remember(t, "k", `"a text that many have a copy of"`)
	copies, mentions := map[string]string{}, map[string]string{}
	for i := range purge.ListLimit + 50 {
		copies[fmt.Sprint("copy", i)] = `"a text that many have a copy of"`
		mentions[fmt.Sprint("mention", i)] = `{"of":"k"}`
	}
	p.keep(t, "", keptRecords, copies)
	p.keep(t, "", sharedRecords, mentions)
	done, err := p.Purge(t.Context(), purge.Request{Key: "k"})
	if err != nil || done.Copies.Records != purge.ListLimit+50 || len(done.Copies.List) != purge.ListLimit || done.Possible.Records != purge.ListLimit+50 || len(done.Possible.List) != purge.ListLimit {
		t.Errorf("%d copies (%d listed), %d possible (%d listed), %v", done.Copies.Records, len(done.Copies.List), done.Possible.Records, len(done.Possible.List), err)
	}
	if p.rewrites != 1 || len(p.left(t, "", keptRecords)) != 0 {
		t.Errorf("the file was rewritten %d times, and %d copies are left", p.rewrites, len(p.left(t, "", keptRecords)))
	}
}

// TestAPurgeOfMoreThanIsLookedForAtOnce purges more texts than are in memory at a time.
func TestAPurgeOfMoreThanIsLookedForAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it searches 20 MiB in one goroutine, where there is no race to find: it runs in the long form")
	}
	p := purgeable(t)
	const versions = purge.TraceBytes>>20 + 4
	textOf := func(i int) string { return strings.Repeat(fmt.Sprintf("version %06d ", i), 1<<20/16) }
	copies := map[string]string{}
	for i := range versions {
		p.remember(t, "k", tracestest.JSON(textOf(i)))
	}
	for _, i := range []int{0, versions / 2, versions - 1} {
		copies[fmt.Sprint("copy", i)] = tracestest.JSON(textOf(i))
	}
	p.keep(t, "", keptRecords, copies)
	done, err := p.Purge(t.Context(), purge.Request{Key: "k"})
	if err != nil || len(done.Erased) != versions || done.Copies.Records != 3 || len(p.left(t, "", keptRecords)) != 0 {
		t.Errorf("%d versions and %d copies were erased, %q are left (%v)", len(done.Erased), done.Copies.Records, p.left(t, "", keptRecords), err)
	}
}

// TestAPurgeDropsTheNotesOfCommitsThatHaveWhatIsPurged: a caller names itself, its session and its calls as it likes.
func TestAPurgeDropsTheNotesOfCommitsThatHaveWhatIsPurged(t *testing.T) {
	p := purgeable(t)
	secret := "the password is swordfish-and-more"
	p.remember(t, "k", tracestest.JSON(secret))
	for _, by := range []Caller{{Call: secret}, {Call: "harmless"}} {
		by.Rights = FullRights()
		if _, err := p.As(by).Store(t.Context(), Location{}, []Item{{Key: "other " + by.Call[:3], Value: json.RawMessage(`1`)}}, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	done, err := p.Purge(t.Context(), purge.Request{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	if keys := keysOfCopies(done.Copies); len(keys) != 1 || !strings.HasPrefix(keys[0], record.CommitNotes+" ") {
		t.Errorf("the copies are %q, not the note", keys)
	}
	if found := p.has(t, "swordfish"); len(found) > 0 {
		t.Errorf("it is still in %s", found)
	}
	found, _, err := p.As(Caller{Rights: FullRights()}).Commits(t.Context(), CommitQuery{})
	if err != nil || len(found) != 1 || found[0].Caller.Call != "harmless" {
		t.Errorf("the commits are %+v (%v)", found, err)
	}
}
