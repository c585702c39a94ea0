package alcove

import "encoding/json"

// SetConfig stages a change of the family's own configuration: nil goes back to the default.
func (c *Call) SetConfig(values map[string]any) error {
	return c.Ask(OpConfigSet, map[string]any{"values": values}, nil)
}

// Power is a capability that this call has.
type Power struct {
	Name  string   `json:"name"`
	Scope []string `json:"scope"`
}

// Rights are who asks, and what this call may do.
type Rights struct {
	Caller       string  `json:"caller"`
	Namespace    string  `json:"namespace"`
	Branch       string  `json:"branch"`
	Capabilities []Power `json:"capabilities"`
	ReadOnly     bool    `json:"read_only"`
	Proposes     bool    `json:"proposes"` // what is staged lands on a branch of proposals
}

// Can says whether the call has a capability, whatever its scope.
func (r Rights) Can(capability string) bool {
	for _, p := range r.Capabilities {
		if p.Name == capability {
			return true
		}
	}
	return false
}

// Rights gives the rights of this call.
func (c *Call) Rights() (Rights, error) { return ask[Rights](c, OpCallerGet, struct{}{}) }

// Progress says how far the call, or the job, has come. A total of 0 is unknown.
func (c *Call) Progress(done, total int, message string) error {
	return c.Ask(OpCallerProgress, struct {
		Done    int    `json:"done"`
		Total   int    `json:"total,omitempty"`
		Message string `json:"message,omitempty"`
	}{done, total, message}, nil)
}

// Enqueue queues a job of the family's own, after some seconds, and gives its id.
func (c *Call) Enqueue(job string, payload any, after int) (string, error) {
	out, err := ask[struct {
		ID string `json:"id"`
	}](c, OpJobEnqueue, struct {
		Job     string `json:"job"`
		Payload any    `json:"payload,omitempty"`
		After   int    `json:"after_s,omitempty"`
	}{job, payload, after})
	return out.ID, err
}

// JobState is the state of a job: queued, running, done, failed or cancelled.
type JobState struct {
	ID       string          `json:"id"`
	Job      string          `json:"job"`
	State    string          `json:"state"`
	Attempts int             `json:"attempts"`
	Progress json.RawMessage `json:"progress"`
	Error    json.RawMessage `json:"error"`
	Result   json.RawMessage `json:"result"`
	Proposal string          `json:"proposal"` // the branch that has what it proposes
}

// JobStatus gives the state of a job.
func (c *Call) JobStatus(id string) (JobState, error) {
	return ask[JobState](c, OpJobStatus, map[string]string{"id": id})
}

// CancelJob cancels a job, and says whether there was something to cancel.
func (c *Call) CancelJob(id string) (bool, error) {
	out, err := ask[struct {
		Cancelled bool `json:"cancelled"`
	}](c, OpJobCancel, map[string]string{"id": id})
	return out.Cancelled, err
}

// Analyze gives the terms of texts, as search sees them. At most 256 texts.
func (c *Call) Analyze(texts ...string) ([][]string, error) {
	out, err := ask[struct {
		Terms [][]string `json:"terms"`
	}](c, OpTextAnalyze, map[string][]string{"texts": texts})
	return out.Terms, err
}

// Counts say in how many memories terms are.
type Counts struct {
	Documents int   `json:"documents"` // all there are
	Counts    []int `json:"counts"`    // for each term
}

// Count counts the memories that hold each of some terms.
func (c *Call) Count(terms []string, namespaces ...string) (Counts, error) {
	return ask[Counts](c, OpTextCount, struct {
		Terms      []string `json:"terms"`
		Namespaces []string `json:"namespaces,omitempty"`
	}{terms, namespaces})
}

// Vectors are vectors of texts.
type Vectors struct {
	Model      string      `json:"model"`
	Dimensions int         `json:"dimensions"`
	Vectors    [][]float32 `json:"vectors"`
}

// Embed gives vectors of texts; the purpose is document or query.
func (c *Call) Embed(purpose string, texts ...string) (Vectors, error) {
	return ask[Vectors](c, OpEmbedTexts, struct {
		Texts   []string `json:"texts"`
		Purpose string   `json:"purpose,omitempty"`
	}{texts, purpose})
}

// Prompt asks for a completion by a language model.
type Prompt struct {
	Prompt      string  `json:"prompt"`
	System      string  `json:"system,omitempty"`
	Endpoint    string  `json:"endpoint,omitempty"`
	MaxTokens   int     `json:"max_tokens,omitempty"`
	Temperature float64 `json:"temperature,omitempty"`
	JSON        bool    `json:"json,omitempty"`
}

// Completion is what a model answered.
type Completion struct {
	Text      string `json:"text"`
	Model     string `json:"model"`
	TokensIn  int    `json:"tokens_in"`
	TokensOut int    `json:"tokens_out"`
}

// Complete asks a language model. Where none is configured, the code of the error is Unavailable.
func (c *Call) Complete(p Prompt) (Completion, error) { return ask[Completion](c, OpLLMComplete, p) }

// Fetch is a request to an endpoint that the operator named.
type Fetch struct {
	Endpoint string            `json:"endpoint"`
	Method   string            `json:"method,omitempty"`
	Path     string            `json:"path,omitempty"`
	Query    map[string]string `json:"query,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Body     string            `json:"body,omitempty"`
}

// Fetched is what an endpoint answered.
type Fetched struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// Fetch asks an endpoint.
func (c *Call) Fetch(f Fetch) (Fetched, error) { return ask[Fetched](c, OpHTTPFetch, f) }

// ForeignTool is a tool of another family.
type ForeignTool struct {
	Name        string          `json:"name"`
	Family      string          `json:"family"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// Tools gives the tools of other families that may be called.
func (c *Call) Tools() ([]ForeignTool, error) {
	out, err := ask[struct {
		Tools []ForeignTool `json:"tools"`
	}](c, OpToolsList, struct{}{})
	return out.Tools, err
}

// CallTool calls another permitted tool inside of the same stage, and reads its result into result.
func (c *Call) CallTool(tool string, arguments, result any) error {
	return c.Ask(OpToolsCall, struct {
		Tool      string `json:"tool"`
		Arguments any    `json:"arguments"`
	}{tool, arguments}, &struct {
		Result any `json:"result"`
	}{result})
}

// Publish publishes a tool of the family's own, in the form of a manifest.
func (c *Call) Publish(tool json.RawMessage) error {
	return c.Ask(OpToolsPublish, map[string]json.RawMessage{"tool": tool}, nil)
}

// Withdraw withdraws a published tool.
func (c *Call) Withdraw(name string) error {
	return c.Ask(OpToolsWithdraw, map[string]string{"name": name}, nil)
}
