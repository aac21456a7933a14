/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs: how they are made, their steps, their attributes. */
#include <pthread.h>

#include "suite.h"

static struct mrc_qp_init_attr init_of(const struct end* e) {
  struct mrc_qp_init_attr init = {.send_cq = e->send_cq,
                                  .recv_cq = e->recv_cq,
                                  .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
                                  .pd = e->pd};
  return init;
}

TEST(create, begins_in_RESET, Header, "mrc_create_qp, examples/mrc_qp.md; google QpTest.Create",
     "A new queue pair is in RESET and has what it was made with.") {
  fill_end(&a, 0);
  static int mine;
  struct mrc_qp_init_attr init = init_of(&a), got;
  init.qp_context = &mine;
  init.sq_sig_all = 1;
  a.qp = mrc_create_qp(a.context, &init);
  WANT(a.qp != NULL);
  struct ibv_qp_attr v;
  struct mrc_qp_attr m;
  EQUAL(mrc_query_qp(a.qp, &v, IBV_QP_STATE | IBV_QP_CAP, &m, 0, &got), 0);
  EQUAL(v.qp_state, IBV_QPS_RESET);
  WANT(got.qp_context == &mine && got.pd == a.pd && got.send_cq == a.send_cq && got.recv_cq == a.recv_cq);
  WANT(got.sq_sig_all != 0 && got.cap.max_send_wr >= 4 && got.cap.max_recv_wr >= 4 && got.cap.max_send_sge >= 1);
}

static const struct row kLacking[] = {
    {"attributes", 0, 0, 0}, {"PD", 1, 0, 0}, {"send_cq", 2, 0, 0}, {"recv_cq", 3, 0, 0}};
TESTS(create, without, kLacking, Verbs, "ibv_create_qp; google QpTest.CreateWithInvalidSendCq, CreateWithInvalidRecvCq",
      "A queue pair needs a PD and two completion queues: EINVAL.") {
  fill_end(&a, 0);
  struct mrc_qp_init_attr init = init_of(&a);
  if (row->a == 1) init.pd = NULL;
  if (row->a == 2) init.send_cq = NULL;
  if (row->a == 3) init.recv_cq = NULL;
  NOTHING(mrc_create_qp(a.context, row->a == 0 ? NULL : &init), EINVAL);
}

static const struct row kForeign[] = {{"PD", 1, 0, 0}, {"send_cq", 2, 0, 0}, {"recv_cq", 3, 0, 0}};
TESTS(create, with_a_foreign, kForeign, Verbs, "ibv_create_qp; google PdTest.AllocQpWithInvalidPd",
      "PD and completion queues are of the same device.") {
  fill_end(&a, 0);
  fill_end(&b, 1);
  struct mrc_qp_init_attr init = init_of(&a);
  if (row->a == 1) init.pd = b.pd;
  if (row->a == 2) init.send_cq = b.send_cq;
  if (row->a == 3) init.recv_cq = b.recv_cq;
  WANT(mrc_create_qp(a.context, &init) == NULL);
}

static const struct row kQueues[] = {{"send", 1, 0, 1}, {"recv", 0, 1, 1}, {"no_send", 0, 4, 0}, {"no_recv", 4, 0, 0}};
TESTS(create, with_queues_of, kQueues, Verbs, "ibv_create_qp; google QpTest.MaxQpWr, ZeroSendWr",
      "A queue holds max_qp_wr work requests, or none.") {
  fill_end(&a, 0);
  struct mrc_qp_init_attr init = init_of(&a);
  init.cap.max_send_wr = (uint32_t)(row->c != 0 ? row->a * a.verbs.max_qp_wr : row->a);
  init.cap.max_recv_wr = (uint32_t)(row->c != 0 ? row->b * a.verbs.max_qp_wr : row->b);
  WANT(mrc_create_qp(a.context, &init) != NULL);
}

static const struct row kLimits[] = {
    {"send_wr", 1, 0, 0}, {"recv_wr", 2, 0, 0}, {"send_sge", 3, 0, 0}, {"recv_sge", 4, 0, 0}};
