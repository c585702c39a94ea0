#!/bin/sh
# Builds a guest: build.sh OUT FILE.ts, where FILE.ts is in the current directory. SDK is the way from there to this directory.
set -e
exec "${ASC:-node_modules/.bin/asc}" "$2" -o "$1" -O3 --runtime minimal --initialMemory 32 --use abort="${SDK:-./alcove}/assembly/index/panicked"
