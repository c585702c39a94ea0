package abi

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
)

//go:embed manifest.schema.json
var manifestSchema []byte

// ManifestSchema is the JSON Schema (draft 2020-12) of manifests.
func ManifestSchema() []byte { return append([]byte(nil), manifestSchema...) }

// Manifest is what a module says of itself, in the custom section named Section. It is static, so a module can be
// listed, checked and signed without running it.
type Manifest struct {
	Schema       string       `json:"$schema,omitempty"` // for editors: the address of ManifestSchema; packing drops it
	ABI          int          `json:"abi"`               // Version
	Name         string       `json:"name"`              // of the family
	Version      string       `json:"version"`           // of the family, as semver.org has it
	Description  string       `json:"description"`
	Docs         string       `json:"docs,omitempty"`
	Keywords     []string     `json:"keywords,omitempty"` // what users call what it does: a family is found by them, too
	Examples     []string     `json:"examples,omitempty"` // what users say when they want it; an intent that means the same finds the family
	License      string       `json:"license,omitempty"`
	Homepage     string       `json:"homepage,omitempty"`
	Deprecated   bool         `json:"deprecated,omitempty"` // lists have its tools only once it was loaded by name or called, and no intent finds it
	Tools        []Tool       `json:"tools,omitempty"`
	Resources    []Resource   `json:"resources,omitempty"`
	Prompts      []Prompt     `json:"prompts,omitempty"`
	Hooks        Hooks        `json:"hooks,omitzero"`
	Capabilities []Request    `json:"capabilities,omitempty"`
	Limits       Limits       `json:"limits,omitzero"`
	Config       []Setting    `json:"config,omitempty"`
	ConfigRules  []ConfigRule `json:"config_rules,omitempty"`
	Collections  []Collection `json:"collections,omitempty"`
}

// Tool is a tool of a family.
type Tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"` // what a model always sees: short
	Docs         string          `json:"docs,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"` // a result that does not fit is an error
	Annotations  Annotations     `json:"annotations,omitzero"`
	// Aliases are other names that the tool answers to. No list shows them.
	Aliases []Alias `json:"aliases,omitempty"`
	// Parameters are other spellings of parameters, each with the property of InputSchema that it stands for. Case, _ and -
	// make no difference.
	Parameters map[string]string `json:"parameters,omitempty"`
	// Mixed tools write or only read, call by call. Callers who may only read can call them, and with as_of they read the past; then they
	// have only powers that change nothing.
	Mixed bool `json:"mixed,omitempty"`
	// Content tools answer for people and models: the member content of the result is a list of Content.
	Content bool `json:"content,omitempty"`
	// Unlisted tools are in no list of tools: they answer for resources, prompts and completions. They can be called by name.
	Unlisted bool `json:"unlisted,omitempty"`
	// Task says whether calls of the tool are long: clients that know tasks get one, and fetch the result later.
	Task TaskSupport `json:"task,omitempty"`
}

// TaskSupport says whether calls of a tool become tasks.
type TaskSupport string

// The values of TaskSupport.
const (
	TaskNever    TaskSupport = ""         // calls are answered at once
	TaskOptional TaskSupport = "optional" // calls become tasks of clients that know them
	TaskRequired TaskSupport = "required" // other clients cannot call the tool
	// Calls become tasks once the client answered what the tool asks first.
	TaskAfterInput TaskSupport = "after_input"
)

// Resource is what clients read by a URI, or by the URIs that fit a template. A tool of the family that only reads answers for it: its
// arguments are the variables of the template, and its result is a ResourceResult.
type Resource struct {
	URI         string `json:"uri"` // names in braces are variables, each of one segment
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mime_type,omitempty"`
	Tool        string `json:"tool"`
	List        string `json:"list,omitempty"`     // the tool that lists those of a template: it takes after, and answers a ResourceList
	Complete    string `json:"complete,omitempty"` // the tool that completes variables: see Prompt.Complete
}

// Prompt is a request that a user makes by name. A tool of the family answers with its messages, a PromptResult: the arguments of the
// prompt are those of the tool.
type Prompt struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"` // empty: the tool's
	Tool        string `json:"tool"`
	// Complete is the tool that completes arguments: it takes a CompletionRequest and answers a Completion. Empty: an argument with an
	// enum is completed with its values.
	Complete string `json:"complete,omitempty"`
}

