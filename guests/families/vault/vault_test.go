package vault_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/guests/families/vault"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

type world struct {
	*testing.T
	*alcovetest.Space
	dir string // of the mirror
}

func open(t *testing.T) *world {
	w := &world{T: t, Space: alcovetest.New(t, vault.Family(), alcovetest.Manifest(t, "manifest.json")), dir: t.TempDir()}
	w.Root("vault", w.dir)
	return w
}

func (w *world) call(tool string, arguments map[string]any, result any) {
	w.T.Helper()
	if err := w.Space.Tool(tool, arguments, result); err != nil {
		w.T.Fatalf("call %s with %v: %v", tool, arguments, err)
	}
}

type file struct{ Path, Content, Digest string }

type exported struct {
	Files      []file
	Count      int
	Written    int
	Edited     []string
	NextCursor string `json:"next_cursor"`
}

type imported struct {
	Imported, Updated, Unchanged int
	Conflicts                    []struct{ Path, ID, Field, File, Memory string }
	Warnings                     []string
	NextCursor                   string `json:"next_cursor"`
}

// export is every page of the vault.
func (w *world) export(target string) (all exported) {
	w.T.Helper()
	for cursor := ""; ; {
		var page exported
		w.call("memory_export_facts_to_vault", map[string]any{"target": target, "limit": 1000, "cursor": cursor}, &page)
		all.Files, all.Count, all.Written = append(all.Files, page.Files...), all.Count+page.Count, all.Written+page.Written
		all.Edited = append(all.Edited, page.Edited...)
		if cursor = page.NextCursor; cursor == "" {
			return all
		}
	}
}

func (w *world) imports(files []file, rule string) (out imported) {
	w.T.Helper()
	list := []map[string]any{}
	for _, f := range files {
		list = append(list, map[string]any{"path": f.Path, "content": f.Content})
	}
	w.call("memory_import_vault_to_facts", map[string]any{"files": list, "on_conflict": rule}, &out)
	return out
}

// takes imports the whole mirror.
func (w *world) takes(rule string) (all imported) {
	w.T.Helper()
	for cursor := ""; ; {
		var page imported
		w.call("memory_import_vault_to_facts", map[string]any{"source": "mirror", "on_conflict": rule, "cursor": cursor}, &page)
		all.Imported, all.Updated, all.Unchanged = all.Imported+page.Imported, all.Updated+page.Updated, all.Unchanged+page.Unchanged
		all.Conflicts, all.Warnings = append(all.Conflicts, page.Conflicts...), append(all.Warnings, page.Warnings...)
		if cursor = page.NextCursor; cursor == "" {
			return all
		}
	}
}

func (w *world) path(p string) string { return filepath.Join(w.dir, filepath.FromSlash(p)) }

func (w *world) edit(p, old, text string) {
	w.T.Helper()
	data, err := os.ReadFile(w.path(p))
	if err != nil || !strings.Contains(string(data), old) {
		w.T.Fatalf("%s has no %q: %s (%v)", p, old, data, err)
	}
	if err := os.WriteFile(w.path(p), []byte(strings.Replace(string(data), old, text, 1)), 0o600); err != nil {
		w.T.Fatal(err)
	}
}

// versions are the versions of all memories.
func (w *world) versions() map[string]uint64 {
	all := map[string]uint64{}
	for key, m := range w.Memories() {
		all[key] = m.Version
	}
	return all
}

func memory(key, kind, content string, tags ...string) alcove.Memory {
	return alcove.Memory{Key: key, Type: kind, Value: alcove.JSON(content), Tags: tags}
}

