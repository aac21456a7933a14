/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of the controller: formats of EVs, EVs, congestion control; events; requests to endpoints. */
#include "suite.h"

enum { kFormat = 13, kProfile = 3 };
#define kOffline MRC_CTL_PROFILE_OFFLINE
#define kOnline MRC_CTL_PROFILE_ONLINE

static struct mrc_ctl_device_attr ctl;
static struct mrc_ctl_ev_fmt_field fmt_fields[16];
static struct mrc_ctl_ev_field ev_fields[16];

static void controller(int modes, int formats) {
  if (a.context == NULL) open_end(&a, 0);
  int supported = 0;
  errno = 0;
  if (mrc_ctl_query_device_ex(a.device, a.context, &ctl, &supported) != 0 && errno == EPERM)
    skip_test("no CAP_NET_ADMIN");
  if (ctl.ev.ev_max_profiles <= kProfile || ctl.ev.ev_max_fmt_profiles <= kFormat)
    skip_test("%u EV profiles, %u formats", ctl.ev.ev_max_profiles, ctl.ev.ev_max_fmt_profiles);
  if ((ctl.ev.ev_mode_mask & (unsigned)modes) != (unsigned)modes) skip_test("the device has not this mode of EVs");
  if ((ctl.ev.ev_fmt_mode_mask & (unsigned)formats) != (unsigned)formats) skip_test("the device has not this format");
}

static int format_to(int state) {
  struct mrc_ctl_ev_fmt_profile_attr attr = {.profile_state = (enum mrc_ctl_profile_state)state};
  return mrc_ctl_modify_ev_fmt_profile(a.context, kFormat, &attr, MRC_CTL_EV_FMT_PROFILE_STATE);
}

static int format_offline(int mode, int count) {
  struct mrc_ctl_ev_fmt_profile_attr attr = {
      .profile_state = kOffline,
      .ev_fmt_mode = (enum mrc_ctl_ev_fmt_mode)mode,
      .ev_fmt_op = {.op = MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, .fmt_fields = fmt_fields, .fmt_field_count = count}};
  return mrc_ctl_modify_ev_fmt_profile(
      a.context, kFormat, &attr,
      MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE | (count != 0 ? MRC_CTL_EV_FMT_PROFILE_OP : 0));
}

/* A format of so many fields of 16 bits, ONLINE. */
static void format_online(int mode, int count) {
  for (int i = 0; i < count; ++i) fmt_fields[i].width = 16;
  EQUAL(format_offline(mode, count), 0);
  EQUAL(format_to(kOnline), 0);
}

static enum mrc_ctl_profile_state format_state(void) {
  struct mrc_ctl_ev_fmt_profile_attr attr = {.profile_state = (enum mrc_ctl_profile_state)99};
  EQUAL(mrc_ctl_query_ev_fmt_profile(a.context, kFormat, &attr, MRC_CTL_EV_FMT_PROFILE_STATE), 0);
  return attr.profile_state;
}

/* Formats. */

TEST(format, there_and_back, Header, "mrc_ctl_modify_ev_fmt_profile", "INIT, OFFLINE, ONLINE, OFFLINE, INIT.") {
  controller(0, MRC_CTL_EV_FMT_MODE_STEV);
  EQUAL(format_state(), MRC_CTL_PROFILE_INIT);
  format_online(MRC_CTL_EV_FMT_MODE_STEV, 2);
  EQUAL(format_state(), kOnline);
  EQUAL(format_to(kOffline), 0);
  EQUAL(format_to(MRC_CTL_PROFILE_INIT), 0);
  EQUAL(format_state(), MRC_CTL_PROFILE_INIT);
}

static const struct row kFormatJumps[] = {{"INIT_to_ONLINE", 0, kOnline, 0},
                                          {"ONLINE_to_INIT", 1, MRC_CTL_PROFILE_INIT, 0}};
TESTS(format, jump, kFormatJumps, Header, "mrc_ctl_modify_ev_fmt_profile", "No state is left out: EINVAL.") {
  controller(0, MRC_CTL_EV_FMT_MODE_STEV);
  if (row->a != 0) format_online(MRC_CTL_EV_FMT_MODE_STEV, 2);
  REFUSED(format_to((int)row->b), EINVAL);
  format_to(kOffline);
  format_to(MRC_CTL_PROFILE_INIT);
}

TEST(format, needs_a_mode, Header, "mrc_ctl_modify_ev_fmt_profile", "To OFFLINE leads a mode: EINVAL without it.") {
  controller(0, MRC_CTL_EV_FMT_MODE_STEV);
  REFUSED(format_to(kOffline), EINVAL);
}

