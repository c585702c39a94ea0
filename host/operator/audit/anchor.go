package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/regular"
)

// ParseHead reads a head in the form NUMBER:HASH.
func ParseHead(text string) (h Head, err error) {
	number, digits, ok := strings.Cut(text, ":")
	if h.Seq, err = strconv.ParseUint(number, 10, 64); !ok || err != nil {
		return h, fmt.Errorf("%.100q is not NUMBER:HASH", text)
	}
	_, err = parseHash(digits)
	h.Hash = strings.ToLower(digits)
	return h, err
}

// Anchor keeps heads of a log elsewhere.
type Anchor interface {
	Keep(ctx context.Context, h Head) error
}

// FileAnchor appends heads to a file, a line of JSON each. The file is of use only where the log's machine or user cannot change it.
type FileAnchor string

// Keep implements Anchor.
func (f FileAnchor) Keep(_ context.Context, h Head) (err error) {
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	path, err := regular.Destination(string(f))
	if err != nil {
		return err
	}
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if _, err := to.Write(append(line, '\n')); err != nil {
		return err
	}
	return to.Sync()
}

// mostAnchored bounds a file of heads, in bytes.
const mostAnchored = 256 << 20

// Anchored reads the heads that a FileAnchor kept.
func Anchored(path string) (heads []Head, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the anchor: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostAnchored+1))
	if err != nil {
		return nil, fmt.Errorf("read the anchor: %w", err)
	}
	if len(data) > mostAnchored {
		return nil, fmt.Errorf("read the anchor: %s has more than %d bytes: give its last lines", path, mostAnchored)
	}
	for line := range bytes.Lines(data) {
		var h Head
		if err := json.Unmarshal(line, &h); err != nil {
			if !bytes.HasSuffix(line, []byte{'\n'}) {
				break // torn
			}
			return nil, fmt.Errorf("read the anchor: line %d of %s is not a head: %w", len(heads)+1, path, err)
		}
		if _, err := parseHash(h.Hash); err != nil {
			return nil, fmt.Errorf("read the anchor: line %d of %s: %w", len(heads)+1, path, err)
		}
		heads = append(heads, h)
	}
	return heads, nil
}

// RunAnchor gives the log's head to an anchor, at once, every interval in which it changed, and when ctx ends.
func (l *Log) RunAnchor(ctx context.Context, to Anchor, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	last, failing := uint64(0), false
	for {
		ending := ctx.Err() != nil // before the head is read: none that is newer follows
		h, err := l.Head()
		if err == nil && h.Seq != last {
			if err = keep(ctx, to, h); err == nil {
				last = h.Seq
			}
		}
		if err != nil && !failing {
			l.o.Logger.Error("the head of the audit log could not be sent to its anchor", "error", err)
		}
		failing = err != nil
		if ending {
			return
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// keepTimeout bounds an anchor that does not answer, also when the server stops.
const keepTimeout = 10 * time.Second

func keep(ctx context.Context, to Anchor, h Head) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTimeout)
	defer cancel()
	return to.Keep(ctx, h)
}
