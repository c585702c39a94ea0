package sqlite

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ncruces/go-sqlite3"
)

// made makes a database with a log of writes, which stays as long as the connection is open.
func made(t testing.TB, sql string) (path string, writer *sqlite3.Conn) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.db")
	w, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	write(t, w, "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; "+sql)
	return path, w
}

func write(t testing.TB, w *sqlite3.Conn, sql string) {
	t.Helper()
	if err := w.Exec(sql); err != nil {
		t.Fatal(err)
	}
}

func opened(t testing.TB, path string) *Database {
	t.Helper()
	d, err := Open(t.Context(), path, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func ids(t testing.TB, d *Database) (list []string) {
	t.Helper()
	if err := d.Rows("SELECT id FROM a ORDER BY id", func(r Row) error { list = append(list, r.Text(0)); return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

const tableA = "CREATE TABLE a(id TEXT PRIMARY KEY, data TEXT); INSERT INTO a VALUES('one', 'x');"

func TestCommitsOfTheLogAreReadAndNothingIsWritten(t *testing.T) {
	path, w := made(t, tableA+"PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO a VALUES('two', 'y')")
	before := filesOf(t, path)
	d := opened(t, path)
	if got, want := ids(t, d), []string{"one", "two"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := d.Rows("DELETE FROM a", func(Row) error { return nil }); err == nil {
		t.Error("a deletion: got no error, want one")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if after := filesOf(t, path); !slices.EqualFunc(after, before, bytes.Equal) {
		t.Error("got other files after reading, want the same")
	}
	write(t, w, "INSERT INTO a VALUES('three', 'z')") // which no lock stops
}

// filesOf are the contents of the database and its log; the file that writers share is theirs.
func filesOf(t *testing.T, path string) (list [][]byte) {
	t.Helper()
	for _, name := range []string{path, Log(path)} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, content)
	}
	return list
}

func TestWritesIntoTheDatabaseAreNoticed(t *testing.T) {
	path, w := made(t, tableA)
	d := opened(t, path)
	for _, step := range []struct {
		sql   string
		moved bool
	}{{"INSERT INTO a VALUES('two', 'y')", false}, {"PRAGMA wal_checkpoint(TRUNCATE)", true}} {
		write(t, w, step.sql)
		if moved, err := d.Moved(); moved != step.moved || err != nil {
			t.Errorf("after %s: got %v, %v, want %v", step.sql, moved, err, step.moved)
		}
	}
}

func TestAHalfWrittenLogHasTheCommitsThatAreWhole(t *testing.T) {
	path, w := made(t, tableA+"PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO a VALUES('two', 'y')")
	whole, err := os.ReadFile(Log(path))
	if err != nil {
		t.Fatal(err)
	}
	write(t, w, "INSERT INTO a VALUES('three', 'z')")
	log, err := os.ReadFile(Log(path))
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "x.db")
	main := filesOf(t, path)[0]
	for _, half := range [][]byte{log[:len(log)-1], log[:len(whole)+30], append(slices.Clone(whole), bytes.Repeat([]byte{7}, 9000)...), whole} {
		for name, content := range map[string][]byte{copied: main, Log(copied): half} {
			if err := os.WriteFile(name, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := ids(t, opened(t, copied)), []string{"one", "two"}; !slices.Equal(got, want) {
			t.Errorf("a log of %d of %d bytes: got %q, want %q", len(half), len(log), got, want)
		}
	}
}

func TestViewsAndVirtualTablesAreNoTables(t *testing.T) {
	path, _ := made(t, tableA+`CREATE VIEW b AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i FROM n;
		CREATE VIRTUAL TABLE c USING fts5(text)`)
	d := opened(t, path)
	for _, of := range []struct {
		names []string
		has   bool
	}{{[]string{"a"}, true}, {[]string{"a", "b"}, false}, {[]string{"a", "c"}, false}, {[]string{"d"}, false}} {
		if has, err := d.HasTables(of.names...); has != of.has || err != nil {
			t.Errorf("%q: got %v, %v, want %v", of.names, has, err, of.has)
		}
	}
}

func TestALimitEndsTheWork(t *testing.T) {
	path, _ := made(t, tableA)
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT max(i) FROM n"
	read := func(ctx context.Context, l Limits, sql string) error {
		d, err := Open(ctx, path, l)
		if err != nil {
			return err
		}
		defer d.Close()
		return d.Rows(sql, func(Row) error { return nil })
	}
	if err := read(t.Context(), Limits{Steps: 100}, endless); !errors.Is(err, ErrSteps) {
		t.Errorf("an endless query: got %v, want %v", err, ErrSteps)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := read(ended, Limits{}, endless); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context's end: got %v, want %v", err, context.Canceled)
	}
	if err := read(t.Context(), Limits{Bytes: 100}, "SELECT 1"); err == nil {
		t.Error("a database of more bytes than the limit: got no error, want one")
	}
	if err := read(t.Context(), Limits{Value: 100}, "SELECT hex(zeroblob(100))"); err == nil {
		t.Error("a value of more bytes than the limit: got no error, want one")
	}
	if _, err := Open(t.Context(), t.TempDir(), Limits{}); err == nil {
		t.Error("a folder: got no error, want one")
	}
}

func FuzzNoFilesMakeItPanic(f *testing.F) {
	path, _ := made(f, tableA+"PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO a VALUES('two', 'y')")
	main, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	log, err := os.ReadFile(Log(path))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(main, log)
	f.Add(main[:len(main)-100], []byte{})
	for at := 0; at < len(main); at += 331 {
		damaged := slices.Clone(main)
		damaged[at] ^= 0x5a
		f.Add(damaged, log[:len(log)-at%len(log)])
	}
	f.Fuzz(func(t *testing.T, main, log []byte) {
		path := filepath.Join(t.TempDir(), "x.db")
		if err := errors.Join(os.WriteFile(path, main, 0o600), os.WriteFile(Log(path), log, 0o600)); err != nil {
			t.Fatal(err)
		}
		d, err := Open(t.Context(), path, Limits{Steps: 1000})
		if err != nil {
			return
		}
		if has, err := d.HasTables("a"); has && err == nil {
			_ = d.Rows("SELECT id, data FROM a", func(Row) error { return nil })
		}
		if err := d.Close(); err != nil {
			t.Errorf("close: got %v, want no error", err)
		}
	})
}
