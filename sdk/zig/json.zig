//! JSON as hosts and guests exchange it, read into types and written from them.
//!
//! A struct is an object. A field with a default need not be there, and is left out where it equals that; any other field is empty where it is
//! not there. Null is what is not there. Members without a field are passed over.
//!
//! What is made for each type is not inlined, which would double modules.
const std = @import("std");
const number = @import("number.zig");
const Allocator = std.mem.Allocator;

/// Any JSON, as its text.
pub const Value = struct {
    json: []const u8 = "null",

    /// The member of an object; null where there is none, and of everything else.
    pub fn get(v: Value, name: []const u8) Value {
        var p = Parser{ .text = v.json, .arena = undefined };
        var elements = p.open('{') orelse return .{};
        while (elements.more(&p) catch false) {
            const found = p.named(name) catch return .{};
            const member = p.any() catch return .{};
            if (found) return member;
        }
        return .{};
    }

    pub fn isNull(v: Value) bool {
        return std.mem.eql(u8, v.json, "null");
    }
};

/// An object whose members have any names, in their order.
pub fn Map(comptime T: type) type {
    return struct {
        members: []const Member = &.{},

        pub const Member = struct { name: []const u8, value: T };
        const is_map = true;

        pub fn get(m: @This(), name: []const u8) ?T {
            for (m.members) |member| if (std.mem.eql(u8, member.name, name)) return member.value;
            return null;
        }
    };
}

/// What a type is in JSON.
const Form = enum { value, bool, int, float, text, name, list, map, object, optional };

fn formOf(comptime T: type) Form {
    comptime {
        @setEvalBranchQuota(10_000);
        if (T == Value) return .value;
        const kind = kindOf(T);
        for (.{ "bool", "int", "float", "optional" }, .{ .bool, .int, .float, .optional }) |name, form| if (std.mem.eql(u8, kind, name)) return form;
        for (.{ "comptimeint", "comptimefloat", "enum", "null" }, .{ .int, .float, .name, .optional }) |name, form| if (std.mem.eql(u8, kind, name)) return form;
        if (std.mem.eql(u8, kind, "struct")) return if (@hasDecl(T, "is_map")) .map else .object;
        if (std.mem.eql(u8, kind, "pointer")) return if (Item(T) == u8) .text else .list;
        @compileError("JSON has no " ++ @typeName(T));
    }
}

/// The kind of a type, whose name compilers of several ages write differently: Struct and struct, ErrorUnion and error_union.
pub fn kindOf(comptime T: type) []const u8 {
    comptime {
        var kind: []const u8 = "";
        for (@tagName(@typeInfo(T))) |c| if (c != '_') {
            kind = kind ++ [_]u8{c | 32};
        };
        return kind;
    }
}

/// What is known of a type, whatever the name of its kind.
pub fn info(comptime T: type) @TypeOf(@field(@typeInfo(T), @tagName(@typeInfo(T)))) {
    return @field(@typeInfo(T), @tagName(@typeInfo(T)));
}

/// The type of a list's elements.
fn Item(comptime T: type) type {
    const child = info(T).child;
    return if (comptime std.mem.eql(u8, kindOf(child), "array")) info(child).child else child;
}

fn defaultOf(comptime f: anytype) ?f.type {
    const at = if (@hasField(@TypeOf(f), "default_value_ptr")) f.default_value_ptr else f.default_value;
    return if (at) |p| @as(*const f.type, @ptrCast(@alignCast(p))).* else null;
}

/// What a type is where nothing is there.
pub fn empty(comptime T: type) T {
    return switch (comptime formOf(T)) {
        .value, .map => .{},
        .bool => false,
        .int, .float => 0,
        .name => @enumFromInt(info(T).fields[0].value),
        .text, .list => &.{},
        .optional => null,
        .object => {
            var v: T = undefined;
            inline for (info(T).fields) |f| @field(v, f.name) = comptime defaultOf(f) orelse empty(f.type);
            return v;
        },
    };
}

pub const Wrong = error{Wrong};

/// Memory of the request; a guest without is at its end.
pub fn some(arena: Allocator, comptime T: type, n: usize) []T {
    return arena.alloc(T, n) catch @panic("out of memory");
}

