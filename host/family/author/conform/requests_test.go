package conform

import (
	"context"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// A family may rely on what the host itself says: no single byte of it is damaged, so that a family which trusts context.now passes.
func TestOnlyWhatACallerSendsIsDamagedByteByByte(t *testing.T) {
	const before, after = `{"tool":"try_it","arguments":`, `,"config":{},"context":{"now":"2026-06-01T12:00:00Z"}}`
	const request = before + `{"text":"tea"}` + after
	touched := 0
	for seed := range uint64(100) {
		for name, damaged := range (&test{Options: Options{Seed: seed}}).damages([]byte(request)) {
			if !strings.HasSuffix(name, "flipped") && !strings.HasPrefix(name, "bytes") && !strings.HasPrefix(name, "half") {
				continue
			}
			touched++
			if got := string(damaged); got == request || !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
				t.Errorf("with %s, got %s, want a change between %s and %s", name, got, before, after)
			}
		}
	}
	if touched < 400 {
		t.Errorf("got %d damaged requests, want at least 400", touched)
	}
}

// The message of a failed case is enough to send the request again.
func TestAFailedCaseShowsItsRequest(t *testing.T) {
	if got, want := shown("bit 3 of byte 1 flipped", []byte("{\"a\":\"\xff\"}")), "bit 3 of byte 1 flipped: {\"a\":\"\ufffd\"}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A rank hook is asked by the test itself, so the guest must be known before anything else called it.
func TestAGuestIsKnownOnceItIsOpened(t *testing.T) {
	w := &recorder{}
	w.watch(answers{})
	got, err := w.ask(t.Context(), sandbox.Request{Kind: abi.KindScore})
	if err != nil || got.Class != abi.ClassOK {
		t.Errorf("got %+v, %v, want class %s", got, err, abi.ClassOK)
	}
}

// answers is a guest that answers everything.
type answers struct{ catalogue.Guest }

func (answers) Call(context.Context, sandbox.Request) (*sandbox.Result, error) {
	return &sandbox.Result{Class: abi.ClassOK}, nil
}
