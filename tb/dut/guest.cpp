// SPDX-License-Identifier: Apache-2.0
#include "tb/dut/guest.hpp"

#include <fmt/format.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <utility>

#include "tb/dut/guest_channel.hpp"
#include "tb/spawn.hpp"
#include "util/printable.hpp"

namespace mrc::tb {
namespace {

using Clock = std::chrono::steady_clock;
using Order = GuestChannel::Order;

/// "ended the process with exit code 0".
std::string end_text(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const char* name = ::sigdescr_np(signal);
    return fmt::format("was ended by signal {} ({})", signal, name ? name : "unknown");
  }
  return fmt::format("ended the process with exit code {}", WEXITSTATUS(status));
}

class GuestDut final : public Dut {
 public:
  explicit GuestDut(const GuestOptions& options) : options_(options) {}
  GuestDut(const GuestDut&) = delete;
  GuestDut& operator=(const GuestDut&) = delete;
  ~GuestDut() override {
    GuestDut::close();
    if (channel_) ::shmdt(channel_);
  }

  bool open(const std::string& path, const Preset& preset, uint64_t seed, std::string& error, bool* unsupported);

  void outputs(mrc_pins_out& out) override {
    if (settle()) {
      out = channel_->out;
    } else {
      out = {};
    }
  }
  void step(const mrc_pins_in& in) override {
    if (!settle()) return;
    refresh(&channel_->in, &in, sizeof in);
    request(Order::Step);  // and on with our own work: the answer is waited for when somebody wants to see it
  }
  bool observe(const uint32_t*& core, const uint32_t*& lanes) override {
    if (!settle() || !has_streams_) return false;
    core = channel_->core;
    lanes = channel_->lanes;
    return true;
  }
  bool inside(mrc_inside_t& to) override {
    if (!settle() || !channel_->has_inside) return false;
    to = channel_->inside;
    return true;
  }
  bool wave(const char* path, bool on) override {
    if (!can_wave_ || !settle() || !channel_->path.put(path ? path : "")) return false;
    channel_->wave_has_path = path != nullptr;
    channel_->wave_on = on;
    request(Order::Wave);
    return settle() && channel_->wave_fine;
  }
  bool can_wave() const override { return can_wave_; }
  std::string name() const override { return name_; }
  std::string version() const override { return version_; }
  const DeviceFault* fault() const override { return fault_.get(); }
  unsigned assertions() const override { return assertions_; }
  const FailedAssertion* failed_assertion() const override { return failed_.get(); }
  void close() override;
  bool in_process() const override { return false; }

 private:
  void request(Order order) {
    channel_->order = order;
    answers_ = channel_->answered.count();
    pending_ = true;
    channel_->requested.give();
  }
  /// Waits for the answer that is due. False: there will be none.
  bool settle() {
    if (!pending_) return pid_ > 0 && !fault_;
    if (channel_->answered.count() == answers_ && !wait()) return false;
    pending_ = false;
    if (channel_->assertion_failed && !failed_) {
      failed_ = std::make_unique<FailedAssertion>(
          FailedAssertion{printable(channel_->failed_name.get()), printable(channel_->failed_place.get()),
                          printable(channel_->failed_text.get()), channel_->failed_cycle});
    }
    if (channel_->error.bytes[0] == 0) return true;
    if (opened_) fail(printable(channel_->error.get()), printable(channel_->call.get()));
    return false;
  }
  bool wait();
  /// The process is gone, or is made to go.
  void fail(const std::string& text, std::string call);
  /// "" or how the process has ended.
  std::string gone(bool wait);
  void kill();
  void leave();

