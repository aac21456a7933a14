// SPDX-License-Identifier: Apache-2.0
#include "tb/compare/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "gen/headers.hpp"
#include "gen/protocol.hpp"
#include "protocol/qpn.hpp"
#include "tb/environment/frame.hpp"

namespace mrc::tb {
namespace {

using Way = StagedPacket::Way;

const char* opcode_text(uint8_t opcode) {
  const wire::OpcodeInfo* info = wire::opcode_info(opcode);
  return info == nullptr ? "unknown opcode" : info->text;
}

uint8_t opcode_of(CtlKind kind) {
  switch (kind) {
    case CtlKind::Sack:
      return static_cast<uint8_t>(wire::Opcode::Sack);
    case CtlKind::Nack:
      return static_cast<uint8_t>(wire::Opcode::Nack);
    case CtlKind::Endpoint:
      return static_cast<uint8_t>(wire::Opcode::EndpointResponse);
    default:
      return static_cast<uint8_t>(wire::Opcode::Ack);
  }
}

bool is_data(uint8_t opcode) {
  return opcode >= static_cast<uint8_t>(wire::Opcode::WriteFirst) &&
         opcode <= static_cast<uint8_t>(wire::Opcode::WriteOnlyImm);
}

/// Fields of a BTH, out of a header or a frame.
struct Bth {
  uint8_t opcode = 0;
  uint32_t dqp = 0, psn = 0;
};

class Follow {
 public:
  Follow(std::span<const int> own, std::span<const PortFrame> frames, uint64_t clock_ps) : own_(own) {
    for (const PortFrame& f : frames) {
      const uint64_t begin = f.begin_ps / clock_ps;
      first_frame_ = std::min(first_frame_, begin);
      ports_[{f.sent, f.plane, f.opcode, f.dqp, f.psn}].push_back({begin, f.end_ps / clock_ps});
    }
  }

  void event(const Event& e) {
    last_ = e.cycle;
    const uint32_t* d = e.data.data();
    if (e.stream >= kNumCoreStreams) {
      const StreamRef ref = stream_at(e.stream);
      if (ref.info == &kLaneStreams[static_cast<unsigned>(LaneStream::RxLaneDesc)])
        described(e.cycle, Rxdesc::unpack(d), static_cast<unsigned>(ref.plane));
      return;
    }
    switch (static_cast<CoreStream>(e.stream)) {
      case CoreStream::TxInflightRetx: {
        const Retx r = Retx::unpack(d);
        StagedPacket& p = make(Way::Sends, r.qp, r.psn, 0, e.cycle, "tx_segment");
        p.again = true;
        open_[{Way::Sends, r.qp, r.psn}] = index();
        break;
      }
      case CoreStream::TxSegmentPkt: {
        const Pkt k = Pkt::unpack(d);
        hand(Way::Sends, k.qp, k.psn, k.opcode, k.rtx, e.cycle, "tx_path");
        break;
      }
      case CoreStream::TxPathPath: {
        const Path k = Path::unpack(d);
        hand(Way::Sends, k.pkt.qp, k.pkt.psn, k.pkt.opcode, k.pkt.rtx, e.cycle, "tx_header");
        break;
      }
      case CoreStream::RxTrackResp:
      case CoreStream::EndpointResp: {
        const Resp r = Resp::unpack(d);
        make(Way::Answers, r.qp, r.psn, opcode_of(r.kind), e.cycle, "ack_gen");
        answers_[{r.qp, opcode_of(r.kind)}].push_back(index());
        break;
      }
      case CoreStream::AckGenCtlpkt:
      case CoreStream::TxProbeProbe:
      case CoreStream::EndpointReq:
        control(e.cycle, Ctlpkt::unpack(d));
        break;
      case CoreStream::TxHeaderHdr:
        header(e.cycle, Hdr::unpack(d));
        break;
      case CoreStream::RxCheckRxpkt: {
        const Rxpkt r = Rxpkt::unpack(d);
        arrive(e.cycle, r);
        break;
      }
      case CoreStream::RxCheckCtl: {
        const Ctl c = Ctl::unpack(d);
        answer_came(e.cycle, c);
        break;
      }
      case CoreStream::RxCheckEprx: {
        const auto which = checked(
            [](const StagedPacket& p) {
              return p.opcode == static_cast<uint8_t>(wire::Opcode::EndpointRequest) ||
                     p.opcode == static_cast<uint8_t>(wire::Opcode::EndpointResponse);
            },
            e.cycle);
        if (which) hand_over(list_[*which], e.cycle, "endpoint");
        break;
      }
      case CoreStream::RxTrackVerdict:
        judged(e.cycle);
        break;
      default:
        break;
    }
  }

