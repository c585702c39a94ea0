// Command all is the guest of all first-party families: one module, which is packed once with the manifest of each.
package main

import (
	"github.com/alcove-memory/alcove/guests/agents/roster"
	"github.com/alcove-memory/alcove/guests/auto-tag/tagging"
	"github.com/alcove-memory/alcove/guests/consolidation/consolidating"
	"github.com/alcove-memory/alcove/guests/facts/facts"
	"github.com/alcove-memory/alcove/guests/graph/network"
	"github.com/alcove-memory/alcove/guests/lifecycle/aging"
	"github.com/alcove-memory/alcove/guests/messages/room"
	"github.com/alcove-memory/alcove/guests/ranking/ranker"
	"github.com/alcove-memory/alcove/guests/retrieval/retrieval"
	"github.com/alcove-memory/alcove/guests/settings/settings"
	"github.com/alcove-memory/alcove/guests/working-memory/attention"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() {
	alcove.Serve(
		roster.Family(),
		tagging.Family(),
		consolidating.Family(),
		facts.Family(),
		network.Family(),
		aging.Family(),
		room.Family(),
		ranker.Family(),
		retrieval.Family(),
		settings.Family(),
		attention.Family(),
	)
}

func main() {}
