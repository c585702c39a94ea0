// Package weburl judges the URLs of servers to which credentials go.
package weburl

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// IsHere reports whether the name or address of a host means this machine.
func IsHere(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.IsLoopback()
}

// Check returns why a URL, which is called what in the error, is not that of a server to which clients send credentials: an https URL
// without a user, a query and a fragment. On this machine it may be http.
func Check(what, text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "", u.User != nil, u.RawQuery != "" || u.ForceQuery, strings.Contains(text, "#"):
		return fmt.Errorf("%s %.200q is not a URL of a server: give one such as https://memory.example.org, without a user, a query and a fragment", what, text)
	case u.Scheme != "https" && !(u.Scheme == "http" && IsHere(u.Hostname())):
		return fmt.Errorf("%s %.200q must be an https URL, because clients send it their credentials", what, text)
	}
	return nil
}

// CheckRoot is Check for the URL of a whole server, as clients compare it: in small letters, and without a path.
func CheckRoot(what, text string) error {
	if err := Check(what, text); err != nil {
		return err
	}
	if u, err := url.Parse(text); err != nil || u.Path != "" || text != strings.ToLower(text) {
		return fmt.Errorf("%s %.200q is not that of a whole server: give it in small letters, without a path and without a slash at its end", what, text)
	}
	return nil
}
