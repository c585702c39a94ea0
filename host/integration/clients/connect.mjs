// Connects one of the TypeScript SDKs, as configured by a file that the product prints.
//
// sdk is version 1 of the SDK; client is version 2, in the protocol that begins with initialize; client-2026 is
// version 2 in the stateless one.
import { readFileSync } from "node:fs";

const identity = (name) => ({ name, version: "1.0.0" });

export const stateless = (kind) => kind === "client-2026";

// handles sets what a client does with a request or notification of the server.
export async function handles(client, kind, method, handler) {
  const notification = method.startsWith("notifications/");
  if (kind !== "sdk") return notification ? client.setNotificationHandler(method, handler) : client.setRequestHandler(method, handler);
  const types = await import("@modelcontextprotocol/sdk/types.js");
  const schema = Object.values(types).find((t) => t?.shape?.method?.value === method && t.shape.params);
  return notification ? client.setNotificationHandler(schema, handler) : client.setRequestHandler(schema, handler);
}

// connect gives a client of a name, with capabilities, and which transport it uses: stdio or http.
export async function connect(kind, configuration, name = "alcove-test", capabilities = {}) {
  const { alcove } = JSON.parse(readFileSync(configuration, "utf8")).mcpServers;
  const transport = alcove.command ? "stdio" : "http";
  if (kind === "sdk") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return { client: await dial(new Client(identity(name), { capabilities }), alcove, StdioClientTransport, StreamableHTTPClientTransport), transport };
  }
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const mode = stateless(kind) ? { pin: "2026-07-28" } : "legacy";
  return { client: await dial(new Client(identity(name), { capabilities, versionNegotiation: { mode } }), alcove, StdioClientTransport, StreamableHTTPClientTransport), transport };
}

async function dial(client, alcove, Stdio, HTTP) {
  const transport = alcove.command
    ? new Stdio({ command: alcove.command, args: alcove.args })
    : new HTTP(new URL(alcove.url), { requestInit: { headers: alcove.headers } });
  await client.connect(transport);
  return client;
}
