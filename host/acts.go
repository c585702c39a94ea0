package host

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bundle"
)

// acts carry out what operators ask for.
type acts struct{ *Host }

var _ operator.Operator = acts{}

// Operator returns what operators may do, for this process.
func (h *Host) Operator() operator.Operator { return acts{h} }

// changeable says why files of the data directory must not be changed: they may be another server's by now.
func (h *Host) changeable() error {
	if err := h.Writable(); err != nil {
		return err
	}
	if h.readOnly {
		return fmt.Errorf("%s is served read-only: %w", h.options.Dir, store.ErrReadOnly)
	}
	return nil
}

// cannot is the error of an act that this engine has nothing for.
func cannot(what string) error {
	return &memory.Error{Code: memory.Unavailable, Message: "this store " + what}
}

func (a acts) Health(context.Context) (operator.Health, error) {
	s := operator.Health{ReadOnly: a.readOnly, Locked: a.Locked()}
	if err := a.Writable(); err != nil {
		s.Fault = err.Error()
	}
	if a.without != nil {
		s.WithoutFamilies = a.without.Error()
	}
	return s, nil
}

func (a acts) Verify(ctx context.Context) (operator.Verified, error) { return a.space.Verify(ctx) }

func (a acts) Compact(ctx context.Context) (operator.Compacted, error) {
	e, ok := a.engine.(store.Compactor)
	if !ok {
		return operator.Compacted{}, cannot("needs no compaction")
	}
	return e.Compact(ctx)
}

func (a acts) Durability(ctx context.Context) (operator.Durability, error) {
	e, ok := a.engine.(store.Durable)
	if !ok {
		return operator.Durability{}, cannot("does not count what it makes durable")
	}
	return e.Durability(ctx)
}

func (a acts) Flush(ctx context.Context) error { return a.space.Flush(ctx) }

func (a acts) Purge(ctx context.Context, r operator.PurgeRequest) (operator.Purged, error) {
	return a.purge(ctx, r)
}

func (a acts) Retention(ctx context.Context) (operator.Retention, error) {
	return a.space.Retention(ctx)
}

func (a acts) SetRetention(ctx context.Context, r operator.Retention) (operator.Retention, error) {
	return r, a.space.SetRetention(ctx, r)
}

func (a acts) Retain(ctx context.Context) (operator.Retained, error) { return a.space.Retain(ctx) }

func (a acts) Export(ctx context.Context, r operator.ExportRequest, w io.Writer) error {
	from, ok := a.engine.(store.PortableEngine)
	if !ok {
		return cannot("cannot be exported")
	}
	_, err := bundle.Write(ctx, w, from, r.Since, a.guards)
	return err
}

func (a acts) Backup(ctx context.Context, r operator.BackupRequest, w io.Writer) error {
	from, ok := a.engine.(store.PortableEngine)
	if !ok {
		return cannot("cannot be backed up")
	}
	return backup.Write(ctx, w, from, r.Since, a.settings)
}

func (a acts) NoteBackup(ctx context.Context, b operator.BackedUp) error {
	e, ok := a.engine.(store.BackupNoter)
	if !ok {
		return cannot("does not remember backups")
	}
	return e.NoteBackup(ctx, b)
}

func (a acts) Memories(ctx context.Context, s operator.Selection, w io.Writer) error {
	return a.space.WriteMemories(ctx, s, w)
}

func (a acts) Import(ctx context.Context, r operator.ImportRequest) (operator.Imported, error) {
	importer := a.space.As(memory.Caller{Agent: "import", Rights: memory.FullRights()})
	return importer.Import(ctx, r.Branch, r.Memories, memory.Write{DryRun: r.DryRun})
}

func (a acts) Embedders(context.Context) ([]operator.EmbedderState, error) {
	return a.embedders.States(), nil
}

func (a acts) SetEmbedder(ctx context.Context, r operator.EmbedderRequest) (operator.EmbedderConfig, error) {
	return a.embedders.Set(ctx, r)
}

