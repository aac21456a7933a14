/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SUITE_H
#define SUITE_H
/* Tests of any lib_mrc.so (docs/guide/api_suite.md). Each is a process of its own, which sees two devices: what it
 * leaves goes with it, and one that dies or hangs fails alone.
 *
 *     TEST(hint, mask_is_kept, Header, "mrc_query_qp_hint", "What is not asked for is not written.") {
 *       ...
 *       WANT(got.num_send_peers == -1);
 *     }
 */
#include <errno.h>
#include <mrc.h>
#include <mrc_ctl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What a sentence stands on: OCP's header; libibverbs' manual, where the header says "like"; or our reading of both,
 * where they are silent (docs/guide/api.md). */
enum basis { Header, Verbs, Reading };

/* One of the cases of a test that has several. */
struct row {
  const char* name;
  long a, b, c;
};

void add_test(const char* group, const char* name, enum basis basis, const char* source, const char* sentence,
              void (*run)(const struct row*), const struct row* rows, size_t count);

#define TEST(group, name, basis, source, sentence)                             \
  static void group##_##name(const struct row*);                               \
  __attribute__((constructor)) static void add_##group##_##name(void) {        \
    add_test(#group, #name, basis, source, sentence, group##_##name, NULL, 0); \
  }                                                                            \
  static void group##_##name(__attribute__((unused)) const struct row* row)

/* A test for each row of a table. */
#define TESTS(group, name, table, basis, source, sentence)                                                 \
  static void group##_##name(const struct row*);                                                           \
  __attribute__((constructor)) static void add_##group##_##name(void) {                                    \
    add_test(#group, #name, basis, source, sentence, group##_##name, table, sizeof table / sizeof *table); \
  }                                                                                                        \
  static void group##_##name(const struct row* row)

/* Ends of a test; neither returns. */
__attribute__((noreturn, format(printf, 3, 4))) void fail_test(const char* file, int line, const char* format, ...);
__attribute__((noreturn, format(printf, 1, 2))) void skip_test(const char* format, ...);