TESTS(create, above, kLimits, Verbs, "ibv_create_qp; google QpTest.MaxQpWr, MaxSge",
      "More than a limit of ibv_query_device is refused: EINVAL.") {
  fill_end(&a, 0);
  struct mrc_qp_init_attr init = init_of(&a);
  if (row->a == 1) init.cap.max_send_wr = (uint32_t)a.verbs.max_qp_wr + 1;
  if (row->a == 2) init.cap.max_recv_wr = (uint32_t)a.verbs.max_qp_wr + 1;
  if (row->a == 3) init.cap.max_send_sge = (uint32_t)a.verbs.max_sge + 1;
  if (row->a == 4) init.cap.max_recv_sge = (uint32_t)a.verbs.max_sge + 1;
  NOTHING(mrc_create_qp(a.context, &init), EINVAL);
}

TEST(create, all_scatter_gather_entries, Verbs, "ibv_create_qp; google QpTest.MaxSge", "max_sge entries can be had.") {
  fill_end(&a, 0);
  struct mrc_qp_init_attr init = init_of(&a);
  init.cap.max_send_sge = init.cap.max_recv_sge = (uint32_t)a.verbs.max_sge;
  WANT(mrc_create_qp(a.context, &init) != NULL);
}

static const struct row kOps[] = {{"SEND", IBV_QP_EX_WITH_SEND, 0, 0},
                                  {"SEND_WITH_IMM", IBV_QP_EX_WITH_SEND_WITH_IMM, 0, 0},
                                  {"READ", IBV_QP_EX_WITH_RDMA_READ, 0, 0},
                                  {"CMP_AND_SWP", IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, 0, 0},
                                  {"FETCH_AND_ADD", IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, 0, 0},
                                  {"BIND_MW", IBV_QP_EX_WITH_BIND_MW, 0, 0},
                                  {"a_bit_without_meaning", 1L << 40, 0, 0}};
TESTS(create, for_work_that_MRC_has_not, kOps, Header, "mrc_post_send",
      "MRC has WRITE and WRITE with immediate: a queue pair for other work is refused.") {
  fill_end(&a, 0);
  struct mrc_qp_init_attr init = init_of(&a);
  init.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | (uint64_t)row->a;
  WANT(mrc_create_qp(a.context, &init) == NULL);
}

static const struct row kProtocols[] = {
    {"default", MRC_PROTOCOL_VERSION_0, 1, 0}, {"1", MRC_PROTOCOL_VERSION_1, 1, 0}, {"unknown", 1 << 20, 0, 0}};
TESTS(create, for_protocol_version, kProtocols, Header, "mrc_qp_init_attr.protocol_version",
      "0 leaves the version to the library, others are those that the device names.") {
  fill_end(&a, 0);
  struct mrc_qp_init_attr init = init_of(&a);
  init.protocol_version = (enum mrc_protocol_version)row->a;
  WANT((mrc_create_qp(a.context, &init) != NULL) == (row->b != 0));
}

TEST(create, numbers_differ, Header, "mrc_get_qpn",
     "Each queue pair of a device has a number of its own, of 24 bits.") {
  fill_end(&a, 0);
  uint32_t qpn[16];
  for (int i = 0; i < 16; ++i) {
    EQUAL(mrc_get_qpn(new_qp(&a), &qpn[i]), 0);
    WANT(qpn[i] < 1u << 24);
    for (int k = 0; k < i; ++k) WANT(qpn[k] != qpn[i]);
  }
}

static const struct row kNoNumber[] = {{"QP", 0, 1, 0}, {"place", 1, 0, 0}};
TESTS(create, number_without_a, kNoNumber, Header, "mrc_get_qpn", "What fails returns -1, with errno: EINVAL.") {
  one(IBV_QPS_RESET);
  errno = 0;
  EQUAL(mrc_get_qpn(row->a ? a.qp : NULL, row->b ? &a.qpn : NULL), -1);
  EQUAL(errno, EINVAL);
}

