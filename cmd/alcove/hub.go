package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
)

// hubFile is a configuration file in the data directory of a hub, by which its servers are started.
const hubFile = "hub.yaml"

func (a *app) hubCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "hub", Short: "Share a memory with several people",
		Long: `Set up a server for several people, and invite them. Each person accepts one invitation for each device, and gets an API key there. The key
identifies the person, whatever name a client gives, and covers the person's own namespaces and those of their groups.`,
	}
	c.AddCommand(a.hubInitCommand(), a.hubInviteCommand(), a.hubJoinCommand(), a.hubListCommand(), a.hubGroupCommand(), a.hubWithdrawCommand(), a.hubRemoveCommand())
	return c
}

// hubConfig returns the configuration file of a hub's data directory; empty: it is none.
func hubConfig(dir string) string {
	path := filepath.Join(dir, hubFile)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// hubPlan is what a hub is to be.
type hubPlan struct {
	name, listen    string
	admin           string
	acme            bool
	email           string
	tlsCert, tlsKey string
	also            []string // further names and addresses of its own certificate
}

func (a *app) hubInitCommand() *cobra.Command {
	var p hubPlan
	c := &cobra.Command{
		Use: "init", Short: "Set up a server for several people, and invite the first administrator", Args: noArguments,
		Long: `Write hub.yaml, the configuration file by which servers of the data directory are started from then on: it listens to other machines with TLS,
and requires keys. Then invite the first administrator. Without a certificate from elsewhere, the server makes its own: the line that people join
with has what tells its authority from others, so that they need not trust anything by hand. Clients on the internet, such as claude.ai, need a
certificate of a known authority: give --acme, or files.`,
		Example: `  alcove hub init --name memory.example.org --admin ann
  alcove hub init --name memory.example.org --admin ann --acme --listen 0.0.0.0:443
  alcove hub init --name memory.example.org --admin ann --tls-cert /etc/tls/cert.pem --tls-key /etc/tls/key.pem`,
		RunE: func(c *cobra.Command, _ []string) error { return a.initHub(c.Context(), p) },
	}
	flags := c.Flags()
	flags.StringVar(&p.name, "name", "", "the name or address by which other machines reach this one")
	flags.StringVar(&p.listen, "listen", "0.0.0.0:9742", "the address on which it listens")
	flags.StringVar(&p.admin, "admin", "", "the name of the first administrator")
	flags.BoolVar(&p.acme, "acme", false, "get the certificate from Let's Encrypt, to whose terms you agree; the name must lead to port 443 here")
	flags.StringVar(&p.email, "acme-email", "", "the address for its warnings (default: none)")
	flags.StringVar(&p.tlsCert, "tls-cert", "", "the certificate, a file in PEM")
	flags.StringVar(&p.tlsKey, "tls-key", "", "the key of the certificate, a PEM file")
	flags.StringSliceVar(&p.also, "also", nil, "further names and addresses for the server's own certificate")
	c.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	c.MarkFlagsMutuallyExclusive("acme", "tls-cert")
	c.MarkFlagRequired("name")
	c.MarkFlagRequired("admin")
	return c
}

// file is the configuration file of the hub.
func (p hubPlan) file() (string, error) {
	_, port, err := net.SplitHostPort(p.listen)
	if err != nil {
		return "", &usageError{fmt.Errorf("--listen %.100q: give an address and a port, such as 0.0.0.0:9742", p.listen)}
	}
	host := p.name
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "443" {
		host += ":" + port
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# The server of a hub: alcove serve reads this file, because it is in the data directory.\nversion: 1\nserver:\n  listen: %q\n  public_url: %q\n  require_keys: true\n", p.listen, "https://"+host)
	switch {
	case p.acme:
		fmt.Fprintf(&b, "  acme: %q\n  oauth: true\n", p.name)
		if p.email != "" {
			fmt.Fprintf(&b, "  acme_email: %q\n", p.email)
		}
	case p.tlsCert != "":
		cert, err := filepath.Abs(p.tlsCert)
		if err != nil {
			return "", err
		}
		key, err := filepath.Abs(p.tlsKey)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "  tls_cert: %q\n  tls_key: %q\n  oauth: true\n", cert, key)
	default:
		names := append([]string{p.name}, p.also...)
		for _, own := range []string{"localhost", "127.0.0.1"} {
			if !slices.Contains(names, own) {
				names = append(names, own)
			}
		}
		fmt.Fprintf(&b, "  tls_own: %q\n", strings.Join(names, ","))
	}
	return b.String(), nil
}

func (a *app) initHub(ctx context.Context, p hubPlan) error {
	dir, err := a.ownDir()
	if err != nil {
		return err
	}
	text, err := p.file()
	if err != nil {
		return err
	}
	if _, running := serving(dir); running {
		return &usageError{errors.New("a server of this data directory is running for this machine only: stop it with alcove stop, then repeat the command")}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	path := filepath.Join(dir, hubFile)
	err = writeNew(path, []byte(text), 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &usageError{fmt.Errorf("%s exists already: edit it, or remove it to start over", path)}
	}
	if err != nil {
		return err
	}
	everything := []operator.Right{"read", "write", "branch", "config", "family:*", "scope.admin", "site.admin", "act_as"}
	invited, err := call(ctx, a, operator.InvitePerson, operator.InvitationRequest{Agent: p.admin, Namespaces: []string{"*"}, Rights: everything})
	if err != nil {
		return fmt.Errorf("%s is written, but the first administrator is not invited: run alcove hub invite %s: %w", path, p.admin, err)
	}
	if a.asJSON {
		return a.printJSON(invited)
	}
	if err := a.printf("%s\n", joinLine(invited)); err != nil {
		return err
	}
	return a.notef("This line lets %s join from one device, until %s. The server is running; alcove service install keeps it running, with the settings in %s.\n", p.admin, clock(invited.Until), path)
}

// joinLine is the command by which a person joins.
func joinLine(i operator.IssuedInvitation) string {
	code := i.Code
	if i.Address.Pin != "" {
		code += "." + i.Address.Pin
	}
	return fmt.Sprintf("alcove hub join %s %s", cmp.Or(i.Address.URL, "URL"), code)
}

func (a *app) hubInviteCommand() *cobra.Command {
	var r operator.InvitationRequest
	var rights []string
	var groups []string
	c := &cobra.Command{
		Use: "invite NAME", Short: "Invite a person or a device, and print the command that accepts, once", Args: arguments(1, 1),
		Long: `Invite a person, or another device of a person, who then gets the rights that their present key has. Without --namespaces, a new person gets
their own (NAME, NAME/*), and those of the groups that they are in.`,
		Example: `  alcove hub invite bob --group crew
  alcove hub invite guest --namespaces notes/* --rights read --key-expires 30d`,
		RunE: func(c *cobra.Command, args []string) error {
			r.Agent = args[0]
			for _, right := range rights {
				r.Rights = append(r.Rights, operator.Right(right))
			}
			invited, err := call(c.Context(), a, operator.InvitePerson, r)
			if err != nil {
				return err
			}
			for _, group := range groups {
				if err := a.addToGroup(c.Context(), group, r.Agent); err != nil {
					return err
				}
			}
			if a.asJSON {
				return a.printJSON(invited)
			}
			if err := a.printf("%s\n", joinLine(invited)); err != nil {
				return err
			}
			return a.notef("This line lets %s join from one device, until %s. It is not shown again: send it where only they read it.\n", r.Agent, clock(invited.Until))
		},
	}
	flags := c.Flags()
	flags.StringVar(&r.Device, "device", "", "what to call the device (default: what it calls itself)")
	flags.StringSliceVar(&r.Namespaces, "namespaces", nil, "the namespaces of the key, such as notes,team/*; * for all")
	flags.StringSliceVar(&rights, "rights", nil, "what the key may do, as of alcove key create (default: read,write,branch,family:*)")
	flags.StringSliceVar(&groups, "group", nil, "groups that the person joins")
	flags.StringVar(&r.Expires, "expires", "", "when the invitation ends, such as 12h or 7d (default: 3d)")
	flags.StringVar(&r.KeyExpires, "key-expires", "", "when the key ends, such as 90d or 2027-01-31 (default: never)")
	limitFlags(c, &r.Limits)
	return c
}

// addToGroup makes a person a member of a group, which may be new.
func (a *app) addToGroup(ctx context.Context, name, member string) error {
	all, err := query(ctx, a, operator.ListGroups)
	if err != nil {
		return err
	}
	g := operator.Group{Name: name}
	for _, each := range all {
		if each.Name == name {
			g = each
		}
	}
	if slices.Contains(g.Members, member) {
		return nil
	}
	g.Members = append(g.Members, member)
	_, err = call(ctx, a, operator.SetGroup, g)
	return err
}

func (a *app) hubGroupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "group [NAME [PERSON]...]", Short: "List the groups, or set the members of one", Args: arguments(0, 1000),
		Long: `Without arguments, list the groups. With a name, make that group, or say who is in it from now on. A group shares the namespace group/NAME, which
is a scope: who is no member sees nothing of it, from the next call on.`,
		Example: `  alcove hub group
  alcove hub group crew ann bob`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listGroups(c.Context())
			}
			g, err := call(c.Context(), a, operator.SetGroup, operator.Group{Name: args[0], Members: args[1:]})
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(g)
			}
			return a.printGroup(g)
		},
	}
}

func (a *app) listGroups(ctx context.Context) error {
	all, err := query(ctx, a, operator.ListGroups)
	if err != nil {
		return err
	}
	return printEach(a, all, a.printGroup)
}

func (a *app) printGroup(g operator.Group) error {
	return a.printf("%s  in %s%s: %s\n", g.Name, operator.GroupPrefix, g.Name, cmp.Or(strings.Join(g.Members, ", "), "nobody"))
}

func (a *app) hubWithdrawCommand() *cobra.Command {
	return &cobra.Command{
		Use: "withdraw ID", Short: "Withdraw an invitation that is not accepted yet", Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			i, err := call(c.Context(), a, operator.WithdrawInvitation, operator.InvitationID{ID: args[0]})
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(i)
			}
			return a.printf("withdrew the invitation %s of %s\n", i.ID, i.Agent)
		},
	}
}
