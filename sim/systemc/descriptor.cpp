// SPDX-License-Identifier: Apache-2.0
#include "sim/systemc/descriptor.hpp"

namespace mrc::systemc {
namespace {

void put(Record& record, unsigned at, unsigned bytes, uint64_t value) {
  for (unsigned i = 0; i < bytes; ++i) record[at + i] = static_cast<uint8_t>(value >> 8 * i);
}
uint64_t get(std::span<const uint8_t, kRecordBytes> record, unsigned at, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value |= uint64_t{record[at + i]} << 8 * i;
  return value;
}
uint32_t get32(std::span<const uint8_t, kRecordBytes> record, unsigned at) {
  return static_cast<uint32_t>(get(record, at, 4));
}

}  // namespace

Record pack(const sim::WorkRequest& request) {
  Record record{};
  put(record, 0, 8, request.id);
  put(record, 8, 8, request.bytes);
  put(record, 16, 4, request.qpn);
  put(record, 20, 4, request.imm);
  put(record, 24, 4, request.immediate ? 1 : 0);
  return record;
}

sim::WorkRequest unpack_request(std::span<const uint8_t, kRecordBytes> record) {
  return {.id = get(record, 0, 8),
          .qpn = get32(record, 16),
          .bytes = get(record, 8, 8),
          .immediate = (record[24] & 1) != 0,
          .imm = get32(record, 20)};
}

Record pack(const HostEvent& event) {
  Record record{};
  put(record, 0, 8, event.id);
  put(record, 8, 8, event.bytes);
  put(record, 16, 4, event.node);
  put(record, 20, 4, event.qpn);
  put(record, 24, 4, static_cast<uint32_t>(event.kind));
  return record;
}

HostEvent unpack_event(std::span<const uint8_t, kRecordBytes> record) {
  return {.kind = static_cast<EventKind>(get32(record, 24)),
          .id = get(record, 0, 8),
          .bytes = get(record, 8, 8),
          .node = get32(record, 16),
          .qpn = get32(record, 20)};
}

}  // namespace mrc::systemc
