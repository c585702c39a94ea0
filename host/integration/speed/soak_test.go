package speed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/stress"
	"github.com/alcove-memory/alcove/sdk/client"
)

const (
	// soaking makes an owner that a test starts tell of its vitals, trim what is old, and live fast: its clock runs
	// soakHaste times as fast as the test's, so that what is kept for a day comes and goes.
	soaking   = "ALCOVE_TEST_SOAK"
	soakHaste = 200
	telling   = "ALCOVE_TEST_VITALS" // makes an owner that a test starts tell of its vitals
	soakAge   = 6 * time.Hour        // of the owner's time, that is kept of the past
	soakTrim  = 5 * time.Second      // between trims

	soakClients = 6
	soakPause   = 40 * time.Millisecond // between two calls of a client
	soakKeys    = 400                   // of each client
	soakPeriods = 30                    // of which figures are given
	soakStuck   = await.Limit           // without an answer, after which something waits for ever
)

// vitals are what an owner says of itself.
type vitals struct {
	Goroutines, Files int
	RSS, Heap, Stacks int64 // bytes
}

func vitalsSocket(dir string) string { return filepath.Join(dir, "vitals") }

// tellVitals serves the vitals of this process until ctx ends.
func tellVitals(ctx context.Context, dir string) {
	l, err := net.Listen("unix", vitalsSocket(dir))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	context.AfterFunc(ctx, func() { l.Close() })
	http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		runtime.GC() // what is garbage is not the question
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		v := vitals{Goroutines: runtime.NumGoroutine(), Heap: int64(m.HeapAlloc), Stacks: int64(m.StackInuse)}
		files, _ := os.ReadDir("/proc/self/fd")
		status, _ := os.ReadFile("/proc/self/status")
		v.Files, v.RSS = len(files), resident(string(status))
		json.NewEncoder(w).Encode(v)
	}))
}

// vitalsOf asks the owner of a data directory for its vitals.
func vitalsOf(t testing.TB, dir string) (v vitals) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", vitalsSocket(dir))
	}}}
	answer, err := client.Get("http://owner/")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// soakOwner is what an owner does in a soak beside serving.
func soakOwner(ctx context.Context, h *host.Host, dir string) {
	go tellVitals(ctx, dir)
	for tick := time.NewTicker(soakTrim); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			soakTrimAll(ctx, h.Memory())
		}
	}
}

// resident is how much memory a process has, in bytes.
func resident(status string) int64 {
	for line := range strings.Lines(status) {
		if text, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kilobytes, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "kB")), 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}

func soakTrimAll(ctx context.Context, s *memory.Space) {
	before := memory.AsOf{Time: fastClock().Add(-soakAge)}
	branches, err := server.As(s, "").Branches(ctx)
	for _, b := range branches {
		if _, trimErr := s.Trim(ctx, b.Name, before); trimErr != nil && ctx.Err() == nil && !isNotFound(trimErr) {
			err = errors.Join(err, trimErr)
		}
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "soak: trim:", err)
	}
}

func isNotFound(err error) bool {
	var e *memory.Error
	return errors.As(err, &e) && e.Code == memory.NotFound
}

// fastClock is the clock of an owner in a soak.
func fastClock() time.Time {
	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return epoch.Add(time.Since(epoch) % (24 * 365 * time.Hour) * soakHaste)
}

// soak is a load on a server, and what is measured of it.
type soak struct {
	*server.Process
	mu    sync.Mutex
	took  []time.Duration // calls since the last measurement
	yard  []time.Duration // what the machine took for something that is always the same
	total int
}

// yardstick writes and syncs a page, again and again: on a shared machine it tells how fast everything is.
func (s *soak) yardstick(ctx context.Context) {
	f, err := os.Create(filepath.Join(s.T.TempDir(), "yardstick"))
	if err != nil {
		s.T.Error(err)
		return
	}
	defer f.Close()
	page := make([]byte, 4096)
	for pace := time.NewTicker(soakPause); ctx.Err() == nil; <-pace.C {
		began := time.Now()
		_, err := f.WriteAt(page, 0)
		if err = errors.Join(err, f.Sync()); err != nil {
			s.T.Error(err)
			return
		}
		s.mu.Lock()
		s.yard = append(s.yard, time.Since(began))
		s.mu.Unlock()
	}
}

func (s *soak) call(session *client.Session, tool string, arguments map[string]any) (client.ToolResult, error) {
	began := time.Now()
	r, err := session.Call(context.Background(), tool, arguments)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = append(s.took, time.Since(began))
	s.total++
	return r, err
}

// worker is one client of a soak, which writes to keys of its own.
type worker struct {
	*soak
	session *client.Session
	name    string
	random  *rand.Rand
	held    map[string]string // what each of its keys must hold
	round   int
}

