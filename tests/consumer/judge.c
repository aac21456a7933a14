/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the judge of one frame whose ICRC is wrong. Exit code 1 when it is not found. */
#include <api/mrc_nic.h> /* a bench has both */
#include <api/mrc_ref.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  /* A SACK, as in section 4 of the protocol: its last four bytes are no ICRC. */
  uint8_t bytes[140];
  char error[256];
  mrc_ref* ref = NULL;
  mrc_frame frame;
  mrc_finding finding;
  int i, named = 0;
  if (mrc_ref_open(MRC_REF_API, "{\"planes\": 1}", error, sizeof error, &ref) != MRC_OK) {
    puts(error);
    return 1;
  }
  memset(bytes, 0, sizeof bytes);
  bytes[12] = 0x86; /* IPv6 */
  bytes[13] = 0xdd;
  bytes[14] = 0x60;
  bytes[19] = 86; /* payload length */
  bytes[20] = 17; /* UDP */
  bytes[21] = 64;
  for (i = 0; i < 16; ++i) {
    bytes[22 + i] = i == 15 ? 1 : 0xfd;
    bytes[38 + i] = i == 15 ? 2 : 0xfd;
  }
  bytes[54] = 0xc0; /* source port */
  bytes[56] = 0x13; /* 4971 */
  bytes[57] = 0x6b;
  bytes[59] = 86;
  memset(&frame, 0, sizeof frame);
  frame.size = sizeof frame;
  frame.bytes = frame.stored = sizeof bytes;
  frame.t_last = 11200;
  frame.data = bytes;
  memset(&finding, 0, sizeof finding);
  finding.size = sizeof finding;
  if (mrc_ref_tx(ref, &frame) != MRC_OK || mrc_ref_finish(ref, 0) != MRC_OK) return 1;
  while (mrc_ref_next(ref, &finding) == 1) {
    printf("%s: %s\n", finding.rule, finding.text);
    named |= strncmp(finding.rule, "wire.", 5) == 0;
  }
  printf("%s, %d\n", mrc_ref_name(), mrc_ref_verdict(ref));
  mrc_ref_close(ref);
  return !named;
}
