// SPDX-License-Identifier: Apache-2.0
#include "tb/device/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>

#include "input/names.hpp"
#include "tb/device/line_words.hpp"
#include "wire/text.hpp"

namespace mrc::tb {
namespace {

using input::Json;

const char* stop_after(const std::string& sentence) { return sentence.ends_with('?') ? "" : "."; }

/// Reads the members of one call. Errors are InputErrors with the place.
class Reader {
 public:
  Reader(const Json& call, const std::string& file) : call_(call), file_(file) {}

  [[noreturn]] void refuse(const Json& at, const std::string& what, const std::string& remedy) const {
    throw InputError(fmt::format("{}: {}{}", input::place(file_, at.line, at.column), what, stop_after(what)), remedy,
                     at.line, at.column);
  }
  const Json* find(const char* name) const { return call_.find(name); }
  const Json& need(const char* name) const {
    if (const Json* value = call_.find(name)) return *value;
    refuse(call_, fmt::format("the call has no {}", name), kRemedy);
  }
  uint64_t whole_of(const Json& value, const char* name, uint64_t max) const {
    if (!value.is_number()) refuse(value, fmt::format("{} is no number", name), kRemedy);
    return input::whole(value.literal(name, file_), 0, max, name);
  }
  uint64_t whole(const char* name, uint64_t max) const { return whole_of(need(name), name, max); }
  Time time(const char* name) const { return whole(name, kMaxTime); }
  bool flag_of(const Json& value, const char* name) const {
    if (value.is_flag()) return value.flag();
    if (value.is_number()) return whole_of(value, name, 1) != 0;
    refuse(value, fmt::format("{} is neither true nor false", name), kRemedy);
  }
  const std::string& text_of(const Json& value, const char* name) const {
    if (!value.is_text()) refuse(value, fmt::format("{} is no text", name), kRemedy);
    return value.text;
  }
  std::vector<uint8_t> bytes(const char* name) const {
    const Json& value = need(name);
    size_t bad = 0;
    auto read = wire::from_hex(text_of(value, name), bad);
    if (!read)
      refuse(value, fmt::format("{} is no hex from character {} on", name, bad + 1), "Write two digits a byte.");
    return std::move(*read);
  }
  log::Ip ip_of(const Json& value, const char* name) const {
    log::Ip ip;
    if (wire::from_text(text_of(value, name), ip)) return ip;
    std::array<uint8_t, 4> v4;
    if (wire::from_text(value.text, v4))
      throw Refusal(fmt::format("{} {} is an IPv4 address, and this device has IPv6 only.", name, value.text), true);
    refuse(value, fmt::format("{} {} is no IPv6 address", name, input::shown(value.text)), "Write it as \"fd00::1\".");
  }
  QpClass class_of(const Json& value, const char* name) const {
    const Json *data = value.find("data"), *rtx = value.find("rtx");
    if (data == nullptr || rtx == nullptr)
      refuse(value, fmt::format("{} lacks data or rtx", name), R"(Write {"data":10,"rtx":11}, code points.)");
    constexpr uint64_t kMost = 63;
    return {static_cast<uint8_t>(whole_of(*data, "data", kMost)), static_cast<uint8_t>(whole_of(*rtx, "rtx", kMost))};
  }
  ControllerNumbers numbers_of(const Json& value, const char* name) const {
    if (!value.is_object()) refuse(value, fmt::format("{} is no object", name), R"(Write {"base_rtt": 6000}.)");
    ControllerNumbers numbers;
    for (const input::JsonMember& m : value.members) {
      if (!m.value.is_number()) refuse(m.value, fmt::format("{} is no number", m.name), kRemedy);
      numbers.emplace_back(m.name, input::number(m.value.literal(m.name, file_), {-1e300, 1e300}, "a number"));
    }
    return numbers;
  }
  uint64_t mac_of(const Json& value, const char* name) const {
    size_t bad = 0;
    const auto bytes = wire::from_hex(text_of(value, name), bad);
    if (!bytes || bytes->size() != 6)
      refuse(value, fmt::format("{} {} is no MAC address", name, input::shown(value.text)),
             "Write it as \"020000000001\".");
    uint64_t mac = 0;
    for (const uint8_t byte : *bytes) mac = mac << 8 | byte;
    return mac;
  }
  template <size_t N>
  unsigned choice_of(const Json& value, const char* name, const std::array<const char*, N>& names) const {
    const std::string& text = text_of(value, name);
    for (unsigned i = 0; i < N; ++i) {
      if (text == names[i]) return i;
    }
    const std::vector<std::string_view> known(names.begin(), names.end());
    refuse(value, fmt::format("{} {} is not known{}", name, input::shown(text), input::did_you_mean(text, known)),
           fmt::format("It is one of {}.", fmt::join(names, ", ")));
  }

