// The module alcove, for editors and for tsc: the engine has it, and alcove family pack checks no types.

declare module "alcove" {
  /** A JSON Schema of values of a type. */
  interface Schema<T> {
    readonly "~type"?: T;
  }
  interface Optional<T> extends Schema<T> {
    readonly "~optional"?: true;
  }
  type Keywords = { [name: string]: unknown };
  type Properties = { [name: string]: Schema<any> };
  type ValueOf<S> = S extends Schema<infer T> ? T : never;
  type OptionalKeys<P> = { [K in keyof P]: "~optional" extends keyof P[K] ? K : never }[keyof P];
  type Values<P> = { [K in Exclude<keyof P, OptionalKeys<P>>]: ValueOf<P[K]> } & { [K in OptionalKeys<P>]?: ValueOf<P[K]> };

  /** Schemas of parameters and results; more has other keywords, such as { maxLength: 100 }. */
  const t: {
    string(description?: string, more?: Keywords): Schema<string>;
    integer(description?: string, more?: Keywords): Schema<number>;
    number(description?: string, more?: Keywords): Schema<number>;
    boolean(description?: string, more?: Keywords): Schema<boolean>;
    any(description?: string): Schema<any>;
    list<T>(items: Schema<T>, description?: string, more?: Keywords): Schema<T[]>;
    map<T>(values: Schema<T>, description?: string, more?: Keywords): Schema<{ [name: string]: T }>;
    object<P extends Properties>(properties: P, description?: string, more?: Keywords): Schema<Values<P>>;
    /** A parameter that need not be given. */
    optional<T>(schema: Schema<T>): Optional<T>;
  };

  /** What a handler is given beside its input. Operations whose names begin with log. and config. are run by call. */
  interface Call extends Omit<Operations, "log" | "config"> {
    /** A value for each key of the family's config. */
    readonly config: any;
    readonly context: Context;
    /** What the client of the caller can be asked, and its answers. A tool asks with fail("input_required", "why", { details: { requests, state } }). */
    readonly input?: Input;
    /** Runs an operation by its name. */
    call(op: string, request?: unknown): any;
    /** Writes a line of the log. */
    log(...values: unknown[]): void;
    /** A prefix and 26 characters that sort by the time of the request. A request that is repeated makes the same ids. */
    newID(prefix?: string): string;
    /** All memories of a listing, page by page. */
    memories(request?: Parameters<Operations["memory"]["list"]>[0]): Generator<Memory>;
  }

  type Answer<T> = T | Promise<T>;

  interface Tool<I> {
    /** At most 400 characters: models read it with every request. */
    description: string;
    docs?: string;
    title?: string;
    readOnly?: boolean;
    destructive?: boolean;
    idempotent?: boolean;
    openWorld?: boolean;
    input?: I;
    output?: Properties;
    input_schema?: object;
    output_schema?: object;
    aliases?: { name: string; arguments?: { [name: string]: unknown } }[];
    parameters?: { [name: string]: string };
    mixed?: boolean;
    content?: boolean;
    unlisted?: boolean;
    task?: "optional" | "required" | "after_input";
    call(input: Values<I>, c: Call): Answer<unknown>;
  }

  interface Job {
    description?: string;
    /** As in 30m, 6h or 1d; absent: only when it is queued. */
    every?: string;
    each?: "branch" | "namespace";
    parallel?: number;
    call(payload: any, c: Call): Answer<unknown>;
  }

  type Decision = (Change | null | undefined)[] | StoreResult | undefined | void;
  interface When {
    settings?: string[];
    records?: string[];
    lacks?: string[];
  }
  interface Asked {
    collections?: string[];
    types?: string[];
    when?: When;
  }
  interface Hooks {
    store?: Asked & { on_failure?: "skip" | "defer" | "refuse"; redacts?: boolean; changes?: ("store" | "delete" | "state")[]; tag_from?: string; call(entries: Entry[], c: Call): Answer<Decision> };
    stored?: Asked & { own?: boolean; generations?: number; call(entries: Entry[], c: Call): Answer<void> };
    merged?: { call(merge: MergeNotice, c: Call): Answer<void> };
    session_end?: { call(session: Session, c: Call): Answer<void> };
    rank?: { features: Feature[]; types?: string[]; when?: When; call(ranking: Ranking, c: Call): Answer<ArrayLike<number>> };
    embed?: { model: string; dimensions: number; call(texts: string[], c: Call, purpose: string): Answer<ArrayLike<number>[]> };
  }
  interface Ranking {
    count: number;
    columns: { [name: string]: Float32Array };
    query: string;
    now: string;
  }

  interface Definition<I> {
    name: string;
    version?: string;
    description: string;
    docs?: string;
    keywords?: string[];
    examples?: string[];
    license?: string;
    homepage?: string;
    deprecated?: boolean;
    capabilities?: { name: Capability; scope?: string[]; reason: string }[];
    config?: { key: string; description?: string; shared?: boolean; category?: string; schema?: object; default: unknown }[];
    config_rules?: { rule: "sum" | "less_than" | "one_of"; keys: string[]; equals?: number; within?: number }[];
    collections?: { name: string; per?: "branch" | "space"; expires?: string; searchable?: string[]; indexes?: string[][]; versioned?: boolean; open?: boolean; private?: boolean; sync?: "never" | "newest" }[];
    limits?: { [name: string]: number };
    tools?: { [K in keyof I]: Tool<I[K]> };
    hooks?: Hooks;
    jobs?: { [name: string]: Job };
    resources?: { uri: string; name: string; title?: string; description?: string; mime_type?: string; tool: string; list?: string; complete?: string }[];
    prompts?: { name: string; title?: string; description?: string; tool: string; complete?: string }[];
    /** Serves the tools that the family published while it ran. */
    published?(tool: string, input: any, c: Call): Answer<unknown>;
  }

  /** The family that a file exports: export default family({...}). */
  function family<I extends { [name: string]: Properties }>(definition: Definition<I>): Definition<I>;

  /** Fails with a code, as in fail("not_found", "there is no such note"). */
  function fail(code: Code, message: string, more?: { retryable?: boolean; details?: { [name: string]: unknown } }): never;
  class AlcoveError extends Error {
    constructor(code: Code, message: string, more?: { retryable?: boolean; details?: { [name: string]: unknown } });
    readonly code: Code;
    readonly retryable: boolean;
    readonly details?: { [name: string]: unknown };
  }

  /** Decisions of a store hook about all of its entries; one that changes some returns the list of changes. */
  function refuse(reason: string): StoreResult;
  function propose(reason: string, entries?: (Change | null)[]): StoreResult;

// generated: begin
// By abi/gen from abi.json. Do not edit.

  /** The codes of errors. */
  type Code = "invalid_argument" | "not_found" | "denied" | "conflict" | "exhausted" | "unavailable" | "timeout" | "internal" | "input_required";

  /** The hooks. */
  type Hook = "store" | "stored" | "merged" | "session_end" | "rank" | "embed" | "job";

  /** What a family may ask for. */
  type Capability = "memory.read" | "memory.write" | "memory.propose" | "memory.count" | "record" | "records.read" | "log.read" | "log.append" | "feed.read" | "feed.emit" | "feed.kind" | "branch.read" | "branch.write" | "link.read" | "link.write" | "config.write" | "config.read" | "config.shared" | "job" | "embed" | "embed.rebuild" | "namespace.delete" | "scope.read" | "scope.write" | "session.read" | "identity.delegate" | "llm" | "http" | "file.read" | "file.write" | "tools.call" | "tools.publish" | "tools.usage" | "ask.user" | "ask.model" | "ask.roots";

  /** The columns of a rank hook. */
  type Feature = "score" | "lexical" | "semantic" | "importance" | "age" | "accesses" | "idle" | "outcome" | "length" | "type";

  /** How a memory was used. */
  interface Counters {
    /** how often it was recalled */
    accesses: number;
    /** when it was last recalled, RFC 3339; absent: never */
    last_access?: string;
    /** feedback about it */
    health: number;
  }

  /** What the writer of a memory decides. */
  interface MemoryFields {
    /** any JSON value */
    value?: any;
    /** tags */
    tags?: string[];
    /** a type */
    type?: string;
    /** importance */
    importance?: number;
    /** named values; a patch adds members, and null removes one */
    metadata?: { [name: string]: any };
    /** the state of its life */
    state?: "active" | "archived" | "merged" | "pruned";
    /** keys of memories that it replaces */
    supersedes?: string[];
    /** keys of memories that it refers to */
    links?: string[];
    /** when it expires: RFC 3339, or in a request also a date or `in 2h`; the empty string stands for never */
    expires_at?: string;
  }

  /** A memory. One that is staged has version 0. */
  interface Memory {
    /** its namespace */
    namespace: string;
    /** its key */
    key: string;
    /** any JSON value */
    value?: any;
    /** tags */
    tags?: string[];
    /** a type */
    type?: string;
    /** importance */
    importance?: number;
    /** named values; a patch adds members, and null removes one */
    metadata?: { [name: string]: any };
    /** the state of its life */
    state?: "active" | "archived" | "merged" | "pruned";
    /** keys of memories that it replaces */
    supersedes?: string[];
    /** keys of memories that it refers to */
    links?: string[];
    /** when it expires: RFC 3339, or in a request also a date or `in 2h`; the empty string stands for never */
    expires_at?: string;
    /** the agent that wrote this version */
    agent?: string;
    /** the version of the commit that wrote it */
    version: number;
    /** when it was written, RFC 3339 */
    timestamp?: string;
    /** in histories: this version deleted the key */
    deleted?: boolean;
    /** where they were asked for */
    counters?: Counters;
    /** where that was asked for: when its first version since its last deletion was written, RFC 3339; absent: it is staged */
    created?: string;
  }

