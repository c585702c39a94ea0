// JSON: a value and its text. A number keeps its text, and an object its order.

export enum Kind { Null, Bool, Number, Text, List, Object }

export class Json {
  kind: Kind = Kind.Null;
  flag: bool = false; // of a boolean
  raw: string = ""; // of text or a number
  items: Json[] = []; // of a list or an object
  names: string[] = []; // of an object

  static none(): Json { return new Json(); }
  static bool(v: bool): Json { const j = new Json(); j.kind = Kind.Bool; j.flag = v; return j; }
  static text(v: string): Json { const j = new Json(); j.kind = Kind.Text; j.raw = v; return j; }
  static int(v: i64): Json { return Json.number(v.toString()); }
  static uint(v: u64): Json { return Json.number(v.toString()); }
  static float(v: f64): Json {
    if (!isFinite(v)) return Json.none();
    const text = v.toString();
    return Json.number(text.endsWith(".0") ? text.substring(0, text.length - 2) : text);
  }
  static number(text: string): Json { const j = new Json(); j.kind = Kind.Number; j.raw = text; return j; }
  static list(items: Json[] = []): Json { const j = new Json(); j.kind = Kind.List; j.items = items; return j; }
  static object(): Json { const j = new Json(); j.kind = Kind.Object; return j; }

  /** Adds a member, and returns the object. */
  set(name: string, value: Json): Json { this.names.push(name); this.items.push(value); return this; }
  /** Adds a member unless it is null. */
  may(name: string, value: Json | null): void { if (value != null) this.set(name, value); }
  /** The member of that name; null (the JSON value) where there is none. */
  get(name: string): Json {
    const i = this.kind == Kind.Object ? this.names.indexOf(name) : -1;
    return i < 0 ? Json.none() : this.items[i];
  }
  /** The text; empty for any other value. */
  string(): string { return this.kind == Kind.Text ? this.raw : ""; }
  bool(): bool { return this.kind == Kind.Bool && this.flag; }
  f64(): f64 { return this.kind == Kind.Number ? parseFloat(this.raw) : 0; }
  i64(): i64 { return this.kind == Kind.Number ? (this.whole() ? I64.parseInt(this.raw) : <i64>parseFloat(this.raw)) : 0; }
  u64(): u64 { return this.kind == Kind.Number ? (this.whole() ? U64.parseInt(this.raw) : <u64>parseFloat(this.raw)) : 0; }
  private whole(): bool { return !this.raw.includes(".") && !this.raw.includes("e") && !this.raw.includes("E"); }
  isNull(): bool { return this.kind == Kind.Null; }

  toString(): string {
    const out: string[] = [];
    this.write(out);
    return out.join("");
  }

  private write(out: string[]): void {
    switch (this.kind) {
      case Kind.Null: out.push("null"); return;
      case Kind.Bool: out.push(this.flag ? "true" : "false"); return;
      case Kind.Number: out.push(this.raw); return;
      case Kind.Text: quote(this.raw, out); return;
    }
    out.push(this.kind == Kind.List ? "[" : "{");
    for (let i = 0; i < this.items.length; i++) {
      if (i > 0) out.push(",");
      if (this.kind == Kind.Object) { quote(this.names[i], out); out.push(":"); }
      this.items[i].write(out);
    }
    out.push(this.kind == Kind.List ? "]" : "}");
  }

  /** Parses JSON; null: it is malformed, or deeper than 200 levels. */
  static parse(text: string): Json | null {
    const p = new Parser(text);
    const v = p.value(0);
    p.blanks();
    return p.at == text.length ? v : null;
  }
}

function quote(text: string, out: string[]): void {
  out.push('"');
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c >= 32 && c != 34 && c != 92) continue;
    out.push(text.substring(from, i));
    from = i + 1;
    if (c == 10) out.push("\\n");
    else if (c == 9) out.push("\\t");
    else if (c >= 32) out.push("\\" + String.fromCharCode(c));
    else out.push("\\u00" + (c < 16 ? "0" : "1") + (c & 15).toString(16));
  }
  out.push(text.substring(from));
  out.push('"');
}

class Parser {
  at: i32 = 0;
  constructor(private text: string) {}

