// SPDX-License-Identifier: Apache-2.0
#include "tests/fpga/rings_bench.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "tests/fpga/unit.hpp"

namespace mrc::rings {

namespace {

constexpr unsigned kWord = 64, kEntry = 32;

uint64_t sq_base(unsigned q) { return 0x1234'5600'0000 + 0x100'0000 * uint64_t{q} - 0x1c0; }
uint64_t cq_base(unsigned c) { return 0x00fe'dc00'0000 + 0x100'0000 * uint64_t{c} - 0x80; }

template <class T>
void put(uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof value);
}
template <class T>
T get(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

Bench::Bench(uint64_t seed, Core& its_core) : Unit("rings"), rng(seed, "rings"), core(its_core) {
  reset([this] { cycle(); });
}

void Bench::cycle() {
  drive();
  settle();
  if (top->rst_ni) sample();
  top->clk_i = 1;
  settle();
  top->clk_i = 0;
  top->w_go_i = 0;
  top->r_go_i = 0;
  settle();
  ++now;
}

bool Bench::write(uint16_t offset, uint32_t data, unsigned strb) {
  w_answer_.reset();
  top->w_go_i = 1;
  top->w_word_i = static_cast<uint16_t>(offset / 4);
  top->w_data_i = data;
  top->w_strb_i = static_cast<uint8_t>(strb);
  for (unsigned i = 0; i < 100; ++i) {
    cycle();
    if (w_answer_) return w_answer_->first;
  }
  FAIL("a write of a register hangs");
  return false;
}

std::optional<uint32_t> Bench::read(uint16_t offset) {
  while (r_waits_) cycle();
  r_answer_.reset();
  r_waits_ = true;
  top->r_go_i = 1;
  top->r_word_i = static_cast<uint16_t>(offset / 4);
  for (unsigned i = 0; i < 100; ++i) {
    cycle();
    if (r_answer_) return r_answer_->first ? std::optional(r_answer_->second) : std::nullopt;
  }
  FAIL("a read of a register hangs");
  return {};
}

void Bench::make_cq(unsigned c, unsigned log) {
  Cq& cq = cqs[c];
  REQUIRE(cq.expected.empty());
  cq = Cq{};
  cq.base = cq_base(c);
  cq.log = log;
  for (uint64_t i = 0; i < uint64_t{1} << log; ++i) memory.erase(cq.base + kEntry * i);
  REQUIRE(write(cq_at(c) + BaseLo, static_cast<uint32_t>(cq.base)));
  REQUIRE(write(cq_at(c) + BaseHi, static_cast<uint32_t>(cq.base >> 32)));
  REQUIRE(write(cq_at(c) + Config, log));
  REQUIRE(write(cq_at(c) + Control, 1));
}

void Bench::make_sq(unsigned q, unsigned log, unsigned cq) {
  Sq& sq = sqs[q];
  sq = Sq{};
  sq.base = sq_base(q);
  sq.log = log;
  sq.cq = cq;
  sq.first_id = next_id_;
  REQUIRE(write(sq_at(q) + BaseLo, static_cast<uint32_t>(sq.base)));
  REQUIRE(write(sq_at(q) + BaseHi, static_cast<uint32_t>(sq.base >> 32)));
  REQUIRE(write(sq_at(q) + Config, log | cq << 8));
  REQUIRE(write(sq_at(q) + Control, 1));
}

void Bench::post(unsigned q, uint32_t length) {
  Sq& sq = sqs[q];
  Wqe wqe;
  wqe.qp = static_cast<QpIndex>(q);
  wqe.imm_valid = rng.chance(0.5);
  wqe.wr_id = next_id_++;
  wqe.laddr = rng.next();
  wqe.raddr = rng.next();
  wqe.rkey = static_cast<uint32_t>(rng.next());
  wqe.length = length;
  wqe.imm = static_cast<uint32_t>(rng.next());
  std::array<uint8_t, kWord> bytes{};
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng.next());
  put(&bytes[0], wqe.wr_id);
  bytes[4] = static_cast<uint8_t>((bytes[4] & 0xfe) | (wqe.imm_valid ? 1 : 0));
  put(&bytes[8], wqe.laddr);
  put(&bytes[16], wqe.raddr);
  put(&bytes[24], wqe.rkey);
  put(&bytes[28], wqe.length);
  put(&bytes[32], wqe.imm);
  const uint64_t address = sq.base + kWord * (sq.producer & ((1u << sq.log) - 1));
  std::copy_n(bytes.begin(), kEntry, memory[address].begin());
  std::copy_n(bytes.begin() + kEntry, kEntry, memory[address + kEntry].begin());
  ++sq.producer;
  sq.posted.push_back(wqe);
}

std::optional<Entry> Bench::poll(unsigned c) {
  Cq& cq = cqs[c];
  const auto found = memory.find(cq.base + kEntry * (cq.consumer & ((1u << cq.log) - 1)));
  if (found == memory.end()) return {};
  const uint8_t* bytes = found->second.data();
  if (bytes[28] == (cq.consumer >> cq.log & 1)) return {};
  Entry entry;
  entry.cqe.wr_id = get<uint32_t>(bytes);
  entry.cqe.imm = get<uint32_t>(bytes + 4);
  entry.cqe.length = get<uint32_t>(bytes + 8);
  entry.cqe.msn = get<uint16_t>(bytes + 12);
  entry.cqe.qp = get<uint16_t>(bytes + 14);
  entry.cqe.status = static_cast<CqStatus>(bytes[16]);
  entry.cqe.recv = bytes[17] == 1;
  entry.consumer = get<uint16_t>(bytes + 18);
  REQUIRE((bytes[17] <= 1 && bytes[28] <= 1 && get<uint64_t>(bytes + 20) == 0));
  REQUIRE((bytes[29] == 0 && bytes[30] == 0 && bytes[31] == 0));
  REQUIRE(!cq.expected.empty());
  REQUIRE(entry.cqe == cq.expected.front());
  cq.expected.pop_front();
  ++cq.consumer;
  ++cq.taken;
  Sq& sq = sqs[entry.cqe.qp];
  // Never more than was posted, never back; but for entries that were made before the ring was opened.
  sq.heard = sq.heard || (!entry.cqe.recv && entry.cqe.wr_id >= sq.first_id);
  if (!sq.heard) return entry;
  REQUIRE(static_cast<uint16_t>(entry.consumer - sq.consumer) <= static_cast<uint16_t>(sq.producer - sq.consumer));
  sq.consumer = entry.consumer;
  return entry;
}

void Bench::drain(unsigned c) {
  while (poll(c)) {
  }
  Cq& cq = cqs[c];
  if (cq.reported == cq.consumer) return;
  REQUIRE(write(cq_at(c) + Bell, cq.consumer));
}

void Bench::drive() {
  auto& t = *top;
  if (reader && !r_waits_ && !t.r_go_i && rng.chance(0.5)) {
    t.r_go_i = 1;
    t.r_word_i = static_cast<uint16_t>(rng.below(1 << 11));
    r_waits_ = true;
    ++background;
  }
  const Cqe* cqe = core.cqe();
  t.cqe_valid_i = cqe != nullptr;
  if (cqe != nullptr) cqe->pack(&t.cqe_i[0]);
  t.wqe_ready_i = core.wqe_ready();

  t.m_axi_arready_i = !reads_stand && rng.chance(takes);
  if (!r_offered_ && !reads_.empty() && !reads_stand && reads_.front().at <= now && rng.chance(gives)) {
    r_offered_ = true;
    r_resp_ = static_cast<unsigned>((bad_reads.contains(reads_.front().address) ? 2 : 0) + rng.below(2));
  }
  t.m_axi_rvalid_i = r_offered_ || stray_r;
  t.m_axi_rresp_i = static_cast<uint8_t>(r_offered_ ? r_resp_ : rng.below(4));
  t.m_axi_rlast_i = 1;
  for (unsigned i = 0; i < 16; ++i) t.m_axi_rdata_i[i] = static_cast<uint32_t>(rng.next());
  if (r_offered_ && r_resp_ < 2) {
    auto* bytes = reinterpret_cast<uint8_t*>(&t.m_axi_rdata_i[0]);
    for (unsigned half = 0; half < 2; ++half) {
      std::copy_n(memory[reads_.front().address + kEntry * half].begin(), kEntry, bytes + kEntry * half);
    }
  }
  t.m_axi_awready_i = !writes_stand && rng.chance(takes);
  t.m_axi_wready_i = !writes_stand && rng.chance(takes);
  if (!b_offered_ && !writes_.empty() && !writes_stand && writes_.front().at <= now) b_offered_ = rng.chance(gives);
  t.m_axi_bvalid_i = b_offered_ || stray_b;
  t.m_axi_bresp_i =
      static_cast<uint8_t>((b_offered_ ? (writes_.front().bad ? 2 : 0) : 2 * rng.below(2)) + rng.below(2));
}

void Bench::sample() {
  auto& t = *top;
  for (unsigned c = 0; c < kCqs; ++c) {
    if ((t.irq_o >> c & 1) == 0 || (irq_ >> c & 1) != 0) continue;
    ++irqs[c];
    // Memory has acknowledged more than the ring knows to be taken.
    const auto more = static_cast<uint16_t>(cqs[c].acknowledged - cqs[c].reported);
    REQUIRE((more != 0 && more <= 1u << cqs[c].log));
  }
  irq_ = t.irq_o;
  if (t.w_done_o) {
    REQUIRE(!w_answer_);
    w_answer_ = {!t.w_err_o, 0};
    // A doorbell of a completion ring counts from here on.
    for (unsigned c = 0; c < kCqs; ++c) {
      if (t.w_word_i == (cq_at(c) + Bell) / 4 && !t.w_err_o) cqs[c].reported = static_cast<uint16_t>(t.w_data_i);
    }
  }
  if (t.r_done_o) {
    REQUIRE(r_waits_);
    r_waits_ = false;
    r_answer_ = {!t.r_err_o, t.r_data_o};
    if (t.r_err_o) REQUIRE(t.r_data_o == 0);
  }

  sample_memory();

  std::optional<Wqe> offered;
  if (t.wqe_valid_o) offered = Wqe::unpack(&t.wqe_o[0]);
  if (held_wqe_) REQUIRE(offered == held_wqe_);
  held_wqe_.reset();
  const bool wqe_taken = offered && t.wqe_ready_i;
  if (offered && !wqe_taken) held_wqe_ = offered;
  if (wqe_taken) to_core(*offered);
  if (t.cqe_valid_i && t.cqe_ready_o) {
    const Cqe cqe = *core.cqe();
    const bool marker = !cqe.recv && (cqe.qp >> 15) != 0;
    Cq& cq = cqs[sqs[cqe.qp % kQps].cq];
    if (!marker && !cq.closed) cq.expected.push_back(cqe);
  }
  core.step(offered ? &*offered : nullptr, t.cqe_ready_o);
}

void Bench::to_core(const Wqe& wqe) {
  if ((wqe.qp >> 15) != 0) {
    REQUIRE(wqe.length == 0);
    ++markers;
    return;
  }
  REQUIRE(wqe.qp < kQps);
  Sq& sq = sqs[wqe.qp];
  REQUIRE(!sq.posted.empty());
  REQUIRE(wqe == sq.posted.front());
  sq.posted.pop_front();
  ++sq.sent;
}

void Bench::sample_memory() {
  auto& t = *top;
  if (t.m_axi_rvalid_i && r_offered_) {
    reads_.pop_front();
    r_offered_ = false;
  }
  if (t.m_axi_bvalid_i && b_offered_) {
    ++cqs[writes_.front().cq].acknowledged;
    writes_.pop_front();
    b_offered_ = false;
  }
  if (held_ar_) REQUIRE((t.m_axi_arvalid_o && t.m_axi_araddr_o == *held_ar_));
  held_ar_.reset();
  if (t.m_axi_arvalid_o && !t.m_axi_arready_i) held_ar_ = t.m_axi_araddr_o;
  if (t.m_axi_arvalid_o && t.m_axi_arready_i) {
    REQUIRE((t.m_axi_araddr_o % kWord == 0 && t.m_axi_arlen_o == 0 && t.m_axi_arsize_o == 6));
    REQUIRE((t.m_axi_arburst_o == 1 && t.m_axi_arid_o == 0));
    reads_.push_back({t.m_axi_araddr_o, now + 1 + latency});
    most_reads = std::max<uint64_t>(most_reads, reads_.size());
  }
  if (held_aw_) REQUIRE((t.m_axi_awvalid_o && t.m_axi_awaddr_o == *held_aw_));
  held_aw_.reset();
  if (t.m_axi_awvalid_o && !t.m_axi_awready_i) held_aw_ = t.m_axi_awaddr_o;
  if (t.m_axi_awvalid_o && t.m_axi_awready_i) {
    REQUIRE((t.m_axi_awaddr_o % kWord == 0 && t.m_axi_awlen_o == 0 && t.m_axi_awsize_o == 6));
    REQUIRE((t.m_axi_awburst_o == 1 && t.m_axi_awid_o == 0));
    aws_.push_back(t.m_axi_awaddr_o);
  }
  Beat beat{};
  std::memcpy(beat.data.data(), &t.m_axi_wdata_o[0], kWord);
  beat.strb = t.m_axi_wstrb_o;
  if (held_w_) REQUIRE((t.m_axi_wvalid_o && std::pair(beat.data, beat.strb) == *held_w_));
  held_w_.reset();
  if (t.m_axi_wvalid_o && !t.m_axi_wready_i) held_w_ = {beat.data, beat.strb};
  if (t.m_axi_wvalid_o && t.m_axi_wready_i) {
    REQUIRE(t.m_axi_wlast_o);
    ws_.push_back(beat);
  }
  if (!aws_.empty() && !ws_.empty()) {
    written(aws_.front(), ws_.front());
    aws_.pop_front();
    ws_.pop_front();
    most_writes = std::max<uint64_t>(most_writes, writes_.size());
  }
}

/// An entry comes into memory: the next of its ring, into a slot that the host has given back. It can be seen at once,
/// and is acknowledged later.
void Bench::written(uint64_t address, const Beat& beat) {
  REQUIRE((beat.strb == 0xffffffff || beat.strb == ~uint64_t{0xffffffff}));
  const unsigned half = (beat.strb & 1) != 0 ? 0 : 1;
  address += kEntry * half;
  unsigned c = 0;
  while (c < kCqs && (address < cqs[c].base || address >= cqs[c].base + (uint64_t{kEntry} << cqs[c].log))) ++c;
  REQUIRE(c < kCqs);
  Cq& cq = cqs[c];
  REQUIRE(address == cq.base + kEntry * (cq.written & ((uint64_t{1} << cq.log) - 1)));
  REQUIRE(static_cast<uint16_t>(cq.written - cq.reported) < 1u << cq.log);
  ++cq.written;
  const bool bad = bad_writes.contains(address);
  if (!bad) std::copy_n(beat.data.begin() + kEntry * half, kEntry, memory[address].begin());
  writes_.push_back({address, now + 1 + latency, c, bad});
}

}  // namespace mrc::rings
