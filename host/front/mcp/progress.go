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
	progressEvery   = 100 * time.Millisecond // minimum interval of notifications
	longestProgress = 200                    // characters of a message
)

// progress reports a call's progress to its client.
type progress struct {
	clock func() time.Time
	send  func(protocol.JSONRPCNotification)
	token json.RawMessage // nil: not requested

	mu   sync.Mutex
	last time.Time // of the last notification
	done float64
	over bool
}

// progress returns a reporter of a call's progress, which does nothing without a token.
func (s *Server) progress(token json.RawMessage, send func(protocol.JSONRPCNotification)) *progress {
	return &progress{clock: s.options.Clock, send: send, token: token, done: math.Inf(-1)}
}

// function returns the function that reports progress, or nil if not requested.
func (p *progress) function() tool.Progress {
	if p.token == nil {
		return nil
	}
	return p.report
}

// report reports progress that exceeds the last, at most every progressEvery. It always reports completion.
func (p *progress) report(done, total float64, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
	last := total > 0 && done >= total
	told := now.Sub(p.last) // negative if the clock was set back
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
