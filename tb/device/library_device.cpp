// SPDX-License-Identifier: Apache-2.0
#include "tb/device/library_device.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "api/mrc_nic.h"
#include "tb/device/qp_numbers.hpp"
#include "util/printable.hpp"

namespace mrc::tb {
namespace {

constexpr std::size_t kMostText = 1 << 20, kMostOutputs = 1 << 20, kMostEvs = 4096;

std::string bounded(const char* text, std::size_t most = 256) {
  return text == nullptr ? std::string() : std::string(text, ::strnlen(text, most));
}

/// The functions by their names; null: it has none.
struct Functions {
  decltype(&mrc_nic_version) version = nullptr;
  decltype(&mrc_nic_open) open = nullptr;
  decltype(&mrc_nic_facts) facts = nullptr;
  decltype(&mrc_nic_address) address = nullptr;
  decltype(&mrc_nic_qp) qp = nullptr;
  decltype(&mrc_nic_query) query = nullptr;
  decltype(&mrc_nic_mr) mr = nullptr;
  decltype(&mrc_nic_post) post = nullptr;
  decltype(&mrc_nic_recv) recv = nullptr;
  decltype(&mrc_nic_port) port = nullptr;
  decltype(&mrc_nic_ev) ev = nullptr;
  decltype(&mrc_nic_mpr) mpr = nullptr;
  decltype(&mrc_nic_rx) rx = nullptr;
  decltype(&mrc_nic_host_done) host_done = nullptr;
  decltype(&mrc_nic_pause) pause = nullptr;
  decltype(&mrc_nic_memory) memory = nullptr;
  decltype(&mrc_nic_advance) advance = nullptr;
  decltype(&mrc_nic_next) next = nullptr;
  decltype(&mrc_nic_counter) counter = nullptr;
  decltype(&mrc_nic_error) error = nullptr;
  decltype(&mrc_nic_close) close = nullptr;
  decltype(&mrc_nic_modify) modify = nullptr;
  decltype(&mrc_nic_evprobe) evprobe = nullptr;
  decltype(&mrc_nic_reset) reset = nullptr;
};

class LibraryDevice final : public NicDevice {
 public:
  LibraryDevice(const std::string& path, const std::string& preset) : path_(path), preset_(preset) { load(); }
  LibraryDevice(const LibraryDevice&) = delete;
  LibraryDevice& operator=(const LibraryDevice&) = delete;
  ~LibraryDevice() override {
    if (nic_ != nullptr) f_.close(nic_);
    if (handle_ != nullptr) ::dlclose(handle_);
  }

  DeviceInfo open(const OpenRequest& request) override;
  void address(uint64_t mac, const log::Ip& ip) override { done(f_.address(nic(), mac, ip.data())); }
  QpConfig qp_now(uint32_t qp) const override;
  bool qp(const QpConfig& config) override;
  std::pair<log::QpState, Time> query(uint32_t qp) override;
  Modified modify(const QpConfig& config, uint32_t with) override;
  bool mr(const log::Mr& r) override {
    const mrc_nic_mr_t region{sizeof region, r.rkey, r.valid, r.write, r.va, r.bytes, r.addr};
    return done(f_.mr(nic(), &region));
  }
  bool post(const log::Post& p) override {
    const mrc_nic_post_t request{sizeof request, p.qp,   p.wr_id,     p.addr, p.remote,
                                 p.bytes,        p.rkey, p.immediate, p.imm,  0};
    const int result = f_.post(nic(), &request);
    done(result);
    return result != MRC_NO_ROOM;
  }
  void recv(uint32_t qp, uint32_t count) override {
    if (f_.recv != nullptr) done(f_.recv(nic(), qp, count));  // who has none takes immediates as they come
  }
  void port(unsigned plane, bool up, Time t) override { done(need(f_.port, "port")(nic(), plane, up, t)); }
  bool ev(uint32_t qp, uint32_t ev, bool deny) override { return done(need(f_.ev, "ev")(nic(), qp, ev, deny)); }
  bool mpr(uint32_t qp, unsigned units) override { return done(need(f_.mpr, "mpr")(nic(), qp, units)); }
  bool evprobe(uint32_t qp, unsigned plane, uint32_t ev, std::optional<uint8_t> tc) override {
    return done(need(f_.evprobe, "evprobe")(nic(), qp, plane, ev, tc.has_value(), tc.value_or(0)));
  }
  bool reset() override {
    qps_.clear();
    return done(need(f_.reset, "reset")(nic()));
  }
  void rx(unsigned plane, Time t, std::span<const uint8_t> frame, bool fcs_bad) override {
    done(f_.rx(nic(), plane, t, frame.data(), static_cast<uint32_t>(frame.size()), fcs_bad));
  }
  void host_done(uint64_t tag, Time t, std::span<const uint8_t> data, uint32_t status) override {
    done(f_.host_done(nic(), tag, t, data.data(), static_cast<uint32_t>(data.size()), status));
  }
  void pause(HostQueue what, Time from, Time until) override {
    done(need(f_.pause, "pause")(nic(), static_cast<uint32_t>(what), from, until));
  }
  void memory(bool takes) override { done(need(f_.memory, "memory")(nic(), takes)); }
  Advanced advance(Time until, Time slack) override;
  Counters counters() override;

