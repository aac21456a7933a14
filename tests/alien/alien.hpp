// SPDX-License-Identifier: Apache-2.0
/// The alien: a NIC that knows nothing of ours. Written from mrc_nic.h, docs/reference/device.md, docs/reference/log.md
/// and docs/protocol alone, in a project made by `mrc dut-template` around alien_window. Packets and queues in C++,
/// what has arrived in SystemVerilog; a list of things to do instead of a clock.
///
/// Not there: SRv6, IPv4, time stamps, controllers, probes of EVs (profile.json keeps all EVs in use whatever they
/// lose), dynamic MPR, control of EVs. A window of 128. Every packet is answered with a SACK.
///
/// ALIEN_FAULT makes it wrong: see Fault.
#pragma once

#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "codec.hpp"
#include "dut.hpp"
#include "shell.hpp"

namespace alien {

using shell::Refused;
using shell::Time;

inline constexpr unsigned kPlanes = 2, kGbps = 100, kFirstQp = 40, kQps = 4, kSpan = 128;
inline constexpr Time kGap = 24 * 8000 / kGbps;  ///< between frames of a port
inline constexpr Time kRepeat = 100'000'000;     ///< of a port status update
inline constexpr uint32_t kPsn = 0xffffff;

inline Time wire_time(std::size_t bytes) { return bytes * 8000 / kGbps; }
inline int32_t apart(uint32_t a, uint32_t b) { return static_cast<int32_t>((a - b) << 8) >> 8; }

/// What ALIEN_FAULT makes wrong, and the rule that has to say so.
enum class Fault {
  None,
  Bitmap,  ///< bitmap: a SACK reports the packet behind each one that is here. resp.bitmap
  Rtx,     ///< rtx: what is sent again looks new. req.psn-once
  Twice,   ///< twice: a duplicate is written to memory again. mem.once
  Early,   ///< early: a message is confirmed when its last packet is here, whatever else is missing. resp.ack-msn
};
inline Fault fault() {
  const char* named = std::getenv("ALIEN_FAULT");
  const std::string name = named == nullptr ? "" : named;
  static const std::map<std::string, Fault> kFaults{{"", Fault::None},
                                                    {"bitmap", Fault::Bitmap},
                                                    {"rtx", Fault::Rtx},
                                                    {"twice", Fault::Twice},
                                                    {"early", Fault::Early}};
  const auto at = kFaults.find(name);
  if (at == kFaults.end()) throw Refused("there is no ALIEN_FAULT " + name + ".");
  return at->second;
}

/// A work request.
struct Work {
  mrc_nic_post_t post;
  uint16_t msn = 0, rqmsn = 0;
  uint32_t status = MRC_CQE_OK;
  bool refused = false;  ///< completes in its turn, and is never sent
  uint64_t cut = 0;      ///< bytes that packets were made for
};

/// A packet of ours, from the first read of its payload until its message is confirmed.
struct Sending {
  uint32_t psn = 0;
  Head head;
  Bytes body;  ///< METH, RETH, ImmDt; then payload and pad, once read
  bool read = false, sent = false, here = false, queued = false, gap_reported = false, wanted = false;
  unsigned tries = 0;
  uint16_t msn = 0;
  uint32_t entropy = 0;
  uint64_t order = 0;  ///< of its newest transmission among all
  Time last = 0;
};

struct Entropy {
  uint32_t value = 0;
  bool skip = false;
};

struct Arrived {
  uint16_t msn = 0, rqmsn = 0;
  bool last = false, imm = false;
  uint32_t value = 0, bytes = 0;
};

struct Qp {
  mrc_nic_qp_t c{};
  uint32_t number = 0, state = MRC_QP_RESET;
  uint64_t life = 0;
  // requestor
  std::deque<Work> work;
  std::deque<Sending> flight;
  std::vector<Entropy> evs;
  std::size_t turn = 0, key = 0;
  uint32_t psn = 0, cack = 0;  ///< next one; heard
  uint16_t msn = 0, rqmsn = 0, confirmed = 0;
  unsigned retries = 0, immediates = 0;
  Time progress = 0;
  bool ticking = false;
  // responder
  std::map<uint32_t, Arrived> arrived;  ///< above cack, by PSN
  uint64_t bytes = 0;                   ///< nominal
  uint32_t seen_cack = 0;
  bool has_acked = false, naks = false;
  Head ack;
  uint8_t syndrome = 0x1f;
  uint16_t expected = 0;  ///< messages that are complete

