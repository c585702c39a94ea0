//go:build !linux

// Package netns makes machines of tests, on Linux alone.
package netns
