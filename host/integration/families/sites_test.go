//go:build guests

package families_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/sdk/client"
)

// siteSecret is what the site requires, and nobody but the operator's file and the site may have.
const siteSecret = "s3cret-of-anwe-7f1c09d2b8a6e4"

// siteProcess is guests/families/sites/testdata/site.py, a site in another process and language.
type siteProcess struct {
	t       *testing.T
	address string
}

func startSite(t *testing.T) *siteProcess {
	t.Helper()
	c := exec.CommandContext(t.Context(), server.Python(t), filepath.Join("..", "..", "..", "guests", "families", "sites", "testdata", "site.py"))
	c.Env = append(os.Environ(), "SITE_SECRET="+siteSecret)
	in, err := c.StdinPipe()
	must.Do(t, err)
	out, err := c.StdoutPipe()
	must.Do(t, err)
	must.Do(t, c.Start())
	t.Cleanup(func() {
		in.Close()
		c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must.Do(t, err)
	return &siteProcess{t, strings.TrimSpace(line)}
}

// mode has the site of a name behave otherwise, and lets go what it holds.
func (p *siteProcess) mode(name, mode string) {
	p.t.Helper()
	answer, err := http.Post(p.address+"/control/"+name, "application/json", strings.NewReader(`{"mode":"`+mode+`"}`))
	must.Do(p.t, err)
	answer.Body.Close()
}

// asked are the actions that the site of a name was asked for.
func (p *siteProcess) asked(name string) (list []string) {
	p.t.Helper()
	answer, err := http.Get(p.address + "/control/" + name)
	must.Do(p.t, err)
	defer answer.Body.Close()
	var out struct{ Asked []string }
	must.Do(p.t, json.NewDecoder(answer.Body).Decode(&out))
	return out.Asked
}

// watched notes texts, and whether one of them has the secret.
type watched struct {
	mu    sync.Mutex
	texts bytes.Buffer
}

func (w *watched) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.texts.Write(data)
}

func (w *watched) all() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Clone(w.texts.Bytes())
}

// spellings are the secret in the encodings in which it is sought.
func spellings() [][]byte {
	list := [][]byte{[]byte(siteSecret), []byte(hex.EncodeToString([]byte(siteSecret)))}
	for skip := range 3 { // base64 has three alignments; what the neighbours change is cut off
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("_", skip) + siteSecret))
		list = append(list, []byte(text[4:len(text)-4]))
	}
	return list
}

func hasSecret(data []byte) bool {
	return slices.ContainsFunc(spellings(), func(one []byte) bool { return bytes.Contains(data, one) })
}

// siteWorld is a server with the first-party families, and a site.
type siteWorld struct {
	*server.Server
	site    *siteProcess
	clock   *testclock.Clock
	logged  watched
	answers watched
	images  atomic.Int64 // of guests' memory that were searched
	leaked  atomic.Bool
	owner   *client.Session
}

