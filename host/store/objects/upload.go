package objects

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/alcove-memory/alcove/host/store/backup"
)

const (
	pieceSize  = 8 << 20 // bytes of a piece of an upload, at least
	mostPieces = 10_000
	listed     = 1000 // pieces in an answer
	encrypted  = "X-Amz-Server-Side-Encryption"
)

// pieceOf returns the size of the pieces of an object.
func pieceOf(size int64) int64 {
	const step = 1 << 20
	return max(pieceSize, (size/mostPieces+step)/step*step)
}

// digests returns the digests that a server compares what it gets with.
func digests(data []byte) (sha256Hex, md5Base64 string) {
	sum, old := sha256.Sum256(data), md5.Sum(data)
	return hex.EncodeToString(sum[:]), base64.StdEncoding.EncodeToString(old[:])
}

// upload is a part on its way to the bucket.
type upload struct {
	to    *Bucket
	spool *spool
	j     journal
	file  *os.File
	tell  func(done, all int64)
}

func (u *upload) key() string { return u.to.at.below(u.j.Chain + "/" + u.j.Part.File) }

// run sends what the server has not got yet.
func (u *upload) run(ctx context.Context) error {
	var err error
	if u.file, err = u.spool.open(); err != nil {
		return err
	}
	defer u.file.Close()
	if u.j.Part.Stored <= u.j.Piece {
		return u.whole(ctx)
	}
	if err := u.resume(ctx); err != nil {
		return err
	}
	for int64(len(u.j.Tags))*u.j.Piece < u.j.Part.Stored {
		if err := u.piece(ctx); err != nil {
			return err
		}
	}
	return u.complete(ctx)
}

// whole sends a part in one request.
func (u *upload) whole(ctx context.Context) error {
	data, err := u.read(0)
	if err != nil {
		return err
	}
	sum, md5 := digests(data)
	_, err = u.to.core.PutObject(within(ctx, attempts, mostAnswer), u.to.at.Bucket, u.key(), bytes.NewReader(data), int64(len(data)), md5, sum, u.options())
	if err != nil {
		return u.to.explain("upload "+u.key(), err)
	}
	return nil
}

func (u *upload) options() minio.PutObjectOptions {
	return minio.PutObjectOptions{ServerSideEncryption: u.to.sse, ContentType: "application/octet-stream"}
}

// resume finds out which pieces the server has of an upload, or begins one.
func (u *upload) resume(ctx context.Context) error {
	if u.j.Upload != "" {
		have, err := u.pieces(ctx)
		if err == nil {
			n := 0
			for n < len(u.j.Tags) && have[n+1] == u.j.Tags[n] {
				n++
			}
			u.j.Tags = u.j.Tags[:n]
			return nil
		}
		if minio.ToErrorResponse(err).Code != minio.NoSuchUpload {
			return u.to.explain("go on with the upload of "+u.key(), err)
		}
	}
	name, err := u.to.core.NewMultipartUpload(within(ctx, attempts, mostAnswer), u.to.at.Bucket, u.key(), u.options())
	if err != nil {
		return u.to.explain("upload "+u.key(), err)
	}
	u.j.Upload, u.j.Tags = name, nil
	return u.spool.save(u.j)
}

// pieces returns the tags of the pieces that the server has, by their numbers.
func (u *upload) pieces(ctx context.Context) (map[int]string, error) {
	have := map[int]string{}
	ctx = within(ctx, mostRequests, mostAnswer)
	for after := 0; ; {
		answer, err := u.to.core.ListObjectParts(ctx, u.to.at.Bucket, u.key(), u.j.Upload, after, listed)
		if err != nil {
			return nil, err
		}
		for _, p := range answer.ObjectParts {
			have[p.PartNumber] = strings.Trim(p.ETag, `"`)
		}
		if !answer.IsTruncated || answer.NextPartNumberMarker <= after || len(have) > mostPieces {
			return have, nil
		}
		after = answer.NextPartNumberMarker
	}
}

// piece sends the next piece, and records that the server has it.
func (u *upload) piece(ctx context.Context) error {
	n := len(u.j.Tags)
	data, err := u.read(int64(n) * u.j.Piece)
	if err != nil {
		return err
	}
	sum, md5 := digests(data)
	sent, err := u.to.core.PutObjectPart(within(ctx, attempts, mostAnswer), u.to.at.Bucket, u.key(), u.j.Upload, n+1, bytes.NewReader(data), int64(len(data)),
		minio.PutObjectPartOptions{Md5Base64: md5, Sha256Hex: sum, SSE: u.to.sse})
	if err != nil {
		return u.to.explain(fmt.Sprintf("upload piece %d of %s", n+1, u.key()), err)
	}
	u.j.Tags = append(u.j.Tags, strings.Trim(sent.ETag, `"`))
	if u.tell != nil {
		u.tell(int64(n)*u.j.Piece+int64(len(data)), u.j.Part.Stored)
	}
	return u.spool.save(u.j)
}

// read returns the piece from an offset on.
func (u *upload) read(from int64) ([]byte, error) {
	data := make([]byte, min(u.j.Piece, u.j.Part.Stored-from))
	_, err := u.file.ReadAt(data, from)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read what is to be uploaded: %w", err)
	}
	return data, nil
}

func (u *upload) complete(ctx context.Context) error {
	list := make([]minio.CompletePart, len(u.j.Tags))
	for i, tag := range u.j.Tags {
		list[i] = minio.CompletePart{PartNumber: i + 1, ETag: tag}
	}
	_, err := u.to.core.CompleteMultipartUpload(within(ctx, attempts, mostAnswer), u.to.at.Bucket, u.key(), u.j.Upload, list, minio.PutObjectOptions{})
	if err != nil {
		return u.to.explain("complete the upload of "+u.key(), err)
	}
	return nil
}

// check makes sure that the server has as many bytes as were sent.
func (u *upload) check(ctx context.Context) error {
	info, err := u.to.core.StatObject(within(ctx, attempts, mostAnswer), u.to.at.Bucket, u.key(), minio.StatObjectOptions{})
	if err != nil {
		return u.to.explain("look at "+u.key(), err)
	}
	if info.Size != u.j.Part.Stored {
		return fmt.Errorf("%s in %s has %d bytes after an upload of %d: the backup is not complete", u.key(), u.to.at, info.Size, u.j.Part.Stored)
	}
	if u.to.sse == nil {
		return nil
	}
	asked := http.Header{}
	u.to.sse.Marshal(asked)
	if want, got := asked.Get(encrypted), info.Metadata.Get(encrypted); got != want {
		return fmt.Errorf("the server was asked to encrypt %s with %s, and says %.40q: it may be there in plain text, and is not part of the backup: encrypt it with --recipient, before it is sent", u.key(), want, got)
	}
	return nil
}

// describe completes the manifest's entry of a part by what is stored of it.
func describe(s *spool, p *backup.Part) error {
	f, err := s.open()
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if p.Stored, err = io.Copy(sum, f); err != nil {
		return err
	}
	p.StoredSHA256 = hex.EncodeToString(sum.Sum(nil))
	return nil
}
