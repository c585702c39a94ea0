// Package owner finds or starts the process that owns a data directory.
//
// One process at a time owns a data directory and listens on its socket. All others
// call Dial, which connects to the owner or starts one that outlives the caller.
package owner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	defaultWait  = 30 * time.Second
	answerWithin = 10 * time.Second // to connect and to read the answer to the hello
	firstPause   = time.Millisecond // between two attempts
	pausePart    = 16               // a pause is at most that part of the time waited, so that little is waited in vain
	longestPause = 250 * time.Millisecond
	examinedEach = 50 << 20               // bytes a second, a tenth of what an idle machine examines
	startAgain   = 500 * time.Millisecond // pause before another start, after an owner exited without an error
)

// ErrNone means that no process owns the data directory and Options.Start is nil.
var ErrNone = errors.New("no alcove server is running for this data directory")

// Options configure Dial.
type Options struct {
	Dir     string
	Hello   Hello
	Sharing Sharing // of the directory, which is refused when others than these can change it
	// Start starts an owner that outlives this process. Its channel carries the owner's exit, should it end:
	// nil if it left the directory to another owner. A nil Start: start none.
	Start func() (ended <-chan error, err error)
	Wait  time.Duration // how long an owner may take to answer; 0: 30 seconds, and 1 for each 50 MB of the directory's database
}

// Conn is a connection to the owner, after the hello.
type Conn struct {
	net.Conn
	Welcome Welcome
	buffer  *bufio.Reader
}

// Read reads the owner's messages after its welcome.
func (c *Conn) Read(p []byte) (int, error) { return c.buffer.Read(p) }

// Dial connects to the owner of a data directory. If none answers, it starts one and waits for it. It is
// safe against other processes that do the same, and against an owner that is stopping. The error is a
// Refusal if the owner refuses the hello.
func Dial(ctx context.Context, o Options) (*Conn, error) {
	if o.Wait == 0 {
		o.Wait = defaultWait + examining(o.Dir)
	}
	if _, err := o.Sharing.CheckDir(o.Dir); err != nil {
		return nil, err
	}
	sockets, err := SocketPaths(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the socket of %s: %w", o.Dir, err)
	}
	ctx, cancel := context.WithTimeout(ctx, o.Wait)
	defer cancel()
	d := dialer{Options: o, sockets: sockets}
	for began := time.Now(); ; {
		conn, err := d.connect(ctx)
		if err == nil || final(err) {
			return conn, err
		}
		if err := d.ensure(err); err != nil {
			return nil, err
		}
		if err := d.rest(ctx, pauseAfter(time.Since(began))); err != nil {
			return nil, d.startError(ctx, err)
		}
	}
}

// pauseAfter is the pause between two attempts once so much time was waited.
func pauseAfter(waited time.Duration) time.Duration {
	return max(firstPause, min(waited/pausePart, longestPause))
}

// examining is how long an owner may take to examine the database before it answers, which it does after it was killed.
func examining(dir string) time.Duration {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0 // which connecting will say
	}
	var size int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
	}
	return time.Duration(size / examinedEach * int64(time.Second))
}

// dialer is one Dial in progress.
type dialer struct {
	Options
	sockets []string     // where an owner listens unless told otherwise
	ended   <-chan error // of the started owner; nil: none runs
	started time.Time
	failure error // of the started owner
	killed  int   // started owners ended by a signal
	last    error // why the last attempt to connect failed
}

// connect tries the socket in the owner's record, then the usual paths.
func (d *dialer) connect(ctx context.Context) (*Conn, error) {
	return tryEach(said(d.Dir, Record.socket), d.sockets, func(socket string) (*Conn, error) {
		if err := checkSocketOwner(d.Dir, socket); err != nil {
			return nil, err
		}
		return Connect(ctx, socket, d.Hello)
	})
}

// said returns a socket's path from the owner's record; empty: it has none.
func said(dir string, which func(Record) string) string {
	r, err := ReadRecord(dir)
	if path := which(r); err == nil && filepath.IsAbs(path) {
		return path
	}
	return ""
}

