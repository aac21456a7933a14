// SPDX-License-Identifier: Apache-2.0
#include "sim/systemc/node.hpp"

#include <algorithm>
#include <utility>

namespace mrc::systemc {
namespace {
bool running() { return (sc_core::sc_get_status() & (sc_core::SC_RUNNING | sc_core::SC_PAUSED)) != 0; }
}  // namespace

Node::Node(const sc_core::sc_module_name& name, unsigned ports, sim::Time latency)
    : BeforeElaboration(static_cast<const char*>(name)),
      sc_module(name),
      out("out", ports),
      in("in", ports),
      cell_(*this),
      frames_(cell_.pool()),
      latency_(latency),
      outgoing_(ports),
      links_(ports),
      linked_(ports) {
  for (unsigned p = 0; p < ports; ++p) {
    const int tag = static_cast<int>(p);
    out[p].register_nb_transport_bw(this, &Node::backward, tag);
    in[p].register_nb_transport_fw(this, &Node::forward, tag);
    in[p].register_b_transport(this, &Node::blocking, tag);
  }
  SC_HAS_PROCESS(Node);
  SC_METHOD(step);
  sensitive << due_;
  SC_METHOD(release_ports);
  sensitive << free_;
  dont_initialize();
}
Node::~Node() = default;

void Node::good(const std::optional<wire::Error>& error) const {
  if (error) refuse(kSetting, name(), error->what, error->remedy);
}

void Node::before_end_of_elaboration() {
  for (unsigned p = 0; p < ports(); ++p) {
    for (const auto& [what, count] :
         {std::pair{"out", out[p].get_base_port().bind_count()}, std::pair{"in", in[p].get_base_port().bind_count()}}) {
      const std::string socket = std::string(what) + "[" + std::to_string(p) + "]";
      if (count == 0) {
        refuse(kUnbound, name(), "nothing is bound to socket " + socket,
               "Bind it to a Link or another node, or build the module with fewer ports.");
      }
      if (count > 1) {
        refuse(kBoundTwice, name(), "socket " + socket + " has " + std::to_string(count) + " owners",
               "Bind one Link to each port.");
      }
    }
  }
}

// Time.

void Node::begin() {
  if (begun_) return;
  begun_ = true;
  cell_.begin();
}

void Node::notify(sim::Time time) {
  if (time >= notified_) return;
  notified_ = time;
  const sim::Time now = now_ps();
  due_.notify(picoseconds(time > now ? time - now : 0));
}

void Node::step() {
  ++activations_;
  if (!second_) {
    second_ = true;
    next_trigger(sc_core::SC_ZERO_TIME);
    return;
  }
  second_ = false;
  acting_ = true;
  begin();
  cell_.act(now_ps());
  acting_ = false;
  acted();
  notified_ = sim::kNever;
  notify(cell_.next());
}

Node::Acting::Acting(Node& node) : node_(node), first_(!node.acting_) {
  if (!first_) return;
  node_.acting_ = true;
  if (!running()) return;
  node_.begin();
  node_.cell_.enter(now_ps());
}
Node::Acting::~Acting() {
  if (!first_) return;
  node_.acting_ = false;
  node_.acted();
  if (running()) node_.notify(node_.cell_.next());
}

// The way out.

sim::Time Node::leave(unsigned port, sim::PacketPtr packet, sim::Time start, sim::Time free) {
  tlm::tlm_generic_payload& payload = frames_.make(std::move(packet), start);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time t = picoseconds(latency_);
  Outgoing& o = outgoing_[port];
  o.free = free;
  o.requested = true;
  const tlm::tlm_sync_enum answer = out[port]->nb_transport_fw(payload, phase, t);
  if (answer == tlm::TLM_COMPLETED) {
    o.requested = false;
    payload.release();
    return start + std::max(picoseconds(t), latency_) - latency_;
  }
  if (answer == tlm::TLM_UPDATED && phase != tlm::BEGIN_REQ) {
    o.requested = false;
    if (phase == tlm::BEGIN_RESP) {
      phase = tlm::END_RESP;
      sc_core::sc_time end = t;
      out[port]->nb_transport_fw(payload, phase, end);
      payload.release();
    }
    return std::max(free, start + picoseconds(t));
  }
  o.payload = &payload;
  return sim::kNever;
}

tlm::tlm_sync_enum Node::backward(int tag, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& t) {
  const auto port = static_cast<unsigned>(tag);
  if (phase == tlm::END_REQ) {
    request_ended(port, now_ps() + picoseconds(t));
    return tlm::TLM_ACCEPTED;
  }
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;  // a phase that may be ignored
  Outgoing& o = outgoing_[port];
  if (o.payload == &payload) {
    if (o.requested) request_ended(port, now_ps() + picoseconds(t));  // implied
    o.payload = nullptr;
  }
  payload.release();
  return tlm::TLM_COMPLETED;
}

void Node::request_ended(unsigned port, sim::Time at) {
  Outgoing& o = outgoing_[port];
  if (!o.requested) return;
  o.requested = false;
  o.free = std::max(o.free, at);
  const sim::Time now = now_ps();
  if (o.free > now) {
    free_.notify(picoseconds(o.free - now));
  } else {
    Acting here(*this);
    cell_.release(port);
  }
}

void Node::release_ports() {
  const sim::Time now = now_ps();
  sim::Time next = sim::kNever;
  Acting here(*this);
  for (unsigned p = 0; p < ports(); ++p) {
    if (!cell_.held(p) || outgoing_[p].requested) continue;
    if (outgoing_[p].free <= now) {
      cell_.release(p);
    } else {
      next = std::min(next, outgoing_[p].free);
    }
  }
  if (next != sim::kNever) free_.notify(picoseconds(next - now));
}

void Node::report_carrier(unsigned port, bool carrier) {
  if (!linked_[port]) return;
  LinkState state = links_[port];
  state.carrier = carrier;
  tlm::tlm_phase phase = link_change();
  sc_core::sc_time t;
  out[port]->nb_transport_fw(change_.payload(state), phase, t);
}

// The way in.

bool Node::take(unsigned port, tlm::tlm_generic_payload& payload, sc_core::sc_time& t) {
  const auto* frame = payload.get_extension<FrameExtension>();
  if (frame == nullptr) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    refuse(kProtocol, name(), "a payload without FrameExtension came in at in[" + std::to_string(port) + "]",
           "Bind the port to something that sends frames.");
    return false;
  }
  begin();
  const sim::Time first_bit = now_ps() + picoseconds(t);
  const sim::Time decided = cell_.arrive(port, frame->packet(), first_bit);
  if (!acting_) notify(decided);
  t += picoseconds(cell_.rate(port).time(sim::wire_bytes(frame->packet().size)));
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return true;
}