  private peek(): i32 { return this.at < this.text.length ? this.text.charCodeAt(this.at) : -1; }
  blanks(): void { for (let c = this.peek(); c == 32 || c == 9 || c == 10 || c == 13; c = this.peek()) this.at++; }
  private pass(c: i32): bool {
    this.blanks();
    if (this.peek() != c) return false;
    this.at++;
    return true;
  }
  private digits(): bool {
    const from = this.at;
    for (let c = this.peek(); c >= 48 && c <= 57; c = this.peek()) this.at++;
    return this.at > from;
  }
  private word(w: string, v: Json): Json | null {
    if (!this.text.substr(this.at, w.length).startsWith(w)) return null;
    this.at += w.length;
    return v;
  }

  value(depth: i32): Json | null {
    this.blanks();
    if (depth > 200) return null;
    switch (this.peek()) {
      case 123: return this.elements(Json.object(), 125, depth);
      case 91: return this.elements(Json.list(), 93, depth);
      case 34: {
        const text = this.quoted();
        return text == null ? null : Json.text(text);
      }
      case 110: return this.word("null", Json.none());
      case 116: return this.word("true", Json.bool(true));
      case 102: return this.word("false", Json.bool(false));
    }
    return this.number();
  }

  private elements(v: Json, end: i32, depth: i32): Json | null {
    this.at++;
    if (this.pass(end)) return v;
    do {
      if (end == 125) {
        const name = this.quoted();
        if (name == null || !this.pass(58)) return null;
        v.names.push(name);
      }
      const item = this.value(depth + 1);
      if (item == null) return null;
      v.items.push(item);
      if (this.pass(end)) return v;
    } while (this.pass(44));
    return null;
  }

  private number(): Json | null {
    const from = this.at;
    if (this.peek() == 45) this.at++;
    if (this.peek() == 48) this.at++;
    else if (!this.digits()) return null;
    if (this.peek() == 46) { this.at++; if (!this.digits()) return null; }
    if ((this.peek() | 32) == 101) {
      this.at++;
      if (this.peek() == 43 || this.peek() == 45) this.at++;
      if (!this.digits()) return null;
    }
    return Json.number(this.text.substring(from, this.at));
  }

  private quoted(): string | null {
    if (!this.pass(34)) return null;
    const out: string[] = [];
    while (this.at < this.text.length) {
      const from = this.at;
      for (let c = this.peek(); c >= 32 && c != 34 && c != 92; c = this.peek()) this.at++;
      out.push(this.text.substring(from, this.at));
      const c = this.peek();
      this.at++;
      if (c == 34) return out.join("");
      if (c != 92) return null;
      const i = '"\\/bfnrt'.indexOf(String.fromCharCode(this.peek()));
      this.at++;
      if (i >= 0) { out.push('"\\/\b\f\n\r\t'.charAt(i)); continue; }
      if (this.text.charCodeAt(this.at - 1) != 117) return null;
      let unit = 0;
      for (let n = 0; n < 4; n++, this.at++) {
        const c = this.peek(), low = c | 32;
        if (c >= 48 && c <= 57) unit = unit << 4 | (c - 48);
        else if (low >= 97 && low <= 102) unit = unit << 4 | (low - 87);
        else return null;
      }
      out.push(String.fromCharCode(unit));
    }
    return null;
  }
}

// For the generated types.
export function readList<T>(j: Json, read: (j: Json) => T): T[] {
  const out: T[] = [];
  if (j.kind == Kind.List) for (let i = 0; i < j.items.length; i++) out.push(read(j.items[i]));
  return out;
}
export function readMap<T>(j: Json, read: (j: Json) => T): Map<string, T> {
  const out = new Map<string, T>();
  if (j.kind == Kind.Object) for (let i = 0; i < j.items.length; i++) out.set(j.names[i], read(j.items[i]));
  return out;
}
export function writeList<T>(list: T[], write: (v: T) => Json): Json {
  const out = Json.list();
  for (let i = 0; i < list.length; i++) out.items.push(write(list[i]));
  return out;
}
export function writeMap<T>(map: Map<string, T>, write: (v: T) => Json): Json {
  const out = Json.object(), names = map.keys();
  for (let i = 0; i < names.length; i++) out.set(names[i], write(map.get(names[i])));
  return out;
}
