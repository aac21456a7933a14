/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MRC_CTL_H
#define MRC_CTL_H
/* The controller of a node: entropy values (EVs), congestion control, ports, probes of paths. One process with
 * CAP_NET_ADMIN.
 *
 * Names, layouts and values are those of OCP's mrc_ctl.h, versions (1,0,0) and (1,0,1); the text is ours. What
 * lib_mrc.so does of it: docs/guide/api.md.
 *
 * Unless said otherwise a function returns 0, or -1 with errno set: EINVAL, EPERM without the capability, EIO. */
#include <infiniband/verbs.h>
#include <stdint.h>

#include "mrc.h"
#include "mrc_ctl_api_ver.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MRC_CTL_MAX_VENDOR_CFG_SIZE 128

enum mrc_ctl_protocol_version {
  MRC_CTL_PROTOCOL_VERSION_0 = 0, /* not told */
  MRC_CTL_PROTOCOL_VERSION_1 = 1 << 0,
};

void mrc_ctl_query_version(uint32_t* current_version, uint32_t* last_supported_version, uint32_t* vendor_version,
                           uint32_t* last_supported_vendor_version);

/* Every kind of profile goes INIT, OFFLINE, ONLINE, and back the same way. */
enum mrc_ctl_profile_state {
  MRC_CTL_PROFILE_INIT,    /* nothing is set */
  MRC_CTL_PROFILE_OFFLINE, /* is being set */
  MRC_CTL_PROFILE_ONLINE,  /* queue pairs may use it */
};

/* What a device can. */

enum mrc_ctl_attr_opt {
  MRC_CTL_OPT_CAP_EV_PROFILE_MODIFY_ONLINE = 1 << 0,
  MRC_CTL_OPT_CAP_CC_PROFILE_MODIFY_ONLINE = 1 << 1,
  MRC_CTL_OPT_CAP_EV_EVENT = 1 << 2,
  MRC_CTL_OPT_CAP_EV_EXPLICIT_RANGE = 1 << 3, /* explicit EVs are consecutive values alone */
  MRC_CTL_OPT_CAP_EV_EVENT_PRECISE_DROP_CNT = 1 << 4,
  MRC_CTL_OPT_CAP_EP_OP_EV_PROBE = 1 << 5
};

struct mrc_ctl_device_attr {
  uint32_t mrc_ctl_protocol_version; /* set of enum mrc_ctl_protocol_version; 0: the library chooses */
  struct {
    uint32_t ev_max_fmt_profiles;
    uint32_t ev_max_profiles;
    uint32_t ev_max_count;         /* EVs of all profiles together */
    uint32_t ev_free_count;        /* as many of them are free */
    uint32_t ev_max_count_profile; /* EVs of one profile */
    uint32_t ev_count_align;       /* explicit lists are multiples of so many */
    uint32_t ev_max_width;         /* bits of an EV, before it is expanded */
    uint32_t ev_fmt_mode_mask;     /* set of enum mrc_ctl_ev_fmt_mode */
    uint32_t ev_mode_mask;         /* set of enum mrc_ctl_ev_mode */
    uint32_t ev_op_max_entries;    /* of one call; 0: any number */
  } ev;
  struct {
    uint32_t cc_max_profiles;
    const char** algorithms; /* NULL behind the last one; the library's own. "uet-1.0-nscc": NSCC of UET 1.0 */
  } cc;
  uint32_t phy_port_mask; /* bit N: port N, from 1 on */
  uint32_t opt_attr;      /* set of enum mrc_ctl_attr_opt */
};

/* The first one is of (1,0,0). */
int mrc_ctl_query_device(struct ibv_context* context, struct mrc_ctl_device_attr* ctl_attr);
#if MRC_CTL_API_VER_USED >= MRC_CTL_API_VER(1, 0, 1)
int mrc_ctl_query_device_ex(struct ibv_context* context, struct mrc_context* mcontext,
                            struct mrc_ctl_device_attr* ctl_attr, int* supported);
#endif

/* Ports, numbered from 1 on. */

enum mrc_ctl_port_admin_state {
  MRC_CTL_PORT_ADMIN_DISABLED = 0, /* ibv_query_port then says IBV_PORT_DOWN */
  MRC_CTL_PORT_ADMIN_ENABLED = 1,
};

