package remote

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"
)

const (
	waitPath    = "/sync/wait"
	longestWait = 25 * time.Second // of a request for changes
	mostWaiting = 128              // waiting requests; others are answered at once
	look        = time.Minute      // between exchanges without changes
	firstPause  = time.Second      // after a failure, growing
	mostPause   = time.Minute
	gather      = 300 * time.Millisecond // writes within it are sent in one exchange
)

// latestVersion requests or answers the newest version of a space.
type latestVersion struct {
	After uint64 `json:"after"` // wait for a later version; in an answer: the newest
}

// wait returns the newest version of the other space as soon as it is later than a version, or after a timeout.
func (c *Client) wait(ctx context.Context, after uint64) (newest uint64, err error) {
	var answer latestVersion
	err = c.ask(ctx, waitPath, latestVersion{after}, &answer)
	return answer.After, err
}

func (s *Server) serveWait(w http.ResponseWriter, r *http.Request) {
	var asked latestVersion
	if err := decode(r.Body, &asked); err != nil {
		refuse(w, err)
		return
	}
	newest, err := s.wait(r.Context(), asked.After)
	reply(w, latestVersion{newest}, err)
}

// wait returns the newest version as soon as it is later than a version, or after a timeout.
func (s *Server) wait(ctx context.Context, after uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	commits := s.Memory.Watch(ctx)
	newest, err := s.Memory.Newest(ctx)
	defer s.waiting.Add(-1)
	if s.waiting.Add(1) > mostWaiting || err != nil || newest > after || after == 0 {
		return newest, err
	}
	for version := range commits {
		if newest = max(newest, version); newest > after {
			break
		}
	}
	return newest, nil
}

// Watch exchanges with a remote whenever either side has changes, until ctx ends. It writes the result of each exchange as a line of JSON; of
// those without changes, only the first.
func (r *Remotes) Watch(ctx context.Context, q Request, w io.Writer) error {
	c, err := r.named(q.Remote)
	if err != nil {
		return err
	}
	peer, err := c.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	local := r.Space.Memory.Watch(ctx)
	pause, first := firstPause, true
	for ctx.Err() == nil {
		theirs, err := peer.wait(ctx, 0)
		done := Done{At: time.Now().UTC()}
		if err == nil {
			done, err = r.Sync(ctx, q)
		}
		if err != nil {
			done.Error = err.Error()
		}
		if first || done.Error != "" || done.changed() {
			if err := json.NewEncoder(w).Encode(done); err != nil {
				return err
			}
			if f, ok := w.(http.Flusher); ok {
				f.Flush()
			}
		}
		if first = false; err != nil {
			sleep(ctx, pause)
			pause = min(2*pause, mostPause)
			continue
		}
		pause = firstPause
		r.rest(ctx, peer, theirs, local)
	}
	return nil
}

func (d Done) changed() bool {
	return d.Pulled != nil && d.Pulled.Taken+d.Pulled.Past > 0 || d.Pushed != nil && d.Pushed.Taken+d.Pushed.Past > 0
}

// rest returns when either side has changes.
func (r *Remotes) rest(ctx context.Context, peer *Client, after uint64, local <-chan uint64) {
	ctx, cancel := context.WithTimeout(ctx, look)
	defer cancel()
	theirs := make(chan struct{})
	go func() {
		defer close(theirs)
		for ctx.Err() == nil {
			newest, err := peer.wait(ctx, after)
			if err != nil || newest > after {
				return
			}
		}
	}()
	select {
	case <-theirs:
	case <-local:
	case <-ctx.Done():
	}
	cancel()
	<-theirs
	sleep(context.WithoutCancel(ctx), gather)
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
