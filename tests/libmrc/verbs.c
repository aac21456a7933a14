/* SPDX-License-Identifier: Apache-2.0 */
/* usage: verbs send|receive DEVICE SOCKET
 * A program that knows libibverbs alone, and is linked with nothing else: WRITE and WRITE with immediate, by
 * ibv_post_send and by ibv_wr_*, with a channel, polled by ibv_poll_cq and by ibv_start_poll; what MRC has not is
 * refused. */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(so)                                                                            \
  do {                                                                                       \
    if (!(so)) {                                                                             \
      fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #so, strerror(errno)); \
      exit(1);                                                                               \
    }                                                                                        \
  } while (0)

enum { kBytes = 1 << 16, kPsn = 77 };

struct end {
  uint32_t qpn, rkey;
  uint64_t address;
  union ibv_gid gid;
};

static struct ibv_context* open_device(const char* name) {
  int count = 0;
  struct ibv_device** list = ibv_get_device_list(&count);
  struct ibv_context* context = NULL;
  for (int i = 0; i < count; ++i) {
    if (strcmp(ibv_get_device_name(list[i]), name) == 0) context = ibv_open_device(list[i]);
  }
  CHECK(context != NULL);
  ibv_free_device_list(list);
  return context;
}

static struct end meet(int socket, struct end own) {
  struct end other;
  CHECK(write(socket, &own, sizeof own) == sizeof own && read(socket, &other, sizeof other) == sizeof other);
  return other;
}