TEST(create, thousand_after_each_other, Verbs, "ibv_destroy_qp; google QpStateTest.QpIdRollover",
     "A queue pair leaves nothing: 1000 are made and destroyed.") {
  fill_end(&a, 0);
  for (int i = 0; i < 1000; ++i) EQUAL(mrc_destroy_qp(new_qp(&a)), 0);
}

TEST(create, half_of_all_at_once, Verbs, "ibv_query_device, max_qp; google DeviceLimitTest.MaxQp",
     "Half as many queue pairs as the device names, or 100, are there together.") {
  fill_end(&a, 0);
  const int count = a.verbs.max_qp / 2 < 100 ? a.verbs.max_qp / 2 : 100;
  struct mrc_qp* all[100];
  for (int i = 0; i < count; ++i) all[i] = new_qp(&a);
  for (int i = 0; i < count; ++i) EQUAL(mrc_destroy_qp(all[i]), 0);
}

static void* makes_qps(void* end) {
  for (int i = 0; i < 20; ++i) {
    struct mrc_qp* qp = new_qp(end);
    EQUAL(to_init(qp), 0);
    EQUAL(mrc_destroy_qp(qp), 0);
  }
  return NULL;
}

TEST(create, in_threads, Verbs, "ibv_create_qp; google ThreadedTest.CreateDestroyQp",
     "Threads make queue pairs at the same time.") {
  fill_end(&a, 0);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) WANT(pthread_create(&threads[i], NULL, makes_qps, &a) == 0);
  for (int i = 0; i < 4; ++i) WANT(pthread_join(threads[i], NULL) == 0);
}

static const struct row kStates[] = {{"RESET", IBV_QPS_RESET, 0, 0},
                                     {"INIT", IBV_QPS_INIT, 0, 0},
                                     {"RTR", IBV_QPS_RTR, 0, 0},
                                     {"RTS", IBV_QPS_RTS, 0, 0},
                                     {"ERR", IBV_QPS_ERR, 0, 0}};
TESTS(destroy, in, kStates, Verbs, "ibv_destroy_qp; google QpStateTest.DestroyFromReset, DestroyFromInit",
      "A queue pair can be destroyed in any state.") {
  one((enum ibv_qp_state)row->a);
  EQUAL(mrc_destroy_qp(a.qp), 0);
  EQUAL(mrc_destroy_cq(a.send_cq), 0);
}

TESTS(query, in, kStates, Header, "examples/mrc_qp.md", "A queue pair can be queried in any state, and tells it.") {
  one((enum ibv_qp_state)row->a);
  EQUAL(state_of(a.qp), row->a);
}

/* Steps. */

enum { kReset = IBV_QPS_RESET, kInit = IBV_QPS_INIT, kRtr = IBV_QPS_RTR, kRts = IBV_QPS_RTS, kErr = IBV_QPS_ERR };

static int step(struct mrc_qp* qp, long to) {
  if (to == kInit) return to_init(qp);
  if (to == kRtr) return to_rtr(qp, a.qpn, &a.gid);
  if (to == kRts) return to_rts(qp);
  return to_state(qp, (enum ibv_qp_state)to);
}

static const struct row kSteps[] = {
    {"RESET_to_RESET", kReset, kReset, 0}, {"RESET_to_INIT", kReset, kInit, 0}, {"INIT_to_RESET", kInit, kReset, 0},
    {"INIT_to_INIT", kInit, kInit, 0},     {"INIT_to_RTR", kInit, kRtr, 0},     {"INIT_to_ERR", kInit, kErr, 0},
    {"RTR_to_RESET", kRtr, kReset, 0},     {"RTR_to_RTS", kRtr, kRts, 0},       {"RTR_to_ERR", kRtr, kErr, 0},
    {"RTS_to_RESET", kRts, kReset, 0},     {"RTS_to_ERR", kRts, kErr, 0},       {"ERR_to_RESET", kErr, kReset, 0},
    {"ERR_to_ERR", kErr, kErr, 0}};
