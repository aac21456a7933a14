/* SPDX-License-Identifier: Apache-2.0 */
/* The controller's part that every device has: what it says of itself, and ports. */
#include "suite.h"

static struct mrc_ctl_device_attr ctl;

static void controller(void) {
  if (a.context == NULL) open_end(&a, 0);
  int supported = 0;
  errno = 0;
  if (mrc_ctl_query_device_ex(a.device, a.context, &ctl, &supported) != 0 && errno == EPERM)
    skip_test("no CAP_NET_ADMIN");
  WANT(supported != 0);
}

TEST(ctl, both_queries_agree, Header, "mrc_ctl_query_device",
     "The query of (1,0,0) says the same as that of (1,0,1).") {
  controller();
  struct mrc_ctl_device_attr old;
  EQUAL(mrc_ctl_query_device(a.device, &old), 0);
  WANT(old.phy_port_mask == ctl.phy_port_mask && old.opt_attr == ctl.opt_attr &&
       old.ev.ev_max_profiles == ctl.ev.ev_max_profiles);
}

TEST(ctl, ports_of_the_mask, Header, "mrc_ctl_device_attr.phy_port_mask",
     "Bit N of the mask is port N of ibv_query_port; bit 0 is none.") {
  controller();
  EQUAL(ctl.phy_port_mask & 1, 0);
  WANT(ctl.phy_port_mask != 0);
  for (unsigned port = 1; port < 32; ++port) {
    struct ibv_port_attr attr;
    if ((ctl.phy_port_mask >> port & 1) != 0) EQUAL(ibv_query_port(a.device, (uint8_t)port, &attr), 0);
  }
}

TEST(ctl, known_bits_alone, Header, "mrc_ctl_device_attr", "Modes and options have bits of their enumerations alone.") {
  controller();
  EQUAL(ctl.ev.ev_fmt_mode_mask & ~7u, 0);
  EQUAL(ctl.ev.ev_mode_mask & ~7u, 0);
  EQUAL(ctl.opt_attr & ~63u, 0);
}

TEST(ctl, counts_fit, Header, "mrc_ctl_device_attr.ev",
     "What is free is not more than there is, nor is a profile's share.") {
  controller();
  WANT(ctl.ev.ev_free_count <= ctl.ev.ev_max_count && ctl.ev.ev_max_count_profile <= ctl.ev.ev_max_count);
  WANT(ctl.ev.ev_max_width <= 8 * MRC_CTL_EV_MAX_BYTES);
}

TEST(ctl, algorithms_end, Header, "mrc_ctl_device_attr.cc", "Behind the last algorithm stands NULL.") {
  controller();
  WANT(ctl.cc.algorithms != NULL);
  int count = 0;
  while (count < 100 && ctl.cc.algorithms[count] != NULL) ++count;
  WANT(count < 100 && (ctl.cc.cc_max_profiles == 0 || count > 0));
}

static enum mrc_ctl_port_admin_state admin(uint8_t port) {
  struct mrc_ctl_port_attr attr = {.port_admin_state = (enum mrc_ctl_port_admin_state)99};
  EQUAL(mrc_ctl_query_port(a.context, port, &attr, MRC_CTL_PORT_ADMIN_STATE), 0);
  return attr.port_admin_state;
}

static void set(uint8_t port, enum mrc_ctl_port_admin_state state) {
  struct mrc_ctl_port_attr attr = {.port_admin_state = state};
  EQUAL(mrc_ctl_modify_port(a.context, port, &attr, MRC_CTL_PORT_ADMIN_STATE), 0);
}

TEST(port, disabled_and_enabled, Header, "mrc_ctl_modify_port",
     "A port is disabled and enabled, and a query tells which.") {
  controller();
  EQUAL(admin(1), MRC_CTL_PORT_ADMIN_ENABLED);
  set(1, MRC_CTL_PORT_ADMIN_DISABLED);
  EQUAL(admin(1), MRC_CTL_PORT_ADMIN_DISABLED);
  set(1, MRC_CTL_PORT_ADMIN_ENABLED);
  EQUAL(admin(1), MRC_CTL_PORT_ADMIN_ENABLED);
}

TEST(port, disabled_is_down, Header, "mrc_ctl_port_attr",
     "ibv_query_port says IBV_PORT_DOWN of a disabled port, and of no other.") {
  controller();
  struct ibv_port_attr port;
  set(1, MRC_CTL_PORT_ADMIN_DISABLED);
  EQUAL(ibv_query_port(a.device, 1, &port), 0);
  const enum ibv_port_state disabled = port.state;
  const int another = a.verbs.phys_port_cnt > 1 ? ibv_query_port(a.device, 2, &port) : -1;
  const enum ibv_port_state other = port.state;
  set(1, MRC_CTL_PORT_ADMIN_ENABLED);
  EQUAL(disabled, IBV_PORT_DOWN);
  if (another == 0) EQUAL(other, IBV_PORT_ACTIVE);
  EQUAL(ibv_query_port(a.device, 1, &port), 0);
  EQUAL(port.state, IBV_PORT_ACTIVE);
}

TEST(port, events, Verbs, "mrc_get_async_event; IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ACTIVE",
     "Disabling and enabling a port are asynchronous events that name it.") {
  controller();
  set(1, MRC_CTL_PORT_ADMIN_DISABLED);
  set(1, MRC_CTL_PORT_ADMIN_ENABLED);
  struct mrc_async_event event;
  EQUAL(mrc_get_async_event(a.context, &event), 0);
  EQUAL(event.event_type, IBV_EVENT_PORT_ERR);
  EQUAL(event.element.port_num, 1);
  mrc_ack_async_event(&event);
  EQUAL(mrc_get_async_event(a.context, &event), 0);
  EQUAL(event.event_type, IBV_EVENT_PORT_ACTIVE);
  EQUAL(event.element.port_num, 1);
  mrc_ack_async_event(&event);
}

TEST(port, traffic_goes_on_without_it, Header, "mrc_ctl_modify_port",
     "With one port of several disabled, WRITEs still arrive.") {
  controller();
  if (a.verbs.phys_port_cnt < 2) skip_test("there is one port");
  fill_end(&a, 0);
  pair();
  fill(a.buffer, 60000, 1);
  set(1, MRC_CTL_PORT_ADMIN_DISABLED);
  for (unsigned i = 0; i < 8; ++i) post_write(i, 0, 0, 60000);
  for (unsigned i = 0; i < 8; ++i) {
    const struct ibv_wc wc = next(a.send_cq);
    if (wc.status != IBV_WC_SUCCESS) set(1, MRC_CTL_PORT_ADMIN_ENABLED);
    EQUAL(wc.status, IBV_WC_SUCCESS);
  }
  set(1, MRC_CTL_PORT_ADMIN_ENABLED);
  WANT(is_filled(b.buffer, 60000, 1));
}

static const struct row kWrong[] = {
    {"0", 0, 1, 1}, {"255", 255, 1, 1}, {"with_a_mask_without_meaning", 1, 1 << 7, 1}, {"in_no_state", 1, 1, 7}};
TESTS(port, wrong, kWrong, Header, "mrc_ctl_modify_port", "A port, mask or state that there is not: -1, EINVAL.") {
  controller();
  struct mrc_ctl_port_attr attr = {.port_admin_state = (enum mrc_ctl_port_admin_state)row->c};
  REFUSED(mrc_ctl_modify_port(a.context, (uint8_t)row->a, &attr, (int)row->b), EINVAL);
  if (row->c == 1) REFUSED(mrc_ctl_query_port(a.context, (uint8_t)row->a, &attr, (int)row->b), EINVAL);
}
