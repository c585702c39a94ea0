// Makes a C program a tool family of Alcove: a WebAssembly guest that serves tool calls, hooks and jobs. README.md has an example and the
// build line. abi/OPERATIONS.md of Alcove describes the fields of operations.
//
// All memory is the request's: nothing is freed, and an instance keeps nothing from one request to the next. On platforms other than
// WebAssembly alcove_serve runs a family natively, in tests.
#ifndef ALCOVE_H
#define ALCOVE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// UTF-8, which may have zeros; a zero follows it.
typedef struct { const char *at; size_t len; } alcove_text;
#define ALCOVE_TEXT(literal) ((alcove_text){literal, sizeof(literal) - 1})
#define ALCOVE_LIST(type) struct { type *at; size_t n; }
#define ALCOVE_MAP(type) struct { type *at; size_t n; alcove_text *names; }

typedef enum { ALCOVE_NULL, ALCOVE_BOOL, ALCOVE_NUMBER, ALCOVE_STRING, ALCOVE_ARRAY, ALCOVE_OBJECT_VALUE } alcove_kind;

// A JSON value. A number keeps its text; an object keeps its order.
typedef struct alcove_value {
  alcove_kind kind;
  bool flag;                        // of a boolean
  alcove_text text;                 // of text or a number
  alcove_text name;                 // of a member of an object
  const struct alcove_value *items; // of a list or an object: the first element
  const struct alcove_value *next;  // in a list or an object
} alcove_value;

// How a C type is read from JSON and written as JSON.
typedef struct alcove_type {
  uint8_t is; // ALCOVE_IS_…
  uint16_t size, count;
  const struct alcove_type *of;
  const struct alcove_field *fields;
} alcove_type;
typedef struct alcove_field {
  const char *name;
  uint16_t offset;
  bool optional; // left out where it is empty, zero or NULL
  const alcove_type *type;
} alcove_field;
enum { ALCOVE_IS_TEXT, ALCOVE_IS_BOOL, ALCOVE_IS_INT, ALCOVE_IS_UINT, ALCOVE_IS_FLOAT, ALCOVE_IS_FLOAT32, ALCOVE_IS_VALUE, ALCOVE_IS_OBJECT,
       ALCOVE_IS_LIST, ALCOVE_IS_MAP, ALCOVE_IS_POINTER };

// alcove_text, bool, int64_t, uint64_t, double, float and const alcove_value *; lists and maps of some, pointers (NULL: null or absent).
extern const alcove_type alcove_is_text, alcove_is_bool, alcove_is_int, alcove_is_uint, alcove_is_float, alcove_is_float32, alcove_is_value,
    alcove_is_texts, alcove_is_ints, alcove_is_values, alcove_is_map_of_int, alcove_is_map_of_value, alcove_is_nothing;

// ALCOVE_OBJECT(greet, ALCOVE_MUST(greet, name, text), ALCOVE_MAY(greet, times, int)) describes the struct type greet.
#define ALCOVE_MUST(type, field, is) {#field, offsetof(type, field), false, &alcove_is_##is}
#define ALCOVE_MAY(type, field, is) {#field, offsetof(type, field), true, &alcove_is_##is}
#define ALCOVE_OBJECT(name, ...) \
  static const alcove_field name##_fields[] = {__VA_ARGS__}; \
  static const alcove_type alcove_is_##name = {ALCOVE_IS_OBJECT, sizeof(name), sizeof name##_fields / sizeof *name##_fields, NULL, name##_fields}
// ALCOVE_LIST_OF(greets, greet) describes members of the type ALCOVE_LIST(greet).
typedef ALCOVE_LIST(const void) alcove_any_list;
#define ALCOVE_LIST_OF(name, of) static const alcove_type alcove_is_##name = {ALCOVE_IS_LIST, sizeof(alcove_any_list), 0, &alcove_is_##of, NULL}

typedef struct alcove_call alcove_call;
typedef enum { ALCOVE_OK, ALCOVE_FAILED } alcove_status; // what handlers and operations return

// generated: begin
// By abi/gen from abi.json. Do not edit.
#define ALCOVE_KIND_TOOL 1
#define ALCOVE_KIND_HOOK 2
#define ALCOVE_KIND_SCORE 3
#define ALCOVE_KIND_EMBED 4
#define ALCOVE_READ_REQUEST 0
#define ALCOVE_READ_RESPONSE 1
#define ALCOVE_READ_SOURCE 2
#define ALCOVE_WRITE_RESULT 0
#define ALCOVE_WRITE_LOG 1
#define ALCOVE_INVALID_ARGUMENT "invalid_argument" // the request is malformed: a missing field, a wrong type, a value out of range
#define ALCOVE_NOT_FOUND "not_found" // nothing has that name
#define ALCOVE_DENIED "denied" // the family, or its caller, has no right to it
#define ALCOVE_CONFLICT "conflict" // something that was read or written changed meanwhile
#define ALCOVE_EXHAUSTED "exhausted" // a limit or a quota was reached; details name it
#define ALCOVE_UNAVAILABLE "unavailable" // a service is not configured, or does not answer now
#define ALCOVE_TIMEOUT "timeout" // it took longer than its limit
#define ALCOVE_INTERNAL "internal" // the side that answers is at fault
#define ALCOVE_INPUT_REQUIRED "input_required" // of a tool: the caller's client is first asked for what details say, and then the tool is called again
bool alcove_retryable(const char *code); // the same request may succeed later