TESTS(step, lawful, kSteps, Verbs, "ibv_modify_qp; google QpTest.Modify, QpStateTest.ModRtsToError",
      "The steps of a reliable connection lead where they should.") {
  one((enum ibv_qp_state)row->a);
  EQUAL(step(a.qp, row->b), 0);
  EQUAL(state_of(a.qp), row->b);
}

static const struct row kNoSteps[] = {
    {"RESET_to_RTR", kReset, kRtr, 0}, {"RESET_to_RTS", kReset, kRts, 0}, {"RESET_to_ERR", kReset, kErr, 0},
    {"INIT_to_RTS", kInit, kRts, 0},   {"RTR_to_INIT", kRtr, kInit, 0},   {"RTR_to_RTR", kRtr, kRtr, 0},
    {"RTS_to_INIT", kRts, kInit, 0},   {"RTS_to_RTR", kRts, kRtr, 0},     {"ERR_to_INIT", kErr, kInit, 0},
    {"ERR_to_RTR", kErr, kRtr, 0},     {"ERR_to_RTS", kErr, kRts, 0}};
TESTS(step, unlawful, kNoSteps, Verbs,
      "ibv_modify_qp; google QpTest.ModifyInvalidResetToRtrTransition, ModifyInvalidInitToRtsTransition, "
      "ModifyInvalidRtsToRtrTransition",
      "Another step is refused with EINVAL, and the queue pair stays where it was.") {
  one((enum ibv_qp_state)row->a);
  REFUSED(step(a.qp, row->b), EINVAL);
  EQUAL(state_of(a.qp), row->a);
}

static const struct row kNoStates[] = {
    {"SQD", IBV_QPS_SQD, 0, 0}, {"SQE", IBV_QPS_SQE, 0, 0}, {"UNKNOWN", IBV_QPS_UNKNOWN, 0, 0}, {"99", 99, 0, 0}};
TESTS(step, to_no_state_of_MRC, kNoStates, Reading, "mrc_modify_qp",
      "The lifecycle of the header is RESET, INIT, RTR, RTS, ERROR: EINVAL for others.") {
  one(IBV_QPS_RTS);
  REFUSED(to_state(a.qp, (enum ibv_qp_state)row->a), EINVAL);
  EQUAL(state_of(a.qp), IBV_QPS_RTS);
}

static const struct row kRtrNeeds[] = {{"AV", IBV_QP_AV, 0, 0},
                                       {"PATH_MTU", IBV_QP_PATH_MTU, 0, 0},
                                       {"DEST_QPN", IBV_QP_DEST_QPN, 0, 0},
                                       {"RQ_PSN", IBV_QP_RQ_PSN, 0, 0}};
TESTS(step, to_RTR_without, kRtrNeeds, Verbs, "ibv_modify_qp; google QpTest.ModifyBadInitToRtrStateTransition",
      "RTR needs path, MTU, peer and first PSN: EINVAL without any of them, and with all it succeeds.") {
  one(IBV_QPS_INIT);
  struct ibv_qp_attr v = rtr_attr(a.qpn, &a.gid);
  REFUSED(mrc_modify_qp(a.qp, &v, kRtrMask & ~(int)row->a, NULL, 0), EINVAL);
  EQUAL(state_of(a.qp), IBV_QPS_INIT);
  EQUAL(mrc_modify_qp(a.qp, &v, kRtrMask, NULL, 0), 0);
}

TEST(step, to_RTS_without_SQ_PSN, Verbs, "ibv_modify_qp; google QpTest.ModifyBadRtrToRtsStateTransition",
     "RTS needs the first PSN to send: EINVAL without it, and with it it succeeds.") {
  one(IBV_QPS_RTR);
  REFUSED(to_state(a.qp, IBV_QPS_RTS), EINVAL);
  EQUAL(state_of(a.qp), IBV_QPS_RTR);
  EQUAL(to_rts(a.qp), 0);
}

