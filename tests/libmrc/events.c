/* SPDX-License-Identifier: Apache-2.0 */
/* usage: events send|receive DEVICE SOCKET
 * The receiver sleeps in its completion channel until an immediate comes, then finds a queue pair that failed for want
 * of a buffer among its asynchronous events. Hints, too: they need no peer. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

enum { kBytes = 4096, kRounds = 20 };

static void hints(struct program* p) {
  struct mrc_qp_hint_init_attr init = {.attr = {.num_qps_per_peer = 2, .num_send_peers = 8}};
  struct mrc_qp_hint* hint = mrc_create_qp_hint(p->context, &init);
  CHECK(hint != NULL);
  struct mrc_qp_hint_attr got = {.num_send_peers = -1};
  CHECK(mrc_query_qp_hint(hint, &got, MRC_QP_HINT_NUM_QPS_PER_PEER) == 0);
  CHECK(got.num_qps_per_peer == 2 && got.num_send_peers == -1); /* as asked */
  struct mrc_qp_hint_attr wanted = {.num_send_peers = 9, .vendor_cfg = {7}};
  CHECK(mrc_modify_qp_hint(hint, &wanted, MRC_QP_HINT_NUM_SEND_PEERS | MRC_QP_HINT_VENDOR_CFG) == 0);
  CHECK(mrc_query_qp_hint(hint, &got, MRC_QP_HINT_NUM_SEND_PEERS | MRC_QP_HINT_VENDOR_CFG) == 0);
  CHECK(got.num_send_peers == 9 && got.vendor_cfg[0] == 7);
  wanted.num_send_peers = -1;
  CHECK(mrc_modify_qp_hint(hint, &wanted, MRC_QP_HINT_NUM_SEND_PEERS) == -1 && errno == EINVAL);
  CHECK(mrc_query_qp_hint(hint, &got, 1 << 5) == -1 && errno == EINVAL);

  struct mrc_qp_init_attr qp_init = {.send_cq = p->send_cq, .recv_cq = p->recv_cq, .pd = p->pd};
  struct mrc_qp* qp = mrc_create_qp(p->context, &qp_init);
  CHECK(qp != NULL);
  struct ibv_qp_attr v = {.qp_state = IBV_QPS_INIT};
  struct mrc_qp_attr m = {.qp_hint = hint}, now;
  CHECK(mrc_modify_qp(qp, &v, IBV_QP_STATE, &m, MRC_QP_HINT) == 0);
  CHECK(mrc_query_qp(qp, &v, IBV_QP_STATE, &now, MRC_QP_HINT, NULL) == 0);
  CHECK(now.qp_hint == hint && v.qp_state == IBV_QPS_INIT);
  CHECK(mrc_destroy_qp_hint(hint) == -1 && errno == EBUSY);
  CHECK(mrc_destroy_qp(qp) == 0);
  CHECK(mrc_destroy_qp_hint(hint) == 0);
}

/* A completion queue with a channel in the place of the one that program_begin() made for nothing. */
static struct mrc_comp_channel* sleepy_queue(struct program* p, void* context, struct mrc_cq** cq) {
  struct mrc_comp_channel* channel = NULL;
  CHECK(mrc_create_comp_channel(p->context, &channel) == 0 && channel != NULL);
  *cq = mrc_create_cq(p->context, kDepth, context, channel, 0);
  CHECK(*cq != NULL && mrc_destroy_comp_channel(channel) == EBUSY);
  return channel;
}

static void* destroys(void* cq) {
  CHECK(mrc_destroy_cq(cq) == 0);
  return NULL;
}

static void receives(struct program* p) {
  int fd = -1;
  struct mrc_comp_channel* channel = p->channel;
  CHECK(mrc_get_comp_channel_fd(channel, &fd) == 0);
  struct mrc_cq* from = NULL;
  void* context = NULL;
  CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
  CHECK(mrc_get_cq_event(channel, &from, &context) == -1 && errno == EAGAIN);
  CHECK(fcntl(fd, F_SETFL, 0) == 0);
  for (unsigned i = 0; i < kRounds; ++i) {
    program_receive(p, i);
    CHECK(mrc_req_notify_cq(p->recv_cq, i % 2) == 0);
    program_meet(p);
    if (i % 3 == 0) {
      struct pollfd wanted = {.fd = fd, .events = POLLIN};
      CHECK(poll(&wanted, 1, 20000) == 1);
    }
    CHECK(mrc_get_cq_event(channel, &from, &context) == 0);
    CHECK(from == p->recv_cq && context == p);
    struct ibv_wc wc;
    CHECK(mrc_poll_cq(from, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS && wc.wr_id == i);
    if (i + 1 < kRounds) mrc_ack_cq_events(from, 1);
  }
  /* One more immediate than buffers. */
  program_meet(p);
  struct mrc_async_event event;
  CHECK(mrc_get_async_event(p->context, &event) == 0);
  CHECK(event.event_type == IBV_EVENT_QP_FATAL && event.element.qp == p->qp);
  struct ibv_qp_attr v;
  CHECK(mrc_query_qp(p->qp, &v, IBV_QP_STATE, NULL, 0, NULL) == 0 && v.qp_state == IBV_QPS_ERR);
  mrc_ack_async_event(&event);
  CHECK(mrc_destroy_qp(p->qp) == 0);
  /* One event of the queue is not acknowledged yet: until then it stays. */
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, destroys, p->recv_cq) == 0);
  usleep(50000);
  mrc_ack_cq_events(p->recv_cq, 1);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(mrc_destroy_comp_channel(channel) == 0);
}

int main(int argc, char** argv) {
  CHECK(argc == 4);
  struct program p;
  const int sender = strcmp(argv[1], "send") == 0;
  program_open(&p, argv[2], atoi(argv[3]), kBytes);
  hints(&p);
  if (!sender) {
    CHECK(mrc_destroy_cq(p.recv_cq) == 0);
    p.channel = sleepy_queue(&p, &p, &p.recv_cq);
  }
  program_connect(&p);
  if (sender) {
    for (unsigned i = 0; i <= kRounds; ++i) {
      program_meet(&p);
      usleep(2000); /* long enough to fall asleep */
      CHECK(program_write(&p, 0, 0, 100, &i, i) == 0);
      if (i < kRounds) CHECK(program_wait(p.send_cq).status == IBV_WC_SUCCESS);
    }
    program_wait(p.send_cq); /* the last one: it was written, or refused */
    program_meet(&p);
    program_end(&p);
  } else {
    receives(&p);
    program_meet(&p);
    CHECK(mrc_destroy_cq(p.send_cq) == 0 && ibv_dereg_mr(p.mr) == 0 && ibv_dealloc_pd(p.pd) == 0);
    CHECK(mrc_destroy_context(p.context) == 0 && ibv_close_device(p.device) == 0);
    free(p.buffer);
  }
  printf("%s: %u events\n", argv[1], kRounds);
  return 0;
}
