// SPDX-License-Identifier: Apache-2.0
/// What the bench records is what happened.
#include "tb/environment/recorder.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>
#include <unordered_map>

#include "reference/profile.hpp"
#include "tests/tb/runs.hpp"
#include "wire/decode.hpp"

namespace mrc::test::recorder_test {

using namespace mrc::tb;

namespace {

struct Recorded {
  CosimResult result;
  std::vector<log::Record> records;
};

Recorded recorded(const char* scenario, uint64_t packets, uint64_t seed = 3) {
  CosimOptions o = short_run("tiny", scenario, packets, seed);
  o.scenario.mac_errors = 0.5;
  Recorded r;
  o.log_shows = true;
  o.log = [&](const log::Record& record) { r.records.push_back(record); };
  r.result = run_cosim(o);
  return r;
}

template <class Body>
uint64_t count(const Recorded& r, uint32_t device, auto&& fits) {
  uint64_t n = 0;
  for (const log::Record& record : r.records) {
    const auto* body = std::get_if<Body>(&record.body);
    n += body != nullptr && record.device == device && fits(*body);
  }
  return n;
}

/// Host memory as the records of one device tell it.
class Memory {
 public:
  void write(uint64_t address, const std::vector<uint8_t>& data) {
    for (const uint8_t byte : data) bytes_[address++] = byte;
  }
  bool same(uint64_t here, const Memory& other, uint64_t there, uint64_t bytes) const {
    for (uint64_t i = 0; i < bytes; ++i) {
      const auto a = bytes_.find(here + i), b = other.bytes_.find(there + i);
      if (a == bytes_.end() || b == other.bytes_.end() || a->second != b->second) return false;
    }
    return true;
  }

