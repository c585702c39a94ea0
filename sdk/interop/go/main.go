// Command go is the conformance guest in Go.
package main

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/interop/conform"
)

func init() { alcove.Serve(conform.Family()) }

func main() {}
