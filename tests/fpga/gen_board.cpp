// SPDX-License-Identifier: Apache-2.0
#include "Vmrc_fpga_gen_top.h"
#include "tests/fpga/board.hpp"
#include "tests/fpga/board_of.hpp"

namespace mrc {

template class BoardOf<Vmrc_fpga_gen_top, AxiMemory<kBoardLine, kBoardPlanes + 1>, kBoardPlanes>;

}  // namespace mrc
