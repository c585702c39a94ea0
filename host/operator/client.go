package operator

import (
	"context"
	"io"
	"net"

	"github.com/alcove-memory/alcove/host/operator/admin"
)

// Client has a server in another process carry out acts. An error that has a code there is an *admin.Error.
type Client struct{ server *admin.Client }

var _ Operator = (*Client)(nil)

// NewClient speaks over the connections that dial makes to the server's socket for operators.
func NewClient(dial func(context.Context) (net.Conn, error)) *Client {
	return &Client{admin.NewClient(dial)}
}

// Close lets go of connections.
func (c *Client) Close() { c.server.Close() }

// Health implements Operator.
func (c *Client) Health(ctx context.Context) (Health, error) {
	return ask(ctx, c, health)
}

// Verify implements Operator.
func (c *Client) Verify(ctx context.Context) (Verified, error) {
	return ask(ctx, c, verify)
}

// Compact implements Operator.
func (c *Client) Compact(ctx context.Context) (Compacted, error) {
	return ask(ctx, c, compact)
}

// Durability implements Operator.
func (c *Client) Durability(ctx context.Context) (Durability, error) {
	return ask(ctx, c, durability)
}

// Flush implements Operator.
func (c *Client) Flush(ctx context.Context) error {
	return tell(ctx, c, flush, none{})
}

// Purge implements Operator.
func (c *Client) Purge(ctx context.Context, r PurgeRequest) (Purged, error) {
	return call(ctx, c, purging, r)
}

// Retention implements Operator.
func (c *Client) Retention(ctx context.Context) (Retention, error) {
	return ask(ctx, c, getRetention)
}

// SetRetention implements Operator.
func (c *Client) SetRetention(ctx context.Context, r Retention) (Retention, error) {
	return call(ctx, c, setRetention, r)
}

// UndoFamily implements Operator.
func (c *Client) UndoFamily(ctx context.Context, r UndoRequest) (Undone, error) {
	return call(ctx, c, undoFamily, r)
}

// AuditHead implements Operator.
func (c *Client) AuditHead(ctx context.Context) (AuditHead, error) {
	return ask(ctx, c, auditHead)
}

// Retain implements Operator.
func (c *Client) Retain(ctx context.Context) (Retained, error) {
	return ask(ctx, c, retain)
}

// Export implements Operator.
func (c *Client) Export(ctx context.Context, r ExportRequest, w io.Writer) error {
	return copied(ctx, c, export, r, w)
}

// Backup implements Operator.
func (c *Client) Backup(ctx context.Context, r BackupRequest, w io.Writer) error {
	return copied(ctx, c, backUp, r, w)
}

// NoteBackup implements Operator.
func (c *Client) NoteBackup(ctx context.Context, b BackedUp) error {
	return tell(ctx, c, noteBackup, b)
}

// Memories implements Operator.
func (c *Client) Memories(ctx context.Context, s Selection, w io.Writer) error {
	return copied(ctx, c, memories, s, w)
}

// Import implements Operator.
func (c *Client) Import(ctx context.Context, r ImportRequest) (Imported, error) {
	return call(ctx, c, importing, r)
}

// Embedders implements Operator.
func (c *Client) Embedders(ctx context.Context) ([]EmbedderState, error) {
	return ask(ctx, c, listEmbedders)
}

// SetEmbedder implements Operator.
func (c *Client) SetEmbedder(ctx context.Context, r EmbedderRequest) (EmbedderConfig, error) {
	return call(ctx, c, setEmbedder, r)
}

// RegenerateEmbedder implements Operator.
func (c *Client) RegenerateEmbedder(ctx context.Context, r EmbedderName) error {
	return tell(ctx, c, regenerateEmbedder, r)
}

// RemoveEmbedder implements Operator.
func (c *Client) RemoveEmbedder(ctx context.Context, r EmbedderName) error {
	return tell(ctx, c, removeEmbedder, r)
}

// ChooseEmbedder implements Operator.
func (c *Client) ChooseEmbedder(ctx context.Context, choice EmbedderChoice) error {
	return tell(ctx, c, chooseEmbedder, choice)
}

// Families implements Operator.
func (c *Client) Families(ctx context.Context) ([]Family, error) {
	return ask(ctx, c, listFamilies)
}

// FamilyStates implements Operator.
func (c *Client) FamilyStates(ctx context.Context) ([]Family, error) {
	return ask(ctx, c, familyStates)
}

// FamilyUses implements Operator.
func (c *Client) FamilyUses(ctx context.Context) ([]FamilyUse, error) {
	return ask(ctx, c, familyUses)
}

// FamilyInfo implements Operator.
func (c *Client) FamilyInfo(ctx context.Context, r FamilyName) (FamilyInfo, error) {
	return call(ctx, c, familyInfo, r)
}

// InstallFamily implements Operator.
func (c *Client) InstallFamily(ctx context.Context, r InstallRequest) (Family, error) {
	return call(ctx, c, installFamily, r)
}

// UpdateFamily implements Operator.
func (c *Client) UpdateFamily(ctx context.Context, r UpdateRequest) (Family, error) {
	return call(ctx, c, updateFamily, r)
}

// RollbackFamily implements Operator.
func (c *Client) RollbackFamily(ctx context.Context, r FamilyName) (Family, error) {
	return call(ctx, c, rollbackFamily, r)
}