  GuestOptions options_;
  GuestChannel* channel_ = nullptr;
  Patience patience_;
  pid_t pid_ = 0;  // 0: there is none any more
  bool pending_ = false, opened_ = false, has_streams_ = false, can_wave_ = false, closing_ = false;
  uint32_t answers_ = 0;
  std::string name_, version_, end_;
  std::unique_ptr<DeviceFault> fault_;
  unsigned assertions_ = 0;
  std::unique_ptr<FailedAssertion> failed_;
};

bool GuestDut::open(const std::string& path, const Preset& preset, uint64_t seed, std::string& error,
                    bool* unsupported) {
  if (unsupported) *unsupported = false;
  // Not a file: a limit on the size of files would count.
  const int id = ::shmget(IPC_PRIVATE, sizeof(GuestChannel), 0600);
  void* memory = id < 0 ? nullptr : ::shmat(id, nullptr, 0);
  const int why = errno;
  // From now on it lives as long as somebody has it; Linux lets others in by its number all the same.
  if (id >= 0) ::shmctl(id, IPC_RMID, nullptr);
  if (!memory || reinterpret_cast<intptr_t>(memory) == -1) {
    error = fmt::format("no memory to share with the device: {}", std::strerror(why));
    return false;
  }
  channel_ = new (memory) GuestChannel{};
  if (!channel_->path.put(path)) {
    error = path + " is too long a name";
    return false;
  }
  channel_->preset.put(preset.name);
  channel_->seed = seed;
  channel_->bench = ::getpid();
  channel_->order = Order::Open;
  answers_ = channel_->answered.count();
  pending_ = true;
  if (const int failed = spawn({options_.host.string(), std::to_string(id)}, -1, -1, pid_); failed != 0) {
    pid_ = 0;
    pending_ = false;
    error = fmt::format("cannot start {}: {}", options_.host.string(), std::strerror(failed));
    return false;
  }
  if (!settle()) {
    error = fault_ ? path + ": " + fault_->text : printable(channel_->error.get());
    if (unsupported) *unsupported = !fault_ && channel_->unsupported != 0;
    kill();
    return false;
  }
  opened_ = true;
  name_ = printable(channel_->name.get());
  version_ = printable(channel_->version.get());
  has_streams_ = channel_->has_streams != 0;
  can_wave_ = channel_->can_wave != 0;
  assertions_ = channel_->assertions;
  return true;
}

bool GuestDut::wait() {
  const auto begin = Clock::now();
  Clock::time_point stopped{};
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  constexpr unsigned kSliceMs = 10;
  const bool came = channel_->answered.await(answers_, patience_, kSliceMs, [&] {
    const auto now = Clock::now();
    const DeviceCall call = channel_->site.where();
    const uint64_t cycle = channel_->site.cycle;
    const auto give_up = [&](const std::string& text) {
      fail("the device " + text, name_of(call));
      return false;
    };
    if (std::string end = gone(false); !end.empty()) {
      end_ = std::move(end);
      if (closing_ && channel_->answered.count() != answers_) return false;  // it answered and went, as it should
      return give_up(end_ + " " + place_text(call, cycle));
    }
    const double waited = seconds(now - begin);
    if (options_.stop && options_.stop->load(std::memory_order_relaxed)) {
      if (stopped == Clock::time_point{}) stopped = now;
      if (seconds(now - stopped) >= (closing_ ? 5 : 1))
        return give_up(fmt::format("had not come back from {} for {:.1f} s when the run was stopped",
                                   call_text(call, cycle), waited));
    }
    if (options_.limit_s > 0 && waited >= options_.limit_s)
      return give_up(fmt::format("has not come back from {} for {:g} s", call_text(call, cycle), options_.limit_s));
    return true;
  });
  if (!came) pending_ = false;
  return came && !fault_;
}

void GuestDut::fail(const std::string& text, std::string call) {
  if (!fault_) fault_ = std::make_unique<DeviceFault>(DeviceFault{text, std::move(call), channel_->site.cycle});
  pending_ = false;
  kill();
}

std::string GuestDut::gone(bool wait) {
  if (pid_ <= 0) return {};
  int status = 0;
  pid_t got;
  do got = ::waitpid(pid_, &status, wait ? 0 : WNOHANG);
  while (got < 0 && errno == EINTR);
  if (got == 0) return {};
  pid_ = 0;
  return got < 0 ? "ended the process" : end_text(status);  // nobody keeps exit codes where SIGCHLD is ignored
}

void GuestDut::kill() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);  // with what it has started: the group is its own
  ::kill(pid_, SIGKILL);
  gone(true);
}

void GuestDut::close() {
  if (pid_ > 0 && settle()) {
    closing_ = true;
    request(Order::Close);
    if (settle()) leave();
  }
  kill();
}

/// What the device registered for the end of its process comes after its close.
void GuestDut::leave() {
  constexpr double kLeaveSeconds = 5;
  const auto begin = Clock::now();
  for (;;) {
    if (end_.empty()) end_ = gone(false);
    if (!end_.empty()) break;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (seconds >= kLeaveSeconds)
      return fail(fmt::format("the process of the device has not ended for {:g} s after mrc_dut_close", kLeaveSeconds),
                  name_of(DeviceCall::Exit));
    ::usleep(seconds < 0.01 ? 200 : 10'000);
  }
  if (end_ != end_text(0)) fail("the device " + end_ + " after mrc_dut_close", name_of(DeviceCall::Exit));
}

}  // namespace

std::unique_ptr<Dut> open_guest(const std::string& path, const Preset& preset, uint64_t seed,
                                const GuestOptions& options, std::string& error, bool* unsupported) {
  auto dut = std::make_unique<GuestDut>(options);
  if (!dut->open(path, preset, seed, error, unsupported)) return nullptr;
  return dut;
}

}  // namespace mrc::tb
