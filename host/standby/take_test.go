package standby

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
)

// swallow is a Loader that keeps nothing.
type swallow struct{ store.Loader }

func (swallow) Add(store.Piece) error { return nil }

func TestAnIncrementIsAppliedUpToItsLimit(t *testing.T) {
	b := &bounded{Loader: swallow{}, left: mostApplied}
	value := make([]byte, 1<<20)
	for i := range mostApplied >> 20 {
		if err := b.Add(store.Piece{Entry: &store.Entry{Value: value}}); err != nil {
			t.Fatalf("after %d MiB: %v, want the whole limit taken", i, err)
		}
	}
	if err := b.Add(store.Piece{Note: value[:1]}); !errors.Is(err, backup.ErrBroken) || !strings.Contains(err.Error(), "134217728 bytes") {
		t.Errorf("one byte more is answered with %v, want %v that names the limit", err, backup.ErrBroken)
	}
}

// endless never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestAPartThatIsLongerThanItsManifestSaysIsNotFetched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part")
	c := backup.Chain{Open: func(context.Context, backup.Part) (io.ReadCloser, error) { return io.NopCloser(endless{}), nil }}
	err := copyPart(t.Context(), c, backup.Part{Bytes: 1000}, path)
	if !errors.Is(err, backup.ErrBroken) || !strings.Contains(err.Error(), "1000 bytes") {
		t.Errorf("it is answered with %v, want %v that names the limit", err, backup.ErrBroken)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 1001 {
		t.Errorf("%v is on the disk (%v), want no more than its 1000 bytes and one", info, err)
	}
}