TEST(step, without_attributes_of_MRC, Reading, "mrc_qp_attr_mask, examples/benchmark",
     "Attributes of MRC that no step names have defaults: OCP's own benchmark names none.") {
  pair();
  write_through(1, 0, 0, 100);
}

TEST(step, with_all_attributes_of_MRC, Header, "mrc_qp_attr_mask",
     "Each step takes the attributes that the table names.") {
  fill_end(&a, 0);
  setup.mrc.mpr.mpr = setup.mrc.mpr.mpr_dest = a.mrc.mpr_attr.mpr_resolution;
  setup.mrc.wimm.max_wimm = setup.mrc.wimm.max_wimm_dest = 1;
  setup.mrc.timeout = 10;
  setup.mrc.retry.linear_cnt = 7;
  setup.mrc.retry.exp_cnt = 1;
  setup.rtr_mask = MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR_DEST;
  setup.rts_mask = MRC_QP_MAX_WIMM | MRC_QP_MPR | MRC_QP_RETRY_CNT | MRC_QP_TIMEOUT;
  pair();
  write_through(1, 0, 0, 100);
}

static const struct row kAsserted[] = {{"right", kInit, 0, 0}, {"wrong", kRts, 1, 0}};
TESTS(step, asserts_the_state, kAsserted, Header, "mrc_modify_qp; IBV_QP_CUR_STATE",
      "IBV_QP_CUR_STATE says which state the program believes in: a wrong one is refused.") {
  one(IBV_QPS_INIT);
  struct ibv_qp_attr v = rtr_attr(a.qpn, &a.gid);
  v.cur_qp_state = (enum ibv_qp_state)row->a;
  const int error = mrc_modify_qp(a.qp, &v, kRtrMask | IBV_QP_CUR_STATE, NULL, 0);
  WANT((error != 0) == (row->b != 0));
  EQUAL(state_of(a.qp), error != 0 ? IBV_QPS_INIT : IBV_QPS_RTR);
}

static const struct row kNoMeaning[] = {{"PORT", IBV_QP_PORT, 0, 0},
                                        {"TIMEOUT", IBV_QP_TIMEOUT, 0, 0},
                                        {"RETRY_CNT", IBV_QP_RETRY_CNT, 0, 0},
                                        {"RNR_RETRY", IBV_QP_RNR_RETRY, 0, 0},
                                        {"MIN_RNR_TIMER", IBV_QP_MIN_RNR_TIMER, 0, 0},
                                        {"MAX_QP_RD_ATOMIC", IBV_QP_MAX_QP_RD_ATOMIC, 0, 0},
                                        {"MAX_DEST_RD_ATOMIC", IBV_QP_MAX_DEST_RD_ATOMIC, 0, 0},
                                        {"ALT_PATH", IBV_QP_ALT_PATH, 0, 0},
                                        {"PATH_MIG_STATE", IBV_QP_PATH_MIG_STATE, 0, 0}};
TESTS(step, with_an_attribute_without_meaning, kNoMeaning, Reading, "mrc_modify_qp, examples/benchmark",
      "Attributes of libibverbs that are \"not supported\" change nothing: the benchmark passes some of them.") {
  one(IBV_QPS_INIT);
  struct ibv_qp_attr v = rtr_attr(a.qpn, &a.gid);
  v.timeout = 31;
  v.retry_cnt = v.rnr_retry = 7;
  v.port_num = 1;
  EQUAL(mrc_modify_qp(a.qp, &v, kRtrMask | (int)row->a, NULL, 0), 0);
  EQUAL(state_of(a.qp), IBV_QPS_RTR);
}

TEST(step, again_from_RESET, Verbs, "ibv_modify_qp; google QpStateTest.ReuseQp",
     "A queue pair that was used can be reset, connected anew, and used.") {
  pair();
  write_through(1, 0, 0, 100);
  EQUAL(to_state(a.qp, IBV_QPS_RESET), 0);
  EQUAL(to_state(b.qp, IBV_QPS_RESET), 0);
  connect_qp(b.qp, a.qpn, &a.gid);
  connect_qp(a.qp, b.qpn, &b.gid);
  fill(a.buffer, 100, 3);
  write_through(2, 0, 0, 100);
  WANT(is_filled(b.buffer, 100, 3));
}

