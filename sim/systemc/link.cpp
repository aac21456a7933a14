// SPDX-License-Identifier: Apache-2.0
#include "sim/systemc/link.hpp"

#include <string>
#include <utility>

#include "util/round.hpp"

namespace mrc::systemc {

Link::Link(const sc_core::sc_module_name& name, const sim::LinkConfig& config)
    : BeforeElaboration(static_cast<const char*>(name)),
      sc_module(name),
      out("out", 2),
      in("in", 2),
      config_(config),
      rate_(sim::Rate::gbps(config.gbps)) {
  if (!rate_.valid()) refuse(kSetting, this->name(), "the rate is not above 0", "Give a rate, for example 800 Gb/s.");
  if (!(config.metres >= 0 && config.metres <= 1e9)) {
    refuse(kSetting, this->name(), "the length is not between 0 and 1e9 metres", "Give the length in metres.");
  }
  delay_ = picoseconds(nearest(config.metres * static_cast<double>(sim::kFibrePerMetre)) + config.fec);
  for (int end = 0; end < 2; ++end) {
    out[static_cast<size_t>(end)].register_nb_transport_bw(this, &Link::backward, end);
    in[static_cast<size_t>(end)].register_nb_transport_fw(this, &Link::forward, end);
    in[static_cast<size_t>(end)].register_b_transport(this, &Link::blocking, end);
  }
  SC_HAS_PROCESS(Link);
  SC_METHOD(detected);
  sensitive << detect_;
  dont_initialize();
}

void Link::connect(unsigned end, Node& node, unsigned port) {
  if (port >= node.ports()) {
    refuse(kSetting, name(), std::string(node.name()) + " has no port " + std::to_string(port),
           "It has ports 0 to " + std::to_string(node.ports() - 1) + ".");
    return;
  }
  node.out[port].bind(in[end]);
  out[end].bind(node.in[port]);
  node.linked(port);
  reports_[end] = true;
}

void Link::before_end_of_elaboration() {
  for (size_t end = 0; end < 2; ++end) {
    const int there = out[end].get_base_port().bind_count(), back = in[end].get_base_port().bind_count();
    if (there == 0 || back == 0) {
      refuse(kUnbound, name(),
             "nothing is bound to socket " + std::string(there == 0 ? "out" : "in") + "[" + std::to_string(end) + "]",
             "A link has a port at each of its two ends: connect() it.");
    }
    if (there > 1 || back > 1) {
      refuse(kBoundTwice, name(), "end " + std::to_string(end) + " has two owners", "Bind one port to each end.");
    }
  }
}

void Link::start_of_simulation() { report(); }

// Frames.

FrameExtension* Link::frame_of(unsigned end, tlm::tlm_generic_payload& payload) const {
  auto* frame = payload.get_extension<FrameExtension>();
  if (frame == nullptr) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    refuse(kProtocol, name(), "a payload without FrameExtension came in at in[" + std::to_string(end) + "]",
           "Bind the link to something that sends frames.");
  }
  return frame;
}

bool Link::loses(unsigned end, const FrameExtension& frame) {
  Way& way = way_[end];
  const sim::Packet& packet = frame.packet();
  ++way.stats.packets;
  way.stats.bytes += packet.size;
  bool lost = !carrier_;
  const sim::Impairment& i = way.impairment;
  if (i.loss > 0 && (!i.entropy || ((packet.entropy ^ *i.entropy) & i.entropy_mask) == 0) && way.rng.chance(i.loss)) {
    lost = true;
  }
  if (tap_ != nullptr) tap_->sent(id_, end == 0, frame.start(), packet, lost);
  if (lost) ++way.stats.lost;
  return lost;
}

void Link::mark(unsigned end, FrameExtension& frame) {
  Way& way = way_[end];
  if (way.marking > 0 && way.mark_rng.chance(way.marking) && !frame.trimmed()) way.marked += frame.mark();
}

