// Command developer is the guest of the family developer.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/developer"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(developer.Family()) }

func main() {}
