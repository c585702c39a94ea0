package alcove

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/abi/vectors"
)

// player is a family that answers as a vector says, and writes down what its handlers were given.
type player struct {
	*Family
	given any // a message of package abi
}

func play(t *testing.T, v vectors.Message) *player {
	t.Helper()
	p := &player{Family: New()}
	var failure error
	if e := v.Error; e != nil {
		failure = &Error{Code: Code(e.Code), Message: e.Message, Retryable: e.Retryable, Details: e.Details}
	}
	var answer storeResult
	if v.Result != nil {
		if err := json.Unmarshal(v.Result, &answer); err != nil {
			t.Fatal(err)
		}
	}
	if answer.Refuse != nil {
		failure = Refuse(*answer.Refuse)
	}
	if answer.Propose != nil {
		failure = Propose(*answer.Propose)
	}
	p.HandleTool("sample_run", func(c *Call, in Raw) (Raw, error) {
		p.given = abi.ToolRequest{Tool: "sample_run", Arguments: json.RawMessage(in), Config: json.RawMessage(c.Config), Context: abi.Context(c.Context)}
		return Raw(v.Result), failure
	})
	p.HandleJob("sweep", func(c *Call, in Raw) (Raw, error) {
		p.given = abi.HookRequest{Hook: abi.HookJob, Job: "sweep", Payload: json.RawMessage(in), Config: json.RawMessage(c.Config), Context: abi.Context(c.Context)}
		return Raw(v.Result), failure
	})
	hook := func(hook abi.Hook, c *Call, entries []Entry) {
		r := abi.HookRequest{Hook: hook, Config: json.RawMessage(c.Config), Context: abi.Context(c.Context)}
		for _, e := range entries {
			var entry abi.Entry
			strictly(t, written(t, e), &entry)
			r.Entries = append(r.Entries, entry)
		}
		p.given = r
	}
	p.OnStore(func(c *Call, entries []Entry) ([]*Change, error) {
		hook(abi.HookStore, c, entries)
		return answer.Entries, failure
	})
	p.OnStored(func(c *Call, entries []Entry) error {
		hook(abi.HookStored, c, entries)
		return failure
	})
	p.OnMerged(func(c *Call, m MergeNotice) error {
		keys := []abi.MergeKey{}
		for _, k := range m.Keys {
			keys = append(keys, abi.MergeKey(k))
		}
		p.given = abi.HookRequest{Hook: abi.HookMerged, Config: json.RawMessage(c.Config), Context: abi.Context(c.Context),
			Merge: &abi.MergeNotice{Source: m.Source, Target: m.Target, Version: m.Version, Agent: m.Agent, Count: m.Count, Keys: keys}}
		return failure
	})
	p.OnSessionEnd(func(c *Call, s Session) error {
		session := abi.Session(s)
		p.given = abi.HookRequest{Hook: abi.HookSessionEnd, Config: json.RawMessage(c.Config), Context: abi.Context(c.Context), Session: &session}
		return failure
	})
	output, _, err := v.Output()
	if err != nil {
		t.Fatal(err)
	}
	p.OnRank(func(r *Ranking) error {
		p.given = abi.ScoreParams{Config: json.RawMessage(r.Config), Now: r.Instant, Query: r.Query, Context: abi.Context(r.Context)}
		scores, err := abi.ParseScores(output, len(r.Scores))
		if err != nil {
			t.Error(err)
		}
		copy(r.Scores, scores)
		return failure
	})
	p.OnEmbed(func(in *Texts) ([][]float32, error) {
		p.given = abi.EmbedRequest{Texts: in.Texts, Purpose: in.Purpose, Config: json.RawMessage(in.Config), Context: abi.Context(in.Context)}
		vectors, err := abi.ParseVectors(output, len(v.Vectors), len(v.Vectors[0]))
		if err != nil {
			t.Error(err)
		}
		return vectors, failure
	})
	return p
}

func TestAFamilyServesMessagesAsTheVectorsSay(t *testing.T) {
	cases, err := vectors.Read[vectors.Message]("messages.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range cases {
		t.Run(v.Name, func(t *testing.T) {
			input, err := v.Input()
			if err != nil {
				t.Fatal(err)
			}
			output, status, err := v.Output()
			if err != nil {
				t.Fatal(err)
			}
			p := play(t, v)
			gotStatus, result := (&script{}).serves(p.Family, Kind(v.Kind.Kind()), string(input))
			if gotStatus != int32(status) || !slices.Equal([]byte(result), output) {
				t.Errorf("it answers %d %q, want %d %q", gotStatus, result, status, output)
			}
			if given := written(t, p.given); string(given) != string(v.Request) {
				t.Errorf("its handler is given\n%s\nwant\n%s", given, v.Request)
			}
		})
	}
}
