/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"

struct end a, b;
struct setup setup = {.bytes = 1 << 16,
                      .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
                      .cqe = 64,
                      .send_wr = 16,
                      .recv_wr = 16,
                      .mtu = IBV_MTU_4096,
                      .psn = 0xfffff0};

struct ibv_context* open_device(const char* name) {
  int count = 0;
  struct ibv_device** list = ibv_get_device_list(&count);
  WANT(list != NULL);
  struct ibv_context* context = NULL;
  for (int i = 0; i < count && context == NULL; ++i) {
    if (strcmp(ibv_get_device_name(list[i]), name) == 0) context = ibv_open_device(list[i]);
  }
  ibv_free_device_list(list);
  if (context == NULL) fail_test(__FILE__, __LINE__, "device %s cannot be opened", name);
  return context;
}

void open_end(struct end* e, unsigned which) {
  memset(e, 0, sizeof *e);
  e->device = open_device(device_name(which));
  int supported = 0;
  WANT(mrc_query_device(e->device, &e->mrc, &supported) == 0 && supported != 0);
  WANT(ibv_query_device(e->device, &e->verbs) == 0);
  WANT(ibv_query_gid(e->device, 1, 0, &e->gid) == 0);
  e->context = mrc_create_context(e->device, NULL);
  WANT(e->context != NULL);
  e->pd = ibv_alloc_pd(e->device);
  WANT(e->pd != NULL);
}

void fill_end(struct end* e, unsigned which) {
  if (e->context == NULL) open_end(e, which);
  e->buffer = calloc(1, setup.bytes);
  e->mr = ibv_reg_mr(e->pd, e->buffer, setup.bytes, setup.access);
  WANT(e->mr != NULL);
  e->send_cq = mrc_create_cq(e->context, setup.cqe, NULL, NULL, 0);
  WANT(e->send_cq != NULL);
  e->recv_cq = mrc_create_cq(e->context, setup.cqe, e, e == &b ? setup.channel : NULL, 0);
  WANT(e->recv_cq != NULL);
}

struct mrc_qp* new_qp(struct end* e) {
  struct mrc_qp_init_attr init = {
      .send_cq = e->send_cq,
      .recv_cq = e->recv_cq,
      .cap = {.max_send_wr = setup.send_wr, .max_recv_wr = setup.recv_wr, .max_send_sge = 1, .max_recv_sge = 1},
      .sq_sig_all = setup.sig_all,
      .pd = e->pd,
      .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM};
  struct mrc_qp* qp = mrc_create_qp(e->context, &init);
  WANT(qp != NULL);
  return qp;
}

void give_qp(struct end* e) {
  e->qp = new_qp(e);
  WANT(mrc_get_qpn(e->qp, &e->qpn) == 0);
}

int to_init(struct mrc_qp* qp) {
  struct ibv_qp_attr v = {.qp_state = IBV_QPS_INIT,
                          .qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE};
  return mrc_modify_qp(qp, &v, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS, &setup.mrc, setup.init_mask);
}

struct ibv_qp_attr rtr_attr(uint32_t peer_qpn, const union ibv_gid* peer) {
  struct ibv_qp_attr v = {.qp_state = IBV_QPS_RTR, .path_mtu = setup.mtu, .dest_qp_num = peer_qpn, .rq_psn = setup.psn};
  v.ah_attr.is_global = 1;
  v.ah_attr.port_num = 1;
  v.ah_attr.grh.dgid = *peer;
  v.ah_attr.grh.hop_limit = 64;
  return v;
}

int to_rtr(struct mrc_qp* qp, uint32_t peer_qpn, const union ibv_gid* peer) {
  struct ibv_qp_attr v = rtr_attr(peer_qpn, peer);
  return mrc_modify_qp(qp, &v, kRtrMask, &setup.mrc, setup.rtr_mask);
}

int to_rts(struct mrc_qp* qp) {
  struct ibv_qp_attr v = {.qp_state = IBV_QPS_RTS, .sq_psn = setup.psn};
  return mrc_modify_qp(qp, &v, IBV_QP_STATE | IBV_QP_SQ_PSN, &setup.mrc, setup.rts_mask);
}

int to_state(struct mrc_qp* qp, enum ibv_qp_state state) {
  struct ibv_qp_attr v = {.qp_state = state};
  return mrc_modify_qp(qp, &v, IBV_QP_STATE, NULL, 0);
}

void connect_qp(struct mrc_qp* qp, uint32_t peer_qpn, const union ibv_gid* peer) {
  EQUAL(to_init(qp), 0);
  EQUAL(to_rtr(qp, peer_qpn, peer), 0);
  EQUAL(to_rts(qp), 0);
}

enum ibv_qp_state state_of(struct mrc_qp* qp) {
  struct ibv_qp_attr v;
  struct mrc_qp_attr m;
  struct mrc_qp_init_attr init;
  memset(&v, 0, sizeof v);
  EQUAL(mrc_query_qp(qp, &v, IBV_QP_STATE, &m, 0, &init), 0);
  return v.qp_state;
}

