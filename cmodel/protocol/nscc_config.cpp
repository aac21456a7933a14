// SPDX-License-Identifier: Apache-2.0
#include "protocol/nscc_config.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <type_traits>

namespace mrc {

namespace {

std::string text(double v) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.10g", v);
  return buffer;
}

/// UQ?.f, rounded to nearest.
uint64_t fixed(double v, int f) { return static_cast<uint64_t>(std::floor(std::ldexp(v, f) + 0.5)); }

wire::Error out_of_range(const std::string& name, double v, double min, double max, const std::string& remedy = {}) {
  return {name, 0, name + " = " + text(v) + " is not in " + text(min) + " .. " + text(max),
          remedy.empty() ? "Give a number in that range." : remedy};
}

template <class T, T NsccParams::*Member>
bool set_field(NsccParams& p, double v) {
  if constexpr (std::is_same_v<T, bool>) {
    p.*Member = v != 0.0;
  } else if constexpr (std::is_arithmetic_v<T>) {
    p.*Member = static_cast<T>(v);
  } else {
    p.*Member = static_cast<typename T::value_type>(v);
  }
  return true;
}

}  // namespace

const std::vector<NsccField>& nscc_fields() {
  using P = NsccParams;
  using Whole = std::optional<uint32_t>;
  using Real = std::optional<double>;
  static const std::vector<NsccField> fields = {
      {"rate_gbps", "Gb/s", "rate of the path", false, 0.001, 1600, set_field<double, &P::rate_gbps>},
      {"path_mtu", "bytes", "payload of a full packet", true, 64, 9216, set_field<uint32_t, &P::path_mtu>},
      {"trimming", "bool", "the fabric trims: target_delay 0.75 base_rtt, no qa_threshold", true, 0, 1,
       set_field<bool, &P::trimming>},
      {"base_rtt", "ns", "round trip of the empty fabric", true, 64, 8388480, set_field<uint32_t, &P::base_rtt>},
      {"target_delay", "ns", "queueing delay aimed at; default 0.75 base_rtt, 1.0 without trimming", true, 0, 8388352,
       set_field<Whole, &P::target_delay>},
      {"max_cwnd", "bytes", "largest window; default 1.5 rate base_rtt", true, 0, kNsccMaxBytes - 1,
       set_field<Whole, &P::max_cwnd>},
      {"eta", "bytes", "added once per period; default 0.15 MTU scaling_a", false, 0, 1048575,
       set_field<Real, &P::eta>},
      {"fi", "bytes", "fair increase; default 5 MTU scaling_a", false, 0, 16777215, set_field<Real, &P::fi>},
      {"fi_scale", "", "fast increase; default 0.25 scaling_a", false, 0, 255, set_field<Real, &P::fi_scale>},
      {"gamma", "", "strength of a decrease; default 0.8", false, 0, 1, set_field<Real, &P::gamma>},
      {"max_md_jump", "", "least factor of a decrease; default 0.5", false, 0, 1, set_field<Real, &P::max_md_jump>},
      {"disable_qa", "bool", "no quick adapt", true, 0, 1, set_field<bool, &P::disable_qa>},
      {"qa_gate", "", "quick adapt below max_wnd / 2^qa_gate; default 3", true, 0, 31, set_field<Whole, &P::qa_gate>},
      {"qa_threshold", "ns", "delay that triggers quick adapt, 0: off; default off, without trimming 4 target_delay",
       true, 0, 4294967295.0, set_field<Whole, &P::qa_threshold>},
      {"adjust_bytes_threshold", "bytes", "received bytes after which the window is adjusted; default 8 MTU", true, 0,
       kNsccMaxBytes, set_field<Whole, &P::adjust_bytes_threshold>},
      {"adjust_period_threshold", "ns", "time after which it is adjusted; default base_rtt", true, 0, 8388480,
       set_field<Whole, &P::adjust_period_threshold>},
      {"enable", "bool", "0: no controller", true, 0, 1, set_field<bool, &P::enable>},
      {"mtu", "bytes", "nominal size of a full packet; default path_mtu + 92", true, 64, 16383,
       set_field<Whole, &P::mtu>},
      {"alpha", "bytes/tick", "proportional increase; default 4 scaling_a scaling_b MTU / target_delay", false, 0,
       262143, set_field<Real, &P::alpha>},
      {"ewma_weight", "", "weight of a delay sample; default 0.0125", false, 0, 0.9999,
       set_field<double, &P::ewma_weight>},
      {"near_zero", "ns", "delay that counts as none; default 1000", true, 0, 8388480,
       set_field<uint32_t, &P::near_zero>},
      {"md_resets_fast", "bool", "a decrease ends fast increase (A-44); default 1", true, 0, 1,
       set_field<bool, &P::md_resets_fast>},
      {"nack_any_reason", "bool", "every NACK counts as congestion (A-45); default 0", true, 0, 1,
       set_field<bool, &P::nack_any_reason>},
      {"nack_sample_cfg", "bool", "delay sample of a trim is the configured base_rtt (A-46); default 0", true, 0, 1,
       set_field<bool, &P::nack_sample_cfg>},
      {"nack_rtt", "bool", "a NACK's round trip may lower base_rtt (A-47); default 1", true, 0, 1,
       set_field<bool, &P::nack_rtt>},
      {"ar_shift", "", "AckReq when less than cwnd / 2^ar_shift is left (A-73), 0: than one packet; default 3", true, 0,
       7, set_field<uint32_t, &P::ar_shift>},
  };
  return fields;
}

