// SPDX-License-Identifier: Apache-2.0
#include "Vmrc_fpga_full_top.h"
#include "Vmrc_fpga_top.h"
#include "tests/fpga/board.hpp"
#include "tests/fpga/board_of.hpp"

namespace mrc {

template class BoardOf<Vmrc_fpga_top, AxiMemory<kBoardLine, kBoardPlanes>, kBoardPlanes>;
template class BoardOf<Vmrc_fpga_full_top, AxiMemory<kBoardLine, kBoardPlanes + 1>, 1>;

}  // namespace mrc
