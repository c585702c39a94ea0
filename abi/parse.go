package abi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// ParseManifest reads a manifest and checks what a schema cannot say. It refuses unknown fields and fields that are
// given twice, because two readers could take them differently. That it fits ManifestSchema is checked beside this.
func ParseManifest(data []byte) (*Manifest, error) {
	if err := checkText(data); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var m Manifest
	if err := decoder.Decode(&m); err != nil {
		return nil, fmt.Errorf("read the manifest%s: %s", whereOf(err, data, unknownField(err, data)), inManifest(err))
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("read the manifest: something follows the JSON value")
	}
	if err := checkObjects(data); err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	return &m, m.Check()
}

// ReadManifest reads a manifest that may be wrong: it leaves out unknown fields and values of a wrong type, and checks no rule. It fails
// only if the text itself cannot be read.
func ReadManifest(data []byte) (*Manifest, error) {
	if err := checkText(data); err != nil {
		return nil, err
	}
	var value json.RawMessage
	if err := json.Unmarshal(data, &value); err != nil {
		return nil, fmt.Errorf("read the manifest%s: %w", whereOf(err, data, 0), err)
	}
	if err := checkObjects(value); err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	var m Manifest
	_ = json.Unmarshal(value, &m) // valid JSON: members of a wrong type are left out
	return &m, nil
}

// checkText checks that a manifest is UTF-8 of a bounded size.
func checkText(data []byte) error {
	if limit := DefaultModuleLimits().ManifestBytes; int64(len(data)) > limit {
		return fmt.Errorf("the manifest has %d bytes; %s is %d", len(data), LimitManifestBytes, limit)
	}
	if !utf8.Valid(data) {
		return errors.New("the manifest is not UTF-8")
	}
	return nil
}

// inManifest is a decoder's error without the names of Go's types.
func inManifest(err error) string {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		wanted := "another type"
		switch kind.Type.Kind() {
		case reflect.Struct, reflect.Map:
			wanted = "an object"
		case reflect.Slice:
			wanted = "a list"
		case reflect.String:
			wanted = "a string"
		case reflect.Bool:
			wanted = "true or false"
		case reflect.Int, reflect.Int64, reflect.Float64:
			wanted = "a number"
		}
		return fmt.Sprintf("%s: got %s, want %s", cmp.Or(kind.Field, "the manifest"), kind.Value, wanted)
	}
	text := strings.TrimPrefix(err.Error(), "json: ")
	if quoted, ok := strings.CutPrefix(text, "unknown field "); ok {
		name, _ := strconv.Unquote(quoted)
		return UnknownField(name)
	}
	return text
}

// UnknownField says that a manifest has no field of a name.
func UnknownField(name string) string {
	text := fmt.Sprintf("unknown field %q", cut(name))
	var snake strings.Builder
	for _, c := range name {
		if unicode.IsUpper(c) {
			snake.WriteByte('_')
		}
		snake.WriteRune(unicode.ToLower(c))
	}
	if snake.String() != name {
		return text + ": fields are in snake case, as in " + cut(snake.String())
	}
	return text
}

// whereOf is the line of an error and the tool that it is in, as in ", line 7, tool notes_add"; empty if neither is known.
func whereOf(err error, data []byte, offset int64) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	if offset <= 0 || offset > int64(len(data)) {
		return ""
	}
	where := fmt.Sprintf(", line %d", 1+bytes.Count(data[:offset], []byte{'\n'}))
	var named struct{ Tools []struct{ Name string } }
	if i := toolAt(data, offset); i >= 0 {
		_ = json.Unmarshal(data, &named) // as far as it can be read
		if i < len(named.Tools) && named.Tools[i].Name != "" {
			return where + ", tool " + cut(named.Tools[i].Name)
		}
		where += fmt.Sprintf(", tool %d", i+1)
	}
	return where
}

// unknownField is where the name of a field is that the manifest does not have; 0: not known.
func unknownField(err error, data []byte) int64 {
	name, ok := strings.CutPrefix(err.Error(), "json: unknown field ")
	if !ok {
		return 0
	}
	return int64(bytes.Index(data, []byte(name)) + 1)
}

