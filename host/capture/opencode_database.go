package capture

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/capture/sqlite"
	"github.com/alcove-memory/alcove/host/memory/importer"
)

// Limits of a database.
const (
	longestValue = 64 << 20 // bytes of a message or part
	mostSessions = 100_000
	mostMessages = 100_000 // of a session
	mostParts    = 100_000 // of a message
	readAttempts = 3       // of a database that is moved meanwhile
)

// overlap is for how long a change may be committed after another one that is newer, by another process. What is given twice is stored
// once.
const overlap = 10 * time.Second

// isOpenDatabase reports whether a path has the name of opencode's database.
func isOpenDatabase(path string) bool {
	name := filepath.Base(path)
	return name == "opencode.db" || strings.HasPrefix(name, "opencode-") && filepath.Ext(name) == ".db"
}

// errMoved says that a program changed what was being read.
var errMoved = errors.New("opencode wrote to it while it was read: the rest is read the next time")

// openTables reads opencode's database. When opencode moves its writes into it meanwhile, what was not given is read again.
func openTables(ctx context.Context, r *Reader, path string, from Cursor, each func([]Turn, Cursor) error) error {
	for attempt := 1; ; attempt++ {
		err := readOpenTables(ctx, r, path, from, func(turns []Turn, at Cursor) error {
			from = at
			return each(turns, at)
		})
		if !errors.Is(err, errMoved) {
			return err
		}
		if attempt == readAttempts {
			return r.wrong(path, "", errMoved)
		}
	}
}

// openDatabase is opencode's database while it is read.
type openDatabase struct {
	*sqlite.Database
	reader *Reader
	path   string
	since  int64 // milliseconds: what changed before was given
	at     Cursor
	out    chunk
	each   func([]Turn, Cursor) error

	inParts   bool   // messages are in message and part, as since version 1.2
	inEntries bool   // and in session_message, as since version 1.18
	order     string // of session_message
}

// tables finds those with messages.
func (d *openDatabase) tables() error {
	sessions, err := d.HasTables("session")
	if err == nil {
		d.inParts, err = d.HasTables("message", "part")
	}
	if err == nil {
		d.inEntries, err = d.HasTables("session_message")
	}
	if err == nil && !(sessions && (d.inParts || d.inEntries)) {
		err = errors.New("it has no tables session and message and part, or session and session_message, as opencode's databases do since version 1.2")
	}
	if err != nil || !d.inEntries {
		return err
	}
	d.order = "time_created, id"
	return d.Rows("SELECT 1 FROM pragma_table_info('session_message') WHERE name = 'seq'", func(sqlite.Row) error { d.order = "seq"; return nil })
}