  static constexpr const char* kRemedy = "docs/reference/device.md lists the keys of each call.";

 private:
  const Json& call_;
  const std::string& file_;
};

std::string refusal(const std::string& sentence, bool unsupported) {
  return fmt::format(R"({{"ok":false,"error":{},"unsupported":{}}})", json_text(sentence), unsupported);
}

std::string input_refusal(const InputError& error) {
  return refusal(std::string(error.what()) + " " + error.remedy, false);
}

const char* pending(bool is) { return is ? R"({"ok":true,"pending":true})" : R"({"ok":true})"; }

/// Of an order to modify a QP: why it was refused, or nothing.
std::string refused_keys(Refused refused, uint32_t attributes) {
  if (refused == Refused::No) return {};
  std::string names;
  for (unsigned i = 0; i < kQpAttributes; ++i) {
    if (attributes >> i & 1) names += fmt::format("{}\"{}\"", names.empty() ? "" : ",", kLineAttributes[i]);
  }
  return fmt::format(R"(,"refused":"{}","attributes":[{}])", kLineRefused[static_cast<unsigned>(refused)], names);
}

struct AppendOutput {
  std::string& to;
  Time time;

  auto into() const { return std::back_inserter(to); }
  void operator()(const SentFrame& o) const {
    fmt::format_to(into(), R"({{"out":"tx","plane":{},"t":{},"t_last":{},"frame":")", o.plane, time, o.last);
    wire::append_hex(to, o.bytes);
    to += "\"}";
  }
  void operator()(const HostRead& o) const {
    fmt::format_to(into(), R"({{"out":"read","t":{},"tag":{},"addr":{},"bytes":{}}})", time, o.tag, o.addr, o.bytes);
  }
  void operator()(const HostWrite& o) const {
    fmt::format_to(into(), R"({{"out":"write","t":{},"addr":{},"data":")", time, o.addr);
    wire::append_hex(to, o.data);
    to += "\"}";
  }
  void operator()(const log::Cqe& o) const {
    fmt::format_to(into(), R"({{"out":"cqe","t":{},"qp":{},"receive":{},"status":"{}")", time, o.qp, o.receive,
                   kLineStatus[static_cast<unsigned>(o.status)]);
    if (o.receive) {
      fmt::format_to(into(), R"(,"imm":{},"rqmsn":{},"bytes":{}}})", o.imm, o.rqmsn, o.bytes);
    } else {
      fmt::format_to(into(), R"(,"wr_id":{}}})", o.wr_id);
    }
  }
  void operator()(const log::Event& o) const {
    fmt::format_to(into(), R"({{"out":"event","t":{},"kind":"{}","qp":{},"arg":[{}]}})", time,
                   kLineEvents[static_cast<unsigned>(o.kind)], o.qp, fmt::join(o.arg, ","));
  }
  void operator()(const log::Port& o) const {
    fmt::format_to(into(), R"({{"out":"port","t":{},"plane":{},"up":{}}})", time, o.plane, o.up);
  }
  void operator()(const Done& o) const {
    fmt::format_to(into(), R"({{"out":"done","t":{},"call":"{}","{}":{})", time, o.call, o.region ? "rkey" : "qp",
                   o.number);
    if (!o.error.empty()) fmt::format_to(into(), R"(,"error":{})", json_text(o.error));
    to += refused_keys(o.refused, o.attributes) + '}';
  }
};

std::string list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ",") + json_text(text);
  return out;
}