  std::vector<StagedPacket> packets() {
    for (StagedPacket& p : list_) {
      for (Stage& s : p.stages) {
        if (s.until != kOpen) continue;
        s.until = std::max(last_, s.from);
        s.open = true;
      }
      p.name = fmt::format("{} PSN {:#x}{}", opcode_text(p.opcode), p.psn, p.again ? " again" : "");
    }
    std::ranges::stable_sort(list_, {}, [](const StagedPacket& p) { return p.stages.front().from; });
    return std::move(list_);
  }

 private:
  using Key = std::tuple<Way, int, uint32_t>;  // QP and PSN
  static constexpr uint64_t kOpen = 0;         // until, while the stage goes on: cycles of traffic are far above

  std::size_t index() const { return list_.size() - 1; }

  StagedPacket& make(Way way, int qp, uint32_t psn, uint8_t opcode, uint64_t cycle, std::string block) {
    StagedPacket& p = list_.emplace_back();
    p.way = way;
    p.qp = qp;
    p.psn = psn;
    p.opcode = opcode;
    p.stages.push_back({std::move(block), cycle, kOpen, false});
    return p;
  }
  void next(StagedPacket& p, uint64_t cycle, std::string block) {
    p.stages.back().until = cycle;
    p.stages.push_back({std::move(block), cycle, kOpen, false});
  }

  /// A data packet goes on to a block; it is a new one when it was not seen in the block before.
  void hand(Way way, int qp, uint32_t psn, uint8_t opcode, bool again, uint64_t cycle, const char* block) {
    const auto at = open_.find({way, qp, psn});
    if (at == open_.end()) {
      make(way, qp, psn, opcode, cycle, block);
      open_[{way, qp, psn}] = index();
    } else {
      next(list_[at->second], cycle, block);
    }
    StagedPacket& p = list_[open_[{way, qp, psn}]];
    p.opcode = opcode;
    p.again = again;
  }

  /// The last block of which the streams tell that it has the packet.
  static void hand_over(StagedPacket& p, uint64_t cycle, const char* block) {
    p.stages.back().until = cycle;
    p.stages.push_back({block, cycle, cycle + 1, false});
    p.whole = true;
  }

  /// What ack_gen, tx_probe or endpoint hands to tx_header: the oldest answer of its kind of that QP, or a packet of
  /// its own.
  void control(uint64_t cycle, const Ctlpkt& c) {
    auto& waiting = answers_[{c.qp, c.opcode}];
    if (waiting.empty()) {
      make(Way::Answers, c.qp, c.psn, c.opcode, cycle, "tx_header");
      control_.push_back(index());
      return;
    }
    StagedPacket& p = list_[waiting.front()];
    control_.push_back(waiting.front());
    waiting.pop_front();
    p.psn = c.psn;
    next(p, cycle, "tx_header");
  }

