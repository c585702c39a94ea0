package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/cluster"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/follow"
	"github.com/alcove-memory/alcove/host/front/admission"
	"github.com/alcove-memory/alcove/host/front/console"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/front/oauth"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/store"
)

// Paths of the listener for other servers, each followed by the name of a space.
const (
	clientsPath = "/clients/" // a connection of a client of the socket
	actsPath    = "/acts/"    // a request of an operator
	namesPath   = "/names/"   // a request to rename or delete it: "to" is the new name, or empty
)

// operationsPath is where each tool is a path of HTTP.
const operationsPath = "/operation/"

// serveClient serves a client's request here, or forwards it to the leader of its space.
func (s *Spaces) serveClient(w http.ResponseWriter, r *http.Request) {
	name, path := s.sharing.own, r.URL.Path
	if below, found := strings.CutPrefix(path, listen.SpacesPath); found {
		name, path, _ = strings.Cut(below, "/")
		path = "/" + path
	}
	asked, may, err := follow.AskedIn(r.Header)
	if err != nil {
		listen.Refuse(w, &listen.StatusError{Status: http.StatusBadRequest, Code: string(memory.InvalidArgument), Err: err})
		return
	}
	if strings.HasPrefix(path, console.Path) && !s.noteBrowser(w, r, path) {
		return
	}
	if name != s.sharing.own && !s.sharing.member.Led(name) { // or strangers could have spaces opened
		if !s.admits(w, r, name, path, false) {
			return
		}
		if err := s.sharing.create(r.Context(), name); err != nil {
			refuseHTTP(w, err)
			return
		}
	}
	limit := int64(0)
	if strings.HasPrefix(path, console.Path) { // the leader limits each of its paths
		limit = console.LongestAct
	}
	if !listen.TakeBody(w, r, limit) {
		return
	}
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		listen.Lasting(r)
	}
	if err := cluster.Hold(r); err != nil {
		return // its client is gone
	}
	if may && !s.sharing.member.Leads(name) && s.sharing.followers.serve(w, r, name, path, asked) {
		return
	}
	err = s.sharing.member.Try(r.Context(), name, func(to cluster.Route) error {
		cluster.Rewind(r)
		if to.Here {
			return s.serveHere(w, r, name, path)
		}
		return s.sharing.forward.Forward(w, r, to, listen.SpacesPath+name+path)
	})
	if err != nil {
		refuseHTTP(w, err)
	}
}

// browserHeader has the reason why a forwarded browser cannot be the operator's.
const browserHeader = "Alcove-Browser"

// noteBrowser adds to a console request what only the server with the connection knows. If this server serves no console, it answers so and
// returns false.
func (s *Spaces) noteBrowser(w http.ResponseWriter, r *http.Request, path string) bool {
	if why := s.at.noConsole(); why != "" && !oauth.IsPath(path) {
		listen.Refuse(w, &listen.StatusError{Status: http.StatusNotFound, Code: string(memory.NotFound), Err: errors.New(noConsoleText + why)})
		return false
	}
	r.Header.Del(browserHeader)
	if err := listen.CheckPeer(r); err != nil {
		r.Header.Set(browserHeader, err.Error())
	}
	return true
}

// forwarded returns a request as the forwarding server received it.
func forwarded(r *http.Request) *http.Request {
	var peer error
	if why := r.Header.Get(browserHeader); why != "" {
		peer = errors.New(why)
	}
	return listen.From(r, r.Header.Get("X-Forwarded-For"), peer)
}

// serveHere serves a request to a space that this server leads, or is to lead. After an error, nothing was answered.
func (s *Spaces) serveHere(w http.ResponseWriter, r *http.Request, name, path string) error {
	o, release, err := s.acquire(r.Context(), name)
	if code, _ := classOf(err); err != nil && code == string(memory.NotFound) && !s.admits(w, r, name, path, false) {
		return nil // a stranger, who learns no names
	}
	if err != nil {
		return err
	}
	defer release()
	if err := o.lead.Check(); err != nil {
		return err
	}
	ctx, end := o.until(r.Context())
	defer end()
	r = r.WithContext(ctx)
	r.URL = &url.URL{Path: path, RawQuery: r.URL.RawQuery}
	if strings.HasPrefix(path, operationsPath) {
		w = &versioned{ResponseWriter: w, engine: o.host.space.Engine}
	}
	o.handler.ServeHTTP(w, r)
	return nil
}

