// Package operator is what only an operator may do to a running server: each act with its name, its request and its answer,
// for the server and its clients alike.
package operator

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/integrity"
	"github.com/alcove-memory/alcove/host/memory/portable"
	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/memory/retention"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/operator/embedders"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/registry"
)

// Operator carries out every act. The server implements it, and so does the Client of a server in another process.
type Operator interface {
	Care
	Copies
	Embedders
	Families
	Keys
	Settings
}

// Care keeps a space sound and small.
type Care interface {
	Health(ctx context.Context) (Health, error)
	Verify(ctx context.Context) (Verified, error)
	Compact(ctx context.Context) (Compacted, error)
	Durability(ctx context.Context) (Durability, error)
	Flush(ctx context.Context) error
	Purge(ctx context.Context, r PurgeRequest) (Purged, error)
	Retention(ctx context.Context) (Retention, error)
	SetRetention(ctx context.Context, r Retention) (Retention, error)
	Retain(ctx context.Context) (Retained, error)
	// AuditHead makes the audit log durable and returns its last entry; the zero AuditHead: there is no log.
	AuditHead(ctx context.Context) (AuditHead, error)
}

// Copies takes memories out of a space, and into it.
type Copies interface {
	Export(ctx context.Context, r ExportRequest, w io.Writer) error
	Backup(ctx context.Context, r BackupRequest, w io.Writer) error
	// NoteBackup tells the server that a backup is complete and durable.
	NoteBackup(ctx context.Context, b BackedUp) error
	Memories(ctx context.Context, s Selection, w io.Writer) error
	Import(ctx context.Context, r ImportRequest) (Imported, error)
}

// Embedders configures embedders.
type Embedders interface {
	Embedders(ctx context.Context) ([]EmbedderState, error)
	SetEmbedder(ctx context.Context, r EmbedderRequest) (EmbedderConfig, error)
	RegenerateEmbedder(ctx context.Context, r EmbedderName) error
	RemoveEmbedder(ctx context.Context, r EmbedderName) error
	ChooseEmbedder(ctx context.Context, c EmbedderChoice) error
}

// Keys manages API keys.
type Keys interface {
	Keys(ctx context.Context) (KeyList, error)
	CreateKey(ctx context.Context, r KeyRequest) (IssuedKey, error)
	// LimitKeys sets the limits of keys that have none of their own; zero fields restore the default.
	LimitKeys(ctx context.Context, l KeyLimits) (KeyLimits, error)
	RevokeKey(ctx context.Context, r KeyID) (Key, error)
	DeleteKey(ctx context.Context, r KeyID) (Key, error)
}

// Families manages tool families, and the endpoints and directories outside that they may reach.
type Families interface {
	// Families lists the families. A grant by name is of the digest that the operator was last shown here.
	Families(ctx context.Context) ([]Family, error)
	// FamilyStates lists the same, for programs: grants do not refer to it.
	FamilyStates(ctx context.Context) ([]Family, error)
	FamilyUses(ctx context.Context) ([]FamilyUse, error)
	FamilyInfo(ctx context.Context, r FamilyName) (FamilyInfo, error)
	InstallFamily(ctx context.Context, r InstallRequest) (Family, error)
	// UpdateFamily replaces an installed family by another version, which keeps what still fits of the grant.
	UpdateFamily(ctx context.Context, r UpdateRequest) (Family, error)
	// RollbackFamily exchanges the present version for the previous one.
	RollbackFamily(ctx context.Context, r FamilyName) (Family, error)
	RemoveFamily(ctx context.Context, r FamilyName) (RemovedFamily, error)
	GrantFamily(ctx context.Context, r GrantRequest) (Family, error)
	// ProposeChange shows what a change would do to the lock file, and changes nothing.
	ProposeChange(ctx context.Context, p LockProposal) (LockChange, error)
	// TrustKeys changes which keys are trusted to sign modules, and lists them.
	TrustKeys(ctx context.Context, r TrustRequest) (TrustedKeys, error)
	// LockDirectory locks the data directory.
	LockDirectory(ctx context.Context) (LockChange, error)
	ConfigureFamily(ctx context.Context, r ConfigureRequest) (FamilyConfig, error)
	// FamilyJobs lists jobs, and the next runs of those with a schedule.
	FamilyJobs(ctx context.Context) ([]FamilyJob, error)
	// RunFamilyJob runs a job with a schedule now.
	RunFamilyJob(ctx context.Context, r FamilyJobName) error
	// CancelFamilyJob cancels a job that waits or runs.
	CancelFamilyJob(ctx context.Context, r FamilyJobID) error
	// UndoFamily reverts what families wrote.
	UndoFamily(ctx context.Context, r UndoRequest) (Undone, error)
	// TryFamily makes one request to a module that is not installed, on the data that there is, and keeps nothing of it.
	TryFamily(ctx context.Context, r TrialRequest) (TrialAnswer, error)
	// FamilyStats are the costs of a family, or with an empty name of all, since the server began.
	FamilyStats(ctx context.Context, r FamilyName) ([]FamilyStats, error)
	// FollowFamily writes the events of a family to w, each as a FamilyEvent in a line of JSON.
	FollowFamily(ctx context.Context, r FollowRequest, w io.Writer) error
	Endpoints(ctx context.Context) (map[string]Endpoint, error)
	SetEndpoint(ctx context.Context, r EndpointRequest) error
	Roots(ctx context.Context) (map[string]Root, error)
	SetRoot(ctx context.Context, r RootRequest) error
	// CallTool calls a tool of a family as the operator, whom no agent can claim to be.
	CallTool(ctx context.Context, r ToolCall) (ToolAnswer, error)
	// Quotas lists what agents stored in namespaces with a quota.
	Quotas(ctx context.Context) ([]QuotaUse, error)
	SetQuota(ctx context.Context, r QuotaRequest) error
}

