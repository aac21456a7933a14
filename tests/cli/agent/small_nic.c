/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest NIC behind api/mrc_nic.h, in C99: it opens, and has nothing. VERSION, CRASH: what it does wrong. */
#include <stdlib.h>
#include <string.h>

#include "api/mrc_nic.h"

#ifndef VERSION
#define VERSION MRC_NIC_API
#endif

struct mrc_nic {
  const char* error;
};

uint32_t mrc_nic_version(void) { return VERSION; }
mrc_nic* mrc_nic_open(const mrc_nic_config* config, int* result) {
  mrc_nic* nic = config->size < sizeof *config ? NULL : malloc(sizeof *nic);
  *result = nic == NULL ? MRC_E_SIZE : MRC_OK;
#ifdef CRASH
  abort();
#endif
  return nic;
}
int mrc_nic_facts(mrc_nic* nic, mrc_nic_facts_t* facts) {
  const uint32_t size = facts->size;
  (void)nic;
  memset(facts, 0, sizeof *facts);
  facts->size = size;
  facts->planes = 2;
  facts->port_gbps = 100;
  facts->name = "small";
  facts->caps = "batch responder";
  return MRC_OK;
}
static int no(mrc_nic* nic) {
  nic->error = "this NIC has nothing.";
  return MRC_E_UNSUPPORTED;
}
int mrc_nic_address(mrc_nic* nic, uint64_t mac, const uint8_t ip[16]) { return (void)mac, (void)ip, no(nic); }
int mrc_nic_qp(mrc_nic* nic, mrc_nic_qp_t* qp) { return (void)qp, no(nic); }
int mrc_nic_mr(mrc_nic* nic, const mrc_nic_mr_t* region) { return (void)region, no(nic); }
int mrc_nic_post(mrc_nic* nic, const mrc_nic_post_t* request) { return (void)request, no(nic); }
int mrc_nic_rx(mrc_nic* nic, uint32_t plane, uint64_t t, const uint8_t* frame, uint32_t bytes, int fcs_bad) {
  return (void)plane, (void)t, (void)frame, (void)bytes, (void)fcs_bad, no(nic);
}
int mrc_nic_host_done(mrc_nic* nic, uint64_t tag, uint64_t t, const uint8_t* data, uint32_t bytes, uint32_t status) {
  return (void)tag, (void)t, (void)data, (void)bytes, (void)status, no(nic);
}
int mrc_nic_advance(mrc_nic* nic, uint64_t until, uint64_t slack, uint64_t* reached) {
  return (void)nic, (void)slack, *reached = until, MRC_OK;
}
int mrc_nic_next(mrc_nic* nic, mrc_nic_out_t* out) { return (void)nic, (void)out, 0; }
const char* mrc_nic_error(mrc_nic* nic) { return nic->error; }
void mrc_nic_close(mrc_nic* nic) { free(nic); }
