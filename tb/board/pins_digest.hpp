// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "api/pins.h"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/icrc_words.hpp"
#include "tb/compare/pins.hpp"

namespace mrc::tb {

/// The digest of output pins of docs/design/boards/record.md: all of them, bit by bit, cycle by cycle.
class PinsDigest {
 public:
  explicit PinsDigest(const Preset& preset)
      : planes_(preset.num_planes), port_bytes_(preset.port_bytes), host_bytes_(preset.host_bytes) {}

  uint32_t value() const { return digest_; }
  void restart() { digest_ = ~uint32_t{0}; }

  /// The next cycle.
  void add(const mrc_pins_out& o) {
    bits_.fill(0);
    at_ = 0;
    for_each_pin_out([&]<PinKind K, auto Pin, auto With, class S>(const PinOut<K, Pin, With, S>&) {
      const auto& pin = o.*Pin;
      const unsigned with = o.*With;
      if constexpr (K == PinKind::Valids || K == PinKind::Mask) {
        put(static_cast<uint64_t>(pin & with), planes_);
      } else if constexpr (K == PinKind::Keep) {
        for (unsigned p = 0; p < planes_; ++p) put((with >> p & 1) != 0 ? pin[p] : 0, port_bytes_);
      } else if constexpr (K == PinKind::Beat) {
        for (unsigned p = 0; p < planes_; ++p) put_bytes((with >> p & 1) != 0 ? pin[p] : nullptr, port_bytes_);
      } else if constexpr (K == PinKind::Line) {
        put_bytes(with != 0 ? pin : nullptr, host_bytes_);
      } else if constexpr (K == PinKind::Words) {
        for (unsigned bit = 0; bit < S::kBits; bit += 32) {
          put(with != 0 ? pin[bit / 32] : 0, S::kBits - bit < 32 ? S::kBits - bit : 32);
        }
      } else {
        put(K == PinKind::Bit || with != 0 ? static_cast<uint64_t>(pin) : 0, width(K));
      }
    });
    std::array<uint8_t, kPiece> pieces{};
    for (std::size_t k = 0; k * kPiece < (at_ + 7) / 8; ++k) {
      const uint32_t crc = icrc_words(0, bits_.data() + k * kPiece, kPiece);
      std::memcpy(pieces.data() + 4 * k, &crc, 4);
    }
    digest_ = icrc_words(digest_, pieces.data(), kPiece);
  }

 private:
  static constexpr std::size_t kPiece = 32, kPieces = 8;
  static constexpr unsigned width(PinKind kind) {
    switch (kind) {
      case PinKind::Code:
        return 2;
      case PinKind::Length:
        return 8;
      case PinKind::Plane:
        return 4;
      case PinKind::Queue:
        return 19;
      case PinKind::Data:
        return 32;
      case PinKind::Address:
        return 64;
      default:
        return 1;
    }
  }
  void put(uint64_t value, unsigned width) {
    if (value != 0) {
      for (unsigned i = 0; i < width;) {
        const unsigned in = (at_ + i) % 8, most = width - i < 8 - in ? width - i : 8 - in;
        const auto part = static_cast<unsigned>(value >> i) & ((1u << most) - 1);
        bits_[(at_ + i) / 8] = static_cast<uint8_t>(bits_[(at_ + i) / 8] | part << in);
        i += most;
      }
    }
    at_ += width;
  }
  /// Null: bytes of zeros.
  void put_bytes(const uint8_t* bytes, unsigned size) {
    if (bytes != nullptr) {
      const unsigned in = at_ % 8;
      for (unsigned i = 0; i < size; ++i) {
        const std::size_t to = at_ / 8 + i;
        bits_[to] = static_cast<uint8_t>(bits_[to] | bytes[i] << in);
        bits_[to + 1] = static_cast<uint8_t>(bits_[to + 1] | bytes[i] >> (8 - in));
      }
    }
    at_ += std::size_t{8} * size;
  }

  const unsigned planes_, port_bytes_, host_bytes_;
  std::array<uint8_t, kPiece * kPieces + 1> bits_{};
  std::size_t at_ = 0;
  uint32_t digest_ = ~uint32_t{0};
};

}  // namespace mrc::tb
