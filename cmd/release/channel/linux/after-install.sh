#!/bin/sh
# The user of the system's server. Nothing is enabled or started: systemctl enable --now alcove does.
set -e
if ! getent passwd alcove >/dev/null; then
	useradd --system --user-group --home-dir /var/lib/alcove --no-create-home --shell /usr/sbin/nologin --comment "Alcove memory server" alcove
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	systemctl try-restart alcove.service || true # after an update, the new program serves
fi
