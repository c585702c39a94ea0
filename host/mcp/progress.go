package mcp

import (
	"context"
	"encoding/json"
	"math"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
)

type progressKey struct{} // of the context: the token of those who want to know how far a call has come

const (
	progressEvery   = 100 * time.Millisecond // clients are told at most that often
	longestProgress = 200                    // characters of what it says
)

// progress tells the client of a call how far it has come.
type progress struct {
	server *Server
	ctx    context.Context //nolint:containedctx // of the call: it is over when that is
	token  json.RawMessage

	mu   sync.Mutex
	last time.Time // when the client was told
	done float64
	over bool
}

// progress gives what tells the client how far a call has come, nil when it does not want to know, and what ends that.
func (s *Server) progress(ctx context.Context) (tell func(done, total float64, message string), end func()) {
	token, _ := ctx.Value(progressKey{}).(json.RawMessage)
	if token == nil {
		return nil, func() {}
	}
	p := &progress{server: s, ctx: ctx, token: token, done: math.Inf(-1)}
	return p.tell, p.end
}

// tell passes on what is more than before, unless the client was told a moment ago. The end is always told.
func (p *progress) tell(done, total float64, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.server.options.Clock()
	last := total > 0 && done >= total
	told := now.Sub(p.last) // negative when the clock was put back
	if p.over || math.IsNaN(done) || math.IsInf(done, 0) || done <= p.done || !last && told >= 0 && told < progressEvery {
		return
	}
	p.last, p.done = now, done
	params := map[string]any{"progressToken": p.token, "progress": done}
	if total > 0 && !math.IsInf(total, 0) {
		params["total"] = total
	}
	if message != "" {
		params["message"] = clip(message, longestProgress)
	}
	p.server.notify(p.ctx, notification(protocol.MethodNotificationProgress, params))
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