  /** The namespace and key of a memory. */
  interface MemoryID {
    /** its namespace */
    namespace: string;
    /** its key */
    key: string;
  }

  /** A file below a root, with its content. */
  interface File {
    /** its path below the root */
    path: string;
    /** its content */
    content: string;
    /** the content's SHA-256, hexadecimal */
    digest: string;
  }

  /** A file below a root. */
  interface FileEntry {
    /** its path below the root */
    path: string;
    /** its length */
    bytes: number;
    /** when it was last written: RFC 3339, UTC */
    modified: string;
  }

  /** A file to be written. */
  interface FileItem {
    /** its path below the root */
    path: string;
    /** its content */
    content: string;
    /** the digest that the file must have; the empty string: there must be none */
    if_digest?: string;
  }

  /** What an agent stored in a namespace with a quota; a limit of 0 is none. */
  interface QuotaUse {
    /** the namespace */
    namespace: string;
    /** the agent; empty: nobody stored anything yet */
    agent: string;
    /** the day of memories and links, in UTC */
    day: string;
    /** versions of memories on that day */
    memories: number;
    /** its limit */
    most_memories: number;
    /** links added on that day */
    links: number;
    /** its limit */
    most_links: number;
    /** bytes of its present memories */
    bytes: number;
    /** its limit */
    most_bytes: number;
  }

  /** A memory to be staged. */
  interface MemoryItem {
    /** its key; default: derived from the namespace and the value */
    key?: string;
    /** the namespace; default: the call's own */
    namespace?: string;
    /** any JSON value */
    value?: any;
    /** tags */
    tags?: string[];
    /** a type */
    type?: string;
    /** importance */
    importance?: number;
    /** named values; a patch adds members, and null removes one */
    metadata?: { [name: string]: any };
    /** the state of its life */
    state?: "active" | "archived" | "merged" | "pruned";
    /** keys of memories that it replaces */
    supersedes?: string[];
    /** keys of memories that it refers to */
    links?: string[];
    /** when it expires: RFC 3339, or in a request also a date or `in 2h`; the empty string stands for never */
    expires_at?: string;
    /** the version that has to be the newest; 0: the key must be free */
    if_version?: number;
  }

  /** A change of some fields of a memory. Absent fields stay; a list, also an empty one, replaces the present list. */
  interface MemoryPatch {
    /** its key */
    key: string;
    /** the namespace; default: the call's own */
    namespace?: string;
    /** any JSON value */
    value?: any;
    /** tags */
    tags?: string[];
    /** a type */
    type?: string;
    /** importance */
    importance?: number;
    /** named values; a patch adds members, and null removes one */
    metadata?: { [name: string]: any };
    /** the state of its life */
    state?: "active" | "archived" | "merged" | "pruned";
    /** keys of memories that it replaces */
    supersedes?: string[];
    /** keys of memories that it refers to */
    links?: string[];
    /** when it expires: RFC 3339, or in a request also a date or `in 2h`; the empty string stands for never */
    expires_at?: string;
    /** tags to add */
    add_tags?: string[];
    /** tags to remove */
    remove_tags?: string[];
    /** fields to remove */
    clear?: ("tags" | "type" | "importance" | "metadata" | "supersedes" | "links" | "expires_at")[];
    /** the version that has to be the newest */
    if_version?: number;
  }

  /** A condition on a field of a memory. A field that is null is not there. Of each memory the first 64 fields can be tested, metadata before value, in the order of their names. */
  interface FieldTest {
    /** `metadata.NAME`, `value.NAME` of a value that is an object, or one of type, importance, tags, agent, expires_at, links and supersedes, which can only be there or not */
    field: string;
    /** the field's value, at most 4,096 bytes, as is that of a field that can equal one; 1 and 1.0 are equal */
    equals?: any;
    /** whether the field exists; not together with equals; default: true */
    exists?: boolean;
  }

  /** Conditions on memories, which apply together. A list has at most 64 elements; an empty one is no condition. */
  interface MemoryFilter {
    /** of one of these types */
    types?: string[];
    /** in one of these states */
    states?: ("active" | "archived" | "merged" | "pruned")[];
    /** the newest version is by one of these agents, as `agent` of a memory names them; `family:NAME` where a family wrote without an agent */
    writers?: string[];
    /** with all of these tags */
    tags?: string[];
    /** with one of these tags */
    any_tags?: string[];
    /** with none of these tags */
    no_tags?: string[];
    /** at least as important; memories without importance are not */
    min_importance?: number;
    /** at most as important; memories without importance are not */
    max_importance?: number;
    /** recalled at least as often */
    min_accesses?: number;
    /** recalled at most as often */
    max_accesses?: number;
    /** of at least this health */
    min_health?: number;
    /** of at most this health */
    max_health?: number;
    /** last recalled at this moment or later */
    accessed_since?: string;
    /** last recalled before this moment; memories that never were are not */
    accessed_until?: string;
    /** created at this moment or later */
    created_since?: string;
    /** created before this moment */
    created_until?: string;
    /** the newest version was written at this moment or later */
    updated_since?: string;
    /** the newest version was written before this moment */
    updated_until?: string;
    /** with memories that have expired, or these alone; they stay until they are deleted or written again; default: memories that have expired are left out */
    expired?: "include" | "only";
    /** conditions on fields */
    fields?: FieldTest[];
  }

  /** A memory that a search found. */
  interface MemoryHit {
    /** the memory */
    memory: Memory;
    /** its score, higher is better */
    score: number;
    /** the part of its text that matches */
    snippet: string;
    /** the key of the active memory of its namespace that replaces it; absent: none does */
    superseded_by?: string;
    /** the columns of the rank hook, where they were asked for; those that are missing are absent */
    features?: { [name: string]: number };
  }

  /** A record of one of the family's own collections. One that is staged has version 0. */
  interface Record {
    /** its namespace */
    namespace: string;
    /** its key; of an appended record its sequence number, in 20 digits */
    key: string;
    /** any JSON value */
    value: any;
    /** the version of the commit that wrote it */
    version: number;
    /** when it was written, RFC 3339 */
    timestamp?: string;
    /** when it expires, RFC 3339; absent: never */
    expires_at?: string;
    /** in a history: it was deleted at this version */
    deleted?: boolean;
  }

  /** A collection of records, as its family's manifest declares it. */
  interface RecordCollection {
    /** its family */
    family: string;
    /** its name */
    name: string;
    /** `space`: its records are the same on every branch */
    per: "branch" | "space";
    /** the fields that record.search searches; absent: none */
    searchable?: string[];
    /** the fields that record.list filters and orders by, index by index, with their types, as in `due:time` */
    indexes?: string[][];
    /** how long a record is kept; absent: without end */
    expires?: string;
    /** only the newest version of a record can be read */
    unversioned?: boolean;
    /** it holds nothing that is private to an agent: any caller who may read a namespace may read its records there */
    open?: boolean;
    /** no other family may read its records */
    private?: boolean;
  }

  /** A condition on an indexed field of records. */
  interface RecordFilter {
    /** the field, by its path, as in `owner` or `task.due` */
    field: string;
    /** `eq`, `in`, `gt`, `gte`, `lt`, `lte`, or for strings `prefix` */
    op: string;
    /** a value of the field's type; for `in` an array of them, at most 100; with `eq`, null finds the records without the field */
    value: any;
  }

  /** A record to be staged. */
  interface RecordItem {
    /** its key */
    key: string;
    /** any JSON value */
    value: any;
    /** the version that has to be the newest; 0: the key must be free */
    if_version?: number;
    /** when it expires: RFC 3339, a date or `in 2h`; the empty string stands for never; default: as the manifest says */
    expires_at?: string;
  }

  /** A record that a search found. */
  interface RecordHit {
    /** the record */
    record: Record;
    /** its score, higher is better */
    score: number;
    /** the part of its text that matches */
    snippet: string;
  }

  /** A condition on a field of records, indexed or not. */
  interface RecordTest {
    /** the field, by its path, as in `color` or `metadata.color` */
    field: string;
    /** `gt` to `lte` compare numbers, and strings; `contains` finds a part of a string, or an element of a list; a missing field satisfies only `ne` */
    op: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "contains";
    /** what it is compared with; for `in` a list, at most 1000 */
    value: any;
  }

  /** A record whose vector is near. */
  interface RecordNeighbor {
    /** the record */
    record: Record;
    /** higher is nearer: the cosine, the product, or 1/(1+distance) for the euclidean distance */
    score: number;
  }

  /** An event of the log. */
  interface Event {
    /** its namespace */
    namespace: string;
    /** its number, from 1, without gaps */
    sequence: number;
    /** its name */
    event: string;
    /** the data of the event; null after a purge */
    data: any;
    /** the agent that logged it */
    agent?: string;
    /** when it was committed, RFC 3339 */
    timestamp: string;
  }

  /** A change, or an event that a family announced. */
  interface Notice {
    /** what happened: `memory_stored`, `memory_forgotten`, `event_logged`, or what a family announced, as `FAMILY.KIND` or `KIND` */
    kind: string;
    /** where */
    namespace: string;
    /** the memory, where it is about one */
    key: string;
    /** its place in the feed */
    watermark: number;
    /** when it was committed, RFC 3339 */
    timestamp: string;
    /** what a family announced with it */
    payload?: any;
    /** the agent that caused it, if known */
    agent?: string;
    /** the family that announced it */
    family?: string;
  }

