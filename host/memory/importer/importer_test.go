package importer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory/importer"
	"github.com/alcove-memory/alcove/host/memory/portable"
)

// sample writes files below a folder, and returns it.
func sample(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// read detects the format, which must be the one that is expected, and gives each memory as a line of JSON.
func read(t *testing.T, path string, want importer.Format) []string {
	t.Helper()
	got, err := importer.Detect(path)
	if err != nil || got != want {
		t.Fatalf("detected %q, not %q (%v)", got, want, err)
	}
	var list []string
	err = importer.Input{Path: path, Format: want}.Read(t.Context(), func(m portable.Memory) error {
		data, err := json.Marshal(m)
		list = append(list, string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d memories, not %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("memory %d is\n%s\nnot\n%s", i+1, got[i], want[i])
		}
	}
}

func TestAKnowledgeGraphBecomesLinkedMemories(t *testing.T) {
	dir := sample(t, map[string]string{"memory.jsonl": `{"type":"entity","name":"Ana","entityType":"person","observations":["drinks tea"]}
{"type":"relation","from":"Ana","to":"Acme","relationType":"works_at"}

{"type":"entity","name":"Acme","entityType":"company","observations":[]}
{"type":"relation","from":"Ghost","to":"Acme","relationType":"left"}
`})
	same(t, read(t, filepath.Join(dir, "memory.jsonl"), importer.Graph),
		`{"namespace":"","key":"entity/Ana","value":{"name":"Ana","observations":["drinks tea"]},"type":"person","metadata":{"relations":[{"to":"Acme","type":"works_at"}]},"links":["entity/Acme"]}`,
		`{"namespace":"","key":"entity/Acme","value":{"name":"Acme"},"type":"company"}`,
		`{"namespace":"","key":"relation/Ghost/left/Acme","value":{"from":"Ghost","relation":"left","to":"Acme"},"type":"relation","links":["entity/Ghost","entity/Acme"]}`)
}

func TestNotesKeepTheirFrontMatterAndLinks(t *testing.T) {
	dir := sample(t, map[string]string{
		"plans/garden.md":  "---\ntitle: Garden\ntags: [green, '#spring']\ntype: plan\ndue: 2026-04-01\n---\n# Garden\nWith [[Tools|a spade]] and [[plans/garden#top]] and [[Nowhere]].\r\n",
		"Tools.md":         "A spade.",
		".obsidian/app.md": "not a note",
		"picture.png":      "\x89PNG",
	})
	same(t, read(t, dir, importer.Markdown),
		`{"namespace":"","key":"Tools","value":"A spade."}`,
		`{"namespace":"","key":"plans/garden","value":"# Garden\nWith [[Tools|a spade]] and [[plans/garden#top]] and [[Nowhere]].","tags":["green","spring"],"type":"plan","metadata":{"due":"2026-04-01","title":"Garden"},"links":["Tools","plans/garden","Nowhere"]}`)
}

func TestANoteAloneHasAKeyOfItsPathSoThatAnEditReplacesIt(t *testing.T) {
	dir := sample(t, map[string]string{"shop/CLAUDE.md": "Use tabs. The answer is {\"id\":1,\"memory\":\"x\"}", "bank/CLAUDE.md": "---\ntags: rules\n---\nUse spaces, see [[shop]].", "bank/other.md": "x"})
	same(t, read(t, filepath.Join(dir, "shop/CLAUDE.md"), importer.Markdown), `{"namespace":"","key":"shop/CLAUDE","value":"Use tabs. The answer is {\"id\":1,\"memory\":\"x\"}"}`)
	t.Chdir(filepath.Join(dir, "bank"))
	bank := `{"namespace":"","key":"bank/CLAUDE","value":"Use spaces, see [[shop]].","tags":["rules"],"links":["shop"]}`
	for _, path := range []string{"CLAUDE.md", "./CLAUDE.md", "../bank/CLAUDE.md"} {
		same(t, read(t, path, importer.Markdown), bank)
	}
}

func TestTagsInTheTextOfANoteAreItsTags(t *testing.T) {
	text := "---\ntags: [front]\n---\n# Heading\n#meeting with #work/acme and (#no) a#no #2026 #y2026, see [[x#no]] `#no`\n```sh\n#no\n```\n#front\n~~~\n#no"
	got := read(t, sample(t, map[string]string{"a.md": text}), importer.Markdown)
	if want := `"tags":["front","meeting","work/acme","y2026"]`; len(got) != 1 || !strings.Contains(got[0], want) {
		t.Errorf("got %s, want %s", got, want)
	}
	many := read(t, sample(t, map[string]string{"a.md": "#" + strings.Repeat("x", 129) + manyTags(100)}), importer.Markdown)
	if !strings.Contains(many[0], `"tags":["tag0",`) || !strings.Contains(many[0], `"tag63"]`) {
		t.Errorf("of 100 tags and one of 129 bytes, got %.2000s, want the first 64", many[0])
	}
}

func manyTags(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, " #tag%d", i)
	}
	return out.String()
}

