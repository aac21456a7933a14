// SPDX-License-Identifier: Apache-2.0
#include "reference/traffic.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include "log/digest.hpp"
#include "log/packet.hpp"
#include "log/unwrap.hpp"
#include "reference/numbers.hpp"
#include "reference/own_addresses.hpp"
#include "reference/queue.hpp"
#include "util/flat_set.hpp"

namespace mrc::ref {
namespace {

using log::Seq, log::unwrap;

constexpr Seq kWindow = 4096;  ///< the largest window: 32 units of 128 PSNs
constexpr Seq kTail = 1024;    ///< PSNs below the highest cack_psn that are still held

enum PsnFlag : uint8_t {
  kSeen = 1,
  kExplained = 2,  ///< NACKed, or seen trimmed, since it went out last
};

struct Message {
  uint16_t msn = 0;
  Time first = 0;
  std::optional<Seq> last_psn{};
  bool begun = false, immediate = false;  ///< its First or Only was seen; it ends with an immediate
};

/// As Qp has it: without what the plane puts into it, IPv4 as ::ffff:a.b.c.d.
log::Ip address(const Settings& settings, const log::Ip& ip, bool ipv4) {
  if (ip == log::Ip{}) return ip;
  return plain_address(settings, ip, ipv4);
}

bool is(const wire::Packet& p, std::initializer_list<wire::Opcode> some) {
  return std::ranges::any_of(some, [&](wire::Opcode one) { return p.bth->opcode == static_cast<uint8_t>(one); });
}

}  // namespace

struct Traffic::Hash {
  std::size_t operator()(const Key& key) const {
    std::array<uint8_t, 36> bytes{};
    std::ranges::copy(key.from, bytes.begin());
    std::ranges::copy(key.to, bytes.begin() + 16);
    std::memcpy(bytes.data() + 32, &key.dqp, 4);
    return log::digest(bytes);
  }
};

struct Traffic::View {
  Timeline timeline;
  uint64_t packets = 0, again = 0, lost = 0, trimmed = 0, marked = 0, holes = 0, certain = 0, untimed = 0;
  uint32_t first_psn = 0, outstanding = 0, granted = 0, mtu = 0;
  uint16_t pkey = 0;
  std::optional<uint16_t> first_msn, last_msn, first_rqmsn, last_rqmsn;
  std::map<unsigned, FlatSet> evs;  ///< by plane
  Queue<uint8_t> psns;              ///< PsnFlag, from base on
  Seq base = 0, top = 0;            ///< top: behind the highest
  std::optional<Seq> cack;
  Queue<Message> messages;
  std::unique_ptr<Delays> completions;

  uint8_t* find(Seq psn) {
    const Seq at = psn - base;
    return at < 0 || at >= static_cast<Seq>(psns.size()) ? nullptr : &psns[static_cast<std::size_t>(at)];
  }
  bool acknowledged(Seq psn) const { return cack && psn <= *cack; }
  uint64_t missing() const {
    uint64_t sum = holes;
    for (std::size_t i = 0; i < psns.size(); ++i) {
      sum += (psns[i] & kSeen) == 0 && acknowledged(base + static_cast<Seq>(i));
    }
    return sum;
  }

  void data(const wire::Packet& p, bool surely, Time time) {
    const bool cut = p.trimmed(), again_now = p.bth->rtx != 0;
    if (packets++ == 0) {
      first_psn = p.bth->psn;
      pkey = p.bth->p_key;
      base = top = Seq{p.bth->psn};
    }
    again += again_now;
    trimmed += cut;
    marked += p.ecn() == 3;
    certain += surely;
    const Seq psn = unwrap(p.bth->psn, top);
    if (std::abs(psn - top) > 2 * kWindow) {  // its QP was set up anew, or the PSN is wrong
      psns.clear();
      messages.clear();
      cack.reset();
      base = top = psn;
    }
    numbers(p, psn >= top);
    if (psn >= top) {
      psns.resize(static_cast<std::size_t>(psn - base) + 1);
      top = psn + 1;
    }
    if (uint8_t* const one = find(psn)) {
      if (again_now && (*one & kExplained) == 0) ++lost;
      *one = cut ? kSeen | kExplained : kSeen;
    }
    forget();
    outstanding = std::max(outstanding, static_cast<uint32_t>(top - 1 - (cack ? *cack : base - 1)));
    if (p.meth) message(p, psn, time);
  }

