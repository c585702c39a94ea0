package cluster_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/cluster"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// table is a store.Servers in memory, whose servers are gone when the test says so.
type table struct {
	mu      sync.Mutex
	servers map[string]store.Server
	leases  map[string]string // by space
	fail    error
	slow    chan struct{} // until which a lease is being taken; nil: it is not
}

func newTable() *table {
	return &table{servers: map[string]store.Server{}, leases: map[string]string{}}
}

func (d *table) Renew(_ context.Context, s store.Server, term time.Duration) (store.Table, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return store.Table{}, d.fail
	}
	s.Left = term
	d.servers[s.ID] = s
	return d.table(), nil
}

func (d *table) table() (t store.Table) {
	for _, s := range d.servers {
		t.Servers = append(t.Servers, s)
	}
	for space, id := range d.leases {
		t.Leases = append(t.Leases, store.Lease{Space: space, Server: id, Address: d.servers[id].Address, Gone: d.servers[id].Left <= 0})
	}
	return t
}

func (d *table) List(context.Context) (store.Table, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.table(), d.fail
}

func (d *table) Lead(_ context.Context, space, id string) (store.Lease, error) {
	defer func() {
		if d.slow != nil {
			<-d.slow
		}
	}()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.servers[d.leases[space]].Left <= 0 {
		d.leases[space] = id
	}
	return store.Lease{Space: space, Server: d.leases[space], Address: d.servers[d.leases[space]].Address}, d.fail
}

func (d *table) Release(_ context.Context, space, id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.leases[space] == id {
		delete(d.leases, space)
	}
	return d.fail
}

func (d *table) Leave(_ context.Context, id string) error { return d.gone(id) }

func (d *table) Create(context.Context, string) error { return nil }

func (d *table) Close() error { return nil }

// gone has a server count as gone.
func (d *table) gone(id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.servers[id]
	s.Left = 0
	d.servers[id] = s
	return nil
}

func (d *table) setFail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = err
}

func member(t *testing.T, d *table, address string, term time.Duration) *cluster.Member {
	t.Helper()
	m := cluster.New(cluster.Options{Table: d, Address: address, Term: term})
	must.Do(t, m.Join(t.Context()))
	return m
}

// A server that opens many spaces takes many leases, and would lose those that it has.
func TestAServerRenewsWhileALeaseIsBeingTaken(t *testing.T) {
	d := newTable()
	m := member(t, d, "a:1", time.Minute)
	d.slow = make(chan struct{})
	led, renewed := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := m.Lead(t.Context(), "work")
		led <- err
	}()
	await.That(t, "the table has the lease", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.leases["work"] == m.ID()
	})
	go func() { renewed <- m.Join(t.Context()) }()
	await.That(t, "it renews meanwhile", func() bool { return len(renewed) == 1 })
	close(d.slow)
	for what, err := range map[string]error{"renew": <-renewed, "take the lease": <-led} {
		if err != nil {
			t.Errorf("%s: got %v, want no error", what, err)
		}
	}
	must.Do(t, m.Join(t.Context()))
	if !m.Leads("work") {
		t.Error("the lease that was being taken was given up")
	}
}

func TestALeaderThatCannotRenewStopsAndGoesOnIfNobodyTookOver(t *testing.T) {
	d := newTable()
	m := member(t, d, "a:1", 20*time.Millisecond)
	lead := must.Get(m.Lead(t.Context(), "work"))
	d.setFail(errors.New("the database does not answer"))
	await.That(t, "it stops before its term is over", func() bool { return lead.Check() != nil })
	if err := m.Ready(); err == nil {
		t.Error("a server whose term is over: got that it is ready, want why it is not")
	}
	d.setFail(nil)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go m.Run(ctx, func() {})
	await.That(t, "it leads again", func() bool { return lead.Check() == nil })
	d.mu.Lock()
	d.leases["work"] = "another"
	d.mu.Unlock()
	await.That(t, "it has lost the space to another server", func() bool {
		select {
		case <-lead.Lost():
			return lead.Check() != nil
		default:
			return false
		}
	})
}

