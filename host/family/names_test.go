package family

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/family/naming"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool/core"
	"github.com/alcove-memory/alcove/registry"
)

// withTools is a family with these tools.
func withTools(family string, names ...string) *abi.Manifest {
	m := aFamily(family)
	m.Tools = nil
	for _, name := range names {
		m.Tools = append(m.Tools, abi.Tool{Name: name, Description: "Does it.", InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	return m
}

func titled(title string) *abi.Manifest {
	m := aFamily("third")
	m.Tools[0].Annotations.Title = title
	return m
}

// lookAlikes are families that are refused beside one named notes with the tool notes_do, and what the reason names.
func lookAlikes() map[string]*abi.Manifest {
	alike := map[string]*abi.Manifest{}
	for _, name := range []string{"core", "memory", "alcove", "host", "operator", "system"} {
		alike["its name "+name+" is taken"] = aFamily(name)
	}
	for name, like := range map[string]string{"c0re": "core", "rnemory": "memory", "al-cove": "alcove", "h0st": "host", "0perator": "operator", "sy5tem": "system", "n0tes": "notes", "note-s": "notes"} {
		if name[0] >= '0' && name[0] <= '9' {
			continue // a manifest has no such name
		}
		alike["its name "+name+" resembles "+like] = withTools(name, "third_do")
	}
	for _, tool := range []string{"memory-store", "memory_store_", "Memory.Store", "rnemory_store", "memory_st0re", "memory_recaIl", "memory_operat1on", "memory_smart_load"} {
		alike["its tool "+tool] = withTools("third", tool)
	}
	for _, tool := range []string{"notes_do", "notes-do", "Notes.Do", "n0tes_d0", "notesdo"} {
		alike["notes_do of family notes"+strings.Repeat(" ", len(alike))] = withTools("third", tool)
	}
	alike["its tools third_do and third.do resemble each other"] = withTools("third", "third_do", "third.do")
	alike["its tools third_list and third_1ist resemble each other"] = withTools("third", "third_list", "third_1ist")
	alike[`the title "Memory Store" of its tool third_do resembles the server's own memory_store`] = titled("Memory Store")
	alike[`resembles the server's own memory_search`] = titled("mеmоry_sеаrch")
	alike[`resembles notes_do of family notes: give it another title`] = titled("Notes: do!")
	return alike
}

func TestAFamilyThatResemblesOthersIsNotInstalled(t *testing.T) {
	w := open(t, nil).with(aFamily("notes"), script{says: `1`})
	lock, modules := w.lockFile(), w.kept()
	for reason, m := range lookAlikes() {
		_, err := w.Install(pack(t, m, script{says: `2`}))
		if code(err) != memory.Conflict || !strings.Contains(err.Error(), strings.TrimSpace(reason)) || !strings.Contains(err.Error(), "nothing was installed") {
			t.Errorf("Install: %v, want a conflict, for %s, and nothing installed", err, reason)
		}
	}
	if now := w.lockFile(); len(now.Families) != len(lock.Families) || !slices.Equal(w.kept(), modules) {
		t.Errorf("something was installed: %+v, %q", now, w.kept())
	}
	if got := w.says("notes_do"); got != "1" {
		t.Errorf("it says %s", got)
	}
	w.install(withTools("notes", "notes_do", "notes_list"), script{says: `3`}) // which is itself
	w.install(withTools("third", "third_do", "memory_tidy"), script{says: `4`})
}

func TestAFileInTheWatchedFolderThatResemblesOthersIsListedWithTheReason(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "third.wasm")
	w := open(t, func(o *Options) { o.Watch = folder }).with(aFamily("notes"), script{says: `1`})
	for reason, m := range lookAlikes() {
		writeFile(t, file, pack(t, m, script{says: `2`}))
		w.catalogue.Scan()
		all := w.All()
		i := slices.IndexFunc(all, func(d catalogue.Described) bool { return d.Manifest.Name == m.Name })
		if len(all) != 2 || i < 0 || !strings.Contains(all[i].Fault, strings.TrimSpace(reason)) {
			t.Errorf("families %+v, want the second at fault, for %s", all, reason)
			continue
		}
		if _, err := w.Grant(grants.Request{Family: m.Name, All: true}); code(err) != memory.Unavailable {
			t.Errorf("%s is granted something: %v", m.Name, err)
		}
		if got := w.says("notes_do"); got != "1" {
			t.Errorf("beside %s it says %s", m.Name, got)
		}
	}
}

func TestWhoIsThereFirstKeepsItsNames(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "zz.wasm"), pack(t, withTools("zz", "do_it"), script{says: `1`}))
	w := open(t, func(o *Options) { o.Watch = folder })
	w.grant(grants.Request{Family: "zz"})
	writeFile(t, filepath.Join(folder, "aa.wasm"), pack(t, withTools("aa", "do-it"), script{says: `2`}))
	w.catalogue.Scan()
	if all := w.All(); !strings.Contains(all[0].Fault, "do_it of family zz") || all[1].Fault != "" || w.says("do_it") != "1" {
		t.Errorf("families %+v, want aa at fault, and zz with its tool", all)
	}
	yes := true
	w.grant(grants.Request{Family: "zz", Disable: &yes})
	if all := w.All(); !strings.Contains(all[0].Fault, "do_it of family zz") {
		t.Errorf("while it is disabled: %+v", all)
	}
}

