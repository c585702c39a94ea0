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

// withFamilies returns an error unless there are families.
func (a Acts) withFamilies() error {
	if a.Space.Families != nil {
		return nil
	}
	why := "its data directory cannot be written"
	if a.Space.Without != nil {
		why = a.Space.Without.Error()
	}
	return &memory.Error{Code: memory.Unavailable, Message: "the server runs without tool families: " + why}
}

func (a Acts) families() []operator.Binding {
	f := a.Space.Families
	list := []operator.Binding{
		operator.ListFamilies.By(show(f.Show)),
		operator.ListFamilyStates.By(show(f.All)).Reading(),
		operator.ListFamilyUses.By(query(f.Uses)).Reading(),
		operator.DescribeFamily.By(func(ctx context.Context, r operator.FamilyName) (operator.FamilyInfo, error) {
			return f.Info(ctx, r.Family)
		}).Reading(),
		operator.InstallFamily.By(decide(f, func(_ context.Context, r operator.InstallRequest) (operator.Family, error) {
			return f.InstallFrom(family.Installation(r))
		})).Changing(),
		operator.UpdateFamily.By(decide(f, f.UpdateFrom)).Changing(),
		operator.RollBackFamily.By(decide(f, named(f.Rollback))).Changing(),
		operator.RemoveFamily.By(named(f.Remove)).Changing(),
		operator.GrantFamily.By(decide(f, at(f.Grant))).Changing(),
		operator.ProposeChange.By(at(f.Propose)).Reading(),
		operator.TrustKeys.By(at(f.Trust)).Changing(),
		operator.GetPosture.By(show(a.posture)).Reading(),
		operator.SetPosture.By(at(a.setPosture)).Changing(),
		operator.LockDirectory.By(query(func(context.Context) (operator.LockChange, error) { return f.LockDown() })).Changing(),
		operator.ConfigureFamily.By(func(ctx context.Context, r operator.ConfigureRequest) (operator.FamilyConfig, error) {
			return f.Configure(ctx, r.Family, r.Values)
		}).Changing(),
		operator.ListFamilyJobs.By(query(a.listJobs)).Reading(),
		operator.RunFamilyJob.By(command(func(ctx context.Context, r operator.FamilyJobName) error { return f.RunJob(ctx, r.Family, r.Job) })),
		operator.CancelFamilyJob.By(command(func(ctx context.Context, r operator.FamilyJobID) error { return f.CancelJob(ctx, r.ID) })),
		operator.RetryFamilyJob.By(command(func(ctx context.Context, r operator.FamilyJobID) error { return f.RetryJob(ctx, r.ID) })),
		operator.TryFamily.By(f.Rehearse),
		operator.GetFamilyStats.By(named(f.Stats)).Reading(),
		operator.FollowFamily.By(func(ctx context.Context, r operator.FollowRequest, w io.Writer) error {
			return f.Follow(ctx, r, lineTo(w))
		}).Reading(),
		operator.ListEndpoints.By(show(f.Endpoints)).Reading(),
		operator.SetEndpoint.By(command(func(_ context.Context, r operator.EndpointRequest) error { return f.SetEndpoint(r.Name, r.Endpoint) })).Changing(),
		operator.ListRoots.By(show(f.Roots)).Reading(),
		operator.SetRoot.By(command(func(_ context.Context, r operator.RootRequest) error { return f.SetRoot(r.Name, r.Root) })).Changing(),
		operator.CallTool.By(a.callTool),
		operator.ListSettings.By(f.Settings).Reading(),
		operator.ChangeSettings.By(f.ChangeSettings),
		operator.GetSettingHistory.By(f.SettingHistory).Reading(),
		operator.RollBackSetting.By(f.RollBackSetting),
		operator.UndoSettings.By(f.UndoSettings),
	}
	for i, b := range list {
		list[i] = b.If(a.withFamilies)
	}
	return list
}

// decide answers a decision about a family once its hooks are asked about stores.
func decide[In any](f *family.Families, do func(context.Context, In) (operator.Family, error)) func(context.Context, In) (operator.Family, error) {
	return func(ctx context.Context, r In) (operator.Family, error) {
		d, err := do(ctx, r)
		if err != nil || d.Manifest == nil { // nil: it is gone
			return d, err
		}
		return d, f.AwaitHooks(ctx, d.Manifest.Name)
	}
}

// show carries out an act that needs nothing and cannot fail.
func show[Out any](do func() Out) func(context.Context, operator.None) (Out, error) {
	return func(context.Context, operator.None) (Out, error) { return do(), nil }
}

// named carries out an act on a family by its name.
func named[Out any](do func(string) (Out, error)) func(context.Context, operator.FamilyName) (Out, error) {
	return func(_ context.Context, r operator.FamilyName) (Out, error) { return do(r.Family) }
}

// at carries out an act at once.
func at[In, Out any](do func(In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(_ context.Context, r In) (Out, error) { return do(r) }
}

func (a Acts) listJobs(ctx context.Context) ([]operator.FamilyJob, error) {
	list, err := a.Space.Families.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	next, err := a.Space.Families.NextJobs(ctx)
	return append(list, next...), err
}

// lineTo writes values to w, each in a line of JSON that the reader gets at once.
func lineTo(w io.Writer) func(operator.FamilyEvent) error {
	lines := json.NewEncoder(w)
	return func(e operator.FamilyEvent) error {
		if err := lines.Encode(e); err != nil {
			return err
		}
		flush(w)
		return nil
	}
}

func (a Acts) callTool(ctx context.Context, r operator.ToolCall) (operator.ToolAnswer, error) {
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
