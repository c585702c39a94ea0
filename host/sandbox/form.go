package sandbox

import "github.com/alcove-memory/alcove/abi"

// answered returns the result of a request that the guest answered.
func (c *call) answered(status uint32, r Request) *Result {
	result := c.used()
	switch abi.Status(status) {
	case abi.StatusOK:
		if err := abi.CheckResult(r.Kind, r.Payload, c.output); err != nil {
			return result.failed(&stop{class: abi.ClassAnswer, what: "the guest's result is not what its kind asks for: " + err.Error()})
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

// failedItself fills in the guest's own error.
func (c *call) failedItself(result *Result) *Result {
	e, err := abi.ParseError(c.output)
	if err != nil {
		return result.failed(&stop{class: abi.ClassAnswer, what: "the guest failed, and its error cannot be told: " + err.Error()})
	}
	result.Class, result.Error = abi.ClassError, e
	return result
}