func readOpenTables(ctx context.Context, r *Reader, path string, from Cursor, each func([]Turn, Cursor) error) (err error) {
	db, err := sqlite.Open(ctx, path, sqlite.Limits{Value: longestValue})
	if err != nil {
		return wrongUnlessEnded(ctx, r, path, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	d := &openDatabase{Database: db, reader: r, path: path, since: from.Since - overlap.Milliseconds(), at: from, each: each}
	if err := d.tables(); err != nil {
		return wrongUnlessEnded(ctx, r, path, err)
	}
	sessions, err := d.sessions()
	if err != nil {
		return wrongUnlessEnded(ctx, r, path, err)
	}
	for _, s := range sessions {
		if err := d.session(ctx, s); err != nil {
			return err
		}
	}
	return d.give()
}

// wrongUnlessEnded reports what is wrong with a database, unless the work was to end.
func wrongUnlessEnded(ctx context.Context, r *Reader, path string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return r.wrong(path, "", err)
}

// changedSession is a session that changed.
type changedSession struct {
	openSession
	changed int64 // when last, in milliseconds
}

// sessions are those that changed, the one that did so first in front: so a cursor after one stands for all before it.
func (d *openDatabase) sessions() (list []changedSession, err error) {
	var changes []string
	if d.inParts {
		changes = append(changes, "SELECT session_id, time_updated FROM message", "SELECT session_id, time_updated FROM part")
	}
	if d.inEntries {
		changes = append(changes, "SELECT session_id, time_updated FROM session_message")
	}
	sql := "SELECT s.id, s.parent_id, s.directory, max(c.time_updated) AS changed FROM (" + strings.Join(changes, " UNION ALL ") + `) AS c
		JOIN session AS s ON s.id = c.session_id
		WHERE c.time_updated >= ? GROUP BY s.id ORDER BY changed, s.id`
	err = d.Rows(sql, func(row sqlite.Row) error {
		s := changedSession{openSession{row.Text(0), row.Text(1), row.Text(2)}, row.Int(3)}
		if list = append(list, s); len(list) > mostSessions {
			return tooLong("sessions in a database", mostSessions)
		}
		return nil
	}, d.since)
	return list, err
}

// session gives the turns of a session that changed.
func (d *openDatabase) session(ctx context.Context, s changedSession) (err error) {
	if s.ParentID != "" {
		return nil // a subagent's
	}
	r := &openReader{wrong: d.reader.wrong}
	r.place.follow(s.ID, s.Folder, "")
	last := int64(math.MinInt64) // of what is in message and part: a version that wrote both wrote it twice
	if d.inParts {
		last, err = d.messages(r, s.ID)
	}
	if err == nil && d.inEntries {
		err = d.entries(r, s.ID, last)
	}
	if err == nil {
		d.at.Since = max(d.at.Since, min(s.changed, d.Changed().UnixMilli())) // a clock may have been wrong
		return nil
	}
	if isLimit := new(importer.LimitError); errors.As(err, &isLimit) {
		return d.reader.wrong(d.path, s.ID, err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// openRow is a message with its parts, as rows have them.
type openRow struct {
	id      string
	changed int64 // when it or a part was
	data    string
	isLong  bool
	parts   []openPart
}

// messages gives those of a session with parts, and returns when one changed last.
func (d *openDatabase) messages(r *openReader, session string) (last int64, err error) {
	const sql = `SELECT m.id, m.time_updated, CASE WHEN octet_length(m.data) <= ?2 THEN m.data END,
			p.id, p.time_updated, CASE WHEN octet_length(p.data) <= ?2 THEN p.data END
		FROM message AS m LEFT JOIN part AS p ON p.message_id = m.id
		WHERE m.session_id = ?1 ORDER BY m.time_created, m.id, p.id`
	last = math.MinInt64
	var m openRow
	count := 0
	end := func() error {
		if m.id == "" {
			return nil
		}
		if last = max(last, m.changed); m.isLong {
			return nil
		}
		return d.message(r, m)
	}
	err = d.Rows(sql, func(row sqlite.Row) error {
		if id := row.Text(0); id != m.id {
			if err := end(); err != nil {
				return err
			}
			if count++; count > mostMessages {
				return tooLong("messages", mostMessages)
			}
			m = openRow{id: id, changed: row.Int(1), data: row.Text(2), isLong: row.IsNull(2), parts: m.parts[:0]}
			if m.isLong {
				return d.reader.wrong(d.path, m.id, tooLong("bytes in a message", longestValue))
			}
		}
		return d.part(&m, row)
	}, session, int64(longestValue))
	if err == nil {
		err = end()
	}
	return last, err
}

// part adds the part that is in a row. One that is wrong is left out.
func (d *openDatabase) part(m *openRow, row sqlite.Row) error {
	if m.isLong || row.IsNull(3) {
		return nil
	}
	id := row.Text(3)
	m.changed = max(m.changed, row.Int(4))
	if row.IsNull(5) {
		return d.reader.wrong(d.path, id, tooLong("bytes in a part", longestValue))
	}
	var p openPart
	if err := decodeObject([]byte(row.Text(5)), &p); err != nil {
		return d.reader.wrong(d.path, id, err)
	}
	p.ID = id
	if m.parts = append(m.parts, p); len(m.parts) > mostParts {
		return tooLong("parts", mostParts)
	}
	return nil
}

// message adds the turns of a message that changed, and counts those of the others.
func (d *openDatabase) message(r *openReader, row openRow) error {
	var m openMessage
	if err := decodeObject([]byte(row.data), &m); err != nil {
		return r.wrong(d.path, row.id, err)
	}
	m.ID = row.id
	return d.said(r, m, row.parts, row.changed)
}

// said adds the turns of a message, if it changed.
func (d *openDatabase) said(r *openReader, m openMessage, parts []openPart, changed int64) error {
	r.yield = func(t Turn) error {
		if changed < d.since {
			return nil
		}
		return d.add(t)
	}
	return r.message(m, parts)
}

// entries gives those of a session in session_message that began after an instant.
func (d *openDatabase) entries(r *openReader, session string, after int64) error {
	sql := `SELECT id, time_updated, CASE WHEN octet_length(data) <= ?2 THEN data END, type FROM session_message
		WHERE session_id = ?1 AND time_created > ?3 AND type IN ('user', 'assistant', 'shell') ORDER BY ` + d.order
	count := 0
	return d.Rows(sql, func(row sqlite.Row) error {
		id := row.Text(0)
		if count++; count > mostMessages {
			return tooLong("messages", mostMessages)
		}
		if row.IsNull(2) {
			return d.reader.wrong(d.path, id, tooLong("bytes in a message", longestValue))
		}
		e := openEntry{ID: id, Type: row.Text(3)}
		if err := decodeObject([]byte(row.Text(2)), &e.openContent); err != nil {
			return d.reader.wrong(d.path, id, err)
		}
		m, parts := e.message()
		return d.said(r, m, parts, row.Int(1))
	}, session, int64(longestValue), after)
}

func (d *openDatabase) add(t Turn) error {
	t, ok := t.kept()
	if !ok {
		return nil
	}
	if d.out.add(t); !d.out.isFull() {
		return nil
	}
	return d.give()
}

// give passes on the turns, with the cursor after the sessions that are complete.
func (d *openDatabase) give() error {
	moved, err := d.Moved()
	if err != nil {
		return fmt.Errorf("read %s: %w", d.path, err)
	}
	if moved {
		return errMoved
	}
	return d.each(d.out.take(), d.at)
}
