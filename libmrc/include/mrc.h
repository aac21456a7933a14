/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MRC_H
#define MRC_H
/* Programs that write over MRC: contexts, completion queues, queue pairs, WRITE and WRITE with immediate.
 *
 * Names, layouts and values are those of OCP's mrc.h, versions (1,0,0) and (1,0,1), so that a program runs with either
 * header; the text is ours. Devices, protection domains and memory regions are libibverbs'. What lib_mrc.so does of it,
 * and what where this interface is silent: docs/guide/api.md.
 *
 * Unless said otherwise a function returns 0, or -1 with errno set. Those that have a sister in libibverbs return what
 * that one returns: an errno itself. */
#include <infiniband/verbs.h>
#include <stdint.h>

#include "mrc_api_ver.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MRC_MAX_VENDOR_CFG_SIZE 128

struct mrc_context;
struct mrc_comp_channel;
struct mrc_cq;
struct mrc_qp;
struct mrc_qp_hint;

/* Versions. */

/* Of the protocol on the wire: a device names a set of them, a queue pair asks for one. */
enum mrc_protocol_version {
  MRC_PROTOCOL_VERSION_0 = 0, /* whichever the library takes */
  MRC_PROTOCOL_VERSION_1 = 1 << 0,
};

/* Newest and oldest version of this interface, then of what the vendor adds; as MRC_API_VER makes them. */
void mrc_query_version(uint32_t* current_version, uint32_t* last_supported_version, uint32_t* vendor_version,
                       uint32_t* last_supported_vendor_version);

/* What a device can. */

enum mrc_device_cap {
  MRC_DEVICE_CAP_TRIM_NACK = 1 << 0,   /* NACKs for trimmed packets */
  MRC_DEVICE_CAP_DYNAMIC_MPR = 1 << 1, /* windows that change while a queue pair lives */
  MRC_DEVICE_CAP_SVC_TIME = 1 << 2,    /* tells its service time in SACKs */
};

struct mrc_device_attr {
  uint32_t mrc_protocol_version; /* set of enum mrc_protocol_version; 0: the library chooses */
  struct {
    uint16_t max_wimm;      /* immediates on their way, at most: as requestor */
    uint16_t max_wimm_dest; /* as responder */
  } wimm_attr;
  struct {
    uint8_t max_mpr;        /* largest window, in units of 128 PSNs */
    uint8_t mpr_resolution; /* windows are multiples of so many units */
  } mpr_attr;
  struct {
    uint32_t max_qp_hint;
  } qp_attr;
  uint32_t cap; /* set of enum mrc_device_cap */
};

/* *supported: not 0 if the device speaks MRC. The first one is of (1,0,0). */
int mrc_query_device(struct ibv_context* context, struct mrc_device_attr* attr, int* supported);
#if MRC_API_VER_USED >= MRC_API_VER(1, 0, 1)
int mrc_query_device_ex(struct ibv_context* context, struct mrc_context* mcontext, struct mrc_device_attr* attr,
                        int* supported);
#endif

/* Contexts. */

struct mrc_context_attr {
  uint32_t mrc_api_version_used;        /* what the program is written for; 0: it does not say */
  uint32_t mrc_vendor_api_version_used; /* the same of what the vendor adds */
};

/* Owner of everything below. NULL with errno. context_attr may be NULL. */
struct mrc_context* mrc_create_context(struct ibv_context* vcontext, struct mrc_context_attr* context_attr);
int mrc_destroy_context(struct mrc_context* mrc_ctx);

/* Completions. */

int mrc_create_comp_channel(struct mrc_context* mrc_ctx, struct mrc_comp_channel** channel);
int mrc_get_comp_channel_fd(struct mrc_comp_channel* channel, int* fd);
int mrc_destroy_comp_channel(struct mrc_comp_channel* channel);

/* cqe: room for so many entries at least. channel may be NULL. NULL with errno. */
struct mrc_cq* mrc_create_cq(struct mrc_context* mrc_ctx, int cqe, void* cq_context, struct mrc_comp_channel* channel,
                             int comp_vector);
/* How many entries it took, num_entries at most; fewer: the queue is empty now. -1: error. */
int mrc_poll_cq(struct mrc_cq* cq, int num_entries, struct ibv_wc* wc);
/* Waits until every event of the queue that was handed out is acknowledged. */
int mrc_destroy_cq(struct mrc_cq* cq);

/* The next completion, or the next solicited one, sends one event to the queue's channel. */
int mrc_req_notify_cq(struct mrc_cq* cq, int solicited_only);
int mrc_get_cq_event(struct mrc_comp_channel* channel, struct mrc_cq** cq, void** cq_context);
void mrc_ack_cq_events(struct mrc_cq* cq, unsigned int nevents);

/* Hints: what traffic a program expects of a group of queue pairs. */

struct mrc_qp_hint_attr {
  int num_qps_per_peer;      /* queue pairs that send to the same address at the same time */
  int num_send_peers;        /* addresses that are sent to at the same time */
  int num_remote_recv_peers; /* queue pairs elsewhere that send to the same address meanwhile: its incast */
  uint8_t vendor_cfg[MRC_MAX_VENDOR_CFG_SIZE];
};

enum mrc_qp_hint_attr_mask {
  MRC_QP_HINT_NUM_QPS_PER_PEER = 1 << 0,
  MRC_QP_HINT_NUM_SEND_PEERS = 1 << 1,
  MRC_QP_HINT_NUM_REMOTE_RECV_PEERS = 1 << 2,
  MRC_QP_HINT_VENDOR_CFG = -0x7fffffff - 1 /* bit 31 */
};

