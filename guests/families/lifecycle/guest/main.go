// Command lifecycle is the guest of the family lifecycle.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/lifecycle"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(lifecycle.Family()) }

func main() {}
