package capture

import (
	"context"
	"errors"
	"fmt"
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
}

func readOpenTables(ctx context.Context, r *Reader, path string, from Cursor, each func([]Turn, Cursor) error) (err error) {
	db, err := sqlite.Open(ctx, path, sqlite.Limits{Value: longestValue})
	if err != nil {
		return wrongUnlessEnded(ctx, r, path, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	d := &openDatabase{Database: db, reader: r, path: path, since: from.Since - overlap.Milliseconds(), at: from, each: each}
	if known, err := db.HasTables("session", "message", "part"); err != nil || !known {
		if err == nil {
			err = errors.New("it has no tables session, message and part, as opencode's databases do since version 1.2")
		}
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
	const sql = `SELECT s.id, s.parent_id, s.directory, max(c.time_updated) AS changed
		FROM (SELECT session_id, time_updated FROM message UNION ALL SELECT session_id, time_updated FROM part) AS c
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

// openRow is a row of messages or parts.
type openRow struct {
	id      string
	updated int64
	data    string
}

// rows are those of a query. A row that is too long is wrong, and left out.
func (d *openDatabase) rows(sql, of, what string, most int) (list []openRow, err error) {
	err = d.Rows(sql, func(row sqlite.Row) error {
		if row.IsNull(2) {
			return d.reader.wrong(d.path, row.Text(0), tooLong("bytes in a "+what, longestValue))
		}
		if list = append(list, openRow{row.Text(0), row.Int(1), row.Text(2)}); len(list) > most {
			return tooLong(what+"s", most)
		}
		return nil
	}, of, int64(longestValue))
	return list, err
}

// session gives the turns of a session that changed.
func (d *openDatabase) session(ctx context.Context, s changedSession) error {
	if s.ParentID != "" {
		return nil // a subagent's
	}
	const sql = `SELECT id, time_updated, CASE WHEN octet_length(data) <= ?2 THEN data END FROM message
		WHERE session_id = ?1 ORDER BY time_created, id`
	messages, err := d.rows(sql, s.ID, "message", mostMessages)
	r := openReader{wrong: d.reader.wrong}
	r.place.follow(s.ID, s.Folder, "")
	for i := 0; err == nil && i < len(messages); i++ {
		err = d.message(&r, messages[i])
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

// message adds the turns of a message that changed, and counts those of the others.
func (d *openDatabase) message(r *openReader, row openRow) error {
	const sql = `SELECT id, time_updated, CASE WHEN octet_length(data) <= ?2 THEN data END FROM part WHERE message_id = ?1 ORDER BY id`
	rows, err := d.rows(sql, row.id, "part", mostParts)
	if err != nil {
		return err
	}
	changed := row.updated
	var parts []openPart
	for _, row := range rows {
		changed = max(changed, row.updated)
		var p openPart
		if err := decodeObject([]byte(row.data), &p); err != nil {
			if err := r.wrong(d.path, row.id, err); err != nil {
				return err
			}
			continue
		}
		p.ID = row.id
		parts = append(parts, p)
	}
	var m openMessage
	if err := decodeObject([]byte(row.data), &m); err != nil {
		return r.wrong(d.path, row.id, err)
	}
	m.ID = row.id
	r.yield = func(t Turn) error {
		if changed < d.since {
			return nil
		}
		return d.add(t)
	}
	return r.message(m, parts)
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
