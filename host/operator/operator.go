// Package operator is what only an operator may do to a running server: each act with its name, its request and its answer,
// for the server and its clients alike.
package operator

import (
	"encoding/json"
	"time"

	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/integrity"
	"github.com/alcove-memory/alcove/host/memory/portable"
	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/memory/retention"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/operator/embedders"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/operator/metrics"
	"github.com/alcove-memory/alcove/host/operator/operators"
	"github.com/alcove-memory/alcove/host/operator/requestlog"
	"github.com/alcove-memory/alcove/host/remote"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/registry"
)

// Types of the domain that acts take and give.
type (
	Verified         = integrity.Report
	Retention        = retention.Policy
	Retained         = memory.Retained         // what an application of the policy did
	RetentionFailure = memory.RetentionFailure // a rule that could not be applied
	// RetentionPreview is what an application of a policy would remove.
	RetentionPreview = memory.RetentionPreview
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
	AuditQuery = audit.Query
	// DenialPage is what families and clients were denied, by the rule that refused it.
	DenialPage = audit.DenialPage
	// AuditReport is what a verification of the audit log found.
	AuditReport  = audit.Report
	RequestQuery = requestlog.Query
	Metric       = metrics.Metric

	EmbedderConfig  = embedders.Config
	EmbedderState   = embedders.State
	EmbedderChoice  = embedders.Choice
	EmbedderRequest = embedders.SetRequest
	EmbedderChecked = embedders.Checked

	Family        = catalogue.Described
	FamilyJob     = jobs.Job
	FamilyUse     = family.Use
	FamilyTrouble = family.Trouble
	FamilyInfo    = family.Info
	FamilyStats   = family.Stats
	FamilyCost    = family.Cost
	FamilyEvent   = family.Event
	FollowRequest = family.FollowRequest
	TrialRequest  = family.TrialRequest
	TrialAnswer   = family.TrialAnswer
	RemovedFamily = family.Removed
	GrantRequest  = grants.Request
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
	QuotaTotal      = memory.AllowedTotal // how much a namespace holds, whoever wrote it
	Posture         = registry.Posture
	PostureRequest  = family.PostureRequest
	PostureState    = family.PostureState
	PostureGift     = family.PostureGift

	Remote         = remote.Config
	RemoteRequest  = remote.Request
	RemoteDone     = remote.Done
	RemoteStatus   = remote.Status
	RemoteResult   = remote.Result
	RemoteStrategy = memory.Strategy
	RemoteHistory  = remote.Histories
	RemoteChange   = remote.Change

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

// RemoteName names a remote.
type RemoteName struct {
	Name string `json:"name"`
}

// The states of a job that waits, and of the next run of one with a schedule.
const (
	JobQueued    = jobs.Queued
	JobScheduled = jobs.Scheduled
)

// Personal is the posture in which the families that a program carries act by themselves.
const Personal = registry.Personal

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
	// IssuerRules say how tokens of an authorization server elsewhere become keys.
	IssuerRules = keys.Issuer
	IssuerRule  = keys.Rule
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
	// Narrowed means that the posture was personal and is careful now, because the server has a key.
	Narrowed bool `json:"narrowed,omitempty"`
}

// Invitation is a key that waits for the person that it is for.
type Invitation = keys.Invitation

// InvitationRequest invites a person, or another device of one. Who has a key or an invitation already gets the rights of that
// one where none are named.
type InvitationRequest struct {
	Agent      string    `json:"agent"` // the person's name
	Device     string    `json:"device,omitempty"`
	Namespaces []string  `json:"namespaces,omitempty"`
	Rights     []Right   `json:"rights,omitempty"`
	Limits     KeyLimits `json:"limits,omitzero"`
	Expires    string    `json:"expires,omitempty"`     // of the invitation; empty: three days
	KeyExpires string    `json:"key_expires,omitempty"` // empty: never
}

// IssuedInvitation is an invitation with its code, which is not kept, and where to join.
type IssuedInvitation struct {
	Invitation
	Code    string     `json:"code"`
	Address HubAddress `json:"address"`
}

// HubAddress is where people join a server.
type HubAddress struct {
	URL string `json:"url"`           // empty: it does not listen for HTTP
	Pin string `json:"pin,omitempty"` // of the server's own authority; empty: its certificate is of another, or it has none
}

// InvitationID names an invitation.
type InvitationID struct {
	ID string `json:"id"`
}

// GroupPrefix begins the namespaces of groups, which are scopes.
const GroupPrefix = "group/"

