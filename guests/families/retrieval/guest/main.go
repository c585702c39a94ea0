// Command retrieval is the guest of the family retrieval.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/retrieval"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(retrieval.Family()) }

func main() {}
