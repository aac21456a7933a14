// SPDX-License-Identifier: Apache-2.0
/// Programs that know libibverbs alone: its queues and queue pairs, of a device of the host, are those of mrc.h with
/// all of MRC's attributes at their defaults. What is about another device is passed on.
#include <algorithm>
#include <deque>
#include <mutex>
#include <new>
#include <span>
#include <vector>

#include "libmrc/library/objects.hpp"
#include "libmrc/library/pass_on.hpp"

using namespace mrc::libmrc;

namespace {

struct VerbsChannel {
  ibv_comp_channel base;  ///< first: a program has a pointer to it; so below
  mrc_comp_channel* inner;
};

struct VerbsCq {
  union {
    ibv_cq_ex extended;
    ibv_cq base;  ///< what that begins with (ibv_cq_ex_to_cq)
  };
  mrc_cq* inner;
  std::mutex mutex;  ///< from ibv_start_poll to ibv_end_poll
  ibv_wc now;        ///< what the calls in between read
};

/// A work request of ibv_wr_*, until the batch is complete.
struct Request {
  ibv_send_wr wr{};
  std::vector<ibv_sge> list{};
  std::vector<uint8_t> data{};
};

struct VerbsQp {
  ibv_qp_ex base;
  mrc_qp* inner;
  bool extended;
  std::mutex mutex;  ///< from ibv_wr_start on until the batch is over
  std::deque<Request> batch;
};

VerbsChannel& ours(ibv_comp_channel* channel) { return *reinterpret_cast<VerbsChannel*>(channel); }
VerbsCq& ours(ibv_cq* cq) { return *reinterpret_cast<VerbsCq*>(cq); }
VerbsCq& ours(ibv_cq_ex* cq) { return *reinterpret_cast<VerbsCq*>(cq); }
VerbsQp& ours(ibv_qp* qp) { return *reinterpret_cast<VerbsQp*>(qp); }
VerbsQp& ours(ibv_qp_ex* qp) { return *reinterpret_cast<VerbsQp*>(qp); }

constexpr uint32_t kQpMask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

/// The one of mrc.h behind it, made when it is needed first; null: errno says why.
mrc_context* inner_of(Context& c) {
  const std::scoped_lock lock(c.verbs_mutex);
  if (c.verbs == nullptr) c.verbs = mrc_create_context(&c.base, nullptr);
  return c.verbs;
}

template <class T>
T* no(int error) {
  errno = error;
  return nullptr;
}

int poll(ibv_cq* cq, int most, ibv_wc* wc) { return mrc_poll_cq(ours(cq).inner, most, wc); }
int notify_of(ibv_cq* cq, int solicited) { return mrc_req_notify_cq(ours(cq).inner, solicited); }
int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad) { return mrc_post_send(ours(qp).inner, wr, bad); }
int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad) {
  return mrc_post_recv(ours(qp).inner, wr, bad) == 0 ? 0 : errno;
}

// Completions one at a time (ibv_start_poll, ibv_next_poll, ibv_end_poll). A queue's flags say what may be read.

int next_poll(ibv_cq_ex* cq) {
  VerbsCq& q = ours(cq);
  const int got = mrc_poll_cq(q.inner, 1, &q.now);
  if (got != 1) return got == 0 ? ENOENT : errno;
  cq->wr_id = q.now.wr_id;
  cq->status = q.now.status;
  return 0;
}
/// Without a completion there is no ibv_end_poll.
int start_poll(ibv_cq_ex* cq, ibv_poll_cq_attr* attr) {
  if (attr->comp_mask != 0) return EINVAL;
  std::unique_lock lock(ours(cq).mutex);
  const int error = next_poll(cq);
  if (error == 0) lock.release();
  return error;
}
void end_poll(ibv_cq_ex* cq) { ours(cq).mutex.unlock(); }

constexpr uint64_t kCqFlags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM |
                              IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL |
                              IBV_WC_EX_WITH_DLID_PATH_BITS;

void give_polling(ibv_cq_ex& cq) {
  cq.start_poll = start_poll;
  cq.next_poll = next_poll;
  cq.end_poll = end_poll;
  cq.read_opcode = [](ibv_cq_ex* q) { return ours(q).now.opcode; };
  cq.read_vendor_err = [](ibv_cq_ex* q) { return ours(q).now.vendor_err; };
  cq.read_byte_len = [](ibv_cq_ex* q) { return ours(q).now.byte_len; };
  cq.read_imm_data = [](ibv_cq_ex* q) { return ours(q).now.imm_data; };
  cq.read_qp_num = [](ibv_cq_ex* q) { return ours(q).now.qp_num; };
  cq.read_src_qp = [](ibv_cq_ex* q) { return ours(q).now.src_qp; };
  cq.read_wc_flags = [](ibv_cq_ex* q) { return ours(q).now.wc_flags; };
  cq.read_slid = [](ibv_cq_ex* q) -> uint32_t { return ours(q).now.slid; };
  cq.read_sl = [](ibv_cq_ex* q) { return ours(q).now.sl; };
  cq.read_dlid_path_bits = [](ibv_cq_ex* q) { return ours(q).now.dlid_path_bits; };
}

