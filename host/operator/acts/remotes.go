package acts

import (
	"context"
	"io"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
)

// Operator is the operator as a caller of the space.
func Operator() memory.Caller {
	return memory.Caller{Agent: operatorAgent, Operator: true, Rights: memory.FullRights()}
}

func (a Acts) remotes() []operator.Binding {
	return []operator.Binding{
		operator.ListRemotes.By(query(func(context.Context) ([]operator.Remote, error) { return a.Remotes.List() })).Reading(),
		operator.AddRemote.By(command(func(_ context.Context, r operator.Remote) error { return a.Remotes.Add(r) })).Changing(),
		operator.SetRemote.By(command(func(_ context.Context, r operator.RemoteChange) error { return a.Remotes.Set(r) })).Changing(),
		operator.RemoveRemote.By(command(func(_ context.Context, r operator.RemoteName) error { return a.Remotes.Remove(r.Name) })).Changing(),
		operator.GetRemoteStatus.By(a.Remotes.Status),
		operator.SyncRemote.By(a.Remotes.Sync),
		operator.WatchRemote.By(func(ctx context.Context, r operator.RemoteRequest, w io.Writer) error {
			return a.Remotes.Watch(ctx, r, w)
		}),
	}
}
