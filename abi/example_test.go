package abi_test

import (
	"fmt"

	"github.com/alcove-memory/alcove/abi"
)

func ExampleParseManifest() {
	m, err := abi.ParseManifest([]byte(`{"abi":1,"name":"notes","version":"1.0.0","description":"Keeps notes"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Name, m.Version)
	_, err = abi.ParseManifest([]byte(`{"abi":1,"nam":"notes","version":"1.0.0","description":"Keeps notes"}`))
	fmt.Println(err)
	// Output:
	// notes 1.0.0
	// read the manifest, line 1: unknown field "nam"
}

// A guest that ranks reads features column by column, and answers with one score a candidate.
func ExampleParseScoring() {
	request := abi.AppendScoring(nil, abi.Scoring{Params: []byte(`{"weight":2}`), Candidates: 3, Columns: [][]float32{{0.5, 0.25, 1}}})
	s, err := abi.ParseScoring(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	scores := make([]float32, s.Candidates)
	for i, match := range s.Columns[0] {
		scores[i] = 2 * match
	}
	answer, err := abi.ParseScores(abi.AppendScores(nil, scores), s.Candidates)
	fmt.Println(string(s.Params), answer, err)
	// Output: {"weight":2} [1 0.5 2] <nil>
}

func ExampleCheckResult() {
	request := []byte(`{"tool":"keep_note","arguments":{"text":"tea"}}`)
	fmt.Println(abi.CheckResult(abi.KindTool, request, []byte(`{"done":true}`)))
	fmt.Println(abi.CheckResult(abi.KindTool, request, []byte(`{"done":`)))
	// Output:
	// <nil>
	// the result is not one JSON value
}
