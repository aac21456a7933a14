// SPDX-License-Identifier: Apache-2.0
#include "reference/profile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "input/json.hpp"
#include "input/names.hpp"
#include "input/number.hpp"
#include "log/address.hpp"
#include "wire/text.hpp"

namespace mrc::ref {
namespace {

using input::Json;

constexpr uint64_t kMost32 = 0xffffffff;
constexpr unsigned kMostQps = 1u << 20, kMostEvs = 1u << 14, kMostAddresses = 1u << 16, kMostClasses = 64;

constexpr Setting kSettings[] = {
    {"UDP_PORT.port", "A-01", 65535, nullptr, &Settings::udp_port},
    {"UDP_PORT.only", "A-01", 1, &Settings::udp_port_only, nullptr},
    {"CTRL.bth_m_high", "A-02", 1, &Settings::bth_m_high, nullptr},
    {"CTRL.bth_m", "A-02", 1, &Settings::bth_m, nullptr},
    {"CTRL.ev_swap", "A-03", 1, &Settings::ev_swap, nullptr},
    {"DSCP_TX.data", "A-04", 63, nullptr, &Settings::dscp_data},
    {"DSCP_TX.rtx", "A-04", 63, nullptr, &Settings::dscp_rtx},
    {"DSCP_TX.ctl", "A-04", 63, nullptr, &Settings::dscp_ctl},
    {"DSCP_TX.ep", "A-60", 63, nullptr, &Settings::dscp_ep},
    {"DSCP_TRIM.trimmed", "A-04", 63, nullptr, &Settings::dscp_trimmed},
    {"DSCP_TRIM.lasthop", "A-04", 63, nullptr, &Settings::dscp_lasthop},
    {"DSCP_TRIM.returned", "A-80", 63, nullptr, &Settings::dscp_returned},
    {"DSCP_TRIM.returned_valid", "A-80", 1, &Settings::returned_valid, nullptr},
    {"CTRL.returned", "A-80", 2, nullptr, &Settings::returned},
    {"SACK_TRIGGER.bytes", "A-09", kMost32, nullptr, &Settings::sack_trigger},
    {"CTRL.sack_base_self", "A-11", 1, &Settings::sack_base_self, nullptr},
    {"CTRL.oor_drop", "A-12", 1, &Settings::oor_drop, nullptr},
    {"CTRL.icrc_outer", "A-14", 1, &Settings::icrc_outer, nullptr},
    {"CTRL.ack_with_sack", "A-16", 1, &Settings::ack_with_sack, nullptr},
    {"CTRL.ack_plane", "A-06", 1, &Settings::ack_plane, nullptr},
    {"CTRL.rev_fixed", "A-06", 1, &Settings::rev_fixed, nullptr},
    {"CTRL.zero_length", "A-19", 2, nullptr, &Settings::zero_length},
    {"CTRL.wimm_over", "A-62", 2, nullptr, &Settings::wimm_over},
    {"CTRL.skip_mode", "A-20", 2, nullptr, &Settings::skip_mode},
    {"EV_CTL.skip_ticks", "A-20", 65535, nullptr, &Settings::skip_ticks},
    {"CTRL.tsr_us", "A-21", 1, &Settings::tsr_us, nullptr},
    {"CTRL.pdcid_zero", "A-22", 1, &Settings::pdcid_zero, nullptr},
    {"CTRL.eeth_op_high", "A-36", 1, &Settings::eeth_op_high, nullptr},
    {"CTRL.ports_from_0", "A-37", 1, &Settings::ports_from_0, nullptr},
    {"CTRL.nominal", "A-55", 3, nullptr, &Settings::nominal},
    {"CTRL.err_silent", "A-57", 1, &Settings::err_silent, nullptr},
    {"CTRL.rtt_rtx", "A-58", 1, &Settings::rtt_rtx, nullptr},
    {"NAK_CODE.invalid", "A-70", 255, nullptr, &Settings::nak_invalid},
    {"NAK_CODE.access", "A-70", 255, nullptr, &Settings::nak_access},
    {"CTRL.trim_silent", "A-74", 1, &Settings::trim_silent, nullptr},
    {"CTRL.state_silent", "A-75", 1, &Settings::state_silent, nullptr},
    {"IP_PLANE.enable", "A-76", 1, &Settings::ip_per_plane, nullptr},
    {"IP_PLANE.lsb", "A-76", 127, nullptr, &Settings::ip_plane_lsb},
    {"REORDER.pkts", "A-08", 32767, nullptr, &Settings::reorder_pkts},
    {"REORDER.same_ev", "A-08", 1, &Settings::same_ev, nullptr},
    {"CTRL.port_wait", "A-82", 1, &Settings::port_wait, nullptr},
    {"LOSS.port", "A-82", 1, &Settings::loss_port, nullptr},
    {"LOSS.time", "A-83", 1, &Settings::loss_time, nullptr},
    {"LOSS.again", "A-83", 1, &Settings::loss_again, nullptr},
    {"EV_CTL.min_active", "A-31", 511, nullptr, &Settings::min_active},
    {"EV_CTL.loss_share", "A-87", 7, nullptr, &Settings::loss_share},
    {"CTRL.any_plane", "A-85", 1, &Settings::any_plane, nullptr},
    {"EV_CTL.one_copy", "A-89", 1, &Settings::one_copy, nullptr},
    {"EV_CTL.bad_waits", "A-90", 1, &Settings::bad_waits, nullptr},
    {"EV_PROBE.interval", "A-32", 65535, nullptr, &Settings::probe_interval},
    {"EV_PROBE.cap", "A-71", 14, nullptr, &Settings::probe_cap},
    {"EV_PROBE.successes", "A-32", 7, nullptr, &Settings::probe_successes},
    {"EV_PROBE.kind", "A-32", 3, nullptr, &Settings::probe_kind},
    {"EV_PROBE.skip_good", "A-33", 1, &Settings::skip_good, nullptr},
    {"EP_CTL.interval", "A-60", 65535, nullptr, &Settings::ep_interval},
    {"EP_CTL.repeats", "A-60", 15, nullptr, &Settings::ep_repeats},
    {"SHARE.enable", "A-78", 1, &Settings::share, nullptr},
};

/// Settings that no rule asks about: read and held to their range, so that a profile may name all that was set.
struct Unrequested {
  const char* name;
  uint32_t most;
};
constexpr Unrequested kUnrequested[] = {
    {"SRV6.plane_lsb", 15},     {"SRV6.uplink_usid", 7},    {"SRV6.uplink_lsb", 15},  {"SRV6.uplink_bits", 15},
    {"EP_CTL.rev_probe", 1},    {"REV_EV0", kMost32},       {"REV_SEED", kMost32},    {"ACK_CTL.ar_gap", 65535},
    {"EV_PROBE.keep_count", 1}, {"CC_PROFILE.ar_shift", 7}, {"SHARE.pen", 127},       {"CTRL.port_wait", 1},
    {"CTRL.loss_shrinks", 1},   {"CTRL.time_wait", 1},      {"CTRL.silence_wait", 1}, {"EVP_CMD.tc", 63},
    {"EV_CTL.lost_stays", 1},
};

/// Settings that stand elsewhere in a profile: of a QP, of a controller.
struct Elsewhere {
  const char *name, *where;
};
constexpr Elsewhere kElsewhere[] = {
    {"ACK_CTL.gap", "ack_gap_ps of the profile"},
    {"QP_CTX.timeout", "timeout of an entry of qps"},
    {"QP_CTX.trim_nack", "trim_nack of an entry of qps"},
    {"QP_CTX.msn", "msn of an entry of qps"},
    {"QP_CTX.rqmsn", "rqmsn of an entry of qps"},
    {"QP_CTX.backup", "backup of an entry of qps"},
    {"QP_CTX.retry_linear", "retry_linear of an entry of qps"},
    {"QP_CTX.retry_exp", "retry_exp of an entry of qps"},
    {"QP_CTX.svc_time", "svc_time of an entry of qps"},
    {"QP_CTX.dyn_mpr", "dynamic_mpr of an entry of qps"},
    {"QP_CTX.max_wimm", "max_wimm of an entry of qps"},
    {"QP_CTX.max_wimm_dest", "max_wimm_dest of an entry of qps"},
    {"QP_MPR.mpr", "mpr_dest of an entry of qps"},
    {"QP_CLASS.own", "class of an entry of qps"},
    {"QP_CLASS.data", "class of an entry of qps"},
    {"QP_CLASS.rtx", "class of an entry of qps"},
    {"EV_GEN.mode", "evs of an entry of qps"},
    {"EV_GEN.seed", "evs of an entry of qps"},
    {"EV_GEN.max_val", "evs of an entry of qps"},
    {"CC_PROFILE.base_rtt", "base_rtt_ns of an entry of controllers"},
    {"CC_PROFILE.mtu", "mtu of an entry of controllers"},
    {"CC_PROFILE.disable_qa", "quick_adapt of an entry of controllers"},
    {"CC_PROFILE.md_resets_fast", "md_resets_fast of an entry of controllers"},
    {"CC_PROFILE.nack_any_reason", "nack_any_reason of an entry of controllers"},
    {"CC_PROFILE.nack_sample_cfg", "nack_sample_cfg of an entry of controllers"},
    {"CC_PROFILE.nack_rtt", "nack_rtt of an entry of controllers"},
    {"CC_PROFILE.adjust_period", "adjust_period_threshold_ns of an entry of controllers"},
    {"CC_PROFILE.eta", "eta of an entry of controllers"},
    {"CC_PROFILE.fi", "fi of an entry of controllers"},
    {"CC_PROFILE.wnd_rate", "rate_gbps of an entry of controllers"},
    {"CC_PROFILE.alpha", "alpha of an entry of controllers"},
    {"CC_PROFILE.qa_threshold", "qa_threshold_ns of an entry of controllers"},
    {"CC_PROFILE.ewma_weight", "ewma_weight of an entry of controllers"},
    {"CC_PROFILE.near_zero", "near_zero_ns of an entry of controllers"},
};

constexpr std::string_view kStates[] = {"reset", "init", "rtr", "rts", "error"};
constexpr std::string_view kEncaps[] = {"ipv6", "srv6", "srh", "ipv4"};
constexpr std::string_view kEvents[] = {"take", "answer", "heard", "lost", "path", "cc", "timer", "window", "qp"};

/// Members of one object, each asked for by its name; who has more is told so.
class Members {
 public:
  Members(const Json& json, std::string_view file, std::string what)
      : json_(json), file_(file), what_(std::move(what)) {
    if (!json.is_object()) refuse(json, what_ + " is no object", "Write { \"key\": value, ... }.");
  }
  const Json* find(std::string_view name) {
    known_.push_back(name);
    return json_.find(name);
  }
  template <class T>
  void number(std::string_view name, T& to, uint64_t max, std::string_view doc) {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_number()) refuse(*value, fmt::format("{} is no number", name), fmt::format("Write {}.", doc));
    to = static_cast<T>(input::whole(value->literal(name, file_), 0, max, doc));
  }
  void flag(std::string_view name, bool& to) {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_flag()) refuse(*value, fmt::format("{} is neither true nor false", name), "Write true or false.");
    to = value->flag();
  }
  void text(std::string_view name, std::string& to) {
    if (const Json* value = find(name)) to = text_of(*value, name);
  }
  void address(std::string_view name, log::Ip& to) {
    if (const Json* value = find(name)) to = address_of(*value, name);
  }
  template <class T>
  void word(std::string_view name, T& to, std::span<const std::string_view> words) {
    if (const Json* value = find(name)) to = static_cast<T>(word_of(*value, name, words));
  }
  /// Calls read(item) for each.
  template <class Read>
  void list(std::string_view name, std::size_t most, const Read& read) {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_array()) refuse(*value, fmt::format("{} is no list", name), "Write [ ... ].");
    if (value->items.size() > most) {
      refuse(*value, fmt::format("{} has {} entries, at most {} are read", name, value->items.size(), most),
             "Leave some out.");
    }
    for (const Json& item : value->items) read(item);
  }
  std::string text_of(const Json& value, std::string_view name) const {
    if (!value.is_text()) refuse(value, fmt::format("{} is no text", name), "Write it in quotes.");
    return value.text;
  }
  log::Ip address_of(const Json& value, std::string_view name) const {
    const auto ip = value.is_text() ? log::address_of(value.text) : std::nullopt;
    if (!ip) {
      refuse(value, fmt::format("{} = {} is no IP address", name, input::shown(value.text)),
             "Write it as \"fd00::1\" or \"10.0.0.1\".");
    }
    return *ip;
  }
  std::size_t word_of(const Json& value, std::string_view name, std::span<const std::string_view> words) const {
    const std::string text = text_of(value, name);
    const auto found = std::ranges::find(words, text);
    if (found == words.end()) {
      refuse(value, fmt::format("unknown {} {}{}", name, input::shown(text), no_stop(input::did_you_mean(text, words))),
             fmt::format("It is one of {}.", fmt::join(words, ", ")));
    }
    return static_cast<std::size_t>(found - words.begin());
  }
  /// After all that are known.
  void done() const {
    for (const input::JsonMember& member : json_.members) {
      if (std::ranges::find(known_, member.name) != known_.end()) continue;
      throw InputError(fmt::format("{}: unknown key {} in {}{}", input::place(file_, member.line, member.column),
                                   input::shown(member.name), what_, input::did_you_mean(member.name, known_)),
                       fmt::format("Known keys are {}.", fmt::join(known_, ", ")), member.line, member.column);
    }
  }
  [[noreturn]] void refuse(const Json& at, const std::string& what, const std::string& remedy) const {
    throw InputError(
        fmt::format("{}: {}{}", input::place(file_, at.line, at.column), what, what.ends_with('?') ? "" : "."), remedy,
        at.line, at.column);
  }

 private:
  static std::string no_stop(std::string text) {
    if (text.ends_with('.')) text.pop_back();
    return text;
  }
  const Json& json_;
  std::string_view file_;
  std::string what_;
  std::vector<std::string_view> known_;
};