typedef struct alcove_counters alcove_counters;
typedef struct alcove_memory_fields alcove_memory_fields;
typedef struct alcove_memory alcove_memory;
typedef struct alcove_memory_id alcove_memory_id;
typedef struct alcove_file alcove_file;
typedef struct alcove_file_entry alcove_file_entry;
typedef struct alcove_file_item alcove_file_item;
typedef struct alcove_quota_use alcove_quota_use;
typedef struct alcove_memory_item alcove_memory_item;
typedef struct alcove_memory_patch alcove_memory_patch;
typedef struct alcove_field_test alcove_field_test;
typedef struct alcove_memory_filter alcove_memory_filter;
typedef struct alcove_memory_hit alcove_memory_hit;
typedef struct alcove_record alcove_record;
typedef struct alcove_record_collection alcove_record_collection;
typedef struct alcove_record_filter alcove_record_filter;
typedef struct alcove_record_item alcove_record_item;
typedef struct alcove_record_hit alcove_record_hit;
typedef struct alcove_record_test alcove_record_test;
typedef struct alcove_record_neighbor alcove_record_neighbor;
typedef struct alcove_event alcove_event;
typedef struct alcove_notice alcove_notice;
typedef struct alcove_branch alcove_branch;
typedef struct alcove_difference alcove_difference;
typedef struct alcove_power alcove_power;
typedef struct alcove_progress alcove_progress;
typedef struct alcove_setting_state alcove_setting_state;
typedef struct alcove_setting_change alcove_setting_change;
typedef struct alcove_setting_changed alcove_setting_changed;
typedef struct alcove_setting_version alcove_setting_version;
typedef struct alcove_setting_rule alcove_setting_rule;
typedef struct alcove_namespace alcove_namespace;
typedef struct alcove_moment alcove_moment;
typedef struct alcove_durability alcove_durability;
typedef struct alcove_embedding alcove_embedding;
typedef struct alcove_missed alcove_missed;
typedef struct alcove_foreign_tool alcove_foreign_tool;
typedef struct alcove_recall alcove_recall;
typedef struct alcove_recalled_fact alcove_recalled_fact;
typedef struct alcove_tool_usage alcove_tool_usage;
typedef struct alcove_scope alcove_scope;
typedef struct alcove_session alcove_session;
typedef struct alcove_memory_get_request alcove_memory_get_request;
typedef struct alcove_memory_get_response alcove_memory_get_response;
typedef struct alcove_memory_states_request alcove_memory_states_request;
typedef struct alcove_memory_states_response alcove_memory_states_response;
typedef struct alcove_memory_list_request alcove_memory_list_request;
typedef struct alcove_memory_list_response alcove_memory_list_response;
typedef struct alcove_memory_namespaces_response alcove_memory_namespaces_response;
typedef struct alcove_memory_history_request alcove_memory_history_request;
typedef struct alcove_memory_history_response alcove_memory_history_response;
typedef struct alcove_recall_get_request alcove_recall_get_request;
typedef struct alcove_recall_get_response alcove_recall_get_response;
typedef struct alcove_memory_search_request alcove_memory_search_request;
typedef struct alcove_memory_search_response alcove_memory_search_response;
typedef struct alcove_memory_pairs_request alcove_memory_pairs_request;
typedef struct alcove_memory_pairs_response alcove_memory_pairs_response;
typedef struct alcove_memory_put_request alcove_memory_put_request;
typedef struct alcove_memory_put_response alcove_memory_put_response;
typedef struct alcove_memory_patch_request alcove_memory_patch_request;
typedef struct alcove_memory_patch_response alcove_memory_patch_response;
typedef struct alcove_memory_delete_request alcove_memory_delete_request;
typedef struct alcove_memory_delete_response alcove_memory_delete_response;
typedef struct alcove_memory_touch_request alcove_memory_touch_request;
typedef struct alcove_memory_touch_response alcove_memory_touch_response;
typedef struct alcove_record_get_request alcove_record_get_request;
typedef struct alcove_record_get_response alcove_record_get_response;
typedef struct alcove_record_put_request alcove_record_put_request;
typedef struct alcove_record_put_response alcove_record_put_response;
typedef struct alcove_record_delete_request alcove_record_delete_request;
typedef struct alcove_record_delete_response alcove_record_delete_response;
typedef struct alcove_record_list_request alcove_record_list_request;
typedef struct alcove_record_list_response alcove_record_list_response;
typedef struct alcove_record_scan_request alcove_record_scan_request;
typedef struct alcove_record_scan_response alcove_record_scan_response;
typedef struct alcove_record_history_request alcove_record_history_request;
typedef struct alcove_record_history_response alcove_record_history_response;
typedef struct alcove_record_search_request alcove_record_search_request;
typedef struct alcove_record_search_response alcove_record_search_response;
typedef struct alcove_record_nearest_request alcove_record_nearest_request;
typedef struct alcove_record_nearest_response alcove_record_nearest_response;
typedef struct alcove_record_collections_request alcove_record_collections_request;
typedef struct alcove_record_collections_response alcove_record_collections_response;
typedef struct alcove_record_append_request alcove_record_append_request;
typedef struct alcove_record_append_response alcove_record_append_response;
typedef struct alcove_log_append_request alcove_log_append_request;
typedef struct alcove_log_append_response alcove_log_append_response;
typedef struct alcove_log_read_request alcove_log_read_request;
typedef struct alcove_log_read_response alcove_log_read_response;
typedef struct alcove_log_verify_request alcove_log_verify_request;
typedef struct alcove_log_verify_response alcove_log_verify_response;
typedef struct alcove_feed_read_request alcove_feed_read_request;
typedef struct alcove_feed_read_response alcove_feed_read_response;
typedef struct alcove_feed_emit_request alcove_feed_emit_request;
typedef struct alcove_branch_list_response alcove_branch_list_response;
typedef struct alcove_branch_diff_request alcove_branch_diff_request;
typedef struct alcove_branch_diff_response alcove_branch_diff_response;
typedef struct alcove_branch_fork_request alcove_branch_fork_request;
typedef struct alcove_branch_fork_response alcove_branch_fork_response;
typedef struct alcove_branch_merge_request alcove_branch_merge_request;
typedef struct alcove_branch_merge_response alcove_branch_merge_response;
typedef struct alcove_branch_delete_request alcove_branch_delete_request;
typedef struct alcove_link_list_request alcove_link_list_request;
typedef struct alcove_link_list_response alcove_link_list_response;
typedef struct alcove_link_add_request alcove_link_add_request;
typedef struct alcove_link_add_response alcove_link_add_response;
typedef struct alcove_link_remove_request alcove_link_remove_request;
typedef struct alcove_link_remove_response alcove_link_remove_response;
typedef struct alcove_config_get_request alcove_config_get_request;
typedef struct alcove_config_get_response alcove_config_get_response;
typedef struct alcove_config_list_request alcove_config_list_request;
typedef struct alcove_config_list_response alcove_config_list_response;
typedef struct alcove_config_put_request alcove_config_put_request;
typedef struct alcove_config_put_response alcove_config_put_response;
typedef struct alcove_config_history_request alcove_config_history_request;
typedef struct alcove_config_history_response alcove_config_history_response;
typedef struct alcove_config_rollback_request alcove_config_rollback_request;
typedef struct alcove_config_rollback_response alcove_config_rollback_response;
typedef struct alcove_config_undo_request alcove_config_undo_request;
typedef struct alcove_config_undo_response alcove_config_undo_response;
typedef struct alcove_config_rules_response alcove_config_rules_response;
typedef struct alcove_config_set_request alcove_config_set_request;
typedef struct alcove_config_set_response alcove_config_set_response;
typedef struct alcove_caller_get_response alcove_caller_get_response;
typedef struct alcove_quota_list_request alcove_quota_list_request;
typedef struct alcove_quota_list_response alcove_quota_list_response;
typedef struct alcove_caller_can_request alcove_caller_can_request;
typedef struct alcove_caller_can_response alcove_caller_can_response;
typedef struct alcove_session_list_request alcove_session_list_request;
typedef struct alcove_session_list_response alcove_session_list_response;
typedef struct alcove_scope_get_request alcove_scope_get_request;
typedef struct alcove_scope_get_response alcove_scope_get_response;
typedef struct alcove_scope_list_request alcove_scope_list_request;
typedef struct alcove_scope_list_response alcove_scope_list_response;
typedef struct alcove_scope_put_request alcove_scope_put_request;
typedef struct alcove_scope_put_response alcove_scope_put_response;
typedef struct alcove_scope_members_request alcove_scope_members_request;
typedef struct alcove_scope_members_response alcove_scope_members_response;
typedef struct alcove_scope_delete_request alcove_scope_delete_request;
typedef struct alcove_identity_delegate_request alcove_identity_delegate_request;
typedef struct alcove_identity_delegate_response alcove_identity_delegate_response;
typedef struct alcove_identity_revoke_request alcove_identity_revoke_request;
typedef struct alcove_caller_progress_request alcove_caller_progress_request;
typedef struct alcove_job_enqueue_request alcove_job_enqueue_request;
typedef struct alcove_job_enqueue_response alcove_job_enqueue_response;
typedef struct alcove_job_status_request alcove_job_status_request;
typedef struct alcove_job_status_response alcove_job_status_response;
typedef struct alcove_job_cancel_request alcove_job_cancel_request;
typedef struct alcove_job_cancel_response alcove_job_cancel_response;
typedef struct alcove_text_analyze_request alcove_text_analyze_request;
typedef struct alcove_text_analyze_response alcove_text_analyze_response;
typedef struct alcove_text_count_request alcove_text_count_request;
typedef struct alcove_text_count_response alcove_text_count_response;
typedef struct alcove_text_tokens_request alcove_text_tokens_request;
typedef struct alcove_text_tokens_response alcove_text_tokens_response;
typedef struct alcove_text_detokenize_request alcove_text_detokenize_request;
typedef struct alcove_text_detokenize_response alcove_text_detokenize_response;
typedef struct alcove_embed_texts_request alcove_embed_texts_request;
typedef struct alcove_embed_texts_response alcove_embed_texts_response;
typedef struct alcove_embed_rebuild_response alcove_embed_rebuild_response;
typedef struct alcove_namespace_list_request alcove_namespace_list_request;
typedef struct alcove_namespace_list_response alcove_namespace_list_response;
typedef struct alcove_namespace_delete_request alcove_namespace_delete_request;
typedef struct alcove_namespace_delete_response alcove_namespace_delete_response;
typedef struct alcove_status_get_request alcove_status_get_request;
typedef struct alcove_status_get_response alcove_status_get_response;
typedef struct alcove_version_at_request alcove_version_at_request;
typedef struct alcove_version_at_response alcove_version_at_response;
typedef struct alcove_llm_complete_request alcove_llm_complete_request;
typedef struct alcove_llm_complete_response alcove_llm_complete_response;
typedef struct alcove_http_fetch_request alcove_http_fetch_request;
typedef struct alcove_http_fetch_response alcove_http_fetch_response;
typedef struct alcove_file_list_request alcove_file_list_request;
typedef struct alcove_file_list_response alcove_file_list_response;
typedef struct alcove_file_read_request alcove_file_read_request;
typedef struct alcove_file_read_response alcove_file_read_response;
typedef struct alcove_file_write_request alcove_file_write_request;
typedef struct alcove_file_write_response alcove_file_write_response;
typedef struct alcove_tools_list_response alcove_tools_list_response;
typedef struct alcove_tools_call_request alcove_tools_call_request;
typedef struct alcove_tools_call_response alcove_tools_call_response;
typedef struct alcove_tools_publish_request alcove_tools_publish_request;
typedef struct alcove_tools_withdraw_request alcove_tools_withdraw_request;
typedef struct alcove_tools_offered_request alcove_tools_offered_request;
typedef struct alcove_tools_offered_response alcove_tools_offered_response;
typedef struct alcove_tools_usage_request alcove_tools_usage_request;
typedef struct alcove_tools_usage_response alcove_tools_usage_response;
typedef struct alcove_content alcove_content;
typedef struct alcove_listed_resource alcove_listed_resource;
typedef struct alcove_prompt_message alcove_prompt_message;
typedef struct alcove_input alcove_input;
typedef struct alcove_input_request alcove_input_request;
typedef struct alcove_context alcove_context;
typedef struct alcove_entry alcove_entry;
typedef struct alcove_merge_notice alcove_merge_notice;
typedef struct alcove_merge_key alcove_merge_key;
typedef struct alcove_change alcove_change;
typedef struct alcove_tool_request alcove_tool_request;
typedef struct alcove_hook_request alcove_hook_request;
typedef struct alcove_store_result alcove_store_result;
typedef struct alcove_score_params alcove_score_params;
typedef struct alcove_embed_request alcove_embed_request;
typedef struct alcove_content_result alcove_content_result;
typedef struct alcove_resource_result alcove_resource_result;
typedef struct alcove_resource_list alcove_resource_list;
typedef struct alcove_prompt_result alcove_prompt_result;
typedef struct alcove_completion alcove_completion;
typedef struct alcove_input_questions alcove_input_questions;
typedef struct alcove_error alcove_error;
// How a memory was used.
struct alcove_counters { int64_t accesses; alcove_text last_access; double health; };
// What the writer of a memory decides.
struct alcove_memory_fields { const alcove_value *value; ALCOVE_LIST(alcove_text) tags; alcove_text *type; double *importance; ALCOVE_MAP(const alcove_value *) metadata; alcove_text state; ALCOVE_LIST(alcove_text) supersedes; ALCOVE_LIST(alcove_text) links; alcove_text *expires_at; };
// A memory. One that is staged has version 0.
struct alcove_memory { alcove_text namespace; alcove_text key; const alcove_value *value; ALCOVE_LIST(alcove_text) tags; alcove_text *type; double *importance; ALCOVE_MAP(const alcove_value *) metadata; alcove_text state; ALCOVE_LIST(alcove_text) supersedes; ALCOVE_LIST(alcove_text) links; alcove_text *expires_at; alcove_text agent; uint64_t version; alcove_text timestamp; bool deleted; alcove_counters *counters; alcove_text created; };
// The namespace and key of a memory.
struct alcove_memory_id { alcove_text namespace; alcove_text key; };
// A file below a root, with its content.
struct alcove_file { alcove_text path; alcove_text content; alcove_text digest; };
// A file below a root.
struct alcove_file_entry { alcove_text path; int64_t bytes; alcove_text modified; };
// A file to be written.
struct alcove_file_item { alcove_text path; alcove_text content; alcove_text *if_digest; };
// What an agent stored in a namespace with a quota; a limit of 0 is none.
struct alcove_quota_use { alcove_text namespace; alcove_text agent; alcove_text day; int64_t memories; int64_t most_memories; int64_t links; int64_t most_links; int64_t bytes; int64_t most_bytes; };
// A memory to be staged.
struct alcove_memory_item { alcove_text key; alcove_text namespace; const alcove_value *value; ALCOVE_LIST(alcove_text) tags; alcove_text *type; double *importance; ALCOVE_MAP(const alcove_value *) metadata; alcove_text state; ALCOVE_LIST(alcove_text) supersedes; ALCOVE_LIST(alcove_text) links; alcove_text *expires_at; uint64_t *if_version; };
// A change of some fields of a memory. Absent fields stay; a list, also an empty one, replaces the present list.
struct alcove_memory_patch { alcove_text key; alcove_text namespace; const alcove_value *value; ALCOVE_LIST(alcove_text) tags; alcove_text *type; double *importance; ALCOVE_MAP(const alcove_value *) metadata; alcove_text state; ALCOVE_LIST(alcove_text) supersedes; ALCOVE_LIST(alcove_text) links; alcove_text *expires_at; ALCOVE_LIST(alcove_text) add_tags; ALCOVE_LIST(alcove_text) remove_tags; ALCOVE_LIST(alcove_text) clear; uint64_t *if_version; };
// A condition on a field of a memory. A field that is null is not there. Of each memory the first 64 fields can be tested, metadata before value, in the order of their names.
struct alcove_field_test { alcove_text field; const alcove_value *equals; bool *exists; };
// Conditions on memories, which apply together. A list has at most 64 elements; an empty one is no condition.
struct alcove_memory_filter { ALCOVE_LIST(alcove_text) types; ALCOVE_LIST(alcove_text) states; ALCOVE_LIST(alcove_text) writers; ALCOVE_LIST(alcove_text) tags; ALCOVE_LIST(alcove_text) any_tags; ALCOVE_LIST(alcove_text) no_tags; double *min_importance; double *max_importance; int64_t *min_accesses; int64_t *max_accesses; double *min_health; double *max_health; alcove_text accessed_since; alcove_text accessed_until; alcove_text created_since; alcove_text created_until; alcove_text updated_since; alcove_text updated_until; alcove_text expired; ALCOVE_LIST(alcove_field_test) fields; };
// A memory that a search found.
struct alcove_memory_hit { alcove_memory memory; double score; alcove_text snippet; alcove_text superseded_by; ALCOVE_MAP(float) features; };
// A record of one of the family's own collections. One that is staged has version 0.
struct alcove_record { alcove_text namespace; alcove_text key; const alcove_value *value; uint64_t version; alcove_text timestamp; alcove_text expires_at; bool deleted; };
// A collection of records, as its family's manifest declares it.
struct alcove_record_collection { alcove_text family; alcove_text name; alcove_text per; ALCOVE_LIST(alcove_text) searchable; ALCOVE_LIST(ALCOVE_LIST(alcove_text)) indexes; alcove_text expires; bool unversioned; bool open; bool private; };
// A condition on an indexed field of records.
struct alcove_record_filter { alcove_text field; alcove_text op; const alcove_value *value; };
// A record to be staged.
struct alcove_record_item { alcove_text key; const alcove_value *value; uint64_t *if_version; alcove_text *expires_at; };
// A record that a search found.
struct alcove_record_hit { alcove_record record; double score; alcove_text snippet; };
// A condition on a field of records, indexed or not.
struct alcove_record_test { alcove_text field; alcove_text op; const alcove_value *value; };
// A record whose vector is near.
struct alcove_record_neighbor { alcove_record record; double score; };
// An event of the log.
struct alcove_event { alcove_text namespace; uint64_t sequence; alcove_text event; const alcove_value *data; alcove_text agent; alcove_text timestamp; };
// A change, or an event that a family announced.
struct alcove_notice { alcove_text kind; alcove_text namespace; alcove_text key; uint64_t watermark; alcove_text timestamp; const alcove_value *payload; alcove_text agent; alcove_text family; };
// A branch.
struct alcove_branch { alcove_text name; alcove_text parent; uint64_t forked_at; alcove_text created; int64_t depth; };
// What differs between two branches under one key.
struct alcove_difference { alcove_text namespace; alcove_text collection; alcove_text key; alcove_memory *base; alcove_memory *source; alcove_memory *target; alcove_text clash; };
// A capability that a call has.
struct alcove_power { alcove_text name; ALCOVE_LIST(alcove_text) scope; };
// How far a job has come.
struct alcove_progress { double done; double total; alcove_text message; };
// A setting, and where its value comes from.
struct alcove_setting_state { alcove_text key; const alcove_value *value; alcove_text scope; alcove_text name; uint64_t version; int64_t priority; alcove_text updated_at; alcove_text updated_by; ALCOVE_LIST(alcove_text) unused; const alcove_value *default_; const alcove_value *schema; alcove_text category; alcove_text description; ALCOVE_LIST(alcove_text) families; };
// A change of a setting.
struct alcove_setting_change { alcove_text key; const alcove_value *value; int64_t *priority; uint64_t *if_version; };
// A setting that was changed.
struct alcove_setting_changed { alcove_text key; uint64_t version; const alcove_value *before; const alcove_value *after; alcove_text change; };
// A change of a setting in its history.
struct alcove_setting_version { uint64_t version; const alcove_value *before; const alcove_value *after; int64_t priority; alcove_text timestamp; alcove_text agent; alcove_text family; alcove_text reason; uint64_t *rolled_back_to; alcove_text change; };
// What values of several settings must satisfy together.
struct alcove_setting_rule { alcove_text rule; ALCOVE_LIST(alcove_text) keys; double equals; double within; ALCOVE_LIST(alcove_text) families; };
// A namespace.
struct alcove_namespace { alcove_text namespace; int64_t *memories; int64_t *events; };
// A commit.
struct alcove_moment { uint64_t version; alcove_text timestamp; };
// Counters of durable commits.
struct alcove_durability { uint64_t commits; uint64_t syncs; uint64_t failed; int64_t last_sync_ns; int64_t slowest_sync_ns; int64_t database_bytes; };
// How far an embedder is.
struct alcove_embedding { alcove_text name; int64_t vectors; int64_t waiting; int64_t refused; };
// Why a page of the feed does not begin at the watermark that was asked for.
struct alcove_missed { uint64_t after; uint64_t oldest; alcove_text message; };
// A tool that a family may see.
struct alcove_foreign_tool { alcove_text name; alcove_text family; alcove_text description; const alcove_value *input_schema; };
// What a recall by query found.
struct alcove_recall { alcove_text recall_id; alcove_text branch; alcove_text query; ALCOVE_LIST(alcove_recalled_fact) facts; alcove_text agent; alcove_text timestamp; alcove_text expires_at; };
// A memory that a recall found.
struct alcove_recalled_fact { alcove_text namespace; alcove_text key; };
// How an agent used a tool.
struct alcove_tool_usage { alcove_text agent; alcove_text tool; alcove_text as; int64_t calls; int64_t errors; alcove_text last; };
// The rights record of a namespace.
struct alcove_scope { alcove_text namespace; alcove_text name; alcove_text description; alcove_text creator; ALCOVE_LIST(alcove_text) members; alcove_text read; alcove_text write; int64_t retention_days; bool archived; alcove_text created_at; };
// A session of a client.
struct alcove_session { alcove_text session; alcove_text agent; alcove_text client; alcove_text began_at; int64_t calls; alcove_text ended_at; alcove_text namespace; alcove_text branch; alcove_text last_at; };
// The request of memory.get: memories by their keys.
struct alcove_memory_get_request { ALCOVE_LIST(alcove_text) keys; alcove_text namespace; alcove_text as_of; bool counters; bool created; bool expired; };
// The response of memory.get.
struct alcove_memory_get_response { ALCOVE_LIST(alcove_memory *) memories; };
// The request of memory.states: the states of memories by their keys, and their values.
struct alcove_memory_states_request { ALCOVE_LIST(alcove_text) keys; alcove_text namespace; bool values; };
// The response of memory.states.
struct alcove_memory_states_response { ALCOVE_LIST(alcove_text) states; ALCOVE_LIST(const alcove_value *) values; };
// The request of memory.list: memories of a namespace, page by page: in the order of their keys, or by their fields and in another order.
struct alcove_memory_list_request { alcove_text namespace; alcove_text prefix; alcove_text after; int64_t limit; alcove_text as_of; bool counters; bool created; alcove_memory_filter *filter; alcove_text order; alcove_text count; };
// The response of memory.list.
struct alcove_memory_list_response { ALCOVE_LIST(alcove_memory) memories; alcove_text next; int64_t *total; };
// The response of memory.namespaces.
struct alcove_memory_namespaces_response { ALCOVE_LIST(alcove_text) namespaces; };
// The request of memory.history: the versions of one memory, the newest first.
struct alcove_memory_history_request { alcove_text key; alcove_text namespace; uint64_t before; int64_t limit; };
// The response of memory.history.
struct alcove_memory_history_response { ALCOVE_LIST(alcove_memory) versions; uint64_t next; };
// The request of recall.get: what a recall by query found, for feedback about it: the caller's own recalls, or with the right `act_as` all, of the last 90 days, if caller and family may read every namespace in it.
struct alcove_recall_get_request { alcove_text recall_id; };
// The response of recall.get.
struct alcove_recall_get_response { alcove_recall recall; };
// The request of memory.search: lexical, semantic or hybrid search; staged changes are not found.
struct alcove_memory_search_request { alcove_text query; ALCOVE_LIST(alcove_text) namespaces; int64_t k; int64_t offset; alcove_text order; double *min_importance; ALCOVE_LIST(alcove_text) writers; ALCOVE_LIST(alcove_text) tags; ALCOVE_LIST(alcove_text) types; ALCOVE_LIST(alcove_text) states; alcove_text since; alcove_text until; alcove_text as_of; alcove_text mode; ALCOVE_LIST(float) vector; bool features; };
// The response of memory.search.
struct alcove_memory_search_response { ALCOVE_LIST(alcove_memory_hit) hits; int64_t total; };
// The request of memory.pairs: pairs of memories of a namespace that share many words of their texts, by the words' stems: the rarer a word is there, the more it weighs. Keys, tags and words such as `the` do not count, and staged changes are not seen. A word that very many memories have finds no pairs by itself.
struct alcove_memory_pairs_request { alcove_text namespace; alcove_memory_filter *filter; alcove_text after; int64_t limit; double similarity; int64_t missing; int64_t most; };
// The response of memory.pairs.
struct alcove_memory_pairs_response { ALCOVE_LIST(alcove_text) keys; ALCOVE_LIST(ALCOVE_LIST(int64_t)) pairs; ALCOVE_LIST(float) similarities; int64_t compared; alcove_text next; };
// The request of memory.put: stage memories.
struct alcove_memory_put_request { ALCOVE_LIST(alcove_memory_item) items; };
// The response of memory.put.
struct alcove_memory_put_response { ALCOVE_LIST(alcove_memory_id) stored; };
// The request of memory.patch: stage changes of some fields of memories.
struct alcove_memory_patch_request { ALCOVE_LIST(alcove_memory_patch) patches; bool expired; };
// The response of memory.patch.
struct alcove_memory_patch_response { int64_t patched; ALCOVE_LIST(alcove_text) missing; };
// The request of memory.delete: stage deletions of memories.
struct alcove_memory_delete_request { ALCOVE_LIST(alcove_text) keys; alcove_text namespace; bool expired; };
// The response of memory.delete.
struct alcove_memory_delete_response { int64_t deleted; };
// The request of memory.touch: add to the counters of memories.
struct alcove_memory_touch_request { ALCOVE_LIST(alcove_text) keys; alcove_text namespace; int64_t *accesses; double health; };
// The response of memory.touch.
struct alcove_memory_touch_response { int64_t touched; };
// The request of record.get: records of one of its own collections by their keys.
struct alcove_record_get_request { alcove_text collection; ALCOVE_LIST(alcove_text) keys; alcove_text namespace; alcove_text family; bool expired; };
// The response of record.get.
struct alcove_record_get_response { ALCOVE_LIST(alcove_record *) records; };
// The request of record.put: stage records, or commit them at once.
struct alcove_record_put_request { alcove_text collection; alcove_text namespace; ALCOVE_LIST(alcove_record_item) items; bool now; };
// The response of record.put.
struct alcove_record_put_response { int64_t stored; };
// The request of record.delete: stage deletions of records.
struct alcove_record_delete_request { alcove_text collection; ALCOVE_LIST(alcove_text) keys; alcove_text namespace; };
// The response of record.delete.
struct alcove_record_delete_response { int64_t deleted; };
// The request of record.list: records, page by page, in the order of their keys; with `filters` or `order`, those that declared indexes select, in their order.
struct alcove_record_list_request { alcove_text collection; alcove_text namespace; alcove_text prefix; alcove_text after; int64_t limit; ALCOVE_LIST(alcove_record_filter) filters; alcove_text order; bool descending; bool count; alcove_text family; bool expired; };
// The response of record.list.
struct alcove_record_list_response { ALCOVE_LIST(alcove_record) records; alcove_text next; int64_t *total; };
// The request of record.scan: the keys of records that begin with one of several prefixes, and their values, page by page, in the order of the keys.
struct alcove_record_scan_request { alcove_text collection; alcove_text namespace; ALCOVE_LIST(alcove_text) prefixes; alcove_text after; int64_t limit; bool values; };
// The response of record.scan.
struct alcove_record_scan_response { ALCOVE_LIST(alcove_text) keys; ALCOVE_LIST(const alcove_value *) values; alcove_text next; };
// The request of record.history: the versions of one record, the newest first.
struct alcove_record_history_request { alcove_text collection; alcove_text key; alcove_text namespace; uint64_t before; int64_t limit; alcove_text family; };
// The response of record.history.
struct alcove_record_history_response { ALCOVE_LIST(alcove_record) versions; uint64_t next; };
// The request of record.search: search in a searchable collection; staged changes are not found.
struct alcove_record_search_request { alcove_text collection; alcove_text query; ALCOVE_LIST(alcove_text) namespaces; int64_t k; int64_t offset; alcove_text family; alcove_text mode; ALCOVE_LIST(float) vector; };
// The response of record.search.
struct alcove_record_search_response { ALCOVE_LIST(alcove_record_hit) hits; int64_t total; };
// The request of record.nearest: the records of a collection whose vectors are nearest to one, by an exact scan, staged ones included.
struct alcove_record_nearest_request { alcove_text collection; alcove_text namespace; alcove_text prefix; ALCOVE_LIST(float) vector; alcove_text field; alcove_text metric; ALCOVE_LIST(alcove_record_test) filters; int64_t k; bool omit_vector; alcove_text family; };
// The response of record.nearest.
struct alcove_record_nearest_response { ALCOVE_LIST(alcove_record_neighbor) hits; int64_t total; };
// The request of record.collections: the collections whose records the call may read, its own and those of other families, by family and name.
struct alcove_record_collections_request { alcove_text family; };
// The response of record.collections.
struct alcove_record_collections_response { ALCOVE_LIST(alcove_record_collection) collections; };
// The request of record.append: stage records with the next sequence numbers as their keys.
struct alcove_record_append_request { alcove_text collection; alcove_text namespace; ALCOVE_LIST(const alcove_value *) values; };
// The response of record.append.
struct alcove_record_append_response { ALCOVE_LIST(uint64_t) sequences; };
// The request of log.append: stage an event of the log, which gets its sequence number at the commit.
struct alcove_log_append_request { alcove_text event; const alcove_value *data; alcove_text namespace; bool sequence; };
// The response of log.append.
struct alcove_log_append_response { uint64_t sequence; };
// The request of log.read: events of the log, the oldest first.
struct alcove_log_read_request { alcove_text namespace; uint64_t from; int64_t limit; };
// The response of log.read.
struct alcove_log_read_response { ALCOVE_LIST(alcove_event) events; };
// The request of log.verify: check the chain of a log page by page: that no event is missing, changed or out of order.
struct alcove_log_verify_request { alcove_text namespace; uint64_t from; int64_t limit; };
// The response of log.verify.
struct alcove_log_verify_response { bool verified; int64_t checked; uint64_t next; uint64_t broken_at; alcove_text fault; alcove_text hash; };
// The request of feed.read: changes since a watermark.
struct alcove_feed_read_request { uint64_t after; ALCOVE_LIST(alcove_text) namespaces; ALCOVE_LIST(alcove_text) kinds; ALCOVE_LIST(alcove_text) agents; int64_t limit; };
// The response of feed.read.
struct alcove_feed_read_response { ALCOVE_LIST(alcove_notice) notices; uint64_t watermark; bool more; alcove_missed *missed; };
// The request of feed.emit: stage an event of the feed.
struct alcove_feed_emit_request { alcove_text kind; const alcove_value *payload; alcove_text namespace; ALCOVE_LIST(alcove_text) recipients; alcove_text per; };
// The response of branch.list.
struct alcove_branch_list_response { ALCOVE_LIST(alcove_branch) branches; };
// The request of branch.diff: what differs between two branches.
struct alcove_branch_diff_request { alcove_text source; alcove_text target; ALCOVE_LIST(alcove_text) namespaces; int64_t limit; bool source_only; int64_t longest; };
// The response of branch.diff.
struct alcove_branch_diff_response { int64_t added; int64_t changed; int64_t removed; int64_t clashes; ALCOVE_LIST(alcove_difference) differences; bool truncated; uint64_t seen; };
// The request of branch.fork: make a branch, after the commit.
struct alcove_branch_fork_request { alcove_text name; alcove_text from; alcove_text as_of; bool required; bool read_only; };
// The response of branch.fork.
struct alcove_branch_fork_response { alcove_text name; alcove_text from; };
// The request of branch.merge: merge a branch after the commit, or preview that.
struct alcove_branch_merge_request { alcove_text source; alcove_text target; alcove_text strategy; ALCOVE_LIST(alcove_text) namespaces; uint64_t seen; bool preview; bool required; };
// The response of branch.merge.
struct alcove_branch_merge_response { bool merged; ALCOVE_LIST(alcove_difference) applied; ALCOVE_LIST(alcove_difference) clashes; int64_t unresolved; uint64_t seen; };
// The request of branch.delete: delete a branch, after the commit.
struct alcove_branch_delete_request { alcove_text name; bool force; };
// The request of link.list: links from and to a memory; a memory of another namespace is `namespace#key`, and is omitted if it may not be read.
struct alcove_link_list_request { alcove_text key; alcove_text namespace; alcove_text after; int64_t limit; };
// The response of link.list.
struct alcove_link_list_response { ALCOVE_LIST(alcove_text) links; ALCOVE_LIST(alcove_text) linked_from; alcove_text next; };
// The request of link.add: stage links.
struct alcove_link_add_request { alcove_text key; ALCOVE_LIST(alcove_text) to; alcove_text namespace; };
// The response of link.add.
struct alcove_link_add_response { int64_t added; };
// The request of link.remove: stage the removal of links.
struct alcove_link_remove_request { alcove_text key; ALCOVE_LIST(alcove_text) to; alcove_text namespace; };
// The response of link.remove.
struct alcove_link_remove_response { int64_t removed; };
// The request of config.get: its own configuration, or settings by their keys with where their values come from.
struct alcove_config_get_request { ALCOVE_LIST(alcove_text) keys; alcove_text namespace; bool details; };
// The response of config.get.
struct alcove_config_get_response { ALCOVE_MAP(const alcove_value *) config; ALCOVE_LIST(alcove_setting_state) settings; };
// The request of config.list: settings that families share, in the order of their keys, page by page.
struct alcove_config_list_request { alcove_text category; alcove_text prefix; alcove_text namespace; alcove_text scope; alcove_text name; alcove_text after; int64_t limit; };
// The response of config.list.
struct alcove_config_list_response { ALCOVE_LIST(alcove_setting_state) settings; alcove_text next; };
// The request of config.put: stage changes of settings that families share: all, or with any fault none.
struct alcove_config_put_request { ALCOVE_LIST(alcove_setting_change) changes; alcove_text scope; alcove_text name; alcove_text reason; };
// The response of config.put.
struct alcove_config_put_response { ALCOVE_LIST(alcove_setting_changed) changed; };
// The request of config.history: the changes of a shared setting in a scope, the newest first.
struct alcove_config_history_request { alcove_text key; alcove_text scope; alcove_text name; uint64_t before; int64_t limit; };
// The response of config.history.
struct alcove_config_history_response { ALCOVE_LIST(alcove_setting_version) versions; uint64_t next; };
// The request of config.rollback: stage the value that a shared setting had at a version, as a new version.
struct alcove_config_rollback_request { alcove_text key; uint64_t version; alcove_text scope; alcove_text name; uint64_t *if_version; alcove_text reason; };
// The response of config.rollback.
struct alcove_config_rollback_response { alcove_setting_changed changed; };
// The request of config.undo: stage the values that all keys of a change had before it, as new versions: all, or where one was changed since none.
struct alcove_config_undo_request { alcove_text change; alcove_text scope; alcove_text name; alcove_text reason; };
// The response of config.undo.
struct alcove_config_undo_response { ALCOVE_LIST(alcove_setting_changed) changed; };
// The response of config.rules.
struct alcove_config_rules_response { ALCOVE_LIST(alcove_setting_rule) rules; };
// The request of config.set: stage a change of its own configuration.
struct alcove_config_set_request { ALCOVE_MAP(const alcove_value *) values; };
// The response of config.set.
struct alcove_config_set_response { ALCOVE_MAP(const alcove_value *) config; };
// The response of caller.get.
struct alcove_caller_get_response { alcove_text caller; alcove_text principal; alcove_text namespace; alcove_text branch; ALCOVE_LIST(alcove_power) capabilities; ALCOVE_LIST(alcove_text) hooks; bool read_only; bool proposes; alcove_text client; alcove_text session; alcove_text space; alcove_text key; };
// The request of quota.list: the namespaces with a quota that the caller may read, and what agents stored there; most callers see only themselves.
struct alcove_quota_list_request { alcove_text agent; };
// The response of quota.list.
struct alcove_quota_list_response { ALCOVE_LIST(alcove_quota_use) quotas; };
// The request of caller.can: whether the caller may do something, apart from what the family may.
struct alcove_caller_can_request { alcove_text action; alcove_text namespace; alcove_text agent; alcove_text key; };
// The response of caller.can.
struct alcove_caller_can_response { bool allowed; alcove_text reason; };
// The request of session.list: the open sessions: to the owner all, to the holder of a key those of its agent, and of agents that are members of the same scopes; or those in a namespace.
struct alcove_session_list_request { alcove_text agent; alcove_text namespace; int64_t recent_s; int64_t limit; };
// The response of session.list.
struct alcove_session_list_response { ALCOVE_LIST(alcove_session) sessions; bool more; };
// The request of scope.get: the rights record of a namespace. One that the caller may not read has none.
struct alcove_scope_get_request { alcove_text namespace; };
// The response of scope.get.
struct alcove_scope_get_response { alcove_scope scope; };
// The request of scope.list: the rights records of namespaces that the caller may read, in their order, page by page, without staged changes.
struct alcove_scope_list_request { alcove_text prefix; alcove_text after; int64_t limit; bool archived; };
// The response of scope.list.
struct alcove_scope_list_response { ALCOVE_LIST(alcove_scope) scopes; alcove_text next; };
// The request of scope.put: stage the creation of a namespace's rights record, by an agent that may write the namespace, or a change by its creator or a caller with the right scope.admin. Nobody grants a right to write that they lack. Namespaces private-AGENT are for that agent.
struct alcove_scope_put_request { alcove_text namespace; bool create; alcove_text *name; alcove_text *description; ALCOVE_LIST(alcove_text) members; alcove_text read; alcove_text write; int64_t *retention_days; bool *archived; };
// The response of scope.put.
struct alcove_scope_put_response { alcove_scope scope; bool created; };
// The request of scope.members: stage the addition and removal of members of a scope, as scope.put does.
struct alcove_scope_members_request { alcove_text namespace; ALCOVE_LIST(alcove_text) add; ALCOVE_LIST(alcove_text) remove; };
// The response of scope.members.
struct alcove_scope_members_response { ALCOVE_LIST(alcove_text) members; };
// The request of scope.delete: stage the deletion of a rights record. What the namespace holds stays closed to all but the owner, until the creator makes the scope again.
struct alcove_scope_delete_request { alcove_text namespace; bool force; };
// The request of identity.delegate: make a key for an agent that works for the caller, with a part of the caller's rights, when the call is committed. It ends with the caller's own key.
struct alcove_identity_delegate_request { alcove_text name; ALCOVE_LIST(alcove_text) namespaces; ALCOVE_LIST(alcove_text) rights; int64_t expires_s; };
// The response of identity.delegate.
struct alcove_identity_delegate_response { alcove_text key; alcove_text id; alcove_text agent; alcove_text expires_at; };
// The request of identity.revoke: end a key that the family made for the same caller, when the call is committed.
struct alcove_identity_revoke_request { alcove_text id; };
// The request of caller.progress: tells how far the call, or the job, has come; acts at once.
struct alcove_caller_progress_request { double done; double total; alcove_text message; };
// The request of job.enqueue: queue a job of its own.
struct alcove_job_enqueue_request { alcove_text job; const alcove_value *payload; double after_s; uint64_t feed_after; };
// The response of job.enqueue.
struct alcove_job_enqueue_response { alcove_text id; };
// The request of job.status: the state of a job.
struct alcove_job_status_request { alcove_text id; };
// The response of job.status.
struct alcove_job_status_response { alcove_text id; alcove_text job; alcove_text state; int64_t attempts; alcove_progress *progress; alcove_text error; const alcove_value *result; alcove_text proposal; };
// The request of job.cancel: cancel a job.
struct alcove_job_cancel_request { alcove_text id; };
// The response of job.cancel.
struct alcove_job_cancel_response { bool cancelled; };
// The request of text.analyze: the terms of texts, as search sees them.
struct alcove_text_analyze_request { ALCOVE_LIST(alcove_text) texts; };
// The response of text.analyze.
struct alcove_text_analyze_response { ALCOVE_LIST(ALCOVE_LIST(alcove_text)) terms; };
// The request of text.count: how many memories, or records, hold each of some terms.
struct alcove_text_count_request { ALCOVE_LIST(alcove_text) terms; ALCOVE_LIST(alcove_text) namespaces; alcove_text collection; alcove_text family; };
// The response of text.count.
struct alcove_text_count_response { int64_t documents; ALCOVE_LIST(int64_t) counts; };
// The request of text.tokens: how many tokens texts have for a language model.
struct alcove_text_tokens_request { ALCOVE_LIST(alcove_text) texts; bool tokens; bool ids; };
// The response of text.tokens.
struct alcove_text_tokens_response { alcove_text encoding; ALCOVE_LIST(int64_t) counts; ALCOVE_LIST(ALCOVE_LIST(alcove_text)) tokens; ALCOVE_LIST(ALCOVE_LIST(int64_t)) ids; };
// The request of text.detokenize: the texts that tokens stand for.
struct alcove_text_detokenize_request { ALCOVE_LIST(ALCOVE_LIST(int64_t)) ids; };
// The response of text.detokenize.
struct alcove_text_detokenize_response { alcove_text encoding; ALCOVE_LIST(alcove_text) texts; };
// The request of embed.texts: vectors of texts.
struct alcove_embed_texts_request { ALCOVE_LIST(alcove_text) texts; alcove_text purpose; bool packed; };
// The response of embed.texts.
struct alcove_embed_texts_response { alcove_text model; int64_t dimensions; ALCOVE_LIST(ALCOVE_LIST(float)) vectors; alcove_text packed; };
// The response of embed.rebuild.
struct alcove_embed_rebuild_response { alcove_text embedder; int64_t queued; };
// The request of namespace.list: the namespaces that have memories, of those that may be read, in order, page by page.
struct alcove_namespace_list_request { alcove_text prefix; alcove_text after; int64_t limit; bool counts; };
// The response of namespace.list.
struct alcove_namespace_list_response { ALCOVE_LIST(alcove_namespace) namespaces; alcove_text next; };
// The request of namespace.delete: stage the deletion of a bounded number of a namespace's memories; history, log and records stay. Refused if retention would drop the deleted memories at once.
struct alcove_namespace_delete_request { alcove_text namespace; int64_t limit; };
// The response of namespace.delete.
struct alcove_namespace_delete_response { int64_t deleted; bool more; };
// The request of status.get: how the memory is, as far as the call may read it.
struct alcove_status_get_request { alcove_text namespace; bool details; };
// The response of status.get.
struct alcove_status_get_response { alcove_text branch; alcove_text namespace; int64_t branches; int64_t memories; int64_t *events; uint64_t version; bool searchable; ALCOVE_LIST(alcove_embedding) embedders; alcove_moment *oldest; alcove_moment *latest; alcove_durability *durability; };
// The request of version.at: the newest version of a branch at a moment.
struct alcove_version_at_request { alcove_text as_of; alcove_text branch; };
// The response of version.at.
struct alcove_version_at_response { uint64_t version; alcove_text timestamp; };
// The request of llm.complete: a completion by a configured language model.
struct alcove_llm_complete_request { alcove_text prompt; alcove_text system; alcove_text endpoint; int64_t max_tokens; double temperature; bool json; };
// The response of llm.complete.
struct alcove_llm_complete_response { alcove_text text; alcove_text model; int64_t tokens_in; int64_t tokens_out; };
// The request of http.fetch: a request to an endpoint that the operator named.
struct alcove_http_fetch_request { alcove_text endpoint; alcove_text method; alcove_text path; ALCOVE_MAP(alcove_text) query; ALCOVE_MAP(alcove_text) headers; alcove_text body; bool base64; bool repeatable; int64_t timeout_ms; };
// The response of http.fetch.
struct alcove_http_fetch_response { int64_t status; ALCOVE_MAP(alcove_text) headers; alcove_text body; };
// The request of file.list: the files below a root, in the order of their paths, page by page; symbolic links, devices and files with several names are left out, and so is all whose name begins with a dot.
struct alcove_file_list_request { alcove_text root; alcove_text folder; alcove_text after; int64_t limit; };
// The response of file.list.
struct alcove_file_list_response { ALCOVE_LIST(alcove_file_entry) files; alcove_text next; int64_t refused; };
// The request of file.read: files below a root.
struct alcove_file_read_request { alcove_text root; ALCOVE_LIST(alcove_text) paths; bool base64; };
// The response of file.read.
struct alcove_file_read_response { ALCOVE_LIST(alcove_file *) files; };
// The request of file.write: write files below a root, each of them whole or not at all; at once, whatever becomes of the request, and not in a dry run. A request that wrote a file is not repeated when it is overtaken.
struct alcove_file_write_request { alcove_text root; ALCOVE_LIST(alcove_file_item) files; bool base64; };
// The response of file.write.
struct alcove_file_write_response { int64_t written; };
// The response of tools.list.
struct alcove_tools_list_response { ALCOVE_LIST(alcove_foreign_tool) tools; };
// The request of tools.call: call another permitted tool inside of the same stage; its errors are passed on.
struct alcove_tools_call_request { alcove_text tool; const alcove_value *arguments; };
// The response of tools.call.
struct alcove_tools_call_response { const alcove_value *result; };
// The request of tools.publish: publish a tool of its own.
struct alcove_tools_publish_request { const alcove_value *tool; };
// The request of tools.withdraw: withdraw a published tool.
struct alcove_tools_withdraw_request { alcove_text name; };
// The request of tools.offered: the tools that the caller may use, in order, page by page: those of the core, then those of the families, the calling one's included.
struct alcove_tools_offered_request { ALCOVE_LIST(alcove_text) families; alcove_text prefix; alcove_text after; int64_t limit; };
// The response of tools.offered.
struct alcove_tools_offered_response { ALCOVE_LIST(alcove_foreign_tool) tools; alcove_text next; };
// The request of tools.usage: how often agents called tools; a caller without the right to every namespace sees only its own calls.
struct alcove_tools_usage_request { int64_t days; ALCOVE_LIST(alcove_text) tools; };
// The response of tools.usage.
struct alcove_tools_usage_response { ALCOVE_LIST(alcove_tool_usage) usage; };
// A piece of what people and models are shown.
struct alcove_content { alcove_text type; alcove_text text; alcove_text data; alcove_text mime_type; alcove_text uri; alcove_text name; };
// A resource in a list.
struct alcove_listed_resource { alcove_text uri; alcove_text name; alcove_text title; alcove_text description; alcove_text mime_type; };
// A message of a prompt.
struct alcove_prompt_message { alcove_text role; alcove_content content; };
// What a tool can ask of the caller's client, and what that answered.
struct alcove_input { ALCOVE_LIST(alcove_text) can; ALCOVE_MAP(const alcove_value *) answers; alcove_text state; };
// A question to the caller's client.
struct alcove_input_request { alcove_text ask; const alcove_value *params; };
// The context of a request: its family, caller, branch and time.
struct alcove_context { alcove_text family; alcove_text caller; alcove_text namespace; alcove_text branch; alcove_text now; alcove_text request_id; bool dry_run; bool operator; alcove_text proposal; };
// A memory or record that is being stored or changed, or that was.
struct alcove_entry { alcove_text namespace; alcove_text collection; alcove_text key; alcove_text change; uint64_t version; bool deleted; alcove_text agent; alcove_text family; alcove_text state; const alcove_value *value; ALCOVE_LIST(alcove_text) tags; alcove_text type; double *importance; ALCOVE_MAP(const alcove_value *) metadata; ALCOVE_LIST(alcove_text) links; ALCOVE_LIST(alcove_text) supersedes; };
// A merge of branches.
struct alcove_merge_notice { alcove_text source; alcove_text target; uint64_t version; alcove_text agent; int64_t count; ALCOVE_LIST(alcove_merge_key) keys; };
// A memory that a merge changed.
struct alcove_merge_key { alcove_text namespace; alcove_text key; bool deleted; };
// A change of an entry by a store hook. Absent fields stay as they are.
struct alcove_change { const alcove_value *value; ALCOVE_LIST(alcove_text) tags; alcove_text *type; double *importance; ALCOVE_MAP(const alcove_value *) metadata; };
// The request of kind 1: a tool call.
struct alcove_tool_request { alcove_text tool; const alcove_value *arguments; const alcove_value *config; alcove_input *input; alcove_context context; };
// The request of kind 2: a hook or a job.
struct alcove_hook_request { alcove_text hook; ALCOVE_LIST(alcove_entry) entries; alcove_merge_notice *merge; alcove_session *session; alcove_text job; const alcove_value *payload; const alcove_value *config; alcove_context context; };
// The result of a store hook: changes, a proposal, or a refusal.
struct alcove_store_result { ALCOVE_LIST(alcove_change *) entries; alcove_text *refuse; alcove_text *propose; };
// The JSON in a request of kind 3.
struct alcove_score_params { const alcove_value *config; alcove_text now; alcove_text query; alcove_context context; };
// The request of kind 4: texts to embed.
struct alcove_embed_request { ALCOVE_LIST(alcove_text) texts; alcove_text purpose; const alcove_value *config; alcove_context context; };
// The result of a tool with `content`. It may have further members.
struct alcove_content_result { ALCOVE_LIST(alcove_content) content; };
// The result of a tool that answers for a resource. Without contents there is none.
struct alcove_resource_result { ALCOVE_LIST(alcove_content) contents; };
// The result of a tool that lists resources.
struct alcove_resource_list { ALCOVE_LIST(alcove_listed_resource) resources; alcove_text next; };
// The result of a tool that answers for a prompt.
struct alcove_prompt_result { alcove_text description; ALCOVE_LIST(alcove_prompt_message) messages; };
// The result of a tool that completes arguments. Its own arguments are `argument`, the name; `value`, what was typed; and `given`, an object of other arguments.
struct alcove_completion { ALCOVE_LIST(alcove_text) values; int64_t total; bool more; };
// The details of an error with the code input_required.
struct alcove_input_questions { ALCOVE_MAP(alcove_input_request) requests; alcove_text state; };
// The body of an error, in either direction.
struct alcove_error { alcove_text code; alcove_text message; bool retryable; ALCOVE_MAP(const alcove_value *) details; };
extern const alcove_type alcove_is_counters;
extern const alcove_type alcove_is_memory_fields;
extern const alcove_type alcove_is_memory;
extern const alcove_type alcove_is_memory_id;
extern const alcove_type alcove_is_file;
extern const alcove_type alcove_is_file_entry;
extern const alcove_type alcove_is_file_item;
extern const alcove_type alcove_is_quota_use;
extern const alcove_type alcove_is_memory_item;
extern const alcove_type alcove_is_memory_patch;
extern const alcove_type alcove_is_field_test;
extern const alcove_type alcove_is_memory_filter;
extern const alcove_type alcove_is_memory_hit;
extern const alcove_type alcove_is_record;
extern const alcove_type alcove_is_record_collection;
extern const alcove_type alcove_is_record_filter;
extern const alcove_type alcove_is_record_item;
extern const alcove_type alcove_is_record_hit;
extern const alcove_type alcove_is_record_test;
extern const alcove_type alcove_is_record_neighbor;
extern const alcove_type alcove_is_event;
extern const alcove_type alcove_is_notice;
extern const alcove_type alcove_is_branch;
extern const alcove_type alcove_is_difference;
extern const alcove_type alcove_is_power;
extern const alcove_type alcove_is_progress;
extern const alcove_type alcove_is_setting_state;
extern const alcove_type alcove_is_setting_change;
extern const alcove_type alcove_is_setting_changed;
extern const alcove_type alcove_is_setting_version;
extern const alcove_type alcove_is_setting_rule;
extern const alcove_type alcove_is_namespace;
extern const alcove_type alcove_is_moment;
extern const alcove_type alcove_is_durability;
extern const alcove_type alcove_is_embedding;
extern const alcove_type alcove_is_missed;
extern const alcove_type alcove_is_foreign_tool;
extern const alcove_type alcove_is_recall;
extern const alcove_type alcove_is_recalled_fact;
extern const alcove_type alcove_is_tool_usage;
extern const alcove_type alcove_is_scope;
extern const alcove_type alcove_is_session;
extern const alcove_type alcove_is_memory_get_request;
extern const alcove_type alcove_is_memory_get_response;
extern const alcove_type alcove_is_memory_states_request;
extern const alcove_type alcove_is_memory_states_response;
extern const alcove_type alcove_is_memory_list_request;
extern const alcove_type alcove_is_memory_list_response;
extern const alcove_type alcove_is_memory_namespaces_response;
extern const alcove_type alcove_is_memory_history_request;
extern const alcove_type alcove_is_memory_history_response;
extern const alcove_type alcove_is_recall_get_request;
extern const alcove_type alcove_is_recall_get_response;
extern const alcove_type alcove_is_memory_search_request;
extern const alcove_type alcove_is_memory_search_response;
extern const alcove_type alcove_is_memory_pairs_request;
extern const alcove_type alcove_is_memory_pairs_response;
extern const alcove_type alcove_is_memory_put_request;
extern const alcove_type alcove_is_memory_put_response;
extern const alcove_type alcove_is_memory_patch_request;
extern const alcove_type alcove_is_memory_patch_response;
extern const alcove_type alcove_is_memory_delete_request;
extern const alcove_type alcove_is_memory_delete_response;
extern const alcove_type alcove_is_memory_touch_request;
extern const alcove_type alcove_is_memory_touch_response;
extern const alcove_type alcove_is_record_get_request;
extern const alcove_type alcove_is_record_get_response;
extern const alcove_type alcove_is_record_put_request;
extern const alcove_type alcove_is_record_put_response;
extern const alcove_type alcove_is_record_delete_request;
extern const alcove_type alcove_is_record_delete_response;
extern const alcove_type alcove_is_record_list_request;
extern const alcove_type alcove_is_record_list_response;
extern const alcove_type alcove_is_record_scan_request;
extern const alcove_type alcove_is_record_scan_response;
extern const alcove_type alcove_is_record_history_request;
extern const alcove_type alcove_is_record_history_response;
extern const alcove_type alcove_is_record_search_request;
extern const alcove_type alcove_is_record_search_response;
extern const alcove_type alcove_is_record_nearest_request;
extern const alcove_type alcove_is_record_nearest_response;
extern const alcove_type alcove_is_record_collections_request;
extern const alcove_type alcove_is_record_collections_response;
extern const alcove_type alcove_is_record_append_request;
extern const alcove_type alcove_is_record_append_response;
extern const alcove_type alcove_is_log_append_request;
extern const alcove_type alcove_is_log_append_response;
extern const alcove_type alcove_is_log_read_request;
extern const alcove_type alcove_is_log_read_response;
extern const alcove_type alcove_is_log_verify_request;
extern const alcove_type alcove_is_log_verify_response;
extern const alcove_type alcove_is_feed_read_request;
extern const alcove_type alcove_is_feed_read_response;
extern const alcove_type alcove_is_feed_emit_request;
extern const alcove_type alcove_is_branch_list_response;
extern const alcove_type alcove_is_branch_diff_request;
extern const alcove_type alcove_is_branch_diff_response;
extern const alcove_type alcove_is_branch_fork_request;
extern const alcove_type alcove_is_branch_fork_response;
extern const alcove_type alcove_is_branch_merge_request;
extern const alcove_type alcove_is_branch_merge_response;
extern const alcove_type alcove_is_branch_delete_request;
extern const alcove_type alcove_is_link_list_request;
extern const alcove_type alcove_is_link_list_response;
extern const alcove_type alcove_is_link_add_request;
extern const alcove_type alcove_is_link_add_response;
extern const alcove_type alcove_is_link_remove_request;
extern const alcove_type alcove_is_link_remove_response;
extern const alcove_type alcove_is_config_get_request;
extern const alcove_type alcove_is_config_get_response;
extern const alcove_type alcove_is_config_list_request;
extern const alcove_type alcove_is_config_list_response;
extern const alcove_type alcove_is_config_put_request;
extern const alcove_type alcove_is_config_put_response;
extern const alcove_type alcove_is_config_history_request;
extern const alcove_type alcove_is_config_history_response;
extern const alcove_type alcove_is_config_rollback_request;
extern const alcove_type alcove_is_config_rollback_response;
extern const alcove_type alcove_is_config_undo_request;
extern const alcove_type alcove_is_config_undo_response;
extern const alcove_type alcove_is_config_rules_response;
extern const alcove_type alcove_is_config_set_request;
extern const alcove_type alcove_is_config_set_response;
extern const alcove_type alcove_is_caller_get_response;
extern const alcove_type alcove_is_quota_list_request;
extern const alcove_type alcove_is_quota_list_response;
extern const alcove_type alcove_is_caller_can_request;
extern const alcove_type alcove_is_caller_can_response;
extern const alcove_type alcove_is_session_list_request;
extern const alcove_type alcove_is_session_list_response;
extern const alcove_type alcove_is_scope_get_request;
extern const alcove_type alcove_is_scope_get_response;
extern const alcove_type alcove_is_scope_list_request;
extern const alcove_type alcove_is_scope_list_response;
extern const alcove_type alcove_is_scope_put_request;
extern const alcove_type alcove_is_scope_put_response;
extern const alcove_type alcove_is_scope_members_request;
extern const alcove_type alcove_is_scope_members_response;
extern const alcove_type alcove_is_scope_delete_request;
extern const alcove_type alcove_is_identity_delegate_request;
extern const alcove_type alcove_is_identity_delegate_response;
extern const alcove_type alcove_is_identity_revoke_request;
extern const alcove_type alcove_is_caller_progress_request;
extern const alcove_type alcove_is_job_enqueue_request;
extern const alcove_type alcove_is_job_enqueue_response;
extern const alcove_type alcove_is_job_status_request;
extern const alcove_type alcove_is_job_status_response;
extern const alcove_type alcove_is_job_cancel_request;
extern const alcove_type alcove_is_job_cancel_response;
extern const alcove_type alcove_is_text_analyze_request;
extern const alcove_type alcove_is_text_analyze_response;
extern const alcove_type alcove_is_text_count_request;
extern const alcove_type alcove_is_text_count_response;
extern const alcove_type alcove_is_text_tokens_request;
extern const alcove_type alcove_is_text_tokens_response;
extern const alcove_type alcove_is_text_detokenize_request;
extern const alcove_type alcove_is_text_detokenize_response;
extern const alcove_type alcove_is_embed_texts_request;
extern const alcove_type alcove_is_embed_texts_response;
extern const alcove_type alcove_is_embed_rebuild_response;
extern const alcove_type alcove_is_namespace_list_request;
extern const alcove_type alcove_is_namespace_list_response;
extern const alcove_type alcove_is_namespace_delete_request;
extern const alcove_type alcove_is_namespace_delete_response;
extern const alcove_type alcove_is_status_get_request;
extern const alcove_type alcove_is_status_get_response;
extern const alcove_type alcove_is_version_at_request;
extern const alcove_type alcove_is_version_at_response;
extern const alcove_type alcove_is_llm_complete_request;
extern const alcove_type alcove_is_llm_complete_response;
extern const alcove_type alcove_is_http_fetch_request;
extern const alcove_type alcove_is_http_fetch_response;
extern const alcove_type alcove_is_file_list_request;
extern const alcove_type alcove_is_file_list_response;
extern const alcove_type alcove_is_file_read_request;
extern const alcove_type alcove_is_file_read_response;
extern const alcove_type alcove_is_file_write_request;
extern const alcove_type alcove_is_file_write_response;
extern const alcove_type alcove_is_tools_list_response;
extern const alcove_type alcove_is_tools_call_request;
extern const alcove_type alcove_is_tools_call_response;
extern const alcove_type alcove_is_tools_publish_request;
extern const alcove_type alcove_is_tools_withdraw_request;
extern const alcove_type alcove_is_tools_offered_request;
extern const alcove_type alcove_is_tools_offered_response;
extern const alcove_type alcove_is_tools_usage_request;
extern const alcove_type alcove_is_tools_usage_response;
extern const alcove_type alcove_is_content;
extern const alcove_type alcove_is_listed_resource;
extern const alcove_type alcove_is_prompt_message;
extern const alcove_type alcove_is_input;
extern const alcove_type alcove_is_input_request;
extern const alcove_type alcove_is_context;
extern const alcove_type alcove_is_entry;
extern const alcove_type alcove_is_merge_notice;
extern const alcove_type alcove_is_merge_key;
extern const alcove_type alcove_is_change;
extern const alcove_type alcove_is_tool_request;
extern const alcove_type alcove_is_hook_request;
extern const alcove_type alcove_is_store_result;
extern const alcove_type alcove_is_score_params;
extern const alcove_type alcove_is_embed_request;
extern const alcove_type alcove_is_content_result;
extern const alcove_type alcove_is_resource_result;
extern const alcove_type alcove_is_resource_list;
extern const alcove_type alcove_is_prompt_result;
extern const alcove_type alcove_is_completion;
extern const alcove_type alcove_is_input_questions;
extern const alcove_type alcove_is_error;

