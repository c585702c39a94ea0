package redaction

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/must"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
	"github.com/alcove-memory/alcove/sdk/secrets"
)

func space(t *testing.T) *alcovetest.Space {
	t.Helper()
	manifest, err := os.ReadFile("manifest.json")
	must.Do(t, err)
	return alcovetest.New(t, Family(), manifest)
}

func text(s string) alcove.Raw {
	data, _ := json.Marshal(s)
	return data
}

// word is a password that the detector knows by the name before it.
const word = "tiger" + "4711"

func TestSecretsInWhatIsCapturedAreReplaced(t *testing.T) {
	s := space(t)
	changes, err := s.Store(
		alcove.Entry{Key: "a", Tags: []string{"captured"}, Value: text("the password is " + word)},
		alcove.Entry{Key: "b", Tags: []string{"captured"}, Value: alcove.Raw(`{"password":"` + word + `","n":1.50}`)},
		alcove.Entry{Key: "c", Tags: []string{"captured", "password=" + word}, Value: text("tea")},
		alcove.Entry{Key: "d", Tags: []string{"captured"}, Value: text("tea"), Metadata: alcove.Metadata{"token": text("ghp_" + strings.Repeat("aB3dE6gH9j", 4)), "n": alcove.Raw("1")}},
		alcove.Entry{Key: "e", Tags: []string{"captured"}, Value: text("tea")},
	)
	must.Do(t, err)
	for i, want := range []alcove.Change{
		{Value: text("the password is [redacted:password]")},
		{Value: alcove.Raw(`{"password":"[redacted:password]","n":1.50}`)},
		{Tags: []string{"captured", "password=[redacted:password]"}},
		{Metadata: map[string]alcove.Raw{"token": text("[redacted:github-token]")}},
	} {
		got, err := json.Marshal(changes[i])
		must.Do(t, err)
		asked, err := json.Marshal(&want)
		must.Do(t, err)
		if string(got) != string(asked) {
			t.Errorf("memory %d: got the change %s, want %s", i, got, asked)
		}
	}
	if changes[4] != nil {
		t.Errorf("a memory without a secret: got the change %+v, want none", changes[4])
	}
}

func TestTheSettingsSayWhatIsLeftAndWhatStandsInItsPlace(t *testing.T) {
	value := "password=" + word + " or " + "ghp_" + strings.Repeat("aB3dE6gH9j", 4)
	for _, x := range []struct {
		config map[string]any
		want   string
	}{
		{nil, "password=[redacted:password] or [redacted:github-token]"},
		{map[string]any{"mark": "hidden"}, "password=[hidden] or [hidden]"},
		{map[string]any{"mark": "[a]\nKIND]"}, "password=[apassword] or [agithub-token]"},
		{map[string]any{"mark": "password=" + word}, "password=[redacted:password] or [redacted:github-token]"},
		{map[string]any{"mark": ""}, "password=[redacted:password] or [redacted:github-token]"},
		{map[string]any{"leave_kinds": []string{"github-token"}}, "password=[redacted:password] or ghp_" + strings.Repeat("aB3dE6gH9j", 4)},
		{map[string]any{"leave_texts": []string{word}}, "password=" + word + " or [redacted:github-token]"},
		{map[string]any{"leave_texts": []string{"tig*"}}, "password=" + word + " or [redacted:github-token]"},
		{map[string]any{"leave_texts": []string{"*", "tiger"}}, "password=[redacted:password] or [redacted:github-token]"},
	} {
		s := space(t)
		s.Config = x.config
		changes, err := s.Store(alcove.Entry{Key: "a", Tags: []string{"captured"}, Value: text(value)})
		must.Do(t, err)
		if got := string(changes[0].Value); got != string(text(x.want)) {
			t.Errorf("with %v: got %s, want %q", x.config, got, x.want)
		}
	}
}

func TestASecretThatCannotBeReplacedRefusesTheStore(t *testing.T) {
	token := "ghp_" + strings.Repeat("aB3dE6gH9j", 4)
	for name, e := range map[string]alcove.Entry{
		"key": {Key: token}, "namespace": {Key: "a", Namespace: token}, "type": {Key: "a", Type: token}, "link": {Key: "a", Links: []string{token}},
		"supersedes": {Key: "a", Supersedes: []string{token}}, "name of metadata": {Key: "a", Metadata: alcove.Metadata{token: alcove.Raw("1")}},
		"too many": {Key: "a", Value: text(strings.Repeat("password="+word+" ", secrets.Most+1))},
	} {
		if e.Value == nil {
			e.Value = text("tea")
		}
		_, err := Redactor{}.Store(nil, Config{Mark: "redacted:KIND"}, []alcove.Entry{e})
		var known *alcove.Error
		if err == nil || errors.As(err, &known) && strings.Contains(known.Message, token) {
			t.Errorf("a secret in its %s: got %v, want a refusal without the secret", name, err)
		}
	}
}

