//go:build !guests

package host_test

import "github.com/alcove-memory/alcove/host"

// withFamilies leaves the owner that a test starts as it is: there are no first-party families.
func withFamilies(o host.Options) host.Options { return o }
