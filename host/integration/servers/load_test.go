package servers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space/folder"
	"github.com/alcove-memory/alcove/host/testing/linear"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

const (
	loadSpaces  = 3
	loadClients = 3                      // of each space
	loadPace    = 10 * time.Millisecond  // between two questions of a client, so that servers have the processor
	loadKeys    = 2                      // that are fought over at a time
	loadEpoch   = 100                    // operations after which the clients of a space go on to other keys
	loadRounds  = 3                      // servers that fail, in the short form
	loadWithin  = 2 * time.Second        // for an answer, before another server is asked
	loadProbe   = 200 * time.Millisecond // between two questions whether a server is ready, and for an answer
)

// room is a space that clients of all servers use.
type room struct {
	path    string // of its addresses
	key     string
	history *linear.History
	count   atomic.Int64
}

// load is clients that ask servers which come and go.
type load struct {
	t       *testing.T
	urls    []atomic.Pointer[string] // of the servers
	ready   []atomic.Bool            // whether they are, as they last said
	rooms   []*room
	longest atomic.Int64 // ns that a client waited for an answer, since it was last asked for
	repeats atomic.Int64
	client  http.Client
}

func newLoad(t *testing.T, list []*server.Sharing) *load {
	t.Helper()
	l := &load{t: t, urls: make([]atomic.Pointer[string], len(list)), ready: make([]atomic.Bool, len(list))}
	l.client.Transport = &http.Transport{MaxIdleConnsPerHost: loadSpaces * loadClients}
	t.Cleanup(l.client.CloseIdleConnections)
	for i, s := range list {
		l.at(i, s)
	}
	l.rooms = append(l.rooms, &room{key: issue(t, list[0]), history: linear.New()})
	for i := range loadSpaces - 1 {
		name := fmt.Sprint("s", i)
		l.rooms = append(l.rooms, &room{path: "/s/" + name, key: issueIn(t, list[i%len(list)], name), history: linear.New()})
	}
	return l
}

// at says where a server is.
func (l *load) at(i int, s *server.Sharing) {
	url := s.URL()
	l.urls[i].Store(&url)
}

// issueIn makes a space by way of a server, as commands on its machine do, and a key of it.
func issueIn(t *testing.T, s *server.Sharing, name string) string {
	t.Helper()
	dir := must.Get(folder.Folder{Path: filepath.Join(s.Dir, "spaces")}.Create(name))
	conn := must.Get(owner.Connect(t.Context(), s.At.Socket, owner.Hello{Space: name}))
	conn.Close()
	key, err := operator.Call(t.Context(), server.Operator(t, dir), operator.CreateKey, operator.KeyRequest{Agent: "ann", Rights: server.ReadWrite, Namespaces: []string{"*"}})
	if err != nil {
		t.Fatalf("make a key of the space %s: %v", name, err)
	}
	return key.Secret
}

// run has clients ask until stop is called.
func (l *load) run() (stop func()) {
	ctx, cancel := context.WithCancel(l.t.Context())
	var clients sync.WaitGroup
	for server := range l.urls {
		clients.Go(func() { l.probe(ctx, server) })
	}
	for r := range l.rooms {
		for c := range loadClients {
			clients.Go(func() { l.use(ctx, l.rooms[r], c) })
		}
	}
	return func() {
		cancel()
		clients.Wait()
	}
}

func (l *load) use(ctx context.Context, r *room, id int) {
	random := rand.New(rand.NewPCG(uint64(id), 1))
	seen := map[string]int64{} // versions, as this client last saw them
	for n := 0; ctx.Err() == nil; n++ {
		in := linear.Asked{Key: fmt.Sprintf("k%d/%d", r.count.Load()/loadEpoch, random.IntN(loadKeys)), Expect: -1}
		switch value := fmt.Sprintf("%d-%d", id, n); random.IntN(10) {
		case 0:
			in.Kind = "forget"
		case 1, 2, 3:
			in.Kind = "get"
		case 4:
			in.Kind, in.Value = "put", value
		default:
			in.Kind, in.Value, in.Expect = "put", value, seen[in.Key]
		}
		called := r.history.Now()
		out, err := l.ask(r, in, fmt.Sprintf("%s-%d-%d", r.path, id, n), random)
		if err != nil {
			l.t.Errorf("client %d of %q: %+v: %v", id, r.path, in, err)
			return
		}
		if in.Kind != "forget" {
			seen[in.Key] = int64(out.Version)
		}
		r.history.Add(id, in, out, called)
		r.count.Add(1)
		time.Sleep(loadPace)
	}
}

// ask asks servers that are ready until one answers, always with the same request id, as a client behind a balancer of load does.
func (l *load) ask(r *room, in linear.Asked, request string, random *rand.Rand) (out linear.Got, err error) {
	began := time.Now()
	defer func() {
		for took := int64(time.Since(began)); ; {
			if was := l.longest.Load(); took <= was || l.longest.CompareAndSwap(was, took) {
				return
			}
		}
	}()
	last := errors.New("none was ready")
	for at := random.IntN(len(l.urls)); time.Since(began) < time.Minute; at++ { // or a test would hang
		server := at % len(l.urls)
		if !l.ready[server].Load() {
			time.Sleep(time.Millisecond)
			continue
		}
		status, body, err := l.send(r, in, *l.urls[server].Load(), request)
		if err == nil {
			var retryable bool
			if out, retryable, err = answerTo(in, status, body); !retryable {
				return out, err
			}
		}
		last = err
		l.repeats.Add(1)
		time.Sleep(time.Millisecond) // a server that has ended refuses at once
	}
	return out, fmt.Errorf("no server answered for a minute: %w", last)
}

