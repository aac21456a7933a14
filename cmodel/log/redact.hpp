// SPDX-License-Identifier: Apache-2.0
/// Logs that may leave the house: without payload, and if wanted without addresses.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>

#include "log/record.hpp"
#include "wire/packet.hpp"

namespace mrc::log {

struct RedactOptions {
  bool payload = true;     ///< payload of frames and data of the host become digests
  bool addresses = false;  ///< MAC and IP addresses become others, the same ones always the same
};

/// Redacts records one after the other. What it changes:
///
/// - Payload of a frame is zeros; Frame::redacted has place and digest(), so that equal payloads stay equal. What is no
///   whole MRC packet loses everything behind the headers that could be read.
/// - Host data are gone; Host::hash has their digest().
/// - Addresses: of all Ethernet, IPv4, IPv6 and routing headers, of QPs, and of profiles (through `profile`). Frames
/// get
///   kChanged: their ICRC is that of before, and cannot be checked any more.
///
/// Names, notes, times, keys and host addresses stay.
class Redactor {
 public:
  using MapIp = std::function<Ip(const Ip&)>;
  /// Puts mapped addresses into the JSON of a profile; who knows that format gives it.
  using MapProfile = std::function<std::string(const std::string& json, const MapIp& map)>;

  explicit Redactor(const RedactOptions& options, MapProfile profile = {})
      : options_(options), profile_(std::move(profile)) {}
  /// `wire`: how to read frames of this device.
  void redact(Record& record, const wire::WireConfig& wire);

  /// The address that stands for this one.
  Ip map(const Ip& ip);

 private:
  using Mac = std::array<uint8_t, 6>;
  void frame(Frame& frame, const wire::WireConfig& wire);
  void addresses(Frame& frame, const wire::Packet& packet);
  Mac map(const Mac& mac);

  const RedactOptions options_;
  const MapProfile profile_;
  std::map<Ip, Ip> ips_;
  std::map<Mac, Mac> macs_;
};

}  // namespace mrc::log
