// SPDX-License-Identifier: Apache-2.0
/// api/mrc_ref.h says what Run says, and refuses what it must.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "api/mrc_ref.h"
#include "clone_paths.hpp"
#include "log/reader.hpp"
#include "tests/reference/breaking.hpp"

namespace mrc::test::c_interface_test {
namespace {

struct Closing {
  void operator()(mrc_ref* ref) const { mrc_ref_close(ref); }
};
using Handle = std::unique_ptr<mrc_ref, Closing>;

Handle open(const std::string& profile) {
  char error[512];
  mrc_ref* ref = nullptr;
  const int code = mrc_ref_open(MRC_REF_API, profile.c_str(), error, sizeof error, &ref);
  INFO(error);
  REQUIRE(code == MRC_OK);
  return Handle(ref);
}

mrc_work work_of(uint32_t qp, uint64_t t) {
  mrc_work w{};
  w.size = sizeof w;
  w.qp = qp;
  w.t = t;
  return w;
}

uint32_t flag(bool on, uint32_t bit) { return on ? bit : 0; }

/// What a program in C would tell of this record.
struct Monitor {
  mrc_ref* ref;
  uint64_t t;
  int operator()(const log::Frame& f) const {
    mrc_frame c{};
    c.size = sizeof c;
    c.plane = f.plane;
    c.flags = f.flags & 7u;
    c.bytes = f.length;
    c.stored = static_cast<uint32_t>(f.bytes.size());
    c.t_first = t;
    c.t_last = std::max(t, f.last);
    c.data = f.bytes.data();
    return f.sent ? mrc_ref_tx(ref, &c) : mrc_ref_rx(ref, &c);
  }
  int operator()(const log::Port& p) const { return mrc_ref_port(ref, p.plane, p.up, t); }
  int operator()(const log::Qp& q) const {
    mrc_qp c{};
    c.size = sizeof c;
    c.qp = q.qp;
    c.peer_qp = q.peer_qp;
    c.state = static_cast<uint32_t>(q.state);
    c.flags = flag(q.dynamic_mpr, MRC_QP_DYNAMIC_MPR) | flag(q.trim_nack, MRC_QP_TRIM_NACK) |
              flag(q.svc_time, MRC_QP_SVC_TIME) | flag(q.time_stamps, MRC_QP_TIME_STAMPS) |
              flag(q.controlled, MRC_QP_CONTROLLED);
    c.encap = q.encap;
    c.dest = q.dest;
    c.mtu = q.mtu;
    c.sq_psn = q.sq_psn;
    c.rq_psn = q.rq_psn;
    c.msn = q.msn;
    c.rqmsn = q.rqmsn;
    c.mpr = q.mpr;
    c.mpr_dest = q.mpr_dest;
    c.max_wimm = q.max_wimm;
    c.max_wimm_dest = q.max_wimm_dest;
    c.timeout = q.timeout;
    c.retry_linear = q.retry_linear;
    c.retry_exp = q.retry_exp;
    c.pkey = q.pkey;
    std::ranges::copy(q.own_ip, c.own_ip);
    std::ranges::copy(q.peer_ip, c.peer_ip);
    c.num_evs = static_cast<uint32_t>(q.evs.size());
    c.backup = q.backup;
    c.evs = q.evs.data();
    c.ev_planes = q.ev_planes.empty() ? nullptr : q.ev_planes.data();
    return mrc_ref_qp(ref, &c, t);
  }
  int operator()(const log::Mr& m) const {
    const mrc_mr c{sizeof c, m.rkey, m.write, 0, m.va, m.bytes, m.addr};
    return mrc_ref_mr(ref, &c, m.valid, t);
  }
  int operator()(const log::Host& h) const {
    mrc_host c{sizeof c, static_cast<uint32_t>(h.op), h.status, h.bytes, h.addr, h.tag, t, nullptr};
    if (!h.data.empty()) c.data = h.data.data();
    return mrc_ref_host(ref, &c);
  }
  int operator()(const log::Post& p) const {
    mrc_work w = work_of(p.qp, t);
    w.wr_id = p.wr_id;
    w.addr = p.addr;
    w.remote = p.remote;
    w.bytes = p.bytes;
    w.rkey = p.rkey;
    w.flags = p.immediate ? MRC_WORK_IMM : 0;
    w.imm = p.imm;
    return mrc_ref_post(ref, &w);
  }
  int operator()(const log::PostReceive& p) const { return mrc_ref_recv(ref, p.qp, p.count, t); }
  int operator()(const log::Cqe& q) const {
    mrc_work w = work_of(q.qp, t);
    w.flags = q.receive ? MRC_WORK_RECEIVE : 0;
    w.status = static_cast<uint32_t>(q.status);
    w.wr_id = q.wr_id;
    w.imm = q.imm;
    w.msn = q.msn;
    w.rqmsn = q.rqmsn;
    w.bytes = q.bytes;
    return mrc_ref_cqe(ref, &w);
  }
  int operator()(const log::Event& e) const {
    return mrc_ref_event(ref, static_cast<int>(e.kind), e.qp, e.arg.data(), t);
  }
  int operator()(const log::Until& u) const { return mrc_ref_until(ref, u.source, t); }
  int operator()(const log::Gap& g) const { return mrc_ref_gap(ref, g.source, g.from, t, g.lost, g.reason.c_str()); }
  int operator()(const log::Counter& c) const { return mrc_ref_counter(ref, c.name.c_str(), c.value, t); }
  int operator()(const log::Note&) const { return MRC_OK; }
  int operator()(const log::Device&) const { return MRC_OK; }
  int operator()(const log::End& e) const {
    const int code = mrc_ref_until(ref, MRC_SRC_ALL, t);
    return code != MRC_OK ? code : mrc_ref_finish(ref, e.cut);
  }
};

struct Outcome {
  int refused = 0;
  std::string words;
};

Outcome notify(mrc_ref* ref, const std::vector<Happening>& happenings) {
  Outcome outcome;
  for (const Happening& h : happenings) {
    const int code = std::visit(Monitor{ref, h.record.time}, h.record.body);
    if (code == MRC_OK) continue;
    ++outcome.refused;
    outcome.words = mrc_ref_error(ref);
  }
  return outcome;
}

std::string profile_of(const std::vector<Happening>& happenings) {
  for (const Happening& h : happenings) {
    if (const auto* device = std::get_if<log::Device>(&h.record.body)) return device->profile;
  }
  return ref::to_json(life_profile());
}

}  // namespace

TEST_CASE("the C interface finds in each broken life what the C++ one finds", "[reference][c-interface]") {
  unsigned same = 0;
  for (const auto& [rule, how] : breaking()) {
    const auto happenings = life(how.changes, how.captured);
    ref::Run run({});
    for (const Happening& h : happenings) run.push(h.record);
    run.finish();

    const Handle ref = open(profile_of(happenings));
    const Outcome outcome = notify(ref.get(), happenings);
    INFO(ref::info(rule).id << " " << outcome.words);
    // What stands out of order, or is not whole, is refused here, and found there.
    if (outcome.refused != 0) {
      CHECK((rule == ref::Rule::EvidenceOrder || rule == ref::Rule::EvidenceWhole));
      continue;
    }
    CHECK(mrc_ref_verdict(ref.get()) == static_cast<int>(run.verdict()));
    CHECK(mrc_ref_packets(ref.get()) == run.packets());
    mrc_finding f{};
    f.size = sizeof f;
    std::size_t found = 0;
    bool named = false;
    while (mrc_ref_next(ref.get(), &f) == 1) {
      ++found;
      named |= std::string(f.rule) == ref::info(rule).id;
    }
    CHECK(found == run.findings().size());
    CHECK(named);
    const char* id = nullptr;
    uint64_t held = 0, broken = 0;
    for (uint32_t i = 0; mrc_ref_metric(ref.get(), i, &id, &held, &broken, nullptr) == 1; ++i) {
      const ref::Tally tally = run.tally(*ref::rule_of(id));
      INFO(id);
      CHECK(held == tally.checked);
      CHECK(broken == tally.broken);
    }
    ++same;
  }
  CHECK(same > 50);
}

TEST_CASE("the C interface tells findings once their time has passed, and records a log", "[reference][c-interface]") {
  const auto path = (std::filesystem::path(MRC_BINARY_DIR) / "tests" / "c_interface.mrclog").string();
  const auto happenings = life();
  std::size_t records = 0;
  {
    const Handle ref = open(profile_of(happenings));
    REQUIRE(mrc_ref_record(ref.get(), path.c_str()) == MRC_OK);
    CHECK(mrc_ref_verdict(ref.get()) == MRC_INCONCLUSIVE);
    CHECK(notify(ref.get(), happenings).refused == 0);
    CHECK(mrc_ref_verdict(ref.get()) == MRC_PASS);
    const mrc_work late = work_of(kQp, 0);
    CHECK(mrc_ref_post(ref.get(), &late) == MRC_E_UNSUPPORTED);
    CHECK(std::string(mrc_ref_error(ref.get())).find("takes no more") != std::string::npos);
    const std::size_t length = mrc_ref_json(ref.get(), nullptr, 0);
    std::string json(length + 1, ' ');
    CHECK(mrc_ref_json(ref.get(), json.data(), json.size()) == length);
    CHECK(json.find("\"verdict\": \"pass\"") != std::string::npos);
  }
  std::ifstream in(path, std::ios::binary);
  log::Reader reader(in, path);
  log::Record record;
  ref::Run again({});
  while (reader.next(record)) {
    ++records;
    again.push(record);
  }
  again.finish();
  CHECK(records >= happenings.size());
  CHECK(again.verdict() == ref::Verdict::Pass);
}

TEST_CASE("the C interface refuses what it does not know, with a sentence", "[reference][c-interface]") {
  char error[256] = "";
  mrc_ref* none = nullptr;
  CHECK(mrc_ref_open(MRC_REF_API + 1, nullptr, error, sizeof error, &none) == MRC_E_VERSION);
  CHECK(none == nullptr);
  CHECK(mrc_ref_open(MRC_REF_API, "{\"plans\": 2}", error, sizeof error, &none) == MRC_E_ARG);
  CHECK(std::string(error).find("did you mean planes") != std::string::npos);
  CHECK(mrc_ref_open(MRC_REF_API, "{", nullptr, 0, &none) == MRC_E_ARG);
  CHECK(mrc_ref_open(MRC_REF_API, nullptr, error, sizeof error, nullptr) == MRC_E_ARG);
  CHECK(mrc_ref_until(nullptr, MRC_SRC_ALL, 0) == MRC_E_ARG);
  mrc_ref_close(nullptr);

  const Handle ref = open("{\"planes\": 2}");
  const auto refused = [&](int code, int want, const char* words) {
    INFO(mrc_ref_error(ref.get()));
    CHECK(code == want);
    CHECK(std::string(mrc_ref_error(ref.get())).find(words) != std::string::npos);
  };
  refused(mrc_ref_waive(ref.get(), "wire.nothing", "why"), MRC_E_ARG, "no rule 'wire.nothing'");
  refused(mrc_ref_waive(ref.get(), "wire.icrc", ""), MRC_E_ARG, "no reason");
  CHECK(mrc_ref_waive(ref.get(), "wire.icrc", "not built yet") == MRC_OK);
  refused(mrc_ref_shows(ref.get(), 1u << 9), MRC_E_ARG, "kind of event");
  refused(mrc_ref_record(ref.get(), "/nowhere/at/all"), MRC_E_ARG, "/nowhere/at/all cannot be written");

  const uint8_t bytes[64] = {};
  mrc_frame f{sizeof f, 0, 0, 64, 64, 0, 1000, 6000, bytes};
  f.size = 8;
  refused(mrc_ref_rx(ref.get(), &f), MRC_E_SIZE, "mrc_frame.size is 8");
  f.size = sizeof f + 8;
  CHECK(mrc_ref_rx(ref.get(), &f) == MRC_OK);
  refused(mrc_ref_rx(ref.get(), nullptr), MRC_E_ARG, "NULL");
  f.plane = 2;
  refused(mrc_ref_rx(ref.get(), &f), MRC_E_ARG, "plane 2");
  f.plane = 0;
  f.stored = 10;
  refused(mrc_ref_rx(ref.get(), &f), MRC_E_ARG, "MRC_FRAME_CUT");
  f.stored = 64;
  f.t_last = 0;
  refused(mrc_ref_rx(ref.get(), &f), MRC_E_ARG, "t_last");
  f.t_last = f.t_first = 999;
  refused(mrc_ref_rx(ref.get(), &f), MRC_E_PAST, "source 0 tells of 999 ps");
  CHECK(mrc_ref_tx(ref.get(), &f) == MRC_OK);  // the other direction has an order of its own
  refused(mrc_ref_waive(ref.get(), "wire.icrc", "late"), MRC_E_UNSUPPORTED, "before the first observation");
  refused(mrc_ref_until(ref.get(), 67, 0), MRC_E_ARG, "source 67");
  refused(mrc_ref_qp_json(ref.get(), "{\"qp\": \"a\"}", 0), MRC_E_ARG, "qp");
  mrc_qp state{};
  state.size = sizeof state;
  state.qp = 7;
  state.flags = MRC_QP_STATE_ONLY;
  refused(mrc_ref_qp(ref.get(), &state, 0), MRC_E_ARG, "QP 0x7 was not reported");

  // Beats.
  const uint32_t w[16] = {};
  refused(mrc_ref_beat(ref.get(), 0, 0, w, 0xff, 0, 0, 0, 7000), MRC_E_ARG, "keep");
  refused(mrc_ref_beat(ref.get(), 0, 0, w, 0xf0, 1, 0, 0, 7000), MRC_E_ARG, "keep");
  CHECK(mrc_ref_beat(ref.get(), 0, 0, w, ~uint64_t{0}, 0, 0, 0, 8000) == MRC_OK);
  CHECK(mrc_ref_beat(ref.get(), 0, 0, w, 1, 1, 0, 0, 9000) == MRC_OK);
  int code = MRC_OK;
  for (int i = 0; i < 1025 && code == MRC_OK; ++i) {
    code = mrc_ref_beat(ref.get(), 0, 0, w, ~uint64_t{0}, 0, 0, 0, 10000);
  }
  refused(code, MRC_E_ARG, "above 65536");
  CHECK(mrc_ref_packets(ref.get()) == 0);  // nobody has said yet that nothing older comes
  CHECK(mrc_ref_until(ref.get(), MRC_SRC_ALL, 20000) == MRC_OK);
  CHECK(mrc_ref_packets(ref.get()) == 3);
  // Bits that nobody knows: the evidence has a hole.
  CHECK(mrc_ref_beat(ref.get(), 1, 1, w, ~uint64_t{0}, 1, 0, 1, 30000) == MRC_OK);
  CHECK(mrc_ref_finish(ref.get(), 0) == MRC_OK);
  CHECK(mrc_ref_verdict(ref.get()) == MRC_BROKEN);
  mrc_finding finding{};
  finding.size = sizeof finding;
  bool unused = false, gap = false;
  while (mrc_ref_next(ref.get(), &finding) == 1) {
    unused |= finding.verdict == MRC_PASS && std::string(finding.text).find("was not needed") != std::string::npos;
    gap |= std::string(finding.rule) == "evidence.drops";
  }
  CHECK(unused);
  CHECK(gap);
}

}  // namespace mrc::test::c_interface_test
