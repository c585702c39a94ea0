package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/alcove-memory/alcove/cmd/release/container"
	"github.com/alcove-memory/alcove/cmd/release/product"
)

// releaseFlags are those of all channels.
func releaseFlags(name string, r *product.Release) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.StringVar(&r.Version, "version", "", "of the release, as in its tag")
	flags.StringVar(&r.Dir, "dir", "bin/release", "has the programs, and takes what is made")
	return flags
}

// parse reads the flags of a channel.
func parse(flags *flag.FlagSet, args []string, r *product.Release) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if r.Version == "" || flags.NArg() > 0 {
		return fmt.Errorf("%s: give -version, and flags only", flags.Name())
	}
	return nil
}

// made is a command that needs the release alone.
func made(name string, write func(product.Release) error) command {
	return func(_ context.Context, args []string, _ io.Writer) error {
		var r product.Release
		if err := parse(releaseFlags(name, &r), args, &r); err != nil {
			return err
		}
		return write(r)
	}
}

func makeImage(_ context.Context, args []string, out io.Writer) error {
	var r product.Release
	if err := parse(releaseFlags("image", &r), args, &r); err != nil {
		return err
	}
	index, err := container.Write(r)
	if err == nil {
		_, err = fmt.Fprintf(out, "%s@%s\n", container.Reference(r), index)
	}
	return err
}

func pushImage(ctx context.Context, args []string, out io.Writer) error {
	var r product.Release
	flags := releaseFlags("push-image", &r)
	to := flags.String("to", "", "another reference than "+container.Repository+":VERSION")
	plain := flags.Bool("plain-http", false, "the registry is on this machine, without TLS")
	if err := parse(flags, args, &r); err != nil {
		return err
	}
	if *to == "" {
		*to = container.Reference(r)
	}
	if err := container.Push(ctx, r, *to, *plain); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "pushed", *to)
	return err
}
