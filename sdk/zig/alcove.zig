//! Makes a Zig program a tool family of Alcove: a WebAssembly guest that serves tool calls, hooks and jobs. README.md has an example and the
//! build line.
//!
//! A family is a file. Its tools are the public functions of the struct `tools`, and its jobs those of `jobs`, by their names in the manifest:
//! functions of the call and of a struct of the arguments, which return a struct. Its hooks are the public functions `store`, `stored`, `merged`,
//! `session_end`, `rank` and `embed`, and `published` serves the tools that it published. What JSON these structs are, json.zig tells.
//!
//! All memory is the request's: nothing is freed, and an instance keeps nothing from one request to the next. Natively, `Fake` is the host of a
//! test.
const std = @import("std");
const json = @import("json.zig");

pub const Value = json.Value;
pub const Map = json.Map;
pub const Call = @import("call.zig").Call;
pub const Host = @import("call.zig").Host;
pub const Failed = @import("call.zig").Failed;
pub const Failure = @import("call.zig").Failure;
pub const Body = @import("call.zig").Body;
pub const Fake = @import("testing.zig").Fake;
pub const serve = @import("serve.zig").serve;
pub const memory = @import("memory.zig");
pub const encode = json.encode;

/// Ends the request with an error that has the text and the position: alcove.panicAt(@src(), "why").
pub fn panicAt(at: std.builtin.SourceLocation, text: []const u8) noreturn {
    var room: [512]u8 = undefined;
    const most = 256;
    @panic(std.fmt.bufPrint(&room, "{s} ({s}:{d})", .{ text[0..@min(text.len, most)], std.fs.path.basename(at.file), at.line }) catch text);
}

/// What a store hook decides. An error is a failure of the hook, and no refusal.
pub const Decision = union(enum) {
    keep,
    /// The change of each entry; null for those that stay.
    change: []const ?Change,
    /// Nothing is stored, for this reason.
    refuse: []const u8,
    /// The write goes to a branch of proposals, with these changes.
    propose: struct { why: []const u8, changes: []const ?Change = &.{} },
};

/// The candidates of a search.
pub const Ranking = struct {
    query: []const u8,
    /// The instant of the search.
    now: []const u8,
    /// How many candidates there are.
    count: usize,
    /// A column for each feature of the manifest, in its order, with a value for each candidate; NaN: missing.
    columns: []const []const f32,
};

/// Texts to embed.
pub const Texts = struct {
    texts: []const []const u8,
    /// document or query
    purpose: []const u8,
};

// generated: begin
// By abi/gen from abi.json. Do not edit.
pub const kind_tool: u32 = 1;
pub const kind_hook: u32 = 2;
pub const kind_score: u32 = 3;
pub const kind_embed: u32 = 4;
pub const read_request: i32 = 0;
pub const read_response: i32 = 1;
pub const read_source: i32 = 2;
pub const write_result: i32 = 0;
pub const write_log: i32 = 1;
pub const status_ok: i32 = 0;
pub const status_error: i32 = 1;

/// The codes of errors.
pub const Code = enum {
    /// the request is malformed: a missing field, a wrong type, a value out of range
    invalid_argument,
    /// nothing has that name
    not_found,
    /// the family, or its caller, has no right to it
    denied,
    /// something that was read or written changed meanwhile
    conflict,
    /// a limit or a quota was reached; details name it
    exhausted,
    /// a service is not configured, or does not answer now
    unavailable,
    /// it took longer than its limit
    timeout,
    /// the side that answers is at fault
    internal,
    /// of a tool: the caller's client is first asked for what details say, and then the tool is called again
    input_required,

    /// The code of that name; internal for any other.
    pub fn named(name: []const u8) Code {
        return std.meta.stringToEnum(Code, name) orelse .internal;
    }

    /// Says whether the same request may succeed later.
    pub fn retryable(c: Code) bool {
        return switch (c) {
            .conflict, .unavailable, .timeout => true,
            else => false,
        };
    }
};

/// How a memory was used.
pub const Counters = struct {
    accesses: i64,
    last_access: []const u8 = "",
    health: f64,
};

/// What the writer of a memory decides.
pub const MemoryFields = struct {
    value: Value = .{},
    tags: []const []const u8 = &.{},
    type: ?[]const u8 = null,
    importance: ?f64 = null,
    metadata: Map(Value) = .{},
    state: []const u8 = "",
    supersedes: []const []const u8 = &.{},
    links: []const []const u8 = &.{},
    expires_at: ?[]const u8 = null,
};

/// A memory. One that is staged has version 0.
pub const Memory = struct {
    namespace: []const u8,
    key: []const u8,
    value: Value = .{},
    tags: []const []const u8 = &.{},
    type: ?[]const u8 = null,
    importance: ?f64 = null,
    metadata: Map(Value) = .{},
    state: []const u8 = "",
    supersedes: []const []const u8 = &.{},
    links: []const []const u8 = &.{},
    expires_at: ?[]const u8 = null,
    agent: []const u8 = "",
    version: u64,
    timestamp: []const u8 = "",
    deleted: bool = false,
    counters: ?Counters = null,
    created: []const u8 = "",
};

/// The namespace and key of a memory.
pub const MemoryId = struct {
    namespace: []const u8,
    key: []const u8,
};

/// A file below a root, with its content.
pub const File = struct {
    path: []const u8,
    content: []const u8,
    digest: []const u8,
};

/// A file below a root.
pub const FileEntry = struct {
    path: []const u8,
    bytes: i64,
    modified: []const u8,
};

/// A file to be written.
pub const FileItem = struct {
    path: []const u8,
    content: []const u8,
    if_digest: ?[]const u8 = null,
};

/// What an agent stored in a namespace with a quota; a limit of 0 is none.
pub const QuotaUse = struct {
    namespace: []const u8,
    agent: []const u8,
    day: []const u8,
    memories: i64,
    most_memories: i64,
    links: i64,
    most_links: i64,
    bytes: i64,
    most_bytes: i64,
};

