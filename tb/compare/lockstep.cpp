// SPDX-License-Identifier: Apache-2.0
#include "tb/compare/lockstep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "wire/decode.hpp"
#include "wire/json.hpp"

namespace mrc::tb {
namespace {

std::string flag(uint32_t value) { return value ? "1" : "0"; }

/// Bytes that differ: the first place, and what stands there on both sides.
void byte_differences(std::vector<Difference>& list, const std::string& name, const uint8_t* dut, const uint8_t* model,
                      unsigned size) {
  unsigned first = size, count = 0;
  for (unsigned i = 0; i < size; ++i) {
    if (dut[i] == model[i]) continue;
    first = std::min(first, i);
    ++count;
  }
  if (count == 0) return;
  const auto hex = [&](const uint8_t* bytes) {
    std::string text;
    for (unsigned i = first; i < std::min(first + 16, size); ++i) text += fmt::format("{:02x}", bytes[i]);
    return text;
  };
  list.push_back({fmt::format("{} bytes from {} on ({} differ)", name, first, count), hex(dut), hex(model)});
}

}  // namespace

Lockstep::Lockstep(const Preset& preset, std::size_t event_words)
    : planes_(preset.num_planes),
      port_bytes_(preset.port_bytes),
      host_bytes_(preset.host_bytes),
      beyond_(~((1u << preset.num_planes) - 1)),
      rules_(preset),
      log_(event_words) {
  for (const BoundaryInfo& b : kCoreBoundaries) places_.push_back({b.word_offset + 1, b.data_words});
  for (unsigned p = 0; p < planes_; ++p) {
    for (const BoundaryInfo& b : kLaneBoundaries)
      places_.push_back({p * kObsLaneWords + b.word_offset + 1, b.data_words});
  }
}

void Lockstep::spread(const Flags& flags, const uint32_t* data, uint32_t* core, uint32_t* lanes) const {
  for (unsigned number = 0; number < places_.size(); ++number) {
    const bool in_core = number < kNumCoreBoundaries;
    const unsigned bit = in_core ? number : number - kNumCoreBoundaries;
    const uint64_t word = flags.words[in_core ? bit / 32 : Flags::kCoreWords];
    uint32_t* to = (in_core ? core : lanes) + places_[number].offset;
    to[-1] = static_cast<uint32_t>(word >> (2 * (bit % 32))) & 3;
    if (!(to[-1] & 1)) continue;
    std::memcpy(to, data, places_[number].words * sizeof *to);
    data += places_[number].words;
  }
}

void Lockstep::explain(uint64_t cycle, const mrc_pins_out& dut, const mrc_pins_out& model, const uint32_t* dc,
                       const uint32_t* dl, const uint32_t* mc, const uint32_t* ml) {
  divergences_.clear();
  for (unsigned number = 0; number < num_boundaries(planes_); ++number) {
    const BoundaryRef ref = boundary(number);
    const std::size_t lane = ref.plane < 0 ? 0 : static_cast<std::size_t>(ref.plane) * kObsLaneWords;
    const uint32_t* d = (ref.plane < 0 ? dc : dl + lane) + ref.info->word_offset;
    const uint32_t* m = (ref.plane < 0 ? mc : ml + lane) + ref.info->word_offset;
    const bool valid = (*d ^ *m) & 1, ready = (*d ^ *m) & 2;
    const bool data = (*m & *d & 1) && std::memcmp(d + 1, m + 1, ref.info->data_words * 4) != 0;
    if (!valid && !ready && !data) continue;
    Divergence x;
    x.cycle = cycle;
    x.where = ref.name();
    x.rank = 2 * flow_rank(*ref.info);
    x.block = ref.producer();
    if (x.block == "host" || !(valid || data)) {  // the host side is the same for both: the taker's ready differs
      x.block = consumer_of(*ref.info);
      ++x.rank;
    }
    if (valid) x.differences.push_back({"valid", flag(*d & 1), flag(*m & 1)});
    if (ready) x.differences.push_back({"ready", flag(*d >> 1 & 1), flag(*m >> 1 & 1)});
    if (data) {
      for (const FieldInfo& f : ref.info->fields) {
        bool same = true;
        for (unsigned w = 0; w * 32 < f.width; ++w) same = same && f.word(d + 1, w) == f.word(m + 1, w);
        if (same) continue;
        if (f.width <= 128) {
          x.differences.push_back({f.name, field_text(f, d + 1), field_text(f, m + 1)});
          continue;
        }
        uint8_t db[160]{}, mb[160]{};
        const unsigned size = f.width / 8;
        for (unsigned i = 0; i < size && i < sizeof db; ++i) {
          db[i] = static_cast<uint8_t>(f.word(d + 1, i / 4) >> (8 * (i % 4)));
          mb[i] = static_cast<uint8_t>(f.word(m + 1, i / 4) >> (8 * (i % 4)));
        }
        byte_differences(x.differences, f.name, db, mb, size);
        if (std::string_view(ref.info->struct_name) == "hdr_t") {  // in words of the protocol, too
          const auto decoded = [](const uint32_t* words, const uint8_t* bytes) {
            const Hdr h = Hdr::unpack(words);  // with as many zeros behind it as the packet will have
            std::vector<uint8_t> frame(bytes, bytes + std::min<unsigned>(h.hdr_len, kHdrBytes));
            frame.resize(frame.size() + (h.plen + 3u) / 4 * 4 + 4);
            return nlohmann::json::parse(wire::to_json(wire::decode(frame), frame)).flatten();
          };
          const auto dj = decoded(d + 1, db), mj = decoded(m + 1, mb);
          for (const auto& [key, value] : mj.items()) {
            if (key.starts_with("/error") || key.starts_with("/payload") || key.starts_with("/icrc") ||
                key.starts_with("/raw"))
              continue;
            if (dj.contains(key) && dj[key] != value)
              x.differences.push_back({key.substr(1), dj[key].dump(), value.dump()});
          }
        }
      }
    }
    if (x.differences.empty()) x.note = "words of the device have bits beyond their fields";
    const uint32_t* shown = *m & 1 ? m : d;
    if (*shown & 1) {
      x.qp = event_qp(ref, shown + 1, own_);
      x.context = describe(ref.info->fields, shown + 1);
    }
    divergences_.push_back(std::move(x));
  }

  const auto pin = [&](const char* where, const char* block, unsigned rank, auto&& fill) {
    Divergence x;
    x.cycle = cycle;
    x.where = std::string("pins ") + where;
    x.block = block;
    x.rank = rank;
    fill(x.differences);
    if (!x.differences.empty()) divergences_.push_back(std::move(x));
  };
  const auto differ = [](std::vector<Difference>& list, const char* name, uint64_t d, uint64_t m) {
    if (d != m) list.push_back({name, fmt::format("{:#x}", d), fmt::format("{:#x}", m)});
  };
  constexpr unsigned kLate = 1000;  // pins show what a boundary or a block behind it has done
  for (const PinRules::Stray& s : rules_.list(dut)) {
    Divergence x;
    x.cycle = cycle;
    x.where = std::string("pins ") + s.where;
    x.block = s.block;
    x.rank = kLate - 1;
    x.note = s.text;
    x.differences.push_back({s.pin, fmt::format("{:#x}", s.value), fmt::format("{:#x} at most", s.largest)});
    divergences_.push_back(std::move(x));
  }
  pin("s_axil", "csr", kLate, [&](auto& l) {
    differ(l, "awready", dut.awready, model.awready);
    differ(l, "wready", dut.wready, model.wready);
    differ(l, "bvalid", dut.bvalid, model.bvalid);
    differ(l, "arready", dut.arready, model.arready);
    differ(l, "rvalid", dut.rvalid, model.rvalid);
    if (dut.bvalid && model.bvalid) differ(l, "bresp", dut.bresp, model.bresp);
    if (dut.rvalid && model.rvalid) {
      differ(l, "rresp", dut.rresp, model.rresp);
      differ(l, "rdata", dut.rdata, model.rdata);
    }
  });
  pin("wqe", "tx_segment", kLate, [&](auto& l) { differ(l, "wqe_ready", dut.wqe_ready, model.wqe_ready); });
  pin("cqe", "cq_mux", kLate, [&](auto& l) {
    differ(l, "cqe_valid", dut.cqe_valid, model.cqe_valid);
    if (dut.cqe_valid && model.cqe_valid && std::memcmp(dut.cqe, model.cqe, sizeof dut.cqe) != 0) {
      for (const FieldInfo& f : Cqe::kFields) {
        if (f.low64(dut.cqe) != f.low64(model.cqe))
          l.push_back({f.name, field_text(f, dut.cqe), field_text(f, model.cqe)});
      }
    }
  });
  pin("host_rd", "tx_fetch", kLate, [&](auto& l) {
    differ(l, "host_rd_valid", dut.host_rd_valid, model.host_rd_valid);
    if (dut.host_rd_valid && model.host_rd_valid) {
      for (const FieldInfo& f : Rdreq::kFields) {
        if (f.low64(dut.host_rd) != f.low64(model.host_rd))
          l.push_back({f.name, field_text(f, dut.host_rd), field_text(f, model.host_rd)});
      }
    }
  });
  pin("host_wr", "rx_place", kLate, [&](auto& l) {
    differ(l, "host_wr_valid", dut.host_wr_valid, model.host_wr_valid);
    if (dut.host_wr_valid && model.host_wr_valid) {
      differ(l, "host_wr_len", dut.host_wr_len, model.host_wr_len);
      differ(l, "host_wr_addr", dut.host_wr_addr, model.host_wr_addr);
      byte_differences(l, "host_wr_data", dut.host_wr_data, model.host_wr_data, host_bytes_);
    }
  });
  for (unsigned p = 0; p < planes_; ++p) {
    const bool dv = dut.tx_tvalid >> p & 1, mv = model.tx_tvalid >> p & 1;
    pin(fmt::format("tx[{}]", p).c_str(), "tx_lane", kLate, [&](auto& l) {
      differ(l, "tx_tvalid", dv, mv);
      if (dv && mv) {
        differ(l, "tx_tlast", dut.tx_tlast >> p & 1, model.tx_tlast >> p & 1);
        differ(l, "tx_tkeep", dut.tx_tkeep[p], model.tx_tkeep[p]);
        byte_differences(l, "tx_tdata", dut.tx_tdata[p], model.tx_tdata[p], port_bytes_);
      }
    });
  }
  std::stable_sort(divergences_.begin(), divergences_.end(),
                   [](const Divergence& a, const Divergence& b) { return a.rank < b.rank; });
}

}  // namespace mrc::tb
