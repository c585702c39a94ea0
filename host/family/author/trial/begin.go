package trial

import (
	"cmp"
	"context"
	"fmt"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/author/seed"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
)

// mostAtOnce are the records of a commit.
const mostAtOnce = 1_000

// owner may do everything in a space that is thrown away.
func owner() memory.Caller { return memory.Caller{Rights: memory.FullRights()} }

// Fill stores the memories and records of a seed, without hooks. The settings are the family's to be given.
func Fill(ctx context.Context, space *memory.Space, m *abi.Manifest, s seed.Seed) error {
	if len(s.Memories) > 0 {
		if _, err := space.As(owner()).Import(ctx, "", s.Memories, memory.Write{}); err != nil {
			return fmt.Errorf("store what the space begins with: %w", err)
		}
	}
	for len(s.Records) > 0 {
		n := min(len(s.Records), mostAtOnce)
		if err := keep(ctx, space, m, s.Records[:n]); err != nil {
			return fmt.Errorf("store the records that the space begins with: %w", err)
		}
		s.Records = s.Records[n:]
	}
	return nil
}

// keep stores records in one commit.
func keep(ctx context.Context, space *memory.Space, m *abi.Manifest, records []seed.Record) error {
	stage, err := space.As(owner()).Stage(ctx, memory.Default)
	if err != nil {
		return err
	}
	for _, r := range records {
		c, err := collection(m, r.Collection)
		if err != nil {
			return err
		}
		if err := stage.PutRecord(ctx, c, cmp.Or(r.Namespace, memory.Default), r.Key, r.Value, nil); err != nil {
			return fmt.Errorf("record %.80q of %s: %w", r.Key, r.Collection, err)
		}
	}
	_, err = stage.Commit(ctx, memory.Commit{})
	return err
}

// collection is one that the manifest declares.
func collection(m *abi.Manifest, name string) (memory.Collection, error) {
	for _, c := range m.Collections {
		if c.Name == name {
			return ops.CollectionOf(m, c)
		}
	}
	return memory.Collection{}, fmt.Errorf("the manifest of family %s declares no collection %.80q", m.Name, name)
}
