package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/abi/vectors"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
	"github.com/alcove-memory/alcove/host/testing/must"
)

func TestExchangesFollowTheVectorsOfTheABI(t *testing.T) {
	all, err := vectors.Read[vectors.Exchange]("exchange.json")
	must.Do(t, err)
	logged := &lineLog{}
	config := testConfig(t)
	config.Log = slog.New(logged)
	s := newSandbox(t, config)
	for _, v := range all {
		t.Run(v.Name, func(t *testing.T) {
			m, err := s.Admit(context.Background(), actor(t, v), Options{Bare: true, Vetted: true})
			must.Do(t, err)
			defer m.Close()
			logged.take()
			host := &scripted{steps: v.Steps}
			r, err := m.Call(context.Background(), Request{Kind: v.Kind.Kind(), Payload: v.Request, Host: host, Limits: limited(v.Limits)})
			must.Do(t, err)
			if r.Class != v.Class {
				t.Errorf("the class is %s (%v), want %s", r.Class, r.Error, v.Class)
			}
			if r.Class == abi.ClassOK && string(r.Output) != string(v.Result) {
				t.Errorf("the result is %q, want %q", r.Output, v.Result)
			}
			if got := logged.take(); strings.Join(got, "\n") != strings.Join(v.Log, "\n") {
				t.Errorf("the log is %q, want %q", got, v.Log)
			}
		})
	}
}

func limited(said map[string]int64) abi.Limits {
	var limits abi.Limits
	limits.Each(func(name string, value *int64) { *value = said[name] })
	return limits
}

// scripted is a host that answers as the steps of an exchange define.
type scripted struct{ steps []vectors.Step }

func (h *scripted) Call(_ context.Context, op abi.Op, request []byte) ([]byte, error) {
	for len(h.steps) > 0 {
		s := h.steps[0]
		h.steps = h.steps[1:]
		if s.Do != "call" || s.Code == abi.CodeInvalidArgument || s.Code == abi.CodeExhausted && s.HostLong == nil {
			continue // the host operations are not reached
		}
		if string(op) != s.Op || string(request) != string(s.Hex) {
			return nil, fmt.Errorf("%q was called with %q, not %q with %q", op, request, s.Op, s.Hex)
		}
		return answer(s)
	}
	return nil, errors.New("no operation was to be called")
}

func answer(s vectors.Step) ([]byte, error) {
	switch {
	case s.Host != nil:
		return *s.Host, nil
	case s.HostLong != nil:
		return *s.HostLong, nil
	case s.HostError != nil:
		e, err := abi.ParseError(*s.HostError)
		if err != nil {
			return nil, err
		}
		return nil, e
	}
	return nil, &abi.Error{Code: s.Code, Message: "there is no operation of that name"}
}

// lineLog keeps the lines that guests write to the log.
type lineLog struct {
	slog.Handler
	mu    sync.Mutex
	lines []string
}

func (l *lineLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *lineLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *lineLog) WithGroup(string) slog.Handler            { return l }

func (l *lineLog) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "line" {
			l.lines = append(l.lines, a.Value.String())
		}
		return true
	})
	return nil
}

func (l *lineLog) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// actor is a guest that executes the steps of an exchange, and traps on an unexpected result.
func actor(t *testing.T, v vectors.Exchange) []byte {
	t.Helper()
	m := &asm.Module{}
	i32s := asm.I32s
	read := m.Import("alcove", "read", i32s(3), i32s(1))
	write := m.Import("alcove", "write", i32s(3), i32s(1))
	call := m.Import("alcove", "call", i32s(4), i32s(1))
	m.Memory(1)
	var body asm.Code
	for _, s := range v.Steps {
		switch s.Do {
		case "read":
			body = asm.Seq(body, returns(s, asm.Call(read, asm.U32(s.Channel), asm.U32(s.Ptr), asm.U32(s.Cap))), holds(s))
		case "write":
			body = asm.Seq(body, place(m, s.Ptr, s.Hex), returns(s, asm.Call(write, asm.U32(s.Channel), asm.U32(s.Ptr), asm.U32(s.Length()))))
		case "call":
			arguments := []asm.Code{asm.U32(s.OpPtr), asm.U32(s.OpLength()), asm.U32(s.Ptr), asm.U32(s.Length())}
			body = asm.Seq(body, place(m, s.OpPtr, []byte(s.Op)), place(m, s.Ptr, s.Hex), returns(s, asm.Call(call, arguments...)))
		case "grow":
			body = asm.Seq(body, returns(s, asm.Seq(asm.U32(s.Pages), asm.Op(wasm.OpMemoryGrow, 0))))
		default:
			t.Fatalf("there is no step %q", s.Do)
		}
	}
	if v.During == "initialize" {
		m.Export(exportInitialize, wasm.KindFunc, m.Func(asm.Func{Body: body}))
		after := vectors.Step{Do: "write", Ptr: 3072, Hex: v.After}
		body = asm.Seq(place(m, after.Ptr, after.Hex), returns(after, asm.Call(write, asm.U32(0), asm.U32(after.Ptr), asm.U32(after.Length()))))
	}
	handle := asm.Func{Params: i32s(2), Results: i32s(1), Body: asm.Seq(body, asm.I32(int32(v.Status)))}
	m.Export(exportHandle, wasm.KindFunc, m.Func(handle))
	return m.Bytes()
}

// place puts bytes into memory.
func place(m *asm.Module, at uint32, data []byte) asm.Code {
	if len(data) == 0 {
		return nil
	}
	segment := m.Passive(data)
	return asm.Seq(asm.U32(at), asm.I32(0), asm.U32(uint32(len(data))), asm.Op(wasm.OpMemoryInit, segment, 0))
}

// returns traps unless the code pushes the step's return value: an error of the host itself has any length.
func returns(s vectors.Step, code asm.Code) asm.Code {
	if s.Code != "" {
		return asm.If(asm.Two(wasm.OpI32GeS, code, asm.I32(0)), asm.Unreachable())
	}
	return asm.If(asm.Two(wasm.OpI32Ne, code, asm.I32(int32(s.Returns))), asm.Unreachable())
}

// holds traps unless memory has the bytes of the step, followed by a zero.
func holds(s vectors.Step) asm.Code {
	var body asm.Code
	expect := func(at uint32, b byte) {
		body = asm.Seq(body, asm.If(asm.Two(wasm.OpI32Ne, asm.Load(wasm.OpI32Load8U, asm.U32(at)), asm.I32(int32(b))), asm.Unreachable()))
	}
	for i, b := range s.Hex {
		expect(s.Ptr+uint32(i), b)
	}
	if len(s.Hex) > 0 && s.Ptr+uint32(len(s.Hex)) < 1<<16 {
		expect(s.Ptr+uint32(len(s.Hex)), 0)
	}
	return body
}
