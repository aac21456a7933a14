/* SPDX-License-Identifier: Apache-2.0 */
/* usage: many send|receive DEVICE SOCKET COUNT
 * COUNT posts without polling: as many as the queue holds are taken, each other one is ENOMEM. Then COUNT writes of 64
 * bytes, each of which completes in its turn. Each has bytes of its own until then: a NIC reads them when it likes. */
#include <string.h>
#include <time.h>

#include "program.h"

enum { kBytes = 64 };

int main(int argc, char** argv) {
  CHECK(argc == 5);
  struct program p;
  const int sender = strcmp(argv[1], "send") == 0;
  const unsigned count = (unsigned)atoi(argv[4]);
  program_begin(&p, argv[2], atoi(argv[3]), kBytes * kDepth);
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  if (sender) {
    unsigned taken = 0, refused = 0;
    for (unsigned i = 0; i < count; ++i) {
      const int error = program_write(&p, 0, 0, kBytes, NULL, i);
      CHECK(error == 0 || error == ENOMEM);
      ++*(error == 0 ? &taken : &refused);
    }
    CHECK(taken == kDepth && refused == count - kDepth);
    for (unsigned i = 0; i < kDepth; ++i) CHECK(program_wait(p.send_cq).wr_id == i);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned i = 0, done = 0; done < count;) {
      while (i < count && i < done + kDepth) {
        const size_t at = i % kDepth * kBytes;
        memset(p.buffer + at, (int)(i & 255), kBytes);
        CHECK(program_write(&p, at, at, kBytes, NULL, i++) == 0);
      }
      const struct ibv_wc wc = program_wait(p.send_cq);
      CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == done++);
    }
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  program_meet(&p);
  const unsigned char* last = p.buffer + (count - 1) % kDepth * kBytes;
  if (!sender) CHECK(last[0] == ((count - 1) & 255) && last[kBytes - 1] == last[0]);
  program_end(&p);
  const double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
  if (sender) printf("%u writes, %.0f a second\n", count, count / seconds);
  return 0;
}
