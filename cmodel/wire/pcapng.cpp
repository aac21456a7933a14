// SPDX-License-Identifier: Apache-2.0
#include "wire/pcapng.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <optional>
#include <ostream>
#include <streambuf>
#include <string_view>
#include <utility>

#include "wire/choices.hpp"
#include "wire/packed.hpp"

namespace mrc::wire {

namespace {

constexpr uint32_t kSection = 0x0A0D0D0A;
constexpr uint32_t kInterface = 1;
constexpr uint32_t kOldPacket = 2;
constexpr uint32_t kSimplePacket = 3;
constexpr uint32_t kInterfaceStatistics = 5;
constexpr uint32_t kEnhancedPacket = 6;
constexpr uint32_t kByteOrder = 0x1A2B3C4D;
constexpr uint16_t kOptComment = 1;
constexpr uint16_t kOptUserAppl = 4;
constexpr uint16_t kIfName = 2;
constexpr uint16_t kIfDescription = 3;
constexpr uint16_t kIfSpeed = 8;
constexpr uint16_t kIfTsResol = 9;
constexpr uint16_t kIfTsOffset = 14;
constexpr uint16_t kIfFcsLen = 13;
constexpr uint16_t kEpbFlags = 2;
constexpr uint16_t kEpbDropCount = 4;
constexpr uint16_t kIsbIfDrop = 5;
constexpr uint16_t kIsbOsDrop = 7;
// Blocks that are no packets and that Wireshark numbers like packets: of the journal of systemd, of sysdig.
constexpr uint32_t kJournal = 9, kSysdigFirst = 0x204, kSysdigLast = 0x221;
constexpr size_t kMaxOption = 0xFFFF;
constexpr uint16_t kMajorVersion = 1;
constexpr size_t kMaxLosses = 4096;

__extension__ typedef __int128 I128;

/// One block under construction, little endian.
class Block {
 public:
  explicit Block(uint32_t type) {
    u32(type);
    u32(0);
  }
  void u16(uint16_t v) { put(v, 2); }
  void u32(uint32_t v) { put(v, 4); }
  void u64(uint64_t v) { put(v, 8); }
  void bytes(std::span<const uint8_t> data) {
    data_.append(reinterpret_cast<const char*>(data.data()), data.size());
    data_.append((4 - data.size() % 4) % 4, '\0');
  }
  void option(uint16_t code, std::string_view text) {
    u16(code);
    u16(static_cast<uint16_t>(text.size()));
    bytes({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }
  /// As many options as it takes; characters stay whole.
  void comment(std::string_view text) {
    while (text.size() > kMaxOption) {
      size_t size = kMaxOption;
      while (size > kMaxOption - 3 && (static_cast<uint8_t>(text[size]) & 0xC0u) == 0x80) --size;
      option(kOptComment, text.substr(0, size));
      text.remove_prefix(size);
    }
    option(kOptComment, text);
  }
  void end_options() { u32(0); }
  void write(std::ostream& out) {
    const auto size = static_cast<uint32_t>(data_.size() + 4);
    u32(size);
    for (unsigned i = 0; i < 4; ++i) data_[4 + i] = static_cast<char>(size >> (8 * i));
    out.write(data_.data(), static_cast<std::streamsize>(data_.size()));
  }

 private:
  void put(uint64_t v, unsigned count) {
    for (unsigned i = 0; i < count; ++i) data_.push_back(static_cast<char>(v >> (8 * i)));
  }
  std::string data_;
};

/// Bytes of a file that may be cut or lie; every read says whether the bytes exist.
class Reader {
 public:
  Reader(std::span<const uint8_t> data, size_t base, bool big) : data_(data), base_(base), big_(big) {}

  size_t left() const { return data_.size() - at_; }
  size_t offset() const { return base_ + at_; }

  std::optional<uint64_t> number(unsigned count) {
    if (left() < count) return std::nullopt;
    uint64_t v = 0;
    for (unsigned i = 0; i < count; ++i) {
      v |= uint64_t{data_[at_ + i]} << (8 * (big_ ? count - 1 - i : i));
    }
    at_ += count;
    return v;
  }
  std::optional<uint32_t> u32() {
    auto v = number(4);
    return v ? std::optional(static_cast<uint32_t>(*v)) : std::nullopt;
  }
  std::optional<uint16_t> u16() {
    auto v = number(2);
    return v ? std::optional(static_cast<uint16_t>(*v)) : std::nullopt;
  }
  /// `count` bytes, then padding to 4.
  std::optional<std::span<const uint8_t>> padded(size_t count) {
    const size_t padding = (4 - count % 4) % 4;
    if (left() < count || left() - count < padding) return std::nullopt;
    auto out = data_.subspan(at_, count);
    at_ += count + padding;
    return out;
  }

 private:
  std::span<const uint8_t> data_;
  size_t base_;
  size_t at_ = 0;
  bool big_;
};

struct Interface {
  uint64_t ticks_per_second = 1'000'000;
  int64_t offset_seconds = 0;
  uint32_t snap_length = 0;
  uint32_t index = 0;  // in Capture::interfaces
  uint8_t fcs_bytes = 0;
};

std::string text_of(std::span<const uint8_t> data) { return {reinterpret_cast<const char*>(data.data()), data.size()}; }

}  // namespace

/// What stands between the bytes and the frames.
class PcapngReader::Impl {
 public:
  Impl(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  bool next(CapturedFrame& frame) {
    frame_ = &frame;
    have_frame_ = false;
    while (!have_frame_ && !over_) {
      auto problem = first_ ? begin() : block();
      if (problem) {
        problem_ = std::move(problem);
        over_ = true;
      }
    }
    return have_frame_;
  }

  const std::optional<Error>& error() const { return problem_; }
  const std::vector<CaptureInterface>& interfaces() const { return described_; }
  const std::vector<std::string>& comments() const { return comments_; }
  std::vector<CaptureLoss>& losses() { return losses_; }

 private:
  Error error(size_t offset, std::string what,
              std::string remedy =
                  "Convert other formats with 'editcap -F pcapng IN OUT'; a damaged file "
                  "must be captured again.") const {
    return {name_, offset, std::move(what), std::move(remedy)};
  }

  Error too_large(size_t offset, size_t bytes) const {
    return error(offset, fmt::format("packet of {} bytes, at most {} are read", bytes, kMaxFrameBytes),
                 "Cut its packets with 'editcap -s BYTES IN OUT'.");
  }

  /// So many bytes of the block are in block_ afterwards, or all that the file has. By pieces: a length may lie.
  bool fill(size_t bytes) {
    constexpr size_t kPiece = size_t{1} << 18;
    while (filled_ < bytes) {
      const size_t piece = std::min(bytes - filled_, kPiece);
      if (block_.size() < filled_ + piece) block_.resize(filled_ + piece);
      in_.read(reinterpret_cast<char*>(block_.data() + filled_), static_cast<std::streamsize>(piece));
      const auto got = static_cast<size_t>(in_.gcount());
      filled_ += got;
      if (got < piece) return false;
    }
    return true;
  }

  std::optional<Error> begin() {
    first_ = false;
    if (!fill(12)) return error(0, "too short for a pcapng file");
    Reader first(std::span<const uint8_t>(block_).first(12), 0, false);
    if (first.u32() != kSection) {
      return error(0, "not a pcapng file, the section header block is missing");
    }
    return block();
  }

  std::optional<Error> block() {
    if (!fill(12)) {
      if (filled_ != 0) return error(at_, "the file ends inside a block header");
      over_ = true;
      return std::nullopt;
    }
    if (Reader(block_, at_, false).u32() == kSection) {
      const uint32_t order = Reader(std::span(block_).subspan(8), at_ + 8, false).u32().value_or(0);
      if (order == kByteOrder) {
        big_ = false;
      } else if (order == 0x4D3C2B1A) {
        big_ = true;
      } else {
        return error(at_ + 8, fmt::format("byte-order magic is 0x{:08x}", order));
      }
      interfaces_.clear();
      wire_ = {};
    }
    Reader head(block_, at_, big_);
    const uint32_t type = head.u32().value_or(0);
    const uint32_t size = head.u32().value_or(0);
    if (size < 12 || size % 4 != 0) {
      return error(at_ + 4, fmt::format("block length {} is not a multiple of 4 of at least 12", size));
    }
    if (!fill(size)) {
      return error(at_ + 4,
                   fmt::format("block length {} is beyond the end of the file, {} bytes are left", size, filled_));
    }
    const auto whole = std::span<const uint8_t>(block_).first(size);
    const uint32_t again = Reader(whole.subspan(size - 4), 0, big_).u32().value_or(0);
    if (again != size) {
      return error(at_ + size - 4, fmt::format("block length {} at the end, {} at the start", again, size));
    }
    Reader body(whole.subspan(8, size - 12), at_ + 8, big_);
    at_ += size;
    filled_ = 0;
    switch (type) {
      case kSection:
        return section(body);
      case kInterface:
        return interface(body);
      case kEnhancedPacket:
        return enhanced(body);
      case kOldPacket:
        return old_packet(body);
      case kSimplePacket:
        return simple(body);
      case kInterfaceStatistics:
        return statistics(body);
      default:
        number_ += type == kJournal || (type >= kSysdigFirst && type <= kSysdigLast);
        return std::nullopt;
    }
  }

  /// Calls visit(code, value, offset) per option until the end of options or of the block.
  template <class Visit>
  std::optional<Error> options(Reader& body, Visit&& visit) {
    while (body.left() >= 4) {
      const size_t offset = body.offset();
      const uint16_t code = body.u16().value_or(0);
      const uint16_t length = body.u16().value_or(0);
      if (code == 0) return std::nullopt;
      const auto value = body.padded(length);
      if (!value) return error(offset, fmt::format("option {} of {} bytes is longer than its block", code, length));
      if (auto problem = visit(code, *value, offset)) return problem;
    }
    return std::nullopt;
  }

  static bool says_how(std::string_view text) { return text.starts_with(kReadWith); }

  /// Text of ours that says how to read frames: its first line. Tools that join captures append others.
  std::optional<Error> read_with(std::string_view text, size_t offset, WireConfig& wire) const {
    wire = {};
    text = text.substr(0, text.find_first_of("\r\n"));
    const auto problem = read_options(text.substr(kReadWith.size()), wire);
    if (problem) return error(offset, "says how to read its frames, but " + problem->what, problem->remedy);
    return std::nullopt;
  }

  std::optional<Error> section(Reader& body) {
    const size_t offset = body.offset();
    const auto order = body.u32();
    const auto major = body.u16();
    const auto minor = body.u16();
    const auto length = body.number(8);
    if (!order || !major || !minor || !length) return error(offset, "section header block is too short");
    if (*major != kMajorVersion) {
      return error(offset + 4, fmt::format("pcapng version {}.{}, this reader knows version 1", *major, *minor));
    }
    return options(body, [&](uint16_t code, std::span<const uint8_t> value, size_t at) -> std::optional<Error> {
      if (code != kOptComment) return std::nullopt;
      if (says_how(text_of(value))) return read_with(text_of(value), at, wire_);
      comments_.push_back(text_of(value));
      return std::nullopt;
    });
  }

  std::optional<Error> statistics(Reader& body) {
    const size_t offset = body.offset();
    const auto id = body.u32();
    const auto high = body.u32();
    const auto low = body.u32();
    if (!id || !high || !low) return error(offset, "interface statistics block is too short");
    uint64_t by_interface = 0, by_host = 0;
    auto problem = options(body, [&](uint16_t code, std::span<const uint8_t> value, size_t at) -> std::optional<Error> {
      if (code == kOptComment) comments_.push_back(text_of(value));
      if ((code == kIsbIfDrop || code == kIsbOsDrop) && value.size() == 8) {
        (code == kIsbIfDrop ? by_interface : by_host) = Reader(value, at, big_).number(8).value_or(0);
      }
      return std::nullopt;
    });
    if (problem || *id >= interfaces_.size() || by_interface + by_host == 0) return problem;
    const I128 time = time_of(interfaces_[*id], *high, *low);
    const bool fits = time >= 0 && time >> 64 == 0;  // not needed to read the packets: no reason to refuse them
    if (losses_.size() < kMaxLosses)
      losses_.push_back({interfaces_[*id].index, fits ? static_cast<uint64_t>(time) : 0, by_interface + by_host});
    return std::nullopt;
  }

  std::optional<Error> interface(Reader& body) {
    const size_t offset = body.offset();
    if (described_.size() == kMaxInterfaces) {
      return error(offset, fmt::format("more than {} interfaces", kMaxInterfaces), "Split the capture.");
    }
    const auto link = body.u16();
    const auto reserved = body.u16();
    const auto snap = body.u32();
    if (!link || !reserved || !snap) return error(offset, "interface block is too short");
    Interface entry;
    entry.snap_length = *snap;
    entry.index = static_cast<uint32_t>(described_.size());
    CaptureInterface described{{}, *link, wire_};
    auto problem = options(body, [&](uint16_t code, std::span<const uint8_t> value, size_t at) -> std::optional<Error> {
      if (code == kIfName) described.name = text_of(value);
      if (code == kIfDescription && says_how(text_of(value))) return read_with(text_of(value), at, described.wire);
      if (code == kIfTsResol) {
        if (value.size() != 1) return error(at, "if_tsresol is not one byte long");
        const unsigned exponent = value[0] & 0x7Fu;
        const bool binary = value[0] & 0x80u;
        if (exponent > (binary ? 63u : 19u)) return error(at, fmt::format("if_tsresol 0x{:02x} is too fine", value[0]));
        entry.ticks_per_second = 1;
        for (unsigned i = 0; i < exponent; ++i) entry.ticks_per_second *= binary ? 2 : 10;
      }
      if (code == kIfFcsLen && value.size() == 1) entry.fcs_bytes = static_cast<uint8_t>(value[0] / 8);
      if (code == kIfTsOffset) {
        if (value.size() != 8) return error(at, "if_tsoffset is not eight bytes long");
        entry.offset_seconds = static_cast<int64_t>(Reader(value, at, big_).number(8).value_or(0));
      }
      return std::nullopt;
    });
    if (problem) return problem;
    interfaces_.push_back(entry);
    described_.push_back(std::move(described));
    return std::nullopt;
  }

  CapturedFrame& new_frame(const Interface& from, std::span<const uint8_t> data, uint32_t original) {
    CapturedFrame& frame = *frame_;
    frame.interface = from.index;
    frame.time_ns = 0;
    frame.bytes.assign(data.begin(), data.end());
    frame.original_length = original;
    frame.comments.clear();
    frame.wire = described_[from.index].wire;
    frame.link = described_[from.index].link;
    frame.port = 0;
    frame.number = ++number_;
    frame.taken = {};
    frame.direction = CapturedFrame::Direction::Unknown;
    frame.fcs_bad = false;
    frame.fcs_bytes = from.fcs_bytes;
    frame.dropped = 0;
    return frame;
  }

  static I128 time_of(const Interface& from, uint32_t high, uint32_t low) {
    const uint64_t ticks = uint64_t{high} << 32 | low;
    // At most 2^64 ticks of 2^30 ns and 2^63 s: all of it is below 2^95 ns.
    const auto since_offset = static_cast<I128>(U128{ticks} * 1'000'000'000u / from.ticks_per_second);
    return since_offset + I128{from.offset_seconds} * 1'000'000'000;
  }

  std::optional<Error> enhanced(Reader& body) {
    const size_t offset = body.offset();
    const auto id = body.u32();
    return packet(body, offset, id, 0);
  }

  /// As older tools wrote it: the count of drops stands beside the interface.
  std::optional<Error> old_packet(Reader& body) {
    constexpr uint16_t kNotReported = 0xFFFF;
    const size_t offset = body.offset();
    const auto id = body.u16();
    const auto drops = body.u16();
    return packet(body, offset, id, drops.value_or(kNotReported) == kNotReported ? 0 : *drops);
  }

  std::optional<Error> packet(Reader& body, size_t offset, std::optional<uint32_t> id, uint64_t dropped) {
    const auto high = body.u32();
    const auto low = body.u32();
    const auto captured = body.u32();
    const auto original = body.u32();
    if (!id || !high || !low || !captured || !original) return error(offset, "packet block is too short");
    if (*id >= interfaces_.size()) {
      return error(offset, fmt::format("packet of interface {}, but {} are described", *id, interfaces_.size()));
    }
    const Interface& from = interfaces_[*id];
    const auto data = body.padded(*captured);
    if (!data) return error(offset + 12, fmt::format("packet of {} bytes is longer than its block", *captured));
    if (data->size() > kMaxFrameBytes) return too_large(offset + 12, data->size());
    CapturedFrame& frame = new_frame(from, *data, *original);
    const I128 time = time_of(from, *high, *low);
    if (time < 0 || time >> 64 != 0) {
      return error(offset + 4, fmt::format("time stamp is {}", time < 0 ? "before 1970" : "beyond 2^64 ns"),
                   "Shift its times with 'editcap -t SECONDS IN OUT'.");
    }
    frame.time_ns = static_cast<uint64_t>(time);
    frame.dropped = dropped;
    auto problem = options(body, [&](uint16_t code, std::span<const uint8_t> value, size_t at) -> std::optional<Error> {
      if (code == kOptComment) frame.comments.push_back(text_of(value));
      if (code == kEpbFlags && value.size() == 4) {
        const auto flags = static_cast<uint32_t>(Reader(value, at, big_).number(4).value_or(0));
        frame.direction = static_cast<CapturedFrame::Direction>((flags & 3) == 3 ? 0 : flags & 3);
        if ((flags >> 5 & 15) != 0) frame.fcs_bytes = static_cast<uint8_t>(flags >> 5 & 15);
        frame.fcs_bad = (flags >> 24 & 1) != 0;
      }
      if (code == kEpbDropCount && value.size() == 8) frame.dropped = Reader(value, at, big_).number(8).value_or(0);
      return std::nullopt;
    });
    if (problem) return problem;
    have_frame_ = true;
    return std::nullopt;
  }

  std::optional<Error> simple(Reader& body) {
    const size_t offset = body.offset();
    const auto original = body.u32();
    if (!original) return error(offset, "simple packet block is too short");
    if (interfaces_.empty()) return error(offset, "simple packet block without an interface");
    const Interface& from = interfaces_[0];
    const size_t size = from.snap_length ? std::min(*original, from.snap_length) : *original;
    const auto data = body.padded(size);
    if (!data) return error(offset, fmt::format("packet of {} bytes is longer than its block", size));
    if (size > kMaxFrameBytes) return too_large(offset, size);
    new_frame(from, *data, *original);
    have_frame_ = true;
    return std::nullopt;
  }

  std::istream& in_;
  const std::string name_;
  std::vector<uint8_t> block_;
  size_t filled_ = 0;  // bytes of the block that are there
  size_t at_ = 0;      // of the block in the file
  bool big_ = false, first_ = true, over_ = false, have_frame_ = false;
  CapturedFrame* frame_ = nullptr;
  std::vector<Interface> interfaces_;  // of the current section
  WireConfig wire_{};                  // how to read it
  uint64_t number_ = 0;                // of the newest packet
  std::vector<CaptureInterface> described_;
  std::vector<std::string> comments_;
  std::vector<CaptureLoss> losses_;
  std::optional<Error> problem_;
};

PcapngReader::PcapngReader(std::istream& in, std::string name) : impl_(std::make_unique<Impl>(in, std::move(name))) {}
PcapngReader::~PcapngReader() = default;
bool PcapngReader::next(CapturedFrame& frame) { return impl_->next(frame); }
const std::optional<Error>& PcapngReader::error() const { return impl_->error(); }
const std::vector<CaptureInterface>& PcapngReader::interfaces() const { return impl_->interfaces(); }
const std::vector<std::string>& PcapngReader::comments() const { return impl_->comments(); }
std::vector<CaptureLoss> PcapngReader::take_losses() { return std::exchange(impl_->losses(), {}); }

PcapngWriter::PcapngWriter(std::ostream& out, const WireConfig& wire, unsigned num_planes, unsigned port_gbps,
                           std::span<const std::string> comments)
    : out_(out) {
  Block section(kSection);
  section.u32(kByteOrder);
  section.u16(kMajorVersion);
  section.u16(0);
  section.u64(~uint64_t{0});
  section.comment(std::string(kReadWith) + to_options(wire));
  for (const std::string& comment : comments) section.comment(comment);
  section.option(kOptUserAppl, "mrcnic");
  section.end_options();
  section.write(out_);
  for (unsigned plane = 0; plane < num_planes; ++plane) {
    add_interface({fmt::format("plane{}", plane), kLinkEthernet, wire}, port_gbps);
  }
}

void PcapngWriter::add_interface(const CaptureInterface& interface, unsigned port_gbps) {
  Block block(kInterface);
  block.u16(interface.link);
  block.u16(0);
  block.u32(0);
  if (!interface.name.empty()) block.option(kIfName, std::string_view(interface.name).substr(0, kMaxOption));
  block.option(kIfDescription, std::string(kReadWith) + to_options(interface.wire));
  if (port_gbps) {
    block.u16(kIfSpeed);
    block.u16(8);
    block.u64(uint64_t{port_gbps} * 1'000'000'000u);
  }
  block.option(kIfTsResol, "\x09");
  block.end_options();
  block.write(out_);
  ++num_planes_;
}

bool PcapngWriter::write(const CapturedFrame& frame) {
  return write(frame.interface, frame.time_ns, frame.bytes, frame.comments, frame.original_length);
}

bool PcapngWriter::write(uint32_t plane, uint64_t time_ns, std::span<const uint8_t> bytes,
                         std::span<const std::string> comments, uint32_t original_length) {
  if (plane >= num_planes_ || bytes.size() > kMaxFrameBytes) return false;
  const auto size = static_cast<uint32_t>(bytes.size());
  Block block(kEnhancedPacket);
  block.u32(plane);
  block.u32(static_cast<uint32_t>(time_ns >> 32));
  block.u32(static_cast<uint32_t>(time_ns));
  block.u32(size);
  block.u32(original_length ? original_length : size);
  block.bytes(bytes);
  for (const std::string& comment : comments) block.comment(comment);
  if (!comments.empty()) block.end_options();
  block.write(out_);
  return true;
}

void PcapngWriter::note(const std::string& text) {
  Block block(kInterfaceStatistics);
  block.u32(0);
  block.u64(0);
  block.comment(text);
  block.end_options();
  block.write(out_);
}

namespace {
class MemoryBuf : public std::streambuf {
 public:
  explicit MemoryBuf(std::span<const uint8_t> bytes) {
    char* const begin = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));  // only read
    setg(begin, begin, begin + bytes.size());
  }
};
}  // namespace

Result<Capture> read_pcapng(std::span<const uint8_t> file, const std::string& name) {
  MemoryBuf bytes(file);
  std::istream in(&bytes);
  PcapngReader reader(in, name);
  Capture capture;
  for (CapturedFrame frame; reader.next(frame);) capture.frames.push_back(std::move(frame));
  if (reader.error()) return *reader.error();
  capture.interfaces = reader.interfaces();
  capture.comments = reader.comments();
  return capture;
}

}  // namespace mrc::wire