 private:
  void load();
  template <class Function>
  Function need(Function function, const char* name) const {
    if (function == nullptr) throw Refusal(fmt::format("{} has no mrc_nic_{}.", path_, name), true);
    return function;
  }
  mrc_nic* nic() const {
    if (nic_ == nullptr) throw Refusal("the device is not open.", false);
    return nic_;
  }
  /// True: it is pending.
  bool done(int result) const {
    if (result >= 0) return result == MRC_PENDING;
    std::string sentence = printable(bounded(f_.error(nic_)));
    if (sentence.empty()) sentence = fmt::format("the call returns {}", result);
    if (!sentence.ends_with('.')) sentence += '.';
    throw Refusal(sentence, result == MRC_E_UNSUPPORTED || result == MRC_E_VERSION);
  }
  Output output(const mrc_nic_out_t& out) const;

  std::string path_, preset_;
  void* handle_ = nullptr;
  Functions f_;
  mrc_nic* nic_ = nullptr;
  DeviceInfo info_;
  std::map<uint32_t, QpConfig> qps_;
};

void LibraryDevice::load() {
  handle_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw Refusal(fmt::format("{} cannot be loaded: {}.", path_, printable(::dlerror())), false);
  const auto find = [&](auto& to, const char* name, bool required) {
    const std::string symbol = std::string("mrc_nic_") + name;
    to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(::dlsym(handle_, symbol.c_str()));
    if (to == nullptr && required) throw Refusal(fmt::format("{} has no function {}.", path_, symbol), false);
  };
  find(f_.version, "version", true);
  if (const uint32_t version = f_.version(); version != MRC_NIC_API)
    throw Refusal(fmt::format("{} speaks version {} of mrc_nic.h, we speak version {}.", path_, version, MRC_NIC_API),
                  true);
  find(f_.open, "open", true);
  find(f_.facts, "facts", true);
  find(f_.address, "address", true);
  find(f_.qp, "qp", true);
  find(f_.mr, "mr", true);
  find(f_.post, "post", true);
  find(f_.rx, "rx", true);
  find(f_.host_done, "host_done", true);
  find(f_.advance, "advance", true);
  find(f_.next, "next", true);
  find(f_.error, "error", true);
  find(f_.close, "close", true);
  find(f_.query, "query", false);
  find(f_.recv, "recv", false);
  find(f_.port, "port", false);
  find(f_.ev, "ev", false);
  find(f_.mpr, "mpr", false);
  find(f_.pause, "pause", false);
  find(f_.memory, "memory", false);
  find(f_.counter, "counter", false);
  find(f_.modify, "modify", false);
  find(f_.evprobe, "evprobe", false);
  find(f_.reset, "reset", false);
}

DeviceInfo LibraryDevice::open(const OpenRequest& request) {
  if (nic_ != nullptr) f_.close(std::exchange(nic_, nullptr));
  qps_.clear();
  std::vector<const char*> names;
  std::vector<uint64_t> values;
  for (const auto& [name, value] : request.settings) {
    names.push_back(name.c_str());
    values.push_back(value);
  }
  std::array<char, 512> error{};
  mrc_nic_config config{};
  config.size = sizeof config;
  config.api = MRC_NIC_API;
  config.planes = request.planes;
  config.num_settings = static_cast<uint32_t>(names.size());
  config.setting_names = names.data();
  config.setting_values = values.data();
  config.seed = request.seed;
  config.preset = preset_.c_str();
  config.error = error.data();
  config.error_size = error.size();
  int result = MRC_E_DEAD;
  nic_ = f_.open(&config, &result);
  if (nic_ == nullptr) {
    std::string sentence = printable(bounded(error.data(), error.size() - 1));
    if (sentence.empty()) sentence = fmt::format("mrc_nic_open fails with {}", result);
    if (!sentence.ends_with('.')) sentence += '.';
    throw Refusal(sentence, result == MRC_E_UNSUPPORTED || result == MRC_E_VERSION);
  }
  mrc_nic_facts_t facts{};
  facts.size = sizeof facts;
  done(f_.facts(nic_, &facts));
  DeviceInfo info;
  info.name = printable(bounded(facts.name));
  info.version = printable(bounded(facts.version));
  info.planes = facts.planes;
  info.port_gbps = facts.port_gbps;
  std::istringstream caps(bounded(facts.caps, 4096));
  for (std::string cap; caps >> cap;) info.caps.push_back(cap);
  info.latency = facts.latency;
  info.qp_first = facts.qp_first;
  info.qps = facts.qps;
  info.mpr = facts.mpr;
  info.max_wimm = facts.max_wimm;
  info.evs = facts.evs;
  info.regions = facts.regions;
  info.post = facts.post;
  info.profile = facts.profile == nullptr ? "{}" : bounded(facts.profile, kMostText);
  // Of several lines, as files are: outside of strings, where JSON has no such characters, they are blanks.
  std::ranges::replace_if(
      info.profile, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  info_ = info;
  return info;
}

QpConfig LibraryDevice::qp_now(uint32_t qp) const {
  if (const auto known = qps_.find(qp); known != qps_.end()) return known->second;
  return first_config(qp, info_);
}

namespace {

/// What a configuration in C points to.
struct Lists {
  std::array<uint32_t, kMostEvs> evs{};
  std::vector<const char*> names;
  std::vector<double> values;
};

mrc_nic_qp_t c_config(const QpConfig& c, Lists& lists) {
  std::array<uint32_t, kMostEvs>& evs = lists.evs;
  std::copy_n(c.evs.begin(), std::min(c.evs.size(), evs.size()), evs.begin());
  for (const auto& [name, value] : c.nscc) {
    lists.names.push_back(name.c_str());
    lists.values.push_back(value);
  }
  mrc_nic_qp_t q{};
  q.num_nscc = static_cast<uint32_t>(c.nscc.size());
  q.nscc_names = lists.names.data();
  q.nscc_values = lists.values.data();
  q.size = sizeof q;
  q.qp = c.qp;
  q.state = static_cast<uint32_t>(c.state);
  q.peer_qp = c.peer_qp;
  std::copy(c.peer_ip.begin(), c.peer_ip.end(), q.peer_ip);
  std::copy(c.path.begin(), c.path.end(), q.path);
  q.peer_mac = c.peer_mac;
  q.mtu = c.mtu;
  copy_qp_numbers(q, c);
  q.encap = static_cast<uint32_t>(c.encap);
  q.dynamic_mpr = c.dynamic_mpr;
  q.time_stamps = c.time_stamps;
  q.controlled = c.controlled;
  q.own_class = c.own_class.has_value();
  q.class_data = c.own_class ? c.own_class->data : 0;
  q.class_rtx = c.own_class ? c.own_class->rtx : 0;
  q.num_evs = static_cast<uint32_t>(std::min(c.evs.size(), evs.size()));
  q.backup = c.backup;
  q.evs_room = static_cast<uint32_t>(evs.size());
  q.evs = evs.data();
  return q;
}

}  // namespace

Modified LibraryDevice::modify(const QpConfig& c, uint32_t with) {
  Lists lists;
  const mrc_nic_qp_t q = c_config(c, lists);
  Modified result;
  const int answer = need(f_.modify, "modify")(nic(), &q, with, &result.attributes);
  result.pending = done(answer);
  if (answer >= MRC_REFUSED_TRANSITION && answer <= MRC_REFUSED_VALUE) {
    result.refused = static_cast<Refused>(answer - MRC_REFUSED_TRANSITION + 1);
  } else if (c.state == log::QpState::Reset) {
    qps_.erase(c.qp);
  } else {
    qps_[c.qp] = c;
  }
  return result;
}

bool LibraryDevice::qp(const QpConfig& c) {
  Lists lists;
  mrc_nic_qp_t q = c_config(c, lists);
  const bool waits = done(f_.qp(nic(), &q));
  if (c.state == log::QpState::Reset) {
    qps_.erase(c.qp);
    return waits;
  }
  QpConfig& now = qps_[c.qp] = c;
  now.mpr = q.mpr;
  now.mpr_dest = q.mpr_dest;
  now.max_wimm = q.max_wimm;
  now.max_wimm_dest = q.max_wimm_dest;
  now.timeout = q.timeout;
  if (q.num_evs <= lists.evs.size() && q.backup <= q.num_evs) {
    now.evs.assign(lists.evs.begin(), lists.evs.begin() + q.num_evs);
    now.backup = q.backup;
  }
  return waits;
}

std::pair<log::QpState, Time> LibraryDevice::query(uint32_t qp) {
  uint32_t state = 0;
  uint64_t t = 0;
  done(need(f_.query, "query")(nic(), qp, &state, &t));
  return {static_cast<log::QpState>(std::min<uint32_t>(state, MRC_QP_ERROR)), t};
}

Output LibraryDevice::output(const mrc_nic_out_t& out) const {
  Output o;
  o.time = out.t;
  const auto bytes = [&] {
    if (out.bytes > log::kMaxFrameBytes || (out.data == nullptr && out.bytes != 0))
      throw Refusal(fmt::format("{} hands out {} bytes at no address, or too many.", path_, out.bytes), false);
    return std::vector<uint8_t>(out.data, out.data + out.bytes);
  };
  switch (out.what) {
    case MRC_OUT_TX:
      o.body = SentFrame{out.plane, out.t_last, bytes()};
      break;
    case MRC_OUT_READ:
      o.body = HostRead{out.tag, out.addr, out.bytes};
      break;
    case MRC_OUT_WRITE:
      o.body = HostWrite{out.addr, bytes()};
      break;
    case MRC_OUT_CQE: {
      log::Cqe c;
      c.qp = out.qp;
      c.receive = out.receive != 0;
      c.status = static_cast<log::Status>(std::min<uint32_t>(out.status, MRC_CQE_OTHER));
      c.wr_id = out.wr_id;
      c.imm = out.imm;
      c.rqmsn = out.rqmsn;
      c.bytes = out.length;
      o.body = c;
      break;
    }
    case MRC_OUT_DONE:
      o.body = Done{printable(bounded(out.call, 20)), out.region != 0, out.qp, printable(bounded(out.error))};
      if (out.kind >= MRC_REFUSED_TRANSITION && out.kind <= MRC_REFUSED_VALUE) {
        auto& reported = std::get<Done>(o.body);
        reported.refused = static_cast<Refused>(out.kind - MRC_REFUSED_TRANSITION + 1);
        reported.attributes = static_cast<uint32_t>(out.arg[0]);
      }
      break;
    case MRC_OUT_EVENT: {
      log::Event e;
      e.kind = static_cast<log::EventKind>(std::min<uint32_t>(out.kind, MRC_EV_QP));
      e.qp = out.qp;
      std::copy(std::begin(out.arg), std::end(out.arg), e.arg.begin());
      o.body = e;
      break;
    }
    default:
      throw Refusal(fmt::format("{} hands out something of kind {}, which there is not.", path_, out.what), false);
  }
  return o;
}

Advanced LibraryDevice::advance(Time until, Time slack) {
  Advanced ran;
  done(f_.advance(nic(), until, slack, &ran.reached));
  for (;;) {
    mrc_nic_out_t out{};
    out.size = sizeof out;
    const int more = f_.next(nic(), &out);
    done(more);
    if (more == 0) return ran;
    if (ran.out.size() == kMostOutputs) throw Refusal(fmt::format("{} hands out without an end.", path_), false);
    ran.out.push_back(output(out));
  }
}

Counters LibraryDevice::counters() {
  Counters list;
  if (f_.counter == nullptr) return list;
  const char* name = nullptr;
  uint64_t value = 0;
  for (uint32_t i = 0; i < 4096 && f_.counter(nic(), i, &name, &value, &list.time) == 1; ++i)
    list.values.emplace_back(printable(bounded(name)), value);
  return list;
}

}  // namespace

std::unique_ptr<NicDevice> load_device(const std::string& path, const std::string& preset) {
  return std::make_unique<LibraryDevice>(path, preset);
}

}  // namespace mrc::tb