  void header(uint64_t cycle, const Hdr& h) {
    const auto byte = [&](unsigned i) { return h.hdr[i / 4] >> (8 * (i % 4)) & 0xff; };
    const unsigned at = (byte(20) == 41 ? 54u : byte(20) == 43 ? 78u : 14u) + 48;
    Bth b;
    b.opcode = static_cast<uint8_t>(byte(at));
    b.dqp = byte(at + 5) << 16 | byte(at + 6) << 8 | byte(at + 7);
    b.psn = byte(at + 9) << 16 | byte(at + 10) << 8 | byte(at + 11);
    std::optional<std::size_t> which;
    if (is_data(b.opcode)) {
      const int qp = own_.empty() ? -1 : own_[qpn_row(b.dqp, static_cast<unsigned>(own_.size()))];
      const auto found = open_.find({Way::Sends, qp, b.psn});
      if (found != open_.end()) {
        which = found->second;
        open_.erase(found);
      }
    } else {
      // tx_header takes control packets in order.
      const auto found = std::ranges::find_if(control_, [&](std::size_t i) { return list_[i].opcode == b.opcode; });
      if (found != control_.end()) {
        which = *found;
        control_.erase(found);
      }
    }
    const std::string lane = fmt::format("tx_lane[{}]", h.plane);
    if (which) {
      next(list_[*which], cycle, lane);
    } else {
      make(is_data(b.opcode) ? Way::Sends : Way::Answers, -1, b.psn, b.opcode, cycle, lane);
      which = index();
    }
    StagedPacket& p = list_[*which];
    p.dqp = b.dqp;
    if (!is_data(b.opcode)) p.psn = b.psn;
    // The lane is done when the frame's last byte is out.
    auto& sent = ports_[{true, h.plane, b.opcode, b.dqp, b.psn}];
    while (!sent.empty() && sent.front().begin < cycle) sent.pop_front();
    if (sent.empty() && cycle < first_frame_) {  // its frame is too long ago to be known
      p.stages.back().until = cycle + 1;
      p.whole = true;
    }
    if (sent.empty()) return;
    p.stages.back().until = sent.front().end;
    p.whole = true;
    sent.pop_front();
  }

  /// rx_lane has described a frame: it goes to rx_check.
  void described(uint64_t cycle, const Rxdesc& r, unsigned plane) {
    const std::string lane = fmt::format("rx_lane[{}]", plane);
    auto& came = ports_[{false, plane, r.opcode, r.dqp, r.psn}];
    while (came.size() > 1 && came[1].begin <= cycle) came.pop_front();
    const bool known = !came.empty() && came.front().begin <= cycle;
    const int qp = r.dqp >= kQpnBase && !own_.empty() ? qpn_row(r.dqp, static_cast<unsigned>(own_.size())) : -1;
    StagedPacket& p = make(Way::Receives, qp, r.psn, r.opcode, known ? came.front().begin : cycle,
                           known ? lane : std::string("rx_check"));
    if (known) {
      came.pop_front();
      next(p, cycle, "rx_check");
    }
    p.dqp = r.dqp;
    p.again = r.rtx;
    checking_[plane].push_back(index());
  }

  /// rx_check takes each lane in order: what came on it before was dropped.
  template <class Fits>
  std::optional<std::size_t> checked(const Fits& fits, uint64_t cycle) {
    for (auto& [plane, waiting] : checking_) {
      const auto found = std::ranges::find_if(waiting, [&](std::size_t i) { return fits(list_[i]); });
      if (found == waiting.end()) continue;
      const std::size_t which = *found;
      for (auto i = waiting.begin(); i != found; ++i) {
        StagedPacket& p = list_[*i];
        p.stages.back().until = cycle;
        p.whole = p.dropped = true;
      }
      waiting.erase(waiting.begin(), found + 1);
      return which;
    }
    return {};
  }

  void arrive(uint64_t cycle, const Rxpkt& r) {
    const auto which = checked(
        [&](const StagedPacket& p) {
          return std::cmp_equal(p.qp, r.qp) && p.psn == r.psn && p.again == r.rtx && requests(p.opcode);
        },
        cycle);
    if (!which) return;  // it was described before the window began
    next(list_[*which], cycle, "rx_track");
    tracking_.emplace_back(*which, r.buf_valid);
    without_buffer(cycle + 1);
  }
  /// rx_track judges in order, and gives a verdict on each packet that has a buffer.
  void judged(uint64_t cycle) {
    if (tracking_.empty()) return;
    tracked(cycle);
    without_buffer(cycle);
  }
  void without_buffer(uint64_t cycle) {
    while (!tracking_.empty() && !tracking_.front().second) tracked(cycle);
  }
  void tracked(uint64_t cycle) {
    StagedPacket& p = list_[tracking_.front().first];
    tracking_.pop_front();
    p.stages.back().until = std::max(cycle, p.stages.back().from + 1);
    p.whole = true;
  }
  void answer_came(uint64_t cycle, const Ctl& c) {
    const uint8_t opcode = opcode_of(c.kind);
    const auto which =
        checked([&](const StagedPacket& p) { return std::cmp_equal(p.qp, c.qp) && p.opcode == opcode; }, cycle);
    if (which) hand_over(list_[*which], cycle, "tx_inflight");
  }
  static bool requests(uint8_t opcode) {
    return is_data(opcode) || opcode == static_cast<uint8_t>(wire::Opcode::ProbeRequest);
  }

