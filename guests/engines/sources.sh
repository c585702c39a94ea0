#!/bin/sh
# Fetches the sources of the engines into a directory: sources.sh DIR
#
# They are source packages of Debian 13, from the mirror of Debian that this machine's apt uses. Nothing of this machine's apt is changed. The
# builds compare the archives with their digests.
set -e
mkdir -p "$1" && cd "$1"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/$' | sort -u | head -n 1)
[ -n "$mirror" ] || { echo 'apt knows no mirror of Debian'; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
echo "deb-src [trusted=yes] $mirror trixie main" >"$tmp/list"
mkdir -p "$tmp/lists/partial" "$tmp/cache"
own="-qq -o APT::Sandbox::User=root -o Dir::Etc::sourcelist=$tmp/list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$tmp/lists -o Dir::Cache=$tmp/cache"
apt-get $own update
apt-get $own source --download-only quickjs=2025.04.26-1 micropython=1.25.0+ds-1
