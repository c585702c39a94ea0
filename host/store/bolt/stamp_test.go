package bolt_test

import (
	"bytes"
	"encoding/binary"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// transaction is a kind of write transaction, or several that belong together. All but the last few add no version.
type transaction struct {
	name string
	do   func(s *stage, e *bolt.Engine) error
}

func transactions() []transaction {
	return []transaction{
		{"put a blob", func(s *stage, e *bolt.Engine) error {
			_, err := e.PutBlob(s.t.Context(), "b2", strings.NewReader("new"))
			return err
		}},
		{"drop a blob", func(s *stage, e *bolt.Engine) error { return e.DropBlob(s.t.Context(), "b") }},
		{"note a backup", func(s *stage, e *bolt.Engine) error {
			return e.NoteBackup(s.t.Context(), store.BackedUp{Version: 3, Made: time.Unix(1e9, 0)})
		}},
		{"trim", func(s *stage, e *bolt.Engine) error { return e.Trim(s.t.Context(), 1, 40, []uint64{20}) }},
		{"reclaim", func(s *stage, e *bolt.Engine) error { return e.Reclaim(s.t.Context(), 10) }},
		{"reclaim a branch that does not exist", func(s *stage, e *bolt.Engine) error { return e.Reclaim(s.t.Context(), 77) }},
		{"consolidate", func(s *stage, e *bolt.Engine) error {
			l := store.Lineage{{Branch: 2, At: s.head(e)}}
			for i := range 20 {
				l = l.Fork(store.BranchID(100 + i)).At(s.head(e) + uint64(i))
			}
			return e.Consolidate(s.t.Context(), l)
		}},
		{"replace a value", func(s *stage, e *bolt.Engine) error {
			return e.Replace(s.t.Context(), []store.Replacement{{Branch: 1, Key: stageKey("ka"), Version: 1, Value: []byte("gone")}})
		}},
		{"drop a note", func(s *stage, e *bolt.Engine) error { return e.DropNotes(s.t.Context(), []uint64{2}) }},
		{"purge a note", func(s *stage, e *bolt.Engine) error { return e.PurgeNotes(s.t.Context(), []uint64{3}) }},
		{"refuse a commit", func(s *stage, e *bolt.Engine) error {
			_, err := e.Commit(s.t.Context(), store.Batch{Quiet: []store.Quiet{{Branch: 1, Since: 1}}})
			if err == nil {
				s.t.Error("the commit was not refused")
			}
			return nil
		}},
		{"commit nothing", func(s *stage, e *bolt.Engine) error {
			_, err := e.Commit(s.t.Context(), store.Batch{})
			return err
		}},
		{"commit", func(s *stage, e *bolt.Engine) error {
			s.note(e)
			return nil
		}},
	}
}

func TestEveryWriteTransactionGivesTheFileAHigherStamp(t *testing.T) {
	s := small(t)
	e := s.open(s.dir, bolt.Options{})
	before, began, err := bolt.Stamp(e)
	s.ok(err)
	if before == 0 {
		t.Error("the transaction with which a file is opened has no stamp")
	}
	check := func(name string) {
		t.Helper()
		now, ended, err := bolt.Stamp(e)
		s.ok(err)
		if ended > began && now <= before {
			t.Errorf("%s: transaction %d has the stamp %d, and %d had %d", name, ended, now, began, before)
		}
		before, began = now, ended
	}
	for _, tx := range transactions() {
		was := began
		s.ok(tx.do(s, e))
		if check(tx.name); began == was {
			t.Errorf("%s wrote nothing", tx.name)
		}
	}
	s.ok(e.Erase(t.Context()))
	began = 0 // the new file counts anew
	check("erase purged values")
	_, err = e.Compact(t.Context())
	s.ok(err)
	kept, _, err := bolt.Stamp(e)
	s.ok(err)
	if kept != before {
		t.Errorf("compaction made the stamp %d of %d", kept, before)
	}
	s.ok(e.Close())
	early := func() time.Time { return time.Unix(1, 0) } // a clock that was put back
	e = s.open(s.dir, bolt.Options{Now: early})
	check("open")
	s.note(e)
	check("commit with an early clock")
	s.ok(e.Close())
}

// TestTheEngineBeginsWriteTransactionsInOneWay reads the sources: what writes to the engine's file without a stamp is not found again
// after a power failure.
func TestTheEngineBeginsWriteTransactionsInOneWay(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			f, ok := n.(*ast.SelectorExpr)
			if !ok || !slices.Contains([]string{"Update", "Batch", "Begin"}, f.Sel.Name) {
				return true
			}
			line, _, _ := bytes.Cut(source[f.Pos()-1:], []byte("\n"))
			if call := string(line); strings.HasPrefix(call, "e.db.") && !strings.HasPrefix(call, "e.db.Update(e.stamped(") && !strings.HasPrefix(call, "e.db.Begin(false)") {
				if found++; name != "disk.go" || !strings.HasPrefix(call, "e.db.Begin(true)") {
					t.Errorf("%s: %s: a write transaction without a stamp", name, call)
				}
			}
			return true
		})
	}
	if found != 1 {
		t.Errorf("%d write transactions are begun; want that of attempt", found)
	}
}

// tears are what a power failure may leave of the page that was being written: bytes of it, and of the one before.
var tears = map[string]func(was, is []byte) []byte{
	"all but the checksum arrived":   func(was, is []byte) []byte { return slices.Concat(is[:72], was[72:]) },
	"half of the checksum arrived":   func(was, is []byte) []byte { return slices.Concat(is[:76], was[76:]) },
	"only the checksum arrived":      func(was, is []byte) []byte { return slices.Concat(was[:72], is[72:]) },
	"the root is missing":            func(was, is []byte) []byte { return slices.Concat(is[:32], make([]byte, 8), is[40:70], was[70:]) },
	"nothing of either page is left": func(was, is []byte) []byte { return make([]byte, len(is)) },
	"something else is there":        func(was, is []byte) []byte { return bytes.Repeat([]byte("else"), len(is)/4) },
}

