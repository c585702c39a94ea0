// Package successor names the tools that replace deprecated ones.
package successor

// Removal is the first day on which deprecated tools may be removed: six calendar months after the release of 22 November 2026.
const Removal = "2027-05-22"

// Tool is a deprecated tool.
type Tool struct {
	Name string
	By   []string // what replaces it, in the order of use
}

// Tools are the deprecated tools, in the order of Engram's list.
func Tools() []Tool {
	return []Tool{
		{Name: "memory_get_context", By: []string{"memory_search_facts", "memory_search_entities", "memory_search_themes", "memory_get_handoffs", "memory_get_notifications", "memory_mark_notifications_read"}},
		{Name: "memory_observe", By: []string{"memory_store_fact"}},
		{Name: "memory_register_agent", By: []string{"memory_create_scope", "memory_register_agent_core", "memory_embed_capabilities"}},
		{Name: "memory_record_feedback", By: []string{"memory_record_recall_usage", "memory_record_signal"}},
		{Name: "memory_summarize", By: []string{"memory_search_facts", "memory_store_fact", "memory_mark_facts_merged"}},
		{Name: "memory_prune", By: []string{"memory_list_stale_facts", "memory_mark_facts_pruned"}},
		{Name: "memory_vault_sync", By: []string{"memory_export_facts_to_vault", "memory_import_vault_to_facts"}},
		{Name: "memory_checkpoint", By: []string{"memory_save_checkpoint", "memory_query_facts"}},
		{Name: "memory_end_session", By: []string{"memory_store_fact", "memory_record_handoff"}},
	}
}

// Of is a deprecated tool by its name.
func Of(name string) (t Tool, found bool) {
	for _, t := range Tools() {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Text names what replaces a tool, as one text.
func (t Tool) Text() string {
	text := ""
	for i, name := range t.By {
		switch {
		case i > 0 && i == len(t.By)-1:
			text += " and "
		case i > 0:
			text += ", "
		}
		text += name
	}
	return text
}
