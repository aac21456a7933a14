/* SPDX-License-Identifier: Apache-2.0 */
/* What a program does wrong, or its peer: what is refused, what fails, what is flushed. */
#include "suite.h"

static const struct row kOpcodes[] = {{"SEND", IBV_WR_SEND, 0, 0},
                                      {"SEND_WITH_IMM", IBV_WR_SEND_WITH_IMM, 0, 0},
                                      {"SEND_WITH_INV", IBV_WR_SEND_WITH_INV, 0, 0},
                                      {"RDMA_READ", IBV_WR_RDMA_READ, 0, 0},
                                      {"ATOMIC_CMP_AND_SWP", IBV_WR_ATOMIC_CMP_AND_SWP, 0, 0},
                                      {"ATOMIC_FETCH_AND_ADD", IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0},
                                      {"LOCAL_INV", IBV_WR_LOCAL_INV, 0, 0},
                                      {"BIND_MW", IBV_WR_BIND_MW, 0, 0},
                                      {"TSO", IBV_WR_TSO, 0, 0},
                                      {"99", 99, 0, 0}};
TESTS(post, opcode, kOpcodes, Header, "mrc_post_send",
      "Work other than WRITE and WRITE with immediate is refused: EINVAL.") {
  pair();
  struct write w = a_write(1, 0, 0, 8);
  w.wr.opcode = (enum ibv_wr_opcode)row->a;
  w.wr.sg_list = &w.sge;
  struct ibv_send_wr* bad = NULL;
  REFUSED(mrc_post_send(a.qp, &w.wr, &bad), EINVAL);
  WANT(bad == &w.wr);
  write_through(2, 0, 0, 8);
}

static const struct row kEarly[] = {
    {"RESET", IBV_QPS_RESET, 0, 0}, {"INIT", IBV_QPS_INIT, 0, 0}, {"RTR", IBV_QPS_RTR, 0, 0}};
TESTS(post, send_in, kEarly, Verbs, "ibv_post_send; google QpStateTest.PostSendReset, PostSendInit, PostSendRtr",
      "Before RTS nothing can be sent: an error, and nothing completes.") {
  one((enum ibv_qp_state)row->a);
  struct write w = a_write(1, 0, 0, 8);
  WANT(post(a.qp, &w) != 0);
  nothing_comes(a.send_cq);
}

TEST(post, recv_in_RESET, Verbs, "ibv_post_recv; google QpStateTest.PostRecvReset",
     "In RESET nothing can be received: an error.") {
  one(IBV_QPS_RESET);
  struct ibv_recv_wr wr = {.wr_id = 1}, *bad = NULL;
  WANT(mrc_post_recv(a.qp, &wr, &bad) != 0 && bad == &wr);
}

static const struct row kLater[] = {
    {"INIT", IBV_QPS_INIT, 0, 0}, {"RTR", IBV_QPS_RTR, 0, 0}, {"RTS", IBV_QPS_RTS, 0, 0}};
TESTS(post, recv_in, kLater, Verbs, "ibv_post_recv; google QpStateTest.PostRecvInit, PostRecvRtr",
      "Receives are taken from INIT on.") {
  one((enum ibv_qp_state)row->a);
  post_recv(a.qp, 1);
}

TEST(post, recv_returns_minus_one, Header, "mrc_post_recv", "What fails returns -1.") {
  one(IBV_QPS_RESET);
  struct ibv_recv_wr wr = {.wr_id = 1}, *bad = NULL;
  EQUAL(mrc_post_recv(a.qp, &wr, &bad), -1);
}

TEST(post, send_returns_an_errno, Header, "mrc_post_send", "Errors are those of ibv_post_send: an errno itself.") {
  one(IBV_QPS_RESET);
  struct write w = a_write(1, 0, 0, 8);
  WANT(post(a.qp, &w) > 0);
}

TEST(post, send_to_no_QP, Verbs, "ibv_post_send", "NULL is no queue pair: an error.") {
  fill_end(&a, 0);
  struct write w = a_write(1, 0, 0, 8);
  WANT(post(NULL, &w) != 0);
}

TEST(post, send_queue_is_full, Verbs, "ibv_post_send; google LoopbackRcQpTest.FullSubmissionQueue",
     "A full send queue refuses: ENOMEM, and names the request.") {
  pair();
  struct write w = a_write(0, 0, 0, 1);
  unsigned posted = 0;
  int error = 0;
  for (; posted < 1 << 16 && error == 0; posted += error == 0) {
    w.wr.wr_id = posted;
    error = post(a.qp, &w);
  }
  WANT(posted >= setup.send_wr);
  EQUAL(error, ENOMEM);
  for (unsigned i = 0; i < posted; ++i) completes(a.send_cq, i, IBV_WC_SUCCESS);
}

