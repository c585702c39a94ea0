package remote

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/alcove-memory/alcove/host/memory"
)

// Paths of the routes.
const (
	recordsPath = "/sync/records"
	recordPath  = "/sync/record"
)

// recordMarks are marks of records: of those that all branches share, and of those of the branch.
type recordMarks struct {
	Shared string `json:"shared,omitempty"`
	Branch string `json:"branch,omitempty"`
}

func (m *recordMarks) of(shared bool) *string {
	if shared {
		return &m.Shared
	}
	return &m.Branch
}

// parts are the parts of the records of a branch that are exchanged: those that all branches share go with the default one.
func parts(branch string) []bool {
	if branch == memory.Default {
		return []bool{true, false}
	}
	return []bool{false}
}

// both returns what is in two lists.
func both(a, b []string) (list []string) {
	for _, name := range a {
		if slices.Contains(b, name) {
			list = append(list, name)
		}
	}
	return list
}

// recordRequest asks for a page of records.
type recordRequest struct {
	header
	Shared      bool     `json:"shared,omitempty"`
	Collections []string `json:"collections"`
	Since       string   `json:"since,omitempty"`
	From        string   `json:"from,omitempty"`
}

// recordsSince is a page of records.
func recordsSince(ctx context.Context, us *memory.Access, r recordRequest, most int) (page, error) {
	at, err := placeOf(r.From)
	if err != nil || len(r.Since) > longestToken || len(r.Collections) > mostCollections {
		return page{}, invalid("the cursor is not from a server, or more than %d collections are named", mostCollections)
	}
	list, err := us.ChangedRecords(ctx, memory.RecordsQuery{Branch: r.Branch, Shared: r.Shared, Scope: r.Scope, Collections: r.Collections, Peer: r.Space, Since: r.Since, At: r.At,
		From: at, Limit: cmp.Or(most, 500), Bytes: pageBytes})
	if err != nil {
		return page{}, err
	}
	next, err := token(list.Next)
	return page{header: header{Branch: r.Branch, At: list.At, Scope: r.Scope, Mark: memory.CountMark(list.Mark), Shared: r.Shared, Collections: r.Collections}, records: list.Records, next: next}, err
}

// isWorth reports whether a mark should be stored. Storing makes a version, so if every mark were stored, two spaces that watch each other
// would exchange for ever.
func isWorth(listed int, mark memory.CountMark, known string) bool {
	return listed > 0 || memory.RecordsAhead(string(mark), known) > idleVersions
}

// mostCollections bounds the collections of an exchange.
const mostCollections = 1000

func (s *Space) pullRecords(ctx context.Context, from Peer, e Exchange, us string, theirs introduced) (news int, err error) {
	a := s.Memory.As(s.Caller)
	collections := both(a.SyncedCollections(memory.ToWrite), theirs.Records)
	for _, shared := range parts(e.Branch) {
		in := memory.ReceivedRecords{Branch: e.Branch, Shared: shared, Space: theirs.Space, Scope: theirs.Scope, Collections: collections}
		if len(collections) == 0 {
			break
		}
		known, err := a.RecordsKnown(ctx, in)
		if err != nil {
			return news, err
		}
		if known == *theirs.RecordMarks.of(shared) {
			continue
		}
		r := recordRequest{header: header{Space: us, Branch: e.Branch, Scope: theirs.Scope}, Shared: shared, Collections: collections, Since: known}
		listed := 0
		for more := true; more; {
			pg, err := from.Records(ctx, r)
			if err != nil {
				return news, err
			}
			in.Records, listed = pg.records, listed+len(pg.records)
			if r.From, r.At, more = pg.next, pg.At, pg.next != ""; !more && isWorth(listed, pg.Mark, known) {
				in.Mark = string(pg.Mark)
			}
			if len(in.Records) == 0 && in.Mark == "" {
				continue
			}
			got, err := a.ReceiveRecords(ctx, in, memory.Write{})
			if err != nil {
				return news, err
			}
			news += got
		}
	}
	return news, nil
}

