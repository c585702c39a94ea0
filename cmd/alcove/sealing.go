package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/store/sealing"
)

const (
	longestRecipients = 1 << 20 // bytes of a file of recipients or identities
	longestPassphrase = 4 << 10
)

// sealFlags say how a command encrypts what it writes.
type sealFlags struct {
	recipients []string
	file       string
	passphrase string // a file
}

func (f *sealFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.recipients, "recipient", nil, "encrypt for this recipient, as in age1…; may be repeated")
	flags.StringVar(&f.file, "recipients-file", "", "encrypt for the recipients in this file, one a line")
	flags.StringVar(&f.passphrase, "passphrase-file", "", "encrypt with the passphrase in this file")
	c.MarkFlagsMutuallyExclusive("recipient", "passphrase-file")
	c.MarkFlagsMutuallyExclusive("recipients-file", "passphrase-file")
}

// sealer is nil if nothing is to be encrypted.
func (f *sealFlags) sealer() (*sealing.Sealer, error) {
	list := f.recipients
	switch {
	case f.passphrase != "":
		text, err := passphraseIn(f.passphrase)
		if err != nil {
			return nil, err
		}
		return sealing.WithPassphrase(text)
	case f.file != "":
		data, err := regular.Read(f.file, longestRecipients)
		if err != nil {
			return nil, fmt.Errorf("read the recipients (--recipients-file): %w", err)
		}
		list = append(list, string(data))
	case len(list) == 0:
		return nil, nil
	}
	s, err := sealing.For(list...)
	if err != nil {
		return nil, &usageError{err}
	}
	return s, nil
}

// openFlags say how a command decrypts what it reads.
type openFlags struct{ identities, passphrase string }

func (f *openFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.identities, "identity-file", "", "decrypt with an identity in this file, as age-keygen writes it")
	flags.StringVar(&f.passphrase, "passphrase-file", "", "decrypt with the passphrase in this file")
	c.MarkFlagsMutuallyExclusive("identity-file", "passphrase-file")
}

// opener is nil if nothing was given.
func (f *openFlags) opener() (*sealing.Opener, error) {
	switch {
	case f.passphrase != "":
		text, err := passphraseIn(f.passphrase)
		if err != nil {
			return nil, err
		}
		return sealing.ByPassphrase(text)
	case f.identities != "":
		data, err := regular.Read(f.identities, longestRecipients)
		if err != nil {
			return nil, fmt.Errorf("read the identities (--identity-file): %w", err)
		}
		return sealing.By(data)
	}
	return nil, nil
}

func passphraseIn(path string) (string, error) {
	data, err := regular.Read(path, longestPassphrase)
	if err != nil {
		return "", fmt.Errorf("read the passphrase (--passphrase-file): %w", err)
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return "", &usageError{fmt.Errorf("the file %s (--passphrase-file) is empty", path)}
	}
	return text, nil
}

// sealedTo has a command write to w through a sealer, which may be nil.
func sealedTo(by *sealing.Sealer, write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		sealed, err := by.Seal(w)
		if err != nil {
			return err
		}
		return errors.Join(write(sealed), sealed.Close())
	}
}

// openSealed opens a file and decrypts it if it is encrypted.
func openSealed(path string, by *sealing.Opener) (*os.File, io.Reader, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, nil, err
	}
	r, err := by.Open(f)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("read %s: %w", path, err), f.Close())
	}
	return f, r, nil
}
