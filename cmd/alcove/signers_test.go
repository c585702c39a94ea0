package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/testing/guest"
	"github.com/alcove-memory/alcove/registry/signature"
)

// signer is a folder with a module, in which commands run.
type signerFolder struct {
	t      *testing.T
	dir    string
	socket string // of an agent of SSH
}

func newSignerFolder(t *testing.T) *signerFolder {
	f := &signerFolder{t: t, dir: t.TempDir()}
	f.write("said.wasm", guest.Pack(t, abi.Manifest{Name: "said", Tools: []abi.Tool{guest.Tool("said_it", "{}")}}, guest.Echo), 0o600)
	return f
}

func (f *signerFolder) path(name string) string { return filepath.Join(f.dir, name) }

func (f *signerFolder) write(name string, data []byte, mode os.FileMode) {
	f.t.Helper()
	if err := os.WriteFile(f.path(name), data, mode); err != nil {
		f.t.Fatal(err)
	}
}

func (f *signerFolder) run(args ...string) (string, error) {
	var out bytes.Buffer
	environment := map[string]string{"SSH_AUTH_SOCK": f.socket}
	c := newApp(strings.NewReader(""), &out, &out, func(name string) string { return environment[name] }).command()
	c.SetArgs(args)
	err := c.ExecuteContext(f.t.Context())
	return out.String(), err
}

// signed reports whether the module's detached signature is by a key.
func (f *signerFolder) signed(public string) bool {
	_, err := f.run("family", "verify", f.path("said.wasm"), "--key", public)
	return err == nil
}

func TestAnEncryptedKeySignsWithItsPassphraseAlone(t *testing.T) {
	f := newSignerFolder(t)
	f.write("phrase", []byte("correct horse battery staple\n"), 0o600)
	f.write("wrong", []byte("incorrect horse battery\n"), 0o600)
	f.write("short", []byte("horse\n"), 0o600)
	if _, err := f.run("family", "keygen", f.path("weak"), "--passphrase-file", f.path("short")); err == nil || !strings.Contains(err.Error(), "fewer than 12") {
		t.Errorf("with a short passphrase: %v, want the least length", err)
	}
	if out, err := f.run("family", "keygen", f.path("author"), "--passphrase-file", f.path("phrase")); err != nil {
		t.Fatalf("an encrypted key is not made: %v, %s", err, out)
	}
	key, err := os.ReadFile(f.path("author.key"))
	if err != nil || !bytes.HasPrefix(key, []byte("age-encryption.org/")) {
		t.Fatalf("the secret key begins with %.30q, %v, want it encrypted", key, err)
	}
	for passphrase, want := range map[string]string{"": "give --passphrase-file", f.path("wrong"): "another passphrase"} {
		args := []string{"family", "sign", f.path("said.wasm"), "--key", f.path("author.key")}
		if passphrase != "" {
			args = append(args, "--passphrase-file", passphrase)
		}
		if _, err := f.run(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with the passphrase %q: %v, want %q", passphrase, err, want)
		}
	}
	if out, err := f.run("family", "sign", f.path("said.wasm"), "--key", f.path("author.key"), "--passphrase-file", f.path("phrase")); err != nil || !f.signed(f.path("author.pub")) {
		t.Errorf("the module is not signed: %v, %s", err, out)
	}
}

