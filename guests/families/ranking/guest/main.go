// Command ranking is the guest of the family ranking.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/ranking"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(ranking.Family()) }

func main() {}
