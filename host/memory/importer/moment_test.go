package importer

import (
	"encoding/json"
	"testing"
	"time"
)

func TestMomentsAreReadAsOtherToolsWriteThem(t *testing.T) {
	for written, want := range map[string]string{
		`"2025-06-10T09:00:00Z"`:             "2025-06-10T09:00:00Z",
		`"2025-06-10T11:00:00.250000+02:00"`: "2025-06-10T09:00:00.25Z",
		`"2025-06-10T09:00:00.25"`:           "2025-06-10T09:00:00.25Z",
		`"2025-06-10 09:00:00"`:              "2025-06-10T09:00:00Z",
		`"2025-06-10 09:00"`:                 "2025-06-10T09:00:00Z",
		`"2025-06-10"`:                       "2025-06-10T00:00:00Z",
		`1749546000`:                         "2025-06-10T09:00:00Z",
		`1749546000.25`:                      "2025-06-10T09:00:00.25Z",
		`1749546000250`:                      "2025-06-10T09:00:00.25Z",
		`"in June"`:                          "", `""`: "", `"0001-01-01T00:00:00Z"`: "", `0`: "", `-5`: "", `1e300`: "", `null`: "", `{}`: "", `true`: "",
	} {
		var m moment
		if err := json.Unmarshal([]byte(written), &m); err != nil {
			t.Errorf("decode %s: %v, want no error", written, err)
		}
		got := ""
		if at := m.at(); at != nil {
			got = at.Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", written, got, want)
		}
	}
}
