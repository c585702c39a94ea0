package importer_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory/importer"
	"github.com/alcove-memory/alcove/host/memory/portable"
)

// bomb is an input that exceeds a limit.
type bomb struct {
	name   string
	format importer.Format
	input  string
	says   string // the place, the limit, and what to do
}

// front is a note with front matter, and nothing else.
func front(yaml string) string { return "---\n" + yaml + "\n---\ntext" }

// doubled is front matter whose aliases stand for nine times as much in each line: 342 bytes become gigabytes.
func doubled() string {
	var out strings.Builder
	out.WriteString(`a: &a ["lol","lol","lol","lol","lol","lol","lol","lol","lol"]`)
	for c := 'b'; c <= 'i'; c++ {
		fmt.Fprintf(&out, "\n%c: &%c [%s*%c]", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 8), c-1)
	}
	return out.String()
}

func keys(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "k%d: v\n", i)
	}
	return out.String()
}

// bombs has one input for each limit that a small input can exceed.
func bombs() []bomb {
	const md, mem0 = importer.Markdown, importer.Mem0
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	values := "[" + strings.Repeat("0,", 500_000) + "0]"
	depth, many := "more than 512 nested lists and objects: make it flatter", "more than 500000 values in one piece of JSON: split it"
	return []bomb{
		{"aliases within aliases", md, front(doubled()), "note.md, line 6: its front matter: more than 262144 bytes with what aliases stand for"},
		{"aliases of a long text", md, front("a: &a " + strings.Repeat("x", 2000) + "\nb: [" + strings.Repeat("*a,", 200) + "]"), "line 3: its front matter: more than 262144 bytes"},
		{"a long literal in aliases", md, front("a: &a |\n  " + strings.Repeat("x", 2000) + "\nb: [" + strings.Repeat("*a,", 200) + "]"), "more than 262144 bytes"},
		{"merged maps within each other", md, front("a: &a {x: " + strings.Repeat("x", 9000) + "}\n" + merged(40)), "line 31: its front matter: more than 262144 bytes"},
		{"an alias of what it is in", md, front("a: &a [*a]"), `line 2: its front matter: the alias "a" stands for what it is in`},
		{"brackets", md, front("x: 1\na: " + deep(33)), "line 3: its front matter: more than 32 nested lists and maps: make them flatter"},
		{"brackets that never close", md, front("a: " + strings.Repeat("[", 60_000)), "more than 32 nested"},
		{"braces", md, front("a: " + strings.Repeat("{a: ", 60) + strings.Repeat("}", 60)), "line 2: its front matter: more than 32 nested"},
		{"braces that never close", md, front("a: " + strings.Repeat("{a: ", 15_000)), "more than 32 nested"},
		{"lists within aliases", md, front("a: &a " + deep(20) + "\nb: " + strings.Repeat("[", 20) + "*a" + strings.Repeat("]", 20)), "line 3: its front matter: more than 32 nested"},
		{"dashes", md, front(strings.Repeat("- ", 30_000) + "x"), "more than 32 nested"},
		{"question marks", md, front(strings.Repeat("? ", 30_000) + "x"), "more than 32 nested"},
		{"indentation", md, front(indented(40)), "more than 32 nested"},
		{"anchors", md, front(strings.Repeat("&a ", 20_000) + "x"), "line 2: its front matter: did not find expected <document start>"},
		{"tags", md, front("a: " + strings.Repeat("!!str ", 10_000) + "x"), "line 2: its front matter: did not find expected key"},
		{"many anchors", md, front("a: [" + strings.Repeat("&a x,", 12_000) + "]"), "line 2: its front matter: more than 10000 keys and values"},
		{"many keys", md, front(keys(6000)), "line 5001: its front matter: more than 10000 keys and values: move some of them to the text"},
		{"long front matter", md, front("a: " + strings.Repeat("x", 64<<10)), "note.md: its front matter: more than 65536 bytes of front matter: move some of it to the text"},
		{"a long note", md, strings.Repeat("x", 1<<20+1), "note.md: more than 1048576 bytes in a note: split it"},
		{"a long line", importer.Graph, `{"type":"entity","name":"` + strings.Repeat("x", 16<<20) + `"}`, "line 1: more than 16777216 bytes in a line: split it"},
		{"a deep line", importer.Graph, `{"type":"entity","name":"a","more":` + deep(512) + `}`, "line 1: " + depth},
		{"a line of many values", importer.Graph, `{"type":"entity","name":"a","observations":` + values + `}`, "line 1: " + many},
		{"a deep memory", importer.Memories, `{"alcove":"memories","format":1}` + "\n" + `{"key":"k","value":` + deep(512) + "}\n" + `{"end":true,"memories":1}`, "line 2: " + depth},
		{"a deep element", mem0, `[{"id":"1","memory":"x","metadata":{"a":` + deep(511) + `}}]`, "element 1: " + depth},
		{"a very deep element", mem0, `[{"id":"1","memory":"x","metadata":{"a":` + deep(100_000) + `}}]`, "element 1: "},
		{"an element of many values", importer.ChatGPT, `[{"id":"c","mapping":{"a":{"children":` + values + `}}}]`, "element 1: " + many},
		{"a message of many values", importer.Claude, `[{"uuid":"u","chat_messages":` + values + `}]`, "element 1: " + many},
		{"a number beyond all numbers", importer.ChatGPT, `[{"id":"c","mapping":{"a":{"message":{"create_time":1e99999999}}}}]`, "element 1: "},
	}
}

