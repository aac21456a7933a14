/* SPDX-License-Identifier: Apache-2.0 */
/* WRITE and WRITE with immediate that succeed: bytes, completions, order, bounds. */
#include <arpa/inet.h>

#include "suite.h"

static const struct row kBytes[] = {
    {"1", 1, 0, 0},       {"2", 2, 0, 0},         {"255", 255, 0, 0},        {"256", 256, 0, 0},
    {"257", 257, 0, 0},   {"4095", 4095, 0, 0},   {"4096", 4096, 0, 0},      {"4097", 4097, 0, 0},
    {"8192", 8192, 0, 0}, {"65535", 65535, 0, 0}, {"1048576", 1048576, 0, 0}};
TESTS(write, bytes, kBytes, Header, "mrc_post_send; google LoopbackRcQpTest.BasicWrite, BasicWriteLargePayload",
      "A WRITE brings every byte where it belongs, and touches none beside.") {
  enum { kGuard = 64 };
  setup.bytes = (size_t)row->a + 2 * kGuard;
  pair();
  fill(a.buffer, setup.bytes, 1);
  memset(b.buffer, 0xee, setup.bytes);
  post_write(11, kGuard, kGuard, (uint32_t)row->a);
  const struct ibv_wc wc = next_is(a.send_cq, IBV_WC_SUCCESS);
  EQUAL(wc.wr_id, 11);
  EQUAL(wc.opcode, IBV_WC_RDMA_WRITE);
  EQUAL(wc.qp_num, a.qpn);
  WANT(memcmp(a.buffer + kGuard, b.buffer + kGuard, (size_t)row->a) == 0);
  for (int i = 0; i < kGuard; ++i) WANT(b.buffer[i] == 0xee && b.buffer[setup.bytes - 1 - (size_t)i] == 0xee);
}

static const struct row kPlaces[] = {
    {"1_to_0", 1, 0, 0}, {"0_to_1", 0, 1, 0}, {"3_to_7", 3, 7, 0}, {"63_to_4095", 63, 4095, 0}};
TESTS(write, from_offset, kPlaces, Verbs, "ibv_post_send", "Neither end has to be aligned.") {
  pair();
  fill(a.buffer, setup.bytes, 2);
  write_through(1, (size_t)row->a, (size_t)row->b, 9001);
  WANT(memcmp(a.buffer + row->a, b.buffer + row->b, 9001) == 0);
}

static const struct row kMtus[] = {{"256", IBV_MTU_256, 0, 0},
                                   {"512", IBV_MTU_512, 0, 0},
                                   {"1024", IBV_MTU_1024, 0, 0},
                                   {"2048", IBV_MTU_2048, 0, 0},
                                   {"4096", IBV_MTU_4096, 0, 0}};
TESTS(write, mtu, kMtus, Verbs, "ibv_modify_qp, path_mtu",
      "Each MTU up to the port's carries a message of several packets.") {
  open_end(&a, 0);
  struct ibv_port_attr port;
  EQUAL(ibv_query_port(a.device, 1, &port), 0);
  if ((int)port.active_mtu < row->a) skip_test("the port's MTU is smaller");
  setup.mtu = (enum ibv_mtu)row->a;
  pair();
  fill(a.buffer, setup.bytes, 3);
  write_through(1, 0, 0, 10000);
  WANT(is_filled(b.buffer, 10000, 3));
}

static const struct row kPsns[] = {
    {"0", 0, 0, 0}, {"1", 1, 0, 0}, {"before_the_wrap", 0xfffffe, 0, 0}, {"largest", 0xffffff, 0, 0}};
TESTS(write, first_psn, kPsns, Verbs, "ibv_modify_qp, sq_psn, rq_psn",
      "PSNs begin anywhere in 24 bits, and go round.") {
  setup.psn = (uint32_t)row->a;
  pair();
  fill(a.buffer, setup.bytes, 4);
  write_through(1, 0, 0, 40000);
  WANT(is_filled(b.buffer, 40000, 4));
}

