// Package push sends the audit log to collectors, each entry at least once.
package push

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/regular"
)

const (
	cursorFile  = "pushed.json" // beside the log: the last entry that each collector took
	cursorLimit = 64 << 10
	lookEvery   = 500 * time.Millisecond
	longestWait = time.Minute // between attempts, while a collector takes nothing
	sendWithin  = 10 * time.Second
	mostLines   = 500 // of a batch
	mostBytes   = 1 << 20
)

// To says where the audit log is sent. The zero To: nowhere.
type To struct {
	Syslog  string // URL: unix:///dev/log, udp://HOST:514, tcp://HOST:601 or tls://HOST:6514
	CA      string // a file of certificates to trust for tls, in PEM; empty: the system's
	OTLP    string // URL of a collector of OpenTelemetry
	Headers string // for it, as OTEL_EXPORTER_OTLP_HEADERS has them
}

// Options configures Run.
type Options struct {
	To      To
	Dir     string // of the audit log
	Name    string // of the server, or of its space
	Version string // of the program
	Logger  *slog.Logger
	Flush   func() error // has all entries written, before the last ones are sent
}

// line is an entry, and its line in the log without the line break.
type line struct {
	text  []byte
	entry audit.Entry
}

// collector takes lines.
type collector interface {
	// send sends lines, all of them or none is known to have arrived. Without lines it sends what may have been lost since.
	send(ctx context.Context, list []line) error
	close()
}

// Check refuses what is no collector.
func (t To) Check() error {
	_, err := t.open(Options{})
	return err
}

// open returns the collectors by their names.
func (t To) open(o Options) (map[string]collector, error) {
	list := map[string]collector{}
	if t.CA != "" && !strings.HasPrefix(t.Syslog, "tls://") {
		return nil, fmt.Errorf("the certificates of %s are for a collector of syslog by TLS: give tls://HOST:6514", t.CA)
	}
	if t.Syslog != "" {
		s, err := newSyslog(t.Syslog, t.CA, o)
		if err != nil {
			return nil, err
		}
		list["syslog "+t.Syslog] = s
	}
	if t.OTLP != "" {
		c, err := newOTLP(t.OTLP, t.Headers, o)
		if err != nil {
			return nil, err
		}
		list["otlp "+t.OTLP] = c
	}
	return list, nil
}

// Run sends entries to all collectors until ctx ends, and then what is left. One that a collector did not have yet begins with the oldest
// entry that the log keeps.
func Run(ctx context.Context, o Options) error {
	list, err := o.To.open(o)
	if err != nil {
		return err
	}
	c := &cursors{path: filepath.Join(o.Dir, cursorFile)}
	if err := c.read(); err != nil {
		return err
	}
	var all sync.WaitGroup
	for name, to := range list {
		all.Go(func() {
			defer to.close()
			p := pusher{to: to, flush: o.Flush, name: name, cursors: c, logger: o.Logger, follower: audit.Follower{Dir: o.Dir, After: c.of(name)}}
			p.run(ctx)
		})
	}
	all.Wait()
	return nil
}

// cursors are the last entries that collectors took.
type cursors struct {
	path string

	mu   sync.Mutex
	last map[string]uint64
}

func (c *cursors) read() error {
	c.last = map[string]uint64{}
	data, err := regular.Read(c.path, cursorLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &c.last)
	}
	if err != nil {
		return fmt.Errorf("read the position up to which the audit log was sent, in %s: %w; move the file away to send it from its beginning", c.path, err)
	}
	return nil
}

func (c *cursors) of(name string) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last[name]
}

func (c *cursors) set(name string, seq uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := maps.Clone(c.last)
	next[name] = seq
	data, err := json.Marshal(next)
	if err == nil {
		err = durable.WriteFile(c.path, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the position up to which the audit log was sent: %w", err)
	}
	c.last = next
	return nil
}

// pusher sends to one collector.
type pusher struct {
	to       collector
	flush    func() error
	name     string
	cursors  *cursors
	logger   *slog.Logger
	follower audit.Follower
	failing  bool
}

func (p *pusher) run(ctx context.Context) {
	wait := lookEvery
	for {
		ending := ctx.Err() != nil
		if ending {
			_ = p.flush() // the log reports a failed write
		}
		if p.round(context.WithoutCancel(ctx)) {
			wait = lookEvery
		} else {
			wait = min(2*wait, longestWait)
		}
		if ending {
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// errFull ends the reading of a batch.
var errFull = errors.New("the batch is full")

// round sends what is new, and reports whether the collector took it.
func (p *pusher) round(ctx context.Context) bool {
	for {
		list, size, from := []line(nil), 0, p.follower
		err := p.follower.Next(ctx, func(text []byte, e audit.Entry) error {
			if len(list) == mostLines || size > mostBytes {
				return errFull
			}
			list, size = append(list, line{bytes.TrimSuffix(bytes.Clone(text), []byte("\n")), e}), size+len(text)
			return nil
		}, p.missed)
		more := errors.Is(err, errFull)
		if more {
			err = nil
		}
		if err == nil {
			err = p.sendAll(ctx, list)
		}
		if err != nil {
			p.follower = from
			p.fail(err)
			return false
		}
		if !more {
			p.recovered()
			return true
		}
	}
}

func (p *pusher) sendAll(ctx context.Context, list []line) error {
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	if err := p.to.send(ctx, list); err != nil || len(list) == 0 {
		return err
	}
	return p.cursors.set(p.name, list[len(list)-1].entry.Seq)
}

func (p *pusher) missed(g audit.Gap) error {
	p.logger.Error("entries of the audit log were deleted before a collector took them", "from", g.From, "to", g.To)
	return nil
}

// fail says once that a collector takes nothing.
func (p *pusher) fail(err error) {
	if !p.failing {
		p.logger.Error("cannot send the audit log, and retries until its collector takes it", "collector", p.name, "error", err)
	}
	p.failing = true
}

// recovered says once that a collector has everything again.
func (p *pusher) recovered() {
	if p.failing {
		p.logger.Info("the collector of the audit log has everything again", "collector", p.name)
	}
	p.failing = false
}
