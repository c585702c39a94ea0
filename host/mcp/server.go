// Package mcp serves a memory space over the Model Context Protocol.
//
// It speaks the protocol's revisions from 2024-11-05 to 2025-11-25, which begin with initialize, and 2026-07-28,
// in which each request stands alone, side by side on every connection and on one HTTP endpoint.
package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/jsonrpc"
	"github.com/alcove-memory/alcove/host/memory"
)

const (
	defaultMessage = 16 << 20
	defaultInput   = 128 << 20
	requestIDMeta  = "alcove/request-id" // in _meta of tools/call: makes sending the call again harmless
	longestRequest = 128                 // characters of a request id
)

const instructions = "Alcove is memory that lasts between sessions. Before you answer, memory_search for what is already known; " +
	"memory_store what will matter later, under a key you can guess again. Nothing is lost: memory_history and as_of show the past, " +
	"and memory_branch lets you try changes and merge or drop them. " +
	"For more than that, say what you want to do to memory_load_family: it adds tools."

// Options are what a Server is made of. The zero Options work.
type Options struct {
	Version    string           // of the program, to tell clients
	Logger     *slog.Logger     // nil: discards
	Clock      func() time.Time // nil: time.Now
	ReadOnly   bool             // no client may write
	Writable   func() error     // tells why nothing can be written; nil: it always can
	MaxMessage int64            // bytes of one message; 0: 16 MiB
	MaxInput   int64            // bytes of large messages of all clients that are being read or served; 0: 128 MiB
	Families   Families         // nil: there are none
}

// Server serves one space to any number of clients. Its methods may be called from many goroutines at once.
type Server struct {
	space    *memory.Space
	options  Options
	tools    toolset
	shelf    shelf    // the tools of families
	audience audience // who is told when lists change
	input    *jsonrpc.Budget
	protocol *server.MCPServer

	httpOnce sync.Once
	http     *server.StreamableHTTPServer
	seats    *seats        // of the sessions over HTTP
	closed   chan struct{} // by Close
	closing  sync.Once
}

// New makes a server of a space, which stays the caller's to close.
func New(space *memory.Space, o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.MaxMessage == 0 {
		o.MaxMessage = defaultMessage
	}
	if o.MaxInput == 0 {
		o.MaxInput = defaultInput
	}
	s := &Server{space: space, options: o, shelf: shelf{families: o.Families}, closed: make(chan struct{})}
	s.input = jsonrpc.NewBudget(o.MaxInput, 0)
	s.audience.outline = s.outline
	s.seats = newSeats(s)
	hooks := &server.Hooks{}
	hooks.AddAfterListTools(s.list)
	hooks.AddBeforeCallTool(aim)
	hooks.AddBeforeSubscriptionsListen(s.listens)
	hooks.AddAfterSubscriptionsListen(acknowledged)
	s.protocol = server.NewMCPServer("alcove", o.Version,
		server.WithToolCapabilities(o.Families != nil),
		server.WithInstructions(instructions),
		server.WithRecovery(),
		server.WithHooks(hooks),
	)
	for _, t := range tools() {
		s.add(t)
	}
	s.protocol.AddTool(protocol.NewTool(familyTarget), s.callTarget)
	if o.Families != nil {
		go s.watch()
	}
	return s
}

func (s *Server) add(t tool) {
	advertised, err := t.advertised()
	if err != nil {
		panic(err) // schemas are constants of this package, and tested
	}
	s.tools = append(s.tools, t)
	s.protocol.AddTool(advertised, s.handler(t))
}

// list leaves in a list of tools those that the client is offered, in their order.
func (s *Server) list(ctx context.Context, _ any, _ *protocol.ListToolsRequest, result *protocol.ListToolsResult) {
	byName := map[string]protocol.Tool{}
	for _, t := range result.Tools {
		byName[t.Name] = t
	}
	result.Tools = s.offer(sessionOf(ctx), s.seat(ctx), byName)
}

func (s *Server) writable() error {
	if s.options.Writable == nil {
		return nil
	}
	return s.options.Writable()
}

func (s *Server) readOnly(session Session) bool { return s.options.ReadOnly || session.ReadOnly }

type seatKey struct{}

// seat is where the client of a request is: on its connection, in its HTTP session, or, when each request stands
// alone, nowhere that lasts.
func (s *Server) seat(ctx context.Context) *seat {
	session := sessionOf(ctx)
	if !server.IsModernRequest(ctx) {
		if at, ok := ctx.Value(seatKey{}).(*seat); ok {
			return at
		}
		if client := server.ClientSessionFromContext(ctx); client != nil {
			if at := s.seats.take(client.SessionID(), session); at != nil {
				return at
			}
		}
	}
	at := newSeat(session)
	at.stateless = true
	return at
}

// handler makes a core tool one that the protocol can call.
func (s *Server) handler(t tool) server.ToolHandlerFunc {
	return func(ctx context.Context, request protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		return s.finish(ctx, t.name, func() (answer, error) {
			c, err := s.newCall(ctx, t.name, request)
			if err != nil {
				return answer{}, err
			}
			return s.callCore(ctx, t, c)
		})
	}
}

func (s *Server) callCore(ctx context.Context, t tool, c *call) (answer, error) {
	if !t.offered(c.readOnly) {
		return answer{}, s.tools.denied(t.name + " would write")
	}
	a, err := t.run(ctx, c)
	if said := c.notices.take(); len(said) > 0 {
		a.note = strings.TrimSpace(a.note + " " + strings.Join(said, " "))
	}
	return a, err
}

// newCall reads what a request calls a tool with.
func (s *Server) newCall(ctx context.Context, name string, request protocol.CallToolRequest) (*call, error) {
	session := sessionOf(ctx)
	raw, ok := ctx.Value(argumentsKey{}).(json.RawMessage)
	if !ok {
		raw = request.Params.RawArguments
	}
	a, err := parseArguments(name, raw)
	if err != nil {
		return nil, err
	}
	requestID, err := requestIDOf(request.Params.Meta)
	if err != nil {
		return nil, err
	}
	return &call{
		server: s, space: s.space, tools: s.tools, arguments: a, now: s.options.Clock(), session: session, seat: s.seat(ctx),
		readOnly: s.readOnly(session), version: s.options.Version,
		agent: cmp.Or(agentName(session.Agent), agentName(clientName(ctx))), requestID: requestID, notices: &notices{},
	}, nil
}

// requestIDOf is the id by which a call that is sent again is recognised.
func requestIDOf(meta *protocol.Meta) (string, error) {
	given := meta.GetMetaField(requestIDMeta)
	if given == nil {
		return "", nil
	}
	id, ok := given.(string)
	if !ok || id == "" || len(id) > longestRequest {
		return "", invalid(nil, "_meta %s must be a text of 1 to %d bytes", requestIDMeta, longestRequest)
	}
	return id, nil
}

// clientName is what the client calls itself.
func clientName(ctx context.Context) string {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientInfo != nil {
		return info.ClientInfo.Name
	}
	if client, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		return client.GetClientInfo().Name
	}
	return ""
}

// Close ends what is kept for HTTP clients, and the streams that would otherwise last as long as the client. Calls that
// run may finish; connections are ended by their own contexts.
func (s *Server) Close(ctx context.Context) error {
	s.closing.Do(func() { close(s.closed) })
	s.httpOnce.Do(func() {})
	if s.http == nil {
		return nil
	}
	return s.http.Shutdown(ctx)
}

var _ http.Handler = (*server.StreamableHTTPServer)(nil)
