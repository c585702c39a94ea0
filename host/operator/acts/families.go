package acts

import (
	"context"
	"encoding/json"
	"io"

	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/tool"
)

// operatorAgent is the name kept with what an operator does through tools.
const operatorAgent = "operator"

// fromFamilies has the families carry out an act, if there are any.
func fromFamilies[In, Out any](a Acts, do func(*family.Families, context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, r In) (answer Out, err error) {
		if a.Space.Families == nil {
			why := "its data directory cannot be written"
			if a.Space.Without != nil {
				why = a.Space.Without.Error()
			}
			return answer, &memory.Error{Code: memory.Unavailable, Message: "the server runs without tool families: " + why}
		}
		return do(a.Space.Families, ctx, r)
	}
}

// byFamilies has the families carry out an act without an answer.
func byFamilies[In any](a Acts, do func(*family.Families, context.Context, In) error) func(context.Context, In) (operator.None, error) {
	return fromFamilies(a, func(f *family.Families, ctx context.Context, r In) (operator.None, error) {
		return operator.None{}, do(f, ctx, r)
	})
}

// decide has the families carry out a decision about one, and answers once its hooks are asked about stores.
func decide[In any](a Acts, do func(*family.Families, context.Context, In) (operator.Family, error)) func(context.Context, In) (operator.Family, error) {
	return fromFamilies(a, func(f *family.Families, ctx context.Context, r In) (operator.Family, error) {
		d, err := do(f, ctx, r)
		if err != nil || d.Manifest == nil { // nil: it is gone
			return d, err
		}
		return d, f.AwaitHooks(ctx, d.Manifest.Name)
	})
}

// at adapts a method that needs no context.
func at[In, Out any](do func(*family.Families, In) (Out, error)) func(*family.Families, context.Context, In) (Out, error) {
	return func(f *family.Families, _ context.Context, r In) (Out, error) { return do(f, r) }
}

// named adapts a method that needs only a family's name.
func named[Out any](do func(*family.Families, string) (Out, error)) func(*family.Families, context.Context, operator.FamilyName) (Out, error) {
	return func(f *family.Families, _ context.Context, r operator.FamilyName) (Out, error) {
		return do(f, r.Family)
	}
}

// list adapts a method that needs nothing and cannot fail.
func list[Out any](do func(*family.Families) Out) func(*family.Families, context.Context, operator.None) (Out, error) {
	return func(f *family.Families, _ context.Context, _ operator.None) (Out, error) { return do(f), nil }
}