TEST(format, needs_fields, Header, "mrc_ctl_modify_ev_fmt_profile", "To ONLINE lead fields: EINVAL without them.") {
  controller(0, MRC_CTL_EV_FMT_MODE_STEV);
  EQUAL(format_offline(MRC_CTL_EV_FMT_MODE_STEV, 0), 0);
  REFUSED(format_to(kOnline), EINVAL);
  EQUAL(format_to(MRC_CTL_PROFILE_INIT), 0);
}

TEST(format, fields_are_told, Header, "mrc_ctl_query_ev_fmt_profile", "A query tells mode and widths of the fields.") {
  controller(0, MRC_CTL_EV_FMT_MODE_SRV6);
  fmt_fields[0].width = 32;
  for (int i = 1; i < 5; ++i) fmt_fields[i].width = 16;
  EQUAL(format_offline(MRC_CTL_EV_FMT_MODE_SRV6, 5), 0);
  memset(fmt_fields, 0, sizeof fmt_fields);
  struct mrc_ctl_ev_fmt_profile_attr attr = {
      .ev_fmt_op = {.op = MRC_CTL_EV_FMT_OP_QUERY_FIELDS, .fmt_fields = fmt_fields, .fmt_field_count = 16}};
  EQUAL(
      mrc_ctl_query_ev_fmt_profile(a.context, kFormat, &attr, MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP),
      0);
  EQUAL(attr.ev_fmt_mode, MRC_CTL_EV_FMT_MODE_SRV6);
  EQUAL(attr.ev_fmt_op.fmt_field_count, 5);
  WANT(fmt_fields[0].width == 32 && fmt_fields[4].width == 16);
  EQUAL(format_to(MRC_CTL_PROFILE_INIT), 0);
}

TEST(format, too_little_room, Header, "mrc_ctl_query_ev_fmt_profile",
     "A list that is too short: E2BIG, and how many there are.") {
  controller(0, MRC_CTL_EV_FMT_MODE_STEV);
  format_online(MRC_CTL_EV_FMT_MODE_STEV, 2);
  struct mrc_ctl_ev_fmt_profile_attr attr = {
      .ev_fmt_op = {.op = MRC_CTL_EV_FMT_OP_QUERY_FIELDS, .fmt_fields = fmt_fields, .fmt_field_count = 1}};
  REFUSED(mrc_ctl_query_ev_fmt_profile(a.context, kFormat, &attr, MRC_CTL_EV_FMT_PROFILE_OP), E2BIG);
  EQUAL(attr.ev_fmt_op.fmt_field_count, 2);
  format_to(kOffline);
  format_to(MRC_CTL_PROFILE_INIT);
}

TEST(format, wider_than_a_packet, Header, "mrc_ctl_modify_ev_fmt_profile", "Fields that no packet carries: E2BIG.") {
  controller(0, MRC_CTL_EV_FMT_MODE_STEV);
  for (int i = 0; i < 3; ++i) fmt_fields[i].width = 16;
  REFUSED(format_offline(MRC_CTL_EV_FMT_MODE_STEV, 3), E2BIG);
}

TEST(format, query_does_not_modify, Header, "mrc_ctl_query_ev_fmt_profile",
     "MODIFY_FIELDS is not allowed in a query: EINVAL.") {
  controller(0, 0);
  struct mrc_ctl_ev_fmt_profile_attr attr = {
      .ev_fmt_op = {.op = MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, .fmt_fields = fmt_fields, .fmt_field_count = 1}};
  REFUSED(mrc_ctl_query_ev_fmt_profile(a.context, kFormat, &attr, MRC_CTL_EV_FMT_PROFILE_OP), EINVAL);
}

/* EV profiles. */

static struct mrc_ctl_ev_profile_attr evs;
enum {
  kFirst = MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID | MRC_CTL_EV_PROFILE_COUNT |
           MRC_CTL_EV_PROFILE_MIN_ACTIVE | MRC_CTL_EV_PROFILE_EVENT_MASK
};

static int profile_to(int state) {
  struct mrc_ctl_ev_profile_attr attr = {.profile_state = (enum mrc_ctl_profile_state)state};
  return mrc_ctl_modify_ev_profile(a.context, kProfile, &attr, MRC_CTL_EV_PROFILE_STATE);
}

static uint32_t ev_count(void) {
  const uint32_t align = ctl.ev.ev_count_align < 1 ? 1 : ctl.ev.ev_count_align;
  return (8 + align - 1) / align * align;
}

static int profile_offline(int mode, int fields) {
  memset(&evs, 0, sizeof evs);
  evs.profile_state = kOffline;
  evs.ev_mode = (enum mrc_ctl_ev_mode)mode;
  evs.ev_fmt_profile_id = kFormat;
  evs.ev_count = ev_count();
  evs.ev_min_active = 2;
  evs.ev_event_mask = MRC_CTL_EV_GOOD | MRC_CTL_EV_ASSUMED_BAD;
  evs.ev_fields_op.op = MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS;
  evs.ev_fields_op.fields = ev_fields;
  evs.ev_fields_op.field_count = fields;
  return mrc_ctl_modify_ev_profile(a.context, kProfile, &evs,
                                   kFirst | (fields != 0 ? MRC_CTL_EV_PROFILE_EV_FIELDS_OP : 0));
}