TEST(post, recv_queue_is_full, Verbs, "ibv_post_recv", "A full receive queue refuses: ENOMEM.") {
  one(IBV_QPS_INIT);
  struct ibv_recv_wr wr = {.wr_id = 1}, *bad = NULL;
  unsigned posted = 0;
  while (posted < 1 << 16 && mrc_post_recv(a.qp, &wr, &bad) == 0) ++posted;
  EQUAL(errno, ENOMEM);
  WANT(posted >= setup.recv_wr && posted < 1 << 16 && bad == &wr);
}

TEST(post, list_with_a_wrong_one, Verbs, "ibv_post_send, bad_wr",
     "Of a list those before the wrong one are posted; bad_wr names it, those behind are not posted.") {
  pair();
  struct write w[4];
  for (unsigned i = 0; i < 4; ++i) w[i] = a_write(i, 0, 0, 8);
  chain(w, 4);
  w[2].wr.opcode = IBV_WR_RDMA_READ;
  struct ibv_send_wr* bad = NULL;
  WANT(mrc_post_send(a.qp, &w[0].wr, &bad) != 0);
  WANT(bad == &w[2].wr);
  completes(a.send_cq, 0, IBV_WC_SUCCESS);
  completes(a.send_cq, 1, IBV_WC_SUCCESS);
  nothing_comes(a.send_cq);
}

static const struct row kSges[] = {{"negative", -1, 0, 0}, {"too_many", 0, 1, 0}};
TESTS(post, entries, kSges, Verbs, "ibv_post_send, num_sge",
      "Fewer scatter/gather entries than none, or too many: an error.") {
  pair();
  struct write w = a_write(1, 0, 0, 8);
  static struct ibv_sge many[1 << 10];
  for (size_t i = 0; i < sizeof many / sizeof *many; ++i) many[i] = w.sge;
  w.wr.num_sge = row->b != 0 ? a.verbs.max_sge + 1 : -1;
  w.wr.sg_list = many;
  struct ibv_send_wr* bad = NULL;
  WANT(mrc_post_send(a.qp, &w.wr, &bad) != 0 && bad == &w.wr);
}

/* Failures: two that are good, one that is wrong, two behind it. */

static void fails(struct write wrong, enum ibv_wc_status status) {
  post_write(0, 0, 0, 5000);
  post_write(1, 0, 0, 5000);
  wrong.wr.wr_id = 2;
  EQUAL(post(a.qp, &wrong), 0);
  completes(a.send_cq, 0, IBV_WC_SUCCESS);
  completes(a.send_cq, 1, IBV_WC_SUCCESS);
  completes(a.send_cq, 2, status);
  post_write(3, 0, 0, 5000);
  completes(a.send_cq, 3, IBV_WC_WR_FLUSH_ERR);
  EQUAL(state_of(a.qp), IBV_QPS_ERR);
}

static const struct row kLocal[] = {{"no_such_L_Key", 0, 0, 0},
                                    {"before_the_region", 1, 0, 0},
                                    {"behind_the_region", 2, 0, 0},
                                    {"region_of_another_PD", 3, 0, 0},
                                    {"region_that_is_gone", 4, 0, 0}};
TESTS(
    fail, locally, kLocal, Verbs,
    "ibv_poll_cq; google LoopbackRcQpTest.WriteInvalidLkey, BufferMrTest, PdRcLoopbackMrTest.BasicWriteMrOtherPdLocal",
    "A source that is in no region of the PD: IBV_WC_LOC_PROT_ERR, and the queue pair is in ERR.") {
  pair();
  struct write w = a_write(2, 0, 0, 5000);
  if (row->a == 0) w.sge.lkey ^= 0x5a5a00;
  if (row->a == 1) w.sge.addr -= 1;
  if (row->a == 2) w.sge.addr += setup.bytes - 4999;
  if (row->a >= 3) {
    struct ibv_pd* pd = row->a == 3 ? ibv_alloc_pd(a.device) : a.pd;
    WANT(pd != NULL);
    struct ibv_mr* mr = ibv_reg_mr(pd, a.buffer, setup.bytes, setup.access);
    WANT(mr != NULL);
    w.sge.lkey = mr->lkey;
    if (row->a == 4) EQUAL(ibv_dereg_mr(mr), 0);
  }
  fails(w, IBV_WC_LOC_PROT_ERR);
}

static const struct row kRemote[] = {{"no_such_R_Key", 0, 0, 0},       {"before_the_region", 1, 0, 0},
                                     {"behind_the_region", 2, 0, 0},   {"region_without_remote_write", 3, 0, 0},
                                     {"region_that_is_gone", 4, 0, 0}, {"far_away", 5, 0, 0}};
