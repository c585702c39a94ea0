package audit

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// followed reads what is new, and returns the numbers of entries.
func followed(t *testing.T, f *Follower) (seqs []uint64, gaps []Gap) {
	t.Helper()
	err := f.Next(t.Context(), func(_ []byte, e Entry) error { seqs = append(seqs, e.Seq); return nil }, func(g Gap) error { gaps = append(gaps, g); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return seqs, gaps
}

func upTo(first, last uint64) (seqs []uint64) {
	for n := first; n <= last; n++ {
		seqs = append(seqs, n)
	}
	return seqs
}

func TestAFollowerReadsEachEntryOnceThroughEndsOfFilesAndServers(t *testing.T) {
	dir := t.TempDir()
	f := &Follower{Dir: dir}
	if seqs, _ := followed(t, f); len(seqs) != 0 {
		t.Fatalf("of no log it reads %d", seqs)
	}
	var all []uint64
	for range 3 {
		_, head := filled(t, Options{Dir: dir, Bytes: 2000}, 25)
		seqs, gaps := followed(t, f)
		all = append(all, seqs...)
		if len(gaps) != 0 || !slices.Equal(all, upTo(1, head.Seq)) {
			t.Errorf("up to entry %d it read %d, and missed %+v", head.Seq, all, gaps)
		}
	}
	later := &Follower{Dir: dir, After: all[len(all)-3]}
	if seqs, _ := followed(t, later); !slices.Equal(seqs, all[len(all)-2:]) {
		t.Errorf("behind entry %d it reads %d, want the last two", all[len(all)-3], seqs)
	}
}

func TestAFollowerNamesWhatMadeRoomBeforeItWasRead(t *testing.T) {
	dir, head := filled(t, Options{Bytes: 2000, Kept: 10_000}, 300)
	first := list(t, dir)[0].Seq
	seqs, gaps := followed(t, &Follower{Dir: dir, After: 2})
	if !slices.Equal(gaps, []Gap{{3, first - 1}}) || !slices.Equal(seqs, upTo(first, head.Seq)) {
		t.Errorf("it missed %+v and read %d to %d, want that 3 to %d are missing and the rest", gaps, seqs[0], seqs[len(seqs)-1], first-1)
	}
}

func TestAFollowerWaitsForTheEndOfALine(t *testing.T) {
	dir, head := filled(t, Options{}, 5)
	f := &Follower{Dir: dir}
	followed(t, f)
	name := newest(t, dir)
	file, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"seq":9,"kin`); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if seqs, _ := followed(t, f); len(seqs) != 0 {
		t.Errorf("of a torn line it reads %d", seqs)
	}
	_, next := filled(t, Options{Dir: dir}, 3) // the torn line is removed
	if seqs, gaps := followed(t, f); len(gaps) != 0 || !slices.Equal(seqs, upTo(head.Seq+1, next.Seq)) {
		t.Errorf("it read %d, and missed %+v, want %d to %d", seqs, gaps, head.Seq+1, next.Seq)
	}
}

func TestAFollowerReadsADamagedFilesRestAndGoesOn(t *testing.T) {
	dir, _ := filled(t, Options{Bytes: 2000}, 60)
	names, err := files(dir)
	if err != nil || len(names) < 3 {
		t.Fatalf("files of the log %q, %v, want 3 or more", names, err)
	}
	change(t, names[1], func([]byte) []byte { return []byte("nothing\n") })
	seqs, gaps := followed(t, &Follower{Dir: dir})
	if len(gaps) != 1 || slices.Contains(seqs, gaps[0].From) || !slices.Contains(seqs, gaps[0].To+1) {
		t.Errorf("it read %d, and missed %+v, want the entries of %s missed", seqs, gaps, filepath.Base(names[1]))
	}
}

func TestAFollowerThatRunsReadsWhatComesUntilItIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openLog(t, Options{Dir: t.TempDir()})
		defer closed(t, l)
		enough := errors.New("enough")
		done := make(chan error, 1)
		go func() {
			f := Follower{Dir: l.Dir()}
			done <- f.Run(t.Context(), func(_ []byte, e Entry) error {
				if e.Kind == Called {
					return enough
				}
				return nil
			}, nil)
		}()
		time.Sleep(time.Minute)
		called(l)
		if err := l.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, enough) {
			t.Errorf("Run = %v, want the error of the visit", err)
		}
	})
}
