// The clients, in one form: what each calls listing, calling, reading and prompting.
//
//   names()                 the tools as the client lists them now
//   call(name, args, signal) all of the answer, as text
//   read(uri), prompt(name, args)   likewise
//   changes()               how often the list was said to have changed; undefined where the client does not tell
//   close()
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

const run = promisify(execFile);
const text = (value) => JSON.stringify(value);

function entryOf(file) {
  const { alcove } = JSON.parse(readFileSync(file, "utf8")).mcpServers;
  return alcove;
}

async function sdk(file) {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { ToolListChangedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const entry = entryOf(file);
  const client = new Client({ name: "day", version: "1" });
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => { changes++; });
  await client.connect(entry.command
    ? new StdioClientTransport({ command: entry.command, args: entry.args })
    : new StreamableHTTPClientTransport(new URL(entry.url), { requestInit: { headers: entry.headers } }));
  return {
    names: async () => (await client.listTools()).tools.map((t) => t.name),
    call: async (name, args, signal) => text(await client.callTool({ name, arguments: args }, undefined, { signal })),
    read: async (uri) => text(await client.readResource({ uri })),
    prompt: async (name, args) => text(await client.getPrompt({ name, arguments: args })),
    changes: () => changes,
    close: () => client.close(),
  };
}

// Each use of the Inspector's command line is a session of its own, and it refuses tools that are not listed.
async function inspector(file) {
  const launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
  const use = async (args, signal) => (await run(process.execPath, [launcher, "--cli", "--config", file, "--server", "alcove", ...args],
    { signal, maxBuffer: 1 << 26, env: { ...process.env, MCP_INSPECTOR_SECRET_STORE: "memory" } })).stdout;
  const pairs = (args) => Object.entries(args).map(([k, v]) => `${k}=${typeof v === "string" ? v : JSON.stringify(v)}`);
  return {
    names: async () => JSON.parse(await use(["--method", "tools/list"])).tools.map((t) => t.name),
    call: (name, args, signal) => use(["--method", "tools/call", "--tool-name", name, ...(pairs(args).length ? ["--tool-arg", ...pairs(args)] : [])], signal),
    read: (uri) => use(["--method", "resources/read", "--uri", uri]),
    prompt: (name, args) => use(["--method", "prompts/get", "--prompt-name", name, "--prompt-args", ...pairs(args)]),
    changes: () => undefined,
    close: async () => {},
  };
}

async function mcporter(file) {
  const { createRuntime } = await import("mcporter");
  const runtime = await createRuntime({ configPath: file });
  return {
    names: async () => (await runtime.listTools("alcove")).map((t) => t.name),
    call: async (name, args, signal) => {
      const called = runtime.callTool("alcove", name, { args });
      return text(await (signal ? Promise.race([called, new Promise((_, no) => signal.addEventListener("abort", () => no(signal.reason)))]) : called));
    },
    read: async (uri) => text(await runtime.readResource("alcove", uri)),
    prompt: async (name, args) => text(await (await runtime.connect("alcove")).client.getPrompt({ name, arguments: args })),
    changes: () => undefined,
    close: () => runtime.close(),
  };
}

async function langchain(file) {
  const { MultiServerMCPClient } = await import("@langchain/mcp-adapters");
  const entry = entryOf(file);
  const client = new MultiServerMCPClient({ mcpServers: { alcove: entry.command
    ? { transport: "stdio", command: entry.command, args: entry.args }
    : { transport: "http", url: entry.url, headers: entry.headers } } });
  const tools = async () => client.getTools();
  return {
    names: async () => (await tools()).map((t) => t.name),
    call: async (name, args, signal) => text(await (await tools()).find((t) => t.name === name).invoke(args, { signal })),
    read: async (uri) => text(await client.readResource("alcove", uri)),
    prompt: async (name, args) => text(await (await client.getClient("alcove")).getPrompt({ name, arguments: args })),
    changes: () => undefined,
    close: () => client.close(),
  };
}

async function aiSDK(file) {
  const { createMCPClient } = await import("@ai-sdk/mcp");
  const { StdioMCPTransport } = await import("@ai-sdk/mcp/mcp-stdio");
  const entry = entryOf(file);
  const client = await createMCPClient({ transport: entry.command
    ? new StdioMCPTransport({ command: entry.command, args: entry.args })
    : { type: "http", url: entry.url, headers: entry.headers } });
  return {
    names: async () => Object.keys(await client.tools()),
    call: async (name, args, signal) => text(await (await client.tools())[name].execute(args, { toolCallId: "1", messages: [], abortSignal: signal })),
    read: async (uri) => text(await client.readResource({ uri })),
    prompt: async (name, args) => text(await client.getPrompt({ name, arguments: args })),
    changes: () => undefined,
    close: () => client.close(),
  };
}

async function mcpUse(file) {
  const { MCPClient } = await import("mcp-use");
  const client = new MCPClient({ mcpServers: { alcove: entryOf(file) } });
  const session = await client.createSession("alcove");
  let changes = 0;
  session.on("notification", (n) => { if (n.method === "notifications/tools/list_changed") changes++; });
  return {
    names: async () => (await session.listTools()).map((t) => t.name),
    call: async (name, args, signal) => text(await session.callTool(name, args, { signal })),
    read: async (uri) => text(await session.readResource(uri)),
    prompt: async (name, args) => text(await session.getPrompt(name, args)),
    changes: () => changes,
    close: () => client.closeAllSessions(),
  };
}

let number = 0;

async function mastra(file) {
  const { MCPClient } = await import("@mastra/mcp");
  const entry = entryOf(file);
  const client = new MCPClient({ id: `day-${number++}`, servers: { alcove: entry.command
    ? { command: entry.command, args: entry.args }
    : { url: new URL(entry.url), requestInit: { headers: entry.headers } } } });
  const plain = (name) => name.replace(/^alcove_/, "");
  const tools = async () => Object.fromEntries(Object.entries(await client.listTools()).map(([name, tool]) => [plain(name), tool]));
  return {
    names: async () => Object.keys(await tools()),
    call: async (name, args, signal) => text(await (await tools())[name].execute(args, { abortSignal: signal })),
    read: async (uri) => text(await client.resources.read("alcove", uri)),
    prompt: async (name, args) => text(await client.prompts.get({ serverName: "alcove", name, args })),
    changes: () => undefined,
    close: () => client.disconnect(),
  };
}

export const kinds = { sdk, inspector, mcporter, langchain, "ai-sdk": aiSDK, "mcp-use": mcpUse, mastra };
