package backup_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store/backup"
)

func TestAFullBackupMakesABrokenFolderWholeAndRemovesWhatNothingNames(t *testing.T) {
	e, dir := open(t, t.TempDir()), t.TempDir()
	put(t, e, "a", "1")
	full(t, e, dir)
	put(t, e, "a", "2")
	increment(t, e, dir)
	put(t, e, "a", "3")
	last := increment(t, e, dir)
	writeParts(t, dir, []backup.Part{last, {File: "../outside.part"}})
	outside := filepath.Join(filepath.Dir(dir), "outside.part")
	kept := filepath.Join(dir, "letter.part")
	for _, path := range []string{outside, kept} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := backup.Increment(t.Context(), dir, source(e), time.Now()); !errors.Is(err, backup.ErrBroken) {
		t.Errorf("an increment of a broken backup: %v", err)
	}
	whole := full(t, e, dir)
	parts, err := filepath.Glob(filepath.Join(dir, "f*.part"))
	if err != nil || len(parts) != 1 || filepath.Base(parts[0]) != whole.File {
		t.Errorf("%v are there (%v)", parts, err)
	}
	for _, path := range []string{outside, kept} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%v: it is none of the backup's", err)
		}
	}
	if got, err := restored(t, dir); err != nil || got != "a=3" {
		t.Errorf("restored %q (%v)", got, err)
	}
}

func TestOfTwoBackupsAtTheSameTimeOneIsDroppedAndSaysSo(t *testing.T) {
	e, dir := open(t, t.TempDir()), t.TempDir()
	put(t, e, "a", "1")
	full(t, e, dir)
	put(t, e, "a", "2")
	slow := func(ctx context.Context, since backup.Base, w io.Writer) error {
		put(t, e, "a", "2")
		increment(t, e, dir)
		return backup.Write(ctx, w, e, since, nil)
	}
	for name, do := range map[string]func(context.Context, string, backup.Source, time.Time) (backup.Part, error){"full": backup.Full, "incremental": backup.Increment} {
		if _, err := do(t.Context(), dir, slow, time.Now()); err == nil || !strings.Contains(err.Error(), "another backup was made") {
			t.Errorf("the slow one, %s: %v", name, err)
		}
		if got, err := restored(t, dir); err != nil || got != "a=2" {
			t.Errorf("restored %q (%v)", got, err)
		}
	}
}

func TestFilesThatInterruptedBackupsLeftAreRemovedWhenTheyAreOld(t *testing.T) {
	e, dir := open(t, t.TempDir()), t.TempDir()
	put(t, e, "a", "1")
	old, fresh, other := filepath.Join(dir, "1.partial"), filepath.Join(dir, "2.partial"), filepath.Join(dir, "space.alcove-3.partial")
	for path, age := range map[string]time.Duration{old: 2 * time.Hour, fresh: time.Minute, other: 2 * time.Hour} {
		at := time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := toFile(t, e, filepath.Join(dir, "space.alcove")); err != nil {
		t.Fatal(err)
	}
	gone := func(path string) bool {
		_, err := os.Stat(path)
		return errors.Is(err, os.ErrNotExist)
	}
	if !gone(other) || gone(old) || gone(fresh) {
		t.Errorf("beside a single file: %t, %t, %t", gone(other), gone(old), gone(fresh))
	}
	full(t, e, dir)
	if !gone(old) || gone(fresh) {
		t.Errorf("in a folder: %t, %t", gone(old), gone(fresh))
	}
}

func TestALargeFileIsRemovedStepByStep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 30<<20)); err != nil {
		t.Fatal(err)
	}
	var sizes []int64
	truncate := func(path string, size int64) error {
		sizes = append(sizes, size>>20)
		return os.Truncate(path, size)
	}
	if err := backup.ShrinkAndRemove(path, truncate); err != nil {
		t.Fatal(err)
	}
	if want := []int64{22, 14, 6}; !slices.Equal(sizes, want) {
		t.Errorf("sizes of %v MB before the removal, want %v", sizes, want)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the removal: %v", err)
	}
	if err := backup.ShrinkAndRemove(path, truncate); err != nil {
		t.Errorf("removing what is absent: %v", err)
	}
}
