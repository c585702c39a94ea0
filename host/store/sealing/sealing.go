// Package sealing encrypts what leaves the machine, in the format of age (age-encryption.org/v1), so that the program age opens it too.
package sealing

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
)

// ErrSealed means that something is encrypted, and nothing was given that opens it.
var ErrSealed = errors.New("it is encrypted: give --identity-file FILE with the identity of a recipient, or --passphrase-file FILE")

// ErrWrong means that nothing of what was given opens something that is encrypted.
var ErrWrong = errors.New("it is encrypted for another identity, or with another passphrase")

const (
	magic     = "age-encryption.org/"
	shortest  = 12      // characters of a passphrase
	longest   = 1 << 20 // bytes of identities
	mostScale = 20      // of the work that opening with a passphrase takes, as a power of two
)

// Sealer encrypts for recipients, or with a passphrase. A nil Sealer encrypts nothing.
type Sealer struct{ recipients []age.Recipient }

// For returns a sealer for recipients, each as in age1…; lines of a file of them, with comments, are accepted as well.
func For(recipients ...string) (*Sealer, error) {
	list, err := age.ParseRecipients(strings.NewReader(strings.Join(recipients, "\n")))
	if err != nil {
		return nil, fmt.Errorf("read the recipients: %w", err)
	}
	return &Sealer{list}, nil
}

// WithPassphrase returns a sealer with a passphrase, of at least twelve characters.
func WithPassphrase(text string) (*Sealer, error) {
	if len([]rune(text)) < shortest {
		return nil, fmt.Errorf("the passphrase has fewer than %d characters: take several words", shortest)
	}
	r, err := age.NewScryptRecipient(text)
	if err != nil {
		return nil, fmt.Errorf("use the passphrase: %w", err)
	}
	return &Sealer{[]age.Recipient{r}}, nil
}

// Seal returns a writer to w that encrypts, until it is closed. It does not close w.
func (s *Sealer) Seal(w io.Writer) (io.WriteCloser, error) {
	if s == nil {
		return unsealed{w}, nil
	}
	sealed, err := age.Encrypt(w, s.recipients...)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return sealed, nil
}

// unsealed writes what it is given.
type unsealed struct{ io.Writer }

func (unsealed) Close() error { return nil }

// Opener decrypts what one of its identities can. A nil Opener decrypts nothing.
type Opener struct{ identities []age.Identity }

// By returns an opener with the identities in a text, as age-keygen writes it.
func By(text []byte) (*Opener, error) {
	if len(text) > longest {
		return nil, fmt.Errorf("the identities have %d bytes: at most %d", len(text), longest)
	}
	list, err := age.ParseIdentities(bytes.NewReader(text))
	if err != nil {
		return nil, errors.New("read the identities: it is not a file that age-keygen writes") // the library's error may have a secret
	}
	return &Opener{list}, nil
}

// ByPassphrase returns an opener with a passphrase.
func ByPassphrase(text string) (*Opener, error) {
	i, err := age.NewScryptIdentity(text)
	if err != nil {
		return nil, fmt.Errorf("use the passphrase: %w", err)
	}
	i.SetMaxWorkFactor(mostScale)
	return &Opener{[]age.Identity{i}}, nil
}

// IsSealed reports whether a text begins like one that is encrypted. It wants at least the first line.
func IsSealed(start []byte) bool { return bytes.HasPrefix(start, []byte(magic)) }

// Open returns a reader of what r has: decrypted if it is encrypted, and as it is otherwise. Each piece that it returns is authentic; one
// that was changed or cut off ends it with an error.
func (o *Opener) Open(r io.Reader) (io.Reader, error) {
	text := bufio.NewReader(r)
	start, err := text.Peek(len(magic))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !IsSealed(start) {
		return text, nil
	}
	if o == nil {
		return nil, ErrSealed
	}
	opened, err := age.Decrypt(text, o.identities...)
	var none *age.NoIdentityMatchError
	switch {
	case errors.As(err, &none):
		return nil, ErrWrong
	case err != nil:
		return nil, fmt.Errorf("decrypt: %w", err)
	}
	return opened, nil
}
