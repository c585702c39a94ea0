package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/alcove-memory/alcove/host/capture"
	"github.com/alcove-memory/alcove/host/capture/project"
	"github.com/alcove-memory/alcove/host/memory/importer"
	"github.com/alcove-memory/alcove/host/memory/portable"
)

// Transcripts is where the turns of clients' transcripts are kept.
type Transcripts struct {
	Folders func(Client) []string // in which a client has its transcripts
	Sink    capture.Sink
	Cursors *capture.Cursors
}

// keepShare is the share of the time that is left in which turns are kept; the rest is for noting the run.
const keepShare = 0.9

// begin notes the session's transcript, so that its turns are kept though the session may be killed.
func (s session) begin() error {
	source, known := s.source()
	if !known || !source.Fits(s.Transcripts.Folders(s.message.Client), s.message.Transcript) {
		return nil
	}
	return s.Journal.Begin(s.message.Client, s.message.Transcript)
}

// source is that of the client's transcripts; known is false if they are not read.
func (s session) source() (_ capture.Source, known bool) {
	if s.Transcripts == nil {
		return capture.Source{}, false
	}
	return capture.SourceOf(capture.Client(s.message.Client))
}

// keep takes the new turns of the session's transcript to the sink, and those of sessions that were killed, or that earlier events had no
// time, server or disk for. What there is no time for is left to the next event.
func (s session) keep(ctx context.Context) error {
	source, known := s.source()
	if !known {
		return nil
	}
	if end, limited := ctx.Deadline(); limited {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, time.Duration(keepShare*float64(time.Until(end))))
		defer cancel()
	}
	k := &keeper{session: s, source: source}
	if s.message.Transcript != "" {
		k.take(ctx, s.message.Transcript, s.message.Event == SessionEnd)
	}
	for _, transcript := range s.Journal.unread(s.message.Client) {
		if k.failed == nil && transcript != s.message.Transcript {
			k.take(ctx, transcript, false)
		}
	}
	if errors.Is(k.failed, context.DeadlineExceeded) && k.stored > 0 {
		k.failed = nil // the next event goes on
	}
	return errors.Join(append(k.wrong, k.failed)...)
}

// keeper takes turns to the sink at one event.
type keeper struct {
	session
	source capture.Source
	stored int     // memories
	failed error   // which no other transcript would escape
	wrong  []error // paths that are refused, and lines that cannot be read
}

// take takes the new turns of a transcript.
func (k *keeper) take(ctx context.Context, transcript string, ends bool) {
	path, err := k.source.Within(k.Transcripts.Folders(k.message.Client), transcript)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) { // a client may write none
			k.wrong = append(k.wrong, fmt.Errorf("refuse the transcript that %s names: %w", k.message.Client.title(), err))
		}
		k.Journal.End(k.message.Client, transcript)
		return
	}
	read := stampOf(path)
	c := &capture.Collector{
		Root: path, Sink: k, Cursors: k.Transcripts.Cursors, Namespace: k.Options.Namespace, Clock: k.Clock,
		Names: func() (project.Names, error) { return k.Options.Names, nil },
		Reader: capture.Reader{Source: k.source, Wrong: func(err *importer.InputError) error {
			k.wrong = append(k.wrong, err)
			return nil
		}},
	}
	if err := c.Collect(ctx); err != nil {
		k.failed = errors.Join(fmt.Errorf("keep the turns of %s: %w", path, err), k.Journal.Begin(k.message.Client, transcript))
		return
	}
	if ends {
		k.Journal.End(k.message.Client, transcript)
		return
	}
	k.failed = k.Journal.Read(k.message.Client, transcript, read)
}

// Store implements capture.Sink.
func (k *keeper) Store(ctx context.Context, memories []portable.Memory) error {
	err := k.Transcripts.Sink.Store(ctx, memories)
	if err == nil {
		k.stored += len(memories)
	}
	return err
}

// stampOf changes when a file does.
func stampOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano())
}
