package trial

import (
	"context"
	"os"

	"github.com/alcove-memory/alcove/host/family/author/conform"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/space"
)

// Conformance is a test of whether a family keeps its contract.
type Conformance struct {
	Sandbox *sandbox.Sandbox
	Module  []byte // packed
	Seed    uint64 // of what is generated
	Inputs  int    // generated for each tool; 0: 25
	Tool    string // only this one; empty: all tools, hooks and jobs
}

// Test tests a family in spaces that are thrown away. A module that is not admitted is a *sandbox.Refusal.
func Test(ctx context.Context, c Conformance) (*conform.Report, error) {
	return conform.Run(ctx, c.Module, conform.Options{Seed: c.Seed, Inputs: c.Inputs, Tool: c.Tool, Open: c.open})
}

// open opens a world in a temporary directory.
func (c Conformance) open(ctx context.Context, watch func(catalogue.Guest) catalogue.Guest) (conform.World, error) {
	dir, err := os.MkdirTemp("", "alcove-test-*")
	if err != nil {
		return conform.World{}, err
	}
	var closing space.Closers
	closing.Later("the temporary directory", func() error { return os.RemoveAll(dir) })
	p, err := space.Open(ctx, space.Options{Dir: dir}, space.Environment{Sandbox: c.Sandbox, Watch: watch}, &closing)
	if err != nil {
		closing.Close()
		return conform.World{}, err
	}
	return conform.World{Space: p.Memory, Families: p.Families, Close: closing.Close}, nil
}
