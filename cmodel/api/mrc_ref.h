/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MRC_REF_H
#define MRC_REF_H
/* The judge as a library (docs/guide/judge_library.md): it is told what one NIC does and sees, and says which rules of
 * MRC that breaks (docs/reference/generated/rules.md).
 *
 *     mrc_ref *ref;
 *     mrc_ref_open(MRC_REF_API, "{\"name\": \"mynic\", \"planes\": 8}", error, sizeof error, &ref);
 *     mrc_ref_qp(ref, &qp, t);                  what software set up
 *     mrc_ref_rx(ref, &frame);                  what came to its ports, and mrc_ref_tx: what left them
 *     mrc_ref_until(ref, MRC_SRC_ALL, t);       nothing older will be told
 *     while (mrc_ref_next(ref, &finding)) ...   what was wrong up to there
 *     mrc_ref_finish(ref, 0);                   and again mrc_ref_next, mrc_ref_verdict
 *
 * No globals, no callbacks, no threads of its own: a handle belongs to one thread at a time, several handles are
 * independent of each other. Nothing is printed, nothing ends the process. What one handle finds depends on what it was
 * told, and on nothing else.
 *
 * Times are picoseconds of one clock, from 0 on. Structs begin with their size, which the caller sets to sizeof: a
 * larger one of a later version is taken, what is behind its known part is ignored. All pointers may be dropped after
 * the call. Functions return MRC_OK or a negative MRC_E_*; mrc_ref_error() then has a sentence. */
#include <stddef.h>
#include <stdint.h>

#include "api/mrc_common.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MRC_REF_API 1u

typedef struct mrc_ref mrc_ref;

/* A rule's severity is that of its mark: facts of the specification fail, what is unclear or assumed deviates. */
enum { MRC_PASS, MRC_DEVIATES, MRC_INCONCLUSIVE, MRC_FAIL, MRC_BROKEN };

/* Sources of time: 0 to 63 are ports. */
enum { MRC_SRC_HOST = 64, MRC_SRC_VERBS = 65, MRC_SRC_EVENTS = 66, MRC_SRC_ALL = 255 };

/* mrc_frame.flags */
enum {
  MRC_FRAME_FCS_BAD = 1, /* the MAC saw a wrong FCS */
  MRC_FRAME_CUT = 2,     /* data holds the first bytes alone; bytes is the length on the wire */
  MRC_FRAME_MAYBE = 4    /* seen under way: whether it reached the device is not known */
};

/* A frame from the Ethernet header on, without FCS. */
typedef struct mrc_frame {
  uint32_t size;
  uint32_t plane;
  uint32_t flags;
  uint32_t bytes;  /* on the wire, without FCS, at most 65536 */
  uint32_t stored; /* bytes at data; without MRC_FRAME_CUT the same as bytes */
  uint32_t reserved;
  uint64_t t_first, t_last; /* of its first and last byte */
  const uint8_t* data;
} mrc_frame;

enum { MRC_HOST_READ, MRC_HOST_READ_DONE, MRC_HOST_WRITE, MRC_HOST_VISIBLE };

/* An access of the device to host memory. WRITE leaves the device, VISIBLE: software can see it; a device whose writes
 * are visible at once shows WRITE alone. */
typedef struct mrc_host {
  uint32_t size;
  uint32_t op;
  uint32_t status; /* 0: well */
  uint32_t bytes;  /* at most 65536 */
  uint64_t addr;
  uint64_t tag; /* the same in READ and READ_DONE, WRITE and VISIBLE */
  uint64_t t;
  const uint8_t* data; /* READ_DONE and WRITE; NULL: not told */
} mrc_host;

/* mrc_work.flags */
enum {
  MRC_WORK_IMM = 1,    /* with an immediate */
  MRC_WORK_RECEIVE = 2 /* a completion of an immediate that came */
};
/* mrc_work.status */
enum {
  MRC_STATUS_OK,
  MRC_STATUS_LOCAL_LENGTH,
  MRC_STATUS_WIMM_OVERRUN,
  MRC_STATUS_REMOTE_INVALID,
  MRC_STATUS_REMOTE_ACCESS,
  MRC_STATUS_REMOTE_OPERATION,
  MRC_STATUS_RETRIES,
  MRC_STATUS_FLUSHED,
  MRC_STATUS_FATAL,
  MRC_STATUS_OTHER
};

