package alcovetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/alcove-memory/alcove/abi"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// host is what the family's calls reach.
type host Space

// Log keeps a line.
func (h *host) Log(line string) { h.Logged = append(h.Logged, line) }

// Call runs an operation, after a check of its request.
func (h *host) Call(op alcove.Op, request []byte) ([]byte, error) {
	h.Calls = append(h.Calls, op)
	serve, ok := operations()[op]
	if !ok {
		serve = unknown(op)
	}
	answer, err := serve(h, request, h.Ops[op])
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// operation decodes and checks a request, and serves it with instead, the test's own, unless that is nil.
type operation func(h *host, request []byte, instead func([]byte) (any, error)) (any, error)

// checked is a pointer to a request with bounds.
type checked[In any] interface {
	*In
	Check() error
}

func serve[In any, P checked[In]](run func(*host, In) (any, error)) operation {
	return func(h *host, request []byte, instead func([]byte) (any, error)) (any, error) {
		var in In
		if err := abi.DecodeRequest(request, P(&in)); err != nil {
			return nil, asError(err)
		}
		if instead != nil {
			return instead(request)
		}
		return run(h, in)
	}
}

// absent is an operation that only Space.Ops can serve.
func absent[In any, P checked[In]](op alcove.Op) operation {
	return serve[In, P](func(*host, In) (any, error) {
		return nil, alcove.Errorf(alcove.Unavailable, "%s is not part of this test: give it with Space.Ops", op)
	})
}

// unknown is an operation that only Space.Ops can serve and that no host has.
func unknown(op alcove.Op) operation {
	return func(_ *host, request []byte, instead func([]byte) (any, error)) (any, error) {
		if instead != nil {
			return instead(request)
		}
		return nil, alcove.Errorf(alcove.NotFound, "there is no operation %s", op)
	}
}

// asError converts an error of package abi, for guests see those of package alcove only.
func asError(err error) error {
	var e *abi.Error
	if !errors.As(err, &e) {
		return err
	}
	return &alcove.Error{Code: alcove.Code(e.Code), Message: e.Message, Retryable: e.Retryable, Details: e.Details}
}

func operations() map[alcove.Op]operation {
	return map[alcove.Op]operation{
		alcove.OpMemoryGet:        serve((*host).get),
		alcove.OpMemoryList:       serve((*host).list),
		alcove.OpMemoryNamespaces: serve((*host).namespaces),
		alcove.OpMemoryHistory:    serve((*host).versions),
		alcove.OpMemorySearch:     serve((*host).search),
		alcove.OpMemoryPut:        serve((*host).put),
		alcove.OpMemoryPatch:      serve((*host).patch),
		alcove.OpMemoryDelete:     serve((*host).delete),
		alcove.OpMemoryTouch:      serve((*host).touch),
		alcove.OpRecordGet:        serve((*host).getRecords),
		alcove.OpRecordPut:        serve((*host).putRecords),
		alcove.OpRecordDelete:     serve((*host).deleteRecords),
		alcove.OpRecordList:       serve((*host).listRecords),
		alcove.OpRecordSearch:     absent[abi.RecordSearchRequest](alcove.OpRecordSearch),
		alcove.OpRecordAppend:     serve((*host).appendRecords),
		alcove.OpLogAppend:        serve((*host).appendLog),
		alcove.OpLogRead:          absent[abi.LogReadRequest](alcove.OpLogRead),
		alcove.OpFeedRead:         absent[abi.FeedReadRequest](alcove.OpFeedRead),
		alcove.OpFeedEmit:         serve((*host).emit),
		alcove.OpBranchList:       absent[abi.BranchListRequest](alcove.OpBranchList),
		alcove.OpBranchDiff:       absent[abi.BranchDiffRequest](alcove.OpBranchDiff),
		alcove.OpBranchFork:       absent[abi.BranchForkRequest](alcove.OpBranchFork),
		alcove.OpBranchMerge:      absent[abi.BranchMergeRequest](alcove.OpBranchMerge),
		alcove.OpBranchDelete:     absent[abi.BranchDeleteRequest](alcove.OpBranchDelete),
		alcove.OpLinkList:         serve((*host).links),
		alcove.OpLinkAdd:          serve((*host).link),
		alcove.OpLinkRemove:       serve((*host).unlink),
		alcove.OpConfigGet:        serve((*host).settings),
		alcove.OpConfigSet:        serve((*host).setConfig),
		alcove.OpCallerGet:        serve((*host).caller),
		alcove.OpCallerProgress:   serve((*host).progress),
		alcove.OpJobEnqueue:       serve((*host).enqueue),
		alcove.OpJobStatus:        absent[abi.JobStatusRequest](alcove.OpJobStatus),
		alcove.OpJobCancel:        absent[abi.JobCancelRequest](alcove.OpJobCancel),
		alcove.OpTextAnalyze:      serve((*host).analyze),
		alcove.OpTextCount:        serve((*host).count),
		alcove.OpEmbedTexts:       absent[abi.EmbedTextsRequest](alcove.OpEmbedTexts),
		alcove.OpLLMComplete:      absent[abi.LLMCompleteRequest](alcove.OpLLMComplete),
		alcove.OpHTTPFetch:        absent[abi.HTTPFetchRequest](alcove.OpHTTPFetch),
		alcove.OpToolsList:        absent[abi.ToolsListRequest](alcove.OpToolsList),
		alcove.OpToolsCall:        absent[abi.ToolsCallRequest](alcove.OpToolsCall),
		alcove.OpToolsPublish:     absent[abi.ToolsPublishRequest](alcove.OpToolsPublish),
		alcove.OpToolsWithdraw:    absent[abi.ToolsWithdrawRequest](alcove.OpToolsWithdraw),
	}
}

func (h *host) namespace(name string) string {
	if name == "" {
		return h.Namespace
	}
	return name
}

// among reports whether a request that lists namespaces covers one. An empty list is the space's own namespace, a star all.
func (h *host) among(namespaces []string, name string) bool {
	if len(namespaces) == 0 {
		return name == h.Namespace
	}
	return slices.Contains(namespaces, name) || slices.Contains(namespaces, "*")
}

// names are the characters of names.
var names = regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)

