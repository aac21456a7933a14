// SPDX-License-Identifier: Apache-2.0
/// api/mrc_ref.h over Run: one device, its observations as records.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <map>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "api/mrc_ref.h"
#include "log/writer.hpp"
#include "reference/run.hpp"

namespace {

using namespace mrc;

constexpr unsigned kSources = 67;  ///< ports, host, verbs, events
constexpr uint64_t kMostTime = uint64_t{1} << 62;

/// Why a call is refused: what() is a sentence.
struct Refused {
  int code;
  std::string sentence;
};

void need(bool fine, int code, const std::string& sentence) {
  if (!fine) throw Refused{code, sentence};
}

template <class Struct>
const Struct& known(const Struct* from, const char* name) {
  need(from != nullptr, MRC_E_ARG, fmt::format("{} is NULL.", name));
  need(from->size >= sizeof(Struct), MRC_E_SIZE,
       fmt::format("{}.size is {}; version 1 has {} bytes.", name, from->size, sizeof(Struct)));
  return *from;
}

template <std::size_t kSize>
void put(char (&to)[kSize], std::string_view text) {
  const std::size_t n = std::min(text.size(), kSize - 1);
  std::memcpy(to, text.data(), n);
  to[n] = 0;
}

uint32_t number_of(ref::Verdict verdict) { return static_cast<uint32_t>(verdict); }
static_assert(MRC_PASS == static_cast<int>(ref::Verdict::Pass) && MRC_BROKEN == static_cast<int>(ref::Verdict::Broken));
static_assert(MRC_STATUS_OTHER == static_cast<int>(log::Status::Other));
static_assert(MRC_QP_ERROR == static_cast<int>(log::QpState::Error));
static_assert(MRC_HOST_VISIBLE == static_cast<int>(log::HostOp::Visible));
static_assert(MRC_EV_QP == static_cast<int>(log::EventKind::Qp));
static_assert(int{MRC_FRAME_MAYBE} == int{log::kMaybe} && int{MRC_FRAME_CUT} == int{log::kCut} &&
              int{MRC_FRAME_FCS_BAD} == int{log::kFcsBad});

/// A frame that is coming in beats.
struct Beats {
  std::vector<uint8_t> bytes;
  uint64_t first = 0;
  bool open = false, unknown = false;
};

}  // namespace

struct mrc_ref {
  ref::Profile profile;
  ref::RunOptions options;
  std::unique_ptr<ref::Run> run;  ///< from the first observation on
  std::ofstream file;
  std::unique_ptr<log::Writer> writer;
  std::string path, error;
  std::array<uint64_t, kSources> until{}, newest{}, newest_rx{};
  std::array<std::array<Beats, 64>, 2> beats;
  std::map<uint32_t, log::Qp> qps;
  std::size_t notified = 0;  ///< findings that were asked for
  std::vector<std::string> unused;
  std::size_t unused_notified = 0;
  uint64_t judged = 0, frames = 0;
  bool finished = false, dead = false;

