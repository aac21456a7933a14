// SPDX-License-Identifier: Apache-2.0
/// Wave files are written by a library that says nothing of a full disk: is one whole?
#pragma once

#include <filesystem>

namespace mrc::tb {

/// True if the file is a chain of complete FST blocks with a header, values and the hierarchy of signals.
bool whole_fst(const std::filesystem::path& file);

}  // namespace mrc::tb
