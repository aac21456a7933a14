// SPDX-License-Identifier: Apache-2.0
/// A NIC at the level of clock cycles, with its host: the model or Verilated RTL, whichever device it is given.
///
///     auto nic = std::make_unique<CycleEndpoint>("model", preset, settings, tb::make_model_dut(preset));
///
/// What stands around the device is its software (registers, tables, work requests, completions), its host's memory,
/// and one MAC for each plane.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/pins.h"
#include "gen/csr.hpp"
#include "gen/presets.hpp"
#include "sim/nic/fast/endpoint_fast.hpp"
#include "tb/dut/dut.hpp"
#include "tb/environment/driver.hpp"

namespace mrc::sim {

class CycleEndpoint final : public Endpoint {
 public:
  /// fidelity: "model" or "rtl". settings must have no problem().
  CycleEndpoint(const char* fidelity, const Preset& preset, const FastConfig& settings, std::unique_ptr<tb::Dut> dut);
  ~CycleEndpoint() override;

  /// The first setting that a NIC of that preset cannot have, as a sentence without full stop; empty: none.
  static std::string problem(const Preset& preset, const FastConfig& settings);

  void attach(const Access& access) override;
  /// Software brings the NIC up, in clock cycles before time 0.
  void start() override;
  void receive(PacketPtr packet, unsigned plane) override;
  bool early() const override { return true; }
  PacketPtr pull(unsigned plane) override;
  /// A clock cycle.
  void wake() override;
  void link_changed(unsigned plane, bool up) override;

  bool open(const QpSpec& spec, std::string& why) override;
  bool post(const WorkRequest& request) override;
  void listen(Listener* listener) override { listener_ = listener; }
  /// What is seen at the ports and in memory, and as of the newest poll of the registers: duplicates, timeouts.
  EndpointStats stats() const override { return stats_; }
  /// From the NIC's queue of EV events: an EV in SKIP counts as good, since nothing tells.
  EvCounts ev_counts(uint32_t qpn) const override;
  const char* fidelity() const override { return fidelity_; }
  std::string problem() const override { return problem_; }

  // Beyond the interface.

  const Preset& preset() const { return preset_; }
  /// Clock cycles so far, those before time 0 included.
  uint64_t cycles() const { return cycle_; }
  bool failed(uint32_t qpn) const;
  /// Software reads a register: `done` gets its value some clock cycles later.
  void read(uint16_t address, tb::Driver::Done done) { driver_.read(address, std::move(done)); }

 private:
  struct Pending {
    uint64_t id;
    uint32_t bytes;
    uint32_t wr_id;
    bool immediate;
  };
  /// A message that is being received.
  struct Incoming {
    uint32_t length = 0;  ///< from the first packet of it that came in
    uint32_t written = 0;
    bool reported = false;        ///< of a message without bytes: it is there
    std::vector<uint64_t> lines;  ///< one bit for each HostBytes
  };
  struct Qp {
    QpSpec spec;
    unsigned index = 0, profile = 0, dest = 0;
    bool opened = false, ready = false, failed = false;
    uint16_t msn = 0;  ///< of the next work request
    uint32_t next_wr = 0;
    unsigned immediates = 0;
    std::deque<Pending> pending;
    std::vector<uint8_t> bad;  ///< by EV index
    uint32_t bad_evs = 0;
    uint32_t delivered = 0;                     ///< messages
    std::map<uint32_t, Incoming> incoming;      ///< by number of the message, without wrap
    std::map<uint16_t, uint32_t> immediate_of;  ///< by RQMSN: the message whose immediate it is
  };
  struct Tx {
    std::vector<uint8_t> frame;
    bool in_frame = false;
    std::deque<PacketPtr> waiting;
    unsigned waiting_bytes = 0;
  };
  struct Rx {
    struct Arriving {
      PacketPtr packet;
      Time begin;  ///< of its preamble
    };
    std::deque<Arriving> queue;
    unsigned at = 0;  ///< bytes of the first that the NIC has
    Time next = kNever;
    bool cut = false;  ///< the link went down in the middle of it
  };
  struct HostRead {
    uint64_t ready;  // cycle
    uint64_t address;
    unsigned length;
  };

  void fail(std::string what);
  void cycle(bool traffic);
  void host();
  void transmit(unsigned plane);
  void receive_beat(unsigned plane, Time now);
  void schedule(Rx& rx, unsigned plane);
  void written(uint64_t address, unsigned length, const uint8_t* data);
  void deliver(Qp& qp);
  void completion(const Cqe& cqe);
  void count_sent(const Packet& packet);
  void poll();
  void configure();
  void configure_qp(Qp& qp);
  csr::TblQpCtx row_of(const Qp& qp) const;
  Qp* find(uint32_t qpn);
  const Qp* find(uint32_t qpn) const;

  const char* fidelity_;
  const Preset& preset_;
  FastConfig config_;
  std::unique_ptr<tb::Dut> dut_;
  tb::Driver driver_;
  Access access_;
  Listener* listener_ = nullptr;
  EndpointStats stats_;
  std::string problem_;
  mrc_pins_in in_{};
  mrc_pins_out out_{};
  uint64_t cycle_ = 0, next_poll_ = 0;
  bool started_ = false;
  unsigned up_ = 0;

  std::vector<Qp> qps_;
  std::deque<Wqe> wqes_;
  std::vector<std::vector<uint32_t>> profiles_;  // EVs, all of a profile's rows
  std::vector<NodeId> dests_;
  std::vector<uint32_t> dest_mtu_;
  std::vector<uint32_t> cc_mtus_;  // rows of CC_PROFILE

  std::array<Tx, 8> tx_;
  std::array<Rx, 8> rx_;
  std::array<std::deque<HostRead>, 8> reads_;
  unsigned reads_pending_ = 0, last_rsp_ = 0;
};

}  // namespace mrc::sim
