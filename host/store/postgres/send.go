package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"hash/crc32"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/alcove-memory/alcove/host/store"
)

// commitSQL writes a plan if the space is still this engine's, has the head that the plan follows, and meets its conditions. It returns
// a row of kind 0 if so, and one for each unmet condition.
const commitSQL = `
WITH lines AS MATERIALIZED (
	SELECT * FROM unnest($4::int[], $5::bigint[], $6::bigint[]) WITH ORDINALITY AS l (line, branch, upto, place)
), unmet AS (
	SELECT 1 AS kind, c.i, coalesce(f.have, 0) AS have, NULL::bytea AS digest, NULL::bigint AS micros, NULL::text AS sequences
	FROM unnest($7::int[], $8::bytea[], $9::bigint[]) WITH ORDINALITY AS c (line, key, want, i)
	LEFT JOIN LATERAL (
		SELECT CASE WHEN e.deleted THEN 0 ELSE e.version END AS have
		FROM lines l CROSS JOIN LATERAL (
			SELECT version, deleted FROM alcove.entries
			WHERE space = $1 AND branch = l.branch AND key = c.key AND version <= l.upto
			ORDER BY version DESC LIMIT 1
		) e
		WHERE l.line = c.line ORDER BY l.place LIMIT 1
	) f ON true
	WHERE coalesce(f.have, 0) <> c.want
	UNION ALL
	SELECT 2, q.i, f.version, NULL, NULL, NULL
	FROM unnest($10::bigint[], $11::bigint[]) WITH ORDINALITY AS q (branch, since, i)
	CROSS JOIN LATERAL (
		SELECT version FROM alcove.entries WHERE space = $1 AND branch = q.branch AND version + 0 > q.since ORDER BY version + 0 DESC LIMIT 1
	) f
	UNION ALL
	SELECT 3, r.i, d.version, d.digest, d.micros, d.sequences
	FROM unnest($12::bytea[]) WITH ORDINALITY AS r (request, i)
	JOIN alcove.requests d ON d.space = $1 AND d.request = r.request AND d.micros >= $13
), moved AS (
	UPDATE alcove.spaces SET head = $14, micros = $15
	WHERE space = $1 AND epoch = $2 AND head = $3 AND NOT EXISTS (SELECT 1 FROM unmet)
	RETURNING head
), new_points AS (
	INSERT INTO alcove.points (space, version, micros, note)
	SELECT $1, n.version, n.micros, n.note FROM moved, unnest($16::bigint[], $17::bigint[], $18::bytea[]) AS n (version, micros, note)
), new_entries AS (
	INSERT INTO alcove.entries (space, branch, key, version, micros, deleted, sum, value)
	SELECT $1, n.branch, n.key, n.version, n.micros, n.deleted, n.sum, n.value
	FROM moved, unnest($19::bigint[], $20::bytea[], $21::bigint[], $22::bigint[], $23::boolean[], $24::int[], $25::bytea[])
		AS n (branch, key, version, micros, deleted, sum, value)
), new_requests AS (
	INSERT INTO alcove.requests (space, request, digest, version, micros, sequences)
	SELECT $1, n.request, n.digest, n.version, n.micros, n.sequences
	FROM moved, unnest($26::bytea[], $27::bytea[], $28::bigint[], $29::bigint[], $30::text[]) AS n (request, digest, version, micros, sequences)
	ON CONFLICT (space, request) DO UPDATE
	SET digest = excluded.digest, version = excluded.version, micros = excluded.micros, sequences = excluded.sequences
), replaced AS (
	DELETE FROM alcove.counters c USING moved, unnest($31::bigint[], $32::bytea[], $33::bigint[]) AS d (branch, key, keep)
	WHERE c.space = $1 AND c.branch = d.branch AND c.key = d.key AND c.version > d.keep AND NOT EXISTS (
		SELECT 1 FROM unnest($34::bigint[], $35::bytea[], $36::bigint[]) AS n (branch, key, version)
		WHERE n.branch = c.branch AND n.key = c.key AND n.version = c.version)
), counted AS (
	INSERT INTO alcove.counters (space, branch, key, version, written, value)
	SELECT $1, n.branch, n.key, n.version, n.written, n.value
	FROM moved, unnest($34::bigint[], $35::bytea[], $36::bigint[], $37::bigint[], $38::bytea[]) AS n (branch, key, version, written, value)
	ON CONFLICT (space, branch, key, version) DO UPDATE SET written = excluded.written, value = excluded.value
)
SELECT 0 AS kind, 0::bigint AS i, head AS have, NULL::bytea AS digest, NULL::bigint AS micros, NULL::text AS sequences FROM moved
UNION ALL SELECT kind, i, have, digest, micros, sequences FROM unmet`

