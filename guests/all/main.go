// Command all is the guest of all first-party families: one module, which is packed once with the manifest of each.
package main

import (
	"github.com/alcove-memory/alcove/guests/auto-tag/tagging"
	"github.com/alcove-memory/alcove/guests/consolidation/consolidating"
	"github.com/alcove-memory/alcove/guests/facts/facts"
	"github.com/alcove-memory/alcove/guests/governance/governance"
	"github.com/alcove-memory/alcove/guests/graph/network"
	"github.com/alcove-memory/alcove/guests/lifecycle/aging"
	"github.com/alcove-memory/alcove/guests/ranking/ranker"
	"github.com/alcove-memory/alcove/guests/retrieval/retrieval"
	"github.com/alcove-memory/alcove/guests/settings/settings"
	"github.com/alcove-memory/alcove/guests/vault/vault"
	"github.com/alcove-memory/alcove/guests/working-memory/attention"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() {
	alcove.Serve(
		tagging.Family(),
		consolidating.Family(),
		facts.Family(),
		governance.Family(),
		network.Family(),
		aging.Family(),
		ranker.Family(),
		retrieval.Family(),
		settings.Family(),
		vault.Family(),
		attention.Family(),
	)
}

func main() {}
