// SPDX-License-Identifier: Apache-2.0
#include "tb/compare/snapshots.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/tb/runs.hpp"

namespace mrc::test::snapshots_test {

using namespace mrc::tb;

namespace {

/// A file name that nobody has, removed at the end.
class Scratch {
 public:
  Scratch() {
    char name[] = "/tmp/mrc-snapshots-XXXXXX";
    const int file = ::mkstemp(name);
    if (file >= 0) ::close(file);
    path_ = name;
  }
  ~Scratch() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }
  std::string text() const {
    std::ifstream in(path_);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string path_;
};

/// The model with a wrong pin from one cycle on. Its waves are a line per cycle: number, and what it sends.
class Waving final : public Dut {
 public:
  Waving(const Preset& preset, uint64_t wrong) : model_(make_model_dut(preset)), wrong_(wrong) {}
  void outputs(mrc_pins_out& out) override {
    model_->outputs(out);
    sent_ = out.tx_tvalid;
    if (cycle_ >= wrong_) out.wqe_ready ^= 1;
  }
  void step(const mrc_pins_in& in) override {
    if (on_) file_ << cycle_ << ' ' << sent_ << ' ' << unsigned{in.rx_tvalid} << '\n';
    model_->step(in);
    ++cycle_;
  }
  bool observe(const uint32_t*& core, const uint32_t*& lanes) override { return model_->observe(core, lanes); }
  bool wave(const char* path, bool on) override {
    if (path) file_.open(path);
    if (!path && !on) file_.close();
    on_ = on;
    return true;
  }
  bool can_wave() const override { return true; }
  std::string name() const override { return "waving model"; }
  std::string version() const override { return {}; }

 private:
  std::unique_ptr<Dut> model_;
  uint64_t wrong_, cycle_ = 0;
  unsigned sent_ = 0;
  bool on_ = false;
  std::ofstream file_;
};

CosimOptions wrong_at(uint64_t cycle) {
  CosimOptions o;
  o.preset = find_preset("tiny");
  o.scenario = *find_scenario("mixed");
  o.packets = 100000;
  o.open = [o, cycle](std::string&) { return std::make_unique<Waving>(*o.preset, cycle); };
  return o;
}

}  // namespace

TEST_CASE("waves of a failure come out of a snapshot, as a run from the beginning writes them", "[tb][snapshots]") {
  constexpr uint64_t kWrong = 60000;
  for (const bool two_threads : {true, false}) {
    CosimOptions o = wrong_at(kWrong);
    o.two_threads = two_threads;
    o.snapshots = true;
    const CosimResult result = run_cosim(o);
    REQUIRE(result.outcome == Outcome::Mismatch);
    CHECK(result.wrong_cycle() == kWrong);
    CHECK(result.cycles == kWrong);
    REQUIRE(result.snapshots);
    const Scratch snapshot, again;
    REQUIRE(result.snapshots->run({kWrong - 2000, kWrong + 200, snapshot.path()}));

    o.snapshots = false;
    o.wave_path = again.path();
    o.wave_from = kWrong - 2000;
    o.wave_to = kWrong + 200;
    CHECK_FALSE(run_cosim(o).snapshots);
    const std::string text = snapshot.text();
    CHECK(text.starts_with("58000 "));
    CHECK(text.find("\n60199 ") != std::string::npos);
    CHECK(text.find("\n60200 ") == std::string::npos);
    CHECK(text.find(" 1 ") != std::string::npos);  // frames were on their way
    CHECK((text == again.text()));
  }
}

TEST_CASE("a run that fails early has its waves from the beginning", "[tb][snapshots]") {
  CosimOptions o = wrong_at(700);
  o.snapshots = true;
  const CosimResult result = run_cosim(o);
  REQUIRE(result.snapshots);
  const Scratch file;
  REQUIRE(result.snapshots->run({1, 900, file.path()}));
  CHECK(file.text().starts_with("1 "));
  CHECK_FALSE(result.snapshots->run({1, 900, "/nowhere/at/all"}));  // that copy is used up, another is too new
}

TEST_CASE("the older of two snapshots is far enough back", "[tb][snapshots]") {
  Snapshots snapshots(2000);
  CHECK(snapshots.due(0));
  const auto copy = [&](uint64_t cycle) {
    if (const auto order = snapshots.take(cycle)) {
      std::ofstream(order->path) << cycle << ' ' << order->from << ' ' << order->to;
      ::_exit(0);
    }
  };
  copy(0);
  CHECK_FALSE(snapshots.due(1999));
  CHECK_FALSE(snapshots.due(2000));  // too little work since the first one
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!snapshots.due(2000) && std::chrono::steady_clock::now() < until) {  // work of a hundred times what it cost
  }
  CHECK(snapshots.due(2000));
  copy(3000);
  copy(6000);
  const Scratch file;
  CHECK_FALSE(snapshots.run({2999, 5000, file.path()}));  // the first one is gone
  CHECK(snapshots.run({5999, 8000, file.path()}));
  CHECK(file.text() == "3000 5999 8000");
  CHECK(snapshots.run({6000, 8000, file.path()}));
  CHECK(file.text() == "6000 6000 8000");
  CHECK_FALSE(snapshots.run({6000, 8000, file.path()}));
}

TEST_CASE("snapshots die with their process", "[tb][snapshots]") {
  // Orphans come to this process, which can then wait for them.
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t run = ::fork();
  if (run == 0) {
    Snapshots snapshots(1);
    if (snapshots.take(0) || snapshots.take(10) || snapshots.take(20)) ::_exit(0);
    const bool reported = ::write(ready[1], "x", 1) == 1;
    while (reported) ::pause();
    ::_exit(1);
  }
  char x = 0;
  REQUIRE(::read(ready[0], &x, 1) == 1);
  REQUIRE(::kill(run, SIGKILL) == 0);
  unsigned gone = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
    if (pid > 0) ++gone;
    if (pid < 0 && errno == ECHILD) break;
    if (pid == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(gone >= 3);  // the run and its copies; one that was dropped before may have been reaped by the run
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
  ::close(ready[0]);
  ::close(ready[1]);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace mrc::test::snapshots_test
