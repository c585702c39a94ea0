package configfile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/operator"
)

func (f *File) endpoints(ctx context.Context, s operator.Server) ([]Change, error) {
	if f.Endpoints == nil {
		return nil, nil
	}
	have, err := operator.Query(ctx, s, operator.ListEndpoints)
	if err != nil {
		return nil, fmt.Errorf("list the endpoints: %w", err)
	}
	want := maps.Clone(f.Endpoints.Servers)
	for name, e := range want {
		e.Kind = cmp.Or(e.Kind, "openai")
		want[name] = e
	}
	set := func(ctx context.Context, s operator.Server, name string, to *operator.Endpoint) error {
		return operator.Command(ctx, s, operator.SetEndpoint, operator.EndpointRequest{Name: name, Endpoint: to})
	}
	return ofLock(compared("endpoint", want, have, f.Endpoints.Prune, set)), nil
}

func (f *File) roots(ctx context.Context, s operator.Server) ([]Change, error) {
	if f.Roots == nil {
		return nil, nil
	}
	have, err := operator.Query(ctx, s, operator.ListRoots)
	if err != nil {
		return nil, fmt.Errorf("list the roots: %w", err)
	}
	set := func(ctx context.Context, s operator.Server, name string, to *operator.Root) error {
		return operator.Command(ctx, s, operator.SetRoot, operator.RootRequest{Name: name, Root: to})
	}
	return ofLock(compared("root", f.Roots.Directories, have, f.Roots.Prune, set)), nil
}

func (f *File) quotas(ctx context.Context, s operator.Server) ([]Change, error) {
	if f.Quotas == nil {
		return nil, nil
	}
	have, err := quotasOf(ctx, s)
	if err != nil {
		return nil, err
	}
	set := func(ctx context.Context, s operator.Server, name string, to *Quota) error {
		r := operator.QuotaRequest{Namespace: name}
		if to != nil {
			r.Quota.Memories, r.Quota.Links, r.Quota.Bytes, r.Quota.Total = to.Memories, to.Links, to.Bytes, to.Total
		}
		return operator.Command(ctx, s, operator.SetQuota, r)
	}
	return compared("quota", f.Quotas.Namespaces, have, f.Quotas.Prune, set), nil
}

func quotasOf(ctx context.Context, s operator.Server) (map[string]Quota, error) {
	uses, err := operator.Query(ctx, s, operator.ListQuotas)
	if err != nil {
		return nil, fmt.Errorf("list the quotas: %w", err)
	}
	have := map[string]Quota{}
	for _, u := range uses {
		have[u.Namespace] = Quota{Memories: u.Quota.Memories, Links: u.Quota.Links, Bytes: u.Quota.Bytes, Total: u.Quota.Total}
	}
	return have, nil
}

func (f *File) retention(ctx context.Context, s operator.Server) ([]Change, error) {
	if f.Retention == nil {
		return nil, nil
	}
	have, err := operator.Query(ctx, s, operator.GetRetention)
	if err != nil {
		return nil, fmt.Errorf("get the retention: %w", err)
	}
	want, err := f.Retention.over(have)
	if err != nil {
		return nil, err
	}
	details := differences(flatRetention(have), flatRetention(want))
	if len(details) == 0 {
		return nil, nil
	}
	return []Change{{Does: Alter, Section: "retention", Details: details, act: func(ctx context.Context, s operator.Server) (Made, error) {
		_, err := operator.Call(ctx, s, operator.SetRetention, want)
		return Made{}, err
	}}}, nil
}

// over is a policy with what the file says of it.
func (r *Retention) over(have operator.Retention) (want operator.Retention, err error) {
	want = have
	if r.Keep != nil {
		if want.Keep, err = seconds(*r.Keep); err != nil {
			return want, fmt.Errorf("retention: keep: %w", err)
		}
	}
	if r.Versions != nil {
		want.Versions = *r.Versions
	}
	want.Branches, want.Namespaces = map[string]int64{}, map[string]operator.NamespaceRetention{}
	if !r.Prune {
		maps.Copy(want.Branches, have.Branches)
		maps.Copy(want.Namespaces, have.Namespaces)
	}
	for name, text := range r.Branches {
		if want.Branches[name], err = seconds(text); err != nil {
			return want, fmt.Errorf("retention: branch %s: %w", name, err)
		}
	}
	for name, kept := range r.Namespaces {
		rule := operator.NamespaceRetention{Versions: kept.Versions, Forever: kept.Keep == "forever"}
		if kept.Keep != "" {
			if rule.Keep, err = seconds(kept.Keep); err != nil {
				return want, fmt.Errorf("retention: namespace %s: %w", name, err)
			}
		}
		want.Namespaces[name] = rule
	}
	return want, nil
}

// flatRetention has the parts of a policy by name, in words.
func flatRetention(r operator.Retention) map[string]string {
	flat := map[string]string{"keep": age(r.Keep), "versions": fmt.Sprint(r.Versions)}
	for name, keep := range r.Branches {
		flat["branch "+name] = age(keep)
	}
	for name, n := range r.Namespaces {
		flat["namespace "+name] = strings.TrimSpace(fmt.Sprintf("%s versions %d", keptAge(n), n.Versions))
	}
	return flat
}

func keptAge(n operator.NamespaceRetention) string {
	if n.Keep == 0 && !n.Forever {
		return ""
	}
	return age(n.Keep)
}

