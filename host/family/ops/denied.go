package ops

import (
	"encoding/json"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/internal/jsontext"
)

// meant returns the namespace of a request, for an error of denial; empty if it has none, or many.
func (call *Call) meant(needs abi.Capability, request []byte) string {
	var r struct {
		Namespace  string
		Namespaces []string
	}
	if needs.Scope() != "namespaces" || jsontext.Depth(request) > LongestNesting {
		return ""
	}
	if err := json.Unmarshal(request, &r); err != nil {
		return ""
	}
	switch len(r.Namespaces) {
	case 0:
		return call.in(r.Namespace)
	case 1:
		return r.Namespaces[0]
	}
	return ""
}
