// SPDX-License-Identifier: Apache-2.0
#include "protocol/nscc_events.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace mrc {

namespace {

enum Column : unsigned { kTime, kKind, kBytes, kEcn, kRtt, kPenalty, kRestore, kReason, kColumns };
constexpr std::array<std::string_view, kColumns> kNames = {"time_ns", "kind",    "bytes",   "ecn",
                                                           "rtt_ns",  "penalty", "restore", "reason"};
constexpr const char* kColumnList = "time_ns, kind, bytes, ecn, rtt_ns, penalty, restore and reason";

constexpr std::array<std::string_view, 4> kKinds = {"ack", "nack", "loss", "send"};

struct Reason {
  std::string_view name;
  uint8_t code;
};
constexpr Reason kReasons[] = {
    {"trimmed", 0x01},     {"trimmed_lasthop", 0x02}, {"no_bitmap", 0x06},   {"no_pkt_buffer", 0x07},
    {"no_resource", 0x0a}, {"psn_oor_window", 0x0b},  {"unexp_event", 0x19},
};

std::string_view trim(std::string_view s) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const size_t comma = line.find(',');
    cells.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

/// Decimal or 0x...
std::optional<uint64_t> number(std::string_view s) {
  int base = 10;
  if (s.size() > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
    base = 16;
    s.remove_prefix(2);
  }
  uint64_t value = 0;
  const auto [stop, problem] = std::from_chars(s.data(), s.data() + s.size(), value, base);
  if (problem != std::errc() || stop != s.data() + s.size()) return std::nullopt;
  return value;
}

/// Printable, and not longer than a line of an error message bears.
std::string shown(std::string_view s) {
  std::string out(s.substr(0, 40));
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  return "'" + out + "'";
}

struct Reader {
  const std::string& name;
  std::array<int, kColumns> at{};  // index of the cell of a column, -1: no such column
  size_t cells = 0;
  bool header = false;
  uint64_t last_time = 0;
  uint32_t line = 0;
  uint64_t offset = 0;

  wire::Error error(std::string what, std::string remedy) const {
    return {name + ":" + std::to_string(line), offset, std::move(what), std::move(remedy)};
  }

  std::optional<wire::Error> read_header(const std::vector<std::string_view>& names) {
    at.fill(-1);
    cells = names.size();
    for (size_t i = 0; i < names.size(); ++i) {
      const auto column = std::find(kNames.begin(), kNames.end(), names[i]);
      if (column == kNames.end()) {
        return error("unknown column " + shown(names[i]), std::string("The columns are ") + kColumnList + ".");
      }
      int& place = at[static_cast<size_t>(column - kNames.begin())];
      if (place >= 0) return error("column " + shown(names[i]) + " appears twice", "Remove one of them.");
      place = static_cast<int>(i);
    }
    for (const unsigned needed : {kTime, kKind, kBytes}) {
      if (at[needed] < 0) {
        return error("column '" + std::string(kNames[needed]) + "' is missing",
                     "The first line names the columns; time_ns, kind and bytes must be among them.");
      }
    }
    header = true;
    return std::nullopt;
  }

  /// The number in a cell, `fallback` when it is empty or the column absent.
  std::optional<wire::Error> cell(const std::vector<std::string_view>& row, Column c, uint64_t max, uint64_t& value,
                                  std::optional<uint64_t> fallback) const {
    const std::string_view text = at[c] < 0 ? std::string_view{} : row[static_cast<size_t>(at[c])];
    if (text.empty() && fallback) {
      value = *fallback;
      return std::nullopt;
    }
    const std::optional<uint64_t> n = number(text);
    if (!n || *n > max) {
      return error(
          std::string(kNames[c]) + " is " + shown(text) + ", not a whole number from 0 to " + std::to_string(max),
          "Correct the number.");
    }
    value = *n;
    return std::nullopt;
  }

