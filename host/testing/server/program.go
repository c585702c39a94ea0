package server

import (
	"testing"

	"github.com/alcove-memory/alcove/sdk/client"
)

// Program is a program that uses the SDK, connected to the server at an address.
func Program(t testing.TB, address string, o client.Options) *client.Client {
	t.Helper()
	c, err := client.Dial(t.Context(), address, o)
	if err != nil {
		t.Fatalf("connect to %s: %v", address, err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