func TestAFolderOfNotesWithOtherFilesIsOne(t *testing.T) {
	dir := sample(t, map[string]string{"a.md": "A", "data.json": `[{"id":"1","memory":"x"}]`, "package.json": "{}"})
	same(t, read(t, dir, importer.Markdown), `{"namespace":"","key":"a","value":"A"}`)
}

func TestANoteWasCreatedWhenItsFrontMatterSays(t *testing.T) {
	dir := sample(t, map[string]string{"a.md": "---\ncreated: 2025-06-10T09:00\n---\nA", "b.md": "---\ndate: 2025-06-11\n---\nB", "c.md": "---\ncreated: in June\n---\nC"})
	same(t, read(t, dir, importer.Markdown),
		`{"namespace":"","key":"a","value":"A","metadata":{"created":"2025-06-10T09:00"},"created":"2025-06-10T09:00:00Z"}`,
		`{"namespace":"","key":"b","value":"B","metadata":{"date":"2025-06-11"},"created":"2025-06-11T00:00:00Z"}`,
		`{"namespace":"","key":"c","value":"C","metadata":{"created":"in June"}}`)
}

func TestObservationsAndRelationsOfBasicMemoryAreTakenApart(t *testing.T) {
	dir := sample(t, map[string]string{
		"coffee.md": "---\ntitle: Coffee\ntype: note\npermalink: drinks/coffee\ntags: [drink]\n---\nAbout coffee.\n\n- [method] Pour over is clear #brewing #slow (by taste)\n- [ ] a task\n- pairs_with [[Cake]]\n- [[Tea]]\n",
		"tea.md":    "---\ntitle: Tea\npermalink: drinks/tea\n---\nSee [[Coffee]].\n",
	})
	same(t, read(t, dir, importer.BasicMemory),
		`{"namespace":"","key":"drinks/coffee","value":{"title":"Coffee","text":"About coffee.\n\n- [ ] a task","observations":[{"category":"method","text":"Pour over is clear","tags":["brewing","slow"],"context":"by taste"}]},"tags":["drink"],"type":"note","metadata":{"relations":[{"to":"Cake","type":"pairs_with"},{"to":"Tea","type":"links_to"}]},"links":["Cake","drinks/tea"]}`,
		`{"namespace":"","key":"drinks/tea","value":{"title":"Tea","text":"See [[Coffee]]."},"links":["drinks/coffee"]}`)
}

