package main

import (
	"context"
	"fmt"
)

// labelledTransition is a talk, and whether what comes next begins another topic.
type labelledTransition struct {
	Before   []string
	Next     string
	Boundary bool
}

// judgeTransitions asks whether the topic changed, each time in a namespace of its own. The baseline finds a boundary everywhere.
func judgeTransitions(ctx context.Context, s *server, l labels) ([]row, error) {
	list, err := read[labelledTransition](l, "transitions")
	if err != nil {
		return nil, err
	}
	shifts, stays := row{measure: "boundaries found"}, row{measure: "no false alarm"}
	for n, t := range list {
		var got struct{ Type string }
		for _, text := range append(t.Before, t.Next) {
			arguments := map[string]any{"content": text, "namespace": fmt.Sprintf("talk-%d", n)}
			if err := s.call(ctx, "memory_detect_boundary", arguments, &got); err != nil {
				return nil, err
			}
		}
		if t.Boundary {
			shifts.got.add(got.Type != "none")
			shifts.baseline.add(true)
		} else {
			stays.got.add(got.Type == "none")
			stays.baseline.add(false)
		}
	}
	return []row{shifts, stays}, nil
}