  Ip peer() const {
    Ip ip;
    std::copy_n(c.peer_ip, 16, ip.begin());
    return ip;
  }
};

struct Queued {
  Bytes frame;
  uint32_t qp = 0;
  uint64_t life = 0;
  uint32_t psn = 0;
  bool data = false;
};

struct Port {
  bool up = true, busy = false;
  std::deque<Queued> control, data;
  bool works(bool peer) const { return up && peer; }
};

class Alien final : public shell::Nic {
 public:
  explicit Alien(uint64_t seed) : seed_(seed | 1), fault_(fault()), dut_(seed) { dut_.reset(2); }

  shell::Facts facts() override {
    shell::Facts f;
    f.planes = kPlanes;
    f.port_gbps = kGbps;
    f.qp_first = kFirstQp;
    f.qps = kQps;
    f.mpr = kSpan / 128;
    f.max_wimm = 32;
    f.evs = 16;
    f.regions = 16;
    f.post = 32;
    f.latency = 4'000'000;
    f.name = "alien";
    f.version = "1";
    f.caps = "requestor responder write_imm trim_nack bytes regions pkey psn ports";
    return f;
  }
  void address(uint64_t mac, const uint8_t* ip) override {
    mac_ = mac;
    std::copy_n(ip, 16, ip_.begin());
  }
  void qp(mrc_nic_qp_t& c) override;
  void mr(const mrc_nic_mr_t& region) override { regions_[region.rkey] = region; }
  bool post(const mrc_nic_post_t& request) override;
  void rx(unsigned plane, Time last, shell::Bytes frame, bool fcs_bad) override {
    if (fcs_bad) return;
    at(last, [this, plane, frame = std::move(frame)]() mutable { receive(plane, std::move(frame)); });
  }
  void host_done(uint64_t tag, Time t, shell::Bytes data, uint32_t status) override {
    at(t, [this, tag, data = std::move(data), status] { read_done(tag, data, status); });
  }
  void port(unsigned plane, bool up, Time t) override {
    if (plane >= kPlanes) throw Refused("there is no port " + std::to_string(plane) + ".");
    at(t, [this, plane, up] { carrier(plane, up); });
  }
  uint32_t query(uint32_t number, Time& t) override {
    t = now_;
    return find(number).state;
  }
  Time advance(Time until, Time slack) override {
    while (!todo_.empty()) {
      const Time limit = has_outs() ? std::min(until, first_out() + slack) : until;
      if (todo_.begin()->first > limit) break;
      auto node = todo_.extract(todo_.begin());
      now_ = std::max(now_, node.key());
      node.mapped()();
    }
    now_ = std::max(now_, has_outs() ? std::min(until, first_out() + slack) : until);
    return now_;
  }

 private:
  using Action = std::function<void()>;
  void at(Time t, Action action) { todo_.emplace(std::max(t, now_), std::move(action)); }
  uint32_t random() {
    seed_ ^= seed_ << 13;
    seed_ ^= seed_ >> 7;
    seed_ ^= seed_ << 17;
    return static_cast<uint32_t>(seed_ >> 16);
  }
  Qp& find(uint32_t number) {
    const auto q = qps_.find(number);
    if (q == qps_.end()) throw Refused("there is no queue pair " + std::to_string(number) + ".");
    return q->second;
  }

