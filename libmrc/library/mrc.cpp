// SPDX-License-Identifier: Apache-2.0
/// mrc.h over the NICs of a host.
#include <endian.h>
#include <mrc.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <span>

#include "libmrc/library/objects.hpp"

using namespace mrc::libmrc;

namespace {

constexpr int kMaxCqe = 1 << 20;

ibv_wc_status verbs_status(Status status) {
  switch (status) {
    case Status::Success:
      return IBV_WC_SUCCESS;
    case Status::LocalLength:
      return IBV_WC_LOC_LEN_ERR;
    case Status::LocalProtection:
      return IBV_WC_LOC_PROT_ERR;
    case Status::LocalOperation:
      return IBV_WC_LOC_QP_OP_ERR;
    case Status::Flushed:
      return IBV_WC_WR_FLUSH_ERR;
    case Status::RemoteInvalid:
      return IBV_WC_REM_INV_REQ_ERR;
    case Status::RemoteAccess:
      return IBV_WC_REM_ACCESS_ERR;
    case Status::RemoteOperation:
      return IBV_WC_REM_OP_ERR;
    case Status::RetryExceeded:
      return IBV_WC_RETRY_EXC_ERR;
    case Status::Fatal:
      break;
  }
  return IBV_WC_FATAL_ERR;
}

void signal(int descriptor) { eventfd_write(descriptor, 1); }
void unsignal(int descriptor) {
  eventfd_t ignored = 0;
  eventfd_read(descriptor, &ignored);
}

void happened(mrc_context& context, const mrc_async_event& event) {
  context.events.push_back(event);
  signal(context.device->events);
}

void take(Context& c, const PortChange& change) {
  mrc_async_event event{};
  event.element.port_num = static_cast<int>(change.port);
  event.event_type = change.up != 0 ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR;
  for (mrc_context* context : c.contexts) happened(*context, event);
}

void take(Context& c, const Failure& failure) {
  const auto found = c.qps.find(failure.qp);
  if (found == c.qps.end()) return;
  found->second->state = State::Error;
  mrc_async_event event{};
  event.element.qp = found->second;
  event.event_type = IBV_EVENT_QP_FATAL;
  happened(*found->second->owner, event);
}

/// Of a queue pair that is there; its context's mutex is held.
void take(Context& c, const Completion& completion) {
  const auto found = c.qps.find(completion.qp);
  if (found == c.qps.end()) return;
  mrc_qp& qp = *found->second;
  const bool receive = completion.receive != 0;
  mrc_cq& cq = *(receive ? qp.init.recv_cq : qp.init.send_cq);
  mrc_cq::Entry entry{};
  entry.qp = &qp;
  entry.retires = completion.retires;
  ibv_wc& wc = entry.wc;
  wc.wr_id = completion.wr_id;
  wc.status = verbs_status(completion.status);
  wc.qp_num = completion.qp;
  wc.byte_len = completion.bytes;
  wc.opcode = receive ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RDMA_WRITE;
  if (receive && completion.with_imm != 0) {
    wc.imm_data = htobe32(completion.imm);
    wc.wc_flags = IBV_WC_WITH_IMM;
  }
  if (completion.status != Status::Success) qp.state = State::Error;
  if (cq.entries.size() >= cq.room) {
    if (cq.overrun) return;
    c.say("a completion queue has overrun: from now on polling it fails");
    cq.overrun = true;
    mrc_async_event event{};
    event.element.cq = &cq;
    event.event_type = IBV_EVENT_CQ_ERR;
    return happened(*cq.owner, event);
  }
  cq.entries.push_back(entry);
  // The wire does not say which immediates are solicited: all are.
  notify(cq, receive || completion.status != Status::Success);
}

int refuse(Context& c, int error, const std::string& sentence) {
  c.say(sentence + " (" + strerrorname_np(error) + ")");
  errno = error;
  return error;
}

uint32_t bytes_of(uint32_t mtu) { return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0; }
ibv_mtu mtu_of(uint32_t bytes) {
  int mtu = IBV_MTU_256;
  while (mtu < IBV_MTU_4096 && 128u << mtu < bytes) ++mtu;
  return static_cast<ibv_mtu>(mtu);
}

State state_of(uint32_t state) {
  switch (state) {
    case IBV_QPS_RESET:
      return State::Reset;
    case IBV_QPS_INIT:
      return State::Init;
    case IBV_QPS_RTR:
      return State::Rtr;
    case IBV_QPS_RTS:
      return State::Rts;
    case IBV_QPS_ERR:
      return State::Error;
    default:
      return static_cast<State>(~0u);  // SQD and SQE: MRC has none
  }
}
ibv_qp_state verbs_state(State state) {
  constexpr ibv_qp_state kStates[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_ERR};
  return kStates[static_cast<uint32_t>(state)];
}

constexpr int kNoMeaning = IBV_QP_PORT | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MIN_RNR_TIMER |
                           IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ALT_PATH |
                           IBV_QP_PATH_MIG_STATE;
constexpr int kMeaning = IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_AV |
                         IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_SQ_PSN;
constexpr int kMrcMask = MRC_QP_MAX_WIMM | MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR | MRC_QP_MPR_DEST | MRC_QP_TIMEOUT |
                         MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID | MRC_QP_HINT | MRC_QP_RETRY_CNT | MRC_QP_CAP |
                         MRC_QP_VENDOR_CFG;

/// libibverbs' attributes as the host has them.
int from_verbs(Context& c, const ibv_qp_attr& v, int mask, ModifyQp& m) {
  if ((mask & ~(kMeaning | kNoMeaning)) != 0)
    return refuse(c, ENOTSUP, "mrc_modify_qp: an attribute of libibverbs that MRC has no use for");
  if ((mask & kNoMeaning) != 0) c.say("mrc_modify_qp: attributes of libibverbs without a meaning here are ignored");
  QpAttributes& a = m.attributes;
  const auto with = [&m](Attribute attribute) { m.with |= bit(attribute); };
  if ((mask & IBV_QP_STATE) != 0) {
    with(Attribute::State);
    a.state = state_of(plain(v.qp_state));
    if (a.state > State::Error) return refuse(c, EINVAL, "mrc_modify_qp: MRC has no such state");
  }
  if ((mask & IBV_QP_CUR_STATE) != 0) {
    with(Attribute::CurrentState);
    a.current = state_of(plain(v.cur_qp_state));
  }
  if ((mask & IBV_QP_PKEY_INDEX) != 0 && v.pkey_index != 0) return refuse(c, EINVAL, "mrc_modify_qp: one P_Key");
  if ((mask & IBV_QP_ACCESS_FLAGS) != 0) {
    with(Attribute::Access);
    a.remote_write = (v.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) != 0;
  }
  if ((mask & IBV_QP_AV) != 0) {
    if (v.ah_attr.is_global == 0 || v.ah_attr.grh.sgid_index != 0)
      return refuse(c, EINVAL, "mrc_modify_qp: a path has a GID, and is from GID 0");
    with(Attribute::Path);
    std::memcpy(a.gid.data(), v.ah_attr.grh.dgid.raw, a.gid.size());
    a.traffic_class = v.ah_attr.grh.traffic_class;
  }
  if ((mask & IBV_QP_PATH_MTU) != 0) {
    with(Attribute::PathMtu);
    a.mtu = bytes_of(plain(v.path_mtu));
  }
  if ((mask & IBV_QP_DEST_QPN) != 0) {
    with(Attribute::PeerQp);
    a.peer_qp = v.dest_qp_num;
  }
  if ((mask & IBV_QP_RQ_PSN) != 0) {
    with(Attribute::RqPsn);
    a.rq_psn = v.rq_psn;
  }
  if ((mask & IBV_QP_SQ_PSN) != 0) {
    with(Attribute::SqPsn);
    a.sq_psn = v.sq_psn;
  }
  return 0;
}

int from_mrc(Context& c, const mrc_qp_attr& v, int mask, ModifyQp& m) {
  if ((mask & ~kMrcMask) != 0) return refuse(c, EINVAL, "mrc_modify_qp: an attribute that mrc.h does not have");
  if ((mask & MRC_QP_VENDOR_CFG) != 0) return refuse(c, ENOTSUP, "mrc_modify_qp: we have no vendor_cfg");
  QpAttributes& a = m.attributes;
  const auto with = [&](int mrc, Attribute attribute) {
    if ((mask & mrc) == 0) return false;
    m.with |= bit(attribute);
    return true;
  };
  if (with(MRC_QP_MAX_WIMM, Attribute::MaxWimm)) a.max_wimm = v.wimm.max_wimm;
  if (with(MRC_QP_MAX_WIMM_DEST, Attribute::MaxWimmDest)) a.max_wimm_dest = v.wimm.max_wimm_dest;
  if (with(MRC_QP_MPR, Attribute::Mpr)) a.mpr = v.mpr.mpr;
  if (with(MRC_QP_MPR_DEST, Attribute::MprDest)) a.mpr_dest = v.mpr.mpr_dest;
  if (with(MRC_QP_TIMEOUT, Attribute::Timeout)) a.timeout = v.timeout;
  if (with(MRC_QP_EV_PROFILE_ID, Attribute::EvProfile)) a.ev_profile = v.profile.ev_profile_id;
  if (with(MRC_QP_CC_PROFILE_ID, Attribute::CcProfile)) a.cc_profile = v.profile.cc_profile_id;
  if (with(MRC_QP_RETRY_CNT, Attribute::Retry)) {
    a.retry_linear = v.retry.linear_cnt;
    a.retry_exp = v.retry.exp_cnt;
  }
  if (with(MRC_QP_CAP, Attribute::Cap)) {
    const uint32_t caps = c.device->row.caps;
    a.dynamic_mpr = (v.cap & MRC_QP_CAP_DYNAMIC_MPR) != 0;
    a.trim_nack = (caps & MRC_DEVICE_CAP_TRIM_NACK) != 0 && (v.cap & MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED) == 0;
    a.svc_time = (caps & MRC_DEVICE_CAP_SVC_TIME) != 0 && (v.cap & MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED) == 0;
    if (a.dynamic_mpr != 0 && (caps & MRC_DEVICE_CAP_DYNAMIC_MPR) == 0)
      return refuse(c, ENOTSUP, "mrc_modify_qp: this device has no dynamic MPR");
  }
  return 0;
}

constexpr uint64_t kMaxBytes = uint64_t{1} << 31;  ///< of a message

/// Tells the host of a work request, and where its bytes are.
int report(Context& c, PostSend& post, std::span<const ibv_sge> list, bool is_inline) {
  if (is_inline && post.bytes > 0) {
    PostInline message{post, {}};
    uint8_t* to = message.data.data();
    for (const ibv_sge& sge : list) {
      std::memcpy(to, std::bit_cast<const void*>(sge.addr), sge.length);
      to += sge.length;
    }
    return c.connection.report(message);
  }
  if (list.size() > 1 && post.bytes > 0) {
    PostGather message{post, list.size(), {}};
    for (std::size_t i = 0; i < list.size(); ++i) message.piece[i] = {list[i].addr, list[i].lkey, list[i].length};
    return c.connection.report(message);
  }
  if (!list.empty()) {
    post.key = list.front().lkey;
    post.address = list.front().addr;
  }
  return c.connection.report(post);
}

constexpr uint32_t kMaxHints = 1 << 16;
constexpr int kHintMask = MRC_QP_HINT_NUM_QPS_PER_PEER | MRC_QP_HINT_NUM_SEND_PEERS |
                          MRC_QP_HINT_NUM_REMOTE_RECV_PEERS | MRC_QP_HINT_VENDOR_CFG;

bool is_hint(const mrc_qp_hint_attr& a) {
  return a.num_qps_per_peer >= 0 && a.num_send_peers >= 0 && a.num_remote_recv_peers >= 0;
}

void copy_hint(const mrc_qp_hint_attr& from, mrc_qp_hint_attr& to, int mask) {
  if ((mask & MRC_QP_HINT_NUM_QPS_PER_PEER) != 0) to.num_qps_per_peer = from.num_qps_per_peer;
  if ((mask & MRC_QP_HINT_NUM_SEND_PEERS) != 0) to.num_send_peers = from.num_send_peers;
  if ((mask & MRC_QP_HINT_NUM_REMOTE_RECV_PEERS) != 0) to.num_remote_recv_peers = from.num_remote_recv_peers;
  if ((mask & MRC_QP_HINT_VENDOR_CFG) != 0) std::ranges::copy(from.vendor_cfg, to.vendor_cfg);
}

void take(Context& c, const EvEvent& event) {
  for (mrc_cq* cq : c.ev_queues) {
    if (cq->ev_events->size() >= cq->room) {
      ++cq->dropped;
      continue;
    }
    mrc_ctl_ev_event entry{};
    entry.profile_id = event.profile;
    std::memcpy(entry.ev.val, event.ev.value.data(), sizeof entry.ev.val);
    entry.ev.port = static_cast<uint8_t>(event.ev.port);
    entry.drop_count = cq->dropped;
    entry.state = static_cast<mrc_ctl_ev_state>(event.state);
    cq->dropped = 0;
    cq->ev_events->push_back(entry);
    notify(*cq, true);
  }
}

}  // namespace

