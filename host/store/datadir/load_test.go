package datadir_test

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/space"
)

// handMade is a bundle with one memory, whose value is nested.
func handMade(depth int) string {
	body := `{"alcove":"bundle","format":1,"since":0,"until":2}
{"branches":[0,1]}
{"point":[1,1795311449891930]}
{"point":[2,1795311449920926]}
{"branch":0}
{"b":0,"n":"_","c":"_branches","k":"00000000000000000001","v":1,"x":{"name":"default"}}
{"branch":1}
{"b":1,"n":"default","c":"memory","k":"k","v":2,"x":{"v":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `,"a":"a"}}
`
	return body + fmt.Sprintf(`{"end":true,"lines":8,"sha256":"%x"}`, sha256.Sum256([]byte(body))) + "\n"
}

func TestAValueThatIsNestedTooDeepIsNotLoaded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	_, err := space.Directory(dir).Import(t.Context(), strings.NewReader(handMade(1024)), nil)
	if err == nil || !strings.Contains(err.Error(), `line 8: the value of "k" in "default" is nested 1025 deep: at most 1024 are loaded`) {
		t.Errorf("Import: %v, want line 8 refused as nested 1025 deep", err)
	}
	if has, err := space.Directory(dir).HasStore(); has || err != nil {
		t.Errorf("there is a store: %v, %v", has, err)
	}
	if v, err := space.Directory(dir).Import(t.Context(), strings.NewReader(handMade(1023)), nil); err != nil || v.Versions == 0 {
		t.Errorf("Import = %+v, %v, want versions", v, err)
	}
}
