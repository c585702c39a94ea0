package mcp

import (
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/tool"
)

// cacheHints say how long answers stay true. Lists depend on the rights of the key, and change with the families, of which subscribers are
// told; what is read changes with each write.
func cacheHints() []server.ServerOption {
	hint := func(method protocol.MCPMethod, lasts time.Duration, scope protocol.CacheScope) server.ServerOption {
		return server.WithMethodCacheHints(method, lasts.Milliseconds(), scope)
	}
	return []server.ServerOption{
		hint(protocol.MethodToolsList, time.Minute, protocol.CacheScopePrivate),
		hint(protocol.MethodPromptsList, time.Minute, protocol.CacheScopePrivate),
		hint(protocol.MethodServerDiscover, time.Minute, protocol.CacheScopePrivate),
		hint(protocol.MethodResourcesTemplatesList, time.Minute, protocol.CacheScopePrivate),
		hint(protocol.MethodResourcesList, 0, protocol.CacheScopePrivate),
		hint(protocol.MethodResourcesRead, 0, protocol.CacheScopePrivate),
	}
}

const (
	sizeMeta   = "anthropic/maxResultSizeChars" // in _meta of a tool: how many characters of an answer to show
	coreMeta   = "anthropic/alwaysLoad"         // likewise: its schema is shown from the start, not when a search finds it
	markClient = "claude-code"                  // the client that reads them; to others they would be a burden of each list
)

// mark notes on tools how long their answers may be, and on those of the core that they are always shown, for the client that asks for it.
func (s *Server) mark(list []protocol.Tool, client string) {
	if client != markClient {
		return
	}
	core := map[string]bool{}
	for _, t := range s.registry.Core() {
		core[t.Spelling] = !t.Unlisted
	}
	for i := range list {
		longest := tool.MaxAnswer
		if name := list[i].Name; name == "memory_recall" || name == operationName {
			longest = maxText // of a whole value
		}
		if list[i].Meta == nil {
			list[i].Meta = protocol.NewMetaFromMap(map[string]any{})
		}
		list[i].Meta.AdditionalFields[sizeMeta] = longest
		if core[list[i].Name] {
			list[i].Meta.AdditionalFields[coreMeta] = true
		}
	}
}
