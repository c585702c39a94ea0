// Package seed is what the data of a family's trial begins with.
package seed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/alcove-memory/alcove/host/memory/portable"
)

// Example is a line of each kind.
const Example = `{"key": "a", "value": "text"}, {"collection": "cards", "key": "a", "value": 1} or {"setting": "words", "value": 3}`

// Seed is what data begins with.
type Seed struct {
	Memories []portable.Memory
	Records  []Record
	Settings map[string]json.RawMessage
}

// Record is a record of one of the family's collections.
type Record struct {
	Collection string          `json:"collection"`
	Namespace  string          `json:"namespace,omitempty"` // empty: the default one
	Key        string          `json:"key"`
	Value      json.RawMessage `json:"value"`
}

// setting is a value of the family's configuration.
type setting struct {
	Setting string          `json:"setting"`
	Value   json.RawMessage `json:"value"`
}

// Is tells whether a JSON value is an entry of a seed.
func Is(raw json.RawMessage) bool {
	var m struct{ Setting, Key, Value json.RawMessage }
	return json.Unmarshal(raw, &m) == nil && (m.Key != nil || m.Setting != nil) && m.Value != nil
}

// Add adds an entry: a memory, a record or a setting.
func (s *Seed) Add(raw json.RawMessage) error {
	var kind struct{ Setting, Collection, Key, Value json.RawMessage }
	if err := json.Unmarshal(raw, &kind); err != nil {
		return err
	}
	switch {
	case kind.Value == nil:
		return errors.New("it has no value")
	case kind.Setting != nil:
		return s.addSetting(raw)
	case kind.Key == nil:
		return errors.New("it has no key")
	case kind.Collection != nil:
		var r Record
		if err := exactly(raw, &r); err != nil {
			return err
		}
		s.Records = append(s.Records, r)
		return nil
	}
	var m portable.Memory
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	s.Memories = append(s.Memories, m)
	return nil
}

func (s *Seed) addSetting(raw json.RawMessage) error {
	var given setting
	if err := exactly(raw, &given); err != nil {
		return err
	}
	if _, twice := s.Settings[given.Setting]; twice {
		return fmt.Errorf("the setting %.80q is given twice", given.Setting)
	}
	if s.Settings == nil {
		s.Settings = map[string]json.RawMessage{}
	}
	s.Settings[given.Setting] = given.Value
	return nil
}

// exactly reads a value without members that are not known.
func exactly(raw json.RawMessage, into any) error {
	in := json.NewDecoder(bytes.NewReader(raw))
	in.DisallowUnknownFields()
	return in.Decode(into)
}
