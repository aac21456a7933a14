/* SPDX-License-Identifier: Apache-2.0 */
/* usage: control send|receive DEVICE SOCKET MAX_CWND
 * The sender's queue pair has a CC profile with that largest window, in bytes, and writes a MiB. */
#include <mrc_ctl.h>
#include <string.h>

#include "program.h"

enum { kBytes = 1 << 20, kProfile = 3 };

static void profile(struct program* p, unsigned max_cwnd) {
  const struct mrc_ctl_cc_nscc_cfg n = {.disable_qa = 1,
                                        .adjust_bytes_threshold = 32768,
                                        .adjust_period_threshold = 12000,
                                        .base_rtt = 1000000,
                                        .gamma = 0.8f,
                                        .max_md_jump = 0.5f,
                                        .max_cwnd = max_cwnd,
                                        .qa_gate = 3,
                                        .target_delay = 750000};
  struct mrc_ctl_cc_profile_attr attr = {.profile_state = MRC_CTL_PROFILE_OFFLINE, .algorithm = "uet-1.0-nscc"};
  CHECK(mrc_ctl_modify_cc_profile(p->context, kProfile, &attr,
                                  MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_ALGORITHM) == 0);
  /* What no controller could have is refused by name before a queue pair needs it. */
  struct mrc_ctl_cc_nscc_cfg wrong = n;
  wrong.max_cwnd = 100;
  attr = (struct mrc_ctl_cc_profile_attr){.profile_state = MRC_CTL_PROFILE_ONLINE, .cc_config = &wrong};
  CHECK(mrc_ctl_modify_cc_profile(p->context, kProfile, &attr, MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_CONFIG) !=
        0);
  attr.cc_config = &n;
  CHECK(mrc_ctl_modify_cc_profile(p->context, kProfile, &attr, MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_CONFIG) ==
        0);
}

int main(int argc, char** argv) {
  CHECK(argc == 5);
  struct program p;
  program_open(&p, argv[2], atoi(argv[3]), kBytes);
  const int sender = strcmp(argv[1], "send") == 0;
  if (sender) {
    profile(&p, (unsigned)atoi(argv[4]));
    p.cc_profile = kProfile;
  }
  program_connect(&p);
  if (sender) {
    CHECK(program_write(&p, 0, 0, kBytes, NULL, 1) == 0);
    CHECK(program_wait(p.send_cq).status == IBV_WC_SUCCESS);
  }
  program_meet(&p);
  program_end(&p);
  return 0;
}
