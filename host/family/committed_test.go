package family

import (
	"encoding/json"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
)

func TestTheVersionOfTheCommitIsSetWhereTheSchemaAsksForIt(t *testing.T) {
	const asks = `{"type":"object","properties":{"n":{"type":"integer"},"version":{"type":"integer","x-committed":true}}}`
	for _, c := range []struct{ schema, output, want string }{
		{asks, `{"n":1}`, `{"n":1,"version":7}`},
		{asks, "{\"n\":1}\n", `{"n":1,"version":7}`},
		{asks, `{}`, `{"version":7}`},
		{asks, `{"version":3}`, `{"version":3}`},
		{asks, ``, ``},
		{`{"properties":{"version":{"type":"integer"}}}`, `{}`, `{}`},
		{`{"description":"x-committed"}`, `{}`, `{}`},
		{``, `{}`, `{}`},
	} {
		output := json.RawMessage(c.output)
		if got := catalogue.NewTool(nil, abi.Tool{OutputSchema: json.RawMessage(c.schema)}).WithVersion(output, 7); string(got) != c.want || string(output) != c.output {
			t.Errorf("%s of %s: %s, want %s", c.output, c.schema, got, c.want)
		}
	}
	if got := catalogue.NewTool(nil, abi.Tool{OutputSchema: json.RawMessage(asks)}).WithVersion(json.RawMessage(`{}`), 0); string(got) != `{}` {
		t.Errorf("nothing was written: %s", got)
	}
}