func (a acts) RegenerateEmbedder(_ context.Context, r operator.EmbedderName) error {
	return a.embedders.Regenerate(r.Name)
}

func (a acts) RemoveEmbedder(_ context.Context, r operator.EmbedderName) error {
	return a.embedders.Remove(r.Name)
}

func (a acts) ChooseEmbedder(_ context.Context, c operator.EmbedderChoice) error {
	return a.embedders.Choose(c)
}

// withFamilies asks the families, if there are any.
func withFamilies[Out any](a acts, do func(f *family.Families) (Out, error)) (answer Out, err error) {
	if a.families == nil {
		why := "its data directory cannot be written"
		if a.without != nil {
			why = a.without.Error()
		}
		return answer, &memory.Error{Code: memory.Unavailable, Message: "the server runs without tool families: " + why}
	}
	return do(a.families)
}

func (a acts) Families(context.Context) ([]operator.Family, error) {
	return withFamilies(a, func(f *family.Families) ([]operator.Family, error) { return f.Show(), nil })
}

func (a acts) FamilyStates(context.Context) ([]operator.Family, error) {
	return withFamilies(a, func(f *family.Families) ([]operator.Family, error) { return f.All(), nil })
}

func (a acts) FamilyUses(ctx context.Context) ([]operator.FamilyUse, error) {
	return withFamilies(a, func(f *family.Families) ([]operator.FamilyUse, error) { return f.Uses(ctx) })
}

func (a acts) FamilyInfo(ctx context.Context, r operator.FamilyName) (operator.FamilyInfo, error) {
	return withFamilies(a, func(f *family.Families) (operator.FamilyInfo, error) { return f.Info(ctx, r.Family) })
}

// decided carries out a decision about a family, and answers once its hooks are asked about stores.
func decided(ctx context.Context, a acts, decide func(*family.Families) (operator.Family, error)) (operator.Family, error) {
	return withFamilies(a, func(f *family.Families) (operator.Family, error) {
		d, err := decide(f)
		if err != nil || d.Manifest == nil { // nil: it is gone
			return d, err
		}
		return d, f.AwaitHooks(ctx, d.Manifest.Name)
	})
}

func (a acts) InstallFamily(ctx context.Context, r operator.InstallRequest) (operator.Family, error) {
	return decided(ctx, a, func(f *family.Families) (operator.Family, error) { return f.InstallFrom(family.Installation(r)) })
}

func (a acts) UpdateFamily(ctx context.Context, r operator.UpdateRequest) (operator.Family, error) {
	return decided(ctx, a, func(f *family.Families) (operator.Family, error) { return f.UpdateFrom(ctx, r) })
}

func (a acts) RollbackFamily(ctx context.Context, r operator.FamilyName) (operator.Family, error) {
	return decided(ctx, a, func(f *family.Families) (operator.Family, error) { return f.Rollback(r.Family) })
}

func (a acts) TryFamily(ctx context.Context, r operator.TrialRequest) (operator.TrialAnswer, error) {
	return withFamilies(a, func(f *family.Families) (operator.TrialAnswer, error) { return f.Rehearse(ctx, r) })
}

func (a acts) FamilyStats(_ context.Context, r operator.FamilyName) ([]operator.FamilyStats, error) {
	return withFamilies(a, func(f *family.Families) ([]operator.FamilyStats, error) { return f.Stats(r.Family) })
}

func (a acts) FollowFamily(ctx context.Context, r operator.FollowRequest, w io.Writer) error {
	_, err := withFamilies(a, func(f *family.Families) (struct{}, error) { return struct{}{}, f.Follow(ctx, r, lineTo(w)) })
	return err
}

// lineTo writes values to w, each in a line of JSON that the reader gets at once.
func lineTo(w io.Writer) func(operator.FamilyEvent) error {
	lines := json.NewEncoder(w)
	return func(e operator.FamilyEvent) error {
		if err := lines.Encode(e); err != nil {
			return err
		}
		if f, ok := w.(interface{ Flush() }); ok {
			f.Flush()
		}
		return nil
	}
}

