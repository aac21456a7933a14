// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <vector>

#include "tb/device/varied_parts.hpp"

namespace mrc::tb {
namespace {

using wire::Opcode;
using wire::Packet;
using S = VariedState;
constexpr uint32_t kPsns = 0xffffff;

bool data(const Packet& p) { return p.reth.has_value(); }
bool again(const Packet& p) { return data(p) && p.bth->rtx != 0; }
bool first(const Packet& p) { return data(p) && p.bth->rtx == 0; }
bool sack(const Packet& p) { return p.seth && p.cc_state; }

/// Changes one in eight of those that fit.
template <bool (*Fits)(const Packet&), class Change>
Act some(Packet& p, S& s, Change change) {
  if (!Fits(p) || !s.sometimes()) return Act::Keep;
  change();
  if (p.icrc) p.icrc->ok = true;
  return Act::Edited;
}
#define MRC_EDIT(fits, statement) [](Packet& p, S& s) { return some<fits>(p, s, [&] { statement; }); }
#define MRC_SOME(fits, act) [](Packet& p, S& s) { return fits(p) && s.sometimes() ? Act::act : Act::Keep; }

bool any(const Packet&) { return true; }
bool ack(const Packet& p) { return p.aeth.has_value(); }
bool nack(const Packet& p) { return p.neth.has_value(); }
bool imm(const Packet& p) { return p.immdt.has_value(); }
bool response(const Packet& p) { return p.eeth.has_value(); }
bool request(const Packet& p) { return p.erth.has_value(); }
bool control(const Packet& p) { return !data(p); }
bool ordinary_sack(const Packet& p) { return sack(p) && p.seth->pr == 0; }
bool marked_sack(const Packet& p) { return sack(p) && p.seth->m == 1; }
bool unmarked_sack(const Packet& p) { return sack(p) && p.seth->m == 0; }
bool answered_probe(const Packet& p) { return sack(p) && p.seth->pr != 0; }
bool holes(const Packet& p) { return sack(p) && p.cc_state->ooo_count > 2; }
bool whole_first(const Packet& p) { return first(p) && p.payload.size() > 64; }
bool whole_again(const Packet& p) { return again(p) && p.payload.size() > 64; }
bool middle(const Packet& p) { return first(p) && static_cast<Opcode>(p.bth->opcode) == Opcode::WriteMiddle; }
bool with_ipv6(const Packet& p) { return p.ipv6.has_value(); }

void entropy(Packet& p, uint32_t ev) { p.set_entropy(ev); }

std::vector<VariedRow> legal_rows() {
  std::vector<VariedRow> rows;
  const auto add = [&](const char* name, const char* what, const char* scenario) -> VariedRow& {
    return rows.emplace_back(VariedRow{.variant = {name, true, what, scenario, ""}});
  };
  add("late-data", "data packets wait up to 1 us each, control does not", "mixed").data_ns = 1000;
  add("late-control", "control packets wait up to 1 us each, data pass them", "mixed").control_ns = 1000;
  VariedRow& all = add("late-frames", "all frames wait up to 2 us each, none overtakes one of its kind", "trim");
  all.data_ns = all.control_ns = 2000;
  add("late-again", "retransmissions wait up to 4 us each, as those of a timer that runs late", "rto").again_ns = 4000;
  VariedRow& order = add("again-order", "retransmissions wait up to 2 us each and overtake each other", "loss");
  order.again_ns = 2000;
  order.again_pass = true;
  add("bursts", "frames leave at multiples of 2 us, in bursts", "mixed").burst_ns = 2000;
  add("late-writes", "writes of memory wait up to 1 us each; completions stay behind them", "immediate").write_ns =
      1000;
  VariedRow& pass = add("writes-pass", "writes of memory overtake each other, but no completion", "immediate");
  pass.write_ns = 1000;
  pass.writes_pass = true;
  add("late-completions", "completions wait up to 3 us", "immediate").cqe_ns = 3000;
  add("ev-order", "entropy values in another order, each on its plane", "reorder").evs_mixed = true;
  const auto set = [&](const char* name, const char* what, const char* scenario, const char* setting, uint64_t value) {
    VariedRow& row = add(name, what, scenario);
    row.setting = setting;
    row.value = value;
  };
  set("sack-often", "a SACK after 1024 bytes", "loss", "SACK_TRIGGER.bytes", 1024);
  set("sack-seldom", "a SACK after 32768 bytes", "loss", "SACK_TRIGGER.bytes", 32768);
  set("base-self", "the bitmap begins at the packet that is answered", "reorder", "CTRL.sack_base_self", 1);
  set("ack-first", "semantic ACKs leave with the SACK", "mixed", "CTRL.ack_with_sack", 1);
  set("gap-early", "retransmission after 8 later packets", "loss", "REORDER.pkts", 8);
  add("endpoint-twice", "endpoint requests are said twice", "link-flap").frame = [](Packet& p, S&) {
    return p.erth ? Act::Twice : Act::Keep;
  };
  VariedRow& nasty = add("nasty", "late, in bursts, mixed entropy values, writes that overtake, all at once", "mixed");
  nasty.data_ns = nasty.control_ns = 700;
  nasty.burst_ns = 500;
  nasty.write_ns = nasty.cqe_ns = 1000;
  nasty.writes_pass = nasty.evs_mixed = true;
  return rows;
}

VariedRow bad(const char* name, const char* what, const char* scenario, const char* rules, const char* l1 = "") {
  const std::string_view of = scenario;
  VariedRow row{.variant = {name, false, what, scenario, rules, l1}};
  if (of != "clean" && of != "long") row.share = 0.5;  // few packets fit
  return row;
}

using FrameAct = Act (*)(Packet&, S&);
struct FrameRow {
  const char *name, *what, *scenario, *rules;
  FrameAct act;
  const char* key = "";
};
/// A timer beyond what the judge allows a NIC for hearing, deciding and waiting: below it each repeat may be the
/// timer's.
constexpr const char* kLongTimer = "rto = 8";
/// A NIC that asks its peer hears what is missing before anybody can say that it is late.
constexpr const char* kQueriesNobody = "rto = 8, state_silent = 1";

/// A controller at work, for long enough.
constexpr const char* kOrders = "control = 1, csr_gap = 60000, qps = 1, delay_ns = 50000, rto = 10, backup = 6";

// Headers.
constexpr FrameRow kHeaders[] = {
    {"icrc-wrong", "the ICRC is wrong", "clean", "wire.icrc wire.format wire.decode",
     [](Packet& p, S& s) {
       if (!s.sometimes() || !p.icrc) return Act::Keep;
       p.icrc->ok = false;
       p.icrc->value ^= 1;
       return Act::Edited;
     }},
    {"checksum-set", "UDP has a checksum", "clean", "wire.udp-checksum", MRC_EDIT(any, p.udp->checksum = 0x1234)},
    {"port-foreign", "the UDP port is another one", "clean", "wire.udp-port", MRC_EDIT(any, p.udp->dst_port = 4971)},
    {"m-set", "BTH has m set", "clean", "wire.m-se", MRC_EDIT(any, p.bth->m = 1)},
    {"reserved-set", "reserved bits of the BTH are set", "clean", "wire.reserved", MRC_EDIT(any, p.bth->reserved4 = 1)},
    {"class-of-data", "control packets have the code point of data", "clean", "wire.class",
     MRC_EDIT(control, p.ipv6->dscp = wire::DscpMap{}.trimmable)},
    {"class-of-control", "data have the code point of control", "clean", "wire.class",
     MRC_EDIT(first, p.ipv6->dscp = wire::DscpMap{}.control)},
    {"class-rtx", "retransmissions have the code point of first ones", "loss", "wire.class",
     MRC_EDIT(again, p.ipv6->dscp = wire::DscpMap{}.trimmable)},
    {"ce-sent", "packets leave marked", "clean", "wire.ecn", MRC_EDIT(with_ipv6, p.ipv6->ecn = 3)},
    {"pkey-other", "the P_Key is another one", "clean", "wire.pkey", MRC_EDIT(first, p.bth->p_key ^= 1)},
    {"dqp-reserved", "data go to QP 2", "clean", "wire.dqp", MRC_EDIT(first, p.bth->dqp = 2)},
    {"address-other", "packets come from another address", "clean", "wire.address",
     MRC_EDIT(with_ipv6, p.ipv6->src[15] ^= 0x40)},
    {"pdcid-other", "spdcid of SACKs is another one", "clean", "wire.pdcid", MRC_EDIT(sack, p.seth->spdcid ^= 1)},
};

// What responders say.
constexpr FrameRow kResponder[] = {
    {"sack-psn-differs", "BTH.PSN of SACKs is not cack_psn", "clean", "wire.sack-psn",
     MRC_EDIT(sack, p.bth->psn = (p.bth->psn + 1) & kPsns)},
    {"sack-type-set", "the type of SETH is 1", "clean", "wire.sack-type", MRC_EDIT(sack, p.seth->type = 1)},
    {"sack-cc-type", "cc_type of SACKs is 2", "clean", "wire.cc-type", MRC_EDIT(sack, p.seth->cc_type = 2)},
    {"sack-mark-none", "m of SACKs is a value that there is not", "clean", "wire.mark", MRC_EDIT(sack, p.seth->m = 3)},
    {"sack-ahead", "cack_psn is ahead", "loss", "resp.cack-arrived resp.as-read",
     MRC_EDIT(sack, p.seth->cack_psn = p.bth->psn = (p.bth->psn + 40) & kPsns)},
    {"sack-behind", "cack_psn goes back", "loss", "resp.cack-back resp.as-read",
     MRC_EDIT(sack, p.seth->cack_psn = p.bth->psn = (p.bth->psn - 40) & kPsns)},
    {"sack-bit-more", "the bitmap has its last bit set", "loss", "resp.bitmap",
     MRC_EDIT(sack, p.seth->sack_bitmap |= uint64_t{1} << 63)},
    {"sack-base-moved", "sack_offset is 7 more", "reorder", "resp.bitmap resp.as-read resp.reported",
     MRC_EDIT(holes, p.seth->sack_offset = static_cast<int16_t>(p.seth->sack_offset + 7))},
    {"sack-ooo-more", "ooo_count is 50 more", "loss", "resp.ooo-most resp.as-read",
     MRC_EDIT(sack, p.cc_state->ooo_count = static_cast<uint16_t>(p.cc_state->ooo_count + 50))},
    {"sack-ooo-none", "ooo_count is 0", "loss", "resp.ooo-least resp.as-read",
     MRC_EDIT(holes, p.cc_state->ooo_count = 0)},
    {"sack-bytes-more", "rcvd_bytes is 4096 units more", "mixed", "resp.bytes",
     MRC_EDIT(sack, p.cc_state->rcvd_bytes = (p.cc_state->rcvd_bytes + 4096) & kPsns)},
    {"sack-bytes-down", "rcvd_bytes is 0", "mixed", "resp.bytes", MRC_EDIT(sack, p.cc_state->rcvd_bytes = 0)},
    {"sack-trigger-other", "ack_psn of SACKs names a packet that has not come", "clean", "resp.trigger resp.as-read",
     MRC_EDIT(ordinary_sack, p.seth->ack_psn_offset = static_cast<int16_t>(p.seth->ack_psn_offset + 100))},
    {"sack-entropy", "the entropy value of SACKs is another one", "clean", "resp.entropy",
     MRC_EDIT(sack, p.seth->entropy ^= 0x100)},
    {"sack-mark-more", "SACKs say marks that did not come", "clean", "resp.mark", MRC_EDIT(unmarked_sack, p.seth->m = 1)},
    {"sack-mark-lost", "marks are not said", "many-qps", "resp.sack-ce resp.sack-own",
     [](Packet& p, S&) {
       if (!marked_sack(p)) return Act::Keep;
       p.seth->m = 0;
       p.icrc->ok = true;
       return Act::Edited;
     }},
    {"sack-stamp", "the time stamp of SACKs is another one", "mixed", "resp.stamp wire.stamp",
     MRC_EDIT(sack, p.cc_state->tx_timestamp16 ^= 0x4000)},
    {"sack-mpr-above", "SACKs offer a window that is too large", "dynamic-mpr", "wire.mpr resp.mpr",
     MRC_EDIT(sack, p.seth->mpr = 40)},
    {"sack-lost", "packets are not answered", "loss",
     "resp.sack-ask resp.sack-own resp.sack-rtx resp.sack-bytes resp.reported",
     [](Packet& p, S&) { return ordinary_sack(p) ? Act::Drop : Act::Keep; }},
    {"sack-none", "nothing is said of retransmissions and holes", "loss",
     "resp.sack-ask resp.sack-own resp.sack-rtx resp.reported",
     [](Packet& p, S&) { return holes(p) ? Act::Drop : Act::Keep; }},
    {"probe-sack-lost", "probes are not answered", "loss", "resp.sack-probe",
     [](Packet& p, S&) { return answered_probe(p) ? Act::Drop : Act::Keep; }},
    {"probe-id-other", "answers to probes have another id", "trim", "resp.probe resp.as-read",
     MRC_EDIT(answered_probe, p.seth->ack_psn_offset = static_cast<int16_t>(p.seth->ack_psn_offset ^ 0x2aaa))},
    {"nack-lost", "trimmed packets bring no NACK", "trim", "resp.nack-trim", MRC_SOME(nack, Drop)},
    {"nack-other", "NACKs name the packet behind", "trim", "resp.nack resp.trim resp.nack-trim",
     MRC_EDIT(nack, p.neth->nack_psn = p.bth->psn = (p.bth->psn + 50) & kPsns)},
    {"nack-psn-differs", "BTH.PSN of NACKs is not nack_psn", "trim", "wire.sack-psn",
     MRC_EDIT(nack, p.bth->psn = (p.bth->psn + 1) & kPsns)},
    {"nack-reason", "NACKs have a reason that there is not", "trim", "wire.reason", MRC_EDIT(nack, p.neth->reason = 60)},
    {"nack-window", "NACKs say that the packet is outside the window", "trim", "resp.nack-oor resp.nack-trim",
     MRC_EDIT(nack, p.neth->reason = static_cast<uint8_t>(wire::NackReason::PsnOorWindow))},
    {"nack-entropy", "the entropy value of NACKs is another one", "trim", "resp.entropy",
     MRC_EDIT(nack, p.neth->entropy ^= 0x100)},
    {"ack-lost", "semantic ACKs are lost inside", "loss", "resp.ack-owed resp.ack-again",
     [](Packet& p, S&) { return ack(p) ? Act::Drop : Act::Keep; }},
    {"ack-ahead", "semantic ACKs count a message more", "clean", "resp.ack-msn resp.ack-order resp.ack-psn",
     MRC_EDIT(ack, p.aeth->msn = (p.aeth->msn + 20) & kPsns)},
    {"ack-behind", "semantic ACKs go back", "mixed", "resp.ack-back resp.ack-psn resp.ack-msn",
     MRC_EDIT(ack, p.aeth->msn = (p.aeth->msn - 20) & kPsns)},
    {"ack-psn-other", "semantic ACKs name another packet", "clean", "resp.ack-psn",
     MRC_EDIT(ack, p.bth->psn = (p.bth->psn + 3) & kPsns)},
    {"ack-syndrome", "the syndrome of ACKs is no known one", "clean", "wire.syndrome resp.nak-code",
     MRC_EDIT(ack, p.aeth->syndrome = 0x0f)},
    {"answer-id", "endpoint responses have another id", "link-flap", "peer.answer",
     MRC_EDIT(response, p.bth->psn ^= 0x100)},
    {"answer-stamp", "endpoint responses have another stamp", "link-flap", "peer.stamp",
     MRC_EDIT(response, p.eeth->tx_timestamp16 ^= 0x100)},
    {"ports-other", "port status updates name a port that there is not", "link-flap", "peer.mask",
     MRC_EDIT(request, p.erth->port_status_mask |= uint32_t{1} << 28)},
};

// What requestors do.
constexpr FrameRow kRequestor[] = {
    {"rtx-unsaid", "retransmissions have rtx 0", "loss", "req.psn-once wire.class", MRC_EDIT(again, p.bth->rtx = 0)},
    {"rtx-said", "first transmissions have rtx 1", "clean", "req.rtx-unsent wire.class",
     MRC_EDIT(first, p.bth->rtx = 1)},
    {"sent-twice", "packets are sent twice", "clean", "req.psn-once", MRC_SOME(first, Twice)},
    {"rtx-twice", "each retransmission is sent twice", "loss", "req.rtx-cause req.rtx-evidence req.rtx-reported",
     [](Packet& p, S&) { return again(p) ? Act::Twice : Act::Keep; }, kLongTimer},
    {"psn-beyond", "packets are sent beyond the window", "clean", "req.window req.psn-hole",
     [](Packet& p, S& s) {
       const QpConfig* qp = s.qp_of(p);
       if (qp == nullptr) return Act::Keep;
       return some<first>(p, s, [&] { p.bth->psn = (p.bth->psn + 128 * qp->mpr + 16) & kPsns; });
     }},
    {"psn-left-out", "packets are never sent", "clean", "req.psn-hole req.timer req.cqe-owed req.moves req.rtx-unsent",
     [](Packet& p, S& s) {
       uint64_t& lost = s.memory[p.bth->dqp];
       if (!data(p) || (lost != 0 && lost != p.bth->psn + 1)) return Act::Keep;
       if (lost == 0 && !s.sometimes()) return Act::Keep;
       lost = p.bth->psn + 1;
       return Act::Drop;
     }},
    {"rtx-lost", "half of what is to be sent again is not", "loss", "req.timer req.nack-again req.gap-again",
     MRC_SOME(again, Drop), kQueriesNobody},
    {"rtx-payload", "retransmissions carry other bytes", "loss", "req.rtx-same req.payload",
     MRC_EDIT(whole_again, p.payload[20] ^= 1)},
    {"rtx-address", "retransmissions have another address", "loss", "req.rtx-head req.va req.posted",
     MRC_EDIT(again, p.reth->va += 64)},
    {"payload-other", "packets carry other bytes", "clean", "req.payload req.posted",
     MRC_EDIT(whole_first, p.payload[20] ^= 1)},
    {"va-other", "the address of Middle packets is another one", "long", "req.va", MRC_EDIT(middle, p.reth->va += 64)},
    {"dma-other", "DMA length is not the message's", "clean", "req.dma req.posted",
     MRC_EDIT(first, p.reth->dma_length += 4)},
    {"rkey-other", "the R_Key is another one", "clean", "req.rkey req.posted", MRC_EDIT(first, p.reth->r_key ^= 1)},
    {"msn-other", "MSN is one more", "clean", "req.msn", MRC_EDIT(first, ++p.meth->msn)},
    {"rqmsn-other", "RQMSN is one more", "immediate", "req.rqmsn", MRC_EDIT(first, ++p.meth->rqmsn)},
    {"imm-other", "the immediate is another one", "immediate", "req.posted", MRC_EDIT(imm, p.immdt->value ^= 1)},
    {"middle-first", "Middle packets say First", "long", "req.sequence req.dma",
     MRC_EDIT(middle, p.bth->opcode = static_cast<uint8_t>(Opcode::WriteFirst))},
    {"ev-foreign", "data have an entropy value that is none of the QP's", "clean", "path.set",
     MRC_EDIT(first, entropy(p, p.entropy() ^ 0x5a5a))},
    {"plane-other", "data leave through another port than that of their entropy value", "clean", "path.plane",
     MRC_SOME(first, Move)},
};

template <std::size_t N>
void add(std::vector<VariedRow>& rows, const FrameRow (&of)[N]) {
  for (const FrameRow& r : of) {
    rows.push_back(bad(r.name, r.what, r.scenario, r.rules));
    rows.back().frame = r.act;
    rows.back().variant.key = r.key;
  }
}

template <class T>
Act few(T&, S& s, Act act) {
  return s.sometimes() ? act : Act::Keep;
}

void host_rows(std::vector<VariedRow>& rows) {
  const auto write = [&](const char* name, const char* what, const char* rules, Act (*act)(HostWrite&, S&)) {
    rows.push_back(bad(name, what, "immediate", rules));
    rows.back().write = act;
  };
  write("write-bit", "a bit of what is written is wrong", "mem.source", [](HostWrite& w, S& s) {
    if (!s.sometimes()) return Act::Keep;
    w.data[0] ^= 1;
    return Act::Edited;
  });
  write("write-moved", "writes go a byte further", "mem.source mem.once mem.region", [](HostWrite& w, S& s) {
    if (!s.sometimes()) return Act::Keep;
    ++w.addr;
    return Act::Edited;
  });
  write("write-outside", "writes go outside every region", "mem.region", [](HostWrite& w, S& s) {
    if (!s.sometimes()) return Act::Keep;
    w.addr += uint64_t{1} << 40;
    return Act::Edited;
  });
  write("write-twice", "writes are done twice", "mem.once", [](HostWrite& w, S& s) { return few(w, s, Act::Twice); });
  write("write-lost", "writes are lost", "mem.written mem.cqe",
        [](HostWrite& w, S& s) { return few(w, s, Act::Drop); });
  write("write-late", "writes come 3 us after their completion", "mem.cqe",
        [](HostWrite& w, S& s) { return few(w, s, Act::Late); });

  const auto cqe = [&](const char* name, const char* what, const char* rules, Act (*act)(log::Cqe&, S&)) {
    rows.push_back(bad(name, what, "immediate", rules));
    rows.back().cqe = act;
  };
  cqe("recv-lost", "completions of immediates are lost", "resp.cqe-order mem.cqe-order",
      [](log::Cqe& c, S& s) { return c.receive ? few(c, s, Act::Drop) : Act::Keep; });
  cqe("recv-twice", "immediates complete twice", "resp.cqe-order mem.cqe-order",
      [](log::Cqe& c, S& s) { return c.receive ? few(c, s, Act::Twice) : Act::Keep; });
  cqe("recv-order", "immediates complete in another order", "resp.cqe-order mem.cqe-order",
      [](log::Cqe& c, S& s) { return c.receive ? few(c, s, Act::Hold) : Act::Keep; });
  cqe("recv-imm", "completions have another immediate", "resp.cqe-imm mem.cqe-order", [](log::Cqe& c, S& s) {
    if (!c.receive || !s.sometimes()) return Act::Keep;
    c.imm ^= 1;
    return Act::Edited;
  });
  cqe("send-lost", "work requests never complete", "req.cqe-owed req.cqe-order",
      [](log::Cqe& c, S& s) { return c.receive ? Act::Keep : few(c, s, Act::Drop); });
  cqe("send-twice", "work requests complete twice", "req.cqe-order",
      [](log::Cqe& c, S& s) { return c.receive ? Act::Keep : few(c, s, Act::Twice); });
  cqe("send-order", "work requests complete in another order", "req.cqe-order",
      [](log::Cqe& c, S& s) { return c.receive ? Act::Keep : few(c, s, Act::Hold); });
}

void event_rows(std::vector<VariedRow>& rows) {
  constexpr const char* kInside = "only an event is wrong: wire and host are as they should be";
  const auto event = [&](const char* name, const char* what, const char* rules, Act (*act)(log::Event&, S&),
                         const char* scenario = "mixed") {
    rows.push_back(bad(name, what, scenario, rules, kInside));
    rows.back().event = act;
  };
  event("take-twice", "a packet is taken twice", "resp.take-once", [](log::Event& e, S& s) {
    return e.kind == log::EventKind::Take && e.arg[1] == 0 ? few(e, s, Act::Twice) : Act::Keep;
  });
  event("take-other", "a packet is taken that has not come", "resp.take-once", [](log::Event& e, S& s) {
    if (e.kind != log::EventKind::Take || e.arg[1] != 0 || !s.sometimes()) return Act::Keep;
    e.arg[0] = (e.arg[0] + 60) & kPsns;
    return Act::Edited;
  });
  event("take-lost", "packets are not shown as taken", "resp.take-all resp.cack-arrived resp.bitmap resp.ooo-most",
        [](log::Event& e, S& s) { return e.kind == log::EventKind::Take ? few(e, s, Act::Drop) : Act::Keep; });
  event("answer-other", "a SACK says another cack_psn than was read for it", "resp.as-read", [](log::Event& e, S& s) {
    if (e.kind != log::EventKind::Answer || !s.sometimes()) return Act::Keep;
    e.arg[3] = (e.arg[3] + 1) & kPsns;
    return Act::Edited;
  });
  event("answer-lost", "nothing was read for a SACK", "resp.as-read",
        [](log::Event& e, S& s) { return e.kind == log::EventKind::Answer ? few(e, s, Act::Drop) : Act::Keep; });
  event(
      "path-lost", "changes of EVs are not shown", "path.states path.used path.marked",
      [](log::Event& e, S& s) { return e.kind == log::EventKind::Path ? few(e, s, Act::Drop) : Act::Keep; }, "trim");
  event(
      "path-other", "an EV that is to be skipped is shown as bad", "path.bad path.states path.floor path.replaced",
      [](log::Event& e, S& s) {
        constexpr auto kSkip = static_cast<uint64_t>(log::EvState::Skip);
        if (e.kind != log::EventKind::Path || e.arg[2] != kSkip || !s.sometimes()) return Act::Keep;
        e.arg[2] = static_cast<uint64_t>(log::EvState::Bad);
        return Act::Edited;
      },
      "many-qps");
}

/// A controller's orders come to nothing.
void deaf_rows(std::vector<VariedRow>& rows) {
  const auto deaf = [&](const char* name, const char* what, const char* scenario, const char* rules, const char* key,
                        Deaf to) {
    rows.push_back(bad(name, what, scenario, rules));
    rows.back().variant.key = key;
    rows.back().deaf = to;
  };
  deaf("deny-unheard", "entropy values that are denied stay in use", "clean", "path.denied", kOrders, Deaf::Deny);
  deaf("allow-unheard", "entropy values that are allowed again stay out of use", "clean", "path.allowed", kOrders,
       Deaf::Allow);
  // At tiny a window has one unit.
  deaf("window-unheard", "the responder's window stays as it was", "clean", "resp.mpr",
       "dyn_mpr = true, control = 1, csr_gap = 30000, qps = 1, delay_ns = 200000, rto = 12", Deaf::Window);
  rows.back().variant.preset = "fpga100";
}

/// What a life has begun comes in the next one.
void remembering_rows(std::vector<VariedRow>& rows) {
  const auto row = [&](const char* name, const char* what, const char* rules) -> VariedRow& {
    rows.push_back(bad(name, what, "immediate", rules));
    rows.back().variant.key = "lives = 4, life_us = 10";
    rows.back().remembers = true;
    return rows.back();
  };
  row("life-writes", "writes of memory of a life come in the next one", "mem.cqe mem.cqe-order mem.source mem.region")
      .write_ns = 20000;
  row("life-completions", "completions of a life come in the next one",
      "req.cqe-order req.cqe-ack resp.cqe-order mem.cqe-order")
      .cqe_ns = 20000;
  row("life-frames", "frames of a life leave in the next one", "qp.state wire.class req.start req.posted resp.pair")
      .data_ns = 20000;
}

std::vector<VariedRow> all_rows() {
  std::vector<VariedRow> rows = legal_rows();
  add(rows, kHeaders);
  add(rows, kResponder);
  add(rows, kRequestor);
  host_rows(rows);
  event_rows(rows);
  deaf_rows(rows);
  remembering_rows(rows);
  return rows;
}

}  // namespace

std::span<const VariedRow> varied_rows() {
  static const std::vector<VariedRow> rows = all_rows();
  return rows;
}

std::span<const Variant> variants() {
  static const std::vector<Variant> all = [] {
    std::vector<Variant> out;
    for (const VariedRow& row : varied_rows()) out.push_back(row.variant);
    return out;
  }();
  return all;
}

const Variant* find_variant(std::string_view name) {
  for (const Variant& v : variants()) {
    if (v.name == name) return &v;
  }
  return nullptr;
}

}  // namespace mrc::tb
