// SPDX-License-Identifier: Apache-2.0
/// A host that cannot read or write memory now and then, and gives QPs up (docs/design/blocks/nic.md, "Host errors").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "tb/environment/scenario.hpp"
#include "util/rng.hpp"

namespace mrc::tb {

/// Draws which lines and packets that are, and what the host says about them and when. Knows what a QP that was given
/// up must look like, without a model.
class HostErrors {
 public:
  HostErrors(const Preset& preset, const Scenario& scenario, Rng rng)
      : preset_(preset),
        read_(scenario.read_errors),
        write_(scenario.write_errors),
        rng_(rng),
        given_up_(preset.num_qps) {}

  /// A line for this QP is due: true if it cannot be read. In half of the cases the QP is given up later.
  bool reads(QpIndex qp, uint64_t cycle);
  /// Bytes of a line that could not be read.
  void fill(uint8_t* line, unsigned bytes);
  /// The last line of a packet of this QP is written; if that fails the QP is given up later.
  void wrote(QpIndex qp, uint64_t cycle);

  /// What the host says in this cycle, nullptr: nothing. The same until taken().
  const Qperr* says(uint64_t cycle) const {
    return reports_.empty() || reports_.begin()->first > cycle ? nullptr : &reports_.begin()->second;
  }
  void taken(uint64_t cycle);
  /// Nothing is to be said any more.
  bool quiet() const { return reports_.empty(); }

  /// The QP is reset: what was to be said of it later is not said. What is due is: a pin keeps its word.
  void give_up(unsigned qp, uint64_t cycle);
  /// Nothing is to be said of that QP.
  bool quiet(unsigned qp) const;
  /// The QP is connected anew.
  void forget(unsigned qp) { given_up_[qp].reset(); }
  /// QP_INFO has been read in this cycle. Returns what is wrong with it, "" if nothing.
  std::string info(unsigned qp, uint32_t info, uint64_t cycle) const;

  uint64_t given_up() const { return said_; }

 private:
  struct GivenUp {
    uint64_t cycle;
    CqStatus status;  ///< that was said first
  };
  void give_up(QpIndex qp, CqStatus status, uint64_t cycle);

  const Preset& preset_;
  double read_, write_;
  Rng rng_;
  std::multimap<uint64_t, Qperr> reports_;        ///< by the cycle from which on they are due
  std::vector<std::optional<GivenUp>> given_up_;  ///< of the QPs, since they were connected
  uint64_t said_ = 0;
};

}  // namespace mrc::tb