func TestAFamilyNamedLikeOneThatIsBuiltInNeverTakesItsPlace(t *testing.T) {
	carried := pack(t, aFamily("ranking"), script{says: `1`})
	own := pack(t, withTools("ranking", "ranking_do", "ranking_more"), script{says: `2`})
	t.Run("installed", func(t *testing.T) {
		w := open(t, release(carried))
		if _, err := w.Install(own); code(err) != memory.Conflict || !strings.Contains(err.Error(), "its name ranking is taken") || len(w.kept()) != 0 {
			t.Errorf("%v, kept %q", err, w.kept())
		}
		if got := w.says("ranking_do"); got != "1" {
			t.Errorf("it says %s", got)
		}
	})
	t.Run("in the watched folder", func(t *testing.T) {
		folder := t.TempDir()
		writeFile(t, filepath.Join(folder, "ranking.wasm"), own)
		w := open(t, func(o *Options) { release(carried)(o); o.Watch = folder })
		all := w.All()
		if len(all) != 2 || all[0].Source != grants.BuiltIn || all[0].Fault != "" || !all[1].Hidden || !strings.Contains(all[1].Fault, "the program carries a family of this name") {
			t.Errorf("families %+v, want the one that is built in, and the other hidden", all)
		}
		if got := w.says("ranking_do"); got != "1" {
			t.Errorf("it says %s", got)
		}
		known := w.catalogue.Hidden()[0]
		w.catalogue.Scan()
		if again := w.catalogue.Hidden(); len(again) != 1 || again[0] != known {
			t.Error("it is read again at each look")
		}
		if err := os.Remove(filepath.Join(folder, "ranking.wasm")); err != nil {
			t.Fatal(err)
		}
		w.catalogue.Scan()
		if all := w.All(); len(all) != 1 {
			t.Errorf("families %+v, want 1", all)
		}
	})
	t.Run("a copy of it", func(t *testing.T) {
		folder := t.TempDir()
		writeFile(t, filepath.Join(folder, "ranking.wasm"), carried)
		w := open(t, func(o *Options) { release(carried)(o); o.Watch = folder })
		if all := w.All(); len(all) != 1 || all[0].Fault != "" {
			t.Errorf("families %+v, want one without a fault", all)
		}
	})
}

func TestADirectoryWithAFamilyOfSuchANameGoesOnAndListsTheReason(t *testing.T) {
	dir := t.TempDir()
	carried := pack(t, aFamily("ranking"), script{says: `1`})
	lock := registry.Lock{Families: map[string]registry.Grant{}}
	for _, m := range []*abi.Manifest{aFamily("core"), aFamily("ranking"), withTools("third", "memory-store"), aFamily("fourth")} {
		module := pack(t, m, script{says: `2`})
		putModule(t, dir, module)
		lock.Families[m.Name] = registry.Grant{Digest: modules.Digest(module), Version: "1.0.0"}
	}
	if err := registry.Write(dir, lock); err != nil {
		t.Fatal(err)
	}
	var w *world
	t.Run("opened", func(t *testing.T) {
		w = openIn(t, dir, release(carried))
		var listed []string
		for _, d := range w.All() {
			listed = append(listed, d.Manifest.Name+": "+d.Fault)
		}
		want := []string{"core: its name core is taken: give it another name", "fourth: ", "ranking: ",
			"ranking: the program carries a family of this name, which stays in use: give this one another name",
			"third: its tool memory-store resembles the server's own memory_store: give it another name"}
		if !slices.Equal(listed, want) {
			t.Errorf("listed %q", listed)
		}
		if w.says("ranking_do") != "1" || w.says("fourth_do") != "2" {
			t.Error("the others are not as they were")
		}
		for _, name := range []string{"core", "ranking", "third"} {
			if _, err := w.Remove(name); err != nil {
				t.Error(err)
			}
		}
		if all := w.All(); len(all) != 2 || len(w.kept()) != 1 {
			t.Errorf("once they are removed: %+v, kept %q", all, w.kept())
		}
	})
}

