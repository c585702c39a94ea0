package catalogue

import (
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/naming"
	"github.com/alcove-memory/alcove/host/memory"
)

// NamesBeside returns the names that a family's published tool must not have or resemble.
func (f *Catalogue) NamesBeside(x *Family, tool string) *naming.Used {
	f.mu.RLock()
	defer f.mu.RUnlock()
	names := naming.NewUsed(f.o.Core)
	for _, other := range f.byPrecedence() {
		if other.Clashes || other.Digest == "" {
			continue
		}
		names.Add(other.Manifest)
		for _, t := range f.publishedBy(other) {
			if other.Name != x.Name || t.Name != tool { // the tool that it replaces
				names.AddTool(other.Name, t.Name)
			}
		}
	}
	return names
}

// toolsOf returns all tools of a family: its manifest's, and its published ones. The caller holds mu.
func (f *Catalogue) toolsOf(x *Family) []*Tool {
	list := slices.Clip(x.Tools())
	for _, t := range f.publishedBy(x) {
		list = append(list, NewTool(x, t))
	}
	return list
}

// publishedBy returns the published tools of a family that are offered. The caller holds mu.
func (f *Catalogue) publishedBy(x *Family) []abi.Tool {
	var list []abi.Tool
	for _, t := range f.published[x.Name] {
		if f.tools[t.Name] == x {
			list = append(list, t)
		}
	}
	return list
}

// MayInstall refuses a family whose names clash or whose configuration is wrong. The caller holds changing.
func (f *Catalogue) MayInstall(m *abi.Manifest) error {
	if err := config.Declared(m).Check(); err != nil {
		return &memory.Error{Code: memory.InvalidArgument, Message: "nothing was installed: " + err.Error()}
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	there := f.known[m.Name]
	if there != nil && there.Digest != "" && there.Source != grants.BuiltIn && there.Source != grants.Installed {
		return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("nothing was installed: family %s comes from %s, in place of one that is installed: replace or remove that file", m.Name, there.Source)}
	}
	names := naming.NewUsed(f.o.Core)
	for _, x := range f.known {
		if x.Digest != "" && !x.Clashes && (x.Name != m.Name || x.Source == grants.BuiltIn) {
			names.Add(x.Manifest)
			for _, t := range f.publishedBy(x) {
				names.AddTool(x.Name, t.Name)
			}
		}
	}
	if clash := names.Clash(m); clash != "" {
		return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("nothing was installed: family %s is refused: %s", m.Name, clash)}
	}
	return nil
}
