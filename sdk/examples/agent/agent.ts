// An agent without MCP: a model with function calling, and Alcove's tools over HTTP. Node.js 22.18 or later runs it as it is.
//
//   alcove tools --format openai > tools.json
//   MODEL_URL=https://api.openai.com/v1 MODEL=gpt-5 MODEL_KEY=… ALCOVE_TOKEN_FILE=~/.local/share/alcove/token node agent.ts 'what I said about tea?'
import { readFileSync } from "node:fs";

type Call = { id: string; function: { name: string; arguments: string } };
type Message = { role: string; content?: string | null; tool_calls?: Call[]; tool_call_id?: string };

const { MODEL_URL, MODEL = "gpt-5", MODEL_KEY = "", ALCOVE_URL = "http://127.0.0.1:9742", ALCOVE_TOKEN_FILE = "token", TOOLS = "tools.json" } = process.env;
const token = readFileSync(ALCOVE_TOKEN_FILE, "utf8").trim();
const tools: unknown[] = JSON.parse(readFileSync(TOOLS, "utf8"));

async function post(url: string, key: string, body: unknown): Promise<any> {
  const answer = await fetch(url, {
    method: "POST", body: JSON.stringify(body), headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
  });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

// call runs a tool: memory_operation takes an operation, of which every other tool is the method.
function call(name: string, args: unknown): Promise<unknown> {
  return post(`${ALCOVE_URL}/operation`, token, name === "memory_operation" ? args : { method: name, params: args });
}

const messages: Message[] = [{ role: "user", content: process.argv[2] }];
for (let turn = 0; turn < 20; turn++) {
  const answer = await post(`${MODEL_URL}/chat/completions`, MODEL_KEY, { model: MODEL, messages, tools });
  const message: Message = answer.choices[0].message;
  messages.push(message);
  if (!message.tool_calls?.length) {
    console.log(message.content);
    break;
  }
  for (const wanted of message.tool_calls) {
    const result = await call(wanted.function.name, JSON.parse(wanted.function.arguments));
    messages.push({ role: "tool", tool_call_id: wanted.id, content: JSON.stringify(result) });
  }
}
