#!/bin/sh
# Builds a guest: build.sh OUT FILE.ts, where FILE.ts is in the current directory. SDK is the way from there to this directory.
set -e
sdk=${SDK:-alcove} # asc knows its files without ./ in front
exec "${ASC:-node_modules/.bin/asc}" "$2" -o "$1" -O3 --runtime minimal --initialMemory 32 --use abort="${sdk#./}/assembly/index/panicked"