  void begin() {
    need(!finished, MRC_E_UNSUPPORTED, "mrc_ref_finish was called: this judge takes no more.");
    if (run) return;
    run = std::make_unique<ref::Run>(options);
    push({0, 0, log::Device{profile.name.empty() ? "device" : profile.name, ref::to_json(profile)}});
  }
  void push(log::Record record) {
    if (writer) {
      need(writer->write(record) && file.good(), MRC_E_ARG, fmt::format("{} cannot be written.", path));
    }
    auto held = std::make_unique<log::Record>(std::move(record));
    run->take(held);
  }
  /// A source tells in order. `newest_of`: of which it is the newest.
  void in_order(unsigned source, uint64_t t, uint64_t& newest_of) const {
    need(t < kMostTime, MRC_E_ARG, fmt::format("time {} is above 2^62 ps.", t));
    const uint64_t before = std::max(until[source], newest_of);
    need(t >= before, MRC_E_PAST,
         fmt::format("source {} tells of {} ps, and has told all up to {} ps.", source, t, before));
    newest_of = t;
  }
  void observe(unsigned source, uint64_t t, log::Body body) {
    begin();
    in_order(source, t, newest[source]);
    push({0, t, std::move(body)});
  }
  void frame(bool sent, const mrc_frame& f) {
    need(f.plane < profile.planes, MRC_E_ARG, fmt::format("plane {}: the profile has {}.", f.plane, profile.planes));
    need(f.bytes <= log::kMaxFrameBytes && f.stored <= f.bytes, MRC_E_ARG,
         fmt::format("a frame of {} bytes, {} of them stored.", f.bytes, f.stored));
    need((f.flags & MRC_FRAME_CUT) != 0 || f.stored == f.bytes, MRC_E_ARG,
         fmt::format("{} of {} bytes are stored, and flags lack MRC_FRAME_CUT.", f.stored, f.bytes));
    need(f.stored == 0 || f.data != nullptr, MRC_E_ARG, "mrc_frame.data is NULL.");
    need(f.flags < 8, MRC_E_ARG, fmt::format("mrc_frame.flags {:#x} is not known.", f.flags));
    need(f.t_last >= f.t_first && f.t_last < kMostTime, MRC_E_ARG,
         fmt::format("t_last {} lies before t_first {}.", f.t_last, f.t_first));
    begin();
    in_order(f.plane, f.t_first, (sent ? newest : newest_rx)[f.plane]);
    log::Frame body;
    body.sent = sent;
    body.plane = static_cast<uint8_t>(f.plane);
    body.flags = static_cast<uint8_t>(f.flags);
    body.last = f.t_last;
    body.length = f.bytes;
    body.number = ++frames;
    body.bytes.assign(f.data, f.data + f.stored);
    push({0, f.t_first, std::move(body)});
  }
  void pass(unsigned source, uint64_t t) {
    begin();
    need(source < kSources || source == MRC_SRC_ALL, MRC_E_ARG, fmt::format("source {} is not known.", source));
    // Time without end: this source says nothing any more. A frame that comes in beats is not told yet, and begins
    // before: its port has passed no more than that.
    for (unsigned one = 0; one < kSources; ++one) {
      if (source != MRC_SRC_ALL && source != one) continue;
      const Beats* const sent = one < beats[1].size() ? &beats[1][one] : nullptr;
      until[one] = std::max(until[one], sent != nullptr && sent->open ? std::min(t, sent->first) : t);
    }
    uint64_t all = std::min({until[64], until[65], until[66]});
    for (unsigned p = 0; p < profile.planes; ++p) all = std::min(all, until[p]);
    all = std::min(all, kMostTime);
    if (all <= judged) return;
    judged = all;
    push({0, all, log::Until{static_cast<uint8_t>(log::Source::All)}});
  }
};

