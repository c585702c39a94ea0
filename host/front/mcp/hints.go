package mcp

import (
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/tool"
)

// cacheHints say how long answers stay true. Lists depend on the rights of the key, and change with the families, of which subscribers are
// told; what is read changes with each write; templates never change.
func cacheHints() []server.ServerOption {
	hint := func(method protocol.MCPMethod, lasts time.Duration, scope protocol.CacheScope) server.ServerOption {
		return server.WithMethodCacheHints(method, lasts.Milliseconds(), scope)
	}
	return []server.ServerOption{
		hint(protocol.MethodToolsList, time.Minute, protocol.CacheScopePrivate),
		hint(protocol.MethodPromptsList, time.Minute, protocol.CacheScopePrivate),
		hint(protocol.MethodServerDiscover, time.Minute, protocol.CacheScopePrivate),
		hint(protocol.MethodResourcesTemplatesList, time.Hour, protocol.CacheScopePublic),
		hint(protocol.MethodResourcesList, 0, protocol.CacheScopePrivate),
		hint(protocol.MethodResourcesRead, 0, protocol.CacheScopePrivate),
	}
}

const (
	sizeMeta   = "anthropic/maxResultSizeChars" // in _meta of a tool: how many characters of an answer to show
	sizeClient = "claude-code"                  // the client that reads it; to others it would be a burden of each list
)

// sizes notes on tools how long their answers may be, for the client that asks for it.
func sizes(list []protocol.Tool, client string) {
	if client != sizeClient {
		return
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
	}
}
