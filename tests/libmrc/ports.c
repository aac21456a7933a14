/* SPDX-License-Identifier: Apache-2.0 */
/* usage: ports send|receive DEVICE SOCKET
 * The sender is a controller, too: it disables one of its ports and enables it again, while its writes go on. */
#include <mrc_ctl.h>
#include <string.h>

#include "program.h"

enum { kBytes = 1 << 16, kWrites = 8 };

static void writes(struct program* p, unsigned char value) {
  memset(p->buffer, value, kBytes);
  for (unsigned i = 0; i < kWrites; ++i) CHECK(program_write(p, 0, 0, kBytes, NULL, i) == 0);
  for (unsigned i = 0; i < kWrites; ++i) CHECK(program_wait(p->send_cq).status == IBV_WC_SUCCESS);
}

static void set(struct program* p, uint8_t port, enum mrc_ctl_port_admin_state state) {
  struct mrc_ctl_port_attr attr = {.port_admin_state = state};
  CHECK(mrc_ctl_modify_port(p->context, port, &attr, MRC_CTL_PORT_ADMIN_STATE) == 0);
  struct mrc_ctl_port_attr now;
  CHECK(mrc_ctl_query_port(p->context, port, &now, MRC_CTL_PORT_ADMIN_STATE) == 0 && now.port_admin_state == state);
  struct ibv_port_attr verbs;
  const int enabled = state == MRC_CTL_PORT_ADMIN_ENABLED;
  CHECK(ibv_query_port(p->device, port, &verbs) == 0);
  CHECK(verbs.state == (enabled ? IBV_PORT_ACTIVE : IBV_PORT_DOWN));
  struct mrc_async_event event;
  CHECK(mrc_get_async_event(p->context, &event) == 0);
  CHECK(event.event_type == (enabled ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR) && event.element.port_num == port);
  mrc_ack_async_event(&event);
}

int main(int argc, char** argv) {
  CHECK(argc == 4);
  struct program p;
  const int sender = strcmp(argv[1], "send") == 0;
  program_begin(&p, argv[2], atoi(argv[3]), kBytes);
  struct mrc_ctl_device_attr attr;
  int supported = 0;
  CHECK(mrc_ctl_query_device_ex(p.device, p.context, &attr, &supported) == 0 && supported);
  CHECK(mrc_ctl_query_device(p.device, &attr) == 0 && (attr.phy_port_mask & 7) == 6 && *attr.cc.algorithms != NULL);
  struct mrc_ctl_port_attr port;
  CHECK(mrc_ctl_query_port(p.context, 0, &port, MRC_CTL_PORT_ADMIN_STATE) == -1 && errno == EINVAL);
  CHECK(mrc_ctl_query_port(p.context, 64, &port, MRC_CTL_PORT_ADMIN_STATE) == -1 && errno == EINVAL);
  if (sender) {
    writes(&p, 1);
    set(&p, 2, MRC_CTL_PORT_ADMIN_DISABLED);
    writes(&p, 2);
    set(&p, 2, MRC_CTL_PORT_ADMIN_ENABLED);
    writes(&p, 3);
  }
  program_meet(&p);
  if (!sender) {
    for (unsigned i = 0; i < kBytes; ++i) CHECK(p.buffer[i] == 3);
  }
  program_end(&p);
  printf("%s: a port less, and back\n", argv[1]);
  return 0;
}