namespace mrc::libmrc {

void notify(mrc_cq& cq, bool solicited) {
  if (cq.channel == nullptr || cq.armed == mrc_cq::Armed::No) return;
  if (cq.armed == mrc_cq::Armed::Solicited && !solicited) return;
  cq.armed = mrc_cq::Armed::No;
  cq.channel->events.push_back(&cq);
  signal(cq.channel->signal);
}

}  // namespace mrc::libmrc

extern "C" {

// Versions, devices, contexts.

void mrc_query_version(uint32_t* current, uint32_t* oldest, uint32_t* vendor, uint32_t* oldest_vendor) {
  if (current != nullptr) *current = MRC_API_CURRENT_VERSION;
  if (oldest != nullptr) *oldest = MRC_API_LAST_SUPPORTED_VERSION;
  if (vendor != nullptr) *vendor = MRC_VENDOR_API_CURRENT_VERSION;
  if (oldest_vendor != nullptr) *oldest_vendor = MRC_VENDOR_API_LAST_SUPPORTED_VERSION;
}

int mrc_query_device(ibv_context* context, mrc_device_attr* attr, int* supported) {
  if (attr == nullptr || supported == nullptr) return fail(EINVAL);
  const Context* c = context_of(context);
  *supported = c != nullptr;
  *attr = {};
  if (c == nullptr) return 0;
  const DeviceRow& row = c->device->row;
  attr->mrc_protocol_version = MRC_PROTOCOL_VERSION_1;
  attr->wimm_attr = {static_cast<uint16_t>(row.max_wimm), static_cast<uint16_t>(row.max_wimm)};
  attr->mpr_attr = {static_cast<uint8_t>(row.max_mpr), 1};
  attr->qp_attr.max_qp_hint = kMaxHints;
  attr->cap = row.caps;
  return 0;
}

int mrc_query_device_ex(ibv_context* context, mrc_context* mcontext, mrc_device_attr* attr, int* supported) {
  if (mcontext == nullptr || &mcontext->device->base != context) return fail(EINVAL);
  return mrc_query_device(context, attr, supported);
}

mrc_context* mrc_create_context(ibv_context* vcontext, mrc_context_attr* attr) {
  Context* c = context_of(vcontext);
  if (c == nullptr) {
    errno = vcontext == nullptr ? EINVAL : ENOTSUP;  // somebody else's device
    return nullptr;
  }
  const std::scoped_lock lock(c->mutex);
  const uint32_t version = attr == nullptr ? 0 : attr->mrc_api_version_used;
  const uint32_t vendor = attr == nullptr ? 0 : attr->mrc_vendor_api_version_used;
  if (version > MRC_API_CURRENT_VERSION || vendor > MRC_VENDOR_API_CURRENT_VERSION) {
    refuse(*c, EINVAL, "mrc_create_context: the program is written for a newer version than (1,0,1)");
    return nullptr;
  }
  auto* context = new (std::nothrow) mrc_context;
  if (context == nullptr) return nullptr;
  context->device = c;
  context->version = version == 0 ? MRC_API_CURRENT_VERSION : version;
  if (!c->connection.on_completion) {
    c->connection.on_completion = [c](const Completion& x) { take(*c, x); };
    c->connection.on_failure = [c](const Failure& x) { take(*c, x); };
    c->connection.on_port = [c](const PortChange& x) { take(*c, x); };
    c->connection.on_ev_event = [c](const EvEvent& x) { take(*c, x); };
  }
  c->contexts.insert(context);
  return context;
}

int mrc_destroy_context(mrc_context* context) {
  if (context == nullptr) return fail(EINVAL);
  Context& c = *context->device;
  const std::scoped_lock lock(c.mutex);
  if (context->objects != 0) {
    return fail(refuse(c, EBUSY, "mrc_destroy_context: queues or hints are left"));
  }
  c.contexts.erase(context);
  delete context;
  return 0;
}

// Completion queues.

mrc_cq* mrc_create_cq(mrc_context* context, int cqe, void* cq_context, mrc_comp_channel* channel, int comp_vector) {
  if (context == nullptr) {
    errno = EINVAL;
    return nullptr;
  }
  Context& c = *context->device;
  const std::scoped_lock lock(c.mutex);
  if (channel != nullptr && channel->owner->device != &c) {
    refuse(c, EINVAL, "mrc_create_cq: a channel of another device");
    return nullptr;
  }
  if (cqe < 1 || cqe > kMaxCqe || comp_vector != 0) {
    refuse(c, EINVAL, "mrc_create_cq: 1 to 2^20 entries, and completion vector 0");
    return nullptr;
  }
  auto* cq = new (std::nothrow) mrc_cq;
  if (cq == nullptr) return nullptr;
  cq->owner = context;
  cq->context = cq_context;
  cq->room = static_cast<std::size_t>(cqe);
  cq->channel = channel;
  if (channel != nullptr) ++channel->cqs;
  ++context->objects;
  return cq;
}

int mrc_destroy_cq(mrc_cq* cq) {
  if (cq == nullptr) return EINVAL;
  Context& c = *cq->owner->device;
  std::unique_lock lock(c.mutex);
  if (cq->qps != 0) return refuse(c, EBUSY, "mrc_destroy_cq: queue pairs have it");
  if (cq->channel != nullptr) {
    std::erase(cq->channel->events, cq);
    --cq->channel->cqs;
  }
  std::erase_if(cq->owner->events,
                [cq](const mrc_async_event& e) { return e.event_type == IBV_EVENT_CQ_ERR && e.element.cq == cq; });
  c.acknowledged.wait(lock, [cq] { return cq->open_events == 0; });
  --cq->owner->objects;
  c.ev_queues.erase(cq);
  delete cq;
  return 0;
}

int mrc_poll_cq(mrc_cq* cq, int num_entries, ibv_wc* wc) {
  if (cq == nullptr || cq->ev_events || num_entries < 0 || (wc == nullptr && num_entries > 0)) return fail(EINVAL);
  Context& c = *cq->owner->device;
  int taken = 0;
  {
    const std::scoped_lock lock(c.mutex);
    if (cq->overrun) return fail(EIO);
    const int error = cq->entries.empty() ? c.connection.poll() : 0;
    for (; taken < num_entries && !cq->entries.empty(); ++taken) {
      const mrc_cq::Entry& entry = cq->entries.front();
      wc[taken] = entry.wc;
      (entry.wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM ? entry.qp->recv_used : entry.qp->send_used) -= entry.retires;
      cq->entries.pop_front();
    }
    if (taken == 0 && error != 0) return fail(error);
  }
  if (taken == 0) sched_yield();  // the NIC is a process, too
  return taken;
}

int mrc_create_comp_channel(mrc_context* context, mrc_comp_channel** channel) {
  if (context == nullptr || channel == nullptr) return errno = EINVAL;
  auto* made = new (std::nothrow) mrc_comp_channel;
  if (made == nullptr) return errno = ENOMEM;
  const std::scoped_lock lock(context->device->mutex);
  made->owner = context;
  made->signal = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  made->descriptor = either(context->device->connection.socket(), made->signal);
  if (made->descriptor < 0) {
    const int error = errno;
    close(made->signal);
    delete made;
    return errno = error;
  }
  ++context->objects;
  *channel = made;
  return 0;
}

int mrc_get_comp_channel_fd(mrc_comp_channel* channel, int* fd) {
  if (channel == nullptr || fd == nullptr) return fail(EINVAL);
  *fd = channel->descriptor;
  return 0;
}

int mrc_destroy_comp_channel(mrc_comp_channel* channel) {
  if (channel == nullptr) return errno = EINVAL;
  Context& c = *channel->owner->device;
  const std::scoped_lock lock(c.mutex);
  if (channel->cqs != 0) return refuse(c, EBUSY, "mrc_destroy_comp_channel: completion queues have it");
  close(channel->descriptor);
  close(channel->signal);
  --channel->owner->objects;
  delete channel;
  return 0;
}

int mrc_req_notify_cq(mrc_cq* cq, int solicited_only) {
  if (cq == nullptr) return errno = EINVAL;
  Context& c = *cq->owner->device;
  const std::scoped_lock lock(c.mutex);
  if (cq->channel == nullptr) return refuse(c, EINVAL, "mrc_req_notify_cq: the queue has no channel");
  if (cq->armed != mrc_cq::Armed::Any) cq->armed = solicited_only != 0 ? mrc_cq::Armed::Solicited : mrc_cq::Armed::Any;
  return 0;
}

int mrc_get_cq_event(mrc_comp_channel* channel, mrc_cq** cq, void** cq_context) {
  if (channel == nullptr || cq == nullptr || cq_context == nullptr) return fail(EINVAL);
  Context& c = *channel->owner->device;
  do {
    const std::scoped_lock lock(c.mutex);
    const int error = channel->events.empty() ? c.connection.poll() : 0;
    if (!channel->events.empty()) {
      *cq = channel->events.front();
      *cq_context = (*cq)->context;
      ++(*cq)->open_events;
      channel->events.pop_front();
      if (channel->events.empty()) unsignal(channel->signal);
      return 0;
    }
    if (error != 0) return fail(error);
  } while (wait_for(channel->descriptor));
  return -1;
}

void mrc_ack_cq_events(mrc_cq* cq, unsigned int nevents) {
  if (cq == nullptr) return;
  Context& c = *cq->owner->device;
  const std::scoped_lock lock(c.mutex);
  cq->open_events -= std::min<uint64_t>(nevents, cq->open_events);
  c.acknowledged.notify_all();
}

int mrc_get_async_event(mrc_context* context, mrc_async_event* event) {
  if (context == nullptr || event == nullptr) return fail(EINVAL);
  Context& c = *context->device;
  do {
    const std::scoped_lock lock(c.mutex);
    const int error = context->events.empty() ? c.connection.poll() : 0;
    if (!context->events.empty()) {
      *event = context->events.front();
      context->events.pop_front();
      if (event->event_type == IBV_EVENT_CQ_ERR) ++event->element.cq->open_events;
      if (event->event_type == IBV_EVENT_QP_FATAL) ++event->element.qp->open_events;
      if (std::ranges::all_of(c.contexts, [](const mrc_context* x) { return x->events.empty(); })) unsignal(c.events);
      return 0;
    }
    if (error != 0) return fail(error);
  } while (wait_for(c.base.async_fd));
  return -1;
}

void mrc_ack_async_event(mrc_async_event* event) {
  if (event == nullptr) return;
  const auto acknowledge = [](auto& object) {
    Context& c = *object.owner->device;
    const std::scoped_lock lock(c.mutex);
    if (object.open_events > 0) --object.open_events;
    c.acknowledged.notify_all();
  };
  if (event->event_type == IBV_EVENT_CQ_ERR) acknowledge(*event->element.cq);
  if (event->event_type == IBV_EVENT_QP_FATAL) acknowledge(*event->element.qp);
}

// Queue pairs.

mrc_qp* mrc_create_qp(mrc_context* context, mrc_qp_init_attr* attr) {
  const auto no = [](int error) -> mrc_qp* {
    errno = error;
    return nullptr;
  };
  if (context == nullptr || attr == nullptr || attr->pd == nullptr || attr->send_cq == nullptr ||
      attr->recv_cq == nullptr)
    return no(EINVAL);
  Context& c = *context->device;
  const std::scoped_lock lock(c.mutex);
  constexpr uint64_t kOps = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
  if (attr->send_cq->ev_events || attr->recv_cq->ev_events)
    return no(refuse(c, EINVAL, "mrc_create_qp: a queue for EV events takes no completions"));
  if (attr->pd->context != &c.base || attr->send_cq->owner->device != &c || attr->recv_cq->owner->device != &c)
    return no(refuse(c, EINVAL, "mrc_create_qp: PD or completion queues of another device"));
  if ((attr->send_ops_flags & ~kOps) != 0)
    return no(refuse(c, ENOTSUP, "mrc_create_qp: MRC has WRITE and WRITE with immediate alone"));
  if (plain(attr->protocol_version) > MRC_PROTOCOL_VERSION_1)
    return no(refuse(c, ENOTSUP, "mrc_create_qp: MRC_PROTOCOL_VERSION_1 alone"));
  if (attr->cap.max_send_sge > kMaxPieces || attr->cap.max_recv_sge > kMaxPieces ||
      attr->cap.max_inline_data > kMaxInline)
    return no(refuse(c, EINVAL, "mrc_create_qp: 8 scatter/gather entries and 256 bytes inline at most"));
  auto* qp = new (std::nothrow) mrc_qp;
  if (qp == nullptr) return nullptr;
  qp->owner = context;
  qp->init = *attr;
  Number number{};
  const int error = c.connection.query(
      CreateQp{attr->pd->handle, attr->sq_sig_all != 0, attr->cap.max_send_wr, attr->cap.max_recv_wr}, number);
  if (error != 0) {
    delete qp;
    return no(error);
  }
  qp->number = number.value;
  c.qps[qp->number] = qp;
  ++context->objects;
  ++attr->send_cq->qps;
  ++attr->recv_cq->qps;
  return qp;
}

int mrc_destroy_qp(mrc_qp* qp) {
  if (qp == nullptr) return EINVAL;
  Context& c = *qp->owner->device;
  std::unique_lock lock(c.mutex);
  Done done{};
  if (const int error = c.connection.query(DestroyQp{qp->number}, done); error != 0 && error != EIO) return error;
  for (mrc_cq* cq : {qp->init.send_cq, qp->init.recv_cq}) {
    std::erase_if(cq->entries, [qp](const mrc_cq::Entry& e) { return e.qp == qp; });
    --cq->qps;
  }
  c.qps.erase(qp->number);
  std::erase_if(qp->owner->events,
                [qp](const mrc_async_event& e) { return e.event_type == IBV_EVENT_QP_FATAL && e.element.qp == qp; });
  c.acknowledged.wait(lock, [qp] { return qp->open_events == 0; });
  if (qp->hint != nullptr) --qp->hint->qps;
  --qp->owner->objects;
  delete qp;
  return 0;
}

int mrc_get_qpn(mrc_qp* qp, uint32_t* qpn) {
  if (qp == nullptr || qpn == nullptr) return fail(EINVAL);
  *qpn = qp->number;
  return 0;
}

int mrc_modify_qp(mrc_qp* qp, ibv_qp_attr* vattr, int vattr_mask, mrc_qp_attr* mrc_attr, int mrc_attr_mask) {
  if (qp == nullptr || (vattr == nullptr && vattr_mask != 0) || (mrc_attr == nullptr && mrc_attr_mask != 0))
    return EINVAL;
  Context& c = *qp->owner->device;
  const std::scoped_lock lock(c.mutex);
  ModifyQp wanted{};
  wanted.qp = qp->number;
  int error = vattr_mask == 0 ? 0 : from_verbs(c, *vattr, vattr_mask, wanted);
  if (error == 0 && mrc_attr_mask != 0) error = from_mrc(c, *mrc_attr, mrc_attr_mask, wanted);
  mrc_qp_hint* const hint = (mrc_attr_mask & MRC_QP_HINT) != 0 ? mrc_attr->qp_hint : qp->hint;
  if (error == 0 && hint != nullptr && hint->owner->device != &c)
    error = refuse(c, EINVAL, "mrc_modify_qp: a hint of another device");
  Done done{};
  if (error == 0) error = c.connection.query(wanted, done);
  if (error != 0) return errno = error;
  if (qp->hint != nullptr) --qp->hint->qps;
  if (hint != nullptr) ++hint->qps;
  qp->hint = hint;
  if ((vattr_mask & IBV_QP_STATE) != 0) qp->state = wanted.attributes.state;
  if (qp->state == State::Reset) {
    qp->send_used = qp->recv_used = 0;
    for (mrc_cq* cq : {qp->init.send_cq, qp->init.recv_cq})
      std::erase_if(cq->entries, [qp](const mrc_cq::Entry& e) { return e.qp == qp; });
  }
  return 0;
}

int mrc_query_qp(mrc_qp* qp, ibv_qp_attr* vattr, int, mrc_qp_attr* mrc_attr, int, mrc_qp_init_attr* init_attr) {
  if (qp == nullptr) return EINVAL;
  Context& c = *qp->owner->device;
  const std::scoped_lock lock(c.mutex);
  QpRow row{};
  if (const int error = c.connection.query(QueryQp{qp->number}, row); error != 0) return errno = error;
  const QpAttributes& a = row.attributes;
  if (vattr != nullptr) {
    *vattr = {};
    vattr->qp_state = vattr->cur_qp_state = verbs_state(a.state);
    vattr->path_mtu = mtu_of(a.mtu);
    vattr->rq_psn = a.rq_psn;
    vattr->sq_psn = a.sq_psn;
    vattr->dest_qp_num = a.peer_qp;
    vattr->qp_access_flags = IBV_ACCESS_LOCAL_WRITE | (a.remote_write != 0 ? IBV_ACCESS_REMOTE_WRITE : 0);
    vattr->cap = qp->init.cap;
    vattr->port_num = 1;
    vattr->ah_attr.is_global = 1;
    vattr->ah_attr.port_num = 1;
    vattr->ah_attr.grh.traffic_class = static_cast<uint8_t>(a.traffic_class);
    std::memcpy(vattr->ah_attr.grh.dgid.raw, a.gid.data(), a.gid.size());
  }
  if (mrc_attr != nullptr) {
    *mrc_attr = {};
    mrc_attr->mpr = {static_cast<uint8_t>(a.mpr), static_cast<uint8_t>(a.mpr_dest)};
    mrc_attr->wimm = {static_cast<uint16_t>(a.max_wimm), static_cast<uint16_t>(a.max_wimm_dest)};
    mrc_attr->timeout = static_cast<uint8_t>(a.timeout);
    mrc_attr->profile = {a.ev_profile, a.cc_profile};
    mrc_attr->retry = {static_cast<uint8_t>(a.retry_linear), static_cast<uint8_t>(a.retry_exp)};
    mrc_attr->qp_hint = qp->hint;
    if (a.dynamic_mpr != 0) mrc_attr->cap |= MRC_QP_CAP_DYNAMIC_MPR;
    if (a.trim_nack == 0) mrc_attr->cap |= MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED;
    if (a.svc_time == 0) mrc_attr->cap |= MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED;
  }
  if (init_attr != nullptr) *init_attr = qp->init;
  return 0;
}

int mrc_post_send(mrc_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  if (qp == nullptr) return EINVAL;
  Context& c = *qp->owner->device;
  const std::scoped_lock lock(c.mutex);
  const auto no = [&](int error, const std::string& sentence) {
    if (bad_wr != nullptr) *bad_wr = wr;
    return refuse(c, error, "mrc_post_send: " + sentence);
  };
  for (; wr != nullptr; wr = wr->next) {
    const uint32_t opcode = plain(wr->opcode);
    const bool immediate = opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    if (!immediate && opcode != IBV_WR_RDMA_WRITE) return no(EINVAL, "MRC has WRITE and WRITE with immediate alone");
    if (qp->state < State::Rts) return no(EINVAL, "the queue pair is not in RTS");
    const bool is_inline = (wr->send_flags & IBV_SEND_INLINE) != 0;
    if (wr->num_sge < 0 || wr->num_sge > static_cast<int>(std::max(1u, qp->init.cap.max_send_sge)) ||
        (wr->num_sge > 0 && wr->sg_list == nullptr))
      return no(EINVAL, "there are more scatter/gather entries than max_send_sge");
    const std::span<const ibv_sge> list(wr->sg_list, static_cast<std::size_t>(wr->num_sge));
    uint64_t bytes = 0;
    for (const ibv_sge& sge : list) bytes += sge.length;
    if (bytes > kMaxBytes) return no(EINVAL, "a message has 2^31 bytes at most");
    if (is_inline && bytes > qp->init.cap.max_inline_data)
      return no(EINVAL, "there is more inline than max_inline_data");
    if (qp->send_used >= qp->init.cap.max_send_wr) return no(ENOMEM, "the send queue is full");
    PostSend post{};
    post.qp = qp->number;
    post.wr_id = wr->wr_id;
    post.bytes = static_cast<uint32_t>(bytes);
    post.remote = wr->wr.rdma.remote_addr;
    post.rkey = wr->wr.rdma.rkey;
    post.immediate = immediate;
    if (immediate) post.imm = be32toh(wr->imm_data);
    post.signaled = (wr->send_flags & IBV_SEND_SIGNALED) != 0;
    post.solicited = (wr->send_flags & IBV_SEND_SOLICITED) != 0;
    if (const int error = report(c, post, list, is_inline); error != 0) {
      if (bad_wr != nullptr) *bad_wr = wr;
      return errno = error;
    }
    ++qp->send_used;
  }
  return 0;
}

int mrc_post_recv(mrc_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  if (qp == nullptr) return fail(EINVAL);
  Context& c = *qp->owner->device;
  const std::scoped_lock lock(c.mutex);
  const auto no = [&](int error, const std::string& sentence) {
    if (bad_wr != nullptr) *bad_wr = wr;
    return fail(refuse(c, error, "mrc_post_recv: " + sentence));
  };
  for (; wr != nullptr; wr = wr->next) {
    if (qp->state == State::Reset) return no(EINVAL, "the queue pair is in RESET");
    if (wr->num_sge < 0 || wr->num_sge > static_cast<int>(std::max(1u, qp->init.cap.max_recv_sge)))
      return no(EINVAL, "there are more scatter/gather entries than max_recv_sge");
    if (qp->recv_used >= qp->init.cap.max_recv_wr) return no(ENOMEM, "the receive queue is full");
    if (const int error = c.connection.report(PostRecv{qp->number, 0, wr->wr_id}); error != 0) {
      if (bad_wr != nullptr) *bad_wr = wr;
      return fail(error);
    }
    ++qp->recv_used;
  }
  return 0;
}

// Hints. Our NIC has no use for them; a program gets back what it has set.

mrc_qp_hint* mrc_create_qp_hint(mrc_context* context, mrc_qp_hint_init_attr* init_attr) {
  if (context == nullptr || init_attr == nullptr || !is_hint(init_attr->attr)) {
    errno = EINVAL;
    return nullptr;
  }
  Context& c = *context->device;
  const std::scoped_lock lock(c.mutex);
  auto* hint = c.hints < kMaxHints ? new (std::nothrow) mrc_qp_hint : nullptr;
  if (hint == nullptr) {
    refuse(c, ENOMEM, "mrc_create_qp_hint: there are 65536 at most");
    return nullptr;
  }
  hint->owner = context;
  hint->attr = init_attr->attr;
  ++c.hints;
  ++context->objects;
  return hint;
}

int mrc_destroy_qp_hint(mrc_qp_hint* hint) {
  if (hint == nullptr) return fail(EINVAL);
  Context& c = *hint->owner->device;
  const std::scoped_lock lock(c.mutex);
  if (hint->qps != 0) return fail(refuse(c, EBUSY, "mrc_destroy_qp_hint: queue pairs have it"));
  --c.hints;
  --hint->owner->objects;
  delete hint;
  return 0;
}

int mrc_query_qp_hint(mrc_qp_hint* hint, mrc_qp_hint_attr* attr, int mask) {
  if (hint == nullptr || attr == nullptr || (mask & ~kHintMask) != 0) return fail(EINVAL);
  const std::scoped_lock lock(hint->owner->device->mutex);
  copy_hint(hint->attr, *attr, mask);
  return 0;
}

int mrc_modify_qp_hint(mrc_qp_hint* hint, mrc_qp_hint_attr* attr, int mask) {
  if (hint == nullptr || attr == nullptr || (mask & ~kHintMask) != 0) return fail(EINVAL);
  const std::scoped_lock lock(hint->owner->device->mutex);
  mrc_qp_hint_attr changed = hint->attr;
  copy_hint(*attr, changed, mask);
  if (!is_hint(changed)) return fail(EINVAL);
  hint->attr = changed;
  return 0;
}

}  // extern "C"
