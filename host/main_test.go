package host_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// noSync makes the owners that tests start acknowledge writes before they are on the disk.
const noSync = "ALCOVE_TEST_NOSYNC"

// overHTTP is the address on which the owners that tests start serve HTTP.
const overHTTP = "ALCOVE_TEST_HTTP"

// telling makes the owners that tests start tell their vitals.
const telling = "ALCOVE_TEST_VITALS"

// TestMain lets the test binary be an owner, when it is started as owner.Starter starts one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compile-module" { // as the sandbox starts its compiler
		os.Exit(sandbox.RunCompiler(os.Args[2:], os.Stdin, os.Stderr))
	}
	if len(os.Args) == 5 && os.Args[1] == "serve" && os.Args[4] == "--auto" {
		os.Exit(own(os.Args[3]))
	}
	os.Exit(m.Run())
}

// own is an owner of a data directory until it is interrupted.
func own(dir string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := host.Options{Dir: dir, Version: "test", Driver: testStore(nil), Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	if os.Getenv(soaking) != "" {
		o.Clock = fastClock
	}
	h, err := host.Open(ctx, withFamilies(o))
	var owned *owner.OwnedError
	if errors.As(err, &owned) {
		return 0
	}
	if err == nil && os.Getenv(soaking) != "" {
		go soakOwner(ctx, h, dir)
	}
	if err == nil && os.Getenv(telling) != "" {
		go tellVitals(ctx, dir)
	}
	if err == nil {
		err = errors.Join(h.Serve(ctx, host.Listen{HTTP: os.Getenv(overHTTP)}), h.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// testDriver is the default driver, with what tests need of it.
type testDriver struct {
	bolt.Driver
	opened *store.Engine // set to the engine; nil: not needed
}

func testStore(opened *store.Engine) testDriver {
	return testDriver{bolt.Driver{NoSync: os.Getenv(noSync) != ""}, opened}
}

func (d testDriver) Open(ctx context.Context, dir string, o store.Options) (store.Engine, error) {
	e, err := d.Driver.Open(ctx, dir, o)
	if err == nil && d.opened != nil {
		*d.opened = e
	}
	return e, err
}

// owned is a space for its owner; agent is the author of what is written.
func owned(s *memory.Space, agent string) *memory.Access {
	return s.As(memory.Caller{Agent: agent, Rights: memory.FullRights()})
}
