package mcp

import (
	"sync"
	"sync/atomic"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const queued = 64 // notifications that wait to be written

// client is what the protocol library knows of the client of a connection.
type client struct {
	id            string
	notifications chan protocol.JSONRPCNotification
	initialized   atomic.Bool

	mu           sync.Mutex
	info         protocol.Implementation
	capabilities protocol.ClientCapabilities
	version      string
}

func newClient(id string) *client {
	return &client{id: id, notifications: make(chan protocol.JSONRPCNotification, queued)}
}

var (
	_ server.SessionWithClientInfo      = (*client)(nil)
	_ server.SessionWithProtocolVersion = (*client)(nil)
)

func (c *client) Initialize()       { c.initialized.Store(true) }
func (c *client) Initialized() bool { return c.initialized.Load() }
func (c *client) SessionID() string { return c.id }

func (c *client) NotificationChannel() chan<- protocol.JSONRPCNotification { return c.notifications }

func (c *client) GetClientInfo() protocol.Implementation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info
}

func (c *client) SetClientInfo(info protocol.Implementation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.info = info
}

func (c *client) GetClientCapabilities() protocol.ClientCapabilities {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.capabilities
}

func (c *client) SetClientCapabilities(capabilities protocol.ClientCapabilities) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.capabilities = capabilities
}

func (c *client) ProtocolVersion() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

func (c *client) SetProtocolVersion(version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version = version
}
