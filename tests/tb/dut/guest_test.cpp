// SPDX-License-Identifier: Apache-2.0
#include "tb/dut/guest.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>

#include "tb/compare/report.hpp"
#include "tb/dut/device_call.hpp"
#include "tb/nic_bench.hpp"
#include "tests/tb/runs.hpp"
#include "util/printable.hpp"

namespace mrc::test::guest_test {

using namespace mrc::tb;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;

namespace {

const Preset& kTiny = *find_preset("tiny");

/// What the test device does (tests/tb/dut/guests/test_device.cpp) while this lives.
class Doing {
 public:
  explicit Doing(const std::string& what) { ::setenv("MRC_TEST_DEVICE", what.c_str(), 1); }
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;
  ~Doing() { ::unsetenv("MRC_TEST_DEVICE"); }
};

GuestOptions host(double limit_s = 60) { return {MRC_DEVICE_HOST, limit_s, nullptr}; }

std::unique_ptr<Dut> open_test_device(std::string& error, double limit_s = 60) {
  return open_guest(MRC_TEST_DEVICE, kTiny, 1, host(limit_s), error);
}

/// Why the device is not opened.
std::string refusal(const std::string& what, double limit_s = 60) {
  const Doing doing(what);
  std::string error;
  CHECK_FALSE(open_test_device(error, limit_s));
  return error;
}

CosimOptions guest_run(uint64_t packets = 300, double limit_s = 60) {
  CosimOptions o = short_run("tiny", "mixed", packets);
  o.open = [limit_s](std::string& error) { return open_test_device(error, limit_s); };
  return o;
}

CosimResult run_doing(const std::string& what, double limit_s = 60) {
  const Doing doing(what);
  return run_cosim(guest_run(300, limit_s));
}

CosimResult run_in_process(const std::string& what) {
  const Doing doing(what);
  CosimOptions o = guest_run();
  o.open = [](std::string& error) { return open_dut(MRC_TEST_DEVICE, kTiny, 1, error); };
  return run_cosim(o);
}

/// No process of a device is left, not even as a zombie.
bool alone() { return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

}  // namespace

TEST_CASE("a device in a process of its own gives the same run as one in ours", "[tb][guest]") {
  CosimOptions o = guest_run(500);
  const CosimResult guest = run_cosim(o);
  CHECK(guest.outcome == Outcome::Pass);
  CHECK_FALSE(guest.dut_in_process);
  CHECK_FALSE(guest.device_fault);
  CHECK(guest.dut_name == "test device");
  o.two_threads = true;
  CHECK(run_cosim(o).event_hash == guest.event_hash);
  o = short_run("tiny", "mixed", 500);
  use_rtl(o);
  const CosimResult here = run_cosim(o);
  CHECK(here.dut_in_process);
  CHECK(here.event_hash == guest.event_hash);
  CHECK(here.cycles == guest.cycles);
  o.open = [](std::string& error) { return open_guest(MRC_DUT_TINY, kTiny, 1, host(), error); };
  CHECK(run_cosim(o).event_hash == guest.event_hash);
  CHECK(alone());
}

TEST_CASE("a device that ends its process ends the run with the call and the cycle", "[tb][guest]") {
  const struct {
    const char *what, *text, *call;
    uint64_t cycle;
  } cases[] = {
      {"exit:step:100", "the device ended the process with exit code 0 in mrc_dut_step of cycle 100", "mrc_dut_step",
       100},
      {"abort:step:5000", "the device was ended by signal 6 (Aborted) in mrc_dut_step of cycle 5000", "mrc_dut_step",
       5000},
      {"throw:step:7", "the device threw an exception (thrown by the test device) in mrc_dut_step of cycle 7",
       "mrc_dut_step", 7},
      {"segv:outputs:50", "the device was ended by signal 11 (Segmentation fault) in mrc_dut_outputs of cycle 50",
       "mrc_dut_outputs", 50},
      {"exit:observe:3000", "the device ended the process with exit code 0 in mrc_dut_observe of cycle 3000",
       "mrc_dut_observe", 3000},
      {"wild-observe:300", "the device was ended by signal 11 (Segmentation fault) in mrc_dut_observe of cycle 300",
       "mrc_dut_observe", 300},
      {"null-observe:300", "the device gives no address for its streams in cycle 300", "mrc_dut_observe", 300},
  };
  for (const auto& c : cases) {
    const CosimResult r = run_doing(c.what);
    INFO(c.what);
    CHECK(r.outcome == Outcome::DeviceError);
    REQUIRE(r.device_fault);
    CHECK(r.device_fault->text == c.text);
    CHECK(r.device_fault->call == c.call);
    CHECK(r.device_fault->cycle == c.cycle);
    CHECK(r.divergences.empty());
    CHECK(r.cycles >= c.cycle);
    CHECK(r.cycles <= c.cycle + 1);
    RunInfo info;
    CHECK_THAT(summary_text(info, r), ContainsSubstring("DEVICE FAILED") && ContainsSubstring("a process of its own"));
    CHECK_THAT(failure_text(info, r), ContainsSubstring(c.text));
    const auto json = nlohmann::json::parse(result_json(info, r));
    CHECK(json["result"] == "device_error");
    CHECK(json["dut_process"] == "own");
    CHECK(json["device_fault"]["cycle"] == c.cycle);
    CHECK(json["device_fault"]["call"] == c.call);
  }
  CHECK(alone());
}

TEST_CASE("what a device does at its end leaves the verdict and is told", "[tb][guest]") {
  const struct {
    const char *what, *text;
  } cases[] = {
      {"segv:close", "the device was ended by signal 11 (Segmentation fault) in mrc_dut_close"},
      {"exit:close", "the device ended the process with exit code 0 in mrc_dut_close"},
      {"throw:close", "the device threw an exception (thrown by the test device) in mrc_dut_close"},
      {"abort:atexit", "the device was ended by signal 6 (Aborted) after mrc_dut_close"},
      {"loop:close", "the device has not come back from mrc_dut_close for 0.3 s"},
  };
  for (const auto& c : cases) {
    const CosimResult r = run_doing(c.what, std::string(c.what) == "loop:close" ? 0.3 : 60);
    INFO(c.what);
    CHECK(r.outcome == Outcome::Pass);
    REQUIRE(r.device_fault);
    CHECK(r.device_fault->text == c.text);
    CHECK_THAT(summary_text(RunInfo{}, r), ContainsSubstring("PASS") && ContainsSubstring(c.text));
  }
  CHECK(alone());
}

TEST_CASE("a difference before the end of a device is what counts", "[tb][guest]") {
  // The model follows the device by up to 32 cycles: it learns of both at once.
  const Doing doing("exit:step:3010");
  CosimOptions o = guest_run();
  class Spoiled final : public Dut {
   public:
    explicit Spoiled(std::unique_ptr<Dut> dut) : dut_(std::move(dut)) {}
    void outputs(mrc_pins_out& out) override {
      dut_->outputs(out);
      if (cycle_ == 3000) out.wqe_ready ^= 1;
    }
    void step(const mrc_pins_in& in) override {
      dut_->step(in);
      ++cycle_;
    }
    bool observe(const uint32_t*& core, const uint32_t*& lanes) override { return dut_->observe(core, lanes); }
    bool wave(const char*, bool) override { return false; }
    bool can_wave() const override { return false; }
    std::string name() const override { return "spoiled"; }
    std::string version() const override { return {}; }
    const DeviceFault* fault() const override { return dut_->fault(); }

   private:
    std::unique_ptr<Dut> dut_;
    uint64_t cycle_ = 0;
  };
  o.open = [](std::string& error) -> std::unique_ptr<Dut> {
    auto dut = open_test_device(error);
    return dut ? std::make_unique<Spoiled>(std::move(dut)) : nullptr;
  };
  const CosimResult r = run_cosim(o);
  CHECK(r.outcome == Outcome::Mismatch);
  REQUIRE_FALSE(r.divergences.empty());
  CHECK(r.divergences.front().cycle == 3000);
  REQUIRE(r.device_fault);
  CHECK(r.device_fault->cycle == 3010);
}

TEST_CASE("in our process, too, an exception of a device ends the run with the call and the cycle", "[tb][guest]") {
  CosimResult r = run_in_process("throw:step:700");
  CHECK(r.outcome == Outcome::DeviceError);
  CHECK(r.dut_in_process);
  REQUIRE(r.device_fault);
  CHECK(r.device_fault->text ==
        "the device threw an exception (thrown by the test device) in mrc_dut_step of cycle 700");
  r = run_in_process("null-observe:700");
  CHECK(r.outcome == Outcome::DeviceError);
  REQUIRE(r.device_fault);
  CHECK(r.device_fault->text == "the device gives no address for its streams in cycle 700");
  r = run_in_process("throw:close");
  CHECK(r.outcome == Outcome::Pass);
  CHECK(r.device_fault);
}

TEST_CASE("a device that does not come back is given up", "[tb][guest]") {
  const CosimResult r = run_doing("loop:step:99", 0.3);
  CHECK(r.outcome == Outcome::DeviceError);
  REQUIRE(r.device_fault);
  CHECK(r.device_fault->text == "the device has not come back from mrc_dut_step of cycle 99 for 0.3 s");
  CHECK_THAT(refusal("loop:open", 0.3), EndsWith(": the device has not come back from mrc_dut_open for 0.3 s"));
  CHECK(alone());
}

TEST_CASE("a run that is stopped does not wait for a device that hangs", "[tb][guest]") {
  const Doing doing("loop:step:99");
  std::atomic<bool> stop{false};
  CosimOptions o = guest_run();
  o.stop = &stop;
  o.open = [&](std::string& error) {
    return open_guest(MRC_TEST_DEVICE, kTiny, 1, {MRC_DEVICE_HOST, 0, &stop}, error);
  };
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop = true;
  });
  const CosimResult r = run_cosim(o);
  user.join();
  CHECK(r.outcome == Outcome::Incomplete);
  REQUIRE(r.device_fault);
  CHECK_THAT(r.device_fault->text, ContainsSubstring("had not come back from mrc_dut_step of cycle 99 for ") &&
                                       EndsWith(" s when the run was stopped"));
  CHECK_THAT(summary_text(RunInfo{}, r), ContainsSubstring(r.device_fault->text));
}