func TestTheAgentOfSSHSignsAndItsPublicKeyIsTaken(t *testing.T) {
	f := newSignerFolder(t)
	public, secret, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	keys := agent.NewKeyring()
	if err := keys.Add(agent.AddedKey{PrivateKey: secret, Comment: "author@laptop"}); err != nil {
		t.Fatal(err)
	}
	f.socket = f.path("a")
	l, err := net.Listen("unix", f.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(keys, conn) }() // ends with the connection
		}
	}()
	inSSH, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	f.write("author.pub", ssh.MarshalAuthorizedKey(inSSH), 0o600)
	for _, name := range []string{"author@laptop", ssh.FingerprintSHA256(inSSH), ""} {
		if out, err := f.run("family", "sign", f.path("said.wasm"), "--key", "ssh-agent:"+name); err != nil || !f.signed(f.path("author.pub")) {
			t.Errorf("by the name %q the module is not signed: %v, %s", name, err, out)
		}
		if err := os.Remove(f.path("said.wasm.sig")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.run("family", "sign", f.path("said.wasm"), "--key", "ssh-agent:nobody"); err == nil || !strings.Contains(err.Error(), "has 0 Ed25519 keys") {
		t.Errorf("a key that the agent does not have: %v, want that it has none", err)
	}
}

// The script saves the message and prints the signature in a file: the first is by another key, the second is of the saved message.
func TestACommandSignsAndWhatItPrintsIsVerified(t *testing.T) {
	f := newSignerFolder(t)
	public, secret, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	f.write("sign.sh", []byte("#!/bin/sh\ncat > "+f.path("message")+"\ncat "+f.path("printed")+"\n"), 0o700)
	sign := []string{"family", "sign", f.path("said.wasm"), "--sign-command", f.path("sign.sh"), "--public", signature.FormatPublic(public)}
	for printed, want := range map[string]string{"none": "printed 4 bytes", base64.StdEncoding.EncodeToString(make([]byte, 64)): "does not belong to the public key", strings.Repeat("x", 8<<10): "an Ed25519 signature has 64"} {
		f.write("printed", []byte(printed), 0o600)
		if _, err := f.run(sign...); err == nil || !strings.Contains(err.Error(), want) && len(printed) < 5000 {
			t.Errorf("a command that prints %.40q: %v, want %q", printed, err, want)
		}
	}
	message, err := os.ReadFile(f.path("message"))
	if err != nil {
		t.Fatal(err)
	}
	f.write("printed", []byte(base64.StdEncoding.EncodeToString(ed25519.Sign(secret, message))+"\n"), 0o600)
	if out, err := f.run(sign...); err != nil || !f.signed(signature.FormatPublic(public)) {
		t.Errorf("the module is not signed: %v, %s", err, out)
	}
	if _, err := f.run("family", "sign", f.path("said.wasm"), "--sign-command", f.path("none.sh"), "--public", signature.FormatPublic(public)); err == nil {
		t.Error("a command that there is not signs")
	}
	if _, err := f.run("family", "sign", f.path("said.wasm"), "--sign-command", f.path("sign.sh")); err == nil || !strings.Contains(err.Error(), "--public") {
		t.Errorf("without a public key: %v, want that it is to be given", err)
	}
}

// TestATokenOfPKCS11SignsAsTheGuideSays runs the commands of docs/locked-down.md with a token in software.
func TestATokenOfPKCS11SignsAsTheGuideSays(t *testing.T) {
	tokens, err := exec.LookPath("softhsm2-util")
	if err == nil {
		_, err = exec.LookPath("pkcs11-tool")
	}
	found, _ := filepath.Glob("/usr/lib*/softhsm/libsofthsm2.so")
	deeper, _ := filepath.Glob("/usr/lib*/*/softhsm/libsofthsm2.so")
	if found = append(found, deeper...); err != nil || len(found) == 0 {
		t.Skip("a PKCS#11 token in software is not installed: install the Debian packages softhsm2 and opensc")
	}
	guide, err := os.ReadFile("../../docs/locked-down.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(guide), "```\npkcs11-tool ")
	block, _, _ = strings.Cut("pkcs11-tool "+block, "```")
	commands := strings.Split(strings.TrimSpace(strings.NewReplacer("\\\n", "", "MODULE", found[0]).Replace(block)), "\n")
	if len(commands) != 3 {
		t.Fatalf("the guide has %d commands, want one that makes a key, one that reads it, and one that signs: %q", len(commands), commands)
	}
	f := newSignerFolder(t)
	f.write("softhsm.conf", []byte("directories.tokendir = "+f.dir+"\nobjectstore.backend = file\n"), 0o600)
	t.Setenv("SOFTHSM2_CONF", f.path("softhsm.conf"))
	t.Setenv("PIN", "1234")
	t.Chdir(f.dir)
	for _, c := range append([]string{tokens + " --init-token --free --label signer --pin 1234 --so-pin 5678"}, commands[:2]...) {
		words := strings.Fields(c)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("the command %s ends with %v and prints %s, want success", c, err, out)
		}
	}
	_, signs, _ := strings.Cut(strings.TrimSuffix(commands[2], `"`), `--sign-command "`)
	for _, args := range [][]string{{"family", "sign", "said.wasm"}, {"family", "provenance", "make", "said.wasm", "--source", "softhsm.conf"}} {
		if out, err := f.run(append(args, "--public", "author.pub", "--sign-command", signs)...); err != nil {
			t.Fatalf("alcove %s: %v, %s", strings.Join(args, " "), err, out)
		}
	}
	if out, err := f.run("family", "provenance", "verify", "said.wasm", "--key", "author.pub"); err != nil || !f.signed("author.pub") {
		t.Errorf("the module or its provenance is not signed by the token: %v, %s", err, out)
	}
}

func TestABillOfMaterialsNamesTheModuleAndItsSections(t *testing.T) {
	f := newSignerFolder(t)
	out, err := f.run("family", "sbom", f.path("said.wasm"))
	var bom struct {
		BOMFormat string
		Metadata  struct {
			Component struct {
				Name   string
				Hashes []struct{ Content string }
			}
		}
		Components []struct{ Name string }
	}
	if err == nil {
		err = json.Unmarshal([]byte(out), &bom)
	}
	if err != nil || bom.BOMFormat != "CycloneDX" || bom.Metadata.Component.Name != "said" || len(bom.Metadata.Component.Hashes) != 1 || len(bom.Components) == 0 {
		t.Errorf("the bill is %s, %v, want the family said with its digest and sections", out, err)
	}
}