namespace {

/// What every call does around its work: no exception leaves, the sentence is kept.
template <class Work>
int guarded(mrc_ref* ref, Work&& work) {
  if (ref == nullptr) return MRC_E_ARG;
  if (ref->dead) return MRC_E_DEAD;
  try {
    ref->error.clear();
    return work(*ref);
  } catch (const Refused& refused) {
    ref->error = refused.sentence;
    return refused.code;
  } catch (const InputError& error) {
    ref->error = std::string(error.what()) + " " + error.remedy;
    return MRC_E_ARG;
  } catch (const std::bad_alloc&) {
    ref->dead = true;
    return MRC_E_DEAD;
  } catch (const std::exception& error) {
    ref->dead = true;
    ref->error = error.what();
    return MRC_E_DEAD;
  }
}

bool is_state_only(uint32_t flags) { return (flags & MRC_QP_STATE_ONLY) != 0; }

log::Qp read_qp(const mrc_qp& q) {
  need(q.flags < 64, MRC_E_ARG, fmt::format("mrc_qp.flags {:#x} is not known.", q.flags));
  need(q.encap <= MRC_ENCAP_IPV4, MRC_E_ARG, fmt::format("mrc_qp.encap {} is not known.", q.encap));
  need(q.mtu >= 256 && q.mtu <= 4096 && std::has_single_bit(q.mtu), MRC_E_ARG,
       fmt::format("an MTU of {} bytes: 256, 512, 1024, 2048 or 4096.", q.mtu));
  need(q.sq_psn < 1u << 24 && q.rq_psn < 1u << 24, MRC_E_ARG, "a PSN has 24 bits.");
  need(q.pkey <= 0xffff && q.msn <= 0xffff && q.rqmsn <= 0xffff, MRC_E_ARG, "pkey, msn and rqmsn have 16 bits.");
  need(q.num_evs <= 1u << 16 && q.backup <= q.num_evs && (q.num_evs == 0 || q.evs != nullptr), MRC_E_ARG,
       fmt::format("{} EVs, {} of them backup, at evs {}.", q.num_evs, q.backup, q.evs ? "a list" : "NULL"));
  log::Qp qp;
  qp.qp = q.qp;
  qp.peer_qp = q.peer_qp;
  qp.dest = q.dest;
  qp.mtu = q.mtu;
  qp.sq_psn = q.sq_psn;
  qp.rq_psn = q.rq_psn;
  qp.msn = static_cast<uint16_t>(q.msn);
  qp.rqmsn = static_cast<uint16_t>(q.rqmsn);
  qp.mpr = q.mpr;
  qp.mpr_dest = q.mpr_dest;
  qp.max_wimm = q.max_wimm;
  qp.max_wimm_dest = q.max_wimm_dest;
  qp.timeout = q.timeout;
  qp.retry_linear = q.retry_linear;
  qp.retry_exp = q.retry_exp;
  qp.dynamic_mpr = (q.flags & MRC_QP_DYNAMIC_MPR) != 0;
  qp.trim_nack = (q.flags & MRC_QP_TRIM_NACK) != 0;
  qp.svc_time = (q.flags & MRC_QP_SVC_TIME) != 0;
  qp.time_stamps = (q.flags & MRC_QP_TIME_STAMPS) != 0;
  qp.controlled = (q.flags & MRC_QP_CONTROLLED) != 0;
  qp.pkey = static_cast<uint16_t>(q.pkey);
  qp.encap = static_cast<uint8_t>(q.encap);
  std::ranges::copy(q.own_ip, qp.own_ip.begin());
  std::ranges::copy(q.peer_ip, qp.peer_ip.begin());
  if (q.num_evs != 0) qp.evs.assign(q.evs, q.evs + q.num_evs);
  if (q.num_evs != 0 && q.ev_planes != nullptr) qp.ev_planes.assign(q.ev_planes, q.ev_planes + q.num_evs);
  qp.backup = q.backup;
  return qp;
}

void fill(mrc_finding& to, const ref::Finding& from, const std::string& waived_for) {
  const ref::RuleInfo& rule = info(from.rule);
  to.verdict = waived_for.empty() ? number_of(from.verdict) : uint32_t{MRC_PASS};
  to.qp = from.qp;
  to.t = from.time;
  to.since = from.since;
  to.frame = from.frame;
  put(to.rule, rule.id);
  put(to.cite, rule.cite);
  put(to.mark, rule.mark);
  std::string text = fmt::format("{}; came {}", rule.text, from.came);
  if (!from.right.empty()) text += "; right would be " + from.right;
  if (!waived_for.empty()) text += "; waived: " + waived_for;
  put(to.text, text);
}

}  // namespace

uint32_t mrc_ref_version() { return MRC_REF_API; }
const char* mrc_ref_name() { return "mrcnic " MRC_REF_VERSION; }

int mrc_ref_open(uint32_t api, const char* profile_json, char* error, size_t error_size, mrc_ref** out) {
  const auto refuse = [&](int code, std::string_view sentence) {
    if (error != nullptr && error_size != 0) {
      const std::size_t n = std::min(sentence.size(), error_size - 1);
      std::memcpy(error, sentence.data(), n);
      error[n] = 0;
    }
    return code;
  };
  if (out == nullptr) return refuse(MRC_E_ARG, "out is NULL.");
  *out = nullptr;
  try {
    if (api != MRC_REF_API)
      return refuse(MRC_E_VERSION,
                    fmt::format("the caller has version {} of mrc_ref.h, this library version {}.", api, MRC_REF_API));
    auto made = std::make_unique<mrc_ref>();
    if (profile_json != nullptr && *profile_json != 0) made->profile = ref::read_profile(profile_json, "the profile");
    *out = made.release();
    return refuse(MRC_OK, "");
  } catch (const InputError& wrong) {
    return refuse(MRC_E_ARG, std::string(wrong.what()) + " " + wrong.remedy);
  } catch (const std::exception&) {
    return refuse(MRC_E_DEAD, "there is no memory for a judge.");
  }
}