// memory.get: memories by their keys.
alcove_status alcove_op_memory_get(alcove_call *c, const alcove_memory_get_request *request, alcove_memory_get_response *response);

// memory.states: the states of memories by their keys, and their values.
alcove_status alcove_op_memory_states(alcove_call *c, const alcove_memory_states_request *request, alcove_memory_states_response *response);

// memory.list: memories of a namespace, page by page: in the order of their keys, or by their fields and in another order.
alcove_status alcove_op_memory_list(alcove_call *c, const alcove_memory_list_request *request, alcove_memory_list_response *response);

// memory.namespaces: the namespaces that have memories, of those that may be read.
alcove_status alcove_op_memory_namespaces(alcove_call *c, alcove_memory_namespaces_response *response);

// memory.history: the versions of one memory, the newest first.
alcove_status alcove_op_memory_history(alcove_call *c, const alcove_memory_history_request *request, alcove_memory_history_response *response);

// recall.get: what a recall by query found, for feedback about it: the caller's own recalls, or with the right `act_as` all, of the last 90 days, if caller and family may read every namespace in it.
alcove_status alcove_op_recall_get(alcove_call *c, const alcove_recall_get_request *request, alcove_recall_get_response *response);

// memory.search: lexical, semantic or hybrid search; staged changes are not found.
alcove_status alcove_op_memory_search(alcove_call *c, const alcove_memory_search_request *request, alcove_memory_search_response *response);

