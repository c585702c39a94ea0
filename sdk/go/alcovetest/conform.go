package alcovetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/author/conform"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// Conform tests whether a packed module keeps its contract, as alcove family test does, and returns what that found. Each problem is an
// error of the test.
func Conform(t testing.TB, path string) *conform.Report {
	t.Helper()
	module, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read the module: %v", err)
	}
	box, err := sandbox.New(sandbox.Config{Cache: sandbox.UserCache()})
	if err != nil {
		t.Fatalf("alcovetest: %v", err)
	}
	defer box.Close()
	report, err := conform.Run(t.Context(), module, conform.Options{Seed: 1, Open: opener(t.TempDir(), box)})
	if err != nil {
		t.Fatalf("test %s: %v", path, err)
	}
	for _, c := range report.Checks {
		for _, p := range c.Problems {
			t.Errorf("%s, %s: %s with %s", c.Subject, c.Name, p.Message, p.Case)
		}
	}
	return report
}

// opener opens worlds in directories of their own within dir.
func opener(dir string, box *sandbox.Sandbox) func(context.Context, func(catalogue.Guest) catalogue.Guest) (conform.World, error) {
	return func(ctx context.Context, watch func(catalogue.Guest) catalogue.Guest) (w conform.World, err error) {
		at, err := os.MkdirTemp(dir, "world-*")
		if err != nil {
			return w, err
		}
		engine, err := bolt.Open(ctx, filepath.Join(at, "store"), bolt.Options{NoSync: true, MapSize: 16 << 20})
		if err != nil {
			return w, err
		}
		proxy := family.NewProxy(nil)
		if w.Space, err = memory.Open(ctx, memory.Options{Engine: engine, Index: search.New(search.Options{}), Hooks: proxy.Hooks}); err != nil {
			return w, errors.Join(err, engine.Close())
		}
		w.Families, err = family.New(ctx, family.Options{
			Space: w.Space, Proxy: proxy, Sandbox: box, Dir: at, Stepwise: true, Poll: time.Hour, Idle: time.Hour,
			Admit: func(ctx context.Context, module []byte, digest string) (catalogue.Guest, error) {
				m, err := box.Admit(ctx, module, sandbox.Options{Digest: digest, Vetted: true})
				if err != nil {
					return nil, err
				}
				return watch(m), nil
			},
		})
		if err != nil {
			return w, errors.Join(err, w.Space.Close(ctx), engine.Close())
		}
		w.Close = func() error {
			return errors.Join(w.Families.Close(), w.Space.Close(context.WithoutCancel(ctx)), engine.Close())
		}
		return w, nil
	}
}
