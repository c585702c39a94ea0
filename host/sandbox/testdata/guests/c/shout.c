// Answers a tool call with its text in capital letters, and with the family's configuration.

#define IMPORT(name) __attribute__((import_module("alcove"), import_name(#name)))
#define EXPORT(name) __attribute__((export_name(#name)))

IMPORT(read) int alcove_read(int channel, void *to, unsigned cap);
IMPORT(write) int alcove_write(int channel, const void *from, unsigned len);
IMPORT(call) int alcove_call(const char *op, unsigned op_len, const void *request, unsigned len);

enum { request_channel = 0, response_channel = 1, result_channel = 0, log_channel = 1 };

static char request[65536];
static char response[65536];

static void put(const char *text) {
  unsigned len = 0;
  while (text[len]) len++;
  alcove_write(result_channel, text, len);
}

static unsigned receive(int channel, char *to, unsigned cap) {
  unsigned len = 0;
  for (int n; (n = alcove_read(channel, to + len, cap - len)) > 0;) len += n;
  return len;
}

// find gives where the value of a string field begins; 0: nowhere.
static unsigned find(const char *json, unsigned len, const char *field) {
  for (unsigned i = 0; i < len; i++) {
    unsigned j = 0;
    while (field[j] && i + j < len && json[i + j] == field[j]) j++;
    if (!field[j]) return i + j;
  }
  return 0;
}

EXPORT(alcove_handle) int alcove_handle(int kind, unsigned waiting) {
  (void)kind, (void)waiting;
  unsigned len = receive(request_channel, request, sizeof request);
  unsigned from = find(request, len, "\"text\":\"");
  if (!from) {
    put("{\"code\":\"invalid_argument\",\"message\":\"give a text\"}");
    return 1;
  }
  unsigned to = from;
  for (; to < len && request[to] != '"'; to++)
    if (request[to] >= 'a' && request[to] <= 'z') request[to] -= 'a' - 'A';
  alcove_write(log_channel, "shouting", 8);
  alcove_call("config.get", 10, "{}", 2); // what comes back is JSON, also when it is an error
  unsigned answered = receive(response_channel, response, sizeof response);
  put("{\"text\":\"");
  alcove_write(result_channel, request + from, to - from);
  put("\",\"config\":");
  alcove_write(result_channel, response, answered);
  put("}");
  return 0;
}
