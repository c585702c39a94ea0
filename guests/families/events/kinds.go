package events

import (
	"slices"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// kinds are the kinds of events of the server and of the built-in families.
func kinds() []string {
	return []string{
		"memory_stored", "memory_forgotten", "event_logged",
		"fact_created", "fact_updated", "fact_enriched", "fact_archived", "fact_restored", "fact_merged", "fact_pruned", "fact_promoted", "lifecycle_run",
		"entity_created", "link_created", "link_ended", "theme_created",
		"session_started", "session_ended", "handoff_recorded", "checkpoint_saved", "wm_consolidated", "boundary_detected",
		"recall_recorded", "signal_recorded", "config_degraded_recall", "config_changed",
		"agent_registered", "scope_created", "scope_members_changed", "message", "notification_created", "notification_read",
		"pending_approved", "pending_rejected", "standard_changed",
		"site_connected", "site_disconnected", "site_schema_changed", "site_synced", "agent_spawned", "agent_completed", "agent_expired",
	}
}

// checkKind returns an error for a kind that nothing has. Those of a family are FAMILY.KIND, and FAMILY.* is all of them: which kinds an
// installed family has is known to it alone.
func checkKind(kind string) error {
	if family, name, of := strings.Cut(kind, "."); of && family != "" && name != "" {
		return nil
	}
	if slices.Contains(kinds(), kind) {
		return nil
	}
	return alcove.Errorf(alcove.InvalidArgument, "there is no kind of events %q: it is all, %s, or, of an installed family, FAMILY.KIND or FAMILY.*", kind, strings.Join(kinds(), ", "))
}
