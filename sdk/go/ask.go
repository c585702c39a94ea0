package alcove

// Whom a tool can ask, by InputRequest.Ask.
const (
	AskUser  = "user"
	AskModel = "model"
	AskRoots = "roots"
)

// CanAsk reports whether the caller's client can be asked: AskUser, AskModel or AskRoots.
func (c *Call) CanAsk(whom string) bool {
	if c.input == nil {
		return false
	}
	for _, can := range c.input.Can {
		if can == whom {
			return true
		}
	}
	return false
}

// Answer returns the answer to what the tool asked under a name, as MCP has it.
func (c *Call) Answer(name string) (answer Raw, ok bool) {
	if c.input == nil {
		return nil, false
	}
	answer, ok = c.input.Answers[name]
	return answer, ok
}

// State returns the state that the tool gave when it asked.
func (c *Call) State() string {
	if c.input == nil {
		return ""
	}
	return c.input.State
}

// Ask is what the handler of a tool answers with, so that the caller's client is asked and the tool is called again with the answers.
// Nothing that the call staged is kept.
func Ask(q InputQuestions) error {
	e := Errorf(InputRequired, "the tool needs answers of its caller's client")
	requests := map[string]any{}
	for name, r := range q.Requests {
		request := map[string]any{"ask": r.Ask}
		if len(r.Params) > 0 {
			request["params"] = r.Params
		}
		requests[name] = request
	}
	e.Details = map[string]any{"requests": requests, "state": q.State}
	return e
}
