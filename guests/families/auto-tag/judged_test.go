package autotag

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/guests/families/auto-tag/suggest"
	"github.com/alcove-memory/alcove/guests/lib/words"
	"github.com/alcove-memory/alcove/host/search/wordvec"
	"github.com/alcove-memory/alcove/host/testing/must"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// labelled reads labels of host/bench/judge that may be tuned on.
func labelled[T any](t *testing.T, name string) (list []T) {
	t.Helper()
	data, err := os.ReadFile("../../../host/bench/judge/testdata/" + name + "-dev.jsonl")
	must.Do(t, err)
	for line := range strings.Lines(string(data)) {
		var v T
		must.Do(t, json.Unmarshal([]byte(line), &v))
		list = append(list, v)
	}
	return list
}

// seeing gives a space the program's own word vectors.
func seeing(t *testing.T, s *alcovetest.Space) {
	t.Helper()
	table, err := wordvec.Open()
	must.Do(t, err)
	s.Ops[alcove.OpEmbedTexts] = func(request []byte) (any, error) {
		var r struct{ Texts []string }
		must.Do(t, json.Unmarshal(request, &r))
		out := alcove.EmbedTextsResponse{Model: builtin, Dimensions: wordvec.Dimensions}
		for _, text := range r.Texts {
			v := table.Vector(text)
			if v == nil {
				v = make([]float32, wordvec.Dimensions)
			}
			out.Vectors = append(out.Vectors, v)
		}
		return out, nil
	}
}

func TestTypesAreTheOnesThatPeopleGave(t *testing.T) {
	right, observations := 0, 0
	list := labelled[struct{ Text, Type string }](t, "types")
	r := reader{suggest.New()}
	for _, l := range list {
		if or(r.suggest.Read(l.Text).Type, "observation") == l.Type {
			right++
		}
		if l.Type == "observation" {
			observations++
		}
	}
	if least := len(list) * 90 / 100; right < least || right <= observations {
		t.Errorf("%d of %d types are right, want at least %d", right, len(list), least)
	}
}

func TestTagsAreTheOnesThatPeopleWouldGive(t *testing.T) {
	for _, on := range []struct {
		vectors              bool
		reused, precise, own int // percent, at least
	}{{true, 85, 85, 98}, {false, 70, 70, 98}} {
		j := judgedTags(t, on.vectors)
		if j.reused < on.reused || j.precise < on.precise || j.noNonsense < on.own {
			t.Errorf("vectors %v: %+v, want at least %+v", on.vectors, j, on)
		}
	}
}

// judged are shares in percent.
type judged struct{ reused, precise, noNonsense int }

func judgedTags(t *testing.T, vectors bool) judged {
	t.Helper()
	spaces := map[string]*alcovetest.Space{}
	for _, n := range labelled[struct {
		Namespace string
		Tagged    []struct {
			Text string
			Tags []string
		}
	}](t, "tags-namespaces") {
		s := space(t)
		if vectors {
			seeing(t, s)
		}
		for i, m := range n.Tagged {
			s.Put(alcove.Memory{Key: fmt.Sprint("m", i), Value: text(m.Text), Tags: m.Tags})
		}
		must.Do(t, s.Job("learn", Learn{Namespace: "default"}, nil))
		spaces[n.Namespace] = s
	}
	var fitting, given, known, tags, sound int
	for _, l := range labelled[struct {
		Namespace, Text           string
		Reuse, Sensible, Nonsense []string
	}](t, "tags") {
		var out Suggested
		must.Do(t, spaces[l.Namespace].Tool("memory_suggest_tags", map[string]any{"text": l.Text}, &out))
		fitting += len(l.Reuse)
		for _, c := range out.Tags {
			has := func(list []string) bool {
				return slices.ContainsFunc(list, func(tag string) bool { return words.Fold(tag) == words.Fold(c.Tag) })
			}
			tags++
			if c.Known {
				known++
			}
			if c.Known && has(l.Reuse) {
				given++
			}
			if !has(l.Nonsense) {
				sound++
			}
		}
	}
	return judged{100 * given / max(fitting, 1), 100 * given / max(known, 1), 100 * sound / max(tags, 1)}
}

func TestWhatTheFamilyGuessedTeachesNothing(t *testing.T) {
	s := space(t)
	guessed := alcove.Metadata{markName: alcove.JSON(mark{Tags: []string{"guess"}})}
	for i := range 8 {
		s.Put(alcove.Memory{Key: fmt.Sprint(i), Value: text("Stripe refunds a chargeback"), Tags: []string{"guess"}, Metadata: guessed})
		s.Put(alcove.Memory{Key: fmt.Sprint("given", i), Value: text("The roof lost a tile"), Tags: []string{"house"}})
		s.Put(alcove.Memory{Key: fmt.Sprint("other", i), Value: text("The engine needs oil"), Tags: []string{"car"}})
	}
	must.Do(t, s.Job("learn", Learn{Namespace: "default"}, nil))
	var out Suggested
	must.Do(t, s.Tool("memory_suggest_tags", map[string]any{"text": "Stripe sent a chargeback"}, &out))
	if slices.ContainsFunc(out.Tags, func(c suggest.Candidate) bool { return c.Tag == "guess" }) {
		t.Errorf("the tags are %+v, want none that was only guessed", out.Tags)
	}
	must.Do(t, s.Tool("memory_suggest_tags", map[string]any{"text": "A new tile for the roof"}, &out))
	if len(out.Tags) == 0 || out.Tags[0].Tag != "house" || !out.Tags[0].Known {
		t.Errorf("the tags are %+v, want house first, which somebody gave", out.Tags)
	}
}

func TestTagsOfMemoriesCountBeforeTheyAreLearned(t *testing.T) {
	s := space(t)
	for i := range 4 {
		s.Put(alcove.Memory{Key: fmt.Sprint(i), Value: text("The roof lost a tile"), Tags: []string{"house"}})
		s.Put(alcove.Memory{Key: fmt.Sprint("car", i), Value: text("The engine needs oil"), Tags: []string{"car"}})
	}
	var out Suggested
	must.Do(t, s.Tool("memory_suggest_tags", map[string]any{"text": "A new tile for the roof"}, &out))
	if len(out.Tags) == 0 || out.Tags[0].Tag != "house" {
		t.Errorf("the tags are %+v, want house first", out.Tags)
	}
}

func TestTagsThatAreGivenAreLearnedSoon(t *testing.T) {
	s := space(t)
	store := func(tags ...string) {
		_, err := s.Store(alcove.Entry{Collection: "memory", Namespace: "default", Key: "x", Value: text("The roof lost a tile"), Tags: tags})
		must.Do(t, err)
	}
	old, err := alcove.ParseTime("2026-06-01T11:00:00Z") // an hour before
	must.Do(t, err)
	s.PutRecord(vocabulary.Name, overviewKey, overview{Learned: old})
	store()
	if n := len(s.Queued()); n != 0 {
		t.Errorf("%d jobs are queued, want none: no tag was given, and the vocabulary is fresh", n)
	}
	store("house")
	store("house", "roof")
	if n := len(s.Queued()); n != 1 {
		t.Errorf("%d jobs are queued, want 1", n)
	}
}