// toolAt is the number of the tool at an offset, from 0; -1: none.
func toolAt(data []byte, offset int64) int {
	decoder := json.NewDecoder(bytes.NewReader(data))
	depth, tool, section, isValue := 0, -1, "", false
	for decoder.InputOffset() < offset {
		token, err := decoder.Token()
		if err != nil {
			break
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth == 3 && section == "tools" {
				tool++
			}
			continue
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth != 1 {
			continue
		}
		if name, ok := token.(string); ok && !isValue {
			section, isValue, tool = name, true, -1
			continue
		}
		isValue = false
	}
	if section != "tools" || depth < 3 {
		return -1
	}
	return tool
}

// Check finds names that are given twice, and what asks for more than there is. Its error is the first of Faults.
func (m *Manifest) Check() error {
	if list := m.Faults(); len(list) > 0 {
		return list[0]
	}
	return nil
}

// Faults lists all that Check finds.
func (m *Manifest) Faults() []error {
	var f faults
	if m.ABI != Version {
		f.add("the manifest is for version %d of the ABI; this host has version %d", m.ABI, Version)
	}
	for _, check := range []func(*faults){m.checkTools, m.checkResources, m.checkPrompts, m.checkCollections, m.checkStoreHook, m.checkWhen, m.checkJobs, m.checkSettings, m.checkCapabilities, m.checkLimits} {
		check(&f)
	}
	return f
}

type faults []error

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Errorf(format, args...)) }

func (m *Manifest) checkTools(f *faults) {
	names := []string{}
	for _, t := range m.Tools {
		names = append(names, t.Name)
		for _, a := range t.Aliases {
			names = append(names, a.Name)
		}
		var own faults
		t.checkSpellings(&own)
		for _, err := range own {
			f.add("tool %s: %w", t.Name, err)
		}
	}
	once(f, "tool", names, func(name string) string { return name })
}

