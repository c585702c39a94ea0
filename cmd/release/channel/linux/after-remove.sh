#!/bin/sh
# deb calls it with remove and purge, rpm with the number of versions that stay. Data are never removed, nor is their owner while they exist.
set -e
case "$1" in
purge | 0)
	rm -rf /var/cache/alcove
	rmdir /etc/alcove 2>/dev/null || true
	if [ -d /var/lib/alcove ]; then
		echo "alcove: the data stay in /var/lib/alcove, and their user alcove: remove them with rm -r /var/lib/alcove and userdel alcove"
	elif getent passwd alcove >/dev/null; then
		userdel alcove
	fi
	;;
esac
if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
