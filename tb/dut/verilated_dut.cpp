// SPDX-License-Identifier: Apache-2.0
/// The Verilated RTL behind the C ABI of mrc_dut.h. Compiled once per preset, with
/// MRC_TOP (class), MRC_TOP_HEADER (its header), MRC_PRESET_NAME. With MRC_INSIDE, what Verilator puts before the names
/// of the core's instances, and MRC_INSIDE_HEADER, the device shows what tb/dut/inside.vlt keeps.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "api/mrc_dut.h"
#include "assertions.h"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "tb/dut/verilated_hooks.h"
#include "verilated.h"
#if VM_COVERAGE
#include <unistd.h>

#include <atomic>

#include "verilated_cov.h"
#endif
#if VM_TRACE
#include "verilated_fst_c.h"
#endif
#include MRC_TOP_HEADER
#ifdef MRC_INSIDE
#include MRC_INSIDE_HEADER
#define MRC_JOINED(a, b) a##b
#define MRC_JOIN(a, b) MRC_JOINED(a, b)
#define MRC_SIGNAL(name) MRC_JOIN(MRC_INSIDE, name)
#endif

namespace {

constexpr const mrc::Preset& kPreset = *mrc::find_preset(MRC_PRESET_NAME);
constexpr unsigned kPlanes = kPreset.num_planes;
constexpr unsigned kPortBytes = kPreset.port_bytes;
constexpr unsigned kHostBytes = kPreset.host_bytes;
constexpr unsigned kKeepBytes = kPortBytes / 8;

/// A port as bytes: Verilator keeps every packed vector in little-endian words, lowest bits first.
template <class Port>
const uint8_t* bytes_of(const Port& port) {
  if constexpr (std::is_integral_v<Port>) {
    return reinterpret_cast<const uint8_t*>(&port);
  } else {
    return reinterpret_cast<const uint8_t*>(&port[0]);
  }
}
template <class Port>
uint8_t* bytes_of(Port& port) {
  return const_cast<uint8_t*>(bytes_of(std::as_const(port)));
}
template <class Port>
void put(Port& port, const void* from, std::size_t size) {
  std::memcpy(bytes_of(port), from, size);
}

/// What failed in one device.
struct Assertions {
  uint32_t failed = 0;
  std::string name, place, text;  ///< of the first one
};
/// Those of the device that is evaluated now; a thread evaluates one at a time.
thread_local Assertions* t_assertions = nullptr;
/// What Verilator has said last of one that failed.
thread_local std::string t_said;

constexpr std::string_view kAssertionFailed = "Assertion failed in ";

/// "[99] %Error: rtl/lib/mrc_fifo.sv:9: Assertion failed in mrc_nic.u_list.NeverFull: sentence".
void note_failure() {
  if (!t_assertions || t_assertions->failed++ != 0) return;
  const std::string_view said = t_said;
  const auto begin = said.find(kAssertionFailed);
  if (begin == said.npos) {
    t_assertions->text = said;
    return;
  }
  std::string_view place = said.substr(begin + kAssertionFailed.size());
  const auto end = place.find(": ");
  std::string_view text = end == place.npos ? std::string_view() : place.substr(end + 2);
  while (text.ends_with('\n')) text.remove_suffix(1);
  place = place.substr(0, end);
  const auto dot = place.rfind('.');
  t_assertions->text = text;
  t_assertions->name = dot == place.npos ? place : place.substr(dot + 1);
  t_assertions->place = dot == place.npos ? std::string_view() : place.substr(0, dot);
}

template <class Top>
class Dut {
 public:
  explicit Dut(uint64_t seed) {
    context_ = std::make_unique<VerilatedContext>();
#ifdef MRC_RANDOM_START
    context_->randReset(2);  // what starts undefined is random, by the seed
#else
    context_->randReset(0);
#endif
    context_->randSeed(static_cast<int>(seed & 0x7fffffff));
#if VM_TRACE
    context_->traceEverOn(true);
#endif
    top_ = std::make_unique<Top>(context_.get(), "mrc_nic");
    top_->clk_i = 0;
    top_->rst_ni = 1;
    eval();
    top_->rst_ni = 0;  // an edge: registers are as after reset before there is a clock
    eval();
  }
  ~Dut() {
#if VM_TRACE
    if (wave_) wave_->close();
#endif
    Verilated::threadContextp(context_.get());  // it is where the model takes itself off a list
    top_->final();
#if VM_COVERAGE
    // A process may have several devices, one after the other.
    static std::atomic<unsigned> count{0};
    if (const char* folder = std::getenv("MRC_COVERAGE_DIR")) {
      const auto name = std::to_string(::getpid()) + "-" + std::to_string(count++) + ".dat";
      context_->coveragep()->write((std::string(folder) + "/" + name).c_str());
    }
#endif
  }

