// SPDX-License-Identifier: Apache-2.0
/// Configuration of the congestion controller NSCC: from the API's fields to the words that the fixed-point controller
/// works with (docs/design/blocks/cc/cc_nscc.md, "Configuration words"; mrc.md section 8, defaults).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/result.hpp"

namespace mrc {

inline constexpr uint32_t kNsccMaxBytes = (1u << 28) - 1;  ///< of windows and counters of a controller

/// Nanoseconds of one tick, the unit of every time in the controller.
inline constexpr uint32_t kNsccTickNs = 128;
/// Bytes of a packet's nominal size beyond its payload: UDP length + 40 with UDP 8, BTH 12, METH 4, TSETH 4, RETH 16,
/// ImmDt 4 and ICRC 4 (mrc.md section 8, assumption A-41).
inline constexpr uint32_t kNsccHeaderBytes = 92;

/// A controller as the API describes it. What is not set gets the default of mrc.md section 8.
struct NsccParams {
  bool enable = true;        ///< false: no controller at all (API: NULL)
  double rate_gbps = 800.0;  ///< rate of the path: the slower of the two NICs
  uint32_t path_mtu = 4096;  ///< payload bytes of a full packet
  bool trimming = true;      ///< the fabric trims; decides the defaults of target_delay and qa_threshold
  bool disable_qa = false;   ///< no quick adapt

  uint32_t base_rtt = 12000;                        ///< ns, where base_rtt starts; rounded to ticks
  std::optional<uint32_t> adjust_bytes_threshold;   ///< bytes; default 8 MTU
  std::optional<uint32_t> adjust_period_threshold;  ///< ns; default base_rtt
  std::optional<double> eta;                        ///< bytes; default 0.15 MTU scaling_a
  std::optional<double> fi;                         ///< bytes; default 5 MTU scaling_a
  std::optional<double> fi_scale;                   ///< default 0.25 scaling_a
  std::optional<double> gamma;                      ///< 0..1; default 0.8
  std::optional<double> max_md_jump;                ///< 0..1, least factor of a decrease; default 0.5
  std::optional<uint32_t> max_cwnd;                 ///< bytes, cap of max_wnd; default 1.5 rate base_rtt
  std::optional<uint32_t> qa_gate;                  ///< 0..31; default 3
  std::optional<uint32_t> qa_threshold;             ///< ns, 0: off; default off with trimming, 4 target_delay without
  std::optional<uint32_t> target_delay;             ///< ns; default 0.75 base_rtt with trimming, 1.0 without

  // Not in the API.
  std::optional<uint32_t> mtu;   ///< nominal bytes of a full packet; default path_mtu + 92 (A-41)
  std::optional<double> alpha;   ///< bytes per tick; default 4 scaling_a scaling_b MTU / target_delay
  double ewma_weight = 0.0125;   ///< weight of a new delay sample
  uint32_t near_zero = 1000;     ///< ns; a delay below it is "about zero"
  bool md_resets_fast = true;    ///< a decrease ends fast increase (A-44)
  bool nack_any_reason = false;  ///< every NACK counts as congestion, not only trimmed ones (A-45)
  bool nack_sample_cfg =
      false;              ///< the delay sample of a trim is the configured base_rtt, not the smallest seen (A-46)
  bool nack_rtt = true;   ///< the round trip of a NACK may lower base_rtt (A-47)
  uint32_t ar_shift = 3;  ///< 0..7; AckReq when less than cwnd / 2^ar_shift is left, 0: than one packet (A-73)

  bool operator==(const NsccParams&) const = default;
};

/// The same, every default filled in, as real numbers: what the floating-point reference works with. Times in ticks,
/// rounded as the controller has them (base_rtt to whole ticks, target to 1/256), everything else exact.
struct NsccReal {
  bool enable = true, disable_qa = false;
  bool md_resets_fast = true, nack_any_reason = false, nack_sample_cfg = false, nack_rtt = true;
  double mtu = 0;       ///< bytes
  double base_rtt = 0;  ///< ticks
  double wnd_rate = 0;  ///< 1.5 rate: bytes of max_wnd per tick of base_rtt
  double max_cwnd = 0;  ///< bytes
  double target = 0;    ///< ticks
  double alpha = 0;     ///< bytes per tick
  double fi = 0;        ///< bytes
  double fi_scale = 0;
  double eta = 0;  ///< bytes
  double gamma = 0;
  double max_md_jump = 0;
  double ewma_weight = 0;
  double near_zero = 0;     ///< ticks
  double qa_threshold = 0;  ///< ticks; 65535: off
  uint32_t qa_gate = 0;
  uint32_t ar_shift = 0;
  double adjust_bytes = 0;   ///< bytes
  double adjust_period = 0;  ///< ticks
  double scaling_a = 0, scaling_b = 0;
};

/// Configuration words of the fixed-point controller. UQi.f: unsigned, i integer and f fraction bits.
struct NsccWords {
  bool enable = true, disable_qa = false;
  bool md_resets_fast = true, nack_any_reason = false, nack_sample_cfg = false, nack_rtt = true;
  uint32_t mtu = 0;            ///< 14 bit, bytes
  uint32_t base_rtt = 0;       ///< 16 bit, ticks, at least 1
  uint32_t wnd_rate = 0;       ///< UQ16.16, bytes per tick
  uint32_t max_cwnd = 0;       ///< 28 bit, bytes, mtu .. 2^28 - 2
  uint32_t target = 0;         ///< UQ16.8, ticks
  uint64_t alpha = 0;          ///< UQ18.18, bytes per tick
  uint64_t fi = 0;             ///< UQ24.12, bytes
  uint32_t fi_scale = 0;       ///< UQ8.24
  uint64_t eta = 0;            ///< UQ20.16, bytes
  uint32_t gamma = 0;          ///< UQ1.24, at most 1.0
  uint32_t max_md_jump = 0;    ///< UQ1.24, at most 1.0
  uint32_t ewma_weight = 0;    ///< UQ0.28
  uint32_t near_zero = 0;      ///< 16 bit, ticks
  uint32_t qa_threshold = 0;   ///< 16 bit, ticks; 65535: never
  uint32_t qa_gate = 0;        ///< 5 bit
  uint32_t ar_shift = 0;       ///< 3 bit
  uint32_t adjust_bytes = 0;   ///< 28 bit, bytes
  uint32_t adjust_period = 0;  ///< 16 bit, ticks
  bool operator==(const NsccWords&) const = default;
};

/// Fills in the defaults. Errors name the field, its range and the remedy; Error::input is the field.
wire::Result<NsccReal> nscc_resolve(const NsccParams& params);

/// The real numbers rounded to nearest into configuration words (times: so that every comparison with whole ticks has
/// the same outcome).
NsccWords nscc_words(const NsccReal& real);

/// The row of table CC_PROFILE: 512 bits, word 0 = bits 31:0 (docs/design/blocks/cc/cc_nscc.md).
std::array<uint32_t, 16> nscc_row(const NsccWords& words);
NsccWords nscc_from_row(const std::array<uint32_t, 16>& row);

/// One field by the API's name, for configuration files and command lines.
struct NsccField {
  const char* name;
  const char* unit;  ///< "ns", "bytes", "bool", "" ...
  const char* doc;
  bool whole;       ///< takes whole numbers only
  double min, max;  ///< accepted range
  bool (*set)(NsccParams&, double);
};
/// Every field that a configuration file may name.
const std::vector<NsccField>& nscc_fields();
/// Sets a field by name; errors name the field.
std::optional<wire::Error> nscc_set(NsccParams& params, std::string_view name, double value);

}  // namespace mrc