void read_settings(const Json& json, const std::string& file, Settings& to) {
  Members members(json, file, "settings");
  const auto value_of = [&](const char* name, uint64_t most, const std::string& doc) -> std::optional<uint32_t> {
    const Json* value = members.find(name);
    if (value == nullptr) return std::nullopt;
    if (value->is_flag() && most == 1) return value->flag() ? 1 : 0;
    if (!value->is_number()) {
      members.refuse(*value, fmt::format("{} is no number", name),
                     fmt::format("Write a whole number from 0 to {}.", most));
    }
    return static_cast<uint32_t>(input::whole(value->literal(name, file), 0, most, doc));
  };
  for (const Setting& setting : kSettings) {
    const auto value = value_of(setting.name, setting.most, fmt::format("assumption {}", setting.assumption));
    if (!value) continue;
    setting.set(to, *value);
    to.notified_data |= setting.number == &Settings::dscp_data;
    to.notified_rtx |= setting.number == &Settings::dscp_rtx;
  }
  for (const Unrequested& setting : kUnrequested)
    value_of(setting.name, setting.most, "a setting that no rule asks about");
  for (const Elsewhere& setting : kElsewhere) {
    if (const Json* value = json.find(setting.name))
      members.refuse(*value, fmt::format("{} does not stand in settings", setting.name),
                     fmt::format("Write it as {}.", setting.where));
  }
  members.done();
}

