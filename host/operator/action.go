package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
)

// Action is an act, by whom, and what of.
type Action struct {
	Person Person
	Act    string
	About  string // what of, without values, keys of memories and secrets
}

// Recorder records what operators do.
type Recorder interface {
	// Began records an action before it is done. The caller calls failed if it is not.
	Began(Action) (failed func(error))
	// Refused records an action that the person's role does not permit.
	Refused(d Action, rule string)
}

// entered returns the binding behind the one door through which all acts pass: it asks for the role and records what is done.
func (b Binding) entered(to Recorder) Binding {
	do, write := b.do, b.write
	if do != nil {
		b.do = func(ctx context.Context, request json.RawMessage) (any, error) {
			failed, err := b.enter(ctx, request, to)
			if err != nil {
				return nil, err
			}
			answer, err := do(ctx, request)
			failed(err)
			return answer, err
		}
	}
	if write != nil {
		b.write = func(ctx context.Context, request json.RawMessage, w io.Writer) error {
			failed, err := b.enter(ctx, request, to)
			if err != nil {
				return err
			}
			err = write(ctx, request, w)
			failed(err)
			return err
		}
	}
	return b
}

// enter returns what is called with the outcome of a request, or why its person may not make it.
func (b Binding) enter(ctx context.Context, request json.RawMessage, to Recorder) (failed func(error), err error) {
	d := Action{Person: PersonOf(ctx), Act: b.name}
	needed := Needs(b.name, request)
	if !d.Person.may().covers(needed) {
		rule := "role " + string(needed)
		if to != nil {
			to.Refused(d, rule)
		}
		return nil, &memory.Error{Code: memory.Denied, Rule: rule, Message: fmt.Sprintf("the act %s takes the role %s, and this operator is %s", b.name, needed, d.Person.may())}
	}
	if to == nil || needed == Viewer || b.shows(request) {
		return func(error) {}, nil
	}
	d.About = b.about(request)
	tell := to.Began(d)
	return func(err error) {
		if err != nil {
			tell(err)
		}
	}, nil
}

// aboutRequest says what a request is about.
func aboutRequest[In any](request json.RawMessage) string {
	r, err := decode[In](request)
	if err != nil {
		return ""
	}
	return about(any(r))
}

// about says what a request is about, without values, keys of memories and secrets.
func about(request any) string {
	switch r := request.(type) {
	case KeyRequest:
		return fmt.Sprintf("a key of %s for %s with %s", r.Agent, strings.Join(r.Namespaces, ", "), joined(r.Rights))
	case KeyID:
		return "the key " + r.ID
	case OperatorRequest:
		return fmt.Sprintf("the operator %s as %s", r.Name, r.Role)
	case OperatorName:
		return "the operator " + r.Name
	case PurgeRequest:
		return aboutPurge(r)
	case MoveRequest:
		return fmt.Sprintf("from %s to %s", r.From, r.To)
	case ImportRequest:
		return fmt.Sprintf("%d memories to the branch %q", len(r.Memories), r.Branch)
	case ToolCall:
		return "the tool " + r.Tool
	case EmbedderRequest:
		return fmt.Sprintf("the embedder %s of the kind %s", r.Name, r.Kind)
	case EmbedderName:
		return "the embedder " + r.Name
	case EndpointRequest:
		return "the endpoint " + r.Name
	case RootRequest:
		return "the root " + r.Name
	case KeyLimits, Retention, QuotaRequest, UndoRequest, BackedUp, BackupRequest, ExportRequest, Selection, PostureRequest:
		return asText(r)
	}
	return aboutFamily(request)
}

// aboutFamily is about for requests that name a family, or its settings.
func aboutFamily(request any) string {
	switch r := request.(type) {
	case FamilyName:
		return "the family " + r.Family
	case GrantRequest:
		return "the family " + r.Family
	case UpdateRequest:
		return fmt.Sprintf("the family %s from %s", r.Family, r.Source)
	case InstallRequest:
		return "from " + r.Source
	case FamilyJobName:
		return fmt.Sprintf("the job %s of the family %s", r.Job, r.Family)
	case FamilyJobID:
		return "the job " + r.ID
	case ConfigureRequest:
		return fmt.Sprintf("%s of the family %s", strings.Join(slices.Sorted(maps.Keys(r.Values)), ", "), r.Family)
	case TrustRequest:
		if r.Name == "" {
			return asText(r) // how many keys, or what first-party families
		}
		return "the key " + r.Name
	case SettingChanges:
		keys := []string{}
		for _, c := range r.Changes {
			keys = append(keys, c.Key)
		}
		return fmt.Sprintf("%s of %s", strings.Join(keys, ", "), r.Scope)
	case SettingKey:
		return fmt.Sprintf("%s of %s", r.Key, r.Scope)
	case SettingUndo:
		return fmt.Sprintf("the change %s of %s", r.Change, r.Scope)
	}
	return ""
}

func aboutPurge(r PurgeRequest) string {
	switch {
	case r.Family != "":
		return "what the family " + r.Family + " keeps"
	case r.Event != 0:
		return fmt.Sprintf("the event %d", r.Event)
	case r.Collection != "":
		return "a record in " + r.Collection
	}
	return fmt.Sprintf("a memory in %q", r.Namespace)
}

// asText is a request whose members are no secrets.
func asText(request any) string {
	text, err := json.Marshal(request)
	if err != nil {
		return ""
	}
	return string(text)
}

func joined[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, text := range list {
		texts[i] = string(text)
	}
	return strings.Join(texts, ", ")
}