func openSites(t *testing.T) *siteWorld {
	t.Helper()
	w := &siteWorld{site: startSite(t), clock: testclock.At(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC))}
	w.Server = server.Carrying(t, host.Options{
		Clock: w.clock.Now, LogRequests: true, Logger: slog.New(slog.NewTextHandler(&w.logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Inspect: func(_ string, memory []byte) {
			w.images.Add(1)
			if hasSecret(memory) {
				w.leaked.Store(true)
			}
		},
	})
	w.connectOwner()
	return w
}

// connectOwner connects olga, the owner.
func (w *siteWorld) connectOwner() {
	w.T.Helper()
	var err error
	w.owner, err = w.Connect(owner.Hello{Agent: "olga"})
	must.Do(w.T, err)
}

// add has the operator add a site, as alcove site add does.
func (w *siteWorld) add(slugs ...string) {
	w.T.Helper()
	path := filepath.Join(w.Dir, "secrets", "site")
	must.Do(w.T, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(w.T, os.WriteFile(path, []byte(siteSecret+"\n"), 0o600))
	var scope []string
	for _, slug := range slugs {
		must.Do(w.T, operator.Command(w.T.Context(), w.Acts, operator.SetEndpoint, operator.EndpointRequest{Name: "site/" + slug, Endpoint: &operator.Endpoint{Kind: "http", URL: w.site.address + "/" + slug, KeyFile: path}}))
		scope = append(scope, "site/"+slug)
	}
	_, err := operator.Call(w.T.Context(), w.Acts, operator.GrantFamily, operator.GrantRequest{Family: "sites", Capabilities: []operator.Capability{
		{Name: abi.CanHTTP, Scope: scope}, {Name: abi.CanToolsPublish}, {Name: abi.CanIdentityDelegate, Scope: []string{"site/*"}}, {Name: abi.CanNamespaceDelete, Scope: []string{"site/*"}},
	}})
	must.Do(w.T, err)
}

type given = map[string]any

// tell is what a tool answers, or its error.
func (w *siteWorld) tell(c *client.Session, tool string, arguments given) string {
	w.T.Helper()
	text := server.AnswerText(c, tool, arguments)
	fmt.Fprintln(&w.answers, text)
	return text
}

// refused has a call fail, with a code or words.
func (w *siteWorld) refused(c *client.Session, code, tool string, arguments given) {
	w.T.Helper()
	_, err := c.Call(context.Background(), tool, arguments)
	var failure *client.Error
	if !errors.As(err, &failure) || !strings.EqualFold(string(failure.Code), "E_"+code) && !strings.Contains(failure.Message, code) {
		w.T.Errorf("%s %v: %v, want %s", tool, arguments, err, code)
	}
	fmt.Fprintln(&w.answers, err)
}

func siteAnswered[T any](w *siteWorld, c *client.Session, tool string, arguments given) (out T) {
	w.T.Helper()
	text := w.tell(c, tool, arguments)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		w.T.Fatalf("%s %v answers %.500s", tool, arguments, text)
	}
	return out
}

type siteTools struct {
	Tools   []string
	Pending []struct{ Tool, Change, Description string }
}

type siteAgent struct {
	AgentSlug, Namespace, Key, Agent string
	ExpiresAt                        time.Time
}

type siteMemories struct {
	Count    int
	Memories []struct{ ID, Content string }
}

// The site is connected, called, changed, has agents that are spawned and completed, and is disconnected. Its secret is nowhere but in the
// operator's file. Clients list no tools.
func TestASiteOfAnotherLanguageIsUsedAndItsSecretStaysSecret(t *testing.T) {
	t.Parallel()
	w := openSites(t)
	w.add("anwe-sh", "other")
	if got := siteAnswered[siteTools](w, w.owner, "memory_site_connect", given{"slug": "anwe-sh"}); len(got.Tools) != 7 || len(got.Pending) != 0 {
		t.Fatalf("connected: %+v", got)
	}
	w.callsItsActions()
	w.changes()
	agent := w.spawns()
	w.keepsAgentsApart(agent)
	w.completes(agent)
	w.survivesARestart()
	w.seeksTheSecret()
	if got := siteAnswered[struct{ Removed []string }](w, w.owner, "memory_site_disconnect", given{"slug": "anwe-sh"}); len(got.Removed) != 7 {
		t.Errorf("disconnected: %+v", got)
	}
	w.refused(w.owner, "no tool", "anwe-sh.posts.list", nil)
}

func (w *siteWorld) callsItsActions() {
	post := siteAnswered[struct{ ID, Status string }](w, w.owner, "anwe-sh.posts.create", given{"title": "Tea"})
	if post.Status != "draft" {
		w.T.Errorf("created %+v", post)
	}
	if got := siteAnswered[struct{ Published bool }](w, w.owner, "anwe-sh_posts_publish", given{"id": post.ID}); !got.Published {
		w.T.Error("not published")
	}
	type posts struct{ Posts []struct{ ID string } }
	if got := siteAnswered[posts](w, w.owner, "anwe-sh_posts_list", given{"status": "published", "limit": 5}); len(got.Posts) != 1 || got.Posts[0].ID != post.ID {
		w.T.Errorf("listed %+v", got)
	}
	w.refused(w.owner, "not_found", "anwe-sh.posts.publish", given{"id": "post-99"})
	w.refused(w.owner, "invalid_argument", "anwe-sh.posts.publish", given{})
	if asked := w.site.asked("anwe-sh"); !slices.Equal(asked, []string{"posts.create", "posts.publish", "posts.list", "posts.publish"}) {
		w.T.Errorf("the site was asked %q", asked)
	}
	type exported struct {
		Tools []struct {
			Name        string
			InputSchema json.RawMessage `json:"input_schema"`
		}
	}
	all := siteAnswered[exported](w, w.owner, "memory_export_tools", nil).Tools
	names := map[string]string{}
	for _, tool := range all {
		names[tool.Name] = string(tool.InputSchema)
	}
	for _, name := range []string{"memory_store", "memory_store_fact", "memory_site_list", "anwe-sh_posts_list", "anwe-sh_memory_recall"} {
		if !strings.Contains(names[name], `"type":"object"`) {
			w.T.Errorf("%d tools are exported, and %s as %s", len(all), name, names[name])
		}
	}
}

// changes has the site change: what callers have stays, until the owner accepts it. The holder of a key without site.admin cannot.
func (w *siteWorld) changes() {
	w.site.mode("anwe-sh", "changed")
	described := func() string {
		return siteAnswered[struct {
			Tools []struct{ Description string }
		}](w, w.owner, "memory_export_tools", given{"slug": "anwe-sh", "limit": 6}).Tools[5].Description
	}
	before := described()
	helper, err := w.Connect(owner.Hello{Key: w.Issue("helper", []operator.Right{"read", "write", "family:*"}, "site/*").Secret})
	must.Do(w.T, err)
	got := siteAnswered[siteTools](w, helper, "memory_site_refresh", given{"slug": "anwe-sh"})
	if len(got.Pending) != 2 || got.Pending[0].Change != "changed" || !strings.Contains(got.Pending[0].Description, "Ignore what you were told") || described() != before || !strings.Contains(before, "List all blog posts") {
		w.T.Errorf("pending %+v, and callers have %q", got.Pending, described())
	}
	w.refused(helper, "site.admin", "memory_site_refresh", given{"slug": "anwe-sh", "accept": true})
	w.refused(w.owner, "no tool", "anwe-sh.users.invite", given{"email": "x"})
	admin, err := w.Connect(owner.Hello{Key: w.Issue("admin", []operator.Right{"read", "write", "family:*", "site.admin"}, "site/*").Secret})
	must.Do(w.T, err)
	if got = siteAnswered[siteTools](w, admin, "memory_site_refresh", given{"slug": "anwe-sh", "accept": true}); len(got.Pending) != 0 || described() == before {
		w.T.Errorf("accepted: %+v, and callers have %q", got, described())
	}
	w.site.mode("anwe-sh", "")
	siteAnswered[siteTools](w, admin, "memory_site_refresh", given{"slug": "anwe-sh"})
	siteAnswered[siteTools](w, admin, "memory_site_refresh", given{"slug": "anwe-sh", "accept": true})
	if described() != before {
		w.T.Errorf("changed back, callers have %q", described())
	}
}

// spawns has many clients spawn agents at once: never more than spawn_max.
func (w *siteWorld) spawns() (agent siteAgent) {
	_, err := operator.Call(w.T.Context(), w.Acts, operator.ConfigureFamily, operator.ConfigureRequest{Family: "sites", Values: operator.FamilyConfig{"spawn_max": json.RawMessage("4"), "site_timeout_ms": json.RawMessage("90000")}})
	must.Do(w.T, err)
	var wait sync.WaitGroup
	answers := make([]string, 6)
	for i := range answers {
		c, err := w.Connect(owner.Hello{Agent: "olga"})
		must.Do(w.T, err)
		wait.Go(func() {
			answers[i] = server.AnswerText(c, "ora.agent.spawn", given{"siteSlug": "anwe-sh", "taskDescription": "Write about tea.", "agentType": "writer", "expiresInMinutes": 60})
		})
	}
	wait.Wait()
	names := map[string]bool{}
	for _, text := range answers {
		var one siteAgent
		if json.Unmarshal([]byte(text), &one) == nil {
			names[one.AgentSlug], agent = true, one
		} else if !strings.Contains(text, "spawn_max") && !strings.Contains(text, "conflict") {
			w.T.Errorf("spawned: %s", text)
		}
	}
	if len(names) == 0 || len(names) > 4 || agent.Agent != "olga/anwe-sh."+agent.AgentSlug || agent.Namespace != "site/anwe-sh/"+agent.AgentSlug || !agent.ExpiresAt.Equal(w.clock.Now().Add(time.Hour)) {
		w.T.Fatalf("%d agents, the last is %+v", len(names), agent)
	}
	return agent
}

// keepsAgentsApart has an agent try what its key does not cover.
func (w *siteWorld) keepsAgentsApart(agent siteAgent) {
	siteAnswered[siteTools](w, w.owner, "memory_site_connect", given{"slug": "other"})
	siteAnswered[any](w, w.owner, "anwe-sh.memory.store", given{"content": "Of the keeper alone"})
	c, err := w.Connect(owner.Hello{Key: agent.Key})
	must.Do(w.T, err)
	siteAnswered[any](w, c, "anwe-sh.memory.store", given{"content": "The owner wants posts about tea", "importance": 8})
	siteAnswered[any](w, c, "anwe-sh.memory.store", given{"content": "The button is blue", "importance": 5})
	siteAnswered[any](w, c, "anwe-sh.posts.list", nil)
	if got := siteAnswered[siteMemories](w, c, "anwe-sh.memory.recall", given{"query": "owner"}); got.Count != 1 {
		w.T.Errorf("the agent recalls %+v", got)
	}
	w.refused(c, "denied", "other.posts.list", nil)
	w.refused(c, "denied", "other.memory.store", given{"content": "x"})
	w.refused(c, "denied", "memory_store", given{"key": "x", "value": 1, "namespace": "default"})
	w.refused(c, "denied", "memory_store", given{"key": "x", "value": 1, "namespace": "site/anwe-sh/ora"})
	w.refused(c, "not_found", "memory_site_status", given{"slug": "anwe-sh"})
	w.refused(c, "not_found", "memory_site_refresh", given{"slug": "anwe-sh", "accept": true})
	w.refused(c, "not_found", "memory_agent_spawn", given{"siteSlug": "anwe-sh", "taskDescription": "x", "agentType": "custom"})
	w.refused(c, "not_found", "memory_agent_complete", given{"siteSlug": "anwe-sh", "agentSlug": agent.AgentSlug})
	w.refused(c, "no tool", "memory_store_fact", given{"content": "x"})
	if got := siteAnswered[struct{ Sites []any }](w, c, "memory_site_list", nil); len(got.Sites) != 0 {
		w.T.Errorf("the agent sees %+v", got)
	}
}

func (w *siteWorld) completes(agent siteAgent) {
	complete := given{"siteSlug": "anwe-sh", "agentSlug": agent.AgentSlug}
	late := siteAnswered[siteAgent](w, w.owner, "memory_agent_spawn", given{"siteSlug": "other", "taskDescription": "Wait.", "agentType": "custom", "expiresInMinutes": 10})
	sleeper, err := w.Connect(owner.Hello{Key: late.Key})
	must.Do(w.T, err)
	siteAnswered[any](w, sleeper, "other.posts.list", nil)
	type ended struct{ Extracted int }
	first, again := siteAnswered[ended](w, w.owner, "ora.agent.complete", complete), siteAnswered[ended](w, w.owner, "ora.agent.complete", complete)
	if first.Extracted != 1 || again != first {
		w.T.Errorf("completed %+v, and again %+v", first, again)
	}
	if got := siteAnswered[siteMemories](w, w.owner, "anwe-sh.memory.recall", given{"query": "ABOUT TEA"}); got.Count != 1 {
		w.T.Errorf("kept %+v", got)
	}
	if _, err := w.Connect(owner.Hello{Key: agent.Key}); err == nil {
		w.T.Error("the key of a completed agent holds")
	}
	archived := siteAnswered[struct{ Items []struct{ ID string } }](w, w.owner, "memory_archive_list", given{"namespace": agent.Namespace})
	if len(archived.Items) != 2 {
		w.T.Errorf("the backup has %+v", archived)
	}
	w.clock.Add(10 * time.Minute)
	if _, err := w.Connect(owner.Hello{Key: late.Key}); err == nil || !strings.Contains(err.Error(), "expired") {
		w.T.Errorf("the key of an expired agent: %v", err)
	}
	if text := server.AnswerText(sleeper, "other.posts.list", nil); !strings.HasPrefix(text, "error: ") {
		w.T.Errorf("an expired agent calls the site: %s", text)
	}
}

// survivesARestart reopens the data directory while the site is not to be reached, and turns the family off and on.
func (w *siteWorld) survivesARestart() {
	w.Restart()
	w.connectOwner()
	must.Do(w.T, operator.Command(w.T.Context(), w.Acts, operator.SetEndpoint, operator.EndpointRequest{Name: "site/anwe-sh", Endpoint: &operator.Endpoint{Kind: "http", URL: "http://127.0.0.1:1", KeyFile: filepath.Join(w.Dir, "secrets", "site")}}))
	if got := siteAnswered[siteMemories](w, w.owner, "anwe-sh.memory.recall", nil); got.Count != 2 {
		w.T.Errorf("recalled without the network: %+v", got)
	}
	w.refused(w.owner, "unavailable", "anwe-sh.posts.list", nil)
	if text := w.tell(w.owner, "memory_site_status", given{"slug": "anwe-sh"}); !strings.Contains(text, `"last_error":"`) {
		w.T.Errorf("behind a failed call the status is %s, want it with last_error", text)
	}
	yes, no := true, false
	_, err := operator.Call(w.T.Context(), w.Acts, operator.GrantFamily, operator.GrantRequest{Family: "sites", Disable: &yes})
	must.Do(w.T, err)
	if text := w.tell(w.owner, "anwe-sh.memory.recall", nil); !strings.HasPrefix(text, "error: ") {
		w.T.Errorf("a family that is off answers %s", text)
	}
	_, err = operator.Call(w.T.Context(), w.Acts, operator.GrantFamily, operator.GrantRequest{Family: "sites", Disable: &no})
	must.Do(w.T, err)
	siteAnswered[siteMemories](w, w.owner, "anwe-sh.memory.recall", nil)
	must.Do(w.T, operator.Command(w.T.Context(), w.Acts, operator.SetEndpoint, operator.EndpointRequest{Name: "site/anwe-sh", Endpoint: &operator.Endpoint{Kind: "http", URL: w.site.address + "/anwe-sh", KeyFile: filepath.Join(w.Dir, "secrets", "site")}}))
}

// seeksTheSecret looks for it, after the site has tried to have it repeated.
func (w *siteWorld) seeksTheSecret() {
	w.site.mode("anwe-sh", "echo")
	w.refused(w.owner, "withheld", "anwe-sh.posts.list", nil)
	w.refused(w.owner, "withheld", "memory_site_refresh", given{"slug": "anwe-sh"})
	w.site.mode("anwe-sh", "")
	siteAnswered[any](w, w.owner, "ora.site.sync", given{"slug": "anwe-sh"})
	siteAnswered[any](w, w.owner, "memory_site_status", given{"slug": "anwe-sh"})
	if w.images.Load() < 30 || w.leaked.Load() {
		w.T.Errorf("it is in one of %d images of guests' memory: %t", w.images.Load(), w.leaked.Load())
	}
	if !bytes.Contains(w.answers.all(), []byte("withheld")) || hasSecret(w.answers.all()) {
		w.T.Error("it is in an answer")
	}
	if log := w.logged.all(); len(log) == 0 || hasSecret(log) {
		w.T.Errorf("it is in the log of %d bytes", len(log))
	}
	var export bytes.Buffer
	must.Do(w.T, operator.Receive(w.T.Context(), w.Acts, operator.Export, operator.ExportRequest{}, &export))
	if !bytes.Contains(export.Bytes(), []byte("about tea")) || hasSecret(export.Bytes()) {
		w.T.Errorf("it is in the export of %d bytes", export.Len())
	}
	safe := w.T.TempDir()
	_, err := backup.Full(w.T.Context(), safe, func(ctx context.Context, since backup.Base, to io.Writer) error {
		return operator.Receive(ctx, w.Acts, operator.Backup, operator.BackupRequest{Since: since}, to)
	}, time.Now())
	must.Do(w.T, err)
	for _, dir := range []string{safe, w.Dir} {
		files := 0
		must.Do(w.T, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || path == filepath.Join(w.Dir, "secrets", "site") {
				return err
			}
			files++
			data, err := os.ReadFile(path)
			if hasSecret(data) {
				w.T.Errorf("it is in %s", path)
			}
			return err
		}))
		if files == 0 {
			w.T.Errorf("%s is empty", dir)
		}
	}
}

