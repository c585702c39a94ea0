// Package developer serves the family developer: the primitives of a database, for programs and their developers.
//
// Keys and values, documents with JSONPath, cells with compare-and-swap, collections of vectors, the log, namespaces, bundles, models, and
// transactions, which are branches. All of it follows branches, is versioned, and is kept apart from memories: memory_search does not find
// it. Every tool that may write also reads for callers who may only read, and reads the past with as_of. The old names of the tools that
// an agent knows from Strata call the same.
//
//alcove:family developer 1.0.0
//alcove:description Database primitives: key-value, JSON documents, cells with compare-and-swap, vectors, transactions, events, namespaces, bundles
//alcove:keywords low-level, raw, primitive, key-value, kv, json path, cell, compare and swap, atomic, transaction, begin, commit, roll back, opened, insert, vector, vectors, query directly, storage, internals, debug, batch
//alcove:license Apache-2.0
//alcove:needs record kv,json,cell,vec,vec-info,txn to keep keys, documents, cells, vectors and what transactions are open
//alcove:needs records.read * to show rows of collections that the caller may read
//alcove:needs branch.read * to find the branches of transactions, and compare them
//alcove:needs branch.write * to fork, merge and delete the branches of transactions
//alcove:needs memory.read * to export branches, show rows, and merge transactions
//alcove:needs memory.write * to merge transactions and import bundles
//alcove:needs log.read * to read the log
//alcove:needs log.append * to append to the log
//alcove:needs namespace.delete * to delete namespaces, with force
//alcove:needs scope.read * to list namespaces that were created and are empty
//alcove:needs scope.write * to create namespaces
//alcove:needs job to expire transactions
//alcove:needs embed to embed texts
//alcove:needs file.read bundles to read bundles in files
//alcove:needs file.write bundles to write them
//alcove:needs llm * to generate text
//alcove:limits memory_pages=1024 wall_ms=60000 cpu_ms=30000 fuel=200000000000 host_calls=100000
package developer

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

//go:generate alcove family gen

// Config is the family's configuration.
type Config struct {
	TransactionMinutes int `alcove:"key=transaction_minutes,min=1,max=1440,default=15"` // Minutes after which an open transaction expires
	TransactionsOpen   int `alcove:"key=transactions_open,min=1,max=1000,default=20"`   // Transactions that one caller may have open
}

// Family is developer.
func Family() *alcove.Family {
	return alcove.New(KeyValue{}, Document{}, Cell{}, Vectors{}, Transaction{}, Events{}, Namespaces{}, Bundle{}, Info{}, Models{}, Rows{}, Expire{})
}

// The actions that several tools have.
const (
	get     = "get"
	set     = "set"
	put     = "put"
	remove  = "delete"
	list    = "list"
	history = "history"
)

// need is an error for a parameter that an action needs and the call does not give.
func need(action, name string, given bool) error {
	if given {
		return nil
	}
	return alcove.Errorf(alcove.InvalidArgument, "%s needs %s", action, name)
}

// element reads an element of a list of objects.
func element(raw alcove.Raw, into scan.Decoder) error {
	if err := scan.Decode(raw, into); err != nil {
		return alcove.Errorf(alcove.InvalidArgument, "an element of the list is malformed: %v", err)
	}
	return nil
}

// denied is the error for what only the operator does.
func denied(what, how string) error {
	return alcove.Errorf(alcove.Denied, "%s is the operator's: %s", what, how)
}

// first is the first of some errors.
func first(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}