TrafficClass read_class(const Json& json, const std::string& file) {
  TrafficClass c;
  Members m(json, file, "a class");
  m.number("data", c.data, 63, "the code point of data");
  m.number("rtx", c.rtx, 63, "the code point of retransmissions");
  m.done();
  for (const char* name : {"data", "rtx"}) {
    if (json.find(name) == nullptr) {
      m.refuse(json, fmt::format("a class without {}", name), "Write { \"data\": 4, \"rtx\": 8 }.");
    }
  }
  return c;
}

log::Qp read_qp(const Json& json, const std::string& file) {
  log::Qp q;
  q.state = log::QpState::Rts;
  Members m(json, file, "a QP");
  m.number("qp", q.qp, 0xffffff, "its number");
  m.number("peer_qp", q.peer_qp, 0xffffff, "the QP at the other end");
  m.word("state", q.state, kStates);
  m.number("dest", q.dest, kMost32, "QPs of one value share a congestion controller");
  m.number("mtu", q.mtu, 1u << 16, "path MTU in bytes");
  m.number("sq_psn", q.sq_psn, 0xffffff, "the first PSN sent");
  m.number("rq_psn", q.rq_psn, 0xffffff, "the first PSN expected");
  m.number("msn", q.msn, 0xffff, "the first MSN");
  m.number("rqmsn", q.rqmsn, 0xffff, "the first RQMSN");
  m.number("mpr", q.mpr, 1u << 16, "window as requestor, in units of 128 PSNs");
  m.number("mpr_dest", q.mpr_dest, 1u << 16, "window as responder, in units of 128 PSNs");
  m.flag("dynamic_mpr", q.dynamic_mpr);
  m.number("max_wimm", q.max_wimm, kMost32, "immediates outstanding as requestor");
  m.number("max_wimm_dest", q.max_wimm_dest, kMost32, "immediates outstanding as responder");
  m.number("timeout", q.timeout, 63, "retransmission timeout, 1.024 us x 2^n");
  m.number("retry_linear", q.retry_linear, kMost32, "linear retries");
  m.number("retry_exp", q.retry_exp, kMost32, "exponential retries");
  m.flag("trim_nack", q.trim_nack);
  m.flag("svc_time", q.svc_time);
  m.flag("time_stamps", q.time_stamps);
  m.flag("controlled", q.controlled);
  m.number("pkey", q.pkey, 0xffff, "P_Key");
  m.word("encap", q.encap, kEncaps);
  m.address("own_ip", q.own_ip);
  m.address("peer_ip", q.peer_ip);
  if (const Json* value = m.find("class")) {
    const TrafficClass c = read_class(*value, file);
    q.own_class = true;
    q.dscp_data = c.data;
    q.dscp_rtx = c.rtx;
  }
  const auto numbers = [&](std::string_view name, uint64_t max, const auto& add) {
    m.list(name, kMostEvs, [&](const Json& item) {
      if (!item.is_number()) m.refuse(item, fmt::format("{} has an entry that is no number", name), "Write numbers.");
      add(input::whole(item.literal(name, file), 0, max, "an entry of it"));
    });
  };
  numbers("evs", kMost32, [&](uint64_t v) { q.evs.push_back(static_cast<uint32_t>(v)); });
  numbers("ev_planes", log::kMaxPlanes - 1, [&](uint64_t v) { q.ev_planes.push_back(static_cast<uint8_t>(v)); });
  m.number("backup", q.backup, kMostEvs, "how many of evs, at their end, begin as backup");
  m.done();
  if (!q.ev_planes.empty() && q.ev_planes.size() != q.evs.size()) {
    m.refuse(json, fmt::format("{} entries of ev_planes for {} of evs", q.ev_planes.size(), q.evs.size()),
             "Name a plane for each EV, or leave ev_planes out.");
  }
  if (q.backup > q.evs.size() && !q.evs.empty()) {
    m.refuse(json, fmt::format("backup = {} of {} evs", q.backup, q.evs.size()), "Name at most as many as evs has.");
  }
  return q;
}

