// SPDX-License-Identifier: Apache-2.0
#include "tb/dut/dut.hpp"

#include "pipeline/nic.hpp"

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
  bool inside(mrc_inside_t& to) override {
    nic_.inside(to);
    return true;
  }
  bool wave(const char*, bool) override { return false; }
  bool can_wave() const override { return false; }
  std::string name() const override { return "model"; }
  std::string version() const override { return {}; }

 private:
  Nic nic_;
};

}  // namespace

std::unique_ptr<Dut> make_model_dut(const Preset& preset) { return std::make_unique<ModelDut>(preset); }

}  // namespace mrc::tb