/// A memory to be staged.
pub const MemoryItem = struct {
    key: []const u8 = "",
    namespace: []const u8 = "",
    value: Value = .{},
    tags: []const []const u8 = &.{},
    type: ?[]const u8 = null,
    importance: ?f64 = null,
    metadata: Map(Value) = .{},
    state: []const u8 = "",
    supersedes: []const []const u8 = &.{},
    links: []const []const u8 = &.{},
    expires_at: ?[]const u8 = null,
    if_version: ?u64 = null,
};

/// A change of some fields of a memory. Absent fields stay; a list, also an empty one, replaces the present list.
pub const MemoryPatch = struct {
    key: []const u8,
    namespace: []const u8 = "",
    value: Value = .{},
    tags: []const []const u8 = &.{},
    type: ?[]const u8 = null,
    importance: ?f64 = null,
    metadata: Map(Value) = .{},
    state: []const u8 = "",
    supersedes: []const []const u8 = &.{},
    links: []const []const u8 = &.{},
    expires_at: ?[]const u8 = null,
    add_tags: []const []const u8 = &.{},
    remove_tags: []const []const u8 = &.{},
    clear: []const []const u8 = &.{},
    if_version: ?u64 = null,
};

/// A condition on a field of a memory. A field that is null is not there. Of each memory the first 64 fields can be tested, metadata before value, in the order of their names.
pub const FieldTest = struct {
    field: []const u8,
    equals: Value = .{},
    exists: ?bool = null,
};

/// Conditions on memories, which apply together. A list has at most 64 elements; an empty one is no condition.
pub const MemoryFilter = struct {
    types: []const []const u8 = &.{},
    states: []const []const u8 = &.{},
    writers: []const []const u8 = &.{},
    tags: []const []const u8 = &.{},
    any_tags: []const []const u8 = &.{},
    no_tags: []const []const u8 = &.{},
    min_importance: ?f64 = null,
    max_importance: ?f64 = null,
    min_accesses: ?i64 = null,
    max_accesses: ?i64 = null,
    min_health: ?f64 = null,
    max_health: ?f64 = null,
    accessed_since: []const u8 = "",
    accessed_until: []const u8 = "",
    created_since: []const u8 = "",
    created_until: []const u8 = "",
    updated_since: []const u8 = "",
    updated_until: []const u8 = "",
    expired: []const u8 = "",
    fields: []const FieldTest = &.{},
};

/// A memory that a search found.
pub const MemoryHit = struct {
    memory: Memory,
    score: f64,
    snippet: []const u8,
    superseded_by: []const u8 = "",
    features: Map(f32) = .{},
};

/// A record of one of the family's own collections. One that is staged has version 0.
pub const Record = struct {
    namespace: []const u8,
    key: []const u8,
    value: Value,
    version: u64,
    timestamp: []const u8 = "",
    expires_at: []const u8 = "",
    deleted: bool = false,
};

/// A collection of records, as its family's manifest declares it.
pub const RecordCollection = struct {
    family: []const u8,
    name: []const u8,
    per: []const u8,
    searchable: []const []const u8 = &.{},
    indexes: []const []const []const u8 = &.{},
    expires: []const u8 = "",
    unversioned: bool = false,
    open: bool = false,
    private: bool = false,
};

/// A condition on an indexed field of records.
pub const RecordFilter = struct {
    field: []const u8,
    op: []const u8,
    value: Value,
};

/// A record to be staged.
pub const RecordItem = struct {
    key: []const u8,
    value: Value,
    if_version: ?u64 = null,
    expires_at: ?[]const u8 = null,
};

/// A record that a search found.
pub const RecordHit = struct {
    record: Record,
    score: f64,
    snippet: []const u8,
};

/// A condition on a field of records, indexed or not.
pub const RecordTest = struct {
    field: []const u8,
    op: []const u8,
    value: Value,
};

/// A record whose vector is near.
pub const RecordNeighbor = struct {
    record: Record,
    score: f64,
};

/// An event of the log.
pub const Event = struct {
    namespace: []const u8,
    sequence: u64,
    event: []const u8,
    data: Value,
    agent: []const u8 = "",
    timestamp: []const u8,
};

/// A change, or an event that a family announced.
pub const Notice = struct {
    kind: []const u8,
    namespace: []const u8,
    key: []const u8,
    watermark: u64,
    timestamp: []const u8,
    payload: Value = .{},
    agent: []const u8 = "",
    family: []const u8 = "",
};

/// A branch.
pub const Branch = struct {
    name: []const u8,
    parent: []const u8 = "",
    forked_at: u64,
    created: []const u8,
    depth: i64,
};

/// What differs between two branches under one key.
pub const Difference = struct {
    namespace: []const u8,
    collection: []const u8 = "",
    key: []const u8,
    base: ?Memory = null,
    source: ?Memory = null,
    target: ?Memory = null,
    clash: []const u8 = "",
};

/// A capability that a call has.
pub const Power = struct {
    name: []const u8,
    scope: []const []const u8 = &.{},
};

/// How far a job has come.
pub const Progress = struct {
    done: f64,
    total: f64 = 0,
    message: []const u8 = "",
};

/// A setting, and where its value comes from.
pub const SettingState = struct {
    key: []const u8,
    value: Value,
    scope: []const u8,
    name: []const u8 = "",
    version: u64 = 0,
    priority: i64 = 0,
    updated_at: []const u8 = "",
    updated_by: []const u8 = "",
    unused: []const []const u8 = &.{},
    default: Value,
    schema: Value,
    category: []const u8 = "",
    description: []const u8 = "",
    families: []const []const u8,
};

/// A change of a setting.
pub const SettingChange = struct {
    key: []const u8,
    value: Value,
    priority: ?i64 = null,
    if_version: ?u64 = null,
};

/// A setting that was changed.
pub const SettingChanged = struct {
    key: []const u8,
    version: u64,
    before: Value = .{},
    after: Value = .{},
    change: []const u8 = "",
};

