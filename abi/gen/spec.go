package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// generated is a part of SPEC.md that is written by this program: between two comments, the first of which names it.
var generated = regexp.MustCompile(`(?s)<!-- generated: ([^\n]*?) -->\n.*?<!-- end -->`)

// spec writes the generated parts of SPEC.md anew. dir is where it is.
func spec(dir string) func(source) ([]byte, error) {
	return func(s source) ([]byte, error) {
		text, err := os.ReadFile(filepath.Join(dir, "SPEC.md"))
		if err != nil {
			return nil, err
		}
		var failed error
		text = generated.ReplaceAllFunc(text, func(part []byte) []byte {
			name := string(generated.FindSubmatch(part)[1])
			content, err := s.part(dir, name)
			if err != nil && failed == nil {
				failed = fmt.Errorf("part %q: %w", name, err)
			}
			return []byte("<!-- generated: " + name + " -->\n" + content + "<!-- end -->")
		})
		return text, failed
	}
}

// part writes one generated part.
func (s source) part(dir, name string) (string, error) {
	tables := map[string]func() string{
		"kinds":          func() string { return numbers("kind", s.Kinds) },
		"read channels":  func() string { return numbers("channel", s.ReadChannels) },
		"write channels": func() string { return numbers("channel", s.WriteChannels) },
		"statuses":       func() string { return numbers("status", s.Statuses) },
		"codes":          func() string { return numbers("code", s.Codes) },
		"errors":         s.errorTable, "classes": s.classTable, "hooks": s.hookTable, "ops": s.opTable,
		"capabilities": s.capabilityTable, "features": s.featureTable, "on_failure": s.onFailureTable,
		"limits": s.limitTable, "module limits": s.moduleLimitTable, "quotas": s.quotaTable, "wasi": s.wasiTable,
	}
	if table, ok := tables[name]; ok {
		return "\n" + table() + "\n", nil
	}
	if object, ok := strings.CutPrefix(name, "fields "); ok {
		for _, o := range s.ofGuests() {
			if o.Name == object {
				return "\n" + s.linkedFromSpec(fieldTable("field", s.flat(o.Fields))) + "\n", nil
			}
		}
	}
	if path, ok := strings.CutPrefix(name, "file "); ok {
		data, err := os.ReadFile(filepath.Join(dir, path))
		return "\n```" + strings.TrimPrefix(filepath.Ext(path), ".") + "\n" + string(data) + "```\n\n", err
	}
	file, title, ok := strings.Cut(name, ": ")
	if !ok {
		return "", fmt.Errorf("there is nothing of that name")
	}
	text, err := example(filepath.Join(dir, "vectors", file), title)
	return "\n```\n" + text + "```\n\n", err
}

// linkedFromSpec points the links of a table at OPERATIONS.md where it, and not SPEC.md, describes the type.
func (s source) linkedFromSpec(table string) string {
	for _, t := range s.typesIn(s.exchanges()) {
		table = strings.ReplaceAll(table, "](#"+t.Name+")", "](OPERATIONS.md#"+t.Name+")")
	}
	return table
}

