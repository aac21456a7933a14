// SPDX-License-Identifier: Apache-2.0
/// mrc_ctl.h: its versions, and who asks for anything else is told that it is not there (docs/api.md).
#include <mrc_ctl.h>

#include "libmrc/library/objects.hpp"

using namespace mrc::libmrc;

extern "C" {

void mrc_ctl_query_version(uint32_t* current, uint32_t* oldest, uint32_t* vendor, uint32_t* oldest_vendor) {
  if (current != nullptr) *current = MRC_CTL_API_CURRENT_VERSION;
  if (oldest != nullptr) *oldest = MRC_CTL_API_LAST_SUPPORTED_VERSION;
  if (vendor != nullptr) *vendor = MRC_CTL_VENDOR_API_CURRENT_VERSION;
  if (oldest_vendor != nullptr) *oldest_vendor = MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION;
}

int mrc_ctl_query_device(ibv_context* context, mrc_ctl_device_attr*) {
  return not_there(context_of(context), __func__);
}
int mrc_ctl_query_device_ex(ibv_context* context, mrc_context*, mrc_ctl_device_attr*, int*) {
  return not_there(context_of(context), __func__);
}
int mrc_ctl_query_port(mrc_context* c, uint8_t, mrc_ctl_port_attr*, int) { return not_there(c, __func__); }
int mrc_ctl_modify_port(mrc_context* c, uint8_t, mrc_ctl_port_attr*, int) { return not_there(c, __func__); }
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
