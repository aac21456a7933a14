/* SPDX-License-Identifier: Apache-2.0 */
/* usage: errors send|receive DEVICE SOCKET l_key|r_key|bounds|no_buffer|peer_dies|host_dies
 * What a program sees that does something wrong, or whose peer does: a completion that says so, then flushes. The
 * receiver has nothing to do. In peer_dies it waits to be killed; in host_dies both see what that looks like. */
#include <mrc_ctl.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

enum { kBytes = 1 << 16 };

static void refused_at_once(struct program* p) {
  struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_READ}, *bad = NULL;
  CHECK(mrc_post_send(p->qp, &wr, &bad) == EINVAL && bad == &wr);
  wr.opcode = IBV_WR_SEND;
  CHECK(mrc_post_send(p->qp, &wr, &bad) == EINVAL && bad == &wr);
  wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  CHECK(mrc_post_send(p->qp, &wr, &bad) == EINVAL && bad == &wr);
  struct ibv_qp_attr v = {.qp_state = IBV_QPS_INIT};
  CHECK(mrc_modify_qp(p->qp, &v, IBV_QP_STATE, NULL, 0) == EINVAL); /* from RTS */
  CHECK(mrc_create_cq(p->context, 0, NULL, NULL, 0) == NULL && errno == EINVAL);
  struct mrc_ctl_cc_profile_attr cc = {0};
  CHECK(mrc_ctl_query_cc_profile(p->context, 0, &cc, MRC_CTL_CC_PROFILE_VENDOR_CFG) == -1 && errno == ENOTSUP);
  struct ibv_srq_init_attr srq = {0};
  CHECK(ibv_create_srq(p->pd, &srq) == NULL && errno == ENOTSUP);
  CHECK(mrc_req_notify_cq(p->recv_cq, 0) == EINVAL); /* it has no channel */
  CHECK(ibv_reg_mr(p->pd, p->buffer, 0, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == EINVAL);
  CHECK(ibv_reg_mr(p->pd, (void*)4096, 4096, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == EFAULT);
  CHECK(ibv_reg_mr(p->pd, p->buffer, 1, IBV_ACCESS_REMOTE_WRITE) == NULL && errno == EINVAL);
}

static void full_queue(struct program* p) {
  for (unsigned i = 0; i < kDepth; ++i) CHECK(program_write(p, 0, 0, 1, NULL, i) == 0);
  CHECK(program_write(p, 0, 0, 1, NULL, kDepth) == ENOMEM);
  for (unsigned i = 0; i < kDepth; ++i) {
    const struct ibv_wc wc = program_wait(p->send_cq);
    CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == i);
  }
}

/* Two good ones, one that fails, two behind it. */
static void fails(struct program* p, enum ibv_wc_status status, void (*spoil)(struct program*), const uint32_t* imm) {
  for (unsigned i = 0; i < 2; ++i) CHECK(program_write(p, 0, 0, 5000, NULL, i) == 0);
  const struct program good = *p;
  const uint32_t lkey = p->mr->lkey;
  if (spoil != NULL) spoil(p);
  CHECK(program_write(p, 0, 0, 5000, imm, 2) == 0);
  p->peer = good.peer;
  p->mr->lkey = lkey;
  for (unsigned i = 0; i < 2; ++i) CHECK(program_wait(p->send_cq).status == IBV_WC_SUCCESS);
  const struct ibv_wc wc = program_wait(p->send_cq);
  CHECK(wc.wr_id == 2 && wc.status == status);
  for (unsigned i = 3; i < 5; ++i) {
    CHECK(program_write(p, 0, 0, 5000, NULL, i) == 0);
    const struct ibv_wc flushed = program_wait(p->send_cq);
    CHECK(flushed.wr_id == i && flushed.status == IBV_WC_WR_FLUSH_ERR);
  }
  struct ibv_qp_attr v;
  CHECK(mrc_query_qp(p->qp, &v, IBV_QP_STATE, NULL, 0, NULL) == 0 && v.qp_state == IBV_QPS_ERR);
}

/* Everything ends with EIO then, and nothing hangs. */
static void until_the_host_dies(struct program* p) {
  struct ibv_wc wc;
  int error = 0, n = 0;
  while (error == 0 && n >= 0) {
    error = program_write(p, 0, 0, kBytes, NULL, 1);
    while (error == 0 && (n = mrc_poll_cq(p->send_cq, 1, &wc)) == 0) {
    }
  }
  CHECK(error == EIO || (n == -1 && errno == EIO));
  struct mrc_async_event event;
  CHECK(mrc_get_async_event(p->context, &event) == -1 && errno == EIO);
  CHECK(ibv_alloc_pd(p->device) == NULL && errno == EIO);
  CHECK(program_write(p, 0, 0, 1, NULL, 1) == EIO);
  CHECK(mrc_destroy_qp(p->qp) == 0 && mrc_destroy_cq(p->send_cq) == 0 && mrc_destroy_cq(p->recv_cq) == 0);
  CHECK(ibv_dereg_mr(p->mr) == 0 && ibv_dealloc_pd(p->pd) == 0);
  CHECK(mrc_destroy_context(p->context) == 0 && ibv_close_device(p->device) == 0);
}

static void other_lkey(struct program* p) { p->mr->lkey += 1 << 8; }
static void other_rkey(struct program* p) { p->peer.rkey += 1; }
static void outside(struct program* p) { p->peer.address += kBytes - 4999; }

int main(int argc, char** argv) {
  CHECK(argc == 5);
  struct program p;
  const char* what = argv[4];
  const int sender = strcmp(argv[1], "send") == 0;
  program_begin(&p, argv[2], atoi(argv[3]), kBytes);
  if (strstr(what, "_dies") != NULL) { /* run.py waits for it */
    printf("ready\n");
    fflush(stdout);
  }
  if (strcmp(what, "host_dies") == 0) {
    until_the_host_dies(&p);
    return 0;
  }
  if (strcmp(what, "peer_dies") == 0) {
    if (!sender) pause();
    struct ibv_wc wc;
    do {
      CHECK(program_write(&p, 0, 0, kBytes, NULL, 1) == 0);
      wc = program_wait(p.send_cq);
    } while (wc.status == IBV_WC_SUCCESS);
    CHECK(wc.status == IBV_WC_REM_ACCESS_ERR || wc.status == IBV_WC_REM_OP_ERR || wc.status == IBV_WC_RETRY_EXC_ERR ||
          wc.status == IBV_WC_FATAL_ERR);
    printf("send: status %d\n", wc.status);
    program_end(&p);
    return 0;
  }
  if (sender) {
    refused_at_once(&p);
    full_queue(&p);
    if (strcmp(what, "l_key") == 0) fails(&p, IBV_WC_LOC_PROT_ERR, other_lkey, NULL);
    if (strcmp(what, "r_key") == 0) fails(&p, IBV_WC_REM_ACCESS_ERR, other_rkey, NULL);
    if (strcmp(what, "bounds") == 0) fails(&p, IBV_WC_REM_ACCESS_ERR, outside, NULL);
  }
  program_meet(&p);
  program_end(&p);
  printf("%s: %s\n", argv[1], what);
  return 0;
}
