// Command graph is the guest of the family graph.
package main

import (
	"github.com/alcove-memory/alcove/guests/graph/network"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(network.Family()) }

func main() {}
