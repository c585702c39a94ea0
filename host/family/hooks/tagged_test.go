package hooks

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

func TestAHookIsAskedAboutTheMemoriesThatItsSettingNames(t *testing.T) {
	for setting, want := range map[string]string{"secret": "a- b+ c-", abi.Everything: "a+ b+ c+", abi.Nothing: "a- b- c-", "other": "a- b- c-"} {
		x := &plain{manifest: abi.Manifest{Name: "redactor", Hooks: abi.Hooks{Store: &abi.StoreHook{Redacts: true, TagFrom: "redact"}}}, setting: setting}
		x.answer = func(request []byte, _ *memory.Stage) ([]byte, error) {
			var r abi.HookRequest
			if err := json.Unmarshal(request, &r); err != nil {
				return nil, err
			}
			answer := abi.StoreResult{}
			for range r.Entries {
				answer.Entries = append(answer.Entries, &abi.Change{Value: json.RawMessage(`"+"`)})
			}
			return json.Marshal(answer)
		}
		h, _ := open(t, present{storing: []Store{{x, abi.OnFailureRefuse}}})
		items := []memory.Item{{Key: "a", Value: json.RawMessage(`"-"`)}, {Key: "b", Value: json.RawMessage(`"-"`), Tags: []string{"secret"}},
			{Key: "c", Value: json.RawMessage(`"-"`), Tags: []string{abi.Nothing}}}
		d, err := h.Storing(t.Context(), memory.Storing{Caller: memory.Caller{Rights: memory.FullRights()}, Location: memory.Location{Branch: memory.Default, Namespace: memory.Default}, Change: memory.ChangeStore,
			Items: items, Check: func(memory.Item) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, it := range d.Items {
			got = append(got, it.Key+strings.Trim(string(it.Value), `"`))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("with the setting %s: got %v, want %s", setting, got, want)
		}
		if asked := len(x.asked) > 0; asked != strings.Contains(want, "+") {
			t.Errorf("with the setting %s: asked %v, want only about what concerns it", setting, asked)
		}
		if !slices.EqualFunc(items, []string{"a", "b", "c"}, func(it memory.Item, key string) bool { return it.Key == key && string(it.Value) == `"-"` }) {
			t.Errorf("with the setting %s: what was to be stored is changed to %v, want it as it was", setting, items)
		}
	}
}

func TestAHookIsAskedAboutRecordsIfItIsAskedAboutEverything(t *testing.T) {
	for setting, want := range map[string]bool{"secret": false, abi.Everything: true, abi.Nothing: false} {
		x := &plain{manifest: abi.Manifest{Name: "redactor", Hooks: abi.Hooks{Store: &abi.StoreHook{Redacts: true, TagFrom: "redact", Collections: []string{"notes/*"}}}},
			setting: setting, readsRecords: []string{"notes"}}
		x.answer = func([]byte, *memory.Stage) ([]byte, error) { return []byte(`{"entries":[null]}`), nil }
		h, _ := open(t, present{storing: []Store{{x, abi.OnFailureRefuse}}})
		_, err := h.Storing(t.Context(), memory.Storing{Caller: memory.Caller{Rights: memory.FullRights()}, Location: memory.Location{Branch: memory.Default, Namespace: memory.Default},
			Change: memory.ChangeStore, Collection: "notes/pages", Items: []memory.Item{{Key: "a", Value: json.RawMessage(`"-"`)}}, Check: func(memory.Item) error { return nil }})
		if got := len(x.asked) > 0; err != nil || got != want {
			t.Errorf("with the setting %s: got asked %v, %v, want %v", setting, got, err, want)
		}
	}
}

func TestARedactorIsAskedAboutPartsThatItHasTimeFor(t *testing.T) {
	x := &plain{manifest: abi.Manifest{Name: "redactor", Hooks: abi.Hooks{Store: &abi.StoreHook{Redacts: true}}}}
	var asked []int
	x.answer = func(request []byte, _ *memory.Stage) ([]byte, error) {
		var r abi.HookRequest
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		asked = append(asked, len(r.Entries))
		answer := abi.StoreResult{}
		for _, e := range r.Entries {
			answer.Entries = append(answer.Entries, &abi.Change{Value: json.RawMessage(strconv.Quote("of " + e.Key))})
		}
		return json.Marshal(answer)
	}
	h, _ := open(t, present{storing: []Store{{x, abi.OnFailureRefuse}}})
	var items []memory.Item
	for i := range 2*mostRedacted + 3 {
		value := json.RawMessage(`"-"`)
		if i == 2*mostRedacted+1 {
			value = json.RawMessage(strconv.Quote(strings.Repeat("a", bytesRedacted)))
		}
		items = append(items, memory.Item{Key: strconv.Itoa(i), Value: value})
	}
	d, err := h.Storing(t.Context(), memory.Storing{Caller: memory.Caller{Rights: memory.FullRights()}, Location: memory.Location{Branch: memory.Default, Namespace: memory.Default},
		Change: memory.ChangeStore, Items: items, Check: func(memory.Item) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{mostRedacted, mostRedacted, 1, 1, 1}; !slices.Equal(asked, want) {
		t.Errorf("got asked about %v, want %v", asked, want)
	}
	if len(d.Items) != len(items) {
		t.Fatalf("got %d items, want %d", len(d.Items), len(items))
	}
	for i, it := range d.Items {
		if want := strconv.Quote("of " + strconv.Itoa(i)); string(it.Value) != want {
			t.Errorf("item %d: got %s, want %s", i, it.Value, want)
		}
	}
}
