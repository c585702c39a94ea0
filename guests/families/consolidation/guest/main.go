// Command consolidation is the guest of the family consolidation.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/consolidation"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(consolidation.Family()) }

func main() {}
