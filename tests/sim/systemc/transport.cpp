// SPDX-License-Identifier: Apache-2.0
/// A switch between a loosely timed source (blocking transport, ahead of its time) and a sink that takes its time (all
/// four phases of the base protocol): frames come when the sink has room, with their bytes; the rest waits in the queue
/// that the trace shows, or is trimmed. Exit code 1: something else happened.
/// usage: transport FOLDER [linked]    linked: with a Link on either side of the switch
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "sim/engine/codec.hpp"
#include "sim/systemc/link.hpp"
#include "sim/systemc/parameters.hpp"
#include "sim/systemc/trimming_switch.hpp"
#include "wire/decode.hpp"

namespace {

using namespace mrc;
using namespace mrc::systemc;
constexpr unsigned kFrames = 60, kHost = 7;
constexpr sim::Time kBusy = sim::kUs;

/// Sends frames as fast as the port takes them, in one go of local time.
struct Source : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Source> out{"out"};
  tlm_utils::simple_target_socket<Source> in{"in"};  // the switch sends nothing back
  sim::PacketPool packets;
  FramePool frames{packets};
  sc_core::sc_time local;
  explicit Source(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(Source);
    SC_THREAD(send);
    in.register_b_transport(this, &Source::none);
  }
  void none(tlm::tlm_generic_payload&, sc_core::sc_time&) {}
  void send() {
    for (unsigned i = 0; i < kFrames; ++i) {
      auto packet = packets.make();
      packet->stack = sim::Stack::Ipv6;
      packet->dst = sim::host_address(kHost);
      packet->dst_host = kHost;
      packet->opcode = static_cast<uint8_t>(wire::Opcode::WriteMiddle);
      packet->bth = 0;
      packet->psn = i;
      packet->dqp = 16;
      packet->payload = 4096;
      packet->data = {};
      packet->dscp = wire::kDscpTrimmable;
      packet->ecn = 2;
      packet->size = static_cast<uint16_t>(sim::frame_size(packet->stack, packet->opcode, false, 4096));
      tlm::tlm_generic_payload& payload = frames.make(std::move(packet), now_ps() + picoseconds(local));
      out->b_transport(payload, local);
      payload.release();
    }
    wait(local);
  }
};

/// Holds each frame for kBusy, then answers, and 100 ns later says that it is done with it.
struct Sink : sc_core::sc_module {
  tlm_utils::simple_target_socket<Sink> in{"in"};
  tlm_utils::simple_initiator_socket<Sink> out{"out"};
  sc_core::sc_event taken;
  std::vector<sim::Time> begun;
  unsigned trimmed = 0, marked = 0, wrong = 0, responses = 0;
  bool busy = false;
  tlm::tlm_generic_payload* holds = nullptr;
  explicit Sink(const sc_core::sc_module_name& name) : sc_module(name) {
    in.register_nb_transport_fw(this, &Sink::take);
    SC_HAS_PROCESS(Sink);
    SC_THREAD(work);
  }
  tlm::tlm_sync_enum take(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& t) {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
    wrong += busy;  // the request exclusion rule
    busy = true;
    auto* frame = payload.get_extension<FrameExtension>();
    const auto bytes = frame->frame();
    if (bytes.size() != payload.get_data_length() || payload.get_data_ptr() != bytes.data()) ++wrong;
    const wire::Packet decoded = wire::decode(bytes);
    if (frame->trimmed() ? bytes.size() != 128 : decoded.error.has_value()) ++wrong;
    trimmed += frame->trimmed();
    marked += frame->marked();
    begun.push_back(now_ps() + picoseconds(t));
    payload.acquire();
    holds = &payload;
    taken.notify(sc_core::SC_ZERO_TIME);
    return tlm::TLM_ACCEPTED;
  }
  void work() {
    for (;;) {
      wait(taken);
      wait(picoseconds(kBusy));
      tlm::tlm_generic_payload& payload = *holds;
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time t;
      busy = false;
      if (in->nb_transport_bw(payload, phase, t) != tlm::TLM_ACCEPTED) ++wrong;
      phase = tlm::BEGIN_RESP;
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      if (in->nb_transport_bw(payload, phase, t) != tlm::TLM_COMPLETED) ++wrong;
      ++responses;
      payload.release();
    }
  }
};

