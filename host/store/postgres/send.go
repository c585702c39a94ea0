package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"hash/crc32"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// statement is text with arguments that is put together from parts.
type statement struct {
	text strings.Builder
	args []any
}

// add adds text in which $a stands for the first of further arguments, $b for the second, and so on.
func (s *statement) add(text string, args ...any) {
	for i, a := range args {
		s.args = append(s.args, a)
		text = strings.ReplaceAll(text, "$"+string(rune('a'+i)), "$"+strconv.Itoa(len(s.args)))
	}
	s.text.WriteString(text)
}

// statement writes a plan if the space is still this engine's, has the head that the plan follows, and meets its conditions. It returns
// a row of kind 0 if so, and one for each unmet condition. It has only the parts that the plan needs: the database begins and ends each part
// of a statement whether or not there is something to do for it.
func (e *Engine) statement(p *plan) *statement {
	s := &statement{args: []any{e.space}}
	unmet := s.conditions(p, e.now().Add(-requestAge))
	s.add(`moved AS (
	UPDATE alcove.spaces SET head = $a, micros = $b WHERE space = $1 AND epoch = $c AND head = $d`,
		number(p.head.Version), microsOf(p.head), e.epoch, number(p.base.Version))
	if unmet {
		s.add(` AND NOT EXISTS (SELECT 1 FROM unmet)`)
	}
	s.add(`
	RETURNING head
)`)
	s.points(p)
	s.entries(p)
	s.requests(p)
	s.counters(p)
	s.add(`
SELECT 0 AS kind, 0::bigint AS i, head AS have, NULL::bytea AS digest, NULL::bigint AS micros, NULL::text AS sequences FROM moved`)
	if unmet {
		s.add(`
UNION ALL SELECT kind, i, have, digest, micros, sequences FROM unmet`)
	}
	return s
}

// conditions adds the conditions of a plan, if it has any: those that are unmet.
func (s *statement) conditions(p *plan, requested time.Time) (has bool) {
	s.add(`WITH `)
	between := `unmet AS (`
	if len(p.checks) > 0 {
		s.checks(p)
		between = ` UNION ALL`
	}
	if len(p.quiets) > 0 {
		var branch, since []int64
		for _, q := range p.quiets {
			branch, since = append(branch, number(q.Branch)), append(since, number(q.Since))
		}
		s.add(between+`
	SELECT 2 AS kind, q.i, f.version AS have, NULL::bytea AS digest, NULL::bigint AS micros, NULL::text AS sequences
	FROM unnest($a::bigint[], $b::bigint[]) WITH ORDINALITY AS q (branch, since, i)
	CROSS JOIN LATERAL (
		SELECT version FROM alcove.entries WHERE space = $1 AND branch = q.branch AND version + 0 > q.since ORDER BY version + 0 DESC LIMIT 1
	) f`, branch, since)
		between = ` UNION ALL`
	}
	if len(p.requests) > 0 {
		var asked [][]byte
		for i := range p.requests {
			asked = append(asked, p.requests[i].key[:])
		}
		s.add(between+`
	SELECT 3 AS kind, r.i, d.version AS have, d.digest, d.micros, d.sequences
	FROM unnest($a::bytea[]) WITH ORDINALITY AS r (request, i)
	JOIN alcove.requests d ON d.space = $1 AND d.request = r.request AND d.micros >= $b`, asked, requested.UnixMicro())
		between = ` UNION ALL`
	}
	if has = between == ` UNION ALL`; has {
		s.add(`
), `)
	}
	return has
}

func (s *statement) checks(p *plan) {
	var line []int32
	var branch, upto []int64
	for i, l := range p.lines {
		for _, segment := range l {
			line, branch, upto = append(line, int32(i)), append(branch, number(segment.Branch)), append(upto, number(segment.At))
		}
	}
	var of []int32
	var key [][]byte
	var want []int64
	for _, c := range p.checks {
		of, key, want = append(of, int32(c.line)), append(key, c.key), append(want, number(c.want))
	}
	s.add(`lines AS MATERIALIZED (
	SELECT * FROM unnest($a::int[], $b::bigint[], $c::bigint[]) WITH ORDINALITY AS l (line, branch, upto, place)
), unmet AS (
	SELECT 1 AS kind, c.i, coalesce(f.have, 0) AS have, NULL::bytea AS digest, NULL::bigint AS micros, NULL::text AS sequences
	FROM unnest($d::int[], $e::bytea[], $f::bigint[]) WITH ORDINALITY AS c (line, key, want, i)
	LEFT JOIN LATERAL (
		SELECT CASE WHEN e.deleted THEN 0 ELSE e.version END AS have
		FROM lines l CROSS JOIN LATERAL (
			SELECT version, deleted FROM alcove.entries
			WHERE space = $1 AND branch = l.branch AND key = c.key AND version <= l.upto
			ORDER BY version DESC LIMIT 1
		) e
		WHERE l.line = c.line ORDER BY l.place LIMIT 1
	) f ON true
	WHERE coalesce(f.have, 0) <> c.want`, line, branch, upto, of, key, want)
}

