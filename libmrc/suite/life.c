/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, processes, regions that go while they are written to, programs that leave things behind. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

enum { kThreads = 4, kEach = 50 };

static void* posts(void* number) {
  const unsigned first = *(unsigned*)number * kEach;
  for (unsigned i = 0; i < kEach; ++i) {
    struct write w = a_write(first + i, 0, 0, 64);
    while (post(a.qp, &w) != 0) pause_ms(1);
  }
  return NULL;
}

TEST(thread, share_a_QP, Verbs, "ibv_post_send: thread-safe",
     "Threads post to one queue pair: each request completes once.") {
  pair();
  pthread_t threads[kThreads];
  unsigned numbers[kThreads];
  for (unsigned i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    WANT(pthread_create(&threads[i], NULL, posts, &numbers[i]) == 0);
  }
  static unsigned seen[kThreads * kEach];
  for (unsigned i = 0; i < kThreads * kEach; ++i) {
    const struct ibv_wc wc = next_is(a.send_cq, IBV_WC_SUCCESS);
    WANT(wc.wr_id < kThreads * kEach && seen[wc.wr_id]++ == 0);
  }
  for (unsigned i = 0; i < kThreads; ++i) WANT(pthread_join(threads[i], NULL) == 0);
}

struct worker {
  struct end a, b;
  pthread_t thread;
};

static void* works(void* of) {
  struct worker* w = of;
  for (unsigned i = 0; i < kEach; ++i) {
    struct ibv_sge sge = {.addr = (uintptr_t)w->a.buffer, .length = 1000, .lkey = w->a.mr->lkey};
    struct ibv_send_wr wr = {.wr_id = i,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_WRITE,
                             .send_flags = IBV_SEND_SIGNALED},
                       *bad = NULL;
    wr.wr.rdma.remote_addr = (uintptr_t)w->b.buffer;
    wr.wr.rdma.rkey = w->b.mr->rkey;
    EQUAL(mrc_post_send(w->a.qp, &wr, &bad), 0);
    completes(w->a.send_cq, i, IBV_WC_SUCCESS);
  }
  return NULL;
}

TEST(thread, each_with_its_own, Verbs, "google ThreadedWorkloadTest.QpLifecycle",
     "Threads each have their devices and queue pairs.") {
  static struct worker workers[kThreads];
  for (unsigned i = 0; i < kThreads; ++i) {
    another_pair();
    workers[i].a = a;
    workers[i].b = b;
  }
  for (unsigned i = 0; i < kThreads; ++i) WANT(pthread_create(&workers[i].thread, NULL, works, &workers[i]) == 0);
  for (unsigned i = 0; i < kThreads; ++i) WANT(pthread_join(workers[i].thread, NULL) == 0);
}

static void* polls(void* wc) {
  *(struct ibv_wc*)wc = next(b.recv_cq);
  return NULL;
}

TEST(thread, one_polls_another_posts, Verbs, "ibv_poll_cq: thread-safe",
     "A thread polls a queue while another one posts.") {
  pair();
  pthread_t thread;
  struct ibv_wc wc;
  WANT(pthread_create(&thread, NULL, polls, &wc) == 0);
  pause_ms(20);
  post_recv(b.qp, 4);
  post_imm(1, 10, 1);
  WANT(pthread_join(thread, NULL) == 0);
  EQUAL(wc.wr_id, 4);
}

/* How a child ends: it runs f, and says with its exit code what came of it. */
static int child_of(int (*f)(void)) {
  const pid_t child = fork();
  WANT(child >= 0);
  if (child == 0) _exit(f());
  int status = 0;
  WANT(waitpid(child, &status, 0) == child);
  return status;
}

static int leaves(void) { return 7; }

TEST(process, fork_and_go_on, Verbs, "ibv_fork_init",
     "A child that touches nothing of MRC leaves its parent's connections alone.") {
  pair();
  EQUAL(WEXITSTATUS(child_of(leaves)), 7);
  write_through(1, 0, 0, 100);
}

static int has_its_own(void) {
  another_pair();
  write_through(1, 0, 0, 100);
  return 7;
}

TEST(process, child_opens_its_own, Verbs, "ibv_fork_init", "A child opens devices for itself; both go on.") {
  pair();
  const int status = child_of(has_its_own);
  WANT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  write_through(1, 0, 0, 100);
}

static int uses_inherited(void) {
  struct write w = a_write(1, 0, 0, 100);
  return post(a.qp, &w) != 0 ? 7 : 8;
}

TEST(process, child_uses_what_it_inherited, Reading, "ibv_fork_init",
     "What a child does with its parent's queue pair is refused, or does no harm: its parent goes on.") {
  pair();
  const int status = child_of(uses_inherited);
  WANT(WIFEXITED(status));
  if (WEXITSTATUS(status) == 8) completes(a.send_cq, 1, IBV_WC_SUCCESS);
  write_through(2, 0, 0, 100);
}

