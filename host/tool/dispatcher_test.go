package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool/request"
)

// echo answers with the arguments as the handler got them.
func echo(s Spec) Spec {
	s.Handler = func(_ context.Context, c *Call) (Answer, error) { return s.Answer(Result{Output: c.JSON}), nil }
	return s
}

// notesFamily has a tool that writes, one that reads, and one that has parameters which others have in common.
func notesFamily() fixed {
	schema := func(text string) json.RawMessage { return json.RawMessage(text) }
	return fixed{{Name: "notes", Tools: []Spec{
		echo(Spec{Name: "notes_put", Family: "notes", Input: schema(`{"type":"object","additionalProperties":false,"required":["note_id"],"properties":{"note_id":{"type":"string"},"most":{"type":"integer"}}}`),
			Parameters: map[string]string{"id": "note_id", "options": request.Spread}}),
		echo(Spec{Name: "notes_get", Family: "notes", Annotations: Annotations{ReadOnly: true}, Input: schema(`{"type":"object","properties":{"text":{"type":"string"}}}`)}),
		echo(Spec{Name: "notes.own", Family: "notes", Input: schema(`{"type":"object","properties":{"asOf":{"type":"string"},"dry_run":{"type":"string"},"name_space":{"type":"string"}}}`)}),
		echo(Spec{Name: "notes_twins", Family: "notes", Input: schema(`{"type":"object","properties":{"user_id":{"type":"string"},"userID":{"type":"string"}}}`)}),
		echo(Spec{Name: "notes_any", Family: "notes"}),
	}}}
}

func dispatcher(t *testing.T, families Source, core ...Spec) *Dispatcher {
	t.Helper()
	all := NewRegistry(families)
	if err := all.Add(core...); err != nil {
		t.Fatal(err)
	}
	return NewDispatcher(all, Options{Clock: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }})
}

func owner() memory.Caller { return memory.Caller{Agent: "tester", Rights: memory.FullRights()} }

func TestAFamilysParametersHaveManySpellings(t *testing.T) {
	d := dispatcher(t, notesFamily())
	for _, c := range []struct{ tool, given, want, note string }{
		{"notes_put", `{"note_id":"a","most":"5"}`, `{"most":5,"note_id":"a"}`, ""},
		{"notes.put", `{"NoteID":"a","MOST":5}`, `{"most":5,"note_id":"a"}`, ""},
		{"notes_put", `{"id":7,"options":{"most":3}}`, `{"most":3,"note_id":"7"}`, ""},
		{"notes_put", `{"id":"a","color":1,"options":{"shape":2}}`, `{"note_id":"a"}`, `notes_put has no parameters "color", "options.shape": they were ignored.`},
		{"notes_get", `{"text":"x","colour":1}`, `{"colour":1,"text":"x"}`, `notes_get has no parameter "colour": the tool may have ignored it.`},
		{"notes_get", `{"text":"x","colour":null}`, `{"colour":null,"text":"x"}`, ""},
		{"notes.own", `{"asOf":"1h ago","dry-run":"yes","namespace":"n"}`, `{"asOf":"1h ago","dry_run":"yes","name_space":"n"}`, ""},
		{"notes_twins", `{"user_id":"a","userID":"b"}`, `{"userID":"b","user_id":"a"}`, ""},
		{"notes_any", `{"what":"ever"}`, `{"what":"ever"}`, ""},
	} {
		a, err := d.Dispatch(t.Context(), Request{Tool: c.tool, Arguments: json.RawMessage(c.given), Caller: owner()})
		if err != nil {
			t.Errorf("Dispatch %s with %s: %v", c.tool, c.given, err)
			continue
		}
		if got, _ := Encode(a.Plain); string(got) != c.want || a.Note() != c.note {
			t.Errorf("%s %s became %s, noted %q", c.tool, c.given, got, a.Note())
		}
	}
	for given, want := range map[string]string{
		`{"note_id":"a","id":"b"}`:                       "id and note_id are the same parameter",
		`{"id":"a","most":1,"options":{"most":2}}`:       "most and options.most are the same parameter",
		`{"id":"a","options":[1]}`:                       "options must be an object",
		`{"id":"a","dry_run":"perhaps"}`:                 "dry_run must be true or false",
		`{"id":"a","options":{"options":{"options":1}}}`: "options.options.options must be an object",
	} {
		if _, err := d.Dispatch(t.Context(), Request{Tool: "notes_put", Arguments: json.RawMessage(given), Caller: owner()}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is refused with %v", given, err)
		}
	}
}

func TestAFamilysToolReadsThePastIfItOnlyReads(t *testing.T) {
	families := notesFamily()
	var seen *Call
	families[0].Tools[1].Handler = func(_ context.Context, c *Call) (Answer, error) { seen = c; return Answer{}, nil }
	d := dispatcher(t, families)
	for given, want := range map[string]memory.AsOf{
		`{"as_of":"v12"}`: {Version: 12}, `{"AsOf":"2026-03-01T10:00:00Z"}`: {Time: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)},
		`{"as_of":1700000000}`: {Time: time.Unix(1700000000, 0).UTC()}, `{"as_of":null}`: {}, `{"as_of":"now"}`: {},
	} {
		if _, err := d.Dispatch(t.Context(), Request{Tool: "notes_get", Arguments: json.RawMessage(given), Caller: owner()}); err != nil || seen.AsOf != want || string(seen.JSON) != `{}` {
			t.Errorf("%s is a call at %+v, %v", given, seen.AsOf, err)
		}
	}
	for name, want := range map[string]string{"notes_put": "notes_put may write", "notes_get": "soonish"} {
		_, err := d.Dispatch(t.Context(), Request{Tool: name, Arguments: json.RawMessage(`{"id":"a","as_of":"` + map[string]string{"notes_put": "1h ago", "notes_get": "soonish"}[name] + `"}`), Caller: owner()})
		if err == nil || !strings.Contains(err.Error(), want) || FailureOf(err).Code != memory.InvalidArgument {
			t.Errorf("%s is refused with %v", name, err)
		}
	}
}