std::optional<wire::Error> nscc_set(NsccParams& params, std::string_view name, double value) {
  for (const NsccField& field : nscc_fields()) {
    if (name != field.name) continue;
    if (!(value >= field.min && value <= field.max)) return out_of_range(field.name, value, field.min, field.max);
    if (field.whole && value != std::floor(value)) {
      return wire::Error{field.name, 0, std::string(field.name) + " = " + text(value) + " is not a whole number",
                         "Give a whole number" + (*field.unit ? " of " + std::string(field.unit) : "") + "."};
    }
    field.set(params, value);
    return std::nullopt;
  }
  return wire::Error{std::string(name), 0, "unknown field '" + std::string(name) + "'",
                     "The fields are listed by mrc nscc --help."};
}

wire::Result<NsccReal> nscc_resolve(const NsccParams& p) {
  const double tick = kNsccTickNs;
  NsccReal r;
  r.enable = p.enable;
  r.disable_qa = p.disable_qa;
  r.md_resets_fast = p.md_resets_fast;
  r.nack_any_reason = p.nack_any_reason;
  r.nack_sample_cfg = p.nack_sample_cfg;
  r.nack_rtt = p.nack_rtt;
  r.mtu = p.mtu ? *p.mtu : p.path_mtu + kNsccHeaderBytes;
  r.base_rtt = std::floor(p.base_rtt / tick + 0.5);
  r.target = p.target_delay ? *p.target_delay / tick : (p.trimming ? 0.75 : 1.0) * r.base_rtt;
  r.target = std::floor(r.target * 256 + 0.5) / 256;
  const double bytes_per_tick = p.rate_gbps / 8 * tick;
  const double bdp = bytes_per_tick * r.base_rtt;
  r.wnd_rate = 1.5 * bytes_per_tick;
  r.max_cwnd = p.max_cwnd ? *p.max_cwnd : std::ceil(1.5 * bdp);
  r.scaling_a = bdp / 150000;
  r.scaling_b = r.target * tick / 12000;
  r.alpha = p.alpha ? *p.alpha : r.target > 0 ? 4 * r.scaling_a * r.scaling_b * r.mtu / r.target : 0;
  r.fi = p.fi.value_or(5 * r.mtu * r.scaling_a);
  r.eta = p.eta.value_or(0.15 * r.mtu * r.scaling_a);
  r.fi_scale = p.fi_scale.value_or(0.25 * r.scaling_a);
  r.gamma = p.gamma.value_or(0.8);
  r.max_md_jump = p.max_md_jump.value_or(0.5);
  r.ewma_weight = p.ewma_weight;
  r.near_zero = std::ceil(p.near_zero / tick);
  const double off = 65535;
  const double threshold = p.qa_threshold ? *p.qa_threshold / tick : p.trimming ? 0 : 4 * r.target;
  r.qa_threshold = threshold == 0 ? off : std::min(off, threshold);
  r.qa_gate = p.qa_gate.value_or(3);
  r.ar_shift = p.ar_shift;
  r.adjust_bytes = p.adjust_bytes_threshold ? *p.adjust_bytes_threshold : 8 * r.mtu;
  r.adjust_period = p.adjust_period_threshold ? std::ceil(*p.adjust_period_threshold / tick) : r.base_rtt;

  const struct {
    const char* name;
    double value, min, max;
    const char* remedy;
  } ranges[] = {
      {"mtu", r.mtu, 64, 16383, ""},
      {"base_rtt in ticks of 128 ns", r.base_rtt, 1, 65535, ""},
      {"target_delay in ticks of 128 ns", r.target, 0, 65534, "Set target_delay."},
      {"1.5 rate in bytes per 128 ns", r.wnd_rate, 0, 65535, "Set a lower rate_gbps."},
      {"max_cwnd", r.max_cwnd, r.mtu, kNsccMaxBytes - 1,
       "Set max_cwnd in that range (default: 1.5 rate_gbps base_rtt)."},
      {"alpha", r.alpha, 0, 262143, "Set alpha."},
      {"fi", r.fi, 0, 16777215, "Set fi."},
      {"fi_scale", r.fi_scale, 0, 255, "Set fi_scale."},
      {"eta", r.eta, 0, 1048575, "Set eta."},
      {"gamma", r.gamma, 0, 1, ""},
      {"max_md_jump", r.max_md_jump, 0, 1, ""},
      {"ewma_weight", r.ewma_weight, 0, 0.9999, ""},
      {"near_zero in ticks of 128 ns", r.near_zero, 0, 65535, ""},
      {"qa_gate", static_cast<double>(r.qa_gate), 0, 31, ""},
      {"ar_shift", static_cast<double>(r.ar_shift), 0, 7, ""},
      {"adjust_bytes_threshold", r.adjust_bytes, 0, kNsccMaxBytes, ""},
      {"adjust_period_threshold in ticks of 128 ns", r.adjust_period, 0, 65535, ""},
  };
  if (p.enable) {
    for (const auto& range : ranges) {
      if (!(range.value >= range.min && range.value <= range.max)) {
        return out_of_range(range.name, range.value, range.min, range.max, range.remedy);
      }
    }
  }
  return r;
}

