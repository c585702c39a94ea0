package family

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/naming"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// published is the collection of tools that families made at run time: a record per tool, keyed by family and name.
var published = memory.Collection{Name: "_tools", PerSpace: true, Internal: true}

// mostPublished bounds the tools that a family may publish.
const mostPublished = 500

// Publish implements ops.Tools: it stages a tool, which the family's module must be able to serve. The tool exists once the
// request is committed.
func (r toolsOf) Publish(ctx context.Context, t abi.Tool) error {
	if r.families.Locked() {
		return &abi.Error{Code: abi.CodeDenied, Message: "the server is locked: no tool can be published"}
	}
	if err := r.mayPublish(t); err != nil {
		return err
	}
	if err := r.roomFor(ctx, t); err != nil {
		return err
	}
	value, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := r.Stage.PutRecord(ctx, published, ops.SystemNamespace, r.family.Name+"/"+t.Name, value, nil); err != nil {
		return err
	}
	r.publishes("publish " + t.Name)
	return nil
}

// publishes has the published tools read once after the commit, however many of them the request changes.
func (r *request) publishes(what string) {
	if !r.changed {
		r.changed = true
		r.After(what, r.families.readPublished)
	}
}

// roomFor refuses a tool beyond the limit, and one that resembles another that was published in the same request.
func (r toolsOf) roomFor(ctx context.Context, t abi.Tool) error {
	existing, _, err := r.Stage.ListRecords(ctx, published, ops.SystemNamespace, r.family.Name+"/", "", mostPublished)
	if err != nil {
		return err
	}
	own := len(r.family.Name) + len("/")
	for _, other := range existing {
		switch name := other.Key[own:]; {
		case name == t.Name: // it is replaced
			return nil
		case naming.Skeleton(name) == naming.Skeleton(t.Name):
			return &abi.Error{Code: abi.CodeConflict, Message: fmt.Sprintf("%s resembles %s, which this family has published: choose another name", t.Name, name)}
		}
	}
	if len(existing) >= mostPublished {
		return &abi.Error{Code: abi.CodeExhausted, Message: fmt.Sprintf("the family has published %d tools, which is the limit: withdraw some", len(existing))}
	}
	return nil
}

// Withdraw implements ops.Tools.
func (r toolsOf) Withdraw(ctx context.Context, tool string) error {
	n, err := r.Stage.DeleteRecords(ctx, published, ops.SystemNamespace, []string{r.family.Name + "/" + tool})
	if err != nil {
		return err
	}
	if n == 0 {
		return &abi.Error{Code: abi.CodeNotFound, Message: "the family has published no tool " + tool}
	}
	r.publishes("withdraw " + tool)
	return nil
}

// mayPublish refuses a tool that a manifest could not declare, or whose name is taken.
func (r *request) mayPublish(t abi.Tool) error {
	if len(t.Aliases) > 0 {
		return invalidf("%s has aliases, which only tools in a manifest can have: leave them out", t.Name)
	}
	manifest := abi.Manifest{ABI: abi.Version, Name: r.family.Name, Version: "1.0.0", Description: "It publishes a tool.", Tools: []abi.Tool{t}}
	data, err := json.Marshal(manifest)
	if err != nil {
		return err
	}
	if _, err := sandbox.ParseManifest(data); err != nil {
		return invalidf("the tool could not be in a manifest: %v", err)
	}
	names := r.families.catalogue.NamesBeside(r.family, t.Name)
	if other, clash := names.Like(t); clash && other.Family == "" {
		return invalidf("%s %s %s: choose another name", t.Name, naming.Likeness(t.Name, other.Name), other)
	} else if clash {
		return &abi.Error{Code: abi.CodeConflict, Message: fmt.Sprintf("%s %s %s: choose another name", t.Name, naming.Likeness(t.Name, other.Name), other)}
	}
	if clash := names.ClashOf(t); clash != "" {
		return invalidf("%s", clash)
	}
	return nil
}

// readPublished reads the published tools.
func (f *Families) readPublished(ctx context.Context) error {
	return f.catalogue.Publish(func() (map[string][]abi.Tool, error) {
		stage, err := f.o.Space.As(ops.OwnCaller("")).Stage(ctx, memory.Default)
		if err != nil {
			return nil, err
		}
		found := map[string][]abi.Tool{}
		for after, first := "", true; first || after != ""; first = false {
			page, next, err := stage.ListRecords(ctx, published, ops.SystemNamespace, "", after, 0)
			if err != nil {
				return nil, err
			}
			for _, r := range page {
				var t abi.Tool
				if err := json.Unmarshal(r.Value, &t); err != nil {
					return nil, fmt.Errorf("read the published tool %s: %w", r.Key, err)
				}
				family, _, _ := strings.Cut(r.Key, "/")
				found[family] = append(found[family], t)
			}
			after = next
		}
		return found, nil
	})
}
