package speed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/bench/measure"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// following is how long the load of TestFollowersKeepUp lasts, such as 60s; without it, the short form has a twentieth of the clients.
const following = "ALCOVE_FOLLOW"

// followLoad is a load of agents that follow changes by polling and by streams, beside stores and searches.
type followLoad struct {
	memories, agents, streams, namespaces int
	stores, searches                      int           // per second
	every                                 time.Duration // between an agent's polls
	lasting                               time.Duration
}

func followLoadOf(t *testing.T) (l followLoad, long bool) {
	t.Helper()
	text := os.Getenv(following)
	if text == "" {
		return followLoad{memories: 300, agents: 20, streams: 50, namespaces: 5, stores: 50, searches: 5, every: 200 * time.Millisecond, lasting: 700 * time.Millisecond}, false
	}
	lasting, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("read %s: %v", following, err)
	}
	return followLoad{memories: 100_000, agents: 1000, streams: 1000, namespaces: 100, stores: 50, searches: 5, every: 5 * time.Second, lasting: lasting}, true
}

// followed is a run of a load.
type followed struct {
	followLoad
	t          *testing.T
	url, token string
	dir        string
	client     *http.Client
	texts      func(n int) string // of the nth memory
	begin      uint64             // watermark at which the load begins
	done       []atomic.Int64     // events of each namespace that were acknowledged
	stored     atomic.Int64

	mu                                sync.Mutex
	poll, store, search, lag, yardArm []time.Duration
}

func (f *followed) took(list *[]time.Duration, d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*list = append(*list, d)
}

