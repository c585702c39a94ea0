// Package mcp serves a memory space over the Model Context Protocol.
//
// It supports the protocol revisions from 2024-11-05 to 2025-11-25, which begin with initialize, and the stateless
// 2026-07-28, side by side on every connection and on one HTTP endpoint.
package mcp

import (
	"context"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/internal/profile"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// Options configures a Server. All fields but Version are optional.
type Options struct {
	Version  string           // of the program, shown to clients
	Logger   *slog.Logger     // nil: discards
	Clock    func() time.Time // nil: time.Now
	ReadOnly bool             // no client may write
	Why      string           // what those are told who do; may be empty
	// Identify returns who presents an API key in _meta of a call; nil: no keys are known.
	Identify  func(key string) (Identity, error)
	Sessions  connection.Sessions // told of the sessions of clients; nil: nobody is
	Kept      Kept                // keeps HTTP sessions for the next server; nil: they end with this one
	Views     fs.FS               // the pages that clients with MCP Apps show beside answers, each as NAME.html; nil: there are none
	Limits    connection.Limits
	AskWithin time.Duration // for a person to answer a question; 0: 10 minutes
	LongCall  time.Duration // after which a call becomes a task of a client that knows tasks; 0: 5 seconds
	Space     *memory.Space // tells subscribers of changes, and completes names; nil: neither
}

// Server serves a dispatcher's tools to any number of clients. It is safe for concurrent use.
type Server struct {
	dispatcher    *tool.Dispatcher
	registry      *tool.Registry
	options       Options
	watchers      watchers    // clients to notify when their lists change
	subscribers   subscribers // clients to notify when resources change
	views         views
	seal          seal
	familyPrompts familyPrompts
	tasks         tasks
	protocol      *server.MCPServer

	httpOnce sync.Once
	http     *server.StreamableHTTPServer
	sessions *sessions       // over HTTP
	open     context.Context // ends at Close
	close    context.CancelFunc
}

// New returns a server of a dispatcher's tools.
func New(d *tool.Dispatcher, o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Kept == nil {
		o.Kept = keptNowhere{}
	}
	if o.Sessions == nil {
		o.Sessions = connection.Unfollowed{}
	}
	o.Limits = o.Limits.WithDefaults()
	s := &Server{dispatcher: d, registry: d.Registry(), options: o, views: newViews(o.Views), seal: newSeal(), tasks: tasks{known: map[string]*task{}}}
	s.open, s.close = context.WithCancel(context.Background())
	s.watchers.outline = s.outline
	s.subscribers = subscribers{server: s, news: make(chan struct{}, 1), known: map[string]*subscriber{}}
	s.sessions = newSessions(s)
	hooks := &server.Hooks{}
	hooks.AddAfterInitialize(s.instruct)
	hooks.AddAfterDiscover(s.instructModern)
	hooks.AddAfterListTools(s.list)
	hooks.AddAfterListResources(s.listResources)
	hooks.AddAfterListResourceTemplates(s.listTemplates)
	hooks.AddBeforeSubscriptionsListen(s.listens)
	hooks.AddAfterSubscriptionsListen(listened)
	s.protocol = server.NewMCPServer("alcove", o.Version, append(cacheHints(),
		server.WithToolCapabilities(s.registry.HasFamilies()),
		server.WithResourceCapabilities(true, false), // each write changes the list of resources: clients subscribe to what they use
		server.WithPromptCapabilities(false), server.WithPromptFilter(s.offered), server.WithCompletions(),
		server.WithPromptCompletionProvider(completer{s}), server.WithResourceCompletionProvider(completer{s}),
		server.WithLogging(),
		server.WithHooks(hooks),
	)...)
	s.protocol.AddResources(s.views.pages...)
	s.addPrompts()
	if s.registry.HasFamilies() {
		go s.watch()
	}
	return s
}

// list replaces a list of tools with the client's.
func (s *Server) list(ctx context.Context, _ any, _ *protocol.ListToolsRequest, result *protocol.ListToolsResult) {
	state, _ := s.state(ctx)
	result.Tools = s.offer(SessionOf(ctx), state, s.showsViews(ctx))
	s.mark(result.Tools, clientName(ctx))
}

// showsViews reports whether a request's client shows views: it said so when it began, or, if it is stateless, with the request.
func (s *Server) showsViews(ctx context.Context) bool {
	if len(s.views.pages) == 0 {
		return false
	}
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		return info.ClientCapabilities != nil && declaresViews(*info.ClientCapabilities)
	}
	client, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
	return ok && declaresViews(client.GetClientCapabilities())
}

