// SPDX-License-Identifier: Apache-2.0
/// Logs that may leave the house: without payload, and if wanted without addresses.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "log/record.hpp"
#include "wire/packet.hpp"

namespace mrc::log {

struct RedactOptions {
  bool payload = true;  ///< payload of frames and data of the host become digests
  /// MAC and IP addresses, R_Keys, and addresses of memory become others, the same ones always the same
  bool addresses = false;
};

/// Redacts records one after the other. What it changes:
///
/// - Payload of a frame is zeros; Frame::redacted has place and digest(), so that equal payloads stay equal. What is no
///   whole MRC packet loses everything behind the headers that could be read.
/// - Host data are gone; Host::hash has their digest().
/// - Addresses: of all Ethernet, IPv4, IPv6 and routing headers, of QPs, and of profiles (through `profile`). Frames
///   get kChanged: their ICRC is that of before, and cannot be checked any more.
/// - R_Keys, in the order in which they come; VAs, moved by as much as all others of their R_Key; addresses of host
///   memory, moved by as much as all others of their device. So what was inside a region stays inside it, at the same
///   place, and the low 12 bits stay. The bytes of a header that a switch has cut are zeros.
///
/// Names, notes and times stay.
class Redactor {
 public:
  /// Puts mapped addresses into the JSON of a device's profile; who knows that format gives it.
  using MapProfile = std::function<std::string(const std::string& json, uint32_t device, Redactor& by)>;

  explicit Redactor(const RedactOptions& options, MapProfile profile = {})
      : options_(options), profile_(std::move(profile)) {}
  /// `wire`: how to read frames of this device.
  void redact(Record& record, const wire::WireConfig& wire);

  /// The address that stands for this one.
  Ip map(const Ip& ip);
  /// The R_Key, the VA of an R_Key as it was before, the address in a device's memory that stand for these.
  uint32_t map_key(uint32_t rkey);
  uint64_t map_va(uint32_t rkey, uint64_t va);
  uint64_t map_host(uint32_t device, uint64_t address);
  void map(Mr& region, uint32_t device);

 private:
  using Mac = std::array<uint8_t, 6>;
  void frame(Frame& frame, const wire::WireConfig& wire);
  void addresses(Frame& frame, const wire::Packet& packet);
  void memory(Frame& frame, const wire::Packet& packet);
  Mac map(const Mac& mac);

  const RedactOptions options_;
  const MapProfile profile_;
  std::map<Ip, Ip> ips_;
  std::map<Mac, Mac> macs_;
  struct Key {
    uint32_t key = 0;
    std::optional<uint64_t> moved;  ///< its VAs, by so much
  };
  std::map<uint32_t, Key> keys_;
  std::map<uint32_t, uint64_t> host_moved_;  ///< by device
};

}  // namespace mrc::log
