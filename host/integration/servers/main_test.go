package servers_test

import (
	"os"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/server"
)

func TestMain(m *testing.M) { os.Exit(server.Main(m, server.Child{})) }
