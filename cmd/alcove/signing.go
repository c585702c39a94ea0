package main

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/guests/build/image"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry/catalogue"
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

type trustFlags struct {
	expires, revoke, catalogue, release string
	remove, dryRun                      bool
	require                             int
}

func (a *app) familyTrustCommand() *cobra.Command {
	var f trustFlags
	c := &cobra.Command{
		Use: "trust [NAME [KEY]]", Short: "List, add and revoke trusted signing keys", Args: arguments(0, 2),
		Long: `List, add and revoke trusted signing keys. KEY is a file from alcove family
keygen, wasmsign2, ssh-keygen -t ed25519 or cosign generate-key-pair, or its text.
Once a key is trusted, only modules that are signed by trusted keys can be
installed, and a locked server runs no others. A key of cosign holds for artifacts
of registries that it signed.

Modules that are signed by an expired or revoked key stop running at once. The
exception is a module that enough other trusted keys signed, and that was not
installed with a signature by that key.`,
		Example: `  alcove family trust author author.pub --expires 2027-12-31
  alcove family trust --require 2
  alcove family trust author --revoke "the laptop was stolen"`,
	}
	flags := c.Flags()
	flags.StringVar(&f.expires, "expires", "", "expiry of the key, as a date or an RFC 3339 time")
	flags.StringVar(&f.revoke, "revoke", "", "revoke the key, for this reason")
	flags.BoolVar(&f.remove, "remove", false, "remove the key")
	flags.IntVar(&f.require, "require", 0, "number of required signatures by trusted keys")
	flags.StringVar(&f.catalogue, "catalogue", "", "required digest of the built-in families on a locked server: a digest, this or any")
	flags.StringVar(&f.release, "release", "", "required release key of the built-in families: a file, its text, this or any")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show the change of alcove.lock, and change nothing")
	flags.Bool("diff", false, "show the change of alcove.lock before it is made")
	c.RunE = func(c *cobra.Command, args []string) error {
		r, err := a.trustRequest(f, args, c.Flags().Changed("require"))
		if err != nil {
			return err
		}
		if r != (operator.TrustRequest{}) {
			if err := a.announce(c.Context(), operator.LockProposal{Trust: &r}); err != nil || f.dryRun {
				return err
			}
		}
		return callAndPrint(c.Context(), a, operator.TrustKeys, r, a.printTrusted)
	}
	return c
}

func (a *app) trustRequest(f trustFlags, args []string, requires bool) (operator.TrustRequest, error) {
	var r operator.TrustRequest
	if requires {
		r.Signatures = &f.require
	}
	if f.catalogue != "" {
		digest := f.catalogue
		switch digest {
		case "any":
			digest = ""
		case "this":
			digest = catalogueDigest()
		}
		r.Catalogue = &digest
	}
	if f.release != "" {
		key, err := a.releaseKey(f.release)
		if err != nil {
			return r, err
		}
		r.Release = &key
	}
	changes := 0
	for _, given := range []bool{len(args) == 2, f.revoke != "", f.remove} {
		if given {
			changes++
		}
	}
	switch {
	case changes > 1 || changes == 0 && len(args) == 1 || changes > 0 && len(args) == 0:
		return r, &usageError{errors.New("give the name of a key and, to trust it, the key; or the name with --revoke WHY or --remove")}
	case changes == 0:
		return r, nil
	}
	r.Name, r.Revoke, r.Remove = args[0], f.revoke, f.remove
	if len(args) < 2 {
		return r, nil
	}
	public, err := trustable(args[1])
	if err != nil {
		return r, err
	}
	r.Key = &operator.TrustedKey{Public: signature.FormatKey(public)}
	if f.expires != "" {
		expires, err := expiry(f.expires)
		if err != nil {
			return r, &usageError{err}
		}
		r.Key.Expires = &expires
	}
	return r, nil
}

// expiry reads a day, which is over at its end, or a moment.
func expiry(text string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1), nil
	}
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return moment, fmt.Errorf("--expires %s: give a day, as 2027-12-31, or a moment, as 2027-12-31T12:00:00Z", text)
	}
	return moment.UTC(), nil
}

