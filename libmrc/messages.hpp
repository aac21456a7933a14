// SPDX-License-Identifier: Apache-2.0
/// What lib_mrc.so and `mrc host` say to each other over a Unix socket: fixed structures behind a Head, of one machine
/// and one build. The library asks one thing at a time and waits for its answer; posts have none. The host also tells
/// what nobody asked for: completions.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace mrc::libmrc {

inline constexpr uint32_t kMagic = 0x6d726331;  // "mrc1"
inline constexpr uint32_t kVersion = 4;

enum class Kind : uint32_t {
  Hello,
  Device,
  Open,
  AllocPd,
  DeallocPd,
  RegMr,
  DeregMr,
  CreateQp,
  ModifyQp,
  QueryQp,
  DestroyQp,
  PostSend,
  PostRecv,
  Say,
  Answer,
  Completion,
  Failure,
  QueryPort,
  ModifyPort,
  PortChange,
  Controller,
  ModifyFormat,
  QueryFormat,
  ModifyEvProfile,
  QueryEvProfile,
  EvEntry,
  ModifyCcProfile,
  QueryCcProfile,
  EvEvent,
  EpRequest,
  EpWait,
  EpAnswer,
  PostGather,
  PostInline
};

struct Head {
  uint32_t bytes;  ///< of what follows
  Kind kind;
};

using Gid = std::array<uint8_t, 16>;

// Answers. `error` is an errno, 0: done.

struct Done {
  int32_t error;
};
struct Number {
  int32_t error;
  uint32_t value;
};
struct DeviceRow {
  int32_t error;
  uint32_t planes, port_gbps, max_qp, max_qp_wr, max_mr, max_wimm, max_mpr, caps;  ///< caps: MRC_DEVICE_CAP_*
  Gid gid;
  uint64_t guid;
  char name[16];
};

/// Attributes of a queue pair: bits of ModifyQp::with.
enum class Attribute : uint32_t {
  State = 1u << 0,
  CurrentState = 1u << 1,
  Access = 1u << 2,
  Path = 1u << 3,  ///< gid, hop_limit, traffic_class
  PathMtu = 1u << 4,
  PeerQp = 1u << 5,
  RqPsn = 1u << 6,
  SqPsn = 1u << 7,
  MaxWimm = 1u << 8,
  MaxWimmDest = 1u << 9,
  Mpr = 1u << 10,
  MprDest = 1u << 11,
  Timeout = 1u << 12,
  Retry = 1u << 13,
  Cap = 1u << 14,
  EvProfile = 1u << 15,
  CcProfile = 1u << 16,
};
constexpr uint32_t bit(Attribute a) { return static_cast<uint32_t>(a); }

enum class State : uint32_t { Reset, Init, Rtr, Rts, Error };

struct QpAttributes {
  State state, current;
  uint32_t mtu;  ///< bytes
  uint32_t peer_qp, rq_psn, sq_psn;
  uint32_t remote_write;  ///< 1: the peer may write
  uint32_t mpr, mpr_dest, max_wimm, max_wimm_dest, timeout, retry_linear, retry_exp;
  uint32_t dynamic_mpr, trim_nack, svc_time;
  uint32_t traffic_class;
  uint64_t ev_profile, cc_profile;
  Gid gid;  ///< of the peer
};
struct QpRow {
  int32_t error;
  uint32_t reserved;
  QpAttributes attributes;
};

// What the library asks.

/// First of all. The host reads `value` at `address` of the program, to see whether it may.
struct Hello {
  static constexpr Kind kKind = Kind::Hello;
  using Answer = Number;  ///< how many devices there are
  uint32_t magic, version;
  uint64_t address, value;
};
struct QueryDevice {
  static constexpr Kind kKind = Kind::Device;
  using Answer = DeviceRow;
  uint32_t index;
};
/// From now on everything is about this device.
struct Open {
  static constexpr Kind kKind = Kind::Open;
  using Answer = Done;
  uint32_t index;
};
struct AllocPd {
  static constexpr Kind kKind = Kind::AllocPd;
  using Answer = Number;
};
struct DeallocPd {
  static constexpr Kind kKind = Kind::DeallocPd;
  using Answer = Done;
  uint32_t pd;
};
struct RegMr {
  static constexpr Kind kKind = Kind::RegMr;
  using Answer = Number;  ///< L_Key and R_Key
  uint32_t pd;
  uint32_t remote_write, local_write;
  uint32_t reserved;
  uint64_t address, iova, bytes;  ///< iova: its first byte as work requests and peers name it
};
struct DeregMr {
  static constexpr Kind kKind = Kind::DeregMr;
  using Answer = Done;
  uint32_t key;
};
struct CreateQp {
  static constexpr Kind kKind = Kind::CreateQp;
  using Answer = Number;  ///< its number
  uint32_t pd;
  uint32_t send_all;  ///< 1: every work request completes visibly
  uint32_t max_send, max_recv;
};
struct ModifyQp {
  static constexpr Kind kKind = Kind::ModifyQp;
  using Answer = Done;
  uint32_t qp;
  uint32_t with;  ///< set of Attribute
  QpAttributes attributes;
};
struct QueryQp {
  static constexpr Kind kKind = Kind::QueryQp;
  using Answer = QpRow;
  uint32_t qp;
};
struct DestroyQp {
  static constexpr Kind kKind = Kind::DestroyQp;
  using Answer = Done;
  uint32_t qp;
};

