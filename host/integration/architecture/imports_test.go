package architecture_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
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
	return append(familyRules(), []rule{
		{pkg: "abi", never: append(outside, "os")}, // the standard library only
		{pkg: "abi/gen"},
		{pkg: "abi/vectors", own: []string{"abi"}, never: append(outside, "os")},
		// The standard library only, and nothing of it that is large in a guest.
		{pkg: "sdk/go", own: []string{"sdk/go/scan"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "regexp", "slices", "strings", "time")},
		{pkg: "sdk/go/scan", never: append(outside, "os", "encoding/json", "fmt", "reflect", "regexp", "slices", "strings", "time")},
		{pkg: "sdk/go/example", own: []string{"sdk/go", "sdk/go/scan"}, never: append(outside, "os")},
		{pkg: "sdk/go/gen", own: []string{"abi", "sdk/go/gen/declare", "sdk/go/gen/output"}, never: []string{"net", "net/http"}}, // runs on an author's machine, never in a guest
		{pkg: "sdk/go/gen/declare", own: []string{"abi"}, never: append(outside, "os")},                                          // what declarations mean, in any language
		{pkg: "sdk/go/gen/output", never: outside},
		{pkg: "sdk/go/familygen", own: []string{"sdk/go/gen"}, never: []string{"net", "net/http"}}, // run in the SDK's version that the author uses
		// It runs families in the host's own code. What runs in a guest, sdk/go, knows nothing of the host.
		{pkg: "sdk/go/alcovetest", own: []string{"sdk/go", "sdk/go/scan", "abi", "registry", "host/family", "host/family/jobs", "host/family/ops", "host/family/outside/files", "host/family/author/conform", "host/memory", "host/family/policy", "host/family/grants", "host/family/catalogue", "host/sandbox", "host/testing/asm", "host/sandbox/wasm", "host/search", "host/store/bolt", "host/tool", "host/tool/families"}, never: outside},
		{pkg: "guests/examples", never: outside},
		{pkg: "guests/examples/*", own: []string{"sdk/go"}, never: append(outside, "os")},
		{pkg: "guests/examples/reminders/go", own: []string{"sdk/go", "sdk/go/scan"}, never: append(outside, "os")},
		{pkg: "sdk", never: outside},
		{pkg: "sdk/examples/agent"}, // a program to copy: the standard library only
		// What host and guests share about secrets. It is no SDK of a language, and imports neither.
		{pkg: "sdk/secrets", never: append(outside, "os", "encoding/json", "fmt", "reflect", "regexp", "time")},
		{pkg: "sdk/interop", never: outside},
		{pkg: "sdk/interop/go", own: []string{"sdk/go", "sdk/interop/conform"}, never: append(outside, "os")},
		{pkg: "sdk/interop/conform", own: []string{"sdk/go", "sdk/go/scan"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/lib/words", own: []string{"sdk/go/scan"}, never: append(outside, "os")},
		{pkg: "guests/lib/jsonpath", own: []string{"sdk/go/scan"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/build/project", others: []string{"github.com/klauspost/compress"}, never: append(outside, "os")},
		{pkg: "guests", own: []string{"guests/build/image", "guests/build/project"}, never: append(outside, "os")},
		{pkg: "guests/engines", own: []string{"abi"}, never: append(outside, "os")},
		{pkg: "guests/build/image", own: []string{"abi"}, others: []string{"github.com/klauspost/compress"}, never: append(outside, "os")},
		{pkg: "guests/build/doc", own: []string{"abi", "guests/build/doc/page", "host/durable", "host/sandbox"}, never: outside},
		{pkg: "guests/build/doc/page", own: []string{"abi"}, never: append(outside, "os")},
		{pkg: "guests/build/pack", own: []string{"guests/build/image", "guests/build/project", "host/sandbox"}, never: outside},
		{pkg: "guests/build/unwind", own: []string{"host/sandbox/wasm"}, never: outside},
		{pkg: "guests/build/pairs", own: []string{"guests/families/consolidation/compare", "host/durable", "host/search/wordvec"}, never: outside},
		{pkg: "guests/build/tags", own: []string{"guests/families/auto-tag/suggest", "guests/lib/words", "host/durable"}, never: outside},
		{pkg: "guests/build/kinds", own: []string{"guests/families/auto-tag/kind", "host/durable"}, never: outside},
		{pkg: "guests/build/all", own: []string{"sdk/go", "guests/families/*"}, never: append(outside, "os")},
		{pkg: "guests/lib/identity", own: []string{"sdk/go"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/lib/meaning", own: []string{"sdk/go"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/lib/score", never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/lib/fact", own: []string{"sdk/go", "sdk/go/scan", "guests/lib/score"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "host/testing/planted", never: outside}, // of tests
		{pkg: "guests/lib/scopes", own: []string{"sdk/go"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/lib/moment", own: []string{"sdk/go"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/lib/front", own: []string{"sdk/go/scan"}, never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")},
		{pkg: "guests/families/legacy/successor", never: append(outside, "os", "encoding/json", "fmt", "reflect", "time")}, // also for the program
		{pkg: "host/store", never: append(outside, "os")},
		{pkg: "host/store/keycode", own: []string{"host/store"}, never: append(outside, "os")},
		{pkg: "host/store/holding", own: []string{"host/store"}, never: append(outside, "os")},
		{pkg: "host/store/dumping", own: []string{"host/store"}, never: append(outside, "os")},
		{pkg: "host/store/bolt", own: []string{"host/durable", "host/regular", "host/store", "host/store/bolt/layout", "host/store/bolt/salvage", "host/store/dumping", "host/store/holding", "host/store/keycode"}, others: []string{"go.etcd.io/bbolt", "github.com/bits-and-blooms/bloom", "github.com/edsrzf/mmap-go", "golang.org/x/sys"}, never: outside},
		{pkg: "host/store/sealing", others: []string{"filippo.io/age"}, never: outside},
		{pkg: "host/store/postgres", own: []string{"host/durable", "host/store", "host/store/dumping", "host/store/holding", "host/store/keycode"}, others: []string{"github.com/jackc/pgx", "github.com/pressly/goose"}, never: []string{"net/http", "os/exec"}},
		{pkg: "host/testing/netns", others: []string{"golang.org/x/sys"}},
		{pkg: "host/testing/postgres", others: []string{"github.com/jackc/pgx"}},
		{pkg: "host/store/bolt/layout", own: []string{"host/store", "host/store/keycode"}, others: []string{"go.etcd.io/bbolt"}, never: outside},
		{pkg: "host/store/bolt/salvage", own: []string{"host/durable", "host/store", "host/store/bolt/layout", "host/store/keycode"}, others: []string{"go.etcd.io/bbolt"}, never: outside},
		{pkg: "host/testing/storetest", own: []string{"host/store"}, others: []string{"pgregory.net/rapid"}},
		{pkg: "host/testing/linear", others: []string{"github.com/anishathalye/porcupine"}},
		{pkg: "host/testing/powerloss", own: []string{"host/store"}},
		{pkg: "host/search/segment", never: append(outside, "os")},
		{pkg: "host/search/paged", never: append(outside, "os")},
		{pkg: "host/search", own: []string{"host/internal/namespace", "host/store", "host/search/paged", "host/search/segment"}, others: []string{"github.com/blevesearch/snowballstem", "github.com/clipperhouse/uax29", "golang.org/x/text"}, never: append(outside, "os")},
		{pkg: "host/search/vector", own: []string{"host/store"}, others: []string{"golang.org/x/sys"}, never: append(outside, "os")},
		{pkg: "host/search/semantic", own: []string{"host/store", "host/search", "host/search/vector"}, never: append(outside, "os")},
		{pkg: "host/search/wordvec", own: []string{"host/search"}, never: append(outside, "os")},
		{pkg: "host/search/wordvec/maketable", own: []string{"host/search", "host/search/embed", "host/search/wordvec"}, never: outside},
		{pkg: "host/search/near", own: []string{"host/search", "host/search/vector"}, never: append(outside, "os")},
		{pkg: "host/search/embed/kernel", others: []string{"github.com/tetratelabs/wazero"}, never: append(outside, "os")},
		{pkg: "host/search/embed", own: []string{"host/regular", "host/search/embed/kernel"}, others: []string{"golang.org/x/text"}, never: []string{"net", "os/exec"}},
		{pkg: "host/memory/traces", never: append(outside, "os")},
		{pkg: "host/testing/tracestest", never: append(outside, "os")}, // serves tests only
		{pkg: "host/memory/lineage", own: []string{"host/internal/namespace", "host/store"}, never: append(outside, "os")},
		{pkg: "host/memory/provenance", own: []string{"host/internal/namespace"}, never: append(outside, "os")},
		{pkg: "host/memory/scope", own: []string{"host/internal/namespace"}, never: append(outside, "os")},
		{pkg: "host/memory/retention", never: append(outside, "os")},
		{pkg: "host/memory/threeway", own: []string{"host/internal/jsontext"}, never: append(outside, "os")},
		{pkg: "host/memory/moment", never: append(outside, "os")},
		{pkg: "host/memory/record", own: []string{"host/internal/jsontext", "host/memory/moment", "host/memory/threeway", "host/search", "host/store"}, never: append(outside, "os")},
		{pkg: "host/memory/integrity", own: []string{"host/memory/lineage", "host/memory/record", "host/search", "host/store"}, never: append(outside, "os")},
		{pkg: "host/memory/fault", never: append(outside, "os")}, // the standard library only
		{pkg: "host/memory/feed", own: []string{"host/internal/namespace", "host/memory/fault", "host/memory/lineage", "host/memory/record", "host/store"}, never: append(outside, "os")},
		{pkg: "host/memory/chores", own: []string{"host/store"}, never: append(outside, "os")},
		{pkg: "host/memory/reclaim", own: []string{"host/memory/lineage", "host/store"}, never: append(outside, "os")},
		{pkg: "host/memory/effect", own: []string{"host/memory/fault"}, never: append(outside, "os")},
		{pkg: "host/memory/quota", own: []string{"host/memory/fault", "host/memory/record", "host/store"}, never: append(outside, "os")},
		{pkg: "host/memory/query", own: []string{"host/memory/fault", "host/memory/record"}, never: append(outside, "os")},
		{pkg: "host/memory/spelling", never: append(outside, "os")}, // the standard library only
		{pkg: "host/memory/recordindex", own: []string{"host/memory/fault", "host/memory/integrity", "host/memory/lineage", "host/memory/query", "host/memory/record", "host/store"}, never: append(outside, "os")},
		{pkg: "host/memory/searchindex", own: []string{"host/memory/lineage", "host/memory/record", "host/memory/recordindex", "host/search", "host/store"}, never: append(outside, "os")},
		{pkg: "host/memory/counters", own: []string{"host/internal/sealed", "host/memory/lineage", "host/memory/record", "host/store"}, never: append(outside, "os")},
		{pkg: "host/memory/portable", never: append(outside, "os")}, // the standard library only
		{pkg: "host/memory/purge", own: []string{"host/memory/lineage", "host/memory/record", "host/memory/traces", "host/store"}, never: append(outside, "os")},
		{pkg: "host/memory", own: []string{"host/internal/sealed", "host/memory/provenance", "host/memory/chores", "host/memory/reclaim", "host/memory/feed", "host/memory/counters", "host/memory/recordindex", "host/memory/searchindex", "host/memory/effect", "host/memory/fault", "host/memory/quota", "host/memory/query", "host/memory/spelling", "host/internal/namespace", "host/memory/integrity", "host/memory/portable", "host/memory/purge", "host/memory/lineage", "host/memory/scope", "host/memory/retention", "host/memory/threeway", "host/store", "host/search", "host/internal/jsontext", "host/memory/moment", "host/memory/record"}, others: []string{"golang.org/x/text"}, never: append(outside, "os")},
		{pkg: "host/internal/sealed", others: []string{"golang.org/x/crypto"}, never: append(outside, "os")},
		{pkg: "host/internal/trace", never: append(outside, "os")},
		{pkg: "host/internal/spans", own: []string{"host/internal/trace"}, others: []string{"go.opentelemetry.io/otel"}, never: []string{"os", "os/exec"}},
		{pkg: "host/internal/profile", never: append(outside, "os")},
		{pkg: "host/internal/schema", others: []string{"github.com/santhosh-tekuri/jsonschema"}, never: append(outside, "os")},
		{pkg: "host/tool/request", own: []string{"host/memory", "host/internal/jsonrpc", "host/internal/jsontext"}, never: append(outside, "os")},
		{pkg: "host/tool", own: []string{"host/internal/trace", "host/memory/feed", "host/memory", "host/internal/schema", "host/internal/jsonrpc", "host/internal/jsontext", "host/tool/request"}, never: append(outside, "os")},
		{pkg: "host/tool/operation", own: []string{"host/memory", "host/tool", "host/tool/request"}, never: append(outside, "os")},
		{pkg: "host/tool/core", own: []string{"host/memory/feed", "host/internal/jsontext", "host/memory", "host/memory/effect", "host/memory/recalls", "host/search", "host/tool", "host/tool/operation", "host/tool/request"}, never: append(outside, "os")},
		{pkg: "host/front/connection", own: []string{"host/internal/jsonrpc", "host/memory", "host/tool"}, never: []string{"os", "os/exec"}},
		{pkg: "host/front/mcp", own: []string{"host/front/connection", "host/memory", "host/memory/feed", "host/tool", "host/internal/jsonrpc", "host/internal/profile", "host/internal/trace"}, others: []string{"github.com/mark3labs/mcp-go"}, never: []string{"os", "os/exec"}},
		{pkg: "host/daemon/clients", own: []string{"host/daemon/clients/edit", "host/durable", "host/internal/profile", "host/regular"}, others: []string{"github.com/gofrs/flock"}, never: outside},
		{pkg: "host/daemon/plugins", own: []string{"host/capture/hook", "host/daemon/clients"}, never: append(outside, "os")},
		{pkg: "host/daemon/clients/edit", others: []string{"github.com/pelletier/go-toml/v2", "github.com/tailscale/hujson"}, never: append(outside, "os")},
		{pkg: "host/daemon/service", own: []string{"host/durable"}, never: []string{"net", "net/http"}},
		{pkg: "host/operator/metrics", own: []string{"host/operator/audit", "host/tool"}, others: []string{"github.com/prometheus/client_golang", "github.com/prometheus/client_model"}, never: []string{"os", "os/exec"}},
		{pkg: "host/remote", own: []string{"host/weburl", "host/durable", "host/memory", "host/memory/provenance", "host/regular"}, others: []string{"github.com/klauspost/compress"}, never: []string{"os", "os/exec"}},
		{pkg: "host/front/rest", own: []string{"host/front/connection", "host/memory", "host/tool", "host/tool/operation"}, never: []string{"os", "os/exec"}},
		{pkg: "host/front/stream", own: []string{"host/memory/feed", "host/front/connection", "host/internal/jsonrpc", "host/memory", "host/tool", "host/tool/operation", "host/tool/request"}, others: []string{"github.com/coder/websocket"}, never: []string{"os", "os/exec"}},
		{pkg: "host/front/operations", own: []string{"host/front/connection", "host/internal/jsonrpc", "host/memory", "host/tool", "host/tool/operation"}, never: append(outside, "os")},
		{pkg: "sdk/client", never: []string{"os/exec"}}, // the standard library only: programs of others import it
		{pkg: "host/integration/*"},                     // tests only
		// These serve tests only.
		{pkg: "host/testing/server", own: []string{"abi", "guests", "host", "host/daemon/bridge", "host/daemon/owner", "host/family", "host/family/outside/outbound", "host/memory", "host/operator", "host/operator/admin", "host/sandbox", "host/space", "host/search", "host/store", "host/store/bolt", "host/testing/await", "host/testing/guest", "sdk/client"}, others: []string{"github.com/coder/websocket"}},
		{pkg: "host/testing/guest", own: []string{"abi", "host/sandbox", "host/sandbox/wasm", "host/testing/asm"}, never: outside},
		{pkg: "host/testing/ociregistry", own: []string{"host/testing/await"}}, // serves tests only
		{pkg: "host/testing/nodejs"}, // serves tests only
		{pkg: "host/testing/must", never: append(outside, "os")},
		{pkg: "host/testing/testspace", own: []string{"host/memory", "host/search", "host/store/bolt"}, never: outside},
		{pkg: "host/sandbox", own: []string{"abi", "host/regular", "host/internal/schema", "host/sandbox/wasm", "host/sandbox/meter"}, others: []string{"github.com/tetratelabs/wazero", "golang.org/x/sys"}, never: []string{"net", "net/http"}},
		{pkg: "registry/materials", never: append(outside, "os")},
		{pkg: "registry/checksums", own: []string{"registry/signature"}, never: append(outside, "os")},
		{pkg: "registry/provenance", own: []string{"registry/signature"}, never: append(outside, "os")},
		{pkg: "registry/index", own: []string{"registry/signature"}, never: append(outside, "os")},
		{pkg: "registry/catalogue", own: []string{"registry/signature"}, never: append(outside, "os")},
		{pkg: "registry", own: []string{"abi", "host/durable", "registry/signature"}, never: outside}, // never the rest of the host
		{pkg: "registry/signature", never: append(outside, "os")},
		// It alone talks to registries; the kinds of addresses are those of endpoints.
		{pkg: "registry/oci", own: []string{"abi", "registry/signature", "host/family/outside/outbound"}, others: []string{"oras.land/oras-go/v2", "github.com/opencontainers"}, never: []string{"os", "os/exec"}},
		{pkg: "registry/review", own: []string{"abi"}, never: append(outside, "os")},
		{pkg: "host/family/policy", own: []string{"abi", "host/internal/namespace"}, never: append(outside, "os")},
		{pkg: "host/family/outside/outbound", own: []string{"abi", "host/internal/trace", "host/family/ops", "host/memory/traces", "host/regular", "registry"}, never: []string{"os/exec"}},
		{pkg: "host/family/ops", own: []string{"host/internal/trace", "host/memory/feed", "host/internal/namespace", "abi", "registry", "host/memory", "host/memory/effect", "host/memory/query", "host/family/policy", "host/search", "host/internal/jsontext", "host/memory/recalls", "host/memory/usage", "host/memory/sessions", "host/memory/scope", "host/family/config", "host/tool/tokens"}, never: append(outside, "os")},
		{pkg: "host/operator/segments", own: []string{"host/durable"}, never: outside},
		{pkg: "host/operator/audit", own: []string{"host/durable", "host/operator/segments", "host/regular"}, never: outside},
		{pkg: "host/operator/requestlog", own: []string{"host/durable", "host/internal/jsontext", "host/operator/segments"}, never: outside},
		{pkg: "host/operator/refusals", never: append(outside, "os")},
		{pkg: "host/memory/recalls", own: []string{"host/memory"}, never: append(outside, "os")},
		{pkg: "host/front/httpsessions", own: []string{"host/durable", "host/regular"}, never: outside},
		{pkg: "host/memory/sessions", own: []string{"host/memory"}, never: append(outside, "os")},
		{pkg: "host/memory/usage", own: []string{"host/memory"}, never: append(outside, "os")},
		{pkg: "host/family/jobs", own: []string{"abi", "host/memory"}, never: append(outside, "os")},
		{pkg: "host/family/lockfile", own: []string{"registry", "host/operator/audit"}, never: outside},
		{pkg: "host/family/modules", own: []string{"abi", "host/durable", "host/regular", "host/sandbox", "registry", "registry/signature"}, never: outside},
		{pkg: "host/family/catalogue", own: []string{"abi", "host/family/config", "host/family/grants", "host/family/hooks", "host/family/modules", "host/family/naming", "host/family/ops", "host/family/policy", "host/internal/jsontext", "host/internal/schema", "host/memory", "host/operator/audit", "host/sandbox", "host/sandbox/early", "registry", "registry/catalogue"}, never: outside},
		{pkg: "host/family/grants", own: []string{"abi", "host/family/modules", "host/family/policy", "host/memory", "registry", "registry/signature"}, never: append(outside, "os")},
		{pkg: "host/family/naming", own: []string{"abi", "host/family/config", "host/family/modules", "host/memory"}, others: []string{"golang.org/x/text"}, never: append(outside, "os")},
		{pkg: "host/family", own: []string{"host/internal/trace", "host/internal/jsontext", "host/memory/feed", "abi", "host/operator/audit", "host/family/lockfile", "host/family/modules", "host/family/naming", "registry", "host/family/jobs", "host/family/ops", "host/memory", "host/memory/effect", "host/family/policy", "host/regular", "host/sandbox", "host/sandbox/early", "host/memory/sessions", "host/family/hooks", "host/family/config", "registry/signature", "host/family/outside/budget", "host/family/grants", "host/family/catalogue"}, never: outside},
		{pkg: "host/family/outside/budget", own: []string{"host/durable", "host/regular"}, never: outside},
		{pkg: "host/family/hooks", own: []string{"abi", "host/family/jobs", "host/family/ops", "host/memory", "host/memory/effect"}, never: append(outside, "os")},
		{pkg: "host/family/config", own: []string{"abi", "host/memory", "host/internal/schema"}, never: append(outside, "os")},
		{pkg: "host/tool/tokens", never: append(outside, "os")},
		{pkg: "host/sandbox/early", own: []string{"abi", "host/sandbox"}, never: append(outside, "os")},
		{pkg: "host/sandbox/wasm", never: append(outside, "os")},
		{pkg: "host/sandbox/meter", own: []string{"host/sandbox/wasm"}, never: append(outside, "os")},
		{pkg: "host/testing/spectest"},                                     // serves tests only
		{pkg: "host/testing/stress"},                                       // serves tests only
		{pkg: "host/testing/await", never: append(outside, "os")},          // serves tests only
		{pkg: "host/testing/testcert", own: []string{"host/testing/must"}}, // serves tests only
		{pkg: "host/testing/typecheck", others: []string{"golang.org/x/tools"}},
		{pkg: "host/testing/testclock", never: append(outside, "os")}, // serves tests only
		{pkg: "host/testing/hostile", own: []string{"abi", "host/testing/asm", "host/sandbox/wasm"}, never: append(outside, "os")},
		{pkg: "host/testing/asm", own: []string{"host/sandbox/wasm"}, never: append(outside, "os")},
		{pkg: "host/store/bundle", own: []string{"host/store"}, never: append(outside, "os")},
		{pkg: "host/store/backup", own: []string{"host/operator/audit", "host/regular", "host/store", "host/store/sealing"}, never: outside},
		{pkg: "host/store/objects", own: []string{"host/weburl", "host/durable", "host/regular", "host/store/backup"}, others: []string{"github.com/minio/minio-go", "github.com/gofrs/flock"}, never: []string{"os/exec"}},
		{pkg: "host/testing/objectserver", own: []string{"host/testing/await"}, others: []string{"github.com/gofrs/flock"}}, // serves tests only
		{pkg: "host/family/outside/files", own: []string{"abi", "registry"}, never: outside},
		{pkg: "host/capture", own: []string{"host/capture/project", "host/capture/sqlite", "host/internal/jsontext", "host/memory/importer", "host/memory/portable", "host/regular", "sdk/secrets"}, others: []string{"github.com/gofrs/flock"}, never: outside},
		{pkg: "host/capture/hook", own: []string{"host/capture", "host/capture/project", "host/memory/importer", "host/memory/portable", "host/regular"}, others: []string{"github.com/gofrs/flock"}, never: outside},
		{pkg: "host/capture/project", own: []string{"host/durable", "host/regular"}, others: []string{"github.com/gofrs/flock"}, never: outside},
		{pkg: "host/capture/sqlite", own: []string{"host/regular"}, others: []string{"github.com/ncruces/go-sqlite3"}, never: outside},
		{pkg: "host/memory/importer", own: []string{"host/memory/portable", "host/regular", "host/internal/jsontext"}, others: []string{"go.yaml.in/yaml/v3"}, never: outside},
		{pkg: "host/weburl", never: append(outside, "os")}, // the standard library only
		{pkg: "host/regular", never: outside},
		{pkg: "host/family/author/declared", own: []string{"abi", "sdk/go/gen/declare"}, never: append(outside, "os")},                                               // reads sources, and runs nothing
		{pkg: "host/family/author/script", own: []string{"abi", "host/sandbox", "sdk/go/gen/declare"}, others: []string{"github.com/evanw/esbuild"}, never: outside}, // on an author's machine, never in a server
		{pkg: "host/family/author/develop", own: []string{"abi", "host/regular"}, never: []string{"net", "net/http"}},
		{pkg: "host/durable", own: []string{"host/regular"}, never: outside},
		{pkg: "host/bench/hooks", own: []string{"host/bench/measure", "host/capture/hook", "host/daemon/bridge", "host/daemon/owner", "host/operator", "host/operator/admin", "sdk/client"}},                  // serves measurements only
		{pkg: "host/bench/judge", own: []string{"guests/lib/words", "host", "host/daemon/owner", "host/operator", "host/operator/admin", "host/sandbox", "host/testing/server", "sdk/client", "sdk/secrets"}}, // likewise
		{pkg: "host/bench/listing", own: []string{"host", "host/daemon/owner", "host/search/wordvec", "host/testing/server", "host/tool/tokens"}, others: []string{"github.com/blevesearch/snowballstem"}},    // likewise
		{pkg: "host/bench/pairs"},                                      // likewise
		{pkg: "host/bench/compare", own: []string{"host/tool/tokens"}}, // likewise
		{pkg: "host/bench/measure/testtimes"},                          // likewise
		{pkg: "host/bench/measure", never: append(outside, "os")},
		{pkg: "host/bench/scale", own: []string{"host/daemon/owner", "host/durable", "host/search/wordvec", "sdk/client"}, never: []string{"net", "net/http"}}, // it measures other processes
		{pkg: "host/operator/embedders", own: []string{"abi", "host/durable", "host/memory", "host/regular", "host/search", "host/search/embed", "host/search/near", "host/search/semantic", "host/search/vector", "host/search/wordvec"}, never: append(outside, "os")},
		{pkg: "host/operator/embedders/models", own: []string{"host/weburl", "host/durable", "host/regular", "host/search/embed"}, never: []string{"os/exec"}},
		{pkg: "host/family/author/conform/instance", own: []string{"host/internal/schema"}, never: append(outside, "os")},
		{pkg: "host/family/author/conform", own: []string{"abi", "registry", "host/family", "host/memory", "host/sandbox", "host/family/author/conform/instance", "host/family/grants", "host/family/catalogue"}, never: append(outside, "os")},
		{pkg: "host/operator", own: []string{"host/remote", "host/operator/keys", "host/operator/operators", "abi", "registry", "host/operator/admin", "host/store/backup", "host/operator/embedders", "host/family", "host/family/jobs", "host/memory", "host/memory/integrity", "host/memory/portable", "host/memory/purge", "host/memory/retention", "host/family/policy", "host/sandbox", "host/store", "host/family/config", "host/family/grants", "host/family/catalogue", "host/operator/audit", "host/operator/metrics", "host/operator/requestlog"}, never: []string{"net/http", "os", "os/exec"}},
		{pkg: "host/operator/configfile", own: []string{"abi", "host/durable", "host/memory", "host/operator", "host/regular", "registry/signature"}, others: []string{"go.yaml.in/yaml/v3"}, never: outside},
		{pkg: "host/operator/operators", own: []string{"host/regular"}, never: outside},
		{pkg: "host/operator/push", own: []string{"host/durable", "host/operator/audit", "host/regular"}, others: []string{"go.opentelemetry.io/proto/otlp", "google.golang.org/protobuf"}},
		{pkg: "host/operator/admin", never: []string{"os", "os/exec"}},
		{pkg: "host/operator/keys", own: []string{"host/durable", "host/memory", "host/internal/namespace"}, never: outside},
		{pkg: "host/internal/namespace", never: append(outside, "os")}, // the standard library only
		{pkg: "host/internal/jsontext", never: append(outside, "os")},  // the standard library only
		{pkg: "host/internal/jsonrpc", own: []string{"host/internal/jsontext"}, others: []string{"golang.org/x/sync"}, never: append(outside, "os")},
		{pkg: "host/daemon/owner", own: []string{"host/durable", "host/internal/jsonrpc"}, others: []string{"github.com/gofrs/flock", "golang.org/x/sys"}},
		{pkg: "host/daemon/presence", own: []string{"host/daemon/owner", "host/store"}, never: outside},
		{pkg: "host/store/settings", own: []string{"abi", "registry", "registry/signature", "host/operator/audit", "host/store/backup", "host/store/bundle", "host/durable", "host/operator/embedders", "host/family/modules"}, never: outside},
		{pkg: "host/store/datadir", own: []string{"registry", "host/operator/audit", "host/family", "host/family/lockfile", "host/store/backup", "host/store/bundle", "host/memory", "host/memory/integrity", "host/daemon/owner", "host/search/semantic", "host/store/settings", "host/store", "host/store/sealing", "host/internal/jsontext"}, never: outside},
		{pkg: "host/front/listen", own: []string{"host/durable", "host/daemon/owner", "host/regular"}},
		{pkg: "host/daemon/bridge", own: []string{"host/internal/jsonrpc"}, never: append(outside, "os")},
		{pkg: "host/daemon/remote", own: []string{"host/weburl", "host/internal/jsonrpc", "host/daemon/owner"}, never: []string{"os", "os/exec"}},
		{pkg: "host/front/attempts", never: []string{"os", "os/exec"}},
		{pkg: "host/front/certificate", own: []string{"host/durable"}, others: []string{"golang.org/x/crypto/acme"}, never: []string{"os/exec"}},
		{pkg: "host/front/join", own: []string{"host/front/attempts", "host/front/listen", "host/memory", "host/operator/keys"}, never: []string{"os", "os/exec"}},
		{pkg: "host/front/issuer", own: []string{"host/weburl", "host/memory", "host/operator/keys"}, others: []string{"github.com/MicahParks/jwkset", "github.com/MicahParks/keyfunc", "github.com/golang-jwt/jwt", "golang.org/x/time"}, never: []string{"os", "os/exec"}},
		{pkg: "host/front/oauth", own: []string{"host/weburl", "host/front/attempts", "host/front/listen", "host/memory", "host/operator/keys"}, never: []string{"os", "os/exec"}},
		{pkg: "host/front/console", own: []string{"host/front/attempts", "host/front/connection", "host/front/listen", "host/memory", "host/operator/admin", "host/tool"}, never: []string{"os", "os/exec"}},
		{pkg: "host/front/admission", own: []string{"host/daemon/owner", "host/family/ops", "host/front/connection", "host/front/issuer", "host/front/mcp", "host/memory", "host/operator/keys"}, never: []string{"os", "os/exec"}},
		{pkg: "host/operator/account", own: []string{"host/daemon/owner", "host/internal/jsontext", "host/memory", "host/memory/sessions", "host/memory/traces", "host/operator", "host/operator/audit", "host/operator/keys", "host/operator/metrics", "host/operator/refusals", "host/operator/requestlog", "host/space", "host/tool", "host/tool/operation"}, never: []string{"os/exec"}},
		{pkg: "host/operator/acts", own: []string{"host/remote", "host/family", "host/family/modules", "host/memory", "host/memory/scope", "host/operator", "host/operator/audit", "host/operator/keys", "host/operator/operators", "host/space", "host/store", "host/store/backup", "host/store/bundle", "host/store/settings", "host/tool"}, never: outside},
		{pkg: "host/space", own: []string{"abi", "host/daemon/owner", "host/family", "host/family/lockfile", "host/family/ops", "host/family/outside/files", "host/family/outside/outbound", "host/family/modules", "host/family/catalogue", "host/standby", "host/memory", "host/memory/integrity", "host/memory/sessions", "host/memory/usage", "host/operator/audit", "host/operator/embedders", "host/operator/push", "host/sandbox", "host/sandbox/early", "host/search", "host/store", "host/store/bolt", "host/store/datadir", "host/store/postgres", "host/tool", "host/tool/core", "host/tool/families", "registry", "host/durable", "host/regular", "host/space/folder"}, never: outside},
		{pkg: "host/tool/families", own: []string{"abi", "host/family", "host/family/modules", "host/family/naming", "host/family/catalogue", "host/memory", "host/tool", "host/tool/core", "registry"}, never: append(outside, "os")},
		{pkg: "host/standby", own: []string{"host/daemon/owner", "host/durable", "host/memory", "host/regular", "host/store", "host/store/backup", "host/store/datadir", "host/store/sealing", "host/store/settings"}, never: outside},
		{pkg: "host/state", own: []string{"host/durable", "host/regular", "host/store"}, never: outside},
		{pkg: "host/follow", own: []string{"host/memory", "host/store"}, others: []string{"golang.org/x/sync/semaphore"}, never: []string{"os", "os/exec"}},
		{pkg: "host/cluster", own: []string{"host/memory", "host/store"}, never: []string{"os", "os/exec"}},
		{pkg: "host/space/moving", own: []string{"host/store", "host/store/bundle"}, never: outside},
		{pkg: "host/space/folder", own: []string{"host/daemon/owner", "host/durable"}, never: outside},
		{pkg: "host/family/author/seed", own: []string{"host/memory/portable"}, never: append(outside, "os")},
		{pkg: "host/family/author/cases", own: []string{"abi", "host/family/author/seed", "host/internal/jsontext"}, never: append(outside, "os")},
		{pkg: "host/family/author/trial", own: []string{"abi", "host/family", "host/family/author/cases", "host/family/author/conform", "host/family/author/seed", "host/family/grants", "host/family/catalogue", "host/family/ops", "host/memory", "host/sandbox", "host/space", "host/store", "host/tool"}, never: outside},
		{pkg: "host", own: []string{"host/regular", "host/operator/audit", "host/standby", "abi", "host/follow", "host/weburl", "host/cluster", "host/state", "registry", "host/remote", "host/family/outside/outbound", "host/front/certificate", "host/front/issuer", "host/front/join", "host/front/oauth", "host/internal/profile", "host/internal/spans", "host/internal/trace", "host/daemon/owner", "host/daemon/presence", "host/front/admission", "host/front/connection", "host/front/console", "host/front/httpsessions", "host/front/listen", "host/front/mcp", "host/front/operations", "host/front/rest", "host/front/stream", "host/memory", "host/memory/sessions", "host/operator", "host/operator/account", "host/operator/acts", "host/operator/admin", "host/operator/keys", "host/operator/operators", "host/space", "host/space/folder", "host/space/moving", "host/durable", "host/regular", "host/store", "host/tool", "host/tool/core", "host/family/modules"}, others: []string{"golang.org/x/sync/errgroup"}},
		{pkg: "cmd/alcove", own: []string{"host/standby", "host/weburl", "abi", "cmd/alcove/manual", "cmd/alcove/migrate", "cmd/alcove/terminal", "cmd/release/product", "guests", "guests/build/image", "guests/build/project", "guests/engines", "guests/families/legacy/successor", "host", "host/bench/measure", "host/bench/scale", "host/capture", "host/capture/hook", "host/capture/project", "host/daemon/bridge", "host/daemon/clients", "host/daemon/owner", "host/daemon/remote", "host/daemon/service", "host/durable", "host/front/certificate", "host/family/author/cases", "host/family/author/conform", "host/family/author/declared", "host/family/author/develop", "host/family/author/script", "host/family/author/seed", "host/family/author/trial", "host/family/lockfile", "host/family/modules", "host/family/catalogue", "host/memory/importer", "host/memory/spelling", "host/operator", "host/operator/admin", "host/operator/audit", "host/operator/configfile", "host/operator/embedders/models", "host/operator/keys", "host/operator/push", "host/operator/requestlog", "host/regular", "host/sandbox", "host/search/embed", "host/space", "host/space/folder", "host/store/backup", "host/store/datadir", "host/store/sealing", "host/store/settings", "host/tool/families", "host/tool/tokens", "registry", "registry/catalogue", "registry/checksums", "registry/index", "registry/materials", "registry/oci", "registry/provenance", "registry/review", "registry/signature", "sdk/client", "sdk/go/gen/output", "host/memory/moment", "host/store/objects"}, others: []string{"github.com/CycloneDX/cyclonedx-go", "golang.org/x/crypto", "github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/schollz/progressbar", "golang.org/x/sys"}},
		{pkg: "cmd/release", own: []string{"abi", "cmd/release/*", "guests/build/image", "guests/engines", "registry/catalogue", "registry/checksums", "registry/signature", "host/family/modules"}, others: []string{"github.com/CycloneDX/cyclonedx-go"}, never: outside}, // runs where a release is made
		{pkg: "cmd/release/channel", own: []string{"cmd/release/licences", "cmd/release/product"}, others: []string{"github.com/google/rpmpack", "go.yaml.in/yaml"}, never: outside},
		{pkg: "cmd/release/licences"}, // asks the go command for the modules of a program
		{pkg: "cmd/release/product", never: append(outside, "os")},
		{pkg: "cmd/release/npm", own: []string{"cmd/release/product"}, never: outside},
		{pkg: "cmd/release/deploy", own: []string{"cmd/release/product"}, never: outside},
		{pkg: "cmd/release/extension", own: []string{"cmd/release/product"}, never: outside},
		{pkg: "cmd/release/listing", own: []string{"cmd/release/container", "cmd/release/extension", "cmd/release/npm", "cmd/release/product"}, never: outside},
		{pkg: "cmd/release/container", own: []string{"cmd/release/product", "registry/oci"}, others: []string{"github.com/opencontainers/go-digest", "github.com/opencontainers/image-spec", "golang.org/x/crypto", "oras.land/oras-go"}, never: outside},
		{pkg: "cmd/picture", never: []string{"net"}},                               // runs the program where the documentation is made
		{pkg: "cmd/plugins", own: []string{"host/daemon/plugins"}, never: outside}, // runs where a release is made
		{pkg: "cmd/alcove/manual", others: []string{"github.com/spf13/cobra", "github.com/spf13/pflag"}, never: append(outside, "os")},
		{pkg: "cmd/alcove/migrate", own: []string{"guests/families/legacy/successor"}, never: append(outside, "os")},
		{pkg: "cmd/alcove/terminal", others: []string{"github.com/schollz/progressbar"}, never: outside},
	}...)
}

// familyRules are those of the first-party families. A family imports the SDK, its own folders and these of guests/lib, and no other family.
func familyRules() (list []rule) {
	never := []string{"net", "net/http", "os/exec", "os", "encoding/json", "fmt", "reflect", "time"}
	libraries := map[string][]string{
		"agents":         {"identity", "meaning", "score", "words"},
		"auto-tag":       {"meaning", "words"},
		"consolidation":  {"words"},
		"developer":      {"jsonpath"},
		"events":         {"fact", "moment"},
		"facts":          {"words", "score", "fact", "moment"},
		"governance":     {},
		"graph":          {"fact", "moment", "scopes", "words"},
		"legacy":         {"score"},
		"lifecycle":      {"moment", "score", "words"},
		"messages":       {"identity", "words"},
		"ranking":        {"words", "fact"},
		"redaction":      {},
		"retrieval":      {"score", "fact", "moment", "scopes"},
		"sessions":       {"fact", "score", "words"},
		"settings":       {},
		"sites":          {"score"},
		"vault":          {"fact", "front", "words"},
		"working-memory": {"meaning", "words"},
	}
	for _, name := range slices.Sorted(maps.Keys(libraries)) {
		dir := "guests/families/" + name
		own := []string{"sdk/go", "sdk/go/scan", dir + "/*"}
		if name == "redaction" {
			own = append(own, "sdk/secrets")
		}
		for _, l := range libraries[name] {
			own = append(own, "guests/lib/"+l)
		}
		list = append(list, rule{pkg: dir + "/guest", own: []string{"sdk/go", dir}, never: never},
			rule{pkg: dir, own: own, never: never}, rule{pkg: dir + "/*", own: own, never: never})
	}
	return list
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
		{"host/memory", module + "host/front/mcp"},
		{"host/memory", "github.com/mark3labs/mcp-go/mcp"},
		{"host/store", module + "host/search"},
		{"host/search", "github.com/tetratelabs/wazero"},
		{"host/memory", "net/http"},
		{"host/front/mcp", "github.com/spf13/cobra"},
		{"host/daemon/bridge", module + "host/daemon/owner"},
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
				if at != "host/space/driver.go" && name != "sdk/go/alcovetest" && name != "host/testing/server" && name != "host/testing/testspace" && (text == module+"host/store/bolt" || text == module+"host/store/postgres") {
					t.Errorf("%s imports an engine: only host/space/driver.go chooses one, and alcovetest and the test server for tests", at)
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

// The generator of a family's code is run by the go command, in the version of the SDK that the family uses: the program has none of its own.
func TestTheProgramHasNoGenerator(t *testing.T) {
	cmd := exec.Command("go", "list", "-tags", "guests", "-deps", "./cmd/alcove")
	cmd.Dir = "../../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list what the program imports: %v", err)
	}
	for name := range strings.Lines(string(out)) {
		if name = strings.TrimSpace(name); name == "go/types" || name == module+"sdk/go/gen" {
			t.Errorf("cmd/alcove imports %s: run sdk/go/familygen instead", name)
		}
	}
}

func packages(t *testing.T) []listedPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports", "./...")
	cmd.Dir = "../../.."
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
