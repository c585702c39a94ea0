package rights_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space/folder"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/sdk/client"
)

// The holders of two keys use one server. What bob keeps where ann may not read must not change any answer to her, so there are two
// servers whose bobs do the same things with different names and texts: every answer to ann has to be the same. In one of them,
// bob's texts have the words that she searches for.

// A tenancy says which namespaces each has, and where bob does what ann must not notice: %s is his secret word.
type tenancy struct {
	name     string
	ann, bob []string
	hidden   []string
	common   []string // where both may write
	spaces   bool     // each has a space of the server
}

var tenancies = []tenancy{
	{"disjoint", []string{"ann", "ann/*"}, []string{"bob", "bob/*"}, []string{"bob", "bob/%s"}, nil, false},
	{"overlapping", []string{"ann", "shared"}, []string{"bob", "shared", "bob-%s"}, []string{"bob", "bob-%s"}, []string{"shared"}, false},
	{"ann within bob", []string{"team/ann"}, []string{"team/*"}, []string{"team/bob", "team/%s"}, []string{"team/ann"}, false},
	{"bob within ann's parent", []string{"team/ann", "team/ann/*"}, []string{"team", "team/bob", "team/ann-%s"}, []string{"team", "team/ann-%s"}, nil, false},
	{"two spaces", []string{"team", "shared"}, []string{"team", "shared", "bob-%s"}, []string{"team", "shared", "bob-%s"}, nil, true},
}

var secretWords = [2]string{"zebra", "quagga"}

var commonWords = []string{"tea", "rain", "river", "database", "deploy", "Lisbon", "meeting", "decision"}

// leakRights are all that a key can have but for operators' acts.
var leakRights = []operator.Right{"read", "write", "branch", "config", "family:*"}

// A tenant world is one of the two servers.
type tenantWorld struct {
	*server.Server
	secret string
	ann    operator.IssuedKey
	bob    operator.IssuedKey
	socket *client.Session // ann's
	hints  bool            // bob's texts have common words
	bobs   string          // where bob's server is, as At.HTTP is ann's
}