std::string open(NicDevice& device, const Reader& r) {
  if (const uint64_t version = r.whole("version", ~0u); version != 1)
    throw Refusal(fmt::format("version {} of these calls is not known: this device speaks version 1.", version), true);
  OpenRequest request;
  if (const Json* planes = r.find("planes")) request.planes = static_cast<unsigned>(r.whole_of(*planes, "planes", 64));
  if (const Json* seed = r.find("seed")) request.seed = r.whole_of(*seed, "seed", ~uint64_t{0});
  if (const Json* settings = r.find("settings")) {
    if (!settings->is_object()) r.refuse(*settings, "settings is no object", R"(Write {"CTRL.oor_drop": 1}.)");
    for (const input::JsonMember& m : settings->members) {
      const uint64_t value = m.value.is_flag() ? m.value.flag() : r.whole_of(m.value, m.name.c_str(), ~uint64_t{0});
      request.settings.emplace_back(m.name, value);
    }
  }
  const DeviceInfo info = device.open(request);
  return fmt::format(
      R"({{"ok":true,"name":{},"version":{},"planes":{},"port_gbps":{},"caps":[{}],"latency":{},)"
      R"("qp_first":{},"qps":{},"limits":{{"mpr":{},"max_wimm":{},"evs":{},"regions":{},"post":{}}},"profile":{}}})",
      json_text(info.name), json_text(info.version), info.planes, info.port_gbps, list(info.caps), info.latency,
      info.qp_first, info.qps, info.mpr, info.max_wimm, info.evs, info.regions, info.post, info.profile);
}

/// The keys of a QP that the call has, into c.
void read_config(const Reader& r, QpConfig& c) {
  const auto number = [&](const char* name, auto& to, uint64_t max) {
    if (const Json* value = r.find(name)) to = static_cast<std::decay_t<decltype(to)>>(r.whole_of(*value, name, max));
  };
  const auto flag = [&](const char* name, bool& to) {
    if (const Json* value = r.find(name)) to = r.flag_of(*value, name);
  };
  if (const Json* state = r.find("state"))
    c.state = static_cast<log::QpState>(r.choice_of(*state, "state", kLineStates));
  number("peer_qp", c.peer_qp, 0xffffff);
  if (const Json* ip = r.find("peer_ip")) c.peer_ip = r.ip_of(*ip, "peer_ip");
  if (const Json* mac = r.find("peer_mac")) c.peer_mac = r.mac_of(*mac, "peer_mac");
  number("mtu", c.mtu, 65536);
  number("sq_psn", c.sq_psn, 0xffffff);
  number("rq_psn", c.rq_psn, 0xffffff);
  number("msn", c.msn, 0xffff);
  number("rqmsn", c.rqmsn, 0xffff);
  number("mpr", c.mpr, 255);
  number("mpr_dest", c.mpr_dest, 255);
  flag("dynamic_mpr", c.dynamic_mpr);
  number("max_wimm", c.max_wimm, 255);
  number("max_wimm_dest", c.max_wimm_dest, 255);
  number("timeout", c.timeout, 31);
  number("retry_linear", c.retry_linear, 255);
  number("retry_exp", c.retry_exp, 255);
  flag("trim_nack", c.trim_nack);
  flag("svc_time", c.svc_time);
  flag("time_stamps", c.time_stamps);
  flag("controlled", c.controlled);
  if (const Json* nscc = r.find("nscc")) c.nscc = r.numbers_of(*nscc, "nscc");
  number("pkey", c.pkey, 0xffff);
  if (const Json* of = r.find("class")) c.own_class = r.class_of(*of, "class");
  if (const Json* encap = r.find("encap"))
    c.encap = static_cast<Encapsulation>(r.choice_of(*encap, "encap", kLineEncaps));
  if (const Json* path = r.find("path")) c.path = r.ip_of(*path, "path");
  if (const Json* evs = r.find("evs")) {
    if (!evs->is_array()) r.refuse(*evs, "evs is no list", "Write [1,2,3].");
    c.evs.clear();
    c.backup = 0;
    for (const Json& ev : evs->items) c.evs.push_back(static_cast<uint32_t>(r.whole_of(ev, "evs", ~0u)));
  }
  number("backup", c.backup, ~0u);
}

std::string qp(NicDevice& device, const Reader& r) {
  QpConfig c = device.qp_now(static_cast<uint32_t>(r.whole("qp", 0xffffff)));
  read_config(r, c);
  const bool waits = device.qp(c);
  c = device.qp_now(c.qp);
  return fmt::format(
      R"({{"ok":true{},"state":"{}","mpr":{},"mpr_dest":{},"max_wimm":{},"max_wimm_dest":{},"timeout":{},"evs":[{}],)"
      R"("backup":{}}})",
      waits ? R"(,"pending":true)" : "", kLineStates[static_cast<unsigned>(c.state)], c.mpr, c.mpr_dest, c.max_wimm,
      c.max_wimm_dest, c.timeout, fmt::join(c.evs, ","), c.backup);
}

