/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MRC_NIC_H
#define MRC_NIC_H
/* Any NIC as a shared object: the calls of docs/reference/device.md in C, version 1. The tester owns time, wire and
 * host memory; the object owns the NIC. Memory is transactions, nothing is called back: a NIC may live in a simulator,
 * behind DPI, on a board.
 *
 * The tester opens the object with dlopen, finds the functions by these names, and calls them from one thread. It is a
 * guest: the tester gives it a process of its own. Times are picoseconds of one clock, from 0 on, and pass by
 * mrc_nic_advance alone. Each structure begins with its size as the caller has it; who gets a smaller one than it needs
 * returns MRC_E_SIZE, of a larger one it uses what it knows. Pointers that are handed in are valid for the call;
 * pointers that are handed out until the next call, those of facts until mrc_nic_close. What a key means, when a call
 * acts, which times are refused: docs/reference/device.md.
 *
 * Functions return MRC_OK, MRC_PENDING, MRC_NO_ROOM, or less than 0; then mrc_nic_error says why.
 *
 * Required: mrc_nic_version, mrc_nic_open, mrc_nic_facts, mrc_nic_address, mrc_nic_qp, mrc_nic_mr, mrc_nic_post,
 * mrc_nic_rx, mrc_nic_host_done, mrc_nic_advance, mrc_nic_next, mrc_nic_error, mrc_nic_close.
 * Optional, a missing one means "cannot": mrc_nic_query, mrc_nic_recv, mrc_nic_port, mrc_nic_ev, mrc_nic_mpr,
 * mrc_nic_pause, mrc_nic_memory, mrc_nic_counter, mrc_nic_modify, mrc_nic_evprobe,
 * mrc_nic_reset. */
#include <stddef.h>
#include <stdint.h>

#include "api/mrc_common.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MRC_NIC_API 1u

typedef struct mrc_nic mrc_nic;

/* What calls return besides MRC_OK and the errors of mrc_common.h. */
enum {
  MRC_PENDING = 1, /* it acts while mrc_nic_advance runs; MRC_OUT_DONE tells */
  MRC_NO_ROOM = 2, /* of mrc_nic_post: try again after an output */
  /* Of mrc_nic_modify: the queue pair stays as it is, since */
  MRC_REFUSED_TRANSITION = 3, /* no way leads from its state to that one */
  MRC_REFUSED_ATTRIBUTES = 4, /* attributes are missing */
  MRC_REFUSED_VALUE = 5       /* the value of an attribute is out of range */
};

/* Attributes of mrc_nic_modify, as bits 1 << MRC_ATTR_*. */
enum {
  MRC_ATTR_EV_PROFILE,
  MRC_ATTR_CC_PROFILE,
  MRC_ATTR_PATH,
  MRC_ATTR_RQ_PSN,
  MRC_ATTR_MAX_WIMM_DEST,
  MRC_ATTR_MPR_DEST,
  MRC_ATTR_CAPS,
  MRC_ATTR_SQ_PSN,
  MRC_ATTR_MAX_WIMM,
  MRC_ATTR_MPR,
  MRC_ATTR_TIMEOUT,
  MRC_ATTR_RETRY_CNT
};

enum { MRC_IPV6, MRC_SRV6, MRC_SRH, MRC_IPV4 };
enum { MRC_HOST_READS, MRC_HOST_WRITES, MRC_HOST_COMPLETIONS };
enum {
  MRC_CQE_OK,
  MRC_CQE_LOCAL_LENGTH,
  MRC_CQE_WIMM_OVERRUN,
  MRC_CQE_REMOTE_INVALID,
  MRC_CQE_REMOTE_ACCESS,
  MRC_CQE_REMOTE_OPERATION,
  MRC_CQE_RETRIES,
  MRC_CQE_FLUSHED,
  MRC_CQE_FATAL,
  MRC_CQE_OTHER
};
typedef struct mrc_nic_config {
  uint32_t size;
  uint32_t api;          /* MRC_NIC_API */
  uint32_t planes;       /* as many ports as the tester uses; 0: all */
  uint32_t num_settings; /* pairs of the next two */
  const char* const* setting_names;
  const uint64_t* setting_values;
  uint64_t seed;
  const char* preset; /* sizes that the tester plays with: a hint */
  char* error;        /* one sentence, ended by 0, goes here when mrc_nic_open fails */
  size_t error_size;
} mrc_nic_config;