// memory.pairs: pairs of memories of a namespace that share many words of their texts, by the words' stems: the rarer a word is there, the more it weighs. Keys, tags and words such as `the` do not count, and staged changes are not seen. A word that very many memories have finds no pairs by itself.
alcove_status alcove_op_memory_pairs(alcove_call *c, const alcove_memory_pairs_request *request, alcove_memory_pairs_response *response);

// memory.put: stage memories.
alcove_status alcove_op_memory_put(alcove_call *c, const alcove_memory_put_request *request, alcove_memory_put_response *response);

// memory.patch: stage changes of some fields of memories.
alcove_status alcove_op_memory_patch(alcove_call *c, const alcove_memory_patch_request *request, alcove_memory_patch_response *response);

// memory.delete: stage deletions of memories.
alcove_status alcove_op_memory_delete(alcove_call *c, const alcove_memory_delete_request *request, alcove_memory_delete_response *response);

// memory.touch: add to the counters of memories.
alcove_status alcove_op_memory_touch(alcove_call *c, const alcove_memory_touch_request *request, alcove_memory_touch_response *response);

// record.get: records of one of its own collections by their keys.
alcove_status alcove_op_record_get(alcove_call *c, const alcove_record_get_request *request, alcove_record_get_response *response);

// record.put: stage records, or commit them at once.
alcove_status alcove_op_record_put(alcove_call *c, const alcove_record_put_request *request, alcove_record_put_response *response);

