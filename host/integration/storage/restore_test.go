package storage_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/datadir"
	"github.com/alcove-memory/alcove/host/testing/server"
)

func TestARestoredDirectoryHasItsEmbeddersAndVectorsAndVerifyingSendsNoTexts(t *testing.T) {
	t.Parallel()
	speaks, dir, safe := newSpeaks(t), t.TempDir(), t.TempDir()
	h, act, stop := server.Run(t, host.Options{Dir: dir})
	if _, err := operator.Call(t.Context(), act, operator.SetEmbedder, operator.EmbedderRequest{Config: speaks.config("s")}); err != nil {
		t.Fatal(err)
	}
	server.Remember(t, h, "a cat sleeps", "a car drives")
	until(t, act, has(2))
	stop() // which writes the vectors
	h, act, stop = server.Run(t, host.Options{Dir: dir})
	until(t, act, has(2))
	c := server.Operator(t, dir)
	from := func(ctx context.Context, since backup.Base, w io.Writer) error {
		return operator.Receive(ctx, c, operator.Backup, operator.BackupRequest{Since: since}, w)
	}
	if _, err := backup.Full(t.Context(), safe, from, time.Now()); err != nil {
		t.Fatal(err)
	}
	if found := findBytes(t, safe, h.Token()); h.Token() == "" || len(found) > 0 {
		t.Errorf("the token %q is in the backup: %v", h.Token(), found)
	}
	stop()
	before, fresh := speaks.asked(), filepath.Join(t.TempDir(), "data")
	r, err := space.Directory(fresh).Restore(t.Context(), safe, datadir.RestoreOptions{})
	if err != nil || !r.Settings.Embedders || len(r.Findings) > 0 {
		t.Fatalf("Restore = %+v (%v), want the embedders, and no findings", r, err)
	}
	had, errHad := os.ReadFile(filepath.Join(dir, "embedders.json"))
	restored, errHas := os.ReadFile(filepath.Join(fresh, "embedders.json"))
	if err := errors.Join(errHad, errHas); err != nil || !bytes.Equal(had, restored) {
		t.Errorf("%s became %s (%v)", had, restored, err)
	}
	_, act, _ = server.Run(t, host.Options{Dir: fresh})
	until(t, act, has(2))
	if speaks.asked() != before {
		t.Errorf("%d texts were sent again", speaks.asked()-before)
	}
}