TEST_CASE("a slow device is waited for, and a stop lets it end in order", "[tb][guest]") {
  const Doing doing("slow:30");
  std::atomic<bool> stop{false};
  std::string error;
  const auto dut = open_guest(MRC_TEST_DEVICE, kTiny, 1, {MRC_DEVICE_HOST, 1, &stop}, error);
  REQUIRE(dut);
  mrc_pins_in in{};
  mrc_pins_out out{};
  for (unsigned i = 0; i < 5; ++i) {
    stop = i == 3;
    dut->outputs(out);
    dut->step(in);
  }
  dut->close();
  INFO((dut->fault() ? dut->fault()->text : ""));
  CHECK_FALSE(dut->fault());
}

TEST_CASE("a device in a process of its own writes waves, and is in no snapshot", "[tb][guest]") {
  const Doing doing("wave");
  CosimOptions o = guest_run();
  o.snapshots = true;
  const CosimResult r = run_cosim(o);
  CHECK(r.outcome == Outcome::Pass);
  CHECK_FALSE(r.snapshots);
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("mrc-guest-waves-" + std::to_string(::getpid()));
  o.wave_path = file;
  o.wave_from = 1000;
  o.wave_to = 1500;
  run_cosim(o);
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  CHECK(text.str() == "on in cycle 1000\nclosed in cycle 1500\n");
  std::filesystem::remove(file);
  o.wave_path = "/no/such/folder/waves";
  CHECK_FALSE(run_cosim(o).device_fault);
}

