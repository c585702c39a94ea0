package family

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/host/memory"
)

// What a tool may ask at once.
const (
	mostQuestions = 8
	longestAsked  = 64 << 10 // bytes of all questions
	longestState  = 16 << 10 // bytes of what it is to find again
)

// powerToAsk returns the capability to ask somebody; empty: nobody has that name.
func powerToAsk(whom string) abi.Capability {
	switch whom {
	case "user":
		return abi.CanAskUser
	case "model":
		return abi.CanAskModel
	case "roots":
		return abi.CanAskRoots
	}
	return ""
}

// mayAsk returns what of a client's abilities a request with some powers may use, with the client's answers.
func mayAsk(powers policy.Powers, client *abi.Input) *abi.Input {
	if client == nil {
		return nil
	}
	mine := *client
	mine.Can = slices.DeleteFunc(slices.Clone(client.Can), func(whom string) bool { return !powers.Has(powerToAsk(whom)) })
	return &mine
}

// asks returns a failed call's error: the questions of a tool that asks its caller's client, if it may ask them.
func asks(powers policy.Powers, client *abi.Input, t *catalogue.Tool, err error) error {
	var known *memory.Error
	if !errors.As(err, &known) || known.Code != memory.InputRequired {
		return err
	}
	if client == nil {
		return &memory.Error{Code: memory.Unavailable, Message: t.Name + " asks the client of its caller, and this call has none that can be asked: call it over MCP"}
	}
	var q abi.InputQuestions
	details, err := json.Marshal(known.Details)
	if err != nil || json.Unmarshal(details, &q) != nil || len(q.Requests) == 0 {
		return faulty(t, "it asks for input without a request that can be read")
	}
	if len(q.Requests) > mostQuestions {
		return faulty(t, fmt.Sprintf("it asks %d questions at once: at most %d are allowed", len(q.Requests), mostQuestions))
	}
	if len(q.State) > longestState || len(details) > longestAsked+longestState {
		return faulty(t, fmt.Sprintf("its questions have %d bytes, with a state of %d: at most %d and %d are allowed", len(details)-len(q.State), len(q.State), longestAsked, longestState))
	}
	for _, r := range q.Requests {
		power := powerToAsk(r.Ask)
		if power == "" {
			return faulty(t, fmt.Sprintf("it asks %.32q, and there are user, model and roots", r.Ask))
		}
		if err := powers.Check(power, ""); err != nil {
			return &memory.Error{Code: memory.Denied, Message: err.Error()}
		}
	}
	return &memory.Error{Code: memory.InputRequired, Message: t.Name + " needs answers of its caller's client: call it over MCP, from a client that can ask its user",
		Details: map[string]any{"requests": q.Requests, "state": q.State}}
}

func faulty(t *catalogue.Tool, why string) error {
	return &memory.Error{Code: memory.Unavailable, Message: fmt.Sprintf("the answer of %s cannot be used: %s", t.Name, why),
		Details: map[string]any{"family": t.Family.Name, "class": string(abi.ClassAnswer)}}
}
