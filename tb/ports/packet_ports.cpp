// SPDX-License-Identifier: Apache-2.0
#include "tb/ports/packet_ports.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "wire/link_layer.hpp"

namespace mrc::tb {
namespace {

constexpr unsigned kBatch = 64;        ///< frames of one system call
constexpr unsigned kRoom = 1 << 14;    ///< bytes for a frame that comes in
constexpr int kSocketBytes = 1 << 26;  ///< what the kernel may hold for us
constexpr int kPacketIgnoreOutgoing = 23;

int64_t ns_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

ifreq request_for(const std::string& name) {
  ifreq r{};
  std::memcpy(r.ifr_name, name.data(), std::min(name.size(), sizeof r.ifr_name - 1));
  return r;
}

std::string why() { return std::strerror(errno); }

}  // namespace

uint64_t monotonic_ns() { return static_cast<uint64_t>(ns_of(CLOCK_MONOTONIC)); }

PacketPorts::PacketPorts(const std::vector<std::string>& interfaces) : buffers_(size_t{kBatch} * kRoom) {
  std::set<std::string> seen;
  for (const std::string& name : interfaces) {
    if (!seen.insert(name).second)
      throw PortError(fmt::format("the interface {} is named for two ports.", name), "Give each port its own.");
  }
  control_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (control_ < 0) throw PortError("cannot query the kernel for interfaces: " + why() + ".", "Check its limits.");
  ports_.resize(interfaces.size());
  try {
    for (size_t i = 0; i < interfaces.size(); ++i) {
      ports_[i].name = interfaces[i];
      open(ports_[i]);
    }
  } catch (...) {
    for (const Port& port : ports_) {
      if (port.fd >= 0) ::close(port.fd);
    }
    ::close(control_);
    throw;
  }
}

PacketPorts::~PacketPorts() {
  for (const Port& port : ports_) ::close(port.fd);
  ::close(control_);
}

unsigned PacketPorts::flags_of(const Port& port) const {
  ifreq r = request_for(port.name);
  return ::ioctl(control_, SIOCGIFFLAGS, &r) == 0 ? static_cast<unsigned short>(r.ifr_flags) : 0;
}

void PacketPorts::open(Port& port) {
  ifreq r = request_for(port.name);
  if (port.name.empty() || port.name.size() >= sizeof r.ifr_name || ::ioctl(control_, SIOCGIFINDEX, &r) < 0)
    throw PortError(fmt::format("there is no network interface '{}'.", port.name), "'ip link' lists those that are.");
  const int index = r.ifr_ifindex;
  if (::ioctl(control_, SIOCGIFHWADDR, &r) < 0 || r.ifr_hwaddr.sa_family != ARPHRD_ETHER)
    throw PortError(fmt::format("the interface {} is no Ethernet.", port.name), "Name one that is.");
  if ((flags_of(port) & IFF_UP) == 0)
    throw PortError(fmt::format("the interface {} is down.", port.name),
                    fmt::format("Switch it on: ip link set {} up", port.name));
  r = request_for(port.name);
  if (::ioctl(control_, SIOCGIFMTU, &r) < 0 || r.ifr_mtu + ETH_HLEN < static_cast<int>(kLargestFrame))
    throw PortError(fmt::format("the interface {} has an MTU of {} bytes, and packets of MRC are of up to {}.",
                                port.name, r.ifr_mtu, kLargestFrame - ETH_HLEN),
                    fmt::format("Set it: ip link set {} mtu 9000", port.name));
  port.fd = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (port.fd < 0) {
    throw PortError(fmt::format("this user may not open the port {}: {}.", port.name, why()),
                    "Real ports need root, or the capability CAP_NET_RAW.");
  }
  const auto set = [&port](int level, int name, const auto& value) {
    return ::setsockopt(port.fd, level, name, &value, sizeof value) == 0;
  };
  const int one = 1;
  set(SOL_PACKET, kPacketIgnoreOutgoing, one);
  set(SOL_SOCKET, SO_TIMESTAMPNS, one);
  if (!set(SOL_SOCKET, SO_RCVBUFFORCE, kSocketBytes)) set(SOL_SOCKET, SO_RCVBUF, kSocketBytes);
  if (!set(SOL_SOCKET, SO_SNDBUFFORCE, kSocketBytes)) set(SOL_SOCKET, SO_SNDBUF, kSocketBytes);
  packet_mreq all{};
  all.mr_ifindex = index;
  all.mr_type = PACKET_MR_PROMISC;
  set(SOL_PACKET, PACKET_ADD_MEMBERSHIP, all);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = index;
  if (::bind(port.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
    throw PortError(fmt::format("the port {} cannot be opened: {}.", port.name, why()),
                    "Is the interface still there?");
}

void PacketPorts::receive(unsigned number, std::vector<ArrivedFrame>& to) {
  Port& port = ports_[number];
  std::array<mmsghdr, kBatch> messages{};
  std::array<iovec, kBatch> parts{};
  std::array<std::array<uint8_t, 64>, kBatch> notes{};
  for (;;) {
    for (unsigned i = 0; i < kBatch; ++i) {
      parts[i] = {buffers_.data() + size_t{i} * kRoom, kRoom};
      messages[i] = {};
      messages[i].msg_hdr.msg_iov = &parts[i];
      messages[i].msg_hdr.msg_iovlen = 1;
      messages[i].msg_hdr.msg_control = notes[i].data();
      messages[i].msg_hdr.msg_controllen = notes[i].size();
    }
    const int got = ::recvmmsg(port.fd, messages.data(), kBatch, MSG_DONTWAIT, nullptr);
    if (got < 0) {
      // ENETDOWN is told once when an interface goes down; what came before it is still there.
      if (errno == EINTR || errno == ENETDOWN) continue;
      if (errno == EAGAIN) return;
      throw PortError(fmt::format("cannot receive on {}: {}.", port.name, why()), "Is the interface still there?");
    }
    const int64_t behind = ns_of(CLOCK_REALTIME) - ns_of(CLOCK_MONOTONIC);
    for (int i = 0; i < got; ++i) {
      const auto* bytes = static_cast<const uint8_t*>(parts[static_cast<unsigned>(i)].iov_base);
      const mmsghdr& m = messages[static_cast<unsigned>(i)];
      const wire::UpperLayer upper = wire::upper_layer({bytes, m.msg_len});
      if (!upper.is_ip || upper.protocol == IPPROTO_ICMPV6) {
        ++strangers_;
        continue;
      }
      uint64_t ns = monotonic_ns();
      for (const cmsghdr* c = CMSG_FIRSTHDR(&m.msg_hdr); c != nullptr;
           c = CMSG_NXTHDR(const_cast<msghdr*>(&m.msg_hdr), const_cast<cmsghdr*>(c))) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPNS) continue;
        timespec t{};
        std::memcpy(&t, CMSG_DATA(c), sizeof t);
        ns = std::min(ns, static_cast<uint64_t>(t.tv_sec * 1'000'000'000LL + t.tv_nsec - behind));
      }
      const bool foreign =
          !upper.udp_dst_port || std::ranges::find(udp_ports_, *upper.udp_dst_port) == udp_ports_.end();
      to.push_back({ns, foreign, {bytes, bytes + m.msg_len}});
    }
    if (got < static_cast<int>(kBatch)) return;
  }
}

void PacketPorts::flush() {
  std::array<mmsghdr, kBatch> messages{};
  std::array<iovec, kBatch> parts{};
  for (Port& port : ports_) {
    while (!port.waiting.empty()) {
      const auto many = static_cast<unsigned>(std::min<size_t>(kBatch, port.waiting.size()));
      for (unsigned i = 0; i < many; ++i) {
        parts[i] = {port.waiting[i].data(), port.waiting[i].size()};
        messages[i] = {};
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
      }
      const int sent = ::sendmmsg(port.fd, messages.data(), many, MSG_DONTWAIT);
      if (sent > 0) {
        port.waiting.erase(port.waiting.begin(), port.waiting.begin() + sent);
        continue;
      }
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == ENOBUFS) break;
      if (errno == ENETDOWN || errno == ENXIO) {  // nobody hears it
        port.waiting.clear();
        break;
      }
      throw PortError(
          fmt::format("cannot send a frame of {} bytes on {}: {}.", port.waiting.front().size(), port.name, why()),
          "Check the interface and its MTU.");
    }
  }
}

bool PacketPorts::waits() const {
  return std::ranges::any_of(ports_, [](const Port& port) { return !port.waiting.empty(); });
}

void PacketPorts::clear() {
  std::vector<ArrivedFrame> old;
  for (unsigned i = 0; i < count(); ++i) {
    receive(i, old);
    ports_[i].waiting.clear();
  }
}

bool PacketPorts::carrier(unsigned number) const {
  ifreq r = request_for(ports_[number].name);
  ethtool_value value{};
  value.cmd = ETHTOOL_GLINK;
  r.ifr_data = reinterpret_cast<char*>(&value);
  if (::ioctl(control_, SIOCETHTOOL, &r) == 0) return value.data != 0;
  return (flags_of(ports_[number]) & IFF_RUNNING) != 0;
}

void PacketPorts::set_up(unsigned number, bool up) {
  Port& port = ports_[number];
  if (port.up == up) return;
  ifreq r = request_for(port.name);
  const unsigned flags = flags_of(port);
  r.ifr_flags = static_cast<short>(up ? flags | IFF_UP : flags & ~static_cast<unsigned>(IFF_UP));
  if (::ioctl(control_, SIOCSIFFLAGS, &r) < 0)
    throw PortError(fmt::format("cannot switch {} {}: {}.", port.name, up ? "on" : "off", why()),
                    "That needs root, or the capability CAP_NET_ADMIN.");
  port.up = up;
}

void PacketPorts::wait(uint64_t ns, int other) const {
  std::vector<pollfd> fds;
  for (const Port& port : ports_) {
    if (port.up) fds.push_back({port.fd, POLLIN, 0});
  }
  if (other >= 0) fds.push_back({other, POLLIN, 0});
  const timespec time{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  ::ppoll(fds.data(), fds.size(), &time, nullptr);
}

uint64_t PacketPorts::dropped() {
  // Lines "name: bytes packets errs drop fifo frame compressed multicast bytes packets errs drop ..." of all
  // interfaces.
  std::map<std::string, uint64_t> drops;
  std::ifstream lines("/proc/thread-self/net/dev");
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream numbers(line.substr(colon + 1));
    std::array<uint64_t, 12> values{};
    for (uint64_t& value : values) numbers >> value;
    drops[line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' '))] = values[3] + values[11];
  }
  for (unsigned p = 0; p < count(); ++p) {
    Port& port = ports_[p];
    tpacket_stats stats{};
    socklen_t size = sizeof stats;
    if (::getsockopt(port.fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size) == 0) dropped_ += stats.tp_drops;
    const bool carries = carrier(p);
    const uint64_t now = drops[port.name];
    if (carries && port.had_carrier && now > port.drops) dropped_ += now - port.drops;
    port.had_carrier = carries;
    port.drops = now;
  }
  return dropped_;
}

}  // namespace mrc::tb
