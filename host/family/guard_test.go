package family

import (
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/registry"
)

// redactor is a family without which nothing may be stored.
func redactor(version string) *abi.Manifest {
	m := onStore("redactor", abi.OnFailureRefuse)
	m.Version, m.Hooks.Store.Redacts = version, true
	return m
}

// redacts is a script that stores a word in place of every value.
func redacts(word string) script { return script{says: `{"entries":[{"value":"` + word + `"}]}`} }

// storesAs checks what a secret is stored as.
func (w *world) storesAs(want string) {
	w.t.Helper()
	if m, notes, err := w.keep("k", `"secret"`); err != nil || string(m.Value) != `"`+want+`"` || len(notes) != 0 {
		w.t.Errorf("stored %+v with the notes %q, %v; want %s", m, notes, err, want)
	}
}

// storesNothing checks that nothing can be stored, and that the error names commands.
func (w *world) storesNothing(commands ...string) {
	w.t.Helper()
	_, _, err := w.keep("k", `"secret"`)
	if code(err) != memory.Unavailable || w.value("", "k") == `"secret"` {
		w.t.Errorf("a store: %v", err)
		return
	}
	for _, c := range commands {
		if !strings.Contains(err.Error(), c) {
			w.t.Errorf("it does not name %q: %v", c, err)
		}
	}
}