func (h *host) emit(in abi.FeedEmitRequest) (any, error) {
	if kind := h.manifest.Name + "." + in.Kind; !names.MatchString(kind) {
		return nil, alcove.Errorf(alcove.InvalidArgument, "kind name %q may hold only letters, digits and . _ / -", kind)
	}
	return struct{}{}, nil
}

func (h *host) settings(abi.ConfigGetRequest) (any, error) {
	return map[string]any{"config": h.Config}, nil
}

func (h *host) setConfig(in abi.ConfigSetRequest) (any, error) {
	for key, raw := range in.Values {
		i := slices.IndexFunc(h.manifest.Config, func(s abi.Setting) bool { return s.Key == key })
		if i < 0 {
			return nil, alcove.Errorf(alcove.NotFound, "family %s has no configuration key %q", h.manifest.Name, key)
		}
		if h.Config[key] = value(raw); h.Config[key] == nil {
			h.Config[key] = value(h.manifest.Config[i].Default)
		}
	}
	return h.settings(abi.ConfigGetRequest{})
}

func (h *host) caller(abi.CallerGetRequest) (any, error) {
	out := alcove.CallerGetResponse{Caller: h.Caller, Namespace: h.Namespace, Branch: "default", Capabilities: []alcove.Power{}}
	for _, c := range h.manifest.Capabilities {
		out.Capabilities = append(out.Capabilities, alcove.Power{Name: string(c.Name), Scope: c.Scope})
	}
	return out, nil
}

func (h *host) progress(in abi.CallerProgressRequest) (any, error) {
	h.Progress = append(h.Progress, fmt.Sprintf("%s/%s %s", plain(in.Done), plain(in.Total), in.Message))
	return struct{}{}, nil
}

// plain is a number without an exponent.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func (h *host) enqueue(in abi.JobEnqueueRequest) (any, error) {
	if !slices.ContainsFunc(h.manifest.Hooks.Jobs, func(j abi.Job) bool { return j.Name == in.Job }) {
		return nil, alcove.Errorf(alcove.InvalidArgument, "the manifest declares no job %q", in.Job)
	}
	h.queued++
	id := fmt.Sprintf("%s-r%d", h.Now.UTC().Format("20060102150405.000"), h.queued)
	h.Queue = append(h.Queue, Job{id, in.Job, in.Payload})
	return alcove.JobEnqueueResponse{ID: id}, nil
}

func (h *host) appendLog(in abi.LogAppendRequest) (any, error) {
	if in.Event == "" {
		return nil, alcove.Errorf(alcove.InvalidArgument, "event is empty: say what kind of event happened")
	}
	h.Events = append(h.Events, alcove.Event{Namespace: h.namespace(in.Namespace), Sequence: uint64(len(h.Events) + 1), Event: in.Event, Data: alcove.Raw(in.Data)})
	return struct{}{}, nil
}