TEST(step, of_no_QP, Verbs, "ibv_modify_qp; google QpTest.ModifyInvalidQp", "NULL is no queue pair: EINVAL.") {
  struct ibv_qp_attr v = {.qp_state = IBV_QPS_INIT};
  REFUSED(mrc_modify_qp(NULL, &v, IBV_QP_STATE, NULL, 0), EINVAL);
}

static const struct row kHalf[] = {{"libibverbs", 0, 0, 0}, {"MRC", 1, 0, 0}};
TESTS(step, mask_without_attributes_of, kHalf, Reading, "mrc_modify_qp",
      "A mask that names attributes of a structure that is not there: EINVAL.") {
  one(IBV_QPS_RESET);
  struct ibv_qp_attr v = {.qp_state = IBV_QPS_INIT};
  REFUSED(mrc_modify_qp(a.qp, row->a == 0 ? NULL : &v, IBV_QP_STATE, NULL, row->a == 0 ? 0 : MRC_QP_HINT), EINVAL);
  EQUAL(state_of(a.qp), IBV_QPS_RESET);
}

/* Attributes: the largest value of the device, and `more`. */

static void set_attribute(int mask, long more) {
  struct mrc_qp_attr* m = &setup.mrc;
  if (mask == MRC_QP_MPR) m->mpr.mpr = (uint8_t)(a.mrc.mpr_attr.max_mpr + more);
  if (mask == MRC_QP_MPR_DEST) m->mpr.mpr_dest = (uint8_t)(a.mrc.mpr_attr.max_mpr + more);
  if (mask == MRC_QP_MAX_WIMM) m->wimm.max_wimm = (uint16_t)(a.mrc.wimm_attr.max_wimm + more);
  if (mask == MRC_QP_MAX_WIMM_DEST) m->wimm.max_wimm_dest = (uint16_t)(a.mrc.wimm_attr.max_wimm_dest + more);
  if (mask == MRC_QP_TIMEOUT) m->timeout = (uint8_t)(24 + more);
}

#define RTR(name, mask, more, refused) \
  { name, mask, more, (refused)*2 + 1 }
#define RTS(name, mask, more, refused) \
  { name, mask, more, (refused)*2 }
static const struct row kValues[] = {RTS("largest_mpr", MRC_QP_MPR, 0, 0),
                                     RTR("largest_mpr_dest", MRC_QP_MPR_DEST, 0, 0),
                                     RTS("largest_max_wimm", MRC_QP_MAX_WIMM, 0, 0),
                                     RTR("largest_max_wimm_dest", MRC_QP_MAX_WIMM_DEST, 0, 0),
                                     RTS("timeout_24", MRC_QP_TIMEOUT, 0, 0),
                                     RTS("mpr_too_large", MRC_QP_MPR, 1, 1),
                                     RTR("mpr_dest_too_large", MRC_QP_MPR_DEST, 1, 1),
                                     RTS("max_wimm_too_large", MRC_QP_MAX_WIMM, 1, 1),
                                     RTR("max_wimm_dest_too_large", MRC_QP_MAX_WIMM_DEST, 1, 1),
                                     RTS("timeout_25", MRC_QP_TIMEOUT, 1, 1)};
