package family

import (
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/registry"
)

// aging is the manifest of a family with the name of one that the posture personal gives something.
func aging(version string) *abi.Manifest {
	m := asking("lifecycle", version, "memory.read=*", "memory.write=*", "memory.propose=*", "job")
	m.Hooks.Jobs = []abi.Job{{Name: "decay"}}
	return m
}

var (
	carefulGrant  = []string{"memory.read=*", "memory.propose=*", "job"}
	personalGrant = []string{"memory.read=*", "memory.propose=*", "job", "memory.write=*", "hook job"}
)

func (w *world) posture(p registry.Posture) Change {
	w.t.Helper()
	c, err := w.SetPosture(PostureRequest{Posture: p})
	if err != nil {
		w.t.Fatalf("set the posture %s: %v", p, err)
	}
	return c
}

func (w *world) has(name, when string, want []string) {
	w.t.Helper()
	if got := grantedTo(w.catalogue.Describe(name).Grant); !slices.Equal(got, want) {
		w.t.Errorf("%s: %s has %q, want %q", when, name, got, want)
	}
}

func TestAPostureGivesABuiltInFamilyMoreAndTakesItBack(t *testing.T) {
	dir := t.TempDir()
	w := openIn(t, dir, release(pack(t, aging("1.0.0"), script{says: `{}`})))
	w.has("lifecycle", "without a posture", carefulGrant)
	c := w.posture(registry.Personal)
	w.has("lifecycle", "personal", personalGrant)
	if got, want := c.Families, []string{"lifecycle: +memory.write, +hook job"}; !slices.Equal(got, want) {
		t.Errorf("personal changes %q, want %q", got, want)
	}
	if lock, err := registry.Read(dir); err != nil || lock.Posture != registry.Personal || len(lock.Families) != 0 {
		t.Errorf("the lock file has %+v, %v, want the posture and no grant", lock, err)
	}
	if d := w.catalogue.Describe("lifecycle"); !slices.Equal(d.ByPosture, []string{"memory.write", "hook job"}) {
		t.Errorf("by the posture it has %q, want memory.write and hook job", d.ByPosture)
	}
	w.posture(registry.Careful)
	w.has("lifecycle", "careful", carefulGrant)
}

func TestAFamilyFromElsewhereGetsNothingFromAPosture(t *testing.T) {
	w := open(t, nil)
	if _, err := w.InstallFrom(Installation{Module: pack(t, aging("1.0.0"), script{says: `{}`})}); err != nil {
		t.Fatal(err)
	}
	w.posture(registry.Personal)
	w.has("lifecycle", "installed", nil)
	if _, err := w.Grant(grants.Request{Family: "lifecycle", Follow: true}); err == nil || !strings.Contains(err.Error(), "did not come with the program") {
		t.Errorf("it is to follow the posture: %v, want a refusal", err)
	}
}

func TestWhatAnOperatorGrantedOrDeniedWinsOverThePosture(t *testing.T) {
	w := open(t, release(pack(t, aging("1.0.0"), script{says: `{}`})))
	w.posture(registry.Personal)
	w.grant(grants.Request{Family: "lifecycle", Capabilities: []registry.Capability{{Name: abi.CanMemoryWrite, Scope: []string{"work"}}}})
	w.has("lifecycle", "with a grant of less", []string{"memory.read=*", "memory.propose=*", "job", "memory.write=work", "hook job"})
	w.grant(grants.Request{Family: "lifecycle", Revoke: []string{"memory.write"}, Hooks: map[abi.Hook]registry.On{abi.HookJob: {}}})
	w.has("lifecycle", "denied a capability", []string{"memory.read=*", "memory.propose=*", "job", "hook job"})
	w.posture(registry.Careful)
	w.posture(registry.Personal)
	w.has("lifecycle", "after another posture", []string{"memory.read=*", "memory.propose=*", "job", "hook job"})
	w.grant(grants.Request{Family: "lifecycle", Revoke: []string{"*"}})
	w.has("lifecycle", "with everything revoked", nil)
	w.grant(grants.Request{Family: "lifecycle", Follow: true})
	w.has("lifecycle", "following again", []string{"memory.write=*", "hook job"})
}

