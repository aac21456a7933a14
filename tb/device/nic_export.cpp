// SPDX-License-Identifier: Apache-2.0
/// Our model behind api/mrc_nic.h, a shared object of its own: libmrc_nic_model.so.
#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "api/mrc_nic.h"
#include "gen/presets.hpp"
#include "tb/device/pins_device.hpp"
#include "tb/device/qp_numbers.hpp"
#include "tb/dut/dut.hpp"

using namespace mrc;

struct mrc_nic {
  std::unique_ptr<tb::NicDevice> device;
  tb::DeviceInfo info;
  std::string caps, error;
  tb::Advanced ran;
  std::size_t next = 0;
  tb::Counters counters;
};

namespace {

/// A call; what it throws is an answer.
template <class Call>
int answer(mrc_nic* nic, const Call& call) {
  try {
    return call();
  } catch (const tb::Refusal& refusal) {
    nic->error = refusal.what();
    return refusal.unsupported ? MRC_E_UNSUPPORTED : MRC_E_ARG;
  } catch (const std::exception& error) {
    nic->error = error.what();
    return MRC_E_DEAD;
  }
}

int too_small(mrc_nic* nic, const char* what) {
  nic->error = std::string(what) + " is smaller than version 1 has it.";
  return MRC_E_SIZE;
}

int pending(bool is) { return is ? int{MRC_PENDING} : int{MRC_OK}; }

mrc_nic* refuse(const mrc_nic_config* config, int* result, int code, const std::string& sentence) {
  *result = code;
  if (config->error != nullptr && config->error_size != 0) {
    const std::size_t n = std::min(sentence.size(), config->error_size - 1);
    sentence.copy(config->error, n);
    config->error[n] = 0;
  }
  return nullptr;
}

log::Ip ip_of(const uint8_t* bytes) {
  log::Ip ip;
  std::copy_n(bytes, ip.size(), ip.begin());
  return ip;
}

/// Of a caller that knows no numbers of controllers.
constexpr std::size_t kQpBytes = offsetof(mrc_nic_qp_t, num_nscc);

/// What the caller wants, into c.
void read_config(const mrc_nic_qp_t& q, tb::QpConfig& c) {
  c.peer_qp = q.peer_qp;
  c.peer_ip = ip_of(q.peer_ip);
  c.path = ip_of(q.path);
  c.peer_mac = q.peer_mac;
  c.mtu = q.mtu;
  tb::copy_qp_numbers(c, q);
  c.encap = static_cast<tb::Encapsulation>(std::min<uint32_t>(q.encap, MRC_IPV4));
  c.dynamic_mpr = q.dynamic_mpr != 0;
  c.time_stamps = q.time_stamps != 0;
  c.controlled = q.controlled != 0;
  c.nscc.clear();
  for (uint32_t i = 0; q.size >= sizeof q && i < q.num_nscc; ++i)
    c.nscc.emplace_back(q.nscc_names[i], q.nscc_values[i]);
  c.own_class.reset();
  if (q.own_class != 0) c.own_class = {q.class_data, q.class_rtx};
  if (q.num_evs != 0) {
    c.evs.assign(q.evs, q.evs + q.num_evs);
    c.backup = q.backup;
  }
}

}  // namespace

#define MRC_EXPORT __attribute__((visibility("default")))