// versioned adds the version of the space to an answer, so that a copy that answers the next request is not older.
type versioned struct {
	http.ResponseWriter
	engine store.Engine
	begun  bool
}

// WriteHeader implements http.ResponseWriter.
func (v *versioned) WriteHeader(status int) {
	v.begun = true
	if head, err := v.engine.Head(context.Background()); err == nil && status == http.StatusOK {
		v.Header().Set(follow.VersionHeader, strconv.FormatUint(head.Version, 10))
	}
	v.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (v *versioned) Write(p []byte) (int, error) {
	if !v.begun {
		v.WriteHeader(http.StatusOK)
	}
	return v.ResponseWriter.Write(p)
}

// Unwrap serves http.ResponseController.
func (v *versioned) Unwrap() http.ResponseWriter { return v.ResponseWriter }

// until returns a context that ends some time after the space begins to close. The caller calls end when done.
func (o *openSpace) until(ctx context.Context) (during context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(o.ctx, func() { time.AfterFunc(handoverAfter, func() { cancel(stopped()) }) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// admission adds to a the keys of a space without a leader, from its documents. Clients of a renamed space are admitted, to learn its name.
func (g *sharing) admission(a admission.Admission, name, dir string, clock func() time.Time) (_ admission.Admission, err error) {
	if a.Token, err = g.credentials.Token(name); err != nil {
		return a, err
	}
	err = g.withDocuments(name, dir, "keys.", func(read string, led bool) (err error) {
		o := keys.Options{Path: owner.KeysPath(read), Clock: clock, Changeable: func() error { return fs.ErrPermission }}
		to := ""
		if !led {
			if to, err = g.renamed(name); err != nil {
				return err
			}
		}
		if to != "" {
			a, err = g.admission(a, to, filepath.Join(read, "none"), clock)
			return err
		}
		if !led && g.ours(name, dir) {
			o = keys.Options{Path: owner.KeysPath(dir), Clock: clock}
		}
		a.Keys, err = keys.Open(o)
		return err
	})
	return a, err
}

// renamed returns the present name of a renamed space; empty: there is none.
func (g *sharing) renamed(name string) (to string, err error) {
	var was *store.FormerError
	if err = bounded(func(ctx context.Context) error { return g.table.Former(ctx, name) }); errors.As(err, &was) {
		return was.To, nil
	}
	return "", err
}

// ours reports whether a data directory has no files of a space other than the one with the name now.
func (g *sharing) ours(name, dir string) bool {
	has, err := identityIn(dir)
	if err != nil || has == "" {
		return err == nil
	}
	return bounded(func(ctx context.Context) error {
		list, err := g.table.Identify(ctx, []string{name}, nil)
		if err == nil && (len(list) == 0 || list[0].Identity != has) {
			err = store.ErrNotFound
		}
		return err
	}) == nil
}

// withDocuments calls do with a temporary folder of the space's documents with a prefix, as they are in the database. led is false if no
// server has led the space yet.
func (g *sharing) withDocuments(name, dir, prefix string, do func(read string, led bool) error) error {
	driver, err := g.driverOf(name)
	if err != nil {
		return err
	}
	from, ok := driver.(store.Documented)
	if !ok {
		return fmt.Errorf("%s has no documents", driver)
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseWithin)
	defer cancel()
	list, err := from.Documents(ctx, dir)
	if err != nil {
		return err
	}
	read, err := os.MkdirTemp("", "alcove-documents")
	if err != nil {
		return err
	}
	defer os.RemoveAll(read)
	for _, d := range list {
		if d.Removed || !strings.HasPrefix(d.Name, prefix) {
			continue
		}
		if d, err = from.Document(ctx, dir, d.Name); err == nil {
			err = os.WriteFile(filepath.Join(read, d.Name), d.Data, 0o600)
		}
		if err != nil { // of a space that was renamed meanwhile, too: who has one of its keys asks again, and is told so
			return err
		}
	}
	return do(read, len(list) > 0)
}

// peers serves requests that other servers forward. It forwards none: it refuses requests to spaces that another server leads.
func (s *Spaces) peers() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(listen.SpacesPath, func(w http.ResponseWriter, r *http.Request) {
		name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, listen.SpacesPath), "/")
		answerPeer(w, s.serveHere(w, forwarded(r), name, "/"+path))
	})
	mux.HandleFunc(actsPath, func(w http.ResponseWriter, r *http.Request) {
		name, act, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, actsPath), "/")
		answerPeer(w, s.actHere(w, r, name, act))
	})
	mux.HandleFunc(namesPath, func(w http.ResponseWriter, r *http.Request) {
		answerPeer(w, s.changeNameHere(r, strings.TrimPrefix(r.URL.Path, namesPath)))
	})
	mux.HandleFunc(clientsPath, func(w http.ResponseWriter, r *http.Request) {
		answerPeer(w, s.upgrade(w, r, strings.TrimPrefix(r.URL.Path, clientsPath)))
	})
	return mux
}

