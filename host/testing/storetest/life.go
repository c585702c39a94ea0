package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alcove-memory/alcove/host/store"
)

func blobs(b *checker) {
	ctx := context.Background()
	blob, err := b.PutBlob(ctx, "s/1", strings.NewReader("hello"))
	b.ok(err)
	b.want("its size and digest", fmt.Sprintf("%d %s", blob.Size, blob.Digest[:8]), "5 2cf24dba")
	_, err = b.PutBlob(ctx, "s/2", strings.NewReader("hello"))
	b.ok(err)
	r, err := b.GetBlob(ctx, "s/1")
	b.ok(err)
	b.ok(b.DropBlob(ctx, "s/1"))
	b.ok(b.DropBlob(ctx, "s/1"))
	_, err = b.PutBlob(ctx, "s/2", strings.NewReader("other"))
	b.ok(err)
	content, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
	b.ok(err)
	b.want("an open reader's", bytes.Equal(content, []byte("hello")), true)
	b.ok(r.Close())
	if _, err := b.GetBlob(ctx, "s/1"); !errors.Is(err, store.ErrNotFound) {
		b.Errorf("a dropped blob: %v", err)
	}
	list, err := b.Blobs(ctx, "s/")
	b.ok(err)
	b.want("the list", fmt.Sprintf("%d %s %d", len(list), list[0].Name, list[0].Size), "1 s/2 5")
}

func reopening(b *checker) {
	ctx := context.Background()
	b.put(1, "k", "1")
	request := store.Request{ID: "r", Digest: [32]byte{7}}
	done := b.commit(store.Batch{Writes: []store.Write{{Branch: 1, Key: key("l"), Value: []byte("2")}}, Request: request})
	_, err := b.PutBlob(ctx, "b", strings.NewReader("blob"))
	b.ok(err)
	b.ok(b.Close())
	b.Engine = b.open(b.T, b.dir, b.clock)
	p, err := b.Head(ctx)
	b.ok(err)
	b.want("the head", p, done.Point)
	b.want("the entries", b.list(head(1), store.Range{}), "k=1 l=2")
	again := b.commit(store.Batch{Request: request})
	b.want("the request", fmt.Sprint(again.Replayed, again.Version), fmt.Sprint(true, done.Version))
	list, err := b.Blobs(ctx, "")
	b.ok(err)
	b.want("the blobs", len(list), 1)
}

func closing(b *checker) {
	ctx := context.Background()
	b.put(1, "k", "1")
	b.ok(b.Close())
	if _, err := b.Commit(ctx, store.Batch{}); !errors.Is(err, store.ErrClosed) {
		b.Errorf("commit: %v", err)
	}
	if _, err := b.Head(ctx); !errors.Is(err, store.ErrClosed) {
		b.Errorf("head: %v", err)
	}
	b.Engine = b.open(b.T, b.dir, b.clock)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := b.Commit(cancelled, store.Batch{}); !errors.Is(err, context.Canceled) {
		b.Errorf("a cancelled commit: %v", err)
	}
}