extern "C" {

MRC_EXPORT uint32_t mrc_nic_version(void) { return MRC_NIC_API; }

MRC_EXPORT mrc_nic* mrc_nic_open(const mrc_nic_config* config, int* result) {
  if (config->size < sizeof *config) {
    *result = MRC_E_SIZE;
    return nullptr;
  }
  if (config->api != MRC_NIC_API) return refuse(config, result, MRC_E_VERSION, "this NIC speaks version 1.");
  const std::string name = config->preset != nullptr && *config->preset != 0 ? config->preset : "tiny";
  const Preset* const preset = find_preset(name);
  if (preset == nullptr) return refuse(config, result, MRC_E_UNSUPPORTED, "this NIC has no preset " + name + ".");
  auto nic = std::make_unique<mrc_nic>();
  tb::PinsOptions pins;
  pins.preset = preset;
  pins.name = "model behind mrc_nic.h";
  pins.version = "1";
  pins.open = [preset](uint64_t, std::string&) { return tb::make_model_dut(*preset); };
  nic->device = tb::make_pins_device(pins);
  *result = answer(nic.get(), [&] {
    tb::OpenRequest request;
    request.planes = config->planes;
    request.seed = config->seed;
    for (uint32_t i = 0; i < config->num_settings; ++i)
      request.settings.emplace_back(config->setting_names[i], config->setting_values[i]);
    nic->info = nic->device->open(request);
    return MRC_OK;
  });
  if (*result != MRC_OK) return refuse(config, result, *result, nic->error);
  for (const std::string& cap : nic->info.caps) nic->caps += (nic->caps.empty() ? "" : " ") + cap;
  return nic.release();
}

MRC_EXPORT int mrc_nic_facts(mrc_nic* nic, mrc_nic_facts_t* facts) {
  if (facts->size < sizeof *facts) return too_small(nic, "mrc_nic_facts_t");
  const tb::DeviceInfo& i = nic->info;
  *facts = {facts->size,
            i.planes,
            i.port_gbps,
            i.qp_first,
            i.qps,
            i.mpr,
            i.max_wimm,
            i.evs,
            i.regions,
            i.post,
            i.latency,
            i.name.c_str(),
            i.version.c_str(),
            nic->caps.c_str(),
            i.profile.c_str()};
  return MRC_OK;
}

MRC_EXPORT int mrc_nic_address(mrc_nic* nic, uint64_t mac, const uint8_t ip[16]) {
  return answer(nic, [&] {
    nic->device->address(mac, ip_of(ip));
    return MRC_OK;
  });
}

MRC_EXPORT int mrc_nic_qp(mrc_nic* nic, mrc_nic_qp_t* q) {
  if (q->size < kQpBytes) return too_small(nic, "mrc_nic_qp_t");
  return answer(nic, [&] {
    tb::QpConfig c = nic->device->qp_now(q->qp);
    c.qp = q->qp;
    c.state = static_cast<log::QpState>(std::min<uint32_t>(q->state, MRC_QP_ERROR));
    if (c.state == log::QpState::Reset || c.state == log::QpState::Error) return pending(nic->device->qp(c));
    read_config(*q, c);
    const bool waits = nic->device->qp(c);
    c = nic->device->qp_now(q->qp);
    q->state = static_cast<uint32_t>(c.state);
    q->mpr = c.mpr;
    q->mpr_dest = c.mpr_dest;
    q->max_wimm = c.max_wimm;
    q->max_wimm_dest = c.max_wimm_dest;
    q->timeout = c.timeout;
    q->num_evs = static_cast<uint32_t>(c.evs.size());
    q->backup = c.backup;
    std::copy_n(c.evs.begin(), std::min<std::size_t>(c.evs.size(), q->evs_room), q->evs);
    return pending(waits);
  });
}

MRC_EXPORT int mrc_nic_query(mrc_nic* nic, uint32_t qp, uint32_t* state, uint64_t* t) {
  return answer(nic, [&] {
    const auto [is, time] = nic->device->query(qp);
    *state = static_cast<uint32_t>(is);
    *t = time;
    return MRC_OK;
  });
}

MRC_EXPORT int mrc_nic_modify(mrc_nic* nic, const mrc_nic_qp_t* q, uint32_t with, uint32_t* attributes) {
  if (q->size < kQpBytes) return too_small(nic, "mrc_nic_qp_t");
  return answer(nic, [&] {
    const tb::QpConfig now = nic->device->qp_now(q->qp);
    tb::QpConfig wanted = now;
    wanted.qp = q->qp;
    wanted.state = static_cast<log::QpState>(std::min<uint32_t>(q->state, MRC_QP_ERROR));
    read_config(*q, wanted);
    const tb::Modified result = nic->device->modify(tb::with_attributes(now, wanted, with), with);
    *attributes = result.attributes;
    return result.refused != tb::Refused::No ? MRC_REFUSED_TRANSITION + static_cast<int>(result.refused) - 1
                                             : pending(result.pending);
  });
}

MRC_EXPORT int mrc_nic_mr(mrc_nic* nic, const mrc_nic_mr_t* r) {
  if (r->size < sizeof *r) return too_small(nic, "mrc_nic_mr_t");
  return answer(nic, [&] {
    return pending(nic->device->mr({r->rkey, r->valid != 0, r->write != 0, r->va, r->bytes, r->addr}));
  });
}

MRC_EXPORT int mrc_nic_post(mrc_nic* nic, const mrc_nic_post_t* p) {
  if (p->size < sizeof *p) return too_small(nic, "mrc_nic_post_t");
  return answer(nic, [&] {
    const bool taken =
        nic->device->post({p->qp, p->wr_id, p->addr, p->remote, p->bytes, p->rkey, p->immediate != 0, p->imm});
    return taken ? int{MRC_OK} : int{MRC_NO_ROOM};
  });
}

MRC_EXPORT int mrc_nic_recv(mrc_nic* nic, uint32_t qp, uint32_t count) {
  return answer(nic, [&] {
    nic->device->recv(qp, count);
    return MRC_OK;
  });
}

MRC_EXPORT int mrc_nic_port(mrc_nic* nic, uint32_t plane, int up, uint64_t t) {
  return answer(nic, [&] {
    nic->device->port(plane, up != 0, t);
    return MRC_OK;
  });
}

MRC_EXPORT int mrc_nic_ev(mrc_nic* nic, uint32_t qp, uint32_t ev, int deny) {
  return answer(nic, [&] { return pending(nic->device->ev(qp, ev, deny != 0)); });
}

MRC_EXPORT int mrc_nic_mpr(mrc_nic* nic, uint32_t qp, uint32_t units) {
  return answer(nic, [&] { return pending(nic->device->mpr(qp, units)); });
}

MRC_EXPORT int mrc_nic_evprobe(mrc_nic* nic, uint32_t qp, uint32_t plane, uint32_t ev, int tc_valid, uint32_t tc) {
  return answer(nic, [&] {
    std::optional<uint8_t> code;
    if (tc_valid != 0) code = static_cast<uint8_t>(std::min(tc, 255u));
    return pending(nic->device->evprobe(qp, plane, ev, code));
  });
}

MRC_EXPORT int mrc_nic_reset(mrc_nic* nic) {
  return answer(nic, [&] { return pending(nic->device->reset()); });
}

MRC_EXPORT int mrc_nic_rx(mrc_nic* nic, uint32_t plane, uint64_t t, const uint8_t* frame, uint32_t bytes, int fcs_bad) {
  return answer(nic, [&] {
    nic->device->rx(plane, t, {frame, bytes}, fcs_bad != 0);
    return MRC_OK;
  });
}

MRC_EXPORT int mrc_nic_host_done(mrc_nic* nic, uint64_t tag, uint64_t t, const uint8_t* data, uint32_t bytes,
                                 uint32_t status) {
  return answer(nic, [&] {
    nic->device->host_done(tag, t, {data, bytes}, status);
    return MRC_OK;
  });
}

MRC_EXPORT int mrc_nic_pause(mrc_nic* nic, uint32_t what, uint64_t from, uint64_t until) {
  return answer(nic, [&] {
    nic->device->pause(static_cast<tb::NicDevice::HostQueue>(std::min<uint32_t>(what, MRC_HOST_COMPLETIONS)), from,
                       until);
    return MRC_OK;
  });
}

MRC_EXPORT int mrc_nic_memory(mrc_nic* nic, int takes) {
  return answer(nic, [&] {
    nic->device->memory(takes != 0);
    return MRC_OK;
  });
}

MRC_EXPORT int mrc_nic_advance(mrc_nic* nic, uint64_t until, uint64_t slack, uint64_t* reached) {
  nic->ran.out.clear();
  nic->next = 0;
  return answer(nic, [&] {
    nic->ran = nic->device->advance(until, slack);
    *reached = nic->ran.reached;
    return MRC_OK;
  });
}

MRC_EXPORT int mrc_nic_next(mrc_nic* nic, mrc_nic_out_t* out) {
  if (out->size < sizeof *out) return too_small(nic, "mrc_nic_out_t");
  if (nic->next == nic->ran.out.size()) return 0;
  const tb::Output& o = nic->ran.out[nic->next++];
  *out = {};
  out->size = sizeof *out;
  out->t = o.time;
  const auto data = [&](const std::vector<uint8_t>& bytes) {
    out->data = bytes.data();
    out->bytes = static_cast<uint32_t>(bytes.size());
  };
  if (const auto* frame = std::get_if<tb::SentFrame>(&o.body)) {
    out->what = MRC_OUT_TX;
    out->plane = frame->plane;
    out->t_last = frame->last;
    data(frame->bytes);
  } else if (const auto* read = std::get_if<tb::HostRead>(&o.body)) {
    out->what = MRC_OUT_READ;
    out->tag = read->tag;
    out->addr = read->addr;
    out->bytes = read->bytes;
  } else if (const auto* write = std::get_if<tb::HostWrite>(&o.body)) {
    out->what = MRC_OUT_WRITE;
    out->addr = write->addr;
    data(write->data);
  } else if (const auto* cqe = std::get_if<log::Cqe>(&o.body)) {
    out->what = MRC_OUT_CQE;
    out->qp = cqe->qp;
    out->receive = cqe->receive;
    out->status = static_cast<uint32_t>(cqe->status);
    out->wr_id = cqe->wr_id;
    out->imm = cqe->imm;
    out->rqmsn = cqe->rqmsn;
    out->length = cqe->bytes;
  } else if (const auto* done = std::get_if<tb::Done>(&o.body)) {
    out->what = MRC_OUT_DONE;
    out->qp = done->number;
    out->region = done->region;
    out->call = done->call.c_str();
    out->error = done->error.empty() ? nullptr : done->error.c_str();
    if (done->refused != tb::Refused::No) {
      out->kind = MRC_REFUSED_TRANSITION + static_cast<uint32_t>(done->refused) - 1;
      out->arg[0] = done->attributes;
    }
  } else if (const auto* event = std::get_if<log::Event>(&o.body)) {
    out->what = MRC_OUT_EVENT;
    out->kind = static_cast<uint32_t>(event->kind);
    out->qp = event->qp;
    std::copy(event->arg.begin(), event->arg.end(), out->arg);
  }
  return 1;
}

MRC_EXPORT int mrc_nic_counter(mrc_nic* nic, uint32_t index, const char** name, uint64_t* value, uint64_t* t) {
  return answer(nic, [&] {
    if (index == 0) nic->counters = nic->device->counters();
    if (index >= nic->counters.values.size()) return 0;
    *name = nic->counters.values[index].first.c_str();
    *value = nic->counters.values[index].second;
    *t = nic->counters.time;
    return 1;
  });
}

MRC_EXPORT const char* mrc_nic_error(mrc_nic* nic) { return nic->error.c_str(); }
MRC_EXPORT void mrc_nic_close(mrc_nic* nic) { delete nic; }

}  // extern "C"