tlm::tlm_sync_enum Node::forward(int tag, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                 sc_core::sc_time& t) {
  const auto port = static_cast<unsigned>(tag);
  if (phase == tlm::BEGIN_REQ) {
    take(port, payload, t);
    return tlm::TLM_COMPLETED;
  }
  if (phase == link_change()) {
    if (const auto* change = payload.get_extension<LinkExtension>()) link_changed(port, change->state);
    return tlm::TLM_ACCEPTED;
  }
  if (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP || phase == tlm::END_RESP) {
    refuse(kProtocol, name(), "a phase that no frame is in came to in[" + std::to_string(port) + "]",
           "Send BEGIN_REQ: it is answered with TLM_COMPLETED.");
  }
  return tlm::TLM_ACCEPTED;
}

void Node::blocking(int tag, tlm::tlm_generic_payload& payload, sc_core::sc_time& t) {
  take(static_cast<unsigned>(tag), payload, t);
}

void Node::link_changed(unsigned port, const LinkState& state) {
  Acting here(*this);
  const LinkState before = std::exchange(links_[port], state);
  if (sim::Rate::gbps(state.gbps) != cell_.rate(port)) good(cell_.set_rate(port, state.gbps));
  if (before.carrier && !state.carrier) cell_.carrier_lost(port);
  if (cell_.port_up(port) != state.up) cell_.set_port(port, state.up);
}

}  // namespace mrc::systemc
