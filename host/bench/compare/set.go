package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
)

//go:embed testdata/memories.jsonl
var memoryLines []byte

//go:embed testdata/questions.jsonl
var questionLines []byte

type memory struct{ Key, Text string }

// question is one that a memory answers.
type question struct{ Kind, Question, Answer string }

// kinds are those of questions, from easy to hard.
func kinds() []string { return []string{"phrase", "words", "question", "other words"} }

func labelled() (memories []memory, questions []question, err error) {
	memories, err = lines[memory](memoryLines)
	questions, more := lines[question](questionLines)
	return memories, questions, errors.Join(err, more)
}

func lines[T any](data []byte) (list []T, err error) {
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var v T
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
}

// named finds the keys that the harness gives to memories.
var named = regexp.MustCompile(`\bmemory-[a-z]?\d+\b`)

// found are the keys in an answer, in its order. No text of a memory contains a key.
func found(answer string) (keys []string) {
	for _, key := range named.FindAllString(answer, -1) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}