static void whole_fields(int count) {
  for (int i = 0; i < count; ++i) ev_fields[i] = (struct mrc_ctl_ev_field){.width = 16, .mask = 0xffff};
}

static struct mrc_ctl_ev an_ev(uint32_t value, unsigned port) {
  struct mrc_ctl_ev ev = {.port = (uint8_t)port};
  for (int i = 0; i < 4; ++i) ev.val[i] = (uint8_t)(value >> (24 - 8 * i));
  return ev;
}

static int operate(int op, struct mrc_ctl_ev_op_entry* entries, int count) {
  struct mrc_ctl_ev_profile_attr attr = {
      .ev_op = {.op = (enum mrc_ctl_ev_op)op, .entries = entries, .entry_count = count}};
  return mrc_ctl_modify_ev_profile(a.context, kProfile, &attr, MRC_CTL_EV_PROFILE_EV_OP);
}

static unsigned port_of(unsigned i) { return 1 + i % a.verbs.phys_port_cnt; }

static void populate(void) {
  struct mrc_ctl_ev_op_entry entries[64];
  const unsigned count = ev_count();
  for (unsigned i = 0; i < count; ++i)
    entries[i] = (struct mrc_ctl_ev_op_entry){
        .ev = MRC_CTL_EV_UNPOPULATED, .ev_new = an_ev(0x10000 * (i + 1) + 7, port_of(i)), .state = MRC_CTL_EV_GOOD};
  EQUAL(operate(MRC_CTL_EV_OP_REPLACE_EV, entries, (int)count), 0);
}

static void explicit_online(void) {
  controller(MRC_CTL_EV_MODE_EXP, MRC_CTL_EV_FMT_MODE_STEV);
  if (ev_count() > 64) skip_test("ev_count_align is %u", ctl.ev.ev_count_align);
  format_online(MRC_CTL_EV_FMT_MODE_STEV, 2);
  whole_fields(2);
  EQUAL(profile_offline(MRC_CTL_EV_MODE_EXP, 2), 0);
  populate();
  EQUAL(profile_to(kOnline), 0);
}

static void end_profiles(void) {
  profile_to(kOffline);
  EQUAL(profile_to(MRC_CTL_PROFILE_INIT), 0);
  format_to(kOffline);
  EQUAL(format_to(MRC_CTL_PROFILE_INIT), 0);
}

TEST(ev, listed_there_and_back, Header, "mrc_ctl_modify_ev_profile, examples/mrc_ctl_exp_ev.md",
     "An explicit profile is configured, populated, ONLINE, and taken back.") {
  explicit_online();
  struct mrc_ctl_ev_profile_attr got = {0};
  EQUAL(mrc_ctl_query_ev_profile(a.context, kProfile, &got, kFirst), 0);
  EQUAL(got.profile_state, kOnline);
  EQUAL(got.ev_mode, MRC_CTL_EV_MODE_EXP);
  EQUAL(got.ev_fmt_profile_id, kFormat);
  EQUAL(got.ev_count, ev_count());
  EQUAL(got.ev_min_active, 2);
  EQUAL(got.ev_event_mask, MRC_CTL_EV_GOOD | MRC_CTL_EV_ASSUMED_BAD);
  end_profiles();
}

TEST(ev, array_is_told, Header, "mrc_ctl_query_ev_profile; QUERY_EV_ARRAY",
     "The array tells every EV, its port and its state.") {
  explicit_online();
  struct mrc_ctl_ev_op_entry entries[64];
  struct mrc_ctl_ev_profile_attr got = {
      .ev_op = {.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY, .entries = entries, .entry_count = 64}};
  EQUAL(mrc_ctl_query_ev_profile(a.context, kProfile, &got, MRC_CTL_EV_PROFILE_EV_OP), 0);
  EQUAL(got.ev_op.entry_count, ev_count());
  for (unsigned i = 0; i < ev_count(); ++i) {
    const struct mrc_ctl_ev wanted = an_ev(0x10000 * (i + 1) + 7, port_of(i));
    WANT(memcmp(entries[i].ev.val, wanted.val, sizeof wanted.val) == 0 && entries[i].ev.port == wanted.port);
    EQUAL(entries[i].state, MRC_CTL_EV_GOOD);
  }
  got.ev_op.entry_count = 1;
  REFUSED(mrc_ctl_query_ev_profile(a.context, kProfile, &got, MRC_CTL_EV_PROFILE_EV_OP), E2BIG);
  EQUAL(got.ev_op.entry_count, ev_count());
  end_profiles();
}

