package main

import (
	"context"
)

// labelledType is a text and its type.
type labelledType struct{ Text, Type string }

// judgeTypes asks which type a text has. The baseline is the commonest answer for everything.
func judgeTypes(ctx context.Context, s *server, l labels) ([]row, error) {
	list, err := read[labelledType](l, "types")
	if err != nil {
		return nil, err
	}
	all := row{measure: "types"}
	each := map[string]*row{}
	var order []string
	for _, t := range list {
		var got struct{ Type string }
		if err := s.call(ctx, "memory_suggest_tags", map[string]any{"text": t.Text}, &got); err != nil {
			return nil, err
		}
		r := each[t.Type]
		if r == nil {
			r = &row{measure: "  " + t.Type}
			each[t.Type], order = r, append(order, t.Type)
		}
		for _, r := range []*row{&all, r} {
			r.got.add(got.Type == t.Type)
			r.baseline.add(t.Type == "observation")
		}
	}
	rows := []row{all}
	for _, kind := range order {
		rows = append(rows, *each[kind])
	}
	return rows, nil
}