// CommittedKeyword marks a whole number among the members of a tool's result, in OutputSchema: the host sets it to the version of
// the commit with the tool's writes, unless the result has it already. In a dry run, and in a call by another family, it stays absent.
const CommittedKeyword = "x-committed"

// AdvancedKeyword marks an argument of a tool, in InputSchema, that is rarely needed: lists of tools leave it out, and memory_capabilities
// shows it.
const AdvancedKeyword = "x-advanced"

// Alias is another name of a tool. A name that a tool of any family has of its own wins over an alias.
type Alias struct {
	Name string `json:"name"`
	// Arguments are the values of parameters that a call by this name does not give: an object.
	Arguments map[string]json.RawMessage `json:"arguments,omitempty"`
}

// Annotations are hints about what a tool does. Absent ones are unknown.
type Annotations struct {
	Title       string `json:"title,omitempty"`
	ReadOnly    *bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool  `json:"destructiveHint,omitempty"`
	Idempotent  *bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool  `json:"openWorldHint,omitempty"`
}

// Hooks are the occasions on which a family wants to be called. Nil ones are not wanted.
type Hooks struct {
	Store  *StoreHook `json:"store,omitempty"`
	Stored *StoreHook `json:"stored,omitempty"`
	Merged *MergeHook `json:"merged,omitempty"`
	// SessionEnd is called after a client's session ended in which it called tools.
	SessionEnd *SessionHook `json:"session_end,omitempty"`
	Rank       *RankHook    `json:"rank,omitempty"`
	Embed      *EmbedHook   `json:"embed,omitempty"`
	Jobs       []Job        `json:"jobs,omitempty"`
}

// MostGenerations is how many generations of answers a family can be told of at most: see StoreHook.
const MostGenerations = 8

// StoreHook is called about entries of some collections, before or after their commit.
type StoreHook struct {
	Collections []string  `json:"collections,omitempty"` // memory; in store also others', as FAMILY/NAME, FAMILY/* or */*; in stored also its own; empty: memory
	OnFailure   OnFailure `json:"on_failure,omitempty"`  // store only; what the family advises, the operator decides
	Redacts     bool      `json:"redacts,omitempty"`     // store only: runs after all that do not
	Changes     []string  `json:"changes,omitempty"`     // store only: store, delete, state; empty: store
	// TagFrom, in store only, is the family's own setting that says which memories it is asked about: those with a tag, Everything or Nothing.
	// Empty: everything.
	TagFrom     string   `json:"tag_from,omitempty"`
	Types       []string `json:"types,omitempty"`       // memories of these types alone; empty: of any
	When        When     `json:"when,omitzero"`         // what calls for it
	Own         bool     `json:"own,omitempty"`         // stored only: also memories that the family's own tools and jobs wrote
	Generations int      `json:"generations,omitempty"` // stored only: how many hooks may answer each other until it is not told any more; 0: 1
}

// When lists the conditions under which the host calls a hook: any of them is enough. The zero When calls it always.
type When struct {
	Settings []string `json:"settings,omitempty"` // keys of config, or beginnings of keys with a * after: the value of one is not its default
	Records  []string `json:"records,omitempty"`  // store and rank: own collections, of which one has a record in the namespace; of a search of all: in default
	Lacks    []string `json:"lacks,omitempty"`    // store and stored: a memory lacks one of these: type, importance, tags, or metadata.NAME
}

// IsZero reports whether the hook is always called for.
func (w When) IsZero() bool { return len(w.Settings)+len(w.Records)+len(w.Lacks) == 0 }

// Names reports whether Settings names a key of config.
func (w When) Names(key string) bool {
	return slices.ContainsFunc(w.Settings, func(name string) bool { return name == key || isPrefix(name, key) })
}

// isPrefix reports whether a key begins with what is before the * at the end of a pattern.
func isPrefix(pattern, key string) bool {
	start, wild := strings.CutSuffix(pattern, "*")
	return wild && strings.HasPrefix(key, start)
}

// MetadataField begins the name of a member of metadata in When.Lacks.
const MetadataField = "metadata."

