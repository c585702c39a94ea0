package listen

import (
	"net"
	"sync"
)

// Inbox is a listener of connections that others accepted.
type Inbox struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewInbox returns an open inbox.
func NewInbox() *Inbox { return &Inbox{conns: make(chan net.Conn), closed: make(chan struct{})} }

// Put passes a connection to who accepts, and waits until it is closed. It is false if the inbox is closed, and the connection is not.
func (i *Inbox) Put(conn net.Conn) bool {
	held := &heldConn{Conn: conn, closed: make(chan struct{})}
	select {
	case i.conns <- held:
		<-held.closed
		return true
	case <-i.closed:
		return false
	}
}

// Accept implements net.Listener.
func (i *Inbox) Accept() (net.Conn, error) {
	select {
	case conn := <-i.conns:
		return conn, nil
	case <-i.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (i *Inbox) Close() error {
	i.once.Do(func() { close(i.closed) })
	return nil
}

// Addr implements net.Listener.
func (i *Inbox) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// heldConn tells when it is closed.
type heldConn struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

// Close closes the connection.
func (c *heldConn) Close() error {
	defer c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
