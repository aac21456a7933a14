// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ctl/csr_table_write.hpp"

#include <catch2/catch_test_macros.hpp>
#include <functional>

namespace mrc::test::csr_table_write_test {
namespace {

constexpr QpState kStates[] = {QpState::Reset, QpState::Init, QpState::Rtr, QpState::Rts, QpState::Error};

/// tiny: 4 QPs, 2 profiles of 16 EVs on 2 planes, 4 destinations, 32 immediates, MPR 128.
const Preset& tiny() { return *find_preset("tiny"); }

csr::TblQpCtx good_row() {
  csr::TblQpCtx r;
  r.max_wimm = r.max_wimm_dest = 1;
  r.mpr = r.mpr_dest = 1;
  return r;
}

CmdOutcome judge(QpState from, unsigned to, unsigned attrs, csr::TblQpCtx row, unsigned index = 0) {
  row.state = static_cast<QpState>(to & 7u);
  std::array<uint32_t, 16> w{};
  row.pack(w.data());
  return judge_table_write(0, index, w, attrs, from, tiny());
}
CmdOutcome judge(QpState from, QpState to, unsigned attrs, const csr::TblQpCtx& row) {
  return judge(from, static_cast<unsigned>(to), attrs, row);
}
CmdOutcome word(unsigned table, unsigned index, uint32_t data0, QpState s = QpState::Reset) {
  std::array<uint32_t, 16> w{};
  w[0] = data0;
  return judge_table_write(table, index, w, 0, s, tiny());
}

constexpr CmdOutcome kOk{CmdCode::Ok, 0};

}  // namespace

TEST_CASE("QP_CTX takes exactly the transitions RESET, INIT, RTR, RTS in this order", "[protocol][qp_state]") {
  // Rows: from Reset, Init, Rtr, Rts, Error; columns: to the same.
  constexpr bool allowed[5][8] = {
      {true, true, false, false, false, false, false, false},  {true, true, true, false, false, false, false, false},
      {true, false, false, true, false, false, false, false},  {true, false, false, false, false, false, false, false},
      {true, false, false, false, false, false, false, false},
  };
  for (unsigned from = 0; from < 5; ++from) {
    for (unsigned to = 0; to < 8; ++to) {
      CAPTURE(from, to);
      const CmdOutcome want = allowed[from][to] ? kOk : CmdOutcome{CmdCode::BadTransition, static_cast<uint16_t>(from)};
      CHECK(judge(kStates[from], to, 0xfff, good_row()) == want);
    }
  }
}

TEST_CASE("QP_STATE leads to RESET from everywhere, to ERROR from all but RESET", "[protocol][qp_state]") {
  for (unsigned from = 0; from < 5; ++from) {
    for (unsigned to = 0; to < 8; ++to) {
      CAPTURE(from, to);
      const bool ok = to == 0 || (to == 4 && from != 0);
      const CmdOutcome want = ok ? kOk : CmdOutcome{CmdCode::BadTransition, static_cast<uint16_t>(from)};
      CHECK(word(3, 0, to, kStates[from]) == want);
    }
  }
}

TEST_CASE("a transition without an attribute it requires names what is missing", "[protocol][qp_state]") {
  // INIT: EvProfile 0, CcProfile 1. RTR: Path 2, RqPsn 3, MaxWimmDest 4, MprDest 5, Caps 6. RTS: SqPsn 7, MaxWimm 8,
  // Mpr 9, Timeout 10, RetryCnt 11.
  struct Step {
    QpState from, to;
    unsigned attrs;
  };
  for (const Step& s : {Step{QpState::Reset, QpState::Init, 0x003}, Step{QpState::Init, QpState::Rtr, 0x07c},
                        Step{QpState::Rtr, QpState::Rts, 0xf80}}) {
    CHECK(judge(s.from, s.to, s.attrs, good_row()) == kOk);
    CHECK(judge(s.from, s.to, 0, good_row()) == CmdOutcome{CmdCode::MissingAttr, static_cast<uint16_t>(s.attrs)});
    for (unsigned bit = 0; bit < 12; ++bit) {
      CAPTURE(bit);
      const auto missing = static_cast<uint16_t>(s.attrs & 1u << bit);
      CHECK(judge(s.from, s.to, 0xfff ^ 1u << bit, good_row()) ==
            (missing ? CmdOutcome{CmdCode::MissingAttr, missing} : kOk));
    }
  }
  CHECK(judge(QpState::Rts, QpState::Reset, 0, good_row()) == kOk);
}

TEST_CASE("values out of range are named by their attribute", "[protocol][qp_state]") {
  struct Value {
    QpState from, to;
    unsigned attr;
    std::function<void(csr::TblQpCtx&)> bad, limit;
  };
  using Row = csr::TblQpCtx;
  const Value values[] = {
      {QpState::Reset, QpState::Init, 0, [](Row& r) { r.profile = 2; }, [](Row& r) { r.profile = 1; }},
      {QpState::Init, QpState::Init, 0, [](Row& r) { r.backup = 8; }, [](Row& r) { r.backup = 7; }},
      {QpState::Reset, QpState::Init, 1, [](Row& r) { r.dest = 4; }, [](Row& r) { r.dest = 3; }},
      {QpState::Init, QpState::Rtr, 2, [](Row& r) { r.mtu = 5; }, [](Row& r) { r.mtu = 4; }},
      {QpState::Init, QpState::Rtr, 4, [](Row& r) { r.max_wimm_dest = 33; }, [](Row& r) { r.max_wimm_dest = 32; }},
      {QpState::Init, QpState::Rtr, 4, [](Row& r) { r.max_wimm_dest = 255; }, [](Row& r) { r.max_wimm_dest = 0; }},
      {QpState::Init, QpState::Rtr, 5, [](Row& r) { r.mpr_dest = 0; }, [](Row& r) { r.mpr_dest = 1; }},
      {QpState::Init, QpState::Rtr, 5, [](Row& r) { r.mpr_dest = 2; }, [](Row& r) { r.mpr_dest = 1; }},
      {QpState::Rtr, QpState::Rts, 8, [](Row& r) { r.max_wimm = 33; }, [](Row& r) { r.max_wimm = 32; }},
      {QpState::Rtr, QpState::Rts, 8, [](Row& r) { r.max_wimm = 255; }, [](Row& r) { r.max_wimm = 0; }},
      {QpState::Rtr, QpState::Rts, 9, [](Row& r) { r.mpr = 0; }, [](Row& r) { r.mpr = 1; }},
      {QpState::Rtr, QpState::Rts, 9, [](Row& r) { r.mpr = 2; }, [](Row& r) { r.mpr = 1; }},
      {QpState::Rtr, QpState::Rts, 10, [](Row& r) { r.timeout = 25; }, [](Row& r) { r.timeout = 24; }},
      {QpState::Rtr, QpState::Rts, 11, [](Row& r) { r.retry_exp = 26; }, [](Row& r) { r.retry_exp = 25; }},
  };
  for (const Value& v : values) {
    CAPTURE(static_cast<unsigned>(v.to), v.attr);
    Row row = good_row();
    v.bad(row);
    CHECK(judge(v.from, v.to, 0xfff, row) == CmdOutcome{CmdCode::BadValue, static_cast<uint16_t>(v.attr)});
    CHECK(judge(v.from, QpState::Reset, 0xfff, row) == kOk);  // only what the target requires is looked at
    row = good_row();
    v.limit(row);
    CHECK(judge(v.from, v.to, 0xfff, row) == kOk);
  }
}

TEST_CASE("transition, then attributes, then values; the first bad attribute is named", "[protocol][qp_state]") {
  csr::TblQpCtx row = good_row();
  row.mtu = 5;
  row.mpr_dest = 0;
  CHECK(judge(QpState::Init, QpState::Rtr, 0xfff, row) == CmdOutcome{CmdCode::BadValue, 2});
  CHECK(judge(QpState::Init, QpState::Rtr, 0x074, row) == CmdOutcome{CmdCode::MissingAttr, 0x008});
  CHECK(judge(QpState::Reset, QpState::Rtr, 0, row) == CmdOutcome{CmdCode::BadTransition, 0});
  CHECK(judge(QpState::Reset, 2, 0, row, 4) == CmdOutcome{CmdCode::BadIndex, 0});
}

TEST_CASE("tables of QPs take only QPs that exist; tables that do not exist are refused", "[protocol][qp_state]") {
  for (const unsigned table : {0u, 3u, 6u, 7u, 10u, 11u}) {
    CAPTURE(table);
    CHECK(word(table, 3, 0) == kOk);
    CHECK(word(table, 4, 0) == CmdOutcome{CmdCode::BadIndex, 0});
    CHECK(word(table, 0xffff, 0) == CmdOutcome{CmdCode::BadIndex, 0});
  }
  for (const unsigned table : {1u, 2u, 4u, 5u, 8u, 9u}) CHECK(word(table, 0xffff, 0xffffffff) == kOk);
  CHECK(word(10, 3, 0xffffffff, QpState::Error) == kOk);  // a class is taken in every state
  for (unsigned table = 12; table < 16; ++table) CHECK(word(table, 0, 0) == CmdOutcome{CmdCode::BadIndex, 0});
}

TEST_CASE("the NIC itself fails QPs that are set up, once", "[protocol][qp_state]") {
  CHECK_FALSE(qp_may_fail(QpState::Reset));
  CHECK(qp_may_fail(QpState::Init));
  CHECK(qp_may_fail(QpState::Rtr));
  CHECK(qp_may_fail(QpState::Rts));
  CHECK_FALSE(qp_may_fail(QpState::Error));
}

}  // namespace mrc::test::csr_table_write_test
