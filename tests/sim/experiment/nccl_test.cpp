// SPDX-License-Identifier: Apache-2.0
// Traffic as a collectives library makes it: data on several QPs, behind them WRITEs of no bytes with immediate, small
// WRITEs the other way on a QP of another class.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/experiment/experiment.hpp"
#include "tests/sim/fast_net.hpp"

namespace mrc::test::nccl_test {

using namespace mrc::sim;

namespace {

/// The endpoint inside, with somebody who looks at what comes in and at what it tells.
class Watched final : public Endpoint, Listener {
 public:
  Watched(std::unique_ptr<Endpoint> inside, bool hasty) : inside_(std::move(inside)), hasty_(hasty) {}

  unsigned immediates = 0, early = 0;
  std::set<uint8_t> codes;  ///< of data that came in

  void attach(const Access& access) override { inside_->attach(access); }
  void start() override { inside_->start(); }
  void receive(PacketPtr packet, unsigned plane) override {
    if (is_write(*packet) && !packet->trimmed) {
      codes.insert(packet->dscp);
      Qp& qp = qps_[packet->dqp];
      if (qp.psns.insert(packet->psn).second) {
        Message& m = qp.messages[packet->data.msn];
        m.arrived += packet->payload;
        m.length = packet->data.dma_length;
      }
    }
    inside_->receive(std::move(packet), plane);
  }
  bool apart() const override { return inside_->apart(); }
  void fetch(unsigned step) const override { inside_->fetch(step); }
  PacketPtr pull(unsigned plane) override { return inside_->pull(plane); }
  void wake() override { inside_->wake(); }
  void link_changed(unsigned plane, bool up) override { inside_->link_changed(plane, up); }
  bool open(const QpSpec& qp, std::string& why) override { return inside_->open(qp, why); }
  bool post(const WorkRequest& request) override { return inside_->post(request); }
  void listen(Listener* listener) override {
    outside_ = listener;
    inside_->listen(this);
  }
  EndpointStats stats() const override { return inside_->stats(); }
  EvCounts ev_counts(uint32_t qpn) const override { return inside_->ev_counts(qpn); }
  bool steady(uint32_t qpn) const override { return inside_->steady(qpn); }
  const char* fidelity() const override { return inside_->fidelity(); }

 private:
  struct Message {
    uint64_t arrived = 0, length = ~uint64_t{0};
  };
  struct Qp {
    std::set<uint32_t> psns;
    std::map<uint32_t, Message> messages;  // by MSN, which does not wrap here
  };
  void completed(const Completion& c) override { outside_->completed(c); }
  void delivered(const Delivery& d) override {
    if (d.bytes == 0) {
      ++immediates;
      const Qp& qp = qps_[d.qpn];
      for (uint32_t msn = 0; msn < d.msn; ++msn) {
        const auto m = qp.messages.find(msn);
        if (m == qp.messages.end() || m->second.arrived != m->second.length) ++early;
      }
    }
    // Once, the message ahead of an immediate is told after it.
    if (hasty_ && d.bytes != kFifo && !held_) {
      held_ = std::make_unique<Delivery>(d);
      return;
    }
    outside_->delivered(d);
    if (held_ && hasty_ && d.bytes == 0) {
      hasty_ = false;
      outside_->delivered(*held_);
    }
  }
  static constexpr uint64_t kFifo = 64;