/// A change of a setting in its history.
pub const SettingVersion = struct {
    version: u64,
    before: Value = .{},
    after: Value = .{},
    priority: i64 = 0,
    timestamp: []const u8,
    agent: []const u8 = "",
    family: []const u8 = "",
    reason: []const u8 = "",
    rolled_back_to: ?u64 = null,
    change: []const u8 = "",
};

/// What values of several settings must satisfy together.
pub const SettingRule = struct {
    rule: []const u8,
    keys: []const []const u8,
    equals: f64 = 0,
    within: f64 = 0,
    families: []const []const u8,
};

/// A namespace.
pub const Namespace = struct {
    namespace: []const u8,
    memories: ?i64 = null,
    events: ?i64 = null,
};

/// A commit.
pub const Moment = struct {
    version: u64,
    timestamp: []const u8,
};

/// Counters of durable commits.
pub const Durability = struct {
    commits: u64,
    syncs: u64,
    failed: u64,
    last_sync_ns: i64,
    slowest_sync_ns: i64,
    database_bytes: i64,
};

/// How far an embedder is.
pub const Embedding = struct {
    name: []const u8,
    vectors: i64,
    waiting: i64,
    refused: i64,
};

/// Why a page of the feed does not begin at the watermark that was asked for.
pub const Missed = struct {
    after: u64,
    oldest: u64,
    message: []const u8,
};

/// A tool that a family may see.
pub const ForeignTool = struct {
    name: []const u8,
    family: []const u8,
    description: []const u8,
    input_schema: Value,
};

/// What a recall by query found.
pub const Recall = struct {
    recall_id: []const u8,
    branch: []const u8,
    query: []const u8,
    facts: []const RecalledFact,
    agent: []const u8,
    timestamp: []const u8,
    expires_at: []const u8,
};

/// A memory that a recall found.
pub const RecalledFact = struct {
    namespace: []const u8,
    key: []const u8,
};

/// How an agent used a tool.
pub const ToolUsage = struct {
    agent: []const u8,
    tool: []const u8,
    as: []const u8 = "",
    calls: i64,
    errors: i64 = 0,
    last: []const u8,
};

/// The rights record of a namespace.
pub const Scope = struct {
    namespace: []const u8,
    name: []const u8 = "",
    description: []const u8 = "",
    creator: []const u8,
    members: []const []const u8,
    read: []const u8,
    write: []const u8,
    retention_days: i64 = 0,
    archived: bool = false,
    created_at: []const u8,
};

/// A session of a client.
pub const Session = struct {
    session: []const u8,
    agent: []const u8 = "",
    client: []const u8 = "",
    began_at: []const u8,
    calls: i64,
    ended_at: []const u8 = "",
    namespace: []const u8,
    branch: []const u8,
    last_at: []const u8 = "",
};

/// The request of memory.get: memories by their keys.
pub const MemoryGetRequest = struct {
    keys: []const []const u8,
    namespace: []const u8 = "",
    as_of: []const u8 = "",
    counters: bool = false,
    created: bool = false,
    expired: bool = false,
};

/// The response of memory.get.
pub const MemoryGetResponse = struct {
    memories: []const ?Memory,
};

/// The request of memory.states: the states of memories by their keys, and their values.
pub const MemoryStatesRequest = struct {
    keys: []const []const u8,
    namespace: []const u8 = "",
    values: bool = false,
};

/// The response of memory.states.
pub const MemoryStatesResponse = struct {
    states: []const []const u8,
    values: []const Value = &.{},
};

/// The request of memory.list: memories of a namespace, page by page: in the order of their keys, or by their fields and in another order.
pub const MemoryListRequest = struct {
    namespace: []const u8 = "",
    prefix: []const u8 = "",
    after: []const u8 = "",
    limit: i64 = 0,
    as_of: []const u8 = "",
    counters: bool = false,
    created: bool = false,
    filter: ?MemoryFilter = null,
    order: []const u8 = "",
    count: []const u8 = "",
};

/// The response of memory.list.
pub const MemoryListResponse = struct {
    memories: []const Memory,
    next: []const u8 = "",
    total: ?i64 = null,
};

/// The response of memory.namespaces.
pub const MemoryNamespacesResponse = struct {
    namespaces: []const []const u8,
};

/// The request of memory.history: the versions of one memory, the newest first.
pub const MemoryHistoryRequest = struct {
    key: []const u8,
    namespace: []const u8 = "",
    before: u64 = 0,
    limit: i64 = 0,
};

/// The response of memory.history.
pub const MemoryHistoryResponse = struct {
    versions: []const Memory,
    next: u64 = 0,
};

/// The request of recall.get: what a recall by query found, for feedback about it: the caller's own recalls, or with the right `act_as` all, of the last 90 days, if caller and family may read every namespace in it.
pub const RecallGetRequest = struct {
    recall_id: []const u8,
};

/// The response of recall.get.
pub const RecallGetResponse = struct {
    recall: Recall,
};

/// The request of memory.search: lexical, semantic or hybrid search; staged changes are not found.
pub const MemorySearchRequest = struct {
    query: []const u8,
    namespaces: []const []const u8 = &.{},
    k: i64 = 0,
    offset: i64 = 0,
    order: []const u8 = "",
    min_importance: ?f64 = null,
    writers: []const []const u8 = &.{},
    tags: []const []const u8 = &.{},
    types: []const []const u8 = &.{},
    states: []const []const u8 = &.{},
    since: []const u8 = "",
    until: []const u8 = "",
    as_of: []const u8 = "",
    mode: []const u8 = "",
    vector: []const f32 = &.{},
    features: bool = false,
};

/// The response of memory.search.
pub const MemorySearchResponse = struct {
    hits: []const MemoryHit,
    total: i64,
};

