package alcovetest

import (
	"encoding/json"

	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// marshal writes a value with its own codec, if it has one: encoding/json knows nothing of the names in it.
func marshal(v any) ([]byte, error) {
	if e, ok := v.(scan.Encoder); ok {
		return scan.Encode(e)
	}
	return json.Marshal(v)
}

// unmarshal reads a value with its own codec, if it has one.
func unmarshal(data []byte, into any) error {
	if d, ok := into.(scan.Decoder); ok {
		return scan.Decode(data, d)
	}
	return json.Unmarshal(data, into)
}
