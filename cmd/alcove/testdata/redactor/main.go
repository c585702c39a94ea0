// Command redactor is a later version of the example family redactor: it reads memories, and panics about some.
package main

import (
	"bytes"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// begin is how a token begins.
const begin = "sk-"

func isPart(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' }

func redacted(text []byte) (out []byte) {
	for {
		before, rest, found := bytes.Cut(text, []byte(begin))
		out = append(out, before...)
		if !found {
			return out
		}
		for len(rest) > 0 && isPart(rest[0]) {
			rest = rest[1:]
		}
		out, text = append(out, "[token]"...), rest
	}
}

func store(c *alcove.Call, entries []alcove.Entry) ([]*alcove.Change, error) {
	changes := make([]*alcove.Change, len(entries))
	for i, e := range entries {
		switch {
		case strings.Contains(strings.Join(append(append(e.Links, e.Supersedes...), e.Key), " "), begin):
			return nil, alcove.Refuse("its key, or a link, has a token")
		case strings.HasPrefix(e.Key, "panic"):
			panic("it cannot cope")
		case strings.HasPrefix(e.Key, "look"):
			if _, err := c.Find(alcove.ID{Namespace: e.Namespace, Key: e.Key}); err != nil {
				return nil, err
			}
		}
		changed := &alcove.Change{Value: redacted(e.Value), Metadata: map[string]alcove.Raw{}}
		for _, tag := range e.Tags {
			changed.Tags = append(changed.Tags, string(redacted([]byte(tag))))
		}
		for name, value := range e.Metadata {
			changed.Metadata[name] = redacted(value)
		}
		changes[i] = changed
	}
	return changes, nil
}

func redact(_ *alcove.Call, arguments alcove.Raw) (alcove.Raw, error) {
	return nil, alcove.Errorf(alcove.Unavailable, "this version shows nothing")
}

func init() {
	f := alcove.New()
	f.HandleTool("memory_redact_text", redact)
	f.OnStore(store)
	alcove.Serve(f)
}

func main() {}
