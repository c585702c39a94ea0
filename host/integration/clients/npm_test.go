package clients

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/alcove-memory/alcove/cmd/release/npm"
	"github.com/alcove-memory/alcove/cmd/release/product"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/nodejs"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// TestNpmInstallsTheProgram installs the packages of a release from a registry of this machine, for a user whose home is empty.
func TestNpmInstallsTheProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the steps are those of a shell of Unix")
	}
	pinned := install(t)
	registry := serveRegistry(t, packages(t, build(t)))
	machine, err := exec.LookPath("node")
	if err != nil {
		nodejs.Lacking(t, "npm needs Node.js: %v", err)
	}
	// By its version, Node is replaced by the program or stays beside it: see the launcher.
	for _, node := range stress.Pick(t, 1, []string{pinned, machine}) {
		t.Run("with "+node, func(t *testing.T) {
			u := npmUser(t, registry, node)
			defer u.run(t, "npx", "--offline", "alcove-memory", "stop")
			u.session(t, "first.mjs", "sdk", "npx", "alcove-memory", "mcp")
			u.session(t, "first.mjs", "sdk", "npx", "--offline", "alcove-memory", "mcp")
			u.session(t, "session.mjs", "client", "npx", "--offline", "alcove-memory", "mcp")
		})
		t.Run("with "+node+", signals and exits are passed on", func(t *testing.T) {
			u := npmUser(t, registry, node)
			u.run(t, "npm", "install", "--global", "alcove-memory")
			if out, err := u.command(t, "alcove", "recall", "nothing").CombinedOutput(); exitCode(err) != 3 {
				t.Errorf("recall of nothing ended with %v: %s, want exit code 3", err, out)
			}
			u.run(t, "alcove", "stop")
			serving := u.command(t, "alcove", "serve")
			if err := serving.Start(); err != nil {
				t.Fatal(err)
			}
			await.That(t, "the server starts", func() bool { return u.has("owner.json") })
			if err := serving.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := serving.Wait(); err != nil {
				t.Errorf("a server that is told to end by SIGTERM ended with %v, want exit code 0", err)
			}
			if u.has("owner.json") {
				t.Error("the server runs on, want it ended with the launcher")
			}
		})
	}
	t.Run("what was installed is removed without rests", func(t *testing.T) {
		u := npmUser(t, registry, machine)
		u.run(t, "npm", "install", "--global", "alcove-memory")
		u.run(t, "alcove", "store", "tea", "green")
		u.run(t, "alcove", "stop")
		u.run(t, "npm", "uninstall", "--global", "alcove-memory")
		if rest := files(t, u.prefix); len(rest) > 0 {
			t.Errorf("%q are left, want nothing", rest)
		}
	})
	t.Run("a missing package of the platform is named", func(t *testing.T) {
		u := npmUser(t, registry, machine)
		u.run(t, "npm", "install", "--omit=optional", "alcove-memory")
		out, err := u.command(t, filepath.Join("node_modules", ".bin", "alcove"), "version").CombinedOutput()
		for _, want := range []string{"@alcove-memory/", "is not installed", "--no-optional", "--omit=optional", "npm install --include=optional alcove-memory@1.2.3"} {
			if exitCode(err) != 1 || !strings.Contains(string(out), want) {
				t.Errorf("got %v: %s, want %q and exit code 1", err, out, want)
			}
		}
	})
}

// packages are those of a release that has the program for this platform only.
func packages(t *testing.T, program string) (paths []string) {
	t.Helper()
	r := product.Release{Version: "v1.2.3", Dir: t.TempDir()}
	at, err := filepath.Abs(program)
	if err == nil {
		err = os.Symlink(at, r.Program(product.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}))
	}
	if err != nil {
		t.Fatal(err)
	}
	if paths, err = npm.Write(r, "../../..", func(product.Platform) (map[string][]byte, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	return paths
}

// serveRegistry serves packages as a registry of npm does, and returns its address.
func serveRegistry(t *testing.T, paths []string) string {
	t.Helper()
	served := map[string][]byte{} // by path: npm writes the slash in a name as %2f
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := served[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(data)
	}))
	t.Cleanup(server.Close)
	for _, file := range paths {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("tar", "-xzOf", file, "package/package.json").Output()
		if err != nil {
			t.Fatalf("read the manifest of %s: %v", file, err)
		}
		var m map[string]any
		if err := json.Unmarshal(out, &m); err != nil {
			t.Fatal(err)
		}
		tarball, sum := "/-/"+filepath.Base(file), sha512.Sum512(data)
		m["dist"] = map[string]any{"tarball": server.URL + tarball, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		version := m["version"].(string)
		document, err := json.Marshal(map[string]any{"name": m["name"], "dist-tags": map[string]any{"latest": version}, "versions": map[string]any{version: m}})
		if err != nil {
			t.Fatal(err)
		}
		served["/"+m["name"].(string)], served[tarball] = document, data
	}
	return server.URL
}

// user is one who has npm, and nothing else.
type user struct {
	home, prefix string
	node         string
	env          []string
}

func npmUser(t *testing.T, registry, node string) user {
	t.Helper()
	home, err := os.MkdirTemp("", "npm") // a short path, for the socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	prefix := filepath.Join(home, "prefix")
	return user{home, prefix, node, []string{
		"HOME=" + home, "PATH=" + strings.Join([]string{filepath.Join(prefix, "bin"), filepath.Dir(node), os.Getenv("PATH")}, string(os.PathListSeparator)),
		"npm_config_registry=" + registry, "npm_config_prefix=" + prefix, "npm_config_update_notifier=false", "npm_config_audit=false", "npm_config_yes=true", "ALCOVE_LISTEN=off",
	}}
}

func (u user) command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	c := command(t, runWithin, "/usr/bin/env", append([]string{name}, args...)...) // by the PATH of its environment
	c.Dir, c.Env = u.home, u.env
	return c
}

func (u user) run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := u.command(t, name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: got %v, want it done: %s", name, args, err, out)
	}
}

// has tells whether the user's data directory has a file.
func (u user) has(name string) bool {
	_, err := os.Stat(filepath.Join(u.home, ".local", "share", "alcove", name))
	return err == nil
}

// session runs a script with a client whose server is a command line of the user. The SDK hands on few variables, so the line sets them.
func (u user) session(t *testing.T, name, kind string, line ...string) {
	t.Helper()
	configuration := map[string]any{"mcpServers": map[string]any{"alcove": map[string]any{"command": "/usr/bin/env", "args": append(u.env, line...)}}}
	data, err := json.Marshal(configuration)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(at, data, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Log(strings.Join(line, " "))
	script(t, u.node, name, kind, "stdio", at)
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// files are those in a folder.
func files(t *testing.T, root string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, at)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
