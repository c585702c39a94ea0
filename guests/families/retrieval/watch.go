package retrieval

import (
	"slices"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// alerts are the changes that were announced as bad ones.
var alerts = alcove.Records[Alert]{Name: "alert", Per: "branch", Expires: "30d"}

// Alert is a change that made recalls worse.
type Alert struct {
	Effect Effect
}

// WatchRecall compares how often recalled facts were used before and after each change of the configuration, and announces a fall once.
//
//alcove:job watch-recall every=1h each=namespace
type WatchRecall struct{}

// Watched is what a run found.
type Watched struct {
	Changes  int
	Degraded int
}

// leastRecalls is how many recalls with feedback there must be on each side of a change.
const leastRecalls = 20

// Run compares.
func (WatchRecall) Run(c *alcove.Call, cfg Config) (out Watched, err error) {
	since := c.Time().Add(-alcove.Day - alcove.Hour)
	changes, err := changesSince(c, since)
	if err != nil || len(changes) == 0 {
		return out, err
	}
	out.Changes = len(changes)
	list, err := samplesSince(c, since.Add(-alcove.Day))
	if err != nil {
		return out, err
	}
	for _, one := range changes {
		before, after := one.around(list)
		if !degraded(before, after, cfg.DropAlert) {
			continue
		}
		told, err := alert(c, effect(one, before, after))
		if err != nil {
			return out, err
		}
		if told {
			out.Degraded++
		}
	}
	return out, nil
}

// slack is the error of a fall that is computed in floating point: one that is exactly the alert is not above it.
const slack = 1e-9

// degraded reports whether there are recalls enough on both sides of a change to say that it made them worse by more than the alert.
func degraded(before, after share, alert float64) bool {
	return before.recalls >= leastRecalls && after.recalls >= leastRecalls && fall(before, after) > alert+slack
}

// alert announces a bad change, unless that was done before.
func alert(c *alcove.Call, e Effect) (told bool, err error) {
	key := e.At + "/" + e.ScopeID
	if _, before, err := alerts.Get(c, key); before || err != nil {
		return false, err
	}
	if err := alerts.Put(c, key, Alert{e}); err != nil {
		return false, err
	}
	payload := map[string]any{"updatedBy": e.UpdatedBy, "at": e.At, "before": e.Before, "after": e.After, "drop": e.Drop, "rollbackTo": versions(e.RollbackTo), "changedScope": e.ScopeID}
	if e.Change != "" {
		payload["change"] = e.Change
	}
	if err := announce(c, "config_degraded_recall", payload); err != nil {
		return false, err
	}
	notify(c, e, payload)
	return true, nil
}

func versions(list map[string]uint64) map[string]any {
	all := map[string]any{}
	for key, version := range list {
		all[key] = version
	}
	return all
}

// notify leaves the author of the change a notification, where there is a tool for that.
func notify(c *alcove.Call, e Effect, payload map[string]any) {
	if e.UpdatedBy == "" {
		return
	}
	var keys []string
	for key := range e.RollbackTo {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	err := c.CallTool("memory_notify", map[string]any{
		"target_agent_id": e.UpdatedBy, "title": "Recalls became worse after a change of " + strings.Join(keys[:min(len(keys), 3)], ", "), "payload": payload,
	}, nil)
	if err != nil {
		c.Log("%s is not notified: %v", e.UpdatedBy, err)
	}
}
