package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/admin"
)

// act is the name of an act on the wire, with the types of its request and its answer.
type act[In, Out any] string

// stream is the name of an act whose answer is bytes of any length, with the type of its request.
type stream[In any] string

// none is the request of an act that needs none, and the answer of one that has none.
type none struct{}

const (
	health       act[none, Health]         = "health"
	verify       act[none, Verified]       = "verify"
	compact      act[none, Compacted]      = "compact"
	durability   act[none, Durability]     = "durability"
	flush        act[none, none]           = "flush"
	purging      act[PurgeRequest, Purged] = "purge"
	getRetention act[none, Retention]      = "retention"
	setRetention act[Retention, Retention] = "set-retention"
	retain       act[none, Retained]       = "retain"
	auditHead    act[none, AuditHead]      = "audit-head"

	export     stream[ExportRequest]        = "export"
	backUp     stream[BackupRequest]        = "backup"
	memories   stream[Selection]            = "memories"
	noteBackup act[BackedUp, none]          = "note-backup"
	importing  act[ImportRequest, Imported] = "import"

	listEmbedders      act[none, []EmbedderState]           = "embedders"
	setEmbedder        act[EmbedderRequest, EmbedderConfig] = "set-embedder"
	regenerateEmbedder act[EmbedderName, none]              = "regenerate-embedder"
	removeEmbedder     act[EmbedderName, none]              = "remove-embedder"
	chooseEmbedder     act[EmbedderChoice, none]            = "choose-embedder"

	listFamilies    act[none, []Family]                 = "families"
	familyStates    act[none, []Family]                 = "family-states"
	familyUses      act[none, []FamilyUse]              = "family-uses"
	familyInfo      act[FamilyName, FamilyInfo]         = "family-info"
	installFamily   act[InstallRequest, Family]         = "family-install"
	updateFamily    act[UpdateRequest, Family]          = "family-update"
	rollbackFamily  act[FamilyName, Family]             = "family-rollback"
	removeFamily    act[FamilyName, RemovedFamily]      = "family-remove"
	grantFamily     act[GrantRequest, Family]           = "family-grant"
	proposeChange   act[LockProposal, LockChange]       = "lock-propose"
	lockDirectory   act[none, LockChange]               = "lock"
	trustKeys       act[TrustRequest, TrustedKeys]      = "trust"
	configureFamily act[ConfigureRequest, FamilyConfig] = "family-configure"
	tryFamily       act[TrialRequest, TrialAnswer]      = "family-try"
	familyStats     act[FamilyName, []FamilyStats]      = "family-stats"
	followFamily    stream[FollowRequest]               = "family-follow"
	familyJobs      act[none, []FamilyJob]              = "family-jobs"
	runFamilyJob    act[FamilyJobName, none]            = "family-job-run"
	cancelFamilyJob act[FamilyJobID, none]              = "family-job-cancel"
	undoFamily      act[UndoRequest, Undone]            = "family-undo"
	listEndpoints   act[none, map[string]Endpoint]      = "endpoints"
	setEndpoint     act[EndpointRequest, none]          = "endpoint-set"
	listRoots       act[none, map[string]Root]          = "roots"
	setRoot         act[RootRequest, none]              = "root-set"
	callTool        act[ToolCall, ToolAnswer]           = "call-tool"
	listQuotas      act[none, []QuotaUse]               = "quotas"
	setQuota        act[QuotaRequest, none]             = "quota-set"

	listKeys  act[none, KeyList]         = "keys"
	createKey act[KeyRequest, IssuedKey] = "key-create"
	revokeKey act[KeyID, Key]            = "key-revoke"
	limitKeys act[KeyLimits, KeyLimits]  = "key-limits"
	deleteKey act[KeyID, Key]            = "key-delete"

	listSettings    act[SettingQuery, []Setting]          = "settings"
	changeSettings  act[SettingChanges, []SettingChanged] = "settings-change"
	settingHistory  act[SettingKey, SettingHistory]       = "setting-history"
	rollBackSetting act[SettingKey, SettingChanged]       = "setting-rollback"
	undoSettings    act[SettingUndo, []SettingChanged]    = "settings-undo"
)

