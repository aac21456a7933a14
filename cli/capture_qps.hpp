// SPDX-License-Identifier: Apache-2.0
/// Which QPs captures show, of each NIC by the frames that are known to have been at its ports. Captures in which a QP
/// is set up again are read once more, for each of its lives.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "log/conversations.hpp"
#include "log/import.hpp"

namespace mrc::cli {

/// One of so many packets is damaged: nobody's links are like that.
inline constexpr uint64_t kMuchDamaged = 20;
bool much_damaged(const log::CaptureCounts& counts);
/// The other reading of A-14.
wire::WireConfig icrc_outer();

class CaptureQps {
 public:
  /// Reads the captures. `part`: once, and they may end anywhere. Throws UsageError when they cannot be read, but not
  /// when a signal has ended that.
  explicit CaptureQps(const log::ImportOptions& captures, bool part = false);

  /// The same. Where nothing but an ICRC from the outer IP header on makes SRv6 packets right, `captures` are
  /// read so from then on. So they are where switches trim with another code point: all packets that have it are
  /// shorter than their lengths, or have a wrong ICRC and are NACKed as trimmed. So they are where EETH.op stands in
  /// bits 5:4 throughout.
  static CaptureQps as_they_read(log::ImportOptions& captures);

  /// Of a device of those captures: for log::ImportOptions::qps.
  std::vector<log::QpChange> of(const log::ImportDevice& device) const;
  /// What they stand on, of each way of data.
  std::vector<log::FactsOfWay> facts() const;
  /// Why flows are not told: reason -> how many.
  std::map<std::string, uint64_t> unreported() const;
  /// Which code points stand for trimmed packets, a sentence for each that the captures do not say themselves.
  const std::vector<std::string>& trims() const { return trims_; }

 private:
  /// A device with captures of its own ports, or (nothing) all that are seen under way: a frame that is lost between
  /// two NICs is at the ports of one of them alone.
  using View = std::optional<std::size_t>;
  CaptureQps(log::ImportOptions captures, bool part, const std::map<View, log::Lives>& lives);
  std::map<View, log::Conversations> views_;
  log::CaptureCounts counts_;
  uint64_t wrong_icrcs_ = 0;  ///< of SRv6 packets that are judged
  /// Packets with a code point.
  struct OfCodePoint {
    uint64_t data = 0, others = 0, trimmed = 0;  ///< right ones; trimmed ones are data
    uint64_t wrong = 0;                          ///< damaged, or shorter than their lengths
    uint64_t short_ones = 0;                     ///< of these: shorter
    uint64_t nacked = 0, nacked_lasthop = 0;     ///< NACKs that say TRIMMED of a trimmed or a wrong one
  };
  void count(const wire::Packet& packet);
  void wrong(const wire::Packet& packet);
  void remember(const wire::Packet& packet);
  /// The code point that only trimmed packets have, as far as they or their NACKs show it.
  std::optional<uint8_t> trim_point() const;
  CaptureQps with_trims(log::ImportOptions& captures) &&;
  std::array<OfCodePoint, 64> points_{};
  /// Code points of trimmed and wrong packets, by who sent them, to whom, and PSN.
  std::map<std::tuple<log::Ip, log::Ip, uint32_t>, uint8_t> cut_;
  uint64_t ops_low_ = 0, ops_high_ = 0;  ///< EETH.op in bits 3:2, in bits 5:4 (A-36)
  bool reported_ = false;                ///< a capture says how to read it
  std::vector<std::string> trims_;
  std::map<log::Ip, std::size_t> own_;  ///< addresses of devices with captures of their own
};

}  // namespace mrc::cli
