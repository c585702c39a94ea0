// Command lifecycle is the guest of the family lifecycle.
package main

import (
	"github.com/alcove-memory/alcove/guests/lifecycle/aging"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(aging.Family()) }

func main() {}
