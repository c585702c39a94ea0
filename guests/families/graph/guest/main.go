// Command graph is the guest of the family graph.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/graph"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(graph.Family()) }

func main() {}