// answerPeer answers another server with the reason why nothing was served.
func answerPeer(w http.ResponseWriter, err error) {
	switch {
	case cluster.Again(err):
		cluster.Moved(w)
	case err != nil:
		refuseHTTP(w, err)
	}
}

// actHere runs an operator command on a space that this server leads, or is to lead.
func (s *Spaces) actHere(w http.ResponseWriter, r *http.Request, name, act string) error {
	o, release, err := s.acquire(r.Context(), name)
	if err != nil {
		return err
	}
	defer release()
	ctx, end := o.until(r.Context())
	defer end()
	r = r.Clone(ctx)
	r.URL = &url.URL{Path: "/" + act}
	o.shared.acts.ServeHTTP(w, r)
	return nil
}

// clientHere serves a socket client's connection until it closes. After an error, nothing was served.
func (s *Spaces) clientHere(ctx context.Context, name string, take func() (net.Conn, error)) error {
	o, release, err := s.acquire(ctx, name)
	if err != nil {
		return err
	}
	defer release()
	conn, err := take()
	if err == nil && !o.shared.clients.Put(conn) {
		err = errors.Join(stopped(), conn.Close())
	}
	return err
}

const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: alcove\r\n\r\n"

// upgrade turns a request of another server into the connection of its socket client.
func (s *Spaces) upgrade(w http.ResponseWriter, r *http.Request, name string) error {
	taken := false
	err := s.clientHere(r.Context(), name, func() (net.Conn, error) {
		conn, buffer, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return nil, err
		}
		taken = true
		if _, err := conn.Write([]byte(switching)); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return readFirst{conn, buffer.Reader}, nil
	})
	if taken {
		return nil
	}
	return err
}

// readFirst is a connection that reads buffered bytes first.
type readFirst struct {
	net.Conn
	from *bufio.Reader
}

// Read implements net.Conn.
func (c readFirst) Read(p []byte) (int, error) { return c.from.Read(p) }

// balance opens the spaces that this server should lead, and hands over one that another server should lead.
func (s *Spaces) balance() {
	for _, name := range s.sharing.member.Orphans(s.sharing.own) {
		go func() {
			if _, release, err := s.acquire(s.running, name); err == nil {
				release()
			}
		}()
	}
	strays := s.sharing.member.Misplaced()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.open {
		if o.fenced() && !o.ending {
			o.ending = true
			o.stop()
		}
		if o.ending {
			return // one at a time
		}
	}
	for _, name := range strays {
		if o := s.open[name]; o != nil && !o.copied() {
			o.ending = true
			o.stop()
			return
		}
	}
}

// copied reports whether the store of an open space is being copied, which would have to begin anew elsewhere.
func (o *openSpace) copied() bool {
	select {
	case <-o.opened:
		return o.failure == nil && o.host.mover.copying()
	default:
		return false
	}
}

// fenced reports whether an open space was taken over by another server.
func (o *openSpace) fenced() bool {
	select {
	case <-o.opened:
		return o.failure == nil && errors.Is(o.host.Writable(), store.ErrFenced)
	default:
		return false
	}
}

// handOver closes all spaces, and opens no more.
func (s *Spaces) handOver() {
	s.mu.Lock()
	var closing []*openSpace
	for _, o := range s.open {
		o.ending = true
		o.stop()
		closing = append(closing, o)
	}
	s.mu.Unlock()
	for _, o := range closing {
		<-o.closed
	}
}
