// Command legacy is the guest of the family legacy.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/legacy"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(legacy.Family()) }

func main() {}