// record.delete: stage deletions of records.
alcove_status alcove_op_record_delete(alcove_call *c, const alcove_record_delete_request *request, alcove_record_delete_response *response);

// record.list: records, page by page, in the order of their keys; with `filters` or `order`, those that declared indexes select, in their order.
alcove_status alcove_op_record_list(alcove_call *c, const alcove_record_list_request *request, alcove_record_list_response *response);

// record.scan: the keys of records that begin with one of several prefixes, and their values, page by page, in the order of the keys.
alcove_status alcove_op_record_scan(alcove_call *c, const alcove_record_scan_request *request, alcove_record_scan_response *response);

// record.history: the versions of one record, the newest first.
alcove_status alcove_op_record_history(alcove_call *c, const alcove_record_history_request *request, alcove_record_history_response *response);

// record.search: search in a searchable collection; staged changes are not found.
alcove_status alcove_op_record_search(alcove_call *c, const alcove_record_search_request *request, alcove_record_search_response *response);

// record.nearest: the records of a collection whose vectors are nearest to one, by an exact scan, staged ones included.
alcove_status alcove_op_record_nearest(alcove_call *c, const alcove_record_nearest_request *request, alcove_record_nearest_response *response);

// record.collections: the collections whose records the call may read, its own and those of other families, by family and name.
alcove_status alcove_op_record_collections(alcove_call *c, const alcove_record_collections_request *request, alcove_record_collections_response *response);