TEST(write, to_an_iova, Verbs, "ibv_reg_mr_iova; google RdmaAccessTest.ZeroBasedAccess",
     "A region that begins at an address of the program's choice is written by that.") {
  pair();
  struct ibv_mr* mr = ibv_reg_mr_iova(b.pd, b.buffer, 8192, 0x10000, setup.access);
  if (mr == NULL && errno == EOPNOTSUPP) skip_test("ibv_reg_mr_iova: EOPNOTSUPP");
  WANT(mr != NULL);
  fill(a.buffer, 100, 5);
  struct write w = a_write(1, 0, 0, 100);
  w.wr.wr.rdma.remote_addr = 0x10000 + 4000;
  w.wr.wr.rdma.rkey = mr->rkey;
  EQUAL(post(a.qp, &w), 0);
  completes(a.send_cq, 1, IBV_WC_SUCCESS);
  WANT(is_filled(b.buffer + 4000, 100, 5));
}

TEST(write, ends_at_the_end_of_its_region, Verbs, "ibv_post_send", "The last byte of a region can be written.") {
  pair();
  fill(a.buffer, 100, 6);
  write_through(1, 0, setup.bytes - 100, 100);
  WANT(is_filled(b.buffer + setup.bytes - 100, 100, 6));
}

TEST(write, from_memory_without_write_access, Verbs, "ibv_reg_mr; google RdmaAccessTest.MissingSrcLocalWrite",
     "What a WRITE reads from needs no access flag.") {
  pair();
  struct ibv_mr* mr = ibv_reg_mr(a.pd, a.buffer, 4096, 0);
  WANT(mr != NULL);
  fill(a.buffer, 100, 7);
  struct write w = a_write(1, 0, 0, 100);
  w.sge.lkey = mr->lkey;
  EQUAL(post(a.qp, &w), 0);
  completes(a.send_cq, 1, IBV_WC_SUCCESS);
  WANT(is_filled(b.buffer, 100, 7));
}

TEST(write, several_in_a_list, Verbs, "ibv_post_send", "A list of work requests is posted in its order.") {
  pair();
  fill(a.buffer, setup.bytes, 8);
  struct write w[4];
  for (unsigned i = 0; i < 4; ++i) w[i] = a_write(i, i * 1000, i * 1000, 1000);
  chain(w, 4);
  EQUAL(post(a.qp, &w[0]), 0);
  for (unsigned i = 0; i < 4; ++i) completes(a.send_cq, i, IBV_WC_SUCCESS);
  WANT(is_filled(b.buffer, 4000, 8));
}

TEST(write, gathers, Verbs, "ibv_post_send, num_sge",
     "A message is gathered from as many places as max_sge, or four.") {
  open_end(&a, 0);
  const int count = a.verbs.max_sge < 4 ? a.verbs.max_sge : 4;
  if (count < 2) skip_test("max_sge is 1");
  pair();
  struct mrc_qp_init_attr init = {.send_cq = a.send_cq,
                                  .recv_cq = a.recv_cq,
                                  .pd = a.pd,
                                  .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = (uint32_t)count}};
  a.qp = mrc_create_qp(a.context, &init);
  WANT(a.qp != NULL && mrc_get_qpn(a.qp, &a.qpn) == 0);
  give_qp(&b);
  connect_qp(b.qp, a.qpn, &a.gid);
  connect_qp(a.qp, b.qpn, &b.gid);
  fill(a.buffer, setup.bytes, 9);
  struct write w = a_write(1, 0, 0, 0);
  struct ibv_sge parts[4];
  for (int i = 0; i < count; ++i) {
    parts[i] = w.sge;
    parts[i].addr += (uint64_t)(count - 1 - i) * 700;
    parts[i].length = 700;
  }
  w.wr.num_sge = count;
  w.wr.sg_list = parts;
  struct ibv_send_wr* bad = NULL;
  EQUAL(mrc_post_send(a.qp, &w.wr, &bad), 0);
  completes(a.send_cq, 1, IBV_WC_SUCCESS);
  for (int i = 0; i < count; ++i) WANT(memcmp(b.buffer + i * 700, a.buffer + (count - 1 - i) * 700, 700) == 0);
}