/// Ports are numbered from 1 on, one for each plane.
struct QueryPort {
  static constexpr Kind kKind = Kind::QueryPort;
  using Answer = Number;  ///< set of the bits below
  uint32_t port;
};
inline constexpr uint32_t kPortEnabled = 1;  ///< by a controller
inline constexpr uint32_t kPortCarrier = 2;  ///< the network has it up
struct ModifyPort {
  static constexpr Kind kKind = Kind::ModifyPort;
  using Answer = Done;
  uint32_t port, enabled;
};

// The controller's part (mrc_ctl.h). Profiles are the device's: each program sees those of others.

enum class ProfileState : uint32_t { Init, Offline, Online };
inline constexpr uint32_t kMaxFields = 16;

/// An EV, and its port from 1 on; all zero: none yet.
struct EvValue {
  std::array<uint8_t, 32> value;
  uint32_t port;
  bool operator==(const EvValue&) const = default;
};

struct ControllerRow {
  int32_t error;
  uint32_t formats, ev_profiles, cc_profiles;
  uint32_t evs, free_evs, evs_of_profile;
  uint32_t events;  ///< 1: it tells when EVs change their states
};
struct QueryController {
  static constexpr Kind kKind = Kind::Controller;
  using Answer = ControllerRow;
};

/// Bits of `with` of the three kinds of profile.
struct With {
  static constexpr uint32_t kState = 1, kCurrent = 2;
  static constexpr uint32_t kMode = 4, kFields = 8;                                     ///< formats, EV profiles
  static constexpr uint32_t kFormat = 16, kCount = 32, kMinActive = 64, kEvents = 128;  ///< EV profiles
  static constexpr uint32_t kAlgorithm = 4, kConfig = 8;                                ///< CC profiles
};

struct FormatProfile {
  ProfileState state, current;
  uint32_t mode;  ///< enum mrc_ctl_ev_fmt_mode
  uint32_t fields;
  std::array<uint8_t, kMaxFields> width;
};
struct EvField {
  uint32_t width, init, min, max, mask;
};
struct EvProfile {
  ProfileState state, current;
  uint32_t mode;  ///< enum mrc_ctl_ev_mode
  uint32_t count, min_active, events;
  uint64_t format;
  uint32_t fields;
  std::array<EvField, kMaxFields> field;
};
/// One entry of a batch.
struct EvEntryRow {
  int32_t error;
  uint32_t state;  ///< enum mrc_ctl_ev_state
  EvValue ev;
};
struct EvEntry {
  static constexpr Kind kKind = Kind::EvEntry;
  using Answer = EvEntryRow;
  uint64_t id;
  uint32_t op;     ///< enum mrc_ctl_ev_op
  uint32_t index;  ///< of the array, where it is queried
  uint32_t state, all_copies;
  EvValue ev, replacement;
};

/// Of NSCC, in the order of mrc_ctl.h.
struct CcConfig {
  uint32_t disable_qa, adjust_bytes_threshold, adjust_period_threshold, base_rtt;
  float eta, fi, fi_scale, gamma, max_md_jump;
  uint32_t max_cwnd, qa_gate, qa_threshold, target_delay;
  bool operator==(const CcConfig&) const = default;
};
struct CcProfile {
  ProfileState state, current;
  uint32_t nscc;  ///< 0: no control
  uint32_t configured;
  CcConfig config;
};

