package family

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// release is a program that carries these families.
func release(versions ...[]byte) func(*Options) {
	return func(o *Options) {
		for _, m := range versions {
			carried, err := modules.Of(m)
			if err != nil {
				panic(err)
			}
			o.Built = append(o.Built, carried)
		}
	}
}

// carrying is a module that the program carries.
func carrying(t *testing.T, packed []byte) modules.Module {
	t.Helper()
	m, err := modules.Of(packed)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// asking is a manifest that asks for these capabilities, each as NAME or NAME=SCOPE,….
func asking(name, version string, capabilities ...string) *abi.Manifest {
	m := aFamily(name)
	m.Version, m.Capabilities = version, nil
	for _, text := range capabilities {
		c, scope, scoped := strings.Cut(text, "=")
		r := abi.Request{Name: abi.Capability(c), Reason: "to be tested"}
		if scoped {
			r.Scope = strings.Split(scope, ",")
		}
		m.Capabilities = append(m.Capabilities, r)
	}
	return m
}

// grantedTo lists what a family is granted, as memory.read=work and hook rank.
func grantedTo(g registry.Grant) (list []string) {
	for _, c := range g.Capabilities {
		list = append(list, grants.CapabilityText(c, nil))
	}
	for _, h := range []abi.Hook{abi.HookJob, abi.HookRank, abi.HookStore, abi.HookStored} {
		if on, ok := g.Hooks[h]; ok {
			list = append(list, "hook "+grants.HookText(h, on))
		}
	}
	return list
}

func TestAFamilyThatIsBuiltInKeepsItsGrantWhileItsManifestIsTheSame(t *testing.T) {
	dir := t.TempDir()
	m := asking("tags", "1.0.0", "memory.read=*", "memory.write=*", "llm=*")
	m.Hooks.Store, m.Hooks.Rank = &abi.StoreHook{}, &abi.RankHook{Features: []string{"lexical"}}
	old, next := pack(t, m, script{says: `{"entries":[{"tags":["old"]}]}`}), pack(t, m, script{says: `{"entries":[{"tags":["new"]}]}`})
	want := []string{"memory.read=*", "memory.write=*", "llm=local", "hook rank", "hook store=skip"}
	t.Run("this release", func(t *testing.T) {
		w := openIn(t, dir, release(old))
		w.grant(grants.Request{Family: "tags", Capabilities: []registry.Capability{{Name: abi.CanLLM, Scope: []string{"local"}}},
			Hooks: map[abi.Hook]registry.On{abi.HookStore: {}, abi.HookRank: {}}, Limits: map[string]int64{"wall_ms": 1000}})
		if got := grantedTo(w.All()[0].Grant); !slices.Equal(got, want) {
			t.Errorf("it has %q", got)
		}
	})
	before, err := os.ReadFile(filepath.Join(dir, registry.File))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("the next release", func(t *testing.T) {
		log := &logged{}
		w := openIn(t, dir, func(o *Options) { release(next)(o); o.Logger = slog.New(slog.NewTextHandler(log, nil)) })
		d := w.All()[0]
		if got := grantedTo(d.Grant); !slices.Equal(got, want) || d.Grant.Limits["wall_ms"] != 1000 || d.Digest != modules.Digest(next) || len(d.NewlyAsked) != 0 {
			t.Errorf("it has %q: %+v", got, d)
		}
		if err := w.Load(t.Context(), "tags"); err != nil {
			t.Fatal(err)
		}
		if stored, _, err := w.keep("k", `"tea"`); err != nil || !slices.Equal(stored.Tags, []string{"new"}) {
			t.Errorf("stored %+v, %v", stored, err)
		}
		if log.count("asks for more") != 0 {
			t.Error("it is said to ask for more")
		}
	})
	if after, err := os.ReadFile(filepath.Join(dir, registry.File)); err != nil || string(after) != string(before) {
		t.Errorf("the lock file became %s, %v", after, err)
	}
	t.Run("a release with a manifest of another form", func(t *testing.T) {
		other := *m
		other.Description = "Says the same in other words."
		w := openIn(t, dir, release(pack(t, &other, script{says: `{}`})))
		if d := w.All()[0]; !slices.Equal(grantedTo(d.Grant), want) || d.Grant.Limits["wall_ms"] != 1000 || len(d.NewlyAsked) != 0 {
			t.Errorf("it has %q: %+v", grantedTo(d.Grant), d)
		}
	})
}

func TestOfAManifestThatChangedWhatItStillAsksForStaysGranted(t *testing.T) {
	dir := t.TempDir()
	one := asking("tags", "1.0.0", "memory.read=work", "memory.count=*", "record=a,b", "job", "http=*")
	one.Hooks.Store, one.Hooks.Rank = &abi.StoreHook{}, &abi.RankHook{Features: []string{"lexical"}}
	two := asking("tags", "2.0.0", "memory.read=work,home", "memory.count=work", "record=b,c", "llm=*", "http=*")
	two.Hooks.Store, two.Hooks.Rank, two.Hooks.Stored = &abi.StoreHook{}, one.Hooks.Rank, &abi.StoreHook{}
	first, second := pack(t, one, script{says: `{}`}), pack(t, two, script{says: `{}`})
	t.Run("the first release", func(t *testing.T) {
		w := openIn(t, dir, release(first))
		w.grant(grants.Request{Family: "tags", Revoke: []string{"*"}})
		w.grant(grants.Request{Family: "tags", Hooks: map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureDefer}, abi.HookRank: {}},
			Capabilities: []registry.Capability{{Name: abi.CanMemoryRead, Scope: []string{"*"}}, {Name: abi.CanMemoryCount}, {Name: abi.CanRecord}, {Name: abi.CanJob}}})
	})
	t.Run("the second release", func(t *testing.T) {
		log := &logged{}
		w := openIn(t, dir, func(o *Options) { release(second)(o); o.Logger = slog.New(slog.NewTextHandler(log, nil)) })
		d := w.All()[0]
		if got := grantedTo(d.Grant); !slices.Equal(got, []string{"memory.read=work", "memory.count=work", "record=b", "hook rank", "hook store=defer"}) {
			t.Errorf("it has %q", got)
		}
		if !slices.Equal(d.NewlyAsked, []string{"memory.read=home", "record=c", "llm", "hook stored"}) {
			t.Errorf("newly asked: %q", d.NewlyAsked)
		}
		want := "alcove family grant tags memory.read record llm --hook stored --digest " + modules.Digest(second)
		if d.GrantCommand != want || log.count("requests more than when it was granted") != 1 || log.count(want) != 1 {
			t.Errorf("the command is %s, the log %s", d.GrantCommand, log.text.String())
		}
		if x := w.catalogue.Known("tags"); !w.catalogue.Powers(x, owner(""), "").Allows(abi.CanMemoryRead, "work") || w.catalogue.Powers(x, owner(""), "").Allows(abi.CanMemoryRead, "home") {
			t.Error("its powers are others than its grant")
		}
	})
	t.Run("an operator decides, for what it is", func(t *testing.T) {
		w := openIn(t, dir, release(second))
		d := w.grant(grants.Request{Family: "tags"})
		if len(d.NewlyAsked) != 0 || !slices.Equal(grantedTo(d.Grant), []string{"memory.read=work", "memory.count=work", "record=b", "hook rank", "hook store=defer"}) {
			t.Errorf("granted %+v, want what it asked for, and nothing newly asked", d)
		}
	})
	t.Run("back to the first release", func(t *testing.T) {
		w := openIn(t, dir, release(first))
		if d := w.All()[0]; !slices.Equal(grantedTo(d.Grant), []string{"memory.read=work", "memory.count=work", "record=b", "hook rank", "hook store=defer"}) {
			t.Errorf("the family is %+v, want the grants of the first release", d)
		}
	})
}

