// SPDX-License-Identifier: Apache-2.0
/// Any NIC as a device (docs/reference/device.md): the calls of a tester, who owns time, wire and host memory.
///
///     auto nic = tb::make_pins_device(options);
///     nic->open({});
///     nic->qp(config);
///     nic->rx(0, time, frame, false);
///     const Advanced ran = nic->advance(until, 0);
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "log/record.hpp"
#include "protocol/nscc_config.hpp"

namespace mrc::tb {

using log::Time;  ///< ps

inline constexpr unsigned kMaxFrame = 9216;              ///< bytes of a frame that a NIC may get
inline constexpr unsigned kBetweenFrames = 24;           ///< FCS, gap and preamble: byte times of a port
inline constexpr uint64_t kMaxTime = uint64_t{1} << 62;  ///< ps: 53 days

/// Why a device does not do what it was told: what() is a sentence with full stop.
class Refusal : public std::runtime_error {
 public:
  Refusal(const std::string& sentence, bool lawful) : std::runtime_error(sentence), unsupported(lawful) {}
  bool unsupported;  ///< it lawfully cannot; else the tester is wrong, or the device is broken
};

/// A device went on no more: it ended, said what docs/reference/device.md does not allow, did not come back in time.
/// what() is a sentence with full stop.
class DeviceGone : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct OpenRequest {
  unsigned planes = 0;  ///< ports that the tester uses; 0: all
  std::vector<std::pair<std::string, uint64_t>> settings;
  uint64_t seed = 1;
};

struct DeviceInfo {
  std::string name, version;
  unsigned planes = 0, port_gbps = 0;  ///< planes in use
  std::vector<std::string> caps;
  Time latency = 0;
  uint32_t qp_first = 0, qps = 0;
  unsigned mpr = 0, max_wimm = 0, evs = 0, regions = 0, post = 0;  ///< at most
  std::string profile;                                             ///< JSON
};

enum class Encapsulation : uint8_t { Ipv6, Srv6, Srh, Ipv4 };

/// Code points of a QP that has a class of its own.
struct QpClass {
  uint8_t data = 0, rtx = 0;  ///< of data, of retransmissions
  bool operator==(const QpClass&) const = default;
};

/// Numbers of a congestion controller, by the names of nscc_fields(). What is not named has the NIC's number.
using ControllerNumbers = std::vector<std::pair<std::string, double>>;

/// A QP as its owner wants it, or as it is.
struct QpConfig {
  uint32_t qp = 0, peer_qp = 0;
  log::QpState state = log::QpState::Reset;
  log::Ip peer_ip{};
  uint64_t peer_mac = 0x020000000002;
  unsigned mtu = 4096;
  uint32_t sq_psn = 0, rq_psn = 0;
  uint16_t msn = 0, rqmsn = 0;
  unsigned mpr = 8, mpr_dest = 8;  ///< units of 128 PSNs
  bool dynamic_mpr = false;
  unsigned max_wimm = 32, max_wimm_dest = 32;
  unsigned timeout = 7, retry_linear = 7, retry_exp = 0;
  bool trim_nack = true, svc_time = false, time_stamps = false, controlled = false;
  uint16_t pkey = 0xffff;
  ControllerNumbers nscc;            ///< of the controller of its destination, if it is controlled
  std::optional<QpClass> own_class;  ///< none: that of the NIC
  Encapsulation encap = Encapsulation::Ipv6;
  log::Ip path{};  ///< template of SRv6
  std::vector<uint32_t> evs;
  unsigned backup = 0;
};

/// The QP as it begins at a device of that size.
QpConfig first_config(uint32_t qp, const DeviceInfo& info);

/// As a log has it, but for its destination's number; EVs are of the planes in turn.
log::Qp record_of(const QpConfig& config, const log::Ip& own_ip, unsigned planes);

/// The numbers into `params`. Throws Refusal for a name that no controller has, or that is the NIC's own to know (rate,
/// MTU), and for a value out of range.
void put_numbers(const ControllerNumbers& numbers, NsccParams& params);

/// What an order to modify a QP may carry: attributes of the API (docs/reference/device.md, "A QP step by step").
enum class QpAttribute : uint8_t {
  EvProfile,
  CcProfile,
  Path,
  RqPsn,
  MaxWimmDest,
  MprDest,
  Caps,
  SqPsn,
  MaxWimm,
  Mpr,
  Timeout,
  RetryCnt
};
inline constexpr unsigned kQpAttributes = 12;
constexpr uint32_t attribute_bit(QpAttribute a) { return 1u << static_cast<unsigned>(a); }

/// `now` with the values of `wanted` that belong to these attributes, and its state.
QpConfig with_attributes(QpConfig now, const QpConfig& wanted, uint32_t attributes);

/// Why a QP stays in its state.
enum class Refused : uint8_t { No, Transition, Attributes, Value };
struct Modified {
  bool pending = false;  ///< a Done tells the rest
  Refused refused = Refused::No;
  uint32_t attributes = 0;  ///< that were missing, or whose value is out of range
};

// Outputs.

struct SentFrame {
  unsigned plane = 0;
  Time last = 0;  ///< end of its last byte
  std::vector<uint8_t> bytes;
};
struct HostRead {
  uint64_t tag = 0, addr = 0;
  uint32_t bytes = 0;
};
struct HostWrite {
  uint64_t addr = 0;
  std::vector<uint8_t> data;
};
/// A call that was pending acts from now on, or does not.
struct Done {
  std::string call;
  bool region = false;  ///< number is an R_Key, else a QP
  uint32_t number = 0;
  std::string error;
  Refused refused = Refused::No;  ///< of modify
  uint32_t attributes = 0;
};
struct Output {
  Time time = 0;  ///< of a frame, its first byte's
  /// log::Port: a carrier that came or went by itself, where ports are real (docs/guide/ports.md).
  std::variant<SentFrame, HostRead, HostWrite, log::Cqe, Done, log::Event, log::Port> body;
};

struct Advanced {
  Time reached = 0;
  std::vector<Output> out;
};

struct Counters {
  Time time = 0;  ///< they are as of then
  std::vector<std::pair<std::string, uint64_t>> values;
};

class NicDevice {
 public:
  virtual ~NicDevice() = default;
  // All throw Refusal. Everything but open() needs open() before it.