// TryFamily implements Operator.
func (c *Client) TryFamily(ctx context.Context, r TrialRequest) (TrialAnswer, error) {
	return call(ctx, c, tryFamily, r)
}

// FamilyStats implements Operator.
func (c *Client) FamilyStats(ctx context.Context, r FamilyName) ([]FamilyStats, error) {
	return call(ctx, c, familyStats, r)
}

// FollowFamily implements Operator.
func (c *Client) FollowFamily(ctx context.Context, r FollowRequest, w io.Writer) error {
	return copied(ctx, c, followFamily, r, w)
}

// RemoveFamily implements Operator.
func (c *Client) RemoveFamily(ctx context.Context, r FamilyName) (RemovedFamily, error) {
	return call(ctx, c, removeFamily, r)
}

// GrantFamily implements Operator.
func (c *Client) GrantFamily(ctx context.Context, r GrantRequest) (Family, error) {
	return call(ctx, c, grantFamily, r)
}

// ProposeChange implements Operator.
func (c *Client) ProposeChange(ctx context.Context, p LockProposal) (LockChange, error) {
	return call(ctx, c, proposeChange, p)
}

// TrustKeys implements Operator.
func (c *Client) TrustKeys(ctx context.Context, r TrustRequest) (TrustedKeys, error) {
	return call(ctx, c, trustKeys, r)
}

// LockDirectory implements Operator.
func (c *Client) LockDirectory(ctx context.Context) (LockChange, error) {
	return call(ctx, c, lockDirectory, none{})
}

// ConfigureFamily implements Operator.
func (c *Client) ConfigureFamily(ctx context.Context, r ConfigureRequest) (FamilyConfig, error) {
	return call(ctx, c, configureFamily, r)
}

// FamilyJobs implements Operator.
func (c *Client) FamilyJobs(ctx context.Context) ([]FamilyJob, error) {
	return ask(ctx, c, familyJobs)
}

// RunFamilyJob implements Operator.
func (c *Client) RunFamilyJob(ctx context.Context, r FamilyJobName) error {
	return tell(ctx, c, runFamilyJob, r)
}

// CancelFamilyJob implements Operator.
func (c *Client) CancelFamilyJob(ctx context.Context, r FamilyJobID) error {
	return tell(ctx, c, cancelFamilyJob, r)
}

// Endpoints implements Operator.
func (c *Client) Endpoints(ctx context.Context) (map[string]Endpoint, error) {
	return ask(ctx, c, listEndpoints)
}

// SetEndpoint implements Operator.
func (c *Client) SetEndpoint(ctx context.Context, r EndpointRequest) error {
	return tell(ctx, c, setEndpoint, r)
}

// Roots implements Operator.
func (c *Client) Roots(ctx context.Context) (map[string]Root, error) {
	return ask(ctx, c, listRoots)
}

// SetRoot implements Operator.
func (c *Client) SetRoot(ctx context.Context, r RootRequest) error {
	return tell(ctx, c, setRoot, r)
}

// CallTool implements Operator.
func (c *Client) CallTool(ctx context.Context, r ToolCall) (ToolAnswer, error) {
	return call(ctx, c, callTool, r)
}

// Quotas implements Operator.
func (c *Client) Quotas(ctx context.Context) ([]QuotaUse, error) {
	return ask(ctx, c, listQuotas)
}

// SetQuota implements Operator.
func (c *Client) SetQuota(ctx context.Context, r QuotaRequest) error {
	return tell(ctx, c, setQuota, r)
}

// Settings implements Operator.
func (c *Client) Settings(ctx context.Context, q SettingQuery) ([]Setting, error) {
	return call(ctx, c, listSettings, q)
}

// ChangeSettings implements Operator.
func (c *Client) ChangeSettings(ctx context.Context, r SettingChanges) ([]SettingChanged, error) {
	return call(ctx, c, changeSettings, r)
}

// SettingHistory implements Operator.
func (c *Client) SettingHistory(ctx context.Context, k SettingKey) (SettingHistory, error) {
	return call(ctx, c, settingHistory, k)
}

// UndoSettings implements Operator.
func (c *Client) UndoSettings(ctx context.Context, u SettingUndo) ([]SettingChanged, error) {
	return call(ctx, c, undoSettings, u)
}

// RollBackSetting implements Operator.
func (c *Client) RollBackSetting(ctx context.Context, k SettingKey) (SettingChanged, error) {
	return call(ctx, c, rollBackSetting, k)
}

// Keys implements Operator.
func (c *Client) Keys(ctx context.Context) (KeyList, error) { return ask(ctx, c, listKeys) }

// CreateKey implements Operator.
func (c *Client) CreateKey(ctx context.Context, r KeyRequest) (IssuedKey, error) {
	return call(ctx, c, createKey, r)
}

// LimitKeys implements Operator.
func (c *Client) LimitKeys(ctx context.Context, l KeyLimits) (KeyLimits, error) {
	return call(ctx, c, limitKeys, l)
}

// RevokeKey implements Operator.
func (c *Client) RevokeKey(ctx context.Context, r KeyID) (Key, error) {
	return call(ctx, c, revokeKey, r)
}

// DeleteKey implements Operator.
func (c *Client) DeleteKey(ctx context.Context, r KeyID) (Key, error) {
	return call(ctx, c, deleteKey, r)
}
