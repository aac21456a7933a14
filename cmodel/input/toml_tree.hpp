// SPDX-License-Identifier: Apache-2.0
/// The tree of toml++, for the readers of TOML alone. Include this instead of toml++/toml.h.
#pragma once

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>
