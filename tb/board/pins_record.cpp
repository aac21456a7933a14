// SPDX-License-Identifier: Apache-2.0
#include "tb/board/pins_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <istream>
#include <utility>

#include "gen/streams.hpp"
#include "input/error.hpp"
#include "wire/icrc.hpp"

namespace mrc::tb {
namespace {

constexpr uint8_t kMark = 0xA7;
constexpr unsigned kMajor = 2;
constexpr unsigned kHasBus = 1, kHasWqe = 2, kHasDigest = 4, kEnds = 8;
constexpr std::array<uint8_t, 4> kMagic{'M', 'R', 'C', 'X'};
constexpr const char* kAgain =
    "Copy BYTES bytes from BASE once more when STATUS.state is 0; docs/design/boards/record.md says what a record is.";

/// A number of `size` bytes, least significant first.
uint64_t number(const uint8_t* at, unsigned size) {
  uint64_t value = 0;
  for (unsigned i = 0; i < size; ++i) value |= uint64_t{at[i]} << (8 * i);
  return value;
}

/// It ends early; next() makes an end of it, or an error.
struct Cut {};

}  // namespace

const char* text_of(RecordEnd why) {
  switch (why) {
    case RecordEnd::Stopped:
      return "software stopped it";
    case RecordEnd::Held:
      return "the core was held in reset";
    case RecordEnd::Full:
      return "the region of memory was full";
    case RecordEnd::TooFast:
      return "the pins moved faster than memory took them";
    case RecordEnd::Failed:
      return "memory failed a write";
    case RecordEnd::TooLong:
      return "the recorder's count of cycles was at its end";
    case RecordEnd::None:
      break;
  }
  return "the file ends there";
}

RecordReader::RecordReader(std::istream& in, std::string name, const Preset& preset) : in_(in), name_(std::move(name)) {
  read_header(preset);
}

void RecordReader::damaged(const std::string& what) const {
  throw InputError(fmt::format("{} is damaged in the word that ends at byte {}: {}.", name_, offset_, what), kAgain);
}

bool RecordReader::word(Word& to) {
  in_.read(reinterpret_cast<char*>(to.data()), header_.host_bytes);
  if (static_cast<unsigned>(in_.gcount()) != header_.host_bytes) return false;
  offset_ += header_.host_bytes;
  return true;
}

/// It goes into the checks.
void RecordReader::take(const Word& word) {
  low_ = wire::crc_update(low_, word.data(), header_.port_bytes);
  high_ = wire::crc_update(high_, word.data() + header_.port_bytes, header_.port_bytes);
}

void RecordReader::read_header(const Preset& preset) {
  Word w{};
  header_.host_bytes = 32;  // it is in the first bytes, whatever the word's length
  if (!word(w) || !std::equal(kMagic.begin(), kMagic.end(), w.begin()))
    throw InputError(name_ + " is no record of a board's pins.", kAgain);
  header_.major = w[4];
  header_.minor = w[5];
  if (header_.major != kMajor) {
    throw InputError(fmt::format("{} has version {}.{} of the format, and this program reads {}.", name_, header_.major,
                                 header_.minor, kMajor),
                     "Use the program of the version that the board was made from.");
  }
  header_.planes = w[6];
  header_.port_bytes = w[7];
  header_.host_bytes = w[8];
  header_.window = uint64_t{1} << (w[9] & 15);
  header_.num_qps = static_cast<unsigned>(number(&w[10], 2));
  header_.build_id = static_cast<uint32_t>(number(&w[12], 4));
  if (header_.planes != preset.num_planes || header_.port_bytes != preset.port_bytes ||
      header_.host_bytes != preset.host_bytes || header_.num_qps != preset.num_qps) {
    throw InputError(
        fmt::format("{} is of a board with {} planes, {} bytes on a port, {} of a host line and {} QPs, and "
                    "preset {} has {}, {}, {} and {}.",
                    name_, header_.planes, header_.port_bytes, header_.host_bytes, header_.num_qps, preset.name,
                    preset.num_planes, preset.port_bytes, preset.host_bytes, preset.num_qps),
        "Name the preset of the board with --preset.");
  }
  if (header_.planes != 2 || header_.host_bytes != 2 * header_.port_bytes || header_.host_bytes > kMostBytes ||
      header_.port_bytes < 16) {
    throw InputError(fmt::format("preset {} is none that boards are made of.", preset.name),
                     "Records are of fpga100 or tiny.");
  }
  if (w[9] < 4 || w[9] > 15) damaged("its window has no length that there is");
  if (header_.host_bytes > 32) {
    in_.read(reinterpret_cast<char*>(w.data() + 32), header_.host_bytes - 32);
    offset_ = header_.host_bytes;
    if (static_cast<unsigned>(in_.gcount()) != header_.host_bytes - 32)
      throw InputError(name_ + " ends in its header.", kAgain);
  }
  take(w);
}

void RecordReader::pins_of(const Word& a, mrc_pins_in& pins) const {
  const uint64_t bits = number(&a[4], 8);
  const auto bit = [&](unsigned n) { return static_cast<uint8_t>(bits >> n & 1); };
  pins.rst_n = 1;
  uint8_t* const flags[] = {&pins.awvalid,        &pins.wvalid,       &pins.bready,          &pins.arvalid,
                            &pins.rready,         &pins.wqe_valid,    &pins.cqe_ready,       &pins.host_rd_ready,
                            &pins.host_rsp_valid, &pins.host_rsp_err, &pins.host_fail_valid, &pins.host_wr_ready};
  for (unsigned n = 0; n < std::size(flags); ++n) *flags[n] = bit(n);
  pins.host_rsp_plane = static_cast<uint8_t>(bits >> 12 & 15);
  pins.link_up = pins.tx_tready = pins.rx_tvalid = pins.rx_tlast = pins.rx_tuser = 0;
  if (pins.host_rsp_plane >= header_.planes) damaged("it names a plane that there is not");
  for (unsigned p = 0; p < header_.planes; ++p) {
    const unsigned at = 16 + 16 * p;
    const auto of = [&](uint8_t& mask, unsigned n) { mask = static_cast<uint8_t>(mask | bit(at + n) << p); };
    of(pins.link_up, 0);
    of(pins.tx_tready, 1);
    of(pins.rx_tvalid, 2);
    of(pins.rx_tlast, 3);
    of(pins.rx_tuser, 4);
    const auto ones = static_cast<unsigned>(bits >> (at + 8) & 63);
    if (ones > header_.port_bytes) damaged("a beat has more bytes than a port");
    pins.rx_tkeep[p] = static_cast<uint32_t>((uint64_t{1} << ones) - 1);
  }
}

void RecordReader::bus_of(const Word& b, mrc_pins_in& pins) const {
  pins.awaddr = static_cast<uint16_t>(number(&b[0], 2));
  pins.araddr = static_cast<uint16_t>(number(&b[2], 2));
  pins.wdata = static_cast<uint32_t>(number(&b[4], 4));
  pins.wstrb = b[8] & 15;
  pins.host_fail[0] = static_cast<uint32_t>(number(&b[9], 4) & ((1u << Qperr::kBits) - 1));
}

/// Word E.
bool RecordReader::digest(RecordWindow& window, uint64_t cycle, bool ends) {
  Word e{};
  if (!word(e)) throw Cut{};
  const unsigned half = header_.port_bytes;
  const auto low = static_cast<uint32_t>(number(&e[12], 4)), high = static_cast<uint32_t>(number(&e[half], 4));
  Word plain = e;
  std::memset(&plain[12], 0, 4);
  std::memset(&plain[half], 0, 4);
  take(plain);
  if (low != low_ || high != high_) damaged("what stands before it does not fit its check");
  const unsigned why = e[6];
  if (number(&e[0], 6) != cycle) damaged("its cycle is not that of its event");
  if ((why != 0) != ends || why > static_cast<unsigned>(RecordEnd::TooLong))
    damaged("it gives no reason that there is");
  window.digest.reset();
  if ((e[7] & 1) != 0) window.digest = static_cast<uint32_t>(number(&e[8], 4));
  window.to = cycle;
  if (ends) {
    over_ = true;
    cycles_ = cycle;
    end_ = static_cast<RecordEnd>(why);
  }
  return true;
}

bool RecordReader::event(RecordWindow& window) {
  Word a{}, b{};
  if (!word(a)) throw Cut{};
  const unsigned half = header_.port_bytes, has = a[1];
  if (a[0] != kMark || has > 15) damaged("no event begins there");
  // An event of the same window is not further away than it is long.
  const uint64_t step = static_cast<uint16_t>(number(&a[2], 2) - cycle_);
  const bool ends = (has & kEnds) != 0;
  if (step > header_.window || (begun_ && step == 0) || (!begun_ && step != 0))
    damaged("its cycle is not the next one's");
  take(a);
  cycle_ += step;
  if (ends) {
    if ((has & kHasDigest) == 0) damaged("an end without its check");
    return digest(window, cycle_, true);
  }
  pins_of(a, last_);
  const bool two = last_.rx_tvalid == 3;
  unsigned plane = (last_.rx_tvalid & 1) != 0 ? 0 : 1;
  if (last_.rx_tvalid != 0) std::memcpy(last_.rx_tdata[plane], &a[half], half);
  if ((has & kHasBus) != 0 || two) {
    if (!word(b)) throw Cut{};
    take(b);
    if ((has & kHasBus) != 0) bus_of(b, last_);
    if (two) std::memcpy(last_.rx_tdata[1], &b[half], half);
  }
  if (last_.host_rsp_valid != 0) {
    if (!word(b)) throw Cut{};
    take(b);
    std::memcpy(last_.host_rsp_data, b.data(), header_.host_bytes);
  }
  if ((has & kHasWqe) != 0) {
    std::array<uint8_t, sizeof last_.wqe + kMostBytes> wqe{};
    for (unsigned at = 0; at < (Wqe::kBits + 7) / 8; at += header_.host_bytes) {
      if (!word(b)) throw Cut{};
      take(b);
      std::memcpy(&wqe[at], b.data(), header_.host_bytes);
    }
    std::memcpy(last_.wqe, wqe.data(), sizeof last_.wqe);
  }
  const bool first = !std::exchange(begun_, true);
  const bool due = cycle_ % header_.window == 0 && !first;
  if (due != ((has & kHasDigest) != 0)) damaged("a digest stands where none belongs, or is missing");
  if (due) {
    next_ = RecordedPins{cycle_, last_};
    return digest(window, cycle_, false);
  }
  window.pins.push_back({cycle_, last_});
  return false;
}

bool RecordReader::next(RecordWindow& window, bool cut) {
  window.pins.clear();
  window.digest.reset();
  window.from = window.to = from_;
  if (over_) return false;
  if (next_) window.pins.push_back(*std::exchange(next_, std::nullopt));
  try {
    while (!event(window)) {
    }
  } catch (const Cut&) {
    if (!cut) {
      throw InputError(fmt::format("{} ends at byte {}, in the middle of a record.", name_, offset_),
                       std::string(kAgain) + " Where memory has failed, --cut replays what there is.");
    }
    over_ = true;
    cycles_ = from_;
    return false;
  }
  from_ = window.to;
  return window.to != window.from || !over_;
}

}  // namespace mrc::tb
