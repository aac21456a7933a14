/* SPDX-License-Identifier: Apache-2.0 */
/* usage: mrc-api-suite [--list] [--seconds N] [--devices NAME[,NAME]] [PATTERN...]
 *
 * Runs tests whose name fits one of the patterns of fnmatch, all without one. A line for each: verdict, name, seconds,
 * what was wrong; fields are parted by tabs. The library is the one that LD_PRELOAD names; `mrc api test` calls this,
 * and makes reports of it. Exit 0: it has run them, whatever came of it. */
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"

enum { kMaxTests = 1024, kText = 1000, kFailed = 1, kSkipped = 77 };

struct test {
  char name[100];
  enum basis basis;
  const char *source, *sentence;
  void (*run)(const struct row*);
  const struct row* row;
};

static struct test tests[kMaxTests];
static size_t test_count;
static int report = -1; /* where a test says how it ended */
static char devices[2][64];

static void add_one(const char* name, enum basis basis, const char* source, const char* sentence,
                    void (*run)(const struct row*), const struct row* row) {
  if (test_count == kMaxTests) abort();
  struct test* t = &tests[test_count++];
  snprintf(t->name, sizeof t->name, "%s", name);
  t->basis = basis;
  t->source = source;
  t->sentence = sentence;
  t->run = run;
  t->row = row;
}

void add_test(const char* group, const char* name, enum basis basis, const char* source, const char* sentence,
              void (*run)(const struct row*), const struct row* rows, size_t count) {
  char whole[100];
  for (size_t i = 0; i < (rows == NULL ? 1 : count); ++i) {
    snprintf(whole, sizeof whole, "%s/%s%s%s", group, name, rows == NULL ? "" : "/", rows == NULL ? "" : rows[i].name);
    add_one(whole, basis, source, sentence, run, rows == NULL ? NULL : &rows[i]);
  }
}

static void tell(const char* text) {
  if (write(report, text, strlen(text)) < 0) _exit(kFailed);
}

void fail_test(const char* file, int line, const char* format, ...) {
  char text[kText], all[kText + 100];
  va_list more;
  va_start(more, format);
  vsnprintf(text, sizeof text, format, more);
  va_end(more);
  const char* name = strrchr(file, '/');
  snprintf(all, sizeof all, "%s:%d: %s", name == NULL ? file : name + 1, line, text);
  tell(all);
  _exit(kFailed);
}

void skip_test(const char* format, ...) {
  char text[kText];
  va_list more;
  va_start(more, format);
  vsnprintf(text, sizeof text, format, more);
  va_end(more);
  tell(text);
  _exit(kSkipped);
}

const char* device_name(unsigned which) { return devices[which]; }

/* Without --devices: the first two that speak MRC, or one in both roles. */
static void find_devices(void) {
  int count = 0, found = 0;
  struct ibv_device** list = ibv_get_device_list(&count);
  for (int i = 0; list != NULL && i < count && found < 2; ++i) {
    struct ibv_context* context = ibv_open_device(list[i]);
    struct mrc_device_attr attr;
    int supported = 0;
    if (context == NULL) continue;
    if (mrc_query_device(context, &attr, &supported) == 0 && supported != 0)
      snprintf(devices[found++], sizeof devices[0], "%s", ibv_get_device_name(list[i]));
    ibv_close_device(context);
  }
  if (list != NULL) ibv_free_device_list(list);
  if (found == 1) memcpy(devices[1], devices[0], sizeof devices[0]);
  for (int i = 0; i < found; ++i) dprintf(report, "%s\n", devices[i]);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs f in a process of its own; what it tells is in text. Returns its wait status, -1: it had to be killed. */
static int apart(void (*f)(const struct row*), const struct row* row, double seconds, char* text, size_t size) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) abort();
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    setpgid(0, 0);
    report = ends[1];
    f(row);
    _exit(0);
  }
  close(ends[1]);
  setpgid(child, child);
  const double until = now() + seconds;
  size_t got = 0;
  int status = 0, killed = 0;
  for (;;) {
    const double left = until - now();
    struct pollfd wanted = {.fd = ends[0], .events = POLLIN};
    const int ready = poll(&wanted, 1, left > 0 ? (int)(left * 1e3) + 1 : 0);
    const ssize_t n = ready > 0 ? read(ends[0], text + got, size - 1 - got) : 0;
    if (n > 0) got += (size_t)n;
    if (ready > 0 && n <= 0) break; /* it has closed its end */
    if (got + 1 == size) break;
    if (ready == 0 && now() >= until) {
      killed = 1;
      break;
    }
  }
  kill(-child, SIGKILL); /* and whoever it has started, unless all are gone */
  while (waitpid(child, &status, 0) < 0) {
  }
  close(ends[0]);
  text[got] = 0;
  return killed ? -1 : status;
}

