// SPDX-License-Identifier: Apache-2.0
#include "picture/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <tuple>
#include <utility>

#include "picture/protobuf.hpp"

namespace mrc::picture {
namespace {

/// Field numbers of Perfetto's public trace format (perfetto/trace/trace_packet.proto, track_event/*.proto), the ones
/// that are used here; tests/picture/perfetto.proto says them once more for the reader.
namespace field {
constexpr unsigned kPacket = 1;
constexpr unsigned kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kSequenceFlags = 13, kTrackDescriptor = 60;
constexpr unsigned kType = 9, kTrackUuid = 11, kCategories = 22, kName = 23, kCounterValue = 30, kFlowIds = 47,
                   kTerminatingFlowIds = 48, kAnnotations = 4;
constexpr unsigned kAnnotationName = 10, kAnnotationInt = 4, kAnnotationString = 6;
constexpr unsigned kUuid = 1, kTrackName = 2, kParent = 5, kCounter = 8, kOrdering = 11, kRank = 12;
constexpr unsigned kUnit = 3, kUnitName = 6;
}  // namespace field

enum Type : uint8_t { kBegin = 1, kEnd = 2, kInstant = 3, kCount = 4 };
constexpr uint64_t kSizeBytes = 3, kUnitCount = 2, kExplicit = 3, kIncrementalStateCleared = 1;

uint64_t ns(Time time) { return time / 1000; }

/// What a slice or an instant says besides its name.
struct Said {
  std::string name;
  const char* category = "";
  std::vector<uint64_t> flows, ends;
  std::vector<std::pair<const char*, int64_t>> numbers;
  std::vector<std::pair<const char*, std::string>> words;
};

class Writer {
 public:
  Writer(const Story& story, std::ostream& out) : s_(story), out_(out) {}

  void write() {
    for (const auto& [number, device] : s_.devices) {
      group_of(number);
    }
    know_flows();
    packets();
    for (const Message& m : s_.messages) message(m);
    for (const Stay& stay : s_.stays) block(stay);
    counters();
    instants();
    std::ranges::stable_sort(events_, {}, [](const Event& e) { return std::pair(e.time, e.rank); });
    for (const Event& e : events_) {
      Protobuf packet;
      packet.number(field::kTimestamp, e.time);
      packet.number(field::kSequence, 1);
      packet.text(field::kTrackEvent, e.bytes);
      put(packet);
    }
  }

 private:
  struct Event {
    uint64_t time;
    uint8_t rank;  // ends come before what begins at the same time
    std::string bytes;
  };
  /// Slices of one track never overlap: what would goes to another one of the same name.
  struct Lanes {
    std::vector<std::pair<uint64_t, uint64_t>> free;  // until when it is taken, uuid
  };

  void put(const Protobuf& packet) {
    Protobuf whole;
    whole.message(field::kPacket, packet);
    out_ << whole.bytes();
  }

  uint64_t describe(const std::string& name, uint64_t parent, uint64_t rank, const auto& fill) {
    const uint64_t uuid = ++uuids_;
    Protobuf track;
    track.number(field::kUuid, uuid);
    if (!name.empty()) track.text(field::kTrackName, name);
    if (parent != 0) {
      track.number(field::kParent, parent);
      track.number(field::kRank, rank);
    }
    track.number(field::kOrdering, kExplicit);
    fill(track);
    Protobuf packet;
    packet.number(field::kSequence, 1);
    if (uuid == 1) packet.number(field::kSequenceFlags, kIncrementalStateCleared);
    packet.message(field::kTrackDescriptor, track);
    put(packet);
    return uuid;
  }

  uint64_t group_of(uint32_t device) {
    const auto at = groups_.find(device);
    if (at != groups_.end()) return at->second;
    // No process of Perfetto: the viewer would put the tracks of one into an order of its own.
    return groups_[device] = describe(s_.device_name(device), 0, 0, [](Protobuf&) {});
  }

  uint64_t track(uint32_t device, const std::string& name, uint64_t rank) {
    const auto [at, fresh] = tracks_.try_emplace({device, name}, 0);
    if (fresh) at->second = describe(name, group_of(device), rank, [](Protobuf&) {});
    return at->second;
  }

