// Goes through the pages of consent as a browser without scripts does.
//
//   node consent.mjs ADDRESS KEY      opens the address that the server then sends the browser to
import assert from "node:assert/strict";
import { argv } from "node:process";
import { pathToFileURL } from "node:url";

const decode = (text) => text.replace(/&(amp|#43|#34|#39|lt|gt);/g, (_, name) => ({ amp: "&", "#43": "+", "#34": '"', "#39": "'", lt: "<", gt: ">" })[name]);

// consent gives the address to which the browser is sent when the holder of a key has allowed all that a client asks for.
export async function consent(address, key) {
  const origin = new URL(address).origin;
  let page = await fetch(address);
  const cookie = page.headers.get("set-cookie").split(";")[0];
  const submit = async (entered) => {
    const html = await page.text();
    assert.equal(page.status, 200, html);
    const form = new URLSearchParams([...html.matchAll(/<input type="hidden" name="([a-z]+)" value="([^"]*)">/g)].map(([, name, value]) => [name, decode(value)]));
    for (const [, right] of html.matchAll(/name="right" value="([^"]+)" checked/g)) form.append("right", decode(right));
    for (const [, names] of html.matchAll(/name="namespaces" value="([^"]*)"/g)) form.set("namespaces", decode(names));
    for (const [name, value] of Object.entries(entered)) form.set(name, value);
    page = await fetch(new URL("/console/authorize", origin), { method: "POST", body: form, redirect: "manual", headers: { cookie, origin, "sec-fetch-site": "same-origin" } });
  };
  await submit({ way: "key", key });
  await submit({ decision: "allow" });
  assert.equal(page.status, 303, await page.text());
  return new URL(page.headers.get("location"));
}

if (import.meta.url === pathToFileURL(argv[1]).href) await fetch(await consent(argv[2], argv[3]));
