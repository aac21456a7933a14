// SPDX-License-Identifier: Apache-2.0
#include "reference/readings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "reference/numbers.hpp"

namespace mrc::ref {
namespace {

enum Requested : std::size_t {
  kPort,
  kM,
  kControl,
  kBase,
  kOutside,
  kIcrc,
  kZero,
  kStamps,
  kPdcid,
  kOp,
  kMask,
  kBytes,
  kError,
  kTrim,
  kState,
  kShare
};
constexpr std::size_t kMostReadings = 256;
constexpr uint64_t kFewBases = 8;

}  // namespace

const std::vector<Question>& Readings::questions() {
  static const std::vector<Question> all{
      {"A-01", "UDP_PORT.port", "UDP destination port"},
      {"A-02", "CTRL.bth_m", "M of the BTH"},
      {"A-04", "DSCP_TX.ctl", "code point of control packets"},
      {"A-11", "CTRL.sack_base_self", "bitmap of a SACK about a marked packet"},
      {"A-12", "CTRL.oor_drop", "PSN outside the window"},
      {"A-14", "CTRL.icrc_outer", "where the ICRC of SRv6 packets begins"},
      {"A-19", "CTRL.zero_length", "WRITE of no bytes"},
      {"A-21", "CTRL.tsr_us", "unit of time stamps"},
      {"A-22", "CTRL.pdcid_zero", "spdcid and dpdcid"},
      {"A-36", "CTRL.eeth_op_high", "place of EETH.op"},
      {"A-37", "CTRL.ports_from_0", "first port of a port status mask"},
      {"A-55", "CTRL.nominal", "what a packet counts for in rcvd_bytes"},
      {"A-57", "CTRL.err_silent", "a QP in ERROR"},
      {"A-74", "CTRL.trim_silent", "a trimmed packet"},
      {"A-75", "CTRL.state_silent", "no progress"},
      {"A-78", "SHARE.enable", "rcv_cwnd_pen and restore_cwnd"},
  };
  return all;
}

/// `words` are made of a reading that is new.
template <class Words>
void Readings::notify(std::size_t question, uint32_t value, uint64_t number, uint32_t capture, Words&& words) {
  const auto at = seen_.find({question, value});
  if (at != seen_.end()) {
    ++at->second.packets;
  } else if (seen_.size() < kMostReadings) {
    seen_[{question, value}] = {value, words(), 1, number, capture};
  }
}

void Readings::packet(const wire::Packet& p, const wire::WireConfig& wire, uint64_t number, uint32_t capture) {
  if (!p.bth || !p.udp || p.error || p.trimmed()) return;
  const auto say = [&](std::size_t question, uint32_t value, const char* words) {
    notify(question, value, number, capture, [&] { return std::string(words); });
  };
  notify(kPort, p.udp->dst_port, number, capture, [&] { return fmt::format("UDP port {}", p.udp->dst_port); });
  say(kM, p.bth->m, p.bth->m != 0 ? "M sent as 1" : "M sent as 0");
  if (p.seth || p.neth || p.aeth) {
    notify(kControl, p.dscp(), number, capture,
           [&] { return fmt::format("control packets with code point {}", p.dscp()); });
  }
  if (p.outer_ipv6 && p.icrc) {
    say(kIcrc, wire.icrc_outer, wire.icrc_outer ? "ICRC from the outer header on" : "ICRC from the inner header on");
  }
  if (p.reth && p.reth->dma_length == 0) say(kZero, kZeroLegal, "WRITEs of no bytes are sent");
  const auto unit = [&](unsigned tsr) {
    say(kStamps, tsr, tsr != 0 ? "time stamps in units of 1.024 us, or its own" : "time stamps in units of 128 ns");
  };
  if (p.tseth) unit(p.tseth->tsr);
  if (p.peth) unit(p.peth->tsr);
  if (p.erth) unit(p.erth->tsr);
  const auto pdcid = [&](unsigned source, unsigned destination) {
    if ((p.bth->dqp & 0xFFFF) == 0) return;
    const bool zero = source == 0 && destination == 0;
    say(kPdcid, zero, zero ? "spdcid and dpdcid are 0" : "spdcid and dpdcid are QPNs");
  };
  if (p.seth) pdcid(p.seth->spdcid, p.seth->dpdcid);
  if (p.neth) pdcid(p.neth->spdcid, p.neth->dpdcid);
  if (p.peth) pdcid(p.peth->spdcid, p.peth->dpdcid);
  if (p.eeth && p.eeth->op == 1) {
    say(kOp, wire.eeth_op_high, wire.eeth_op_high ? "EETH.op in bits 5:4" : "EETH.op in bits 3:2");
  }
  if (p.erth && p.erth->op == 0 && p.erth->port_status_mask != 0) {
    const bool first = (p.erth->port_status_mask & 1) != 0;
    say(kMask, first, first ? "ports count from 0" : "ports count from 1, as far as shown");
  }
  if (p.neth) {
    if (p.neth->reason == static_cast<uint8_t>(wire::NackReason::PsnOorWindow)) say(kOutside, 0, "is NACKed");
    if (p.neth->reason == static_cast<uint8_t>(wire::NackReason::UnexpEvent)) say(kError, 0, "answers with a NACK");
  }
  if (const auto counts = bytes_.sent(p)) say(kBytes, counts->nominal, ByteCounts::words(counts->nominal));
  if (p.seth && p.seth->pr != 0 && static_cast<uint16_t>(p.seth->ack_psn_offset) == kUnrequestedProbe) {
    say(kTrim, 0, "brings a SACK besides its NACK");
  }
  if (p.seth && p.seth->pr == 0 && p.seth->m == 1 && p.seth->ack_psn_offset > 0) {
    const bool self = p.seth->sack_offset == p.seth->ack_psn_offset;
    say(kBase, self, self ? "begins at the packet itself" : "begins elsewhere");
  }
  if (p.cc_state && (p.cc_state->rcv_cwnd_pen != 0 || p.cc_state->restore_cwnd != 0)) {
    say(kShare, 1, "the receiver shrinks windows, or gives them back");
  }
  if (p.peth && p.peth->probe_id == kStateProbe) say(kState, 0, "the QP requests its peer's state");
}

void Readings::came(const wire::Packet& p, const wire::WireConfig& wire) {
  if (p.bth && p.udp && (p.ipv6 || p.ipv4) && !p.error) bytes_.came(p, wire);
}

std::vector<Reading> Readings::of(std::size_t question) const {
  std::vector<Reading> some;
  for (auto at = seen_.lower_bound({question, 0}); at != seen_.end() && at->first.first == question; ++at) {
    some.push_back(at->second);
  }
  if (question == kMask && some.size() == 2) {
    // A device that counts from 0 has bit 0 clear whenever that port is down.
    some[1].packets += some[0].packets;
    some.erase(some.begin());
  }
  if (question == kBase && !some.empty()) {
    // It may begin there by chance: once elsewhere is always, and a few there show nothing.
    if (some.size() == 2) {
      some[0].packets += some[1].packets;
      some.pop_back();
    } else if (some[0].value == 1 && some[0].packets < kFewBases) {
      some.clear();
    }
  }
  std::ranges::stable_sort(some, [](const Reading& a, const Reading& b) { return a.packets > b.packets; });
  return some;
}

input::Json Readings::json() const {
  input::Json list = input::Json::array();
  for (std::size_t i = 0; i < questions().size(); ++i) {
    input::Json entry{{"assumption", questions()[i].assumption}, {"setting", questions()[i].setting}};
    input::Json some = input::Json::array();
    for (const Reading& r : of(i)) {
      some.push_back(
          {{"value", r.value}, {"words", r.words}, {"packets", r.packets}, {"first", r.first}, {"capture", r.capture}});
    }
    entry["readings"] = std::move(some);
    list.push_back(std::move(entry));
  }
  return list;
}

void Readings::apply(Settings& settings) const {
  for (std::size_t i = 0; i < questions().size(); ++i) {
    const auto some = of(i);
    if (some.size() != 1) continue;
    for (const Setting& setting : ref::settings()) {
      if (std::string_view(setting.name) == questions()[i].setting) setting.set(settings, some.front().value);
    }
  }
}

}  // namespace mrc::ref