  /// A track with room from `from` on.
  uint64_t lane(uint32_t device, const std::string& name, uint64_t rank, uint64_t from, uint64_t until) {
    Lanes& lanes = lanes_[{device, name}];
    for (auto& [taken, uuid] : lanes.free) {
      if (taken > from) continue;
      taken = until;
      return uuid;
    }
    const uint64_t uuid = describe(name, group_of(device), rank, [](Protobuf&) {});
    lanes.free.emplace_back(until, uuid);
    return uuid;
  }

  uint64_t counter_track(uint32_t device, const std::string& name, uint64_t rank, uint64_t unit,
                         const char* unit_name) {
    const auto [at, fresh] = tracks_.try_emplace({device, name}, 0);
    if (fresh) {
      at->second = describe(name, group_of(device), rank, [&](Protobuf& track) {
        Protobuf counter;
        if (unit != 0) counter.number(field::kUnit, unit);
        if (unit_name != nullptr) counter.text(field::kUnitName, unit_name);
        track.message(field::kCounter, counter);
      });
    }
    return at->second;
  }

  void event(uint64_t time, Type type, uint64_t track, const Said* said) {
    Protobuf e;
    e.number(field::kType, type);
    e.number(field::kTrackUuid, track);
    if (said != nullptr) {
      if (*said->category != 0) e.text(field::kCategories, said->category);
      e.text(field::kName, said->name);
      for (const uint64_t id : said->flows) e.fixed64(field::kFlowIds, id);
      for (const uint64_t id : said->ends) e.fixed64(field::kTerminatingFlowIds, id);
      for (const auto& [name, value] : said->numbers) {
        Protobuf a;
        a.text(field::kAnnotationName, name);
        a.number(field::kAnnotationInt, static_cast<uint64_t>(value));
        e.message(field::kAnnotations, a);
      }
      for (const auto& [name, value] : said->words) {
        Protobuf a;
        a.text(field::kAnnotationName, name);
        a.text(field::kAnnotationString, value);
        e.message(field::kAnnotations, a);
      }
    }
    events_.push_back({time, static_cast<uint8_t>(type == kEnd ? 0 : 1), e.bytes()});
  }

  void slice(uint32_t device, const std::string& name, uint64_t rank, Time from, Time until, const Said& said) {
    const uint64_t begin = ns(from), end = std::max(ns(until), begin + 1);
    const uint64_t track = lane(device, name, rank, begin, end);
    event(begin, kBegin, track, &said);
    event(end, kEnd, track, nullptr);
  }

  void count(Time time, uint64_t track, uint64_t value) {
    Protobuf e;
    e.number(field::kType, kCount);
    e.number(field::kTrackUuid, track);
    e.number(field::kCounterValue, value);
    events_.push_back({ns(time), 1, e.bytes()});
  }

  static uint64_t data_flow(uint32_t flow, int64_t psn) {
    return (uint64_t{flow} + 1) << 33 | (static_cast<uint64_t>(psn) & 0xffffffffu);
  }
  static uint64_t message_flow(std::size_t message) { return uint64_t{1} << 63 | message; }

  /// Which SACK is the first to acknowledge a PSN, and which one ends a message.
  void know_flows() {
    for (uint32_t f = 0; f < s_.flows.size(); ++f) {
      acks_.push_back(acknowledged(s_, s_.flows[f]));
      for (const Acknowledged& a : acks_.back()) {
        for (const int64_t psn : a.fresh) {
          fresh_[a.packet].push_back(data_flow(f, psn));
          const uint32_t sent = s_.packets[a.packet].other;
          if (sent != kNone) fresh_[sent].push_back(data_flow(f, psn));
        }
      }
    }
    for (std::size_t i = 0; i < s_.messages.size(); ++i) {
      const Message& m = s_.messages[i];
      if (!m.known) continue;
      for (const Acknowledged& a : acks_[m.flow]) {
        if (a.cack < m.last) continue;
        fresh_[a.packet].push_back(message_flow(i));
        break;
      }
    }
  }

