package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/alcove-memory/alcove/host/operator/segments"
)

// mostExamined bounds the entries that one Find looks at.
const mostExamined = 200_000

// Query selects entries. Empty fields select all.
type Query struct {
	Before    uint64    `json:"before,omitempty"` // only entries with lower numbers; 0: from the newest on
	Limit     int       `json:"limit,omitempty"`  // of entries; 0: 100
	Since     time.Time `json:"since,omitzero"`
	Kinds     []Kind    `json:"kinds,omitempty"`
	Family    string    `json:"family,omitempty"`
	Agent     string    `json:"agent,omitempty"`
	Key       string    `json:"key,omitempty"`
	Namespace string    `json:"namespace,omitempty"`
	Denied    bool      `json:"denied,omitempty"` // only what was denied or refused
}

func (q Query) selects(e Entry) bool {
	is := func(want, got string) bool { return want == "" || want == got }
	return (len(q.Kinds) == 0 || slices.Contains(q.Kinds, e.Kind)) && !e.Time.Before(q.Since) &&
		is(q.Family, e.Family) && is(q.Agent, e.Agent) && is(q.Key, e.Key) && is(q.Namespace, e.Namespace) &&
		(!q.Denied || len(e.Denied) > 0 || e.Kind == Refused)
}

// Page is the newest entries that a query selects, newest first.
type Page struct {
	Entries []Entry `json:"entries"`
	// Next is Before of a query for older ones; 0: there are none. A page with few entries may have one.
	Next uint64 `json:"next,omitempty"`
}

// Find is likewise the function, for a log that is open. It returns the last entry, too.
func (l *Log) Find(ctx context.Context, q Query) (Head, Page, error) {
	head, err := l.Head() // what is pending is in the files then
	if err != nil {
		return head, Page{Entries: []Entry{}}, err
	}
	p, err := Find(ctx, l.o.Dir, q)
	return head, p, err
}

// Verify checks the chain of the log up to its last entry.
func (l *Log) Verify() (Report, error) {
	head, err := l.Head()
	if err != nil {
		return Report{}, err
	}
	return Verify(l.o.Dir, []Head{head})
}

// Find reads the newest entries that a query selects from the log in a folder. It verifies nothing; lines that are no entries are skipped.
func Find(ctx context.Context, dir string, q Query) (p Page, err error) {
	p.Entries = []Entry{}
	if q.Limit == 0 {
		q.Limit = 100
	}
	list, err := folder(dir).List()
	if err != nil {
		return p, fmt.Errorf("read the audit log: %w", err)
	}
	examined := 0
	for _, s := range slices.Backward(list) {
		if first, err := strconv.ParseUint(s.Name(), 10, 64); err == nil && q.Before != 0 && first >= q.Before {
			continue
		}
		more, err := p.addFrom(ctx, s, q, &examined)
		if err != nil || !more {
			return p, err
		}
	}
	p.Next = 0
	return p, nil
}

// addFrom adds entries of a file, newest first, until the page is full or enough were looked at.
func (p *Page) addFrom(ctx context.Context, s segments.Segment, q Query, examined *int) (more bool, err error) {
	text, err := os.ReadFile(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil // deleted meanwhile, to make room
	}
	if err != nil {
		return false, fmt.Errorf("read the audit log: %w", err)
	}
	lines := slices.Collect(bytes.Lines(text))
	for _, line := range slices.Backward(lines) {
		body, _, err := split(line)
		if err != nil {
			continue
		}
		seq, ok := seqOf(body)
		if !ok || q.Before != 0 && seq >= q.Before {
			continue
		}
		if len(p.Entries) == q.Limit || *examined == mostExamined || ctx.Err() != nil {
			p.Next = seq + 1
			return false, ctx.Err()
		}
		*examined++
		if e, err := decode(body); err == nil && q.selects(e) {
			p.Entries = append(p.Entries, e)
		}
	}
	return true, nil
}
