package sessions

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/fact"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Wake resumes from a checkpoint, by default the caller's last one.
//
// The facts are shown as they were at the checkpoint's version. On its day all that it has are shown; after a day the structural ones
// (importance from 0.75 on, decisions, steering rules) and five others; after two the structural ones; after four days three of them.
// unclean says that its session was not closed. note says when the facts cannot be those of the checkpoint.
//
//alcove:camel
//alcove:title Resume from a checkpoint
//alcove:description Pick up where you left off: resume from a checkpoint; older means shorter.
//alcove:tool read-only
type Wake struct {
	CheckpointID string `alcove:"default=latest,alias=id"`
}

//alcove:camel
type awake struct {
	CheckpointID alcove.ID
	SessionID    alcove.ID
	AgeDays      int
	Version      uint64
	Branch       string
	Summary      string
	WhoIWas      string `json:"whoIWas"`
	Context      []fact.Fact
	Unclean      bool
	Note         string `json:"note,omitzero"`
}

// latest stands for the caller's last checkpoint.
const latest = "latest"

// Call reads the checkpoint, and its facts.
func (in Wake) Call(c *alcove.Call, cfg Config) (out awake, err error) {
	id, k, err := in.checkpoint(c)
	if err != nil {
		return out, err
	}
	out = awake{CheckpointID: id, SessionID: alcove.ID{Namespace: id.Namespace, Key: k.SessionID}, AgeDays: max(int(c.Time().Sub(k.At).Days()), 0),
		Version: k.Version, Branch: k.Branch, Summary: or(k.Summary, k.Name)}
	s, known, err := sessions.In(id.Namespace).Get(c, k.SessionID)
	if err != nil {
		return out, err
	}
	out.Unclean, out.WhoIWas = !known || s.Status != closed, whoWas(&k, &s)
	memories, note, err := k.read(c, id.Namespace)
	if err != nil {
		return out, err
	}
	out.Note = note
	byKey, list := map[string]*alcove.Memory{}, []candidate(nil)
	for _, m := range memories {
		if m != nil {
			byKey[m.Key], list = m, append(list, judged(cfg, m))
		}
	}
	for _, f := range waking(list, out.AgeDays) {
		shown := fact.Of(byKey[f.key])
		shown.Importance = f.importance
		out.Context = append(out.Context, shown)
	}
	return out, nil
}

// checkpoint finds the one that is meant.
func (in Wake) checkpoint(c *alcove.Call) (id alcove.ID, k checkpoint, err error) {
	if in.CheckpointID == "" || in.CheckpointID == latest {
		key, k, err := lastCheckpoint(c)
		if err == nil && key == "" {
			err = alcove.Errorf(alcove.NotFound, "%s has no checkpoint in %s on the branch %s: memory_save_checkpoint saves one", or(c.Caller, "the caller"), c.Namespace, c.Branch)
		}
		return c.ID(key), k, err
	}
	id = at(c, alcove.ParseID(in.CheckpointID))
	k, ok, err := checkpoints.In(id.Namespace).Get(c, id.Key)
	if err == nil && !ok {
		err = alcove.Errorf(alcove.NotFound, "there is no checkpoint %q in %s", id.Key, id.Namespace)
	}
	return id, k, err
}

// read reads the facts of a checkpoint as they were, or else as they are, with a note that says so.
func (k *checkpoint) read(c *alcove.Call, namespace string) (memories []*alcove.Memory, note string, err error) {
	if len(k.Facts) == 0 {
		return nil, "", nil
	}
	r := alcove.MemoryGetRequest{Namespace: namespace, AsOf: asOf(k.Version)}
	for _, f := range k.Facts {
		r.Keys = append(r.Keys, f.Key)
	}
	found, err := c.MemoryGet(r)
	if alcove.CodeOf(err) == alcove.InvalidArgument { // retention dropped it
		note = "the version " + r.AsOf + " is no longer kept: these are the facts of the checkpoint as they are now"
		r.AsOf = ""
		found, err = c.MemoryGet(r)
	}
	if err != nil {
		return nil, "", err
	}
	if note == "" && !k.holds(found.Memories) {
		note = "the checkpoint was saved on the branch " + k.Branch + ": some of its facts are others on " + c.Branch + "; ask on that branch"
	}
	return found.Memories, note, nil
}

// holds reports whether memories are those of the checkpoint.
func (k *checkpoint) holds(memories []*alcove.Memory) bool {
	for i, m := range memories {
		if m == nil || m.Version != k.Facts[i].Version {
			return false
		}
	}
	return true
}

// whoWas says who saved a checkpoint, in which work.
func whoWas(k *checkpoint, s *session) string {
	b := &strings.Builder{}
	b.WriteString(or(k.AgentID, "an agent without a name"))
	if s.Context != "" {
		b.WriteString(", working on: " + s.Context)
	}
	if k.Name != "" {
		b.WriteString("; checkpoint " + k.Name)
	}
	if k.Topic != "" {
		b.WriteString("; topic " + k.Topic)
	}
	return b.String()
}
