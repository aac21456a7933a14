// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/stream.hpp"
#include "protocol/rx_share.hpp"

namespace mrc {

/// Watches what arrives, sees incasts, and says what SACKs write to shut and open the windows of those who send. It
/// holds nobody up. Contract: docs/design/blocks/rx/rx_share.md. A word per cycle, four cycles to its levels.
class RxShare {
 public:
  RxShare(const Preset& preset, Stream<Came>& came);

  bool cfg_ack() const { return ack_.value(); }
  /// Registers, to rx_track; of this cycle before step().
  const ShareLevels& levels() const { return levels_; }
  bool fat(unsigned index) const {
    const ShareQp& q = qps_[index & qp_mask_];
    return levels_.penal && q.fat && q.turn == nic_.turn;
  }
  /// After rx_track's: it changes the registers at once.
  void step(const CfgBus& cfg, const CsrOut& csr);
  void clock() { ack_.clock(); }

 private:
  /// Stage registers b and c.
  struct Begun {
    bool valid = false;
    unsigned qp = 0;
    ShareBegun is;
  };
  struct Change {
    bool valid = false;
    unsigned qp = 0;
    ShareChange is;
  };

  void configure(const CfgBus& cfg);

  const unsigned qp_mask_;
  Stream<Came>& came_;
  std::vector<ShareQp> qps_;
  ShareNic nic_;
  ShareLevels levels_;
  Begun b_;
  Change c_;
  CfgAck ack_;
};

}  // namespace mrc
