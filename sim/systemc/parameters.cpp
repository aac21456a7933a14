// SPDX-License-Identifier: Apache-2.0
#include "sim/systemc/parameters.hpp"

#include <array>
#include <cmath>
#include <span>

#include "sim/systemc/report.hpp"
#include "util/round.hpp"

namespace mrc::systemc {
namespace {

template <class Config>
struct Parameter {
  const char* name;
  double least, most;
  bool whole;
  void (*set)(Config&, double);
  double (*get)(const Config&);
};

constexpr double kMostNs = 1e9, kMostBytes = 1e12, kMostGbps = 1e6;

#define MRC_PARAMETER(type, name, least, most, whole, member, unit)                                              \
  Parameter<type> {                                                                                              \
    name, least, most, whole, [](auto& c, double v) { c.member = static_cast<decltype(c.member)>(v * (unit)); }, \
        [](const auto& c) { return static_cast<double>(c.member) / (unit); }                                     \
  }
#define MRC_TIME(type, name, most, member, unit)                                                        \
  Parameter<type> {                                                                                     \
    name, 0, most, false, [](auto& c, double v) { c.member = nearest(v * static_cast<double>(unit)); }, \
        [](const auto& c) { return static_cast<double>(c.member) / static_cast<double>(unit); }         \
  }

#define MRC_FLAG(type, name, member)                                                                                   \
  Parameter<type> {                                                                                                    \
    name, 0, 1, true, [](auto& c, double v) { c.member = v != 0; }, [](const auto& c) { return c.member ? 1.0 : 0.0; } \
  }

using sim::LinkConfig;

std::span<const Parameter<TrimmingSwitchConfig>> table(const TrimmingSwitchConfig&) {
  static constexpr auto kTable = std::to_array<Parameter<TrimmingSwitchConfig>>({
      MRC_PARAMETER(TrimmingSwitchConfig, "ports", 1, 4096, true, ports, 1),
      MRC_PARAMETER(TrimmingSwitchConfig, "host_ports", 0, 4096, true, host_ports, 1),
      MRC_PARAMETER(TrimmingSwitchConfig, "gbps", 1e-3, kMostGbps, false, gbps, 1),
      MRC_PARAMETER(TrimmingSwitchConfig, "seed", 0, 9e15, true, seed, 1),
      MRC_TIME(TrimmingSwitchConfig, "latency_ns", kMostNs, settings.latency, sim::kNs),
      MRC_TIME(TrimmingSwitchConfig, "port_latency_ns", kMostNs, settings.port_latency, sim::kNs),
      MRC_PARAMETER(TrimmingSwitchConfig, "buffer_bytes", 0, double{sim::kMostBufferBytes}, true, settings.buffer_bytes,
                    1),
      MRC_PARAMETER(TrimmingSwitchConfig, "trim_size", 60, 9216, true, settings.trim_size, 1),
      MRC_FLAG(TrimmingSwitchConfig, "trim_lengths", settings.trim_lengths),
      MRC_FLAG(TrimmingSwitchConfig, "trim_to_sender", settings.trim_to_sender),
      MRC_FLAG(TrimmingSwitchConfig, "return_swapped", settings.return_swapped),
      MRC_PARAMETER(TrimmingSwitchConfig, "returned_dscp", 0, 63, true, settings.returned_dscp, 1),
      MRC_FLAG(TrimmingSwitchConfig, "cut_through", settings.cut_through),
      MRC_PARAMETER(TrimmingSwitchConfig, "ecmp_seed", 0, 9e15, true, settings.ecmp_seed, 1),
  });
  return kTable;
}
std::span<const Parameter<NicConfig>> table(const NicConfig&) {
  static constexpr auto kTable = std::to_array<Parameter<NicConfig>>({
      MRC_PARAMETER(NicConfig, "planes", 1, 64, true, planes, 1),
      MRC_PARAMETER(NicConfig, "number", 0, 4294967295.0, true, number, 1),
      MRC_PARAMETER(NicConfig, "gbps", 1e-3, kMostGbps, false, gbps, 1),
  });
  return kTable;
}
std::span<const Parameter<LinkConfig>> table(const LinkConfig&) {
  static constexpr auto kTable = std::to_array<Parameter<LinkConfig>>({
      MRC_PARAMETER(LinkConfig, "gbps", 1e-3, kMostGbps, false, gbps, 1),
      MRC_PARAMETER(LinkConfig, "metres", 0, 1e9, false, metres, 1),
      MRC_TIME(LinkConfig, "fec_ns", kMostNs, fec, sim::kNs),
      MRC_TIME(LinkConfig, "detect_us", kMostNs, detect, sim::kUs),
  });
  return kTable;
}

std::string number(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

template <class Config>
std::vector<std::string> names_of(const Config& config) {
  std::vector<std::string> result;
  for (const auto& p : table(config)) result.emplace_back(p.name);
  return result;
}

template <class Config>
const Parameter<Config>* find(const char* what, const Config& config, std::string_view name) {
  for (const auto& p : table(config)) {
    if (p.name == name) return &p;
  }
  std::string all;
  for (const std::string& n : names_of(config)) all += (all.empty() ? "" : ", ") + n;
  refuse(kParameter, what, "there is no parameter " + std::string(name), "There are " + all + ".");
  return nullptr;
}

template <class Config>
void set_in(const char* what, Config& config, std::string_view name, double value) {
  const Parameter<Config>* p = find(what, config, name);
  if (p == nullptr) return;
  if (!(value >= p->least && value <= p->most) || (p->whole && value != std::floor(value))) {
    refuse(kParameter, what,
           std::string(name) + " = " + number(value) + " is not " + (p->whole ? "a whole number " : "") + "between " +
               number(p->least) + " and " + number(p->most),
           "Give another value.");
    return;
  }
  p->set(config, value);
}
template <class Config>
double get_from(const char* what, const Config& config, std::string_view name) {
  const Parameter<Config>* p = find(what, config, name);
  return p != nullptr ? p->get(config) : 0;
}
constexpr char kSwitch[] = "TrimmingSwitch", kNic[] = "Nic", kLink[] = "Link";

}  // namespace

void set(TrimmingSwitchConfig& c, std::string_view name, double value) { set_in(kSwitch, c, name, value); }
void set(NicConfig& c, std::string_view name, double value) { set_in(kNic, c, name, value); }
void set(LinkConfig& c, std::string_view name, double value) { set_in(kLink, c, name, value); }
double get(const TrimmingSwitchConfig& c, std::string_view name) { return get_from(kSwitch, c, name); }
double get(const NicConfig& c, std::string_view name) { return get_from(kNic, c, name); }
double get(const LinkConfig& c, std::string_view name) { return get_from(kLink, c, name); }
std::vector<std::string> names(const TrimmingSwitchConfig& c) { return names_of(c); }
std::vector<std::string> names(const NicConfig& c) { return names_of(c); }
std::vector<std::string> names(const LinkConfig& c) { return names_of(c); }

}  // namespace mrc::systemc
