//! A family in Zig that does what its callers ask for. The tool state tells what an earlier caller left behind.
const std = @import("std");
const alcove = @import("alcove");
const Call = alcove.Call;
const Done = struct {};

var n: i64 = 0;
var clean = [_]u8{ 1, 2, 3 };
var evil: []const u8 = "none";
var held: ?[]u8 = null;

/// A number that the compiler does not know.
fn unknown(c: *Call) usize {
    return c.context.now.len;
}

pub const tools = struct {
    pub fn state(c: *Call) !struct { n: i64, clean: bool, evil: []const u8, held: bool } {
        const parsed = try c.read([]const i64, .{ .json = "[1,2]" });
        defer n += 1;
        return .{ .n = n, .clean = std.mem.eql(u8, &clean, &.{ 1, 2, 3 }) and parsed[1] == 2 and std.mem.eql(u8, c.json(0.5).json, "0.5"), .evil = evil, .held = held == null };
    }

    pub fn loop(c: *Call) Done {
        var i = unknown(c);
        while (i != 1) i = i *% 3 +% 2 | 2;
        return .{};
    }

    pub fn operations(c: *Call) Done {
        while (true) _ = c.memoryGet(.{ .keys = &.{"a"} }) catch {};
    }

    pub fn recursion(c: *Call) !struct { n: usize } {
        return .{ .n = deeper(c, unknown(c)) };
    }

    fn deeper(c: *Call, depth: usize) usize {
        var room: [64]usize = undefined;
        for (&room, 0..) |*r, i| r.* = depth +% i;
        return if (unknown(c) == 0) 0 else deeper(c, depth +% room[depth % 64]) +% room[(depth +% 7) % 64];
    }

    pub fn bare_recursion(c: *Call) !struct { n: usize } {
        return .{ .n = plain(c, 1) };
    }

    fn plain(c: *Call, depth: usize) usize {
        return if (unknown(c) == 0) 1 else plain(c, depth +% 1) *% 3 +% plain(c, depth +% 2);
    }

    pub fn memory(c: *Call) !Done {
        while (true) {
            const bytes = try c.arena.alloc(u8, 1 << 20);
            @memset(bytes, 1);
        }
    }

    pub fn pieces(c: *Call) !Done {
        while (true) {
            const piece = try c.arena.create(u64);
            piece.* = 1;
        }
    }

    pub fn texts(c: *Call) Done {
        var text: []const u8 = "x";
        while (true) text = c.format("{s}{s}", .{ text, text });
    }

    pub fn beyond(c: *Call) !Done {
        _ = try c.arena.alloc(u8, std.math.maxInt(usize) / 2 + unknown(c));
        return .{};
    }

    pub fn overflow(c: *Call) !struct { n: u8 } {
        var small: u8 = 200;
        small += @intCast(unknown(c) * 3);
        return .{ .n = small };
    }

    pub fn index(c: *Call) !struct { n: u8 } {
        return .{ .n = clean[unknown(c)] };
    }

    pub fn nothing(c: *Call) !struct { n: usize } {
        const none: ?[]u8 = if (unknown(c) == 0) clean[0..] else null;
        return .{ .n = none.?.len };
    }

    pub fn failed(_: *Call) !Done {
        return error.KettleIsEmpty;
    }

    pub fn panics(_: *Call) !Done {
        alcove.panicAt(@src(), "the guest gave up \"\n\x00\xff" ** 100);
    }

    pub fn nested(c: *Call) !Done {
        const text = try c.arena.alloc(u8, 1 << 20);
        @memset(text, '[');
        _ = try c.read(alcove.Value, .{ .json = text });
        return .{};
    }

    pub fn digits(c: *Call) !struct { n: f64 } {
        const text = try c.arena.alloc(u8, 1 << 20);
        @memset(text, '9');
        return .{ .n = try c.read(f64, .{ .json = text }) };
    }

    pub fn result(c: *Call) !struct { text: []u8 } {
        const text = try c.arena.alloc(u8, 1 << 22);
        @memset(text, 'x');
        return .{ .text = text };
    }

    pub fn lines(c: *Call) !Done {
        for (0..10_000) |_| c.log("{s}", .{"x" ** 100});
        return .{};
    }

    pub fn wild(c: *Call) !Done {
        const at: *volatile u32 = @ptrFromInt(0xffff_fff0 - unknown(c) * 4);
        at.* = 1;
        return .{};
    }

    pub fn globals(c: *Call) !Done {
        n += 1;
        evil = "left";
        clean[0] = 9;
        held = try c.arena.alloc(u8, 1 << 20);
        return .{};
    }

    pub fn scribbles(_: *Call) Done {
        var at: usize = 8;
        while (at < @wasmMemorySize(0) << 16) : (at += 4) @as(*volatile u32, @ptrFromInt(at)).* = 0xdeadbeef;
        return .{};
    }

    pub fn grows(_: *Call) !struct { n: usize } {
        n += 1;
        while (@wasmMemoryGrow(0, 1) >= 0) {}
        return .{ .n = @wasmMemorySize(0) };
    }
};
