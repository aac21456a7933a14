// SPDX-License-Identifier: Apache-2.0
#include "tb/dut.hpp"

#include <dlfcn.h>

#include <vector>

#include "gen/streams.hpp"
#include "pipeline/nic.hpp"
#include "tb/mrc_dut.h"

namespace mrc::tb {
namespace {

class ModelDut final : public Dut {
 public:
  explicit ModelDut(const Preset& preset) : nic_(preset) {}
  void outputs(mrc_pins_out& out) override { nic_.outputs(out); }
  void step(const mrc_pins_in& in) override { nic_.step(in); }
  bool observe(const uint32_t*& core, const uint32_t*& lanes) override {
    nic_.observe(core, lanes);
    return true;
  }
  bool wave(const char*, bool) override { return false; }
  bool can_wave() const override { return false; }
  std::string name() const override { return "model"; }
  std::string version() const override { return {}; }

 private:
  Nic nic_;
};

class SharedDut final : public Dut {
 public:
  ~SharedDut() override {
    if (handle_) close_(handle_);
    // The object stays loaded: simulators register things at exit.
  }

  static std::unique_ptr<Dut> open(const std::string& path, const Preset& preset, uint64_t seed, std::string& error) {
    auto dut = std::make_unique<SharedDut>();
    void* lib = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
      const char* why = dlerror();
      error = why ? why : path + " cannot be loaded";
      return nullptr;
    }
    bool missing = false;
    const auto find = [&](auto& function, const char* symbol, bool required) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(lib, symbol));
      if (!function && required && !missing) {
        missing = true;
        error = path + " has no function " + symbol;
      }
    };
    decltype(&mrc_dut_open) open_function = nullptr;
    decltype(&mrc_dut_info) info_function = nullptr;
    find(open_function, "mrc_dut_open", true);
    find(info_function, "mrc_dut_info", true);
    find(dut->outputs_, "mrc_dut_outputs", true);
    find(dut->step_, "mrc_dut_step", true);
    find(dut->close_, "mrc_dut_close", true);
    find(dut->observe_, "mrc_dut_observe", false);
    find(dut->wave_, "mrc_dut_wave", false);
    if (missing) return nullptr;

    char text[256] = "no reason given";
    mrc_dut_config config{};
    config.abi_version = MRC_DUT_ABI_VERSION;
    config.pins_in_size = sizeof(mrc_pins_in);
    config.pins_out_size = sizeof(mrc_pins_out);
    config.preset = preset.name;
    config.seed = seed;
    config.error = text;
    config.error_size = sizeof text;
    dut->handle_ = open_function(&config, sizeof config);
    if (!dut->handle_) {
      error = path + " refuses: " + text;
      return nullptr;
    }
    mrc_dut_info_t info{};
    info_function(dut->handle_, &info, sizeof info);
    if (info.num_planes != preset.num_planes || info.port_bytes != preset.port_bytes ||
        info.host_bytes != preset.host_bytes ||
        (info.obs_core_words != 0 && (info.obs_core_words != kObsCoreWords || info.obs_lane_words != kObsLaneWords))) {
      error = path + " was built for other parameters than preset " + preset.name;
      return nullptr;
    }
    if (info.obs_core_words == 0) dut->observe_ = nullptr;
    dut->has_wave_ = info.has_wave != 0 && dut->wave_;
    dut->name_ = info.name ? info.name : path;
    dut->version_ = info.version ? info.version : "";
    return dut;
  }

  void outputs(mrc_pins_out& out) override { outputs_(handle_, &out); }
  void step(const mrc_pins_in& in) override { step_(handle_, &in); }
  bool observe(const uint32_t*& core, const uint32_t*& lanes) override {
    if (!observe_) return false;
    observe_(handle_, &core, &lanes);
    return true;
  }
  bool wave(const char* path, bool on) override { return has_wave_ && wave_(handle_, path, on) == 0; }
  bool can_wave() const override { return has_wave_; }
  std::string name() const override { return name_; }
  std::string version() const override { return version_; }

 private:
  mrc_dut* handle_ = nullptr;
  decltype(&mrc_dut_outputs) outputs_ = nullptr;
  decltype(&mrc_dut_step) step_ = nullptr;
  decltype(&mrc_dut_observe) observe_ = nullptr;
  decltype(&mrc_dut_wave) wave_ = nullptr;
  decltype(&mrc_dut_close) close_ = nullptr;
  bool has_wave_ = false;
  std::string name_, version_;
};

}  // namespace

std::unique_ptr<Dut> make_model_dut(const Preset& preset) { return std::make_unique<ModelDut>(preset); }

std::unique_ptr<Dut> open_dut(const std::string& path, const Preset& preset, uint64_t seed, std::string& error) {
  return SharedDut::open(path, preset, seed, error);
}

}  // namespace mrc::tb