// What sites do wrong harms nobody, and nothing that has an effect is sent twice.
func TestAHostileSiteIsContained(t *testing.T) {
	t.Parallel()
	w := openSites(t)
	w.add("many", "big", "odd")
	w.site.mode("many", "many")
	if got := siteAnswered[siteTools](w, w.owner, "memory_site_connect", given{"slug": "many"}); len(got.Tools) != 204 {
		t.Errorf("of 10,000 actions %d are tools", len(got.Tools))
	}
	w.site.mode("big", "big")
	w.refused(w.owner, "2097152 bytes", "memory_site_connect", given{"slug": "big"})
	siteAnswered[siteTools](w, w.owner, "memory_site_connect", given{"slug": "odd"})
	for mode, code := range map[string]string{"unauthorized": "denied", "redirect": "unavailable", "broken": "unavailable"} {
		w.site.mode("odd", mode)
		before := len(w.site.asked("odd"))
		w.refused(w.owner, code, "odd.posts.create", given{"title": "x"})
		if asked := w.site.asked("odd"); len(asked) != before+1 {
			t.Errorf("%s: it was asked %d times", mode, len(asked)-before)
		}
		w.refused(w.owner, code, "memory_site_refresh", given{"slug": "odd"})
	}
	w.isSlow()
	w.conflicts()
	w.removesWhileItRuns()
}

