package listen

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	mostClients    = 1024                   // connections on the socket, and over HTTP
	mostStreams    = 4096                   // connections that last
	mostDismissals = 16                     // refused connections that are being sent the reason
	dismissWithin  = time.Second            // time to send the reason
	acceptPause    = 100 * time.Millisecond // after a failed accept, such as when there are no more file descriptors
	acceptWarnings = 100                    // one of this many consecutive failed accepts is logged
)

// ConnectionLimit is the connection limit of a listener.
type ConnectionLimit struct {
	Connections  int // in all
	Unidentified int // of these, connections that have not presented a valid token or a hello
}

// share divides a number of file descriptors between the socket and HTTP. A quarter is reserved for the store, its blobs,
// compilers and outbound connections.
func share(descriptors int) (socket, http ConnectionLimit) {
	free := descriptors - max(descriptors/4, min(48, descriptors/2))
	http = limitOf(min(mostClients, free/3))
	return limitOf(min(mostClients, free-http.Connections)), http
}

// Streams returns how many connections may last beside those of Share: what it leaves, and a little of the reserve where that is nothing.
func Streams(descriptors int) int {
	socket, http := share(descriptors)
	left := descriptors - descriptors/4 - socket.Connections - http.Connections
	return min(mostStreams, max(left, http.Connections/4, 2))
}

// limitOf allows half of the connections to be unidentified: many clients may connect at once.
func limitOf(connections int) ConnectionLimit {
	connections = max(connections, 2)
	return ConnectionLimit{Connections: connections, Unidentified: connections / 2}
}

// full reports that the connection limit is reached.
func (r ConnectionLimit) full() string {
	text := fmt.Sprintf("%d clients are connected, which is the limit: close some", r.Connections)
	if r.Connections < mostClients {
		text += ", or let the server open more files (ulimit -n)"
	}
	return text
}

// evicted reports that a connection was closed in favour of newer ones.
func (r ConnectionLimit) evicted() string {
	return fmt.Sprintf("%d connections are open whose peers have not said who they are, which is the limit, and this was the oldest: try again", r.Unidentified)
}

// peers are the open connections of a listener.
type peers struct {
	limit ConnectionLimit

	mu      sync.Mutex
	open    map[net.Conn]*peer
	counter uint64 // orders events
	unknown int    // unidentified connections
}

type peer struct {
	conn       net.Conn
	identified bool
	served     bool   // it has sent a request
	idle       bool   // none of its requests is being served
	since      uint64 // counter at its last change
}

func newPeers(limit ConnectionLimit) *peers { return &peers{limit: limit, open: map[net.Conn]*peer{}} }

// add registers a connection. The caller closes the evicted one, if any. False: the limit is reached.
func (p *peers) add(conn net.Conn) (evicted *peer, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.unknown >= p.limit.Unidentified:
		evicted = p.oldest(func(other *peer) bool { return !other.identified })
	case len(p.open) >= p.limit.Connections:
		evicted = p.oldest(func(other *peer) bool { return !other.identified })
		if evicted == nil {
			evicted = p.oldest(func(other *peer) bool { return other.idle })
		}
		if evicted == nil {
			return nil, false
		}
	}
	if evicted != nil {
		p.drop(evicted)
	}
	p.counter++
	p.open[conn] = &peer{conn: conn, since: p.counter}
	p.unknown++
	return evicted, true
}

// oldest returns the connection that has matched longest.
func (p *peers) oldest(like func(*peer) bool) *peer {
	var found *peer
	for _, other := range p.open {
		if like(other) && (found == nil || other.since < found.since) {
			found = other
		}
	}
	return found
}

func (p *peers) drop(gone *peer) {
	delete(p.open, gone.conn)
	if !gone.identified {
		p.unknown--
	}
}

// remove records that a connection is closed.
func (p *peers) remove(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if gone := p.open[conn]; gone != nil {
		p.drop(gone)
	}
}

// identify records that a peer has identified itself. False: its connection was already evicted.
func (p *peers) identify(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.open[conn]
	if known != nil && !known.identified {
		known.identified = true
		p.unknown--
	}
	return known != nil
}

// serving records whether a request of a connection is being served.
func (p *peers) serving(conn net.Conn, state http.ConnState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.open[conn]
	if known == nil {
		return
	}
	known.served = known.served || state == http.StateActive
	known.idle = state == http.StateIdle
	if known.identified {
		p.counter++
		known.since = p.counter
	}
}

// gate is a listener with a connection limit.
type gate struct {
	net.Listener
	peers   *peers
	logger  *slog.Logger
	tell    func(conn net.Conn, why string) // sends the reason; the connection has a deadline
	telling chan struct{}
}

func newGate(l net.Listener, limit ConnectionLimit, logger *slog.Logger, tell func(net.Conn, string)) *gate {
	return &gate{Listener: l, peers: newPeers(limit), logger: logger, tell: tell, telling: make(chan struct{}, mostDismissals)}
}

// Accept returns the next connection within the limit. It keeps accepting after running out of file descriptors.
func (g *gate) Accept() (net.Conn, error) {
	for failed := 0; ; {
		conn, err := g.Listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil, err
		}
		if err != nil {
			if failed%acceptWarnings == 0 {
				g.logger.Warn("a client could not be accepted", "address", g.Addr(), "failed", failed, "error", err)
			}
			failed++
			time.Sleep(acceptPause)
			continue
		}
		failed = 0
		evicted, ok := g.peers.add(conn)
		if evicted != nil {
			g.evict(evicted)
		}
		if ok {
			return conn, nil
		}
		g.dismiss(conn, g.peers.limit.full())
	}
}

// evict closes a connection in favour of a new one. A connection that was served gets no reason: an answer may be in progress.
func (g *gate) evict(p *peer) {
	if p.served {
		p.conn.Close()
		return
	}
	g.dismiss(p.conn, g.peers.limit.evicted())
}

// dismiss closes a connection and sends the reason, unless too many are being dismissed.
func (g *gate) dismiss(conn net.Conn, why string) {
	select {
	case g.telling <- struct{}{}:
	default:
		conn.Close()
		return
	}
	go func() {
		defer func() { <-g.telling }()
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(dismissWithin))
		g.tell(conn, why)
	}()
}

// discard reads the peer's pending input: closing a connection with unread input would drop the answer. The connection
// has a deadline.
func discard(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		io.CopyN(io.Discard, conn, 1<<20)
	}
}
