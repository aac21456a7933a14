/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MRC_PINS_H
#define MRC_PINS_H
/* The pins of the NIC (docs/design/blocks/nic.md) as plain C structures, the same for model and device under test.
 * Per-plane single bits are masks (bit p = plane p). Streams are packed as in streams.yaml, least significant word
 * first. Sizes are those of the largest preset; a smaller one leaves the rest zero. */
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
  MRC_RDREQ_WORDS = 3,
  MRC_QPERR_WORDS = 1
};

typedef struct mrc_pins_in {
  uint8_t rst_n, bug, link_up;
  uint8_t awvalid, wvalid, wstrb, bready, arvalid, rready;
  uint8_t wqe_valid, cqe_ready, host_rd_ready, host_rsp_valid, host_rsp_plane, host_rsp_err;
  uint8_t host_fail_valid, host_wr_ready;
  uint8_t tx_tready, rx_tvalid, rx_tlast, rx_tuser;
  uint16_t awaddr, araddr;
  uint32_t wdata;
  uint32_t wqe[MRC_WQE_WORDS];
  uint32_t host_fail[MRC_QPERR_WORDS];
  uint32_t rx_tkeep[MRC_PLANES];
  uint8_t rx_tdata[MRC_PLANES][MRC_PORT_BYTES];
  uint8_t host_rsp_data[MRC_LINE_BYTES];
} mrc_pins_in;

/* The output pins, in the order of their structure: X(kind, pin, with, group, block). What compares, checks or lists
 * them goes through this table, so that a new pin is compared, checked and listed.
 *
 *   kind       type                what it is
 *   Bit        uint8_t             one bit, always meaningful
 *   Code       uint8_t             two bits
 *   Length     uint8_t             bytes of a host line
 *   Flag       uint8_t             one bit
 *   Plane      uint8_t             number of a plane
 *   Queue      uint32_t            number of a QP
 *   Data       uint32_t
 *   Address    uint64_t
 *   Words      uint32_t[]          a struct of streams.yaml (cqe_t, rdreq_t)
 *   Line       uint8_t[]           bytes of a host line
 *   Valids     uint8_t             a bit per plane, always meaningful
 *   Mask       uint8_t             a bit per plane
 *   Keep       uint32_t[planes]    per plane a bit per byte of its port
 *   Beat       uint8_t[planes][]   per plane the bytes of its port
 *
 * `with` is the pin that says when this one means something (of Mask, Keep and Beat: its bit of the plane); of Bit and
 * Valids it is the pin itself. `group` is what reports call a handful of pins, `block` the block that drives them. */
#define MRC_PINS_OUT(X)                                      \
  X(Bit, awready, awready, s_axil, csr)                      \
  X(Bit, wready, wready, s_axil, csr)                        \
  X(Bit, bvalid, bvalid, s_axil, csr)                        \
  X(Code, bresp, bvalid, s_axil, csr)                        \
  X(Bit, arready, arready, s_axil, csr)                      \
  X(Bit, rvalid, rvalid, s_axil, csr)                        \
  X(Code, rresp, rvalid, s_axil, csr)                        \
  X(Bit, wqe_ready, wqe_ready, wqe, tx_segment)              \
  X(Bit, cqe_valid, cqe_valid, cqe, cq_mux)                  \
  X(Bit, host_rd_valid, host_rd_valid, host_rd, tx_fetch)    \
  X(Bit, host_wr_valid, host_wr_valid, host_wr, rx_place)    \
  X(Length, host_wr_len, host_wr_valid, host_wr, rx_place)   \
  X(Flag, host_wr_last, host_wr_valid, host_wr, rx_place)    \
  X(Plane, host_wr_plane, host_wr_valid, host_wr, rx_place)  \
  X(Queue, host_wr_qp, host_wr_valid, host_wr, rx_place)     \
  X(Valids, tx_tvalid, tx_tvalid, tx, tx_lane)               \
  X(Mask, tx_tlast, tx_tvalid, tx, tx_lane)                  \
  X(Bit, irq, irq, irq, csr)                                 \
  X(Bit, host_fail_ready, host_fail_ready, host_fail, csr)   \
  X(Data, rdata, rvalid, s_axil, csr)                        \
  X(Words, cqe, cqe_valid, cqe, cq_mux)                      \
  X(Words, host_rd, host_rd_valid, host_rd, tx_fetch)        \
  X(Address, host_wr_addr, host_wr_valid, host_wr, rx_place) \
  X(Keep, tx_tkeep, tx_tvalid, tx, tx_lane)                  \
  X(Beat, tx_tdata, tx_tvalid, tx, tx_lane)                  \
  X(Line, host_wr_data, host_wr_valid, host_wr, rx_place)

enum { MRC_WORDS_cqe = MRC_CQE_WORDS, MRC_WORDS_host_rd = MRC_RDREQ_WORDS };
#define MRC_MEMBER_Bit(pin) uint8_t pin;
#define MRC_MEMBER_Code(pin) uint8_t pin;
#define MRC_MEMBER_Length(pin) uint8_t pin;
#define MRC_MEMBER_Flag(pin) uint8_t pin;
#define MRC_MEMBER_Plane(pin) uint8_t pin;
#define MRC_MEMBER_Queue(pin) uint32_t pin;
#define MRC_MEMBER_Data(pin) uint32_t pin;
#define MRC_MEMBER_Address(pin) uint64_t pin;
#define MRC_MEMBER_Words(pin) uint32_t pin[MRC_WORDS_##pin];
#define MRC_MEMBER_Line(pin) uint8_t pin[MRC_LINE_BYTES];
#define MRC_MEMBER_Valids(pin) uint8_t pin;
#define MRC_MEMBER_Mask(pin) uint8_t pin;
#define MRC_MEMBER_Keep(pin) uint32_t pin[MRC_PLANES];
#define MRC_MEMBER_Beat(pin) uint8_t pin[MRC_PLANES][MRC_PORT_BYTES];
#define MRC_MEMBER(kind, pin, with, group, block) MRC_MEMBER_##kind(pin)
typedef struct mrc_pins_out {
  MRC_PINS_OUT(MRC_MEMBER)
} mrc_pins_out;

#ifdef __cplusplus
}
#endif
#endif
