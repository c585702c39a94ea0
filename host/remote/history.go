package remote

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/provenance"
)

// Paths of the routes.
const (
	historyPath        = "/sync/history"
	historyKnownPath   = "/sync/history/known"
	historyReceivePath = "/sync/history/receive"
)

// Histories selects the versions of a memory to exchange.
type Histories string

// Histories of a remote.
const (
	NewestVersions Histories = "newest" // the default
	AllVersions    Histories = "all"
)

func (h Histories) check() error {
	if h != "" && h != NewestVersions && h != AllVersions {
		return invalid("history %q is not one of all, newest", clip(string(h)))
	}
	return nil
}

// knownHistories is the state of a space that receives histories.
type knownHistories struct {
	Known provenance.Knowledge `json:"known"`
	Place memory.HistoryPlace  `json:"place"` // of an interrupted push
}

// pullHistories receives the older versions. It continues an interrupted exchange first.
func (s *Space) pullHistories(ctx context.Context, from Peer, e Exchange, theirs introduced, done *Result) error {
	place, err := s.Memory.As(s.Caller).HistoryPlace(ctx, e.Branch, theirs.Space, theirs.Scope)
	if err != nil {
		return err
	}
	if place.Next != "" && place.At <= theirs.At {
		err := s.pullHistoriesFrom(ctx, from, e, theirs, place, done)
		if err != nil && !isInvalid(err) { // the server that issued the place may be gone
			return done.orNewestOnly(err)
		}
	}
	return done.orNewestOnly(s.pullHistoriesFrom(ctx, from, e, theirs, memory.HistoryPlace{At: theirs.At}, done))
}

func (s *Space) pullHistoriesFrom(ctx context.Context, from Peer, e Exchange, theirs introduced, place memory.HistoryPlace, done *Result) error {
	ours, err := s.Memory.As(s.Caller).HistoryPeer(ctx, e.Branch, 0, theirs.Scope, memory.ToRead)
	if err != nil {
		return err
	}
	r := request{Branch: e.Branch, At: place.At, Scope: theirs.Scope, Known: ours.Known, From: place.Next}
	for more := true; more; {
		pg, err := from.History(ctx, r)
		if err != nil {
			return err
		}
		pg.Space, pg.Branch, pg.At, pg.Scope = theirs.Space, e.Branch, r.At, theirs.Scope
		if err := s.tookHistories(ctx, r.From, pg, done); err != nil {
			return err
		}
		r.From, more = pg.next, pg.next != ""
	}
	return nil
}

// tookHistories receives the page after the place from.
func (s *Space) tookHistories(ctx context.Context, from string, pg page, done *Result) error {
	if pg.next != "" && (len(pg.versions) == 0 || pg.next == from) {
		return errors.New("the other space sends histories without end: the page of a history that it sent last leads nowhere")
	}
	got, err := receiveHistories(ctx, s.Memory, s.Caller, pg)
	done.add(got)
	return err
}

// orNewestOnly turns the error of a server without histories into a note.
func (r *Result) orNewestOnly(err error) error {
	if errors.Is(err, errNoRoute) {
		r.NewestOnly = true
		return nil
	}
	return err
}

func isInvalid(err error) bool {
	e, ok := errors.AsType[*memory.Error](err)
	return ok && e.Code == memory.InvalidArgument
}

// receiveHistories writes a page.
func receiveHistories(ctx context.Context, space *memory.Space, who memory.Caller, pg page) (done Result, err error) {
	step, us := space.Limits().Batch, space.As(who)
	for first := 0; first == 0 || first < len(pg.versions); first += step {
		end := min(first+step, len(pg.versions))
		in := memory.ReceivedHistory{Space: pg.Space, Branch: pg.Branch, Versions: pg.versions[first:end], Known: pg.Known, Scope: pg.Scope, At: pg.At, Next: pg.next}
		in.More = end < len(pg.versions)
		got, err := us.ReceiveHistory(ctx, in, memory.Write{})
		if err != nil {
			return done, err
		}
		done.add(Result{Past: got.Taken, Left: got.Left, Version: got.Version})
	}
	return done, nil
}

// pushHistories sends the older versions. It continues an interrupted exchange first.
func (s *Space) pushHistories(ctx context.Context, to Peer, e Exchange, ours memory.Peer, theirs introduced, done *Result) error {
	hello := introduction{Space: ours.Space, Branch: e.Branch, Scope: theirs.Scope, Push: true}
	known, err := to.KnownHistories(ctx, hello)
	if err != nil {
		return done.orNewestOnly(err)
	}
	if known.Place.Next != "" && known.Place.At <= ours.At {
		if err := s.pushHistoriesFrom(ctx, to, e, theirs, known, done); err != nil && !isInvalid(err) {
			return err
		}
		if known, err = to.KnownHistories(ctx, hello); err != nil {
			return err
		}
	}
	known.Place = memory.HistoryPlace{At: ours.At}
	return s.pushHistoriesFrom(ctx, to, e, theirs, known, done)
}