// TestFollowersKeepUp checks that agents that poll and streams that are pushed to get every event, and prints how long everything took. make
// follow runs it with 1,000 of each, 50 stores a second and 100,000 memories, on a server process of its own.
func TestFollowersKeepUp(t *testing.T) {
	load, long := followLoadOf(t)
	f := &followed{followLoad: load, t: t, dir: t.TempDir(), done: make([]atomic.Int64, load.namespaces)}
	f.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: load.agents + 100}}
	f.texts = func(n int) string { return fmt.Sprint("tea from hill ", n) }
	stop := f.client.CloseIdleConnections // or the server waits for connections that it has not heard from
	if long {
		f.texts = synthetic()
		stop = f.startProcess()
		f.fill()
		stop() // a server that was just started has no garbage of the filling
		stop = f.startProcess()
	} else {
		s := server.Start(t, host.Options{Dir: f.dir})
		f.url, f.token = s.URL(), s.Token()
		f.fill()
	}
	defer stop()
	f.begin = uint64(f.operate(`{"method":"history"}`)["latest_version"].(float64))
	before := f.vitals(long)
	seen := f.openStreams()
	after := f.vitals(long)
	if n := int64(f.streams); long {
		t.Logf("%d idle streams: %d KB each of heap and stacks, %d KB each of resident memory, %d goroutines", n,
			(after.Heap+after.Stacks-before.Heap-before.Stacks)/n>>10, (after.RSS-before.RSS)/n>>10, after.Goroutines-before.Goroutines)
	}
	f.run(seen)
	t.Logf("%d memories, %d agents polling every %s, %d streams, %d stores in %s", f.memories, f.agents, f.every, f.streams, f.stored.Load(), f.lasting)
	for _, row := range []struct {
		name string
		took []time.Duration
	}{{"poll", f.poll}, {"store", f.store}, {"search", f.search}, {"event lag", f.lag}, {"the disk: 4 KiB written and synced", f.yardArm}} {
		t.Logf("%-36s p50 %8.2f ms  p99 %8.2f ms  of %d", row.name, ms(percentile(row.took, 50)), ms(percentile(row.took, 99)), len(row.took))
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// synthetic returns a function that makes texts whose words are as frequent as those of a language.
func synthetic() func(int) string {
	var mu sync.Mutex
	texts := measure.NewTexts(1)
	return func(int) string {
		mu.Lock()
		defer mu.Unlock()
		return texts.Text(10, 60)
	}
}

// startProcess starts a server in a process of its own.
func (f *followed) startProcess() (stop func()) {
	f.t.Helper()
	program, err := os.Executable()
	if err != nil {
		f.t.Fatal(err)
	}
	command := exec.Command(program, "serve", "--data", f.dir, "--auto")
	command.Env = append(os.Environ(), server.HTTP+"=127.0.0.1:0", telling+"=1")
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		f.t.Fatal(err)
	}
	await.That(f.t, "the server is found", func() bool {
		var record owner.Record
		data, err := os.ReadFile(owner.RecordPath(f.dir))
		if err != nil || json.Unmarshal(data, &record) != nil || record.PID != command.Process.Pid || record.HTTP == "" {
			return false
		}
		token, err := os.ReadFile(owner.TokenPath(f.dir))
		f.url, f.token = "http://"+record.HTTP, strings.TrimSpace(string(token))
		return err == nil
	})
	await.That(f.t, "the server is ready", func() bool {
		answer, err := f.client.Get(f.url + "/readyz")
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	return func() {
		command.Process.Signal(os.Interrupt)
		if err := command.Wait(); err != nil {
			f.t.Error(err)
		}
		f.client.CloseIdleConnections()
	}
}

func (f *followed) vitals(long bool) (v vitals) {
	f.t.Helper()
	if long && runtime.GOOS == "linux" {
		v = vitalsOf(f.t, f.dir)
	}
	return v
}

// operate runs an operation that must succeed, and returns its result.
func (f *followed) operate(body string) map[string]any {
	f.t.Helper()
	result, err := f.tryOperate(body)
	if err != nil {
		f.t.Fatal(err)
	}
	return result
}

func (f *followed) tryOperate(body string) (map[string]any, error) {
	r, err := http.NewRequest("POST", f.url+"/operation", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+f.token)
	answer, err := f.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	var o struct {
		Result map[string]any
		Error  any
	}
	if err := json.Unmarshal(text, &o); err != nil || o.Error != nil || answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%.200s is answered with %d %.500s", body, answer.StatusCode, text)
	}
	return o.Result, nil
}

// fill stores the memories.
func (f *followed) fill() {
	f.t.Helper()
	for done := 0; done < f.memories; {
		var items bytes.Buffer
		for n := 0; n < 100 && done < f.memories; n++ {
			fmt.Fprintf(&items, `,{"key":"old-%d","type":%q,"importance":%.2f,"value":%q}`, done, []string{"observation", "decision", "plan"}[done%3], float64(done%100)/100, f.texts(done))
			done++
		}
		f.operate(`{"method":"store","params":{"namespace":"old","items":[` + items.String()[1:] + `]}}`)
	}
}

func (f *followed) namespace(n int) string { return fmt.Sprintf("team/%d", n%f.namespaces) }

// openStreams opens the streams, each subscribed to one namespace, and returns the number of events that each has seen.
func (f *followed) openStreams() (seen []atomic.Int64) {
	f.t.Helper()
	seen = make([]atomic.Int64, f.streams)
	for i := range f.streams {
		ws, _, err := server.DialStream(f.t.Context(), f.url, f.token, nil)
		if err != nil {
			f.t.Fatal(err)
		}
		f.t.Cleanup(func() { ws.CloseNow() })
		text := fmt.Sprintf(`{"type":"subscribe","id":%d,"namespaces":[%q],"watermark":%d}`, i, f.namespace(i), f.begin)
		if err := ws.Write(f.t.Context(), websocket.MessageText, []byte(text)); err != nil {
			f.t.Fatal(err)
		}
		if p, err := server.ReadStream(f.t.Context(), ws); err != nil || p.Type != "subscribed" {
			f.t.Fatalf("subscribe: %+v, %v, want subscribed", p, err)
		}
		go func() {
			for {
				p, err := server.ReadStream(f.t.Context(), ws)
				if err != nil {
					return // the end of the test
				}
				if p.Type == "event" {
					f.took(&f.lag, time.Since(p.Timestamp))
					seen[i].Add(1)
				}
			}
		}()
	}
	return seen
}

// run puts the load on the server until it is over and everybody has seen everything.
func (f *followed) run(seen []atomic.Int64) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), f.lasting)
	defer cancel()
	var workers, polling sync.WaitGroup
	until, stopPolling := context.WithCancel(f.t.Context())
	defer stopPolling()
	workers.Go(func() { f.paced(ctx, f.stores, f.storeOne) })
	workers.Go(func() {
		f.paced(ctx, f.searches, func(n int) func() {
			question := strings.Join(strings.Fields(f.texts(n))[:3], " ")
			return func() {
				begun := time.Now()
				if _, err := f.tryOperate(fmt.Sprintf(`{"method":"search","params":{"query":%q}}`, question)); err != nil {
					f.t.Error(err)
				}
				f.took(&f.search, time.Since(begun))
			}
		})
	})
	workers.Go(func() { f.yardstick(ctx) })
	polled := make([]atomic.Int64, f.agents)
	for i := range f.agents {
		polling.Go(func() { f.pollOn(until, i, &polled[i]) })
	}
	workers.Wait()
	all := func(counts []atomic.Int64) func() bool {
		return func() bool {
			for i := range counts {
				if counts[i].Load() != f.done[i%f.namespaces].Load() {
					return f.t.Failed()
				}
			}
			return true
		}
	}
	await.That(f.t, "each stream has seen each event of its namespace once", all(seen))
	await.That(f.t, "each agent has polled each event of its namespace once", all(polled))
	stopPolling()
	polling.Wait()
	if f.stored.Load() == 0 || len(f.lag) == 0 {
		f.t.Error("nothing was stored, or nothing followed")
	}
}

