//go:build guests

package host_test

import (
	"os"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// carrying makes the owners that tests start carry the first-party families.
const carrying = "ALCOVE_TEST_FAMILIES"

// withFamilies adds the first-party families to an owner that a test starts with them.
func withFamilies(o host.Options) host.Options {
	if os.Getenv(carrying) != "" {
		o.Families, o.Cache = carriedFamilies(), sandbox.Cache{Dir: compiledHere()}
	}
	return o
}