// probe asks a server again and again whether it is ready, until ctx ends.
func (l *load) probe(ctx context.Context, server int) {
	for ctx.Err() == nil {
		l.ready[server].Store(l.isReady(ctx, *l.urls[server].Load()))
		time.Sleep(loadProbe)
	}
}

func (l *load) isReady(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, loadProbe)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return false
	}
	answer, err := l.client.Do(ask)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err == nil && answer.StatusCode == http.StatusOK
}

func (l *load) send(r *room, in linear.Asked, url, request string) (status int, body []byte, err error) {
	arguments := map[string]any{"key": in.Key}
	if in.Kind == "put" {
		arguments["value"] = in.Value
		if in.Expect >= 0 {
			arguments["if_version"] = in.Expect
		}
	}
	tool := map[string]string{"get": "memory_recall", "put": "memory_store", "forget": "memory_forget"}[in.Kind]
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.t.Context()), loadWithin)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodPost, url+r.path+"/operation/"+tool, bytes.NewReader(must.Get(json.Marshal(arguments))))
	if err != nil {
		return 0, nil, err
	}
	ask.Header.Set("Authorization", "Bearer "+r.key)
	ask.Header.Set("Idempotency-Key", request)
	answer, err := l.client.Do(ask)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(answer.Body)
	return answer.StatusCode, body, err
}

// answerTo reads an answer. retryable: it is an error after which the same request is to be sent again.
func answerTo(in linear.Asked, status int, body []byte) (out linear.Got, retryable bool, err error) {
	var a struct {
		Result struct {
			Version uint64
			Value   string
			Count   uint64
		}
		Error struct {
			Code      string
			Retryable bool
			Details   struct{ Version uint64 }
		}
	}
	err = json.Unmarshal(body, &a)
	switch {
	case err == nil && a.Error.Code == "E_CONFLICT" && in.Expect >= 0:
		return linear.Got{Version: a.Error.Details.Version, Conflict: true}, false, nil
	case err != nil || status != http.StatusOK || a.Error.Code != "":
		return out, a.Error.Retryable, fmt.Errorf("got %d %.300s (%v)", status, body, err)
	case in.Kind == "forget":
		return linear.Got{Version: a.Result.Count}, false, nil
	case in.Kind == "put":
		return linear.Got{Version: a.Result.Version}, false, nil
	}
	return linear.Got{Version: a.Result.Version, Value: a.Result.Value}, false, nil
}

// more waits until each space had some more answers.
func (l *load) more(n int64) {
	for _, r := range l.rooms {
		for until := r.count.Load() + n; r.count.Load() < until && !l.t.Failed(); {
			time.Sleep(time.Millisecond)
		}
	}
}

// faults are what happens to a server, and how it comes back.
func (l *load) faults() []fault {
	again := func(i int, s *server.Sharing) {
		s.Start()
		l.at(i, s)
	}
	return []fault{
		{"killed", (*server.Sharing).Kill, again},
		{"stopped", (*server.Sharing).Stop, again},
		{"frozen", (*server.Sharing).Freeze, func(_ int, s *server.Sharing) { s.Thaw() }},
	}
}

type fault struct {
	name string
	do   func(*server.Sharing)
	mend func(i int, s *server.Sharing)
}

// TestNothingIsLostOrDoneTwiceWhileServersAreKilledStoppedAndFrozen has clients of several spaces ask three servers, which fail in turn, and
// judges what each space answered.
func TestNothingIsLostOrDoneTwiceWhileServersAreKilledStoppedAndFrozen(t *testing.T) {
	t.Parallel()
	list := threeAsInProduction(t)
	l := newLoad(t, list)
	stop := l.run()
	faults, longest := l.faults(), map[string]time.Duration{}
	for round := range stress.FromEnvironment(t).Rounds(loadRounds) {
		if t.Failed() {
			break
		}
		l.more(loadEpoch / 4)
		at, f := round%len(list), faults[round/len(list)%len(faults)]
		if round < len(faults) {
			f = faults[round] // in the short form, too
		}
		l.longest.Store(0)
		f.do(list[at])
		l.more(loadEpoch / 4)
		f.mend(at, list[at])
		l.more(loadEpoch / 4)
		longest[f.name] = max(longest[f.name], time.Duration(l.longest.Load()).Round(time.Millisecond))
	}
	stop()
	l.judge(longest)
}

// judge fails the test if something was lost or done twice.
func (l *load) judge(longest map[string]time.Duration) {
	l.t.Helper()
	if l.t.Failed() {
		return // something has no answer, and may have been done: what others saw explains nothing
	}
	answered := 0
	for _, r := range l.rooms {
		answered += r.history.Len()
		if wrong := r.history.Judge(); wrong != "" {
			l.t.Errorf("the history of %q is not linearizable: %s", r.path, wrong)
		}
		if won, lost := r.history.Wins(); won == 0 || lost == 0 {
			l.t.Errorf("of the compare-and-sets in %q %d won and %d lost: both are needed", r.path, won, lost)
		}
	}
	l.t.Logf("%d answers, %d repeats, longest stalls %v", answered, l.repeats.Load(), longest)
}
