package operator_test

import (
	"encoding"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// wire is the types that an act has on the wire, which --json prints too.
type wire struct {
	act             string
	request, answer reflect.Type
}

func row[In, Out any](a operator.Act[In, Out]) wire {
	return wire{string(a), reflect.TypeFor[In](), reflect.TypeFor[Out]()}
}

// wires are all acts but streams, whose answers are bytes.
func wires() []wire {
	return []wire{
		row(operator.GetHealth), row(operator.Verify), row(operator.Compact), row(operator.GetDurability), row(operator.Flush),
		row(operator.Purge), row(operator.GetRetention), row(operator.SetRetention), row(operator.PreviewRetention), row(operator.Retain),
		row(operator.GetAuditHead), row(operator.CloseSpace), row(operator.MoveStore), row(operator.GetMove), row(operator.RemoveMoved),
		row(operator.GetCluster), row(operator.ListSpaces), row(operator.CreateSpace), row(operator.RenameSpace), row(operator.DeleteSpace),
		row(operator.DrainServer), row(operator.OpenConsole), row(operator.NoteBackup), row(operator.Import), row(operator.ListAudit),
		row(operator.ListDenials), row(operator.VerifyAudit), row(operator.ListRequests), row(operator.GetMetrics), row(operator.GetStorage),
		row(operator.Diagnose), row(operator.ListEmbedders), row(operator.SetEmbedder), row(operator.CheckEmbedder),
		row(operator.RegenerateEmbedder), row(operator.RemoveEmbedder), row(operator.ChooseEmbedder), row(operator.ListKeys),
		row(operator.CreateKey), row(operator.LimitKeys), row(operator.RevokeKey), row(operator.DeleteKey), row(operator.ListOperators),
		row(operator.CreateOperator), row(operator.RevokeOperator), row(operator.InvitePerson), row(operator.ListInvitations),
		row(operator.WithdrawInvitation), row(operator.SetGroup), row(operator.ListGroups), row(operator.ListFamilies),
		row(operator.ListFamilyStates), row(operator.ListFamilyUses), row(operator.DescribeFamily), row(operator.InstallFamily),
		row(operator.UpdateFamily), row(operator.RollBackFamily), row(operator.RemoveFamily), row(operator.GrantFamily),
		row(operator.ProposeChange), row(operator.TrustKeys), row(operator.GetPosture), row(operator.SetPosture), row(operator.LockDirectory),
		row(operator.ConfigureFamily), row(operator.ListFamilyJobs), row(operator.RunFamilyJob), row(operator.CancelFamilyJob),
		row(operator.RetryFamilyJob), row(operator.UndoFamily), row(operator.TryFamily), row(operator.GetFamilyStats),
		row(operator.ListEndpoints), row(operator.SetEndpoint), row(operator.ListRoots), row(operator.SetRoot), row(operator.CallTool),
		row(operator.MoveMemories), row(operator.ListQuotas), row(operator.SetQuota), row(operator.ListSettings), row(operator.ChangeSettings),
		row(operator.GetSettingHistory), row(operator.RollBackSetting), row(operator.UndoSettings), row(operator.ListRemotes),
		row(operator.AddRemote), row(operator.SetRemote), row(operator.RemoveRemote), row(operator.GetRemoteStatus), row(operator.SyncRemote),
	}
}

func TestEachMemberOfRequestsAndAnswersHasANameOfTheWire(t *testing.T) {
	known := map[string]bool{string(operator.Export): true, string(operator.Backup): true, string(operator.ExportMemories): true, string(operator.FollowAudit): true, string(operator.FollowFamily): true, string(operator.WatchRemote): true}
	for _, w := range wires() {
		known[w.act] = true
		for _, of := range []reflect.Type{w.request, w.answer} {
			for _, unnamed := range unnamedIn(of, map[reflect.Type]bool{}) {
				t.Errorf("the act %s: %s has the name of Go in JSON: give it a tag", w.act, unnamed)
			}
		}
	}
	for _, act := range server.Open(t, host.Options{}).Operator().Names() {
		if !known[act] {
			t.Errorf("the act %s is missing in this test: add it", act)
		}
	}
}

var wireName = regexp.MustCompile(`^[a-z$][A-Za-z0-9_]*$`) // names of MCP have capitals

// unnamedIn lists the members of a type, and of those in it, that have the name of Go in JSON.
func unnamedIn(of reflect.Type, seen map[reflect.Type]bool) (list []string) {
	if seen[of] || saysItself(of) {
		return nil
	}
	seen[of] = true
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return unnamedIn(of.Elem(), seen)
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(of) {
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || tag == "-" || len(f.Index) > 1 {
				continue
			}
			if !f.Anonymous && !wireName.MatchString(tag) {
				list = append(list, of.String()+"."+f.Name)
			}
			list = append(list, unnamedIn(f.Type, seen)...)
		}
	}
	return list
}

// saysItself reports whether a type writes its own JSON.
func saysItself(of reflect.Type) bool {
	for _, t := range []reflect.Type{of, reflect.PointerTo(of)} {
		if t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			return true
		}
	}
	return false
}
