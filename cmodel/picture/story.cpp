// SPDX-License-Identifier: Apache-2.0
#include "picture/story.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "log/packet.hpp"
#include "picture/story_parts.hpp"
#include "reference/profile.hpp"

namespace mrc::picture {
namespace {

constexpr uint32_t kPsns = 1u << 24;

/// b - a of 24-bit numbers, the short way round.
int64_t distance(uint32_t a, uint32_t b) {
  const uint32_t d = (b - a) & (kPsns - 1);
  return d < kPsns / 2 ? int64_t{d} : int64_t{d} - int64_t{kPsns};
}

log::Ip source_of(const wire::Packet& p, bool destination) {
  log::Ip ip{};
  if (p.ipv6) {
    ip = destination ? p.ipv6->dst : p.ipv6->src;
  } else if (p.ipv4) {
    const auto& four = destination ? p.ipv4->dst : p.ipv4->src;
    ip[10] = ip[11] = 0xff;
    std::ranges::copy(four, ip.begin() + 12);
  }
  return ip;
}

Kind kind_of(uint8_t opcode) {
  switch (static_cast<wire::Opcode>(opcode)) {
    case wire::Opcode::WriteFirst:
    case wire::Opcode::WriteMiddle:
    case wire::Opcode::WriteLast:
    case wire::Opcode::WriteLastImm:
    case wire::Opcode::WriteOnly:
    case wire::Opcode::WriteOnlyImm:
      return Kind::Data;
    case wire::Opcode::ProbeRequest:
      return Kind::Probe;
    case wire::Opcode::Sack:
      return Kind::Sack;
    case wire::Opcode::Nack:
      return Kind::Nack;
    case wire::Opcode::Ack:
      return Kind::Ack;
    case wire::Opcode::EndpointRequest:
    case wire::Opcode::EndpointResponse:
      return Kind::Endpoint;
  }
  return Kind::Other;
}

void mix(uint64_t& hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 29;
}

/// What a packet keeps from port to port, whatever switches do to it.
uint64_t identity(const wire::Packet& p, const Packet& out) {
  uint64_t hash = 0xcbf29ce484222325u;
  const auto address = [&](const log::Ip& ip) {
    for (std::size_t i = 0; i < ip.size(); i += 8) {
      uint64_t word = 0;
      for (std::size_t j = 0; j < 8; ++j) word = word << 8 | ip[i + j];
      mix(hash, word);
    }
  };
  address(source_of(p, false));
  address(source_of(p, true));
  mix(hash, p.bth->opcode);
  mix(hash, p.bth->dqp);
  mix(hash, p.bth->psn);
  mix(hash, p.bth->rtx);
  mix(hash, out.ev);
  if (p.meth) mix(hash, p.meth->msn);
  if (p.tseth) mix(hash, p.tseth->tx_timestamp16);
  if (p.seth) {
    mix(hash, p.seth->cack_psn);
    mix(hash, p.seth->sack_bitmap);
    mix(hash, static_cast<uint16_t>(p.seth->ack_psn_offset));
    mix(hash, p.seth->entropy);
  }
  if (p.cc_state) mix(hash, p.cc_state->rcvd_bytes);
  if (p.neth) {
    mix(hash, p.neth->nack_psn);
    mix(hash, p.neth->entropy);
  }
  if (p.aeth) mix(hash, p.aeth->msn);
  if (p.peth) mix(hash, p.peth->probe_id);
  if (p.erth) mix(hash, p.erth->tx_timestamp16);
  if (p.eeth) mix(hash, p.eeth->tx_timestamp16);
  return hash;
}

}  // namespace

const char* name_of(Kind kind) {
  static constexpr const char* kNames[] = {"WRITE", "probe", "SACK", "NACK", "ACK", "endpoint", "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string StreamCounter::name(std::string_view stream, std::string_view taker, const char* what) {
  return fmt::format("stream {}>{} {}", stream, taker, what);
}

Story::Story() : parts_(std::make_unique<Parts>()) {}
Story::~Story() = default;
Story::Story(Story&&) noexcept = default;
Story& Story::operator=(Story&&) noexcept = default;

void Story::add(const log::Record& record) { std::visit(Parts::Adder{*this, *parts_, record}, record.body); }

void Story::Parts::Adder::operator()(const log::Device& d) {
  DeviceSeen& seen = story.devices[record.device];
  seen.name = d.name;
  seen.there = true;
  const ref::Profile profile = d.profile.empty() ? ref::Profile{} : ref::read_profile(d.profile, "profile");
  seen.planes = profile.planes;
  seen.port_gbps = profile.port_gbps;
  parts.wire[record.device] = profile.wire();
  for (const log::Qp& qp : profile.qps) (*this)(qp);
}

void Story::Parts::Adder::operator()(const log::Frame& f) {
  if (story.full()) return;
  const wire::WireConfig& wire = parts.wire[record.device];
  const wire::Packet p = log::packet_of(f, wire);
  Packet out;
  out.device = record.device;
  out.time = record.time;
  out.last = std::max(f.last, record.time);
  out.number = f.number;
  out.length = f.length;
  out.plane = f.plane;
  out.sent = f.sent;
  out.damaged = p.error.has_value() || (f.flags & log::kFcsBad) != 0;
  out.trimmed = p.trimmed();
  out.marked = (p.ipv6 || p.ipv4) && p.ecn() == 3;
  out.ev = p.entropy(wire);
  Raw raw;
  raw.sure = (f.flags & log::kMaybe) == 0;
  if (p.bth) {
    out.kind = kind_of(p.bth->opcode);
    out.opcode = p.bth->opcode;
    out.again = p.bth->rtx != 0;
    raw.dqp = p.bth->dqp;
    raw.psn = p.bth->psn;
    raw.src = source_of(p, false);
    raw.dst = source_of(p, true);
    raw.identity = identity(p, out);
    if (p.meth) out.msn = p.meth->msn;
    if (p.reth) {
      raw.va = p.reth->va;
      raw.rkey = p.reth->r_key;
      raw.whole = p.reth->dma_length;
      raw.addressed = true;
    }
    if (p.seth) {
      raw.sqp = p.seth->spdcid;
      raw.psn = p.seth->cack_psn;
      raw.offset = p.seth->sack_offset;
      raw.answered = p.seth->ack_psn_offset;
      out.bitmap = p.seth->sack_bitmap;
      out.mark = p.seth->m;
      out.mpr = p.seth->mpr;
      out.probed = p.seth->pr != 0;
      out.reported_ev = p.seth->entropy;
    }
    if (p.neth) {
      raw.sqp = p.neth->spdcid;
      raw.psn = p.neth->nack_psn;
      out.reason = p.neth->reason;
      out.reported_ev = p.neth->entropy;
    }
    if (p.aeth) {
      out.msn = p.aeth->msn;
      out.reason = p.aeth->syndrome;
    }
  }
  parts.item(record, Parts::What::Frame, story.packets.size(), !f.sent);
  story.packets.push_back(out);
  parts.raw.push_back(raw);
}

void Story::Parts::Adder::operator()(const log::Qp& q) {
  parts.item(record, Parts::What::Qp, parts.qps.size());
  parts.qps.push_back({record.device, q});
}

void Story::Parts::Adder::operator()(const log::Post& p) {
  Message m;
  m.device = record.device;
  m.qp = p.qp;
  m.wr_id = p.wr_id;
  m.bytes = p.bytes;
  m.remote = p.remote;
  m.rkey = p.rkey;
  m.immediate = p.immediate;
  m.posted = record.time;
  parts.item(record, Parts::What::Post, story.messages.size());
  story.messages.push_back(m);
}

void Story::Parts::Adder::operator()(const log::Cqe& c) {
  if (c.receive) return;
  parts.item(record, Parts::What::Cqe, parts.cqes.size());
  parts.cqes.push_back({record.device, c});
}

void Story::Parts::Adder::operator()(const log::Event& e) {
  if (e.kind == log::EventKind::Path) {
    parts.item(record, Parts::What::Path, story.ev_changes.size());
    story.ev_changes.push_back({record.device, e.qp, record.time, static_cast<uint32_t>(e.arg[0]),
                                static_cast<uint32_t>(e.arg[3]), static_cast<log::EvState>(e.arg[1]),
                                static_cast<log::EvState>(e.arg[2])});
  } else if (e.kind == log::EventKind::Cc) {
    const log::CcNotified reported = log::CcNotified::unpack(e.arg[1]);
    if (reported.kind == log::CcKind::Granted || reported.kind == log::CcKind::Returned)
      return;  // leave the window alone
    story.windows.push_back(
        {record.device, static_cast<uint32_t>(e.arg[0]), record.time, e.arg[5], reported.kind, reported.marked});
  }
}

void Story::Parts::Adder::operator()(const log::Port& p) {
  story.ports.push_back({record.device, record.time, p.plane, p.up});
}

/// "stream tx_path.path>tx_header moved".
void Story::Parts::Adder::operator()(const log::Counter& c) {
  constexpr std::string_view kStream = "stream ";
  if (!c.name.starts_with(kStream)) return;
  const auto arrow = c.name.find('>'), blank = c.name.rfind(' ');
  if (arrow == std::string::npos || blank == std::string::npos || blank < arrow) return;
  const std::string what = c.name.substr(blank + 1);
  const std::string key = fmt::format("{}/{}", record.device, c.name.substr(0, blank));
  Parts::Used& used = parts.used[key];
  if (what == "cycles") {
    const uint64_t cycles = c.value - used.cycles;
    if (cycles != 0) {
      const auto share = [&](uint64_t now, uint64_t before) {
        return static_cast<double>(now - before) / static_cast<double>(cycles);
      };
      story.streams.push_back({record.device, used.time, record.time,
                               c.name.substr(kStream.size(), arrow - kStream.size()),
                               c.name.substr(arrow + 1, blank - arrow - 1), share(used.moved_now, used.moved),
                               share(used.blocked_now, used.blocked)});
    }
    used.time = record.time;
    used.cycles = c.value;
    used.moved = used.moved_now;
    used.blocked = used.blocked_now;
  } else if (what == "moved") {
    used.moved_now = c.value;
  } else if (what == "blocked") {
    used.blocked_now = c.value;
  }
}

void Story::Parts::Adder::operator()(const log::Note& n) {
  if (auto loss = LossReported::of(n.text)) {
    loss->device = record.device;
    story.losses.push_back(std::move(*loss));
  } else {
    story.notes.emplace_back(record.time, n.text);
  }
}

void Story::Parts::Adder::operator()(const log::End& e) {
  story.devices[record.device].end = record.time;
  story.notes.emplace_back(record.time, fmt::format("{} ends{}{}", story.device_name(record.device),
                                                    e.reason.empty() ? "" : ": ", e.reason));
}

/// Walks through everything in the order of time.
class Story::Parts::Weaver {
 public:
  Weaver(Story& story, Parts& parts) : s_(story), p_(parts) {}

  void weave() {
    std::ranges::stable_sort(p_.items, {}, [](const Item& item) { return std::pair(item.time, item.rank); });
    std::vector<uint32_t> place(s_.packets.size());
    uint32_t next = 0;
    for (const Item& item : p_.items) {
      if (item.what == What::Frame) place[item.index] = next++;
    }
    reorder(place);
    uint32_t frame = 0;
    for (const Item& item : p_.items) {
      switch (item.what) {
        case What::Frame:
          packet(frame++);
          break;
        case What::Qp:
          row(p_.qps[item.index].first, p_.qps[item.index].second);
          break;
        case What::Post:
          post(static_cast<uint32_t>(item.index));
          break;
        case What::Cqe:
          done(p_.cqes[item.index].first, p_.cqes[item.index].second, item.time);
          break;
        case What::Path:
          change(s_.ev_changes[item.index]);
          break;
      }
    }
    fates();
    std::ranges::stable_sort(s_.windows, {}, [](const Window& w) { return std::pair(w.time, w.device); });
    std::ranges::stable_sort(s_.ev_changes, {}, [](const EvChange& c) { return std::pair(c.time, c.device); });
    std::ranges::stable_sort(s_.ports, {}, [](const PortChange& c) { return std::pair(c.time, c.device); });
    std::ranges::stable_sort(s_.notes, {}, &std::pair<Time, std::string>::first);
  }

 private:
  using QpKey = std::pair<uint32_t, uint32_t>;  // device and number

  void reorder(const std::vector<uint32_t>& place) {
    std::vector<Packet> packets(s_.packets.size());
    std::vector<Raw> raw(s_.packets.size());
    for (std::size_t i = 0; i < place.size(); ++i) {
      packets[place[i]] = s_.packets[i];
      raw[place[i]] = p_.raw[i];
    }
    s_.packets = std::move(packets);
    p_.raw = std::move(raw);
  }

  uint32_t new_flow(Flow flow) {
    s_.flows.push_back(std::move(flow));
    newest_.push_back(-1);
    return static_cast<uint32_t>(s_.flows.size() - 1);
  }

  void row(uint32_t device, const log::Qp& q) {
    const QpKey key{device, q.qp};
    if (q.state == log::QpState::Reset) {
      out_.erase(key);
      return;
    }
    rows_[key] = q;
    by_peer_[{device, q.peer_qp}].insert(q.qp);
    owners_[q.own_ip] = device;
    auto at = out_.find(key);
    if (at == out_.end()) {
      Flow flow;
      flow.requestor = device;
      flow.qp = q.qp;
      flow.peer_qp = q.peer_qp;
      flow.first_psn = q.sq_psn;
      at = out_.emplace(key, new_flow(std::move(flow))).first;
    }
    Flow& flow = s_.flows[at->second];
    flow.mpr = q.mpr;
    flow.dynamic_mpr = q.dynamic_mpr;
    flow.dest = q.dest;
    flow.evs = q.evs;
    flow.ev_planes = q.ev_planes;
    flow.backup = q.backup;
  }

  /// The QP of that device that has this peer.
  std::optional<uint32_t> own_qp(uint32_t device, uint32_t peer_qp, const log::Ip& peer) const {
    const auto at = by_peer_.find({device, peer_qp});
    if (at == by_peer_.end()) return {};
    for (const uint32_t qp : at->second) {
      if (rows_.at({device, qp}).peer_ip == peer) return qp;
    }
    return *at->second.begin();
  }

  /// The flow whose data come to that QP.
  uint32_t coming(uint32_t device, uint32_t qp, const log::Ip& peer) {
    const auto row = rows_.find({device, qp});
    if (row != rows_.end()) {
      const auto owner = owners_.find(row->second.peer_ip);
      if (owner != owners_.end()) {
        const auto at = out_.find({owner->second, row->second.peer_qp});
        if (at != out_.end()) {
          s_.flows[at->second].responder = device;
          return at->second;
        }
      }
    }
    const auto known = in_.find({device, qp});
    if (known != in_.end()) return known->second;
    // Captures say no rows: a flow that its requestor's frames have opened.
    const auto sender = owners_.find(peer);
    if (sender != owners_.end()) {
      const auto bare = bare_.find({sender->second, qp});
      if (bare != bare_.end()) {
        s_.flows[bare->second].responder = device;
        return bare->second;
      }
    }
    Flow flow;
    flow.responder = device;
    flow.peer_qp = qp;
    if (row != rows_.end()) {
      flow.qp = row->second.peer_qp;
      flow.first_psn = row->second.rq_psn;
      flow.mpr = row->second.mpr_dest;
    }
    return in_[{device, qp}] = new_flow(std::move(flow));
  }

  /// The flow of whose data the requestor is this device.
  uint32_t going(uint32_t device, const Raw& raw) {
    if (const auto qp = own_qp(device, raw.dqp, raw.dst)) {
      const auto at = out_.find({device, *qp});
      if (at != out_.end()) return at->second;
    }
    owners_.emplace(raw.src, device);
    const auto known = bare_.find({device, raw.dqp});
    if (known != bare_.end()) return known->second;
    Flow flow;
    flow.requestor = device;
    flow.peer_qp = raw.dqp;
    return bare_[{device, raw.dqp}] = new_flow(std::move(flow));
  }

  /// The flow that an answer is about.
  uint32_t answered(const Packet& p, const Raw& raw) {
    if (p.sent) {
      if (const auto qp = own_qp(p.device, raw.dqp, raw.dst)) return coming(p.device, *qp, raw.dst);
      for (const auto& [key, flow] : in_) {
        if (key.first == p.device && (key.second & 0xffffu) == raw.sqp) return flow;
      }
      const auto sender = owners_.find(raw.dst);
      return sender == owners_.end() ? kNone : bare_of(sender->second, raw.sqp);
    }
    const auto at = out_.find({p.device, raw.dqp});
    if (at != out_.end()) return at->second;
    const uint32_t flow = bare_of(p.device, raw.sqp);
    if (flow != kNone) s_.flows[flow].qp = raw.dqp;
    return flow;
  }
  uint32_t bare_of(uint32_t device, uint32_t low) const {
    for (const auto& [key, flow] : bare_) {
      if (key.first == device && (key.second & 0xffffu) == low) return flow;
    }
    return kNone;
  }

  int64_t unwrap(uint32_t flow, uint32_t psn) {
    int64_t& newest = newest_[flow];
    Flow& f = s_.flows[flow];
    if (newest < 0 && f.qp == kNone && f.data == 0 && f.first_psn == 0 && f.packets.empty()) f.first_psn = psn;
    const int64_t from = std::max<int64_t>(newest, 0);
    return from + distance(Story::raw_psn(f, from), psn);
  }

  void packet(uint32_t index) {
    Packet& p = s_.packets[index];
    const Raw& raw = p_.raw[index];
    s_.begin = std::min(s_.begin, p.time);
    s_.end = std::max(s_.end, p.last);
    match(index);
    if (p.kind == Kind::Other || p.kind == Kind::Endpoint || p.damaged) return;
    const bool requests = p.kind == Kind::Data || p.kind == Kind::Probe;
    p.flow = !requests ? answered(p, raw) : p.sent ? going(p.device, raw) : coming(p.device, raw.dqp, raw.src);
    if (p.flow == kNone) return;
    Flow& flow = s_.flows[p.flow];
    const int64_t psn = unwrap(p.flow, raw.psn);
    flow.packets.push_back(index);
    if (p.kind == Kind::Data) {
      p.psn = psn;
      newest_[p.flow] = std::max(newest_[p.flow], psn);
      if (p.sent) {
        ++flow.data;
        flow.trouble += p.again ? 1 : 0;
      }
      flow.trouble += p.trimmed ? 1 : 0;
      belongs(p, raw);
    } else if (p.kind == Kind::Sack) {
      p.cack = psn;
      p.base = psn + raw.offset;
      p.psn = p.probed ? psn : psn + raw.answered;
    } else if (p.kind == Kind::Nack) {
      p.psn = psn;
    }
  }

  void match(uint32_t index) {
    Packet& p = s_.packets[index];
    const Raw& raw = p_.raw[index];
    if (p.kind == Kind::Other) return;
    if (p.sent) {
      p_.open[raw.identity].push_back(index);
      return;
    }
    const auto at = p_.open.find(raw.identity);
    if (at == p_.open.end()) return;
    // The newest one that is not taken: what was sent again long after the first did not overtake it.
    std::vector<uint32_t>& list = at->second;
    for (std::size_t i = list.size(); i-- > 0;) {
      Packet& sent = s_.packets[list[i]];
      if (sent.device == p.device || sent.other != kNone) continue;
      sent.other = index;
      sent.fate = Fate::Arrived;
      p.other = list[i];
      return;
    }
    for (const uint32_t i : list) {
      if (s_.packets[i].device == p.device) continue;
      p.other = i;
      p.copy = true;
    }
  }

  void post(uint32_t index) {
    Message& m = s_.messages[index];
    s_.begin = std::min(s_.begin, m.posted);
    s_.end = std::max(s_.end, m.posted);
    const auto at = out_.find({m.device, m.qp});
    if (at == out_.end()) return;
    m.flow = at->second;
    waiting_[m.flow].push_back(index);
  }

  /// Ties a data packet to its work request: by its number, and the first one by where it writes.
  void belongs(Packet& p, const Raw& raw) {
    const auto known = by_msn_.find({p.flow, p.msn});
    uint32_t index = known == by_msn_.end() ? kNone : known->second;
    if (index == kNone && raw.addressed) {
      auto& waiting = waiting_[p.flow];
      const auto fits = std::ranges::find_if(waiting, [&](uint32_t i) {
        const Message& m = s_.messages[i];
        return m.rkey == raw.rkey && m.bytes == raw.whole && raw.va - m.remote <= m.bytes;
      });
      if (fits == waiting.end()) return;
      index = *fits;
      waiting.erase(fits);
      by_msn_[{p.flow, p.msn}] = index;
      Message& m = s_.messages[index];
      m.known = true;
      m.msn = p.msn;
      m.first = m.last = p.psn;
    }
    if (index == kNone) return;
    Message& m = s_.messages[index];
    p.message = index;
    m.first = std::min(m.first, p.psn);
    m.last = std::max(m.last, p.psn);
  }

  void done(uint32_t device, const log::Cqe& c, Time time) {
    s_.end = std::max(s_.end, time);
    for (std::size_t i = s_.messages.size(); i-- > 0;) {
      Message& m = s_.messages[i];
      if (m.device != device || m.qp != c.qp || m.wr_id != c.wr_id || m.done != log::kNever || m.posted > time)
        continue;
      m.done = time;
      m.status = c.status;
      if (m.known) by_msn_.erase({m.flow, m.msn});  // numbers come again
      if (m.flow != kNone) std::erase(waiting_[m.flow], static_cast<uint32_t>(i));
      return;
    }
  }

  void change(EvChange& c) {
    const auto at = out_.find({c.device, c.flow});
    c.flow = at == out_.end() ? kNone : at->second;
  }

  /// What was sent, has not arrived, and would have.
  void fates() {
    Time longest = 0;
    for (const Packet& p : s_.packets) {
      if (p.sent && p.other != kNone)
        longest = std::max(longest, s_.packets[p.other].last - std::min(p.time, s_.packets[p.other].last));
    }
    for (uint32_t i = 0; i < s_.packets.size(); ++i) {
      Packet& p = s_.packets[i];
      if (!p.sent || p.other != kNone || p.flow == kNone || longest == 0) continue;
      Flow& flow = s_.flows[p.flow];
      const uint32_t to = p.kind == Kind::Data || p.kind == Kind::Probe ? flow.responder : flow.requestor;
      if (to == kNone || to == p.device || !p_.raw[i].sure) continue;
      if (p.time + 2 * longest > std::min(ended(to), ended(p.device))) continue;
      p.fate = Fate::Lost;
      flow.trouble += p.kind == Kind::Data ? 1 : 0;
    }
  }
  Time ended(uint32_t device) const {
    const auto at = s_.devices.find(device);
    return at == s_.devices.end() || at->second.end == 0 ? s_.end : at->second.end;
  }

  Story& s_;
  Parts& p_;
  std::map<QpKey, log::Qp> rows_;
  std::map<QpKey, std::set<uint32_t>> by_peer_;  // device and peer's number -> own ones
  std::map<log::Ip, uint32_t> owners_;
  std::map<QpKey, uint32_t> out_, in_,
      bare_;                     // flows: of a requestor's QP, of a responder's, by the peer's number alone
  std::vector<int64_t> newest_;  // PSN of each flow
  std::map<uint32_t, std::vector<uint32_t>> waiting_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> by_msn_;
};

void Story::finish() {
  Parts::Weaver(*this, *parts_).weave();
  parts_ = std::make_unique<Parts>();
  if (begin == log::kNever) begin = 0;
}

std::string Story::device_name(uint32_t device) const {
  const auto at = devices.find(device);
  return at == devices.end() || at->second.name.empty() ? fmt::format("device {}", device) : at->second.name;
}

std::string Story::name_of(const Flow& flow) const {
  const auto side = [&](uint32_t device, uint32_t qp) {
    return (device == kNone ? "somebody" : device_name(device)) + (qp == kNone ? "" : fmt::format(" QP 0x{:x}", qp));
  };
  return side(flow.requestor, flow.qp) + " to " + side(flow.responder, flow.peer_qp);
}

std::string Story::name_of(const Packet& p) const {
  std::string text = picture::name_of(p.kind);
  switch (p.kind) {
    case Kind::Data:
      text += fmt::format(" PSN {}{}", p.psn, p.again ? " again" : "");
      break;
    case Kind::Sack:
      text += fmt::format(" cack {}", p.cack);
      break;
    case Kind::Nack: {
      const char* why = "";
      for (const auto& v : wire::kNackReasonValues) {
        if (v.value == p.reason) why = v.name;
      }
      text += fmt::format(" PSN {} {}", p.psn, why);
      break;
    }
    case Kind::Ack:
      text += fmt::format("{} MSN {}", p.reason == 0x1f ? "" : " refused", p.msn);
      break;
    default:
      break;
  }
  if (p.trimmed) text += " trimmed";
  if (p.damaged) text += " damaged";
  return text;
}

std::string LossReported::text() const {
  return fmt::format("loss QP 0x{:x} PSN {} sent {} known {} again {} back {} plane {} | {} | {}", qp, psn, sent, known,
                     again, back, again_plane, cause, way);
}

std::optional<LossReported> LossReported::of(std::string_view note) {
  constexpr std::string_view kBar = " | ";
  if (!note.starts_with("loss QP 0x")) return {};
  const std::size_t first = note.find(kBar);
  const std::size_t second = first == std::string_view::npos ? first : note.find(kBar, first + kBar.size());
  if (second == std::string_view::npos) return {};
  LossReported loss;
  std::istringstream words{std::string(note.substr(8, first - 8))};
  const auto word = [&](const char* name) {
    std::string is;
    return static_cast<bool>(words >> is) && is == name;
  };
  if (!(words >> std::hex >> loss.qp >> std::dec) || !word("PSN") || !(words >> loss.psn)) return {};
  for (const auto& [name, to] : {std::pair{"sent", &loss.sent}, std::pair{"known", &loss.known},
                                 std::pair{"again", &loss.again}, std::pair{"back", &loss.back}}) {
    if (!word(name) || !(words >> *to)) return {};
  }
  std::string rest;
  if (!word("plane") || !(words >> loss.again_plane) || words >> rest) return {};
  loss.cause = note.substr(first + kBar.size(), second - first - kBar.size());
  loss.way = note.substr(second + kBar.size());
  return loss;
}

std::string us_text(Time time) { return fmt::format("{:.3f}", static_cast<double>(time) / 1e6); }

std::vector<Acknowledged> acknowledged(const Story& story, const Flow& flow) {
  std::vector<Acknowledged> list;
  int64_t cack = -1;
  std::set<int64_t> above;
  for (const uint32_t i : flow.packets) {
    const Packet& p = story.packets[i];
    if (p.kind != Kind::Sack || p.sent) continue;
    Acknowledged a;
    a.packet = i;
    constexpr int64_t kMost = 1 << 16;  // more at once is no window
    for (int64_t psn = cack + 1; psn <= p.cack && psn - cack <= kMost; ++psn) {
      if (above.erase(psn) == 0) a.fresh.push_back(psn);
    }
    cack = std::max(cack, p.cack);
    for (unsigned bit = 0; bit < 64; ++bit) {
      const int64_t psn = p.base + bit;
      if ((p.bitmap >> bit & 1) != 0 && psn > cack && above.insert(psn).second) a.fresh.push_back(psn);
    }
    while (above.erase(cack + 1) != 0) ++cack;
    a.cack = cack;
    list.push_back(std::move(a));
  }
  return list;
}

std::vector<Flight> flight(const Story& story, const Flow& flow, const std::vector<Acknowledged>& acks) {
  std::vector<Flight> list;
  std::map<int64_t, uint32_t> out;  // PSN -> bytes
  std::set<int64_t> had;
  uint64_t bytes = 0;
  std::size_t next = 0;
  for (const uint32_t i : flow.packets) {
    const Packet& p = story.packets[i];
    if (p.kind == Kind::Data && p.sent) {
      if (had.contains(p.psn) || !out.emplace(p.psn, p.length).second) continue;
      bytes += p.length;
    } else if (next < acks.size() && acks[next].packet == i) {
      for (const int64_t psn : acks[next++].fresh) {
        had.insert(psn);
        const auto at = out.find(psn);
        if (at == out.end()) continue;
        bytes -= at->second;
        out.erase(at);
      }
    } else {
      continue;
    }
    list.push_back({p.time, out.size(), bytes});
  }
  return list;
}

}  // namespace mrc::picture