func TestAFactIsAFile(t *testing.T) {
	w := open(t)
	half := .5
	w.Put(alcove.Memory{Key: "tea", Type: "decision", Value: alcove.JSON("Ann drinks green tea, at nine!\nAlways."), Tags: []string{"ann", "tea"}, Importance: &half, Links: []string{"pot"},
		Metadata: alcove.Metadata{"summary": alcove.JSON("Tea at nine"), "entityIds": alcove.JSON([]string{"ent:1"})}},
		alcove.Memory{Key: "turn", Value: alcove.JSON("hello"), Metadata: alcove.Metadata{"session": alcove.JSON("s")}})
	w.Ops[alcove.OpToolsCall] = func([]byte) (any, error) {
		return map[string]any{"result": map[string]any{"entity": map[string]any{"entityId": "default#ent:1", "name": "Ann Lee"}}}, nil
	}
	out := w.export("inline")
	if out.Count != 1 || out.Files[0].Path != "default/decisions/2026-06-01-decision-ann-drinks-green-tea-at-nine-always.md" {
		t.Fatalf("memory_export_facts_to_vault = %+v, want one file named by day, type and text", out)
	}
	want := `---
id: "default#tea"
version: "2"
digest: "` + out.Files[0].Digest + `"
factType: "decision"
scopeId: "default"
createdBy: "tester"
timestamp: "2026-06-01T12:00:00.000000Z"
updatedAt: "2026-06-01T12:00:00.000000Z"
tags: ["ann", "tea"]
entities: ["[[Ann Lee]]"]
importanceScore: "0.5"
lifecycleState: "active"
aliases: ["Tea at nine"]
---

Ann drinks green tea, at nine!
Always.

## Summary

Tea at nine

## Links

- pot
`
	if out.Files[0].Content != want {
		t.Errorf("the file is %s, want %s", out.Files[0].Content, want)
	}
}

func TestFilesOfTheSameNameGetAPartOfTheirID(t *testing.T) {
	w := open(t)
	for i := range 4 {
		w.Put(memory(fmt.Sprint("k", i), "note", "The same. "+strings.Repeat("!", i)))
	}
	all, seen := w.export("inline"), map[string]bool{}
	for cursor, i := "", 0; i < 4; i++ { // page by page they have the same names
		var page exported
		w.call("memory_export_facts_to_vault", map[string]any{"limit": 1, "cursor": cursor}, &page)
		if seen[page.Files[0].Path] = true; page.Files[0].Path != all.Files[i].Path {
			t.Errorf("%s alone is %s", all.Files[i].Path, page.Files[0].Path)
		}
		cursor = page.NextCursor
	}
	if len(seen) != 4 || !seen["default/notes/2026-06-01-note-the-same.md"] {
		t.Errorf("files in pages = %v, want 4, one with the plain name", seen)
	}
}

// hostileContents are texts that have what structures files.
var hostileContents = []string{
	"a", "", "a\n", "\n\na\n\n\n", "---\nid: \"x\"\n---\nb", "## Summary\n\nx", "a\n\n## Summary\n\nb\n\n## Links\n\n- c", "\\## Summary", "\\\\## Links  \nx", "a\r\nb\r\n", "日本語のメモ", "\"quoted\" 'single' \\ [[x]] # no comment",
	"..", "/etc/passwd", "\x00\x01\ufeff", "## Links", strings.Repeat("long ", 1000), "  leading", "trailing  ", "# Title\n- a\n- b\n\n```go\ncode\n```",
}

