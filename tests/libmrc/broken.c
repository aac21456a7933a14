/* SPDX-License-Identifier: Apache-2.0 */
/* A library in front of lib_mrc.so that is wrong in the way that MRC_BROKEN names: what `mrc api test` must find
 * (broken.py). Without it nothing is changed. */
#include <dlfcn.h>
#include <errno.h>
#include <mrc.h>
#include <mrc_ctl.h>
#include <stdlib.h>
#include <string.h>

#undef ibv_query_port

static int broken(const char* way) {
  const char* wanted = getenv("MRC_BROKEN");
  return wanted != NULL && strcmp(wanted, way) == 0;
}

/* The function of that name in the library behind this one. */
#define BEHIND(name, ...) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

int mrc_post_send(struct mrc_qp* qp, struct ibv_send_wr* wr, struct ibv_send_wr** bad) {
  if (wr != NULL && wr->next == NULL) { /* changes what is asked for */
    struct ibv_send_wr changed = *wr;
    struct ibv_sge sge;
    if (wr->sg_list != NULL) {
      sge = *wr->sg_list;
      changed.sg_list = &sge;
    }
    if (broken("short_write") && wr->num_sge == 1 && sge.length > 300) --sge.length;
    if (broken("immediate_turned_round")) changed.imm_data = __builtin_bswap32(wr->imm_data);
    if (broken("always_signaled")) changed.send_flags |= IBV_SEND_SIGNALED;
    if (broken("read_as_write") && wr->opcode == IBV_WR_RDMA_READ) changed.opcode = IBV_WR_RDMA_WRITE;
    const int error = BEHIND(mrc_post_send, qp, &changed, bad);
    if (error != 0 && bad != NULL) *bad = wr;
    return error;
  }
  struct ibv_send_wr* ours = NULL;
  const int error = BEHIND(mrc_post_send, qp, wr, &ours);
  if (error != 0 && bad != NULL) *bad = broken("bad_wr_is_the_first") ? wr : ours;
  return error;
}

int mrc_post_recv(struct mrc_qp* qp, struct ibv_recv_wr* wr, struct ibv_recv_wr** bad) {
  const int error = BEHIND(mrc_post_recv, qp, wr, bad);
  return error != 0 && broken("errno_returned") ? errno : error;
}

int mrc_poll_cq(struct mrc_cq* cq, int num_entries, struct ibv_wc* wc) {
  const int n = BEHIND(mrc_poll_cq, cq, num_entries, wc);
  for (int i = 0; broken("success_always") && i < n; ++i) {
    if (wc[i].status == IBV_WC_REM_ACCESS_ERR) wc[i].status = IBV_WC_SUCCESS;
  }
  for (int i = 0; broken("backwards") && i < n / 2; ++i) {
    const struct ibv_wc kept = wc[i];
    wc[i] = wc[n - 1 - i];
    wc[n - 1 - i] = kept;
  }
  if (broken("flushes_forgotten") && n == 1 && wc[0].status == IBV_WC_WR_FLUSH_ERR) return 0;
  return n;
}

int mrc_get_cq_event(struct mrc_comp_channel* channel, struct mrc_cq** cq, void** context) {
  const int error = BEHIND(mrc_get_cq_event, channel, cq, context);
  if (error == 0 && broken("nobody_waits")) BEHIND(mrc_ack_cq_events, *cq, 1);
  return error;
}

struct mrc_cq* mrc_create_cq(struct mrc_context* context, int cqe, void* cq_context, struct mrc_comp_channel* channel,
                             int vector) {
  struct mrc_cq* cq = BEHIND(mrc_create_cq, context, cqe, cq_context, channel, vector);
  if (cq != NULL && channel != NULL && broken("armed_at_once")) BEHIND(mrc_req_notify_cq, cq, 0);
  return cq;
}

int mrc_modify_qp(struct mrc_qp* qp, struct ibv_qp_attr* v, int vmask, struct mrc_qp_attr* m, int mmask) {
  if (broken("state_not_asserted")) vmask &= ~IBV_QP_CUR_STATE;
  if (broken("psn_invented") && v != NULL && v->qp_state == IBV_QPS_RTR) vmask |= IBV_QP_RQ_PSN;
  struct mrc_qp_attr changed;
  if (m != NULL) {
    changed = *m;
    if (broken("timer_cut") && changed.timeout > 24) changed.timeout = 24;
    m = &changed;
  }
  return BEHIND(mrc_modify_qp, qp, v, vmask, m, mmask);
}

int mrc_modify_qp_hint(struct mrc_qp_hint* hint, struct mrc_qp_hint_attr* attr, int mask) {
  if (broken("mask_ignored") && (mask & ~7) == 0) mask |= 7;
  return BEHIND(mrc_modify_qp_hint, hint, attr, mask);
}

int mrc_destroy_qp(struct mrc_qp* qp) {
  if (broken("falls_over")) return *(volatile int*)qp == 0 ? BEHIND(mrc_destroy_qp, qp) : BEHIND(mrc_destroy_qp, qp);
  if (broken("hangs") && qp == NULL) {
    for (;;) {
    }
  }
  return broken("leaks") ? 0 : BEHIND(mrc_destroy_qp, qp);
}

struct mrc_context* mrc_create_context(struct ibv_context* device, struct mrc_context_attr* attr) {
  return BEHIND(mrc_create_context, device, broken("any_version") ? NULL : attr);
}

int ibv_query_port(struct ibv_context* context, uint8_t port, struct _compat_ibv_port_attr* attr) {
  const int error = BEHIND(ibv_query_port, context, port, attr);
  if (error == 0 && broken("always_up")) ((struct ibv_port_attr*)attr)->state = IBV_PORT_ACTIVE;
  return error;
}
