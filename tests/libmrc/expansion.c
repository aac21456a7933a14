/* SPDX-License-Identifier: Apache-2.0 */
/* usage: expansion DEVICE < PROFILES
 * Sets profiles up by mrc_ctl.h, as lines say: "format MODE", "width BITS", "field WIDTH INIT MIN MAX MASK", "ev HEX",
 * "end", which puts it ONLINE. What becomes of the EVs, `mrc host --evs` writes (expansion.py). */
#include <mrc_ctl.h>
#include <string.h>

#include "program.h"

enum { kFields = 16, kEvs = 64 };

static struct mrc_ctl_ev_fmt_field widths[kFields];
static struct mrc_ctl_ev_field fields[kFields];
static struct mrc_ctl_ev_op_entry entries[kEvs];
static int mode, width_count, field_count, ev_count;

static void online(struct mrc_context* context, uint64_t id, unsigned ports) {
  struct mrc_ctl_ev_fmt_profile_attr f = {
      .profile_state = MRC_CTL_PROFILE_OFFLINE,
      .ev_fmt_mode = (enum mrc_ctl_ev_fmt_mode)mode,
      .ev_fmt_op = {.op = MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, .fmt_fields = widths, .fmt_field_count = width_count}};
  CHECK(mrc_ctl_modify_ev_fmt_profile(
            context, id, &f, MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP) ==
        0);
  f.profile_state = MRC_CTL_PROFILE_ONLINE;
  CHECK(mrc_ctl_modify_ev_fmt_profile(context, id, &f, MRC_CTL_EV_FMT_PROFILE_STATE) == 0);
  struct mrc_ctl_ev_profile_attr p = {
      .profile_state = MRC_CTL_PROFILE_OFFLINE,
      .ev_mode = MRC_CTL_EV_MODE_EXP,
      .ev_fmt_profile_id = id,
      .ev_count = (uint32_t)ev_count,
      .ev_fields_op = {.op = MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, .fields = fields, .field_count = field_count}};
  CHECK(mrc_ctl_modify_ev_profile(context, id, &p,
                                  MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID |
                                      MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_EV_FIELDS_OP) == 0);
  for (int i = 0; i < ev_count; ++i) entries[i].ev_new.port = (uint8_t)(1 + (unsigned)i % ports);
  p = (struct mrc_ctl_ev_profile_attr){
      .profile_state = MRC_CTL_PROFILE_ONLINE,
      .ev_op = {.op = MRC_CTL_EV_OP_REPLACE_EV, .entries = entries, .entry_count = ev_count}};
  CHECK(mrc_ctl_modify_ev_profile(context, id, &p, MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_EV_OP) == 0);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  struct program p;
  program_open(&p, argv[1], -1, 4096);
  struct ibv_device_attr device;
  CHECK(ibv_query_device(p.device, &device) == 0);
  char word[16], text[80];
  uint64_t id = 0;
  while (scanf("%15s", word) == 1) {
    if (strcmp(word, "format") == 0) {
      CHECK(scanf("%d", &mode) == 1);
      width_count = field_count = ev_count = 0;
      memset(entries, 0, sizeof entries);
    } else if (strcmp(word, "width") == 0) {
      CHECK(width_count < kFields && scanf("%hhu", &widths[width_count++].width) == 1);
    } else if (strcmp(word, "field") == 0) {
      struct mrc_ctl_ev_field* f = &fields[field_count++];
      CHECK(field_count <= kFields &&
            scanf("%u %x %x %x %x", &f->width, &f->init_val, &f->min_val, &f->max_val, &f->mask) == 5);
    } else if (strcmp(word, "ev") == 0) {
      CHECK(ev_count < kEvs && scanf("%79s", text) == 1 && strlen(text) == 2 * MRC_CTL_EV_MAX_BYTES);
      struct mrc_ctl_ev_op_entry* e = &entries[ev_count++];
      e->state = MRC_CTL_EV_GOOD;
      for (int i = 0; i < MRC_CTL_EV_MAX_BYTES; ++i) CHECK(sscanf(text + 2 * i, "%2hhx", &e->ev_new.val[i]) == 1);
    } else {
      online(p.context, ++id, device.phys_port_cnt);
    }
  }
  printf("%lu profiles\n", (unsigned long)id);
  return 0;
}
