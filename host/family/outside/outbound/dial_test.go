package outbound

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/registry"
)

// names is a resolver whose names have other addresses each time, the last ones from then on.
func names(rounds ...string) (resolve func(context.Context, string) ([]netip.Addr, error), asked *int) {
	asked = new(int)
	return func(context.Context, string) (list []netip.Addr, _ error) {
		now := rounds[min(*asked, len(rounds)-1)]
		*asked++
		for _, a := range strings.Fields(now) {
			list = append(list, netip.MustParseAddr(a))
		}
		return list, nil
	}, asked
}

// redirected dials a server whatever the address, and notes the addresses.
func redirected(server string) (dial func(context.Context, string, string) (net.Conn, error), dialled *[]string) {
	dialled = new([]string)
	u, _ := url.Parse(server)
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		*dialled = append(*dialled, address)
		return (&net.Dialer{}).DialContext(ctx, network, u.Host)
	}, dialled
}

func sends(context.Context) error { return nil }

func TestANameIsDialledAtTheAddressThatWasChecked(t *testing.T) {
	server, _, _ := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {})
	c := quick()
	var asked *int
	var dialled *[]string
	c.Resolve, asked = names("93.184.215.14", "127.0.0.1") // it changes after the check
	c.Dial, dialled = redirected(server)
	if _, err := c.Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: "http://api.test"}, abi.HTTPFetchRequest{}, sends); err != nil {
		t.Fatal(err)
	}
	if *asked != 1 || !slices.Equal(*dialled, []string{"93.184.215.14:80"}) {
		t.Errorf("resolved %d times, dialled %q", *asked, *dialled)
	}
	_, err := c.Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: "http://api.test"}, abi.HTTPFetchRequest{}, sends)
	var failed *Failure
	if !errors.As(err, &failed) || !failed.NoEffect() || len(*dialled) != 1 {
		t.Errorf("afterwards: %v, dialled %q", err, *dialled)
	}
}

func TestAddressesThatNobodyAllowedAreRefused(t *testing.T) {
	server, _, _ := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {})
	refused := []string{"169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "fd00:ec2::254", "100.100.100.200", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "0.0.0.0", "::", "224.0.0.1", "255.255.255.255",
		"198.18.0.1", "2001:db8::1", "93.184.215.14 169.254.169.254"}
	inside := []string{"127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "172.16.5.4", "192.168.1.1", "fd12::1", "64:ff9b::7f00:1", "93.184.215.14 10.0.0.1"}
	for _, private := range []bool{false, true} {
		for _, addresses := range append(slices.Clone(refused), inside...) {
			c := quick()
			c.Kept = &Kept{}
			c.Resolve, _ = names(addresses)
			var dialled *[]string
			c.Dial, dialled = redirected(server)
			_, err := c.Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: "http://api.test/x", Private: private}, abi.HTTPFetchRequest{}, sends)
			if allowed := private && slices.Contains(inside, addresses); allowed != (err == nil) || !allowed && len(*dialled) > 0 {
				t.Errorf("private %v: %s: %v, dialled %q", private, addresses, err, *dialled)
			}
			var failed *Failure
			if err != nil && (!errors.As(err, &failed) || strings.Contains(err.Error(), "api.test") || !strings.Contains(failed.Cause().Error(), "if it is meant")) {
				t.Errorf("%s: the guest reads %q, the operator %q", addresses, err, failed.Cause())
			}
		}
	}
}

func TestARedirectLeadsNowhere(t *testing.T) {
	for _, to := range []string{"http://169.254.169.254/latest/meta-data/", "http://[::1]:80/", "http://[::ffff:169.254.169.254]/", "//169.254.169.254/", "http://2852039166/"} {
		server, asked, _ := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		})
		c := quick()
		c.Resolve, _ = names("93.184.215.14")
		var dialled *[]string
		c.Dial, dialled = redirected(server)
		for _, method := range []string{"GET", "POST"} {
			got, err := c.Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: "http://api.test"}, abi.HTTPFetchRequest{Method: method}, sends)
			if err != nil || got.Status != http.StatusTemporaryRedirect {
				t.Errorf("redirected to %s: Fetch = %+v, %v, want status %d", to, got, err, http.StatusTemporaryRedirect)
			}
		}
		if len(*asked) != 2 || len(*dialled) != 2 || slices.ContainsFunc(*dialled, func(a string) bool { return a != "93.184.215.14:80" }) {
			t.Errorf("%s: %d requests, dialled %q", to, len(*asked), *dialled)
		}
	}
}

func TestAnAddressInFiguresAndLocalhostAreTheOperatorsWord(t *testing.T) {
	server, _, _ := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {})
	for address, host := range map[string]string{"http://169.254.169.254": "", "http://[::1]": "", "http://localhost": "127.0.0.1 ::1"} {
		c := quick()
		c.Resolve, _ = names(host)
		c.Dial, _ = redirected(server)
		if _, err := c.Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: address}, abi.HTTPFetchRequest{}, sends); err != nil {
			t.Errorf("Fetch of %s: %v", address, err)
		}
	}
	c := quick()
	c.Resolve, _ = names("10.0.0.1")
	c.Dial, _ = redirected(server)
	if _, err := c.Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: "http://localhost"}, abi.HTTPFetchRequest{}, sends); err == nil {
		t.Error("localhost led to another machine")
	}
}

// TestABodyThatUnpacksWithoutEndIsCutOff has an endpoint answer with compressed zeros.
func TestABodyThatUnpacksWithoutEndIsCutOff(t *testing.T) {
	server, _, _ := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(bomb(t))
	})
	if _, err := quick().Fetch(t.Context(), registry.Endpoint{Kind: "http", URL: server}, abi.HTTPFetchRequest{}, sends); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("Fetch of a bomb: %v, want an error that it is more than the limit", err)
	}
}

// bomb is some kilobytes that unpack to 64 MiB.
func bomb(t *testing.T) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for range 64 {
		z.Write(make([]byte, 1<<20))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}
