//! The program that becomes the module: the functions that a guest exchanges with its host.
const std = @import("std");
const alcove = @import("alcove");
const memory = alcove.memory;

extern "alcove" fn read(channel: i32, to: [*]u8, room: usize) i32;
extern "alcove" fn write(channel: i32, from: [*]const u8, length: usize) i32;
extern "alcove" fn call(op: [*]const u8, op_length: usize, request: [*]const u8, length: usize) i32;

export fn alcove_handle(kind: u32, length: usize) i32 {
    const host = alcove.Host{ .self = undefined, .call = ask, .log = log };
    var ok = false;
    const answer = alcove.serve(@import("family"), host, memory.allocator, kind, receive(alcove.read_request, length), &ok);
    _ = write(alcove.write_result, answer.ptr, answer.len);
    return if (ok) alcove.status_ok else alcove.status_error;
}

fn receive(channel: i32, length: usize) []const u8 {
    const all = memory.allocator.alloc(u8, length) catch @panic("out of memory");
    var done: usize = 0;
    while (done < length) {
        const n = read(channel, all.ptr + done, length - done);
        if (n <= 0) break;
        done += @intCast(n);
    }
    return all[0..done];
}

fn ask(_: *anyopaque, op: []const u8, request: []const u8, ok: *bool) []const u8 {
    const length = call(op.ptr, op.len, request.ptr, request.len);
    ok.* = length >= 0;
    return receive(alcove.read_response, @intCast(if (length < 0) -length else length));
}

fn log(_: *anyopaque, line: []const u8) void {
    _ = write(alcove.write_log, line.ptr, line.len);
}

/// WebAssembly cannot unwind: the host takes the error's body of a guest that traps.
pub fn panic(text: []const u8, _: ?*std.builtin.StackTrace, _: ?usize) noreturn {
    var room: [8192]u8 = undefined;
    var fixed = std.heap.FixedBufferAllocator.init(&room);
    const message = std.mem.concat(fixed.allocator(), u8, &.{ "panic: ", text[0..@min(text.len, 512)] }) catch "panic";
    log(undefined, message);
    const body = alcove.encode(fixed.allocator(), alcove.Body.of(.{ .message = message }));
    _ = write(alcove.write_result, body.ptr, body.len);
    @trap();
}
