/* SPDX-License-Identifier: Apache-2.0 */
/* A device that is another one, and writes what its pins do: MRC_RECORD_OF names the other one's shared object,
 * MRC_RECORD_TO the file. A line is a cycle, its fields are those of icarus_bench.v in their order: inputs, then
 * outputs. A pin that means nothing is x: an input to be driven so, an output that is not compared. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/mrc_dut.h"

struct mrc_dut {
  void* library;
  mrc_dut* other;
  FILE* to;
  mrc_dut_info_t info;
  mrc_pins_out out;
  size_t (*other_info)(const mrc_dut*, mrc_dut_info_t*, size_t);
  void (*outputs)(mrc_dut*, mrc_pins_out*);
  void (*step)(mrc_dut*, const mrc_pins_in*);
  void (*observe)(mrc_dut*, const uint32_t**, const uint32_t**);
  void (*close)(mrc_dut*);
};

/* The low bits of a number. */
static void number(FILE* to, int means, unsigned bits, uint64_t value) {
  for (unsigned digit = (bits + 3) / 4; digit-- > 0;) {
    fputc(means ? "0123456789abcdef"[value >> 4 * digit & 15] : 'x', to);
  }
  fputc(' ', to);
}
static void byte_or_x(FILE* to, int means, unsigned byte) {
  fputc(means ? "0123456789abcdef"[byte >> 4] : 'x', to);
  fputc(means ? "0123456789abcdef"[byte & 15] : 'x', to);
}
/* Words or bytes of little endian, as one number. */
static void bytes(FILE* to, int means, unsigned bits, const void* from) {
  const uint8_t* at = from;
  for (unsigned digit = (bits + 3) / 4; digit-- > 0;) {
    fputc(means ? "0123456789abcdef"[at[digit / 2] >> 4 * (digit % 2) & 15] : 'x', to);
  }
}
static void words(FILE* to, int means, unsigned bits, const void* from) {
  bytes(to, means, bits, from);
  fputc(' ', to);
}
/* A bit per plane that means something where valid has it. */
static void mask(FILE* to, unsigned planes, unsigned valid, unsigned value) {
  for (unsigned p = planes; p-- > 0;) fputc((valid >> p & 1) != 0 ? "01"[value >> p & 1] : 'x', to);
  fputc(' ', to);
}
/* Bytes of little endian, of which those mean something that have a bit in keep. */
static void kept(FILE* to, unsigned count, uint64_t keep, const void* from) {
  const uint8_t* at = from;
  for (unsigned byte = count; byte-- > 0;) byte_or_x(to, keep >> byte & 1, at[byte]);
}
/* Per plane bits that mean something where valid has it. */
static void beats(FILE* to, unsigned planes, unsigned valid, unsigned bits, const void* from, size_t each) {
  for (unsigned p = planes; p-- > 0;) bytes(to, valid >> p & 1, bits, (const char*)from + p * each);
  fputc(' ', to);
}

static void write_inputs(FILE* to, const mrc_dut_info_t* info, const mrc_pins_in* i) {
  const unsigned planes = info->num_planes, every = (1u << planes) - 1;
  number(to, 1, 1, i->rst_n);
  number(to, 1, 8, i->bug);
  mask(to, planes, every, i->link_up);
  number(to, 1, 1, i->awvalid);
  number(to, i->awvalid, 16, i->awaddr);
  number(to, 1, 1, i->wvalid);
  kept(to, 4, i->wvalid ? i->wstrb : 0, &i->wdata);
  fputc(' ', to);
  number(to, i->wvalid, 4, i->wstrb);
  number(to, 1, 1, i->bready);
  number(to, 1, 1, i->arvalid);
  number(to, i->arvalid, 16, i->araddr);
  number(to, 1, 1, i->rready);
  number(to, 1, 1, i->wqe_valid);
  words(to, i->wqe_valid, 276, i->wqe);
  number(to, 1, 1, i->cqe_ready);
  number(to, 1, 1, i->host_rd_ready);
  number(to, 1, 1, i->host_rsp_valid);
  number(to, i->host_rsp_valid, 4, i->host_rsp_plane);
  words(to, i->host_rsp_valid, 8 * info->host_bytes, i->host_rsp_data);
  number(to, i->host_rsp_valid, 1, i->host_rsp_err);
  number(to, 1, 1, i->host_fail_valid);
  words(to, i->host_fail_valid, 27, i->host_fail);
  number(to, 1, 1, i->host_wr_ready);
  mask(to, planes, every, i->tx_tready);
  mask(to, planes, every, i->rx_tvalid);
  for (unsigned p = planes; p-- > 0;) {
    kept(to, info->port_bytes, i->rx_tvalid >> p & 1 ? i->rx_tkeep[p] : 0, i->rx_tdata[p]);
  }
  fputc(' ', to);
  beats(to, planes, i->rx_tvalid, info->port_bytes, i->rx_tkeep, sizeof i->rx_tkeep[0]);
  mask(to, planes, i->rx_tvalid, i->rx_tlast);
  mask(to, planes, i->rx_tvalid, i->rx_tuser);
}

