package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/request"
)

const (
	defaultVersions = 20
	mostVersions    = 50
	mostBuckets     = 500
)

func (k *kit) historyTool() tool.Spec {
	return declared(k, tool.Spec{
		Name:        "memory_history",
		Aliases:     strata("history"),
		Description: "History: all previous versions of a key, and who changed it when. Without a key: how far back as_of can read.",
		Docs: "Each version can be recalled with as_of=vN. as_of here leaves out what is newer. " +
			"Of a long text the beginning is shown, another long value is left out: truncated marks them, and memory_recall with as_of=vN gives each whole. verbose shows them here.",
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"versions": {"type": "array", "items": {"type": "object"}, "description": "value, version, timestamp; deleted where it was forgotten; truncated where a value was cut, value_omitted where it was left out; origin (space, version, timestamp) where another machine wrote it; by, if asked for, with agent, client, session and family."},
				"more": {"type": "string", "description": "as_of for the call that reads on."},
				"elsewhere": {"type": "array", "items": {"type": "object"}, "description": "Versions that other machines wrote and that were brought by a sync with histories: as versions, with origin and without version, as as_of does not show them."},
				"more_elsewhere": {"type": "string", "description": "after for the call that reads on among elsewhere."},
				"note": {"type": "string", "description": "What was left out, and how to get it."},
				"oldest": {"type": "string"},
				"latest": {"type": "string"},
				"branch": {"type": "string"}
			}
		}`),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Staged:      true,
	}, history)
}

type historyRequest struct {
	Key       string `json:"key" alcove:"alias=id|memory_id|factId" doc:"The key whose versions to list."`
	Limit     int    `json:"limit" alcove:"show=maximum" doc:"How many versions: {default} when left out."`
	AsOf      asOf   `json:"as_of" doc:"Only versions up to this moment, such as yesterday or v12."`
	Since     asOf   `json:"since" alcove:"advanced" doc:"Without a key, with changes or buckets: after this moment."`
	Until     asOf   `json:"until" alcove:"advanced" doc:"Without a key, with changes or buckets: up to this moment."`
	Changes   bool   `json:"changes" alcove:"advanced" doc:"Without a key: the memories that differ between since and until, those changed last first."`
	Buckets   int    `json:"buckets" alcove:"advanced" doc:"Without a key: how many memories changed in so many equal spans, and the changes beside as_of."`
	After     string `json:"after" alcove:"advanced" doc:"With changes: next of the page before. With a key: more_elsewhere."`
	Namespace string `json:"namespace" alcove:"alias=scope|scopeId" doc:"Where it is; the session's namespace when left out."`
	Branch    string `json:"branch" doc:"On which branch; the session's branch when left out."`
	Authors   bool   `json:"authors" alcove:"advanced" doc:"Tell what wrote each version: agent, client, session and family."`
	shown
}

// Limits implements request.Limited.
func (historyRequest) Limits() request.Limits {
	return request.Limits{"limit": {Min: 1, Max: mostVersions, Default: defaultVersions}, "buckets": {Min: 1, Max: mostBuckets}}
}

// Check implements request.Checker.
func (r *historyRequest) Check(a *request.Arguments) {
	of := r.Changes || r.Buckets > 0
	switch {
	case r.Key != "" && of:
		a.Fault("key", "memory_history of a key takes neither changes nor buckets: leave the key out")
	case !of && (!r.Since.IsNow() || !r.Until.IsNow()):
		a.Fault("since", "memory_history takes since and until only with changes or buckets")
	case r.Changes && r.Buckets > 0:
		a.Fault("buckets", "memory_history takes changes or buckets, not both")
	}
}

func history(ctx context.Context, c *call, r historyRequest) (tool.Answer, error) {
	f := c.form(c.location(r.Namespace, r.Branch), r.shown)
	location, key, at := f.place, r.Key, r.AsOf.AsOf
	switch {
	case r.Changes:
		return changed(ctx, c, r, f)
	case r.Buckets > 0:
		return timeline(ctx, c, r, f)
	case key == "":
		return extent(ctx, c, location.Branch)
	}
	location, err := c.anywhere(ctx, location, key, at)
	if err != nil {
		return tool.Answer{}, err
	}
	var versions []memory.Memory
	var more uint64
	if r.After == "" {
		if versions, more, err = c.versions(ctx, location, key, at, r.Limit); err != nil {
			return tool.Answer{}, err
		}
	}
	others, moreElsewhere, err := c.elsewhere(ctx, location, key, r, r.Limit-len(versions), more)
	if err != nil {
		return tool.Answer{}, err
	}
	own := len(versions)
	if versions = append(versions, others...); len(versions) == 0 {
		text, err := c.missing(ctx, location, key, at)
		if err != nil {
			return tool.Answer{}, err
		}
		c.Note(text)
	}
	rows := make([]*versionRow, len(versions))
	for i, m := range versions {
		rows[i] = versionOf(m, f)
		if m.Version == 0 {
			continue
		}
		if rows[i].By, err = c.author(ctx, r, m.Version); err != nil {
			return tool.Answer{}, err
		}
	}
	kept, cut, err := shorten(rows, tool.MaxAnswer)
	if err != nil {
		return tool.Answer{}, fmt.Errorf("encode versions: %w", err)
	}
	if cut.rows > 0 && len(kept) < own {
		more, moreElsewhere = versions[len(kept)].Version, ""
	} else if cut.rows > 0 {
		moreElsewhere = memory.FirstElsewhere
		if len(kept) > own {
			moreElsewhere = versions[len(kept)-1].Origin.Next
		}
	}
	own = min(own, len(kept))
	h := historyAnswer{Versions: kept[:own], Elsewhere: kept[own:], MoreElsewhere: moreElsewhere, Note: c.also(historyNote(kept, cut, key, more, c.same("namespace", "branch")))}
	if more > 0 {
		h.More = fmt.Sprintf("v%d", more)
	}
	return tool.Answer{Structured: h, Plain: kept, Notes: tool.NotesOf(h.Note), HasNotes: true}, nil
}

// versions lists the versions of a key, or of a memory by its id.
func (c *call) versions(ctx context.Context, location memory.Location, key string, at memory.AsOf, limit int) ([]memory.Memory, uint64, error) {
	versions, more, err := c.memories().History(ctx, location, key, at, limit)
	if len(versions) > 0 || err != nil {
		return versions, more, err
	}
	there, name, ok := c.identified(key, location)
	if !ok {
		return nil, 0, nil
	}
	versions, more, err = c.memories().History(ctx, there, name, at, limit)
	return versions, more, orNotAnID(err)
}

// elsewhere lists versions that other spaces wrote, once those of this one are listed.
func (c *call) elsewhere(ctx context.Context, location memory.Location, key string, r historyRequest, limit int, more uint64) ([]memory.Memory, string, error) {
	if more > 0 {
		return nil, "", nil
	}
	if limit <= 0 {
		list, _, err := c.access().Elsewhere(ctx, location, key, r.AsOf.AsOf, "", 1)
		if len(list) == 0 {
			return nil, "", err
		}
		return nil, memory.FirstElsewhere, err
	}
	return c.access().Elsewhere(ctx, location, key, r.AsOf.AsOf, r.After, limit)
}

type historyAnswer struct {
	Versions      []*versionRow `json:"versions"`
	More          string        `json:"more,omitempty"`
	Elsewhere     []*versionRow `json:"elsewhere,omitempty"`
	MoreElsewhere string        `json:"more_elsewhere,omitempty"`
	Note          string        `json:"note,omitempty"`
}

// versionRow is one version in a history.
type versionRow struct {
	Value     json.RawMessage `json:"value,omitempty"`
	Omitted   bool            `json:"value_omitted,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
	Version   uint64          `json:"version,omitempty"`
	Timestamp string          `json:"timestamp"`
	Origin    *origin         `json:"origin,omitempty"`
	Deleted   bool            `json:"deleted,omitempty"`
	Purged    string          `json:"purged,omitempty"`
	By        *author         `json:"by,omitempty"`
	particulars
	Fewer bool `json:"details_omitted,omitempty"`
}

