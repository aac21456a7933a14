/* SPDX-License-Identifier: Apache-2.0 */
/* Read before Verilator's runtime (cmake/verilated.cmake): what it prints, and what happens when an assertion fails, is
 * for tb/dut/verilated_dut.cpp to say. Left alone, the runtime prints and ends the process. */
#ifndef MRC_VERILATED_HOOKS_H
#define MRC_VERILATED_HOOKS_H
#ifdef __cplusplus
int mrc_verilated_print(const char* format, ...) __attribute__((format(printf, 1, 2)));
#endif
#undef VL_PRINTF
#define VL_PRINTF mrc_verilated_print
#define VL_USER_STOP
#endif