func (w *world) install(m *abi.Manifest, s script) catalogue.Described {
	w.t.Helper()
	d, err := w.Install(pack(w.t, m, s))
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func (w *world) grant(r grants.Request) catalogue.Described {
	w.t.Helper()
	d, err := w.Grant(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// kept are the digests of modules in the folder of a data directory.
func (w *world) kept(folder ...string) []string {
	w.t.Helper()
	entries, err := os.ReadDir(filepath.Join(append([]string{w.dir, modules.Folder}, folder...)...))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	var digests []string
	for _, e := range entries {
		if digest, ok := strings.CutSuffix(e.Name(), modules.Extension); ok {
			digests = append(digests, digest)
		}
	}
	return digests
}

func (w *world) lockFile() registry.Lock {
	w.t.Helper()
	l, err := registry.Read(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

func TestAGrantWithoutAWordKeepsWhatTheManifestSaysOfFailures(t *testing.T) {
	for _, says := range []abi.OnFailure{"", abi.OnFailureSkip, abi.OnFailureDefer, abi.OnFailureRefuse} {
		want := says
		if want == "" {
			want = abi.OnFailureSkip
		}
		w := open(t, nil)
		w.install(onStore("hookchaos", says), script{traps: true})
		d := w.grant(grants.Request{Family: "hookchaos", All: true, Hooks: hookOn(abi.HookStore)})
		if got := d.Grant.Hooks[abi.HookStore].OnFailure; got != want || w.lockFile().Families["hookchaos"].Hooks[abi.HookStore].OnFailure != want {
			t.Errorf("%q becomes %q", says, got)
		}
		if err := w.Load(t.Context(), "hookchaos"); err != nil {
			t.Fatal(err)
		}
		if says == abi.OnFailureRefuse {
			w.storesNothing()
		} else if _, notes, err := w.keep("k", `"tea"`); err != nil || len(notes) != 1 {
			t.Errorf("manifest says %q: notes %q, %v, want it stored with one note", says, notes, err)
		}
	}
}

func TestAnOperatorMayOverruleTheManifestAndSilenceDoesNotGoBackOnRefuse(t *testing.T) {
	w := open(t, nil)
	w.install(redactor("1.0.0"), script{traps: true})
	skip := map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureSkip}}
	if d := w.grant(grants.Request{Family: "redactor", Hooks: skip}); d.Grant.Hooks[abi.HookStore].OnFailure != abi.OnFailureSkip {
		t.Errorf("granted %+v, want the store hook to skip", d.Grant)
	}
	w.install(onStore("tagger", abi.OnFailureSkip), script{says: `{}`})
	refuse := map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}}
	w.grant(grants.Request{Family: "tagger", Hooks: refuse})
	if d := w.grant(grants.Request{Family: "tagger", Hooks: hookOn(abi.HookStore)}); d.Grant.Hooks[abi.HookStore].OnFailure != abi.OnFailureRefuse {
		t.Errorf("a grant without a word made it %q", d.Grant.Hooks[abi.HookStore].OnFailure)
	}
	if d := w.grant(grants.Request{Family: "tagger", Hooks: skip}); d.Grant.Hooks[abi.HookStore].OnFailure != abi.OnFailureSkip {
		t.Errorf("an explicit skip made it %q", d.Grant.Hooks[abi.HookStore].OnFailure)
	}
	w.install(onRank("ranks"), script{says: `{}`})
	if _, err := w.Grant(grants.Request{Family: "ranks", Hooks: map[abi.Hook]registry.On{abi.HookRank: {OnFailure: abi.OnFailureRefuse}}}); code(err) != memory.InvalidArgument {
		t.Errorf("rank=refuse: %v", err)
	}
}

func TestAStoreHookThatALockFileTurnsOnWithoutAWordDoesAsItsManifestSays(t *testing.T) {
	w := open(t, nil)
	d := w.install(redactor("1.0.0"), script{traps: true})
	l := w.lockFile()
	l.Families["redactor"] = registry.Grant{Digest: d.Digest, Hooks: hookOn(abi.HookStore)}
	if err := registry.Write(w.dir, l); err != nil {
		t.Fatal(err)
	}
	await.That(t, "the lock file is followed", func() bool { return len(w.All()[0].Grant.Hooks) == 1 })
	w.storesNothing()
	l.Families["redactor"] = registry.Grant{Digest: modules.Digest([]byte("a module that is not there")), Hooks: hookOn(abi.HookStore)}
	if err := registry.Write(w.dir, l); err != nil {
		t.Fatal(err)
	}
	await.That(t, "it is followed again", func() bool { return strings.Contains(w.All()[0].Fault, "not there") })
	w.storesNothing("alcove family revoke redactor store") // nobody knows what its manifest says
	tagger := pack(t, onStore("redactor", abi.OnFailureSkip), script{traps: true})
	putModule(t, w.dir, tagger)
	l.Families["redactor"] = registry.Grant{Digest: modules.Digest(tagger), Hooks: hookOn(abi.HookStore)}
	if err := registry.Write(w.dir, l); err != nil {
		t.Fatal(err)
	}
	await.That(t, "one that says skip is skipped", func() bool { m, _, err := w.keep("k", `"secret"`); return err == nil && m != nil })
}

// updates is the whole life of a redactor: it goes on step by step, with a restart after each.
func TestAnUpdateByCommandNeverOpensARefusingHook(t *testing.T) {
	dir := t.TempDir()
	var one, two, three string
	step := func(name string, do func(w *world)) {
		t.Run(name, func(t *testing.T) { do(openIn(t, dir, nil)) })
	}
	step("1.0.0 is granted its hook", func(w *world) {
		one = w.install(redactor("1.0.0"), redacts("one")).Digest
		d := w.grant(grants.Request{Family: "redactor", Capabilities: []registry.Capability{{Name: abi.CanMemoryRead, Scope: []string{"work"}}},
			Hooks: hookOn(abi.HookStore), Limits: map[string]int64{"wall_ms": 1500}})
		if d.Guard != nil || d.Grant.Hooks[abi.HookStore].OnFailure != abi.OnFailureRefuse {
			w.t.Errorf("the family is %+v, want a store hook that refuses, and no guard", d)
		}
		w.storesAs("one")
	})
	step("2.0.0 is installed", func(w *world) {
		d := w.install(redactor("2.0.0"), redacts("two"))
		two = d.Digest
		if d.Guard == nil || d.Guard.Digest != one || d.Guard.Version != "1.0.0" || len(d.Grant.Capabilities)+len(d.Grant.Hooks) != 0 {
			w.t.Errorf("the guard is %+v, the grant %+v", d.Guard, d.Grant)
		}
		if d.Update == nil || d.Update.Version != "1.0.0" || !slices.Equal(d.Update.Dropped, []string{"memory.read=work", "limit wall_ms=1500"}) {
			w.t.Errorf("the update is %+v", d.Update)
		}
		if want := "alcove family grant redactor memory.read=work --hook store=refuse --limit wall_ms=1500 --digest " + two; d.GrantCommand != want {
			w.t.Errorf("the command is %s", d.GrantCommand)
		}
		w.storesAs("one")
	})
	step("it was restarted", func(w *world) {
		w.storesAs("one")
		if got := w.says("redactor_do"); !strings.Contains(got, "two") {
			w.t.Errorf("its tools are those of the new version: %s", got)
		}
	})
	step("3.0.0 is installed on top", func(w *world) {
		d := w.install(redactor("3.0.0"), redacts("three"))
		three = d.Digest
		if d.Guard == nil || d.Guard.Digest != one || d.Update != nil || !strings.Contains(d.GrantCommand, "memory.read=work --hook store=refuse") {
			w.t.Errorf("guard %+v, update %+v, command %s, want the guard 1.0.0, no update, and a command for both grants", d.Guard, d.Update, d.GrantCommand)
		}
		w.storesAs("one")
	})
	step("3.0.0 is granted a capability and no hook", func(w *world) {
		d := w.grant(grants.Request{Family: "redactor", Capabilities: []registry.Capability{{Name: abi.CanMemoryRead}}})
		if d.Guard == nil || d.Ended != nil {
			w.t.Errorf("the family is %+v, want the guard kept", d)
		}
		w.storesAs("one")
	})
	step("it is disabled and enabled", func(w *world) {
		yes, no := true, false
		w.grant(grants.Request{Family: "redactor", Disable: &yes})
		w.storesAs("secret")
		w.grant(grants.Request{Family: "redactor", Disable: &no})
		w.storesAs("one")
	})
	step("1.0.0 is installed again", func(w *world) {
		d := w.install(redactor("1.0.0"), redacts("one"))
		if d.Guard != nil || d.Digest != one || d.Grant.Hooks[abi.HookStore].OnFailure != abi.OnFailureRefuse || d.Grant.Limits["wall_ms"] != 1500 ||
			len(d.Grant.Capabilities) != 1 || !slices.Equal(d.Grant.Capabilities[0].Scope, []string{"work"}) {
			w.t.Errorf("the family is %+v, want 1.0.0 with all of its grants, and no guard", d)
		}
		w.storesAs("one")
	})
	step("2.0.0 is installed and granted the hook", func(w *world) {
		w.install(redactor("2.0.0"), redacts("two"))
		d := w.grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore), Digest: two})
		if d.Guard != nil || d.Ended == nil || d.Ended.Digest != one {
			w.t.Errorf("the family is %+v, want the guard 1.0.0 ended", d)
		}
		w.storesAs("two")
		if kept := w.kept(); !slices.Equal(kept, slices.Sorted(slices.Values([]string{one, two}))) {
			w.t.Errorf("kept are %q, and not the present version and the one to roll back to", kept)
		}
	})
	step("the hook is revoked while another version serves it", func(w *world) {
		w.install(redactor("3.0.0"), redacts("three"))
		w.storesAs("two")
		d := w.grant(grants.Request{Family: "redactor", Revoke: []string{"store"}})
		if d.Guard != nil || d.Ended == nil || d.Ended.Digest != two || slices.Contains(w.kept(), one) || slices.Contains(w.kept(modules.ApprovedFolder), two) {
			w.t.Errorf("%+v, kept %q", d, w.kept())
		}
		w.storesAs("secret")
	})
	step("an explicit skip of the new version ends it", func(w *world) {
		w.grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore)})
		w.install(redactor("4.0.0"), script{traps: true})
		w.storesAs("three")
		w.grant(grants.Request{Family: "redactor", Hooks: map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureSkip}}})
		if err := w.Load(w.t.Context(), "redactor"); err != nil {
			w.t.Fatal(err)
		}
		if m, notes, err := w.keep("k", `"secret"`); err != nil || string(m.Value) != `"secret"` || len(notes) != 1 {
			w.t.Errorf("stored %+v with notes %q, %v, want the secret as it is, with one note", m, notes, err)
		}
	})
	step("it is removed with the version that serves its hook", func(w *world) {
		w.install(redactor("1.0.0"), redacts("one"))
		w.grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore)})
		w.install(redactor("2.0.0"), redacts("two"))
		w.storesAs("one")
		r, err := w.Remove("redactor")
		if err != nil || r.Digest != two || r.Guard == nil || r.Guard.Digest != one || r.Guard.Version != "1.0.0" {
			w.t.Errorf("Remove = %+v, %v, want 2.0.0 removed with the guard 1.0.0", r, err)
		}
		w.storesAs("secret")
		if kept := append(w.kept(), w.kept(modules.ApprovedFolder)...); len(kept) != 0 {
			w.t.Errorf("left behind: %q, 3.0.0 is %s", kept, three)
		}
	})
}