  /// `newest`: no PSN before was as high.
  void numbers(const wire::Packet& p, bool newest) {
    using enum wire::Opcode;
    if (p.meth && (newest || !first_msn)) {
      if (!first_msn) first_msn = p.meth->msn;
      if (newest) last_msn = p.meth->msn;
      if (is(p, {WriteLastImm, WriteOnlyImm})) {
        if (!first_rqmsn) first_rqmsn = p.meth->rqmsn;
        last_rqmsn = p.meth->rqmsn;
      }
    }
    if (p.trimmed() || !is(p, {WriteFirst, WriteMiddle})) return;
    const std::size_t headers = wire::Udp::kBytes + wire::Bth::kBytes + wire::Meth::kBytes + wire::Reth::kBytes +
                                (p.tseth ? wire::Tseth::kBytes : 0) + wire::kIcrcBytes + p.bth->pad_count;
    if (p.reth && p.udp->length > headers) mtu = std::max(mtu, static_cast<uint32_t>(p.udp->length - headers));
  }

  void forget() {
    const Seq keep = std::max(top - 2 * kWindow, cack ? std::min(*cack, top) - kTail : top - 2 * kWindow);
    for (; !psns.empty() && base < keep; ++base, psns.pop_front()) {
      holes += (psns.front() & kSeen) == 0 && acknowledged(base);
    }
  }

  void message(const wire::Packet& p, Seq psn, Time time) {
    using enum wire::Opcode;
    const bool begins = is(p, {WriteFirst, WriteOnly, WriteOnlyImm});
    const bool ends = is(p, {WriteLast, WriteLastImm, WriteOnly, WriteOnlyImm});
    auto at = std::ranges::find(messages, p.meth->msn, &Message::msn);
    if (at == messages.end()) {
      if (acknowledged(psn) || (p.bth->rtx != 0 && !begins)) return;
      if (messages.size() == kMostMessages) {
        untimed += messages.front().immediate;
        messages.pop_front();
      }
      at = messages.insert(messages.end(), {p.meth->msn, time});
    }
    at->first = std::min(at->first, time);
    at->begun |= begins;
    if (!ends) return;
    at->last_psn = psn;
    at->immediate = is(p, {WriteLastImm, WriteOnlyImm});
    if (!at->immediate) messages.erase(at);
  }

  void answered(Seq upto, Time time) {
    if (upto >= top || acknowledged(upto)) return;
    cack = upto;
    erase_if(messages, [&](const Message& m) {
      if (!m.last_psn || *m.last_psn > upto) return false;
      if (m.begun) {
        if (!completions) completions = std::make_unique<Delays>();
        completions->add(time - std::min(time, m.first));
      } else {
        ++untimed;
      }
      return true;
    });
    forget();
  }

  void answer(const wire::Packet& p, Time time) {
    if (packets == 0) return;
    if (p.neth) {
      if (uint8_t* const one = find(unwrap(p.neth->nack_psn, top))) *one |= kExplained;
    } else if (p.seth) {
      granted = std::max(granted, p.seth->mpr * kMprUnit);
      answered(unwrap(p.seth->cack_psn, top), time);
    } else if (p.aeth && p.aeth->syndrome >> 5 == static_cast<uint8_t>(wire::AethClass::Ack)) {
      answered(unwrap(p.bth->psn, top), time);
    }
  }

  uint64_t memory() const {
    uint64_t bytes = sizeof *this + psns.size() + messages.size() * sizeof(Message) +
                     (completions ? sizeof(Delays) : 0) + timeline.counts().size() * sizeof(Timeline::Counts);
    for (const auto& [plane, some] : evs) bytes += some.memory();
    return bytes;
  }
};

struct Traffic::Device {
  using Views = std::unordered_map<Key, std::unique_ptr<View>, Hash>;
  uint32_t number = 0;
  Views sent, came;
  /// Own QPs and their peers, both ways. No address: it is not told.
  std::map<uint32_t, uint32_t> peers;
  std::map<std::pair<log::Ip, uint32_t>, uint32_t> owners;