typedef struct mrc_nic_facts_t {
  uint32_t size;
  uint32_t planes, port_gbps;                 /* ports in use */
  uint32_t qp_first, qps;                     /* numbers that queue pairs may have */
  uint32_t mpr, max_wimm, evs, regions, post; /* at most */
  uint64_t latency;                           /* longest time from a frame's last byte to the first of its answer */
  const char* name;
  const char* version;
  const char* caps;    /* words of docs/reference/device.md, blanks between them */
  const char* profile; /* JSON of docs/reference/log.md, "Profiles" */
} mrc_nic_facts_t;

/* A queue pair as its owner wants it; on return as it is. */
typedef struct mrc_nic_qp_t {
  uint32_t size;
  uint32_t qp, state, peer_qp;
  uint8_t peer_ip[16], path[16]; /* network byte order; path: SRv6 template */
  uint64_t peer_mac;             /* in the lower 48 bits, the first byte on the wire highest */
  uint32_t mtu, sq_psn, rq_psn, msn, rqmsn;
  uint32_t mpr, mpr_dest; /* units of 128 PSNs */
  uint32_t max_wimm, max_wimm_dest;
  uint32_t timeout, retry_linear, retry_exp;
  uint32_t pkey, encap;
  uint8_t dynamic_mpr, trim_nack, svc_time, time_stamps, controlled;
  uint8_t own_class, class_data, class_rtx; /* own_class 1: code points of its data and of its retransmissions, 0 to 63;
                                               0, as before there were classes: those of the NIC */
  uint32_t num_evs, backup;                 /* entropy values, the last ones for backup; 0: the NIC draws them */
  uint32_t evs_room;                        /* so many may be written to evs on return */
  uint32_t* evs;
  /* Numbers of its congestion controller, names of key nscc of device.md: pairs of the next two. Cap nscc_numbers. */
  uint32_t num_nscc, reserved;
  const char* const* nscc_names;
  const double* nscc_values;
} mrc_nic_qp_t;

typedef struct mrc_nic_mr_t {
  uint32_t size;
  uint32_t rkey;
  uint32_t valid, write;
  uint64_t va, bytes, addr; /* addr: host address of its first byte */
} mrc_nic_mr_t;

typedef struct mrc_nic_post_t {
  uint32_t size;
  uint32_t qp;
  uint64_t wr_id, addr, remote, bytes;
  uint32_t rkey;
  uint32_t immediate; /* 1: imm counts */
  uint32_t imm, reserved;
} mrc_nic_post_t;

enum { MRC_OUT_TX = 1, MRC_OUT_READ, MRC_OUT_WRITE, MRC_OUT_CQE, MRC_OUT_DONE, MRC_OUT_EVENT };

typedef struct mrc_nic_out_t {
  uint32_t size;
  uint32_t what;            /* MRC_OUT_* */
  uint64_t t;               /* of a frame, its first byte */
  uint64_t t_last;          /* TX: end of its last byte */
  uint32_t plane, bytes;    /* TX, READ, WRITE: bytes of data */
  const uint8_t* data;      /* TX: from the Ethernet header on, without FCS; WRITE */
  uint64_t tag, addr;       /* READ, WRITE */
  uint64_t wr_id;           /* CQE of a work request */
  uint64_t length;          /* CQE of a receive: bytes */
  uint32_t qp;              /* CQE, EVENT; DONE: queue pair or R_Key */
  uint32_t status, receive; /* CQE */
  uint32_t imm, rqmsn;      /* CQE of a receive */
  uint32_t region;          /* DONE: 1, qp is an R_Key */
  const char* call;         /* DONE: "qp", "mr", "ev", "mpr", "modify", "evprobe", "reset" */
  const char* error;        /* DONE: why it does not act; NULL: it does */
  uint32_t kind, reserved;  /* EVENT: MRC_EV_*; DONE of modify: 0 or MRC_REFUSED_* */
  uint64_t arg[6];          /* EVENT; DONE of modify: arg[0] as *attributes of mrc_nic_modify */
} mrc_nic_out_t;

