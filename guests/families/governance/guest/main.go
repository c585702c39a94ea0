// Command governance is the guest of the family governance.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/governance"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(governance.Family()) }

func main() {}
