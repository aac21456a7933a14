// SPDX-License-Identifier: Apache-2.0
#include "sim/systemc/frame.hpp"

#include <utility>

#include "sim/engine/cell.hpp"
#include "sim/engine/codec.hpp"
#include "sim/engine/endpoint.hpp"
#include "sim/switch/queueing.hpp"

namespace mrc::systemc {

TLM_DECLARE_EXTENDED_PHASE(LINK_CHANGE);
const tlm::tlm_phase& link_change() { return LINK_CHANGE; }

std::span<const uint8_t> FrameExtension::frame() {
  if (!sim::has_bytes(*packet_)) sim::give_frame(pool_, *packet_, {.payload = sim::fill_pattern});
  if (!sim::has_bytes(*packet_)) return {};
  payload_.set_data_ptr(packet_->attachment()->bytes.data());
  return sim::frame_of(*packet_);
}

bool FrameExtension::mark() {
  if (!sim::ecn_capable(packet_->ecn)) return false;
  sim::mark_ce(*packet_);
  return true;
}

tlm::tlm_extension_base* FrameExtension::clone() const {
  auto* copied = new FrameExtension(payload_, pool_);
  copied->copy_from(*this);
  return copied;
}

void FrameExtension::copy_from(const tlm::tlm_extension_base& other) {
  const auto& from = static_cast<const FrameExtension&>(other);
  packet_ = from.packet_ ? sim::copy(pool_, *from.packet_) : nullptr;
  start_ = from.start_;
}

tlm::tlm_generic_payload& FramePool::make(sim::PacketPtr packet, sim::Time start) {
  if (free_.empty()) {
    all_.push_back(std::make_unique<tlm::tlm_generic_payload>(this));
    all_.back()->set_extension(new FrameExtension(*all_.back(), packets_));
    free_.push_back(all_.back().get());
  }
  tlm::tlm_generic_payload& payload = *free_.back();
  free_.pop_back();
  payload.acquire();
  payload.set_write();
  payload.set_address(0);
  payload.set_data_length(packet->size);
  payload.set_streaming_width(packet->size);
  payload.set_byte_enable_ptr(nullptr);
  payload.set_dmi_allowed(false);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  payload.set_data_ptr(sim::has_bytes(*packet) ? packet->attachment()->bytes.data() : nullptr);
  auto* extension = payload.get_extension<FrameExtension>();
  extension->packet_ = std::move(packet);
  extension->start_ = start;
  return payload;
}

void FramePool::free(tlm::tlm_generic_payload* payload) {
  payload->get_extension<FrameExtension>()->packet_.reset();
  free_.push_back(payload);
}

LinkChange::LinkChange() : extension_(new LinkExtension) {
  payload_.set_command(tlm::TLM_IGNORE_COMMAND);
  payload_.set_extension(extension_);
}

tlm::tlm_generic_payload& LinkChange::payload(const LinkState& state) {
  extension_->state = state;
  payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return payload_;
}

}  // namespace mrc::systemc
