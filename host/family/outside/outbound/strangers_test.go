package outbound

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestWhatStrangersNameIsReadOnThePublicInternetAlone(t *testing.T) {
	server, _, _ := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "http://api.test/inside", http.StatusFound)
		}
	})
	get := func(url string, addresses ...string) (int, []string, error) {
		t.Helper()
		c := quick()
		c.Resolve, _ = names(addresses...)
		var dialled *[]string
		c.Dial, dialled = redirected(server)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.Public().Do(r)
		if err != nil {
			return 0, *dialled, err
		}
		answer.Body.Close()
		return answer.StatusCode, *dialled, nil
	}
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1") // which would look up the name itself
	if _, dialled, err := get("http://api.test/x", "93.184.215.14"); err != nil || !slices.Equal(dialled, []string{"93.184.215.14:80"}) {
		t.Errorf("a public name: %v, dialled %q, want its address", err, dialled)
	}
	if status, dialled, err := get("http://api.test/moved", "93.184.215.14", "127.0.0.1"); err != nil || status != http.StatusFound || len(dialled) != 1 {
		t.Errorf("a redirect: got %d, %v, dialled %q, want it not followed", status, err, dialled)
	}
	for what, c := range map[string][]string{
		"this machine in figures":           {"http://127.0.0.1/x"},
		"this machine by its name":          {"http://localhost/x", "127.0.0.1"},
		"this machine by its name and dot":  {"http://localhost./x", "::1"},
		"a private network in figures":      {"http://10.0.0.1/x"},
		"metadata of a cloud in figures":    {"http://169.254.169.254/x"},
		"this machine as IPv4 in IPv6":      {"http://[::ffff:127.0.0.1]/x"},
		"a name of a private network":       {"http://api.test/x", "192.168.1.1"},
		"a name of this machine":            {"http://api.test/x", "127.0.0.1"},
		"a name with one private address":   {"http://api.test/x", "93.184.215.14 10.0.0.1"},
		"a name that is rebound to private": {"http://api.test/x", "127.0.0.1", "93.184.215.14"},
	} {
		if _, dialled, err := get(c[0], append(c[1:], "127.0.0.1")...); !errors.Is(err, errForbidden) || len(dialled) > 0 {
			t.Errorf("%s: %v, dialled %s, want it forbidden", what, err, strings.Join(dialled, " "))
		}
	}
}
