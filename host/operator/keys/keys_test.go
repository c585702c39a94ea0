package keys

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

var began = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, path string, clock func() time.Time) *Keys {
	t.Helper()
	k, err := Open(Options{Path: path, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func still() time.Time { return began }

func path(t *testing.T) string { return filepath.Join(t.TempDir(), "keys.json") }

var ann = Grant{Agent: "ann", Namespaces: []string{"team/*", "notes"}, Rights: []memory.Right{Read, Write, memory.ToUse("facts")}}

func (k *Keys) must(t *testing.T, g Grant) (Key, string) {
	t.Helper()
	key, secret, err := k.Create(g)
	if err != nil {
		t.Fatal(err)
	}
	return key, secret
}

func TestAKeyIsItsHoldersNameAndRights(t *testing.T) {
	k := open(t, path(t), still)
	key, secret := k.must(t, ann)
	known, err := k.Verify(secret)
	if err != nil || known.ID != key.ID {
		t.Fatalf("Verify = %+v, %v, want the key %s", known, err, key.ID)
	}
	who := known.Caller()
	if who.Agent != "ann" || who.Key != key.ID {
		t.Errorf("the caller is %+v", who)
	}
	for namespace, may := range map[string]bool{"notes": true, "team/a": true, "team": false, "other": false} {
		if who.Rights.MayRead(namespace) != may || who.Rights.MayWrite(namespace) != may {
			t.Errorf("%s: reads %t, writes %t", namespace, who.Rights.MayRead(namespace), who.Rights.MayWrite(namespace))
		}
	}
	for right, may := range map[memory.Right]bool{memory.ToUse("facts"): true, memory.ToUse("graph"): false, memory.ToBranch: false, memory.ToConfigure: false, memory.ToActAs: false} {
		if who.Rights.May(right) != may {
			t.Errorf("May(%s) = %t, want %t", right, who.Rights.May(right), may)
		}
	}
	reader, _ := k.must(t, Grant{Agent: "bob", Namespaces: []string{"*"}, Rights: []memory.Right{Read}})
	if who := reader.Caller(); !who.Rights.MayRead("any") || !who.Rights.WritesNothing() {
		t.Errorf("a reader's rights are %s", who.Rights)
	}
}

func TestTheSecretIsNotKept(t *testing.T) {
	file := path(t)
	k := open(t, file, still)
	key, secret := k.must(t, ann)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	random := secret[strings.LastIndex(secret, key.ID+"_")+len(key.ID)+1:]
	if strings.Contains(string(data), random) || !strings.Contains(string(data), key.ID) {
		t.Errorf("the file has %s", data)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
}

func TestForgedKeysAreUnknown(t *testing.T) {
	k := open(t, path(t), still)
	key, secret := k.must(t, ann)
	_, other := k.must(t, ann)
	last := "A"
	if strings.HasSuffix(secret, last) {
		last = "B"
	}
	mixed := secret[:len(prefix)+1+2*idBytes] + other[len(prefix)+1+2*idBytes:]
	for _, forged := range []string{"", "_", prefix, prefix + "_" + key.ID, prefix + "_" + key.ID + "_", secret[:len(secret)-1], secret[:len(secret)-1] + last,
		secret + "A", " " + secret, strings.ToUpper(secret), mixed, key.ID, strings.Repeat("A", 1<<20)} {
		_, err := k.Verify(forged)
		var e *memory.Error
		if !errors.As(err, &e) || e.Code != memory.Denied || strings.Contains(err.Error(), key.ID) {
			t.Errorf("Verify(%.80q): %v, want it denied without the key's id", forged, err)
		}
	}
}

func TestARevokedKeyNeverHoldsAgain(t *testing.T) {
	file := path(t)
	k := open(t, file, still)
	key, secret := k.must(t, ann)
	held, stop := k.While(t.Context(), key.ID)
	defer stop()
	if _, err := k.Revoke(key.ID); err != nil {
		t.Fatal(err)
	}
	if held.Err() == nil || !strings.Contains(context.Cause(held).Error(), "was revoked") {
		t.Errorf("what it had open ends with %v", context.Cause(held))
	}
	late, stop := k.While(t.Context(), key.ID)
	defer stop()
	if late.Err() == nil {
		t.Error("it opens something after its end")
	}
	for range 2 { // and after a restart
		if _, err := k.Verify(secret); err == nil || !strings.Contains(err.Error(), "was revoked") {
			t.Errorf("Verify of a revoked key: %v, want the error that it was revoked", err)
		}
		if err := k.Check(key.ID); err == nil {
			t.Error("it holds")
		}
		k = open(t, file, still)
	}
	if _, err := k.Delete(key.ID); err != nil || len(k.List()) != 0 {
		t.Errorf("after Delete: keys %+v, %v, want none", k.List(), err)
	}
	if _, err := k.Verify(secret); err == nil || k.Check(key.ID) == nil {
		t.Error("a deleted key holds")
	}
	if _, err := k.Revoke(key.ID); err == nil || !strings.Contains(err.Error(), "there is no key") {
		t.Errorf("Revoke of a deleted key: %v, want the error that there is no key", err)
	}
}

func TestAKeyExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := open(t, path(t), time.Now)
		g := ann
		g.Expires = time.Now().Add(time.Hour)
		key, secret := k.must(t, g)
		held, stop := k.While(t.Context(), key.ID)
		defer stop()
		time.Sleep(time.Hour - time.Nanosecond)
		synctest.Wait()
		if _, err := k.Verify(secret); err != nil || held.Err() != nil {
			t.Errorf("before: %v, %v", err, held.Err())
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if _, err := k.Verify(secret); err == nil || !strings.Contains(err.Error(), "expired at") {
			t.Errorf("Verify of an old key: %v, want the error that it expired", err)
		}
		if held.Err() == nil || !strings.Contains(context.Cause(held).Error(), "expired at") {
			t.Errorf("what it had open ends with %v", context.Cause(held))
		}
	})
}

func TestGrantsAreChecked(t *testing.T) {
	k := open(t, path(t), still)
	for want, change := range map[string]func(*Grant){
		"a name has 1 to 128":       func(g *Grant) { g.Agent = "" },
		"agent":                     func(g *Grant) { g.Agent = "ann\x1b[2J" },
		"0 namespaces":              func(g *Grant) { g.Namespaces = nil },
		"65 namespaces":             func(g *Grant) { g.Namespaces = slices.Repeat([]string{"a"}, 65) },
		`namespace "a*"`:            func(g *Grant) { g.Namespaces = []string{"a*"} },
		`namespace "a/*/b"`:         func(g *Grant) { g.Namespaces = []string{"a/*/b"} },
		`namespace ""`:              func(g *Grant) { g.Namespaces = []string{"/*"} },
		"0 rights":                  func(g *Grant) { g.Rights = nil },
		"65 rights":                 func(g *Grant) { g.Rights = slices.Repeat([]memory.Right{Read}, 65) },
		`"operator" is not a right`: func(g *Grant) { g.Rights = append([]memory.Right{"operator"}, g.Rights...) },
		`family "a b"`:              func(g *Grant) { g.Rights = append([]memory.Right{memory.ToUse("a b")}, g.Rights...) },
		"neither read nor write":    func(g *Grant) { g.Rights = []memory.Right{memory.ToBranch} },
		"would have expired":        func(g *Grant) { g.Expires = began },
	} {
		g := ann
		change(&g)
		if _, _, err := k.Create(g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Create: %v, want an error that says %q", err, want)
		}
	}
	if list := k.List(); len(list) != 0 {
		t.Errorf("there are %+v", list)
	}
}

func TestThereIsALimitOfKeys(t *testing.T) {
	file := path(t)
	full := contents{Keys: make([]*storedKey, MaxKeys)}
	for i := range full.Keys {
		full.Keys[i] = &storedKey{Key: Key{ID: strings.Repeat("0", i%7+1)}}
	}
	data, err := full.format()
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(t, file, still).Create(ann); err == nil || !strings.Contains(err.Error(), "which is the limit") {
		t.Errorf("Create of one key more: %v, want the error that it is beyond the limit", err)
	}
}

func TestADamagedFileIsRefused(t *testing.T) {
	file := path(t)
	for _, text := range []string{"", "{", `{"keys":[{"id":1}]}`, "[]"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Options{Path: file, Clock: still}); err == nil || !strings.Contains(err.Error(), "is damaged") {
			t.Errorf("Open of %q: %v, want the error that it is damaged", text, err)
		}
	}
	f, err := os.Create(file)
	if err == nil {
		err = errors.Join(f.Truncate(longestFile+1), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Path: file, Clock: still}); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("Open of a large file: %v, want the error that it is larger than the limit", err)
	}
}

