// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/tx_header.hpp"

#include <optional>
#include <span>

#include "gen/csr.hpp"
#include "pipeline/lib/convert.hpp"

namespace mrc {

TxHeader::TxHeader(const Preset& preset, Stream<Path>& path, Stream<Ctlpkt>& ctlpkt, Stream<Ctlpkt>& probe,
                   Stream<Ctlpkt>& eprq)
    : qp_mask_(preset.num_qps - 1),
      path_(path),
      ctlpkt_(ctlpkt),
      probe_(probe),
      eprq_(eprq),
      qps_(preset.num_qps),
      ticks_(preset) {}

void TxHeader::step(const CfgBus& cfg, const CsrOut& csr, bool hdr_ready) {
  ack_.begin(cfg);
  hdr_ready_ = hdr_ready;
  const bool pending = ack_.pending(cfg);
  if (!a_valid_ && pending) {
    configure(cfg);
    ack_.done();
  } else {
    if (a_valid_ && hdr_.free(hdr_ready)) {
      Hdr& h = hdr_.load();
      h = a_;
      h.crc = header_crc({header_bytes(a_), a_.hdr_len}, a_encap_, csr.icrc_outer);
      a_valid_ = false;
    }
    if (!a_valid_ && !pending) load_a(csr);
  }
  if (ticks_.cycle()) ++tick_;
}

void TxHeader::configure(const CfgBus& cfg) {
  HdrQp& qp = qps_[cfg.index & qp_mask_];
  if (cfg.is(CfgTable::QpCtx)) {
    const auto row = csr::TblQpCtx::unpack(cfg.data.data());
    qp = {.dqpn = row.dqpn,
          .pkey = row.pkey,
          .encap = static_cast<Encap>(row.encap),
          .ts = row.ts,
          .dmac = row.dmac,
          .dip = row.dip,
          .srv6 = row.srv6,
          .cls = qp.cls};
    if (row.state == QpState::Reset || row.state == QpState::Init) qp.cls.own = false;
  } else if (cfg.is(CfgTable::QpClass)) {
    const auto row = csr::TblQpClass::unpack(cfg.data.data());
    qp.cls = {.own = row.own, .data = row.data, .rtx = row.rtx};
  }
}

void TxHeader::load_a(const CsrOut& csr) {
  Stream<Ctlpkt>* const ctl = ctlpkt_.has() ? &ctlpkt_ : probe_.has() ? &probe_ : eprq_.has() ? &eprq_ : nullptr;
  if (!ctl && !path_.has()) return;
  const HdrNic nic{.mac = csr.mac,
                   .ip = csr.ip,
                   .ip_plane = {.enable = csr.ip_plane_enable, .lsb = csr.ip_plane_lsb},
                   .udp_port = csr.udp_port,
                   .dscp_data = csr.dscp_data,
                   .dscp_rtx = csr.dscp_rtx,
                   .dscp_ctl = csr.dscp_ctl,
                   .ev_swap = csr.ev_swap,
                   .bth_m = csr.bth_m,
                   .bth_m_high = csr.bth_m_high,
                   .tsr_us = csr.tsr_us,
                   .srv6 = {.plane_lsb = csr.srv6_plane_lsb,
                            .uplink_usid = csr.srv6_uplink_usid,
                            .uplink_lsb = csr.srv6_uplink_lsb,
                            .uplink_bits = csr.srv6_uplink_bits}};
  const std::span<uint8_t, kMaxHeader> out(header_bytes(a_), kMaxHeader);
  if (ctl) {
    const Ctlpkt& c = ctl->head();
    const HdrQp& qp = qps_[c.qp & qp_mask_];
    a_.plane = c.plane;
    a_.ctl = true;
    const auto request = ctl == &eprq_ ? std::optional(c.tc) : std::nullopt;
    a_.hdr_len = static_cast<uint8_t>(build_ctl_header(packet_of(c), {c.plane, c.ev}, qp, nic, out, request));
    a_.laddr = 0;
    a_.plen = 0;
    a_.qp = 0;
    ctl->pop();
    a_encap_ = qp.encap;
  } else {
    const Path& path = path_.head();
    const HdrQp& qp = qps_[path.pkt.qp & qp_mask_];
    a_.plane = path.plane;
    a_.ctl = false;
    a_.hdr_len =
        static_cast<uint8_t>(build_data_header(packet_of(path.pkt), {path.plane, path.ev}, qp, nic, tick_, out));
    a_.laddr = path.pkt.laddr;
    a_.plen = path.pkt.plen;
    a_.qp = path.pkt.qp;
    path_.pop();
    a_encap_ = qp.encap;
  }
  a_valid_ = true;
}

}  // namespace mrc
