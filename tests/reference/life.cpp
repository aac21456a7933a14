// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/life.hpp"

#include <algorithm>

#include "log/digest.hpp"
#include "tests/reference/us.hpp"

namespace mrc::test {
namespace {

using log::Time;
constexpr uint32_t kRemoteKey = 9, kRegionKey = 7;
constexpr uint64_t kRegionVa = 0x1000, kRegionAddr = 0x80000, kRegionBytes = 0x10000, kRemoteVa = 0x9000;

uint8_t memory(uint64_t addr) { return static_cast<uint8_t>(addr * 167 + (addr >> 8) * 13); }

class Monitor {
 public:
  Monitor(const std::vector<Change>& changes, bool captured) : changes_(changes), captured_(captured) {}
  std::vector<Happening> notify();

 private:
  struct Message {
    uint32_t psn = 0;
    uint16_t msn = 0, rqmsn = 0;
    uint64_t va = 0, addr = 0;
    uint32_t bytes = 0, key = 0;
    bool imm = false;
    uint32_t value = 0;
    uint32_t packets() const { return bytes == 0 ? 1 : (bytes + kMtu - 1) / kMtu; }
  };

  template <class Call>
  void of(const std::string& name, Call&& call) {
    for (const Change& change : changes_) {
      const bool all = change.name.ends_with('*');
      const bool meant = all ? name.starts_with(change.name.substr(0, change.name.size() - 1)) : name == change.name;
      if (meant) call(change);
    }
  }

  void add(const std::string& name, log::Body body, bool of_capture = false) {
    log::Record record{0, now_, std::move(body)};
    bool drop = captured_ && !of_capture;
    unsigned copies = 1;
    of(name, [&](const Change& change) {
      if (change.record) change.record(record);
      drop |= change.drop;
      if (change.twice) copies = 2;
      for (const log::Body& extra : change.before) out_.push_back({name + ".before", {0, now_, extra}});
    });
    for (unsigned i = 0; i < copies && !drop; ++i) {
      out_.push_back({name, record});
      record.time += kUs / 10;
      if (auto* frame = std::get_if<log::Frame>(&record.body)) {
        frame->last += kUs / 10;
        ++frame->number;
      }
    }
    now_ += kUs;
  }

  void frame(const std::string& name, bool sent, unsigned plane, wire::Packet packet) {
    wire::complete(packet);
    of(name, [&](const Change& change) {
      if (change.packet) change.packet(packet);
    });
    log::Frame frame;
    frame.sent = sent;
    frame.plane = static_cast<uint8_t>(plane);
    frame.bytes = wire::encode(packet);
    frame.length = static_cast<uint32_t>(frame.bytes.size());
    frame.last = now_ + frame.length * 80;
    number_ += 2;
    frame.number = number_;
    add(name, std::move(frame), true);
  }

  wire::Packet packet(wire::Opcode opcode, bool sent, uint32_t entropy) {
    wire::Packet p = wire::make_packet(opcode, wire::Encapsulation::Ipv6, opcode <= wire::Opcode::WriteOnlyImm);
    p.ipv6->src = sent ? kOwn : kPeer;
    p.ipv6->dst = sent ? kPeer : kOwn;
    p.set_entropy(entropy);
    p.bth->p_key = 0xffff;
    p.bth->dqp = p.erth || p.eeth ? 2 : sent ? kPeerQp : kQp;
    if (p.seth) {
      p.seth->spdcid = kQp;
      p.seth->dpdcid = kPeerQp;
    }
    if (p.neth) {
      p.neth->spdcid = kQp;
      p.neth->dpdcid = kPeerQp;
    }
    if (p.peth) {
      p.peth->spdcid = kQp;
      p.peth->dpdcid = kPeerQp;
    }
    return p;
  }