func TestAnUpdateByFileNeverOpensARefusingHook(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	file := filepath.Join(folder, "redactor.wasm")
	versions := map[string][]byte{}
	for _, word := range []string{"one", "two", "three"} {
		versions[word] = pack(t, redactor("1.0.0"), redacts(word))
	}
	hookless := aFamily("redactor")
	versions["hookless"] = pack(t, hookless, script{says: `1`})
	digest := func(word string) string { return modules.Digest(versions[word]) }
	step := func(name string, do func(w *world)) {
		t.Run(name, func(t *testing.T) { do(openIn(t, dir, func(o *Options) { o.Watch = folder })) })
	}
	becomes := func(w *world, word string) {
		w.t.Helper()
		writeFile(w.t, file, versions[word])
		await.That(w.t, word+" comes", func() bool { return w.All()[0].Digest == digest(word) })
	}
	writeFile(t, file, versions["one"])
	step("one is granted its hook, and kept", func(w *world) {
		w.grant(grants.Request{Family: "redactor", All: true, Hooks: hookOn(abi.HookStore)})
		w.storesAs("one")
		if !slices.Equal(w.kept(modules.ApprovedFolder), []string{digest("one")}) || len(w.kept()) != 0 {
			w.t.Errorf("kept %q, installed %q", w.kept(modules.ApprovedFolder), w.kept())
		}
	})
	step("its file is replaced, by a rename", func(w *world) {
		becomes(w, "two")
		w.storesAs("one")
		d := w.All()[0]
		if d.Guard == nil || d.Guard.Digest != digest("one") || d.Update == nil || !slices.Contains(d.Update.Dropped, "memory.read=*") ||
			!strings.HasPrefix(d.GrantCommand, "alcove family grant redactor memory.read ") || !strings.HasSuffix(d.GrantCommand, "--hook store=refuse --digest "+digest("two")) {
			w.t.Errorf("guard %+v, update %+v, command %s, want the first file as guard, and a command for what was dropped", d.Guard, d.Update, d.GrantCommand)
		}
	})
	step("its file is replaced while the server is down", func(w *world) { w.storesAs("one") })
	step("its file is truncated", func(w *world) {
		if err := os.WriteFile(file, versions["three"][:100], 0o600); err != nil {
			w.t.Fatal(err)
		}
		w.catalogue.Scan()
		w.storesAs("one")
	})
	step("it begins with the truncated file", func(w *world) { w.storesAs("one") })
	step("the new version has no hook", func(w *world) {
		becomes(w, "hookless")
		w.storesAs("one")
		if d := w.All()[0]; strings.Contains(d.GrantCommand, "--hook") {
			w.t.Errorf("the command is %s", d.GrantCommand)
		}
	})
	step("its file is deleted", func(w *world) {
		if err := os.Remove(file); err != nil {
			w.t.Fatal(err)
		}
		await.That(w.t, "it goes", func() bool { return strings.Contains(w.All()[0].Fault, "not there") })
		w.storesAs("one")
		if d := w.All()[0]; d.Guard == nil || d.Guard.Missing != "" {
			w.t.Errorf("the family is %+v, want a guard that is there", d)
		}
	})
	step("it begins without the file", func(w *world) { w.storesAs("one") })
	step("its file comes back", func(w *world) {
		becomes(w, "one")
		w.storesAs("one")
		if d := w.All()[0]; d.Guard != nil || len(d.Grant.Hooks) != 1 || len(d.Grant.Capabilities) == 0 {
			w.t.Errorf("the family is %+v, want its hook and capabilities, and no guard", d)
		}
	})
	step("the next version is granted a capability, and then the hook", func(w *world) {
		becomes(w, "two")
		d := w.grant(grants.Request{Family: "redactor", Capabilities: []registry.Capability{{Name: abi.CanMemoryRead}}})
		if d.Guard == nil || w.lockFile().Families["redactor"].Guard.Digest != digest("one") {
			w.t.Errorf("the family is %+v, want the first file as guard", d)
		}
		w.storesAs("one")
		w.grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore)})
		w.storesAs("two")
		if !slices.Equal(w.kept(modules.ApprovedFolder), []string{digest("two")}) {
			w.t.Errorf("kept %q", w.kept(modules.ApprovedFolder))
		}
	})
	step("it is revoked while its file is gone", func(w *world) {
		if err := os.Remove(file); err != nil {
			w.t.Fatal(err)
		}
		await.That(w.t, "it goes", func() bool { return strings.Contains(w.All()[0].Fault, "not there") })
		w.storesAs("two")
		if _, err := w.Grant(grants.Request{Family: "redactor", All: true}); err == nil {
			w.t.Error("what is not there was granted something")
		}
		d := w.grant(grants.Request{Family: "redactor", Revoke: []string{"store"}})
		if d.Ended == nil && len(w.kept(modules.ApprovedFolder)) != 0 {
			w.t.Errorf("%+v, kept %q", d, w.kept(modules.ApprovedFolder))
		}
		w.storesAs("secret")
	})
}

