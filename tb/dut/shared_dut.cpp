// SPDX-License-Identifier: Apache-2.0
#include "tb/dut/shared_dut.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <array>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "api/mrc_dut.h"
#include "gen/streams.hpp"
#include "util/printable.hpp"

namespace mrc::tb {
namespace {

constexpr std::size_t kText = 256;  // what a device says in words, at most

/// Words of a device: as many as we asked for, whether or not they end.
std::string text_of(const char* text) { return printable({text, ::strnlen(text, kText)}); }

/// "" when the loader finds all it needs in the file. It maps what the headers name, and a file that is too short for
/// them ends the process.
std::string elf_problem(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return "does not exist";
  if (std::filesystem::is_directory(status)) return "is a folder";
  if (!std::filesystem::is_regular_file(status)) return "is no regular file";
  std::ifstream file(path, std::ios::binary);
  if (!file) return "cannot be read";
  const uint64_t size = std::filesystem::file_size(path, error);
  ElfW(Ehdr) head{};
  file.read(reinterpret_cast<char*>(&head), sizeof head);
  if (!file || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return "is no shared object";
  if (head.e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) || head.e_type != ET_DYN)
    return "is no shared object for this machine";
  if (head.e_phentsize != sizeof(ElfW(Phdr))) return "is no shared object for this machine";
  std::vector<ElfW(Phdr)> parts(head.e_phnum);
  file.seekg(static_cast<std::streamoff>(head.e_phoff));
  file.read(reinterpret_cast<char*>(parts.data()), static_cast<std::streamsize>(parts.size() * sizeof parts[0]));
  if (!file) return fmt::format("is cut off: it ends within its headers, at {} bytes", size);
  for (const ElfW(Phdr) & part : parts) {
    if (part.p_filesz > size || part.p_offset > size - part.p_filesz)
      return fmt::format("is cut off: its headers name {} bytes, it has {}", part.p_offset + part.p_filesz, size);
  }
  return {};
}

class SharedDut final : public Dut {
 public:
  explicit SharedDut(CallSite& site) : site_(site) {}
  SharedDut(const SharedDut&) = delete;
  SharedDut& operator=(const SharedDut&) = delete;
  ~SharedDut() override { SharedDut::close(); }

  bool open(const std::string& path, const Preset& preset, uint64_t seed, std::string& error, bool* unsupported);

  void outputs(mrc_pins_out& out) override {
    if (fault_ || !call(DeviceCall::Outputs, [&] { outputs_(handle_, &out); })) out = {};
  }
  void step(const mrc_pins_in& in) override {
    if (fault_ || !call(DeviceCall::Step, [&] { step_(handle_, &in); })) return;
    if (checked_ != 0 && !failed_) look_at_assertions();
    site_.cycle.store(++cycle_, std::memory_order_relaxed);
  }
  bool observe(const uint32_t*& core, const uint32_t*& lanes) override {
    core = lanes = nullptr;
    if (!observe_ || fault_ || !call(DeviceCall::Observe, [&] { observe_(handle_, &core, &lanes); })) return false;
    if (core && lanes) return true;
    fail(DeviceCall::Observe, fmt::format("the device gives no address for its streams in cycle {}", cycle_));
    return false;
  }
  bool inside(mrc_inside_t& to) override {
    return inside_ && !fault_ && call(DeviceCall::Observe, [&] { inside_(handle_, &to, sizeof to); });
  }
  bool wave(const char* path, bool on) override {
    int result = 1;
    return has_wave_ && !fault_ && call(DeviceCall::Wave, [&] { result = wave_(handle_, path, on); }) && result == 0;
  }
  bool can_wave() const override { return has_wave_; }
  std::string name() const override { return name_; }
  std::string version() const override { return version_; }
  const DeviceFault* fault() const override { return fault_.get(); }
  unsigned assertions() const override { return checked_; }
  const FailedAssertion* failed_assertion() const override { return failed_.get(); }
  void close() override {
    if (mrc_dut* const handle = std::exchange(handle_, nullptr)) call(DeviceCall::Close, [&] { close_(handle); });
    // The object stays loaded: simulators register things at exit.
  }

