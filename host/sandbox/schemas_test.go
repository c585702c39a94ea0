package sandbox

import (
	"fmt"
	"strings"
	"testing"
)

func TestManifestsWhoseSchemasCannotBeCheckedAreRefused(t *testing.T) {
	for schema, want := range map[string]string{
		`{"minimum":1e99999999}`:               "1e99999999",
		`{"multipleOf":1e-99999999}`:           "exponent",
		`{"pattern":"((a{100}){100}){100}"}`:   "pattern",
		`{"$ref":"file:///etc/passwd"}`:        "stand alone",
		`{"properties":{"a":{"contains":{}}}}`: "contains is not supported",
	} {
		manifest := fmt.Sprintf(`{"abi":1,"name":"f","version":"1.0.0","description":"d","tools":[{"name":"f_t","description":"d","input_schema":{"type":"object","properties":{"p":%s}}}]}`, schema)
		if _, err := ParseManifest([]byte(manifest)); want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("ParseManifest with schema %s: %v, want an error that says %q", schema, err, want)
		}
	}
}