func TestTheApprovedVersionServesItsHookWithItsPowersAndItsConfiguration(t *testing.T) {
	one := redactor("1.0.0")
	one.Config = []abi.Setting{{Key: "word", Default: json.RawMessage(`"default"`)}}
	one.Collections = []abi.Collection{{Name: "seen", Per: "space"}}
	w := open(t, nil)
	w.install(one, script{steps: []step{{"record.put", `{"collection":"seen","items":[{"key":"last","value":1}]}`}}, says: `{"entries":[{"value":"one"}]}`})
	w.grant(grants.Request{Family: "redactor", Capabilities: []registry.Capability{{Name: abi.CanRecord, Scope: []string{"seen"}}}, Hooks: hookOn(abi.HookStore)})
	if _, err := w.Configure(t.Context(), "redactor", map[string]json.RawMessage{"word": json.RawMessage(`"mine"`)}); err != nil {
		t.Fatal(err)
	}
	w.install(redactor("2.0.0"), redacts("two"))
	w.storesAs("one")
	x := w.catalogue.Guard("redactor")
	names := func(g registry.Grant) (list []abi.Capability) {
		for _, c := range g.Capabilities {
			list = append(list, c.Name)
		}
		return list
	}
	if got := names(w.catalogue.GrantOf(x)); !slices.Equal(got, []abi.Capability{abi.CanRecord}) {
		t.Errorf("it has %v", got)
	}
	if got := names(w.catalogue.GrantOf(w.catalogue.Known("redactor"))); len(got) != 0 {
		t.Errorf("the new version has %v", got)
	}
	stage, err := w.space.As(owner("")).Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if values, err := w.settingsOf(x, stage).Values(t.Context(), config.For{Family: x.Name}); err != nil || string(values["word"]) != `"mine"` {
		t.Errorf("its configuration is %s, %v", values, err)
	}
	await.That(t, "what it keeps is committed", func() bool {
		stage, err := w.space.As(owner("")).Stage(t.Context(), "")
		if err != nil {
			return false
		}
		found, err := stage.Records(t.Context(), memory.Collection{Name: "redactor/seen", PerSpace: true}, "default", []string{"last"})
		return err == nil && found[0] != nil
	})
	granted := w.catalogue.GrantOf(x)
	if _, on := granted.Hooks[abi.HookJob]; on || len(granted.Hooks) != 1 {
		t.Errorf("its hooks are %v", granted.Hooks)
	}
}

