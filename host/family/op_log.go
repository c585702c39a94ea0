package family

import (
	"cmp"
	"context"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

func logAppend(w *work, _ context.Context, r abi.LogAppendRequest) (out abi.LogAppendResponse, err error) {
	namespace := w.in(r.Namespace)
	if err := w.mayChange(abi.CanLogAppend, namespace); err != nil {
		return out, err
	}
	return out, w.stage.Log(namespace, r.Event, r.Data)
}

func logRead(w *work, ctx context.Context, r abi.LogReadRequest) (out abi.LogReadResponse, err error) {
	namespace := w.in(r.Namespace)
	if err := w.powers.Check(abi.CanLogRead, namespace); err != nil {
		return out, err
	}
	out.Events = []abi.Event{}
	if w.stage.Version() == 0 {
		return out, nil
	}
	at := memory.AsOf{Version: w.stage.Version()}
	found, err := w.families.o.Space.Events(ctx, memory.Place{Branch: w.stage.Branch(), Namespace: namespace}, at, r.From, cmp.Or(r.Limit, defaultPage))
	for _, e := range found {
		out.Events = append(out.Events, abi.Event{Namespace: e.Namespace, Sequence: e.Sequence, Event: e.Event, Data: e.Data, Agent: e.Agent, Timestamp: stampOf(e.Timestamp)})
	}
	return out, err
}

func feedRead(w *work, ctx context.Context, r abi.FeedReadRequest) (out abi.FeedReadResponse, err error) {
	namespaces, err := w.among(abi.CanFeedRead, r.Namespaces)
	if err != nil {
		return out, err
	}
	feed, err := w.families.o.Space.Feed(ctx, w.stage.Branch(), namespaces, r.After, cmp.Or(r.Limit, defaultPage))
	if err != nil {
		return out, err
	}
	out = abi.FeedReadResponse{Notices: []abi.Notice{}, Watermark: feed.Watermark, More: feed.More}
	for _, n := range feed.Notices {
		out.Notices = append(out.Notices, abi.Notice{Kind: string(n.Kind), Namespace: n.Namespace, Key: n.Key, Watermark: n.Watermark,
			Timestamp: stampOf(n.Timestamp), Payload: n.Payload})
	}
	return out, nil
}

func feedEmit(w *work, ctx context.Context, r abi.FeedEmitRequest) (out abi.FeedEmitResponse, err error) {
	namespace := w.in(r.Namespace)
	if err := w.powers.Check(abi.CanFeedEmit, namespace); err != nil {
		return out, err
	}
	return out, w.stage.Emit(ctx, namespace, memory.Kind(w.family.name+"."+r.Kind), r.Payload)
}
