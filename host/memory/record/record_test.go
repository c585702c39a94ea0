package record

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// The bytes on disk are the contract with the data directories of version 1.
func TestTheStoredFormIsFixed(t *testing.T) {
	half := 0.5
	r := Record{
		Value: json.RawMessage(`{"a":"<&>"}`), Tags: []string{"x"}, Type: "note", Importance: &half, Metadata: map[string]json.RawMessage{"m": json.RawMessage("1")},
		State: "archived", Supersedes: []string{"old"}, Links: []string{"k"}, Expires: 7, Agent: "me", Vector: EncodeVector([]float32{1, -2}), VectorOf: "e", Fields: []string{"a"},
	}
	const want = `{"v":{"a":"<&>"},"t":["x"],"y":"note","i":0.5,"m":{"m":1},"s":"archived","u":["old"],"l":["k"],"x":7,"a":"me","e":"AACAPwAAAMA=","eo":"e","f":["a"]}`
	if got, err := r.Encode(); string(got) != want || err != nil {
		t.Errorf("Encode = %s (%v), want %s", got, err, want)
	}
	back, err := Decode(store.Entry{Value: []byte(want)})
	if err != nil || !back.SameContent(r) || !slices.Equal(DecodeVector(back.Vector), []float32{1, -2}) {
		t.Errorf("Decode = %+v (%v), want what was encoded", back, err)
	}
}

func TestARecordIsIndexedAsItIsStored(t *testing.T) {
	half := 0.5
	for _, r := range []Record{
		{Value: json.RawMessage(`"tea"`), Agent: "me", Tags: []string{"x", "y"}, Type: "note", Importance: &half, Expires: 7, Created: 3, State: "archived"},
		{Value: json.RawMessage(` { "text" : "tea" , "list": [ 1.0, 2e0 ], "none" : null } `), Links: []string{"k"}, Supersedes: []string{"old"}},
		{Value: json.RawMessage(`1`), Tags: []string{}, Metadata: map[string]json.RawMessage{"a": json.RawMessage("\n{ \"b\" : 1 }"), "n": json.RawMessage(" null "), "s": json.RawMessage(" \"\\u00e9\" ")}},
		{Value: json.RawMessage(`"hello"`), Metadata: map[string]json.RawMessage{"session": json.RawMessage(" \"s\""), "seq": json.RawMessage(" 7"), "speaker": json.RawMessage("\t\"Ann\"")}},
		{Value: json.RawMessage(`"tea"`), Vector: EncodeVector([]float32{1, -2}), VectorOf: "e"},
		{Purged: "ab"},
	} {
		indexedAlike(t, r)
	}
}

// indexedAlike checks that the index gets the same of a record before it is stored as of its entry.
func indexedAlike(t *testing.T, r Record) {
	t.Helper()
	stored, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	e := store.Entry{Key: store.Key{Namespace: "n", Collection: Memories, Name: "k"}, Point: store.Point{Version: 1}, Value: stored}
	before, _, err := DocOf(e, &r)
	after, ok, err2 := Doc(e)
	if len(before.Tags) == 0 {
		before.Tags = nil // none are stored
	}
	if err != nil || err2 != nil || !ok || !reflect.DeepEqual(before, after) {
		t.Errorf("of %s the index gets %+v (%v), and after a restart %+v (%v)", stored, before, err, after, err2)
	}
}

func TestAChangedEventIsFound(t *testing.T) {
	sealed := func(last store.Entry, sequence uint64, data string) store.Entry {
		t.Helper()
		at := store.Point{Version: sequence, Time: time.UnixMicro(int64(sequence))}
		value, err := Event{Event: "noted", Data: json.RawMessage(data), Agent: "me"}.Append(nil, "n").Seal(last, sequence, at)
		if err != nil {
			t.Fatal(err)
		}
		return store.Entry{Point: at, Value: value}
	}
	one := sealed(store.Entry{}, 1, `"one"`)
	two := sealed(one, 2, `"two"`)
	first, _ := DecodeEvent(one)
	second, err := DecodeEvent(two)
	if err != nil {
		t.Fatal(err)
	}
	if first.Verify("", 1, one.Point) != nil || second.Verify(first.Hash, 2, two.Point) != nil {
		t.Error("the chain is broken")
	}
	purged := second
	purged.Data = nil
	if purged.Verify(first.Hash, 2, two.Point) != nil {
		t.Error("a purge breaks the chain")
	}
	changed, agent := second, second
	changed.Data, agent.Agent = json.RawMessage(`"2"`), "other"
	for what, err := range map[string]error{"data": changed.Verify(first.Hash, 2, two.Point), "agent": agent.Verify(first.Hash, 2, two.Point),
		"order": second.Verify("", 2, two.Point), "number": second.Verify(first.Hash, 3, two.Point), "instant": second.Verify(first.Hash, 2, one.Point)} {
		if err == nil {
			t.Errorf("a wrong %s is not found", what)
		}
	}
}

func TestTheRoleOfATurnIsThatOfItsRoleOrItsSpeaker(t *testing.T) {
	for metadata, want := range map[string]search.Turn{
		`{"speaker":"Anna"}`:                        {Speaker: "Anna"},
		`{"speaker":"user"}`:                        {Speaker: "user", Role: search.User},
		`{"speaker":"Human"}`:                       {Speaker: "Human", Role: search.User},
		`{"speaker":"assistant"}`:                   {Speaker: "assistant", Role: search.Assistant},
		`{"role":"assistant"}`:                      {Speaker: "assistant", Role: search.Assistant},
		`{"role":"user","speaker":"Anna"}`:          {Speaker: "Anna", Role: search.User},
		`{"role":"engineer","speaker":"bot"}`:       {Speaker: "bot", Role: search.Assistant},
		`{"role":"engineer","speaker":"Anna"}`:      {Speaker: "Anna"},
		`{"speaker":"Research Assistant"}`:          {Speaker: "Research Assistant"},
		`{"role":7}`:                                {Speaker: "7"},
		`{"role":["user"],"speaker":{"a":"model"}}`: {},
	} {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(metadata), &fields); err != nil {
			t.Fatal(err)
		}
		fields["session"], fields["seq"] = json.RawMessage(`"s"`), json.RawMessage(`3`)
		if want.Session, want.Position = "s", 3; *Turn(fields) != want {
			t.Errorf("the turn of %s is %+v, want %+v", metadata, *Turn(fields), want)
		}
	}
}
