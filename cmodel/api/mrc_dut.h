/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MRC_DUT_H
#define MRC_DUT_H
/* A device under test as a shared object.
 *
 * The bench opens the object with dlopen and calls the functions below, by these names, from one thread, in a process
 * that is the device's own (docs/guide/bench.md, "Another device"). It may print on stdout and stderr.
 * Cycle convention: after mrc_dut_open the device is in the cycle before the first reset edge. In each cycle the bench
 * calls mrc_dut_outputs (pins as functions of registers), decides the inputs, then calls mrc_dut_step, which applies
 * them and makes one rising clock edge. rst_n = 0 in the inputs resets.
 *
 * Required: mrc_dut_open, mrc_dut_info, mrc_dut_outputs, mrc_dut_step, mrc_dut_close.
 * Optional: mrc_dut_observe (block boundaries), mrc_dut_wave (wave files), mrc_dut_assertions (what the device checks
 * of itself), mrc_dut_inside (what moves inside, for logs). A missing symbol means "cannot". */
#include <stddef.h>
#include <stdint.h>

#include "api/pins.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the pins and of what is below: docs/design/blocks/nic.md, "Versions". Device and bench have the same one.
 */
#define MRC_DUT_ABI_VERSION 5

typedef struct mrc_dut mrc_dut;

/* What the bench tells the device. Sizes are those the bench was compiled with: a device compiled with others refuses.
 */
typedef struct mrc_dut_config {
  uint32_t abi_version;   /* MRC_DUT_ABI_VERSION */
  uint32_t pins_in_size;  /* sizeof(mrc_pins_in) */
  uint32_t pins_out_size; /* sizeof(mrc_pins_out) */
  uint32_t reserved;
  const char* preset; /* name in presets.yaml */
  uint64_t seed;      /* for devices that initialise memories at random */
  char* error;        /* buffer of the bench; one sentence, ended by 0, goes here when open returns NULL */
  size_t error_size;
} mrc_dut_config;

/* What the device tells about itself. Strings live as long as the shared object; of each 256 bytes are read at most.
 * preset is required, name and version may be NULL. */
typedef struct mrc_dut_info_t {
  uint32_t abi_version;
  uint32_t num_planes;
  uint32_t port_bytes;
  uint32_t host_bytes;
  uint32_t obs_core_words; /* per core, as in gen/streams.hpp; 0: no boundaries */
  uint32_t obs_lane_words; /* per plane */
  uint32_t has_wave;
  uint32_t reserved;
  const char* name; /* "rtl" */
  const char* preset;
  const char* version; /* tool that made it, "Verilator 5.006 2023-01-22" */
} mrc_dut_info_t;

/* What the device checks of itself. Strings live until mrc_dut_close; of each 256 bytes are read at most. */
typedef struct mrc_dut_assertions_t {
  uint32_t checked;  /* assertions that it has, and evaluates in every cycle; 0: none */
  uint32_t failed;   /* how often one has failed since mrc_dut_open; what follows is about the first time */
  const char* name;  /* NeverFull */
  const char* place; /* instance, from the top on: mrc_nic.u_fetch.u_list */
  const char* text;  /* a sentence */
} mrc_dut_assertions_t;

/* What moves inside in one cycle, for logs (docs/reference/log.md, events of kind path and cc). */
enum { MRC_CC_IDLE, MRC_CC_TAKEN, MRC_CC_WORKS, MRC_CC_DONE, MRC_CC_BEGUN };
typedef struct mrc_inside_t {
  uint32_t cc_state;    /* of the congestion controllers, MRC_CC_*: one event at a time. IDLE behind TAKEN: there is no
                           controller there */
  uint32_t cc_dest;     /* of the event, or of the controller that begins */
  uint32_t cc_event[3]; /* the event, ccev_t of gen/streams.hpp; counts with TAKEN */
  uint32_t cc_window;   /* the window then, whole bytes; counts with DONE and BEGUN */
  uint32_t ev_write;    /* 1: a row of states of entropy values is written */
  uint32_t ev_row;      /* QP times groups of a set plus group */
  uint32_t ev_states;   /* 3 bits a plane, as in gen/protocol.hpp */
} mrc_inside_t;

/* NULL: config->error says why. struct_size = sizeof(mrc_dut_config). */
mrc_dut* mrc_dut_open(const mrc_dut_config* config, size_t struct_size);

/* Fills at most struct_size bytes of info; returns the size the device knows, not less than version 1 has. */
size_t mrc_dut_info(const mrc_dut* dut, mrc_dut_info_t* info, size_t struct_size);

/* Output pins of the current cycle. Data whose valid is 0 may be left as they were. Single-bit pins are 0 or 1; bits of
 * planes, bytes and words that the preset does not have are 0. */
void mrc_dut_outputs(mrc_dut* dut, mrc_pins_out* out);

/* One clock cycle with these inputs. */
void mrc_dut_step(mrc_dut* dut, const mrc_pins_in* in);

/* Optional. Boundaries of the current cycle: *core points to obs_core_words words, *lanes to
 * num_planes * obs_lane_words, neither NULL, both valid until the next step. */
void mrc_dut_observe(mrc_dut* dut, const uint32_t** core, const uint32_t** lanes);

/* Optional. on != 0: from now on write waves to path (FST); the file is opened by the first call with a path.
 * on == 0: pause; path NULL and on == 0: close the file. Returns 0 when it works. */
int mrc_dut_wave(mrc_dut* dut, const char* path, int on);

/* Optional. Fills at most struct_size bytes of what the device has checked so far; asked for after every step. */
void mrc_dut_assertions(const mrc_dut* dut, mrc_dut_assertions_t* assertions, size_t struct_size);

/* Optional. Fills at most struct_size bytes of what moves inside in the current cycle. */
void mrc_dut_inside(mrc_dut* dut, mrc_inside_t* inside, size_t struct_size);

void mrc_dut_close(mrc_dut* dut);

#ifdef __cplusplus
}
#endif
#endif
