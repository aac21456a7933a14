// SPDX-License-Identifier: Apache-2.0
#include "tb/device/remote_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "input/json.hpp"
#include "tb/device/line_channel.hpp"
#include "tb/device/line_words.hpp"
#include "util/printable.hpp"
#include "wire/text.hpp"

namespace mrc::tb {
namespace {

using input::Json;

/// Calls whose answers nobody waits for are sent together, up to so many bytes.
constexpr std::size_t kMaxTogether = 384 << 10;
constexpr std::size_t kMaxAnswer = 1 << 16;
constexpr std::size_t kMaxList = 65536;

/// The same with its members in the order of their names, whatever order the device has.
Json by_name(Json json) {
  std::ranges::sort(json.members, {}, &input::JsonMember::name);
  for (input::JsonMember& m : json.members) m.value = by_name(std::move(m.value));
  for (Json& item : json.items) item = by_name(std::move(item));
  return json;
}

class RemoteDevice final : public NicDevice {
 public:
  explicit RemoteDevice(std::unique_ptr<LineChannel> channel) : channel_(std::move(channel)) {}

  DeviceInfo open(const OpenRequest& request) override;
  void address(uint64_t mac, const log::Ip& ip) override {
    exchange("address", fmt::format(R"("mac":"{:012x}","ip":"{}")", mac, wire::to_text(ip)));
  }
  QpConfig qp_now(uint32_t qp) const override;
  bool qp(const QpConfig& config) override;
  std::pair<log::QpState, Time> query(uint32_t qp) override;
  bool mr(const log::Mr& region) override;
  bool post(const log::Post& request) override;
  void recv(uint32_t qp, uint32_t count) override { later("recv", fmt::format(R"("qp":{},"count":{})", qp, count)); }
  void port(unsigned plane, bool up, Time t) override {
    later("port", fmt::format(R"("plane":{},"up":{},"t":{})", plane, up, t));
  }
  bool ev(uint32_t qp, uint32_t ev, bool deny) override {
    return is_pending(exchange("ev", fmt::format(R"("qp":{},"ev":{},"deny":{})", qp, ev, deny)));
  }
  bool evprobe(uint32_t qp, unsigned plane, uint32_t ev, std::optional<uint8_t> tc) override {
    return is_pending(exchange("evprobe", fmt::format(R"("qp":{},"plane":{},"ev":{}{})", qp, plane, ev,
                                                      tc ? fmt::format(R"(,"tc":{})", *tc) : "")));
  }
  bool mpr(uint32_t qp, unsigned units) override {
    return is_pending(exchange("mpr", fmt::format(R"("qp":{},"units":{})", qp, units)));
  }
  bool reset() override;
  void rx(unsigned plane, Time t, std::span<const uint8_t> frame, bool fcs_bad) override {
    later("rx", fmt::format(R"("plane":{},"t":{},"frame":"{}"{})", plane, t, wire::to_hex(frame),
                            fcs_bad ? R"(,"fcs_bad":true)" : ""));
  }
  void host_done(uint64_t tag, Time t, std::span<const uint8_t> data, uint32_t status) override {
    later("host_done", status != 0 ? fmt::format(R"("tag":{},"t":{},"status":{})", tag, t, status)
                                   : fmt::format(R"("tag":{},"t":{},"data":"{}")", tag, t, wire::to_hex(data)));
  }
  void pause(HostQueue what, Time from, Time until) override {
    later("pause",
          fmt::format(R"("what":"{}","t":{},"until":{})", kLineQueues[static_cast<unsigned>(what)], from, until));
  }
  void memory(bool takes) override { later("memory", fmt::format(R"("takes":{})", takes)); }
  Advanced advance(Time until, Time slack) override;
  Counters counters() override;

