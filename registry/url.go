package registry

import (
	"fmt"
	"net/url"
)

// checkURL refuses what cannot be where an endpoint's paths begin.
func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return fmt.Errorf("url: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("url %q: give http or https, a host and perhaps a path; no password, query or fragment", text)
	}
	return nil
}
