package alcovetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/tool"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func (s *Space) location() memory.Location {
	return memory.Location{Branch: s.Branch, Namespace: s.Namespace}
}

// Tool calls a tool, by its name or an alias, as a client does, and reads its result into result unless that is nil. Arguments and result are values for encoding/json,
// or have a codec that alcove family gen wrote.
func (s *Space) Tool(name string, arguments, result any) error {
	if err := s.begin(); err != nil {
		return asError(err)
	}
	raw, err := marshal(arguments)
	if err != nil {
		return fmt.Errorf("write the arguments: %w", err)
	}
	t, p, err := s.tools.Prepare(tool.Request{Tool: name, Arguments: raw, Caller: s.caller()})
	if err != nil {
		return asError(err)
	}
	at, err := memory.ParseAsOf(p.AsOf, s.Now)
	if err != nil {
		return asError(err)
	}
	r, err := s.families.Call(s.t.Context(), t.Origin.(*catalogue.Tool), family.Call{
		AsOf: at, Arguments: p.JSON, Location: s.meant(p.Branch, p.Namespace), Caller: s.caller(), DryRun: s.DryRun || p.DryRun, RequestID: s.name(),
	})
	s.Notes = append(p.Notes(), r.Notes...)
	if err != nil || result == nil {
		return asError(err)
	}
	return unmarshal(r.Output, result)
}

// meant is the location of a call that may name another one.
func (s *Space) meant(branch, namespace string) memory.Location {
	l := s.location()
	if branch != "" {
		l.Branch = branch
	}
	if namespace != "" {
		l.Namespace = namespace
	}
	return l
}

// Store stores memories as a client does, with the store hook, and returns what the hook changed in each; nil when it was not asked
// or changed nothing. All are stored in the namespaces that they name, the space's by default.
func (s *Space) Store(entries ...alcove.Entry) (changes []*alcove.Change, err error) {
	if err := s.begin(); err != nil {
		return nil, asError(err)
	}
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && entries[n].Namespace == entries[0].Namespace {
			n++
		}
		part, err := s.store(entries[:n])
		if err != nil {
			return nil, asError(err)
		}
		changes, entries = append(changes, part...), entries[n:]
	}
	return changes, nil
}

// Delete deletes a memory of the space's namespace as a client does, with the store hook.
func (s *Space) Delete(key string) error {
	if err := s.begin(); err != nil {
		return asError(err)
	}
	w := memory.Write{Agent: s.Caller, DryRun: s.DryRun, Note: func(note string) { s.Notes = append(s.Notes, note) }}
	_, err := s.space.As(s.caller()).Forget(s.t.Context(), s.location(), []string{key}, w)
	return asError(err)
}

func (s *Space) store(entries []alcove.Entry) ([]*alcove.Change, error) {
	items := make([]memory.Item, len(entries))
	for i, e := range entries {
		items[i] = memory.Item{Key: e.Key, Value: json.RawMessage(e.Value), Tags: e.Tags, Type: e.Type, Importance: e.Importance, Metadata: converted[map[string]json.RawMessage](e.Metadata)}
	}
	s.last = nil
	at := s.meant("", entries[0].Namespace)
	w := memory.Write{Agent: s.Caller, DryRun: s.DryRun, Note: func(note string) { s.Notes = append(s.Notes, note) }}
	if _, err := s.space.As(s.caller()).Store(s.t.Context(), at, items, w); err != nil {
		return nil, err
	}
	changes := make([]*alcove.Change, len(entries))
	if answer, err := abi.ParseStoreResult(s.last, len(entries)); err == nil && len(answer.Entries) == len(entries) {
		changes = converted[[]*alcove.Change](answer.Entries)
	}
	return changes, nil
}

// converted is a message of one side as that of the other: both are the same JSON.
func converted[T any](v any) (out T) {
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("alcovetest: %v", err))
	}
	return out
}

// Tell tells the family of what was stored since it was told last, and runs the jobs that are due.
func (s *Space) Tell() error {
	if err := s.begin(); err != nil {
		return asError(err)
	}
	return asError(s.families.Step(s.t.Context()))
}

// Search finds memories as a client does, ranked by the family where it ranks.
func (s *Space) Search(query string, k int) ([]alcove.ID, error) {
	if err := s.begin(); err != nil {
		return nil, asError(err)
	}
	found, err := s.space.As(s.caller()).Search(s.t.Context(), memory.Search{Text: query, Branch: s.Branch, Namespaces: []string{s.Namespace}, K: k})
	if err != nil {
		return nil, asError(err)
	}
	s.Notes = found.Notes
	var ids []alcove.ID
	for _, h := range found.Hits {
		ids = append(ids, alcove.ID{Namespace: h.Namespace, Key: h.Key})
	}
	return ids, nil
}

