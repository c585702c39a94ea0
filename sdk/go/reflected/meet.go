package reflected

import (
	"encoding/json"
	"reflect"
)

// meet shows types to encoding/json, with all that they are made of.
func meet(types []reflect.Type) {
	known := map[reflect.Type]bool{}
	for _, t := range types {
		if t != nil {
			meetType(t, known)
		}
	}
}

func meetType(t reflect.Type, known map[reflect.Type]bool) {
	if known[t] {
		return
	}
	known[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		meetType(t.Elem(), known)
	case reflect.Struct:
		for i := range t.NumField() {
			if field := t.Field(i); field.IsExported() || field.Anonymous {
				meetType(field.Type, known)
			}
		}
		json.Unmarshal([]byte("{}"), reflect.New(t).Interface()) // for its effect on the caches alone, as the next
		json.Marshal(reflect.Zero(t).Interface())
	}
}
