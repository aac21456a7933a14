// SPDX-License-Identifier: Apache-2.0
/// Two NICs side by side: every output pin and every stream, each cycle.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "api/pins.h"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "tb/compare/events.hpp"
#include "tb/compare/pin_rules.hpp"
#include "tb/compare/pins.hpp"

namespace mrc::tb {

/// One value in which device and model differ.
struct Difference {
  std::string field, dut, model;
};

/// A place in which they differ in the first wrong cycle.
struct Divergence {
  uint64_t cycle = 0;
  std::string block;  ///< who must have done it: producer of the data, or taker whose ready differs
  std::string where;  ///< stream or pin
  unsigned rank = 0;  ///< position in the data flow
  int qp = -1;
  std::vector<Difference> differences;
  std::string context;  ///< model's view of the word at that place
  std::string note;     ///< what is wrong, in words, when the values do not tell
};

/// Valid and ready of all streams of a cycle, two bits each: 32 streams per word, core ones first, then the
/// lanes'. What an idle cycle needs, and nothing else.
struct Flags {
  static constexpr unsigned kCoreWords = (kNumCoreStreams + 31) / 32;
  static_assert(kMaxPlanes * kNumLaneStreams <= 32);
  static constexpr uint64_t kValid = 0x5555'5555'5555'5555u;
  std::array<uint64_t, kCoreWords + 1> words{};

  void gather(const uint32_t* core, const uint32_t* lanes, unsigned planes) {
    gather_core(core, std::make_index_sequence<kNumCoreStreams>());
    uint64_t all = 0;
    for (unsigned p = 0; p < planes; ++p, lanes += kObsLaneWords)
      all |= lane(lanes, std::make_index_sequence<kNumLaneStreams>()) << (2 * kNumLaneStreams * p);
    words[kCoreWords] = all;
  }

 private:
  // Places are constants: two instructions per stream, no branch.
  template <std::size_t... kIndex>
  void gather_core(const uint32_t* core, std::index_sequence<kIndex...>) {
    words = {};
    ((words[kIndex / 32] |= uint64_t{core[kCoreStreams[kIndex].word_offset] & 3} << (2 * (kIndex % 32))), ...);
  }
  template <std::size_t... kIndex>
  static uint64_t lane(const uint32_t* lane, std::index_sequence<kIndex...>) {
    return ((uint64_t{lane[kLaneStreams[kIndex].word_offset] & 3} << (2 * kIndex)) | ...);
  }
};

class Lockstep {
 public:
  explicit Lockstep(const Preset& preset, std::size_t event_words = std::size_t{1} << 18);

  /// What the device shows at its streams in a cycle: flags, and the data of those that are valid, one behind the
  /// other. Returns how many words it took.
  std::size_t note(const uint32_t* core, const uint32_t* lanes, Flags& flags, uint32_t* data) const {
    flags.gather(core, lanes, planes_);
    const uint32_t* const begin = data;
    for_valid(flags, [&](unsigned number) {
      const Place& at = places_[number];
      const uint32_t* from = (number < kNumCoreStreams ? core : lanes) + at.offset;
      unsigned i = 0;
      for (; i + 4 <= at.words; i += 4) std::memcpy(data + i, from + i, 16);
      for (; i < at.words; ++i) data[i] = from[i];
      data += at.words;
    });
    return static_cast<std::size_t>(data - begin);
  }
  /// Which bits the device's pins have.
  const PinRules& rules() const { return rules_; }
  /// Words that note() takes at most.
  std::size_t note_words() const { return kObsCoreWords + std::size_t{planes_} * kObsLaneWords; }

  /// Compares a cycle with what note() kept of the device, and logs the handshakes. False: they differ; divergences()
  /// says where.
  bool compare(uint64_t cycle, const mrc_pins_out& dut, const mrc_pins_out& model, const Flags& flags,
               const uint32_t* data, const uint32_t* model_core, const uint32_t* model_lanes) {
    Flags own;
    own.gather(model_core, model_lanes, planes_);
    uint64_t wrong = pins(dut, model);
    for (std::size_t i = 0; i < flags.words.size(); ++i) wrong |= flags.words[i] ^ own.words[i];
    if (wrong == 0) {
      const uint32_t* d = data;
      for_valid(own, [&](unsigned number) {
        const Place& at = places_[number];
        const uint32_t* m = (number < kNumCoreStreams ? model_core : model_lanes) + at.offset;
        if (m[-1] & 2) {
          wrong |= log_.add(cycle, number, m, at.words, d);
        } else {
          wrong |= static_cast<uint64_t>(std::memcmp(d, m, at.words * sizeof *m) != 0);
        }
        d += at.words;
      });
      if (wrong == 0) return true;
    } else {  // the device's handshakes count as far as the model has them
      for_valid(own, [&](unsigned number) {
        const Place& at = places_[number];
        const uint32_t* m = (number < kNumCoreStreams ? model_core : model_lanes) + at.offset;
        if (m[-1] & 2) log_.add(cycle, number, m, at.words);
      });
    }
    std::vector<uint32_t> core(kObsCoreWords), lanes(std::size_t{planes_} * kObsLaneWords);
    spread(flags, data, core.data(), lanes.data());
    explain(cycle, dut, model, core.data(), lanes.data(), model_core, model_lanes);
    return false;
  }
  /// As above, when both sides are at hand.
  bool compare(uint64_t cycle, const mrc_pins_out& dut, const mrc_pins_out& model, const uint32_t* dut_core,
               const uint32_t* dut_lanes, const uint32_t* model_core, const uint32_t* model_lanes) {
    Flags flags;
    scratch_.resize(note_words());
    note(dut_core, dut_lanes, flags, scratch_.data());
    return compare(cycle, dut, model, flags, scratch_.data(), model_core, model_lanes);
  }
  /// For devices without streams: pins only, events from the model.
  bool compare_pins(uint64_t cycle, const mrc_pins_out& dut, const mrc_pins_out& model, const uint32_t* model_core,
                    const uint32_t* model_lanes) {
    return compare(cycle, dut, model, model_core, model_lanes, model_core, model_lanes);
  }

