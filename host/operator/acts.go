package operator

// Care: acts that keep a space sound and small.
const (
	GetHealth     Act[None, Health]     = "health"
	Verify        Act[None, Verified]   = "verify"
	Compact       Act[None, Compacted]  = "compact"
	GetDurability Act[None, Durability] = "durability"
	// Flush syncs all acknowledged writes to disk.
	Flush        Act[None, None]           = "flush"
	Purge        Act[PurgeRequest, Purged] = "purge"
	GetRetention Act[None, Retention]      = "retention"
	SetRetention Act[Retention, Retention] = "set-retention"
	// PreviewRetention says what an application of a policy would remove now, and changes nothing.
	PreviewRetention Act[Retention, RetentionPreview] = "retention-preview"
	// Retain applies the policy of retention now.
	Retain Act[None, Retained] = "retain"
	// GetAuditHead makes the audit log durable and returns its last entry; the zero AuditHead: there is no log.
	GetAuditHead Act[None, AuditHead] = "audit-head"
	// CloseSpace closes one of several spaces of a server, which opens it again for its next client.
	CloseSpace Act[None, None] = "space-close"
	// MoveStore copies the store of a space to another place, and follows what is written until little is left. Then the server closes the
	// space, moves the rest, and opens it there.
	MoveStore Act[MoveStoreRequest, MoveBegun] = "store-move"
	// GetMove returns how the last move of the store ended; the zero MoveEnded: none has.
	GetMove Act[None, MoveEnded] = "store-moved"
	// RemoveMoved removes what is left where the store was before it was moved.
	RemoveMoved Act[None, None] = "store-moved-remove"
	// GetCluster returns the servers of a database, and who leads its spaces.
	GetCluster Act[None, Cluster] = "cluster"
	// ListSpaces returns the spaces of the database that servers share.
	ListSpaces Act[None, []ListedSpace] = "spaces"
	// CreateSpace creates an empty space there, beside the server's own memory.
	CreateSpace Act[SpaceName, None] = "spaces-create"
	// RenameSpace gives a space another name, once its leader has closed it.
	RenameSpace Act[SpaceRename, None] = "spaces-rename"
	// DeleteSpace ends a space, once its leader has closed it, and erases what it had.
	DeleteSpace Act[SpaceName, None] = "spaces-delete"
	// DrainServer hands the spaces of a server over to the others. It leads none from then on, and forwards.
	DrainServer Act[None, None] = "cluster-drain"
	// OpenConsole issues a ticket of the console, which begins one session of the operator within a minute.
	OpenConsole Act[None, ConsoleTicket] = "console-ticket"
)

// Copies: acts that take memories out of a space, and into it.
const (
	Export Stream[ExportRequest] = "export"
	Backup Stream[BackupRequest] = "backup"
	// NoteBackup tells the server that a backup is complete and durable.
	NoteBackup Act[BackedUp, None] = "note-backup"
	// ExportMemories writes memories, each as a Memory in a line of JSON.
	ExportMemories Stream[Selection]            = "memories"
	Import         Act[ImportRequest, Imported] = "import"
)

// Insight: acts that read logs and numbers.
const (
	// ListAudit lists entries of the audit log, newest first.
	ListAudit Act[AuditQuery, AuditPage] = "audit"
	// ListDenials groups denials of the audit log by the rule that refused them, the latest first. Of the query it takes all but kinds.
	ListDenials Act[AuditQuery, DenialPage] = "denials"
	// VerifyAudit verifies that the audit log was not changed since it was written, as far as the log itself shows.
	VerifyAudit Act[None, AuditReport] = "audit-verify"
	// FollowAudit writes entries of the audit log as they are, with their hashes, and on request those to come.
	FollowAudit Stream[AuditFollowing] = "audit-follow"
	// ListRequests lists calls of tools in the request log, newest first.
	ListRequests Act[RequestQuery, RequestPage] = "requests"
	// GetMetrics returns what Prometheus is told.
	GetMetrics Act[None, []Metric] = "metrics"
	// GetStorage returns how large the files of the data directory are.
	GetStorage Act[None, Storage] = "storage"
	// Diagnose says what needs attention.
	Diagnose Act[None, []Finding] = "doctor"
)

// Embedders.
const (
	ListEmbedders Act[None, []EmbedderState]           = "embedders"
	SetEmbedder   Act[EmbedderRequest, EmbedderConfig] = "set-embedder"
	// CheckEmbedder asks an embedder for a vector, whether it is known or only described, and changes nothing.
	CheckEmbedder      Act[EmbedderConfig, EmbedderChecked] = "check-embedder"
	RegenerateEmbedder Act[EmbedderName, None]              = "regenerate-embedder"
	RemoveEmbedder     Act[EmbedderName, None]              = "remove-embedder"
	ChooseEmbedder     Act[EmbedderChoice, None]            = "choose-embedder"
)

// API keys.
const (
	ListKeys  Act[None, KeyList]         = "keys"
	CreateKey Act[KeyRequest, IssuedKey] = "key-create"
	// LimitKeys sets the limits of keys that have none of their own; zero fields restore the default.
	LimitKeys Act[KeyLimits, KeyLimits] = "key-limits"
	RevokeKey Act[KeyID, Key]           = "key-revoke"
	DeleteKey Act[KeyID, Key]           = "key-delete"
)

// Operators that reach the server from elsewhere, each with a key and a role.
const (
	ListOperators  Act[None, []Operator]                = "operators"
	CreateOperator Act[OperatorRequest, IssuedOperator] = "operator-create"
	RevokeOperator Act[OperatorName, Operator]          = "operator-revoke"
)

