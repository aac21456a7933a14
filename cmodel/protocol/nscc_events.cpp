// SPDX-License-Identifier: Apache-2.0
#include "protocol/nscc_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gen/headers.hpp"
#include "input/csv.hpp"

namespace mrc {

namespace {

enum Column : size_t { kTime, kKind, kBytes, kEcn, kRtt, kPenalty, kRestore, kReason };
constexpr input::CsvColumn kColumns[] = {
    {"time_ns", true, "when"},
    {"kind", true, "ack, nack, loss or send"},
    {"bytes", true, "newly received, or the packet's size"},
    {"ecn", false, "1: the acknowledged packet came with a mark"},
    {"rtt_ns", false, "round trip"},
    {"penalty", false, "rcv_cwnd_pen"},
    {"restore", false, "restore_cwnd"},
    {"reason", false, "of a nack"},
};

constexpr std::array<std::string_view, 4> kKinds = {"ack", "nack", "loss", "send"};
static_assert(static_cast<size_t>(CcEvent::Send) == 3);

using wire::NackReason;
constexpr auto kTrimmed = static_cast<uint8_t>(NackReason::Trimmed);  // the reason when none is written

struct Reason {
  std::string_view name;
  NackReason code;
};
constexpr Reason kReasons[] = {
    {"trimmed", NackReason::Trimmed},        {"trimmed_lasthop", NackReason::TrimmedLasthop},
    {"no_bitmap", NackReason::NoBitmap},     {"no_pkt_buffer", NackReason::NoPktBuffer},
    {"no_resource", NackReason::NoResource}, {"psn_oor_window", NackReason::PsnOorWindow},
    {"unexp_event", NackReason::UnexpEvent},
};

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

CcEvent read_kind(const input::Csv& csv) {
  const std::string_view kind = csv.cell(kKind);
  const auto known = std::find(kKinds.begin(), kKinds.end(), kind);
  if (known == kKinds.end()) {
    csv.refuse(kKind, "unknown kind " + input::shown(kind), "Write ack, nack, loss or send.");
  }
  return static_cast<CcEvent>(known - kKinds.begin());
}

uint8_t read_reason(const input::Csv& csv) {
  const std::string_view why = csv.cell(kReason);
  if (why.empty()) return kTrimmed;
  const auto named =
      std::find_if(std::begin(kReasons), std::end(kReasons), [&](const Reason& r) { return same_name(r.name, why); });
  if (named != std::end(kReasons)) return static_cast<uint8_t>(named->code);
  if (why[0] >= '0' && why[0] <= '9') return static_cast<uint8_t>(csv.whole(kReason, 0, 255));
  csv.refuse(kReason, "unknown reason " + input::shown(why),
             "Write trimmed, trimmed_lasthop, no_bitmap, no_pkt_buffer, no_resource, psn_oor_window, unexp_event or a "
             "number up to 255.");
}

NsccLine read_row(const input::Csv& csv, uint64_t last_time) {
  constexpr uint64_t kNoSample = ~uint64_t{0};
  NsccLine out;
  NsccEvent& e = out.event;
  out.line = csv.line();
  e.kind = read_kind(csv);
  out.time_ns = csv.whole(kTime, 0, uint64_t{1} << 62);
  if (out.time_ns < last_time) {
    csv.refuse(kTime, fmt::format("time_ns {} is before the line above, {}", out.time_ns, last_time),
               "Sort the events by time.");
  }
  e.bytes = static_cast<uint32_t>(csv.whole(kBytes, 0, (1u << 28) - 1));
  e.ecn = csv.whole(kEcn, 0, 1, 0) != 0;
  const uint64_t rtt = csv.whole(kRtt, 0, uint64_t{65535} * kNsccTickNs, kNoSample);
  e.pen = static_cast<uint8_t>(csv.whole(kPenalty, 0, 127, 0));
  e.restore = csv.whole(kRestore, 0, 1, 0) != 0;
  e.reason = read_reason(csv);
  // What says something about another kind would be ignored.
  const bool ack = e.kind == CcEvent::Ack, nack = e.kind == CcEvent::Nack;
  const auto only = [&](bool wrong, Column column, const char* whose) {
    if (!wrong) return;
    csv.refuse(column, fmt::format("{} on a line of kind {}", kColumns[column].name, csv.cell(kKind)),
               fmt::format("Only {} has it: leave the cell empty.", whose));
  };
  only(e.ecn && !ack, kEcn, "an ack");
  only(rtt != kNoSample && !ack && !nack, kRtt, "an ack or a nack");
  only(e.pen != 0 && !ack, kPenalty, "an ack");
  only(e.restore && !ack, kRestore, "an ack");
  only(e.reason != kTrimmed && !nack, kReason, "a nack");
  out.ticks = out.time_ns / kNsccTickNs;
  e.now = static_cast<uint32_t>(out.ticks);
  e.rtt_valid = rtt != kNoSample;
  if (e.rtt_valid) e.rtt = static_cast<uint16_t>(std::min<uint64_t>(65535, (rtt + kNsccTickNs / 2) / kNsccTickNs));
  return out;
}

}  // namespace

const char* nscc_kind_name(CcEvent kind) { return kKinds[static_cast<size_t>(kind) % kKinds.size()].data(); }

wire::Result<std::vector<NsccLine>> nscc_read_events(std::string_view text, const std::string& name) {
  uint64_t offset = 0;
  try {
    input::Csv csv(text, name, kColumns);
    std::vector<NsccLine> events;
    while (csv.next()) {
      offset = csv.offset();
      events.push_back(read_row(csv, events.empty() ? 0 : events.back().time_ns));
    }
    return events;
  } catch (const InputError& error) {
    return wire::error_of(error, name, offset);
  }
}

}  // namespace mrc
