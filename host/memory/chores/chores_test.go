package chores

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/await"
)

func TestBackgroundWorkThatFailedIsTriedAgain(t *testing.T) {
	c := New(slog.New(slog.DiscardHandler))
	c.retry = time.Millisecond
	ctx, stop := context.WithDeadline(t.Context(), await.Deadline())
	defer stop()
	go c.Run(ctx)
	attempts, worked := 0, make(chan struct{})
	c.Add("three attempts", func(context.Context) error {
		if attempts++; attempts < 3 {
			return errors.New("not yet")
		}
		close(worked)
		return nil
	})
	select {
	case <-worked:
	case <-ctx.Done():
		t.Fatal("it was not tried three times")
	}
}
