package record

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/search"
)

// Bounds of the fields that filters see. The rest of a memory's fields is there, but no filter finds it.
const (
	mostFields     = 64      // of a memory
	LongestField   = 128     // bytes of a name
	LongestEqual   = 4 << 10 // bytes of a value that can equal another
	MetadataFields = "metadata."
	ValueFields    = "value."
)

// SearchFields are those of a record of a namespace that filters can test: links, those of the metadata, those of a value that is an object,
// in the order of their names, and supersedes, one of each memory of the namespace that it replaces. A field that is null is not there.
func (r *Record) SearchFields(namespace string) []search.Field {
	var list []search.Field
	if len(r.Links) > 0 {
		list = append(list, search.Field{Name: search.FieldLinks})
	}
	list = r.appendValueFields(appendFields(list, MetadataFields, r.Metadata))
	for _, key := range r.Supersedes {
		own := strings.TrimPrefix(key, namespace+"#")
		list = append(list, search.Field{Name: search.FieldSupersedes, Value: search.DigestOf([]byte(own))})
	}
	return list
}

func (r *Record) appendValueFields(list []search.Field) []search.Field {
	if !bytes.HasPrefix(bytes.TrimSpace(r.Value), []byte("{")) {
		return list
	}
	var value map[string]json.RawMessage
	if err := json.Unmarshal(r.Value, &value); err != nil {
		return list // it was checked when it was stored
	}
	return appendFields(list, ValueFields, value)
}

func appendFields(list []search.Field, prefix string, fields map[string]json.RawMessage) []search.Field {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if len(list) >= mostFields {
			return list
		}
		if len(name) > LongestField || string(bytes.TrimSpace(fields[name])) == "null" {
			continue
		}
		list = append(list, search.Field{Name: prefix + name, Value: FieldDigest(fields[name])})
	}
	return list
}

// FieldDigest identifies a value; the zero Digest for one that is too long to be compared.
func FieldDigest(value json.RawMessage) search.Digest {
	if len(value) > LongestEqual {
		return search.Digest{}
	}
	if value = bytes.TrimSpace(value); isCanonical(value) {
		return search.DigestOf(append(slices.Clip(value), '\n'))
	}
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return search.Digest{}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(withPlainNumbers(v)); err != nil {
		return search.Digest{}
	}
	return search.DigestOf(out.Bytes())
}

// isCanonical reports whether a valid value is surely written as FieldDigest writes it: most are, and need not be written again.
func isCanonical(value json.RawMessage) bool {
	switch value[0] {
	case '"': // an encoder writes escapes in its own way, and U+2028 and U+2029, which begin with 0xe2, as escapes
		return bytes.IndexByte(value, '\\') < 0 && bytes.IndexByte(value, 0xe2) < 0
	case 't', 'f':
		return true
	}
	return false
}

// withPlainNumbers writes equal numbers alike: 1, 1.0 and 1e0 are 1.
func withPlainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return plainNumber(v)
	case []any:
		for i := range v {
			v[i] = withPlainNumbers(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = withPlainNumbers(v[name])
		}
	}
	return v
}

func plainNumber(n json.Number) json.Number {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return json.Number(strconv.FormatInt(i, 10))
	}
	f, err := strconv.ParseFloat(string(n), 64)
	switch {
	case err != nil: // beyond all numbers
		return n
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return json.Number(strconv.FormatInt(int64(f), 10))
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}