// record.append: stage records with the next sequence numbers as their keys.
alcove_status alcove_op_record_append(alcove_call *c, const alcove_record_append_request *request, alcove_record_append_response *response);

// log.append: stage an event of the log, which gets its sequence number at the commit.
alcove_status alcove_op_log_append(alcove_call *c, const alcove_log_append_request *request, alcove_log_append_response *response);

// log.read: events of the log, the oldest first.
alcove_status alcove_op_log_read(alcove_call *c, const alcove_log_read_request *request, alcove_log_read_response *response);

// log.verify: check the chain of a log page by page: that no event is missing, changed or out of order.
alcove_status alcove_op_log_verify(alcove_call *c, const alcove_log_verify_request *request, alcove_log_verify_response *response);

// feed.read: changes since a watermark.
alcove_status alcove_op_feed_read(alcove_call *c, const alcove_feed_read_request *request, alcove_feed_read_response *response);

// feed.emit: stage an event of the feed.
alcove_status alcove_op_feed_emit(alcove_call *c, const alcove_feed_emit_request *request);

// branch.list: the branches.
alcove_status alcove_op_branch_list(alcove_call *c, alcove_branch_list_response *response);

// branch.diff: what differs between two branches.
alcove_status alcove_op_branch_diff(alcove_call *c, const alcove_branch_diff_request *request, alcove_branch_diff_response *response);

