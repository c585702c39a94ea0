package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/operator"
)

// sitesFamily calls websites; their endpoints begin with sitePrefix, and so do the namespaces of what is remembered about them.
const (
	sitesFamily = "sites"
	sitePrefix  = "site/"
	secretsDir  = "secrets" // in the data directory: the operator's alone, and in no backup
	secretLimit = 16 << 10  // bytes
)

var siteSlug = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`) })

func (a *app) siteCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "site", Short: "Manage the websites whose actions become tools of the family sites",
		Long: `Register a website with its URL and secret. The family sites can then call it: memory_site_connect turns its actions into tools.
The secret comes from standard input, a file, or an environment variable of the server. No tool, log or answer shows it.`,
	}
	c.AddCommand(a.siteAddCommand(), a.siteListCommand(), a.siteRemoveCommand())
	return c
}

// siteSecret says where the secret of a site comes from.
type siteSecret struct {
	stdin     bool
	file, env string
}

func (a *app) siteAddCommand() *cobra.Command {
	var slug string
	var from siteSecret
	c := &cobra.Command{
		Use: "add URL", Short: "Add a website, and let the family sites call it", Args: arguments(1, 1),
		Long: `Add a website by the URL of its API, and grant the family sites what it needs: http for this site, tools.publish, keys for temporary
agents, the deletion of what ended tasks left, and its jobs.`,
		Example: `  alcove site add https://anwe.sh/api/agent --secret-stdin < secret.txt
  alcove site add https://anwe.sh/api/agent --slug blog --secret-file ~/anwe.key`,
	}
	flags := c.Flags()
	flags.StringVar(&slug, "slug", "", "what its tools begin with (default: the URL's host, with - for dots)")
	flags.BoolVar(&from.stdin, "secret-stdin", false, "read the secret from standard input, and keep it in a file of the data directory")
	flags.StringVar(&from.file, "secret-file", "", "the file with the secret")
	flags.StringVar(&from.env, "secret-env", "", "the server's environment variable with the secret")
	c.MarkFlagsMutuallyExclusive("secret-stdin", "secret-file", "secret-env")
	dryRun := dryRunFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if slug == "" {
			slug = slugOf(args[0])
		}
		if !siteSlug().MatchString(slug) {
			return &usageError{fmt.Errorf("the slug %q: it has 1 to 40 of the characters a-z 0-9 - and begins with a letter; choose one with --slug", slug)}
		}
		return a.addSite(c.Context(), slug, args[0], from, *dryRun)
	}
	return c
}

// slugOf is the slug of a site by its URL: the host with - for dots, and the port if there is one.
func slugOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.NewReplacer(".", "-", ":", "-").Replace(strings.ToLower(u.Host))
}

func (a *app) addSite(ctx context.Context, slug, address string, from siteSecret, dryRun bool) error {
	e := operator.Endpoint{Kind: "http", URL: address, KeyEnv: from.env}
	return a.asOperator(ctx, func(o operator.Server) (err error) {
		there, err := operator.Query(ctx, o, operator.ListEndpoints)
		if err != nil {
			return err
		}
		if other, taken := there[sitePrefix+slug]; taken {
			return fmt.Errorf("there is a site %s already, %s: choose another slug with --slug, or remove it first", slug, other.URL)
		}
		var secret []byte
		if e.KeyFile, secret, err = a.secretFile(slug, from); err != nil {
			return err
		}
		endpoint := operator.EndpointRequest{Name: sitePrefix + slug, Endpoint: &e}
		grant, err := siteGrant(ctx, o, slug)
		if err != nil {
			return err
		}
		if err := a.announce(ctx, operator.LockProposal{Endpoint: &endpoint, Grant: &grant}); err != nil || dryRun {
			return err
		}
		if err := keepSecret(e.KeyFile, secret); err != nil {
			return err
		}
		if err := operator.Command(ctx, o, operator.SetEndpoint, endpoint); err != nil {
			return errors.Join(err, a.dropSecret(slug))
		}
		if _, err := operator.Call(ctx, o, operator.GrantFamily, grant); err != nil {
			return errors.Join(err, operator.Command(ctx, o, operator.SetEndpoint, operator.EndpointRequest{Name: sitePrefix + slug}), a.dropSecret(slug))
		}
		return a.printf("the site %s was added: memory_site_connect {\"slug\": %q} makes tools of its actions\n", slug, slug)
	})
}

// secretPath is the file of a site's secret that came from standard input.
func (a *app) secretPath(slug string) (string, error) {
	dir, err := a.dir()
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(dir, secretsDir, "site-"+slug))
}

// secretFile returns the file with the secret of a site, empty if there is none, and the secret that is yet to be written to it.
func (a *app) secretFile(slug string, from siteSecret) (path string, secret []byte, err error) {
	if from.file != "" {
		if err := checkKeyFile(from.file); err != nil {
			return "", nil, err
		}
		path, err = filepath.Abs(from.file)
		return path, nil, err
	}
	if !from.stdin {
		return "", nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(a.in, secretLimit+1))
	if err != nil {
		return "", nil, fmt.Errorf("read the secret: %w", err)
	}
	if data = bytes.TrimSpace(data); len(data) == 0 || len(data) > secretLimit || bytes.ContainsAny(data, "\r\n") {
		return "", nil, &usageError{fmt.Errorf("the secret on standard input: give one line of at most %d bytes", secretLimit)}
	}
	path, err = a.secretPath(slug)
	return path, data, err
}

