package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/capture/hook"
	"github.com/alcove-memory/alcove/host/daemon/clients"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

// clientFile is a list of servers in a file of a client.
type clientFile struct {
	clients.Client
	clients.Place
}

// configurations lists the files of known clients: the user's own, and those of the folder that the command runs in.
func (a *app) configurations(folder string) (list []clientFile) {
	m := a.machine(folder)
	if m.Home == "" {
		return nil
	}
	for _, c := range clients.All() {
		for _, place := range c.Places(m) {
			list = append(list, clientFile{c, place})
		}
	}
	return slices.CompactFunc(list, func(a, b clientFile) bool { // the folder may be the home
		return a.Path == b.Path && slices.Equal(a.Place.List, b.Place.List)
	})
}

// serverEntry is a server in a client's configuration.
type serverEntry struct {
	Command string
	Args    []string
	Env     map[string]string
	URL     string
	Headers map[string]string
}

// UnmarshalJSON reads the forms of all clients: Zed's command may be an object, opencode's is all words, Windsurf calls url serverUrl.
func (l *serverEntry) UnmarshalJSON(raw []byte) error {
	var read struct {
		Command     json.RawMessage
		Args        []string
		Env         map[string]string
		Environment map[string]string
		URL         string
		ServerURL   string
		HTTPURL     string
		Headers     map[string]string
		HTTPHead    map[string]string `json:"http_headers"`
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		return err
	}
	if read.Env == nil {
		read.Env = read.Environment
	}
	*l = serverEntry{Args: read.Args, Env: read.Env, URL: cmp.Or(read.URL, read.ServerURL, read.HTTPURL), Headers: read.Headers}
	if l.Headers == nil {
		l.Headers = read.HTTPHead
	}
	if len(read.Command) == 0 || json.Unmarshal(read.Command, &l.Command) == nil {
		return nil
	}
	var words []string
	if json.Unmarshal(read.Command, &words) == nil && len(words) > 0 {
		l.Command, l.Args = words[0], words[1:]
		return nil
	}
	var nested struct {
		Path string
		Args []string
		Env  map[string]string
	}
	if err := json.Unmarshal(read.Command, &nested); err != nil {
		return err
	}
	l.Command, l.Args, l.Env = nested.Path, nested.Args, nested.Env
	return nil
}

// ours reports whether an entry is about this program.
func (l serverEntry) ours(name string) bool {
	base := strings.TrimSuffix(strings.ToLower(filepath.Base(filepath.ToSlash(l.Command))), ".exe")
	return base == "alcove" || strings.Contains(strings.ToLower(name), "alcove")
}

// value returns what an entry's arguments have for a flag, or its environment for a variable; empty: neither.
func (l serverEntry) value(flag, variable string) string {
	for i, arg := range l.Args {
		if value, ok := strings.CutPrefix(arg, flag+"="); ok {
			return value
		}
		if arg == flag && i+1 < len(l.Args) {
			return l.Args[i+1]
		}
	}
	return l.Env[variable]
}

// examineClients looks at the configurations of clients that name this program.
func (a *app) examineClients(dir string) (found []finding) {
	folder, err := os.Getwd()
	if err != nil {
		folder = "."
	}
	connected, unread := map[string]bool{}, map[string]bool{}
	for _, c := range a.configurations(folder) {
		servers, err := c.servers()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			unread[c.Name] = true
			found = append(found, finding{"client", noted, fmt.Sprintf("%s: %s could not be read: %v", c.Title, c.Path, err)})
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(servers)) {
			if s := servers[name]; s.ours(name) {
				connected[c.Name] = true
				found = append(found, c.judge(name, s, dir))
			}
		}
	}
	m := a.machine(folder)
	for _, c := range clients.All() {
		if m.Home == "" {
			continue
		}
		if has := c.Plugin(m); has != "" {
			twice := connected[c.Name] || len(c.InstalledHooks(m)) > 0
			found = append(found, a.judgePlugin(c, has, dir, twice))
		} else if !connected[c.Name] && !unread[c.Name] && c.Installed(m, a.lookPath) {
			found = append(found, finding{"client", noted, fmt.Sprintf("%s is not connected: alcove setup %s connects it", c.Title, c.Name)})
		}
	}
	return found
}

// judgePlugin tells whether a client's plugin leads to the data directory, and whether it is the only way there.
func (a *app) judgePlugin(c clients.Client, has, dir string, twice bool) finding {
	says := fmt.Sprintf("%s: the plugin alcove (%s) ", c.Title, has)
	if _, err := a.lookPath("alcove"); err != nil {
		return finding{"client", bad, says + "starts alcove, which is not on the PATH: put the program there"}
	}
	if twice {
		return finding{"client", noted, says + fmt.Sprintf("and entries of setup duplicate it: alcove setup --undo %s removes them", c.Name)}
	}
	if usual := defaultData(a.env); !samePath(usual, dir) {
		return finding{"client", noted, says + "uses the data directory " + usual}
	}
	return finding{"client", fine, says + "is fine"}
}

