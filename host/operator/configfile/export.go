package configfile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/alcove-memory/alcove/host/operator"
)

// Of describes a server as a file does: applied to that server, the file changes nothing. It has no secrets: endpoints and embedders name
// the variables and files that have theirs.
func Of(ctx context.Context, s operator.Server) (*File, error) {
	f := &File{Version: 1}
	for _, part := range []func(context.Context, operator.Server) error{
		f.outside, f.exportFamilies, f.exportEmbedders, f.exportSettings, f.exportRetention, f.exportKeys,
	} {
		if err := part(ctx, s); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *File) outside(ctx context.Context, s operator.Server) error {
	servers, err := operator.Query(ctx, s, operator.ListEndpoints)
	if err != nil {
		return fmt.Errorf("list the endpoints: %w", err)
	}
	directories, err := operator.Query(ctx, s, operator.ListRoots)
	if err != nil {
		return fmt.Errorf("list the roots: %w", err)
	}
	quotas, err := quotasOf(ctx, s)
	f.Endpoints, f.Roots, f.Quotas = &Endpoints{Servers: servers}, &Roots{Directories: directories}, &Quotas{Namespaces: quotas}
	return err
}

func (f *File) exportEmbedders(ctx context.Context, s operator.Server) error {
	states, err := operator.Query(ctx, s, operator.ListEmbedders)
	if err != nil {
		return fmt.Errorf("list the embedders: %w", err)
	}
	f.Embedders = &Embedders{Default: "none", Models: map[string]operator.EmbedderConfig{}}
	for _, e := range states {
		if e.Standard {
			f.Embedders.Default = e.Name
		}
		if e.Kind != "builtin" {
			e.Scale = operator.EmbedderConfig{}.Scale // measured
			f.Embedders.Models[e.Name] = e.Config
		}
	}
	return nil
}

// exportSettings has the settings of the system and of each family: no act lists the other scopes.
func (f *File) exportSettings(ctx context.Context, s operator.Server) error {
	f.Settings = &Settings{Scopes: map[string]map[string]json.RawMessage{}}
	families, err := operator.Query(ctx, s, operator.ListFamilyStates)
	if err != nil {
		return fmt.Errorf("list the families: %w", err)
	}
	scopes := []operator.SettingScope{{Kind: "system"}}
	for _, family := range families {
		if family.Manifest != nil {
			scopes = append(scopes, operator.SettingScope{Kind: "family", Name: family.Manifest.Name})
		}
	}
	for _, scope := range scopes {
		set, err := settingsIn(ctx, s, scope)
		if err != nil {
			return err
		}
		if len(set) > 0 {
			f.Settings.Scopes[scope.String()] = set
		}
	}
	return nil
}

func (f *File) exportRetention(ctx context.Context, s operator.Server) error {
	have, err := operator.Query(ctx, s, operator.GetRetention)
	if err != nil {
		return fmt.Errorf("get the retention: %w", err)
	}
	keep := age(have.Keep)
	f.Retention = &Retention{Keep: &keep, Versions: &have.Versions, Branches: map[string]string{}, Namespaces: map[string]NamespaceKept{}}
	for name, seconds := range have.Branches {
		f.Retention.Branches[name] = age(seconds)
	}
	for name, n := range have.Namespaces {
		f.Retention.Namespaces[name] = NamespaceKept{Keep: keptAge(n), Versions: n.Versions}
	}
	return nil
}

func (f *File) exportKeys(ctx context.Context, s operator.Server) error {
	list, err := operator.Query(ctx, s, operator.ListKeys)
	if err != nil {
		return fmt.Errorf("list the keys: %w", err)
	}
	f.Keys = &Keys{Limits: &list.Limits, Agents: map[string]Key{}}
	for agent, live := range liveKeys(list.Keys) {
		newest := live[len(live)-1]
		f.Keys.Agents[agent] = Key{Namespaces: newest.Namespaces, Rights: newest.Rights, Limits: newest.Limits, Expires: policyOf(newest, "").Expires}
	}
	return nil
}

// YAML is the file as Read reads it.
func (f *File) YAML() ([]byte, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("describe the server: %w", err)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil { // JSON is YAML
		return nil, fmt.Errorf("describe the server: %w", err)
	}
	plainStyle(&root)
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(&root); err != nil {
		return nil, fmt.Errorf("write the file: %w", err)
	}
	return out.Bytes(), e.Close()
}

// plainStyle writes each member in its line, and characters that Read would take for a reference so that it does not.
func plainStyle(n *yaml.Node) {
	n.Style = 0
	if n.Kind == yaml.SequenceNode {
		n.Style = yaml.FlowStyle
	}
	for i, c := range n.Content {
		plainStyle(c)
		if isValue := n.Kind != yaml.MappingNode || i%2 == 1; isValue && c.Kind == yaml.ScalarNode {
			c.Value = strings.ReplaceAll(c.Value, "${", "$${")
		}
	}
}

// Named is what the file sets of the flags of alcove serve, by the flags' names.
func (f *File) Named() map[string]Value {
	named := map[string]Value{}
	for name, v := range f.Server {
		named[strings.ReplaceAll(name, "_", "-")] = v
	}
	return named
}
