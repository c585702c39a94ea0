package family

import (
	"bytes"
	"crypto/ed25519"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/registry"
	"github.com/alcove-memory/alcove/registry/signature"
)

func keyOf(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func publicText(n byte) string { return signature.FormatPublic(keyOf(n).Public().(ed25519.PublicKey)) }

func signedBy(t testing.TB, module []byte, keys ...byte) []byte {
	t.Helper()
	for _, k := range keys {
		var err error
		if module, err = signature.Sign(module, keyOf(k)); err != nil {
			t.Fatal(err)
		}
	}
	return module
}

// approval is a data directory in which an operator trusts the keys of author and reviewer, and installed notes 1.1.0, signed
// by the author.
type approval struct {
	t   *testing.T
	dir string
}

func notesOf(version, says string) (*abi.Manifest, script) {
	m := aFamily("notes")
	m.Version = version
	return m, script{says: says}
}

func approve(t *testing.T) approval {
	t.Helper()
	dir := t.TempDir()
	m, s := notesOf("1.1.0", `1`)
	module := signedBy(t, pack(t, m, s), 1)
	t.Run("approval", func(t *testing.T) {
		w := openIn(t, dir, nil)
		for name, n := range map[string]byte{"author": 1, "reviewer": 2} {
			if _, err := w.Trust(TrustRequest{Name: name, Key: &registry.Key{Public: publicText(n)}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.InstallFrom(Installation{Module: module, Source: "notes.wasm"}); err != nil {
			t.Fatal(err)
		}
		w.grant(grants.Request{Family: "notes", All: true})
	})
	return approval{t, dir}
}

func (a approval) lock(change func(*registry.Lock)) {
	a.t.Helper()
	l, err := registry.Read(a.dir)
	if err != nil {
		a.t.Fatal(err)
	}
	change(&l)
	if err := registry.Write(a.dir, l); err != nil {
		a.t.Fatal(err)
	}
}

func (a approval) digest() string {
	a.t.Helper()
	l, err := registry.Read(a.dir)
	if err != nil {
		a.t.Fatal(err)
	}
	return l.Families["notes"].Digest
}

// replace puts other bytes in the place of the approved module.
func (a approval) replace(module []byte) {
	a.t.Helper()
	writeFile(a.t, filepath.Join(a.dir, modules.Folder, a.digest()+modules.Extension), module)
}

// approveInstead makes the lock file name a module byte for byte, as an operator who edits it does.
func (a approval) approveInstead(module []byte, change func(*registry.Grant)) {
	a.t.Helper()
	digest := modules.Digest(module)
	writeFile(a.t, filepath.Join(a.dir, modules.Folder, digest+modules.Extension), module)
	a.lock(func(l *registry.Lock) {
		g := l.Families["notes"]
		g.Digest, g.Manifest = digest, ""
		change(&g)
		l.Families["notes"] = g
	})
}

// TestALockedServerRefuses has a row for each way in which a module that was not approved could come to run. Each is a real
// module in a real data directory, and each refusal says what an operator can do.
func TestALockedServerRefuses(t *testing.T) {
	none := func(*registry.Grant) {}
	newest, says := notesOf("1.2.0", `2`)
	oldest, saysOld := notesOf("1.0.0", `0`)
	narrow, saysNarrow := notesOf("1.1.0", `3`)
	narrow.Capabilities = nil
	cases := map[string]struct {
		attack func(approval)
		want   string
	}{
		"a byte of the module is swapped": {func(a approval) {
			data, err := os.ReadFile(filepath.Join(a.dir, modules.Folder, a.digest()+modules.Extension))
			if err != nil {
				a.t.Fatal(err)
			}
			data[len(data)-3] ^= 1
			a.replace(data)
		}, "was changed since it was installed"},
		"another module of the same signer is in its place": {func(a approval) { a.replace(signedBy(a.t, pack(a.t, newest, says), 1)) }, "was changed since it was installed"},
		"an older one of the same signer is in its place":   {func(a approval) { a.replace(signedBy(a.t, pack(a.t, oldest, saysOld), 1)) }, "was changed since it was installed"},
		"nobody signed it": {func(a approval) { a.approveInstead(pack(a.t, newest, says), none) }, "is not signed by the key author"},
		"nobody signed it, nor is asked to": {func(a approval) {
			a.approveInstead(pack(a.t, newest, says), func(g *registry.Grant) { g.Signers = nil })
		}, "it is not signed, and alcove.lock asks for signatures by 1 of its keys"},
		"a stranger signed it": {func(a approval) {
			a.approveInstead(signedBy(a.t, pack(a.t, newest, says), 9), func(g *registry.Grant) { g.Signers = nil })
		}, "signed by 0 trusted keys of the 1"},
		"the signature is of another module": {func(a approval) {
			data, _, err := signature.Split(signedBy(a.t, pack(a.t, oldest, saysOld), 1))
			if err != nil {
				a.t.Fatal(err)
			}
			copied, err := signature.Attach(pack(a.t, newest, says), data)
			if err != nil {
				a.t.Fatal(err)
			}
			a.approveInstead(copied, none)
		}, "is not signed by the key author"},
		"a section was appended after signing": {func(a approval) {
			a.approveInstead(append(signedBy(a.t, pack(a.t, newest, says), 1), 0, 3, 1, 'x', 1), none)
		}, "is not signed by the key author"},
		"its manifest was altered after signing": {func(a approval) {
			signed := signedBy(a.t, pack(a.t, newest, says), 1)
			a.approveInstead(bytes.Replace(signed, []byte("1.2.0"), []byte("1.1.9"), 1), none)
		}, "is not signed by the key author"},
		"the key was revoked": {func(a approval) {
			a.lock(func(l *registry.Lock) {
				l.Keys["author"] = registry.Key{Public: publicText(1), Revoked: "it was stolen"}
			})
		}, "the key author, by which it was signed, was revoked: it was stolen"},
		"the key expired": {func(a approval) {
			past := time.Unix(1_000_000_000, 0)
			a.lock(func(l *registry.Lock) {
				l.Keys["author"] = registry.Key{Public: publicText(1), Expires: &past}
			})
		}, "the key author, by which it was signed, expired at 2001-09-09"},
		"the key is not trusted any more": {func(a approval) { a.lock(func(l *registry.Lock) { delete(l.Keys, "author") }) }, "is no longer trusted"},
		"a reviewer has to sign, too":     {func(a approval) { a.lock(func(l *registry.Lock) { l.Signatures = 2 }) }, "signed by 1 trusted keys of the 2"},
		"its grant was widened beyond its manifest": {func(a approval) {
			a.approveInstead(signedBy(a.t, pack(a.t, narrow, saysNarrow), 1), func(g *registry.Grant) {
				g.Capabilities = []registry.Capability{{Name: abi.CanMemoryWrite, Scope: []string{"*"}}}
			})
		}, "alcove.lock grants it memory.write, which its manifest does not ask for"},
		"the lock file names another manifest": {func(a approval) {
			a.lock(func(l *registry.Lock) {
				g := l.Families["notes"]
				g.Manifest = strings.Repeat("ab", 32)
				l.Families["notes"] = g
			})
		}, "names a manifest with the SHA-256 abab"},
		"another family has its name in the lock file": {func(a approval) {
			a.approveInstead(signedBy(a.t, pack(a.t, aFamily("other"), script{says: `4`}), 1), none)
		}, "its manifest has the name other"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := approve(t)
			a.t = t
			c.attack(a)
			w := openIn(t, a.dir, func(o *Options) { o.Locked = true })
			got := w.says("notes_do")
			if d := w.catalogue.Describe("notes"); !strings.Contains(d.Fault, c.want) || slices.Contains([]string{"0", "1", "2", "3", "4"}, got) {
				t.Errorf("it says %s, and the fault is %q", got, d.Fault)
			}
		})
	}
}

func TestALockedServerRunsWhatWasApproved(t *testing.T) {
	a := approve(t)
	w := openIn(t, a.dir, func(o *Options) { o.Locked = true })
	if got := w.says("notes_do"); got != "1" {
		t.Fatalf("it says %s: %s", got, w.catalogue.Describe("notes").Fault)
	}
	g := w.catalogue.Describe("notes").Grant
	if !slices.Equal(g.Signers, []string{"author"}) || g.Source != "notes.wasm" || g.Manifest == "" || g.Version != "1.1.0" {
		t.Errorf("the lock file says %+v", g)
	}
}

func TestALockedServerTakesNothingNew(t *testing.T) {
	a := approve(t)
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "other.wasm"), pack(t, aFamily("other"), script{says: `1`}))
	w := openIn(t, a.dir, func(o *Options) { o.Locked, o.Watch = true, folder })
	before := read(t, filepath.Join(a.dir, registry.File))
	m, s := notesOf("1.2.0", `2`)
	_, install := w.InstallFrom(Installation{Module: signedBy(t, pack(t, m, s), 1)})
	_, plain := w.Install(signedBy(t, pack(t, m, s), 1))
	_, grant := w.Grant(grants.Request{Family: "notes", Limits: map[string]int64{"wall_ms": 5}})
	_, trust := w.Trust(TrustRequest{Name: "mallory", Key: &registry.Key{Public: publicText(9)}})
	_, forget := w.Trust(TrustRequest{Name: "author", Remove: true})
	_, remove := w.Remove("notes")
	endpoint := w.SetEndpoint("web", &registry.Endpoint{Kind: "http", URL: "http://127.0.0.1"})
	for act, err := range map[string]error{"install": install, "plain install": plain, "grant": grant, "trust": trust, "forget": forget, "remove": remove, "endpoint": endpoint} {
		if err == nil || !strings.Contains(err.Error(), "the server is locked") {
			t.Errorf("%s: %v, want the error that the server is locked", act, err)
		}
	}
	if got := read(t, filepath.Join(a.dir, registry.File)); got != before {
		t.Errorf("the lock file is now\n%s", got)
	}
	if w.catalogue.Known("other") != nil {
		t.Error("a family of the watched folder is known")
	}
	disable := true
	if _, err := w.Grant(grants.Request{Family: "notes", Disable: &disable}); err != nil {
		t.Errorf("disabling: %v", err)
	}
	if got := w.says("notes_do"); !strings.Contains(got, "disabled") || !strings.Contains(got, policy.Offline) {
		t.Errorf("disabled, it says %s, want how a reviewed file enables it", got)
	}
}

func TestWhatALockedServerDeniesNamesNoCommandThatItRefuses(t *testing.T) {
	a := approve(t)
	w := openIn(t, a.dir, func(o *Options) { o.Locked = true })
	asks := catalogue.Family{Version: &grants.Version{Name: "notes", Manifest: &abi.Manifest{Name: "notes", Capabilities: []abi.Request{{Name: abi.CanMemoryRead, Scope: []string{"*"}}}}}}
	for name, said := range map[string]string{
		"a capability": w.catalogue.Powers(&asks, memory.Caller{Rights: memory.FullRights()}, "").Check(abi.CanMemoryRead, "work").Error(),
		"a quota":      w.raiser("notes").Raise(abi.QuotaRecords),
		"a budget":     w.catalogue.Advice().Grant("raise it", "notes", "--limit", "http_calls_minute=N"),
		"an endpoint":  w.catalogue.Advice().Run("add one", "alcove endpoint add"),
	} {
		if !strings.Contains(said, policy.Offline) || strings.Contains(said, "alcove family grant") || strings.Contains(said, "alcove endpoint add") {
			t.Errorf("%s: %s, want how a locked directory takes it", name, said)
		}
	}
}

func TestARevokedKeyStopsWhatRuns(t *testing.T) {
	a := approve(t)
	w := openIn(t, a.dir, func(o *Options) { o.Locked = true })
	if got := w.says("notes_do"); got != "1" {
		t.Fatalf("it says %s", got)
	}
	if _, err := w.Trust(TrustRequest{Name: "author", Revoke: "it was stolen"}); err != nil {
		t.Fatal(err)
	}
	if got := w.says("notes_do"); !strings.Contains(got, "was revoked: it was stolen") {
		t.Errorf("it says %s", got)
	}
}

func TestAKeyThatExpiresStopsWhatRuns(t *testing.T) {
	a := approve(t)
	clock := testclock.At(time.Now())
	expires := clock.Now().Add(time.Hour)
	a.lock(func(l *registry.Lock) { l.Keys["author"] = registry.Key{Public: publicText(1), Expires: &expires} })
	w := openWith(t, a.dir, clock.Now, func(o *Options) { o.Locked = true })
	if got := w.says("notes_do"); got != "1" {
		t.Fatalf("it says %s", got)
	}
	clock.Add(2 * time.Hour)
	await.That(t, "it is refused", func() bool { return strings.Contains(w.says("notes_do"), "expired at") })
}

func TestALockFileThatIsEditedWhileTheServerIsLockedChangesNothing(t *testing.T) {
	a := approve(t)
	w := openIn(t, a.dir, func(o *Options) { o.Locked = true })
	m, s := notesOf("1.2.0", `2`)
	a.approveInstead(pack(t, m, s), func(g *registry.Grant) { g.Signers = nil })
	w.followLock()
	if got := w.says("notes_do"); got != "1" {
		t.Errorf("it says %s", got)
	}
	disable := true
	if _, err := w.Grant(grants.Request{Family: "notes", Disable: &disable}); err == nil || !strings.Contains(err.Error(), "the lock file was changed while the server is locked") {
		t.Errorf("a change on top of it: %v", err)
	}
}

func TestAModuleThatNobodyTrustedSignedIsNotInstalled(t *testing.T) {
	a := approve(t)
	w := openIn(t, a.dir, nil)
	m, s := notesOf("1.2.0", `2`)
	unsigned := pack(t, m, s)
	if _, err := w.InstallFrom(Installation{Module: unsigned}); err == nil || !strings.Contains(err.Error(), "is not signed") {
		t.Errorf("unsigned: %v", err)
	}
	if _, err := w.InstallFrom(Installation{Module: signedBy(t, unsigned, 9)}); err == nil || !strings.Contains(err.Error(), "signed by 0 trusted keys") {
		t.Errorf("by a stranger: %v", err)
	}
	detached, err := signature.SignDetached(unsigned, nil, keyOf(2))
	if err != nil {
		t.Fatal(err)
	}
	d, err := w.InstallFrom(Installation{Module: unsigned, Signature: detached})
	if err != nil || !slices.Equal(d.Grant.Signers, []string{"reviewer"}) {
		t.Errorf("with a signature apart: %+v, %v", d.Grant, err)
	}
}

func TestAChangeIsShownAsItIsMade(t *testing.T) {
	a := approve(t)
	w := openIn(t, a.dir, nil)
	before := read(t, filepath.Join(a.dir, registry.File))
	grant := grants.Request{Family: "notes", Limits: map[string]int64{"wall_ms": 50}}
	c, err := w.Propose(Proposal{Grant: &grant})
	if err != nil || !slices.Contains(c.Lines, `+        "wall_ms": 50`) {
		t.Errorf("Propose = %q, %v, want the limit among the lines", c.Lines, err)
	}
	if got := read(t, filepath.Join(a.dir, registry.File)); got != before {
		t.Error("it was changed by being shown")
	}
	w.grant(grant)
	if again, err := w.Propose(Proposal{Grant: &grant}); err != nil || len(again.Lines) > 0 {
		t.Errorf("made, it still would change %q, %v", again.Lines, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestOnlyTheProgramsOfTheCatalogueRunWhereItIsNamed(t *testing.T) {
	dir := t.TempDir()
	carried := carrying(t, pack(t, aFamily("first"), script{says: `1`}))
	other := carrying(t, pack(t, aFamily("second"), script{says: `1`}))
	t.Run("named", func(t *testing.T) {
		w := openIn(t, dir, func(o *Options) { o.Built = []modules.Module{carried} })
		digest := modules.Catalogue([]modules.Module{carried})
		if _, err := w.Trust(TrustRequest{Catalogue: &digest}); err != nil {
			t.Fatal(err)
		}
	})
	l, err := registry.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (catalogue.Options{Lock: l, Locked: true, Built: []modules.Module{carried}}).VerifyBuilt(); err != nil {
		t.Error(err)
	}
	if _, err := (catalogue.Options{Lock: l, Locked: true, Built: []modules.Module{other}}).VerifyBuilt(); err == nil || !strings.Contains(err.Error(), "names the first-party families with the digest") {
		t.Errorf("another program: %v", err)
	}
}
