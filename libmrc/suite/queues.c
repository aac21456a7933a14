/* SPDX-License-Identifier: Apache-2.0 */
/* Completion queues, their channels, hints, asynchronous events. */
#include <fcntl.h>
#include <pthread.h>

#include "suite.h"

TEST(cq, empty, Header, "mrc_poll_cq; google CqTest.Basic", "A queue in which nothing is gives 0.") {
  fill_end(&a, 0);
  struct ibv_wc wc;
  EQUAL(mrc_poll_cq(a.send_cq, 1, &wc), 0);
}

TEST(cq, poll_for_none, Header, "mrc_poll_cq", "Who wants no completions gets none, whatever is there.") {
  pair();
  post_write(1, 0, 0, 1);
  struct ibv_wc wc;
  for (int i = 0; i < 100; ++i) EQUAL(mrc_poll_cq(a.send_cq, 0, &wc), 0);
  completes(a.send_cq, 1, IBV_WC_SUCCESS);
}

TEST(cq, poll_nothing, Header, "mrc_poll_cq", "An error is -1.") {
  struct ibv_wc wc;
  EQUAL(mrc_poll_cq(NULL, 1, &wc), -1);
}

static const struct row kSizes[] = {{"0", 0, 0, 0}, {"negative", -1, 0, 0}, {"above_max_cqe", 1 << 30, 0, 0}};
TESTS(cq, no_such_size, kSizes, Verbs, "ibv_create_cq; google CqTest.NegativeCqe, ZeroCqe, MaxCqe",
      "A queue has 1 to max_cqe entries.") {
  open_end(&a, 0);
  const long cqe = row->a > 0 ? (long)a.verbs.max_cqe + 1 : row->a;
  if (cqe > INT32_MAX) skip_test("max_cqe is the largest int");
  WANT(mrc_create_cq(a.context, (int)cqe, NULL, NULL, 0) == NULL);
}

TEST(cq, largest, Verbs, "ibv_create_cq; google CqTest.MaxCqe", "A queue of max_cqe entries can be made.") {
  open_end(&a, 0);
  struct mrc_cq* cq = mrc_create_cq(a.context, a.verbs.max_cqe, NULL, NULL, 0);
  WANT(cq != NULL);
  EQUAL(mrc_destroy_cq(cq), 0);
}

static const struct row kVectors[] = {{"negative", -1, 0, 0}, {"too_high", 0, 1, 0}};
TESTS(cq, no_such_vector, kVectors, Verbs, "ibv_create_cq; google CqTest.NegativeCompVector, AboveMaxCompVector",
      "Completion vectors are 0 to num_comp_vectors - 1.") {
  open_end(&a, 0);
  WANT(mrc_create_cq(a.context, 4, NULL, NULL, row->b != 0 ? a.device->num_comp_vectors : -1) == NULL);
}

TEST(cq, last_vector, Verbs, "ibv_create_cq; google CqTest.LargeCompVector",
     "The last completion vector can be used.") {
  open_end(&a, 0);
  struct mrc_cq* cq = mrc_create_cq(a.context, 4, NULL, NULL, a.device->num_comp_vectors - 1);
  WANT(cq != NULL);
  EQUAL(mrc_destroy_cq(cq), 0);
}

TEST(cq, without_a_context, Verbs, "ibv_create_cq", "NULL for a context: no queue.") {
  WANT(mrc_create_cq(NULL, 4, NULL, NULL, 0) == NULL);
}

TEST(cq, stays_while_a_QP_has_it, Verbs, "ibv_destroy_cq; google QpTest.QueueRefs",
     "A queue that a queue pair has cannot be destroyed: EBUSY; without it, it can.") {
  fill_end(&a, 0);
  give_qp(&a);
  REFUSED(mrc_destroy_cq(a.send_cq), EBUSY);
  REFUSED(mrc_destroy_cq(a.recv_cq), EBUSY);
  EQUAL(mrc_destroy_qp(a.qp), 0);
  EQUAL(mrc_destroy_cq(a.send_cq), 0);
  EQUAL(mrc_destroy_cq(a.recv_cq), 0);
}

