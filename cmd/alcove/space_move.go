package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/sdk/client"
)

const (
	movedWithin = time.Minute // after which a server is asked no more how a move ended
	movePause   = 50 * time.Millisecond
)

func (a *app) spaceMoveCommand() *cobra.Command {
	var to, file string
	var remove bool
	c := &cobra.Command{
		Use: "move [NAME]", Short: "Move a space to a database, or back to its directory, while it is used", Args: arguments(0, 1),
		Long: `Move the store of a space, or without a name of the server's own memory, from its data directory to a PostgreSQL database, or back. Clients
go on meanwhile; at the end they wait for a moment. The copy is verified before: a bundle of both is the same, byte for byte. A move that is
interrupted leaves the space where it was, or where it is to be. What it was moved from is kept, is not opened any more, and is removed by
--remove.`,
		Example: `  alcove space move work --to 'postgres://alcove@db.example/alcove'
  alcove space move work --to-file store.url       # a URL with a password
  alcove space move work --remove                  # the files that were left
  alcove space move work --to directory`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.space = args[0]
			}
			r, err := moveTo(to, file)
			if err == nil && r == (operator.MoveStoreRequest{}) && !remove {
				err = errors.New("name the destination: --to with the URL of a database or with \"directory\", --to-file, or --remove")
			}
			if err != nil {
				return &usageError{err}
			}
			if r != (operator.MoveStoreRequest{}) {
				if err := a.moveStore(c.Context(), r); err != nil {
					return err
				}
			}
			if remove {
				return command(c.Context(), a, operator.RemoveMoved, operator.None{})
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.StringVar(&to, "to", "", "the URL of a database, as in postgres://USER@HOST/DATABASE?space=NAME, without a password; or \"directory\"")
	flags.StringVar(&file, "to-file", "", "a file with that URL, which the server reads when it starts")
	flags.BoolVar(&remove, "remove", false, "remove the copy that the move left behind")
	return c
}

// moveTo is where a space is to be moved; the zero request: nowhere.
func moveTo(to, file string) (r operator.MoveStoreRequest, err error) {
	switch {
	case to != "" && file != "":
		return r, errors.New("--to and --to-file name the same thing: give one of them")
	case file != "":
		if _, err := space.ReadURL(file); err != nil {
			return r, err
		}
		r.File, err = filepath.Abs(file)
		return r, err
	case to == "" || to == space.InDirectory:
		r.Store = to
		return r, nil
	}
	if u, err := url.Parse(to); err == nil {
		if _, secret := u.User.Password(); secret || u.Query().Has("password") {
			return r, errors.New("--to has a password, which every user of this machine can read in the list of processes: put the URL into a file for --to-file")
		}
	}
	if _, err := space.DriverFor(to); err != nil {
		return r, err
	}
	r.Store = to
	return r, nil
}

// moveStore moves the store, and waits until the server has it open again.
func (a *app) moveStore(ctx context.Context, r operator.MoveStoreRequest) error {
	begun, err := call(ctx, a, operator.MoveStore, r)
	if err != nil {
		return err
	}
	ended, err := a.moveEnded(ctx, begun)
	if err != nil {
		return err
	}
	if ended.Error != "" {
		return &client.Error{Code: client.Unavailable, Message: "the space was copied and stays where it was: " + ended.Error}
	}
	if a.asJSON {
		return a.printJSON(struct {
			operator.MoveBegun
			Held time.Duration `json:"held_ns"`
		}{begun, ended.Held})
	}
	held := ""
	if ended.Held > 0 {
		held = fmt.Sprintf("; nothing could be written for %s", ended.Held.Round(time.Millisecond))
	}
	return a.printf("moved to %s: %s, %.1f MB in %s%s\n", begun.To, counted(begun.Entries, "entry"), float64(begun.Bytes)/1e6, begun.Took.Round(time.Millisecond), held)
}

// moveEnded asks how a move ended, which is known when the server has opened the space again.
func (a *app) moveEnded(ctx context.Context, begun operator.MoveBegun) (ended operator.MoveEnded, err error) {
	ctx, cancel := context.WithTimeout(ctx, movedWithin)
	defer cancel()
	for {
		ended, err = query(ctx, a, operator.GetMove)
		if err == nil && ended.Move == begun.Move {
			return ended, nil
		}
		if gone := (*client.Error)(nil); errors.As(err, &gone) && gone.Code == client.NotFound && strings.HasSuffix(gone.Message, begun.To) {
			return operator.MoveEnded{Move: begun.Move, To: begun.To}, nil // servers that share spaces have it no more
		}
		select {
		case <-ctx.Done():
			return ended, &client.Error{Code: client.Timeout, Message: fmt.Sprintf("the server does not say how the move to %s ended: its log does: %v", begun.To, err)}
		case <-time.After(movePause):
		}
	}
}