TESTS(fail, remotely, kRemote, Verbs,
      "ibv_poll_cq; google LoopbackRcQpTest.WriteInvalidRkey, RdmaAccessTest.MissingDstRemoteWrite, "
      "BufferMrTest.WriteExceedFront, WriteExceedRear",
      "A destination that is in no region for remote writes: IBV_WC_REM_ACCESS_ERR, and nothing outside is written.") {
  enum { kBegin = 8192, kBytes = 8192 };
  pair();
  memset(b.buffer, 0, setup.bytes);
  fill(a.buffer, setup.bytes, 1);
  struct ibv_mr* mr = ibv_reg_mr(b.pd, b.buffer + kBegin, kBytes, row->a == 3 ? IBV_ACCESS_LOCAL_WRITE : setup.access);
  WANT(mr != NULL);
  struct write w = a_write(2, 0, kBegin, 5000);
  w.wr.wr.rdma.rkey = mr->rkey;
  if (row->a == 0) w.wr.wr.rdma.rkey ^= 0x5a5a00;
  if (row->a == 1) w.wr.wr.rdma.remote_addr -= 1;
  if (row->a == 2) w.wr.wr.rdma.remote_addr += kBytes - 4999;
  if (row->a == 4) EQUAL(ibv_dereg_mr(mr), 0);
  if (row->a == 5) w.wr.wr.rdma.remote_addr = 0x1000;
  fails(w, IBV_WC_REM_ACCESS_ERR);
  for (size_t i = 5000; i < setup.bytes; ++i) { /* of two that are good come 5000 bytes */
    if ((row->a != 1 && row->a != 2) || i < kBegin || i >= kBegin + kBytes) EQUAL(b.buffer[i], 0);
  }
}

TEST(fail, wrong_key_of_an_immediate, Verbs, "ibv_poll_cq; google LoopbackRcQpTest.WriteImmDataInvalidRKey",
     "An immediate whose WRITE is not allowed fails, and its receive does not complete with success.") {
  pair();
  post_recv(b.qp, 1);
  struct write w = an_immediate(1, 0, 0, 100, 1);
  w.wr.wr.rdma.rkey ^= 0x5a5a00;
  EQUAL(post(a.qp, &w), 0);
  completes(a.send_cq, 1, IBV_WC_REM_ACCESS_ERR);
  struct ibv_wc wc;
  for (int i = 0; i < 20; ++i) {
    if (mrc_poll_cq(b.recv_cq, 1, &wc) == 1) WANT(wc.status != IBV_WC_SUCCESS);
    pause_ms(1);
  }
}

TEST(fail, both_keys_wrong, Verbs, "ibv_poll_cq; google LoopbackRcQpTest.WriteInvalidRKeyAndInvalidLKey",
     "With both keys wrong the own one counts: IBV_WC_LOC_PROT_ERR.") {
  pair();
  struct write w = a_write(2, 0, 0, 5000);
  w.sge.lkey ^= 0x5a5a00;
  w.wr.wr.rdma.rkey ^= 0x5a5a00;
  fails(w, IBV_WC_LOC_PROT_ERR);
}

TEST(fail, an_unsignaled_one, Verbs, "ibv_post_send; google LoopbackRcQpTest.UnsignaledWriteInvalidRkey",
     "A WRITE that fails has a completion, signaled or not.") {
  pair();
  struct write w = a_write(9, 0, 0, 100);
  w.wr.send_flags = 0;
  w.wr.wr.rdma.rkey ^= 0x5a5a00;
  EQUAL(post(a.qp, &w), 0);
  completes(a.send_cq, 9, IBV_WC_REM_ACCESS_ERR);
}

TEST(fail, no_bytes_need_no_key, Verbs, "ibv_post_send; google BufferMrTest.WriteZeroByteInvalidRKey",
     "A WRITE of no bytes looks at no key; an implementation may refuse it when it is posted.") {
  pair();
  struct write w = a_write(1, 0, 0, 0);
  w.sge.lkey ^= 0x5a5a00;
  w.wr.wr.rdma.rkey ^= 0x5a5a00;
  if (post(a.qp, &w) != 0) skip_test("a WRITE of no bytes is refused");
  const struct ibv_wc wc = next(a.send_cq);
  WANT(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_LOC_LEN_ERR);
}

