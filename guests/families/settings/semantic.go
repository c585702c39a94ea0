package settings

import alcove "github.com/alcove-memory/alcove/sdk/go"

// ConfigureSemantic turns semantic search on, off, or stricter: for everything, or with scopeId in that scope alone. Without other arguments it
// changes nothing and tells how it is. The methods are embedding, by the embedder that the operator configured, and lexical, for which hash and tfidf are other names. threshold
// is the least likeness of what is found by meaning.
//
//alcove:description Switch search by meaning (semantic) on, off, or stricter.
//alcove:tool idempotent
//alcove:title Configure semantic search
//alcove:alias memory_get_semantic_config
type ConfigureSemantic struct {
	Enabled   alcove.Optional[bool]
	Threshold alcove.Optional[float64] // 0 to 1.
	Method    string                   // embedding or lexical.
	ScopeID   string                   `alcove:"name=scopeId"` // For this scope alone.
	Namespace string                   `alcove:"advanced"`     // The scope, unless scopeId names one.
}

// Semantic is how semantic search is configured.
type Semantic struct {
	Enabled   bool
	Threshold float64
	Method    string
	ScopeID   string `json:"scopeId,omitzero"` // The scope that it holds for; absent: everything.
}

// Call changes what is given.
func (in ConfigureSemantic) Call(c *alcove.Call, cfg Config) (Semantic, error) {
	scope, name := scopeOf(in.ScopeID, in.Namespace)
	if name != "" {
		if err := cfg.within(c, name); err != nil {
			return Semantic{}, err
		}
	}
	out := Semantic{in.Enabled.Or(cfg.Enabled), in.Threshold.Or(cfg.Threshold), cfg.Method, name}
	values := map[string]alcove.Raw{}
	if !in.Enabled.IsZero() {
		values["semantic_enabled"] = alcove.JSON(out.Enabled)
	}
	if !in.Threshold.IsZero() {
		values["semantic_threshold"] = alcove.JSON(out.Threshold)
	}
	switch in.Method {
	case "":
	case "hash", "tfidf":
		out.Method = "lexical"
	default:
		out.Method = in.Method
	}
	if in.Method != "" {
		values["semantic_method"] = alcove.JSON(out.Method)
	}
	if len(values) == 0 {
		return out, nil
	}
	_, err := put(c, alcove.ConfigPutRequest{Scope: scope, Name: name, Changes: changesOf(values, nil)})
	return out, err
}

// within takes the settings as they apply in a scope.
func (cfg *Config) within(c *alcove.Call, scope string) error {
	found, err := c.ConfigGet(alcove.ConfigGetRequest{Namespace: scope, Keys: []string{"semantic_enabled", "semantic_method", "semantic_threshold"}})
	if err != nil {
		return err
	}
	values := map[string]any{}
	for key, value := range found.Config {
		values[key] = value
	}
	return c.ReadArguments(alcove.JSON(values), cfg.CodeSettings)
}
