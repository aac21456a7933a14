// SPDX-License-Identifier: Apache-2.0
/// What the judge found, as a page: the verdict, who spoke to whom, when, which readings, then what is wrong.
#pragma once

#include <string>

#include "picture/pictures.hpp"
#include "reference/run.hpp"

namespace mrc::picture {

/// Packets, retransmissions, trimmed and marked packets, findings, a row of bars each; nothing: no packet.
std::optional<Picture> timeline_picture(const ref::Timeline& timeline);

/// `made_by`: the program, at the end of the page.
std::string check_page(const ref::Run& run, const std::string& title, const std::string& made_by);

}  // namespace mrc::picture