func TestARefusingHookOfAFamilyThatIsBuiltInIsNeverOpenedByARelease(t *testing.T) {
	dir := t.TempDir()
	one, two := redactor("1.0.0"), redactor("2.0.0")
	two.Capabilities = nil
	plain := aFamily("redactor")
	t.Run("this release", func(t *testing.T) {
		w := openIn(t, dir, release(pack(t, one, redacts("one"))))
		w.grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore)})
		w.storesAs("one")
		if kept := append(w.kept(), w.kept(modules.ApprovedFolder)...); len(kept) != 0 {
			t.Errorf("kept %q", kept)
		}
	})
	t.Run("the next release", func(t *testing.T) {
		w := openIn(t, dir, release(pack(t, two, redacts("two"))))
		w.storesAs("two")
		if d := w.All()[0]; d.Guard != nil {
			t.Errorf("the family is %+v, want no guard", d)
		}
	})
	t.Run("a release whose family has no hook", func(t *testing.T) {
		w := openIn(t, dir, release(pack(t, plain, script{says: `1`})))
		w.storesNothing("does not carry it, or not with that hook", "alcove family revoke redactor store")
	})
	t.Run("a program that does not carry it", func(t *testing.T) {
		w := openIn(t, dir, nil)
		w.storesNothing("run a release of alcove that carries it", "alcove family revoke redactor store")
	})
	t.Run("revoked", func(t *testing.T) {
		w := openIn(t, dir, nil)
		w.grant(grants.Request{Family: "redactor", Revoke: []string{"store"}})
		w.storesAs("secret")
	})
	t.Run("the next release again", func(t *testing.T) {
		openIn(t, dir, release(pack(t, two, redacts("two")))).storesAs("secret")
	})
}

// lockOf writes a lock file with a grant for a digest.
func lockOf(t *testing.T, dir, name string, g registry.Grant) {
	t.Helper()
	if err := registry.Write(dir, registry.Lock{Families: map[string]registry.Grant{name: g}}); err != nil {
		t.Fatal(err)
	}
}