static int dies(void) {
  another_pair();
  for (unsigned i = 0; i < setup.send_wr; ++i) post_write(i, 0, 0, 60000);
  raise(SIGKILL);
  return 0;
}

TEST(process, that_is_killed, Reading, "mrc_create_context",
     "A process that is killed in the middle leaves nothing: ten, and others go on.") {
  for (int i = 0; i < 10; ++i) WANT(WTERMSIG(child_of(dies)) == SIGKILL);
  pair();
  fill(a.buffer, 60000, 1);
  write_through(1, 0, 0, 60000);
  WANT(is_filled(b.buffer, 60000, 1));
}

TEST(process, posts_without_polling, Reading, "mrc_post_send",
     "A program that posts 20 000 requests and never polls harms itself alone.") {
  pair();
  unsigned refused = 0;
  struct write w = a_write(1, 0, 0, 1);
  for (unsigned i = 0; i < 20000; ++i) refused += post(a.qp, &w) != 0;
  WANT(refused > 0);
  another_pair();
  write_through(1, 0, 0, 100);
}

TEST(region, goes_while_it_is_written_to, Verbs, "ibv_dereg_mr; google MrLoopbackTest.OutstandingWrite",
     "A region that goes under WRITEs: they succeed or fail, and nothing is written after it is gone.") {
  pair();
  for (unsigned i = 0; i < setup.send_wr; ++i) post_write(i, 0, 0, 60000);
  EQUAL(ibv_dereg_mr(b.mr), 0);
  memset(b.buffer, 0x11, setup.bytes);
  for (unsigned i = 0; i < setup.send_wr; ++i) EQUAL(next(a.send_cq).wr_id, i);
  for (size_t i = 0; i < setup.bytes; ++i) EQUAL(b.buffer[i], 0x11);
}

TEST(region, is_read_from, Reading, "ibv_dereg_mr",
     "A region that requests still read from stays (EBUSY), or they fail; no other end.") {
  pair();
  for (unsigned i = 0; i < setup.send_wr; ++i) post_write(i, 0, 0, 60000);
  const int error = ibv_dereg_mr(a.mr);
  WANT(error == 0 || error == EBUSY);
  for (unsigned i = 0; i < setup.send_wr; ++i) {
    const struct ibv_wc wc = next(a.send_cq);
    EQUAL(wc.wr_id, i);
    if (error == EBUSY) EQUAL(wc.status, IBV_WC_SUCCESS);
  }
}

TEST(region, memory_is_unmapped, Reading, "ibv_reg_mr",
     "Memory that goes while it is registered: a WRITE from it brings what was there, or fails and brings nothing.") {
  pair();
  unsigned char* memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  WANT(memory != MAP_FAILED);
  fill(memory, 65536, 9);
  struct ibv_mr* mr = ibv_reg_mr(a.pd, memory, 65536, 0);
  WANT(mr != NULL && munmap(memory, 65536) == 0);
  memset(b.buffer, 0xee, setup.bytes);
  struct write w = a_write(1, 0, 0, 60000);
  w.sge.addr = (uintptr_t)memory;
  w.sge.lkey = mr->lkey;
  EQUAL(post(a.qp, &w), 0);
  const struct ibv_wc wc = next(a.send_cq);
  pause_ms(20);
  if (wc.status == IBV_WC_SUCCESS) {
    WANT(is_filled(b.buffer, 60000, 9));
    return;
  }
  EQUAL(wc.status, IBV_WC_LOC_PROT_ERR);
  for (int i = 0; i < 60000; ++i) EQUAL(b.buffer[i], 0xee);
}

TEST(life, all_of_it_and_back, Header, "examples/mrc_qp.md",
     "Everything that was made can be destroyed, in the reverse order.") {
  pair();
  post_recv(b.qp, 1);
  post_imm(1, 100, 1);
  completes(a.send_cq, 1, IBV_WC_SUCCESS);
  completes(b.recv_cq, 1, IBV_WC_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    struct end* e = i == 0 ? &a : &b;
    EQUAL(mrc_destroy_qp(e->qp), 0);
    EQUAL(mrc_destroy_cq(e->send_cq), 0);
    EQUAL(mrc_destroy_cq(e->recv_cq), 0);
    EQUAL(ibv_dereg_mr(e->mr), 0);
    EQUAL(ibv_dealloc_pd(e->pd), 0);
    EQUAL(mrc_destroy_context(e->context), 0);
    EQUAL(ibv_close_device(e->device), 0);
  }
}

TEST(life, QP_is_destroyed_under_traffic, Verbs,
     "ibv_destroy_qp; google ThreadedWorkloadTest.QpDestroyTargetWhileActive",
     "A queue pair with open requests can be destroyed, and its memory is then nobody's.") {
  pair();
  for (unsigned i = 0; i < setup.send_wr; ++i) post_write(i, 0, 0, 60000);
  EQUAL(mrc_destroy_qp(a.qp), 0);
  EQUAL(ibv_dereg_mr(a.mr), 0);
}
