// SPDX-License-Identifier: Apache-2.0
/// mrc_ctl.h: versions, the device, ports. Who asks for anything else is told that it is not there (docs/api.md).
#include <mrc_ctl.h>

#include "libmrc/library/objects.hpp"

using namespace mrc::libmrc;

namespace {

/// What there is of the controller's part: ports, and no profiles yet.
int describe(const Context& c, mrc_ctl_device_attr& attr, int& supported) {
  static const char* no_algorithms[] = {nullptr};
  const DeviceRow& row = c.device->row;
  attr = {};
  attr.mrc_ctl_protocol_version = MRC_CTL_PROTOCOL_VERSION_1;
  attr.cc.algorithms = no_algorithms;
  attr.phy_port_mask = ((1u << row.planes) - 1) << 1;
  supported = 1;
  return 0;
}

}  // namespace

extern "C" {

void mrc_ctl_query_version(uint32_t* current, uint32_t* oldest, uint32_t* vendor, uint32_t* oldest_vendor) {
  if (current != nullptr) *current = MRC_CTL_API_CURRENT_VERSION;
  if (oldest != nullptr) *oldest = MRC_CTL_API_LAST_SUPPORTED_VERSION;
  if (vendor != nullptr) *vendor = MRC_CTL_VENDOR_API_CURRENT_VERSION;
  if (oldest_vendor != nullptr) *oldest_vendor = MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION;
}

int mrc_ctl_query_device(ibv_context* context, mrc_ctl_device_attr* attr) {
  int supported = 0;
  if (attr == nullptr) return fail(EINVAL);
  const Context* c = context_of(context);
  if (c == nullptr) return fail(ENOTSUP);
  return describe(*c, *attr, supported);
}

int mrc_ctl_query_device_ex(ibv_context* context, mrc_context* mcontext, mrc_ctl_device_attr* attr, int* supported) {
  if (attr == nullptr || supported == nullptr || mcontext == nullptr || &mcontext->device->base != context)
    return fail(EINVAL);
  return describe(*mcontext->device, *attr, *supported);
}

int mrc_ctl_query_port(mrc_context* context, uint8_t port, mrc_ctl_port_attr* attr, int mask) {
  if (context == nullptr || attr == nullptr || (mask & ~MRC_CTL_PORT_ADMIN_STATE) != 0) return fail(EINVAL);
  Context& c = *context->device;
  const std::scoped_lock lock(c.mutex);
  Number enabled{};
  if (const int error = c.connection.ask(QueryPort{port}, enabled); error != 0) return fail(error);
  if ((mask & MRC_CTL_PORT_ADMIN_STATE) != 0)
    attr->port_admin_state = enabled.value != 0 ? MRC_CTL_PORT_ADMIN_ENABLED : MRC_CTL_PORT_ADMIN_DISABLED;
  return 0;
}

int mrc_ctl_modify_port(mrc_context* context, uint8_t port, mrc_ctl_port_attr* attr, int mask) {
  if (context == nullptr || attr == nullptr || mask != MRC_CTL_PORT_ADMIN_STATE) return fail(EINVAL);
  const auto state = static_cast<unsigned>(attr->port_admin_state);
  if (state > MRC_CTL_PORT_ADMIN_ENABLED) return fail(EINVAL);
  Context& c = *context->device;
  const std::scoped_lock lock(c.mutex);
  Done done{};
  const int error = c.connection.ask(ModifyPort{port, state}, done);
  return error == 0 ? 0 : fail(error);
}

int mrc_ctl_modify_ev_fmt_profile(mrc_context* c, uint64_t, mrc_ctl_ev_fmt_profile_attr*, int) {
  return not_there(c, __func__);
}
int mrc_ctl_query_ev_fmt_profile(mrc_context* c, uint64_t, mrc_ctl_ev_fmt_profile_attr*, int) {
  return not_there(c, __func__);
}
int mrc_ctl_modify_ev_profile(mrc_context* c, uint64_t, mrc_ctl_ev_profile_attr*, int) {
  return not_there(c, __func__);
}
int mrc_ctl_query_ev_profile(mrc_context* c, uint64_t, mrc_ctl_ev_profile_attr*, int) { return not_there(c, __func__); }
int mrc_ctl_modify_cc_profile(mrc_context* c, uint64_t, mrc_ctl_cc_profile_attr*, int) {
  return not_there(c, __func__);
}
int mrc_ctl_query_cc_profile(mrc_context* c, uint64_t, mrc_ctl_cc_profile_attr*, int) { return not_there(c, __func__); }
mrc_cq* mrc_ctl_create_ev_event_cq(mrc_context* c, int, void*, mrc_comp_channel*, int) {
  not_there(c, __func__);
  return nullptr;
}
int mrc_ctl_poll_ev_event(mrc_cq*, int, mrc_ctl_ev_event*) { return -ENOTSUP; }
int mrc_ctl_ep_batch_send_wait(mrc_context* c, uint8_t, mrc_ctl_ep_op_type, mrc_ctl_ep_req*, int, uint32_t,
                               mrc_ctl_ep_rsp*, int*) {
  return not_there(c, __func__);
}

}  // extern "C"