func (a Acts) families() []operator.Binding {
	type families = *family.Families
	return []operator.Binding{
		operator.ListFamilies.By(fromFamilies(a, list(families.Show))),
		operator.ListFamilyStates.By(fromFamilies(a, list(families.All))),
		operator.ListFamilyUses.By(fromFamilies(a, func(f families, ctx context.Context, _ operator.None) ([]operator.FamilyUse, error) {
			return f.Uses(ctx)
		})),
		operator.DescribeFamily.By(fromFamilies(a, func(f families, ctx context.Context, r operator.FamilyName) (operator.FamilyInfo, error) {
			return f.Info(ctx, r.Family)
		})),
		operator.InstallFamily.By(decide(a, func(f families, _ context.Context, r operator.InstallRequest) (operator.Family, error) {
			return f.InstallFrom(family.Installation(r))
		})).Changing(),
		operator.UpdateFamily.By(decide(a, families.UpdateFrom)).Changing(),
		operator.RollBackFamily.By(decide(a, named(families.Rollback))).Changing(),
		operator.RemoveFamily.By(fromFamilies(a, named(families.Remove))).Changing(),
		operator.GrantFamily.By(decide(a, at(families.Grant))).Changing(),
		operator.ProposeChange.By(fromFamilies(a, at(families.Propose))),
		operator.TrustKeys.By(fromFamilies(a, at(families.Trust))).Changing(),
		operator.LockDirectory.By(fromFamilies(a, func(f families, _ context.Context, _ operator.None) (operator.LockChange, error) { return f.LockDown() })).Changing(),
		operator.ConfigureFamily.By(fromFamilies(a, func(f families, ctx context.Context, r operator.ConfigureRequest) (operator.FamilyConfig, error) {
			return f.Configure(ctx, r.Family, r.Values)
		})).Changing(),
		operator.ListFamilyJobs.By(fromFamilies(a, listJobs)),
		operator.RunFamilyJob.By(byFamilies(a, func(f families, ctx context.Context, r operator.FamilyJobName) error {
			return f.RunJob(ctx, r.Family, r.Job)
		})),
		operator.CancelFamilyJob.By(byFamilies(a, func(f families, ctx context.Context, r operator.FamilyJobID) error { return f.CancelJob(ctx, r.ID) })),
		operator.UndoFamily.By(a.undoFamily),
		operator.TryFamily.By(fromFamilies(a, families.Rehearse)),
		operator.GetFamilyStats.By(fromFamilies(a, named(families.Stats))),
		operator.FollowFamily.By(a.follow),
		operator.ListEndpoints.By(fromFamilies(a, list(families.Endpoints))),
		operator.SetEndpoint.By(byFamilies(a, func(f families, _ context.Context, r operator.EndpointRequest) error {
			return f.SetEndpoint(r.Name, r.Endpoint)
		})).Changing(),
		operator.ListRoots.By(fromFamilies(a, list(families.Roots))),
		operator.SetRoot.By(byFamilies(a, func(f families, _ context.Context, r operator.RootRequest) error { return f.SetRoot(r.Name, r.Root) })).Changing(),
		operator.CallTool.By(fromFamilies(a, a.callTool)),
		operator.ListQuotas.By(query(func(ctx context.Context) ([]operator.QuotaUse, error) { return a.everything().QuotaUses(ctx, "") })),
		operator.SetQuota.By(command(a.setQuota)),
	}
}

func (a Acts) settings() []operator.Binding {
	type families = *family.Families
	return []operator.Binding{
		operator.ListSettings.By(fromFamilies(a, families.Settings)),
		operator.ChangeSettings.By(fromFamilies(a, families.ChangeSettings)),
		operator.GetSettingHistory.By(fromFamilies(a, families.SettingHistory)),
		operator.RollBackSetting.By(fromFamilies(a, families.RollBackSetting)),
		operator.UndoSettings.By(fromFamilies(a, families.UndoSettings)),
	}
}

func listJobs(f *family.Families, ctx context.Context, _ operator.None) ([]operator.FamilyJob, error) {
	list, err := f.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	next, err := f.NextJobs(ctx)
	return append(list, next...), err
}

func (a Acts) follow(ctx context.Context, r operator.FollowRequest, w io.Writer) error {
	_, err := byFamilies(a, func(f *family.Families, ctx context.Context, r operator.FollowRequest) error {
		return f.Follow(ctx, r, lineTo(w))
	})(ctx, r)
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

func (a Acts) callTool(_ *family.Families, ctx context.Context, r operator.ToolCall) (operator.ToolAnswer, error) {
	answer, err := a.Space.Tools.Dispatch(ctx, tool.Request{
		Tool: r.Tool, Arguments: r.Arguments, Branch: r.Branch, Namespace: r.Namespace, Detail: tool.Full, Admission: tool.Admitted,
		Caller: memory.Caller{Agent: operatorAgent, Operator: true, Rights: memory.FullRights()},
	})
	if err != nil {
		return operator.ToolAnswer{}, err
	}
	result, err := tool.Encode(answer.Structured)
	return operator.ToolAnswer{Result: result, Notes: answer.Notes}, err
}

// everything is the space for somebody who may do all.
func (a Acts) everything() *memory.Access {
	return a.Space.Memory.As(memory.Caller{Rights: memory.FullRights()})
}

func (a Acts) setQuota(ctx context.Context, r operator.QuotaRequest) error {
	stage, err := a.everything().Stage(ctx, memory.Default)
	if err == nil {
		err = stage.SetQuota(ctx, r.Namespace, r.Quota)
	}
	if err == nil {
		_, err = stage.Commit(ctx, memory.Commit{})
	}
	return err
}
