// Command working-memory is the guest of the family working-memory.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/working-memory"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(workingmemory.Family()) }

func main() {}
