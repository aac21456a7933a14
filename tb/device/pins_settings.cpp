// SPDX-License-Identifier: Apache-2.0
#include "tb/device/pins_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "gen/csr.hpp"
#include "input/json.hpp"
#include "reference/profile.hpp"

namespace mrc::tb {
namespace {
using input::Json;

[[noreturn]] void refuse(const std::string& sentence) { throw Refusal(sentence, true); }

/// Registers that software sets once, before traffic; the others are of calls (addresses, tables) or not settings:
/// nobody behind a device is interrupted.
bool is_setting(const csr::Register& r) {
  if (r.access != csr::Access::Rw || r.count != 1) return false;
  constexpr std::string_view kOfCalls[] = {"MAC_LO", "MAC_HI",  "IP0",     "IP1",    "IP2",     "IP3",
                                           "QP_SEL", "QP_ATTR", "TBL_CMD", "EVP_EV", "EVP_CMD", "IRQ_ENABLE"};
  return std::find(std::begin(kOfCalls), std::end(kOfCalls), std::string_view(r.name)) == std::end(kOfCalls);
}

/// Does a judge's profile have it? The others change nothing that it judges.
bool is_judged(std::string_view name) {
  const auto all = ref::settings();
  return std::any_of(all.begin(), all.end(), [&](const ref::Setting& s) { return name == s.name; });
}

void check_width(const std::string& name, uint64_t value, unsigned width) {
  const uint64_t max = width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  if (value > max) refuse(fmt::format("setting {} is at most {}, not {}.", name, max, value));
}

bool set_register(PinsSettings& to, const std::string& name, uint64_t value) {
  for (const csr::Register& r : csr::kRegisters) {
    if (!is_setting(r)) continue;
    const auto offset = static_cast<uint16_t>(r.offset);
    if (name == r.name && r.fields.empty()) {
      check_width(name, value, 32);
      to.registers[offset] = static_cast<uint32_t>(value);
      return true;
    }
    for (const csr::Field& f : r.fields) {
      if (name != std::string(r.name) + "." + f.name) continue;
      check_width(name, value, f.width);
      to.registers[offset] = f.set(to.get(r.offset, r.reset), static_cast<uint32_t>(value));
      return true;
    }
  }
  return false;
}

bool set_controller(PinsSettings& to, const std::string& name, uint64_t value) {
  for (const FieldInfo& f : csr::TblCcProfile::kFields) {
    if (name != std::string("CC_PROFILE.") + f.name || std::string_view(f.name).starts_with("rsvd")) continue;
    check_width(name, value, f.width);
    to.controller.push_back({f.lsb, f.width, value});
    return true;
  }
  return false;
}

bool set_qp(QpConfig& qp, const std::string& name, uint64_t value, const Preset& preset) {
  const auto upto = [&](uint64_t max) {
    if (value > max) refuse(fmt::format("setting {} is at most {}, not {}.", name, max, value));
    return static_cast<uint32_t>(value);
  };
  if (name == "QP_CTX.trim_nack") {
    qp.trim_nack = upto(1) != 0;
  } else if (name == "QP_CTX.svc_time") {
    qp.svc_time = upto(1) != 0;
  } else if (name == "QP_CTX.dyn_mpr") {
    qp.dynamic_mpr = upto(1) != 0;
  } else if (name == "QP_CTX.ts") {
    qp.time_stamps = upto(1) != 0;
  } else if (name == "QP_CTX.cc") {
    qp.controlled = upto(1) != 0;
  } else if (name == "QP_CTX.msn") {
    qp.msn = static_cast<uint16_t>(upto(0xffff));
  } else if (name == "QP_CTX.rqmsn") {
    qp.rqmsn = static_cast<uint16_t>(upto(0xffff));
  } else if (name == "QP_CTX.timeout") {
    qp.timeout = upto(24);
  } else if (name == "QP_CTX.retry_linear") {
    qp.retry_linear = upto(7);
  } else if (name == "QP_CTX.retry_exp") {
    qp.retry_exp = upto(25);
  } else if (name == "QP_CTX.max_wimm") {
    qp.max_wimm = upto(preset.max_wimm);
  } else if (name == "QP_CTX.max_wimm_dest") {
    qp.max_wimm_dest = upto(preset.max_wimm);
  } else if (name == "QP_CTX.mpr") {
    qp.mpr = std::max(1u, upto(preset.max_mpr / 128));
  } else if (name == "QP_CTX.mpr_dest") {
    qp.mpr_dest = std::max(1u, upto(preset.max_mpr / 128));
  } else {
    return false;
  }
  return true;
}

}  // namespace

uint32_t PinsSettings::get(uint32_t offset, uint32_t reset) const {
  const auto found = registers.find(static_cast<uint16_t>(offset));
  return found == registers.end() ? reset : found->second;
}

void PinsSettings::apply(std::array<uint32_t, 16>& row) const {
  for (const Bits& b : controller) {
    for (unsigned i = 0; i < b.width; ++i) {
      uint32_t& word = row[(b.lsb + i) / 32];
      const uint32_t bit = 1u << ((b.lsb + i) % 32);
      word = (b.value >> i & 1) != 0 ? word | bit : word & ~bit;
    }
  }
}

PinsSettings read_settings(const std::vector<std::pair<std::string, uint64_t>>& settings, const Preset& preset) {
  PinsSettings out;
  const unsigned max_mpr = preset.max_mpr / 128;
  out.qp.mpr = std::min(out.qp.mpr, max_mpr);
  out.qp.mpr_dest = std::min(out.qp.mpr_dest, max_mpr);
  out.qp.max_wimm = std::min(out.qp.max_wimm, preset.max_wimm);
  out.qp.max_wimm_dest = std::min(out.qp.max_wimm_dest, preset.max_wimm);
  for (const auto& [name, value] : settings) {
    if (!set_register(out, name, value) && !set_controller(out, name, value) && !set_qp(out.qp, name, value, preset)) {
      refuse(fmt::format("this NIC has no setting {}.", name));
    }
  }
  return out;
}

std::string profile_json(const std::string& name, unsigned planes, const Preset& preset,
                         const std::vector<std::pair<std::string, uint64_t>>& settings, bool silent_drops,
                         const std::vector<const char*>& shows) {
  Json out;
  out["name"] = name;
  out["planes"] = planes;
  out["port_gbps"] = preset.port_gbps;
  out["take_ps"] = kTakeTime;
  out["answer_ps"] = kAnswerTime;
  out["skew_ps"] = 0;
  out["silent_drops"] = silent_drops;
  out["shows"] = Json::array();
  for (const char* kind : shows) out["shows"].push_back(kind);
  auto& of = out["settings"] = Json::object();
  for (const auto& [key, value] : settings) {
    if (is_judged(key)) of[key] = value;
  }
  return out.dump();
}

}  // namespace mrc::tb