// Settings reads and changes the settings that families share, and those of one family.
type Settings interface {
	Settings(ctx context.Context, q SettingQuery) ([]Setting, error)
	// ChangeSettings changes all, or with any fault none.
	ChangeSettings(ctx context.Context, c SettingChanges) ([]SettingChanged, error)
	SettingHistory(ctx context.Context, k SettingKey) (SettingHistory, error)
	RollBackSetting(ctx context.Context, k SettingKey) (SettingChanged, error)
	// UndoSettings restores the values that all settings of a change had before it, or with any that was changed since none.
	UndoSettings(ctx context.Context, u SettingUndo) ([]SettingChanged, error)
}

// Types of the domain that acts take and give.
type (
	Verified         = integrity.Report
	Retention        = retention.Policy
	Retained         = memory.Retained         // what an application of the policy did
	RetentionFailure = memory.RetentionFailure // a rule that could not be applied
	// NamespaceRetention is how much of the history of its memories a namespace keeps.
	NamespaceRetention = retention.Namespace
	Selection          = memory.Selection
	Memory             = portable.Memory
	Imported           = memory.Imported
	// Copy is a record, a memory or an event with what was purged.
	Copy       = purge.Copy
	Durability = store.Durability
	Compacted  = store.Compacted
	BackedUp   = store.BackedUp
	AuditHead  = audit.Head

	EmbedderConfig  = embedders.Config
	EmbedderState   = embedders.State
	EmbedderChoice  = embedders.Choice
	EmbedderRequest = embedders.SetRequest

	Family        = family.Described
	FamilyJob     = jobs.Job
	FamilyUse     = family.Use
	FamilyTrouble = family.Trouble
	FamilyInfo    = family.Info
	FamilyLimit   = family.Limit
	FamilyStats   = family.Stats
	FamilyCost    = family.Cost
	FamilyEvent   = family.Event
	FollowRequest = family.FollowRequest
	TrialRequest  = family.TrialRequest
	TrialAnswer   = family.TrialAnswer
	RemovedFamily = family.Removed
	GrantRequest  = family.GrantRequest
	// EndpointRequest and RootRequest name a server or a directory outside; without one the name is forgotten.
	EndpointRequest = family.EndpointRequest
	RootRequest     = family.RootRequest
	LockProposal    = family.Proposal
	LockChange      = family.Change
	TrustRequest    = family.TrustRequest
	TrustedKeys     = family.Trusted
	TrustedKey      = registry.Key
	Installation    = family.Installation
	UpdateRequest   = family.Replacement
	HookOn          = registry.On
	Capability      = registry.Capability
	Work            = registry.Work
	Endpoint        = registry.Endpoint
	Root            = registry.Root
	QuotaUse        = memory.QuotaUse

	Setting        = family.Setting
	SettingQuery   = family.SettingQuery
	SettingChanges = family.SettingChanges
	SettingKey     = family.SettingKey
	SettingUndo    = family.SettingUndo
	SettingHistory = family.SettingHistory
	SettingScope   = config.Scope
	SettingKind    = config.Kind
	SettingChange  = config.Change
	SettingChanged = config.Changed
	SettingVersion = config.Version
)

// The kinds of events of families.
const (
	EventLine  = family.EventLine
	EventCall  = family.EventCall
	EventEnded = family.EventEnded
	EventNote  = family.EventNote
)

// JobScheduled is the state of the next run of a job with a schedule.
const JobScheduled = jobs.Scheduled

// The parts of a family's work.
const (
	Calls = registry.Calls
	Jobs  = registry.Jobs
)

// Key is an API key without its secret, Right what its holder may do, and KeyLimits how much at once.
type (
	Key       = keys.Key
	Right     = memory.Right
	KeyLimits = keys.Limits
)

// KeyRequest asks for a key.
type KeyRequest struct {
	Agent      string    `json:"agent"`
	Namespaces []string  `json:"namespaces"`
	Rights     []Right   `json:"rights"`
	Expires    string    `json:"expires,omitempty"` // a duration, a date or an instant; empty: never
	Limits     KeyLimits `json:"limits,omitzero"`
}

// IssuedKey is a new key with its secret, which is not kept.
type IssuedKey struct {
	Key
	Secret string `json:"secret"`
}