std::string modify(NicDevice& device, const Reader& r) {
  const QpConfig now = device.qp_now(static_cast<uint32_t>(r.whole("qp", 0xffffff)));
  QpConfig wanted = now;
  read_config(r, wanted);
  r.need("state");
  const Json& with = r.need("with");
  if (!with.is_array()) r.refuse(with, "with is no list", R"(Write "with":["ev_profile","cc_profile"].)");
  uint32_t attributes = 0;
  for (const Json& name : with.items) attributes |= 1u << r.choice_of(name, "attribute", kLineAttributes);
  const Modified result = device.modify(with_attributes(now, wanted, attributes), attributes);
  return fmt::format(R"({{"ok":true{}{}}})", result.pending ? R"(,"pending":true)" : "",
                     refused_keys(result.refused, result.attributes));
}

std::string address(NicDevice& device, const Reader& r) {
  device.address(r.mac_of(r.need("mac"), "mac"), r.ip_of(r.need("ip"), "ip"));
  return pending(false);
}

std::string query(NicDevice& device, const Reader& r) {
  const auto [state, time] = device.query(static_cast<uint32_t>(r.whole("qp", 0xffffff)));
  return fmt::format(R"({{"ok":true,"state":"{}","t":{}}})", kLineStates[static_cast<unsigned>(state)], time);
}

std::string mr(NicDevice& device, const Reader& r) {
  log::Mr region;
  region.rkey = static_cast<uint32_t>(r.whole("rkey", ~0u));
  if (const Json* valid = r.find("valid")) region.valid = r.flag_of(*valid, "valid");
  if (const Json* write = r.find("write")) region.write = r.flag_of(*write, "write");
  if (region.valid) {
    region.va = r.whole("va", ~uint64_t{0});
    region.bytes = r.whole("bytes", ~uint64_t{0});
    region.addr = r.whole("addr", ~uint64_t{0});
  }
  return pending(device.mr(region));
}

std::string post(NicDevice& device, const Reader& r) {
  log::Post request;
  request.qp = static_cast<uint32_t>(r.whole("qp", 0xffffff));
  request.wr_id = r.whole("wr_id", ~uint64_t{0});
  request.addr = r.whole("addr", ~uint64_t{0});
  request.remote = r.whole("remote", ~uint64_t{0});
  request.bytes = r.whole("bytes", ~uint64_t{0});
  request.rkey = static_cast<uint32_t>(r.whole("rkey", ~0u));
  if (const Json* imm = r.find("imm")) {
    request.immediate = true;
    request.imm = static_cast<uint32_t>(r.whole_of(*imm, "imm", ~0u));
  }
  return device.post(request) ? R"({"ok":true,"taken":true})" : R"({"ok":true,"taken":false})";
}

std::string recv(NicDevice& device, const Reader& r) {
  device.recv(static_cast<uint32_t>(r.whole("qp", 0xffffff)), static_cast<uint32_t>(r.whole("count", ~0u)));
  return pending(false);
}

std::string port(NicDevice& device, const Reader& r) {
  device.port(static_cast<unsigned>(r.whole("plane", 63)), r.flag_of(r.need("up"), "up"), r.time("t"));
  return pending(false);
}

std::string ev(NicDevice& device, const Reader& r) {
  return pending(device.ev(static_cast<uint32_t>(r.whole("qp", 0xffffff)), static_cast<uint32_t>(r.whole("ev", ~0u)),
                           r.flag_of(r.need("deny"), "deny")));
}

std::string evprobe(NicDevice& device, const Reader& r) {
  std::optional<uint8_t> tc;
  if (const Json* code = r.find("tc")) tc = static_cast<uint8_t>(r.whole_of(*code, "tc", 63));
  return pending(device.evprobe(static_cast<uint32_t>(r.whole("qp", 0xffffff)),
                                static_cast<unsigned>(r.whole("plane", 63)), static_cast<uint32_t>(r.whole("ev", ~0u)),
                                tc));
}

std::string mpr(NicDevice& device, const Reader& r) {
  return pending(
      device.mpr(static_cast<uint32_t>(r.whole("qp", 0xffffff)), static_cast<unsigned>(r.whole("units", 255))));
}

std::string reset(NicDevice& device, const Reader&) { return pending(device.reset()); }