func (a *app) printTrusted(t operator.TrustedKeys) error {
	if a.asJSON {
		return a.printJSON(t)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Keys)) {
		k := t.Keys[name]
		state := ""
		if why := k.Refused(time.Now()); why != "" {
			state = "  " + why
		} else if k.Expires != nil {
			state = "  until " + k.Expires.UTC().Format(time.RFC3339)
		}
		a.printf("%s  %s%s\n", name, k.Public, state)
	}
	if len(t.Keys) == 0 {
		a.printf("no key is trusted: modules are known by their digests alone\n")
	} else {
		a.printf("a module must be signed by %d of them%s\n", max(1, t.Signatures), tooFew(t))
	}
	if t.Catalogue != "" {
		a.printf("first-party families: those with the digest %s\n", t.Catalogue)
	}
	if t.Release != "" {
		a.printf("first-party families: those that the release key %s signed\n", t.Release)
	}
	return nil
}

// tooFew says that no module can be signed as is asked for; empty: enough keys hold.
func tooFew(t operator.TrustedKeys) string {
	hold := 0
	for _, k := range t.Keys {
		if k.Refused(time.Now()) == "" {
			hold++
		}
	}
	if hold >= max(1, t.Signatures) {
		return ""
	}
	return fmt.Sprintf(", and %d can be: trust another with alcove family trust NAME KEY.pub", hold)
}

// dryRunFlag adds the flag by which a command only shows what it would change in the lock file.
func dryRunFlag(c *cobra.Command) *bool {
	c.Flags().Bool("diff", false, "show the change of alcove.lock before it is made")
	return c.Flags().Bool("dry-run", false, "show the change of alcove.lock, and change nothing")
}

// announce says on standard error what a change would do to the lock file: how much, or with --diff and --dry-run the difference.
func (a *app) announce(ctx context.Context, p operator.LockProposal) error {
	c, err := call(ctx, a, operator.ProposeChange, p)
	if err != nil {
		return err
	}
	a.noteUnusable(c.Unusable)
	if len(c.Lines) > 0 && !a.inFull {
		return a.notef("alcove.lock changes: %d lines; --diff shows them\n", changedLines(c.Lines))
	}
	return a.showLines(c.Lines)
}

// noteUnusable names the families that a change of the lock file ends.
func (a *app) noteUnusable(list []string) {
	for _, why := range list {
		a.notef("note: family %s\n", why)
	}
}

// changedLines counts the lines of a difference that are added or removed.
func changedLines(difference []string) (n int) {
	for _, line := range difference {
		if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			n++
		}
	}
	return n
}

// catalogueDigest is that of the families that this program carries.
func catalogueDigest() string { return modules.Catalogue(builtIn()) }

// carriedCatalogue is the families that this program carries, and by which keys of a release they are signed.
type carriedCatalogue struct {
	Catalogue string   `json:"catalogue"` // empty: it carries none
	Releases  []string `json:"releases"`  // public keys
	Fault     string   `json:"fault,omitempty"`
}

func (c carriedCatalogue) String() string {
	switch {
	case c.Catalogue == "":
		return "none: built without them"
	case c.Fault != "":
		return c.Catalogue + " altered: not what the key of a release signed"
	case len(c.Releases) == 0:
		return c.Catalogue + " locked by digest: built without the key of a release"
	}
	return c.Catalogue + " signed by the release key " + strings.Join(c.Releases, " and by ")
}

// carried describes the families that this program carries. It fails if they are not what the key of a release signed.
func (a *app) carried() (c carriedCatalogue, err error) {
	c.Releases = []string{}
	if guests.Embedded() {
		c.Catalogue = catalogueDigest()
	}
	keys, err := catalogue.Verify(a.release, c.Catalogue)
	if err != nil {
		c.Fault = err.Error()
		return c, err
	}
	c.Releases = append(c.Releases, keys...)
	return c, nil
}

// releaseKey is the public key that an operator names as that of releases; empty for any.
func (a *app) releaseKey(given string) (string, error) {
	switch given {
	case "any":
		return "", nil
	case "this":
		c, err := a.carried()
		if err == nil && len(c.Releases) == 0 {
			err = errors.New("this program was built without the key of a release: name its families by their digest, with --catalogue this")
		}
		if err != nil {
			return "", err
		}
		return c.Releases[len(c.Releases)-1], nil
	}
	public, err := publicKey(given)
	if err != nil {
		return "", err
	}
	return signature.FormatPublic(public), nil
}