  /** A branch. */
  interface Branch {
    /** its name */
    name: string;
    /** the branch that it was forked from */
    parent?: string;
    /** the version of the parent at which it was forked */
    forked_at: number;
    /** when it was made, RFC 3339 */
    created: string;
    /** how many ancestors it has */
    depth: number;
  }

  /** What differs between two branches under one key. */
  interface Difference {
    /** its namespace */
    namespace: string;
    /** the family's own collection that the record is in; absent for a memory */
    collection?: string;
    /** its key */
    key: string;
    /** the memory in the common ancestor */
    base?: Memory;
    /** the memory on the source branch */
    source?: Memory;
    /** the memory on the target branch */
    target?: Memory;
    /** why a merge cannot decide by itself; absent where it can */
    clash?: string;
  }

  /** A capability that a call has. */
  interface Power {
    /** the capability */
    name: string;
    /** what it is limited to; `*` stands for everything */
    scope?: string[];
  }

  /** How far a job has come. */
  interface Progress {
    /** how much is done */
    done: number;
    /** of how much; absent where that is unknown */
    total?: number;
    /** the current activity */
    message?: string;
  }

  /** A setting, and where its value comes from. */
  interface SettingState {
    /** its key */
    key: string;
    /** its value */
    value: any;
    /** the scope that the value is set in; `default`: in none */
    scope: "default" | "system" | "namespace" | "agent" | "family";
    /** the namespace, agent or family of that scope */
    name?: string;
    /** of the key in that scope, of a default where it holds everywhere; 0: it was never set there */
    version?: number;
    /** what it was set with */
    priority?: number;
    /** when it was set, RFC 3339 */
    updated_at?: string;
    /** the agent that set it */
    updated_by?: string;
    /** nearer values that are not used, and why */
    unused?: string[];
    /** the default of the manifest */
    default: any;
    /** the JSON Schema of its values */
    schema: any;
    /** the category that its manifest names */
    category?: string;
    /** what it does */
    description?: string;
    /** the families that declare it */
    families: string[];
  }

  /** A change of a setting. */
  interface SettingChange {
    /** its key */
    key: string;
    /** its new value; null unsets it in the scope */
    value: any;
    /** of values in several scopes the highest priority decides, and then the nearest scope; not in scope `system`, whose values come last; default: 100 */
    priority?: number;
    /** the version that the key has to have in the scope; 0: it was never set there */
    if_version?: number;
  }

  /** A setting that was changed. */
  interface SettingChanged {
    /** its key */
    key: string;
    /** its version in the scope now; the one before where nothing changed */
    version: number;
    /** the value before; absent: none */
    before?: any;
    /** the value now; absent: none */
    after?: any;
    /** the change that made the version, for `config.undo`: the same for all keys that it set; absent: nothing changed */
    change?: string;
  }

  /** A change of a setting in its history. */
  interface SettingVersion {
    /** the version of the key in the scope that it made */
    version: number;
    /** the value before; absent: none */
    before?: any;
    /** the new value; absent: the setting was removed */
    after?: any;
    /** what it was set with */
    priority?: number;
    /** when, RFC 3339 */
    timestamp: string;
    /** the agent that changed it */
    agent?: string;
    /** through which family */
    family?: string;
    /** why */
    reason?: string;
    /** the version whose value it set again */
    rolled_back_to?: number;
    /** the change that made the version, for `config.undo`: the same for all keys that it set */
    change?: string;
  }

  /** What values of several settings must satisfy together. */
  interface SettingRule {
    /** `sum`: they add up to `equals`; `less_than`: each is less than the next; `one_of`: the first is in the list that the second is */
    rule: "sum" | "less_than" | "one_of";
    /** their keys */
    keys: string[];
    /** of `sum` */
    equals?: number;
    /** of `sum`: how far off they may be */
    within?: number;
    /** the families that declare it */
    families: string[];
  }

  /** A namespace. */
  interface Namespace {
    /** its name */
    namespace: string;
    /** how many memories are active in it, where they were asked for */
    memories?: number;
    /** how many events its log has, where they were asked for and may be read */
    events?: number;
  }

  /** A commit. */
  interface Moment {
    /** its version; as `as_of` it is written `v123` */
    version: number;
    /** when it was made, RFC 3339 */
    timestamp: string;
  }

  /** Counters of durable commits. */
  interface Durability {
    /** durable commits */
    commits: number;
    /** writes to the disk, which concurrent commits share */
    syncs: number;
    /** failed writes, whose commits were not acknowledged */
    failed: number;
    /** nanoseconds of the last write */
    last_sync_ns: number;
    /** nanoseconds of the slowest write */
    slowest_sync_ns: number;
    /** bytes of the database */
    database_bytes: number;
  }

  /** How far an embedder is. */
  interface Embedding {
    /** its name */
    name: string;
    /** vectors there are; 0 for callers that may not read every namespace, as all counts */
    vectors: number;
    /** documents that wait for one */
    waiting: number;
    /** documents that it refused */
    refused: number;
  }

  /** Why a page of the feed does not begin at the watermark that was asked for. */
  interface Missed {
    /** the watermark that was asked for */
    after: number;
    /** the watermark behind which the feed is complete: notices between the two are gone */
    oldest: number;
    /** the same in words */
    message: string;
  }

  /** A tool that a family may see. */
  interface ForeignTool {
    /** its name */
    name: string;
    /** its family */
    family: string;
    /** what it does */
    description: string;
    /** the JSON Schema of its arguments */
    input_schema: any;
  }

  /** What a recall by query found. */
  interface Recall {
    /** its id */
    recall_id: string;
    /** the branch that was searched */
    branch: string;
    /** what was looked for */
    query: string;
    /** what was found, best first; at most 50 */
    facts: RecalledFact[];
    /** who recalled; empty: an agent without a name */
    agent: string;
    /** RFC 3339, UTC */
    timestamp: string;
    /** RFC 3339, UTC */
    expires_at: string;
  }

  /** A memory that a recall found. */
  interface RecalledFact {
    /** its namespace */
    namespace: string;
    /** its key */
    key: string;
  }

  /** How an agent used a tool. */
  interface ToolUsage {
    /** the agent; empty: it has no name; (others): those beyond a day's 1,000 rows */
    agent: string;
    /** the tool's own name */
    tool: string;
    /** the alias by which it was called; absent: its own name */
    as?: string;
    /** calls */
    calls: number;
    /** calls that failed */
    errors?: number;
    /** RFC 3339, UTC: the last call */
    last: string;
  }

  /** The rights record of a namespace. */
  interface Scope {
    /** the namespace */
    namespace: string;
    /** its name for people */
    name?: string;
    /** what it is for */
    description?: string;
    /** the agent that created it, who is always a member */
    creator: string;
    /** the other members, sorted */
    members: string[];
    /** who may read: `all`, `members` or `creator` */
    read: string;
    /** who may write, of those who may read: `all`, `members` or `creator` */
    write: string;
    /** how many days families keep its memories; absent: unlimited */
    retention_days?: number;
    /** nobody with a key may write */
    archived?: boolean;
    /** RFC 3339, UTC */
    created_at: string;
  }

  /** A session of a client. */
  interface Session {
    /** its id; empty for an agent that called without one, or whose session ended */
    session: string;
    /** the agent; absent: it has no name */
    agent?: string;
    /** the agent's program, by its own name */
    client?: string;
    /** RFC 3339, UTC */
    began_at: string;
    /** calls of tools */
    calls: number;
    /** RFC 3339, UTC; absent: it is open */
    ended_at?: string;
    /** its default namespace */
    namespace: string;
    /** its default branch */
    branch: string;
    /** its last call, RFC 3339, UTC */
    last_at?: string;
  }

  /** A piece of what people and models are shown. */
  interface Content {
    /** `resource` has the content of a resource in it, `link` names one */
    type: "text" | "image" | "audio" | "resource" | "link";
    /** of `text` and `resource`: the text */
    text?: string;
    /** of `image`, `audio` and `resource`: bytes, as base64 */
    data?: string;
    /** what it is, as in image/png */
    mime_type?: string;
    /** of `resource` and `link`: its URI */
    uri?: string;
    /** of `link`: its name */
    name?: string;
  }

  /** A resource in a list. */
  interface ListedResource {
    /** its URI, which fits the template */
    uri: string;
    /** its name */
    name: string;
    /** its name for people */
    title?: string;
    /** what it is */
    description?: string;
    /** what it contains */
    mime_type?: string;
  }

  /** A message of a prompt. */
  interface PromptMessage {
    /** who says it */
    role: "user" | "assistant";
    /** what is said */
    content: Content;
  }

  /** What a tool can ask of the caller's client, and what that answered. */
  interface Input {
    /** what can be asked, of `user`, `model` and `roots`: the client can, and the family may */
    can: string[];
    /** the answers, as MCP has them, each under the name of its request; absent: nothing was asked yet */
    answers?: { [name: string]: any };
    /** what the tool gave when it asked */
    state?: string;
  }

  /** A question to the caller's client. */
  interface InputRequest {
    /** whom */
    ask: "user" | "model" | "roots";
    /** as MCP has them: of elicitation/create for `user`, of sampling/createMessage for `model` */
    params?: any;
  }