static void write_outputs(FILE* to, const mrc_dut_info_t* info, const mrc_pins_out* o) {
  const unsigned planes = info->num_planes, every = (1u << planes) - 1;
  number(to, 1, 1, o->awready);
  number(to, 1, 1, o->wready);
  number(to, 1, 1, o->bvalid);
  number(to, o->bvalid, 2, o->bresp);
  number(to, 1, 1, o->arready);
  number(to, 1, 1, o->rvalid);
  number(to, o->rvalid, 32, o->rdata);
  number(to, o->rvalid, 2, o->rresp);
  number(to, 1, 1, o->irq);
  number(to, 1, 1, o->wqe_ready);
  number(to, 1, 1, o->cqe_valid);
  words(to, o->cqe_valid, 140, o->cqe);
  number(to, 1, 1, o->host_rd_valid);
  words(to, o->host_rd_valid, 95, o->host_rd);
  number(to, 1, 1, o->host_fail_ready);
  number(to, 1, 1, o->host_wr_valid);
  number(to, o->host_wr_valid, 64, o->host_wr_addr);
  number(to, o->host_wr_valid, 8, o->host_wr_len);
  number(to, o->host_wr_valid, 1, o->host_wr_last);
  number(to, o->host_wr_valid, 4, o->host_wr_plane);
  number(to, o->host_wr_valid, 19, o->host_wr_qp);
  words(to, o->host_wr_valid, 8 * info->host_bytes, o->host_wr_data);
  mask(to, planes, every, o->tx_tvalid);
  beats(to, planes, o->tx_tvalid, 8 * info->port_bytes, o->tx_tdata, sizeof o->tx_tdata[0]);
  beats(to, planes, o->tx_tvalid, info->port_bytes, o->tx_tkeep, sizeof o->tx_tkeep[0]);
  mask(to, planes, o->tx_tvalid, o->tx_tlast);
}

mrc_dut* mrc_dut_open(const mrc_dut_config* config, size_t struct_size) {
  const char *of = getenv("MRC_RECORD_OF"), *to = getenv("MRC_RECORD_TO"), *why = NULL;
  mrc_dut* dut = calloc(1, sizeof *dut);
  mrc_dut* (*open)(const mrc_dut_config*, size_t) = NULL;
  if (dut == NULL) return NULL;
  if (of == NULL || to == NULL) {
    why = "MRC_RECORD_OF or MRC_RECORD_TO is not set";
  } else if ((dut->library = dlopen(of, RTLD_NOW | RTLD_LOCAL)) == NULL) {
    why = "MRC_RECORD_OF names no shared object";
  } else {
    /* What dlsym gives is a function: POSIX says how it becomes one. */
    *(void**)&open = dlsym(dut->library, "mrc_dut_open");
    *(void**)&dut->other_info = dlsym(dut->library, "mrc_dut_info");
    *(void**)&dut->outputs = dlsym(dut->library, "mrc_dut_outputs");
    *(void**)&dut->step = dlsym(dut->library, "mrc_dut_step");
    *(void**)&dut->observe = dlsym(dut->library, "mrc_dut_observe");
    *(void**)&dut->close = dlsym(dut->library, "mrc_dut_close");
    if (!open || !dut->other_info || !dut->outputs || !dut->step || !dut->observe || !dut->close) {
      why = "MRC_RECORD_OF names no device with boundaries";
    } else if ((dut->to = fopen(to, "w")) == NULL) {
      why = "the file of MRC_RECORD_TO cannot be written";
    } else if ((dut->other = open(config, struct_size)) != NULL) {
      dut->other_info(dut->other, &dut->info, sizeof dut->info);
      return dut;
    }
  }
  if (why != NULL && config->error != NULL) snprintf(config->error, config->error_size, "%s", why);
  if (dut->to != NULL) fclose(dut->to);
  if (dut->library != NULL) dlclose(dut->library);
  free(dut);
  return NULL;
}

size_t mrc_dut_info(const mrc_dut* dut, mrc_dut_info_t* info, size_t struct_size) {
  return dut->other_info(dut->other, info, struct_size);
}

void mrc_dut_outputs(mrc_dut* dut, mrc_pins_out* out) { dut->outputs(dut->other, out); }

void mrc_dut_step(mrc_dut* dut, const mrc_pins_in* in) {
  dut->outputs(dut->other, &dut->out);
  write_inputs(dut->to, &dut->info, in);
  write_outputs(dut->to, &dut->info, &dut->out);
  fputc('\n', dut->to);
  dut->step(dut->other, in);
}

void mrc_dut_observe(mrc_dut* dut, const uint32_t** core, const uint32_t** lanes) {
  dut->observe(dut->other, core, lanes);
}

/* A record that is not whole must not look like one: the bench of Icarus wants this line. */
void mrc_dut_close(mrc_dut* dut) {
  fputs("end\n", dut->to);
  if (fclose(dut->to) != 0) perror("MRC_RECORD_TO");
  dut->close(dut->other);
  dlclose(dut->library);
  free(dut);
}
