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
//alcove:example put a value under a key and read it back
//alcove:example key-value storage for a small counter
//alcove:example set a member of a JSON document by its path
//alcove:example increase a number atomically without losing updates
//alcove:example begin a transaction, and commit or abort it
//alcove:example do all these writes or none of them
//alcove:example store my own embedding and look for its nearest vectors
//alcove:example append an event to a low-level log
//alcove:example read raw records of a collection for debugging
//alcove:example how large is the store, and what is in it?
//alcove:example list or drop namespaces of the database
//alcove:example export a namespace as a bundle and load it elsewhere
//alcove:example which embedding models are configured?
//alcove:example swap a cell's content only when it still has the old one
//alcove:example run a raw query on the underlying data
//alcove:example a shared counter that many processes raise safely
//alcove:example keep some bytes under a name and fetch them later
//alcove:example update only if unchanged since I read it
//alcove:example edit one field within a stored JSON object
//alcove:example several writes in one atomic step
//alcove:example undo everything since I began the transaction
//alcove:example upload vectors of mine and query the closest five
//alcove:example work with embeddings directly
//alcove:example look at the raw rows of a table of a family
//alcove:example which namespaces exist in the database, and how big are they?
//alcove:example dump a namespace to a file and import it somewhere
//alcove:example append to a stream of entries and read it in order
//alcove:example is a lock or mutex available?
//alcove:example set a value with a time to live under a key
//alcove:example statistics on storage and versions
//alcove:example either all of these writes succeed or none
//alcove:example set build_no to 512
//alcove:example what is the value of the key last_run?
//alcove:example delete the key tmp
//alcove:example list all keys that start with user:
//alcove:example keep a small setting of my script under a name
//alcove:example cache this blob
//alcove:example read ten keys at once
//alcove:example earlier values of this key
//alcove:example write a whole batch of key-value pairs
//alcove:example expire the key after an hour
//alcove:example get $.address.city from the document
//alcove:example change only the price within that JSON document
//alcove:example patch a nested property
//alcove:example delete an element of the array in the document
//alcove:example store a JSON document and query parts of it
//alcove:example JSONPath lookup
//alcove:example add one to the visitor counter
//alcove:example a number that ten workers increase concurrently
//alcove:example compare and set
//alcove:example write the value only if nobody else did in between
//alcove:example optimistic locking on a shared variable
//alcove:example implement a lock between two processes
//alcove:example leader election with a shared cell
//alcove:example who holds the semaphore?
//alcove:example atomic swap
//alcove:example initialise a cell with zero
//alcove:example create a vector collection with 384 dimensions and cosine distance
//alcove:example upsert embeddings with metadata
//alcove:example query nearest vectors with a filter on the year
//alcove:example find the closest five vectors to mine in collection images
//alcove:example drop the collection of vectors
//alcove:example statistics of my vector index
//alcove:example bring my own vectors
//alcove:example all or nothing: both writes or neither
//alcove:example open a transaction
//alcove:example commit
//alcove:example roll back the open transaction
//alcove:example abort what I began
//alcove:example which transactions are open?
//alcove:example do these three updates as a unit
//alcove:example isolate my writes until I commit them
//alcove:example append a raw event to the log
//alcove:example read the log from sequence 100 on
//alcove:example count log entries of a kind
//alcove:example make an immutable entry
//alcove:example list the namespaces
//alcove:example create a namespace called lab
//alcove:example drop an empty namespace
//alcove:example tree of namespaces with counts
//alcove:example does the namespace sandbox exist?
//alcove:example export the branch to a bundle file
//alcove:example load a bundle from another server
//alcove:example check that the bundle is intact
//alcove:example move data from one installation to another as one file
//alcove:example ping the database
//alcove:example how big is the database on disk?
//alcove:example version and uptime of the store
//alcove:example from when to when do the data reach?
//alcove:example durability and fsync counters
//alcove:example embed this sentence and give me the vector
//alcove:example count the tokens of this text
//alcove:example tokenise a string
//alcove:example let the local model generate a completion
//alcove:example which models are available?
//alcove:example raw rows of the table signals
//alcove:example inspect a family's collection for debugging
//alcove:example show me the records behind the scenes
//alcove:example dump table contents filtered by a field
//alcove:example low-level access to the storage
//alcove:example use the memory as a database for my program
//alcove:example persist the state of my state machine
//alcove:example store the job's cursor position so that the next run finds it
//alcove:example test-and-set
//alcove:example SQL-like select on a collection
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