func (s *Space) pushRecords(ctx context.Context, to Peer, e Exchange, ours memory.Peer, theirs introduced) (news int, err error) {
	a := s.Memory.As(s.Caller)
	collections := both(a.SyncedCollections(memory.ToRead), theirs.Records)
	for _, shared := range parts(e.Branch) {
		if len(collections) == 0 {
			break
		}
		mark, err := a.RecordMark(ctx, e.Branch, shared)
		known := *theirs.RecordMarks.of(shared)
		if err != nil {
			return news, err
		}
		if mark == known {
			continue
		}
		r := recordRequest{header: header{Space: theirs.Space, Branch: e.Branch, Scope: theirs.Scope}, Shared: shared, Collections: collections, Since: known}
		listed := 0
		for more := true; more; {
			pg, err := recordsSince(ctx, a, r, s.Page)
			if err != nil {
				return news, err
			}
			pg.Space, listed = ours.Space, listed+len(pg.records)
			if r.From, r.At, more = pg.next, pg.At, pg.next != ""; more || !isWorth(listed, pg.Mark, known) {
				pg.Mark = ""
			}
			if len(pg.records) == 0 && pg.Mark == "" {
				continue
			}
			got, err := to.Record(ctx, pg)
			if err != nil {
				return news, err
			}
			news += got.Records
		}
	}
	return news, nil
}

// introduceRecords adds the collections that can be exchanged to an introduction.
func (s *Server) introduceRecords(ctx context.Context, us *memory.Access, r introduction, a *introduced) (err error) {
	if len(r.Records) > mostCollections {
		return invalid("%d collections of records: at most %d can be exchanged", len(r.Records), mostCollections)
	}
	direction := memory.ToRead
	if r.Push {
		direction = memory.ToWrite
	}
	a.Records = both(us.SyncedCollections(direction), r.Records)
	for _, shared := range parts(a.Branch) {
		mark := a.RecordMarks.of(shared)
		if r.Push {
			*mark, err = us.RecordsKnown(ctx, memory.ReceivedRecords{Branch: a.Branch, Shared: shared, Space: r.Space, Scope: r.Scope.Within(a.Scope), Collections: a.Records})
		} else {
			*mark, err = us.RecordMark(ctx, a.Branch, shared)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// records lists records for another space.
func (s *Server) records(ctx context.Context, who memory.Caller, r recordRequest) (page, error) {
	if err := checkBranch(r.Branch); err != nil {
		return page{}, err
	}
	if err := s.Memory.CheckScope(r.Scope); err != nil {
		return page{}, err
	}
	return recordsSince(ctx, s.Memory.As(who), r, s.Page)
}

// record receives pushed records.
func (s *Server) record(ctx context.Context, who memory.Caller, pg page) (done Result, err error) {
	if _, err := nameOf(pg.Space); err != nil {
		return done, err
	}
	if err := checkBranch(pg.Branch); err != nil {
		return done, err
	}
	if err := s.Memory.CheckScope(pg.Scope); err != nil {
		return done, err
	}
	if len(pg.Collections) > mostCollections {
		return done, invalid("%d collections of records: at most %d can be exchanged", len(pg.Collections), mostCollections)
	}
	done.Records, err = s.Memory.As(who).ReceiveRecords(ctx, memory.ReceivedRecords{Branch: pg.Branch, Shared: pg.Shared, Space: pg.Space, Scope: pg.Scope,
		Collections: pg.Collections, Records: pg.records, Mark: string(pg.Mark)}, memory.Write{})
	return done, err
}

func (s *Server) serveRecords(w http.ResponseWriter, r *http.Request) {
	var in recordRequest
	err := decode(r.Body, &in)
	if err == nil {
		var pg page
		if pg, err = s.records(r.Context(), s.Caller(r), in); err == nil {
			w.Header().Set("Content-Type", "application/zstd")
			s.packing.write(w, pg) //nolint:errcheck // the client retries
			return
		}
	}
	refuse(w, err)
}

// Records implements Peer.
func (c *Client) Records(ctx context.Context, r recordRequest) (page, error) {
	body, err := c.post(ctx, recordsPath, r)
	if err != nil {
		return page{}, err
	}
	defer body.Close()
	return c.packing.read(body)
}

// Record implements Peer.
func (c *Client) Record(ctx context.Context, p page) (done Result, err error) {
	return done, c.ask(ctx, recordPath, p, &done)
}
