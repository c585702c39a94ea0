package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/internal/trace"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

const (
	requestIDMeta = "alcove/request-id" // in _meta of tools/call: makes a retry harmless
	keyMeta       = "alcove/key"        // and the API key of the one who calls, if not the connection's
	versionMeta   = "alcove/version"    // in _meta of a family's answer: of the call's commit
	proposalMeta  = "alcove/proposal"   // and the branch with its proposal
	notesMeta     = "alcove/notes"      // remarks for the caller, unless the answer has a member for them
	bridgeMeta    = "alcove/bridge"     // in _meta of initialize: the client is a bridge, which resumes the session with the next server
	sessionMeta   = "alcove/session"    // in _meta of an answer to a bridge: the session's state, after a call that changed it

	longestRequest = 128                // characters of a request id
	maxText        = 4 * tool.MaxAnswer // bytes of an answer shown to models; the rest is clipped
)

// toolCall is a tools/call message being served.
type toolCall struct {
	server      *Server
	message     *message
	tell        func(protocol.JSONRPCNotification) // ahead of the answer
	listChanged func()                             // notifies the client
	moved       *tool.SessionState                 // where the session is, for a bridge; nil: where it was
	answered    protocol.MultiRoundTripParams      // to what an earlier answer asked
	failure     *protocol.JSONRPCError             // in place of a result; nil: the call has one
	replaced    *map[string]any                    // the task that goes on, in place of a result; nil: none does
	made        callOutcome                        // what it came to
	lasting     bool                               // it goes on after its request was answered
}

// callSession is the session of a client during one call, with the called tool in the caller's spelling: the protocol library finds tools by
// exact name only, and asks nobody for those it does not know.
type callSession struct {
	askable
	tools map[string]server.ServerTool
}

func (s *callSession) GetSessionTools() map[string]server.ServerTool  { return s.tools }
func (s *callSession) SetSessionTools(_ map[string]server.ServerTool) {}

// within returns a context in which the protocol library finds the called tool.
func (c *toolCall) within(ctx context.Context) context.Context {
	client, ok := server.ClientSessionFromContext(ctx).(librarySession)
	if !ok {
		return ctx // the library refuses the call
	}
	called := server.ServerTool{Tool: protocol.NewTool(c.message.tool), Handler: func(ctx context.Context, r protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		c.answered = r.Params.MultiRoundTripParams
		return c.orTask(ctx), nil
	}}
	return c.server.protocol.WithContext(ctx, &callSession{askable{client}, map[string]server.ServerTool{c.message.tool: called}})
}

func (c *toolCall) result(ctx context.Context) *protocol.CallToolResult {
	result := c.answer(ctx)
	if c.moved != nil {
		members := map[string]any{}
		if result.Meta != nil {
			members = result.Meta.AdditionalFields
		}
		members[sessionMeta] = c.moved
		result.Meta = protocol.NewMetaFromMap(members)
	}
	return result
}

// orFailure returns the answer to a call's message.
func (c *toolCall) orFailure(answer protocol.JSONRPCMessage) protocol.JSONRPCMessage {
	if instead := c.replacement(); instead != nil {
		return instead
	}
	return answer
}

// replacement returns what answers the call's message in place of its result; nil: nothing does.
func (c *toolCall) replacement() protocol.JSONRPCMessage {
	switch {
	case c.failure != nil:
		return *c.failure
	case c.replaced != nil:
		return protocol.NewJSONRPCResultResponse(protocol.NewRequestId(c.message.id), *c.replaced)
	}
	return nil
}

func (c *toolCall) answer(ctx context.Context) *protocol.CallToolResult {
	ctx, begun := trace.With(ctx, c.message.trace), c.server.options.Clock()
	made := c.run(ctx)
	c.made = made
	c.log(ctx, begun, made)
	if made.input != nil {
		return made.input
	}
	if failure, is := missingCapability(c.message.id, made.err); is && server.IsModernRequest(ctx) {
		c.failure = &failure
	} else if is {
		made.err = &memory.Error{Code: memory.Unavailable, Message: made.err.Error()}
	}
	if errors.Is(made.err, errState) {
		failure := errorMessage(c.message.id, protocol.INVALID_PARAMS, made.err.Error())
		c.failure = &failure
	}
	if made.err != nil {
		return failed(tool.FailureOf(made.err))
	}
	result, err := resultOf(made.answer)
	if err != nil {
		c.server.options.Logger.ErrorContext(ctx, "tool failed", "tool", c.message.tool, "error", err)
		return failed(tool.FailureOf(err))
	}
	return result
}