func merged(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "b%d: {<<: *a}\n", i)
	}
	return out.String()
}

func indented(depth int) string {
	var out strings.Builder
	for i := range depth {
		fmt.Fprintf(&out, "%sa:\n", strings.Repeat(" ", i))
	}
	return out.String()
}

// write writes a bomb to a file, or a note in a folder.
func (b bomb) write(t *testing.T) string {
	t.Helper()
	if b.format == importer.Markdown {
		return sample(t, map[string]string{"note.md": b.input})
	}
	return filepath.Join(sample(t, map[string]string{"input.json": b.input}), "input.json")
}

func TestWhatExceedsALimitIsRefusedByItsPlaceAndTheLimit(t *testing.T) {
	for _, b := range bombs() {
		path := b.write(t)
		var err error
		n := allocated(func() {
			err = importer.Input{Path: path, Format: b.format}.Read(t.Context(), func(portable.Memory) error { return nil })
		})
		var placed *importer.InputError
		if !errors.As(err, &placed) || !strings.Contains(err.Error(), b.says) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("Read of %s: %v, want an InputError that says %q", b.name, err, b.says)
		}
		if n > mayAllocate(len(b.input)) {
			t.Errorf("%s: %d bytes are allocated for %d", b.name, n, len(b.input))
		}
	}
}

func TestOrdinaryFrontMatterIsWithinTheLimits(t *testing.T) {
	note := front("base: &base {lang: en, draft: false}\npage:\n  <<: *base\n  title: T\nagain: *base\nempty:\ndays: [1, 2.5, .nan]\ntext: |\n  many\n  lines\n" +
		"nest:\n  - a:\n      - b:\n          - {c: [d]}\n" + keys(2000) + "deep: " + strings.Repeat("[", 30) + strings.Repeat("]", 30))
	got := read(t, sample(t, map[string]string{"note.md": note}), importer.Markdown)
	if len(got) != 1 || !strings.Contains(got[0], `"again":{"draft":false,"lang":"en"}`) || !strings.Contains(got[0], `"page":{"draft":false,"lang":"en","title":"T"}`) {
		t.Errorf("the note is read as %.600q, want its front matter with what it refers to", got)
	}
}

