// SPDX-License-Identifier: Apache-2.0
/// Inside of tb/device/pins_device.hpp: queue pairs and tables are in pins_tables.cpp, the clock, the ports and the
/// host in pins_device.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gen/csr.hpp"
#include "gen/streams.hpp"
#include "tb/device/pins_device.hpp"
#include "tb/device/pins_settings.hpp"
#include "tb/environment/driver.hpp"
#include "tb/environment/host_writes.hpp"
#include "tb/environment/inside_tap.hpp"
#include "tb/environment/mac.hpp"
#include "tb/environment/rx_tap.hpp"
#include "util/rng.hpp"

namespace mrc::tb {

/// The device lawfully cannot, or the tester is wrong.
[[noreturn]] inline void cannot(const std::string& sentence) { throw Refusal(sentence, true); }
[[noreturn]] inline void wrong(const std::string& sentence) { throw Refusal(sentence, false); }

inline U128 number(const log::Ip& ip) {
  U128 out = 0;
  for (const uint8_t byte : ip) out = out << 8 | byte;
  return out;
}

class PinsDevice final : public NicDevice, public RxSink, public InsideSink {
 public:
  explicit PinsDevice(const PinsOptions& options) : options_(options), preset_(*options.preset) {}

  DeviceInfo open(const OpenRequest& request) override;
  void address(uint64_t mac, const log::Ip& ip) override;
  QpConfig qp_now(uint32_t qp) const override;
  bool qp(const QpConfig& config) override;
  std::pair<log::QpState, Time> query(uint32_t qp) override;
  Modified modify(const QpConfig& config, uint32_t with) override;
  bool mr(const log::Mr& region) override;
  bool post(const log::Post& request) override;
  void recv(uint32_t qp, uint32_t count) override;
  void memory(bool takes) override;
  void port(unsigned plane, bool up, Time t) override;
  bool ev(uint32_t qp, uint32_t ev, bool deny) override;
  bool mpr(uint32_t qp, unsigned units) override;
  bool evprobe(uint32_t qp, unsigned plane, uint32_t ev, std::optional<uint8_t> tc) override;
  bool reset() override;
  void rx(unsigned plane, Time t, std::span<const uint8_t> frame, bool fcs_bad) override;
  void host_done(uint64_t tag, Time t, std::span<const uint8_t> data, uint32_t status) override;
  Advanced advance(Time until, Time slack) override;
  Counters counters() override;
  void pause(HostQueue what, Time from, Time until) override;
  Time shown_until() const override;

 private:
  struct Qp {
    QpConfig config;
    log::QpState state = log::QpState::Reset;  ///< as ordered, or as the NIC has told
    log::QpState seen = log::QpState::Reset;   ///< as polled last
    bool known = false;                        ///< config is of a QP that is not in RESET
    bool touched = false;                      ///< it was known once
    unsigned profile = 0, dest = 0;
    unsigned open = 0;                    ///< work requests without completion
    std::optional<csr::TblQpCtx> former;  ///< row of the connection that a reset has ended
  };
  /// Of a destination.
  struct Controller {
    unsigned mtu = 0;
    ControllerNumbers numbers;
    std::array<uint32_t, csr::TblCcProfile::kWords> words{};
    uint32_t row = 0;
  };
  /// A call whose register accesses are queued.
  struct Order {
    Done done;
    std::string refused;
  };
  using OrderPtr = std::shared_ptr<Order>;
  struct Arriving {
    std::vector<uint8_t> bytes;
    Time first = 0;
    bool fcs_bad = false;
  };
  struct Rx {
    std::deque<Arriving> queue;
    unsigned at = 0;
    Time next = log::kNever, free = 0;
    uint64_t frames = 0;  ///< that have begun
    bool cut = false;
    bool half = false;  ///< the NIC was reset since the frame at hand has begun
  };
  struct Read {
    uint64_t tag;
    uint32_t bytes;
    bool answered = false;
    Time ready = 0;
    std::vector<uint8_t> data{};
  };
  struct Work {
    Wqe wqe;
    uint64_t after;  ///< orders that must have been carried out
  };
  struct PortEvent {
    Time time;
    unsigned plane;
    bool up;
  };

  void need_open() const {
    if (!dut_) wrong("the device is not open.");
    if (!problem_.empty()) wrong(problem_);
  }
  Qp& find(uint32_t qpn);
  const Qp& find(uint32_t qpn) const { return const_cast<PinsDevice*>(this)->find(qpn); }
  Qp& existing(uint32_t qpn);
  unsigned plane_of(unsigned plane) const;
  Time byte_time() const { return byte_ps(preset_); }
  /// The device is broken: every call says so from now on.
  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = what + ".";
  }

  // Registers.
  OrderPtr begin(const char* call, bool region, uint32_t number);
  void put(const OrderPtr& order, uint32_t offset, uint32_t value);
  void row(const OrderPtr& order, unsigned table, unsigned index, std::span<const uint32_t> words);
  bool end(const OrderPtr& order);
  void settle();
  void poll();