func (w *worker) run(ctx context.Context) error {
	pace := time.NewTicker(soakPause)
	defer pace.Stop()
	for ; ctx.Err() == nil; w.round++ {
		if err := w.act(); err != nil {
			return fmt.Errorf("%s, call %d: %w", w.name, w.round, err)
		}
		<-pace.C
	}
	return w.verify()
}

func (w *worker) act() error {
	key := fmt.Sprintf("%s/%d", w.name, w.random.IntN(soakKeys))
	switch n := w.random.IntN(100); {
	case n < 35:
		return w.store(key)
	case n < 60:
		return w.recall(key)
	case n < 85:
		_, err := w.call(w.session, "memory_search", map[string]any{"query": soakWord(w.random) + " " + soakWord(w.random), "k": 5})
		return err
	case n < 86:
		_, err := w.call(w.session, "memory_log", map[string]any{"event": "soak", "data": w.round})
		return err
	case n < 92:
		delete(w.held, key)
		_, err := w.call(w.session, "memory_forget", map[string]any{"key": key})
		return err
	case n < 94:
		_, err := w.call(w.session, "memory_history", map[string]any{"key": key})
		return err
	case n < 95:
		return w.excursion()
	}
	_, err := w.call(w.session, "memory_status", map[string]any{})
	return err
}

func soakWord(r *rand.Rand) string { return fmt.Sprintf("word%d", r.IntN(2000)) }

func (w *worker) store(key string) error {
	text := fmt.Sprintf("%s %d", key, w.round)
	for range 20 {
		text += " " + soakWord(w.random)
	}
	w.held[key] = text
	_, err := w.call(w.session, "memory_store", map[string]any{"key": key, "value": text, "tags": []string{w.name}})
	return err
}

func (w *worker) recall(key string) error {
	r, err := w.call(w.session, "memory_recall", map[string]any{"key": key})
	if err != nil {
		return err
	}
	var found struct{ Value string }
	if err := server.Decode(r, &found); err != nil || found.Value != w.held[key] {
		return fmt.Errorf("%s holds %.60q, not %.60q (%w)", key, found.Value, w.held[key], err)
	}
	return nil
}

// excursion forks a branch, writes to it, merges it or not, and deletes it.
func (w *worker) excursion() error {
	branch := fmt.Sprintf("%s-%d", w.name, w.round)
	if _, err := w.call(w.session, "memory_branch", map[string]any{"action": "fork", "name": branch}); err != nil {
		return err
	}
	for i := range 3 {
		args := map[string]any{"key": fmt.Sprintf("%s/branched%d", w.name, i), "value": branch, "branch": branch}
		if _, err := w.call(w.session, "memory_store", args); err != nil {
			return err
		}
	}
	if w.random.IntN(2) == 0 {
		args := map[string]any{"action": "merge", "source": branch, "strategy": "source"}
		if _, err := w.call(w.session, "memory_branch", args); err != nil {
			return err
		}
	}
	_, err := w.call(w.session, "memory_branch", map[string]any{"action": "delete", "name": branch, "force": true})
	return err
}

// verify makes sure that every key holds what it must.
func (w *worker) verify() error {
	for key := range w.held {
		if err := w.recall(key); err != nil {
			return fmt.Errorf("at the end: %w", err)
		}
	}
	return nil
}

// figure is what was measured in a period.
type figure struct {
	vitals
	File     int64         // bytes of the database that are used
	P50, P99 time.Duration // of all calls
	Yard     time.Duration // p99 of the yardstick
	Calls    int
}

func (f figure) String() string {
	return fmt.Sprintf("%6d calls, p50 %7s, p99 %7s (a synced page %7s), RSS %4d MB, heap %5.1f MB, %3d files, %3d goroutines, database %5.1f MB",
		f.Calls, f.P50.Round(time.Microsecond*10), f.P99.Round(time.Microsecond*10), f.Yard.Round(time.Microsecond*10), f.RSS>>20, float64(f.Heap)/(1<<20), f.Files, f.Goroutines, float64(f.File)/(1<<20))
}

func (s *soak) measure() figure {
	s.T.Helper()
	f := figure{vitals: vitalsOf(s.T, s.Dir)}
	f.File = usedBytes(s.T, filepath.Join(s.Dir, "alcove.db"))
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Calls, f.P50, f.P99 = len(s.took), percentile(s.took, 50), percentile(s.took, 99)
	f.Yard = percentile(s.yard, 99)
	s.took, s.yard = nil, nil
	return f
}

func percentile(took []time.Duration, p int) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)*p/100]
}

