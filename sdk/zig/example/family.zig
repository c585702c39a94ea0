//! Greets people, and remembers whom it greeted.
//
//alcove:family example 0.1.0
//alcove:license Apache-2.0
//alcove:needs memory.write * to remember whom it greeted
const std = @import("std");
const alcove = @import("alcove");

//alcove:config
const Config = struct {
    word: []const u8 = "Hello", // the word before the name
};
const Greet = struct {
    name: []const u8, // whom
};
const Greeting = struct { text: []const u8 };

pub const tools = struct {
    /// Greet somebody.
    pub fn memory_greet(c: *alcove.Call, in: Greet) !Greeting {
        if (in.name.len == 0) return c.fail(.invalid_argument, "give a name", .{});
        const config = try c.read(Config, c.config);
        const kept = c.json(c.format("greeted {s}", .{in.name}));
        _ = try c.memoryPut(.{ .items = &.{.{ .value = kept, .tags = &.{"greeting"} }} });
        return .{ .text = c.format("{s}, {s}!", .{ config.word, in.name }) };
    }
};

test "a greeting is remembered" {
    var host = alcove.Fake.init();
    defer host.deinit();
    host.answer("memory.put", "{\"stored\":[]}");
    try std.testing.expectEqualStrings("{\"text\":\"Hello, Ada!\"}", try host.tool(@This(), "memory_greet", "{\"name\":\"Ada\"}"));
    try std.testing.expectError(error.Failed, host.tool(@This(), "memory_greet", "{\"name\":\"\"}"));
    try std.testing.expectEqual(alcove.Code.invalid_argument, host.failure.code);
    try std.testing.expectEqual(@as(usize, 1), host.called.items.len);
}
