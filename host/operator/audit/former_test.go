package audit

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestALogOfARestoredDirectoryBeginsWithTheHeadOfTheFormerLog(t *testing.T) {
	_, head := filled(t, Options{}, 3)
	text, err := FormerLog{Head: head, Person: "ann, uid 1000", Reason: "drill 4"}.Text()
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, FormerFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	former, err := Former(data)
	if err != nil || former == nil {
		t.Fatalf("Former = %v, %v, want the head of the log before", former, err)
	}
	dir := filepath.Join(data, "audit")
	closed(t, openLog(t, Options{Dir: dir, Former: former}))
	if err := ForgetFormer(data); err != nil {
		t.Fatal(err)
	}
	want := strconv.FormatUint(head.Seq, 10) + ":" + head.Hash
	if first := list(t, dir)[0]; first.Kind != FromBackup || !strings.Contains(first.Detail, want) || first.Person != "ann, uid 1000" || first.Reason != "drill 4" {
		t.Errorf("it begins with %+v, want %s, who restored it and why", first, want)
	}
	if former, err = Former(data); former != nil || err != nil {
		t.Errorf("it is named again: %v, %v", former, err)
	}
	if r := verified(t, dir, head); len(r.Problems) == 0 {
		t.Error("the new log passes for the former one")
	}
}

func TestALogOfADirectoryThatWasRestoredFromACopyWithoutALogNamesWhoDidIt(t *testing.T) {
	dir := t.TempDir()
	closed(t, openLog(t, Options{Dir: dir, Former: &FormerLog{Person: "ann, uid 1000"}}))
	first := list(t, dir)[0]
	if first.Kind != FromBackup || first.Person != "ann, uid 1000" || strings.Contains(first.Detail, restoredBeside) {
		t.Errorf("it begins with %+v, want who restored it, and no head", first)
	}
	if r := verified(t, dir); len(r.Problems) > 0 || r.Restored != nil {
		t.Errorf("verify says %+v, want a log that continues no other", r)
	}
}

func TestAHeadOfAFormerLogThatIsNoneIsRefused(t *testing.T) {
	for name, text := range map[string]string{"torn": `{"seq":`, "no hash": `{"seq":4,"hash":"x"}`, "huge": strings.Repeat(" ", FormerLimit+1)} {
		data := t.TempDir()
		if err := os.WriteFile(filepath.Join(data, FormerFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Former(data); err == nil || !strings.Contains(err.Error(), "move the file away") {
			t.Errorf("%s: Former: %v, want the advice to move the file away", name, err)
		}
	}
}

func TestARestoredLogIsAcceptedByTheHeadsOfTheFormerOneIfTheyHaveTheOneThatItNames(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	logged := func(o Options) (heads []Head) {
		o.Clock = clock
		l, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for range 4 {
			l.Add(Entry{Kind: Called, Family: "notes"})
			h, err := l.Head()
			if err != nil {
				t.Fatal(err)
			}
			heads = append(heads, h)
		}
		return heads
	}
	former := logged(Options{Dir: t.TempDir()}) // entries 2 to 5
	dir := t.TempDir()
	restored := logged(Options{Dir: dir, Former: &FormerLog{Head: former[1]}})
	for _, c := range []struct {
		name  string
		heads []Head
		last  uint64 // of the former log; 0: it is not accepted
		bad   bool
	}{
		{"all heads of both", slices.Concat(former, restored), 5, false},
		{"the named one", former[1:2], 3, false},
		{"the named one, noted down", []Head{{Seq: former[1].Seq, Hash: former[1].Hash}}, 3, false},
		{"others of the former log", []Head{former[0], former[3]}, 0, true},
		{"one that was forged", []Head{former[1], {Seq: 2, Hash: former[3].Hash}}, 3, true},
		{"those of the restored log", restored, 0, false},
	} {
		r, err := VerifyRestored(dir, c.heads)
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := Verify(dir, c.heads); err != nil || len(plain.Problems) == 0 && c.last > 0 {
			t.Errorf("%s: without being told that the directory was restored, got no problem (%v)", c.name, err)
		}
		last := uint64(0)
		if r.Restored != nil {
			last = r.Restored.Last
		}
		if last != c.last || (len(r.Problems) > 0) != c.bad {
			t.Errorf("%s: got the former log up to entry %d and problems %q, want up to %d and problems: %t", c.name, last, r.Problems, c.last, c.bad)
		}
	}
}