 private:
  bool find_functions(void* lib, const std::string& path, std::string& error);
  std::string check(const mrc_dut_info_t& info, std::size_t size, const Preset& preset) const;
  /// False: it threw something, which no function of C does.
  template <class Function>
  bool call(DeviceCall which, Function&& function) {
    const Calling calling(site_, which);
    try {
      function();
      return true;
    } catch (const std::exception& thrown) {
      threw(which, thrown.what());
    } catch (...) {
      threw(which, "");
    }
    return false;
  }
  void threw(DeviceCall which, const char* what);
  /// After a step, and once before the first.
  void look_at_assertions() {
    mrc_dut_assertions_t a{};
    call(DeviceCall::Assertions, [&] {
      assertions_(handle_, &a, sizeof a);
      checked_ = a.checked;
      if (a.failed == 0) return;
      const auto text = [](const char* t) { return t ? text_of(t) : std::string("?"); };
      failed_ = std::make_unique<FailedAssertion>(FailedAssertion{text(a.name), text(a.place), text(a.text), cycle_});
    });
  }
  void fail(DeviceCall which, std::string text) {
    if (!fault_) fault_ = std::make_unique<DeviceFault>(DeviceFault{std::move(text), name_of(which), cycle_});
  }

  CallSite& site_;
  mrc_dut* handle_ = nullptr;
  decltype(&mrc_dut_open) open_ = nullptr;
  decltype(&mrc_dut_info) info_ = nullptr;
  decltype(&mrc_dut_outputs) outputs_ = nullptr;
  decltype(&mrc_dut_step) step_ = nullptr;
  decltype(&mrc_dut_observe) observe_ = nullptr;
  decltype(&mrc_dut_inside) inside_ = nullptr;
  decltype(&mrc_dut_wave) wave_ = nullptr;
  decltype(&mrc_dut_assertions) assertions_ = nullptr;
  decltype(&mrc_dut_close) close_ = nullptr;
  bool has_wave_ = false;
  std::string name_, version_;
  uint64_t cycle_ = 0;
  std::unique_ptr<DeviceFault> fault_;
  unsigned checked_ = 0;
  std::unique_ptr<FailedAssertion> failed_;
};

void SharedDut::threw(DeviceCall which, const char* what) {
  const std::string text = text_of(what);
  fail(which, fmt::format("the device threw an exception{} {}", text.empty() ? "" : " (" + text + ")",
                          place_text(which, cycle_)));
}

bool SharedDut::find_functions(void* lib, const std::string& path, std::string& error) {
  const auto find = [&](auto& function, const char* symbol, bool required) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(lib, symbol));
    if (!function && required && error.empty()) error = path + " has no function " + symbol;
  };
  error.clear();
  find(open_, "mrc_dut_open", true);
  find(info_, "mrc_dut_info", true);
  find(outputs_, "mrc_dut_outputs", true);
  find(step_, "mrc_dut_step", true);
  find(close_, "mrc_dut_close", true);
  find(observe_, "mrc_dut_observe", false);
  find(inside_, "mrc_dut_inside", false);
  find(wave_, "mrc_dut_wave", false);
  find(assertions_, "mrc_dut_assertions", false);
  return error.empty();
}