// dispatch calls the tool with arguments.
func (c *toolCall) dispatch(ctx context.Context, arguments json.RawMessage) (tool.Answer, error) {
	requestID, err := requestIDOf(c.message.retry)
	if err != nil {
		return tool.Answer{}, err
	}
	connection := SessionOf(ctx)
	session, err := c.server.caller(connection, c.message.key)
	if err != nil {
		return tool.Answer{}, err
	}
	if longest := c.server.options.Limits.Longest(session.Key); int64(len(c.message.read.Line)) > longest {
		return tool.Answer{}, &memory.Error{Code: memory.Exhausted, Details: map[string]any{"limit": "body_bytes", "body_bytes": longest},
			Message: fmt.Sprintf("the message has %d bytes: with the key in _meta at most %d are allowed; nothing was done, send less at once", len(c.message.read.Line), longest)}
	}
	state, bridged := c.server.state(ctx)
	client, err := c.exchange(session).client(ctx)
	if err != nil {
		return tool.Answer{}, err
	}
	client.Log = c.logLine(ctx)
	progress := c.server.progress(c.message.progress, c.tell)
	defer progress.end()
	loads, changes := state.Loads(), state.Changes()
	who := c.server.who(ctx, session)
	branch, namespace := state.At()
	home, usual := "", namespace
	if namespace == memory.Default && !session.Rights.MayRead(namespace) {
		home, usual = session.Home, cmp.Or(session.Home, namespace)
	}
	c.server.options.Sessions.Called(who, memory.Location{Branch: branch, Namespace: usual})
	a, err := c.server.dispatcher.Dispatch(ctx, tool.Request{
		Tool: c.message.tool, Found: c.message.found, Arguments: arguments, Caller: who, Session: state, Home: home,
		RequestID: requestID, Progress: progress.function(), Client: client, Admission: c.admission(connection, session),
	})
	if err == nil && a.Family != "" && !state.Stateless() { // the client's next list has its tools
		state.Load(a.Family)
	}
	if client := server.ClientSessionFromContext(ctx); client != nil && !server.IsModernRequest(ctx) {
		c.server.sessions.keep(client.SessionID()) // before the answer: a kill after it loses nothing
	}
	if bridged && state.Changes() != changes {
		at := state.State()
		c.moved = &at
	}
	if state.Loads() != loads && c.server.watchers.changed(state) {
		c.listChanged()
	}
	return a, err
}

// exchange returns the call as its tool may continue it after it asked.
func (c *toolCall) exchange(session Session) exchange {
	return exchange{server: c.server, purpose: "tool " + c.toolName() + " " + session.Key + " " + string(c.message.arguments), answered: c.answered}
}

// caller returns the session of a call: the connection's, or of the holder of the key that the call presents.
func (s *Server) caller(session Session, given json.RawMessage) (Session, error) {
	if absent(given) {
		return session, nil
	}
	if given[0] != '"' {
		return session, tool.Invalid(nil, "_meta %s must be a text: an API key", keyMeta)
	}
	if s.options.Identify == nil {
		return session, &memory.Error{Code: memory.Denied, Message: "this server knows no API keys: leave out _meta " + keyMeta}
	}
	holder, err := s.options.Identify(jsonrpc.Text(given))
	if err != nil {
		return session, err
	}
	return session.As(holder), nil
}

// admission returns how the call counts: one that goes on alone is admitted anew, so that it ends with its key, and counts while it lasts.
func (c *toolCall) admission(connection, caller Session) tool.Admission {
	if c.lasting {
		return tool.ToAdmit
	}
	return admission(connection, caller)
}

// admission returns how a call counts that was admitted by its connection's key, and may present another.
func admission(connection, caller Session) tool.Admission {
	if connection.Key == caller.Key {
		return tool.Admitted
	}
	return tool.ToAdmit
}

// who returns the caller of a request.
func (s *Server) who(ctx context.Context, session Session) memory.Caller {
	client := clientName(ctx)
	who := memory.Caller{Agent: cmp.Or(AgentName(session.Agent), AgentName(client)), Key: session.Key, Principal: session.Principal, Client: AgentName(client), Rights: s.rights(session)}
	if known := server.ClientSessionFromContext(ctx); known != nil && !server.IsModernRequest(ctx) {
		who.Session = known.SessionID()
	}
	return who
}