/* A work request (mrc_ref_post) or a completion (mrc_ref_cqe). */
typedef struct mrc_work {
  uint32_t size;
  uint32_t qp;
  uint32_t flags;
  uint32_t status; /* of a completion */
  uint64_t wr_id;
  uint64_t addr, remote; /* host address of the payload, address at the peer */
  uint64_t bytes;
  uint64_t t;
  uint32_t rkey, imm;
  uint32_t msn, rqmsn; /* of a completion with MRC_WORK_RECEIVE; 0: not told */
} mrc_work;

/* mrc_qp.flags */
enum {
  MRC_QP_DYNAMIC_MPR = 1,
  MRC_QP_TRIM_NACK = 2,
  MRC_QP_SVC_TIME = 4,
  MRC_QP_TIME_STAMPS = 8,
  MRC_QP_CONTROLLED = 16, /* by a congestion controller */
  MRC_QP_STATE_ONLY = 32  /* all but qp and state stay as they were told last */
};
enum { MRC_ENCAP_IPV6, MRC_ENCAP_SRV6, MRC_ENCAP_SRH, MRC_ENCAP_IPV4 };

/* A QP as its owner sets it. RESET ends an incarnation. */
typedef struct mrc_qp {
  uint32_t size;
  uint32_t qp, peer_qp;
  uint32_t state;
  uint32_t flags;
  uint32_t encap;
  uint32_t dest;                    /* QPs of the same value share a congestion controller */
  uint32_t mtu;                     /* bytes: 256, 512, 1024, 2048, 4096 */
  uint32_t sq_psn, rq_psn;          /* first PSN sent, first one expected */
  uint32_t msn, rqmsn;              /* first ones, both directions */
  uint32_t mpr, mpr_dest;           /* window as requestor, as responder, units of 128 PSNs */
  uint32_t max_wimm, max_wimm_dest; /* immediates that may wait */
  uint32_t timeout;                 /* 1.024 us x 2^timeout */
  uint32_t retry_linear, retry_exp;
  uint32_t pkey;
  uint8_t own_ip[16], peer_ip[16]; /* network byte order; IPv4 as ::ffff:a.b.c.d */
  uint32_t num_evs, backup;        /* entropy values in use and, at their end, backup ones; 0: not told */
  const uint32_t* evs;
  const uint8_t* ev_planes; /* plane of each; NULL: not told */
} mrc_qp;

/* A memory region of the device. */
typedef struct mrc_mr {
  uint32_t size;
  uint32_t rkey;
  uint32_t remote_write; /* 0: remote writes are refused */
  uint32_t reserved;
  uint64_t va, bytes; /* as remote sides name it */
  uint64_t addr;      /* host address of its first byte, as mrc_host names it */
} mrc_mr;

typedef struct mrc_finding {
  uint32_t size;
  uint32_t verdict; /* MRC_DEVIATES, MRC_FAIL, MRC_BROKEN; MRC_PASS: waived, or a waiver that nothing needed */
  int64_t qp;       /* -1: none */
  uint64_t t;       /* of what is wrong */
  uint64_t since;   /* since when it was owed; 0: not that kind */
  uint64_t frame;   /* the how manieth mrc_ref_rx/tx/last beat of the handle, from 1 on; 0: not about a frame */
  char rule[32];    /* id in docs/reference/generated/rules.md */
  char cite[32];    /* section of docs/protocol/mrc.md, or the assumption's id */
  char mark[4];
  char text[1024]; /* the rule, what came, what would have been right, why it was waived */
} mrc_finding;

/* MRC_REF_API of the library. */
uint32_t mrc_ref_version(void);
/* "mrcnic 0.2.0", of a dummy "dummy": it takes everything, finds nothing and says inconclusive. */
const char* mrc_ref_name(void);

/* profile_json: what the device says of itself (docs/reference/judge.md, "Profile"); NULL or "": nothing. On an error
 * *out is NULL and `error` (may be NULL) has a sentence, ended by 0. */
int mrc_ref_open(uint32_t api, const char* profile_json, char* error, size_t error_size, mrc_ref** out);
void mrc_ref_close(mrc_ref*); /* NULL: nothing */
/* Why the newest call on this handle failed; "" if it did not. Valid to the next call. */
const char* mrc_ref_error(const mrc_ref*);