  std::optional<uint32_t> owner(const log::Ip& peer, uint32_t qp) const {
    auto at = owners.find({peer, qp});
    if (at == owners.end()) at = owners.find({log::Ip{}, qp});
    return at == owners.end() ? std::nullopt : std::optional(at->second);
  }
};

class Traffic::Observer final : public Checker {
 public:
  Observer(Traffic& traffic, Device& device, const Profile& profile)
      : traffic_(traffic), device_(device), settings_(profile.settings), own_(profile), wire_(profile.wire()) {
    for (const log::Qp& one : profile.qps) qp(one, 0);
  }

  void qp(const log::Qp& qp, Time) override {
    own_.qp(qp);
    if ((qp.flags & log::kNumberless) != 0 || qp.state == log::QpState::Reset) return;
    if (device_.peers.size() >= kMostWays && !device_.peers.contains(qp.qp)) return;
    device_.peers[qp.qp] = qp.peer_qp;
    device_.owners[{address(settings_, qp.peer_ip, qp.encap == 3), qp.peer_qp}] = qp.qp;
  }
  void received(const Seen& seen) override { frame(seen, false); }
  void sent(const Seen& seen) override { frame(seen, true); }
  uint64_t memory() const override { return 0; }  // the traffic's

 private:
  void frame(const Seen& seen, bool sent) {
    const wire::Packet& p = seen.packet;
    if (!seen.mrc() || p.error || !p.udp || (seen.frame.flags & log::kFcsBad) != 0) return;
    if (!sent && own_.whose(p) == Whose::Own) return;  // a switch has sent it back
    const bool ipv4 = p.ipv4.has_value();
    const Key key{address(settings_, log::mapped_source(p), ipv4), address(settings_, log::mapped_destination(p), ipv4),
                  p.bth->dqp};
    View* const view = view_of(sent ? device_.sent : device_.came, key);
    if (view == nullptr) return;
    const wire::OpcodeInfo* const info = wire::opcode_info(p.bth->opcode);
    const bool data = info != nullptr && info->payload;
    view->timeline.add(Timeline::Packets, seen.first);
    if (data) {
      if (p.bth->rtx != 0) view->timeline.add(Timeline::Again, seen.first);
      if (p.trimmed()) view->timeline.add(Timeline::Trimmed, seen.first);
      if (p.ecn() == 3) view->timeline.add(Timeline::Marked, seen.first);
      FlatSet& evs = view->evs[seen.frame.plane];
      if (traffic_.evs_ < kMostEvs) traffic_.evs_ += evs.insert(p.entropy(wire_));
      view->data(p, (seen.frame.flags & log::kMaybe) == 0, seen.first);
    } else if (!p.trimmed()) {
      // What it answers went the other way, to the QP at whose end it was made.
      std::optional<uint32_t> from;
      if (sent) {
        from = device_.owner(key.to, key.dqp);
      } else if (const auto at = device_.peers.find(key.dqp); at != device_.peers.end()) {
        from = at->second;
      }
      if (!from) return;
      auto& views = sent ? device_.came : device_.sent;
      const auto at = views.find({key.to, key.from, *from});
      if (at != views.end()) at->second->answer(p, seen.first);
    }
  }

  View* view_of(Device::Views& views, const Key& key) {
    auto at = views.find(key);
    if (at == views.end()) {
      if (traffic_.views_ >= kMostWays) {
        ++traffic_.beyond_;
        return nullptr;
      }
      ++traffic_.views_;
      at = views.emplace(key, std::make_unique<View>()).first;
    }
    return at->second.get();
  }