  void outputs(mrc_pins_out& o) const {
    const Top& t = *top_;
    o.awready = t.s_axil_awready_o;
    o.wready = t.s_axil_wready_o;
    o.bvalid = t.s_axil_bvalid_o;
    o.bresp = t.s_axil_bresp_o;
    o.arready = t.s_axil_arready_o;
    o.rvalid = t.s_axil_rvalid_o;
    o.rresp = t.s_axil_rresp_o;
    o.rdata = t.s_axil_rdata_o;
    o.irq = t.irq_o;
    o.wqe_ready = t.wqe_ready_o;
    o.host_fail_ready = t.host_fail_ready_o;
    o.cqe_valid = t.cqe_valid_o;
    if (o.cqe_valid) std::memcpy(o.cqe, bytes_of(t.cqe_o), sizeof o.cqe);
    o.host_rd_valid = t.host_rd_valid_o;
    if (o.host_rd_valid) std::memcpy(o.host_rd, bytes_of(t.host_rd_o), sizeof o.host_rd);
    o.host_wr_valid = t.host_wr_valid_o;
    if (o.host_wr_valid) {
      o.host_wr_addr = t.host_wr_addr_o;
      o.host_wr_len = t.host_wr_len_o;
      o.host_wr_last = t.host_wr_last_o;
      o.host_wr_plane = t.host_wr_plane_o;
      o.host_wr_qp = t.host_wr_qp_o;
      std::memcpy(o.host_wr_data, bytes_of(t.host_wr_data_o), kHostBytes);
    }
    o.tx_tvalid = static_cast<uint8_t>(t.tx_tvalid_o);
    o.tx_tlast = static_cast<uint8_t>(t.tx_tlast_o);
    for (unsigned p = 0; p < kPlanes; ++p) {
      if (o.tx_tvalid >> p & 1) {
        uint32_t keep = 0;
        std::memcpy(&keep, bytes_of(t.tx_tkeep_o) + p * kKeepBytes, kKeepBytes);
        o.tx_tkeep[p] = keep;
        std::memcpy(o.tx_tdata[p], bytes_of(t.tx_tdata_o) + p * kPortBytes, kPortBytes);
      }
    }
  }

  void step(const mrc_pins_in& i) {
    Top& t = *top_;
    t.rst_ni = i.rst_n;
    t.bug_i = i.bug;
    t.link_up_i = i.link_up;
    t.s_axil_awvalid_i = i.awvalid;
    t.s_axil_awaddr_i = i.awaddr;
    t.s_axil_wvalid_i = i.wvalid;
    t.s_axil_wdata_i = i.wdata;
    t.s_axil_wstrb_i = i.wstrb;
    t.s_axil_bready_i = i.bready;
    t.s_axil_arvalid_i = i.arvalid;
    t.s_axil_araddr_i = i.araddr;
    t.s_axil_rready_i = i.rready;
    t.wqe_valid_i = i.wqe_valid;
    if (i.wqe_valid) put(t.wqe_i, i.wqe, sizeof i.wqe);
    t.cqe_ready_i = i.cqe_ready;
    t.host_rd_ready_i = i.host_rd_ready;
    t.host_rsp_valid_i = i.host_rsp_valid;
    if (i.host_rsp_valid) {
      t.host_rsp_plane_i = i.host_rsp_plane;
      t.host_rsp_err_i = i.host_rsp_err;
      put(t.host_rsp_data_i, i.host_rsp_data, kHostBytes);
    }
    t.host_fail_valid_i = i.host_fail_valid;
    if (i.host_fail_valid) put(t.host_fail_i, i.host_fail, sizeof i.host_fail);
    t.host_wr_ready_i = i.host_wr_ready;
    t.tx_tready_i = i.tx_tready;
    t.rx_tvalid_i = i.rx_tvalid;
    t.rx_tlast_i = i.rx_tlast;
    t.rx_tuser_i = i.rx_tuser;
    for (unsigned p = 0; p < kPlanes; ++p) {
      if (i.rx_tvalid >> p & 1) {
        std::memcpy(bytes_of(t.rx_tkeep_i) + p * kKeepBytes, &i.rx_tkeep[p], kKeepBytes);
        std::memcpy(bytes_of(t.rx_tdata_i) + p * kPortBytes, i.rx_tdata[p], kPortBytes);
      }
    }
#ifdef MRC_INSIDE
    look();
#endif
    t.clk_i = 1;
    eval();
#if VM_TRACE
    if (wave_on_) wave_->dump(time_);
#endif
    t.clk_i = 0;
    eval();
#if VM_TRACE
    if (wave_on_) wave_->dump(time_ + kPreset.clock_ps / 2);
#endif
    time_ += kPreset.clock_ps;
  }