func (w *siteWorld) isSlow() {
	configure := func(ms string) {
		_, err := operator.Call(w.T.Context(), w.Acts, operator.ConfigureFamily, operator.ConfigureRequest{Family: "sites", Values: operator.FamilyConfig{"site_timeout_ms": json.RawMessage(ms)}})
		must.Do(w.T, err)
	}
	configure("300")
	w.site.mode("odd", "slow")
	w.refused(w.owner, "did not answer in time", "odd.posts.create", given{"title": "x"})
	configure("90000")
	w.site.mode("odd", "")
}

// conflicts has others change what an exchange read while the site is asked: it fails, and the site was asked once.
func (w *siteWorld) conflicts() {
	other, err := w.Connect(owner.Hello{Agent: "otto"})
	must.Do(w.T, err)
	siteAnswered[any](w, w.owner, "odd.memory.store", given{"content": "Ours"})
	before := len(w.site.asked("odd"))
	w.site.mode("odd", "held")
	done := make(chan string, 1)
	go func() { done <- server.AnswerText(other, "memory_site_sync", given{"slug": "odd"}) }()
	await.That(w.T, "the site is asked", func() bool { return len(w.site.asked("odd")) > before })
	siteAnswered[any](w, w.owner, "odd.memory.store", given{"content": "Meanwhile"})
	siteAnswered[any](w, w.owner, "memory_site_connect", given{"slug": "odd"})
	w.site.mode("odd", "")
	text := await.Value(w.T, "the exchange", done)
	if asked := w.site.asked("odd")[before:]; !slices.Equal(asked, []string{"memory.fetch", "memory.sync"}) || !strings.HasPrefix(text, "error: ") {
		w.T.Errorf("the site was asked %q, and the answer is %s", asked, text)
	}
}