/// Reads JSON. The problem is what was wanted, with the way to it.
pub const Parser = struct {
    text: []const u8,
    arena: Allocator,
    at: usize = 0,
    depth: u32 = 0,
    problem: []const u8 = "want JSON",

    /// How many lists and objects may be inside of each other.
    const deepest = 200;

    /// Reads all of the text.
    pub noinline fn whole(p: *Parser, comptime T: type) Wrong!T {
        var v = empty(T);
        try p.read(T, &v);
        p.blanks();
        return if (p.at == p.text.len) v else p.malformed();
    }

    fn read(p: *Parser, comptime T: type, into: *T) Wrong!void {
        const form = comptime formOf(T);
        if (form == .value) {
            into.* = try p.any();
            return;
        }
        if (p.word("null")) return;
        switch (form) {
            .value => unreachable,
            .bool => into.* = if (p.word("true")) true else if (p.word("false")) false else return p.want("true or false"),
            .int => into.* = std.math.cast(T, try p.int(info(T).signedness == .unsigned)) orelse return p.want("a whole number"),
            .float => into.* = @floatCast(number.parse(try p.digits("a number"))),
            .text => into.* = try p.string(),
            .name => into.* = try p.name(T),
            .list => try p.list(info(T).child, into),
            .map => try p.map(T, into),
            .object => try p.object(T, into),
            .optional => {
                var v = empty(info(T).child);
                try p.read(info(T).child, &v);
                into.* = v;
            },
        }
    }

    noinline fn object(p: *Parser, comptime T: type, into: *T) Wrong!void {
        var elements = p.open('{') orelse return p.want("an object");
        while (try elements.more(p)) {
            const member = try p.memberName();
            inline for (info(T).fields) |f| {
                if (std.mem.eql(u8, f.name, member)) {
                    p.read(f.type, &@field(into, f.name)) catch return p.inside(f.name);
                    break;
                }
            } else _ = try p.any();
        }
    }

    noinline fn list(p: *Parser, comptime T: type, into: *[]const T) Wrong!void {
        var elements = p.open('[') orelse return p.want("a list");
        var all = List(T){ .arena = p.arena };
        while (try elements.more(p)) {
            const v = all.push();
            v.* = empty(T);
            p.read(T, v) catch {
                var room: [number.longest]u8 = undefined;
                return p.inside(number.whole(&room, all.n - 1, false));
            };
        }
        into.* = all.items[0..all.n];
    }

    noinline fn map(p: *Parser, comptime T: type, into: *T) Wrong!void {
        var elements = p.open('{') orelse return p.want("an object");
        var all = List(T.Member){ .arena = p.arena };
        while (try elements.more(p)) {
            const m = all.push();
            m.* = .{ .name = try p.memberName(), .value = empty(@TypeOf(m.value)) };
            p.read(@TypeOf(m.value), &m.value) catch return p.inside(m.name);
        }
        into.members = all.items[0..all.n];
    }

    fn open(p: *Parser, c: u8) ?Elements {
        if (!p.pass(c)) return null;
        p.depth += 1;
        return .{ .end = if (c == '{') '}' else ']' };
    }

    fn name(p: *Parser, comptime T: type) Wrong!T {
        const text = try p.string();
        inline for (info(T).fields) |f| if (std.mem.eql(u8, f.name, text)) return @enumFromInt(f.value);
        comptime var names: []const u8 = "";
        inline for (info(T).fields) |f| names = names ++ (if (names.len > 0) ", " else "one of ") ++ f.name;
        return p.want(names);
    }

    fn int(p: *Parser, unsigned: bool) Wrong!i128 {
        const text = try p.digits("a whole number");
        const minus = text[0] == '-';
        var n: u64 = 0;
        const plain = for (text[@intFromBool(minus)..]) |c| {
            if (c < '0' or c > '9') break false;
            const ten = @mulWithOverflow(n, 10);
            const sum = @addWithOverflow(ten[0], c - '0');
            if (ten[1] | sum[1] != 0) break false;
            n = sum[0];
        } else true;
        if (!plain) {
            const v = number.parse(text);
            if (!(v > -9007199254740992 and v < 9007199254740992) or v != @trunc(v)) return p.want("a whole number");
            n = @intFromFloat(if (v < 0) -v else v);
        }
        if (unsigned and minus and n > 0) return p.want("a whole number");
        return if (minus) -@as(i128, n) else n;
    }

    fn digits(p: *Parser, wanted: []const u8) Wrong![]const u8 {
        p.blanks();
        const from = p.at;
        if (from == p.text.len or (p.text[from] != '-' and !decimal(p.text[from]))) return p.want(wanted);
        try p.passNumber();
        return p.text[from..p.at];
    }

    /// A text without escapes is that of the source.
    fn string(p: *Parser) Wrong![]const u8 {
        p.blanks();
        if (p.at == p.text.len or p.text[p.at] != '"') return p.want("text");
        const from = p.at + 1;
        const escapes = try p.passString();
        const inner = p.text[from .. p.at - 1];
        if (!escapes) return inner;
        const out = some(p.arena, u8, inner.len);
        var runes = Runes{ .text = inner };
        var n: usize = 0;
        while (runes.next()) |piece| {
            @memcpy(out[n..][0..piece.len], piece);
            n += piece.len;
        }
        return out[0..n];
    }

    fn memberName(p: *Parser) Wrong![]const u8 {
        const text = p.string() catch return p.malformed();
        return if (p.pass(':')) text else p.malformed();
    }

    /// Passes a member's name, and says whether it is that one.
    fn named(p: *Parser, text: []const u8) Wrong!bool {
        p.blanks();
        const from = p.at + 1;
        if (p.at == p.text.len or p.text[p.at] != '"') return p.malformed();
        const escapes = try p.passString();
        const inner = p.text[from .. p.at - 1];
        if (!p.pass(':')) return p.malformed();
        if (!escapes) return std.mem.eql(u8, inner, text);
        var runes = Runes{ .text = inner };
        var rest = text;
        while (runes.next()) |piece| {
            if (!std.mem.startsWith(u8, rest, piece)) return false;
            rest = rest[piece.len..];
        }
        return rest.len == 0;
    }

    fn any(p: *Parser) Wrong!Value {
        p.blanks();
        const from = p.at;
        try p.skip();
        return .{ .json = p.text[from..p.at] };
    }

    fn skip(p: *Parser) Wrong!void {
        p.blanks();
        if (p.at == p.text.len) return p.malformed();
        switch (p.text[p.at]) {
            '{', '[' => |c| {
                var elements = p.open(c).?;
                while (try elements.more(p)) {
                    if (c == '{') _ = try p.named("");
                    try p.skip();
                }
            },
            '"' => _ = try p.passString(),
            '-', '0'...'9' => try p.passNumber(),
            else => if (!p.word("null") and !p.word("true") and !p.word("false")) return p.malformed(),
        }
    }

    /// Passes a text, and says whether it has escapes.
    fn passString(p: *Parser) Wrong!bool {
        var escapes = false;
        p.at += 1;
        while (p.at < p.text.len) {
            const c = p.text[p.at];
            p.at += 1;
            switch (c) {
                '"' => return escapes,
                0...31 => return p.malformed(),
                '\\' => {
                    escapes = true;
                    if (p.at == p.text.len) return p.malformed();
                    const n: usize = switch (p.text[p.at]) {
                        '"', '\\', '/', 'b', 'f', 'n', 'r', 't' => 1,
                        'u' => 5,
                        else => return p.malformed(),
                    };
                    if (p.text.len - p.at < n) return p.malformed();
                    for (p.text[p.at + 1 .. p.at + n]) |digit| if (!std.ascii.isHex(digit)) return p.malformed();
                    p.at += n;
                },
                else => {},
            }
        }
        return p.malformed();
    }

    fn passNumber(p: *Parser) Wrong!void {
        if (p.text[p.at] == '-') p.at += 1;
        if (p.at < p.text.len and p.text[p.at] == '0') p.at += 1 else if (!p.passDigits()) return p.malformed();
        if (p.at < p.text.len and p.text[p.at] == '.') {
            p.at += 1;
            if (!p.passDigits()) return p.malformed();
        }
        if (p.at < p.text.len and p.text[p.at] | 32 == 'e') {
            p.at += 1;
            if (p.at < p.text.len and (p.text[p.at] == '+' or p.text[p.at] == '-')) p.at += 1;
            if (!p.passDigits()) return p.malformed();
        }
    }

    fn passDigits(p: *Parser) bool {
        const from = p.at;
        while (p.at < p.text.len and decimal(p.text[p.at])) p.at += 1;
        return p.at > from;
    }

    fn blanks(p: *Parser) void {
        while (p.at < p.text.len) : (p.at += 1) switch (p.text[p.at]) {
            ' ', '\t', '\n', '\r' => {},
            else => return,
        };
    }

    fn pass(p: *Parser, c: u8) bool {
        p.blanks();
        if (p.at == p.text.len or p.text[p.at] != c) return false;
        p.at += 1;
        return true;
    }

    fn word(p: *Parser, text: []const u8) bool {
        p.blanks();
        if (!std.mem.startsWith(u8, p.text[p.at..], text)) return false;
        p.at += text.len;
        return true;
    }

    fn want(p: *Parser, what: []const u8) Wrong {
        p.problem = p.joined("want ", what);
        return error.Wrong;
    }

    fn malformed(p: *Parser) Wrong {
        p.problem = "want JSON";
        return error.Wrong;
    }

    fn inside(p: *Parser, where: []const u8) Wrong {
        p.problem = p.joined(p.joined(where, ": "), p.problem);
        return error.Wrong;
    }

    fn joined(p: *Parser, a: []const u8, b: []const u8) []const u8 {
        const out = some(p.arena, u8, a.len + b.len);
        @memcpy(out[0..a.len], a);
        @memcpy(out[a.len..], b);
        return out;
    }
};