func soakDuration(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("ALCOVE_SOAK")
	if text == "" {
		return 5 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("ALCOVE_SOAK: %v", err)
	}
	return d
}

// TestSoak puts a mixed load on a server and makes sure that what it takes stays level. ALCOVE_SOAK=30m makes it long.
func TestSoak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory and open files of another process are read from /proc, which is there on Linux only")
	}
	if os.Getenv("ALCOVE_SOAK") == "" && !stress.Turn(t, 4) {
		t.Skip("it runs on one day of four: ALCOVE_SOAK=5s runs it")
	}
	lasting := soakDuration(t)
	t.Setenv(soaking, "1")
	s := &soak{Process: server.NewProcess(t, "")}
	ctx, cancel := context.WithTimeout(t.Context(), lasting)
	defer cancel()
	var workers sync.WaitGroup
	workers.Go(func() { s.yardstick(ctx) })
	for i := range soakClients {
		session, err := server.Session(t.Context(), s.Dial)
		if err != nil {
			t.Fatal(err)
		}
		w := &worker{soak: s, session: session, name: fmt.Sprint("client", i), random: rand.New(rand.NewPCG(uint64(i), 2)), held: map[string]string{}}
		workers.Go(func() {
			defer session.Close()
			if err := w.run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	var figures []figure
	var silent time.Duration
	for period := time.NewTicker(lasting / soakPeriods); len(figures) < soakPeriods && !t.Failed(); {
		<-period.C
		f := s.measure()
		figures = append(figures, f)
		t.Logf("%3d: %s", len(figures), f)
		if silent += lasting / soakPeriods; f.Calls > 0 {
			silent = 0
		}
		if silent > soakStuck {
			t.Fatalf("nothing was answered for %s", silent)
		}
	}
	cancel()
	workers.Wait()
	if !t.Failed() {
		judge(t, figures, lasting)
	}
	s.Gate.Lock()
	defer s.Gate.Unlock()
	h, engine := s.Kill()
	if err := errors.Join(engine.Check(t.Context()), h.Close()); err != nil {
		t.Error(err)
	}
	t.Logf("%d calls in %s", s.total, lasting)
}

// judge compares the last third of a soak with the one before it.
func judge(t *testing.T, figures []figure, lasting time.Duration) {
	t.Helper()
	third := len(figures) / 3
	middle, last := average(figures[third:2*third]), average(figures[2*third:])
	t.Logf("middle third: %s", middle)
	t.Logf("last third:   %s", last)
	tolerance, growth := 1.1, 100.0 // bytes
	if lasting < 10*time.Minute {
		tolerance, growth = 1.6, 1000 // there is still more to remember with each call
	}
	level := func(what string, before, after, slack float64) {
		t.Helper()
		if after > before*tolerance+slack {
			t.Errorf("%s grew from %.1f to %.1f", what, before, after)
		}
	}
	level("memory, in MB,", float64(middle.RSS)/1e6, float64(last.RSS)/1e6, 10)
	level("the heap, in MB,", float64(middle.Heap)/1e6, float64(last.Heap)/1e6, 2)
	level("open files", float64(middle.Files), float64(last.Files), 2)
	level("goroutines", float64(middle.Goroutines), float64(last.Goroutines), 8)
	if lasting >= time.Minute { // the slowest of the few dozen calls that a period has otherwise tells of the machine
		// Time is compared with what the machine takes for the same work meanwhile.
		slower := max(1, last.Yard.Seconds()/middle.Yard.Seconds())
		level("p99, in ms,", middle.P99.Seconds()*1e3*slower, last.P99.Seconds()*1e3, 20)
	}
	// Each commit leaves its instant, each event itself, each branch that it was there: that is all that may stay.
	perCall := float64(last.File-middle.File) / float64(third*(middle.Calls+last.Calls)/2)
	t.Logf("the database grew by %.0f bytes with each call", perCall)
	if perCall > growth {
		t.Errorf("at most %.0f may stay", growth)
	}
	if last.Calls == 0 || last.RSS == 0 || last.File == 0 {
		t.Error("nothing was measured")
	}
}

func average(figures []figure) figure {
	var sum figure
	n := len(figures)
	for _, f := range figures {
		sum.RSS += f.RSS / int64(n)
		sum.Heap += f.Heap / int64(n)
		sum.File += f.File / int64(n)
		sum.P50 += f.P50 / time.Duration(n)
		sum.P99 += f.P99 / time.Duration(n)
		sum.Yard += f.Yard / time.Duration(n)
		sum.Calls += f.Calls / n
		sum.Files = max(sum.Files, f.Files)
		sum.Goroutines = max(sum.Goroutines, f.Goroutines)
	}
	return sum
}
