// Package acts carries out what operators ask for, on an open space.
package acts

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"time"

	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bundle"
)

// Acts carries out operators' acts on an open space. It implements operator.Operator.
type Acts struct{ Options }

var _ operator.Operator = Acts{}

// Options say what acts are carried out on. All but Requests are needed.
type Options struct {
	Dir      string // the data directory
	Space    *space.Space
	Keys     *keys.Keys
	Requests Eraser // the request log
	Clock    func() time.Time
	Logger   *slog.Logger
}

// Eraser erases from the request log what is purged.
type Eraser interface {
	EraseNamed(operator.PurgeRequest) error
}

// New returns the acts on a space.
func New(o Options) Acts { return Acts{o} }

// cannot is the error of an act that this engine has nothing for.
func cannot(what string) error {
	return &memory.Error{Code: memory.Unavailable, Message: "this store " + what}
}

func (a Acts) Health(context.Context) (operator.Health, error) {
	s := operator.Health{ReadOnly: a.Space.ReadOnly, Locked: a.Space.Locked()}
	if err := a.Space.Writable(); err != nil {
		s.Fault = err.Error()
	}
	if a.Space.Without != nil {
		s.WithoutFamilies = a.Space.Without.Error()
	}
	return s, nil
}

func (a Acts) Verify(ctx context.Context) (operator.Verified, error) {
	return a.Space.Memory.Verify(ctx)
}

func (a Acts) Compact(ctx context.Context) (operator.Compacted, error) {
	e, ok := a.Space.Engine.(store.Compactor)
	if !ok {
		return operator.Compacted{}, cannot("needs no compaction")
	}
	return e.Compact(ctx)
}

func (a Acts) Durability(ctx context.Context) (operator.Durability, error) {
	e, ok := a.Space.Engine.(store.Durable)
	if !ok {
		return operator.Durability{}, cannot("does not count what it makes durable")
	}
	return e.Durability(ctx)
}

func (a Acts) Flush(ctx context.Context) error { return a.Space.Memory.Flush(ctx) }

func (a Acts) Retention(ctx context.Context) (operator.Retention, error) {
	return a.Space.Memory.Retention(ctx)
}

func (a Acts) SetRetention(ctx context.Context, r operator.Retention) (operator.Retention, error) {
	return r, a.Space.Memory.SetRetention(ctx, r)
}

func (a Acts) Retain(ctx context.Context) (operator.Retained, error) {
	return a.Space.Memory.Retain(ctx)
}

func (a Acts) Export(ctx context.Context, r operator.ExportRequest, w io.Writer) error {
	from, ok := a.Space.Engine.(store.PortableEngine)
	if !ok {
		return cannot("cannot be exported")
	}
	_, err := bundle.Write(ctx, w, from, r.Since, a.guards)
	return err
}

func (a Acts) Backup(ctx context.Context, r operator.BackupRequest, w io.Writer) error {
	from, ok := a.Space.Engine.(store.PortableEngine)
	if !ok {
		return cannot("cannot be backed up")
	}
	return backup.Write(ctx, w, from, r.Since, a.settings)
}

func (a Acts) NoteBackup(ctx context.Context, b operator.BackedUp) error {
	e, ok := a.Space.Engine.(store.BackupNoter)
	if !ok {
		return cannot("does not remember backups")
	}
	return e.NoteBackup(ctx, b)
}

func (a Acts) Memories(ctx context.Context, s operator.Selection, w io.Writer) error {
	return a.Space.Memory.WriteMemories(ctx, s, w)
}

func (a Acts) Import(ctx context.Context, r operator.ImportRequest) (operator.Imported, error) {
	importer := a.Space.Memory.As(memory.Caller{Agent: "import", Rights: memory.FullRights()})
	return importer.Import(ctx, r.Branch, r.Memories, memory.Write{DryRun: r.DryRun})
}

func (a Acts) Embedders(context.Context) ([]operator.EmbedderState, error) {
	return a.Space.Embedders.States(), nil
}

func (a Acts) SetEmbedder(ctx context.Context, r operator.EmbedderRequest) (operator.EmbedderConfig, error) {
	return a.Space.Embedders.Set(ctx, r)
}

func (a Acts) RegenerateEmbedder(_ context.Context, r operator.EmbedderName) error {
	return a.Space.Embedders.Regenerate(r.Name)
}

func (a Acts) RemoveEmbedder(_ context.Context, r operator.EmbedderName) error {
	return a.Space.Embedders.Remove(r.Name)
}