func TestMemoriesOfMem0KeepWhoTheyAreAbout(t *testing.T) {
	dir := sample(t, map[string]string{
		"wrapped.json": `{"count":1,"results":[{"id":"m1","memory":"Likes hiking","user_id":"ana","categories":["hobby"],"created_at":"2026-01-02T03:04:05Z","metadata":{"source":"chat"}}]}`,
		"list.json":    `[{"id":"m2","memory":"Lives in Lisbon","metadata":null}]`,
	})
	same(t, read(t, filepath.Join(dir, "wrapped.json"), importer.Mem0),
		`{"namespace":"","key":"mem0/m1","value":"Likes hiking","tags":["hobby"],"metadata":{"created_at":"2026-01-02T03:04:05Z","source":"chat","user_id":"ana"},"created":"2026-01-02T03:04:05Z"}`)
	same(t, read(t, filepath.Join(dir, "list.json"), importer.Mem0), `{"namespace":"","key":"mem0/m2","value":"Lives in Lisbon"}`)
}

func TestMemoriesOfMCPMemoryServiceKeepTheirTimesAndTags(t *testing.T) {
	dir := sample(t, map[string]string{"export.json": `{"export_metadata":{"source_machine":"desk","total_memories":3},"memories":[
{"content":"Likes tea","content_hash":"h1","tags":["drink","ana"],"created_at":1749546000.25,"updated_at":1749546001,"memory_type":"preference","metadata":{"source":"chat","created_at":"no"}},
{"content":"Lives in Lisbon","content_hash":"h2","tags":"place, ana","created_at":"2025-06-10T09:00:00Z","memory_type":null,"metadata":null},
{"content":"Undated","content_hash":"h3","tags":null}]}`})
	same(t, read(t, filepath.Join(dir, "export.json"), importer.MemoryService),
		`{"namespace":"","key":"mcp-memory-service/h1","value":"Likes tea","tags":["drink","ana"],"type":"preference","metadata":{"created_at":"2025-06-10T09:00:00.25Z","source":"chat","updated_at":"2025-06-10T09:00:01Z"},"created":"2025-06-10T09:00:00.25Z"}`,
		`{"namespace":"","key":"mcp-memory-service/h2","value":"Lives in Lisbon","tags":["place","ana"],"metadata":{"created_at":"2025-06-10T09:00:00Z"},"created":"2025-06-10T09:00:00Z"}`,
		`{"namespace":"","key":"mcp-memory-service/h3","value":"Undated"}`)
}

func TestABackupOfOpenMemoryIsReadAsItWasDownloaded(t *testing.T) {
	files := map[string]string{"memories.json": `{"user":{"id":"u","user_id":"ana","name":null},"apps":[{"id":"a","owner_id":"u","name":"cursor"}],
"categories":[{"id":"c1","name":"travel"}],"memories":[
{"id":"m1","user_id":"u","app_id":"a","content":"Likes Faro","metadata":{"source":"chat"},"state":"active","created_at":"2025-06-10T09:00:00+00:00","category_ids":["c1"]},
{"id":"m2","content":"Old plan","metadata":null,"state":"archived","created_at":null,"category_ids":[]},
{"id":"m3","content":"Gone","state":"deleted"}],"memory_categories":[{"memory_id":"m1","category_id":"c1"}],"status_history":[]}`}
	want := []string{
		`{"namespace":"","key":"openmemory/m1","value":"Likes Faro","tags":["travel"],"metadata":{"created_at":"2025-06-10T09:00:00+00:00","source":"chat"},"created":"2025-06-10T09:00:00Z"}`,
		`{"namespace":"","key":"openmemory/m2","value":"Old plan","state":"archived"}`,
	}
	zipFiles := under("", files)
	zipFiles["memories.jsonl.gz"] = "\x1f\x8b"
	same(t, read(t, zipped(t, zipFiles), importer.OpenMemory), want...)
	same(t, read(t, filepath.Join(sample(t, files), "memories.json"), importer.OpenMemory), want...)
	page := sample(t, map[string]string{"page.json": `{"items":[{"id":"m4","content":"Likes tea","created_at":1749546000,"state":"active","app_name":"cursor","categories":["drink"],"metadata_":{"a":1}}],"total":1}`})
	same(t, read(t, filepath.Join(page, "page.json"), importer.OpenMemory),
		`{"namespace":"","key":"openmemory/m4","value":"Likes tea","tags":["drink"],"metadata":{"a":1,"app":"cursor","created_at":"2025-06-10T09:00:00Z"},"created":"2025-06-10T09:00:00Z"}`)
}