func (s *Space) pushHistoriesFrom(ctx context.Context, to Peer, e Exchange, theirs introduced, known knownHistories, done *Result) error {
	us := s.Memory.As(s.Caller)
	ours, err := us.HistoryPeer(ctx, e.Branch, known.Place.At, theirs.Scope, memory.ToRead)
	if err != nil {
		return err
	}
	for from, more := known.Place.Next, true; more; {
		pg, err := listedHistories(ctx, us, ours, known.Known, from, s.Page)
		if err != nil {
			return err
		}
		if from == "" && len(pg.versions) == 0 && pg.next == "" {
			return nil
		}
		got, err := to.ReceiveHistories(ctx, pg)
		if err != nil {
			return err
		}
		done.add(got)
		from, more = pg.next, pg.next != ""
	}
	return nil
}

// listedHistories is a page of older versions that another space lacks.
func listedHistories(ctx context.Context, us *memory.Access, ours memory.Peer, known provenance.Knowledge, from string, most int) (page, error) {
	at, err := placeOf(from)
	if err != nil {
		return page{}, invalid("%v", err)
	}
	list, err := us.Histories(ctx, memory.ExchangeQuery{Peer: ours, Known: known, From: at, Limit: cmp.Or(most, 500), Bytes: pageBytes})
	if err != nil {
		return page{}, err
	}
	next, err := token(list.Next)
	return page{header: header{Space: ours.Space, Branch: ours.Branch, At: ours.At, Scope: ours.Scope, Known: ours.Known}, versions: list.Versions, next: next}, err
}

// histories lists older versions that another space lacks.
func (s *Server) histories(ctx context.Context, who memory.Caller, r request) (page, error) {
	us := s.Memory.As(who)
	if err := s.checkAsked(ctx, r.Branch, r.Scope, r.Known); err != nil {
		return page{}, err
	}
	p, err := us.HistoryPeer(ctx, r.Branch, r.At, r.Scope, memory.ToRead)
	if err != nil {
		return page{}, err
	}
	return listedHistories(ctx, us, p, r.Known, r.From, s.Page)
}

// checkAsked refuses invalid requests of another space.
func (s *Server) checkAsked(ctx context.Context, branch string, scope provenance.Scope, known provenance.Knowledge) error {
	if err := errors.Join(s.Memory.CheckScope(scope), checkBranch(branch)); err != nil {
		return err
	}
	newest, err := s.Memory.Newest(ctx)
	if err != nil {
		return err
	}
	return s.Memory.CheckKnown(known, newest)
}

// knownHistories returns the histories of this space, within the namespaces that the caller may write.
func (s *Server) knownHistories(ctx context.Context, who memory.Caller, r introduction) (k knownHistories, err error) {
	if err := s.checkAsked(ctx, r.Branch, r.Scope, nil); err != nil {
		return k, err
	}
	if _, err := nameOf(r.Space); err != nil {
		return k, err
	}
	us := s.Memory.As(who)
	p, err := us.HistoryPeer(ctx, r.Branch, 0, r.Scope, memory.ToWrite)
	if err != nil {
		return k, err
	}
	k.Known = p.Known
	k.Place, err = us.HistoryPlace(ctx, r.Branch, r.Space, r.Scope)
	return k, err
}

// takeHistories receives a pushed page.
func (s *Server) takeHistories(ctx context.Context, who memory.Caller, pg page) (done Result, err error) {
	name, err := nameOf(pg.Space)
	if err == nil {
		err = s.checkAsked(ctx, pg.Branch, pg.Scope, pg.Known)
	}
	if err == nil {
		err = s.mayWrite(who, pg)
	}
	if err != nil {
		return done, err
	}
	end, err := s.turns.take(ctx, "history "+trackingBranch(name, pg.Branch))
	if err != nil {
		return done, err
	}
	defer end()
	return receiveHistories(ctx, s.Memory, who, pg)
}

func (s *Server) serveHistories(w http.ResponseWriter, r *http.Request) {
	var in request
	err := decode(r.Body, &in)
	if err == nil {
		var pg page
		if pg, err = s.histories(r.Context(), s.Caller(r), in); err == nil {
			w.Header().Set("Content-Type", "application/zstd")
			s.packing.write(w, pg) //nolint:errcheck // the client retries
			return
		}
	}
	refuse(w, err)
}

func (s *Server) serveKnownHistories(w http.ResponseWriter, r *http.Request) {
	var in introduction
	if err := decode(r.Body, &in); err != nil {
		refuse(w, err)
		return
	}
	answer, err := s.knownHistories(r.Context(), s.Caller(r), in)
	reply(w, answer, err)
}

// History implements Peer.
func (c *Client) History(ctx context.Context, r request) (page, error) {
	body, err := c.post(ctx, historyPath, r)
	if err != nil {
		return page{}, err
	}
	defer body.Close()
	return c.packing.read(body)
}

// KnownHistories implements Peer.
func (c *Client) KnownHistories(ctx context.Context, r introduction) (k knownHistories, err error) {
	return k, c.ask(ctx, historyKnownPath, r, &k)
}

// ReceiveHistories implements Peer.
func (c *Client) ReceiveHistories(ctx context.Context, p page) (done Result, err error) {
	return done, c.ask(ctx, historyReceivePath, p, &done)
}