func versionOf(m memory.Memory, f form) *versionRow {
	r := &versionRow{Version: m.Version, Timestamp: memory.FormatTime(m.Timestamp), Deleted: m.Deleted}
	if o := m.Origin; o != nil {
		r.Origin = &origin{o.Space, o.Version, memory.FormatTime(o.Time)}
	}
	if r.Purged = m.Purged; !m.Deleted && m.Purged == "" {
		r.particulars = particularsOf(m)
		r.Agent = f.unless("agent", r.Agent, f.agent)
		r.Value, r.Truncated = f.shown(m.Value, func() string { return beginning(m.Value, passage) })
		r.Omitted = r.Truncated && r.Value == nil
	}
	return r
}

// origin is where another space wrote a version.
type origin struct {
	Space     string `json:"space"`
	Version   uint64 `json:"version"`
	Timestamp string `json:"timestamp"`
}

func (r *versionRow) value() json.RawMessage { return r.Value }
func (r *versionRow) dropValue()             { r.Value, r.Omitted, r.Truncated = nil, true, true }
func (r *versionRow) cut() bool              { return r.Truncated }

func (r *versionRow) dropDetails() {
	r.dropLarge()
	r.Fewer = true
}

func historyNote(kept []*versionRow, c cut, key string, more uint64, same string) string {
	var said []string
	if n := count(kept) - len(c.values); n > 0 {
		said = append(said, fmt.Sprintf("%s cut (truncated): memory_recall with key=%q, as_of=v…%s gives each whole.", were(n, "long value"), tool.Clip(key, 64), same))
	}
	if len(c.values) > 0 {
		var versions []string
		for _, i := range c.values {
			if kept[i].Version > 0 {
				versions = append(versions, fmt.Sprintf("v%d", kept[i].Version))
			}
		}
		said = append(said, fmt.Sprintf("To stay within %d characters, %s left out (%s): memory_recall with key=%q, as_of=v…%s gives each whole.",
			tool.MaxAnswer, were(len(versions), "value"), tool.Quoted(versions), tool.Clip(key, 64), same))
	}
	if c.details {
		said = append(said, "Tags, links and metadata were left out.")
	}
	if more > 0 {
		said = append(said, fmt.Sprintf("There are older versions: call memory_history again with as_of=v%d.", more))
	}
	return strings.Join(said, " ")
}

