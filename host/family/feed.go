package family

import (
	"context"
	"encoding/json"
	"time"

	"github.com/alcove-memory/alcove/host/memory/feed"
)

// The settings of the feed, which the family events declares.
const (
	feedRetentionDays = "feed_retention_days"
	feedAlertRows     = "feed_alert_rows"
)

// feedLimits returns the limits of feeds by the settings of the system; without a family that declares them, the defaults.
func (f *Families) feedLimits(ctx context.Context) (feed.Limits, error) {
	if f.catalogue.SharedKeys().Key(feedRetentionDays) == nil || f.catalogue.SharedKeys().Key(feedAlertRows) == nil {
		return feed.Limits{}, nil
	}
	found, err := f.Settings(ctx, SettingQuery{Keys: []string{feedRetentionDays, feedAlertRows}})
	if err != nil {
		return feed.Limits{}, err
	}
	var limits feed.Limits
	for _, s := range found {
		var v float64
		if err := json.Unmarshal(s.Value, &v); err != nil {
			return feed.Limits{}, err
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