 private:
  std::unordered_map<uint64_t, uint8_t> bytes_;
};

}  // namespace

TEST_CASE("recording changes nothing of a run", "[log][record]") {
  for (const char* scenario : {"mixed", "qp-error"}) {
    CosimOptions plain = short_run("tiny", scenario, 300, 3);
    plain.scenario.mac_errors = 0.5;
    const CosimResult without = run_cosim(plain);
    const Recorded with = recorded(scenario, 300);
    REQUIRE(without.outcome == Outcome::Pass);
    CHECK(with.result.outcome == Outcome::Pass);
    CHECK(with.result.event_hash == without.event_hash);
    CHECK(with.result.cycles == without.cycles);
    CHECK(with.records.size() > 1000);
  }
}

TEST_CASE("records of a device come in the order of their times, none after an Until that excludes it",
          "[log][record]") {
  for (const char* scenario : {"mixed", "reorder", "link-flap"}) {
    const Recorded r = recorded(scenario, 300);
    std::array<uint64_t, 2> newest{}, until{};
    for (const log::Record& record : r.records) {
      REQUIRE(record.device < 2);
      if (std::holds_alternative<log::Until>(record.body)) {
        REQUIRE(record.time >= until[record.device]);
        until[record.device] = record.time;
        continue;
      }
      REQUIRE(record.time >= newest[record.device]);
      REQUIRE(record.time >= until[record.device]);
      newest[record.device] = record.time;
    }
    CHECK(until[0] > 0);
    for (uint32_t device : {0u, 1u}) {
      const auto first = std::ranges::find(r.records, device, &log::Record::device);
      CHECK(std::holds_alternative<log::Device>(first->body));
      CHECK(count<log::End>(r, device, [](const log::End& e) { return !e.cut && e.reason == "pass"; }) == 1);
      CHECK(count<log::Counter>(r, device, [](const auto& c) { return c.name == "silent_drops"; }) == 1);
    }
  }
}

TEST_CASE("events tell each packet that the window takes, once, after it came, and what each SACK read",
          "[log][record]") {
  for (const char* scenario : {"mixed", "slow-host"}) {
    const Recorded r = recorded(scenario, 600);
    REQUIRE(r.result.outcome == Outcome::Pass);
    const wire::WireConfig config = r.result.wire;
    // Device and QP -> what it was told of: PSNs that came, were taken, SACKs read, SACKs sent.
    using Number = std::pair<std::pair<uint32_t, uint32_t>, uint64_t>;
    std::map<Number, uint64_t> came, taken;
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> read;  // (device, PSN or probe that is answered, cack_psn)
    uint64_t sacks = 0, known = 0, next = 0;
    std::map<uint32_t, uint64_t> discarded;
    for (const log::Record& record : r.records) {
      if (const auto* device = std::get_if<log::Device>(&record.body)) {
        constexpr uint64_t kShown = 0b110011;  // take, answer, path, cc
        CHECK(ref::read_profile(device->profile, "log").shows == kShown);
      } else if (const auto* c = std::get_if<log::Counter>(&record.body); c != nullptr && c->name == "silent_drops") {
        CHECK(c->value >= discarded[record.device]);
        discarded[record.device] = c->value;
      } else if (const auto* e = std::get_if<log::Event>(&record.body)) {
        if (e->kind == log::EventKind::Answer) {
          ++read[{record.device, e->arg[2] << 32 | e->arg[3]}];
        } else if (e->kind == log::EventKind::Take && e->arg[1] == static_cast<uint64_t>(log::TakeResult::New)) {
          const Number number{{record.device, e->qp}, e->arg[0]};
          CHECK(came[number] > 0);
          CHECK(++taken[number] == 1);
          CHECK(e->arg[4] > record.time);
          next += e->arg[4] == record.time + find_preset("tiny")->clock_ps;
        }
      } else if (const auto* f = std::get_if<log::Frame>(&record.body)) {
        const wire::Packet p = wire::decode(f->bytes, config);
        if (!p.bth || p.error) continue;
        if (!f->sent && p.reth) ++came[{{record.device, p.bth->dqp}, p.bth->psn}];
        if (!f->sent || !p.seth) continue;
        ++sacks;
        const uint32_t about = p.seth->pr != 0
                                   ? static_cast<uint16_t>(p.seth->ack_psn_offset)
                                   : (p.seth->cack_psn + static_cast<uint32_t>(p.seth->ack_psn_offset)) & 0xffffff;
        known += read[{record.device, uint64_t{about} << 32 | p.seth->cack_psn}] > 0;
      }
    }
    CHECK(sacks > 50);
    CHECK(known == sacks);
    CHECK(taken.size() >= 600);
    CHECK(next > taken.size() / 2);
    if (std::string_view(scenario) == "slow-host") CHECK(discarded[0] + discarded[1] > 0);
  }
}

TEST_CASE("what software does to QPs is told: EVs that it replaces or denies, windows that it moves", "[log][record]") {
  CosimOptions o = short_run("tiny", "dynamic-mpr", 1500, 3);
  o.scenario.csr_gap = 20;
  o.scenario.churn = 0.5;
  o.scenario.control = 0.8;
  std::vector<log::Record> records;
  o.log = [&](const log::Record& record) { records.push_back(record); };
  const CosimResult result = run_cosim(o);
  REQUIRE(result.outcome == Outcome::Pass);
  std::map<uint32_t, std::set<uint32_t>> evs;    // of the device's QPs, also those replaced
  std::map<uint32_t, std::set<uint32_t>> moved;  // windows
  std::map<uint32_t, uint32_t> peers;            // peer's QP -> own
  uint64_t denied = 0, replaced = 0, data = 0, member = 0, said = 0, known = 0;
  for (const log::Record& record : records) {
    if (record.device != 0) continue;
    if (const auto* qp = std::get_if<log::Qp>(&record.body)) {
      const std::size_t before = evs[qp->qp].size();
      evs[qp->qp].insert(qp->evs.begin(), qp->evs.end());
      replaced += before != 0 && evs[qp->qp].size() > before;
      denied += !qp->denied.empty();
      moved[qp->qp].insert(qp->window == 0 ? qp->mpr_dest : std::min(qp->window, qp->mpr_dest));
      peers[qp->peer_qp] = qp->qp;
    } else if (const auto* f = std::get_if<log::Frame>(&record.body); f != nullptr && f->sent) {
      const wire::Packet p = wire::decode(f->bytes, result.wire);
      if (!p.bth || !peers.contains(p.bth->dqp)) continue;
      if (p.reth) {
        ++data;
        member += evs[peers[p.bth->dqp]].contains(p.entropy(result.wire));
      } else if (p.seth && p.seth->mpr != 0) {
        ++said;
        known += moved[peers[p.bth->dqp]].contains(p.seth->mpr);
      }
    }
  }
  CHECK(denied > 0);
  CHECK(replaced > 0);
  CHECK(data > 500);
  CHECK(member == data);
  CHECK(said > 50);
  CHECK(known == said);
}

TEST_CASE("frames are those of the ports, as they reached the pins", "[log][record]") {
  const Recorded r = recorded("corrupt", 1000);
  const CosimResult::Side* sides[] = {&r.result.dut, &r.result.peer};
  std::array<std::set<std::string>, 2> sent;
  const auto text = [](const std::vector<uint8_t>& bytes) { return std::string(bytes.begin(), bytes.end()); };
  for (const log::Record& record : r.records) {
    const auto* f = std::get_if<log::Frame>(&record.body);
    if (f == nullptr) continue;
    REQUIRE(f->length == f->bytes.size());
    REQUIRE(f->last > record.time);
    if (f->sent) sent[record.device].insert(text(f->bytes));
  }
  for (const uint32_t device : {0u, 1u}) {
    uint64_t other = 0;
    for (unsigned plane = 0; plane < 2; ++plane) {
      const PlaneCounters& c = sides[device]->planes[plane];
      const auto on = [&](bool out) {
        return count<log::Frame>(r, device, [&](const log::Frame& f) { return f.sent == out && f.plane == plane; });
      };
      CHECK(on(true) == c.tx_frames);
      CHECK(on(false) <= c.rx_frames);  // one may have been on its way
      CHECK(on(false) + 1 >= c.rx_frames);
      other += c.rx_frames;
    }
    const uint64_t as_sent = count<log::Frame>(
        r, device, [&](const log::Frame& f) { return !f.sent && sent[1 - device].contains(text(f.bytes)); });
    const uint64_t bad =
        count<log::Frame>(r, device, [](const log::Frame& f) { return (f.flags & log::kFcsBad) != 0; });
    CHECK(as_sent < other);  // the link changes some
    CHECK(as_sent > other / 3);
    CHECK(bad > 0);
    CHECK(bad <= sides[1 - device]->link.corrupt);
  }
}

TEST_CASE("what a completed WRITE moved is in the records of both hosts", "[log][record]") {
  for (const char* scenario : {"mixed", "trim"}) {
    Recorded r = recorded(scenario, 500);
    std::ranges::stable_sort(r.records, {}, &log::Record::time);
    std::array<Memory, 2> memory;
    std::array<std::map<uint64_t, log::Post>, 2> posts;
    std::array<std::vector<log::Mr>, 2> regions;
    uint64_t completed = 0;
    std::array<std::map<uint64_t, uint64_t>, 2> reads;
    // An ACK says that a message has arrived; its last writes may still wait for the host.
    std::array<std::vector<log::Post>, 2> acknowledged;
    const auto there = [&](uint32_t d, const log::Post& post) {
      const auto region = std::ranges::find(regions[1 - d], post.rkey, &log::Mr::rkey);
      REQUIRE(region != regions[1 - d].end());
      REQUIRE(post.remote >= region->va);
      REQUIRE(post.remote + post.bytes <= region->va + region->bytes);
      return memory[1 - d].same(region->addr + (post.remote - region->va), memory[d], post.addr, post.bytes);
    };
    for (const log::Record& record : r.records) {
      const uint32_t d = record.device;
      if (const auto* mr = std::get_if<log::Mr>(&record.body)) regions[d].push_back(*mr);
      if (const auto* post = std::get_if<log::Post>(&record.body)) posts[d][post->wr_id] = *post;
      if (const auto* host = std::get_if<log::Host>(&record.body)) {
        if (host->op == log::HostOp::Read) {
          reads[d][host->tag] = host->addr;
        } else {
          REQUIRE(host->data.size() == host->bytes);
          memory[d].write(host->addr, host->data);
          std::erase_if(acknowledged[1 - d], [&](const log::Post& p) { return there(1 - d, p); });
        }
        if (host->op == log::HostOp::ReadDone) {
          REQUIRE(reads[d].at(host->tag) == host->addr);
          reads[d].erase(host->tag);
        }
      }
      const auto* cqe = std::get_if<log::Cqe>(&record.body);
      if (cqe == nullptr || cqe->receive || cqe->status != log::Status::Ok) continue;
      const log::Post& post = posts[d].at(cqe->wr_id);
      CHECK(post.qp == cqe->qp);
      CHECK(post.bytes == cqe->bytes);
      acknowledged[d].push_back(post);
      std::erase_if(acknowledged[d], [&](const log::Post& p) { return there(d, p); });
      ++completed;
    }
    CHECK(acknowledged[0].empty());
    CHECK(acknowledged[1].empty());
    CHECK(completed == r.result.messages);
    CHECK(completed > 5);
  }
}

TEST_CASE("QPs are recorded as their owner sets them, also when they are connected again", "[log][record]") {
  const Recorded r = recorded("qp-error", 600);
  REQUIRE(r.result.outcome == Outcome::Pass);
  bool again = false;
  for (const uint32_t device : {0u, 1u}) {
    std::map<uint32_t, std::vector<log::Qp>> qps;
    for (const log::Record& record : r.records) {
      const auto* qp = std::get_if<log::Qp>(&record.body);
      if (qp != nullptr && record.device == device) qps[qp->qp].push_back(*qp);
    }
    REQUIRE(qps.size() == 4);
    for (const auto& [number, list] : qps) {
      using enum log::QpState;
      REQUIRE(list.size() >= 3);
      // A reset is there twice: when it is ordered, and when it has been carried out.
      for (std::size_t i = 0; i < list.size(); ++i) {
        CHECK(list[i].state == std::array{Init, Rtr, Rts, Reset, Reset}[i % 5]);
        CHECK(((list[i].flags & log::kOrdered) != 0) == (i % 5 == 3));
        if (i % 5 >= 3) continue;
        CHECK(list[i].mtu >= 256);
        CHECK(list[i].evs.size() == list[i].ev_planes.size());
        CHECK(list[i].sq_psn == list[i / 5 * 5].sq_psn);
      }
      if (list.size() > 5) again = again || list[0].sq_psn != list[5].sq_psn;
    }
    // The other end says the same of the connection.
    for (const log::Record& record : r.records) {
      const auto* qp = std::get_if<log::Qp>(&record.body);
      if (qp == nullptr || record.device == device || qp->state == log::QpState::Reset) continue;
      const std::vector<log::Qp>& ends = qps.at(qp->peer_qp);
      CHECK(std::ranges::any_of(ends, [&](const log::Qp& q) {
        return q.peer_qp == qp->qp && q.sq_psn == qp->rq_psn && q.rq_psn == qp->sq_psn && q.msn == qp->msn;
      }));
    }
  }
  CHECK(again);
  const auto failed = [&](log::Status status) {
    return count<log::Cqe>(r, 0, [&](const log::Cqe& c) { return c.status == status; });
  };
  CHECK(failed(log::Status::RemoteAccess) + failed(log::Status::RemoteOperation) > 0);
  CHECK(failed(log::Status::Flushed) > 0);
}

TEST_CASE("ports that go down and up, or stand still, are recorded as the device sees them", "[log][record]") {
  for (const char* scenario : {"link-flap", "port-stands"}) {
    INFO(scenario);
    const Recorded r = recorded(scenario, 2000);
    std::array<bool, 2> up{true, true};
    uint64_t downs = 0;
    for (const log::Record& record : r.records) {
      const auto* port = std::get_if<log::Port>(&record.body);
      if (port == nullptr || record.device != 0) continue;
      CHECK(port->up != up[port->plane]);
      up[port->plane] = port->up;
      downs += !port->up;
    }
    CHECK(downs > 0);
  }
}

TEST_CASE("the profile of a recorded device has the settings that the run drew", "[log][record]") {
  std::set<std::string> different;
  for (const uint64_t seed : {1, 4, 5, 6, 7, 8}) {
    const Recorded r = recorded("mixed", 20, seed);
    for (const log::Record& record : r.records) {
      const auto* device = std::get_if<log::Device>(&record.body);
      if (device == nullptr) continue;
      const ref::Profile profile = ref::read_profile(device->profile, "profile");
      CHECK(profile.wire() == r.result.wire);
      CHECK(profile.planes == 2);
      CHECK(profile.port_gbps == find_preset("tiny")->port_gbps);
      CHECK_FALSE(profile.addresses.empty());
      const SidePlan plan = make_plan(*find_preset("tiny"), *find_scenario("mixed"), seed).dut;
      CHECK(profile.settings.oor_drop == (csr::kCtrlOorDrop.get(plan.ctrl) != 0));
      CHECK(profile.settings.nominal == csr::kCtrlNominal.get(plan.ctrl));
      CHECK(profile.settings.sack_base_self == (csr::kCtrlSackBaseSelf.get(plan.ctrl) != 0));
      for (const ref::Setting& s : ref::settings()) {
        if (s.get(profile.settings) != s.get(ref::Settings{})) different.insert(s.name);
      }
    }
  }
  CHECK(different.size() > 15);
}

TEST_CASE("a run that is stopped leaves a log that says so", "[log][record]") {
  std::atomic<bool> stop = true;
  CosimOptions o = short_run("tiny", "clean", 100000);
  o.stop = &stop;
  std::vector<log::Record> records;
  o.log = [&](const log::Record& record) { records.push_back(record); };
  CHECK(run_cosim(o).outcome == Outcome::Incomplete);
  REQUIRE(records.size() > 2);
  const auto* end = std::get_if<log::End>(&records.back().body);
  REQUIRE(end != nullptr);
  CHECK(end->cut);
  CHECK(end->reason == "incomplete");
}

}  // namespace mrc::test::recorder_test
