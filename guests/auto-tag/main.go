// Command auto-tag is the guest of the family auto-tag.
package main

import (
	"github.com/alcove-memory/alcove/guests/auto-tag/tagging"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(tagging.Family()) }

func main() {}