TESTS(attribute, limit, kValues, Header, "mrc_device_attr, mrc_qp_attr",
      "A value up to the device's limit, or the header's, is taken; a larger one is refused: EINVAL.") {
  const int rtr = (row->c & 1) != 0, refused = row->c >> 1 != 0;
  one(rtr ? IBV_QPS_INIT : IBV_QPS_RTR);
  set_attribute((int)row->a, row->b);
  *(rtr ? &setup.rtr_mask : &setup.rts_mask) = (int)row->a;
  if (refused && ((row->a & (MRC_QP_MPR | MRC_QP_MPR_DEST)) != 0
                      ? a.mrc.mpr_attr.max_mpr == UINT8_MAX
                      : row->a != MRC_QP_TIMEOUT && a.mrc.wimm_attr.max_wimm == UINT16_MAX))
    skip_test("the device's limit is the type's");
  if (refused) {
    REFUSED(step(a.qp, rtr ? kRtr : kRts), EINVAL);
    EQUAL(state_of(a.qp), rtr ? IBV_QPS_INIT : IBV_QPS_RTR);
  } else {
    EQUAL(step(a.qp, rtr ? kRtr : kRts), 0);
  }
}

static const struct row kRetries[] = {
    {"linear_7", 7, 0, 0}, {"linear_8", 8, 0, 1}, {"exponential_25", 0, 25, 0}, {"exponential_26", 0, 26, 1}};
TESTS(attribute, retries, kRetries, Header, "mrc_qp_attr.retry", "Linear retries are 7 at most, exponential ones 25.") {
  one(IBV_QPS_RTR);
  setup.mrc.retry.linear_cnt = (uint8_t)row->a;
  setup.mrc.retry.exp_cnt = (uint8_t)row->b;
  setup.rts_mask = MRC_QP_RETRY_CNT;
  const int error = to_rts(a.qp);
  if (row->c == 0) EQUAL(error, 0);
  if (row->c != 0) WANT(error == EINVAL || (error == -1 && errno == EINVAL));
}

static const struct row kZeros[] = {{"mpr", MRC_QP_MPR, 0, 0}, {"mpr_dest", MRC_QP_MPR_DEST, 1, 0}};
TESTS(attribute, no_window, kZeros, Reading, "mrc_qp_attr.mpr", "A window of 0 PSNs is none: EINVAL.") {
  one(row->b != 0 ? IBV_QPS_INIT : IBV_QPS_RTR);
  *(row->b != 0 ? &setup.rtr_mask : &setup.rts_mask) = (int)row->a;
  REFUSED(step(a.qp, row->b != 0 ? kRtr : kRts), EINVAL);
}

static const struct row kNoProfile[] = {{"EV", MRC_QP_EV_PROFILE_ID, 0, 0}, {"CC", MRC_QP_CC_PROFILE_ID, 0, 0}};
TESTS(attribute, no_such_profile, kNoProfile, Header, "mrc_qp_attr.profile",
      "A profile that no controller has set up cannot be had: EINVAL.") {
  one(IBV_QPS_RESET);
  setup.mrc.profile.ev_profile_id = setup.mrc.profile.cc_profile_id = 0xfedcba9876543210;
  setup.init_mask = (int)row->a;
  REFUSED(to_init(a.qp), EINVAL);
  EQUAL(state_of(a.qp), IBV_QPS_RESET);
}

TEST(attribute, that_does_not_exist, Verbs, "ibv_modify_qp", "A mask of MRC with bits that mean nothing: EINVAL.") {
  one(IBV_QPS_RESET);
  setup.init_mask = 1 << 20;
  REFUSED(to_init(a.qp), EINVAL);
  EQUAL(state_of(a.qp), IBV_QPS_RESET);
}

/* What was set is what a query tells. */

static struct ibv_qp_attr got_v;
static struct mrc_qp_attr got_m;