func (a Acts) ChooseEmbedder(_ context.Context, c operator.EmbedderChoice) error {
	return a.Space.Embedders.Choose(c)
}

// withFamilies asks the families, if there are any.
func withFamilies[Out any](a Acts, do func(f *family.Families) (Out, error)) (answer Out, err error) {
	if a.Space.Families == nil {
		why := "its data directory cannot be written"
		if a.Space.Without != nil {
			why = a.Space.Without.Error()
		}
		return answer, &memory.Error{Code: memory.Unavailable, Message: "the server runs without tool families: " + why}
	}
	return do(a.Space.Families)
}

func (a Acts) Families(context.Context) ([]operator.Family, error) {
	return withFamilies(a, func(f *family.Families) ([]operator.Family, error) { return f.Show(), nil })
}

func (a Acts) FamilyStates(context.Context) ([]operator.Family, error) {
	return withFamilies(a, func(f *family.Families) ([]operator.Family, error) { return f.All(), nil })
}

func (a Acts) FamilyUses(ctx context.Context) ([]operator.FamilyUse, error) {
	return withFamilies(a, func(f *family.Families) ([]operator.FamilyUse, error) { return f.Uses(ctx) })
}

func (a Acts) FamilyInfo(ctx context.Context, r operator.FamilyName) (operator.FamilyInfo, error) {
	return withFamilies(a, func(f *family.Families) (operator.FamilyInfo, error) { return f.Info(ctx, r.Family) })
}

// decided carries out a decision about a family, and answers once its hooks are asked about stores.
func decided(ctx context.Context, a Acts, decide func(*family.Families) (operator.Family, error)) (operator.Family, error) {
	return withFamilies(a, func(f *family.Families) (operator.Family, error) {
		d, err := decide(f)
		if err != nil || d.Manifest == nil { // nil: it is gone
			return d, err
		}
		return d, f.AwaitHooks(ctx, d.Manifest.Name)
	})
}

func (a Acts) InstallFamily(ctx context.Context, r operator.InstallRequest) (operator.Family, error) {
	return decided(ctx, a, func(f *family.Families) (operator.Family, error) { return f.InstallFrom(family.Installation(r)) })
}

func (a Acts) UpdateFamily(ctx context.Context, r operator.UpdateRequest) (operator.Family, error) {
	return decided(ctx, a, func(f *family.Families) (operator.Family, error) { return f.UpdateFrom(ctx, r) })
}

func (a Acts) RollbackFamily(ctx context.Context, r operator.FamilyName) (operator.Family, error) {
	return decided(ctx, a, func(f *family.Families) (operator.Family, error) { return f.Rollback(r.Family) })
}

func (a Acts) TryFamily(ctx context.Context, r operator.TrialRequest) (operator.TrialAnswer, error) {
	return withFamilies(a, func(f *family.Families) (operator.TrialAnswer, error) { return f.Rehearse(ctx, r) })
}

func (a Acts) FamilyStats(_ context.Context, r operator.FamilyName) ([]operator.FamilyStats, error) {
	return withFamilies(a, func(f *family.Families) ([]operator.FamilyStats, error) { return f.Stats(r.Family) })
}

