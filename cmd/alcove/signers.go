package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/alcove-memory/alcove/host/store/sealing"
	"github.com/alcove-memory/alcove/registry/signature"
)

const (
	ofAgent     = "ssh-agent:" // begins a key that the SSH agent has
	agentWithin = 2 * time.Minute
	signWithin  = 2 * time.Minute // for a command, which may ask a person
	longestMade = 4 << 10         // bytes that a command prints
)

// signerFlags name the keys that sign.
type signerFlags struct {
	keys            []string // files of secret keys, or ssh-agent:NAME
	command, public string   // a command that signs, and the public key that it signs for
	passphrase      string   // file of the passphrase of encrypted keys
}

func (f *signerFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.keys, "key", nil, "file of a secret key, or ssh-agent:NAME; repeatable")
	flags.StringVar(&f.command, "sign-command", "", "a command that signs its standard input; its words are separated by blanks")
	flags.StringVar(&f.public, "public", "", "public key of --sign-command, as file or text")
	passphraseFlag(c, &f.passphrase)
}

func passphraseFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "passphrase-file", "", "the passphrase of an encrypted secret key is in this file")
}

// signers are the keys that flags name: those of --key, then that of --sign-command.
func (a *app) signers(ctx context.Context, f signerFlags) (list []keySigner, err error) {
	switch {
	case f.public != "" && f.command == "":
		return nil, &usageError{errors.New("--public names the key of --sign-command: give that, too")}
	case len(f.keys) == 0 && f.command == "":
		return nil, &usageError{errors.New("give the secret key with --key (alcove family keygen makes one), or with --sign-command a command that signs")}
	}
	for _, name := range f.keys {
		key, err := a.signer(ctx, name, f.passphrase)
		if err != nil {
			return nil, err
		}
		list = append(list, key)
	}
	if f.command != "" {
		key, err := a.commandOf(ctx, f.command, f.public)
		if err != nil {
			return nil, err
		}
		list = append(list, key)
	}
	return list, nil
}

// keySigner signs, and public is its public key as text.
type keySigner struct {
	crypto.Signer
	public string
}

func signerOf(s crypto.Signer) (keySigner, error) {
	public, ok := s.Public().(ed25519.PublicKey)
	if !ok {
		return keySigner{}, errors.New("the key is not an Ed25519 key")
	}
	return keySigner{s, signature.FormatPublic(public)}, nil
}

