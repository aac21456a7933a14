/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of mrc_ref.h with structs, for SystemVerilog: mrc_ref_pkg.sv imports them, and the others from the library as
 * they are. Compile this file with the simulation and link libmrc_ref.so.
 *
 * Strings that are handed out live until the thread's next call of the same function. */
#include <string.h>

#include "api/mrc_ref.h"

/* Some simulators compile it as C++. */
#ifdef __cplusplus
#define MRC_THREAD thread_local
extern "C" {
#else
#define MRC_THREAD _Thread_local
#endif

/* NULL: error says why. */
void* mrc_dpi_open(const char* profile, const char** error) {
  static MRC_THREAD char sentence[1024];
  mrc_ref* ref = NULL;
  mrc_ref_open(MRC_REF_API, profile, sentence, sizeof sentence, &ref);
  *error = sentence;
  return ref;
}

int mrc_dpi_post(void* ref, unsigned qp, uint64_t wr_id, uint64_t addr, uint64_t remote, uint64_t bytes, unsigned rkey,
                 int has_imm, unsigned imm, uint64_t t) {
  mrc_work work;
  memset(&work, 0, sizeof work);
  work.size = sizeof work;
  work.qp = qp;
  work.flags = has_imm ? MRC_WORK_IMM : 0;
  work.wr_id = wr_id;
  work.addr = addr;
  work.remote = remote;
  work.bytes = bytes;
  work.rkey = rkey;
  work.imm = imm;
  work.t = t;
  return mrc_ref_post((mrc_ref*)ref, &work);
}

int mrc_dpi_cqe(void* ref, unsigned qp, int receive, unsigned status, uint64_t wr_id, unsigned imm, unsigned msn,
                unsigned rqmsn, uint64_t bytes, uint64_t t) {
  mrc_work work;
  memset(&work, 0, sizeof work);
  work.size = sizeof work;
  work.qp = qp;
  work.flags = receive ? MRC_WORK_RECEIVE : 0;
  work.status = status;
  work.wr_id = wr_id;
  work.imm = imm;
  work.msn = msn;
  work.rqmsn = rqmsn;
  work.bytes = bytes;
  work.t = t;
  return mrc_ref_cqe((mrc_ref*)ref, &work);
}

/* At most 64 bytes, byte 0 in bits 7:0 of w[0]; longer accesses are several calls. */
int mrc_dpi_host(void* ref, unsigned op, uint64_t addr, const uint32_t w[16], unsigned bytes, uint64_t tag,
                 unsigned status, uint64_t t) {
  uint8_t data[64];
  mrc_host host;
  unsigned i;
  memset(&host, 0, sizeof host);
  host.size = sizeof host;
  host.op = op;
  host.status = status;
  host.bytes = bytes;
  host.addr = addr;
  host.tag = tag;
  host.t = t;
  for (i = 0; i < 64; ++i) data[i] = (uint8_t)(w[i / 4] >> (8 * (i % 4)));
  host.data = data;

  return bytes > sizeof data ? MRC_E_ARG : mrc_ref_host((mrc_ref*)ref, &host);
}

int mrc_dpi_event(void* ref, int kind, unsigned qp, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
                  uint64_t a5, uint64_t t) {
  const uint64_t arg[6] = {a0, a1, a2, a3, a4, a5};
  return mrc_ref_event((mrc_ref*)ref, kind, qp, arg, t);
}

/* 1: a finding, 0: nothing new. */
int mrc_dpi_next(void* ref, int* verdict, const char** rule, const char** text, uint64_t* frame, uint64_t* t) {
  static MRC_THREAD mrc_finding finding;
  int got;
  memset(&finding, 0, sizeof finding);
  finding.size = sizeof finding;
  got = mrc_ref_next((mrc_ref*)ref, &finding);
  *verdict = (int)finding.verdict;
  *rule = finding.rule;
  *text = finding.text;
  *frame = finding.frame;
  *t = finding.t;
  return got;
}

#ifdef __cplusplus
}
#endif