/// The elements of a list or an object.
const Elements = struct {
    end: u8,
    first: bool = true,

    /// Says whether another one follows, and passes what is between.
    fn more(e: *Elements, p: *Parser) Wrong!bool {
        if (p.depth > Parser.deepest) return p.malformed();
        if (p.pass(e.end)) {
            p.depth -= 1;
            return false;
        }
        if (!e.first and !p.pass(',')) return p.malformed();
        e.first = false;
        return true;
    }
};

fn List(comptime T: type) type {
    return struct {
        arena: Allocator,
        items: []T = &.{},
        n: usize = 0,

        fn push(l: *@This()) *T {
            if (l.n == l.items.len) {
                const items = some(l.arena, T, 2 * l.n + 4);
                @memcpy(items[0..l.n], l.items);
                l.items = items;
            }
            l.n += 1;
            return &l.items[l.n - 1];
        }
    };
}

fn decimal(c: u8) bool {
    return c >= '0' and c <= '9';
}

/// The pieces of a text that was passed, without its escapes.
const Runes = struct {
    text: []const u8,
    room: [4]u8 = undefined,

    fn next(r: *Runes) ?[]const u8 {
        if (r.text.len == 0) return null;
        const n = std.mem.indexOfScalar(u8, r.text, '\\') orelse r.text.len;
        if (n > 0) return r.take(n);
        const c = r.take(2)[1];
        r.room[0] = switch (c) {
            'b' => 8,
            'f' => 12,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return r.room[0..r.rune()],
            else => c,
        };
        return r.room[0..1];
    }

    fn take(r: *Runes, n: usize) []const u8 {
        defer r.text = r.text[n..];
        return r.text[0..n];
    }

    /// Half of a pair is the replacement character.
    fn rune(r: *Runes) usize {
        var c: u21 = hex(r.take(4));
        if (c >= 0xd800 and c < 0xdc00 and std.mem.startsWith(u8, r.text, "\\u")) {
            const low = hex(r.text[2..6]);
            if (low >= 0xdc00 and low < 0xe000) {
                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
                _ = r.take(6);
            }
        }
        if (c >= 0xd800 and c < 0xe000) c = 0xfffd;
        return std.unicode.utf8Encode(c, &r.room) catch unreachable;
    }

    fn hex(text: []const u8) u21 {
        var v: u21 = 0;
        for (text[0..4]) |c| v = v << 4 | (if (decimal(c)) c - '0' else (c | 32) - 'a' + 10);
        return v;
    }
};

