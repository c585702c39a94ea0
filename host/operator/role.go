package operator

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Role is what an operator may do.
type Role string

// The roles, each of which may do what those before it may.
const (
	// Viewer sees how the server is and what was decided, and nothing of what agents know.
	Viewer Role = "viewer"
	// Approver decides about families, about changes that wait for a human, and takes back.
	Approver Role = "approver"
	// Admin does everything.
	Admin Role = "admin"
)

// ParseRole reads a role.
func ParseRole(text string) (Role, error) {
	r := Role(text)
	if r.rank() == 0 {
		return "", fmt.Errorf("the role %.40q: it can be %s, %s or %s", text, Viewer, Approver, Admin)
	}
	return r, nil
}

// rank orders the roles; 0: it is none.
func (r Role) rank() int {
	switch r {
	case Viewer:
		return 1
	case Approver:
		return 2
	case Admin:
		return 3
	}
	return 0
}

// covers reports whether a role may do what takes another one. What is no role may do nothing, and nothing of no role is covered.
func (r Role) covers(needed Role) bool { return needed.rank() > 0 && r.rank() >= needed.rank() }

// Needs returns the least role that a request for an act takes. An act that is not classed takes Admin.
func Needs(act string, request json.RawMessage) Role {
	switch {
	case act == string(CallTool):
		return needsOfTool(request)
	case act == string(TrustKeys) && previews[TrustRequest](request): // public keys are listed
		return Viewer
	}
	if r, classed := ClassOf(act); classed {
		return r
	}
	return Admin
}

// decisions begin the names of the tools by which an operator decides about changes that wait.
const decisions = "memory_pending_"

func needsOfTool(request json.RawMessage) Role {
	var r ToolCall
	if json.Unmarshal(request, &r) == nil && strings.HasPrefix(r.Tool, decisions) {
		return Approver
	}
	return Admin
}

// ClassOf returns the least role that an act takes. CallTool depends on the tool, and whoever sees how the server is may list TrustKeys.
func ClassOf(act string) (r Role, classed bool) {
	switch act {
	case string(GetHealth), string(GetDurability), string(GetRetention), string(PreviewRetention), string(GetAuditHead), string(ListAudit), string(ListDenials),
		string(VerifyAudit), string(FollowAudit), string(GetMetrics), string(GetStorage), string(Diagnose), string(ListEmbedders), string(ListKeys), string(ListFamilies),
		string(ListFamilyStates), string(ListFamilyUses), string(DescribeFamily), string(GetPosture), string(GetFamilyStats), string(ListEndpoints), string(ListRoots),
		string(ListQuotas), string(ListSettings), string(GetSettingHistory), string(ListOperators), string(ListRemotes), string(GetCluster), string(ListSpaces), string(GetMove), string(ListInvitations), string(ListGroups):
		return Viewer, true
	case string(InstallFamily), string(UpdateFamily), string(RollBackFamily), string(RemoveFamily), string(GrantFamily), string(ProposeChange), string(LockDirectory),
		string(ListFamilyJobs), string(RunFamilyJob), string(CancelFamilyJob), string(RetryFamilyJob), string(UndoFamily), string(RevokeKey), string(WithdrawInvitation), string(CallTool):
		return Approver, true
	case string(Verify), string(Compact), string(Flush), string(Purge), string(SetRetention), string(Retain), string(CloseSpace), string(MoveStore), string(RemoveMoved), string(OpenConsole), string(Export),
		string(Backup), string(NoteBackup), string(ExportMemories), string(Import), string(ListRequests), string(SetEmbedder), string(CheckEmbedder),
		string(RegenerateEmbedder), string(RemoveEmbedder), string(ChooseEmbedder), string(CreateKey), string(LimitKeys), string(DeleteKey), string(TrustKeys),
		string(SetPosture), string(ConfigureFamily), string(TryFamily), string(FollowFamily), string(SetEndpoint), string(SetRoot), string(MoveMemories),
		string(SetQuota), string(ChangeSettings), string(RollBackSetting), string(UndoSettings), string(CreateOperator), string(RevokeOperator),
		string(AddRemote), string(SetRemote), string(RemoveRemote), string(GetRemoteStatus), string(SyncRemote), string(WatchRemote), string(DrainServer), string(CreateSpace), string(RenameSpace), string(DeleteSpace), string(InvitePerson), string(SetGroup):
		return Admin, true
	}
	return "", false
}