func TestWithoutTheApprovedModuleWritesAreRefusedWithTheCommandsThatMendIt(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	file := filepath.Join(folder, "redactor.wasm")
	one, two := pack(t, redactor("1.0.0"), redacts("one")), pack(t, redactor("2.0.0"), redacts("two"))
	watching := func(o *Options) { o.Watch = folder }
	writeFile(t, file, one)
	t.Run("granted", func(t *testing.T) {
		openIn(t, dir, watching).grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore)})
	})
	kept := filepath.Join(dir, modules.Folder, modules.ApprovedFolder, modules.Digest(one)+modules.Extension)
	if err := os.WriteFile(kept, one[:len(one)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("the file is there: it is kept again", func(t *testing.T) {
		openIn(t, dir, watching).storesAs("one")
		if data, err := os.ReadFile(kept); err != nil || modules.Digest(data) != modules.Digest(one) {
			t.Errorf("it was not kept: %v", err)
		}
	})
	writeFile(t, file, two)
	if err := os.WriteFile(kept, one[:len(one)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("another version is there", func(t *testing.T) {
		w := openIn(t, dir, watching)
		command := "alcove family grant redactor --hook store --digest " + modules.Digest(two)
		w.storesNothing("was changed since it was approved", command, "alcove family revoke redactor store")
		if d := w.All()[0]; d.Guard == nil || d.Guard.Missing == "" {
			t.Errorf("the family is %+v, want a guard that is missing", d)
		}
	})
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(kept); err != nil {
		t.Fatal(err)
	}
	t.Run("nothing is there", func(t *testing.T) {
		w := openIn(t, dir, watching)
		w.storesNothing("no longer exists", "SHA-256 "+modules.Digest(one), "alcove family install", "alcove family revoke redactor store")
		if _, err := w.Install(one); err != nil {
			t.Fatal(err)
		}
		w.storesAs("one")
	})
	t.Run("revoked", func(t *testing.T) {
		if err := os.Remove(filepath.Join(dir, modules.Folder, modules.Digest(one)+modules.Extension)); err != nil {
			t.Fatal(err)
		}
		w := openIn(t, dir, nil)
		w.storesNothing("alcove family revoke redactor store")
		w.grant(grants.Request{Family: "redactor", Revoke: []string{"store"}})
		w.storesAs("secret")
	})
}

func TestAGuardIsServedWhenItsFamilyCannotBeUsed(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	t.Run("granted", func(t *testing.T) {
		w := openIn(t, dir, nil)
		w.install(redactor("1.0.0"), redacts("one"))
		w.grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore)})
	})
	first := aFamily("first")
	first.Tools[0].Name = "redactor_do"
	carried := pack(t, first, script{says: `1`})
	t.Run("another family has its tool", func(t *testing.T) {
		w := openIn(t, dir, func(o *Options) { o.Built = []modules.Module{carrying(t, carried)} })
		if d := w.All()[1]; !strings.Contains(d.Fault, "redactor_do of family first") || d.Guard == nil {
			t.Errorf("the family is %+v, want a guard, and the fault of its tool", d)
		}
		w.storesAs("one")
	})
	writeFile(t, filepath.Join(folder, "r.wasm"), pack(t, redactor("2.0.0"), redacts("two")))
	t.Run("locked", func(t *testing.T) {
		w := openIn(t, dir, func(o *Options) { o.Watch, o.Locked = folder, true })
		if d := w.All()[0]; d.Source != grants.Installed || d.Fault != "" { // a locked server looks at no folder
			t.Errorf("the family is %+v, want the installed one without a fault", d)
		}
		w.storesAs("one")
	})
}

