// SPDX-License-Identifier: Apache-2.0
/// How fast the model runs: two NICs back to back, both sending as fast as their ports take it.
/// nic_speed [preset] [cycles] [message bytes] [qps] [observe 0|1]
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tests/pipeline/nic_pair.hpp"

using namespace mrc;
using namespace mrc::test;

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "asic800";
  const Preset* preset = find_preset(name);
  if (preset == nullptr) {
    std::fprintf(stderr, "nic_speed: no preset '%s'\n", name);
    return 3;
  }
  const auto number = [&](int at, unsigned fallback) {
    return argc > at ? static_cast<unsigned>(std::strtoul(argv[at], nullptr, 0)) : fallback;
  };
  const unsigned cycles = number(2, 300'000), length = number(3, 32'768), qps = number(4, 16) % (preset->num_qps + 1);
  const bool observes = number(5, 0) != 0;

  NicPair pair(*preset);
  pair.set_up();
  for (unsigned q = 0; q < qps; ++q) pair.connect_qp(q);
  const uint32_t *core = nullptr, *lanes = nullptr;
  uint64_t done[2] = {}, beats = 0;
  unsigned next[2] = {};
  const auto start = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < cycles; ++i) {
    for (unsigned side = 0; side < 2; ++side) {
      Host& h = pair.host[side];
      while (h.wqes.size() < 2) {
        Wqe w;
        w.qp = static_cast<uint16_t>(next[side]++ % qps);
        w.rkey = (w.qp % preset->num_mrs) << 8;
        w.length = length;
        w.raddr = w.qp * 0x8000u % (h.mem.size() - length);
        h.wqes.push_back(w);
      }
      done[side] += h.cqes.size();
      h.cqes.clear();
      beats += static_cast<unsigned>(__builtin_popcount(h.out.tx_tvalid));
      if (observes) h.nic.observe(core, lanes);
    }
    pair.step();
  }
  const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%s: %.0f NIC cycles/s (host included), %.1f %% of the port beats used\n", name, 2.0 * cycles / s,
              100.0 * static_cast<double>(beats) / (2.0 * cycles * preset->num_planes));
  for (unsigned side = 0; side < 2; ++side) {
    std::printf("  side %u: %llu messages, %.1f B/cycle, rtx %u dup %u ovf %u\n", side,
                static_cast<unsigned long long>(done[side]), static_cast<double>(done[side]) * length / cycles,
                pair.read(side, csr::kCntRtx), pair.read(side, csr::kCntDup), pair.read(side, csr::kCntOvf0));
  }
  return 0;
}
