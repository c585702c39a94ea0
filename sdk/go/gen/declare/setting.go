package declare

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/alcove-memory/alcove/abi"
)

// Setting is a field as a key of the configuration. The initial value is JSON; empty: the field's default, or the zero value.
func (f Field) Setting(initial string) (s abi.Setting, err error) {
	if f.Category != "" && !f.Shared {
		return s, errors.New("category= is for shared settings")
	}
	if initial == "" {
		if initial, err = f.initial(); err != nil {
			return s, err
		}
	}
	s = abi.Setting{Key: f.Name, Description: f.Described, Shared: f.Shared, Category: f.Category, Default: json.RawMessage(initial)}
	if f.Key != "" {
		s.Key = f.Key
	}
	plain := f
	plain.Described, plain.Values = "", maps.Clone(f.Values)
	delete(plain.Values, "default")
	schema, err := plain.Schema(ToGuest)
	if err != nil {
		return s, err
	}
	if len(schema) != 1 || schema[0].Value != string(Boolean) && schema[0].Value != string(Text) {
		s.Schema, err = json.Marshal(schema)
	}
	return s, err
}

// initial is the default of a setting as JSON.
func (f Field) initial() (string, error) {
	if text, ok := f.Values["default"]; ok {
		value, err := f.Type.Literal(text)
		if err != nil {
			return "", fmt.Errorf("default=%w", err)
		}
		return value, nil
	}
	zero, ok := map[Kind]string{List: "[]", Text: `""`, Boolean: "false", Integer: "0", Float: "0"}[f.Type.Kind]
	if !ok {
		return "", fmt.Errorf("%s cannot be a setting", f.Type.Name)
	}
	return zero, nil
}