/// The largest value of a signal of a VCD file.
uint64_t largest(const std::string& file, const std::string& name) {
  std::ifstream in(file);
  std::string line, code, scope;
  uint64_t most = 0;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string first, second, third, fourth, fifth;
    words >> first >> second >> third >> fourth >> fifth;
    if (first == "$scope") scope += third + ".";
    if (first == "$upscope") scope.erase(scope.rfind('.', scope.size() - 2) + 1);
    if (first == "$var" && (scope + fifth).ends_with(name)) code = fourth;
    if (!code.empty() && first[0] == 'b' && second == code)
      most = std::max<uint64_t>(most, std::stoull(first.substr(1), nullptr, 2));
  }
  return most;
}

unsigned failures = 0;
void check(bool right, const std::string& what) {
  std::cout << (right ? "  " : "WRONG ") << what << "\n";
  failures += !right;
}

}  // namespace

int sc_main(int argc, char** argv) {
  const std::string folder = argc >= 2 ? argv[1] : ".";
  const bool linked = argc == 3;
  TrimmingSwitchConfig config{.settings = sim::SwitchConfig::recommended("sw", 100'000)};
  set(config, "ports", 2);
  set(config, "latency_ns", 300);
  set(config, "gbps", 400);
  check(get(config, "latency_ns") == 300 && config.settings.latency == 300'000, "a parameter is what was set");
  Source source("source");
  TrimmingSwitch sw("sw", config);
  Sink sink("sink");
  std::vector<std::unique_ptr<Link>> links;
  if (linked) {
    for (const char* name : {"near", "far"}) {
      links.push_back(std::make_unique<Link>(name, sim::LinkConfig{.gbps = 400, .metres = 20}));  // 100 ns
    }
    source.out.bind(links[0]->in[0]);
    links[0]->out[0].bind(source.in);
    links[0]->connect(1, sw, 0);
    links[1]->connect(0, sw, 1);
    links[1]->set_marking(0, 1);
    links[1]->out[1].bind(sink.in);
    sink.out.bind(links[1]->in[1]);
  } else {
    source.out.bind(sw.in[0]);
    sw.out[0].bind(source.in);
    sw.out[1].bind(sink.in);
    sink.out.bind(sw.in[1]);
  }
  sw.tables().add_host_route(kHost, {1});
  sc_core::sc_trace_file* trace = sc_core::sc_create_vcd_trace_file((folder + (linked ? "/linked" : "/depth")).c_str());
  sw.trace(trace);
  sc_core::sc_start(100, sc_core::SC_US);
  sc_core::sc_close_vcd_trace_file(trace);

  const sim::Time frame = sim::Rate::gbps(400).time(sim::wire_bytes(
                      sim::frame_size(sim::Stack::Ipv6, static_cast<uint8_t>(wire::Opcode::WriteMiddle), false, 4096))),
                  gap = sim::Rate::gbps(400).time(sim::kGapBytes);
  check(picoseconds(source.local) == kFrames * frame, "blocking transport adds the time of each frame");
  check(sink.begun.size() == kFrames, fmt::format("{} frames came", sink.begun.size()));
  if (sink.begun.empty()) return 1;
  check(sink.begun.front() == frame - gap + (linked ? 500 : 300) * sim::kNs,
        "the first after its last byte, the switch's latency and the links");
  bool spaced = true;
  for (size_t i = 1; i < sink.begun.size(); ++i) spaced = spaced && sink.begun[i] - sink.begun[i - 1] == kBusy;
  check(spaced, "the others when the sink has room");
  check(sink.wrong == 0, "bytes and phases are right");
  check(sink.responses == kFrames, "every frame is answered");
  check(sink.trimmed > 10 && sink.trimmed < kFrames, fmt::format("{} trimmed", sink.trimmed));
  check(linked ? sink.marked == kFrames - sink.trimmed : sink.marked > 5 && sink.marked < kFrames,
        fmt::format("{} marked", sink.marked));
  check(!linked || (links[1]->marked(0) > 10 && links[0]->marked(0) == 0), "the far link marks what is not marked yet");
  const uint64_t deepest = sw.state().queue_counters(1, sim::kQueueData).watermark_bytes;
  check(deepest > 50'000 && largest(folder + (linked ? "/linked.vcd" : "/depth.vcd"), ".sw.port_1.queue_2") == deepest,
        fmt::format("the trace shows the queue: {} bytes at most", deepest));
  check(source.frames.live() == 0, "no payload is left");
  return failures == 0 ? 0 : 1;
}
