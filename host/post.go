package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/cluster"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/daemon/presence"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/admin"
)

const (
	postClients = 1024 // client connections
	helloFirst  = 10 * time.Second
)

// post is the sockets of a shared space for clients and operators on this machine, whichever server leads it.
type post struct {
	name      string
	dir       string
	record    owner.Record
	clients   *listen.SocketListener
	operators *listen.SocketListener
	opened    *os.File // the directory
	end       func()   // ends it
	running   sync.WaitGroup
}

// openPost listens for clients and operators in a data directory, whose lock this server has.
func (s *shared) openPost(name, dir string) (*post, error) {
	p := &post{name: name, dir: dir, record: s.record}
	socket := ""
	if name == s.sharing.own {
		socket = s.listenAt.Socket
	} else {
		p.record.Path = listen.SpacesPath + name
	}
	var err error
	if p.clients, p.operators, err = listenSockets(socket, dir); err != nil {
		return nil, err
	}
	p.record.Socket, p.record.Admin = p.clients.Path(), p.operators.Path()
	if p.opened, err = os.Open(dir); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *post) close() error {
	err := errors.Join(p.clients.Close(), p.operators.Close())
	if p.opened != nil {
		err = errors.Join(err, p.opened.Close())
	}
	return err
}

// start serves a post until the server ends.
func (g *sharing) start(s *shared, p *post) {
	ctx, end := context.WithCancel(g.serving)
	p.end = end
	begin := func(do func()) {
		p.running.Add(1)
		g.running.Go(func() {
			defer p.running.Done()
			do()
		})
	}
	w := presence.New(presence.Options{
		Dir: p.dir, Opened: p.opened, Lock: g.locks[p.name], Record: p.record, Clients: p.clients, Operators: p.operators, Logger: g.logger,
		Writable: func() error { return nil }, Unused: func() bool { return false }, Stop: func() {},
	})
	w.Look()
	begin(func() {
		w.Run(ctx)
		w.Leave()
		p.opened.Close()
	})
	begin(func() {
		if err := admin.Serve(ctx, p.operators, s.acts(p.name, onSocket), g.logger); err != nil && ctx.Err() == nil {
			g.logger.Error("the socket for operators ended", "dir", p.dir, "error", err)
		}
	})
	begin(func() { s.accept(ctx, p) })
}

// wait prevents new posts, and waits until all have ended.
func (g *sharing) wait() {
	g.mu.Lock()
	g.ended = true
	g.mu.Unlock()
	g.running.Wait()
}

// ensurePost opens the post of a space, so that commands on this machine find it.
func (s *shared) ensurePost(name string) error {
	g := s.sharing
	dir, err := s.spaces.dirOf(name)
	if err != nil {
		return err
	}
	if err := bounded(func(ctx context.Context) error { return g.create(ctx, name) }); err != nil {
		return err
	}
	if err := s.spaces.claimNamed(name, dir); err != nil {
		return err
	}
	if _, err := g.lock(name, dir); err != nil {
		return err
	}
	if err := g.keepToken(name, dir); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.posts[name] != nil || g.ended {
		return nil
	}
	p, err := s.openPost(name, dir)
	if err != nil {
		return err
	}
	g.posts[name] = p
	g.start(s, p)
	return nil
}

// accept serves clients of a post's socket.
func (s *shared) accept(ctx context.Context, p *post) {
	stop := context.AfterFunc(ctx, func() { p.clients.Close() })
	defer stop()
	slots := make(chan struct{}, postClients)
	for {
		conn, err := p.clients.Accept()
		if errors.Is(err, net.ErrClosed) || ctx.Err() != nil {
			return
		}
		if err != nil {
			time.Sleep(helloFirst / 100) // for example, no file descriptors are left
			continue
		}
		select {
		case slots <- struct{}{}:
			go func() {
				defer func() { <-slots }()
				defer conn.Close()
				s.client(ctx, p, conn)
			}()
		default:
			conn.Close()
		}
	}
}