TEST(ev, unpopulated_at_first, Header, "mrc_ctl_modify_ev_profile, Restrictions",
     "EVs of an explicit profile begin unpopulated, and have to be replaced before ONLINE: EINVAL.") {
  controller(MRC_CTL_EV_MODE_EXP, MRC_CTL_EV_FMT_MODE_STEV);
  format_online(MRC_CTL_EV_FMT_MODE_STEV, 2);
  whole_fields(2);
  EQUAL(profile_offline(MRC_CTL_EV_MODE_EXP, 2), 0);
  REFUSED(profile_to(kOnline), EINVAL);
  end_profiles();
}

TEST(ev, denied_and_good_again, Header, "MODIFY_EV_STATE, QUERY_EV_STATE",
     "An EV is DENIED, and GOOD again; another one stays.") {
  explicit_online();
  struct mrc_ctl_ev_op_entry e[2] = {{.ev = an_ev(0x10007, port_of(0)), .state = MRC_CTL_EV_DENIED},
                                     {.ev = an_ev(0x20007, port_of(1))}};
  EQUAL(operate(MRC_CTL_EV_OP_MODIFY_EV_STATE, e, 1), 0);
  e[0].state = 0;
  EQUAL(operate(MRC_CTL_EV_OP_QUERY_EV_STATE, e, 2), 0);
  EQUAL(e[0].state, MRC_CTL_EV_DENIED);
  EQUAL(e[1].state, MRC_CTL_EV_GOOD);
  e[0].state = MRC_CTL_EV_GOOD;
  EQUAL(operate(MRC_CTL_EV_OP_MODIFY_EV_STATE, e, 1), 0);
  EQUAL(operate(MRC_CTL_EV_OP_QUERY_EV_STATE, e, 1), 0);
  EQUAL(e[0].state, MRC_CTL_EV_GOOD);
  end_profiles();
}

TEST(ev, that_is_not_there, Header, "mrc_ctl_modify_ev_profile", "An EV that the profile has not: ENOENT.") {
  explicit_online();
  struct mrc_ctl_ev_op_entry e = {.ev = an_ev(0xdeadbeef, 1), .state = MRC_CTL_EV_DENIED};
  REFUSED(operate(MRC_CTL_EV_OP_MODIFY_EV_STATE, &e, 1), ENOENT);
  end_profiles();
}

TEST(ev, batch_up_to_the_first_wrong_one, Header, "mrc_ctl_modify_ev_profile, EV_OP rules",
     "A batch is worked through up to the first entry that fails; a query tells what was done.") {
  explicit_online();
  struct mrc_ctl_ev_op_entry e[3] = {{.ev = an_ev(0x10007, port_of(0)), .state = MRC_CTL_EV_DENIED},
                                     {.ev = an_ev(0xdeadbeef, 1), .state = MRC_CTL_EV_DENIED},
                                     {.ev = an_ev(0x20007, port_of(1)), .state = MRC_CTL_EV_DENIED}};
  REFUSED(operate(MRC_CTL_EV_OP_MODIFY_EV_STATE, e, 3), ENOENT);
  e[1] = e[2];
  EQUAL(operate(MRC_CTL_EV_OP_QUERY_EV_STATE, e, 2), 0);
  EQUAL(e[0].state, MRC_CTL_EV_DENIED);
  EQUAL(e[1].state, MRC_CTL_EV_GOOD);
  end_profiles();
}

TEST(ev, all_copies, Header, "MRC_CTL_EV_OP_F_ALL_COPIES",
     "With the flag a value is replaced wherever it stands, without it once.") {
  controller(MRC_CTL_EV_MODE_EXP, MRC_CTL_EV_FMT_MODE_STEV);
  format_online(MRC_CTL_EV_FMT_MODE_STEV, 2);
  whole_fields(2);
  EQUAL(profile_offline(MRC_CTL_EV_MODE_EXP, 2), 0);
  struct mrc_ctl_ev_op_entry e = {.ev = MRC_CTL_EV_UNPOPULATED,
                                  .ev_new = an_ev(5, 1),
                                  .state = MRC_CTL_EV_GOOD,
                                  .flags = MRC_CTL_EV_OP_F_ALL_COPIES};
  EQUAL(operate(MRC_CTL_EV_OP_REPLACE_EV, &e, 1), 0);
  REFUSED(operate(MRC_CTL_EV_OP_REPLACE_EV, &e, 1), ENOENT); /* nothing is unpopulated any more */
  e = (struct mrc_ctl_ev_op_entry){.ev = an_ev(5, 1), .ev_new = an_ev(6, 1), .state = MRC_CTL_EV_GOOD};
  EQUAL(operate(MRC_CTL_EV_OP_REPLACE_EV, &e, 1), 0);
  e.ev = an_ev(6, 1);
  EQUAL(operate(MRC_CTL_EV_OP_QUERY_EV_STATE, &e, 1), 0);
  e.ev = an_ev(5, 1);
  EQUAL(operate(MRC_CTL_EV_OP_QUERY_EV_STATE, &e, 1), 0);
  end_profiles();
}