  void observe(const uint32_t*& core, const uint32_t*& lanes) const {
    core = reinterpret_cast<const uint32_t*>(bytes_of(top_->obs_core_o));
    lanes = reinterpret_cast<const uint32_t*>(bytes_of(top_->obs_lane_o));
  }

#ifdef MRC_INSIDE
  void inside(mrc_inside_t& to) const {
    // state_e of rtl/cc/mrc_cc_nscc_pkg.sv; tests/tb/inside_test.cpp holds all of it against the model.
    constexpr unsigned kIdle = 0, kCount = 2, kStore = 19;
    const auto& root = *top_->rootp;
    const unsigned state = root.MRC_SIGNAL(u_cc_nscc__DOT__state_q);
    to = written_;
    to.cc_dest = root.MRC_SIGNAL(u_cc_nscc__DOT__cc_q);
    if (written_.cc_state == MRC_CC_BEGUN) return;
    to.cc_state = state == kIdle    ? MRC_CC_IDLE
                  : state == kCount ? MRC_CC_TAKEN
                  : state == kStore ? MRC_CC_DONE
                                    : MRC_CC_WORKS;
    if (state == kCount) std::memcpy(to.cc_event, bytes_of(root.MRC_SIGNAL(u_cc_nscc__DOT__e_q)), sizeof to.cc_event);
    if (state == kStore) to.cc_window = root.MRC_SIGNAL(u_cc_nscc__DOT__cwin_wdata);
  }
#endif

  const Assertions& assertions() const { return assertions_; }

  bool wave([[maybe_unused]] const char* path, [[maybe_unused]] bool on) {
#if VM_TRACE
    if (!path && !on) {
      if (wave_) wave_->close();
      wave_.reset();
    } else if (!wave_ && path) {
      wave_ = std::make_unique<VerilatedFstC>();
      top_->trace(wave_.get(), 99);
      wave_->open(path);
      if (!wave_->isOpen()) {
        wave_.reset();
        return false;
      }
    }
    wave_on_ = on && wave_;
    return true;
#else
    return false;
#endif
  }

 private:
#ifdef MRC_INSIDE
  /// What this cycle writes shows in the next one. It follows from registers alone, so it stands before the inputs do.
  void look() {
    const auto& root = *top_->rootp;
    written_ = {};
    if (root.MRC_SIGNAL(u_cc_nscc__DOT__init_end)) {
      written_.cc_state = MRC_CC_BEGUN;
      written_.cc_window = root.MRC_SIGNAL(u_cc_nscc__DOT__cwin_wdata);
    }
    written_.ev_write = root.MRC_SIGNAL(u_tx_path__DOT__evst_we);
    if (written_.ev_write == 0) return;
    written_.ev_row = root.MRC_SIGNAL(u_tx_path__DOT__evst_waddr);
    written_.ev_states = root.MRC_SIGNAL(u_tx_path__DOT__evst_wdata);
  }

#endif
  void eval() {
    t_assertions = &assertions_;
    Verilated::threadContextp(context_.get());  // an assertion that fails is counted there; else in the newest one
    top_->eval();
  }

  Assertions assertions_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Top> top_;
  uint64_t time_ = 0;
#ifdef MRC_INSIDE
  mrc_inside_t written_{};  ///< what the cycle before has written
#endif
#if VM_TRACE
  std::unique_ptr<VerilatedFstC> wave_;
  bool wave_on_ = false;
#endif
};

}  // namespace

