package keys

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

// Bounds of invitations.
const (
	MaxInvitations = 500                 // that wait
	InviteFor      = 3 * 24 * time.Hour  // unless an operator says otherwise
	longestInvite  = 30 * 24 * time.Hour // an invitation holds

	codeAlphabet = "0123456789abcdefghjkmnpqrstvwxyz" // without i, l, o and u, which are read as others
	codeLetters  = 25                                 // 125 bits
	codeGroup    = 5                                  // letters between dashes
)

// Invitation is a key that waits for the person that it is for.
type Invitation struct {
	ID string `json:"id"`
	Grant
	Created time.Time `json:"created"`
	Until   time.Time `json:"until"` // it holds
}

type storedInvitation struct {
	Invitation
	Digest string `json:"sha256"`
}

// Invite makes an invitation, and the code that accepts it once. Until zero is InviteFor from now.
func (k *Keys) Invite(g Grant, until time.Time) (i Invitation, code string, err error) {
	k.changing.Lock()
	defer k.changing.Unlock()
	now := k.o.Clock().UTC()
	if g, err = g.normal(now); err != nil {
		return i, "", invalid("invite: %v", err)
	}
	if until.IsZero() {
		until = now.Add(InviteFor)
	}
	if !until.After(now) || until.After(now.Add(longestInvite)) {
		return i, "", invalid("invite: an invitation is valid for at most %v from now", longestInvite)
	}
	file := k.snapshot()
	file.Invitations = slices.DeleteFunc(file.Invitations, func(s storedInvitation) bool { return !now.Before(s.Until) })
	if len(file.Invitations) >= MaxInvitations {
		return i, "", exhausted(MaxInvitations, "%d invitations wait, which is the limit: withdraw some", MaxInvitations)
	}
	id := make([]byte, idBytes)
	rand.Read(id)
	code = newCode()
	s := storedInvitation{Invitation{hex.EncodeToString(id), g, now, until.UTC()}, digestText(plainCode(code))}
	file.Invitations = append(file.Invitations, s)
	if err := k.replace(file); err != nil {
		return Invitation{}, "", fmt.Errorf("keep the invitation: %w", err)
	}
	return s.Invitation, code, nil
}

func newCode() string {
	letters := make([]byte, codeLetters)
	rand.Read(letters)
	var code strings.Builder
	for i, l := range letters {
		if i > 0 && i%codeGroup == 0 {
			code.WriteByte('-')
		}
		code.WriteByte(codeAlphabet[int(l)%len(codeAlphabet)])
	}
	return code.String()
}

// plainCode returns a code as it was made, however a person wrote it.
func plainCode(code string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', ' ':
			return -1
		case 'o':
			return '0'
		case 'i', 'l':
			return '1'
		}
		return r
	}, strings.ToLower(code))
}

// Invitations returns those that wait, oldest first.
func (k *Keys) Invitations() []Invitation {
	now, list := k.o.Clock(), []Invitation{}
	k.mu.RLock()
	defer k.mu.RUnlock()
	for _, s := range k.file.Invitations {
		if now.Before(s.Until) {
			list = append(list, s.Invitation)
		}
	}
	slices.SortFunc(list, func(a, b Invitation) int { return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID)) })
	return list
}

// Invited returns the invitation that a code accepts. Codes that hold no more and unknown ones get the same error.
func (k *Keys) Invited(code string) (Invitation, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	at, err := k.invited(k.file, code)
	if err != nil {
		return Invitation{}, err
	}
	return k.file.Invitations[at].Invitation, nil
}

func (k *Keys) invited(file contents, code string) (at int, err error) {
	at = -1
	if len(code) <= longestText {
		digest := digestText(plainCode(code))
		for i, s := range file.Invitations { // all of them, so that the time tells nothing
			if sameDigest(digest, s.Digest) && k.o.Clock().Before(s.Until) {
				at = i
			}
		}
	}
	if at < 0 {
		return at, &memory.Error{Code: memory.Denied, Rule: "unknown invitation", Message: "the invitation is not known here, was accepted, or has expired: ask for another"}
	}
	return at, nil
}

// Join accepts an invitation: it gives the key for a device, once.
func (k *Keys) Join(code, device string) (Key, string, error) {
	k.changing.Lock()
	defer k.changing.Unlock()
	file := k.snapshot()
	at, err := k.invited(file, code)
	if err != nil {
		return Key{}, "", err
	}
	now := k.o.Clock().UTC()
	g := file.Invitations[at].Grant
	g.Device = cmp.Or(device, g.Device)
	if g, err = g.normal(now); err != nil {
		return Key{}, "", invalid("join: %v", err)
	}
	file.Keys = k.withoutPast(file.Keys)
	if len(file.Keys) >= MaxKeys {
		return Key{}, "", exhausted(MaxKeys, "the server has %d keys, which is the limit", MaxKeys)
	}
	s, secret := newKey(Key{Grant: g, Created: now})
	file.Keys = append(file.Keys, s)
	file.Invitations = slices.Delete(file.Invitations, at, at+1)
	if err := k.replace(file); err != nil {
		return Key{}, "", fmt.Errorf("join: %w", err)
	}
	return s.Key, secret, nil
}

// Withdraw ends an invitation that nobody accepted.
func (k *Keys) Withdraw(id string) (Invitation, error) {
	k.changing.Lock()
	defer k.changing.Unlock()
	file := k.snapshot()
	at := slices.IndexFunc(file.Invitations, func(s storedInvitation) bool { return s.ID == id })
	if at < 0 {
		return Invitation{}, notFound("there is no invitation %.64q: alcove hub list shows all", id)
	}
	gone := file.Invitations[at].Invitation
	file.Invitations = slices.Delete(file.Invitations, at, at+1)
	if err := k.replace(file); err != nil {
		return Invitation{}, fmt.Errorf("withdraw an invitation: %w", err)
	}
	return gone, nil
}
