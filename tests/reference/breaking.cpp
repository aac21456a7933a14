// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/breaking.hpp"

namespace mrc::test {
namespace {

using ref::Rule;

Change packet(std::string name, std::function<void(wire::Packet&)> edit) { return {std::move(name), std::move(edit)}; }
template <class Body>
Change record(std::string name, std::function<void(Body&)> edit) {
  return {std::move(name), {}, [edit](log::Record& r) { edit(std::get<Body>(r.body)); }};
}
Change drop(std::string name) { return {std::move(name), {}, {}, true}; }
Change twice(std::string name) { return {std::move(name), {}, {}, false, true}; }
Change before(std::string name, log::Body body) { return {std::move(name), {}, {}, false, false, {std::move(body)}}; }
Change of_qp(std::function<void(log::Qp&)> edit) { return record<log::Qp>("qp.*", std::move(edit)); }

/// Rules that frames alone show.
constexpr Rule kInCaptures[] = {
    Rule::EvidenceDouble, Rule::WireIcrc,    Rule::WireTver,    Rule::WireOpcode,      Rule::WireReserved,
    Rule::WireMSe,        Rule::WirePad,     Rule::WireUdpPort, Rule::WireUdpChecksum, Rule::WireClass,
    Rule::WireTrimmed,    Rule::WireEcn,     Rule::WireDqp,     Rule::WireSackPsn,     Rule::WireSackType,
    Rule::WireCcType,     Rule::WireMark,    Rule::WireMpr,     Rule::WireStamp,       Rule::WireSyndrome,
    Rule::WireReason,     Rule::WireOp,      Rule::WirePdcid,   Rule::WirePkey,        Rule::WireEncap,
    Rule::ReqPsnOnce,     Rule::ReqRtxSame,  Rule::ReqRtxHead,  Rule::ReqRtxCause,     Rule::ReqWindow,
    Rule::ReqLength,      Rule::ReqSequence, Rule::ReqMsn,      Rule::ReqRqmsn,        Rule::ReqVa,
    Rule::ReqDma,         Rule::ReqRkey,     Rule::PathSet,     Rule::PathPlane,       Rule::PathPeerDown,
    Rule::PathFresh,      Rule::RespPair,    Rule::RespTrigger, Rule::RespEntropy,     Rule::RespMark,
    Rule::RespStamp,      Rule::RespNack,    Rule::RespTrim,    Rule::RespReturned,    Rule::RespProbe,
    Rule::RespCackBack,   Rule::QpKnown,     Rule::WireFormat};

}  // namespace

const std::map<Rule, Breaking>& breaking() {
  using P = wire::Packet;
  static const std::map<Rule, Breaking> all = [] {
    std::map<Rule, Breaking> made = {
        {Rule::EvidenceGap, {{before("t0", log::Gap{64, 3, 0, "no room"})}}},
        {Rule::EvidenceDrops, {{before("t0", log::Gap{1, 0, 0, ""})}}},
        {Rule::EvidenceOrder, {{{"in.write2", {}, [](log::Record& r) { r.time -= 40'000'000; }}}}},
        {Rule::EvidenceWhole, {{record<log::Frame>("a.last", [](log::Frame& f) { f.length += 10; })}}},
        {Rule::EvidenceDouble, {{twice("a.middle")}, true}},
        {Rule::EvidenceUnseen, {{drop("a.middle")}}},
        {Rule::WireFormat, {{packet("a.last", [](P& p) { p.udp->length += 4; })}}},
        {Rule::WireIcrc, {{record<log::Frame>("sack", [](log::Frame& f) { f.bytes.back() ^= 1; })}}},
        {Rule::WireTver, {{packet("a.last", [](P& p) { p.bth->tver = 1; })}}},
        {Rule::WireOpcode, {{packet("a.last", [](P& p) { p.bth->opcode = 0x24; })}}},
        {Rule::WireReserved, {{packet("sack", [](P& p) { p.seth->reserved12 = 1; })}}},
        {Rule::WireMSe, {{packet("a.first", [](P& p) { p.bth->m = 1; })}}},
        {Rule::WirePad, {{packet("sack", [](P& p) { p.bth->pad_count = 1; })}}},
        {Rule::WireUdpPort, {{packet("a.first", [](P& p) { p.udp->dst_port = 4791; })}}},
        {Rule::WireUdpChecksum, {{packet("a.first", [](P& p) { p.udp->checksum = 1; })}}},
        {Rule::WireClass, {{packet("b.again", [](P& p) { p.ipv6->dscp = 4; })}}},
        {Rule::WireTrimmed, {{packet("nack", [](P& p) { p.ipv6->dscp = 12; })}}},
        {Rule::WireEcn, {{packet("a.first", [](P& p) { p.ipv6->ecn = 3; })}}},
        {Rule::WireDqp, {{packet("response", [](P& p) { p.bth->dqp = 3; })}}},
        {Rule::WireSackPsn, {{packet("sack", [](P& p) { ++p.bth->psn; })}}},
        {Rule::WireSackType, {{packet("nack", [](P& p) { p.neth->type = 1; })}}},
        {Rule::WireCcType, {{packet("nack", [](P& p) { p.neth->cc_type = 0; })}}},
        {Rule::WireMark, {{packet("sack", [](P& p) { p.seth->m = 3; })}}},
        {Rule::WireMpr, {{packet("sack", [](P& p) { p.seth->mpr = 1; })}}},
        {Rule::WireStamp, {{packet("a.first", [](P& p) { p.tseth->ftype = 2; })}}},
        {Rule::WireSyndrome, {{packet("in.ack", [](P& p) { p.aeth->syndrome = 0x1E; })}}},
        {Rule::WireReason, {{packet("nack", [](P& p) { p.neth->reason = 3; })}}},
        {Rule::WireOp, {{packet("response", [](P& p) { p.eeth->op = 2; })}}},
        {Rule::WirePdcid, {{packet("sack", [](P& p) { ++p.seth->dpdcid; })}}},
        {Rule::WirePkey, {{packet("a.first", [](P& p) { p.bth->p_key = 0x8001; })}}},
        {Rule::WireAddress, {{packet("a.first", [](P& p) { p.ipv6->src[15] = 9; })}}},
        {Rule::WireEncap,
         {{packet("a.first",
                  [](P& p) {
                    p.outer_ipv6 = p.ipv6;
                    wire::complete(p);
                  })}}},
        {Rule::ReqStart, {{packet("a.first", [](P& p) { p.bth->psn = kSqPsn - 1; })}}},
        {Rule::ReqPsnOnce,
         {{packet("b.again",
                  [](P& p) {
                    p.bth->rtx = 0;
                    p.ipv6->dscp = 4;
                  })}}},
        {Rule::ReqPsnHole, {{drop("t0")}}},
        {Rule::ReqRtxUnsent, {{drop("b")}}},
        {Rule::ReqRtxSame, {{packet("b.again", [](P& p) { p.payload[3] ^= 1; })}}},
        {Rule::ReqRtxHead, {{packet("b.again", [](P& p) { p.reth->va += 4; })}}},
        {Rule::ReqRtxCause, {{drop("b.nack")}}},
        {Rule::ReqWindow, {{drop("full.sack")}}},
        {Rule::ReqLength,
         {{packet("a.middle",
                  [](P& p) {
                    p.payload.resize(252);
                    wire::complete(p);
                  })}}},
        {Rule::ReqSequence, {{packet("a.middle", [](P& p) { p.bth->opcode = 0xC6; })}}},
        {Rule::ReqMsn, {{packet("a.last", [](P& p) { ++p.meth->msn; })}}},
        {Rule::ReqRqmsn,
         {{packet("b*",
                  [](P& p) {
                    if (p.meth) ++p.meth->rqmsn;
                  })}}},
        {Rule::ReqVa, {{packet("a.middle", [](P& p) { p.reth->va += 4; })}}},
        {Rule::ReqDma, {{packet("a.middle", [](P& p) { p.reth->dma_length += 4; })}}},
        {Rule::ReqRkey, {{packet("a.middle", [](P& p) { ++p.reth->r_key; })}}},
        {Rule::ReqPosted, {{record<log::Post>("a.post", [](log::Post& p) { p.remote += 16; })}}},
        {Rule::ReqPayload, {{packet("a.last", [](P& p) { p.payload[0] ^= 1; })}}},
        {Rule::ReqMaxWimm, {{of_qp([](log::Qp& q) { q.max_wimm = 1; })}}},
        {Rule::ReqWimmOver, {{record<log::Cqe>("z.cqe", [](log::Cqe& c) { c.status = log::Status::WimmOverrun; })}}},
        {Rule::ReqZero, {{record<log::Cqe>("z.cqe", [](log::Cqe& c) { c.status = log::Status::LocalLength; })}}},
        {Rule::ReqWimmNone, {{of_qp([](log::Qp& q) { q.max_wimm = 0; })}}},
        {Rule::ReqAckreq, {{packet("full.last", [](P& p) { p.bth->a = 0; })}}},
        {Rule::ReqCqeAck, {{drop("b.ack")}}},
        {Rule::ReqCqeOrder, {{twice("a.cqe")}}},
        {Rule::PathSet, {{packet("a.first", [](P& p) { p.set_entropy(0x77777777); })}}},
        {Rule::PathPlane, {{record<log::Frame>("a.first", [](log::Frame& f) { f.plane = 1; })}}},
        {Rule::PathDown, {{before("a.first", log::Port{1, false})}}},
        {Rule::PathPeerDown, {{packet("in.request", [](P& p) { p.erth->port_status_mask = 4; })}}},
        {Rule::PathFresh, {{packet("again", [](P& p) { p.set_entropy(ev(p.bth->psn % 8)); })}}},
        {Rule::RespPair, {{packet("sack", [](P& p) { p.bth->dqp = 99; })}}},
        {Rule::RespTrigger, {{packet("sack", [](P& p) { p.seth->ack_psn_offset = 5; })}}},
        {Rule::RespEntropy, {{packet("sack", [](P& p) { p.seth->entropy ^= 1; })}}},
        {Rule::RespMark, {{packet("sack", [](P& p) { p.seth->m = 1; })}}},
        {Rule::RespStamp, {{packet("sack", [](P& p) { ++p.cc_state->tx_timestamp16; })}}},
        {Rule::RespNack, {{packet("nack", [](P& p) { p.bth->psn = p.neth->nack_psn = kRqPsn + 77; })}}},
        {Rule::RespTrim, {{packet("nack", [](P& p) { p.neth->reason = 2; })}}},
        // The peer's QP has the number of one of the device's own, which sends a NACK.
        {Rule::RespReturned,
         {{packet("back", [](P& p) { p.bth->dqp = kQp; }), packet("nack",
                                                                  [](P& p) {
                                                                    p.bth->psn = p.neth->nack_psn =
                                                                        (kSqPsn + 6) & 0xFFFFFF;
                                                                    p.neth->entropy = ev(2);
                                                                  })}}},
        {Rule::RespProbe, {{packet("answer", [](P& p) { p.seth->ack_psn_offset = 0x32; })}}},
        {Rule::RespAckMsn, {{packet("in.ack", [](P& p) { p.aeth->msn = 2; })}}},
        {Rule::RespAckBack, {{packet("in.ack2", [](P& p) { p.aeth->msn = 0; })}}},
        {Rule::RespCackBack, {{packet("answer", [](P& p) { p.bth->psn = p.seth->cack_psn = kRqPsn; })}}},
        {Rule::RespNakFinal,
         {{packet("in.ack",
                  [](P& p) {
                    p.aeth->syndrome = 0x62;
                    p.aeth->msn = 0;
                  })}}},
        {Rule::PeerAnswer, {{packet("response", [](P& p) { p.bth->psn = 0x44; })}}},
        {Rule::PeerStamp, {{packet("response", [](P& p) { ++p.eeth->tx_timestamp16; })}}},
        {Rule::PeerMask, {{packet("request", [](P& p) { p.erth->port_status_mask = 2; })}}},
        {Rule::MemRegion, {{record<log::Host>("in.write", [](log::Host& h) { h.addr += 0x100000; })}}},
        {Rule::MemSource, {{record<log::Host>("in.write", [](log::Host& h) { h.data[0] ^= 1; })}}},
        {Rule::MemOnce, {{twice("in.write")}}},
        {Rule::MemCqe, {{drop("in.write")}}},
        {Rule::MemCqeOrder, {{record<log::Cqe>("in.cqe", [](log::Cqe& c) { ++c.imm; })}}},
        {Rule::MemWritten, {{drop("in.write3")}}},
        {Rule::QpState, {{drop("qp.rts")}}},
        {Rule::QpWalk, {{record<log::Qp>("qp.init", [](log::Qp& q) { q.state = log::QpState::Rts; })}}},
        {Rule::QpFatal, {{packet("i.ack", [](P& p) { p.aeth->syndrome = 0x61; })}}},
        {Rule::QpKnown, {{packet("a.first", [](P& p) { p.ipv6->dst[15] = 77; })}}},
        {Rule::QpFlush, {{record<log::Cqe>("a.cqe", [](log::Cqe& c) { c.status = log::Status::Fatal; })}}},
    };
    for (const Rule rule : kInCaptures) made.at(rule).seen_in_capture = true;
    return made;
  }();
  return all;
}

}  // namespace mrc::test