func roundTrip(t *testing.T, w *world, n int) {
	t.Helper()
	var list []alcove.Memory
	for i := range n {
		content := fmt.Sprintf("Fact %d of the vault, %d.", i%(n/2+1), i)
		if i < len(hostileContents) {
			content = hostileContents[i]
		}
		m := memory(fmt.Sprintf("k%05d", i), []string{"decision", "observation", "plan", "error", "insight", "session_summary", "", "learning"}[i%8], content, "t"+strconv.Itoa(i%7))
		if i%3 == 0 {
			m.Metadata = alcove.Metadata{"summary": alcove.JSON("## Links\nof " + strconv.Itoa(i)), "entityIds": alcove.JSON([]string{"ent:" + strconv.Itoa(i%5)})}
		}
		if i%11 == 0 {
			m.Value = alcove.JSON(map[string]any{"n": i})
		}
		list = append(list, m)
	}
	w.Put(list...)
	before := w.versions()
	inline := w.export("inline")
	if inline.Count != n {
		t.Fatalf("%d of %d are exported", inline.Count, n)
	}
	for part := range slices.Chunk(inline.Files, 500) {
		if out := w.imports(part, "report"); out.Unchanged != len(part) || out.Imported+out.Updated+len(out.Conflicts)+len(out.Warnings) > 0 {
			t.Errorf("inline: %+v", out)
		}
	}
	if out := w.export("mirror"); out.Written != n || len(out.Edited) > 0 {
		t.Errorf("mirror: %d are written, %v", out.Written, out.Edited)
	}
	if out := w.takes("report"); out.Unchanged != n || out.Imported+out.Updated+len(out.Conflicts)+len(out.Warnings) > 0 {
		t.Errorf("mirror: %+v", out)
	}
	if out := w.export("mirror"); out.Written != 0 || len(out.Edited) > 0 {
		t.Errorf("mirror again: %d are written, %v", out.Written, out.Edited)
	}
	after := w.versions()
	for key, version := range before {
		if after[key] != version {
			t.Errorf("%s has another version: %d was %d", key, after[key], version)
		}
	}
	if len(after) != n {
		t.Errorf("there are %d memories", len(after))
	}
}

