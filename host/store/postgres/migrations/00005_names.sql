-- +goose Up
-- What a space keeps when it is renamed or moved to another name, by which a directory knows whose files it has.
ALTER TABLE alcove.spaces ADD COLUMN identity text NOT NULL DEFAULT gen_random_uuid()::text;
CREATE UNIQUE INDEX spaces_by_identity ON alcove.spaces (identity);

-- Names of spaces that were renamed or deleted: no space is created with one of them unless somebody asks for it.
CREATE TABLE alcove.former_names (
	name    text        PRIMARY KEY,
	space   bigint      NOT NULL,
	deleted boolean     NOT NULL, -- the space was
	since   timestamptz NOT NULL
);
CREATE INDEX former_names_by_space ON alcove.former_names (space);