// signer is the key that a flag names: a file, which may be encrypted, or ssh-agent:NAME.
func (a *app) signer(ctx context.Context, name, passphrase string) (keySigner, error) {
	if wanted, ok := strings.CutPrefix(name, ofAgent); ok {
		return a.signerOfAgent(ctx, wanted)
	}
	data, err := readFile(name, keyFileLimit)
	if err != nil {
		return keySigner{}, err
	}
	if sealing.IsSealed(data) {
		if data, err = opened(data, passphrase); err != nil {
			return keySigner{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	secret, err := signature.ParsePair(data)
	if err != nil {
		return keySigner{}, fmt.Errorf("%s: %w", name, err)
	}
	return signerOf(secret)
}

// opened decrypts a secret key.
func opened(data []byte, passphrase string) ([]byte, error) {
	if passphrase == "" {
		return nil, &usageError{errors.New("the secret key is encrypted: give --passphrase-file")}
	}
	text, err := passphraseIn(passphrase)
	if err != nil {
		return nil, err
	}
	by, err := sealing.ByPassphrase(text)
	if err != nil {
		return nil, err
	}
	r, err := by.Open(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, keyFileLimit))
}

// sealedPair encrypts a secret key with the passphrase in a file.
func sealedPair(key ed25519.PrivateKey, passphrase string) ([]byte, error) {
	pair := signature.EncodePair(key)
	if passphrase == "" {
		return pair, nil
	}
	text, err := passphraseIn(passphrase)
	if err != nil {
		return nil, err
	}
	by, err := sealing.WithPassphrase(text)
	if err != nil {
		return nil, &usageError{err}
	}
	var out bytes.Buffer
	err = sealedTo(by, func(w io.Writer) error { _, err := w.Write(pair); return err })(&out)
	return out.Bytes(), err
}

// signerOfAgent is the key of Ed25519 in the SSH agent whose comment, fingerprint or public text is wanted; empty: its only one.
func (a *app) signerOfAgent(ctx context.Context, wanted string) (keySigner, error) {
	path := a.env("SSH_AUTH_SOCK")
	if path == "" {
		return keySigner{}, &usageError{errors.New("SSH_AUTH_SOCK is not set: start an agent with eval $(ssh-agent), and add the key with ssh-add")}
	}
	d := net.Dialer{Timeout: agentWithin}
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return keySigner{}, fmt.Errorf("reach the SSH agent: %w", err)
	}
	if err := conn.SetDeadline(time.Now().Add(agentWithin)); err != nil {
		return keySigner{}, err
	}
	client := agent.NewClient(conn)
	list, err := client.List()
	if err != nil {
		return keySigner{}, fmt.Errorf("ask the SSH agent for its keys: %w", err)
	}
	var found []agentSigner
	for _, k := range list {
		s, ok := ed25519Of(client, k)
		if ok && (wanted == "" || wanted == k.Comment || wanted == ssh.FingerprintSHA256(k) || wanted == signature.FormatPublic(s.public)) {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		return keySigner{}, fmt.Errorf("the SSH agent has %d Ed25519 keys named %.100q: name one by its comment or its fingerprint, as ssh-add -l shows them", len(found), wanted)
	}
	return signerOf(found[0])
}

// agentSigner signs by the SSH agent, which keeps the secret.
type agentSigner struct {
	agent  agent.Agent
	key    ssh.PublicKey
	public ed25519.PublicKey
}

func ed25519Of(by agent.Agent, k *agent.Key) (s agentSigner, ok bool) {
	key, err := ssh.ParsePublicKey(k.Blob)
	if err != nil {
		return s, false
	}
	public, ok := key.(ssh.CryptoPublicKey)
	if !ok {
		return s, false
	}
	raw, ok := public.CryptoPublicKey().(ed25519.PublicKey)
	return agentSigner{by, key, raw}, ok
}

// Public implements crypto.Signer.
func (s agentSigner) Public() crypto.PublicKey { return s.public }

// Sign implements crypto.Signer.
func (s agentSigner) Sign(_ io.Reader, text []byte, _ crypto.SignerOpts) ([]byte, error) {
	made, err := s.agent.Sign(s.key, text)
	if err != nil {
		return nil, fmt.Errorf("have the SSH agent sign: %w", err)
	}
	return made.Blob, nil
}

// commandSigner has a command sign what is on its standard input: it prints the signature, 64 bytes or their Base64.
type commandSigner struct {
	ctx    context.Context
	words  []string
	public ed25519.PublicKey
	errors io.Writer
}

// commandOf is the signer of --sign-command and --public.
func (a *app) commandOf(ctx context.Context, command, public string) (keySigner, error) {
	words := strings.Fields(command)
	if len(words) == 0 || public == "" {
		return keySigner{}, &usageError{errors.New("--sign-command: give a command, and the public key that it signs for with --public")}
	}
	key, err := publicKey(public)
	if err != nil {
		return keySigner{}, err
	}
	return signerOf(commandSigner{ctx, words, key, a.err})
}

// Public implements crypto.Signer.
func (s commandSigner) Public() crypto.PublicKey { return s.public }

// Sign implements crypto.Signer.
func (s commandSigner) Sign(_ io.Reader, text []byte, _ crypto.SignerOpts) ([]byte, error) {
	ctx, cancel := context.WithTimeout(s.ctx, signWithin)
	defer cancel()
	c := exec.CommandContext(ctx, s.words[0], s.words[1:]...)
	c.Stdin, c.Stderr, c.Env = bytes.NewReader(text), s.errors, append(os.Environ(), "ALCOVE_SIGN_PUBLIC="+signature.FormatPublic(s.public))
	c.WaitDelay = time.Second
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("run the command that signs: %w", err)
	}
	made, err := io.ReadAll(io.LimitReader(out, longestMade+1))
	if err = errors.Join(err, c.Wait()); err != nil {
		return nil, fmt.Errorf("run the command that signs, %s: %w", s.words[0], err)
	}
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(made))); err == nil && len(raw) == ed25519.SignatureSize {
		made = raw
	}
	if len(made) != ed25519.SignatureSize {
		return nil, fmt.Errorf("the command %s printed %d bytes: an Ed25519 signature has %d, or is their Base64", s.words[0], len(made), ed25519.SignatureSize)
	}
	return made, nil
}
