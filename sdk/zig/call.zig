//! A request, and what its handler may ask of the host.
const std = @import("std");
const json = @import("json.zig");
const alcove = @import("alcove.zig");

/// What handlers and operations return where they fail. The call's failure says why.
pub const Failed = error{Failed};

/// An error, as it reaches the caller.
pub const Failure = struct {
    code: alcove.Code = .internal,
    message: []const u8 = "it failed",
    /// Facts for programs, an object.
    details: alcove.Value = .{},
};

/// What carries operations out: the server, or a test.
pub const Host = struct {
    self: *anyopaque,
    /// The answer of an operation, or the body of its error, which ok tells.
    call: *const fn (self: *anyopaque, op: []const u8, request: []const u8, ok: *bool) []const u8,
    /// Takes one line.
    log: *const fn (self: *anyopaque, line: []const u8) void,
};

/// A request: its context and configuration, and the operations of the host. Changes are staged: they are committed together when the handler
/// has answered, and discarded when it fails.
pub const Call = struct {
    context: alcove.Context,
    config: alcove.Value,
    /// What the caller's client answered to questions, an alcove.Input; null before.
    input: alcove.Value,
    /// The request's memory.
    arena: std.mem.Allocator,
    /// Why the operation or handler failed that failed last.
    failure: Failure = .{},
    host: Host,

    /// Fails with a code: return c.fail(.not_found, "no {s}", .{key}).
    pub fn fail(c: *Call, code: alcove.Code, comptime text: []const u8, arguments: anytype) Failed {
        return c.failWith(code, .{}, text, arguments);
    }

    /// Fails with facts for programs, such as .{ .limit = 3 }.
    pub noinline fn failWith(c: *Call, code: alcove.Code, details: anytype, comptime text: []const u8, arguments: anytype) Failed {
        c.failure = .{ .code = code, .message = c.format(text, arguments), .details = c.json(details) };
        return error.Failed;
    }

    /// Text by std.fmt.
    pub noinline fn format(c: *Call, comptime text: []const u8, arguments: anytype) []const u8 {
        return std.fmt.allocPrint(c.arena, text, arguments) catch @panic("out of memory");
    }

    /// Writes one line to the log.
    pub fn log(c: *Call, comptime text: []const u8, arguments: anytype) void {
        c.host.log(c.host.self, c.format(text, arguments));
    }

    /// Makes JSON of a text, a number, a struct, a list …
    pub fn json(c: *Call, v: anytype) alcove.Value {
        return .{ .json = jsonOf.encode(c.arena, v) };
    }

    /// Reads JSON into a type.
    pub fn read(c: *Call, comptime T: type, v: alcove.Value) Failed!T {
        var p = jsonOf.Parser{ .text = v.json, .arena = c.arena };
        return p.whole(T) catch c.fail(.invalid_argument, "{s}", .{p.problem});
    }

    /// Runs an operation by its name. The functions of operations are typed.
    pub noinline fn exchange(c: *Call, comptime T: type, op: []const u8, request: anytype) Failed!T {
        var ok = false;
        const answer = c.host.call(c.host.self, op, jsonOf.encode(c.arena, request), &ok);
        var p = jsonOf.Parser{ .text = answer, .arena = c.arena };
        if (ok and T == void) return;
        if (ok) return p.whole(T) catch c.fail(.internal, "read the answer of {s}: {s}", .{ op, p.problem });
        const body = p.whole(Body) catch return c.fail(.internal, "read the host's error", .{});
        c.failure = .{ .code = alcove.Code.named(body.code), .message = body.message, .details = body.details };
        return error.Failed;
    }

    // generated: begin
    // By abi/gen from abi.json. Do not edit.
    /// memory.get: memories by their keys.
    pub fn memoryGet(c: *Call, request: alcove.MemoryGetRequest) Failed!alcove.MemoryGetResponse {
        return c.exchange(alcove.MemoryGetResponse, "memory.get", request);
    }

    /// memory.states: the states of memories by their keys, and their values.
    pub fn memoryStates(c: *Call, request: alcove.MemoryStatesRequest) Failed!alcove.MemoryStatesResponse {
        return c.exchange(alcove.MemoryStatesResponse, "memory.states", request);
    }

    /// memory.list: memories of a namespace, page by page: in the order of their keys, or by their fields and in another order.
    pub fn memoryList(c: *Call, request: alcove.MemoryListRequest) Failed!alcove.MemoryListResponse {
        return c.exchange(alcove.MemoryListResponse, "memory.list", request);
    }

    /// memory.namespaces: the namespaces that have memories, of those that may be read.
    pub fn memoryNamespaces(c: *Call) Failed!alcove.MemoryNamespacesResponse {
        return c.exchange(alcove.MemoryNamespacesResponse, "memory.namespaces", .{});
    }

    /// memory.history: the versions of one memory, the newest first.
    pub fn memoryHistory(c: *Call, request: alcove.MemoryHistoryRequest) Failed!alcove.MemoryHistoryResponse {
        return c.exchange(alcove.MemoryHistoryResponse, "memory.history", request);
    }

    /// recall.get: what a recall by query found, for feedback about it: the caller's own recalls, or with the right `act_as` all, of the last 90 days, if caller and family may read every namespace in it.
    pub fn recallGet(c: *Call, request: alcove.RecallGetRequest) Failed!alcove.RecallGetResponse {
        return c.exchange(alcove.RecallGetResponse, "recall.get", request);
    }

    /// memory.search: lexical, semantic or hybrid search; staged changes are not found.
    pub fn memorySearch(c: *Call, request: alcove.MemorySearchRequest) Failed!alcove.MemorySearchResponse {
        return c.exchange(alcove.MemorySearchResponse, "memory.search", request);
    }

    /// memory.pairs: pairs of memories of a namespace that share many words of their texts, by the words' stems: the rarer a word is there, the more it weighs. Keys, tags and words such as `the` do not count, and staged changes are not seen. A word that very many memories have finds no pairs by itself.
    pub fn memoryPairs(c: *Call, request: alcove.MemoryPairsRequest) Failed!alcove.MemoryPairsResponse {
        return c.exchange(alcove.MemoryPairsResponse, "memory.pairs", request);
    }

    /// memory.put: stage memories.
    pub fn memoryPut(c: *Call, request: alcove.MemoryPutRequest) Failed!alcove.MemoryPutResponse {
        return c.exchange(alcove.MemoryPutResponse, "memory.put", request);
    }

    /// memory.patch: stage changes of some fields of memories.
    pub fn memoryPatch(c: *Call, request: alcove.MemoryPatchRequest) Failed!alcove.MemoryPatchResponse {
        return c.exchange(alcove.MemoryPatchResponse, "memory.patch", request);
    }

    /// memory.delete: stage deletions of memories.
    pub fn memoryDelete(c: *Call, request: alcove.MemoryDeleteRequest) Failed!alcove.MemoryDeleteResponse {
        return c.exchange(alcove.MemoryDeleteResponse, "memory.delete", request);
    }

    /// memory.touch: add to the counters of memories.
    pub fn memoryTouch(c: *Call, request: alcove.MemoryTouchRequest) Failed!alcove.MemoryTouchResponse {
        return c.exchange(alcove.MemoryTouchResponse, "memory.touch", request);
    }

    /// record.get: records of one of its own collections by their keys.
    pub fn recordGet(c: *Call, request: alcove.RecordGetRequest) Failed!alcove.RecordGetResponse {
        return c.exchange(alcove.RecordGetResponse, "record.get", request);
    }

    /// record.put: stage records, or commit them at once.
    pub fn recordPut(c: *Call, request: alcove.RecordPutRequest) Failed!alcove.RecordPutResponse {
        return c.exchange(alcove.RecordPutResponse, "record.put", request);
    }

    /// record.delete: stage deletions of records.
    pub fn recordDelete(c: *Call, request: alcove.RecordDeleteRequest) Failed!alcove.RecordDeleteResponse {
        return c.exchange(alcove.RecordDeleteResponse, "record.delete", request);
    }

    /// record.list: records, page by page, in the order of their keys; with `filters` or `order`, those that declared indexes select, in their order.
    pub fn recordList(c: *Call, request: alcove.RecordListRequest) Failed!alcove.RecordListResponse {
        return c.exchange(alcove.RecordListResponse, "record.list", request);
    }

    /// record.scan: the keys of records that begin with one of several prefixes, and their values, page by page, in the order of the keys.
    pub fn recordScan(c: *Call, request: alcove.RecordScanRequest) Failed!alcove.RecordScanResponse {
        return c.exchange(alcove.RecordScanResponse, "record.scan", request);
    }

    /// record.history: the versions of one record, the newest first.
    pub fn recordHistory(c: *Call, request: alcove.RecordHistoryRequest) Failed!alcove.RecordHistoryResponse {
        return c.exchange(alcove.RecordHistoryResponse, "record.history", request);
    }

    /// record.search: search in a searchable collection; staged changes are not found.
    pub fn recordSearch(c: *Call, request: alcove.RecordSearchRequest) Failed!alcove.RecordSearchResponse {
        return c.exchange(alcove.RecordSearchResponse, "record.search", request);
    }

    /// record.nearest: the records of a collection whose vectors are nearest to one, by an exact scan, staged ones included.
    pub fn recordNearest(c: *Call, request: alcove.RecordNearestRequest) Failed!alcove.RecordNearestResponse {
        return c.exchange(alcove.RecordNearestResponse, "record.nearest", request);
    }

    /// record.collections: the collections whose records the call may read, its own and those of other families, by family and name.
    pub fn recordCollections(c: *Call, request: alcove.RecordCollectionsRequest) Failed!alcove.RecordCollectionsResponse {
        return c.exchange(alcove.RecordCollectionsResponse, "record.collections", request);
    }

    /// record.append: stage records with the next sequence numbers as their keys.
    pub fn recordAppend(c: *Call, request: alcove.RecordAppendRequest) Failed!alcove.RecordAppendResponse {
        return c.exchange(alcove.RecordAppendResponse, "record.append", request);
    }

    /// log.append: stage an event of the log, which gets its sequence number at the commit.
    pub fn logAppend(c: *Call, request: alcove.LogAppendRequest) Failed!alcove.LogAppendResponse {
        return c.exchange(alcove.LogAppendResponse, "log.append", request);
    }

    /// log.read: events of the log, the oldest first.
    pub fn logRead(c: *Call, request: alcove.LogReadRequest) Failed!alcove.LogReadResponse {
        return c.exchange(alcove.LogReadResponse, "log.read", request);
    }

    /// log.verify: check the chain of a log page by page: that no event is missing, changed or out of order.
    pub fn logVerify(c: *Call, request: alcove.LogVerifyRequest) Failed!alcove.LogVerifyResponse {
        return c.exchange(alcove.LogVerifyResponse, "log.verify", request);
    }

    /// feed.read: changes since a watermark.
    pub fn feedRead(c: *Call, request: alcove.FeedReadRequest) Failed!alcove.FeedReadResponse {
        return c.exchange(alcove.FeedReadResponse, "feed.read", request);
    }

    /// feed.emit: stage an event of the feed.
    pub fn feedEmit(c: *Call, request: alcove.FeedEmitRequest) Failed!void {
        return c.exchange(void, "feed.emit", request);
    }

    /// branch.list: the branches.
    pub fn branchList(c: *Call) Failed!alcove.BranchListResponse {
        return c.exchange(alcove.BranchListResponse, "branch.list", .{});
    }

    /// branch.diff: what differs between two branches.
    pub fn branchDiff(c: *Call, request: alcove.BranchDiffRequest) Failed!alcove.BranchDiffResponse {
        return c.exchange(alcove.BranchDiffResponse, "branch.diff", request);
    }

    /// branch.fork: make a branch, after the commit.
    pub fn branchFork(c: *Call, request: alcove.BranchForkRequest) Failed!alcove.BranchForkResponse {
        return c.exchange(alcove.BranchForkResponse, "branch.fork", request);
    }

    /// branch.merge: merge a branch after the commit, or preview that.
    pub fn branchMerge(c: *Call, request: alcove.BranchMergeRequest) Failed!alcove.BranchMergeResponse {
        return c.exchange(alcove.BranchMergeResponse, "branch.merge", request);
    }

    /// branch.delete: delete a branch, after the commit.
    pub fn branchDelete(c: *Call, request: alcove.BranchDeleteRequest) Failed!void {
        return c.exchange(void, "branch.delete", request);
    }

    /// link.list: links from and to a memory; a memory of another namespace is `namespace#key`, and is omitted if it may not be read.
    pub fn linkList(c: *Call, request: alcove.LinkListRequest) Failed!alcove.LinkListResponse {
        return c.exchange(alcove.LinkListResponse, "link.list", request);
    }

    /// link.add: stage links.
    pub fn linkAdd(c: *Call, request: alcove.LinkAddRequest) Failed!alcove.LinkAddResponse {
        return c.exchange(alcove.LinkAddResponse, "link.add", request);
    }

    /// link.remove: stage the removal of links.
    pub fn linkRemove(c: *Call, request: alcove.LinkRemoveRequest) Failed!alcove.LinkRemoveResponse {
        return c.exchange(alcove.LinkRemoveResponse, "link.remove", request);
    }

    /// config.get: its own configuration, or settings by their keys with where their values come from.
    pub fn configGet(c: *Call, request: alcove.ConfigGetRequest) Failed!alcove.ConfigGetResponse {
        return c.exchange(alcove.ConfigGetResponse, "config.get", request);
    }

    /// config.list: settings that families share, in the order of their keys, page by page.
    pub fn configList(c: *Call, request: alcove.ConfigListRequest) Failed!alcove.ConfigListResponse {
        return c.exchange(alcove.ConfigListResponse, "config.list", request);
    }

    /// config.put: stage changes of settings that families share: all, or with any fault none.
    pub fn configPut(c: *Call, request: alcove.ConfigPutRequest) Failed!alcove.ConfigPutResponse {
        return c.exchange(alcove.ConfigPutResponse, "config.put", request);
    }

    /// config.history: the changes of a shared setting in a scope, the newest first.
    pub fn configHistory(c: *Call, request: alcove.ConfigHistoryRequest) Failed!alcove.ConfigHistoryResponse {
        return c.exchange(alcove.ConfigHistoryResponse, "config.history", request);
    }

    /// config.rollback: stage the value that a shared setting had at a version, as a new version.
    pub fn configRollback(c: *Call, request: alcove.ConfigRollbackRequest) Failed!alcove.ConfigRollbackResponse {
        return c.exchange(alcove.ConfigRollbackResponse, "config.rollback", request);
    }

    /// config.undo: stage the values that all keys of a change had before it, as new versions: all, or where one was changed since none.
    pub fn configUndo(c: *Call, request: alcove.ConfigUndoRequest) Failed!alcove.ConfigUndoResponse {
        return c.exchange(alcove.ConfigUndoResponse, "config.undo", request);
    }

    /// config.rules: the rules about settings that the family may read.
    pub fn configRules(c: *Call) Failed!alcove.ConfigRulesResponse {
        return c.exchange(alcove.ConfigRulesResponse, "config.rules", .{});
    }

    /// config.set: stage a change of its own configuration.
    pub fn configSet(c: *Call, request: alcove.ConfigSetRequest) Failed!alcove.ConfigSetResponse {
        return c.exchange(alcove.ConfigSetResponse, "config.set", request);
    }

    /// caller.get: the caller, and the powers of the call.
    pub fn callerGet(c: *Call) Failed!alcove.CallerGetResponse {
        return c.exchange(alcove.CallerGetResponse, "caller.get", .{});
    }

    /// quota.list: the namespaces with a quota that the caller may read, and what agents stored there; most callers see only themselves.
    pub fn quotaList(c: *Call, request: alcove.QuotaListRequest) Failed!alcove.QuotaListResponse {
        return c.exchange(alcove.QuotaListResponse, "quota.list", request);
    }

    /// caller.can: whether the caller may do something, apart from what the family may.
    pub fn callerCan(c: *Call, request: alcove.CallerCanRequest) Failed!alcove.CallerCanResponse {
        return c.exchange(alcove.CallerCanResponse, "caller.can", request);
    }

    /// session.list: the open sessions: to the owner all, to the holder of a key those of its agent, and of agents that are members of the same scopes; or those in a namespace.
    pub fn sessionList(c: *Call, request: alcove.SessionListRequest) Failed!alcove.SessionListResponse {
        return c.exchange(alcove.SessionListResponse, "session.list", request);
    }

    /// scope.get: the rights record of a namespace. One that the caller may not read has none.
    pub fn scopeGet(c: *Call, request: alcove.ScopeGetRequest) Failed!alcove.ScopeGetResponse {
        return c.exchange(alcove.ScopeGetResponse, "scope.get", request);
    }

    /// scope.list: the rights records of namespaces that the caller may read, in their order, page by page, without staged changes.
    pub fn scopeList(c: *Call, request: alcove.ScopeListRequest) Failed!alcove.ScopeListResponse {
        return c.exchange(alcove.ScopeListResponse, "scope.list", request);
    }

    /// scope.put: stage the creation of a namespace's rights record, by an agent that may write the namespace, or a change by its creator or a caller with the right scope.admin. Nobody grants a right to write that they lack. Namespaces private-AGENT are for that agent.
    pub fn scopePut(c: *Call, request: alcove.ScopePutRequest) Failed!alcove.ScopePutResponse {
        return c.exchange(alcove.ScopePutResponse, "scope.put", request);
    }

    /// scope.members: stage the addition and removal of members of a scope, as scope.put does.
    pub fn scopeMembers(c: *Call, request: alcove.ScopeMembersRequest) Failed!alcove.ScopeMembersResponse {
        return c.exchange(alcove.ScopeMembersResponse, "scope.members", request);
    }

    /// scope.delete: stage the deletion of a rights record. What the namespace holds stays closed to all but the owner, until the creator makes the scope again.
    pub fn scopeDelete(c: *Call, request: alcove.ScopeDeleteRequest) Failed!void {
        return c.exchange(void, "scope.delete", request);
    }

    /// identity.delegate: make a key for an agent that works for the caller, with a part of the caller's rights, when the call is committed. It ends with the caller's own key.
    pub fn identityDelegate(c: *Call, request: alcove.IdentityDelegateRequest) Failed!alcove.IdentityDelegateResponse {
        return c.exchange(alcove.IdentityDelegateResponse, "identity.delegate", request);
    }

    /// identity.revoke: end a key that the family made for the same caller, when the call is committed.
    pub fn identityRevoke(c: *Call, request: alcove.IdentityRevokeRequest) Failed!void {
        return c.exchange(void, "identity.revoke", request);
    }

    /// caller.progress: tells how far the call, or the job, has come; acts at once.
    pub fn callerProgress(c: *Call, request: alcove.CallerProgressRequest) Failed!void {
        return c.exchange(void, "caller.progress", request);
    }

    /// job.enqueue: queue a job of its own.
    pub fn jobEnqueue(c: *Call, request: alcove.JobEnqueueRequest) Failed!alcove.JobEnqueueResponse {
        return c.exchange(alcove.JobEnqueueResponse, "job.enqueue", request);
    }

    /// job.status: the state of a job.
    pub fn jobStatus(c: *Call, request: alcove.JobStatusRequest) Failed!alcove.JobStatusResponse {
        return c.exchange(alcove.JobStatusResponse, "job.status", request);
    }

    /// job.cancel: cancel a job.
    pub fn jobCancel(c: *Call, request: alcove.JobCancelRequest) Failed!alcove.JobCancelResponse {
        return c.exchange(alcove.JobCancelResponse, "job.cancel", request);
    }

    /// text.analyze: the terms of texts, as search sees them.
    pub fn textAnalyze(c: *Call, request: alcove.TextAnalyzeRequest) Failed!alcove.TextAnalyzeResponse {
        return c.exchange(alcove.TextAnalyzeResponse, "text.analyze", request);
    }

    /// text.count: how many memories, or records, hold each of some terms.
    pub fn textCount(c: *Call, request: alcove.TextCountRequest) Failed!alcove.TextCountResponse {
        return c.exchange(alcove.TextCountResponse, "text.count", request);
    }

    /// text.tokens: how many tokens texts have for a language model.
    pub fn textTokens(c: *Call, request: alcove.TextTokensRequest) Failed!alcove.TextTokensResponse {
        return c.exchange(alcove.TextTokensResponse, "text.tokens", request);
    }

    /// text.detokenize: the texts that tokens stand for.
    pub fn textDetokenize(c: *Call, request: alcove.TextDetokenizeRequest) Failed!alcove.TextDetokenizeResponse {
        return c.exchange(alcove.TextDetokenizeResponse, "text.detokenize", request);
    }

    /// embed.texts: vectors of texts.
    pub fn embedTexts(c: *Call, request: alcove.EmbedTextsRequest) Failed!alcove.EmbedTextsResponse {
        return c.exchange(alcove.EmbedTextsResponse, "embed.texts", request);
    }

    /// embed.rebuild: have all vectors made again, after the commit and at most once in ten minutes; the old ones serve until then.
    pub fn embedRebuild(c: *Call) Failed!alcove.EmbedRebuildResponse {
        return c.exchange(alcove.EmbedRebuildResponse, "embed.rebuild", .{});
    }

    /// namespace.list: the namespaces that have memories, of those that may be read, in order, page by page.
    pub fn namespaceList(c: *Call, request: alcove.NamespaceListRequest) Failed!alcove.NamespaceListResponse {
        return c.exchange(alcove.NamespaceListResponse, "namespace.list", request);
    }

    /// namespace.delete: stage the deletion of a bounded number of a namespace's memories; history, log and records stay. Refused if retention would drop the deleted memories at once.
    pub fn namespaceDelete(c: *Call, request: alcove.NamespaceDeleteRequest) Failed!alcove.NamespaceDeleteResponse {
        return c.exchange(alcove.NamespaceDeleteResponse, "namespace.delete", request);
    }

    /// status.get: how the memory is, as far as the call may read it.
    pub fn statusGet(c: *Call, request: alcove.StatusGetRequest) Failed!alcove.StatusGetResponse {
        return c.exchange(alcove.StatusGetResponse, "status.get", request);
    }

    /// version.at: the newest version of a branch at a moment.
    pub fn versionAt(c: *Call, request: alcove.VersionAtRequest) Failed!alcove.VersionAtResponse {
        return c.exchange(alcove.VersionAtResponse, "version.at", request);
    }

    /// llm.complete: a completion by a configured language model.
    pub fn llmComplete(c: *Call, request: alcove.LlmCompleteRequest) Failed!alcove.LlmCompleteResponse {
        return c.exchange(alcove.LlmCompleteResponse, "llm.complete", request);
    }

    /// http.fetch: a request to an endpoint that the operator named.
    pub fn httpFetch(c: *Call, request: alcove.HttpFetchRequest) Failed!alcove.HttpFetchResponse {
        return c.exchange(alcove.HttpFetchResponse, "http.fetch", request);
    }

    /// file.list: the files below a root, in the order of their paths, page by page; symbolic links, devices and files with several names are left out, and so is all whose name begins with a dot.
    pub fn fileList(c: *Call, request: alcove.FileListRequest) Failed!alcove.FileListResponse {
        return c.exchange(alcove.FileListResponse, "file.list", request);
    }

    /// file.read: files below a root.
    pub fn fileRead(c: *Call, request: alcove.FileReadRequest) Failed!alcove.FileReadResponse {
        return c.exchange(alcove.FileReadResponse, "file.read", request);
    }

    /// file.write: write files below a root, each of them whole or not at all; at once, whatever becomes of the request, and not in a dry run. A request that wrote a file is not repeated when it is overtaken.
    pub fn fileWrite(c: *Call, request: alcove.FileWriteRequest) Failed!alcove.FileWriteResponse {
        return c.exchange(alcove.FileWriteResponse, "file.write", request);
    }

    /// tools.list: tools of other families, and of the core, that may be called.
    pub fn toolsList(c: *Call) Failed!alcove.ToolsListResponse {
        return c.exchange(alcove.ToolsListResponse, "tools.list", .{});
    }

    /// tools.call: call another permitted tool inside of the same stage; its errors are passed on.
    pub fn toolsCall(c: *Call, request: alcove.ToolsCallRequest) Failed!alcove.ToolsCallResponse {
        return c.exchange(alcove.ToolsCallResponse, "tools.call", request);
    }

    /// tools.publish: publish a tool of its own.
    pub fn toolsPublish(c: *Call, request: alcove.ToolsPublishRequest) Failed!void {
        return c.exchange(void, "tools.publish", request);
    }

    /// tools.withdraw: withdraw a published tool.
    pub fn toolsWithdraw(c: *Call, request: alcove.ToolsWithdrawRequest) Failed!void {
        return c.exchange(void, "tools.withdraw", request);
    }

    /// tools.offered: the tools that the caller may use, in order, page by page: those of the core, then those of the families, the calling one's included.
    pub fn toolsOffered(c: *Call, request: alcove.ToolsOfferedRequest) Failed!alcove.ToolsOfferedResponse {
        return c.exchange(alcove.ToolsOfferedResponse, "tools.offered", request);
    }

    /// tools.usage: how often agents called tools; a caller without the right to every namespace sees only its own calls.
    pub fn toolsUsage(c: *Call, request: alcove.ToolsUsageRequest) Failed!alcove.ToolsUsageResponse {
        return c.exchange(alcove.ToolsUsageResponse, "tools.usage", request);
    }
    // generated: end
};

const jsonOf = json;

/// The body of an error.
pub const Body = struct {
    code: []const u8,
    message: []const u8,
    retryable: bool,
    details: alcove.Value = .{},

    pub fn of(f: Failure) Body {
        return .{ .code = @tagName(f.code), .message = f.message, .retryable = f.code.retryable(), .details = f.details };
    }
};