/// Verilator's runtime prints with it. What it says of an assertion that failed is for the bench; all else for the
/// screen.
int mrc_verilated_print(const char* format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::string text(static_cast<std::size_t>(std::max(0, std::vsnprintf(nullptr, 0, format, again))), 0);
  va_end(again);
  const int size = std::vsnprintf(text.data(), text.size() + 1, format, arguments);
  va_end(arguments);
  if (text.find(kAssertionFailed) != text.npos) {
    t_said = std::move(text);
  } else {
    std::fputs(text.c_str(), stdout);
  }
  return size;
}

/// Verilator's runtime calls it after it has said which assertion failed. The run goes on: the bench ends it.
void vl_stop(const char*, int, const char*) { note_failure(); }

#define MRC_EXPORT __attribute__((visibility("default")))

struct mrc_dut {
  Dut<MRC_TOP> impl;
};

extern "C" {

MRC_EXPORT mrc_dut* mrc_dut_open(const mrc_dut_config* config, size_t struct_size) {
  const auto refuse = [&](const std::string& why) -> mrc_dut* {
    if (struct_size >= sizeof(mrc_dut_config) && config->error && config->error_size > 0) {
      std::snprintf(config->error, config->error_size, "%s", why.c_str());
    }
    return nullptr;
  };
  if (struct_size != sizeof(mrc_dut_config) || config->abi_version != MRC_DUT_ABI_VERSION ||
      config->pins_in_size != sizeof(mrc_pins_in) || config->pins_out_size != sizeof(mrc_pins_out)) {
    return refuse("bench and device were built from different versions of mrc_dut.h");
  }
  if (std::strcmp(config->preset, MRC_PRESET_NAME) != 0) {
    return refuse(std::string("the device is preset " MRC_PRESET_NAME ", not ") + config->preset);
  }
  return new mrc_dut{Dut<MRC_TOP>(config->seed)};
}

MRC_EXPORT size_t mrc_dut_info(const mrc_dut*, mrc_dut_info_t* info, size_t struct_size) {
  mrc_dut_info_t i{};
  i.abi_version = MRC_DUT_ABI_VERSION;
  i.num_planes = kPlanes;
  i.port_bytes = kPortBytes;
  i.host_bytes = kHostBytes;
  i.obs_core_words = mrc::kObsCoreWords;
  i.obs_lane_words = mrc::kObsLaneWords;
  i.has_wave = VM_TRACE;
  i.name = "rtl";
  i.preset = MRC_PRESET_NAME;
  static const std::string version = std::string(Verilated::productName()) + " " + Verilated::productVersion();
  i.version = version.c_str();
  std::memcpy(info, &i, struct_size < sizeof i ? struct_size : sizeof i);
  return sizeof i;
}

MRC_EXPORT void mrc_dut_outputs(mrc_dut* dut, mrc_pins_out* out) { dut->impl.outputs(*out); }
MRC_EXPORT void mrc_dut_step(mrc_dut* dut, const mrc_pins_in* in) { dut->impl.step(*in); }
MRC_EXPORT void mrc_dut_observe(mrc_dut* dut, const uint32_t** core, const uint32_t** lanes) {
  dut->impl.observe(*core, *lanes);
}
#ifdef MRC_INSIDE
MRC_EXPORT void mrc_dut_inside(mrc_dut* dut, mrc_inside_t* inside, size_t struct_size) {
  mrc_inside_t i{};
  dut->impl.inside(i);
  std::memcpy(inside, &i, struct_size < sizeof i ? struct_size : sizeof i);
}
#endif
MRC_EXPORT int mrc_dut_wave(mrc_dut* dut, const char* path, int on) { return dut->impl.wave(path, on != 0) ? 0 : 1; }
MRC_EXPORT void mrc_dut_assertions(const mrc_dut* dut, mrc_dut_assertions_t* assertions, size_t struct_size) {
  const Assertions& of = dut->impl.assertions();
  const mrc_dut_assertions_t a{MRC_ASSERTIONS, of.failed, of.name.c_str(), of.place.c_str(), of.text.c_str()};
  std::memcpy(assertions, &a, struct_size < sizeof a ? struct_size : sizeof a);
}
MRC_EXPORT void mrc_dut_close(mrc_dut* dut) { delete dut; }

}  // extern "C"