TEST_CASE("a device that lies about itself is refused", "[tb][guest]") {
  CHECK_THAT(refusal("abi:3"), EndsWith(" speaks version 3 of mrc_dut.h, the bench version 5"));
  CHECK_THAT(refusal("abi:6"), EndsWith(" speaks version 6 of mrc_dut.h, the bench version 5"));
  CHECK_THAT(refusal("abi:0"), EndsWith(" speaks version 0 of mrc_dut.h, the bench version 5"));
  CHECK_THAT(refusal("preset:asic800"), EndsWith(" is preset asic800, not tiny"));
  CHECK_THAT(refusal("no-preset"), EndsWith(" does not say which preset it is"));
  CHECK_THAT(refusal("planes:4"), EndsWith(" has 4 planes, preset tiny has 2"));
  CHECK_THAT(refusal("core-words:3"), ContainsSubstring(" has 3 words of streams, preset tiny has "));
  CHECK_THAT(refusal("info-size:20"), ContainsSubstring(" knows 20 bytes of mrc_dut_info_t, version 5 has "));
  CHECK_THAT(refusal("refuse"), EndsWith(" refuses: today is not its day"));
  CHECK_THAT(refusal("refuse-no-nul"), EndsWith(" refuses: " + std::string(256, 'x')));
  CHECK_THAT(refusal("refuse-control"), EndsWith(" refuses: red \\x1b[31m\\x07 and \\xff no more\\n"));
  CHECK_THAT(refusal("null-observe"), EndsWith(": the device gives no address for its streams in cycle 0"));
  for (const char* call : {"mrc_dut_open", "mrc_dut_info"}) {
    const std::string word = std::string(call).substr(8);
    CHECK_THAT(refusal("exit:" + word),
               EndsWith(std::string(": the device ended the process with exit code 0 in ") + call));
    CHECK_THAT(refusal("throw:" + word),
               EndsWith(std::string(": the device threw an exception (thrown by the test device) in ") + call));
    CHECK_THAT(refusal("segv:" + word),
               EndsWith(std::string(": the device was ended by signal 11 (Segmentation fault) in ") + call));
  }
  const Doing doing("no-names");
  std::string error;
  const auto dut = open_test_device(error);
  REQUIRE(dut);
  CHECK(dut->name() == MRC_TEST_DEVICE);
  CHECK(dut->version().empty());
}

