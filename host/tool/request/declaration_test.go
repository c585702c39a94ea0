package request

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// searchRequest declares a parameter of each kind.
type searchRequest struct {
	Query string          `json:"query" alcove:"alias=q|text" need:"what to look for" doc:"What to look for."`
	K     int             `json:"k" alcove:"advanced,show=default|minimum|maximum" doc:"At most {max}: {default} when left out."`
	Order order           `json:"order" alcove:"show=enum" doc:"One of {words}."`
	Tags  []string        `json:"tags" schema:"'type':'string'"`
	Since since           `json:"since" alcove:"one"`
	Value json.RawMessage `json:"value" alcove:"one"`
	Exact *bool           `json:"exact" alcove:"hidden"`
	Parts []part          `json:"parts"`
	_     Spreads         `alcove:"spread=filter"`
}

type order string

type part struct {
	Name string `json:"name" alcove:"alias=title" need:"its name"`
}

// Check implements Checker.
func (p *part) Check(a *Arguments) {
	if p.Name == "nothing" {
		a.Fault("name", "name says nothing")
	}
}

// Prepare implements Preparer.
func (part) Prepare(own, around *Arguments) { own.Inherit(around, "name") }

func (searchRequest) Limits() Limits {
	return Limits{"k": {Min: 1, Max: 50, Default: 10}, "order": {Words: Words[order]("newest", "oldest"), Synonyms: map[string]string{"latest": "newest"}}}
}

type since struct{ time.Time }

func (s *since) ReadArgument(raw json.RawMessage, now time.Time) (err error) {
	text, ok := Text(raw)
	if !ok {
		return Expected("text")
	}
	if text == "now" {
		s.Time = now
		return nil
	}
	return errors.New("only now is known")
}

func TestTheSchemaIsWhatTheFieldsSay(t *testing.T) {
	d := Declare[searchRequest]()
	want := `{"type":"object","properties":{` +
		`"query":{"type":"string","description":"What to look for."},` +
		`"k":{"type":"integer","default":10,"minimum":1,"maximum":50,"x-advanced":true,"description":"At most 50: 10 when left out."},` +
		`"order":{"type":"string","enum":["newest","oldest"],"description":"One of newest, oldest."},` +
		`"tags":{"type":"string"},"since":{"type":"string"},"value":{},"parts":{"type":"array","items":{"type":"object"}}},` +
		`"required":["query"],"anyOf":[{"required":["since"]},{"required":["value"]}]}`
	if string(d.Input) != want {
		t.Errorf("got the schema\n%s, want\n%s", d.Input, want)
	}
	for spelling, want := range map[string]string{"q": "query", "text": "query", "exact": "exact", "filter": Spread} {
		if got := d.Spellings[spelling]; got != want {
			t.Errorf("%s: got %q, want %q", spelling, got, want)
		}
	}
}

func TestArgumentsAreReadIntoTheFields(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a := parsed(t, `{"query":7,"order":"Latest","tags":"a","since":"now","value":null,"exact":"false","parts":{"title":"b"},"name":"c"}`)
	r := Declare[searchRequest]().Read(a, now)
	if err := a.Err(); err != nil {
		t.Fatalf("read: %v", err)
	}
	if r.Query != "7" || r.K != 10 || r.Order != "newest" || len(r.Tags) != 1 || !r.Since.Equal(now) || string(r.Value) != "null" || r.Exact == nil || *r.Exact || len(r.Parts) != 1 || r.Parts[0].Name != "b" {
		t.Errorf("got %+v, want each argument in its field", r)
	}
	a = parsed(t, `{"query":"q","parts":[{}],"name":"c"}`)
	if r = Declare[searchRequest]().Read(a, now); a.Err() != nil || r.Value != nil || r.Exact != nil || r.Parts[0].Name != "c" {
		t.Errorf("got %+v, %v, want what the part inherits and nothing else", r, a.Err())
	}
}

func TestAllMistakesAreToldAtOnce(t *testing.T) {
	a := parsed(t, `{"k":51,"order":"best","since":"then","parts":[{"name":"a"},{"title":""},{"name":"nothing"}]}`)
	Declare[searchRequest]().Read(a, time.Time{})
	want := `tool needs query: what to look for; k must be a whole number from 1 to 50, got 51; order must be one of newest, oldest, got "best"; since: only now is known; tool needs parts[1].name: its name; and 1 more`
	if err := a.Err(); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got the error\n%v, want\n%s", err, want)
	}
}

func TestADeclarationThatCannotBeReadPanics(t *testing.T) {
	for name, declare := range map[string]func(){
		"a number without a limit": func() {
			Declare[struct {
				N int `json:"n"`
			}]()
		},
		"an unknown type": func() {
			Declare[struct {
				C chan int `json:"c"`
			}]()
		},
		"a limit of nothing": func() { Declare[limitless]() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: got a declaration, want a panic", name)
				}
			}()
			declare()
		}()
	}
}

type limitless struct{}

func (limitless) Limits() Limits { return Limits{"k": {Max: 5}} }
