package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

const (
	memoryMeta = "alcove/memory" // in _meta of a resource: what is known of the memory beside its value

	pageSize    = 50      // memories of a page of resources
	maxResource = 2 << 20 // bytes of the text of a resource
)

// memories are the resources of the scheme alcove.
type memories struct{ server *Server }

func (memories) owns(_ context.Context, uri string) bool { return strings.HasPrefix(uri, scheme) }

func (memories) templates(context.Context) []protocol.ResourceTemplate {
	return []protocol.ResourceTemplate{
		protocol.NewResourceTemplate("alcove://memory/{namespace}/{key}{?branch}", "memory",
			protocol.WithTemplateTitle("Memory"), protocol.WithTemplateDescription("The value under a key.")),
		protocol.NewResourceTemplate("alcove://memory/{namespace}/{key}/history{?branch}", "history",
			protocol.WithTemplateTitle("History"), protocol.WithTemplateDescription("The versions of a memory, the newest first."), protocol.WithTemplateMIMEType(jsonType)),
		protocol.NewResourceTemplate("alcove://branch/{name}", "branch",
			protocol.WithTemplateTitle("Branch"), protocol.WithTemplateDescription("A branch, and where it comes from."), protocol.WithTemplateMIMEType(jsonType)),
		protocol.NewResourceTemplate("alcove://session/{id}", "session",
			protocol.WithTemplateTitle("Session"), protocol.WithTemplateDescription("The branch and namespace of this session, and what they hold."), protocol.WithTemplateMIMEType(jsonType)),
	}
}

// list lists the session, and the memories of its branch, the newest first.
func (r memories) list(ctx context.Context, after string) (page []protocol.Resource, next string, err error) {
	rights := r.server.rights(SessionOf(ctx))
	if !rights.ReadsAnything() {
		return nil, "", nil
	}
	if after == "" {
		page = append(page, protocol.NewResource(resourceURI{host: sessionHost, name: currentID}.String(), "session", protocol.WithMIMEType(jsonType),
			protocol.WithResourceDescription("The branch and namespace of this session, and what they hold.")))
	}
	state, _ := r.server.state(ctx)
	branch, _ := state.At()
	arguments := map[string]any{"order": memory.ByNewest, "k": pageSize, "namespace": memory.AllNamespaces, "branch": branch, "fields": []string{"namespace", "timestamp"}}
	if after != "" {
		arguments["after"] = after
	}
	var found struct {
		Results []struct{ Key, Namespace, Timestamp string }
		Next    string
	}
	if err := r.server.ask(ctx, "memory_search", arguments, &found); err != nil {
		return nil, "", err
	}
	for _, m := range found.Results {
		options := []protocol.ResourceOption{protocol.WithResourceTitle(m.Namespace + ": " + m.Key)}
		if m.Timestamp != "" {
			options = append(options, protocol.WithLastModified(m.Timestamp))
		}
		page = append(page, protocol.NewResource(memoryURI(branch, m.Namespace, m.Key).String(), m.Key, options...))
	}
	return page, found.Next, nil
}

func (r memories) read(ctx context.Context, uri string) ([]protocol.ResourceContents, error) {
	u, err := parseURI(uri)
	if err != nil {
		return nil, &uriError{err}
	}
	read, err := r.contents(ctx, uri, u)
	if err != nil || read == nil {
		return nil, err
	}
	return []protocol.ResourceContents{read}, nil
}

func (r memories) contents(ctx context.Context, uri string, u resourceURI) (protocol.ResourceContents, error) {
	switch {
	case u.host == branchHost:
		return r.branch(ctx, uri, u)
	case u.host == sessionHost:
		return r.session(ctx, uri, u)
	case u.history:
		return r.history(ctx, uri, u)
	}
	return r.memory(ctx, uri, u)
}

// memory reads the value of a memory: a text as it is, and any other value as JSON.
func (r memories) memory(ctx context.Context, uri string, u resourceURI) (protocol.ResourceContents, error) {
	var m map[string]json.RawMessage
	if err := r.server.ask(ctx, "memory_recall", map[string]any{"key": u.name, "namespace": u.namespace, "branch": u.branch, "verbose": true}, &m); err != nil {
		return nil, err
	}
	if elsewhere, found := m["namespace"]; string(m["found"]) != "true" || found && string(elsewhere) != string(quoted(u.namespace)) {
		return nil, nil
	}
	mime, text := jsonType, string(m["value"])
	if json.Unmarshal(m["value"], &text) == nil && m["value"][0] == '"' {
		mime = textType
	}
	known := map[string]json.RawMessage{}
	for name, value := range m {
		if name != "found" && name != "value" {
			known[name] = value
		}
	}
	return textOf(uri, mime, text, map[string]any{memoryMeta: known})
}

