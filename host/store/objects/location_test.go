package objects_test

import (
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/store/objects"
)

func TestPlacesInBucketsAreRead(t *testing.T) {
	for text, want := range map[string]objects.Location{
		"s3://bucket":     {Bucket: "bucket"},
		"s3://bucket/":    {Bucket: "bucket"},
		"s3://bucket/a/b": {Bucket: "bucket", Prefix: "a/b"},
		"s3://bucket/a/20260131T120000Z-9f86d081": {Bucket: "bucket", Prefix: "a", Chain: "20260131T120000Z-9f86d081"},
		"s3://bucket/20260131T120000Z-9f86d081/":  {Bucket: "bucket", Chain: "20260131T120000Z-9f86d081"},
		"s3://bucket/a/20260131T120000Z-9f86d08":  {Bucket: "bucket", Prefix: "a/20260131T120000Z-9f86d08"},
		"s3://bucket/" + strings.Repeat("a", 512): {Bucket: "bucket", Prefix: strings.Repeat("a", 512)},
	} {
		if got, err := objects.ParseLocation(text); err != nil || got != want {
			t.Errorf("%s: got %+v (%v), want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"s3://", "s3:///a", "bucket/a", "s3://B/a", "s3://bucket/../x", "s3://bucket/a//b", "s3://bucket/a b", "s3://bucket/" + strings.Repeat("a", 513)} {
		if got, err := objects.ParseLocation(text); err == nil {
			t.Errorf("%s: got %+v, want an error", text, got)
		}
	}
}

func TestCredentialsOfAProfileAreRead(t *testing.T) {
	text := "# mine\n[default]\naws_access_key_id = a\naws_secret_access_key=b=c\n\n[other]\naws_access_key_id=d\naws_secret_access_key=secret\naws_session_token=t\n[half]\naws_secret_access_key=secret\n"
	for profile, want := range map[string]objects.Credentials{"default": {ID: "a", Secret: "b=c"}, "other": {ID: "d", Secret: "secret", Session: "t"}} {
		if got, err := objects.ParseCredentials([]byte(text), profile); err != nil || got != want {
			t.Errorf("profile %s: got %+v (%v), want %+v", profile, got, err, want)
		}
	}
	for _, profile := range []string{"half", "none"} {
		if _, err := objects.ParseCredentials([]byte(text), profile); err == nil || strings.Contains(err.Error(), "secret\n") || !strings.Contains(err.Error(), profile) {
			t.Errorf("profile %s: %v, want an error that names it alone", profile, err)
		}
	}
}

func FuzzParseLocation(f *testing.F) {
	f.Add("s3://bucket/a/20260131T120000Z-9f86d081")
	f.Fuzz(func(t *testing.T, text string) {
		at, err := objects.ParseLocation(text)
		if err != nil {
			return
		}
		if again, err := objects.ParseLocation(strings.TrimSuffix(at.String()+"/"+at.Chain, "/")); err != nil || again != at {
			t.Errorf("%q: got %+v, and of its text %+v (%v), want the same", text, at, again, err)
		}
	})
}

func FuzzParseCredentials(f *testing.F) {
	f.Add([]byte("[default]\naws_access_key_id = a\naws_secret_access_key = b\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if c, err := objects.ParseCredentials(text, "default"); err == nil && (c.ID == "" || c.Secret == "") {
			t.Errorf("%q: got %+v, want both", text, c)
		}
	})
}