ibv_cq_ex* create_polled(ibv_context* context, ibv_cq_init_attr_ex* attr) {
  const bool flags = (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0;
  if ((attr->wc_flags & ~kCqFlags) != 0 || (attr->comp_mask & ~uint32_t{IBV_CQ_INIT_ATTR_MASK_FLAGS}) != 0 ||
      (flags && (attr->flags & ~uint32_t{IBV_CREATE_CQ_ATTR_SINGLE_THREADED}) != 0)) {
    not_there(context_of(context), "ibv_create_cq_ex: time stamps, tags, overruns without notice, parent domains");
    return nullptr;
  }
  ibv_cq* const cq = ibv_create_cq(context, static_cast<int>(std::min<uint32_t>(attr->cqe, INT32_MAX)),
                                   attr->cq_context, attr->channel, static_cast<int>(attr->comp_vector));
  if (cq == nullptr) return nullptr;
  give_polling(ours(cq).extended);
  return &ours(cq).extended;
}

// Work requests one call at a time (ibv_wr_*).

void start(ibv_qp_ex* qp) {
  ours(qp).mutex.lock();
  ours(qp).batch.clear();
}
Request& add(ibv_qp_ex* qp, ibv_wr_opcode opcode, uint32_t rkey, uint64_t remote) {
  Request& r = ours(qp).batch.emplace_back();
  r.wr.wr_id = qp->wr_id;
  r.wr.send_flags = qp->wr_flags;
  r.wr.opcode = opcode;
  r.wr.wr.rdma = {remote, rkey};
  return r;
}
void write(ibv_qp_ex* qp, uint32_t rkey, uint64_t remote) { add(qp, IBV_WR_RDMA_WRITE, rkey, remote); }
void write_imm(ibv_qp_ex* qp, uint32_t rkey, uint64_t remote, __be32 imm) {
  add(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote).wr.imm_data = imm;
}
void set_list(ibv_qp_ex* qp, std::size_t count, const ibv_sge* list) {
  if (!ours(qp).batch.empty()) ours(qp).batch.back().list.assign(list, list + count);
}
void set_one(ibv_qp_ex* qp, uint32_t lkey, uint64_t address, uint32_t bytes) {
  const ibv_sge sge{address, bytes, lkey};
  set_list(qp, 1, &sge);
}
void set_inline_list(ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* list) {
  if (ours(qp).batch.empty()) return;
  Request& r = ours(qp).batch.back();
  r.data.clear();
  for (const ibv_data_buf& from : std::span(list, count)) {
    const auto* bytes = static_cast<const uint8_t*>(from.addr);
    r.data.insert(r.data.end(), bytes, bytes + from.length);
  }
  r.list = {{reinterpret_cast<uint64_t>(r.data.data()), static_cast<uint32_t>(r.data.size()), 0}};
  r.wr.send_flags |= IBV_SEND_INLINE;
}
void set_inline(ibv_qp_ex* qp, void* address, std::size_t bytes) {
  const ibv_data_buf one{address, bytes};
  set_inline_list(qp, 1, &one);
}
int complete(ibv_qp_ex* qp) {
  VerbsQp& q = ours(qp);
  for (std::size_t i = 0; i < q.batch.size(); ++i) {
    Request& r = q.batch[i];
    r.wr.sg_list = r.list.data();
    r.wr.num_sge = static_cast<int>(r.list.size());
    r.wr.next = i + 1 < q.batch.size() ? &q.batch[i + 1].wr : nullptr;
  }
  ibv_send_wr* bad = nullptr;
  const int error = q.batch.empty() ? 0 : mrc_post_send(q.inner, &q.batch.front().wr, &bad);
  q.mutex.unlock();
  return error;
}
void abort_batch(ibv_qp_ex* qp) { ours(qp).mutex.unlock(); }

ibv_qp* create(Context& c, ibv_pd* pd, ibv_qp_init_attr_ex& attr, bool extended) {
  if (attr.qp_type != IBV_QPT_RC || attr.srq != nullptr || (attr.comp_mask & ~kQpMask) != 0) {
    not_there(&c, "ibv_create_qp: other than RC, with a shared receive queue, or by other attributes");
    return nullptr;
  }
  if (pd == nullptr || attr.send_cq == nullptr || attr.recv_cq == nullptr) return no<ibv_qp>(EINVAL);
  mrc_context* const context = inner_of(c);
  auto* qp = context == nullptr ? nullptr : new (std::nothrow) VerbsQp{};
  if (qp == nullptr) return nullptr;
  mrc_qp_init_attr wanted{};
  wanted.qp_context = qp;
  wanted.send_cq = ours(attr.send_cq).inner;
  wanted.recv_cq = ours(attr.recv_cq).inner;
  wanted.cap = attr.cap;
  wanted.sq_sig_all = attr.sq_sig_all;
  wanted.pd = pd;
  wanted.send_ops_flags = extended ? attr.send_ops_flags : 0;
  wanted.protocol_version = MRC_PROTOCOL_VERSION_1;
  qp->inner = mrc_create_qp(context, &wanted);
  if (qp->inner == nullptr) {
    delete qp;
    return nullptr;
  }
  qp->extended = extended;
  ibv_qp_ex& e = qp->base;
  ibv_qp& base = e.qp_base;
  base.context = &c.base;
  base.qp_context = attr.qp_context;
  base.pd = pd;
  base.send_cq = attr.send_cq;
  base.recv_cq = attr.recv_cq;
  base.qp_type = IBV_QPT_RC;
  base.state = IBV_QPS_RESET;
  mrc_get_qpn(qp->inner, &base.qp_num);
  base.handle = base.qp_num;
  e.wr_start = start;
  e.wr_rdma_write = write;
  e.wr_rdma_write_imm = write_imm;
  e.wr_set_sge = set_one;
  e.wr_set_sge_list = set_list;
  e.wr_set_inline_data = set_inline;
  e.wr_set_inline_data_list = set_inline_list;
  e.wr_complete = complete;
  e.wr_abort = abort_batch;
  return &base;
}

ibv_qp* create_extended(ibv_context* context, ibv_qp_init_attr_ex* attr) {
  return create(*context_of(context), attr->pd, *attr, true);
}

}  // namespace