// checkSpellings refuses aliases and spellings of parameters that the input schema does not have.
func (t Tool) checkSpellings(f *faults) {
	if len(t.Aliases) == 0 && len(t.Parameters) == 0 {
		return
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(t.InputSchema, &schema); err != nil {
		f.add("read the input schema: %w", err)
		return
	}
	for _, spelling := range slices.Sorted(maps.Keys(t.Parameters)) {
		if _, own := schema.Properties[spelling]; own {
			f.add("parameter %s: the input schema has a property of that name, so it cannot be a spelling of another", spelling)
		}
		if _, known := schema.Properties[t.Parameters[spelling]]; !known {
			f.add("parameter %s: it stands for %q, which is no property of the input schema", spelling, cut(t.Parameters[spelling]))
		}
	}
	for _, a := range t.Aliases {
		for _, name := range slices.Sorted(maps.Keys(a.Arguments)) {
			if _, known := schema.Properties[name]; !known {
				f.add("alias %s: its argument %s is no property of the input schema", a.Name, name)
			}
		}
	}
}

func (m *Manifest) checkCollections(f *faults) {
	for _, c := range m.Collections {
		if c.Name == "memory" {
			f.add("collection memory: it is the host's; a family's own has another name")
		}
		if _, err := Duration(c.Expires); err != nil {
			f.add("collection %s expires: %w", c.Name, err)
		}
		if c.Versioned != nil && !*c.Versioned && c.Per != "space" {
			f.add("collection %s: versioned=false needs per=space: such records are the same on every branch", c.Name)
		}
		if c.Sync == SyncNewest && (c.Private || c.Versioned != nil && !*c.Versioned) {
			f.add("collection %s: sync=newest needs records that are versioned and not private: those stay where they are", c.Name)
		}
		c.checkIndexes(f)
	}
	once(f, "collection", m.Collections, func(c Collection) string { return c.Name })
}

// checkStoreHook wants the right to read the records that a store hook is about.
func (m *Manifest) checkStoreHook(f *faults) {
	if m.Hooks.Store == nil {
		return
	}
	if key := m.Hooks.Store.TagFrom; key != "" && !slices.ContainsFunc(m.Config, func(s Setting) bool { return s.Key == key && !s.Shared && isText(s.Default) }) {
		f.add("hooks.store.tag_from is %s: name a key of config that is a string and is not shared", cut(key))
	}
	if slices.ContainsFunc(m.Capabilities, func(r Request) bool { return r.Name == CanRecordsRead }) {
		return
	}
	for _, name := range m.Hooks.Store.Collections {
		own := slices.ContainsFunc(m.Collections, func(c Collection) bool { return c.Name == name })
		if strings.Contains(name, "/") && !own {
			f.add("hooks.store is about records of other families, %s: ask for records.read, too", cut(name))
		}
	}
}

// checkWhen wants what calls for a hook to be declared, and to be known where the hook is asked.
func (m *Manifest) checkWhen(f *faults) {
	if h := m.Hooks.Store; h != nil {
		m.checkCondition(f, "store", h.When, h.checksMemories())
	}
	if h := m.Hooks.Stored; h != nil {
		m.checkCondition(f, "stored", h.When, cmp.Or(h.checksMemories(), refused(h.When.Records, "records: its entries are of many namespaces")))
	}
	if h := m.Hooks.Rank; h != nil {
		m.checkCondition(f, "rank", h.When, refused(h.When.Lacks, "lacks: it is not asked about memories"))
	}
}

// checkCondition adds the faults of a condition, and one that was found before; empty: none.
func (m *Manifest) checkCondition(f *faults, hook string, w When, fault string) {
	for _, key := range w.Settings {
		if !slices.ContainsFunc(m.Config, func(s Setting) bool { return When{Settings: []string{key}}.Names(s.Key) }) {
			fault = "settings: config has no key " + cut(key)
		}
	}
	for _, name := range w.Records {
		if !slices.ContainsFunc(m.Collections, func(c Collection) bool { return c.Name == name }) {
			fault = cmp.Or(fault, "records: the family has no collection "+cut(name))
		}
	}
	if fault != "" {
		f.add("hooks.%s.when.%s", hook, fault)
	}
}

// checksMemories refuses conditions about memories in a hook that is also about records.
func (h *StoreHook) checksMemories() string {
	if !slices.ContainsFunc(h.Collections, func(name string) bool { return name != "memory" }) {
		return ""
	}
	return refused(append(h.When.Lacks, h.Types...), "lacks: it and types are about memories; collections has others")
}

func refused(list []string, fault string) string {
	if len(list) == 0 {
		return ""
	}
	return fault
}

// isText reports whether a JSON value is a string.
func isText(value json.RawMessage) bool { return len(value) > 0 && value[0] == '"' }

// IndexedField splits a field of an index, such as due:time, into its path and type.
func IndexedField(text string) (path, kind string) {
	path, kind, typed := strings.Cut(text, ":")
	if !typed {
		kind = "string"
	}
	return path, kind
}

// checkIndexes wants each path to have one type.
func (c Collection) checkIndexes(f *faults) {
	types := map[string]string{}
	for _, index := range c.Indexes {
		for _, field := range index {
			path, kind := IndexedField(field)
			if was, again := types[path]; again && was != kind {
				f.add("collection %s: field %s is indexed as %s and as %s", c.Name, path, was, kind)
			}
			types[path] = kind
		}
	}
}

func (m *Manifest) checkJobs(f *faults) {
	for _, j := range m.Hooks.Jobs {
		if _, err := Duration(j.Every); err != nil {
			f.add("job %s every: %w", j.Name, err)
		}
		if j.Each != EachNone && j.Every == "" {
			f.add("job %s: each is for a job with a schedule: give every, too", j.Name)
		}
		if j.Parallel < 0 || j.Parallel > MostParallel {
			f.add("job %s: %d runs in parallel: at most %d are", j.Name, j.Parallel, MostParallel)
		}
	}
	once(f, "job", m.Hooks.Jobs, func(j Job) string { return j.Name })
}

func (m *Manifest) checkSettings(f *faults) {
	shared := map[string]bool{}
	for _, s := range m.Config {
		shared[s.Key] = s.Shared
	}
	for _, r := range m.ConfigRules {
		switch {
		case r.Rule != RuleSum && r.Rule != RuleLessThan && r.Rule != RuleOneOf:
			f.add("config_rules: there is no rule %q; it is one of %s, %s, %s", r.Rule, RuleSum, RuleLessThan, RuleOneOf)
			continue
		case r.Rule == RuleOneOf && len(r.Keys) != 2:
			f.add("config_rules one_of: it is about two keys, a value and a list; this one has %d", len(r.Keys))
		case len(r.Keys) < 2:
			f.add("config_rules %s: it is about two keys at least", r.Rule)
		}
		for _, key := range r.Keys {
			if _, declared := shared[key]; !declared {
				f.add("config_rules %s: config has no key %s", r.Rule, key)
				continue
			}
			if shared[key] != shared[r.Keys[0]] {
				f.add("config_rules %s: either all of its keys are shared or none: %s and %s differ", r.Rule, r.Keys[0], key)
			}
		}
	}
	once(f, "config", m.Config, func(s Setting) string { return s.Key })
}

// checkCapabilities wants a scope exactly where the capability has one: a forgotten scope is not everything.
func (m *Manifest) checkCapabilities(f *faults) {
	for _, r := range m.Capabilities {
		switch scope := r.Name.Scope(); {
		case scope == "":
			f.add("capability %q: there is none of that name", r.Name)
		case scope == "none" && len(r.Scope) > 0:
			f.add("capability %s: it has no scope; leave it out", r.Name)
		case scope != "none" && len(r.Scope) == 0:
			f.add("capability %s: name the %s it is for as its scope, or *", r.Name, scope)
		}
	}
	once(f, "capability", m.Capabilities, func(r Request) string { return string(r.Name) })
}

func (m *Manifest) checkLimits(f *faults) {
	most := map[string]int64{}
	limits := MaxLimits()
	limits.Each(func(name string, value *int64) { most[name] = *value })
	m.Limits.Each(func(name string, value *int64) {
		switch {
		case *value == 0:
		case !InManifest(name):
			f.add("limit %s: a manifest cannot ask for it", name)
		case *value < 0 || *value > most[name]:
			f.add("limit %s: %d is not between 1 and %d", name, *value, most[name])
		}
	})
}

// once finds names that a list has again.
func once[T any](f *faults, what string, list []T, name func(T) string) {
	times := map[string]int{}
	for _, item := range list {
		if times[name(item)]++; times[name(item)] == 2 {
			f.add("%s %s: it appears twice", what, name(item))
		}
	}
}

var duration = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([1-9][0-9]{0,5})([smhd])$`) })

// Duration reads a duration as manifests have it: 90s, 30m, 6h or 7d. An empty one is 0.
func Duration(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	parts := duration().FindStringSubmatch(text)
	if parts == nil {
		return 0, fmt.Errorf("%q is no duration; write it as 90s, 30m, 6h or 7d", text)
	}
	count, err := strconv.Atoi(parts[1])
	units := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	return time.Duration(count) * units[parts[2]], err
}

// maxManifestDepth bounds how deep a manifest's JSON may nest.
const maxManifestDepth = 64

// list marks an array on the stack of open values, on which an object has the number of its first key.
const list = -1

// checkObjects refuses valid JSON that nests too deep or has a field twice in an object. It reads it in one pass, because every start
// reads the manifests of the families that the program carries.
func checkObjects(value []byte) error {
	var keys [][]byte // of the objects that are open
	var open []int    // where the keys of each begin
	isKey := false
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '{', '[':
			if len(open) == maxManifestDepth {
				return fmt.Errorf("it nests deeper than %d", maxManifestDepth)
			}
			isKey = value[i] == '{'
			open = append(open, list)
			if isKey {
				open[len(open)-1] = len(keys)
			}
		case '}', ']':
			first := open[len(open)-1]
			open = open[:len(open)-1]
			if first == list {
				continue
			}
			if err := checkDuplicates(keys[first:]); err != nil {
				return err
			}
			keys = keys[:first]
		case ',':
			isKey = open[len(open)-1] != list
		case '"':
			end := endOfString(value, i)
			if isKey {
				keys = append(keys, unquoted(value[i:end]))
			}
			isKey, i = false, end-1
		}
	}
	return nil
}

// checkDuplicates sorts the keys.
func checkDuplicates(keys [][]byte) error {
	slices.SortFunc(keys, bytes.Compare)
	for i := 1; i < len(keys); i++ {
		if bytes.Equal(keys[i-1], keys[i]) {
			return fmt.Errorf("the field %q appears twice", keys[i])
		}
	}
	return nil
}

// endOfString is behind the quotation mark that closes the string at an index.
func endOfString(value []byte, at int) int {
	for at++; value[at] != '"'; at++ {
		if value[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// unquoted is the text of a JSON string.
func unquoted(quoted []byte) []byte {
	if !bytes.Contains(quoted, []byte{'\\'}) {
		return quoted[1 : len(quoted)-1]
	}
	var text string
	_ = json.Unmarshal(quoted, &text) // it is valid
	return []byte(text)
}
