package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// source is abi.json.
type source struct {
	Version  int    `json:"version"`
	Module   string `json:"module"`
	Section  string `json:"section"`
	Source   string `json:"source_section"`
	Memory   string `json:"memory"`
	Reserved string `json:"reserved"`

	Imports []function `json:"imports"`
	Exports []function `json:"exports"`

	Kinds         []number `json:"kinds"`
	ReadChannels  []number `json:"read_channels"`
	WriteChannels []number `json:"write_channels"`
	Statuses      []number `json:"statuses"`
	Codes         []number `json:"codes"`

	Errors       []name `json:"errors"`
	Outcomes     []name `json:"outcomes"`
	Classes      []name `json:"classes"`
	Hooks        []name `json:"hooks"`
	OnFailure    []name `json:"on_failure"`
	Features     []name `json:"features"`
	Annotations  []name `json:"annotations"`
	Capabilities []name `json:"capabilities"`

	Types    []structure `json:"types"`
	Messages []message   `json:"messages"`
	Ops      []operation `json:"ops"`

	Limits       []limit `json:"limits"`
	ModuleLimits []limit `json:"module_limits"`
	Quotas       []limit `json:"quotas"`

	WASI struct {
		Module    string     `json:"module"`
		Functions []function `json:"functions"`
	} `json:"wasi"`
}

// name is an entry whose value is its name; what it may say beside is empty where it means nothing.
type name struct {
	Name      string `json:"name"`
	Doc       string `json:"doc"`
	Retryable bool   `json:"retryable"`
	Outcome   string `json:"outcome"`
	Kind      string `json:"kind"`
	Scope     string `json:"scope"`
}

type number struct {
	Name  string `json:"name"`
	Value int    `json:"value"`
	Doc   string `json:"doc"`
}

type limit struct {
	Name     string `json:"name"`
	Unit     string `json:"unit"`
	Default  int64  `json:"default"`
	Max      int64  `json:"max"`
	Manifest bool   `json:"manifest"`
	Doc      string `json:"doc"`
}

type function struct {
	Name     string   `json:"name"`
	Params   []string `json:"params"`
	Results  []string `json:"results"`
	Required bool     `json:"required"`
	Doc      string   `json:"doc"`
}

// parse reads abi.json. A field that it does not know is an error: it would be lost without a word.
func parse(data []byte) (source, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var s source
	if err := decoder.Decode(&s); err != nil {
		return source{}, fmt.Errorf("read abi.json: %w", err)
	}
	return s, s.check()
}

// check finds references to what is not there.
func (s source) check() error {
	for _, class := range s.Classes {
		if !has(s.Outcomes, class.Outcome) {
			return fmt.Errorf("class %s has the unknown outcome %q", class.Name, class.Outcome)
		}
	}
	for _, op := range s.Ops {
		if op.Needs != "" && !has(s.Capabilities, op.Needs) {
			return fmt.Errorf("op %s needs the unknown capability %q", op.Name, op.Needs)
		}
		for _, code := range op.Errors {
			if !has(s.Errors, code) {
				return fmt.Errorf("op %s answers the unknown error %q", op.Name, code)
			}
		}
	}
	for _, l := range s.Limits {
		if l.Default <= 0 || l.Max < l.Default {
			return fmt.Errorf("limit %s: the default must be above 0 and not above the maximum", l.Name)
		}
	}
	return s.checkMessages()
}

func has(names []name, want string) bool {
	for _, n := range names {
		if n.Name == want {
			return true
		}
	}
	return false
}

// initialisms are the words that are written in capitals in Go.
var initialisms = map[string]string{"ok": "OK", "ms": "MS", "cpu": "CPU", "llm": "LLM", "http": "HTTP", "id": "ID", "ids": "IDs", "json": "JSON", "uri": "URI", "mime": "MIME"}

// pascal turns memory.get, on_failure and error-result into MemoryGet, OnFailure and ErrorResult.
func pascal(s string) string {
	var out strings.Builder
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r == '.' || r == '_' || r == '-' }) {
		if upper, ok := initialisms[word]; ok {
			out.WriteString(upper)
			continue
		}
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}

// ManifestLimits are the limits that a manifest may ask for.
func (s source) ManifestLimits() []limit {
	return slices.DeleteFunc(slices.Clone(s.Limits), func(l limit) bool { return !l.Manifest })
}

// Retryable are the errors after which trying again makes sense.
func (s source) Retryable() []name {
	return slices.DeleteFunc(slices.Clone(s.Errors), func(n name) bool { return !n.Retryable })
}

// ClassesOf are the classes of an outcome.
func (s source) ClassesOf(outcome string) []name {
	return slices.DeleteFunc(slices.Clone(s.Classes), func(n name) bool { return n.Outcome != outcome })
}
