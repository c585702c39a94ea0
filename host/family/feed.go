package family

import (
	"context"
	"encoding/json"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

// The settings of the feed, which the family events declares.
const (
	feedRetentionDays = "feed_retention_days"
	feedAlertRows     = "feed_alert_rows"
)

// FeedLimits returns the limits of feeds by the settings of the system; without a family that declares them, the defaults.
func (f *Families) FeedLimits(ctx context.Context) (memory.FeedLimits, error) {
	if f.sharedKeys().Key(feedRetentionDays) == nil || f.sharedKeys().Key(feedAlertRows) == nil {
		return memory.FeedLimits{}, nil
	}
	found, err := f.Settings(ctx, SettingQuery{Keys: []string{feedRetentionDays, feedAlertRows}})
	if err != nil {
		return memory.FeedLimits{}, err
	}
	var limits memory.FeedLimits
	for _, s := range found {
		var v float64
		if err := json.Unmarshal(s.Value, &v); err != nil {
			return memory.FeedLimits{}, err
		}
		switch s.Key {
		case feedRetentionDays:
			limits.Age = time.Duration(v * 24 * float64(time.Hour))
		case feedAlertRows:
			limits.AlertRows = int(v)
		}
	}
	return limits, nil
}
