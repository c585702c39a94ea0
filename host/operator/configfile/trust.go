package configfile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/registry/signature"
)

// Trust is which keys modules must be signed by. A key that was revoked stays so.
type Trust struct {
	Prune      bool                  `json:"prune,omitempty"`
	Signatures *int                  `json:"signatures,omitempty"` // by how many keys
	Keys       map[string]SigningKey `json:"keys,omitempty"`
}

// SigningKey is a public key of an author or a reviewer.
type SigningKey struct {
	Public  string `json:"public"`            // its text, or what its file has
	Expires string `json:"expires,omitempty"` // an instant or a date
	Revoked string `json:"revoked,omitempty"` // why its signatures are refused
}

func (f *File) trust(ctx context.Context, s operator.Server) ([]Change, error) {
	if f.Trust == nil {
		return nil, nil
	}
	have, err := operator.Call(ctx, s, operator.TrustKeys, operator.TrustRequest{})
	if err != nil {
		return nil, fmt.Errorf("list the trusted keys: %w", err)
	}
	want, there := map[string]SigningKey{}, map[string]SigningKey{}
	for name, k := range have.Keys {
		there[name] = signingKey(k)
	}
	for name, k := range f.Trust.Keys {
		if want[name], err = k.over(there[name]); err != nil {
			return nil, fmt.Errorf("trust: key %s: %w", name, err)
		}
	}
	list := ofLock(compared("trusted key", want, there, f.Trust.Prune, setTrusted))
	for i, c := range list {
		if why := want[c.Name].Revoked; c.Does == Alter && why != there[c.Name].Revoked && want[c.Name].Expires == there[c.Name].Expires {
			list[i].OfLock, list[i].act = false, trusting(operator.TrustRequest{Name: c.Name, Revoke: why}) // a locked server takes it
		}
	}
	if n := f.Trust.Signatures; n != nil && *n != have.Signatures {
		list = append(list, Change{Does: Alter, Section: "signatures", Details: []string{fmt.Sprintf("by %d of the trusted keys, was %d", *n, have.Signatures)}, OfLock: true, act: trusting(operator.TrustRequest{Signatures: n})})
	}
	return list, nil
}

func signingKey(k operator.TrustedKey) SigningKey {
	s := SigningKey{Public: k.Public, Revoked: k.Revoked}
	if k.Expires != nil {
		s.Expires = k.Expires.UTC().Format(time.RFC3339)
	}
	return s
}

// over is a key in the form in which the lock file has it, with what the file does not mention as it is.
func (k SigningKey) over(there SigningKey) (SigningKey, error) {
	public, err := signature.ParseKey([]byte(k.Public))
	if err != nil {
		public, err = signature.ParseKey([]byte(k.Public + "\n")) // the last byte of a file, which is no line break
	}
	if err != nil {
		return k, err
	}
	k.Public = signature.FormatKey(public)
	if k.Expires == "" {
		k.Expires = there.Expires
	} else if at, err := memory.ParseExpiry(k.Expires, time.Time{}); err != nil || at.Year() < 1970 {
		return k, errors.Join(fmt.Errorf("expires %.40q: give a date or an instant", k.Expires), err)
	} else {
		k.Expires = wholeSecond(at).Format(time.RFC3339)
	}
	if k.Revoked == "" || there.Revoked != "" {
		k.Revoked = there.Revoked
	}
	return k, nil
}

// wholeSecond rounds up the last microsecond of a day, as alcove family trust does.
func wholeSecond(at time.Time) time.Time {
	return at.Add(time.Second - time.Nanosecond).Truncate(time.Second).UTC()
}

func setTrusted(ctx context.Context, s operator.Server, name string, to *SigningKey) error {
	r := operator.TrustRequest{Name: name, Remove: to == nil}
	if to != nil {
		r.Key = &operator.TrustedKey{Public: to.Public, Revoked: to.Revoked}
		if to.Expires != "" {
			at, err := time.Parse(time.RFC3339, to.Expires)
			if err != nil {
				return fmt.Errorf("read when the key expires: %w", err)
			}
			r.Key.Expires = &at
		}
	}
	_, err := operator.Call(ctx, s, operator.TrustKeys, r)
	return err
}

func trusting(r operator.TrustRequest) func(context.Context, operator.Server) (Made, error) {
	return func(ctx context.Context, s operator.Server) (Made, error) {
		_, err := operator.Call(ctx, s, operator.TrustKeys, r)
		return Made{}, err
	}
}

// exportFamilies has the posture, the grants and the trusted keys.
func (f *File) exportFamilies(ctx context.Context, s operator.Server) error {
	posture, err := operator.Query(ctx, s, operator.GetPosture)
	if err != nil {
		return fmt.Errorf("get the posture: %w", err)
	}
	list, err := operator.Query(ctx, s, operator.ListFamilyStates)
	if err != nil {
		return fmt.Errorf("list the families: %w", err)
	}
	f.Families = &Families{Posture: posture.Posture, Shared: posture.Shared, Grants: grantsOf(list)}
	trusted, err := operator.Call(ctx, s, operator.TrustKeys, operator.TrustRequest{})
	if err != nil {
		return fmt.Errorf("list the trusted keys: %w", err)
	}
	f.Trust = &Trust{Signatures: &trusted.Signatures, Keys: map[string]SigningKey{}}
	for _, name := range slices.Sorted(maps.Keys(trusted.Keys)) {
		f.Trust.Keys[name] = signingKey(trusted.Keys[name])
	}
	return nil
}