TEST(ev, both_operations, Header, "mrc_ctl_modify_ev_profile",
     "Operations on EVs and on fields exclude each other: EINVAL.") {
  controller(0, 0);
  struct mrc_ctl_ev_op_entry e = {0};
  struct mrc_ctl_ev_profile_attr attr = {.ev_op = {.entries = &e, .entry_count = 1},
                                         .ev_fields_op = {.fields = ev_fields, .field_count = 1}};
  REFUSED(
      mrc_ctl_modify_ev_profile(a.context, kProfile, &attr, MRC_CTL_EV_PROFILE_EV_OP | MRC_CTL_EV_PROFILE_EV_FIELDS_OP),
      EINVAL);
  REFUSED(
      mrc_ctl_query_ev_profile(a.context, kProfile, &attr, MRC_CTL_EV_PROFILE_EV_OP | MRC_CTL_EV_PROFILE_EV_FIELDS_OP),
      EINVAL);
}

TEST(ev, more_than_there_is_room, Header, "mrc_ctl_modify_ev_profile", "More EVs than ev_max_count_profile: E2BIG.") {
  controller(MRC_CTL_EV_MODE_EXP, MRC_CTL_EV_FMT_MODE_STEV);
  format_online(MRC_CTL_EV_FMT_MODE_STEV, 2);
  struct mrc_ctl_ev_profile_attr attr = {.profile_state = kOffline,
                                         .ev_mode = MRC_CTL_EV_MODE_EXP,
                                         .ev_fmt_profile_id = kFormat,
                                         .ev_count = ctl.ev.ev_max_count_profile + ctl.ev.ev_count_align};
  REFUSED(mrc_ctl_modify_ev_profile(a.context, kProfile, &attr,
                                    MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID |
                                        MRC_CTL_EV_PROFILE_COUNT),
          E2BIG);
  format_to(kOffline);
  format_to(MRC_CTL_PROFILE_INIT);
}

/* Fields that the header does not allow, each of 16 bits in a format of two such. */
static const struct row kBadFields[] = {{"init_val_too_wide", 0, EINVAL, 0},
                                        {"mask_outside_the_field", 1, EINVAL, 0},
                                        {"max_val_wider_than_the_mask", 2, EINVAL, 0},
                                        {"more_fields_than_the_format", 3, E2BIG, 0},
                                        {"min_val_above_max_val", 4, EINVAL, 0}};
TESTS(ev, wrong_field, kBadFields, Header, "mrc_ctl_ev_profile_attr, restrictions",
      "What a field cannot be is refused.") {
  controller(MRC_CTL_EV_MODE_GEN, MRC_CTL_EV_FMT_MODE_STEV);
  format_online(MRC_CTL_EV_FMT_MODE_STEV, 2);
  whole_fields(3);
  ev_fields[1].width = 8;
  ev_fields[1].mask = 0xf;
  if (row->a == 0) ev_fields[1].init_val = 0x100;
  if (row->a == 1) ev_fields[1].mask = 0x10f;
  if (row->a == 2) ev_fields[1].max_val = 0x10;
  if (row->a == 4) {
    ev_fields[1].min_val = 5;
    ev_fields[1].max_val = 4;
  }
  REFUSED(profile_offline(MRC_CTL_EV_MODE_GEN, row->a == 3 ? 3 : 2), (int)row->b);
  format_to(kOffline);
  format_to(MRC_CTL_PROFILE_INIT);
}

TEST(ev, generated_within_min_and_max, Header, "mrc_ctl_ev_field",
     "Bits that the device draws are within min_val and max_val.") {
  controller(MRC_CTL_EV_MODE_GEN, MRC_CTL_EV_FMT_MODE_STEV);
  if (ev_count() > 64) skip_test("ev_count_align is %u", ctl.ev.ev_count_align);
  format_online(MRC_CTL_EV_FMT_MODE_STEV, 2);
  for (int i = 0; i < 2; ++i)
    ev_fields[i] =
        (struct mrc_ctl_ev_field){.width = 16, .init_val = 0x100u << i, .min_val = 3, .max_val = 12, .mask = 0xf};
  EQUAL(profile_offline(MRC_CTL_EV_MODE_GEN, 2), 0);
  EQUAL(profile_to(kOnline), 0);
  struct mrc_ctl_ev_op_entry entries[64];
  struct mrc_ctl_ev_profile_attr got = {
      .ev_op = {.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY, .entries = entries, .entry_count = 64}};
  EQUAL(mrc_ctl_query_ev_profile(a.context, kProfile, &got, MRC_CTL_EV_PROFILE_EV_OP), 0);
  for (int i = 0; i < got.ev_op.entry_count; ++i) {
    const unsigned byte = entries[i].ev.val[0];
    WANT(byte >> 4 >= 3 && byte >> 4 <= 12 && (byte & 15) >= 3 && (byte & 15) <= 12);
    for (int k = 1; k < MRC_CTL_EV_MAX_BYTES; ++k) EQUAL(entries[i].ev.val[k], 0);
    WANT(entries[i].ev.port >= 1 && entries[i].ev.port <= a.verbs.phys_port_cnt);
  }
  end_profiles();
}