  std::unique_ptr<Endpoint> inside_;
  bool hasty_;
  std::unique_ptr<Delivery> held_;
  Listener* outside_ = nullptr;
  std::map<uint32_t, Qp> qps_;
};

constexpr const char* kRing =
    "mtu = 4096\n[topology]\nprofile = \"spectrum\"\nplanes = 2\ngbps = 100\nleaves = 2\nhosts_per_leaf = 2\n"
    "spines = 2\n";
constexpr const char* kTraffic =
    "[[traffic]]\npattern = \"nccl\"\nqps = 2\nbytes = 4_186_112\nclass = 0\nfifo_class = 1\n";
constexpr const char* kLoss =
    "[[event]]\nwhat = \"link-loss\"\nlink = \"random-uplink\"\nat_us = 5\ncount = 4\nloss = 0.02\n";

struct Run {
  ExperimentResult result;
  std::vector<unsigned> immediates;
  unsigned early = 0;
  std::vector<std::set<uint8_t>> codes;
};
Run run(const std::string& text, bool hasty = false) {
  std::vector<Watched*> nics;
  Experiment e(parse_fabric_scenario(text, "s.toml"), 1, {}, nullptr,
               [&](NodeId host, std::unique_ptr<Endpoint> endpoint) {
                 auto watched = std::make_unique<Watched>(std::move(endpoint), hasty && host == 1);
                 nics.push_back(watched.get());
                 return watched;
               });
  Run r;
  r.result = e.run();
  for (const Watched* nic : nics) {
    r.immediates.push_back(nic->immediates);
    r.early += nic->early;
    r.codes.push_back(nic->codes);
  }
  return r;
}
}  // namespace

TEST_CASE("nccl: messages and bytes as counted by hand", "[sim][traffic][nccl]") {
  const Run r = run(std::string(kRing) + kTraffic);
  REQUIRE(r.result.outcome == Outcome::Done);
  // 4 KiB, 8 KiB, ... 1 MiB are 4 KiB * (2^9 - 1) = 2,093,056 bytes on each of two QPs: nine steps for each of the four
  // pairs. In each step a WRITE of 64 bytes, two of data, two of none.
  REQUIRE(2 * 2'093'056 == 4'186'112);
  CHECK(r.result.flows.size() == 4 * 9 * 2);
  CHECK(r.result.qps == 4 * (2 + 1));
  CHECK(r.result.total.completions == 4 * 9 * (1 + 2 + 2));
  CHECK(r.result.total.delivered_bytes == 4 * (4'186'112 + 9 * 64));
  CHECK(r.result.total.data_bytes == r.result.total.delivered_bytes);
  // 1, 2, ... 256 packets of 4096 bytes are 511 on each QP.
  CHECK(r.result.total.delivered_packets == 4 * (2 * 511 + 9 * 2 + 9));
  CHECK(r.immediates == std::vector<unsigned>(4, 9 * 2));
  CHECK(r.early == 0);
  // Data have code points of class 0, the FIFO those of class 1; both come to every NIC.
  for (const std::set<uint8_t>& codes : r.codes) {
    CHECK(codes.contains(1));
    CHECK(codes.contains(3));
    for (const uint8_t code : codes) CHECK((code >= 1 && code <= 4));
  }
  // Step by step: none of the data begins before its place has been said.
  for (size_t f = 0; f < r.result.flows.size(); f += 2) {
    const Flow &fifo = r.result.flows[f], &data = r.result.flows[f + 1];
    CHECK(fifo.bytes == 64);
    CHECK(data.from == fifo.to);
    CHECK(data.begun >= fifo.delivered);
    if (f % 18 != 0) CHECK(fifo.begun >= r.result.flows[f - 1].delivered);
  }
}

TEST_CASE("nccl: when an immediate is seen, all bytes ahead of it on its QP have arrived, whatever gets lost",
          "[sim][traffic][nccl]") {
  for (const char* window : {"", "window = 4\n"}) {
    const Run r = run(std::string(kRing) + kTraffic + window + kLoss);
    REQUIRE(r.result.outcome == Outcome::Done);
    CHECK(r.result.total.retransmissions > 20);
    CHECK(r.early == 0);
    CHECK(r.immediates == std::vector<unsigned>(4, 9 * 2));
  }
}

TEST_CASE("nccl: an immediate that is told before its data fails the run", "[sim][traffic][nccl]") {
  const Run r = run(std::string(kRing) + kTraffic, true);
  CHECK(r.result.outcome == Outcome::Failed);
  CHECK_THAT(r.result.reason, Catch::Matchers::StartsWith("nic1 saw an immediate of queue pair"));
  CHECK_THAT(r.result.reason, Catch::Matchers::EndsWith("when 0 of the 4096 bytes ahead of it had arrived"));
}

TEST_CASE("nccl: pieces of one size, what is left over, and more steps than immediates may be on their way",
          "[sim][traffic][nccl]") {
  // 100,000 bytes in pieces of 16 KiB on two QPs: three steps of 32,768, then 1,696, of which each QP has a half.
  const std::string traffic =
      "[[traffic]]\npattern = \"nccl\"\nqps = 2\nmessage = 16_384\nbytes = 100_000\nwindow = 4\n";
  const Run r = run("max_wimm = 1\n" + std::string(kRing) + traffic);
  REQUIRE(r.result.outcome == Outcome::Done);
  CHECK(r.result.total.delivered_bytes == 4 * (100'000 + 4 * 64));
  CHECK(r.immediates == std::vector<unsigned>(4, 4 * 2));
  CHECK(r.result.total.completions == 4 * 4 * (1 + 2 + 2));
  CHECK(r.early == 0);
}

TEST_CASE("nccl: what cannot be is refused", "[sim][traffic][nccl]") {
  const auto why = [](const std::string& text) {
    try {
      run(text);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string all = std::string(kRing) + kTraffic;
  CHECK(why("transport = \"roce\"\n" + all) ==
        "s.toml:11:11: pattern = \"nccl\" needs WRITEs of no bytes, which RoCE's NICs do not take.");
  CHECK(why("zero_length = 1\n" + all) ==
        "s.toml:11:11: pattern = \"nccl\" needs WRITEs of no bytes, but zero_length refuses them.");
  CHECK(why("max_wimm = 0\n" + all) ==
        "s.toml:11:11: pattern = \"nccl\" has more WRITEs with immediate on a QP than max_wimm, which refuses them.");
  CHECK(why(std::string(kRing) + "[[traffic]]\npattern = \"nccl\"\nfifo_class = 3\n") ==
        "s.toml:11:14: fifo_class = 3 is none of profile spectrum, which has 3.");
}

TEST_CASE("the shipped scenario nccl ends, with loss and without a false word", "[sim][experiment][shipped][nccl]") {
  const Scenario s = load_fabric_scenario("nccl");
  const ExperimentResult r = Experiment(s, 1).run();
  REQUIRE(r.outcome == Outcome::Done);
  // 16 pairs; two times nine steps.
  CHECK(r.total.delivered_bytes == 16 * (16'744'448 + 18 * 64));
  CHECK(r.total.completions == 16 * 18 * (1 + 4 + 4));
  CHECK(r.lost > 0);
}

}  // namespace mrc::test::nccl_test
