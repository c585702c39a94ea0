//! Serves requests with the public functions of a family.
const std = @import("std");
const json = @import("json.zig");
const alcove = @import("alcove.zig");
const Call = alcove.Call;
const Value = alcove.Value;

/// What requests have. What is not read here is read where it is wanted.
const Request = struct {
    context: alcove.Context = json.empty(alcove.Context),
    config: Value = .{},
    tool: []const u8 = "",
    arguments: Value = .{},
    input: Value = .{},
    hook: []const u8 = "",
    job: []const u8 = "",
    payload: Value = .{},
    entries: Value = .{},
    merge: Value = .{},
    session: Value = .{},
    query: []const u8 = "",
    now: []const u8 = "",
    texts: Value = .{},
    purpose: []const u8 = "",
};

const Answer = alcove.Failed![]const u8;

/// Serves one request of a family. The answer, or the error's body, is in the request's memory; ok says which.
pub fn serve(comptime family: type, host: alcove.Host, arena: std.mem.Allocator, kind: u32, bytes: []const u8, ok: *bool) []const u8 {
    var c = Call{ .context = undefined, .config = .{}, .input = .{}, .arena = arena, .host = host };
    ok.* = true;
    return answer(family, &c, kind, bytes) catch {
        ok.* = false;
        return json.encode(arena, alcove.Body.of(c.failure));
    };
}

fn answer(comptime family: type, c: *Call, kind: u32, bytes: []const u8) Answer {
    const packed_in = kind == alcove.kind_score;
    if (packed_in and (bytes.len < 12 or number(bytes, 8) > bytes.len - 12)) return c.fail(.invalid_argument, "the request to score is too short", .{});
    const r = try c.read(Request, .{ .json = if (packed_in) bytes[12..][0..number(bytes, 8)] else bytes });
    c.context = r.context;
    c.config = r.config;
    c.input = r.input;
    return switch (kind) {
        alcove.kind_tool => tool(family, c, r),
        alcove.kind_hook => hook(family, c, r),
        alcove.kind_score => score(family, c, r, bytes),
        alcove.kind_embed => embed(family, c, r),
        else => c.fail(.invalid_argument, "this family serves no requests of kind {d}", .{kind}),
    };
}

fn tool(comptime family: type, c: *Call, r: Request) Answer {
    if (@hasDecl(family, "tools")) if (try handled(family.tools, c, r.tool, r.arguments)) |result| return result;
    if (@hasDecl(family, "published")) return (try asked(c, family.published, .{ c, r.tool, r.arguments })).json;
    return c.fail(.not_found, "this family has no tool \"{s}\"", .{r.tool});
}

/// Runs the public function of that name, if there is one.
fn handled(comptime handlers: type, c: *Call, name: []const u8, arguments: Value) alcove.Failed!?[]const u8 {
    inline for (json.info(handlers).decls) |d| {
        const handler = @field(handlers, d.name);
        if (comptime std.mem.eql(u8, json.kindOf(@TypeOf(handler)), "fn")) {
            if (std.mem.eql(u8, d.name, name)) return try handle(handler, c, arguments);
        }
    }
    return null;
}

fn handle(comptime handler: anytype, c: *Call, arguments: Value) Answer {
    const parameters = json.info(@TypeOf(handler)).params;
    const result = if (parameters.len == 1) try asked(c, handler, .{c}) else try asked(c, handler, .{ c, try c.read(parameters[1].type.?, arguments) });
    return if (@TypeOf(result) == void) "{}" else json.encode(c.arena, result);
}

/// Calls a function of the author's.
fn asked(c: *Call, comptime function: anytype, arguments: anytype) alcove.Failed!Result(function) {
    if (comptime !fails(function)) return @call(.auto, function, arguments);
    return @call(.auto, function, arguments) catch |e| {
        if (e != error.Failed) c.failure = other(e);
        return error.Failed;
    };
}

/// An error that has no failure with a code.
fn other(e: anyerror) alcove.Failure {
    return if (e == error.OutOfMemory) .{ .code = .exhausted, .message = "out of memory" } else .{ .message = @errorName(e) };
}