static const struct row kPeers[] = {{"in_ERR", 0, 0, 0}, {"that_is_destroyed", 1, 0, 0}};
TESTS(fail, at_a_peer, kPeers, Verbs,
      "ibv_poll_cq; google ResponderQpStateTest.ResponderNotReadyToReceive, QpDestroyTargetWhileActive",
      "A peer that does not receive: the WRITE fails in the end, and the queue pair with it.") {
  fill_end(&a, 0);
  setup.mrc.timeout = 1;
  setup.mrc.retry.linear_cnt = 1;
  setup.mrc.retry.exp_cnt = 0;
  setup.rts_mask = MRC_QP_TIMEOUT | MRC_QP_RETRY_CNT;
  pair();
  write_through(1, 0, 0, 100);
  if (row->a == 0) EQUAL(to_state(b.qp, IBV_QPS_ERR), 0);
  if (row->a == 1) EQUAL(mrc_destroy_qp(b.qp), 0);
  post_write(2, 0, 0, 100);
  const struct ibv_wc wc = next(a.send_cq);
  EQUAL(wc.wr_id, 2);
  WANT(wc.status == IBV_WC_RETRY_EXC_ERR || wc.status == IBV_WC_REM_OP_ERR || wc.status == IBV_WC_REM_INV_REQ_ERR ||
       wc.status == IBV_WC_REM_ACCESS_ERR || wc.status == IBV_WC_FATAL_ERR);
  EQUAL(state_of(a.qp), IBV_QPS_ERR);
}

/* Flushing. */

TEST(flush, receives, Verbs, "ibv_modify_qp; google QpStateTest.ModRtsToError",
     "In ERR receives are flushed, in order, with their numbers.") {
  pair();
  for (unsigned i = 0; i < 4; ++i) post_recv(b.qp, i);
  EQUAL(to_state(b.qp, IBV_QPS_ERR), 0);
  for (unsigned i = 0; i < 4; ++i) completes(b.recv_cq, i, IBV_WC_WR_FLUSH_ERR);
  nothing_comes(b.recv_cq);
}

TEST(flush, sends_after_ERR, Verbs, "ibv_post_send; google QpStateTest.PostSendErr",
     "What is posted in ERR is flushed.") {
  pair();
  EQUAL(to_state(a.qp, IBV_QPS_ERR), 0);
  for (unsigned i = 0; i < 4; ++i) post_write(i, 0, 0, 8);
  for (unsigned i = 0; i < 4; ++i) completes(a.send_cq, i, IBV_WC_WR_FLUSH_ERR);
}

TEST(flush, receives_after_ERR, Verbs, "ibv_post_recv; google QpStateTest.PostRecvErr",
     "Receives that are posted in ERR are flushed.") {
  pair();
  EQUAL(to_state(b.qp, IBV_QPS_ERR), 0);
  for (unsigned i = 0; i < 4; ++i) post_recv(b.qp, i);
  for (unsigned i = 0; i < 4; ++i) completes(b.recv_cq, i, IBV_WC_WR_FLUSH_ERR);
}

TEST(flush, in_the_middle_of_traffic, Verbs, "ibv_modify_qp; google LoopbackRcQpTest.FlushErrorPollTogether",
     "To ERR under traffic: each request completes once, in order, with success first and flushes behind.") {
  pair();
  for (unsigned i = 0; i < setup.send_wr; ++i) post_write(i, 0, 0, 60000);
  EQUAL(to_state(a.qp, IBV_QPS_ERR), 0);
  int flushed = 0;
  for (unsigned i = 0; i < setup.send_wr; ++i) {
    const struct ibv_wc wc = next(a.send_cq);
    EQUAL(wc.wr_id, i);
    WANT(wc.status == IBV_WC_WR_FLUSH_ERR || (wc.status == IBV_WC_SUCCESS && !flushed));
    flushed = wc.status != IBV_WC_SUCCESS;
  }
  nothing_comes(a.send_cq);
}

TEST(flush, unsignaled_ones_too, Verbs, "ibv_post_send", "Flushed requests complete, signaled or not.") {
  pair();
  EQUAL(to_state(a.qp, IBV_QPS_ERR), 0);
  struct write w = a_write(5, 0, 0, 8);
  w.wr.send_flags = 0;
  EQUAL(post(a.qp, &w), 0);
  completes(a.send_cq, 5, IBV_WC_WR_FLUSH_ERR);
}

TEST(flush, RESET_forgets, Verbs, "ibv_modify_qp", "To RESET: requests are forgotten, and complete no more.") {
  pair();
  for (unsigned i = 0; i < 4; ++i) post_recv(b.qp, i);
  EQUAL(to_state(b.qp, IBV_QPS_RESET), 0);
  nothing_comes(b.recv_cq);
  connect_qp(b.qp, a.qpn, &a.gid);
  for (unsigned i = 0; i < setup.recv_wr; ++i) post_recv(b.qp, i);
}
