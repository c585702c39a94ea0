package clients

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/daemon/clients/edit"
	"github.com/alcove-memory/alcove/host/internal/profile"
)

// Server is a server in a client's configuration.
type Server struct {
	Name    string // of the entry
	Program string
	Args    []string
	Env     map[string]string
	URL     string            // over HTTP
	Headers map[string]string // likewise
	Profile string            // which tools are listed; empty: that of the client, so far as it is known

	Hook func(event Event, client string) string // the command of a hook; empty: it is not written; nil: none is
}

// Entry is a server in the form of a client; its members are in the usual order.
type Entry struct {
	Type        string            `json:"type,omitempty"`
	Command     any               `json:"command,omitempty"` // a word, or all words
	Args        []string          `json:"args,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
	Environment map[string]string `json:"environment,omitempty"` // as opencode calls it
	URL         string            `json:"url,omitempty"`
	HTTPURL     string            `json:"httpUrl,omitempty"` // as Gemini CLI calls it
	Headers     map[string]string `json:"headers,omitempty"`
	HTTPHeaders map[string]string `json:"http_headers,omitempty"` // as Codex calls them
	Enabled     bool              `json:"enabled,omitempty"`
}

// typed is the usual form, with a type if it is not empty.
func typed(kind string) func(Server) Entry {
	return func(s Server) Entry {
		if s.URL != "" {
			return Entry{Type: kind, URL: s.URL, Headers: s.Headers}
		}
		return Entry{Type: kind, Command: s.Program, Args: s.Args, Env: s.Env}
	}
}

func plain(s Server) Entry { return typed("")(s) }

func geminiHTTP(s Server) Entry { return Entry{HTTPURL: s.URL, Headers: s.Headers} }

func codexHTTP(s Server) Entry { return Entry{URL: s.URL, HTTPHeaders: s.Headers} }

func opencodeStdio(s Server) Entry {
	return Entry{Type: "local", Command: append([]string{s.Program}, s.Args...), Environment: s.Env, Enabled: true}
}

func opencodeHTTP(s Server) Entry {
	return Entry{Type: "remote", URL: s.URL, Headers: s.Headers, Enabled: true}
}

// HasHTTP reports whether the client has a form for HTTP.
func (c Client) HasHTTP() bool { return c.http != nil }

// Lines are what goes into the client's configuration: for HTTP if the server has a URL.
func (c Client) Lines(s Server) (string, error) {
	text, _, err := c.Format.Set(nil, append(slices.Clone(c.List), s.Name), c.entry(s))
	return string(bytes.TrimSuffix(text, []byte("\n"))), err
}

// For returns the server with the options of the client's profile. The server would know the client by its name; the entry shows it, and is
// where its owner chooses another.
func (c Client) For(s Server) Server {
	name := cmp.Or(s.Profile, profile.OfSetup(c.Name), profile.Auto)
	switch {
	case name == profile.Auto, slices.ContainsFunc(s.Args, choosesTools), strings.Contains(s.URL, "?"):
	case s.URL != "" && s.Profile == "": // addresses stay short
	case s.URL != "":
		s.URL += "?profile=" + name
	default:
		s.Args = append(slices.Clone(s.Args), profileOption, name)
	}
	return s
}

// Profiles are those that alcove mcp knows.
func Profiles() []string { return profile.All() }

// choosesTools reports whether an option of alcove mcp says which tools are listed.
func choosesTools(option string) bool { return option == profileOption || option == "--families" }

const profileOption = "--profile" // of alcove mcp

func (c Client) entry(s Server) json.RawMessage { return c.plain(c.For(s)) }

// plain is an entry without the client's profile.
func (c Client) plain(s Server) json.RawMessage {
	form := c.stdio
	if s.URL != "" {
		form = c.http
	}
	return encoded(form(s))
}

func encoded(v any) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // strings and numbers cannot fail
	return bytes.TrimSpace(out.Bytes())
}

// merged is an entry that takes the place of an existing one: what its owner added to that stays, such as a time-out, a variable of the
// environment, or an argument after those that setup writes.
func merged(old, entry json.RawMessage) json.RawMessage {
	var before, after map[string]json.RawMessage
	if json.Unmarshal(old, &before) != nil || json.Unmarshal(entry, &after) != nil {
		return entry
	}
	if before["command"] == nil {
		delete(before, "type") // of a server over HTTP. That of a program stays: claude mcp add writes one
	}
	for _, name := range []string{"url", "serverUrl", "httpUrl", "headers", "http_headers", "bearer_token_env_var"} {
		delete(before, name)
	}
	delete(before, "alwaysLoad")                       // of all tools, as setup once wrote it: the server says which are always loaded
	for _, name := range []string{"args", "command"} { // opencode's command has the arguments
		if longer(before[name], after[name]) {
			after[name] = before[name]
		}
	}
	for _, name := range []string{"env", "environment"} {
		if combined := members(before[name]); len(combined) > 0 {
			maps.Copy(combined, members(after[name]))
			after[name] = encoded(combined)
		}
	}
	maps.Copy(before, after)
	return encoded(before)
}

// nameOf is the name under which the client has the server already, with the same arguments or more; else the server's own.
func (c Client) nameOf(s Server, text []byte) string {
	raw, err := present(c.Format, text, c.List)
	entries := members(raw)
	if err != nil || entries[s.Name] != nil {
		return s.Name
	}
	own := words(c.plain(s))
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if w := words(entries[name]); len(w) >= len(own) && sameProgram(w[0], own[0]) && slices.Equal(w[1:len(own)], own[1:]) {
			return name
		}
	}
	return s.Name
}

// words are the program of an entry and its arguments.
func words(entry json.RawMessage) []string {
	m := members(entry)
	var program string
	var all, args []string
	if json.Unmarshal(m["command"], &program) == nil {
		all = []string{program}
	} else {
		_ = json.Unmarshal(m["command"], &all) // what is neither has no words
	}
	_ = json.Unmarshal(m["args"], &args) // likewise
	return append(all, args...)
}

// has reports whether the entry of a name is the server's already, with the same arguments or more: its owner chose the profile.
func (c Client) has(s Server, text []byte, name string) bool {
	raw, err := present(c.Format, text, append(slices.Clone(c.List), name))
	own, there := words(c.plain(s)), words(raw)
	return err == nil && len(there) >= len(own) && slices.Equal(there[1:len(own)], own[1:])
}

func sameProgram(a, b string) bool {
	base := func(path string) string {
		return strings.TrimSuffix(strings.ToLower(path[strings.LastIndexAny(path, `/\`)+1:]), ".exe")
	}
	return base(a) == base(b)
}

// longer reports whether a list begins with all of another.
func longer(list, other json.RawMessage) bool {
	var long, short []string
	if json.Unmarshal(list, &long) != nil || json.Unmarshal(other, &short) != nil {
		return false
	}
	return len(long) > len(short) && slices.Equal(long[:len(short)], short)
}

func members(object json.RawMessage) (m map[string]json.RawMessage) {
	_ = json.Unmarshal(object, &m) // what is no object has none
	return m
}

// present reports whether an entry exists, and gives it.
func present(f edit.Format, text []byte, path []string) (json.RawMessage, error) {
	v, err := f.Value(text, path)
	if bytes.Equal(v, []byte("null")) {
		return nil, err
	}
	return v, err
}
