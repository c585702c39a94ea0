package remote

import (
	"context"
	"net/http"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/provenance"
)

// Paths of the routes.
const (
	countsPath = "/sync/counts"
	countPath  = "/sync/count"
)

// countsPage is the number of counters in a page.
const countsPage = 1000

// countRequest asks for a page of counters.
type countRequest struct {
	Scope provenance.Scope `json:"scope"`
	From  memory.CountMark `json:"from,omitempty"` // the known mark, or next of the previous page
}

// countsSince is a page of counters.
func countsSince(ctx context.Context, us *memory.Access, r countRequest) (page, error) {
	if len(r.From) > longestToken {
		return page{}, invalid("the cursor is not from a server")
	}
	list, next, err := us.Counted(ctx, memory.CountQuery{Scope: r.Scope, From: r.From, Limit: countsPage})
	return page{header: header{Scope: r.Scope}, counts: list, next: string(next)}, err
}

func (s *Space) pullCounts(ctx context.Context, from Peer, theirs introduced) (news int, err error) {
	us := s.Memory.As(s.Caller)
	known, err := us.CountsKnown(ctx, theirs.Space, theirs.Scope)
	if err != nil || known == theirs.Counts {
		return 0, err
	}
	for r, more := (countRequest{Scope: theirs.Scope, From: known}), true; more; {
		pg, err := from.Counts(ctx, r)
		if err != nil {
			return news, err
		}
		in := memory.ReceivedCounts{Space: theirs.Space, Scope: theirs.Scope, List: pg.counts}
		if r.From, more = memory.CountMark(pg.next), pg.next != ""; !more {
			in.Mark = theirs.Counts
		}
		got, err := us.ReceiveCounts(ctx, in)
		if err != nil {
			return news, err
		}
		news += got
	}
	return news, nil
}

func (s *Space) pushCounts(ctx context.Context, to Peer, ours memory.Peer, theirs introduced) (news int, err error) {
	us := s.Memory.As(s.Caller)
	mark, err := us.CountMark(ctx, theirs.Scope)
	if err != nil || mark == theirs.Counts {
		return 0, err
	}
	for r, more := (countRequest{Scope: theirs.Scope, From: theirs.Counts}), true; more; {
		pg, err := countsSince(ctx, us, r)
		if err != nil {
			return news, err
		}
		pg.Space = ours.Space
		if r.From, more = memory.CountMark(pg.next), pg.next != ""; !more {
			pg.Mark = mark
		}
		got, err := to.Count(ctx, pg)
		if err != nil {
			return news, err
		}
		news += got.Counted
	}
	return news, nil
}

// counts lists counters for another space.
func (s *Server) counts(ctx context.Context, who memory.Caller, r countRequest) (page, error) {
	if err := s.Memory.CheckScope(r.Scope); err != nil {
		return page{}, err
	}
	return countsSince(ctx, s.Memory.As(who), r)
}

// count receives pushed counters.
func (s *Server) count(ctx context.Context, who memory.Caller, pg page) (done Result, err error) {
	if _, err := nameOf(pg.Space); err != nil {
		return done, err
	}
	if err := s.Memory.CheckScope(pg.Scope); err != nil {
		return done, err
	}
	done.Counted, err = s.Memory.As(who).ReceiveCounts(ctx, memory.ReceivedCounts{Space: pg.Space, Scope: pg.Scope, List: pg.counts, Mark: pg.Mark})
	return done, err
}

func (s *Server) serveCounts(w http.ResponseWriter, r *http.Request) {
	var in countRequest
	err := decode(r.Body, &in)
	if err == nil {
		var pg page
		if pg, err = s.counts(r.Context(), s.Caller(r), in); err == nil {
			w.Header().Set("Content-Type", "application/zstd")
			s.packing.write(w, pg) //nolint:errcheck // the client retries
			return
		}
	}
	refuse(w, err)
}

// Counts implements Peer.
func (c *Client) Counts(ctx context.Context, r countRequest) (page, error) {
	body, err := c.post(ctx, countsPath, r)
	if err != nil {
		return page{}, err
	}
	defer body.Close()
	return c.packing.read(body)
}

// Count implements Peer.
func (c *Client) Count(ctx context.Context, p page) (done Result, err error) {
	return done, c.ask(ctx, countPath, p, &done)
}
