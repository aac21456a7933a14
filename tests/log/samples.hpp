// SPDX-License-Identifier: Apache-2.0
/// Records of every kind with no field at its default, and files made by hand.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <string>
#include <vector>

#include "log/format.hpp"
#include "log/record.hpp"

namespace mrc::log {

inline std::vector<Record> samples() {
  Frame cut{true, 3, kCut | kFcsBad, 2'000'400, 7, 4210, 12, 2, {1, 2, 3, 0xff}, {1, 2, 0x123456789abcdef0}};
  Frame came{false, 63, 0, 500, 0, 64, 0, 0, std::vector<uint8_t>(64, 0xa5), {}};
  Frame odd = came;  // nothing says that such a frame makes no sense
  odd.redacted.hash = 5;
  Qp qp;
  qp.qp = 0x100003;
  qp.peer_qp = 0xffffff;
  qp.state = QpState::Rts;
  qp.dest = 9;
  qp.mtu = 1024;
  qp.sq_psn = 0xfffff0;
  qp.rq_psn = 5;
  qp.msn = 0xfffe;
  qp.rqmsn = 3;
  qp.mpr = 4;
  qp.mpr_dest = 2;
  qp.dynamic_mpr = true;
  qp.max_wimm = 31;
  qp.max_wimm_dest = 30;
  qp.timeout = 14;
  qp.retry_linear = 1;
  qp.retry_exp = 25;
  qp.trim_nack = false;
  qp.svc_time = qp.time_stamps = qp.controlled = true;
  qp.pkey = 0x8001;
  qp.encap = 2;
  qp.own_ip = {0xfd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  qp.peer_ip.fill(0xee);
  qp.evs = {1, 0x80000000, ~0u};
  qp.denied = {2, 0};
  qp.window = 5;
  qp.own_class = true;
  qp.dscp_data = 1;
  qp.dscp_rtx = 63;
  qp.ev_planes = {0, 1, 7};
  qp.backup = 1;
  return {
      {0, 0, Device{"dut", R"({"planes":4})"}},
      {1, 0, Device{"\xc3\xa4 peer", ""}},
      {0, 1'000'000, Port{5, false}},
      {0, 2'000'000, cut},
      {1, 1'999'000, came},
      {1, 1'999'001, odd},
      {0, 2'000'001, qp},
      {1, kNever, Qp{}},
      {0, 3, Mr{0x1234, false, false, ~uint64_t{0}, 4096, 0x1000}},
      {0, 4, Host{HostOp::Write, 0xdeadbeef, 128, 7, 1, {9, 8, 7}, 0}},
      {0, 5, Host{HostOp::ReadDone, 1, 65536, ~uint64_t{0}, 0, {}, 77}},
      {0, 6, Post{3, 1ull << 40, 2, 3, 1ull << 31, 4, true, 5}},
      {0, 7, PostReceive{3, 1000}},
      {0, 8, Cqe{3, true, Status::Other, 1, 2, 3, 4, 5}},
      {0, 9, Event{EventKind::Qp, 3, {1, 2, 3, 4, 5, ~uint64_t{0}}}},
      {0, 10, Until{66}},
      {0, 11, Gap{2, 1'000'000, 3, "the capturing host dropped packets"}},
      {0, 12, Counter{"silent_drops", 1}},
      {0, 13, Note{"hello"}},
      {0, 14, End{true, "stopped"}},
  };
}

inline void put_u32(std::string& file, std::size_t at, uint64_t value) {
  for (unsigned i = 0; i < 4; ++i) file[at + i] = static_cast<char>(value >> (8 * i));
}

/// The CRC-32 of the first header.
inline void mend_header(std::string& file) {
  put_u32(file, 12, crc32(0, reinterpret_cast<const Bytef*>(file.data()), 12));
}

/// A part with one block of these bytes, whatever they are, and no end.
inline std::string file_with_block(const std::string& plain, uint32_t records, uint8_t minor) {
  std::string file(kMagic.begin(), kMagic.end());
  file += std::string{'\1', '\0', static_cast<char>(minor), '\0', '\0', '\0', '\0', '\0'};
  mend_header(file);
  std::string stored(ZSTD_compressBound(plain.size()), '\0');
  stored.resize(ZSTD_compress(stored.data(), stored.size(), plain.data(), plain.size(), 1));
  std::string block(kBlockHeader, '\0');
  put_u32(block, 0, kRecords);
  put_u32(block, 4, stored.size());
  put_u32(block, 8, plain.size());
  put_u32(block, 12, records);
  uLong crc = crc32(0, reinterpret_cast<const Bytef*>(block.data()), 16);
  crc = crc32(crc, reinterpret_cast<const Bytef*>(stored.data()), static_cast<uInt>(stored.size()));
  put_u32(block, 16, crc);
  return file + block + stored;
}

}  // namespace mrc::log