// table writes rows of cells below a head.
func table(head string, rows [][]string) string {
	var out strings.Builder
	columns := strings.Split(head, ", ")
	fmt.Fprintf(&out, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, row := range rows {
		fmt.Fprintf(&out, "| %s |\n", strings.Join(row, " | "))
	}
	return out.String()
}

func rows[T any](list []T, row func(T) []string) [][]string {
	var all [][]string
	for _, item := range list {
		all = append(all, row(item))
	}
	return all
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func numbers(what string, list []number) string {
	return table(what+", name, what", rows(list, func(n number) []string { return []string{fmt.Sprint(n.Value), n.Name, n.Doc} }))
}

func (s source) errorTable() string {
	return table("code, retryable, what", rows(s.Errors, func(n name) []string {
		return []string{code(n.Name), yes(n.Retryable), n.Doc}
	}))
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func (s source) classTable() string {
	return table("class, outcome, when", rows(s.Classes, func(n name) []string {
		return []string{code(n.Name), n.Outcome, n.Doc}
	}))
}

func (s source) hookTable() string {
	return table("hook, kind, when", rows(s.Hooks, func(n name) []string { return []string{code(n.Name), n.Kind, n.Doc} }))
}

func (s source) opTable() string {
	return table("operation, needs, what", rows(s.Ops, func(op operation) []string {
		return []string{fmt.Sprintf("[`%s`](OPERATIONS.md#%s)", op.Name, anchor(op.Name)), code(op.Needs), op.Doc}
	}))
}

func (s source) onFailureTable() string {
	return table("on_failure, what", rows(s.OnFailure, func(n name) []string { return []string{code(n.Name), n.Doc} }))
}

func (s source) featureTable() string {
	return table("feature, what", rows(s.Features, func(n name) []string { return []string{code(n.Name), n.Doc} }))
}

func (s source) capabilityTable() string {
	return table("capability, scope, allows to", rows(s.Capabilities, func(n name) []string {
		return []string{code(n.Name), n.Scope, n.Doc}
	}))
}

func (s source) limitTable() string {
	return table("limit, default, most, in manifests, what", rows(s.Limits, func(l limit) []string {
		return []string{code(l.Name), fmt.Sprintf("%d %s", l.Default, l.Unit), fmt.Sprint(l.Max), yes(l.Manifest), l.Doc}
	}))
}

func (s source) quotaTable() string {
	return table("quota, default, of", rows(s.Quotas, func(l limit) []string {
		return []string{code(l.Name), fmt.Sprintf("%d %s", l.Default, l.Unit), l.Doc}
	}))
}

func (s source) moduleLimitTable() string {
	return table("limit, value, of", rows(s.ModuleLimits, func(l limit) []string {
		return []string{code(l.Name), fmt.Sprintf("%d %s", l.Default, l.Unit), l.Doc}
	}))
}

func (s source) wasiTable() string {
	return table("function, type, what a guest finds", rows(s.WASI.Functions, func(f function) []string {
		return []string{code(f.Name), fmt.Sprintf("(%s) → (%s)", strings.Join(f.Params, ", "), strings.Join(f.Results, ", ")), f.Doc}
	}))
}

// vector is what the examples need of one.
type vector struct {
	Name    string
	Bytes   []struct{ Hex, Means string }
	Request string
	Steps   []struct {
		Do, Hex, Op       string
		Channel, Ptr, Cap uint32
		OpPtr             uint32 `json:"op_ptr"`
		Host              string
		HostError         string `json:"host_error"`
		Returns           int64
	}
	Status int
	Class  string
}

// example writes a vector out.
func example(path, title string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var all struct{ Cases []vector }
	if err := json.Unmarshal(data, &all); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	for _, v := range all.Cases {
		switch {
		case v.Name != title:
		case v.Steps != nil:
			return v.exchange()
		default:
			return v.layout()
		}
	}
	return "", fmt.Errorf("%s has no case of that name", path)
}

// layout writes the pieces of a packed message, each with where it is and what it means.
func (v vector) layout() (string, error) {
	var out strings.Builder
	at := 0
	for _, p := range v.Bytes {
		data, err := unhex(p.Hex)
		if err != nil {
			return "", err
		}
		for i := 0; i < len(data); i += 12 {
			line := data[i:min(i+12, len(data))]
			fmt.Fprintf(&out, "%6d  %-36s", at+i, fmt.Sprintf("% x", line))
			if i == 0 {
				fmt.Fprintf(&out, "  %s", p.Means)
			}
			trim(&out)
		}
		at += len(data)
	}
	return out.String(), nil
}

// exchange writes the steps of an exchange.
func (v vector) exchange() (string, error) {
	var out strings.Builder
	request, err := unhex(v.Request)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&out, "the host has a tool call of %d bytes and calls alcove_handle(1, %d)\n", len(request), len(request))
	for _, s := range v.Steps {
		data, err := unhex(s.Hex)
		if err != nil {
			return "", err
		}
		out.WriteString("\n")
		switch s.Do {
		case "read":
			fmt.Fprintf(&out, "read(%d, %d, %d) → %d\n", s.Channel, s.Ptr, s.Cap, s.Returns)
			dump(&out, s.Ptr, data)
		case "write":
			dump(&out, s.Ptr, data)
			fmt.Fprintf(&out, "write(%d, %d, %d) → %d\n", s.Channel, s.Ptr, len(data), s.Returns)
		case "call":
			dump(&out, s.OpPtr, []byte(s.Op))
			dump(&out, s.Ptr, data)
			fmt.Fprintf(&out, "call(%d, %d, %d, %d) → %d\n", s.OpPtr, len(s.Op), s.Ptr, len(data), s.Returns)
		default:
			return "", fmt.Errorf("an example cannot have the step %q", s.Do)
		}
	}
	fmt.Fprintf(&out, "\nalcove_handle returns %d: class %s\n", v.Status, v.Class)
	return out.String(), nil
}

// dump writes bytes in lines of 16, each with its address and its letters.
func dump(out *strings.Builder, at uint32, data []byte) {
	for i := 0; i < len(data); i += 16 {
		line := data[i:min(i+16, len(data))]
		letters := bytes.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return '.'
			}
			return r
		}, line)
		fmt.Fprintf(out, "%8d: %-47s  %s", at+uint32(i), fmt.Sprintf("% x", line), letters)
		trim(out)
	}
}

// trim ends a line without blanks at its end.
func trim(out *strings.Builder) {
	text := strings.TrimRight(out.String(), " ")
	out.Reset()
	out.WriteString(text + "\n")
}

func unhex(text string) ([]byte, error) { return hex.DecodeString(strings.ReplaceAll(text, " ", "")) }
