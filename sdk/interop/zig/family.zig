//! The conformance guest in Zig.
const std = @import("std");
const alcove = @import("alcove");
const Call = alcove.Call;

const Echo = struct { text: []const u8, count: i64, ratio: f64, flag: bool, list: []const []const u8, any: alcove.Value = .{}, names: alcove.Map(i64) = .{} };
const Fail = struct { code: []const u8, message: []const u8 };
const Text = struct { text: []const u8 };
const Key = struct { key: []const u8 };
const Remembered = struct { found: []const []const u8, importance: f64, total: usize, missing: []const u8 };
const Raw = struct { op: []const u8, request: alcove.Value };
const Answered = struct { answer: alcove.Value };
const Config = struct { word: []const u8 };
const Known = struct { caller: []const u8, namespace: []const u8, branch: []const u8, now: []const u8, word: []const u8 };

pub const tools = struct {
    pub fn memory_interop_echo(_: *Call, in: Echo) !Echo {
        return in;
    }

    pub fn memory_interop_fail(c: *Call, in: Fail) !Echo {
        return c.failWith(alcove.Code.named(in.code), .{ .where = "here" }, "{s}", .{in.message});
    }

    pub fn memory_interop_panic(_: *Call, in: Text) !Echo {
        alcove.panicAt(@src(), in.text);
    }

    pub fn memory_interop_memory(c: *Call, in: Key) !Remembered {
        _ = try c.memoryPut(.{ .items = &.{.{ .key = in.key, .value = c.json("tea"), .tags = &.{"drink"}, .type = "fact", .importance = 0.5, .metadata = .{ .members = &.{.{ .name = "n", .value = c.json(1) }} } }} });
        const got = try c.memoryGet(.{ .keys = &.{ in.key, "nothing" } });
        var out = Remembered{ .found = &.{}, .importance = 0, .total = 0, .missing = "" };
        const found = try c.arena.alloc([]const u8, got.memories.len);
        for (got.memories, found) |memory, *name| {
            name.* = if (memory) |m| m.key else "-";
            if (memory) |m| out.importance = m.importance orelse out.importance;
        }
        out.found = found;
        out.total = (try c.memorySearch(.{ .query = "tea", .k = 3 })).hits.len;
        _ = c.branchList() catch {
            out.missing = @tagName(c.failure.code);
        };
        return out;
    }

    pub fn memory_interop_raw(c: *Call, in: Raw) !Answered {
        return .{ .answer = try c.exchange(alcove.Value, in.op, in.request) };
    }

    pub fn memory_interop_context(c: *Call) !Known {
        const word = (try c.read(Config, c.config)).word;
        c.log("the word is {s}", .{word});
        return .{ .caller = c.context.caller, .namespace = c.context.namespace, .branch = c.context.branch, .now = c.context.now, .word = word };
    }
};

pub const jobs = struct {
    pub fn tidy(_: *Call, in: struct { n: i64 }) !struct { done: i64 } {
        return .{ .done = in.n };
    }
};

pub fn store(c: *Call, entries: []const alcove.Entry) !alcove.Decision {
    const changes = try c.arena.alloc(?alcove.Change, entries.len);
    for (entries, changes) |e, *change| {
        const value = c.read([]const u8, e.value) catch "";
        change.* = null;
        if (std.mem.eql(u8, e.change, "delete")) return .{ .refuse = "it stays" };
        if (std.mem.eql(u8, value, "no")) return .{ .refuse = "no means no" };
        if (std.mem.eql(u8, value, "maybe")) return .{ .propose = .{ .why = "perhaps", .changes = changes } };
        if (std.mem.eql(u8, value, "broken")) return c.fail(.unavailable, "it is broken", .{});
        if (!std.mem.eql(u8, value, "secret")) continue;
        const tags = try std.mem.concat(c.arena, []const u8, &.{ e.tags, &.{"redacted"} });
        change.* = .{ .value = c.json("[hidden]"), .tags = tags };
    }
    return .{ .change = changes };
}

pub fn stored(c: *Call, entries: []const alcove.Entry) !void {
    for (entries) |e| c.log("stored {s}", .{e.key});
}

pub fn rank(c: *Call, r: alcove.Ranking) ![]const f32 {
    const scores = try c.arena.alloc(f32, r.count);
    for (scores, r.columns[0], r.columns[1]) |*s, first, second| s.* = 2 * first + (if (std.math.isNan(second)) 0 else second);
    return scores;
}

pub fn embed(c: *Call, t: alcove.Texts) ![]const [3]f32 {
    const vectors = try c.arena.alloc([3]f32, t.texts.len);
    for (vectors, t.texts) |*v, text| v.* = .{ @floatFromInt(text.len), 0.5, -1 };
    return vectors;
}
