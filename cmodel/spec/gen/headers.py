# SPDX-License-Identifier: Apache-2.0
"""headers.yaml: wire format."""


def sv(spec):
    return ""


def cpp(spec):
    return "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n"


def docs(spec):
    return "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"


def lua(spec):
    return "-- SPDX-License-Identifier: Apache-2.0\n"
