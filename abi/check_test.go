package abi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
)

func TestRequestsAreHeldToTheFieldsOfTheirOperation(t *testing.T) {
	for _, c := range []struct {
		name    string
		into    interface{ Check() error }
		request string
		says    string // empty: it is accepted
	}{
		{"a request with all that it needs", &abi.MemoryGetRequest{}, `{"keys":["a"]}`, ""},
		{"no bytes stand for an empty object", &abi.MemoryListRequest{}, ``, ""},
		{"an unknown field", &abi.MemoryGetRequest{}, `{"key":"a"}`, `unknown field "key"`},
		{"an unknown field of an element", &abi.MemoryPutRequest{}, `{"items":[{"value":1,"expires":"2h"}]}`, `unknown field "expires"`},
		{"a value of another type", &abi.MemoryGetRequest{}, `{"keys":7}`, "field keys cannot be a JSON number"},
		{"no object", &abi.MemoryGetRequest{}, `[]`, "it is a JSON array, not an object"},
		{"something behind it", &abi.MemoryListRequest{}, `{} {}`, "something follows its JSON"},
		{"a list that may not be empty", &abi.MemoryGetRequest{}, `{"keys":[]}`, "keys has 0 elements: give from 1 to 1000"},
		{"a number beyond its bounds", &abi.MemoryListRequest{}, `{"limit":1001}`, "limit is 1001: it must be from 1 to 1000"},
		{"a number with one bound", &abi.MemorySearchRequest{}, `{"query":"q","offset":-1}`, "offset is -1: it must be 0 or more"},
		{"a word that is not on the list", &abi.MemorySearchRequest{}, `{"query":"q","mode":"magic"}`, `mode is "magic": it is one of hybrid, lexical, semantic`},
		{"a word of a list that is not on the list", &abi.MemorySearchRequest{}, `{"query":"q","states":["active","lost"]}`, `states is "lost"`},
		{"a field of an element beyond its bounds", &abi.MemoryPatchRequest{}, `{"patches":[{"key":"a"},{"key":"b","importance":2}]}`, "patches[1]: importance is 2"},
		{"an explicit zero is within bounds", &abi.MemoryPatchRequest{}, `{"patches":[{"key":"b","importance":0}]}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := abi.DecodeRequest([]byte(c.request), c.into)
			if c.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var refused *abi.Error
			if !errors.As(err, &refused) || refused.Code != abi.CodeInvalidArgument || !strings.Contains(refused.Message, c.says) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
