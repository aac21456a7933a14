// SPDX-License-Identifier: Apache-2.0
#include "tb/compare/pin_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace mrc::tb {
namespace {

struct SingleBit {
  const char* pin;
  uint8_t mrc_pins_out::*member;
  const char *where, *block;
};
constexpr SingleBit kSingleBits[] = {
    {"awready", &mrc_pins_out::awready, "s_axil", "csr"},
    {"wready", &mrc_pins_out::wready, "s_axil", "csr"},
    {"bvalid", &mrc_pins_out::bvalid, "s_axil", "csr"},
    {"arready", &mrc_pins_out::arready, "s_axil", "csr"},
    {"rvalid", &mrc_pins_out::rvalid, "s_axil", "csr"},
    {"wqe_ready", &mrc_pins_out::wqe_ready, "wqe", "tx_segment"},
    {"cqe_valid", &mrc_pins_out::cqe_valid, "cqe", "cq_mux"},
    {"host_rd_valid", &mrc_pins_out::host_rd_valid, "host_rd", "tx_fetch"},
    {"host_wr_valid", &mrc_pins_out::host_wr_valid, "host_wr", "rx_place"},
};

}  // namespace

void PinRules::mask(mrc_pins_out& o) const {
  for (const SingleBit& s : kSingleBits) o.*s.member &= 1;
  o.tx_tvalid = static_cast<uint8_t>(o.tx_tvalid & planes_);
  o.tx_tlast = static_cast<uint8_t>(o.tx_tlast & planes_);
  o.bresp &= 3;
  o.rresp &= 3;
  o.cqe[MRC_CQE_WORDS - 1] &= ~kCqe;
  o.host_rd[MRC_RDREQ_WORDS - 1] &= ~kRdreq;
  o.host_wr_len = static_cast<uint8_t>(std::min<unsigned>(o.host_wr_len, host_bytes_));
  for (uint32_t& keep : o.tx_tkeep) keep &= keep_;
}

std::vector<PinRules::Stray> PinRules::list(const mrc_pins_out& o) const {
  std::vector<Stray> found;
  const auto look = [&](std::string pin, const std::string& last, const char* where, const char* block, uint64_t value,
                        uint64_t largest) {
    if ((value & ~largest) == 0) return;
    std::string text = fmt::format("pin {} has bits beyond {}", pin, last);
    found.push_back({std::move(pin), std::move(text), where, block, value, largest});
  };
  for (const SingleBit& s : kSingleBits) look(s.pin, "bit 0", s.where, s.block, o.*s.member, 1);
  if (o.bvalid) look("bresp", "bit 1", "s_axil", "csr", o.bresp, 3);
  if (o.rvalid) look("rresp", "bit 1", "s_axil", "csr", o.rresp, 3);
  const auto bit = [](unsigned bits) { return fmt::format("bit {}", bits - 1); };
  if (o.cqe_valid) look("cqe", bit(Cqe::kBits), "cqe", "cq_mux", o.cqe[MRC_CQE_WORDS - 1], uint32_t{~kCqe});
  if (o.host_rd_valid)
    look("host_rd", bit(Rdreq::kBits), "host_rd", "tx_fetch", o.host_rd[MRC_RDREQ_WORDS - 1], uint32_t{~kRdreq});
  if (o.host_wr_valid && o.host_wr_len > host_bytes_) {
    found.push_back({"host_wr_len",
                     fmt::format("pin host_wr_len says {} bytes, a line has {}", o.host_wr_len, host_bytes_), "host_wr",
                     "rx_place", o.host_wr_len, host_bytes_});
  }
  const std::string plane = fmt::format("plane {}", std::bit_width(planes_) - 1);
  look("tx_tvalid", plane, "tx", "tx_lane", o.tx_tvalid, planes_);
  look("tx_tlast", plane, "tx", "tx_lane", o.tx_tlast, planes_);
  const std::string byte = fmt::format("byte {}", std::bit_width(keep_) - 1);
  for (unsigned p = 0; planes_ >> p != 0; ++p) {
    if (o.tx_tvalid >> p & 1) look(fmt::format("tx_tkeep[{}]", p), byte, "tx", "tx_lane", o.tx_tkeep[p], keep_);
  }
  return found;
}

}  // namespace mrc::tb