func TestEachSpaceHasOnePlaceAndKeepsItWhenAnotherServerComesOrGoes(t *testing.T) {
	d := newTable()
	a, b := member(t, d, "a:1", time.Hour), member(t, d, "b:1", time.Hour)
	must.Do(t, a.Join(t.Context())) // it sees b
	before := map[string]string{}
	mine := 0
	for i := range 100 {
		space := fmt.Sprint("s", i)
		to, of := must.Get(a.Route(space)), must.Get(b.Route(space))
		if to.Here == of.Here || to.Server != of.Server {
			t.Errorf("%s: one routes to %+v, the other to %+v, want the same server", space, to, of)
		}
		if before[space] = to.Server; to.Here {
			mine++
		}
	}
	if mine < 25 || mine > 75 {
		t.Errorf("of 100 spaces one of two servers has %d, want about half", mine)
	}
	c := member(t, d, "c:1", time.Hour)
	moved := 0
	for space, was := range before {
		if now := must.Get(c.Route(space)); now.Server != was {
			if moved++; !now.Here {
				t.Errorf("%s moves between two servers that stay", space)
			}
		}
	}
	if moved == 0 || moved > 60 {
		t.Errorf("of 100 spaces a third server takes %d, want about a third", moved)
	}
}

func TestAServerThatIsDrainedTakesNoSpaces(t *testing.T) {
	d := newTable()
	a, b := member(t, d, "a:1", time.Hour), member(t, d, "b:1", time.Hour)
	must.Do(t, a.Drain(t.Context()))
	must.Do(t, b.Join(t.Context()))
	for i := range 10 {
		space := fmt.Sprint("s", i)
		if to := must.Get(b.Route(space)); !to.Here {
			t.Errorf("%s goes to %+v, want the server that is not drained", space, to)
		}
		if _, err := a.Lead(t.Context(), space); !cluster.Again(err) {
			t.Errorf("the drained server leads %s: got %v, want an error after which others are asked", space, err)
		}
	}
}

func TestTheSpacesOfAServerThatIsGoneHaveANewLeader(t *testing.T) {
	d := newTable()
	a, b := member(t, d, "a:1", time.Hour), member(t, d, "b:1", time.Hour)
	for i := range 10 {
		must.Get(a.Lead(t.Context(), fmt.Sprint("s", i)))
	}
	if list := b.Orphans(); len(list) > 0 {
		t.Errorf("while their leader runs: got the orphans %q, want none", list)
	}
	must.Do(t, d.gone(a.ID()))
	must.Do(t, b.Join(t.Context()))
	if list := b.Orphans("default"); len(list) != 11 {
		t.Errorf("got the orphans %q, want all ten and the default space", list)
	}
}

// peers are a server that forwards, and one that is forwarded to.
type peers struct {
	member  *cluster.Member
	forward *cluster.Forwarder
	to      cluster.Route
	table   *table
}

func newPeers(t *testing.T, handler http.Handler, keys ...string) peers {
	t.Helper()
	at := must.Get(cluster.NewCredentials([]byte(keys[0])))
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	server := &http.Server{Handler: handler}
	go server.Serve(tls.NewListener(l, at.Server()))
	t.Cleanup(func() { server.Close() })
	d := newTable()
	m := member(t, d, "a:1", time.Hour)
	d.servers["b"] = store.Server{ID: "b", Left: time.Hour}
	forward := cluster.NewForwarder(m, must.Get(cluster.NewCredentials([]byte(keys[1]))), slog.New(slog.DiscardHandler))
	t.Cleanup(forward.Close)
	return peers{m, forward, cluster.Route{Server: "b", Address: l.Addr().String()}, d}
}

const (
	key      = "0123456789abcdef0123456789abcdef"
	otherKey = "fedcba9876543210fedcba9876543210"
)

func TestOnlyServersWithTheKeyOfTheClusterAreAnswered(t *testing.T) {
	answers := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "served") })
	for _, keys := range [][]string{{key, key}, {key, otherKey}, {otherKey, key}} {
		p := newPeers(t, answers, keys...)
		w := httptest.NewRecorder()
		err := p.forward.Forward(w, httptest.NewRequest("POST", "/operation", strings.NewReader("x")), p.to, "/s/work/operation")
		if served := err == nil && w.Body.String() == "served"; served != (keys[0] == keys[1]) {
			t.Errorf("keys %q: got %v %q, want that it is served if they are equal", keys, err, w.Body)
		}
	}
	p := newPeers(t, answers, key, key)
	plain := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer plain.CloseIdleConnections()
	if answer, err := plain.Get("https://" + p.to.Address + "/s/work/mcp"); err == nil {
		answer.Body.Close()
		t.Errorf("a client without a certificate: got %s, want no answer", answer.Status)
	}
	if answer, err := http.Get("http://" + p.to.Address + "/s/work/mcp"); err == nil {
		defer answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			t.Errorf("a client without TLS: got %s, want no answer", answer.Status)
		}
	}
}

