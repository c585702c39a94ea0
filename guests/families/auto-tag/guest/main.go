// Command auto-tag is the guest of the family auto-tag.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/auto-tag"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(autotag.Family()) }

func main() {}