func TestAnInstallationThatAFileWouldHideIsRefusedAndDropsNothing(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "notes.wasm"), pack(t, aFamily("notes"), script{says: `2`}))
	w := open(t, func(o *Options) { o.Watch = folder })
	w.grant(grants.Request{Family: "notes", All: true})
	_, err := w.Install(pack(t, aFamily("notes"), script{says: `1`}))
	if code(err) != memory.Conflict || !strings.Contains(err.Error(), filepath.Join(folder, "notes.wasm")) {
		t.Errorf("Install: %v, want a conflict that names the file", err)
	}
	if d := w.All()[0]; len(d.Grant.Capabilities) == 0 || len(w.kept()) != 0 {
		t.Errorf("the family is %+v, want its grant kept and no module installed", d)
	}
}

func TestAPublishedToolThatResemblesAnotherIsRefused(t *testing.T) {
	tool := func(name, title string) step {
		return step{"tools.publish", `{"tool":{"name":"` + name + `","description":"Made.","input_schema":{"type":"object"},"annotations":{"title":"` + title + `"}}}`}
	}
	w := open(t, nil).with(aFamily("other"), script{steps: []step{tool("other_made", "")}}).with(aFamily("maker"), script{steps: []step{
		tool("maker_made", ""), tool("memory-store", ""), tool("rnemory_recall", ""), tool("other-do", ""), tool("0ther_do", ""), tool("maker-do", ""),
		tool("other.made", ""), tool("maker_titled", "Memory Forget"), tool("maker_again", "Make again")}})
	w.do("other")
	w.do("maker")
	got, _ := w.do("maker") // what it published before is no other's
	for i, r := range got {
		if fine := i == 0 || i == len(got)-1; (r.Error == nil) != fine {
			t.Errorf("tool %d: %+v", i, r.Error)
		}
	}
	if got[1].Error.Code != abi.CodeInvalidArgument || got[3].Error.Code != abi.CodeConflict || got[6].Error.Code != abi.CodeConflict {
		t.Errorf("errors %v, %v, %v, want an invalid argument and two conflicts", got[1].Error, got[3].Error, got[6].Error)
	}
	if _, err := w.Install(pack(t, withTools("thief", "maker-made"), script{})); code(err) != memory.Conflict {
		t.Errorf("a family with the name of a published tool: %v", err)
	}
}

func TestNamesAreCheckedBeforeAModuleIsInstalledAnywhere(t *testing.T) {
	carried := pack(t, aFamily("ranking"), script{says: `1`})
	built := []modules.Module{carrying(t, carried)}
	for _, m := range []*abi.Manifest{aFamily("core"), withTools("x", "memory.store"), withTools("x", "x_a", "x-a")} {
		if err := naming.Check(m, "", core.Names(), nil); err == nil {
			t.Errorf("%s is let through", m.Name)
		}
	}
	for _, m := range []*abi.Manifest{aFamily("ranking"), aFamily("rank-ing"), withTools("x", "ranking-do")} {
		if err := naming.Check(m, "", core.Names(), built); err == nil {
			t.Errorf("%s is let through beside what the program carries", m.Name)
		}
		if err := naming.Check(m, "", core.Names(), nil); err != nil {
			t.Errorf("CheckNames of %s: %v", m.Name, err)
		}
	}
	if err := naming.Check(aFamily("ranking"), modules.Digest(carried), core.Names(), built); err != nil {
		t.Errorf("the one that it carries: %v", err)
	}
}
