// Command developer is the guest of the family developer.
package main

import (
	"github.com/alcove-memory/alcove/guests/developer/primitives"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(primitives.Family()) }

func main() {}