// clientName returns the client's name for itself.
func clientName(ctx context.Context) string {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientInfo != nil {
		return info.ClientInfo.Name
	}
	if client, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		return client.GetClientInfo().Name
	}
	return ""
}

// requestIDOf returns the id that identifies retries of a call.
func requestIDOf(given json.RawMessage) (string, error) {
	if absent(given) {
		return "", nil
	}
	id := jsonrpc.Text(given)
	if id == "" || len(id) > longestRequest {
		return "", tool.Invalid(nil, "_meta %s must be a text of 1 to %d bytes", requestIDMeta, longestRequest)
	}
	return id, nil
}

// absent reports whether a member was not given, or is null.
func absent(given json.RawMessage) bool { return given == nil || string(given) == "null" }

// resultOf converts an answer to the protocol's form.
func resultOf(a tool.Answer) (*protocol.CallToolResult, error) {
	structured, err := tool.Encode(a.Structured)
	if err != nil {
		return nil, fmt.Errorf("encode the structured result: %w", err)
	}
	plain, err := tool.Encode(a.Plain)
	if err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	text, cut, err := clipJSON(plain)
	if err != nil {
		return nil, fmt.Errorf("encode the beginning of the result: %w", err)
	}
	content := []protocol.Content{protocol.NewTextContent(text)}
	if a.Content != nil {
		cut = ""
		if content, err = contentOf(a.Content); err != nil {
			return nil, err
		}
	}
	for _, note := range []string{cut, a.Note()} {
		if note != "" {
			content = append(content, protocol.NewTextContent(note))
		}
	}
	result := &protocol.CallToolResult{Content: content, StructuredContent: tool.Encoded(structured), IsError: a.Failed, Result: protocol.Result{Meta: metaOf(a)}}
	if a.Content != nil && onlyContent(structured) { // it would be there twice
		result.StructuredContent = nil
	}
	return result, nil
}

// metaOf returns an answer's metadata for programs.
func metaOf(a tool.Answer) *protocol.Meta {
	members := map[string]any{}
	if a.Version != 0 {
		members[versionMeta] = a.Version
	}
	if a.Proposal != "" {
		members[proposalMeta] = a.Proposal
	}
	if len(a.Notes) > 0 && !a.HasNotes {
		members[notesMeta] = a.Notes
	}
	if len(members) == 0 {
		return nil
	}
	return protocol.NewMetaFromMap(members)
}

// clipJSON returns an answer as shown to models, with a note if it is clipped. A clipped answer is a text in an object, because a part of a JSON
// value looks like another value.
func clipJSON(plain []byte) (text, note string, err error) {
	if len(plain) <= maxText {
		return string(plain), "", nil
	}
	runes := []rune(string(plain[:maxText]))
	clipped, err := tool.Encode(struct {
		Truncated bool   `json:"truncated"`
		Bytes     int    `json:"bytes"` // of the whole answer
		Beginning string `json:"beginning"`
	}{true, len(plain), string(runes[:min(len(runes), tool.MaxAnswer)])})
	return string(clipped), fmt.Sprintf("The answer is %d bytes long. Its first %d characters are shown: ask for less at once. Programs find all of it in structuredContent.", len(plain), tool.MaxAnswer), err
}

// failed converts an error to the protocol's form.
func failed(f tool.Failure) *protocol.CallToolResult {
	text, err := tool.Encode(f)
	if err != nil { // details that are not JSON
		f.Details = nil
		text, _ = tool.Encode(f)
	}
	return &protocol.CallToolResult{Content: []protocol.Content{protocol.NewTextContent(string(text))}, IsError: true}
}

// wire returns a tool as shown in lists.
func wire(t *tool.Tool) protocol.Tool {
	a := t.Annotations
	return protocol.Tool{
		Name: t.Spelling, Title: t.Title, Description: t.Description, RawInputSchema: t.Advertised,
		Annotations: protocol.ToolAnnotation{ReadOnlyHint: &a.ReadOnly, DestructiveHint: &a.Destructive, IdempotentHint: &a.Idempotent, OpenWorldHint: &a.OpenWorld},
	}
}