/* Before the first observation. */
int mrc_ref_waive(mrc_ref*, const char* rule, const char* reason); /* breaking it does not count; the reason is kept */
int mrc_ref_shows(mrc_ref*, uint64_t event_kinds);                 /* bit n: all events of kind n are told */
int mrc_ref_record(mrc_ref*, const char* path);                    /* writes a log of it for mrc check, mrc log */

/* Observations. Each source tells in the order of its times (t_first of a port's frames, per direction); between
 * sources any order is right. */
int mrc_ref_rx(mrc_ref*, const mrc_frame*); /* reached the device's port */
int mrc_ref_tx(mrc_ref*, const mrc_frame*); /* left it */
/* The same in beats of 64 bytes, as on a 512-bit AXI4-Stream: byte 0 in bits 7:0 of w[0]. `dir`: 0 to the device, 1
 * from it. `keep`: which bytes count, from bit 0 on without a hole. t: of this beat. `err` at the last beat: the frame
 * is bad (as MRC_FRAME_FCS_BAD). `unknown`: bits that count were X; the frame is left out and the evidence has a gap. A
 * frame ends with `last`, or is refused when it grows above 65536 bytes. */
int mrc_ref_beat(mrc_ref*, int dir, int plane, const uint32_t w[16], uint64_t keep, int last, int err, int unknown,
                 uint64_t t);
int mrc_ref_port(mrc_ref*, int plane, int up, uint64_t t); /* carrier; ports begin up */
int mrc_ref_qp(mrc_ref*, const mrc_qp*, uint64_t t);
int mrc_ref_mr(mrc_ref*, const mrc_mr*, int valid, uint64_t t);
/* The same for callers without structs: an entry of "qps" or "regions" of a profile (docs/reference/judge.md). */
int mrc_ref_qp_json(mrc_ref*, const char* json, uint64_t t);
int mrc_ref_mr_json(mrc_ref*, const char* json, uint64_t t);
int mrc_ref_post(mrc_ref*, const mrc_work*);
int mrc_ref_recv(mrc_ref*, uint32_t qp, uint32_t count, uint64_t t); /* so many more immediates may complete */
int mrc_ref_cqe(mrc_ref*, const mrc_work*);
int mrc_ref_host(mrc_ref*, const mrc_host*);
int mrc_ref_event(mrc_ref*, int kind, uint32_t qp, const uint64_t arg[6], uint64_t t);
/* A counter of the device was read: "silent_drops": frames that it discarded without a word. */
int mrc_ref_counter(mrc_ref*, const char* name, uint64_t value, uint64_t t);
/* A source lost observations in this time; `lost` 0: nobody knows how many. */
int mrc_ref_gap(mrc_ref*, int source, uint64_t from, uint64_t to, uint64_t lost, const char* reason);

/* Nothing older than t comes from this source any more. What all sources (the profile's planes, host, verbs, events)
 * have passed is judged; without it the judge waits, up to 65536 observations. */
int mrc_ref_until(mrc_ref*, int source, uint64_t t);
/* The end, at the newest time that was told (mrc_ref_until counts: tell it when the run ended). What is still owed
 * then fails; with `cut` it stays open. */
int mrc_ref_finish(mrc_ref*, int cut);

/* 1: *finding is filled, 0: nothing new, negative: an error. Of each rule the first hundred are told, all are counted.
 */
int mrc_ref_next(mrc_ref*, mrc_finding*);
/* MRC_PASS .. MRC_BROKEN of all so far; MRC_INCONCLUSIVE before the first frame, and when obligations stayed open. */
int mrc_ref_verdict(const mrc_ref*);
uint64_t mrc_ref_packets(const mrc_ref*);
/* Rule i, from 0 on: its id, how often it was applied and held, was broken, could not be applied. 0: there is no such;
 * 1: filled. */
int mrc_ref_metric(const mrc_ref*, uint32_t i, const char** rule, uint64_t* held, uint64_t* broken, uint64_t* rests);
/* The result as `mrc check --json` prints it, ended by 0. Returns its length without the 0; call with text NULL for it.
 */
size_t mrc_ref_json(const mrc_ref*, char* text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
