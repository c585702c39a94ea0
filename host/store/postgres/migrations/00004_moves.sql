-- +goose Up
-- A move between a database and a data directory took place when its name is in the row of the space.
ALTER TABLE alcove.spaces ADD COLUMN arrived  text NOT NULL DEFAULT ''; -- the move that placed the space
ALTER TABLE alcove.spaces ADD COLUMN departed text NOT NULL DEFAULT ''; -- the move that took it away: no server opens it any more
ALTER TABLE alcove.spaces ADD COLUMN moved_to text NOT NULL DEFAULT ''; -- where that took it, for people
