package listen

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"

	"github.com/alcove-memory/alcove/host/daemon/owner"
)

// SocketListener listens on a Unix socket that only this user can connect to. If its file is removed, Keep binds
// it again.
type SocketListener struct {
	paths []string

	mu     sync.Mutex
	bound  net.Listener
	path   string      // of bound
	file   fs.FileInfo // of bound, when created
	closed bool
}

// ListenSocket creates a socket at the first usable path. It replaces the socket of a killed owner,
// so only the holder of the data directory's lock may call it.
func ListenSocket(paths ...string) (*SocketListener, error) {
	l := &SocketListener{paths: paths}
	if err := l.bind(); err != nil {
		return nil, err
	}
	return l, nil
}

// Path returns the socket's path.
func (l *SocketListener) Path() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.path
}

// Addr implements net.Listener.
func (l *SocketListener) Addr() net.Addr { return &net.UnixAddr{Name: l.Path(), Net: "unix"} }

// Accept implements net.Listener. Peers other than this user and root are refused.
func (l *SocketListener) Accept() (net.Conn, error) {
	for {
		bound := l.current()
		conn, err := bound.Accept()
		if err != nil && l.current() != bound {
			continue // Keep bound it again
		}
		if err != nil {
			return nil, err
		}
		if owner.CheckPeer(conn) == nil {
			return conn, nil
		}
		conn.Close()
	}
}

func (l *SocketListener) current() net.Listener {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bound
}

// Keep binds the socket again if its file was removed or replaced. Open connections are unaffected. Only the holder
// of the lock may call it.
func (l *SocketListener) Keep() (again bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.isThere() {
		return false, nil
	}
	before := l.bound
	if err := l.bind(); err != nil {
		return false, err
	}
	before.Close()
	return true, nil
}

// Close stops listening and removes the socket's file unless it was replaced.
func (l *SocketListener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return net.ErrClosed
	}
	l.closed = true
	var err error
	if l.isThere() {
		err = os.Remove(l.path)
	}
	return errors.Join(err, l.bound.Close())
}

// isThere reports whether the file is the one that was created. Windows cannot distinguish sockets: any file counts.
func (l *SocketListener) isThere() bool {
	now, err := os.Lstat(l.path)
	return err == nil && (runtime.GOOS == "windows" || os.SameFile(now, l.file))
}

// bind listens at the first usable path.
func (l *SocketListener) bind() error {
	var errs []error
	for _, path := range l.paths {
		bound, file, err := bindSocket(path)
		if err == nil {
			l.bound, l.path, l.file = bound, path, file
			return nil
		}
		errs = append(errs, err)
		if !isUnusable(err) {
			break
		}
	}
	return errors.Join(errs...)
}

// isUnusable reports whether an error means that no file can be created in a directory.
func isUnusable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EROFS)
}

func bindSocket(path string) (net.Listener, fs.FileInfo, error) {
	if err := owner.MakeSocketDir(path); err != nil {
		return nil, nil, err
	}
	if err := removeStale(path); err != nil {
		return nil, nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, nil, fmt.Errorf("listen on the socket %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false) // at Close, the file may be another owner's
	file, err := os.Lstat(path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("make the socket %s private: %w", path, err), l.Close())
	}
	return l, file, nil
}

func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket && info.Mode().Type() != fs.ModeIrregular {
		return fmt.Errorf("%s is not a socket but has the socket's path: move it, or choose another path with --socket", path)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove the socket that an earlier server left: %w", err)
	}
	return nil
}