func TestAGrantUnderPersonalDoesNotOutliveIt(t *testing.T) {
	w := open(t, release(pack(t, aging("1.0.0"), script{says: `{}`})))
	w.posture(registry.Personal)
	w.grant(grants.Request{Family: "lifecycle", Limits: map[string]int64{"wall_ms": 1000}})
	w.has("lifecycle", "personal", personalGrant)
	w.posture(registry.Careful)
	w.has("lifecycle", "careful", carefulGrant)
}

// A lock file from before there were postures has revocations that it does not name.
func TestAGrantFromBeforeThereWerePosturesStaysWhatItWas(t *testing.T) {
	dir := t.TempDir()
	module := pack(t, aging("1.0.0"), script{says: `{}`})
	func() {
		w := openIn(t, dir, release(module))
		w.grant(grants.Request{Family: "lifecycle", Revoke: []string{"job"}})
	}()
	lock, err := registry.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	g := lock.Families["lifecycle"]
	g.Follows, g.Denied = false, nil
	lock.Families["lifecycle"] = g
	if err := registry.Write(dir, lock); err != nil {
		t.Fatal(err)
	}
	w := openIn(t, t.TempDir(), func(o *Options) { release(module)(o); o.Lock = &lock })
	w.posture(registry.Personal)
	w.has("lifecycle", "personal", []string{"memory.read=*", "memory.propose=*"})
	if s := w.Posture(); len(s.Gives) != 1 || !s.Gives[0].Decided {
		t.Errorf("the posture says %+v, want that an operator decided", s.Gives)
	}
}

func TestAServerThatOthersBeginToUseBecomesCareful(t *testing.T) {
	w, log := audited(t)
	if done, err := w.Narrow("it gets an API key"); done || err != nil {
		t.Errorf("without a posture: narrowed %t, %v, want neither", done, err)
	}
	w.posture(registry.Personal)
	if done, err := w.Narrow("it gets an API key"); !done || err != nil || w.Posture().Posture != registry.Careful {
		t.Errorf("narrowed %t, %v, to %s, want careful", done, err, w.Posture().Posture)
	}
	changed := log.of(audit.Changed)
	if last := changed[len(changed)-1]; !strings.Contains(last.Agent, "it gets an API key") || !strings.Contains(last.Detail, `+  "posture": "careful"`) {
		t.Errorf("the audit log has %+v last, want why and the change", last)
	}
	if _, err := w.SetPosture(PostureRequest{Posture: registry.Personal, Shared: true}); err != nil {
		t.Fatal(err)
	}
	if done, err := w.Narrow("it gets another"); done || err != nil || w.Posture().Posture != registry.Personal {
		t.Errorf("chosen for others: narrowed %t, %v, to %s, want personal", done, err, w.Posture().Posture)
	}
}

func TestALockedDirectoryHasNothingOfThePosture(t *testing.T) {
	w := open(t, release(pack(t, aging("1.0.0"), script{says: `{}`})))
	w.posture(registry.Personal)
	if _, err := w.LockDown(); err != nil {
		t.Fatal(err)
	}
	w.has("lifecycle", "locked", carefulGrant)
	if _, err := w.SetPosture(PostureRequest{Posture: registry.Careful}); err == nil || !strings.Contains(err.Error(), "the server is locked") {
		t.Errorf("the posture of a locked directory is set: %v, want a refusal", err)
	}
}

func TestPosturesThatAreNoneAreRefused(t *testing.T) {
	w := open(t, nil)
	for _, p := range []registry.Posture{"", "locked", "Personal", "wide\x1b[2J"} {
		if _, err := w.SetPosture(PostureRequest{Posture: p}); err == nil || !strings.Contains(err.Error(), "is not one of personal, careful") {
			t.Errorf("posture %q: %v, want a refusal that names those that there are", p, err)
		}
	}
}