/// The request of memory.pairs: pairs of memories of a namespace that share many words of their texts, by the words' stems: the rarer a word is there, the more it weighs. Keys, tags and words such as `the` do not count, and staged changes are not seen. A word that very many memories have finds no pairs by itself.
pub const MemoryPairsRequest = struct {
    namespace: []const u8 = "",
    filter: ?MemoryFilter = null,
    after: []const u8 = "",
    limit: i64 = 0,
    similarity: f64 = 0,
    missing: i64 = 0,
    most: i64 = 0,
};

/// The response of memory.pairs.
pub const MemoryPairsResponse = struct {
    keys: []const []const u8,
    pairs: []const []const i64,
    similarities: []const f32,
    compared: i64,
    next: []const u8 = "",
};

/// The request of memory.put: stage memories.
pub const MemoryPutRequest = struct {
    items: []const MemoryItem,
};

/// The response of memory.put.
pub const MemoryPutResponse = struct {
    stored: []const MemoryId,
};

/// The request of memory.patch: stage changes of some fields of memories.
pub const MemoryPatchRequest = struct {
    patches: []const MemoryPatch,
    expired: bool = false,
};

/// The response of memory.patch.
pub const MemoryPatchResponse = struct {
    patched: i64,
    missing: []const []const u8,
};

/// The request of memory.delete: stage deletions of memories.
pub const MemoryDeleteRequest = struct {
    keys: []const []const u8,
    namespace: []const u8 = "",
    expired: bool = false,
};

/// The response of memory.delete.
pub const MemoryDeleteResponse = struct {
    deleted: i64,
};

/// The request of memory.touch: add to the counters of memories.
pub const MemoryTouchRequest = struct {
    keys: []const []const u8,
    namespace: []const u8 = "",
    accesses: ?i64 = null,
    health: f64 = 0,
};

/// The response of memory.touch.
pub const MemoryTouchResponse = struct {
    touched: i64,
};

/// The request of record.get: records of one of its own collections by their keys.
pub const RecordGetRequest = struct {
    collection: []const u8,
    keys: []const []const u8,
    namespace: []const u8 = "",
    family: []const u8 = "",
    expired: bool = false,
};

/// The response of record.get.
pub const RecordGetResponse = struct {
    records: []const ?Record,
};

/// The request of record.put: stage records, or commit them at once.
pub const RecordPutRequest = struct {
    collection: []const u8,
    namespace: []const u8 = "",
    items: []const RecordItem,
    now: bool = false,
};

/// The response of record.put.
pub const RecordPutResponse = struct {
    stored: i64,
};

/// The request of record.delete: stage deletions of records.
pub const RecordDeleteRequest = struct {
    collection: []const u8,
    keys: []const []const u8,
    namespace: []const u8 = "",
};

/// The response of record.delete.
pub const RecordDeleteResponse = struct {
    deleted: i64,
};

/// The request of record.list: records, page by page, in the order of their keys; with `filters` or `order`, those that declared indexes select, in their order.
pub const RecordListRequest = struct {
    collection: []const u8,
    namespace: []const u8 = "",
    prefix: []const u8 = "",
    after: []const u8 = "",
    limit: i64 = 0,
    filters: []const RecordFilter = &.{},
    order: []const u8 = "",
    descending: bool = false,
    count: bool = false,
    family: []const u8 = "",
    expired: bool = false,
};

/// The response of record.list.
pub const RecordListResponse = struct {
    records: []const Record,
    next: []const u8 = "",
    total: ?i64 = null,
};

/// The request of record.scan: the keys of records that begin with one of several prefixes, and their values, page by page, in the order of the keys.
pub const RecordScanRequest = struct {
    collection: []const u8,
    namespace: []const u8 = "",
    prefixes: []const []const u8,
    after: []const u8 = "",
    limit: i64 = 0,
    values: bool = false,
};

/// The response of record.scan.
pub const RecordScanResponse = struct {
    keys: []const []const u8,
    values: []const Value = &.{},
    next: []const u8 = "",
};

/// The request of record.history: the versions of one record, the newest first.
pub const RecordHistoryRequest = struct {
    collection: []const u8,
    key: []const u8,
    namespace: []const u8 = "",
    before: u64 = 0,
    limit: i64 = 0,
    family: []const u8 = "",
};

/// The response of record.history.
pub const RecordHistoryResponse = struct {
    versions: []const Record,
    next: u64 = 0,
};

/// The request of record.search: search in a searchable collection; staged changes are not found.
pub const RecordSearchRequest = struct {
    collection: []const u8,
    query: []const u8,
    namespaces: []const []const u8 = &.{},
    k: i64 = 0,
    offset: i64 = 0,
    family: []const u8 = "",
    mode: []const u8 = "",
    vector: []const f32 = &.{},
};

/// The response of record.search.
pub const RecordSearchResponse = struct {
    hits: []const RecordHit,
    total: i64,
};

/// The request of record.nearest: the records of a collection whose vectors are nearest to one, by an exact scan, staged ones included.
pub const RecordNearestRequest = struct {
    collection: []const u8,
    namespace: []const u8 = "",
    prefix: []const u8 = "",
    vector: []const f32,
    field: []const u8 = "",
    metric: []const u8 = "",
    filters: []const RecordTest = &.{},
    k: i64 = 0,
    omit_vector: bool = false,
    family: []const u8 = "",
};

/// The response of record.nearest.
pub const RecordNearestResponse = struct {
    hits: []const RecordNeighbor,
    total: i64,
};

/// The request of record.collections: the collections whose records the call may read, its own and those of other families, by family and name.
pub const RecordCollectionsRequest = struct {
    family: []const u8 = "",
};

/// The response of record.collections.
pub const RecordCollectionsResponse = struct {
    collections: []const RecordCollection,
};

/// The request of record.append: stage records with the next sequence numbers as their keys.
pub const RecordAppendRequest = struct {
    collection: []const u8,
    namespace: []const u8 = "",
    values: []const Value,
};

/// The response of record.append.
pub const RecordAppendResponse = struct {
    sequences: []const u64,
};