// StartsOn reports whether the hook of a built-in family is on before an operator decides: it redacts, and a setting says what.
func (h *StoreHook) StartsOn() bool { return h != nil && h.Redacts && h.TagFrom != "" }

// Values of the setting that TagFrom names, beside a tag.
const (
	Everything = "all"
	Nothing    = "none"
)

// MergeHook is called after merges. It has no settings.
type MergeHook struct{}

// SessionHook is called about sessions of clients. It has no settings.
type SessionHook struct{}

// RankHook scores candidates.
type RankHook struct {
	Features []string `json:"features"`        // the columns, in their order
	Types    []string `json:"types,omitempty"` // what a value of the column "type" counts from 0
	When     When     `json:"when,omitzero"`   // what calls for it: settings and records
}

// EmbedHook turns texts into vectors.
type EmbedHook struct {
	Model      string `json:"model"` // names the vectors: those of different models are never compared
	Dimensions int    `json:"dimensions"`
}

// Job is run on a schedule, or when it is queued.
type Job struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Every       string `json:"every,omitempty"` // as in 30m, 6h or 1d; empty: only when it is queued
	// Each is what a job with a schedule is queued for each of. Branches of proposals are left out.
	Each Each `json:"each,omitempty"`
	// Parallel is how many runs of the job may go on at once; 0: one. They delay the family's other jobs.
	Parallel int `json:"parallel,omitempty"`
}

// MostParallel bounds Job.Parallel.
const MostParallel = 16

// Each is what a scheduled job is queued for each of.
type Each string

// The values of Each.
const (
	EachNone      Each = ""          // once: on branch default, in namespace default
	EachBranch    Each = "branch"    // each branch, in namespace default
	EachNamespace Each = "namespace" // each namespace of each branch that has memories there
)

// Request asks for a capability.
type Request struct {
	Name   Capability `json:"name"`
	Scope  []string   `json:"scope,omitempty"` // what it is limited to; * stands for everything of its kind
	Reason string     `json:"reason"`          // shown to whoever grants it
}

// Setting is a key of the family's configuration.
type Setting struct {
	Key         string `json:"key"`
	Description string `json:"description,omitempty"`
	// Shared keys are the same for all families that declare them. Their schemas and defaults must be the same, too.
	Shared   bool            `json:"shared,omitempty"`
	Category string          `json:"category,omitempty"` // of a shared key, such as importance_weights
	Schema   json.RawMessage `json:"schema,omitempty"`   // what values are valid; absent: those of the default's type
	Default  json.RawMessage `json:"default"`
}

// The rules of a ConfigRule.
const (
	RuleSum      = "sum"       // the values add up to Equals, give or take Within
	RuleLessThan = "less_than" // each value is less than the next
	RuleOneOf    = "one_of"    // the first value is in the list that the second is
)

// ConfigRule is what values of several keys satisfy together: all of them shared, or none.
type ConfigRule struct {
	Rule   string   `json:"rule"`
	Keys   []string `json:"keys"`
	Equals float64  `json:"equals,omitempty"` // of sum
	Within float64  `json:"within,omitempty"` // of sum
}

// Collection is a collection of the family's own.
type Collection struct {
	Name       string   `json:"name"`
	Per        string   `json:"per,omitempty"`        // branch (default) or space
	Expires    string   `json:"expires,omitempty"`    // as in 7d; empty: never
	Searchable []string `json:"searchable,omitempty"` // fields whose text is searched; empty: none
	// Indexes are lists of fields by which records are found and sorted: path, or path:type with type string (default), number,
	// bool or time.
	Indexes [][]string `json:"indexes,omitempty"`
	// Versioned is false where only the newest version of a record can be read; nil: true. Such a collection is per space.
	Versioned *bool `json:"versioned,omitempty"`
	// Open collections hold nothing that is private to an agent: any caller who may read a namespace may read their records there.
	Open bool `json:"open,omitempty"`
	// Private collections are read by no other family, whatever it is granted.
	Private bool `json:"private,omitempty"`
	// Sync says whether records travel to other machines with their memories: newest, where the one that was written last wins, or never
	// (default).
	Sync string `json:"sync,omitempty"`
}

// SyncNewest is Collection.Sync of records that travel.
const SyncNewest = "newest"
