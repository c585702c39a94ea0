// Command ranking is the guest of the family ranking.
package main

import (
	"github.com/alcove-memory/alcove/guests/ranking/ranker"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(ranker.Family()) }

func main() {}
