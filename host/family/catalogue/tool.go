package catalogue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/internal/schema"
	"github.com/alcove-memory/alcove/host/memory"
)

// Tool is a tool of one version of a family. It is found in Described or by Find, and called by Call, which decides nothing more about
// the caller and the arguments: who finds a tool for a caller does.
type Tool struct {
	abi.Tool
	Family    *Family
	committed string                         // the member of its results that is the version of the commit; empty: none
	output    func() (*schema.Schema, error) // of its results; nil: any
}

// NewTool returns a tool of a family.
func NewTool(x *Family, t abi.Tool) *Tool {
	tool := &Tool{Tool: t, Family: x, committed: committedMember(t.OutputSchema)}
	if len(t.OutputSchema) > 0 {
		tool.output = sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(t.OutputSchema) })
	}
	return tool
}

// Tools returns the tools of the manifest.
func (x *Family) Tools() []*Tool {
	x.listing.Do(func() {
		for _, t := range x.Manifest.Tools {
			x.listed = append(x.listed, NewTool(x, t))
		}
	})
	return x.listed
}

// OnlyReads reports whether a tool declares itself read-only.
func (t *Tool) OnlyReads() bool { return t.Annotations.ReadOnly != nil && *t.Annotations.ReadOnly }

// Find returns a tool by its exact name, for a caller: tools of families that it has no right to do not exist.
func (f *Catalogue) Find(c memory.Caller, name string) (*Tool, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	x := f.tools[name]
	if x == nil {
		return nil, f.unusableTool(c, name)
	}
	if !c.Rights.May(memory.ToUse(x.Name)) {
		return nil, f.unknownTool(c, name)
	}
	for _, t := range f.toolsOf(x) {
		if t.Name == name {
			return t, nil
		}
	}
	return nil, f.unknownTool(c, name)
}

// ToolsBeside returns the tools of other families that a caller with some rights can call, by name.
func (f *Catalogue) ToolsBeside(x *Family, rights memory.Rights) (list []*Tool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(f.tools)) {
		other := f.tools[name]
		if other == x || !rights.May(memory.ToUse(other.Name)) {
			continue
		}
		for _, t := range f.toolsOf(other) {
			if t.Name == name {
				list = append(list, t)
			}
		}
	}
	return list
}

// unusableTool returns why a caller cannot use a tool that no family serves. The caller holds mu.
func (f *Catalogue) unusableTool(c memory.Caller, name string) error {
	for _, broken := range f.known {
		declares := slices.ContainsFunc(broken.Manifest.Tools, func(t abi.Tool) bool { return t.Name == name })
		if declares && c.Rights.May(memory.ToUse(broken.Name)) {
			return broken.Usable()
		}
	}
	return f.unknownTool(c, name)
}

// CheckOutput refuses a result that violates the tool's output schema.
func (t *Tool) CheckOutput(output json.RawMessage) error {
	if t.output == nil {
		return nil
	}
	promised, err := t.output()
	if err != nil {
		return fmt.Errorf("the output schema: %w", err)
	}
	if depth := jsontext.Depth(output); depth > ops.LongestNesting {
		return fmt.Errorf("it is nested %d deep", depth)
	}
	return promised.Check(output)
}

// WithVersion sets the version of the commit in a result whose schema asks for it, unless the guest did.
func (t *Tool) WithVersion(output json.RawMessage, version uint64) json.RawMessage {
	end := bytes.LastIndexByte(output, '}')
	if t.committed == "" || version == 0 || end < 0 || output[0] != '{' {
		return output
	}
	comma := ""
	for name := range jsontext.Members(output) { // it fits the schema
		if string(name) == strconv.Quote(t.committed) {
			return output
		}
		comma = ","
	}
	return fmt.Appendf(slices.Clone(output[:end]), "%s%q:%d}", comma, t.committed, version)
}

// committedMember returns the member of a result that is the version of the commit; empty: none.
func committedMember(schema json.RawMessage) string {
	if !bytes.Contains(schema, []byte(abi.CommittedKeyword)) {
		return ""
	}
	var result struct {
		Properties map[string]struct {
			Committed bool `json:"x-committed"`
		} `json:"properties"`
	}
	if json.Unmarshal(schema, &result) != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(result.Properties)) {
		if result.Properties[name].Committed {
			return name
		}
	}
	return ""
}
