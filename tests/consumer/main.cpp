// SPDX-License-Identifier: Apache-2.0
// Writes a packet, damages a copy, decodes both with the installed library. Exit code 1 when the
// decoder misses something.
#include <iostream>
#include <wire/decode.hpp>
#include <wire/packet.hpp>
#include <wire/text.hpp>

int main() {
  using namespace mrc::wire;
  Packet sent = make_packet(Opcode::WriteOnly, Encapsulation::Ipv6);
  sent.bth->dqp = 0x123;
  sent.bth->psn = 0xFFFFFE;
  sent.payload.assign(64, 0xA5);
  complete(sent);
  std::vector<uint8_t> frame = encode(sent);

  const Packet received = decode(frame);
  std::cout << describe(received);
  frame[frame.size() - 10] ^= 1;
  const Packet damaged = decode(frame);
  const bool right = !received.error && received.bth->psn == 0xFFFFFE && received.payload == sent.payload &&
                     damaged.error && damaged.error->code == ErrorCode::BadIcrc;
  return right ? 0 : 1;
}