func (s *statement) points(p *plan) {
	if len(p.points) == 0 {
		return
	}
	var version, micros []int64
	var note [][]byte
	for _, l := range p.points {
		version, micros, note = append(version, number(l.Version)), append(micros, l.Time.UnixMicro()), append(note, emptyIsNil(l.note))
	}
	s.add(`, new_points AS (
	INSERT INTO alcove.points (space, version, micros, note)
	SELECT $1, n.version, n.micros, n.note FROM moved, unnest($a::bigint[], $b::bigint[], $c::bytea[]) AS n (version, micros, note)
)`, version, micros, note)
}

func (s *statement) entries(p *plan) {
	if len(p.entries) == 0 {
		return
	}
	n := newEntries(p.sorted())
	s.add(`, new_entries AS (
	INSERT INTO alcove.entries (space, branch, key, version, micros, deleted, sum, value)
	SELECT $1, n.branch, n.key, n.version, n.micros, n.deleted, n.sum, n.value
	FROM moved, unnest($a::bigint[], $b::bytea[], $c::bigint[], $d::bigint[], $e::boolean[], $f::int[], $g::bytea[])
		AS n (branch, key, version, micros, deleted, sum, value)
)`, n.branch, n.key, n.version, n.micros, n.deleted, n.sum, n.value)
}

func (s *statement) requests(p *plan) {
	var key, digest [][]byte
	var version, micros []int64
	var sequences []string
	for i := range p.requests {
		r := &p.requests[i]
		if r.done == nil {
			continue
		}
		list, _ := json.Marshal(r.done.Sequences) // numbers
		key, digest, sequences = append(key, r.key[:]), append(digest, r.with[:]), append(sequences, string(list))
		version, micros = append(version, number(r.done.Version)), append(micros, r.done.Time.UnixMicro())
	}
	if len(key) == 0 {
		return
	}
	s.add(`, new_requests AS (
	INSERT INTO alcove.requests (space, request, digest, version, micros, sequences)
	SELECT $1, n.request, n.digest, n.version, n.micros, n.sequences
	FROM moved, unnest($a::bytea[], $b::bytea[], $c::bigint[], $d::bigint[], $e::text[]) AS n (request, digest, version, micros, sequences)
	ON CONFLICT (space, request) DO UPDATE
	SET digest = excluded.digest, version = excluded.version, micros = excluded.micros, sequences = excluded.sequences
)`, key, digest, version, micros, sequences)
}

func (s *statement) counters(p *plan) {
	if len(p.counters) == 0 {
		return
	}
	var branch, keep []int64
	var key [][]byte
	var on, version, written []int64
	var of, value [][]byte
	for at, c := range p.counters {
		branch, key, keep = append(branch, number(at.branch)), append(key, []byte(at.key)), append(keep, number(c.keep))
		for _, r := range c.records {
			on, of, version = append(on, number(at.branch)), append(of, []byte(at.key)), append(version, number(r.version))
			written, value = append(written, number(r.written)), append(value, r.value)
		}
	}
	s.add(`, replaced AS (
	DELETE FROM alcove.counters c USING moved, unnest($a::bigint[], $b::bytea[], $c::bigint[]) AS d (branch, key, keep)
	WHERE c.space = $1 AND c.branch = d.branch AND c.key = d.key AND c.version > d.keep AND NOT EXISTS (
		SELECT 1 FROM unnest($d::bigint[], $e::bytea[], $f::bigint[]) AS n (branch, key, version)
		WHERE n.branch = c.branch AND n.key = c.key AND n.version = c.version)
), counted AS (
	INSERT INTO alcove.counters (space, branch, key, version, written, value)
	SELECT $1, n.branch, n.key, n.version, n.written, n.value
	FROM moved, unnest($d::bigint[], $e::bytea[], $f::bigint[], $g::bigint[], $h::bytea[]) AS n (branch, key, version, written, value)
	ON CONFLICT (space, branch, key, version) DO UPDATE SET written = excluded.written, value = excluded.value
)`, branch, key, keep, on, of, version, written, value)
}

