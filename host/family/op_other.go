package family

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/search"
)

func configGet(w *work, ctx context.Context, _ struct{}) (any, error) {
	config, err := w.family.config(ctx, w.stage)
	return map[string]any{"config": config}, err
}

type configSetRequest struct {
	Values map[string]json.RawMessage `json:"values"`
}

func configSet(w *work, ctx context.Context, r configSetRequest) (any, error) {
	config, err := w.family.configure(ctx, w.stage, r.Values)
	return map[string]any{"config": config}, err
}

func callerGet(w *work, _ context.Context, _ struct{}) (any, error) {
	type capability struct {
		Name  abi.Capability `json:"name"`
		Scope []string       `json:"scope,omitempty"`
	}
	capabilities := []capability{}
	for _, g := range w.powers.List() {
		capabilities = append(capabilities, capability{g.Name, g.Scope})
	}
	return map[string]any{"caller": w.caller.Agent, "namespace": w.namespace, "branch": w.stage.Branch(), "read_only": w.caller.ReadOnly,
		"capabilities": capabilities, "proposes": !w.powers.Has(abi.CanMemoryWrite) && w.powers.Has(abi.CanMemoryPropose)}, nil
}

type progressRequest struct {
	Done    float64 `json:"done"`
	Total   float64 `json:"total"`
	Message string  `json:"message"`
}

// longestProgress is how many bytes a message about progress may have.
const longestProgress = 1000

func callerProgress(w *work, _ context.Context, r progressRequest) (any, error) {
	if len(r.Message) > longestProgress {
		return nil, invalid("the message has %d bytes: at most %d are allowed", len(r.Message), longestProgress)
	}
	if w.progress != nil {
		w.progress(r.Done, r.Total, r.Message)
	}
	return struct{}{}, nil
}

type textsRequest struct {
	Texts   []string `json:"texts"`
	Purpose string   `json:"purpose"`
}

func (r textsRequest) check() error {
	if most := abi.DefaultLimits().EmbedTexts; len(r.Texts) == 0 || int64(len(r.Texts)) > most {
		return invalid("%d texts: give from 1 to %d", len(r.Texts), most)
	}
	return nil
}

func textAnalyze(_ *work, _ context.Context, r textsRequest) (any, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	terms := make([][]string, len(r.Texts))
	for i, text := range r.Texts {
		if terms[i] = search.Terms(text); terms[i] == nil {
			terms[i] = []string{}
		}
	}
	return map[string]any{"terms": terms}, nil
}

type textCountRequest struct {
	Terms      []string `json:"terms"`
	Namespaces []string `json:"namespaces"`
	Collection string   `json:"collection"`
}

func textCount(w *work, ctx context.Context, r textCountRequest) (any, error) {
	if len(r.Terms) > 256 {
		return nil, invalid("%d terms: at most 256 are allowed", len(r.Terms))
	}
	c, namespaces, err := w.counted(r)
	if err != nil {
		return nil, err
	}
	documents, counts, err := w.stage.CountTerms(ctx, c, namespaces, r.Terms)
	return map[string]any{"documents": documents, "counts": counts}, err
}

// counted is what terms are counted in.
func (w *work) counted(r textCountRequest) (memory.Collection, []string, error) {
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

func embedTexts(w *work, ctx context.Context, r textsRequest) (any, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if w.families.o.Embedder == nil {
		return nil, &abi.Error{Code: abi.CodeUnavailable, Message: "no embedder is configured: the operator can, with alcove embedder set"}
	}
	model, vectors, err := w.families.o.Embedder.Embed(ctx, r.Texts, r.Purpose)
	if err != nil {
		return nil, err
	}
	dimensions := 0
	if len(vectors) > 0 {
		dimensions = len(vectors[0])
	}
	return map[string]any{"model": model, "dimensions": dimensions, "vectors": vectors}, nil
}

func toolsList(w *work, _ context.Context, _ struct{}) (any, error) {
	type tool struct {
		Name        string          `json:"name"`
		Family      string          `json:"family"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	}
	tools := []tool{}
	w.families.mu.RLock()
	defer w.families.mu.RUnlock()
	for name, x := range w.families.tools {
		if x == w.family || !w.powers.Allows(abi.CanToolsCall, name) {
			continue
		}
		for _, t := range w.families.toolsOf(x) {
			if t.Name == name {
				tools = append(tools, tool{t.Name, x.name, t.Description, t.InputSchema})
			}
		}
	}
	slices.SortFunc(tools, func(a, b tool) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return map[string]any{"tools": tools}, nil
}

type toolsCallRequest struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// toolsCall calls a tool of another family inside of the same stage, with what both that family and this one's caller may.
func toolsCall(w *work, ctx context.Context, r toolsCallRequest) (any, error) {
	if err := w.powers.Check(abi.CanToolsCall, r.Tool); err != nil {
		return nil, err
	}
	x, t, err := w.families.tool(r.Tool)
	if err != nil {
		return nil, err
	}
	if w.caller.ReadOnly && !onlyReads(t) {
		return nil, &abi.Error{Code: abi.CodeDenied, Message: r.Tool + " may write, and whoever called may only read"}
	}
	if len(r.Arguments) == 0 {
		r.Arguments = json.RawMessage("{}")
	}
	if err := x.checkArguments(t, r.Arguments); err != nil {
		return nil, err
	}
	m, release, err := w.families.take(ctx, x)
	if err != nil {
		return nil, err
	}
	defer release()
	inner, before := w.within(x, t), w.stage.Save()
	output, err := inner.callTool(ctx, m, t, r.Arguments)
	if err != nil {
		w.stage.Restore(before) // of what failed nothing is kept
		return nil, err
	}
	w.proposes, w.later, w.queued = w.proposes || inner.proposes, append(w.later, inner.later...), append(w.queued, inner.queued...)
	return map[string]any{"result": output}, nil
}