TEST_CASE("a file that is no device is refused with the reason", "[tb][guest]") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("mrc-guest-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string cut = folder / "cut.so", text = folder / "text.so", fifo = folder / "fifo.so";
  std::filesystem::copy_file(MRC_TEST_DEVICE, cut);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2);
  std::ofstream(text) << "not a device\n";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  for (const bool own : {true, false}) {
    const auto why = [&](const std::string& path) {
      std::string error;
      const auto dut = own ? open_guest(path, kTiny, 1, host(), error) : open_dut(path, kTiny, 1, error);
      CHECK_FALSE(dut);
      return error;
    };
    CHECK_THAT(why(cut), ContainsSubstring(cut + " is cut off: its headers name "));
    CHECK(why(text) == text + " is no shared object");
    CHECK(why(fifo) == fifo + " is no regular file");
    CHECK(why(folder) == folder.string() + " is a folder");
    CHECK(why("/no/such/file.so") == "/no/such/file.so does not exist");
    CHECK(why("") == "'' does not exist");
    CHECK(why(MRC_NO_DEVICE) == std::string(MRC_NO_DEVICE) + " has no function mrc_dut_open");
    CHECK_THAT(why(std::string(5000, 'x')), EndsWith(own ? "is too long a name" : "does not exist"));
  }
  std::string error;
  CHECK_FALSE(open_guest(MRC_TEST_DEVICE, kTiny, 1, {folder / "nothing", 60, nullptr}, error));
  CHECK(error == "cannot start " + (folder / "nothing").string() + ": No such file or directory");
  std::filesystem::remove_all(folder);
}

