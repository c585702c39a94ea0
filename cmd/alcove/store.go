package main

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store/datadir"
)

// storeURL is the URL of the database that has the store; empty: the data directory has it.
func (a *app) storeURL() (string, error) {
	switch {
	case a.store != "" && a.storeFile != "":
		return "", &usageError{errors.New("--store and --store-file name the same thing: give one of them")}
	case a.storeFile != "":
		return space.ReadURL(a.storeFile)
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
	if driver, err = space.Recorded(dir, driver); err != nil {
		return datadir.Directory{}, err
	}
	return a.byPerson(space.DirectoryWith(dir, driver)), nil
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
