package core

import (
	"strings"
	"testing"
)

func TestAnIDNamesItsNamespace(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"namespace":"work","key":"user/tz","value":"CET"}`)
	u.must("memory_store", `{"namespace":"work","key":"user/tz","value":"UTC"}`)
	got, _ := u.must("memory_recall", `{"key":"work#user/tz"}`)
	if !strings.Contains(got, `"key":"user/tz","namespace":"work","value":"UTC"`) {
		t.Errorf("recalled %s", got)
	}
	if got, _ := u.must("memory_recall", `{"id":"work#user/tz","namespace":"work"}`); !strings.Contains(got, `"UTC"`) {
		t.Errorf("recalled %s", got)
	}
	if got, _ := u.must("memory_history", `{"key":"work#user/tz"}`); strings.Count(got, `"value"`) != 2 {
		t.Errorf("the history is %s", got)
	}
	for _, none := range []string{`{"key":"home#user/tz"}`, `{"key":"work#user/tz","namespace":"home"}`, `{"key":"no name#user/tz"}`, `{"key":"#user/tz"}`, `{"key":"work#"}`, `{"key":"work#user/tz","branch":"default","as_of":"v1"}`} {
		if got, _ := u.must("memory_recall", none); !strings.Contains(got, `"found":false`) {
			t.Errorf("%s recalled %s", none, got)
		}
	}
	if got, _ := u.must("memory_forget", `{"key":["work#user/tz"]}`); !strings.Contains(got, `"deleted":true`) {
		t.Errorf("forgot %s", got)
	}
	if got, _ := u.must("memory_recall", `{"key":"user/tz","namespace":"work"}`); !strings.Contains(got, `"found":false`) {
		t.Errorf("it is still there: %s", got)
	}
}

func TestAKeyWithASignOfAnIDStaysReachable(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"namespace":"issue","key":"12","value":"elsewhere"}`)
	u.must("memory_store", `{"key":"issue#12","value":"here"}`)
	if got, _ := u.must("memory_recall", `{"key":"issue#12"}`); !strings.Contains(got, `"key":"issue#12","value":"here"`) {
		t.Errorf("recalled %s", got)
	}
	if got, _ := u.must("memory_history", `{"key":"issue#12"}`); !strings.Contains(got, `"here"`) {
		t.Errorf("the history is %s", got)
	}
	u.must("memory_forget", `{"key":"issue#12"}`)
	if got, _ := u.must("memory_recall", `{"key":"12","namespace":"issue"}`); !strings.Contains(got, `"elsewhere"`) {
		t.Errorf("the other one is gone: %s", got)
	}
}

func TestAForgetReachesOneNamespaceOrNone(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"namespace":"work","key":"a","value":1}`)
	u.must("memory_store", `{"key":"b","value":1}`)
	before := u.version()
	if got := u.refused("memory_forget", `{"key":["work#a","b"]}`); !strings.Contains(got, `"work#a" is in work, "b" in default`) {
		t.Errorf("refused with %s", got)
	}
	if u.version() != before {
		t.Error("something was forgotten")
	}
}
