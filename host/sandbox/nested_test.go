package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// family is a guest that calls its host once and returns the response.
func family(t testing.TB, s *Sandbox, name string) *Module {
	t.Helper()
	manifest := fmt.Sprintf(`{"abi":1,"name":%q,"version":"1.0.0","description":"Asks."}`, name)
	module, err := Pack(testdata(t, "guests/wat.wasm"), []byte(manifest))
	must.Do(t, err)
	m, err := s.Admit(context.Background(), module, Options{})
	must.Do(t, err)
	return m
}

// chain is a host whose operation calls the next of some modules.
type chain struct{ next []*Module }

func (c chain) Call(ctx context.Context, _ abi.Op, _ []byte) ([]byte, error) {
	if len(c.next) == 0 {
		return []byte(`"the end"`), nil
	}
	r, err := c.next[0].Call(ctx, Request{Kind: abi.KindTool, Payload: []byte("{}"), Host: chain{c.next[1:]}})
	switch {
	case err != nil:
		return nil, err
	case r.Error != nil:
		return nil, r.Error
	}
	return r.Output, nil
}

func callChain(t *testing.T, modules ...*Module) *Result {
	t.Helper()
	r, err := modules[0].Call(t.Context(), Request{Kind: abi.KindTool, Payload: []byte("{}"), Host: chain{modules[1:]}})
	must.Do(t, err)
	return r
}

func TestGuestCallsNestFourDeepAndNeverReenter(t *testing.T) {
	config := testConfig(t)
	config.Running = 1 // the nested call needs the slot that its caller releases
	s := newSandbox(t, config)
	var m []*Module
	for _, name := range []string{"one", "two", "three", "four", "five"} {
		m = append(m, family(t, s, name))
	}
	if r := callChain(t, m[:4]...); string(r.Output) != `"the end"` {
		t.Errorf("four deep: %s, %v", r.Class, r.Error)
	}
	if r := callChain(t, m...); r.Class != abi.ClassError || r.Error.Code != abi.CodeDenied || !strings.Contains(r.Error.Message, "at most 4 deep") {
		t.Errorf("five deep: %s, %v", r.Class, r.Error)
	}
	if r := callChain(t, m[0], m[1], m[0]); r.Class != abi.ClassError || r.Error.Code != abi.CodeDenied || !strings.Contains(r.Error.Message, "being called already") {
		t.Errorf("one that is on the stack: %s, %v", r.Class, r.Error)
	}
}

// broken is a host whose operation panics, or fails with an internal error text.
type broken struct{ err error }

func (b broken) Call(context.Context, abi.Op, []byte) ([]byte, error) {
	if b.err == nil {
		panic("a secret of the host")
	}
	return nil, b.err
}

func TestGuestsSeeNoDetailsOfHostFailures(t *testing.T) {
	var logged strings.Builder
	var mu sync.Mutex
	config := testConfig(t)
	config.Log = slog.New(slog.NewTextHandler(locked{&mu, &logged}, nil))
	m := acts(t, config, abi.Limits{})
	for _, host := range []Host{broken{}, broken{errors.New("a secret of the host")}} {
		r, err := m.Call(t.Context(), Request{Kind: abi.KindTool, Payload: []byte("e"), Host: host})
		must.Do(t, err)
		if r.Class != abi.ClassError || r.Error.Code != abi.CodeInternal || strings.Contains(r.Error.Message, "secret") {
			t.Errorf("class %s, %v, want the error %s without the secret", r.Class, r.Error, abi.CodeInternal)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if n := strings.Count(logged.String(), "a secret of the host"); n < 2 {
		t.Errorf("the log does not say what happened: %s", logged.String())
	}
}

type locked struct {
	mu  *sync.Mutex
	out *strings.Builder
}

func (l locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(b)
}

func TestThePoolEvictsTheLongestIdleInstanceFirst(t *testing.T) {
	p := &pool{count: map[*Module]int{}}
	a, b := &Module{}, &Module{}
	instance := func(m *Module, size uint64) *instance { return &instance{module: m, memory: &linear{size: size}} }
	old := instance(a, 1)
	if gone := p.put(old); len(gone) != 0 {
		t.Errorf("%d went", len(gone))
	}
	for range maxIdle - 1 {
		p.put(instance(a, 1))
	}
	if gone := p.put(instance(a, 1)); len(gone) != 1 || gone[0] != old {
		t.Errorf("%d went, not the oldest of the module", len(gone))
	}
	if gone := p.put(instance(b, maxIdleBytes-2)); len(gone) != 2 || gone[0].module != a {
		t.Errorf("%d went for a large one", len(gone))
	}
	if p.count[a] != 2 || p.bytes != maxIdleBytes || p.take(b) == nil || p.take(b) != nil {
		t.Errorf("%d are left, of %d bytes", p.count[a], p.bytes)
	}
	for range 2 {
		if p.take(a) == nil {
			t.Error("not all can be taken")
		}
	}
	if p.take(a) != nil || p.first != nil || p.last != nil || p.bytes != 0 {
		t.Error("something is left")
	}
}

func TestLogLinesOfAFamilyAreRateLimited(t *testing.T) {
	now := time.Duration(0)
	r := newRate(func() time.Duration { return now })
	taken := 0
	for range 3 * linesAtOnce {
		if r.take() {
			taken++
		}
	}
	now += time.Second
	for range linesAtOnce {
		if r.take() {
			taken++
		}
	}
	if taken != linesAtOnce+linesPerSecond {
		t.Errorf("%d lines, not %d and %d", taken, linesAtOnce, linesPerSecond)
	}
}

func TestRequestsAfterClosingFail(t *testing.T) {
	m := acts(t, testConfig(t), abi.Limits{})
	ask(t, m, "e")
	must.Do(t, m.Close())
	must.Do(t, m.Close())
	if _, err := m.Call(t.Context(), Request{Kind: abi.KindTool}); !errors.Is(err, ErrClosed) {
		t.Errorf("Call after Close: %v, want ErrClosed", err)
	}
	if n := m.idleCount(); n != 0 {
		t.Errorf("%d instances are left", n)
	}
}

func FuzzPack(f *testing.F) {
	f.Add(smallest(nil), []byte(smallManifest))
	f.Add(smallest(func(m *wasm.Module) { packed(smallManifest)(m) }), []byte(smallManifest))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x00\x01\x00"), []byte("{}"))
	f.Fuzz(func(t *testing.T, module, manifest []byte) {
		out, err := Pack(module, manifest)
		if err != nil {
			return
		}
		report, err := Check(out, Options{})
		if err != nil || report.Manifest == nil {
			t.Errorf("what was packed is refused: %v", err)
		}
		if again, err := Pack(out, manifest); err != nil || string(again) != string(out) {
			t.Errorf("packing again gives something else: %v", err)
		}
	})
}