enum mrc_ctl_port_attr_mask {
  MRC_CTL_PORT_ADMIN_STATE = 1 << 0,
};

struct mrc_ctl_port_attr {
  enum mrc_ctl_port_admin_state port_admin_state;
};

int mrc_ctl_query_port(struct mrc_context* context, uint8_t port_num, struct mrc_ctl_port_attr* attr, int attr_mask);
int mrc_ctl_modify_port(struct mrc_context* context, uint8_t port_num, struct mrc_ctl_port_attr* attr, int attr_mask);

/* Formats: fields whose widths together are what an EV takes in a packet. */

enum mrc_ctl_ev_fmt_mode {
  MRC_CTL_EV_FMT_MODE_STEV = 1 << 0, /* IPv6 flow label and UDP source port */
  MRC_CTL_EV_FMT_MODE_SRV6 = 1 << 1, /* outer destination, and a segment of a routing header if wanted */
  MRC_CTL_EV_FMT_MODE_UDP = 1 << 2,  /* UDP source port */
};

enum mrc_ctl_ev_fmt_op {
  MRC_CTL_EV_FMT_OP_MODIFY_FIELDS,
  MRC_CTL_EV_FMT_OP_QUERY_FIELDS,
};

enum mrc_ctl_ev_fmt_profile_attr_mask {
  MRC_CTL_EV_FMT_PROFILE_STATE = 1 << 0,
  MRC_CTL_EV_FMT_PROFILE_CUR_STATE = 1 << 1,
  MRC_CTL_EV_FMT_PROFILE_MODE = 1 << 2,
  MRC_CTL_EV_FMT_PROFILE_OP = 1 << 3,
  MRC_CTL_EV_FMT_VENDOR_CFG = -0x7fffffff - 1, /* bit 31 */
};

struct mrc_ctl_ev_fmt_field {
  uint8_t width; /* bits */
};

struct mrc_ctl_ev_fmt_profile_attr {
  enum mrc_ctl_profile_state profile_state; /* wanted */
  enum mrc_ctl_profile_state cur_profile_state;
  enum mrc_ctl_ev_fmt_mode ev_fmt_mode;
  struct {
    enum mrc_ctl_ev_fmt_op op;
    struct mrc_ctl_ev_fmt_field* fmt_fields;
    int fmt_field_count; /* of the list; E2BIG: as many as are needed */
  } ev_fmt_op;
  uint8_t vendor_cfg[MRC_CTL_MAX_VENDOR_CFG_SIZE];
};

/* To OFFLINE with MODE, to ONLINE with fields. EBUSY: an EV profile of this format is ONLINE. E2BIG: fields that the
 * device cannot have. */
int mrc_ctl_modify_ev_fmt_profile(struct mrc_context* mrc_ctx, uint64_t ev_fmt_profile_id,
                                  struct mrc_ctl_ev_fmt_profile_attr* attr, int attr_mask);
int mrc_ctl_query_ev_fmt_profile(struct mrc_context* mrc_ctx, uint64_t ev_fmt_profile_id,
                                 struct mrc_ctl_ev_fmt_profile_attr* attr, int attr_mask);

/* EVs and their profiles. */

#define MRC_CTL_EV_MAX_BYTES 32
/* STEV and UDP: the value in the first 4 bytes; SRv6: an address of 16, then that of the routing header's segment. */
typedef uint8_t mrc_ctl_ev_t[MRC_CTL_EV_MAX_BYTES];

struct mrc_ctl_ev {
  mrc_ctl_ev_t val;
  uint8_t port; /* from 1 on */
};
#define MRC_CTL_EV_UNPOPULATED ((struct mrc_ctl_ev){.val = {0}, .port = 0})

enum mrc_ctl_ev_state {
  MRC_CTL_EV_GOOD = 1 << 0,
  MRC_CTL_EV_ASSUMED_BAD = 1 << 1,
  MRC_CTL_EV_DENIED = 1 << 2,
  MRC_CTL_EV_UNKNOWN = -0x7fffffff - 1 /* bit 31 */
};

enum mrc_ctl_ev_mode {
  MRC_CTL_EV_MODE_AUTO = 1 << 0, /* the vendor's own */
  MRC_CTL_EV_MODE_EXP = 1 << 1,  /* listed */
  MRC_CTL_EV_MODE_GEN = 1 << 2,  /* drawn by the device */
};

