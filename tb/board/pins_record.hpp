// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "api/pins.h"
#include "gen/presets.hpp"

namespace mrc::tb {

/// What the header of a record says (docs/design/boards/record.md).
struct RecordHeader {
  unsigned major = 0, minor = 0;
  unsigned planes = 0, port_bytes = 0, host_bytes = 0, num_qps = 0;
  uint64_t window = 0;  ///< cycles of a window
  uint32_t build_id = 0;
};

/// Why a record ends: STATUS.why of MRCX.
enum class RecordEnd : uint8_t {
  None,
  Stopped,
  Held,     ///< the core was in reset
  Full,     ///< the region of memory was
  TooFast,  ///< the FIFO of events was full
  Failed,   ///< a write of memory
  TooLong   ///< the number of the cycle had come to its last value
};
/// "software stopped it".
const char* text_of(RecordEnd why);

/// The pins from a cycle on, until another entry says otherwise.
struct RecordedPins {
  uint64_t cycle = 0;
  mrc_pins_in pins{};
};

/// Cycles [from, to) of a record: the pins, and what the board's output pins were.
struct RecordWindow {
  uint64_t from = 0, to = 0;
  std::vector<RecordedPins> pins;  ///< by cycle; the first is at `from`, unless the window is empty
  std::optional<uint32_t> digest;
};

/// Reads a record of a board's pins window by window, in bounded memory. A window is given out when the check behind it
/// has held, so that what is damaged is never taken for what the board did.
class RecordReader {
 public:
  /// `in` must outlive the reader; `name` is what errors call it. Throws InputError: there is no header of a record, or
  /// one of another version, or not that of `preset`.
  RecordReader(std::istream& in, std::string name, const Preset& preset);

  const RecordHeader& header() const { return header_; }
  /// The next window. False: the record is over, end() and cycles() say how. Throws InputError: it is damaged, or ends
  /// early; with `cut` that is how it ends: end() is None.
  bool next(RecordWindow& window, bool cut = false);
  RecordEnd end() const { return end_; }
  uint64_t cycles() const { return cycles_; }

 private:
  static constexpr std::size_t kMostBytes = 64;
  using Word = std::array<uint8_t, kMostBytes>;
  bool word(Word& to);
  void take(const Word& word);
  void read_header(const Preset& preset);
  /// One event. True: the check behind it, or the end.
  bool event(RecordWindow& window);
  bool digest(RecordWindow& window, uint64_t cycle, bool ends);
  void pins_of(const Word& a, mrc_pins_in& pins) const;
  void bus_of(const Word& b, mrc_pins_in& pins) const;
  [[noreturn]] void damaged(const std::string& what) const;

  std::istream& in_;
  const std::string name_;
  RecordHeader header_;
  uint64_t offset_ = 0;                        ///< of the word behind those read
  uint32_t low_ = ~uint32_t{0}, high_ = low_;  ///< checks so far
  mrc_pins_in last_{};                         ///< as of the newest event
  std::optional<RecordedPins> next_;           ///< of the window that follows
  uint64_t cycle_ = 0, from_ = 0, cycles_ = 0;
  bool begun_ = false, over_ = false;
  RecordEnd end_ = RecordEnd::None;
};

}  // namespace mrc::tb
