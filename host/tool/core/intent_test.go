package core

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/search/wordvec"
	"github.com/alcove-memory/alcove/host/tool"
)

// firstParty are the families that the program carries, as their manifests describe them.
func firstParty(t testing.TB) *tool.Snapshot {
	t.Helper()
	files, err := filepath.Glob("../../../guests/families/*/manifest.json")
	if err != nil || len(files) < 15 {
		t.Fatalf("manifests are %v, %v", files, err)
	}
	var list carried
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Name, Description, Docs string
			Keywords, Examples      []string
			Deprecated              bool
			Tools                   []struct{ Name, Description, Docs string }
		}
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatalf("decode %s: %v", file, err)
		}
		f := tool.Family{Name: m.Name, Description: m.Description, Docs: m.Docs, Keywords: m.Keywords, Examples: m.Examples, Deprecated: m.Deprecated}
		for _, each := range m.Tools {
			f.Tools = append(f.Tools, tool.Spec{Name: each.Name, Description: each.Description, Docs: each.Docs})
		}
		list = append(list, f)
	}
	return tool.NewRegistry(list).Snapshot()
}

// asked are intents, each with the family for it; "-": none.
func asked(t testing.TB, name string) (list [][2]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if family, intent, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			list = append(list, [2]string{family, intent})
		}
	}
	return list
}

// right counts the intents that load their family, and those for which nothing is suggested, since there is nothing.
func right(t testing.TB, there *tool.Snapshot, list [][2]string) (loaded, some, refused, none int) {
	t.Helper()
	table, err := wordvec.Open()
	if err != nil {
		t.Fatal(err)
	}
	known := newIntents(there, table)
	for _, each := range list {
		got := "-"
		found := known.suggest(there.Sets, each[1])
		chosen := best(found)
		switch {
		case chosen != nil:
			got = chosen.family.Name
		case len(found) > 0:
			got = "one of several"
		}
		ok := slices.Contains(strings.Split(each[0], "|"), got)
		switch {
		case each[0] == "-":
			none++
		default:
			some++
		}
		switch {
		case ok && each[0] == "-":
			refused++
		case ok:
			loaded++
		default:
			var why []string
			for _, s := range found {
				why = append(why, fmt.Sprintf("%s %.2f (%.2f) by %s", s.family.Name, s.score, s.meaning, strings.Join(s.matched, ",")))
			}
			t.Logf("%s: %q is for %s: %s", each[0], each[1], got, strings.Join(why, "; "))
		}
	}
	return loaded, some, refused, none
}

func TestAnIntentFindsItsFamilyOrThatThereIsNone(t *testing.T) {
	there := firstParty(t)
	for _, name := range []string{"intents-dev.txt", "intents-heldout.txt"} {
		loaded, some, refused, none := right(t, there, asked(t, name))
		t.Logf("%s: %d of %d load their family, for %d of %d nothing fits", name, loaded, some, refused, none)
		if 10*loaded < 9*some || 10*refused < 9*none {
			t.Errorf("%s: got %d of %d and %d of %d right, want 90%% of both", name, loaded, some, refused, none)
		}
	}
}

func TestOlderIntentsStillFindTheirFamilies(t *testing.T) {
	data, err := os.ReadFile("../../integration/families/testdata/intents.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var list [][2]string
	for line := range bytes.Lines(data) {
		var each struct{ Family, Intent string }
		if err := json.Unmarshal(line, &each); err != nil {
			t.Fatal(err)
		}
		list = append(list, [2]string{each.Family, each.Intent})
	}
	loaded, some, _, _ := right(t, firstParty(t), list)
	t.Logf("%d of %d load their family", loaded, some)
	if 10*loaded < 9*some {
		t.Errorf("%d of %d load their family, want 90%%", loaded, some)
	}
}

// labelled are the labelled intents of host/bench/judge that the resolver was tuned on.
func labelled(t testing.TB) (list [][2]string) {
	t.Helper()
	data, err := os.ReadFile("../../bench/judge/testdata/intents-dev.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var each struct{ Family, Intent string }
		if err := json.Unmarshal(line, &each); err != nil {
			t.Fatal(err)
		}
		list = append(list, [2]string{cmp.Or(each.Family, "-"), each.Intent})
	}
	return list
}

func TestLabelledIntentsFindTheirFamilyOrThatThereIsNone(t *testing.T) {
	loaded, some, refused, none := right(t, firstParty(t), labelled(t))
	t.Logf("%d of %d load their family, for %d of %d nothing fits", loaded, some, refused, none)
	if 100*loaded < 82*some || 100*refused < 95*none {
		t.Errorf("got %d of %d and %d of %d right, want 82%% and 95%%", loaded, some, refused, none)
	}
}

func TestExamplesCopyNoLabelledIntent(t *testing.T) {
	taken := map[string]bool{}
	for _, list := range [][][2]string{labelled(t), asked(t, "intents-dev.txt"), asked(t, "intents-heldout.txt")} {
		for _, each := range list {
			taken[strings.Trim(strings.ToLower(each[1]), ".?!")] = true
		}
	}
	for _, f := range firstParty(t).Sets {
		for _, example := range f.Examples {
			if taken[strings.Trim(strings.ToLower(example), ".?!")] {
				t.Errorf("%s has the example %q, which is a labelled intent", f.Name, example)
			}
		}
	}
}

func TestAnExampleFindsItsFamily(t *testing.T) {
	table, err := wordvec.Open()
	if err != nil {
		t.Fatal(err)
	}
	there := tool.NewRegistry(carried{
		{Name: "ledger", Description: "Keeps accounts", Examples: []string{"how much money did we spend?"}},
		{Name: "garden", Description: "Keeps beds and harvests", Examples: []string{"when were the tomatoes planted?"}},
	}).Snapshot()
	for intent, want := range map[string]string{"the day on which the tomatoes were sown": "garden", "what did we spend in March?": "ledger", "set a timer for the eggs": ""} {
		got := ""
		if list := newIntents(there, table).suggest(there.Sets, intent); len(list) > 0 {
			got = list[0].family.Name
		}
		if got != want {
			t.Errorf("%q is first for %q, want %q", intent, got, want)
		}
	}
}

// carried is a source of families that stay as they are.
type carried []tool.Family

func (f carried) Families() []tool.Family            { return f }
func (f carried) Changed() <-chan struct{}           { return nil }
func (f carried) Load(context.Context, string) error { return nil }

func TestAFamilyOfThirdPartiesWithFewExamplesIsFoundAmongTheBuiltIn(t *testing.T) {
	table, err := wordvec.Open()
	if err != nil {
		t.Fatal(err)
	}
	var list carried
	for _, f := range firstParty(t).Sets {
		list = append(list, f.Family)
	}
	list = append(list, tool.Family{Name: "brewery", Description: "Keeps recipes, batches and tastings of beer", Examples: []string{
		"which hops went into the last batch?", "start a new brew", "how bitter is the pale ale?", "note the gravity of the fermenter",
	}})
	there := tool.NewRegistry(list).Snapshot()
	known := newIntents(there, table)
	for _, intent := range []string{"what hops did we use for the stout?", "when was the batch bottled?", "the malt for the next brew", "record a tasting of the lager"} {
		got := ""
		if chosen := best(known.suggest(there.Sets, intent)); chosen != nil {
			got = chosen.family.Name
		}
		if got != "brewery" {
			t.Errorf("%q loads %q, want brewery", intent, got)
		}
	}
}
