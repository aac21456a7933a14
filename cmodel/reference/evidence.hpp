// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "input/json.hpp"
#include "log/conversations.hpp"
#include "log/import.hpp"

namespace mrc::ref {

/// The captures that a log was made of: how much of them was judged.
struct Evidence {
  log::Imported imported;
  std::vector<std::string> files;                   ///< by Frame::capture
  std::map<std::string, uint64_t> unreported = {};  ///< ways from a NIC to a QP that frames do not tell, by reason
  std::vector<log::FactsOfWay> facts = {};          ///< what frames tell of QPs, by addresses and QP
  std::vector<std::string> read_as = {};            ///< how packets are read although nobody says so, a sentence each

  /// In words, why no verdict is better than inconclusive. More than one in a hundred of the packets that may be MRC
  /// could not be judged, or more than one in ten were damaged.
  std::optional<std::string> too_little() const;
  /// What was not judged, and why, a sentence for each reason.
  std::vector<std::string> words() const;
  /// What the user can do about that, a sentence for each reason.
  std::vector<std::string> remedies() const;
  /// "packet 17", with several files "packet 17 of a.pcapng".
  std::string packet(uint32_t capture, uint64_t number) const;
  std::string file(uint32_t capture) const { return capture < files.size() ? files[capture] : std::string(); }
  input::Json json() const;
};

}  // namespace mrc::ref