  // Queue pairs.
  void check_shape(const QpConfig& c) const;
  void check(const QpConfig& c) const;
  void put_evs(const OrderPtr& order, Qp& qp, const QpConfig& c);
  void put_dest(const OrderPtr& order, Qp& qp, const QpConfig& c);
  void deny_unnamed(const OrderPtr& order, const QpConfig& c);
  void judged(const OrderPtr& order, Qp& qp, const Qp& before, const QpConfig& c, uint32_t status);
  unsigned profile_for(const Qp& qp, const QpConfig& c, std::vector<uint32_t>& values) const;
  unsigned dest_for(const Qp& qp, const QpConfig& c) const;
  std::optional<Controller> controller_for(const Qp& self, const QpConfig& c, unsigned dest) const;
  void put_controller(const OrderPtr& order, unsigned dest, const Controller& controller);
  csr::TblQpCtx row_of(const Qp& qp) const;
  void move(const OrderPtr& order, const Qp& qp, log::QpState state, uint32_t attributes);
  void put_class(const OrderPtr& order, const QpConfig& c);
  bool connect(Qp& qp, const QpConfig& c);
  void reset(const OrderPtr& order, Qp& qp);
  void forget_former(const OrderPtr& order, Qp& qp);
  void clear(Qp& qp);
  void forget();
  void hold_in_reset();
  bool begin_life(const char* call);
  std::vector<uint32_t> slots(const QpConfig& c) const;
  std::optional<unsigned> named_by(const QpConfig& c, unsigned slot) const;

  // The clock.
  void cycle(bool traffic);
  void ports();
  void host();
  void transmit();
  void leave(FramePtr frame);
  void put_address(const OrderPtr& order);
  void receive(unsigned plane);
  void schedule(unsigned plane);
  void completion(const mrc::Cqe& cqe);
  log::Status status_of(CqStatus status) const;
  bool takes(HostQueue what);
  void report(Time time, decltype(Output::body) body, size_t bytes);

  // What it shows of its inside.
  void event(log::EventKind kind, unsigned qp, std::array<uint64_t, 6> arg, uint64_t time_ps) override;
  void hold(uint64_t time_ps) override { hold_ = time_ps; }
  void described(unsigned) override {}
  void lane_empty(unsigned, uint64_t) override {}
  void path(unsigned qp, unsigned place, log::EvState from, log::EvState to, uint64_t time_ps) override;
  /// Which controllers there are, and how they are set, is known when QPs are: too late for the profile.
  void controller(unsigned, log::CcNotified, uint64_t, uint64_t, uint64_t, uint64_t) override {}
  void hold_inside(uint64_t) override {}
  void look();
  void show();
  void report_events();

  PinsOptions options_;
  const Preset& preset_;
  std::unique_ptr<Dut> dut_;
  bool asserts_ = false;  ///< it checks assertions of itself
  PinsSettings settings_;
  tb::Driver driver_{Rng(0, "bus")};
  mrc_pins_in in_{};
  mrc_pins_out out_{};
  std::string problem_;
  Time now_ = 0, reached_ = 0;
  bool started_ = false;
  unsigned in_reset_ = 0;   ///< cycles for which the pin stays low
  Time software_from_ = 0;  ///< no register access before
  unsigned planes_ = 0, up_ = 0;
  static constexpr uint64_t kFirstMac = 0x020000000001;
  static constexpr log::Ip kFirstIp{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  uint64_t mac_ = kFirstMac, seed_ = 1;
  log::Ip ip_ = kFirstIp;
  uint64_t ordered_ = 0, carried_out_ = 0;

  std::vector<Qp> qps_;
  std::vector<std::vector<uint32_t>> profiles_;  ///< values of the rows
  std::vector<std::optional<log::Ip>> dests_;
  std::vector<std::optional<Controller>> controllers_;  ///< of destinations
  std::vector<uint32_t> regions_;                       ///< R_Key of a row, 0: none
  std::vector<bool> region_used_;

  std::vector<TxMac> tx_;
  std::vector<Output> on_wire_;  ///< whose first byte is yet to come
  std::vector<Rx> rx_;
  std::vector<PortEvent> port_events_;
  std::array<std::deque<std::pair<Time, Time>>, 3> pauses_;  ///< of the host, by HostQueue
  std::vector<std::deque<Read>> reads_;
  std::unordered_map<uint64_t, Read*> unanswered_;
  size_t reads_pending_ = 0;
  bool memory_takes_ = true;
  std::optional<HostWrites> host_writes_;
  unsigned last_rsp_ = 0;
  uint64_t next_tag_ = 1;
  std::deque<Work> works_;
  struct Posted {
    uint32_t qp;
    uint64_t wr_id;
  };
  std::unordered_map<uint32_t, Posted> posted_;
  uint32_t next_wr_ = 0;

  std::optional<RxTap> tap_;         ///< of a device that shows its inside
  std::optional<InsideTap> inside_;  ///< of one that shows what moves there
  std::deque<Output> shown_;         ///< events whose time is yet to come
  Time hold_ = log::kNever;          ///< an event of this time may follow

  std::vector<Output> outputs_;
  size_t output_bytes_ = 0;

  Time next_poll_ = 0, polled_ = 0;
  std::map<std::string, uint64_t> counters_, counting_;
  std::array<uint64_t, kMaxPlanes> uncounted_{};  ///< received frames that CNT_RX has not
  uint64_t stray_frames_ = 0;
};

}  // namespace mrc::tb