  // What has arrived, by alien_window.
  struct Window {
    unsigned verdict;
    uint32_t cack;
    std::array<uint32_t, 4> beyond;
    unsigned count;
    bool has(unsigned i) const { return (beyond[i / 32] >> i % 32 & 1) != 0; }
  };
  Window window(unsigned op, const Qp& q, uint32_t psn) {
    Valien_window& pins = dut_.pins();
    pins.op = static_cast<uint8_t>(op);
    pins.qp = static_cast<uint8_t>(q.number - kFirstQp);
    pins.psn = psn & kPsn;
    dut_.cycle();
    Window w{pins.verdict, pins.cack, {}, pins.count};
    for (unsigned i = 0; i < 4; ++i) w.beyond[i] = pins.beyond[i];
    return w;
  }

  // Ports.
  bool usable(unsigned plane) const { return ports_[plane].up && peer_up_[plane]; }
  void control(unsigned plane, Bytes frame) {
    if (!usable(plane)) plane = usable(0) ? 0 : 1;
    if (!usable(plane)) return waiting_.push_back(std::move(frame));
    ports_[plane].control.push_back({std::move(frame)});
    serve(plane);
  }
  /// A plane may work again.
  void resume() {
    std::deque<Bytes> frames;
    frames.swap(waiting_);
    for (Bytes& frame : frames) control(0, std::move(frame));
    for (auto& [n, q] : qps_) send(q);
  }
  void serve(unsigned plane);
  void carrier(unsigned plane, bool up);
  Route route(const Qp& q, uint32_t entropy) const { return {mac_, q.c.peer_mac, ip_, q.peer(), entropy}; }

  // Responder.
  void receive(unsigned plane, Bytes frame);
  void write(Qp& q, unsigned plane, const Packet& p);
  bool refused(const Packet& p) const;
  void refuse(Qp& q, unsigned plane, const Packet& p, const Window& w);
  void place(const Packet& p);
  void complete(Qp& q, const Window& w);
  void sack(Qp& q, unsigned plane, const Packet& p, const Window& w, std::optional<uint16_t> probe);
  void nack(Qp& q, unsigned plane, const Packet& p, uint8_t reason);
  void confirm(Qp& q, unsigned plane, uint32_t entropy);
  void endpoint(unsigned plane, const Packet& p);

  // Requestor.
  void cut(Qp& q);
  void read_done(uint64_t tag, const Bytes& data, uint32_t status);
  void send(Qp& q);
  bool start(Qp& q, Sending& s);
  /// Once more, when a port has room.
  void again(Qp& q, Sending& s) {
    s.wanted = s.sent && !s.queued;
    send(q);
  }
  std::optional<unsigned> choose(Qp& q, uint32_t not_this, uint32_t& entropy);
  void heard_sack(Qp& q, const Packet& p);
  void heard_nack(Qp& q, const Packet& p);
  void heard_ack(Qp& q, const Packet& p);
  void reported(Qp& q, uint32_t cack);
  void tick(Qp& q);
  Time interval(const Qp& q) const {
    const Time t = Time{1'024'000} << std::min(q.c.timeout, 24u);
    return q.retries <= q.c.retry_linear ? t : t << std::min(q.retries - q.c.retry_linear, 20u);
  }
  bool retry(Qp& q);
  void finish_work(Qp& q);
  void fail(Qp& q, uint32_t status);
  void skip(Qp& q, uint32_t entropy) {
    for (Entropy& e : q.evs) e.skip |= e.value == entropy;
  }

  // Port status updates.
  void update();
  void repeat_update(uint64_t round);

  uint64_t seed_;
  Fault fault_;
  Dut dut_;
  Time now_ = 0;
  std::multimap<Time, Action> todo_;
  uint64_t mac_ = 0;
  Ip ip_{};
  std::map<uint32_t, Qp> qps_;
  std::map<uint32_t, mrc_nic_mr_t> regions_;
  std::array<Port, kPlanes> ports_;
  std::deque<Bytes> waiting_;  ///< answers that find no plane
  std::array<bool, kPlanes> peer_up_{true, true};
  struct Read {
    uint32_t qp, psn;
    uint64_t life;
  };
  std::map<uint64_t, Read> reads_;
  uint64_t tag_ = 0, order_ = 0, life_ = 0;
  uint16_t request_ = 0;
  bool reported_ = true;
  uint64_t round_ = 0;
};

}  // namespace alien