func (a acts) RemoveFamily(_ context.Context, r operator.FamilyName) (operator.RemovedFamily, error) {
	return withFamilies(a, func(f *family.Families) (operator.RemovedFamily, error) { return f.Remove(r.Family) })
}

func (a acts) GrantFamily(ctx context.Context, r operator.GrantRequest) (operator.Family, error) {
	return decided(ctx, a, func(f *family.Families) (operator.Family, error) { return f.Grant(r) })
}

func (a acts) ProposeChange(_ context.Context, p operator.LockProposal) (operator.LockChange, error) {
	return withFamilies(a, func(f *family.Families) (operator.LockChange, error) { return f.Propose(p) })
}

func (a acts) TrustKeys(_ context.Context, r operator.TrustRequest) (operator.TrustedKeys, error) {
	return withFamilies(a, func(f *family.Families) (operator.TrustedKeys, error) { return f.Trust(r) })
}

func (a acts) LockDirectory(context.Context) (operator.LockChange, error) {
	return withFamilies(a, func(f *family.Families) (operator.LockChange, error) { return f.LockDown() })
}

func (a acts) ConfigureFamily(ctx context.Context, r operator.ConfigureRequest) (operator.FamilyConfig, error) {
	return withFamilies(a, func(f *family.Families) (operator.FamilyConfig, error) { return f.Configure(ctx, r.Family, r.Values) })
}

func (a acts) FamilyJobs(ctx context.Context) ([]operator.FamilyJob, error) {
	return withFamilies(a, func(f *family.Families) ([]operator.FamilyJob, error) {
		list, err := f.Jobs(ctx)
		if err != nil {
			return nil, err
		}
		next, err := f.NextJobs(ctx)
		return append(list, next...), err
	})
}

func (a acts) RunFamilyJob(ctx context.Context, r operator.FamilyJobName) error {
	_, err := withFamilies(a, func(f *family.Families) (struct{}, error) { return struct{}{}, f.RunJob(ctx, r.Family, r.Job) })
	return err
}

func (a acts) CancelFamilyJob(ctx context.Context, r operator.FamilyJobID) error {
	_, err := withFamilies(a, func(f *family.Families) (struct{}, error) { return struct{}{}, f.CancelJob(ctx, r.ID) })
	return err
}

func (a acts) Endpoints(context.Context) (map[string]operator.Endpoint, error) {
	return withFamilies(a, func(f *family.Families) (map[string]operator.Endpoint, error) { return f.Endpoints(), nil })
}

func (a acts) SetEndpoint(_ context.Context, r operator.EndpointRequest) error {
	_, err := withFamilies(a, func(f *family.Families) (struct{}, error) { return struct{}{}, f.SetEndpoint(r.Name, r.Endpoint) })
	return err
}

func (a acts) Roots(context.Context) (map[string]operator.Root, error) {
	return withFamilies(a, func(f *family.Families) (map[string]operator.Root, error) { return f.Roots(), nil })
}

func (a acts) SetRoot(_ context.Context, r operator.RootRequest) error {
	_, err := withFamilies(a, func(f *family.Families) (struct{}, error) { return struct{}{}, f.SetRoot(r.Name, r.Root) })
	return err
}

// operatorAgent is the name kept with what an operator does through tools.
const operatorAgent = "operator"

func (a acts) CallTool(ctx context.Context, r operator.ToolCall) (operator.ToolAnswer, error) {
	return withFamilies(a, func(f *family.Families) (operator.ToolAnswer, error) {
		who := memory.Caller{Agent: operatorAgent, Operator: true, Rights: memory.FullRights()}
		result, err := f.Call(ctx, family.Call{Tool: r.Tool, Arguments: r.Arguments, Location: memory.Location{Branch: r.Branch, Namespace: r.Namespace}, Caller: who})
		return operator.ToolAnswer{Result: result.Output, Notes: result.Notes}, err
	})
}