#define WANT(what)                                                                                      \
  do {                                                                                                  \
    errno = 0;                                                                                          \
    if (!(what)) fail_test(__FILE__, __LINE__, "not so: %s (errno %s)", #what, strerrorname_np(errno)); \
  } while (0)
#define EQUAL(what, value)                                                                                       \
  do {                                                                                                           \
    const long long is_ = (long long)(what), wanted_ = (long long)(value);                                       \
    if (is_ != wanted_) fail_test(__FILE__, __LINE__, "%s is %lld, not %lld (%s)", #what, is_, wanted_, #value); \
  } while (0)
/* A call that returns what its sister in libibverbs does, so an errno, or -1 with errno set. */
#define REFUSED(call, error)                                                                                     \
  do {                                                                                                           \
    errno = 0;                                                                                                   \
    const int code_ = (call);                                                                                    \
    if (code_ == 0 || (code_ > 0 ? code_ : errno) != (error))                                                    \
      fail_test(__FILE__, __LINE__, "%s returns %d, errno %s; wanted: %s", #call, code_, strerrorname_np(errno), \
                strerrorname_np(error));                                                                         \
  } while (0)
/* A call that returns NULL and sets errno. */
#define NOTHING(call, error)                                                                   \
  do {                                                                                         \
    errno = 0;                                                                                 \
    if ((call) != NULL) fail_test(__FILE__, __LINE__, "%s gives something", #call);            \
    if (errno != (error))                                                                      \
      fail_test(__FILE__, __LINE__, "%s: errno %s; wanted: %s", #call, strerrorname_np(errno), \
                strerrorname_np(error));                                                       \
  } while (0)

/* One end of a connection. a sends to b, where a test does not say otherwise. */
struct end {
  struct ibv_context* device;
  struct ibv_device_attr verbs;
  struct mrc_device_attr mrc;
  struct mrc_context* context;
  struct ibv_pd* pd;
  unsigned char* buffer;
  struct ibv_mr* mr;
  struct mrc_cq *send_cq, *recv_cq;
  struct mrc_qp* qp;
  uint32_t qpn;
  union ibv_gid gid;
};
extern struct end a, b;

/* How ends are made; a test changes it before. */
struct setup {
  size_t bytes; /* of the buffer */
  int access;   /* of its region */
  int cqe;      /* of each completion queue */
  unsigned send_wr, recv_wr;
  int sig_all;
  struct mrc_comp_channel* channel; /* of b's completion queue for receives */
  enum ibv_mtu mtu;
  uint32_t psn;
  struct mrc_qp_attr mrc;
  int init_mask, rtr_mask, rts_mask; /* which of them are named in which step */
};
extern struct setup setup;

/* Device, context, PD. Which: 0 or 1. */
void open_end(struct end* e, unsigned which);
/* And buffer, region, completion queues, whose context is e. */
void fill_end(struct end* e, unsigned which);
struct mrc_qp* new_qp(struct end* e);
/* Makes e's queue pair. */
void give_qp(struct end* e);
/* a with a queue pair in that state, as far as it needs no peer but itself. */
void one(enum ibv_qp_state state);
/* a and b, connected, in RTS. */
void pair(void);
/* The same anew; what there was stays as it is, out of sight. */
void another_pair(void);
/* Names of the two devices, for tests that open them themselves. */
const char* device_name(unsigned which);
struct ibv_context* open_device(const char* name);

/* Steps of a queue pair. What they return is the library's. */
int to_init(struct mrc_qp* qp);
int to_rtr(struct mrc_qp* qp, uint32_t peer_qpn, const union ibv_gid* peer);
int to_rts(struct mrc_qp* qp);
int to_state(struct mrc_qp* qp, enum ibv_qp_state state);
void connect_qp(struct mrc_qp* qp, uint32_t peer_qpn, const union ibv_gid* peer);
enum ibv_qp_state state_of(struct mrc_qp* qp);
/* RTR's attributes as to_rtr() has them, with their mask. */
struct ibv_qp_attr rtr_attr(uint32_t peer_qpn, const union ibv_gid* peer);
enum { kRtrMask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN };

/* A work request from a's buffer to b's, signaled. Write it, change it, post it. */
struct write {
  struct ibv_send_wr wr;
  struct ibv_sge sge;
};
struct write a_write(uint64_t wr_id, size_t from, size_t to, uint32_t bytes);
struct write an_immediate(uint64_t wr_id, size_t from, size_t to, uint32_t bytes, uint32_t imm);
int post(struct mrc_qp* qp, struct write* w);
void post_write(uint64_t wr_id, size_t from, size_t to, uint32_t bytes);
/* Posts it, and waits until it has completed with success. */
void write_through(uint64_t wr_id, size_t from, size_t to, uint32_t bytes);
/* Makes a list of them. */
void chain(struct write* w, unsigned count);
void post_imm(uint64_t wr_id, uint32_t bytes, uint32_t imm);
void post_recv(struct mrc_qp* qp, uint64_t wr_id);

/* The next completion; it has this status, or any. */
struct ibv_wc next(struct mrc_cq* cq);
struct ibv_wc next_is(struct mrc_cq* cq, enum ibv_wc_status status);
/* A completion of that number and status. */
void completes(struct mrc_cq* cq, uint64_t wr_id, enum ibv_wc_status status);
/* There is none, for a while. */
void nothing_comes(struct mrc_cq* cq);
void pause_ms(unsigned ms);
/* Until a descriptor is readable; 0: it was not, for so long. */
int readable(int fd, int ms);
/* What fills buffers: byte i of a pattern. */
void fill(unsigned char* at, size_t bytes, unsigned seed);
int is_filled(const unsigned char* at, size_t bytes, unsigned seed);
#endif
