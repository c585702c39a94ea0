// Runs a guest in Node, with a host whose operations the test defines.
import { readFileSync } from "node:fs";

export class Fake {
  /** ops maps the names of operations to functions from request to response. */
  constructor(path, ops = {}, config = {}) {
    Object.assign(this, { module: new WebAssembly.Module(readFileSync(path)), ops, config, calls: [], logged: [] });
  }

  tool(tool, args) { return this.json(1, { tool, arguments: args }); }
  job(job, payload) { return this.json(2, { hook: "job", job, payload }); }
  /** The store hook's result; undefined: nothing changes. */
  store(entries) { return this.json(2, { hook: "store", entries }); }

  json(kind, request) {
    const context = { family: "test", caller: "tester", namespace: "default", branch: "default", now: "2026-06-01T12:00:00Z", request_id: "r1" };
    const { status, result } = this.serve(kind, Buffer.from(JSON.stringify({ ...request, config: this.config, context })));
    const answer = result.length ? JSON.parse(result) : undefined;
    if (status) throw Object.assign(new Error(answer.message), answer);
    return answer;
  }

  /** Serves a request as bytes, in an instance of its own. */
  serve(kind, request) {
    const channels = [request, Buffer.alloc(0)], written = [[], []];
    let guest;
    const bytes = (at, n) => Buffer.from(guest.exports.memory.buffer, at, n);
    const imports = {
      read: (channel, at, capacity) => {
        const n = channels[channel].copy(bytes(at, capacity));
        channels[channel] = channels[channel].subarray(n);
        return n;
      },
      write: (channel, at, n) => { written[channel].push(Buffer.from(bytes(at, n))); return 0; },
      call: (op, opLength, at, n) => {
        const name = bytes(op, opLength).toString(), body = JSON.parse(bytes(at, n));
        this.calls.push([name, body]);
        try {
          if (!this.ops[name]) throw { code: "not_found", message: "the test has no operation " + name };
          channels[1] = Buffer.from(JSON.stringify(this.ops[name](body)));
          return channels[1].length;
        } catch (e) {
          channels[1] = Buffer.from(JSON.stringify({ code: e.code ?? "internal", message: e.message, retryable: false }));
          return -channels[1].length;
        }
      },
    };
    guest = new WebAssembly.Instance(this.module, { alcove: imports });
    let status = 1;
    try {
      status = guest.exports.alcove_handle(kind, request.length);
    } catch (trap) {
      if (!written[0].length) throw trap;
    }
    this.logged.push(...written[1].map(String));
    return { status, result: Buffer.concat(written[0]) };
  }
}