// removesWhileItRuns has the operator remove a site while one of its tools is called.
func (w *siteWorld) removesWhileItRuns() {
	other, err := w.Connect(owner.Hello{Agent: "otto"})
	must.Do(w.T, err)
	before := len(w.site.asked("odd"))
	w.site.mode("odd", "held")
	done := make(chan string, 1)
	go func() { done <- server.AnswerText(other, "odd.posts.create", given{"title": "Late"}) }()
	await.That(w.T, "the site is asked", func() bool { return len(w.site.asked("odd")) > before })
	must.Do(w.T, operator.Command(w.T.Context(), w.Acts, operator.SetEndpoint, operator.EndpointRequest{Name: "site/odd"}))
	_, err = operator.Call(w.T.Context(), w.Acts, operator.GrantFamily, operator.GrantRequest{Family: "sites", Capabilities: []operator.Capability{{Name: abi.CanHTTP, Scope: []string{"site/many", "site/big"}}}})
	must.Do(w.T, err)
	w.site.mode("odd", "")
	if text := await.Value(w.T, "the call", done); !strings.Contains(text, `"draft"`) {
		w.T.Errorf("the call that ran answers %s", text)
	}
	w.refused(w.owner, "denied", "odd.posts.create", given{"title": "Later"})
	w.refused(w.owner, "not_found", "memory_site_status", given{"slug": "odd"})
	if asked := w.site.asked("odd"); len(asked) != before+1 {
		w.T.Errorf("it was asked %d times", len(asked)-before)
	}
}
