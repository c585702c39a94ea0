package tagging

import (
	"github.com/alcove-memory/alcove/guests/auto-tag/suggest"
	"github.com/alcove-memory/alcove/guests/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/reflected"
)

// jobRetag is the job that tags a namespace anew, a batch at a time.
const jobRetag = "retag"

// retagBatch is how many memories one run of the job tags: few enough to commit without keeping others waiting.
const retagSize = 200

type retagIn struct {
	Namespace string `json:"namespace"`
	Job       string `json:"job"` // the state of a job that was started before
}

type retagOut struct {
	Job       string                    `json:"job"`
	Namespace string                    `json:"namespace,omitempty"`
	State     *alcove.JobStatusResponse `json:"state,omitempty"`
}

type retagPayload struct {
	Namespace string `json:"namespace"`
	After     string `json:"after,omitempty"`
	Done      int    `json:"done"`
	Changed   int    `json:"changed"`
}

type retagResult struct {
	Namespace string `json:"namespace"`
	Done      int    `json:"done"`
	Changed   int    `json:"changed"`
	Next      string `json:"next,omitempty"` // the job that goes on
}

// retag starts the job, or tells how one is doing.
func (t *tagger) retag(c *alcove.Call, in retagIn) (retagOut, error) {
	if in.Job != "" {
		state, err := c.JobStatus(alcove.JobStatusRequest{ID: in.Job})
		return retagOut{Job: in.Job, State: &state}, err
	}
	namespace := or(in.Namespace, c.Namespace)
	if _, err := reflected.Enqueue(c, jobLearn, learnPayload{Namespace: namespace, Force: true}, 0); err != nil {
		return retagOut{}, err
	}
	id, err := reflected.Enqueue(c, jobRetag, retagPayload{Namespace: namespace}, 0)
	return retagOut{Job: id, Namespace: namespace}, err
}

// retagBatch tags the next memories of a namespace, and queues the rest.
func (t *tagger) retagBatch(c *alcove.Call, p retagPayload) (retagResult, error) {
	cfg, err := config(c)
	if err != nil {
		return retagResult{}, err
	}
	page, err := c.MemoryList(alcove.MemoryListRequest{Namespace: p.Namespace, After: p.After, Limit: retagSize})
	if err != nil {
		return retagResult{}, err
	}
	patches := t.patches(c, cfg, p.Namespace, page.Memories)
	if len(patches) > 0 {
		if _, err := c.MemoryPatch(alcove.MemoryPatchRequest{Patches: patches}); err != nil {
			return retagResult{}, err
		}
	}
	out := retagResult{Namespace: p.Namespace, Done: p.Done + len(page.Memories), Changed: p.Changed + len(patches)}
	if err := c.Progress(out.Done, 0, "tagging"); err != nil {
		return retagResult{}, err
	}
	if page.Next == "" { // the tags are others now
		_, err = reflected.Enqueue(c, jobLearn, learnPayload{Namespace: p.Namespace, Force: true}, 0)
		return out, err
	}
	out.Next, err = reflected.Enqueue(c, jobRetag, retagPayload{Namespace: p.Namespace, After: page.Next, Done: out.Done, Changed: out.Changed}, 0)
	return out, err
}

func (t *tagger) patches(c *alcove.Call, cfg Config, namespace string, memories []alcove.Memory) []alcove.MemoryPatch {
	readings := make([]suggest.Reading, len(memories))
	for i := range memories {
		readings[i] = t.suggest.Read(words.Text(memories[i].Value, words.Long))
	}
	var patches []alcove.MemoryPatch
	for from := 0; from < len(memories); from += lookUpTogether {
		to := min(from+lookUpTogether, len(memories))
		stats := lookUp(c, namespace, readings[from:to]).Statistics
		for i := from; i < to; i++ {
			m := &memories[i]
			d := t.decide(cfg, of(m), readings[i], stats)
			if d.changes(of(m)) && (m.State == "" || m.State == "active") {
				patches = append(patches, d.patch(m))
			}
		}
	}
	return patches
}

// lookUpTogether is how many memories' candidates fit into one question for the vocabulary.
const lookUpTogether = 50