template <class Profile>
struct ProfileRow {
  int32_t error;
  Profile profile;
};
template <class Profile, Kind kModifies>
struct ModifyProfile {
  static constexpr Kind kKind = kModifies;
  using Answer = Done;
  uint64_t id;
  uint32_t with;
  Profile profile;
};
template <class Profile, Kind kQueries>
struct QueryProfile {
  static constexpr Kind kKind = kQueries;
  using Answer = ProfileRow<Profile>;
  uint64_t id;
};
using ModifyFormat = ModifyProfile<FormatProfile, Kind::ModifyFormat>;
using QueryFormat = QueryProfile<FormatProfile, Kind::QueryFormat>;
using ModifyEvProfile = ModifyProfile<EvProfile, Kind::ModifyEvProfile>;
using QueryEvProfile = QueryProfile<EvProfile, Kind::QueryEvProfile>;
using ModifyCcProfile = ModifyProfile<CcProfile, Kind::ModifyCcProfile>;
using QueryCcProfile = QueryProfile<CcProfile, Kind::QueryCcProfile>;

/// Answers come as EpAnswer, before this one's.
struct EpWait {
  static constexpr Kind kKind = Kind::EpWait;
  using Answer = Number;  ///< how many came; ETIMEDOUT: fewer than were asked
  uint32_t timeout_ns;
};

// What has no answer.

/// A request to an endpoint.
struct EpRequest {
  static constexpr Kind kKind = Kind::EpRequest;
  uint32_t id, op, dscp, port, ports_up;
  uint32_t ev;  ///< as packets have it
  Gid to;
};

struct PostSend {
  static constexpr Kind kKind = Kind::PostSend;
  uint32_t qp, key;
  uint64_t wr_id, address, remote;
  uint32_t bytes, rkey, imm;
  uint8_t immediate, signaled, solicited, reserved;
  uint64_t source;  ///< the driver's: what it gathers, 0: nothing
};
/// One whose bytes come from several places.
inline constexpr uint32_t kMaxPieces = 8;
struct Piece {
  uint64_t address;
  uint32_t key, bytes;
};
struct PostGather {
  static constexpr Kind kKind = Kind::PostGather;
  PostSend post;  ///< bytes: of all
  uint64_t count;
  std::array<Piece, kMaxPieces> piece;
};
/// One whose bytes are here.
inline constexpr uint32_t kMaxInline = 256;
struct PostInline {
  static constexpr Kind kKind = Kind::PostInline;
  PostSend post;
  std::array<uint8_t, kMaxInline> data;
};
struct PostRecv {
  static constexpr Kind kKind = Kind::PostRecv;
  uint32_t qp, reserved;
  uint64_t wr_id;
};
/// A line for the host's log.
struct Say {
  static constexpr Kind kKind = Kind::Say;
  char text[240];
};

enum class Status : uint32_t {
  Success,
  LocalLength,
  LocalProtection,
  LocalOperation,
  Flushed,
  RemoteInvalid,
  RemoteAccess,
  RemoteOperation,
  RetryExceeded,
  Fatal
};

struct Completion {
  static constexpr Kind kKind = Kind::Completion;
  uint64_t wr_id;
  uint32_t qp;
  Status status;
  uint32_t bytes, imm;
  uint32_t retires;                              ///< so many work requests of the queue are over, this one included
  uint8_t receive, with_imm, solicited, silent;  ///< silent: retires, but is not to be seen
};

/// A queue pair has failed, and no work request of its own is why: an immediate found no buffer.
struct Failure {
  static constexpr Kind kKind = Kind::Failure;
  uint32_t qp;
};

/// A port is up, or not any more: a controller did it, or the network.
struct PortChange {
  static constexpr Kind kKind = Kind::PortChange;
  uint32_t port, up;
};

/// An EV of a profile has changed its state.
struct EvEvent {
  static constexpr Kind kKind = Kind::EvEvent;
  uint64_t profile;
  EvValue ev;
  uint32_t state;  ///< enum mrc_ctl_ev_state
};

struct EpAnswer {
  static constexpr Kind kKind = Kind::EpAnswer;
  uint32_t id, port, rtt_ns;
};

inline constexpr uint32_t kMaxMessage = 512;  ///< bytes behind a head

template <class T>
constexpr bool kIsMessage = std::is_trivially_copyable_v<T> && sizeof(T) <= kMaxMessage;
static_assert(kIsMessage<ModifyQp> && kIsMessage<QpRow> && kIsMessage<Say> && kIsMessage<Completion> &&
              kIsMessage<ModifyEvProfile> && kIsMessage<QueryEvProfile::Answer>);

}  // namespace mrc::libmrc
