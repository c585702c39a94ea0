package objects

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

const scheme = "s3://"

// Location is a place in a bucket, below which there are chains, or one chain.
type Location struct {
	Bucket string
	Prefix string // without a slash at its ends; may be empty
	Chain  string // its name; empty: the newest
}

// IsLocation reports whether a text names a place in a bucket.
func IsLocation(text string) bool { return strings.HasPrefix(text, scheme) }

// ParseLocation reads s3://BUCKET, s3://BUCKET/PREFIX, or either with the name of a chain behind it.
func ParseLocation(text string) (Location, error) {
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(text, scheme), "/")
	prefix = strings.TrimSuffix(prefix, "/")
	names := regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	keys := regexp.MustCompile(`^[A-Za-z0-9._=/-]{0,512}$`)
	switch {
	case !IsLocation(text) || !names.MatchString(bucket):
		return Location{}, fmt.Errorf("%.200q names no bucket: write s3://BUCKET/PREFIX, with a bucket of 3 to 63 small letters, digits, dots and hyphens", text)
	case !keys.MatchString(prefix) || prefix != "" && path.Clean("/"+prefix) != "/"+prefix:
		return Location{}, fmt.Errorf("the prefix %.200q has something else than letters, digits, and . _ = - between single slashes", prefix)
	}
	at := Location{Bucket: bucket, Prefix: prefix}
	if isChain(path.Base(prefix)) {
		at.Prefix, at.Chain = strings.TrimPrefix(path.Dir("/"+prefix), "/"), path.Base(prefix)
	}
	return at, nil
}

func (l Location) String() string {
	return scheme + strings.TrimSuffix(l.Bucket+"/"+l.Prefix, "/")
}

// below returns the key of a name below the prefix.
func (l Location) below(name string) string {
	if l.Prefix == "" {
		return name
	}
	return l.Prefix + "/" + name
}
