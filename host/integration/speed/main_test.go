package speed_test

import (
	"context"
	"os"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/testing/server"
)

func TestMain(m *testing.M) {
	var c server.Child
	switch {
	case os.Getenv(soaking) != "":
		c = server.Child{Clock: fastClock, Beside: soakOwner}
	case os.Getenv(telling) != "":
		c.Beside = func(ctx context.Context, _ *host.Host, dir string) { tellVitals(ctx, dir) }
	}
	os.Exit(server.Main(m, c))
}
