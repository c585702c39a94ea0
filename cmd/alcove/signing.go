package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/registry/signature"
)

// keyFileLimit bounds a file of a key, in bytes.
const keyFileLimit = 4096

func (a *app) familyKeygenCommand() *cobra.Command {
	var passphrase string
	c := &cobra.Command{
		Use: "keygen NAME", Short: "Generate a key pair for signing modules", Args: arguments(1, 1),
		Example: `  alcove family keygen author
  alcove family keygen author --passphrase-file phrase`,
		Long: `Generate an Ed25519 key pair for signing modules, in the format of wasmsign2.
Keep NAME.key secret; with --passphrase-file it is encrypted, in the format of
age. Distribute NAME.pub to operators, who trust it with alcove family trust.`,
		RunE: func(_ *cobra.Command, args []string) error {
			public, key, err := ed25519.GenerateKey(nil)
			if err != nil {
				return err
			}
			pair, err := sealedPair(key, passphrase)
			if err != nil {
				return err
			}
			if err := writeNew(args[0]+".key", pair, 0o600); err != nil {
				return err
			}
			if err := writeNew(args[0]+".pub", signature.EncodePublic(public), 0o644); err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(map[string]string{"key": args[0] + ".key", "public": signature.FormatPublic(public)})
			}
			return a.printf("%s.key signs, keep it secret; %s.pub is the public key:\n%s\n", args[0], args[0], signature.FormatPublic(public))
		},
	}
	passphraseFlag(c, &passphrase)
	return c
}

// writeNew writes a file that must not exist: a key is never replaced.
func writeNew(path string, data []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// signing is what a signature is made of, and where it is written.
type signing struct {
	signerFlags
	out      string
	embedded bool
}

func (a *app) familySignCommand() *cobra.Command {
	var f signing
	c := &cobra.Command{
		Use: "sign M.wasm --key NAME.key", Short: "Sign a module", Args: arguments(1, 1),
		Long: `Sign a module: its code, manifest and all other sections. The signature is
written to M.wasm.sig, so that the digest of the module and its grants stay;
install, push and verify find it there. With --embedded it is put into the module.
Other signatures of the same bytes are kept.

The key is a file of alcove family keygen, encrypted or not; ssh-agent:NAME for
one in the SSH agent, by its comment or fingerprint; or wherever a command
keeps it, such as a token or a key management service: --sign-command runs that
with the message on standard input, and it prints the signature of Ed25519, as 64
bytes or in Base64.`,
		Example: `  alcove family sign notes.wasm --key author.key
  alcove family sign notes.wasm --key ssh-agent:author@laptop
  alcove family sign notes.wasm --sign-command "sign-by-kms author" --public author.pub`,
	}
	flags := c.Flags()
	flags.BoolVar(&f.embedded, "embedded", false, "put the signature into the module, which changes its digest")
	flags.Bool("detached", true, "as without --embedded")
	_ = flags.MarkHidden("detached")
	flags.StringVarP(&f.out, "out", "o", "", "output file (default: M.wasm.sig, or M.wasm with --embedded)")
	f.signerFlags.add(c)
	c.RunE = func(c *cobra.Command, args []string) error { return a.sign(c.Context(), args[0], f) }
	return c
}

func (a *app) sign(ctx context.Context, path string, f signing) error {
	by, err := a.signers(ctx, f.signerFlags)
	if err != nil {
		return err
	}
	module, err := readModule(path)
	if err != nil {
		return err
	}
	if _, err := checkModule(path, module); err != nil {
		return err
	}
	if f.embedded {
		for _, key := range by {
			if module, err = signature.Sign(module, key); err != nil {
				return fmt.Errorf("sign %s: %w", path, err)
			}
		}
		return a.written(orElse(f.out, path), module, nil)
	}
	out := orElse(f.out, path+signatureSuffix)
	var signed []byte
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		if signed, err = readDetached(out); err != nil {
			return err
		}
	}
	if signed, err = signDetached(path, module, signed, by); err != nil {
		return err
	}
	return a.written(out, signed, nil)
}

// signDetached adds a signature by each key to those that a module has beside it.
func signDetached(path string, module, signed []byte, by []keySigner) (_ []byte, err error) {
	for _, key := range by {
		if signed, err = signature.SignDetached(module, signed, key); err != nil {
			return nil, fmt.Errorf("sign %s: %w", path, err)
		}
	}
	return signed, nil
}

// signatureSuffix ends the name of the file of a detached signature, after that of the module.
const signatureSuffix = ".sig"

// signatureFor is the file of a module's detached signature: the one that was named, or the one beside a module that has none in it. Empty:
// there is none.
func signatureFor(path, named string, module []byte) string {
	if named != "" || signature.In(module) {
		return named
	}
	if _, err := os.Stat(path + signatureSuffix); err != nil {
		return ""
	}
	return path + signatureSuffix
}

func orElse(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}