log::Mr read_region(const Json& json, const std::string& file) {
  log::Mr r;
  Members m(json, file, "a region");
  m.number("rkey", r.rkey, kMost32, "R_Key");
  m.flag("valid", r.valid);
  m.flag("write", r.write);
  m.number("va", r.va, ~uint64_t{0}, "address as remote sides name it");
  m.number("bytes", r.bytes, ~uint64_t{0}, "its length");
  m.number("addr", r.addr, ~uint64_t{0}, "host address of its first byte");
  m.done();
  return r;
}

/// Members of a controller, by name.
constexpr std::pair<const char*, double Controller::*> kControllerNumbers[] = {
    {"rate_gbps", &Controller::rate_gbps},
    {"base_rtt_ns", &Controller::base_rtt_ns},
    {"mtu", &Controller::mtu},
    {"max_cwnd", &Controller::max_cwnd},
    {"target_delay_ns", &Controller::target_ns},
    {"adjust_bytes_threshold", &Controller::adjust_bytes},
    {"adjust_period_threshold_ns", &Controller::adjust_period_ns},
    {"near_zero_ns", &Controller::near_zero_ns},
    {"qa_threshold_ns", &Controller::qa_threshold_ns},
    {"fi", &Controller::fi},
    {"eta", &Controller::eta},
    {"fi_scale", &Controller::fi_scale},
    {"alpha", &Controller::alpha},
    {"gamma", &Controller::gamma},
    {"max_md_jump", &Controller::max_md_jump},
    {"ewma_weight", &Controller::ewma_weight},
};
constexpr std::pair<const char*, bool Controller::*> kControllerFlags[] = {
    {"trimming", &Controller::trimming},
    {"quick_adapt", &Controller::quick_adapt},
    {"md_resets_fast", &Controller::md_resets_fast},
    {"nack_any_reason", &Controller::nack_any_reason},
    {"nack_sample_cfg", &Controller::nack_sample_cfg},
    {"nack_rtt", &Controller::nack_rtt},
};

