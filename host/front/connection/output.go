package connection

import (
	"context"
	"fmt"
	"io"
	"sync"
)

// keptBuffer bounds a buffer that is kept for later lines.
const keptBuffer = 64 << 10

// longestWrite bounds what is written at once, so that what the client has read of it counts as read.
const longestWrite = MaxUnread / 4

// Output writes lines in the order in which they come. Those that come while others are written are written together.
type Output struct {
	w    io.Writer
	fail context.CancelCauseFunc // ends the connection
	read chan struct{}           // received from after the client has read something

	mu        sync.Mutex
	unread    int // bytes that are not written yet
	writing   bool
	waiting   []byte
	spare     []byte // the buffer that was written last
	finished  bool   // nothing is told any more
	notifying sync.WaitGroup
}

// Line writes a line, which is the output's from then on, or leaves it to the caller that is writing.
func (o *Output) Line(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	line = append(line, '\n')
	o.unread += len(line)
	if o.writing {
		o.waiting = append(o.waiting, line...)
		return
	}
	o.writing = true
	o.write(line)
	o.flush()
}

// Notify writes a line before all later ones, without waiting for the client. One that has too much to read misses it.
func (o *Output) Notify(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.finished || o.unread > MaxUnread {
		return
	}
	o.unread += len(line) + 1
	o.waiting = append(append(o.waiting, line...), '\n')
	if o.writing {
		return
	}
	o.writing = true
	o.notifying.Go(func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.flush()
	})
}

// finish waits until all is written.
func (o *Output) finish() {
	o.mu.Lock()
	o.finished = true
	o.mu.Unlock()
	o.notifying.Wait()
}

// flush writes what waits. The caller holds mu, which is free meanwhile.
func (o *Output) flush() {
	for len(o.waiting) > 0 {
		lines := o.waiting
		o.waiting = o.spare[:0]
		o.write(lines)
		if o.spare = lines; cap(lines) > keptBuffer {
			o.spare = nil
		}
	}
	o.writing = false
}

// write writes lines. The caller holds mu, which is free meanwhile.
func (o *Output) write(lines []byte) {
	for len(lines) > 0 {
		part := lines[:min(len(lines), longestWrite)]
		lines = lines[len(part):]
		o.mu.Unlock()
		_, err := o.w.Write(part)
		o.mu.Lock()
		o.unread -= len(part)
		select {
		case o.read <- struct{}{}:
		default:
		}
		if err != nil {
			o.fail(fmt.Errorf("write to the client: %w", err))
		}
	}
}

// wait waits until the client has read enough. One caller at a time may wait.
func (o *Output) wait(ctx context.Context) {
	for o.Unread() > MaxUnread {
		select {
		case <-o.read:
		case <-ctx.Done():
			return
		}
	}
}

// Unread returns the bytes that the client has not read yet.
func (o *Output) Unread() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.unread
}
