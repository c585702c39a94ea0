package owner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// longestSocket is the longest socket path, in bytes, on every supported system.
const longestSocket = 100

// LockPath returns the lock file of a data directory.
func LockPath(dir string) string { return filepath.Join(dir, "owner.lock") }

// TokenPath returns the file with the token of HTTP clients.
func TokenPath(dir string) string { return filepath.Join(dir, "token") }

// KeysPath returns the file of the API keys.
func KeysPath(dir string) string { return filepath.Join(dir, "keys.json") }

// TLSPath returns the folder of the certificates that a server makes or is given.
func TLSPath(dir string) string { return filepath.Join(dir, "tls") }

// OAuthPath returns the file of the secret by which the registrations of OAuth's clients are known.
func OAuthPath(dir string) string { return filepath.Join(dir, "oauth-secret") }

// OAuthCodesPath returns the file of the codes that clients of OAuth have not exchanged yet, for the next server of a space.
func OAuthCodesPath(dir string) string { return filepath.Join(dir, "oauth-codes.json") }

// ConsoleSessionsPath returns the file of the sessions of the console, for the next server of a space.
func ConsoleSessionsPath(dir string) string { return filepath.Join(dir, "console-sessions.json") }

// OperatorsPath returns the file of the operators that reach the server from elsewhere.
func OperatorsPath(dir string) string { return filepath.Join(dir, "operators.json") }

// RemotesPath returns the file of the spaces that a data directory synchronises with.
func RemotesPath(dir string) string { return filepath.Join(dir, "remotes.json") }

// HTTPSessionsPath returns the file of the sessions of HTTP clients.
func HTTPSessionsPath(dir string) string { return filepath.Join(dir, "http-sessions") }

// AuditPath returns the folder of the audit log.
func AuditPath(dir string) string { return filepath.Join(dir, "audit") }

// AuditHeadsPath returns the folder of the heads of the audit logs of all servers of a space.
func AuditHeadsPath(dir string) string { return filepath.Join(dir, "audit-heads") }

// RequestsPath returns the folder of the request log.
func RequestsPath(dir string) string { return filepath.Join(dir, "requests") }

// LogPath returns the log file of owners started on demand.
func LogPath(dir string) string { return filepath.Join(dir, "owner.log") }

// RecordPath returns the file of the owner's Record.
func RecordPath(dir string) string { return filepath.Join(dir, "owner.json") }

// SocketPath returns the default socket of a data directory's owner: in the
// directory or, if that path is too long for a socket, in a private directory for temporary
// files, named by a hash of the directory.
func SocketPath(dir string) (string, error) { return first(SocketPaths(dir)) }

// SocketPaths returns SocketPath and its alternatives, in order of preference.
func SocketPaths(dir string) ([]string, error) { return socketPaths(dir, "alcove.sock", ".sock") }

// AdminPath returns the operator's socket. It is a second socket, so that nothing
// given to clients or models leads to it.
func AdminPath(dir string) (string, error) { return first(AdminPaths(dir)) }

// AdminPaths returns AdminPath and its alternatives, in order of preference.
func AdminPaths(dir string) ([]string, error) { return socketPaths(dir, "admin.sock", ".admin.sock") }

func first(paths []string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return paths[0], nil
}

func socketPaths(dir, name, suffix string) ([]string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, path := range append([]string{filepath.Join(abs, name)}, privatePaths(abs, suffix)...) {
		if err = CheckSocketLength(path); err == nil {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%w: choose a shorter data directory, or set TMPDIR to a shorter one", err)
	}
	return paths, nil
}

// CheckSocketLength refuses a path that is too long for a socket.
func CheckSocketLength(path string) error {
	if len(path) > longestSocket {
		return fmt.Errorf("%q is too long for a socket (%d bytes; at most %d)", path, len(path), longestSocket)
	}
	return nil
}

// privatePaths returns the paths of a data directory's file in the private directories, by a hash of its resolved name.
func privatePaths(abs, suffix string) []string {
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	hash := sha256.Sum256([]byte(abs))
	var paths []string
	for _, dir := range privateDirs() {
		paths = append(paths, filepath.Join(dir, hex.EncodeToString(hash[:12])+suffix))
	}
	return paths
}

// privatePath returns the path of a file that belongs to an unwritable data directory.
func privatePath(dir, suffix string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		abs = dir
	}
	paths := privatePaths(abs, suffix)
	for _, path := range paths {
		if MakeSocketDir(path) == nil {
			return path
		}
	}
	return paths[0]
}

// privateDirs returns the private directories for files outside a data directory. The last ones are the usual defaults,
// for owners with another environment.
func privateDirs() []string {
	var dirs []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && len(dir) < longestSocket/2 {
		dirs = append(dirs, filepath.Join(dir, "alcove"))
	}
	own := fmt.Sprintf("alcove-%d", os.Getuid())
	dirs = append(dirs, filepath.Join(os.TempDir(), own))
	if runtime.GOOS != "windows" {
		dirs = append(dirs, fmt.Sprintf("/run/user/%d/alcove", os.Getuid()), "/tmp/"+own)
	}
	return dirs
}

// ErrUntrusted means that another user could have created a file.
var ErrUntrusted = errors.New("other users could have put it there")

// MakeSocketDir creates the directory of a socket, if it is a private one, and refuses one that others can write to.
func MakeSocketDir(socket string) error {
	if dir := filepath.Dir(socket); slices.Contains(privateDirs(), dir) {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make a directory for the socket: %w", err)
		}
	}
	return checkSocketDir(socket)
}

// checkSocketDir refuses a socket in a directory that others can write to: the listener could be theirs.
func checkSocketDir(socket string) error {
	dir := filepath.Dir(socket)
	info, err := os.Lstat(dir)
	if !slices.Contains(privateDirs(), dir) {
		info, err = os.Stat(dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the socket's directory: %w", err)
	}
	if !slices.Contains(privateDirs(), dir) {
		return checkOpenDir(dir, info)
	}
	if !info.IsDir() || !private(info) {
		return fmt.Errorf("%s must be a directory of yours that nobody else can enter (mode 0700): remove it, or choose a shorter data directory: %w",
			dir, ErrUntrusted)
	}
	return nil
}

// checkOpenDir refuses a directory in which every user can replace a socket.
func checkOpenDir(dir string, info fs.FileInfo) error {
	if exposure(info).all {
		return fmt.Errorf("every user can exchange what is in %s: run chmod o-w %q: %w", dir, dir, ErrUntrusted)
	}
	return nil
}

// checkSocketOwner refuses a socket in another user's directory, unless it is the data directory, which was checked.
func checkSocketOwner(dir, socket string) error {
	of := filepath.Dir(socket)
	info, err := os.Stat(of)
	if err != nil || exposure(info).owner == 0 {
		return nil // connecting reports the error
	}
	if data, err := os.Stat(dir); err == nil && os.SameFile(data, info) {
		return nil
	}
	return fmt.Errorf("%s belongs to user %d: %w", of, exposure(info).owner, ErrUntrusted)
}
