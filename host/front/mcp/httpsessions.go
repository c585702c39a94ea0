package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/tool"
)

// Kept keeps the state of HTTP sessions for the servers after this one. Its methods must not block.
type Kept interface {
	// Put keeps the state of a session that belongs to an API key, which is empty for the owner.
	Put(id, key string, state []byte)
	Get(id string) (key string, state []byte, ok bool)
	Delete(id string)
}

type keptNowhere struct{}

func (keptNowhere) Put(string, string, []byte)                {}
func (keptNowhere) Get(string) (key string, _ []byte, _ bool) { return "", nil, false }
func (keptNowhere) Delete(string)                             {}

const keepAgain = time.Hour // after which a session in use is kept anew, so that it does not expire

// sessions holds the state between calls of HTTP clients, by session id. It is also the library's record of existing sessions: one
// that ended is unknown, and its client must begin again. One of an earlier server is taken up where it was.
type sessions struct {
	server *Server
	taking sync.Mutex // held while a session is taken up
	mu     sync.Mutex
	byID   map[string]*httpSession
	limit  int
}

// httpSession is an open session. Clients with another key or profile do not find it.
type httpSession struct {
	state        *tool.Session
	key, profile string
	client       introduction

	keeping sync.Mutex
	kept    keptMark
}

// keptMark says what was kept last, and when.
type keptMark struct {
	branch, namespace string
	loads             int
	at                time.Time
}

// introduction is what a client said of itself when it began.
type introduction struct {
	Name     string `json:"name,omitempty"`
	Version  string `json:"version,omitempty"`
	Protocol string `json:"protocol,omitempty"`
	Bridge   bool   `json:"bridge,omitempty"`
	Views    bool   `json:"views,omitempty"` // it shows them
}

// capabilities are those of the client that the server makes use of.
func (i introduction) capabilities() (c protocol.ClientCapabilities) {
	if i.Views {
		c.Extensions = viewSettings()
	}
	return c
}

// keptState is what the next server needs to take up a session.
type keptState struct {
	Profile   string       `json:"profile"`
	Branch    string       `json:"branch"`
	Namespace string       `json:"namespace"`
	Families  []string     `json:"families,omitempty"`
	Client    introduction `json:"client"`
}

func newSessions(s *Server) *sessions {
	return &sessions{server: s, byID: map[string]*httpSession{}, limit: maxSessions}
}

// introductionOf reads an initialize message. What it lacks stays empty: the library judges the message.
func introductionOf(m *message) introduction {
	var read struct {
		Params struct {
			ProtocolVersion string                      `json:"protocolVersion"`
			Capabilities    protocol.ClientCapabilities `json:"capabilities"`
			ClientInfo      struct {
				Name    string `json:"name"`
				Version string `json:"version"`
			} `json:"clientInfo"`
		} `json:"params"`
	}
	_ = json.Unmarshal(m.forLibrary(), &read)
	p := read.Params
	return introduction{AgentName(p.ClientInfo.Name), AgentName(p.ClientInfo.Version), AgentName(p.ProtocolVersion), m.bridge, declaresViews(p.Capabilities)}
}

func (s *sessions) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID) >= s.limit
}

func (s *sessions) get(id string) *httpSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id]
}

// find returns why a client cannot use a session; nil: it can.
func (s *sessions) find(ctx context.Context, id string) *refusal {
	session := SessionOf(ctx)
	open := s.get(id)
	if open == nil {
		open = s.takeUp(ctx, id, session)
	}
	if open == nil || open.key != session.Key || open.profile != session.Profile {
		return &refusal{http.StatusNotFound, protocol.INVALID_REQUEST, errNoSession.Error()}
	}
	return nil
}

// takeUp returns a session that an earlier server kept, or nil.
func (s *sessions) takeUp(ctx context.Context, id string, session Session) *httpSession {
	s.taking.Lock()
	defer s.taking.Unlock()
	if open := s.get(id); open != nil {
		return open
	}
	key, kept, ok := s.server.options.Kept.Get(id)
	if !ok || key != session.Key || s.full() {
		return nil
	}
	var at keptState
	if json.Unmarshal(kept, &at) != nil || at.Profile != session.Profile {
		return nil
	}
	session.Branch, session.Namespace, session.Families = at.Branch, at.Namespace, at.Families
	open := s.add(id, session, at.Client)
	s.server.introduce(ctx, id, at.Client)
	return open
}