func TestCredentialsNeedALongKey(t *testing.T) {
	for _, n := range []int{0, cluster.KeyLeast - 1, cluster.KeyMost + 1} {
		if _, err := cluster.NewCredentials(make([]byte, n)); err == nil {
			t.Errorf("a key of %d bytes: got no error, want one", n)
		}
	}
}

func TestServersWithOneKeyHaveOneTokenForASpaceAndNoneForAnother(t *testing.T) {
	a, b, other := must.Get(cluster.NewCredentials([]byte(key))), must.Get(cluster.NewCredentials([]byte(key))), must.Get(cluster.NewCredentials([]byte(otherKey)))
	token := must.Get(a.Token("work"))
	if same := must.Get(b.Token("work")); same != token {
		t.Errorf("two servers have the tokens %q and %q, want the same", token, same)
	}
	if must.Get(a.Token("home")) == token || must.Get(other.Token("work")) == token {
		t.Error("another space or cluster has the same token, want another")
	}
}

func TestARequestThatWasNotServedCanBeSentAgainWithItsBody(t *testing.T) {
	moved := true
	p := newPeers(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if moved {
			moved = false
			cluster.Moved(w)
			return
		}
		io.Copy(w, r.Body)
	}), key, key)
	r := httptest.NewRequest("POST", "/operation", strings.NewReader("the body"))
	must.Do(t, cluster.Hold(r))
	w := httptest.NewRecorder()
	if err := p.forward.Forward(w, r, cluster.Route{Server: "b", Address: "127.0.0.1:1"}, "/s/work/operation"); !cluster.Again(err) || w.Body.Len() > 0 {
		t.Errorf("a server that is not reached: got %v and %q, want an error and nothing written", err, w.Body)
	}
	cluster.Rewind(r)
	if err := p.forward.Forward(w, r, p.to, "/s/work/operation"); !cluster.Again(err) || w.Body.Len() > 0 {
		t.Errorf("a server that does not lead: got %v and %q, want an error and nothing written", err, w.Body)
	}
	cluster.Rewind(r)
	if err := p.forward.Forward(w, r, p.to, "/s/work/operation"); err != nil || w.Body.String() != "the body" {
		t.Errorf("the leader: got %v and %q, want the body", err, w.Body)
	}
}

func TestARequestIsAnsweredWhenItsLeaderIsGone(t *testing.T) {
	serving, release := make(chan struct{}), make(chan struct{})
	p := newPeers(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(serving)
		<-release
	}), key, key)
	defer close(release)
	w, done := httptest.NewRecorder(), make(chan error)
	go func() {
		done <- p.forward.Forward(w, httptest.NewRequest("GET", "/mcp", nil), p.to, "/s/work/mcp")
	}()
	<-serving
	must.Do(t, p.table.gone("b"))
	must.Do(t, p.member.Join(t.Context()))
	if err := <-done; err != nil || w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), `"retryable":true`) {
		t.Errorf("got %v, %d and %s, want an answer that it can be retried", err, w.Code, w.Body)
	}
}

func TestACancelledRequestIsCancelledAtItsLeader(t *testing.T) {
	serving, cancelled := make(chan struct{}), make(chan struct{})
	p := newPeers(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(serving)
		<-r.Context().Done()
		close(cancelled)
	}), key, key)
	ctx, cancel := context.WithCancel(t.Context())
	go p.forward.Forward(httptest.NewRecorder(), httptest.NewRequest("GET", "/mcp", nil).WithContext(ctx), p.to, "/s/work/mcp")
	<-serving
	cancel()
	<-cancelled
}

func TestAForwardedRequestIsNotForwardedAgain(t *testing.T) {
	p := newPeers(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Header.Get("Alcove-Hop")) }), key, key)
	w := httptest.NewRecorder()
	if err := p.forward.Forward(w, httptest.NewRequest("GET", "/mcp", nil), p.to, "/s/work/mcp"); err != nil || w.Body.String() != p.member.ID() {
		t.Errorf("the first hop: got %v and %q, want that it names the server", err, w.Body)
	}
	again := httptest.NewRequest("GET", "/mcp", nil)
	again.Header.Set("Alcove-Hop", w.Body.String())
	w = httptest.NewRecorder()
	if err := p.forward.Forward(w, again, p.to, "/s/work/mcp"); err != nil || w.Code != http.StatusLoopDetected {
		t.Errorf("the second hop: got %v and %d, want that it is refused", err, w.Code)
	}
}
