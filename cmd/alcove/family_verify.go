package main

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/guests/build/image"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry/signature"
)

// signedBy is a key and whether it signed a module.
type signedBy struct {
	Key    string `json:"key"`
	Signed bool   `json:"signed"`
	Fault  string `json:"fault,omitempty"` // why the signature does not hold
}

func (a *app) familyVerifyCommand() *cobra.Command {
	var keys []string
	var detached string
	c := &cobra.Command{
		Use: "verify [M.wasm]", Short: "Verify the signatures of a module, or the built-in families", Args: arguments(0, 1),
		Long: `Verify the signatures of a module, against the keys of --key without a server, or
against the trusted keys in alcove.lock. With --key, every key must have signed
the module; otherwise, one trusted key is enough. Expired and revoked keys fail.

Without a module, the built-in families are compared with the digests in the
index of the program.`,
		Example: `  alcove family verify notes.wasm --key author.pub
  alcove family verify notes.wasm --signature notes.wasm.sig`,
	}
	c.Flags().StringArrayVar(&keys, "key", nil, "required public key, as file or text; repeatable")
	c.Flags().StringVar(&detached, "signature", "", "file of a detached signature, instead of the embedded one")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			native := checkNative()
			err := a.eachCarried(func(f image.Family) (carriedFamily, error) {
				return carriedFamily{}, errors.Join(f.Check(), native(f.Native()))
			})
			c, wrong := a.carried()
			if err == nil && !a.asJSON && guests.Embedded() {
				err = a.printf("catalogue %s\n", c)
			}
			return errors.Join(err, wrong)
		}
		s, digest, err := openSigned(args[0], detached)
		if err != nil {
			return err
		}
		list, err := a.verifiedBy(c.Context(), s, keys)
		if err != nil {
			return err
		}
		return a.printSigned(args[0], digest, s, list, len(keys) > 0)
	}
	return c
}

// checkNative returns a check of native code that runs once for all families that share the code.
func checkNative() func(*image.Native) error {
	checked := map[*image.Native]error{}
	return func(n *image.Native) error {
		err, done := checked[n]
		if !done {
			err = n.Check()
			checked[n] = err
		}
		return err
	}
}

func openSigned(path, detached string) (s signature.Signed, digest string, err error) {
	module, err := readModule(path)
	if err != nil {
		return s, "", err
	}
	report, err := sandbox.Check(module, sandbox.Options{})
	if err != nil {
		return s, "", fmt.Errorf("%s: %w", path, err)
	}
	data, err := readDetached(signatureFor(path, detached, module))
	if err != nil {
		return s, "", err
	}
	if s, err = signature.Open(module, data); err != nil {
		return s, "", fmt.Errorf("%s: %w", path, err)
	}
	return s, report.Digest, nil
}

// readDetached reads a detached signature; none without a path.
func readDetached(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	return readFile(path, signature.DataLimit)
}

// byKeys is something that keys signed.
type byKeys interface {
	By(key crypto.PublicKey) bool
}

// verifiedBy finds which of the given keys signed; without any, which of those that the lock file trusts.
func (a *app) verifiedBy(ctx context.Context, s byKeys, given []string) (list []signedBy, err error) {
	for _, k := range given {
		public, err := trustable(k)
		if err != nil {
			return nil, err
		}
		list = append(list, signedBy{Key: k, Signed: s.By(public)})
	}
	if len(given) > 0 {
		return list, nil
	}
	trusted, err := call(ctx, a, operator.TrustKeys, operator.TrustRequest{})
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(trusted.Keys)) {
		public, err := signature.ParseKey([]byte(trusted.Keys[name].Public))
		if err != nil {
			return nil, err
		}
		list = append(list, signedBy{Key: name, Signed: s.By(public), Fault: trusted.Keys[name].Refused(time.Now())})
	}
	return list, nil
}

// publicKey reads a public key of Ed25519 from a file, or as text.
func publicKey(given string) (ed25519.PublicKey, error) {
	key, err := trustable(given)
	public, ok := key.(ed25519.PublicKey)
	if err == nil && !ok {
		err = fmt.Errorf("%s: the key is not an Ed25519 key", given)
	}
	return public, err
}

// trustable reads a public key from a file, or as text: of Ed25519, or of ECDSA for what cosign signs.
func trustable(given string) (crypto.PublicKey, error) {
	if public, err := signature.ParseKey([]byte(given)); err == nil {
		return public, nil
	}
	if public, ok := publicOfSSH([]byte(given)); ok {
		return public, nil
	}
	data, err := readFile(given, keyFileLimit)
	if err != nil {
		return nil, err
	}
	if public, ok := publicOfSSH(data); ok {
		return public, nil
	}
	public, err := signature.ParseKey(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", given, err)
	}
	return public, nil
}

// publicOfSSH reads a public key in the form of SSH, as in ssh-ed25519 AAAA….
func publicOfSSH(data []byte) (ed25519.PublicKey, bool) {
	key, _, _, _, err := ssh.ParseAuthorizedKey(data)
	if err != nil {
		return nil, false
	}
	public, ok := key.(ssh.CryptoPublicKey)
	if !ok {
		return nil, false
	}
	raw, ok := public.CryptoPublicKey().(ed25519.PublicKey)
	return raw, ok
}

func (a *app) printSigned(path, digest string, s signature.Signed, list []signedBy, all bool) error {
	var holding, lacking []string
	for _, k := range list {
		switch {
		case k.Signed && k.Fault == "":
			holding = append(holding, k.Key)
		case k.Signed:
			lacking = append(lacking, k.Key+", which "+k.Fault)
		default:
			lacking = append(lacking, k.Key)
		}
	}
	if a.asJSON {
		if err := a.printJSON(map[string]any{"digest": digest, "keys": list}); err != nil {
			return err
		}
	} else if len(holding) > 0 {
		a.printf("%s (sha256 %s) is signed by %s\n", path, digest, strings.Join(holding, ", "))
	}
	switch {
	case s.None():
		return fmt.Errorf("%s is not signed, or it was changed after it was signed", path)
	case all && len(lacking) > 0:
		return fmt.Errorf("%s is not signed by %s", path, strings.Join(lacking, ", "))
	case len(holding) == 0 && len(lacking) > 0:
		return fmt.Errorf("%s is signed by none of the valid trusted keys (%s): see alcove family trust", path, strings.Join(lacking, ", "))
	case len(holding) == 0:
		return fmt.Errorf("%s is signed, and no key is trusted: name one with alcove family trust NAME KEY, or give --key", path)
	}
	return nil
}