  /** The context of a request: its family, caller, branch and time. */
  interface Context {
    /** the family that the request is for: one module may serve several */
    family: string;
    /** the agent that calls; empty for calls by the host itself */
    caller: string;
    /** the call's own namespace */
    namespace: string;
    /** the branch that is read and written */
    branch: string;
    /** RFC 3339, UTC; the same during the whole request */
    now: string;
    /** the same when a request is repeated; empty where the host calls of its own accord */
    request_id: string;
    /** changes are discarded, and nothing with an effect outside is sent */
    dry_run?: boolean;
    /** an operator calls, at the command line, and no agent */
    operator?: boolean;
    /** in a store hook on refuse: the branch that the change gets if the hook proposes it */
    proposal?: string;
  }

  /** A memory or record that is being stored or changed, or that was. */
  interface Entry {
    /** its namespace */
    namespace: string;
    /** its collection: `memory`, in `stored` one of the family's own, or in `store` another family's, as `FAMILY/NAME` */
    collection: string;
    /** its key */
    key: string;
    /** in `store` only: it is about to be deleted, or moved to another state and nothing else; absent: it is being stored */
    change?: "delete" | "state";
    /** in `stored` only: the version of the commit */
    version?: number;
    /** in `stored` only: the commit deleted it */
    deleted?: boolean;
    /** in `stored` only: the agent that wrote it; absent: unknown */
    agent?: string;
    /** in `stored` only: the family through which it was written; absent: none */
    family?: string;
    /** its state, in `store` the one that it will have; absent: active */
    state?: "archived" | "merged" | "pruned";
    /** any JSON value */
    value?: any;
    /** tags */
    tags?: string[];
    /** a type */
    type?: string;
    /** importance */
    importance?: number;
    /** named values */
    metadata?: { [name: string]: any };
    /** in `store` only: what it refers to, which a change cannot replace */
    links?: string[];
    /** in `store` only: keys of memories that it replaces, which a change cannot replace */
    supersedes?: string[];
  }

  /** A merge of branches. */
  interface MergeNotice {
    /** the branch that was merged */
    source: string;
    /** the branch into which it was merged */
    target: string;
    /** the version of the commit */
    version: number;
    /** the agent that merged; absent: unknown */
    agent?: string;
    /** how many memories it changed, of those that the family may read */
    count: number;
    /** the first 100 of them */
    keys: MergeKey[];
  }

  /** A memory that a merge changed. */
  interface MergeKey {
    /** its namespace */
    namespace: string;
    /** its key */
    key: string;
    /** the merge deleted it */
    deleted?: boolean;
  }

  /** A change of an entry by a store hook. Absent fields stay as they are. */
  interface Change {
    /** any JSON value */
    value?: any;
    /** replaces the present tags */
    tags?: string[];
    /** a type */
    type?: string;
    /** importance */
    importance?: number;
    /** added to the metadata; replaces members of the same name */
    metadata?: { [name: string]: any };
  }

  /** The request of kind 1: a tool call. */
  interface ToolRequest {
    /** the tool's name, as the manifest has it */
    tool: string;
    /** an object that is valid by the tool's input schema */
    arguments: any;
    /** an object with a value for every key of the manifest's `config` */
    config: any;
    /** what the caller's client can be asked, and what it answered; absent: nothing can be asked */
    input?: Input;
    /** the context */
    context: Context;
  }

  /** The request of kind 2: a hook or a job. */
  interface HookRequest {
    /** the hook */
    hook: "store" | "stored" | "merged" | "session_end" | "job";
    /** of `store` and `stored`: the memories or records; of one question of `store` all are in one namespace and collection */
    entries?: Entry[];
    /** of `merged`: the merge */
    merge?: MergeNotice;
    /** of `session_end`: the session */
    session?: Session;
    /** of `job`: its name */
    job?: string;
    /** of `job`: what it was queued with */
    payload?: any;
    /** an object with a value for every key of the manifest's `config` */
    config: any;
    /** the context */
    context: Context;
  }

  /** The result of a store hook: changes, a proposal, or a refusal. */
  interface StoreResult {
    /** the change of each entry of the request, or null; absent: nothing changes */
    entries?: (Change | null)[];
    /** why none of the entries may be stored; all else is then ignored */
    refuse?: string;
    /** why the write is to go to a branch of proposals, with the changes of `entries` */
    propose?: string;
  }

  /** The JSON in a request of kind 3. */
  interface ScoreParams {
    /** an object with a value for every key of the manifest's `config` */
    config: any;
    /** the instant of the search, RFC 3339; of a search with `as_of` earlier than the context's */
    now: string;
    /** the question */
    query: string;
    /** the context */
    context: Context;
  }

  /** The request of kind 4: texts to embed. */
  interface EmbedRequest {
    /** the texts */
    texts: string[];
    /** what the vectors are for */
    purpose: "document" | "query";
    /** an object with a value for every key of the manifest's `config` */
    config: any;
    /** the context */
    context: Context;
  }

  /** The result of a tool with `content`. It may have further members. */
  interface ContentResult {
    /** what people and models are shown */
    content: Content[];
  }

  /** The result of a tool that answers for a resource. Without contents there is none. */
  interface ResourceResult {
    /** what it contains: text and data */
    contents: Content[];
  }

  /** The result of a tool that lists resources. */
  interface ResourceList {
    /** a page, in a stable order; at most 100 */
    resources: ListedResource[];
    /** `after` of the next page; absent at the end */
    next?: string;
  }

  /** The result of a tool that answers for a prompt. */
  interface PromptResult {
    /** what it is for */
    description?: string;
    /** the messages */
    messages: PromptMessage[];
  }

  /** The result of a tool that completes arguments. Its own arguments are `argument`, the name; `value`, what was typed; and `given`, an object of other arguments. */
  interface Completion {
    /** the values, the best first; at most 100 are shown */
    values: string[];
    /** how many there are; absent: unknown */
    total?: number;
    /** there are more */
    more?: boolean;
  }

  /** The details of an error with the code input_required. */
  interface InputQuestions {
    /** what to ask, each under a name of the tool's own; at most 8 */
    requests: { [name: string]: InputRequest };
    /** what the tool is to find again when it is called with the answers; at most 16 KiB. No client can read or change it */
    state?: string;
  }

  /** The body of an error, in either direction. */
  interface Error {
    /** one of the codes below */
    code: Code;
    /** what went wrong and what to do about it */
    message: string;
    /** the same request may succeed later. False for an unmet `if_version`, after which the caller reads again and sends another request. If an error body of a guest omits it, the code decides */
    retryable: boolean;
    /** facts for programs, such as the limit that was reached */
    details?: { [name: string]: any };
  }