// Group is people who share the namespace GroupPrefix and its name.
type Group struct {
	Name    string   `json:"name"`
	Members []string `json:"members"`
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

// Operator is who reaches the server from elsewhere, without the secret.
type Operator = operators.Operator

// OperatorRequest asks for a key of an operator.
type OperatorRequest struct {
	Name    string `json:"name"`
	Role    Role   `json:"role"`
	Expires string `json:"expires,omitempty"` // a duration, a date or an instant; empty: never
}

// IssuedOperator is a new operator with the secret, which is not kept.
type IssuedOperator struct {
	Operator
	Secret string `json:"secret"`
}

// OperatorName names an operator.
type OperatorName struct {
	Name string `json:"name"`
}

// AuditFollowing says which entries of the audit log are written.
type AuditFollowing struct {
	After  uint64 `json:"after,omitempty"`  // only those with higher numbers
	Follow bool   `json:"follow,omitempty"` // and those to come, until the client ends it
}

// UndoRequest selects what to revert: a call, or what a family wrote since a moment.
type UndoRequest struct {
	Call   string    `json:"call,omitempty"`
	Family string    `json:"family,omitempty"`
	Since  time.Time `json:"since,omitzero"`
	Branch string    `json:"branch,omitempty"`
	Apply  bool      `json:"apply,omitempty"` // else it is only shown
}

// Previews reports whether nothing is to be changed.
func (r UndoRequest) Previews() bool { return !r.Apply }

// Strategy says which side a move or merge takes.
type Strategy = memory.Strategy

// MoveRequest asks to move memories. Its commits have the calls ID.1, ID.2 and so on.
type MoveRequest struct {
	ID       string          `json:"id"`
	From     string          `json:"from"`
	To       string          `json:"to"`
	Strategy memory.Strategy `json:"strategy,omitempty"` // empty: strict
	DryRun   bool            `json:"dry_run,omitempty"`
}

// Previews reports whether nothing is to be changed.
func (r MoveRequest) Previews() bool { return r.DryRun }

// MovedMemories is what a move did, or would do.
type MovedMemories struct {
	Memories int            `json:"memories"`
	Same     int            `json:"same,omitempty"`    // memories and records that were there already
	Clashes  int            `json:"clashes,omitempty"` // keys with different memories in both
	Clashing []Clashing     `json:"clashing,omitempty"`
	Records  map[string]int `json:"records,omitempty"` // of families, by collection
	Differ   map[string]int `json:"differ,omitempty"`  // keys with different records in both, by collection
	Left     map[string]int `json:"left,omitempty"`    // what stays, by collection
	Commits  int            `json:"commits,omitempty"`
}

// Clashing is a key with different memories, or records of a family, in both namespaces.
type Clashing struct {
	Branch     string          `json:"branch,omitempty"`     // empty: all branches share it
	Collection string          `json:"collection,omitempty"` // of a record; empty for a memory
	Key        string          `json:"key"`
	From       uint64          `json:"from"` // versions
	To         uint64          `json:"to"`
	Taken      memory.Strategy `json:"taken"` // strict: neither
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
	// Following tells what the store is a copy of, and how far it is; empty: it is none.
	Following string `json:"following,omitempty"`
	// WithoutFamilies is why there are no families though there should be; empty: nothing is missing.
	WithoutFamilies string `json:"without_families,omitempty"`
}

// AuditPage is entries of the audit log, and where it ends.
type AuditPage struct {
	audit.Page
	Head AuditHead `json:"head"` // zero: there is no log
}

// RequestPage is entries of the request log.
type RequestPage struct {
	Logging bool `json:"logging"` // calls are being logged
	requestlog.Page
}

// Storage is the size of the files of a data directory.
type Storage struct {
	Bytes int64         `json:"bytes"`
	Parts []StoragePart `json:"parts"` // the largest first
}

// StoragePart is a file or folder in a data directory.
type StoragePart struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Files int    `json:"files"`
}

// Finding is something that was examined.
type Finding struct {
	What    string  `json:"what"`
	Is      Opinion `json:"is"`
	Says    string  `json:"says"`
	Command string  `json:"command,omitempty"` // that Says advises
}

// Opinion says whether something that was examined needs attention.
type Opinion string

// The opinions.
const (
	Fine  Opinion = "ok"
	Noted Opinion = "note" // for the operator to judge, or not examined
	Bad   Opinion = "BAD"
)

// ConsoleTicket is where a browser opens the console as the operator.
type ConsoleTicket struct {
	Address string `json:"address"` // with the ticket
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

// Previews reports whether nothing is to be changed.
func (r ImportRequest) Previews() bool { return r.DryRun }

// PurgeRequest says what to erase.
type PurgeRequest struct {
	purge.Request
	// SetAside removes what repairs have set aside, which may hold what is to be erased. Without it a purge refuses while
	// there is any.
	SetAside bool `json:"set_aside,omitempty"`
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
	Hooks    []string `json:"hooks,omitempty"`    // that are on, and receive every memory
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

// Previews reports whether nothing is to be changed.
func (r ConfigureRequest) Previews() bool { return len(r.Values) == 0 }

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
