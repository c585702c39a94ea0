package ops

import (
	"cmp"
	"context"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

func logAppend(call *Call, _ context.Context, r abi.LogAppendRequest) (out abi.LogAppendResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.mayChange(abi.CanLogAppend, namespace); err != nil {
		return out, err
	}
	return out, call.Stage.Log(namespace, r.Event, r.Data)
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
	feed, err := call.space().Feed(ctx, call.Stage.Branch(), namespaces, r.After, cmp.Or(r.Limit, defaultPage))
	if err != nil {
		return out, err
	}
	out = abi.FeedReadResponse{Notices: []abi.Notice{}, Watermark: feed.Watermark, More: feed.More}
	for _, n := range feed.Notices {
		out.Notices = append(out.Notices, abi.Notice{Kind: string(n.Kind), Namespace: n.Namespace, Key: n.Key, Watermark: n.Watermark,
			Timestamp: memory.FormatTime(n.Timestamp), Payload: n.Payload})
	}
	return out, nil
}

func feedEmit(call *Call, ctx context.Context, r abi.FeedEmitRequest) (out abi.FeedEmitResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.Powers.Check(abi.CanFeedEmit, namespace); err != nil {
		return out, err
	}
	return out, call.Stage.Emit(ctx, namespace, memory.Kind(call.Manifest.Name+"."+r.Kind), r.Payload)
}