// table binds each act to the method that carries it out.
func table(o Operator) []served {
	return []served{
		health.asked(o.Health), verify.asked(o.Verify), compact.asked(o.Compact), durability.asked(o.Durability), done(flush, o.Flush),
		purging.by(o.Purge), getRetention.asked(o.Retention), setRetention.by(o.SetRetention), retain.asked(o.Retain), auditHead.asked(o.AuditHead),

		export.by(o.Export), backUp.by(o.Backup), memories.by(o.Memories), told(noteBackup, o.NoteBackup), importing.by(o.Import),

		listEmbedders.asked(o.Embedders), setEmbedder.by(o.SetEmbedder).changing(), told(regenerateEmbedder, o.RegenerateEmbedder).changing(),
		told(removeEmbedder, o.RemoveEmbedder).changing(), told(chooseEmbedder, o.ChooseEmbedder).changing(),

		listFamilies.asked(o.Families), familyStates.asked(o.FamilyStates), familyUses.asked(o.FamilyUses), familyInfo.by(o.FamilyInfo),
		installFamily.by(o.InstallFamily).changing(), updateFamily.by(o.UpdateFamily).changing(), rollbackFamily.by(o.RollbackFamily).changing(),
		removeFamily.by(o.RemoveFamily).changing(), grantFamily.by(o.GrantFamily).changing(),
		configureFamily.by(o.ConfigureFamily).changing(), familyJobs.asked(o.FamilyJobs), told(runFamilyJob, o.RunFamilyJob), told(cancelFamilyJob, o.CancelFamilyJob), undoFamily.by(o.UndoFamily), tryFamily.by(o.TryFamily), familyStats.by(o.FamilyStats), followFamily.by(o.FollowFamily), listEndpoints.asked(o.Endpoints),
		told(setEndpoint, o.SetEndpoint).changing(), listRoots.asked(o.Roots), told(setRoot, o.SetRoot).changing(),
		proposeChange.by(o.ProposeChange), trustKeys.by(o.TrustKeys).changing(), lockDirectory.asked(o.LockDirectory).changing(),
		callTool.by(o.CallTool), listQuotas.asked(o.Quotas), told(setQuota, o.SetQuota),

		listKeys.asked(o.Keys), createKey.by(o.CreateKey).changing(), limitKeys.by(o.LimitKeys).changing(), revokeKey.by(o.RevokeKey).changing(), deleteKey.by(o.DeleteKey).changing(),

		listSettings.by(o.Settings), changeSettings.by(o.ChangeSettings), settingHistory.by(o.SettingHistory), rollBackSetting.by(o.RollBackSetting), undoSettings.by(o.UndoSettings),
	}
}

// served is an act with what carries it out: do, or write for a stream.
type served struct {
	name    string
	changes bool // files of the data directory
	do      admin.Act
	write   admin.Stream
}

// changing marks an act that changes files of the data directory beside the store.
func (s served) changing() served {
	s.changes = true
	return s
}

// by binds an act.
func (a act[In, Out]) by(do func(context.Context, In) (Out, error)) served {
	return served{name: string(a), do: func(ctx context.Context, request json.RawMessage) (any, error) {
		r, err := decoded[In](request)
		if err != nil {
			return nil, err
		}
		return do(ctx, r)
	}}
}

// asked binds an act without a request.
func (a act[In, Out]) asked(do func(context.Context) (Out, error)) served {
	return a.by(func(ctx context.Context, _ In) (Out, error) { return do(ctx) })
}

// told binds an act without an answer.
func told[In any](a act[In, none], do func(context.Context, In) error) served {
	return a.by(func(ctx context.Context, r In) (none, error) { return none{}, do(ctx, r) })
}

// done binds an act without either.
func done(a act[none, none], do func(context.Context) error) served {
	return a.by(func(ctx context.Context, _ none) (none, error) { return none{}, do(ctx) })
}

// by binds a stream.
func (s stream[In]) by(write func(context.Context, In, io.Writer) error) served {
	return served{name: string(s), write: func(ctx context.Context, request json.RawMessage, w io.Writer) error {
		r, err := decoded[In](request)
		if err != nil {
			return err
		}
		return write(ctx, r, w)
	}}
}

// decoded is a request. An unknown field is an error: client and server are of one version.
func decoded[In any](request json.RawMessage) (r In, err error) {
	in := json.NewDecoder(bytes.NewReader(request))
	in.DisallowUnknownFields()
	if err := in.Decode(&r); err != nil {
		return r, &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("read the request: %v", err)}
	}
	return r, nil
}

// call asks a server for an act.
func call[In, Out any](ctx context.Context, c *Client, a act[In, Out], r In) (answer Out, err error) {
	return answer, c.server.Call(ctx, string(a), r, &answer)
}

// ask asks a server for an act without a request.
func ask[Out any](ctx context.Context, c *Client, a act[none, Out]) (Out, error) {
	return call(ctx, c, a, none{})
}

// tell asks a server for an act without an answer.
func tell[In any](ctx context.Context, c *Client, a act[In, none], r In) error {
	_, err := call(ctx, c, a, r)
	return err
}

// copied asks a server for a stream, and copies it to w.
func copied[In any](ctx context.Context, c *Client, s stream[In], r In, w io.Writer) error {
	return c.server.Stream(ctx, string(s), r, w)
}
