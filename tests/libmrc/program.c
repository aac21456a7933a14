/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

static void exchange(int socket, const void* own, void* peer, size_t bytes) {
  CHECK(write(socket, own, bytes) == (ssize_t)bytes);
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = read(socket, (char*)peer + done, bytes - done);
    CHECK(n > 0);
    done += (size_t)n;
  }
}

static struct ibv_context* open_device(const char* name) {
  int count = 0;
  struct ibv_device** list = ibv_get_device_list(&count);
  CHECK(list != NULL);
  struct ibv_context* context = NULL;
  for (int i = 0; i < count; ++i) {
    if (strcmp(ibv_get_device_name(list[i]), name) == 0) context = ibv_open_device(list[i]);
  }
  ibv_free_device_list(list);
  CHECK(context != NULL);
  return context;
}

/* What devices and library say of themselves. */
static void queries(struct program* p) {
  uint32_t v[4] = {0};
  mrc_query_version(&v[0], &v[1], &v[2], &v[3]);
  CHECK(v[0] == MRC_API_VER(1, 0, 1) && v[1] == 0 && v[2] == MRC_API_VER(1, 0, 0) && v[3] == 0);
  struct mrc_device_attr attr;
  int supported = 0;
  CHECK(mrc_query_device_ex(p->device, p->context, &attr, &supported) == 0 && supported);
  CHECK(memcmp(&attr, &p->attr, sizeof attr) == 0 && attr.mrc_protocol_version == MRC_PROTOCOL_VERSION_1);
  CHECK(attr.wimm_attr.max_wimm >= 32 && attr.mpr_attr.max_mpr >= 1);
  struct mrc_context_attr newer = {.mrc_api_version_used = MRC_API_VER(1, 0, 2)};
  CHECK(mrc_create_context(p->device, &newer) == NULL && errno == EINVAL);
  struct ibv_device_attr device;
  CHECK(ibv_query_device(p->device, &device) == 0 && device.max_sge == 8 && device.phys_port_cnt >= 2);
  struct ibv_port_attr port;
  CHECK(ibv_query_port(p->device, 1, &port) == 0 && port.state == IBV_PORT_ACTIVE && port.gid_tbl_len == 1);
  CHECK(ibv_query_port(p->device, 0, &port) == EINVAL);
  CHECK(ibv_query_port(p->device, (uint8_t)(device.phys_port_cnt + 1), &port) == EINVAL);
  struct ibv_gid_entry gids[8]; /* one for each port */
  CHECK(ibv_query_gid_table(p->device, gids, 8, 0) == device.phys_port_cnt);
  CHECK(gids[0].gid_type == IBV_GID_TYPE_ROCE_V2 && gids[1].port_num == 2);
  union ibv_gid gid;
  CHECK(ibv_query_gid(p->device, 1, 0, &gid) == 0 && memcmp(&gid, &gids[0].gid, sizeof gid) == 0);
  CHECK(ibv_query_gid(p->device, 1, 1, &gid) != 0);
  uint16_t pkey;
  CHECK(ibv_query_pkey(p->device, 1, 0, &pkey) == 0 && pkey == 0xffff && ibv_get_pkey_index(p->device, 1, pkey) == 0);
}

static void to_init(struct program* p) {
  struct ibv_qp_attr v = {.qp_state = IBV_QPS_INIT,
                          .qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE};
  struct mrc_qp_attr m = {.profile = {.ev_profile_id = p->ev_profile, .cc_profile_id = p->cc_profile}};
  CHECK(mrc_modify_qp(p->qp, &v, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS, &m,
                      MRC_QP_HINT | MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID) == 0);
}

static void to_rtr(struct program* p, const struct mrc_qp_attr* m) {
  struct ibv_qp_attr v = {.qp_state = IBV_QPS_RTR,
                          .path_mtu = IBV_MTU_4096,
                          .dest_qp_num = p->peer.qpn,
                          .rq_psn = 0xfffff0 + (p->peer.qpn & 7)};
  v.ah_attr.is_global = 1;
  v.ah_attr.port_num = 1;
  v.ah_attr.grh.dgid = p->peer.gid;
  struct mrc_qp_attr copy = *m;
  CHECK(mrc_modify_qp(p->qp, &v, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN, &copy,
                      MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR_DEST | MRC_QP_CAP) == 0);
}

static void to_rts(struct program* p, const struct mrc_qp_attr* m) {
  struct ibv_qp_attr v = {.qp_state = IBV_QPS_RTS, .sq_psn = 0xfffff0 + (p->own.qpn & 7)};
  struct mrc_qp_attr copy = *m;
  CHECK(mrc_modify_qp(p->qp, &v, IBV_QP_STATE | IBV_QP_SQ_PSN, &copy,
                      MRC_QP_MAX_WIMM | MRC_QP_MPR | MRC_QP_RETRY_CNT | MRC_QP_TIMEOUT) == 0);
}

