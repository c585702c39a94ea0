package index

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"strings"
	"testing"
)

func entry(name string) Entry {
	return Entry{Name: name, Version: "1.0.0", Description: "Keeps teas", Tools: []Tool{{"tea_keep", "Keep a tea."}}, SHA256: strings.Repeat("0", 64), Source: "oci://registry.example.org/" + name + ":1@sha256:" + strings.Repeat("1", 64)}
}

func signed(t *testing.T, e Entry, key ed25519.PrivateKey) []byte {
	t.Helper()
	line, err := Sign(e, key)
	if err != nil {
		t.Fatalf("Sign(%+v): %v", e, err)
	}
	return line
}

func TestAListHasTheEntriesWhoseSignaturesHold(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	good := signed(t, entry("tea"), key)
	forged := bytes.Replace(good, []byte("Keeps teas"), []byte("Steals tea"), 1)
	var out bytes.Buffer
	if err := Write(&out, [][]byte{good, forged, signed(t, entry("pot"), key), []byte(`{"entry":"{}","signatures":""}`), []byte(`{`)}); err != nil {
		t.Fatal(err)
	}
	list, refused, err := Read(&out)
	if err != nil || len(list) != 2 || len(refused) != 3 || !strings.Contains(refused[0].Error(), "line 3: it is not what the key") || !strings.Contains(refused[1].Error(), "not signed") {
		t.Errorf("Read = %d entries, refused %v, %v, want 2 and 3", len(list), refused, err)
	}
	for words, want := range map[string]string{"tea": "tea pot", "POT keep": "pot", "teas": "pot tea", "coffee": "", "": "pot tea"} {
		var names []string
		for _, s := range Find(list, strings.Fields(words)) {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("Find(%q) = %q, want %q", words, got, want)
		}
	}
}

func TestAHostileListIsRefused(t *testing.T) {
	const head = `{"alcove":"families","format":1}` + "\n"
	for text, want := range map[string]string{
		"": "it is empty", "<html>": "not an index of families", `{"alcove":"families","format":2}`: "of format 1", head + strings.Repeat("a", MostEntry+2): "a line of more than 65536 bytes",
		head + strings.Repeat("a\n", MostEntries+1): "more than 10000 entries", head + strings.Repeat(strings.Repeat("a", MostEntry-1)+"\n", 257): "more than 16777216 bytes",
	} {
		if _, _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%.40q): got the error %v, want %q", text, err, want)
		}
	}
	if err := Write(&bytes.Buffer{}, make([][]byte, MostEntries+1)); err == nil || !strings.Contains(err.Error(), "at most 10000") {
		t.Errorf("Write of too many entries: got the error %v", err)
	}
}

func TestAnEntryThatItsAuthorSignedMayBeHostile(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Entry){
		"name of the entry":         func(e *Entry) { e.Name = "tea\x1b[2J" },
		"version of the entry":      func(e *Entry) { e.Version = "1 0" },
		"sha256 of the entry":       func(e *Entry) { e.SHA256 = "0" },
		"source of the entry":       func(e *Entry) { e.Source = "oci://registry.example.org/tea:1" },
		"a description":             func(e *Entry) { e.Description = "a\nb" },
		"at most 400 characters":    func(e *Entry) { e.Tools[0].Description = strings.Repeat("a", 401) },
		"a name in the entry":       func(e *Entry) { e.Tools[0].Name = "\x07" },
		"201 tools":                 func(e *Entry) { e.Tools = make([]Tool, 201) },
		"65 keywords":               func(e *Entry) { e.Keywords = make([]string, 65) },
		"has more than 65536 bytes": func(e *Entry) { e.Description = strings.Repeat("a", MostEntry) },
	} {
		e := entry("tea")
		change(&e)
		if _, err := Sign(e, key); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Sign(%.60q …): got the error %v, want %q", e.Name, err, want)
		}
	}
	line := signed(t, entry("tea"), key)
	var l map[string]any
	if err := json.Unmarshal(line, &l); err != nil {
		t.Fatal(err)
	}
	l["more"] = 1
	more, _ := json.Marshal(l)
	if _, err := Open(more); err == nil || !strings.Contains(err.Error(), "unknown field") {
		t.Errorf("Open of a line with another member: got the error %v", err)
	}
}

// FuzzRead reads any list.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"alcove":"families","format":1}` + "\n" + `{"entry":"{}","signatures":"a:b"}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, _, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if got := Find(list, nil); len(got) != len(list) {
			t.Errorf("Find without words = %d entries, want %d", len(got), len(list))
		}
	})
}
