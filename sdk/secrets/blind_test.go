package secrets_test

import (
	"strings"
	"testing"
)

func TestBlindCasesAreMeasured(t *testing.T) {
	var r report
	for _, s := range samplesIn(t, "blind-true.txt") {
		r.secret++
		out, ok := redacted(t)(s.text), true
		for _, secret := range s.secrets {
			ok = ok && !strings.Contains(out, secret)
		}
		if ok {
			r.found++
		} else {
			t.Logf("%s\n     became %s", s.line, out)
		}
	}
	for _, s := range samplesIn(t, "blind-false.txt") {
		r.harmless++
		if out := redacted(t)(s.text); out != s.text {
			r.false++
			t.Logf("FALSE %s\n     became %s", s.line, out)
		}
	}
	t.Logf("blind: %v", r)
}
