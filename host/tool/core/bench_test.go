package core

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/bench/measure"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/search"
	storage "github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/tool"
)

// BenchmarkSearch searches 10,000 memories in the index, in the space, and with the tool, whose answer is encoded.
//
//	go test ./host/tool/core -run '^$' -bench Search -benchmem
func BenchmarkSearch(b *testing.B) {
	engine, err := bolt.Open(b.Context(), b.TempDir(), bolt.Options{NoSync: true, MapSize: 1 << 28})
	if err != nil {
		b.Fatal(err)
	}
	defer engine.Close()
	index := search.New(search.Options{})
	space, err := memory.Open(b.Context(), memory.Options{Engine: engine, Index: index})
	if err != nil {
		b.Fatal(err)
	}
	defer space.Close(b.Context())
	caller := memory.Caller{Agent: "bench", Rights: memory.FullRights()}
	texts := measure.NewTexts(1)
	for from := range 10 {
		items := make([]memory.Item, 1000)
		for i := range items {
			value, err := json.Marshal(texts.Text(20, 80))
			if err != nil {
				b.Fatal(err)
			}
			items[i] = memory.Item{Key: fmt.Sprintf("key-%05d", 1000*from+i), Value: value, Tags: []string{"a", "b"}, Type: "note",
				Metadata: map[string]json.RawMessage{"source": json.RawMessage(`"bench"`)}}
		}
		if _, err := space.As(caller).Store(b.Context(), memory.Location{}, items, memory.Write{}); err != nil {
			b.Fatal(err)
		}
	}
	questions := make([]string, 500)
	for i := range questions {
		questions[i] = texts.Text(2, 5)
	}
	all := tool.NewRegistry(nil)
	if err := all.Add(Specs(Options{Space: space})...); err != nil {
		b.Fatal(err)
	}
	tools, session := tool.NewDispatcher(all, tool.Options{Clock: time.Now}), tool.NewSession(tool.SessionOptions{})
	view := search.View{Lineage: storage.Lineage{{Branch: 1, At: storage.Latest}}, Collections: []string{"memory"}}
	for _, way := range []struct {
		name   string
		search func(text string) (hits int, err error)
	}{
		{"index", func(text string) (int, error) {
			view.Now = time.Now()
			found, err := index.Search(b.Context(), view, search.Query{Text: text})
			return len(found.Hits), err
		}},
		{"space", func(text string) (int, error) {
			found, err := space.As(caller).Search(b.Context(), memory.Search{Text: text})
			return len(found.Hits), err
		}},
		{"tool", func(text string) (int, error) {
			a, err := tools.Dispatch(b.Context(), tool.Request{Tool: "memory_search", Arguments: json.RawMessage(`{"query":"` + text + `"}`), Caller: caller, Session: session})
			if err != nil {
				return 0, err
			}
			encoded, err := tool.Encode(a.Structured)
			return len(encoded), err
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			found, i := 0, 0
			for b.Loop() {
				n, err := way.search(questions[i%len(questions)])
				if err != nil {
					b.Fatal(err)
				}
				found += n
				i++
			}
			if found == 0 {
				b.Fatal("nothing is found")
			}
		})
	}
}

// BenchmarkLoadByIntent loads the family that an intent is for, and encodes the answer for programs and for models.
//
//	go test ./host/tool/core -run '^$' -bench LoadByIntent -benchmem
func BenchmarkLoadByIntent(b *testing.B) {
	var families carried
	for _, set := range firstParty(b).Sets {
		families = append(families, set.Family)
	}
	all := tool.NewRegistry(families)
	if err := all.Add(Specs(Options{})...); err != nil {
		b.Fatal(err)
	}
	tools, session, list := tool.NewDispatcher(all, tool.Options{Clock: time.Now}), tool.NewSession(tool.SessionOptions{}), asked(b, "intents-dev.txt")
	i := 0
	for b.Loop() {
		arguments, err := json.Marshal(map[string]string{"intent": list[i%len(list)][1]})
		if err != nil {
			b.Fatal(err)
		}
		a, err := tools.Dispatch(b.Context(), tool.Request{Tool: loadName, Arguments: arguments, Caller: memory.Caller{Rights: memory.FullRights()}, Session: session})
		if err != nil {
			b.Fatal(err)
		}
		for _, form := range []any{a.Structured, a.Plain} {
			if _, err := tool.Encode(form); err != nil {
				b.Fatal(err)
			}
		}
		i++
	}
}