/// The request of log.append: stage an event of the log, which gets its sequence number at the commit.
pub const LogAppendRequest = struct {
    event: []const u8,
    data: Value = .{},
    namespace: []const u8 = "",
    sequence: bool = false,
};

/// The response of log.append.
pub const LogAppendResponse = struct {
    sequence: u64 = 0,
};

/// The request of log.read: events of the log, the oldest first.
pub const LogReadRequest = struct {
    namespace: []const u8 = "",
    from: u64 = 0,
    limit: i64 = 0,
};

/// The response of log.read.
pub const LogReadResponse = struct {
    events: []const Event,
};

/// The request of log.verify: check the chain of a log page by page: that no event is missing, changed or out of order.
pub const LogVerifyRequest = struct {
    namespace: []const u8 = "",
    from: u64 = 0,
    limit: i64 = 0,
};

/// The response of log.verify.
pub const LogVerifyResponse = struct {
    verified: bool,
    checked: i64,
    next: u64 = 0,
    broken_at: u64 = 0,
    fault: []const u8 = "",
    hash: []const u8 = "",
};

/// The request of feed.read: changes since a watermark.
pub const FeedReadRequest = struct {
    after: u64 = 0,
    namespaces: []const []const u8 = &.{},
    kinds: []const []const u8 = &.{},
    agents: []const []const u8 = &.{},
    limit: i64 = 0,
};

/// The response of feed.read.
pub const FeedReadResponse = struct {
    notices: []const Notice,
    watermark: u64,
    more: bool,
    missed: ?Missed = null,
};

/// The request of feed.emit: stage an event of the feed.
pub const FeedEmitRequest = struct {
    kind: []const u8,
    payload: Value = .{},
    namespace: []const u8 = "",
    recipients: []const []const u8 = &.{},
    per: []const u8 = "",
};

/// The response of branch.list.
pub const BranchListResponse = struct {
    branches: []const Branch,
};

/// The request of branch.diff: what differs between two branches.
pub const BranchDiffRequest = struct {
    source: []const u8,
    target: []const u8 = "",
    namespaces: []const []const u8 = &.{},
    limit: i64 = 0,
    source_only: bool = false,
    longest: i64 = 0,
};

/// The response of branch.diff.
pub const BranchDiffResponse = struct {
    added: i64,
    changed: i64,
    removed: i64,
    clashes: i64,
    differences: []const Difference,
    truncated: bool,
    seen: u64 = 0,
};

/// The request of branch.fork: make a branch, after the commit.
pub const BranchForkRequest = struct {
    name: []const u8,
    from: []const u8 = "",
    as_of: []const u8 = "",
    required: bool = false,
    read_only: bool = false,
};

/// The response of branch.fork.
pub const BranchForkResponse = struct {
    name: []const u8,
    from: []const u8,
};

/// The request of branch.merge: merge a branch after the commit, or preview that.
pub const BranchMergeRequest = struct {
    source: []const u8,
    target: []const u8 = "",
    strategy: []const u8 = "",
    namespaces: []const []const u8 = &.{},
    seen: u64 = 0,
    preview: bool = false,
    required: bool = false,
};

/// The response of branch.merge.
pub const BranchMergeResponse = struct {
    merged: bool,
    applied: []const Difference,
    clashes: []const Difference,
    unresolved: i64,
    seen: u64 = 0,
};

/// The request of branch.delete: delete a branch, after the commit.
pub const BranchDeleteRequest = struct {
    name: []const u8,
    force: bool = false,
};

/// The request of link.list: links from and to a memory; a memory of another namespace is `namespace#key`, and is omitted if it may not be read.
pub const LinkListRequest = struct {
    key: []const u8,
    namespace: []const u8 = "",
    after: []const u8 = "",
    limit: i64 = 0,
};

/// The response of link.list.
pub const LinkListResponse = struct {
    links: []const []const u8,
    linked_from: []const []const u8,
    next: []const u8 = "",
};

/// The request of link.add: stage links.
pub const LinkAddRequest = struct {
    key: []const u8,
    to: []const []const u8,
    namespace: []const u8 = "",
};

/// The response of link.add.
pub const LinkAddResponse = struct {
    added: i64,
};

/// The request of link.remove: stage the removal of links.
pub const LinkRemoveRequest = struct {
    key: []const u8,
    to: []const []const u8,
    namespace: []const u8 = "",
};

/// The response of link.remove.
pub const LinkRemoveResponse = struct {
    removed: i64,
};

/// The request of config.get: its own configuration, or settings by their keys with where their values come from.
pub const ConfigGetRequest = struct {
    keys: []const []const u8 = &.{},
    namespace: []const u8 = "",
    details: bool = false,
};

/// The response of config.get.
pub const ConfigGetResponse = struct {
    config: Map(Value),
    settings: []const SettingState = &.{},
};

/// The request of config.list: settings that families share, in the order of their keys, page by page.
pub const ConfigListRequest = struct {
    category: []const u8 = "",
    prefix: []const u8 = "",
    namespace: []const u8 = "",
    scope: []const u8 = "",
    name: []const u8 = "",
    after: []const u8 = "",
    limit: i64 = 0,
};

/// The response of config.list.
pub const ConfigListResponse = struct {
    settings: []const SettingState,
    next: []const u8 = "",
};

/// The request of config.put: stage changes of settings that families share: all, or with any fault none.
pub const ConfigPutRequest = struct {
    changes: []const SettingChange,
    scope: []const u8 = "",
    name: []const u8 = "",
    reason: []const u8 = "",
};

/// The response of config.put.
pub const ConfigPutResponse = struct {
    changed: []const SettingChanged,
};

/// The request of config.history: the changes of a shared setting in a scope, the newest first.
pub const ConfigHistoryRequest = struct {
    key: []const u8,
    scope: []const u8 = "",
    name: []const u8 = "",
    before: u64 = 0,
    limit: i64 = 0,
};

/// The response of config.history.
pub const ConfigHistoryResponse = struct {
    versions: []const SettingVersion,
    next: u64 = 0,
};