void program_open(struct program* p, const char* device, int socket, size_t bytes) {
  memset(p, 0, sizeof *p);
  p->socket = socket;
  p->bytes = bytes;
  p->device = open_device(device);
  int supported = 0;
  CHECK(mrc_query_device(p->device, &p->attr, &supported) == 0 && supported);
  struct mrc_context_attr version = {.mrc_api_version_used = MRC_API_VER_USED};
  p->context = mrc_create_context(p->device, &version);
  CHECK(p->context != NULL);
  queries(p);
  p->pd = ibv_alloc_pd(p->device);
  CHECK(p->pd != NULL);
  p->buffer = calloc(1, bytes);
  p->mr = ibv_reg_mr(p->pd, p->buffer, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  CHECK(p->mr != NULL);
  p->send_cq = mrc_create_cq(p->context, kDepth, NULL, NULL, 0);
  p->recv_cq = mrc_create_cq(p->context, kDepth, NULL, NULL, 0);
  CHECK(p->send_cq != NULL && p->recv_cq != NULL);
}

void program_connect(struct program* p) {
  struct mrc_qp_init_attr init = {.send_cq = p->send_cq,
                                  .recv_cq = p->recv_cq,
                                  .cap = {.max_send_wr = kDepth, .max_recv_wr = kDepth, .max_send_sge = 1},
                                  .pd = p->pd,
                                  .protocol_version = MRC_PROTOCOL_VERSION_1};
  p->qp = mrc_create_qp(p->context, &init);
  CHECK(p->qp != NULL);
  CHECK(mrc_get_qpn(p->qp, &p->own.qpn) == 0);
  CHECK(ibv_query_gid(p->device, 1, 0, &p->own.gid) == 0);
  p->own.rkey = p->mr->rkey;
  p->own.address = (uintptr_t)p->buffer;
  exchange(p->socket, &p->own, &p->peer, sizeof p->own);
  struct ibv_qp_attr v;
  struct mrc_qp_attr m;
  struct mrc_qp_init_attr again;
  CHECK(mrc_query_qp(p->qp, &v, IBV_QP_STATE, &m, MRC_QP_MPR, &again) == 0);
  CHECK(v.qp_state == IBV_QPS_RESET && again.pd == p->pd);
  to_init(p);
  to_rtr(p, &m);
  to_rts(p, &m);
  CHECK(mrc_query_qp(p->qp, &v, IBV_QP_STATE, &m, MRC_QP_MPR, &again) == 0);
  CHECK(v.qp_state == IBV_QPS_RTS && v.dest_qp_num == p->peer.qpn);
  program_meet(p);
}

void program_begin(struct program* p, const char* device, int socket, size_t bytes) {
  program_open(p, device, socket, bytes);
  program_connect(p);
}

void program_end(struct program* p) {
  CHECK(mrc_destroy_cq(p->send_cq) == EBUSY);
  CHECK(ibv_close_device(p->device) != 0);
  CHECK(mrc_destroy_qp(p->qp) == 0);
  CHECK(mrc_destroy_cq(p->send_cq) == 0 && mrc_destroy_cq(p->recv_cq) == 0);
  CHECK(ibv_dealloc_pd(p->pd) == EBUSY);
  CHECK(ibv_dereg_mr(p->mr) == 0);
  CHECK(ibv_dealloc_pd(p->pd) == 0);
  CHECK(mrc_destroy_context(p->context) == 0);
  CHECK(ibv_close_device(p->device) == 0);
  free(p->buffer);
}

void program_meet(struct program* p) {
  char own = '.', peer = 0;
  exchange(p->socket, &own, &peer, 1);
}

struct ibv_wc program_wait(struct mrc_cq* cq) {
  struct ibv_wc wc;
  int n = 0;
  while ((n = mrc_poll_cq(cq, 1, &wc)) == 0) {
  }
  CHECK(n == 1);
  return wc;
}

int program_write(struct program* p, size_t from, size_t to, uint32_t bytes, const uint32_t* imm, uint64_t wr_id) {
  struct ibv_sge sge = {.addr = (uintptr_t)(p->buffer + from), .length = bytes, .lkey = p->mr->lkey};
  struct ibv_send_wr wr = {.wr_id = wr_id,
                           .sg_list = &sge,
                           .num_sge = 1,
                           .opcode = imm == NULL ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_WRITE_WITH_IMM,
                           .send_flags = IBV_SEND_SIGNALED};
  if (imm != NULL) wr.imm_data = htonl(*imm);
  wr.wr.rdma.remote_addr = p->peer.address + to;
  wr.wr.rdma.rkey = p->peer.rkey;
  struct ibv_send_wr* bad = NULL;
  return mrc_post_send(p->qp, &wr, &bad);
}

void program_receive(struct program* p, uint64_t wr_id) {
  struct ibv_recv_wr wr = {.wr_id = wr_id};
  struct ibv_recv_wr* bad = NULL;
  CHECK(mrc_post_recv(p->qp, &wr, &bad) == 0);
}
