package provenance

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/registry/signature"
)

func keyOf(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func example() Build {
	return Build{
		Family: "notes", Version: "1.0.0", SHA256: strings.Repeat("a", 64), Alcove: "v1.0.0", Builder: builder, Command: []string{"sh", "build.sh"},
		Sources: []Material{{Name: "main.go", SHA256: strings.Repeat("b", 64)}}, Tools: []Material{{Name: "Go", Version: "go1.26 (arm)"}, {Name: "engine", Version: "1", SHA256: strings.Repeat("c", 64)}},
	}
}

func TestProvenanceSaysWhatWasBuiltFromWhat(t *testing.T) {
	data, err := Sign(example(), keyOf(1))
	if err != nil {
		t.Fatal(err)
	}
	b, e, err := Of(data, example().SHA256)
	if err != nil || !reflect.DeepEqual(b, example()) || !e.By(keyOf(1).Public()) || e.By(keyOf(2).Public()) {
		t.Errorf("Of: %+v, %v, want %+v signed by the first key alone", b, err, example())
	}
	again, err := Sign(example(), keyOf(1))
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("the same build: %v, and %s, want the same statement %s", err, again, data)
	}
	if _, _, err := Of(data, strings.Repeat("d", 64)); !errors.Is(err, ErrOther) {
		t.Errorf("another module: %v, want %v", err, ErrOther)
	}
	var s struct {
		Type      string `json:"_type"`
		Predicate struct {
			Definition struct {
				BuildType  string `json:"buildType"`
				Parameters any    `json:"externalParameters"`
				Resolved   []struct {
					URI    string            `json:"uri"`
					Digest map[string]string `json:"digest"`
				} `json:"resolvedDependencies"`
			} `json:"buildDefinition"`
			Run struct {
				Builder struct{ ID string } `json:"builder"`
			} `json:"runDetails"`
		} `json:"predicate"`
	}
	if err := json.Unmarshal(e.Payload, &s); err != nil {
		t.Fatal(err)
	}
	d := s.Predicate.Definition // what the predicate must have, and a resource one of address and digest
	if s.Type != statementType || d.BuildType == "" || d.Parameters == nil || s.Predicate.Run.Builder.ID == "" || len(d.Resolved) != 3 {
		t.Errorf("the statement lacks what SLSA demands: %s", e.Payload)
	}
	for _, r := range d.Resolved {
		if r.URI == "" && len(r.Digest) == 0 {
			t.Errorf("a dependency of %s has neither an address nor a digest", e.Payload)
		}
	}
}

func TestProvenanceThatIsNoneIsRefused(t *testing.T) {
	signedAs := func(kind, text string) []byte {
		e, err := signature.SignEnvelope(kind, []byte(text), keyOf(1))
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	of := func(subject, dependencies string) []byte {
		return signedAs(signature.InToto, `{"_type":"`+statementType+`","predicateType":"`+predicateType+`","subject":[`+subject+`],"predicate":{"buildDefinition":{"resolvedDependencies":[`+dependencies+`]}}}`)
	}
	module := `{"digest":{"sha256":"` + strings.Repeat("a", 64) + `"}}`
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"another payload":         {signedAs("text/plain", "x"), "text/plain"},
		"no JSON":                 {signedAs(signature.InToto, "x"), "read the statement"},
		"another statement":       {signedAs(signature.InToto, `{"_type":"x"}`), `type "x"`},
		"two modules":             {of(module+","+module, ""), "about 2 artifacts"},
		"no digest":               {of(`{"name":"x"}`, ""), "not a SHA-256"},
		"a source without a name": {of(module, `{"digest":{"sha256":"x"}}`), "is empty"},
		"a long name":             {of(module, `{"name":"`+strings.Repeat("x", longestName+1)+`"}`), "longer than 1024 bytes"},
		"too many sources":        {of(module, strings.Repeat(`{"name":"x"},`, MostMaterials)+`{"name":"x"}`), "the limit is 2000"},
		"too many bytes":          {bytes.Repeat([]byte(" "), signature.EnvelopeLimit+1), "4194304 bytes"},
	} {
		if b, _, err := Open(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v, want an error with %q", name, b, err, c.want)
		}
	}
	long := example()
	long.Command = []string{strings.Repeat("x", longestName+1)}
	if _, err := Sign(long, keyOf(1)); err == nil {
		t.Error("a long command is signed, want an error")
	}
}

// Provenance of other builders is read as far as it is the same.
func TestProvenanceOfOthersIsRead(t *testing.T) {
	text := `{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"notes.wasm","digest":{"sha256":"` + strings.Repeat("a", 64) + `"}}],
		"predicateType":"https://slsa.dev/provenance/v1","predicate":{"buildDefinition":{"buildType":"https://actions.github.io/buildtypes/workflow/v1",
		"externalParameters":{"workflow":{"ref":"refs/heads/main"}},"resolvedDependencies":[{"uri":"git+https://example.org/notes@refs/heads/main","digest":{"gitCommit":"c0ffee"}}]},
		"runDetails":{"builder":{"id":"https://example.org/runner"},"metadata":{"invocationId":"https://example.org/1"}}}}`
	e, err := signature.SignEnvelope(signature.InToto, []byte(text), keyOf(1))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := Open(data)
	if err != nil || b.Builder != "https://example.org/runner" || len(b.Sources) != 1 || b.Sources[0].Name != "git+https://example.org/notes@refs/heads/main" || b.Alcove != "" {
		t.Errorf("Open: %+v, %v, want the builder and its repository", b, err)
	}
}

func FuzzOpen(f *testing.F) {
	data, err := Sign(example(), keyOf(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if b, e, err := Open(data); err == nil && (e.By(keyOf(9).Public()) || len(b.Sources)+len(b.Tools) > MostMaterials) {
			t.Error("it is signed by a key that signed nothing, or is beyond its limits")
		}
	})
}