// introduce repeats a client's initialization for the protocol library, which then knows its session.
func (s *Server) introduce(ctx context.Context, id string, who introduction) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": methodInit, "params": map[string]any{
		"protocolVersion": who.Protocol, "capabilities": who.capabilities(), "clientInfo": map[string]any{"name": who.Name, "version": who.Version},
	}})
	if err != nil {
		return // texts always encode
	}
	r, err := http.NewRequestWithContext(context.WithValue(context.WithoutCancel(ctx), beginKey{}, sessionStart{id: id}), http.MethodPost, "/mcp", bytes.NewReader(body))
	if err != nil {
		return // the address is valid
	}
	r.Header.Set("Content-Type", "application/json")
	s.http.ServeHTTP(unread{http.Header{}}, r)
}

// unread is where an answer goes that nobody reads.
type unread struct{ header http.Header }

func (u unread) Header() http.Header         { return u.header }
func (u unread) Write(p []byte) (int, error) { return len(p), nil }
func (u unread) WriteHeader(int)             {}

// beginKey is the context key of a session's beginning.
type beginKey struct{}

// sessionStart is the session that a request begins: a new one of a client, or one that is taken up.
type sessionStart struct {
	id     string // empty: a new one
	client introduction
}

// ResolveSessionIdManager returns the sessions as the request may begin one.
func (s *sessions) ResolveSessionIdManager(r *http.Request) server.SessionIdManager {
	if r == nil {
		return generator{sessions: s}
	}
	begin, _ := r.Context().Value(beginKey{}).(sessionStart)
	return generator{s, SessionOf(r.Context()), begin}
}

// generator are the sessions with what a new one begins with.
type generator struct {
	*sessions
	session Session
	begin   sessionStart
}

// Generate starts a session and returns its id.
func (g generator) Generate() string {
	if g.begin.id != "" {
		return g.begin.id
	}
	id := "alcove-" + rand.Text()
	g.add(id, g.session, g.begin.client)
	g.keep(id)
	return id
}

// add opens a session.
func (s *sessions) add(id string, session Session, who introduction) *httpSession {
	open := &httpSession{state: session.of(who.Name).begin(manyCalls), key: session.Key, profile: session.Profile, client: who}
	s.mu.Lock()
	s.byID[id] = open
	s.mu.Unlock()
	s.server.watchers.join(&watcher{session: session, state: open.state, tell: func() { s.notify(id) }})
	return open
}

// keep keeps what a session is at, if that has changed.
func (s *sessions) keep(id string) {
	open := s.get(id)
	if open == nil {
		return
	}
	open.keeping.Lock()
	defer open.keeping.Unlock()
	branch, namespace := open.state.At()
	now := keptMark{branch, namespace, open.state.Loads(), s.server.options.Clock()}
	last := open.kept
	if now.branch == last.branch && now.namespace == last.namespace && now.loads == last.loads && now.at.Sub(last.at) < keepAgain {
		return
	}
	state, err := json.Marshal(keptState{open.profile, branch, namespace, open.state.Loaded(), open.client})
	if err != nil {
		s.server.options.Logger.Error("encoding a session failed", "error", err)
		return
	}
	s.server.options.Kept.Put(id, open.key, state)
	open.kept = now
}

// notify notifies a session's client that its list has changed.
func (s *sessions) notify(id string) {
	// A client that left, or does not read, misses it.
	_ = s.server.protocol.SendNotificationToSpecificClient(id, string(protocol.MethodNotificationToolsListChanged), nil)
}

// Validate returns an error if a session does not exist.
func (s *sessions) Validate(id string) (terminated bool, err error) {
	if s.get(id) == nil {
		return false, errNoSession
	}
	return false, nil
}

var errNoSession = errors.New("no such session: send initialize to begin one")

// Terminate ends a session. When the server stops, the next one may take it up.
func (s *sessions) Terminate(id string) (notAllowed bool, err error) {
	defer s.server.options.Sessions.End(id)
	defer s.server.subscribers.removeClient(id)
	if s.server.open.Err() == nil {
		defer s.server.options.Kept.Delete(id)
	}
	s.mu.Lock()
	open := s.byID[id]
	delete(s.byID, id)
	s.mu.Unlock()
	if open != nil {
		s.server.watchers.remove(open.state)
	}
	return false, nil
}

// needsSession is told to clients that present no session.
func needsSession() *refusal {
	return &refusal{http.StatusBadRequest, protocol.INVALID_REQUEST, fmt.Sprintf(
		"there is no %s header: send initialize first and repeat the id it gives, or use protocol %s, which needs none",
		server.HeaderKeySessionID, protocol.ProtocolVersion20260728)}
}
