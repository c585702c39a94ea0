package host_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/alcove-memory/alcove/"

// rule says what a package, without its tests, may import of this module and of others. The standard library
// is free, except where never says otherwise.
type rule struct {
	pkg    string // a path in the module; * stands for one element
	own    []string
	others []string
	never  []string
}

// rules is the map of the module: arrows point down, only package host wires, and each dependency has one
// place. A package that is not in it fails the test.
func rules() []rule {
	// What the core must not know of: the network, other processes, and how clients talk.
	outside := []string{"net", "net/http", "os/exec"}
	return []rule{
		{pkg: "abi", never: append(outside, "os")}, // the standard library only
		{pkg: "abi/gen"},
		{pkg: "abi/vectors", own: []string{"abi"}, never: append(outside, "os")},
		// The standard library only, and nothing of it that is large in a guest.
		{pkg: "sdk/go", own: []string{"sdk/go/scan"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "regexp", "slices", "strings", "time")},
		{pkg: "sdk/go/scan", never: append(outside, "os", "encoding/json", "fmt", "reflect", "regexp", "slices", "strings", "time")},
		{pkg: "sdk/go/example", own: []string{"sdk/go", "sdk/go/scan"}, never: append(outside, "os")},
		{pkg: "sdk/go/gen", own: []string{"abi", "sdk/go/gen/output"}, never: []string{"net", "net/http"}}, // runs on an author's machine, never in a guest
		{pkg: "sdk/go/gen/output", never: outside},
		{pkg: "sdk/go/familygen", own: []string{"sdk/go/gen"}, never: []string{"net", "net/http"}}, // apart from the program: the type checker is 2.4 MB
		// It runs families in the host's own code. What runs in a guest, sdk/go, knows nothing of the host.
		{pkg: "sdk/go/alcovetest", own: []string{"sdk/go", "sdk/go/scan", "abi", "registry", "host/family", "host/family/jobs", "host/family/ops", "host/files", "host/conform", "host/memory", "host/policy", "host/sandbox", "host/sandbox/asm", "host/sandbox/wasm", "host/search", "host/store/bolt", "host/tool"}, never: outside},
		{pkg: "guests/examples", never: outside},
		{pkg: "guests/examples/*", own: []string{"sdk/go"}, never: append(outside, "os")},
		{pkg: "sdk", never: outside},
		{pkg: "sdk/interop", never: outside},
		{pkg: "sdk/interop/go", own: []string{"sdk/go", "sdk/interop/conform"}, never: append(outside, "os")},
		{pkg: "sdk/interop/conform", own: []string{"sdk/go", "sdk/go/scan"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/words", own: []string{"sdk/go/scan"}, never: append(outside, "os")},
		{pkg: "guests/jsonpath", own: []string{"sdk/go/scan"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time", "regexp")},
		{pkg: "guests/developer", own: []string{"sdk/go", "guests/developer/*"}, never: append(outside, "os")},
		{pkg: "guests/developer/*", own: []string{"sdk/go", "sdk/go/scan", "guests/jsonpath", "guests/developer/*"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/project", others: []string{"github.com/klauspost/compress"}, never: append(outside, "os")},
		{pkg: "guests", own: []string{"guests/image", "guests/project"}, never: append(outside, "os")},
		{pkg: "guests/image/amd64", own: nil, never: append(outside, "os")},
		{pkg: "guests/image", own: []string{"abi", "guests/image/amd64"}, others: []string{"github.com/klauspost/compress"}, never: append(outside, "os")},
		{pkg: "guests/doc", own: []string{"abi", "guests/doc/page", "host/durable", "host/sandbox"}, never: outside},
		{pkg: "guests/doc/page", own: []string{"abi"}, never: append(outside, "os")},
		{pkg: "guests/pack", own: []string{"guests/image", "guests/project", "host/durable", "host/sandbox"}, never: outside},
		{pkg: "guests/all", own: []string{"sdk/go", "guests/*/*"}, never: append(outside, "os")},
		{pkg: "guests/identity", own: []string{"sdk/go"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/agents", own: []string{"sdk/go", "guests/agents/*"}, never: append(outside, "os")},
		{pkg: "guests/agents/*", own: []string{"sdk/go", "sdk/go/scan", "guests/identity", "guests/score", "guests/words", "guests/agents/*"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/auto-tag", own: []string{"sdk/go", "guests/auto-tag/*"}, never: append(outside, "os")},
		{pkg: "guests/auto-tag/*", own: []string{"sdk/go", "sdk/go/scan", "guests/words", "guests/auto-tag/*"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/score", never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/fact", own: []string{"sdk/go", "sdk/go/scan", "guests/score"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/events", own: []string{"sdk/go", "guests/events/*"}, never: append(outside, "os")},
		{pkg: "guests/events/*", own: []string{"sdk/go", "sdk/go/scan", "guests/fact", "guests/moment"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/facts", own: []string{"sdk/go", "guests/facts/*"}, never: append(outside, "os")},
		{pkg: "guests/facts/*", own: []string{"sdk/go", "sdk/go/scan", "guests/words", "guests/score", "guests/fact", "guests/moment"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/retrieval", own: []string{"sdk/go", "guests/retrieval/*"}, never: append(outside, "os")},
		{pkg: "guests/retrieval/*", own: []string{"sdk/go", "sdk/go/scan", "guests/score", "guests/fact", "guests/moment"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/sessions", own: []string{"sdk/go", "guests/sessions/*"}, never: append(outside, "os")},
		{pkg: "guests/sessions/*", own: []string{"sdk/go", "sdk/go/scan", "guests/fact", "guests/score", "guests/words"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/settings", own: []string{"sdk/go", "guests/settings/*"}, never: append(outside, "os")},
		{pkg: "guests/settings/*", own: []string{"sdk/go", "sdk/go/scan"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/ranking", own: []string{"sdk/go", "guests/ranking/*"}, never: append(outside, "os")},
		{pkg: "guests/ranking/*", own: []string{"sdk/go", "sdk/go/scan", "guests/words", "guests/fact", "guests/ranking/*"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/consolidation", own: []string{"sdk/go", "guests/consolidation/*"}, never: append(outside, "os")},
		{pkg: "guests/consolidation/planted", never: outside}, // of tests
		{pkg: "guests/consolidation/*", own: []string{"sdk/go", "sdk/go/scan", "guests/words", "guests/consolidation/*"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/moment", own: []string{"sdk/go"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/graph", own: []string{"sdk/go", "guests/graph/*"}, never: append(outside, "os")},
		{pkg: "guests/graph/*", own: []string{"sdk/go", "sdk/go/scan", "guests/moment", "guests/words", "guests/graph/*"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/lifecycle", own: []string{"sdk/go", "guests/lifecycle/*"}, never: append(outside, "os")},
		{pkg: "guests/lifecycle/*", own: []string{"sdk/go", "sdk/go/scan", "guests/moment", "guests/score", "guests/words", "guests/lifecycle/*"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/sites", own: []string{"sdk/go", "guests/sites/*"}, never: append(outside, "os")},
		{pkg: "guests/sites/*", own: []string{"sdk/go", "sdk/go/scan", "guests/score", "guests/sites/*"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/front", own: []string{"sdk/go/scan"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/governance", own: []string{"sdk/go", "guests/governance/*"}, never: append(outside, "os")},
		{pkg: "guests/governance/*", own: []string{"sdk/go", "sdk/go/scan", "guests/governance/*"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/vault", own: []string{"sdk/go", "guests/vault/*"}, never: append(outside, "os")},
		{pkg: "guests/vault/*", own: []string{"sdk/go", "sdk/go/scan", "guests/fact", "guests/front", "guests/words", "guests/vault/*"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/legacy", own: []string{"sdk/go", "guests/legacy/*"}, never: append(outside, "os")},
		{pkg: "guests/legacy/successor", never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")}, // also for the program
		{pkg: "guests/legacy/*", own: []string{"sdk/go", "sdk/go/scan", "guests/score", "guests/legacy/*"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/messages", own: []string{"sdk/go", "guests/messages/*"}, never: append(outside, "os")},
		{pkg: "guests/messages/*", own: []string{"sdk/go", "sdk/go/scan", "guests/identity", "guests/words", "guests/messages/*"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/working-memory", own: []string{"sdk/go", "guests/working-memory/*"}, never: append(outside, "os")},
		{pkg: "guests/working-memory/*", own: []string{"sdk/go", "sdk/go/scan", "guests/words", "guests/working-memory/*"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "host/store", never: append(outside, "os")},
		{pkg: "host/store/bolt", own: []string{"host/durable", "host/store", "host/store/bolt/layout", "host/store/bolt/salvage"}, others: []string{"go.etcd.io/bbolt", "github.com/bits-and-blooms/bloom"}, never: outside},
		{pkg: "host/store/bolt/layout", own: []string{"host/store"}, others: []string{"go.etcd.io/bbolt"}, never: outside},
		{pkg: "host/store/bolt/salvage", own: []string{"host/durable", "host/store", "host/store/bolt/layout"}, others: []string{"go.etcd.io/bbolt"}, never: outside},
		{pkg: "host/store/*", own: []string{"host/store"}, others: []string{"pgregory.net/rapid"}},
		{pkg: "host/search/segment", never: append(outside, "os")},
		{pkg: "host/search", own: []string{"host/namespace", "host/store", "host/search/segment"}, others: []string{"github.com/blevesearch/snowballstem", "github.com/clipperhouse/uax29", "golang.org/x/text"}, never: append(outside, "os")},
		{pkg: "host/search/vector", others: []string{"golang.org/x/sys"}, never: append(outside, "os")},
		{pkg: "host/search/semantic", own: []string{"host/store", "host/search", "host/search/vector"}, never: append(outside, "os")},
		{pkg: "host/search/near", own: []string{"host/search", "host/search/vector"}, never: append(outside, "os")},
		{pkg: "host/search/embed", own: []string{"host/regular"}, others: []string{"golang.org/x/text"}, never: []string{"net", "os/exec"}},
		{pkg: "host/memory/traces", never: append(outside, "os")},
		{pkg: "host/memory/traces/tracestest", never: append(outside, "os")}, // serves tests only
		{pkg: "host/memory/lineage", own: []string{"host/namespace", "host/store"}, never: append(outside, "os")},
		{pkg: "host/memory/scope", own: []string{"host/namespace"}, never: append(outside, "os")},
		{pkg: "host/memory/retention", never: append(outside, "os")},
		{pkg: "host/memory/threeway", own: []string{"host/jsontext"}, never: append(outside, "os")},
		{pkg: "host/memory/moment", never: append(outside, "os")},
		{pkg: "host/memory/record", own: []string{"host/jsontext", "host/memory/moment", "host/memory/threeway", "host/search", "host/store"}, never: append(outside, "os")},
		{pkg: "host/memory/integrity", own: []string{"host/memory/lineage", "host/memory/record", "host/search", "host/store"}, never: append(outside, "os")},
		{pkg: "host/memory/portable", never: append(outside, "os")}, // the standard library only
		{pkg: "host/memory/purge", own: []string{"host/memory/lineage", "host/memory/record", "host/memory/traces", "host/store"}, never: append(outside, "os")},
		{pkg: "host/memory", own: []string{"host/namespace", "host/memory/integrity", "host/memory/portable", "host/memory/purge", "host/memory/lineage", "host/memory/scope", "host/memory/retention", "host/memory/threeway", "host/store", "host/search", "host/jsontext", "host/memory/moment", "host/memory/record"}, others: []string{"golang.org/x/text"}, never: append(outside, "os")},
		{pkg: "host/schema", others: []string{"github.com/santhosh-tekuri/jsonschema"}, never: append(outside, "os")},
		{pkg: "host/tool", own: []string{"host/memory", "host/schema", "host/jsonrpc", "host/jsontext"}, never: append(outside, "os")},
		{pkg: "host/tool/operation", own: []string{"host/memory", "host/tool"}, never: append(outside, "os")},
		{pkg: "host/tool/core", own: []string{"host/jsontext", "host/memory", "host/recalls", "host/search", "host/tool", "host/tool/operation"}, never: append(outside, "os")},
		{pkg: "host/mcp", own: []string{"host/memory", "host/tool", "host/jsonrpc"}, others: []string{"github.com/mark3labs/mcp-go"}, never: []string{"os", "os/exec"}},
		{pkg: "host/service", own: []string{"host/durable"}, never: []string{"net", "net/http"}},
		{pkg: "host/metrics", own: []string{"host/audit", "host/metrics/process", "host/tool"}, never: []string{"os", "os/exec"}}, // Prometheus's library, with protobuf, is for tests: it is 2.3 MB of a program
		{pkg: "host/metrics/process", others: []string{"golang.org/x/sys"}, never: outside},
		{pkg: "host/rest", own: []string{"host/jsonrpc", "host/memory", "host/tool", "host/tool/operation"}, never: []string{"os", "os/exec"}},
		{pkg: "host/stream", own: []string{"host/jsonrpc", "host/memory", "host/tool", "host/tool/operation"}, others: []string{"github.com/coder/websocket"}, never: []string{"os", "os/exec"}},
		{pkg: "host/wire", own: []string{"host/jsonrpc", "host/memory", "host/tool", "host/tool/operation"}, never: append(outside, "os")},
		{pkg: "sdk/client", never: []string{"os/exec"}}, // the standard library only: programs of others import it
		{pkg: "host/mcp/clients"},                       // tests only
		{pkg: "host/sandbox", own: []string{"abi", "host/regular", "host/schema", "host/sandbox/wasm", "host/sandbox/meter"}, others: []string{"github.com/tetratelabs/wazero", "golang.org/x/sys"}, never: []string{"net", "net/http"}},
		{pkg: "registry/catalogue", own: []string{"registry/signature"}, never: append(outside, "os")},
		{pkg: "registry", own: []string{"abi", "host/durable", "registry/signature"}, never: outside}, // never the rest of the host
		{pkg: "registry/signature", never: append(outside, "os")},
		// It alone talks to registries; the kinds of addresses are those of endpoints.
		{pkg: "registry/oci", own: []string{"abi", "registry/signature", "host/outbound"}, others: []string{"oras.land/oras-go/v2", "github.com/opencontainers"}, never: []string{"os", "os/exec"}},
		{pkg: "registry/review", own: []string{"abi"}, never: append(outside, "os")},
		{pkg: "host/policy", own: []string{"abi", "host/namespace"}, never: append(outside, "os")},
		{pkg: "host/outbound", own: []string{"abi", "host/family/ops", "host/memory/traces", "host/regular", "registry"}, never: []string{"os/exec"}},
		{pkg: "host/family/ops", own: []string{"host/namespace", "abi", "registry", "host/memory", "host/policy", "host/search", "host/jsontext", "host/recalls", "host/usage", "host/sessions", "host/memory/scope", "host/family/config", "host/tokens"}, never: append(outside, "os")},
		{pkg: "host/audit", own: []string{"host/durable", "host/regular"}, never: outside},
		{pkg: "host/requestlog", own: []string{"host/durable", "host/jsontext"}, never: outside},
		{pkg: "host/refusals", never: append(outside, "os")},
		{pkg: "host/recalls", own: []string{"host/memory"}, never: append(outside, "os")},
		{pkg: "host/httpsessions", own: []string{"host/durable", "host/regular"}, never: outside},
		{pkg: "host/sessions", own: []string{"host/memory"}, never: append(outside, "os")},
		{pkg: "host/usage", own: []string{"host/memory"}, never: append(outside, "os")},
		{pkg: "host/family/jobs", own: []string{"abi", "host/memory"}, never: append(outside, "os")},
		{pkg: "host/lockfile", own: []string{"registry", "host/audit"}, never: outside},
		{pkg: "host/family", own: []string{"abi", "host/audit", "host/lockfile", "registry", "host/durable", "host/family/jobs", "host/family/ops", "host/memory", "host/policy", "host/regular", "host/sandbox", "host/sandbox/early", "host/schema", "host/sessions", "host/jsontext", "host/family/hooks", "host/family/config", "registry/catalogue", "registry/signature", "host/family/budget"}, others: []string{"golang.org/x/text"}, never: outside},
		{pkg: "host/family/budget", own: []string{"host/durable", "host/regular"}, never: outside},
		{pkg: "host/family/hooks", own: []string{"abi", "host/family/jobs", "host/family/ops", "host/memory"}, never: append(outside, "os")},
		{pkg: "host/family/config", own: []string{"abi", "host/memory", "host/schema"}, never: append(outside, "os")},
		{pkg: "host/tokens", never: append(outside, "os")},
		{pkg: "host/sandbox/early", own: []string{"abi", "host/sandbox"}, never: append(outside, "os")},
		{pkg: "host/sandbox/wasm", never: append(outside, "os")},
		{pkg: "host/sandbox/meter", own: []string{"host/sandbox/wasm"}, never: append(outside, "os")},
		{pkg: "host/sandbox/spectest"},                        // serves tests only
		{pkg: "host/stress"},                                  // serves tests only
		{pkg: "host/await", never: append(outside, "os")},     // serves tests only
		{pkg: "host/testcert"},                                // serves tests only
		{pkg: "host/testclock", never: append(outside, "os")}, // serves tests only
		{pkg: "host/sandbox/hostile", own: []string{"abi", "host/sandbox/asm", "host/sandbox/wasm"}, never: append(outside, "os")},
		{pkg: "host/sandbox/asm", own: []string{"host/sandbox/wasm"}, never: append(outside, "os")},
		{pkg: "host/bundle", own: []string{"host/store"}, never: append(outside, "os")},
		{pkg: "host/backup", own: []string{"host/audit", "host/bundle", "host/regular", "host/store"}, others: []string{"golang.org/x/sys"}, never: outside},
		{pkg: "host/files", own: []string{"abi", "registry"}, never: outside},
		{pkg: "host/importer", own: []string{"host/memory/portable", "host/regular", "host/jsontext"}, others: []string{"go.yaml.in/yaml/v3"}, never: outside},
		{pkg: "host/regular", never: outside},
		{pkg: "host/develop", own: []string{"abi", "host/regular"}, never: []string{"net", "net/http"}},
		{pkg: "host/durable", own: []string{"host/regular"}, never: outside},
		{pkg: "host/measure/pairs"},     // serves measurements only
		{pkg: "host/measure/testtimes"}, // likewise
		{pkg: "host/measure", never: append(outside, "os")},
		{pkg: "host/embedders", own: []string{"abi", "host/durable", "host/memory", "host/regular", "host/search", "host/search/embed", "host/search/near", "host/search/semantic", "host/search/vector"}, never: append(outside, "os")},
		{pkg: "host/schema/instance", own: []string{"host/schema"}, never: append(outside, "os")},
		{pkg: "host/conform", own: []string{"abi", "registry", "host/family", "host/memory", "host/sandbox", "host/schema/instance"}, never: append(outside, "os")},
		{pkg: "host/operator", own: []string{"host/keys", "abi", "registry", "host/admin", "host/backup", "host/embedders", "host/family", "host/family/jobs", "host/memory", "host/memory/integrity", "host/memory/portable", "host/memory/purge", "host/memory/retention", "host/policy", "host/sandbox", "host/store", "host/family/config", "host/audit"}, never: []string{"net/http", "os", "os/exec"}},
		{pkg: "host/admin", never: []string{"os", "os/exec"}},
		{pkg: "host/keys", own: []string{"host/durable", "host/memory", "host/namespace"}, never: outside},
		{pkg: "host/namespace", never: append(outside, "os")}, // the standard library only
		{pkg: "host/jsontext", never: append(outside, "os")},  // the standard library only
		{pkg: "host/jsonrpc", own: []string{"host/jsontext"}, never: append(outside, "os")},
		{pkg: "host/owner", own: []string{"host/durable", "host/jsonrpc"}, others: []string{"github.com/gofrs/flock", "golang.org/x/sys"}},
		{pkg: "host/watch", own: []string{"host/owner", "host/store"}, never: outside},
		{pkg: "host/settings", own: []string{"abi", "registry", "registry/signature", "host/audit", "host/backup", "host/bundle", "host/durable", "host/embedders", "host/family"}, never: outside},
		{pkg: "host/datadir", own: []string{"registry", "host/audit", "host/family", "host/lockfile", "host/backup", "host/bundle", "host/memory", "host/memory/integrity", "host/owner", "host/search/semantic", "host/settings", "host/store", "host/jsontext"}, never: outside},
		{pkg: "host/api", own: []string{"host/durable", "host/owner"}},
		{pkg: "host/bridge", own: []string{"host/jsonrpc"}, never: append(outside, "os")},
		{pkg: "host/remote", own: []string{"host/jsonrpc", "host/owner"}, never: []string{"os", "os/exec"}},
		{pkg: "host/client", own: []string{"host/bridge", "host/jsonrpc"}, never: append(outside, "os")},
		{pkg: "host", own: []string{"host/memory/portable", "host/sandbox/early", "host/family/ops", "host/tool/core", "host/tool/operation", "host/memory/traces", "host/*", "host/store/bolt", "abi", "registry", "host/memory/integrity"}, others: []string{"golang.org/x/sync"}},
		{pkg: "cmd/alcove", own: []string{"abi", "registry", "host/lockfile", "guests", "host", "host/owner", "host/bridge", "host/client", "host/conform", "host/admin", "host/backup", "host/datadir", "host/durable", "host/importer", "host/measure", "host/operator", "host/regular", "host/remote", "host/requestlog", "host/sandbox", "host/service", "host/settings", "host/tokens", "sdk/go/gen/output", "cmd/alcove/migrate", "cmd/alcove/terminal", "guests/image", "guests/project", "guests/legacy/successor", "host/audit", "registry/catalogue", "registry/signature", "registry/review", "host/develop", "registry/oci"}, others: []string{"github.com/spf13/cobra", "github.com/schollz/progressbar", "golang.org/x/sys"}},
		{pkg: "cmd/release", own: []string{"abi", "guests/image", "host", "registry/catalogue", "registry/signature"}, others: []string{"github.com/CycloneDX/cyclonedx-go"}, never: outside}, // runs where a release is made
		{pkg: "cmd/alcove/migrate", own: []string{"guests/legacy/successor"}, never: append(outside, "os")},
		{pkg: "cmd/alcove/terminal", others: []string{"github.com/schollz/progressbar"}, never: outside},
	}
}

func TestImportsFollowTheMap(t *testing.T) {
	for _, pkg := range packages(t) {
		name := strings.TrimPrefix(pkg.ImportPath, module)
		i := slices.IndexFunc(rules(), func(r rule) bool { return matches(r.pkg, name) })
		if i < 0 {
			t.Errorf("%s is not on the map: give it a rule", name)
			continue
		}
		for _, imported := range pkg.Imports {
			if why := rules()[i].forbids(imported); why != "" {
				t.Errorf("%s must not import %s: %s", name, imported, why)
			}
		}
	}
}

func TestImportsThatAreForbiddenAreFound(t *testing.T) {
	for _, c := range []struct{ pkg, imported string }{
		{"host/memory", module + "host/mcp"},
		{"host/memory", "github.com/mark3labs/mcp-go/mcp"},
		{"host/store", module + "host/search"},
		{"host/search", "github.com/tetratelabs/wazero"},
		{"host/memory", "net/http"},
		{"host/mcp", "github.com/spf13/cobra"},
		{"host/bridge", module + "host/owner"},
		{"host", "github.com/spf13/cobra"},
		{"cmd/alcove", module + "host/memory"},
		{"host/sandbox", module + "host/memory"},
		{"host/sandbox", "net/http"},
		{"host/memory", "go.etcd.io/bbolt"},
		{"host/store/bolt/salvage", module + "host/store/bolt"},
		{"host/store/bolt/layout", module + "host/store/bolt/salvage"},
		{"sdk/go", "encoding/json"},
		{"sdk/go", module + "host/memory"},
	} {
		i := slices.IndexFunc(rules(), func(r rule) bool { return matches(r.pkg, c.pkg) })
		if rules()[i].forbids(c.imported) == "" {
			t.Errorf("%s may import %s", c.pkg, c.imported)
		}
	}
}

// forbids says why a package may not import another; empty when it may.
func (r rule) forbids(imported string) string {
	if name, own := strings.CutPrefix(imported, module); own {
		if slices.ContainsFunc(r.own, func(p string) bool { return matches(p, name) }) {
			return ""
		}
		return "arrows point down"
	}
	if slices.Contains(r.never, imported) {
		return "it is outside of what the package knows"
	}
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") {
		return "" // the standard library
	}
	if slices.ContainsFunc(r.others, func(p string) bool { return imported == p || strings.HasPrefix(imported, p+"/") }) {
		return ""
	}
	return "that dependency has another place"
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// A data directory is kept by whatever driver is chosen, in one file: all else knows neither an engine nor its files.
func TestOnlyTheWiringKnowsAnEngine(t *testing.T) {
	for _, pkg := range packages(t) {
		name := strings.TrimPrefix(pkg.ImportPath, module)
		if name == "host/store/bolt" || strings.HasPrefix(name, "host/store/bolt/") {
			continue
		}
		for _, file := range pkg.GoFiles {
			at := path.Join(name, file)
			for _, text := range literals(t, filepath.Join(pkg.Dir, file)) {
				if at != "host/driver.go" && name != "sdk/go/alcovetest" && text == module+"host/store/bolt" {
					t.Errorf("%s imports an engine: only host/driver.go chooses one, and alcovetest for tests", at)
				}
				if strings.Contains(text, "alcove.db") {
					t.Errorf("%s knows a file of an engine: %q", at, text)
				}
			}
		}
	}
}

// A program runs in main: what another command needs is not in the way of the first answer. Guests have no main.
func TestNothingOfOurOwnRunsBeforeMain(t *testing.T) {
	for _, pkg := range packages(t) {
		name := strings.TrimPrefix(pkg.ImportPath, module)
		if strings.HasPrefix(name, "guests/") || strings.HasPrefix(name, "sdk/") {
			continue
		}
		for _, file := range pkg.GoFiles {
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range parsed.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
					t.Errorf("%s has a func init: call it from main, or when its result is first used", path.Join(name, file))
				}
			}
		}
	}
}

// literals are the strings in a file, imports included.
func literals(t *testing.T, path string) (list []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				list = append(list, text)
			}
		}
		return true
	})
	return list
}

type listedPackage struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
}

// What a program links costs each download and each cold start. Tests and the generator may have these.
func TestTheProgramImportsNothingLarge(t *testing.T) {
	cmd := exec.Command("go", "list", "-tags", "guests", "-deps", "./cmd/alcove")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list what the program imports: %v", err)
	}
	large := map[string]string{"go/types": "2.4 MB: run sdk/go/familygen", "google.golang.org/protobuf/proto": "2.3 MB, by way of Prometheus's library: see host/metrics"}
	for name := range strings.Lines(string(out)) {
		if why, found := large[strings.TrimSpace(name)]; found {
			t.Errorf("cmd/alcove imports %s (%s)", strings.TrimSpace(name), why)
		}
	}
}

func packages(t *testing.T) []listedPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list the packages: %v", err)
	}
	var list []listedPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := decoder.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	if len(list) < 10 {
		t.Fatalf("only %d packages were found", len(list))
	}
	return list
}
