/* SPDX-License-Identifier: Apache-2.0 */
/* usage: paths send|receive DEVICE SOCKET
 * Over a network that loses frames: the sender has an explicit EV profile, and hears of EVs that become ASSUMED_BAD and
 * GOOD again. One that is DENIED is never heard of; a queue with room for one event counts those that it has lost. */
#include <mrc_ctl.h>
#include <string.h>

#include "program.h"

enum { kBytes = 1 << 16, kCount = 16, kFormat = 5, kProfile = 6, kBoth = MRC_CTL_EV_GOOD | MRC_CTL_EV_ASSUMED_BAD };

static struct mrc_ctl_ev an_ev(unsigned i, unsigned ports) {
  struct mrc_ctl_ev ev = {.val = {0x40, (uint8_t)i, 0, (uint8_t)(i + 1)}, .port = (uint8_t)(1 + i % ports)};
  return ev;
}

static void profile(struct program* p, unsigned ports) {
  struct mrc_ctl_ev_fmt_field widths[2] = {{16}, {16}};
  struct mrc_ctl_ev_fmt_profile_attr f = {
      .profile_state = MRC_CTL_PROFILE_OFFLINE,
      .ev_fmt_mode = MRC_CTL_EV_FMT_MODE_STEV,
      .ev_fmt_op = {.op = MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, .fmt_fields = widths, .fmt_field_count = 2}};
  CHECK(mrc_ctl_modify_ev_fmt_profile(
            p->context, kFormat, &f,
            MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP) == 0);
  f.profile_state = MRC_CTL_PROFILE_ONLINE;
  CHECK(mrc_ctl_modify_ev_fmt_profile(p->context, kFormat, &f, MRC_CTL_EV_FMT_PROFILE_STATE) == 0);
  struct mrc_ctl_ev_profile_attr e = {.profile_state = MRC_CTL_PROFILE_OFFLINE,
                                      .ev_mode = MRC_CTL_EV_MODE_EXP,
                                      .ev_fmt_profile_id = kFormat,
                                      .ev_count = kCount,
                                      .ev_event_mask = kBoth};
  CHECK(mrc_ctl_modify_ev_profile(p->context, kProfile, &e,
                                  MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID |
                                      MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_EVENT_MASK) == 0);
  struct mrc_ctl_ev_op_entry entries[kCount];
  memset(entries, 0, sizeof entries);
  for (unsigned i = 0; i < kCount; ++i) {
    entries[i].ev_new = an_ev(i, ports);
    entries[i].state = i == 0 ? MRC_CTL_EV_DENIED : MRC_CTL_EV_GOOD;
  }
  e = (struct mrc_ctl_ev_profile_attr){
      .profile_state = MRC_CTL_PROFILE_ONLINE,
      .ev_op = {.op = MRC_CTL_EV_OP_REPLACE_EV, .entries = entries, .entry_count = kCount}};
  CHECK(mrc_ctl_modify_ev_profile(p->context, kProfile, &e, MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_EV_OP) == 0);
}

int main(int argc, char** argv) {
  CHECK(argc == 4);
  struct program p;
  program_open(&p, argv[2], atoi(argv[3]), kBytes);
  const int sender = strcmp(argv[1], "send") == 0;
  struct ibv_device_attr device;
  CHECK(ibv_query_device(p.device, &device) == 0);
  struct mrc_cq *events = NULL, *small = NULL;
  if (sender) {
    profile(&p, device.phys_port_cnt);
    p.ev_profile = kProfile;
    events = mrc_ctl_create_ev_event_cq(p.context, 1024, NULL, NULL, 0);
    small = mrc_ctl_create_ev_event_cq(p.context, 1, NULL, NULL, 0);
    CHECK(events != NULL && small != NULL);
  }
  program_connect(&p);
  unsigned bad = 0, good = 0;
  for (unsigned i = 0; sender && i < 4000 && (bad < 3 || good < 1); ++i) {
    CHECK(program_write(&p, 0, 0, kBytes, NULL, i) == 0);
    CHECK(program_wait(p.send_cq).status == IBV_WC_SUCCESS);
    struct mrc_ctl_ev_event event;
    int n = 0;
    while ((n = mrc_ctl_poll_ev_event(events, 1, &event)) > 0) {
      CHECK(event.profile_id == kProfile && event.drop_count == 0);
      const struct mrc_ctl_ev wanted = an_ev(event.ev.val[1], device.phys_port_cnt);
      CHECK(event.ev.val[1] != 0 && event.ev.val[1] < kCount &&
            memcmp(event.ev.val, wanted.val, sizeof wanted.val) == 0 && event.ev.port == wanted.port);
      CHECK(event.state == MRC_CTL_EV_GOOD || event.state == MRC_CTL_EV_ASSUMED_BAD);
      bad += event.state == MRC_CTL_EV_ASSUMED_BAD;
      good += event.state == MRC_CTL_EV_GOOD;
    }
    CHECK(n == 0);
  }
  if (sender) {
    printf("send: %u ASSUMED_BAD, %u GOOD again\n", bad, good);
    CHECK(bad >= 3 && good >= 1);
    struct mrc_ctl_ev_event event;
    CHECK(mrc_ctl_poll_ev_event(small, 1, &event) == 1 && event.drop_count == 0);
    CHECK(mrc_destroy_cq(events) == 0 && mrc_destroy_cq(small) == 0);
  }
  program_meet(&p);
  program_end(&p);
  return 0;
}
