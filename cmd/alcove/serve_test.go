package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestTheLogOfAServerHasAFormatAndALevel(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, err := serverLog(&out, "json", "warn")
	if err != nil {
		t.Fatal(err)
	}
	log.Info("left out")
	log.Warn("kept", "space", "work")
	var line struct{ Level, Msg, Space string }
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Level != "WARN" || line.Msg != "kept" || line.Space != "work" {
		t.Errorf("in JSON from warn on: got %s, %v, want the warning alone", out.String(), err)
	}
	for flag, wrong := range map[string][2]string{"--log-format": {"xml", "info"}, "--log-level": {"text", "loud"}} {
		if _, err := serverLog(&out, wrong[0], wrong[1]); err == nil || !strings.HasPrefix(err.Error(), flag) {
			t.Errorf("with %q: got %v, want an error that begins with %s", wrong, err, flag)
		}
	}
}