static void sets_and_queries(void) {
  fill_end(&a, 0);
  setup.mtu = IBV_MTU_1024;
  setup.psn = 0x123456;
  setup.mrc.mpr.mpr = setup.mrc.mpr.mpr_dest = a.mrc.mpr_attr.mpr_resolution;
  setup.mrc.wimm.max_wimm = setup.mrc.wimm.max_wimm_dest = 1;
  setup.mrc.timeout = 9;
  setup.mrc.retry.linear_cnt = 5;
  setup.mrc.retry.exp_cnt = 3;
  setup.rtr_mask = MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR_DEST;
  setup.rts_mask = MRC_QP_MAX_WIMM | MRC_QP_MPR | MRC_QP_RETRY_CNT | MRC_QP_TIMEOUT;
  pair();
  struct mrc_qp_init_attr init;
  EQUAL(mrc_query_qp(a.qp, &got_v, kRtrMask | IBV_QP_SQ_PSN | IBV_QP_CAP | IBV_QP_ACCESS_FLAGS, &got_m,
                     setup.rtr_mask | setup.rts_mask | MRC_QP_HINT | MRC_QP_CAP, &init),
        0);
}

#define KEPT(name, what, value)                                                         \
  TEST(query, name, Header, "mrc_query_qp", "A query tells what was set: " #what ".") { \
    sets_and_queries();                                                                 \
    EQUAL(what, value);                                                                 \
  }
KEPT(mpr, got_m.mpr.mpr, a.mrc.mpr_attr.mpr_resolution)
KEPT(mpr_dest, got_m.mpr.mpr_dest, a.mrc.mpr_attr.mpr_resolution)
KEPT(max_wimm, got_m.wimm.max_wimm, 1)
KEPT(max_wimm_dest, got_m.wimm.max_wimm_dest, 1)
KEPT(timeout, got_m.timeout, 9)
KEPT(linear_cnt, got_m.retry.linear_cnt, 5)
KEPT(exp_cnt, got_m.retry.exp_cnt, 3)
KEPT(path_mtu, got_v.path_mtu, IBV_MTU_1024)
KEPT(dest_qp_num, got_v.dest_qp_num, b.qpn)
KEPT(rq_psn, got_v.rq_psn, 0x123456)
KEPT(sq_psn, got_v.sq_psn, 0x123456)
KEPT(no_hint, got_m.qp_hint != NULL, 0)
KEPT(dgid, memcmp(&got_v.ah_attr.grh.dgid, &b.gid, sizeof b.gid), 0)
KEPT(access, got_v.qp_access_flags& IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_WRITE)

static const struct row kCaps[] = {
    {"dynamic_mpr", MRC_DEVICE_CAP_DYNAMIC_MPR, MRC_QP_CAP_DYNAMIC_MPR, 0},
    {"trim_nack_dest_unsupported", MRC_DEVICE_CAP_TRIM_NACK, MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED, 0},
    {"svc_time_dest_unsupported", MRC_DEVICE_CAP_SVC_TIME, MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED, 0}};
TESTS(query, cap, kCaps, Header, "enum mrc_qp_cap, mrc_modify_qp",
      "A capability is set for a queue pair, which then works.") {
  fill_end(&a, 0);
  fill_end(&b, 1);
  if ((a.mrc.cap & b.mrc.cap & (uint32_t)row->a) == 0) skip_test("the device has no such capability");
  setup.mrc.cap = (uint32_t)row->b;
  setup.rtr_mask = MRC_QP_CAP;
  pair();
  struct ibv_qp_attr v;
  struct mrc_qp_attr m = {0};
  struct mrc_qp_init_attr init;
  EQUAL(mrc_query_qp(a.qp, &v, IBV_QP_STATE, &m, MRC_QP_CAP, &init), 0);
  EQUAL(m.cap & (uint32_t)row->b, row->b);
  write_through(1, 0, 0, 5000);
}

TEST(query, of_no_QP, Verbs, "ibv_query_qp; google QpTest.QueryInvalidQp", "NULL is no queue pair: EINVAL.") {
  struct ibv_qp_attr v;
  struct mrc_qp_attr m;
  struct mrc_qp_init_attr init;
  REFUSED(mrc_query_qp(NULL, &v, IBV_QP_STATE, &m, 0, &init), EINVAL);
}

TEST(destroy, none, Verbs, "ibv_destroy_qp; google QpTest.DestroyInvalidQp", "NULL is no queue pair: EINVAL.") {
  REFUSED(mrc_destroy_qp(NULL), EINVAL);
}