// examineHooks says for which clients this program runs when something happens in them, if it answers, and when it did.
func (a *app) examineHooks() (found []finding) {
	folder, err := os.Getwd()
	if err != nil {
		folder = "."
	}
	m := a.machine(folder)
	if m.Home == "" {
		return nil
	}
	for _, c := range clients.All() {
		events := c.InstalledHooks(m)
		useless := slices.DeleteFunc(slices.Clone(events), func(e clients.Event) bool { return hook.Serves(hook.Client(c.Name), hook.Event(e)) })
		switch {
		case len(useless) > 0:
			found = append(found, finding{"hooks", bad, fmt.Sprintf("%s runs alcove hook at %s, which this version does not answer: alcove setup --undo %s, then alcove setup %[3]s",
				c.Title, joined(useless), c.Name)})
		case len(events) > 0:
			found = append(found, finding{"hooks", fine, fmt.Sprintf("%s runs alcove hook at %s", c.Title, joined(events))})
		}
	}
	return append(found, a.examineHookRuns()...)
}

// judge tells whether an entry leads to the data directory.
func (c clientFile) judge(name string, s serverEntry, dir string) finding {
	where := fmt.Sprintf("%s: %q in %s ", c.Title, name, c.Path)
	again := fmt.Sprintf("; alcove connect %s prints the lines that do, and alcove setup %[1]s writes them", c.Name)
	wrong := func(format string, args ...any) finding {
		return finding{"client", bad, where + fmt.Sprintf(format, args...) + again}
	}
	if s.URL != "" {
		return c.judgeURL(s, dir, where, wrong)
	}
	if s.Command == "" {
		return wrong("names neither a command nor a url")
	}
	if _, err := exec.LookPath(s.Command); err != nil {
		return wrong("starts %s, which cannot be run: %v", s.Command, errors.Unwrap(err))
	}
	if server := s.value("--url", "ALCOVE_URL"); server != "" {
		return finding{"client", noted, where + "uses the server " + server}
	}
	other := s.value("--data", "ALCOVE_DATA")
	if other == "" || samePath(other, dir) {
		if keysRequired(dir) && s.value("--key-file", "ALCOVE_KEY") == "" {
			return wrong("presents no API key, which the server requires")
		}
		return finding{"client", fine, where + "is fine"}
	}
	if info, err := os.Stat(other); err != nil || !info.IsDir() {
		return wrong("uses the data directory %s, which does not exist", other)
	}
	return finding{"client", noted, where + "uses another data directory: " + other}
}

func (c clientFile) judgeURL(s serverEntry, dir, where string, wrong func(string, ...any) finding) finding {
	at, err := url.Parse(s.URL)
	if err != nil || at.Host == "" {
		return wrong("has an invalid url")
	}
	r, err := owner.ReadRecord(dir)
	switch token, _ := os.ReadFile(owner.TokenPath(dir)); {
	case err != nil || r.HTTP == "":
		return finding{"client", noted, where + "uses " + at.Host + ", which answers only while a server listens there: alcove service install"}
	case !strings.HasSuffix(r.HTTP, ":"+at.Port()):
		return wrong("uses %s, and the server listens on %s", at.Host, r.HTTP)
	case keysRequired(dir) && !presents(s.Headers, ""):
		return wrong("presents no API key, which the server requires")
	case !presents(s.Headers, strings.TrimSpace(string(token))):
		return wrong("presents neither the token of the data directory nor an API key")
	}
	return finding{"client", fine, where + "is fine"}
}

// keysRequired reports whether a directory's server refuses clients without a key. What is wrong with the file of the keys, the server says.
func keysRequired(dir string) bool {
	required, err := keys.Required(owner.KeysPath(dir))
	return err == nil && required
}

// presents reports whether headers have the token or an API key. Values that clients fill in later count.
func presents(headers map[string]string, token string) bool {
	for name, value := range headers {
		if strings.EqualFold(name, "Authorization") {
			given := strings.TrimSpace(strings.TrimPrefix(value, "Bearer "))
			return given != "" && given == token || strings.HasPrefix(given, "alcove_key_") || strings.Contains(given, "${")
		}
	}
	return false
}

func samePath(a, b string) bool {
	one, errA := filepath.EvalSymlinks(a)
	other, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && one == other || filepath.Clean(a) == filepath.Clean(b)
}

// servers reads the servers in a client's configuration.
func (c clientFile) servers() (map[string]serverEntry, error) {
	raw, err := c.Place.Read()
	if err != nil {
		return nil, err
	}
	found := map[string]serverEntry{}
	return found, member(raw, c.Place.List, found)
}

// member adds the servers below the members of an object.
func member(raw json.RawMessage, path []string, found map[string]serverEntry) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return errors.New("it is not a JSON object")
	}
	if len(path) == 0 {
		for name, value := range members {
			var s serverEntry
			if json.Unmarshal(value, &s) == nil {
				found[name] = s
			}
		}
		return nil
	}
	for name, value := range members {
		if (path[0] == name || path[0] == "*") && bytes.HasPrefix(bytes.TrimSpace(value), []byte("{")) {
			if err := member(value, path[1:], found); err != nil {
				return err
			}
		}
	}
	return nil
}