Controller read_controller(const Json& json, const std::string& file) {
  Controller c;
  Members m(json, file, "a controller");
  m.number("dest", c.dest, kMost32, "as a QP's dest");
  m.number("qa_gate", c.qa_gate, 31, "quick adapt below max_wnd / 2^n");
  for (const auto& [name, member] : kControllerNumbers) {
    const Json* value = m.find(name);
    if (value == nullptr) continue;
    if (!value->is_number()) m.refuse(*value, fmt::format("{} is no number", name), "Write a number.");
    c.*member = input::number(value->literal(name, file), {0, 1e15}, "a field of the controller");
  }
  for (const auto& [name, member] : kControllerFlags) m.flag(name, c.*member);
  m.done();
  if (c.mtu < 1 || c.rate_gbps <= 0 || c.base_rtt_ns <= 0) {
    m.refuse(json, "a controller has mtu, rate_gbps and base_rtt_ns above 0", "Write what the device was told.");
  }
  return c;
}

/// The one document that stands there.
Json only(std::string_view json, const std::string& file) {
  input::JsonReader reader(json, file);
  std::optional<Json> document = reader.next();
  if (!document) throw InputError(file + ": nothing stands in it.", "Write { \"name\": ..., \"planes\": ... }.");
  if (reader.next()) throw InputError(file + ": more than one JSON document.", "Keep one.");
  return std::move(*document);
}