  void packets() {
    for (uint32_t i = 0; i < s_.packets.size(); ++i) {
      const Packet& p = s_.packets[i];
      Said said;
      said.name = s_.name_of(p);
      said.category = p.again ? "again" : picture::name_of(p.kind);
      said.numbers = {{"bytes", p.length}, {"EV", p.ev}};
      if (p.number != 0) said.numbers.emplace_back("number", static_cast<int64_t>(p.number));
      if (p.flow != kNone) {
        said.words.emplace_back("of", s_.name_of(s_.flows[p.flow]));
        const Flow& flow = s_.flows[p.flow];
        if (p.kind == Kind::Data || p.kind == Kind::Nack)
          said.numbers.emplace_back("PSN in the header", Story::raw_psn(flow, p.psn));
        if (p.kind == Kind::Sack) {
          said.numbers.emplace_back("cack_psn", Story::raw_psn(flow, p.cack));
          said.words.emplace_back("bitmap", fmt::format("0x{:016x} from PSN {}", p.bitmap, p.base));
          if (p.mark != 0) said.numbers.emplace_back("m", p.mark);
        }
        if (p.kind == Kind::Data) said.numbers.emplace_back("MSN", p.msn);
      }
      if (p.marked) said.words.emplace_back("marked", "congestion experienced");
      if (p.copy) said.words.emplace_back("copy", "it had arrived already");
      if (p.fate == Fate::Lost) {
        said.words.emplace_back("fate", "lost");
        said.name += " lost";
      }
      tie(i, p, said);
      slice(p.device, fmt::format("port {} {}", p.plane, p.sent ? "sends" : "receives"),
            kRankPorts + uint64_t{p.plane} * 2 + (p.sent ? 0 : 1), p.time, p.last, said);
    }
  }

  void tie(uint32_t index, const Packet& p, Said& said) {
    if (p.flow == kNone) return;
    if (p.kind == Kind::Data || p.kind == Kind::Nack) said.flows.push_back(data_flow(p.flow, p.psn));
    const auto at = fresh_.find(index);
    if (at != fresh_.end()) {
      for (const uint64_t id : at->second) {
        const bool ends = !p.sent && id >> 63 == 0;
        (ends ? said.ends : said.flows).push_back(id);
      }
    }
    if (p.message != kNone && p.sent && !p.again) {
      const Message& m = s_.messages[p.message];
      if (p.psn == m.first || p.psn == m.last) said.flows.push_back(message_flow(p.message));
    }
  }

  void message(const Message& m) {
    const auto id = message_flow(static_cast<std::size_t>(&m - s_.messages.data()));
    const std::string name = fmt::format("QP 0x{:x} work requests", m.qp);
    Said said;
    said.name = fmt::format("WRITE of {} bytes{}", m.bytes, m.immediate ? " with immediate" : "");
    said.category = "message";
    said.flows = {id};
    said.numbers = {{"bytes", static_cast<int64_t>(m.bytes)}};
    said.words = {{"wr_id", fmt::format("0x{:x}", m.wr_id)}};
    if (m.known) {
      said.numbers.emplace_back("MSN", m.msn);
      said.numbers.emplace_back("first PSN", m.first);
      said.numbers.emplace_back("last PSN", m.last);
    }
    const bool done = m.done != log::kNever;
    if (!done) said.words.emplace_back("completion", "none");
    slice(m.device, name, kRankQps + m.qp % 1000u, m.posted, done ? m.done : std::max(s_.end, m.posted), said);
    if (!done) return;
    Said ends;
    ends.name = m.status == log::Status::Ok ? "completion" : "completion with an error";
    ends.category = "completion";
    ends.ends = {id};
    event(ns(m.done), kInstant, track(m.device, fmt::format("QP 0x{:x} completions", m.qp), kRankQps + m.qp % 1000u),
          &ends);
  }

  void block(const Stay& stay) {
    Said said;
    said.name = stay.text;
    said.category = "block";
    if (stay.flow != kNone) said.flows = {data_flow(stay.flow, stay.psn)};
    slice(stay.device, "block " + stay.block, kRankBlocks, stay.from, stay.until, said);
  }