// tryEach tries the recorded path, which may be obsolete, and the usual ones, until one answers.
// If none does, the error is that of the first path with a socket.
func tryEach[C any](said string, usual []string, try func(socket string) (C, error)) (conn C, err error) {
	if said != "" {
		if conn, err = try(said); err == nil || isRefusal(err) {
			return conn, err
		}
	}
	for i, socket := range usual {
		conn, failure := try(socket)
		switch {
		case failure == nil || isRefusal(failure):
			return conn, failure
		case i == 0 || errors.Is(err, fs.ErrNotExist) && !final(failure):
			err = failure
		}
	}
	return conn, err
}

// ensure makes sure that an owner runs or is starting.
func (d *dialer) ensure(cause error) error {
	d.last = cause
	if d.Start == nil {
		return fmt.Errorf("%w (%s): start one with: alcove serve --data %q", ErrNone, d.Dir, d.Dir)
	}
	if bySignal(d.failure) && d.killed < mostKilled { // not a failure: it was killed
		d.failure, d.started = nil, time.Time{}
		d.killed++
	}
	if d.failure != nil {
		return fmt.Errorf("the alcove server for %s did not start: %w%s", d.Dir, d.failure, logTail(d.Dir))
	}
	if d.ended != nil || time.Since(d.started) < startAgain {
		return nil
	}
	ended, err := d.Start()
	if err != nil {
		return fmt.Errorf("start an alcove server for %s: %w", d.Dir, err)
	}
	d.ended, d.started = ended, time.Now()
	return nil
}

// mostKilled is the number of killed owners after which Dial gives up.
const mostKilled = 3

// bySignal reports whether a process ended without an exit code.
func bySignal(err error) bool {
	var ended *exec.ExitError
	return errors.As(err, &ended) && ended.ExitCode() < 0
}

// rest pauses, at most until the started owner ends.
func (d *dialer) rest(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case d.failure = <-d.ended:
		d.ended = nil // it failed, or another owner is starting
	case <-timer.C:
	}
	return nil
}

func (d *dialer) startError(ctx context.Context, err error) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	who := "no alcove server"
	if r, err := ReadRecord(d.Dir); err == nil {
		who = fmt.Sprintf("the alcove server (process %d)", r.PID)
	}
	return fmt.Errorf("%s answered for %s within %s (%w): look at %s, or run: alcove doctor --data %q%s",
		who, d.Dir, d.Wait, d.last, currentLog(d.Dir), d.Dir, logTail(d.Dir))
}

// Connect greets the owner at a socket, for at most ten seconds.
func Connect(ctx context.Context, socket string, h Hello) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	conn, err := reach(ctx, socket)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	c := &Conn{Conn: conn, buffer: bufio.NewReaderSize(conn, 64<<10)}
	c.Welcome, err = handshake(conn, c.buffer, h)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// reach connects to a socket on which only this user, or root, can listen.
func reach(ctx context.Context, socket string) (net.Conn, error) {
	if err := checkSocketDir(socket); err != nil {
		return nil, err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	if err := CheckPeer(conn); err != nil {
		conn.Close()
		return nil, fmt.Errorf("%s is not yours: %w", socket, err)
	}
	return conn, nil
}

// DialOperator connects to the operator's socket of a data directory's owner. If the socket was removed, it waits for the
// owner to bind it again.
func DialOperator(ctx context.Context, dir string) (net.Conn, error) {
	usual, err := AdminPaths(dir)
	if err != nil {
		return nil, fmt.Errorf("find the socket for operators of %s: %w", dir, err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	for began := time.Now(); ; {
		conn, err := tryEach(said(dir, Record.admin), usual, func(socket string) (net.Conn, error) {
			if err := checkSocketOwner(dir, socket); err != nil {
				return nil, err
			}
			return reach(ctx, socket)
		})
		if err == nil || final(err) {
			return conn, err
		}
		timer := time.NewTimer(pauseAfter(time.Since(began)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		case <-timer.C:
		}
	}
}

func isRefusal(err error) bool {
	var refused *Refusal
	return errors.As(err, &refused)
}

// final reports whether a retry is useless.
func final(err error) bool {
	var refused *Refusal
	if errors.As(err, &refused) {
		return !refused.Retryable
	}
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, ErrUntrusted)
}
