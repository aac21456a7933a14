/* SPDX-License-Identifier: Apache-2.0 */
/* usage: addresses send|receive DEVICE SOCKET PORT:ADDRESS...
 * The sender has an EV profile of these SRv6 addresses, of 32 hexadecimal digits each. */
#include <errno.h>
#include <mrc_ctl.h>
#include <string.h>

#include "program.h"

enum { kBytes = 1 << 16, kFormat = 5, kProfile = 6, kMost = 64 };

static struct mrc_ctl_ev an_ev(const char* word) {
  struct mrc_ctl_ev ev = {.port = (uint8_t)atoi(word)};
  const char* digits = strchr(word, ':');
  CHECK(digits != NULL && strlen(digits) == 33);
  for (unsigned i = 0; i < 16; ++i) CHECK(sscanf(digits + 1 + 2 * i, "%2hhx", &ev.val[i]) == 1);
  return ev;
}

static void set_profile(struct program* p, struct mrc_ctl_ev_op_entry* entries, unsigned count) {
  struct mrc_ctl_ev_profile_attr e = {.profile_state = MRC_CTL_PROFILE_OFFLINE,
                                      .ev_mode = MRC_CTL_EV_MODE_EXP,
                                      .ev_fmt_profile_id = kFormat,
                                      .ev_count = count};
  CHECK(mrc_ctl_modify_ev_profile(p->context, kProfile, &e,
                                  MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID |
                                      MRC_CTL_EV_PROFILE_COUNT) == 0);
  e = (struct mrc_ctl_ev_profile_attr){
      .profile_state = MRC_CTL_PROFILE_ONLINE,
      .ev_op = {.op = MRC_CTL_EV_OP_REPLACE_EV, .entries = entries, .entry_count = (int)count}};
  CHECK(mrc_ctl_modify_ev_profile(p->context, kProfile, &e, MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_EV_OP) == 0);
}

/* Back to INIT. */
static void drop_profile(struct program* p) {
  struct mrc_ctl_ev_profile_attr e = {.profile_state = MRC_CTL_PROFILE_OFFLINE};
  CHECK(mrc_ctl_modify_ev_profile(p->context, kProfile, &e, MRC_CTL_EV_PROFILE_STATE) == 0);
  e.profile_state = MRC_CTL_PROFILE_INIT;
  CHECK(mrc_ctl_modify_ev_profile(p->context, kProfile, &e, MRC_CTL_EV_PROFILE_STATE) == 0);
}

/* What a queue pair with that profile is told. */
static int to_init(struct program* p) {
  struct mrc_qp_init_attr init = {.pd = p->pd,
                                  .protocol_version = MRC_PROTOCOL_VERSION_1,
                                  .send_cq = p->send_cq,
                                  .recv_cq = p->recv_cq,
                                  .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1}};
  struct mrc_qp* qp = mrc_create_qp(p->context, &init);
  CHECK(qp != NULL);
  struct ibv_qp_attr v = {.qp_state = IBV_QPS_INIT, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
  struct mrc_qp_attr m = {.profile.ev_profile_id = kProfile};
  errno = 0;
  const int result = mrc_modify_qp(qp, &v, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS, &m,
                                   MRC_QP_HINT | MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID);
  const int error = result == 0 ? 0 : errno;
  CHECK(mrc_destroy_qp(qp) == 0);
  return error;
}

int main(int argc, char** argv) {
  CHECK(argc > 4 && argc <= 4 + kMost);
  struct program p;
  program_open(&p, argv[2], atoi(argv[3]), kBytes);
  const unsigned count = (unsigned)argc - 4;
  if (strcmp(argv[1], "send") == 0) {
    struct mrc_ctl_ev_fmt_field widths[4] = {{32}, {32}, {32}, {32}};
    struct mrc_ctl_ev_fmt_profile_attr f = {
        .profile_state = MRC_CTL_PROFILE_OFFLINE,
        .ev_fmt_mode = MRC_CTL_EV_FMT_MODE_SRV6,
        .ev_fmt_op = {.op = MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, .fmt_fields = widths, .fmt_field_count = 4}};
    CHECK(mrc_ctl_modify_ev_fmt_profile(
              p.context, kFormat, &f,
              MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP) == 0);
    f.profile_state = MRC_CTL_PROFILE_ONLINE;
    CHECK(mrc_ctl_modify_ev_fmt_profile(p.context, kFormat, &f, MRC_CTL_EV_FMT_PROFILE_STATE) == 0);
    struct mrc_ctl_ev_op_entry entries[kMost];
    memset(entries, 0, sizeof entries);
    for (unsigned i = 0; i < count; ++i) {
      entries[i].ev_new = an_ev(argv[4 + i]);
      entries[i].state = MRC_CTL_EV_GOOD;
    }
    /* One that comes of no template with the others. */
    entries[count - 1].ev_new.val[3] ^= 0x10;
    set_profile(&p, entries, count);
    CHECK(to_init(&p) == ENOTSUP);
    drop_profile(&p);
    entries[count - 1].ev_new.val[3] ^= 0x10;
    set_profile(&p, entries, count);
    CHECK(to_init(&p) == 0);
    p.ev_profile = kProfile;
    program_connect(&p);
    CHECK(program_write(&p, 0, 0, kBytes, NULL, 1) == 0);
    CHECK(program_wait(p.send_cq).status == IBV_WC_SUCCESS);
  } else {
    program_connect(&p);
  }
  program_meet(&p);
  program_end(&p);
  return 0;
}