static void run_test(const struct test* t, double seconds) {
  char text[kText + 200] = "";
  const double began = now();
  const int status = apart(t->run, t->row, seconds, text, sizeof text);
  const char* verdict = "fail";
  if (status == -1) {
    snprintf(text, sizeof text, "no end after %.0f s", seconds);
  } else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    verdict = "pass";
  } else if (WIFEXITED(status) && WEXITSTATUS(status) == kSkipped) {
    verdict = "skip";
  } else if (WIFSIGNALED(status) && text[0] == 0) {
    snprintf(text, sizeof text, "ended by SIG%s", sigabbrev_np(WTERMSIG(status)));
  } else if (text[0] == 0) {
    snprintf(text, sizeof text, "ended with %d%s", WEXITSTATUS(status),
             WEXITSTATUS(status) == 127 ? ": the library lacks a function" : "");
  }
  for (char* c = text; *c != 0; ++c) {
    if (*c == '\n' || *c == '\t') *c = ' ';
  }
  printf("%s\t%s\t%.3f\t%s\n", verdict, t->name, now() - began, text);
  fflush(stdout);
}

static void finds(const struct row* row) {
  (void)row;
  find_devices();
}

static int fits(const char* name, char** patterns, int count) {
  for (int i = 0; i < count; ++i) {
    if (fnmatch(patterns[i], name, 0) == 0) return 1;
  }
  return count == 0;
}

int main(int argc, char** argv) {
  static const char* const kBasis[] = {"header", "verbs", "reading"};
  int list = 0, at = 1;
  double seconds = 30;
  for (; at < argc && strncmp(argv[at], "--", 2) == 0; ++at) {
    if (strcmp(argv[at], "--list") == 0) {
      list = 1;
    } else if (at + 1 < argc && strcmp(argv[at], "--seconds") == 0) {
      seconds = atof(argv[++at]);
    } else if (at + 1 < argc && strcmp(argv[at], "--devices") == 0) {
      const char* comma = strchr(argv[++at], ',');
      snprintf(devices[0], sizeof devices[0], "%.*s", comma == NULL ? 63 : (int)(comma - argv[at]), argv[at]);
      snprintf(devices[1], sizeof devices[1], "%s", comma == NULL ? argv[at] : comma + 1);
    } else {
      fprintf(stderr, "mrc-api-suite: what is %s?\n", argv[at]);
      return 3;
    }
  }
  if (!list && devices[0][0] == 0) {
    char text[200] = "";
    apart(finds, NULL, seconds, text, sizeof text);
    if (sscanf(text, "%63s %63s", devices[0], devices[1]) < 1) {
      fprintf(stderr, "mrc-api-suite: no device speaks MRC\n");
      return 3;
    }
    if (devices[1][0] == 0) memcpy(devices[1], devices[0], sizeof devices[0]);
  }
  for (size_t i = 0; i < test_count; ++i) {
    const struct test* t = &tests[i];
    if (!fits(t->name, argv + at, argc - at)) continue;
    if (list) {
      printf("%s\t%s\t%s\t%s\n", t->name, kBasis[t->basis], t->source, t->sentence);
    } else {
      run_test(t, seconds);
    }
  }
  return 0;
}
