package family

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/outside/files"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

var (
	putFile   = step{"file.write", `{"root":"notes","files":[{"path":"new.md","content":"new"}]}`}
	readFile  = step{"file.read", `{"root":"notes","paths":["work/plan.md"]}`}
	listFiles = step{"file.list", `{"root":"notes"}`}
)

// withNotes opens a world with the root notes, and returns its directory.
func withNotes(t *testing.T, r registry.Root, change func(*Options)) (*world, string) {
	t.Helper()
	w := open(t, func(o *Options) {
		o.Files = &files.Files{Private: []string{o.Dir}}
		if change != nil {
			change(o)
		}
	})
	r.Dir = sampleNotes(t)
	if err := w.SetRoot("notes", &r); err != nil {
		t.Fatal(err)
	}
	return w, r.Dir
}

func hasFile(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "new.md"))
	return err == nil
}

func TestAFamilyUsesOnlyRootsThatItWasGranted(t *testing.T) {
	w, dir := withNotes(t, registry.Root{}, nil)
	w.with(aFamily("tidy"), script{steps: []step{listFiles, readFile, putFile, {"file.list", `{"root":"home"}`}, {"file.list", `{}`}}})
	if _, err := w.Grant(grants.Request{Family: "tidy", Revoke: []string{"*"}}); err != nil {
		t.Fatal(err)
	}
	refused := func(steps ...int) {
		t.Helper()
		got, _ := w.do("tidy")
		for i, r := range got {
			if (r.Error != nil && r.Error.Code == abi.CodeDenied) != slices.Contains(steps, i) {
				t.Errorf("step %d: %s, %+v", i, r.OK, r.Error)
			}
		}
	}
	refused(0, 1, 2, 3, 4)
	if hasFile(dir) {
		t.Error("it was written")
	}
	if _, err := w.Grant(grants.Request{Family: "tidy", Capabilities: []registry.Capability{{Name: abi.CanFileRead, Scope: []string{"notes"}}}}); err != nil {
		t.Fatal(err)
	}
	refused(2, 3)
	if err := w.SetRoot("notes", nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := w.do("tidy"); got[0].Error == nil || got[0].Error.Code != abi.CodeUnavailable {
		t.Errorf("without the name: %s, %+v", got[0].OK, got[0].Error)
	}
	if w.SetRoot("notes", nil) == nil || w.SetRoot("own", &registry.Root{Dir: w.dir}) == nil || w.SetRoot("near", &registry.Root{Dir: "notes"}) == nil {
		t.Error("a root that is none was set")
	}
}

func TestACallerUsesARootOfItsNamespacesAlone(t *testing.T) {
	for _, c := range []struct {
		of          string // the namespace of the root
		rights      memory.Rights
		read, write bool
	}{
		{"", memory.FullRights(), true, true},
		{"", memory.RightsTo(nil, []string{"default", "team/*"}), false, false},
		{"", memory.RightsTo([]string{"*"}, []string{"default"}), true, false},
		{"team", memory.RightsTo(nil, []string{"default"}), false, false},
		{"team", memory.RightsTo([]string{"team"}, []string{"default"}), true, false},
		{"team", memory.RightsTo(nil, []string{"default", "team"}), true, true},
	} {
		w, dir := withNotes(t, registry.Root{Namespace: c.of}, nil)
		w.with(aFamily("tidy"), script{steps: []step{listFiles, readFile, putFile}})
		r, err := w.call(given{Tool: "tidy_do", Caller: memory.Caller{Agent: "a", Rights: c.rights}})
		if err != nil {
			t.Fatal(err)
		}
		got := responses(t, r.Output)
		if (got[0].Error == nil) != c.read || (got[1].Error == nil) != c.read || (got[2].Error == nil) != c.write || hasFile(dir) != c.write {
			t.Errorf("caller %+v: answers %+v, want it to read: %t, and to write: %t", c, got, c.read, c.write)
		}
		if !c.read && strings.Contains(string(r.Output), "plan.md") {
			t.Errorf("caller %+v is answered %s, want nothing of plan.md", c, r.Output)
		}
	}
}

func TestADryRunWritesNoFile(t *testing.T) {
	w, dir := withNotes(t, registry.Root{}, nil)
	w.with(aFamily("tidy"), script{steps: []step{readFile, putFile}})
	r, err := w.call(given{Tool: "tidy_do", DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := responses(t, r.Output); got[0].Error != nil || got[1].Error == nil || hasFile(dir) {
		t.Errorf("a dry run = %+v, want the file read, and none written", got)
	}
	if want := []string{"dry run: a write of 1 files to notes, new.md first, was not sent"}; !slices.Equal(r.Notes, want) {
		t.Errorf("noted %q", r.Notes)
	}
}

// overtaking are files whose every write is followed by a change of the memory hot.
type overtaking struct {
	*files.Files
	writes int
	then   func()
}

func (o *overtaking) Write(ctx context.Context, r registry.Root, q abi.FileWriteRequest, leaving func(context.Context) error) (abi.FileWriteResponse, error) {
	o.writes++
	answer, err := o.Files.Write(ctx, r, q, leaving)
	o.then()
	return answer, err
}

func TestACallThatWroteAFileIsNotRepeated(t *testing.T) {
	o := &overtaking{Files: &files.Files{}}
	w, dir := withNotes(t, registry.Root{}, func(options *Options) { options.Files = o })
	o.then = func() {
		if _, err := w.space.As(owner("")).Store(t.Context(), memory.Location{}, []memory.Item{{Key: "hot", Value: json.RawMessage(`"theirs"`)}}, memory.Write{}); err != nil {
			t.Error(err)
		}
	}
	w.with(aFamily("tidy"), script{steps: []step{readHot, putFile, writeHot}})
	_, err := w.call(given{Tool: "tidy_do", RequestID: "r"})
	if err == nil || retryable(err) || details(err)["sent"] == nil || o.writes != 1 || !hasFile(dir) || w.value("", "hot") != `"theirs"` {
		t.Errorf("%v after %d writes; %v", err, o.writes, details(err))
	}
	if _, err := w.call(given{Tool: "tidy_do", RequestID: "r"}); err == nil || o.writes != 1 {
		t.Errorf("the same request again: %v after %d writes", err, o.writes)
	}
}