void mrc_ref_close(mrc_ref* ref) { delete ref; }
const char* mrc_ref_error(const mrc_ref* ref) { return ref == nullptr ? "the handle is NULL." : ref->error.c_str(); }

int mrc_ref_waive(mrc_ref* ref, const char* rule, const char* reason) {
  return guarded(ref, [&](mrc_ref& r) {
    need(!r.run, MRC_E_UNSUPPORTED, "waivers come before the first observation.");
    need(rule != nullptr && ref::rule_of(rule), MRC_E_ARG,
         fmt::format("there is no rule '{}'; docs/reference/generated/rules.md lists them.", rule ? rule : "NULL"));
    need(reason != nullptr && *reason != 0, MRC_E_ARG, fmt::format("the waiver of {} has no reason.", rule));
    r.options.waive[rule] = {reason, {}, {}};
    return MRC_OK;
  });
}

int mrc_ref_shows(mrc_ref* ref, uint64_t event_kinds) {
  return guarded(ref, [&](mrc_ref& r) {
    need(!r.run, MRC_E_UNSUPPORTED, "what the device shows is said before the first observation.");
    need(event_kinds < uint64_t{1} << (MRC_EV_QP + 1), MRC_E_ARG, "a kind of event is not known.");
    r.profile.shows = event_kinds;
    return MRC_OK;
  });
}

int mrc_ref_record(mrc_ref* ref, const char* path) {
  return guarded(ref, [&](mrc_ref& r) {
    need(!r.run && !r.writer, MRC_E_UNSUPPORTED, "recording is asked for once, before the first observation.");
    need(path != nullptr, MRC_E_ARG, "the path is NULL.");
    r.path = path;
    r.file.open(r.path, std::ios::binary | std::ios::trunc);
    need(r.file.is_open(), MRC_E_ARG, fmt::format("{} cannot be written.", r.path));
    r.writer = std::make_unique<log::Writer>(r.file);
    return MRC_OK;
  });
}

int mrc_ref_rx(mrc_ref* ref, const mrc_frame* frame) {
  return guarded(ref, [&](mrc_ref& r) {
    r.frame(false, known(frame, "mrc_frame"));
    return MRC_OK;
  });
}

int mrc_ref_tx(mrc_ref* ref, const mrc_frame* frame) {
  return guarded(ref, [&](mrc_ref& r) {
    r.frame(true, known(frame, "mrc_frame"));
    return MRC_OK;
  });
}

