package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/powerloss"
)

// powerWork makes the test binary the process whose power fails: the directory that it works in.
const powerWork = "ALCOVE_TEST_POWER_WORK"

func TestMain(m *testing.M) {
	if dir := os.Getenv(powerWork); dir != "" {
		if err := powerWorkload(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const (
	powerBackups = 6
	powerRounds  = 80
)

// powerWorkload backs up a store again and again, whole or what is new, restores each backup, and says what it did.
func powerWorkload(dir string) error {
	ctx := context.Background()
	kept := filepath.Join(os.TempDir(), fmt.Sprintf("powerstore%d", os.Getpid())) // not on the disk that fails
	defer os.RemoveAll(kept)
	e, err := bolt.Open(ctx, kept, bolt.Options{MapSize: 1 << 16})
	if err != nil {
		return err
	}
	defer e.Close()
	for i := range powerBackups {
		value := fmt.Sprint(i, strings.Repeat("x", 3000))
		if _, err := e.Commit(ctx, store.Batch{Writes: []store.Write{{Branch: 1, Key: powerKey(i), Value: []byte(value)}}}); err != nil {
			return err
		}
		if _, err := e.PutBlob(ctx, fmt.Sprint("blob", i/2), strings.NewReader(value)); err != nil {
			return err
		}
		make := backup.Increment
		if i%3 == 0 {
			make = backup.Full
		}
		if _, err := make(ctx, filepath.Join(dir, "backups"), source(e), time.Now()); err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "backup %d\n", i+1)
		if _, err := backup.ToFile(ctx, filepath.Join(dir, "single.alcove"), source(e), time.Now()); err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "single %d\n", i+1)
		to := fmt.Sprint("restored", i+1)
		if err := restore(ctx, filepath.Join(dir, "backups"), filepath.Join(dir, to)); err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "%s\n", to)
	}
	return nil
}

func powerKey(i int) store.Key {
	return store.Key{Namespace: "n", Collection: "c", Name: fmt.Sprint("k", i)}
}

func restore(ctx context.Context, from, to string) error {
	read := func(l store.Loader, _ string) error { return backup.Read(ctx, from, nil, l, nil, nil) }
	verify := func(ctx context.Context, dir string) error {
		_, err := has(ctx, dir)
		return err
	}
	return bolt.Driver{}.Load(ctx, to, store.Load{Read: read, Verify: verify})
}

// has counts the keys of a restored store.
func has(ctx context.Context, dir string) (int, error) {
	e, err := bolt.Open(ctx, dir, bolt.Options{MapSize: 1 << 16})
	if err != nil {
		return 0, err
	}
	list, _, err := e.ScanAt(ctx, store.Lineage{{Branch: 1, At: store.Latest}}, store.Range{}, "", 100)
	return len(list), errors.Join(err, e.Check(ctx), e.Close())
}

// afterPowerFailure makes sure that what was said holds in a directory.
func afterPowerFailure(ctx context.Context, dir string, said []byte) error {
	backups, single := 0, 0
	for line := range strings.Lines(string(said)) {
		line = strings.TrimSpace(line)
		n := 0
		if _, err := fmt.Sscanf(line, "backup %d", &n); err == nil {
			backups = n
			continue
		}
		if _, err := fmt.Sscanf(line, "single %d", &n); err == nil {
			single = n
			continue
		}
		if _, err := fmt.Sscanf(line, "restored%d", &n); err != nil {
			return fmt.Errorf("heard %q", line)
		}
		if keys, err := has(ctx, filepath.Join(dir, line)); err != nil || keys != n {
			return fmt.Errorf("%s has %d keys (%w)", line, keys, err)
		}
	}
	if single > 0 {
		if err := goesOn(ctx, filepath.Join(dir, "single.alcove"), filepath.Join(dir, "again from a file"), single); err != nil {
			return err
		}
	}
	err := goesOn(ctx, filepath.Join(dir, "backups"), filepath.Join(dir, "again"), backups)
	if backups == 0 && errors.Is(err, backup.ErrNone) {
		return nil
	}
	return err
}

// goesOn restores a backup, which must have so many keys or more.
func goesOn(ctx context.Context, from, to string, backups int) error {
	if err := restore(ctx, from, to); err != nil {
		return fmt.Errorf("restore after %d backups: %w", backups, err)
	}
	if keys, err := has(ctx, to); err != nil || keys < backups {
		return fmt.Errorf("%d keys were restored after %d backups (%w)", keys, backups, err)
	}
	return nil
}

func TestAPowerFailureLosesNoBackupAndNothingThatWasRestored(t *testing.T) {
	if testing.Short() {
		t.Skip("what is traced is another process, which the race detector does not see: it runs in the long form")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	trace, err := powerloss.Record(t.Context(), powerloss.Command{Root: dir, Program: program, Environment: []string{powerWork + "=" + dir}})
	if errors.Is(err, powerloss.ErrUnavailable) && os.Getenv("CI") != "true" {
		t.Skipf("%v (with CI=true this fails)", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		lie  func(string) bool
		want bool
	}{
		"an honest disk": {nil, true},
		"a disk that ignores syncs of the names of backups": {func(name string) bool { return name == "backups" }, false},
		// Of the names alone: bbolt ends a process whose database is not what it synced.
		"a disk that ignores syncs of the names of what is restored": {func(name string) bool {
			return strings.HasPrefix(name, "restored") && !strings.Contains(name, "alcove.db")
		}, false},
		"a disk that ignores syncs of backups": {func(name string) bool { return strings.HasPrefix(name, "backups/") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			err := trace.Failures(rand.New(rand.NewPCG(seed, 1)), powerRounds, c.lie, func(f *powerloss.Failure) error {
				left := t.TempDir()
				defer os.RemoveAll(left)
				if err := f.Leave(left); err != nil {
					t.Fatal(err)
				}
				return afterPowerFailure(t.Context(), left, f.Said[:bytes.LastIndexByte(f.Said, '\n')+1])
			})
			if (err == nil) != c.want {
				t.Errorf("seed %d: %v", seed, err)
			}
		})
	}
}