// keepSecret writes the secret of secretFile, if there is one to be written.
func keepSecret(path string, secret []byte) error {
	if len(secret) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep the secret: %w", err)
	}
	return durable.WriteFile(path, secret, 0o600)
}

// dropSecret removes the file that keepSecret wrote, if there is one.
func (a *app) dropSecret(slug string) error {
	path, err := a.secretPath(slug)
	if err == nil {
		err = os.Remove(path)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// siteGrant turns on the job of the family sites, and grants it the endpoint of a site, tools of its own, and keys and deletion below site/.
func siteGrant(ctx context.Context, o operator.Server, slug string) (operator.GrantRequest, error) {
	sites, err := sitesGranted(ctx, o)
	all := []string{sitePrefix + "*"}
	return operator.GrantRequest{Family: sitesFamily, Hooks: map[abi.Hook]operator.HookOn{abi.HookJob: {}}, Capabilities: []operator.Capability{
		{Name: abi.CanHTTP, Scope: append(sites, sitePrefix+slug)}, {Name: abi.CanToolsPublish}, {Name: abi.CanIdentityDelegate, Scope: all}, {Name: abi.CanNamespaceDelete, Scope: all},
	}}, err
}

// sitesGranted lists the endpoints that the family sites may reach.
func sitesGranted(ctx context.Context, o operator.Server) ([]string, error) {
	families, err := operator.Query(ctx, o, operator.ListFamilyStates)
	if err != nil {
		return nil, err
	}
	for _, f := range families {
		if f.Manifest.Name != sitesFamily {
			continue
		}
		for _, c := range f.Grant.Capabilities {
			if c.Name == abi.CanHTTP {
				return c.Scope, nil
			}
		}
		return nil, nil
	}
	return nil, errors.New("this program was built without the family sites")
}

// listedSite is a site as a command shows it.
type listedSite struct {
	Slug   string `json:"slug"`
	URL    string `json:"url"`
	Secret string `json:"secret,omitempty"` // where it comes from
}

func (a *app) siteListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the websites", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			endpoints, err := query(c.Context(), a, operator.ListEndpoints)
			if err != nil {
				return err
			}
			list := []listedSite{}
			for _, name := range slices.Sorted(maps.Keys(endpoints)) {
				if slug, is := strings.CutPrefix(name, sitePrefix); is {
					list = append(list, listedSite{slug, endpoints[name].URL, secretOf(endpoints[name])})
				}
			}
			return printEach(a, list, func(s listedSite) error { return a.printf("%s  %s  %s\n", s.Slug, s.URL, s.Secret) })
		},
	}
}

func secretOf(e operator.Endpoint) string {
	switch {
	case e.KeyFile != "":
		return "secret in " + e.KeyFile
	case e.KeyEnv != "":
		return "secret in the variable " + e.KeyEnv
	}
	return ""
}

func (a *app) siteRemoveCommand() *cobra.Command {
	c := &cobra.Command{Use: "remove SLUG", Short: "Remove a website: its tools, its address and its secret; memories stay", Args: arguments(1, 1)}
	dryRun := dryRunFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.asOperator(c.Context(), func(o operator.Server) error { return a.removeSite(c.Context(), o, args[0], *dryRun) })
	}
	return c
}

func (a *app) removeSite(ctx context.Context, o operator.Server, slug string, dryRun bool) error {
	endpoint := operator.EndpointRequest{Name: sitePrefix + slug}
	there, err := operator.Query(ctx, o, operator.ListEndpoints)
	if err != nil {
		return err
	}
	if _, added := there[endpoint.Name]; !added {
		return fmt.Errorf("there is no endpoint %q: list the sites with alcove site list", endpoint.Name)
	}
	sites, err := sitesGranted(ctx, o)
	if err != nil {
		return err
	}
	grant := grantWithout(sites, endpoint.Name)
	if err := a.announce(ctx, operator.LockProposal{Endpoint: &endpoint, Grant: grant}); err != nil || dryRun {
		return err
	}
	_, disconnected := a.ask(ctx, "memory_operation", fields{"method": "memory_site_disconnect", "params": fields{"slug": slug}})
	if err := operator.Command(ctx, o, operator.SetEndpoint, endpoint); err != nil {
		return err
	}
	if grant != nil {
		if _, err := operator.Call(ctx, o, operator.GrantFamily, *grant); err != nil {
			return err
		}
	}
	if err := a.dropSecret(slug); err != nil {
		return fmt.Errorf("remove the secret of the site %s: %w", slug, err)
	}
	if disconnected != nil {
		return a.printf("the site %s was removed; if it was connected, its tools are removed within minutes\n", slug)
	}
	return a.printf("the site %s was removed, with its tools\n", slug)
}

// grantWithout is the change of the grant of the family sites after which it may not reach one site; nil: it may not now.
func grantWithout(sites []string, name string) *operator.GrantRequest {
	left := slices.DeleteFunc(slices.Clone(sites), func(site string) bool { return site == name })
	switch {
	case len(left) == len(sites):
		return nil
	case len(left) == 0:
		return &operator.GrantRequest{Family: sitesFamily, Revoke: []string{string(abi.CanHTTP)}}
	}
	return &operator.GrantRequest{Family: sitesFamily, Capabilities: []operator.Capability{{Name: abi.CanHTTP, Scope: left}}}
}