NsccWords nscc_words(const NsccReal& r) {
  NsccWords w;
  w.enable = r.enable;
  w.disable_qa = r.disable_qa;
  w.md_resets_fast = r.md_resets_fast;
  w.nack_any_reason = r.nack_any_reason;
  w.nack_sample_cfg = r.nack_sample_cfg;
  w.nack_rtt = r.nack_rtt;
  if (!r.enable) return w;
  w.mtu = static_cast<uint32_t>(r.mtu);
  w.base_rtt = static_cast<uint32_t>(r.base_rtt);
  w.wnd_rate = static_cast<uint32_t>(fixed(r.wnd_rate, 16));
  w.max_cwnd = static_cast<uint32_t>(r.max_cwnd);
  w.target = static_cast<uint32_t>(fixed(r.target, 8));
  w.alpha = fixed(r.alpha, 18);
  w.fi = fixed(r.fi, 12);
  w.fi_scale = static_cast<uint32_t>(fixed(r.fi_scale, 24));
  w.eta = fixed(r.eta, 16);
  w.gamma = static_cast<uint32_t>(fixed(r.gamma, 24));
  w.max_md_jump = static_cast<uint32_t>(fixed(r.max_md_jump, 24));
  w.ewma_weight = static_cast<uint32_t>(fixed(r.ewma_weight, 28));
  w.near_zero = static_cast<uint32_t>(r.near_zero);
  w.qa_threshold = static_cast<uint32_t>(std::floor(r.qa_threshold));  // delay > threshold, delay whole
  w.qa_gate = r.qa_gate;
  w.ar_shift = r.ar_shift;
  w.adjust_bytes = static_cast<uint32_t>(r.adjust_bytes);
  w.adjust_period = static_cast<uint32_t>(r.adjust_period);
  return w;
}

namespace {

/// Reads or writes fields of a row, least significant first.
class RowBits {
 public:
  explicit RowBits(std::array<uint32_t, 16>& row, bool write) : row_(row), write_(write) {}
  template <class T>
  void field(T& v, unsigned width) {
    uint64_t value = write_ ? static_cast<uint64_t>(v) : 0;
    for (unsigned i = 0; i < width; ++i, ++at_) {
      uint32_t& word = row_[at_ / 32];
      const uint32_t bit = 1u << (at_ % 32);
      if (write_) {
        word = (value >> i & 1) ? word | bit : word & ~bit;
      } else {
        value |= static_cast<uint64_t>((word & bit) != 0) << i;
      }
    }
    if (!write_) v = static_cast<T>(value);
  }
  void seek(unsigned bit) { at_ = bit; }

 private:
  std::array<uint32_t, 16>& row_;
  bool write_;
  unsigned at_ = 0;
};

void row_fields(RowBits& b, NsccWords& w) {
  b.field(w.enable, 1);
  b.field(w.disable_qa, 1);
  b.field(w.md_resets_fast, 1);
  b.field(w.nack_any_reason, 1);
  b.field(w.nack_sample_cfg, 1);
  b.field(w.nack_rtt, 1);
  b.seek(8);
  b.field(w.qa_gate, 5);
  b.field(w.ar_shift, 3);
  b.field(w.mtu, 14);
  b.seek(32);
  b.field(w.base_rtt, 16);
  b.field(w.adjust_period, 16);
  b.field(w.near_zero, 16);
  b.field(w.qa_threshold, 16);
  b.field(w.wnd_rate, 32);
  b.field(w.max_cwnd, 28);
  b.seek(160);
  b.field(w.target, 24);
  b.seek(192);
  b.field(w.adjust_bytes, 28);
  b.seek(224);
  b.field(w.fi_scale, 32);
  b.field(w.alpha, 36);
  b.field(w.ewma_weight, 28);
  b.field(w.fi, 36);
  b.seek(384);
  b.field(w.eta, 36);
  b.seek(448);
  b.field(w.gamma, 25);
  b.seek(480);
  b.field(w.max_md_jump, 25);
}

}  // namespace

std::array<uint32_t, 16> nscc_row(const NsccWords& words) {
  std::array<uint32_t, 16> row{};
  NsccWords copy = words;
  RowBits bits(row, true);
  row_fields(bits, copy);
  return row;
}

NsccWords nscc_from_row(const std::array<uint32_t, 16>& row) {
  std::array<uint32_t, 16> copy = row;
  NsccWords words;
  RowBits bits(copy, false);
  row_fields(bits, words);
  return words;
}

}  // namespace mrc
