package memory

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
)

// Limits bound a request. Zero fields mean the default in the comment.
type Limits struct {
	Key       int // bytes of a key; 1 KiB
	Value     int // bytes of a value, or of an event's data; 1 MiB
	Tags      int // tags of a memory; 64
	Tag       int // bytes of a tag, type or link; 128 (links may be as long as a key)
	Name      int // characters of a branch's, namespace's or event's name; 128
	Batch     int // items of one request; 1,000
	Depth     int // nesting of a value; 512
	Metadata  int // bytes of a memory's metadata; 64 KiB
	MergeKeys int // keys that one diff or merge may compare; 200,000
	Page      int // versions or events in one answer; 1,000
	Deleted   int // deleted branches that can be restored; 100

	Staged      int // entries, events and counts that a stage may change; 50,000
	StagedBytes int // bytes of a stage's changes; 64 MiB
	StageReads  int // entries that a stage may read; 100,000: each is checked again at its commit
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Key:       cmp.Or(l.Key, 1<<10),
		Value:     cmp.Or(l.Value, 1<<20),
		Tags:      cmp.Or(l.Tags, 64),
		Tag:       cmp.Or(l.Tag, 128),
		Name:      cmp.Or(l.Name, 128),
		Batch:     cmp.Or(l.Batch, 1000),
		Deleted:   cmp.Or(l.Deleted, 100),
		Depth:     cmp.Or(l.Depth, 512),
		Metadata:  cmp.Or(l.Metadata, 64<<10),
		MergeKeys: cmp.Or(l.MergeKeys, 200_000),
		Page:      cmp.Or(l.Page, 1000),

		Staged:      cmp.Or(l.Staged, 50_000),
		StagedBytes: cmp.Or(l.StagedBytes, 64<<20),
		StageReads:  cmp.Or(l.StageReads, 100_000),
	}
}

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._/-]+$`) })

// checkName refuses an invalid name of a branch or namespace; what is "branch" or "namespace".
func (l Limits) checkName(what, name string) error {
	if name == "" {
		return invalid("a %s needs a name", what)
	}
	if len(name) > l.Name {
		return invalid("%s name has %d characters: at most %d are allowed", what, len(name), l.Name)
	}
	if !nameForm().MatchString(name) {
		return invalid("%s name %q may hold only letters, digits and . _ / -", what, name)
	}
	return nil
}

func (l Limits) checkPlace(p Location) (Location, error) {
	p = Location{Branch: cmp.Or(p.Branch, Default), Namespace: cmp.Or(p.Namespace, Default)}
	if err := l.checkName("branch", p.Branch); err != nil {
		return p, err
	}
	if p.Namespace == AllNamespaces {
		return p, invalid("namespace %q means all namespaces: this needs one, so name it", p.Namespace)
	}
	return p, l.checkName("namespace", p.Namespace)
}

func (l Limits) checkKey(key string) error {
	if key == "" {
		return invalid("key is empty: give the key, or search for it")
	}
	if strings.ContainsRune(key, 0) {
		return invalid("key has a NUL character, which readers of keys take for their end: leave it out")
	}
	return l.checkText("key", key, l.Key)
}

// checkText refuses text that is too long, in bytes, or not UTF-8.
func (l Limits) checkText(what, text string, limit int) error {
	if len(text) > limit {
		return invalid("%s has %d bytes: at most %d are allowed", what, len(text), limit)
	}
	if !utf8.ValidString(text) {
		return invalid("%s is not valid UTF-8", what)
	}
	return nil
}

func (l Limits) checkJSON(what string, value json.RawMessage, limit int) error {
	if len(value) == 0 {
		return invalid("%s is missing: give any JSON value", what)
	}
	if len(value) > limit {
		return invalid("%s has %d bytes: at most %d are allowed; split it into several", what, len(value), limit)
	}
	if !utf8.Valid(value) {
		return invalid("%s is not valid UTF-8", what)
	}
	if depth := jsontext.Depth(value); depth > l.Depth {
		return invalid("%s is nested %d deep: at most %d are allowed", what, depth, l.Depth)
	}
	if !json.Valid(value) {
		return invalid("%s is not valid JSON", what)
	}
	return nil
}

func (l Limits) checkItem(it Item) error {
	if err := l.checkJSON("value", it.Value, l.Value); err != nil {
		return err
	}
	if it.Key != "" {
		if err := l.checkKey(it.Key); err != nil {
			return err
		}
	}
	if len(it.Tags) > l.Tags {
		return invalid("%d tags: at most %d are allowed", len(it.Tags), l.Tags)
	}
	for _, tag := range append(it.Tags[:len(it.Tags):len(it.Tags)], it.Type) {
		if err := l.checkText("tag or type", tag, l.Tag); err != nil {
			return err
		}
	}
	return l.checkParticulars(it)
}

func (l Limits) checkParticulars(it Item) error {
	if len(it.Links)+len(it.Supersedes) > 2*l.Tags {
		return invalid("%d links: at most %d are allowed", len(it.Links)+len(it.Supersedes), 2*l.Tags)
	}
	for _, links := range [][]string{it.Links, it.Supersedes} {
		for _, link := range links {
			if err := l.checkKey(link); err != nil {
				return err
			}
		}
	}
	if it.Importance != nil && !(*it.Importance >= 0 && *it.Importance <= 1) {
		return invalid("importance is %v: it goes from 0 to 1", *it.Importance)
	}
	if err := checkState(it.State); err != nil {
		return err
	}
	if err := it.Vector.check(); err != nil {
		return err
	}
	return l.checkMetadata(it.Metadata)
}

func (l Limits) checkMetadata(metadata map[string]json.RawMessage) error {
	size := 0
	for name, value := range metadata {
		if err := l.checkText("metadata name", name, l.Key); err != nil {
			return err
		}
		if err := l.checkJSON("metadata "+name, value, l.Metadata); err != nil {
			return err
		}
		size += len(name) + len(value)
	}
	if size > l.Metadata {
		return invalid("metadata has %d bytes: at most %d are allowed", size, l.Metadata)
	}
	return nil
}

func checkState(state State) error {
	switch state {
	case "", Active, Archived, Merged, Pruned:
		return nil
	}
	return invalid("state %q is not one of active, archived, merged, pruned", state)
}
