// SPDX-License-Identifier: Apache-2.0
#include "log/text.hpp"

#include <fmt/format.h>

#include <iterator>

#include "input/json.hpp"
#include "log/address.hpp"
#include "log/format.hpp"
#include "log/packet.hpp"
#include "util/printable.hpp"
#include "wire/text.hpp"

namespace mrc::log {
namespace {

using input::Json;

constexpr std::string_view kKindNames[] = {"device", "port",  "frame", "qp",  "mr",      "host", "post", "post_receive",
                                           "cqe",    "event", "until", "gap", "counter", "note", "end"};
static_assert(std::size(kKindNames) == kKinds);
constexpr const char* kStates[] = {"reset", "init", "rtr", "rts", "error"};
constexpr const char* kOps[] = {"read", "read_done", "write", "visible"};
constexpr const char* kStatus[] = {
    "ok",      "local_length", "wimm_overrun", "remote_invalid", "remote_access", "remote_operation",
    "retries", "flushed",      "fatal",        "other"};
constexpr const char* kEvents[] = {"take", "answer", "heard", "lost", "path", "cc", "timer", "window", "qp"};
constexpr const char* kEncaps[] = {"ipv6", "srv6", "srh", "ipv4"};

std::string hex(uint64_t value) { return fmt::format("0x{:x}", value); }

std::string flags_text(uint8_t flags) {
  std::string text;
  if (flags & kFcsBad) text += ", wrong FCS";
  if (flags & kCut) text += ", cut by the capture";
  if (flags & kMaybe) text += ", seen under way";
  if (flags & kChanged) text += ", addresses changed";
  return text;
}

struct Words {
  const wire::WireConfig& wire;
  std::string operator()(const Device& d) const {
    return fmt::format("is {} {}", printable(d.name), printable(d.profile, 200));
  }
  std::string operator()(const Port& p) const { return fmt::format("port {} {}", p.plane, p.up ? "up" : "down"); }
  std::string operator()(const Frame& f) const {
    return fmt::format("port {} {} {}, {} bytes{}{}", f.plane, f.sent ? "sent" : "received",
                       wire::summary(packet_of(f, wire), wire), f.length, flags_text(f.flags),
                       f.redacted.bytes == 0 ? "" : fmt::format(", {} bytes redacted", f.redacted.bytes));
  }
  std::string operator()(const Qp& q) const {
    if (q.state == QpState::Reset) return fmt::format("QP {} reset{}", hex(q.qp), q.flags == 0 ? "" : ", ordered");
    return fmt::format(
        "QP {} {} to QP {} of {}: mtu {} sq_psn {} rq_psn {} msn {} rqmsn {} mpr {}/{} timeout {}, {}, {} EVs, {} of "
        "them backup{}{}{}{}",
        hex(q.qp), name_of(q.state), hex(q.peer_qp), address_text(q.peer_ip), q.mtu, q.sq_psn, q.rq_psn, q.msn, q.rqmsn,
        q.mpr, q.mpr_dest, q.timeout, kEncaps[q.encap % std::size(kEncaps)], q.evs.size(), q.backup,
        q.denied.empty() ? "" : fmt::format(", {} denied", q.denied.size()),
        q.window == 0 ? "" : fmt::format(", window {}", q.window),
        !q.own_class ? "" : fmt::format(", code points {} and {}", q.dscp_data, q.dscp_rtx),
        q.flags == 0 ? "" : fmt::format(", inferred from frames (flags 0x{:02x})", q.flags));
  }
  std::string operator()(const Mr& m) const {
    return fmt::format("region {} {}: {} bytes at {}, in host memory at {}{}", hex(m.rkey), m.valid ? "comes" : "goes",
                       m.bytes, hex(m.va), hex(m.addr), m.write ? "" : ", not to be written");
  }
  std::string operator()(const Host& h) const {
    return fmt::format("host {} of {} bytes at {}, tag {}{}", name_of(h.op), h.bytes, hex(h.addr), h.tag,
                       h.status == 0 ? "" : fmt::format(", status {}", h.status));
  }
  std::string operator()(const Post& p) const {
    return fmt::format("WRITE {} posted on QP {}: {} bytes from {} to {}, R_Key {}{}", hex(p.wr_id), hex(p.qp), p.bytes,
                       hex(p.addr), hex(p.remote), hex(p.rkey), p.immediate ? ", immediate " + hex(p.imm) : "");
  }
  std::string operator()(const PostReceive& p) const {
    return fmt::format("{} receive buffers more for QP {}", p.count, hex(p.qp));
  }
  std::string operator()(const Cqe& c) const {
    if (!c.receive) return fmt::format("WRITE {} on QP {} completed: {}", hex(c.wr_id), hex(c.qp), name_of(c.status));
    return fmt::format("immediate {} on QP {} completed: {}, RQMSN {}, {} bytes", hex(c.imm), hex(c.qp),
                       name_of(c.status), c.rqmsn, c.bytes);
  }
  std::string operator()(const Event& e) const {
    return fmt::format("event {} on QP {}: {}", name_of(e.kind), hex(e.qp), fmt::join(e.arg, " "));
  }
  std::string operator()(const Until& u) const {
    return fmt::format("nothing older comes from {}", source_name(u.source));
  }
  std::string operator()(const Gap& g) const {
    return fmt::format("{} lost {} observations since {} ns: {}", source_name(g.source),
                       g.lost == 0 ? "some" : fmt::to_string(g.lost), time_text(g.from), printable(g.reason));
  }
  std::string operator()(const Counter& c) const { return fmt::format("counter {} = {}", printable(c.name), c.value); }
  std::string operator()(const Note& n) const { return "note: " + printable(n.text); }
  std::string operator()(const End& e) const {
    return fmt::format("end{}: {}", e.cut ? ", from outside" : "", printable(e.reason));
  }
};

struct Members {
  Json& j;
  void operator()(const Device& d) const {
    j["name"] = d.name;
    j["profile"] = d.profile;
  }
  void operator()(const Port& p) const {
    j["plane"] = p.plane;
    j["up"] = p.up;
  }
  void operator()(const Frame& f) const {
    j["sent"] = f.sent;
    j["plane"] = f.plane;
    if (f.flags & kFcsBad) j["fcs_bad"] = true;
    if (f.flags & kCut) j["cut"] = true;
    if (f.flags & kMaybe) j["maybe"] = true;
    if (f.flags & kChanged) j["changed"] = true;
    j["last"] = f.last;
    if (f.error != 0) j["error"] = f.error;
    j["length"] = f.length;
    if (f.number != 0) j["number"] = f.number;
    if (f.capture != 0) j["capture"] = f.capture;
    j["frame"] = wire::to_hex(f.bytes);
    if (f.redacted.bytes != 0)
      j["redacted"] = {{"offset", f.redacted.offset}, {"bytes", f.redacted.bytes}, {"hash", f.redacted.hash}};
  }
  void operator()(const Qp& q) const {
    j["qp"] = q.qp;
    j["state"] = name_of(q.state);
    if (q.state == QpState::Reset && q.flags != 0) j["flags"] = q.flags;
    if (q.state == QpState::Reset) return;
    j["peer_qp"] = q.peer_qp;
    j["dest"] = q.dest;
    j["mtu"] = q.mtu;
    j["sq_psn"] = q.sq_psn;
    j["rq_psn"] = q.rq_psn;
    j["msn"] = q.msn;
    j["rqmsn"] = q.rqmsn;
    j["mpr"] = q.mpr;
    j["mpr_dest"] = q.mpr_dest;
    j["dynamic_mpr"] = q.dynamic_mpr;
    j["max_wimm"] = q.max_wimm;
    j["max_wimm_dest"] = q.max_wimm_dest;
    j["timeout"] = q.timeout;
    j["retry_linear"] = q.retry_linear;
    j["retry_exp"] = q.retry_exp;
    j["trim_nack"] = q.trim_nack;
    j["svc_time"] = q.svc_time;
    j["time_stamps"] = q.time_stamps;
    j["controlled"] = q.controlled;
    j["pkey"] = q.pkey;
    j["encap"] = kEncaps[q.encap % std::size(kEncaps)];
    j["own_ip"] = address_text(q.own_ip);
    j["peer_ip"] = address_text(q.peer_ip);
    j["evs"] = q.evs;
    j["ev_planes"] = q.ev_planes;
    j["backup"] = q.backup;
    if (!q.denied.empty()) j["denied"] = q.denied;
    if (q.window != 0) j["window"] = q.window;
    if (q.own_class) j["class"] = {{"data", q.dscp_data}, {"rtx", q.dscp_rtx}};
    if (q.flags != 0) j["flags"] = q.flags;
  }
  void operator()(const Mr& m) const {
    j["rkey"] = m.rkey;
    j["valid"] = m.valid;
    j["write"] = m.write;
    j["va"] = m.va;
    j["bytes"] = m.bytes;
    j["addr"] = m.addr;
  }
  void operator()(const Host& h) const {
    j["op"] = name_of(h.op);
    j["addr"] = h.addr;
    j["bytes"] = h.bytes;
    j["tag"] = h.tag;
    if (h.status != 0) j["status"] = h.status;
    if (!h.data.empty()) j["data"] = wire::to_hex(h.data);
    if (h.hash != 0) j["hash"] = h.hash;
  }
  void operator()(const Post& p) const {
    j["qp"] = p.qp;
    j["wr_id"] = p.wr_id;
    j["addr"] = p.addr;
    j["remote"] = p.remote;
    j["bytes"] = p.bytes;
    j["rkey"] = p.rkey;
    if (p.immediate) j["imm"] = p.imm;
  }
  void operator()(const PostReceive& p) const {
    j["qp"] = p.qp;
    j["count"] = p.count;
  }
  void operator()(const Cqe& c) const {
    j["qp"] = c.qp;
    j["receive"] = c.receive;
    j["status"] = name_of(c.status);
    j["wr_id"] = c.wr_id;
    j["imm"] = c.imm;
    j["msn"] = c.msn;
    j["rqmsn"] = c.rqmsn;
    j["bytes"] = c.bytes;
  }
  void operator()(const Event& e) const {
    j["event"] = name_of(e.kind);
    j["qp"] = e.qp;
    j["arg"] = e.arg;
  }
  void operator()(const Until& u) const { j["source"] = source_name(u.source); }
  void operator()(const Gap& g) const {
    j["source"] = source_name(g.source);
    j["lost"] = g.lost;
    j["from"] = g.from;
    j["reason"] = g.reason;
  }
  void operator()(const Counter& c) const {
    j["name"] = c.name;
    j["value"] = c.value;
  }
  void operator()(const Note& n) const { j["text"] = n.text; }
  void operator()(const End& e) const {
    j["cut"] = e.cut;
    j["reason"] = e.reason;
  }
};

}  // namespace

std::string_view kind_name(std::size_t kind) { return kKindNames[kind]; }
const char* name_of(QpState state) { return kStates[static_cast<std::size_t>(state)]; }
const char* name_of(HostOp op) { return kOps[static_cast<std::size_t>(op)]; }
const char* name_of(Status status) { return kStatus[static_cast<std::size_t>(status)]; }
const char* name_of(EventKind kind) { return kEvents[static_cast<std::size_t>(kind)]; }

std::string source_name(uint8_t source) {
  switch (static_cast<Source>(source)) {
    case Source::Host:
      return "host";
    case Source::Verbs:
      return "verbs";
    case Source::Events:
      return "events";
    case Source::All:
      return "all";
    default:
      return (source < kMaxPlanes ? "port " : "source ") + std::to_string(source);
  }
}

std::string time_text(Time time) { return fmt::format("{}.{:03}", time / 1000, time % 1000); }

std::string to_text(const Record& record, const wire::WireConfig& wire) { return std::visit(Words{wire}, record.body); }

std::string to_json(const Record& record) {
  Json j;
  j["kind"] = kKindNames[record.body.index()];
  j["device"] = record.device;
  j["time"] = record.time;
  std::visit(Members{j}, record.body);
  return j.dump();
}

}  // namespace mrc::log
