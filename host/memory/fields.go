package memory

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
)

// FieldTest is a condition on a field of a memory: metadata.NAME, value.NAME, or one that can only be tested for presence.
type FieldTest struct {
	Field  string
	Equals json.RawMessage // nil: any value
	Exists *bool           // nil: true
}

func (l Limits) fieldTest(f FieldTest) (search.FieldTest, error) {
	test := search.FieldTest{Name: f.Field}
	if err := checkField(f); err != nil {
		return test, err
	}
	switch {
	case f.Equals != nil && f.Exists != nil:
		return test, invalid("filter: field %s has both equals and exists: give one of them", f.Field)
	case f.Equals == nil && (f.Exists == nil || *f.Exists):
		return test, nil
	case f.Equals == nil:
		test.Test = search.Absent
		return test, nil
	case len(f.Equals) > record.LongestEqual:
		return test, invalid("filter: the value that field %s is to equal has %d bytes: at most %d are allowed", f.Field, len(f.Equals), record.LongestEqual)
	case string(f.Equals) == "null":
		return test, invalid("filter: field %s cannot equal null: ask for exists false", f.Field)
	}
	if err := l.checkJSON("the value that field "+f.Field+" is to equal", f.Equals, record.LongestEqual); err != nil {
		return test, err
	}
	test.Test, test.Equals = search.Equal, record.FieldDigest(f.Equals)
	return test, nil
}

// checkField refuses fields that no memory has.
func checkField(f FieldTest) error {
	for _, prefix := range []string{record.MetadataFields, record.ValueFields} {
		if name, ok := strings.CutPrefix(f.Field, prefix); ok && name != "" {
			if len(name) > record.LongestField {
				return invalid("filter: the name of field %s has %d bytes: at most %d are allowed", clip(f.Field, 64), len(name), record.LongestField)
			}
			return nil
		}
	}
	if !slices.Contains(search.ColumnFields(), f.Field) {
		return invalid("filter: %q is not a field of a memory: use metadata.NAME, value.NAME, or one of %s", clip(f.Field, 64), strings.Join(search.ColumnFields(), ", "))
	}
	if f.Equals != nil {
		return invalid("filter: field %s can only exist or not: leave equals out, and use the filter's other conditions", f.Field)
	}
	return nil
}
