// SPDX-License-Identifier: Apache-2.0
/// What goes through the sockets of links, switches and NICs: TLM-2.0's generic payload and base protocol, with an
/// extension that a payload cannot do without, and one phase more.
///
/// A frame is a TLM_WRITE_COMMAND at address 0, as long as the frame without FCS; its data are the frame's bytes, or
/// null until somebody calls FrameExtension::frame(): packets of fast NICs have none. BEGIN_REQ is the first bit of the
/// preamble at the annotated time. TLM_COMPLETED with a later time, or END_REQ: at that time, the gap behind the frame
/// included, the sender may begin the next one. A target that answers TLM_ACCEPTED owes an END_REQ and a BEGIN_RESP, as
/// the base protocol says; ours never do.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <tlm>
#include <vector>

#include "sim/engine/packet.hpp"

namespace mrc::systemc {

class FramePool;

/// A packet and its times. Belongs to its payload.
class FrameExtension final : public tlm::tlm_extension<FrameExtension> {
 public:
  FrameExtension(tlm::tlm_generic_payload& payload, sim::PacketPool& pool) : payload_(payload), pool_(pool) {}

  const sim::Packet& packet() const { return *packet_; }
  /// When the transmission began at the port that sends, picoseconds of SystemC.
  sim::Time start() const { return start_; }
  /// Of the outermost IP header, as this hop sees it.
  uint8_t code_point() const { return packet_->dscp; }
  bool marked() const { return packet_->ecn == 3; }
  /// Sets ECN to CE, in the bytes too. False: the packet is not ECN-capable, or has been marked.
  bool mark();
  /// Shorter than it was sent.
  bool trimmed() const { return packet_->trimmed; }
  uint32_t entropy() const { return packet_->entropy; }
  /// The bytes, destination MAC to ICRC; written now if nobody has, and the payload's data from then on. Empty: the
  /// packet has fields that no MRC packet has.
  std::span<const uint8_t> frame();

  tlm::tlm_extension_base* clone() const override;
  void copy_from(const tlm::tlm_extension_base& other) override;

 private:
  friend class FramePool;
  tlm::tlm_generic_payload& payload_;
  sim::PacketPool& pool_;
  sim::PacketPtr packet_;
  sim::Time start_ = 0;
};

/// Payloads of one sender, used again and again. They and it must outlive the last reference.
class FramePool final : public tlm::tlm_mm_interface {
 public:
  explicit FramePool(sim::PacketPool& packets) : packets_(packets) {}
  /// A payload around a packet, with one reference.
  tlm::tlm_generic_payload& make(sim::PacketPtr packet, sim::Time start);
  void free(tlm::tlm_generic_payload* payload) override;
  /// Payloads that are out.
  size_t live() const { return all_.size() - free_.size(); }

 private:
  sim::PacketPool& packets_;
  std::vector<std::unique_ptr<tlm::tlm_generic_payload>> all_;
  std::vector<tlm::tlm_generic_payload*> free_;
};

/// How a link stands, as its end that is told may know.
struct LinkState {
  double gbps = 800;
  bool carrier = true;  ///< light: false loses what is coming in
  bool up = true;       ///< what the end has found out, LinkConfig::detect later
};
struct LinkExtension final : tlm::tlm_extension<LinkExtension> {
  LinkState state;
  tlm::tlm_extension_base* clone() const override { return new LinkExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const LinkExtension&>(other); }
};

/// Ignorable phase on the forward path. From a link: its state is that of the payload's LinkExtension. To a link: the
/// carrier of this end is.
const tlm::tlm_phase& link_change();

/// Payload of that phase, used by its one sender.
class LinkChange {
 public:
  LinkChange();
  tlm::tlm_generic_payload& payload(const LinkState& state);

 private:
  tlm::tlm_generic_payload payload_;
  LinkExtension* extension_;  // the payload's
};

}  // namespace mrc::systemc