func TestADryRunCanBeAskedForWithTheArguments(t *testing.T) {
	families := notesFamily()
	var seen *Call
	families[0].Tools[0].Handler = func(_ context.Context, c *Call) (Answer, error) { seen = c; return Answer{}, nil }
	d := dispatcher(t, families)
	a, err := d.Dispatch(t.Context(), Request{Tool: "notes_put", Arguments: json.RawMessage(`{"id":"a","dryRun":"true"}`), Caller: owner()})
	if err != nil || !seen.DryRun || string(seen.JSON) != `{"note_id":"a"}` || a.Note() != "dry run: nothing was written." {
		t.Errorf("called with %+v, noted %q, %v", seen, a.Note(), err)
	}
	if _, err := d.Dispatch(t.Context(), Request{Tool: "notes_put", Arguments: json.RawMessage(`{"id":"a","dry_run":false}`), Caller: owner(), DryRun: true}); err != nil || !seen.DryRun {
		t.Error("the arguments undo what the request asks for")
	}
}

func TestACallThatFailsInsideTellsNothingOfIt(t *testing.T) {
	for name, run := range map[string]Handler{
		"fails":  func(context.Context, *Call) (Answer, error) { return Answer{}, errors.New("secret path") },
		"panics": func(context.Context, *Call) (Answer, error) { panic("secret path") },
		"domain": func(context.Context, *Call) (Answer, error) {
			return Answer{}, &memory.Error{Code: memory.Internal, Message: "secret path"}
		},
	} {
		var log bytes.Buffer
		all := NewRegistry(nil)
		if err := all.Add(Spec{Name: name, Lenient: true, Handler: run}); err != nil {
			t.Fatal(err)
		}
		_, err := NewDispatcher(all, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}).Dispatch(t.Context(), Request{Tool: name, Caller: owner()})
		if err == nil || strings.Contains(err.Error(), "secret") || FailureOf(err).Code != memory.Internal || !strings.Contains(log.String(), "secret path") {
			t.Errorf("%s: told %v, logged %s", name, err, log.String())
		}
	}
}

func TestOnlyToolsThatReadAreCalledForOneWhoMayOnlyRead(t *testing.T) {
	d := dispatcher(t, notesFamily(), echo(Spec{Name: "memory_both", Lenient: true, Annotations: Annotations{Mixed: true}}))
	reader := memory.Caller{Rights: memory.FullRights().ReadOnly()}
	for name, want := range map[string]memory.Code{"notes_put": memory.Denied, "notes_get": "", "memory_both": "", "memory.both": "", "nowhere": memory.NotFound} {
		_, err := d.Dispatch(t.Context(), Request{Tool: name, Caller: reader})
		if want == "" && err != nil || want != "" && FailureOf(err).Code != want {
			t.Errorf("Dispatch %s: %v, want code %q", name, err, want)
		}
	}
	if _, err := d.Dispatch(t.Context(), Request{Tool: "notes_get"}); err != nil {
		t.Errorf("one without rights may ask to read, and the domain refuses: %v", err)
	}
}

func TestATwiceNamedCoreToolIsRefused(t *testing.T) {
	all := NewRegistry(nil)
	if err := all.Add(Spec{Name: "memory_a", Aliases: []string{"memory_b"}}, Spec{Name: "memory_b"}); err == nil {
		t.Error("two tools have one name")
	}
	if tool, ok := all.Find("memory.b"); !ok || tool.Name != "memory_a" {
		t.Error("a tool is not found by its other name")
	}
}

// revocable is the limits of keys that a test revokes.
type revocable struct{ end context.CancelCauseFunc }

func (*revocable) Begin(string) (func(), error) { return func() {}, nil }
func (*revocable) Charge(string) error          { return nil }
func (r *revocable) While(ctx context.Context, _ string) (context.Context, func()) {
	ctx, r.end = context.WithCancelCause(ctx)
	return ctx, func() { r.end(nil) }
}

// A front end that admitted the call, and one that did not, may have been presented the key in any form: the dispatcher ends the call.
func TestARunningCallEndsWithTheKeyOfItsCaller(t *testing.T) {
	limits := &revocable{}
	revoked := &memory.Error{Code: memory.Denied, Message: "the key was revoked"}
	all := NewRegistry(nil)
	if err := all.Add(Spec{Name: "waits", Handler: func(ctx context.Context, c *Call) (Answer, error) {
		limits.end(revoked)
		<-ctx.Done()
		return Answer{}, ctx.Err()
	}}); err != nil {
		t.Fatal(err)
	}
	d := NewDispatcher(all, Options{Limits: limits})
	for _, admission := range []Admission{ToAdmit, Admitted} {
		_, err := d.Dispatch(t.Context(), Request{Tool: "waits", Arguments: json.RawMessage(`{}`), Caller: memory.Caller{Key: "k", Rights: memory.FullRights()}, Admission: admission})
		if !errors.Is(err, revoked) {
			t.Errorf("admission %d: got %v, want %v", admission, err, revoked)
		}
	}
}
