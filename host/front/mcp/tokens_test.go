package mcp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnswersTakeFewTokens measures what the answers of the core tools cost a model: the text and the structured content, in full (verbose)
// and as they are by default. With DATA, the folder of locomo-dev.docs.jsonl and locomo-dev.queries.jsonl, it asks their questions, too:
//
//	DATA=… go test ./host/front/mcp -run TestAnswersTakeFewTokens -v
func TestAnswersTakeFewTokens(t *testing.T) {
	p, m := use(t), &meter{t: t, tokens: tokenizer(t)}
	var items []string
	for i, turn := range turns() {
		items = append(items, fmt.Sprintf(`{"key":"talk/D1:%d","value":%q}`, i+1, turn))
	}
	m.call(p, "memory_store", "ten turns", fmt.Sprintf(`{"items":[%s]}`, strings.Join(items, ",")))
	m.call(p, "memory_store", "one memory", `{"key":"long","value":"`+strings.Repeat("The roof of the boat house leaks. ", 100)+`","namespace":"repairs"}`)
	m.call(p, "memory_log", "an event", `{"event":"deployed","data":{"service":"billing"}}`)
	hits := m.call(p, "memory_search", "ten turns", `{"query":"boat"}`)
	if n := strings.Count(p.must("memory_search", `{"query":"boat"}`).text, `"key"`); n != 10 {
		t.Errorf("%d hits, not 10", n)
	}
	m.call(p, "memory_search", "a long value", `{"query":"roof of the boat house","namespace":"repairs"}`)
	m.call(p, "memory_search", "an event", `{"query":"billing","events":true}`)
	m.call(p, "memory_recall", "by key", `{"key":"talk/D1:1"}`)
	m.call(p, "memory_recall", "by query", `{"query":"boat"}`)
	m.call(p, "memory_store", "one memory", `{"key":"talk/D1:1","value":"Ann: The boat is sold."}`)
	m.call(p, "memory_history", "two versions", `{"key":"talk/D1:1"}`)
	m.call(p, "memory_branch", "fork", `{"action":"fork","name":"trial"}`)
	p.must("memory_store", `{"key":"talk/D1:2","value":"Ben: Who bought it?","branch":"trial"}`)
	m.call(p, "memory_branch", "list", `{"action":"list"}`)
	m.call(p, "memory_branch", "diff", `{"action":"diff","compare":"trial"}`)
	m.call(p, "memory_status", "", `{}`)
	m.call(p, "memory_forget", "", `{"key":"talk/D1:3"}`)
	m.call(p, "memory_capabilities", "", `{}`)
	m.call(p, "memory_operation", "a search", `{"method":"memory_search","params":{"query":"boat"}}`)
	if hits.text > 650 || hits.text*100 > 45*hits.fullText || hits.structured*100 > 70*hits.fullStructured {
		t.Errorf("ten hits take %d tokens as text (in full %d) and %d structured (in full %d)", hits.text, hits.fullText, hits.structured, hits.fullStructured)
	}
	if dir := os.Getenv("DATA"); dir != "" {
		m.conversations(dir)
	}
	t.Logf("tokens of answers (cl100k_base): text, structured content\n%-20s %-14s %7s %7s %7s %7s\n%s", "tool", "answer", "verbose", "lean", "verbose", "lean", &m.table)
}

// meter counts the tokens of answers.
type meter struct {
	t      *testing.T
	tokens func(string) int
	table  strings.Builder
}

// cost is the tokens of an answer.
type cost struct{ fullText, text, fullStructured, structured int }

func (c cost) String() string {
	return fmt.Sprintf("%7d %7d %7d %7d", c.fullText, c.text, c.fullStructured, c.structured)
}

// measure makes a call twice. The tools that have no parameter verbose answer the same both times, and a call that writes is repeated without
// effect.
func (m *meter) measure(p *peer, tool, arguments string) cost {
	lean := p.must(tool, arguments)
	full := lean
	switch tool {
	case "memory_search", "memory_recall", "memory_history", "memory_branch", "memory_store":
		if !strings.Contains(arguments, `"fork"`) {
			full = p.must(tool, strings.TrimSuffix(arguments, "}")+`,"verbose":true}`)
		}
	}
	text := func(o outcome) int { return m.tokens(strings.Join(append([]string{o.text}, o.notes...), "\n")) }
	return cost{text(full), text(lean), m.tokens(string(full.structured)), m.tokens(string(lean.structured))}
}

func (m *meter) call(p *peer, tool, what, arguments string) cost {
	c := m.measure(p, tool, arguments)
	fmt.Fprintf(&m.table, "%-20s %-14s %s\n", tool, what, c)
	return c
}

// conversations stores the turns of real conversations, a namespace each, and asks 100 questions about them.
func (m *meter) conversations(dir string) {
	p, items := use(m.t), map[string][]json.RawMessage{}
	type line struct {
		ID, Text string
		Meta     struct{ Conv string }
	}
	each := func(name string, do func(line)) {
		file, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			m.t.Fatal(err)
		}
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			var l line
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				m.t.Fatal(err)
			}
			do(l)
		}
	}
	encode := func(v any) json.RawMessage {
		encoded, err := json.Marshal(v)
		if err != nil {
			m.t.Fatal(err)
		}
		return encoded
	}
	each("locomo-dev.docs.jsonl", func(l line) {
		items[l.Meta.Conv] = append(items[l.Meta.Conv], encode(map[string]string{"key": l.ID, "value": l.Text}))
	})
	for namespace, list := range items {
		for ; len(list) > 0; list = list[min(500, len(list)):] {
			p.must("memory_store", string(encode(map[string]any{"namespace": namespace, "items": list[:min(500, len(list))]})))
		}
	}
	var sum cost
	asked := 0
	each("locomo-dev.queries.jsonl", func(l line) {
		if asked == 100 {
			return
		}
		asked++
		c := m.measure(p, "memory_search", string(encode(map[string]any{"query": l.Text, "namespace": l.Meta.Conv})))
		sum = cost{sum.fullText + c.fullText, sum.text + c.text, sum.fullStructured + c.fullStructured, sum.structured + c.structured}
	})
	mean := cost{sum.fullText / asked, sum.text / asked, sum.fullStructured / asked, sum.structured / asked}
	fmt.Fprintf(&m.table, "%-20s %-14s %s\n", "memory_search", "LoCoMo, mean", mean)
	if mean.text > 650 {
		m.t.Errorf("ten hits of LoCoMo take %d tokens: at most 650 are allowed", mean.text)
	}
}

// turns is ten turns of a conversation, as long as those of LoCoMo.
func turns() []string {
	return []string{
		"Ann: Hey Ben! We took the boat out to the island on Sunday, and the wind was just perfect all day.",
		"Ben: That sounds lovely, Ann! Is the boat the one that you and your father built in the garage last winter?",
		"Ann: Yes, that one! It took us five months, and the neighbours laughed at a boat between the cars.",
		"Ben: I never learned to sail a boat. My sister gave me lessons once, but I fell into the water twice.",
		"Ann: Then come with us next month. The boat has room for four, and Carl wants to bring his camera.",
		"Ben: I'd love to! I have to work until the tenth, though. Could the boat trip be on the weekend after it?",
		"Ann: The fourteenth it is. Bring warm clothes: on the boat it is always colder than you think.",
		"Ben: I bought a good jacket in Norway two years ago. Does anyone on the boat get seasick, by the way?",
		"Ann: Carl does, so he takes ginger tea along. Last time he spent an hour looking at the floor of the boat.",
		"Ben: Poor Carl! I'll bring sandwiches for everyone on the boat, and some more ginger, just in case.",
	}
}
