package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

const (
	mostFaults = 20
	checkPage  = 5000 // rows read in one statement
)

// Check reads everything up to the present head and returns up to 20 faults, joined. Commits continue.
func (e *Engine) Check(ctx context.Context) error {
	end, err := e.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	c := &check{engine: e, ctx: ctx}
	c.run()
	c.report(ctx.Err())
	return errors.Join(c.faults...)
}

// check is a running check.
type check struct {
	engine *Engine
	ctx    context.Context
	faults []error
}

func (c *check) report(err error) {
	if err != nil && len(c.faults) < mostFaults {
		c.faults = append(c.faults, err)
	}
}

func (c *check) run() {
	head := c.engine.newest()
	c.report(c.points(head))
	c.report(c.entries(head))
	c.report(c.counters())
	list, err := c.engine.blobs(c.ctx, "", beyond)
	if err == nil {
		err = c.engine.checkBlobs(c.ctx, list)
	}
	c.report(err)
}

// each reads a page of rows. Nothing of it is judged before all is read.
func (c *check) each(query string, arguments []any, do func(rows pgx.Rows) (judge func(), err error)) (n int, err error) {
	var judges []func()
	err = c.engine.retry(c.ctx, func(ctx context.Context) error {
		judges = judges[:0]
		return c.engine.each(ctx, query, arguments, func(rows pgx.Rows) error {
			judge, err := do(rows)
			judges = append(judges, judge)
			return err
		})
	})
	if err != nil {
		return 0, translate(err)
	}
	for _, judge := range judges {
		judge()
	}
	return len(judges), nil
}

// points checks that versions and instants grow together without gaps up to the head.
func (c *check) points(head store.Point) error {
	var last store.Point
	query := `SELECT version, micros FROM alcove.points WHERE space = $1 AND version > $2 AND version <= $3 ORDER BY version LIMIT $4`
	for n := checkPage; n == checkPage; {
		var err error
		n, err = c.each(query, []any{c.engine.space, number(last.Version), number(head.Version), checkPage}, func(rows pgx.Rows) (func(), error) {
			var version, micros int64
			err := rows.Scan(&version, &micros)
			return func() {
				p := pointOf(version, micros)
				if p.Version != last.Version+1 || !p.Time.After(last.Time) && last.Version != 0 {
					c.report(fmt.Errorf("version %d at %s does not follow version %d at %s: %w", p.Version, p.Time, last.Version, last.Time, store.ErrDamaged))
				}
				last = p
			}, err
		})
		if err != nil {
			return err
		}
	}
	if last != head {
		return fmt.Errorf("the newest version is %d at %s, and the last commit is %d at %s: %w", head.Version, head.Time, last.Version, last.Time, store.ErrDamaged)
	}
	return nil
}

const checkEntriesSQL = `
SELECT ` + rowColumns + `, coalesce(p.micros, -1)
FROM (
	SELECT * FROM alcove.entries WHERE space = $1 AND version <= $2 AND (branch, key, version) > ($3, $4, $5) ORDER BY branch, key, version LIMIT $6
) e LEFT JOIN alcove.points p ON p.space = $1 AND p.version = e.version
ORDER BY e.branch, e.key, e.version`

// entries checks that entries are intact, and were committed at their instants.
func (c *check) entries(head store.Point) error {
	branch, key, version := int64(-1), []byte{}, int64(0)
	for n := checkPage; n == checkPage; {
		var err error
		n, err = c.each(checkEntriesSQL, []any{c.engine.space, number(head.Version), branch, key, version, checkPage}, func(rows pgx.Rows) (func(), error) {
			var r row
			var micros int64
			err := r.scan(rows, &micros)
			return func() {
				branch, key, version = r.Branch, r.Key, r.Version
				c.report(judge(r, micros))
			}, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func judge(r row, micros int64) error {
	e, err := r.entry()
	switch {
	case err != nil:
		return fmt.Errorf("branch %d: %w", r.Branch, err)
	case micros != r.Micros:
		return fmt.Errorf("branch %d: %s has version %d at %s, when nothing was committed: %w", r.Branch, e.Key, e.Version, e.Time, store.ErrDamaged)
	}
	return nil
}

func (c *check) counters() error {
	branch, key, version := int64(-1), []byte{}, int64(-1)
	query := `
SELECT branch, key, version FROM alcove.counters WHERE space = $1 AND (branch, key, version) > ($2, $3, $4) ORDER BY branch, key, version LIMIT $5`
	for n := checkPage; n == checkPage; {
		var err error
		n, err = c.each(query, []any{c.engine.space, branch, key, version, checkPage}, func(rows pgx.Rows) (func(), error) {
			var r row
			err := rows.Scan(&r.Branch, &r.Key, &r.Version)
			return func() {
				branch, key, version = r.Branch, r.Key, r.Version
				_, err := keycode.Decode(r.Key)
				c.report(err)
			}, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkBlobs checks the content of blobs against their digests.
func (e *Engine) checkBlobs(ctx context.Context, list []store.Blob) (err error) {
	seen := map[string]bool{}
	for _, b := range list {
		if seen[b.Digest] {
			continue
		}
		seen[b.Digest] = true
		digest, failed := hex.DecodeString(b.Digest)
		h := sha256.New()
		size := int64(0)
		if failed == nil {
			size, failed = io.Copy(h, &partReader{ctx: ctx, engine: e, digest: digest})
		}
		if found := hex.EncodeToString(h.Sum(nil)); failed == nil && (size != b.Size || found != b.Digest) {
			failed = fmt.Errorf("it has %d bytes with the digest %s, and should have %d with %s: %w", size, found, b.Size, b.Digest, store.ErrDamaged)
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("blob %s: %w", b.Name, failed))
		}
	}
	return err
}