int mrc_ref_beat(mrc_ref* ref, int dir, int plane, const uint32_t w[16], uint64_t keep, int last, int err, int unknown,
                 uint64_t t) {
  return guarded(ref, [&](mrc_ref& r) {
    need(dir == 0 || dir == 1, MRC_E_ARG, fmt::format("direction {}: 0 to the device, 1 from it.", dir));
    need(plane >= 0 && static_cast<uint32_t>(plane) < r.profile.planes, MRC_E_ARG,
         fmt::format("plane {}: the profile has {}.", plane, r.profile.planes));
    Beats& b = r.beats[static_cast<std::size_t>(dir)][static_cast<std::size_t>(plane)];
    const auto bytes = static_cast<unsigned>(std::popcount(keep));
    const bool dense = keep == ~uint64_t{0} || keep + 1 == uint64_t{1} << bytes;
    // What is wrong ends the frame: the next beat begins another.
    const auto refuse_unless = [&](bool fine, const std::string& sentence) {
      if (!fine) b = {};
      need(fine, MRC_E_ARG, sentence);
    };
    refuse_unless(unknown != 0 || (dense && (bytes == 64 || (last != 0 && bytes != 0))),
                  fmt::format("keep {:#x}: all bytes of a beat count, of the last one those from bit 0 on.", keep));
    refuse_unless(b.bytes.size() + 64 <= log::kMaxFrameBytes + 63, "a frame grows above 65536 bytes.");
    need(w != nullptr, MRC_E_ARG, "w is NULL.");
    if (!b.open) {
      b.open = true;
      b.first = t;
    }
    b.unknown |= unknown != 0;
    if (!b.unknown) {
      for (unsigned i = 0; i < bytes; ++i) b.bytes.push_back(static_cast<uint8_t>(w[i / 4] >> (8 * (i % 4))));
    }
    if (last == 0) return MRC_OK;
    Beats whole;
    std::swap(whole, b);
    if (whole.unknown) {
      r.begin();
      const auto reason = fmt::format("a frame {} plane {} had unknown bits", dir == 0 ? "to" : "from", plane);
      r.push({0, t, log::Gap{static_cast<uint8_t>(plane), 1, whole.first, reason}});
      return MRC_OK;
    }
    mrc_frame frame{};
    frame.plane = static_cast<uint32_t>(plane);
    frame.flags = err != 0 ? MRC_FRAME_FCS_BAD : 0;
    frame.bytes = frame.stored = static_cast<uint32_t>(whole.bytes.size());
    frame.t_first = whole.first;
    frame.t_last = t;
    frame.data = whole.bytes.data();
    r.frame(dir == 1, frame);
    return MRC_OK;
  });
}

int mrc_ref_port(mrc_ref* ref, int plane, int up, uint64_t t) {
  return guarded(ref, [&](mrc_ref& r) {
    need(plane >= 0 && static_cast<uint32_t>(plane) < r.profile.planes, MRC_E_ARG,
         fmt::format("plane {}: the profile has {}.", plane, r.profile.planes));
    r.begin();
    need(t >= r.until[static_cast<std::size_t>(plane)], MRC_E_PAST,
         fmt::format("plane {} has passed {} ps.", plane, t));
    r.push({0, t, log::Port{static_cast<uint8_t>(plane), up != 0}});
    return MRC_OK;
  });
}

int mrc_ref_qp(mrc_ref* ref, const mrc_qp* qp, uint64_t t) {
  return guarded(ref, [&](mrc_ref& r) {
    const mrc_qp& q = known(qp, "mrc_qp");
    need(q.qp < 1u << 24, MRC_E_ARG, "a QP number has 24 bits.");
    need(q.state <= MRC_QP_ERROR, MRC_E_ARG, fmt::format("mrc_qp.state {} is not known.", q.state));
    log::Qp notified;
    if (is_state_only(q.flags)) {
      const auto before = r.qps.find(q.qp);
      need(before != r.qps.end(), MRC_E_ARG,
           fmt::format("QP 0x{:x} was not reported yet: its state alone says little.", q.qp));
      notified = before->second;
    } else {
      notified = read_qp(q);
    }
    notified.state = static_cast<log::QpState>(q.state);
    r.observe(MRC_SRC_VERBS, t, notified);
    r.qps[q.qp] = std::move(notified);
    return MRC_OK;
  });
}

int mrc_ref_mr(mrc_ref* ref, const mrc_mr* mr, int valid, uint64_t t) {
  return guarded(ref, [&](mrc_ref& r) {
    const mrc_mr& m = known(mr, "mrc_mr");
    r.begin();
    r.push({0, t, log::Mr{m.rkey, valid != 0, m.remote_write != 0, m.va, m.bytes, m.addr}});
    return MRC_OK;
  });
}

int mrc_ref_qp_json(mrc_ref* ref, const char* json, uint64_t t) {
  return guarded(ref, [&](mrc_ref& r) {
    need(json != nullptr, MRC_E_ARG, "json is NULL.");
    log::Qp notified = ref::read_qp(json, "mrc_ref_qp_json");
    r.observe(MRC_SRC_VERBS, t, notified);
    r.qps[notified.qp] = std::move(notified);
    return MRC_OK;
  });
}

