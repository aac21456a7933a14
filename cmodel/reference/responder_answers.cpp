// SPDX-License-Identifier: Apache-2.0
/// What answers say, and what they settle.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "reference/numbers.hpp"
#include "reference/responder_flow.hpp"

namespace mrc::ref {
namespace {

constexpr uint8_t kAckSyndrome = static_cast<uint8_t>(wire::AethSyndrome::Ack);

bool is(uint8_t reason, wire::NackReason which) { return reason == static_cast<uint8_t>(which); }
bool trim_reason(uint8_t reason) {
  return is(reason, wire::NackReason::Trimmed) || is(reason, wire::NackReason::TrimmedLasthop);
}

}  // namespace

void ResponderFlow::answered(const wire::Packet& packet, const Went& went) {
  advance(went.at);
  if (packet.seth && packet.cc_state) sack_went(packet, went);
  if (packet.neth) nack_went(packet, went);
  if (packet.aeth) ack_went(packet, went);
}

void ResponderFlow::sack_went(const wire::Packet& packet, const Went& went) {
  const wire::Seth& seth = *packet.seth;
  const Seq cack = unwrap(seth.cack_psn, hi_.cack());
  const Seq trigger = cack + seth.ack_psn_offset;
  const Seq base = cack + seth.sack_offset;
  const bool probe = seth.pr != 0;
  const auto id = static_cast<uint16_t>(seth.ack_psn_offset);
  trace(went.at, probe ? "SACK of probe" : "SACK of packet", probe ? Seq{id} : trigger, cack);
  alive(went.at);
  ++sacks_;
  if (bytes_ != 0) world_.report.ok(Rule::RespSackBytes);
  bytes_ = 0;
  sacked_ = went.at;
  for (Owed& owed : owed_) {
    const Arrival& a = owed.came.arrival;
    const bool covers =
        a.psn <= cack || (a.psn >= base && a.psn < base + 64 && (seth.sack_bitmap >> (a.psn - base) & 1));
    const bool own = !probe && trigger == a.psn;
    const bool before = owed.met;
    switch (owed.need) {
      case Need::Sack:
      case Need::Duplicate:
        owed.met = owed.met || own;
        owed.covered = owed.covered || covers;
        break;
      case Need::Mark:
        if (!probe && seth.entropy == owed.came.entropy && seth.m != static_cast<uint8_t>(wire::Mark::None)) {
          owed.met = owed.met || own || covers;
        }
        break;
      case Need::Probe:
        owed.met = owed.met || (probe && id == a.probe);
        break;
      case Need::AnySack:
        owed.met = true;
        break;
      case Need::TrimSack:
        owed.met = owed.met || (probe && id == kUnrequestedProbe);
        break;
      case Need::NackTrim:
      case Need::SackOrNack:
        owed.met = owed.met || own || (covers && hi_.has(a.psn));
        break;
      default:
        break;
    }
    const bool one = owed.need == Need::Sack || owed.need == Need::Duplicate || owed.need == Need::Probe;
    if (one && !before && owed.met && went.at >= owed.came.at) world_.report.answered(went.at - owed.came.at);
  }
  // It comes along, on a port of its own perhaps: a little earlier or later.
  if (world_.profile.settings.ack_with_sack && lo_.completed() > Seq{qp_.msn} && state_ == State::Alive &&
      (confirmed_ == 0 || confirmed_ + world_.latency < went.at)) {
    Came self;
    self.at = went.at;
    self.arrival.psn = cack;
    self.number = went.number;
    self.capture = went.capture;
    owe(Need::Ack, Rule::RespAckOwed, self);
  }
}

void ResponderFlow::nack_went(const wire::Packet& packet, const Went& went) {
  const wire::Neth& neth = *packet.neth;
  const Seq psn = unwrap(neth.nack_psn, hi_.cack());
  trace(went.at, "NACK", psn, neth.reason);
  const bool dead = is(neth.reason, wire::NackReason::UnexpEvent);
  if (dead && state_ != State::Dead) {
    failed_ = went.at;
    state_ = State::Dead;
  }
  for (Owed& owed : owed_) {
    if (owed.came.arrival.what == Arrival::What::Probe) continue;
    const bool about = owed.came.arrival.psn == psn;
    if (about && owed.need != Need::Ack && owed.need != Need::Nak) owed.met = true;
    if (!dead && about && owed.need == Need::Ack) owed.met = true;
    if (dead && owed.need == Need::Nak) owed.met = true;
  }
  if (is(neth.reason, wire::NackReason::NoPktBuffer)) world_.no_buffer = went.at;
  if (trim_reason(neth.reason)) return;
  // The packet did not arrive after all.
  refused_ = true;
  if (world_.shows_take && !refuses(psn)) return;
  for (Waiting& w : waiting_) {
    if (!w.cancelled && w.came.arrival.psn == psn && w.came.entropy == neth.entropy) {
      w.cancelled = true;
      break;
    }
  }
}

void ResponderFlow::ack_went(const wire::Packet& packet, const Went& went) {
  const Seq msn = unwrap(packet.aeth->msn & 0xffff, hi_.completed(), 16);
  const bool nak = packet.aeth->syndrome != kAckSyndrome;
  trace(went.at, nak ? "NAK" : "ACK", unwrap(packet.bth->psn, hi_.cack()), msn);
  if (nak) {
    nak_sent_ = went.at;
    if (state_ != State::Dead) failed_ = went.at;
    state_ = State::Dead;
  } else {
    alive(went.at);
  }
  confirmed_ = went.at;
  if (msn <= hi_.completed()) acked_ = std::max(acked_, msn);
  for (Owed& owed : owed_) {
    if (owed.need == Need::Ack) owed.met = true;
    if (nak && (owed.need == Need::Nak || owed.need == Need::Unexp)) owed.met = true;
  }
}

void ResponderFlow::check(const wire::Packet& packet, const Went& went) {
  advance(went.at);
  if (packet.seth && packet.cc_state) check_sack(packet, went);
  if (packet.neth) check_nack(packet, went);
  if (packet.aeth) check_ack(packet, went);
}

void ResponderFlow::check_sack(const wire::Packet& packet, const Went& went) {
  const wire::Seth& seth = *packet.seth;
  Report& report = world_.report;
  const Seq cack = unwrap(seth.cack_psn, hi_.cack());
  const std::string came = fmt::format("SACK with cack_psn {}", seth.cack_psn);
  Seq least = lo_.cack();
  const bool read = world_.shows_answer && check_read(packet, went, least);
  const bool true_cack = cack <= hi_.cack();
  report.answer(read ? 1 : static_cast<uint64_t>(std::max<Seq>(hi_.cack() - least, 0)) + 1);
  if (true_cack) {
    if (!read) report.ok(Rule::RespCackArrived);
    claims_.emplace_back(went.at + world_.latency, cack);
  } else if (!read) {
    world_.broken(finding(
        Rule::RespCackArrived, went, came,
        fmt::format("at most {}: packet {} has not arrived", hi_.cack() & kPsnMask, (hi_.cack() + 1) & kPsnMask)));
  }
  const Responder::Sack sack{cack, packet.cc_state->ooo_count, cack + seth.sack_offset, seth.sack_bitmap};
  Seq wrong = -1;
  for (uint64_t bits = read ? 0 : seth.sack_bitmap; bits != 0 && wrong < 0; bits &= bits - 1) {
    const Seq psn = sack.base + std::countr_zero(bits);
    if (!hi_.has(psn)) wrong = psn;
  }
  if (read) {
    // Judged already.
  } else if (wrong < 0) {
    report.ok(Rule::RespBitmap);
  } else {
    world_.broken(finding(Rule::RespBitmap, went, fmt::format("{}, bit of PSN {} set", came, wrong & kPsnMask),
                          "clear: it has not arrived"));
  }
  if (true_cack) check_taken(went, cack, least);
  if (true_cack && !read) check_sums(packet, went, sack);
  reported(sack, went);
  if (qp_.dynamic_mpr) {
    if (seth.mpr >= 1 && seth.mpr <= 32) {
      report.ok(Rule::RespMprRange);
    } else {
      world_.broken(finding(Rule::RespMprRange, went, fmt::format("SACK with mpr {}", seth.mpr), "1 to 32"));
    }
  }
  if (allowed_mpr(seth.mpr, went.at)) {
    report.ok(Rule::RespMpr);
  } else {
    world_.broken(finding(Rule::RespMpr, went, fmt::format("SACK with mpr {}", seth.mpr),
                          !qp_.dynamic_mpr  ? "0"
                          : qp_.window != 0 ? fmt::format("{}, or one set lately", std::min(qp_.window, qp_.mpr_dest))
                                            : fmt::format("at most {}", qp_.mpr_dest)));
  }
  if (world_.profile.settings.share) {
    report.rests(Rule::RespWindow, "when it shuts and opens windows is its own affair (SHARE.enable)");
  } else if (packet.cc_state->rcv_cwnd_pen == 0 && packet.cc_state->restore_cwnd == 0) {
    report.ok(Rule::RespWindow);
  } else {
    world_.broken(finding(Rule::RespWindow, went,
                          fmt::format("SACK with rcv_cwnd_pen {}, restore_cwnd {}", packet.cc_state->rcv_cwnd_pen,
                                      packet.cc_state->restore_cwnd),
                          "0, 0"));
  }
}

/// What mpr may say: nothing without dynamic MPR; else the window that its owner has set, or, if it tells none, any.
bool ResponderFlow::allowed_mpr(uint32_t mpr, Time time) const {
  if (!qp_.dynamic_mpr) return mpr == 0;
  if (qp_.window == 0 && windows_.empty()) return mpr <= qp_.mpr_dest;
  const auto says = [&](uint32_t window) {
    return mpr == (window == 0 ? qp_.mpr_dest : std::min(window, qp_.mpr_dest));
  };
  // A table is written behind all that the device is about, so a change may take long.
  constexpr Time kSlow = 16;
  if ((qp_.flags & log::kOrdered) != 0 && says(windows_.empty() ? 0 : windows_.back().first)) return true;
  return says(qp_.window) || std::ranges::any_of(windows_, [&](const auto& w) {
           return time < w.second + kSlow * world_.latency && says(w.first);
         });
}

/// cack_psn has gone over all that had been here for long enough when it was read, or goes now.
void ResponderFlow::check_taken(const Went& went, Seq cack, Seq least) {
  Report& report = world_.report;
  const std::string came = fmt::format("SACK with cack_psn {}", cack & kPsnMask);
  if (!went.steady || state_ != State::Alive) {
    report.rests(Rule::RespCackTaken, went.steady ? "the QP may be in ERROR" : "a port changed");
  } else if (cack >= least) {
    // The next PSN may be here as well: no fact says that cack_psn goes over all of a filled gap at once.
    report.ok(Rule::RespCackTaken);
  } else {
    world_.doubt(
        finding(Rule::RespCackTaken, went, came,
                fmt::format("at least {}: all up to it has been here for {} ps", least & kPsnMask, world_.latency)));
    lo_.without(cack + 1);
  }
}

/// Counts and sums, both bounds.
void ResponderFlow::check_sums(const wire::Packet& packet, const Went& went, const Responder::Sack& sack) {
  const Seq cack = sack.cack;
  Report& report = world_.report;
  const wire::CcState& cc = *packet.cc_state;
  const std::string came = fmt::format("SACK with cack_psn {}", cack & kPsnMask);
  const bool lo = went.steady && state_ == State::Alive;
  if (!lo) report.rests(Rule::RespOooLeast, went.steady ? "the QP may be in ERROR" : "a port changed");
  const Seq most = hi_.above(cack);
  if (cc.ooo_count <= most) {
    report.ok(Rule::RespOooMost);
  } else {
    world_.broken(finding(Rule::RespOooMost, went, fmt::format("{}, ooo_count {}", came, cc.ooo_count),
                          fmt::format("at most {}", most)));
  }
  Seq shown_above = 0;  // by the SACK itself
  for (uint64_t bits = sack.bitmap; bits != 0; bits &= bits - 1) {
    const Seq psn = sack.base + std::countr_zero(bits);
    shown_above += psn > cack && hi_.has(psn) ? 1 : 0;
  }
  if (cc.ooo_count < shown_above) {
    world_.broken(finding(Rule::RespOooLeast, went, fmt::format("{}, ooo_count {}", came, cc.ooo_count),
                          fmt::format("at least {}: its bitmap reports so many", shown_above)));
  } else if (lo && cack >= lo_.cack()) {
    const Seq least = lo_.above(cack);
    if (cc.ooo_count >= least) {
      report.ok(Rule::RespOooLeast);
    } else {
      world_.doubt(finding(Rule::RespOooLeast, went, fmt::format("{}, ooo_count {}", came, cc.ooo_count),
                           fmt::format("at least {}", least)));
    }
  }
  const auto units = [](Seq bytes) { return (bytes + 255) >> 8; };
  const Seq shown = unwrap(cc.rcvd_bytes, units(hi_.bytes(0)));
  const auto judge = [&](Rule rule, Seq least, Seq largest) {
    if (shown > units(largest + size_slack_)) {
      world_.broken(finding(rule, went, fmt::format("SACK with rcvd_bytes {}", cc.rcvd_bytes),
                            fmt::format("at most {}", units(largest) & kPsnMask)));
    } else if (lo && shown < units(least - size_slack_)) {
      world_.doubt(finding(rule, went, fmt::format("SACK with rcvd_bytes {}", cc.rcvd_bytes),
                           fmt::format("at least {}", units(least) & kPsnMask)));
      size_slack_ += (units(least) - shown) << 8;
    } else {
      report.ok(rule);
    }
  };
  const unsigned nominal = world_.profile.settings.nominal;
  judge(Rule::RespBytes, lo_.payload(), hi_.bytes(0));
  judge(Rule::RespNominal, lo_.bytes(nominal), hi_.bytes(nominal));
}

void ResponderFlow::reported(const Responder::Sack& sack, const Went& went) {
  while (!unreported_.empty() && *unreported_.begin() <= sack.cack) unreported_.erase(unreported_.begin());
  early_.erase(early_.begin(), early_.upper_bound(lo_.cack()));
  for (uint64_t bits = sack.bitmap; bits != 0; bits &= bits - 1) {
    const Seq psn = sack.base + std::countr_zero(bits);
    if (unreported_.erase(psn) == 0 && psn > lo_.cack() && hi_.has(psn) && !lo_.has(psn)) early_.insert(psn);
  }
  const uint64_t patience = 4 * static_cast<uint64_t>(hi_.window() / 64 + 1);
  while (!report_due_.empty()) {
    const auto [psn, since] = report_due_.front();
    if (unreported_.count(psn) == 0) {
      world_.report.ok(Rule::RespReported);
      report_due_.pop_front();
      continue;
    }
    if (sacks_ < since + patience) return;
    report_due_.pop_front();
    unreported_.erase(psn);
    if (world_.profile.settings.sack_base_self || state_ != State::Alive || !lo_.has(psn)) {
      world_.report.rests(Rule::RespReported, "the base may be the packet itself (A-11), or the packet is gone");
      continue;
    }
    world_.doubt(finding(Rule::RespReported, went,
                         fmt::format("{} SACKs without a bit for PSN {}", sacks_ - since, psn & kPsnMask),
                         "one that reports it"));
  }
}

void ResponderFlow::check_nack(const wire::Packet& packet, const Went& went) {
  const wire::Neth& neth = *packet.neth;
  const Seq psn = unwrap(neth.nack_psn, hi_.cack());
  const bool lo = went.steady && state_ == State::Alive;
  const std::string came = fmt::format("NACK of PSN {}, reason {:#04x}", neth.nack_psn, neth.reason);
  if (trim_reason(neth.reason)) {
    if (!qp_.trim_nack) {
      world_.broken(finding(Rule::RespNackTrimCap, went, came, "none"));
    } else {
      world_.report.ok(Rule::RespNackTrimCap);
    }
    if (lo && lo_.has(psn)) {
      world_.doubt(finding(Rule::RespNackHad, went, came, "a SACK: the packet arrived whole long before"));
    } else if (lo) {
      world_.report.ok(Rule::RespNackHad);
    }
  }
  if (is(neth.reason, wire::NackReason::PsnOorWindow)) {
    if (!lo) {
      world_.report.rests(Rule::RespNackOor, "the QP may be in ERROR, or a port changed");
    } else if (psn > lo_.cack() + lo_.window() || psn < hi_.cack() - (Seq{1} << 22)) {
      world_.report.ok(Rule::RespNackOor);
    } else {
      world_.doubt(
          finding(Rule::RespNackOor, went, came,
                  fmt::format("none: the window goes up to {} at least", (lo_.cack() + lo_.window()) & kPsnMask)));
    }
  }
  if (is(neth.reason, wire::NackReason::UnexpEvent)) {
    if (requestor_ || faults_ != 0 || qp_.state == log::QpState::Error || nak_sent_ != 0) {
      world_.report.ok(Rule::RespNackUnexp);
    } else {
      world_.broken(finding(Rule::RespNackUnexp, went, came, "none: nothing has put the QP into ERROR"));
    }
  }
}

void ResponderFlow::check_ack(const wire::Packet& packet, const Went& went) {
  const wire::Aeth& aeth = *packet.aeth;
  Report& report = world_.report;
  const Settings& s = world_.profile.settings;
  const bool nak = aeth.syndrome != kAckSyndrome;
  const Seq msn = unwrap(aeth.msn & 0xffff, hi_.completed(), 16);
  const std::string came = fmt::format("{} of PSN {} with MSN {}, syndrome {:#04x}", nak ? "NAK" : "ACK",
                                       packet.bth->psn, aeth.msn, aeth.syndrome);
  if (mixed_) {
    report.rests(Rule::RespAckOrder, "copies of a packet differed");
    report.rests(Rule::RespAckPsn, "copies of a packet differed");
  } else {
    if (msn <= hi_.completed()) {
      report.ok(Rule::RespAckOrder);
    } else {
      world_.broken(finding(Rule::RespAckOrder, went, came,
                            fmt::format("MSN {} at most: message {} is not complete", hi_.completed() & 0xffff,
                                        hi_.completed() & 0xffff)));
    }
    const auto end = hi_.end_of(msn - 1);
    if (nak || !end) {
      report.rests(Rule::RespAckPsn, nak ? "a NAK" : "no such message is known");
    } else if ((*end & kPsnMask) == packet.bth->psn) {
      report.ok(Rule::RespAckPsn);
    } else {
      world_.broken(finding(Rule::RespAckPsn, went, came, fmt::format("PSN {}", *end & kPsnMask)));
    }
  }
  if (!nak) return report.ok(Rule::RespNakCode);
  const bool invalid = aeth.syndrome == s.nak_invalid;
  const bool access = aeth.syndrome == s.nak_access;
  if (!invalid && !access && aeth.syndrome != static_cast<uint8_t>(wire::AethSyndrome::NakRemoteOperational)) {
    world_.broken(
        finding(Rule::RespNakCode, went, came, fmt::format("{:#04x}, {:#04x} or 0x63", s.nak_invalid, s.nak_access)));
    return;
  }
  report.ok(Rule::RespNakCode);
  const auto seen = [&](Fault fault) { return (faults_ >> static_cast<unsigned>(fault) & 1) != 0; };
  const bool of_nothing = invalid && empty_ && !seen(Fault::Zero) && !seen(Fault::Invalid) && !overran_ && !mixed_;
  if (of_nothing) {
    world_.broken(finding(Rule::RespZero, went, came, "an ACK once it is complete: CTRL.zero_length is 0"));
    return;
  }
  if ((invalid && (seen(Fault::Zero) || seen(Fault::Invalid) || overran_)) || (access && seen(Fault::Access)) ||
      (!invalid && !access) || mixed_) {
    report.ok(Rule::RespNakCause);
  } else {
    world_.broken(finding(Rule::RespNakCause, went, came, "none: no packet came that cannot be executed"));
  }
}

}  // namespace mrc::ref