  /** The operations of the host. They return when they are done, and throw an AlcoveError. */
  interface Operations {
    memory: {
      /** Memories by their keys. It needs memory.read. */
      get(request: {
        /** keys */
        keys: string[];
        /** the namespace; default: the call's own */
        namespace?: string;
        /** an earlier moment: `v123`, an instant, a date, `1h ago`; default: the version at which the call began */
        as_of?: string;
        /** adds how each memory was used */
        counters?: boolean;
        /** adds when each memory was created */
        created?: boolean;
        /** finds memories that have expired, too */
        expired?: boolean;
      }): {
        /** in the order of the keys; null for a missing one */
        memories: (Memory | null)[];
      };
      /** The states of memories by their keys, and their values. It needs memory.read. */
      states(request: {
        /** keys */
        keys: string[];
        /** the namespace; default: the call's own */
        namespace?: string;
        /** adds the values */
        values?: boolean;
      }): {
        /** in the order of the keys; empty for a missing memory */
        states: string[];
        /** in the order of the keys; null for a missing memory */
        values?: any[];
      };
      /** Memories of a namespace, page by page: in the order of their keys, or by their fields and in another order. It needs memory.read. */
      list(request?: {
        /** the namespace; default: the call's own */
        namespace?: string;
        /** only keys that begin with it */
        prefix?: string;
        /** the key after which the page begins, or `next` of the page before; with a filter, order or count only the latter, of the same listing, which continues at the version of its first page */
        after?: string;
        /** entries in one page; default: 100 */
        limit?: number;
        /** an earlier moment: `v123`, an instant, a date, `1h ago`; not with counters in the filter or order; default: the version at which the call began */
        as_of?: string;
        /** adds how each memory was used */
        counters?: boolean;
        /** adds when each memory was created */
        created?: boolean;
        /** only memories that meet all of its conditions */
        filter?: MemoryFilter;
        /** newest and oldest go by the creation; all but oldest have the greatest value first, memories without one last, and equal ones in the order of their keys; default: key */
        order?: "key" | "newest" | "oldest" | "updated" | "importance" | "accesses" | "accessed";
        /** counts all that the filter admits, beside the page or without one */
        count?: "also" | "only";
      }): {
        /** the page */
        memories: Memory[];
        /** `after` of the next page; absent at the end */
        next?: string;
        /** how many the filter admits, where that was counted */
        total?: number;
      };
      /** The namespaces that have memories, of those that may be read. It needs memory.read. */
      namespaces(): {
        /** their names */
        namespaces: string[];
      };
      /** The versions of one memory, the newest first. It needs memory.read. */
      history(request: {
        /** the memory */
        key: string;
        /** the namespace; default: the call's own */
        namespace?: string;
        /** only this version and older ones: `next` of the page before */
        before?: number;
        /** entries in one page; default: 100 */
        limit?: number;
      }): {
        /** the page */
        versions: Memory[];
        /** the newest version of the next page, its `before`; absent at the end */
        next?: number;
      };
      /** Lexical, semantic or hybrid search; staged changes are not found. It needs memory.read. */
      search(request: {
        /** the question; empty: all memories that meet the other conditions */
        query: string;
        /** the namespaces; `*` alone stands for all that the call may read; default: the call's own */
        namespaces?: string[];
        /** how many hits; default: 10 */
        k?: number;
        /** how many of the best hits are left out */
        offset?: number;
        /** orders all that matches, as in memory.list; not with mode semantic, vector or features; default: the best first; without a query newest */
        order?: "key" | "newest" | "oldest" | "updated" | "importance" | "accesses" | "accessed";
        /** only memories at least as important */
        min_importance?: number;
        /** only memories whose newest version is by one of them, as in memory.list */
        writers?: string[];
        /** only memories with all of them */
        tags?: string[];
        /** only memories of one of them */
        types?: string[];
        /** only memories in one of them; default: active */
        states?: ("active" | "archived" | "merged" | "pruned")[];
        /** only versions written at this moment or later */
        since?: string;
        /** only versions written before this moment */
        until?: string;
        /** an earlier moment: `v123`, an instant, a date, `1h ago`; default: the version at which the call began */
        as_of?: string;
        /** how to search; default: hybrid where there is an embedder, lexical otherwise */
        mode?: "hybrid" | "lexical" | "semantic";
        /** the question's vector; default: made by the embedder */
        vector?: number[];
        /** adds the columns of the rank hook to each hit */
        features?: boolean;
      }): {
        /** the best first */
        hits: MemoryHit[];
        /** how many memories match */
        total: number;
      };
      /** Pairs of memories of a namespace that share many words of their texts, by the words' stems: the rarer a word is there, the more it weighs. Keys, tags and words such as `the` do not count, and staged changes are not seen. A word that very many memories have finds no pairs by itself. It needs memory.read. */
      pairs(request?: {
        /** the namespace; default: the call's own */
        namespace?: string;
        /** only memories that meet all of its conditions; not by counters */
        filter?: MemoryFilter;
        /** only memories whose keys come after it: `next` of the answer before */
        after?: string;
        /** memories that are compared with each other, the first in the order of their keys; default: 20000 */
        limit?: number;
        /** the least similarity: what the words weigh that both have, as a part of what all words of both weigh; default: 0.4 */
        similarity?: number;
        /** words of one memory that the other may lack; of the two numbers, the smaller counts. Of other pairs, only those are found of which no third memory is nearly as similar to one of both: four fifths as much; default: 0 */
        missing?: number;
        /** pairs at most, the most similar ones; default: 10000 */
        most?: number;
      }): {
        /** the memories that are in pairs */
        keys: string[];
        /** the pairs, the most similar first: two places in keys, from 0 */
        pairs: number[][];
        /** of each pair, 0 to 1 */
        similarities: number[];
        /** how many memories were compared */
        compared: number;
        /** `after` of the memories that were not compared; absent when all were */
        next?: string;
      };
      /** Stage memories. It needs memory.write. */
      put(request: {
        /** the memories */
        items: MemoryItem[];
      }): {
        /** where each is */
        stored: MemoryID[];
      };
      /** Stage changes of some fields of memories. It needs memory.write. */
      patch(request: {
        /** the changes */
        patches: MemoryPatch[];
        /** finds memories that have expired, too */
        expired?: boolean;
      }): {
        /** how many memories were changed */
        patched: number;
        /** keys without a memory */
        missing: string[];
      };
      /** Stage deletions of memories. It needs memory.write. */
      delete(request: {
        /** keys */
        keys: string[];
        /** the namespace; default: the call's own */
        namespace?: string;
        /** finds memories that have expired, too */
        expired?: boolean;
      }): {
        /** how many there were to delete */
        deleted: number;
      };
      /** Add to the counters of memories. It needs memory.count. */
      touch(request: {
        /** keys */
        keys: string[];
        /** the namespace; default: the call's own */
        namespace?: string;
        /** added to the accesses; default: 1, and 0 where health is given */
        accesses?: number;
        /** added to the health */
        health?: number;
      }): {
        /** number of memories */
        touched: number;
      };
    };
    recall: {
      /** What a recall by query found, for feedback about it: the caller's own recalls, or with the right `act_as` all, of the last 90 days, if caller and family may read every namespace in it. It needs memory.read. */
      get(request: {
        /** the `recallId` of `memory_recall` */
        recall_id: string;
      }): {
        /** the recall */
        recall: Recall;
      };
    };
    record: {
      /** Records of one of its own collections by their keys. It needs record. */
      get(request: {
        /** the collection, as the manifest declares it */
        collection: string;
        /** keys */
        keys: string[];
        /** the namespace; default: the call's own */
        namespace?: string;
        /** another family, which `records.read` has to allow; default: the caller's own */
        family?: string;
        /** expired records too, as far as they were not dropped yet */
        expired?: boolean;
      }): {
        /** in the order of the keys; null for a missing one */
        records: (Record | null)[];
      };
      /** Stage records, or commit them at once. It needs record. */
      put(request: {
        /** the collection */
        collection: string;
        /** the namespace; default: the call's own */
        namespace?: string;
        /** the records */
        items: RecordItem[];
        /** commits them at once and by themselves, so that they stay if the call fails, as a note of its failure does; of a collection that is kept per space. A call that goes on to write what it read there conflicts with itself. At most 16 times in a call */
        now?: boolean;
      }): {
        /** how many */
        stored: number;
      };
      /** Stage deletions of records. It needs record. */
      delete(request: {
        /** the collection */
        collection: string;
        /** keys */
        keys: string[];
        /** the namespace; default: the call's own */
        namespace?: string;
      }): {
        /** how many there were to delete */
        deleted: number;
      };
      /** Records, page by page, in the order of their keys; with `filters` or `order`, those that declared indexes select, in their order. It needs record. */
      list(request: {
        /** the collection */
        collection: string;
        /** the namespace; default: the call's own */
        namespace?: string;
        /** only keys that begin with it */
        prefix?: string;
        /** the key after which the page begins, or `next` of the page before; with `filters` or `order` only the latter */
        after?: string;
        /** entries in one page; with `filters` there may be fewer before the last page; default: 100 */
        limit?: number;
        /** all of these hold; each field belongs to a declared index */
        filters?: RecordFilter[];
        /** an indexed field to sort by; records without it come first; default: the filtered fields, or the keys */
        order?: string;
        /** the last first; needs `filters` or `order` */
        descending?: boolean;
        /** count all that match; needs `filters` or `order` */
        count?: boolean;
        /** another family, which `records.read` has to allow; default: the caller's own */
        family?: string;
        /** expired records too, as far as they were not dropped yet */
        expired?: boolean;
      }): {
        /** the page */
        records: Record[];
        /** `after` of the next page; absent at the end */
        next?: string;
        /** number of matches on all pages, if `count` requests it */
        total?: number;
      };
      /** The keys of records that begin with one of several prefixes, and their values, page by page, in the order of the keys. It needs record. */
      scan(request: {
        /** one of the family's own collections */
        collection: string;
        /** the namespace; default: the call's own */
        namespace?: string;
        /** the prefixes, in any order */
        prefixes: string[];
        /** `next` of the page before */
        after?: string;
        /** records in one page; default: 1000 */
        limit?: number;
        /** adds the values */
        values?: boolean;
      }): {
        /** the keys, each once */
        keys: string[];
        /** in the order of the keys */
        values?: any[];
        /** `after` of the next page; absent at the end */
        next?: string;
      };
      /** The versions of one record, the newest first. It needs record. */
      history(request: {
        /** the collection */
        collection: string;
        /** the record */
        key: string;
        /** the namespace; default: the call's own */
        namespace?: string;
        /** only this version and older ones: `next` of the page before */
        before?: number;
        /** entries in one page; default: 100 */
        limit?: number;
        /** another family, which `records.read` has to allow; default: the caller's own */
        family?: string;
      }): {
        /** the page */
        versions: Record[];
        /** the newest version of the next page, its `before`; absent at the end */
        next?: number;
      };
      /** Search in a searchable collection; staged changes are not found. It needs record. */
      search(request: {
        /** the collection */
        collection: string;
        /** the question */
        query: string;
        /** the namespaces; `*` alone stands for all that the caller may use; default: the call's own */
        namespaces?: string[];
        /** how many hits; default: 10 */
        k?: number;
        /** how many of the best hits are left out */
        offset?: number;
        /** another family, which `records.read` has to allow; default: the caller's own */
        family?: string;
        /** how to search; semantic and a vector need an embedder, and hybrid is lexical without one; default: lexical, and hybrid with a vector */
        mode?: "hybrid" | "lexical" | "semantic";
        /** the question's vector; default: made by the embedder */
        vector?: number[];
      }): {
        /** the best first */
        hits: RecordHit[];
        /** how many records match */
        total: number;
      };
      /** The records of a collection whose vectors are nearest to one, by an exact scan, staged ones included. It needs record. */
      nearest(request: {
        /** the collection */
        collection: string;
        /** the namespace; default: the call's own */
        namespace?: string;
        /** only keys that begin with it */
        prefix?: string;
        /** the question; records with a vector of another length are left out */
        vector: number[];
        /** the field of a record, by its path, that is its vector: a list of numbers; default: vector */
        field?: string;
        /** how near is computed; default: cosine */
        metric?: "cosine" | "euclidean" | "dot_product";
        /** all of these hold */
        filters?: RecordTest[];
        /** how many hits; default: 10 */
        k?: number;
        /** leaves the field of the vector out of the records in the answer, if it is one of the record's own */
        omit_vector?: boolean;
        /** another family, which `records.read` has to allow; default: the caller's own */
        family?: string;
      }): {
        /** the nearest first; equally near ones in the order of their keys */
        hits: RecordNeighbor[];
        /** how many records were compared */
        total: number;
      };
      /** The collections whose records the call may read, its own and those of other families, by family and name. It needs record. */
      collections(request?: {
        /** only those of a family, which `records.read` has to allow if it is another; default: all */
        family?: string;
      }): {
        /** the collections */
        collections: RecordCollection[];
      };
      /** Stage records with the next sequence numbers as their keys. It needs record. */
      append(request: {
        /** the collection */
        collection: string;
        /** the namespace; default: the call's own */
        namespace?: string;
        /** the records */
        values: any[];
      }): {
        /** the sequence number of each */
        sequences: number[];
      };
    };
    log: {
      /** Stage an event of the log, which gets its sequence number at the commit. It needs log.append. */
      append(request: {
        /** its name */
        event: string;
        /** the data of the event; default: null */
        data?: any;
        /** the namespace; default: the call's own */
        namespace?: string;
        /** answers its sequence number; a call that others overtake in the namespace's log is then a conflict, and is repeated as any other */
        sequence?: boolean;
      }): {
        /** its number, where it was asked for */
        sequence?: number;
      };
      /** Events of the log, the oldest first. It needs log.read. */
      read(request?: {
        /** the namespace; default: the call's own */
        namespace?: string;
        /** the first sequence number; default: 1 */
        from?: number;
        /** entries in one page; default: 100 */
        limit?: number;
      }): {
        /** the page */
        events: Event[];
      };
      /** Check the chain of a log page by page: that no event is missing, changed or out of order. It needs log.read. */
      verify(request?: {
        /** the namespace; default: the call's own */
        namespace?: string;
        /** the first sequence number; the event before it is trusted; default: 1 */
        from?: number;
        /** events to check; default: 1000 */
        limit?: number;
      }): {
        /** all that were checked are sound */
        verified: boolean;
        /** how many are sound */
        checked: number;
        /** `from` of the next page; absent at the end */
        next?: number;
        /** the first sequence number that is not sound */
        broken_at?: number;
        /** the fault */
        fault?: string;
        /** the hash of the last event that is sound, hexadecimal: it vouches for all before it */
        hash?: string;
      };
    };
    feed: {
      /** Changes since a watermark. It needs feed.read. */
      read(request?: {
        /** the watermark after which to begin; default: the beginning of what is kept */
        after?: number;
        /** the namespaces; `*` alone stands for all that the call may read; default: the call's own */
        namespaces?: string[];
        /** only notices of these kinds; a kind that ends in `.*` stands for all of that family; default: all */
        kinds?: string[];
        /** only what these agents did; default: all */
        agents?: string[];
        /** entries in one page; default: 100 */
        limit?: number;
      }): {
        /** the oldest first */
        notices: Notice[];
        /** `after` of the next page */
        watermark: number;
        /** there are more now */
        more: boolean;
        /** notices after the watermark that was asked for are gone; absent: none are */
        missed?: Missed;
      };
      /** Stage an event of the feed. It needs feed.emit. */
      emit(request: {
        /** its name; others see `FAMILY.KIND`, or with the capability `feed.kind` for it the name alone */
        kind: string;
        /** the data of the notice */
        payload?: any;
        /** the namespace; default: the call's own */
        namespace?: string;
        /** the agents that see it, beside the caller; default: all agents that may read the namespace */
        recipients?: string[];
        /** `space`: in the feeds of all branches, which keep it for a day; default: branch */
        per?: "branch" | "space";
      }): {};
    };
    branch: {
      /** The branches. It needs branch.read. */
      list(): {
        /** those that may be read */
        branches: Branch[];
      };
      /** What differs between two branches. It needs branch.read. */
      diff(request: {
        /** a branch */
        source: string;
        /** the branch that it is compared with; default: the call's own */
        target?: string;
        /** the namespaces; `*` alone stands for all that the call may read; default: all that the call may read */
        namespaces?: string[];
        /** entries in one page; default: 100 */
        limit?: number;
        /** only keys that the source changed since the branches parted: those that a merge brings */
        source_only?: boolean;
        /** the most bytes of a value, also of one in metadata; of a longer one the beginning, size and digest are listed, as a text; default: no limit */
        longest?: number;
      }): {
        /** keys only on the source */
        added: number;
        /** keys that differ */
        changed: number;
        /** keys that the source deleted */
        removed: number;
        /** keys that both changed */
        clashes: number;
        /** those of memories, and of the family's own records */
        differences: Difference[];
        /** more than `limit` exist */
        truncated: boolean;
        /** of a proposal to which further calls may add: passed to a merge as `seen`, it merges what is listed and nothing later */
        seen?: number;
      };
      /** Make a branch, after the commit. It needs branch.write. */
      fork(request: {
        /** its name */
        name: string;
        /** the branch to fork; default: the call's own */
        from?: string;
        /** an earlier moment: `v123`, an instant, a date, `1h ago`; default: the version at which the call began */
        as_of?: string;
        /** the call fails if this does, in which case what the call staged is kept; without it, the failure is a note */
        required?: boolean;
        /** nobody can write to the branch; without it, all can who may */
        read_only?: boolean;
      }): {
        /** its name */
        name: string;
        /** the branch that is forked */
        from: string;
      };
      /** Merge a branch after the commit, or preview that. It needs branch.write. */
      merge(request: {
        /** the branch to merge */
        source: string;
        /** the branch to merge into; default: the call's own */
        target?: string;
        /** what decides where both changed a key; default: strict */
        strategy?: "strict" | "source" | "target" | "newest" | "fields";
        /** the namespaces; `*` alone stands for all that the call may read; default: all that the call may read */
        namespaces?: string[];
        /** `seen` of the difference that was looked at: without it a proposal of several calls is not merged, and with it none to which one added since */
        seen?: number;
        /** only tells what would happen */
        preview?: boolean;
        /** the call fails if this does, in which case what the call staged is kept; without it, the failure is a note */
        required?: boolean;
      }): {
        /** it is going to be merged */
        merged: boolean;
        /** the changed memories, at most 1000 */
        applied: Difference[];
        /** what both changed, at most 1000 */
        clashes: Difference[];
        /** how many clashes the strategy leaves; with any, nothing is merged */
        unresolved: number;
        /** as that of `branch.diff` */
        seen?: number;
      };
      /** Delete a branch, after the commit. It needs branch.write. */
      delete(request: {
        /** its name */
        name: string;
        /** also with changes that its parent lacks; without it, they fail the deletion, which is a note */
        force?: boolean;
      }): {};
    };
    link: {
      /** Links from and to a memory; a memory of another namespace is `namespace#key`, and is omitted if it may not be read. It needs link.read. */
      list(request: {
        /** the memory */
        key: string;
        /** the namespace; default: the call's own */
        namespace?: string;
        /** only referring memories behind this one: `next` of the page before */
        after?: string;
        /** referring memories in one page; default: all, of at most 20000 */
        limit?: number;
      }): {
        /** memories that it refers to */
        links: string[];
        /** memories that refer to it, in the order of namespaces and keys */
        linked_from: string[];
        /** `after` of the next page; absent at the end */
        next?: string;
      };
      /** Stage links. It needs link.write. */
      add(request: {
        /** the memory */
        key: string;
        /** memories that it is to refer to: keys, or `namespace#key` */
        to: string[];
        /** the namespace; default: the call's own */
        namespace?: string;
      }): {
        /** how many are new */
        added: number;
      };
      /** Stage the removal of links. It needs link.write. */
      remove(request: {
        /** the memory */
        key: string;
        /** memories that it is to refer to no more */
        to: string[];
        /** the namespace; default: the call's own */
        namespace?: string;
      }): {
        /** how many there were */
        removed: number;
      };
    };
    config: {
      /** Its own configuration, or settings by their keys with where their values come from. */
      get(request?: {
        /** keys; those of other families need `config.read`; default: those of the manifest's config */
        keys?: string[];
        /** the namespace that they are to apply to; default: the call's own */
        namespace?: string;
        /** adds `settings` */
        details?: boolean;
      }): {
        /** a value for every key */
        config: { [name: string]: any };
        /** the same with where each value comes from, where that was asked for */
        settings?: SettingState[];
      };
      /** Settings that families share, in the order of their keys, page by page. It needs config.read. */
      list(request?: {
        /** only those of this category */
        category?: string;
        /** only keys that begin with it */
        prefix?: string;
        /** the namespace that they are to apply to; default: the call's own */
        namespace?: string;
        /** only values set in this scope */
        scope?: "system" | "namespace" | "agent";
        /** the namespace or agent of the scope; default: the call's namespace, or its caller */
        name?: string;
        /** the key after which the page begins, or `next` of the page before */
        after?: string;
        /** entries in one page; default: 100 */
        limit?: number;
      }): {
        /** the page */
        settings: SettingState[];
        /** `after` of the next page; absent at the end */
        next?: string;
      };
      /** Stage changes of settings that families share: all, or with any fault none. It needs config.shared. */
      put(request: {
        /** the changes */
        changes: SettingChange[];
        /** where they apply; `system` and `agent` need a caller that may write every namespace; default: system */
        scope?: "system" | "namespace" | "agent";
        /** the namespace or agent of the scope; default: the call's namespace, or its caller */
        name?: string;
        /** why, for the history; at most 1,000 bytes */
        reason?: string;
      }): {
        /** in the order of the changes */
        changed: SettingChanged[];
      };
      /** The changes of a shared setting in a scope, the newest first. It needs config.read. */
      history(request: {
        /** its key */
        key: string;
        /** the scope; `family`: the calling family's own value; default: system */
        scope?: "system" | "namespace" | "agent" | "family";
        /** the namespace or agent of the scope; default: the call's namespace, or its caller */
        name?: string;
        /** only this version and older ones: `next` of the page before */
        before?: number;
        /** entries in one page; default: 100 */
        limit?: number;
      }): {
        /** the page */
        versions: SettingVersion[];
        /** the newest version of the next page, its `before`; absent at the end */
        next?: number;
      };
      /** Stage the value that a shared setting had at a version, as a new version. It needs config.shared. */
      rollback(request: {
        /** its key */
        key: string;
        /** the version; 0: before it was ever set */
        version: number;
        /** the scope; default: system */
        scope?: "system" | "namespace" | "agent";
        /** the namespace or agent of the scope; default: the call's namespace, or its caller */
        name?: string;
        /** the version that the key has to have in the scope now */
        if_version?: number;
        /** why, for the history; at most 1,000 bytes */
        reason?: string;
      }): {
        /** what it did */
        changed: SettingChanged;
      };
      /** Stage the values that all keys of a change had before it, as new versions: all, or where one was changed since none. It needs config.shared. */
      undo(request: {
        /** the change: `change` of a setting that it set, or KEY@VERSION of any of them */
        change: string;
        /** the scope; default: system */
        scope?: "system" | "namespace" | "agent";
        /** the namespace or agent of the scope; default: the call's namespace, or its caller */
        name?: string;
        /** why, for the history; at most 1,000 bytes */
        reason?: string;
      }): {
        /** the settings that were changed, in the order of the keys */
        changed: SettingChanged[];
      };
      /** The rules about settings that the family may read. */
      rules(): {
        /** those with a key of its own, or one that it may read */
        rules: SettingRule[];
      };
      /** Stage a change of its own configuration. It needs config.write. */
      set(request: {
        /** new values by key; null goes back to the default */
        values: { [name: string]: any };
      }): {
        /** all of it */
        config: { [name: string]: any };
      };
    };
    caller: {
      /** The caller, and the powers of the call. */
      get(): {
        /** the agent that calls; empty for calls by the host itself */
        caller: string;
        /** `caller`, or the agent that it works for as a delegate: the first of a chain */
        principal: string;
        /** the call's namespace */
        namespace: string;
        /** the call's branch */
        branch: string;
        /** what the call may do */
        capabilities: Power[];
        /** the family's hooks that are on, sorted: `embed`, `job`, `merged`, `rank`, `session_end`, `store`, `stored` */
        hooks: string[];
        /** the call can change nothing */
        read_only: boolean;
        /** the stage is committed to a branch of proposals */
        proposes: boolean;
        /** the caller's program, by its own name */
        client?: string;
        /** the id of the client's session; absent: there is none, as in a job */
        session?: string;
        /** the id of all that is stored here: one that was restored from a backup has that of the backup, one that was imported has its own; absent: the store has none */
        space?: string;
        /** the id of the caller's API key, for `caller.can`; absent: it has none */
        key?: string;
      };
      /** Whether the caller may do something, apart from what the family may. */
      can(request: {
        /** a right: `read`, `write`, `branch`, `config`, `scope.admin`, `site.admin`, `act_as` or `family:NAME` */
        action: string;
        /** the namespace to read or write; default: the call's own */
        namespace?: string;
        /** another agent, to read or write a namespace that the caller may read: what the rights record says of that agent, whose key may allow less. Needs `scope.read`; default: the caller */
        agent?: string;
        /** the id of the API key that the agent had, from `caller.get`: it may do nothing unless that key holds still; default: any, or none */
        key?: string;
      }): {
        /** it may */
        allowed: boolean;
        /** why it may not */
        reason?: string;
      };
      /** Tells how far the call, or the job, has come; acts at once. */
      progress(request: {
        /** how much is done */
        done: number;
        /** of how much; 0: unknown */
        total?: number;
        /** the current activity; at most 1,000 bytes */
        message?: string;
      }): {};
    };
    quota: {
      /** The namespaces with a quota that the caller may read, and what agents stored there; most callers see only themselves. It needs scope.read. */
      list(request?: {
        /** only this agent; default: all */
        agent?: string;
      }): {
        /** by namespace and agent */
        quotas: QuotaUse[];
      };
    };
    session: {
      /** The open sessions: to the owner all, to the holder of a key those of its agent, and of agents that are members of the same scopes; or those in a namespace. It needs session.read. */
      list(request?: {
        /** only this agent's */
        agent?: string;
        /** only sessions in this namespace, which the caller may read: of all agents */
        namespace?: string;
        /** also agents that called so many seconds ago or less, without a session that is open; default: 0 */
        recent_s?: number;
        /** sessions in the answer; default: 100 */
        limit?: number;
      }): {
        /** the newest first */
        sessions: Session[];
        /** there are more than the limit */
        more?: boolean;
      };
    };
    scope: {
      /** The rights record of a namespace. One that the caller may not read has none. It needs scope.read. */
      get(request?: {
        /** the namespace; default: the call's own */
        namespace?: string;
      }): {
        /** the record */
        scope: Scope;
      };
      /** The rights records of namespaces that the caller may read, in their order, page by page, without staged changes. It needs scope.read. */
      list(request?: {
        /** only namespaces that begin with it */
        prefix?: string;
        /** the namespace after which the page begins, or `next` of the page before */
        after?: string;
        /** entries in one page; default: 100 */
        limit?: number;
        /** archived ones, too */
        archived?: boolean;
      }): {
        /** the page */
        scopes: Scope[];
        /** `after` of the next page; absent at the end */
        next?: string;
      };
      /** Stage the creation of a namespace's rights record, by an agent that may write the namespace, or a change by its creator or a caller with the right scope.admin. Nobody grants a right to write that they lack. Namespaces private-AGENT are for that agent. It needs scope.write. */
      put(request: {
        /** the namespace */
        namespace: string;
        /** a record that is there is a conflict */
        create?: boolean;
        /** its name for people; at most 200 bytes */
        name?: string;
        /** what it is for; at most 2,000 bytes */
        description?: string;
        /** the agents that are members beside the creator; absent: as they are */
        members?: string[];
        /** who may read; at first `members` */
        read?: "all" | "members" | "creator";
        /** who may write, of those who may read; at first `members` */
        write?: "all" | "members" | "creator";
        /** how many days families keep its memories; 0: unlimited */
        retention_days?: number;
        /** nobody with a key may write */
        archived?: boolean;
      }): {
        /** the record as it will be */
        scope: Scope;
        /** there was none */
        created: boolean;
      };
      /** Stage the addition and removal of members of a scope, as scope.put does. It needs scope.write. */
      members(request?: {
        /** the namespace; default: the call's own */
        namespace?: string;
        /** agents */
        add?: string[];
        /** agents */
        remove?: string[];
      }): {
        /** the members afterwards, sorted, with the creator */
        members: string[];
      };
      /** Stage the deletion of a rights record. What the namespace holds stays closed to all but the owner, until the creator makes the scope again. It needs scope.write. */
      delete(request: {
        /** the namespace */
        namespace: string;
        /** although the namespace holds memories on the call's branch */
        force?: boolean;
      }): {};
    };
    identity: {
      /** Make a key for an agent that works for the caller, with a part of the caller's rights, when the call is committed. It ends with the caller's own key. It needs identity.delegate. */
      delegate(request: {
        /** the agent's name after the caller's and a slash */
        name: string;
        /** the namespaces it may use, or patterns such as `team/*` */
        namespaces: string[];
        /** its rights, of those of caller.can; default: `read` and `write` */
        rights?: string[];
        /** seconds until it expires; it never outlives the caller's key */
        expires_s: number;
      }): {
        /** the key, which is shown here alone */
        key: string;
        /** its id, for identity.revoke */
        id: string;
        /** the agent's full name */
        agent: string;
        /** RFC 3339, UTC */
        expires_at: string;
      };
      /** End a key that the family made for the same caller, when the call is committed. It needs identity.delegate. */
      revoke(request: {
        /** its id */
        id: string;
      }): {};
    };
    job: {
      /** Queue a job of its own. It needs job. */
      enqueue(request: {
        /** its name, as the manifest declares it */
        job: string;
        /** what it is to work on; at most 64 KiB */
        payload?: any;
        /** seconds until it may begin */
        after_s?: number;
        /** a watermark: the job begins before `after_s` is over, once the feed of the call's branch has a notice behind it that the caller may read. Needs `feed.read` */
        feed_after?: number;
      }): {
        /** its id */
        id: string;
      };
      /** The state of a job. It needs job. */
      status(request: {
        /** its id */
        id: string;
      }): {
        /** its id */
        id: string;
        /** its name */
        job: string;
        /** its state */
        state: "queued" | "running" | "done" | "failed" | "cancelled";
        /** how often it was begun */
        attempts: number;
        /** how far it has come */
        progress?: Progress;
        /** why the last attempt failed */
        error?: string;
        /** what it answered */
        result?: any;
        /** the branch that has what it proposes */
        proposal?: string;
      };
      /** Cancel a job. It needs job. */
      cancel(request: {
        /** its id */
        id: string;
      }): {
        /** there was something to cancel */
        cancelled: boolean;
      };
    };
    text: {
      /** The terms of texts, as search sees them. */
      analyze(request: {
        /** the texts */
        texts: string[];
      }): {
        /** the terms of each */
        terms: string[][];
      };
      /** How many memories, or records, hold each of some terms. */
      count(request: {
        /** the terms */
        terms: string[];
        /** the namespaces; `*` alone stands for all that the call may read; default: the call's own */
        namespaces?: string[];
        /** a searchable collection; default: memory */
        collection?: string;
        /** another family, which `records.read` has to allow; default: the caller's own */
        family?: string;
      }): {
        /** number of documents */
        documents: number;
        /** for each term, how many hold it */
        counts: number[];
      };
      /** How many tokens texts have for a language model. */
      tokens(request: {
        /** the texts; together at most 1 MiB */
        texts: string[];
        /** adds the tokens themselves */
        tokens?: boolean;
        /** adds the tokens' ids */
        ids?: boolean;
      }): {
        /** the vocabulary: `cl100k_base` */
        encoding: string;
        /** how many tokens each text has; exact for models of that vocabulary, an estimate for others */
        counts: number[];
        /** the tokens of each text, where they were asked for; a part of a character is shown as U+FFFD */
        tokens?: string[][];
        /** the ids of the tokens of each text, where they were asked for */
        ids?: number[][];
      };
      /** The texts that tokens stand for. */
      detokenize(request: {
        /** the ids of the tokens of each text, as text.tokens gives them; the texts have at most 1 MiB together. Special tokens are none */
        ids: number[][];
      }): {
        /** the vocabulary: `cl100k_base` */
        encoding: string;
        /** the texts; a part of a character is shown as U+FFFD */
        texts: string[];
      };
    };
    embed: {
      /** Vectors of texts. It needs embed. */
      texts(request: {
        /** the texts */
        texts: string[];
        /** what the vectors are for; default: document */
        purpose?: "document" | "query";
        /** answers `packed` in place of vectors, which takes fewer bytes and less time to read */
        packed?: boolean;
      }): {
        /** the model that made them */
        model: string;
        /** values in each */
        dimensions: number;
        /** a vector for each text; none where they are packed */
        vectors: number[][];
        /** the vectors one after the other, their values as float32, little-endian, in base64; of a text without a vector zeros */
        packed?: string;
      };
      /** Have all vectors made again, after the commit and at most once in ten minutes; the old ones serve until then. It needs embed.rebuild. */
      rebuild(): {
        /** the embedder that makes them */
        embedder: string;
        /** documents that it has vectors of; 0 for callers that may not read every namespace */
        queued: number;
      };
    };
    namespace: {
      /** The namespaces that have memories, of those that may be read, in order, page by page. It needs memory.read. */
      list(request?: {
        /** only names that begin with it */
        prefix?: string;
        /** the name after which the page begins, or `next` of the page before */
        after?: string;
        /** entries in one page; default: 100 */
        limit?: number;
        /** adds how much each has */
        counts?: boolean;
      }): {
        /** the page */
        namespaces: Namespace[];
        /** `after` of the next page; absent at the end */
        next?: string;
      };
      /** Stage the deletion of a bounded number of a namespace's memories; history, log and records stay. Refused if retention would drop the deleted memories at once. It needs namespace.delete. */
      delete(request: {
        /** the namespace */
        namespace: string;
        /** memories to delete; default: 1000 */
        limit?: number;
      }): {
        /** how many are deleted */
        deleted: number;
        /** there are more: ask again, in this call or the next */
        more: boolean;
      };
    };
    status: {
      /** How the memory is, as far as the call may read it. It needs memory.read. */
      get(request?: {
        /** the namespace; default: the call's own */
        namespace?: string;
        /** adds the branch's readable past, and to callers who may read every namespace the counters of durability */
        details?: boolean;
      }): {
        /** the call's branch */
        branch: string;
        /** the namespace */
        namespace: string;
        /** number of branches */
        branches: number;
        /** active memories in the namespace */
        memories: number;
        /** events in its log, where that may be read */
        events?: number;
        /** the newest version */
        version: number;
        /** searches find everything; false while the index is rebuilt after a start */
        searchable: boolean;
        /** the embedders; of no meaning search, an empty list */
        embedders: Embedding[];
        /** the beginning of the branch's readable past; absent: it is empty */
        oldest?: Moment;
        /** the newest commit */
        latest?: Moment;
        /** what was made durable since the server started, where that is counted */
        durability?: Durability;
      };
    };
    version: {
      /** The newest version of a branch at a moment. */
      at(request: {
        /** the moment: `v123`, an instant, a date, `1h ago` */
        as_of: string;
        /** a branch; another one needs `branch.read`; default: the call's own */
        branch?: string;
      }): {
        /** the version; as `as_of` it is written `v123` */
        version: number;
        /** the moment, RFC 3339 */
        timestamp: string;
      };
    };
    llm: {
      /** A completion by a configured language model. It needs llm. */
      complete(request: {
        /** the question */
        prompt: string;
        /** instructions that come before it */
        system?: string;
        /** the operator's name for the model's server; default: the only one that the family may reach */
        endpoint?: string;
        /** the longest answer; default: the model's own */
        max_tokens?: number;
        /** randomness of the answer */
        temperature?: number;
        /** the answer is to be a JSON object */
        json?: boolean;
      }): {
        /** the answer */
        text: string;
        /** the model */
        model: string;
        /** tokens of the question */
        tokens_in: number;
        /** tokens of the answer */
        tokens_out: number;
      };
    };
    http: {
      /** A request to an endpoint that the operator named. It needs http. */
      fetch(request?: {
        /** the operator's name for it; default: the only one that the family may reach */
        endpoint?: string;
        /** the method; default: GET */
        method?: string;
        /** below the endpoint's URL */
        path?: string;
        /** parameters of the query */
        query?: { [name: string]: string };
        /** headers */
        headers?: { [name: string]: string };
        /** the body */
        body?: string;
        /** both bodies are in base64, for bytes that are no text */
        base64?: boolean;
        /** the receiver knows a repetition, as by `Webhook-Id`: the request is no effect, and what sent it may be tried again */
        repeatable?: boolean;
        /** how long it may take, in milliseconds, the answer included; default: 60000 */
        timeout_ms?: number;
      }): {
        /** the status */
        status: number;
        /** headers */
        headers: { [name: string]: string };
        /** the body, in base64 if the request says so; otherwise what is no UTF-8 is replaced */
        body: string;
      };
    };
    file: {
      /** The files below a root, in the order of their paths, page by page; symbolic links, devices and files with several names are left out, and so is all whose name begins with a dot. It needs file.read. */
      list(request?: {
        /** the operator's name for it; default: the only one that the family may use */
        root?: string;
        /** only files below this folder */
        folder?: string;
        /** the path after which the page begins */
        after?: string;
        /** files in one page; default: 1000 */
        limit?: number;
      }): {
        /** the page */
        files: FileEntry[];
        /** `after` of the next page; absent after the last one */
        next?: string;
        /** how many below the folder are left out, without names that begin with a dot */
        refused?: number;
      };
      /** Files below a root. It needs file.read. */
      read(request: {
        /** the operator's name for it; default: the only one that the family may use */
        root?: string;
        /** paths below the root */
        paths: string[];
        /** contents are in base64, as those that are no UTF-8 have to be */
        base64?: boolean;
      }): {
        /** in the order of the paths; null for a missing one */
        files: (File | null)[];
      };
      /** Write files below a root, each of them whole or not at all; at once, whatever becomes of the request, and not in a dry run. A request that wrote a file is not repeated when it is overtaken. It needs file.write. */
      write(request: {
        /** the operator's name for it; default: the only one that the family may use */
        root?: string;
        /** the files; all are checked before the first is written */
        files: FileItem[];
        /** contents are in base64 */
        base64?: boolean;
      }): {
        /** how many were written: not those that have the content already */
        written: number;
      };
    };
    tools: {
      /** Tools of other families, and of the core, that may be called. It needs tools.call. */
      list(): {
        /** by name */
        tools: ForeignTool[];
      };
      /** Call another permitted tool inside of the same stage; its errors are passed on. It needs tools.call. */
      call(request: {
        /** its name */
        tool: string;
        /** its arguments; default: {} */
        arguments?: any;
      }): {
        /** its result */
        result: any;
      };
      /** Publish a tool of its own. It needs tools.publish. */
      publish(request: {
        /** the tool, as a manifest has it */
        tool: any;
      }): {};
      /** Withdraw a published tool. It needs tools.publish. */
      withdraw(request: {
        /** its name */
        name: string;
      }): {};
      /** The tools that the caller may use, in order, page by page: those of the core, then those of the families, the calling one's included. */
      offered(request?: {
        /** only those of these families; `core` stands for the core's; default: all */
        families?: string[];
        /** only those whose names begin with it */
        prefix?: string;
        /** the name after which the page begins: `next` of the page before */
        after?: string;
        /** entries in one page; default: 100 */
        limit?: number;
      }): {
        /** the page */
        tools: ForeignTool[];
        /** `after` of the next page; absent at the end */
        next?: string;
      };
      /** How often agents called tools; a caller without the right to every namespace sees only its own calls. It needs tools.usage. */
      usage(request?: {
        /** until now, today included; default: 30 */
        days?: number;
        /** tools, by their names or aliases; default: all */
        tools?: string[];
      }): {
        /** by agent and tool */
        usage: ToolUsage[];
      };
    };
  }
// generated: end
}

declare const console: { [level in "log" | "info" | "debug" | "warn" | "error" | "trace"]: (...values: unknown[]) => void };
declare function queueMicrotask(f: () => void): void;
declare class TextEncoder {
  readonly encoding: "utf-8";
  encode(value?: string): Uint8Array;
}
declare class TextDecoder {
  readonly encoding: "utf-8";
  decode(value?: ArrayBuffer | ArrayBufferView): string;
}
