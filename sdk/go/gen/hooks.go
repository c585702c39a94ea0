package gen

import (
	"errors"
	"fmt"
	"go/types"
)

// columns are the fields of a part with a rank hook: each is a feature.
func (f *family) columns(p part) ([]field, error) {
	list, err := f.fields(p.typ)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("it has no columns: give it a field []float32 for each feature, such as Score")
	}
	for _, c := range list {
		if types.TypeString(c.typ, nil) != "[]float32" {
			return nil, fmt.Errorf("%s is no column: columns are []float32", c.label)
		}
	}
	return list, nil
}