namespace mrc::libmrc {

void give_verbs(Context& c) {
  c.extended.sz = sizeof c.extended;
  c.base.abi_compat = __VERBS_ABI_IS_EXTENDED;
  c.extended.create_qp_ex = create_extended;
  c.extended.create_cq_ex = create_polled;
  c.base.ops.poll_cq = poll;
  c.base.ops.req_notify_cq = notify_of;
  c.base.ops.post_send = post_send;
  c.base.ops.post_recv = post_recv;
}

bool end_verbs(Context& c) { return c.verbs == nullptr || mrc_destroy_context(c.verbs) == 0; }

}  // namespace mrc::libmrc

extern "C" {

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  Context* c = context_of(context);
  if (c == nullptr) return pass_on<ibv_comp_channel*>("ibv_create_comp_channel", nullptr, context);
  mrc_context* const inner = inner_of(*c);
  auto* channel = inner == nullptr ? nullptr : new (std::nothrow) VerbsChannel{};
  if (channel == nullptr) return nullptr;
  if (mrc_create_comp_channel(inner, &channel->inner) != 0) {
    delete channel;
    return nullptr;
  }
  channel->base.context = context;
  mrc_get_comp_channel_fd(channel->inner, &channel->base.fd);
  return &channel->base;
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  if (context_of(channel->context) == nullptr) return pass_on<int>("ibv_destroy_comp_channel", ENOSYS, channel);
  const int error = mrc_destroy_comp_channel(ours(channel).inner);
  if (error == 0) delete &ours(channel);
  return error;
}

ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel, int vector) {
  Context* c = context_of(context);
  if (c == nullptr) return pass_on<ibv_cq*>("ibv_create_cq", nullptr, context, cqe, cq_context, channel, vector);
  mrc_context* const inner = inner_of(*c);
  auto* cq = inner == nullptr ? nullptr : new (std::nothrow) VerbsCq{};
  if (cq == nullptr) return nullptr;
  cq->inner = mrc_create_cq(inner, cqe, cq, channel == nullptr ? nullptr : ours(channel).inner, vector);
  if (cq->inner == nullptr) {
    delete cq;
    return nullptr;
  }
  cq->base.context = context;
  cq->base.channel = channel;
  cq->base.cq_context = cq_context;
  cq->base.cqe = cqe;
  return &cq->base;
}

