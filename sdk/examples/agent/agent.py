"""An agent without MCP: a model with function calling, and Alcove's tools over HTTP.

    alcove tools --format openai > tools.json
    MODEL_URL=https://api.openai.com/v1 MODEL=gpt-5 MODEL_KEY=… ALCOVE_TOKEN_FILE=~/.local/share/alcove/token python3 agent.py 'what I said about tea?'
"""

import json
import os
import sys
import urllib.request

MODEL, ALCOVE = os.environ["MODEL_URL"], os.environ.get("ALCOVE_URL", "http://127.0.0.1:9742")
with open(os.environ["ALCOVE_TOKEN_FILE"]) as file:
    TOKEN = file.read().strip()
with open(os.environ.get("TOOLS", "tools.json")) as file:
    TOOLS = json.load(file)


def post(url, key, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def call(name, arguments):
    """Runs a tool: memory_operation takes an operation, of which every other tool is the method."""
    operation = arguments if name == "memory_operation" else {"method": name, "params": arguments}
    return post(f"{ALCOVE}/operation", TOKEN, operation)


messages = [{"role": "user", "content": sys.argv[1]}]
for _ in range(20):  # turns at most
    answer = post(f"{MODEL}/chat/completions", os.environ.get("MODEL_KEY", ""),
                  {"model": os.environ.get("MODEL", "gpt-5"), "messages": messages, "tools": TOOLS})
    message = answer["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        print(message["content"])
        break
    for wanted in message["tool_calls"]:
        result = call(wanted["function"]["name"], json.loads(wanted["function"]["arguments"]))
        messages.append({"role": "tool", "tool_call_id": wanted["id"], "content": json.dumps(result)})