void one(enum ibv_qp_state state) {
  fill_end(&a, 0);
  give_qp(&a);
  if (state == IBV_QPS_RESET) return;
  EQUAL(to_init(a.qp), 0);
  if (state >= IBV_QPS_RTR && state != IBV_QPS_ERR) EQUAL(to_rtr(a.qp, a.qpn, &a.gid), 0);
  if (state == IBV_QPS_RTS) EQUAL(to_rts(a.qp), 0);
  if (state == IBV_QPS_ERR) EQUAL(to_state(a.qp, IBV_QPS_ERR), 0);
}

void pair(void) {
  if (b.mr == NULL) fill_end(&b, 1);
  if (a.mr == NULL) fill_end(&a, 0);
  give_qp(&a);
  give_qp(&b);
  connect_qp(b.qp, a.qpn, &a.gid);
  connect_qp(a.qp, b.qpn, &b.gid);
}

void another_pair(void) {
  memset(&a, 0, sizeof a);
  memset(&b, 0, sizeof b);
  pair();
}

struct write a_write(uint64_t wr_id, size_t from, size_t to, uint32_t bytes) {
  struct write w = {.sge = {.addr = (uintptr_t)(a.buffer + from), .length = bytes, .lkey = a.mr->lkey}};
  w.wr.wr_id = wr_id;
  w.wr.num_sge = 1;
  w.wr.opcode = IBV_WR_RDMA_WRITE;
  w.wr.send_flags = IBV_SEND_SIGNALED;
  w.wr.wr.rdma.remote_addr = (uintptr_t)(b.buffer + to);
  w.wr.wr.rdma.rkey = b.mr == NULL ? 0 : b.mr->rkey;
  return w;
}

struct write an_immediate(uint64_t wr_id, size_t from, size_t to, uint32_t bytes, uint32_t imm) {
  struct write w = a_write(wr_id, from, to, bytes);
  w.wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  w.wr.imm_data = htonl(imm);
  return w;
}

int post(struct mrc_qp* qp, struct write* w) {
  struct ibv_send_wr* bad = NULL;
  w->wr.sg_list = &w->sge;
  return mrc_post_send(qp, &w->wr, &bad);
}

void post_write(uint64_t wr_id, size_t from, size_t to, uint32_t bytes) {
  struct write w = a_write(wr_id, from, to, bytes);
  EQUAL(post(a.qp, &w), 0);
}

void write_through(uint64_t wr_id, size_t from, size_t to, uint32_t bytes) {
  post_write(wr_id, from, to, bytes);
  completes(a.send_cq, wr_id, IBV_WC_SUCCESS);
}

void chain(struct write* w, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    w[i].wr.sg_list = &w[i].sge;
    w[i].wr.next = i + 1 < count ? &w[i + 1].wr : NULL;
  }
}

void post_imm(uint64_t wr_id, uint32_t bytes, uint32_t imm) {
  struct write w = an_immediate(wr_id, 0, 0, bytes, imm);
  EQUAL(post(a.qp, &w), 0);
}

void post_recv(struct mrc_qp* qp, uint64_t wr_id) {
  struct ibv_recv_wr wr = {.wr_id = wr_id}, *bad = NULL;
  EQUAL(mrc_post_recv(qp, &wr, &bad), 0);
}

struct ibv_wc next(struct mrc_cq* cq) {
  struct ibv_wc wc;
  int n = 0;
  memset(&wc, 0xa5, sizeof wc);
  while ((n = mrc_poll_cq(cq, 1, &wc)) == 0) {
  }
  EQUAL(n, 1);
  return wc;
}

struct ibv_wc next_is(struct mrc_cq* cq, enum ibv_wc_status status) {
  const struct ibv_wc wc = next(cq);
  if (wc.status != status)
    fail_test(__FILE__, __LINE__, "a completion of work request %lu has status %d, not %d", (unsigned long)wc.wr_id,
              wc.status, status);
  return wc;
}

void completes(struct mrc_cq* cq, uint64_t wr_id, enum ibv_wc_status status) {
  const struct ibv_wc wc = next_is(cq, status);
  EQUAL(wc.wr_id, wr_id);
}

void pause_ms(unsigned ms) {
  const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
  nanosleep(&t, NULL);
}

void nothing_comes(struct mrc_cq* cq) {
  struct ibv_wc wc;
  for (unsigned i = 0; i < 20; ++i) {
    EQUAL(mrc_poll_cq(cq, 1, &wc), 0);
    pause_ms(2);
  }
}

int readable(int fd, int ms) {
  struct pollfd wanted = {.fd = fd, .events = POLLIN};
  return poll(&wanted, 1, ms) > 0;
}

void fill(unsigned char* at, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i) at[i] = (unsigned char)(seed * 31 + i * 7 + (i >> 8) * 13 + 1);
}

int is_filled(const unsigned char* at, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i) {
    if (at[i] != (unsigned char)(seed * 31 + i * 7 + (i >> 8) * 13 + 1)) return 0;
  }
  return 1;
}
