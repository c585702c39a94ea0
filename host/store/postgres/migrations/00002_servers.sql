-- +goose Up
-- A server counts as running until expires, by the clock of the database.
CREATE TABLE alcove.servers (
	server   text        PRIMARY KEY, -- of one process
	address  text        NOT NULL,    -- where the others reach it
	version  text        NOT NULL,
	draining boolean     NOT NULL,    -- it takes no spaces
	started  timestamptz NOT NULL,
	expires  timestamptz NOT NULL
);

-- The server that leads a space, for as long as it is running. A lease is apart from its space, whose row commits hold.
CREATE TABLE alcove.leases (
	space  bigint      PRIMARY KEY,
	server text        NOT NULL,
	since  timestamptz NOT NULL
);
CREATE INDEX leases_by_server ON alcove.leases (server);

-- What is a file in the data directory of an embedded store: keys, grants, modules.
CREATE TABLE alcove.documents (
	space    bigint NOT NULL,
	name     text   NOT NULL, -- a path in the data directory
	revision bigint NOT NULL, -- counts the changes of the space's documents
	data     bytea,           -- NULL: it was removed
	PRIMARY KEY (space, name)
);