func TestAFamilyIsNoWayAroundTheApprovedVersion(t *testing.T) {
	w := open(t, nil).with(aFamily("other"), script{steps: []step{{"memory.put", `{"items":[{"key":"k","value":"secret"}]}`}}})
	w.install(redactor("1.0.0"), redacts("one"))
	w.grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore)})
	w.install(redactor("2.0.0"), redacts("two"))
	w.do("other")
	if got := w.value("", "k"); got != `"one"` {
		t.Errorf("it stored %s", got)
	}
}

func TestAGuardOfAnotherCollectionHoldsNoMemoryUp(t *testing.T) {
	m := redactor("1.0.0")
	m.Hooks.Store.Collections = []string{"notes"}
	w := open(t, nil)
	w.install(m, script{traps: true})
	w.grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore)})
	w.install(redactor("2.0.0"), script{traps: true})
	w.storesAs("secret")
}

func TestAGrantIsForTheBytesThatTheOperatorSaw(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "redactor.wasm")
	one, two := pack(t, redactor("1.0.0"), redacts("one")), pack(t, redactor("1.0.0"), redacts("two"))
	writeFile(t, file, one)
	w := open(t, func(o *Options) { o.Watch, o.Poll = folder, 1<<40 }) // nobody looks but the test
	seen := w.Show()[0].Digest
	writeFile(t, file, two) // replaced, granted, and replaced again before anybody looks
	w.grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore), Digest: seen})
	w.catalogue.Scan()
	if d := w.All()[0]; d.Digest != modules.Digest(two) || len(d.Grant.Hooks) != 0 || d.Guard == nil || d.Guard.Digest != seen {
		t.Errorf("the family is %+v, want the new module without hooks, guarded by the one that was seen", d)
	}
	w.storesAs("one")
	if _, err := w.Grant(grants.Request{Family: "redactor", All: true, Digest: seen}); code(err) != memory.Conflict {
		t.Errorf("for the digest that is gone: %v", err)
	}
	if _, err := w.Grant(grants.Request{Family: "redactor", All: true}); code(err) != memory.Conflict || !strings.Contains(err.Error(), "--digest "+modules.Digest(two)) {
		t.Errorf("without a digest, after another one was shown: %v", err)
	}
	w.Show()
	if d := w.grant(grants.Request{Family: "redactor", All: true}); len(d.Grant.Capabilities) == 0 {
		t.Errorf("once it was shown: %+v", d)
	}
	writeFile(t, file, one)
	w.catalogue.Scan()
	if _, err := w.Grant(grants.Request{Family: "redactor", Revoke: []string{"*"}}); err != nil {
		t.Errorf("taking back: %v", err)
	}
}

func TestQuickSwapsInTheWatchedFolderNeverServeAHookWithBytesThatWereNotApproved(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "redactor.wasm")
	versions := map[string][]byte{}
	for _, word := range []string{"one", "two"} {
		versions[word] = pack(t, redactor("1.0.0"), redacts(word))
	}
	writeFile(t, file, versions["one"])
	w := open(t, func(o *Options) { o.Watch = folder })
	w.grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore), Digest: modules.Digest(versions["one"])})
	stop, swapped := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				swapped <- nil
				return
			default:
			}
			word := []string{"two", "one"}[i%2]
			if err := os.WriteFile(file+".new", versions[word], 0o600); err != nil {
				swapped <- err
				return
			}
			if err := os.Rename(file+".new", file); err != nil {
				swapped <- err
				return
			}
		}
	}()
	for range 40 {
		w.storesAs("one")
		w.catalogue.Scan()
	}
	close(stop)
	if err := <-swapped; err != nil {
		t.Fatal(err)
	}
}

func TestTheLogSaysWhatAReplacedFileLost(t *testing.T) {
	folder, log := t.TempDir(), &logged{}
	file := filepath.Join(folder, "many.wasm")
	m := onRank("many")
	writeFile(t, file, pack(t, m, script{says: `1`}))
	w := open(t, func(o *Options) { o.Watch, o.Logger = folder, slog.New(slog.NewTextHandler(log, nil)) })
	w.grant(grants.Request{Family: "many", Capabilities: []registry.Capability{{Name: abi.CanJob}}, Hooks: hookOn(abi.HookRank)})
	next := pack(t, m, script{says: `2`})
	writeFile(t, file, next)
	await.That(t, "it is said", func() bool { return log.count("replaced by another version") == 1 })
	if log.count(`dropped="[job hook rank]"`) != 1 || log.count("alcove family grant many job --hook rank --digest "+modules.Digest(next)) != 1 {
		t.Errorf("the log is %s", log.text.String())
	}
}