// Hubs: servers of several people.
const (
	// InvitePerson makes an invitation, and a code that accepts it once.
	InvitePerson Act[InvitationRequest, IssuedInvitation] = "invite"
	// ListInvitations lists those that nobody accepted yet, oldest first.
	ListInvitations    Act[None, []Invitation]       = "invitations"
	WithdrawInvitation Act[InvitationID, Invitation] = "invitation-withdraw"
	// SetGroup makes a group, or replaces its members.
	SetGroup   Act[Group, Group]  = "group-set"
	ListGroups Act[None, []Group] = "groups"
)

// Families, and the endpoints and directories outside that they may reach.
const (
	// ListFamilies lists the families. A grant by name is of the digest that the operator was last shown here.
	ListFamilies Act[None, []Family] = "families"
	// ListFamilyStates lists the same, for programs: grants do not refer to it.
	ListFamilyStates Act[None, []Family]         = "family-states"
	ListFamilyUses   Act[None, []FamilyUse]      = "family-uses"
	DescribeFamily   Act[FamilyName, FamilyInfo] = "family-info"
	InstallFamily    Act[InstallRequest, Family] = "family-install"
	// UpdateFamily replaces an installed family by another version, which keeps what still fits of the grant.
	UpdateFamily Act[UpdateRequest, Family] = "family-update"
	// RollBackFamily exchanges the present version for the previous one.
	RollBackFamily Act[FamilyName, Family]        = "family-rollback"
	RemoveFamily   Act[FamilyName, RemovedFamily] = "family-remove"
	GrantFamily    Act[GrantRequest, Family]      = "family-grant"
	// ProposeChange shows what a change would do to the lock file, and changes nothing.
	ProposeChange Act[LockProposal, LockChange] = "lock-propose"
	// TrustKeys changes which keys are trusted to sign modules, and lists them.
	TrustKeys Act[TrustRequest, TrustedKeys] = "trust"
	// GetPosture returns the posture of the data directory, and what it means.
	GetPosture Act[None, PostureState] = "posture"
	// SetPosture chooses it, unless the directory is locked.
	SetPosture Act[PostureRequest, LockChange] = "posture-set"
	// LockDirectory locks the data directory.
	LockDirectory   Act[None, LockChange]               = "lock"
	ConfigureFamily Act[ConfigureRequest, FamilyConfig] = "family-configure"
	// ListFamilyJobs lists jobs, and the next runs of those with a schedule.
	ListFamilyJobs Act[None, []FamilyJob] = "family-jobs"
	// RunFamilyJob runs a job with a schedule now.
	RunFamilyJob Act[FamilyJobName, None] = "family-job-run"
	// CancelFamilyJob cancels a job that waits or runs.
	CancelFamilyJob Act[FamilyJobID, None] = "family-job-cancel"
	// RetryFamilyJob queues a job again that failed or was cancelled.
	RetryFamilyJob Act[FamilyJobID, None] = "family-job-retry"
	// UndoFamily reverts what families wrote.
	UndoFamily Act[UndoRequest, Undone] = "family-undo"
	// TryFamily makes one request to a module that is not installed, on the data that there is, and keeps nothing of it.
	TryFamily Act[TrialRequest, TrialAnswer] = "family-try"
	// GetFamilyStats returns the costs of a family, or with an empty name of all, since the server began.
	GetFamilyStats Act[FamilyName, []FamilyStats] = "family-stats"
	// FollowFamily writes the events of a family, each as a FamilyEvent in a line of JSON.
	FollowFamily  Stream[FollowRequest]          = "family-follow"
	ListEndpoints Act[None, map[string]Endpoint] = "endpoints"
	SetEndpoint   Act[EndpointRequest, None]     = "endpoint-set"
	ListRoots     Act[None, map[string]Root]     = "roots"
	SetRoot       Act[RootRequest, None]         = "root-set"
	// CallTool calls a tool of a family as the operator, whom no agent can claim to be.
	CallTool Act[ToolCall, ToolAnswer] = "call-tool"
	// MoveMemories moves the memories of a namespace to another one. UndoFamily takes back each commit by its call.
	MoveMemories Act[MoveRequest, MovedMemories] = "memories-move"
	// ListQuotas lists what agents stored in namespaces with a quota.
	ListQuotas Act[None, []QuotaUse]   = "quotas"
	SetQuota   Act[QuotaRequest, None] = "quota-set"
)

// Settings that families share, and those of one family.
const (
	ListSettings Act[SettingQuery, []Setting] = "settings"
	// ChangeSettings changes all, or with any fault none.
	ChangeSettings    Act[SettingChanges, []SettingChanged] = "settings-change"
	GetSettingHistory Act[SettingKey, SettingHistory]       = "setting-history"
	RollBackSetting   Act[SettingKey, SettingChanged]       = "setting-rollback"
	// UndoSettings restores the values that all settings of a change had before it, or with any that was changed since none.
	UndoSettings Act[SettingUndo, []SettingChanged] = "settings-undo"
)

// Other spaces, with which memories are exchanged.
const (
	ListRemotes  Act[None, []Remote]     = "remotes"
	AddRemote    Act[Remote, None]       = "remote-add"
	SetRemote    Act[RemoteChange, None] = "remote-set"
	RemoveRemote Act[RemoteName, None]   = "remote-remove"
	// GetRemoteStatus asks a remote how it differs.
	GetRemoteStatus Act[RemoteRequest, RemoteStatus] = "remote-status"
	SyncRemote      Act[RemoteRequest, RemoteDone]   = "remote-sync"
	// WatchRemote synchronises whenever one side has news, and writes what that did, each as a RemoteDone in a line of JSON.
	WatchRemote Stream[RemoteRequest] = "remote-watch"
)