/// Writes what differs from the default.
class Differing {
 public:
  template <class T>
  void operator()(const char* name, const T& value, const T& usual) {
    if (value != usual) json[name] = value;
  }
  void address(const char* name, const log::Ip& value) {
    if (value != log::Ip{}) json[name] = wire::to_text(value);
  }
  Json json = Json::object();
};

Json json_of(const TrafficClass& c) { return {{"data", c.data}, {"rtx", c.rtx}}; }

Json json_of(const log::Qp& q) {
  const log::Qp usual;
  Differing d;
  d.json["qp"] = q.qp;
  d("peer_qp", q.peer_qp, usual.peer_qp);
  if (q.state != log::QpState::Rts) d.json["state"] = kStates[static_cast<std::size_t>(q.state)];
  d("dest", q.dest, usual.dest);
  d("mtu", q.mtu, usual.mtu);
  d("sq_psn", q.sq_psn, usual.sq_psn);
  d("rq_psn", q.rq_psn, usual.rq_psn);
  d("msn", q.msn, usual.msn);
  d("rqmsn", q.rqmsn, usual.rqmsn);
  d("mpr", q.mpr, usual.mpr);
  d("mpr_dest", q.mpr_dest, usual.mpr_dest);
  d("dynamic_mpr", q.dynamic_mpr, usual.dynamic_mpr);
  d("max_wimm", q.max_wimm, usual.max_wimm);
  d("max_wimm_dest", q.max_wimm_dest, usual.max_wimm_dest);
  d("timeout", q.timeout, usual.timeout);
  d("retry_linear", q.retry_linear, usual.retry_linear);
  d("retry_exp", q.retry_exp, usual.retry_exp);
  d("trim_nack", q.trim_nack, usual.trim_nack);
  d("svc_time", q.svc_time, usual.svc_time);
  d("time_stamps", q.time_stamps, usual.time_stamps);
  d("controlled", q.controlled, usual.controlled);
  d("pkey", q.pkey, usual.pkey);
  if (q.encap != usual.encap) d.json["encap"] = kEncaps[q.encap % std::size(kEncaps)];
  d.address("own_ip", q.own_ip);
  d.address("peer_ip", q.peer_ip);
  if (q.own_class) d.json["class"] = json_of(TrafficClass{q.dscp_data, q.dscp_rtx});
  d("evs", q.evs, usual.evs);
  d("ev_planes", q.ev_planes, usual.ev_planes);
  d("backup", q.backup, usual.backup);
  return d.json;
}