int ibv_destroy_cq(ibv_cq* cq) {
  if (context_of(cq->context) == nullptr) return pass_on<int>("ibv_destroy_cq", ENOSYS, cq);
  const int error = mrc_destroy_cq(ours(cq).inner);
  if (error == 0) delete &ours(cq);
  return error;
}

int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  if (context_of(channel->context) == nullptr) return pass_on<int>("ibv_get_cq_event", -1, channel, cq, cq_context);
  mrc_cq* inner = nullptr;
  void* found = nullptr;
  if (mrc_get_cq_event(ours(channel).inner, &inner, &found) != 0) return -1;
  *cq = &static_cast<VerbsCq*>(found)->base;
  *cq_context = (*cq)->cq_context;
  return 0;
}

void ibv_ack_cq_events(ibv_cq* cq, unsigned int nevents) {
  if (context_of(cq->context) != nullptr) return mrc_ack_cq_events(ours(cq).inner, nevents);
  if (auto* function = behind<void(ibv_cq*, unsigned int)>("ibv_ack_cq_events")) function(cq, nevents);
}

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  Context* c = context_of(context);
  if (c == nullptr) return pass_on<int>("ibv_get_async_event", -1, context, event);
  mrc_async_event got{};
  mrc_context* const inner = inner_of(*c);
  if (inner == nullptr || mrc_get_async_event(inner, &got) != 0) return -1;
  *event = {};
  event->event_type = got.event_type;
  if (got.event_type == IBV_EVENT_CQ_ERR) {
    event->element.cq = &static_cast<VerbsCq*>(got.element.cq->context)->base;
  } else if (got.event_type == IBV_EVENT_QP_FATAL) {
    event->element.qp = &static_cast<VerbsQp*>(got.element.qp->init.qp_context)->base.qp_base;
  } else {
    event->element.port_num = got.element.port_num;
  }
  return 0;
}

void ibv_ack_async_event(ibv_async_event* event) {
  mrc_async_event reported{};
  reported.event_type = event->event_type;
  if (event->event_type == IBV_EVENT_CQ_ERR && context_of(event->element.cq->context) != nullptr) {
    reported.element.cq = ours(event->element.cq).inner;
    return mrc_ack_async_event(&reported);
  }
  if (event->event_type == IBV_EVENT_QP_FATAL && context_of(event->element.qp->context) != nullptr) {
    reported.element.qp = ours(event->element.qp).inner;
    return mrc_ack_async_event(&reported);
  }
  if (auto* function = behind<void(ibv_async_event*)>("ibv_ack_async_event")) function(event);
}

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  Context* c = context_of(pd->context);
  if (c == nullptr) return pass_on<ibv_qp*>("ibv_create_qp", nullptr, pd, attr);
  ibv_qp_init_attr_ex wanted{};
  wanted.qp_context = attr->qp_context;
  wanted.send_cq = attr->send_cq;
  wanted.recv_cq = attr->recv_cq;
  wanted.srq = attr->srq;
  wanted.cap = attr->cap;
  wanted.qp_type = attr->qp_type;
  wanted.sq_sig_all = attr->sq_sig_all;
  return create(*c, pd, wanted, false);
}

ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  if (context_of(qp->context) == nullptr) return pass_on<ibv_qp_ex*>("ibv_qp_to_qp_ex", nullptr, qp);
  return ours(qp).extended ? &ours(qp).base : no<ibv_qp_ex>(EOPNOTSUPP);
}

int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
  if (context_of(qp->context) == nullptr) return pass_on<int>("ibv_modify_qp", ENOSYS, qp, attr, mask);
  const int error = mrc_modify_qp(ours(qp).inner, attr, mask, nullptr, 0);
  if (error == 0 && (mask & IBV_QP_STATE) != 0) qp->state = attr->qp_state;
  return error;
}

int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask, ibv_qp_init_attr* init) {
  if (context_of(qp->context) == nullptr) return pass_on<int>("ibv_query_qp", ENOSYS, qp, attr, mask, init);
  mrc_qp_init_attr was{};
  if (const int error = mrc_query_qp(ours(qp).inner, attr, mask, nullptr, 0, &was); error != 0) return error;
  qp->state = attr->qp_state;
  if (init != nullptr) *init = {qp->qp_context, qp->send_cq, qp->recv_cq, nullptr, was.cap, IBV_QPT_RC, was.sq_sig_all};
  return 0;
}

int ibv_destroy_qp(ibv_qp* qp) {
  if (context_of(qp->context) == nullptr) return pass_on<int>("ibv_destroy_qp", ENOSYS, qp);
  const int error = mrc_destroy_qp(ours(qp).inner);
  if (error == 0) delete &ours(qp);
  return error;
}

}  // extern "C"
