// SPDX-License-Identifier: Apache-2.0
/// Linux network interfaces as the ports of a NIC: whole Ethernet frames in and out through packet sockets, many at a
/// time.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace mrc::tb {

/// What keeps an interface from being a port. what() is a sentence with full stop.
class PortError : public std::runtime_error {
 public:
  PortError(const std::string& sentence, std::string todo) : std::runtime_error(sentence), remedy(std::move(todo)) {}
  std::string remedy;
};

/// Time of CLOCK_MONOTONIC, ns.
uint64_t monotonic_ns();

/// The largest frame of MRC: 4096 bytes of payload, and headers with SRv6 and routing header.
inline constexpr unsigned kLargestFrame = 4352;

struct ArrivedFrame {
  uint64_t ns = 0;       ///< when the kernel had it, CLOCK_MONOTONIC
  bool foreign = false;  ///< it is no packet of MRC, which is UDP to a port of MRC
  std::vector<uint8_t> bytes;
};

class PacketPorts {
 public:
  /// Interface i is plane i. Each must exist, be up, be an Ethernet and carry kLargestFrame. Throws PortError.
  explicit PacketPorts(const std::vector<std::string>& interfaces);
  PacketPorts(const PacketPorts&) = delete;
  PacketPorts& operator=(const PacketPorts&) = delete;
  ~PacketPorts();

  unsigned count() const { return static_cast<unsigned>(ports_.size()); }
  /// UDP ports of MRC here beside 4971 and 4791.
  void udp_port(uint16_t port) { udp_ports_.push_back(port); }
  /// Frames that have come to a port since the last call, in their order. Frames that are neither IPv6 nor IPv4 and
  /// ICMPv6 of kernels are counted, and left out. Throws PortError.
  void receive(unsigned port, std::vector<ArrivedFrame>& to);
  /// Puts a frame behind those that wait to be sent.
  void send(unsigned port, std::vector<uint8_t> frame) { ports_[port].waiting.push_back(std::move(frame)); }
  /// Sends what waits, as far as the kernel takes it. A port that is down loses its frames. Throws PortError.
  void flush();
  bool waits() const;
  /// Forgets frames that have come and those that wait to be sent.
  void clear();
  /// Is there a carrier?
  bool carrier(unsigned port) const;
  /// Switches the interface on or off, so that its other end sees the carrier come or go. Throws PortError.
  void set_up(unsigned port, bool up);
  /// Waits for a frame, for `other` (a file descriptor; -1: none) to be readable, or until so many ns are over.
  void wait(uint64_t ns, int other) const;
  /// Frames that the kernel had no room for, since the beginning, in our sockets or at the interfaces. What an
  /// interface drops while its carrier comes or goes does not count.
  uint64_t dropped();
  uint64_t strangers() const { return strangers_; }
  const std::string& name(unsigned port) const { return ports_[port].name; }

 private:
  struct Port {
    std::string name;
    int fd = -1;
    bool up = true;
    bool had_carrier = false;  ///< when its drops were last looked at
    uint64_t drops = 0;        ///< of the interface, then
    std::deque<std::vector<uint8_t>> waiting;
  };
  void open(Port& port);
  unsigned flags_of(const Port& port) const;

  std::vector<Port> ports_;
  std::vector<uint16_t> udp_ports_{4971, 4791};
  std::vector<uint8_t> buffers_;  ///< of one batch
  int control_ = -1;              ///< a socket for questions about interfaces
  uint64_t strangers_ = 0, dropped_ = 0;
};

}  // namespace mrc::tb
