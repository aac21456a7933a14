// SPDX-License-Identifier: Apache-2.0
/// A device of preset tiny that is right, being the model, until it does what MRC_TEST_DEVICE says. MRC_TEST_DEVICE is
/// what, and, after colons, in which call and in which cycle:
///   exit, abort, segv, loop, throw : open, info, outputs, observe, step, close, atexit [: CYCLE]
///   abi:N  preset:NAME  no-preset  no-names  planes:N  core-words:N  info-size:N   what it says about itself
///   refuse  refuse-no-nul  refuse-control                                          why it does not open
///   null-observe[:CYCLE]  wild-observe[:CYCLE]                                     addresses of its streams
///   stray:PIN[:CYCLE]  ones[:CYCLE]  random[:CYCLE]  random-observe[:CYCLE]        its outputs
///   assertion:CYCLE                                                                fails in that cycle and later
///   wave                                                                           can write "waves": a line per call
///   slow:MILLISECONDS  stdout  fork                                                right, but ...
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "api/mrc_dut.h"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/nic.hpp"

namespace {

using namespace mrc;

constexpr const Preset& kPreset = *find_preset("tiny");

/// MRC_TEST_DEVICE.
struct Order {
  std::vector<std::string> words;
  Order() {
    const char* text = std::getenv("MRC_TEST_DEVICE");
    std::string rest = text ? text : "";
    for (std::size_t at; !rest.empty(); rest = at == std::string::npos ? "" : rest.substr(at + 1)) {
      at = rest.find(':');
      words.push_back(rest.substr(0, at));
    }
  }
  std::string word(std::size_t i) const { return i < words.size() ? words[i] : ""; }
  uint64_t number(std::size_t i) const {
    const std::string text = word(i);
    uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  bool is(const char* what) const { return word(0) == what; }
};

/// Does what is asked for in this call.
void misbehave(const Order& order, const char* call, uint64_t cycle) {
  if (order.word(1) != call || cycle != order.number(2)) return;
  if (order.is("exit")) std::exit(0);
  if (order.is("abort")) std::abort();
  if (order.is("segv")) std::raise(SIGSEGV);
  if (order.is("throw")) throw std::runtime_error("thrown by the test device");
  if (order.is("loop")) {
    for (;;) ::usleep(1000);
  }
}

}  // namespace

struct mrc_dut {
  Nic nic{kPreset};
  Order order;
  uint64_t cycle = 0, noise = 88172645463325252u;
  std::vector<uint32_t> core, lanes;
  std::FILE* waves = nullptr;

