package family

import (
	"context"
	"encoding/json"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

type logAppendRequest struct {
	Event     string          `json:"event"`
	Data      json.RawMessage `json:"data"`
	Namespace string          `json:"namespace"`
}

func logAppend(w *work, _ context.Context, r logAppendRequest) (any, error) {
	namespace := w.in(r.Namespace)
	if err := w.mayChange(abi.CanLogAppend, namespace); err != nil {
		return nil, err
	}
	return struct{}{}, w.stage.Log(namespace, r.Event, r.Data)
}

type logReadRequest struct {
	Namespace string `json:"namespace"`
	From      uint64 `json:"from"`
	Limit     int    `json:"limit"`
}

func logRead(w *work, ctx context.Context, r logReadRequest) (any, error) {
	namespace := w.in(r.Namespace)
	if err := w.powers.Check(abi.CanLogRead, namespace); err != nil {
		return nil, err
	}
	limit, err := page(r.Limit)
	if err != nil {
		return nil, err
	}
	type event struct {
		Namespace string          `json:"namespace"`
		Sequence  uint64          `json:"sequence"`
		Event     string          `json:"event"`
		Data      json.RawMessage `json:"data"`
		Agent     string          `json:"agent,omitempty"`
		Timestamp string          `json:"timestamp"`
	}
	events := []event{}
	if w.stage.Version() == 0 {
		return map[string]any{"events": events}, nil
	}
	found, err := w.families.o.Space.Events(ctx, memory.Place{Branch: w.stage.Branch(), Namespace: namespace}, memory.AsOf{Version: w.stage.Version()}, r.From, limit)
	for _, e := range found {
		events = append(events, event{e.Namespace, e.Sequence, e.Event, e.Data, e.Agent, stampOf(e.Timestamp)})
	}
	return map[string]any{"events": events}, err
}

type feedReadRequest struct {
	After      uint64   `json:"after"`
	Namespaces []string `json:"namespaces"`
	Limit      int      `json:"limit"`
}

type noticeJSON struct {
	Kind      memory.Kind     `json:"kind"`
	Namespace string          `json:"namespace"`
	Key       string          `json:"key"`
	Watermark uint64          `json:"watermark"`
	Timestamp string          `json:"timestamp"`
	Payload   json.RawMessage `json:"payload,omitempty"`
}

func feedRead(w *work, ctx context.Context, r feedReadRequest) (any, error) {
	namespaces, err := w.among(abi.CanFeedRead, r.Namespaces)
	if err != nil {
		return nil, err
	}
	limit, err := page(r.Limit)
	if err != nil {
		return nil, err
	}
	feed, err := w.families.o.Space.Feed(ctx, w.stage.Branch(), namespaces, r.After, limit)
	if err != nil {
		return nil, err
	}
	notices := []noticeJSON{}
	for _, n := range feed.Notices {
		notices = append(notices, noticeJSON{n.Kind, n.Namespace, n.Key, n.Watermark, stampOf(n.Timestamp), n.Payload})
	}
	return map[string]any{"notices": notices, "watermark": feed.Watermark, "more": feed.More}, nil
}

type feedEmitRequest struct {
	Kind      string          `json:"kind"`
	Payload   json.RawMessage `json:"payload"`
	Namespace string          `json:"namespace"`
}

func feedEmit(w *work, ctx context.Context, r feedEmitRequest) (any, error) {
	namespace := w.in(r.Namespace)
	if err := w.powers.Check(abi.CanFeedEmit, namespace); err != nil {
		return nil, err
	}
	return struct{}{}, w.stage.Emit(ctx, namespace, memory.Kind(w.family.name+"."+r.Kind), r.Payload)
}