// instructions returns what a session's model is told at the start.
func (s *Server) instructions(session Session) string {
	return audience{s.rights(session), session.listing(), session.Project, s.registry.HasFamilies(), session.Profile == profile.Full}.instructions()
}

// instruct puts the session's instructions into the answer to initialize, and what its client can use.
func (s *Server) instruct(ctx context.Context, _ any, request *protocol.InitializeRequest, result *protocol.InitializeResult) {
	session := SessionOf(ctx).of(request.Params.ClientInfo.Name)
	result.Instructions = s.instructions(session)
	if state, _ := s.state(ctx); !state.Stateless() {
		s.watchers.list(state, session)
	}
	if len(s.views.pages) > 0 && declaresViews(request.Params.Capabilities) {
		result.Capabilities.Extensions = viewSettings()
	}
}

// instructModern does so for server/discover.
func (s *Server) instructModern(ctx context.Context, _ any, _ *protocol.DiscoverRequest, result *protocol.DiscoverResult) {
	result.Instructions = s.instructions(SessionOf(ctx).of(clientName(ctx)))
	result.Capabilities.Extensions = map[string]any{tasksExtension: map[string]any{}}
	if s.showsViews(ctx) {
		maps.Copy(result.Capabilities.Extensions, viewSettings())
	}
}

// has finds the tool of a client's call, and reports whether there is one. Calls of clients with a key go on to the dispatcher, which
// answers alike whether a tool does not exist or is not theirs. It finds the tool, too, for calls that present a key.
func (s *Server) has(m *message, session Session) bool {
	if session.Key != "" {
		return true
	}
	found, ok := s.registry.FindFor(s.rights(session), m.tool)
	if absent(m.key) {
		m.found = found
	}
	return ok
}

// unknown returns the message for a client that calls a nonexistent tool.
func (s *Server) unknown(name string, session Session) string {
	return s.registry.Unknown(name, s.rights(session))
}

// rights returns a client's rights, without writing if the server is read-only.
func (s *Server) rights(session Session) memory.Rights {
	if s.options.ReadOnly {
		return session.Rights.ReadOnlyBecause(s.options.Why)
	}
	return session.Rights
}

func (s *Server) readOnly(session Session) bool { return s.rights(session).WritesNothing() }

// state returns the state between calls of a request's client: of its connection or HTTP session, or, for a stateless
// request, a new one. bridged reports whether its client is a bridge, which is told when it changes.
func (s *Server) state(ctx context.Context) (state *tool.Session, bridged bool) {
	session := SessionOf(ctx)
	if client := server.ClientSessionFromContext(ctx); client != nil && !server.IsModernRequest(ctx) {
		client = innerOf(client)
		if connected, ok := client.(*remote); ok {
			return connected.state, connected.bridge.Load()
		}
		if open := s.sessions.get(client.SessionID()); open != nil {
			return open.state, open.client.Bridge
		}
	}
	return session.of(clientName(ctx)).begin(oneCall), false
}

// Close ends the tasks of clients, and the sessions and open streams of HTTP clients. Running calls may finish. Connections end by their own
// contexts.
func (s *Server) Close(ctx context.Context) error {
	s.close()
	s.tasks.wait(ctx)
	s.httpOnce.Do(func() {})
	if s.http == nil {
		return nil
	}
	return s.http.Shutdown(ctx)
}

var _ http.Handler = (*server.StreamableHTTPServer)(nil)
