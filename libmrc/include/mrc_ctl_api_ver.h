/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MRC_CTL_API_VER_H
#define MRC_CTL_API_VER_H
/* Versions of mrc_ctl.h. A program that is written for an older one says so before it includes anything:
 *
 *     #define MRC_CTL_API_VER_USED MRC_CTL_API_VER(1, 0, 0)
 *
 * Names and values are those of OCP's mrc_ctl_api_ver.h; text and order are ours. */

#define MRC_CTL_API_VER_MAJOR_OFFSET 24
#define MRC_CTL_API_VER_MINOR_OFFSET 16
#define MRC_CTL_API_VER_SUBMINOR_OFFSET 0
#define MRC_CTL_API_VER(major, minor, sub_minor)                                           \
  (((major) << MRC_CTL_API_VER_MAJOR_OFFSET) | ((minor) << MRC_CTL_API_VER_MINOR_OFFSET) | \
   ((sub_minor) << MRC_CTL_API_VER_SUBMINOR_OFFSET))

/* Stands for the newest one there is. */
#define MRC_CTL_API_VER_LATEST MRC_CTL_API_VER(0xFF, 0xFF, 0xFFFF)

#define MRC_CTL_API_CURRENT_VERSION MRC_CTL_API_VER(1, 0, 1)
#define MRC_CTL_API_LAST_SUPPORTED_VERSION MRC_CTL_API_VER(0, 0, 0)

#ifndef MRC_CTL_API_VER_USED
#define MRC_CTL_API_VER_USED MRC_CTL_API_CURRENT_VERSION
#elif MRC_CTL_API_VER_USED == MRC_CTL_API_VER_LATEST
#undef MRC_CTL_API_VER_USED
#define MRC_CTL_API_VER_USED MRC_CTL_API_CURRENT_VERSION
#endif
#if MRC_CTL_API_VER_USED > MRC_CTL_API_CURRENT_VERSION
#error "MRC_CTL_API_VER_USED is newer than this mrc_ctl.h"
#endif

/* What a vendor adds has versions of its own. We add nothing: docs/guide/api.md. */
#define MRC_CTL_VENDOR_API_CURRENT_VERSION MRC_CTL_API_VER(1, 0, 0)
#define MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION MRC_CTL_API_VER(0, 0, 0)

#ifndef MRC_CTL_VENDOR_API_VER_USED
#define MRC_CTL_VENDOR_API_VER_USED MRC_CTL_VENDOR_API_CURRENT_VERSION
#elif MRC_CTL_VENDOR_API_VER_USED == MRC_CTL_API_VER_LATEST
#undef MRC_CTL_VENDOR_API_VER_USED
#define MRC_CTL_VENDOR_API_VER_USED MRC_CTL_VENDOR_API_CURRENT_VERSION
#endif
#if MRC_CTL_VENDOR_API_VER_USED > MRC_CTL_VENDOR_API_CURRENT_VERSION
#error "MRC_CTL_VENDOR_API_VER_USED is newer than this mrc_ctl.h"
#endif

#endif