/// The request of config.rollback: stage the value that a shared setting had at a version, as a new version.
pub const ConfigRollbackRequest = struct {
    key: []const u8,
    version: u64,
    scope: []const u8 = "",
    name: []const u8 = "",
    if_version: ?u64 = null,
    reason: []const u8 = "",
};

/// The response of config.rollback.
pub const ConfigRollbackResponse = struct {
    changed: SettingChanged,
};

/// The request of config.undo: stage the values that all keys of a change had before it, as new versions: all, or where one was changed since none.
pub const ConfigUndoRequest = struct {
    change: []const u8,
    scope: []const u8 = "",
    name: []const u8 = "",
    reason: []const u8 = "",
};

/// The response of config.undo.
pub const ConfigUndoResponse = struct {
    changed: []const SettingChanged,
};

/// The response of config.rules.
pub const ConfigRulesResponse = struct {
    rules: []const SettingRule,
};

/// The request of config.set: stage a change of its own configuration.
pub const ConfigSetRequest = struct {
    values: Map(Value),
};

/// The response of config.set.
pub const ConfigSetResponse = struct {
    config: Map(Value),
};

/// The response of caller.get.
pub const CallerGetResponse = struct {
    caller: []const u8,
    principal: []const u8,
    namespace: []const u8,
    branch: []const u8,
    capabilities: []const Power,
    hooks: []const []const u8,
    read_only: bool,
    proposes: bool,
    client: []const u8 = "",
    session: []const u8 = "",
    space: []const u8 = "",
    key: []const u8 = "",
};

/// The request of quota.list: the namespaces with a quota that the caller may read, and what agents stored there; most callers see only themselves.
pub const QuotaListRequest = struct {
    agent: []const u8 = "",
};

/// The response of quota.list.
pub const QuotaListResponse = struct {
    quotas: []const QuotaUse,
};

/// The request of caller.can: whether the caller may do something, apart from what the family may.
pub const CallerCanRequest = struct {
    action: []const u8,
    namespace: []const u8 = "",
    agent: []const u8 = "",
    key: []const u8 = "",
};

/// The response of caller.can.
pub const CallerCanResponse = struct {
    allowed: bool,
    reason: []const u8 = "",
};

/// The request of session.list: the open sessions: to the owner all, to the holder of a key those of its agent, and of agents that are members of the same scopes; or those in a namespace.
pub const SessionListRequest = struct {
    agent: []const u8 = "",
    namespace: []const u8 = "",
    recent_s: i64 = 0,
    limit: i64 = 0,
};

/// The response of session.list.
pub const SessionListResponse = struct {
    sessions: []const Session,
    more: bool = false,
};

/// The request of scope.get: the rights record of a namespace. One that the caller may not read has none.
pub const ScopeGetRequest = struct {
    namespace: []const u8 = "",
};

/// The response of scope.get.
pub const ScopeGetResponse = struct {
    scope: Scope,
};

/// The request of scope.list: the rights records of namespaces that the caller may read, in their order, page by page, without staged changes.
pub const ScopeListRequest = struct {
    prefix: []const u8 = "",
    after: []const u8 = "",
    limit: i64 = 0,
    archived: bool = false,
};

/// The response of scope.list.
pub const ScopeListResponse = struct {
    scopes: []const Scope,
    next: []const u8 = "",
};

/// The request of scope.put: stage the creation of a namespace's rights record, by an agent that may write the namespace, or a change by its creator or a caller with the right scope.admin. Nobody grants a right to write that they lack. Namespaces private-AGENT are for that agent.
pub const ScopePutRequest = struct {
    namespace: []const u8,
    create: bool = false,
    name: ?[]const u8 = null,
    description: ?[]const u8 = null,
    members: []const []const u8 = &.{},
    read: []const u8 = "",
    write: []const u8 = "",
    retention_days: ?i64 = null,
    archived: ?bool = null,
};

/// The response of scope.put.
pub const ScopePutResponse = struct {
    scope: Scope,
    created: bool,
};

/// The request of scope.members: stage the addition and removal of members of a scope, as scope.put does.
pub const ScopeMembersRequest = struct {
    namespace: []const u8 = "",
    add: []const []const u8 = &.{},
    remove: []const []const u8 = &.{},
};

/// The response of scope.members.
pub const ScopeMembersResponse = struct {
    members: []const []const u8,
};

/// The request of scope.delete: stage the deletion of a rights record. What the namespace holds stays closed to all but the owner, until the creator makes the scope again.
pub const ScopeDeleteRequest = struct {
    namespace: []const u8,
    force: bool = false,
};

/// The request of identity.delegate: make a key for an agent that works for the caller, with a part of the caller's rights, when the call is committed. It ends with the caller's own key.
pub const IdentityDelegateRequest = struct {
    name: []const u8,
    namespaces: []const []const u8,
    rights: []const []const u8 = &.{},
    expires_s: i64,
};

/// The response of identity.delegate.
pub const IdentityDelegateResponse = struct {
    key: []const u8,
    id: []const u8,
    agent: []const u8,
    expires_at: []const u8,
};

/// The request of identity.revoke: end a key that the family made for the same caller, when the call is committed.
pub const IdentityRevokeRequest = struct {
    id: []const u8,
};

/// The request of caller.progress: tells how far the call, or the job, has come; acts at once.
pub const CallerProgressRequest = struct {
    done: f64,
    total: f64 = 0,
    message: []const u8 = "",
};

/// The request of job.enqueue: queue a job of its own.
pub const JobEnqueueRequest = struct {
    job: []const u8,
    payload: Value = .{},
    after_s: f64 = 0,
    feed_after: u64 = 0,
};

/// The response of job.enqueue.
pub const JobEnqueueResponse = struct {
    id: []const u8,
};

/// The request of job.status: the state of a job.
pub const JobStatusRequest = struct {
    id: []const u8,
};

/// The response of job.status.
pub const JobStatusResponse = struct {
    id: []const u8,
    job: []const u8,
    state: []const u8,
    attempts: i64,
    progress: ?Progress = null,
    @"error": []const u8 = "",
    result: Value = .{},
    proposal: []const u8 = "",
};

