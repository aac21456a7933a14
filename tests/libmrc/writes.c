/* SPDX-License-Identifier: Apache-2.0 */
/* usage: writes send|receive DEVICE SOCKET
 * The sender writes messages of 1 byte to 1 MiB, each once without and once with an immediate, at addresses of every
 * kind; the receiver looks at every byte, and at those around. SOCKET: number of an open one to the other process. */
#include <arpa/inet.h>
#include <string.h>

#include "program.h"

enum { kRoom = 1 << 20, kEdge = 4096, kBytes = kRoom + 2 * kEdge };
static const uint32_t kSizes[] = {1, 2, 3, 63, 64, 65, 1000, 4095, 4096, 4097, 65536, 100000, 1000001, kRoom};

static unsigned char pattern(uint32_t size, size_t i) { return (unsigned char)(size * 31 + i * 7 + (i >> 8)); }

static void sends(struct program* p, uint32_t size) {
  const size_t at = kEdge - size % 17; /* of any alignment */
  for (size_t i = 0; i < size; ++i) p->buffer[at + i] = pattern(size, i);
  program_meet(p); /* the other side has a buffer for the immediate */
  const uint32_t imm = 0xa0000000 + size;
  CHECK(program_write(p, at, kEdge, size, NULL, 2 * size) == 0);
  CHECK(program_write(p, at, kEdge, size, &imm, 2 * size + 1) == 0);
  for (unsigned i = 0; i < 2; ++i) {
    const struct ibv_wc wc = program_wait(p->send_cq);
    CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RDMA_WRITE && wc.wr_id == 2 * size + i);
  }
}

static void receives(struct program* p, uint32_t size) {
  memset(p->buffer, 0x55, kBytes);
  program_receive(p, size);
  program_meet(p);
  const struct ibv_wc wc = program_wait(p->recv_cq);
  CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.wr_id == size);
  CHECK((wc.wc_flags & IBV_WC_WITH_IMM) != 0 && ntohl(wc.imm_data) == 0xa0000000 + size);
  CHECK(wc.byte_len == size && wc.qp_num == p->own.qpn);
  for (size_t i = 0; i < kBytes; ++i) {
    const int inside = i >= kEdge && i < kEdge + size;
    CHECK(p->buffer[i] == (inside ? pattern(size, i - kEdge) : 0x55));
  }
}

int main(int argc, char** argv) {
  CHECK(argc == 4);
  struct program p;
  const int sender = strcmp(argv[1], "send") == 0;
  program_begin(&p, argv[2], atoi(argv[3]), kBytes);
  const unsigned count = sizeof kSizes / sizeof *kSizes;
  for (unsigned i = 0; i < count; ++i) (sender ? sends : receives)(&p, kSizes[i]);
  program_meet(&p);
  program_end(&p);
  printf("%s: %u sizes, every byte right\n", argv[1], count);
  return 0;
}
