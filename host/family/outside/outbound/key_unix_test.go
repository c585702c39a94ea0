//go:build unix

package outbound

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/registry"
)

// TestAPipeInPlaceOfAKeyIsNotWaitedFor hangs, for as long as tests may, when it is.
func TestAPipeInPlaceOfAKeyIsNotWaitedFor(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Client{}.Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: "http://127.0.0.1:1", KeyFile: pipe}, abi.HTTPFetchRequest{}, func(context.Context) error { return nil })
	var f *Failure
	if !errors.As(err, &f) || !errors.Is(f.Cause(), regular.ErrNot) {
		t.Errorf("Fetch: %v, want a Failure caused by ErrNot", err)
	}
}
