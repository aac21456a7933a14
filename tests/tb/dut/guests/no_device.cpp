// SPDX-License-Identifier: Apache-2.0
/// A shared object that is no device.
extern "C" int mrc_no_device() { return 0; }
