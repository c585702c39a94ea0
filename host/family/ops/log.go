package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/feed"
)

func logAppend(call *Call, ctx context.Context, r abi.LogAppendRequest) (out abi.LogAppendResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.mayChange(abi.CanLogAppend, namespace); err != nil {
		return out, err
	}
	if len(r.Data) == 0 {
		r.Data = json.RawMessage("null") // as in abi.json
	}
	if !r.Sequence {
		return out, call.Stage.Log(namespace, r.Event, r.Data)
	}
	out.Sequence, err = call.Stage.LogNumbered(ctx, namespace, r.Event, r.Data)
	return out, err
}

func logVerify(call *Call, ctx context.Context, r abi.LogVerifyRequest) (out abi.LogVerifyResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.Powers.Check(abi.CanLogRead, namespace); err != nil {
		return out, err
	}
	if call.Stage.Version() == 0 {
		return abi.LogVerifyResponse{Verified: true}, nil
	}
	at := memory.AsOf{Version: call.Stage.Version()}
	found, err := call.space().CheckLog(ctx, memory.Location{Branch: call.Stage.Branch(), Namespace: namespace}, at, r.From, cmp.Or(r.Limit, 1000))
	if err != nil {
		return out, err
	}
	return abi.LogVerifyResponse{Verified: found.Broken == 0, Checked: found.Checked, Next: found.Next, BrokenAt: found.Broken, Fault: found.Fault, Hash: found.Hash}, nil
}

func logRead(call *Call, ctx context.Context, r abi.LogReadRequest) (out abi.LogReadResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.Powers.Check(abi.CanLogRead, namespace); err != nil {
		return out, err
	}
	out.Events = []abi.Event{}
	if call.Stage.Version() == 0 {
		return out, nil
	}
	at := memory.AsOf{Version: call.Stage.Version()}
	found, err := call.space().Events(ctx, memory.Location{Branch: call.Stage.Branch(), Namespace: namespace}, at, r.From, cmp.Or(r.Limit, defaultPage))
	for _, e := range found {
		out.Events = append(out.Events, abi.Event{Namespace: e.Namespace, Sequence: e.Sequence, Event: e.Event, Data: e.Data, Agent: e.Agent, Timestamp: memory.FormatTime(e.Timestamp)})
	}
	return out, err
}

func feedRead(call *Call, ctx context.Context, r abi.FeedReadRequest) (out abi.FeedReadResponse, err error) {
	namespaces, err := call.among(abi.CanFeedRead, r.Namespaces)
	if err != nil {
		return out, err
	}
	page, err := call.space().ReadFeed(ctx, feed.Query{Branch: call.Stage.Branch(), Namespaces: namespaces, Kinds: r.Kinds,
		Agents: r.Agents, After: r.After, Limit: cmp.Or(r.Limit, defaultPage)})
	if err != nil {
		return out, err
	}
	out = abi.FeedReadResponse{Notices: []abi.Notice{}, Watermark: page.Watermark, More: page.More}
	for _, n := range page.Notices {
		out.Notices = append(out.Notices, abi.Notice{Kind: string(n.Kind), Namespace: n.Namespace, Key: n.Key, Watermark: n.Watermark,
			Timestamp: memory.FormatTime(n.Timestamp), Payload: n.Payload, Agent: n.Agent, Family: n.Family})
	}
	if page.Expired && r.After > 0 {
		out.Missed = &abi.Missed{After: r.After, Oldest: page.Oldest,
			Message: fmt.Sprintf("the feed begins after watermark %d: notices between %d and that are gone; read what is stored now instead", page.Oldest, r.After)}
	}
	return out, nil
}

func feedEmit(call *Call, ctx context.Context, r abi.FeedEmitRequest) (out abi.FeedEmitResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.Powers.Check(abi.CanFeedEmit, namespace); err != nil {
		return out, err
	}
	return out, call.Stage.Emit(ctx, namespace, feed.Emission{
		Family: call.Manifest.Name, Kind: call.kind(r.Kind), Payload: r.Payload, To: r.Recipients, PerSpace: r.Per == "space",
	})
}

// kind converts the kind of a notice for others. The scope of feed.kind must name a bare one: * would be any.
func (call *Call) kind(name string) feed.Kind {
	if slices.Contains(call.Powers.Scope(abi.CanFeedKind), name) {
		return feed.Kind(name)
	}
	return feed.Kind(call.Manifest.Name + "." + name)
}