enum mrc_ctl_ev_op {
  MRC_CTL_EV_OP_REPLACE_EV,
  MRC_CTL_EV_OP_MODIFY_EV_STATE,
  MRC_CTL_EV_OP_QUERY_EV_STATE,
  MRC_CTL_EV_OP_QUERY_EV_ARRAY,
};

enum mrc_ctl_ev_fields_op {
  MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS,
  MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS,
};

enum mrc_ctl_ev_profile_attr_mask {
  MRC_CTL_EV_PROFILE_STATE = 1 << 0,
  MRC_CTL_EV_PROFILE_CUR_STATE = 1 << 1,
  MRC_CTL_EV_PROFILE_MODE = 1 << 2,
  MRC_CTL_EV_PROFILE_FMT_ID = 1 << 3,
  MRC_CTL_EV_PROFILE_COUNT = 1 << 4,
  MRC_CTL_EV_PROFILE_MIN_ACTIVE = 1 << 5,
  MRC_CTL_EV_PROFILE_EVENT_MASK = 1 << 6,
  MRC_CTL_EV_PROFILE_EV_OP = 1 << 7, /* not together with the next */
  MRC_CTL_EV_PROFILE_EV_FIELDS_OP = 1 << 8,
  MRC_CTL_EV_PROFILE_VENDOR_CFG = -0x7fffffff - 1, /* bit 31 */
};

/* How bits of an EV make a field of the packet: the field is init_val, of which the bits in mask are replaced, highest
 * first, by the next bits of the EV, highest first. Fields follow each other; a format's wider field has zeros. */
struct mrc_ctl_ev_field {
  uint32_t width; /* bits */
  uint32_t init_val;
  uint32_t min_val, max_val; /* of those bits, where the device draws them */
  uint32_t mask;
};

enum mrc_ctl_ev_op_flags {
  MRC_CTL_EV_OP_F_ALL_COPIES = 1 << 0, /* REPLACE_EV: wherever the value stands, not in one place */
};

/* REPLACE_EV reads ev, ev_new, state, flags; MODIFY_EV_STATE ev and state; QUERY_EV_STATE reads ev, writes state;
 * QUERY_EV_ARRAY writes both. */
struct mrc_ctl_ev_op_entry {
  struct mrc_ctl_ev ev;
  struct mrc_ctl_ev ev_new;
  enum mrc_ctl_ev_state state;
  uint32_t flags;
};

struct mrc_ctl_ev_profile_attr {
  enum mrc_ctl_profile_state profile_state; /* wanted */
  enum mrc_ctl_profile_state cur_profile_state;
  enum mrc_ctl_ev_mode ev_mode;
  uint64_t ev_fmt_profile_id;
  uint32_t ev_count;      /* wanted; queried: as the device has it */
  uint32_t ev_min_active; /* so many are not taken for bad, whatever happens; ev_count at most */
  int ev_event_mask;      /* changes to these states are events: ASSUMED_BAD, GOOD */
  struct {
    enum mrc_ctl_ev_op op;
    struct mrc_ctl_ev_op_entry* entries;
    int entry_count; /* of the list; E2BIG: as many as are needed */
  } ev_op;
  struct {
    enum mrc_ctl_ev_fields_op op;
    struct mrc_ctl_ev_field* fields;
    int field_count; /* the same */
  } ev_fields_op;
  uint8_t vendor_cfg[MRC_CTL_MAX_VENDOR_CFG_SIZE];
};

/* To OFFLINE with MODE, FMT_ID, COUNT and fields; to ONLINE with MIN_ACTIVE, EVENT_MASK and, of listed EVs, the EVs.
 * ENOENT: no such EV. EBUSY: queue pairs have the profile. A list is worked through up to the first wrong entry. */
int mrc_ctl_modify_ev_profile(struct mrc_context* mrc_ctx, uint64_t ev_profile_id, struct mrc_ctl_ev_profile_attr* attr,
                              int attr_mask);
int mrc_ctl_query_ev_profile(struct mrc_context* mrc_ctx, uint64_t ev_profile_id, struct mrc_ctl_ev_profile_attr* attr,
                             int attr_mask);

/* Congestion control. */