/* MRC_NIC_API. */
uint32_t mrc_nic_version(void);
/* The handle of a NIC that is as new; NULL: config->error says why, and *result is an MRC_E_*. */
mrc_nic* mrc_nic_open(const mrc_nic_config* config, int* result);
int mrc_nic_facts(mrc_nic* nic, mrc_nic_facts_t* facts);
/* The NIC's own, before the first queue pair. */
int mrc_nic_address(mrc_nic* nic, uint64_t mac, const uint8_t ip[16]);
int mrc_nic_qp(mrc_nic* nic, mrc_nic_qp_t* qp);
int mrc_nic_query(mrc_nic* nic, uint32_t qp, uint32_t* state, uint64_t* t);
/* One step to qp->state with these attributes alone (bits 1 << MRC_ATTR_*); members of others do not count. Returns
 * MRC_OK, MRC_PENDING or MRC_REFUSED_*; *attributes: those that were missing, or whose value is out of range. */
int mrc_nic_modify(mrc_nic* nic, const mrc_nic_qp_t* qp, uint32_t with, uint32_t* attributes);
int mrc_nic_mr(mrc_nic* nic, const mrc_nic_mr_t* region);
int mrc_nic_post(mrc_nic* nic, const mrc_nic_post_t* request);
int mrc_nic_recv(mrc_nic* nic, uint32_t qp, uint32_t count);
int mrc_nic_port(mrc_nic* nic, uint32_t plane, int up, uint64_t t);
/* ev: one of the entropy values of the queue pair (mrc_nic_qp_t.evs), the value and not its index. */
int mrc_nic_ev(mrc_nic* nic, uint32_t qp, uint32_t ev, int deny);
int mrc_nic_mpr(mrc_nic* nic, uint32_t qp, uint32_t units);
/* An EV probe to the destination of a queue pair; with code point tc if tc_valid is 1, else with that of the NIC. */
int mrc_nic_evprobe(mrc_nic* nic, uint32_t qp, uint32_t plane, uint32_t ev, int tc_valid, uint32_t tc);
/* The pin of the NIC: it forgets all but its settings and its address, which its software writes again. Nothing that
 * was pending acts or is told, no read is answered any more, no work completes. */
int mrc_nic_reset(mrc_nic* nic);
/* t: end of its last byte. */
int mrc_nic_rx(mrc_nic* nic, uint32_t plane, uint64_t t, const uint8_t* frame, uint32_t bytes, int fcs_bad);
/* status 0: data has the bytes that were asked for. */
int mrc_nic_host_done(mrc_nic* nic, uint64_t tag, uint64_t t, const uint8_t* data, uint32_t bytes, uint32_t status);
/* Of one kind in the order of time, without overlap; hundreds may be told before mrc_nic_advance reaches the first. */
int mrc_nic_pause(mrc_nic* nic, uint32_t what, uint64_t from, uint64_t until);
/* takes 0: the host's memory takes no writes until it is called with 1. */
int mrc_nic_memory(mrc_nic* nic, int takes);
/* Runs to `until`, or stops early, at most `slack` after the first output. */
int mrc_nic_advance(mrc_nic* nic, uint64_t until, uint64_t slack, uint64_t* reached);
/* 1: the next output of the last advance, in the order of time; 0: there is none. */
int mrc_nic_next(mrc_nic* nic, mrc_nic_out_t* out);
/* 1: the counter of that number, its name, its value, the time as of which it is; 0: there is none. */
int mrc_nic_counter(mrc_nic* nic, uint32_t index, const char** name, uint64_t* value, uint64_t* t);
/* One sentence about the last call that returned less than 0. */
const char* mrc_nic_error(mrc_nic* nic);
void mrc_nic_close(mrc_nic* nic);

#ifdef __cplusplus
}
#endif
#endif