func newTenantWorld(t *testing.T, which int, at tenancy) *tenantWorld {
	clock := testclock.At(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	w := &tenantWorld{secret: secretWords[which], hints: which == 0}
	hello, bobs := owner.Hello{}, operator.Server(nil)
	if at.spaces {
		hello.Space, bobs = "ann", w.openSpaces(t, clock)
	} else {
		w.Server = server.Carrying(t, host.Options{Clock: clock.Now})
		w.bobs, bobs = w.At.HTTP, w.Acts
	}
	named := func(list []string) []string {
		list = slices.Clone(list)
		for i := range list {
			list[i] = w.named(list[i])
		}
		return list
	}
	anns := w.Acts
	w.ann = w.Issue("ann", leakRights, named(at.ann)...)
	w.Acts = bobs
	w.bob = w.Issue("bob", leakRights, named(at.bob)...)
	w.Acts, hello.Key = anns, w.ann.Secret
	for _, key := range []operator.IssuedKey{w.ann, w.bob} {
		if answer := w.operate(key, "memory_namespaces", nil, nil); !strings.HasPrefix(answer, "200 ") {
			t.Fatalf("the holder of %s's key asks for namespaces: got %s, want 200", key.Agent, answer)
		}
	}
	var err error
	if w.socket, err = w.Connect(hello); err != nil {
		t.Fatal(err)
	}
	return w
}

// openSpaces starts a server with a space of ann's, which is taken for the server, and one of bob's, whose operator it returns.
func (w *tenantWorld) openSpaces(t *testing.T, clock *testclock.Clock) operator.Server {
	spaces := folder.Folder{Path: t.TempDir()}
	w.Server = server.StartOn(t, host.Options{Clock: clock.Now, Families: server.Families(), Cache: server.Cache()}, host.Listen{HTTP: "127.0.0.1:0", Spaces: &host.SpacesOptions{Dir: spaces.Path}})
	acts := map[string]operator.Server{}
	for _, name := range []string{"ann", "bob"} {
		dir := must.Get(spaces.Create(name))
		opened := must.Get(w.Connect(owner.Hello{Space: name}))
		t.Cleanup(func() { opened.Close() }) // which keeps the space open
		acts[name] = server.Operator(t, dir)
	}
	w.At.HTTP, w.bobs = w.At.HTTP+"/s/ann", w.At.HTTP+"/s/bob"
	w.Acts = acts["ann"]
	return acts["bob"]
}

func (w *tenantWorld) named(name string) string { return strings.ReplaceAll(name, "%s", w.secret) }

// text is bob's, of the same number of words in both worlds.
func (w *tenantWorld) text(r *rand.Rand) string {
	words := []string{w.secret}
	for range 1 + r.IntN(6) {
		word := commonWords[r.IntN(len(commonWords))]
		if !w.hints {
			word = "quagga" + strconv.Itoa(len(word))
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// operate runs an operation over HTTP with a key.
func (w *tenantWorld) operate(key operator.IssuedKey, method string, params any, options map[string]any) string {
	w.T.Helper()
	body, err := json.Marshal(map[string]any{"method": method, "params": params, "options": options})
	if err != nil {
		w.T.Fatal(err)
	}
	return w.ask(key, http.MethodPost, "/operation", body)
}

func (w *tenantWorld) ask(key operator.IssuedKey, method, path string, body []byte) string {
	w.T.Helper()
	base := w.At.HTTP
	if key.ID == w.bob.ID {
		base = w.bobs
	}
	q, err := http.NewRequestWithContext(w.T.Context(), method, "http://"+base+path, bytes.NewReader(body))
	if err != nil {
		w.T.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+key.Secret)
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		w.T.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.T.Fatal(err)
	}
	return fmt.Sprint(answer.StatusCode, " ", string(text))
}

// A leaker is what bob and ann do, in both worlds alike.
type leaker struct {
	t      *testing.T
	at     tenancy
	worlds [2]*tenantWorld
	random *rand.Rand
	tools  []offeredTool
	plant  plants
	leak   string // an answer that depended on what is hidden; empty: none did
}

// plants answer in place of the server to some methods, so that the search for leaks is shown to find them.
type plants map[string]func(w *tenantWorld, params, options map[string]any) string

// offeredTool is one that ann may call.
type offeredTool struct {
	Name   string      `json:"name"`
	Schema schemaOfArg `json:"input_schema"`
}

// schemaOfArg is what is used of a JSON Schema to make arguments.
type schemaOfArg struct {
	Type       any                    `json:"type"`
	Enum       []any                  `json:"enum"`
	Properties map[string]schemaOfArg `json:"properties"`
	Required   []string               `json:"required"`
	Items      *schemaOfArg           `json:"items"`
	AnyOf      []schemaOfArg          `json:"anyOf"`
	OneOf      []schemaOfArg          `json:"oneOf"`
}

func newLeaker(t *testing.T, at tenancy, seed uint64) *leaker {
	l := &leaker{t: t, at: at, random: rand.New(rand.NewPCG(seed, 1))}
	for i := range l.worlds {
		l.worlds[i] = newTenantWorld(t, i, at)
	}
	for range 6 {
		l.bobActs()
		l.annStores()
	}
	for _, family := range []string{"auto-tag", "ranking", "consolidation"} {
		l.compare("memory_load_family", map[string]any{"family": family}, nil, 0)
	}
	answer := l.worlds[0].ask(l.worlds[0].ann, http.MethodGet, "/operation/tools", nil)
	var list struct{ Tools []offeredTool }
	if err := json.Unmarshal([]byte(strings.TrimPrefix(answer, "200 ")), &list); err != nil || len(list.Tools) < 10 {
		t.Fatalf("ann is offered %d tools (%v): %s", len(list.Tools), err, answer)
	}
	l.tools = list.Tools
	return l
}

// each runs something in both worlds with the same random numbers.
func (l *leaker) each(do func(w *tenantWorld, r *rand.Rand)) {
	seed := l.random.Uint64()
	for _, w := range l.worlds {
		do(w, rand.New(rand.NewPCG(seed, 2)))
	}
}

// bobActs does one thing where ann may not read, or the same in both worlds where she may.
func (l *leaker) bobActs() {
	l.each(func(w *tenantWorld, r *rand.Rand) {
		namespaces := l.at.hidden
		text := func() string { return w.text(r) }
		key := fmt.Sprintf("%s-%d", w.secret, r.IntN(8))
		if len(l.at.common) > 0 && r.IntN(4) == 0 {
			namespaces, key = l.at.common, fmt.Sprint("k", r.IntN(8))
			text = func() string { return commonWords[r.IntN(len(commonWords))] + " of both" }
		}
		namespace := w.named(namespaces[r.IntN(len(namespaces))])
		in := map[string]any{"namespace": namespace}
		switch r.IntN(5) {
		case 0, 1:
			w.operate(w.bob, "memory_store", map[string]any{"key": key, "value": text(), "tags": []string{text()[:5]}, "type": "note"}, in)
		case 2:
			w.operate(w.bob, "memory_log", map[string]any{"event": text()[:5], "data": text()}, in)
		case 3:
			w.operate(w.bob, "memory_recall", map[string]any{"key": key}, in)
		case 4:
			w.operate(w.bob, "memory_forget", map[string]any{"key": key}, in)
		}
	})
}

// annStores writes a memory of ann's.
func (l *leaker) annStores() {
	namespace := l.annsNamespace()
	text := commonWords[l.random.IntN(len(commonWords))] + " " + commonWords[l.random.IntN(len(commonWords))]
	l.compare("memory_store", map[string]any{"key": fmt.Sprint("k", l.random.IntN(8)), "value": text, "tags": []string{"ann"}}, map[string]any{"namespace": namespace}, 0)
}

func (l *leaker) annsNamespace() string {
	return strings.ReplaceAll(l.at.ann[l.random.IntN(len(l.at.ann))], "/*", "/own")
}

// annCalls calls a tool with arguments of any kind, in a namespace of ann's, of bob's, or of nobody's.
func (l *leaker) annCalls() {
	tool := l.tools[l.random.IntN(len(l.tools))]
	params, _ := l.argument("", schemaOfArg{Type: "object", Properties: tool.Schema.Properties, Required: tool.Schema.Required}, 0).(map[string]any)
	if tool.Name == "memory_branch" && l.random.IntN(4) > 0 {
		params["action"] = "list" // or branches would take all the time
	}
	l.compare(tool.Name, params, map[string]any{"namespace": l.namespace()}, l.random.IntN(3))
}

// namespace is one of ann's most of the time. Others are hidden, in one of the worlds alone, or in neither.
func (l *leaker) namespace() string {
	if l.random.IntN(3) > 0 {
		return l.annsNamespace()
	}
	hidden := l.at.hidden[l.random.IntN(len(l.at.hidden))]
	return strings.ReplaceAll(hidden, "%s", []string{secretWords[0], secretWords[1], "nobody"}[l.random.IntN(3)])
}

func (l *leaker) argument(name string, s schemaOfArg, depth int) any {
	if name == "as_of" {
		return l.text(name)
	}
	if choices := slices.Concat(s.AnyOf, s.OneOf); len(choices) > 0 {
		return l.argument(name, choices[l.random.IntN(len(choices))], depth)
	}
	if len(s.Enum) > 0 {
		return s.Enum[l.random.IntN(len(s.Enum))]
	}
	kind, _ := s.Type.(string)
	if kinds, ok := s.Type.([]any); ok && len(kinds) > 0 {
		kind, _ = kinds[l.random.IntN(len(kinds))].(string)
	}
	switch kind {
	case "object":
		object := map[string]any{}
		for _, property := range slices.Sorted(mapKeys(s.Properties)) {
			if depth < 3 && (slices.Contains(s.Required, property) || l.random.IntN(3) == 0) {
				object[property] = l.argument(property, s.Properties[property], depth+1)
			}
		}
		return object
	case "array":
		item := schemaOfArg{Type: "string"}
		if s.Items != nil {
			item = *s.Items
		}
		list := []any{}
		for range 1 + l.random.IntN(2) {
			list = append(list, l.argument(name, item, depth+1))
		}
		return list
	case "boolean":
		return l.random.IntN(2) == 0
	case "integer":
		return l.random.IntN(12)
	case "number":
		return float64(l.random.IntN(5)) / 4
	case "null":
		return nil
	}
	return l.text(name)
}

// text is an argument that fits a name, of ann's things or of bob's.
func (l *leaker) text(name string) string {
	pick := func(list ...string) string { return list[l.random.IntN(len(list))] }
	word := pick(append(commonWords, secretWords[:]...)...)
	key := pick(fmt.Sprint("k", l.random.IntN(8)), pick(secretWords[:]...)+"-"+fmt.Sprint(l.random.IntN(8)))
	switch {
	case strings.Contains(name, "namespace") || strings.Contains(name, "scope"):
		return pick(l.namespace(), "*", l.namespace())
	case name == "as_of" || name == "since" || name == "until":
		return pick("2026-04-30", "2026-05-02")
	case strings.Contains(name, "branch") || name == "from" || name == "into":
		return pick("default", "draft", "nowhere", pick(secretWords[:]...))
	case strings.Contains(name, "key") || strings.Contains(name, "id"):
		return pick(key, l.namespace()+"#"+key)
	case name == "prefix":
		return pick("k", secretWords[0][:2], "")
	case name == "agent" || name == "writer":
		return pick("ann", "bob")
	}
	return pick(word, word+" "+pick(commonWords...), key)
}

func mapKeys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// compare has ann call a tool in both worlds by one of three ways, and notes an answer that differs.
func (l *leaker) compare(method string, params, options map[string]any, way int) {
	l.t.Helper()
	var answers [2]string
	for i, w := range l.worlds {
		if answer, ok := l.plant[method]; ok {
			answers[i] = withoutChance(answer(w, params, options))
		} else {
			answers[i] = withoutChance(w.annsAnswer(method, params, options, way))
		}
	}
	if answers[0] == answers[1] || l.leak != "" {
		return
	}
	request, err := json.Marshal(map[string]any{"method": method, "params": params, "options": options})
	if err != nil {
		l.t.Fatal(err)
	}
	l.leak = fmt.Sprintf("%s, by way %d:\n%s\n%s", request, way, answers[0], answers[1])
}

func (w *tenantWorld) annsAnswer(method string, params, options map[string]any, way int) string {
	w.T.Helper()
	arguments := map[string]any{"namespace": options["namespace"]}
	if options == nil {
		arguments = map[string]any{}
	}
	for name, value := range params {
		arguments[name] = value
	}
	switch way {
	case 1:
		answer, err := w.socket.Call(context.Background(), method, arguments)
		if err != nil {
			return err.Error()
		}
		return answer.Text
	case 2:
		encoded, err := json.Marshal(arguments)
		if err != nil {
			w.T.Fatal(err)
		}
		status, body := w.Post(w.ann.Secret, "", method, string(encoded))
		return fmt.Sprint(status, " ", body)
	}
	return w.operate(w.ann, method, params, options)
}

// follow compares everything that a stream pushes to ann.
func (l *leaker) follow() {
	l.t.Helper()
	namespace := l.annsNamespace()
	var pushed [2]string
	for i, w := range l.worlds {
		pushed[i] = withoutChance(w.streamed(w.ann, namespace))
	}
	if pushed[0] != pushed[1] && l.leak == "" {
		l.leak = fmt.Sprintf("a stream:\n%s\n%s", pushed[0], pushed[1])
	}
}

// streamed returns what a stream pushes to the holder of a key, up to a memory that is stored last.
func (w *tenantWorld) streamed(key operator.IssuedKey, namespace string) string {
	w.T.Helper()
	ctx := w.T.Context()
	ws, _, err := server.DialStream(ctx, "http://"+w.At.HTTP, key.Secret, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	defer ws.CloseNow()
	if err := ws.Write(ctx, websocket.MessageText, []byte(`{"type":"subscribe","id":"s","watermark":0}`)); err != nil {
		w.T.Fatal(err)
	}
	w.operate(key, "memory_store", map[string]any{"key": "last", "value": 1}, map[string]any{"namespace": namespace})
	var all strings.Builder
	for !strings.Contains(all.String(), namespace+"#last") {
		_, text, err := ws.Read(ctx)
		if err != nil {
			w.T.Fatal(err)
		}
		all.Write(append(text, '\n'))
	}
	return all.String()
}

// What differs by chance: names that are drawn, durations, and which versions and instants of the clock's second the server's own
// commits were given, such as those of counters. The sequence of a message is the version of its commit.
var drawn = regexp.MustCompile(strings.Join([]string{
	`[0-9]{14}\.[0-9]{3}-[a-z0-9]{10}`, `[0-9]{8}-[0-9]{6}-[a-z0-9]{10}`, `[0-9A-HJKMNP-TV-Z]{26}`, `"[A-Z2-7]{26}"`, `[0-9a-f]{32}`,
	`2026-05-01T12:00:0[01][0-9.]*Z`, `(version|forked_at)[ :a-z"\\]*[0-9]+`, `(latestW|w|lastW)atermark[":\\ ]*[0-9]+`,
	`message_id[\\":]+msg:[0-9A-Z]{26}[\\",]+sequence[\\":]+[0-9]+`,
	`"(duration_ms|request_id|took_ms|fuel|cpu_ms|ms|memory_bytes)":("[^"]*"|[0-9.e+-]+)`,
}, "|"))

func withoutChance(answer string) string { return drawn.ReplaceAllString(answer, "…") }

func leakSteps(t *testing.T) int {
	steps := 60
	if testing.Short() {
		steps = 20
	}
	if set := os.Getenv("ALCOVE_TENANTS"); set != "" {
		var err error
		if steps, err = strconv.Atoi(set); err != nil {
			t.Fatalf("ALCOVE_TENANTS: %v", err)
		}
	}
	return steps
}

// search looks for a leak with a number of calls.
func (l *leaker) search(steps int) {
	for range steps {
		if l.leak != "" {
			return
		}
		if l.random.IntN(4) == 0 {
			l.bobActs()
		}
		l.annCalls()
	}
}

func TestNothingOfAnotherKeyIsInAnyAnswer(t *testing.T) {
	t.Parallel()
	for i, at := range tenancies {
		t.Run(at.name, func(t *testing.T) {
			l := newLeaker(t, at, uint64(i)+1)
			l.search(leakSteps(t))
			if l.follow(); l.leak != "" {
				t.Errorf("an answer depends on what is hidden: %s", l.leak)
			}
		})
	}
}

func TestAPlantedLeakIsFound(t *testing.T) {
	t.Parallel()
	l := newLeaker(t, tenancies[1], 1)
	if of := [2]string{l.worlds[0].streamed(l.worlds[0].bob, "shared"), l.worlds[1].streamed(l.worlds[1].bob, "shared")}; withoutChance(of[0]) == withoutChance(of[1]) {
		t.Errorf("a stream of bob's is the same in both worlds: %s", of[0])
	}
	offered := l.tools
	everything := map[*tenantWorld]operator.IssuedKey{}
	for _, w := range l.worlds {
		everything[w] = w.Issue("ann", leakRights, "*")
	}
	for name, plant := range map[string]plants{
		"a hit": {"memory_search": func(w *tenantWorld, params, options map[string]any) string {
			return w.operate(w.bob, "memory_search", params, options)
		}},
		"a count": {"memory_status": func(w *tenantWorld, params, _ map[string]any) string {
			return w.operate(w.bob, "memory_status", params, map[string]any{"namespace": w.named("bob-%s")})
		}},
		"a forbidden namespace that is not like an absent one": {"memory_recall": func(w *tenantWorld, _, options map[string]any) string {
			if empty := w.operate(everything[w], "memory_status", nil, options); strings.Contains(empty, `"keys":0`) {
				return "404 not found"
			}
			return "403 denied"
		}},
		// The hits are ann's, and their scores count the words of all namespaces.
		"a statistic": {"memory_search": func(w *tenantWorld, params, _ map[string]any) string {
			all := append(slices.Clone(l.at.ann), l.at.hidden[0], w.named(l.at.hidden[1]))
			return onlyOf(w.operate(everything[w], "memory_search", map[string]any{"query": params["query"], "namespace": all}, nil), l.at.ann...)
		}},
	} {
		l.plant, l.leak = plant, ""
		l.tools = slices.DeleteFunc(slices.Clone(offered), func(o offeredTool) bool { return plant[o.Name] == nil })
		if l.search(500); l.leak == "" {
			t.Errorf("%s was not found", name)
		}
	}
}

// onlyOf returns the namespaces, keys and scores of hits in some namespaces.
func onlyOf(answer string, namespaces ...string) string {
	var found struct {
		Result struct {
			Results []struct {
				Namespace, Key string
				Score          float64
			}
		}
	}
	if json.Unmarshal([]byte(answer[4:]), &found) != nil {
		return answer
	}
	list := found.Result.Results[:0]
	for _, hit := range found.Result.Results {
		if slices.Contains(namespaces, hit.Namespace) {
			list = append(list, hit)
		}
	}
	return fmt.Sprint(list)
}