func TestTheBranchOfAChatGPTConversationThatWasLastLookedAtCounts(t *testing.T) {
	dir := sample(t, map[string]string{"conversations.json": `[{"title":"Trip","conversation_id":"c1","create_time":1767225600.5,"current_node":"n3","mapping":{
"root":{"message":null,"children":["n1"]},
"n1":{"parent":"root","children":["n2","n2b"],"message":{"author":{"role":"user"},"create_time":1767225601.25,"content":{"parts":["Where to go?",{"asset_pointer":"x"}]}}},
"n2":{"parent":"n1","children":["n3"],"message":{"author":{"role":"system"},"content":{"parts":["hidden"]}}},
"n2b":{"parent":"n1","children":[],"message":{"author":{"role":"assistant"},"content":{"parts":["Dropped answer"]}}},
"n3":{"parent":"n2","children":[],"message":{"author":{"role":"assistant"},"content":{"parts":["To Faro."]}}}}}]`})
	same(t, read(t, filepath.Join(dir, "conversations.json"), importer.ChatGPT),
		`{"namespace":"","key":"chatgpt/c1/00000","value":"Where to go?","tags":["chatgpt"],"type":"message","metadata":{"seq":0,"session":"c1","speaker":"user","title":"Trip","ts":1767225601},"created":"2026-01-01T00:00:01.25Z"}`,
		`{"namespace":"","key":"chatgpt/c1/00001","value":"To Faro.","tags":["chatgpt"],"type":"message","metadata":{"seq":1,"session":"c1","speaker":"assistant","title":"Trip"}}`)
}

func TestClaudesConversationsKeepWhoSaidWhatWhen(t *testing.T) {
	dir := sample(t, map[string]string{"conversations.json": `[{"uuid":"u1","name":"Soup","chat_messages":[
{"sender":"human","text":"A recipe?","created_at":"2026-01-01T00:00:00Z"},
{"sender":"assistant","text":"","content":[{"type":"text","text":"Leek"},{"type":"text","text":"and potato."}]},
{"sender":"human","text":""}]}]`})
	same(t, read(t, filepath.Join(dir, "conversations.json"), importer.Claude),
		`{"namespace":"","key":"claude/u1/00000","value":"A recipe?","tags":["claude"],"type":"message","metadata":{"seq":0,"session":"u1","speaker":"human","title":"Soup","ts":1767225600},"created":"2026-01-01T00:00:00Z"}`,
		`{"namespace":"","key":"claude/u1/00001","value":"Leek\nand potato.","tags":["claude"],"type":"message","metadata":{"seq":1,"session":"u1","speaker":"assistant","title":"Soup"}}`)
}

