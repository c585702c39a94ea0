//! The memory of a guest: it grows, and nothing is freed, because an instance begins each request as it was at first.
const std = @import("std");
const json = @import("json.zig");

extern var __heap_base: u8;
var free: usize = 0;

const Table = std.mem.Allocator.VTable;

/// Compilers of several ages pass alignments as numbers or as a type of its own.
const Alignment = json.info(json.info(@TypeOf(@as(Table, undefined).alloc)).child).params[2].type.?;

pub const allocator = std.mem.Allocator{ .ptr = undefined, .vtable = &table };

const table = made: {
    var t: Table = undefined;
    t.alloc = alloc;
    t.resize = resize;
    t.free = keep;
    if (@hasField(Table, "remap")) t.remap = remap;
    break :made t;
};

fn alloc(_: *anyopaque, length: usize, alignment: Alignment, _: usize) ?[*]u8 {
    const unit = if (Alignment == u8) @as(usize, 1) << @intCast(alignment) else alignment.toByteUnits();
    if (free == 0) free = @intFromPtr(&__heap_base);
    const at = std.mem.alignForward(usize, free, unit);
    if (!has(at, length)) return null;
    free = at + length;
    return @ptrFromInt(at);
}

/// Says whether memory has so much from there, and grows it if it does not.
fn has(at: usize, length: usize) bool {
    const page = 1 << 16;
    const have: u64 = @as(u64, @wasmMemorySize(0)) * page;
    const want: u64 = @as(u64, at) + length;
    return want <= have or want < 1 << 32 and @wasmMemoryGrow(0, @intCast((want - have + page - 1) / page)) != -1;
}

/// What was allocated last can grow where it is.
fn resize(_: *anyopaque, bytes: []u8, _: Alignment, length: usize, _: usize) bool {
    const at = @intFromPtr(bytes.ptr);
    if (at + bytes.len != free) return length <= bytes.len;
    if (!has(at, length)) return false;
    free = at + length;
    return true;
}

fn remap(_: *anyopaque, bytes: []u8, alignment: Alignment, length: usize, _: usize) ?[*]u8 {
    return if (resize(undefined, bytes, alignment, length, 0)) bytes.ptr else null;
}

fn keep(_: *anyopaque, _: []u8, _: Alignment, _: usize) void {}