  /// Packet i of a message.
  wire::Packet data(const Message& m, uint32_t i, bool sent, unsigned ev_number, bool again = false) {
    using enum wire::Opcode;
    const bool first = i == 0, last = i + 1 == m.packets();
    const wire::Opcode opcode = first && last ? (m.imm ? WriteOnlyImm : WriteOnly)
                                : first       ? WriteFirst
                                : last        ? (m.imm ? WriteLastImm : WriteLast)
                                              : WriteMiddle;
    wire::Packet p = packet(opcode, sent, ev(ev_number));
    p.bth->psn = (m.psn + i) & 0xFFFFFF;
    p.bth->rtx = again ? 1 : 0;
    p.bth->a = last ? 1 : 0;
    p.ipv6->dscp = again ? 8 : 4;
    p.meth->msn = m.msn;
    p.meth->rqmsn = m.rqmsn;
    p.reth->va = m.va + uint64_t{i} * kMtu;
    p.reth->r_key = m.key;
    p.reth->dma_length = m.bytes;
    p.tseth->tx_timestamp16 = static_cast<uint16_t>(now_ / 128'000);
    if (p.immdt) p.immdt->value = m.value;
    p.payload.resize(std::min(kMtu, m.bytes - i * kMtu));
    for (std::size_t k = 0; k < p.payload.size(); ++k) p.payload[k] = memory(m.addr + i * kMtu + k);
    return p;
  }

  /// A work request and what the device reads for it.
  Message post(const std::string& name, uint32_t bytes, bool imm = false) {
    Message m{sq_psn_,
              sq_msn_++,
              static_cast<uint16_t>(imm ? sq_rqmsn_++ : 0),
              kRemoteVa + 0x100u * sq_msn_,
              0x200000u + 0x1000u * sq_msn_,
              bytes,
              kRemoteKey,
              imm,
              0xAB00u + sq_msn_};
    sq_psn_ += m.packets();
    log::Post work;
    work.qp = kQp;
    work.wr_id = 1000u + m.msn;
    work.addr = m.addr;
    work.remote = m.va;
    work.bytes = bytes;
    work.rkey = kRemoteKey;
    work.immediate = imm;
    work.imm = imm ? m.value : 0;
    add(name + ".post", work);
    if (bytes == 0) return m;  // there is nothing to read
    log::Host read{log::HostOp::ReadDone, m.addr, bytes, 1, 0, {}, 0};
    for (uint32_t k = 0; k < bytes; ++k) read.data.push_back(memory(m.addr + k));
    add(name + ".read", read);
    return m;
  }
  void done(const std::string& name, const Message& m, log::Status status = log::Status::Ok) {
    log::Cqe cqe;
    cqe.qp = kQp;
    cqe.status = status;
    cqe.wr_id = 1000u + m.msn;
    cqe.bytes = m.bytes;
    add(name + ".cqe", cqe);
  }
  /// The peer says that all up to this PSN has come.
  void heard_sack(const std::string& name, uint32_t cack, uint32_t entropy) {
    wire::Packet p = packet(wire::Opcode::Sack, false, 0x77);
    p.bth->psn = p.seth->cack_psn = cack & 0xFFFFFF;
    p.seth->entropy = entropy;
    p.ipv6->dscp = 46;
    frame(name, false, 0, p);
  }
  void heard_ack(const std::string& name, uint32_t psn, uint32_t msn) {
    wire::Packet p = packet(wire::Opcode::Ack, false, 0x78);
    p.bth->psn = psn & 0xFFFFFF;
    p.aeth->syndrome = 0x1F;
    p.aeth->msn = msn;
    p.ipv6->dscp = 46;
    frame(name, false, 1, p);
  }
  /// Bytes that a packet counts for in rcvd_bytes: A-55.
  void counts(wire::Packet p) {
    wire::complete(p);
    rcvd_ += p.udp->length + 40u;
  }
  uint32_t rcvd_bytes() const { return (rcvd_ + 255) >> 8; }
  void sack(const std::string& name, uint32_t cack, int trigger, const wire::Packet& of, unsigned mark) {
    wire::Packet p = packet(wire::Opcode::Sack, true, 0x91);
    p.bth->psn = p.seth->cack_psn = cack;
    p.seth->ack_psn_offset = static_cast<int16_t>(trigger);
    p.seth->entropy = of.entropy();
    p.seth->m = static_cast<uint8_t>(mark);
    p.cc_state->tx_timestamp16 = of.tseth ? of.tseth->tx_timestamp16 : uint16_t{0};
    p.cc_state->rcvd_bytes = rcvd_bytes();
    p.ipv6->dscp = 46;
    frame(name, true, 0, p);
  }
  void ack(const std::string& name, uint32_t psn, uint32_t msn) {
    wire::Packet p = packet(wire::Opcode::Ack, true, 0x92);
    p.bth->psn = psn;
    p.aeth->syndrome = 0x1F;
    p.aeth->msn = msn;
    p.ipv6->dscp = 46;
    frame(name, true, 1, p);
  }
  void wrote(const std::string& name, const wire::Packet& p) {
    add(name, log::Host{log::HostOp::Write, kRegionAddr + (p.reth->va - kRegionVa),
                        static_cast<uint32_t>(p.payload.size()), 0, 0, p.payload, 0});
  }

  void begins();
  void sends();
  void fills_the_window();
  void sends_again();
  void receives();
  void endpoints();

  const std::vector<Change>& changes_;
  const bool captured_;
  std::vector<Happening> out_;
  Time now_ = 10 * kUs;
  uint64_t number_ = 0;
  uint32_t rcvd_ = 0;
  uint32_t sq_psn_ = kSqPsn;
  uint16_t sq_msn_ = 0, sq_rqmsn_ = 0;
};

void Monitor::begins() {
  log::Device device{"nic", ref::to_json(captured_ ? captured_profile() : life_profile())};
  log::Record notified{0, 0, device};
  of("device", [&](const Change& change) { change.record(notified); });
  out_.push_back({"device", notified});
  for (const auto& [name, state] :
       {std::pair{"qp.init", log::QpState::Init}, {"qp.rtr", log::QpState::Rtr}, {"qp.rts", log::QpState::Rts}}) {
    log::Qp qp = life_qp();
    qp.state = state;
    add(name, qp);
  }
  add("mr", log::Mr{kRegionKey, true, true, kRegionVa, kRegionBytes, kRegionAddr});
}

/// A message of three packets; one with immediate that is trimmed under way; two immediates at once; one of no bytes;
/// and a packet that a switch sends back.
void Monitor::sends() {
  const Message a = post("a", 600);
  frame("a.first", true, 0, data(a, 0, true, 0));
  frame("a.last", true, 1, data(a, 2, true, 1));  // ports overtake each other
  frame("a.middle", true, 0, data(a, 1, true, 2));
  heard_sack("a.sack", a.psn + 2, ev(2));
  heard_ack("a.ack", a.psn + 2, 1);
  done("a", a);

  const Message b = post("b", 87, true);
  frame("b", true, 0, data(b, 0, true, 4));
  wire::Packet nack = packet(wire::Opcode::Nack, false, 0x79);
  nack.bth->psn = nack.neth->nack_psn = b.psn & 0xFFFFFF;
  nack.neth->reason = 1;
  nack.neth->cc_type = 2;
  nack.neth->entropy = ev(4);
  nack.ipv6->dscp = 46;
  frame("b.nack", false, 1, nack);
  frame("b.again", true, 1, data(b, 0, true, 5, true));
  heard_sack("b.sack", b.psn, ev(5));
  heard_ack("b.ack", b.psn, 2);
  done("b", b);

  const Message i0 = post("i0", 16, true), i1 = post("i1", 16, true);
  frame("i0", true, 0, data(i0, 0, true, 0));
  frame("i1", true, 1, data(i1, 0, true, 1));
  heard_ack("i.ack", i1.psn, 4);
  done("i0", i0);
  done("i1", i1);

  const Message z = post("z", 0, true);
  const wire::Packet nothing = data(z, 0, true, 2);
  frame("z", true, 0, nothing);
  heard_sack("z.sack", z.psn, ev(2));
  heard_ack("z.ack", z.psn, 5);
  done("z", z);

  wire::Packet back = nothing;  // an older copy; the switch leaves the addresses
  back.ipv6->dscp = 12;
  frame("back", false, 0, back);
}

void Monitor::fills_the_window() {
  now_ += 50 * kUs;
  std::vector<Message> sent;
  for (unsigned i = 0; i < 128; ++i) {
    sent.push_back(post("full", 4));
    wire::Packet p = data(sent.back(), 0, true, i % 8);
    p.bth->a = i == 127 ? 1 : 0;
    frame(i == 127 ? "full.last" : "full", true, i % 2, p);
  }
  heard_sack("full.sack", sent.back().psn, ev(7));
  const Message next = post("next", 4);
  frame("next", true, 0, data(next, 0, true, 0));
  heard_ack("full.ack", next.psn, next.msn + 1u);
  for (const Message& m : sent) done("full", m);
  done("next", next);
}

void Monitor::sends_again() {
  now_ += 50 * kUs;
  for (unsigned i = 0; i < 40; ++i) {
    const Message m = post("lost", 4);
    frame("lost", true, m.psn % 2, data(m, 0, true, m.psn % 8));
    wire::Packet nack = packet(wire::Opcode::Nack, false, 0x79);
    nack.bth->psn = nack.neth->nack_psn = m.psn & 0xFFFFFF;
    nack.neth->reason = 1;
    nack.neth->cc_type = 2;
    nack.neth->entropy = ev(m.psn % 8);
    nack.ipv6->dscp = 46;
    frame("lost.nack", false, 1, nack);
    frame("again", true, m.psn % 2, data(m, 0, true, (m.psn + 2) % 8, true));
    heard_sack("again.sack", m.psn, ev((m.psn + 2) % 8));
    heard_ack("again.ack", m.psn, m.msn + 1u);
    done("lost", m);
  }
  now_ += 50 * kUs;
  const Message t0 = post("t0", 4), t1 = post("t1", 4);
  frame("t0", true, 0, data(t0, 0, true, 4));
  frame("t1", true, 1, data(t1, 0, true, 5));
}

/// The peer writes a message of two packets with immediate, the first one marked; then one that a switch trims first.
void Monitor::receives() {
  Message m{kRqPsn, 0, 0, kRegionVa + 0x40, 0x300000, 300, kRegionKey, true, 0x1234};
  wire::Packet first = data(m, 0, false, 20), last = data(m, 1, false, 21);
  first.ipv6->ecn = 3;
  wire::complete(first);
  wire::complete(last);
  frame("in.first", false, 0, first);
  counts(first);
  sack("marked.sack", m.psn, 0, first, 1);
  frame("in.last", false, 1, last);
  counts(last);
  wrote("in.write", first);
  wrote("in.write2", last);
  sack("sack", m.psn + 1, 0, last, 0);
  ack("in.ack", m.psn + 1, 1);
  log::Cqe cqe;
  cqe.qp = kQp;
  cqe.receive = true;
  cqe.imm = 0x1234;
  cqe.msn = 0;
  cqe.bytes = m.bytes;
  add("in.cqe", cqe);

  now_ += 50 * kUs;
  Message n{kRqPsn + 2, 1, 0, kRegionVa + 0x400, 0x310000, 64, kRegionKey, false, 0};
  wire::Packet cut = data(n, 0, false, 22);
  cut.payload.resize(20);
  cut.ipv6->dscp = 12;
  frame("in.trim", false, 0, cut);
  wire::Packet nack = packet(wire::Opcode::Nack, true, 0x93);
  nack.bth->psn = nack.neth->nack_psn = n.psn;
  nack.neth->reason = 1;
  nack.neth->cc_type = 2;
  nack.neth->entropy = ev(22);
  nack.neth->tx_timestamp16 = cut.tseth->tx_timestamp16;
  nack.ipv6->dscp = 46;
  frame("nack", true, 0, nack);
  wire::Packet unrequested = packet(wire::Opcode::Sack, true, 0x91);
  unrequested.bth->psn = unrequested.seth->cack_psn = n.psn - 1;
  unrequested.seth->pr = 1;
  unrequested.seth->ack_psn_offset = -1;
  unrequested.seth->entropy = ev(22);
  unrequested.cc_state->rcvd_bytes = rcvd_bytes();
  unrequested.ipv6->dscp = 46;
  frame("unasked", true, 1, unrequested);
  const wire::Packet again = data(n, 0, false, 23, true);
  frame("in.again", false, 1, again);
  counts(again);
  wrote("in.write3", again);
  sack("sack2", n.psn, 0, again, 0);
  ack("in.ack2", n.psn, 2);

  // Nobody looks at the R_Key of no bytes, nor at where they would go.
  const Message z{kRqPsn + 3, 2, 1, 0x77, 0x320000, 0, kRegionKey + 1, true, 0x5678};
  const wire::Packet nothing = data(z, 0, false, 24);
  frame("in.nothing", false, 0, nothing);
  counts(nothing);
  sack("nothing.sack", z.psn, 0, nothing, 0);
  ack("nothing.ack", z.psn, 3);
  cqe.imm = 0x5678;
  cqe.rqmsn = 1;
  cqe.bytes = 0;
  add("nothing.cqe", cqe);

  wire::Packet probe = packet(wire::Opcode::ProbeRequest, false, 0x0A0B0C0D);
  probe.peth->probe_id = 0x31;
  probe.peth->ftype = 1;
  frame("in.probe", false, 0, probe);
  wire::Packet answer = packet(wire::Opcode::Sack, true, 0x91);
  answer.bth->psn = answer.seth->cack_psn = z.psn;
  answer.seth->pr = 1;
  answer.seth->ack_psn_offset = 0x31;
  answer.seth->entropy = 0x0A0B0C0D;
  answer.ipv6->dscp = 46;
  answer.cc_state->rcvd_bytes = rcvd_bytes();
  frame("answer", true, 0, answer);
  ack("in.ack3", z.psn, 3);
}

void Monitor::endpoints() {
  wire::Packet request = packet(wire::Opcode::EndpointRequest, false, 0x66);
  request.bth->psn = 0x42;
  request.erth->op = 0;
  request.erth->port_status_mask = 6;
  request.erth->ftype = 1;
  request.erth->tx_timestamp16 = 0x5511;
  request.ipv6->dscp = 4;
  frame("in.request", false, 0, request);
  wire::Packet response = packet(wire::Opcode::EndpointResponse, true, 0x67);
  response.bth->psn = 0x42;
  response.eeth->tx_timestamp16 = 0x5511;
  response.ipv6->dscp = 46;
  frame("response", true, 0, response);
  wire::Packet status = packet(wire::Opcode::EndpointRequest, true, 0x68);
  status.bth->psn = 0x43;
  status.erth->op = 0;
  status.erth->port_status_mask = 6;
  status.erth->ftype = 1;
  status.ipv6->dscp = 4;
  frame("request", true, 1, status);
  wire::Packet probe = packet(wire::Opcode::ProbeRequest, true, ev(3));
  probe.peth->probe_id = 5;
  probe.peth->ftype = 1;
  probe.ipv6->dscp = 4;
  frame("probe", true, 1, probe);
}

std::vector<Happening> Monitor::notify() {
  begins();
  endpoints();
  sends();
  receives();
  fills_the_window();
  sends_again();
  now_ += 300 * kUs;
  out_.push_back({"end", {0, now_, log::End{false, ""}}});
  return std::move(out_);
}

}  // namespace

log::Qp life_qp() {
  log::Qp qp;
  qp.qp = kQp;
  qp.peer_qp = kPeerQp;
  qp.state = log::QpState::Rts;
  qp.mtu = kMtu;
  qp.sq_psn = kSqPsn;
  qp.rq_psn = kRqPsn;
  qp.mpr = qp.mpr_dest = 1;
  qp.time_stamps = true;
  qp.own_ip = kOwn;
  qp.peer_ip = kPeer;
  for (unsigned i = 0; i < 8; ++i) {
    qp.evs.push_back(ev(i));
    qp.ev_planes.push_back(static_cast<uint8_t>(i % 2));
  }
  return qp;
}

ref::Profile life_profile() {
  ref::Profile profile;
  profile.name = "a NIC of two ports";
  profile.planes = 2;
  return profile;
}

ref::Profile captured_profile() {
  ref::Profile profile = life_profile();
  profile.addresses = {kOwn};
  profile.qps = {life_qp()};
  return profile;
}

std::vector<Happening> life(const std::vector<Change>& changes, bool captured) {
  return Monitor(changes, captured).notify();
}

}  // namespace mrc::test
