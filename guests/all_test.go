package guests_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// requestFor is a request that a family serves by itself.
func requestFor(t *testing.T, family string) sandbox.Request {
	t.Helper()
	about := map[string]any{"config": defaults(t, family), "context": abi.Context{Family: family, Namespace: "default", Branch: "default", Now: "2026-06-01T12:00:00Z"}}
	switch family {
	case "auto-tag":
		return sandbox.Request{Kind: abi.KindHook, Payload: storeRequest(t), Host: learned()}
	case "ranking":
		about["now"], about["query"] = "2026-06-01T12:00:00Z", "what does ann drink"
		params, err := json.Marshal(about)
		must.Do(t, err)
		columns := make([][]float32, len(parsed(t, family).Hooks.Rank.Features))
		for i := range columns {
			columns[i] = []float32{.1 * float32(i), .9}
		}
		return sandbox.Request{Kind: abi.KindScore, Payload: abi.AppendScoring(nil, abi.Scoring{Params: params, Candidates: 2, Columns: columns})}
	default: // any tool, which may fail when its host denies everything, and then in the same way
		about["tool"], about["arguments"] = parsed(t, family).Tools[0].Name, json.RawMessage(`{}`)
		payload, err := json.Marshal(about)
		must.Do(t, err)
		return sandbox.Request{Kind: abi.KindTool, Payload: payload, Host: answers{}}
	}
}

// A module of its own takes seconds to compile, so three families stand for all: with a store hook, a rank hook, and tools alone. Each has
// its day.
func TestTheModuleOfAllFamiliesAnswersAsEachDoesAlone(t *testing.T) {
	for _, family := range stress.Pick(t, 1, []string{"auto-tag", "ranking", "consolidation"}) {
		request := requestFor(t, family)
		apart, err := admitted(t, family).Call(context.Background(), request)
		must.Do(t, err)
		together, err := admittedFrom(t, all, family).Call(context.Background(), request)
		must.Do(t, err)
		if apart.Class != together.Class || !bytes.Equal(apart.Output, together.Output) || message(apart) != message(together) {
			t.Errorf("%s: %s %s %s, and alone %s %s %s", family, together.Class, together.Output, message(together), apart.Class, apart.Output, message(apart))
		}
		if apart.Class != abi.ClassOK && request.Kind != abi.KindTool {
			t.Errorf("%s: class %s (%s), want %s", family, apart.Class, message(apart), abi.ClassOK)
		}
	}
}

func message(r *sandbox.Result) string {
	if r.Error == nil {
		return ""
	}
	return r.Error.Message
}

func TestTheModuleOfAllFamiliesServesNoOther(t *testing.T) {
	payload := []byte(`{"tool":"memory_tune_ranking","arguments":{},"config":{},"context":{"family":"auto-tag"}}`)
	for family, want := range map[string]string{"auto-tag": `no tool "memory_tune_ranking"`, "eve": `no family "eve"`} {
		request := sandbox.Request{Kind: abi.KindTool, Payload: bytes.Replace(payload, []byte("auto-tag"), []byte(family), 1)}
		r, err := admittedFrom(t, all, "ranking").Call(context.Background(), request)
		must.Do(t, err)
		if r.Class != abi.ClassError || r.Error.Code != abi.CodeNotFound || !strings.Contains(r.Error.Message, want) {
			t.Errorf("call of %s: class %s, %v, want the error %q", family, r.Class, r.Error, want)
		}
	}
}