  /// Everything is as new.
  virtual DeviceInfo open(const OpenRequest& request) = 0;
  virtual void address(uint64_t mac, const log::Ip& ip) = 0;
  /// The QP as it is; one that does not exist: as it would begin.
  virtual QpConfig qp_now(uint32_t qp) const = 0;
  /// Creates or changes. Returns whether it is pending. qp_now() then tells what it got.
  virtual bool qp(const QpConfig& config) = 0;
  virtual std::pair<log::QpState, Time> query(uint32_t qp) = 0;
  /// One step to the state of `config`, as software orders it: nothing is added that the order lacks. Needs the cap
  /// modify.
  virtual Modified modify(const QpConfig&, uint32_t) {
    throw Refusal("this device has no call that modifies a queue pair step by step.", true);
  }
  virtual bool mr(const log::Mr& region) = 0;
  /// False: no room now.
  virtual bool post(const log::Post& request) = 0;
  virtual void recv(uint32_t qp, uint32_t count) = 0;
  virtual void port(unsigned plane, bool up, Time t) = 0;
  virtual bool ev(uint32_t qp, uint32_t ev, bool deny) = 0;
  virtual bool mpr(uint32_t qp, unsigned units) = 0;
  /// An EV probe to the destination of that QP, with that code point or with the NIC's. Needs the cap order_evprobe.
  virtual bool evprobe(uint32_t, unsigned, uint32_t, std::optional<uint8_t>) {
    throw Refusal("this device sends no EV probes by order.", true);
  }
  /// The pin: the NIC forgets all but its settings and its address, which its software writes again. Returns whether it
  /// is pending. Needs the cap reset.
  virtual bool reset() { throw Refusal("this device has no reset.", true); }
  virtual void rx(unsigned plane, Time t, std::span<const uint8_t> frame, bool fcs_bad) = 0;
  /// Does the host's memory take writes? As new it does.
  virtual void memory(bool takes) = 0;
  virtual void host_done(uint64_t tag, Time t, std::span<const uint8_t> data, uint32_t status) = 0;
  virtual Advanced advance(Time until, Time slack) = 0;
  virtual Counters counters() = 0;
  /// Outputs of what it shows of its inside may come later than their time, in an advance() to a later one. None of a
  /// time before this comes any more; log::kNever: all are told in their time.
  virtual Time shown_until() const { return log::kNever; }

  enum class HostQueue : uint8_t { Reads, Writes, Completions };
  /// The host takes none of these from `from` on until `until`. Needs the cap host_pause; pauses of one kind follow
  /// each other.
  virtual void pause(HostQueue, Time, Time) { throw Refusal("this device has no host that pauses.", true); }
};

}  // namespace mrc::tb
