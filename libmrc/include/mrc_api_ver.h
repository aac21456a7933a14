/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MRC_API_VER_H
#define MRC_API_VER_H
/* Versions of mrc.h. A program that is written for an older one says so before it includes anything:
 *
 *     #define MRC_API_VER_USED MRC_API_VER(1, 0, 0)
 *
 * Names and values are those of OCP's mrc_api_ver.h; text and order are ours. */

#define MRC_API_VER_MAJOR_OFFSET 24
#define MRC_API_VER_MINOR_OFFSET 16
#define MRC_API_VER_SUBMINOR_OFFSET 0
#define MRC_API_VER(major, minor, sub_minor)                                       \
  (((major) << MRC_API_VER_MAJOR_OFFSET) | ((minor) << MRC_API_VER_MINOR_OFFSET) | \
   ((sub_minor) << MRC_API_VER_SUBMINOR_OFFSET))

/* Stands for the newest one there is. */
#define MRC_API_VER_LATEST MRC_API_VER(0xFF, 0xFF, 0xFFFF)

#define MRC_API_CURRENT_VERSION MRC_API_VER(1, 0, 1)
#define MRC_API_LAST_SUPPORTED_VERSION MRC_API_VER(0, 0, 0)

#ifndef MRC_API_VER_USED
#define MRC_API_VER_USED MRC_API_CURRENT_VERSION
#elif MRC_API_VER_USED == MRC_API_VER_LATEST
#undef MRC_API_VER_USED
#define MRC_API_VER_USED MRC_API_CURRENT_VERSION
#endif
#if MRC_API_VER_USED > MRC_API_CURRENT_VERSION
#error "MRC_API_VER_USED is newer than this mrc.h"
#endif

/* What a vendor adds has versions of its own. We add nothing: docs/guide/api.md. */
#define MRC_VENDOR_API_CURRENT_VERSION MRC_API_VER(1, 0, 0)
#define MRC_VENDOR_API_LAST_SUPPORTED_VERSION MRC_API_VER(0, 0, 0)

#ifndef MRC_VENDOR_API_VER_USED
#define MRC_VENDOR_API_VER_USED MRC_VENDOR_API_CURRENT_VERSION
#elif MRC_VENDOR_API_VER_USED == MRC_API_VER_LATEST
#undef MRC_VENDOR_API_VER_USED
#define MRC_VENDOR_API_VER_USED MRC_VENDOR_API_CURRENT_VERSION
#endif
#if MRC_VENDOR_API_VER_USED > MRC_VENDOR_API_CURRENT_VERSION
#error "MRC_VENDOR_API_VER_USED is newer than this mrc.h"
#endif

#endif
