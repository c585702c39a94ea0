package autotag

import (
	"github.com/alcove-memory/alcove/guests/families/auto-tag/suggest"
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Retag tags all memories of a namespace.
//
// Starts a job that learns the namespace's vocabulary, then tags 200 memories at a time, each batch committed by itself. The result names
// the job; called again with it, the tool answers its state. A batch that went on names the next job in its result.
//
//alcove:tool idempotent
//alcove:title Tag a namespace
//alcove:description Tag all memories of a namespace in the background; give job to see how far it is.
type Retag struct {
	Namespace string // The call's namespace by default.
	Job       string // A job that was started before.
}

// Retagging is a job that tags a namespace.
type Retagging struct {
	Job       string
	Namespace string                    `json:",omitempty"`
	State     *alcove.JobStatusResponse `json:",omitempty" alcove:"opaque"`
}

// Call starts the job, or tells how one is doing.
func (in Retag) Call(c *alcove.Call) (Retagging, error) {
	if in.Job != "" {
		state, err := c.JobStatus(alcove.JobStatusRequest{ID: in.Job})
		return Retagging{Job: in.Job, State: &state}, err
	}
	namespace := or(in.Namespace, c.Namespace)
	if _, err := c.Enqueue(Learn{Namespace: namespace, Force: true}, 0); err != nil {
		return Retagging{}, err
	}
	id, err := c.Enqueue(RetagBatch{Namespace: namespace}, 0)
	return Retagging{Job: id, Namespace: namespace}, err
}

// retagSize is how many memories one run of the job tags: few enough to commit without keeping others waiting.
const retagSize = 200

// RetagBatch tags the next memories of a namespace, and queues the rest.
//
//alcove:job retag
//alcove:description Tags the next memories of a namespace
type RetagBatch struct {
	reader
	Namespace string
	alcove.Sweep
}

// Retagged is how far a namespace is tagged.
type Retagged struct {
	Namespace string
	alcove.Swept
}

// Doing is what the job says of its progress.
func (RetagBatch) Doing() string { return "tagging" }

// Run tags a batch. After the last one the tags are others, and are learned.
func (j RetagBatch) Run(c *alcove.Call, cfg Config) (out Retagged, err error) {
	out.Namespace = j.Namespace
	list := alcove.MemoryListRequest{Namespace: j.Namespace, Limit: retagSize}
	out.Swept, err = alcove.SweepMemories(c, &j, list, func(memories []alcove.Memory) (int, error) {
		patches := j.patches(c, cfg, memories)
		_, err := c.PatchMemories(patches)
		return len(patches), err
	})
	if err == nil && out.Next == "" {
		_, err = c.Enqueue(Learn{Namespace: j.Namespace, Force: true}, 0)
	}
	return out, err
}

// lookUpTogether is how many memories' candidates fit into one question for the vocabulary.
const lookUpTogether = 50

func (j RetagBatch) patches(c *alcove.Call, cfg Config, memories []alcove.Memory) []alcove.MemoryPatch {
	readings, texts := make([]suggest.Reading, len(memories)), make([]string, len(memories))
	for i := range memories {
		texts[i] = words.Text(memories[i].Value, words.Long)
		readings[i] = j.suggest.Read(texts[i])
	}
	var patches []alcove.MemoryPatch
	for from := 0; from < len(memories); from += lookUpTogether {
		to := min(from+lookUpTogether, len(memories))
		known := lookUp(c, j.Namespace, readings[from:to])
		vectors := known.vectors(c, texts[from:to])
		for i := from; i < to; i++ {
			m := &memories[i]
			stats := known.Statistics
			stats.Topics.Vector = vectors[i-from]
			d := j.decide(cfg, of(m), readings[i], stats)
			if d.changes(of(m)) && (m.State == "" || m.State == "active") {
				patches = append(patches, d.patch(m))
			}
		}
	}
	return patches
}
