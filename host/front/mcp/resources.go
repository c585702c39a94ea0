package mcp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// resources are what clients read by URI, in addition to fixed ones that the protocol library has been given. Each method has the rights of the session in the context.
type resources interface {
	owns(ctx context.Context, uri string) bool
	templates(ctx context.Context) []protocol.ResourceTemplate
	// list returns a page after a cursor, which is empty at first, and the cursor of the next page, which is empty after the last.
	list(ctx context.Context, after string) (page []protocol.Resource, next string, err error)
	// read returns a resource; nil: there is none that the client may read.
	read(ctx context.Context, uri string) ([]protocol.ResourceContents, error)
}

// sources returns all resources that a client may be offered. Lists have them in this order.
func (s *Server) sources(ctx context.Context) []resources {
	offered := offers{s}
	if len(offered.all(s.rights(SessionOf(ctx)))) == 0 {
		return []resources{memories{s}}
	}
	return []resources{memories{s}, offered}
}

// source returns the resources to which a URI belongs, or nil.
func (s *Server) source(ctx context.Context, uri string) resources {
	for _, r := range s.sources(ctx) {
		if r.owns(ctx, uri) {
			return r
		}
	}
	return nil
}

// readCall is a message about resources or prompts being served, and the session of its client meanwhile. The protocol library finds resources by
// the exact URIs that it knows, and its errors have neither the code nor the data of the protocol.
type readCall struct {
	askable
	server  *Server
	message *message
	context context.Context        // the library's, as far as it came
	failure *protocol.JSONRPCError // in place of the library's answer; nil: that
}

// readCall returns how a message about resources or prompts is served; nil: it is about something else.
func (s *Server) readCall(m *message) *readCall {
	switch m.method {
	case methodPrompt, methodPrompts:
		s.offerPrompts()
		fallthrough
	case methodResources, methodTemplates, methodRead, methodSubscribe, methodUnsubscribe:
		return &readCall{server: s, message: m}
	}
	return nil
}

// within returns a context in which the protocol library asks the call.
func (c *readCall) within(ctx context.Context) context.Context {
	client, ok := server.ClientSessionFromContext(ctx).(librarySession)
	if !ok {
		return ctx // the library refuses the message
	}
	c.askable, c.context = askable{client}, ctx
	return c.server.protocol.WithContext(ctx, c)
}

// answer returns the answer to a message: the library's, unless the call failed.
func (c *readCall) answer(library protocol.JSONRPCMessage) protocol.JSONRPCMessage {
	if c.failure != nil {
		return *c.failure
	}
	return library
}

// replacement returns what answers the message in place of the library's answer; nil: nothing does.
func (c *readCall) replacement() protocol.JSONRPCMessage {
	if c.failure == nil {
		return nil
	}
	return *c.failure
}

// fail has the message answered with an error.
func (c *readCall) fail(code int, text string, data any) {
	c.failure = &protocol.JSONRPCError{
		JSONRPC: protocol.JSONRPC_VERSION, ID: protocol.NewRequestId(c.message.id), Error: protocol.NewJSONRPCErrorDetails(code, text, data),
	}
}

// failed has the message answered with the error of what it asks for.
func (c *readCall) failed(err error) {
	f := tool.FailureOf(err)
	code := jsonrpc.CodeServer
	switch f.Code {
	case memory.InvalidArgument:
		code = jsonrpc.CodeInvalidParams
	case memory.Internal:
		code = protocol.INTERNAL_ERROR
		c.server.options.Logger.ErrorContext(c.context, "a resource could not be read", "error", err)
	}
	c.fail(code, f.Message, map[string]any{"code": f.Code, "retryable": f.Retryable})
}

// missing has the message answered alike whether a resource does not exist or is not the client's.
func (c *readCall) missing(uri string) {
	code := protocol.RESOURCE_NOT_FOUND
	if c.modern() {
		code = jsonrpc.CodeInvalidParams
	}
	c.fail(code, fmt.Sprintf("there is no resource %s: resources/list shows which there are", tool.Clip(uri, 200)), map[string]any{"uri": tool.Clip(uri, longestURI)})
}