TEST(write, inline, Verbs, "ibv_post_send, IBV_SEND_INLINE; google LoopbackRcQpTest.WriteInlineData",
     "Inline data are read when they are posted, without a key.") {
  pair();
  struct mrc_qp_init_attr init = {.send_cq = a.send_cq,
                                  .recv_cq = a.recv_cq,
                                  .pd = a.pd,
                                  .cap = {.max_send_wr = 4, .max_send_sge = 1, .max_inline_data = 32}};
  a.qp = mrc_create_qp(a.context, &init);
  if (a.qp == NULL) skip_test("no queue pair with max_inline_data 32 (errno %s)", strerrorname_np(errno));
  EQUAL(mrc_get_qpn(a.qp, &a.qpn), 0);
  give_qp(&b);
  connect_qp(b.qp, a.qpn, &a.gid);
  connect_qp(a.qp, b.qpn, &b.gid);
  unsigned char data[32];
  fill(data, sizeof data, 10);
  struct write w = a_write(1, 0, 0, sizeof data);
  w.sge.addr = (uintptr_t)data;
  w.sge.lkey = 0xdeadbeef;
  w.wr.send_flags |= IBV_SEND_INLINE;
  EQUAL(post(a.qp, &w), 0);
  memset(data, 0, sizeof data);
  completes(a.send_cq, 1, IBV_WC_SUCCESS);
  WANT(is_filled(b.buffer, sizeof data, 10));
}

TEST(write, more_inline_than_there_is_room, Verbs, "ibv_post_send; google LoopbackRcQpTest.SendExceedMaxInlineData",
     "More inline data than max_inline_data are refused, and nothing completes.") {
  pair();
  struct ibv_qp_attr v = {0};
  struct mrc_qp_attr m;
  struct mrc_qp_init_attr init = {0};
  EQUAL(mrc_query_qp(a.qp, &v, IBV_QP_CAP, &m, 0, &init), 0);
  struct write w = a_write(1, 0, 0, init.cap.max_inline_data + 1);
  w.wr.send_flags |= IBV_SEND_INLINE;
  WANT(post(a.qp, &w) != 0);
  nothing_comes(a.send_cq);
}

/* Completions. */

TEST(completion, in_order, Verbs, "ibv_poll_cq",
     "Work requests of a queue pair complete in the order of their posting.") {
  pair();
  for (unsigned i = 0; i < 200; ++i) {
    post_write(i, 0, 0, i % 3 == 0 ? 20000 : 1);
    if (i >= 15) completes(a.send_cq, i - 15, IBV_WC_SUCCESS);
  }
  for (unsigned i = 185; i < 200; ++i) completes(a.send_cq, i, IBV_WC_SUCCESS);
}

TEST(completion, of_an_unsignaled_one, Verbs, "ibv_post_send; google LoopbackRcQpTest.UnsignaledWrite",
     "A WRITE without IBV_SEND_SIGNALED has no completion; the next one with it has.") {
  pair();
  struct write w = a_write(1, 0, 0, 100);
  w.wr.send_flags = 0;
  EQUAL(post(a.qp, &w), 0);
  write_through(2, 0, 0, 100);
  nothing_comes(a.send_cq);
}

TEST(completion, all_signaled, Verbs, "ibv_create_qp, sq_sig_all; google LoopbackRcQpTest.QpSigAll",
     "With sq_sig_all every WRITE has a completion.") {
  setup.sig_all = 1;
  pair();
  for (unsigned i = 0; i < 3; ++i) {
    struct write w = a_write(i, 0, 0, 100);
    w.wr.send_flags = 0;
    EQUAL(post(a.qp, &w), 0);
  }
  for (unsigned i = 0; i < 3; ++i) completes(a.send_cq, i, IBV_WC_SUCCESS);
}

