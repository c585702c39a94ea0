package family

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/registry"
)

// Info is everything an operator can see of a family.
type Info struct {
	catalogue.Described
	Config map[string]json.RawMessage `json:"config,omitempty"` // none for an unusable family
	Limits map[string]Limit           `json:"limits"`           // limits of requests and quotas, by name
	Use    Use                        `json:"use"`
}

// Limit is a bound on a family's use of a resource.
type Limit struct {
	Value   int64 `json:"value"`
	Default int64 `json:"default"`       // the manifest's, or else the program's
	Set     bool  `json:"set,omitempty"` // by an operator
}

// Info describes a family.
func (f *Families) Info(ctx context.Context, name string) (Info, error) {
	d := f.catalogue.Describe(name)
	if d.Manifest == nil {
		return Info{}, f.catalogue.UnknownFamily(name)
	}
	info := Info{Described: d, Limits: limitsIn(d)}
	uses, err := f.Uses(ctx)
	if err != nil {
		return Info{}, err
	}
	if i := slices.IndexFunc(uses, func(u Use) bool { return u.Family == name }); i >= 0 {
		info.Use = uses[i]
	}
	if d.Fault == "" {
		info.Config, err = f.Configure(ctx, name, nil)
	}
	return info, err
}

// limitsIn returns the limits of a family. Those of a request are the lowest of manifest, program and operator.
func limitsIn(d catalogue.Described) map[string]Limit {
	limits := map[string]Limit{}
	standard, most := abi.DefaultLimits(), abi.MaxLimits()
	asked, highest := map[string]int64{}, map[string]int64{}
	d.Manifest.Limits.Each(func(name string, value *int64) { asked[name] = *value })
	most.Each(func(name string, value *int64) { highest[name] = *value })
	standard.Each(func(name string, value *int64) {
		if !abi.InManifest(name) {
			return
		}
		l := Limit{Value: *value, Default: *value}
		if asked[name] > 0 {
			l.Default = min(asked[name], highest[name])
			l.Value = l.Default
		}
		if set := d.Grant.Limits[name]; set > 0 {
			l.Value, l.Set = min(l.Default, set), true
		}
		limits[name] = l
	})
	for _, name := range []string{abi.QuotaRecords, abi.QuotaRecordBytes, abi.QuotaJobs, abi.QuotaJobBytes} {
		limits[name] = Limit{Value: grants.Quota(d.Grant, name), Default: abi.DefaultQuota(name), Set: d.Grant.Limits[name] > 0}
	}
	for _, name := range registry.Budgets() {
		if set := d.Grant.Limits[name]; set > 0 {
			limits[name] = Limit{Value: set, Set: true}
		}
	}
	return limits
}