func TestAPreviewTellsKindsAndPlacesWithoutValues(t *testing.T) {
	var raw json.RawMessage
	must.Do(t, space(t).Tool("memory_redact_preview", map[string]any{"text": "user: ann\npassword: " + word + "\n"}, &raw))
	want := `{"secrets":[{"kind":"password","line":2,"start":20,"end":29}],"text":"user: ann\npassword: [redacted:password]\n"}`
	if string(raw) != want {
		t.Errorf("got %s, want %s", raw, want)
	}
}

func TestAScanNamesWhatHasSecrets(t *testing.T) {
	s := space(t)
	s.Put(
		alcove.Memory{Key: "a", Value: text("tea")},
		alcove.Memory{Key: "b", Value: text("password=" + word)},
		alcove.Memory{Key: "c", Value: text("tea"), Metadata: alcove.Metadata{"pwd": text(word)}},
	)
	var out Scanned
	must.Do(t, s.Tool("memory_redact_scan", map[string]any{"limit": 2}, &out))
	if len(out.Memories) != 1 || out.Memories[0].Key != "b" || !slices.Equal(out.Memories[0].Kinds, []string{"password"}) || out.Scanned != 2 || out.Next != "b" {
		t.Errorf("got %+v, want b, and to go on after it", out)
	}
	after := out.Next
	out = Scanned{}
	must.Do(t, s.Tool("memory_redact_scan", map[string]any{"after": after}, &out))
	if len(out.Memories) != 1 || out.Memories[0].Key != "c" || out.Next != "" {
		t.Errorf("got %+v, want c, and the end", out)
	}
}

func TestAJSONValueKeepsWhatIsNoSecret(t *testing.T) {
	for value, want := range map[string]string{
		`{"user": "ann",  "password":"tiger4711", "n": 1.50}`: `{"user": "ann",  "password":"[redacted:password]", "n": 1.50}`,
		`["a \"quoted\" password=` + `tiger4711"]`:            `["a \"quoted\" password=[redacted:password]"]`,
		`{"pwd": 19283746, "count": 19283746}`:                `{"pwd": "[redacted:password]", "count": 19283746}`,
		`{"a":{"password":{"min":8}},"b":["x"]}`:              `{"a":{"password":{"min":8}},"b":["x"]}`,
		`{"x-api-key":"` + "q7Zx81LmPw44VbTy90Kd" + `"}`:      `{"x-api-key":"[redacted:api-key]"}`,
		`{"postgres://a:` + "tiger4711" + `@h/x":1}`:          `{"postgres://a:[redacted:url-password]@h/x":1}`,
		`"tea"`: `"tea"`,
		`null`:  `null`,
	} {
		got, _, err := inJSON(secrets.Redactor{}, "", []byte(value))
		if err != nil || string(got) != want {
			t.Errorf("inJSON(%s): got %s, %v, want %s", value, got, err, want)
		}
	}
	half := strings.Repeat("password=tiger4711 ", secrets.Most/2)
	list, err := json.Marshal([]string{half, half, half})
	must.Do(t, err)
	if _, _, err := inJSON(secrets.Redactor{}, "", list); !errors.Is(err, secrets.ErrTooMany) {
		t.Errorf("1,500 secrets in a list: got %v, want %v", err, secrets.ErrTooMany)
	}
}

func FuzzJSON(f *testing.F) {
	for _, value := range []string{`{"password":"tiger4711"}`, `{"pwd":19283746,"a":[null,"b\"c","password=tiger4711"]}`, `"\ud800"`, `{"`, `{"a":1e9,"pin":-1.5e+300}`} {
		f.Add([]byte(value))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		out, kinds, err := inJSON(secrets.Redactor{}, "", value)
		if err != nil || !json.Valid(value) {
			return
		}
		if !json.Valid(out) || len(kinds) == 0 && string(out) != string(value) {
			t.Errorf("inJSON(%q): got %q with %v, want JSON, unchanged without kinds", value, out, kinds)
		}
		if again, kinds, err := inJSON(secrets.Redactor{}, "", out); err != nil || string(again) != string(out) {
			t.Errorf("inJSON(%q): got %q with %v, %v, want no further change", out, again, kinds, err)
		}
	})
}
