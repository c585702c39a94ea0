// Package legacy serves the family legacy: the older tools of Engram, each of which does the work of several.
//
// Each calls the tools that replace it, in the same transaction, and answers with _deprecated and with _migrateTo, which names them. An error
// of one of them is the error of the call, and then nothing is written. memory_migration_report lists the agents that still call these
// tools, once the operator granted tools.usage.
//
//alcove:family legacy 1.0.0
//alcove:deprecated
//alcove:description Deprecated workflow tools of Engram, and who still calls them.
//alcove:keywords legacy, deprecated, old tool, old tools, older, previous version, former, engram, workflow, scripts, migrate, migrating, migration, upgrade
//alcove:keywords rewrite calls, calls, replacement, replacements, replaced, successor, successors, instead of, modern, who still uses, still work
//alcove:example what replaces the deprecated Engram tools?
//alcove:example who still calls the old tools?
//alcove:example my scripts use the previous tool names
//alcove:example move from the old workflow calls to the new ones
//alcove:example report on the migration from Engram
//alcove:example keep old calls working for now
//alcove:example which new tool does what the old one did?
//alcove:example is this tool obsolete, and what comes after it?
//alcove:example I used memory_observe before, what do I call now?
//alcove:example which of our agents still rely on old calls?
//alcove:example convert our scripts to the current tools
//alcove:example list of outdated tools and their successors
//alcove:example run an Engram tool under its old name
//alcove:example memory_observe is gone, what do I use now?
//alcove:example is memory_get_context still supported?
//alcove:example what became of memory_vault_sync?
//alcove:example who is still on the old API?
//alcove:example which scripts have to be changed before the removal?
//alcove:example deprecated functions and when they go away
//alcove:example our bot was written for Engram, will it still work?
//alcove:example the tutorial mentions a tool that I cannot find any more
//alcove:example replacement for memory_prune
//alcove:example new name of memory_register_agent
//alcove:example we are upgrading from an older release, what changes for the callers?
//alcove:example usage of obsolete calls in the last month
//alcove:example find callers of deprecated tools
//alcove:example port our agent from the old interface
//alcove:example the old way of ending a session
//alcove:example call the former summarise tool
//alcove:example backward compatibility with earlier clients
//alcove:example is anything here due to be removed?
//alcove:example phase out the old tools
//alcove:example how many calls to old tools are left?
//alcove:example warn me about retired functions
//alcove:example what are the modern equivalents?
//alcove:example rewrite my prompt, it uses outdated tool names
//alcove:example we still use the tool set of two years ago
//alcove:example migration status of all agents
//alcove:example sunset date of the old calls
//alcove:example translate the old calls into new ones
//alcove:example my integration broke since the tools were renamed
//alcove:example keep the previous generation of tools running
//alcove:example compat mode for Engram workflows
//alcove:example list the old names and what superseded each
//alcove:example run the old checkpoint tool
//alcove:example record feedback the old way
//alcove:example use memory_summarize as before
//alcove:example does anybody still need the old vault tool?
//alcove:example can we switch the old tools off without breaking anyone?
//alcove:example which agent made the most deprecated calls?
//alcove:example last time somebody used an old tool
//alcove:example guide for moving off the legacy tools
//alcove:example our code calls functions that the docs say are deprecated
//alcove:example old workflow commands
//alcove:example legacy API
//alcove:example is there an old-style call for observing something?
//alcove:example which tool took the place of the one I know?
//alcove:example get rid of our dependency on old tools
//alcove:example progress of the changeover to the new tools
//alcove:example were any obsolete calls made today?
//alcove:example the version before had a single tool for context, what now?
//alcove:example check our scripts for outdated calls
//alcove:example I have code from the Engram days
//alcove:example find the successor of a removed command
//alcove:example what did the old name turn into?
//alcove:example make old client programs work with this server
//alcove:example tell me what will stop working in the next release
//alcove:example deprecation report
//alcove:example who has not migrated yet?
//alcove:example the tool answers with _deprecated, what should I do?
//alcove:example upgrade path for old integrations
//alcove:example map former tool names to current ones
//alcove:example ageing scripts of ours use calls that will vanish
//alcove:license Apache-2.0
//alcove:needs tools.call memory_bump_access,memory_create_scope,memory_embed_capabilities,memory_export_facts_to_vault,memory_get_handoffs,memory_get_notifications,memory_import_vault_to_facts,memory_list_stale_facts,memory_mark_facts_merged,memory_mark_facts_pruned,memory_mark_notifications_read,memory_query_facts,memory_record_handoff,memory_record_recall_usage,memory_record_signal,memory_register_agent_core,memory_save_checkpoint,memory_search_entities,memory_search_facts,memory_search_themes,memory_store_fact,memory_update to call the tools that replace these
//alcove:needs memory.read * to read the importance of the facts that feedback is about
//alcove:needs tools.usage to report which agents call deprecated tools
package legacy

import (
	"github.com/alcove-memory/alcove/guests/families/legacy/successor"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

//go:generate alcove family gen

// notice tells of a deprecated tool what replaces it.
type notice struct {
	Deprecated bool   `json:"_deprecated"`
	MigrateTo  string `json:"_migrateTo"`
}

func replacedBySuccessors(tool string) notice {
	t, _ := successor.Of(tool)
	return notice{true, t.Text()}
}

// given are the arguments of a call without those that its caller left out.
type given map[string]any

func (g given) text(name, value string) given {
	if value != "" {
		g[name] = value
	}
	return g
}

func (g given) texts(name string, values []string) given {
	if len(values) > 0 {
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = v
		}
		g[name] = list
	}
	return g
}

func (g given) raw(name string, value alcove.Raw) given {
	if len(value) > 0 {
		g[name] = value
	}
	return g
}

// asText are ids as text.
func asText(ids []alcove.ID) []string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = id.String()
	}
	return list
}

// Family is legacy.
func Family() *alcove.Family {
	return alcove.New(GetContext{}, Observe{}, RegisterAgent{}, RecordFeedback{}, Summarize{}, Prune{}, VaultSync{}, Checkpoint{}, EndSession{}, MigrationReport{})
}
