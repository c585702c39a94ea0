// Command working-memory is the guest of the family working-memory.
package main

import (
	"github.com/alcove-memory/alcove/guests/working-memory/attention"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(attention.Family()) }

func main() {}