  uint64_t random() {
    noise ^= noise << 13;
    noise ^= noise >> 7;
    return noise ^= noise << 17;
  }
  void fill(void* to, std::size_t size) {
    auto* bytes = static_cast<uint8_t*>(to);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = order.is("ones") ? 0xff : static_cast<uint8_t>(random() >> 24);
  }
};

namespace {

void stray(const std::string& pin, mrc_pins_out& o) {
  struct {
    const char* name;
    uint8_t mrc_pins_out::*member;
  } const bits[] = {
      {"awready", &mrc_pins_out::awready},
      {"wready", &mrc_pins_out::wready},
      {"bvalid", &mrc_pins_out::bvalid},
      {"arready", &mrc_pins_out::arready},
      {"rvalid", &mrc_pins_out::rvalid},
      {"irq", &mrc_pins_out::irq},
      {"host_fail_ready", &mrc_pins_out::host_fail_ready},
      {"wqe_ready", &mrc_pins_out::wqe_ready},
      {"cqe_valid", &mrc_pins_out::cqe_valid},
      {"host_rd_valid", &mrc_pins_out::host_rd_valid},
      {"host_wr_valid", &mrc_pins_out::host_wr_valid},
      {"tx_tvalid", &mrc_pins_out::tx_tvalid},
      {"tx_tlast", &mrc_pins_out::tx_tlast},
  };
  for (const auto& b : bits) {
    if (pin == b.name) o.*b.member |= 0xfc;
  }
  if (pin == "bresp") o.bresp |= 0xfc;  // of what is valid only
  if (pin == "rresp") o.rresp |= 0xfc;
  if (pin == "host_wr_len") o.host_wr_len = 255;
  if (pin == "host_wr_last") o.host_wr_last |= 0xfc;
  if (pin == "host_wr_plane") o.host_wr_plane = static_cast<uint8_t>(kPreset.num_planes);
  if (pin == "host_wr_qp") o.host_wr_qp = static_cast<uint16_t>(kPreset.num_qps);
  if (pin == "cqe") o.cqe[MRC_CQE_WORDS - 1] |= 1u << 31;
  if (pin == "host_rd") o.host_rd[MRC_RDREQ_WORDS - 1] |= 1u << 31;
  if (pin == "tx_tkeep") {
    for (uint32_t& keep : o.tx_tkeep) keep |= 1u << 31;
  }
}

}  // namespace

extern "C" {

mrc_dut* mrc_dut_open(const mrc_dut_config* config, size_t) {
  const Order order;
  misbehave(order, "open", 0);
  if (order.is("refuse")) std::snprintf(config->error, config->error_size, "today is not its day");
  if (order.is("refuse-no-nul")) std::memset(config->error, 'x', config->error_size);
  if (order.is("refuse-control")) std::snprintf(config->error, config->error_size, "red \033[31m\a and \xff no more\n");
  if (order.word(0).starts_with("refuse")) return nullptr;
  if (order.is("stdout")) std::puts("words of the device on its standard output");
  if (order.is("fork") && ::fork() == 0) {
    ::sleep(1);
    ::_exit(0);
  }
  if (order.word(1) == "atexit") {
    std::atexit([] { misbehave(Order(), "atexit", 0); });
  }
  return new mrc_dut;
}

size_t mrc_dut_info(const mrc_dut* dut, mrc_dut_info_t* info, size_t struct_size) {
  const Order& order = dut->order;
  misbehave(order, "info", 0);
  static const std::string preset = order.is("preset") ? order.word(1) : kPreset.name;
  mrc_dut_info_t i{};
  i.abi_version = order.is("abi") ? static_cast<uint32_t>(order.number(1)) : MRC_DUT_ABI_VERSION;
  i.num_planes = order.is("planes") ? static_cast<uint32_t>(order.number(1)) : kPreset.num_planes;
  i.port_bytes = kPreset.port_bytes;
  i.host_bytes = kPreset.host_bytes;
  i.obs_core_words = order.is("core-words") ? static_cast<uint32_t>(order.number(1)) : kObsCoreWords;
  i.obs_lane_words = kObsLaneWords;
  i.has_wave = order.is("wave");
  i.name = order.is("no-names") ? nullptr : "test device";
  i.preset = order.is("no-preset") ? nullptr : preset.c_str();
  i.version = order.is("no-names") ? nullptr : "1";
  const size_t size = order.is("info-size") ? order.number(1) : sizeof i;
  std::memcpy(info, &i, struct_size < size ? struct_size : size < sizeof i ? size : sizeof i);
  return size;
}

void mrc_dut_outputs(mrc_dut* dut, mrc_pins_out* out) {
  const Order& order = dut->order;
  misbehave(order, "outputs", dut->cycle);
  dut->nic.outputs(*out);
  if (order.is("stray") && dut->cycle >= order.number(2)) stray(order.word(1), *out);
  if ((order.is("ones") || order.is("random")) && dut->cycle >= order.number(1)) dut->fill(out, sizeof *out);
}

void mrc_dut_step(mrc_dut* dut, const mrc_pins_in* in) {
  misbehave(dut->order, "step", dut->cycle);
  if (dut->order.is("slow")) ::usleep(static_cast<unsigned>(1000 * dut->order.number(1)));
  dut->nic.step(*in);
  ++dut->cycle;
}

void mrc_dut_observe(mrc_dut* dut, const uint32_t** core, const uint32_t** lanes) {
  const Order& order = dut->order;
  misbehave(order, "observe", dut->cycle);
  dut->nic.observe(*core, *lanes);
  const bool now = dut->cycle >= order.number(1);
  if (order.is("null-observe") && now) *core = *lanes = nullptr;
  if (order.is("wild-observe") && now) *core = *lanes = reinterpret_cast<const uint32_t*>(uintptr_t{64});
  if (order.is("random-observe") && now) {
    dut->core.resize(kObsCoreWords);
    dut->lanes.resize(kPreset.num_planes * kObsLaneWords);
    dut->fill(dut->core.data(), 4 * dut->core.size());
    dut->fill(dut->lanes.data(), 4 * dut->lanes.size());
    *core = dut->core.data();
    *lanes = dut->lanes.data();
  }
}

int mrc_dut_wave(mrc_dut* dut, const char* path, int on) {
  if (path && !dut->waves) dut->waves = std::fopen(path, "w");
  if (!dut->waves) return 1;
  std::fprintf(dut->waves, "%s in cycle %llu\n",
               on     ? "on"
               : path ? "pause"
                      : "closed",
               static_cast<unsigned long long>(dut->cycle));
  if (!path && !on) {
    std::fclose(dut->waves);
    dut->waves = nullptr;
  }
  return 0;
}

void mrc_dut_assertions(const mrc_dut* dut, mrc_dut_assertions_t* assertions, size_t struct_size) {
  mrc_dut_assertions_t a{};
  if (dut->order.is("assertion")) {
    a = {7, dut->cycle > dut->order.number(1), "NeverFive", "test.device", "five hundred cycles\n"};
  }
  std::memcpy(assertions, &a, struct_size < sizeof a ? struct_size : sizeof a);
}

void mrc_dut_close(mrc_dut* dut) {
  misbehave(dut->order, "close", 0);
  delete dut;
}

}  // extern "C"