int mrc_ref_mr_json(mrc_ref* ref, const char* json, uint64_t t) {
  return guarded(ref, [&](mrc_ref& r) {
    need(json != nullptr, MRC_E_ARG, "json is NULL.");
    const log::Mr notified = ref::read_region(json, "mrc_ref_mr_json");
    r.begin();
    r.push({0, t, notified});
    return MRC_OK;
  });
}

int mrc_ref_post(mrc_ref* ref, const mrc_work* work) {
  return guarded(ref, [&](mrc_ref& r) {
    const mrc_work& w = known(work, "mrc_work");
    r.observe(MRC_SRC_VERBS, w.t,
              log::Post{w.qp, w.wr_id, w.addr, w.remote, w.bytes, w.rkey, (w.flags & MRC_WORK_IMM) != 0, w.imm});
    return MRC_OK;
  });
}

int mrc_ref_recv(mrc_ref* ref, uint32_t qp, uint32_t count, uint64_t t) {
  return guarded(ref, [&](mrc_ref& r) {
    r.observe(MRC_SRC_VERBS, t, log::PostReceive{qp, count});
    return MRC_OK;
  });
}

int mrc_ref_cqe(mrc_ref* ref, const mrc_work* work) {
  return guarded(ref, [&](mrc_ref& r) {
    const mrc_work& w = known(work, "mrc_work");
    need(w.status <= MRC_STATUS_OTHER, MRC_E_ARG, fmt::format("mrc_work.status {} is not known.", w.status));
    log::Cqe cqe;
    cqe.qp = w.qp;
    cqe.receive = (w.flags & MRC_WORK_RECEIVE) != 0;
    cqe.status = static_cast<log::Status>(w.status);
    cqe.wr_id = w.wr_id;
    cqe.imm = w.imm;
    cqe.msn = w.msn;
    cqe.rqmsn = w.rqmsn;
    cqe.bytes = w.bytes;
    r.observe(MRC_SRC_VERBS, w.t, cqe);
    return MRC_OK;
  });
}

int mrc_ref_host(mrc_ref* ref, const mrc_host* host) {
  return guarded(ref, [&](mrc_ref& r) {
    const mrc_host& h = known(host, "mrc_host");
    need(h.op <= MRC_HOST_VISIBLE, MRC_E_ARG, fmt::format("mrc_host.op {} is not known.", h.op));
    need(h.bytes <= log::kMaxHostBytes, MRC_E_ARG, fmt::format("a host access of {} bytes.", h.bytes));
    log::Host notified;
    notified.op = static_cast<log::HostOp>(h.op);
    notified.addr = h.addr;
    notified.bytes = h.bytes;
    notified.tag = h.tag;
    notified.status = h.status;
    const bool has_data = h.op == MRC_HOST_READ_DONE || h.op == MRC_HOST_WRITE;
    if (has_data && h.data != nullptr) notified.data.assign(h.data, h.data + h.bytes);
    r.observe(MRC_SRC_HOST, h.t, std::move(notified));
    return MRC_OK;
  });
}

int mrc_ref_event(mrc_ref* ref, int kind, uint32_t qp, const uint64_t arg[6], uint64_t t) {
  return guarded(ref, [&](mrc_ref& r) {
    need(kind >= 0 && kind <= MRC_EV_QP, MRC_E_ARG, fmt::format("event kind {} is not known.", kind));
    need(arg != nullptr, MRC_E_ARG, "arg is NULL.");
    log::Event event{static_cast<log::EventKind>(kind), qp, {}};
    std::copy(arg, arg + event.arg.size(), event.arg.begin());
    r.observe(MRC_SRC_EVENTS, t, event);
    return MRC_OK;
  });
}

int mrc_ref_counter(mrc_ref* ref, const char* name, uint64_t value, uint64_t t) {
  return guarded(ref, [&](mrc_ref& r) {
    need(name != nullptr && *name != 0, MRC_E_ARG, "the counter has no name.");
    r.begin();
    r.push({0, t, log::Counter{name, value}});
    return MRC_OK;
  });
}