TEST(completion, data_come_first, Verbs, "ibv_poll_cq", "When a receive completes, the data before it are in memory.") {
  pair();
  for (unsigned i = 0; i < 20; ++i) {
    post_recv(b.qp, i);
    fill(a.buffer, 30000, i);
    post_imm(i, 30000, i);
    completes(b.recv_cq, i, IBV_WC_SUCCESS);
    WANT(is_filled(b.buffer, 30000, i));
    completes(a.send_cq, i, IBV_WC_SUCCESS);
  }
}

TEST(completion, data_of_writes_before_come_first, Verbs, "ibv_poll_cq",
     "An immediate says that all WRITEs of its queue pair before it are in memory, too.") {
  pair();
  for (unsigned i = 0; i < 10; ++i) {
    post_recv(b.qp, i);
    fill(a.buffer, 60000, i);
    post_write(100 + i, 0, 0, 60000);
    post_imm(i, 1, i);
    completes(b.recv_cq, i, IBV_WC_SUCCESS);
    WANT(is_filled(b.buffer, 60000, i));
    completes(a.send_cq, 100 + i, IBV_WC_SUCCESS);
    completes(a.send_cq, i, IBV_WC_SUCCESS);
  }
}

/* Immediates. */

static const struct row kImms[] = {
    {"0_bytes", 0, 0, 0}, {"1_byte", 1, 0, 0}, {"4096_bytes", 4096, 0, 0}, {"50000_bytes", 50000, 0, 0}};