/// The request of job.cancel: cancel a job.
pub const JobCancelRequest = struct {
    id: []const u8,
};

/// The response of job.cancel.
pub const JobCancelResponse = struct {
    cancelled: bool,
};

/// The request of text.analyze: the terms of texts, as search sees them.
pub const TextAnalyzeRequest = struct {
    texts: []const []const u8,
};

/// The response of text.analyze.
pub const TextAnalyzeResponse = struct {
    terms: []const []const []const u8,
};

/// The request of text.count: how many memories, or records, hold each of some terms.
pub const TextCountRequest = struct {
    terms: []const []const u8,
    namespaces: []const []const u8 = &.{},
    collection: []const u8 = "",
    family: []const u8 = "",
};

/// The response of text.count.
pub const TextCountResponse = struct {
    documents: i64,
    counts: []const i64,
};

/// The request of text.tokens: how many tokens texts have for a language model.
pub const TextTokensRequest = struct {
    texts: []const []const u8,
    tokens: bool = false,
    ids: bool = false,
};

/// The response of text.tokens.
pub const TextTokensResponse = struct {
    encoding: []const u8,
    counts: []const i64,
    tokens: []const []const []const u8 = &.{},
    ids: []const []const i64 = &.{},
};

/// The request of text.detokenize: the texts that tokens stand for.
pub const TextDetokenizeRequest = struct {
    ids: []const []const i64,
};

/// The response of text.detokenize.
pub const TextDetokenizeResponse = struct {
    encoding: []const u8,
    texts: []const []const u8,
};

/// The request of embed.texts: vectors of texts.
pub const EmbedTextsRequest = struct {
    texts: []const []const u8,
    purpose: []const u8 = "",
    @"packed": bool = false,
};

/// The response of embed.texts.
pub const EmbedTextsResponse = struct {
    model: []const u8,
    dimensions: i64,
    vectors: []const []const f32,
    @"packed": []const u8 = "",
};

/// The response of embed.rebuild.
pub const EmbedRebuildResponse = struct {
    embedder: []const u8,
    queued: i64,
};

/// The request of namespace.list: the namespaces that have memories, of those that may be read, in order, page by page.
pub const NamespaceListRequest = struct {
    prefix: []const u8 = "",
    after: []const u8 = "",
    limit: i64 = 0,
    counts: bool = false,
};

/// The response of namespace.list.
pub const NamespaceListResponse = struct {
    namespaces: []const Namespace,
    next: []const u8 = "",
};

/// The request of namespace.delete: stage the deletion of a bounded number of a namespace's memories; history, log and records stay. Refused if retention would drop the deleted memories at once.
pub const NamespaceDeleteRequest = struct {
    namespace: []const u8,
    limit: i64 = 0,
};

/// The response of namespace.delete.
pub const NamespaceDeleteResponse = struct {
    deleted: i64,
    more: bool,
};

/// The request of status.get: how the memory is, as far as the call may read it.
pub const StatusGetRequest = struct {
    namespace: []const u8 = "",
    details: bool = false,
};

/// The response of status.get.
pub const StatusGetResponse = struct {
    branch: []const u8,
    namespace: []const u8,
    branches: i64,
    memories: i64,
    events: ?i64 = null,
    version: u64,
    searchable: bool,
    embedders: []const Embedding,
    oldest: ?Moment = null,
    latest: ?Moment = null,
    durability: ?Durability = null,
};

/// The request of version.at: the newest version of a branch at a moment.
pub const VersionAtRequest = struct {
    as_of: []const u8,
    branch: []const u8 = "",
};

/// The response of version.at.
pub const VersionAtResponse = struct {
    version: u64,
    timestamp: []const u8,
};

/// The request of llm.complete: a completion by a configured language model.
pub const LlmCompleteRequest = struct {
    prompt: []const u8,
    system: []const u8 = "",
    endpoint: []const u8 = "",
    max_tokens: i64 = 0,
    temperature: f64 = 0,
    json: bool = false,
};

/// The response of llm.complete.
pub const LlmCompleteResponse = struct {
    text: []const u8,
    model: []const u8,
    tokens_in: i64,
    tokens_out: i64,
};

/// The request of http.fetch: a request to an endpoint that the operator named.
pub const HttpFetchRequest = struct {
    endpoint: []const u8 = "",
    method: []const u8 = "",
    path: []const u8 = "",
    query: Map([]const u8) = .{},
    headers: Map([]const u8) = .{},
    body: []const u8 = "",
    base64: bool = false,
    repeatable: bool = false,
    timeout_ms: i64 = 0,
};

/// The response of http.fetch.
pub const HttpFetchResponse = struct {
    status: i64,
    headers: Map([]const u8),
    body: []const u8,
};

/// The request of file.list: the files below a root, in the order of their paths, page by page; symbolic links, devices and files with several names are left out, and so is all whose name begins with a dot.
pub const FileListRequest = struct {
    root: []const u8 = "",
    folder: []const u8 = "",
    after: []const u8 = "",
    limit: i64 = 0,
};

/// The response of file.list.
pub const FileListResponse = struct {
    files: []const FileEntry,
    next: []const u8 = "",
    refused: i64 = 0,
};

/// The request of file.read: files below a root.
pub const FileReadRequest = struct {
    root: []const u8 = "",
    paths: []const []const u8,
    base64: bool = false,
};

/// The response of file.read.
pub const FileReadResponse = struct {
    files: []const ?File,
};

/// The request of file.write: write files below a root, each of them whole or not at all; at once, whatever becomes of the request, and not in a dry run. A request that wrote a file is not repeated when it is overtaken.
pub const FileWriteRequest = struct {
    root: []const u8 = "",
    files: []const FileItem,
    base64: bool = false,
};

/// The response of file.write.
pub const FileWriteResponse = struct {
    written: i64,
};

