// Command agents is the guest of the family agents.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/agents"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(agents.Family()) }

func main() {}
