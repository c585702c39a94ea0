// Command all is the guest of all first-party families: one module, which is packed once with the manifest of each.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/agents"
	"github.com/alcove-memory/alcove/guests/families/auto-tag"
	"github.com/alcove-memory/alcove/guests/families/consolidation"
	"github.com/alcove-memory/alcove/guests/families/developer"
	"github.com/alcove-memory/alcove/guests/families/events"
	"github.com/alcove-memory/alcove/guests/families/facts"
	"github.com/alcove-memory/alcove/guests/families/governance"
	"github.com/alcove-memory/alcove/guests/families/graph"
	"github.com/alcove-memory/alcove/guests/families/legacy"
	"github.com/alcove-memory/alcove/guests/families/lifecycle"
	"github.com/alcove-memory/alcove/guests/families/messages"
	"github.com/alcove-memory/alcove/guests/families/ranking"
	"github.com/alcove-memory/alcove/guests/families/redaction"
	"github.com/alcove-memory/alcove/guests/families/retrieval"
	"github.com/alcove-memory/alcove/guests/families/sessions"
	"github.com/alcove-memory/alcove/guests/families/settings"
	"github.com/alcove-memory/alcove/guests/families/sites"
	"github.com/alcove-memory/alcove/guests/families/vault"
	"github.com/alcove-memory/alcove/guests/families/working-memory"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() {
	alcove.Serve(
		agents.Family(),
		autotag.Family(),
		consolidation.Family(),
		developer.Family(),
		events.Family(),
		facts.Family(),
		governance.Family(),
		graph.Family(),
		legacy.Family(),
		lifecycle.Family(),
		messages.Family(),
		ranking.Family(),
		redaction.Family(),
		retrieval.Family(),
		sessions.Family(),
		settings.Family(),
		sites.Family(),
		vault.Family(),
		workingmemory.Family(),
	)
}

func main() {}