TESTS(imm, of, kImms, Verbs, "ibv_post_send; google LoopbackRcQpTest.WriteImmData, WriteZeroByteWithImmData",
      "An immediate takes a receive, which tells its number, its bytes and what was sent.") {
  pair();
  fill(a.buffer, setup.bytes, 1);
  post_recv(b.qp, 77);
  post_imm(5, (uint32_t)row->a, 0x01020304);
  completes(a.send_cq, 5, IBV_WC_SUCCESS);
  const struct ibv_wc wc = next_is(b.recv_cq, IBV_WC_SUCCESS);
  EQUAL(wc.wr_id, 77);
  EQUAL(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EQUAL(wc.byte_len, row->a);
  EQUAL(wc.qp_num, b.qpn);
  WANT((wc.wc_flags & IBV_WC_WITH_IMM) != 0);
  EQUAL(ntohl(wc.imm_data), 0x01020304);
  WANT(is_filled(b.buffer, (size_t)row->a, 1));
}

TEST(imm, without_scatter_gather_entries, Verbs, "ibv_post_send; google LoopbackRcQpTest.WriteZeroByteWithImmData",
     "An immediate may have no bytes and no entries.") {
  pair();
  memset(b.buffer, 0xee, 64);
  post_recv(b.qp, 1);
  struct write w = an_immediate(1, 0, 0, 0, 9);
  w.wr.num_sge = 0;
  EQUAL(post(a.qp, &w), 0);
  completes(a.send_cq, 1, IBV_WC_SUCCESS);
  completes(b.recv_cq, 1, IBV_WC_SUCCESS);
  EQUAL(b.buffer[0], 0xee);
}

TEST(imm, receive_buffer_is_not_touched, Verbs, "ibv_post_recv; google LoopbackRcQpTest.WriteImmData",
     "Bytes go where the WRITE says; the receive's own entries stay as they are.") {
  pair();
  memset(b.buffer + 32768, 0xee, 4096);
  struct ibv_sge sge = {.addr = (uintptr_t)(b.buffer + 32768), .length = 4096, .lkey = b.mr->lkey};
  struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
  EQUAL(mrc_post_recv(b.qp, &wr, &bad), 0);
  fill(a.buffer, 100, 1);
  post_imm(1, 100, 1);
  completes(b.recv_cq, 1, IBV_WC_SUCCESS);
  WANT(is_filled(b.buffer, 100, 1));
  for (int i = 0; i < 4096; ++i) EQUAL(b.buffer[32768 + i], 0xee);
}

TEST(imm, receives_in_order, Verbs, "ibv_post_recv",
     "Receives are taken in the order of their posting, and so come immediates.") {
  pair();
  for (unsigned i = 0; i < 8; ++i) post_recv(b.qp, 100 + i);
  for (unsigned i = 0; i < 8; ++i) post_imm(i, i % 2 == 0 ? 30000 : 1, i);
  for (unsigned i = 0; i < 8; ++i) {
    const struct ibv_wc wc = next_is(b.recv_cq, IBV_WC_SUCCESS);
    EQUAL(wc.wr_id, 100 + i);
    EQUAL(ntohl(wc.imm_data), i);
  }
}

TEST(imm, a_write_takes_no_receive, Verbs, "ibv_post_send", "A WRITE without an immediate takes no receive.") {
  pair();
  post_recv(b.qp, 1);
  write_through(1, 0, 0, 100);
  nothing_comes(b.recv_cq);
  post_imm(2, 1, 2);
  completes(b.recv_cq, 1, IBV_WC_SUCCESS);
}

TEST(imm, more_than_may_be_on_their_way, Header, "mrc_qp_attr.wimm",
     "max_wimm bounds what is on its way, not what may be posted: all come, in order.") {
  fill_end(&a, 0);
  setup.mrc.wimm.max_wimm = setup.mrc.wimm.max_wimm_dest = 1;
  setup.rtr_mask = MRC_QP_MAX_WIMM_DEST;
  setup.rts_mask = MRC_QP_MAX_WIMM;
  pair();
  for (unsigned i = 0; i < 12; ++i) post_recv(b.qp, i);
  for (unsigned i = 0; i < 12; ++i) post_imm(i, 5000, i);
  for (unsigned i = 0; i < 12; ++i) completes(a.send_cq, i, IBV_WC_SUCCESS);
  for (unsigned i = 0; i < 12; ++i) completes(b.recv_cq, i, IBV_WC_SUCCESS);
}

TEST(imm, receives_posted_before_RTR, Verbs, "ibv_post_recv; google QpStateTest.PostRecvInit",
     "Receives can be posted from INIT on, and are there when immediates come.") {
  fill_end(&a, 0);
  fill_end(&b, 1);
  give_qp(&a);
  give_qp(&b);
  EQUAL(to_init(b.qp), 0);
  for (unsigned i = 0; i < 4; ++i) post_recv(b.qp, i);
  EQUAL(to_rtr(b.qp, a.qpn, &a.gid), 0);
  EQUAL(to_rts(b.qp), 0);
  connect_qp(a.qp, b.qpn, &b.gid);
  for (unsigned i = 0; i < 4; ++i) post_imm(i, 1, i);
  for (unsigned i = 0; i < 4; ++i) completes(b.recv_cq, i, IBV_WC_SUCCESS);
}

TEST(imm, responder_in_RTR, Verbs, "ibv_modify_qp", "A queue pair in RTR receives, though it cannot send.") {
  fill_end(&a, 0);
  fill_end(&b, 1);
  give_qp(&a);
  give_qp(&b);
  EQUAL(to_init(b.qp), 0);
  EQUAL(to_rtr(b.qp, a.qpn, &a.gid), 0);
  connect_qp(a.qp, b.qpn, &b.gid);
  post_recv(b.qp, 3);
  post_imm(1, 100, 1);
  completes(a.send_cq, 1, IBV_WC_SUCCESS);
  completes(b.recv_cq, 3, IBV_WC_SUCCESS);
}

/* Both directions, many. */

TEST(traffic, both_directions, Verbs, "ibv_post_send", "Both ends of a connection send at the same time.") {
  pair();
  fill(a.buffer, 20000, 1);
  fill(b.buffer + 20000, 20000, 2);
  for (unsigned i = 0; i < 8; ++i) {
    post_write(i, 0, 0, 20000);
    struct write w = a_write(i, 0, 0, 20000);
    w.sge.addr = (uintptr_t)(b.buffer + 20000);
    w.sge.lkey = b.mr->lkey;
    w.wr.wr.rdma.remote_addr = (uintptr_t)(a.buffer + 20000);
    w.wr.wr.rdma.rkey = a.mr->rkey;
    EQUAL(post(b.qp, &w), 0);
  }
  for (unsigned i = 0; i < 8; ++i) {
    completes(a.send_cq, i, IBV_WC_SUCCESS);
    completes(b.send_cq, i, IBV_WC_SUCCESS);
  }
  WANT(is_filled(b.buffer, 20000, 1) && is_filled(a.buffer + 20000, 20000, 2));
}

TEST(traffic, to_the_same_device, Verbs, "ibv_modify_qp; google LoopbackFixture",
     "Two queue pairs of one device can be connected with each other.") {
  fill_end(&a, 0);
  fill_end(&b, 0);
  pair();
  fill(a.buffer, 5000, 1);
  write_through(1, 0, 0, 5000);
  WANT(is_filled(b.buffer, 5000, 1));
}

TEST(traffic, queue_is_filled_again_and_again, Verbs, "ibv_post_send; google QpPostTest.OverflowSendWr",
     "A place in the send queue is free again when its completion was polled.") {
  pair();
  unsigned done = 0;
  for (unsigned i = 0; i < 500; ++i) {
    struct write w = a_write(i, 0, 0, 64);
    const int error = post(a.qp, &w);
    if (error == 0) continue;
    WANT(i - done >= setup.send_wr);
    completes(a.send_cq, done++, IBV_WC_SUCCESS);
    EQUAL(post(a.qp, &w), 0);
  }
  while (done < 500) completes(a.send_cq, done++, IBV_WC_SUCCESS);
}

static const struct row kManyQps[] = {{"10", 10, 0, 0}, {"100", 100, 0, 0}};
TESTS(traffic, of_queue_pairs, kManyQps, Verbs, "google StressTest.Write32B100Qp100kOps",
      "Many queue pairs send together: ten WRITEs each, and each byte arrives.") {
  fill_end(&a, 0);
  const unsigned count = (unsigned)row->a;
  if (a.verbs.max_qp < 2 * row->a) skip_test("max_qp is %d", a.verbs.max_qp);
  setup.cqe = 1024;
  EQUAL(mrc_destroy_cq(a.send_cq), 0);
  a.send_cq = mrc_create_cq(a.context, setup.cqe, NULL, NULL, 0);
  fill_end(&b, 1);
  static struct mrc_qp *from[100], *to[100];
  for (unsigned i = 0; i < count; ++i) {
    give_qp(&a);
    give_qp(&b);
    connect_qp(b.qp, a.qpn, &a.gid);
    connect_qp(a.qp, b.qpn, &b.gid);
    from[i] = a.qp;
    to[i] = b.qp;
  }
  WANT(to[count - 1] != NULL);
  fill(a.buffer, setup.bytes, 1);
  for (unsigned i = 0; i < 10 * count; ++i) {
    struct write w = a_write(i, i * 32, i * 32, 32);
    EQUAL(post(from[i % count], &w), 0);
  }
  static unsigned seen[1000];
  for (unsigned i = 0; i < 10 * count; ++i) {
    const struct ibv_wc wc = next_is(a.send_cq, IBV_WC_SUCCESS);
    WANT(wc.wr_id < 10 * count && seen[wc.wr_id]++ == 0);
  }
  WANT(is_filled(b.buffer, (size_t)count * 320, 1));
}
