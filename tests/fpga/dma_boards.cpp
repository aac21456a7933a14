// SPDX-License-Identifier: Apache-2.0
#include "Vmrc_fpga_ram_top.h"
#include "Vmrc_fpga_stream_top.h"
#include "tests/fpga/board.hpp"
#include "tests/fpga/board_of.hpp"

namespace mrc {

template class BoardOf<Vmrc_fpga_stream_top, DmaMemory<kBoardLine, false>, kBoardPlanes>;
template class BoardOf<Vmrc_fpga_ram_top, DmaMemory<kBoardLine, true>, kBoardPlanes>;

}  // namespace mrc
