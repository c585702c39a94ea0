package listen

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/alcove-memory/alcove/host/durable"
)

const (
	tokenBytes   = 32
	tokenLongest = 4 << 10 // bytes in a token file
)

// Token reads the token of a data directory, or creates it, in a file that only this user can read. Only the
// holder of the directory's lock may call it.
func Token(path string) (string, error) {
	token, err := ReadToken(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newToken(path)
	}
	return token, err
}

// ReadToken reads the token of a data directory. The error wraps fs.ErrNotExist if there is none.
func ReadToken(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the token for HTTP clients: %w", err)
	}
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o600); err != nil {
			return "", fmt.Errorf("others can read the token for HTTP clients: %w", err)
		}
	}
	token := strings.TrimSpace(string(data))
	if len(token) < tokenBytes || len(data) > tokenLongest {
		return "", fmt.Errorf("the token in %s has %d characters, not %d or more: delete the file to get a new one", path, len(token), tokenBytes)
	}
	return token, nil
}

// KeepToken makes a token that is known from elsewhere that of a data directory.
func KeepToken(path, token string) error {
	if have, err := ReadToken(path); err == nil && have == token {
		return nil
	}
	if err := durable.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		return fmt.Errorf("keep the token for HTTP clients: %w", err)
	}
	return nil
}

func newToken(path string) (string, error) {
	secret := make([]byte, tokenBytes)
	rand.Read(secret)
	token := base64.RawURLEncoding.EncodeToString(secret)
	if err := durable.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("make a token for HTTP clients: %w", err)
	}
	return token, nil
}