// client connects a client of the socket to the leader of its space.
func (s *shared) client(ctx context.Context, p *post, conn net.Conn) {
	conn.SetDeadline(time.Now().Add(helloFirst))
	from := bufio.NewReaderSize(conn, owner.HelloLimit)
	first, err := from.ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		owner.Refuse(conn, &owner.Refusal{Code: "invalid_argument", Message: "read the hello: " + err.Error()})
		return
	}
	var hello struct{ Space string }
	name := p.name
	if json.Unmarshal(first, &hello) == nil && hello.Space != "" { // the leader reports other errors
		name = hello.Space
	}
	if name != p.name {
		err = s.ensurePost(name)
	}
	conn.SetDeadline(time.Time{})
	whole := readFirst{conn, bufio.NewReader(io.MultiReader(bytes.NewReader(bytes.Clone(first)), from))}
	if err == nil || errors.Is(err, io.EOF) {
		err = s.sharing.member.Try(ctx, name, func(to cluster.Route) error { return s.carry(ctx, whole, name, to) })
	}
	if err != nil {
		code, retryable := classOf(err)
		owner.Refuse(conn, &owner.Refusal{Code: code, Message: err.Error(), Retryable: retryable})
	}
}

// carry serves a client here, or connects it to another server. After an error, the client was not served.
func (s *shared) carry(ctx context.Context, conn net.Conn, name string, to cluster.Route) error {
	if to.Here {
		return s.spaces.clientHere(ctx, name, func() (net.Conn, error) { return conn, nil })
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	peer, err := s.sharing.forward.Dial(ctx, to, clientsPath+name)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() {
		peer.Close()
		conn.Close()
	})
	defer stop()
	go func() {
		defer end()
		_, _ = io.Copy(peer, conn)
	}()
	_, _ = io.Copy(conn, peer)
	return nil
}

// acts serves the operators of a space: requests about this server here, all others at the leader. as adds the operator's identity.
func (s *shared) acts(name string, as func(*http.Request) (context.Context, error)) http.Handler {
	own := operator.NewServer(s.bindings(), operator.ServerOptions{Logger: s.options.Logger})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, err := as(r)
		if err != nil {
			own.RefuseAct(w, &admin.Error{Code: string(memory.Denied), Message: err.Error()})
			return
		}
		act := strings.TrimPrefix(r.URL.Path, "/")
		if own.Acts[act] != nil {
			own.ServeHTTP(w, r.WithContext(ctx))
			return
		}
		if why := s.site.noConsole(); why != "" && act == string(operator.OpenConsole) {
			own.RefuseAct(w, &admin.Error{Code: string(memory.Unavailable), Message: noConsoleText + why})
			return
		}
		if err := cluster.Hold(r); err != nil {
			return // its client is gone
		}
		err = s.sharing.member.Try(r.Context(), name, func(to cluster.Route) error {
			cluster.Rewind(r)
			s.noteOperator(r, operator.PersonOf(ctx), to)
			if to.Here {
				return s.spaces.actHere(w, r, name, act)
			}
			return s.sharing.forward.Forward(w, r, to, actsPath+name+"/"+act)
		})
		if err != nil {
			code, _ := classOf(err)
			own.RefuseAct(w, &admin.Error{Code: code, Message: err.Error()})
		}
	})
}

// Headers of an act on its way to the leader of its space.
const (
	operatorHeader = "Alcove-Operator" // the operator, as the receiving server identified them
	reachedHeader  = "Alcove-Reached"  // the receiving server's URL for browsers on its machine
)

// noteOperator sets the header with the operator of a request, and drops what the client sent in it.
func (s *shared) noteOperator(r *http.Request, p operator.Person, to cluster.Route) {
	if !to.Here && p.Via == "" {
		p.Via, p.From = "another server", s.address
	}
	text, _ := json.Marshal(p) // texts and a number
	r.Header.Set(operatorHeader, string(text))
	r.Header.Set(reachedHeader, s.site.urlHere(s.record))
}

// reachedKey is the context key of the receiving server's URL for browsers on the operator's machine.
type reachedKey struct{}

// ofPost returns the context of a request that another server received and authenticated.
func ofPost(r *http.Request) (context.Context, error) {
	p := operator.Person{UID: -1}
	if err := json.Unmarshal([]byte(r.Header.Get(operatorHeader)), &p); err != nil {
		return nil, fmt.Errorf("read who asks a server for an act: %w", err)
	}
	return operator.By(context.WithValue(r.Context(), reachedKey{}, r.Header.Get(reachedHeader)), p), nil
}

// bindings returns the operator commands about this server.
func (s *shared) bindings() []operator.Binding {
	return []operator.Binding{
		operator.GetCluster.By(func(context.Context, operator.None) (operator.Cluster, error) {
			return clusterOf(s.sharing.member.State()), nil
		}).Reading(),
		operator.DrainServer.By(func(ctx context.Context, _ operator.None) (operator.None, error) {
			return operator.None{}, s.drain(ctx)
		}),
	}
}
