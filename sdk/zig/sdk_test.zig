//! Tests of the SDK: build.sh --test sdk_test.zig
const std = @import("std");
const alcove = @import("alcove");
const expect = std.testing.expect;
const same = std.testing.expectEqualStrings;

/// Reads JSON into a type in the arena of a call.
const Reader = struct {
    arena: std.heap.ArenaAllocator = std.heap.ArenaAllocator.init(std.testing.allocator),

    fn call(r: *Reader) alcove.Call {
        return .{ .context = undefined, .config = .{}, .input = .{}, .arena = r.arena.allocator(), .host = undefined };
    }
};

const All = struct {
    text: []const u8,
    n: i64,
    wide: u64 = 0,
    small: u8 = 7,
    ratio: f64 = 0,
    single: f32 = 0,
    flag: bool = false,
    kind: enum { warm, cold } = .warm,
    list: []const []const u8 = &.{},
    maybe: ?i64 = null,
    inner: ?struct { deep: []const ?f64 } = null,
    any: alcove.Value = .{},
    names: alcove.Map(i64) = .{},
};

test "what was read is written again" {
    var r = Reader{};
    defer r.arena.deinit();
    var c = r.call();
    for ([_][]const u8{
        \\{"text":"a \" \\ \n \t \u0001 é 😀","n":-9223372036854775808,"wide":18446744073709551615}
        ,
        \\{"text":"","n":0,"small":0,"ratio":0.1,"single":0.1,"flag":true,"kind":"cold","list":["","b"],"maybe":0}
        ,
        \\{"text":"","n":0,"inner":{"deep":[1,null,-2.5e-7]},"any":{"z":[1.50,{"y":"\u00e9"}],"a":{}},"names":{"é":1,"b":-2}}
    }) |text| {
        try same(text, c.json(try c.read(All, .{ .json = text })).json);
    }
}

test "what is not there is empty or the default" {
    var r = Reader{};
    defer r.arena.deinit();
    var c = r.call();
    const v = try c.read(All, .{ .json = " { \"unknown\" : [ { } ] , \"n\" : null, \"maybe\": null } " });
    try expect(v.text.len == 0 and v.n == 0 and v.small == 7 and v.maybe == null and v.any.isNull());
    try same("{\"text\":\"\",\"n\":0}", c.json(v).json);
    try same("\"é\\u0000\"", c.json("é\x00").json);
    try same("[1,2]", c.json(&[_]u16{ 1, 2 }).json);
    try same("{\"a\":\"x\",\"b\":0.5,\"c\":null,\"d\":{}}", c.json(.{ .a = "x", .b = 0.5, .c = null, .d = .{} }).json);
}

test "a text is what its escapes say" {
    var r = Reader{};
    defer r.arena.deinit();
    var c = r.call();
    try same("é😀/\x08\x0c\r\n\t\"\\", try c.read([]const u8, .{ .json = "\"\\u00E9\\ud83d\\ude00\\/\\b\\f\\r\\n\\t\\\"\\\\\"" }));
    try same("\u{fffd}x\u{fffd}", try c.read([]const u8, .{ .json = "\"\\ud800x\\udc00\"" }));
    const object = alcove.Value{ .json = "{\"a\":1,\"\\u0062c\":{\"d\":[2]},\"a\\\"\":3}" };
    try same("1", object.get("a").json);
    try same("[2]", object.get("bc").get("d").json);
    try same("3", object.get("a\"").json);
    try expect(object.get("b").isNull() and object.get("a").get("a").isNull() and (alcove.Value{ .json = "{" }).get("a").isNull());
}

test "a fault says what was wanted, and where" {
    var r = Reader{};
    defer r.arena.deinit();
    var c = r.call();
    for ([_][2][]const u8{
        .{ "{\"text\":1}", "text: want text" },
        .{ "{\"n\":1.5}", "n: want a whole number" },
        .{ "{\"n\":9223372036854775808}", "n: want a whole number" },
        .{ "{\"wide\":-1}", "wide: want a whole number" },
        .{ "{\"small\":256}", "small: want a whole number" },
        .{ "{\"n\":\"1\"}", "n: want a whole number" },
        .{ "{\"ratio\":true}", "ratio: want a number" },
        .{ "{\"flag\":0}", "flag: want true or false" },
        .{ "{\"kind\":\"hot\"}", "kind: want one of warm, cold" },
        .{ "{\"list\":[\"a\",2]}", "list: 1: want text" },
        .{ "{\"list\":{}}", "list: want a list" },
        .{ "{\"inner\":{\"deep\":[0,[]]}}", "inner: deep: 1: want a number" },
        .{ "{\"names\":{\"a\":\"b\"}}", "names: a: want a whole number" },
        .{ "[]", "want an object" },
    }) |pair| {
        try std.testing.expectError(error.Failed, c.read(All, .{ .json = pair[0] }));
        try same(pair[1], c.failure.message);
        try expect(c.failure.code == .invalid_argument);
    }
    try expect(try c.read(i64, .{ .json = "2e2" }) == 200);
    try expect(try c.read(i64, .{ .json = "-250.0" }) == -250);
}

