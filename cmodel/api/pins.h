/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MRC_PINS_H
#define MRC_PINS_H
/* The pins of the NIC (docs/blocks/nic.md) as plain C structures, the same for model and device under test. Per-plane
 * single bits are masks (bit p = plane p). Streams are packed as in streams.yaml, least significant word first. Sizes
 * are those of the largest preset; a smaller one leaves the rest zero. */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  MRC_PLANES = 8,
  MRC_PORT_BYTES = 32,
  MRC_LINE_BYTES = 128,
  MRC_WQE_WORDS = 9,
  MRC_CQE_WORDS = 5,
  MRC_RDREQ_WORDS = 3
};

typedef struct mrc_pins_in {
  uint8_t rst_n, bug, link_up;
  uint8_t awvalid, wvalid, wstrb, bready, arvalid, rready;
  uint8_t wqe_valid, cqe_ready, host_rd_ready, host_rsp_valid, host_rsp_plane, host_wr_ready;
  uint8_t tx_tready, rx_tvalid, rx_tlast, rx_tuser;
  uint16_t awaddr, araddr;
  uint32_t wdata;
  uint32_t wqe[MRC_WQE_WORDS];
  uint32_t rx_tkeep[MRC_PLANES];
  uint8_t rx_tdata[MRC_PLANES][MRC_PORT_BYTES];
  uint8_t host_rsp_data[MRC_LINE_BYTES];
} mrc_pins_in;

typedef struct mrc_pins_out {
  uint8_t awready, wready, bvalid, bresp, arready, rvalid, rresp;
  uint8_t wqe_ready, cqe_valid, host_rd_valid, host_wr_valid, host_wr_len;
  uint8_t tx_tvalid, tx_tlast;
  uint32_t rdata;
  uint32_t cqe[MRC_CQE_WORDS];
  uint32_t host_rd[MRC_RDREQ_WORDS];
  uint64_t host_wr_addr;
  uint32_t tx_tkeep[MRC_PLANES];
  uint8_t tx_tdata[MRC_PLANES][MRC_PORT_BYTES];
  uint8_t host_wr_data[MRC_LINE_BYTES];
} mrc_pins_out;

#ifdef __cplusplus
}
#endif
#endif