func TestWhatCannotBeWrittenDoesNotHold(t *testing.T) {
	file := path(t)
	var fault error
	k, err := Open(Options{Path: file, Clock: still, Changeable: func() error { return fault }})
	if err != nil {
		t.Fatal(err)
	}
	key, secret := k.must(t, ann)
	fault = errors.New("the directory is another server's")
	if _, _, err := k.Create(ann); !errors.Is(err, fault) {
		t.Errorf("Create: %v, want %v", err, fault)
	}
	if _, err := k.Revoke(key.ID); !errors.Is(err, fault) {
		t.Errorf("Revoke: %v, want %v", err, fault)
	}
	if err := k.Require(true); !errors.Is(err, fault) || k.Required() {
		t.Errorf("%v, required: %t", err, k.Required())
	}
	if _, err := k.Verify(secret); err != nil || len(k.List()) != 1 {
		t.Errorf("Verify: %v, keys %+v, want the one key, which holds", err, k.List())
	}
}

func TestRequiringKeysOutlastsTheServer(t *testing.T) {
	file := path(t)
	k := open(t, file, still)
	for _, required := range []bool{false, true, true, false} {
		if err := k.Require(required); err != nil {
			t.Fatal(err)
		}
		if got := open(t, file, still).Required(); got != required || k.Required() != required {
			t.Errorf("required: %t, not %t", got, required)
		}
	}
}

