package owner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// longestSocket is the longest path, in bytes, that every supported system takes for a socket.
const longestSocket = 100

// LockPath is the file that the owner of a data directory holds locked.
func LockPath(dir string) string { return filepath.Join(dir, "owner.lock") }

// TokenPath is the file with the token that HTTP clients of a data directory present.
func TokenPath(dir string) string { return filepath.Join(dir, "token") }

// LogPath is the file that an owner which was started on demand writes its log to.
func LogPath(dir string) string { return filepath.Join(dir, "owner.log") }

// RecordPath is the file in which an owner says where it listens.
func RecordPath(dir string) string { return filepath.Join(dir, "owner.json") }

// SocketPath is where the owner of a data directory listens unless told otherwise: a socket in the
// directory or, where that path is too long for a socket, one in a private directory for temporary
// files, named by a hash of the directory.
func SocketPath(dir string) (string, error) { return socketPath(dir, "alcove.sock", ".sock") }

// AdminPath is where the owner of a data directory takes the operator's acts. It is a second socket, so that what
// clients and models are given never leads there.
func AdminPath(dir string) (string, error) { return socketPath(dir, "admin.sock", ".admin.sock") }

func socketPath(dir, name, suffix string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if path := filepath.Join(abs, name); len(path) <= longestSocket {
		return path, nil
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	hash := sha256.Sum256([]byte(abs))
	path := filepath.Join(shortDir(), hex.EncodeToString(hash[:12])+suffix)
	if len(path) > longestSocket {
		return "", fmt.Errorf("%q is too long for a socket (%d bytes; at most %d): choose a shorter data directory, or set TMPDIR to a shorter one",
			path, len(path), longestSocket)
	}
	return path, nil
}

// shortDir is the private directory for sockets of data directories with long names.
func shortDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && len(dir) < longestSocket/2 {
		return filepath.Join(dir, "alcove")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("alcove-%d", os.Getuid()))
}

// MakeSocketDir makes the directory for a socket, if it is the private one, and refuses one that
// others could have prepared.
func MakeSocketDir(socket string) error {
	if dir := filepath.Dir(socket); dir == shortDir() {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make a directory for the socket: %w", err)
		}
	}
	return checkSocketDir(socket)
}

// checkSocketDir refuses a socket in a private directory that others could have prepared: what listens
// there could be anybody's.
func checkSocketDir(socket string) error {
	dir := filepath.Dir(socket)
	if dir != shortDir() {
		return nil
	}
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the socket's directory: %w", err)
	}
	if !info.IsDir() || !private(info) {
		return fmt.Errorf("%s must be a directory of yours that nobody else can enter (mode 0700): remove it, or choose a shorter data directory: %w",
			dir, fs.ErrPermission)
	}
	return nil
}
