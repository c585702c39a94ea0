package alcovetest

import (
	"encoding/json"
	"fmt"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// host is what the family's calls reach.
type host Space

// Log keeps a line.
func (h *host) Log(line string) { h.Logged = append(h.Logged, line) }

// Call carries an operation out.
func (h *host) Call(op alcove.Op, request []byte) ([]byte, error) {
	h.Calls = append(h.Calls, op)
	run, ok := h.Ops[op]
	if !ok {
		run, ok = h.operations()[op]
	}
	if !ok {
		return nil, alcove.Errorf(alcove.Unavailable, "%s is not part of this test: give it with Space.Ops", op)
	}
	answer, err := run(request)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

func (h *host) operations() map[alcove.Op]func([]byte) (any, error) {
	return map[alcove.Op]func([]byte) (any, error){
		alcove.OpMemoryNamespaces: h.namespaces, alcove.OpMemoryGet: h.get, alcove.OpMemoryList: h.list, alcove.OpMemoryHistory: h.history, alcove.OpMemorySearch: h.search,
		alcove.OpMemoryPut: h.put, alcove.OpMemoryPatch: h.patch, alcove.OpMemoryDelete: h.delete, alcove.OpMemoryTouch: h.touch,
		alcove.OpRecordGet: h.getRecords, alcove.OpRecordPut: h.putRecords, alcove.OpRecordDelete: h.deleteRecords, alcove.OpRecordList: h.listRecords, alcove.OpRecordAppend: h.appendRecords,
		alcove.OpLogAppend: h.appendLog, alcove.OpFeedEmit: h.nothing,
		alcove.OpConfigGet: h.config, alcove.OpConfigSet: h.setConfig, alcove.OpCallerGet: h.caller, alcove.OpCallerProgress: h.progress,
		alcove.OpJobEnqueue: h.enqueue, alcove.OpTextAnalyze: h.analyze, alcove.OpTextCount: h.count,
		alcove.OpLinkList: h.links, alcove.OpLinkAdd: h.link, alcove.OpLinkRemove: h.unlink,
	}
}

// read reads a request; a form that does not fit is the family's mistake.
func read[T any](request []byte) (T, error) {
	var in T
	if err := json.Unmarshal(request, &in); err != nil {
		return in, alcove.Errorf(alcove.InvalidArgument, "read the request: %v", err)
	}
	return in, nil
}

func (h *host) namespace(name string) string {
	if name == "" {
		return h.Namespace
	}
	return name
}

func (h *host) nothing([]byte) (any, error) { return struct{}{}, nil }

func (h *host) config([]byte) (any, error) { return map[string]any{"config": h.Config}, nil }

func (h *host) setConfig(request []byte) (any, error) {
	in, err := read[struct{ Values map[string]any }](request)
	for key, value := range in.Values {
		if _, ok := h.Config[key]; !ok {
			return nil, alcove.Errorf(alcove.InvalidArgument, "the manifest has no setting %s", key)
		}
		h.Config[key] = value
	}
	return map[string]any{"config": h.Config}, err
}

func (h *host) caller([]byte) (any, error) {
	return alcove.Rights{Caller: h.Caller, Namespace: h.Namespace, Branch: "default"}, nil
}

func (h *host) progress(request []byte) (any, error) {
	in, err := read[struct {
		Done, Total int
		Message     string
	}](request)
	h.Progress = append(h.Progress, fmt.Sprintf("%d/%d %s", in.Done, in.Total, in.Message))
	return struct{}{}, err
}

func (h *host) enqueue(request []byte) (any, error) {
	in, err := read[struct {
		Job     string
		Payload json.RawMessage
	}](request)
	id := fmt.Sprintf("job-%d", len(h.Calls))
	h.Queue = append(h.Queue, Job{id, in.Job, in.Payload})
	return map[string]string{"id": id}, err
}

func (h *host) appendLog(request []byte) (any, error) {
	in, err := read[alcove.Event](request)
	in.Namespace, in.Sequence = h.namespace(in.Namespace), uint64(len(h.Events)+1)
	h.Events = append(h.Events, in)
	return struct{}{}, err
}