/// The response of tools.list.
pub const ToolsListResponse = struct {
    tools: []const ForeignTool,
};

/// The request of tools.call: call another permitted tool inside of the same stage; its errors are passed on.
pub const ToolsCallRequest = struct {
    tool: []const u8,
    arguments: Value = .{},
};

/// The response of tools.call.
pub const ToolsCallResponse = struct {
    result: Value,
};

/// The request of tools.publish: publish a tool of its own.
pub const ToolsPublishRequest = struct {
    tool: Value,
};

/// The request of tools.withdraw: withdraw a published tool.
pub const ToolsWithdrawRequest = struct {
    name: []const u8,
};

/// The request of tools.offered: the tools that the caller may use, in order, page by page: those of the core, then those of the families, the calling one's included.
pub const ToolsOfferedRequest = struct {
    families: []const []const u8 = &.{},
    prefix: []const u8 = "",
    after: []const u8 = "",
    limit: i64 = 0,
};

/// The response of tools.offered.
pub const ToolsOfferedResponse = struct {
    tools: []const ForeignTool,
    next: []const u8 = "",
};

/// The request of tools.usage: how often agents called tools; a caller without the right to every namespace sees only its own calls.
pub const ToolsUsageRequest = struct {
    days: i64 = 0,
    tools: []const []const u8 = &.{},
};

/// The response of tools.usage.
pub const ToolsUsageResponse = struct {
    usage: []const ToolUsage,
};

/// A piece of what people and models are shown.
pub const Content = struct {
    type: []const u8,
    text: []const u8 = "",
    data: []const u8 = "",
    mime_type: []const u8 = "",
    uri: []const u8 = "",
    name: []const u8 = "",
};

/// A resource in a list.
pub const ListedResource = struct {
    uri: []const u8,
    name: []const u8,
    title: []const u8 = "",
    description: []const u8 = "",
    mime_type: []const u8 = "",
};

/// A message of a prompt.
pub const PromptMessage = struct {
    role: []const u8,
    content: Content,
};

/// What a tool can ask of the caller's client, and what that answered.
pub const Input = struct {
    can: []const []const u8,
    answers: Map(Value) = .{},
    state: []const u8 = "",
};

/// A question to the caller's client.
pub const InputRequest = struct {
    ask: []const u8,
    params: Value = .{},
};

/// The context of a request: its family, caller, branch and time.
pub const Context = struct {
    family: []const u8,
    caller: []const u8,
    namespace: []const u8,
    branch: []const u8,
    now: []const u8,
    request_id: []const u8,
    dry_run: bool = false,
    operator: bool = false,
    proposal: []const u8 = "",
};

/// A memory or record that is being stored or changed, or that was.
pub const Entry = struct {
    namespace: []const u8,
    collection: []const u8,
    key: []const u8,
    change: []const u8 = "",
    version: u64 = 0,
    deleted: bool = false,
    agent: []const u8 = "",
    family: []const u8 = "",
    state: []const u8 = "",
    value: Value = .{},
    tags: []const []const u8 = &.{},
    type: []const u8 = "",
    importance: ?f64 = null,
    metadata: Map(Value) = .{},
    links: []const []const u8 = &.{},
    supersedes: []const []const u8 = &.{},
};

/// A merge of branches.
pub const MergeNotice = struct {
    source: []const u8,
    target: []const u8,
    version: u64,
    agent: []const u8 = "",
    count: i64,
    keys: []const MergeKey,
};

/// A memory that a merge changed.
pub const MergeKey = struct {
    namespace: []const u8,
    key: []const u8,
    deleted: bool = false,
};

/// A change of an entry by a store hook. Absent fields stay as they are.
pub const Change = struct {
    value: Value = .{},
    tags: []const []const u8 = &.{},
    type: ?[]const u8 = null,
    importance: ?f64 = null,
    metadata: Map(Value) = .{},
};

/// The request of kind 1: a tool call.
pub const ToolRequest = struct {
    tool: []const u8,
    arguments: Value,
    config: Value,
    input: ?Input = null,
    context: Context,
};

/// The request of kind 2: a hook or a job.
pub const HookRequest = struct {
    hook: []const u8,
    entries: []const Entry = &.{},
    merge: ?MergeNotice = null,
    session: ?Session = null,
    job: []const u8 = "",
    payload: Value = .{},
    config: Value,
    context: Context,
};

/// The result of a store hook: changes, a proposal, or a refusal.
pub const StoreResult = struct {
    entries: []const ?Change = &.{},
    refuse: ?[]const u8 = null,
    propose: ?[]const u8 = null,
};

/// The JSON in a request of kind 3.
pub const ScoreParams = struct {
    config: Value,
    now: []const u8,
    query: []const u8,
    context: Context,
};

/// The request of kind 4: texts to embed.
pub const EmbedRequest = struct {
    texts: []const []const u8,
    purpose: []const u8,
    config: Value,
    context: Context,
};

/// The result of a tool with `content`. It may have further members.
pub const ContentResult = struct {
    content: []const Content,
};

/// The result of a tool that answers for a resource. Without contents there is none.
pub const ResourceResult = struct {
    contents: []const Content,
};

/// The result of a tool that lists resources.
pub const ResourceList = struct {
    resources: []const ListedResource,
    next: []const u8 = "",
};

/// The result of a tool that answers for a prompt.
pub const PromptResult = struct {
    description: []const u8 = "",
    messages: []const PromptMessage,
};

/// The result of a tool that completes arguments. Its own arguments are `argument`, the name; `value`, what was typed; and `given`, an object of other arguments.
pub const Completion = struct {
    values: []const []const u8,
    total: i64 = 0,
    more: bool = false,
};

/// The details of an error with the code input_required.
pub const InputQuestions = struct {
    requests: Map(InputRequest),
    state: []const u8 = "",
};

/// The body of an error, in either direction.
pub const ErrorBody = struct {
    code: []const u8,
    message: []const u8,
    retryable: bool,
    details: Map(Value) = .{},
};
// generated: end