func TestAGrantForADigestIsNotOneForTheBuiltInFamilyOfThatName(t *testing.T) {
	m := asking("redactor", "1.1.0", "memory.read=*", "llm=*")
	m.Hooks.Store = &abi.StoreHook{OnFailure: abi.OnFailureRefuse}
	now, own := pack(t, m, redacts("now")), pack(t, redactor("9.0.0"), redacts("own"))
	grant := func(module []byte) registry.Grant {
		return registry.Grant{Digest: modules.Digest(module), Version: "1.0.0", Capabilities: []registry.Capability{{Name: abi.CanMemoryRead, Scope: []string{"work"}}},
			Hooks: map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}}}
	}
	t.Run("of a module that is not there", func(t *testing.T) {
		dir := t.TempDir()
		lockOf(t, dir, "redactor", grant(own))
		w := openIn(t, dir, release(now))
		w.storesNothing("alcove family revoke redactor store")
		if got := grantedTo(w.All()[0].Grant); slices.Contains(got, "hook store=refuse") || w.lockFile().Families["redactor"].Asked != nil {
			t.Errorf("the carried one has %q", got)
		}
	})
	t.Run("of a module that is installed", func(t *testing.T) {
		dir := t.TempDir()
		putModule(t, dir, own)
		lockOf(t, dir, "redactor", grant(own))
		w := openIn(t, dir, release(now))
		w.storesAs("own") // it was approved for that
		all := w.All()
		if len(all) != 2 || all[0].Source != grants.BuiltIn || all[0].Fault != "" || !all[1].Hidden || !strings.Contains(all[1].Fault, "the program carries") || all[0].Guard == nil {
			t.Errorf("families %+v, want the one that is built in, guarded, and the other hidden", all)
		}
		if got := grantedTo(all[0].Grant); slices.Contains(got, "hook store=refuse") || w.lockFile().Families["redactor"].Asked != nil {
			t.Errorf("the carried one has %q", got)
		}
		w.grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore)})
		w.storesAs("now")
	})
	t.Run("of a file in the watched folder", func(t *testing.T) {
		dir, folder := t.TempDir(), t.TempDir()
		writeFile(t, filepath.Join(folder, "redactor.wasm"), own)
		lockOf(t, dir, "redactor", grant(own))
		w := openIn(t, dir, func(o *Options) { release(now)(o); o.Watch = folder })
		if w.lockFile().Families["redactor"].Asked != nil {
			t.Error("the carried family has its grant")
		}
		w.storesAs("own")
	})
}

func TestAFamilyThatIsBuiltInStaysDisabledInTheNextRelease(t *testing.T) {
	dir, yes := t.TempDir(), true
	t.Run("this release", func(t *testing.T) {
		openIn(t, dir, release(pack(t, aFamily("tags"), script{says: `1`}))).grant(grants.Request{Family: "tags", Disable: &yes})
	})
	w := openIn(t, dir, release(pack(t, aFamily("tags"), script{says: `2`})))
	if got := w.says("tags_do"); !strings.Contains(got, "disabled") {
		t.Errorf("it says %s", got)
	}
}

func TestAnUpdateOfADisabledFamilyStaysDisabled(t *testing.T) {
	folder, yes := t.TempDir(), true
	w := open(t, func(o *Options) { o.Watch = folder })
	w.install(aFamily("notes"), script{says: `1`})
	w.grant(grants.Request{Family: "notes", Disable: &yes})
	if _, err := w.Install(pack(t, aFamily("notes"), script{says: `2`})); code(err) != memory.Unavailable || !strings.Contains(err.Error(), "alcove family grant notes --enable") {
		t.Errorf("an installation: %v", err)
	}
	writeFile(t, filepath.Join(folder, "notes.wasm"), pack(t, aFamily("notes"), script{says: `3`}))
	w.catalogue.Scan()
	if d := w.All()[0]; !strings.Contains(d.Fault, "disabled") || d.Source == grants.Installed {
		t.Errorf("the family is %+v, want it disabled, from the folder", d)
	}
}

func TestAFamilyThatIsBuiltInCallsTheToolsThatItsManifestNames(t *testing.T) {
	named := pack(t, asking("legacy", "1.0.0", "tools.call=tags_do,*"), script{says: `{}`})
	free := pack(t, asking("routes", "1.0.0", "tools.call=*", "llm=*", "records.read=*"), script{says: `{}`})
	w := open(t, release(named, free))
	for _, d := range w.All() {
		want := map[string][]string{"legacy": {"tools.call=tags_do"}, "routes": nil}[d.Manifest.Name]
		if got := grantedTo(d.Grant); !slices.Equal(got, want) {
			t.Errorf("%s has %q", d.Manifest.Name, got)
		}
	}
}