func TestWhatCannotBeUsedIsSkippedAndTheRestIsRead(t *testing.T) {
	dir := sample(t, map[string]string{
		"notes/a.md": "first", "notes/b.md": front(doubled()), "notes/c.md": strings.Repeat("x", 1<<20+1), "notes/d.md": "last",
		"basic/a.md": "---\npermalink: a\n---\n", "basic/b.md": "---\n[\n---\n",
		"graph.jsonl": "{\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"t\"}\n{\n" + strings.Repeat("x", 16<<20+1) + "\n{\"type\":\"entity\",\"name\":\"b\"}",
		"mem0.json":   `[{"id":"1","memory":"x"},{"id":2},{"memory":"x"},{"id":"3","memory":"y"}]`,
		"some.jsonl":  "{\"alcove\":\"memories\",\"format\":1}\n{\"key\":\"a\"}\n{\"key\":7}\n{\"key\":\"b\"}\n{\"end\":true,\"memories\":3}",
		"claude.json": `[{"uuid":"u","chat_messages":[{"text":"a"}]},{"uuid":""},{"uuid":"v","chat_messages":[{"text":"b"}]}]`,
	})
	for _, c := range []struct {
		path       string
		format     importer.Format
		read, kept string
	}{
		{"notes", importer.Markdown, "a d", "b.md c.md"}, {"basic", importer.BasicMemory, "a", "b.md"},
		{"graph.jsonl", importer.Graph, "entity/a entity/b", "line 2 line 3"}, {"mem0.json", importer.Mem0, "mem0/1 mem0/3", "element 2 element 3"},
		{"some.jsonl", importer.Memories, "a b", "line 3"}, {"claude.json", importer.Claude, "claude/u/00000 claude/v/00000", "element 2"},
	} {
		var keys, places []string
		in := importer.Input{Path: filepath.Join(dir, c.path), Format: c.format, Skip: func(err *importer.InputError) error {
			place, _, _ := strings.Cut(err.Location, ":")
			if c.format == importer.Markdown || c.format == importer.BasicMemory {
				place = filepath.Base(err.Path)
			}
			places = append(places, place)
			return nil
		}}
		err := in.Read(t.Context(), func(m portable.Memory) error {
			keys = append(keys, m.Key)
			return nil
		})
		if got, skipped := strings.Join(keys, " "), strings.Join(places, " "); err != nil || got != c.read || skipped != c.kept {
			t.Errorf("%s: read %q, skipped %q, %v", c.path, got, skipped, err)
		}
	}
}

func TestAnErrorOfWhoeverTakesTheMemoriesIsNotSkipped(t *testing.T) {
	dir, full := sample(t, map[string]string{"a.md": "1", "b.md": "2"}), errors.New("the disk is full")
	in := importer.Input{Path: dir, Format: importer.Markdown, Skip: func(err *importer.InputError) error {
		t.Errorf("skipped: %v", err)
		return nil
	}}
	if err := in.Read(t.Context(), func(portable.Memory) error { return full }); !errors.Is(err, full) {
		t.Errorf("Read: %v, want %v", err, full)
	}
}

// TestManyNamesTakeTimeInProportion reads what would take a minute or more if each name were compared with all before it.
func TestManyNamesTakeTimeInProportion(t *testing.T) {
	var links, graph strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&links, "[[%d]]", i)
		fmt.Fprintf(&graph, "{\"type\":\"relation\",\"from\":\"a\",\"to\":\"%d\",\"relationType\":\"r\"}\n", i)
	}
	graph.WriteString(`{"type":"entity","name":"a"}`)
	dir := sample(t, map[string]string{"notes/a.md": links.String(), "graph.jsonl": graph.String()})
	for path, format := range map[string]importer.Format{"notes": importer.Markdown, "graph.jsonl": importer.Graph} {
		var found []string
		err := importer.Input{Path: filepath.Join(dir, path), Format: format}.Read(t.Context(), func(m portable.Memory) error {
			found = append(found, m.Links...)
			return nil
		})
		if err != nil || len(found) != 100_000 {
			t.Errorf("%s: %d links, %v", path, len(found), err)
		}
	}
}
