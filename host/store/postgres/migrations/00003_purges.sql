-- +goose Up
-- Counts the purges of values: servers that follow the space, and have copies of them, begin anew.
ALTER TABLE alcove.spaces ADD COLUMN purges bigint NOT NULL DEFAULT 0;