// Embed makes vectors with the family's embed hook.
func (s *Space) Embed(purpose string, texts ...string) ([][]float32, error) {
	if err := s.begin(); err != nil {
		return nil, asError(err)
	}
	e, on := s.families.Hooks().EmbedderOf(s.manifest.Name)
	if !on {
		return nil, alcove.Errorf(alcove.NotFound, "the manifest has no hook embed")
	}
	vectors, err := e.Embed(s.t.Context(), texts, purpose)
	return vectors, asError(err)
}

// Jobs are the jobs that the host remembers, the oldest first.
func (s *Space) Jobs() []jobs.Job {
	s.t.Helper()
	list, err := s.families.Jobs(s.t.Context())
	s.must(err)
	return list
}

// Queued are the jobs that wait.
func (s *Space) Queued() []jobs.Job {
	s.t.Helper()
	return slices.DeleteFunc(s.Jobs(), func(j jobs.Job) bool { return j.State != jobs.Queued })
}

// mostRuns is after how many rounds of jobs RunJobs takes it that they queue each other for ever.
const mostRuns = 1000

// RunJobs runs the jobs in the queue, and those that they queue, until there are none; Now goes on to when each is due. A job that
// failed is an error, and is not tried again.
func (s *Space) RunJobs() error {
	for range mostRuns {
		if err := s.Tell(); err != nil {
			return err
		}
		for _, j := range s.Jobs() {
			if j.Error != "" {
				return fmt.Errorf("job %s: %s", j.Name, j.Error)
			}
		}
		queued := s.Queued()
		if len(queued) == 0 {
			return nil
		}
		next := slices.MinFunc(queued, func(a, b jobs.Job) int { return a.Due.Compare(b.Due) }).Due
		if next.After(s.Now) {
			s.Now = next
		}
	}
	return errors.New("jobs queue each other for ever")
}

// Job queues a job, runs what is due, and reads the job's result into result unless that is nil. A nil payload is omitted. A job that
// failed is an error, and is not tried again.
func (s *Space) Job(name string, payload, result any) error {
	r := abi.JobEnqueueRequest{Job: name}
	if payload != nil {
		raw, err := marshal(payload)
		if err != nil {
			return fmt.Errorf("write the payload: %w", err)
		}
		r.Payload = raw
	}
	var queued abi.JobEnqueueResponse
	if err := s.ask(abi.OpJobEnqueue, r, &queued); err != nil {
		return err
	}
	s.failed = nil
	if err := s.Tell(); err != nil {
		return err
	}
	for _, j := range s.Jobs() {
		switch {
		case j.ID != queued.ID:
		case j.Error != "":
			return errors.Join(s.failed, s.ask(abi.OpJobCancel, abi.JobCancelRequest{ID: j.ID}, nil))
		case result != nil && len(j.Result) > 0:
			return unmarshal(j.Result, result)
		}
	}
	return nil
}

// Rank has the family score candidates by columns in the order of the manifest, as Search does with those that it finds.
func (s *Space) Rank(query string, columns ...[]float32) ([]float32, error) {
	if err := s.begin(); err != nil {
		return nil, asError(err)
	}
	config, err := s.families.Configure(s.t.Context(), s.manifest.Name, nil)
	if err != nil {
		return nil, asError(err)
	}
	values, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	now := memory.FormatTime(s.Now)
	params, err := json.Marshal(abi.ScoreParams{Config: values, Now: now, Query: query, Context: abi.Context{Family: s.manifest.Name, Caller: s.Caller, Namespace: s.Namespace, Branch: s.Branch, Now: now}})
	if err != nil {
		return nil, err
	}
	scoring := abi.Scoring{Params: params, Columns: columns}
	if len(columns) > 0 {
		scoring.Candidates = len(columns[0])
	}
	result, err := s.guest.Call(s.t.Context(), sandbox.Request{Kind: abi.KindScore, Payload: abi.AppendScoring(nil, scoring)})
	if err != nil {
		return nil, asError(err)
	}
	if result.Class != abi.ClassOK {
		return nil, asError(result.Error)
	}
	return abi.ParseScores(result.Output, scoring.Candidates)
}
