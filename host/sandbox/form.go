package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"slices"

	"github.com/alcove-memory/alcove/abi"
)

// answered is what became of a request that the guest answered.
func (c *call) answered(status uint32, r Request) *Result {
	result := c.used()
	switch abi.Status(status) {
	case abi.StatusOK:
		if what := wrongForm(r.Kind, r.Payload, c.output); what != "" {
			return result.failed(&stop{class: abi.ClassAnswer, what: "the guest's result " + what})
		}
		result.Class, result.Output = abi.ClassOK, c.output
		return result
	case abi.StatusError:
		return c.failedItself(result)
	}
	return result.failed(&stop{class: abi.ClassAnswer, what: "the guest answered neither 0 nor 1"})
}

func (r *Result) failed(s *stop) *Result {
	r.Class, r.Error = s.class, s.explain()
	return r
}

// failedItself is a result with the guest's own error.
func (c *call) failedItself(result *Result) *Result {
	var e abi.Error
	switch {
	case int64(len(c.output)) > c.limits.ErrorBytes:
		e = abi.Error{Code: abi.CodeInternal, Message: "the guest's error is too long to be told", Details: map[string]any{"limit": abi.LimitErrorBytes}}
	case json.Unmarshal(c.output, &e) != nil || !slices.Contains(abi.Codes(), e.Code):
		return result.failed(&stop{class: abi.ClassAnswer, what: "the guest failed, and its error is not an object with a code and a message"})
	}
	result.Class, result.Error = abi.ClassError, &e
	return result
}

// wrongForm says what is wrong with a result, empty if nothing is.
func wrongForm(kind abi.Kind, request, result []byte) string {
	switch kind {
	case abi.KindScore:
		if len(request) < 4 || len(result) != 4*int(binary.LittleEndian.Uint32(request)) {
			return "does not have one score for each candidate"
		}
	case abi.KindEmbed:
		if len(result) < 8 {
			return "does not begin with the number of vectors and of their dimensions"
		}
		n, d := uint64(binary.LittleEndian.Uint32(result)), uint64(binary.LittleEndian.Uint32(result[4:]))
		if uint64(len(result)-8) != 4*n*d {
			return "does not have as many numbers as it says"
		}
	default:
		if !json.Valid(result) {
			return "is not JSON"
		}
	}
	return ""
}