  /// All places that differ in that cycle, first in data flow order first.
  const std::vector<Divergence>& divergences() const { return divergences_; }
  const EventLog& log() const { return log_; }
  /// For reports: the QP here for each QP of the peer.
  void name_qps(std::vector<int> own) { own_ = std::move(own); }
  std::span<const int> qp_names() const { return own_; }

 private:
  struct Place {
    unsigned offset, words;  ///< of the data
  };
  template <class Do>
  static void for_valid(const Flags& flags, Do&& act) {
    for (unsigned i = 0; i < flags.words.size(); ++i) {
      const unsigned base = i == Flags::kCoreWords ? kNumCoreStreams : 32 * i;
      for (uint64_t v = flags.words[i] & Flags::kValid; v != 0; v &= v - 1)
        act(base + static_cast<unsigned>(std::countr_zero(v)) / 2);
    }
  }
  /// The reverse of note().
  void spread(const Flags& flags, const uint32_t* data, uint32_t* core, uint32_t* lanes) const;
  /// Not 0: pins differ. What is valid at the model alone counts: then the valids differ.
  unsigned pins(const mrc_pins_out& d, const mrc_pins_out& m) const {
    unsigned wrong = 0;
    for_each_pin_out([&]<PinKind K, auto Pin, auto With, class S>(const PinOut<K, Pin, With, S>&) {
      const auto &a = d.*Pin, &b = m.*Pin;
      const unsigned with = m.*With;
      if constexpr (K == PinKind::Bit || K == PinKind::Valids) {
        wrong |= static_cast<unsigned>(a ^ b);
      } else if constexpr (K == PinKind::Mask) {
        wrong |= static_cast<unsigned>(a ^ b) & (with | beyond_);
      } else if constexpr (K == PinKind::Words) {
        if (with) wrong |= static_cast<unsigned>(std::memcmp(a, b, sizeof a) != 0);
      } else if constexpr (K == PinKind::Line) {
        if (with) wrong |= static_cast<unsigned>(std::memcmp(a, b, host_bytes_) != 0);
      } else if constexpr (K == PinKind::Keep) {
        for (unsigned v = with; v != 0; v &= v - 1) wrong |= a[std::countr_zero(v)] ^ b[std::countr_zero(v)];
      } else if constexpr (K == PinKind::Beat) {
        for (unsigned v = with; v != 0; v &= v - 1)
          wrong |= static_cast<unsigned>(!same_beat(a[std::countr_zero(v)], b[std::countr_zero(v)]));
      } else {
        if (with) wrong |= static_cast<unsigned>(a != b);
      }
    });
    return wrong;
  }
  /// The bytes of a port, without a call: there may be kMaxPlanes in a cycle.
  bool same_beat(const uint8_t* d, const uint8_t* m) const {
    return port_bytes_ == 16 ? std::memcmp(d, m, 16) == 0 : std::memcmp(d, m, port_bytes_) == 0;
  }
  void explain(uint64_t cycle, const mrc_pins_out& dut, const mrc_pins_out& model, const uint32_t* dc,
               const uint32_t* dl, const uint32_t* mc, const uint32_t* ml);
  /// The stream's words on both sides; false: they agree.
  bool explain_stream(const StreamRef& ref, const uint32_t* d, const uint32_t* m, Divergence& x) const;
  void explain_pins(uint64_t cycle, const mrc_pins_out& dut, const mrc_pins_out& model);

  unsigned planes_, port_bytes_, host_bytes_;
  unsigned beyond_;  ///< bits of a mask that no plane has
  PinRules rules_;
  std::vector<Place> places_;  // by number
  std::vector<uint32_t> scratch_;
  EventLog log_;
  std::vector<Divergence> divergences_;
  std::vector<int> own_;
};

}  // namespace mrc::tb
