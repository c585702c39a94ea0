package mcp

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/tool"
)

// Names of the extension MCP Apps (SEP-1865, revision 2026-01-26), in which a client shows a page of the server beside a tool's answer.
const (
	viewExtension = "io.modelcontextprotocol/ui"
	viewMIME      = "text/html;profile=mcp-app"
	viewMeta      = "ui"             // in _meta of a tool and of a page
	viewMetaFlat  = "ui/resourceUri" // likewise for clients of the extension's drafts
	viewScheme    = "ui://alcove/"
)

// view is a page that shows the answers of tools.
type view struct {
	name, title, description string
	tools                    []string
}

func (v view) uri() string  { return viewScheme + v.name }
func (v view) file() string { return v.name + ".html" }

// knownViews lists the views.
func knownViews() []view {
	return []view{
		{"results", "Memories", "Memories that were found, each of which opens.", []string{"memory_search"}},
		{"history", "History", "The versions of a memory, each as what it changed.", []string{"memory_history"}},
		{"branch", "Branch", "What a branch or a proposal would change, to merge or to approve.", []string{"memory_branch", "memory_pending_list"}},
		{"graph", "Graph", "Memories and entities with their links.", []string{"memory_export_graph", "memory_graph_query", "memory_get_links"}},
	}
}

// views are the pages that a server has.
type views struct {
	byTool map[string]view
	pages  []server.ServerResource
}

// newViews returns the views whose pages are in a folder; nil: there are none.
func newViews(from fs.FS) views {
	v := views{byTool: map[string]view{}}
	if from == nil {
		return v
	}
	for _, known := range knownViews() {
		if _, err := fs.Stat(from, known.file()); err != nil {
			continue // the tools answer with text all the same
		}
		v.pages = append(v.pages, known.resource(from))
		for _, name := range known.tools {
			v.byTool[name] = known
		}
	}
	return v
}

// resource returns a view as the protocol library serves it. Its page asks no host for anything.
func (v view) resource(from fs.FS) server.ServerResource {
	meta := map[string]any{viewMeta: map[string]any{
		"csp":           map[string]any{"connectDomains": []string{}, "resourceDomains": []string{}, "frameDomains": []string{}, "baseUriDomains": []string{}},
		"prefersBorder": true,
	}}
	read := func(context.Context, protocol.ReadResourceRequest) ([]protocol.ResourceContents, error) {
		page, err := fs.ReadFile(from, v.file())
		if err != nil {
			return nil, fmt.Errorf("read the view %s: %w", v.name, err)
		}
		return []protocol.ResourceContents{protocol.TextResourceContents{URI: v.uri(), MIMEType: viewMIME, Text: string(page), Meta: meta}}, nil
	}
	return server.ServerResource{Handler: read, Resource: protocol.Resource{
		URI: v.uri(), Name: v.name, Title: v.title, Description: v.description, MIMEType: viewMIME, Meta: protocol.NewMetaFromMap(meta)}}
}

// mark tells the client which view shows a tool's answers.
func (v views) mark(w *protocol.Tool, t *tool.Tool) {
	shown, ok := v.byTool[t.Name]
	if !ok {
		return
	}
	members := map[string]any{viewMeta: map[string]any{"resourceUri": shown.uri()}, viewMetaFlat: shown.uri()}
	if w.Meta != nil {
		for name, value := range w.Meta.AdditionalFields {
			members[name] = value
		}
	}
	w.Meta = protocol.NewMetaFromMap(members)
}

// declaresViews reports whether a client declared that it shows pages of this kind.
func declaresViews(c protocol.ClientCapabilities) bool {
	settings, _ := c.Extensions[viewExtension].(map[string]any)
	kinds, _ := settings["mimeTypes"].([]any)
	return slices.Contains(kinds, any(viewMIME))
}

// viewSettings are what client and server say of views in their capabilities.
func viewSettings() map[string]any {
	return map[string]any{viewExtension: map[string]any{"mimeTypes": []string{viewMIME}}}
}