func (a Acts) FollowFamily(ctx context.Context, r operator.FollowRequest, w io.Writer) error {
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

func (a Acts) RemoveFamily(_ context.Context, r operator.FamilyName) (operator.RemovedFamily, error) {
	return withFamilies(a, func(f *family.Families) (operator.RemovedFamily, error) { return f.Remove(r.Family) })
}

func (a Acts) GrantFamily(ctx context.Context, r operator.GrantRequest) (operator.Family, error) {
	return decided(ctx, a, func(f *family.Families) (operator.Family, error) { return f.Grant(r) })
}

func (a Acts) ProposeChange(_ context.Context, p operator.LockProposal) (operator.LockChange, error) {
	return withFamilies(a, func(f *family.Families) (operator.LockChange, error) { return f.Propose(p) })
}

func (a Acts) TrustKeys(_ context.Context, r operator.TrustRequest) (operator.TrustedKeys, error) {
	return withFamilies(a, func(f *family.Families) (operator.TrustedKeys, error) { return f.Trust(r) })
}

func (a Acts) LockDirectory(context.Context) (operator.LockChange, error) {
	return withFamilies(a, func(f *family.Families) (operator.LockChange, error) { return f.LockDown() })
}

func (a Acts) ConfigureFamily(ctx context.Context, r operator.ConfigureRequest) (operator.FamilyConfig, error) {
	return withFamilies(a, func(f *family.Families) (operator.FamilyConfig, error) { return f.Configure(ctx, r.Family, r.Values) })
}

func (a Acts) FamilyJobs(ctx context.Context) ([]operator.FamilyJob, error) {
	return withFamilies(a, func(f *family.Families) ([]operator.FamilyJob, error) {
		list, err := f.Jobs(ctx)
		if err != nil {
			return nil, err
		}
		next, err := f.NextJobs(ctx)
		return append(list, next...), err
	})
}

func (a Acts) RunFamilyJob(ctx context.Context, r operator.FamilyJobName) error {
	_, err := withFamilies(a, func(f *family.Families) (struct{}, error) { return struct{}{}, f.RunJob(ctx, r.Family, r.Job) })
	return err
}

func (a Acts) CancelFamilyJob(ctx context.Context, r operator.FamilyJobID) error {
	_, err := withFamilies(a, func(f *family.Families) (struct{}, error) { return struct{}{}, f.CancelJob(ctx, r.ID) })
	return err
}

func (a Acts) Endpoints(context.Context) (map[string]operator.Endpoint, error) {
	return withFamilies(a, func(f *family.Families) (map[string]operator.Endpoint, error) { return f.Endpoints(), nil })
}

func (a Acts) SetEndpoint(_ context.Context, r operator.EndpointRequest) error {
	_, err := withFamilies(a, func(f *family.Families) (struct{}, error) { return struct{}{}, f.SetEndpoint(r.Name, r.Endpoint) })
	return err
}

func (a Acts) Roots(context.Context) (map[string]operator.Root, error) {
	return withFamilies(a, func(f *family.Families) (map[string]operator.Root, error) { return f.Roots(), nil })
}

func (a Acts) SetRoot(_ context.Context, r operator.RootRequest) error {
	_, err := withFamilies(a, func(f *family.Families) (struct{}, error) { return struct{}{}, f.SetRoot(r.Name, r.Root) })
	return err
}

// operatorAgent is the name kept with what an operator does through tools.
const operatorAgent = "operator"

func (a Acts) CallTool(ctx context.Context, r operator.ToolCall) (operator.ToolAnswer, error) {
	return withFamilies(a, func(f *family.Families) (operator.ToolAnswer, error) {
		who := memory.Caller{Agent: operatorAgent, Operator: true, Rights: memory.FullRights()}
		result, err := f.Call(ctx, family.Call{Tool: r.Tool, Arguments: r.Arguments, Location: memory.Location{Branch: r.Branch, Namespace: r.Namespace}, Caller: who})
		return operator.ToolAnswer{Result: result.Output, Notes: result.Notes}, err
	})
}

func (a Acts) Quotas(ctx context.Context) ([]operator.QuotaUse, error) {
	return a.Space.Memory.As(memory.Caller{Rights: memory.FullRights()}).QuotaUses(ctx, "")
}

func (a Acts) SetQuota(ctx context.Context, r operator.QuotaRequest) error {
	stage, err := a.Space.Memory.As(memory.Caller{Rights: memory.FullRights()}).Stage(ctx, memory.Default)
	if err == nil {
		err = stage.SetQuota(ctx, r.Namespace, r.Quota)
	}
	if err == nil {
		_, err = stage.Commit(ctx, memory.Commit{})
	}
	return err
}

func (a Acts) Settings(ctx context.Context, q operator.SettingQuery) ([]operator.Setting, error) {
	return withFamilies(a, func(f *family.Families) ([]operator.Setting, error) { return f.Settings(ctx, q) })
}

func (a Acts) ChangeSettings(ctx context.Context, c operator.SettingChanges) ([]operator.SettingChanged, error) {
	return withFamilies(a, func(f *family.Families) ([]operator.SettingChanged, error) { return f.ChangeSettings(ctx, c) })
}

func (a Acts) SettingHistory(ctx context.Context, k operator.SettingKey) (operator.SettingHistory, error) {
	return withFamilies(a, func(f *family.Families) (operator.SettingHistory, error) { return f.SettingHistory(ctx, k) })
}

func (a Acts) UndoSettings(ctx context.Context, u operator.SettingUndo) ([]operator.SettingChanged, error) {
	return withFamilies(a, func(f *family.Families) ([]operator.SettingChanged, error) { return f.UndoSettings(ctx, u) })
}

func (a Acts) RollBackSetting(ctx context.Context, k operator.SettingKey) (operator.SettingChanged, error) {
	return withFamilies(a, func(f *family.Families) (operator.SettingChanged, error) { return f.RollBackSetting(ctx, k) })
}