sc_core::sc_time Link::serialization(const FrameExtension& frame) const {
  return picoseconds(rate_.time(sim::wire_bytes(frame.packet().size)));
}

tlm::tlm_sync_enum Link::forward(int tag, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                 sc_core::sc_time& t) {
  const auto end = static_cast<unsigned>(tag);
  if (phase == link_change()) {
    if (const auto* change = payload.get_extension<LinkExtension>()) {
      way_[end].dark = !change->state.carrier;
      carrier_changed();
    }
    return tlm::TLM_ACCEPTED;
  }
  if (phase != tlm::BEGIN_REQ) {  // END_RESP of a frame that the other end took its time for
    return out[1 - end]->nb_transport_fw(payload, phase, t);
  }
  FrameExtension* frame = frame_of(end, payload);
  if (frame == nullptr) return tlm::TLM_COMPLETED;
  const sc_core::sc_time ser = serialization(*frame);
  if (loses(end, *frame)) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);  // nobody is told
    t += ser;
    return tlm::TLM_COMPLETED;
  }
  mark(end, *frame);
  sc_core::sc_time there = t + delay_;
  const tlm::tlm_sync_enum answer = out[1 - end]->nb_transport_fw(payload, phase, there);
  if (answer != tlm::TLM_ACCEPTED) t += ser;
  return answer;
}

tlm::tlm_sync_enum Link::backward(int tag, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& t) {
  return in[static_cast<size_t>(1 - tag)]->nb_transport_bw(payload, phase, t);
}

void Link::blocking(int tag, tlm::tlm_generic_payload& payload, sc_core::sc_time& t) {
  const auto end = static_cast<unsigned>(tag);
  FrameExtension* frame = frame_of(end, payload);
  if (frame == nullptr) return;
  const sc_core::sc_time ser = serialization(*frame);
  if (loses(end, *frame)) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  } else {
    mark(end, *frame);
    sc_core::sc_time there = t + delay_;
    out[1 - end]->b_transport(payload, there);
  }
  t += ser;
}

// The link itself.

void Link::report() {
  for (size_t end = 0; end < 2; ++end) {
    if (!reports_[end]) continue;
    tlm::tlm_phase phase = link_change();
    sc_core::sc_time t;
    out[end]->nb_transport_fw(change_.payload({.gbps = config_.gbps, .carrier = carrier_, .up = seen_}), phase, t);
  }
}

void Link::carrier_changed() {
  const bool carrier = up_ && !way_[0].dark && !way_[1].dark;
  if (carrier == carrier_) return;
  carrier_ = carrier;
  detect_.cancel();  // it changed back before anybody saw
  const bool before = sc_core::sc_get_status() < sc_core::SC_RUNNING;
  if (config_.detect == 0 || before) seen_ = carrier_;
  if (before) return;  // start_of_simulation() tells
  report();
  if (seen_ != carrier_) detect_.notify(picoseconds(config_.detect));
}

void Link::detected() {
  seen_ = carrier_;
  report();
}

void Link::set_up(bool up) {
  up_ = up;
  carrier_changed();
}

void Link::set_rate(double gbps) {
  const sim::Rate rate = sim::Rate::gbps(gbps);
  if (!rate.valid()) {
    refuse(kSetting, name(), "the rate is not above 0", "Give a rate, for example 800 Gb/s.");
    return;
  }
  config_.gbps = gbps;
  rate_ = rate;
  if (sc_core::sc_get_status() >= sc_core::SC_RUNNING) report();
}

void Link::set_marking(unsigned from_end, double share) {
  if (!(share >= 0 && share <= 1)) {
    refuse(kSetting, name(), "a share of marked frames is not between 0 and 1", "Give 0.01 for one in a hundred.");
    return;
  }
  way_[from_end].marking = share;
}

void Link::set_impairment(unsigned from_end, const sim::Impairment& impairment) {
  way_[from_end].impairment = impairment;
}

}  // namespace mrc::systemc
