// Command guest is the guest of the family facts.
package main

import (
	"github.com/alcove-memory/alcove/host/bench/pairs/testdata/facts"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(facts.Family()) }

func main() {}
