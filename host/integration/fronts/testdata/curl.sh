#!/bin/sh
# Examples of a server's HTTP side with curl. Each stops the script when it is not answered as it should be.
#   ALCOVE_URL         such as http://127.0.0.1:9742
#   ALCOVE_TOKEN_FILE  the file "token" of the data directory
set -eu
token=$(cat "$ALCOVE_TOKEN_FILE")

# ask PATH [CURL'S FLAGS…]: the token goes by standard input, so that no list of processes shows it.
ask() {
	path=$1
	shift
	printf 'header = "Authorization: Bearer %s"\n' "$token" | curl --silent --show-error --config - "$@" "$ALCOVE_URL$path"
}

# has TEXT: the answer on standard input has the text.
has() {
	answer=$(cat)
	case $answer in
	*"$1"*) ;;
	*)
		echo "no $1 in: $answer" >&2
		exit 1
		;;
	esac
}

# The server's state needs no token.
curl --silent --fail "$ALCOVE_URL/healthz" | has ok
curl --silent --fail "$ALCOVE_URL/readyz" | has ready
curl --silent "$ALCOVE_URL/operation" | has denied

# One call.
ask /operation -d '{"method": "store", "params": {"key": "editor", "value": "vim"}}' | has '"key":"editor"'
ask /operation -d '{"method": "recall", "params": {"key": "editor"}}' | has '"value":"vim"'

# The method in the path: the body is its params, and the query its options.
ask '/operation/memory_store?namespace=work' -d '{"key": "plan", "value": "ship it"}' | has '"key":"plan"'
ask '/operation/search?timeout_ms=30000' -d '{"query": "ship"}' | has '"namespace":"work"'

# What it would do.
ask '/operation/memory_forget?dry_run=true' -d '{"key": "editor"}' | has '"dry_run":true'

# A chain: the second call takes a part of the first result.
ask /operation -d '{
	"method": "search", "params": {"query": "vim"},
	"then": {"method": "recall", "params": {"key": {"$result": "/results/0/key"}}}
}' | has '"value":"vim"'

# A batch: an answer for each.
ask /operation -d '{"batch": [
	{"method": "recall", "params": {"key": "editor"}},
	{"method": "recall", "params": {"key": "plan"}, "options": {"namespace": "work"}},
	{"method": "no_such_tool"}
]}' | has 'E_NOT_FOUND'

# A repetition with the same key writes nothing again.
for _ in 1 2; do
	ask /operation -H 'Idempotency-Key: payment-1' -d '{"method": "log", "params": {"event": "paid", "data": 5}}' | has '"sequence":1'
done

# What there is to call.
ask /operation/tools | has '"input_schema"'
