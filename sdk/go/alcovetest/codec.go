package alcovetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// marshal writes a value with its own codec, if it has one: encoding/json knows nothing of the names in it.
func marshal(v any) ([]byte, error) {
	if e, ok := v.(scan.Encoder); ok {
		return scan.Encode(e)
	}
	return json.Marshal(v)
}

// unmarshal reads a value with its own codec, if it has one.
func unmarshal(data []byte, into any) error {
	if d, ok := into.(scan.Decoder); ok {
		return scan.Decode(data, d)
	}
	t := reflect.TypeOf(into)
	if t.Kind() != reflect.Pointer || t.Elem().Kind() == reflect.Slice && t.Elem().Elem().Kind() == reflect.Uint8 { // JSON as it came
		return json.Unmarshal(data, into)
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	value = named(value, t.Elem())
	renamed, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(renamed, into)
}

// named is a value whose members have the names of Go's fields, where the field has no tag with a name: encoding/json ignores the case of
// names, but takes memory_id for another name than MemoryID.
func named(value any, t reflect.Type) any {
	switch t.Kind() {
	case reflect.Pointer:
		return named(value, t.Elem())
	case reflect.Slice, reflect.Array:
		list, _ := value.([]any)
		for i := range list {
			list[i] = named(list[i], t.Elem())
		}
	case reflect.Map:
		members, _ := value.(map[string]any)
		for name := range members {
			members[name] = named(members[name], t.Elem())
		}
	case reflect.Struct:
		if members, ok := value.(map[string]any); ok {
			return fields(members, t)
		}
	}
	return value
}

func fields(members map[string]any, t reflect.Type) map[string]any {
	out := maps.Clone(members)
	for _, f := range reflect.VisibleFields(t) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		for name, v := range members {
			if name == tag || tag == "" && strings.EqualFold(strings.ReplaceAll(name, "_", ""), f.Name) {
				delete(out, name)
				out[cmp.Or(tag, f.Name)] = named(v, f.Type)
			}
		}
	}
	return out
}
