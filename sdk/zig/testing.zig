//! The host of a test.
const std = @import("std");
const alcove = @import("alcove.zig");

/// A host whose operations the test defines. An operation that it was not given is answered with not_found.
pub const Fake = struct {
    /// The configuration of requests, as JSON.
    config: []const u8 = "{}",
    /// The operations that were called, and their requests as JSON.
    called: std.ArrayListUnmanaged(Exchange) = .{},
    /// The lines that were logged.
    logged: std.ArrayListUnmanaged([]const u8) = .{},
    /// The body of the error that was answered last.
    failure: struct { code: alcove.Code = .internal, message: []const u8 = "" } = .{},
    answers: std.ArrayListUnmanaged(Exchange) = .{},
    arena: std.heap.ArenaAllocator,

    pub const Exchange = struct { op: []const u8, json: []const u8 };

    pub fn init() Fake {
        return .{ .arena = std.heap.ArenaAllocator.init(std.testing.allocator) };
    }

    pub fn deinit(f: *Fake) void {
        f.arena.deinit();
    }

    /// Gives an operation its answer, as JSON.
    pub fn answer(f: *Fake, op: []const u8, json: []const u8) void {
        f.answers.append(f.arena.allocator(), .{ .op = op, .json = json }) catch @panic("out of memory");
    }

    /// Calls a tool with arguments as JSON, and returns its result as JSON.
    pub fn tool(f: *Fake, comptime family: type, name: []const u8, arguments: []const u8) ![]const u8 {
        return f.ask(family, alcove.kind_tool, .{ .tool = name, .arguments = alcove.Value{ .json = arguments } });
    }

    /// Runs a job.
    pub fn job(f: *Fake, comptime family: type, name: []const u8, payload: []const u8) ![]const u8 {
        return f.ask(family, alcove.kind_hook, .{ .hook = "job", .job = name, .payload = alcove.Value{ .json = payload } });
    }

    /// Asks the store hook about entries as JSON. The answer is empty if nothing changes.
    pub fn store(f: *Fake, comptime family: type, entries: []const u8) ![]const u8 {
        return f.ask(family, alcove.kind_hook, .{ .hook = "store", .entries = alcove.Value{ .json = entries } });
    }

    fn ask(f: *Fake, comptime family: type, kind: u32, members: anytype) ![]const u8 {
        const arena = f.arena.allocator();
        const own = @import("json.zig").encode(arena, members);
        const context =
            \\{"family":"test","caller":"tester","namespace":"default","branch":"default","now":"2026-06-01T12:00:00Z","request_id":"r1"}
        ;
        const request = try std.mem.concat(arena, u8, &.{ own[0 .. own.len - 1], ",\"config\":", f.config, ",\"context\":", context, "}" });
        var ok = false;
        const result = alcove.serve(family, .{ .self = f, .call = call, .log = log }, arena, kind, request, &ok);
        if (ok) return result;
        var p = @import("json.zig").Parser{ .text = result, .arena = arena };
        const body = try p.whole(alcove.Body);
        f.failure = .{ .code = alcove.Code.named(body.code), .message = body.message };
        return error.Failed;
    }

    fn call(self: *anyopaque, op: []const u8, request: []const u8, ok: *bool) []const u8 {
        const f: *Fake = @ptrCast(@alignCast(self));
        f.called.append(f.arena.allocator(), .{ .op = op, .json = request }) catch @panic("out of memory");
        for (f.answers.items) |a| if (std.mem.eql(u8, a.op, op)) {
            ok.* = true;
            return a.json;
        };
        ok.* = false;
        return "{\"code\":\"not_found\",\"message\":\"the test has no such operation\",\"retryable\":false}";
    }

    fn log(self: *anyopaque, line: []const u8) void {
        const f: *Fake = @ptrCast(@alignCast(self));
        f.logged.append(f.arena.allocator(), line) catch @panic("out of memory");
    }
};
