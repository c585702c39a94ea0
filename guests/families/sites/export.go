package sites

import alcove "github.com/alcove-memory/alcove/sdk/go"

// ExportTools exports tools for a model's API.
//
// Tools of a site, of some families (core stands for the core's), or all that the caller may use. Names are written with _, as model APIs
// require; dotted leaves the dots of sites' tools.
//
//alcove:title Export tools for a model API
//alcove:description Tools in the form a model API takes.
//alcove:tool memory_export_tools read-only
type ExportTools struct {
	Slug     string   // Only tools of this site.
	Families []string `alcove:"many,max=100"`
	Dotted   bool
	Limit    int `alcove:"default=500,min=1,max=1000"`
	Cursor   string
}

type exported struct {
	Tools      []exportedTool
	NextCursor string `json:"next_cursor,omitzero"`
	Truncated  bool   `json:"truncated,omitzero"`
}

type exportedTool struct {
	Name        string
	Description string
	InputSchema alcove.Raw `alcove:"opaque"`
}

// Call exports them.
func (in ExportTools) Call(c *alcove.Call) (out exported, err error) {
	r := alcove.ToolsOfferedRequest{Families: in.Families, After: in.Cursor, Limit: in.Limit}
	if in.Slug != "" {
		slug, err := known(c, in.Slug)
		if err != nil {
			return out, err
		}
		r.Prefix, r.Families = slug+".", []string{"sites"}
	}
	found, err := c.ToolsOffered(r)
	if err != nil {
		return out, err
	}
	for _, t := range found.Tools {
		name := t.Name
		if !in.Dotted {
			name = undotted(name)
		}
		out.Tools = append(out.Tools, exportedTool{name, t.Description, t.InputSchema})
	}
	out.NextCursor, out.Truncated = found.Next, found.Next != ""
	return out, nil
}

func undotted(name string) string {
	out := []byte(name)
	for i, b := range out {
		if b == '.' {
			out[i] = '_'
		}
	}
	return string(out)
}
