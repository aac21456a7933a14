/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROGRAM_H
#define PROGRAM_H
/* What programs of these tests share: a device with one queue pair in RTS, a peer that is the same program in another
 * process, and a socket to it for what MRC is not for. */
#include <mrc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                                                 \
  do {                                                                              \
    if (!(what)) {                                                                  \
      fprintf(stderr, "%s:%d: not so: %s (errno %m)\n", __FILE__, __LINE__, #what); \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

enum { kDepth = 16 };

struct side {
  uint32_t qpn, rkey;
  uint64_t address;
  union ibv_gid gid;
};

struct program {
  struct ibv_context* device;
  struct mrc_context* context;
  struct mrc_device_attr attr;
  struct ibv_pd* pd;
  struct ibv_mr* mr;
  struct mrc_cq *send_cq, *recv_cq;
  struct mrc_comp_channel* channel; /* of recv_cq, for programs that make one */
  struct mrc_qp* qp;
  unsigned char* buffer;
  size_t bytes;
  struct side own, peer;
  uint64_t ev_profile, cc_profile; /* of the queue pair */
  int socket;                      /* to the peer */
};

/* Opens the device of that name, registers a buffer, makes completion queues. */
void program_open(struct program* p, const char* device, int socket, size_t bytes);
/* Makes a queue pair, and connects it with that of the peer. */
void program_connect(struct program* p);
/* Both. */
void program_begin(struct program* p, const char* device, int socket, size_t bytes);
void program_end(struct program* p);
/* Both get here before either goes on. */
void program_meet(struct program* p);
/* The next completion, whatever its status. */
struct ibv_wc program_wait(struct mrc_cq* cq);
/* A WRITE of bytes at `from` of the buffer to `to` of the peer's; imm NULL: without an immediate. Returns what
 * mrc_post_send does. */
int program_write(struct program* p, size_t from, size_t to, uint32_t bytes, const uint32_t* imm, uint64_t wr_id);
void program_receive(struct program* p, uint64_t wr_id);
#endif