TEST(ev, fields_are_told, Header, "mrc_ctl_query_ev_profile; QUERY_FIELDS",
     "A query tells the fields as they were set.") {
  controller(MRC_CTL_EV_MODE_GEN, MRC_CTL_EV_FMT_MODE_STEV);
  format_online(MRC_CTL_EV_FMT_MODE_STEV, 2);
  whole_fields(2);
  ev_fields[1] = (struct mrc_ctl_ev_field){.width = 12, .init_val = 0x120, .min_val = 1, .max_val = 9, .mask = 0x0f0};
  EQUAL(profile_offline(MRC_CTL_EV_MODE_GEN, 2), 0);
  struct mrc_ctl_ev_field got[4];
  struct mrc_ctl_ev_profile_attr attr = {
      .ev_fields_op = {.op = MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS, .fields = got, .field_count = 4}};
  EQUAL(mrc_ctl_query_ev_profile(a.context, kProfile, &attr, MRC_CTL_EV_PROFILE_EV_FIELDS_OP), 0);
  EQUAL(attr.ev_fields_op.field_count, 2);
  WANT(memcmp(got, ev_fields, 2 * sizeof *got) == 0);
  attr.ev_fields_op.field_count = 1;
  REFUSED(mrc_ctl_query_ev_profile(a.context, kProfile, &attr, MRC_CTL_EV_PROFILE_EV_FIELDS_OP), E2BIG);
  EQUAL(attr.ev_fields_op.field_count, 2);
  end_profiles();
}

TEST(ev, a_QP_with_it, Header, "mrc_qp_attr.profile",
     "Queue pairs with a profile of the controller carry data; it is EBUSY then.") {
  explicit_online();
  fill_end(&a, 0);
  setup.mrc.profile.ev_profile_id = kProfile;
  fill_end(&b, 1);
  give_qp(&a);
  give_qp(&b);
  connect_qp(b.qp, a.qpn, &a.gid);
  setup.init_mask = MRC_QP_EV_PROFILE_ID;
  connect_qp(a.qp, b.qpn, &b.gid);
  fill(a.buffer, 60000, 4);
  write_through(1, 0, 0, 60000);
  WANT(is_filled(b.buffer, 60000, 4));
  struct ibv_qp_attr v;
  struct mrc_qp_attr m = {0};
  struct mrc_qp_init_attr init;
  EQUAL(mrc_query_qp(a.qp, &v, IBV_QP_STATE, &m, MRC_QP_EV_PROFILE_ID, &init), 0);
  EQUAL(m.profile.ev_profile_id, kProfile);
  REFUSED(profile_to(kOffline), EBUSY);
  struct mrc_ctl_ev_op_entry e = {.ev = an_ev(0x10007, port_of(0)), .state = MRC_CTL_EV_DENIED};
  EQUAL(operate(MRC_CTL_EV_OP_MODIFY_EV_STATE, &e, 1), 0);
  write_through(2, 0, 0, 60000);
  EQUAL(mrc_destroy_qp(a.qp), 0);
  end_profiles();
}

/* Congestion control. */

static struct mrc_ctl_cc_nscc_cfg nscc_config(void) {
  const struct mrc_ctl_cc_nscc_cfg n = {.adjust_bytes_threshold = 32768,
                                        .adjust_period_threshold = 12000,
                                        .base_rtt = 12000,
                                        .eta = 600,
                                        .fi = 20000,
                                        .fi_scale = 0.25f,
                                        .gamma = 0.8f,
                                        .max_md_jump = 0.5f,
                                        .max_cwnd = 1800000,
                                        .qa_gate = 3,
                                        .qa_threshold = 36000,
                                        .target_delay = 9000};
  return n;
}

static int cc(int state, const char* algorithm, const struct mrc_ctl_cc_nscc_cfg* config, int mask) {
  struct mrc_ctl_cc_profile_attr attr = {
      .profile_state = (enum mrc_ctl_profile_state)state, .algorithm = algorithm, .cc_config = config};
  return mrc_ctl_modify_cc_profile(a.context, kProfile, &attr, mask);
}

