package hostile_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/hostile"
)

// FuzzHost mutates hostile modules. The host must refuse each or classify its outcome.
func FuzzHost(f *testing.F) {
	const small = 2000 // bytes: larger ones compile too slowly in this process
	for i, c := range hostile.Corpus() {
		if i%7 == 0 && len(c.Module) < small {
			f.Add(c.Module)
		}
	}
	s, err := sandbox.New(sandbox.Config{Cache: sandbox.Cache{Dir: filepath.Join(f.TempDir(), "cache")}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	limits := hostile.Limits()
	limits.CPUMS, limits.WallMS = 3, 20
	f.Fuzz(func(t *testing.T, module []byte) {
		if len(module) > 4*small {
			return
		}
		m, err := s.Admit(context.Background(), module, sandbox.Options{Bare: true, Vetted: true, Limits: limits})
		var refusal *sandbox.Refusal
		if errors.As(err, &refusal) {
			return
		}
		if err != nil {
			t.Fatalf("the host failed: %v", err)
		}
		defer m.Close()
		for range 2 { // the second call may reuse the instance
			r, err := m.Call(context.Background(), sandbox.Request{Kind: abi.KindTool, Payload: []byte("{}"), Host: answering{}})
			if err != nil || !slices.Contains(abi.Classes(), r.Class) {
				t.Fatalf("it ended as %+v, %v", r, err)
			}
		}
	})
}
