//go:build guests

package families_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// intent is what somebody wants to do, and the family for it.
type intent struct{ Family, Intent string }

// intents reads testdata/intents.jsonl: seven intents for each first-party family, by a writer who had the table of what the families are
// for, and neither their descriptions nor their tools. The file was added before any description was changed on its account, and stays as it is.
func intents(t *testing.T) (list []intent) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "intents.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var each intent
		if err := json.Unmarshal(line, &each); err != nil {
			t.Fatalf("decode %s: %v", line, err)
		}
		list = append(list, each)
	}
	return list
}

// The first score of nine families, by descriptions and a resolver that were made before the intents were: of 63 intents these many loaded
// their family, and for these many it was the first suggestion.
const (
	firstLoaded    = 33
	firstSuggested = 42
)

// Words by which a family is found are no copies of intents: those that are phrases are in none of them.
func TestKeywordsOfFamiliesCopyNoIntent(t *testing.T) {
	t.Parallel()
	list := intents(t)
	for _, g := range guests.All() {
		var m abi.Manifest
		if err := json.Unmarshal([]byte(g.Manifest), &m); err != nil {
			t.Fatal(err)
		}
		for _, keyword := range m.Keywords {
			words := len(strings.Fields(keyword))
			for _, each := range list {
				if words > 4 || words > 2 && strings.Contains(strings.ToLower(each.Intent), strings.ToLower(keyword)) {
					t.Errorf("%s: the keyword %q is a phrase, as in %q", m.Name, keyword, each.Intent)
				}
			}
		}
	}
}

// chosen is what memory_load_family makes of an intent.
type chosen struct {
	Family      string
	Suggestions []struct {
		Family  string
		Matched []string
		Score   float64
	}
}

func TestIntentsLoadTheirFamilies(t *testing.T) {
	t.Parallel()
	there := map[string]bool{}
	for _, g := range guests.All() {
		there[g.Name] = true
	}
	s := server.Start(t, host.Options{Families: server.Families(), Cache: server.Cache()})
	asked, loaded, first := 0, 0, 0
	for _, each := range intents(t) {
		if !there[each.Family] {
			continue
		}
		params, err := json.Marshal(map[string]any{"intent": each.Intent})
		if err != nil {
			t.Fatal(err)
		}
		var got chosen
		if o := s.Operate(`{"method":"load_family","params":`+string(params)+`}`, nil); o.Error != nil {
			t.Fatalf("load_family for %q: %+v", each.Intent, o.Error)
		} else if err := json.Unmarshal(o.Result, &got); err != nil {
			t.Fatal(err)
		}
		asked++
		if len(got.Suggestions) > 0 && got.Suggestions[0].Family == each.Family {
			first++
		}
		if got.Family == each.Family {
			loaded++
		} else {
			t.Logf("%s: %q loads %q, of %v", each.Family, each.Intent, got.Family, got.Suggestions)
		}
	}
	t.Logf("%d families, %d intents: %d load their family, for %d it is the first suggestion; at first %d and %d of 63", len(there), asked, loaded, first, firstLoaded, firstSuggested)
	if 10*loaded < 9*asked {
		t.Errorf("%d of %d intents load their family: at least 90%% have to", loaded, asked)
	}
}