TEST(cq, one_for_both, Verbs, "ibv_create_qp", "One queue can take completions of sends and of receives.") {
  fill_end(&b, 1);
  b.send_cq = b.recv_cq;
  pair();
  post_recv(b.qp, 7);
  post_imm(1, 10, 5);
  const struct ibv_wc wc = next_is(b.recv_cq, IBV_WC_SUCCESS);
  EQUAL(wc.wr_id, 7);
  EQUAL(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
}

TEST(cq, of_two_QPs, Verbs, "ibv_create_qp; google CqBatchOpTest.SendSharedCq",
     "Completions of two queue pairs in one queue say whose they are.") {
  pair();
  struct mrc_qp *first = a.qp, *peer = b.qp;
  const uint32_t qpn = a.qpn;
  give_qp(&a);
  give_qp(&b);
  connect_qp(b.qp, a.qpn, &a.gid);
  connect_qp(a.qp, b.qpn, &b.gid);
  WANT(peer != b.qp);
  post_write(2, 0, 0, 100);
  struct write w = a_write(1, 0, 0, 100);
  EQUAL(post(first, &w), 0);
  for (int i = 0; i < 2; ++i) {
    const struct ibv_wc wc = next_is(a.send_cq, IBV_WC_SUCCESS);
    EQUAL(wc.qp_num, wc.wr_id == 1 ? qpn : a.qpn);
  }
}

TEST(cq, fewer_than_wanted, Header, "mrc_poll_cq",
     "Who wants more completions than there are gets those that are there; then the queue is empty.") {
  pair();
  for (unsigned i = 0; i < 5; ++i) post_write(i, 0, 0, 1);
  struct ibv_wc wc[8];
  unsigned got = 0;
  while (got < 5) {
    const int n = mrc_poll_cq(a.send_cq, 8, wc);
    WANT(n >= 0 && got + (unsigned)n <= 5);
    for (int i = 0; i < n; ++i) EQUAL(wc[i].wr_id, got + (unsigned)i);
    got += (unsigned)n;
  }
  EQUAL(mrc_poll_cq(a.send_cq, 8, wc), 0);
}

TEST(cq, overrun, Verbs, "ibv_create_cq; google CqOverflowTest.SendCqOverflow",
     "More completions than a queue has room for: IBV_EVENT_CQ_ERR, and polling it fails.") {
  setup.cqe = 4;
  fill_end(&a, 0);
  setup.send_wr = a.verbs.max_qp_wr < 4096 ? (unsigned)a.verbs.max_qp_wr : 4096;
  pair();
  /* As many as the library's queue may have, and one more; it may be longer than wanted. */
  int fd = a.device->async_fd;
  WANT(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
  struct mrc_async_event event;
  unsigned posted = 0;
  int found = 0;
  while (!found && posted < setup.send_wr) {
    post_write(posted++, 0, 0, 1);
    if (posted % 64 == 0) found = mrc_get_async_event(a.context, &event) == 0;
  }
  for (int i = 0; i < 500 && !found; ++i) {
    found = mrc_get_async_event(a.context, &event) == 0;
    pause_ms(10);
  }
  if (!found) skip_test("%u completions fit into a queue of 4", posted);
  EQUAL(event.event_type, IBV_EVENT_CQ_ERR);
  WANT(event.element.cq == a.send_cq);
  mrc_ack_async_event(&event);
  struct ibv_wc wc;
  int n = 0;
  for (unsigned i = 0; i <= posted && (n = mrc_poll_cq(a.send_cq, 1, &wc)) > 0; ++i) {
  }
  EQUAL(n, -1);
}

static void* makes_queues(void* end) {
  struct end* e = end;
  for (int i = 0; i < 50; ++i) {
    struct mrc_cq* cq = mrc_create_cq(e->context, 16, NULL, NULL, 0);
    WANT(cq != NULL);
    EQUAL(mrc_destroy_cq(cq), 0);
  }
  return NULL;
}

TEST(cq, in_threads, Verbs, "ibv_create_cq; google ThreadedTest.CreateDestroyCq",
     "Threads make queues at the same time.") {
  open_end(&a, 0);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) WANT(pthread_create(&threads[i], NULL, makes_queues, &a) == 0);
  for (int i = 0; i < 4; ++i) WANT(pthread_join(threads[i], NULL) == 0);
}

/* Channels: b's queue for receives has one. */

static void channel_of_b(void) {
  open_end(&b, 1);
  EQUAL(mrc_create_comp_channel(b.context, &setup.channel), 0);
  pair();
}

static void an_event(void) {
  struct mrc_cq* cq = NULL;
  void* context = NULL;
  EQUAL(mrc_get_cq_event(setup.channel, &cq, &context), 0);
  WANT(cq == b.recv_cq && context == &b);
}

static int channel_fd(void) {
  int fd = -1;
  EQUAL(mrc_get_comp_channel_fd(setup.channel, &fd), 0);
  return fd;
}

/* No event: whatever the descriptor says. */
static void no_event(void) {
  struct mrc_cq* cq;
  void* context;
  const int fd = channel_fd();
  WANT(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
  for (int i = 0; i < 10; ++i) {
    REFUSED(mrc_get_cq_event(setup.channel, &cq, &context), EAGAIN);
    pause_ms(2);
  }
  WANT(fcntl(fd, F_SETFL, 0) == 0);
}

static void immediate_comes(uint64_t wr_id) {
  post_recv(b.qp, wr_id);
  post_imm(wr_id, 10, (uint32_t)wr_id);
  completes(a.send_cq, wr_id, IBV_WC_SUCCESS);
}

TEST(channel, make_and_destroy, Verbs, "ibv_create_comp_channel; google CompChannelTest.CreateDestroy",
     "A channel has a descriptor, and can be destroyed.") {
  open_end(&b, 1);
  EQUAL(mrc_create_comp_channel(b.context, &setup.channel), 0);
  WANT(fcntl(channel_fd(), F_GETFD) >= 0);
  EQUAL(mrc_destroy_comp_channel(setup.channel), 0);
}

TEST(channel, wants_a_place, Reading, "mrc_create_comp_channel",
     "It returns an errno, as functions of libibverbs do.") {
  open_end(&b, 1);
  EQUAL(mrc_create_comp_channel(b.context, NULL), EINVAL);
}

TEST(channel, stays_while_a_queue_has_it, Verbs,
     "ibv_destroy_comp_channel; google CompChannelTest.DestroyChannelWithCqRef",
     "A channel that a queue has cannot be destroyed: EBUSY; without it, it can.") {
  open_end(&b, 1);
  EQUAL(mrc_create_comp_channel(b.context, &setup.channel), 0);
  struct mrc_cq* cq = mrc_create_cq(b.context, 4, NULL, setup.channel, 0);
  WANT(cq != NULL);
  REFUSED(mrc_destroy_comp_channel(setup.channel), EBUSY);
  EQUAL(mrc_destroy_cq(cq), 0);
  EQUAL(mrc_destroy_comp_channel(setup.channel), 0);
}

TEST(channel, of_no_queue, Reading,
     "mrc_req_notify_cq; google CompChannelTest.RequestNotificationOnCqWithoutCompChannel",
     "A queue without a channel has nobody to notify: EINVAL, and it goes on.") {
  pair();
  REFUSED(mrc_req_notify_cq(a.send_cq, 0), EINVAL);
  write_through(1, 0, 0, 1);
}

TEST(channel, nothing_asked_for, Verbs, "ibv_req_notify_cq; google CompChannelTest.NoSpuriousEvents",
     "A queue that nobody asked for a notification sends none.") {
  channel_of_b();
  immediate_comes(1);
  completes(b.recv_cq, 1, IBV_WC_SUCCESS);
  no_event();
}

TEST(channel, the_next_completion, Header, "mrc_get_cq_event; google CompChannelTest.Write",
     "The next completion behind a request is an event, with queue and context.") {
  channel_of_b();
  EQUAL(mrc_req_notify_cq(b.recv_cq, 0), 0);
  immediate_comes(1);
  an_event();
  mrc_ack_cq_events(b.recv_cq, 1);
  completes(b.recv_cq, 1, IBV_WC_SUCCESS);
}

TEST(channel, once, Verbs, "ibv_req_notify_cq", "One request, one event, however many completions come.") {
  channel_of_b();
  EQUAL(mrc_req_notify_cq(b.recv_cq, 0), 0);
  for (unsigned i = 0; i < 3; ++i) immediate_comes(i);
  an_event();
  no_event();
  mrc_ack_cq_events(b.recv_cq, 1);
}

TEST(channel, not_those_before, Verbs, "ibv_req_notify_cq",
     "A completion that was there before the request is no event; the next one is.") {
  channel_of_b();
  immediate_comes(1);
  completes(b.recv_cq, 1, IBV_WC_SUCCESS);
  EQUAL(mrc_req_notify_cq(b.recv_cq, 0), 0);
  no_event();
  immediate_comes(2);
  an_event();
  mrc_ack_cq_events(b.recv_cq, 1);
}

TEST(channel, solicited_is_enough, Verbs, "ibv_req_notify_cq; google CompChannelTest.RecvSolicitedNofitySolicited",
     "Who asks for solicited ones is told of an immediate that was sent as solicited.") {
  channel_of_b();
  EQUAL(mrc_req_notify_cq(b.recv_cq, 1), 0);
  post_recv(b.qp, 1);
  struct write w = an_immediate(1, 0, 0, 10, 1);
  w.wr.send_flags |= IBV_SEND_SOLICITED;
  EQUAL(post(a.qp, &w), 0);
  an_event();
  mrc_ack_cq_events(b.recv_cq, 1);
}

TEST(channel, an_error_is_solicited, Verbs, "ibv_req_notify_cq",
     "A completion with an error is told as a solicited one.") {
  channel_of_b();
  EQUAL(mrc_req_notify_cq(b.recv_cq, 1), 0);
  post_recv(b.qp, 1);
  EQUAL(to_state(b.qp, IBV_QPS_ERR), 0);
  an_event();
  mrc_ack_cq_events(b.recv_cq, 1);
  completes(b.recv_cq, 1, IBV_WC_WR_FLUSH_ERR);
}

static const struct row kChanges[] = {{"solicited_then_any", 1, 0, 0}, {"any_then_solicited", 0, 1, 0}};
TESTS(channel, request_again, kChanges, Verbs,
      "ibv_req_notify_cq; google CompChannelTest.UpgradeRequest, DowngradeRequest",
      "Two requests before a completion are one, for whatever either asked.") {
  channel_of_b();
  EQUAL(mrc_req_notify_cq(b.recv_cq, (int)row->a), 0);
  EQUAL(mrc_req_notify_cq(b.recv_cq, (int)row->b), 0);
  immediate_comes(1);
  an_event();
  no_event();
  mrc_ack_cq_events(b.recv_cq, 1);
}

TEST(channel, descriptor_is_readable, Header, "mrc_get_comp_channel_fd", "With an event the descriptor is readable.") {
  channel_of_b();
  EQUAL(mrc_req_notify_cq(b.recv_cq, 0), 0);
  immediate_comes(1);
  WANT(readable(channel_fd(), 10000));
  an_event();
  mrc_ack_cq_events(b.recv_cq, 1);
}

TEST(channel, does_not_block, Verbs, "ibv_get_cq_event", "With O_NONBLOCK and without an event: -1, EAGAIN.") {
  channel_of_b();
  no_event();
}

TEST(channel, many_acknowledged_at_once, Header, "mrc_ack_cq_events; google CompChannelTest.ManyOutstanding",
     "Events can be acknowledged together; then the queue can be destroyed.") {
  channel_of_b();
  for (unsigned i = 0; i < 5; ++i) {
    EQUAL(mrc_req_notify_cq(b.recv_cq, 0), 0);
    immediate_comes(i);
    an_event();
  }
  mrc_ack_cq_events(b.recv_cq, 5);
  EQUAL(mrc_destroy_qp(b.qp), 0);
  EQUAL(mrc_destroy_cq(b.recv_cq), 0);
}

static int destroyed;
static void* destroys(void* cq) {
  EQUAL(mrc_destroy_cq(cq), 0);
  __atomic_store_n(&destroyed, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

TEST(channel, destroy_waits_for_acknowledgements, Header, "mrc_ack_cq_events; google CompChannelTest.DeleteWithUnacked",
     "mrc_destroy_cq returns when all events that were handed out are acknowledged, not before.") {
  channel_of_b();
  EQUAL(mrc_req_notify_cq(b.recv_cq, 0), 0);
  immediate_comes(1);
  an_event();
  EQUAL(mrc_destroy_qp(b.qp), 0);
  pthread_t thread;
  WANT(pthread_create(&thread, NULL, destroys, b.recv_cq) == 0);
  pause_ms(100);
  EQUAL(__atomic_load_n(&destroyed, __ATOMIC_SEQ_CST), 0);
  mrc_ack_cq_events(b.recv_cq, 1);
  WANT(pthread_join(thread, NULL) == 0);
}

TEST(channel, of_two_queues, Verbs, "ibv_create_cq; google CompChannelTest.MuxOntoSingleChannel",
     "Two queues share a channel: each event names its queue.") {
  channel_of_b();
  static int second;
  b.send_cq = mrc_create_cq(b.context, 16, &second, setup.channel, 0);
  WANT(b.send_cq != NULL);
  struct mrc_qp* before = b.qp;
  struct mrc_qp* sender = a.qp;
  give_qp(&a);
  struct mrc_cq* first = b.recv_cq;
  b.recv_cq = b.send_cq;
  give_qp(&b);
  connect_qp(b.qp, a.qpn, &a.gid);
  connect_qp(a.qp, b.qpn, &b.gid);
  WANT(sender != a.qp && before != b.qp);
  EQUAL(mrc_req_notify_cq(b.recv_cq, 0), 0);
  EQUAL(mrc_req_notify_cq(first, 0), 0);
  immediate_comes(1);
  struct mrc_cq* cq = NULL;
  void* context = NULL;
  EQUAL(mrc_get_cq_event(setup.channel, &cq, &context), 0);
  WANT(cq == b.recv_cq && context == &second);
  no_event();
}

/* Hints. */

static struct mrc_qp_hint* a_hint(void) {
  open_end(&a, 0);
  if (a.mrc.qp_attr.max_qp_hint == 0) skip_test("max_qp_hint is 0");
  struct mrc_qp_hint_init_attr init = {
      .attr = {.num_qps_per_peer = 2, .num_send_peers = 3, .num_remote_recv_peers = 4, .vendor_cfg = {5, 6}}};
  struct mrc_qp_hint* hint = mrc_create_qp_hint(a.context, &init);
  WANT(hint != NULL);
  return hint;
}

enum {
  kHintAll = MRC_QP_HINT_NUM_QPS_PER_PEER | MRC_QP_HINT_NUM_SEND_PEERS | MRC_QP_HINT_NUM_REMOTE_RECV_PEERS,
};

TEST(hint, is_kept, Header, "mrc_query_qp_hint", "A query gives back what the hint was made with.") {
  struct mrc_qp_hint* hint = a_hint();
  struct mrc_qp_hint_attr got = {0};
  EQUAL(mrc_query_qp_hint(hint, &got, kHintAll), 0);
  WANT(got.num_qps_per_peer == 2 && got.num_send_peers == 3 && got.num_remote_recv_peers == 4);
}

static const struct row kHintMasks[] = {{"qps_per_peer", MRC_QP_HINT_NUM_QPS_PER_PEER, 1, 0},
                                        {"send_peers", MRC_QP_HINT_NUM_SEND_PEERS, 2, 0},
                                        {"recv_peers", MRC_QP_HINT_NUM_REMOTE_RECV_PEERS, 4, 0}};
TESTS(hint, change, kHintMasks, Header, "mrc_modify_qp_hint",
      "A change is of the attributes that the mask names, alone.") {
  struct mrc_qp_hint* hint = a_hint();
  struct mrc_qp_hint_attr wanted = {.num_qps_per_peer = 12, .num_send_peers = 13, .num_remote_recv_peers = 14},
                          got = {0};
  EQUAL(mrc_modify_qp_hint(hint, &wanted, (int)row->a), 0);
  EQUAL(mrc_query_qp_hint(hint, &got, kHintAll), 0);
  EQUAL(got.num_qps_per_peer, row->b == 1 ? 12 : 2);
  EQUAL(got.num_send_peers, row->b == 2 ? 13 : 3);
  EQUAL(got.num_remote_recv_peers, row->b == 4 ? 14 : 4);
}

TEST(hint, no_such_attribute, Header, "mrc_query_qp_hint", "A mask with bits that mean nothing: -1, EINVAL.") {
  struct mrc_qp_hint* hint = a_hint();
  struct mrc_qp_hint_attr got;
  REFUSED(mrc_query_qp_hint(hint, &got, 1 << 9), EINVAL);
  REFUSED(mrc_modify_qp_hint(hint, &got, 1 << 9), EINVAL);
}

TEST(hint, none, Header, "mrc_destroy_qp_hint", "NULL is no hint: -1, EINVAL.") {
  REFUSED(mrc_destroy_qp_hint(NULL), EINVAL);
}

TEST(hint, of_a_QP, Header, "mrc_destroy_qp_hint", "A hint that a queue pair has cannot be destroyed: EBUSY.") {
  struct mrc_qp_hint* hint = a_hint();
  fill_end(&a, 0);
  give_qp(&a);
  setup.mrc.qp_hint = hint;
  setup.init_mask = MRC_QP_HINT;
  EQUAL(to_init(a.qp), 0);
  struct ibv_qp_attr v;
  struct mrc_qp_attr m = {0};
  struct mrc_qp_init_attr init;
  EQUAL(mrc_query_qp(a.qp, &v, IBV_QP_STATE, &m, MRC_QP_HINT, &init), 0);
  WANT(m.qp_hint == hint);
  REFUSED(mrc_destroy_qp_hint(hint), EBUSY);
  EQUAL(mrc_destroy_qp(a.qp), 0);
  EQUAL(mrc_destroy_qp_hint(hint), 0);
}

TEST(hint, hundred, Header, "mrc_device_attr.qp_attr", "As many hints as max_qp_hint, or 100, are there together.") {
  struct mrc_qp_hint* all[100];
  all[0] = a_hint();
  const unsigned most = a.mrc.qp_attr.max_qp_hint < 100 ? a.mrc.qp_attr.max_qp_hint : 100;
  struct mrc_qp_hint_init_attr init = {.attr = {.num_send_peers = 1}};
  for (unsigned i = 1; i < most; ++i) WANT((all[i] = mrc_create_qp_hint(a.context, &init)) != NULL);
  for (unsigned i = 0; i < most; ++i) EQUAL(mrc_destroy_qp_hint(all[i]), 0);
}

/* Asynchronous events. */

TEST(event, none, Verbs, "ibv_get_async_event", "With O_NONBLOCK and without an event: not 0, EAGAIN.") {
  open_end(&a, 0);
  WANT(fcntl(a.device->async_fd, F_SETFL, O_NONBLOCK) == 0);
  struct mrc_async_event event;
  errno = 0;
  WANT(mrc_get_async_event(a.context, &event) != 0);
  EQUAL(errno, EAGAIN);
}

TEST(event, QP_fails_for_want_of_a_buffer, Reading, "mrc_get_async_event",
     "More immediates than buffers end the responder's queue pair: IBV_EVENT_QP_FATAL names it.") {
  pair();
  post_imm(1, 10, 1);
  struct mrc_async_event event;
  EQUAL(mrc_get_async_event(b.context, &event), 0);
  EQUAL(event.event_type, IBV_EVENT_QP_FATAL);
  WANT(event.element.qp == b.qp);
  mrc_ack_async_event(&event);
  EQUAL(state_of(b.qp), IBV_QPS_ERR);
}

static void* destroys_qp(void* qp) {
  EQUAL(mrc_destroy_qp(qp), 0);
  __atomic_store_n(&destroyed, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

TEST(event, destroy_waits_for_acknowledgement, Verbs, "ibv_get_async_event",
     "mrc_destroy_qp returns when events of the queue pair are acknowledged, not before.") {
  pair();
  post_imm(1, 10, 1);
  struct mrc_async_event event;
  EQUAL(mrc_get_async_event(b.context, &event), 0);
  if (event.event_type != IBV_EVENT_QP_FATAL) skip_test("the event is not of a queue pair");
  pthread_t thread;
  WANT(pthread_create(&thread, NULL, destroys_qp, b.qp) == 0);
  pause_ms(100);
  EQUAL(__atomic_load_n(&destroyed, __ATOMIC_SEQ_CST), 0);
  mrc_ack_async_event(&event);
  WANT(pthread_join(thread, NULL) == 0);
}
