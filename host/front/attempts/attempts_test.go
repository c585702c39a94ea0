package attempts

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

func TestFailuresAreForgottenAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New()
		from := func(address string) bool {
			r := httptest.NewRequest("POST", "/", nil)
			r.RemoteAddr = address + ":1"
			return f.Add(r)
		}
		for i := range most + 1 {
			if got, want := from("10.0.0.1"), i >= most; got != want {
				t.Errorf("failure %d is too many: %v, want %v", i+1, got, want)
			}
		}
		if from("10.0.0.2") {
			t.Error("the failures of one address count for another")
		}
		time.Sleep(period + time.Second)
		synctest.Wait()
		if from("10.0.0.1") {
			t.Error("failures count after a minute")
		}
		for i := range 2 * mostAddresses {
			from(fmt.Sprintf("10.1.%d.%d", i/256, i%256))
		}
		if len(f.count) > mostAddresses {
			t.Errorf("the failures of %d addresses are kept, want at most %d", len(f.count), mostAddresses)
		}
	})
}