// tear leaves a file's newer meta page as a power failure did that happened while it was written.
func tear(data []byte, how func(was, is []byte) []byte) {
	at := newestHead(data)
	is := data[at:][:4096]
	other, err := layout.ReadMeta(data[4096-at+layout.PageHeader:][:layout.MetaSize+8], 4096)
	if err != nil {
		panic(err)
	}
	other.TxID-- // what was there: the meta page of the transaction before
	was := append(layout.MetaHeader(other.TxID%2), other.Encode()...)
	was = append(was, make([]byte, 4096-len(was))...)
	copy(is, how(was, is))
}

// mustSurviveTears tears the newest meta page of a closed store in each way. Nothing may be lost.
func (s *stage) mustSurviveTears(name string) {
	s.t.Helper()
	whole := s.copyOf(s.dir)
	e := whole.open(whole.dir, bolt.Options{})
	says := whole.contents(e)
	s.ok(e.Close())
	for how, torn := range tears {
		c := s.copyOf(s.dir)
		c.damage(func(data []byte) { tear(data, torn) })
		e, err := bolt.Open(s.t.Context(), c.dir, bolt.Options{MapSize: 1 << 20})
		if err != nil {
			s.t.Errorf("%s: Open after %s: %v", name, how, err)
			continue
		}
		if missing, untrue := lacks(says, c.contents(e)); len(missing)+len(untrue) > 0 {
			s.t.Errorf("%s: %s: it lacks %.200q and says %.200q", name, how, missing, untrue)
		}
		c.checkNotes(e)
		s.ok(e.Check(s.t.Context()))
		s.ok(e.Close())
	}
}

// failCommit makes a commit fail that leaves its pages in the file, where further transactions find others to use.
func (s *stage) failCommit(e *bolt.Engine) (root uint64) {
	s.t.Helper()
	noneFree, release, err := bolt.HoldPages(e)
	s.ok(err)
	for n := 0; n < 20 || !noneFree(); n++ {
		s.note(e)
	}
	root, err = bolt.FailCommit(e, store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey("refused")}, {Branch: 2, Key: stageKey("refused")}}})
	s.ok(err)
	s.ok(release())
	return root
}

func (s *stage) page(id uint64) []byte {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, "alcove.db"))
	s.ok(err)
	return bytes.Clone(data[id*4096:][:4096])
}

// TestATornMetaPageLosesNothingAfterACommitThatFailed leaves the pages of a commit that failed, in part and whole, and then tears the
// meta page of some kinds of transaction, others each day.
func TestATornMetaPageLosesNothingAfterACommitThatFailed(t *testing.T) {
	for _, tx := range stress.Pick(t, 4, transactions()) {
		for _, left := range []string{"part of the failed commit is left", "all of the failed commit is left"} {
			t.Run(tx.name+", and "+left, func(t *testing.T) {
				t.Parallel()
				s := small(t)
				e := s.open(s.dir, bolt.Options{})
				root := s.failCommit(e)
				failed := s.page(root)
				s.ok(tx.do(s, e))
				s.ok(bolt.Abandon(e))
				if !bytes.Equal(s.page(root), failed) {
					t.Fatal("the root of the failed commit is not left")
				}
				if strings.HasPrefix(left, "part") {
					s.damage(func(data []byte) { clear(data[root*4096:][:4096]) })
				}
				s.mustSurviveTears(tx.name)
			})
		}
	}
}

// TestATornMetaPageLosesNothingWhenAFileIsOpened tears the meta page of the transaction with which a file is opened after a commit failed.
func TestATornMetaPageLosesNothingWhenAFileIsOpened(t *testing.T) {
	s := small(t)
	e := s.open(s.dir, bolt.Options{})
	s.failCommit(e)
	s.ok(bolt.Abandon(e))
	s.ok(bolt.Abandon(s.open(s.dir, bolt.Options{})))
	s.mustSurviveTears("open")
}

// TestADamagedStampMakesNoOlderTreeTheNewest flips each byte of the stamp, and damages the older meta page.
func TestADamagedStampMakesNoOlderTreeTheNewest(t *testing.T) {
	whole := small(t)
	e := whole.open(whole.dir, bolt.Options{})
	whole.ok(e.DropBlob(t.Context(), "b")) // adds no version
	stamp, _, err := bolt.Stamp(e)
	whole.ok(err)
	whole.ok(bolt.Abandon(e))
	for i := range 8 {
		s := whole.copyOf(whole.dir)
		s.damage(func(data []byte) {
			root := binary.LittleEndian.Uint64(data[newestHead(data)+layout.PageHeader+16:])
			sequence := bytes.Index(data[root*4096:][:4096], []byte("branches")) + len("branches") + 8
			at := data[root*4096:][sequence:][:8]
			if got := binary.LittleEndian.Uint64(at) >> 8; got != stamp {
				t.Fatalf("the stamp is not where the test looks for it: %d, want %d", got, stamp)
			}
			at[i] ^= 0x40
			older := data[4096-newestHead(data):][:4096]
			copy(older[40:], "something else that was not here before")
		})
		e := s.open(s.dir, bolt.Options{})
		if blobs, err := e.Blobs(t.Context(), ""); err != nil || len(blobs) != 0 {
			t.Errorf("byte %d: the blob that was dropped is back: %v (%v)", i, blobs, err)
		}
		s.ok(e.Close())
	}
}
