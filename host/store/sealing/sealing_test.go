package sealing_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/alcove-memory/alcove/host/store/sealing"
	"github.com/alcove-memory/alcove/host/testing/must"
)

var text = bytes.Repeat([]byte("walnut "), 50_000)

func sealed(t *testing.T, by *sealing.Sealer) []byte {
	t.Helper()
	var out bytes.Buffer
	w := must.Get(by.Seal(&out))
	must.Get(w.Write(text))
	must.Do(t, w.Close())
	return out.Bytes()
}

func opened(by *sealing.Opener, from []byte) ([]byte, error) {
	r, err := by.Open(bytes.NewReader(from))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func TestWhatIsSealedOpensForItsRecipientsAlone(t *testing.T) {
	t.Parallel()
	ours, theirs := must.Get(age.GenerateX25519Identity()), must.Get(age.GenerateX25519Identity())
	our, their := must.Get(sealing.By([]byte("# ours\n"+ours.String()+"\n"))), must.Get(sealing.By([]byte(theirs.String())))
	for what, c := range map[string]struct {
		by           *sealing.Sealer
		right, wrong *sealing.Opener
	}{
		"for a recipient":   {must.Get(sealing.For(ours.Recipient().String())), our, their},
		"with a passphrase": {must.Get(sealing.WithPassphrase("several words for it")), must.Get(sealing.ByPassphrase("several words for it")), must.Get(sealing.ByPassphrase("several other words"))},
	} {
		s := sealed(t, c.by)
		if bytes.Contains(s, []byte("walnut")) {
			t.Errorf("%s: the sealed text has a word of it, want none", what)
		}
		if got, err := opened(c.right, s); !bytes.Equal(got, text) {
			t.Errorf("%s: got %d bytes, %v, want the text of %d", what, len(got), err, len(text))
		}
		if _, err := opened(c.wrong, s); !errors.Is(err, sealing.ErrWrong) {
			t.Errorf("%s, opened by another: got %v, want ErrWrong", what, err)
		}
		if _, err := opened(nil, s); !errors.Is(err, sealing.ErrSealed) {
			t.Errorf("%s, opened by nobody: got %v, want ErrSealed", what, err)
		}
	}
	both := sealed(t, must.Get(sealing.For(ours.Recipient().String(), theirs.Recipient().String())))
	for _, by := range []*sealing.Opener{our, their} {
		if got, err := opened(by, both); !bytes.Equal(got, text) {
			t.Errorf("for two recipients: got %d bytes, %v, want the text", len(got), err)
		}
	}
}

func TestWhatIsNotSealedIsReadAsItIs(t *testing.T) {
	t.Parallel()
	for _, by := range []*sealing.Opener{nil, must.Get(sealing.ByPassphrase("several words for it"))} {
		for _, plain := range [][]byte{text, nil, []byte("age")} {
			if got, err := opened(by, plain); err != nil || !bytes.Equal(got, plain) {
				t.Errorf("a plain text of %d bytes: got %d, %v, want it", len(plain), len(got), err)
			}
		}
	}
	if got := sealed(t, nil); !bytes.Equal(got, text) {
		t.Errorf("without a sealer: got %d bytes, want the text of %d", len(got), len(text))
	}
}

// Every prefix and every flipped bit ends with an error: nothing wrong is ever read to its end.
func TestWhatWasChangedDoesNotOpen(t *testing.T) {
	t.Parallel()
	identity := must.Get(age.GenerateX25519Identity())
	by := must.Get(sealing.By([]byte(identity.String())))
	s := sealed(t, must.Get(sealing.For(identity.Recipient().String())))
	for at := 0; at < len(s); at += 1 + at/20 {
		if got, err := opened(by, s[:at]); err == nil && at >= len("age-encryption.org/") {
			t.Errorf("cut off after %d bytes: got %d bytes and no error", at, len(got))
		}
		flipped := bytes.Clone(s)
		flipped[at] ^= 4
		if got, err := opened(by, flipped); err == nil && bytes.Equal(got, text) {
			t.Errorf("with a flipped bit in byte %d: got the text and no error", at)
		}
	}
}

func TestWrongRecipientsAndIdentitiesAreRefusedWithoutTheirText(t *testing.T) {
	t.Parallel()
	const secret = "AGE-SECRET-KEY-1QQQQ"
	for what, err := range map[string]error{
		"no recipient":       second(sealing.For("")),
		"a wrong recipient":  second(sealing.For("age1xyz")),
		"a short passphrase": second(sealing.WithPassphrase("walnut")),
		"a wrong identity":   second(sealing.By([]byte(secret))),
		"a long file":        second(sealing.By(bytes.Repeat([]byte("#\n"), 1<<20))),
		"an empty file":      second(sealing.By(nil)),
	} {
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v, want an error without the secret", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