func (f *File) settings(ctx context.Context, s operator.Server) (list []Change, err error) {
	if f.Settings == nil {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(f.Settings.Scopes)) {
		scope, err := ScopeOf(name)
		if err != nil {
			return nil, fmt.Errorf("settings: %w", err)
		}
		have, err := settingsIn(ctx, s, scope)
		if err != nil {
			return nil, err
		}
		if c, differs := settingsChange(name, scope, f.Settings.Scopes[name], have, f.Settings.Prune); differs {
			list = append(list, c)
		}
	}
	return list, nil
}

// ScopeOf reads a scope of settings.
func ScopeOf(text string) (s operator.SettingScope, err error) {
	kind, name, named := strings.Cut(text, ":")
	switch kind {
	case "system", "namespace", "agent", "family":
		s.Kind, s.Name = operator.SettingKind(kind), name
	}
	if s.Kind == "" || named != (kind != "system") || named && name == "" {
		return s, fmt.Errorf("the scope %.80q: give system, namespace:NAME, agent:NAME or family:NAME", text)
	}
	return s, nil
}

func settingsIn(ctx context.Context, s operator.Server, in operator.SettingScope) (map[string]json.RawMessage, error) {
	list, err := operator.Call(ctx, s, operator.ListSettings, operator.SettingQuery{In: in})
	if err != nil {
		return nil, fmt.Errorf("list the settings of %s: %w", in, err)
	}
	have := map[string]json.RawMessage{}
	for _, setting := range list {
		have[setting.Key] = setting.Value
	}
	return have, nil
}

// settingsChange is the one change of a scope: all of its settings change, or none.
func settingsChange(name string, scope operator.SettingScope, want, have map[string]json.RawMessage, prune bool) (Change, bool) {
	r := operator.SettingChanges{Scope: scope, Reason: "the configuration file"}
	c := Change{Does: Alter, Section: "settings", Name: name}
	to := map[string]json.RawMessage{}
	maps.Copy(to, want)
	for key := range have {
		if _, wanted := want[key]; !wanted && prune {
			to[key] = json.RawMessage("null")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(to)) {
		value, was := canonical(to[key]), canonical(have[key])
		if value == was {
			continue
		}
		r.Changes = append(r.Changes, operator.SettingChange{Key: key, Value: to[key]})
		c.Details = append(c.Details, fmt.Sprintf("%s: %s, was %s", key, orUnset(value), orUnset(was)))
	}
	c.act = func(ctx context.Context, s operator.Server) (Made, error) {
		_, err := operator.Call(ctx, s, operator.ChangeSettings, r)
		return Made{}, err
	}
	return c, len(r.Changes) > 0
}

func orUnset(value string) string { return cmp.Or(value, "unset") }

// canonical is JSON in the form in which equal values are equal texts; empty for null.
func canonical(value json.RawMessage) string {
	in := json.NewDecoder(bytes.NewReader(value))
	in.UseNumber()
	var v any
	if err := in.Decode(&v); err != nil || v == nil {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		return string(value)
	}
	return string(text)
}

func (f *File) embedders(ctx context.Context, s operator.Server) ([]Change, error) {
	if f.Embedders == nil {
		return nil, nil
	}
	states, err := operator.Query(ctx, s, operator.ListEmbedders)
	if err != nil {
		return nil, fmt.Errorf("list the embedders: %w", err)
	}
	have, standard := map[string]operator.EmbedderConfig{}, "none"
	for _, e := range states {
		if e.Standard {
			standard = e.Name
		}
		have[e.Name] = e.Config
	}
	for name, c := range f.Embedders.Models {
		if c.Name != "" && c.Name != name {
			return nil, fmt.Errorf("embedders: %s has the name %.80s: leave the member name out", name, c.Name)
		}
	}
	list := f.models(have)
	want := f.Embedders.Default
	if want != "" && want != standard {
		name := strings.TrimSuffix(want, "none")
		list = append(list, Change{Does: Alter, Section: "embedders", Name: "default", Details: []string{want + ", was " + standard}, act: func(ctx context.Context, s operator.Server) (Made, error) {
			return Made{}, operator.Command(ctx, s, operator.ChooseEmbedder, operator.EmbedderChoice{Standard: &name})
		}})
	}
	return list, nil
}

// models compares the embedders that the file describes, each by the members that it mentions.
func (f *File) models(have map[string]operator.EmbedderConfig) []Change {
	want, mentioned := map[string]operator.EmbedderConfig{}, map[string]operator.EmbedderConfig{}
	for name, c := range f.Embedders.Models {
		c.Name = name
		want[name] = c
	}
	for name, there := range have {
		if name == "builtin" && there.Kind == "builtin" {
			continue // the program's own is neither set nor removed
		}
		mentioned[name] = there
		if to, ok := want[name]; ok && mentions(to, there) {
			mentioned[name] = to
		}
	}
	set := func(ctx context.Context, s operator.Server, name string, to *operator.EmbedderConfig) error {
		if to == nil {
			return operator.Command(ctx, s, operator.RemoveEmbedder, operator.EmbedderName{Name: name})
		}
		_, err := operator.Call(ctx, s, operator.SetEmbedder, operator.EmbedderRequest{Config: *to})
		return err
	}
	return compared("embedder", want, mentioned, f.Embedders.Prune, set)
}

// mentions reports whether all members that a description has are those of another.
func mentions(to, there operator.EmbedderConfig) bool {
	other := membersOf(there)
	for name, value := range membersOf(to) {
		if string(other[name]) != string(value) {
			return false
		}
	}
	return true
}
