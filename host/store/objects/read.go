package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/minio/minio-go/v7"
)

const (
	mostOpenings = 20               // of an object that is read, after connections broke
	mostObject   = 10_000 * 5 << 30 // bytes of an object: parts of an upload of the largest size
)

// open returns an object of a size.
func (b *Bucket) open(ctx context.Context, key string, size int64) (io.ReadCloser, error) {
	if size < 1 || size > mostObject {
		return nil, fmt.Errorf("%s has %d bytes: at most %d", key, size, int64(mostObject))
	}
	r := &reader{ctx: ctx, from: b, key: key, size: size}
	return r, r.connect()
}

// reader reads an object, and goes on with it where a connection broke.
type reader struct {
	ctx      context.Context
	from     *Bucket
	key      string
	size, at int64
	tag      string // so that no other object's content goes on
	openings int
	body     io.ReadCloser
}

func (r *reader) connect() error {
	o := minio.GetObjectOptions{}
	if r.at > 0 {
		if err := errors.Join(o.SetRange(r.at, 0), o.SetMatchETag(r.tag)); err != nil {
			return err
		}
	}
	r.openings++
	body, info, _, err := r.from.core.GetObject(within(r.ctx, attempts, r.size-r.at), r.from.at.Bucket, r.key, o)
	if err != nil {
		return r.from.explain("read "+r.key, err)
	}
	if info.Size != r.size-r.at {
		return errors.Join(fmt.Errorf("%s in %s has %d bytes, and should have %d: it was truncated or changed", r.key, r.from.at, r.at+info.Size, r.size), body.Close())
	}
	r.body, r.tag = body, info.ETag
	return nil
}

func (r *reader) Read(b []byte) (int, error) {
	for r.at < r.size {
		if r.body == nil {
			if err := r.connect(); err != nil {
				return 0, err
			}
		}
		n, err := r.body.Read(b[:min(int64(len(b)), r.size-r.at)])
		r.at += int64(n)
		if n > 0 || err == nil {
			return n, nil
		}
		if r.openings == mostOpenings || r.ctx.Err() != nil {
			return 0, fmt.Errorf("read %s in %s: the connection broke %d times, at last after %d of %d bytes: %w", r.key, r.from.at, r.openings, r.at, r.size, err)
		}
		if err := errors.Join(r.Close(), r.pause()); err != nil {
			return 0, err
		}
	}
	return 0, io.EOF
}

// pause waits before the next connection, longer each time.
func (r *reader) pause() error {
	select {
	case <-r.ctx.Done():
		return r.ctx.Err()
	case <-time.After(time.Duration(r.openings) * 50 * time.Millisecond):
		return nil
	}
}

func (r *reader) Close() error {
	if r.body == nil {
		return nil
	}
	err := r.body.Close()
	r.body = nil
	return err
}
