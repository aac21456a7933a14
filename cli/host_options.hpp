// SPDX-License-Identifier: Apache-2.0
/// Options of `mrc host`, which reads them, and of the program mrc-host, which it becomes.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "libmrc/socket_path.hpp"

namespace mrc::cli {

struct HostOptions {
  std::string endpoint = "model", preset = "asic800", socket = libmrc::socket_path(), pcap, evs, fabric, pace = "free",
              record;
  unsigned nics = 2, min_active = 8;
  uint64_t seed = 1;
  double loss = 0;

  std::vector<std::string> words() const {
    return {endpoint,
            preset,
            std::to_string(nics),
            std::to_string(seed),
            socket,
            pcap,
            evs,
            std::to_string(loss),
            fabric,
            pace,
            record,
            std::to_string(min_active)};
  }
  /// Of `pace`: 0 is free, else seconds for each simulated one; none: it is wrong.
  std::optional<double> slowness() const {
    if (pace == "free") return 0;
    double times = 0;
    constexpr std::string_view kReal = "real/";
    const std::string_view number = std::string_view(pace).substr(std::min(kReal.size(), pace.size()));
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), times);
    const bool good = pace.starts_with(kReal) && error == std::errc() && end == number.data() + number.size();
    return good && times >= 1 && times <= 1e9 ? std::optional(times) : std::nullopt;
  }
  /// Of what words() gave; none: they are not.
  static std::optional<HostOptions> of(const std::vector<std::string>& words) {
    if (words.size() != 12) return std::nullopt;
    HostOptions o;
    o.endpoint = words[0];
    o.preset = words[1];
    const auto number = [](const std::string& word, auto& to) {
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), to);
      return error == std::errc() && end == word.data() + word.size();
    };
    if (!number(words[2], o.nics) || !number(words[3], o.seed) || !number(words[7], o.loss) || o.nics < 1 ||
        o.nics > 64 || !number(words[11], o.min_active))
      return std::nullopt;
    o.socket = words[4];
    o.pcap = words[5];
    o.evs = words[6];
    o.fabric = words[8];
    o.pace = words[9];
    o.record = words[10];
    if (!o.slowness()) return std::nullopt;
    return o;
  }
};

}  // namespace mrc::cli
