// SPDX-License-Identifier: Apache-2.0
#include "reference/evidence.hpp"

#include <fmt/format.h>

namespace mrc::ref {
namespace {

constexpr uint64_t kUnjudged = 100, kDamaged = 10;  ///< one of so many is too much

}  // namespace

std::optional<std::string> Evidence::too_little() const {
  const log::CaptureCounts& counts = imported.counts;
  const uint64_t unjudged = counts.may_be(), all = unjudged + counts.judged + counts.duplicates + counts.damaged;
  if (unjudged * kUnjudged > all) {
    return fmt::format("{} of {} packets that may be MRC could not be checked", unjudged, all);
  }
  if (counts.damaged * kDamaged > all) return fmt::format("{} of {} packets were damaged", counts.damaged, all);
  return std::nullopt;
}

std::vector<std::string> Evidence::words() const {
  std::vector<std::string> lines = log::words(imported.counts);
  lines.insert(lines.end(), read_as.begin(), read_as.end());
  for (const auto& [reason, flows] : unreported) {
    lines.push_back(fmt::format("rules that need a QP rest for {} of the captures' flows: {}", flows, reason));
  }
  return lines;
}

std::vector<std::string> Evidence::remedies() const {
  std::vector<std::string> out;
  const log::CaptureCounts& counts = imported.counts;
  const auto add = [&](const char* remedy) {
    if (out.empty() || out.back() != remedy) out.emplace_back(remedy);
  };
  if (counts.may_be() != 0) {
    for (std::size_t i = 0; i < log::kLeftOutReasons; ++i) {
      const log::LeftOutInfo& info = log::info(static_cast<log::LeftOut>(i));
      if (counts.left_out[i] != 0 && info.may_be_mrc) add(info.remedy);
    }
  }
  if (counts.damaged != 0) {
    add("If the NIC's ICRC is what is wrong, say with --at whose ports were captured; A-14 is 'icrc_outer' of a "
        "profile.");
  }
  return out;
}

std::string Evidence::packet(uint32_t capture, uint64_t number) const {
  if (files.size() < 2 || capture >= files.size()) return fmt::format("packet {}", number);
  return fmt::format("packet {} of {}", number, files[capture]);
}

input::Json Evidence::json() const {
  const log::CaptureCounts& counts = imported.counts;
  input::Json out = input::Json::object();
  out["files"] = input::Json::array();
  for (const std::string& file : files) out["files"].push_back(file);
  out["packets"] = counts.packets;
  out["judged"] = counts.judged;
  out["duplicates"] = counts.duplicates;
  out["twice"] = counts.twice;
  out["damaged"] = counts.damaged;
  out["cut"] = imported.cut;
  out["lost"] = imported.lost;
  out["backwards"] = imported.backwards;
  out["may_be_mrc"] = counts.may_be();
  out["left_out"] = input::Json::object();
  for (std::size_t i = 0; i < log::kLeftOutReasons; ++i) {
    if (counts.left_out[i] != 0) out["left_out"][log::info(static_cast<log::LeftOut>(i)).name] = counts.left_out[i];
  }
  out["untold"] = input::Json::object();
  for (const auto& [reason, flows] : unreported) out["untold"][reason] = flows;
  out["read_as"] = input::Json::array();
  for (const std::string& how : read_as) out["read_as"].push_back(how);
  if (const auto why = too_little()) {
    out["too_little"] = *why;
    out["remedies"] = input::Json::array();
    for (const std::string& remedy : remedies()) out["remedies"].push_back(remedy);
  }
  return out;
}

}  // namespace mrc::ref