Json json_of(const log::Mr& r) {
  const log::Mr usual;
  Differing d;
  d.json["rkey"] = r.rkey;
  d("valid", r.valid, usual.valid);
  d("write", r.write, usual.write);
  d("va", r.va, usual.va);
  d("bytes", r.bytes, usual.bytes);
  d("addr", r.addr, usual.addr);
  return d.json;
}

Json json_of(const Controller& c) {
  const Controller usual;
  Differing d;
  d.json["dest"] = c.dest;
  d("qa_gate", c.qa_gate, usual.qa_gate);
  for (const auto& [name, member] : kControllerNumbers) d(name, c.*member, usual.*member);
  for (const auto& [name, member] : kControllerFlags) d(name, c.*member, usual.*member);
  return d.json;
}

}  // namespace

std::span<const Setting> settings() { return kSettings; }

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
  // A device that does not tell them apart takes them for what they are besides.
  const bool apart = settings.returned_valid && settings.returned != kNotDistinct;
  w.dscp.returned = apart ? static_cast<uint8_t>(settings.dscp_returned) : wire::kNoDscp;
  return w;
}

void Profile::read_as(const wire::WireConfig& w) {
  settings.udp_port = w.udp_port;
  settings.udp_port_only = w.udp_port_only;
  settings.bth_m_high = !w.bth_se_first;
  settings.ev_swap = w.ev_swap;
  settings.eeth_op_high = w.eeth_op_high;
  settings.icrc_outer = w.icrc_outer;
  settings.dscp_data = w.dscp.trimmable;
  settings.dscp_rtx = w.dscp.trimmable_retx;
  settings.dscp_ctl = w.dscp.control;
  settings.dscp_trimmed = w.dscp.trimmed;
  settings.dscp_lasthop = w.dscp.trimmed_lasthop;
  settings.returned_valid = w.dscp.returned != wire::kNoDscp;
  settings.dscp_returned = settings.returned_valid ? w.dscp.returned : 0;
}

log::Qp read_qp(std::string_view json, const std::string& file) { return read_qp(only(json, file), file); }
log::Mr read_region(std::string_view json, const std::string& file) { return read_region(only(json, file), file); }

