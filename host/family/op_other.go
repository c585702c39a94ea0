package family

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/search"
)

func configGet(w *work, ctx context.Context, _ abi.ConfigGetRequest) (out abi.ConfigGetResponse, err error) {
	out.Config, err = w.family.config(ctx, w.stage)
	return out, err
}

func configSet(w *work, ctx context.Context, r abi.ConfigSetRequest) (out abi.ConfigSetResponse, err error) {
	out.Config, err = w.family.configure(ctx, w.stage, r.Values)
	return out, err
}

func callerGet(w *work, _ context.Context, _ abi.CallerGetRequest) (abi.CallerGetResponse, error) {
	out := abi.CallerGetResponse{Caller: w.caller.Agent, Namespace: w.namespace, Branch: w.stage.Branch(), Capabilities: []abi.Power{},
		ReadOnly: w.caller.Rights.WritesNothing(), Proposes: !w.powers.Has(abi.CanMemoryWrite) && w.powers.Has(abi.CanMemoryPropose)}
	for _, g := range w.powers.List() {
		out.Capabilities = append(out.Capabilities, abi.Power{Name: string(g.Name), Scope: g.Scope})
	}
	return out, nil
}

// longestProgress is how many bytes a message about progress may have.
const longestProgress = 1000

func callerProgress(w *work, _ context.Context, r abi.CallerProgressRequest) (out abi.CallerProgressResponse, err error) {
	if len(r.Message) > longestProgress {
		return out, invalid("the message has %d bytes: at most %d are allowed", len(r.Message), longestProgress)
	}
	if w.progress != nil {
		w.progress(r.Done, r.Total, r.Message)
	}
	return out, nil
}

func textAnalyze(_ *work, _ context.Context, r abi.TextAnalyzeRequest) (abi.TextAnalyzeResponse, error) {
	out := abi.TextAnalyzeResponse{Terms: make([][]string, len(r.Texts))}
	for i, text := range r.Texts {
		if out.Terms[i] = search.Terms(text); out.Terms[i] == nil {
			out.Terms[i] = []string{}
		}
	}
	return out, nil
}

func textCount(w *work, ctx context.Context, r abi.TextCountRequest) (out abi.TextCountResponse, err error) {
	c, namespaces, err := w.counted(r)
	if err != nil {
		return out, err
	}
	out.Documents, out.Counts, err = w.stage.CountTerms(ctx, c, namespaces, r.Terms)
	return out, err
}

// counted is what terms are counted in.
func (w *work) counted(r abi.TextCountRequest) (memory.Collection, []string, error) {
	if r.Collection == "" || r.Collection == "memory" {
		namespaces, err := w.among(abi.CanMemoryRead, r.Namespaces)
		return memory.Collection{Name: "memory"}, namespaces, err
	}
	c, err := w.collection(r.Collection)
	if err != nil {
		return c, nil, err
	}
	namespaces, err := w.recordNamespaces(r.Namespaces)
	return c, namespaces, err
}

func embedTexts(w *work, ctx context.Context, r abi.EmbedTextsRequest) (out abi.EmbedTextsResponse, err error) {
	if w.families.o.Embedder == nil {
		return out, &abi.Error{Code: abi.CodeUnavailable, Message: "no embedder is configured: the operator can, with alcove embedder set"}
	}
	out.Model, out.Vectors, err = w.families.o.Embedder.Embed(ctx, r.Texts, r.Purpose)
	if len(out.Vectors) > 0 {
		out.Dimensions = len(out.Vectors[0])
	}
	return out, err
}

func toolsList(w *work, _ context.Context, _ abi.ToolsListRequest) (abi.ToolsListResponse, error) {
	out := abi.ToolsListResponse{Tools: []abi.ForeignTool{}}
	w.families.mu.RLock()
	defer w.families.mu.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(w.families.tools)) {
		x := w.families.tools[name]
		if x == w.family || !w.powers.Allows(abi.CanToolsCall, name) {
			continue
		}
		for _, t := range w.families.toolsOf(x) {
			if t.Name == name {
				out.Tools = append(out.Tools, abi.ForeignTool{Name: t.Name, Family: x.name, Description: t.Description, InputSchema: t.InputSchema})
			}
		}
	}
	return out, nil
}

// toolsCall calls a tool of another family inside of the same stage, with what both that family and this one's caller may.
func toolsCall(w *work, ctx context.Context, r abi.ToolsCallRequest) (out abi.ToolsCallResponse, err error) {
	if err := w.powers.Check(abi.CanToolsCall, r.Tool); err != nil {
		return out, err
	}
	x, t, err := w.families.tool(r.Tool)
	if err != nil {
		return out, err
	}
	if w.caller.Rights.WritesNothing() && !onlyReads(t) {
		return out, &abi.Error{Code: abi.CodeDenied, Message: r.Tool + " may write, and the caller may only read"}
	}
	if len(r.Arguments) == 0 {
		r.Arguments = json.RawMessage("{}")
	}
	if err := x.checkArguments(t, r.Arguments); err != nil {
		return out, err
	}
	m, release, err := w.families.take(ctx, x)
	if err != nil {
		return out, err
	}
	defer release()
	inner, before := w.within(x, t), w.stage.Save()
	output, err := inner.callTool(ctx, m, t, r.Arguments)
	if err != nil {
		w.stage.Restore(before) // of what failed nothing is kept
		return out, err
	}
	w.proposes, w.later, w.queued = w.proposes || inner.proposes, append(w.later, inner.later...), append(w.queued, inner.queued...)
	return abi.ToolsCallResponse{Result: output}, nil
}
