package week_test

import (
	"os"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/server"
)

func TestMain(m *testing.M) { os.Exit(server.Main(m, server.Child{Clock: fileClock})) }

// clockFile names the file that has the time, for the servers that the test starts.
const clockFile = "ALCOVE_TEST_WEEK_CLOCK"

// fileClock is the time of the file, or the machine's.
func fileClock() time.Time {
	text, err := os.ReadFile(os.Getenv(clockFile))
	if err != nil {
		return time.Now()
	}
	at, err := time.Parse(time.RFC3339, string(text))
	if err != nil { // it is just being written
		return time.Now()
	}
	return at
}