/// Text that grows.
pub const Writer = struct {
    arena: Allocator,
    bytes: []u8 = &.{},
    n: usize = 0,

    pub fn text(w: *const Writer) []const u8 {
        return w.bytes[0..w.n];
    }

    pub fn add(w: *Writer, more: []const u8) void {
        if (w.bytes.len - w.n < more.len) w.grow(more.len);
        @memcpy(w.bytes[w.n..][0..more.len], more);
        w.n += more.len;
    }

    fn grow(w: *Writer, by: usize) void {
        const room = 2 * (w.n + by) + 64;
        if (w.bytes.len > 0 and w.arena.resize(w.bytes, room)) {
            w.bytes.len = room;
            return;
        }
        const bytes = some(w.arena, u8, room);
        @memcpy(bytes[0..w.n], w.text());
        w.bytes = bytes;
    }

    pub fn write(w: *Writer, comptime T: type, v: T) void {
        switch (comptime formOf(T)) {
            .value => w.add(v.json),
            .bool => w.add(if (v) "true" else "false"),
            .int => w.int(v),
            .float => {
                var room: [number.longest]u8 = undefined;
                w.add(number.format(&room, v, T == f32));
            },
            .text => w.quote(v),
            .name => w.quote(@tagName(v)),
            .list => {
                for (v, 0..) |item, i| {
                    w.add(if (i == 0) "[" else ",");
                    w.write(Item(T), item);
                }
                w.add(if (v.len == 0) "[]" else "]");
            },
            .map => {
                for (v.members, 0..) |m, i| {
                    w.member(m.name, i == 0);
                    w.write(@TypeOf(m.value), m.value);
                }
                w.add(if (v.members.len == 0) "{}" else "}");
            },
            .object => w.object(T, v),
            .optional => if (T == @TypeOf(null)) w.add("null") else if (v) |one| w.write(@TypeOf(one), one) else w.add("null"),
        }
    }

    noinline fn object(w: *Writer, comptime T: type, v: T) void {
        var first = true;
        inline for (info(T).fields) |f| {
            if (!absent(f, @field(v, f.name))) {
                w.member(f.name, first);
                w.write(f.type, @field(v, f.name));
                first = false;
            }
        }
        w.add(if (first) "{}" else "}");
    }

    fn member(w: *Writer, name: []const u8, first: bool) void {
        w.add(if (first) "{" else ",");
        w.quote(name);
        w.add(":");
    }

    fn int(w: *Writer, v: anytype) void {
        var room: [number.longest]u8 = undefined;
        const n: i128 = v;
        w.add(number.whole(&room, @intCast(if (n < 0) -n else n), n < 0));
    }

    fn quote(w: *Writer, plain: []const u8) void {
        w.add("\"");
        var from: usize = 0;
        for (plain, 0..) |c, i| {
            if (c >= ' ' and c != '"' and c != '\\') continue;
            w.add(plain[from..i]);
            from = i + 1;
            const digits = "0123456789abcdef";
            w.add(switch (c) {
                '"' => "\\\"",
                '\\' => "\\\\",
                '\n' => "\\n",
                '\t' => "\\t",
                else => &[_]u8{ '\\', 'u', '0', '0', digits[c >> 4], digits[c & 15] },
            });
        }
        w.add(plain[from..]);
        w.add("\"");
    }
};

/// Says whether a field is left out.
fn absent(comptime f: anytype, v: f.type) bool {
    if (f.is_comptime) return false; // a literal
    if (comptime defaultOf(f) == null) return false;
    const default = comptime defaultOf(f).?;
    return switch (comptime formOf(f.type)) {
        .value => v.isNull(),
        .text => std.mem.eql(u8, v, default),
        .list => v.len == 0 and default.len == 0,
        .map => v.members.len == 0,
        .object => false,
        .optional => v == null,
        else => v == default,
    };
}

/// The JSON of a value of any type.
pub noinline fn encode(arena: Allocator, v: anytype) []const u8 {
    var w = Writer{ .arena = arena };
    w.write(@TypeOf(v), v);
    return w.text();
}
