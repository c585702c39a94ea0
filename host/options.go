package host

import (
	"net/http"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/front/certificate"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/internal/profile"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/core"
)

// Options say what to open, and how. The zero value but for Dir works.
type Options = space.Options

// FamilyModule is a family that the program carries.
type FamilyModule = modules.Module

// DefaultHTTP is the address for HTTP unless another is chosen.
const DefaultHTTP = "127.0.0.1:9742"

// DefaultProfile is the set of tools that clients are offered unless they ask for another.
const DefaultProfile = profile.Agent

// Listen says where to serve.
type Listen struct {
	Socket       string             // path; empty: the data directory's own
	HTTP         string             // address; empty: none
	HTTPOptional bool               // go on without HTTP when its address is in use
	TLSCert      string             // the file of the certificate for HTTP, in PEM; empty: without TLS
	TLSKey       string             // the file of its key
	TLSOwn       []string           // names for which the server makes a certificate by an authority of its own; nil: none
	ACME         *ACME              // how certificates come from an authority, but for the folder; nil: they do not
	Issuer       string             // of the authorization server that HTTP clients without a token are referred to; empty: none
	IssuerRules  *keys.Issuer       // how tokens of the issuer, which are JWTs, become keys; nil: the issuer hands out API keys
	Public       string             // the URL by which clients elsewhere reach the server, without a path; empty: none
	OAuth        OAuth              // of clients that persons let in
	Console      *bool              // whether the console is served over HTTP; nil: only to this machine
	RequireKeys  *bool              // whether clients without an API key are refused, by later servers too; nil: as before
	Operators    OperatorsListen    // where operators of other machines are served; the zero one: nowhere
	Idle         time.Duration      // stop when nobody was served for so long; 0: never
	Spaces       *SpacesOptions     // further spaces to serve; nil: none
	Started      func(owner.Record) // called when clients can connect; may be nil
	Look         time.Duration      // how often to look whether what clients find the server by is still there; 0: 500 ms

	mount *mount // serve HTTP below a path of another Serve; nil: on HTTP
}

// ACME is how certificates come from an authority.
type ACME = certificate.ACME

// OAuth says whether the server is an authorization server, at its public URL.
type OAuth struct {
	Serve    bool
	Register bool         // clients may register; otherwise only those come in that are named by the URL of their metadata
	Fetch    *http.Client // reads that metadata; nil: a client that connects to the public internet alone
}

// OperatorsListen is a listener for operators, by TLS with certificates on both sides.
type OperatorsListen struct {
	Address   string
	Cert, Key string // the server's certificate and its key, files in PEM
	Clients   string // a file of the certificates of the authority that issues those of clients
}

// mount is where one of several spaces is served.
type mount struct {
	site   *site                                       // of the server
	path   string                                      // of the space there; empty: it is the server's own
	serve  func(handler http.Handler, use *listen.Use) // called when the space can be used
	shared *sharedMount                                // nil: the space has sockets of its own
}

// sharedMount is where a space is served that several servers share: its server has the sockets.
type sharedMount struct {
	space   string        // its name, which clients of the socket may say
	clients *listen.Inbox // of the socket
	acts    http.Handler  // of operators; set before mount.serve is called
	spaces  *Spaces       // of the server, for its own memory's operators; nil: it is another space
}

// CoreTools are the core tools, with their aliases.
func CoreTools() []tool.Spec { return core.Specs(core.Options{}) }

// Tools lists the tools that clients are offered, in the form that model APIs take.
func Tools() []ExportedTool { return core.Export() }

// ExportedTool is a tool in the form that model APIs take.
type ExportedTool = tool.Exported
