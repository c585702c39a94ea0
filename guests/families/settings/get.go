package settings

import alcove "github.com/alcove-memory/alcove/sdk/go"

// GetConfig gets a setting as it applies here, or all of them. source is scope, agent, system or default: where the value comes from.
//
//alcove:description A setting as it applies here, or all of them.
//alcove:tool read-only
//alcove:title Get a setting
type GetConfig struct {
	Key string // All if left out.
}

// Setting is a setting as it applies; or all of them, in Config.
//
//alcove:camel
type Setting struct {
	Key         string                `json:",omitzero"`
	Value       alcove.Raw            `json:",omitzero"`
	Source      string                `json:",omitzero"` // scope, agent, system or default.
	Version     uint64                `json:",omitzero"` // In that scope; of a default in the system. Absent: it was never set there.
	Range       alcove.Raw            `json:",omitzero"` // The JSON Schema of its values.
	Default     alcove.Raw            `json:",omitzero"`
	Category    string                `json:",omitzero"`
	Description string                `json:",omitzero"`
	UpdatedAt   string                `json:",omitzero"`
	UpdatedBy   string                `json:",omitzero"`
	Unused      []string              `json:",omitzero"` // Nearer values that are not used, and why.
	Config      map[string]alcove.Raw `json:",omitzero"` // All settings.
}

func settingOf(s *alcove.SettingState) Setting {
	return Setting{
		Key: s.Key, Value: s.Value, Source: source(s.Scope), Version: s.Version, Range: s.Schema, Default: s.Default, Category: s.Category,
		Description: s.Description, UpdatedAt: s.UpdatedAt, UpdatedBy: s.UpdatedBy, Unused: s.Unused,
	}
}

// source is a scope of the host as the tools name it.
func source(scope string) string {
	if scope == scopeNamespace {
		return "scope"
	}
	return scope
}

// The scope of the host that is a scope here.
const scopeNamespace = "namespace"

// Call gets it.
func (in GetConfig) Call(c *alcove.Call) (out Setting, err error) {
	if in.Key == "" {
		out.Config = map[string]alcove.Raw{}
		return out, each(c, alcove.ConfigListRequest{}, func(s *alcove.SettingState) { out.Config[s.Key] = s.Value })
	}
	found, err := c.ConfigGet(alcove.ConfigGetRequest{Keys: []string{in.Key}, Details: true})
	if err != nil {
		return out, err
	}
	for i := range found.Settings {
		out = settingOf(&found.Settings[i])
	}
	return out, nil
}

// each calls f with the settings that a listing has, page by page.
func each(c *alcove.Call, list alcove.ConfigListRequest, f func(*alcove.SettingState)) error {
	for {
		page, err := c.ConfigList(list)
		if err != nil {
			return err
		}
		for i := range page.Settings {
			f(&page.Settings[i])
		}
		if list.After = page.Next; page.Next == "" {
			return nil
		}
	}
}
