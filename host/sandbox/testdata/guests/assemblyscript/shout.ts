// Answers a tool call with its text in capital letters, and with the family's configuration.

@external("alcove", "read")
declare function read(channel: i32, to: usize, cap: usize): i32;
@external("alcove", "write")
declare function write(channel: i32, from: usize, len: usize): i32;
@external("alcove", "call")
declare function call(op: usize, opLength: usize, request: usize, length: usize): i32;

const REQUEST = 0, RESPONSE = 1, RESULT = 0, LOG = 1;

function put(channel: i32, text: string): void {
  const bytes = String.UTF8.encode(text);
  write(channel, changetype<usize>(bytes), bytes.byteLength);
}

function receive(channel: i32): string {
  const buffer = new ArrayBuffer(65536);
  let length: i32 = 0;
  for (;;) {
    const n = read(channel, changetype<usize>(buffer) + length, buffer.byteLength - length);
    if (n <= 0) break;
    length += n;
  }
  return String.UTF8.decodeUnsafe(changetype<usize>(buffer), length);
}

function ask(op: string, request: string): string {
  const name = String.UTF8.encode(op), body = String.UTF8.encode(request);
  call(changetype<usize>(name), name.byteLength, changetype<usize>(body), body.byteLength);
  return receive(RESPONSE); // JSON, also when it is an error
}

export function alcove_handle(kind: i32, waiting: i32): i32 {
  const request = receive(REQUEST), field = '"text":"';
  let start = request.indexOf(field);
  if (start < 0) {
    put(RESULT, '{"code":"invalid_argument","message":"give a text"}');
    return 1;
  }
  start += field.length;
  const text = request.substring(start, request.indexOf('"', start)).toUpperCase();
  put(LOG, "shouting");
  put(RESULT, '{"text":"' + text + '","config":' + ask("config.get", "{}") + "}");
  return 0;
}