int mrc_ref_gap(mrc_ref* ref, int source, uint64_t from, uint64_t to, uint64_t lost, const char* reason) {
  return guarded(ref, [&](mrc_ref& r) {
    need(source >= 0 && (source < static_cast<int>(kSources) || source == MRC_SRC_ALL) && from <= to, MRC_E_ARG,
         fmt::format("a gap of source {} from {} to {} ps.", source, from, to));
    r.begin();
    r.push({0, to, log::Gap{static_cast<uint8_t>(source), lost, from, reason ? reason : ""}});
    return MRC_OK;
  });
}

int mrc_ref_until(mrc_ref* ref, int source, uint64_t t) {
  return guarded(ref, [&](mrc_ref& r) {
    r.pass(static_cast<unsigned>(source), t);
    return MRC_OK;
  });
}

int mrc_ref_finish(mrc_ref* ref, int cut) {
  return guarded(ref, [&](mrc_ref& r) {
    r.begin();
    const uint64_t end =
        std::max({r.judged, *std::ranges::max_element(r.newest), *std::ranges::max_element(r.newest_rx)});
    r.push({0, end, log::End{cut != 0, cut != 0 ? "cut by its caller" : ""}});
    r.run->finish();
    r.finished = true;
    r.unused = r.run->unused_waivers();
    if (r.writer) {
      r.writer->finish();
      r.file.close();
      need(!r.file.fail(), MRC_E_ARG, fmt::format("{} cannot be written to its end.", r.path));
    }
    return MRC_OK;
  });
}

int mrc_ref_next(mrc_ref* ref, mrc_finding* finding) {
  return guarded(ref, [&](mrc_ref& r) {
    const uint32_t size = known(finding, "mrc_finding").size;
    if (!r.run) return 0;
    const std::span<const ref::Finding> found = r.run->found(0);
    mrc_finding& to = *finding;
    if (r.notified < found.size()) {
      const ref::Finding& from = found[r.notified++];
      const auto waiver = r.options.waive.find(info(from.rule).id);
      fill(to, from, waiver == r.options.waive.end() ? "" : waiver->second.reason);
    } else if (r.unused_notified < r.unused.size()) {
      const std::string& id = r.unused[r.unused_notified++];
      to = {};
      to.qp = -1;
      put(to.rule, id);
      put(to.text,
          fmt::format("the waiver of {} was not needed: take it away ({})", id, r.options.waive.at(id).reason));
    } else {
      return 0;
    }
    to.size = size;
    return 1;
  });
}

int mrc_ref_verdict(const mrc_ref* ref) {
  if (ref == nullptr) return MRC_E_ARG;
  if (ref->dead) return MRC_E_DEAD;
  return ref->run ? static_cast<int>(ref->run->verdict()) : int{MRC_INCONCLUSIVE};
}

uint64_t mrc_ref_packets(const mrc_ref* ref) { return ref != nullptr && ref->run ? ref->run->packets() : 0; }

int mrc_ref_metric(const mrc_ref* ref, uint32_t i, const char** rule, uint64_t* held, uint64_t* broken,
                   uint64_t* rests) {
  if (ref == nullptr || i >= ref::kNumRules) return 0;
  const auto which = static_cast<ref::Rule>(i);
  const ref::Tally tally = ref->run ? ref->run->tally(which) : ref::Tally{};
  if (rule != nullptr) *rule = info(which).id;
  if (held != nullptr) *held = tally.checked;
  if (broken != nullptr) *broken = tally.broken;
  if (rests != nullptr) {
    *rests = 0;
    for (const auto& [reason, times] : tally.rests) *rests += times;
  }
  return 1;
}

size_t mrc_ref_json(const mrc_ref* ref, char* text, size_t size) {
  if (ref == nullptr || !ref->run) return 0;
  try {
    const std::string json = ref->run->to_json();
    if (text != nullptr && size != 0) {
      const std::size_t n = std::min(json.size(), size - 1);
      std::memcpy(text, json.data(), n);
      text[n] = 0;
    }
    return json.size();
  } catch (const std::exception&) {
    return 0;
  }
}