// author is what wrote a version.
type author struct {
	Agent   string `json:"agent,omitempty"`
	Client  string `json:"client,omitempty"`
	Session string `json:"session,omitempty"`
	Family  string `json:"family,omitempty"`
}

// author returns what wrote a version, if the call asks for it; nil if that is not known, or not any more.
func (c *call) author(ctx context.Context, r historyRequest, version uint64) (*author, error) {
	if !r.Authors {
		return nil, nil
	}
	commits, _, err := c.access().Commits(ctx, memory.CommitQuery{Since: version - 1, Before: version + 1, Limit: 1})
	if known := (*memory.Error)(nil); errors.As(err, &known) || len(commits) == 0 {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	by := commits[0].Caller
	return &author{by.Agent, by.Client, by.Session, by.Family}, nil
}

// extent answers with how far back a branch can be read.
func extent(ctx context.Context, c *call, branch string) (tool.Answer, error) {
	e, err := c.access().Extent(ctx, branch)
	if err != nil {
		return tool.Answer{}, err
	}
	r := struct {
		Oldest        string `json:"oldest,omitempty"`
		Latest        string `json:"latest,omitempty"`
		Branch        string `json:"branch"`
		OldestVersion uint64 `json:"oldest_version,omitempty"`
		LatestVersion uint64 `json:"latest_version,omitempty"`
	}{stampOrNothing(e.Oldest), stampOrNothing(e.Latest), e.Branch, e.OldestVersion, e.LatestVersion}
	return tool.Answer{Structured: r, Plain: r}, nil
}
