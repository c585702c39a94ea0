// Command eighteen is a guest of eighteen families for measurements: the first-party ones six times, under other names.
package main

import (
	"github.com/alcove-memory/alcove/guests/auto-tag/tagging"
	"github.com/alcove-memory/alcove/guests/consolidation/consolidating"
	"github.com/alcove-memory/alcove/guests/ranking/ranker"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() {
	var all []*alcove.Family
	for _, suffix := range []string{"-a", "-b", "-c", "-d", "-e", "-f"} {
		all = append(all, tagging.Family().Named("auto-tag"+suffix), consolidating.Family().Named("consolidation"+suffix), ranker.Family().Named("ranking"+suffix))
	}
	alcove.Serve(all...)
}

func main() {}
