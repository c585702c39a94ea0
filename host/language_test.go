package host

import (
	"strings"
	"testing"
)

func TestLanguagesAreNamedByCollection(t *testing.T) {
	o, err := searched("german, notes=french")
	if err != nil || o.Language != "german" || len(o.Languages) != 1 || o.Languages["notes"] != "french" {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := searched(""); err != nil || o.Language != "" || len(o.Languages) != 0 {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := searched("klingon"); err == nil || !strings.Contains(err.Error(), "swedish") {
		t.Error(err)
	}
}