  Traffic& traffic_;
  Device& device_;
  const Settings& settings_;
  OwnAddresses own_;
  const wire::WireConfig wire_;
};

Traffic::Traffic() = default;
Traffic::~Traffic() = default;

std::unique_ptr<Checker> Traffic::observer(uint32_t device, const Profile& profile) {
  devices_.push_back(std::make_unique<Device>());
  devices_.back()->number = device;
  return std::make_unique<Observer>(*this, *devices_.back(), profile);
}

std::vector<std::pair<Traffic::Key, Traffic::Sides>> Traffic::sides() const {
  std::map<Key, std::vector<Sides>> all;
  for (const auto& device : devices_) {
    for (const auto& [key, view] : device->sent) all[key].push_back({device.get(), nullptr, view.get(), nullptr});
  }
  for (const auto& device : devices_) {
    for (const auto& [key, view] : device->came) {
      auto& some = all[key];
      auto at = std::ranges::find(some, nullptr, &Sides::came);
      if (at == some.end()) at = some.insert(at, Sides{});
      at->receiver = device.get();
      at->came = view.get();
    }
  }
  std::vector<std::pair<Key, Sides>> list;
  for (const auto& [key, some] : all) {
    for (const Sides& one : some) list.emplace_back(key, one);
  }
  return list;
}

std::vector<Way> Traffic::ways() const {
  std::vector<Way> list;
  for (const auto& [key, side] : sides()) {
    const View& main = side.sent != nullptr ? *side.sent : *side.came;
    const View& under_way = side.came != nullptr ? *side.came : *side.sent;
    if (main.packets + under_way.packets == 0) continue;
    Way way;
    way.from = key.from;
    way.to = key.to;
    way.peer_qp = key.dqp;
    if (side.sender != nullptr) {
      way.sender = side.sender->number;
      way.qp = side.sender->owner(key.to, key.dqp);
    }
    if (side.receiver != nullptr) {
      way.receiver = side.receiver->number;
      const auto at = side.receiver->peers.find(key.dqp);
      if (!way.qp && at != side.receiver->peers.end()) way.qp = at->second;
      if (side.came->certain != 0) way.arrived = side.came->certain;
    }
    way.first_psn = main.first_psn;
    way.last_psn = static_cast<uint32_t>((main.top - 1) & 0xFFFFFF);
    way.first_msn = main.first_msn;
    way.last_msn = main.last_msn;
    way.first_rqmsn = main.first_rqmsn;
    way.last_rqmsn = main.last_rqmsn;
    way.pkey = main.pkey;
    way.mtu = main.mtu;
    way.packets = main.packets;
    way.again = main.again;
    way.lost = main.lost;
    way.trimmed = under_way.trimmed;
    way.marked = under_way.marked;
    way.missing = main.missing();
    way.outstanding = main.outstanding;
    way.granted = main.granted;
    for (const auto& [plane, some] : main.evs) way.evs[plane] = some.size();
    if (main.completions) way.completions = *main.completions;
    way.untimed = main.untimed;
    list.push_back(std::move(way));
  }
  return list;
}

Timeline Traffic::timeline() const {
  Timeline sum;
  for (const auto& [key, side] : sides()) {
    const View& main = side.sent != nullptr ? *side.sent : *side.came;
    const View& under_way = side.came != nullptr ? *side.came : *side.sent;
    sum.add(main.timeline, {Timeline::Packets, Timeline::Again});
    sum.add(under_way.timeline, {Timeline::Trimmed, Timeline::Marked});
  }
  return sum;
}

uint64_t Traffic::memory() const {
  uint64_t bytes = 0;
  for (const auto& device : devices_) {
    for (const auto* views : {&device->sent, &device->came}) {
      for (const auto& [key, view] : *views) bytes += sizeof key + view->memory();
    }
    bytes += 96 * device->peers.size();
  }
  return bytes;
}

std::string to_text(const Table& table, const std::string& indent) {
  std::vector<std::size_t> width(table.head.size());
  const auto each = [&](auto&& call) {
    call(table.head);
    for (const auto& row : table.rows) call(row);
  };
  each([&](const auto& row) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  });
  std::string text;
  each([&](const auto& row) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) line += row[i] + std::string(width[i] + 2 - row[i].size(), ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  });
  return text;
}

}  // namespace mrc::ref