// branch.fork: make a branch, after the commit.
alcove_status alcove_op_branch_fork(alcove_call *c, const alcove_branch_fork_request *request, alcove_branch_fork_response *response);

// branch.merge: merge a branch after the commit, or preview that.
alcove_status alcove_op_branch_merge(alcove_call *c, const alcove_branch_merge_request *request, alcove_branch_merge_response *response);

// branch.delete: delete a branch, after the commit.
alcove_status alcove_op_branch_delete(alcove_call *c, const alcove_branch_delete_request *request);

// link.list: links from and to a memory; a memory of another namespace is `namespace#key`, and is omitted if it may not be read.
alcove_status alcove_op_link_list(alcove_call *c, const alcove_link_list_request *request, alcove_link_list_response *response);

// link.add: stage links.
alcove_status alcove_op_link_add(alcove_call *c, const alcove_link_add_request *request, alcove_link_add_response *response);

// link.remove: stage the removal of links.
alcove_status alcove_op_link_remove(alcove_call *c, const alcove_link_remove_request *request, alcove_link_remove_response *response);

// config.get: its own configuration, or settings by their keys with where their values come from.
alcove_status alcove_op_config_get(alcove_call *c, const alcove_config_get_request *request, alcove_config_get_response *response);

// config.list: settings that families share, in the order of their keys, page by page.
alcove_status alcove_op_config_list(alcove_call *c, const alcove_config_list_request *request, alcove_config_list_response *response);

// config.put: stage changes of settings that families share: all, or with any fault none.
alcove_status alcove_op_config_put(alcove_call *c, const alcove_config_put_request *request, alcove_config_put_response *response);

// config.history: the changes of a shared setting in a scope, the newest first.
alcove_status alcove_op_config_history(alcove_call *c, const alcove_config_history_request *request, alcove_config_history_response *response);

// config.rollback: stage the value that a shared setting had at a version, as a new version.
alcove_status alcove_op_config_rollback(alcove_call *c, const alcove_config_rollback_request *request, alcove_config_rollback_response *response);

// config.undo: stage the values that all keys of a change had before it, as new versions: all, or where one was changed since none.
alcove_status alcove_op_config_undo(alcove_call *c, const alcove_config_undo_request *request, alcove_config_undo_response *response);

// config.rules: the rules about settings that the family may read.
alcove_status alcove_op_config_rules(alcove_call *c, alcove_config_rules_response *response);

// config.set: stage a change of its own configuration.
alcove_status alcove_op_config_set(alcove_call *c, const alcove_config_set_request *request, alcove_config_set_response *response);

// caller.get: the caller, and the powers of the call.
alcove_status alcove_op_caller_get(alcove_call *c, alcove_caller_get_response *response);

// quota.list: the namespaces with a quota that the caller may read, and what agents stored there; most callers see only themselves.
alcove_status alcove_op_quota_list(alcove_call *c, const alcove_quota_list_request *request, alcove_quota_list_response *response);

// caller.can: whether the caller may do something, apart from what the family may.
alcove_status alcove_op_caller_can(alcove_call *c, const alcove_caller_can_request *request, alcove_caller_can_response *response);

// session.list: the open sessions: to the owner all, to the holder of a key those of its agent, and of agents that are members of the same scopes; or those in a namespace.
alcove_status alcove_op_session_list(alcove_call *c, const alcove_session_list_request *request, alcove_session_list_response *response);

// scope.get: the rights record of a namespace. One that the caller may not read has none.
alcove_status alcove_op_scope_get(alcove_call *c, const alcove_scope_get_request *request, alcove_scope_get_response *response);