func (c *readCall) modern() bool {
	return c.context != nil && protocol.IsModernProtocol(server.RequestProtocolVersion(c.context))
}

// GetSessionResources gives the library the resource that the message reads.
func (c *readCall) GetSessionResources() map[string]server.ServerResource {
	uri := c.message.uri
	if _, known := c.server.protocol.ListResources()[uri]; known || c.message.method != methodRead {
		return nil
	}
	return map[string]server.ServerResource{uri: {Handler: func(ctx context.Context, _ protocol.ReadResourceRequest) ([]protocol.ResourceContents, error) {
		c.context = ctx
		return c.read(uri), nil
	}}}
}

func (c *readCall) SetSessionResources(map[string]server.ServerResource) {}

func (c *readCall) read(uri string) []protocol.ResourceContents {
	of := c.server.source(c.context, uri)
	if of == nil {
		c.missing(uri)
		return nil
	}
	read, err := of.read(c.context, uri)
	if err != nil || len(read) == 0 {
		c.refuse(uri, err)
		return nil
	}
	return read
}

// refuse has the message answered with why a resource cannot be had; nil: it does not exist.
func (c *readCall) refuse(uri string, err error) {
	code := tool.FailureOf(err).Code
	switch {
	case err == nil, code == memory.Denied, code == memory.NotFound:
		c.missing(uri)
	case errors.As(err, new(*uriError)):
		c.fail(jsonrpc.CodeInvalidParams, err.Error(), map[string]any{"uri": tool.Clip(uri, longestURI)})
	default:
		c.failed(err)
	}
}

// listResources fills a page of resources.
func (s *Server) listResources(ctx context.Context, _ any, request *protocol.ListResourcesRequest, result *protocol.ListResourcesResult) {
	c, ok := server.ClientSessionFromContext(ctx).(*readCall)
	if !ok {
		return
	}
	c.context = ctx
	at, after, err := parseCursor(string(request.Params.Cursor), len(s.sources(ctx)))
	if err != nil {
		c.fail(jsonrpc.CodeInvalidParams, err.Error(), nil)
		return
	}
	page, next, err := s.sources(ctx)[at].list(c.context, after)
	if err != nil {
		c.failed(err)
		return
	}
	if request.Params.Cursor != "" || !s.showsViews(ctx) {
		result.Resources = []protocol.Resource{} // the library's own are views, on the first page
	}
	result.Resources = append(result.Resources, page...)
	switch {
	case next != "":
		result.NextCursor = cursor(at, next)
	case at+1 < len(s.sources(ctx)):
		result.NextCursor = cursor(at+1, "")
	}
}

// listTemplates fills the list of templates, which is one page.
func (s *Server) listTemplates(ctx context.Context, _ any, request *protocol.ListResourceTemplatesRequest, result *protocol.ListResourceTemplatesResult) {
	if c, ok := server.ClientSessionFromContext(ctx).(*readCall); ok && request.Params.Cursor != "" {
		c.fail(jsonrpc.CodeInvalidParams, errCursor.Error(), nil)
		return
	}
	for _, r := range s.sources(ctx) {
		result.ResourceTemplates = append(result.ResourceTemplates, r.templates(ctx)...)
	}
}

var errCursor = errors.New("the cursor belongs to no page: repeat the nextCursor of an answer, or leave it out")

// cursor returns the cursor of the page of a source. The library requires base64.
func cursor(source int, after string) protocol.Cursor {
	return protocol.Cursor(base64.StdEncoding.EncodeToString([]byte(strconv.Itoa(source) + ":" + after)))
}

func parseCursor(given string, sources int) (source int, after string, err error) {
	if given == "" {
		return 0, "", nil
	}
	text, err := base64.StdEncoding.DecodeString(given)
	if err != nil {
		return 0, "", errCursor
	}
	number, after, ok := strings.Cut(string(text), ":")
	source, err = strconv.Atoi(number)
	if err != nil || !ok || source < 0 || source >= sources {
		return 0, "", errCursor
	}
	return source, after, nil
}
