package family

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/host/memory"
)

// askers are the powers of a family that asks for everything and was granted some.
func askers(granted ...abi.Capability) policy.Powers {
	var grants []policy.Grant
	for _, c := range granted {
		grants = append(grants, policy.Grant{Name: c})
	}
	return policy.Of("asks", []abi.Request{{Name: abi.CanAskUser, Reason: "r"}, {Name: abi.CanAskModel, Reason: "r"}}, grants, memory.FullRights())
}

func TestAFamilyIsToldWhatItMayAskOfWhatTheClientCan(t *testing.T) {
	got := mayAsk(askers(abi.CanAskUser), &abi.Input{Can: []string{"user", "model", "roots", "everybody"}, State: "s"})
	if fmt.Sprint(got.Can) != "[user]" || got.State != "s" {
		t.Errorf("it may ask %v with the state %q, want the user and s", got.Can, got.State)
	}
	if got := mayAsk(askers(abi.CanAskUser), nil); got != nil {
		t.Errorf("without a client it may ask %+v, want nothing", got)
	}
}

func TestQuestionsAreBounded(t *testing.T) {
	tool := catalogue.NewTool(&catalogue.Family{Version: &grants.Version{Name: "asks"}}, abi.Tool{Name: "asks"})
	ask := func(whom string) map[string]any {
		return map[string]any{"ask": whom, "params": map[string]any{"message": "m"}}
	}
	many := map[string]any{}
	for n := range mostQuestions + 1 {
		many[fmt.Sprint(n)] = ask("user")
	}
	client := &abi.Input{Can: []string{"user"}}
	for name, c := range map[string]struct {
		client  *abi.Input
		details map[string]any
		code    memory.Code
		says    string
	}{
		"one":           {client, map[string]any{"requests": map[string]any{"a": ask("user")}}, memory.InputRequired, ""},
		"no client":     {nil, map[string]any{"requests": map[string]any{"a": ask("user")}}, memory.Unavailable, "has none that can be asked"},
		"none":          {client, map[string]any{}, memory.Unavailable, "without a request"},
		"too many":      {client, map[string]any{"requests": many}, memory.Unavailable, "at most 8"},
		"a long state":  {client, map[string]any{"requests": map[string]any{"a": ask("user")}, "state": strings.Repeat("x", longestState+1)}, memory.Unavailable, "at most 65536 and 16384"},
		"long":          {client, map[string]any{"requests": map[string]any{"a": map[string]any{"ask": "user", "params": strings.Repeat("x", longestAsked+longestState)}}}, memory.Unavailable, "at most 65536"},
		"nobody":        {client, map[string]any{"requests": map[string]any{"a": ask("oracle")}}, memory.Unavailable, `asks "oracle"`},
		"not granted":   {client, map[string]any{"requests": map[string]any{"a": ask("model")}}, memory.Denied, "alcove family grant asks ask.model"},
		"not asked for": {client, map[string]any{"requests": map[string]any{"a": ask("roots")}}, memory.Denied, "not in the manifest"},
	} {
		err := asks(askers(abi.CanAskUser), c.client, tool, &memory.Error{Code: memory.InputRequired, Details: c.details})
		var known *memory.Error
		if !errors.As(err, &known) || known.Code != c.code || !strings.Contains(known.Message, c.says) {
			t.Errorf("%s: the error is %v, want %s: %s", name, err, c.code, c.says)
		}
	}
	other := errors.New("other")
	if err := asks(askers(), client, tool, other); err != other {
		t.Errorf("another error becomes %v, want it as it is", err)
	}
}
