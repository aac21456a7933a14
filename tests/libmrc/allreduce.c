/* SPDX-License-Identifier: Apache-2.0 */
/* usage: allreduce RANK RANKS ROUNDS LEFT RIGHT
 * Sums a vector over all ranks in a ring, on device mrcRANK: RANKS - 1 steps in which each rank adds its part to what
 * came from the left and passes it on, RANKS - 1 in which the sums go round. Each step is one WRITE with immediate. In
 * the second round of four, rank 1 loses a port, in the fourth it is back. LEFT, RIGHT: open sockets to the neighbours.
 */
#include <arpa/inet.h>
#include <mrc_ctl.h>
#include <string.h>

#include "program.h"

enum { kPart = 5000, kMaxRanks = 8, kPartBytes = kPart * sizeof(int32_t), kSteps = 2 * (kMaxRanks - 1) };

struct ring {
  int rank, ranks;
  struct program left, right; /* what comes from there, what goes there; one slot of the buffer for each step */
  int32_t vector[kMaxRanks * kPart];
};

static int32_t element(int rank, int round, int i) { return (rank + 1) * 1000 + round * 7 + i % 97; }

/* Rank 0 begins with its left side, all others with their right one: so the ring comes together. */
static void with_both(struct ring* r, void (*act)(struct program*)) {
  act(r->rank == 0 ? &r->left : &r->right);
  act(r->rank == 0 ? &r->right : &r->left);
}

static int part_at(const struct ring* r, int step) { return ((r->rank - step) % r->ranks + 2 * r->ranks) % r->ranks; }

static void step(struct ring* r, int s) {
  const int reduces = s < r->ranks - 1;
  const size_t slot = (size_t)s * kPartBytes;
  int32_t* own = r->vector + part_at(r, s) * kPart;
  memcpy(r->right.buffer + slot, own, kPartBytes);
  const uint32_t imm = (uint32_t)s;
  CHECK(program_write(&r->right, slot, slot, kPartBytes, &imm, (uint64_t)s) == 0);
  const struct ibv_wc wc = program_wait(r->left.recv_cq);
  CHECK(wc.status == IBV_WC_SUCCESS && ntohl(wc.imm_data) == imm && wc.byte_len == kPartBytes);
  const int32_t* got = (const int32_t*)(const void*)(r->left.buffer + slot);
  int32_t* into = r->vector + part_at(r, s + 1) * kPart;
  for (int i = 0; i < kPart; ++i) into[i] = reduces ? into[i] + got[i] : got[i];
}

static void all_reduce(struct ring* r, int round) {
  const int steps = 2 * (r->ranks - 1);
  for (int i = 0; i < r->ranks * kPart; ++i) r->vector[i] = element(r->rank, round, i);
  for (int s = 0; s < steps; ++s) program_receive(&r->left, (uint64_t)s);
  with_both(r, program_meet); /* everybody has buffers, and is done with the slots */
  for (int s = 0; s < steps; ++s) step(r, s);
  for (int s = 0; s < steps; ++s) CHECK(program_wait(r->right.send_cq).status == IBV_WC_SUCCESS);
  for (int i = 0; i < r->ranks * kPart; ++i) {
    int32_t sum = 0;
    for (int rank = 0; rank < r->ranks; ++rank) sum += element(rank, round, i);
    CHECK(r->vector[i] == sum);
  }
}

static void port(struct ring* r, enum mrc_ctl_port_admin_state state) {
  struct mrc_ctl_port_attr attr = {.port_admin_state = state};
  CHECK(mrc_ctl_modify_port(r->right.context, 2, &attr, MRC_CTL_PORT_ADMIN_STATE) == 0);
}

static struct ring ring;

int main(int argc, char** argv) {
  CHECK(argc == 6);
  ring.rank = atoi(argv[1]);
  ring.ranks = atoi(argv[2]);
  const int rounds = atoi(argv[3]);
  CHECK(ring.ranks >= 2 && ring.ranks <= kMaxRanks);
  char device[16];
  snprintf(device, sizeof device, "mrc%d", ring.rank);
  program_open(&ring.left, device, atoi(argv[4]), kSteps * kPartBytes);
  program_open(&ring.right, device, atoi(argv[5]), kSteps * kPartBytes);
  with_both(&ring, program_connect);
  for (int round = 0; round < rounds; ++round) {
    if (ring.rank == 1 && round % 4 == 1) port(&ring, MRC_CTL_PORT_ADMIN_DISABLED);
    if (ring.rank == 1 && round % 4 == 3) port(&ring, MRC_CTL_PORT_ADMIN_ENABLED);
    all_reduce(&ring, round);
  }
  with_both(&ring, program_meet);
  program_end(&ring.left);
  program_end(&ring.right);
  printf("rank %d: %d sums of %d, all right\n", ring.rank, rounds, ring.ranks * kPart);
  return 0;
}
