package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store/datadir"
)

const longestStore = 8 << 10 // bytes of the URL of a store

// storeURL is the URL of the database that has the store; empty: the data directory has it.
func (a *app) storeURL() (string, error) {
	switch {
	case a.store != "" && a.storeFile != "":
		return "", &usageError{errors.New("--store and --store-file name the same thing: give one of them")}
	case a.storeFile != "":
		return readStoreFile(a.storeFile)
	case a.store == "":
		return strings.TrimSpace(a.env("ALCOVE_STORE")), nil
	}
	if u, err := url.Parse(a.store); err == nil {
		if _, secret := u.User.Password(); secret || u.Query().Has("password") {
			return "", &usageError{errors.New("--store has a password, which every user of this machine can read in the list of processes: put the URL into a file for --store-file, or into ALCOVE_STORE")}
		}
	}
	return a.store, nil
}

func readStoreFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the URL of the store: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, longestStore+1))
	if err != nil {
		return "", fmt.Errorf("read the URL of the store: %w", err)
	}
	if len(data) > longestStore {
		return "", fmt.Errorf("the file %s of the store's URL has more than %d bytes", path, longestStore)
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return "", fmt.Errorf("the file %s of the store's URL is empty", path)
	}
	return text, nil
}

// directory is a data directory with its store, for use while nobody serves it.
func (a *app) directory(dir string) (datadir.Directory, error) {
	text, err := a.storeURL()
	if err != nil {
		return datadir.Directory{}, err
	}
	driver, err := space.DriverFor(text)
	if err != nil {
		return datadir.Directory{}, &usageError{err}
	}
	return space.DirectoryWith(dir, driver), nil
}

// storeArguments are the arguments of a server that finds the same store. The environment is inherited; the folder is not.
func (a *app) storeArguments() []string {
	switch {
	case a.storeFile != "":
		path, err := filepath.Abs(a.storeFile)
		if err != nil {
			path = a.storeFile // the server says why it cannot be read
		}
		return []string{"--store-file", path}
	case a.store != "":
		return []string{"--store", a.store}
	}
	return nil
}