static void connect_to(struct ibv_qp* qp, const struct end* other) {
  struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
  CHECK(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  a.qp_state = IBV_QPS_RTR;
  a.path_mtu = IBV_MTU_1024;
  a.dest_qp_num = other->qpn;
  a.rq_psn = kPsn;
  a.ah_attr.is_global = 1;
  a.ah_attr.port_num = 1;
  a.ah_attr.grh.dgid = other->gid;
  a.ah_attr.grh.hop_limit = 64;
  CHECK(ibv_modify_qp(qp, &a,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
  a.qp_state = IBV_QPS_RTS;
  a.sq_psn = kPsn;
  CHECK(ibv_modify_qp(qp, &a,
                      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                          IBV_QP_MAX_QP_RD_ATOMIC) == 0);
  CHECK(qp->state == IBV_QPS_RTS);
}

/* The next completion, by ibv_start_poll and what may be read then. */
static struct ibv_wc wait_for_one(struct ibv_cq_ex* cq) {
  struct ibv_poll_cq_attr attr = {0};
  int error = 0;
  while ((error = ibv_start_poll(cq, &attr)) == ENOENT) continue;
  CHECK(error == 0 && cq->status == IBV_WC_SUCCESS);
  const struct ibv_wc wc = {.wr_id = cq->wr_id,
                            .opcode = ibv_wc_read_opcode(cq),
                            .byte_len = ibv_wc_read_byte_len(cq),
                            .imm_data = ibv_wc_read_imm_data(cq),
                            .qp_num = ibv_wc_read_qp_num(cq)};
  CHECK(ibv_next_poll(cq) == ENOENT);
  ibv_end_poll(cq);
  return wc;
}

static struct ibv_wc wait_for(struct ibv_cq* cq) {
  struct ibv_wc wc;
  int n = 0;
  while ((n = ibv_poll_cq(cq, 1, &wc)) == 0) continue;
  CHECK(n == 1 && wc.status == IBV_WC_SUCCESS);
  return wc;
}

int main(int argc, char** argv) {
  CHECK(argc == 4);
  const int sends = strcmp(argv[1], "send") == 0, socket = atoi(argv[3]);
  struct ibv_context* context = open_device(argv[2]);
  struct ibv_pd* pd = ibv_alloc_pd(context);
  struct ibv_comp_channel* channel = ibv_create_comp_channel(context);
  CHECK(pd != NULL && channel != NULL && channel->fd >= 0);
  int mark = 0;
  struct ibv_cq_init_attr_ex polled = {
      .cqe = 16, .cq_context = &mark, .channel = channel, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
  CHECK(ibv_create_cq_ex(context, &polled) == NULL && errno == ENOTSUP);
  polled.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM;
  struct ibv_cq_ex* cq_ex = ibv_create_cq_ex(context, &polled);
  CHECK(cq_ex != NULL);
  struct ibv_cq* cq = ibv_cq_ex_to_cq(cq_ex);
  struct ibv_poll_cq_attr nothing = {0};
  CHECK(ibv_start_poll(cq_ex, &nothing) == ENOENT && cq->cq_context == &mark && ibv_req_notify_cq(cq, 0) == 0);
  struct ibv_qp_init_attr_ex ex = {.qp_type = IBV_QPT_RC,
                                   .send_cq = cq,
                                   .recv_cq = cq,
                                   .cap = {8, 8, 1, 1, 64},
                                   .pd = pd,
                                   .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
                                   .send_ops_flags = IBV_QP_EX_WITH_SEND};
  CHECK(ibv_create_qp_ex(context, &ex) == NULL && errno == ENOTSUP);
  ex.qp_type = IBV_QPT_UD;
  ex.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
  CHECK(ibv_create_qp_ex(context, &ex) == NULL && errno == ENOTSUP);
  ex.qp_type = IBV_QPT_RC;
  struct ibv_qp* qp = ibv_create_qp_ex(context, &ex);
  struct ibv_qp_init_attr plain = {.send_cq = cq, .recv_cq = cq, .cap = {8, 8, 1, 1, 0}, .qp_type = IBV_QPT_RC};
  struct ibv_qp* other_qp = ibv_create_qp(pd, &plain);
  CHECK(qp != NULL && other_qp != NULL && ibv_qp_to_qp_ex(other_qp) == NULL);
  CHECK(ibv_destroy_cq(cq) == EBUSY && ibv_destroy_qp(other_qp) == 0);
  unsigned char* buffer = calloc(1, kBytes);
  struct ibv_mr* mr = ibv_reg_mr(pd, buffer, kBytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  CHECK(mr != NULL);
  struct end own = {.qpn = qp->qp_num, .rkey = mr->rkey, .address = (uintptr_t)buffer};
  CHECK(ibv_query_gid(context, 1, 0, &own.gid) == 0);
  const struct end other = meet(socket, own);
  connect_to(qp, &other);
  if (!sends) {
    struct ibv_recv_wr receive = {.wr_id = 5}, *bad;
    CHECK(ibv_post_recv(qp, &receive, &bad) == 0);
  }
  meet(socket, own);
  if (sends) {
    memset(buffer, 9, kBytes);
    struct ibv_sge sge = {own.address, kBytes / 2, mr->lkey};
    struct ibv_send_wr wr = {.wr_id = 1,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_READ,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.rdma = {other.address, other.rkey}},
                       *bad = NULL;
    CHECK(ibv_post_send(qp, &wr, &bad) == EINVAL && bad == &wr);
    wr.opcode = IBV_WR_RDMA_WRITE;
    CHECK(ibv_post_send(qp, &wr, &bad) == 0);
    struct ibv_cq* event_cq = NULL;
    void* event_context = NULL;
    CHECK(ibv_get_cq_event(channel, &event_cq, &event_context) == 0 && event_cq == cq && event_context == &mark);
    ibv_ack_cq_events(cq, 1);
    CHECK(wait_for(cq).wr_id == 1);
    struct ibv_qp_ex* x = ibv_qp_to_qp_ex(qp);
    CHECK(x != NULL);
    ibv_wr_start(x);
    x->wr_id = 2;
    x->wr_flags = 0;
    ibv_wr_rdma_write(x, other.rkey, other.address + kBytes / 2);
    ibv_wr_set_sge(x, mr->lkey, own.address, kBytes / 2);
    x->wr_id = 3;
    x->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write_imm(x, other.rkey, other.address, htonl(4711));
    char words[] = "inline";
    ibv_wr_set_inline_data(x, words, sizeof words);
    CHECK(ibv_wr_complete(x) == 0 && wait_for_one(cq_ex).wr_id == 3);
  } else {
    const struct ibv_wc wc = wait_for_one(cq_ex);
    CHECK(wc.qp_num == qp->qp_num && wc.byte_len == sizeof "inline" && wc.wr_id == 5 &&
          wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && ntohl(wc.imm_data) == 4711);
    CHECK(strcmp((char*)buffer, "inline") == 0);
    for (int i = 7; i < kBytes; ++i) CHECK(buffer[i] == 9);
  }
  meet(socket, own);
  struct ibv_qp_attr attr;
  struct ibv_qp_init_attr init;
  CHECK(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_RTS && init.send_cq == cq);
  CHECK(ibv_close_device(context) != 0); /* objects are left */
  CHECK(ibv_destroy_qp(qp) == 0 && ibv_dereg_mr(mr) == 0 && ibv_destroy_cq(cq) == 0);
  CHECK(ibv_destroy_comp_channel(channel) == 0 && ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
  free(buffer);
  printf("%s: by libibverbs alone\n", argv[1]);
  return 0;
}