// paced makes so many calls a second, without waiting for their ends: do prepares the nth.
func (f *followed) paced(ctx context.Context, perSecond int, do func(n int) func()) {
	var calls sync.WaitGroup
	defer calls.Wait()
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			calls.Go(do(n))
		}
	}
}

func (f *followed) storeOne(n int) func() {
	body := fmt.Sprintf(`{"method":"store","params":{"namespace":%q,"key":"new-%d","value":%q}}`, f.namespace(n), n, f.texts(n))
	return func() {
		begun := time.Now()
		if _, err := f.tryOperate(body); err != nil {
			f.t.Error(err)
			return
		}
		f.took(&f.store, time.Since(begun))
		f.stored.Add(1)
		f.done[n%f.namespaces].Add(1)
	}
}

// pollOn polls as an agent does, at moments of its own, until ctx ends.
func (f *followed) pollOn(ctx context.Context, i int, polled *atomic.Int64) {
	watermark := f.begin
	for pause := time.Duration(rand.Int64N(int64(f.every))); ; pause = f.every {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		for more := true; more; {
			begun := time.Now()
			result, err := f.tryOperate(fmt.Sprintf(`{"method":"poll_events","params":{"agentId":"agent-%d","lastWatermark":%d,"scopeId":%q}}`, i, watermark, f.namespace(i)))
			if err != nil {
				f.t.Error(err)
				return
			}
			f.took(&f.poll, time.Since(begun))
			polled.Add(int64(len(result["events"].([]any))))
			watermark, more = uint64(result["latestWatermark"].(float64)), result["hasMore"].(bool)
		}
	}
}

// yardstick writes and syncs a page now and then: what the disk takes.
func (f *followed) yardstick(ctx context.Context) {
	file, err := os.Create(filepath.Join(f.t.TempDir(), "yardstick"))
	if err != nil {
		f.t.Error(err)
		return
	}
	defer file.Close()
	page := make([]byte, 4096)
	f.paced(ctx, 10, func(int) func() {
		begun := time.Now()
		_, err := file.WriteAt(page, 0)
		if err == nil {
			err = file.Sync()
		}
		if err != nil {
			f.t.Error(err)
		}
		f.took(&f.yardArm, time.Since(begun))
		return func() {}
	})
}
