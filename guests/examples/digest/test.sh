#!/bin/sh
# Tests the family natively.
set -e
cd "$(dirname "$0")"
go test .
