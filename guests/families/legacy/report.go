package legacy

import (
	"github.com/alcove-memory/alcove/guests/families/legacy/successor"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// MigrationReport lists who called deprecated tools, and how often. A caller without the right to every namespace sees only its own calls. The
// counts need the capability tools.usage, which the operator grants: alcove family grant legacy tools.usage. They begin then.
//
//alcove:description Which agents still call deprecated tools.
//alcove:tool read-only
//alcove:title Report migration
type MigrationReport struct {
	Days int `alcove:"default=30,min=1,max=90"`
}

// Report is who calls deprecated tools.
type Report struct {
	Agents      []Use
	RemovalDate string // The tools are not removed before.
}

// Use is an agent's use of a deprecated tool.
type Use struct {
	Agent     string
	Tool      string
	Calls     int
	Errors    int `json:",omitzero"`
	Last      string
	MigrateTo string
}

// Call lists them.
func (in MigrationReport) Call(c *alcove.Call) (out Report, err error) {
	out.RemovalDate = successor.Removal
	var tools []string
	for _, t := range successor.Tools() {
		tools = append(tools, t.Name)
	}
	used, err := c.ToolsUsage(alcove.ToolsUsageRequest{Days: in.Days, Tools: tools})
	if err != nil {
		return out, err
	}
	for _, u := range used.Usage {
		t, _ := successor.Of(u.Tool)
		out.Agents = append(out.Agents, Use{u.Agent, u.Tool, u.Calls, u.Errors, u.Last, t.Text()})
	}
	return out, nil
}