fn Result(comptime function: anytype) type {
    const T = json.info(@TypeOf(function)).return_type.?;
    return if (fails(function)) json.info(T).payload else T;
}

fn fails(comptime function: anytype) bool {
    return std.mem.eql(u8, json.kindOf(json.info(@TypeOf(function)).return_type.?), "errorunion");
}

fn hook(comptime family: type, c: *Call, r: Request) Answer {
    const is = struct {
        fn of(name: []const u8, want: []const u8) bool {
            return std.mem.eql(u8, name, want);
        }
    }.of;
    if (is(r.hook, "job")) {
        if (@hasDecl(family, "jobs")) if (try handled(family.jobs, c, r.job, r.payload)) |result| return result;
        return c.fail(.not_found, "this family has no job \"{s}\"", .{r.job});
    }
    if (@hasDecl(family, "store")) if (is(r.hook, "store")) return decided(c, try asked(c, family.store, .{ c, try c.read([]const alcove.Entry, r.entries) }));
    const told = .{ .{ "stored", []const alcove.Entry, r.entries }, .{ "merged", alcove.MergeNotice, r.merge }, .{ "session_end", alcove.Session, r.session } };
    inline for (told) |t| if (@hasDecl(family, t[0])) if (is(r.hook, t[0])) {
        try asked(c, @field(family, t[0]), .{ c, try c.read(t[1], t[2]) });
        return "";
    };
    return c.fail(.not_found, "this family has no hook \"{s}\"", .{r.hook});
}

fn decided(c: *Call, d: alcove.Decision) []const u8 {
    return json.encode(c.arena, switch (d) {
        .keep => return "",
        .change => |changes| alcove.StoreResult{ .entries = changes },
        .refuse => |why| alcove.StoreResult{ .refuse = why },
        .propose => |p| alcove.StoreResult{ .propose = p.why, .entries = p.changes },
    });
}

fn number(bytes: []const u8, at: usize) u32 {
    return bytes[at] | @as(u32, bytes[at + 1]) << 8 | @as(u32, bytes[at + 2]) << 16 | @as(u32, bytes[at + 3]) << 24;
}

fn score(comptime family: type, c: *Call, r: Request, bytes: []const u8) Answer {
    if (!@hasDecl(family, "rank")) return c.fail(.not_found, "this family has no hook \"rank\"", .{});
    const count: usize = number(bytes, 0);
    const features: usize = number(bytes, 4);
    const from = (12 + @as(usize, number(bytes, 8)) + 3) / 4 * 4;
    if (from > bytes.len or @as(u64, count) * features != (bytes.len - from) / 4) return c.fail(.invalid_argument, "the request to score has another length", .{});
    const columns = json.some(c.arena, []const f32, features);
    const values = json.some(c.arena, f32, count * features);
    @memcpy(std.mem.sliceAsBytes(values), bytes[from..][0 .. 4 * values.len]);
    for (columns, 0..) |*column, i| column.* = values[i * count ..][0..count];
    const scores = try asked(c, family.rank, .{ c, alcove.Ranking{ .query = r.query, .now = r.now, .count = count, .columns = columns } });
    return std.mem.sliceAsBytes(scores);
}

fn embed(comptime family: type, c: *Call, r: Request) Answer {
    if (!@hasDecl(family, "embed")) return c.fail(.not_found, "this family has no hook \"embed\"", .{});
    const vectors = try asked(c, family.embed, .{ c, alcove.Texts{ .texts = try c.read([]const []const u8, r.texts), .purpose = r.purpose } });
    var w = json.Writer{ .arena = c.arena };
    const head = [2]u32{ @intCast(vectors.len), if (vectors.len > 0) @intCast(vectors[0].len) else 0 };
    w.add(std.mem.sliceAsBytes(&head));
    for (vectors) |*vector| w.add(std.mem.sliceAsBytes(vector.*[0..]));
    return w.text();
}
