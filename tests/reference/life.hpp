// SPDX-License-Identifier: Apache-2.0
/// The life of one NIC with one QP, as records: what it sends, hears, writes and completes. Everything that happens has
/// a name, so that a test changes one thing and the rest stays right.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "log/record.hpp"
#include "reference/profile.hpp"
#include "wire/packet.hpp"

namespace mrc::test {

struct Happening {
  std::string name;
  log::Record record;
};

/// One change. A name that ends in * stands for all that begin so.
struct Change {
  std::string name;
  std::function<void(wire::Packet&)> packet{};  ///< before it is encoded, with a right ICRC
  std::function<void(log::Record&)> record{};
  bool drop = false, twice = false;
  std::vector<log::Body> before{};  ///< happen as well, at the same time
};

/// Addresses, numbers and sizes of that life.
inline constexpr uint32_t kQp = 16, kPeerQp = 20, kSqPsn = 0xFFFFF0, kRqPsn = 500, kMtu = 256;
inline constexpr log::Ip kOwn{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
inline constexpr log::Ip kPeer{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};

/// EV n of the QP's eight; its plane is n % 2.
constexpr uint32_t ev(unsigned n) { return (0x1000u + n) * 0x10000u + 0x51u + n; }

log::Qp life_qp();
ref::Profile life_profile();
/// `captured`: as a capture at its ports would tell it: frames alone, QP and regions from captured_profile().
std::vector<Happening> life(const std::vector<Change>& changes = {}, bool captured = false);
ref::Profile captured_profile();

}  // namespace mrc::test
