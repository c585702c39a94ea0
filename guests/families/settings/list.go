package settings

import alcove "github.com/alcove-memory/alcove/sdk/go"

// ListConfigs lists settings by category. They are listed as they apply here, in the order of their keys.
//
//alcove:description Settings by category.
//alcove:tool read-only
//alcove:title List settings
type ListConfigs struct {
	Category string
	Prefix   string
	Limit    int `alcove:"default=100,max=1000,alias=k"`
	Cursor   string
}

// Configs is a page of settings.
type Configs struct {
	Configs    []Setting
	NextCursor string `json:"next_cursor,omitzero"`
	Truncated  bool   `json:"truncated,omitzero"` // There are more.
}

// Call lists them.
func (in ListConfigs) Call(c *alcove.Call) (out Configs, err error) {
	page, err := c.ConfigList(alcove.ConfigListRequest{Category: in.Category, Prefix: in.Prefix, Limit: max(in.Limit, 1), After: in.Cursor})
	for i := range page.Settings {
		out.Configs = append(out.Configs, settingOf(&page.Settings[i]))
	}
	out.NextCursor, out.Truncated = page.Next, page.Next != ""
	return out, err
}
