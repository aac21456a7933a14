// SPDX-License-Identifier: Apache-2.0
#include "wire/capture.hpp"

#include <algorithm>
#include <array>
#include <istream>

#include "wire/pcap.hpp"
#include "wire/pcapng.hpp"
#include "wire/unpack.hpp"

namespace mrc::wire {
namespace {

using std::string_view_literals::operator""sv;
constexpr std::string_view kPcapng = "\n\r\r\n", kGzip = "\x1f\x8b", kZstd = "\x28\xb5\x2f\xfd";
constexpr std::array kPcap = {"\xa1\xb2\xc3\xd4"sv, "\xd4\xc3\xb2\xa1"sv, "\xa1\xb2\x3c\x4d"sv, "\x4d\x3c\xb2\xa1"sv};

class CaptureReader final : public PacketSource {
 public:
  CaptureReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  bool next(CapturedFrame& frame) override {
    if (!begun_) begin();
    if (problem_) return false;
    if (source_->next(frame)) return true;
    problem_ = source_->error();
    if (unpack_ && unpack_->problem()) {
      problem_ = Error{name_,
                       unpack_->packed(),
                       "cannot be unpacked: " + *unpack_->problem(),
                       "Try 'gzip -t' or 'zstd -t' on it; a damaged file must be captured again.",
                       0,
                       0};
    }
    return false;
  }
  const std::optional<Error>& error() const override { return problem_; }
  const std::vector<CaptureInterface>& interfaces() const override { return source_->interfaces(); }
  const std::vector<std::string>& comments() const override { return source_->comments(); }
  std::vector<CaptureLoss> take_losses() override { return source_->take_losses(); }

 private:
  void begin() {
    begun_ = true;
    int first = in_.peek();
    if (first == kGzip[0] || first == kZstd[0]) {
      unpack_.emplace(*in_.rdbuf(), first == kGzip[0] ? UnpackBuf::Kind::Gzip : UnpackBuf::Kind::Zstd);
      unpacked_.emplace(&*unpack_);
      first = unpacked_->peek();
      if (unpack_->problem()) first = kPcapng[0];  // its reader finds nothing, and next() says why
    }
    std::istream& in = unpacked_ ? *unpacked_ : in_;
    const std::string name = unpacked_ ? name_ + " (unpacked)" : name_;
    const auto is = [&](std::string_view magic) { return std::istream::traits_type::to_int_type(magic[0]) == first; };
    if (is(kPcapng)) {
      source_ = std::make_unique<PcapngReader>(in, name);
    } else if (std::ranges::any_of(kPcap, is)) {
      source_ = std::make_unique<PcapReader>(in, name);
    } else {
      const bool nothing = first == std::istream::traits_type::eof();
      problem_ = Error{name,
                       0,
                       nothing ? "nothing stands in it" : "no capture: neither pcapng nor pcap",
                       "Wireshark, dumpcap and tcpdump write captures; gzip and zstd may have packed them.",
                       0,
                       0};
    }
  }

  std::istream& in_;
  const std::string name_;
  bool begun_ = false;
  std::optional<UnpackBuf> unpack_;
  std::optional<std::istream> unpacked_;
  std::unique_ptr<PacketSource> source_ = std::make_unique<PcapngReader>(in_, name_);  ///< till the first byte tells
  std::optional<Error> problem_;
};

}  // namespace

bool begins_like_a_capture(std::string_view bytes) {
  return bytes.starts_with(kPcapng) || bytes.starts_with(kGzip) || bytes.starts_with(kZstd) ||
         std::ranges::any_of(kPcap, [&](std::string_view magic) { return bytes.starts_with(magic); });
}

std::unique_ptr<PacketSource> read_capture(std::istream& in, std::string name) {
  return std::make_unique<CaptureReader>(in, std::move(name));
}

}  // namespace mrc::wire
