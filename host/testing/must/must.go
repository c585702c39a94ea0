// Package must ends tests whose preparations fail.
package must

import "testing"

// Do ends the test when an act failed.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("got the error %v, want none", err)
	}
}

// Get is the value of an act that cannot fail where it is used. It panics when that is not so.
func Get[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