std::string rx(NicDevice& device, const Reader& r) {
  const Json* bad = r.find("fcs_bad");
  device.rx(static_cast<unsigned>(r.whole("plane", 63)), r.time("t"), r.bytes("frame"),
            bad != nullptr && r.flag_of(*bad, "fcs_bad"));
  return pending(false);
}

std::string memory(NicDevice& device, const Reader& r) {
  device.memory(r.flag_of(r.need("takes"), "takes"));
  return pending(false);
}

std::string host_done(NicDevice& device, const Reader& r) {
  const Json* status = r.find("status");
  const auto code = status == nullptr ? 0u : static_cast<uint32_t>(r.whole_of(*status, "status", ~0u));
  device.host_done(r.whole("tag", ~uint64_t{0}), r.time("t"), code == 0 ? r.bytes("data") : std::vector<uint8_t>(),
                   code);
  return pending(false);
}

std::string pause(NicDevice& device, const Reader& r) {
  const auto what = static_cast<NicDevice::HostQueue>(r.choice_of(r.need("what"), "what", kLineQueues));
  device.pause(what, r.time("t"), r.time("until"));
  return pending(false);
}

std::string advance(NicDevice& device, const Reader& r) {
  const Json* slack = r.find("slack");
  const Advanced ran = device.advance(r.time("until"), slack == nullptr ? 0 : r.whole_of(*slack, "slack", kMaxTime));
  std::string out = fmt::format(R"({{"ok":true,"reached":{},"out":[)", ran.reached);
  bool first = true;
  for (const Output& o : ran.out) {
    if (!first) out += ',';
    first = false;
    std::visit(AppendOutput{out, o.time}, o.body);
  }
  return out + "]}";
}

std::string counters(NicDevice& device, const Reader&) {
  const Counters now = device.counters();
  std::string out = fmt::format(R"({{"ok":true,"t":{},"counters":{{)", now.time);
  bool first = true;
  for (const auto& [name, value] : now.values) {
    fmt::format_to(std::back_inserter(out), "{}{}:{}", first ? "" : ",", json_text(name), value);
    first = false;
  }
  return out + "}}";
}

struct Call {
  const char* name;
  std::string (*answer)(NicDevice&, const Reader&);
};
constexpr Call kCalls[] = {
    {"open", open},     {"address", address},     {"qp", qp},           {"query", query},     {"mr", mr},
    {"post", post},     {"recv", recv},           {"port", port},       {"ev", ev},           {"mpr", mpr},
    {"rx", rx},         {"host_done", host_done}, {"pause", pause},     {"advance", advance}, {"counters", counters},
    {"memory", memory}, {"modify", modify},       {"evprobe", evprobe}, {"reset", reset}};

}  // namespace

std::string LineServer::too_long(uint32_t number) const {
  return refusal(fmt::format("{}:{}:1: a line of more than {} bytes. Send less at once.", source_, number, kMaxLine),
                 false);
}

std::string LineServer::answer_call(const Json& call) {
  try {
    const Reader r(call, source_);
    if (!call.is_object()) r.refuse(call, "a call is an object", R"(Write {"call":"open","version":1}.)");
    const std::string& name = r.text_of(r.need("call"), "call");
    if (name == "close") {
      closed_ = true;
      return pending(false);
    }
    const auto* const found =
        std::find_if(std::begin(kCalls), std::end(kCalls), [&](const Call& c) { return name == c.name; });
    if (found != std::end(kCalls)) return found->answer(device_, r);
    std::vector<std::string_view> known{"close"};
    for (const Call& c : kCalls) known.emplace_back(c.name);
    const std::string what = "there is no call " + input::shown(name) + input::did_you_mean(name, known);
    throw Refusal(what + stop_after(what), true);
  } catch (const InputError& error) {
    return input_refusal(error);
  } catch (const Refusal& error) {
    return refusal(error.what(), error.unsupported);
  }
}

std::string LineServer::answer(std::string_view line, uint32_t number) {
  std::optional<Json> document;
  try {
    input::JsonReader reader(line, source_, number);
    document = reader.next();
    if (!document) return {};
    if (reader.next())
      throw InputError(fmt::format("{}:{}: more than one document on a line.", source_, number),
                       "Write one call a line, or an array of calls.");
  } catch (const InputError& error) {
    return input_refusal(error);
  }
  if (!document->is_array()) return answer_call(*document);
  std::string out = "[";
  for (const Json& call : document->items) {
    if (out.size() > 1) out += ',';
    out += answer_call(call);
  }
  return out + "]";
}

}  // namespace mrc::tb
