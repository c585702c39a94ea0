package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/configfile"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// authority issues certificates in files of a folder.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	next int64
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.issue("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

// issue writes NAME.pem and NAME.key.
func (a *authority) issue(name string, c *x509.Certificate) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	a.next++
	c.SerialNumber, c.Subject = big.NewInt(a.next), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		a.cert, a.key = c, key
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + ".key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(a.path(file), pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
}

// operatedElsewhere is a server that serves operators over TLS, and its authority.
func operatedElsewhere(t *testing.T) (*server.Server, *authority) {
	t.Helper()
	a := newAuthority(t)
	a.issue("server", &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	a.issue("laptop", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	s := server.StartOn(t, host.Options{}, host.Listen{Operators: host.OperatorsListen{Address: "127.0.0.1:0", Cert: a.path("server.pem"), Key: a.path("server.key"), Clients: a.path("ca.pem")}})
	return s, a
}

// operate runs a command against a remote server with an operator's key, and returns its output.
func (a *authority) operate(s *server.Server, secret, cert string, args ...string) (string, error) {
	var out, errs bytes.Buffer
	environment := a.environment(s, secret, cert)
	c := newApp(strings.NewReader(""), &out, &errs, func(name string) string { return environment[name] }).command()
	c.SetArgs(args)
	err := c.ExecuteContext(a.t.Context())
	return out.String() + errs.String(), err
}

func (a *authority) environment(s *server.Server, secret, cert string) map[string]string {
	return map[string]string{"ALCOVE_KEY": secret, "ALCOVE_ADMIN": "https://" + s.At.Operators, "ALCOVE_CA_FILE": a.path("ca.pem"), "ALCOVE_CLIENT_CERT": a.path(cert + ".pem"), "ALCOVE_CLIENT_KEY": a.path(cert + ".key")}
}

// awaiting ends something when a text was written to it.
type awaiting struct {
	text string
	end  func()
	all  strings.Builder
}

func (w *awaiting) Write(p []byte) (int, error) {
	n, err := w.all.Write(p)
	if strings.Contains(w.all.String(), w.text) {
		w.end()
	}
	return n, err
}

func TestTheAuditLogIsFollowedHereAndElsewhere(t *testing.T) {
	t.Parallel()
	s, a := operatedElsewhere(t)
	made, err := operator.Call(t.Context(), s.Acts, operator.CreateOperator, operator.OperatorRequest{Name: "siem", Role: operator.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	for name, environment := range map[string]map[string]string{"here": {"ALCOVE_DATA": s.Dir}, "elsewhere": a.environment(s, made.Secret, "laptop")} {
		ctx, stop := context.WithCancel(t.Context())
		out := &awaiting{text: "the operator " + name, end: stop}
		c := newApp(strings.NewReader(""), out, io.Discard, func(name string) string { return environment[name] }).command()
		c.SetArgs([]string{"audit", "export", "--follow", "--after", "1"})
		done := make(chan error, 1)
		go func() { done <- c.ExecuteContext(ctx) }()
		if _, err := operator.Call(t.Context(), s.Acts, operator.CreateOperator, operator.OperatorRequest{Name: name, Role: operator.Viewer}); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil || strings.Contains(out.all.String(), `"seq":1,`) || !strings.Contains(out.all.String(), `"seq":2,`) {
			t.Errorf("%s the command ends with %v, and wrote %s, want the entries behind the first", name, err, out.all.String())
		}
		stop()
	}
}

func TestOperatorsOfOtherMachinesActInTheirRolesAndTheLogNamesThem(t *testing.T) {
	t.Parallel()
	s, a := operatedElsewhere(t)
	secrets := map[operator.Role]string{}
	for _, role := range []operator.Role{operator.Viewer, operator.Approver, operator.Admin} {
		made, err := operator.Call(t.Context(), s.Acts, operator.CreateOperator, operator.OperatorRequest{Name: "the-" + string(role), Role: role})
		if err != nil {
			t.Fatal(err)
		}
		secrets[role] = made.Secret
	}
	for _, c := range []struct {
		as   operator.Role
		args []string
		says string // of an error; empty: there is none
	}{
		{operator.Viewer, []string{"family", "list"}, ""},
		{operator.Viewer, []string{"audit", "export"}, ""},
		{operator.Viewer, []string{"quota", "set", "board", "--memories", "5"}, "takes the role admin, and this operator is viewer"},
		{operator.Viewer, []string{"export", "--memories", a.path("out.jsonl")}, "takes the role admin"},
		{operator.Approver, []string{"family", "remove", "nothing"}, "nothing"},
		{operator.Approver, []string{"purge", "key", "--yes"}, "takes the role admin"},
		{operator.Admin, []string{"quota", "set", "board", "--memories", "5", "--why", "ticket 7"}, ""},
		{operator.Admin, []string{"backup", a.path("copy")}, ""},
		{operator.Viewer, []string{"lock"}, "takes the role approver"},
		{operator.Approver, []string{"lock"}, ""},
		{operator.Viewer, []string{"status", "--data", s.Dir, "--admin", "https://127.0.0.1:1"}, "give one of them"},
		{operator.Admin, []string{"store", "k", "v"}, "works on a data directory of its own machine"},
		{operator.Admin, []string{"lock", "apply", a.path("ca.pem")}, "works on a data directory of its own machine"},
	} {
		said, err := a.operate(s, secrets[c.as], "laptop", c.args...)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("as %s alcove %s: %v\n%s\nwant %q", c.as, strings.Join(c.args, " "), err, said, c.says)
		}
	}
	said, err := a.operate(s, secrets[operator.Viewer], "laptop", "audit", "tail", "-n", "100")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`operated  act quota-set  by the-admin, admin, by TLS, 127.0.0.1 with the certificate "laptop"`, `"namespace":"board"`, "why: ticket 7",
		`denied  act quota-set  by the-viewer, viewer, by TLS`, "denied operate ×1: role admin", "operated  act operator-create  by ",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the audit log has no %q:\n%s", want, said)
		}
	}
}

func TestAnOperatorElsewhereSeesHowTheServerIsAndHowItDrifted(t *testing.T) {
	config := t.TempDir()
	for _, name := range []string{"XDG_CONFIG_HOME", "HOME", "AppData"} { // where applied files are noted
		t.Setenv(name, config)
	}
	s, a := operatedElsewhere(t)
	secrets := map[operator.Role]string{}
	for _, role := range []operator.Role{operator.Viewer, operator.Admin} {
		made, err := operator.Call(t.Context(), s.Acts, operator.CreateOperator, operator.OperatorRequest{Name: "the-" + string(role), Role: role})
		if err != nil {
			t.Fatal(err)
		}
		secrets[role] = made.Secret
	}
	file := a.path("alcove.yaml")
	if err := os.WriteFile(file, []byte("version: 1\nquotas:\n  namespaces: {board: {memories: 5}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		as   operator.Role
		args []string
		says string
	}{
		{operator.Viewer, []string{"status"}, "health         ok"},
		{operator.Viewer, []string{"status", "--json"}, `"locked": false`},
		{operator.Viewer, []string{"doctor"}, "store           open"},
		{operator.Admin, []string{"config", "apply", file, "--yes"}, "made 1 change"},
		{operator.Viewer, []string{"status"}, "configuration  matches " + file},
		{operator.Admin, []string{"quota", "set", "board", "--memories", "9"}, ""},
		{operator.Viewer, []string{"status"}, "alcove config apply " + file + " would change quota board: "},
		{operator.Viewer, []string{"status", "--json"}, `"section": "quota"`},
		{operator.Viewer, []string{"doctor"}, "configuration   differs from " + file},
	} {
		if said, err := a.operate(s, secrets[c.as], "laptop", c.args...); err != nil || !strings.Contains(said, c.says) {
			t.Errorf("as %s alcove %s: %v\n%s\nwant %q", c.as, strings.Join(c.args, " "), err, said, c.says)
		}
	}
	if _, err := os.Stat(filepath.Join(s.Dir, configfile.AppliedFile)); !os.IsNotExist(err) {
		t.Errorf("the server's directory notes a file that it does not have: %v", err)
	}
}

func TestWhoHasNoCertificateOrNoKeyOperatesNothing(t *testing.T) {
	t.Parallel()
	s, a := operatedElsewhere(t)
	made, err := operator.Call(t.Context(), s.Acts, operator.CreateOperator, operator.OperatorRequest{Name: "ann", Role: operator.Admin, Expires: "1h"})
	if err != nil {
		t.Fatal(err)
	}
	stranger := newAuthority(t)
	stranger.issue("laptop", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	stranger.issue("ca", &x509.Certificate{})
	own := *a
	for _, file := range []string{"laptop.pem", "laptop.key"} {
		data, err := os.ReadFile(stranger.path(file))
		if err == nil {
			err = os.WriteFile(a.path("strange-"+file), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ secret, cert, says string }{
		"a certificate of another authority": {made.Secret, "strange-laptop", "reach the server"},
		"no certificate of clients":          {made.Secret, "server", "reach the server"},
		"a key of nobody":                    {"alcove_operator_x", "laptop", "is not an operator's"},
		"an API key":                         {s.Issue("bob", server.EveryRight, "*").Secret, "laptop", "is not an operator's"},
		"the token":                          {s.Token(), "laptop", "is not an operator's"},
		"no key":                             {"", "laptop", "give --client-cert and --client-key"},
	} {
		if said, err := own.operate(s, c.secret, c.cert, "family", "list"); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("with %s: %v, %s, want %q", name, err, said, c.says)
		}
	}
	if said, err := own.operate(s, made.Secret, "laptop", "family", "list"); err != nil {
		t.Errorf("with both: %v, %s", err, said)
	}
	if _, err := operator.Call(t.Context(), s.Acts, operator.RevokeOperator, operator.OperatorName{Name: "ann"}); err != nil {
		t.Fatal(err)
	}
	if _, err := own.operate(s, made.Secret, "laptop", "family", "list"); err == nil || !strings.Contains(err.Error(), "is not an operator's") {
		t.Errorf("with a revoked key: %v, want a refusal", err)
	}
	said, err := operator.Call(t.Context(), s.Acts, operator.ListDenials, operator.AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if len(said.Denials) == 0 || said.Denials[0].Rule != "the key of an operator" {
		t.Errorf("the denials are %+v, want those of keys of nobody", said.Denials)
	}
}