 private:
  [[noreturn]] void bad(const std::string& what) const {
    throw DeviceGone(fmt::format("the answer of the device to the call {} {}.", call_, what));
  }
  const Json& exchange(const char* call, const std::string& keys);
  void later(const char* call, const std::string& keys);
  const Json& exchange(const std::string& line, const std::string& call);
  void check(const Json& answer) const;
  static bool is_pending(const Json& answer) {
    const Json* pending = answer.find("pending");
    return pending != nullptr && pending->is_flag() && pending->flag();
  }
  uint64_t whole(const Json& of, const char* name, uint64_t max) const;
  uint64_t whole_or(const Json& of, const char* name, uint64_t max, uint64_t otherwise) const {
    return of.contains(name) ? whole(of, name, max) : otherwise;
  }
  const std::string& text(const Json& of, const char* name) const;
  bool flag(const Json& of, const char* name) const;
  std::vector<uint8_t> bytes(const Json& of, const char* name) const;
  const std::vector<Json>& list(const Json& of, const char* name) const;
  template <std::size_t N>
  unsigned choice(const Json& of, const char* name, const std::array<const char*, N>& names) const;
  /// Nothing: it is of a later version.
  std::optional<Output> output(const Json& of) const;

  std::unique_ptr<LineChannel> channel_;
  std::optional<Json> answer_;
  std::string call_, together_, last_line_;
  DeviceInfo info_;
  bool batch_ = false;
  std::map<uint32_t, QpConfig> qps_;
};

// Calls and answers.

void RemoteDevice::check(const Json& answer) const {
  const Json* ok = answer.find("ok");
  if (ok == nullptr || !ok->is_flag()) bad("has no ok");
  if (ok->flag()) return;
  const Json* error = answer.find("error");
  const Json* unsupported = answer.find("unsupported");
  std::string sentence = error != nullptr && error->is_text() ? printable(error->text) : "it does not say why.";
  if (!sentence.ends_with('.')) sentence += '.';
  throw Refusal(fmt::format("the device refuses the call {}: {}", call_, sentence),
                unsupported != nullptr && unsupported->is_flag() && unsupported->flag());
}

const Json& RemoteDevice::exchange(const std::string& line, const std::string& call) {
  call_ = call;
  const std::string_view answer = channel_->exchange(line, call);
  last_line_.assign(answer);
  try {
    input::JsonReader reader(last_line_, "answer");
    answer_ = reader.next();
    if (!answer_ || reader.next()) bad("is not one line of JSON");
  } catch (const InputError& error) {
    bad(fmt::format("is no JSON: {}", error.what()));
  }
  return *answer_;
}

const Json& RemoteDevice::exchange(const char* call, const std::string& keys) {
  const std::string text = fmt::format(R"({{"call":"{}"{}{}}})", call, keys.empty() ? "" : ",", keys);
  if (together_.empty()) {
    const Json& answer = exchange(text, call);
    check(answer);
    return answer;
  }
  const std::string all = "[" + std::exchange(together_, {}) + "," + text + "]";
  const Json& answers = exchange(all, call);
  if (!answers.is_array() || answers.items.empty()) bad("is no list, although the call was one of several");
  for (const Json& each : answers.items) check(each);
  return answers.items.back();
}

void RemoteDevice::later(const char* call, const std::string& keys) {
  const std::string text = fmt::format(R"({{"call":"{}",{}}})", call, keys);
  if (!batch_) {
    check(exchange(text, call));
    return;
  }
  if (!together_.empty() && together_.size() + text.size() > kMaxTogether) {
    const Json& answers = exchange("[" + std::exchange(together_, {}) + "]", "rx");
    if (!answers.is_array()) bad("is no list, although the call was one of several");
    for (const Json& each : answers.items) check(each);
  }
  together_ += (together_.empty() ? "" : ",") + text;
}

uint64_t RemoteDevice::whole(const Json& of, const char* name, uint64_t max) const {
  const Json* value = of.find(name);
  if (value == nullptr || !value->is_number()) bad(fmt::format("has no number {}", name));
  try {
    return input::whole(value->literal(name, "answer"), 0, max, name);
  } catch (const InputError& error) {
    bad(fmt::format("cannot be used: {}", error.what()));
  }
}

const std::string& RemoteDevice::text(const Json& of, const char* name) const {
  const Json* value = of.find(name);
  if (value == nullptr || !value->is_text()) bad(fmt::format("has no text {}", name));
  return value->text;
}

bool RemoteDevice::flag(const Json& of, const char* name) const {
  const Json* value = of.find(name);
  if (value == nullptr || !value->is_flag()) bad(fmt::format("has no true or false {}", name));
  return value->flag();
}

std::vector<uint8_t> RemoteDevice::bytes(const Json& of, const char* name) const {
  size_t wrong = 0;
  auto read = wire::from_hex(text(of, name), wrong);
  if (!read || read->size() > kMaxAnswer) bad(fmt::format("has a {} that is no hex, or too long", name));
  return std::move(*read);
}

const std::vector<Json>& RemoteDevice::list(const Json& of, const char* name) const {
  const Json* value = of.find(name);
  if (value == nullptr || !value->is_array() || value->items.size() > kMaxList)
    bad(fmt::format("has no list {}", name));
  return value->items;
}

template <std::size_t N>
unsigned RemoteDevice::choice(const Json& of, const char* name, const std::array<const char*, N>& names) const {
  const std::string& word = text(of, name);
  for (unsigned i = 0; i < N; ++i) {
    if (word == names[i]) return i;
  }
  bad(fmt::format("has the {} '{}', which there is not", name, printable(word)));
}

DeviceInfo RemoteDevice::open(const OpenRequest& request) {
  together_.clear();
  qps_.clear();
  std::string settings;
  for (const auto& [name, value] : request.settings)
    settings += fmt::format("{}{}:{}", settings.empty() ? "" : ",", json_text(name), value);
  const Json& a = exchange("open", fmt::format(R"("version":1,"planes":{},"seed":{},"settings":{{{}}})", request.planes,
                                               request.seed, settings));
  DeviceInfo info;
  info.name = printable(text(a, "name")).substr(0, 100);
  info.version =
      a.contains("version") && a.find("version")->is_text() ? printable(text(a, "version")).substr(0, 100) : "";
  info.planes = static_cast<unsigned>(whole(a, "planes", 64));
  info.port_gbps = static_cast<unsigned>(whole(a, "port_gbps", 8000));
  for (const Json& cap : list(a, "caps")) {
    if (cap.is_text()) info.caps.push_back(cap.text);
  }
  info.latency = whole(a, "latency", kMaxTime);
  info.qp_first = static_cast<uint32_t>(whole(a, "qp_first", 0xffffff));
  info.qps = static_cast<uint32_t>(whole(a, "qps", 0xffffff));
  const Json* limits = a.find("limits");
  if (limits == nullptr || !limits->is_object()) bad("has no limits");
  info.mpr = static_cast<unsigned>(whole(*limits, "mpr", 255));
  info.max_wimm = static_cast<unsigned>(whole(*limits, "max_wimm", 255));
  info.evs = static_cast<unsigned>(whole(*limits, "evs", ~0u));
  info.regions = static_cast<unsigned>(whole(*limits, "regions", ~0u));
  info.post = static_cast<unsigned>(whole(*limits, "post", ~0u));
  if (const Json* profile = a.find("profile"); profile != nullptr && profile->is_object())
    info.profile = by_name(*profile).dump();
  if (info.profile.empty()) bad("has no profile");
  info_ = info;
  batch_ = std::ranges::find(info.caps, "batch") != info.caps.end();
  return info;
}

QpConfig RemoteDevice::qp_now(uint32_t qp) const {
  if (const auto known = qps_.find(qp); known != qps_.end()) return known->second;
  return first_config(qp, info_);
}

bool RemoteDevice::qp(const QpConfig& c) {
  const char* state = kLineStates[static_cast<unsigned>(c.state)];
  if (c.state == log::QpState::Reset || c.state == log::QpState::Error) {
    const bool waits = is_pending(exchange("qp", fmt::format(R"("qp":{},"state":"{}")", c.qp, state)));
    if (c.state == log::QpState::Reset) {
      qps_.erase(c.qp);
    } else {
      qps_[c.qp].state = c.state;
    }
    return waits;
  }
  std::string keys = fmt::format(
      R"("qp":{},"state":"{}","peer_qp":{},"peer_ip":"{}","peer_mac":"{:012x}","mtu":{},"sq_psn":{},"rq_psn":{},)"
      R"("msn":{},"rqmsn":{},"mpr":{},"mpr_dest":{},"dynamic_mpr":{},"max_wimm":{},"max_wimm_dest":{},"timeout":{},)"
      R"("retry_linear":{},"retry_exp":{},"trim_nack":{},"svc_time":{},"time_stamps":{},"controlled":{},"pkey":{},)"
      R"("encap":"{}")",
      c.qp, state, c.peer_qp, wire::to_text(c.peer_ip), c.peer_mac, c.mtu, c.sq_psn, c.rq_psn, c.msn, c.rqmsn, c.mpr,
      c.mpr_dest, c.dynamic_mpr, c.max_wimm, c.max_wimm_dest, c.timeout, c.retry_linear, c.retry_exp, c.trim_nack,
      c.svc_time, c.time_stamps, c.controlled, c.pkey, kLineEncaps[static_cast<unsigned>(c.encap)]);
  if (!c.nscc.empty()) keys += ",\"nscc\":" + Json(std::map(c.nscc.begin(), c.nscc.end())).dump();
  if (c.own_class) keys += fmt::format(R"(,"class":{{"data":{},"rtx":{}}})", c.own_class->data, c.own_class->rtx);
  if (c.encap == Encapsulation::Srv6 || c.encap == Encapsulation::Srh)
    keys += fmt::format(R"(,"path":"{}")", wire::to_text(c.path));
  if (!c.evs.empty()) keys += fmt::format(R"(,"evs":[{}],"backup":{})", fmt::join(c.evs, ","), c.backup);
  const Json& a = exchange("qp", keys);
  QpConfig& now = qps_[c.qp] = c;
  now.mpr = static_cast<unsigned>(whole_or(a, "mpr", 255, c.mpr));
  now.mpr_dest = static_cast<unsigned>(whole_or(a, "mpr_dest", 255, c.mpr_dest));
  now.max_wimm = static_cast<unsigned>(whole_or(a, "max_wimm", 255, c.max_wimm));
  now.max_wimm_dest = static_cast<unsigned>(whole_or(a, "max_wimm_dest", 255, c.max_wimm_dest));
  now.timeout = static_cast<unsigned>(whole_or(a, "timeout", 31, c.timeout));
  if (a.contains("evs")) {
    now.evs.clear();
    for (const Json& ev : list(a, "evs")) {
      if (!ev.is_number()) bad("has an entropy value that is no number");
      now.evs.push_back(static_cast<uint32_t>(input::whole(ev.literal("evs", "answer"), 0, ~0u, "evs")));
    }
    now.backup = static_cast<unsigned>(whole_or(a, "backup", now.evs.size(), 0));
  }
  return is_pending(a);
}

bool RemoteDevice::reset() {
  qps_.clear();
  return is_pending(exchange("reset", ""));
}

std::pair<log::QpState, Time> RemoteDevice::query(uint32_t qp) {
  const Json& a = exchange("query", fmt::format(R"("qp":{})", qp));
  return {static_cast<log::QpState>(choice(a, "state", kLineStates)), whole(a, "t", kMaxTime)};
}

bool RemoteDevice::mr(const log::Mr& r) {
  return is_pending(exchange("mr", fmt::format(R"("rkey":{},"valid":{},"write":{},"va":{},"bytes":{},"addr":{})",
                                               r.rkey, r.valid, r.write, r.va, r.bytes, r.addr)));
}

bool RemoteDevice::post(const log::Post& p) {
  const Json& a = exchange(
      "post", fmt::format(R"("qp":{},"wr_id":{},"addr":{},"remote":{},"bytes":{},"rkey":{}{})", p.qp, p.wr_id, p.addr,
                          p.remote, p.bytes, p.rkey, p.immediate ? fmt::format(R"(,"imm":{})", p.imm) : ""));
  return !a.contains("taken") || flag(a, "taken");
}

std::optional<Output> RemoteDevice::output(const Json& of) const {
  if (!of.is_object()) bad("has an output that is no object");
  Output o;
  o.time = whole(of, "t", kMaxTime);
  const std::string& kind = text(of, "out");
  if (kind == "tx") {
    o.body =
        SentFrame{static_cast<unsigned>(whole(of, "plane", 63)), whole(of, "t_last", kMaxTime), bytes(of, "frame")};
  } else if (kind == "read") {
    o.body = HostRead{whole(of, "tag", ~uint64_t{0}), whole(of, "addr", ~uint64_t{0}),
                      static_cast<uint32_t>(whole(of, "bytes", log::kMaxHostBytes))};
  } else if (kind == "write") {
    o.body = HostWrite{whole(of, "addr", ~uint64_t{0}), bytes(of, "data")};
  } else if (kind == "cqe") {
    log::Cqe c;
    c.qp = static_cast<uint32_t>(whole(of, "qp", 0xffffff));
    c.receive = flag(of, "receive");
    c.status = static_cast<log::Status>(choice(of, "status", kLineStatus));
    if (c.receive) {
      c.imm = static_cast<uint32_t>(whole(of, "imm", ~0u));
      c.rqmsn = static_cast<uint32_t>(whole(of, "rqmsn", 0xffff));
      c.bytes = whole(of, "bytes", ~uint64_t{0});
    } else {
      c.wr_id = whole(of, "wr_id", ~uint64_t{0});
    }
    o.body = c;
  } else if (kind == "done") {
    Done d;
    d.call = printable(text(of, "call")).substr(0, 20);
    d.region = of.contains("rkey");
    d.number = static_cast<uint32_t>(whole(of, d.region ? "rkey" : "qp", ~0u));
    if (of.contains("error")) d.error = printable(text(of, "error"));
    o.body = d;
  } else if (kind == "port") {
    o.body = log::Port{static_cast<uint8_t>(whole(of, "plane", log::kMaxPlanes - 1)), flag(of, "up")};
  } else if (kind == "event") {
    log::Event e;
    e.kind = static_cast<log::EventKind>(choice(of, "kind", kLineEvents));
    e.qp = static_cast<uint32_t>(whole_or(of, "qp", 0xffffff, 0));
    std::size_t n = 0;
    for (const Json& arg : list(of, "arg")) {
      if (n == e.arg.size() || !arg.is_number()) bad("has an event whose arg are not six numbers at most");
      e.arg[n++] = input::whole(arg.literal("arg", "answer"), 0, ~uint64_t{0}, "arg");
    }
    o.body = e;
  } else {
    return std::nullopt;
  }
  return o;
}

Advanced RemoteDevice::advance(Time until, Time slack) {
  const Json& a = exchange("advance", fmt::format(R"("until":{},"slack":{})", until, slack));
  Advanced ran;
  ran.reached = whole(a, "reached", kMaxTime);
  try {
    for (const Json& each : list(a, "out")) {
      if (auto o = output(each)) ran.out.push_back(std::move(*o));
    }
  } catch (const InputError& error) {
    bad(fmt::format("cannot be used: {}", error.what()));
  }
  return ran;
}

Counters RemoteDevice::counters() {
  const Json& a = exchange("counters", "");
  Counters counters{whole_or(a, "t", kMaxTime, 0), {}};
  const Json* values = a.find("counters");
  if (values == nullptr || !values->is_object()) bad("has no counters");
  for (const input::JsonMember& m : values->members) {
    if (m.value.is_number() && counters.values.size() < kMaxList)
      counters.values.emplace_back(printable(m.name).substr(0, 100), whole(*values, m.name.c_str(), ~uint64_t{0}));
  }
  return counters;
}

}  // namespace

bool is_address(const std::string& text) { return text.starts_with("tcp:") || text.starts_with("unix:"); }

std::unique_ptr<NicDevice> start_device(const std::string& command, const RemoteOptions& options) {
  auto channel = std::make_unique<LineChannel>();
  channel->start(command, options);
  return std::make_unique<RemoteDevice>(std::move(channel));
}

std::unique_ptr<NicDevice> connect_device(const std::string& address, const RemoteOptions& options) {
  auto channel = std::make_unique<LineChannel>();
  channel->connect(address, options);
  return std::make_unique<RemoteDevice>(std::move(channel));
}

}  // namespace mrc::tb
