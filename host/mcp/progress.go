package mcp

import (
	"encoding/json"
	"math"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/tool"
)

const (
	progressEvery   = 100 * time.Millisecond // clients are told at most that often
	longestProgress = 200                    // characters of what it says
)

// progress tells the client of a call how far it has come.
type progress struct {
	clock func() time.Time
	send  func(protocol.JSONRPCNotification)
	token json.RawMessage // nil: the client does not want to know

	mu   sync.Mutex
	last time.Time // when the client was told
	done float64
	over bool
}

// progress begins to tell the client of a call how far it has come, if it gave a token.
func (s *Server) progress(token json.RawMessage, send func(protocol.JSONRPCNotification)) *progress {
	return &progress{clock: s.options.Clock, send: send, token: token, done: math.Inf(-1)}
}

// function is what tells the client; nil when it does not want to know.
func (p *progress) function() tool.Progress {
	if p.token == nil {
		return nil
	}
	return p.tell
}

// tell passes on what is more than before, unless the client was told a moment ago. The end is always told.
func (p *progress) tell(done, total float64, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
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
		params["message"] = tool.Clip(message, longestProgress)
	}
	p.send(notification(protocol.MethodNotificationProgress, params))
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