func (a acts) Quotas(ctx context.Context) ([]operator.QuotaUse, error) {
	return a.space.As(memory.Caller{Rights: memory.FullRights()}).QuotaUses(ctx, "")
}

func (a acts) SetQuota(ctx context.Context, r operator.QuotaRequest) error {
	stage, err := a.space.As(memory.Caller{Rights: memory.FullRights()}).Stage(ctx, memory.Default)
	if err == nil {
		err = stage.SetQuota(ctx, r.Namespace, r.Quota)
	}
	if err == nil {
		_, err = stage.Commit(ctx, memory.Commit{})
	}
	return err
}

func (a acts) Settings(ctx context.Context, q operator.SettingQuery) ([]operator.Setting, error) {
	return withFamilies(a, func(f *family.Families) ([]operator.Setting, error) { return f.Settings(ctx, q) })
}

func (a acts) ChangeSettings(ctx context.Context, c operator.SettingChanges) ([]operator.SettingChanged, error) {
	return withFamilies(a, func(f *family.Families) ([]operator.SettingChanged, error) { return f.ChangeSettings(ctx, c) })
}

func (a acts) SettingHistory(ctx context.Context, k operator.SettingKey) (operator.SettingHistory, error) {
	return withFamilies(a, func(f *family.Families) (operator.SettingHistory, error) { return f.SettingHistory(ctx, k) })
}

func (a acts) UndoSettings(ctx context.Context, u operator.SettingUndo) ([]operator.SettingChanged, error) {
	return withFamilies(a, func(f *family.Families) ([]operator.SettingChanged, error) { return f.UndoSettings(ctx, u) })
}

func (a acts) RollBackSetting(ctx context.Context, k operator.SettingKey) (operator.SettingChanged, error) {
	return withFamilies(a, func(f *family.Families) (operator.SettingChanged, error) { return f.RollBackSetting(ctx, k) })
}

func (a acts) Keys(context.Context) (operator.KeyList, error) {
	return operator.KeyList{Required: a.keys.Required(), Limits: a.keys.Limits(), Keys: a.keys.List()}, nil
}

func (a acts) CreateKey(_ context.Context, r operator.KeyRequest) (operator.IssuedKey, error) {
	g := keys.Grant{Agent: r.Agent, Namespaces: r.Namespaces, Rights: r.Rights, Limits: r.Limits}
	if r.Expires != "" {
		var err error
		if g.Expires, err = memory.ParseExpiry(r.Expires, a.options.Clock()); err != nil {
			return operator.IssuedKey{}, fmt.Errorf("expires: %w", err)
		}
	}
	var key keys.Key
	var secret string
	err := a.changeKeys("create", g, func() (err error) { key, secret, err = a.keys.Create(g); return err })
	if err == nil {
		_ = a.auditKey("created", key.ID) // the entry before the act has its rights; the log reports a failed write
	}
	return operator.IssuedKey{Key: key, Secret: secret}, err
}

func (a acts) LimitKeys(_ context.Context, l operator.KeyLimits) (operator.KeyLimits, error) {
	recorded := change[keyLimits]{keyLimitsOf(a.keys.LimitsSet()), keyLimitsOf(l)}
	err := a.changeKeys("limit all", recorded, func() error { return a.keys.Limit(l) })
	return a.keys.Limits(), err
}

func (a acts) RevokeKey(_ context.Context, r operator.KeyID) (key operator.Key, err error) {
	err = a.changeKeys("revoke", a.keyWith(r.ID), func() (err error) { key, err = a.keys.Revoke(r.ID); return err })
	return key, err
}

func (a acts) DeleteKey(_ context.Context, r operator.KeyID) (key operator.Key, err error) {
	err = a.changeKeys("delete", a.keyWith(r.ID), func() (err error) { key, err = a.keys.Delete(r.ID); return err })
	return key, err
}