// TestAnUnchangedRoundTripWritesNothing has 40 notes; ALCOVE_VAULT_NOTES says how many else.
func TestAnUnchangedRoundTripWritesNothing(t *testing.T) {
	n := 40
	if s := os.Getenv("ALCOVE_VAULT_NOTES"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	roundTrip(t, open(t), n)
}

func TestEditsOnBothSidesAreMerged(t *testing.T) {
	w := open(t)
	w.Put(memory("tea", "decision", "Ann drinks green tea.", "ann", "old"))
	p := w.export("mirror").Files[0].Path
	w.edit(p, "green", "black")
	w.edit(p, `["ann", "old"]`, "\n  - ann\n  - new")
	var changed struct{ Version uint64 }
	w.Put(memory("tea", "decision", "Ann drinks green tea.", "ann", "old", "mine"))
	out := w.takes("report")
	if out.Updated != 1 || len(out.Conflicts) > 0 {
		t.Fatalf("import = %+v, version %v, want 1 updated without a conflict", out, changed)
	}
	m := w.Memory("tea")
	if m.Text() != "Ann drinks black tea." || strings.Join(m.Tags, " ") != "ann mine new" {
		t.Errorf("the memory is %q with tags %q, want both sides' changes", m.Text(), m.Tags)
	}
	if out := w.takes("report"); out.Updated != 0 || len(out.Conflicts) > 0 {
		t.Errorf("again: %+v", out)
	}
	if out := w.export("mirror"); len(out.Edited) != 0 || out.Written != 1 {
		t.Errorf("exported again: %+v", out)
	}
	p = w.export("mirror").Files[0].Path
	w.edit(p, `"mine"`, `"yours"`)
	if out := w.export("mirror"); len(out.Edited) != 1 || out.Written != 0 {
		t.Errorf("exported over an edit: %+v", out)
	}
	if out := w.takes("report"); out.Updated != 1 || len(out.Conflicts) > 0 {
		t.Errorf("an edit of tags: %+v", out)
	}
	if out := w.export("mirror"); len(out.Edited) != 0 || out.Written != 1 {
		t.Errorf("exported after the import: %+v", out)
	}
	if out := w.takes("report"); out.Updated != 0 || len(out.Conflicts) > 0 {
		t.Errorf("nothing is left: %+v", out)
	}
}

func TestWhatBothSidesChangedIsAConflict(t *testing.T) {
	for rule, want := range map[string]string{"report": "Ann drinks coffee.", "memory": "Ann drinks coffee.", "file": "Ann drinks black tea."} {
		w := open(t)
		w.Put(memory("tea", "decision", "Ann drinks green tea."))
		p := w.export("mirror").Files[0].Path
		w.edit(p, "green", "black")
		w.Put(memory("tea", "decision", "Ann drinks coffee."))
		out := w.takes(rule)
		if w.Memory("tea").Text() != want || (len(out.Conflicts) == 1) != (rule == "report") {
			t.Errorf("rule %s: import = %+v and the memory is %q, want %q, and a conflict where it is reported", rule, out, w.Memory("tea").Text(), want)
		}
		_, err := os.Stat(w.path(strings.TrimSuffix(p, ".md") + ".conflict.md"))
		if (err == nil) != (rule == "report") {
			t.Errorf("rule %s: stat of the conflict's file: %v, want it there: %t", rule, err, rule == "report")
		}
		if rule == "report" && (out.Conflicts[0].File != "Ann drinks black tea." || out.Conflicts[0].Memory != want || out.Conflicts[0].Field != "content") {
			t.Errorf("conflicts = %+v, want the contents of both sides", out.Conflicts)
		}
		if rule == "report" { // it is not overwritten, and stays a conflict
			if e := w.export("mirror"); e.Written != 0 {
				paths := e.Files
				t.Logf("the changed fact has the file %s", paths[0].Path)
			}
			data, err := os.ReadFile(w.path(p))
			if err != nil || !strings.Contains(string(data), "black") {
				t.Errorf("the edit is lost: %s (%v)", data, err)
			}
		}
	}
}

func TestANewNoteBecomesAFactOnce(t *testing.T) {
	w := open(t)
	if err := os.MkdirAll(w.path("mine/plans"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.path("mine/plans/trip.md"), []byte("---\ntags:\n- travel\ncssclass: wide\n---\n# Trip\n\nTo the sea.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.DryRun = true
	if out := w.takes("report"); out.Imported != 1 || len(w.Memories()) != 0 {
		t.Errorf("a dry run: %+v", out)
	}
	w.DryRun = false
	if out := w.takes("report"); out.Imported != 1 {
		t.Fatalf("import = %+v, want 1 imported", out)
	}
	all := w.Memories()
	if len(all) != 1 {
		t.Fatalf("memories = %v, want 1", all)
	}
	for key, m := range all {
		if m.Type != "plan" || m.Text() != "# Trip\n\nTo the sea." || strings.Join(m.Tags, " ") != "travel" {
			t.Errorf("%s is %+v", key, m)
		}
	}
	if out := w.takes("report"); out.Unchanged != 1 || out.Imported+out.Updated != 0 {
		t.Errorf("again: %+v", out)
	}
	w.edit("mine/plans/trip.md", "sea", "hills")
	if out := w.takes("report"); out.Updated != 1 || len(w.Memories()) != 1 {
		t.Errorf("edited: %+v", out)
	}
}

func TestHostileFilesAreRefused(t *testing.T) {
	w := open(t)
	w.Put(memory("tea", "decision", "Ann drinks green tea."))
	for _, p := range []string{"", "../x.md", "/x.md", "a/../../x.md", "a\x00.md", `a\b.md`, "C:x.md"} {
		err := w.Tool("memory_import_vault_to_facts", map[string]any{"files": []map[string]any{{"path": p, "content": "x"}}}, nil)
		if alcove.CodeOf(err) != alcove.InvalidArgument {
			t.Errorf("import of path %q: %v, want %s", p, err, alcove.InvalidArgument)
		}
	}
	for _, c := range []struct{ content, says string }{
		{"---\nid: {a: 1}\n---\nx", "id cannot be read"}, {"---\nid: \"default#tea\"\nversion: many\n---\nx", "no whole number"}, {strings.Repeat("x", 300_000), "vault_max_file_bytes"}, {" \n", "empty"},
	} {
		out := w.imports([]file{{Path: "a.md", Content: c.content}}, "report")
		if len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], c.says) || out.Imported+out.Updated > 0 {
			t.Errorf("import of %.40q = %+v, want one warning that says %q", c.content, out, c.says)
		}
	}
	// a version of the future, and one before the fact, are no base
	for _, version := range []string{"99999", "1"} {
		out := w.imports([]file{{Path: "a.md", Content: "---\nid: \"default#tea\"\nversion: \"" + version + "\"\n---\nforged"}}, "report")
		if len(out.Conflicts) != 1 || w.Memory("tea").Text() != "Ann drinks green tea." {
			t.Errorf("version %s: %+v", version, out)
		}
	}
	if err := w.Tool("memory_import_vault_to_facts", map[string]any{}, nil); alcove.CodeOf(err) != alcove.InvalidArgument {
		t.Errorf("nothing: %v", err)
	}
}

func TestACallerWithFewRightsReachesNoFileAndNoOtherNamespace(t *testing.T) {
	w := open(t)
	w.Namespace = "secret"
	w.Put(memory("plan", "plan", "The velvet plan."))
	secret := w.export("mirror").Files[0]
	inline := w.export("inline").Files[0]
	w.Namespace, w.Write = "default", []string{"default"}
	for tool, arguments := range map[string]map[string]any{
		"memory_export_facts_to_vault": {"target": "mirror"}, "memory_import_vault_to_facts": {"source": "mirror"},
	} {
		var answer json.RawMessage
		err := w.Tool(tool, arguments, &answer)
		if tool == "memory_import_vault_to_facts" && alcove.CodeOf(err) != alcove.Denied || strings.Contains(string(answer), "velvet") || err != nil && strings.Contains(err.Error(), secret.Path) {
			t.Errorf("%s = %s, %v, want nothing of other namespaces nor of the vault's path", tool, answer, err)
		}
	}
	edited := strings.Replace(inline.Content, "velvet", "red", 1)
	if err := w.Tool("memory_import_vault_to_facts", map[string]any{"files": []map[string]any{{"path": inline.Path, "content": edited}}}, nil); alcove.CodeOf(err) != alcove.Denied {
		t.Errorf("an edit of another namespace: %v", err)
	}
	var found struct{ Results []struct{ Path string } }
	w.call("memory_query_vault", map[string]any{"query": "velvet plan"}, &found)
	if len(found.Results) != 0 {
		t.Errorf("found %v", found)
	}
}

func TestAVaultIsSearched(t *testing.T) {
	w := open(t)
	w.Put(memory("tea", "decision", "Ann drinks green tea."), memory("bus", "plan", "The bus leaves at nine."))
	var found struct {
		Results []struct{ Path, Snippet string }
	}
	w.call("memory_query_vault", map[string]any{"query": "green tea"}, &found)
	if len(found.Results) != 1 || found.Results[0].Path != w.export("inline").Files[1].Path || !strings.Contains(found.Results[0].Snippet, "green") {
		t.Errorf("memory_query_vault = %+v, want the file about green tea", found)
	}
}

func TestWithoutAMirrorTheVaultIsInline(t *testing.T) {
	w := open(t)
	w.Revoke("file.read", "file.write")
	w.Put(memory("tea", "decision", "Ann drinks green tea."))
	f := w.export("inline").Files[0]
	f.Content = strings.Replace(f.Content, "green", "black", 1)
	if out := w.imports([]file{f}, "report"); out.Updated != 1 || w.Memory("tea").Text() != "Ann drinks black tea." {
		t.Errorf("import = %+v, want the memory updated", out)
	}
	if err := w.Tool("memory_export_facts_to_vault", map[string]any{"target": "mirror"}, nil); err == nil {
		t.Error("it has a mirror")
	}
	w.Forget("tea")
	if out := w.imports([]file{f}, "report"); len(out.Conflicts) != 1 || out.Conflicts[0].Field != "memory" || len(w.Memories()) != 0 {
		t.Errorf("a deleted fact: %+v", out)
	}
	if out := w.imports([]file{f}, "file"); out.Imported != 1 || len(w.Memories()) != 1 {
		t.Errorf("a deleted fact again: %+v", out)
	}
}

func TestANoteWithoutAnIDIsKnownByItsPath(t *testing.T) {
	w := open(t)
	daily := file{Path: "Daily/2026-11-24.md", Content: "Met Priya. The launch moves to June. #launch [[Priya]]\n"}
	only := func() *alcove.Memory {
		t.Helper()
		all := w.Memories()
		if len(all) != 1 {
			t.Fatalf("memories = %v, want one", all)
		}
		for _, m := range all {
			return m
		}
		return nil
	}
	check := func(what string, out imported, imported, updated, unchanged int) {
		t.Helper()
		if out.Imported != imported || out.Updated != updated || out.Unchanged != unchanged || len(out.Conflicts) > 0 {
			t.Errorf("%s: %+v, want %d imported, %d updated, %d unchanged and no conflict", what, out, imported, updated, unchanged)
		}
	}
	check("a new note", w.imports([]file{daily}, "report"), 1, 0, 0)
	if m := only(); !slices.Equal(m.Tags, []string{"launch"}) || string(m.Metadata["entityIds"]) != `["Priya"]` {
		t.Errorf("the fact has the tags %q and the entities %s, want launch and Priya", m.Tags, m.Metadata["entityIds"])
	}
	// What a hook adds in memory is no edit of the file.
	m := only()
	m.Tags = []string{"launch", "date"}
	w.Put(*m)
	before := w.versions()
	check("the same", w.imports([]file{daily}, "report"), 0, 0, 1)
	if after := w.versions(); !maps.Equal(before, after) {
		t.Errorf("importing the same wrote: %v, then %v", before, after)
	}
	daily.Content = "Met Priya. The launch moves to July. #launch #late [[Priya]]\n"
	check("edited", w.imports([]file{daily}, "report"), 0, 1, 0)
	if m := only(); !strings.Contains(m.Text(), "July") || !slices.Equal(m.Tags, []string{"launch", "date", "late"}) {
		t.Errorf("the edited fact = %q with the tags %q, want July, and launch, date, late", m.Text(), m.Tags)
	}
	daily.Content = strings.Replace(daily.Content, "July", "August", 1)
	check("edited again", w.imports([]file{daily}, "report"), 0, 1, 0)

	moved := file{Path: "Archive/2026-11-24.md", Content: daily.Content}
	check("renamed", w.imports([]file{moved}, "report"), 0, 0, 1)
	moved.Content = strings.Replace(moved.Content, "August", "autumn", 1)
	check("edited after that", w.imports([]file{moved}, "report"), 0, 1, 0)
	only()

	copied := file{Path: "Copy.md", Content: moved.Content}
	check("copied", w.imports([]file{moved, copied}, "report"), 0, 0, 2)
	copied.Content += "More.\n"
	check("the copy is edited", w.imports([]file{moved, copied}, "report"), 1, 0, 1)
	if n := len(w.Memories()); n != 2 {
		t.Errorf("%d memories, want the note and its copy", n)
	}
}

func TestANoteWithoutAnIDThatBothSidesChangedIsAConflictUntilItIsDecided(t *testing.T) {
	w := open(t)
	note := file{Path: "plan.md", Content: "Ship on Monday.\n"}
	w.imports([]file{note}, "report")
	for _, m := range w.Memories() {
		m.Value = alcove.JSON("Ship on Tuesday.")
		w.Put(*m)
	}
	note.Content = "Ship on Friday.\n"
	for range 2 {
		if out := w.imports([]file{note}, "report"); len(out.Conflicts) != 1 || out.Updated != 0 {
			t.Errorf("import = %+v, want one conflict", out)
		}
	}
	if out := w.imports([]file{note}, "file"); out.Updated != 1 || len(out.Conflicts) != 0 {
		t.Errorf("by the file: %+v, want one updated", out)
	}
	if out := w.imports([]file{note}, "report"); out.Unchanged != 1 || len(out.Conflicts) != 0 {
		t.Errorf("then: %+v, want one unchanged", out)
	}
}
