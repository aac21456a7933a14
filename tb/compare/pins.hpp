// SPDX-License-Identifier: Apache-2.0
/// The table of output pins (MRC_PINS_OUT in cmodel/api/pins.h) for C++: whoever goes through all pins goes through
/// for_each_pin_out.
#pragma once

#include <type_traits>

#include "api/pins.h"
#include "gen/streams.hpp"

namespace mrc::tb {

/// What a pin is: see MRC_PINS_OUT.
enum class PinKind { Bit, Code, Length, Flag, Plane, Queue, Data, Address, Words, Line, Valids, Mask, Keep, Beat };

/// A row of the table. Pin and With are members of mrc_pins_out; Struct is that of pins of kind Words.
template <PinKind Kind, auto Pin, auto With, class Struct>
struct PinOut {
  const char *name, *group, *block;
};

namespace detail {
using Struct_cqe = Cqe;
using Struct_host_rd = Rdreq;
}  // namespace detail

/// Calls act(PinOut<...>) for each output pin, in the order of mrc_pins_out. Inline without choice: it runs twice in
/// every cycle, and what act() collects shall stay in registers (5 % of a run otherwise).
template <class Act>
[[gnu::always_inline]] inline void for_each_pin_out(Act&& act) {
#define MRC_STRUCT_Words(pin) detail::Struct_##pin
#define MRC_STRUCT_Bit(pin) void
#define MRC_STRUCT_Code(pin) void
#define MRC_STRUCT_Length(pin) void
#define MRC_STRUCT_Flag(pin) void
#define MRC_STRUCT_Plane(pin) void
#define MRC_STRUCT_Queue(pin) void
#define MRC_STRUCT_Data(pin) void
#define MRC_STRUCT_Address(pin) void
#define MRC_STRUCT_Line(pin) void
#define MRC_STRUCT_Valids(pin) void
#define MRC_STRUCT_Mask(pin) void
#define MRC_STRUCT_Keep(pin) void
#define MRC_STRUCT_Beat(pin) void
#define MRC_ROW(kind, pin, with, group, block) \
  act(PinOut<PinKind::kind, &mrc_pins_out::pin, &mrc_pins_out::with, MRC_STRUCT_##kind(pin)>{#pin, #group, #block});
  MRC_PINS_OUT(MRC_ROW)
#undef MRC_ROW
#undef MRC_STRUCT_Words
#undef MRC_STRUCT_Bit
#undef MRC_STRUCT_Code
#undef MRC_STRUCT_Length
#undef MRC_STRUCT_Flag
#undef MRC_STRUCT_Plane
#undef MRC_STRUCT_Queue
#undef MRC_STRUCT_Data
#undef MRC_STRUCT_Address
#undef MRC_STRUCT_Line
#undef MRC_STRUCT_Valids
#undef MRC_STRUCT_Mask
#undef MRC_STRUCT_Keep
#undef MRC_STRUCT_Beat
}

}  // namespace mrc::tb