// A bit that flips on the disk must not make a key hold that was revoked or expired, nor open a server that requires keys.
func TestAFileOfKeysWithAFlippedBitIsRefused(t *testing.T) {
	file := path(t)
	k := open(t, file, still)
	expired := ann
	expired.Expires = began.Add(time.Hour)
	k.must(t, expired)
	revoked, _ := k.must(t, ann)
	if _, err := k.Revoke(revoked.ID); err != nil {
		t.Fatal(err)
	}
	if err := k.Require(true); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if file, err := parse(data); err != nil || len(file.Keys) != 2 || !file.Required {
		t.Fatalf("the whole file is read as %+v, %v", file, err)
	}
	for bit := range 8 * len(data) {
		flipped := slices.Clone(data)
		flipped[bit/8] ^= 1 << (bit % 8)
		if _, err := parse(flipped); err == nil {
			t.Errorf("bit %d flipped in %.40q: the file is read, want it refused", bit, data[max(0, bit/8-20):])
		}
	}
}

func TestAFileOfKeysThatNobodyWroteIsRefused(t *testing.T) {
	for what, text := range map[string]string{
		"nothing": "", "half": `{"keys":[`, "a null among the keys": `{"keys":[null]}`, "an unknown member": `{"keys":[],"requires":true}`,
		"no checksum":                `{"keys":[]}`,
		"an unknown member of a key": `{"keys":[{"id":"a","sha256":"","revoke":"2026-05-01T12:00:00Z"}]}`, "a wrong checksum": `{"sha256":"00","keys":[]}`,
	} {
		file := path(t)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Options{Path: file, Clock: still}); err == nil || !strings.Contains(err.Error(), "is damaged") || !strings.Contains(err.Error(), "--require-keys=false") {
			t.Errorf("%s: got %v, want an error with what to do", what, err)
		}
	}
}

func TestDeletingTheFileOfKeysOpensNothing(t *testing.T) {
	file := path(t)
	k := open(t, file, still)
	_, secret := k.must(t, ann)
	if err := k.Require(true); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	k = open(t, file, still)
	if _, err := k.Verify(secret); err == nil {
		t.Error("a key of the deleted file holds")
	}
	for range 2 { // and once a file is written again
		if !k.Required() {
			t.Error("clients without a key are admitted, want keys still required")
		}
		k.must(t, ann)
		k = open(t, file, still)
	}
	if err := k.Require(false); err != nil {
		t.Fatal(err)
	}
	if k.Required() || open(t, file, still).Required() {
		t.Error("keys are required, after that was ended")
	}
}

func TestWhatIsKeptForAKeyIsToldOfItsEnd(t *testing.T) {
	var ended []string
	k, err := Open(Options{Path: filepath.Join(t.TempDir(), "keys.json"), Clock: time.Now, Ended: func(id string) { ended = append(ended, id) }})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, end := range []func(string) (Key, error){k.Revoke, k.Delete} {
		key, _, err := k.Create(ann)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := end(key.ID); err != nil {
			t.Fatal(err)
		}
		want = append(want, key.ID)
	}
	if !slices.Equal(ended, want) {
		t.Errorf("told of %q, want %q", ended, want)
	}
}
