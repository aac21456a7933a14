// SPDX-License-Identifier: Apache-2.0
/// mrc_ctl.h: the device, ports, profiles, events of EVs, requests to endpoints. Profiles live in the host; here their
/// lists become messages, one for an entry.
#include <mrc_ctl.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "libmrc/library/objects.hpp"

using namespace mrc::libmrc;

namespace {

const char* const kNscc = "uet-1.0-nscc";
constexpr int kFormatMask = MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_CUR_STATE |
                            MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP | MRC_CTL_EV_FMT_VENDOR_CFG;
constexpr int kEvMask = MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_CUR_STATE | MRC_CTL_EV_PROFILE_MODE |
                        MRC_CTL_EV_PROFILE_FMT_ID | MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE |
                        MRC_CTL_EV_PROFILE_EVENT_MASK | MRC_CTL_EV_PROFILE_EV_OP | MRC_CTL_EV_PROFILE_EV_FIELDS_OP |
                        MRC_CTL_EV_PROFILE_VENDOR_CFG;
constexpr int kCcMask = MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_CUR_STATE | MRC_CTL_CC_PROFILE_ALGORITHM |
                        MRC_CTL_CC_PROFILE_CONFIG | MRC_CTL_CC_PROFILE_VENDOR_CFG;
constexpr int kBatch = 256;  ///< requests to endpoints at once

/// Asks the host, and sets errno.
template <class Request>
int query(Context& c, const Request& request, typename Request::Answer& answer) {
  const int error = c.connection.query(request, answer);
  return error == 0 ? 0 : fail(error);
}

/// What every call that names profiles begins with; `foreign`: bits that the header does not have.
int check(mrc_context* context, const void* attr, int mask, int known, int vendor) {
  if (context == nullptr || attr == nullptr || (mask & ~known) != 0) return fail(EINVAL);
  if ((mask & vendor) == 0) return 0;
  const std::scoped_lock lock(context->device->mutex);
  context->device->say("mrc_ctl: we have no vendor_cfg (ENOTSUP)");
  return fail(ENOTSUP);
}

uint32_t with_of(int mask, int state, int current) {
  return ((mask & state) != 0 ? With::kState : 0) | ((mask & current) != 0 ? With::kCurrent : 0);
}

ProfileState from(mrc_ctl_profile_state state) { return static_cast<ProfileState>(state); }
mrc_ctl_profile_state to(ProfileState state) { return static_cast<mrc_ctl_profile_state>(state); }

EvValue value_of(const mrc_ctl_ev& ev) {
  EvValue value{};
  std::copy(std::begin(ev.val), std::end(ev.val), value.value.begin());
  value.port = ev.port;
  return value;
}
mrc_ctl_ev ev_of(const EvValue& value) {
  mrc_ctl_ev ev{};
  std::copy(value.value.begin(), value.value.end(), std::begin(ev.val));
  ev.port = static_cast<uint8_t>(value.port);
  return ev;
}

int describe(Context& c, mrc_ctl_device_attr& attr, int& supported) {
  static const char* algorithms[] = {kNscc, nullptr};
  const std::scoped_lock lock(c.mutex);
  ControllerRow row{};
  if (const int error = query(c, QueryController{}, row); error != 0) return error;
  attr = {};
  attr.mrc_ctl_protocol_version = MRC_CTL_PROTOCOL_VERSION_1;
  attr.ev.ev_max_fmt_profiles = row.formats;
  attr.ev.ev_max_profiles = row.ev_profiles;
  attr.ev.ev_max_count = row.evs;
  attr.ev.ev_free_count = row.free_evs;
  attr.ev.ev_max_count_profile = row.evs_of_profile;
  attr.ev.ev_count_align = 1;
  attr.ev.ev_max_width = 8 * MRC_CTL_EV_MAX_BYTES;
  attr.ev.ev_fmt_mode_mask = MRC_CTL_EV_FMT_MODE_STEV | MRC_CTL_EV_FMT_MODE_SRV6 | MRC_CTL_EV_FMT_MODE_UDP;
  attr.ev.ev_mode_mask = MRC_CTL_EV_MODE_AUTO | MRC_CTL_EV_MODE_EXP | MRC_CTL_EV_MODE_GEN;
  attr.cc.cc_max_profiles = row.cc_profiles;
  attr.cc.algorithms = algorithms;
  attr.phy_port_mask = ((1u << c.device->row.planes) - 1) << 1;
  attr.opt_attr = MRC_CTL_OPT_CAP_EP_OP_EV_PROBE;
  if (row.events != 0) attr.opt_attr |= MRC_CTL_OPT_CAP_EV_EVENT | MRC_CTL_OPT_CAP_EV_EVENT_PRECISE_DROP_CNT;
  supported = 1;
  return 0;
}

/// Entries of a batch in their order, up to the first one that fails.
int entries(Context& c, uint64_t id, mrc_ctl_ev_op op, mrc_ctl_ev_op_entry* list, int count) {
  for (int i = 0; i < count; ++i) {
    EvEntry wanted{};
    wanted.id = id;
    wanted.op = static_cast<uint32_t>(op);
    wanted.index = static_cast<uint32_t>(i);
    wanted.state = static_cast<uint32_t>(list[i].state);
    wanted.all_copies = (list[i].flags & MRC_CTL_EV_OP_F_ALL_COPIES) != 0;
    wanted.ev = value_of(list[i].ev);
    wanted.replacement = value_of(list[i].ev_new);
    EvEntryRow row{};
    if (const int error = query(c, wanted, row); error != 0) return error;
    if (op == MRC_CTL_EV_OP_QUERY_EV_ARRAY) list[i].ev = ev_of(row.ev);
    if (op == MRC_CTL_EV_OP_QUERY_EV_ARRAY || op == MRC_CTL_EV_OP_QUERY_EV_STATE)
      list[i].state = static_cast<mrc_ctl_ev_state>(row.state);
  }
  return 0;
}

/// The operation on EVs of a call; `count`: EVs of the profile.
int ev_operation(Context& c, uint64_t id, mrc_ctl_ev_profile_attr& attr, uint32_t count, bool may_change) {
  auto& op = attr.ev_op;
  const bool changes = op.op == MRC_CTL_EV_OP_REPLACE_EV || op.op == MRC_CTL_EV_OP_MODIFY_EV_STATE;
  if (op.entry_count < 0 || (op.entries == nullptr && op.entry_count > 0) || (changes && !may_change) ||
      static_cast<unsigned>(op.op) > MRC_CTL_EV_OP_QUERY_EV_ARRAY)
    return fail(EINVAL);
  if (op.op == MRC_CTL_EV_OP_QUERY_EV_ARRAY) {
    const bool fits = static_cast<uint32_t>(op.entry_count) >= count;
    op.entry_count = static_cast<int>(count);
    if (!fits) return fail(E2BIG);
  }
  return entries(c, id, op.op, op.entries, op.entry_count);
}

int query_fields(const EvProfile& profile, mrc_ctl_ev_profile_attr& attr) {
  auto& op = attr.ev_fields_op;
  const bool fits = op.field_count >= 0 && static_cast<uint32_t>(op.field_count) >= profile.fields;
  op.field_count = static_cast<int>(profile.fields);
  if (!fits) return fail(E2BIG);
  if (op.fields == nullptr && profile.fields > 0) return fail(EINVAL);
  for (uint32_t i = 0; i < profile.fields; ++i) {
    const EvField& f = profile.field[i];
    op.fields[i] = {f.width, f.init, f.min, f.max, f.mask};
  }
  return 0;
}

int query_format_fields(const FormatProfile& profile, mrc_ctl_ev_fmt_profile_attr& attr) {
  auto& op = attr.ev_fmt_op;
  const bool fits = op.fmt_field_count >= 0 && static_cast<uint32_t>(op.fmt_field_count) >= profile.fields;
  op.fmt_field_count = static_cast<int>(profile.fields);
  if (!fits) return fail(E2BIG);
  if (op.fmt_fields == nullptr && profile.fields > 0) return fail(EINVAL);
  for (uint32_t i = 0; i < profile.fields; ++i) op.fmt_fields[i].width = profile.width[i];
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
  Context* c = context_of(context);
  if (c == nullptr) return fail(ENOTSUP);
  return describe(*c, *attr, supported);
}

int mrc_ctl_query_device_ex(ibv_context* context, mrc_context* mcontext, mrc_ctl_device_attr* attr, int* supported) {
  if (attr == nullptr || supported == nullptr || mcontext == nullptr || &mcontext->device->base != context)
    return fail(EINVAL);
  return describe(*mcontext->device, *attr, *supported);
}

// Ports.

int mrc_ctl_query_port(mrc_context* context, uint8_t port, mrc_ctl_port_attr* attr, int mask) {
  if (context == nullptr || attr == nullptr || (mask & ~MRC_CTL_PORT_ADMIN_STATE) != 0) return fail(EINVAL);
  Context& c = *context->device;
  const std::scoped_lock lock(c.mutex);
  Number state{};
  if (const int error = query(c, QueryPort{port}, state); error != 0) return error;
  if ((mask & MRC_CTL_PORT_ADMIN_STATE) != 0)
    attr->port_admin_state =
        (state.value & kPortEnabled) != 0 ? MRC_CTL_PORT_ADMIN_ENABLED : MRC_CTL_PORT_ADMIN_DISABLED;
  return 0;
}

int mrc_ctl_modify_port(mrc_context* context, uint8_t port, mrc_ctl_port_attr* attr, int mask) {
  if (context == nullptr || attr == nullptr || mask != MRC_CTL_PORT_ADMIN_STATE) return fail(EINVAL);
  const uint32_t state = plain(attr->port_admin_state);
  if (state > MRC_CTL_PORT_ADMIN_ENABLED) return fail(EINVAL);
  Context& c = *context->device;
  const std::scoped_lock lock(c.mutex);
  Done done{};
  return query(c, ModifyPort{port, state}, done);
}

// Formats of EVs.

int mrc_ctl_modify_ev_fmt_profile(mrc_context* context, uint64_t id, mrc_ctl_ev_fmt_profile_attr* attr, int mask) {
  if (check(context, attr, mask, kFormatMask, MRC_CTL_EV_FMT_VENDOR_CFG) != 0) return -1;
  Context& c = *context->device;
  const std::scoped_lock lock(c.mutex);
  ModifyFormat wanted{};
  wanted.id = id;
  wanted.with = with_of(mask, MRC_CTL_EV_FMT_PROFILE_STATE, MRC_CTL_EV_FMT_PROFILE_CUR_STATE);
  wanted.profile.state = from(attr->profile_state);
  wanted.profile.current = from(attr->cur_profile_state);
  if ((mask & MRC_CTL_EV_FMT_PROFILE_MODE) != 0) {
    wanted.with |= With::kMode;
    wanted.profile.mode = static_cast<uint32_t>(attr->ev_fmt_mode);
  }
  const auto& op = attr->ev_fmt_op;
  const bool queries = (mask & MRC_CTL_EV_FMT_PROFILE_OP) != 0 && op.op == MRC_CTL_EV_FMT_OP_QUERY_FIELDS;
  if ((mask & MRC_CTL_EV_FMT_PROFILE_OP) != 0 && !queries) {
    if (op.op != MRC_CTL_EV_FMT_OP_MODIFY_FIELDS || op.fmt_field_count < 0 || op.fmt_fields == nullptr)
      return fail(EINVAL);
    if (op.fmt_field_count > static_cast<int>(kMaxFields)) return fail(E2BIG);
    wanted.with |= With::kFields;
    wanted.profile.fields = static_cast<uint32_t>(op.fmt_field_count);
    for (int i = 0; i < op.fmt_field_count; ++i)
      wanted.profile.width[static_cast<std::size_t>(i)] = op.fmt_fields[i].width;
  }
  Done done{};
  if (wanted.with != 0 || !queries) {
    if (const int error = query(c, wanted, done); error != 0) return error;
  }
  if (!queries) return 0;
  QueryFormat::Answer row{};
  if (const int error = query(c, QueryFormat{id}, row); error != 0) return error;
  return query_format_fields(row.profile, *attr);
}

int mrc_ctl_query_ev_fmt_profile(mrc_context* context, uint64_t id, mrc_ctl_ev_fmt_profile_attr* attr, int mask) {
  if (check(context, attr, mask, kFormatMask, MRC_CTL_EV_FMT_VENDOR_CFG) != 0) return -1;
  const bool fields = (mask & MRC_CTL_EV_FMT_PROFILE_OP) != 0;
  if (fields && attr->ev_fmt_op.op != MRC_CTL_EV_FMT_OP_QUERY_FIELDS) return fail(EINVAL);
  Context& c = *context->device;
  const std::scoped_lock lock(c.mutex);
  QueryFormat::Answer row{};
  if (const int error = query(c, QueryFormat{id}, row); error != 0) return error;
  if ((mask & MRC_CTL_EV_FMT_PROFILE_STATE) != 0) attr->profile_state = to(row.profile.state);
  if ((mask & MRC_CTL_EV_FMT_PROFILE_CUR_STATE) != 0) attr->cur_profile_state = to(row.profile.current);
  if ((mask & MRC_CTL_EV_FMT_PROFILE_MODE) != 0) attr->ev_fmt_mode = static_cast<mrc_ctl_ev_fmt_mode>(row.profile.mode);
  return fields ? query_format_fields(row.profile, *attr) : 0;
}

// EVs.

int mrc_ctl_modify_ev_profile(mrc_context* context, uint64_t id, mrc_ctl_ev_profile_attr* attr, int mask) {
  if (check(context, attr, mask, kEvMask, MRC_CTL_EV_PROFILE_VENDOR_CFG) != 0) return -1;
  const bool evs = (mask & MRC_CTL_EV_PROFILE_EV_OP) != 0, fields = (mask & MRC_CTL_EV_PROFILE_EV_FIELDS_OP) != 0;
  if (evs && fields) return fail(EINVAL);
  Context& c = *context->device;
  const std::scoped_lock lock(c.mutex);
  ModifyEvProfile wanted{};
  wanted.id = id;
  wanted.with = with_of(mask, MRC_CTL_EV_PROFILE_STATE, MRC_CTL_EV_PROFILE_CUR_STATE);
  EvProfile& p = wanted.profile;
  const auto takes = [&](int bit, uint32_t with) {
    if ((mask & bit) != 0) wanted.with |= with;
  };
  takes(MRC_CTL_EV_PROFILE_MODE, With::kMode);
  takes(MRC_CTL_EV_PROFILE_FMT_ID, With::kFormat);
  takes(MRC_CTL_EV_PROFILE_COUNT, With::kCount);
  takes(MRC_CTL_EV_PROFILE_MIN_ACTIVE, With::kMinActive);
  takes(MRC_CTL_EV_PROFILE_EVENT_MASK, With::kEvents);
  p.state = from(attr->profile_state);
  p.current = from(attr->cur_profile_state);
  p.mode = static_cast<uint32_t>(attr->ev_mode);
  p.count = attr->ev_count;
  p.min_active = attr->ev_min_active;
  p.events = static_cast<uint32_t>(attr->ev_event_mask);
  p.format = attr->ev_fmt_profile_id;
  const auto& op = attr->ev_fields_op;
  const bool queries_fields = fields && op.op == MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS;
  if (fields && !queries_fields) {
    if (op.op != MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS || op.field_count < 0 || op.fields == nullptr) return fail(EINVAL);
    if (op.field_count > static_cast<int>(kMaxFields)) return fail(E2BIG);
    wanted.with |= With::kFields;
    p.fields = static_cast<uint32_t>(op.field_count);
    for (std::size_t i = 0; i < p.fields; ++i) {
      const mrc_ctl_ev_field& f = op.fields[i];
      p.field[i] = {f.width, f.init_val, f.min_val, f.max_val, f.mask};
    }
  }
  // A list comes before the step ONLINE, which needs it, and behind every other one.
  QueryEvProfile::Answer now{};
  if (const int error = query(c, QueryEvProfile{id}, now); error != 0) return error;
  const bool first = evs && now.profile.state == ProfileState::Offline;
  if (first && ev_operation(c, id, *attr, now.profile.count, true) != 0) return -1;
  Done done{};
  if (wanted.with != 0 && query(c, wanted, done) != 0) return -1;
  if ((evs && !first) || queries_fields) {
    if (const int error = query(c, QueryEvProfile{id}, now); error != 0) return error;
    return queries_fields ? query_fields(now.profile, *attr) : ev_operation(c, id, *attr, now.profile.count, true);
  }
  return 0;
}

int mrc_ctl_query_ev_profile(mrc_context* context, uint64_t id, mrc_ctl_ev_profile_attr* attr, int mask) {
  if (check(context, attr, mask, kEvMask, MRC_CTL_EV_PROFILE_VENDOR_CFG) != 0) return -1;
  const bool evs = (mask & MRC_CTL_EV_PROFILE_EV_OP) != 0, fields = (mask & MRC_CTL_EV_PROFILE_EV_FIELDS_OP) != 0;
  if ((evs && fields) || (fields && attr->ev_fields_op.op != MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS)) return fail(EINVAL);
  Context& c = *context->device;
  const std::scoped_lock lock(c.mutex);
  QueryEvProfile::Answer row{};
  if (const int error = query(c, QueryEvProfile{id}, row); error != 0) return error;
  const EvProfile& p = row.profile;
  if ((mask & MRC_CTL_EV_PROFILE_STATE) != 0) attr->profile_state = to(p.state);
  if ((mask & MRC_CTL_EV_PROFILE_CUR_STATE) != 0) attr->cur_profile_state = to(p.current);
  if ((mask & MRC_CTL_EV_PROFILE_MODE) != 0) attr->ev_mode = static_cast<mrc_ctl_ev_mode>(p.mode);
  if ((mask & MRC_CTL_EV_PROFILE_FMT_ID) != 0) attr->ev_fmt_profile_id = p.format;
  if ((mask & MRC_CTL_EV_PROFILE_COUNT) != 0) attr->ev_count = p.count;
  if ((mask & MRC_CTL_EV_PROFILE_MIN_ACTIVE) != 0) attr->ev_min_active = p.min_active;
  if ((mask & MRC_CTL_EV_PROFILE_EVENT_MASK) != 0) attr->ev_event_mask = static_cast<int>(p.events);
  if (fields) return query_fields(p, *attr);
  return evs ? ev_operation(c, id, *attr, p.count, false) : 0;
}

// Congestion control.

int mrc_ctl_modify_cc_profile(mrc_context* context, uint64_t id, mrc_ctl_cc_profile_attr* attr, int mask) {
  if (check(context, attr, mask, kCcMask, MRC_CTL_CC_PROFILE_VENDOR_CFG) != 0) return -1;
  ModifyCcProfile wanted{};
  wanted.id = id;
  wanted.with = with_of(mask, MRC_CTL_CC_PROFILE_STATE, MRC_CTL_CC_PROFILE_CUR_STATE);
  wanted.profile.state = from(attr->profile_state);
  wanted.profile.current = from(attr->cur_profile_state);
  if ((mask & MRC_CTL_CC_PROFILE_ALGORITHM) != 0) {
    if (attr->algorithm != nullptr && std::strcmp(attr->algorithm, kNscc) != 0) return fail(EINVAL);
    wanted.with |= With::kAlgorithm;
    wanted.profile.nscc = attr->algorithm != nullptr;
  }
  if ((mask & MRC_CTL_CC_PROFILE_CONFIG) != 0) {
    if (attr->cc_config == nullptr) return fail(EINVAL);
    const auto& n = *static_cast<const mrc_ctl_cc_nscc_cfg*>(attr->cc_config);
    wanted.with |= With::kConfig;
    wanted.profile.config = {n.disable_qa,
                             n.adjust_bytes_threshold,
                             n.adjust_period_threshold,
                             n.base_rtt,
                             n.eta,
                             n.fi,
                             n.fi_scale,
                             n.gamma,
                             n.max_md_jump,
                             n.max_cwnd,
                             n.qa_gate,
                             n.qa_threshold,
                             n.target_delay};
  }
  Context& c = *context->device;
  const std::scoped_lock lock(c.mutex);
  Done done{};
  return query(c, wanted, done);
}

int mrc_ctl_query_cc_profile(mrc_context* context, uint64_t id, mrc_ctl_cc_profile_attr* attr, int mask) {
  if (check(context, attr, mask, kCcMask, MRC_CTL_CC_PROFILE_VENDOR_CFG) != 0) return -1;
  Context& c = *context->device;
  const std::scoped_lock lock(c.mutex);
  QueryCcProfile::Answer row{};
  if (const int error = query(c, QueryCcProfile{id}, row); error != 0) return error;
  const CcProfile& p = row.profile;
  if ((mask & MRC_CTL_CC_PROFILE_STATE) != 0) attr->profile_state = to(p.state);
  if ((mask & MRC_CTL_CC_PROFILE_CUR_STATE) != 0) attr->cur_profile_state = to(p.current);
  if ((mask & MRC_CTL_CC_PROFILE_ALGORITHM) != 0) attr->algorithm = p.nscc != 0 ? kNscc : nullptr;
  if ((mask & MRC_CTL_CC_PROFILE_CONFIG) != 0) {
    // The program's structure, though the header has its pointer as const.
    auto* n = static_cast<mrc_ctl_cc_nscc_cfg*>(const_cast<void*>(attr->cc_config));
    if (n == nullptr) return fail(EINVAL);
    const CcConfig& k = p.config;
    *n = {static_cast<uint8_t>(k.disable_qa),
          k.adjust_bytes_threshold,
          k.adjust_period_threshold,
          k.base_rtt,
          k.eta,
          k.fi,
          k.fi_scale,
          k.gamma,
          k.max_md_jump,
          k.max_cwnd,
          static_cast<uint8_t>(k.qa_gate),
          k.qa_threshold,
          k.target_delay};
  }
  return 0;
}

// Events of EVs.

mrc_cq* mrc_ctl_create_ev_event_cq(mrc_context* context, int cqe, void* cq_context, mrc_comp_channel* channel,
                                   int comp_vector) {
  mrc_cq* cq = mrc_create_cq(context, cqe, cq_context, channel, comp_vector);
  if (cq == nullptr) return nullptr;
  const std::scoped_lock lock(context->device->mutex);
  cq->ev_events.emplace();
  context->device->ev_queues.insert(cq);
  return cq;
}

int mrc_ctl_poll_ev_event(mrc_cq* cq, int num_entries, mrc_ctl_ev_event* events) {
  if (cq == nullptr || !cq->ev_events || num_entries < 0 || (events == nullptr && num_entries > 0)) return -EINVAL;
  Context& c = *cq->owner->device;
  const std::scoped_lock lock(c.mutex);
  const int error = cq->ev_events->empty() ? c.connection.poll() : 0;
  int taken = 0;
  for (; taken < num_entries && !cq->ev_events->empty(); ++taken) {
    const mrc_ctl_ev_event& event = cq->ev_events->front();
    // A program of (1,0,0) has no room for the state.
    if (cq->owner->version >= MRC_API_VER(1, 0, 1)) {
      events[taken] = event;
    } else {
      constexpr std::size_t kOld = offsetof(mrc_ctl_ev_event, state);
      std::memcpy(reinterpret_cast<uint8_t*>(events) + static_cast<std::size_t>(taken) * kOld, &event, kOld);
    }
    cq->ev_events->pop_front();
  }
  if (taken == 0 && error != 0) return -error;
  if (taken == 0) sched_yield();
  return taken;
}

// Requests to endpoints.

int mrc_ctl_ep_batch_send_wait(mrc_context* context, uint8_t tc, mrc_ctl_ep_op_type op, mrc_ctl_ep_req* req,
                               int num_req, uint32_t timeout, mrc_ctl_ep_rsp* rsp, int* num_rsp) {
  if (context == nullptr || req == nullptr || rsp == nullptr || num_rsp == nullptr || num_req < 1 || num_req > kBatch ||
      tc > 63 || static_cast<unsigned>(op) > MRC_CTL_EP_OP_PORT_STATUS_UPDATE)
    return fail(EINVAL);
  Context& c = *context->device;
  const std::scoped_lock lock(c.mutex);
  *num_rsp = 0;
  for (int i = 0; i < num_req; ++i) {
    const mrc_ctl_ep_req& r = req[i];
    const bool again = std::any_of(req, req + i, [&](const mrc_ctl_ep_req& o) { return o.req_id == r.req_id; });
    if (again || r.req_ev.port < 1 || r.req_ev.port > c.device->row.planes ||
        std::memcmp(r.sgid.raw, c.device->row.gid.data(), sizeof r.sgid.raw) != 0)
      return fail(EINVAL);
    if (r.ev_fmt_mode != MRC_CTL_EV_FMT_MODE_STEV && r.ev_fmt_mode != MRC_CTL_EV_FMT_MODE_UDP) {
      c.say("mrc_ctl_ep_batch_send_wait: requests go by flow label and source port, not by SRv6 (ENOTSUP)");
      return fail(ENOTSUP);
    }
  }
  c.connection.on_ep_answer = [&](const EpAnswer& a) {
    if (*num_rsp < num_req)
      rsp[(*num_rsp)++] = {static_cast<uint16_t>(a.id), static_cast<uint8_t>(a.port), a.rtt_ns, 0};
  };
  int error = 0;
  for (int i = 0; i < num_req && error == 0; ++i) {
    const mrc_ctl_ep_req& r = req[i];
    EpRequest message{};
    message.id = r.req_id;
    message.op = op == MRC_CTL_EP_OP_EV_PROBE ? 1 : 0;
    message.dscp = tc;
    message.port = r.req_ev.port;
    message.ports_up =
        op == MRC_CTL_EP_OP_EV_PROBE ? ((1u << c.device->row.planes) - 1) << 1 : r.op.port_status_update.port_status;
    const uint8_t* v = r.req_ev.val;
    message.ev = static_cast<uint32_t>(v[0]) << 24 | static_cast<uint32_t>(v[1]) << 16;
    if (r.ev_fmt_mode == MRC_CTL_EV_FMT_MODE_STEV) message.ev |= static_cast<uint32_t>(v[2]) << 8 | v[3];
    std::memcpy(message.to.data(), r.dgid.raw, message.to.size());
    error = c.connection.report(message);
  }
  Number answered{};
  if (error == 0) error = c.connection.query(EpWait{timeout}, answered);
  c.connection.on_ep_answer = nullptr;
  return error == 0 ? 0 : fail(error);
}

}  // extern "C"
