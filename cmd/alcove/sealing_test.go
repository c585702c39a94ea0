package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	x25519 "filippo.io/age"

	"github.com/alcove-memory/alcove/host/testing/must"
)

// What a user does with an encrypted backup and an encrypted export, from the first to the restored memory.
func TestEncryptedCopiesAreRestoredOnAnotherMachine(t *testing.T) {
	t.Parallel()
	u, away := tenant{t, dataDir(t)}, t.TempDir()
	identity := must.Get(x25519.GenerateX25519Identity())
	key, words := filepath.Join(away, "key.txt"), filepath.Join(away, "words")
	must.Do(t, os.WriteFile(key, []byte(identity.String()+"\n"), 0o600))
	must.Do(t, os.WriteFile(words, []byte("several words for it\n"), 0o600))
	u.says("store", "plan", "walnut")
	folder, bundle, memories := filepath.Join(away, "backup"), filepath.Join(away, "all.age"), filepath.Join(away, "memories.age")
	u.says("backup", folder, "--recipient", identity.Recipient().String())
	u.says("export", bundle, "--passphrase-file", words)
	u.says("export", memories, "--memories", "--recipient", identity.Recipient().String())
	must.Do(t, filepath.WalkDir(away, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && bytes.Contains(must.Get(os.ReadFile(path)), []byte("walnut")) {
			t.Errorf("%s has a stored text, want none", path)
		}
		return err
	}))
	for _, c := range []struct{ command, from, flag, file string }{{"restore", folder, "--identity-file", key}, {"import", bundle, "--passphrase-file", words}} {
		other := tenant{t, dataDir(t)}
		if code := other.fails(c.command, c.from); code == 0 {
			t.Errorf("%s without an identity: exit code 0, want a failure", c.command)
		}
		other.says(c.command, c.from, c.flag, c.file)
		if said := other.says("recall", "plan"); !strings.Contains(said, "walnut") {
			t.Errorf("recall after %s: got %s, want walnut", c.command, said)
		}
	}
	if code := u.fails("import", memories, "--identity-file", key); code != exitCodes()["invalid_argument"] {
		t.Errorf("import encrypted memories: exit code %d, want that of invalid_argument", code)
	}
}