  struct AtPort {
    uint64_t begin, end;  // cycles
  };
  std::span<const int> own_;
  uint64_t last_ = 0, first_frame_ = ~uint64_t{0};
  std::vector<StagedPacket> list_;
  std::map<Key, std::size_t> open_;
  std::map<std::pair<int, uint8_t>, std::deque<std::size_t>> answers_;  // in ack_gen: QP, opcode
  std::deque<std::size_t> control_;                                     // in tx_header
  std::map<unsigned, std::deque<std::size_t>> checking_;                // in rx_check, by plane
  std::deque<std::pair<std::size_t, bool>> tracking_;                   // in rx_track, with a buffer or without
  std::map<std::tuple<bool, unsigned, uint8_t, uint32_t, uint32_t>, std::deque<AtPort>> ports_;
};

}  // namespace

std::optional<PortFrame> port_frame(bool sent, unsigned plane, const std::vector<uint8_t>& bytes, uint64_t begin_ps,
                                    uint64_t end_ps) {
  const FrameInfo info = look_at(bytes);
  if (!info.mrc) return {};
  return PortFrame{sent, plane, info.opcode, info.dqp, info.psn, begin_ps, end_ps};
}

std::vector<StagedPacket> staged_packets(std::span<const Event> events, std::span<const int> own,
                                         std::span<const PortFrame> frames, uint64_t clock_ps) {
  Follow follow(own, frames, clock_ps);
  for (const Event& e : events) follow.event(e);
  return follow.packets();
}

std::string kanata_text(std::span<const StagedPacket> packets) {
  struct Line {
    uint64_t cycle;
    unsigned rank;  // ends of stages come before what begins in the same cycle
    std::string text;
  };
  std::vector<Line> lines;
  std::map<std::tuple<int, uint32_t>, std::size_t> first;  // data packet -> instruction
  static constexpr const char* kWays[] = {"sends", "answers", "receives"};
  uint64_t retired = 0;
  for (std::size_t id = 0; id < packets.size(); ++id) {
    const StagedPacket& p = packets[id];
    const uint64_t begin = p.stages.front().from;
    lines.push_back({begin, 1, fmt::format("I\t{}\t{}\t{}\n", id, id, static_cast<unsigned>(p.way))});
    lines.push_back({begin, 1,
                     fmt::format("L\t{}\t0\t{}: {}{}\n", id, kWays[static_cast<std::size_t>(p.way)],
                                 p.qp < 0 ? "" : fmt::format("QP {} ", p.qp), p.name)});
    if (p.way == StagedPacket::Way::Sends) {
      const auto [before, fresh] = first.try_emplace({p.qp, p.psn}, id);
      if (!fresh && p.again) lines.push_back({begin, 1, fmt::format("W\t{}\t{}\t0\n", id, before->second)});
    }
    for (const Stage& s : p.stages) {
      lines.push_back({s.from, 1, fmt::format("S\t{}\t0\t{}\n", id, s.block)});
      if (s.open) continue;
      lines.push_back({s.until, 0, fmt::format("E\t{}\t0\t{}\n", id, s.block)});
    }
    // What is still under way stays in the picture to its end.
    if (p.whole)
      lines.push_back(
          {p.stages.back().until, 0, fmt::format("R\t{}\t{}\t{}\n", id, p.dropped ? 0 : retired++, p.dropped ? 1 : 0)});
  }
  std::ranges::stable_sort(lines, {}, [](const Line& l) { return std::pair(l.cycle, l.rank); });
  std::string text = "Kanata\t0004\n";
  uint64_t cycle = lines.empty() ? 0 : lines.front().cycle;
  text += fmt::format("C=\t{}\n", cycle);
  for (const Line& l : lines) {
    if (l.cycle != cycle) text += fmt::format("C\t{}\n", l.cycle - cycle);
    cycle = l.cycle;
    text += l.text;
  }
  return text;
}

}  // namespace mrc::tb
