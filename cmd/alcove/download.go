package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/abi"
)

const (
	downloadTime  = 5 * time.Minute
	mostRedirects = 5
)

// fromElsewhere reports whether a module to be installed is to be downloaded.
func fromElsewhere(name string) bool {
	return strings.HasPrefix(name, "https://") || strings.HasPrefix(name, "http://")
}

// moduleFrom reads a module from a file or a URL. source is where it comes from, for the lock file.
func moduleFrom(ctx context.Context, name string) (module []byte, source string, err error) {
	if !fromElsewhere(name) {
		module, err = readModule(name)
		return module, filepath.Base(name), err
	}
	u, digest, err := pinned(name)
	if err != nil {
		return nil, "", &usageError{err}
	}
	if module, err = download(ctx, u, abi.DefaultModuleLimits().ModuleBytes, "modules"); err != nil {
		return nil, "", fmt.Errorf("download %s: %w", u.Redacted(), err)
	}
	if sum := sha256.Sum256(module); hex.EncodeToString(sum[:]) != digest {
		return nil, "", fmt.Errorf("download %s: its SHA-256 is %x, not %s: it is not the module that was reviewed", u.Redacted(), sum, digest)
	}
	u.RawQuery = "" // it may have a token
	return module, u.String(), nil
}

var pin = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256=([0-9a-f]{64})$`) })

// pinned splits a URL from the digest that the module must have.
func pinned(text string) (*url.URL, string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, "", err
	}
	found := pin().FindStringSubmatch(u.Fragment)
	switch {
	case u.Scheme != "https" || u.Host == "" || u.User != nil:
		return nil, "", fmt.Errorf("%s: give an address of https, without a password", u.Redacted())
	case found == nil:
		return nil, "", fmt.Errorf("%s: end it with #sha256= and the 64 hexadecimal digits of the module that was reviewed: alcove family inspect shows them", u.Redacted())
	}
	u.Fragment = ""
	return u, found[1], nil
}

// download gets most bytes of what an error calls kind. Redirects are followed to https alone: what comes is known by its digest.
func download(ctx context.Context, u *url.URL, most int64, kind string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	client := &http.Client{CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme != "https" || len(via) > mostRedirects {
			return errors.New("it redirects too often, or to an address that is not of https")
		}
		return nil
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it has more than %d bytes, which is the limit of %s", most, kind)
	}
	return data, err
}
