package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/cmd/release/channel"
	"github.com/alcove-memory/alcove/cmd/release/product"
)

// earliest is the first time that a zip can tell.
const earliest = 315532800

// runPack makes the artefacts of channels from the programs in a release's folder.
func runPack(ctx context.Context, args []string, out io.Writer) error {
	var r product.Release
	flags := releaseFlags("pack", &r)
	flags.StringVar(&r.Contact, "contact", "packages@alcove.invalid", "the address of who publishes the packages")
	seconds := flags.Int64("time", earliest, "of the commit, in seconds since 1970: the time of all that is packed")
	manual := flags.String("manual", "bin/manual", "the folder that alcove manual wrote")
	source := flags.String("source", ".", "the folder of the repository")
	only := flags.String("only", "", "the channels to make, with spaces between them; empty: all")
	if err := parse(flags, args, &r); err != nil {
		return err
	}
	r.Time = time.Unix(max(*seconds, earliest), 0).UTC()
	platforms, err := channel.Find(r)
	if err != nil {
		return err
	}
	channels, err := chosen(strings.Fields(*only))
	if err != nil {
		return err
	}
	return pack(ctx, out, &channel.Material{Release: r, Platforms: platforms, Source: *source, Manual: *manual}, channels)
}

func chosen(names []string) (list []channel.Channel, err error) {
	if len(names) == 0 {
		return channel.All(), nil
	}
	for _, name := range names {
		i := slices.IndexFunc(channel.All(), func(c channel.Channel) bool { return c.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no channel %q", name)
		}
		list = append(list, channel.All()[i])
	}
	return list, nil
}

func pack(ctx context.Context, out io.Writer, m *channel.Material, channels []channel.Channel) error {
	for _, c := range channels {
		fmt.Fprintf(out, "pack %s\n", c.Name)
		if err := c.Make(ctx, m); err != nil {
			return fmt.Errorf("make what %s takes: %w", c.Name, err)
		}
	}
	return nil
}
