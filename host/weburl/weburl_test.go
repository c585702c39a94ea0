package weburl

import "testing"

func TestCredentialsGoToHTTPSOrToThisMachine(t *testing.T) {
	for text, fine := range map[string]struct{ any, root bool }{
		"https://memory.example.org": {true, true}, "https://memory.example.org:8443": {true, true}, "http://localhost:9742": {true, true}, "http://127.0.0.1:1": {true, true}, "http://[::1]:1": {true, true},
		"https://memory.example.org/": {true, false}, "https://memory.example.org/a/b": {true, false}, "https://Memory.example.org": {true, false},
		"": {}, "a": {}, "login.example.org": {}, "http://memory.example.org": {}, "ftp://a": {}, "https://a\n": {},
		"https://a?": {}, "https://a?b": {}, "https://a#": {}, "https://a#b": {}, "https://u@a": {}, "https://u:p@a": {},
	} {
		if err := Check("the URL", text); (err == nil) != fine.any {
			t.Errorf("Check(%q): got %v, want it allowed: %t", text, err, fine.any)
		}
		if err := CheckRoot("the URL", text); (err == nil) != fine.root {
			t.Errorf("CheckRoot(%q): got %v, want it allowed: %t", text, err, fine.root)
		}
	}
}

func TestThisMachineHasSeveralNames(t *testing.T) {
	for host, here := range map[string]bool{"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.1.2.3": true, "::1": true, "": false, "10.0.0.1": false, "localhost.example.org": false} {
		if got := IsHere(host); got != here {
			t.Errorf("IsHere(%q): got %t, want %t", host, got, here)
		}
	}
}
