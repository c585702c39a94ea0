package main

import (
	"errors"
	"testing"
)

func TestWhyAFamilyIsNotGeneratedIsSaid(t *testing.T) {
	failed := errors.New("exit status 1")
	for said, want := range map[string]string{
		"facts.go:3: Call has no result\nexit status 1\n": "facts.go:3: Call has no result",
		"no required module provides package\n":           "run " + generator + " with go, in a module that requires Alcove's SDK: exit status 1: no required module provides package",
		"":                                                "run " + generator + " with go, in a module that requires Alcove's SDK: exit status 1",
	} {
		if got := generatorError(failed, said); got.Error() != want {
			t.Errorf("%q: %v, want %s", said, got, want)
		}
	}
}