// KeyID names a key.
type KeyID struct {
	ID string `json:"id"`
}

// KeyList is all keys, oldest first.
type KeyList struct {
	Required bool      `json:"required"` // clients without a key are refused
	Limits   KeyLimits `json:"limits"`   // of keys that have none of their own
	Keys     []Key     `json:"keys"`
}

// UndoRequest selects what to revert: a call, or what a family wrote since a moment.
type UndoRequest struct {
	Call   string    `json:"call,omitempty"`
	Family string    `json:"family,omitempty"`
	Since  time.Time `json:"since,omitzero"`
	Branch string    `json:"branch,omitempty"`
	Apply  bool      `json:"apply,omitempty"` // else it is only shown
}

// Undone is what an undo did, or would do.
type Undone struct {
	Undo     string     `json:"undo,omitempty"` // the id of the undo, by which it can be undone; empty: nothing was written
	Commits  int        `json:"commits"`
	Reverted []Reversal `json:"reverted"`
	Kept     []Reversal `json:"kept"`
	Already  int        `json:"already,omitempty"`
	Left     []string   `json:"left"`
	Versions []uint64   `json:"versions,omitempty"`
}

// Reversal is an entry that a family wrote.
type Reversal struct {
	Branch     string `json:"branch,omitempty"` // empty: all branches share it
	Namespace  string `json:"namespace"`
	Collection string `json:"collection,omitempty"`
	Key        string `json:"key"`
	Written    uint64 `json:"written"`
	To         uint64 `json:"to,omitempty"` // the version whose content is restored
	Deletes    bool   `json:"deletes,omitempty"`
	Why        string `json:"why,omitempty"` // it is kept
}

// Health is how a server is.
type Health struct {
	ReadOnly bool   `json:"read_only"` // its directory cannot be written
	Locked   bool   `json:"locked"`    // it runs only families in the lock file
	Fault    string `json:"fault"`     // why nothing is written though it should be
	// WithoutFamilies is why there are no families though there should be; empty: nothing is missing.
	WithoutFamilies string `json:"without_families,omitempty"`
}

// ExportRequest says what to export.
type ExportRequest struct {
	Since uint64 `json:"since,omitempty"` // only what is newer than this version; 0: everything
}

// BackupRequest says what to back up.
type BackupRequest struct {
	Since backup.Base `json:"since"` // only what is newer than a backup has; zero: everything
}

// ImportRequest has memories to store on a branch.
type ImportRequest struct {
	Branch   string   `json:"branch,omitempty"`
	Memories []Memory `json:"memories"`
	DryRun   bool     `json:"dry_run,omitempty"`
}

// PurgeRequest says what to erase.
type PurgeRequest struct {
	purge.Request
	// SetAside removes what repairs have set aside, which may hold what is to be erased. Without it a purge refuses while
	// there is any.
	SetAside bool
}

// Purged is what a purge did, and who may still have what was purged.
type Purged struct {
	purge.Result
	// Families saw it, or may have. What they keep of it in other words cannot be found.
	Families []Witness `json:"families"`
	// Outside are the servers that embedders and families may have sent it to.
	Outside []string `json:"outside"`
}

// Witness is a family that saw what was purged, or may have.
type Witness struct {
	Family   string   `json:"family"`
	Hooks    []string `json:"hooks,omitempty"`    // that are on, and are given every memory
	Reads    bool     `json:"reads,omitempty"`    // it may read there when it is called
	Copies   int      `json:"copies,omitempty"`   // of its records, which were erased
	Possible int      `json:"possible,omitempty"` // of those that may be copies
}

// EmbedderName names an embedder.
type EmbedderName struct {
	Name string `json:"name"`
}

// InstallRequest has a module to install.
type InstallRequest struct {
	Module    []byte `json:"module"`
	Signature []byte `json:"signature,omitempty"` // detached; empty: what the module has in it
	Source    string `json:"source,omitempty"`    // where it comes from, for the lock file
}

// FamilyName names a family.
type FamilyName struct {
	Family string `json:"family"`
}

// FamilyConfig is the configuration of a family, by key.
type FamilyConfig = map[string]json.RawMessage

// ConfigureRequest changes a family's configuration; null resets a key to its default. Without values nothing changes.
type ConfigureRequest struct {
	Family string       `json:"family"`
	Values FamilyConfig `json:"values,omitempty"`
}

// ToolCall is a call of a tool of a family.
type ToolCall struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Branch    string          `json:"branch,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
}

// ToolAnswer is what a tool answered.
type ToolAnswer struct {
	Result json.RawMessage `json:"result"`
	Notes  []string        `json:"notes,omitempty"`
}

// FamilyJobName names a job of a family's manifest.
type FamilyJobName struct {
	Family string `json:"family"`
	Job    string `json:"job"`
}

// FamilyJobID names a queued job.
type FamilyJobID struct {
	ID string `json:"id"`
}

// QuotaRequest sets the quota of a namespace; the zero Quota is none.
type QuotaRequest struct {
	Namespace string           `json:"namespace"`
	Quota     memory.Allowance `json:"quota"`
}