bool SharedDut::open(const std::string& path, const Preset& preset, uint64_t seed, std::string& error,
                     bool* unsupported) {
  if (unsupported) *unsupported = false;
  if (const std::string problem = elf_problem(path); !problem.empty()) {
    error = fmt::format("{} {}", path.empty() ? "''" : path, problem);
    return false;
  }
  site_.cycle.store(0, std::memory_order_relaxed);
  void* lib = nullptr;
  {
    const Calling calling(site_, DeviceCall::Load);
    lib = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!lib) {
    const char* why = dlerror();
    error = why ? printable(why) : path + " cannot be loaded";
    return false;
  }
  if (!find_functions(lib, path, error)) return false;

  std::array<char, kText + 1> text{};  // the last byte is not the device's
  std::strcpy(text.data(), "no reason given");
  mrc_dut_config config{};
  config.abi_version = MRC_DUT_ABI_VERSION;
  config.pins_in_size = sizeof(mrc_pins_in);
  config.pins_out_size = sizeof(mrc_pins_out);
  config.preset = preset.name;
  config.seed = seed;
  config.error = text.data();
  config.error_size = kText;
  if (!call(DeviceCall::Open, [&] { handle_ = open_(&config, sizeof config); })) {
    error = path + ": " + fault_->text;
    return false;
  }
  if (!handle_) {
    error = path + " refuses: " + text_of(text.data());
    if (unsupported) *unsupported = true;
    return false;
  }
  mrc_dut_info_t info{};
  std::string problem;
  // Its texts are read in here, too: their addresses are the device's.
  const bool reported = call(DeviceCall::Info, [&] {
    const std::size_t size = info_(handle_, &info, sizeof info);
    problem = check(info, size, preset);
    name_ = info.name ? text_of(info.name) : path;
    version_ = info.version ? text_of(info.version) : "";
  });
  if (!reported || !problem.empty()) {
    error = reported ? path + " " + problem : path + ": " + fault_->text;
    if (unsupported) *unsupported = reported;
    return false;
  }
  if (info.obs_core_words == 0) observe_ = nullptr;
  has_wave_ = info.has_wave != 0 && wave_;
  if (assertions_) look_at_assertions();
  if (fault_) error = path + ": " + fault_->text;
  return !fault_;
}

/// "" or what does not fit.
std::string SharedDut::check(const mrc_dut_info_t& info, std::size_t size, const Preset& preset) const {
  if (size >= sizeof info.abi_version && info.abi_version != MRC_DUT_ABI_VERSION)
    return fmt::format("speaks version {} of mrc_dut.h, the bench version {}", info.abi_version, MRC_DUT_ABI_VERSION);
  if (size < sizeof info)
    return fmt::format("knows {} bytes of mrc_dut_info_t, version {} has {}", size, MRC_DUT_ABI_VERSION, sizeof info);
  if (!info.preset) return "does not say which preset it is";
  if (const std::string name = text_of(info.preset); name != preset.name)
    return fmt::format("is preset {}, not {}", name, preset.name);
  struct {
    const char* what;
    uint32_t has, wants;
  } const sizes[] = {{"planes", info.num_planes, preset.num_planes},
                     {"bytes per beat of a port", info.port_bytes, preset.port_bytes},
                     {"bytes per line of the host", info.host_bytes, preset.host_bytes},
                     {"words of streams", info.obs_core_words, kObsCoreWords},
                     {"words of streams per plane", info.obs_lane_words, kObsLaneWords}};
  for (const auto& s : sizes) {
    if (s.has == s.wants || (info.obs_core_words == 0 && (&s == &sizes[3] || &s == &sizes[4]))) continue;
    return fmt::format("has {} {}, preset {} has {}", s.has, s.what, preset.name, s.wants);
  }
  return {};
}

}  // namespace

CallSite& device_in_process() {
  static CallSite site;
  return site;
}

std::unique_ptr<Dut> open_dut(const std::string& path, const Preset& preset, uint64_t seed, std::string& error,
                              CallSite& site, bool* unsupported) {
  auto dut = std::make_unique<SharedDut>(site);
  if (!dut->open(path, preset, seed, error, unsupported)) return nullptr;
  return dut;
}

std::unique_ptr<Dut> open_dut(const std::string& path, const Preset& preset, uint64_t seed, std::string& error,
                              bool* unsupported) {
  return open_dut(path, preset, seed, error, device_in_process(), unsupported);
}

}  // namespace mrc::tb