func TestWrongInputIsNamedWithItsPlace(t *testing.T) {
	deep := strings.Repeat("[", 20_000)
	dir := sample(t, map[string]string{
		"graph.jsonl": "{\"type\":\"entity\",\"name\":\"a\"}\n{\"type\":\"entity\"\n",
		"kind.jsonl":  `{"type":"planet","name":"Mars"}`,
		"mem0.json":   `[{"id":"1","memory":"x"},{"id":2}]`,
		"object.json": `{"nothing":[]}`,
		"deep.json":   `[{"id":"1","memory":"x","metadata":{"a":` + deep + `}}]`,
		"cut.json":    `[{"uuid":"u","chat_messages":[]},`,
		"cut.jsonl":   "{\"alcove\":\"memories\",\"format\":1}\n",
		"few.jsonl":   "{\"alcove\":\"memories\",\"format\":1}\n{\"end\":true,\"memories\":3}\n",
		"new.jsonl":   "{\"alcove\":\"memories\",\"format\":9}\n",
		"n/front.md":  "---\na: [\n---\ntext",
		"n2/long.md":  strings.Repeat("x", 1<<20+1),
	})
	for _, c := range []struct {
		file   string
		format importer.Format
		says   string
	}{
		{"graph.jsonl", importer.Graph, "graph.jsonl, line 2"},
		{"kind.jsonl", importer.Graph, "line 1: it is neither"},
		{"mem0.json", importer.Mem0, "element 2"},
		{"object.json", importer.Mem0, "not a JSON array"},
		{"deep.json", importer.Mem0, "element 1"},
		{"cut.json", importer.Claude, "cut.json"},
		{"cut.jsonl", importer.Memories, "truncated"},
		{"few.jsonl", importer.Memories, "should have 3"},
		{"new.jsonl", importer.Memories, "format 1"},
		{"n", importer.Markdown, "front.md, line 2: its front matter"},
		{"n2", importer.Markdown, "long.md"},
	} {
		err := importer.Input{Path: filepath.Join(dir, c.file), Format: c.format}.Read(t.Context(), func(portable.Memory) error { return nil })
		var placed *importer.InputError
		if !errors.As(err, &placed) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Read(%s): %v, want an InputError that says %q", c.file, err, c.says)
		}
	}
	none := importer.Input{Path: dir, Format: "nothing"}
	if err := none.Read(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "use one of") {
		t.Errorf("an unknown format: %v", err)
	}
}

// FuzzReaders gives every reader the same bytes: nothing panics, the same input gives the same memories, and no input makes
// a reader allocate far more than it is long.
func FuzzReaders(f *testing.F) {
	for _, seed := range []string{
		`{"type":"entity","name":"a","observations":["b"]}`, `[{"id":"1","memory":"x"}]`, `[{"uuid":"u","chat_messages":[{"text":"a"}]}]`,
		`[{"id":"c","current_node":"a","mapping":{"a":{"parent":"a","message":{"author":{"role":"user"},"content":{"parts":["x"]}}}}}]`,
		"---\ntags: a, b\npermalink: p\n---\n- [c] text #t (x)\n- r [[T]]\n[[a|b]] [[", "{\"alcove\":\"memories\",\"format\":1}\n{\"key\":\"k\"}\n{\"end\":true,\"memories\":1}",
	} {
		f.Add([]byte(seed))
	}
	archive, err := os.ReadFile(zipped(f, chatGPTExport()))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(archive)
	for _, bomb := range bombs() {
		if len(bomb.input) < 1<<18 { // larger ones would be most of the time; a test of their own has them all
			f.Add([]byte(bomb.input))
		}
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		dir := sample(t, map[string]string{"input.md": string(input)})
		for _, format := range importer.Formats() {
			path := filepath.Join(dir, "input.md")
			if format == importer.Markdown || format == importer.BasicMemory {
				path = dir
			}
			var once string
			if n := allocated(func() { once = all(t, path, format) }); n > mayAllocate(len(input)) {
				t.Errorf("%s allocates %d bytes for %d", format, n, len(input))
			}
			if twice := all(t, path, format); once != twice {
				t.Errorf("%s gives once\n%s\nand then\n%s", format, once, twice)
			}
		}
	})
}

// mayAllocate is how many bytes reading an input may allocate, altogether.
func mayAllocate(input int) uint64 { return 64<<20 + 2<<10*uint64(input) }

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func all(t *testing.T, path string, format importer.Format) string {
	t.Helper()
	var out strings.Builder
	err := importer.Input{Path: path, Format: format}.Read(t.Context(), func(m portable.Memory) error {
		if m.Key == "" && format != importer.Memories || len(m.Key) > 1<<10 && format != importer.Memories {
			t.Errorf("%s gives a key of %d bytes", format, len(m.Key))
		}
		data, err := json.Marshal(m)
		fmt.Fprintf(&out, "%s\n", data)
		return err
	})
	fmt.Fprint(&out, err)
	return out.String()
}