func TestTwoDataDirectoriesDecideForThemselves(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "redactor.wasm"), pack(t, redactor("1.0.0"), redacts("one")))
	watching := func(o *Options) { o.Watch = folder }
	guarded, free := open(t, watching), open(t, watching)
	guarded.grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore)})
	writeFile(t, filepath.Join(folder, "redactor.wasm"), pack(t, redactor("2.0.0"), redacts("two")))
	for _, w := range []*world{guarded, free} {
		await.That(t, "the new version comes", func() bool { return w.All()[0].Manifest.Version == "2.0.0" })
	}
	guarded.storesAs("one")
	free.storesAs("secret")
}

func TestALockFileOfAnEarlierReleaseKeepsItsRedactor(t *testing.T) {
	dir := t.TempDir()
	module := pack(t, redactor("1.0.0"), redacts("one"))
	putModule(t, dir, module)
	text := `{"format": 1, "families": {"redactor": {"digest": "` + modules.Digest(module) + `", "version": "1.0.0", "hooks": {"store": {"on_failure": "refuse"}}}}}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, registry.File), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("it is opened and left as it was", func(t *testing.T) {
		w := openIn(t, dir, nil)
		w.storesAs("one")
		if now, err := os.ReadFile(filepath.Join(dir, registry.File)); err != nil || string(now) != text {
			t.Errorf("it is %s, %v", now, err)
		}
	})
	t.Run("an update", func(t *testing.T) {
		w := openIn(t, dir, nil)
		w.install(redactor("2.0.0"), redacts("two"))
		w.storesAs("one")
	})
}

func TestALockFileThatIsEditedMayEndAGuard(t *testing.T) {
	w := open(t, nil)
	w.install(redactor("1.0.0"), redacts("one"))
	w.grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore)})
	w.install(redactor("2.0.0"), redacts("two"))
	w.storesAs("one")
	l := w.lockFile()
	g := l.Families["redactor"]
	g.Guard = nil
	l.Families = maps.Clone(l.Families)
	l.Families["redactor"] = g
	if err := registry.Write(w.dir, l); err != nil {
		t.Fatal(err)
	}
	await.That(t, "it is followed", func() bool { return w.All()[0].Guard == nil })
	w.storesAs("secret")
}

func TestOtherHooksOfAnUpdatedFamilyAreOffAndSaidToBe(t *testing.T) {
	m := onRank("many")
	m.Hooks.Store, m.Hooks.Stored, m.Hooks.Jobs = &abi.StoreHook{}, &abi.StoreHook{}, []abi.Job{{Name: "tidy"}}
	w := open(t, nil).with(m, script{says: `{}`})
	w.grant(grants.Request{Family: "many", Revoke: []string{"*"}})
	w.grant(grants.Request{Family: "many", Capabilities: []registry.Capability{{Name: abi.CanMemoryRead}, {Name: abi.CanJob}, {Name: abi.CanRecord, Scope: []string{"a", "b"}}},
		Hooks: map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureDefer}, abi.HookStored: {}, abi.HookRank: {}, abi.HookJob: {}}})
	next := aFamily("many")
	next.Hooks.Store, next.Hooks.Rank = &abi.StoreHook{}, m.Hooks.Rank
	next.Capabilities = []abi.Request{{Name: abi.CanMemoryRead, Scope: []string{"work"}, Reason: "to read"}, {Name: abi.CanRecord, Scope: []string{"b", "c"}, Reason: "to keep"}}
	d := w.install(next, script{says: `{}`})
	if d.Guard != nil || d.Update == nil || !slices.Equal(d.Update.Dropped, []string{"memory.read=*", "job", "record=a,b", "hook job", "hook rank", "hook store", "hook stored"}) {
		t.Errorf("guard %+v, update %+v, want no guard, and all that was dropped", d.Guard, d.Update)
	}
	if want := "alcove family grant many memory.read record=b --hook rank,store=defer --digest " + d.Digest; d.GrantCommand != want {
		t.Errorf("the command is %s", d.GrantCommand)
	}
	if _, notes, err := w.keep("k", `"tea"`); err != nil || len(notes) != 0 {
		t.Errorf("notes %q, %v, want none", notes, err)
	}
}

func TestAServerThatOnlyReadsKeepsNoModule(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	module := pack(t, redactor("1.0.0"), redacts("one"))
	writeFile(t, filepath.Join(folder, "redactor.wasm"), module)
	lock := registry.Lock{Families: map[string]registry.Grant{"redactor": {Digest: modules.Digest(module), Hooks: map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}}}}}
	if err := registry.Write(dir, lock); err != nil {
		t.Fatal(err)
	}
	w := openIn(t, dir, func(o *Options) { o.Watch, o.ReadOnly = folder, true })
	if kept := w.kept(modules.ApprovedFolder); len(kept) != 0 {
		t.Errorf("kept %q", kept)
	}
	log := &logged{}
	t.Run("one that writes does, and says nothing", func(t *testing.T) {
		w := openIn(t, t.TempDir(), func(o *Options) { o.Watch, o.Logger = folder, slog.New(slog.NewTextHandler(log, nil)) })
		w.grant(grants.Request{Family: "redactor", Hooks: hookOn(abi.HookStore)})
		if kept := w.kept(modules.ApprovedFolder); len(kept) != 1 || log.count("could not be kept") != 0 {
			t.Errorf("kept %q", kept)
		}
	})
}

func TestAJobOfTheApprovedVersionIsDoneByItWithItsPowers(t *testing.T) {
	one := redactor("1.0.0")
	one.Collections, one.Hooks.Jobs = []abi.Collection{{Name: "runs", Per: "space"}}, []abi.Job{{Name: "tidy"}}
	w := open(t, nil)
	w.install(one, script{steps: []step{{"record.put", `{"collection":"runs","items":[{"key":"last","value":1}]}`}, {"job.enqueue", `{"job":"tidy"}`}}, says: `{"entries":[{"value":"one"}]}`})
	w.grant(grants.Request{Family: "redactor", All: true, Hooks: hookOn(abi.HookStore)})
	w.install(redactor("2.0.0"), redacts("two"))
	w.storesAs("one")
	approved := w.catalogue.Guard("redactor").Digest
	await.That(t, "its job is over", func() bool {
		list, err := w.Jobs(t.Context())
		return err == nil && slices.ContainsFunc(list, func(j jobs.Job) bool { return j.State == jobs.Done || j.State == jobs.Failed })
	})
	list, err := w.Jobs(t.Context())
	if err != nil || list[0].State != jobs.Done || list[0].Digest != approved {
		t.Errorf("Jobs = %+v, %v, want the job done by the approved version", list, err)
	}
}

func TestAJobOfAVersionThatWasReplacedNeedsTheRightOfTheNewOne(t *testing.T) {
	m := withJob("tidy", "")
	w := open(t, nil).with(m, script{steps: []step{{"job.enqueue", `{"job":"tidy","after_s":3600}`}}})
	if _, err := w.call(given{Tool: "tidy_do"}); err != nil {
		t.Fatal(err)
	}
	list, err := w.Jobs(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("Jobs = %v, %v, want 1", list, err)
	}
	m.Version = "2.0.0"
	w.install(m, script{says: `{}`})
	job := list[0]
	if err := (jobFamilies{w.Families}).Do(t.Context(), &job); code(err) != memory.Denied || !strings.Contains(err.Error(), "queued by the version with the SHA-256 "+job.Digest) {
		t.Errorf("it was done: %v", err)
	}
	w.grant(grants.Request{Family: "tidy", All: true})
	if err := (jobFamilies{w.Families}).Do(t.Context(), &job); err != nil || job.State != jobs.Done {
		t.Errorf("once the new version has the right to it: %v", err)
	}
}

// tagged is a redactor that is asked about what its setting names.
func tagged() *abi.Manifest {
	m := redactor("1.0.0")
	m.Hooks.Store.TagFrom = "redact"
	m.Config = []abi.Setting{{Key: "redact", Default: json.RawMessage(`"captured"`)}}
	return m
}

func TestARedactorIsAskedAboutWhatItsSettingNames(t *testing.T) {
	w := open(t, nil).with(tagged(), redacts("hidden"))
	stored := func(tags ...string) string {
		t.Helper()
		items := []memory.Item{{Key: "k", Value: json.RawMessage(`"secret"`), Tags: tags}}
		if _, err := w.space.As(owner("")).Store(t.Context(), memory.Location{}, items, memory.Write{}); err != nil {
			t.Fatal(err)
		}
		return w.value("", "k")
	}
	for _, x := range []struct{ redact, plain, captured string }{
		{"", `"secret"`, `"hidden"`}, {`"all"`, `"hidden"`, `"hidden"`}, {`"none"`, `"secret"`, `"secret"`}, {"null", `"secret"`, `"hidden"`},
	} {
		if x.redact != "" {
			if _, err := w.Configure(t.Context(), "redactor", map[string]json.RawMessage{"redact": json.RawMessage(x.redact)}); err != nil {
				t.Fatal(err)
			}
		}
		if plain, captured := stored(), stored("captured"); plain != x.plain || captured != x.captured {
			t.Errorf("redact %s: got %s, and %s with the tag, want %s and %s", x.redact, plain, captured, x.plain, x.captured)
		}
		for arguments, want := range map[string]bool{`{"tags":["captured"]}`: x.captured == `"hidden"`, `{"tags":["tea"]}`: x.plain == `"hidden"`} {
			if got := w.MayRedact(t.Context(), json.RawMessage(arguments)); got != want {
				t.Errorf("redact %s: MayRedact(%s): got %v, want %v", x.redact, arguments, got, want)
			}
		}
	}
}