  void counters() {
    for (uint32_t f = 0; f < s_.flows.size(); ++f) {
      const Flow& flow = s_.flows[f];
      if (flow.requestor == kNone) continue;
      const auto points = flight(s_, flow, acks_[f]);
      if (points.empty()) continue;
      const std::string name =
          flow.qp == kNone ? fmt::format("to QP 0x{:x}", flow.peer_qp) : fmt::format("QP 0x{:x}", flow.qp);
      const uint64_t bytes =
          counter_track(flow.requestor, name + " bytes in flight", kRankCounters, kSizeBytes, nullptr);
      const uint64_t packets =
          counter_track(flow.requestor, name + " packets in flight", kRankCounters, kUnitCount, nullptr);
      for (const Flight& x : points) {
        count(x.time, bytes, x.bytes);
        count(x.time, packets, x.packets);
      }
    }
    for (const Window& w : s_.windows) {
      count(w.time,
            counter_track(w.device, fmt::format("cwnd of destination {}", w.dest), kRankCounters, kSizeBytes, nullptr),
            w.bytes);
    }
    std::map<std::pair<uint32_t, std::string>, std::vector<std::pair<Time, int>>> held;
    for (const Stay& stay : s_.stays) {
      auto& changes = held[{stay.device, stay.block}];
      changes.emplace_back(stay.from, 1);
      changes.emplace_back(stay.until, -1);
    }
    for (auto& [where, changes] : held) {
      const uint64_t track =
          counter_track(where.first, "packets in " + where.second, kRankBlocks + 1, kUnitCount, nullptr);
      std::ranges::sort(changes);
      int64_t inside = 0;
      for (const auto& [time, by] : changes) count(time, track, static_cast<uint64_t>(inside += by));
    }
    for (const StreamUse& use : s_.streams) {
      const auto percent = [](double share) { return static_cast<uint64_t>(std::lround(share * 100)); };
      const std::string name = use.name + " to " + use.taker;
      count(use.from, counter_track(use.device, name + " moved", kRankStreams, 0, "%"), percent(use.moved));
      count(use.from, counter_track(use.device, name + " blocked", kRankStreams, 0, "%"), percent(use.blocked));
    }
  }

  void instants() {
    static constexpr const char* kStates[] = {"good", "skip", "bad", "denied", "backup", "skip twice"};
    const auto state = [](log::EvState s) { return kStates[std::min<std::size_t>(static_cast<std::size_t>(s), 5)]; };
    for (const EvChange& c : s_.ev_changes) {
      Said said;
      said.name = fmt::format("EV 0x{:x} {}", c.ev, state(c.after));
      said.category = "EV";
      said.words = {{"before", state(c.before)}};
      if (c.flow != kNone) said.words.emplace_back("of", s_.name_of(s_.flows[c.flow]));
      event(ns(c.time), kInstant, track(c.device, "entropy values", kRankQps - 1), &said);
    }
    for (const PortChange& c : s_.ports) {
      Said said;
      said.name = fmt::format("port {} {}", c.plane, c.up ? "up" : "down");
      said.category = "port";
      event(ns(c.time), kInstant, track(c.device, "ports", kRankPorts - 1), &said);
    }
  }

  static constexpr uint64_t kRankPorts = 100, kRankQps = 1000, kRankBlocks = 3000, kRankCounters = 4000,
                            kRankStreams = 5000;
  const Story& s_;
  std::ostream& out_;
  uint64_t uuids_ = 0;
  std::map<uint32_t, uint64_t> groups_;
  std::map<std::pair<uint32_t, std::string>, uint64_t> tracks_;
  std::map<std::pair<uint32_t, std::string>, Lanes> lanes_;
  std::vector<std::vector<Acknowledged>> acks_;
  std::map<uint32_t, std::vector<uint64_t>> fresh_;  // packet -> flows that pass it
  std::vector<Event> events_;
};

}  // namespace

void write_trace(const Story& story, std::ostream& out) { Writer(story, out).write(); }

}  // namespace mrc::picture
