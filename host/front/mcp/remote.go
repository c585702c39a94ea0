package mcp

import (
	"sync"
	"sync/atomic"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/tool"
)

const queued = 64 // notifications waiting to be written

// remote is the protocol library's session of a connection's client.
type remote struct {
	id            string
	state         *tool.Session // state between its calls
	notifications chan protocol.JSONRPCNotification
	initialized   atomic.Bool
	bridge        atomic.Bool // its client is a bridge

	mu           sync.Mutex
	info         protocol.Implementation
	capabilities protocol.ClientCapabilities
	version      string
}

func newRemote(id string, state *tool.Session) *remote {
	return &remote{id: id, state: state, notifications: make(chan protocol.JSONRPCNotification, queued)}
}

var (
	_ server.SessionWithClientInfo      = (*remote)(nil)
	_ server.SessionWithProtocolVersion = (*remote)(nil)
)

func (c *remote) Initialize()       { c.initialized.Store(true) }
func (c *remote) Initialized() bool { return c.initialized.Load() }
func (c *remote) SessionID() string { return c.id }

func (c *remote) NotificationChannel() chan<- protocol.JSONRPCNotification { return c.notifications }

func (c *remote) GetClientInfo() protocol.Implementation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info
}

func (c *remote) SetClientInfo(info protocol.Implementation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.info = info
}

func (c *remote) GetClientCapabilities() protocol.ClientCapabilities {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.capabilities
}

func (c *remote) SetClientCapabilities(capabilities protocol.ClientCapabilities) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.capabilities = capabilities
}

func (c *remote) ProtocolVersion() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

func (c *remote) SetProtocolVersion(version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version = version
}