static void needs_nscc(void) {
  controller(0, 0);
  if (ctl.cc.cc_max_profiles <= kProfile) skip_test("%u CC profiles", ctl.cc.cc_max_profiles);
  int found = 0;
  for (int i = 0; ctl.cc.algorithms[i] != NULL; ++i) found = found || strcmp(ctl.cc.algorithms[i], "uet-1.0-nscc") == 0;
  if (!found) skip_test("there is no uet-1.0-nscc");
}

enum {
  kState = MRC_CTL_CC_PROFILE_STATE,
  kAlgorithm = MRC_CTL_CC_PROFILE_ALGORITHM,
  kConfig = MRC_CTL_CC_PROFILE_CONFIG
};

TEST(cc, there_and_back, Header, "mrc_ctl_modify_cc_profile",
     "NSCC is configured, ONLINE, told by a query, and taken back.") {
  needs_nscc();
  const struct mrc_ctl_cc_nscc_cfg n = nscc_config();
  EQUAL(cc(kOffline, "uet-1.0-nscc", NULL, kState | kAlgorithm), 0);
  EQUAL(cc(kOnline, NULL, &n, kState | kConfig), 0);
  struct mrc_ctl_cc_nscc_cfg got = {0};
  struct mrc_ctl_cc_profile_attr attr = {.cc_config = &got};
  EQUAL(mrc_ctl_query_cc_profile(a.context, kProfile, &attr, kState | kAlgorithm | kConfig), 0);
  EQUAL(attr.profile_state, kOnline);
  WANT(attr.algorithm != NULL && strcmp(attr.algorithm, "uet-1.0-nscc") == 0);
  WANT(got.base_rtt == 12000 && got.eta == 600 && got.max_cwnd == 1800000 && got.target_delay == 9000);
  EQUAL(cc(kOffline, NULL, NULL, kState), 0);
  EQUAL(cc(MRC_CTL_PROFILE_INIT, NULL, NULL, kState), 0);
}

TEST(cc, without_control, Header, "mrc_ctl_cc_profile_attr.algorithm",
     "NULL for an algorithm is no congestion control.") {
  needs_nscc();
  EQUAL(cc(kOffline, NULL, NULL, kState | kAlgorithm), 0);
  EQUAL(cc(kOnline, NULL, NULL, kState), 0);
  EQUAL(cc(kOffline, NULL, NULL, kState), 0);
  EQUAL(cc(MRC_CTL_PROFILE_INIT, NULL, NULL, kState), 0);
}

TEST(cc, unknown_algorithm, Header, "mrc_ctl_cc_profile_attr.algorithm",
     "An algorithm that the device does not name: EINVAL.") {
  needs_nscc();
  REFUSED(cc(kOffline, "no-such-thing", NULL, kState | kAlgorithm), EINVAL);
}

static const struct row kCcSteps[] = {{"OFFLINE_without_algorithm", kOffline, 0, 0},
                                      {"ONLINE_without_configuration", kOnline, 1, 0}};
TESTS(cc, to, kCcSteps, Header, "mrc_ctl_modify_cc_profile",
      "OFFLINE needs an algorithm, ONLINE a configuration: EINVAL.") {
  needs_nscc();
  if (row->b != 0) EQUAL(cc(kOffline, "uet-1.0-nscc", NULL, kState | kAlgorithm), 0);
  REFUSED(cc((int)row->a, NULL, NULL, kState), EINVAL);
  if (row->b != 0) EQUAL(cc(MRC_CTL_PROFILE_INIT, NULL, NULL, kState), 0);
}

TEST(cc, a_QP_with_it, Header, "mrc_qp_attr.profile",
     "Queue pairs with congestion control carry data; its profile is EBUSY then.") {
  needs_nscc();
  const struct mrc_ctl_cc_nscc_cfg n = nscc_config();
  EQUAL(cc(kOffline, "uet-1.0-nscc", NULL, kState | kAlgorithm), 0);
  EQUAL(cc(kOnline, NULL, &n, kState | kConfig), 0);
  fill_end(&a, 0);
  fill_end(&b, 1);
  give_qp(&a);
  give_qp(&b);
  connect_qp(b.qp, a.qpn, &a.gid);
  setup.mrc.profile.cc_profile_id = kProfile;
  setup.init_mask = MRC_QP_CC_PROFILE_ID;
  connect_qp(a.qp, b.qpn, &b.gid);
  for (unsigned i = 0; i < 8; ++i) post_write(i, 0, 0, 60000);
  for (unsigned i = 0; i < 8; ++i) completes(a.send_cq, i, IBV_WC_SUCCESS);
  REFUSED(cc(kOffline, NULL, NULL, kState), EBUSY);
  EQUAL(mrc_destroy_qp(a.qp), 0);
  EQUAL(cc(kOffline, NULL, NULL, kState), 0);
  EQUAL(cc(MRC_CTL_PROFILE_INIT, NULL, NULL, kState), 0);
}