enum mrc_ctl_cc_profile_attr_mask {
  MRC_CTL_CC_PROFILE_STATE = 1 << 0,
  MRC_CTL_CC_PROFILE_CUR_STATE = 1 << 1,
  MRC_CTL_CC_PROFILE_ALGORITHM = 1 << 2,
  MRC_CTL_CC_PROFILE_CONFIG = 1 << 3,
  MRC_CTL_CC_PROFILE_VENDOR_CFG = -0x7fffffff - 1, /* bit 31 */
};

struct mrc_ctl_cc_profile_attr {
  enum mrc_ctl_profile_state profile_state; /* wanted */
  enum mrc_ctl_profile_state cur_profile_state;
  const char* algorithm; /* one of the device's; NULL: no control */
  const void* cc_config; /* of "uet-1.0-nscc": struct mrc_ctl_cc_nscc_cfg */
  uint8_t vendor_cfg[MRC_CTL_MAX_VENDOR_CFG_SIZE];
};

/* Names are UET's. */
struct mrc_ctl_cc_nscc_cfg {
  uint8_t disable_qa;
  uint32_t adjust_bytes_threshold;  /* bytes */
  uint32_t adjust_period_threshold; /* ns */
  uint32_t base_rtt;                /* ns */
  float eta;
  float fi;
  float fi_scale;
  float gamma;
  float max_md_jump;
  uint32_t max_cwnd; /* bytes */
  uint8_t qa_gate;
  uint32_t qa_threshold; /* ns */
  uint32_t target_delay; /* ns */
};

/* To OFFLINE with ALGORITHM, to ONLINE with CONFIG. EBUSY: queue pairs have the profile. */
int mrc_ctl_modify_cc_profile(struct mrc_context* mrc_ctx, uint64_t cc_profile_id, struct mrc_ctl_cc_profile_attr* attr,
                              int attr_mask);
int mrc_ctl_query_cc_profile(struct mrc_context* mrc_ctx, uint64_t cc_profile_id, struct mrc_ctl_cc_profile_attr* attr,
                             int attr_mask);

/* Events: an EV has changed its state. */

struct mrc_ctl_ev_event {
  uint64_t profile_id;
  struct mrc_ctl_ev ev;
  uint32_t drop_count; /* events lost before this one, or just whether any were (PRECISE_DROP_CNT) */
#if MRC_CTL_API_VER_USED >= MRC_CTL_API_VER(1, 0, 1)
  enum mrc_ctl_ev_state state;
#endif
};

/* A queue that loses events instead of failing. */
struct mrc_cq* mrc_ctl_create_ev_event_cq(struct mrc_context* mrc_ctx, int cqe, void* cq_context,
                                          struct mrc_comp_channel* channel, int comp_vector);
/* How many it took, or an errno as a negative number. */
int mrc_ctl_poll_ev_event(struct mrc_cq* ev_cq, int num_entries, struct mrc_ctl_ev_event* ev_event);

/* Requests to endpoints, without a queue pair. */

enum mrc_ctl_ep_op_type { MRC_CTL_EP_OP_EV_PROBE, MRC_CTL_EP_OP_PORT_STATUS_UPDATE };

struct mrc_ctl_ep_req {
  uint16_t req_id; /* of no other request that is open */
  union ibv_gid sgid;
  union ibv_gid dgid;
  enum mrc_ctl_ev_fmt_mode ev_fmt_mode;
  struct mrc_ctl_ev req_ev;
  union {
    struct {
      uint32_t port_status; /* bit N: port N is up */
    } port_status_update;
  } op;
};

struct mrc_ctl_ep_rsp {
  uint16_t req_id;
  uint8_t port;         /* it came in by this one */
  unsigned int rtt;     /* ns */
  uint8_t adj_svc_time; /* not 0: the peer's service time is taken off */
};

/* Sends all, then waits for all answers, rsp_timeout ns at most: ETIMEDOUT, and as many as came. */
int mrc_ctl_ep_batch_send_wait(struct mrc_context* mrc_ctx, uint8_t req_tc, enum mrc_ctl_ep_op_type op_type,
                               struct mrc_ctl_ep_req* req, int num_req, uint32_t rsp_timeout,
                               struct mrc_ctl_ep_rsp* rsp, int* num_rsp);

#ifdef __cplusplus
}
#endif
#endif