  std::optional<wire::Error> read_row(const std::vector<std::string_view>& row, NsccLine& out) {
    if (row.size() != cells) {
      return error(std::to_string(row.size()) + " cells, but " + std::to_string(cells) + " columns",
                   "Give each line as many cells as the first line names; leave a cell empty for its default.");
    }
    NsccEvent& e = out.event;
    out.line = line;
    const std::string_view kind = row[static_cast<size_t>(at[kKind])];
    const auto known = std::find(kKinds.begin(), kKinds.end(), kind);
    if (known == kKinds.end()) return error("unknown kind " + shown(kind), "Write ack, nack, loss or send.");
    e.kind = static_cast<NsccKind>(known - kKinds.begin());
    uint64_t bytes = 0, ecn = 0, rtt = 0, penalty = 0, restore = 0;
    if (auto bad = cell(row, kTime, uint64_t{1} << 62, out.time_ns, std::nullopt)) return bad;
    if (out.time_ns < last_time) {
      return error("time_ns " + std::to_string(out.time_ns) + " is before the line above, " + std::to_string(last_time),
                   "Sort the events by time.");
    }
    last_time = out.time_ns;
    if (auto bad = cell(row, kBytes, (1u << 28) - 1, bytes, std::nullopt)) return bad;
    if (auto bad = cell(row, kEcn, 1, ecn, 0)) return bad;
    constexpr uint64_t kNoSample = ~uint64_t{0};
    if (auto bad = cell(row, kRtt, uint64_t{65535} * kNsccTickNs, rtt, kNoSample)) return bad;
    if (auto bad = cell(row, kPenalty, 127, penalty, 0)) return bad;
    if (auto bad = cell(row, kRestore, 1, restore, 0)) return bad;

    const std::string_view why = at[kReason] < 0 ? std::string_view{} : row[static_cast<size_t>(at[kReason])];
    e.reason = 0x01;
    if (!why.empty()) {
      const auto named = std::find_if(std::begin(kReasons), std::end(kReasons),
                                      [&](const Reason& r) { return same_name(r.name, why); });
      const std::optional<uint64_t> code = number(why);
      if (named != std::end(kReasons)) {
        e.reason = named->code;
      } else if (code && *code <= 255) {
        e.reason = static_cast<uint8_t>(*code);
      } else {
        return error("unknown reason " + shown(why),
                     "Write trimmed, trimmed_lasthop, no_bitmap, no_pkt_buffer, no_resource, psn_oor_window, "
                     "unexp_event or a number up to 255.");
      }
    }

    out.ticks = out.time_ns / kNsccTickNs;
    e.now = static_cast<uint32_t>(out.ticks);
    e.bytes = static_cast<uint32_t>(bytes);
    e.ecn = ecn != 0;
    e.rtt_valid = rtt != kNoSample;
    if (e.rtt_valid) e.rtt = static_cast<uint16_t>(std::min<uint64_t>(65535, (rtt + kNsccTickNs / 2) / kNsccTickNs));
    e.pen = static_cast<uint8_t>(penalty);
    e.restore = restore != 0;
    return std::nullopt;
  }
};

}  // namespace

const char* nscc_kind_name(NsccKind kind) { return kKinds[static_cast<size_t>(kind) % kKinds.size()].data(); }

wire::Result<std::vector<NsccLine>> nscc_read_events(std::string_view text, const std::string& name) {
  Reader reader{name};
  std::vector<NsccLine> events;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // byte order mark of spreadsheets
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trim(text.substr(begin, end - begin));
    ++reader.line;
    reader.offset = begin;
    begin = end + 1;
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string_view> cells = split(line);
    if (!reader.header) {
      if (auto bad = reader.read_header(cells)) return *bad;
      continue;
    }
    NsccLine event;
    if (auto bad = reader.read_row(cells, event)) return *bad;
    events.push_back(event);
  }
  if (!reader.header) {
    return wire::Error{name, 0, "no line that names the columns",
                       "Begin the file with a line like time_ns,kind,bytes,ecn,rtt_ns."};
  }
  return events;
}

}  // namespace mrc
