package sandbox

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/abi"
)

// lines logs the output of one request line by line, within the limits.
type lines struct {
	log     *slog.Logger
	limits  abi.Limits
	rate    *rate
	partial [2][]byte // of standard output and standard error
	kept    int64     // bytes
	count   int64
	dropped int64                     // writes
	muted   bool                      // further output is dropped
	also    func(stream, line string) // nil: nobody else
	panic   string                    // the line of standard error, or of the log, that says why the guest ended
}

// print logs data written to file descriptor fd, 1 or 2.
func (l *lines) print(fd uint32, data []byte) {
	for partial := &l.partial[fd-1]; len(data) > 0; {
		if l.muted { // a guest may print much faster than lines can be counted
			l.dropped++
			return
		}
		line, rest, whole := bytes.Cut(data, []byte{'\n'})
		*partial = append(*partial, line[:min(len(line), max(0, int(l.limits.LogLineBytes)-len(*partial)))]...)
		if !whole {
			return
		}
		l.line(streams[fd-1], *partial)
		*partial = (*partial)[:0]
		data = rest
	}
}

var streams = [2]string{"stdout", "stderr"}

// line logs one line, or drops it beyond a limit.
func (l *lines) line(stream string, data []byte) {
	data = data[:min(len(data), int(l.limits.LogLineBytes))]
	if l.muted || l.count >= l.limits.LogLines || l.kept+int64(len(data)) > l.limits.LogBytes || !l.rate.take() {
		l.dropped++
		l.muted = true
		return
	}
	l.count++
	l.kept += int64(len(data))
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	l.log.Info("guest", "stream", stream, "line", text)
	if l.also != nil {
		l.also(stream, text)
	}
	if stream != streams[0] && !strings.Contains(l.panic, "panic") && strings.TrimSpace(text) != "" {
		l.panic = text[:min(len(text), longestPanic)]
	}
}

// end logs incomplete lines when the request ends.
func (l *lines) end() {
	for i, p := range l.partial {
		if len(p) > 0 {
			l.line(streams[i], p)
			l.partial[i] = p[:0]
		}
	}
	if l.dropped > 0 {
		l.log.Warn("guest printed more than is kept", "dropped", l.dropped)
	}
	l.kept, l.count, l.dropped, l.muted = 0, 0, 0, false
}

// longestPanic bounds what an error says of a panic, in bytes.
const longestPanic = 500

// Lines that a family may log, over all its requests.
const (
	linesPerSecond = 200
	linesAtOnce    = 1000
)

// rate is a token bucket for a family's log lines.
type rate struct {
	mu    sync.Mutex
	now   func() time.Duration
	left  float64
	taken time.Duration // when left was updated
}

func newRate(now func() time.Duration) *rate { return &rate{now: now, left: linesAtOnce} }

func (r *rate) take() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.left = min(linesAtOnce, r.left+(now-r.taken).Seconds()*linesPerSecond)
	r.taken = now
	if r.left < 1 {
		return false
	}
	r.left--
	return true
}