struct mrc_qp_hint_init_attr {
  struct mrc_qp_hint_attr attr;
};

struct mrc_qp_hint* mrc_create_qp_hint(struct mrc_context* mrc_ctx, struct mrc_qp_hint_init_attr* init_attr);
/* EBUSY: a queue pair has it. */
int mrc_destroy_qp_hint(struct mrc_qp_hint* qp_hint);
int mrc_query_qp_hint(struct mrc_qp_hint* qp_hint, struct mrc_qp_hint_attr* qp_hint_attr, int qp_hint_attr_mask);
int mrc_modify_qp_hint(struct mrc_qp_hint* qp_hint, struct mrc_qp_hint_attr* qp_hint_attr, int qp_hint_attr_mask);

/* Queue pairs. */

struct mrc_qp_init_attr {
  void* qp_context;
  struct mrc_cq* send_cq;
  struct mrc_cq* recv_cq;
  struct ibv_qp_cap cap;
  int sq_sig_all; /* every work request completes visibly */
  struct ibv_pd* pd;
  uint64_t send_ops_flags; /* set of enum ibv_qp_create_send_ops_flags */
  enum mrc_protocol_version protocol_version;
};

/* In RESET. NULL with errno. */
struct mrc_qp* mrc_create_qp(struct mrc_context* mrc_ctx, struct mrc_qp_init_attr* mrc_qp_attr);
int mrc_destroy_qp(struct mrc_qp* qp);
int mrc_get_qpn(struct mrc_qp* qp, uint32_t* qpn);

/* With the step to INIT come hint and both profiles; to RTR what it has as responder, and its capabilities; to RTS what
 * it has as requestor. */
enum mrc_qp_attr_mask {
  MRC_QP_MAX_WIMM = 1 << 0,
  MRC_QP_MAX_WIMM_DEST = 1 << 1,
  MRC_QP_MPR = 1 << 2,
  MRC_QP_MPR_DEST = 1 << 3,
  MRC_QP_TIMEOUT = 1 << 4,
  MRC_QP_EV_PROFILE_ID = 1 << 5,
  MRC_QP_CC_PROFILE_ID = 1 << 6,
  MRC_QP_HINT = 1 << 7,
  MRC_QP_RETRY_CNT = 1 << 8,
  MRC_QP_CAP = 1 << 9,
  MRC_QP_VENDOR_CFG = -0x7fffffff - 1 /* bit 31 */
};

enum mrc_qp_cap {
  MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED = 1 << 0, /* the peer cannot NACK trimmed packets */
  MRC_QP_CAP_DYNAMIC_MPR = 1 << 1,                /* wanted; acts if the peer wants it too */
  MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED = 1 << 2   /* the peer tells no service time */
};

struct mrc_qp_attr {
  struct {
    uint8_t mpr;      /* window as requestor, in units of 128 PSNs */
    uint8_t mpr_dest; /* as responder */
  } mpr;
  struct {
    uint16_t max_wimm; /* immediates on their way, at most: as requestor */
    uint16_t max_wimm_dest;
  } wimm;
  uint8_t timeout; /* of acknowledgements: 1.024 us * 2^timeout; 24 at most */
  struct {
    uint64_t ev_profile_id; /* as a controller has set them up, and told the program by another way */
    uint64_t cc_profile_id;
  } profile;
  struct {
    uint8_t linear_cnt; /* retries at the same interval; 7 at most */
    uint8_t exp_cnt;    /* then at one that doubles; 25: without end */
  } retry;
  struct mrc_qp_hint* qp_hint; /* NULL: none */
  uint32_t cap;                /* set of enum mrc_qp_cap */
  uint8_t vendor_cfg[MRC_MAX_VENDOR_CFG_SIZE];
};

int mrc_query_qp(struct mrc_qp* qp, struct ibv_qp_attr* vattr, int vattr_mask, struct mrc_qp_attr* mrc_attr,
                 int mrc_attr_mask, struct mrc_qp_init_attr* init_attr);
/* Of libibverbs' attributes these have no meaning here: PORT, TIMEOUT, RETRY_CNT, RNR_RETRY, MIN_RNR_TIMER,
 * MAX_QP_RD_ATOMIC, MAX_DEST_RD_ATOMIC, ALT_PATH, PATH_MIG_STATE. */
int mrc_modify_qp(struct mrc_qp* qp, struct ibv_qp_attr* vattr, int vattr_mask, struct mrc_qp_attr* mrc_attr,
                  int mrc_attr_mask);

/* Buffers for immediates that come. */
int mrc_post_recv(struct mrc_qp* qp, struct ibv_recv_wr* wr, struct ibv_recv_wr** bad_wr);
/* WRITE and WRITE with immediate. */
int mrc_post_send(struct mrc_qp* qp, struct ibv_send_wr* wr, struct ibv_send_wr** bad_wr);

/* Events of a context. */

struct mrc_async_event {
  union {
    struct mrc_cq* cq;
    struct mrc_qp* qp;
    int port_num;
  } element;
  enum ibv_event_type event_type;
};

int mrc_get_async_event(struct mrc_context* mrc_ctx, struct mrc_async_event* event);
void mrc_ack_async_event(struct mrc_async_event* event);

#ifdef __cplusplus
}
#endif
#endif
