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

// Options configure Open. Only Dir is required.
type Options = space.Options

// FamilyModule is a family that the program carries.
type FamilyModule = modules.Module

// DefaultHTTP is the address for HTTP unless another is chosen.
const DefaultHTTP = "127.0.0.1:9742"

// DefaultProfile is the set of tools that clients are offered unless they ask for another.
const DefaultProfile = profile.Agent

// Listen configures Serve.
type Listen struct {
	Socket       string             // path; empty: the data directory's own
	HTTP         string             // address; empty: none
	HTTPOptional bool               // serve without HTTP when its address is in use
	TLSCert      string             // the file of the certificate for HTTP, in PEM; empty: without TLS
	TLSKey       string             // the file of its key
	TLSOwn       []string           // names for a certificate from the server's own authority; nil: none
	ACME         *ACME              // how to get certificates from an authority, but for the folder; nil: no ACME
	Issuer       string             // the authorization server to announce to HTTP clients without a token; empty: none
	IssuerRules  *keys.Issuer       // how tokens of the issuer, which are JWTs, become keys; nil: the issuer hands out API keys
	Public       string             // the server's URL for clients on other machines, without a path; empty: none
	OAuth        OAuth              // for clients that people authorize
	Console      *bool              // serve the console over HTTP; nil: to this machine only
	RequireKeys  *bool              // refuse clients without an API key, now and in later servers; nil: as before
	Operators    OperatorsListen    // the listener for operators on other machines; zero: none
	Idle         time.Duration      // stop when nobody was served for so long; 0: never
	Spaces       *SpacesOptions     // further spaces to serve; nil: none
	Started      func(owner.Record) // called when clients can connect; may be nil
	Look         time.Duration      // how often to check that the files by which clients find the server exist; 0: 500 ms

	mount *mount // serve HTTP below a path of another Serve; nil: on HTTP
}

// ACME configures certificates from an authority.
type ACME = certificate.ACME

// OAuth configures the authorization server at the public URL.
type OAuth struct {
	Serve    bool
	Register bool         // let clients register; otherwise only those with a metadata URL are admitted
	Fetch    *http.Client // reads that metadata; nil: a client limited to the public internet
}

// OperatorsListen is a listener for operators, by TLS with certificates on both sides.
type OperatorsListen struct {
	Address   string
	Cert, Key string // the server's certificate and its key, files in PEM
	Clients   string // a file with the certificates of the authority of client certificates
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
	space   string        // its name, as clients of the socket give it
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