// send writes a plan. If it was not applied and err is nil, known has grown.
func (e *Engine) send(ctx context.Context, p *plan, known facts) (applied bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout+5*time.Second) // for a database that is cut off; others are bounded by their own timeout
	defer cancel()
	c, err := e.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer c.Release()
	began, written := time.Now(), e.statement(p)
	rows, err := c.Query(ctx, written.text.String(), written.args...)
	if err == nil {
		var list []unmet
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[unmet])
		applied = len(list) == 1 && list[0].Kind == 0
		if err == nil && !applied {
			return false, e.learn(ctx, p, known, list)
		}
	}
	if err == nil && isUnreplicated(c.Conn()) {
		err = errUnreplicated
	}
	if err != nil && !pgconn.SafeToRetry(err) && (isDisconnected(err) || ctx.Err() != nil) {
		e.unresolved.Store(true)
	}
	if ctx.Err() != nil {
		err = errors.Join(errSilent, err)
	}
	if err == nil {
		e.cache.confirm(began)
	}
	return err == nil, err
}

var (
	errUnreplicated = &lostError{"the database committed without the confirmation of a standby"}
	errSilent       = &lostError{"the database did not answer in time"}
)

// lostError counts as a lost connection: what was sent may or may not last.
type lostError struct{ text string }

func (e *lostError) Error() string { return e.text }

// unmet is a row of the answer.
type unmet struct {
	Kind      int32
	I         int64 // from 1
	Have      int64
	Digest    []byte
	Micros    *int64
	Sequences *string
}

// learn adds what the database told to the known facts. If it told nothing, the space is not as the plan takes it to be.
func (e *Engine) learn(ctx context.Context, p *plan, known facts, list []unmet) error {
	if len(list) == 0 {
		return e.raiseEpoch(ctx)
	}
	for _, u := range list {
		switch u.Kind {
		case 1:
			a := p.checks[u.I-1]
			known[factOfKey(p.lines[a.line], a.key)] = fact{version: uint64(u.Have)}
		case 2:
			known[factOfBranch(p.quiets[u.I-1].Branch)] = fact{version: uint64(u.Have)}
		case 3:
			was, err := decodeRequest(u.Have, *u.Micros, u.Digest, *u.Sequences)
			if err != nil {
				return err
			}
			known[factOfRequest(p.requests[u.I-1].key)] = fact{request: true, was: was}
		}
	}
	return nil
}

func decodeRequest(version, micros int64, digest []byte, sequences string) (r requested, err error) {
	r.done.Point = pointOf(version, micros)
	copy(r.digest[:], digest)
	return r, json.Unmarshal([]byte(sequences), &r.done.Sequences)
}

// entry is the entry of a line.
func (l entryLine) entry() (e store.Entry, err error) {
	if e.Key, err = keycode.Decode([]byte(l.key)); err != nil {
		return e, err
	}
	e.Branch, e.Point, e.Deleted = l.branch, l.Point, l.deleted
	if e.Value = l.value; e.Value == nil && !l.deleted {
		e.Value = []byte{}
	}
	return e, nil
}

// columns are entries as the database takes them.
type columns struct {
	branch, version, micros []int64
	key, value              [][]byte
	deleted                 []bool
	sum                     []int32
}

func newEntries(list []entryLine) columns {
	var c columns
	for _, l := range list {
		c.add(l)
	}
	return c
}

func (c *columns) add(l entryLine) {
	value := l.value
	if value == nil {
		value = []byte{}
	}
	c.branch, c.key, c.version, c.micros = append(c.branch, number(l.branch)), append(c.key, []byte(l.key)), append(c.version, number(l.Version)), append(c.micros, l.Time.UnixMicro())
	c.deleted, c.sum, c.value = append(c.deleted, l.deleted), append(c.sum, sumOf(l)), append(c.value, value)
}

// sumOf is the checksum of a row of entries.
func sumOf(l entryLine) int32 {
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	head := make([]byte, 0, 25+len(l.key))
	for _, n := range []int64{number(l.branch), number(l.Version), l.Time.UnixMicro()} {
		head = appendNumber(head, n)
	}
	if l.deleted {
		head = append(head, 1)
	}
	h.Write(append(head, l.key...))
	h.Write(l.value)
	return int32(h.Sum32())
}

func appendNumber(to []byte, n int64) []byte {
	for shift := 56; shift >= 0; shift -= 8 {
		to = append(to, byte(n>>shift))
	}
	return to
}

func emptyIsNil(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// number is a version or id as the database has it; store.Latest becomes the greatest.
func number[T ~uint64](n T) int64 { return int64(min(uint64(n), math.MaxInt64)) }

func microsOf(p store.Point) int64 {
	if p.Version == 0 {
		return 0
	}
	return p.Time.UnixMicro()
}
