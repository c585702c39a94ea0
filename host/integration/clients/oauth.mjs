// Comes in with OAuth through one of the TypeScript SDKs: from an answer 401 to a call, a refresh, and a revocation.
//
//   node oauth.mjs sdk|client|client-2026 URL KEY
import assert from "node:assert/strict";
import { consent } from "./consent.mjs";
import { stateless } from "./connect.mjs";

const [kind, address, key] = process.argv.slice(2);
const redirect = "http://127.0.0.1:33418/callback";

/** What a program keeps of its authorization. */
class Kept {
  redirectUrl = redirect;
  clientMetadata = { client_name: `alcove-test ${kind}`, redirect_uris: [redirect], grant_types: ["authorization_code", "refresh_token"], response_types: ["code"], token_endpoint_auth_method: "none" };
  state = () => "state-of-this-program";
  clientInformation = () => this.client;
  saveClientInformation = (client) => (this.client = client);
  tokens = () => this.kept;
  saveTokens = (tokens) => (this.kept = tokens);
  redirectToAuthorization = (url) => (this.asked = url);
  saveCodeVerifier = (verifier) => (this.verifier = verifier);
  codeVerifier = () => this.verifier;
  saveDiscoveryState = (found) => (this.found = found);
  discoveryState = () => this.found;
}

const { Client, StreamableHTTPClientTransport } = kind === "sdk" ? { ...(await import("@modelcontextprotocol/sdk/client/index.js")), ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")) } : await import("@modelcontextprotocol/client");
const options = kind === "sdk" ? {} : { versionNegotiation: { mode: stateless(kind) ? { pin: "2026-07-28" } : "legacy" } };
const kept = new Kept();
const open = () => new StreamableHTTPClientTransport(new URL(address), { authProvider: kept });
const begin = async (transport) => {
  const client = new Client({ name: "alcove-test", version: "1.0.0" }, options);
  await client.connect(transport);
  return client;
};

const first = open();
await assert.rejects(begin(first), /unauthorized/i, "a client without tokens");
const asked = kept.asked.searchParams;
assert.equal(asked.get("resource"), address);
assert.equal(asked.get("code_challenge_method"), "S256");
assert.equal(asked.get("scope"), "read write branch family:*", "what the server says that clients ask for");
const back = (await consent(kept.asked.href, key)).searchParams;
assert.equal(back.get("state"), "state-of-this-program");
assert.equal(back.get("iss"), new URL(address).origin);
await (kind === "sdk" ? first.finishAuth(back.get("code")) : first.finishAuth(back));

const client = await begin(open());
const stored = await client.callTool({ name: "memory_store", arguments: { key: "tea", value: "green" } });
assert.ok(!stored.isError, JSON.stringify(stored));
await client.close();

const before = kept.kept;
kept.kept = { ...before, access_token: "alcove_key_000000000000_gone" }; // as after an hour
const again = await begin(open());
assert.notEqual(kept.kept.refresh_token, before.refresh_token, "the refresh token after a refresh");
const recalled = await again.callTool({ name: "memory_recall", arguments: { key: "tea" } });
assert.equal(recalled.structuredContent.value, "green");

const revoked = await fetch(new URL("/revoke", address), { method: "POST", body: new URLSearchParams({ token: kept.kept.refresh_token, client_id: kept.client.client_id }) });
assert.equal(revoked.status, 200);
const { access_token } = kept.kept;
const refused = await fetch(address, { method: "POST", body: "{}", headers: { authorization: `Bearer ${access_token}` } });
assert.equal(refused.status, 401, "a token that was revoked");
console.log(`ok ${kind}`);
process.exit(0);
