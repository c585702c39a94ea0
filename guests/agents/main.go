// Command agents is the guest of the family agents.
package main

import (
	"github.com/alcove-memory/alcove/guests/agents/roster"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(roster.Family()) }

func main() {}