Profile read_profile(std::string_view json, const std::string& file) {
  const Json document = only(json, file);
  Profile p;
  Members m(document, file, "the profile");
  m.text("name", p.name);
  m.number("planes", p.planes, log::kMaxPlanes, "ports of the device");
  if (const Json* value = m.find("port_gbps")) {
    if (!value->is_number()) m.refuse(*value, "port_gbps is no number", "Write the rate of a port in Gb/s.");
    p.port_gbps = input::number(value->literal("port_gbps", file), {0.001, 1e6}, "the rate of a port in Gb/s");
  }
  constexpr uint64_t kMostTime = 1'000'000'000'000'000;
  m.number("take_ps", p.take, kMostTime, "from the last byte at a port until the window has it, at most");
  m.number("answer_ps", p.answer, kMostTime, "from there until the answer's first byte, at most");
  m.number("ack_gap_ps", p.ack_gap, kMostTime, "least time between two semantic ACKs");
  m.number("skew_ps", p.skew, kMostTime, "how far clocks of ports may differ");
  m.flag("silent_drops", p.silent_drops);
  m.flag("all_completions", p.all_completions);
  m.number("qp_works", p.qp_works, kMost32, "work requests of one QP behind which those of all QPs may wait");
  m.number("all_works", p.all_works, kMost32, "work requests of all QPs behind which others may wait");
  m.list("shows", 64, [&](const Json& item) { p.shows |= uint64_t{1} << m.word_of(item, "shows", kEvents); });
  if (const Json* value = m.find("settings")) read_settings(*value, file, p.settings);
  m.list("classes", kMostClasses, [&](const Json& item) { p.classes.push_back(read_class(item, file)); });
  m.list("addresses", kMostAddresses,
         [&](const Json& item) { p.addresses.push_back(m.address_of(item, "addresses")); });
  m.list("qps", kMostQps, [&](const Json& item) { p.qps.push_back(read_qp(item, file)); });
  m.list("regions", kMostQps, [&](const Json& item) { p.regions.push_back(read_region(item, file)); });
  m.list("controllers", kMostQps, [&](const Json& item) { p.controllers.push_back(read_controller(item, file)); });
  m.done();
  if (p.planes == 0) m.refuse(*m.find("planes"), "planes = 0", "A device has at least one port.");
  return p;
}

std::string to_json(const Profile& p) {
  const Profile usual;
  Differing d;
  d("name", p.name, usual.name);
  d("planes", p.planes, usual.planes);
  d("port_gbps", p.port_gbps, usual.port_gbps);
  d("take_ps", p.take, usual.take);
  d("answer_ps", p.answer, usual.answer);
  d("ack_gap_ps", p.ack_gap, usual.ack_gap);
  d("skew_ps", p.skew, usual.skew);
  d("silent_drops", p.silent_drops, usual.silent_drops);
  d("all_completions", p.all_completions, usual.all_completions);
  d("qp_works", p.qp_works, usual.qp_works);
  d("all_works", p.all_works, usual.all_works);
  for (std::size_t i = 0; i < std::size(kEvents); ++i) {
    if (p.shows >> i & 1) d.json["shows"].push_back(kEvents[i]);
  }
  for (const Setting& s : kSettings) {
    const bool notified = (s.number == &Settings::dscp_data && p.settings.notified_data) ||
                          (s.number == &Settings::dscp_rtx && p.settings.notified_rtx);
    if (notified || s.get(p.settings) != s.get(usual.settings)) d.json["settings"][s.name] = s.get(p.settings);
  }
  for (const TrafficClass& c : p.classes) d.json["classes"].push_back(json_of(c));
  for (const log::Ip& ip : p.addresses) d.json["addresses"].push_back(log::address_text(ip));
  for (const log::Qp& qp : p.qps) d.json["qps"].push_back(json_of(qp));
  for (const log::Mr& region : p.regions) d.json["regions"].push_back(json_of(region));
  for (const Controller& controller : p.controllers) d.json["controllers"].push_back(json_of(controller));
  return d.json.dump();
}

}  // namespace mrc::ref