// scope.list: the rights records of namespaces that the caller may read, in their order, page by page, without staged changes.
alcove_status alcove_op_scope_list(alcove_call *c, const alcove_scope_list_request *request, alcove_scope_list_response *response);

// scope.put: stage the creation of a namespace's rights record, by an agent that may write the namespace, or a change by its creator or a caller with the right scope.admin. Nobody grants a right to write that they lack. Namespaces private-AGENT are for that agent.
alcove_status alcove_op_scope_put(alcove_call *c, const alcove_scope_put_request *request, alcove_scope_put_response *response);

// scope.members: stage the addition and removal of members of a scope, as scope.put does.
alcove_status alcove_op_scope_members(alcove_call *c, const alcove_scope_members_request *request, alcove_scope_members_response *response);

// scope.delete: stage the deletion of a rights record. What the namespace holds stays closed to all but the owner, until the creator makes the scope again.
alcove_status alcove_op_scope_delete(alcove_call *c, const alcove_scope_delete_request *request);

// identity.delegate: make a key for an agent that works for the caller, with a part of the caller's rights, when the call is committed. It ends with the caller's own key.
alcove_status alcove_op_identity_delegate(alcove_call *c, const alcove_identity_delegate_request *request, alcove_identity_delegate_response *response);

// identity.revoke: end a key that the family made for the same caller, when the call is committed.
alcove_status alcove_op_identity_revoke(alcove_call *c, const alcove_identity_revoke_request *request);

// caller.progress: tells how far the call, or the job, has come; acts at once.
alcove_status alcove_op_caller_progress(alcove_call *c, const alcove_caller_progress_request *request);

// job.enqueue: queue a job of its own.
alcove_status alcove_op_job_enqueue(alcove_call *c, const alcove_job_enqueue_request *request, alcove_job_enqueue_response *response);

// job.status: the state of a job.
alcove_status alcove_op_job_status(alcove_call *c, const alcove_job_status_request *request, alcove_job_status_response *response);

// job.cancel: cancel a job.
alcove_status alcove_op_job_cancel(alcove_call *c, const alcove_job_cancel_request *request, alcove_job_cancel_response *response);

// text.analyze: the terms of texts, as search sees them.
alcove_status alcove_op_text_analyze(alcove_call *c, const alcove_text_analyze_request *request, alcove_text_analyze_response *response);

// text.count: how many memories, or records, hold each of some terms.
alcove_status alcove_op_text_count(alcove_call *c, const alcove_text_count_request *request, alcove_text_count_response *response);

// text.tokens: how many tokens texts have for a language model.
alcove_status alcove_op_text_tokens(alcove_call *c, const alcove_text_tokens_request *request, alcove_text_tokens_response *response);

// text.detokenize: the texts that tokens stand for.
alcove_status alcove_op_text_detokenize(alcove_call *c, const alcove_text_detokenize_request *request, alcove_text_detokenize_response *response);

// embed.texts: vectors of texts.
alcove_status alcove_op_embed_texts(alcove_call *c, const alcove_embed_texts_request *request, alcove_embed_texts_response *response);

// embed.rebuild: have all vectors made again, after the commit and at most once in ten minutes; the old ones serve until then.
alcove_status alcove_op_embed_rebuild(alcove_call *c, alcove_embed_rebuild_response *response);

// namespace.list: the namespaces that have memories, of those that may be read, in order, page by page.
alcove_status alcove_op_namespace_list(alcove_call *c, const alcove_namespace_list_request *request, alcove_namespace_list_response *response);

// namespace.delete: stage the deletion of a bounded number of a namespace's memories; history, log and records stay. Refused if retention would drop the deleted memories at once.
alcove_status alcove_op_namespace_delete(alcove_call *c, const alcove_namespace_delete_request *request, alcove_namespace_delete_response *response);

// status.get: how the memory is, as far as the call may read it.
alcove_status alcove_op_status_get(alcove_call *c, const alcove_status_get_request *request, alcove_status_get_response *response);

// version.at: the newest version of a branch at a moment.
alcove_status alcove_op_version_at(alcove_call *c, const alcove_version_at_request *request, alcove_version_at_response *response);

// llm.complete: a completion by a configured language model.
alcove_status alcove_op_llm_complete(alcove_call *c, const alcove_llm_complete_request *request, alcove_llm_complete_response *response);

// http.fetch: a request to an endpoint that the operator named.
alcove_status alcove_op_http_fetch(alcove_call *c, const alcove_http_fetch_request *request, alcove_http_fetch_response *response);

// file.list: the files below a root, in the order of their paths, page by page; symbolic links, devices and files with several names are left out, and so is all whose name begins with a dot.
alcove_status alcove_op_file_list(alcove_call *c, const alcove_file_list_request *request, alcove_file_list_response *response);

// file.read: files below a root.
alcove_status alcove_op_file_read(alcove_call *c, const alcove_file_read_request *request, alcove_file_read_response *response);

// file.write: write files below a root, each of them whole or not at all; at once, whatever becomes of the request, and not in a dry run. A request that wrote a file is not repeated when it is overtaken.
alcove_status alcove_op_file_write(alcove_call *c, const alcove_file_write_request *request, alcove_file_write_response *response);

// tools.list: tools of other families, and of the core, that may be called.
alcove_status alcove_op_tools_list(alcove_call *c, alcove_tools_list_response *response);

// tools.call: call another permitted tool inside of the same stage; its errors are passed on.
alcove_status alcove_op_tools_call(alcove_call *c, const alcove_tools_call_request *request, alcove_tools_call_response *response);

// tools.publish: publish a tool of its own.
alcove_status alcove_op_tools_publish(alcove_call *c, const alcove_tools_publish_request *request);

// tools.withdraw: withdraw a published tool.
alcove_status alcove_op_tools_withdraw(alcove_call *c, const alcove_tools_withdraw_request *request);

// tools.offered: the tools that the caller may use, in order, page by page: those of the core, then those of the families, the calling one's included.
alcove_status alcove_op_tools_offered(alcove_call *c, const alcove_tools_offered_request *request, alcove_tools_offered_response *response);

// tools.usage: how often agents called tools; a caller without the right to every namespace sees only its own calls.
alcove_status alcove_op_tools_usage(alcove_call *c, const alcove_tools_usage_request *request, alcove_tools_usage_response *response);
// generated: end

// A request.
struct alcove_call {
  alcove_context context;
  const alcove_value *config;
  alcove_error error; // of the operation or handler that failed last
  const struct alcove_host *host;
};

// What carries operations out, of a test. call returns false for an error body.
typedef struct alcove_host {
  bool (*call)(void *self, alcove_text op, alcove_text request, alcove_text *answer);
  void (*log)(void *self, alcove_text line);
  void *self;
} alcove_host;

// What a store hook decides: the change of each entry, or why nothing is stored, or why the write is proposed. ALCOVE_FAILED is a failure
// of the hook, and no refusal.
typedef alcove_store_result alcove_decision;

typedef struct {
  alcove_text query, now;
  size_t count, features;
  const float *columns; // columns[feature * count + candidate]; NaN: missing
  float *scores;        // count zeros, to be filled in
} alcove_ranking;

typedef struct {
  alcove_text purpose; // document or query
  const alcove_text *texts;
  size_t count, dimensions;
  float *vectors; // count * dimensions zeros, to be filled in
} alcove_texts;

typedef ALCOVE_LIST(alcove_entry) alcove_entries;

// A tool or a job. in and out are of the types that it names; out is zero.
typedef struct {
  const char *name;
  alcove_status (*handle)(alcove_call *c, const void *in, void *out);
  const alcove_type *in, *out;
} alcove_handler;

typedef struct {
  const alcove_handler *tools, *jobs; // each ends with an empty one
  alcove_status (*published)(alcove_call *c, alcove_text tool, const alcove_value *arguments, const alcove_value **result);
  alcove_status (*store)(alcove_call *c, const alcove_entry *entries, size_t n, alcove_decision *decision);
  alcove_status (*stored)(alcove_call *c, const alcove_entry *entries, size_t n);
  alcove_status (*merged)(alcove_call *c, const alcove_merge_notice *merge);
  alcove_status (*session_end)(alcove_call *c, const alcove_session *session);
  alcove_status (*rank)(alcove_call *c, alcove_ranking *r);
  alcove_status (*embed)(alcove_call *c, alcove_texts *t);
  size_t dimensions; // of embed
} alcove_family;

// The family that a program serves. Programs define it.
extern const alcove_family alcove_served;

// Serves one request. The result is the answer, or the error body of ALCOVE_FAILED.
alcove_status alcove_serve(const alcove_family *f, const alcove_host *host, uint32_t kind, alcove_text request, alcove_text *result);

// Zeroed memory of the request. It does not return without.
void *alcove_alloc(size_t size);
// Frees all of it, in native tests.
void alcove_release(void);

// Sets the error of a call, and returns ALCOVE_FAILED. The message is made by alcove_format.
alcove_status alcove_fail(alcove_call *c, const char *code, const char *format, ...);
// Decide, for a store hook.
void alcove_refuse(alcove_decision *d, const char *format, ...);
void alcove_propose(alcove_decision *d, const char *format, ...);
// Values that outlive a function, for fields that are pointers.
double *alcove_float(double v);
alcove_text *alcove_keep(alcove_text t);
// Ends the request with an error that has the text and the position.
#define alcove_panic(text) alcove_panic_at(text, __FILE__, __LINE__)
_Noreturn void alcove_panic_at(const char *text, const char *file, int line);
// Writes one line to the log.
void alcove_log(alcove_call *c, const char *format, ...);

// %s is a const char *, %t an alcove_text, %d an int, %l an int64_t, %g a double; %% is a percent sign.
alcove_text alcove_format(const char *format, ...);
alcove_text alcove_vformat(const char *format, va_list arguments);
alcove_text alcove_of(const char *zero_terminated);
bool alcove_equal(alcove_text a, const char *b);
bool alcove_same(alcove_text a, alcove_text b);

// Parses JSON; NULL: it is malformed, or deeper than 200 levels.
const alcove_value *alcove_parse(alcove_text json);
// The member of an object; NULL where there is none, and of NULL.
const alcove_value *alcove_get(const alcove_value *object, const char *name);
const alcove_value *alcove_string(alcove_text text);
const alcove_value *alcove_number(double v);
// The value's text or number; empty and 0 for all others, and NULL.
alcove_text alcove_text_of(const alcove_value *v);
double alcove_number_of(const alcove_value *v);
// Encodes a C value of a type, and decodes one; the error says what was wanted, and is empty where all is well.
alcove_text alcove_encode(const alcove_type *type, const void *value);
alcove_text alcove_decode(const alcove_type *type, const alcove_value *v, void *into);

// Runs an operation by its name; alcove_op_NAME are typed.
alcove_status alcove_exchange(alcove_call *c, const char *op, const alcove_type *in, const void *request, const alcove_type *out, void *response);

#endif
