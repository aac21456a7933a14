/* SPDX-License-Identifier: Apache-2.0 */
/* Has the symbols of api/mrc_ref.h and judges nothing: for builds of a testbench where the judge is not wanted, or not
 * to be had. It says so: mrc_ref_name() is "dummy", the verdict inconclusive. */
#include <stdlib.h>

#include "api/mrc_ref.h"

struct mrc_ref {
  uint64_t packets;
};

uint32_t mrc_ref_version(void) { return MRC_REF_API; }
const char* mrc_ref_name(void) { return "dummy"; }
int mrc_ref_open(uint32_t api, const char* profile, char* error, size_t error_size, mrc_ref** out) {
  (void)profile;
  if (error != NULL && error_size != 0) *error = 0;
  if (out == NULL) return MRC_E_ARG;
  *out = api == MRC_REF_API ? calloc(1, sizeof **out) : NULL;
  return api != MRC_REF_API ? MRC_E_VERSION : *out != NULL ? MRC_OK : MRC_E_DEAD;
}
void mrc_ref_close(mrc_ref* ref) { free(ref); }
const char* mrc_ref_error(const mrc_ref* ref) { return (void)ref, ""; }
int mrc_ref_waive(mrc_ref* ref, const char* rule, const char* reason) {
  return (void)ref, (void)rule, (void)reason, MRC_OK;
}
int mrc_ref_shows(mrc_ref* ref, uint64_t kinds) { return (void)ref, (void)kinds, MRC_OK; }
int mrc_ref_record(mrc_ref* ref, const char* path) { return (void)ref, (void)path, MRC_E_UNSUPPORTED; }
int mrc_ref_rx(mrc_ref* ref, const mrc_frame* frame) { return (void)frame, ++ref->packets, MRC_OK; }
int mrc_ref_tx(mrc_ref* ref, const mrc_frame* frame) { return (void)frame, ++ref->packets, MRC_OK; }
int mrc_ref_beat(mrc_ref* ref, int dir, int plane, const uint32_t w[16], uint64_t keep, int last, int err, int unknown,
                 uint64_t t) {
  (void)dir, (void)plane, (void)w, (void)keep, (void)err, (void)unknown, (void)t;
  ref->packets += last != 0;
  return MRC_OK;
}
int mrc_ref_port(mrc_ref* ref, int plane, int up, uint64_t t) {
  return (void)ref, (void)plane, (void)up, (void)t, MRC_OK;
}
int mrc_ref_qp(mrc_ref* ref, const mrc_qp* qp, uint64_t t) { return (void)ref, (void)qp, (void)t, MRC_OK; }
int mrc_ref_mr(mrc_ref* ref, const mrc_mr* mr, int valid, uint64_t t) {
  return (void)ref, (void)mr, (void)valid, (void)t, MRC_OK;
}
int mrc_ref_qp_json(mrc_ref* ref, const char* json, uint64_t t) { return (void)ref, (void)json, (void)t, MRC_OK; }
int mrc_ref_mr_json(mrc_ref* ref, const char* json, uint64_t t) { return (void)ref, (void)json, (void)t, MRC_OK; }
int mrc_ref_post(mrc_ref* ref, const mrc_work* work) { return (void)ref, (void)work, MRC_OK; }
int mrc_ref_recv(mrc_ref* ref, uint32_t qp, uint32_t count, uint64_t t) {
  return (void)ref, (void)qp, (void)count, (void)t, MRC_OK;
}
int mrc_ref_cqe(mrc_ref* ref, const mrc_work* work) { return (void)ref, (void)work, MRC_OK; }
int mrc_ref_host(mrc_ref* ref, const mrc_host* host) { return (void)ref, (void)host, MRC_OK; }
int mrc_ref_event(mrc_ref* ref, int kind, uint32_t qp, const uint64_t arg[6], uint64_t t) {
  return (void)ref, (void)kind, (void)qp, (void)arg, (void)t, MRC_OK;
}
int mrc_ref_counter(mrc_ref* ref, const char* name, uint64_t value, uint64_t t) {
  return (void)ref, (void)name, (void)value, (void)t, MRC_OK;
}
int mrc_ref_gap(mrc_ref* ref, int source, uint64_t from, uint64_t to, uint64_t lost, const char* reason) {
  return (void)ref, (void)source, (void)from, (void)to, (void)lost, (void)reason, MRC_OK;
}
int mrc_ref_until(mrc_ref* ref, int source, uint64_t t) { return (void)ref, (void)source, (void)t, MRC_OK; }
int mrc_ref_finish(mrc_ref* ref, int cut) { return (void)ref, (void)cut, MRC_OK; }
int mrc_ref_next(mrc_ref* ref, mrc_finding* finding) { return (void)ref, (void)finding, 0; }
int mrc_ref_verdict(const mrc_ref* ref) { return (void)ref, MRC_INCONCLUSIVE; }
uint64_t mrc_ref_packets(const mrc_ref* ref) { return ref->packets; }
int mrc_ref_metric(const mrc_ref* ref, uint32_t i, const char** rule, uint64_t* held, uint64_t* broken,
                   uint64_t* rests) {
  return (void)ref, (void)i, (void)rule, (void)held, (void)broken, (void)rests, 0;
}
size_t mrc_ref_json(const mrc_ref* ref, char* text, size_t size) {
  if (text != NULL && size != 0) *text = 0;
  return (void)ref, 0;
}
