// Package sqlite reads the tables of another program's SQLite database as they were at one moment.
//
// The database may be hostile, damaged, and written meanwhile. SQLite itself runs as WebAssembly, and sees two files, both without a way to
// write: the database, and its log of writes, from which it takes the commits that are whole. Nothing is written or locked, so the
// program beside it never waits, and its writes may reach pages that are still to be read: Moved tells.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/embed" // SQLite as WebAssembly
	"github.com/ncruces/go-sqlite3/vfs"
)

// Magic is how every database begins.
const Magic = "SQLite format 3\x00"

// Limits of a database. The zero value has the defaults.
type Limits struct {
	Bytes int64 // of the database, and of its log (default: 8 GiB)
	Steps int   // of queries, in thousands of SQLite's instructions (default: 2,000,000, about a minute)
	Value int   // bytes of a row (default: 64 MiB)
}

func (l Limits) orDefault() Limits {
	for value, fallback := range map[*int]int{&l.Steps: 2_000_000, &l.Value: 64 << 20} {
		if *value == 0 {
			*value = fallback
		}
	}
	if l.Bytes == 0 {
		l.Bytes = 8 << 30
	}
	return l
}

// ErrSteps says that a database takes more work than the limit.
var ErrSteps = errors.New("its queries take too many steps")

// Database is an open database. One goroutine uses it.
type Database struct {
	files *snapshot
	name  string
	conn  *sqlite3.Conn
	work  *work
}

// Open opens the database at a path. It ends with the context.
func Open(ctx context.Context, path string, l Limits) (*Database, error) {
	l = l.orDefault()
	files, err := take(path, l.Bytes)
	if err != nil {
		return nil, err
	}
	d := &Database{files: files, name: fmt.Sprintf("alcove-%p", files), work: &work{Context: ctx, left: l.Steps}}
	vfs.Register(d.name, files)
	if err := d.open(l); err != nil {
		return nil, errors.Join(d.failure(err), d.Close())
	}
	return d, nil
}

func (d *Database) open(l Limits) (err error) {
	d.conn, err = sqlite3.OpenFlags("file:db?vfs="+d.name, sqlite3.OPEN_READONLY|sqlite3.OPEN_URI)
	if err != nil {
		return err
	}
	d.conn.SetInterrupt(d.work)
	d.conn.Limit(sqlite3.LIMIT_LENGTH, l.Value)
	// Exclusive: the index of the log is in memory, not in a file that both programs share.
	return d.conn.Exec("PRAGMA locking_mode = exclusive; PRAGMA temp_store = memory; PRAGMA trusted_schema = off; PRAGMA cell_size_check = on")
}

// Close closes the files.
func (d *Database) Close() (err error) {
	if d.conn != nil {
		err = d.conn.Close()
	}
	vfs.Unregister(d.name)
	return errors.Join(err, d.files.close())
}

// HasTables reports whether there are tables of these names. Views and virtual tables, which compute what they have, are none.
func (d *Database) HasTables(names ...string) (bool, error) {
	found := 0
	for _, name := range names {
		const sql = "SELECT 1 FROM sqlite_schema WHERE name = ? AND type = 'table' AND rootpage > 0"
		err := d.Rows(sql, func(Row) error { found++; return nil }, name)
		if err != nil {
			return false, err
		}
	}
	return found == len(names), nil
}

// Row is a row of a query, valid until the next.
type Row struct{ stmt *sqlite3.Stmt }

// Text is a column's text; empty: it is null.
func (r Row) Text(column int) string { return r.stmt.ColumnText(column) }

// Int is a column's number.
func (r Row) Int(column int) int64 { return r.stmt.ColumnInt64(column) }

// IsNull reports whether a column is null.
func (r Row) IsNull(column int) bool { return r.stmt.ColumnType(column) == sqlite3.NULL }

// Rows calls each with the rows of a query. Arguments are strings and int64s.
func (d *Database) Rows(sql string, each func(Row) error, arguments ...any) (err error) {
	stmt, _, err := d.conn.Prepare(sql)
	if err != nil {
		return d.failure(err)
	}
	defer func() { err = errors.Join(err, d.failure(stmt.Close())) }()
	for i, a := range arguments {
		switch a := a.(type) {
		case string:
			err = stmt.BindText(i+1, a)
		case int64:
			err = stmt.BindInt64(i+1, a)
		default:
			err = fmt.Errorf("an argument is a %T", a)
		}
		if err != nil {
			return d.failure(err)
		}
	}
	for stmt.Step() {
		if err := each(Row{stmt}); err != nil {
			return err
		}
	}
	return d.failure(stmt.Err())
}

// failure is what ended the work, if that was not the database.
func (d *Database) failure(err error) error {
	switch {
	case err == nil:
		return nil
	case d.work.Context.Err() != nil:
		return d.work.Context.Err()
	case d.work.left <= 0:
		return ErrSteps
	}
	return fmt.Errorf("read the database: %w", err)
}

// Moved reports whether the program wrote to pages since Open, so that what was read may be of several moments.
func (d *Database) Moved() (bool, error) { return d.files.moved() }

// Changed is when the database or its log changed last before Open.
func (d *Database) Changed() time.Time { return d.files.changed }

// work is the context of queries, which SQLite asks for its error each thousand instructions: it ends with the steps that are left.
type work struct {
	context.Context
	left int
}

func (w *work) Err() error {
	if w.left--; w.left <= 0 {
		w.left = math.MinInt / 2 // and stays so
		return ErrSteps
	}
	return w.Context.Err()
}
