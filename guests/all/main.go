// Command all is the guest of all first-party families: one module, which is packed once with the manifest of each.
package main

import (
	"github.com/alcove-memory/alcove/guests/agents/roster"
	"github.com/alcove-memory/alcove/guests/auto-tag/tagging"
	"github.com/alcove-memory/alcove/guests/consolidation/consolidating"
	"github.com/alcove-memory/alcove/guests/developer/primitives"
	"github.com/alcove-memory/alcove/guests/facts/facts"
	"github.com/alcove-memory/alcove/guests/graph/network"
	"github.com/alcove-memory/alcove/guests/legacy/workflow"
	"github.com/alcove-memory/alcove/guests/lifecycle/aging"
	"github.com/alcove-memory/alcove/guests/messages/room"
	"github.com/alcove-memory/alcove/guests/ranking/ranker"
	"github.com/alcove-memory/alcove/guests/retrieval/retrieval"
	"github.com/alcove-memory/alcove/guests/sessions/sessions"
	"github.com/alcove-memory/alcove/guests/settings/settings"
	"github.com/alcove-memory/alcove/guests/sites/remote"
	"github.com/alcove-memory/alcove/guests/vault/vault"
	"github.com/alcove-memory/alcove/guests/working-memory/attention"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() {
	alcove.Serve(
		roster.Family(),
		tagging.Family(),
		consolidating.Family(),
		primitives.Family(),
		facts.Family(),
		network.Family(),
		workflow.Family(),
		aging.Family(),
		room.Family(),
		ranker.Family(),
		retrieval.Family(),
		sessions.Family(),
		settings.Family(),
		vault.Family(),
		remote.Family(),
		attention.Family(),
	)
}

func main() {}
