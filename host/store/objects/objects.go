// Package objects keeps backups in a bucket of an object server that speaks S3.
//
// A chain is a folder of objects, as a backup in a folder is one of files: a full part, its increments, and a manifest that lists them. A
// part is valid once the manifest has it. What is written is kept on this machine until then, so that an interrupted upload goes on.
package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/encrypt"

	"github.com/alcove-memory/alcove/host/weburl"
)

// Options say how a server is reached.
type Options struct {
	Endpoint    string // its address, such as https://objects.example; empty: AWS
	Region      string // empty: us-east-1
	PathStyle   bool   // the bucket is in the path, not in the host's name
	Encryption  string // by the server: empty, aes256, kms, or kms:KEY
	Credentials Credentials
}

const attempts = 4 // of a request that fails

// Bucket is a place in a bucket.
type Bucket struct {
	at    Location
	core  *minio.Core
	sse   encrypt.ServerSide
	plain bool // what is sent there, others on the way can read
}

// Open returns a place in a bucket. Nothing is sent yet.
func Open(at Location, o Options) (*Bucket, error) {
	if err := o.Credentials.check(); err != nil {
		return nil, fmt.Errorf("find the credentials: %w", err)
	}
	sse, err := encryption(o.Encryption)
	if err != nil {
		return nil, err
	}
	if o.Region == "" {
		o.Region = "us-east-1"
	}
	if o.Endpoint == "" {
		o.Endpoint = "https://s3." + o.Region + ".amazonaws.com"
	}
	u, err := url.Parse(o.Endpoint)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
		return nil, errors.New("the endpoint of an object server is an address such as https://objects.example, without a path or a name") // it may have a password
	}
	lookup := minio.BucketLookupAuto
	if o.PathStyle {
		lookup = minio.BucketLookupPath
	}
	core, err := minio.NewCore(u.Host, &minio.Options{
		Creds:  credentials.NewStaticV4(o.Credentials.ID, o.Credentials.Secret, o.Credentials.Session),
		Secure: u.Scheme == "https", Region: o.Region, BucketLookup: lookup, Transport: transport(), MaxRetries: attempts,
	})
	if err != nil {
		return nil, fmt.Errorf("use the object server %s: %w", u.Host, err)
	}
	return &Bucket{at: at, core: core, sse: sse, plain: u.Scheme == "http" && !weburl.IsHere(u.Hostname())}, nil
}

func encryption(text string) (encrypt.ServerSide, error) {
	kind, key, _ := strings.Cut(text, ":")
	switch {
	case text == "":
		return nil, nil
	case text == "aes256":
		return encrypt.NewSSE(), nil
	case kind == "kms":
		return encrypt.NewSSEKMS(key, nil)
	}
	return nil, fmt.Errorf("the server's encryption is aes256, kms, or kms:KEY, not %.100q", text)
}

// readAll returns an object of at most so many bytes, and its tag.
func (b *Bucket) readAll(ctx context.Context, key string, most int64) ([]byte, string, error) {
	body, info, _, err := b.core.GetObject(within(ctx, attempts, most), b.at.Bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, "", b.explain("read "+key, err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, "", fmt.Errorf("read %s in %s: %w", key, b.at, err)
	}
	return data, info.ETag, nil
}

// errTaken means that somebody else wrote an object meanwhile.
var errTaken = errors.New("another backup was made there meanwhile: this one is dropped")

// replace writes an object if it still has a tag, or, without one, if it is not there.
func (b *Bucket) replace(ctx context.Context, key string, data []byte, tag string) error {
	o := minio.PutObjectOptions{ServerSideEncryption: b.sse, ContentType: "application/json"}
	if o.SetMatchETag(tag); tag == "" {
		o = minio.PutObjectOptions{ServerSideEncryption: b.sse, ContentType: "application/json"}
		o.SetMatchETagExcept("*")
	}
	sum, md5 := digests(data)
	_, err := b.core.PutObject(within(ctx, attempts, mostAnswer), b.at.Bucket, key, bytes.NewReader(data), int64(len(data)), md5, sum, o)
	switch code := minio.ToErrorResponse(err); {
	case err == nil:
		return nil
	case code.StatusCode == http.StatusPreconditionFailed || code.StatusCode == http.StatusConflict:
		return fmt.Errorf("write %s in %s: %w", key, b.at, errTaken)
	}
	return b.explain("write "+key, err)
}

// explain says what an error of the server means.
func (b *Bucket) explain(what string, err error) error {
	answer := minio.ToErrorResponse(err)
	switch answer.Code {
	case minio.NoSuchKey:
		return fmt.Errorf("%s in %s: %w", what, b.at, fs.ErrNotExist)
	case minio.NoSuchBucket:
		return fmt.Errorf("%s: there is no bucket %s there: make it first", what, b.at.Bucket)
	case minio.AccessDenied, "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken":
		return fmt.Errorf("%s in %s: the server refuses the credentials (%s)", what, b.at, answer.Code)
	case "":
		return fmt.Errorf("%s in %s: %w", what, b.at, err)
	}
	return fmt.Errorf("%s in %s: %.40s: %.500s", what, b.at, answer.Code, answer.Message)
}