// send writes a plan. If it was not applied and err is nil, known has grown.
func (e *Engine) send(ctx context.Context, p *plan, known facts) (applied bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout+5*time.Second) // for a database that is cut off; others are bounded by their own timeout
	defer cancel()
	c, err := e.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer c.Release()
	rows, err := c.Query(ctx, commitSQL, e.arguments(p)...)
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
		e.unsettled.Store(true)
	}
	if ctx.Err() != nil {
		err = errors.Join(errSilent, err)
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
		return e.settle(ctx)
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

func (e *Engine) arguments(p *plan) []any {
	var lines struct {
		line         []int32
		branch, upto []int64
	}
	for i, l := range p.lines {
		for _, s := range l {
			lines.line, lines.branch, lines.upto = append(lines.line, int32(i)), append(lines.branch, number(s.Branch)), append(lines.upto, number(s.At))
		}
	}
	var checks struct {
		line []int32
		key  [][]byte
		want []int64
	}
	for _, c := range p.checks {
		checks.line, checks.key, checks.want = append(checks.line, int32(c.line)), append(checks.key, c.key), append(checks.want, number(c.want))
	}
	var quiets struct{ branch, since []int64 }
	for _, q := range p.quiets {
		quiets.branch, quiets.since = append(quiets.branch, number(q.Branch)), append(quiets.since, number(q.Since))
	}
	var asked [][]byte
	var requests struct {
		key, digest     [][]byte
		version, micros []int64
		sequences       []string
	}
	for i := range p.requests {
		r := &p.requests[i]
		asked = append(asked, r.key[:])
		if r.done == nil {
			continue
		}
		sequences, _ := json.Marshal(r.done.Sequences) // numbers
		requests.key, requests.digest = append(requests.key, r.key[:]), append(requests.digest, r.with[:])
		requests.version, requests.micros = append(requests.version, number(r.done.Version)), append(requests.micros, r.done.Time.UnixMicro())
		requests.sequences = append(requests.sequences, string(sequences))
	}
	var points struct {
		version, micros []int64
		note            [][]byte
	}
	for _, l := range p.points {
		points.version, points.micros, points.note = append(points.version, number(l.Version)), append(points.micros, l.Time.UnixMicro()), append(points.note, emptyIsNil(l.note))
	}
	n := newEntries(p.sorted())
	var replaced struct {
		branch, keep []int64
		key          [][]byte
	}
	var counted struct {
		branch, version, written []int64
		key, value               [][]byte
	}
	for at, c := range p.counters {
		replaced.branch, replaced.key, replaced.keep = append(replaced.branch, number(at.branch)), append(replaced.key, []byte(at.key)), append(replaced.keep, number(c.keep))
		for _, r := range c.records {
			counted.branch, counted.key, counted.version = append(counted.branch, number(at.branch)), append(counted.key, []byte(at.key)), append(counted.version, number(r.version))
			counted.written, counted.value = append(counted.written, number(r.written)), append(counted.value, r.value)
		}
	}
	return []any{
		e.space, e.epoch, number(p.base.Version),
		lines.line, lines.branch, lines.upto,
		checks.line, checks.key, checks.want,
		quiets.branch, quiets.since,
		asked, e.now().Add(-requestAge).UnixMicro(),
		number(p.head.Version), microsOf(p.head),
		points.version, points.micros, points.note,
		n.branch, n.key, n.version, n.micros, n.deleted, n.sum, n.value,
		requests.key, requests.digest, requests.version, requests.micros, requests.sequences,
		replaced.branch, replaced.key, replaced.keep,
		counted.branch, counted.key, counted.version, counted.written, counted.value,
	}
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
