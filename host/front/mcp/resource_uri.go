package mcp

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// Resources have URIs of these forms. NAMESPACE, KEY, NAME and ID are each one segment, in which every character but letters, digits and
// - _ ~ and . is escaped, and . and .. as a whole, too, which readers of URLs would resolve:
//
//	alcove://memory/NAMESPACE/KEY            the value of a memory
//	alcove://memory/NAMESPACE/KEY/history    its versions
//	alcove://branch/NAME                     a branch
//	alcove://session/ID                      a session; ID is current, or that of the client's own
//
// A memory that is not on the branch default has ?branch=NAME.
const (
	scheme       = "alcove://"
	historyPart  = "history"
	currentID    = "current"
	longestURI   = 8 << 10 // bytes: a key has at most 1 KiB, and three times as much when escaped
	memoryHost   = "memory"
	branchHost   = "branch"
	sessionHost  = "session"
	branchInURIs = "branch" // the parameter
)

// resourceURI is what a URI names.
type resourceURI struct {
	host      string // memoryHost, branchHost or sessionHost
	namespace string // of a memory
	name      string // the key, the branch or the session
	branch    string // of a memory; never empty
	history   bool   // of a memory
}

// memoryURI returns the URI of a memory.
func memoryURI(branch, namespace, key string) resourceURI {
	return resourceURI{host: memoryHost, namespace: namespace, name: key, branch: branch}
}

func (u resourceURI) String() string {
	text := scheme + u.host + "/"
	if u.host != memoryHost {
		return text + segment(u.name)
	}
	text += segment(u.namespace) + "/" + segment(u.name)
	if u.history {
		text += "/" + historyPart
	}
	if u.branch != memory.Default {
		text += "?" + branchInURIs + "=" + segment(u.branch)
	}
	return text
}

// segment escapes a name.
func segment(name string) string {
	if name == "." || name == ".." {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}

// parseURI reads a URI. The error says what is wrong with it.
func parseURI(text string) (resourceURI, error) {
	if len(text) > longestURI {
		return resourceURI{}, fmt.Errorf("the URI has %d bytes: at most %d are allowed", len(text), longestURI)
	}
	rest, ours := strings.CutPrefix(text, scheme)
	if !ours {
		return resourceURI{}, errors.New("the URI must begin with " + scheme)
	}
	path, query, asks := strings.Cut(rest, "?")
	host, path, _ := strings.Cut(path, "/")
	parts := strings.Split(path, "/")
	u := resourceURI{host: host}
	switch {
	case host == memoryHost && asks:
		name, value, _ := strings.Cut(query, "=")
		if name != branchInURIs {
			return u, fmt.Errorf("the URI of a memory takes %s= after ?, and nothing else", branchInURIs)
		}
		parts = append(parts, value)
	case asks:
		return u, fmt.Errorf("the URI of a %s takes nothing after ?", tool.Clip(host, gotLength))
	case host == memoryHost:
		parts = append(parts, memory.Default)
	}
	for i, part := range parts {
		name, err := url.PathUnescape(part)
		if err != nil || name == "" {
			return u, fmt.Errorf("%q in the URI is not a name: write %% and / in names as %%25 and %%2F", tool.Clip(part, gotLength))
		}
		parts[i] = name
	}
	return u, u.take(parts)
}

// take fills in the parts of a URI's path, and of a memory's, the branch.
func (u *resourceURI) take(parts []string) error {
	switch {
	case u.host == memoryHost && len(parts) == 3, u.host == memoryHost && len(parts) == 4 && parts[2] == historyPart:
		u.namespace, u.name, u.branch, u.history = parts[0], parts[1], parts[len(parts)-1], len(parts) == 4
	case u.host == memoryHost:
		return errors.New("the URI of a memory is alcove://memory/NAMESPACE/KEY, or that with /history: write / in names as %2F")
	case (u.host == branchHost || u.host == sessionHost) && len(parts) == 1:
		u.name = parts[0]
	default:
		return errors.New("there are alcove://memory/NAMESPACE/KEY, alcove://branch/NAME and alcove://session/ID: write / in names as %2F")
	}
	return nil
}

// uriError is a URI that cannot be read.
type uriError struct{ error }