func (r memories) history(ctx context.Context, uri string, u resourceURI) (protocol.ResourceContents, error) {
	var h struct {
		Versions []json.RawMessage `json:"versions"`
	}
	var whole json.RawMessage
	if err := r.server.ask(ctx, "memory_history", map[string]any{"key": u.name, "namespace": u.namespace, "branch": u.branch, "authors": true}, &whole); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(whole, &h); err != nil || len(h.Versions) == 0 {
		return nil, err
	}
	return textOf(uri, jsonType, string(whole), nil)
}

func (r memories) branch(ctx context.Context, uri string, u resourceURI) (protocol.ResourceContents, error) {
	var list struct {
		Branches []json.RawMessage `json:"branches"`
	}
	if err := r.server.ask(ctx, "memory_branch", map[string]any{"action": "list", "name": u.name, "verbose": true}, &list); err != nil || len(list.Branches) == 0 {
		return nil, err
	}
	return textOf(uri, jsonType, string(list.Branches[0]), nil)
}

// session reads where the client's own session is.
func (r memories) session(ctx context.Context, uri string, u resourceURI) (protocol.ResourceContents, error) {
	own := r.server.who(ctx, SessionOf(ctx)).Session
	if u.name != currentID && u.name != own || u.name == "" {
		return nil, nil
	}
	var status map[string]json.RawMessage
	if err := r.server.ask(ctx, "memory_status", map[string]any{}, &status); err != nil {
		return nil, err
	}
	state, _ := r.server.state(ctx)
	if own != "" {
		status["session"] = quoted(own)
	}
	if project := state.Project(); project != "" {
		status["project"] = quoted(project)
	}
	families, err := json.Marshal(state.State().Families)
	if err != nil {
		return nil, errors.New("encode the loaded families")
	}
	status["loaded"] = families
	text, err := json.Marshal(status)
	if err != nil {
		return nil, errors.New("encode the session")
	}
	return textOf(uri, jsonType, string(text), nil)
}

// quoted returns a text as JSON.
func quoted(text string) json.RawMessage {
	encoded, _ := tool.Encode(text) // a text cannot fail
	return encoded
}

// ask calls a tool that reads, for the session in a context, and decodes its structured answer. It is the door of tools: rights, limits,
// redaction and the account of calls are those of a call of the tool by the client.
func (s *Server) ask(ctx context.Context, name string, arguments map[string]any, into any) error {
	return s.askAs(ctx, nil, name, arguments, into)
}

// askAs is ask for a tool that may ask the client.
func (s *Server) askAs(ctx context.Context, client *tool.Client, name string, arguments map[string]any, into any) error {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return fmt.Errorf("encode the arguments of %s: %w", name, err)
	}
	session := SessionOf(ctx)
	state, _ := s.state(ctx)
	who := s.who(ctx, session)
	branch, namespace := state.At()
	s.options.Sessions.Called(who, memory.Location{Branch: branch, Namespace: namespace})
	a, err := s.dispatcher.Dispatch(ctx, tool.Request{Tool: name, Arguments: raw, Caller: who, Session: state, Client: client, Admission: tool.Admitted})
	if err != nil {
		return err
	}
	structured, err := tool.Encode(a.Structured)
	if err != nil {
		return fmt.Errorf("encode the answer of %s: %w", name, err)
	}
	return json.Unmarshal(structured, into)
}

// textOf returns the text of a resource, within its limit.
func textOf(uri, mime, text string, meta map[string]any) (protocol.ResourceContents, error) {
	if len(text) > maxResource {
		return nil, &memory.Error{Code: memory.Exhausted, Message: fmt.Sprintf(
			"the resource has %d bytes: at most %d can be read; memory_recall with fields reads a part", len(text), maxResource)}
	}
	return protocol.TextResourceContents{URI: uri, MIMEType: cmp.Or(mime, "application/json"), Text: text, Meta: meta}, nil
}