TEST_CASE("bits that no pin has are a mismatch that names them", "[tb][guest][pins]") {
  const struct {
    const char *pin, *text;
  } cases[] = {
      {"awready", "pin awready has bits beyond bit 0"},
      {"wready", "pin wready has bits beyond bit 0"},
      {"bvalid", "pin bvalid has bits beyond bit 0"},
      {"bresp", "pin bresp has bits beyond bit 1"},
      {"arready", "pin arready has bits beyond bit 0"},
      {"rvalid", "pin rvalid has bits beyond bit 0"},
      {"rresp", "pin rresp has bits beyond bit 1"},
      {"irq", "pin irq has bits beyond bit 0"},
      {"host_fail_ready", "pin host_fail_ready has bits beyond bit 0"},
      {"wqe_ready", "pin wqe_ready has bits beyond bit 0"},
      {"cqe_valid", "pin cqe_valid has bits beyond bit 0"},
      {"cqe", "pin cqe has bits beyond bit 139"},
      {"host_rd_valid", "pin host_rd_valid has bits beyond bit 0"},
      {"host_rd", "pin host_rd has bits beyond bit 94"},
      {"host_wr_valid", "pin host_wr_valid has bits beyond bit 0"},
      {"host_wr_len", "pin host_wr_len says 255 bytes, a line has 32"},
      {"host_wr_last", "pin host_wr_last has bits beyond bit 0"},
      {"host_wr_plane", "pin host_wr_plane names plane 2, there are 2"},
      {"host_wr_qp", "pin host_wr_qp names QP 4, there are 4"},
      {"tx_tvalid", "pin tx_tvalid has bits beyond plane 1"},
      {"tx_tlast", "pin tx_tlast has bits beyond plane 1"},
      {"tx_tkeep", "has bits beyond byte 15"},
  };
  for (const auto& c : cases) {
    INFO(c.pin);
    const CosimResult r = run_in_process(std::string("stray:") + c.pin);
    CHECK(r.outcome == Outcome::Mismatch);
    REQUIRE_FALSE(r.divergences.empty());
    CHECK_THAT(r.divergences.front().note, ContainsSubstring(c.text));
    CHECK_THAT(failure_text(RunInfo{}, r), ContainsSubstring(c.text));
  }
  const CosimResult guest = run_doing("stray:tx_tvalid");
  REQUIRE(guest.outcome == Outcome::Mismatch);
  CHECK(guest.divergences.front().note == "pin tx_tvalid has bits beyond plane 1");
  CHECK(nlohmann::json::parse(result_json(RunInfo{}, guest))["divergence"]["note"] == guest.divergences.front().note);
}

TEST_CASE("pins and boundaries that are all ones or noise are a mismatch", "[tb][guest][pins]") {
  for (const char* what : {"ones", "random", "random-observe", "ones:5000", "random:5000", "random-observe:5000"}) {
    const CosimResult r = run_in_process(what);
    INFO(what);
    CHECK(r.outcome == Outcome::Mismatch);
    CHECK_FALSE(failure_text(RunInfo{}, r).empty());
  }
}

TEST_CASE("the bench of the NIC says what a device did and goes on", "[tb][guest][bench-nic]") {
  const auto measure = [](const std::string& what) {
    const Doing doing(what);
    BenchOptions o;
    o.preset = &kTiny;
    o.payload = 1024;
    o.warm_cycles = o.cycles = 2000;
    o.open = [](std::string& error) { return open_test_device(error); };
    NicBench bench(o);
    std::string problem = bench.start();
    if (problem.empty()) bench.measure(Direction::Both, problem);
    bench.close();
    return std::pair(problem, bench.fault() ? bench.fault()->text : "");
  };
  using Reported = std::pair<std::string, std::string>;
  CHECK(measure("") == Reported("", ""));
  const std::string ended = "the device ended the process with exit code 0 in mrc_dut_step of cycle 3000";
  CHECK(measure("exit:step:3000") == Reported(ended, ended));
  CHECK(measure("segv:close") ==
        Reported("", "the device was ended by signal 11 (Segmentation fault) in mrc_dut_close"));
  CHECK(measure("stray:tx_tvalid:3000") == Reported("cycle 3000: pin tx_tvalid has bits beyond plane 1", ""));
  for (const char* what : {"ones", "random", "ones:3000", "random:3000"}) {
    INFO(what);
    CHECK_THAT(measure(what).first, ContainsSubstring("pin awready has bits beyond bit 0"));
  }
}

TEST_CASE("texts of a device can be printed anywhere", "[tb][guest]") {
  CHECK(printable("plain, 3 \xc2\xb5s") == "plain, 3 \xc2\xb5s");
  CHECK(printable("\x1b[2J\r\n\t\x7f") == "\\x1b[2J\\x0d\\n\\x09\\x7f");
  CHECK(printable("\xff\xc2 \xc0\xaf \xed\xa0\x80") == "\\xff\\xc2 \\xc0\\xaf \\xed\\xa0\\x80");
  CHECK(printable("\xc2\x9b cut \xe2\x82") == "\\xc2\\x9b cut \\xe2\\x82");
}

}  // namespace mrc::test::guest_test