test "what is no JSON is refused" {
    var r = Reader{};
    defer r.arena.deinit();
    var c = r.call();
    for ([_][]const u8{ "", "{", "[1,]", "[,1]", "01", "1.", "-", "1e", "\"\n\"", "\"\\x\"", "{\"a\" 1}", "{a:1}", "{\"a\":1,}", "{1:1}", "nul", "nulll", "1 2", "\"\\u00g0\"", "\"", "\"\\u12", "\"\\", "[1 2]", "{\"a\":}", "}" }) |text| {
        if (c.read(struct { any: alcove.Value }, .{ .json = text })) |_| return error.WasRead else |_| {}
        if (c.read(alcove.Value, .{ .json = text })) |_| return error.WasRead else |_| {}
    }
    const deep = "[" ** 200 ++ "]" ** 200;
    try same(deep, (try c.read(alcove.Value, .{ .json = deep })).json);
    try std.testing.expectError(error.Failed, c.read(alcove.Value, .{ .json = "[" ++ deep ++ "]" }));
    const Nested = struct { a: []const @This() };
    try std.testing.expectError(error.Failed, c.read(Nested, .{ .json = "{\"a\":[" ** 1000 }));
}

/// Writes a number, and reads it again with this and with another parser.
fn roundTrips(c: *alcove.Call, v: f64) !void {
    const text = c.json(v).json;
    try expect(try c.read(f64, .{ .json = text }) == v and try std.fmt.parseFloat(f64, text) == v);
}

test "numbers are exact" {
    var r = Reader{};
    defer r.arena.deinit();
    var c = r.call();
    for ([_]f64{ 0, 0.1, 250, -0.000125, 3.141592653589793, 1e21, 1e22, 1e300, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740993, 123456789.25, 0.3, 1e-7, 0.00001 }) |v| {
        try roundTrips(&c, v);
        try roundTrips(&c, -v);
    }
    try same("0.00001", c.json(@as(f64, 0.00001)).json);
    try same("1e-7", c.json(@as(f64, 1e-7)).json);
    try same("0.1", c.json(@as(f32, 0.1)).json);
    try same("null", c.json(std.math.nan(f64)).json);
    var seed: u64 = 1;
    for (0..2000) |_| {
        seed = seed *% 6364136223846793005 +% 1442695040888963407;
        const v: f64 = @bitCast(seed ^ seed >> 29);
        if (v - v == 0) try roundTrips(&c, v);
    }
}

const family = struct {
    pub const tools = struct {
        pub const Kept = struct { key: []const u8 };
        pub fn plain(_: *alcove.Call) Kept {
            return .{ .key = "k" };
        }
        pub fn @"tea.pour-out"(c: *alcove.Call, _: struct {}) !void {
            c.log("poured {d}", .{2});
        }
        pub fn broken(_: *alcove.Call) !Kept {
            return error.KettleIsEmpty;
        }
        pub fn asks(c: *alcove.Call) !Kept {
            return c.failWith(.input_required, .{ .state = "s" }, "which tea?", .{});
        }
        pub fn lists(c: *alcove.Call) !Kept {
            return .{ .key = (try c.memoryGet(.{ .keys = &.{"a"} })).memories[0].?.key };
        }
    };
    pub const jobs = struct {
        pub fn tidy(_: *alcove.Call, in: ?struct { n: i64 }) !struct { done: i64 } {
            return .{ .done = if (in) |i| i.n else -1 };
        }
    };
    pub fn store(_: *alcove.Call, entries: []const alcove.Entry) !alcove.Decision {
        return if (entries.len == 0) .keep else .{ .refuse = "why" };
    }
};

test "a family is its public functions" {
    var host = alcove.Fake.init();
    defer host.deinit();
    try same("{\"key\":\"k\"}", try host.tool(family, "plain", "{}"));
    try same("{}", try host.tool(family, "tea.pour-out", "{}"));
    try same("poured 2", host.logged.items[0]);
    try same("{\"done\":-1}", try host.job(family, "tidy", "null"));
    try same("{\"done\":3}", try host.job(family, "tidy", "{\"n\":3}"));
    try same("", try host.store(family, "[]"));
    try same("{\"refuse\":\"why\"}", try host.store(family, "[{\"namespace\":\"default\",\"key\":\"a\"}]"));
    for ([_]struct { tool: []const u8, code: alcove.Code, message: []const u8 }{
        .{ .tool = "none", .code = .not_found, .message = "this family has no tool \"none\"" },
        .{ .tool = "broken", .code = .internal, .message = "KettleIsEmpty" },
        .{ .tool = "asks", .code = .input_required, .message = "which tea?" },
        .{ .tool = "lists", .code = .not_found, .message = "the test has no such operation" },
    }) |t| {
        try std.testing.expectError(error.Failed, host.tool(family, t.tool, "{}"));
        try expect(host.failure.code == t.code);
        try same(t.message, host.failure.message);
    }
    host.answer("memory.get", "{\"memories\":[{\"namespace\":\"default\",\"key\":3}]}");
    try std.testing.expectError(error.Failed, host.tool(family, "lists", "{}"));
    try same("read the answer of memory.get: memories: 0: key: want text", host.failure.message);
}
