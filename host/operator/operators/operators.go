// Package operators keeps who operates a server from elsewhere: names, roles, and digests of keys.
package operators

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/regular"
)

const (
	prefix     = "alcove_operator_" // of secrets
	secretSize = 32                 // random bytes
	most       = 1000               // operators
	fileLimit  = 1 << 20            // bytes
	version    = 1
)

// Operator is who operates the server from elsewhere, without the secret.
type Operator struct {
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // never, if it is zero
}

type kept struct {
	Operator
	SHA256 string `json:"sha256"` // of the secret
}

type file struct {
	Version   int    `json:"version"`
	Operators []kept `json:"operators"`
}

// Operators are those of a data directory. They are read from the file at each use, which commands beside the server may change.
type Operators struct {
	Path  string
	Clock func() time.Time
	// Write replaces the file, wherever else the next server looks for it.
	Write func(path string, data []byte) error

	changing sync.Mutex
}

// ErrUnknown means that a secret is no operator's.
var ErrUnknown = errors.New("the key is not an operator's: alcove operator create makes one")

// ErrExpired means that the key of an operator expired.
var ErrExpired = errors.New("the operator's key expired")

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`) })

// List lists the operators by name.
func (o *Operators) List() ([]Operator, error) {
	f, err := o.read()
	list := []Operator{}
	for _, k := range f.Operators {
		list = append(list, k.Operator)
	}
	slices.SortFunc(list, func(a, b Operator) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

// Create adds an operator, and returns the secret, which is not kept.
func (o *Operators) Create(p Operator) (made Operator, secret string, err error) {
	if !nameForm().MatchString(p.Name) {
		return made, "", fmt.Errorf("the name %.80q: give up to 64 letters, digits, dots, dashes, underscores or @", p.Name)
	}
	random := make([]byte, secretSize)
	if _, err := rand.Read(random); err != nil {
		return made, "", fmt.Errorf("make a key: %w", err)
	}
	secret = prefix + base64.RawURLEncoding.EncodeToString(random)
	p.Created = o.Clock().UTC().Truncate(time.Second)
	err = o.change(func(f *file) error {
		if slices.ContainsFunc(f.Operators, func(k kept) bool { return k.Name == p.Name }) {
			return fmt.Errorf("there is an operator %s: revoke that key first", p.Name)
		}
		if len(f.Operators) >= most {
			return fmt.Errorf("there are %d operators, which is the limit", most)
		}
		f.Operators = append(f.Operators, kept{p, digestOf(secret)})
		return nil
	})
	return p, secret, err
}

// Revoke removes an operator.
func (o *Operators) Revoke(name string) (gone Operator, err error) {
	err = o.change(func(f *file) error {
		i := slices.IndexFunc(f.Operators, func(k kept) bool { return k.Name == name })
		if i < 0 {
			return fmt.Errorf("there is no operator %.80q: %w", name, fs.ErrNotExist)
		}
		gone = f.Operators[i].Operator
		f.Operators = slices.Delete(f.Operators, i, i+1)
		return nil
	})
	return gone, err
}

// Enter returns the operator with a secret.
func (o *Operators) Enter(secret string) (Operator, error) {
	if !strings.HasPrefix(secret, prefix) {
		return Operator{}, ErrUnknown
	}
	f, err := o.read()
	if err != nil {
		return Operator{}, err
	}
	digest := digestOf(secret)
	i := slices.IndexFunc(f.Operators, func(k kept) bool { return k.SHA256 == digest })
	if i < 0 {
		return Operator{}, ErrUnknown
	}
	found := f.Operators[i].Operator
	if !found.Expires.IsZero() && !o.Clock().Before(found.Expires) {
		return found, ErrExpired
	}
	return found, nil
}

// digestOf is the SHA-256 of a secret: of random bytes, no slower digest is needed.
func digestOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func (o *Operators) read() (f file, err error) {
	data, err := regular.Read(o.Path, fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		in := json.NewDecoder(bytes.NewReader(data))
		in.DisallowUnknownFields()
		err = in.Decode(&f)
	}
	if err == nil && f.Version != version {
		err = fmt.Errorf("it has version %d, and this program knows %d", f.Version, version)
	}
	if err != nil {
		return file{}, fmt.Errorf("read the operators in %s: %w", o.Path, err)
	}
	return f, nil
}

func (o *Operators) change(do func(*file) error) error {
	o.changing.Lock()
	defer o.changing.Unlock()
	f, err := o.read()
	if err == nil {
		err = do(&f)
	}
	if err != nil {
		return err
	}
	f.Version = version
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("keep the operators: %w", err)
	}
	if err := o.Write(o.Path, append(data, '\n')); err != nil {
		return fmt.Errorf("keep the operators in %s: %w", o.Path, err)
	}
	return nil
}
