package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
)

// What a call over a connection costs beyond what the domain does for it is the difference of the two.

func BenchmarkRecallOverAConnection(b *testing.B) {
	p := use(b)
	p.must("memory_store", `{"key":"k","value":"v"}`)
	for b.Loop() {
		p.request("tools/call", `{"name":"memory_recall","arguments":{"key":"k"}}`)
	}
}

func BenchmarkRecallInTheDomain(b *testing.B) {
	space, ctx := ownersAccess(newSpace(b)), context.Background()
	if _, err := space.Store(ctx, memory.Location{}, []memory.Item{{Key: "k", Value: json.RawMessage(`"v"`)}}, memory.Write{}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := space.Recall(ctx, memory.Location{}, "k", memory.AsOf{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStoreOfALargeValueOverAConnection(b *testing.B) {
	p := use(b)
	text := strings.Repeat("x", 100_000)
	for i := 0; b.Loop(); i++ {
		p.request("tools/call", fmt.Sprintf(`{"name":"memory_store","arguments":{"key":"k","value":"%d%s"}}`, i, text))
	}
}
