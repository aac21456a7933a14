// SPDX-License-Identifier: Apache-2.0
#include "reference/profile.hpp"

namespace mrc::ref {

wire::WireConfig Profile::wire() const {
  wire::WireConfig w;
  w.udp_port = static_cast<uint16_t>(settings.udp_port);
  w.udp_port_only = settings.udp_port_only;
  w.bth_se_first = !settings.bth_m_high;
  w.ev_swap = settings.ev_swap;
  w.eeth_op_high = settings.eeth_op_high;
  w.icrc_outer = settings.icrc_outer;
  w.dscp.trimmable = static_cast<uint8_t>(settings.dscp_data);
  w.dscp.trimmable_retx = static_cast<uint8_t>(settings.dscp_rtx);
  w.dscp.control = static_cast<uint8_t>(settings.dscp_ctl);
  w.dscp.trimmed = static_cast<uint8_t>(settings.dscp_trimmed);
  w.dscp.trimmed_lasthop = static_cast<uint8_t>(settings.dscp_lasthop);
  return w;
}

}  // namespace mrc::ref