/* Events of EVs. */

TEST(ev_event, none, Header, "mrc_ctl_poll_ev_event",
     "A queue for EV events begins empty: 0; a wrong one: a negative errno.") {
  controller(0, 0);
  if ((ctl.opt_attr & MRC_CTL_OPT_CAP_EV_EVENT) == 0) skip_test("the device has no EV events");
  struct mrc_cq* cq = mrc_ctl_create_ev_event_cq(a.context, 16, NULL, NULL, 0);
  WANT(cq != NULL);
  struct mrc_ctl_ev_event event;
  EQUAL(mrc_ctl_poll_ev_event(cq, 1, &event), 0);
  WANT(mrc_ctl_poll_ev_event(NULL, 1, &event) < 0);
  EQUAL(mrc_destroy_cq(cq), 0);
}

/* Requests to endpoints. */

static struct mrc_ctl_ep_req requests[32];
static struct mrc_ctl_ep_rsp responses[32];

static int ask_endpoints(int op, int count, uint32_t timeout, int* answers) {
  return mrc_ctl_ep_batch_send_wait(a.context, 4, (enum mrc_ctl_ep_op_type)op, requests, count, timeout, responses,
                                    answers);
}

static void some_requests(int count) {
  controller(0, 0);
  if ((ctl.opt_attr & MRC_CTL_OPT_CAP_EP_OP_EV_PROBE) == 0) skip_test("the device has no EV probes");
  open_end(&b, 1);
  for (int i = 0; i < count; ++i) {
    memset(&requests[i], 0, sizeof requests[i]);
    requests[i].req_id = (uint16_t)(100 + i);
    requests[i].sgid = a.gid;
    requests[i].dgid = b.gid;
    requests[i].ev_fmt_mode = MRC_CTL_EV_FMT_MODE_STEV;
    requests[i].req_ev = an_ev(0x40000001u + (unsigned)i, port_of((unsigned)i));
  }
}

TEST(endpoint, EV_probes, Header, "mrc_ctl_ep_batch_send_wait; EV_PROBE",
     "Each probe of a batch is answered: its number, a port, a round trip.") {
  some_requests(16);
  int answers = -1;
  EQUAL(ask_endpoints(MRC_CTL_EP_OP_EV_PROBE, 16, 2000000, &answers), 0);
  EQUAL(answers, 16);
  unsigned seen[16] = {0};
  for (int i = 0; i < 16; ++i) {
    WANT(responses[i].req_id >= 100 && responses[i].req_id < 116 && seen[responses[i].req_id - 100]++ == 0);
    WANT(responses[i].port >= 1 && responses[i].port <= a.verbs.phys_port_cnt && responses[i].rtt > 0);
  }
}

TEST(endpoint, nobody_there, Header, "mrc_ctl_ep_batch_send_wait; ETIMEDOUT",
     "An address that nobody has: ETIMEDOUT, and the answers of the others.") {
  some_requests(3);
  requests[1].dgid.raw[10] ^= 0x55;
  int answers = -1;
  REFUSED(ask_endpoints(MRC_CTL_EP_OP_EV_PROBE, 3, 200000, &answers), ETIMEDOUT);
  EQUAL(answers, 2);
}

TEST(endpoint, port_status, Header, "mrc_ctl_ep_batch_send_wait; PORT_STATUS_UPDATE",
     "An endpoint answers an update of port status.") {
  some_requests(1);
  requests[0].op.port_status_update.port_status = ctl.phy_port_mask;
  int answers = -1;
  EQUAL(ask_endpoints(MRC_CTL_EP_OP_PORT_STATUS_UPDATE, 1, 2000000, &answers), 0);
  EQUAL(answers, 1);
  EQUAL(responses[0].req_id, 100);
}

static const struct row kBadRequests[] = {
    {"no_requests", 0, 0, 0}, {"twice_the_same_number", 1, 0, 0}, {"no_such_port", 2, 0, 0}, {"no_list", 3, 0, 0}};
TESTS(endpoint, wrong, kBadRequests, Header, "mrc_ctl_ep_batch_send_wait", "What cannot be asked: -1, EINVAL.") {
  some_requests(2);
  if (row->a == 1) requests[1].req_id = requests[0].req_id;
  if (row->a == 2) requests[1].req_ev.port = 200;
  int answers = 0;
  REFUSED(mrc_ctl_ep_batch_send_wait(a.context, 4, MRC_CTL_EP_OP_EV_PROBE, row->a == 3 ? NULL : requests,
                                     row->a == 0 ? 0 : 2, 1000000, responses, &answers),
          EINVAL);
}
